"""Convert between kernels and the semimetrics that they generate, and repair kernels [theory 1, 2, 7]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import centred
from energystats._core.threads import one_thread_up_to
from energystats._runtime import MATRIX, check_work
from energystats._typing import ArrayLike, FloatArray
from energystats.geometry.negative_type import SMALLEST_ALONE, unit_of
from energystats.inputs.arrays import as_numbers, check_finite
from energystats.inputs.labels import is_single
from energystats.inputs.matrices import as_kernel, as_square, as_symmetric
from energystats.inputs.names import near_names
from energystats.inputs.options import check_count, check_option, check_positive
from energystats.inputs.table import InputTable, as_table, check_same_rows, match_rows
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.kernel import Exponential, Gaussian, Kernel
from energystats.metrics.lookup import resolve
from energystats.pairs.workloads import spectrum

__all__ = [
    "ONLY_DISTANCE",
    "KernelLike",
    "center_kernel",
    "distance_kernel",
    "equivalent_kernels",
    "kernel_distance",
    "nearest_psd",
    "rho_of_kernel",
    "semimetric_of",
]


KernelLike: TypeAlias = str | Metric | Callable[..., FloatArray]
KERNELS = ("gaussian", "laplacian", "distance", "precomputed")
ONLY_DISTANCE = '`metric` and `alpha` belong to `kernel="distance"`; leave them out for another kernel.'


def distance_kernel(R: ArrayLike, base: str | int | ArrayLike = "center") -> FloatArray:
    r"""Compute the kernel matrix that generates a dissimilarity matrix and has a given origin; (n, n) -> (n, n).

    Parameters
    ----------
    R : array_like of shape (n, n) or (n(n - 1)/2,)
        Matrix of rho, square or condensed.
    base : "center", int or array_like of shape (n,), default "center"
        The origin of the feature space: the mean of all points, one point by its index, or a weighted mean (weights of
        any sign with sum 1).

    Returns
    -------
    ndarray of shape (n, n)
        :math:`K = (I - 1s')(-\tfrac12 R)(I - s1')`, s being 1/n, a unit vector or the weights. Positive semi-definite
        exactly when rho is of negative type on these points.

    Raises
    ------
    ValueError
        If R is not symmetric with zero diagonal, a value is not finite, the index is out of range, or the weights have
        another length or sum.
    TypeError
        If R does not hold real numbers.

    See Also
    --------
    kernel_distance : The way back; it gives R again for every base.

    Notes
    -----
    O(n^2) time and memory.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 8; Gower (1966) for general s.

    Examples
    --------
    >>> import energystats as es
    >>> es.distance_kernel([[0.0, 2.0], [2.0, 0.0]], base=0).tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    table = _table_with_base(R, base)
    matrix = as_square(table, "R")
    # Gower's form (I - 1s')(-1/2 R)(I - s1') [K 3], written out in sums of rows
    toward = matrix @ _read_base(base, len(matrix))  # mean rho of every point to the origin, up to a constant
    spread = float(_read_base(base, len(matrix)) @ toward)
    return np.asarray(0.5 * (toward[:, None] + toward[None, :] - matrix - spread))


def _table_with_base(matrix: ArrayLike, base: Any) -> InputTable:
    """Read a matrix as a table; raise ValueError if weights for a kernel's origin have other row names."""
    table = as_table(matrix)
    if not is_single(base):
        match_rows([table], {"base": as_table(base)})
    return table


def _read_base(base: Any, n: int) -> FloatArray:
    """Return weights of points, summing to 1, whose weighted mean is the origin of a kernel; (n,)."""
    if isinstance(base, str):
        check_option(base, "base", ("center",))
        return np.full(n, 1 / n)
    if is_single(base):
        index = check_count(base, "base", low=0, high=n - 1, why=f", the last of {n} points")
        return np.asarray(np.eye(1, n, index)[0])
    weights = as_numbers(base, "base")
    if weights.shape != (n,):
        raise ValueError(f"`base` must have shape ({n},), got {weights.shape}.")
    check_finite(weights, "base", None)
    if abs(weights.sum() - 1) > 1e-8:
        raise ValueError(f"`base` must have sum 1, got {weights.sum():.6g}.")
    return weights


