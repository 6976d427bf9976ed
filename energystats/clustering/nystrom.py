"""Clusters of more points than pairs can be stored for: k-means of Nystrom features of rho [theory 8]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from energystats._core.partitions import renumber
from energystats._core.statistics import share
from energystats._typing import FloatArray, IntArray
from energystats.clustering.features import (
    Features,
    Found,
    refilled,
    search_features,
    seeded_centres,
    total,
)
from energystats.clustering.landmarks import FeatureMap, choose_landmarks
from energystats.clustering.seeding import random_start
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import ConvergenceWarning, warn
from energystats.progress import with_bar
from energystats.results import Approximation, Partition

__all__ = ["BATCH", "LANDMARKS", "NearestCentre", "Options", "nystrom_partition"]

LANDMARKS = 256
BATCH = 16_384  # rows on which the starts are searched
PASSES_BETWEEN = 10  # over batches between the first and all rows
BLOCKS = 64  # of rows, whose pairs estimate W of a cluster
ROWS_IN_BLOCK = 64
ALL_PAIRS_UP_TO = 1024  # points of a cluster, all of whose pairs are taken
ROWS_AT_ONCE = 4096
MOVE_TOLERANCE = 1e-13  # of T, as for the methods that store all pairs

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

    def squared_distances(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> FloatArray:
        """Squared distances to the centres, that from the landmarks' span included; (m, k)."""
        norms = np.einsum("lj,lj->l", self.means, self.means)
        parts = []
        for start in range(0, n_points, ROWS_AT_ONCE):
            features, residuals = self.map.of_rho(rho_of_rows(slice(start, start + ROWS_AT_ONCE)))
            own = np.einsum("ij,ij->i", features, features) + residuals
            parts.append(np.maximum(own[:, None] + norms - 2 * (features @ self.means.T), 0.0))
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
    d.check_at_hand()
    if d.points is None:
        raise ValueError(
            '`algorithm="nystrom"` needs points, got a matrix of rho, which holds all pairs already; use "hartigan".'
        )
    if d.metric.negative_type is False:
        raise ValueError(
            f'`algorithm="nystrom"` needs a rho of negative type, which {d.metric!r} is not; '
            'use algorithm="hartigan" on a random part of the rows.'
        )
    choice, order, pairs, *starts = rng.spawn(3 + how.n_init)
    chosen = choose_landmarks(d.points, d.metric, how.n_landmarks, choice, weights)
    if chosen.size < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {chosen.size}, got {k}.")
    feature_map = FeatureMap.of(d.points[chosen], d.metric)
    mixed = np.arange(d.n) if d.n <= how.batch_size else order.permutation(d.n)
    w = np.ones(d.n) if weights is None else weights
    features = Features.of(d.points[mixed], feature_map, w[mixed])
    check_residuals(features, d)
    found = search(features, k, how, mixed, starts, progress)
    if not found.converged:
        warn(f"The search was cut off after `max_iter`={how.max_iter} passes; W can still fall.", ConvergenceWarning)
    labels = np.empty(d.n, np.intp)
    labels[mixed] = found.labels
    numbered = renumber(labels)
    first = np.unique(numbered, return_index=True)[1]
    rule = NearestCentre(feature_map, found.centres.means[labels[first]])
    return report(d, features, numbered[mixed], k, how, found, pairs, weights, mixed), rule


def check_residuals(features: Features, d: Dissimilarity) -> None:
    """A point nearer to the landmarks' span than 0 shows that rho is not of negative type."""
    lowest = float(features.residuals.min())
    scale = float(np.abs(features.residuals).max()) + float(features.map.column_means.mean())
    if lowest < -1e-6 * scale:
        raise ValueError(
            f'`algorithm="nystrom"` needs a rho of negative type, which {d.metric!r} is not on these points: one has '
            f"the squared distance {lowest:.3g} from the span of the landmarks; "
            'use algorithm="hartigan" on a random part of the rows.'
        )


# ---------------------------------------------------------------- the search


