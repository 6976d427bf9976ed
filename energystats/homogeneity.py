"""Tests of equal distributions by relabeling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from energystats._core import permutation, statistics
from energystats._core.permutation import Exchangeable
from energystats._typing import AnyArray, ArrayLike, FloatArray, RandomLike
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.metrics import MetricLike
from energystats.progress import with_bar
from energystats.results import EnergyTestResult
from energystats.validation import as_generator, check_count, check_option, check_same_index

__all__ = ["StatisticName", "energy_test", "one_versus_rest", "relabeling_test"]

StatisticName = Literal["between", "pairwise", "f", "mmd2", "mmd2 (unbiased)"]
ENUMERATED_UP_TO = 1_000_000  # distinct labelings that method="exact" will visit
CONFIDENCE_LEVEL = 0.95


def energy_test(
    *samples: ArrayLike,
    groups: ArrayLike | None = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    statistic: str = "between",
    method: str = "auto",
    n_resamples: int = 999,
    strata: ArrayLike | None = None,
    standardize: bool = False,
    progress: bool = False,
    rng: RandomLike = None,
) -> EnergyTestResult:
    r"""Permutation test of equal distributions of two or more samples.

    Parameters
    ----------
    *samples : array_like of shape (n_i,) or (n_i, d)
        The samples one by one, or one pooled table with `groups`.
    groups : array_like of shape (n,), optional
        Group of each row of the pooled table. Groups are reported in sorted order.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho; with "precomputed" the pooled table is its matrix.
    alpha : float, default 1.0
        Power of a named distance, 0 < alpha <= 2; at 2 only differences of means are seen.
    statistic : {"between", "pairwise", "f"}, default "between"
        "between" is S; "pairwise" is the sum over pairs of n_i n_j/(n_i + n_j) E_ij (2S when k = 2); "f" is
        (S/(k - 1))/(W/(n - k)), which has the same p-value as S.
    method : {"auto", "exact", "permutation"}, default "auto"
        "exact" visits every distinct labeling; "auto" does so when there are at most `n_resamples` of them.
    n_resamples : int, default 999
        Random relabelings.
    strata : array_like of shape (n,), optional
        Block of each row of the pooled table; labels are permuted within blocks only, which takes care of any effect
        of the blocks. With samples one by one: of all rows, sample after sample.
    standardize : bool, default False
        Z-scores (divisor n) of the pooled columns before distances.
    progress : bool, default False
        Show a bar over the relabelings.
    rng : int, Generator or None, default None
        Seed of the relabelings.

    Returns
    -------
    EnergyTestResult
        `.statistic`, `.pvalue`, `.pvalue_interval`, `.effect_size` (S/T), `.inhomogeneity` (H), `.method`,
        `.n_resamples`, `.null_distribution` and more.

    Raises
    ------
    ValueError
        If there is a single group, the column counts differ, a value is not finite, labels or strata are missing or
        of another length, the strata leave nothing to permute, exact enumeration is asked for and there are more than
        a million labelings, or an option is unknown.
    TypeError
        If the input does not hold real numbers.

    Warns
    -----
    ColumnScaleWarning
        If the columns' standard deviations differ more than 100 times.
    NotNegativeTypeWarning
        If rho is negative somewhere.

    See Also
    --------
    cluster_test : For groups that were found in the same data.
    energy_distance, dispersion : The statistics alone.

    Notes
    -----
    p = (1 + #{null >= observed}) / (n_resamples + 1), ties included. Equality is judged on the scale of T, not of
    the statistic: S is a small difference of large sums, so two labelings tie when their S differ by less than
    T max(1e-12, 2e-10/n). When exact, p is the share of all distinct labelings, the observed one included.

    Labels are permuted, never the matrix: all relabelings go through one matrix product of R with a block of
    indicators. O(n^2 (d + k n_resamples)) time; O(n n_resamples) memory beyond 4,096 points, n^2 below. For one
    column with rho = \|x - y\|, O(n log n + n k n_resamples).

    References
    ----------
    Szekely & Rizzo (2004, 2013); Rizzo & Szekely (2010) for "f"; Phipson & Smyth (2010) for the p-value.

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
    """
    check_option(statistic, "statistic", ("between", "pairwise", "f"))
    check_option(method, "method", ("auto", "exact", "permutation"))
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    generator = as_generator(rng)
    d, checked = Dissimilarity.from_samples(samples, groups, metric=metric, alpha=alpha, standardize=standardize)
    if groups is not None:
        check_same_index(samples[0], strata, "strata")
    return relabeling_test(
        d,
        checked,
        cast(StatisticName, statistic),
        strata=blocks_of(strata, checked),
        method=method,
        n_resamples=n_resamples,
        rng=generator,
        progress=progress,
    )


def blocks_of(strata: Any, groups: Groups) -> Groups | None:
    """The strata as groups of rows, if labels can be permuted within them."""
    if strata is None:
        return None
    blocks = Groups.from_labels(strata, groups.codes.size, name="strata")
    if all(np.ptp(groups.codes[rows]) == 0 for rows in blocks.members()):
        raise ValueError(
            f"`strata` must leave something to permute, but in each of its {blocks.k} blocks all rows have one group."
        )
    return blocks


@dataclass(frozen=True, slots=True)
class Ranking:
    """How labelings are ordered: a read of M, and how many times as large as S's its rounding is, given the sizes."""

    read: Callable[[FloatArray, FloatArray], FloatArray]
    ties: Callable[[FloatArray], float]


def half_energy(M: FloatArray, s: FloatArray, *, unbiased: bool = False) -> FloatArray:
    """MMD squared of two samples, E/2 [theory 2]."""
    return np.asarray(statistics.energy_distances(M, s, unbiased=unbiased)[..., 0, 1] / 2)


def ties_of_mmd(s: FloatArray) -> float:
    """MMD squared is n/(n_1 n_2) S; the U form has up to twice its rounding."""
    return 2 * float(s.sum() / s.prod())


# F is monotone in S for fixed T, so it is ranked by S, whose rounding is known [theory 4, ties]
RANKED_BY = {
    "between": Ranking(statistics.between, lambda s: 1.0),
    "f": Ranking(statistics.between, lambda s: 1.0),
    "pairwise": Ranking(statistics.pairwise_statistic, lambda s: 2.0),
    "mmd2": Ranking(half_energy, ties_of_mmd),
    "mmd2 (unbiased)": Ranking(partial(half_energy, unbiased=True), ties_of_mmd),
}


def relabeling_test(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName = "between",
    *,
    strata: Groups | None = None,
    method: str,
    n_resamples: int,
    rng: np.random.Generator,
    progress: bool = False,
) -> EnergyTestResult:
    """The test behind the door: observed M, M of every relabeling, one count."""
    k, n = groups.k, d.n
    if name == "f" and n <= k:
        raise ValueError(f'`statistic="f"` needs more rows than groups, got {n} rows in {k} groups.')
    labelings, exact, n_others = choose_labelings(groups, strata, method, n_resamples, rng)
    M, s = d.group_sums(groups)
    ranking, tolerance = RANKED_BY[name], permutation.tie_tolerance(d.scale, n)
    observed = float(ranking.read(M, s))
    sums = permutation.null_sums(d.pairs.block_sums, d.row_totals, labelings, k)
    blocks = [ranking.read(m, s) for m in with_bar(sums, progress, total=n_others, unit="relabeling", size=len)]
    null = np.concatenate(blocks) if blocks else np.empty(0)
    extreme = permutation.count_extreme(observed, null, ranking.ties(s) * tolerance)
    pvalue = permutation.upper_pvalue(extreme, null.size)

    S, T = float(statistics.between(M, s)), float(statistics.total(M, s))
    value, distribution = observed, null
    if name == "f":
        value = float(statistics.f_ratio(np.asarray(S), T, n, k, tolerance))
        distribution = statistics.f_ratio(null, T, n, k, tolerance)
    interval = (pvalue, pvalue)
    if not exact:
        interval = permutation.pvalue_interval(extreme, null.size, CONFIDENCE_LEVEL)
    return EnergyTestResult(
        statistic=value,
        pvalue=pvalue,
        pvalue_interval=interval,
        statistic_name=name,
        method="exact" if exact else "permutation",
        n_resamples=n_others + exact,
        null_hypothesis=null_hypothesis(d, k, strata),
        n_strata=0 if strata is None else strata.k,
        effect_size=statistics.share(S, T),
        inhomogeneity=inhomogeneity(M, s) if k == 2 else None,
        within=T - S,
        between=S,
        total=T,
        sizes=tuple(groups.sizes.tolist()),
        labels=groups.names,
        null_distribution=distribution,
        metric=d.metric,
        standardization=d.standardization,
    )


def choose_labelings(
    groups: Groups, strata: Groups | None, method: str, n_resamples: int, rng: np.random.Generator
) -> tuple[Iterator[AnyArray], bool, int]:
    """The labelings to visit besides the observed one, whether they are all there are, and their number."""
    scheme = Exchangeable.freely(groups.codes)
    if strata is not None:
        scheme = Exchangeable(groups.codes, strata.members())
    n_labelings = scheme.count()
    if method == "exact" and n_labelings > ENUMERATED_UP_TO:
        raise ValueError(
            f'`method="exact"` visits every distinct labeling, at most {ENUMERATED_UP_TO}; here there are '
            f'{float(n_labelings):.3g}. Use method="permutation".'
        )
    if method == "exact" or (method == "auto" and n_labelings <= n_resamples):
        return scheme.distinct(), True, n_labelings - 1
    return scheme.random(n_resamples, permutation.draw_key(rng)), False, n_resamples


def inhomogeneity(M: FloatArray, s: FloatArray) -> float:
    """H = E/(2 mean rho(X, Y)), the energy coefficient of inhomogeneity; 0 when all points coincide."""
    return statistics.share(
        float(statistics.energy_distances(M, s)[0, 1]), 2 * float(statistics.group_means(M, s)[0, 1])
    )


def null_hypothesis(d: Dissimilarity, k: int, strata: Groups | None) -> str:
    """What the p-value is about, with the blind spot of squared distances."""
    sentence = f"the {k} samples come from one distribution" + ("" if strata is None else " within every stratum")
    return sentence + (" (squared distances: only differences of means are seen)" if d.metric.only_means else "")


def one_versus_rest(d: Dissimilarity, groups: Groups, **how: Any) -> list[EnergyTestResult]:
    """The test of each group against all others, in the order of the groups."""
    halves = ((groups.codes == j).astype(np.intp) for j in range(groups.k))
    return [relabeling_test(d, Groups(codes, ("rest", "group")), **how) for codes in halves]
