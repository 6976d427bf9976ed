"""Clustering in a feature space whose rows come in blocks, and the features that landmarks span [theory 8]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import centred
from energystats._core.hartigan import hartigan_among_means, sum_clusters
from energystats._core.interrupts import checkpoint
from energystats._core.threads import one_thread, one_thread_up_to
from energystats._typing import AnyArray, FloatArray, IntArray
from energystats.clustering.search import MOVE_TOLERANCE
from energystats.clustering.seeding import draw_index
from energystats.metrics.base import Metric
from energystats.pairs.block_values import BlockValues, ValuesHere, slices_of

__all__ = [
    "BlockFeatures",
    "Centres",
    "FeatureMap",
    "Features",
    "Found",
    "PointsHere",
    "RowTable",
    "choose_landmarks",
    "nearest_centres",
    "refilled",
    "search_features",
    "seeded_centres",
]


STORED_BYTES = 2**30  # of features in one process; where there are more they are recomputed for every pass
MOVED_AT_ONCE = 2**16  # rows that are looked at one by one between two looks at all of them

OnPass = Callable[[int, float], object]  # passes made, W


# ---------------------------------------------------------------- sums over clusters


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """Sums over the points of k clusters; those of two blocks of rows add.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Points.
    mass : ndarray of shape (k,)
        Sums of weights w.
    sums : ndarray of shape (k, p)
        Weighted sums of features.
    squares : ndarray of shape (k,)
        Weighted sums of squared lengths of the features.
    residuals, own : ndarray of shape (k,)
        Sums of w r and of w**2 r, r being the squared distances from the span of the landmarks.
    """

    counts: IntArray
    mass: FloatArray
    sums: FloatArray
    squares: FloatArray
    residuals: FloatArray
    own: FloatArray

    @classmethod
    def of(cls, block: BlockFeatures, weights: FloatArray, labels: AnyArray, k: int) -> Self:
        """Sum over the clusters of one block of rows."""
        labels = labels.astype(np.intp, copy=False)

        def sums_of(values: FloatArray) -> FloatArray:
            return np.bincount(labels, values, minlength=k).astype(np.float64, copy=False)

        return cls(
            np.bincount(labels, minlength=k).astype(np.intp, copy=False),
            sums_of(weights),
            sum_clusters(block.phi, weights, labels, k),
            sums_of(weights * block.lengths),
            sums_of(weights * block.residuals),
            sums_of(weights**2 * block.residuals),
        )

    def __add__(self, other: Centres) -> Centres:
        return Centres(
            self.counts + other.counts,
            self.mass + other.mass,
            self.sums + other.sums,
            self.squares + other.squares,
            self.residuals + other.residuals,
            self.own + other.own,
        )

    @property
    def together(self) -> Centres:
        """All clusters as one."""
        counts, mass, sums, squares, residuals, own = (
            np.asarray(part).sum(axis=0, keepdims=True)
            for part in (self.counts, self.mass, self.sums, self.squares, self.residuals, self.own)
        )
        return Centres(counts, mass, sums, squares, residuals, own)

    @property
    def means(self) -> FloatArray:
        """Centres of the clusters; (k, p)."""
        return np.asarray(self.sums / self.mass[:, None])

    @property
    def within(self) -> FloatArray:
        """Sums of squared distances from the centres inside the span of the landmarks; (k,)."""
        return np.asarray(self.squares - np.einsum("lj,lj->l", self.sums, self.sums) / self.mass)

    @property
    def W(self) -> float:
        """Sum of squared distances from the centres."""
        return float(self.within.sum())

    @property
    def left_out(self) -> float:
        """Weighted sum of the squared distances of all points from the span of the landmarks."""
        return max(float(self.residuals.sum()), 0.0)

    @property
    def tolerance(self) -> float:
        """Rounding of W: the T of the features and what they lack, times 1e-13."""
        return MOVE_TOLERANCE * (self.together.W + self.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A partition of some rows and its sums, the passes it took, and whether they ended by themselves."""

    labels: IntArray
    centres: Centres
    n_iter: int
    converged: bool


# ---------------------------------------------------------------- rows and their features


