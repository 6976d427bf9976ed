"""Find counts behind rows that were divided by factors of their own, such as shares or centred logarithms of counts.

Such a division leaves no ties, but the steps of the counts are there, a little apart from row to row, and count as
modes all the same. The counts are jittered as those of other tables are, and the rows moved as far [theory 5].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from energystats._typing import BoolArray, FloatArray

__all__ = ["RowCounts", "find_row_counts"]


SMALLEST_COUNTS = range(10, 0, -1)  # that the smallest number of a row can stand for
OFF_COUNT = 1e-3  # of a count, by which a number may miss it: files have some digits only
LARGEST_COUNT = 1e5  # beyond it steps are too small to be modes
ROWS_FIRST = 24  # that are looked at before all others
SHARE_OF_ROWS = 0.9  # of those that tell, which must be counts
MORE_VALUES = 1.5  # times as many distinct values as distinct counts, below which one factor is that of all rows
WIDE = 3.0  # factor of log(1 + factor * count) from which 0 lies far from 1, though it is the next count
Function = Callable[[FloatArray], FloatArray]


class Scale(NamedTuple):
    """Hold the function that was applied to multiples of counts, and its inverse."""

    make: Function
    undo: Function
    parts_zero: bool = False  # from 1, by more than further counts lie apart


SCALES = (
    Scale(np.positive, np.positive),
    Scale(np.sqrt, np.square),
    Scale(np.log1p, np.expm1, parts_zero=True),
    Scale(lambda u: np.log2(1 + u), lambda x: np.exp2(x) - 1, parts_zero=True),
    Scale(lambda u: np.log10(1 + u), lambda x: 10.0**x - 1, parts_zero=True),
    Scale(np.log, np.exp),
    Scale(np.log2, np.exp2),
    Scale(np.log10, lambda x: 10.0**x),
)


@dataclass(frozen=True, slots=True, eq=False)
class RowCounts:
    """Rows with one factor for all of them, in which equal counts are tied.

    Attributes
    ----------
    values : ndarray of shape (n, d)
        What the columns would be if every row had the factor `factor`.
    scale : Scale
        What they are of the counts.
    factor : float
        The median of the rows.
    step : int
        1, or 2 where all are odd, as twice a count and a half.
    """

    values: FloatArray
    scale: Scale
    factor: float
    step: int

    def counts_of(self, values: FloatArray) -> FloatArray:
        """Return the counts, or twice these, of which columns have the given values; same shape."""
        return np.asarray(np.round(self.scale.undo(values) / self.factor))

    def reach(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Find how far distinct values of a column lie from those of the counts below and above; two of (m,)."""
        counts = self.counts_of(values)
        with np.errstate(all="ignore"):
            right = self.scale.make((counts + self.step) * self.factor) - values
            left = values - self.scale.make((counts - self.step) * self.factor)
        below = (counts >= self.step) & np.isfinite(left)
        return np.where(below, left, right), right


def find_row_counts(X: FloatArray) -> RowCounts | None:
    """Find whether all rows are counts times a factor each, as given, or the root or logarithm of it; else None."""
    n, d = X.shape
    if d < 2 or n < 2:
        return None
    some = X[np.unique(np.linspace(0, n - 1, min(n, ROWS_FIRST)).astype(np.intp))]
    for scale in SCALES:
        if _are_counts(scale.undo, some) and _are_counts(scale.undo, X):
            return _one_factor(X, scale)
    return None


def _one_factor(X: FloatArray, scale: Scale) -> RowCounts | None:
    """Give all rows the median factor; None where they have one and zeros lie no farther from 1 than ties reach."""
    with np.errstate(all="ignore"):
        counts, factors = _count_by_rows(scale.undo(X))
        known = np.isfinite(factors)
        factor = float(np.median(factors[known]))
        values = np.asarray(scale.make(counts * factor))
    # rows that tell nothing stay as they are
    values = np.where(known[:, None] & np.isfinite(values), values, X)
    n_values, n_counts = (sum(np.unique(column).size for column in of.T) for of in (X, counts))
    if n_values <= MORE_VALUES * n_counts and not (scale.parts_zero and factor >= WIDE):
        return None
    return RowCounts(values, scale, factor, 2 if (counts[known] % 2 == 1).all() else 1)


def _are_counts(undo: Function, X: FloatArray) -> bool:
    """Tell whether the rows that tell something are multiples of counts."""
    with np.errstate(all="ignore"):
        U = undo(X)
    if not np.isfinite(U).all() or U.min() < -OFF_COUNT * np.abs(U).max() or not (U > 0).any():
        return False
    _, factors = _count_by_rows(U)
    telling = np.array([np.unique(np.round(row / row.max(), 9)).size > 2 for row in U if row.max() > 0])
    positive = U.max(axis=1) > 0
    known: BoolArray = np.isfinite(factors[positive])[telling]
    return bool(known.size > 1 and known.mean() >= SHARE_OF_ROWS)


def _count_by_rows(U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Divide each row by the largest factor that leaves whole numbers; counts, and factors, NaN where none does."""
    least = OFF_COUNT * U.max(axis=1, keepdims=True) / LARGEST_COUNT
    positive = np.where(least < U, U, np.nan)
    smallest = np.nanmin(np.where(np.isnan(positive).all(axis=1, keepdims=True), np.inf, positive), axis=1)
    counts, factors = np.zeros_like(U), np.full(len(U), np.nan)
    for smallest_count in SMALLEST_COUNTS:  # the last that fits, the smallest, stands
        factor = smallest / smallest_count
        trial = U / factor[:, None]
        whole = np.abs(trial - np.round(trial)).max(axis=1) <= OFF_COUNT
        fits = whole & (trial.max(axis=1) <= LARGEST_COUNT)
        counts[fits], factors[fits] = np.round(trial[fits]), factor[fits]
    return counts, factors
