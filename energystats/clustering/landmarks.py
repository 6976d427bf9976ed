"""Clusters of more points than pairs can be stored for: k-means of features that landmarks span [theory 8].

The features are the Nystrom approximation of the kernel behind rho (Williams & Seeger 2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from energystats._core.eigenvalue_bound import eigenvalue_bound
from energystats._core.interrupts import map_in_threads
from energystats._core.linkage import numbering
from energystats._core.statistics import share
from energystats._core.threads import one_thread, one_thread_up_to, threads_given
from energystats._runtime import Work, with_bar
from energystats._typing import FloatArray, IntArray
from energystats.clustering.feature_map import FeatureMap, PointsHere, RowTable, choose_landmarks
from energystats.clustering.feature_search import search_features, seeded_centres
from energystats.clustering.features import BlockFeatures, Centres, Features, Found
from energystats.clustering.local_search import Hartigan
from energystats.clustering.partition import Partition, find_intervals
from energystats.clustering.search import Algorithm, Search, check_distinct
from energystats.clustering.seeding import random_start
from energystats.display.result import Approximation
from energystats.dissimilarity import Blocks, Dissimilarity, Points
from energystats.exceptions import ConvergenceWarning, warn
from energystats.inputs.options import check_count, children
from energystats.metrics.base import pair_with_itself
from energystats.pairs.workloads import Size, landmarks

__all__ = ["Landmarks", "NearestCentre"]


FEW_ROWS = 3000  # whose pairs take no longer than landmarks in one round cloud
FEWEST_LANDMARKS = 256  # when nothing is said, unless there are more clusters
LEADING = 64  # directions in which the starts are searched, unless there are more clusters
BATCH, ROWS_OF_A_CLUSTER = 16_384, 2  # rows on which the starts are searched; at least, for each cluster
LARGEST_BATCH = 2**17  # rows before all of them are taken
LEAST_PART = 16  # a batch beyond the first is at most one of so many parts of all rows
BATCH_BYTES = 2**29  # of batches beyond the first
PASSES_BETWEEN = 10  # over batches between the first and all rows
BLOCKS = 64  # of rows, whose pairs estimate W of a cluster
ROWS_IN_BLOCK = 64
ALL_PAIRS_UP_TO = 1024  # points of a cluster, all of whose pairs are taken
ROWS_AT_ONCE = 4096

OnPass = Callable[[int, int, float], object]


@dataclass(frozen=True, slots=True, eq=False)
class NearestCentre:
    """Find the nearest of k centres in the space of the features, for points that are given by rho to the landmarks."""

    map: FeatureMap  # of the landmarks
    means: FloatArray  # (k, p) centres

    def squared_distances(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> FloatArray:
        """Compute squared distances of new points to centres, with the part outside the landmarks' span; (m, k)."""
        norms = np.einsum("lj,lj->l", self.means, self.means)
        parts = []
        for start in range(0, n_points, ROWS_AT_ONCE):
            kernel, own = self.map.kernel(rho_of_rows(slice(start, start + ROWS_AT_ONCE)))
            with one_thread():
                products = kernel @ (self.map.V @ self.means.T)
            parts.append(np.maximum(own[:, None] + norms - 2 * products, 0.0))
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Landmarks(Algorithm):
    """Cluster more points than pairs can be stored for, by rho to a few landmarks: a Nystrom approximation.

    Without options, up to 3,000 rows are clustered by all their pairs, as `Hartigan` does it, and `.notes` says so:
    they take about as long, and nothing is estimated. An option that is given asks for landmarks of any rows.

    Parameters
    ----------
    n_landmarks : int, optional
        Points whose span takes the place of the feature space; 256 when None, or k if that is more.
    batch_size : int, optional
        Rows on which the starts are searched, 16,384 when None, 2k if that is more, in 64 directions of the landmarks'
        span, or k. The best start goes on in all of them with twice as many rows, and so on to all rows.

    See Also
    --------
    energy_cluster : Takes it as `algorithm`, only when asked for.

    Notes
    -----
    W, S and T from landmarks are estimates with standard errors, in `.approximation`. A `callback` is given W of a
    batch in the directions that are searched, and at last of all rows in the whole span, the lower one of
    `.approximation.within_limits`. O(n m (d + m)) time for m landmarks, and O(n m k) for a pass.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> es.energy_cluster(X, 2, algorithm=es.Landmarks(n_landmarks=3), rng=0).approximation.n_landmarks
    3
    """

    n_landmarks: int | None = None
    batch_size: int | None = None
    name: ClassVar[str] = "landmarks"
    reads_blocks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("n_landmarks", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_count(getattr(self, name), name, low=2))

    def _check(self, d: Dissimilarity, search: Search) -> None:
        """Raise ValueError if data or options do not suit clustering by landmarks."""
        if not search.by_labels and search.init == "spectral":
            raise ValueError('`init="spectral"` has no use in algorithm="landmarks"; use "k-means++" or "random".')
        if search.log_moves:
            raise ValueError(
                '`log_moves` must be False for algorithm="landmarks", which keeps no record of single moves.'
            )
        if not d.n_columns:
            raise ValueError(
                '`algorithm="landmarks"` needs points, got a matrix of rho, which holds all pairs already; use '
                '"hartigan".'
            )
        if d.metric.negative_type is False:
            raise ValueError(
                f'`algorithm="landmarks"` needs a rho of negative type, which {d.metric!r} is not; '
                'use algorithm="hartigan" on a random part of the rows.'
            )
        if self.count(search.k) < search.k:
            raise ValueError(f"`n_landmarks` must be at least `k`, {search.k}, got {self.n_landmarks}.")

    def chosen(self, d: Dissimilarity, search: Search) -> tuple[Algorithm, Dissimilarity]:
        """Return the algorithm to run, and its points: Hartigan's on all pairs for few rows and default options."""
        self._check(d, search)
        if d.n > FEW_ROWS or self != Landmarks():
            return self, d
        points = d.as_kind(Points, points=d.rows.pick(np.arange(d.n))) if isinstance(d, Blocks) else d
        return _AllPairs(), points

    def count(self, k: int) -> int:
        """Return the number of landmark points to draw for k clusters."""
        return max(FEWEST_LANDMARKS, k) if self.n_landmarks is None else self.n_landmarks

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        return (landmarks(Size.of(d), search.k, self.count(search.k), search.n_init, self.batch_size or BATCH),)

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, NearestCentre]:
        self._check(d, search)
        k, batch_size = search.k, max(self.batch_size or BATCH, ROWS_OF_A_CLUSTER * search.k)
        table, w = _table_of(d, batch_size), np.ones(d.n) if search.weights is None else search.weights
        # streams of their own, so that neither blocks nor starts change what others draw
        choice, order, pairs = rng.spawn(3)
        starts = children(rng, search.n_init)
        chosen = choose_landmarks(table, d.metric, self.count(k), choice, w)
        check_distinct(chosen.size, k)
        # features of all points from rho to the landmarks [Williams & Seeger]
        feature_map = FeatureMap.of(table.pick(chosen), d.metric)
        rows, found = _search_landmarks(_FeatureProblem(table, feature_map, w, batch_size, search), order, starts)
        if not found.converged:
            warn(
                f"The search was cut off after `max_iter`={search.max_iter} passes; W can still fall.",
                ConvergenceWarning,
            )
        # clusters are numbered by sums of the features, as others are by M
        intervals = find_intervals(None if isinstance(d, Blocks) else d.coordinates, found.labels, k)
        numbers, breaks = intervals or (numbering(found.labels, *_numbering_keys(found.centres)), None)
        found = Found(numbers[found.labels], found.centres.renumbered(numbers), found.n_iter, found.converged)
        partition = replace(_make_landmark_partition(d, rows, search, batch_size, found, pairs), breaks=breaks)
        return partition, NearestCentre(feature_map, found.centres.means)


