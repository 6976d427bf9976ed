"""Square matrices of dissimilarities, kernels and linkages as arrays, compared entry by entry with their mirror."""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats._typing import BoolArray, FloatArray
from energystats.exceptions import MatrixAsPointsWarning, warn
from energystats.inputs.arrays import DIVIDE, LARGEST, ROUNDING, SMALL_SHARE, as_numbers, check_finite, digits_of
from energystats.inputs.names import Places, write_names
from energystats.inputs.table import InputTable, as_table

__all__ = [
    "as_distances",
    "as_kernel",
    "as_linkage",
    "as_square",
    "as_symmetric",
    "differing",
    "largest_skew",
    "matrix_index",
    "small_entry",
]


SAMPLED_ROWS = 1024  # at most, from which `small_entry` takes its quantile
SOUND_ROWS = 256  # of a tile whose memory is read once
SKEW_ENTRIES = 2**22  # of a matrix that are compared at a time


def row_names(table: InputTable) -> tuple[str, ...] | None:
    """Return the item names of a square data frame, None without any; raise if those of rows and columns differ."""
    columns = table.columns
    if columns is None or table.ndim != 2 or len(table) != len(columns):
        return None
    rows, numbered = write_names(table.values.index), tuple(map(str, range(len(columns))))
    # numbers from 0 are no names, unless the others are the same numbers in another order
    if rows == columns or (rows == numbered and set(columns) != set(numbered)):
        return None if columns == numbered else columns
    if columns == numbered and set(rows) != set(numbered):
        return rows
    differ = next(i for i, (row, column) in enumerate(zip(rows, columns, strict=True)) if row != column)
    cure = "Name the columns after the rows if they stand in one order (`d.set_axis(d.index, axis=1)`)"
    if len({*rows}) == len(rows) and {*rows} == {*columns}:
        cure = "Reorder the columns (`d.set_axis(list(map(str, d.columns)), axis=1)[list(map(str, d.index))]`)"
        if {*table.values.index} == {*table.values.columns}:
            cure = "Reorder the columns (`d.loc[:, d.index]`)"
    raise ValueError(
        f"The rows and columns of the matrix must have the same names in the same order; row {differ} is "
        f"{rows[differ]!r} and column {differ} is {columns[differ]!r}. {cure}, or give the numbers "
        "alone (`d.to_numpy()`)."
    )


def matrix_index(values: Any) -> Any:
    """Return the index of a square data frame's items, from rows or columns; None without names."""
    table = as_table(values)
    names = row_names(table)
    if names is None:
        return None
    return table.index if write_names(table.values.index) == names else table.values.columns.copy()


def as_square(values: Any, name: str, places: Places | None = None) -> FloatArray:
    """Check a square or condensed matrix, and return it symmetric with a zero diagonal."""
    from scipy.spatial.distance import squareform

    table = as_table(values)
    if hasattr(table.values, "toarray"):
        raise TypeError(
            f"`{name}` must be dense, got a sparse {type(table.values).__name__}: what it does not store would have "
            "distance 0. Adjacency and similarity matrices, with 0 for no link, go to `graph_partition` as they are."
        )
    places = places or Places(row_names(table))
    array, (rounding, _) = as_numbers(table, name, cure=DIVIDE), digits_of(table)
    if array.ndim == 1:
        n = (1 + int(np.sqrt(1 + 8 * array.size))) // 2
        if array.size == 0 or n * (n - 1) // 2 != array.size:
            raise ValueError(
                f"`{name}` as a condensed vector must have n(n - 1)/2 entries for a whole number n, got {array.size}."
            )
        # a condensed vector is symmetric with a zero diagonal by its form
        full = np.asarray(squareform(array, checks=False))
        _check_finite_pairs(full, name, places, nans=int(np.isnan(array).sum()))
        return full
    square = _symmetrized(array, name, places, rounding)
    diagonal = np.abs(np.diagonal(array))
    if diagonal.any() and differing(diagonal, np.zeros(1), small_entry(array), rounding).any():
        worst = int(diagonal.argmax())
        value = array[worst, worst]
        alike = "; for similarities or a kernel see `kernel_distance`" if (np.diagonal(array) > 0).all() else ""
        where = places.entry(worst, worst)
        raise ValueError(f"`{name}` must have a zero diagonal, but entry {where} is {value:.6g}{alike}.")
    np.fill_diagonal(square, 0.0)
    return square


def as_distances(values: Any, name: str, places: Places | None = None) -> FloatArray:
    """Check that a matrix holds dissimilarities: symmetric, zero diagonal, not negative; return it."""
    table = as_table(values)
    places = places or Places(row_names(table))
    square = as_square(table, name, places)
    if (square < 0).any():
        i, j = map(int, np.unravel_index(int(square.argmin()), square.shape))
        count = int(np.count_nonzero(square < 0)) // 2
        plural = "pair is" if count == 2 else "pairs are"
        others = f", and {count - 1} other {plural} negative" if count > 1 else ""
        raise ValueError(
            f"`{name}` must not be negative, but entry {places.entry(i, j)} is {square[i, j]:.6g}{others}."
        )
    return square


def as_kernel(values: Any, name: str) -> FloatArray:
    """Check that a kernel matrix is square and symmetric, and return it; warn if it looks like dissimilarities."""
    matrix = as_symmetric(values, name)
    if matrix.any() and not np.diagonal(matrix).any() and matrix.min() >= 0:
        warn(
            f"`{name}` has a zero diagonal and positive entries beside it, as a matrix of dissimilarities has and a "
            f"positive semidefinite kernel has not. For dissimilarities rho, a kernel is distance_kernel({name}).",
            MatrixAsPointsWarning,
        )
    return matrix


