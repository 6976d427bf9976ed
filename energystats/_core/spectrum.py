"""Largest eigenvalues of the centred Gram matrix G_c = -1/2 J R J [theory 1]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["largest_eigenpairs"]

DENSE_LIMIT = 256  # below this size the full decomposition is faster than Lanczos
Multiply = Callable[[FloatArray], FloatArray]  # (n, c) -> R @ it


def largest_eigenpairs(multiply: Multiply, weights: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of G_c in falling order, and unit eigenvectors (n, count).

    With unequal weights the matrix is D_w^(1/2) G_c D_w^(1/2) and its centring is weighted [theory 6]. Full
    decomposition for small n or many pairs, else Lanczos with a fixed start, stopped when the residual is 1e-9 of
    the eigenvalue; the eigenvalue's own error is of second order in it.
    """
    n = weights.size
    count = min(count, n)
    if n <= DENSE_LIMIT or 4 * count > n:
        with one_thread_up_to(n):
            values, vectors = eigh(gram_matrix(multiply, weights), subset_by_index=(n - count, n - 1))
    else:
        values, vectors = lanczos(lambda v: gram_times(multiply, weights, v), n, count)
    return values[::-1], vectors[:, ::-1]


def gram_times(multiply: Multiply, weights: FloatArray, columns: FloatArray) -> FloatArray:
    """(Weighted) G_c times columns; (n, c) -> (n, c)."""
    root = np.sqrt(weights)[:, None]
    share = (weights / weights.sum())[:, None]
    weighted = root * columns
    product = -0.5 * multiply(weighted - share * weighted.sum(axis=0))
    return np.asarray(root * (product - (share * product).sum(axis=0)))


def gram_matrix(multiply: Multiply, weights: FloatArray) -> FloatArray:
    """G_c itself; (n, n)."""
    gram = gram_times(multiply, weights, np.eye(weights.size))
    return 0.5 * (gram + gram.T)


def lanczos(times: Callable[[FloatArray], FloatArray], n: int, count: int) -> tuple[FloatArray, FloatArray]:
    """Largest eigenpairs of a symmetric operator, in rising order."""
    operator = LinearOperator((n, n), matvec=lambda v: times(v.reshape(n, 1)).ravel(), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    if not times(start.reshape(n, 1)).any():  # the zero matrix, which has no Krylov space
        return np.zeros(count), np.eye(n)[:, :count]
    with one_thread_up_to(n):
        values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-9)
    order = np.argsort(values)
    return values[order], vectors[:, order]
