"""The checks at the door. Each returns clean arrays or raises an error that names argument, rule and value."""

from __future__ import annotations

import difflib
import functools
import itertools
import numbers
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from energystats._typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, RandomLike

__all__ = [
    "Places",
    "as_array",
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
    "check_level",
    "check_likeness",
    "check_not_path",
    "check_option",
    "check_positive",
    "check_same_columns",
    "check_same_index",
    "check_same_rows",
    "children",
    "column_names",
    "differing",
    "digits_of",
    "in_memory",
    "is_single",
    "joint_index",
    "label_name",
    "labels_of",
    "largest_skew",
    "mark_found",
    "masked_in",
    "matrix_index",
    "name_text",
    "names_of",
    "near_names",
    "numbers_of_objects",
    "position_of",
    "read_only",
    "refuse_keyword",
    "row_index",
    "row_names",
    "small_entry",
    "were_found",
    "without_masks",
]

P = ParamSpec("P")
R = TypeVar("R")
EPS = float(np.finfo(np.float64).eps)
LARGEST = 1e150  # squared differences of larger numbers overflow
LARGEST_INTEGER = 2**53
WEIGHT_RATIO = 1e9
FOUND = "energystats: found from data"  # key among the attributes of a Series of labels
SMALLEST_ALPHA = 1e-3  # a power of .001 brings distances that differ by a factor 1000 within .7 %
ROUNDING = 1e-8, 1e-6  # see `differing`
COARSER = {"float32": (1e-4, 1e-2), "float16": (4e-3, 1e-2)}  # of numbers made with fewer digits
SMALL_SHARE = 0.1  # of the entries are smaller than those that rounding is measured against
SAMPLED_ROWS = 1024  # from which that size is taken
SKEW_ENTRIES = 2**22  # of a matrix that are compared at a time
SMALLEST_LEVEL = 1e-9  # 1e9 draws for one p-value
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
    array, (rounding, _) = as_numbers(values, name), digits_of(values)
    if array.ndim == 1:
        n = (1 + int(np.sqrt(1 + 8 * array.size))) // 2
        if array.size == 0 or n * (n - 1) // 2 != array.size:
            raise ValueError(
                f"`{name}` as a condensed vector must have n(n - 1)/2 entries for a whole number n, got {array.size}."
            )
        full = np.asarray(squareform(array, checks=False))
        check_finite_pairs(full, name, places)
        return full
    square = symmetrized(array, name, places, rounding)
    diagonal = np.abs(np.diagonal(array))
    if diagonal.any() and differing(diagonal, np.zeros(1), small_entry(array), rounding).any():
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
    matrix, (rounding, eps) = as_numbers(values, name), digits_of(values)
    return symmetrized(matrix, name, Places(row_names(values)), rounding, lost=lost_in_sums(matrix, eps))


def digits_of(values: Any) -> tuple[tuple[float, float], float]:
    """Rounding, as in `differing`, and relative spacing of the numbers of a table as its user made them."""
    if column_names(values) is not None:
        dtypes = values.dtypes if values.ndim == 2 else [values.dtype]
    else:
        sparse = hasattr(values, "toarray")
        dtypes = [values.dtype if sparse else np.asarray(values).dtype] if hasattr(values, "dtype") else []
    found = {str(dtype).lower() for dtype in dtypes} & COARSER.keys()
    return max(((COARSER[kind], float(np.finfo(kind).eps)) for kind in found), default=(ROUNDING, EPS))


