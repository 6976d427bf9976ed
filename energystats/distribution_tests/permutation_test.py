"""Permutation tests of groups: M, the sums of rho between groups, observed and under every permutation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypedDict

import numpy as np

from energystats._core import statistics
from energystats._core.labelings import Labelings, draw_key
from energystats._core.pvalues import (
    FEW,
    count_extreme,
    extrapolated_pvalue,
    generalised_pareto_pvalue,
    has_ties_in_tail,
    pvalue_interval,
    smallest_exact_pvalue,
    smallest_pvalue,
    stopped_interval,
    stopped_pvalue,
    tie_tolerance,
    upper_pvalue,
)
from energystats._runtime import Work, with_bar
from energystats._typing import FloatArray
from energystats.display.sentences import note_negative
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import FREE, ExchangeableUnits
from energystats.distribution_tests.found_groups import notes_on_groups
from energystats.distribution_tests.results import PermutationTestResult, StatisticName
from energystats.inputs.methods import Sampling
from energystats.metrics.base import Metric
from energystats.metrics.z_scores import Standardization
from energystats.pairs.workloads import Size, permutations

__all__ = [
    "STATISTICS",
    "GroupComparison",
    "Null",
    "Statistic",
    "describe_groups",
    "describe_null",
    "draw_null",
    "note_below_all_labelings",
    "permutation_test",
    "permutation_work",
    "smallest_of_all",
]


ENUMERATED_UP_TO = 1_000_000  # distinct labelings that method="exact" will visit
BLOCKS_BETWEEN_INTERIM = 4  # blocks of 64 permutations that share a product when the test may stop early
FAR_ROW = 0.01  # share of the distance between ordinary rows that a tie must not reach
FEW_ROWS = 64  # of a matrix, in which a far row is looked for
TIED_TAIL = (
    "p was counted, not extrapolated: permutations with large statistics tie, as with counts or few points, and no "
    "fitted curve describes the steps between them."
)
STEPPED_TAIL = (
    "p was counted, not extrapolated: the curve fitted to the permutations with large statistics contradicts their "
    "count, as where they lie in steps."
)


# ---------------------------------------------------------------- statistics


@dataclass(frozen=True, slots=True)
class Statistic:
    """Hold a test statistic of groups: its name, its value from M, and the quantity that ranks permutations."""

    is_linear: ClassVar[bool] = True  # whether the statistic is what labelings are ranked by

    name: StatisticName  # as results call it
    # A linear function of M, given the sizes s, with the order of the statistic; (..., k, k), (k,) -> (...)
    rank: Callable[[FloatArray, FloatArray], FloatArray]
    rounding: Callable[[FloatArray], float]  # how many times as large as that of S its rounding is, given s

    def value(self, M: FloatArray, s: FloatArray, n: int) -> FloatArray:
        """Compute a test statistic from sums of dissimilarities between groups, the group sizes s and their sum n."""
        return self.rank(M, s)

    def show(self, ranked: FloatArray, T: float, n: int, k: int, tolerance: float) -> FloatArray:
        """Convert values that put labelings in order, such as S, to values of the test statistic, such as F."""
        return ranked


@dataclass(frozen=True, slots=True)
class _FRatio(Statistic):
    """Hold the F ratio, which is monotone in S for fixed T, so that permutations are ranked by S [theory 4, ties]."""

    is_linear = False

    def value(self, M: FloatArray, s: FloatArray, n: int) -> FloatArray:
        k, S, T = s.size, statistics.between(M, s), statistics.total(M, s)
        return statistics.f_ratio(S, np.maximum(T, S), n, k, 0.0)

    def show(self, ranked: FloatArray, T: float, n: int, k: int, tolerance: float) -> FloatArray:
        return statistics.f_ratio(ranked, T, n, k, tolerance)


def _rounding_of_mmd(s: FloatArray) -> float:
    """Compute the factor by which rounding of the squared MMD exceeds that of the dispersion S; sizes (2,) -> float."""
    return 2 * float(s.sum() / s.prod())


STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic("between", statistics.between, lambda s: 1.0),
        _FRatio("f", statistics.between, lambda s: 1.0),
        Statistic("pairwise", statistics.pairwise_statistic, lambda s: 2.0),
        Statistic("mmd2", statistics.squared_mmd, _rounding_of_mmd),
        Statistic("mmd2 (unbiased)", partial(statistics.squared_mmd, unbiased=True), _rounding_of_mmd),
    )
}


# ---------------------------------------------------------------- one test, specified in full


@dataclass(frozen=True, slots=True, eq=False)
class GroupComparison:
    """Hold the full specification of one test of groups, which every test method takes as its argument."""

    d: Dissimilarity  # the points
    groups: Groups  # group of each
    statistic: Statistic  # what is compared
    sampling: Sampling  # the method, and how many labelings it visits
    rng: np.random.Generator  # what everything random is drawn with
    units: ExchangeableUnits = FREE  # what the design allows to exchange
    weights: FloatArray | None = None  # (n,) weights of the points
    progress: bool = False  # whether to show a bar

    def tolerance(self, T: float) -> float:
        """Return how close the between dispersions of two permutations must be to count as tied."""
        # S is a difference of sums of the size of T; where rho may be negative, T is one, too
        return tie_tolerance(T if self.d.metric.negative_type else self.d.scale_of(self.weights), self.d.n)

    def show(self, ranked: FloatArray, T: float) -> FloatArray:
        """Convert values that put labelings in order, such as S, to values of the test statistic, such as F."""
        if self.statistic.is_linear:
            return ranked
        return self.statistic.show(ranked, T, self.d.n, self.groups.k, self.tolerance(T))

    def count_labelings(self) -> tuple[float, bool]:
        """Count the group labelings to visit, and return whether these are all distinct ones."""
        sampling = self.sampling
        if sampling.method == "permutation":  # counting would cost more than it is worth
            return sampling.n_resamples, False
        count = self.units.scheme(self.groups.codes).count()
        # refused before anything warns of the time it would take
        if sampling.method == "exact" and count > ENUMERATED_UP_TO:
            raise ValueError(
                f'`method="exact"` visits every distinct labeling, at most {ENUMERATED_UP_TO}; here there are '
                f'{f"{count:.3g}" if math.isfinite(count) else "more than 1e+308"}. Use method="permutation", '
                "which draws `n_resamples` of them."
            )
        if sampling.method == "exact" or count <= min(sampling.n_resamples, ENUMERATED_UP_TO):
            return count, True
        return sampling.n_resamples, False

    def other_labelings(self) -> Labelings:
        """Return the group labelings to visit besides the observed one: all others, or random ones."""
        scheme = self.units.scheme(self.groups.codes)
        count, everything = self.count_labelings()
        if everything:
            return Labelings(scheme, int(count) - 1)
        return Labelings(scheme, self.sampling.n_resamples, draw_key(self.rng))


# ---------------------------------------------------------------- the null distribution


@dataclass(frozen=True, slots=True, eq=False)
class Null:
    """Hold the null distribution of a test statistic over permutations, the observed value and the sums of rho M."""

    M: FloatArray  # (k, k) block sums of the observed labeling
    s: FloatArray  # (k,) its group sizes, or sums of weights
    observed: float  # what labelings are ranked by, such as S, for the observed one
    values: FloatArray  # those of the other labelings, in the order in which they were drawn
    extreme: int  # how many reach the observed value, ties included
    exact: bool  # whether they are all there are
    stopped: bool  # whether sampling ended early, at the last of these values


def draw_null(c: GroupComparison) -> Null:
    """Compute a statistic for the observed labels and for permutations, stopping early if asked."""
    others, stop_at = c.other_labelings(), c.sampling.stop_at
    w = np.ones(c.d.n) if c.weights is None else c.weights
    # a large product cannot be left in the middle, so a test that may stop has small ones
    at_once = None if stop_at is None else BLOCKS_BETWEEN_INTERIM
    sums: Iterator[tuple[FloatArray, FloatArray]]
    sums = c.d.pairs.null_sums(w, c.groups.codes, others, c.groups.k, at_once=at_once)
    values: list[FloatArray] = []
    # values are kept in the order in which they were drawn: a stop cuts them there
    extreme = 0
    bar = with_bar(sums, c.progress, total=others.count + 1, unit="labeling", size=lambda pair: len(pair[0]))
    with closing(bar):
        for M, s in bar:
            ranked = c.statistic.rank(M, s)
            if not values:  # the observed labeling comes first
                first = M[0], s[0], float(ranked[0])
                tolerance = c.statistic.rounding(s[0]) * c.tolerance(float(statistics.total(M[0], s[0])))
                ranked = ranked[1:]
            values.append(ranked)
            extreme += count_extreme(first[2], ranked, tolerance)
            # a stop would make an exact p-value a random one
            if stop_at is not None and not others.exact and extreme >= stop_at:
                kept = _stop_short(first[2], np.concatenate(values), stop_at, tolerance)
                return Null(*first, kept, stop_at, exact=False, stopped=True)
    return Null(*first, np.concatenate(values), extreme, others.exact, stopped=False)


def _stop_short(observed: float, values: FloatArray, stop_at: int, tolerance: float) -> FloatArray:
    """Cut null values off at the permutation where `stop_at` of them had reached the observed one."""
    reached = np.cumsum(values >= observed - tolerance)
    return values[: int(np.searchsorted(reached, stop_at)) + 1]


# ---------------------------------------------------------------- the result


class GroupFields(TypedDict):
    """Hold the fields of a test result that follow from the groups and the sums M of rho between them."""

    null_hypothesis: str
    effect_size: float
    inhomogeneity: float | None
    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    group_name: str
    metric: Metric
    standardization: Standardization | None
    notes: tuple[str, ...]


class NullFields(TypedDict):
    """Hold the fields of a test result that follow from the null distribution."""

    statistic: float
    statistic_name: StatisticName
    pvalue: float
    pvalue_interval: tuple[float, float]
    n_resamples: int
    smallest_pvalue: float
    n_strata: int
    n_plots: int
    weighted: bool
    stopped_early: bool
    extrapolated: bool
    null_distribution: FloatArray


def describe_groups(c: GroupComparison, M: FloatArray, s: FloatArray, null: Null | None = None) -> GroupFields:
    """Build the fields of a test result that follow from groups and sums of dissimilarities, notes included."""
    S, T = float(statistics.between(M, s)), float(statistics.total(M, s))
    return GroupFields(
        null_hypothesis=f"the {c.groups.k} samples come from one distribution{c.units.spoken}{c.d.metric.about_means}",
        effect_size=statistics.share(S, T),
        inhomogeneity=_inhomogeneity(M, s) if c.groups.k == 2 else None,
        within=T - S,
        between=S,
        total=T,
        sizes=tuple(c.groups.sizes.tolist()),
        labels=c.groups.names,
        group_name=c.groups.name,
        metric=c.d.metric,
        standardization=c.d.standardization,
        notes=(
            *note_negative(T - S, S, T),
            *notes_on_groups(c.d, c.groups, M, s, c.weights),
            *c.units.notes,
            *c.units.notes_on(c.groups),
            *_note_far_rows(c),
            *_note_few_labelings(c, null),
            *_notes_on_tail(c, null),
        ),
    )


def _inhomogeneity(M: FloatArray, s: FloatArray) -> float:
    """Compute H = E/(2 mean rho(X, Y)), the energy coefficient of inhomogeneity; 0 when all points coincide."""
    return statistics.share(
        float(statistics.energy_distances(M, s)[0, 1]), 2 * float(statistics.group_means(M, s)[0, 1])
    )


def _note_far_rows(c: GroupComparison) -> tuple[str, ...]:
    """Return a note if one outlying row makes the others vanish in rounding errors."""
    points, some = c.d.coordinates, np.arange(0, c.d.n, max(1, c.d.n // FEW_ROWS))
    if points is None and not c.d.is_stored:
        return ()
    others = np.arange(c.d.n)  # of a matrix: a far row stands in each of its rows
    if points is not None:
        column = int(np.ptp(points, axis=0).argmax())
        some = others = np.union1d(some, (points[:, column].argmin(), points[:, column].argmax()))
    rho = np.abs(c.d.rho(some, others))
    width, half = float(rho.max()), float(np.median(np.median(rho, axis=1)))
    if half == 0 or tie_tolerance(width, c.d.n) < FAR_ROW * half:
        return ()
    return (
        f"A row lies {width / half:.0e} times as far from others as half of the rows from each other: labelings that "
        "differ by less than the rounding of such distances count as ties, and p may be far too large. Leave the row "
        "out, if its value stands for a missing one.",
    )


def _note_few_labelings(c: GroupComparison, null: Null | None) -> tuple[str, ...]:
    """Return a note if there are no more distinct labelings than random permutations that were drawn."""
    if null is None or null.exact:
        return ()
    count, n_drawn = c.units.scheme(c.groups.codes).count(), null.values.size
    if count > min(n_drawn, ENUMERATED_UP_TO):
        return ()
    return (
        f'There are {count:.0f} distinct labelings, no more than the {n_drawn} drawn at random: method="exact" visits '
        f"each once, and gives no p below {smallest_of_all(c):.3g}.",
    )


def _notes_on_tail(c: GroupComparison, null: Null | None) -> tuple[str, ...]:
    """Return a note if an extrapolated p was asked for but ties or steps among large null values rule it out."""
    if null is None or null.exact or null.stopped or not c.sampling.extrapolate or null.extreme >= FEW:
        return ()
    tolerance = _tolerance_of(c, null)
    if has_ties_in_tail(null.observed, null.values, tolerance):
        return (TIED_TAIL,)
    fits = generalised_pareto_pvalue(null.observed, null.values) is not None
    contradicted = fits and extrapolated_pvalue(null.observed, null.values, null.extreme, tolerance) is None
    return (STEPPED_TAIL,) * contradicted


def _tolerance_of(c: GroupComparison, null: Null) -> float:
    """Compute how close two null values of a statistic must be to count as tied."""
    return c.statistic.rounding(null.s) * c.tolerance(float(statistics.total(null.M, null.s)))


def smallest_of_all(c: GroupComparison) -> float:
    """Compute the smallest p-value of a permutation test over all distinct labelings."""
    scheme = c.units.scheme(c.groups.codes)
    return smallest_exact_pvalue(scheme.count(), scheme.count_mirrors())


def note_below_all_labelings(c: GroupComparison, pvalue: float) -> tuple[str, ...]:
    """Return a note if an approximate p is below every p that the labelings of so few rows can give."""
    smallest = smallest_of_all(c)
    if pvalue >= smallest:
        return ()
    return (
        f"p is below {smallest:.2g}, the smallest that any permutation test of these few rows can give: so far out it "
        'rests on the shape of the fitted curve alone. Report the p of method="auto" instead.',
    )


def describe_null(c: GroupComparison, null: Null, *, permuted: GroupComparison | None = None) -> NullFields:
    """Build the fields of a test result that follow from null values, such as p and its interval.

    `permuted` has what changes labels, where that is not rows but bins of them.
    """
    smallest = smallest_of_all(c if permuted is None else permuted)
    n, stopped, T = null.values.size, null.stopped, float(statistics.total(null.M, null.s))
    p, extrapolated = (stopped_pvalue if stopped else upper_pvalue)(null.extreme, n), False
    # all labelings leave no chance: the interval is a point
    interval = p, p
    if not null.exact:
        interval = (stopped_interval if stopped else pvalue_interval)(null.extreme, n)
    # draws that stopped at an extreme value are no sample to fit a tail to
    if c.sampling.extrapolate and not (null.exact or stopped):
        fitted_p = extrapolated_pvalue(null.observed, null.values, null.extreme, _tolerance_of(c, null), smallest)
        p, extrapolated = (p, False) if fitted_p is None else (fitted_p, True)
    return NullFields(
        statistic=float(c.show(np.asarray(null.observed), T)),
        statistic_name=c.statistic.name,
        pvalue=p,
        pvalue_interval=interval,
        n_resamples=n + null.exact,
        smallest_pvalue=smallest if null.exact else smallest_pvalue(c.sampling.n_resamples),
        n_strata=c.units.n_strata,
        n_plots=c.units.n_plots,
        weighted=c.weights is not None,
        stopped_early=stopped,
        extrapolated=extrapolated,
        null_distribution=c.show(null.values, T),
    )


def permutation_test(c: GroupComparison) -> PermutationTestResult:
    """Test groups by permuting their labels at random, or over all distinct labelings if they are few."""
    null = draw_null(c)
    return PermutationTestResult(
        method="exact" if null.exact else "permutation",
        **describe_null(c, null),
        **describe_groups(c, null.M, null.s, null),
    )


def permutation_work(c: GroupComparison, size: Size) -> list[Work]:
    """Estimate time and memory of a permutation test of groups."""
    count, visited = c.count_labelings()
    return [permutations(size, c.groups.k, count, interim=c.sampling.stop_at is not None, visited=visited)]
