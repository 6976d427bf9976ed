"""Read the order of the rows: time, depth or a place on a line, which was there before the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from energystats._typing import ArrayLike, IntArray
from energystats.inputs.labels import read_inputs
from energystats.inputs.names import list_names, write_label
from energystats.inputs.table import InputTable, as_table, masked_in

__all__ = ["RowOrder", "are_numbers", "read_order"]


NUMBERS = ("integer", "floating", "mixed-integer-float")  # kinds of objects
FINER = {"ps": 10**3, "fs": 10**6, "as": 10**9}  # units of time, and how many of them are a nanosecond


@dataclass(frozen=True, slots=True, eq=False)
class RowOrder:
    """Hold the order of n rows, such as a time order, and the values or names that define it."""

    rows: IntArray  # (n,) row at each place
    # what the rows were ordered by, or the names of the rows in their order; None where there is nothing but a count
    places: Any
    name: str  # of the column or Series; empty without one
    notes: tuple[str, ...] = ()  # what a reader has to know of the order

    @classmethod
    def read(cls, given: InputTable | None, n: int, index: Any) -> Self:
        """Return the order of n rows: sorted by given values, or as the rows stand if no values are given."""
        if given is None:
            return cls(np.arange(n, dtype=np.intp), *_name_places(index))
        places = _read_places(given, n)
        rows = np.argsort(places, kind="stable")
        places = places[rows]
        if places.has_duplicates:
            twice = places[places.duplicated()][0]
            # whole numbers below 2**53 are told apart exactly
            rounded = isinstance(twice, float) and bool(not twice.is_integer() or abs(twice) >= 2**53)
            digits = ", to the 16 digits that are kept" * rounded
            raise ValueError(
                f"`order` must tell all rows apart, but {write_label(twice)} stands in several{digits}: rows at one "
                "place have no order among themselves. Take their means, or another column; if they stand in their "
                "order, leave `order` out."
            )
        return cls(np.asarray(rows, dtype=np.intp), places, given.title)


def read_order(X: ArrayLike, order: ArrayLike | str | None, *, is_matrix: bool) -> tuple[InputTable, InputTable | None]:
    """Read a table and the values that order its rows; if those are a column of the table, take it out of the table."""
    (table,), (given,) = read_inputs((X,), {"order": order})
    if isinstance(order, int | float | np.generic) and not isinstance(order, str):
        raise TypeError(
            f"`order` must be one value a row, or the name of a column as text, got {order!r}; a column whose name is "
            "a number is given itself, such as `frame.pop(0)`."
        )
    if isinstance(given, str):
        if is_matrix:
            raise ValueError(f'`order` names a column, {given!r}, which a matrix (metric="precomputed") has not.')
        return _take_column(table, given)
    return table, given


def _name_places(index: Any) -> tuple[Any, str, tuple[str, ...]]:
    """Return row names, the name of their index, and a note if they are dates that do not increase."""
    if index is None:
        return None, "", ()
    notes: tuple[str, ...] = ()
    if index.dtype.kind == "M" and not index.is_monotonic_increasing:
        notes = (
            "The dates that name the rows do not rise from row to row; the rows were taken as they stand. "
            "`X.sort_index()` puts them into their order.",
        )
    return index, "" if index.name is None else str(index.name), notes


def _take_column(table: InputTable, name: str) -> tuple[InputTable, InputTable]:
    """Split a data frame into the frame without the column that orders its rows, and that column."""
    if table.ndim != 2 or table.columns is None or not table.is_pandas:
        raise TypeError(
            f"`order` names a column, {name!r}, and `X` is no data frame; give one number, date or other value a row."
        )
    if table.columns.count(name) != 1:
        if name in table.columns:
            raise ValueError(f"`order` must name one column of `X`: {name!r} is there more than once; rename it.")
        listed = list_names(name, table.columns)
        raise ValueError(f"`order` must name a column of `X`: {name!r} is none of its columns.{listed}")
    j = table.columns.index(name)
    rest = table.values.iloc[:, [i for i in range(len(table.columns)) if i != j]]
    if not rest.shape[1]:
        raise ValueError(f"`X` must have a column beside that of the order, {name!r}.")
    columns = tuple(column for column in table.columns if column != name)
    return replace(table, values=rest, columns=columns), as_table(table.values.iloc[:, j])


def are_numbers(places: Any) -> bool:
    """Return whether a pandas index holds numbers, also numbers stored as Python objects."""
    import pandas as pd

    return places.dtype.kind in "iuf" or (places.dtype.kind == "O" and pd.api.types.infer_dtype(places) in NUMBERS)


def _check_unit_of_time(values: Any) -> None:
    """Raise ValueError for NumPy times finer than a nanosecond, which pandas would truncate."""
    kind = getattr(values, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.kind not in "mM" or np.datetime_data(kind)[0] not in FINER:
        return
    unit, count = np.datetime_data(kind)
    known = np.asarray(values)[~np.isnat(values)]
    if (known.astype(np.int64) * count % FINER[unit]).any():
        raise ValueError(
            f"`order` must not be finer than a nanosecond, got {known.dtype}; give the time since one of them, as a "
            "number."
        )


def _read_places(given: InputTable, n: int) -> Any:
    """Convert the values that order rows to a pandas index of numbers, dates or ordered categories."""
    import pandas as pd

    values = given.values
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == 1:
        values = values.iloc[:, 0] if given.is_pandas else values[:, 0]
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"`order` must be one value a row, got shape {values.shape}.")
    if getattr(getattr(values, "dtype", None), "kind", "") == "f":
        values = values.astype(np.float64)  # pandas has no index of shorter or longer ones
    masked = int(masked_in(values).sum())
    if masked:
        raise ValueError(f"`order` must not be missing, but {masked} of {len(values)} values are masked.")
    _check_unit_of_time(values)
    places = pd.Index(values if given.is_pandas else list(values))
    if isinstance(places, pd.MultiIndex):
        raise ValueError("`order` must be one value a row, got several.")
    if len(places) != n:
        raise ValueError(f"`order` must have one value for each of the {n} rows, got {len(places)}.")
    missing = int(places.isna().sum())
    if missing:
        raise ValueError(f"`order` must not be missing, but {missing} of {n} values are.")
    kind = places.dtype
    if isinstance(kind, pd.CategoricalDtype):
        if not kind.ordered:
            raise TypeError("`order` has categories without an order; `pd.Categorical(..., ordered=True)` gives it.")
        return places
    if pd.api.types.infer_dtype(places) == "date":
        return pd.to_datetime(places)
    # numbers may be objects, which is how whole numbers of any size stay exact
    if isinstance(kind, pd.PeriodDtype) or kind.kind in "mM" or are_numbers(places):
        return places
    if pd.api.types.infer_dtype(places) != "string":
        what = f"{type(places[0]).__name__} objects" if kind.kind == "O" else str(kind)
        raise TypeError(
            f"`order` must hold numbers, dates or ordered categories, got {what}; convert them first, as by "
            "`np.asarray(order, dtype=float)`, or `pd.to_datetime(order, utc=True)` for dates of several time zones."
        )
    raise TypeError(
        "`order` must hold numbers, dates or ordered categories, got text: text would be sorted by its letters, "
        "with '10' before '9' and 'April' before 'March'. Make numbers (`pd.to_numeric`), dates (`pd.to_datetime`) or "
        "ordered categories of it."
    )
