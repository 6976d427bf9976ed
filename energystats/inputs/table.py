"""Read a table, labels or weights once, where the user gives them, and match their rows by name.

Tables of pandas, Polars, PyArrow and Dask, arrays, masked arrays and lists all become an `InputTable`; nothing below it
asks where the numbers came from.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from energystats._typing import AnyArray, BoolArray
from energystats.inputs.names import counts_only, find_index_names, write_names

__all__ = [
    "InputTable",
    "as_table",
    "check_same_columns",
    "check_same_names",
    "check_same_rows",
    "is_of_xarray",
    "join_indices",
    "masked_in",
    "match_columns",
    "match_index",
    "match_rows",
    "other_columns",
]


@dataclass(frozen=True, slots=True, eq=False)
class InputTable:
    """Hold a data table, or one label or weight per row, as the user gave it, with row and column names."""

    values: Any  # A pandas object, an array, a list, or blocks of rows that are not in memory
    # names of the columns of a pandas object ("x" for a Series without a name), or of blocks of rows
    columns: tuple[str, ...] | None = None
    index: Any = None  # names of the rows
    indices: tuple[Any, ...] = ()  # those of each sample, where blocks of rows hold several
    found: bool = False  # whether a clustering is known to have found the labels
    delayed: bool = False  # whether a Dask collection was computed to get the values
    # words for the index of a result or estimator of this package whose labels they are, which has no `loc`; else ""
    of_result: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ndim(self) -> int:
        """Return the number of dimensions of a table's values; 0 for a list."""
        return int(getattr(self.values, "ndim", 0))

    @property
    def is_pandas(self) -> bool:
        """Return whether the values are a DataFrame or a Series."""
        return hasattr(self.values, "iloc")

    @property
    def title(self) -> str:
        """Return the name of a Series or of a data frame's only column; "" for other values."""
        if not self.is_pandas or self.columns is None or len(self.columns) != 1:
            return ""
        return "" if self.ndim == 1 and self.values.name is None else self.columns[0]

    def keep(self, kept: BoolArray) -> Self:
        """Select the rows of a table for which a mask is True."""
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def take(self, rows: AnyArray) -> Self:
        """Select the rows of a table at the given positions."""
        if self.is_pandas:
            values = self.values.iloc[rows]
        else:
            values = self.values[rows] if hasattr(self.values, "dtype") else [self.values[i] for i in rows]
        return replace(self, values=values, index=None if self.index is None else self.index[rows])


def is_of_xarray(values: Any) -> bool:
    """Return whether an object is an xarray array."""
    return type(values).__module__.partition(".")[0] == "xarray"


def as_table(values: Any) -> InputTable:
    """Convert a table or column of any supported library to an `InputTable`; an `InputTable` is returned unchanged."""
    if isinstance(values, InputTable):
        return values
    # collections that are read in blocks or sent to workers do not get here: this one is needed whole
    delayed = hasattr(values, "__dask_graph__") and not is_of_xarray(values)
    if delayed:
        values = values.compute()
    if not hasattr(values, "iloc"):
        values = _convert_by_library(values)
    of_pandas = hasattr(values, "iloc")
    # Polars and Arrow: pandas keeps the types of their columns, and marks missing values in one way
    if not of_pandas and hasattr(values, "to_pandas"):
        values = values.to_pandas() if is_of_xarray(values) else _convert_exactly(values)
    if not hasattr(values, "iloc") and _is_pandas_array(values):
        import pandas as pd

        # its type says what it holds, which an array of NumPy would not
        return InputTable(_decode_dictionaries(pd.Series(values)), ("x",))
    if not hasattr(values, "iloc"):
        if hasattr(values, "row_index"):  # blocks of rows
            return InputTable(values, values.columns, values.row_index, values.indices)
        return InputTable(_without_masks(values), delayed=delayed)
    # results keep the index, so it is copied: the user may rename the rows of the frame afterwards
    names = values.columns if values.ndim == 2 else ["x" if values.name is None else values.name]
    index = values.index if of_pandas or not counts_only(values.index) else None  # Polars has no names of rows
    dtypes = values.dtypes if values.ndim == 2 else [values.dtype]
    if any(hasattr(getattr(dtype, "pyarrow_dtype", None), "index_type") for dtype in dtypes):
        values = _decode_dictionaries(values)
    return InputTable(values, write_names(names), None if index is None else index.copy(), delayed=delayed)


