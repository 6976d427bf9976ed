"""Names of rows and columns, and whether tables, labels and weights that carry names agree in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = [
    "Places",
    "as_pandas",
    "check_same_columns",
    "check_same_rows",
    "column_names",
    "find_index_names",
    "in_memory",
    "joint_index",
    "label_name",
    "matrix_index",
    "name_text",
    "near_names",
    "row_index",
    "row_names",
]


class Places:
    """What the entries of a square matrix are called in messages.

    Parameters
    ----------
    names : sequence of str or None
        Names of the rows and columns, where there are any.
    """

    def __init__(self, names: Sequence[str] | None) -> None:
        self.names = names

    def item(self, i: int) -> str:
        """Row or column i."""
        return str(i) if self.names is None else self.names[i]

    def entry(self, i: int, j: int) -> str:
        """Row i, column j."""
        return f"({i}, {j})" + ("" if self.names is None else f" from {self.names[i]} to {self.names[j]}")


def row_names(values: object) -> tuple[str, ...] | None:
    """Names of the rows of a square data frame, None for anything else; its columns must not name others."""
    columns = column_names(values)
    if columns is None or not hasattr(values, "columns") or len(values) != len(columns):  # type: ignore[arg-type]
        return None
    rows, numbered = [name_text(label) for label in values.index], [str(i) for i in range(len(columns))]  # type: ignore[attr-defined]
    if rows in (columns, numbered):
        return None if columns == numbered else tuple(columns)
    if columns == numbered:
        return tuple(rows)
    differ = next(i for i, (row, column) in enumerate(zip(rows, columns, strict=True)) if row != column)
    raise ValueError(
        f"The rows and columns of the matrix must have the same names in the same order; row {differ} is "
        f"{rows[differ]!r} and column {differ} is {columns[differ]!r}. Reorder the columns (`d.loc[:, d.index]`), or "
        "give the numbers alone (`d.to_numpy()`)."
    )


def in_memory(values: Any) -> Any:
    """The numbers or labels of a Dask collection; anything else as it came."""
    return values.compute() if hasattr(values, "__dask_graph__") else values


def as_pandas(values: Any) -> Any:
    """The pandas form of a table or column of another library (Polars, PyArrow); anything else as it is.

    Dask collections are computed.
    """
    values = in_memory(values)
    if hasattr(values, "iloc") or not hasattr(values, "to_pandas"):
        return values
    return values.to_pandas()


def column_names(values: object) -> list[str] | None:
    """Column names of a pandas object, None for anything else."""
    if not _is_pandas(values):
        return None
    if hasattr(values, "columns"):
        return [name_text(c) for c in values.columns]
    name = getattr(values, "name", None)
    return ["x" if name is None else name_text(name)]


def _is_pandas(values: object) -> bool:
    """Whether something is a DataFrame or a Series."""
    return hasattr(values, "to_numpy") and hasattr(values, "index") and hasattr(values, "iloc")


def name_text(name: object) -> str:
    """Name of a row or column; the levels of a MultiIndex with commas between them."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def label_name(labels: object) -> str:
    """Name of a Series or of the only column of a frame; empty for anything else."""
    if _is_pandas(labels) and hasattr(labels, "columns"):
        return name_text(labels.columns[0]) if len(labels.columns) == 1 else ""
    name = getattr(labels, "name", None) if _is_pandas(labels) else None
    return "" if name is None else name_text(name)


def row_index(values: object) -> Any:
    """Copy of the index of the rows of a pandas object, None for anything else."""
    return values.index.copy() if _is_pandas(values) else None  # type: ignore[attr-defined]


def matrix_index(values: object) -> Any:
    """Index of the items of a square data frame, from its rows or its columns; None where both only count."""
    values = as_pandas(values)
    if row_names(values) is None:
        return None
    numbered = [str(i) for i in range(len(values))]  # type: ignore[arg-type]
    rows = [name_text(label) for label in values.index]  # type: ignore[attr-defined]
    return (values.columns if rows == numbered else values.index).copy()  # type: ignore[attr-defined]


