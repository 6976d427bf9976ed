"""Tables of mixed columns as float arrays: numbers as they are, categories by their codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.exceptions import MissingValuesWarning, warn
from energystats.inputs.arrays import (
    LARGEST,
    as_array,
    as_numbers,
    check_dense,
    doubles_of,
)
from energystats.inputs.names import check_one_column, name_text
from energystats.inputs.table import InputTable, as_table, check_same_columns, masked_in

__all__ = ["Columns", "Kind", "encode", "find_nested", "holds_numbers", "holds_truths"]


Kind: TypeAlias = Literal["numeric", "ordered", "categorical", "asymmetric", "empty"]
KINDS: tuple[Kind, ...] = ("numeric", "ordered", "categorical", "asymmetric", "empty")
NESTED = (dict, list, tuple, set, np.ndarray)  # what a cell of several values is
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "mixed-integer-na", "integer-na")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Describe the columns of a coded data table: names, kinds (numeric, ordered, ...) and categories."""

    names: tuple[str, ...]  # of the columns; their positions where they have none
    # "numeric", "ordered", "categorical", "asymmetric" (1 for presence, 0 for absence) or "empty" (no value at all)
    kinds: tuple[Kind, ...]
    levels: tuple[tuple[Any, ...], ...]  # categories in the order of their codes 0, 1, ...; () where there are none
    complete: bool  # whether no value is missing, empty columns aside

    @classmethod
    def numeric(cls, names: Iterable[str], *, complete: bool) -> Self:
        """Build the description of a table whose columns are all numeric, from the names of the columns."""
        names = tuple(names)
        kinds: tuple[Kind, ...] = tuple("numeric" for _ in names)
        return cls(names, kinds, ((),) * len(names), complete)

    @property
    def plain(self) -> bool:
        """Return whether a coded table holds only finite numbers, no categories or missing values."""
        return self.complete and set(self.kinds) <= {"numeric"}

    def where(self, *kinds: Kind) -> IntArray:
        """Return the indices of columns of the given kinds, such as numeric or ordered."""
        return np.flatnonzero([kind in kinds for kind in self.kinds]).astype(np.intp)

    def __str__(self) -> str:
        found = Counter(self.kinds)
        counts = ", ".join(f"{found[kind]} {kind}" for kind in KINDS if found[kind])
        return f"{len(self.names)} column{'s' * (len(self.names) != 1)}: {counts}"


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """Hold one column of a data table: its kind, its numbers or category codes, and its categories."""

    kind: Kind
    values: FloatArray
    levels: tuple[Any, ...] = ()


def encode(
    tables: Sequence[Any],
    names: Sequence[str],
    *,
    asymmetric: Collection[str] = (),
    known: Columns | None = None,
) -> tuple[list[FloatArray], Columns]:
    """Convert tables to float arrays with one coding of categories, new or given; return the arrays and the coding."""
    given = [as_table(table) for table in tables]
    read = [_code_columns(table, name) for table, name in zip(given, names, strict=True)]
    check_same_columns(given, [len(labels) for labels, _ in read], names)
    labels = read[0][0] if known is None else known.names
    if known is not None:
        _check_known(given[0], read[0][0], known, names[0])
    for column in asymmetric:
        check_one_column(column, labels, "asymmetric")
    coded = []
    # column by column over all tables, because a category may occur in the second one alone
    for j, label in enumerate(labels):
        parts = [_code_column(columns[j], name, label) for name, (_, columns) in zip(names, read, strict=True)]
        if label in asymmetric:
            parts = [_presence(part, name, label) for part, name in zip(parts, names, strict=True)]
        if known is None:
            coded.append(_join_columns(parts, names, label))
        else:
            of = _Column(known.kinds[j], np.empty(0), known.levels[j])
            coded.append([_recoded(part, of, name, label) for part, name in zip(parts, names, strict=True)])
    arrays = [np.column_stack([parts[i].values for parts in coded]) for i in range(len(tables))]
    kinds, levels = tuple(parts[0].kind for parts in coded), tuple(parts[0].levels for parts in coded)
    # a column without any value says nothing of completeness: it has no weight in rho
    filled = [kind != "empty" for kind in kinds]
    complete = not any(np.isnan(array[:, filled]).any() for array in arrays)
    if known is not None:
        return arrays, replace(known, complete=complete)
    _warn_of_empty([label for label, kind in zip(labels, kinds, strict=True) if kind == "empty"])
    return arrays, Columns(tuple(labels), kinds, levels, complete)


