"""Test every merge in the hierarchy of found clusters, in convex regions that other points cut out [theory 5].

Two clusters of one cloud, taken by themselves, can have a gap between them: the third one was taken out of the middle,
or cuts a wedge out of it. So no merge is tested on the points of its clusters. A merge is tested in a region that
single hyperplanes cut out, one for every merge above it: the part of a log-concave population in a convex region is
log-concave, and so unimodal along every line. Hyperplanes and lines come from other points than those tested.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from energystats._core.interrupts import map_in_threads
from energystats._core.linkage import agglomerate, group_heights
from energystats._core.pvalues import adjusted_below, over_contrasts
from energystats._core.samples import mean_of_rows
from energystats._core.statistics import energy_distances
from energystats._core.threads import one_thread_up_to
from energystats._core.unimodal import EXCESS
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.resampled_clusters import Clusterer
from energystats.cluster_tests.scores import Scorer, jittered_anew, wants_jitters
from energystats.cluster_tests.split import assign_folds, enough_draws
from energystats.cluster_tests.tree_result import ClusterTreeResult
from energystats.cluster_tests.unimodality import Unimodality, clearly_large, no_evidence, unimodality_test
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity, Groups

__all__ = [
    "MOVED_AT_MOST",
    "SEPARATED",
    "SMALLEST_REGION",
    "SMALLEST_SIDE",
    "UNIMODAL_REGION",
    "Merge",
    "MergeOptions",
    "PartitionTest",
    "fisher_line",
    "merge_clusters",
    "merges_of_tree",
    "run_merge_tests",
]


UNIMODAL_REGION = (
    "every linear projection of the population is unimodal in the region of these clusters, which hyperplanes cut out; "
    "so it is for every log-concave population"
)
SMALLEST_REGION = 20  # points: smaller merges are not tested
SMALLEST_SIDE = 5  # points: fewer do not lie in every fold and outside it
SMALLEST_SCORED = 8  # points
CLEARLY_BETTER = 0.05  # share of points, fewer of which a discriminant has to put on the wrong side
SEPARATED = 0.7  # share of points on their side, below which p is not about these clusters
MOVED_AT_MOST = 0.1  # share of points between a border and the gap beside it, above which likewise
ROWS_PER_COLUMN = 4  # below which there is no discriminant


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Hold one merge of the hierarchy of clusters, and the result of its test."""

    # left, right: clusters on its two sides; the cluster with the smallest number is on the left one
    left: tuple[int, ...]
    right: tuple[int, ...]
    size: int  # points of all these clusters
    height: float  # n1 n2/(n1 + n2) E of its two sides, twice the growth of W
    parent: int | None  # number of the merge above it; None for the first one, of all clusters
    statistic: float = float("nan")  # mean excess-split index E over the splits; NaN where nothing was tested
    # pvalue, pvalue_adjusted: raw, and family-wise: the largest of min(1, p (n - 1)/(size - 1)) on the path from the
    # top, and p of all points
    pvalue: float = float("nan")
    pvalue_adjusted: float = float("nan")
    # share of the points that were held out, and belong to its clusters, on the side of their cluster, mean of both
    # sides; NaN where nothing was tested
    separated: float = float("nan")
    # A cluster of the left and one of the right side whose points a gap parts otherwise; of several pairs that with the
    # most points between border and gap. Empty without such a pair.
    parted: tuple[int, ...] = ()
    gap: tuple[int, ...] = ()  # points of these two clusters on either side of the gap
    # share of their points that the gap leaves on another side than the border; 0 without such a gap
    moved: float = 0.0
    reason: str = ""  # why it was not tested, or empty
    # Clusters of its larger side if the other one has too few points for a test; else empty. Merges below it are tested
    # as if it were not there.
    passed_to: tuple[int, ...] = ()

    @property
    def separates(self) -> bool:
        """Return whether a merge of clusters has adjusted p <= .05, and its hyperplane is a border that lies in a gap.

        Labels that have nothing to do with the modes along the line lie on either side as often. And a border through a
        cluster is not where the modes are parted; a few points may lie between it and the gap.
        """
        is_border = self.separated >= SEPARATED and self.moved <= MOVED_AT_MOST
        return self.pvalue_adjusted <= LEVEL and is_border

    @property
    def clusters(self) -> tuple[int, ...]:
        """Return the numbers of all clusters that a merge joins."""
        return tuple(sorted(self.left + self.right))

    @property
    def name(self) -> str:
        """Return the two sides of a merge of clusters as text, such as 0+2 | 1."""
        return f"{_join(self.left)} | {_join(self.right)}"


