"""Tables of numbers as arrays: every check of their values, with errors that name argument, rule and value."""

from __future__ import annotations

import numbers
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from energystats._typing import AnyArray, FloatArray
from energystats.inputs.options import check_positive
from energystats.inputs.table import InputTable, as_table, masked_in

__all__ = [
    "COARSER",
    "DIVIDE",
    "EPS",
    "LARGEST",
    "ROUNDING",
    "SMALL_SHARE",
    "as_array",
    "as_numbers",
    "as_points",
    "as_weights",
    "check_dense",
    "check_finite",
    "check_level",
    "check_likeness",
    "check_not_path",
    "check_whole_numbers",
    "digits_of",
    "doubles_of",
    "names_of_dtypes",
    "numbers_of_objects",
    "read_only",
]


EPS = float(np.finfo(np.float64).eps)
LISTED = 20  # columns in a message
LARGEST = 1e150  # squared differences of larger numbers overflow
LARGEST_INTEGER = 2**53
SUBTRACT = "subtract a common whole number first (a mean is rounded)"  # from coordinates
DIVIDE = "divide all by one number"  # weights and dissimilarities, which have a meaning up to a factor
WEIGHT_RATIO = 1e9
ROUNDING = 1e-8, 1e-6  # see `differing`
COARSER = {"float32": (1e-4, 1e-2), "float16": (4e-3, 1e-2)}  # of numbers made with fewer digits
OF_ARROW = {"float[pyarrow]": "float32", "halffloat[pyarrow]": "float16"}  # which calls doubles double
SMALL_SHARE = 0.1  # of the entries are smaller than those that rounding is measured against
SMALLEST_LEVEL = 1e-9  # 1e9 draws for one p-value
SMALLEST_WEIGHT = 1e-70  # products of weights must keep their digits


def as_points(values: Any, name: str) -> FloatArray:
    """Convert a table of finite numbers to a float array of shape (n, d), or (n, 1) if one-dimensional."""
    table = as_table(values)
    array = as_numbers(table, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"`{name}` must have shape (n,) or (n, d), got {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` must have at least one row and one column, got shape {array.shape}.")
    check_finite(array, name, table.columns)
    return array


def digits_of(values: Any) -> tuple[tuple[float, float], float]:
    """Return rounding tolerances for a table, and the spacing of its coarsest floats at 1, from its data types."""
    # single and half precision round coarser than the doubles they are read as
    found = names_of_dtypes(values) & COARSER.keys()
    return max(((COARSER[kind], float(np.finfo(kind).eps)) for kind in found), default=(ROUNDING, EPS))


def names_of_dtypes(values: Any) -> set[str]:
    """Return the NumPy names of the types of a table's columns."""
    table = as_table(values)
    values = table.values
    if table.is_pandas:
        dtypes = values.dtypes if values.ndim == 2 else [values.dtype]
    elif isinstance(values, list | tuple):
        dtypes = [row.dtype for row in values if hasattr(row, "dtype")]
    else:
        sparse = hasattr(values, "toarray")
        dtypes = [values.dtype if sparse else np.asarray(values).dtype] if hasattr(values, "dtype") else []
    names = {str(dtype).lower() for dtype in dtypes}
    return {OF_ARROW.get(name, name) for name in names}


def read_only(array: AnyArray) -> AnyArray:
    """Return a read-only copy of an array, or the array itself if it is read-only."""
    if not array.flags.writeable:
        return array
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


def as_numbers(values: Any, name: str, *, cure: str = SUBTRACT) -> FloatArray:
    """Convert a table of real numbers to a float64 array, missing values to NaN; raise TypeError for other data.

    `cure` says what to do with whole numbers beyond 2**53, for the error message.
    """
    table = as_table(values)
    if table.is_pandas:
        return _frame_numbers(table, name, cure)
    check_dense(table.values, name)
    check_not_path(table.values, name)
    array = as_array(table, name)
    if array.dtype.kind not in "iuf":
        kind = {"b": "bool", "c": "complex", "U": "str", "S": "bytes", "M": "datetime", "m": "timedelta"}
        shown = name if name.isidentifier() else "x"
        # a cast would drop imaginary parts, and count the time in a unit that nobody sees
        how = {
            "c": f"np.abs({shown})",
            "M": f"({shown} - {shown}.min()) / np.timedelta64(1, 'D')",
            "m": f"{shown} / np.timedelta64(1, 'D')",
        }.get(array.dtype.kind, f"np.asarray({shown}, dtype=float)")
        raise TypeError(
            f"`{name}` must hold real numbers, got dtype {kind.get(array.dtype.kind, array.dtype.name)}; "
            f"convert it first, for example with `{how}`."
        )
    # before they become doubles, which would round them without a word
    known = array.compressed() if isinstance(array, np.ma.MaskedArray) else array
    if array.dtype.kind in "iu":
        check_whole_numbers(known, name, cure)
    elif array.dtype.itemsize > 8 or isinstance(table.values, list | tuple):
        _check_wider(known, table.values, name, cure)
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return np.array(array, dtype=np.float64, order="C")


