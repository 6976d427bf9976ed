"""The test behind every entry function: the observed M, M of every permutation, one count."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from energystats._core import moments, statistics
from energystats._core.labelings import Labelings, draw_key
from energystats._core.pvalues import (
    FEW,
    count_extreme,
    generalised_pareto_pvalue,
    pearson_pvalue,
    pvalue_interval,
    stopped_interval,
    stopped_pvalue,
    tie_tolerance,
    upper_pvalue,
)
from energystats._runtime import weigh, with_bar
from energystats._typing import FloatArray
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import ExchangeableUnits
from energystats.distribution_tests.found_groups import notes_on_groups
from energystats.distribution_tests.results import EnergyTestResult
from energystats.exceptions import NotCalibratedWarning, warn
from energystats.pairs.workloads import Size, binned, one_sum, permutation_moments_work, permutations, slices

__all__ = [
    "FREE",
    "RANKED_BY",
    "Null",
    "Sampling",
    "StatisticName",
    "draw_null",
    "make_test_result",
    "permutation_test",
    "report_null",
    "weighed",
]


StatisticName = Literal["between", "pairwise", "f", "mmd2", "mmd2 (unbiased)"]
ENUMERATED_UP_TO = 1_000_000  # distinct labelings that method="exact" will visit
BLOCKS_BETWEEN_INTERIM = 4  # blocks of 64 permutations that share a product when the test may stop early
CONFIDENCE_LEVEL = 0.95
FREE = ExchangeableUnits()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How permutations are chosen, and what is made of them.

    Attributes
    ----------
    method : {"auto", "exact", "permutation", "asymptotic"}
        As asked for.
    n_resamples : int
        Random permutations.
    stop_at : int or None
        Stop once this many permutations reach the observed statistic.
    extrapolate : bool
        Whether a p-value below 10/n_resamples comes from a fitted tail.
    progress : bool
        Whether to show a bar.
    """

    method: str = "auto"
    n_resamples: int = 999
    stop_at: int | None = None
    extrapolate: bool = False
    progress: bool = False


@dataclass(frozen=True, slots=True)
class _Ranking:
    """How labelings are ordered: a linear function of M, and how many times as large as S's its rounding is."""

    read: Callable[[FloatArray, FloatArray], FloatArray]
    ties: Callable[[FloatArray], float]


def _half_energy(M: FloatArray, s: FloatArray, *, unbiased: bool = False) -> FloatArray:
    """MMD squared of two samples, E/2 [theory 2]."""
    return np.asarray(statistics.energy_distances(M, s, unbiased=unbiased)[..., 0, 1] / 2)


def _ties_of_mmd(s: FloatArray) -> float:
    """MMD squared is n/(n_1 n_2) S; the U form has up to twice its rounding."""
    return 2 * float(s.sum() / s.prod())


# F is monotone in S for fixed T, so it is ranked by S, whose rounding is known [theory 4, ties]
RANKED_BY = {
    "between": _Ranking(statistics.between, lambda s: 1.0),
    "f": _Ranking(statistics.between, lambda s: 1.0),
    "pairwise": _Ranking(statistics.pairwise_statistic, lambda s: 2.0),
    "mmd2": _Ranking(_half_energy, _ties_of_mmd),
    "mmd2 (unbiased)": _Ranking(partial(_half_energy, unbiased=True), _ties_of_mmd),
}


@dataclass(frozen=True, slots=True, eq=False)
class Null:
    """The observed labeling among the others.

    Attributes
    ----------
    M : ndarray of shape (k, k)
        Block sums of the observed labeling.
    s : ndarray of shape (k,)
        Its group sizes, or sums of weights.
    observed : float
        Its value.
    values : ndarray
        Those of the other labelings, in the order in which they were drawn.
    extreme : int
        How many reach the observed value, ties included.
    exact : bool
        Whether they are all there are.
    stopped : bool
        Whether sampling ended early, at the last of these values.
    """

    M: FloatArray
    s: FloatArray
    observed: float
    values: FloatArray
    extreme: int
    exact: bool
    stopped: bool


