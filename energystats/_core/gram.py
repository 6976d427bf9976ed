"""Compute eigenvalues of the centred Gram matrix G_c = -1/2 J R J, stored or known by its products [theory 1, 7]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from energystats._core.block_krylov import fits_blocks, largest_by_blocks
from energystats._core.powers_of_two import deviations
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = [
    "POINTS_PER_COLUMN",
    "Pair",
    "all_above",
    "are_values_found_in_full",
    "centred",
    "decomposed",
    "decorrelating",
    "factor_coordinates",
    "is_found_in_full",
    "largest_eigenpairs",
    "largest_eigenvalue",
    "largest_eigenvalues",
    "largest_pairs",
    "multiply_gram",
    "smallest_pair",
    "some_eigenpairs",
    "some_eigenvalues",
]


PAIR_LIMIT = 500  # up to here a single eigenpair comes from the full reduction
BASIS = 60  # Lanczos vectors
POINTS_PER_COLUMN = 4  # fewer give no covariance matrix worth decorrelating with
SMALLEST_WIDTH = 1e-5  # of the widest direction of standardized columns: narrower ones are rounding
ROUNDING_OF_COLUMN = 1e-13  # of the largest value of a column: a smaller deviation is rounding
RESTARTS = 10  # of Lanczos' method; where it has not ended then, the full reduction is as fast
MANY_RESTARTS = 100  # of the same for several pairs
Pair = tuple[float, FloatArray]


def decorrelating(points: FloatArray) -> FloatArray:
    """Compute the matrix that makes the columns of points uncorrelated with equal variances; (n, d) -> (d, r).

    Columns are standardized before directions are compared, so that none is taken for rounding because of its unit.
    """
    spread = deviations(points)
    constant = spread <= ROUNDING_OF_COLUMN * np.abs(points).max(axis=0)
    units = np.where(constant, np.inf, spread)  # so that a constant column has no part in any direction
    with one_thread_up_to(points.shape[1]):
        _, widths, axes = np.linalg.svd((points - points.mean(axis=0)) / units, full_matrices=False)
    kept = widths > SMALLEST_WIDTH * widths[0]
    return np.asarray((axes[kept] / units).T / widths[kept])


def centred(A: FloatArray) -> FloatArray:
    """Return J A J, a symmetric matrix A with rows and columns centred, as a new matrix that is exactly symmetric."""
    A = A - A.mean(axis=0)
    A -= A.mean(axis=1)[:, None]
    # the two centrings round differently on both sides of the diagonal, so A and A' are averaged
    A += A.T.copy()
    A *= 0.5
    return A


def factor_coordinates(squared: FloatArray, most: int, tolerance: float) -> FloatArray | None:
    """Find coordinates with given squared distances, by a pivoted Cholesky factor; (n, n) -> (n, rank).

    The origin is the first point. None where more than `most` are needed or the distances are not Euclidean; what
    remains outside the space is at most `tolerance` of the largest squared distance. O(n rank^2).
    """
    to_origin = squared[0]
    remaining = to_origin.copy()
    rounding = tolerance * float(squared.max())
    factor = np.zeros((len(squared), most))
    for rank in range(most + 1):
        if remaining.min() < -rounding:
            return None
        pivot = int(remaining.argmax())
        if remaining[pivot] <= rounding:
            return factor[:, :rank].copy()
        if rank < most:
            # Gower's form with the first point as origin [K 3], less what the coordinates found so far explain
            products = (to_origin + to_origin[pivot] - squared[pivot]) / 2
            products -= factor[:, :rank] @ factor[pivot, :rank]
            factor[:, rank] = products / np.sqrt(remaining[pivot])
            remaining = remaining - factor[:, rank] ** 2
    return None


def some_eigenpairs(G: FloatArray, first: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Compute the eigenvalues numbered `first` to `last`, rising from 0, of a symmetric matrix, and unit eigenvectors.

    They rise; (n, n) -> (m,), (n, m). LAPACK's search for some eigenvalues may end early where most of them are equal,
    as of points that are all equally far apart. SciPy then raises, or silently returns fewer than were asked for.
    """
    with one_thread_up_to(len(G)):
        try:
            values, vectors = eigh(G, subset_by_index=(first, last), check_finite=False)
        except LinAlgError:
            values, vectors = np.empty(0), G
        if values.size == last - first + 1:
            return values, vectors
        values, vectors = eigh(G, driver="evd", check_finite=False)
    return values[first : last + 1], vectors[:, first : last + 1]


