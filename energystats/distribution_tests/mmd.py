"""Maximum mean discrepancy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from energystats._core import statistics
from energystats._runtime import check_work
from energystats._typing import ArrayLike, RandomLike
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import Design, check_design, exchangeable_units
from energystats.distribution_tests.energy_test import run_method
from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison
from energystats.distribution_tests.results import EnergyTestResult
from energystats.geometry.kernels import ONLY_DISTANCE, KernelLike, rho_of_kernel, semimetric_of
from energystats.inputs.labels import read_inputs
from energystats.inputs.matrices import as_kernel
from energystats.inputs.methods import MethodLike, read_method
from energystats.inputs.options import as_generator, check_option
from energystats.metrics.base import MetricLike
from energystats.metrics.lookup import resolve
from energystats.pairs.workloads import Size, one_sum

__all__ = ["mmd2", "mmd_test"]


def mmd2(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    kernel: KernelLike = "gaussian",
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    estimator: str = "v",
) -> float:
    r"""Compute the squared maximum mean discrepancy between the distributions of two samples.

    Parameters
    ----------
    x, y : array_like of shape (n,) or (n, d), and (m,) or (m, d)
        The samples, or one pooled table `x` with `groups`.
    groups : array_like of shape (n + m,), optional
        Two groups of the rows of the pooled table.
    kernel : str, Metric or callable, default "gaussian"
        "gaussian" and "laplacian", exp(-\|x - y\|^2/(2 sigma^2)) and exp(-\|x - y\|/(2 sigma)), with sigma the median
        of the non-zero distances between pooled points (of 2,000 rows at fixed places of the pooled table when there
        are more, so that it depends on their order); "distance", the kernel of `metric` and `alpha`; an object of
        `energystats.metrics`, for its kernel; a callable k(X, Y) -> (n, m); or "precomputed": then `x` is the kernel
        matrix of the pooled points.
    metric : str, Metric or callable, default "euclidean"
        The semimetric of ``kernel="distance"``.
    alpha : float, default 1.0
        Its power, 0.001 <= alpha <= 2.
    estimator : {"v", "u"}, default "v"
        "v": all pairs, never negative for a positive definite kernel. "u": without the pairs of a point with itself,
        unbiased; may be negative.

    Returns
    -------
    float
        :math:`E k(X, X') + E k(Y, Y') - 2 E k(X, Y)`, squared, not its root; half the energy distance of the semimetric
        that the kernel generates.

    Raises
    ------
    ValueError
        If the column counts differ, a value is not finite, there are not two groups, "u" is asked for with a sample of
        one point, or an option is unknown.
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
    mmd_test : Whether the discrepancy is larger than chance would have it.
    energy_distance : The distance of a semimetric.

    Notes
    -----
    Computed as E/2, which is the same number for both estimators [theory 2]. O((n + m)^2) time, O(n + m) memory beyond
    4,096 points.

    References
    ----------
    Gretton et al. (2012); Franca, Rizzo & Vogelstein, eqs 7 and 10.

    Examples
    --------
    >>> import energystats as es
    >>> es.mmd2([0.0, 1.0], [2.0, 3.0], kernel="distance")  # half the energy distance
    1.5
    >>> round(es.mmd2([0.0, 1.0], [2.0, 3.0], kernel=es.metrics.Gaussian(sigma=1.0)), 6)
    1.162376
    """
    check_option(estimator, "estimator", ("v", "u"))
    samples, (groups,) = read_inputs((x,) if y is None else (x, y), {"groups": groups})
    d, checked = _two_samples(samples, groups, kernel, metric, alpha)
    _check_pairs_within(checked, estimator)
    check_work(False, d, one_sum(Size.of(d)))
    M, s = d.group_sums(checked)
    return float(statistics.squared_mmd(M, s, unbiased=estimator == "u"))


def mmd_test(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    kernel: KernelLike | Sequence[KernelLike] = "gaussian",
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    estimator: str = "v",
    method: MethodLike = "auto",
    n_resamples: int | None = None,
    design: Design | None = None,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> EnergyTestResult:
    r"""Test by permutation whether two samples come from one distribution, by maximum mean discrepancy.

    Parameters
    ----------
    x, y : array_like of shape (n,) or (n, d), and (m,) or (m, d)
        The samples, or one pooled table `x` with `groups`.
    groups : array_like of shape (n + m,), optional
        Two groups of the rows of the pooled table.
    kernel : str, Metric, callable or a sequence of them, default "gaussian"
        As for `mmd2`: sigma is the median distance, of 2,000 rows at fixed places when there are more. With a sequence,
        the smallest of the p-values is tested itself on the same permutations, so that the level is exact and no
        bandwidth has to be chosen.
    metric : str, Metric or callable, default "euclidean"
        The semimetric of ``kernel="distance"``.
    alpha : float, default 1.0
        Its power, 0.001 <= alpha <= 2.
    estimator : {"v", "u"}, default "v"
        The statistic. For samples of equal size both rank the permutations alike.
    method : {"auto", "exact", "permutation", "asymptotic", "cross"} or Permutation, default "auto"
        As for `energy_test`.
    n_resamples : int, optional
        Random permutations: 999, or the number of `method`. Not with "asymptotic" and "cross", which make none.
    design : Design, optional
        Strata, pairs or whole plots, as for `energy_test`.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int, Generator or None, default None
        Seed of the permutations.

    Returns
    -------
    EnergyTestResult
        `.statistic` is the squared discrepancy; `.metric` names the semimetric of the kernel, with the sigma used.

    Raises
    ------
    ValueError
        As `mmd2`, or if exact enumeration is asked for and there are more than a million labelings, or the design
        leaves nothing to permute.
    TypeError
        If the input does not hold real numbers.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    DoubleDippingWarning
        If the groups are clusters that this package found, whose p means nothing.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_test : For a semimetric, and for more than two samples.
    Design : Strata, pairs and whole plots.

    Notes
    -----
    The kernel, its sigma included, is symmetric in up to 2,000 pooled points, so the level is exact; beyond, sigma has
    the rounding of a sample of 2,000 rows, unless it is given. With "v" the p-value is that of `energy_test` with the
    semimetric of the kernel, unless whole plots of unlike size change the sizes
    of the groups. Cost and memory as there: O(n^2 (d + n_resamples)) time.

    References
    ----------
    Gretton et al. (2012); Sejdinovic et al. (2013) for the equivalence.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(1)
    >>> result = es.mmd_test(rng.normal(size=(30, 2)), rng.normal(1.5, 1.0, size=(40, 2)), rng=0)
    >>> result.pvalue
    0.001
    """
    check_option(estimator, "estimator", ("v", "u"))
    sampling = read_method(method, n_resamples, ("auto", "exact", "permutation", "asymptotic", "cross"))
    generator = as_generator(rng)
    first, *others = _kernels_of(kernel)
    design = check_design(design)
    columns = {"groups": groups, "strata": design.strata, "whole_plots": design.whole_plots}
    samples, (groups, *blocks) = read_inputs((x,) if y is None else (x, y), columns)
    d, checked = _two_samples(samples, groups, first, metric, alpha)
    several = [d, *(d.under(semimetric_of(other, metric, alpha)) for other in others)]
    _check_pairs_within(checked, estimator)
    units = exchangeable_units(design, samples, (groups, *blocks), checked)
    if estimator == "u" and units.smallest_sizes(checked).min() < 2:
        raise ValueError(
            '`estimator="u"` needs at least two points in each sample of every labeling, and exchanging these whole '
            'plots leaves one of them with a single row; use estimator="v".'
        )
    statistic = STATISTICS["mmd2" if estimator == "v" else "mmd2 (unbiased)"]
    return run_method(GroupComparison(d, checked, statistic, sampling, generator, units), several, progress)


def _two_samples(
    samples: Sequence[Any], groups: Any, kernel: KernelLike, metric: MetricLike, alpha: float
) -> tuple[Dissimilarity, Groups]:
    """Read two samples, or a precomputed kernel matrix with groups, as the semimetric of the kernel and two groups."""
    if isinstance(kernel, str) and kernel == "precomputed":
        if len(samples) != 1 or groups is None:
            raise ValueError('`kernel="precomputed"` needs one kernel matrix of the pooled points, and `groups=`.')
        if metric != "euclidean" or alpha != 1:
            raise ValueError(ONLY_DISTANCE)
        samples, semimetric = (rho_of_kernel(as_kernel(samples[0], "K")),), resolve("precomputed", 1.0)
    else:
        semimetric = semimetric_of(kernel, metric, alpha)
    d, checked = Dissimilarity.from_samples(samples, groups, metric=semimetric, alpha=1.0)
    if checked.k != 2:
        raise ValueError(f"`groups` must name two groups, got {checked.k}; `energy_test` takes any number.")
    return d, checked


def _kernels_of(kernel: KernelLike | Sequence[KernelLike]) -> list[KernelLike]:
    """Return the `kernel` argument of a test, one kernel or several, as a list."""
    if not isinstance(kernel, list | tuple):
        return [kernel]  # type: ignore[list-item]  # anything else is checked as a kernel
    if not kernel:
        raise ValueError("`kernel` must not be empty.")
    if len(kernel) > 1 and "precomputed" in kernel:
        raise ValueError('`kernel="precomputed"` is one matrix; several kernels need coordinates.')
    return list(kernel)


def _check_pairs_within(groups: Groups, estimator: str) -> None:
    """Raise ValueError if the unbiased statistic is asked for and a sample has fewer than two points."""
    n, m = groups.sizes.tolist()
    if estimator == "u" and min(n, m) < 2:
        raise ValueError(f'`estimator="u"` needs at least two points in each sample, got {n} and {m}.')
