"""Is there cluster structure? Tests that do not use the data twice [theory 5].

A partition found from the data separates them by construction, so permuting its labels rejects every null
hypothesis. The methods here ask about the population instead, and say which question they answered.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, IntArray, RandomLike
from energystats.cluster_tests.clusterers import as_user_clusterer
from energystats.cluster_tests.crossfit import crossfit_test
from energystats.cluster_tests.data_notes import are_directions
from energystats.cluster_tests.gap_cuts import cut_in_gap, note_border
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.reference_samples import compares_numbers
from energystats.cluster_tests.reference_tables import Null, check_null, null_name, table_null
from energystats.cluster_tests.refit import GAUSSIAN, INDEPENDENT_UNIMODAL, INNER, refit_test
from energystats.cluster_tests.results import ALL_COINCIDE, ClusterTestResult, Contrast
from energystats.cluster_tests.split import LINEAR_UNIMODALITY, enough_draws, split_test
from energystats.cluster_tests.unimodality import UNIMODALITY, calibration_factor, one_column_test
from energystats.cluster_tests.whole_clusters import WholeClusters
from energystats.clustering.search import check_distinct
from energystats.clustering.seeding import count_distinct_points
from energystats.display.sentences import Caution
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import EnergyStatsWarning, collected, warn
from energystats.inputs.labels import were_found
from energystats.inputs.options import (
    as_generator,
    check_alpha,
    check_count,
    check_flag,
    check_jobs,
    check_option,
    note_unused,
    refuse_keyword,
)
from energystats.inputs.places import row_places
from energystats.inputs.table import InputTable, as_table
from energystats.metrics.base import Metric, MetricLike, is_named
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.workloads import Size, crossfit, line_draws, refit, split

__all__ = [
    "N_SPLITS",
    "check_lines",
    "cluster_test",
    "method_for",
    "metric_to_test",
    "plan_cluster_test",
    "points_to_test",
    "run_cluster_test",
]


SMALL_SAMPLE = 20  # points
FEW_FAR = 5  # rows outside the largest cluster, fewer of which are named,
FEW_OF_ALL = 0.05  # where they are a smaller share of all;
MORE_OF_ALL = 0.1  # more are counted, where they lie so many times as far from the largest cluster as its outer points
TIMES_AS_FAR, ROWS_OF_LARGEST = 4.0, 200
DEFAULT_K, N_SPLITS = 2, 5
FEW_POINTS = (
    "With fewer than 20 points, here {n}, levels were measured on uniform and normal data alone.",
    "Only clusters far apart are found.",
)
NO_LABELS = (
    "`cluster_test` permutes no labels: groups known before the data were seen go to `energy_test(X, groups=labels)`; "
    "for clusters that were found in X give what finds them, as in `cluster_test(X, clusterer=KMeans(3))`, or their "
    "number, `cluster_test(X, k)`."
)


@refuse_keyword("labels", f"`cluster_test` takes no `labels`. {NO_LABELS}")
def cluster_test(
    X: ArrayLike,
    k: int = DEFAULT_K,
    *,
    clusterer: Any = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    method: str = "auto",
    null: Null = "unimodal",
    n_splits: int = N_SPLITS,
    n_resamples: int = 199,
    conservative: bool = False,
    standardize: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> ClusterTestResult:
    r"""Test whether data have cluster structure at all, without using the data twice.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix R = d**alpha of Euclidean distances d.
    k : int, default 2
        Number of clusters that are looked for; a `clusterer` brings its own (another `k` is noted), one column none.
    clusterer : object or callable, optional
        What clusters the points instead of Hartigan's method: an object with ``fit_predict``, such as scikit-learn's
        clusterers, or a function from points to labels, -1 for noise. A `random_state` that is None is set from `rng`.
    metric : str, Metric or callable, default "euclidean"
        The semimetric for clustering; scores are linear in X, or in rows it compares (roots of shares: "hellinger").
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. For "precomputed" it says what R is: R**(1/alpha) is Euclidean.
    method : {"auto", "split", "unimodal-1d", "refit", "crossfit"}, default "auto"
        "split": unimodality along lines found in three spaces. "unimodal-1d": of one column. "refit": S/T against
        reference samples. "crossfit": held-out E against these. "auto": the second for one column, else the first.
    null : {"unimodal", "gaussian", "independent"} or callable, default "unimodal"
        What "refit" compares with; all but "unimodal" go with it alone. "gaussian" rejects uniform and exponential
        data, which have no clusters. "independent" permutes every column on its own, and null(rng) returns a table
        like X of the user's model: exact level for any metric but a matrix, mixed tables included.
    n_splits : int, default 5
        Random splits of "split" (into five folds) and of "crossfit" (into halves, each used twice).
    n_resamples : int, default 199
        Draws behind each p-value, ceil(k/2) (n + 1) - 1 for n with k > 2; reference samples of "refit" and "crossfit".
    conservative : bool, default False
        Multiply p-values of "split" and "unimodal-1d" by 4/3 more, for flat densities; take n_resamples of 499 or more.
    standardize : bool, default False
        Column z-scores (divisor n) before distances and scores.
    n_jobs : int or None, default None
        Threads over the splits of "split"; None is one, -1 all processors. No number depends on it.
    progress : bool or None, default None
        Show a bar; None: from an estimated two seconds on, where it can be seen.
    rng : int, Generator or None, default None
        Seed of the splits, starts, draws and jitter.

    Returns
    -------
    ClusterTestResult
        `.pvalue`, `.statistic`, `.method`, `.null_hypothesis`, `.contrasts` (one cluster versus the rest, for k > 2),
        `.space` (where the clusters show), `.partition` (those there), `.comparisons`, `.summary()`, `.plot()`.

    Raises
    ------
    ValueError, TypeError
        If there are too few rows or distinct points, or an option does not fit the data or other options.
    MemoryError
        If the pairs of the points that are clustered at a time, or the draws, would not fit.

    Warns
    -----
    TiesWarning, NotCalibratedWarning, PerformanceWarning, EnergyStatsWarning
        If ties can change p; a matrix is not Euclidean; slow calls; draws too few for a p of at most .05.

    See Also
    --------
    validate_clusters : The same, and which of the clusters are separate.

    Notes
    -----
    A small p means structure beyond H0, not that a certain cluster or their number is real; correlated
    columns of a single cloud are not "independent". Each method step by step, with levels: ``docs/clustering.md``.
    O(n_splits a^2 + k n_splits n_resamples n log n) time and O(a^2 + n) memory for "split", a being at most 1,000;
    O(n_resamples n^2) time and O(n^2) memory for references.

    References
    ----------
    Hartigan & Hartigan (1985); Beran (1988); Clarke et al. (2008); Liu & Xie (2020); Helgeson, Vock & Bair (2021).

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(5)
    >>> two = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(6, 1, (30, 2))])
    >>> es.cluster_test(two, rng=0).pvalue < 0.05
    True
    >>> es.cluster_test(two, method="refit", null="gaussian", n_resamples=99, rng=0).pvalue
    0.01
    """
    _check_options(k, method, null, clusterer=clusterer, conservative=conservative)
    table = as_table(X)
    check_flag(conservative, "conservative")
    check_flag(standardize, "standardize")
    options = ClusterTestOptions(
        method=method,
        null=null,
        n_splits=check_count(n_splits, "n_splits", low=1),
        n_resamples=check_count(n_resamples, "n_resamples", low=1),
        conservative=conservative,
        power=check_alpha(alpha),
        user_clusterer=None if clusterer is None else as_user_clusterer(clusterer),
        n_jobs=check_jobs(n_jobs),
    )
    generator = as_generator(rng)
    d = points_to_test(table, metric, options.power, standardize=standardize)
    tables = table_null(null, table, d, metric_to_test(metric, options.power))
    if tables is None:
        check_lines(d)
    k = check_count(k, "k", low=2, high=max(d.n, 2), why=", the number of points")
    own_k = k if clusterer is None else DEFAULT_K
    if own_k > DEFAULT_K and not d.all_coincide:
        check_distinct(count_distinct_points(d, own_k), own_k)
    conservative = conservative or are_directions(d)
    options = replace(options, k=own_k, method=method_for(d, method), tables=tables, conservative=conservative)
    options = replace(options, progress=check_work(progress, d, *plan_cluster_test(d, options)))
    start = copy.deepcopy(generator)
    result = _with_k_of_clusterer(run_cluster_test(d, options, generator), k, options)
    unused: tuple[str, ...] = ()
    if options.method in ("refit", "unimodal-1d"):
        unused = note_unused(f'with method="{options.method}"', n_splits=(n_splits, N_SPLITS))
    result = replace(result, notes=(*_note_gap_beside(result, d, options, start), *result.notes, *unused))
    if d.n >= SMALL_SAMPLE or tables is not None:  # whose level is exact for any n
        return result
    few = Caution(FEW_POINTS[0].format(n=d.n), FEW_POINTS[1])
    return replace(result, notes=(few, *result.notes))


def _note_gap_beside(
    found: ClusterTestResult, d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator
) -> tuple[str, ...]:
    """Return a caution if a test rejects, but a gap divides the points otherwise than its two clusters; else ()."""
    shown = found.partition
    if found.scores is None or found.pvalue > LEVEL or shown is None or shown.k != 2 or options.user_clusterer:
        return ()
    with collected():  # what there is to say of the points was said
        return note_border(shown.labels, cut_in_gap(d, shown.labels, found.space, options.power, rng)[0])


def _with_k_of_clusterer(result: ClusterTestResult, k: int, options: ClusterTestOptions) -> ClusterTestResult:
    """Return a test result whose k is what the user's clusterer found, with a note if the call asked for another k."""
    own = options.user_clusterer
    if own is None or not own.counts:  # nothing was clustered
        return result
    unused = Caution(f"`k` = {k} was not used: {own.name} brings its own number of clusters, here {own.counts[0]}.")
    notes = (unused,) if k not in (DEFAULT_K, own.counts[0]) else ()
    return replace(result, k=own.counts[0], notes=(*notes, *result.notes))


