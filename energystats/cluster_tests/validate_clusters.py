"""All questions about the clusters of a partition at once, each with its own null hypothesis [theory 5]."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energystats._core.rand_index import adjusted_rand_index
from energystats._core.samples import mean_of_rows
from energystats._core.statistics import share, within_per_cluster
from energystats._runtime import check_work
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.cluster_tests.cluster_test import (
    N_SPLITS,
    check_lines,
    method_for,
    plan_cluster_test,
    points_to_test,
    run_cluster_test,
)
from energystats.cluster_tests.clusterers import (
    EnergyClusters,
    UserClusterer,
    as_user_clusterer,
    label_partition,
    user_partition,
)
from energystats.cluster_tests.column_answers import (
    SMALLEST_COLUMN,
    answer_columns,
    note_columns_of_two_values,
    note_modes_of_columns,
    work_of_columns,
)
from energystats.cluster_tests.data_notes import are_directions, name_population
from energystats.cluster_tests.gap_cuts import note_borders_of_merges, with_gap_of_test, with_gaps
from energystats.cluster_tests.merges import (
    SEPARATED,
    SMALLEST_REGION,
    SMALLEST_SIDE,
    UNIMODAL_REGION,
    Merge,
    MergeOptions,
    PartitionTest,
    merge_clusters,
    merges_of_tree,
    run_merge_tests,
)
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.outside_labels import answer_outside, notes_on_outside, read_outside
from energystats.cluster_tests.resampled_clusters import Resampled, cluster_resamples, energy_clusterer
from energystats.cluster_tests.results import ClusterTestResult
from energystats.cluster_tests.scores import make_scorer
from energystats.cluster_tests.spaces import Space
from energystats.cluster_tests.split import ALIKE, LINEAR_UNIMODALITY
from energystats.cluster_tests.tree_result import ClusterTreeResult
from energystats.cluster_tests.unimodality import UNIMODALITY, calibration_factor
from energystats.cluster_tests.validation_result import (
    AFTER,
    MEASURED,
    MEASURED_HERE,
    ONE_TEST,
    Answer,
    ClusterValidationResult,
)
from energystats.clustering.energy_cluster import ALGORITHMS, AUTO
from energystats.clustering.partition import Partition
from energystats.clustering.search import STARTS, Search
from energystats.clustering.silhouette import score_points
from energystats.display.result import notes_beside
from energystats.display.sentences import Caution, join_names
from energystats.display.tables import LEVEL, shorten_name
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.exceptions import collected
from energystats.inputs.labels import as_clusters, read_inputs, read_labels, were_found
from energystats.inputs.options import as_generator, check_alpha, check_count, check_flag, check_jobs
from energystats.inputs.table import InputTable, as_table
from energystats.metrics.base import MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.workloads import SAMPLE_LESS, Size
from energystats.pairs.workloads import stability as resamples

__all__ = ["validate_clusters"]


STABILITY_RESAMPLES = 100
NAMED = 20  # clusters whose labels are named in a note
SAME_WITHIN = 1e-9  # of T: closer W are that of one partition
NO_CLUSTERER = (
    "not tested: labels without their clusterer can hide a search over all directions; give `clusterer`, or read the "
    "p-values of the tree that they come from"
)
OF_TREE = "cluster_tree"
SEARCHED = ("hartigan", "exact-1d")  # algorithms of the search that clusters resamples
WEIGHTED = (
    "not tested: these clusters were found with weights of the points, and everything here, W, margins and shares too, "
    "is of points that count alike"
)
OTHER_THAN_SEARCHED = (
    "not tested: the tree cut elsewhere than `energy_cluster(X, {k})` does; give the tree itself, whose splits have "
    "p-values"
)
OTHER_SEARCH = (
    "not tested: resamples are clustered by `energy_cluster(X, {k})`, which finds other clusters in these points than "
    "{name} did here (adjusted Rand index {rand:.2f}); give `clusterer`, or validate those"
)
SPLITS_OF_TREE = "not tested as a whole: its merges are the splits of the tree, with the p-values that they have there"
OTHER_CLUSTERS = (
    "not tested: {} finds other clusters in these points than these labels (adjusted Rand index {:.2f}), as after a "
    "fit to other rows, in another order or scale; give `clusterer` alone, or labels that it finds in `X`"
)
ALONG_ITS_LINES = f"{LINEAR_UNIMODALITY}, asked along the lines between these clusters"
TOO_FEW_IN_CLUSTERS = f"not tested: fewer than {SMALLEST_REGION} points are in clusters"
OF_ONE = "not tested: one cluster makes no contrast"
TOO_FEW = f"not tested: one cluster has fewer than {SMALLEST_SIDE} points"


def validate_clusters(
    X: ArrayLike,
    k: int | None = None,
    *,
    partition: Any = None,
    clusterer: Any = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    outside: ArrayLike | Mapping[str, ArrayLike] | None = None,
    n_resamples: int = 199,
    n_splits: int = N_SPLITS,
    conservative: bool = False,
    standardize: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> ClusterValidationResult:
    r"""Validate clusters: test structure, partition, merges, columns and outside labels, and describe each point.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix R = d**alpha of Euclidean distances d.
    k : int, optional
        Number of energy clusters; None where a partition or a clusterer says it.
    partition : Partition, ClusterTreeResult, fitted clusterer or array_like of shape (n,), optional
        Clusters that were found: a result of `energy_cluster`, whose metric is used; a tree, or a choice of k by one,
        whose splits keep their p-values; a fitted clusterer of scikit-learn; or labels, -1 for points in no cluster.
        Mere labels, without `clusterer`, leave much untested, as do labels unlike its own (adjusted Rand below .8).
    clusterer : object or callable, optional
        What finds the clusters, as for `cluster_test`.
    metric : str, Metric or callable, default "euclidean"
        The semimetric of clusters, S and silhouettes; tests are about lines in X, or in rows it compares ("hellinger").
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. For "precomputed" it says what R is: R**(1/alpha) is Euclidean.
    outside : array_like of shape (n,), DataFrame or dict, optional
        Labels known from elsewhere, not used to cluster; several by name. Local optima of W, as found ones, are noted.
    n_resamples : int, default 199
        Draws behind each p-value; more for those that are adjusted. A tree keeps its own options.
    n_splits : int, default 5
        Random splits behind the tests of points, partition and merges; more of them: p depends less on the seed.
    conservative : bool, default False
        Multiply p-values of unimodality by 1.6/1.2 times as much, as for `cluster_test`.
    standardize : bool, default False
        Column z-scores (divisor n) before distances and scores.
    n_jobs : int or None, default None
        Threads over random splits; None is one, -1 all processors. No number depends on it.
    progress : bool or None, default None
        Show bars; None: from an estimated two seconds on, where they can be seen.
    rng : int, Generator or None, default None
        Seed. Clusters and the test of all points are those of `energy_cluster` and `cluster_test` with this seed.

    Returns
    -------
    ClusterValidationResult
        `.to_frame()` (all questions with p; `full=True` adds null hypothesis, family and level), `.clusters`,
        `.merges`, `.variables`, `.points`, `.partition`, `.groups` (separate clusters), `.summary()`, `.plot()`.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of `k`, `clusterer` and `partition` says what the clusters are (`partition` with `clusterer`
        is one), labels do not fit the rows, or an option does not fit the data.
    MemoryError
        If the n x n matrix would not fit.

    Warns
    -----
    TiesWarning, NotCalibratedWarning, PerformanceWarning
        As `cluster_test`.

    See Also
    --------
    cluster_test, cluster_tree, cluster_stability, silhouette : Parts of it, with more options.

    Notes
    -----
    A merge is tested on points that had no part in finding clusters, in a region cut out by single hyperplanes, along
    the line between its two sides; its p is adjusted down the tree of merges (Meinshausen). No p belongs to a cluster
    by itself. What is claimed and what was measured: ``docs/clustering.md``. O(n^2 d) time for rho and that of 100
    clusterings for stability; O((k + d) n_resamples n log n) for tests; O(n^2) memory.

    References
    ----------
    Meinshausen (2008); Hennig (2007); Hubert & Arabie (1985); Rousseeuw (1987).

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(5)
    >>> X = np.concatenate([rng.normal(c, 1, (40, 2)) for c in ([0, 0], [8, 0])])
    >>> found = es.validate_clusters(X, 2, rng=0)
    >>> found.groups
    ((0,), (1,))
    >>> (found.merges["pvalue_adjusted"] <= 0.05).tolist()
    [True]
    """
    check_flag(standardize, "standardize")
    check_flag(conservative, "conservative")
    asked = _read_wanted(k, partition, clusterer, metric, standardize)
    n_resamples, alpha = check_count(n_resamples, "n_resamples", low=1), check_alpha(alpha)
    n_jobs, generator = check_jobs(n_jobs), as_generator(rng)
    # the metric of a partition has its power
    own_alpha = alpha if asked.found is None or asked.metric == "precomputed" else 1.0
    table, labels, known = _read_table_and_labels(X, asked, outside)
    d = points_to_test(table, asked.metric, own_alpha, standardize=asked.standardize)
    if asked.found is not None:
        _refuse_another_space(d, asked.found, metric, alpha, standardize)
    known = {name: read_outside(read, name, d.n) for name, read in known.items()}
    if labels is not None:
        codes, names = as_clusters(labels, d.n, "partition")
        asked = replace(asked, labels=codes, names=names)
    options = ClusterTestOptions(
        k=asked.k or 2,
        method=method_for(d, "auto"),
        n_resamples=n_resamples,
        n_splits=check_count(n_splits, "n_splits", low=1),
        power=alpha,
        n_jobs=n_jobs,
        conservative=conservative or are_directions(d),
    )
    search = Search(k=asked.k or min(2, d.n)).on(d)
    again = resamples(Size.of(d), search.k, STABILITY_RESAMPLES, STARTS, 0.632, SAMPLE_LESS)
    # the partition is tested thrice: all points, in its own space, and merge by merge
    of_tests = [work for work in plan_cluster_test(d, options) for _ in range(3)]
    columns = (work_of_columns(d, n_resamples),) if d.n_columns > 1 else ()
    searches = [replace(work, advice=SAMPLE_LESS) for work in AUTO.work(d, search)]
    options = replace(options, progress=check_work(progress, d, *searches, *of_tests, again, *columns))
    # every part starts from the same state, so that it does not depend on others, and agrees with the function alone
    return _validate(d, asked, options, known, generator)


# ---------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _WantedClusters:
    """Hold which clusters are to be validated, and how they were found."""

    k: int | None  # number of energy clusters to be found, or that a `Partition` has
    found: Partition | None  # energy clusters that were found before
    labels: Any  # labels that were given, or a result that has them; codes after `as_clusters`; or None
    clusterer: UserClusterer | None  # what found them, where it is no energy clustering
    metric: MetricLike  # the semimetric
    standardize: bool  # whether columns are standardized
    names: tuple[Any, ...] = ()  # what the labels with these codes were
    tree: ClusterTreeResult | None = None  # the tree whose leaves the clusters are, where it was given


def _read_wanted(
    k: int | None, partition: Any, clusterer: Any, metric: MetricLike, standardize: bool
) -> _WantedClusters:
    """Read how many clusters, which partition and which clusterer are asked for; ValueError if they conflict."""
    if (k is not None) + (partition is not None or clusterer is not None) != 1:
        raise ValueError(
            "One of `k`, `clusterer` and `partition` must say what the clusters are, and not two; "
            '`select_k(X, criterion="significance").k` finds a number, and `partition` may go with its `clusterer`.'
        )
    if k is not None and (were_found(k) or np.ndim(k) > 0):
        raise TypeError("`k` must be a number of clusters, got labels; they go to `partition=`.")
    tree = partition if isinstance(partition, ClusterTreeResult) else getattr(partition, "tree", None)
    given = partition
    for name in ("partition_", "partition"):  # of an estimator of this package, a tree or a choice of k
        if clusterer is None and isinstance(held := getattr(partition, name, None), Partition):
            if (n := len(getattr(partition, "labels_", held.labels))) > (m := held.labels.size):
                raise ValueError(
                    f"`partition` was fitted with weight 0 for {n - m} of {n} rows, which are in none of its clusters; "
                    "fit it to the others, and give these alone."
                )
            partition = held  # with its metric
    # of energy clusters it is known how they are found again; those of a user's function have no starts
    found = partition if isinstance(partition, Partition) and partition.algorithm in (*ALGORITHMS, OF_TREE) else None
    if found is not None and found.n_init == 0 and found.algorithm != OF_TREE:
        found = None
    if found is not None and clusterer is None:
        metric = "precomputed" if isinstance(found.metric, Precomputed) else found.metric
        standardize = found.standardization is not None
    else:
        found = None
    if clusterer is None and hasattr(partition, "labels_") and hasattr(partition, "fit_predict"):
        clusterer = partition
    elif hasattr(partition, "steps") and hasattr(partition[-1], "labels_"):  # a pipeline that ends in a clusterer
        clusterer, partition = clusterer or partition, partition[-1].labels_
    of_tree = isinstance(tree, ClusterTreeResult) and found is tree.partition
    return _WantedClusters(
        tree=tree if of_tree else None,
        k=found.k if found is not None else None if k is None else check_count(k, "k", low=1),
        found=found,
        labels=partition if partition is given else _labels_of(partition, given),
        clusterer=None if clusterer is None else as_user_clusterer(clusterer),
        metric=metric,
        standardize=standardize,
    )


def _labels_of(found: Any, given: Any) -> InputTable:
    """Return the labels of a partition, with the words for its index that a user of what holds it needs."""
    index = next((name for name in ("index", "index_") if hasattr(given, name)), "partition.index")
    return replace(read_labels(found, "partition"), of_result=index)


def _refuse_another_space(
    d: Dissimilarity, found: Partition, metric: MetricLike, alpha: float, standardize: bool
) -> None:
    """Raise ValueError if metric options differ from those under which the partition to validate was found."""
    own = found.metric
    columns = ", columns standardized" * (found.standardization is not None)
    useless = ["standardize"] * (standardize and not columns)
    by_default = isinstance(metric, str) and metric == "euclidean"
    other_power = alpha not in (1.0, getattr(own, "alpha", 1.0))
    if (other_power or not by_default) and not isinstance(own, Precomputed):
        given = resolve(metric, alpha)
        if d.coordinates is not None:  # that of the partition was fitted, too
            given = given.fitted(d.coordinates)
        if repr(given) != repr(own):
            useless.append("alpha" if by_default else "metric")
    for name in useless:
        raise ValueError(
            f"`{name}` does nothing with a partition that was found in a space of its own, {own!r}{columns}, which is "
            "taken. Leave it out, or give the labels as an array (`partition.labels`) to judge them in another space."
        )


def _find_partition(d: Dissimilarity, asked: _WantedClusters, rng: np.random.Generator) -> tuple[Partition, str]:
    """Find the partition to validate; return it, and why resamples cannot be clustered alike, empty if they can."""
    if asked.found is not None:
        found = asked.found
        if found.masses is not None:
            return label_partition(d, found.labels, "given"), WEIGHTED
        M, s = d.group_sums(Groups(found.labels, tuple(range(found.k))))
        # clusters of another space are labels here, of which nobody knows how they were found
        within = float(within_per_cluster(M, s).sum())
        same = abs(within - found.within) <= SAME_WITHIN * found.total
        if not same and found.approximation is None and (found.points is None or found.points.shape[1] == d.n_columns):
            raise ValueError(
                f"`partition` must have been found in the rows of `X`, in their order and scale, got one with W = "
                f"{found.within:.6g}, whose labels have W = {within:.6g} in `X`; cluster these rows, or give the "
                "labels as an array (`partition.labels`)."
            )
        if same and found.algorithm == OF_TREE:
            # a tree may cut in another space; its clusters are known where the search finds the same ones
            searched = AUTO.fit(d, Search(k=found.k).on(d), rng)[0]
            if np.array_equal(searched.labels, found.labels):
                return searched, ""
            return found, OTHER_THAN_SEARCHED.format(k=found.k) if asked.tree is None else SPLITS_OF_TREE
        if same and found.approximation is None and not (found.converged and found.algorithm in SEARCHED):
            rand = adjusted_rand_index(found.labels, AUTO.fit(d, Search(k=found.k).on(d), rng)[0].labels)
            if rand < ALIKE:
                return found, OTHER_SEARCH.format(k=found.k, name=found.algorithm, rand=rand)
        return found, "" if same and found.approximation is None else NO_CLUSTERER
    if asked.labels is not None:
        given = label_partition(d, asked.labels, "given")
        return given, NO_CLUSTERER if asked.clusterer is None else _compare_labels(d, given, asked.clusterer, rng)
    if asked.clusterer is not None:
        return user_partition(d, asked.clusterer, rng), ""
    return AUTO.fit(d, Search(k=asked.k or 2).on(d), rng)[0], ""


def _note_numbers(found: Partition, asked: _WantedClusters) -> tuple[str, ...]:
    """Return a note on how given labels were renumbered as clusters 0, 1, ...; empty if they were not."""
    if asked.found is not None or not asked.names:
        return ()
    was = [asked.names[asked.labels[int(np.argmax(found.labels == j))]] for j in range(found.k)]
    if all(not isinstance(name, str) and name == j for j, name in enumerate(was)):
        return ()
    shown = [repr(shorten_name(name)) if isinstance(name, str) else str(name) for name in was[:NAMED]]
    pairs = ", ".join(f"{j} was {name}" for j, name in enumerate(shown))
    return (f"Clusters are numbered by size: {pairs}{', ...' * (len(was) > NAMED)} in the labels given.",)


def _compare_labels(d: Dissimilarity, given: Partition, clusterer: UserClusterer, rng: np.random.Generator) -> str:
    """Return a text with the adjusted Rand index if a clusterer finds clusters unlike the given ones; else empty."""
    rand = adjusted_rand_index(given.labels, clusterer.all_labels(d, rng))
    return "" if rand >= ALIKE else OTHER_CLUSTERS.format(clusterer.name, rand)


def _read_table_and_labels(X: Any, asked: _WantedClusters, outside: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Read the table, the labels of a partition and labels from elsewhere, and check that their rows match."""
    columns = {"partition": asked.labels}
    if hasattr(outside, "columns") or hasattr(outside, "column_names"):  # a frame of pandas, Polars or Arrow
        outside = as_table(outside).values
    of_frame = getattr(outside, "ndim", 1) == 2 and hasattr(outside, "columns")
    if of_frame or isinstance(outside, Mapping):
        keys = list(outside.columns if of_frame else outside)
        names = [str(key) for key in keys]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"`outside` must give every set of labels another name, but two print as {twice!r}.")
        columns |= {f"outside[{key!r}]": outside[key] for key in keys}
    elif outside is not None:
        names = [str(getattr(outside, "name", None) or "the labels")]
        columns["outside"] = outside
    else:
        names = []
    (table,), (labels, *known) = read_inputs((X,), columns)
    if any(getattr(read, "found", False) for read in known):  # no table is a text, which is refused as labels
        raise ValueError("`outside` must be labels from elsewhere, got those that a clustering found.")
    return table, labels, dict(zip(names, known, strict=True))