def symmetrized(
    array: FloatArray, name: str, places: Places, rounding: tuple[float, float] = ROUNDING, *, lost: float = 0.0
) -> FloatArray:
    """The symmetric part of a square matrix that is symmetric but for rounding, and for what sums `lost`."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ValueError(f"`{name}` must be a square matrix, got shape {array.shape}.")
    check_finite_pairs(array, name, places)
    if (array == array.T).all():
        return array
    if (worst := largest_skew(array, rounding=rounding, lost=lost)) is not None:
        i, j = worst
        raise ValueError(
            f"`{name}` must be symmetric, but entry {places.entry(i, j)} is {array[i, j]:.6g} and {places.entry(j, i)} "
            f"is {array[j, i]:.6g}, a difference of {abs(array[i, j] - array[j, i]):.3g}, the largest; "
            f"({name} + {name}.T)/2 would be."
        )
    return 0.5 * (array + array.T)


def refuse_keyword(keyword: str, message: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Answer a keyword that a function does not take, and that users of other tests try, with advice."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if keyword in kwargs:
                raise TypeError(message)
            return function(*args, **kwargs)

        return checked

    return decorate


def small_entry(array: FloatArray, share: float = SMALL_SHARE) -> float:
    """Size of a small entry of a square matrix beside the diagonal: a quantile of those that are not 0.

    Rounding is measured against it. The largest entry would not do: one that stands for "no path" or "unknown", such as
    1e12, would excuse any difference among the others.
    """
    n = len(array)
    rows = np.unique(np.linspace(0, n - 1, SAMPLED_ROWS).astype(np.intp)) if n > SAMPLED_ROWS else np.arange(n)
    sizes = np.abs(array[rows])
    sizes[np.arange(rows.size), rows] = 0.0
    sizes = sizes[sizes > 0]
    return float(np.quantile(sizes, share, method="lower")) if sizes.size else 0.0


def differing(
    a: FloatArray,
    b: FloatArray,
    scale: float | FloatArray,
    rounding: tuple[float, float] = ROUNDING,
    *,
    lost: float = 0.0,
) -> BoolArray:
    """Which pairs of numbers differ by more than rounding, where numbers of the size `scale` were added to make them.

    The first of `rounding` is what two numbers may differ by, a share of the larger and of the scale: x.x + y.y - 2x.y
    keeps no more of a small result. The second is the share of the scale up to which both are 0: distances are roots,
    and the root of 1e-15 is 3e-8. Differences up to `lost` do not count either.
    """
    tolerance, nothing = rounding
    larger = np.maximum(np.abs(a), np.abs(b))
    return np.asarray((np.abs(a - b) > np.maximum(tolerance * (larger + scale), lost)) & (larger > nothing * scale))


def lost_in_sums(array: FloatArray, eps: float) -> float:
    """Size up to which differences vanish in the rounding of every sum over a matrix: a kernel is centred by them."""
    if array.size == 0:
        return 0.0
    return 8 * eps * float(np.abs(array).max())


def largest_skew(
    array: FloatArray, share: float = SMALL_SHARE, rounding: tuple[float, float] = ROUNDING, *, lost: float = 0.0
) -> tuple[int, int] | None:
    """Where a square matrix is least symmetric; None where rounding, or what its sums `lost`, explains all differences.

    An entry of a kernel is an inner product, whose rounding is a share of the lengths, the roots of the diagonal.
    """
    scale, lengths = small_entry(array, share), np.sqrt(np.abs(np.diagonal(array)))
    height = max(1, SKEW_ENTRIES // len(array))
    found, largest = None, 0.0
    for start in range(0, len(array), height):
        rows = slice(start, start + height)
        upper, lower = array[rows], array[:, rows].T
        differ = differing(upper, lower, np.maximum(scale, lengths[rows, None] * lengths), rounding, lost=lost)
        skew = np.where(differ, np.abs(upper - lower), 0.0)
        if skew.max() > largest:
            i, j = np.unravel_index(int(skew.argmax()), skew.shape)
            found, largest = (start + int(i), int(j)), float(skew.max())
    return found


def read_only(array: AnyArray) -> AnyArray:
    """The same array if nobody can change it, else a copy: this may be the user's, or a view of a larger one."""
    if not array.flags.writeable:
        return array
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


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
    array = as_array(values, name)
    if array.dtype.kind not in "iuf":
        kind = {"b": "bool", "c": "complex", "U": "str", "S": "bytes", "M": "datetime", "m": "timedelta"}
        raise TypeError(
            f"`{name}` must hold real numbers, got dtype {kind.get(array.dtype.kind, array.dtype.name)}; "
            f"convert it first, for example with `np.asarray({name if name.isidentifier() else 'x'}, dtype=float)`."
        )
    if array.dtype.kind in "iu":
        check_whole_numbers(array.compressed() if isinstance(array, np.ma.MaskedArray) else array, name)
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return np.array(array, dtype=np.float64, order="C")


def as_array(values: Any, name: str) -> AnyArray:
    """NumPy's view of something that has no columns of its own; masked arrays stay so, and masks in lists become NaN.

    `numpy.asarray` would take the numbers under the mask.
    """
    try:
        array = np.asanyarray(without_masks(values))
    except ValueError as error:
        raise ValueError(f"`{name}` must be a rectangular table, but its rows have different lengths.") from error
    return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


def without_masks(values: Any) -> Any:
    """The same, or for a list that holds masked entries or arrays another one with NaN in their place."""
    if isinstance(values, list | tuple):
        return [unmasked(value) for value in values] if any(map(holds_mask, values)) else values
    if isinstance(values, np.ndarray) and values.dtype == object and not isinstance(values, np.ma.MaskedArray):
        hidden = masked_in(values)
        return np.where(hidden, np.nan, values) if hidden.any() else values
    return values