class BlockFeatures(NamedTuple):
    """Features (b, p) of one block of rows, their squared lengths, and squared distances from the landmarks' span."""

    phi: FloatArray
    lengths: FloatArray
    residuals: FloatArray

    @classmethod
    def of(cls, block: Any, feature_map: FeatureMap) -> BlockFeatures:
        """Return the feature coordinates of rows; rows that are features already come back unchanged."""
        if isinstance(block, BlockFeatures):
            return block
        phi, residuals = feature_map.apply(block)
        lengths = np.einsum("ij,ij->i", phi, phi)
        feature_map.check(lengths, residuals)
        return cls(phi, lengths, residuals)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features of n rows, kept or recomputed.

    Attributes
    ----------
    table : Table
        The rows.
    map : FeatureMap
        Their features.
    weights : ndarray of shape (n,)
        Positive.
    blocks : BlockValues
        Points or `BlockFeatures`.
    shared_map, placed_weights : object
        The map and the weights where tasks on the blocks find them.
    """

    table: RowTable
    map: FeatureMap
    weights: FloatArray
    blocks: BlockValues
    shared_map: Any
    placed_weights: Any

    @classmethod
    def of(cls, table: RowTable, feature_map: FeatureMap, weights: FloatArray) -> Self:
        """Go through the rows once, and keep their features if they fit."""
        blocks = table.values()
        shared_map = blocks.share(feature_map)
        if 8 * len(table) * feature_map.rank <= STORED_BYTES * blocks.n_machines:
            blocks = blocks.kept(BlockFeatures.of, shared_map)
        return cls(table, feature_map, weights, blocks, shared_map, blocks.place(weights))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.table)

    def first(self, count: int) -> Features:
        """Take the first rows of an array, where one of its blocks ends; nothing is copied."""
        assert isinstance(self.table, PointsHere)
        assert isinstance(self.blocks, ValuesHere)
        ends = [span.stop for span in self.blocks.spans]
        blocks = self.blocks.first(1 + ends.index(count))
        table, weights = PointsHere(self.table.points[:count]), self.weights[:count]
        return Features(table, self.map, weights, blocks, self.shared_map, weights)

    def at(self, rows: IntArray) -> BlockFeatures:
        """Compute the features of some rows."""
        return BlockFeatures.of(self.table.pick(rows), self.map)

    def over_blocks(self, task: Callable[..., Any], *given: Any, columns: Sequence[Any] = ()) -> list[Any]:
        """Run a task on every block; it gets the map and what is given."""
        shared = (self.shared_map, *map(self.blocks.share, given))
        return list(self.blocks.map(task, *shared, columns=columns))

    def summed(self, task: Callable[..., Any], *given: Any, columns: Sequence[Any] = ()) -> Any:
        """Run a task on every block of rows, and add up the results."""
        return self.blocks.sum(task, self.shared_map, *map(self.blocks.share, given), columns=columns)

    def centres(self, labels: IntArray, k: int) -> Centres:
        """Sum over the clusters of a partition."""
        found: Centres = self.summed(
            _centres_in, k, columns=(self.placed_weights, labels.astype(np.min_scalar_type(k)))
        )
        return found

    def assigned(self, means: FloatArray) -> tuple[IntArray, Centres]:
        """Find the nearest centre of every row, and the sums over the new clusters; O(n k p)."""
        labels, parts = zip(*self.over_blocks(_assigned_in, means, columns=(self.placed_weights,)), strict=True)
        return np.concatenate(labels).astype(np.intp), reduce(add, parts)

    def distances(self, means: FloatArray) -> FloatArray:
        """Compute the squared distances of all rows to the nearest of some centres; (n,)."""
        return np.concatenate(self.over_blocks(_distances_in, means))

    def movable(self, found: Found, tolerance: float) -> IntArray:
        """Find the rows of which a single move lowers W by more, in their order; of too many those that gain most."""
        centres = found.centres
        sums = centres.counts, centres.mass, centres.means
        labels = found.labels.astype(np.min_scalar_type(centres.counts.size))
        parts = self.over_blocks(_movable_in, sums, tolerance, columns=(self.placed_weights, labels))
        rows = np.concatenate([part[0] + span.start for part, span in zip(parts, self.blocks.spans, strict=True)])
        gains = np.concatenate([part[1] for part in parts])
        return np.sort(rows[np.argsort(-gains, kind="stable")[:MOVED_AT_ONCE]])


def _centres_in(block: Any, feature_map: FeatureMap, k: int, weights: FloatArray, labels: AnyArray) -> Centres:
    """Sum over the clusters of one block."""
    return Centres.of(BlockFeatures.of(block, feature_map), weights, labels, k)


def _assigned_in(
    block: Any, feature_map: FeatureMap, means: FloatArray, weights: FloatArray
) -> tuple[AnyArray, Centres]:
    """Find the nearest centres of the rows of one block, in few bytes, and the sums over them."""
    features, k = BlockFeatures.of(block, feature_map), len(means)
    labels = nearest_centres(features, means)[0]
    return labels.astype(np.min_scalar_type(k)), Centres.of(features, weights, labels, k)


def _distances_in(block: Any, feature_map: FeatureMap, means: FloatArray) -> FloatArray:
    """Compute the squared distances of the rows of one block to the nearest centre."""
    return nearest_centres(BlockFeatures.of(block, feature_map), means)[1]


def _movable_in(
    block: Any,
    feature_map: FeatureMap,
    sums: tuple[IntArray, FloatArray, FloatArray],
    tolerance: float,
    weights: FloatArray,
    labels: AnyArray,
) -> tuple[IntArray, FloatArray]:
    """Find the rows of one block of which a single move lowers W by more, and by how much [theory 8].

    A point of weight w at the squared distance d from the mean of its cluster of mass s takes w s/(s - w) d away from
    W, and adds w s/(s + w) d to that of another one.
    """
    counts, mass, means = sums
    features = BlockFeatures.of(block, feature_map)
    squared = _squared_distances(features, means)
    rows, s = np.arange(labels.size), mass[labels]
    alone = counts[labels] == 1
    rest = np.where(alone, 1.0, s - weights)
    # w s/(s - w) d leaves with the point, w s/(s + w) d comes where it goes
    takes = np.where(alone, 0.0, weights * s / rest * squared[rows, labels])
    gives = weights[:, None] * mass / (mass + weights[:, None]) * squared
    gives[rows, labels] = np.inf
    gains = takes - gives.min(axis=1)
    chosen = np.flatnonzero(gains > tolerance)
    return chosen, gains[chosen]


def _squared_distances(features: BlockFeatures, means: FloatArray) -> FloatArray:
    """Compute the distances from the rows of one block to all centres, inside the landmarks' span; (b, k)."""
    norms = np.einsum("lj,lj->l", means, means)
    return np.asarray(np.maximum(features.lengths[:, None] + norms - 2 * _products_with(features, means), 0.0))