# ---------------------------------------------------------------- the answers


def _validate(
    d: Dissimilarity,
    asked: _WantedClusters,
    options: ClusterTestOptions,
    outside: dict[str, IntArray],
    start: np.random.Generator,
) -> ClusterValidationResult:
    """Validate a partition: test points, merges, columns and labels from elsewhere, and resample the points."""
    d = d.stored() if asked.clusterer is None or d.coordinates is None else d
    found, unknown = _find_partition(d, asked, copy.deepcopy(start))
    tree = asked.tree if unknown in ("", SPLITS_OF_TREE) else None  # of other points its p say nothing
    options = replace(options, k=max(found.k, 2))
    # streams behind those of the splits
    merge_rng, column_rng, outside_rng = copy.deepcopy(start).spawn(max(12, options.n_splits + 5))[-3:]
    alone, no_lines, notes = OF_ONE * (found.k < 2), _why_no_lines(d), [*found.notes, *_note_numbers(found, asked)]
    why_not = alone or no_lines
    structure: ClusterTestResult | None = None
    whole: PartitionTest | None = None
    merges = merge_clusters(d, found.labels, found.k) if tree is None else merges_of_tree(tree)
    of_few = _has_too_few(d, merges)
    if not (no_lines or (alone and tree is None)):  # a tree of one leaf has tested its root
        options = replace(options, user_clusterer=_fresh(asked))
        structure = _test(d, options if tree is None else _options_of_tree(options, tree), start)
        notes += notes_beside(structure if tree is None else tree)
        notes += () if tree is None else _note_options_of_tree(options, tree)
        if not (unknown or alone):
            with collected():  # what there is to say of the points was said
                whole, tested = _test_merges_of(d, found, asked, merges, options, structure, merge_rng, start)
            whole = None if of_few else whole
            merges = _not_below(tested, structure.pvalue) if tree is None else merges
    resampled = _resample(d, found, asked, not unknown, copy.deepcopy(start).spawn(2)[1], progress=options.progress)
    scores = score_points(d, found.labels, found.k)
    null = LINEAR_UNIMODALITY if d.n_columns != 1 else UNIMODALITY
    answers = [
        _answer_test("all points", _test_of_root(structure, tree), null, why_not * (structure is None)),
        _answer_test("partition", whole, ALONG_ITS_LINES, why_not or unknown or of_few, structure),
        *_answer_merges(merges, why_not or unknown * (tree is None), after=structure is not None and tree is None),
        *answer_columns(d, structure, structure or _test_column(d, options, start), options, column_rng),
        *answer_outside(found.labels, outside, options.n_resamples, outside_rng),
    ]
    notes = [
        *note_modes_of_columns(answers),
        *note_borders_of_merges(merges),
        *notes,
        *note_columns_of_two_values(d),
        *_notes(merges, unknown * (tree is None)),
        *notes_on_outside(d, found.labels, outside),
    ]
    result = ClusterValidationResult(
        answers=tuple(
            replace(answer, null_hypothesis=name_population(answer.null_hypothesis, d)) for answer in answers
        ),
        partition=found,
        structure=structure,
        merge_rows=tuple(merges),
        jaccard=mean_of_rows(resampled.similarities.T),
        stays=resampled.stays,
        share=_shares_of_between(d, found),
        silhouette=scores.silhouette,
        energy_silhouette=scores.energy_silhouette,
        margin=scores.margin,
        neighbour=scores.neighbour,
        n_resamples=options.n_resamples,
        n_stability=0 if unknown else len(resampled.similarities),
        from_tree=tree is not None and bool(merges),
    )
    return replace(result, notes=tuple(dict.fromkeys([*_note_unstable(result), *notes]))).explained()


