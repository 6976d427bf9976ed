"""Tests of equal distributions by permutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energystats._runtime import Work, weigh
from energystats._typing import ArrayLike, RandomLike
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests.asymptotic_test import asymptotic_test, asymptotic_work
from energystats.distribution_tests.binned_sliced import binned_test, binned_work, sliced_test, sliced_work
from energystats.distribution_tests.combined_metrics import combined_test
from energystats.distribution_tests.cross_test import cross_test, cross_work
from energystats.distribution_tests.designs import Design, exchangeable_units
from energystats.distribution_tests.found_groups import warn_if_found
from energystats.distribution_tests.permutation_test import (
    STATISTICS,
    GroupComparison,
    permutation_test,
    permutation_work,
)
from energystats.distribution_tests.results import EnergyTestResult
from energystats.inputs.arrays import as_weights
from energystats.inputs.labels import check_same_index
from energystats.inputs.methods import MethodLike, read_method
from energystats.inputs.options import as_generator, check_option
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.open_blocks import labels_here, opened
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
    r"""Permutation test of equal distributions of two or more samples.

    Parameters
    ----------
    *samples : array_like of shape (n_i,) or (n_i, d)
        The samples one by one, or one pooled table with `groups`. Series with a name each give it to their samples.
        Besides arrays and frames the path of a Parquet file, a memory map, or a Dask array or frame, see Notes.
    groups : array_like of shape (n,), or str, optional
        Group of each row of the pooled table, known before the data were seen, or the name of its column in a Parquet
        file or Dask frame. Groups are reported in sorted order, categoricals in theirs.
    metric : str, Metric, callable or a sequence of them, default "euclidean"
        The semimetric rho; with "precomputed" the pooled table is its matrix. With a sequence, the smallest of the
        p-values is tested itself, on the same permutations, so that the level is exact and none has to be chosen.
    alpha : float or sequence of float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 means alone are compared. A sequence as for `metric`.
    statistic : {"between", "pairwise", "f"}, default "between"
        "between" is S; "pairwise" is the sum over pairs of n_i n_j/(n_i + n_j) E_ij (2S when k = 2); "f" is
        (S/(k - 1))/(W/(n - k)), which has the same p-value as S.
    method : {"auto", "exact", "permutation", "asymptotic", "cross", "sliced", "binned"}, default "auto"
        "exact" visits every distinct labeling; "auto" does so when there are at most `n_resamples` of them.
        "asymptotic" and "cross" are approximations without permutations, see Notes. "sliced" and "binned" are for many
        rows, and their level is exact, too: "sliced" estimates the statistic from distances along random directions,
        "binned" has the complete statistic and permutes the labels of bins of rows.
    n_resamples : int, default 999
        Random permutations.
    design : Design, optional
        Strata, pairs or whole plots: ``es.Design(strata=block)``, ``es.Design(paired=True)``,
        ``es.Design(whole_plots=cage)``. None: all rows may be exchanged.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the rows, the largest at most 1e9 times the smallest; they stay with their rows, so equality
        must include the weights: where one group has larger weights by design, a true null may be rejected too often.
        Not for "f".
    stop_at : int, optional
        Stop as soon as this many permutations reach the observed statistic; p is then their share of those made, and
        `n_resamples` of the result says how many were. Saves time where p is large.
    extrapolate : bool, default False
        When fewer than 10 permutations reach the observed statistic, take p from a generalised Pareto distribution
        fitted to the largest null values; the result is flagged as `extrapolated`.
    n_slices : int, optional
        Random directions for "sliced", at least 2; 50 when None.
    n_bins : int, optional
        At most this many full bins of rows, whose labels are permuted, and a smaller one for each group's rest, which
        keeps its label; from 2 to 4,096. For "binned" 256 when None, or as many as give the smallest group eight; for
        "sliced" single rows are permuted when None.
    standardize : bool, default False
        Z-scores (divisor n) of the pooled columns before distances.
    progress : bool or None, default None
        Show a bar over the permutations. None: if the estimated time is above two seconds and a terminal or notebook
        can show it.
    client : distributed.Client, optional
        Dask cluster that does the work; None takes the client in force where a sample is a Dask collection, and this
        process otherwise. A cluster that stays without workers for two minutes is given up, see Notes.
    rng : int, Generator or None, default None
        Seed of the permutations, of the halves of "cross", and of directions and bins.

    Returns
    -------
    EnergyTestResult
        `.statistic`, `.pvalue`, `.pvalue_interval`, `.effect_size` (S/T), `.inhomogeneity` (H), `.method`,
        `.n_resamples`, `.null_distribution` and more. Of several semimetrics, `.components` has the test of each, and
        the other numbers are those of the one with the smallest p.

    Raises
    ------
    ValueError
        If there is a single group, the column counts differ, a value is not finite, labels or strata are missing, of
        another length, or equal and of different types (True and 1), the strata or plots leave nothing to permute, a
        plot has rows of two groups, weights are not positive or differ by more than a factor 1e9, exact enumeration is
        asked for and there are more than a million labelings, options contradict each other, or one is unknown.
    TypeError
        If the input does not hold real numbers, or labels cannot be sorted, such as numbers beside text.
    ConnectionError
        If the client or its cluster is closed during the call, or has no workers.
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
    DoubleDippingWarning
        If the groups are a clustering result, a fitted clusterer, or a Series made from a result.
    NotCalibratedWarning
        If ``method="cross"`` is used with fewer than 20 points in a sample, or with one three times as large as the
        other; if ``method="asymptotic"`` is, where half of the rows or more are copies of others.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    cluster_test : For groups that were found in the same data.
    energy_distance, dispersion : The statistics alone.
    energy_interval : How far apart two populations are.
    Design : Strata, pairs and whole plots.
    disco : Several factors.
    pairwise_tests : Which groups differ.

    Notes
    -----
    p = (1 + #{null >= observed}) / (n_resamples + 1), ties included. Equality is judged on the scale of T, not of
    the statistic: S is a small difference of large sums, so two labelings tie when their S differ by less than
    T max(1e-12, 2e-10/n). When exact, p is the share of all distinct labelings, the observed one included.

    "asymptotic" fits a Pearson type III distribution to the exact mean, variance and skewness of the statistic over all
    labelings. Over true nulls (normal with 1, 5 and 50 columns, Cauchy, lognormal) it rejected .046 to .057 at level
    .05 and .007 to .012 at .01 for 10 + 10, 30 + 30 and 20 + 20 + 20 points (2,000 samples each), .034 to .062 and .004
    to .016 for 5 + 200 (500 each); for 3 + 3 points, where no exact p is below .1, .052 to .081 at .05.
    "cross" compares one half of each sample along the direction that the other half found; the studentised difference
    is N(0, 1) under equality for any fixed semimetric. Over the same nulls and a binary one it rejected .043 to .073
    at .05 and .005 to .031 at .01 for 10 + 10 to 100 + 100 points, .068 to .124 and .027 to .063 for 10 + 200 (3,000
    samples each), .043 to .082 and .010 to .043 for 20 to 40 against 60 to 400 (1,200 each); below 20 points in a
    sample, and where one is three times as large as the other, it warns. The halves are random, so that p depends on
    the seed.

    "sliced" replaces ||x - y|| by c_d times the mean of \|u'x - u'y\| over random directions u, with the exact constant
    c_d, so that S, W, T and E are unbiased estimates of the complete ones; `statistic_error` is the standard error over
    the directions. All permutations see the same directions, which do not depend on the labels: p belongs to the test
    of the estimated statistic, and its level is exact. "binned" puts rows of one group together at random in bins of
    equal size, and permutes the bins (Domingo-Enrich, Dwivedi & Mackey 2025): a subgroup of all permutations, so that
    the level is exact, too; rows left over keep their labels. Power against all rows permuted, with all pairs: see
    `docs/benchmarks.md`. With "sliced" and `n_bins` both: O(n n_slices (d + log n + n_bins)) time and O(n) memory, and
    O(n_bins^2) for every permutation.

    ``stop_at=h`` is the sequential test of Besag & Clifford: exact level, p = h/(permutations made).

    Labels are permuted, never the matrix: all permutations go through one matrix product of R with a block of
    indicators. O(n^2 (d + k n_resamples)) time; O(n n_resamples) memory beyond 4,096 points, n^2 below. For one
    column with rho = \|x - y\|, O(n log n + n k n_resamples). "asymptotic": O(n^3) time, O(n^2) memory; "cross":
    O(n^2 d) time; "binned": O(n^2 d + n_bins^2 n_resamples) time; "sliced" without bins: O(n_slices n (d + log n + k
    n_resamples)) time.

    **Tables beyond memory.** A Parquet file, a memory map or a Dask collection of more than 64 MiB is read in blocks of
    rows; Parquet files and Dask collections are written once, as 8 n d bytes, to a temporary file first (TMPDIR says
    where). Memory is that of two blocks (32 MiB each), the labels, the index where it does not only count, and at most
    200 MB of indicators; opening a Parquet file takes some 200 MB, whatever its row groups, and 3 to 4 kB for each
    column of each of them (measured: 237 MB for 8,000,000 x 20, 489 MB for 6,000 x 10,000 in six row groups). The
    numbers are those of the array to 1e-12 of T. "sliced" keeps sorted projections, up to 256 MiB and of one direction
    at least. What needs all rows at once ("asymptotic", a metric fitted to all of them) says so. With a `client`,
    pairs of blocks are tasks; the workers draw the permutations themselves from the seed, so that the p-value depends
    neither on their number nor on the blocks, and a lost worker's tasks are done again by others. Exact tests, early
    stops and designs work there too. A client or cluster that is closed during the call ends it within seconds with a
    `ConnectionError`; so does a scheduler without workers after two minutes (``client.wait_for_workers(1)`` before the
    call waits longer). Labels, strata and weights that have an index must have that of the table, row by row, be it a
    frame, a Dask frame or a file, with and without `client`; values under a mask are missing. Arrays of another library
    that follows the array API standard, such as torch, stay where they are, in double precision, on a GPU too; these go
    with "euclidean", "exponential" and "gaussian".

    References
    ----------
    Szekely & Rizzo (2004, 2013); Rizzo & Szekely (2010) for "f"; Phipson & Smyth (2010) for the p-value; Kazi-Aoual et
    al. (1995) for the moments; Shekhar, Kim & Ramdas (2022) for "cross"; Besag & Clifford (1991); Knijnenburg et al.
    (2009) for the tail; Schrab et al. (2023) for tests over several kernels; Huang & Huo (2017) for random directions;
    Domingo-Enrich, Dwivedi & Mackey (2025) for bins.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(30, 2)), rng.normal(1.5, 1.0, size=(40, 2))
    >>> result = es.energy_test(x, y, rng=0)
    >>> result.method, result.pvalue
    ('permutation', 0.001)
    >>> es.energy_test([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).pvalue  # exact: 2 of 20 labelings
    0.1
    >>> es.energy_test(x, y, alpha=[0.5, 1.0, 2.0], rng=0).statistic_name
    'min p'
    """
    check_option(statistic, "statistic", ("between", "pairwise", "f"))
    sampling = read_method(method, n_resamples, tuple(METHODS))
    generator = as_generator(rng)
    samples, groups = opened(samples, groups, "groups", client)
    (sample_weight,) = labels_here(sample_weight, client=client)
    first, *others = _semimetrics(metric, alpha)
    d, checked = Dissimilarity.from_samples(samples, groups, metric=first, alpha=1.0, standardize=standardize)
    units = exchangeable_units(design, samples, groups, checked, client)
    check_same_index(samples, sample_weight, "sample_weight")
    check_same_index(groups, sample_weight, "sample_weight")  # where the table has no index of its own
    weights = as_weights(sample_weight, d.n, "sample_weight")
    if weights is not None:
        d.check_weights(weights, "sample_weight")
    if sample_weight is not None and statistic == "f":
        raise ValueError('`statistic="f"` counts rows and is not defined with `sample_weight`; S has the same p-value.')
    comparison = GroupComparison(d, checked, STATISTICS[statistic], sampling, generator, units, weights)
    several = [d, *(d.under(other) for other in others)]
    return run_method(comparison, several, progress, weighted=sample_weight is not None)


def _semimetrics(metric: Any, alpha: Any) -> list[Metric]:
    """Resolve one semimetric, or one for each entry of a sequence."""
    many_metrics, many_alphas = isinstance(metric, list | tuple), isinstance(alpha, list | tuple | np.ndarray)
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
    """A way to test groups: how it runs, what it costs, and what it goes with.

    Attributes
    ----------
    run : callable
        The test.
    work : callable
        Its cost, for points of a size.
    permutes : bool
        Whether there are permutations, which designs, weights, stops and several semimetrics need.
    combines : bool
        Whether it takes several semimetrics.
    """

    run: Callable[[GroupComparison], EnergyTestResult]
    work: Callable[[GroupComparison, Size], list[Work]]
    permutes: bool = True
    combines: bool = True


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
    """Check that the options go together, weigh the work, and run the method; `several` has a point set a metric."""
    method = METHODS[c.sampling.method]
    warn_if_found(c.groups)
    _check_combination(c, len(several), method, weighted=weighted)
    works = [work for d in several for work in method.work(c, Size.of(d))]
    c = replace(c, progress=weigh(progress, c.d, *works))
    return combined_test(c, several) if len(several) > 1 else method.run(c)


def _check_combination(c: GroupComparison, n_semimetrics: int, method: _TestMethod, *, weighted: bool) -> None:
    """Refuse options that do not go with each other."""
    sampling = c.sampling
    extras = {
        "`strata`, `paired` or `whole_plots`": not c.units.is_free,
        "`sample_weight`": weighted,
        "several semimetrics": n_semimetrics > 1,
    }
    present = [what for what, given in extras.items() if given]
    if present and not method.permutes:
        raise ValueError(f'`method="{sampling.method}"` makes no permutations and does not go with {present[0]}.')
    if n_semimetrics > 1 and not method.combines:
        raise ValueError(f'`method="{sampling.method}"` takes one semimetric, got {n_semimetrics}.')
    if n_semimetrics > 1 and (sampling.stop_at is not None or sampling.extrapolate):
        raise ValueError("Several semimetrics need all permutations; leave `stop_at` and `extrapolate` out.")
    if not c.units.is_free and (sampling.n_bins is not None or sampling.method == "binned"):
        raise ValueError("Bins are permuted freely and do not go with `strata`, `paired` or `whole_plots`.")
