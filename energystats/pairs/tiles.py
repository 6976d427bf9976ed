"""Sum over pairs from a stored matrix, or from tiles of it that are kept or computed again."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from energystats._core.group_sums import (
    Indicators,
    absolute_total,
    add_totals,
    adding_serves,
    bin_sums_from_upper,
    block_sums_from_upper,
    indicators,
    multiply_upper,
    null_sums,
)
from energystats._core.labelings import LABELINGS_PER_BLOCK, Labelings, narrowed
from energystats._typing import FloatArray, IntArray
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.inputs.matrices import differing, largest_skew, small_entry
from energystats.metrics.base import Metric, pair_with_itself

__all__ = [
    "STORED_UP_TO",
    "TILE_COLUMNS",
    "TILE_ROWS",
    "Pairs",
    "Recomputed",
    "Stored",
    "StoredTiles",
    "Tile",
    "UpperTileSums",
    "completed_sums",
    "count_negatives",
    "warn_if_negative",
]


TILE_ROWS = 256  # twice as many where tiles are recomputed: there are more of them, and wider ones multiply faster
TILE_COLUMNS = 4096  # so that a tile is small enough for its memory to be used again
STORED_UP_TO = 4096  # points; above it tiles are recomputed for every sum
Tile = tuple[int, int, FloatArray]  # first row, first column, rho
LOST_DIGITS = 1e-4, 1e-3  # of rho: what a user's function may be off by in symmetry, and at x = y
MIDDLE = 0.5  # a share of the rho of few points, among which duplicated rows would make a lower one too small


class Pairs(abc.ABC):
    """Define the interface to R, the matrix of rho, as a linear map on n points."""

    # whether sums over groups come from tiles of R, and accept labels in compact form, as `Indicators`
    has_tiles: ClassVar[bool] = False
    adds_many: ClassVar[bool] = False  # whether sums over many groups take labels, too

    @property
    def takes_labels(self) -> bool:
        """Return whether sums over groups take labels in place of indicators, which need memory for many rows."""
        return False

    @abc.abstractmethod
    def multiply(self, columns: FloatArray) -> FloatArray:
        """Multiply the dissimilarity matrix by columns; (n, c) -> (n, c)."""

    @abc.abstractmethod
    def block_sums(self, Z: Any) -> FloatArray:
        """Compute sums of dissimilarities between groups for b labelings; (n, k, b) -> (b, k, k)."""

    def group_sums(self, codes: IntArray, k: int, weights: FloatArray | None) -> FloatArray:
        """Compute sums of dissimilarities between groups for one labeling, codes 0..k-1; (n,) -> (k, k)."""
        make = Indicators if self.adds_many and adding_serves(codes.size, k, 1) else indicators
        Z = make(codes[:, None], k, np.ones(codes.size) if weights is None else weights)
        return np.asarray(self.block_sums(Z)[0])

    @abc.abstractmethod
    def block_sums_and_totals(self, Z: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute sums of rho between groups for b labelings, and R @ weights, R the matrix of rho; (b, k, k), (n,)."""

    @abc.abstractmethod
    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        """Sum weighted dissimilarities over the pairs of rows of each two bins; (n,), (n,) -> (n_bins, n_bins)."""

    @abc.abstractmethod
    def absolute_total(self) -> float:
        """Sum the absolute dissimilarities over all ordered pairs of points."""

    def null_sums(
        self, weights: FloatArray, codes: IntArray, others: Labelings, k: int, *, at_once: int | None
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield sums of dissimilarities between groups, and group sizes, of labelings, the observed labeling first.

        `at_once` blocks of labelings are summed together, as many as memory allows when None.
        """
        labelings = itertools.chain([narrowed(codes)[None, :]], others.blocks())
        n_blocks = 1 + -(-others.count // LABELINGS_PER_BLOCK)
        return null_sums(self, weights, labelings, k, n_blocks=n_blocks, at_once=at_once)


class UpperTileSums(Pairs):
    """Compute products with R and sums of rho from tiles of the upper triangle, which hold each pair once."""

    __slots__ = ()
    has_tiles = True
    adds_many = True

    @abc.abstractmethod
    def upper_tiles(self) -> Iterator[Tile]:
        """Yield (row, column, tile) of the upper triangle of the matrix of rho, row by row, diagonal tile first."""

    def multiply(self, columns: FloatArray) -> FloatArray:
        return multiply_upper(self.upper_tiles(), columns)

    def block_sums(self, Z: FloatArray | Indicators) -> FloatArray:
        return block_sums_from_upper(self.upper_tiles(), Z)

    def block_sums_and_totals(self, Z: FloatArray | Indicators, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        totals = np.zeros(weights.size)
        return block_sums_from_upper(add_totals(self.upper_tiles(), weights, totals), Z), totals

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return bin_sums_from_upper(self.upper_tiles(), codes, weights, n_bins)

    def absolute_total(self) -> float:
        return absolute_total(self.upper_tiles())


@dataclass(frozen=True, slots=True, eq=False)
class Stored(UpperTileSums):
    """Compute sums of rho from the whole matrix R in memory."""

    R: FloatArray

    def upper_tiles(self) -> Iterator[Tile]:
        n = len(self.R)
        # views, not copies: a square tile on the diagonal, and the rest of its rows to the right of it
        for row in range(0, n, TILE_ROWS):
            stop = row + TILE_ROWS
            yield row, row, self.R[row:stop, row:stop]
            if stop < n:
                yield row, stop, self.R[row:stop, stop:]

    def multiply(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.R @ columns)


@dataclass(frozen=True, slots=True, eq=False)
class StoredTiles(UpperTileSums):
    """Compute sums of rho from the tiles of the upper triangle of R, kept in memory."""

    tiles: tuple[tuple[int, int, FloatArray], ...]

    def upper_tiles(self) -> Iterator[Tile]:
        return iter(self.tiles)


@dataclass(frozen=True, slots=True, eq=False)
class Recomputed(UpperTileSums):
    """Compute sums of rho from tiles of R that are recomputed from the points for every sum."""

    points: FloatArray  # (n, d) coordinates
    metric: Metric  # fitted to the data
    # whether a negative rho is worth a warning; not for parts of points that were warned of in whole
    warns: bool = True

    @property
    def are_few(self) -> bool:
        """Return whether there are so few points that all tiles of dissimilarities are kept in memory."""
        return len(self.points) <= STORED_UP_TO

    @property
    def takes_labels(self) -> bool:
        return not self.are_few

    def upper_tiles(self) -> Iterator[Tile]:
        return count_negatives(self.computed_tiles(), self.metric, self.warns)

    def computed_tiles(self) -> Iterator[Tile]:
        n = len(self.points)
        # the upper triangle only: each pair is computed once
        height = TILE_ROWS if n <= STORED_UP_TO else 2 * TILE_ROWS
        for row in range(0, n, height):
            rows = self.points[row : row + height]
            yield row, row, self.diagonal_tile(rows, row)
            for column in range(row + height, n, TILE_COLUMNS):
                others = self.points[column : column + TILE_COLUMNS]
                yield row, column, self.metric.finite_between(rows, others, row, column)

    def diagonal_tile(self, rows: FloatArray, first: int) -> FloatArray:
        """Compute rho among some rows, exactly symmetric and 0 on the diagonal; (b, d) -> (b, b)."""
        same = pair_with_itself(len(rows)) if self.metric.trusted else None
        square = self.metric.finite_between(rows, rows, first, first, same=same)
        if not self.metric.trusted:
            _check_semimetric(square, first)
        # means of both triangles, since sums in another order may differ in the last bit
        square += square.T.copy()
        square *= 0.5
        np.fill_diagonal(square, 0.0)
        return square

    def matrix(self) -> FloatArray:
        """Compute the matrix of dissimilarities between all points; (n, n)."""
        n = len(self.points)
        R = np.empty((n, n))
        for row, column, tile in self.upper_tiles():
            height, width = tile.shape
            R[row : row + height, column : column + width] = tile
            R[column : column + width, row : row + height] = tile.T
        return R


def count_negatives(tiles: Iterator[Tile], metric: Metric, warns: bool) -> Iterator[Tile]:
    """Yield tiles of dissimilarities unchanged, and warn at the end if some values were negative."""
    negative, smallest = 0, 0.0
    for row, column, tile in tiles:
        # a tile on the diagonal has every pair twice
        if not metric.negative_type and tile.min() < 0:
            negative += int(np.count_nonzero(tile < 0)) // (1 + (row == column))
            smallest = min(smallest, float(tile.min()))
        yield row, column, tile
    if warns:
        warn_if_negative(negative, smallest)


def _check_semimetric(square: FloatArray, start: int) -> None:
    """Raise ValueError if a user's metric is not symmetric, or not 0 between equal points."""
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
    """Warn that a metric is not of negative type if some pairs have negative dissimilarity."""
    if count:
        warn(
            f"{count} pairs have a negative rho (smallest {smallest:.6g}), so rho is not of negative type: "
            "between-sample energies may be negative and measure no distance between distributions; p-values "
            "from permuted labels stay valid.",
            NotNegativeTypeWarning,
        )


def completed_sums(sums: FloatArray, sizes: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Complete sums of dissimilarities and sizes of k - 1 groups by those of the last one; (b, k, k), (b, k).

    The last row and column of the sums given are those of all rows together.
    """
    if sums.shape[1] > k:
        return sums[:, :k, :k], sizes[:, :k]
    # the last row and column of the sums belong to all rows together: what the other groups leave is the last group
    M, s = sums.copy(), sizes.copy()
    M[:, :-1, -1] = M[:, -1, :-1] = sums[:, :-1, -1] - sums[:, :-1, :-1].sum(axis=2)
    M[:, -1, -1] = sums[:, -1, -1] - sums[:, :-1, -1].sum(axis=1) - M[:, :-1, -1].sum(axis=1)
    s[:, -1] = sizes[:, -1] - sizes[:, :-1].sum(axis=1)
    return M, s