def _options_of_tree(options: ClusterTestOptions, tree: ClusterTreeResult) -> ClusterTestOptions:
    """Return the options with which `cluster_test` tested all points, the root of a tree."""
    n_splits = tree.n_splits or options.n_splits
    return replace(options, k=2, n_splits=n_splits, n_resamples=tree.n_resamples, conservative=tree.conservative)


def _note_options_of_tree(options: ClusterTestOptions, tree: ClusterTreeResult) -> tuple[str, ...]:
    """Return a note on options that the tests of a tree had otherwise; else ()."""
    asked = {"n_resamples": options.n_resamples, "conservative": options.conservative, "n_splits": options.n_splits}
    own = {"n_resamples": tree.n_resamples, "conservative": tree.conservative, "n_splits": tree.n_splits or None}
    unlike = [f"{name}={own[name]}" for name in asked if own[name] not in (None, asked[name])]
    if not unlike:
        return ()
    return (f"All points and the splits of the tree were tested with its own options, {join_names(unlike)}.",)


def _test_of_root(
    structure: ClusterTestResult | None, tree: ClusterTreeResult | None
) -> ClusterTestResult | PartitionTest | None:
    """Return the test of all points, or p of the root of a tree that was grown with another seed."""
    if structure is None or tree is None or tree.nodes[0].pvalue == structure.pvalue:
        return structure
    return PartitionTest(float("nan"), tree.nodes[0].pvalue)


