"""Clusters of more points than pairs can be stored for: k-means of Nystrom features of rho [theory 8]."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from energystats._core.linkage import numbering
from energystats._core.statistics import share
from energystats._core.threads import one_thread, one_thread_up_to
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.clustering.features import (
    BlockFeatures,
    Centres,
    FeatureMap,
    Features,
    Found,
    PointsHere,
    RowTable,
    choose_landmarks,
    refilled,
    search_features,
    seeded_centres,
)
from energystats.clustering.partition import Partition
from energystats.clustering.seeding import random_start
from energystats.display.result import Approximation
from energystats.dissimilarity import Blocks, Dissimilarity
from energystats.exceptions import ConvergenceWarning, warn
from energystats.inputs.options import children

__all__ = ["BATCH", "LANDMARKS", "NearestCentre", "Options", "nystrom_partition"]


LANDMARKS = 256
BATCH = 16_384  # rows on which the starts are searched
LARGEST_BATCH = 2**17  # rows before all of them are taken
BATCH_BYTES = 2**29  # of batches beyond the first
PASSES_BETWEEN = 10  # over batches between the first and all rows
BLOCKS = 64  # of rows, whose pairs estimate W of a cluster
ROWS_IN_BLOCK = 64
ALL_PAIRS_UP_TO = 1024  # points of a cluster, all of whose pairs are taken
ROWS_AT_ONCE = 4096

OnPass = Callable[[int, int, float], object]


class Options(NamedTuple):
    """What the search over features needs to know, checked."""

    n_landmarks: int
    batch_size: int
    n_init: int
    max_iter: int
    init: str | IntArray  # "k-means++", "random" or labels
    callback: OnPass | None


@dataclass(frozen=True, slots=True, eq=False)
class NearestCentre:
    """The nearest of k centres in the space of the features, for points that are given by rho to the landmarks.

    Attributes
    ----------
    map : FeatureMap
        Of the landmarks.
    means : ndarray of shape (k, p)
        Centres.
    """

    map: FeatureMap
    means: FloatArray

    def of_points(self, points: FloatArray) -> FloatArray:
        """Squared distances of points to the centres; (m, d) -> (m, k)."""
        return self.squared_distances(
            len(points), lambda rows: self.map.metric.finite_between(points[rows], self.map.landmarks)
        )

    def squared_distances(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> FloatArray:
        """Squared distances to the centres, that from the landmarks' span included; (m, k)."""
        norms = np.einsum("lj,lj->l", self.means, self.means)
        parts = []
        for start in range(0, n_points, ROWS_AT_ONCE):
            features, residuals = self.map.of_rho(rho_of_rows(slice(start, start + ROWS_AT_ONCE)))
            own = np.einsum("ij,ij->i", features, features) + residuals
            with one_thread():
                products = features @ self.means.T
            parts.append(np.maximum(own[:, None] + norms - 2 * products, 0.0))
        return np.concatenate(parts)


def nystrom_partition(
    d: Dissimilarity,
    k: int,
    how: Options,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    progress: bool = False,
) -> tuple[Partition, NearestCentre]:
    """The best partition found in the features, its dispersions estimated, and the rule for new points."""
    table, w = _table_of(d, how.batch_size), np.ones(d.n) if weights is None else weights
    if d.metric.negative_type is False:
        raise ValueError(
            f'`algorithm="nystrom"` needs a rho of negative type, which {d.metric!r} is not; '
            'use algorithm="hartigan" on a random part of the rows.'
        )
    choice, order, pairs = rng.spawn(3)
    starts = children(rng, how.n_init)
    chosen = choose_landmarks(table, d.metric, how.n_landmarks, choice, w)
    if chosen.size < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {chosen.size}, got {k}.")
    feature_map = FeatureMap.of(table.pick(chosen), d.metric)
    rows, found = _search_landmarks(_FeatureProblem(table, feature_map, w, k, how), order, starts, progress)
    if not found.converged:
        warn(f"The search was cut off after `max_iter`={how.max_iter} passes; W can still fall.", ConvergenceWarning)
    labels = numbering(found.labels, *_numbering_keys(found.centres))[found.labels]
    centres = rows.centres(labels, k)
    found = Found(labels, centres, found.n_iter, found.converged)
    partition = _make_landmark_partition(d, rows, k, how, found, pairs, weighted=weights is not None)
    return partition, NearestCentre(feature_map, centres.means)