Test = Callable[[Dissimilarity, ClusterTestOptions, np.random.Generator], ClusterTestResult]


class _Method(NamedTuple):
    """Hold the function of a test method, the function that estimates its work, and whether it draws references."""

    test: Test
    work: Callable[[Size, ClusterTestOptions], tuple[Work, ...]]
    in_coordinates: bool  # whether reference samples are drawn


def _work_of_split(size: Size, options: ClusterTestOptions) -> tuple[Work, ...]:
    return split(size, options.k, options.n_splits, enough_draws(options.n_resamples, options.k))


def _work_of_one_column(size: Size, options: ClusterTestOptions) -> tuple[Work, ...]:
    return (line_draws(size.n, options.n_resamples),)


def _work_of_refit(size: Size, options: ClusterTestOptions) -> tuple[Work, ...]:
    each = 1 if options.tables is not None else 1 + INNER if options.null == "gaussian" else _sets_of_axes(size)
    return refit(size, options.k, options.n_resamples, each)


def _work_of_crossfit(size: Size, options: ClusterTestOptions) -> tuple[Work, ...]:
    return crossfit(size, options.k, options.n_splits, options.n_resamples, _sets_of_axes(size))


def _sets_of_axes(size: Size) -> int:
    """Return how many kinds of axes reference samples are drawn along: 1 for one column, else 2.

    They are the principal components and, of several columns, the columns.
    """
    return 1 if size.columns == 1 else 2


