"""Relax graph objectives: extreme eigenpairs of D_w^(-1/2) (B - A) D_w^(-1/2) for a sparse A [theory 4]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from energystats._core.block_krylov import fits_blocks, largest_by_blocks
from energystats._core.gram import some_eigenpairs
from energystats._core.threads import one_thread, one_thread_up_to
from energystats._typing import FloatArray, IntArray

__all__ = ["Relaxation", "smallest_pairs"]


DENSE_LIMIT = 500  # up to here the matrix is decomposed in full
LARGEST_ENVELOPE = 20_000_000  # entries of a factor, up to which it is made,
WIDEST_ENVELOPE = 0.05  # and in a row of it, as a share of all nodes: beyond, Lanczos' method is as fast
Times = Callable[[FloatArray], FloatArray]
Solver = Callable[["Relaxation", FloatArray, int, float], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """Describe a symmetric matrix as a linear map, and known eigenvectors to leave out of the search."""

    times: Times  # columns (n, c) to the matrix times them
    ceiling: float  # no eigenvalue is larger in size
    direction: FloatArray  # (n,) cut into pieces by `pieces`, it gives the left-out directions, each of length 1
    pieces: IntArray  # (n,) which piece a vertex belongs to, 0..c-1
    # (n, n) the matrix, where it is sparse, no eigenvalue is negative, and the left-out directions have eigenvalue 0
    sparse: Any = None
    dense: bool = False  # whether a product with many columns costs little more than with one

    @property
    def n(self) -> int:
        """Return the order of a symmetric matrix."""
        return self.direction.size

    def off(self, v: FloatArray) -> FloatArray:
        """Project a vector on the orthogonal complement of known eigenvectors; (n,) -> (n,)."""
        along = np.bincount(self.pieces, self.direction * v)
        return np.asarray(v - self.direction * along[self.pieces])

    def known(self) -> FloatArray:
        """Return the known eigenvectors, which a search leaves out, as columns; (n, c)."""
        columns = np.zeros((self.n, int(self.pieces.max()) + 1))
        columns[np.arange(self.n), self.pieces] = self.direction
        return columns


def smallest_pairs(problem: Relaxation, count: int, dense_limit: int = DENSE_LIMIT) -> tuple[FloatArray, FloatArray]:
    """Compute the `count` smallest eigenpairs of a symmetric matrix, rising, beside eigenvectors known beforehand.

    Vectors have length 1 and are orthogonal to the known ones. In full up to `dense_limit` nodes. Else by Lanczos'
    method; what it found is left out too, and it starts again until nothing smaller comes, since eigenvalues that
    repeat are found one at a time. Graphs like paths and grids have their smallest eigenvalues so close together that
    Lanczos' method would be slow, but then they also have small separators; where the envelope of the matrix is small,
    it is factorised and Lanczos' method works on the inverse.
    """
    count = min(count, problem.n - int(problem.pieces.max()) - 1)
    if count <= 0:
        return np.empty(0), np.empty((problem.n, 0))
    if problem.n <= dense_limit or 4 * count > problem.n:
        # left-out directions are lifted above the largest eigenvalue, so that none of them is among the smallest
        with one_thread_up_to(problem.n):
            known = problem.known()
            projector = np.eye(problem.n) - known @ known.T
            lifted = projector @ problem.times(projector) + (1 + problem.ceiling) * (known @ known.T)
            values, vectors = some_eigenpairs(0.5 * (lifted + lifted.T), 0, count - 1)
        return values, vectors
    if problem.ceiling == 0:
        with one_thread_up_to(count):
            drawn = np.random.default_rng(0).standard_normal((problem.n, count))
            vectors = np.linalg.qr(np.column_stack([problem.off(v) for v in drawn.T]))[0]
        return np.zeros(count), vectors
    if problem.dense and fits_blocks(problem.n, count):
        pairs = largest_by_blocks(lambda columns: _flipped(problem, columns), problem.n, count)
        if pairs is not None:
            return problem.ceiling - pairs[0], pairs[1]
    solve: Solver = _solve_flipped
    if problem.sparse is not None and _has_small_separators(problem.sparse):
        solve = _make_inverse_solver(problem)
    values, vectors = solve(problem, np.empty((problem.n, 0)), count, 1e-10)
    return _add_repeated_eigenvalues(problem, solve, values, vectors)


def _has_small_separators(matrix: Any) -> bool:
    """Return whether the graph of a sparse matrix has small separators, so that its Cholesky factor is small."""
    n = matrix.shape[0]
    return bool(_count_envelope(matrix) <= min(LARGEST_ENVELOPE, WIDEST_ENVELOPE * n * n))


def _count_envelope(matrix: Any) -> int:
    """Compute an upper bound on the number of entries of a sparse Cholesky factor, in reverse Cuthill-McKee order."""
    order = reverse_cuthill_mckee(sparse.csr_matrix(matrix), symmetric_mode=True)
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    entries = sparse.coo_array(matrix)
    widths = np.zeros(order.size, dtype=np.intp)
    np.maximum.at(widths, place[entries.row], place[entries.row] - place[entries.col])
    return int(widths.sum())


def _add_repeated_eigenvalues(
    problem: Relaxation, solve: Solver, values: FloatArray, vectors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Search again for repeated eigenvalues that were missed, and return the smallest eigenpairs with them added."""
    for _ in range(values.size):
        # a rough search is enough to see that nothing was missed
        value, vector = solve(problem, vectors, 1, 1e-5)
        if value[0] >= values[-1] - 1e-7 * min(problem.ceiling, 1e3 * abs(values[-1])):
            break
        value, vector = solve(problem, vectors, 1, 1e-10)
        values, vectors = np.append(values, value), np.column_stack([vectors, vector])
        order = np.argsort(values, kind="stable")[:-1]
        values, vectors = values[order], vectors[:, order]
    return values, vectors


