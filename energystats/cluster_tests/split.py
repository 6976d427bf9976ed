"""The split test: lines from some of the points, unimodality of the others along them [theory 5]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from energystats._core.interrupts import map_in_threads
from energystats._core.linkage import numbering
from energystats._core.normal_mixture import mixture_ratio
from energystats._core.pvalues import over_contrasts
from energystats._core.statistics import within_per_cluster
from energystats._core.threads import one_thread_up_to
from energystats._core.unimodal import EXCESS
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.clusterers import EnergyClusters
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.results import ClusterTestResult, contrast_rows
from energystats.cluster_tests.scores import CoordinateScorer, Scorer, make_scorer
from energystats.cluster_tests.unimodality import (
    Unimodality,
    calibration_factor,
    no_evidence,
    note_duplicated_rows,
    note_ties,
    unimodality_test,
)
from energystats.clustering.exact_1d import has_exact
from energystats.clustering.partition import NearestCluster
from energystats.dissimilarity import Dissimilarity, Groups, Points
from energystats.metrics.closed_form import Euclidean

__all__ = ["LINEAR_UNIMODALITY", "split_test"]


FOLDS = 5  # of a split; the points of one are scored along lines that the others give
CLUSTERED_AT_MOST = 2000  # points, which fix a line well enough; more would only cost n x n numbers
NAMED_AT_MOST = 4000  # points that are clustered to name contrasts
PILOT = 500  # points that decide whether columns are decorrelated first
MARGIN = 3.0  # in log likelihood, by which decorrelated columns have to be better
SMALLEST_WIDTH = 1e-5  # of the widest direction: narrower ones are rounding, and not decorrelated
STEADY = 0.7  # correlation of two lines that look the same way
LEVELS = np.arange(1, 20) / 20  # of the quantiles by which other lines are oriented
SMALLEST_SAMPLE = 20  # points
SMALLEST_SCORED_PART = 8  # points
EUCLIDEAN = Euclidean()  # checked once
LINEAR_UNIMODALITY = "every linear projection of the population is unimodal"
CONTRASTS_MEAN = (
    "A contrast asks whether all points are unimodal along the line from one cluster to the rest. A third cluster far "
    "away makes its p small too, so it does not show that this cluster is separate from its neighbour."
)
Lines = list[FloatArray]  # standardised positions of all points, one array per contrast


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """Points as they are clustered and scored: as given, or with decorrelated columns."""

    d: Dissimilarity
    scorer: Scorer


@dataclass(frozen=True, slots=True, eq=False)
class _Splitter:
    """Split points: how parts are clustered and scored, and what the contrasts are called.

    Attributes
    ----------
    cluster : callable
        Labels 0, 1, ... of the points of a part, -1 for points in no cluster, or None if there are fewer than two (for
        Hartigan's method, fewer than k distinct points).
    names : ndarray of shape (n,) or None
        Clusters of all points, after which those of a part are called. None where two clusters are looked for.
    k : int
        Number of clusters among the names.
    decorrelate : bool
        Whether decorrelated columns may be tried.
    """

    space: _Space
    cluster: Callable[[Dissimilarity, np.random.Generator], IntArray | None]
    names: IntArray | None
    k: int
    decorrelate: bool
    n_resamples: int
    factor: float
    first_batch: int | None = None

    @property
    def n_contrasts(self) -> int:
        """Number of contrasts: each cluster against the rest, one for two clusters."""
        return self.k if self.k > 2 else 1

    def split(self, rng: np.random.Generator) -> list[Unimodality]:
        """Score the points of every fold along the lines of the others, and test the pooled scores of a contrast.

        Points for which the others gave no line are left out.
        """
        n = self.space.d.n
        # five folds of random points
        order = rng.permutation(n).astype(np.intp)
        pooled = np.full((self.n_contrasts, n), np.nan)
        first: Lines | None = None
        for fold in np.array_split(np.arange(n), FOLDS):
            # the points outside the fold give the lines; the fold has no part in them
            others = np.concatenate((order[fold[-1] + 1 :], order[: fold[0]]))[:CLUSTERED_AT_MOST]
            lines = self.lines(self.chosen_space(others, rng), others, rng)
            if lines is None:
                continue
            if first is None:
                first = lines
            if self.names is None:
                lines = [_oriented(t, like) for t, like in zip(lines, first, strict=True)]
            # the fold keeps its scores along these lines
            pooled[:, order[fold]] = [t[order[fold]] for t in lines]
        # one test of all n scores: a mixture of nearly equal projections
        scored = pooled[:, ~np.isnan(pooled[0])]
        if scored.shape[1] < SMALLEST_SCORED_PART:
            return [no_evidence(np.zeros(1))] * self.n_contrasts
        return [unimodality_test(scores, self.n_resamples, self.factor, rng, self.first_batch) for scores in scored]

    def lines(self, space: _Space, part: IntArray, rng: np.random.Generator) -> Lines | None:
        """Cluster some rows, and compute scores of all points along the line from each cluster to the others."""
        found = self.cluster(space.d.subset(part), rng)
        if found is None:
            return None
        clusters = np.zeros(1, dtype=np.intp) if self.names is None else _partners(found, self.names[part], self.k)
        lines = [
            space.scorer.along(part[found == j], part[(found != j) & (found >= 0)])
            for j in clusters[: self.n_contrasts]
        ]
        # lines of different folds are pooled, so that each has mean 0 and standard deviation 1
        spread = [t.std() for t in lines]
        if min(spread) <= 0:
            return None
        return [(t - t.mean()) / s for t, s in zip(lines, spread, strict=True)]

    def chosen_space(self, part: IntArray, rng: np.random.Generator) -> _Space:
        """Choose the space as given, unless decorrelated columns show clearly more on held-out halves of the part.

        Long parallel clusters are cut across by every method that looks at distances alone.
        """
        points = self.space.scorer.points
        subsample = part[:PILOT]
        if not self.decorrelate or points is None or not 1 < points.shape[1] < subsample.size / 4:
            return self.space
        halves = np.array_split(subsample, 2)
        # each half is clustered and the other scored, both ways, in both spaces
        gain = 0.0
        for own, other in (halves, halves[::-1]):
            gain += self.evidence(_decorrelated(points, own), own, other, rng)
            gain -= self.evidence(self.space, own, other, rng)
        return _decorrelated(points, part) if gain > MARGIN else self.space

    def evidence(self, space: _Space, own: IntArray, other: IntArray, rng: np.random.Generator) -> float:
        """Sum the log likelihood ratios of other points along the lines of a part."""
        lines = self.lines(space, own, rng)
        return 0.0 if lines is None else sum(float(mixture_ratio(np.sort(t[other]))) for t in lines)


def _decorrelated(points: FloatArray, part: IntArray) -> _Space:
    """Transform all points so that the part has uncorrelated columns of one variance."""
    centre = points[part].mean(axis=0)
    with one_thread_up_to(points.shape[1]):
        _, widths, axes = np.linalg.svd(points[part] - centre, full_matrices=False)
    kept = widths > SMALLEST_WIDTH * widths[0]
    moved = (points - centre) @ (axes[kept].T / widths[kept])
    return _Space(Points(metric=EUCLIDEAN, points=moved, warns=False), CoordinateScorer(moved))


def _oriented(t: FloatArray, first: FloatArray) -> FloatArray:
    """Turn a line in the direction of the first one; one that looks elsewhere, so that the shapes agree."""
    correlation = float(t @ first) / t.size
    if abs(correlation) >= STEADY:
        return t if correlation > 0 else -t
    shape, wanted = np.quantile(t, LEVELS), np.quantile(first, LEVELS)
    return t if np.abs(shape - wanted).sum() <= np.abs(shape[::-1] + wanted).sum() else -t


def split_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Test the pooled scores of every split, and combine the p-values of all splits and contrasts."""
    k, n_splits, user_clusterer = options.k, options.n_splits, options.user_clusterer
    n_clustered = _check_size(d.n, k if user_clusterer is None else 2)
    tie_rng, name_rng, *split_rngs = rng.spawn(2 + n_splits)
    names = _naming_clusters(d, name_rng, k) if user_clusterer is None else user_clusterer.all_labels(d, name_rng)
    if user_clusterer is not None and names is not None:
        k = int(names.max()) + 1
    splitter = _Splitter(
        space=_Space(d, make_scorer(d, options.power, tie_rng)),
        cluster=options.clustering.labels,
        names=names,
        k=k,
        decorrelate=user_clusterer is None,
        n_resamples=enough_draws(options.n_resamples, k),
        first_batch=options.n_resamples,
        factor=calibration_factor(options.conservative),
    )
    if k < 2:
        splits = [[no_evidence(np.zeros(1))]]
    else:
        of_splits = map_in_threads(splitter.split, split_rngs, options.n_jobs)
        splits = list(with_bar(of_splits, options.progress, total=n_splits, unit="split", size=lambda _: 1))
    pvalues = np.array([[e.pvalue for e in split] for split in splits])
    indices = np.array([[e.indices for e in split] for split in splits]).mean(axis=0)
    # Cauchy's rule over splits, then over contrasts
    pvalue, of_contrasts = over_contrasts(pvalues)
    rows = contrast_rows(_names_of_contrasts(k), indices[:, EXCESS].tolist(), of_contrasts)
    clearest = np.unravel_index(pvalues.argmin(), pvalues.shape)
    scorer = splitter.space.scorer
    ties = [*scorer.ties, *(["scores"] if any(e.spread for split in splits for e in split) else [])]
    duplicated = () if d.coordinates is None else note_duplicated_rows(d.coordinates)
    clusterers = () if user_clusterer is None else user_clusterer.notes(len(user_clusterer.counts), "no evidence")
    return ClusterTestResult(
        statistic=float(indices[:, EXCESS].mean()),
        pvalue=pvalue,
        method="split",
        null_hypothesis=LINEAR_UNIMODALITY,
        k=k,
        n_resamples=splitter.n_resamples,
        n_splits=n_splits,
        n_clustered=n_clustered,
        factor=splitter.factor,
        conservative=options.conservative,
        jittered=bool(ties),
        pvalues=pvalues,
        scores=splits[clearest[0]][clearest[1]].scores,
        indices=indices,
        rows=rows,
        notes=(*note_ties(ties), *duplicated, *scorer.notes, *((CONTRASTS_MEAN,) if k > 2 else ()), *clusterers),
    )


def _names_of_contrasts(k: int) -> list[str]:
    """Name all contrasts among k clusters."""
    if k < 2:
        return ["no clusters were found"]
    return ["cluster 0 vs cluster 1"] if k == 2 else [f"cluster {j} vs rest" for j in range(k)]


def enough_draws(n_resamples: int, k: int) -> int:
    """Compute the draws it takes for the smallest p of k contrasts, times k, to be what it is with two clusters."""
    return n_resamples if k <= 2 else (n_resamples + 1) * -(-k // 2) - 1


def _check_size(n: int, k: int) -> int:
    """Count the points that are clustered at a time, if there are enough."""
    if n < SMALLEST_SAMPLE:
        raise ValueError(f"`X` must have at least {SMALLEST_SAMPLE} rows for the split test, got {n}.")
    n_clustered = min(n - -(-n // FOLDS), CLUSTERED_AT_MOST)
    if n_clustered < k + 3:
        raise ValueError(
            f"`k` must be at most {n_clustered - 3} for {n} rows, of which {n_clustered} are clustered "
            f"at a time, got {k}."
        )
    return n_clustered


def _naming_clusters(d: Dissimilarity, rng: np.random.Generator, k: int) -> IntArray | None:
    """Find clusters of all points, numbered as in a `Partition`; of many points, nearest clusters of a sample.

    None for two clusters, whose only contrast needs no name.
    """
    if k == 2:
        return None
    drawn = np.arange(d.n) if d.n <= NAMED_AT_MOST else rng.choice(d.n, NAMED_AT_MOST, replace=False)
    sample = (d if d.n <= NAMED_AT_MOST else d.subset(drawn)).stored()
    labels = EnergyClusters(k).labels(sample, rng)
    if labels is None:
        return None
    M, s = sample.group_sums(Groups(labels, tuple(range(k))))
    within, everything = within_per_cluster(M, s), np.arange(d.n)
    if d.n > NAMED_AT_MOST:
        labels = NearestCluster.of(labels, within).assign(d.n, lambda rows: d.rho(everything[rows], drawn))
    if has_exact(d):
        return labels
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    return numbering(labels, sizes, within, M.sum(axis=1), float(M.sum()) / (2 * float(s.sum())))[labels]


def _partners(labels: IntArray, names: IntArray, k: int) -> IntArray:
    """Match every name with a cluster: pairs with the largest overlap, then whatever overlaps most.

    Points with -1 among the labels or names are in no cluster; (m,), (m,) -> (k,).
    """
    kept = (labels >= 0) & (names >= 0)
    overlap = np.zeros((int(labels.max()) + 1, k))
    np.add.at(overlap, (labels[kept], names[kept]), 1)
    of_names = np.asarray(overlap.argmax(axis=0), dtype=np.intp)
    clusters, named = linear_sum_assignment(overlap, maximize=True)
    of_names[named] = clusters
    return of_names
