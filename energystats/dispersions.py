"""Within + between = total: the energy decomposition of labelled points.

The module is in the plural because the package exports the function `dispersion` under its own name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats._core import statistics
from energystats._typing import ArrayLike
from energystats.blocks import labels_here, opened
from energystats.cost import weigh
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.metrics import MetricLike
from energystats.results import Dispersion
from energystats.validation import as_weights, check_same_index
from energystats.workloads import Size, one_sum

__all__ = ["dispersion"]


def dispersion(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    client: Any = None,
) -> Dispersion:
    r"""Within (W), between (S) and total (T) energy dispersion of labelled points.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed. Or the path of a Parquet file, a
        memory map, a Dask array or frame, which are read in blocks as in `energy_test`.
    labels : array_like of shape (n,), or str
        Group of each row, of any sortable kind. One group is allowed; then S = 0. Or the name of the column of a
        Parquet file or Dask frame.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    sample_weight : array_like of shape (n,), optional
        Positive weights, the largest at most 1e9 times the smallest. Whole numbers count as repeated rows, except in
        z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    client : distributed.Client, optional
        Dask cluster that does the work, as in `energy_test`.

    Returns
    -------
    Dispersion
        `.within`, `.between`, `.total`, `.sizes`, `.g` (k x k means of rho), `.labels`, in the unit of rho.

    Raises
    ------
    ValueError
        If a value is not finite, the labels have another length, are missing, or are equal and of different types (True
        and 1), weights are not positive or differ by more than a factor 1e9, a precomputed matrix is not
        symmetric with zero diagonal, or `alpha` is outside (0, 2].
    TypeError
        If `X` does not hold real numbers, or labels cannot be sorted, such as numbers beside text.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    ColumnScaleWarning
        If the columns' standard deviations differ more than 100 times, and the metric adds their differences.
    MatrixAsPointsWarning
        If the table is square and symmetric with a zero diagonal, as a matrix of dissimilarities is.
    NotNegativeTypeWarning
        If rho is negative somewhere.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_test : Whether S is larger than chance would have it.
    energy_cluster : Labels that make W as small as possible.

    Notes
    -----
    With :math:`g(A, B)` the mean of rho over all ordered pairs,

    .. math:: W = \sum_j \frac{n_j}{2} g(C_j, C_j), \qquad T = \frac{n}{2} g(X, X), \qquad S = T - W .

    O(n^2) time; O(n) memory beyond 4,096 points (the pairs are summed in row blocks), O(n log n) time for
    one column with rho = \|x - y\|. With weights, sums of weights replace the sizes [D, after theorem 3].

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 3-5 and 29.

    Examples
    --------
    >>> import energystats as es
    >>> result = es.dispersion([1.0, 2.0, 6.0, 7.0], ["a", "a", "b", "b"])
    >>> result.within, result.between, result.total
    (1.0, 4.5, 5.5)
    """
    (X,), labels = opened((X,), labels, "labels", client)
    (sample_weight,) = labels_here(sample_weight, client=client)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    check_same_index(X, labels, "labels")
    groups = Groups.from_labels(labels, d.n, name="labels")
    check_same_index(X, sample_weight, "sample_weight")
    check_same_index(labels, sample_weight, "sample_weight")
    weights = as_weights(sample_weight, d.n, "sample_weight")
    d.check_weights(np.ones(d.n) if weights is None else weights, "sample_weight")
    weigh(False, d, one_sum(Size.of(d)))
    M, s = d.group_sums(groups, weights)
    within = statistics.within_per_group(M, s)
    return Dispersion(
        within=float(within.sum()),
        between=float(statistics.between(M, s)),
        total=float(statistics.total(M, s)),
        sizes=tuple(groups.sizes.tolist()),
        labels=groups.names,
        group_name=groups.name,
        g=statistics.group_means(M, s),
        within_per_group=within,
        metric=d.metric,
        standardization=d.standardization,
    )