class _AllPairs(Algorithm):
    """Search over all pairs of few rows, which takes about as long as landmarks and estimates nothing."""

    __slots__ = ()
    name: ClassVar[str] = "landmarks"

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        return Hartigan().work(d, search)

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, Any]:
        found, rule = Hartigan().fit(d, search, rng)
        note = (
            f"All pairs were used instead of landmarks: {d.n} rows are few enough for that, and nothing is estimated. "
            "`es.Landmarks(n_landmarks=256)` takes landmarks at any number of rows."
        )
        return replace(found, notes=(note, *found.notes)), rule


def _table_of(d: Dissimilarity, batch_size: int) -> RowTable:
    """Return the table of rows to cluster, read into memory if it has at most one batch of rows."""
    if isinstance(d, Blocks):
        return d.rows if d.n > batch_size else PointsHere(d.rows.pick(np.arange(d.n)))
    return PointsHere(d.points)


# ---------------------------------------------------------------- the search


class _FeatureProblem(NamedTuple):
    """Hold what a search with landmarks needs: rows, their features' map, weights, rows of a batch, and options."""

    table: RowTable
    map: FeatureMap
    weights: FloatArray
    batch_size: int
    search: Search


def _search_landmarks(
    problem: _FeatureProblem, order: np.random.Generator, streams: Iterator[np.random.Generator]
) -> tuple[Features, Found]:
    """Compute landmark features of all rows, and search for the partition with the least sum of squares.

    The starts are searched on a batch of rows, in a few directions, and the best of them goes on: in all directions, on
    batches of twice the size each, and at last on all rows.
    """
    rows, search = Features.of(problem.table, problem.map, problem.weights), problem.search
    start: Found | FloatArray
    if search.by_labels:
        labels = np.asarray(search.init)
        start, number = Found(labels, rows.centres(labels, search.k), 0, converged=False), 0
    else:
        start, number = _centres_of_batches(rows, problem.batch_size, search, order, streams)
    on_pass = _bound_to(search.callback, number)
    return rows, search_features(rows, start, search.max_iter, single_moves=True, on_pass=on_pass)


