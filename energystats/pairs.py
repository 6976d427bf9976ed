"""Routes to the same sums over pairs: a matrix at hand, tiles that are kept or made anew, and sorted points.

Each knows R only as a linear map. Which one serves a `Dissimilarity` is decided in `choose_route` and nowhere else.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from energystats._core import permutation
from energystats._core.permutation import Labelings
from energystats._core.slices import slice_factor
from energystats._core.sums import (
    absolute_total,
    bin_sums_from_upper,
    bin_sums_sorted,
    block_sums_from_upper,
    block_sums_sorted,
    multiply_sorted,
    multiply_upper,
    tallied,
)
from energystats._typing import FloatArray, IntArray
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.metrics import Euclidean, Metric, SciPyMetric
from energystats.validation import differing, largest_skew, small_entry

__all__ = [
    "Line",
    "MadeAnew",
    "Pairs",
    "Sliced",
    "Stored",
    "Tile",
    "choose_route",
    "line_of",
    "power_on_line",
    "projection_of",
    "warn_if_negative",
    "watched",
]

TILE_ROWS = 256  # twice as many where tiles are made anew: there are more of them, and wider ones multiply faster
TILE_COLUMNS = 4096  # so that a tile is small enough for its memory to be used again
STORED_UP_TO = 4096  # points; above it tiles are made anew for every sum
LINES_BYTES = 2**28  # of sorted projections that are kept
PROJECTED_AT_ONCE = 65_536  # rows
POWERS_ON_LINE = {"cityblock": 1, "chebyshev": 1, "euclidean": 1, "minkowski": 1, "sqeuclidean": 2}
Tile = tuple[int, int, FloatArray]  # first row, first column, rho
LOST_DIGITS = 1e-4, 1e-3  # of rho: what a user's function may be off by in symmetry, and at x = y
MIDDLE = 0.5  # a share of the rho of few points, among which copies would make a lower one too small


class Pairs(abc.ABC):
    """R as a linear map on n points."""

    @abc.abstractmethod
    def multiply(self, columns: FloatArray) -> FloatArray:
        """R @ columns; (n, c) -> (n, c)."""

    @abc.abstractmethod
    def block_sums(self, Z: FloatArray) -> FloatArray:
        """M = Z'RZ for every labeling; (n, k, b) -> (b, k, k)."""

    @abc.abstractmethod
    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same and R @ weights, in one pass over the pairs."""

    @abc.abstractmethod
    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        """Sums of w_x w_y rho between bins of rows; (n,), (n,) -> (n_bins, n_bins)."""

    @abc.abstractmethod
    def absolute_total(self) -> float:
        """Sum of |rho| over all ordered pairs."""

    def null_sums(
        self, weights: FloatArray, codes: IntArray, others: Labelings, k: int, *, at_once: int | None
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """M and the group sizes of the observed labeling and then of the others; (b, k, k) and (b, k) at a time.

        `at_once` blocks of labelings are looked at together, as many as memory allows when None.
        """
        labelings = itertools.chain([codes[None, :]], others.blocks())
        return permutation.null_sums(self, weights, labelings, k, at_once=at_once)


class UpperTileSums(Pairs):
    """Sums over tiles of the upper triangle of R, which hold each pair once."""

    __slots__ = ()

    @abc.abstractmethod
    def upper_tiles(self) -> Iterator[Tile]:
        """Yield (row, column, tile), row after row of tiles, the square one on the diagonal first."""

    def multiply(self, columns: FloatArray) -> FloatArray:
        return multiply_upper(self.upper_tiles(), columns)

    def block_sums(self, Z: FloatArray) -> FloatArray:
        return block_sums_from_upper(self.upper_tiles(), Z)

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        totals = np.zeros(len(Z))
        return block_sums_from_upper(tallied(self.upper_tiles(), weights, totals), Z), totals

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return bin_sums_from_upper(self.upper_tiles(), codes, weights, n_bins)

    def absolute_total(self) -> float:
        return absolute_total(self.upper_tiles())


@dataclass(frozen=True, slots=True, eq=False)
class Stored(UpperTileSums):
    """The whole matrix in memory."""

    R: FloatArray

    def upper_tiles(self) -> Iterator[Tile]:
        n = len(self.R)
        for row in range(0, n, TILE_ROWS):
            stop = row + TILE_ROWS
            yield row, row, self.R[row:stop, row:stop]
            if stop < n:
                yield row, stop, self.R[row:stop, stop:]

    def multiply(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.R @ columns)


@dataclass(frozen=True, slots=True, eq=False)
class Kept(UpperTileSums):
    """The tiles of the upper triangle in memory."""

    tiles: tuple[tuple[int, int, FloatArray], ...]

    def upper_tiles(self) -> Iterator[Tile]:
        return iter(self.tiles)


@dataclass(frozen=True, slots=True, eq=False)
class MadeAnew(UpperTileSums):
    """Tiles computed from the points whenever they are asked for.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Coordinates.
    metric : Metric
        Settled on the data.
    warns : bool
        Whether a negative rho is worth a warning; not for parts of points that were warned of in whole.
    """

    points: FloatArray
    metric: Metric
    warns: bool = True

    def upper_tiles(self) -> Iterator[Tile]:
        return watched(self.computed_tiles(), self.metric, self.warns)

    def computed_tiles(self) -> Iterator[Tile]:
        n = len(self.points)
        height = TILE_ROWS if n <= STORED_UP_TO else 2 * TILE_ROWS
        for row in range(0, n, height):
            rows = self.points[row : row + height]
            yield row, row, self.diagonal_tile(rows, row)
            for column in range(row + height, n, TILE_COLUMNS):
                others = self.points[column : column + TILE_COLUMNS]
                yield row, column, self.metric.finite_between(rows, others, row, column)

    def diagonal_tile(self, rows: FloatArray, first: int) -> FloatArray:
        """Rho among the rows, symmetric to the last bit and 0 on the diagonal."""
        square = self.metric.finite_between(rows, rows, first, first)
        if not self.metric.trusted:
            check_semimetric(square, first)
        square += square.T.copy()
        square *= 0.5
        np.fill_diagonal(square, 0.0)
        return square

    def matrix(self) -> FloatArray:
        """R in whole."""
        n = len(self.points)
        R = np.empty((n, n))
        for row, column, tile in self.upper_tiles():
            height, width = tile.shape
            R[row : row + height, column : column + width] = tile
            R[column : column + width, row : row + height] = tile.T
        return R


@dataclass(frozen=True, slots=True, eq=False)
class Line(Pairs):
    """One column and rho = |x - y|: sorting replaces the pairs.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Indices that sort the points.
    gaps : ndarray of shape (n - 1,)
        Differences of sorted neighbours.
    """

    order: IntArray
    gaps: FloatArray

    def multiply(self, columns: FloatArray) -> FloatArray:
        product = np.empty_like(columns)
        product[self.order] = multiply_sorted(self.gaps, columns[self.order])
        return product

    def block_sums(self, Z: FloatArray) -> FloatArray:
        return block_sums_sorted(self.gaps, self.order, Z)

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.block_sums(Z), self.multiply(weights[:, None])[:, 0]

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return bin_sums_sorted(self.gaps, self.order, codes, weights, n_bins)

    def absolute_total(self) -> float:
        return float(self.multiply(np.ones((self.order.size, 1))).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Sliced(Pairs):
    """The mean over directions u of c |u'x - u'y|, an unbiased estimate of ||x - y|| [theory 9].

    Attributes
    ----------
    n : int
        Number of points.
    project : callable
        Their coordinates along some directions; (d, s) -> (n, s).
    directions : ndarray of shape (d, n_slices)
        Unit vectors.
    kept : tuple of Line
        The sorted projections, where they are few enough; else they are made anew for every sum.
    """

    n: int
    project: Callable[[FloatArray], FloatArray]
    directions: FloatArray
    kept: tuple[Line, ...] = ()

    @classmethod
    def of(cls, n: int, project: Callable[[FloatArray], FloatArray], directions: FloatArray) -> Self:
        """Sort the projections once, if there is room for them."""
        anew = cls(n, project, directions)
        return anew if 16 * n * anew.n_slices > LINES_BYTES else replace(anew, kept=tuple(anew.lines()))

    @property
    def n_slices(self) -> int:
        """Number of directions."""
        return int(self.directions.shape[1])

    @property
    def factor(self) -> float:
        """What a sum over all lines is multiplied by."""
        return slice_factor(len(self.directions)) / self.n_slices

    def lines(self) -> Iterator[Line]:
        """The projections, one after the other."""
        if self.kept:
            yield from self.kept
            return
        at_once = max(1, LINES_BYTES // (16 * self.n))
        for start in range(0, self.n_slices, at_once):
            for projected in self.project(self.directions[:, start : start + at_once]).T:
                order = np.argsort(projected, kind="stable")
                yield Line(order, np.diff(projected[order]))

    def multiply(self, columns: FloatArray) -> FloatArray:
        return self.factor * summed(line.multiply(columns) for line in self.lines())

    def block_sums(self, Z: FloatArray) -> FloatArray:
        return self.factor * summed(line.block_sums(Z) for line in self.lines())

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        column = weights[:, None]
        pairs = ((line.block_sums(Z), line.multiply(column)[:, 0]) for line in self.lines())
        M, totals = next(pairs)
        for more_M, more_totals in pairs:
            M, totals = M + more_M, totals + more_totals
        return self.factor * M, self.factor * totals

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return self.factor * summed(line.bin_sums(codes, weights, n_bins) for line in self.lines())

    def absolute_total(self) -> float:
        return self.factor * sum(line.absolute_total() for line in self.lines())


def projection_of(points: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """How points in memory are projected; their mean goes to 0, so that an offset of the data costs no digits."""
    center = points.mean(axis=0)

    def project(directions: FloatArray) -> FloatArray:
        found = np.empty((len(points), directions.shape[1]), order="F")
        for start in range(0, len(points), PROJECTED_AT_ONCE):
            rows = slice(start, start + PROJECTED_AT_ONCE)
            found[rows] = (points[rows] - center) @ directions
        return found

    return project


def summed(parts: Iterator[FloatArray]) -> FloatArray:
    """Sum of arrays that come one by one."""
    whole = next(parts).copy()
    for part in parts:
        whole += part
    return whole


def power_on_line(points: FloatArray | None, metric: Metric) -> float | None:
    """The power of |x - y| that rho is in one column, None elsewhere."""
    if points is None or points.shape[1] != 1:
        return None
    if isinstance(metric, Euclidean):
        return metric.alpha
    if isinstance(metric, SciPyMetric) and metric.name in POWERS_ON_LINE:
        return POWERS_ON_LINE[metric.name] * metric.alpha
    return None


def line_of(points: FloatArray | None, metric: Metric) -> Line | None:
    """The sorted points where rho = |x - y| in one column, None elsewhere."""
    if points is None or power_on_line(points, metric) != 1:
        return None
    order = np.argsort(points[:, 0], kind="stable")
    return Line(order, np.diff(points[order, 0]))


def choose_route(tiles: MadeAnew | None, R: FloatArray | None, line: Line | None) -> Pairs:
    """Return the cheapest route there is: a matrix at hand, sorted points, tiles that are kept while they are few."""
    if R is not None:
        return Stored(R)
    if line is not None:
        return line
    assert tiles is not None
    return Kept(tuple(tiles.upper_tiles())) if len(tiles.points) <= STORED_UP_TO else tiles


def watched(tiles: Iterator[Tile], metric: Metric, warns: bool) -> Iterator[Tile]:
    """Pass tiles on, and warn at the end if some values of rho were negative."""
    negative, smallest = 0, 0.0
    for row, column, tile in tiles:
        if not metric.negative_type and tile.min() < 0:
            negative += int(np.count_nonzero(tile < 0)) // (1 + (row == column))
            smallest = min(smallest, float(tile.min()))
        yield row, column, tile
    if warns:
        warn_if_negative(negative, smallest)


def check_semimetric(square: FloatArray, start: int) -> None:
    """Symmetric and zero at x = y, but for digits that a user's function may lose."""
    own = np.abs(np.diagonal(square))
    if own.any() and differing(own, np.zeros(1), small_entry(square, MIDDLE), LOST_DIGITS).any():
        row = int(own.argmax())
        raise ValueError(f"`metric` must be 0 from a point to itself, got {own[row]:.6g} for row {start + row}.")
    if (worst := largest_skew(square, MIDDLE, LOST_DIGITS)) is not None:
        i, j = worst
        raise ValueError(
            f"`metric` must be symmetric, got {square[i, j]:.6g} for rows {start + i} and {start + j} "
            f"and {square[j, i]:.6g} the other way round."
        )


def warn_if_negative(count: int, smallest: float) -> None:
    """A negative rho(x, y) already contradicts negative type: take c = (1, -1)."""
    if count:
        warn(
            f"{count} pairs have a negative rho (smallest {smallest:.6g}), so rho is not of negative type: "
            "between-sample energies may be negative and measure no distance between distributions; permutation "
            "p-values of S stay valid.",
            NotNegativeTypeWarning,
        )