def some_eigenvalues(G: FloatArray, first: int, last: int) -> FloatArray:
    """Compute the eigenvalues numbered `first` to `last`, rising from 0, of a symmetric matrix; (n, n) -> (m,)."""
    with one_thread_up_to(len(G)):
        try:
            values = eigh(G, eigvals_only=True, subset_by_index=(first, last), check_finite=False)
        except LinAlgError:
            values = np.empty(0)
    return np.asarray(values if values.size == last - first + 1 else some_eigenpairs(G, first, last)[0])


def decomposed(G: FloatArray, count: int | None = None) -> tuple[FloatArray, FloatArray]:
    """Compute all or the `count` largest eigenvalues of a symmetric matrix, in falling order, and unit eigenvectors.

    The largest entry of each vector is positive.
    """
    n = len(G)
    with one_thread_up_to(n):
        values, vectors = eigh(G, check_finite=False) if count is None else some_eigenpairs(G, n - count, n - 1)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.where(vectors[largest, np.arange(len(values))] < 0, -1.0, 1.0)


def smallest_pair(G: FloatArray, start: FloatArray | None = None) -> Pair:
    """Compute the smallest eigenvalue of a centred symmetric matrix on vectors of sum 0, and its unit vector.

    The direction 1, on which a centred matrix vanishes, is given the mean eigenvalue of the others, which is never
    below their smallest. Up to `PAIR_LIMIT` from the full reduction, above it by Lanczos' method from `start`.
    """
    n = len(G)
    # the n - 1 other eigenvalues add up to the trace, so their mean is known before any of them
    lift = float(np.trace(G)) / max(n - 1, 1)
    if n <= PAIR_LIMIT:
        vector = some_eigenpairs(G + lift / n, 0, 0)[1][:, 0]
    else:
        vector = _find_extreme_vector(G, lift, "SA", start)
    vector = vector - vector.mean()
    vector /= np.linalg.norm(vector)
    return float(vector @ (G @ vector)), vector


def largest_eigenvalue(G: FloatArray) -> float:
    """Compute the largest eigenvalue of a centred symmetric matrix on the vectors of sum 0."""
    n = len(G)
    lift = float(np.trace(G)) / max(n - 1, 1)
    if n <= PAIR_LIMIT:
        return float(some_eigenvalues(G + lift / n, n - 1, n - 1)[0])
    vector = _find_extreme_vector(G, lift, "LA", None)
    return float(vector @ (G @ vector))


def _find_extreme_vector(G: FloatArray, lift: float, end: str, start: FloatArray | None) -> FloatArray:
    """Compute the unit eigenvector of the smallest or largest eigenvalue of a matrix plus a constant in all entries.

    That is G + lift 11'/n. Where Lanczos' method does not converge, return its best vector so far, or that of the full
    decomposition.
    """
    n = len(G)

    def times(v: FloatArray) -> FloatArray:
        return np.asarray(G @ v + lift * v.mean())

    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    first = np.random.default_rng(0).standard_normal(n) if start is None else start
    with one_thread_up_to(n):
        try:
            _, vectors = eigsh(operator, k=1, which=end, v0=first, tol=1e-10, ncv=BASIS, maxiter=RESTARTS)
        except ArpackNoConvergence as stopped:
            vectors = stopped.eigenvectors
            if vectors.shape[1] == 0:
                at = 0 if end == "SA" else n - 1
                _, vectors = some_eigenpairs(G + lift / n, at, at)
    return np.asarray(vectors[:, 0])