def search(
    features: Features, k: int, how: Options, mixed: IntArray, streams: list[np.random.Generator], progress: bool
) -> Found:
    """Starts on a batch of rows, the best of them on batches of twice the size each, and at last on all rows."""
    tolerance = MOVE_TOLERANCE * (float(features.weights @ features.residuals) + spread(features))
    if not isinstance(how.init, str):
        labels = how.init[mixed]
        start = Found(labels, features.centres(labels, k), 0, converged=False)
        on_pass = bound_to(how.callback, 0)
        return search_features(features, start, tolerance, how.max_iter, single_moves=True, on_pass=on_pass)
    size = min(features.n, max(how.batch_size, 2 * k))
    best, number = best_start(features.first(size), k, how, streams, tolerance * size / features.n, progress)
    on_pass = bound_to(how.callback, number)
    while size < features.n:
        size = min(features.n, 2 * size)
        last, batch = size == features.n, features.first(size)
        start = nearest_partition(batch, best.centres.means)
        limit = how.max_iter if last else min(how.max_iter, PASSES_BETWEEN)
        margin = tolerance * size / features.n
        best = search_features(batch, start, margin, limit, single_moves=last, on_pass=on_pass)
    return best


def best_start(
    batch: Features, k: int, how: Options, streams: list[np.random.Generator], tolerance: float, progress: bool
) -> tuple[Found, int]:
    """The start of lowest W on the batch, and its number; a later one wins only when it is lower beyond rounding."""
    best: tuple[Found, int] | None = None
    for number, stream in enumerate(with_bar(streams, progress, total=how.n_init, unit="start", size=lambda _: 1)):
        if how.init == "random":
            labels = random_start(batch.n, k, stream)
            start = Found(labels, batch.centres(labels, k), 0, converged=False)
        else:
            start = nearest_partition(batch, seeded_centres(batch, k, stream))
        on_pass = bound_to(how.callback, number)
        found = search_features(batch, start, tolerance, how.max_iter, single_moves=True, on_pass=on_pass)
        if best is None or best[0].centres.W - tolerance > found.centres.W:
            best = found, number
    assert best is not None
    return best


def nearest_partition(rows: Features, means: FloatArray) -> Found:
    """Every row with its nearest centre, and no cluster empty."""
    labels, centres = refilled(rows, *rows.assigned(means))
    return Found(labels, centres, 0, converged=False)


def bound_to(callback: OnPass | None, number: int) -> Callable[[int, float], object] | None:
    """The user's function, told the number of the start."""
    return None if callback is None else partial(callback, number)


def spread(features: Features) -> float:
    """T of the features."""
    return features.centres(np.zeros(features.n, np.intp), 1).W


# ---------------------------------------------------------------- the dispersions


class Estimate(NamedTuple):
    """A dispersion, the variance of its estimate, and the pairs that were drawn."""

    value: float
    variance: float
    n_pairs: int


