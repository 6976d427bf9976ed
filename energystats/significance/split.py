"""The split test: a direction from one part of the points, unimodality of the others along it [theory 5]."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from energystats._core.partitions import renumber
from energystats._core.statistics import within_per_group
from energystats._typing import IntArray
from energystats.clustering.assign import NearestCluster
from energystats.clustering.search import MOVE_TOLERANCE, best_start, make_starts
from energystats.clustering.seeding import count_distinct
from energystats.clustering.state import Problem
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.progress import with_bar
from energystats.results import ClusterTestResult
from energystats.significance.clusterers import ForeignClusters
from energystats.significance.contrasts import contrast_rows
from energystats.significance.excess import FLAT_FACTOR, Excess, cauchy_combination, excess_test, remark_on_ties
from energystats.significance.scores import Scorer, make_scorer

__all__ = ["LINEAR_UNIMODALITY", "split_test"]

CLUSTERED_SHARE = 0.35  # of the points find the direction, the others are scored
CLUSTERED_AT_MOST = 4000  # points, which fix a direction well enough; more would only cost n x n numbers
STARTS = 4  # of the clustering of a part
STARTS_OF_NAMES = 10  # of the clustering of all points, after which contrasts are named
SMALLEST_SCORED_PART = 8  # points
LINEAR_UNIMODALITY = "every linear projection of the population is unimodal"
CONTRASTS_MEAN = (
    "A contrast asks whether all points are unimodal along the line from one cluster to the rest. A third cluster far "
    "away makes its p small too, so it does not show that this cluster is separate from its neighbour."
)

Fold = list[Excess]  # one entry per contrast


@dataclass(frozen=True, slots=True, eq=False)
class Splitter:
    """What every split needs: the points, how to score them, and what the contrasts are called.

    Attributes
    ----------
    names : ndarray of shape (n,) or None
        Clusters of all points; those of a part take the numbers they overlap with most. None for k = 2.
    cluster : callable
        Labels 0..k-1 of the points of a part, or None if it has fewer than k distinct points. A user's clusterer may
        find another number of clusters in every part, and label points that are in none -1.
    pooled : bool
        Whether a fold's contrasts count as one, because their number may differ from fold to fold.
    """

    d: Dissimilarity
    cluster: Callable[[Dissimilarity, np.random.Generator], IntArray | None]
    scorer: Scorer
    k: int
    names: IntArray | None
    n_clustered: int
    n_resamples: int
    factor: float
    pooled: bool = False

    @property
    def contrasts(self) -> range:
        """Clusters that are set against the rest: all of them, or one of two; one stands for all where pooled."""
        return contrasts_among(1 if self.pooled else self.k)

    def folds(self, rng: np.random.Generator) -> list[Fold]:
        """One random order of the points, used from both ends."""
        order = rng.permutation(self.d.n).astype(np.intp)
        a = self.n_clustered
        return [self.fold(order[:a], order[a:], rng), self.fold(order[-a:], order[:-a], rng)]

    def fold(self, part: IntArray, rest: IntArray, rng: np.random.Generator) -> Fold:
        """Cluster the part, score the rest along every contrast."""
        found = self.cluster(self.d.subset(part), rng)
        if found is None:  # fewer than k distinct points: no direction, no evidence
            return [Excess(np.zeros(1), 0.0, 1.0, False) for _ in self.contrasts]
        if self.names is not None:
            found = matched(found, self.names[part], self.k)
        part, found = part[found >= 0], found[found >= 0]
        among = contrasts_among(int(found.max()) + 1)
        scores = (self.scorer.scores(part[found == j], part[found != j], rest) for j in among)
        tested = [excess_test(s, self.n_resamples, self.factor, rng) for s in scores]
        return [pooled(tested)] if self.pooled else tested


def contrasts_among(k: int) -> range:
    """Clusters that are set against the rest: all of them, or one of two."""
    return range(k) if k > 2 else range(1)


def pooled(contrasts: list[Excess]) -> Excess:
    """One entry for all contrasts of a fold: combined p, mean E, and the scores of the clearest one.

    Cauchy's rule over folds then weighs every fold alike, and every contrast within its fold.
    """
    clearest = min(contrasts, key=lambda e: e.pvalue)
    combined = cauchy_combination(np.array([e.pvalue for e in contrasts]))
    return replace(clearest, index=float(np.mean([e.index for e in contrasts])), pvalue=combined)


def split_test(
    d: Dissimilarity,
    k: int,
    *,
    power: float,
    n_splits: int,
    n_resamples: int,
    conservative: bool,
    progress: bool,
    rng: np.random.Generator,
    foreign: ForeignClusters | None = None,
) -> ClusterTestResult:
    """Cluster one part, score the other, combine the p-values of all splits and contrasts."""
    n_clustered = max(min(int(CLUSTERED_SHARE * d.n), CLUSTERED_AT_MOST), k + 3)
    if d.n - n_clustered < SMALLEST_SCORED_PART:
        raise ValueError(f"`X` must have at least {k + 3 + SMALLEST_SCORED_PART} rows for k={k}, got {d.n}.")
    tie_rng, name_rng, *split_rngs = rng.spawn(2 + n_splits)
    splitter = Splitter(
        d=d,
        cluster=partial(hartigan_clusters, k=k, n_init=STARTS) if foreign is None else foreign.labels,
        scorer=make_scorer(d, power, tie_rng),
        k=k,
        names=contrast_names(d, name_rng, k) if k > 2 and foreign is None else None,
        n_clustered=n_clustered,
        n_resamples=n_resamples,
        factor=FLAT_FACTOR if conservative else 1.0,
        pooled=foreign is not None,
    )
    of_splits: Iterator[list[Fold]] = (splitter.folds(split_rng) for split_rng in split_rngs)
    folds = [fold for pair in with_bar(of_splits, progress, total=2 * n_splits, unit="fold", size=len) for fold in pair]

    pvalues = np.array([[e.pvalue for e in fold] for fold in folds])
    indices = np.array([[e.index for e in fold] for fold in folds])
    labels = names_of_contrasts(k, foreign)
    rows = contrast_rows(labels, indices.mean(axis=0).tolist(), [cauchy_combination(p) for p in pvalues.T])
    best = min(range(len(rows)), key=lambda j: rows[j].pvalue)
    median_fold = folds[int(np.argsort(pvalues[:, best], kind="stable")[len(folds) // 2])]
    ties = list(splitter.scorer.ties)
    if any(e.spread for fold in folds for e in fold):
        ties.append("scores")
    return ClusterTestResult(
        statistic=float(indices.mean()),
        pvalue=cauchy_combination(pvalues),
        method="split",
        null_hypothesis=LINEAR_UNIMODALITY,
        k=k,
        n_resamples=n_resamples,
        n_splits=n_splits,
        n_clustered=n_clustered,
        conservative=conservative,
        jittered=bool(ties),
        pvalues=pvalues,
        scores=median_fold[best].scores,
        null_distribution=np.empty(0),
        rows=rows,
        remarks=(
            *remark_on_ties(ties),
            *splitter.scorer.remarks,
            *((CONTRASTS_MEAN,) if k > 2 and foreign is None else ()),
            *(() if foreign is None else foreign.remarks(2 * n_splits, "p = 1")),
        ),
    )


def names_of_contrasts(k: int, foreign: ForeignClusters | None) -> list[str]:
    """One for all where a user's clusterer decided how many clusters there are in every part."""
    if foreign is not None:
        return ["each cluster found vs rest"]
    return ["cluster 0 vs cluster 1"] if k == 2 else [f"cluster {j} vs rest" for j in range(k)]