def _join(clusters: tuple[int, ...]) -> str:
    """Format cluster numbers as text, such as 0+2."""
    return "+".join(map(str, clusters))


def merge_clusters(d: Dissimilarity, labels: IntArray, k: int) -> list[Merge]:
    """Join clusters step by step by energy distance; list the merges from the last one, of all clusters, downwards."""
    if k < 2:
        return []
    inside = np.flatnonzero(labels >= 0)
    part = d if inside.size == d.n else d.subset(inside)
    M, s = part.group_sums(Groups(labels[inside], tuple(range(k))))
    E = energy_distances(M, s)
    np.fill_diagonal(E, 0.0)
    sizes = s.astype(np.intp)
    members: list[tuple[int, ...]] = [(j,) for j in range(k)]
    found: list[tuple[tuple[int, ...], tuple[int, ...], float]] = []
    for a, b, height, _ in agglomerate(group_heights(E, sizes), sizes):
        left, right = sorted((members[int(a)], members[int(b)]))
        members.append(tuple(sorted(left + right)))
        found.append((left, right, float(height)))
    merges: list[Merge] = []
    number: dict[tuple[int, ...], int] = {}
    for left, right, height in reversed(found):
        both = tuple(sorted(left + right))
        of_sides = [int(sizes[list(side)].sum()) for side in (left, right)]
        passed_to = () if min(of_sides) >= SMALLEST_SIDE else (left, right)[int(np.argmax(of_sides))]
        merges.append(
            Merge(
                left=left,
                right=right,
                size=sum(of_sides),
                height=height,
                parent=number.get(both),
                passed_to=passed_to,
            )
        )
        number |= {left: len(merges) - 1, right: len(merges) - 1}
    return merges


def merges_of_tree(tree: ClusterTreeResult) -> list[Merge]:
    """List the splits of a tree as merges of its leaves, from the root downwards, with the p-values of its nodes."""
    members: dict[int, tuple[int, ...]] = {}
    for node in reversed(tree.nodes):  # children come first
        inside = [members[child] for child in node.children]
        members[node.id] = tuple(sorted(sum(inside, ()))) if inside else (int(tree.labels[node.rows[0]]),)
    heights = tree.heights()
    merges: list[Merge] = []
    number: dict[int, int] = {}
    for node in tree.nodes:
        if not node.children:
            continue
        left, right = sorted(members[child] for child in node.children)
        number[node.id] = len(merges)
        merges.append(
            Merge(
                left=left,
                right=right,
                size=node.size,
                height=float(heights[node.id]),
                parent=None if node.parent is None else number[node.parent],
                pvalue=node.pvalue,
                pvalue_adjusted=node.pvalue_adjusted,
                separated=1.0,  # the tree cut its points there, in a gap if there is one
            )
        )
    return merges


@dataclass(frozen=True, slots=True, eq=False)
class MergeOptions:
    """Hold the options with which the merges of clusters are tested."""

    scorer: Scorer  # positions of all points along lines
    cluster: Clusterer  # what clusters parts of the points as all of them were clustered
    # n_splits, n_resamples: random splits, and draws behind the p-value of all n points
    n_splits: int
    n_resamples: int
    factor: float  # by which p-values are multiplied
    n_jobs: int = 1  # threads over the splits
    progress: bool = False  # whether there is a bar


class _SplitScores(NamedTuple):
    """Hold positions of held-out points in the region of each merge, and whether they are on their side."""

    scores: FloatArray  # (n_merges, n)
    sides: FloatArray  # (n_merges, n), 1 or 0


class PartitionTest(NamedTuple):
    """Hold the test of a whole partition: the mean excess-split index E, and p over all splits and contrasts."""

    statistic: float
    pvalue: float