def _check_known(table: InputTable, labels: Sequence[str], known: Columns, name: str) -> None:
    """Raise ValueError if a table's columns differ in number or names from those of a coding made before."""
    if len(labels) != len(known.names):
        raise ValueError(f"`{name}` must have {len(known.names)} columns, as the metric has, got {len(labels)}.")
    positions = tuple(map(str, range(len(labels))))
    if table.ndim == 2 and positions not in (known.names, labels) and labels != known.names:
        raise ValueError(f"`{name}` must have the columns {', '.join(known.names)}, got {', '.join(labels)}.")


# ---------------------------------------------------------------- one table


def _code_columns(table: InputTable, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """Split a data table into columns; return their names, and each as a float array or Series."""
    check_dense(table.values, name)
    values = table.values
    if not table.is_pandas:
        array = as_array(values, name)
        if array.dtype.kind in "iuf":
            numbers = as_numbers(array, name)
            _check_shape(numbers.shape, name)
            numbers = numbers.reshape(len(numbers), -1)
            return tuple(map(str, range(numbers.shape[1]))), list(numbers.T)
        frame = _untyped_frame(values, array, name)
        labels = tuple(map(str, range(frame.shape[1])))
    else:
        frame, labels = values if values.ndim == 2 else values.to_frame(), table.columns or ()
    _check_shape(frame.shape, name)
    return labels, [frame.iloc[:, j] for j in range(frame.shape[1])]


def _untyped_frame(values: Any, array: Any, name: str) -> Any:
    """Convert a non-numeric list or array to a data frame with column types inferred by pandas."""
    import pandas as pd

    _check_shape(array.shape, name)
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        return pd.Series(values).to_frame()
    if array.dtype.kind in "US" and isinstance(values, np.ndarray) and array.ndim == 2 and array.shape[1] > 1:
        for j in range(array.shape[1]):
            known = array[:, j][~masked_in(array[:, j])]
            if known.size and pd.to_numeric(pd.Series(np.asarray(known, dtype=str)), errors="coerce").notna().all():
                raise TypeError(
                    f"`{name}` is an array of text in which column {j} looks like numbers, and NumPy makes text of "
                    "numbers beside text; pass a DataFrame, whose columns have types of their own."
                )
    rows = array.astype(str) if array.dtype.kind == "S" else array if isinstance(values, np.ndarray) else list(values)
    return pd.DataFrame(rows)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    """Raise ValueError unless a data table is one- or two-dimensional and not empty."""
    if len(shape) not in (1, 2):
        raise ValueError(f"`{name}` must have shape (n,) or (n, d), got {shape}.")
    if 0 in shape:
        raise ValueError(f"`{name}` must have at least one row and one column, got shape {shape}.")


def _warn_of_empty(labels: Sequence[str]) -> None:
    """Warn that columns of a data table in which no row has a value are left out; do nothing without any."""
    if labels:
        listed = ", ".join(map(repr, labels))
        warn(f"No row has a value in column{'s' * (len(labels) > 1)} {listed}; left out.", MissingValuesWarning)


# ---------------------------------------------------------------- one column


def _code_column(column: Any, name: str, label: str) -> _Column:
    """Convert a data column to numbers or category codes, and return these with the kind that its type implies.

    Kinds are "numeric", "ordered", "categorical" and "empty".
    """
    if isinstance(column, np.ndarray):
        return _numeric_column(column, name, label)
    import pandas as pd
    from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_numeric_dtype

    if column.dtype == object:
        column = column.mask(masked_in(column.to_numpy()))
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.float64)
        kind: Kind = "ordered" if column.cat.ordered else "categorical"
        return _emptied(_Column(kind, np.where(codes < 0, np.nan, codes), tuple(column.cat.categories)))
    if is_bool_dtype(column.dtype):
        return _emptied(_Column("categorical", doubles_of(column, name_text(column.name)), (False, True)))
    if is_numeric_dtype(column.dtype) and not is_complex_dtype(column.dtype):
        return _numeric_column(doubles_of(column, name_text(column.name)), name, label)
    # a column of objects may hold anything: pandas looks at every value
    found = infer_dtype(column, skipna=True)
    if found == "empty" or column.isna().all():
        return _Column("empty", np.full(len(column), np.nan))
    if found == "string":
        codes, levels = pd.factorize(column.astype(object), sort=True, use_na_sentinel=True)
        return _Column("categorical", np.where(codes < 0, np.nan, codes.astype(np.float64)), tuple(levels))
    if found == "boolean":
        return _Column("categorical", doubles_of(column.astype("boolean"), name_text(column.name)), (False, True))
    if found in NUMBERS:
        return _numeric_column(doubles_of(pd.to_numeric(column), name_text(column.name)), name, label)
    what = "both numbers and text" if found.startswith("mixed") else f"{found} values ({column.dtype})"
    if (nested := find_nested(column)) is not None:
        what = f"a {type(nested).__name__} in one cell"
    raise TypeError(
        f"`{name}` must have columns of numbers, categories, text or truth values, but column {label!r} has {what}; "
        'convert it, for example to numbers, or to categories with `.astype("category")`.'
    )


