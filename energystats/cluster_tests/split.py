"""The split test: lines from some of the points, unimodality of the others along them [theory 5]."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from energystats._core.interrupts import map_in_threads
from energystats._core.pvalues import over_contrasts
from energystats._core.rand_index import adjusted_rand_index
from energystats._core.unimodal import EXCESS
from energystats._runtime import check_work, with_bar
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.bent_clouds import note_bent_cloud
from energystats.cluster_tests.clusterers import EnergyClusters
from energystats.cluster_tests.data_notes import (
    ColumnTies,
    describe_data,
    name_population,
    note_directions,
    note_even_steps,
    note_lines,
)
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.results import (
    NO_CLUSTERS,
    ClusterTestResult,
    OfOtherClusters,
    Scored,
    ShownElsewhere,
    contrast_rows,
)
from energystats.cluster_tests.scores import Scorer, jittered_anew, make_scorer, wants_jitters, without_isolated
from energystats.cluster_tests.spaces import DECORRELATED, GIVEN, SHARES, Kind, Space, spaces_of
from energystats.cluster_tests.unimodality import (
    NARROWED,
    Unimodality,
    calibration_factor,
    clearly_large,
    no_evidence,
    unimodality_along_lines,
)
from energystats.cluster_tests.whole_clusters import WholeClusters
from energystats.display.sentences import Caution, write_counts
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity
from energystats.metrics.general import has_mahalanobis
from energystats.pairs.workloads import Size
from energystats.pairs.workloads import split as work_of_split

__all__ = [
    "ALIKE",
    "CLUSTERED_AT_MOST",
    "LINEAR_UNIMODALITY",
    "SMALLEST_SAMPLE",
    "assign_folds",
    "enough_draws",
    "split_test",
]


FOLDS = 5  # of a split; the points of one are scored along lines that the others give
CLUSTERED_AT_MOST = 1000  # points, which fix a line well enough; more would only cost n x n numbers
DECORRELATED_AT_MOST = 300  # points that are clustered with decorrelated columns, where the best two are hard to find
OUTER = 0.05  # share of points on either side that does not count when lines are standardized
STEADY = 0.95  # correlation of two lines that have the same direction,
STEADY_IF_NAMED = 0.7  # and of two from the same cluster
LEVELS = np.arange(1, 20) / 20  # of the quantiles by which other lines are oriented
SMALLEST_SAMPLE = 20  # points
SMALLEST_SCORED_PART = 8  # points
ALIKE = 0.8  # adjusted Rand index
SAME_CLUSTERS = 0.5  # the same, of clusters of parts and those of all points, in the mean
SPLITS_COMPARED = 5  # from whose parts the mean is taken
AS_SMALL = 1.5  # times the smallest p, in which draws differ; and times the likelihood ratio, if it is to be preferred
RATIO = 0  # place of the likelihood ratio among the indices
CLEARER = 3.0  # times smaller the p of another space has to be than that of the points as given
LINEAR_UNIMODALITY = "every linear projection of the population is unimodal"
CONTRASTS_MEAN = (
    "A contrast asks whether all points are unimodal along the line from one cluster to the rest. A third cluster far "
    "away makes its p small too, so it does not show that this cluster is separate from its neighbour."
)
FEWER_SHOW_MORE = Caution(
    "The lines between fewer clusters can show more: k = 2 may reject where this k does not.",
    "p belongs to lines in all spaces, the contrasts shown are those of the points as given. Of p for several k the "
    "smallest keeps no level: choose k before, or multiply it by their number. `cluster_tree(X)` asks two at a time, "
    "at one level for all.",
)
NO_PARTITION = (
    "`.partition` is None: there are too many points for all pairs, and rho is not known to be of negative type, which "
    "landmarks need. Take a random part of the rows."
)
COLUMNS_BEHIND_MATRIX = Caution(
    "Counts, rounded values or limits in columns behind the matrix can make p small: test the table, if there is one.",
    "Of Bray-Curtis matrices of counts of 25 independent species in 50 rows .13 were rejected at level .05 with "
    "alpha = 2 and .09 with alpha = 1, of the tables none (300 and 100 samples). Columns in which many values are "
    "equal were looked for, and their ties jittered; where distances are rounded, or there are many columns, some are "
    "not found, and values that repeat count as modes.",
)
AS_GIVEN_ALONE = "The user's clusterer was used with the points as given alone, not with decorrelated or fewer columns."
OTHERS_SHOW_MORE = Caution(
    "Lines between the clusters of this clusterer were tested: those of energy clusters can show more.",
    f"{AS_GIVEN_ALONE} `cluster_test(X)` looks there, too.",
)
NOTHING_DIVIDED = Caution(
    "The clusterer found one cluster, or none: there was no line to test, and p = 1 says nothing.",
    "Take one that divides the points, or leave `clusterer` out.",
)
EQUALLY_FAR = Caution(
    "The points are about equally far from each other, so that no line parts them: nothing was tested.",
    "Points that gave no line all lie at one place along it, which differs from fold to fold only.",
)
ALIKE_RHO = 1e-7  # of the largest rho: what rounding leaves of equal ones
APART = 4.0  # times the variance within folds, that of their means: of points of one population it is a quarter or less
Lines = list[FloatArray]  # standardised positions of all points, one array per contrast


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """Hold the p-value of one contrast (a cluster against the rest) in one random split, and its test in each space."""

    pvalue: float  # of the lines in all spaces together
    each: dict[Kind, Unimodality]  # the test of the line in each space


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Hold the p-values of all contrasts in one random split of the points, and the clusters that gave the lines."""

    outcomes: list[_Outcome]  # one for each contrast
    # for each space the rows of each part that was clustered, and their labels
    parts: dict[Kind, list[tuple[IntArray, IntArray]]]
    equally_far: bool = False  # whether the points of a fold all lie at one place along its line


