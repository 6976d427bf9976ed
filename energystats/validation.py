"""The checks at the door. Each returns clean arrays or raises an error that names argument, rule and value."""

from __future__ import annotations

import difflib
import numbers
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike

__all__ = [
    "Places",
    "as_cluster_weights",
    "as_distances",
    "as_generator",
    "as_labels",
    "as_linkage",
    "as_numbers",
    "as_pandas",
    "as_points",
    "as_square",
    "as_symmetric",
    "as_weights",
    "check_alpha",
    "check_count",
    "check_finite",
    "check_flag",
    "check_jobs",
    "check_not_path",
    "check_option",
    "check_positive",
    "check_same_columns",
    "check_same_index",
    "check_same_rows",
    "children",
    "column_names",
    "is_single",
    "label_name",
    "matrix_index",
    "name_text",
    "names_of",
    "near_names",
    "row_index",
    "row_names",
]

LARGEST = 1e150  # squared differences of larger numbers overflow
LARGEST_INTEGER = 2**53
WEIGHT_RATIO = 1e9
SMALLEST_WEIGHT = 1e-70  # products of weights must keep their digits


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


def as_points(values: ArrayLike, name: str) -> FloatArray:
    """Finite float array of shape (n, d) with n, d >= 1; a one-dimensional input has d = 1."""
    values = as_pandas(values)
    array = as_numbers(values, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"`{name}` must have shape (n,) or (n, d), got {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` must have at least one row and one column, got shape {array.shape}.")
    check_finite(array, name, column_names(values))
    return array


def as_square(values: ArrayLike, name: str, places: Places | None = None) -> FloatArray:
    """Symmetric matrix with zero diagonal, from a square matrix or SciPy's condensed vector."""
    from scipy.spatial.distance import squareform

    if hasattr(values, "toarray"):
        raise TypeError(
            f"`{name}` must be dense, got a sparse {type(values).__name__}: what it does not store would have distance "
            "0. Adjacency and similarity matrices, with 0 for no link, go to `graph_partition` as they are."
        )
    values = as_pandas(values)
    places = places or Places(row_names(values))
    array = as_numbers(values, name)
    if array.ndim == 1:
        n = (1 + int(np.sqrt(1 + 8 * array.size))) // 2
        if array.size == 0 or n * (n - 1) // 2 != array.size:
            raise ValueError(
                f"`{name}` as a condensed vector must have n(n - 1)/2 entries for a whole number n, got {array.size}."
            )
        full = np.asarray(squareform(array, checks=False))
        check_finite_pairs(full, name, places)
        return full
    square = symmetrized(array, name, places)
    diagonal = np.abs(np.diagonal(array))
    if diagonal.max() > 1e-8 * float(np.abs(square).max()):
        worst = int(diagonal.argmax())
        value = array[worst, worst]
        alike = "; for similarities or a kernel see `kernel_distance`" if (np.diagonal(array) > 0).all() else ""
        where = places.entry(worst, worst)
        raise ValueError(f"`{name}` must have a zero diagonal, but entry {where} is {value:.6g}{alike}.")
    np.fill_diagonal(square, 0.0)
    return square


def as_distances(values: ArrayLike, name: str, places: Places | None = None) -> FloatArray:
    """Matrix of dissimilarities: as `as_square`, and nowhere negative."""
    values = as_pandas(values)
    places = places or Places(row_names(values))
    square = as_square(values, name, places)
    if (square < 0).any():
        i, j = map(int, np.unravel_index(int(square.argmin()), square.shape))
        count = int(np.count_nonzero(square < 0)) // 2
        plural = "pair is" if count == 2 else "pairs are"
        others = f", and {count - 1} other {plural} negative" if count > 1 else ""
        raise ValueError(
            f"`{name}` must not be negative, but entry {places.entry(i, j)} is {square[i, j]:.6g}{others}."
        )
    return square


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


def as_symmetric(values: ArrayLike, name: str) -> FloatArray:
    """Square symmetric matrix."""
    values = as_pandas(values)
    return symmetrized(as_numbers(values, name), name, Places(row_names(values)))