def nearest_centres(features: BlockFeatures, means: FloatArray) -> tuple[IntArray, FloatArray]:
    """Find the nearest centre of each row, and its squared distance; (b,), (b,)."""
    squared = np.einsum("lj,lj->l", means, means) - 2 * _products_with(features, means)
    labels = squared.argmin(axis=1).astype(np.intp)
    return labels, np.maximum(features.lengths + squared[np.arange(labels.size), labels], 0.0)


def _products_with(features: BlockFeatures, means: FloatArray) -> FloatArray:
    """Multiply the rows of one block with a few centres, too few for more than one thread; (b, k)."""
    with one_thread():
        return np.asarray(features.phi @ means.T)


# ---------------------------------------------------------------- the search


def seeded_centres(rows: Features, k: int, rng: np.random.Generator) -> FloatArray:
    """Draw k-means++ seeds, in proportion to weight times squared distance to the nearest seed before; (k, p)."""
    nearest, seeds = np.full(rows.n, np.inf), [draw_index(rows.weights, rng)]
    while len(seeds) < k:
        nearest = np.minimum(nearest, rows.distances(rows.at(np.array(seeds[-1:])).phi))
        nearest[seeds] = 0.0
        free = nearest if nearest.any() else 1.0 - np.isin(np.arange(rows.n), seeds)
        seeds.append(draw_index(rows.weights * free, rng))
    return rows.at(np.array(seeds)).phi