@dataclass(frozen=True, slots=True, eq=False)
class _Splitter:
    """Hold how the split test clusters points and projects them on lines, and run single random splits."""

    space: Space
    # labels 0, 1, ... of the points of a part, -1 for points in no cluster, or None if there are fewer than two (for
    # Hartigan's method, fewer than k distinct points); the flag asks for a thorough search
    cluster: Callable[[Dissimilarity, np.random.Generator, bool], IntArray | None]
    # for each space the clusters of all points there, after which those of a part are called; None where two clusters
    # are looked for
    names: dict[Kind, IntArray | None]
    k: int  # number of clusters among the names
    n_resamples: int
    factor: float
    first_batch: int | None = None
    by_user: bool = False  # whether the clusterer is the user's, who gets all points of a part

    @property
    def n_contrasts(self) -> int:
        """Return the number of contrasts of k clusters: one against the rest for each, but one in all for two."""
        return self.k if self.k > 2 else 1

    @property
    def no_outcomes(self) -> list[_Outcome]:
        """Return the outcome of a split without clusters: p = 1 for every contrast."""
        return [_Outcome(1.0, {GIVEN: no_evidence(np.zeros(1))})] * self.n_contrasts

    def combine(self, pvalues: FloatArray) -> tuple[float, list[float]]:
        """Combine p-values over splits for each contrast, then over contrasts; (n_splits, n_contrasts)."""
        return over_contrasts(pvalues, jittered_anew=wants_jitters(self.space.scorer, self.space.d))

    def split(self, rng: np.random.Generator) -> _Split:
        """Run one random split; if piles of values may be cut-off tails, with and without these, for the larger p."""
        again = copy.deepcopy(rng)
        scorer = jittered_anew(self.space.scorer, self.space.d, rng)
        found = self.scored(scorer, rng)
        if scorer.without_tails is None or all(clearly_large(one.pvalue) for one in found.outcomes):
            return found
        # the same folds
        other = self.scored(scorer.without_tails, again)
        pairs = zip(found.outcomes, other.outcomes, strict=True)
        return replace(found, outcomes=[max(pair, key=lambda one: one.pvalue) for pair in pairs])

    def scored(self, scorer: Scorer, rng: np.random.Generator) -> _Split:
        """Project each fold on lines found in the other folds, and test all scores for unimodality.

        Points for which the others gave no line are left out, and spaces in which there are more of these.
        """
        n, d = self.space.d.n, self.space.d
        whole = Space(d, scorer)
        pooled = {kind: np.full((self.n_contrasts, n), np.nan) for kind in self.names}
        first: dict[Kind, Lines] = {}
        parts: dict[Kind, list[tuple[IntArray, IntArray]]] = {kind: [] for kind in self.names}
        fold_of = np.zeros(n, dtype=np.intp)
        for number, (fold, others) in enumerate(assign_folds(n, rng)):
            fold_of[fold] = number
            # the points outside the fold give the lines, in every space; the fold has no part in them
            inner = others if self.by_user else without_isolated(scorer, others)
            for kind, names in self.names.items():
                part = inner[:DECORRELATED_AT_MOST] if kind == DECORRELATED else inner
                space = whole.seen_by(inner, kind)
                labels = self.cluster(space.d.subset(part), rng, kind == DECORRELATED)
                lines = None if labels is None else self.lines(space, part, labels, names)
                if labels is None or lines is None:
                    continue
                parts[kind].append((part, labels))
                like = first.setdefault(kind, lines)
                lines = [_oriented(t, other, named=names is not None) for t, other in zip(lines, like, strict=True)]
                # the fold keeps its scores along these lines
                pooled[kind][:, fold] = [t[fold] for t in lines]
        # one test of all n scores: a mixture of nearly equal projections
        scored = ~np.isnan(pooled[GIVEN][0])
        kinds = [kind for kind in pooled if not np.isnan(pooled[kind][:, scored]).any()]
        equally_far = scored.any() and _lie_apart(pooled[GIVEN][:, scored], fold_of[scored])
        if scored.sum() < SMALLEST_SCORED_PART or equally_far:
            return _Split(self.no_outcomes, parts, equally_far)
        kinds = [kind for kind in kinds if not _lie_apart(pooled[kind][:, scored], fold_of[scored])]
        shares = np.array([SHARES[kind] for kind in kinds])
        how = (shares / shares.sum(), self.n_resamples, self.factor, rng, self.first_batch)
        found = []
        for j in range(self.n_contrasts):
            pvalue, each = unimodality_along_lines(np.array([pooled[kind][j, scored] for kind in kinds]), *how)
            found.append(_Outcome(pvalue, dict(zip(kinds, each, strict=True))))
        return _Split(found, parts)

    def lines(self, space: Space, part: IntArray, found: IntArray, names: IntArray | None) -> Lines | None:
        """Compute positions of all points along lines from each cluster of some points to the rest; or None.

        None if, without outer points, all lie at one place on some line.
        """
        clusters = np.zeros(1, dtype=np.intp) if names is None else _partners(found, names[part], self.k)
        lines = [
            space.scorer.along(part[found == j], part[(found != j) & (found >= 0)])
            for j in clusters[: self.n_contrasts]
        ]
        # lines of different folds are pooled: a few points far out would move the mean of each by another amount, and
        # part the others
        inner = [_without_outer(t) for t in lines]
        if min(t.std() for t in inner) <= 0:
            return None
        return [(t - own.mean()) / own.std() for t, own in zip(lines, inner, strict=True)]