def run_merge_tests(
    d: Dissimilarity, labels: IntArray, merges: list[Merge], options: MergeOptions, rng: np.random.Generator
) -> tuple[PartitionTest, list[Merge]]:
    """Test a partition and every merge of its clusters, with family-wise adjustment of the p-values.

    The partition is tested along the lines from each cluster to the rest, in the region of all points; with two
    clusters that is the merge.
    """
    contrasts = _list_contrasts(merges[0]) if len(merges) > 1 else []
    asked = [*contrasts, *merges]
    pooled_draws = [enough_draws(options.n_resamples, len(contrasts))] * len(contrasts)
    # as many draws more as the level of the merge is smaller
    pooled_draws += [-(-(options.n_resamples + 1) * (d.n - 1) // max(merge.size - 1, 1)) - 1 for merge in merges]

    def split(rng: np.random.Generator) -> tuple[list[Unimodality], FloatArray]:
        again = copy.deepcopy(rng)
        scorer = jittered_anew(options.scorer, d, rng)
        found, sides = scored(scorer, rng)
        if scorer.without_tails is None or all(clearly_large(one.pvalue) for one in found):
            return found, sides
        # piles at the ends of columns may be tails or none: the larger p of the same folds counts
        pairs = zip(found, scored(scorer.without_tails, again)[0], strict=True)
        return [max(pair, key=lambda one: one.pvalue) for pair in pairs], sides

    def scored(scorer: Scorer, rng: np.random.Generator) -> tuple[list[Unimodality], FloatArray]:
        held_out = _score_split(d, labels, asked, replace(options, scorer=scorer), rng)
        results = []
        for one, scores, n_resamples in zip(asked, held_out.scores, pooled_draws, strict=True):
            found = scores[~np.isnan(scores)]
            if one.size < SMALLEST_REGION or found.size < SMALLEST_SCORED:
                results.append(no_evidence(np.zeros(1)))
            else:
                results.append(unimodality_test(found, n_resamples, options.factor, rng, options.n_resamples))
        return results, _mean_of_sides(held_out.sides, asked, labels)

    of_splits = map_in_threads(split, rng.spawn(options.n_splits), options.n_jobs)
    splits = list(with_bar(of_splits, options.progress, total=options.n_splits, unit="split", size=lambda _: 1))
    separated = mean_of_rows(np.array([sides for _, sides in splits]).T)[len(contrasts) :]
    pvalues = np.array([[one.pvalue for one in results] for results, _ in splits])
    indices = np.array([[one.indices[EXCESS] for one in results] for results, _ in splits]).mean(axis=0)
    first = max(len(contrasts), 1)  # with two clusters the only merge is the partition
    combine = partial(over_contrasts, jittered_anew=wants_jitters(options.scorer, d))
    whole = PartitionTest(float(indices[:first].mean()), combine(pvalues[:, :first])[0])
    of_merges = np.array([combine(p[:, None])[0] for p in pvalues.T[len(contrasts) :]])
    return whole, _adjust_merges(d.n, merges, of_merges, indices[len(contrasts) :], separated)


def _list_contrasts(top: Merge) -> list[Merge]:
    """List the contrasts of each cluster with all others, as merges of clusters."""
    everything = top.clusters
    return [replace(top, left=(j,), right=tuple(i for i in everything if i != j), passed_to=()) for j in everything]


def _adjust_merges(
    n: int, merges: list[Merge], pvalues: FloatArray, indices: FloatArray, separated: FloatArray
) -> list[Merge]:
    """Adjust the p-values of merges of clusters, parents first, and return the merges with all results; (n_merges,)."""
    done: list[Merge] = []
    for j, merge in enumerate(merges):
        if merge.size < SMALLEST_REGION or merge.passed_to:
            few = f"{SMALLEST_SIDE} points on one side" if merge.passed_to else f"{SMALLEST_REGION} points"
            done.append(replace(merge, reason=f"fewer than {few}", separated=float(separated[j])))
            continue
        parent = merge.parent
        while parent is not None and done[parent].passed_to:
            parent = done[parent].parent
        above = 0.0 if parent is None else done[parent].pvalue_adjusted
        pvalue = float(pvalues[j])
        adjusted = adjusted_below(pvalue, merge.size, n, above, LEVEL)
        E, share = float(indices[j]), float(separated[j])
        done.append(replace(merge, statistic=E, pvalue=pvalue, pvalue_adjusted=adjusted, separated=share))
    return done


def _mean_of_sides(sides: FloatArray, merges: list[Merge], labels: IntArray) -> FloatArray:
    """Compute for each merge the share of held-out points on their cluster's side of its hyperplane; (m,).

    It is the mean over both sides, so that clusters of unlike sizes count alike.
    """
    found = [
        [np.where(np.isin(labels, side), row, np.nan) for side in (merge.left, merge.right)]
        for merge, row in zip(merges, sides, strict=True)
    ]
    return mean_of_rows(np.array([mean_of_rows(np.array(pair)) for pair in found]))


def _score_split(
    d: Dissimilarity, labels: IntArray, merges: list[Merge], options: MergeOptions, rng: np.random.Generator
) -> _SplitScores:
    """Score held-out points for each merge of clusters by positions across a hyperplane found in other folds."""
    pooled = _SplitScores(np.full((len(merges), d.n), np.nan), np.full((len(merges), d.n), np.nan))
    for fold, others in assign_folds(d.n, rng):
        # the fold has no part in clusters, lines and regions
        names = _name_clusters(options.cluster(d.subset(others), rng), labels[others])
        _score_fold(options.scorer, labels, merges, (others, names), fold, pooled)
    return pooled


def _name_clusters(found: IntArray, names: IntArray) -> IntArray:
    """Replace numbers of found clusters by those of the given clusters that they overlap most; -1 stays; (m,), (m,)."""
    n_found, n_names = int(found.max(initial=-1)) + 1, int(names.max(initial=-1)) + 1
    overlap = np.zeros((n_found + 1, n_names + 1))
    np.add.at(overlap, (found, names), 1)  # -1 is the last row or column
    if not n_found or not n_names:
        return np.full(found.size, -1)
    shared = overlap[:n_found, :n_names]
    of_found = np.where(shared.any(axis=1), shared.argmax(axis=1), -1)  # or all its points are in no cluster
    return np.asarray(np.append(of_found, -1)[found], dtype=np.intp)


def _score_fold(
    scorer: Scorer,
    labels: IntArray,
    merges: list[Merge],
    training: tuple[IntArray, IntArray],
    fold: IntArray,
    pooled: _SplitScores,
) -> None:
    """Compute the scores of one held-out fold for each merge of clusters, and write them into arrays of all points.

    The points of a merge are those in the region that the hyperplanes of the merges above it leave.
    """
    others, names = training
    regions: dict[tuple[int, ...], IntArray] = {} if not merges else {merges[0].clusters: np.arange(fold.size)}
    for j, merge in enumerate(merges):
        region = regions.get(merge.clusters)
        if region is not None and merge.passed_to:
            regions[merge.passed_to] = region  # no hyperplane can be tested here
            continue
        left, right = (others[np.isin(names, side)] for side in (merge.left, merge.right))
        if region is None or not left.size or not right.size:
            continue  # a cluster that the others do not show has no line
        t = _find_hyperplane(scorer, left, right)
        if t is None:
            continue
        inside = fold[region]
        pooled.scores[j, inside] = t[inside]
        regions[merge.left], regions[merge.right] = region[t[inside] > 0], region[t[inside] <= 0]
        on_left, on_right = np.isin(labels[inside], merge.left), np.isin(labels[inside], merge.right)
        known = on_left | on_right
        pooled.sides[j, inside[known]] = (on_left == (t[inside] > 0))[known]


def _find_hyperplane(scorer: Scorer, left: IntArray, right: IntArray) -> FloatArray | None:
    """Compute positions of all points across the best hyperplane of two sets of rows, above 0 for the first; or None.

    None if the rows do not vary across it.

    The line runs through the two means, unless Fisher's discriminant separates the sets clearly better. Positions are
    in standard deviations of the given points, so that lines of several folds can be pooled.
    """
    both = np.concatenate((left, right))
    on_left = np.arange(both.size) < left.size
    lines = [scorer.along(left, right)]
    if (discriminant := fisher_line(scorer, both, on_left)) is not None:
        lines.append(discriminant)
    cuts = [_best_cut(t[both], on_left) for t in lines]
    best = 1 if len(lines) > 1 and cuts[1][1] < cuts[0][1] - CLEARLY_BETTER * both.size else 0
    spread = float(lines[best][both].std())
    return (lines[best] - cuts[best][0]) / spread if spread > 0 else None


def fisher_line(scorer: Scorer, rows: IntArray, side: NDArray[Any]) -> FloatArray | None:
    """Compute positions of all points along Fisher's discriminant between two groups of rows; (m,), (m,) -> (n,).

    None where only distances are known, or there is one column, or too few rows for so many columns.
    """
    points = scorer.points
    if points is None or not 1 < points.shape[1] <= rows.size / ROWS_PER_COLUMN:
        return None
    # it is the least squares line of the side
    centred = points[rows] - points[rows].mean(axis=0)
    with one_thread_up_to(points.shape[1]):
        return np.asarray(points @ np.linalg.lstsq(centred, side - side.mean(), rcond=None)[0])


def _best_cut(t: FloatArray, on_left: NDArray[np.bool_]) -> tuple[float, float]:
    """Find the cut with the fewest points on the wrong side, left ones belonging above; return it and their number."""
    order = np.argsort(t, kind="stable")
    x, below = t[order], on_left[order]
    # left points at or below a cut are wrong, and right ones above it
    wrong = np.cumsum(below) + (~below).sum() - np.cumsum(~below)
    distinct = np.append(x[1:] > x[:-1], False)
    if not distinct.any():
        return float(x[0]), float(min(on_left.sum(), (~on_left).sum()))
    fewest = np.where(distinct, wrong, t.size + 1)
    # the middle one of the best cuts that follow each other
    candidates = np.flatnonzero(fewest == fewest.min())
    i = int(candidates[candidates.size // 2])
    return float(x[i] + x[i + 1]) / 2, float(fewest[i])