def kernel_distance(K: ArrayLike) -> FloatArray:
    r"""Compute the dissimilarities that a kernel matrix generates, K_ii + K_jj - 2 K_ij; (n, n) -> (n, n).

    Parameters
    ----------
    K : array_like of shape (n, n)
        Symmetric kernel matrix.

    Returns
    -------
    ndarray of shape (n, n)
        :math:`\rho_{ij} = K_{ii} + K_{jj} - 2K_{ij}`: symmetric, with zero diagonal.

    Raises
    ------
    ValueError
        If K is not square and symmetric, or a value is not finite.
    TypeError
        If K does not hold real numbers.

    See Also
    --------
    distance_kernel : A kernel of a given rho.

    Notes
    -----
    Two kernels with the same rho are equivalent: every statistic of this package is the same for both. rho is a
    difference of entries of K, so an origin far from the points costs digits; then centre the data before the kernel.
    O(n^2) time and memory.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 9.

    Examples
    --------
    >>> import energystats as es
    >>> es.kernel_distance([[1.0, 0.25], [0.25, 1.0]]).tolist()
    [[0.0, 1.5], [1.5, 0.0]]
    """
    return rho_of_kernel(as_kernel(K, "K"))


def rho_of_kernel(matrix: FloatArray) -> FloatArray:
    """Compute K_ii + K_jj - 2 K_ij of a checked kernel matrix; (n, n) -> (n, n)."""
    # [G 9]
    own = np.diagonal(matrix)
    rho = own[:, None] + own[None, :] - 2 * matrix
    np.fill_diagonal(rho, 0.0)
    return np.asarray(rho)


def center_kernel(K: ArrayLike, base: str | int | ArrayLike = "center") -> FloatArray:
    r"""Compute the kernel matrix with another origin that generates the same dissimilarities; (n, n) -> (n, n).

    Parameters
    ----------
    K : array_like of shape (n, n)
        Symmetric kernel matrix.
    base : "center", int or array_like of shape (n,), default "center"
        The new origin: the mean of all points, one point by its index, or a weighted mean (weights of any sign with
        sum 1).

    Returns
    -------
    ndarray of shape (n, n)
        :math:`(I - 1s')K(I - s1')`, s being 1/n, a unit vector or the weights. It is equivalent to K.

    Raises
    ------
    ValueError
        If K is not square and symmetric, a value is not finite, or `base` is not as above.
    TypeError
        If K does not hold real numbers.

    See Also
    --------
    distance_kernel : A kernel with any origin, from a matrix of rho.
    equivalent_kernels : Whether two kernels differ by their origin alone.

    Notes
    -----
    O(n^2) time and memory.

    References
    ----------
    Klopotek, Klopotek & Wierzchon, eqs 3 and 21.

    Examples
    --------
    >>> import energystats as es
    >>> es.center_kernel([[1.0, 0.0], [0.0, 3.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    matrix = as_kernel(_table_with_base(K, base), "K")
    if isinstance(base, str):
        check_option(base, "base", ("center",))
        return centred(matrix)
    s = _read_base(base, len(matrix))
    toward = matrix @ s  # K s: inner products of every point with the new origin
    return np.asarray(matrix - toward[:, None] - toward[None, :] + float(s @ toward))


def nearest_psd(K: ArrayLike) -> FloatArray:
    r"""Find the positive semi-definite matrix nearest to a symmetric one.

    Parameters
    ----------
    K : array_like of shape (n, n)
        Symmetric matrix, such as a kernel with negative eigenvalues.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, no eigenvalue below 0 beyond rounding; nearest in the Frobenius norm. K itself if it is positive
        semi-definite.

    Raises
    ------
    ValueError
        If K is not a square and symmetric matrix of finite numbers.
    TypeError
        If K does not hold real numbers.

    See Also
    --------
    lingoes_kernel : A shift that keeps the best partition.
    clip_spectrum : Clips the eigenvalues of the Gram matrix of dissimilarities.

    Notes
    -----
    The eigenvalues below 0 become 0. It moves the diagonal, too; for the nearest *correlation* matrix see
    `statsmodels.stats.correlation_tools.corr_nearest`. O(n^3) time, O(n^2) memory.

    References
    ----------
    Higham (1988), Computing a nearest symmetric positive semidefinite matrix, theorem 2.1.

    Examples
    --------
    >>> import energystats as es
    >>> es.nearest_psd([[1.0, 3.0], [3.0, 1.0]]).round(12).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    matrix = as_kernel(K, "K")
    check_work(False, MATRIX, spectrum(len(matrix), 5.0, copies=6.0))
    unit = unit_of(matrix, SMALLEST_ALONE)
    with one_thread_up_to(len(matrix)):
        values, vectors = eigh(matrix / unit, check_finite=False)
    negative = values < 0
    if values[0] >= -len(values) * np.finfo(float).eps * np.abs(values).max():
        return matrix
    # K = K+ - K-: the positive part, or K plus the negative part, whichever has fewer eigenvectors [Higham, thm 2.1]
    if negative.mean() < 0.5:
        part = vectors[:, negative] * np.sqrt(-values[negative])
        nearest = matrix / unit + part @ part.T
    else:
        part = vectors[:, ~negative] * np.sqrt(values[~negative])
        nearest = part @ part.T
    return np.asarray(unit * 0.5 * (nearest + nearest.T))


