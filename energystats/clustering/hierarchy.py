"""Hierarchical clustering by energy."""

from __future__ import annotations

from energystats._core.linkage import agglomerate
from energystats._runtime import check_work
from energystats._typing import ArrayLike, FloatArray
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.inputs.options import check_flag
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, agglomeration

__all__ = ["energy_hclust"]


def energy_hclust(
    X: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    standardize: bool = False,
) -> FloatArray:
    r"""Cluster hierarchically by energy distance, and return a SciPy linkage matrix.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; 2 is Ward's method, with heights twice the growth of the sum of
        squares.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        One row per merge, as `scipy.cluster.hierarchy.linkage` writes them: two clusters, height, points in the union.
        Clusters below n are single points, n + i is that of row i. The height is n1 n2/(n1 + n2) (2 g(A, B) - g(A, A)
        - g(B, B)), twice the growth of W, in the unit of rho. Heights never fall and sum to 2T.

    Raises
    ------
    ValueError
        If a value is not finite or a precomputed matrix is not symmetric with zero diagonal.
    TypeError
        If `X` does not hold real numbers.
    MemoryError
        If the n x n matrix would not fit.

    Warns
    -----
    NotNegativeTypeWarning
        If a height is negative, which takes a negative rho; SciPy's functions refuse such a matrix.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    plot_dendrogram : A picture of the tree.
    energy_cluster : Takes the labels of a cut as `init`, and lowers their W.

    Notes
    -----
    Everything in `scipy.cluster.hierarchy` works on the result; ``cut_tree(Z, k).ravel()`` are labels of k clusters.
    Heights follow Ward's recurrence, started from rho itself: h(AB, C) = [(n_A + n_C) h(A, C) + (n_B + n_C) h(B, C) -
    n_C h(A, B)]/(n_A + n_B + n_C). It holds for every rho, and h(AB, C) is never below both of its parts, so that
    there are no inversions, of negative type or not. Adding 2c to every off-diagonal rho adds 2c to every height and
    leaves the tree as it is. Where dissimilarities are tied, as those of presences and absences are, the tree is one of
    several and depends on the order of the rows, heights included. O(n^2 d) time, O(n^2) memory: one n x n matrix.

    References
    ----------
    Szekely & Rizzo (2005), Journal of Classification 22, for the method, which is ``energy.hclust`` in R; Muellner
    (2011), arXiv:1109.2378, for the chains of nearest neighbours.

    Examples
    --------
    >>> import energystats as es
    >>> Z = es.energy_hclust([0.0, 1.0, 9.0])
    >>> Z[:, 2].round(6).tolist(), Z[:, 3].tolist()
    ([1.0, 11.0], [2.0, 3.0])
    """
    check_flag(standardize, "standardize")
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    check_work(False, d, agglomeration(Size.of(d)))
    H = d.matrix.copy() if d.is_stored else d.matrix
    Z = agglomerate(H)
    if len(Z) and Z[0, 2] < 0:
        warn(
            f"Heights are negative (smallest {Z[0, 2]:.6g}), because rho is, and SciPy refuses them; "
            "`Z[:, 2] -= Z[0, 2]` makes it the same tree for rho plus a constant off the diagonal.",
            NotNegativeTypeWarning,
        )
    return Z