def numbers_of_objects(values: AnyArray, name: str) -> FloatArray:
    """Numbers of an array of Python objects, None and masked entries as NaN; scikit-learn's estimators take those."""
    absent = np.array([value is None for value in values.ravel()], dtype=bool).reshape(values.shape) | masked_in(values)
    for value in np.asarray(values)[~absent]:
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
            raise TypeError(
                f"`{name}` must hold real numbers, got {value!r:.60} of type {type(value).__name__}; the argument must "
                "be without strings, dates and whatever else is no number."
            )
        if isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST_INTEGER:
            raise ValueError(beyond_exact(name))
    return np.where(absent, np.nan, values).astype(np.float64)


def masked_in(values: Any) -> BoolArray:
    """Which entries of an array are masked, by its mask or because they are `numpy.ma.masked`."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(values))
    array = np.asarray(values)
    if array.dtype != object:
        return np.zeros(array.shape, dtype=bool)
    return np.array([value is np.ma.masked for value in array.ravel()], dtype=bool).reshape(array.shape)


def holds_mask(value: Any) -> bool:
    """Whether something is a masked array, or a list with one in it."""
    if isinstance(value, list | tuple):
        return any(map(holds_mask, value))
    return isinstance(value, np.ma.MaskedArray)


def unmasked(value: Any) -> Any:
    """An entry of a list, NaN for what is masked."""
    if isinstance(value, np.ma.MaskedArray):
        if not np.ma.is_masked(value):
            return value.data[()]
        found = np.ma.filled(value.astype(np.float64 if value.dtype.kind in "iuf" else object), np.nan)
        return found[()]
    return [unmasked(entry) for entry in value] if isinstance(value, list | tuple) else value


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
        raise ValueError(beyond_exact(name))


def beyond_exact(name: str) -> str:
    """What is said of whole numbers that are rounded."""
    return (
        f"`{name}` holds whole numbers beyond 2**53, which are not exact as floating-point numbers; subtract a common "
        "offset first."
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
    """Labels and rows that both carry an index must carry the same one: rows are matched by position.

    `X` is a table, or a tuple of samples that stand below each other.
    """
    labels = labels_of(labels, name)
    rows, own = index_at_hand(X), index_at_hand(labels)
    if rows is None or own is None or len(rows) != len(own) or have_same_names(rows, own):
        return
    taken = f"{name}.compute()" if hasattr(labels, "__dask_graph__") else name
    by_position = "`data.set_index(X.index)`" if name == "data" else f"`{taken}.to_numpy()`"
    align = f"align it (`{name}.loc[X.index]`), or match rows"
    if not rows.is_unique:
        align = (
            f"it cannot be aligned, because {rows[rows.duplicated()].tolist()[0]!r} stands in several rows: match them"
        )
    raise ValueError(f"`{name}` must have the index of the table, row by row; {align} by position with {by_position}.")


def have_same_names(rows: Any, own: Any) -> bool:
    """Compare two indices by their entries: Dask makes another type of text of names than pandas does."""
    return bool(rows.equals(own) or rows.astype(object).equals(own.astype(object)))


def index_at_hand(values: Any) -> Any:
    """Index of the rows of something of pandas or Dask, or of blocks of rows; None where they have no names."""
    if is_pandas(values):
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
    if len(parts) > 1 and all(names_of(part) is None for part in parts):
        return None
    return parts[0].append(list(parts[1:]))


def check_same_rows(tables: Sequence[Any], name: str) -> None:
    """Rows of tables that are matched by position: names that they share must stand in the same rows."""
    blocks = not is_pandas(tables[0]) and hasattr(tables[0], "row_index")  # samples that stand below each other
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


def mark_found(labels: Any) -> None:
    """Mark a Series of labels as found from data; the mark stays with copies, selections and conversions."""
    labels.attrs[FOUND] = True


def were_found(labels: Any) -> bool:
    """Recognise labels that a clustering found: its result, a fitted clusterer, or a Series made from a result.

    A bare array tells nothing of where it came from.
    """
    return holds_partition(labels) or hasattr(labels, "labels_") or bool(getattr(labels, "attrs", {}).get(FOUND))


def holds_partition(labels: Any) -> bool:
    """Recognise a result of this package that has a cluster for every point."""
    return hasattr(labels, "to_series") and isinstance(getattr(labels, "labels", None), np.ndarray)


def labels_of(labels: Any, name: str) -> Any:
    """Take the labels out of a clustering result or a fitted clusterer, with names of rows where it has any."""
    if holds_partition(labels):
        return labels.labels if labels.index is None else labels.to_series()
    if hasattr(labels, "labels_"):
        return labels.labels_
    if hasattr(labels, "fit_predict") and not isinstance(labels, type):
        raise TypeError(
            f"`{name}` must be one label a row, got {type(labels).__name__} that is not fitted; to ask whether the "
            "clusters it finds are there, pass it to `cluster_test(X, clusterer=...)`."
        )
    return labels


def as_labels(labels: Any, n: int, name: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Codes 0..k-1 and the sorted names (a categorical keeps the order of its categories)."""
    import pandas as pd

    labels = as_pandas(labels_of(labels, name))
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
        array = label_array(without_masks(labels), name)
        missing = np.asarray(pd.isna(array)) | masked_in(array)
        known = array[~missing]
        codes, names = coded_objects(known.tolist(), name) if array.dtype == object else coded_values(known)
    if len(codes) != n and not missing.any():
        raise ValueError(f"`{name}` must have one label for each of the {n} rows, got {len(codes)}.")
    if missing.any():
        raise ValueError(f"`{name}` must not be missing, but {int(missing.sum())} of {missing.size} labels are.")
    return np.asarray(codes, dtype=np.intp), tuple(names)