def symmetrized(array: FloatArray, name: str, places: Places) -> FloatArray:
    """The symmetric part of a square matrix that is symmetric but for rounding."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ValueError(f"`{name}` must be a square matrix, got shape {array.shape}.")
    check_finite_pairs(array, name, places)
    skew = np.abs(array - array.T)
    if skew.max() > 1e-8 * float(np.abs(array).max()):
        i, j = map(int, np.unravel_index(int(skew.argmax()), skew.shape))
        raise ValueError(
            f"`{name}` must be symmetric, but entry {places.entry(i, j)} is {array[i, j]:.6g} and {places.entry(j, i)} "
            f"is {array[j, i]:.6g}, a difference of {skew.max():.3g}, the largest; ({name} + {name}.T)/2 would be."
        )
    return 0.5 * (array + array.T)


def as_linkage(Z: ArrayLike, name: str) -> FloatArray:
    """A linkage matrix in the form of SciPy, but heights may be negative; (n - 1, 4)."""
    array = as_numbers(Z, name)
    if array.ndim != 2 or array.shape[1] != 4 or len(array) == 0:
        raise ValueError(f"`{name}` must be a linkage matrix of shape (n - 1, 4) with n >= 2, got {array.shape}.")
    check_finite(array, name, None)
    n = len(array) + 1
    nodes = array[:, :2]
    made_before = nodes < n + np.arange(n - 1)[:, None]
    if not (nodes == np.floor(nodes)).all() or (nodes < 0).any() or not made_before.all():
        raise ValueError(f"`{name}` must be a linkage matrix: its first two columns are clusters made in earlier rows.")
    if np.unique(nodes).size != nodes.size:
        raise ValueError(f"`{name}` must be a linkage matrix: no cluster is joined twice.")
    if (np.diff(array[:, 2]) < 0).any():
        raise ValueError(f"`{name}` must have heights (column 2) that never fall.")
    return array


def as_numbers(values: ArrayLike, name: str) -> FloatArray:
    """Float64 array; anything that is not a table of real numbers is a `TypeError` or `ValueError`."""
    if hasattr(values, "toarray"):
        raise TypeError(f"`{name}` must be dense, got a sparse {type(values).__name__}; use `{name}.toarray()`.")
    check_not_path(values, name)
    values = as_pandas(values)
    columns = column_names(values)
    if columns is not None:
        return frame_numbers(values, name, columns)
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"`{name}` must be a rectangular table, but its rows have different lengths.") from error
    if array.dtype.kind not in "iuf":
        kind = {"b": "bool", "c": "complex", "U": "str", "S": "bytes", "M": "datetime", "m": "timedelta"}
        raise TypeError(
            f"`{name}` must hold real numbers, got dtype {kind.get(array.dtype.kind, array.dtype.name)}; "
            f"convert it first, for example with `np.asarray({name if name.isidentifier() else 'x'}, dtype=float)`."
        )
    if array.dtype.kind in "iu":
        check_whole_numbers(array, name)
    return np.array(array, dtype=np.float64, order="C")


def check_not_path(values: object, name: str) -> None:
    """Refuse the name of a file where data are needed."""
    if isinstance(values, str | os.PathLike):
        raise TypeError(
            f"`{name}` must hold real numbers, got the text {str(values)!r}. A file is read first, as by pandas; "
            'paths of Parquet files go to `energy_test`, `dispersion`, `disco` and clustering with algorithm="nystrom".'
        )


def frame_numbers(frame: Any, name: str, columns: Sequence[str]) -> FloatArray:
    """Numbers of a pandas object, missing values as NaN."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

    dtypes = frame.dtypes if frame.ndim == 2 else [frame.dtype]
    bad = [
        f"{column!r} ({dtype})"
        for column, dtype in zip(columns, dtypes, strict=True)
        if not is_numeric_dtype(dtype) or is_bool_dtype(dtype) or is_complex_dtype(dtype)
    ]
    if bad:
        raise TypeError(
            f"`{name}` must hold real numbers, but these columns do not: {', '.join(bad)}. Leave them out, or make "
            'numbers of them (of dates, days since one of them); metric="gower" takes categories and truth values.'
        )
    array = np.array(frame.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64, order="C")
    check_whole_numbers(array.reshape(len(array), len(columns))[:, [is_integer_dtype(dtype) for dtype in dtypes]], name)
    return array


def check_whole_numbers(array: Any, name: str) -> None:
    """Refuse whole numbers that floating-point numbers cannot tell apart."""
    known = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    rounded = array.dtype.kind == "f"  # 2**53 may have been one more
    if known.size and max(int(known.max()), -int(known.min())) > LARGEST_INTEGER - rounded:
        raise ValueError(
            f"`{name}` holds whole numbers beyond 2**53, which are not exact as floating-point numbers; "
            "subtract a common offset first."
        )


