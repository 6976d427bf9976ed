"""Tests of equal distributions by permutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, RandomLike
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests.asymptotic_test import asymptotic_test, asymptotic_work
from energystats.distribution_tests.binned_sliced import binned_test, binned_work, sliced_test, sliced_work
from energystats.distribution_tests.combined_metrics import combined_test
from energystats.distribution_tests.cross_test import cross_test, cross_work
from energystats.distribution_tests.designs import Design, check_design, exchangeable_units
from energystats.distribution_tests.found_groups import warn_if_found
from energystats.distribution_tests.permutation_test import (
    STATISTICS,
    GroupComparison,
    permutation_test,
    permutation_work,
)
from energystats.distribution_tests.results import EnergyTestResult
from energystats.inputs.methods import MethodLike, read_method
from energystats.inputs.options import as_generator, check_flag, check_option
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.open_blocks import opened
from energystats.pairs.workloads import Size

__all__ = ["energy_test", "run_method"]


def energy_test(
    *samples: ArrayLike,
    groups: ArrayLike | None = None,
    metric: MetricLike | Sequence[MetricLike] = "euclidean",
    alpha: float | Sequence[float] = 1.0,
    statistic: str = "between",
    method: MethodLike = "auto",
    n_resamples: int | None = None,
    design: Design | None = None,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    progress: bool | None = None,
    client: Any = None,
    rng: RandomLike = None,
) -> EnergyTestResult:
    r"""Test by permutation whether two or more samples come from one distribution.

    Parameters
    ----------
    *samples : array_like of shape (n_i,) or (n_i, d)
        The samples one by one, or one pooled table with `groups`: arrays, frames, Series with a name each, the path of
        a Parquet file, a memory map, or a Dask array or frame.
    groups : array_like of shape (n,), or str, optional
        Group of each row of the pooled table, known before the data were seen, or the name of its column in a Parquet
        file or Dask frame. Groups are reported in sorted order, categoricals in theirs.
    metric : str, Metric, callable or a sequence of them, default "euclidean"
        The semimetric rho; with "precomputed" the pooled table is its matrix. Of a sequence, the smallest of the
        p-values is tested itself, on the same permutations, so that the level is exact and none has to be chosen.
    alpha : float or sequence of float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 means alone are compared. A sequence as for `metric`.
    statistic : {"between", "pairwise", "f"}, default "between"
        "between" is S; "pairwise" is the sum over pairs of n_i n_j/(n_i + n_j) E_ij (2S when k = 2); "f" is
        (S/(k - 1))/(W/(n - k)), which has the same p-value as S.
    method : str, Permutation, Sliced or Binned, default "auto"
        "exact" visits every distinct labeling; "auto" does so when there are at most `n_resamples` of them, and else
        is "permutation". "sliced" and "binned" are for many rows, with an exact level; "asymptotic" and "cross" are
        approximations without permutations. Options stand in an object: ``es.Permutation(9999, stop_at=20)``.
    n_resamples : int, optional
        Random permutations: 999, or the number of `method`. Not with "asymptotic" and "cross", which make none.
    design : Design, optional
        Strata, pairs or whole plots: ``es.Design(strata=block)``. None: all rows may be exchanged.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the rows, which stay with them, so that equality must include the weights. Not for "f".
    standardize : bool, default False
        Z-scores (divisor n) of the pooled columns before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    client : distributed.Client, optional
        Dask cluster that does the work.
    rng : int, Generator or None, default None
        Seed of the permutations, of the halves of "cross", and of directions and bins.

    Returns
    -------
    EnergyTestResult
        `.statistic`, `.pvalue`, `.pvalue_interval`, `.effect_size` (S/T), `.inhomogeneity` (H), `.method` and more.

    Raises
    ------
    ValueError
        If there is a single group, columns or labels do not fit, a value is missing or not finite, weights are not
        positive, the design leaves nothing to permute, or an option is unknown or contradicts another.
    TypeError
        If the input does not hold real numbers, or labels cannot be sorted, such as numbers beside text.
    ConnectionError, MemoryError
        If the cluster goes away, or the work would not fit into the available memory.

    Warns
    -----
    DoubleDippingWarning, NotCalibratedWarning
        If the groups were found in the same data; by "asymptotic" and "cross", for data that their curves fit badly.

    See Also
    --------
    cluster_test : For groups that were found in the same data, of which this test warns.
    energy_interval, energy_distance, dispersion : How far apart the samples are.
    pairwise_tests, disco : Which groups differ; several factors.

    Notes
    -----
    p = (1 + #{null >= observed}) / (n_resamples + 1), ties included to rounding on the scale of T. When exact, p is the
    share of all distinct labelings. O(n^2 (d + k n_resamples)) time, O(n n_resamples) memory beyond 4,096 points; for
    one column with rho = \|x - y\|, no n^2. How the methods work, their measured levels and costs, tables beyond memory
    and Dask: `docs/distribution-tests.md`. Warnings: `docs/howto/warnings.md`.

    References
    ----------
    Szekely & Rizzo (2004, 2013); Rizzo & Szekely (2010) for "f"; Phipson & Smyth (2010) for the p-value.

    Examples
    --------
    >>> import energystats as es
    >>> es.energy_test([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).pvalue  # exact: 2 of 20 labelings
    0.1
    """
    check_option(statistic, "statistic", ("between", "pairwise", "f"))
    check_flag(standardize, "standardize")
    sampling = read_method(method, n_resamples, tuple(METHODS))
    generator = as_generator(rng)
    design = check_design(design)
    columns = {"groups": groups, "sample_weight": sample_weight}
    columns |= {"strata": design.strata, "whole_plots": design.whole_plots}
    tables, (groups, sample_weight, *blocks) = opened(samples, columns, client)
    # the first reads the table; the others are fitted to the same points
    first, *others = _semimetrics(metric, alpha)
    d, checked = Dissimilarity.from_samples(tables, groups, metric=first, alpha=1.0, standardize=standardize)
    units = exchangeable_units(design, tables, (groups, *blocks), checked)
    several = [d, *(d.under(other) for other in others)]
    weights, *_ = (each.read_weights(sample_weight) for each in several)  # their products with every rho
    # degrees of freedom count rows, and weights are not counts
    if sample_weight is not None and statistic == "f":
        raise ValueError('`statistic="f"` counts rows and is not defined with `sample_weight`; S has the same p-value.')
    if statistic == "f" and d.n <= checked.k:
        raise ValueError(f'`statistic="f"` needs more rows than groups, got {d.n} rows in {checked.k} groups.')
    comparison = GroupComparison(d, checked, STATISTICS[statistic], sampling, generator, units, weights)
    return run_method(comparison, several, progress, weighted=sample_weight is not None)


def _semimetrics(metric: Any, alpha: Any) -> list[Metric]:
    """Resolve `metric` and `alpha` to a list of semimetrics: one, or one for each entry of a sequence."""
    many_metrics = isinstance(metric, list | tuple)
    many_alphas = isinstance(alpha, list | tuple) or (isinstance(alpha, np.ndarray) and alpha.ndim > 0)
    if many_metrics and many_alphas:
        raise ValueError("`metric` and `alpha` must not both be sequences; name each pair as an `es.metrics` object.")
    pairs = [(m, alpha) for m in metric] if many_metrics else [(metric, a) for a in (alpha if many_alphas else [alpha])]
    if not pairs:
        raise ValueError(f"`{'metric' if many_metrics else 'alpha'}` must not be empty.")
    found = [resolve(m, a) for m, a in pairs]
    if len(found) > 1 and any(isinstance(m, Precomputed) for m in found):
        raise ValueError('metric="precomputed" is one matrix; several semimetrics need coordinates.')
    return found


@dataclass(frozen=True, slots=True)
class _TestMethod:
    """Hold a method to test groups: the functions that run it and estimate its work, and what it combines with."""

    run: Callable[[GroupComparison], EnergyTestResult]  # the test
    work: Callable[[GroupComparison, Size], list[Work]]  # its cost, for points of a size
    permutes: bool = True  # whether there are permutations, which designs, weights, stops and several semimetrics need
    combines: bool = True  # whether it takes several semimetrics


PERMUTED = _TestMethod(permutation_test, permutation_work)
METHODS = {
    "auto": PERMUTED,
    "exact": PERMUTED,
    "permutation": PERMUTED,
    "asymptotic": _TestMethod(asymptotic_test, asymptotic_work, permutes=False),
    "cross": _TestMethod(cross_test, cross_work, permutes=False),
    "sliced": _TestMethod(sliced_test, sliced_work, combines=False),
    "binned": _TestMethod(binned_test, binned_work, combines=False),
}


def run_method(
    c: GroupComparison, several: Sequence[Dissimilarity], progress: bool | None, *, weighted: bool = False
) -> EnergyTestResult:
    """Run a test method after checking that its options agree and its work is feasible."""
    method = METHODS[c.sampling.method]
    warn_if_found(c.groups)
    _check_combination(c, len(several), method, weighted=weighted)
    # before anything long begins: what does not fit is refused, what takes long is announced
    works = [work for d in several for work in method.work(c, Size.of(d))]
    c = replace(c, progress=check_work(progress, c.d, *works))
    return combined_test(c, several) if len(several) > 1 else method.run(c)


def _check_combination(c: GroupComparison, n_semimetrics: int, method: _TestMethod, *, weighted: bool) -> None:
    """Raise ValueError if method, design, weights or several semimetrics cannot be combined."""
    sampling = c.sampling
    extras = {
        "`strata`, `paired` or `whole_plots`": not c.units.is_free,
        "`sample_weight`": weighted,
        "several semimetrics": n_semimetrics > 1,
    }
    present = [what for what, given in extras.items() if given]
    if present and not method.permutes:
        raise ValueError(f'`method="{sampling.method}"` makes no permutations and does not go with {present[0]}.')
    if sampling.method == "cross" and c.statistic.name != "between":
        raise ValueError(f'`method="cross"` has a statistic of its own; leave `statistic="{c.statistic.name}"` out.')
    if n_semimetrics > 1 and not method.combines:
        raise ValueError(f'`method="{sampling.method}"` takes one semimetric, got {n_semimetrics}.')
    if n_semimetrics > 1 and (sampling.stop_at is not None or sampling.extrapolate):
        raise ValueError("Several semimetrics need all permutations; leave `stop_at` and `extrapolate` out.")
    if not c.units.is_free and (sampling.n_bins is not None or sampling.method == "binned"):
        raise ValueError("Bins are permuted freely and do not go with `strata`, `paired` or `whole_plots`.")