def _centres_of_batches(
    rows: Features,
    batch_size: int,
    search: Search,
    order: np.random.Generator,
    streams: Iterator[np.random.Generator],
) -> tuple[FloatArray, int]:
    """Find cluster centres from growing random batches of rows; return them, and the number of the best start."""
    sizes = [min(rows.n, batch_size)]
    largest = min(LARGEST_BATCH, BATCH_BYTES // (8 * rows.map.landmarks.shape[1]), rows.n // LEAST_PART)
    while 2 * sizes[-1] <= largest:
        sizes.append(2 * sizes[-1])
    # nested batches of twice the size each [Newling & Fleuret 2016]
    batch = rows if rows.n <= batch_size else rows.taken(order.choice(rows.n, sizes[-1], replace=False), sizes)
    first = batch.first(sizes[0])
    # k centres span k - 1 directions at most, and the first few hold most of what there is
    found, number = _best_start(first.leading(max(LEADING, search.k)), search, streams)
    found = replace(found, centres=first.centres(found.labels, search.k))
    on_pass = _bound_to(search.callback, number)
    for size in sizes[1:]:
        passes = min(search.max_iter, PASSES_BETWEEN)
        found = search_features(batch.first(size), found.centres.means, passes, single_moves=False, on_pass=on_pass)
    return found.centres.means, number


def _best_start(batch: Features, search: Search, streams: Iterator[np.random.Generator]) -> tuple[Found, int]:
    """Run all starts on a batch of rows, and return the one with the lowest dispersion, and its number."""
    best: tuple[Found, int] | None = None
    # a user's function expects one start after the other; blocks that are recomputed have threads of their own
    alone = search.callback is not None or batch.whole is None
    n_threads = 1 if alone else min(search.n_init, threads_given())
    starts = map_in_threads(partial(_run_start, batch, search), enumerate(streams), n_threads)
    bar = with_bar(starts, search.progress, total=search.n_init, unit="start", size=lambda _: 1)
    with nullcontext() if batch.whole is None else one_thread(), closing(starts), closing(bar):
        for number, found in enumerate(bar):
            if best is None or best[0].centres.W - found.centres.tolerance > found.centres.W:
                best = found, number
    assert best is not None
    return best


def _run_start(batch: Features, search: Search, number_and_stream: tuple[int, np.random.Generator]) -> Found:
    """Cluster a batch of rows from one random start."""
    number, stream = number_and_stream
    on_pass = _bound_to(search.callback, number)
    start: Found | FloatArray
    if search.init == "random":
        labels = random_start(batch.n, search.k, stream)
        start = Found(labels, batch.centres(labels, search.k), 0, converged=False)
    else:
        start = seeded_centres(batch, search.k, stream)
    return search_features(batch, start, search.max_iter, single_moves=True, on_pass=on_pass)


def _bound_to(callback: OnPass | None, number: int) -> Callable[[int, float], object] | None:
    """Return the user's callback with the number of a start filled in; None without a callback."""
    return None if callback is None else partial(callback, number)


# ---------------------------------------------------------------- the dispersions


class _Estimate(NamedTuple):
    """Hold an estimated dispersion, its standard error, and the number of pairs that it is made from."""

    value: float
    error: float
    n_pairs: int


def _estimates(
    features: Features, labels: IntArray, centres: Centres, rng: np.random.Generator, weighted: bool
) -> list[_Estimate]:
    """Estimate the within dispersion of each cluster and the total dispersion from a landmark clustering."""
    k = centres.counts.size
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(centres.counts)[:-1])
    known = _known_part(centres)
    found = [_estimate(features, rows, known[j], rng, weighted) for j, rows in enumerate(members)]
    everything = np.arange(features.n)
    whole = _estimate(features, everything, _known_part(centres.together)[0], rng, weighted) if k > 1 else found[0]
    return [*found, whole]