def _fresh(asked: _WantedClusters) -> UserClusterer | None:
    """Return a new wrapper of the user's clusterer that has clustered nothing yet; None if there is no clusterer."""
    return None if asked.clusterer is None else UserClusterer(asked.clusterer.clusterer)


def _why_no_lines(d: Dissimilarity) -> str:
    """Return a text that says why no clusters of these points can be tested, or an empty string if they can."""
    try:
        check_lines(d)
    except ValueError as error:
        return f"not tested: {error}"
    smallest = SMALLEST_COLUMN if d.n_columns == 1 else 20
    if d.n < smallest:
        return f"not tested: fewer than {smallest} points"
    return ""


def _not_below(merges: list[Merge], first: float) -> list[Merge]:
    """Raise adjusted p-values of merges to p of all points: parts show nothing where the whole shows nothing."""
    return [replace(merge, pvalue_adjusted=max(merge.pvalue_adjusted, first)) for merge in merges]


def _has_too_few(d: Dissimilarity, merges: Sequence[Merge]) -> str:
    """Return a text that says why a partition has too few points for a test, or an empty string if it has enough."""
    if len(merges) == 1 and merges[0].passed_to:  # the only merge is the partition
        return TOO_FEW
    return TOO_FEW_IN_CLUSTERS if merges and merges[0].size < SMALLEST_REGION and d.n_columns != 1 else ""