def _table_of(d: Dissimilarity, batch_size: int) -> RowTable:
    """The rows where they are, or here if they are few."""
    if isinstance(d, Blocks):
        return d.rows if d.n > batch_size else PointsHere(d.rows.pick(np.arange(d.n)))
    if not d.has_points:
        raise ValueError(
            '`algorithm="nystrom"` needs points, got a matrix of rho, which holds all pairs already; use "hartigan".'
        )
    return PointsHere(d.points)


# ---------------------------------------------------------------- the search


class _FeatureProblem(NamedTuple):
    """Clusters of weighted rows in the features of a map."""

    table: RowTable
    map: FeatureMap
    weights: FloatArray
    k: int
    how: Options


def _search_landmarks(
    problem: _FeatureProblem, order: np.random.Generator, streams: Iterator[np.random.Generator], progress: bool
) -> tuple[Features, Found]:
    """The features of all rows, and a local optimum of theirs.

    The starts are searched on a batch of rows, and the best of them goes on: on batches of twice the size each, and at
    last on all rows.
    """
    table, feature_map, weights, k, how = problem
    if not isinstance(how.init, str):
        rows = Features.of(table, feature_map, weights)
        start, number = Found(how.init, rows.centres(how.init, k), 0, converged=False), 0
    elif len(table) <= how.batch_size:
        rows = Features.of(table, feature_map, weights)
        return rows, _best_start(rows, k, how, streams, progress)[0]
    else:
        means, number = _centres_of_batches(problem, order, streams, progress)
        rows = Features.of(table, feature_map, weights)
        start = _nearest_partition(rows, means)
    return rows, search_features(rows, start, how.max_iter, single_moves=True, on_pass=_bound_to(how.callback, number))


def _centres_of_batches(
    problem: _FeatureProblem, order: np.random.Generator, streams: Iterator[np.random.Generator], progress: bool
) -> tuple[FloatArray, int]:
    """Centres of the best start after growing batches of random rows, and the number of that start."""
    table, feature_map, weights, k, how = problem
    n = len(table)
    sizes = [min(n, max(how.batch_size, 2 * k))]
    largest = min(LARGEST_BATCH, BATCH_BYTES // (8 * feature_map.landmarks.shape[1]))
    while 2 * sizes[-1] < n and 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    drawn_rows = order.choice(n, sizes[-1], replace=False)
    batch = Features.of(PointsHere(table.pick(drawn_rows), sizes), feature_map, weights[drawn_rows])
    found, number = _best_start(batch.first(sizes[0]), k, how, streams, progress)
    on_pass = _bound_to(how.callback, number)
    for size in sizes[1:]:
        rows = batch.first(size)
        start = _nearest_partition(rows, found.centres.means)
        found = search_features(rows, start, min(how.max_iter, PASSES_BETWEEN), single_moves=False, on_pass=on_pass)
    return found.centres.means, number


def _best_start(
    batch: Features, k: int, how: Options, streams: Iterator[np.random.Generator], progress: bool
) -> tuple[Found, int]:
    """The start of lowest W on the batch, and its number; a later one wins only when it is lower beyond rounding."""
    best: tuple[Found, int] | None = None
    for number, stream in enumerate(with_bar(streams, progress, total=how.n_init, unit="start", size=lambda _: 1)):
        if how.init == "random":
            labels = random_start(batch.n, k, stream)
            start = Found(labels, batch.centres(labels, k), 0, converged=False)
        else:
            start = _nearest_partition(batch, seeded_centres(batch, k, stream))
        on_pass = _bound_to(how.callback, number)
        found = search_features(batch, start, how.max_iter, single_moves=True, on_pass=on_pass)
        if best is None or best[0].centres.W - found.centres.tolerance > found.centres.W:
            best = found, number
    assert best is not None
    return best


def _nearest_partition(rows: Features, means: FloatArray) -> Found:
    """Every row with its nearest centre, and no cluster empty."""
    labels, centres = refilled(rows, means)
    return Found(labels, centres, 0, converged=False)


def _bound_to(callback: OnPass | None, number: int) -> Callable[[int, float], object] | None:
    """The user's function, called with the number of the start."""
    return None if callback is None else partial(callback, number)


# ---------------------------------------------------------------- the dispersions


class _Estimate(NamedTuple):
    """A dispersion, the variance of its estimate, and the pairs that were drawn."""

    value: float
    variance: float
    n_pairs: int


def _estimates(
    features: Features, labels: IntArray, centres: Centres, rng: np.random.Generator, weighted: bool
) -> list[_Estimate]:
    """W of every cluster, and of all rows as one cluster."""
    k = centres.counts.size
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(centres.counts)[:-1])
    known = _known_part(centres)
    found = [_estimate(features, rows, known[j], rng, weighted) for j, rows in enumerate(members)]
    everything = np.arange(features.n)
    whole = _estimate(features, everything, _known_part(centres.together)[0], rng, weighted) if k > 1 else found[0]
    return [*found, whole]