def permutation_test(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName = "between",
    *,
    sampling: Sampling,
    rng: np.random.Generator,
    units: ExchangeableUnits = FREE,
    weights: FloatArray | None = None,
) -> EnergyTestResult:
    """One statistic of one labeling among its permutations."""
    if name == "f" and d.n <= groups.k:
        raise ValueError(f'`statistic="f"` needs more rows than groups, got {d.n} rows in {groups.k} groups.')
    ranking = RANKED_BY[name]
    if sampling.method == "asymptotic":
        return _asymptotic_test(d, groups, name)
    null = draw_null(d, groups, ranking, sampling, rng, units, weights)
    method = "exact" if null.exact else "permutation"
    return report_null(d, groups, name, null, sampling, units, weights, method=method)


def weighed(
    several: Sequence[Dissimilarity],
    groups: Groups,
    sampling: Sampling,
    progress: bool | None,
    units: ExchangeableUnits = FREE,
    *,
    n_slices: int = 0,
    n_bins: int = 0,
) -> Sampling:
    """Refuse or warn of what is about to be done, and decide about the bar."""
    first, k, interim = several[0], groups.k, sampling.stop_at is not None
    works = [slices(replace(Size.of(first), slices=n_slices))] if n_slices else []
    for d in several:
        size = replace(Size.of(d), slices=n_slices)
        if sampling.method == "asymptotic":
            works.append(permutation_moments_work(size))
        elif sampling.method == "cross":
            works.append(one_sum(size, 3.0))
        elif n_bins:
            works += binned(size, n_bins, k, sampling.n_resamples, interim=interim)
        else:
            count, visited = _count_of(groups, units, sampling)
            works.append(permutations(size, k, count, interim=interim, visited=visited))
    return replace(sampling, progress=weigh(progress, first, *works))


def _count_of(groups: Groups, units: ExchangeableUnits, sampling: Sampling) -> tuple[float, bool]:
    """How many labelings there will be, and whether all of them are visited."""
    if sampling.method == "permutation":
        return sampling.n_resamples, False
    count = units.scheme(groups.codes).count()
    if sampling.method == "exact":
        _check_enumerable(count)  # before anything warns of the time it would take
        return count, True
    few = count <= min(sampling.n_resamples, ENUMERATED_UP_TO)
    return (count, True) if few else (sampling.n_resamples, False)


def _check_enumerable(n_labelings: float) -> None:
    """Refuse to visit all of too many labelings."""
    if n_labelings > ENUMERATED_UP_TO:
        raise ValueError(
            f'`method="exact"` visits every distinct labeling, at most {ENUMERATED_UP_TO}; here there are '
            f'{f"{n_labelings:.3g}" if math.isfinite(n_labelings) else "more than 1e+308"}. Use method="permutation", '
            "which draws `n_resamples` of them."
        )


def report_null(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName,
    null: Null,
    sampling: Sampling,
    units: ExchangeableUnits = FREE,
    weights: FloatArray | None = None,
    **more: Any,
) -> EnergyTestResult:
    """The result of a test by permutation."""
    n, stopped = null.values.size, null.stopped
    p, extrapolated = (stopped_pvalue if stopped else upper_pvalue)(null.extreme, n), False
    interval = p, p
    if not null.exact:
        interval = (stopped_interval if stopped else pvalue_interval)(null.extreme, n, CONFIDENCE_LEVEL)
    if sampling.extrapolate and not null.exact and null.extreme < FEW:
        fitted_p = generalised_pareto_pvalue(null.observed, null.values)
        p, extrapolated = (p, False) if fitted_p is None else (min(p, fitted_p), fitted_p < p)
    return make_test_result(
        d,
        groups,
        null.M,
        null.s,
        units,
        float(_value_of(name, np.asarray(null.observed), d, null.M, null.s)),
        name,
        p,
        weights,
        pvalue_interval=interval,
        n_resamples=null.values.size + null.exact,
        stopped_early=null.stopped,
        extrapolated=extrapolated,
        null_distribution=_value_of(name, null.values, d, null.M, null.s),
        **more,
    )


