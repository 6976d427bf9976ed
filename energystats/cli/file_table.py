"""A table that was read from a file, and the rows of it that are taken."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray, IntArray
from energystats.cli.csv_scan import LOGICAL, line_of
from energystats.cli.dialects import SEPARATORS, Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source
from energystats.inputs.columns import holds_numbers, holds_truths

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["EXACT", "FileTable", "RowRanges", "is_large", "taking", "unless_counted"]


EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers, which pandas makes of columns with gaps


@dataclass(frozen=True, kw_only=True, eq=False)
class FileTable:
    """Hold a data frame read from a file, with its origin and the Python statements that read it again."""

    file: str
    frame: pd.DataFrame  # its rows; the index is 0, 1, ... in the order of the file, and stays when rows are left out
    code: tuple[str, ...]  # statements that make `table`, for the report
    dialect: Dialect = field(default_factory=Dialect)
    source: Source | None = None  # the file, to find the line of a row; None for Parquet
    n_read: int = 0  # rows of the file
    # names of the rows of the file, with the index of `frame`; None where there are none or they only count
    row_names: pd.Series[Any] | None = None
    ids: pd.Series[Any] | None = None  # the column that --id names, as its cells are written
    quoted: frozenset[str] = frozenset()  # columns whose cells are in quotes, and so hold text
    emptied: frozenset[str] = frozenset()  # columns with empty cells that are not in quotes
    # the first cell of a column that is no number, by the index of its row, whether that row is in use or not
    odd: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()  # columns of codes that --category names; they are text here
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()  # why other columns are not used, as (names, reason)
    # columns with all rows of the file, whatever rows `frame` has; with --rows only whole numbers of CSV
    every: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    # columns declared as ordered categories, of which Parquet has not kept the order
    without_order: frozenset[str] = frozenset()
    index_names: tuple[str, ...] = ()  # names of the index of Parquet that are no columns here

    def where(self, row: int) -> str:
        """Return the place of a data row as text, such as 'row 17 (line 18)', with the line of the file."""
        line = None if self.source is None else line_of(self.source, self.dialect, row)
        return f"row {row + 1}" + ("" if line is None else f" (line {line})")

    @property
    def numbered_names(self) -> bool:
        """Return whether all columns of numbers and truth values have such names, a sign that a file has no header."""
        if self.source is None or not self.dialect.header:
            return False
        names = [str(c) for c, kind in self.frame.dtypes.items() if holds_numbers(kind) or holds_truths(kind)]
        numbers = [name for name in names if self.dialect.value_of(name) is not None]
        others = (name in LOGICAL or self.dialect.is_missing(name) for name in names if name not in numbers)
        return bool(numbers) and all(others)

    @property
    def sep_hint(self) -> str:
        """Return a hint about --sep if the only column's name holds another separator; else an empty text."""
        names = list(map(str, self.frame.columns))
        others = [word for sep, word in SEPARATORS.items() if len(names) == 1 and sep in names[0] and sep != " "]
        if self.source is None or not others:
            return ""
        return f" With --sep {self.dialect.delimiter!r} there is one column only; are they separated by {others[0]}?"

    def having(self, frame: pd.DataFrame, *code: str) -> FileTable:
        """Return a copy of a table with another data frame, and with more Python statements in its record."""
        return replace(self, frame=frame, code=(*self.code, *code))


@dataclass(frozen=True, eq=False)
class RowRanges:
    """Hold row numbers given by --rows as ranges, such as 1:100,205,300: (the last is open at the end)."""

    text: str
    ranges: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, text: str) -> RowRanges:
        """Read row numbers and ranges, counted from 1, from text such as 1:100,205,300:."""
        ranges = []
        for part in text.split(","):
            match = re.fullmatch(r"\s*(\d*)\s*(:?)\s*(\d*)\s*", part)
            if match is None or not (match[1] or match[3]) or (match[3] and not match[2]):
                raise BadInputError(f"--rows must be numbers and ranges such as 1:100,205,300:, got {part.strip()!r}.")
            first = int(match[1] or 1)
            ranges.append((first, float(match[3] or math.inf) if match[2] else first))
        return cls(text, tuple(ranges))

    def taken(self, begin: int, end: int) -> BoolArray:
        """Return which rows from `begin` to `end` - 1, counted from 0, are in the ranges of rows; (end - begin,)."""
        numbers = np.arange(begin, end)[:, None] + 1
        low, high = np.array(self.ranges).T
        taken: BoolArray = ((low <= numbers) & (numbers <= high)).any(axis=1)
        return taken

    def within(self, n: int) -> BoolArray:
        """Return which of n rows lie in the ranges of rows; raise BadInputError if a range exceeds n; (n,)."""
        for part, (first, last) in zip(self.text.split(","), self.ranges, strict=True):
            if not 1 <= first <= min(last, n) or n < last < math.inf:
                raise BadInputError(f"--rows must lie in 1:{n}, the first before the last, got {part.strip()!r}.")
        return self.taken(0, n)


def is_large(column: pd.Series[Any]) -> bool:
    """Return whether a column has whole numbers of 2**53 or more in size, which floats may round."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or not column.notna().any():
        return False
    return int(column.max()) >= EXACT or int(column.min()) <= -EXACT


def taking(rows: RowRanges | None, kept: IntArray) -> list[str]:
    """Return the pandas statement that selects given rows, in a list; an empty list if all rows are kept."""
    if rows is None:
        return []
    whole = kept[-1] - kept[0] + 1 == kept.size
    return [f"table = table.iloc[{f'{kept[0]}:{kept[-1] + 1}' if whole else kept.tolist()}]"]


def unless_counted(names: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the row names of a table; None if they only count the rows from 0 or 1."""
    return None if any((names == (names.index + first).astype(str)).all() for first in (0, 1)) else names
