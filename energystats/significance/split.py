"""The split test: a direction from one part of the points, unimodality of the others along it [SIGNIFICANCE s.2.2]."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.optimize import linear_sum_assignment

from energystats._typing import IntArray
from energystats.clustering.search import MOVE_TOLERANCE, best_start, make_starts, partition_points
from energystats.clustering.seeding import count_distinct
from energystats.dissimilarity import Dissimilarity
from energystats.progress import with_bar
from energystats.results import ClusterTestResult
from energystats.significance.contrasts import contrast_rows
from energystats.significance.excess import FLAT_FACTOR, Excess, cauchy_combination, excess_test
from energystats.significance.scores import Scorer

__all__ = ["LINEAR_UNIMODALITY", "split_test"]

CLUSTERED_SHARE = 0.35  # of the points find the direction, the others are scored
STARTS = 4  # of the clustering of a part
SMALLEST_SCORED_PART = 8  # points
CONTRASTS_MEAN = (
    "A contrast says whether the points are unimodal along the line from its cluster to the rest, not that the "
    "cluster is real."
)
LINEAR_UNIMODALITY = "every linear projection of the population is unimodal"


def split_test(
    d: Dissimilarity,
    k: int,
    power: float,
    n_splits: int,
    n_resamples: int,
    conservative: bool,
    progress: bool,
    rng: np.random.Generator,
) -> ClusterTestResult:
    """Cluster one part, score the other, combine [SIGNIFICANCE s.2.2]."""
    n_clustered = max(int(CLUSTERED_SHARE * d.n), k + 3)
    if d.n - n_clustered < SMALLEST_SCORED_PART:
        raise ValueError(f"`X` must have at least {k + 3 + SMALLEST_SCORED_PART} rows for k={k}, got {d.n}.")
    tie_rng, name_rng, *split_rngs = rng.spawn(2 + n_splits)
    scorer = Scorer.of(d, power, tie_rng)
    names = contrast_clusters(d, k, name_rng)
    factor = FLAT_FACTOR if conservative else 1.0
    folds: list[list[Excess]] = []
    for split_rng in with_bar(split_rngs, progress, total=n_splits, unit="split"):
        shuffled = split_rng.permutation(d.n).astype(np.intp)
        for part, rest in (
            (shuffled[:n_clustered], shuffled[n_clustered:]),
            (shuffled[-n_clustered:], shuffled[:-n_clustered]),
        ):
            found = cluster_part(d.subset(part), k, split_rng)
            if found is None:  # fewer than k distinct points: no direction, no evidence
                folds.append([Excess(np.zeros(1), 0.0, 1.0)] * (1 if k == 2 else k))
                continue
            found = found if names is None else matched(found, names[part], k)
            contrasts = [found == j for j in (range(k) if k > 2 else (1,))]
            scores = (scorer.scores(part[inside], part[~inside], rest) for inside in contrasts)
            folds.append([excess_test(s, n_resamples, factor, split_rng) for s in scores])
    scorer.warn_of_ties()
    pvalues = np.array([[e.pvalue for e in fold] for fold in folds])
    indices = np.array([[e.index for e in fold] for fold in folds])
    labels = ["cluster 0 vs cluster 1"] if k == 2 else [f"cluster {j} vs rest" for j in range(k)]
    rows = contrast_rows(labels, indices.mean(axis=0), [cauchy_combination(column) for column in pvalues.T])
    best = min(range(len(rows)), key=lambda j: rows[j].pvalue)
    shown = int(np.argsort(pvalues[:, best], kind="stable")[len(folds) // 2])
    return ClusterTestResult(
        statistic=float(indices.mean()),
        pvalue=cauchy_combination(pvalues),
        method="split",
        null_hypothesis=LINEAR_UNIMODALITY,
        k=k,
        n_resamples=n_resamples,
        n_splits=n_splits,
        conservative=conservative,
        jittered=scorer.jittered,
        pvalues=pvalues,
        scores=folds[shown][best].scores,
        rows=rows,
        remarks=scorer.remarks() + ((CONTRASTS_MEAN,) if k > 2 else ()),
    )


def cluster_part(d: Dissimilarity, k: int, rng: np.random.Generator) -> IntArray | None:
    """Labels of the points of a part, or None if it has fewer than k distinct points."""
    if count_distinct(d.matrix, k) < k:
        return None
    starts = make_starts(d.matrix, k, "k-means++", STARTS, rng)
    tolerance = MOVE_TOLERANCE * d.scale
    return best_start(d.matrix, k, "hartigan", starts, max_iter=300, tolerance=tolerance).labels


def contrast_clusters(d: Dissimilarity, k: int, rng: np.random.Generator) -> IntArray | None:
    """Clusters of all points, after which the contrasts of every split are named; not needed for a single one."""
    if k == 2 or count_distinct(d.matrix, k) < k:
        return None
    found = partition_points(d, k, algorithm="hartigan", init="k-means++", n_init=10, max_iter=300, rng=rng)
    return found.labels


def matched(labels: IntArray, names: IntArray, k: int) -> IntArray:
    """`labels` renumbered so that they overlap the most with `names`."""
    overlap = np.zeros((k, k))
    np.add.at(overlap, (labels, names), 1)
    return cast(IntArray, linear_sum_assignment(overlap, maximize=True)[1].astype(np.intp)[labels])