def _asymptotic_test(d: Dissimilarity, groups: Groups, name: StatisticName) -> EnergyTestResult:
    """P from the exact moments of the permutation distribution."""
    M, s = d.group_sums(groups)
    ranking = RANKED_BY[name]
    observed = ranking.read(M, s)
    fitted = _permutation_distribution(d, groups, ranking, s)
    if fitted[1] > 0:
        _warn_of_copies(d)
    value = float(_value_of(name, observed, d, M, s))
    p = pearson_pvalue(float(observed), *fitted)
    shown = None if name == "f" else fitted
    return make_test_result(d, groups, M, s, FREE, value, name, p, method="asymptotic", null_moments=shown)


def _warn_of_copies(d: Dissimilarity) -> None:
    """A smooth distribution was measured to be off where the statistic takes few values."""
    if not d.has_points:
        return
    copies = d.n - len(np.unique(d.points, axis=0))
    if copies >= d.n / 2:
        warn(
            f"{copies} of {d.n} rows are copies of others, so that the statistic takes few values, and the smooth "
            "distribution "
            'behind method="asymptotic" was measured to reject up to .12 of true nulls at level .05; use '
            'method="permutation".',
            NotCalibratedWarning,
        )


def draw_null(
    d: Dissimilarity,
    groups: Groups,
    ranking: _Ranking,
    sampling: Sampling,
    rng: np.random.Generator,
    units: ExchangeableUnits = FREE,
    weights: FloatArray | None = None,
) -> Null:
    """Rank the observed labeling and the others, all of them or a random sample that may end early."""
    others = _choose_labelings(groups, units, sampling, rng)
    exact, n_others = others.exact, others.count
    sums = _sums_of_labelings(d, groups, others, weights, sampling.stop_at is not None)
    values: list[FloatArray] = []
    extreme = 0
    bar = with_bar(sums, sampling.progress, total=n_others + 1, unit="labeling", size=lambda pair: len(pair[0]))
    with closing(bar):
        for M, s in bar:
            ranked = ranking.read(M, s)
            if not values:
                first = M[0], s[0], float(ranked[0])
                scale = _size_of_summands(d, weights, M[0], s[0])
                tolerance = ranking.ties(s[0]) * tie_tolerance(scale, d.n)
                ranked = ranked[1:]
            values.append(ranked)
            extreme += count_extreme(first[2], ranked, tolerance)
            if sampling.stop_at is not None and not exact and extreme >= sampling.stop_at:
                kept = _stop_short(first[2], np.concatenate(values), sampling.stop_at, tolerance)
                return Null(*first, kept, sampling.stop_at, exact=False, stopped=True)
    return Null(*first, np.concatenate(values), extreme, exact, stopped=False)


