"""The number of clusters: what is computed for every k, and which k is chosen."""

from __future__ import annotations

import copy
import math
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from energystats._core.interrupts import map_in_threads
from energystats._core.threads import one_thread
from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, FloatArray, RandomLike
from energystats.cluster_tests.cluster_test import check_lines, metric_to_test
from energystats.cluster_tests.cluster_tree import SMALLEST_NODE, Rules, tree_of_points
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.reference_tables import Null, TableNull, check_null, null_name, table_null
from energystats.cluster_tests.resampled_clusters import energy_clusterer
from energystats.cluster_tests.tree_result import ClusterTreeResult, count_near_level
from energystats.clustering.energy_cluster import AUTO
from energystats.clustering.partition import Partition
from energystats.clustering.search import Search
from energystats.clustering.seeding import count_distinct
from energystats.display.numbers import p_text, probability
from energystats.display.result import notes_beside
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity, Points
from energystats.inputs.arrays import check_level
from energystats.inputs.options import as_generator, check_alpha, check_count, check_flag, check_option, note_unused
from energystats.inputs.table import as_table
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, eigenpairs, kept, pairs_work, search_work, tree
from energystats.pairs.workloads import stability as resamples
from energystats.selection.gap import (
    NEGATIVE,
    DrawsTables,
    GapCurve,
    NullKind,
    count_threads,
    eigengaps,
    first_within_one_error,
    fit_gap_reference,
    gap_curve,
    logarithm,
    reference_starts,
)
from energystats.selection.results import NOT_SIGNIFICANCE, SelectKResult, SelectKRow
from energystats.selection.stability import stability_of

__all__ = ["select_k"]


Criterion = Literal["gap", "eigengap", "significance"]
GAP_ROUNDING = 1e-12  # of logarithms of W
CRITERIA = ("gap", "eigengap", "significance")
TEST_DRAWS = 199  # behind the p-value of all points, at least
BESIDE_AT_MOST = 400  # points, of which gaps are computed beside the tests unless something else is asked for
DRAWS_PER_LEVEL = 10  # times 1/level: so far below the level the smallest p can be
ORDINARY_DRAWS = 1000  # above which they are what takes long
STABILITY_RESAMPLES = 100
ROUNDING_OF_GAP = 1e-12  # between eigenvalues of at most 1
REFERENCE_SETS = 20
FEWER = "Use fewer `n_resamples`, a smaller `n_init` or `k_max`, or a random subset of the rows."


@dataclass(frozen=True, slots=True, kw_only=True)
class _SelectionOptions:
    """Hold the checked options of `select_k`."""

    criterion: Criterion
    null: Null
    tables: TableNull | None = None
    power: float
    level: float
    conservative: bool
    n_resamples: int
    n_init: int
    compare: str
    stability: bool
    progress: bool

    def wants(self, criterion: str) -> bool:
        """Return whether the options ask for a given criterion for the number of clusters."""
        beside = self.compare == "auto" and self.criterion == "significance"
        return self.compare == "all" or beside or self.criterion == criterion

    def work(self, d: Dissimilarity, k_max: int) -> tuple[Work, ...]:
        """Estimate the time and memory of choosing the number of clusters, as `Work` objects."""
        size = Size.of(d)
        k_max = min(k_max, d.n)
        found = search_work(size, (1 + k_max) / 2, self.n_init, advice=FEWER).times(k_max)
        bounds = eigenpairs(size.held, (1 + k_max) / 2, FEWER).times(k_max + 1)
        works = [pairs_work(size), found, bounds]
        if self.wants("gap"):
            one = search_work(size, (1 + k_max) / 2, reference_starts(self.n_init), advice=FEWER).times(k_max)
            one = one if size.exact else one.and_then(pairs_work(replace(size, stored=False)))
            what = f"{self.n_resamples} reference sets"
            works += [
                one.times(self.n_resamples, what=what, advice=FEWER),
                kept(self.n_resamples, "reference sets", FEWER, 4.0 * k_max),
            ]
        if self.wants("significance") and _has_tests(d):
            one_column = size.columns == 1
            draws = max(TEST_DRAWS, DRAWS_PER_LEVEL / self.level)
            larger = f"larger `level` (the tests take {DRAWS_PER_LEVEL}/level draws)" if draws > ORDINARY_DRAWS else ""
            advice = f"Use a {larger or 'random subset of the rows'}."
            works += tree(size.held, 5, draws, one_column=one_column, of_draws=advice)
        if self.stability:
            works.append(resamples(size, k_max / 2, STABILITY_RESAMPLES * (k_max - 1), self.n_init, 0.632))
        return tuple(works)