def search_features(
    rows: Features, start: Found, max_iter: int, *, single_moves: bool, on_pass: OnPass | None = None
) -> Found:
    """Run Lloyd's rule until nothing moves or W stops to fall, then Hartigan's single moves, if wanted, likewise."""
    found, W, tolerance = start, start.centres.W, start.centres.tolerance
    lloyd = True
    while found.n_iter < max_iter:
        checkpoint()
        # Lloyd's rule first, O(n k p) and no sums in between; it brings W down in few passes
        if lloyd:
            labels, centres = refilled(rows, found.centres.means)
            ended = np.array_equal(labels, found.labels) or not W - tolerance > centres.W
            if centres.W > W:  # rounding
                labels, centres = found.labels, found.centres
        # then single moves, which leave Lloyd's local optima where W is lower elsewhere [G thm 5]
        else:
            labels, centres, moved = _single_moves_of(rows, found, tolerance)
            ended = moved == 0
        W = centres.W
        found = Found(labels, centres, found.n_iter + 1, ended and not (lloyd and single_moves))
        if on_pass is not None:
            on_pass(found.n_iter, W)
        if found.converged:
            break
        lloyd = lloyd and not ended
    return found


def refilled(rows: Features, means: FloatArray) -> tuple[IntArray, Centres]:
    """Send every row to its nearest centre; clusters left empty take the rows worst placed, out of larger clusters."""
    labels, centres = rows.assigned(means)
    empty = np.flatnonzero(centres.counts == 0)
    if not empty.size:
        return labels, centres
    distances, k = rows.distances(means), len(means)
    for j in empty:
        counts = np.bincount(labels, minlength=k)
        worst = int(np.where(counts[labels] > 1, distances, -1.0).argmax())
        labels[worst], distances[worst] = j, 0.0
    return labels, rows.centres(labels, k)


def _single_moves_of(rows: Features, found: Found, tolerance: float) -> tuple[IntArray, Centres, int]:
    """Run Hartigan's method among the rows that would move first; then recompute the sums, so that no rounding gathers.

    When no row would move, none does: no single move lowers W any more.
    """
    candidates = rows.movable(found, tolerance)
    if not candidates.size:
        return found.labels, found.centres, 0
    labels, centres = found.labels.copy(), found.centres
    own, counts = labels[candidates], centres.counts.copy()
    mass, sums = centres.mass.copy(), centres.sums.copy()
    phi = np.ascontiguousarray(rows.at(candidates).phi)
    moved = hartigan_among_means(phi, rows.weights[candidates], own, counts, mass, sums, tolerance)
    labels[candidates] = own
    return labels, rows.centres(labels, counts.size) if moved else centres, moved


CANDIDATES = 20_000  # rows among which landmarks are drawn
EIGENVALUE_CUT = 1e-12  # of the largest: directions below it are rounding
MANY_ROWS = 2048  # from which a product with V gains from several threads
NEGATIVE = 1e-6  # of the squared lengths: a squared distance below minus that is not rounding
DISPROOF = 1e-8  # of the largest eigenvalue: a negative one below it is not rounding


def choose_landmarks(
    table: RowTable, metric: Metric, count: int, rng: np.random.Generator, weights: FloatArray
) -> IntArray:
    """Draw rows one by one in proportion to weight times rho to the nearest landmark, as k-means++ does.

    They come from a random part of the rows, of at most 20,000 unless it has too few distinct points. There are fewer
    than `count` only if there are no more distinct points. O(count) values of rho for each candidate.
    """
    n = len(table)
    rows = np.arange(n) if n <= CANDIDATES else np.sort(rng.choice(n, CANDIDATES, replace=False))
    part: RowTable = table if rows.size == n else PointsHere(table.pick(rows))
    chosen = [draw_index(weights[rows], rng)]
    nearest = _to_landmarks(part, part.pick(np.array(chosen)), metric)
    while len(chosen) < count:
        # all candidates are landmarks: the other rows may have more distinct points
        if not nearest.any() and rows.size < n:
            chosen = rows[chosen].tolist()
            rows, part = np.arange(n), table
            nearest = _to_landmarks(part, part.pick(np.array(chosen)), metric)
        if not nearest.any():
            break
        chosen.append(draw_index(weights[rows] * nearest, rng))
        nearest = np.minimum(nearest, _to_landmarks(part, part.pick(np.array(chosen[-1:])), metric))
    return rows[chosen]