def as_symmetric(values: Any, name: str) -> FloatArray:
    """Check that a matrix, such as a kernel, is square and symmetric, and return it."""
    table = as_table(values)
    matrix, (rounding, eps) = as_numbers(table, name, cure=DIVIDE), digits_of(table)
    return _symmetrized(matrix, name, Places(row_names(table)), rounding, lost=_lost_in_sums(matrix, eps))


def _say_whole(array: FloatArray, name: str) -> str:
    """Return how to make a matrix symmetric: the mean with its mirror, or of a triangle the sum."""
    if np.tril(array, -1).any() and np.triu(array, 1).any():
        return f"({name} + {name}.T)/2 would be, if its rows and columns are in one order"
    diagonal = f" - np.diag(np.diag({name}))" * bool(np.diagonal(array).any())
    return f"one half of it is 0, and {name} + {name}.T{diagonal} would be the whole"


def _symmetrized(
    array: FloatArray, name: str, places: Places, rounding: tuple[float, float] = ROUNDING, *, lost: float = 0.0
) -> FloatArray:
    """Compute the symmetric part of a square matrix; raise ValueError if asymmetry exceeds rounding."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ValueError(f"`{name}` must be a square matrix, got shape {array.shape}.")
    if _is_sound(array):
        return array
    _check_finite_pairs(array, name, places)
    if (worst := largest_skew(array, rounding=rounding, lost=lost)) is not None:
        i, j = worst
        raise ValueError(
            f"`{name}` must be symmetric, but entry {places.entry(i, j)} is {array[i, j]:.6g} and {places.entry(j, i)} "
            f"is {array[j, i]:.6g}, a difference of {abs(array[i, j] - array[j, i]):.3g}, the largest; "
            f"{_say_whole(array, name)}."
        )
    return 0.5 * (array + array.T)


def _is_sound(array: FloatArray) -> bool:
    """Return whether a square matrix is exactly symmetric and all its entries can be squared without overflow.

    Tile by tile, because a whole matrix beside its transpose is read against the order of the memory.
    """
    n = len(array)
    for i in range(0, n, SOUND_ROWS):
        for j in range(i, n, SOUND_ROWS):
            tile = array[i : i + SOUND_ROWS, j : j + SOUND_ROWS]
            if not (tile == array[j : j + SOUND_ROWS, i : i + SOUND_ROWS].T).all():  # as where one is NaN
                return False
            if not -LARGEST <= tile.min() <= tile.max() <= LARGEST:
                return False
    return True


def small_entry(array: FloatArray, share: float = SMALL_SHARE) -> float:
    """Compute a low quantile of the sizes of a matrix's nonzero off-diagonal entries, a scale for rounding.

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
    """Return which pairs of numbers differ by more than the rounding of sums of the size of a given scale.

    The first of `rounding` is what two numbers may differ by, a share of the larger and of the scale: x.x + y.y - 2x.y
    keeps no more of a small result. The second is the share of the scale up to which both are 0: distances are roots,
    and the root of 1e-15 is 3e-8. Differences up to `lost` do not count either.
    """
    tolerance, nothing = rounding
    larger = np.maximum(np.abs(a), np.abs(b))
    return np.asarray((np.abs(a - b) > np.maximum(tolerance * (larger + scale), lost)) & (larger > nothing * scale))


def _lost_in_sums(array: FloatArray, eps: float) -> float:
    """Compute the size below which differences are lost to rounding in sums over a matrix."""
    return 8 * eps * float(np.abs(array).max(initial=0.0))


def largest_skew(
    array: FloatArray, share: float = SMALL_SHARE, rounding: tuple[float, float] = ROUNDING, *, lost: float = 0.0
) -> tuple[int, int] | None:
    """Find the indices of the most asymmetric entry of a square matrix; None if all asymmetry is rounding.

    An entry of a kernel is an inner product, whose rounding is a share of the lengths, the roots of the diagonal.
    """
    # block by block, so that no second matrix is needed
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


def as_linkage(Z: Any, name: str) -> FloatArray:
    """Check a SciPy linkage matrix, whose heights may be negative, and return it; (n - 1, 4)."""
    array = as_numbers(Z, name)
    if array.ndim != 2 or array.shape[1] != 4 or len(array) == 0:
        raise ValueError(f"`{name}` must be a linkage matrix of shape (n - 1, 4) with n >= 2, got {array.shape}.")
    check_finite(array, name, None)
    n = len(array) + 1
    nodes = array[:, :2]
    made_before = nodes < n + np.arange(n - 1)[:, None]
    if not (nodes == np.floor(nodes)).all() or (nodes < 0).any() or not made_before.all():
        raise ValueError(f"`{name}` must be a linkage matrix: its first two columns are clusters made in earlier rows.")
    # a cluster that is joined is gone: the new one stands for it
    if np.unique(nodes).size != nodes.size:
        raise ValueError(f"`{name}` must be a linkage matrix: no cluster is joined twice.")
    if (np.diff(array[:, 2]) < 0).any():
        raise ValueError(f"`{name}` must have heights (column 2) that never fall.")
    return array


def _check_finite_pairs(array: FloatArray, name: str, places: Places, *, nans: int | None = None) -> None:
    """Raise ValueError, naming the entry or the unconnected parts, if a square matrix has NaN or infinite entries.

    `nans` is how many entries of what the user gave are NaN, where that is not the square matrix.
    """
    if np.isnan(array).any():
        i, j = map(int, np.argwhere(np.isnan(array))[0])
        count = int(np.isnan(array).sum()) if nans is None else nans
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