def all_above(G: FloatArray, floor: float) -> bool:
    """Return whether a Cholesky factor proves that G has no eigenvalue below `floor` on the vectors of sum 0."""
    n = len(G)
    shifted = G + 2 * (abs(float(np.trace(G))) / max(n - 1, 1) + abs(floor)) / n  # out of the way: the vector 1
    shifted[np.diag_indices(n)] -= floor
    try:
        with one_thread_up_to(n):
            cholesky(shifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


DENSE_LIMIT = 256  # below this size the full decomposition is faster than Krylov spaces
DENSE_UP_TO = 4000  # points, of which many eigenpairs are found by it as well; of more the matrix takes much memory
VALUES_UP_TO = 10_000  # points, of which many eigenvalues alone are
Multiply = Callable[[FloatArray], FloatArray]  # (n, c) -> R @ it


def largest_eigenpairs(multiply: Multiply, weights: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Compute the `count` largest eigenvalues of the double-centred Gram matrix, descending, and unit eigenvectors.

    With unequal weights the matrix is D_w^(1/2) G_c D_w^(1/2) and its centring is weighted [theory 6]. Full
    decomposition for small n or many pairs, else Krylov spaces from a fixed start, until the residual is 1e-9 of
    the eigenvalue; the eigenvalue's own error is of second order in it.
    """
    n = weights.size
    count = min(count, n)
    if is_found_in_full(n, count):
        with one_thread_up_to(n):
            values, vectors = some_eigenpairs(_build_gram(multiply, weights), n - count, n - 1)
        return values[::-1], vectors[:, ::-1]
    return largest_pairs(lambda columns: multiply_gram(multiply, weights, columns), n, count)


def largest_eigenvalues(R: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """Compute the `count` largest eigenvalues of the (weighted) double-centred Gram matrix, descending, from R.

    By its full decomposition, without eigenvectors: whatever the count, it takes as long as Krylov spaces for a
    sixteenth of all eigenvalues.
    """
    share, root = weights / weights.sum(), np.sqrt(weights)
    gram = -0.5 * R
    means = gram @ share
    gram -= means
    gram -= means[:, None]
    gram += share @ means
    gram *= root
    gram *= root[:, None]
    with one_thread_up_to(len(gram)):
        values = eigh(gram.T, eigvals_only=True, overwrite_a=True, check_finite=False)
    return np.asarray(values[::-1][:count])


def are_values_found_in_full(n: int, count: int) -> bool:
    """Return whether the largest eigenvalues alone take less time by the full decomposition, which stores a matrix."""
    return n <= DENSE_LIMIT or (16 * count > n and n <= VALUES_UP_TO)


def is_found_in_full(n: int, count: int) -> bool:
    """Return whether the largest eigenpairs of a matrix of order n take less time by its full decomposition."""
    return n <= DENSE_LIMIT or 4 * count > n or (20 * count > n and n <= DENSE_UP_TO)


def largest_pairs(times: Multiply, n: int, count: int) -> tuple[FloatArray, FloatArray]:
    """Compute the `count` largest eigenvalues of a symmetric operator, falling, and unit eigenvectors."""
    found = largest_by_blocks(times, n, count) if fits_blocks(n, count) else None
    return _run_lanczos(times, n, count) if found is None else found


def multiply_gram(multiply: Multiply, weights: FloatArray, columns: FloatArray) -> FloatArray:
    """Multiply the (weighted) double-centred Gram matrix by columns; (n, c) -> (n, c)."""
    # D_w^(1/2) G_c D_w^(1/2), where J = I - 1 w'/sum(w) centres with the weights [theory 6]
    root = np.sqrt(weights)[:, None]
    share = (weights / weights.sum())[:, None]
    weighted = root * columns
    product = -0.5 * multiply(weighted - share * weighted.sum(axis=0))
    return np.asarray(root * (product - (share * product).sum(axis=0)))


def _build_gram(multiply: Multiply, weights: FloatArray) -> FloatArray:
    """Build the (weighted) double-centred Gram matrix from a function that multiplies by dissimilarities; (n, n)."""
    gram = multiply_gram(multiply, weights, np.eye(weights.size))
    return 0.5 * (gram + gram.T)


def _run_lanczos(times: Multiply, n: int, count: int) -> tuple[FloatArray, FloatArray]:
    """Compute the largest eigenvalues of a symmetric operator, falling, and eigenvectors by Lanczos' method.

    By the full decomposition where that does not converge: some of them lie among many that are nearly 0.
    """
    operator = LinearOperator((n, n), matvec=lambda v: times(v.reshape(n, 1)).ravel(), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    if not times(start.reshape(n, 1)).any():  # the zero matrix, which has no Krylov space
        return np.zeros(count), np.eye(n)[:, :count]
    with one_thread_up_to(n):
        try:
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-9, maxiter=MANY_RESTARTS)
        except ArpackNoConvergence:
            whole = times(np.eye(n))
            values, vectors = some_eigenpairs(0.5 * (whole + whole.T), n - count, n - 1)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
