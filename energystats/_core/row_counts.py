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


SMALLEST_COUNTS = range(40, 0, -1)  # that the smallest number of a row can stand for
OFF_COUNT = 1e-3  # of a count, by which rounding may make a number miss it
SLACK = 2.0  # times the error that rounding explains
ARITHMETIC = 2.0**-40  # of the largest number of a table, its rounding in double precision
DIGITS = 13  # of a number that was rounded to fewer than it can have
LARGEST_COUNT = 1e5  # beyond it steps are too small to be modes
ROWS_FIRST = 24  # that are looked at before all others
SHARE_OF_ROWS = 0.9  # of rows with more than two distinct values, which must be counts
SHARE_TELLING = 0.2  # of rows, which must have more than two distinct values
MORE_VALUES = 1.5  # times as many distinct values as distinct counts, below which one factor is that of all rows
SAME_PART = 1e-6  # of 1, by which whole numbers may miss it
WIDE = 3.0  # factor of log(1 + factor * count) from which 0 lies far from 1, though it is the next count
Function = Callable[[FloatArray], FloatArray]


class Scale(NamedTuple):
    """Hold the function that was applied to multiples of counts, and its inverse."""

    make: Function
    undo: Function
    parts_zero: bool = False  # from 1, by more than further counts lie apart
    signed: bool = False  # whether the function has negative values


SCALES = (
    Scale(np.positive, np.positive),
    Scale(np.sqrt, np.square),
    Scale(np.log1p, np.expm1, parts_zero=True),
    Scale(lambda u: np.log2(1 + u), lambda x: np.exp2(x) - 1, parts_zero=True),
    Scale(lambda u: np.log10(1 + u), lambda x: 10.0**x - 1, parts_zero=True),
    Scale(np.log, np.exp, signed=True),
    Scale(np.log2, np.exp2, signed=True),
    Scale(np.log10, lambda x: 10.0**x, signed=True),
)