def find_index_names(index: Any) -> tuple[str, ...] | None:
    """Entries of an index as texts; None without one, or where it only counts the rows."""
    if index is None:
        return None
    names = tuple(name_text(label) for label in index)
    return None if names == tuple(map(str, range(len(names)))) else names


def check_same_columns(tables: Sequence[Any], widths: Sequence[int], names: Sequence[str]) -> None:
    """Tables of one width, and with the same names in the same order where they have names."""
    if len(set(widths)) > 1:
        if tuple(names) == ("X", "Y"):
            raise ValueError(f"`X` and `Y` must have the same number of columns, got {widths[0]} and {widths[1]}.")
        hint = " Labels of the rows go to `groups=`." if len({len(table) for table in tables}) == 1 else ""
        raise ValueError(f"The samples must have the same number of columns, got {', '.join(map(str, widths))}.{hint}")
    first, *others = (column_names(table) if getattr(table, "ndim", 0) == 2 else None for table in tables)
    for name, found in zip(names[1:], others, strict=True):
        if first is not None and found is not None and found != first:
            raise ValueError(other_columns(first, found, names[0], name))


def other_columns(first: Sequence[str], second: Sequence[str], name: str, other: str) -> str:
    """Where two tables of one width have other columns."""
    places = [j for j, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    shown = [f"column {j} is {first[j]!r} in {name} and {second[j]!r} in {other}" for j in places[:3]]
    more = f", and {len(places) - 3} more differ" if len(places) > 3 else ""
    order = " They are the same in another order." if sorted(first) == sorted(second) else ""
    both = "`X` and `Y`" if (name, other) == ("X", "Y") else "The samples"
    return f"{both} must have the same columns: {', '.join(shown)}{more}.{order}"


def have_same_names(rows: Any, own: Any) -> bool:
    """Compare two indices by their entries: Dask makes another type of text of names than pandas does."""
    return bool(rows.equals(own) or rows.astype(object).equals(own.astype(object)))


def index_at_hand(values: Any) -> Any:
    """Index of the rows of something of pandas or Dask, or of blocks of rows; None where they have no names."""
    if _is_pandas(values):
        return values.index
    if hasattr(values, "__dask_graph__") and hasattr(values, "index"):
        return values.index.compute()
    if isinstance(values, tuple) and values and all(hasattr(value, "shape") for value in values):
        return joint_index([index_at_hand(value) for value in values])
    return getattr(values, "row_index", None)


def joint_index(parts: Sequence[Any]) -> Any:
    """Index of samples below each other; None if one has no names, or if every one of several only counts its rows."""
    if not parts or any(part is None for part in parts):
        return None
    if len(parts) > 1 and all(find_index_names(part) is None for part in parts):
        return None
    return parts[0].append(list(parts[1:]))


def check_same_rows(tables: Sequence[Any], name: str) -> None:
    """Rows of tables that are matched by position: names that they share must stand in the same rows."""
    blocks = not _is_pandas(tables[0]) and hasattr(tables[0], "row_index")  # samples that stand below each other
    first, *others = tables[0].indices if blocks else [index_at_hand(as_pandas(table)) for table in tables]
    for other in others:
        if first is None or other is None or len(first) != len(other):
            continue
        unequal = np.array([a != b for a, b in zip(first, other, strict=True)], dtype=bool)
        moved = unequal & first.isin(other)
        if moved.any():
            raise ValueError(
                f"{name} are matched row by row, but the row {first.tolist()[int(moved.argmax())]!r} stands in another "
                "place of the second; bring them into one order (`second.loc[first.index]`), or match by position with "
                "`.to_numpy()`."
            )


def near_names(name: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' with the known names that look like `name`, or nothing."""
    near = difflib.get_close_matches(name.lower(), {k.lower(): k for k in known}, n=3)
    by_lower = {k.lower(): k for k in known}
    return f" Did you mean {' or '.join(repr(by_lower[k]) for k in near)}?" if near else ""
