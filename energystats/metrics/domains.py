"""Find the rows of a table that a metric cannot compare, and say so in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energystats._typing import FloatArray
from energystats.inputs.places import Fault
from energystats.inputs.table import InputTable, as_table

__all__ = [
    "ANY_NUMBERS",
    "Domain",
    "looks_like_distances",
    "looks_like_triangle",
    "truths_as_numbers",
]


CONSTANT = 1e-13  # of its largest entry: a row that varies by less is constant but for rounding
FEWEST_OF_TRIANGLE = 5  # rows: fewer coordinates with zeros there are no rarity


@dataclass(frozen=True, slots=True)
class Domain:
    """Define the conditions that a metric puts on the rows of a table, besides finite numbers.

    Attributes
    ----------
    needs : str
        In words, such as "compares counts or amounts".
    negative : bool
        Whether numbers may be negative.
    positive : bool
        Whether they must be above 0.
    binary : bool
        Whether they must be 0 and 1; truth values stand for them.
    truths : bool
        Whether truth values are taken as 0 and 1.
    zero_rows, constant_rows : bool
        Whether a row may be all zeros, or the same in all columns.
    zero_pairs : bool
        Whether two rows of zeros have a value by more than convention, which makes them equal.
    z_scores : bool
        Whether columns may be standardized.
    hint : str
        What else a user may have had in mind.
    """

    needs: str = ""
    negative: bool = True
    positive: bool = False
    binary: bool = False
    truths: bool = False
    zero_rows: bool = True
    constant_rows: bool = True
    zero_pairs: bool = True
    z_scores: bool = True
    hint: str = ""

    @property
    def restricts(self) -> bool:
        """Return whether a metric cannot compare some rows of finite numbers."""
        return not (self.negative and self.zero_rows and self.constant_rows) or self.binary

    def base_point(self, d: int) -> FloatArray:
        """Return a valid row that does not depend on the data: zeros, if the metric allows them; (1, d)."""
        if not self.constant_rows:
            return np.arange(d, dtype=float)[None]
        return np.zeros((1, d)) if self.zero_rows and not self.positive else np.ones((1, d))

    def fault(self, X: FloatArray, columns: Sequence[str] | None = None) -> Fault | None:
        """Find the first row that a metric cannot compare, and return its `Fault`; None if all are valid."""
        if self.binary:
            bad, wanted = (X != 0) & (X != 1), "needs columns of 0 and 1 or of truth values, such as X > 0"
        elif self.positive:
            bad, wanted = X <= 0, "needs numbers above 0"
        elif not self.negative:
            bad, wanted = X < 0, "needs numbers that are not negative"
        else:
            bad, wanted = np.zeros((0, 0), dtype=bool), ""
        if bad.any():
            i, j = map(int, np.argwhere(bad)[0])
            label = columns[j] if columns else str(j)
            advice = "give it such data, or choose another metric" + self.hint
            return Fault(i, f"has {X[i, j]:.6g} in column {label}", f"{self.needs} and {wanted}", advice)
        if not self.zero_rows and not (some := X.any(axis=1)).all():
            advice = "leave such rows out, as by X[X.any(axis=1)]"
            return Fault(int((~some).argmax()), "is all zeros", "has no value for rows of zeros", advice)
        if not self.constant_rows:
            constant = np.ptp(X, axis=1) <= CONSTANT * np.abs(X).max(axis=1)
            if constant.any():
                rule = "compares how rows vary over the columns and has no value for constant rows"
                few = "; with one column every row is" if X.shape[1] == 1 else ""
                advice = f"leave such rows out, or choose another metric{few}"
                same = "has the same value in all columns, but for rounding"
                return Fault(int(constant.argmax()), same, rule, advice)
        return None


ANY_NUMBERS = Domain()


def truths_as_numbers(values: Any) -> InputTable:
    """Replace truth values in a table by 0 and 1, missing ones by NaN; other values stay."""
    table: InputTable = as_table(values)
    if table.is_pandas:
        return replace(table, values=_truths_of_frame(table.values))
    try:
        array = np.asanyarray(table.values)
    except ValueError:  # rows of different lengths, which are refused elsewhere
        return table
    return replace(table, values=array.astype(np.float64)) if array.dtype.kind == "b" else table


def _truths_of_frame(values: Any) -> Any:
    """Convert columns of truth values in a data frame or Series to 0 and 1."""
    from pandas.api.types import is_bool_dtype

    if values.ndim == 1:
        return values.astype("Float64") if is_bool_dtype(values.dtype) else values
    frame = values.copy(deep=False)
    for j in np.flatnonzero([is_bool_dtype(dtype) for dtype in values.dtypes]).tolist():
        frame.isetitem(j, frame.iloc[:, j].astype("Float64"))  # by position, for two columns may share a name
    return frame


def looks_like_distances(points: FloatArray) -> bool:
    """Return whether coordinates form a symmetric non-negative matrix with zero diagonal, like dissimilarities."""
    return _is_hollow_square(points) and bool(np.allclose(points, points.T, rtol=1e-8, atol=0))


def looks_like_triangle(points: FloatArray) -> bool:
    """Return whether coordinates form one triangle of a matrix of dissimilarities, with zeros on its other side."""
    if not _is_hollow_square(points) or len(points) < FEWEST_OF_TRIANGLE:
        return False
    below, above = (np.count_nonzero(side) for side in (np.tril(points), np.triu(points)))
    return bool(min(below, above) == 0 and 2 * max(below, above) > len(points) * (len(points) - 1) / 2)


def _is_hollow_square(points: FloatArray) -> bool:
    """Return whether coordinates form a square of three rows or more, not negative, with zeros on its diagonal only."""
    n, d = points.shape
    return not (n != d or n < 3 or np.diagonal(points).any() or points.min() < 0 or not points.any())