def _test(d: Dissimilarity, options: ClusterTestOptions, start: np.random.Generator) -> ClusterTestResult:
    """Run `cluster_test` on all points with the random generator `start`, and return the result."""
    return run_cluster_test(d, options, copy.deepcopy(start))


def _test_column(d: Dissimilarity, options: ClusterTestOptions, start: np.random.Generator) -> ClusterTestResult | None:
    """Run `cluster_test` on a table of one column with enough rows, and return the result; None for other data."""
    return _test(d, options, start) if d.n_columns == 1 and not _why_no_lines(d) else None


def _test_merges_of(
    d: Dissimilarity,
    found: Partition,
    asked: _WantedClusters,
    merges: list[Merge],
    options: ClusterTestOptions,
    structure: ClusterTestResult,
    rng: np.random.Generator,
    start: np.random.Generator,
) -> tuple[PartitionTest, list[Merge]]:
    """Test a partition and the merges of its clusters, along lines from parts of the points clustered the same way.

    In one column there is one line, which `structure` has tested. `start` is the generator that this test began with.
    """
    near, user, energy = d.near_one(), _fresh(asked), EnergyClusters(found.k)
    tie_rng, split_rng, line_rng = rng.spawn(3)

    def cluster(part: Dissimilarity, rng: np.random.Generator) -> IntArray:
        labels = energy.labels(part, rng) if user is None else user.all_labels(part, rng)
        return np.full(part.n, -1) if labels is None else labels

    how = MergeOptions(
        scorer=make_scorer(near, options.power, tie_rng),
        cluster=cluster,
        n_splits=options.n_splits,
        n_resamples=options.n_resamples,
        factor=calibration_factor(options.conservative),
        n_jobs=options.n_jobs,
        progress=options.progress,
    )
    whole, tested = run_merge_tests(near, found.labels, merges, how, split_rng)
    if d.n_columns == 1:
        whole = PartitionTest(structure.statistic, structure.pvalue)
        if found.k == 2 and not tested[0].passed_to:
            E, p = whole
            tested = [replace(merge, statistic=E, pvalue=p, pvalue_adjusted=p, reason="") for merge in tested]
    shown = structure.partition
    same = shown is not None and np.array_equal(shown.labels, found.labels)
    if same and found.k == 2 and user is None and structure.pvalue <= LEVEL:  # the gap that `cluster_test` names
        begun = copy.deepcopy(start)
        return whole, [with_gap_of_test(tested[0], d, found.labels, structure.space, options.power, begun)]
    return whole, with_gaps(Space(near, how.scorer), found.labels, tested, line_rng)


