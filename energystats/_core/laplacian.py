"""The relaxed graph objectives: extreme eigenpairs of D_w^(-1/2) (B - A) D_w^(-1/2) for a sparse A [theory 4]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from energystats._typing import FloatArray, IntArray

__all__ = ["Relaxation", "smallest_pairs"]

DENSE_LIMIT = 500  # up to here the matrix is decomposed in full
RESTARTS = 100  # of Lanczos' method, before a factorisation takes over
Times = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """A symmetric matrix known as a linear map, and directions that are set aside.

    Attributes
    ----------
    times : callable
        Columns (n, c) to the matrix times them.
    ceiling : float
        No eigenvalue is larger in size.
    direction : ndarray of shape (n,)
        Cut into pieces by `pieces`, it gives the directions set aside, each of length 1.
    pieces : ndarray of shape (n,)
        Which piece a vertex belongs to, 0..c-1.
    sparse : csr_array of shape (n, n) or None
        The matrix, where it is sparse, no eigenvalue is negative, and the directions set aside have the eigenvalue 0.
    """

    times: Times
    ceiling: float
    direction: FloatArray
    pieces: IntArray
    sparse: Any = None

    @property
    def n(self) -> int:
        """Order of the matrix."""
        return self.direction.size

    def off(self, v: FloatArray) -> FloatArray:
        """The part of v that is orthogonal to the directions set aside."""
        along = np.bincount(self.pieces, self.direction * v)
        return np.asarray(v - self.direction * along[self.pieces])

    def known(self) -> FloatArray:
        """The directions set aside as columns; (n, c)."""
        columns = np.zeros((self.n, int(self.pieces.max()) + 1))
        columns[np.arange(self.n), self.pieces] = self.direction
        return columns


def smallest_pairs(problem: Relaxation, count: int) -> tuple[FloatArray, FloatArray]:
    """`count` smallest eigenvalues, rising, and unit eigenvectors on the complement of the directions set aside.

    In full for small n. Else by Lanczos' method; what it found is set aside too, and it starts again until nothing
    smaller comes, since eigenvalues that repeat are found one at a time. Where Lanczos' method is slow because the
    smallest eigenvalues lie close together, a factorisation of the sparse matrix takes over; a graph with such
    eigenvalues has small separators, so its factors are sparse.
    """
    count = min(count, problem.n - int(problem.pieces.max()) - 1)
    if count <= 0:
        return np.empty(0), np.empty((problem.n, 0))
    top = problem.ceiling
    if problem.n <= DENSE_LIMIT or 4 * count > problem.n:
        known = problem.known()
        projector = np.eye(problem.n) - known @ known.T
        lifted = projector @ problem.times(projector) + (1 + top) * (known @ known.T)
        values, vectors = eigh(0.5 * (lifted + lifted.T), subset_by_index=(0, count - 1))
        return values, vectors
    if top == 0:
        values, vectors = np.zeros(count), np.linalg.qr(np.random.default_rng(0).standard_normal((problem.n, count)))[0]
        return values, np.column_stack([problem.off(v) for v in vectors.T])
    try:
        values, vectors = flipped_pairs(problem, top, np.empty((problem.n, 0)), count)
    except ArpackNoConvergence:
        values, vectors = inverted_pairs(problem, top, count)
    return with_repeats(problem, top, values, vectors)


def with_repeats(
    problem: Relaxation, top: float, values: FloatArray, vectors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same pairs, with those put in that the search for them has missed."""
    for _ in range(values.size):
        try:
            value, vector = flipped_pairs(problem, top, vectors, 1, tol=1e-5)
        except ArpackNoConvergence:
            break
        if value[0] >= values[-1] - 1e-7 * top:
            break
        value, vector = flipped_pairs(problem, top, vectors, 1)
        values, vectors = np.append(values, value), np.column_stack([vectors, vector])
        order = np.argsort(values, kind="stable")[:-1]
        values, vectors = values[order], vectors[:, order]
    return values, vectors


def flipped_pairs(
    problem: Relaxation, top: float, found: FloatArray, count: int, tol: float = 1e-10
) -> tuple[FloatArray, FloatArray]:
    """Smallest pairs as the largest of top I - matrix, on the complement of the pairs found before as well."""

    def times(v: FloatArray) -> FloatArray:
        v = problem.off(v - found @ (found.T @ v))
        v = problem.off(top * v - problem.times(v[:, None])[:, 0])
        return np.asarray(v - found @ (found.T @ v))

    values, vectors = lanczos(times, problem.n, count, tol, problem.sparse is not None)
    return top - values, vectors


def inverted_pairs(problem: Relaxation, top: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Smallest pairs of a matrix without negative eigenvalues, as the largest of its inverse."""
    shift = 1e-10 * top
    n = problem.n
    factors = splu(sparse.csc_array(problem.sparse + shift * sparse.eye_array(n)), permc_spec="MMD_AT_PLUS_A")

    def times(v: FloatArray) -> FloatArray:
        return problem.off(factors.solve(problem.off(v)))

    _, vectors = lanczos(times, n, count, 1e-10, False)
    values = np.einsum("ic,ic->c", vectors, problem.times(vectors))
    order = np.argsort(values)
    return values[order], vectors[:, order]


def lanczos(times: Times, n: int, count: int, tol: float, limited: bool) -> tuple[FloatArray, FloatArray]:
    """Largest eigenpairs of a symmetric operator, falling; the start is always the same."""
    operator = LinearOperator((n, n), matvec=lambda v: times(v.ravel()), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    basis = min(n, max(2 * count + 20, 40))
    limit = RESTARTS if limited else None
    values, vectors = eigsh(operator, k=count, which="LA", v0=times(start), tol=tol, ncv=basis, maxiter=limit)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
