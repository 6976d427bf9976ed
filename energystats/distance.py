"""Matrices of rho and the energy distance between two samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from energystats._core import statistics
from energystats._typing import ArrayLike, FloatArray, RandomLike
from energystats.cost import weigh
from energystats.dissimilarity import Dissimilarity
from energystats.metrics import MetricLike, Precomputed, resolve
from energystats.validation import as_generator, as_weights, check_count, check_option, check_same_index
from energystats.workloads import SAMPLE_LESS, Size, one_sum, pairs_work, slices

__all__ = ["energy_distance", "pairwise"]


def pairwise(
    X: ArrayLike, Y: ArrayLike | None = None, *, metric: MetricLike = "euclidean", alpha: float = 1.0
) -> FloatArray:
    r"""Matrix of rho between the rows of two tables.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed, which comes back checked.
    Y : array_like of shape (m,) or (m, d), optional
        Other points; X itself when None.
    metric : str, Metric or callable, default "euclidean"
        "euclidean", "exponential", "gaussian", any name of `scipy.spatial.distance.cdist`, "gower" (data frames with
        numeric and categorical columns), "precomputed", an object of `energystats.metrics`, or a callable
        rho(X, Y) -> (n, m). Names of R and scikit-learn that mean the same are taken, too, see `metrics.resolve`.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.

    Returns
    -------
    ndarray of shape (n, m)
        Values rho(x_i, y_j), in the unit of the distance to the power alpha. Parameters that depend on the data
        (``sigma=None``, variances, ranges) are settled on X.

    Raises
    ------
    ValueError
        If a value is not finite, the column counts differ, the metric is unknown, `alpha` is below 0.001 or above 2, or
        the metric cannot compare a row, see Notes; the message names it.
    TypeError
        If the input does not hold real numbers; truth values go with metrics of presence and absence alone.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    ColumnScaleWarning
        If the columns' standard deviations differ more than 100 times, and the metric adds their differences.
    MatrixAsPointsWarning
        If X is square and symmetric with a zero diagonal, as a matrix of dissimilarities is.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_distance : The distance between two samples.

    Notes
    -----
    Euclidean distances come from coordinate differences, so an offset of the data costs no digits.
    O(n m d) time, O(n m) memory.

    "braycurtis" and "jensenshannon" need numbers that are not negative; "dice", "jaccard", "rogerstanimoto",
    "russellrao", "sokalsneath" and "yule" 0 and 1, or truth values. A row of zeros has no "braycurtis", "cosine",
    "dice", "jensenshannon" or "sokalsneath" distance to others, a constant row no "correlation" distance. None of the
    count metrics goes with ``standardize=True``, and neither does "canberra".

    "canberra" is the sum over columns of \|x - y\|/(\|x\| + \|y\|), 0 where both are 0. With d columns of which k are
    not 0 in both rows, R's `dist` gives d/k times this, vegan's `vegdist` 1/k times. The Jaccard index of vegan for
    counts is 2B/(1 + B) with B from "braycurtis"; for 0 and 1 it is "jaccard".

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 2 and 21 for the semimetrics.

    Examples
    --------
    >>> import energystats as es
    >>> es.pairwise([[0.0, 0.0], [3.0, 4.0]]).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    resolved = resolve(metric, alpha)
    if Y is None:
        d = Dissimilarity.from_data(X, metric=metric, alpha=alpha)
        weigh(False, d, pairs_work(Size.of(d), 2.0, SAMPLE_LESS))
        return np.array(d.matrix)
    if isinstance(resolved, Precomputed):
        raise ValueError('`Y` must be None when metric="precomputed": X already is the matrix.')
    return resolved(X, Y)


def energy_distance(
    x: ArrayLike,
    y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    estimator: str = "v",
    x_weights: ArrayLike | None = None,
    y_weights: ArrayLike | None = None,
    method: str = "complete",
    n_slices: int = 50,
    standardize: bool = False,
    rng: RandomLike = None,
) -> float:
    r"""Energy distance between the distributions of two samples: E itself, not its root.

    Parameters
    ----------
    x, y : array_like of shape (n,) or (n, d), and (m,) or (m, d)
        One observation per row.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho, as for `pairwise`, but not "precomputed".
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 only means are compared.
    estimator : {"v", "u"}, default "v"
        "v": means over all pairs, never negative for negative type. "u": pairs of a point with itself are left
        out, unbiased; may be negative.
    x_weights, y_weights : array_like, optional
        Positive weights, in each sample the largest at most 1e9 times the smallest, for "v" only. Whole numbers count
        as repeated rows, except in z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    method : {"complete", "sliced"}, default "complete"
        "complete" sums over all pairs. "sliced" is an estimate for many rows, for Euclidean distances with alpha = 1:
        the mean over random directions of the energy distances along them, times a constant that makes it unbiased.
        The standard error of such an estimate is in the result of `energy_test` with ``method="sliced"``.
    n_slices : int, default 50
        Random directions for "sliced", at least 2.
    standardize : bool, default False
        Z-scores (divisor n) of the pooled columns before distances.
    rng : int, Generator or None, default None
        Seed of the directions.

    Returns
    -------
    float
        :math:`2E\rho(X, Y) - E\rho(X, X') - E\rho(Y, Y')`, in the unit of rho. SciPy's one-dimensional
        `energy_distance` is its root.

    Raises
    ------
    ValueError
        If the column counts differ, a value is not finite, a weight is not positive, `alpha` is outside (0, 2],
        "u" is asked for with weights or with a sample of one point, or "sliced" for another rho.
    TypeError
        If the input does not hold real numbers.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_test : Whether the distance is larger than chance would have it.
    dispersion : The same sums for k groups.

    Notes
    -----
    O((n + m)^2) time, O(n + m) memory beyond 4,096 points; O((n + m) log(n + m)) for one column with
    rho = \|x - y\|. "sliced": O(n_slices (n + m) (d + log(n + m))) time, O(n + m) memory.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 1; Szekely & Rizzo (2013); Huang & Huo (2017) for random directions.

    Examples
    --------
    >>> import energystats as es
    >>> es.energy_distance([0.0, 1.0], [2.0, 3.0])
    3.0
    """
    check_option(estimator, "estimator", ("v", "u"))
    check_option(method, "method", ("complete", "sliced"))
    n_slices, generator = check_count(n_slices, "n_slices", low=2), as_generator(rng)
    d, groups = Dissimilarity.from_samples((x, y), None, metric=metric, alpha=alpha, standardize=standardize)
    check_same_index(x, x_weights, "x_weights")
    check_same_index(y, y_weights, "y_weights")
    n, m = groups.sizes.tolist()
    weighted = x_weights is not None or y_weights is not None
    if estimator == "u" and weighted:
        raise ValueError('`estimator` must be "v" with weights: a weighted U-statistic is not defined.')
    if estimator == "u" and min(n, m) < 2:
        raise ValueError(f'`estimator="u"` needs at least two points in each sample, got {n} and {m}.')
    given = as_weights(x_weights, n, "x_weights"), as_weights(y_weights, m, "y_weights")
    weights = np.concatenate([np.ones(s) if w is None else w for w, s in zip(given, (n, m), strict=True)])
    d.check_weights(weights, "x_weights")
    size = replace(Size.of(d), slices=n_slices * (method == "sliced"))
    weigh(False, d, one_sum(size), slices(size))
    if method == "sliced":
        d = d.sliced(n_slices, generator)
    E = statistics.energy_distances(*d.group_sums(groups, weights), unbiased=estimator == "u")
    return float(E[0, 1])