def is_single(labels: object) -> bool:
    """Whether something is no sequence of labels: a number, a word, a collection without order, a stream."""
    unordered = isinstance(labels, str | bytes | set | frozenset | dict) or not hasattr(labels, "__len__")
    return unordered or getattr(labels, "ndim", 1) == 0


def label_array(labels: Any, name: str) -> AnyArray:
    r"""Labels as an array in which none has changed: a list keeps its objects, of which numpy would make one type.

    So 1 and "1" stay two labels, as do "a" and "a\0", and whole numbers beyond 2**53 beside negative ones.
    """
    if hasattr(labels, "dtype") or hasattr(labels, "columns"):
        array = np.asarray(labels)
        array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    else:
        array = np.fromiter(unwrapped(list(labels), name), dtype=object, count=len(labels))
        kinds = set(map(type, array))
        if kinds in ({float}, {np.datetime64}, {np.timedelta64}):
            array = np.array(array.tolist())
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {array.shape}.")
    if array.dtype.kind == "V":
        raise TypeError(f"`{name}` must be one label a row, got records of {array.dtype}; give one field.")
    return array.astype(object) if array.dtype.kind == "c" else array


def unwrapped(entries: list[Any], name: str) -> list[Any]:
    """Labels of a list, where each may stand in a list of its own."""
    if not any(issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, entries))):
        return entries
    sizes = {
        len(entry) if isinstance(entry, list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim) else 0
        for entry in entries
    }
    if sizes == {1}:
        return [entry[0] for entry in entries]
    if len(sizes) > 1:
        raise ValueError(f"`{name}` must be one label a row, but its entries have different lengths.")
    if sizes - {0}:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {(len(entries), *sizes)}.")
    return entries


def coded_values(array: AnyArray) -> tuple[IntArray, list[Any]]:
    """Codes and sorted names of labels of one type of numpy."""
    import pandas as pd

    values, codes = np.unique(array, return_inverse=True)
    return codes.reshape(-1), list(pd.Index(values)) if values.dtype.kind in "mM" else values.tolist()


def coded_objects(entries: list[Any], name: str) -> tuple[IntArray, list[Any]]:
    """Codes and sorted names of labels that are Python objects: one label for what is equal and of one type."""
    if any(issubclass(kind, np.generic) for kind in set(map(type, entries))):
        entries = [plain_object(entry) if isinstance(entry, np.generic) else entry for entry in entries]
    found: dict[Any, int] = {}
    try:
        codes = np.array([found.setdefault(entry, len(found)) for entry in entries], dtype=np.intp)
    except TypeError as error:
        raise TypeError(
            f"`{name}` must have labels such as numbers or text, which can be compared: {error}."
        ) from error
    firsts = list(found)
    if len(kinds := set(map(type, entries))) > 1 or tuple in kinds:
        for entry, code in zip(entries, codes.tolist(), strict=True):
            if kind_of(entry) != kind_of(firsts[code]):
                raise ValueError(
                    f"`{name}` mixes {firsts[code]!r} and {entry!r}, which are of different types and equal to each "
                    "other; make them labels of one type, for example text."
                )
    try:
        names = sorted(firsts)
        ordered = all(bool(low < high) for low, high in itertools.pairwise(names))
    except TypeError as error:
        raise TypeError(f"`{name}` mixes labels that cannot be sorted, such as numbers and text.") from error
    if not ordered:
        kind = type(names[0]).__name__
        raise TypeError(f"`{name}` must have labels that can be sorted, got {kind} objects; make text of them.")
    place = np.empty(len(names), dtype=np.intp)
    place[[found[label] for label in names]] = np.arange(len(names))
    return place[codes], names