def estimate(
    features: Features, rows: IntArray, d: Dissimilarity, rng: np.random.Generator, weighted: bool
) -> Estimate:
    """W of the points in some rows as one cluster [theory 8].

    The features give the part inside the landmarks' span, and the squared distances from it, r, what lies outside but
    for the square of a mean: s ||mu||^2, s being the mass. Of that square the terms <x, x> = r(x) are known, and those
    of pairs are sampled, in blocks of rows whose means are independent; all pairs are taken where they are few.
    """
    w, r = features.weights[rows], features.residuals[rows]
    mass = float(w.sum())
    inside = total(
        features.sums(part, features.at(part), np.zeros(part.size, np.intp), 1)
        for part in np.array_split(rows, -(-rows.size // ROWS_AT_ONCE))
    ).W
    known = inside + float(w @ r) - float(w**2 @ r) / mass
    if rows.size <= ALL_PAIRS_UP_TO:
        pairs = np.outer(w, w) * outside(features, rows, d)
        return Estimate(known - float(pairs.sum()) / mass, 0.0, rows.size * (rows.size - 1) // 2)
    means = np.empty(BLOCKS)
    upto = np.cumsum(w)
    for block in range(BLOCKS):
        if weighted:
            at = np.searchsorted(upto, rng.random(ROWS_IN_BLOCK) * mass, side="right")
            drawn, factor = rows[np.minimum(at, rows.size - 1)], mass
        else:
            drawn, factor = rng.choice(rows, ROWS_IN_BLOCK, replace=False, shuffle=False), mass - 1
        means[block] = outside(features, drawn, d).sum() / (ROWS_IN_BLOCK * (ROWS_IN_BLOCK - 1))
    n_pairs = BLOCKS * ROWS_IN_BLOCK * (ROWS_IN_BLOCK - 1) // 2
    return Estimate(known - factor * float(means.mean()), factor**2 * float(means.var(ddof=1)) / BLOCKS, n_pairs)


def outside(features: Features, rows: IntArray, d: Dissimilarity) -> FloatArray:
    """Inner products of the parts outside the landmarks' span, 0 for a row with itself; (b,) -> (b, b)."""
    points, phi, r = features.points[rows], features.at(rows), features.residuals[rows]
    own = features.lengths[rows] + r
    products = (own[:, None] + own - d.metric.finite_between(points, points)) / 2 - phi @ phi.T
    products[rows[:, None] == rows] = 0.0
    return np.asarray(products)


def scatter(features: Features) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eigenvalues, falling, and vectors of the weighted scatter matrix of the features, and their mean."""
    p = features.map.rank
    mean = features.centres(np.zeros(features.n, np.intp), 1).means[0]
    matrix = np.zeros((p, p))
    for rows, phi in features.blocks():
        phi = phi - mean
        matrix += (phi * features.weights[rows, None]).T @ phi
    values, vectors = np.linalg.eigh(matrix)  # of no features, too
    return values[::-1], vectors[:, ::-1], mean


def report(
    d: Dissimilarity,
    features: Features,
    labels: IntArray,
    k: int,
    how: Options,
    found: Found,
    rng: np.random.Generator,
    weights: FloatArray | None,
    mixed: IntArray,
) -> Partition:
    """The partition with estimates of its dispersions; `labels` are those of the rows in the features' order."""
    weighted = weights is not None
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=k))[:-1])
    parts = [estimate(features, rows, d, rng, weighted) for rows in members]
    whole = estimate(features, np.arange(d.n), d, rng, weighted) if k > 1 else parts[0]
    within = np.array([part.value for part in parts])
    W_variance = sum(part.variance for part in parts)
    left_out = max(float(features.weights @ features.residuals), 0.0)
    values, vectors, mean = scatter(features)
    coordinates = None
    if d.coordinates is None:
        coordinates = np.zeros((d.n, 2))
        for rows, phi in features.blocks():
            coordinates[mixed[rows], : min(2, vectors.shape[1])] = (phi - mean) @ vectors[:, :2]
    in_order = np.empty_like(labels)
    in_order[mixed] = labels
    given = not isinstance(how.init, str)
    return Partition(
        labels=in_order,
        k=k,
        sizes=tuple(np.bincount(labels, minlength=k).tolist()),
        within=float(within.sum()),
        between=whole.value - float(within.sum()) if k > 1 else 0.0,
        total=whole.value,
        within_per_cluster=within,
        bound=float(values[: k - 1].sum()) + left_out if k > 1 else 0.0,
        algorithm="nystrom",
        n_init=1 if given else how.n_init,
        n_iter=found.n_iter,
        converged=found.converged,
        masses=found_masses(features, labels, k) if weighted else None,
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
            within_limits=(found.centres.W, found.centres.W + left_out),
            outside=share(left_out, whole.value),
        ),
    )


def found_masses(features: Features, labels: IntArray, k: int) -> FloatArray:
    """Sums of the weights of the clusters."""
    return np.bincount(labels, features.weights, minlength=k).astype(np.float64)