def select_k(
    X: ArrayLike,
    k_max: int = 10,
    criterion: str = "gap",
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    null: Null = "unimodal",
    level: float = LEVEL,
    conservative: bool = False,
    compare: str = "auto",
    stability: bool = False,
    n_resamples: int = REFERENCE_SETS,
    n_init: int = 10,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> SelectKResult:
    r"""Choose the number of energy clusters by the gap statistic, eigenvalue gaps or significant splits.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    k_max : int, default 10
        Largest number of clusters to look at; lowered to n - 1 or the number of distinct points, with a note.
    criterion : {"gap", "eigengap", "significance"}, default "gap"
        The gap statistic on log W with the rule of one standard error; the largest gap between neighbouring
        eigenvalues of a random walk on the points; or the leaves of `cluster_tree`.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho. "gap" and "significance" need numeric columns, or a matrix of Euclidean distances; "gap"
        with tables that `null` permutes or draws needs a table only.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. For "precomputed" it says what R is: R**(1/alpha) is Euclidean.
    null : {"unimodal", "box", "independent"} or callable, default "unimodal"
        Null distribution of the reference sets of "gap": along each principal axis the nearest unimodal one, or the
        uniform one on the range; every column permuted on its own; or null(rng) -> table like X, for any metric.
    level : float, default 0.05
        Family-wise level of "significance", 1e-9 <= level < 1.
    conservative : bool, default False
        As for `cluster_test`.
    compare : {"auto", "chosen", "all"}, default "auto"
        Which columns of `.table` are computed: "chosen" leaves out what is expensive and not of `criterion`, "all"
        leaves out nothing that the data allow, "auto" is "all" for "significance" with at most 400 points, and
        "chosen" otherwise.
    stability : bool, default False
        Fill the column `stability`: mean adjusted Rand index over 100 bootstrap samples, of `cluster_stability`.
    n_resamples : int, default 20
        Reference sets of "gap".
    n_init : int, default 10
        Starts of every clustering, perturbed as in `energy_cluster`; at most 3 of every reference set.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool or None, default None
        Show bars over reference sets and the tree; None: from an estimated two seconds on, where they can be seen.
    rng : int, Generator or None, default None
        Seed of starts, reference sets, tests and resamples.

    Returns
    -------
    SelectKResult
        `.k`, `.notes` (the first says why this k), `.choices` (k by every criterion that was computed), `.partition`
        (the clusters), `.table` (of `.partitions`, those of `energy_cluster` with this seed), `.tree`, `.summary()`...

    Raises
    ------
    ValueError, TypeError, MemoryError
        If the criterion does not go with the data, an option is unknown, or the n x n matrix would not fit.

    Warns
    -----
    TiesWarning, NotCalibratedWarning, PerformanceWarning
        By "significance", as `cluster_test`; if the call is estimated to take more than a minute.

    See Also
    --------
    cluster_tree : The tree of "significance", with all its options.
    cluster_stability : Whether the clusters come back.

    Notes
    -----
    The criteria, and how often each was right, are in ``docs/clustering.md``; "significance" was right most often.
    O(k_max n_init n^2) time for each of 1 + n_resamples data sets; O(n^2) memory.

    References
    ----------
    Tibshirani, Walther & Hastie (2001), JRSS B 63; Franca, Rizzo & Vogelstein, s. 5.2, and von Luxburg (2007),
    Statistics and Computing 17, for eigenvalue gaps.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in ([0, 0], [8, 0], [0, 8])])
    >>> found = es.select_k(X, 5, rng=0)
    >>> found.k, found.partition.sizes
    (3, (30, 30, 30))
    """
    check_option(criterion, "criterion", CRITERIA)
    check_null(null, ("unimodal", "box"))
    check_option(compare, "compare", ("auto", "chosen", "all"))
    for flag, name in ((conservative, "conservative"), (stability, "stability"), (standardize, "standardize")):
        check_flag(flag, name)
    k_max = check_count(k_max, "k_max", low=1)
    plan = _SelectionOptions(
        criterion=cast(Criterion, criterion),
        null=null,
        power=check_alpha(alpha),
        level=check_level(level),
        conservative=conservative,
        n_resamples=check_count(n_resamples, "n_resamples", low=2),
        n_init=check_count(n_init, "n_init", low=1),
        compare=compare,
        stability=stability,
        progress=False,
    )
    table, resolved = as_table(X), metric_to_test(metric, plan.power)
    d = Dissimilarity.from_data(table, metric=resolved, alpha=1.0, standardize=standardize)
    if compare == "auto" and d.n > BESIDE_AT_MOST:
        plan = replace(plan, compare="chosen")
    plan = replace(plan, tables=table_null(null, table, d, resolved))
    plan = replace(plan, progress=check_work(progress, d, *plan.work(d, k_max)))
    return _choose(d, k_max, plan, as_generator(rng))


def _choose(d: Dissimilarity, asked: int, plan: _SelectionOptions, rng: np.random.Generator) -> SelectKResult:
    """Compute all criteria for k = 1, ..., k_max, choose k by one of them, and build the result."""
    _check_goes_with(d, plan)
    reference = _reference_for(d, plan)
    # the tree is that of `cluster_tree`, and the partitions are those of `energy_cluster`, with the same seed
    start = copy.deepcopy(rng)
    _, gap_rng, stability_rng = rng.spawn(3)
    d = _frozen(d.stored())
    k_max = max(1, min(asked, d.n - 1, count_distinct(d.matrix, asked)))
    partitions = tuple(_found_for_each(d, k_max, plan, start))
    # the columns, each from a stream of its own
    log_within = logarithm(np.array([found.within for found in partitions]))
    compared = _compute_gaps(d, log_within, reference, plan, gap_rng)
    gaps = None if isinstance(compared, str) else compared
    tree = _tree_for(d, k_max, plan, start) if plan.wants("significance") else None
    eigen = eigengaps(d.matrix, k_max) if d.n > k_max else np.full(k_max, np.nan)
    steadiness = _stability_column(d, partitions, plan, stability_rng)
    # the table, and the choice read off it
    rows = _make_rows(partitions, log_within, gaps, eigen, tree, steadiness)
    found = _decisions(plan.criterion, k_max, gaps, eigen, tree)
    k, why = found[plan.criterion]
    notes = [why]
    if tree is not None:
        notes.append(f"Null hypothesis at each split: {tree.null_hypothesis}.")
    if k_max < asked:
        notes.append(f"`k_max` was lowered from {asked} to {k_max}: {_why_lowered(d, k_max)}.")
    if plan.criterion == "eigengap" and k == k_max < d.n - 1 and count_distinct(d.matrix, k + 1) == k:
        notes.append(f"There are {k} distinct points: each value counts as a cluster of its own, as ties make it one.")
    notes += _note_criteria(d, plan, compared, tree)
    if not plan.wants("significance"):
        options = {"level": (plan.level, LEVEL), "conservative": (plan.conservative, False)}
        notes += note_unused("without the criterion significance", **options)
    if not plan.wants("gap"):
        drawn = {"n_resamples": (plan.n_resamples, REFERENCE_SETS), "null": (null_name(plan.null), "unimodal")}
        notes += note_unused("without the criterion gap", **drawn)
    return SelectKResult(
        k=k,
        criterion=plan.criterion,
        k_max=k_max,
        rows=rows,
        partitions=partitions,
        choices={criterion: choice for criterion, (choice, _) in found.items()},
        tree=tree,
        null=None if gaps is None else null_name(plan.null),
        n_resamples=None if gaps is None else plan.n_resamples,
        level=None if tree is None else plan.level,
        notes=tuple(notes),
    ).explained()


# ---------------------------------------------------------------- what goes with what


def _check_goes_with(d: Dissimilarity, plan: _SelectionOptions) -> None:
    """Raise ValueError if options for choosing k conflict with the data or each other."""
    if plan.tables is not None and not plan.wants("gap"):
        raise ValueError(
            f"`null={null_name(plan.null)}` draws the reference sets of the gap statistic, which "
            f'criterion="{plan.criterion}" computes only with compare="all".'
        )
    if plan.criterion == "significance":
        check_lines(d)
        if d.n < SMALLEST_NODE:
            raise ValueError(f'`criterion="significance"` needs at least {SMALLEST_NODE} points, got {d.n}.')


def _reference_for(d: Dissimilarity, plan: _SelectionOptions) -> DrawsTables | None:
    """Return the reference distribution of the gap statistic; None if gaps are not asked for or impossible.

    Raise ValueError if there are no coordinates and gaps choose k.
    """
    if not plan.wants("gap") or d.all_coincide:
        return None
    if plan.tables is not None:
        return plan.tables
    found = fit_gap_reference(d, cast(NullKind, plan.null), plan.power)
    if found is None and plan.criterion == "gap":
        what = f" under {d.metric!r}"
        if not d.n_columns:
            what = (
                f": the precomputed matrix holds no Euclidean distances to the power `alpha` = {plan.power:g}. Say "
                "with `alpha` what it holds; if only rounding is in the way of distances, give `lingoes(R).distances`"
            )
        raise ValueError(
            f'`criterion="gap"` draws reference data in coordinates, and there are none known to be valid{what}. Use '
            + 'null="independent", which permutes columns, or ' * bool(d.n_columns)
            + 'criterion="eigengap".'
        )
    return found


def _frozen(d: Dissimilarity) -> Dissimilarity:
    """Return the points with read-only arrays, so that results can share them."""
    if not isinstance(d, Points):
        return d
    points = d.points.view()
    points.flags.writeable = False
    return replace(d, points=points)


def _why_lowered(d: Dissimilarity, k_max: int) -> str:
    """Return a phrase on why the number of clusters cannot exceed `k_max`."""
    if k_max == d.n - 1 or d.n == 1:
        return f"there are {d.n} points" if d.n > 1 else "there is one point"
    return f"there are {k_max} distinct points" if k_max > 1 else "all points coincide"


# ---------------------------------------------------------------- columns


def _found_for_each(d: Dissimilarity, k_max: int, plan: _SelectionOptions, rng: np.random.Generator) -> list[Partition]:
    """Return the best partitions for k = 1, ..., k_max, each found with a copy of the same generator, as a list."""
    if k_max > 1:
        d.largest_eigenpairs(k_max - 1)  # for all upper bounds

    def fit(k: int) -> Partition:
        return AUTO.fit(d, Search(k=k, n_init=plan.n_init), copy.deepcopy(rng))[0]

    # each has a generator of its own, so that neither order nor number of threads matter
    fits = map_in_threads(fit, range(1, k_max + 1), count_threads(d))
    with one_thread(), closing(fits):
        return list(fits)


def _compute_gaps(
    d: Dissimilarity,
    log_within: FloatArray,
    reference: DrawsTables | None,
    plan: _SelectionOptions,
    rng: np.random.Generator,
) -> GapCurve | str | None:
    """Compute the gap statistic for each k; or return a text on why it is undefined, or None without reference sets.

    Raise ValueError instead of the text if gaps choose k.
    """
    if reference is None:
        return None
    found: GapCurve | str = NEGATIVE
    if not (d.matrix < 0).any():
        found = gap_curve(
            log_within, reference, n_resamples=plan.n_resamples, n_init=plan.n_init, progress=plan.progress, rng=rng
        )
    if isinstance(found, str) and plan.criterion == "gap":
        raise ValueError(
            f'`criterion="gap"` takes logarithms of W under {d.metric!r}, and {found}; use criterion="eigengap".'
        )
    return found


def _has_tests(d: Dissimilarity) -> bool:
    """Return whether splits of points can be tested: there are enough points, and they can be projected on lines."""
    return d.n >= SMALLEST_NODE and (not d.n_columns or d.coordinates is not None)


def _tree_for(
    d: Dissimilarity, k_max: int, plan: _SelectionOptions, rng: np.random.Generator
) -> ClusterTreeResult | None:
    """Grow the tree of significant splits with at most k_max leaves; None if splits cannot be tested."""
    if not _has_tests(d):
        return None
    draws = max(TEST_DRAWS, math.ceil(DRAWS_PER_LEVEL / plan.level) - 1)
    rules = Rules(d.n, plan.level, SMALLEST_NODE, k_max, draws)
    return tree_of_points(
        d, rules, ClusterTestOptions(power=plan.power, conservative=plan.conservative, progress=plan.progress), rng
    )


def _smallest_of_leaves(tree: ClusterTreeResult | None, k_max: int) -> FloatArray:
    """Return the smallest adjusted p among the leaves of a tree cut to 1, 2, ... leaves, then NaN; (k_max,)."""
    column = np.full(k_max, np.nan)
    if tree is None:
        return column
    # splits are made in the order of their adjusted p, which is never below that of a parent
    split = sorted(node.pvalue_adjusted for node in tree.nodes if node.children)
    column[: len(split)] = split
    column[len(split)] = min((leaf.pvalue_adjusted for leaf in tree.leaves if leaf.tested), default=1.0)
    return column


def _stability_column(
    d: Dissimilarity, partitions: tuple[Partition, ...], plan: _SelectionOptions, rng: np.random.Generator
) -> FloatArray:
    """Compute the mean adjusted Rand index over resamples for each k > 1, NaN for 1; (k_max,)."""
    column = np.full(len(partitions), np.nan)
    if plan.stability:
        for found, child in zip(partitions[1:], rng.spawn(len(partitions) - 1), strict=True):
            steadiness = stability_of(
                d,
                found,
                cluster=energy_clusterer(found.k, plan.n_init),
                n_resamples=STABILITY_RESAMPLES,
                scheme="bootstrap",
                progress=False,
                rng=child,
            )
            column[found.k - 1] = steadiness.adjusted_rand
    return column


def _make_rows(
    partitions: tuple[Partition, ...],
    log_within: FloatArray,
    gaps: GapCurve | None,
    eigen: FloatArray,
    tree: ClusterTreeResult | None,
    steadiness: FloatArray,
) -> tuple[SelectKRow, ...]:
    """Build the rows of the table of criteria, one for each number of clusters k."""
    nothing = np.full(len(partitions), np.nan)
    smallest = _smallest_of_leaves(tree, len(partitions))
    return tuple(
        SelectKRow(
            k=found.k,
            within=found.within,
            share=found.between / found.total if found.total else 0.0,
            log_within=float(log_within[i]),
            gap=float((nothing if gaps is None else gaps.gap)[i]),
            gap_error=float((nothing if gaps is None else gaps.error)[i]),
            eigengap=float(eigen[i]),
            pvalue=float(smallest[i]),
            stability=float(steadiness[i]),
        )
        for i, found in enumerate(partitions)
    )


# ---------------------------------------------------------------- the choice


def _decisions(
    criterion: str, k_max: int, gaps: GapCurve | None, eigen: FloatArray, tree: ClusterTreeResult | None
) -> dict[str, tuple[int, str]]:
    """Return which k each criterion chooses, with a sentence on why, by criterion name."""
    if k_max == 1:
        return {criterion: (1, "There is no other number to choose: k_max is 1.")}
    found = {"eigengap": _by_eigengap(eigen)}
    if gaps is not None:
        found["gap"] = _by_gap(gaps)
    if tree is not None:
        found["significance"] = _by_significance(tree)
    return {name: found[name] for name in CRITERIA if name in found}


def _by_gap(gaps: GapCurve) -> tuple[int, str]:
    """Choose k by the gap statistic's one-standard-error rule; return k and a sentence on why."""
    k = first_within_one_error(gaps.gap, gaps.error)
    if k is None:
        last = gaps.gap.size
        if np.isinf(gaps.gap[-1]):
            return last, f"k = {last} leaves nothing but coinciding points in every cluster: W is 0."
        return last, (
            f"The gap still grows by more than one standard error up to k = {last}, the largest looked at: take a "
            "larger `k_max` if there can be more clusters."
        )
    following, error = gaps.gap[k], gaps.error[k]
    return k, (
        f"k = {k} is the first whose gap, {_gap_text(gaps.gap[k - 1])}, is not below that of the next k less one "
        f"standard error, {_gap_text(following)} - {error:.3g}.{_describe_higher_gap(gaps, k)}"
    )


def _gap_text(gap: float) -> str:
    """Format a gap, or a 0 where it is one but for rounding."""
    return f"{gap if abs(gap) > GAP_ROUNDING else 0.0:.3g}"


def _describe_higher_gap(gaps: GapCurve, k: int) -> str:
    """Describe the largest gap where it exceeds that of the chosen k by more than its standard error; else ''."""
    # the rule of one standard error looks at neighbours alone: twelve clusters on a grid have their first dip at k = 1
    best = int(np.argmax(gaps.gap))
    # infinite where W is 0, of clusters of coinciding points
    if np.isinf(gaps.gap[k - 1]) or not gaps.gap[best] - gaps.gap[k - 1] > gaps.error[best]:
        return ""
    return (
        f" This rule compares neighbouring k alone: the gap is larger at k = {best + 1}, {gaps.gap[best]:.3g}, by more "
        f"than its standard error, {gaps.error[best]:.2g}."
    )


def _by_eigengap(eigen: FloatArray) -> tuple[int, str]:
    """Choose k >= 2 by the largest gap between eigenvalues; return k and a sentence on why."""
    k = int(np.argmax(eigen[1:])) + 2
    if eigen[k - 1] <= ROUNDING_OF_GAP:
        return 2, (
            "All gaps between neighbouring eigenvalues but the first are rounding, as of points that are equally far "
            "apart: k = 2 is the smallest number that this criterion can give, and says nothing."
        )
    return k, (
        f"The largest gap between neighbouring eigenvalues, {eigen[k - 1]:.3g}, comes after eigenvalue {k}; k = 1 "
        "cannot be chosen in this way."
    )


def _by_significance(tree: ClusterTreeResult) -> tuple[int, str]:
    """Choose k as the number of leaves of the tree of significant splits; return k and a sentence on why."""
    k, level = tree.k, tree.level
    left = [leaf.pvalue_adjusted for leaf in tree.leaves if leaf.tested]
    if not left:
        return k, f"No leaf of the tree has the {tree.min_size} distinct points that a further test takes."
    if min(left) <= level:
        return k, f"A split is still significant (adjusted {p_text(min(left))}) at k = {k}, the largest looked at."
    smallest = probability(min(left))
    if k == 1:
        return k, f"No split had an adjusted p <= {level:g}: the smallest is {smallest}."
    split = f"{k - 1} split{'s' * (k > 2)} had an adjusted p <= {level:g}"
    return k, f"{split}, and no further split has: the smallest is {smallest}."


def _note_criteria(
    d: Dissimilarity, plan: _SelectionOptions, gaps: GapCurve | str | None, tree: ClusterTreeResult | None
) -> list[str]:
    """Return notes on how the gaps and p-values of all k were computed, and what they mean."""
    notes = []
    if isinstance(gaps, GapCurve):
        if plan.tables is not None:
            notes.append(f"Gap: {plan.n_resamples} reference sets ({plan.tables.name}), for the null hypothesis that "
                         f"{plan.tables.hypothesis}.")  # fmt: skip
            notes += plan.tables.notes()[1:]
        else:
            drawn = {"unimodal": "from their nearest unimodal distributions", "box": "uniform on their ranges"}
            with_scores = f"with independent principal components, {drawn[null_name(plan.null)]}"
            notes.append(f"Gap: {plan.n_resamples} reference sets {with_scores}.")
        if gaps.rounded:
            notes.append("Clusters of reference sets were found with rho in single precision: log W has nine digits.")
        if not d.n_columns:
            to_power = "" if plan.power == 1 else f" to the power {plan.power:g}"
            notes.append(f"Assumed: the matrix holds Euclidean distances{to_power}; references are drawn in their "
                         "coordinates.")  # fmt: skip
    elif plan.wants("gap") and not d.all_coincide:
        notes.append(f"No gaps: {gaps or 'there are no coordinates to draw reference sets in'}.")
    elif plan.criterion == "significance":
        notes.append('Gaps are computed with `compare="all"`.')
    if tree is not None:
        if near := count_near_level(tree):
            notes.append(f"Nodes of the tree with a p near the level: {near}; another seed can give another k.")
        notes.append(
            "p of a further split: the smallest adjusted p of the leaves while the tree had k of them; family-wise "
            f"level {plan.level:g}. A large p is no evidence that there is only one cluster. `.tree` has the splits."
        )
        notes += [text for text in notes_beside(tree) if text not in notes]
    if plan.stability:
        notes.append(NOT_SIGNIFICANCE)
    return notes