def _numbering_keys(centres: Centres) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Compute the masses, dispersions and sums of rho that put clusters in order, from landmark features."""
    lengths, together = centres.squares + centres.residuals, centres.together
    to_all = lengths * together.mass + centres.mass * lengths.sum() - 2 * centres.sums @ together.sums[0]
    return centres.mass, _known_part(centres), to_all, float(_known_part(together)[0])


def _known_part(centres: Centres) -> FloatArray:
    """Compute the part of each cluster's within dispersion that landmark features give without random pairs."""
    return np.asarray(centres.within + centres.residuals - centres.own / centres.mass)


def _estimate(features: Features, rows: IntArray, known: float, rng: np.random.Generator, weighted: bool) -> _Estimate:
    """Estimate the within dispersion of some rows as one cluster, with its error [theory 8].

    The features give the part inside the landmarks' span, and the squared distances from it, r, what lies outside but
    for the square of a mean: s ||mu||^2, s being the mass. Of that square the terms <x, x> = r(x) are known, and those
    of pairs are sampled, in blocks of rows whose means are independent; all pairs are taken where they are few.
    """
    w = features.weights[rows]
    mass = float(w.sum())
    # few rows: all pairs, and no error
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
    # the means of the blocks are independent, so that their spread is the error
    n_pairs = ROWS_IN_BLOCK * (ROWS_IN_BLOCK - 1)
    means = np.array([products.sum() for products in _multiply_residuals(features, drawn, ROWS_IN_BLOCK)]) / n_pairs
    return _Estimate(
        known - factor * float(means.mean()),
        factor * _standard_deviation(means) / math.sqrt(BLOCKS),
        BLOCKS * n_pairs // 2,
    )