def _numeric_column(values: FloatArray, name: str, label: str) -> _Column:
    """Check that a numeric data column has no infinite or too large values, and return it."""
    if bad := int(np.isinf(values).sum()):
        raise ValueError(f"`{name}` must not be infinite, but has {bad} infinite values in column {label}.")
    column = _emptied(_Column("numeric", values))
    if column.kind == "numeric" and (largest := float(np.nanmax(np.abs(values)))) > LARGEST:
        raise ValueError(
            f"`{name}` must not exceed {LARGEST:g} in size, got {largest:.3g} in column {label}; rescale it."
        )
    return column


def _emptied(column: _Column) -> _Column:
    """Return a coded data column, its kind changed to "empty" if all its values are missing."""
    return _Column("empty", column.values) if np.isnan(column.values).all() else column


def _presence(column: _Column, name: str, label: str) -> _Column:
    """Convert a data column of truth values, or of 0 and 1, to 1 for presence and 0 for absence."""
    values = column.values
    if column.levels:
        numbers = [float(v) if isinstance(v, int | float | np.bool_ | np.number) else np.nan for v in column.levels]
        # categories stand for 0 and 1 by their values, not by their codes
        used = ~np.isnan(values)
        values = values.copy()
        values[used] = np.array(numbers)[values[used].astype(np.intp)]
        values[used & np.isnan(values)] = 2.0  # a category that is neither
    bad = ~np.isnan(values) & ~np.isin(values, (0, 1))
    if bad.any():
        i = int(bad.argmax())
        got = repr(column.levels[int(column.values[i])]) if column.levels else f"{values[i]:g}"
        raise ValueError(
            f"`asymmetric` columns must hold truth values or 0 (absent) and 1 (present), but column {label!r} of "
            f"`{name}` has {got} in row {i}."
        )
    return column if column.kind == "empty" else _Column("asymmetric", values)


# ---------------------------------------------------------------- one coding