def hartigan_clusters(d: Dissimilarity, rng: np.random.Generator, *, k: int, n_init: int) -> IntArray | None:
    """Labels by Hartigan's method, or None if there are fewer than k distinct points."""
    d = d.stored()
    if count_distinct(d.matrix, k) < k:
        return None
    problem = Problem(d.matrix, np.ones(d.n), k, MOVE_TOLERANCE * d.scale)
    return best_start(problem, "hartigan", make_starts(problem, "k-means++", n_init, rng)).labels


def contrast_names(d: Dissimilarity, rng: np.random.Generator, k: int) -> IntArray | None:
    """Clusters of all points, numbered as a `Partition` numbers them; of many points, nearest clusters of a sample."""
    if d.n <= CLUSTERED_AT_MOST:
        labels = hartigan_clusters(d, rng, k=k, n_init=STARTS_OF_NAMES)
        return None if labels is None else renumber(labels)
    drawn = rng.choice(d.n, CLUSTERED_AT_MOST, replace=False)
    sample = d.subset(drawn).stored()
    labels = hartigan_clusters(sample, rng, k=k, n_init=STARTS_OF_NAMES)
    if labels is None:
        return None
    within = within_per_group(*sample.group_sums(Groups(labels, tuple(range(k)))))
    everything = np.arange(d.n)
    return renumber(NearestCluster.of(labels, within).assign(d.n, lambda rows: d.rho(everything[rows], drawn)))


def matched(labels: IntArray, names: IntArray, k: int) -> IntArray:
    """`labels` renumbered so that they overlap the most with `names`."""
    overlap = np.zeros((k, k))
    np.add.at(overlap, (labels, names), 1)
    to = np.asarray(linear_sum_assignment(overlap, maximize=True)[1], dtype=np.intp)
    return to[labels]