def _convert_by_library(values: Any) -> Any:
    """Convert a scikit-bio distance matrix or AnnData object to a data frame; return others unchanged."""
    library = type(values).__module__.partition(".")[0]
    if library == "skbio" and hasattr(values, "ids") and hasattr(values, "to_data_frame"):
        return values.to_data_frame()
    if library == "anndata" and hasattr(values, "obs_names"):
        if hasattr(values.X, "toarray"):
            raise TypeError(
                "The X of this AnnData is sparse; give coordinates, such as `adata.obsm['X_pca']`, or the dense table, "
                "`adata.to_df()`."
            )
        return values.to_df()
    return values


def _is_pandas_array(values: Any) -> bool:
    """Return whether an object is a pandas extension array or a CategoricalIndex."""
    kind = type(values)
    return kind.__module__.partition(".")[0] == "pandas" and (
        hasattr(values, "_from_sequence") or kind.__name__ == "CategoricalIndex"
    )


def _decode_dictionaries(values: Any) -> Any:
    """Convert Arrow dictionary columns of a frame to pandas categories."""
    for j, dtype in enumerate(values.dtypes if values.ndim == 2 else [values.dtype]):
        if hasattr(getattr(dtype, "pyarrow_dtype", None), "index_type"):
            import pandas as pd
            import pyarrow as pa

            column = values.iloc[:, j] if values.ndim == 2 else values
            found = pa.chunked_array(pa.array(column.array)).unify_dictionaries().to_pandas().array
            if values.ndim == 1:
                return pd.Series(found, index=values.index, name=values.name)
            values = values.copy(deep=False)
            values.isetitem(j, pd.Series(found, index=values.index))
    return values


def _convert_exactly(values: Any) -> Any:
    """Convert a Polars or Arrow object to pandas, keeping large whole numbers exact."""
    found = values.to_pandas()
    if getattr(found, "ndim", 0) == 1 and hasattr(found, "iloc"):
        return _keep_whole(found, values)
    names, dtypes = list(getattr(found, "columns", ())), list(getattr(found, "dtypes", ()))
    counts = Counter(names)
    for j, (name, dtype) in enumerate(zip(names, dtypes, strict=False)):
        if isinstance(name, str) and counts[name] == 1 and dtype.kind == "f":
            found.isetitem(j, _keep_whole(found.iloc[:, j], values[name]))
    return found


def _keep_whole(column: Any, source: Any) -> Any:
    """Restore exact integers in a column whose large ones pandas rounded to floats."""
    import pandas as pd

    if column.dtype.kind != "f" or not (column.abs() >= 2**53).any():
        return column
    entries = source.to_pylist() if hasattr(source, "to_pylist") else source.to_list()
    if any(isinstance(entry, float) for entry in entries):
        return column
    largest = max(entry for entry in entries if entry is not None)
    return pd.Series(entries, index=column.index, name=column.name, dtype="Int64" if largest < 2**63 else "UInt64")


# ---------------------------------------------------------------- masks