def plain_object(label: Any) -> Any:
    """Label of a type of Python or pandas in place of a scalar of numpy."""
    import pandas as pd

    if isinstance(label, np.datetime64 | np.timedelta64):
        return pd.Timestamp(label) if isinstance(label, np.datetime64) else pd.Timedelta(label)
    return label.item()


def position_of(label: Any, names: Sequence[Any]) -> int | None:
    """Place of a label among names, None where it is none of them; True is not 1."""
    label = plain_object(label) if isinstance(label, np.generic) else label
    same = (j for j, name in enumerate(names) if isinstance(name, bool) == isinstance(label, bool) and name == label)
    return next(same, None)


def kind_of(label: object) -> object:
    """Type of a label, and those of its parts, by which True differs from 1, and 1 from 1.0."""
    return tuple(map(kind_of, label)) if isinstance(label, tuple) else type(label)


def as_weights(weights: ArrayLike | None, n: int, name: str) -> FloatArray | None:
    """Positive weights of shape (n,) whose sums keep the smallest of them; None for none, and for equal ones of 1."""
    if weights is None:
        return None
    array = as_numbers(weights, name)
    if array.shape != (n,):
        raise ValueError(f"`{name}` must have shape ({n},), got {array.shape}.")
    check_finite(array, name, None)
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive, got {array.min():.6g} at position {int(array.argmin())}.")
    check_likeness(array, name, "leave out points that hardly count")
    return None if (array == 1).all() else array


def check_likeness(weights: FloatArray, name: str, advice: str) -> None:
    """Refuse positive weights so unlike that sums lose the smallest, or so far from 1 that products lose digits."""
    smallest, largest = float(weights.min()), float(weights.max())
    if not SMALLEST_WEIGHT < largest < 1 / SMALLEST_WEIGHT:
        raise ValueError(f"`{name}` must not be that small or large, its largest is {largest:.3g}; rescale it.")
    if largest > WEIGHT_RATIO * smallest:
        raise ValueError(
            f"`{name}` must not differ by more than a factor {WEIGHT_RATIO:g}, got {smallest:.3g} to {largest:.3g}; "
            f"{advice}."
        )


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
    """0 < alpha <= 2, and not so small that all distances become alike."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.integer | np.floating):
        raise TypeError(f"`alpha` must be a number, got {alpha!r} of type {type(alpha).__name__}.")
    if not 0 < alpha <= 2:
        raise ValueError(f"`alpha` must satisfy 0 < alpha <= 2, got {alpha:g}.")
    if alpha < SMALLEST_ALPHA:
        raise ValueError(
            f"`alpha` must be at least {SMALLEST_ALPHA:g}, got {alpha:g}: so small a power makes nearly all distances "
            "between different points equal, and what remains is which points coincide."
        )
    return float(alpha)


def check_positive(value: object, name: str) -> float:
    """A positive finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"`{name}` must be a number, got {value!r} of type {type(value).__name__}.")
    if not 0 < value < np.inf:
        raise ValueError(f"`{name}` must be positive and finite, got {value:g}.")
    return float(value)


def check_level(level: object) -> float:
    """A level below 1 that p-values can reach: the smallest of n draws is 1/(n + 1)."""
    found = check_positive(level, "level")
    if not found < 1:
        raise ValueError(f"`level` must lie below 1, got {found:g}.")
    if found < SMALLEST_LEVEL:
        draws = 1 / max(found, sys.float_info.min)
        raise ValueError(
            f"`level` must be at least {SMALLEST_LEVEL:g}, got {found:g}: no p-value is that small without {draws:.0e} "
            "draws or more."
        )
    return found


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
    """Generator from a seed, a Generator, a legacy RandomState or None (SPEC 7).

    A SeedSequence is copied: it counts its children, so that a second call with it would get other ones.
    """
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**31, size=4))
    if isinstance(rng, np.random.SeedSequence):
        rng = np.random.SeedSequence(**rng.state)
    if isinstance(rng, bool):
        raise TypeError(f"`{name}` must be a seed, a numpy Generator or None, got {rng!r}.")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"`{name}` must be a seed (whole number >= 0), a numpy Generator or None, got {rng!r}."
        ) from error
