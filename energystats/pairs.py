"""Routes to the same sums over pairs: a matrix at hand, row blocks that are kept or made anew, and sorted points.

Each knows R only as a linear map. Which one serves a `Dissimilarity` is decided in `choose_route` and nowhere else.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from energystats._core.sums import (
    absolute_total,
    block_sums_from_upper,
    block_sums_sorted,
    multiply_sorted,
    multiply_upper,
)
from energystats._typing import FloatArray, IntArray
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.metrics import Euclidean, Metric

__all__ = ["Line", "Pairs", "RowBlocks", "Stored", "choose_route", "line_of", "warn_if_negative"]

ROWS_PER_BLOCK = 256
STORED_UP_TO = 4096  # points; above it row blocks are made anew for every sum
LOST_DIGITS = 1e-4  # of the largest rho: what a user's function may be off by in symmetry and at x = y


class Pairs(Protocol):
    """R as a linear map on n points."""

    def multiply(self, columns: FloatArray) -> FloatArray:
        """R @ columns; (n, c) -> (n, c)."""

    def block_sums(self, Z: FloatArray) -> FloatArray:
        """M = Z'RZ for every labeling; (n, k, b) -> (b, k, k)."""

    def absolute_total(self) -> float:
        """Sum of |rho| over all ordered pairs."""


class UpperRowSums(abc.ABC):
    """Sums over row blocks of the upper triangle of R, which hold each pair once."""

    __slots__ = ()

    @abc.abstractmethod
    def upper_rows(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield (start, R[start:stop, start:]) for consecutive row blocks."""

    def multiply(self, columns: FloatArray) -> FloatArray:
        return multiply_upper(self.upper_rows(), columns)

    def block_sums(self, Z: FloatArray) -> FloatArray:
        return block_sums_from_upper(self.upper_rows(), Z)

    def absolute_total(self) -> float:
        return absolute_total(self.upper_rows())


@dataclass(frozen=True, slots=True, eq=False)
class Stored(UpperRowSums):
    """The whole matrix in memory."""

    R: FloatArray

    def upper_rows(self) -> Iterator[tuple[int, FloatArray]]:
        for start in range(0, len(self.R), ROWS_PER_BLOCK):
            yield start, self.R[start : start + ROWS_PER_BLOCK, start:]

    def multiply(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.R @ columns)


@dataclass(frozen=True, slots=True, eq=False)
class Kept(UpperRowSums):
    """The row blocks of the upper triangle in memory."""

    blocks: tuple[tuple[int, FloatArray], ...]

    def upper_rows(self) -> Iterator[tuple[int, FloatArray]]:
        return iter(self.blocks)


@dataclass(frozen=True, slots=True, eq=False)
class RowBlocks(UpperRowSums):
    """Row blocks computed from the points whenever they are asked for.

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

    def upper_rows(self) -> Iterator[tuple[int, FloatArray]]:
        negative, smallest = 0, 0.0
        for start in range(0, len(self.points), ROWS_PER_BLOCK):
            rows = self.metric.finite_between(self.points[start : start + ROWS_PER_BLOCK], self.points[start:], start)
            square = rows[:, : len(rows)]
            if not self.metric.trusted:
                check_semimetric(square, start)
            square += square.T.copy()  # the two triangles may differ in the last bit
            square *= 0.5
            np.fill_diagonal(square, 0.0)
            if not self.metric.negative_type and rows.min() < 0:
                negative += int(np.count_nonzero(rows[:, len(rows) :] < 0) + np.count_nonzero(square < 0) // 2)
                smallest = min(smallest, float(rows.min()))
            yield start, rows
        if self.warns:
            warn_if_negative(negative, smallest)

    def matrix(self) -> FloatArray:
        """R in whole."""
        n = len(self.points)
        R = np.empty((n, n))
        for start, rows in self.upper_rows():
            stop = start + len(rows)
            R[start:stop, start:] = rows
            R[stop:, start:stop] = rows[:, stop - start :].T
        return R


@dataclass(frozen=True, slots=True, eq=False)
class Line:
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
        return block_sums_sorted(self.gaps, Z[self.order])

    def absolute_total(self) -> float:
        return float(self.multiply(np.ones((self.order.size, 1))).sum())


def line_of(points: FloatArray | None, metric: Metric) -> Line | None:
    """The sorted points where rho = |x - y| in one column, None elsewhere."""
    if points is None or points.shape[1] != 1 or metric != Euclidean(1.0):
        return None
    order = np.argsort(points[:, 0], kind="stable")
    return Line(order, np.diff(points[order, 0]))


def choose_route(blocks: RowBlocks | None, R: FloatArray | None, line: Line | None) -> Pairs:
    """Return the cheapest route there is: a matrix at hand, sorted points, row blocks kept while they are small."""
    if R is not None:
        return Stored(R)
    if line is not None:
        return line
    assert blocks is not None
    return Kept(tuple(blocks.upper_rows())) if len(blocks.points) <= STORED_UP_TO else blocks


def check_semimetric(square: FloatArray, start: int) -> None:
    """Symmetric and zero at x = y, but for digits that a user's function may lose."""
    slack = LOST_DIGITS * float(np.abs(square).max())
    own = np.abs(np.diagonal(square))
    if own.max() > slack:
        row = int(own.argmax())
        raise ValueError(f"`metric` must be 0 from a point to itself, got {own[row]:.6g} for row {start + row}.")
    skew = np.abs(square - square.T)
    if skew.max() > slack:
        i, j = np.unravel_index(int(skew.argmax()), square.shape)
        raise ValueError(
            f"`metric` must be symmetric, got {square[i, j]:.6g} for rows {start + i} and {start + j} "
            f"and {square[j, i]:.6g} the other way round."
        )


def warn_if_negative(count: int, smallest: float) -> None:
    """A negative rho(x, y) already contradicts negative type: take c = (1, -1)."""
    if count:
        warn(
            f"{count} pairs have a negative rho (smallest {smallest:.6g}), so rho is not of negative type: "
            "between-sample energies may be negative, and tests of S lose their meaning.",
            NotNegativeTypeWarning,
        )