def equivalent_kernels(K1: ArrayLike, K2: ArrayLike, tol: float | None = None) -> bool:
    r"""Return whether two kernel matrices generate the same dissimilarities.

    Parameters
    ----------
    K1, K2 : array_like of shape (n, n)
        Symmetric kernel matrices of the same points.
    tol : float, optional
        Largest difference that counts as rounding, relative to the largest entry of K1 and K2; 100 times the machine
        precision when None.

    Returns
    -------
    bool
        True if all :math:`K_{ii} + K_{jj} - 2K_{ij}` agree. Then every statistic and partition of this package is the
        same for both kernels.

    Raises
    ------
    ValueError
        If a matrix is not square and symmetric, the sizes differ, a value is not finite, or tol is not positive.
    TypeError
        If a matrix does not hold real numbers.

    See Also
    --------
    kernel_distance : The semimetric itself, to see where two kernels differ.
    center_kernel : The equivalent kernel with another origin.

    Notes
    -----
    O(n^2) time and memory.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 9 and the text after it.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> es.equivalent_kernels(K, es.center_kernel(K, base=0)), es.equivalent_kernels(K, 2 * K)
    (True, False)
    """
    tables = as_table(K1), as_table(K2)
    check_same_rows(tables, "`K1` and `K2`")
    first, second = as_symmetric(tables[0], "K1"), as_symmetric(tables[1], "K2")
    if first.shape != second.shape:
        raise ValueError(f"`K1` and `K2` must have the same shape, got {first.shape} and {second.shape}.")
    # rounding is judged on the entries of K, because rho is a difference of them
    share = 100 * np.finfo(float).eps if tol is None else check_positive(tol, "tol")
    scale = max(float(np.abs(first).max()), float(np.abs(second).max()))
    return bool(np.abs(rho_of_kernel(first) - rho_of_kernel(second)).max() <= share * scale)


def semimetric_of(kernel: KernelLike, metric: MetricLike, alpha: float) -> Metric:
    """Return the semimetric that a kernel, given by name, object or function, generates."""
    if kernel == "distance":
        return resolve(metric, alpha)
    if metric != "euclidean" or alpha != 1:
        raise ValueError(ONLY_DISTANCE)
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            near = near_names(kernel, KERNELS)
            raise ValueError(
                f"`kernel` must be one of {', '.join(KERNELS)}, or an object, such as `es.metrics.Kernel` with any "
                f"kernel of scikit-learn; got {kernel!r}.{near}"
            )
        return Gaussian() if kernel == "gaussian" else Exponential()
    if isinstance(kernel, Metric):
        return kernel
    if not callable(kernel):
        raise TypeError(f"`kernel` must be a name, an `es.metrics` object or a callable, got {type(kernel).__name__}.")
    return Kernel(kernel)
