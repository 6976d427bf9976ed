"""Rows of points for methods that look at a block of them at a time, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from energystats._typing import FloatArray, IntArray
from energystats.blocks import BlockValues, ValuesHere, slices_of

__all__ = ["PointsHere", "Table"]

BLOCK_ROWS = 8192


class Table(Protocol):
    """Rows in memory, on disk or on the workers of a cluster."""

    def __len__(self) -> int:
        """Number of rows."""

    def pick(self, rows: IntArray) -> FloatArray:
        """Some of them; (r,) -> (r, d)."""

    def values(self) -> BlockValues:
        """All of them, block by block."""


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