def as_pandas(values: Any) -> Any:
    """The pandas form of a table or column of another library (Polars, PyArrow); anything else as it is."""
    if hasattr(values, "iloc") or not hasattr(values, "to_pandas"):
        return values
    return values.to_pandas()


def column_names(values: object) -> list[str] | None:
    """Column names of a pandas object, None for anything else."""
    if not is_pandas(values):
        return None
    if hasattr(values, "columns"):
        return [name_text(c) for c in values.columns]
    name = getattr(values, "name", None)
    return ["x" if name is None else name_text(name)]


def is_pandas(values: object) -> bool:
    """Whether something is a DataFrame or a Series."""
    return hasattr(values, "to_numpy") and hasattr(values, "index") and hasattr(values, "iloc")


def name_text(name: object) -> str:
    """Name of a row or column; the levels of a MultiIndex with commas between them."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def label_name(labels: object) -> str:
    """Name of a Series or of the only column of a frame; empty for anything else."""
    if is_pandas(labels) and hasattr(labels, "columns"):
        return name_text(labels.columns[0]) if len(labels.columns) == 1 else ""
    name = getattr(labels, "name", None) if is_pandas(labels) else None
    return "" if name is None else name_text(name)


def row_index(values: object) -> Any:
    """Copy of the index of the rows of a pandas object, None for anything else."""
    return values.index.copy() if is_pandas(values) else None  # type: ignore[attr-defined]


def matrix_index(values: object) -> Any:
    """Index of the items of a square data frame, from its rows or its columns; None where both only count."""
    values = as_pandas(values)
    if row_names(values) is None:
        return None
    numbered = [str(i) for i in range(len(values))]  # type: ignore[arg-type]
    rows = [name_text(label) for label in values.index]  # type: ignore[attr-defined]
    return (values.columns if rows == numbered else values.index).copy()  # type: ignore[attr-defined]


def names_of(index: Any) -> tuple[str, ...] | None:
    """Entries of an index as texts; None without one, or where it only counts the rows."""
    if index is None:
        return None
    names = tuple(name_text(label) for label in index)
    return None if names == tuple(map(str, range(len(names)))) else names


def check_finite(array: FloatArray, name: str, columns: Sequence[str] | None) -> None:
    """Raise when a value is NaN or infinite, or so large that its square overflows."""
    finite = np.isfinite(array)
    if not finite.all():
        nans = int(np.isnan(array).sum())
        found = [f"{nans} NaN"] * (nans > 0)
        if infinities := int((~finite).sum()) - nans:
            found.append(f"{infinities} infinite")
        where = ""
        if array.ndim == 2:
            bad = np.flatnonzero(~finite.all(axis=0))
            labels = [columns[j] if columns else str(j) for j in bad[:10]]
            where = f" in column{'s' * (bad.size > 1)} {', '.join(labels)}{', ...' * (bad.size > 10)}"
        raise ValueError(
            f"`{name}` must be finite, but has {' and '.join(found)} values{where}; drop or impute those rows first."
        )
    largest = float(np.abs(array).max())
    if largest > LARGEST:
        raise ValueError(f"`{name}` must not exceed {LARGEST:g} in size, got {largest:.3g}; rescale it.")


def check_finite_pairs(array: FloatArray, name: str, places: Places) -> None:
    """`check_finite` for a square matrix: which pair, and which parts of a graph no path connects."""
    if np.isnan(array).any():
        i, j = map(int, np.argwhere(np.isnan(array))[0])
        count = int(np.isnan(array).sum())
        raise ValueError(
            f"`{name}` must be finite, but has {count} NaN values, the first in entry {places.entry(i, j)}; "
            "drop or impute them."
        )
    if np.isinf(array).any():
        from scipy.sparse.csgraph import connected_components

        count, component = connected_components(np.isfinite(array), directed=False)
        if count == 1 or np.isinf(array[component[:, None] == component[None, :]]).any():
            i, j = map(int, np.argwhere(np.isinf(array))[0])
            raise ValueError(f"`{name}` must be finite, but entry {places.entry(i, j)} is {array[i, j]}.")
        parts = [[places.item(int(i)) for i in np.flatnonzero(component == c)] for c in range(min(count, 5))]
        shown = ", ".join("{" + ", ".join(p[:6]) + ", ..." * (len(p) > 6) + "}" for p in parts)
        raise ValueError(
            f"`{name}` must be finite, but no path connects these {count} components: {shown}{', ...' * (count > 5)}; "
            "analyse each of them alone, or put a finite number between them."
        )
    check_finite(array, name, None)


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


def check_same_index(X: Any, labels: Any, name: str) -> None:
    """Labels and rows that both carry an index must carry the same one: rows are matched by position."""
    if column_names(X) is None or column_names(labels) is None or len(X) != len(labels):
        return
    if not X.index.equals(labels.index):
        by_position = "`data.set_index(X.index)`" if name == "data" else f"`{name}.to_numpy()`"
        raise ValueError(
            f"`{name}` must have the index of the table, row by row; align it (`{name}.loc[X.index]`), or match rows "
            f"by position with {by_position}."
        )


def check_same_rows(tables: Sequence[Any], name: str) -> None:
    """Rows of tables that are matched by position: names that they share must stand in the same rows."""
    first, *others = (as_pandas(table) for table in tables)
    for other in others:
        if column_names(first) is None or column_names(other) is None or len(first) != len(other):
            continue
        unequal = np.array([a != b for a, b in zip(first.index, other.index, strict=True)], dtype=bool)
        moved = unequal & first.index.isin(other.index)
        if moved.any():
            raise ValueError(
                f"{name} are matched row by row, but the row {first.index[int(moved.argmax())]!r} stands in another "
                "place of the second; bring them into one order (`second.loc[first.index]`), or match by position with "
                "`.to_numpy()`."
            )


def as_labels(labels: Any, n: int, name: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Codes 0..k-1 and the sorted names (a categorical keeps the order of its categories)."""
    import pandas as pd

    labels = as_pandas(labels)
    if isinstance(labels, pd.DataFrame) and labels.shape[1] == 1:
        labels = labels.iloc[:, 0]  # so that a categorical keeps its order
    if is_single(labels):
        hint = "labels found from the same data belong to `cluster_test`"
        if isinstance(labels, str):
            hint = f"give the column itself, such as `data[{labels!r}]`"
        raise TypeError(f"`{name}` must be one label a row, got {type(labels).__name__}; {hint}.")
    masked = int(np.ma.getmaskarray(labels).sum()) if isinstance(labels, np.ma.MaskedArray) else 0
    if masked:
        raise ValueError(f"`{name}` must not be missing, but {masked} of {labels.size} labels are masked.")
    if isinstance(getattr(labels, "dtype", None), pd.CategoricalDtype):
        categories = pd.Categorical(labels).remove_unused_categories()
        codes, names = np.asarray(categories.codes), list(categories.categories)
        missing = codes < 0
    else:
        try:
            array = np.asarray(labels if hasattr(labels, "dtype") else without_coercion(labels))
        except ValueError as error:
            raise ValueError(f"`{name}` must be one label a row, but its entries have different lengths.") from error
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise ValueError(f"`{name}` must be one-dimensional, got shape {array.shape}.")
        missing = np.asarray(pd.isna(array))
        try:
            values, codes = np.unique(array[~missing], return_inverse=True)
        except TypeError as error:
            raise TypeError(f"`{name}` mixes labels that cannot be sorted, such as numbers and text.") from error
        names = list(pd.Index(values)) if values.dtype.kind in "mM" else values.tolist()
    if len(codes) != n and not missing.any():
        raise ValueError(f"`{name}` must have one label for each of the {n} rows, got {len(codes)}.")
    if missing.any():
        raise ValueError(f"`{name}` must not be missing, but {int(missing.sum())} of {missing.size} labels are.")
    return np.asarray(codes, dtype=np.intp), tuple(names)


