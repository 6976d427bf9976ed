"""k-means in a feature space whose rows come in blocks: sums over blocks are all that is kept of them [theory 8]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from energystats._core.interrupts import checkpoint
from energystats._core.means import hartigan_among_means
from energystats._typing import FloatArray, IntArray
from energystats.clustering.landmarks import FeatureMap
from energystats.clustering.seeding import drawn
from energystats.clustering.state import OnPass

__all__ = [
    "Centres",
    "Features",
    "Found",
    "nearest_centres",
    "refilled",
    "search_features",
    "seeded_centres",
    "total",
]

BLOCK_ROWS = 8192
STORED_BYTES = 2**30  # of features; where there are more they are made anew for every pass


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """Sums over the points of k clusters; those of two blocks of rows add.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Points.
    mass : ndarray of shape (k,)
        Sums of weights.
    sums : ndarray of shape (k, p)
        Weighted sums of features.
    squares : float
        Weighted sum of squared lengths of the features of all points.
    """

    counts: IntArray
    mass: FloatArray
    sums: FloatArray
    squares: float

    @classmethod
    def of(cls, features: FloatArray, lengths: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> Self:
        """Of one block of rows, with the squares of their lengths."""
        Z = (labels[:, None] == np.arange(k)) * weights[:, None]
        counts = np.bincount(labels, minlength=k).astype(np.intp)
        return cls(counts, Z.sum(axis=0), Z.T @ features, float(weights @ lengths))

    def __add__(self, other: Centres) -> Centres:
        return Centres(
            self.counts + other.counts, self.mass + other.mass, self.sums + other.sums, self.squares + other.squares
        )

    @property
    def means(self) -> FloatArray:
        """Centres of the clusters; (k, p)."""
        return np.asarray(self.sums / self.mass[:, None])

    @property
    def W(self) -> float:
        """Sum of squared distances from the centres."""
        return self.squares - float((np.einsum("lj,lj->l", self.sums, self.sums) / self.mass).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features of n rows, at hand or made anew, and what they lack.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The rows.
    map : FeatureMap
        Their features.
    weights : ndarray of shape (n,)
        Positive.
    lengths, residuals : ndarray of shape (n,)
        Squared lengths of the features, and squared distances of the rows from the span of the landmarks.
    stored : ndarray of shape (n, p) or None
        The features, where they fit.
    """

    points: FloatArray
    map: FeatureMap
    weights: FloatArray
    lengths: FloatArray
    residuals: FloatArray
    stored: FloatArray | None

    @classmethod
    def of(cls, points: FloatArray, feature_map: FeatureMap, weights: FloatArray) -> Self:
        """One pass over the rows."""
        n, p = len(points), feature_map.rank
        stored = np.empty((n, p)) if 8 * n * p <= STORED_BYTES else None
        lengths, residuals = np.empty(n), np.empty(n)
        for rows in blocks_of(n):
            features, residuals[rows] = feature_map.apply(points[rows])
            lengths[rows] = np.einsum("ij,ij->i", features, features)
            if stored is not None:
                stored[rows] = features
        return cls(points, feature_map, weights, lengths, residuals, stored)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    def first(self, count: int) -> Features:
        """The first rows; views, not copies, unless their features can be stored where those of all rows cannot."""
        if self.stored is None and 8 * count * self.map.rank <= STORED_BYTES:
            return Features.of(self.points[:count], self.map, self.weights[:count])
        stored = None if self.stored is None else self.stored[:count]
        weights, lengths, residuals = (column[:count] for column in (self.weights, self.lengths, self.residuals))
        return Features(self.points[:count], self.map, weights, lengths, residuals, stored)

    def at(self, rows: IntArray | slice) -> FloatArray:
        """Features of some rows."""
        return self.map.apply(self.points[rows])[0] if self.stored is None else self.stored[rows]

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Rows and their features, block after block."""
        for rows in blocks_of(self.n):
            yield rows, self.at(rows)

    def centres(self, labels: IntArray, k: int) -> Centres:
        """Sums over the clusters of a partition."""
        return total(self.sums(rows, phi, labels[rows], k) for rows, phi in self.blocks())

    def sums(self, rows: slice | IntArray, phi: FloatArray, labels: IntArray, k: int) -> Centres:
        """Of a block of rows with the features phi."""
        return Centres.of(phi, self.lengths[rows], self.weights[rows], labels, k)

    def assigned(self, means: FloatArray) -> tuple[IntArray, FloatArray, Centres]:
        """Nearest centre of every row, its squared distance, and the sums over the new clusters; O(n k p)."""
        k, labels, distances = len(means), np.empty(self.n, np.intp), np.empty(self.n)
        parts = []
        for rows, phi in self.blocks():
            labels[rows], distances[rows] = nearest_centres(phi, self.lengths[rows], means)
            parts.append(self.sums(rows, phi, labels[rows], k))
        return labels, distances, total(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A partition of some rows and its sums, the passes it took, and whether they ended by themselves."""

    labels: IntArray
    centres: Centres
    n_iter: int
    converged: bool


