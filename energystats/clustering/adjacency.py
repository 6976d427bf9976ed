"""Validation of graphs: adjacency and similarity matrices, dense or sparse, checked and made symmetric."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from energystats._core.gram import centred
from energystats._core.threads import one_thread_up_to
from energystats._typing import BoolArray
from energystats.exceptions import MatrixAsPointsWarning, warn
from energystats.inputs.arrays import DIVIDE, LARGEST, SMALL_SHARE, as_array, as_numbers, digits_of
from energystats.inputs.matrices import differing, matrix_index
from energystats.inputs.table import as_table

__all__ = ["as_adjacency", "warn_of_distances"]


LARGEST_INDEX = 2**31 - 1
ROWS_COMPARED = 200
AS_DISTANCES = 4.0  # times the size of the smallest eigenvalue, and of the mean one


def as_adjacency(values: Any, name: str, *, signed: bool) -> tuple[Any, tuple[str, ...] | None]:
    """Convert an adjacency matrix to a symmetric float64 CSR array without zeros; return also vertex names or None.

    The same array for dense and sparse input; `signed` allows negative entries, as kernels have.
    """
    table = as_table(values)
    values = table.values
    if hasattr(values, "nodes") and hasattr(values, "edges"):
        raise TypeError(
            f"`{name}` must be a matrix, got {type(values).__name__}; pass its adjacency matrix, for example "
            f"`networkx.to_scipy_sparse_array({name})`."
        )
    index, (rounding, _) = None, digits_of(table)
    if sparse.issparse(values):
        if values.dtype.kind not in "biuf":
            raise TypeError(f"`{name}` must hold real numbers, got dtype {values.dtype.name}.")
        if values.dtype.kind in "iu":
            as_numbers(values.tocsr().data, name, cure=DIVIDE)  # which refuses what floats cannot hold
        matrix = values
    else:
        index = matrix_index(table)
        truth = np.asarray(values).dtype == bool if hasattr(values, "dtype") or hasattr(values, "columns") else False
        matrix = as_numbers(as_array(values, name).astype(np.float64) if truth else table, name, cure=DIVIDE)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(f"`{name}` must be a square matrix, got shape {matrix.shape}.")
    matrix = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _check_entries(matrix, name, signed)
    return _symmetric_part(matrix, name, rounding), index


def warn_of_distances(matrix: Any, name: str) -> None:
    """Warn if a complete graph without loops has the spectrum of distances, not of similarities; (n, n) sparse.

    The centred matrix -JAJ/2 of distances has large positive eigenvalues, that of similarities large negative ones.
    """
    n = matrix.shape[0]
    if n < 4 or matrix.nnz != n * (n - 1) or matrix.diagonal().any() or matrix.data.min() < 0:
        return
    rows = np.unique(np.linspace(0, n - 1, min(n, ROWS_COMPARED)).astype(np.intp))
    with one_thread_up_to(rows.size):
        values = np.linalg.eigvalsh(centred(-0.5 * matrix[rows][:, rows].toarray()))
    if values[-1] >= AS_DISTANCES * max(-values[0], float(np.abs(values).mean())):
        warn(
            f"`{name}` looks like a matrix of dissimilarities: no entry beside its zero diagonal is 0, and its "
            "eigenvalues are those of distances. Here large entries join vertices. For dissimilarities use "
            f'energy_cluster({name}, k, metric="precomputed").',
            MatrixAsPointsWarning,
        )


def _check_entries(matrix: Any, name: str, signed: bool) -> None:
    """Raise ValueError if a sparse matrix has entries that are not finite, too large, or wrongly negative."""
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        _raise_at_entry(matrix, int(bad[0]), f"`{name}` must be finite", bad.size - 1, "not finite")
    if matrix.nnz and np.abs(matrix.data).max() > LARGEST:
        raise ValueError(f"`{name}` must not exceed {LARGEST:g} in size, got {np.abs(matrix.data).max():.3g}.")
    negative = np.flatnonzero(matrix.data < 0)
    if negative.size and not signed:
        lowest = int(negative[matrix.data[negative].argmin()])
        _raise_at_entry(matrix, lowest, f"`{name}` must not be negative", negative.size - 1, "negative")


def _raise_at_entry(matrix: Any, entry: int, rule: str, others: int, what: str) -> NoReturn:
    """Raise ValueError with a message that gives the row, column and value of one entry of a sparse matrix."""
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    column = int(matrix.indices[entry])
    verb = "entries are" if others > 1 else "entry is"
    more = f", and {others} other {verb} {what}" if others else ""
    raise ValueError(f"{rule}, but entry ({row}, {column}) is {matrix.data[entry]:.6g}{more}.")


def _unexplained(matrix: Any, skew: Any, rounding: tuple[float, float]) -> BoolArray:
    """Return which stored entries of A - A', for a sparse matrix A, are too large to be rounding; (nnz,)."""
    unequal = skew.data != 0
    upper, lower = np.zeros(skew.data.size), np.zeros(skew.data.size)
    row, column = skew.row[unequal], skew.col[unequal]
    upper[unequal] = np.asarray(matrix[row, column]).ravel()
    lower[unequal] = np.asarray(matrix[column, row]).ravel()
    entries = sparse.coo_array(matrix)
    others = np.abs(entries.data[entries.row != entries.col])
    scale = float(np.quantile(others, SMALL_SHARE, method="lower"))
    lengths = np.sqrt(np.abs(matrix.diagonal()))
    return differing(upper, lower, np.maximum(scale, lengths[skew.row] * lengths[skew.col]), rounding)


def _symmetric_part(matrix: Any, name: str, rounding: tuple[float, float]) -> Any:
    """Return (A + A')/2 of a sparse matrix symmetric up to rounding; raise ValueError for a directed graph."""
    skew = sparse.coo_array(matrix - matrix.T)
    if skew.nnz and (differ := _unexplained(matrix, skew, rounding)).any():
        worst = int(np.where(differ, np.abs(skew.data), 0.0).argmax())
        i, j = int(skew.row[worst]), int(skew.col[worst])
        raise ValueError(
            f"`{name}` must be symmetric, but entry ({i}, {j}) is {matrix[i, j]:.6g} and ({j}, {i}) is "
            f"{matrix[j, i]:.6g}, a difference of {abs(skew.data[worst]):.3g}, the largest; for a directed graph "
            f"choose how to join both directions, for example ({name} + {name}.T)/2."
        )
    half = sparse.csr_array(0.5 * (matrix + matrix.T))
    half.eliminate_zeros()
    half.sort_indices()
    if half.nnz < LARGEST_INDEX:  # searches in graphs take no other indices before SciPy 1.15
        half.indices, half.indptr = half.indices.astype(np.int32), half.indptr.astype(np.int32)
    return half