def _to_landmarks(table: RowTable, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """Compute rho from every row to the nearest landmark, not below 0; (n,)."""
    return np.concatenate(list(table.values().map(_to_nearest, landmarks, metric)))


def _to_nearest(points: FloatArray, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """Compute it for the rows of one block."""
    return np.asarray(np.maximum(metric.finite_between(points, landmarks).min(axis=1), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """phi with ||phi(x) - phi(y)||^2 <= rho(x, y), equal where x and y lie in the span of the landmarks.

    The kernel is that of Gower's general form with the mean of the landmarks as origin: K(x, z) = -1/2 [rho(x, z) -
    mean rho(x, .) - mean rho(., z) + mean rho(., .)], means over landmarks, and phi(x) = V' k(x) with V = U
    diag(lambda)^(-1/2) from the eigenvectors of K among landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (m, d)
        Their coordinates or codes.
    metric : Metric
        Fitted to the data.
    column_means : ndarray of shape (m,)
        Mean rho of each landmark to all.
    V : ndarray of shape (m, p)
        One column for each eigenvalue that is kept.
    """

    landmarks: FloatArray
    metric: Metric
    column_means: FloatArray
    V: FloatArray

    @classmethod
    def of(cls, landmarks: FloatArray, metric: Metric) -> Self:
        """Make the map of some landmarks; O(m^3) once."""
        R = metric.finite_between(landmarks, landmarks)
        R = 0.5 * (R + R.T)
        np.fill_diagonal(R, 0.0)
        with one_thread_up_to(len(R)):
            values, vectors = eigh(centred(-0.5 * R), check_finite=False)
        largest = float(values[-1])
        if values[0] < -DISPROOF * max(largest, float(np.abs(R).max())):
            raise ValueError(
                f'`algorithm="landmarks"` needs a rho of negative type, but the kernel of {metric!r} has an eigenvalue '
                f"of {values[0]:.3g} on {len(R)} points (the largest is {largest:.3g}); "
                'use algorithm="hartigan" on a random part of the rows.'
            )
        # V = U diag(lambda)^(-1/2) without the directions that are rounding
        kept = values > EIGENVALUE_CUT * largest
        return cls(landmarks, metric, R.mean(axis=0), vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def rank(self) -> int:
        """Number of features p."""
        return int(self.V.shape[1])

    def apply(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute features of new points, and the squared distance of each from the landmarks' span; (b, p), (b,)."""
        return self.of_rho(self.metric.finite_between(points, self.landmarks))

    def of_rho(self, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute both from rho to the landmarks; (b, m) -> (b, p), (b,)."""
        means = rho.mean(axis=1)
        mean = float(self.column_means.mean())
        with nullcontext() if len(rho) >= MANY_ROWS else one_thread():
            features = (-0.5 * (rho - means[:, None] - self.column_means + mean)) @ self.V
        return features, means - mean / 2 - np.einsum("ij,ij->i", features, features)

    def check(self, lengths: FloatArray, residuals: FloatArray) -> None:
        """Raise where a point is nearer to the landmarks' span than 0, which shows that rho is not of negative type."""
        far = residuals < -NEGATIVE * (np.abs(lengths + residuals) + self.column_means.mean())
        if far.any():
            raise ValueError(
                f'`algorithm="landmarks"` needs a rho of negative type, which {self.metric!r} is not on these points: '
                f"one has the squared distance {residuals[far].min():.3g} from the span of the landmarks; "
                'use algorithm="hartigan" on a random part of the rows.'
            )


BLOCK_ROWS = 8192


class RowTable(Protocol):
    """Rows in memory, on disk or on the workers of a cluster."""

    def __len__(self) -> int:
        """Count the rows."""

    def pick(self, rows: IntArray) -> FloatArray:
        """Read some of them; (r,) -> (r, d)."""

    def values(self) -> BlockValues:
        """Read all of them, block by block."""


@dataclass(frozen=True, slots=True, eq=False)
class PointsHere:
    """Rows of an array, in blocks that end where others want to stop, too.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The rows.
    stops : sequence of int
        Numbers of rows after which a block ends.
    """

    points: FloatArray
    stops: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.points)

    def pick(self, rows: IntArray) -> FloatArray:
        return self.points[rows]

    def values(self) -> ValuesHere:
        n = len(self)
        ends = {*range(BLOCK_ROWS, n, BLOCK_ROWS), *self.stops, n}
        return ValuesHere(slices_of(sorted(ends)), self.points.__getitem__)