def blocks_of(n: int) -> Iterator[slice]:
    """Slices of rows."""
    return (slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS))


def total(parts: Iterable[Centres]) -> Centres:
    """Sum of blocks, in their order."""
    first, *others = parts
    for part in others:
        first = first + part
    return first


def nearest_centres(features: FloatArray, lengths: FloatArray, means: FloatArray) -> tuple[IntArray, FloatArray]:
    """Number of the nearest centre of each row, and its squared distance; (b,), (b,)."""
    squared = np.einsum("lj,lj->l", means, means) - 2 * (features @ means.T)
    labels = squared.argmin(axis=1).astype(np.intp)
    return labels, np.maximum(lengths + squared[np.arange(labels.size), labels], 0.0)


def seeded_centres(rows: Features, k: int, rng: np.random.Generator) -> FloatArray:
    """k-means++: rows drawn in proportion to weight times squared distance to the nearest seed before; (k, p)."""
    nearest, seeds = np.full(rows.n, np.inf), [drawn(rows.weights, rng)]
    while len(seeds) < k:
        seed = rows.at(np.array(seeds[-1:]))
        for block, phi in rows.blocks():
            nearest[block] = np.minimum(nearest[block], nearest_centres(phi, rows.lengths[block], seed)[1])
        nearest[seeds] = 0.0
        free = nearest if nearest.any() else 1.0 - np.isin(np.arange(rows.n), seeds)
        seeds.append(drawn(rows.weights * free, rng))
    return rows.at(np.array(seeds))


def search_features(
    rows: Features, start: Found, tolerance: float, max_iter: int, *, single_moves: bool, on_pass: OnPass | None = None
) -> Found:
    """Lloyd's rule until nothing moves or W stops to fall, then Hartigan's single moves, if wanted, likewise."""
    found, W = start, start.centres.W
    lloyd = True
    while found.n_iter < max_iter:
        checkpoint()
        if lloyd:
            labels, distances, centres = rows.assigned(found.centres.means)
            labels, centres = refilled(rows, labels, distances, centres)
            ended = np.array_equal(labels, found.labels) or not W - tolerance > centres.W
            if centres.W > W:  # rounding
                labels, centres = found.labels, found.centres
        else:
            labels, centres, moved = single_moves_of(rows, found, tolerance)
            ended = moved == 0
        W = centres.W
        found = Found(labels, centres, found.n_iter + 1, ended and not (lloyd and single_moves))
        if on_pass is not None:
            on_pass(found.n_iter, W)
        if found.converged:
            break
        lloyd = lloyd and not ended
    return found


def refilled(rows: Features, labels: IntArray, distances: FloatArray, centres: Centres) -> tuple[IntArray, Centres]:
    """Clusters that Lloyd's rule has emptied take the rows that are worst placed, out of clusters of several."""
    k = centres.counts.size
    for empty in np.flatnonzero(centres.counts == 0):
        counts = np.bincount(labels, minlength=k)
        worst = int(np.where(counts[labels] > 1, distances, -1.0).argmax())
        labels[worst], distances[worst] = empty, 0.0
    return labels, rows.centres(labels, k) if (centres.counts == 0).any() else centres


def single_moves_of(rows: Features, found: Found, tolerance: float) -> tuple[IntArray, Centres, int]:
    """One pass of Hartigan's method; the sums are made anew at its end, so that rounding does not gather."""
    labels, counts = found.labels.copy(), found.centres.counts.copy()
    mass, sums = found.centres.mass.copy(), found.centres.sums.copy()
    moved = 0
    for block, phi in rows.blocks():
        phi = np.ascontiguousarray(phi)
        moved += hartigan_among_means(phi, rows.weights[block], labels[block], counts, mass, sums, tolerance)
    return labels, rows.centres(labels, counts.size) if moved else found.centres, moved