def is_single(labels: object) -> bool:
    """Whether something is no sequence of labels: a number, a word, a collection without order, a stream."""
    unordered = isinstance(labels, str | bytes | set | frozenset | dict) or not hasattr(labels, "__len__")
    return unordered or getattr(labels, "ndim", 1) == 0


def without_coercion(labels: Any) -> Any:
    """Labels from a list with both text and numbers, kept apart: numpy alone would turn 1 and "1" into one."""
    entries = list(labels)
    texts = sum(isinstance(entry, str) for entry in entries)
    return np.array(entries, dtype=object) if 0 < texts < len(entries) else entries


def as_weights(weights: ArrayLike | None, n: int, name: str) -> FloatArray:
    """Positive weights of shape (n,); ones when None."""
    if weights is None:
        return np.ones(n)
    array = as_numbers(weights, name)
    if array.shape != (n,):
        raise ValueError(f"`{name}` must have shape ({n},), got {array.shape}.")
    check_finite(array, name, None)
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive, got {array.min():.6g} at position {int(array.argmin())}.")
    if not SMALLEST_WEIGHT < array.max() < 1 / SMALLEST_WEIGHT:
        raise ValueError(f"`{name}` must not be that small or large, its largest is {array.max():.3g}; rescale it.")
    return array