def _join_columns(parts: Sequence[_Column], names: Sequence[str], label: str) -> list[_Column]:
    """Give a column that several tables have a common coding of categories; raise TypeError if its kinds differ."""
    filled = [(part, name) for part, name in zip(parts, names, strict=True) if part.kind != "empty"]
    if not filled:
        return list(parts)
    first, first_name = filled[0]
    for part, name in filled[1:]:
        if part.kind != first.kind:
            raise TypeError(
                f"Column {label!r} must be of one kind in all tables, but is {first.kind} in `{first_name}` and "
                f"{part.kind} in `{name}`."
            )
        # as inside one column: 1 and "1" would be two categories, and the samples have none in common
        if (of_text := _has_text(part)) != _has_text(first) and part.kind == "categorical":
            texts, others = (name, first_name) if of_text else (first_name, name)
            raise TypeError(
                f"Column {label!r} must be of one kind in all tables, but has text in `{texts}` and categories without "
                f"text in `{others}`: {_list_levels(first.levels)} and {_list_levels(part.levels)}; write them alike."
            )
        if part.kind == "ordered" and part.levels != first.levels:
            raise ValueError(
                f"Ordered column {label!r} must have the same categories in all tables, but has "
                f"{_list_levels(first.levels)} in `{first_name}` and {_list_levels(part.levels)} in `{name}`."
            )
    # in the order in which they are met, so that a second table only adds categories at the end
    levels = tuple(dict.fromkeys(level for part, _ in filled for level in part.levels))
    target = _Column(first.kind, np.empty(0), levels)
    return [_recoded(part, target, name, label) for part, name in zip(parts, names, strict=True)]


def _has_text(column: _Column) -> bool:
    """Return whether some category of a data column is text."""
    return any(isinstance(level, str) for level in column.levels)


def _recoded(part: _Column, target: _Column, name: str, label: str) -> _Column:
    """Translate the category codes of a data column to another coding; raise ValueError for a category not in it."""
    if part.kind == "empty" or target.kind == "empty":
        return _Column(target.kind, np.full(part.values.size, np.nan), target.levels)
    if not target.levels:
        if part.kind != target.kind:
            raise TypeError(f"`{name}` must have {target.kind} values in column {label!r}, got {part.kind} ones.")
        return part
    if part.levels == target.levels:
        return _Column(target.kind, part.values, target.levels)
    used = ~np.isnan(part.values)
    own, codes = np.unique(part.values[used], return_inverse=True)
    values = [part.levels[int(v)] if part.levels else v for v in own]
    place = {level: code for code, level in enumerate(target.levels)}
    for value in values:
        if value not in place:
            raise ValueError(
                f"`{name}` has {value!r} in column {label!r}, whose categories are {_list_levels(target.levels)}."
            )
    translated = np.full(part.values.size, np.nan)
    translated[used] = np.array([place[value] for value in values], dtype=np.float64)[codes]
    return _Column(target.kind, translated, target.levels)


def _list_levels(levels: Sequence[Any]) -> str:
    """Format the first ten categories of a data column as text."""
    return ", ".join(map(repr, levels[:10])) + ", ..." * (len(levels) > 10)


def holds_numbers(column: Any) -> bool:
    """Return whether a data column or dtype is numeric, truth values excluded."""
    kind = getattr(column, "dtype", column)
    if isinstance(kind, np.dtype):  # at once: a file may have many thousand columns
        return kind.kind in "iufc"
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def find_nested(column: Any) -> Any:
    """Find the first cell of a data column that holds several values, such as a list; None without one."""
    if column.dtype != object:
        return None
    return next((cell for cell in column if isinstance(cell, NESTED)), None)


def holds_truths(column: Any) -> bool:
    """Return whether a data column, or its dtype, is of truth values."""
    kind = getattr(column, "dtype", column)
    if isinstance(kind, np.dtype) and kind.kind in "iufc":
        return False
    from pandas.api.types import is_bool_dtype

    return is_bool_dtype(column)