def _flipped(problem: Relaxation, columns: FloatArray) -> FloatArray:
    """Multiply columns by ceiling I - A, for a matrix A, leaving out A's known eigenvectors; (n, c) -> (n, c).

    No eigenvalue of A is larger in size than the ceiling.
    """
    inside = np.column_stack([problem.off(v) for v in columns.T])
    product = problem.ceiling * inside - problem.times(inside)
    return np.column_stack([problem.off(v) for v in product.T])


def _solve_flipped(problem: Relaxation, found: FloatArray, count: int, tol: float) -> tuple[FloatArray, FloatArray]:
    """Compute the smallest eigenpairs of a matrix A as the largest of b I - A, b a bound, by Lanczos' method."""

    def times(v: FloatArray) -> FloatArray:
        v = problem.off(v - found @ (found.T @ v))
        v = problem.off(problem.ceiling * v - problem.times(v[:, None])[:, 0])
        return np.asarray(v - found @ (found.T @ v))

    values, vectors = _run_lanczos_from_one_start(times, problem.n, count, tol)
    return problem.ceiling - values, vectors


def _make_inverse_solver(problem: Relaxation) -> Solver:
    """Return a function that computes the smallest eigenpairs of a sparse semidefinite matrix from its inverse."""
    # the matrix is singular on the left-out directions, so it is factorised a little above itself
    shift = 1e-10 * problem.ceiling
    shifted = sparse.csc_array(problem.sparse + shift * sparse.eye_array(problem.n))
    # it is positive definite: no row needs a pivot off the diagonal, and the order that keeps the factor small stays
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(problem: Relaxation, found: FloatArray, count: int, tol: float) -> tuple[FloatArray, FloatArray]:
        def times(v: FloatArray) -> FloatArray:
            v = factors.solve(problem.off(v - found @ (found.T @ v)))
            v = problem.off(v)
            return np.asarray(v - found @ (found.T @ v))

        _, vectors = _run_lanczos_from_one_start(times, problem.n, count, tol)
        values = np.einsum("ic,ic->c", vectors, problem.times(vectors))
        order = np.argsort(values)
        return values[order], vectors[:, order]

    return solve


def _run_lanczos_from_one_start(times: Times, n: int, count: int, tol: float) -> tuple[FloatArray, FloatArray]:
    """Compute the largest eigenvalues of a symmetric operator, descending, and eigenvectors, by Lanczos' method."""
    operator = LinearOperator((n, n), matvec=lambda v: times(v.ravel()), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    basis = min(n, max(2 * count + 20, 40))
    with one_thread():  # products of a few columns, beside those with a sparse matrix, which have one thread anyway
        values, vectors = eigsh(operator, k=count, which="LA", v0=times(start), tol=tol, ncv=basis)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