def as_cluster_weights(weights: ArrayLike | None, n: int, name: str) -> FloatArray | None:
    """Weights whose sums keep the smallest of them; None for none, and for equal ones of 1."""
    if weights is None:
        return None
    array = as_weights(weights, n, name)
    if array.max() > WEIGHT_RATIO * array.min():
        raise ValueError(
            f"`{name}` must not differ by more than a factor {WEIGHT_RATIO:g}, got {array.min():.3g} to "
            f"{array.max():.3g}; leave out points that hardly count."
        )
    return None if (array == 1).all() else array


def check_jobs(n_jobs: object) -> int:
    """Number of threads; None is one, -1 all processors."""
    if n_jobs is None:
        return 1
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return os.cpu_count() or 1
    if isinstance(n_jobs, numbers.Integral) and n_jobs < 1:
        raise ValueError(f"`n_jobs` must be at least 1, or -1 for all processors, got {n_jobs}.")
    return check_count(n_jobs, "n_jobs", low=1)


def check_flag(value: object, name: str) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, got {value!r} of type {type(value).__name__}.")


def check_count(value: object, name: str, *, low: int, high: int | None = None, why: str = "") -> int:
    """Whole number between low and high."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"`{name}` must be a whole number, got {value!r} of type {type(value).__name__}.")
    number = int(value)
    if number < low:
        raise ValueError(f"`{name}` must be at least {low}, got {number}.")
    if high is not None and number > high:
        raise ValueError(f"`{name}` must be at most {high}{why}, got {number}.")
    return number


def check_alpha(alpha: object) -> float:
    """0 < alpha <= 2."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.integer | np.floating):
        raise TypeError(f"`alpha` must be a number, got {alpha!r} of type {type(alpha).__name__}.")
    if not 0 < alpha <= 2:
        raise ValueError(f"`alpha` must satisfy 0 < alpha <= 2, got {alpha:g}.")
    return float(alpha)


def check_positive(value: object, name: str) -> float:
    """A positive finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"`{name}` must be a number, got {value!r} of type {type(value).__name__}.")
    if not 0 < value < np.inf:
        raise ValueError(f"`{name}` must be positive and finite, got {value:g}.")
    return float(value)


def check_option(value: object, name: str, options: Sequence[str]) -> None:
    """One of a few words."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a string, one of {', '.join(options)}; got {type(value).__name__}.")
    if value not in options:
        raise ValueError(f"`{name}` must be one of {', '.join(options)}; got {value!r}.{near_names(value, options)}")


def near_names(name: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' with the known names that look like `name`, or nothing."""
    near = difflib.get_close_matches(name.lower(), {k.lower(): k for k in known}, n=3)
    by_lower = {k.lower(): k for k in known}
    return f" Did you mean {' or '.join(repr(by_lower[k]) for k in near)}?" if near else ""


def children(rng: np.random.Generator, count: int) -> Iterator[np.random.Generator]:
    """Those of `rng.spawn(count)`, made one by one, so that their number costs no memory."""
    for _ in range(count):
        yield from rng.spawn(1)


def as_generator(rng: RandomLike | np.random.RandomState, name: str = "rng") -> np.random.Generator:
    """Generator from a seed, a Generator, a legacy RandomState or None (SPEC 7)."""
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**31, size=4))
    if isinstance(rng, bool):
        raise TypeError(f"`{name}` must be a seed, a numpy Generator or None, got {rng!r}.")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"`{name}` must be a seed (whole number >= 0), a numpy Generator or None, got {rng!r}."
        ) from error
