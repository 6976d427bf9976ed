"""Place points by principal coordinates of dissimilarities and of kernels [theory 7; W]."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import centred, decomposed
from energystats._core.threads import one_thread_up_to
from energystats._runtime import MATRIX, check_work, part_of_a_longer_call
from energystats._typing import ArrayLike, FloatArray
from energystats.dissimilarity import Dissimilarity
from energystats.geometry.euclidize import cailliez, lingoes
from energystats.geometry.kernels import KernelLike, rho_of_kernel, semimetric_of
from energystats.geometry.negative_type import relative_tolerance, root_unit_of, tolerance_for, unit_of
from energystats.geometry.results import PrincipalCoordinates
from energystats.inputs.matrices import as_distances, as_kernel, matrix_index
from energystats.inputs.options import check_count, check_flag, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import spectrum

__all__ = ["kernel_pca", "principal_coordinates"]


def principal_coordinates(
    d: ArrayLike,
    correction: str | None = None,
    *,
    n_components: int | None = None,
    tol: float | None = None,
) -> PrincipalCoordinates:
    r"""Compute principal coordinates (classical scaling): points whose distances approximate dissimilarities.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, as for `lingoes`.
    correction : {None, "lingoes", "cailliez"}, default None
        Repair before, so that no eigenvalue is negative.
    n_components : int, optional
        Number of coordinates; all with a positive eigenvalue when None, never more.
    tol : float, optional
        Rounding to allow for, as in `negative_type`.

    Returns
    -------
    PrincipalCoordinates
        `.coordinates` (n, p), `.eigenvalues` (all n, falling), `.explained` share of each coordinate,
        `.negative_share` of what no coordinates can show, `.plot()` in two or three dimensions.

    Raises
    ------
    ValueError
        If d is not square and symmetric with zero diagonal, a value is negative or not finite, `correction` is unknown
        or `n_components` is below 1.
    TypeError
        If d does not hold real numbers.

    See Also
    --------
    kernel_pca : Coordinates from a kernel, or from points and a kernel.
    lingoes, cailliez : The corrections.

    Notes
    -----
    Eigenvectors of :math:`G_c = -\tfrac12 J(d\circ d)J` times the roots of their eigenvalues. Shares are of the sum of
    the eigenvalues' sizes. O(n^3) time, O(n^2) memory.

    References
    ----------
    Gower (1966); Legendre & Legendre (1998), s. 9.2, for the corrections.

    Examples
    --------
    >>> import energystats as es
    >>> found = es.principal_coordinates([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> found.coordinates.shape, found.negative_share
    ((3, 2), 0.0)
    """
    distances = as_distances(d, "d")
    tol = tolerance_for(d, len(distances), tol)
    if n_components is not None:
        n_components = check_count(n_components, "n_components", low=1)
    kind: Literal["lingoes", "cailliez"] | None = None
    constant = 0.0
    repair = {None: 0.0, "lingoes": 2.0}.get(correction, 8.0)
    check_work(False, MATRIX, spectrum(len(distances), 4.0 + repair, copies=8.0))
    if correction is not None:
        check_option(correction, "correction", ("lingoes", "cailliez"))
        kind = "lingoes" if correction == "lingoes" else "cailliez"
        with part_of_a_longer_call():
            repaired = (lingoes if correction == "lingoes" else cailliez)(distances, tol)
        distances, constant = np.asarray(repaired.distances), float(repaired.constant or 0.0)
    unit = unit_of(distances)
    return _compute_coordinates(
        (distances / unit) ** 2,
        unit,
        n_components=n_components,
        tol=tol,
        correction=kind,
        constant=constant,
        source="distances",
        index=matrix_index(d),
    )


def kernel_pca(
    X: ArrayLike,
    n_components: int | None = 2,
    *,
    kernel: KernelLike = "precomputed",
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    standardize: bool = False,
    tol: float | None = None,
) -> PrincipalCoordinates:
    r"""Compute kernel principal components: coordinates of points in the feature space of a kernel.

    Parameters
    ----------
    X : array_like of shape (n, n), (n,) or (n, d)
        Symmetric kernel matrix, with any origin; for another `kernel`, points.
    n_components : int or None, default 2
        Number of coordinates; all with a positive eigenvalue when None, never more.
    kernel : str, Metric or callable, default "precomputed"
        "precomputed", "gaussian", "laplacian", "distance" (the kernel of `metric` and `alpha`, whose feature space is
        the one that energy statistics live in), an object of `energystats.metrics`, or a callable k(X, Y).
    metric : str, Metric or callable, default "euclidean"
        The semimetric of ``kernel="distance"``.
    alpha : float, default 1.0
        Its power, 0.001 <= alpha <= 2.
    standardize : bool, default False
        Column z-scores (divisor n) of points before the kernel.
    tol : float, optional
        Rounding to allow for, as in `negative_type`.

    Returns
    -------
    PrincipalCoordinates
        As `principal_coordinates`; eigenvalues are those of the centred kernel matrix.

    Raises
    ------
    ValueError
        If the matrix is not square and symmetric, a value is not finite, or an option is unknown.
    TypeError
        If X does not hold real numbers.

    See Also
    --------
    principal_coordinates : Coordinates from dissimilarities.
    energy_cluster : Clusters in this feature space.

    Notes
    -----
    Squared distances between all coordinates are the rho that the kernel generates. scikit-learn's `KernelPCA` gives
    the same coordinates up to sign. O(n^3) time, O(n^2) memory.

    References
    ----------
    Schoelkopf, Smola & Mueller (1998); Welling, Kernel K-means and spectral clustering.

    Examples
    --------
    >>> import energystats as es
    >>> found = es.kernel_pca([[0.0], [1.0], [9.0]], kernel="distance")
    >>> found.coordinates.shape
    (3, 2)
    """
    check_flag(standardize, "standardize")
    if n_components is not None:
        n_components = check_count(n_components, "n_components", low=1)
    summand = 0.0
    if isinstance(kernel, str) and kernel == "precomputed":
        if metric != "euclidean" or alpha != 1 or standardize:
            raise ValueError('`metric`, `alpha` and `standardize` need points; `kernel="precomputed"` has none.')
        K = as_kernel(X, "X")
        rho, index, summand = rho_of_kernel(K), matrix_index(X), float(np.abs(K).max())
        tol = tolerance_for(X, len(rho), tol)
    else:
        d = Dissimilarity.from_data(X, metric=semimetric_of(kernel, metric, alpha), alpha=1.0, standardize=standardize)
        rho, index, summand = d.matrix, d.index, d.summand
    check_work(False, MATRIX, spectrum(len(rho), 4.0, copies=6.0))
    unit = root_unit_of(rho)
    return _compute_coordinates(
        rho / unit**2,
        unit,
        n_components=n_components,
        tol=tol,
        correction=None,
        constant=0.0,
        source="kernel",
        index=index,
        summand=summand / unit**2,
    )


def _compute_coordinates(
    rho: FloatArray,
    unit: float,
    *,
    n_components: int | None,
    tol: float | None,
    correction: Literal["lingoes", "cailliez"] | None,
    constant: float,
    source: Literal["distances", "kernel"],
    index: Any,
    summand: float = 0.0,
) -> PrincipalCoordinates:
    """Compute principal coordinates from the eigenvectors of the centred Gram matrix.

    Negative eigenvalues are reported by their share.
    """
    # classical scaling [Gower 1966]: G_c = V Lambda V', coordinates V Lambda^(1/2) over the positive eigenvalues
    G = centred(-0.5 * rho)
    if n_components is None or 4 * n_components >= len(G):
        values, vectors = decomposed(G)
    else:
        with one_thread_up_to(len(G)):
            values = eigh(G, eigvals_only=True, check_finite=False)[::-1]
        vectors = decomposed(G, n_components)[1]
    threshold = relative_tolerance(tol, len(G)) * max(float(values[0]), 0.5 * float(np.abs(rho).max()), summand)
    p = min(int(np.count_nonzero(values > threshold)), vectors.shape[1] if n_components is None else n_components)
    # shares are of the sum of absolute values, so that the negative part is seen and no share exceeds 1
    total = float(np.abs(values).sum())
    counted = values < -threshold
    return PrincipalCoordinates(
        coordinates=vectors[:, :p] * np.sqrt(values[:p]) * unit,
        eigenvalues=values * unit**2,
        explained=values[:p] / total if total > 0 else np.empty(0),
        negative_share=float(-values[counted].sum() / total) if counted.any() else 0.0,
        n_negative=int(counted.sum()),
        threshold=threshold * unit**2,
        correction=correction,
        constant=constant,
        source=source,
        index=index,
    )