@dataclass(frozen=True, slots=True, eq=False)
class RowCounts:
    """Hold rows with one factor for all of them, in which equal counts are tied."""

    values: FloatArray  # (n, d) what the columns would be if every row had the factor `factor`
    scale: Scale  # what they are of the counts
    factor: float  # the median of the rows
    step: int  # 1, or 2 where all are odd, as twice a count and a half

    def counts_of(self, values: FloatArray) -> FloatArray:
        """Convert values to the whole counts behind them, or to twice the counts where a half was added; same shape."""
        return np.asarray(np.round(self.scale.undo(values) / self.factor))

    def reach(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute distances from values of a column to those of the next lower and higher counts; (m,), (m,)."""
        counts = self.counts_of(values)
        with np.errstate(all="ignore"):
            right = self.scale.make((counts + self.step) * self.factor) - values
            left = values - self.scale.make((counts - self.step) * self.factor)
        below = (counts >= self.step) & np.isfinite(left)
        return np.where(below, left, right), right


def find_row_counts(X: FloatArray) -> RowCounts | None:
    """Find counts behind rows that are whole counts times a factor each, maybe under a root or logarithm; else None.

    None, too, where all rows have the same factor, so that equal counts are tied already.
    """
    n, d = X.shape
    if d < 2 or n < 2:
        return None
    some = X[np.unique(np.linspace(0, n - 1, min(n, ROWS_FIRST)).astype(np.intp))]
    with np.errstate(all="ignore"):
        half_of_some = _half_units(some)
        scales = [scale for scale in SCALES if _are_counts(scale, some, half_of_some)]
        half = _half_units(X) if scales else half_of_some
        return next((_one_factor(X, scale, half) for scale in scales if _are_counts(scale, X, half)), None)


def _half_units(X: FloatArray) -> FloatArray:
    """Return half of the last digit to which each number of a table was recorded, at least its rounding error; (n, d).

    Tables have a number of decimals in common, or of digits; single precision has 24 bits.
    """
    rounding = ARITHMETIC * np.abs(X).max()
    unit = np.full_like(X, rounding)
    if np.array_equal(X, X.astype(np.float32)):
        unit = np.maximum(unit, np.abs(X) * 2.0**-22)
    top = np.floor(np.log10(np.maximum(np.abs(X), np.finfo(float).tiny)))
    for digits in range(1, DIGITS):
        if np.abs(X - np.round(X, digits - 1)).max() <= rounding:
            unit = np.maximum(unit, 10.0 ** (1 - digits))
            break
    for digits in range(1, DIGITS):
        last = 10.0 ** (top - digits + 1)
        if (np.abs(X - np.round(X / last) * last) <= rounding).all():
            unit = np.maximum(unit, last)
            break
    return unit / 2


def _one_factor(X: FloatArray, scale: Scale, half: FloatArray) -> RowCounts | None:
    """Rescale rows of scaled counts to their median factor; None where all rows have the same factor already.

    Those are rescaled all the same on the scale log(1 + x), where a factor of 3 or more puts 0 farther from 1 than ties
    reach.
    """
    counts, factors = _count_by_rows(scale.undo(X), _errors(scale, X, half))
    known = np.isfinite(factors)
    factor = float(np.median(factors[known]))
    values = np.asarray(scale.make(counts * factor))
    # rows without a factor stay as they are
    values = np.where(known[:, None] & np.isfinite(values), values, X)
    n_values, n_counts = (sum(np.unique(column).size for column in of.T) for of in (X, counts))
    if n_values <= MORE_VALUES * n_counts and not (scale.parts_zero and factor >= WIDE):
        return None
    return RowCounts(values, scale, factor, 2 if (counts[known] % 2 == 1).all() else 1)


def _are_counts(scale: Scale, X: FloatArray, half: FloatArray) -> bool:
    """Return whether, with a root or logarithm undone, rows of a table are whole counts times a factor each.

    It is asked of nine tenths of the rows with more than two distinct values, which must not all be the same.
    """
    U, errors = scale.undo(X), _errors(scale, X, half)
    if not np.isfinite(U).all() or not (U > 0).any():
        return False
    if U.min() < -OFF_COUNT * np.abs(U).max() or (not scale.signed and X.min() < -OFF_COUNT * np.abs(X).max()):
        return False
    counts, factors = _count_by_rows(U, errors)
    positive = U.max(axis=1) > 0
    telling = np.zeros(len(U), bool)
    telling[positive] = [np.unique(np.round(row / row.max(), 9)).size > 2 for row in U[positive]]
    known: BoolArray = np.isfinite(factors)
    if telling.sum() < max(2.0, SHARE_TELLING * positive.sum()) or known[telling].mean() < SHARE_OF_ROWS:
        return False
    counts, X = counts[telling & known], X[telling & known]
    if (counts == counts[0]).all():
        return False
    if not (scale.signed or scale.parts_zero):
        return True
    # whole numbers are logarithms of powers of 2, and of 10
    parts = X[counts > 0] % 1.0
    return bool(np.abs((parts - parts[0] + 0.5) % 1.0 - 0.5).max() > SAME_PART)


def _errors(scale: Scale, X: FloatArray, half: FloatArray) -> FloatArray:
    """Compute how far the rounding of a table can shift its values when a root or logarithm is undone; (n, d)."""
    return np.asarray((scale.undo(X + half) - scale.undo(X - half)) / 2)


def _count_by_rows(U: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Divide each row by the largest factor that leaves whole counts; return counts and factors, NaN for rows without.

    A quotient may miss a whole number by what the errors of its two numbers explain, and by no more than `OFF_COUNT`.
    """
    least = OFF_COUNT * U.max(axis=1, keepdims=True) / LARGEST_COUNT
    positive = np.where(least < U, U, np.nan)
    positive[np.isnan(positive).all(axis=1)] = np.inf
    at = np.nanargmin(positive, axis=1)[:, None]
    smallest, its_error = np.take_along_axis(positive, at, axis=1), np.take_along_axis(errors, at, axis=1)
    counts, factors = np.zeros_like(U), np.full(len(U), np.nan)
    for smallest_count in SMALLEST_COUNTS:  # the last that fits, the smallest, stands
        factor = smallest / smallest_count
        trial = U / factor
        allowed = np.minimum(SLACK * (errors / factor + trial * its_error / smallest), OFF_COUNT)
        whole = (np.abs(trial - np.round(trial)) <= allowed).all(axis=1)
        fits = whole & (trial.max(axis=1) <= LARGEST_COUNT)
        counts[fits], factors[fits] = np.round(trial[fits]), factor[fits, 0]
    return counts, factors