def _resample(
    d: Dissimilarity, found: Partition, asked: _WantedClusters, again: bool, rng: np.random.Generator, *, progress: bool
) -> Resampled:
    """Cluster bootstrap samples and measure how well clusters and points come back; NaN without a clusterer."""
    if not again:
        return Resampled(np.full((1, found.k), np.nan), np.full(1, np.nan), np.full(d.n, np.nan))
    user = _fresh(asked)
    cluster = energy_clusterer(found.k, STARTS) if user is None else user.all_labels
    how: dict[str, Any] = {"n_resamples": STABILITY_RESAMPLES, "scheme": "bootstrap", "progress": progress, "rng": rng}
    return cluster_resamples(d, found.labels, found.k, cluster, **how)


def _shares_of_between(d: Dissimilarity, found: Partition) -> FloatArray:
    """Compute each cluster's share of the between dispersion S, n_j |m_j - m|^2 / S with kernel means; (k,)."""
    inside = np.flatnonzero(found.labels >= 0)
    part = d if inside.size == d.n else d.subset(inside)
    M, s = part.group_sums(Groups(found.labels[inside], tuple(range(found.k))))
    n = s.sum()
    # |m_j - m|^2 = g(C_j, X) - g(C_j, C_j)/2 - g(X, X)/2
    parts = M.sum(axis=1) / n - np.diagonal(M) / (2 * s) - s * M.sum() / (2 * n * n)
    return np.array([share(float(part), float(parts.sum())) for part in parts])


