"""What has to be known of the columns of a table before its distances, in one pass over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

from energystats._typing import FloatArray

__all__ = ["Measures"]


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Of some rows, column by column.

    Attributes
    ----------
    n : int
        Number of rows.
    low, high : ndarray of shape (d,)
        Smallest and largest values.
    mean : ndarray of shape (d,)
        Means.
    squares : ndarray of shape (d,)
        Sums of squared deviations from the mean, in units of `unit`.
    unit : ndarray of shape (d,)
        Ranges, so that squares neither vanish nor overflow; 1 for constant columns.
    """

    n: int
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    squares: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, block: FloatArray) -> Self:
        """Measure one block; (b, d)."""
        low, high = block.min(axis=0), block.max(axis=0)
        unit = np.where(high > low, high - low, 1.0)
        mean = block.mean(axis=0)
        return cls(len(block), low, high, mean, (((block - mean) / unit) ** 2).sum(axis=0), unit)

    def and_of(self, other: Measures) -> Measures:
        """Of the rows of both (Chan, Golub & LeVeque 1983)."""
        n = self.n + other.n
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        unit = np.where(high > low, high - low, 1.0)
        apart = (other.mean - self.mean) / unit
        squares = self.squares * (self.unit / unit) ** 2 + other.squares * (other.unit / unit) ** 2
        return Measures(
            n=n,
            low=low,
            high=high,
            mean=self.mean + (other.mean - self.mean) * (other.n / n),
            squares=squares + apart**2 * (self.n * other.n / n),
            unit=unit,
        )

    @classmethod
    def over(cls, parts: Iterable[Measures]) -> Measures:
        """Of the rows of all parts."""
        return reduce(Measures.and_of, parts)

    @property
    def width(self) -> FloatArray:
        """Range of every column; (d,)."""
        return np.asarray(self.high - self.low)

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations, divisor n; (d,)."""
        return np.asarray(np.sqrt(self.squares / self.n) * self.unit)