def _sums_of_labelings(
    d: Dissimilarity, groups: Groups, others: Labelings, weights: FloatArray | None, interim: bool
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """M and sizes of the observed labeling and then of the others, a few at a time if somebody interim at them."""
    w = np.ones(d.n) if weights is None else weights
    return d.pairs.null_sums(w, groups.codes, others, groups.k, at_once=BLOCKS_BETWEEN_INTERIM if interim else None)


def _size_of_summands(d: Dissimilarity, weights: FloatArray | None, M: FloatArray, s: FloatArray) -> float:
    """What rounding is measured against: T, unless rho may be negative."""
    return float(statistics.total(M, s)) if d.metric.negative_type else d.scale_of(weights)


def _stop_short(observed: float, values: FloatArray, stop_at: int, tolerance: float) -> FloatArray:
    """The values up to the permutation at which the count was reached."""
    reached = np.cumsum(values >= observed - tolerance)
    return values[: int(np.searchsorted(reached, stop_at)) + 1]


def _choose_labelings(
    groups: Groups, units: ExchangeableUnits, sampling: Sampling, rng: np.random.Generator
) -> Labelings:
    """The labelings to visit besides the observed one."""
    scheme = units.scheme(groups.codes)
    n_labelings = scheme.count()
    if sampling.method == "exact":
        _check_enumerable(n_labelings)
    few = n_labelings <= min(sampling.n_resamples, ENUMERATED_UP_TO)
    if sampling.method == "exact" or (sampling.method == "auto" and few):
        return Labelings(scheme, int(n_labelings) - 1)
    return Labelings(scheme, sampling.n_resamples, draw_key(rng))


def _permutation_distribution(
    d: Dissimilarity, groups: Groups, ranking: _Ranking, s: FloatArray
) -> tuple[float, float, float]:
    """Mean, standard deviation and skewness of the statistic over all labelings [theory 3, asymptotic]."""
    G = d.centred_gram()
    k = groups.k
    units = np.eye(k * k).reshape(k * k, k, k)
    coefficients = ranking.read(units, s).reshape(k, k)  # the read is linear in M
    C = -(coefficients + coefficients.T)[np.ix_(groups.codes, groups.codes)]
    np.fill_diagonal(C, 0.0)
    np.fill_diagonal(C, -C.sum(axis=1))  # rho(x, x) = 0 leaves the diagonal free, and centring needs rows of sum 0
    found = moments.permutation_moments(G, C)
    if found is None:
        raise ValueError(
            '`method="asymptotic"` needs a statistic that varies over the permutations by more than the rounding of '
            "its "
            "moments; here it does not, as when one row lies very far from all others or all lie at one distance. Use "
            'method="permutation".'
        )
    return found


def _value_of(name: StatisticName, ranked: FloatArray, d: Dissimilarity, M: FloatArray, s: FloatArray) -> FloatArray:
    """The statistic itself, from what it is ranked by."""
    if name != "f":
        return ranked
    tolerance = tie_tolerance(_size_of_summands(d, None, M, s), d.n)
    return statistics.f_ratio(ranked, float(statistics.total(M, s)), d.n, s.size, tolerance)


def make_test_result(
    d: Dissimilarity,
    groups: Groups,
    M: FloatArray,
    s: FloatArray,
    units: ExchangeableUnits,
    statistic: float,
    name: StatisticName | Literal["cross"],
    pvalue: float,
    weights: FloatArray | None = None,
    **more: Any,
) -> EnergyTestResult:
    """A result with everything that can be read from the observed M."""
    S, T = float(statistics.between(M, s)), float(statistics.total(M, s))
    values: dict[str, Any] = {"pvalue_interval": (pvalue, pvalue), "n_resamples": 0, "null_distribution": np.empty(0)}
    return EnergyTestResult(
        statistic=statistic,
        pvalue=pvalue,
        statistic_name=name,
        null_hypothesis=_describe_null(d, groups.k, units),
        n_strata=units.n_strata,
        n_plots=units.n_plots,
        effect_size=statistics.share(S, T),
        inhomogeneity=_inhomogeneity(M, s) if groups.k == 2 else None,
        within=T - S,
        between=S,
        total=T,
        sizes=tuple(groups.sizes.tolist()),
        labels=groups.names,
        group_name=groups.name,
        metric=d.metric,
        standardization=d.standardization,
        weighted=weights is not None,
        notes=notes_on_groups(d, groups, M, s, weights),
        **{**values, **more},
    )


def _inhomogeneity(M: FloatArray, s: FloatArray) -> float:
    """H = E/(2 mean rho(X, Y)), the energy coefficient of inhomogeneity; 0 when all points coincide."""
    return statistics.share(
        float(statistics.energy_distances(M, s)[0, 1]), 2 * float(statistics.group_means(M, s)[0, 1])
    )


def _describe_null(d: Dissimilarity, k: int, units: ExchangeableUnits) -> str:
    """What the p-value is about, with the blind spot of squared distances."""
    sentence = f"the {k} samples come from one distribution"
    if units.strata is not None:
        sentence += " within every stratum"
    if units.plots is not None:
        sentence += ", whole plots being exchangeable"
    return sentence + d.metric.about_means