def as_array(values: Any, name: str) -> AnyArray:
    """Convert a table without column names to an array; masked arrays stay masked, masked list entries become NaN.

    `numpy.asarray` would take the numbers under the mask.
    """
    try:
        array = np.asanyarray(as_table(values).values)
    except ValueError as error:
        raise ValueError(f"`{name}` must be a rectangular table, but its rows have different lengths.") from error
    return array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


def numbers_of_objects(values: AnyArray, name: str) -> FloatArray:
    """Convert an array of Python objects to floats, None and masked entries to NaN."""
    absent = np.array([value is None for value in values.ravel()], dtype=bool).reshape(values.shape) | masked_in(values)
    for value in np.asarray(values)[~absent]:
        if isinstance(value, bool | np.bool_):
            raise TypeError(
                f"`{name}` must hold real numbers, got {value} of type bool; make truth values 0 and 1 first, as by "
                "`X.astype(float)`."
            )
        if not isinstance(value, numbers.Real):
            raise TypeError(
                f"`{name}` must hold real numbers, got {value!r:.60} of type {type(value).__name__}; the argument must "
                "be without strings, dates and whatever else is no number."
            )
        if isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST_INTEGER:
            raise ValueError(_beyond_exact(name))
    return np.where(absent, np.nan, values).astype(np.float64)


def check_dense(values: object, name: str) -> None:
    """Raise TypeError for data that are no dense table, such as a sparse matrix or a dict."""
    code = name if name.isidentifier() else "x"  # of the samples 1, 2, ... nobody knows the names
    if hasattr(values, "toarray"):
        raise TypeError(f"`{name}` must be dense, got a sparse {type(values).__name__}; use `{code}.toarray()`.")
    if isinstance(values, dict) or getattr(getattr(values, "dtype", None), "names", None):
        kind = "a dict" if isinstance(values, dict) else "an array of records"
        raise TypeError(
            f"`{name}` must hold real numbers, got {kind}; make a table of it with `pandas.DataFrame({code})`."
        )
    if type(values).__name__ == "LazyFrame" and hasattr(values, "collect"):
        raise TypeError(f"`{name}` must hold real numbers, got a LazyFrame; compute it first: `{code}.collect()`.")


def check_not_path(values: object, name: str) -> None:
    """Raise TypeError if a file name is given where data are needed."""
    if isinstance(values, str | os.PathLike):
        raise TypeError(
            f"`{name}` must hold real numbers, got the text {str(values)!r}. A file is read first, as by pandas; "
            "paths of Parquet files go to `energy_test`, `energy_interval`, `dispersion`, `disco` and clustering with "
            'algorithm="landmarks".'
        )