def _standard_deviation(values: FloatArray) -> float:
    """Compute the standard deviation of values after scaling by a power of two, so that squares cannot overflow."""
    unit = int(np.frexp(np.abs(values).max())[1])
    return math.ldexp(float(np.ldexp(values, -unit).std(ddof=1)), unit)


def _multiply_residuals(features: Features, rows: IntArray, size: int) -> list[FloatArray]:
    """Compute inner products of the parts of rows outside the landmarks' span, 0 for a row with itself; (b, b) each."""
    points, found = features.table.pick(rows), []
    every = features.at(rows)  # one product instead of one for each block
    with one_thread():
        for start in range(0, rows.size, size):
            block = slice(start, start + size)
            own, part = points[block], rows[block]
            phi, lengths, residuals, _ = every.part(block)
            # <x, y> outside the span = (|x|^2 + |y|^2 - rho)/2 less the product inside
            norms = lengths + residuals
            rho = features.map.metric.finite_between(own, own, same=pair_with_itself(len(own)))
            products = (norms[:, None] + norms - rho) / 2 - phi @ phi.T
            products[part[:, None] == part] = 0.0
            found.append(np.asarray(products))
    return found


def _scatter(features: Features, together: Centres) -> tuple[FloatArray, FloatArray]:
    """Compute eigenvalues, descending, and eigenvectors of the weighted scatter matrix of landmark features."""
    # about the mean; the landmarks' mean, from which features are counted, is not far from it
    matrix = features.products() - np.outer(together.sums[0], together.means[0])
    with one_thread_up_to(len(matrix)):
        values, vectors = np.linalg.eigh(matrix)  # of none, too
    return values[::-1], vectors[:, ::-1]


def _coordinates_in(
    block: Any, feature_map: FeatureMap, mean: FloatArray, axes: FloatArray, *_: FloatArray
) -> FloatArray:
    """Compute two principal coordinates of the rows of one block from their features; (b, 2)."""
    return np.asarray((BlockFeatures.of(block, feature_map).rows - mean) @ axes)


def _limits(centres: Centres) -> tuple[float, float]:
    """Compute a lower and an upper limit that always hold the within dispersion, rounding included."""
    low, high = centres.W - centres.tolerance, centres.W + centres.left_out + centres.tolerance
    return max(low, 0.0), max(high, 0.0)


def _make_landmark_partition(
    d: Dissimilarity,
    features: Features,
    search: Search,
    batch_size: int,
    found: Found,
    rng: np.random.Generator,
) -> Partition:
    """Build the `Partition` of a landmark clustering, with estimated dispersions and their errors."""
    centres, k, weighted = found.centres, search.k, search.weights is not None
    *parts, whole = _estimates(features, found.labels, centres, rng, weighted)
    within, total = np.array([max(part.value, 0.0) for part in parts]), max(float(whole.value), 0.0)
    within_error = math.hypot(*(part.error for part in parts))
    together = centres.together
    values, vectors = _scatter(features, together)
    coordinates = None
    if d.coordinates is None:
        coordinates = np.zeros((d.n, 2))
        axes = vectors[:, :2]
        coordinates[:, : axes.shape[1]] = np.concatenate(features.over_blocks(_coordinates_in, together.means[0], axes))
    return Partition(
        labels=found.labels,
        k=k,
        sizes=tuple(centres.counts.tolist()),
        within=float(within.sum()),
        between=total - float(within.sum()) if k > 1 else 0.0,
        total=total,
        within_per_cluster=within,
        bound=eigenvalue_bound(values, k) + centres.left_out if k > 1 else 0.0,
        algorithm="landmarks",
        n_init=search.n_init,
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
            batch_size=d.n if search.by_labels else min(batch_size, d.n),
            n_pairs=sum(part.n_pairs for part in parts),
            within_error=within_error,
            between_error=math.hypot(within_error, whole.error) if k > 1 else 0.0,
            total_error=whole.error,
            within_limits=_limits(centres),
            outside=share(centres.left_out, total),
        ),
    )