def _answer_test(
    question: str,
    test: ClusterTestResult | PartitionTest | None,
    null_hypothesis: str,
    why_not: str,
    before: ClusterTestResult | None = None,
) -> Answer:
    """Build the result row of a test of all points or of a partition, with its adjusted p-value.

    That is not below the p-value of the test asked `before`.
    """
    nan = float("nan")
    first = 0.0 if before is None else before.pvalue
    return Answer(
        question=question,
        what="",
        statistic_name="E",
        statistic=nan if test is None else test.statistic,
        pvalue=nan if test is None else test.pvalue,
        pvalue_adjusted=nan if test is None else max(test.pvalue, first),
        null_hypothesis=why_not if test is None else null_hypothesis,
        family="" if test is None else ONE_TEST if before is None else f"{ONE_TEST}, {AFTER}",
        level="" if test is None else MEASURED if question == "all points" else MEASURED_HERE,
    )


def _answer_merges(merges: Sequence[Merge], why_not: str, *, after: bool) -> list[Answer]:
    """Build a result row for each merge of clusters, with p-values and null hypothesis."""
    family = f"{len(merges)} merge{'s' * (len(merges) != 1)}, down the tree" + f", {AFTER}" * after
    own = LINEAR_UNIMODALITY if len(merges) == 1 else UNIMODAL_REGION
    return [
        Answer(
            question="merge",
            what=merge.name,
            statistic_name="E",
            statistic=merge.statistic,
            pvalue=merge.pvalue,
            pvalue_adjusted=merge.pvalue_adjusted,
            null_hypothesis=own if not np.isnan(merge.pvalue) else why_not or f"not tested: {merge.reason}",
            family=family,
            level=MEASURED_HERE,
        )
        for merge in merges
    ]