def _frame_numbers(table: InputTable, name: str, cure: str) -> FloatArray:
    """Convert a pandas object to a float array, missing values to NaN; raise TypeError for non-numeric columns."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    frame, columns = table.values, table.columns or ()
    dtypes = frame.dtypes if frame.ndim == 2 else [frame.dtype]
    bad = [
        f"{column!r} ({dtype})"
        for column, dtype in zip(columns, dtypes, strict=True)
        if not is_numeric_dtype(dtype) or is_bool_dtype(dtype) or is_complex_dtype(dtype)
    ]
    if len(bad) == len(columns) > 0 and all(map(is_bool_dtype, dtypes)):
        raise TypeError(
            f"`{name}` must hold real numbers, but all {len(bad)} columns hold truth values: take 0 and 1, as by "
            '.astype(int), or a metric of presence and absence, such as metric="jaccard".'
        )
    if bad:
        bad = [*bad[:LISTED], "..."] if len(bad) > LISTED else bad
        raise TypeError(
            f"`{name}` must hold real numbers, but these columns do not: {', '.join(bad)}. Leave them out, or make "
            "numbers of them (of dates, days since one of them); of a table in memory "
            'metric="gower" takes categories and truth values.'
        )
    return doubles_of(frame, name, cure)


def doubles_of(values: Any, name: str, cure: str = SUBTRACT) -> FloatArray:
    """Convert pandas numbers or truth values to floats, missing ones to NaN; raise for whole numbers beyond 2**53."""
    from pandas.api.types import is_integer_dtype

    array = np.array(values.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64, order="C")
    if any(getattr(dtype, "itemsize", 8) > 8 and dtype.kind == "f" for dtype in np.atleast_1d(values.dtypes)):
        _check_wider(values.to_numpy(dtype=np.longdouble, na_value=np.nan), values, name, cure)
    # decimals of Arrow are whole numbers at that size, or have digits that no double holds
    dtypes = values.dtypes if values.ndim == 2 else [values.dtype]
    whole = [is_integer_dtype(dtype) or str(dtype).startswith("decimal") for dtype in dtypes]
    if any(whole):
        # whole numbers are doubles by now, so that 2**53 may have been one more
        columns = array.reshape(len(array), len(whole))
        for j in np.flatnonzero(whole):
            where = f" in column {values.columns[j]!r}" if values.ndim == 2 else ""
            check_whole_numbers(columns[:, j], name, cure, where=where)
    return array


def check_whole_numbers(array: Any, name: str, cure: str = SUBTRACT, hint: str = "", *, where: str = "") -> None:
    """Raise ValueError if an array has whole numbers beyond 2**53, which floats cannot represent exactly."""
    known = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    rounded = array.dtype.kind == "f"  # 2**53 may have been one more
    if known.size and max(int(known.max()), -int(known.min())) > LARGEST_INTEGER - rounded:
        raise ValueError(_beyond_exact(name, cure + hint, where))


def _check_wider(array: AnyArray, values: Any, name: str, cure: str) -> None:
    """Raise ValueError if whole numbers beyond 2**53 lost digits in conversion to floats."""
    if not array.size or not (np.abs(array) > LARGEST_INTEGER).any():
        return
    if array.dtype.itemsize > 8:
        large = array[np.isfinite(array) & (np.abs(array) > LARGEST_INTEGER)]
        rounded = (large == np.rint(large)) & (large != large.astype(np.float64))
    else:
        entries = np.array(values, dtype=object).ravel()
        rounded = [isinstance(entry, numbers.Integral) and abs(int(entry)) > LARGEST_INTEGER for entry in entries]
    if np.any(rounded):
        raise ValueError(_beyond_exact(name, cure))


def _beyond_exact(name: str, cure: str = SUBTRACT, where: str = "") -> str:
    """Return the error message for whole numbers beyond 2**53, with advice."""
    what = f"whole numbers beyond 2**53{where}, which are not exact as floating-point numbers"
    return f"`{name}` holds {what}; {cure}."


def check_finite(array: FloatArray, name: str, columns: Sequence[str] | None) -> None:
    """Raise ValueError if an array has NaN, infinite values, or values whose squares overflow."""
    low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)  # a NaN is both
    if not np.isfinite([low, high]).all():
        finite = np.isfinite(array)
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
    # distances are squared, so that numbers whose squares overflow would be infinitely far apart
    largest = max(-low, high)
    if largest > LARGEST:
        raise ValueError(f"`{name}` must not exceed {LARGEST:g} in size, got {largest:.3g}; rescale it.")


def as_weights(weights: Any, n: int, name: str) -> FloatArray | None:
    """Check that weights are positive, and return them as floats (n,); None if none are given or all are 1."""
    if weights is None:
        return None
    array = as_numbers(weights, name, cure=DIVIDE)
    if array.shape != (n,):
        raise ValueError(f"`{name}` must have shape ({n},), got {array.shape}.")
    check_finite(array, name, None)
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive, got {array.min():.6g} at position {int(array.argmin())}.")
    check_likeness(array, name, "leave out points that hardly count")
    # equal weights of 1 take the routes without weights, which count in whole numbers
    return None if (array == 1).all() else array


def check_likeness(weights: FloatArray, name: str, advice: str) -> None:
    """Raise ValueError if positive weights differ by more than a factor of 1e9, or the largest is far from 1."""
    smallest, largest = float(weights.min()), float(weights.max())
    if not SMALLEST_WEIGHT < largest < 1 / SMALLEST_WEIGHT:
        raise ValueError(f"`{name}` must not be that small or large, its largest is {largest:.3g}; rescale it.")
    if largest > WEIGHT_RATIO * smallest:
        raise ValueError(
            f"`{name}` must not differ by more than a factor {WEIGHT_RATIO:g}, got {smallest:.3g} to {largest:.3g}; "
            f"{advice}."
        )


def check_level(level: object) -> float:
    """Check a significance level, from 1e-9 to below 1, and return it as a float."""
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