def _numbering_keys(centres: Centres) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Masses, W_j and sums of rho to all points of the clusters, and T, as far as the features tell."""
    lengths, together = centres.squares + centres.residuals, centres.together
    to_all = lengths * together.mass + centres.mass * lengths.sum() - 2 * centres.sums @ together.sums[0]
    return centres.mass, _known_part(centres), to_all, float(_known_part(together)[0])


def _known_part(centres: Centres) -> FloatArray:
    """W of every cluster less the part that pairs of points tell: the features', and the diagonal of what they lack."""
    return np.asarray(centres.within + centres.residuals - centres.own / centres.mass)


def _estimate(features: Features, rows: IntArray, known: float, rng: np.random.Generator, weighted: bool) -> _Estimate:
    """W of the points in some rows as one cluster [theory 8].

    The features give the part inside the landmarks' span, and the squared distances from it, r, what lies outside but
    for the square of a mean: s ||mu||^2, s being the mass. Of that square the terms <x, x> = r(x) are known, and those
    of pairs are sampled, in blocks of rows whose means are independent; all pairs are taken where they are few.
    """
    w = features.weights[rows]
    mass = float(w.sum())
    if rows.size <= ALL_PAIRS_UP_TO:
        pairs = np.outer(w, w) * _multiply_residuals(features, rows, rows.size)[0]
        return _Estimate(known - float(pairs.sum()) / mass, 0.0, rows.size * (rows.size - 1) // 2)
    if weighted:
        upto = np.cumsum(w)
        at = np.searchsorted(upto, rng.random(BLOCKS * ROWS_IN_BLOCK) * mass, side="right")
        drawn, factor = rows[np.minimum(at, rows.size - 1)], mass
    else:
        blocks = [rng.choice(rows, ROWS_IN_BLOCK, replace=False, shuffle=False) for _ in range(BLOCKS)]
        drawn, factor = np.concatenate(blocks), mass - 1
    n_pairs = ROWS_IN_BLOCK * (ROWS_IN_BLOCK - 1)
    means = np.array([products.sum() for products in _multiply_residuals(features, drawn, ROWS_IN_BLOCK)]) / n_pairs
    return _Estimate(
        known - factor * float(means.mean()),
        factor**2 * float(means.var(ddof=1)) / BLOCKS,
        BLOCKS * n_pairs // 2,
    )


def _multiply_residuals(features: Features, rows: IntArray, size: int) -> list[FloatArray]:
    """Inner products of the parts outside the landmarks' span, 0 for a row with itself, in blocks of rows; (b, b)."""
    points, found = features.table.pick(rows), []
    every = BlockFeatures.of(points, features.map)  # one product instead of one for each block
    with one_thread():
        for start in range(0, rows.size, size):
            block = slice(start, start + size)
            own, part = points[block], rows[block]
            phi, lengths, residuals = (values[block] for values in every)
            norms = lengths + residuals
            products = (norms[:, None] + norms - features.map.metric.finite_between(own, own)) / 2 - phi @ phi.T
            products[part[:, None] == part] = 0.0
            found.append(np.asarray(products))
    return found


def _scatter(features: Features, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, falling, and vectors of the weighted scatter matrix of the features."""
    matrix = features.summed(_scatter_in, mean, columns=(features.placed_weights,))
    with one_thread_up_to(len(matrix)):
        values, vectors = np.linalg.eigh(matrix)  # of none, too
    return values[::-1], vectors[:, ::-1]


def _scatter_in(block: Any, feature_map: FeatureMap, mean: FloatArray, weights: FloatArray) -> FloatArray:
    """The share of one block in it."""
    phi = BlockFeatures.of(block, feature_map).phi - mean
    with one_thread():
        return np.asarray((phi * weights[:, None]).T @ phi)


def _coordinates_in(block: Any, feature_map: FeatureMap, mean: FloatArray, axes: FloatArray) -> FloatArray:
    """Principal coordinates of the rows of one block; (b, 2)."""
    return np.asarray((BlockFeatures.of(block, feature_map).phi - mean) @ axes)


def _limits(centres: Centres) -> tuple[float, float]:
    """Between which W lies for certain, rounding of both included."""
    low, high = centres.W - centres.tolerance, centres.W + centres.left_out + centres.tolerance
    return max(low, 0.0), max(high, 0.0)


def _make_landmark_partition(
    d: Dissimilarity,
    features: Features,
    k: int,
    how: Options,
    found: Found,
    rng: np.random.Generator,
    *,
    weighted: bool,
) -> Partition:
    """The partition with estimates of its dispersions."""
    centres = found.centres
    *parts, whole = _estimates(features, found.labels, centres, rng, weighted)
    within, total = np.array([max(part.value, 0.0) for part in parts]), max(float(whole.value), 0.0)
    W_variance = sum(part.variance for part in parts)
    mean = centres.together.means[0]
    values, vectors = _scatter(features, mean)
    coordinates = None
    if d.coordinates is None:
        coordinates = np.zeros((d.n, 2))
        axes = vectors[:, :2]
        coordinates[:, : axes.shape[1]] = np.concatenate(features.over_blocks(_coordinates_in, mean, axes))
    given = not isinstance(how.init, str)
    return Partition(
        labels=found.labels,
        k=k,
        sizes=tuple(centres.counts.tolist()),
        within=float(within.sum()),
        between=total - float(within.sum()) if k > 1 else 0.0,
        total=total,
        within_per_cluster=within,
        bound=float(values[: k - 1].sum()) + centres.left_out if k > 1 else 0.0,
        algorithm="nystrom",
        n_init=1 if given else how.n_init,
        n_iter=found.n_iter,
        converged=found.converged,
        masses=centres.mass if weighted else None,
        metric=d.metric,
        standardization=d.standardization,
        points=d.coordinates,
        columns=d.columns,
        index=d.index,
        coordinates=coordinates,
        approximation=Approximation(
            n_landmarks=len(features.map.landmarks),
            n_features=features.map.rank,
            batch_size=d.n if given else min(how.batch_size, d.n),
            n_pairs=sum(part.n_pairs for part in parts),
            within_error=float(np.sqrt(W_variance)),
            between_error=float(np.sqrt(W_variance + whole.variance)) if k > 1 else 0.0,
            total_error=float(np.sqrt(whole.variance)),
            within_limits=_limits(centres),
            outside=share(centres.left_out, total),
        ),
    )
