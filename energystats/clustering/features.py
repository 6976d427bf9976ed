"""Clustering in a feature space whose rows come in blocks, and the features that landmarks span [theory 8]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from energystats._core.hartigan import sum_clusters
from energystats._core.threads import one_thread
from energystats._typing import AnyArray, FloatArray, IntArray
from energystats.clustering.feature_map import FeatureMap, PointsHere, RowTable
from energystats.clustering.search import MOVE_TOLERANCE
from energystats.pairs.block_values import BlockValues, ValuesHere

__all__ = ["Assignment", "BlockFeatures", "Centres", "Features", "Found", "nearest_centres"]


STORED_BYTES = 2**30  # of features in one process; where there are more they are recomputed for every pass
DISTANCE_ROUNDING = 1e-12  # of squared lengths: error of a squared distance
MOVED_AT_ONCE = 2**16  # rows that are tried one by one between two passes over all of them


# ---------------------------------------------------------------- sums over clusters


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """Hold sums over the points of k clusters; those of two blocks of rows add up."""

    counts: IntArray  # (k,) points
    mass: FloatArray  # (k,) sums of weights w
    sums: FloatArray  # (k, p) weighted sums of features
    squares: FloatArray  # (k,) weighted sums of squared lengths of the features
    # residuals, own: (k,) sums of w r and of w**2 r, r being the squared distances from the span of the landmarks
    residuals: FloatArray
    own: FloatArray

    @classmethod
    def of(cls, block: BlockFeatures, weights: FloatArray, labels: AnyArray, k: int) -> Self:
        """Compute sizes, masses and sums of landmark features of the clusters in a block of rows, given labels."""
        labels = labels.astype(np.intp, copy=False)

        def sums_of(values: FloatArray) -> FloatArray:
            return np.bincount(labels, values, minlength=k).astype(np.float64, copy=False)

        return cls(
            np.bincount(labels, minlength=k).astype(np.intp, copy=False),
            sums_of(weights),
            block.sums(weights, labels, k),
            sums_of(weights * block.lengths),
            sums_of(weights * block.residuals),
            sums_of(weights**2 * block.residuals),
        )

    @classmethod
    def zeros(cls, k: int, p: int) -> Self:
        """Return sizes, masses and feature sums of clusters without rows, all 0, for k clusters and p features."""
        mass, squares, residuals, own = np.zeros((4, k))
        return cls(np.zeros(k, np.intp), mass, np.zeros((k, p)), squares, residuals, own)

    def __add__(self, other: Centres) -> Centres:
        return Centres(
            self.counts + other.counts,
            self.mass + other.mass,
            self.sums + other.sums,
            self.squares + other.squares,
            self.residuals + other.residuals,
            self.own + other.own,
        )

    def __neg__(self) -> Centres:
        return Centres(-self.counts, -self.mass, -self.sums, -self.squares, -self.residuals, -self.own)

    def renumbered(self, numbers: IntArray) -> Centres:
        """Return sizes, masses and feature sums of clusters reordered so that cluster j becomes `numbers[j]`."""
        order = np.argsort(numbers)
        return Centres(
            self.counts[order],
            self.mass[order],
            self.sums[order],
            self.squares[order],
            self.residuals[order],
            self.own[order],
        )

    @property
    def together(self) -> Centres:
        """Add up the sizes, masses and feature sums of all clusters, as if they were one cluster."""
        counts, mass, sums, squares, residuals, own = (
            np.asarray(part).sum(axis=0, keepdims=True)
            for part in (self.counts, self.mass, self.sums, self.squares, self.residuals, self.own)
        )
        return Centres(counts, mass, sums, squares, residuals, own)

    @property
    def means(self) -> FloatArray:
        """Compute the mean vector of landmark features of every cluster; (k, p)."""
        return np.asarray(self.sums / self.mass[:, None])

    @property
    def within(self) -> FloatArray:
        """Compute the weighted sum of squared distances of each cluster from its mean, in the landmarks' span; (k,)."""
        return np.asarray(self.squares - np.einsum("lj,lj->l", self.sums, self.sums) / self.mass)

    @property
    def W(self) -> float:
        """Compute the weighted sum of squared distances of all points from cluster means, in the landmarks' span."""
        return float(self.within.sum())

    @property
    def left_out(self) -> float:
        """Compute the weighted sum of squared distances of all points from the span of the landmarks."""
        return max(float(self.residuals.sum()), 0.0)

    @property
    def tolerance(self) -> float:
        """Compute the difference up to which two within dispersions are equal but for rounding."""
        return MOVE_TOLERANCE * (self.together.W + self.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Hold a partition of some rows and its sums, the passes it took, and whether they ended by themselves."""

    labels: IntArray
    centres: Centres
    n_iter: int
    converged: bool


# ---------------------------------------------------------------- rows and their features


class BlockFeatures(NamedTuple):
    """Hold features of one block of rows, their squared lengths, and squared distances from the landmarks' span."""

    # (b, p) features; or, where `V` is given, the kernel with the landmarks, whose product with `V` they are
    rows: FloatArray
    # lengths, residuals: (b,) squared lengths, and squared distances from the span
    lengths: FloatArray
    residuals: FloatArray
    V: FloatArray | None = None  # (m, p) Of the map. A few sums and products of features cost less when it comes last.

    @classmethod
    def of(
        cls,
        block: Any,
        feature_map: FeatureMap,
        lengths: FloatArray | None = None,
        residuals: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> BlockFeatures:
        """Compute the landmark features of a block of points, with squared lengths and residuals.

        A block of features is returned as it is.

        Where lengths and residuals are given, rows hold the kernel, and `V` makes features of it.
        """
        if isinstance(block, BlockFeatures):
            return block
        kernel, own = feature_map.kernel(feature_map.metric.finite_between(block, feature_map.landmarks))
        if lengths is not None and residuals is not None:
            return cls(kernel, lengths, residuals, feature_map.V)
        with one_thread():
            phi = np.matmul(kernel, feature_map.V, out=out)
        lengths = np.einsum("ij,ij->i", phi, phi)
        feature_map.check(lengths, own - lengths)
        return cls(phi, lengths, own - lengths)

    def part(self, rows: slice | IntArray) -> BlockFeatures:
        """Select the landmark features of some rows of a block."""
        return BlockFeatures(self.rows[rows], self.lengths[rows], self.residuals[rows], self.V)

    def times(self, means: FloatArray) -> FloatArray:
        """Multiply the landmark features of a block of rows with a few centres, in one thread; (k, p) -> (b, k)."""
        with one_thread():
            return np.asarray(self.rows @ (means.T if self.V is None else self.V @ means.T))

    def sums(self, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
        """Sum the weighted landmark features of the rows in every cluster; (b,), (b,) -> (k, p)."""
        sums = sum_clusters(self.rows, weights, labels, k)
        if self.V is None:
            return sums
        with one_thread():
            return np.asarray(sums @ self.V)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Hold the features of n rows where they fit; else their lengths, and the kernel is computed in every pass."""

    table: RowTable  # the rows
    map: FeatureMap  # their features
    weights: FloatArray  # (n,) positive
    blocks: BlockValues  # points or `BlockFeatures`
    shared_map: Any  # the map where tasks on the blocks find it
    # the weights where tasks find them, and, unless features are kept, the squared lengths and residuals
    columns: tuple[Any, ...]
    whole: BlockFeatures | None = None  # the features of all rows, where this process keeps them
    moment: FloatArray | None = None  # (p, p) weighted sum of the products of features, where they are not kept

    @classmethod
    def of(cls, table: RowTable, feature_map: FeatureMap, weights: FloatArray) -> Self:
        """Compute the landmark features of all rows, and store them if they fit into memory."""
        blocks, n = table.values(), len(table)
        if isinstance(blocks, ValuesHere):
            blocks = blocks.in_threads(feature_map.metric.in_threads)
        shared_map, placed = blocks.share(feature_map), blocks.place(weights)
        if 8 * n * feature_map.rank > STORED_BYTES * blocks.n_machines:
            lengths, residuals, moments = zip(*blocks.map(_learn_in, shared_map, columns=(placed,)), strict=True)
            known = (blocks.place(np.concatenate(column)) for column in (lengths, residuals))
            moment = reduce(add, moments)
            return cls(table, feature_map, weights, blocks, shared_map, (placed, *known), moment=moment)
        if not isinstance(blocks, ValuesHere):
            blocks = blocks.kept(BlockFeatures.of, shared_map)
            return cls(table, feature_map, weights, blocks, shared_map, (placed,))
        whole = BlockFeatures(np.empty((n, feature_map.rank)), np.empty(n), np.empty(n))
        for _ in blocks.map(_fill_in, shared_map, columns=whole[:3]):
            pass
        return cls._kept_here(table, feature_map, weights, blocks.spans, whole)

    @classmethod
    def _kept_here(
        cls,
        table: RowTable,
        feature_map: FeatureMap,
        weights: FloatArray,
        spans: Sequence[slice],
        whole: BlockFeatures,
    ) -> Self:
        """Return stored features of rows in memory, divided into the blocks `spans`."""
        blocks = ValuesHere(spans, whole.part, threaded=True)
        return cls(table, feature_map, weights, blocks, feature_map, (weights,), whole)

    @property
    def n(self) -> int:
        """Return the number of rows for which features are computed."""
        return len(self.table)

    def taken(self, rows: IntArray, stops: Sequence[int]) -> Features:
        """Return landmark features of some rows, in blocks that also end after each number of rows in `stops`."""
        table, weights = PointsHere(self.table.pick(rows), stops), self.weights[rows]
        if self.whole is None:
            return Features.of(table, self.map, weights)
        return Features._kept_here(table, self.map, weights, table.values().spans, self.whole.part(rows))

    def leading(self, count: int) -> Features:
        """Return the `count` landmark features of largest variance, or all if they are not stored in this memory."""
        if self.whole is None or count >= self.map.rank:
            return self
        # the eigenvalues of the map rise; what is left out lies outside the span of the rest
        rows, norms = np.ascontiguousarray(self.whole.rows[:, -count:]), self.whole.lengths + self.whole.residuals
        lengths = np.einsum("ij,ij->i", rows, rows)
        whole = BlockFeatures(rows, lengths, norms - lengths)
        return Features._kept_here(self.table, self.map, self.weights, self.blocks.spans, whole)

    def first(self, count: int) -> Features:
        """Return the landmark features of the first `count` rows without copying; a block of rows has to end there."""
        assert isinstance(self.table, PointsHere)
        table, weights = PointsHere(self.table.points[:count], self.table.stops), self.weights[:count]
        if self.whole is not None:
            spans = [span for span in self.blocks.spans if span.stop <= count]
            return Features._kept_here(table, self.map, weights, spans, self.whole.part(slice(count)))
        assert isinstance(self.blocks, ValuesHere)
        ends = [span.stop for span in self.blocks.spans]
        columns = tuple(column[:count] for column in self.columns)
        blocks = self.blocks.first(1 + ends.index(count))
        return Features(table, self.map, weights, blocks, self.shared_map, columns)

    def at(self, rows: IntArray) -> BlockFeatures:
        """Return the landmark features of the given rows, as stored or computed now."""
        if self.whole is not None:
            return self.whole.part(rows)
        return BlockFeatures.of(self.table.pick(rows), self.map)

    def over_blocks(self, task: Callable[..., Any], *given: Any, columns: Sequence[Any] = ()) -> list[Any]:
        """Run a function on the landmark features of every block of rows, and list the results."""
        shared = (self.shared_map, *map(self.blocks.share, given))
        return list(self.blocks.map(task, *shared, columns=(*columns, *self.columns)))

    def summed(self, task: Callable[..., Any], *given: Any, columns: Sequence[Any] = ()) -> Any:
        """Run a function on the landmark features of every block of rows, and add up the results."""
        shared = (self.shared_map, *map(self.blocks.share, given))
        return self.blocks.sum(task, *shared, columns=(*columns, *self.columns))

    def products(self) -> FloatArray:
        """Compute the weighted sum of outer products of landmark features over all rows; (p, p)."""
        return np.asarray(self.summed(_moment_in) if self.moment is None else self.moment)

    def centres(self, labels: IntArray, k: int) -> Centres:
        """Compute sizes, masses and sums of landmark features of the clusters of a partition of all rows."""
        found: Centres = self.summed(_centres_in, k, columns=(labels.astype(np.min_scalar_type(k)),))
        return found

    def watch(self) -> Assignment:
        """Return an object that assigns rows to moving centres, with distance bounds to skip rows where possible."""
        return Watch(self) if isinstance(self.blocks, ValuesHere) else self

    def assigned(self, means: FloatArray) -> tuple[IntArray, Centres]:
        """Assign every row to its nearest centre; return labels, and the feature sums of the new clusters; O(n k p)."""
        labels, parts = zip(*self.over_blocks(_assigned_in, means), strict=True)
        return np.concatenate(labels).astype(np.intp), reduce(add, parts)

    def distances(self, means: FloatArray) -> FloatArray:
        """Compute the squared distance of every row to the nearest of some centres; (n,)."""
        return np.concatenate(self.over_blocks(_distances_in, means))

    def distances_to_each(self, means: FloatArray) -> FloatArray:
        """Compute the squared distances of every row to each of some centres; (n, k)."""
        return np.concatenate(self.over_blocks(_distances_to_each_in, means))

    def movable(self, found: Found, tolerance: float) -> IntArray:
        """Find the rows whose move to another cluster lowers the within dispersion by more than `tolerance`.

        Of too many those that gain most are taken.
        """
        centres = found.centres
        sums = centres.counts, centres.mass, centres.means
        labels = found.labels.astype(np.min_scalar_type(centres.counts.size))
        return self.largest_gains(self.over_blocks(_movable_in, sums, tolerance, columns=(labels,)))

    def largest_gains(self, parts: Sequence[tuple[IntArray, FloatArray]]) -> IntArray:
        """Join the numbers of rows found in each block, as counted in the table; keep only those of largest gains."""
        rows = np.concatenate([part[0] + span.start for part, span in zip(parts, self.blocks.spans, strict=True)])
        gains = np.concatenate([part[1] for part in parts])
        return np.sort(rows[np.argsort(-gains, kind="stable")[:MOVED_AT_ONCE]])


def _learn_in(block: Any, feature_map: FeatureMap, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute squared lengths and residuals of a block's landmark features, and the sum of their outer products."""
    lengths, residuals = np.empty((2, len(block)))
    moment = np.zeros((feature_map.rank, feature_map.rank))
    for part in _in_cache(len(block)):
        features = BlockFeatures.of(block[part], feature_map)
        lengths[part], residuals[part] = features.lengths, features.residuals
        moment += _moment_in(features, feature_map, weights[part])
    return lengths, residuals, moment


def _in_cache(count: int) -> list[slice]:
    """Divide a number of rows into slices small enough for the processor's cache."""
    return [slice(start, start + ROWS_IN_CACHE) for start in range(0, count, ROWS_IN_CACHE)]


def _moment_in(block: Any, feature_map: FeatureMap, weights: FloatArray, *_: FloatArray) -> FloatArray:
    """Compute the weighted sum of outer products of the landmark features of one block of rows; (p, p)."""
    scaled = BlockFeatures.of(block, feature_map).rows
    if (weights != 1).any():
        scaled = scaled * np.sqrt(weights)[:, None]
    with one_thread():
        return np.asarray(scaled.T @ scaled)


def _fill_in(block: Any, feature_map: FeatureMap, rows: FloatArray, lengths: FloatArray, residuals: FloatArray) -> None:
    """Compute the landmark features of one block of rows, and write them into the arrays that store them."""
    for part in _in_cache(len(block)):
        _, lengths[part], residuals[part], _ = BlockFeatures.of(block[part], feature_map, out=rows[part])


def _centres_in(
    block: Any, feature_map: FeatureMap, k: int, labels: AnyArray, weights: FloatArray, *known: FloatArray
) -> Centres:
    """Compute sizes, masses and sums of landmark features of the clusters in one block of rows."""
    return Centres.of(BlockFeatures.of(block, feature_map, *known), weights, labels, k)


def _assigned_in(
    block: Any, feature_map: FeatureMap, means: FloatArray, weights: FloatArray, *known: FloatArray
) -> tuple[AnyArray, Centres]:
    """Assign the rows of one block to their nearest centres; return labels and feature sums of the new clusters."""
    features, k = BlockFeatures.of(block, feature_map, *known), len(means)
    labels = nearest_centres(features, means)[0]
    return labels.astype(np.min_scalar_type(k)), Centres.of(features, weights, labels, k)


def _distances_in(
    block: Any, feature_map: FeatureMap, means: FloatArray, weights: FloatArray, *known: FloatArray
) -> FloatArray:
    """Compute the squared distance of each row of one block to the nearest centre; (b,)."""
    return nearest_centres(BlockFeatures.of(block, feature_map, *known), means)[1]


def _distances_to_each_in(
    block: Any, feature_map: FeatureMap, means: FloatArray, weights: FloatArray, *known: FloatArray
) -> FloatArray:
    """Compute the squared distances of each row of one block to each centre; (b, k)."""
    return _squared_distances(BlockFeatures.of(block, feature_map, *known), means)


def _movable_in(
    block: Any,
    feature_map: FeatureMap,
    sums: tuple[IntArray, FloatArray, FloatArray],
    tolerance: float,
    labels: AnyArray,
    weights: FloatArray,
    *known: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Find the rows of one block whose move lowers the within dispersion by more than `tolerance`, and by how much."""
    squared = _squared_distances(BlockFeatures.of(block, feature_map, *known), sums[2])
    gains = _gains_of_moves(squared, labels, weights, sums)
    chosen = np.flatnonzero(gains > tolerance)
    return chosen, gains[chosen]


def _gains_of_moves(
    squared: FloatArray, labels: AnyArray, weights: FloatArray, sums: tuple[IntArray, FloatArray, FloatArray]
) -> FloatArray:
    """Compute by how much the best move of each row lowers the within dispersion, from squared distances (b, k).

    A point of weight w at the squared distance d from the mean of its cluster of mass s takes w s/(s - w) d away from
    W, and adds w s/(s + w) d to that of another one.
    """
    counts, mass, _ = sums
    rows, s = np.arange(labels.size), mass[labels]
    alone = counts[labels] == 1
    rest = np.where(alone, 1.0, s - weights)
    # w s/(s - w) d leaves with the point, w s/(s + w) d comes where it goes
    takes = np.where(alone, 0.0, weights * s / rest * squared[rows, labels])
    gives = weights[:, None] * mass / (mass + weights[:, None]) * squared
    gives[rows, labels] = np.inf
    return np.asarray(takes - gives.min(axis=1))


# ---------------------------------------------------------------- rows in doubt


class Assignment(Protocol):
    """Define what assigns rows to their nearest centres, and finds rows that a single move would improve."""

    def assigned(self, means: FloatArray) -> tuple[IntArray, Centres]:
        """Assign every row to its nearest centre; return labels, and the feature sums of the new clusters."""

    def movable(self, found: Found, tolerance: float) -> IntArray:
        """Find the rows whose move to another cluster lowers the within dispersion by more than `tolerance`."""


class Watch:
    """Hold bounds of the distances of rows from their own centre and from the nearest other one [Hamerly 2010].

    Both change by no more than the centres move, so that only rows whose bounds meet have to be computed again.
    """

    def __init__(self, rows: Features) -> None:
        self.rows = rows
        self.labels = np.full(rows.n, -1)
        self.upper, self.lower = np.full(rows.n, np.inf), np.zeros(rows.n)
        self.means: FloatArray | None = None
        self.centres: Centres | None = None

    def assigned(self, means: FloatArray) -> tuple[IntArray, Centres]:
        self._follow(self.labels, means)
        columns = (self.labels, self.upper, self.lower)
        changes = self.rows.summed(_change_in, means, columns=columns)
        self.centres = changes if self.centres is None else self.centres + changes
        return self.labels.copy(), self.centres

    def movable(self, found: Found, tolerance: float) -> IntArray:
        centres = found.centres
        self._follow(found.labels, centres.means)
        self.centres = centres
        sums = centres.counts, centres.mass, centres.means
        parts = self.rows.over_blocks(_movable_in_doubt, sums, tolerance, columns=(self.labels, self.upper, self.lower))
        return self.rows.largest_gains(parts)

    def _follow(self, labels: IntArray, means: FloatArray) -> None:
        """Update the bounds on distances of rows to centres after the centres have moved."""
        if self.means is not None:
            drift = np.sqrt(((means - self.means) ** 2).sum(axis=1))
            farthest = int(drift.argmax())
            others = np.full(drift.size, drift[farthest])
            others[farthest] = np.delete(drift, farthest).max(initial=0.0)
            self.upper += drift[self.labels]
            self.lower -= others[self.labels]
            self.upper[labels != self.labels] = np.inf
        self.labels, self.means = labels.copy(), means


def _look_again(
    block: Any, feature_map: FeatureMap, means: FloatArray, doubtful: IntArray, known: Sequence[FloatArray]
) -> tuple[BlockFeatures, FloatArray, FloatArray]:
    """Compute landmark features of some rows of a block, their squared distances (b, k) to all centres, and rounding.

    It is a bound of the rounding errors of the squared distances.
    """
    part = block.part(doubtful) if isinstance(block, BlockFeatures) else block[doubtful]
    features = BlockFeatures.of(part, feature_map, *(column[doubtful] for column in known))
    size = np.einsum("lj,lj->l", means, means).max(initial=0.0)
    return features, _squared_distances(features, means), DISTANCE_ROUNDING * (features.lengths + size)


def _bounds_of(squared: FloatArray, labels: IntArray, rounding: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute for each row an upper bound on the distance to its own centre, and a lower one to others; (b,), (b,)."""
    rows = np.arange(labels.size)
    others = squared.copy()
    others[rows, labels] = np.inf
    return np.sqrt(squared[rows, labels] + rounding), np.sqrt(np.maximum(others.min(axis=1) - rounding, 0.0))


def _change_in(
    block: Any,
    feature_map: FeatureMap,
    means: FloatArray,
    labels: IntArray,
    upper: FloatArray,
    lower: FloatArray,
    weights: FloatArray,
    *known: FloatArray,
) -> Centres:
    """Reassign those rows of a block whose nearest centre is uncertain; return by how much cluster sums change.

    Labels and bounds change in place.
    """
    k, changes = len(means), Centres.zeros(*means.shape)
    in_doubt = np.flatnonzero(upper >= lower)
    for part in _in_cache(in_doubt.size):
        doubtful = in_doubt[part]
        features, squared, rounding = _look_again(block, feature_map, means, doubtful, known)
        nearest, before = squared.argmin(axis=1).astype(np.intp), labels[doubtful]
        labels[doubtful] = nearest
        upper[doubtful], lower[doubtful] = _bounds_of(squared, nearest, rounding)
        moved = np.flatnonzero(nearest != before)
        rows, w, nearest, before = features.part(moved), weights[doubtful[moved]], nearest[moved], before[moved]
        changes += Centres.of(rows, w, nearest, k)
        if (before >= 0).any():
            changes += -Centres.of(rows, w, before, k)
    return changes


def _movable_in_doubt(
    block: Any,
    feature_map: FeatureMap,
    sums: tuple[IntArray, FloatArray, FloatArray],
    tolerance: float,
    labels: IntArray,
    upper: FloatArray,
    lower: FloatArray,
    weights: FloatArray,
    *known: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Find the rows of one block whose move lowers the within dispersion by more than `tolerance`, and by how much.

    Rows that bounds exclude are skipped; the bounds of the others change in place.
    """
    counts, mass, means = sums
    # a move gains at most w s/(s - w) upper^2 - min_l(w s_l/(s_l + w)) lower^2, unless lower is below 0
    s, lightest, alone = mass[labels], mass.min(), counts[labels] == 1
    factor = np.sqrt(s / np.where(alone, 1.0, s - weights))
    doubtful = np.flatnonzero(~alone & (factor * upper >= np.sqrt(lightest / (lightest + weights)) * lower))
    if not doubtful.size:
        return doubtful, np.zeros(0)
    _, squared, rounding = _look_again(block, feature_map, means, doubtful, known)
    own = labels[doubtful]
    upper[doubtful], lower[doubtful] = _bounds_of(squared, own, rounding)
    gains = _gains_of_moves(squared, own, weights[doubtful], sums)
    chosen = np.flatnonzero(gains > tolerance)
    return doubtful[chosen], gains[chosen]


def _squared_distances(features: BlockFeatures, means: FloatArray) -> FloatArray:
    """Compute squared distances of the rows of one block to all centres, inside the landmarks' span; (b, k)."""
    norms = np.einsum("lj,lj->l", means, means)
    return np.asarray(np.maximum(features.lengths[:, None] + norms - 2 * features.times(means), 0.0))


def nearest_centres(features: BlockFeatures, means: FloatArray) -> tuple[IntArray, FloatArray]:
    """Find the nearest centre of each row, and its squared distance in feature space; (b,), (b,)."""
    squared = np.einsum("lj,lj->l", means, means) - 2 * features.times(means)
    labels = squared.argmin(axis=1).astype(np.intp)
    return labels, np.maximum(features.lengths + squared[np.arange(labels.size), labels], 0.0)


ROWS_IN_CACHE = 2048  # beside 256 landmarks