def _in_unit(test: Test) -> Test:
    """Return a test that first divides points by a power of two, against overflow, unless it draws whole tables."""
    return lambda d, options, rng: test(d if options.tables is not None else d.near_one(), options, rng)


METHODS = {
    "split": _Method(split_test, _work_of_split, False),
    "unimodal-1d": _Method(_in_unit(one_column_test), _work_of_one_column, False),
    "refit": _Method(_in_unit(refit_test), _work_of_refit, True),
    "crossfit": _Method(_in_unit(crossfit_test), _work_of_crossfit, True),
}


def plan_cluster_test(d: Dissimilarity, options: ClusterTestOptions) -> tuple[Work, ...]:
    """Estimate the time and memory of a test of cluster structure; a user's clusterer is not counted."""
    size = Size.of(d)
    size = size if options.user_clusterer is None else replace(size, exact=True)
    return METHODS[options.method].work(size, options)


def points_to_test(X: ArrayLike | InputTable, metric: MetricLike, power: float, *, standardize: bool) -> Dissimilarity:
    """Read points and metric for a test of cluster structure, and return them as a `Dissimilarity`."""
    return Dissimilarity.from_data(X, metric=metric_to_test(metric, power), alpha=1.0, standardize=standardize)


def metric_to_test(metric: MetricLike, power: float) -> Metric:
    """Return the metric of a test with the exponent `power` of distances, or 1 if a dissimilarity matrix is given."""
    own_alpha = 1.0 if isinstance(metric, Precomputed) or is_named(metric, "precomputed") else power
    return resolve(metric, own_alpha)