UNTRUSTED = 0.6  # mean Jaccard similarity, below which a cluster should not be trusted (R's fpc::clusterboot)


def _note_unstable(result: ClusterValidationResult) -> tuple[str, ...]:
    """Return a caution on separate clusters that bootstrap samples seldom find again, or most points leave; else ()."""
    alone = [group[0] for group in result.groups if len(group) == 1]
    unstable = [j for j in alone if len(alone) > 1 and result.jaccard[j] < UNTRUSTED]
    n, uncertain = result.partition.labels.size, result.uncertain.size
    if not unstable and len(alone) > 1 and result.n_stability and 2 * uncertain > n:
        return (
            Caution(
                f"{uncertain} of {n} points change clusters in more than a tenth of bootstrap samples, or are nearer "
                "to another cluster: the points have modes, but the border between the clusters is doubtful.",
            ),
        )
    if not unstable:
        return ()
    one, least = len(unstable) == 1, result.jaccard[unstable].min()
    which, border = ("cluster", "its border is") if one else ("clusters", "their borders are")
    return (
        Caution(
            f"Bootstrap samples seldom find {which} {join_names(unstable)} again: the points have modes, but {border} "
            "doubtful.",
            f"Mean Jaccard similarities below {UNTRUSTED} (Hennig 2007), {least:.2f} the smallest.",
        ),
    )


BLURRED = 0.8  # share of points on their side, below which the hyperplane is not the border of the clusters


def _notes(merges: Sequence[Merge], unknown: str) -> list[str]:
    """Return notes on untested partitions and merges, and on merges whose two sides no hyperplane separates well."""
    notes = []
    if unknown:
        notes.append(f"The partition was {unknown.replace('not tested: ', 'not tested, because ').removesuffix('.')}.")
    blurred = [merge.name for merge in merges if merge.separated < BLURRED]
    if blurred:
        more = f" and of {len(blurred) - 1} more merge{'s' * (len(blurred) > 2)}" if len(blurred) > 1 else ""
        joined = [m.name for m in merges if m.separated < SEPARATED and m.pvalue_adjusted <= LEVEL]
        one = f" With less than {SEPARATED:.0%}, both sides count as one group for all that p is small: "
        notes.append(
            Caution(
                f"No hyperplane separates the sides of {blurred[0]}{more} well: p there says little of the border.",
                f"Of {'; '.join(blurred)} fewer than {BLURRED:.0%} of the points held out lie on their side."
                + f"{one}{'; '.join(joined)}." * bool(joined),
            )
        )
    for why in dict.fromkeys(merge.reason for merge in merges if merge.reason):
        untested = "; ".join(merge.name for merge in merges if merge.reason == why)
        notes.append(f"Not tested: {untested} ({why}).")
    return notes