def masked_in(values: Any) -> BoolArray:
    """Return which entries of an array are masked."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(values))
    array = np.asarray(values)
    if array.dtype != object:
        return np.zeros(array.shape, dtype=bool)
    return np.array([value is np.ma.masked for value in array.ravel()], dtype=bool).reshape(array.shape)


def _without_masks(values: Any) -> Any:
    """Replace masked entries of a list or object array by NaN; return other objects unchanged."""
    if isinstance(values, list | tuple):
        return _unmasked(values)
    if isinstance(values, np.ndarray) and values.dtype == object and not isinstance(values, np.ma.MaskedArray):
        hidden = masked_in(values)
        return np.where(hidden, np.nan, values) if hidden.any() else values
    return values


def _unmasked(value: Any) -> Any:
    """Replace the masked values in a nested list by NaN; a list without masked arrays is returned unchanged."""
    if isinstance(value, list | tuple):
        entries = [_unmasked(entry) for entry in value]
        return value if all(map(operator.is_, entries, value)) else entries
    if not isinstance(value, np.ma.MaskedArray):
        return value
    if not np.ma.is_masked(value):
        return value.data[()]
    return np.ma.filled(value.astype(np.float64 if value.dtype.kind in "iuf" else object), np.nan)[()]


# ---------------------------------------------------------------- names of columns


def check_same_columns(tables: Sequence[InputTable], widths: Sequence[int], names: Sequence[str]) -> None:
    """Raise ValueError if tables differ in the number, the names or the order of their columns."""
    if len(set(widths)) > 1:
        if tuple(names) == ("X", "Y"):
            raise ValueError(f"`X` and `Y` must have the same number of columns, got {widths[0]} and {widths[1]}.")
        hint = " Labels of the rows go to `groups=`." if len({len(table) for table in tables}) == 1 else ""
        raise ValueError(f"The samples must have the same number of columns, got {', '.join(map(str, widths))}.{hint}")
    first, *others = (table.columns if table.ndim == 2 else None for table in tables)
    for name, found in zip(names[1:], others, strict=True):
        if first is not None and found is not None and found != first:
            raise ValueError(other_columns(first, found, names[0], name))


def other_columns(first: Sequence[str], second: Sequence[str], name: str, other: str, both: str = "The samples") -> str:
    """Return an error message that lists in which columns two tables of equal width differ; `both` begins it."""
    places = [j for j, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    shown = [f"column {j} is {first[j]!r} in {name} and {second[j]!r} in {other}" for j in places[:3]]
    more = f", and {len(places) - 3} more differ" if len(places) > 3 else ""
    order = " They are the same in another order." if sorted(first) == sorted(second) else ""
    both = "`X` and `Y`" if (name, other) == ("X", "Y") else both
    return f"{both} must have the same columns: {', '.join(shown)}{more}.{order}"


# ---------------------------------------------------------------- names of rows


def match_rows(tables: Sequence[InputTable], columns: Mapping[str, InputTable | None]) -> None:
    """Raise ValueError if labels or weights have another index than the table they belong to.

    Several tables are samples that stand below each other. Where they have no names, the columns are matched with the
    first of them that has an index.
    """
    # samples in blocks of rows have become one table, which knows the index of each of them
    indices = [index for table in tables for index in table.indices or (table.index,)]
    named = {name: column for name, column in columns.items() if column is not None and column.index is not None}
    rows = join_indices(indices)
    for name, column in named.items():
        own = column.index
        if rows is None:
            rows = own
        # another length is refused where the values are read, with both lengths in the message
        elif len(rows) == len(own) and not _have_same_names(rows, own):
            raise ValueError(_other_rows(rows, own, name, delayed=column.delayed, of_result=column.of_result))


def match_columns(table: InputTable, given: Any, argument: str) -> None:
    """Raise ValueError if values per column have other names or another order than the columns."""
    own = as_table(given).index
    if table.columns is None or own is None or len(own) != len(table.columns) or counts_only(own):
        return
    if [str(name) for name in own] != list(table.columns):
        raise ValueError(
            f"`{argument}` must have the names of the columns in their order ({', '.join(table.columns)}), got "
            f"{', '.join(str(name) for name in own)}; align it (`{argument}[X.columns]`), or match columns by position "
            f"with `{argument}.to_numpy()`."
        )


def match_index(index: Any, given: Any, argument: str) -> None:
    """Raise ValueError if a table has other row names, or another order, than the table of an earlier result.

    `index` is that of the result, None without one.
    """
    own = getattr(given, "index", getattr(given, "index_", None))  # of a table or result, or a fitted estimator
    if own is None or callable(own):  # a method, as of a list
        own = as_table(given).index if hasattr(given, "dtype") or hasattr(given, "columns") else None
    if index is None or own is None or len(index) != len(own) or _have_same_names(index, own):
        return
    if not hasattr(given, "loc"):
        raise ValueError(f"`{argument}` must have the index of the table, row by row; compute it from the same table.")
    raise ValueError(_other_rows(index, own, argument))


def _have_same_names(rows: Any, own: Any) -> bool:
    """Return whether two indices have equal entries, also if Dask and pandas store text differently."""
    return bool(rows is own or rows.equals(own) or rows.astype(object).equals(own.astype(object)))


def _are_in(rows: Any, own: Any) -> BoolArray:
    """Return which entries of an index another has; several levels are compared as tuples."""
    return np.asarray(rows.to_flat_index().isin(own.to_flat_index()))


def _other_rows(rows: Any, own: Any, name: str, *, delayed: bool = False, of_result: str = "") -> str:
    """Return an error message for labels with another index than the table, with advice."""
    rule = f"`{name}` must have the index of the table, row by row"
    twice = next((index for index in (rows, own) if not index.is_unique), None)
    absent = rows[~_are_in(rows, own)]
    if of_result:
        if twice is not None or len(absent):
            return f"{rule}, and is a result of other rows: compute it from this table."
        again = f"give `X.loc[{name}.{of_result}]` in place of `X`, or compute it from this table"
        return f"{rule}, and is a result of the same rows in another order: {again}."
    taken = f"{name}.compute()" if delayed else name
    by_position = "`data.set_index(X.index)`" if name == "data" else f"`{taken}.to_numpy()`"
    if twice is not None:
        again = f"because {twice[twice.duplicated()].tolist()[0]!r} stands in several rows: match them"
        align = f"it cannot be aligned, {again}"
    elif len(absent):
        align = f"it cannot be aligned, because it has no row {absent.tolist()[0]!r}: match rows"
    else:
        align = f"align it (`{name}.loc[X.index]`), or match rows"
    return f"{rule}; {align} by position with {by_position}."


def join_indices(parts: Sequence[Any]) -> Any:
    """Join the indices of stacked samples; None if one has no names or all only count rows."""
    if not parts or any(part is None for part in parts):
        return None
    if len(parts) == 1:
        return parts[0]
    # samples that are each numbered from 0 would give names that stand in several rows
    if all(find_index_names(part) is None for part in parts):
        return None
    return parts[0].append(list(parts[1:]))


def check_same_rows(tables: Sequence[InputTable], name: str) -> None:
    """Raise ValueError if tables matched by position share only some row names."""
    indices = list(itertools.chain.from_iterable(table.indices or (table.index,) for table in tables))
    check_same_names(indices, name, of_results={table.of_result for table in tables})


def check_same_names(indices: Sequence[Any], name: str, *, of_results: Collection[str] = ()) -> None:
    """Raise ValueError if paired tables have partly different row names, or the same ones in another order."""
    for first, other in itertools.combinations(indices, 2):
        if first is None or other is None or len(first) != len(other):
            continue
        # names of which none is common are no contradiction: subjects may be called otherwise the second time
        unequal = np.array([a != b for a, b in zip(first, other, strict=True)], dtype=bool)
        if not unequal.any() or not _are_in(first, other).any():
            continue
        moved = unequal & _are_in(first, other)
        place = int(moved.argmax()) if moved.any() else int(unequal.argmax())
        where = "stands in another place of" if moved.any() else "is missing from"
        way = "bring them into one order (`second.loc[first.index]`)"
        if not moved.any():
            way = f"that row would be paired with {other.tolist()[place]!r}; leave out who is not in both"
        raise ValueError(
            f"{name} are matched row by row, but the row {first.tolist()[place]!r} {where} the second; {way}, or match "
            "by position with `.to_numpy()`."
            + " A result is made a Series first, by `.to_series()`." * ("index" in of_results)
            + " A fitted estimator is made a Series first, by `.partition_.to_series()`." * ("index_" in of_results)
        )