def _check_options(k: object, method: str, null: Null, *, clusterer: Any, conservative: bool) -> None:
    """Raise an error for unknown options of `cluster_test`, and for options that exclude each other."""
    if were_found(k) or np.ndim(k) > 0:  # type: ignore[arg-type]  # anything can stand there
        raise TypeError(f"`k` must be a number of clusters, got labels. {NO_LABELS}")
    if method == "labels":
        raise ValueError(f'`method` must not be "labels". {NO_LABELS}')
    check_option(method, "method", ("auto", "split", "unimodal-1d", "refit", "crossfit"))
    check_null(null, ("unimodal", "gaussian"))
    if null != "unimodal" and method != "refit":
        shown = f'null="{null}"' if isinstance(null, str) else f"null={null_name(null)}"
        raise ValueError(f'`{shown}` goes with `method="refit"`, got method={method!r}.')
    if conservative and method in ("refit", "crossfit"):
        raise ValueError(
            "`conservative` is the larger factor of tests of unimodality, compared with their nearest unimodal "
            f"distribution, and method={method!r} has none."
        )
    if clusterer is not None and method == "unimodal-1d":
        raise ValueError('`clusterer` has no use in method="unimodal-1d", which clusters nothing.')


def run_cluster_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Run the test method that the options name on checked points, and return its result with a partition."""
    method = METHODS[options.method]
    if method.in_coordinates and options.tables is None:
        _check_coordinates(d, options.method)
    whole = WholeClusters(d, options, copy.deepcopy(rng))  # as `energy_cluster` finds them with the same seed
    found = _nothing_to_test(options) if d.n > 1 and d.all_coincide else method.test(d, options, rng)
    if found.few_draws:
        warn(found.few_draws, EnergyStatsWarning)
    if found.partition is None and options.user_clusterer is None:
        found = replace(found, partition=whole.partition())
    if options.method in ("split", "unimodal-1d"):
        found = replace(found, notes=(*_note_far_points(found, d), *found.notes))
    return found.explained()


def _note_far_points(found: ClusterTestResult, d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution that names or counts the rows outside the largest cluster if they are few and far; else ()."""
    shown = found.partition
    if shown is None or shown.k < 2:
        return ()
    largest = int(np.argmax(shown.sizes))
    rows = np.flatnonzero((shown.labels >= 0) & (shown.labels != largest))
    very_few = rows.size < min(FEW_FAR, FEW_OF_ALL * d.n)
    if not very_few and not (
        rows.size < MORE_OF_ALL * d.n and _lie_far(d, rows, np.flatnonzero(shown.labels == largest))
    ):
        return ()
    place = row_places(["X"], [d.n], [d.index])
    places = [place(int(row))[0].removesuffix(" of `X`") for row in rows[:FEW_FAR]]
    names = ", ".join(text.removeprefix("row ") if rows.size > 1 else text for text in places)
    who = f"{names} alone" if rows.size == 1 else f"the rows {names} alone"
    if rows.size >= FEW_FAR:
        who = f"{rows.size} rows, far from all others ({names}{', ...' * (rows.size > FEW_FAR)})"
    one, it = "One cluster is" if shown.k == 2 else "All clusters but one are", "it" if rows.size == 1 else "them"
    says = f"p may speak of {it}, or of the others"
    if found.pvalue > LEVEL:
        says = "so far away, rows can hide clusters of the others"
    return (
        Caution(
            f"{one} {who}: {says}.",
            "A few rows far from all others, such as gross errors and codes of missing values, are lines and modes of "
            "their own. See whether there is a mistake; a test without them asks of the others alone.",
        ),
    )


