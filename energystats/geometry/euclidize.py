"""Repair dissimilarities that are not Euclidean [theory 7; K]."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from energystats._core.cailliez import additive_constant
from energystats._core.gram import centred
from energystats._core.threads import one_thread_up_to
from energystats._runtime import MATRIX, check_work
from energystats._typing import ArrayLike, FloatArray
from energystats.geometry.kernels import rho_of_kernel
from energystats.geometry.negative_type import (
    Examination,
    examine_spectrum,
    root_unit_of,
    tolerance_for,
    unit_of,
)
from energystats.geometry.results import Euclidization, Repair
from energystats.inputs.matrices import as_distances, as_kernel, matrix_index
from energystats.pairs.workloads import spectrum

__all__ = ["cailliez", "clip_spectrum", "flip_spectrum", "lingoes", "lingoes_kernel"]


def lingoes(d: ArrayLike, tol: float | None = None) -> Euclidization:
    r"""Make dissimilarities Euclidean by adding Lingoes' least constant to their squares.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, square or condensed; not squared. A square data frame gives names to the points.
    tol : float, optional
        Rounding to allow for, as in `negative_type`; dissimilarities that are Euclidean to it come back unchanged.

    Returns
    -------
    Euclidization
        `.distances` :math:`d'_{ij} = \sqrt{d_{ij}^2 + 2\sigma}` for all i != j, duplicates included; `.constant`
        sigma, 0 if d is Euclidean; `.embedding`, points with these distances; `.min_eigenvalue` before and
        `.min_eigenvalue_after`; `.kernel`.

    Raises
    ------
    ValueError
        If d is not square and symmetric with zero diagonal, or a value is negative or not finite (disconnected graphs
        are named by their components).
    TypeError
        If d does not hold real numbers.

    See Also
    --------
    lingoes_kernel : Lingoes' constant for a kernel matrix.
    cailliez : A constant added to d itself.
    compare_euclidizations : What each repair does to distances and clusters.

    Notes
    -----
    sigma is minus the smallest eigenvalue of :math:`F_L = -\tfrac12 J(d\circ d)J`. W of every partition of d' squared
    into k clusters is that of d squared plus sigma (n - k), so the best partition stays the best, and
    `energy_cluster` with Hartigan's method takes the same path on both: it needs no repair. Gower & Legendre (1986)
    print sigma in place of 2 sigma, which leaves negative eigenvalues.

    O(n^3) time, with Lanczos' method for sigma above 2,000 points; O(n^2) memory. The embedding is computed when asked
    for, O(n^3).

    References
    ----------
    Lingoes (1971); Klopotek, Klopotek & Wierzchon, theorems 4, 6 and 7.

    Examples
    --------
    >>> import energystats as es
    >>> repaired = es.lingoes([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    >>> round(repaired.constant, 6), es.is_euclidean(repaired.distances)
    (3.5, True)
    """
    given = as_distances(d, "d")
    check_work(False, MATRIX, spectrum(len(given), 2.0, copies=5.0))
    unit = unit_of(given)
    rho = (given / unit) ** 2
    found = examine_spectrum(rho, tolerance_for(d, len(given), tol))
    return _add_constant(rho, unit, found, given=given, index=matrix_index(d))


def lingoes_kernel(K: ArrayLike, tol: float | None = None) -> Euclidization:
    r"""Make a kernel matrix positive semi-definite by adding Lingoes' constant to its centred form.

    Parameters
    ----------
    K : array_like of shape (n, n)
        Symmetric kernel matrix with any origin, positive semi-definite or not.
    tol : float, optional
        As for `lingoes`.

    Returns
    -------
    Euclidization
        `.kernel` is the centred matrix :math:`JKJ + \sigma J`, positive semi-definite; `.constant` sigma;
        `.distances` and `.embedding` as for `lingoes`. ``distance_kernel(result.distances**2, base=s)`` is the repair
        with Gower's weights s as origin, :math:`K_s + \sigma(I - 1s')(I - s1')`.

    Raises
    ------
    ValueError
        If K is not square, not symmetric, or not finite.
    TypeError
        If K does not hold real numbers.

    See Also
    --------
    lingoes : Lingoes' constant for dissimilarities.
    nearest_psd : The nearest positive semi-definite matrix, which can change the best partition.

    Notes
    -----
    sigma is minus the smallest eigenvalue of JKJ, whatever the origin of K. (A generalised eigenproblem with the
    weights s, as in theorem 5 of the paper, is singular: s is in the left null space of both of its sides.) O(n^3)
    time, O(n^2) memory.

    References
    ----------
    Klopotek, Klopotek & Wierzchon, eqs 21 and 22 and the text after theorem 5.

    Examples
    --------
    >>> import energystats as es
    >>> repaired = es.lingoes_kernel([[1.0, 3.0], [3.0, 1.0]])
    >>> round(repaired.constant, 12), bool(abs(repaired.kernel).max() < 1e-12)
    (2.0, True)
    """
    matrix = as_kernel(K, "K")
    check_work(False, MATRIX, spectrum(len(matrix), 2.0, copies=5.0))
    # rho of K is the same for every origin, so that -1/2 J rho J = JKJ needs no centring of K first [K after thm 5]
    unit = root_unit_of(matrix)
    rho = rho_of_kernel(matrix / unit**2)
    # rho is a difference of entries of K: what their rounding leaves counts as 0
    rounding = 8 * np.finfo(float).eps * np.abs(np.diagonal(matrix)).max() / unit**2
    rho[np.abs(rho) <= rounding] = 0.0
    found = examine_spectrum(rho, tolerance_for(K, len(matrix), tol), summand=float(np.abs(matrix).max()) / unit**2)
    return _add_constant(rho, unit, found, given=None, index=matrix_index(K), source="kernel")


def _add_constant(
    rho: FloatArray,
    unit: float,
    found: Examination,
    *,
    given: FloatArray | None,
    index: Any,
    source: Literal["distances", "kernel"] = "distances",
) -> Euclidization:
    """Make distances Euclidean by adding Lingoes' constant to their squares; unchanged if the constant is 0."""
    # Lingoes [K thm 4]: 2 sigma, sigma being minus the smallest eigenvalue of F_L = -1/2 J (d o d) J
    sigma = 0.0 if found.holds else -found.lowest
    if sigma == 0 and given is not None:
        distances = given
    else:
        distances = np.sqrt(np.maximum(rho + 2 * sigma, 0.0)) * unit
        np.fill_diagonal(distances, 0.0)
    return _make_euclidization("lingoes", distances, sigma * unit**2, rho, unit, found, index, source)


def cailliez(d: ArrayLike, tol: float | None = None) -> Euclidization:
    r"""Make dissimilarities Euclidean by adding Cailliez' least constant to them.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, not squared; as for `lingoes`.
    tol : float, optional
        As for `lingoes`.

    Returns
    -------
    Euclidization
        `.distances` :math:`d'_{ij} = d_{ij} + \kappa` for all i != j, duplicates included; `.constant` kappa, 0 if d is
        Euclidean; the rest as for `lingoes`. Every larger constant gives Euclidean distances, too.

    Raises
    ------
    ValueError, TypeError
        As `lingoes`.

    See Also
    --------
    lingoes : A constant added to d squared, which keeps the best partition.
    compare_euclidizations : What each repair does to distances and clusters.

    Notes
    -----
    kappa is the largest real eigenvalue of

    .. math:: \begin{pmatrix} 0 & 2F_L \\ -I & -4F_C \end{pmatrix}, \quad
        F_L = -\tfrac12 J(d\circ d)J, \; F_C = -\tfrac12 JdJ.

    Up to 128 points this matrix is solved. In any case the constant is then found as the last zero of the smallest
    eigenvalue of :math:`F_L + 2\kappa F_C + \tfrac12\kappa^2 J`, by steps that converge quadratically, and a bound
    from concavity proves that there is none beyond it. About five symmetric eigenvalue problems of size n, more where
    d is Euclidean but for rounding: O(n^3) time, O(n^2) memory; Lanczos' method above 500 points.

    The repair can change the best partition [K thm 3]. Four publications print the matrix wrongly; `docs/theory.md`,
    section 7, lists them with the constants that they give.

    References
    ----------
    Cailliez (1983); Klopotek, Klopotek & Wierzchon, eqs 12-19.

    Examples
    --------
    >>> import energystats as es
    >>> repaired = es.cailliez([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    >>> round(repaired.constant, 6), es.is_euclidean(repaired.distances)
    (3.0, True)
    """
    given = as_distances(d, "d")
    check_work(False, MATRIX, spectrum(len(given), 8.0, copies=8.0))
    unit = unit_of(given)
    scaled = given / unit
    rho = scaled**2
    found = examine_spectrum(rho, tolerance_for(d, len(given), tol))
    kappa, distances = 0.0, given
    if found.witness is not None:
        # F_L from squares and F_C from the dissimilarities themselves [K 12-15, with F_L in the top right block]
        pair = found.lowest, found.witness
        kappa = additive_constant(centred(-0.5 * rho), centred(-0.5 * scaled), pair) * unit
        distances = given + kappa
        np.fill_diagonal(distances, 0.0)
    return _make_euclidization("cailliez", distances, kappa, rho, unit, found, matrix_index(d))


def clip_spectrum(d: ArrayLike, tol: float | None = None) -> Euclidization:
    r"""Make dissimilarities Euclidean by setting the negative eigenvalues of their Gram matrix to 0.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, as for `lingoes`.
    tol : float, optional
        As for `lingoes`.

    Returns
    -------
    Euclidization
        As `lingoes`, with `.constant` None. `.kernel` is the positive semi-definite matrix nearest to G_c.

    Raises
    ------
    ValueError, TypeError
        As `lingoes`.

    See Also
    --------
    nearest_psd : Clips the eigenvalues of any symmetric matrix.
    flip_spectrum : Replaces negative eigenvalues by their absolute values.

    Notes
    -----
    These are the distances between the principal coordinates of all positive eigenvalues. None is smaller than d, since
    the part that is left out counts negatively. The best partition can change. O(n^3) time, O(n^2) memory.

    References
    ----------
    Higham (1988), theorem 2.1; Chen et al. (2009) for the names.

    Examples
    --------
    >>> import energystats as es
    >>> es.is_euclidean(es.clip_spectrum([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]]).distances)
    True
    """
    return _change_spectrum(d, tol, "clip")


def flip_spectrum(d: ArrayLike, tol: float | None = None) -> Euclidization:
    r"""Make dissimilarities Euclidean by changing the sign of the negative eigenvalues of their Gram matrix.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        As for `lingoes`.
    tol : float, optional
        Rounding to allow for, as for `lingoes`.

    Returns
    -------
    Euclidization
        As `lingoes`, with `.constant` None.

    Raises
    ------
    ValueError, TypeError
        As `lingoes`.

    See Also
    --------
    clip_spectrum : Sets negative eigenvalues to 0.

    Notes
    -----
    :math:`G_c = V\Lambda V'` becomes :math:`V|\Lambda|V'`. The best partition can change. O(n^3) time, O(n^2) memory.

    References
    ----------
    Chen et al. (2009), Similarity-based classification, Journal of Machine Learning Research 10.

    Examples
    --------
    >>> import energystats as es
    >>> es.is_euclidean(es.flip_spectrum([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]]).distances)
    True
    """
    return _change_spectrum(d, tol, "flip")


def _change_spectrum(d: ArrayLike, tol: float | None, method: Repair) -> Euclidization:
    """Make distances Euclidean by setting the Gram matrix's negative eigenvalues to 0 or changing their sign."""
    given = as_distances(d, "d")
    check_work(False, MATRIX, spectrum(len(given), 7.0, copies=8.0))
    unit = unit_of(given)
    rho = (given / unit) ** 2
    found = examine_spectrum(rho, tolerance_for(d, len(given), tol))
    distances = given
    if not found.holds:
        with one_thread_up_to(len(rho)):
            values, vectors = eigh(centred(-0.5 * rho), check_finite=False)
        # V f(Lambda) V' with f the absolute value or the positive part; clipping gives the nearest PSD matrix [Higham]
        values = np.abs(values) if method == "flip" else np.maximum(values, 0.0)
        half = vectors * np.sqrt(values)
        distances = np.sqrt(np.maximum(rho_of_kernel(half @ half.T), 0.0)) * unit
        # equal rows stay equal: the root of what rounding leaves between them is no rounding any more
        _, firsts, numbers = np.unique(given, axis=0, return_index=True, return_inverse=True)
        of_equal = firsts[numbers]
        distances = distances[np.ix_(of_equal, of_equal)]
    return _make_euclidization(method, distances, None, rho, unit, found, matrix_index(d))


def _make_euclidization(
    method: Repair,
    distances: FloatArray,
    constant: float | None,
    rho: FloatArray,
    unit: float,
    found: Examination,
    index: Any,
    source: Literal["distances", "kernel"] = "distances",
) -> Euclidization:
    """Build the `Euclidization` result from distances that were made Euclidean, in the unit of the data."""
    return Euclidization(
        method=method,
        distances=distances,
        constant=constant,
        squared=rho * unit**2,
        min_eigenvalue=found.lowest * unit**2 + 0.0,
        max_eigenvalue=found.highest * unit**2,
        threshold=found.threshold * unit**2,
        source=source,
        index=index,
    )