def _without_outer(t: FloatArray) -> FloatArray:
    """Sort positions on a line, and drop the smallest and largest twentieth of them; (n,) -> (m,)."""
    outer = int(OUTER * t.size)
    return np.asarray(np.sort(t)[outer : t.size - outer])


def _are_equally_far(d: Dissimilarity) -> bool:
    """Return whether all dissimilarities of different points in a matrix are equal, as of unlike categories."""
    if d.coordinates is not None:
        return False
    apart = d.matrix[~np.eye(d.n, dtype=bool)]
    return bool(np.ptp(apart) <= ALIKE_RHO * np.abs(apart).max())


def _lie_apart(scores: FloatArray, fold_of: IntArray) -> bool:
    """Return whether projected points of different folds lie far apart on some line, and those of each fold together.

    Shapes: (n_contrasts, n) scores, (n,) folds.
    """
    parts = [scores[:, fold_of == fold] for fold in np.unique(fold_of)]
    within = np.mean([part.var(axis=1) for part in parts], axis=0)
    between = np.var([part.mean(axis=1) for part in parts], axis=0)
    return bool((between > APART * within).any())


def assign_folds(n: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Assign points to five random folds; yield each fold, and at most 1,000 of the other points."""
    order = rng.permutation(n).astype(np.intp)
    for fold in np.array_split(np.arange(n), FOLDS):
        yield order[fold], np.concatenate((order[fold[-1] + 1 :], order[: fold[0]]))[:CLUSTERED_AT_MOST]


def _oriented(t: FloatArray, first: FloatArray, *, named: bool = False) -> FloatArray:
    """Orient positions along a line to agree in sign with those along a first line; (n,) -> (n,).

    Lines of unlike directions are oriented by their shape: mirrored shapes would make two modes of one. A line from a
    `named` cluster has a direction of its own, unless it is nearly that of the first one turned round: a point far out
    decides both, and is on the side of its cluster where it gives the line, and anywhere in its own fold.
    """
    # positions were standardized without the outermost points, so that their own products are not their correlation
    correlation = float(np.corrcoef(t, first)[0, 1])
    if abs(correlation) >= (STEADY_IF_NAMED if named else STEADY):
        return t if correlation > 0 else -t
    if named:
        return t
    shape, wanted = np.quantile(t, LEVELS), np.quantile(first, LEVELS)
    return t if np.abs(shape - wanted).sum() <= np.abs(shape[::-1] + wanted).sum() else -t


def split_test(original: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Test for clusters: unimodality of held-out points along lines between clusters, in random splits."""
    user_clusterer, n_splits, d = options.user_clusterer, options.n_splits, original.near_one()
    n_clustered = _check_size(d.n, options.k if user_clusterer is None else 2)
    search_rng = copy.deepcopy(rng)  # the clusters of all points are those of `energy_cluster` with the same seed
    tie_rng, _, *split_rngs = rng.spawn(2 + n_splits)
    space = Space(d, make_scorer(d, options.power, tie_rng))
    whole = WholeClusters(original, options, search_rng, space.scorer.points)
    kinds = spaces_of(space, n_clustered) if user_clusterer is None else (GIVEN,)
    k, names = whole.k, _names(whole, kinds)
    if k > 2:  # a space in which the points have fewer clusters has no contrasts for them
        names = {kind: labels for kind, labels in names.items() if kind == GIVEN or labels is not None}
        kinds = tuple(names)
    splitter = _Splitter(
        space=space,
        cluster=_clustering(options),
        names=names,
        k=k,
        n_resamples=enough_draws(options.n_resamples, k),
        first_batch=options.n_resamples,
        factor=calibration_factor(options.conservative, several=len(kinds) > 1),
        by_user=user_clusterer is not None,
    )
    # where they are exactly so, ties are jittered, which hides that folds lie apart
    equally_far = k > 1 and _are_equally_far(d)
    is_tested = k > 1 and not equally_far
    splits = [_Split(splitter.no_outcomes, {}, equally_far)]
    if is_tested:
        shown = options.progress
        if user_clusterer is not None:  # now that the number of its clusters is known
            size = replace(Size.of(d), exact=True)  # what it takes to find them is not
            shown = check_work(shown, d, *work_of_split(size, k, n_splits, splitter.n_resamples))
        of_splits = map_in_threads(splitter.split, split_rngs, options.n_jobs)
        splits = list(with_bar(of_splits, shown, total=n_splits, unit="split", size=lambda _: 1))
    outcomes = [split.outcomes for split in splits]
    found = _combined(outcomes, splitter, whole)
    tested = [e for split in outcomes for of in split for e in of.each.values()]
    widest = max((e.tie_width for e in tested), default=0.0)
    pooled = [ColumnTies("standardized scores", f"{widest:.3g}", False, False, ())] if widest else []
    ties = [*space.scorer.ties, *pooled]
    narrowed = any(e.narrowed for e in tested)
    return replace(
        found,
        n_splits=n_splits if is_tested else 0,
        n_clustered=n_clustered if is_tested else 0,
        conservative=options.conservative,
        jittered=bool(ties),
        notes=_write_notes(found, splits, splitter, whole, ties, narrowed=narrowed),
    )


def _write_notes(
    found: ClusterTestResult,
    splits: list[_Split],
    splitter: _Splitter,
    whole: WholeClusters,
    ties: list[ColumnTies],
    *,
    narrowed: bool,
) -> tuple[str, ...]:
    """Return the notes of a split test for clusters, those that change a conclusion first."""
    d, scorer, k = splitter.space.d, splitter.space.scorer, splitter.k
    of_data = describe_data(d, ties, several=d.coordinates is not None)  # warns
    if whole.options.warnings_alone:
        return ()
    user_clusterer, rejected = whole.options.user_clusterer, found.pvalue <= LEVEL
    clusterers = () if user_clusterer is None else user_clusterer.notes(len(user_clusterer.counts), "no evidence")
    return (
        *((EQUALLY_FAR,) if all(split.equally_far for split in splits) else ()),
        *_note_space(whole, found.space),
        *_note_parts(found, splits),
        *((NOTHING_DIVIDED,) if k < 2 else ()),
        *((COLUMNS_BEHIND_MATRIX,) if rejected and d.coordinates is None else ()),
        *(note_bent_cloud(d, scorer) if rejected else ()),
        *((NO_PARTITION,) if found.partition is None and user_clusterer is None else ()),
        *note_lines(d),
        *(note_even_steps(found.scores) if rejected and found.scores is not None else ()),
        *note_directions(d),
        *of_data,
        *scorer.notes,
        *((NARROWED,) if narrowed else ()),
        *((CONTRASTS_MEAN,) if k > 2 else ()),
        *((FEWER_SHOW_MORE,) if k > 2 and not rejected and user_clusterer is None else ()),
        *((AS_GIVEN_ALONE if rejected else OTHERS_SHOW_MORE,) if user_clusterer is not None else ()),
        *clusterers,
    )


def _combined(splits: list[list[_Outcome]], splitter: _Splitter, whole: WholeClusters) -> ClusterTestResult:
    """Combine p-values of random splits and contrasts by the Cauchy rule, and build the test result."""
    pvalues = np.array([[found.pvalue for found in split] for split in splits])
    pvalue = splitter.combine(pvalues)[0]
    kind, each = _clearest_space(pvalue, splits, splitter.combine)
    if kind != GIVEN and splitter.k > 2:
        # rows are in the order of the partition that is shown
        order = _numbers_in(whole.labels(kind), splitter.names[kind])
        pvalues, each = pvalues[:, order], [[split[j] for j in order] for split in each]
    own = np.array([[found.pvalue for found in split] for split in each])
    indices = np.array([[found.indices for found in split] for split in each]).mean(axis=0)
    clearest = np.unravel_index(own.argmin(), own.shape)  # of the lines that are shown
    return ClusterTestResult(
        statistic=float(indices[:, EXCESS].mean()),
        pvalue=pvalue,
        method="split",
        null_hypothesis=name_population(LINEAR_UNIMODALITY, whole.d),
        k=splitter.k,
        n_resamples=splitter.n_resamples,
        n_splits=len(splits),
        n_clustered=0,
        factor=splitter.factor,
        conservative=False,
        jittered=False,
        pvalues=pvalues,
        scores=each[clearest[0]][clearest[1]].scores,
        scored=Scored(int(clearest[0]), int(clearest[1]), float(own[clearest])),
        indices=indices,
        rows=contrast_rows(_names_of_contrasts(splitter.k), indices[:, EXCESS].tolist(), splitter.combine(own)[1]),
        space=kind,
        partition=whole.partition(kind),
    )


def _clustering(options: ClusterTestOptions) -> Callable[[Dissimilarity, np.random.Generator, bool], IntArray | None]:
    """Return a function that clusters some of the points, by a user's clusterer or into energy clusters."""
    if options.user_clusterer is not None:
        by_user = options.user_clusterer
        return lambda part, rng, thorough: by_user.labels(part, rng)
    return lambda part, rng, thorough: EnergyClusters(options.k, thorough or options.k > 2).labels(part, rng)


def _clearest_space(
    pvalue: float, splits: list[list[_Outcome]], combine: Callable[[FloatArray], tuple[float, list[float]]]
) -> tuple[Kind, list[list[Unimodality]]]:
    """Choose the form of the points to report: as given, unless p is far smaller decorrelated or in some columns.

    Of others whose p is about as small, as where it cannot be smaller, the first, unless the likelihood ratio in
    another is clearly larger.
    """
    kinds = [kind for kind in splits[0][0].each if all(kind in found.each for split in splits for found in split)]
    lines = {kind: [[found.each[kind] for found in split] for split in splits] for kind in kinds}
    own = {k: combine(np.array([[e.pvalue for e in split] for split in of]))[0] for k, of in lines.items()}
    smallest = [kind for kind in kinds if own[kind] <= AS_SMALL * min(own.values())]
    ratio = {kind: np.mean([[e.indices[RATIO] for e in split] for split in lines[kind]]) for kind in smallest}
    best = smallest[0]
    for kind in smallest[1:]:
        best = kind if ratio[kind] > AS_SMALL * ratio[best] else best
    kind = best if pvalue <= LEVEL and CLEARER * own[best] <= own[GIVEN] else GIVEN
    return kind, lines[kind]


def _note_space(whole: WholeClusters, kind: Kind) -> tuple[str, ...]:
    """Return a caution that clusters show in decorrelated or selected columns, with a call that finds them; else ()."""
    if kind == GIVEN:
        return ()
    there, given = whole.partition(kind), whole.partition(GIVEN)
    if there is None or given is None:
        return ()
    rand = adjusted_rand_index(given.labels, there.labels)
    if rand == 1 and kind == DECORRELATED:  # the same clusters, with a clearer line between them
        return ()
    call = f'energy_cluster(X, {there.k}, metric="mahalanobis")'
    of_rows = f", with X the {whole.d.metric.compares}" * bool(whole.d.metric.compares)
    call += of_rows if whole.d.n_columns else ", with X the principal coordinates of the matrix"
    if kind != DECORRELATED:
        columns = [*there.columns] if there.columns else whole.clearest_columns()
        call = f"energy_cluster(X[{columns!r}], {there.k}, standardize=True)"
        call = (call if there.columns else call.replace("X[", "X[:, ")) + of_rows
    where = "decorrelated columns" if kind == DECORRELATED else "some columns, standardized"
    coordinates = whole.coordinates if whole.d.coordinates is None else whole.d.transformed().points  # as given
    has_call = kind != DECORRELATED or coordinates is None or has_mahalanobis(coordinates)
    looks = " That call looks for them, from starts of its own." if has_call else " The columns are linearly dependent."
    same = "much the same" if rand >= ALIKE else "others"
    return (
        ShownElsewhere(
            f"The clusters show in {where}: {call if has_call else 'they are `.partition`'}.",
            f"They have {write_counts(there.sizes)} points: `.partition` of `cluster_test`.{looks} Those under the "
            f"metric as given are {same}: adjusted Rand index {rand:.2f}. Another seed can name another space.",
        ),
    )


def _names(whole: WholeClusters, kinds: tuple[Kind, ...]) -> dict[Kind, IntArray | None]:
    """Return labels of all points by form (as given, decorrelated, columns), numbered like similar ones as given.

    Two clusters have one contrast, which needs no name.
    """
    if whole.k == 2 and whole.options.user_clusterer is None:
        return dict.fromkeys(kinds)
    names = {kind: whole.labels(kind) for kind in kinds}
    given = names[GIVEN]
    return {
        kind: labels if kind == GIVEN or labels is None or given is None else _overlapping(labels, given, whole.k)
        for kind, labels in names.items()
    }


def _numbers_in(labels: IntArray | None, names: IntArray | None) -> list[int]:
    """Return for each cluster its number in another numbering of the same clusters; labels (n,), (n,) -> k numbers."""
    assert labels is not None
    assert names is not None
    return [int(names[labels.tolist().index(j)]) for j in range(int(labels.max()) + 1)]


def _overlapping(labels: IntArray, names: IntArray, k: int) -> IntArray:
    """Renumber clusters after those of another partition, matched one-to-one by overlap; (n,), (n,) -> (n,)."""
    overlap = np.zeros((k, k))
    np.add.at(overlap, (labels, names), 1)
    clusters, named = _matched(overlap)
    number = np.empty(k, dtype=np.intp)
    number[clusters] = named
    return np.asarray(number[labels])


def _names_of_contrasts(k: int) -> list[str]:
    """Return names of the contrasts of each of k clusters with the rest."""
    if k < 2:
        return [NO_CLUSTERS]
    return ["cluster 0 vs cluster 1"] if k == 2 else [f"cluster {j} vs rest" for j in range(k)]


def enough_draws(n_resamples: int, k: int) -> int:
    """Compute how many draws make the smallest p of k contrasts, times k, at most twice that of a single one."""
    return n_resamples if k <= 2 else (n_resamples + 1) * -(-k // 2) - 1


def _check_size(n: int, k: int) -> int:
    """Return how many points are clustered at a time in a split test; raise ValueError if there are too few for it."""
    if n < SMALLEST_SAMPLE:
        raise ValueError(f"`X` must have at least {SMALLEST_SAMPLE} rows for the split test, got {n}.")
    n_clustered = min(n - -(-n // FOLDS), CLUSTERED_AT_MOST)
    if n_clustered < k + 3:
        raise ValueError(
            f"`k` must be at most {n_clustered - 3} for {n} rows, of which {n_clustered} are clustered "
            f"at a time, got {k}."
        )
    return n_clustered


def _note_parts(found: ClusterTestResult, splits: list[_Split]) -> tuple[str, ...]:
    """Return a caution if the clusters of parts of the points behind a small p differ from those shown; else ()."""
    if found.pvalue > LEVEL or found.partition is None:
        return ()
    shown = found.partition.labels
    compared = [
        (shown[rows][labels >= 0], labels[labels >= 0])
        for split in splits[:SPLITS_COMPARED]
        for rows, labels in split.parts.get(found.space, ())
    ]
    # the index is 1 for the same clusters, and never below -1: with most of them the mean need not be known
    same = sum(_are_same(*pair) for pair in compared)
    if 2 * same - len(compared) >= SAME_CLUSTERS * len(compared):
        return ()
    mean = float(np.mean([adjusted_rand_index(*pair) for pair in compared]))
    if mean >= SAME_CLUSTERS:
        return ()
    return (
        OfOtherClusters(
            "p belongs to other clusters than those shown: to those of parts of the points, whose lines were tested.",
            f"Their mean adjusted Rand index with the clusters shown is {mean:.2f}. Clusters of few points do not lie "
            "in every part.",
        ),
    )


def _are_same(labels: IntArray, others: IntArray) -> bool:
    """Return whether two labelings are the same partition, whatever the cluster numbers; (n,), (n,)."""
    pairs = set(zip(labels.tolist(), others.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(others.tolist()))


def _matched(overlap: FloatArray) -> tuple[IntArray, IntArray]:
    """Match clusters to names one-to-one by the largest total overlap; (c, k) -> two arrays of indices."""
    largest, every = overlap.argmax(axis=0), np.arange(overlap.shape[1])
    # every name has one cluster of its own that it overlaps most: no other pairs overlap as much
    if (overlap == overlap.max(axis=0)).sum() == every.size == np.unique(largest).size:
        return np.asarray(largest, dtype=np.intp), every
    from scipy.optimize import linear_sum_assignment  # whose package takes a tenth of a second to be imported

    clusters, named = linear_sum_assignment(overlap, maximize=True)
    return clusters, named


def _partners(labels: IntArray, names: IntArray, k: int) -> IntArray:
    """Return for each of k given clusters the found one matched to it one-to-one, or else that of largest overlap.

    Points with -1 among the labels or names are in no cluster; (m,), (m,) -> (k,).
    """
    kept = (labels >= 0) & (names >= 0)
    overlap = np.zeros((int(labels.max()) + 1, k))
    np.add.at(overlap, (labels[kept], names[kept]), 1)
    of_names = np.asarray(overlap.argmax(axis=0), dtype=np.intp)
    clusters, named = _matched(overlap)
    of_names[named] = clusters
    return of_names