def _lie_far(d: Dissimilarity, rows: IntArray, largest: IntArray) -> bool:
    """Return whether all of some rows lie far from the points of the largest cluster, beside how far these do."""
    largest = largest[np.unique(np.linspace(0, largest.size - 1, min(largest.size, ROWS_OF_LARGEST)).astype(np.intp))]
    outer = float(np.quantile(d.rho(largest, largest).mean(axis=1), 1 - MORE_OF_ALL))
    power = getattr(d.metric, "alpha", 1.0)
    return bool(d.rho(rows, largest).mean(axis=1).min() > TIMES_AS_FAR**power * outer)


def method_for(d: Dissimilarity, method: str) -> str:
    """Replace "auto" by "unimodal-1d" for one column, else by "split"; refuse "unimodal-1d" for anything else."""
    one_column = d.n_columns == 1
    if method == "unimodal-1d" and not one_column:
        what = f"{d.n_columns} columns" if d.n_columns else "a matrix"
        raise ValueError(f'`method="unimodal-1d"` needs one column, got {what}; use "split".')
    if method == "auto":
        return "unimodal-1d" if one_column else "split"
    return method


def check_lines(d: Dissimilarity) -> None:
    """Raise ValueError if points have categories or missing values, which cannot be projected on lines."""
    if d.n_columns and d.coordinates is None:
        raise ValueError(
            "`metric` must compare numbers alone: modes are looked for along lines, and categories or missing values "
            f"have none, so that under {d.metric!r} no test of modes is known to keep its level. In Python, "
            '`cluster_test` with method="refit" and null="independent" asks whether columns depend on each other. Test '
            "complete numeric columns alone, or labels known before the data were seen (`energy_test`)."
        )


def _check_coordinates(d: Dissimilarity, method: str) -> None:
    """Raise ValueError if reference samples cannot be drawn: for a matrix, and for metrics of categories or amounts."""
    if d.coordinates is None:
        raise ValueError(
            f'`method="{method}"` draws reference samples and needs coordinates, not a matrix; use method="split".'
        )
    if not compares_numbers(d):
        raise ValueError(
            f'`method="{method}"` draws reference samples of continuous columns, some of them below 0, in which '
            f"{d.metric!r} has no meaning or need not have one; "
            'use method="split", or method="refit" with null="independent" or a model of your own.'
        )


def _nothing_to_test(options: ClusterTestOptions) -> ClusterTestResult:
    """Return the test result for points that all coincide, with p = 1."""
    refitted = GAUSSIAN if options.null == "gaussian" else INDEPENDENT_UNIMODAL
    refitted = refitted if options.tables is None else options.tables.hypothesis
    questions = {"split": LINEAR_UNIMODALITY, "unimodal-1d": UNIMODALITY}
    on_scores = options.method in questions
    return ClusterTestResult(
        statistic=0.0,
        pvalue=1.0,
        method=cast(Literal["split", "unimodal-1d", "refit", "crossfit"], options.method),
        null_hypothesis=questions.get(options.method, refitted),
        k=options.k,
        n_resamples=options.n_resamples,
        n_splits=0,
        n_clustered=0,
        conservative=options.conservative,
        jittered=False,
        pvalues=np.ones((1, 1)),
        rows=(Contrast(ALL_COINCIDE, 0.0, 1.0, 1.0),),
        scores=np.zeros(1) if on_scores else None,
        null_distribution=None if on_scores else np.empty(0),
        indices=np.zeros((1, 3)) if on_scores else None,
        factor=calibration_factor(options.conservative) if on_scores else None,
        exact=None if options.tables is None else False,
    )
