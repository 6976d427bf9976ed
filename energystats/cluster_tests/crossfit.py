"""The crossfit test: E of held-out halves, averaged over splits, against samples with unimodal scores [theory 5]."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from energystats._core.samples import difference_of_means
from energystats._core.unimodal import excess_split
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.clusterers import Clustering
from energystats.cluster_tests.data_notes import describe_data
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.reference_samples import MarginalReference, reference_sets
from energystats.cluster_tests.refit import INDEPENDENT_UNIMODAL, compare_with_references, unimodal_axes
from energystats.cluster_tests.results import ClusterTestResult, Contrast
from energystats.cluster_tests.scores import jitter_columns
from energystats.dissimilarity import Dissimilarity

__all__ = ["crossfit_test"]


SMALLEST_SCORED_PART = 8  # points


@dataclass(frozen=True, slots=True)
class _HeldOut:
    """Compute the excess-split index E of one half of the points along lines between clusters of the other half."""

    clustering: Clustering  # finds the directions in one half
    n_splits: int  # random halves, each used in both directions

    def folds(self, d: Dissimilarity, rng: np.random.Generator) -> FloatArray:
        """Compute the held-out excess-split index of every fold, NaN where no clusters were found; (2 n_splits,)."""
        half = d.n // 2
        orders = (rng.permutation(d.n) for _ in range(self.n_splits))
        halves = ((order[:half], order[half:]) for order in orders)
        return np.array([self.fold(d, *pair, rng) for a, b in halves for pair in ((a, b), (b, a))])

    def fold(self, d: Dissimilarity, part: IntArray, rest: IntArray, rng: np.random.Generator) -> float:
        """Compute the mean excess-split index of held-out points along lines between others' clusters; NaN if none."""
        found = self.clustering.labels(d.subset(part), rng)
        if found is None:
            return float("nan")
        inside, scored, k = d.points[part], d.points[rest], int(found.max()) + 1
        kept = found >= 0
        lines = (difference_of_means(inside[kept], found[kept] == j) for j in (range(k) if k > 2 else (1,)))
        return float(np.mean([excess_split(np.sort(scored @ line)) for line in lines]))

    def mean(self, d: Dissimilarity, rng: np.random.Generator) -> float:
        """Compute the mean of the held-out excess-split index over all folds, counting folds without lines as 0."""
        return float(np.nan_to_num(self.folds(d, rng)).mean())


def crossfit_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Test for clusters by comparing the held-out excess-split index with that of reference samples.

    Of principal components and features as axes, the larger p counts.
    """
    k, n_splits, n_resamples = options.k, options.n_splits, options.n_resamples
    smallest = 2 * max(k + 3, SMALLEST_SCORED_PART)
    if d.n < smallest:
        raise ValueError(f"`X` must have at least {smallest} rows for k={k}, got {d.n}.")
    tie_rng, data_rng, null_rng = rng.spawn(3)
    given = d
    d, ties, on_rows = jitter_columns(d, tie_rng)
    held_out = _HeldOut(options.clustering, n_splits)
    folds = held_out.folds(d, data_rng)
    lost = int(np.isnan(folds).sum())
    observed = float(np.nan_to_num(folds).mean())
    nulls = [(name, MarginalReference.of(axes, "unimodal", tie_rng)) for name, axes in unimodal_axes(d.points)]
    sets = ((name, *pair) for name, null in nulls for pair in reference_sets(d, null, n_resamples, null_rng))
    total = n_resamples * len(nulls)
    with closing(with_bar(sets, options.progress, total=total, unit="reference sample", size=lambda _: 1)) as bar:
        means = np.array([held_out.mean(drawn, child) for _, drawn, child in bar]).reshape(-1, n_resamples)
    found = [compare_with_references(name, observed, against) for (name, _), against in zip(nulls, means, strict=True)]
    # H0 is independence along one of both sets of axes, so the larger p counts
    decisive, against = max(found, key=lambda pair: pair[0].pvalue)
    return ClusterTestResult(
        statistic=observed,
        pvalue=decisive.pvalue,
        method="crossfit",
        null_hypothesis=INDEPENDENT_UNIMODAL,
        k=k,
        n_resamples=n_resamples,
        n_splits=n_splits,
        n_clustered=d.n // 2,
        conservative=False,
        jittered=bool(ties),
        pvalues=np.array([[c.pvalue for c, _ in found]]),
        null_distribution=against,
        rows=(Contrast("all clusters", observed, decisive.pvalue, decisive.pvalue),),
        notes=(*_note_crossfit(held_out, d, k, n_resamples, lost), *describe_data(given, ties), *on_rows),
        comparisons=tuple(comparison for comparison, _ in found),
    )


def _note_crossfit(held_out: _HeldOut, d: Dissimilarity, k: int, n_resamples: int, lost: int) -> tuple[str, ...]:
    """Return notes on how a crossfit test was done, and on halves of the data without clusters."""
    clustering, n_folds = held_out.clustering, 2 * held_out.n_splits
    done = (
        f"Done: one half was clustered by {clustering.describe(d)}, the other scored along the line through the means "
        "of two clusters, or the lines from each of more to the rest; the mean of E over all folds was compared with "
        f"that of {n_resamples} samples with independent unimodal scores."
    )
    found = clustering.notes(n_folds, "E = 0")
    if found or not lost:
        return done, *found
    return done, f"In {lost} of {n_folds} folds a half had fewer than {k} distinct points; those count as E = 0."
