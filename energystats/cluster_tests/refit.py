"""The refit test: S/T of the clusters against that of samples of a distribution without clusters, fitted to the data.

The reference samples are clustered as hard as the data were. Under a Gaussian null hypothesis the excess over the
references is compared with that of every reference over references fitted to it in turn (prepivoting, Beran 1988):
a sample's largest variances are too large on average, and references that inherit them hide what is there [theory 5].
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from energystats._core.pvalues import count_extreme, upper_pvalue
from energystats._runtime import with_bar
from energystats._typing import FloatArray
from energystats.cluster_tests.clusterers import Clustering
from energystats.cluster_tests.data_notes import ColumnTies, describe_data
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.reference_samples import (
    Axes,
    GaussianReference,
    MarginalReference,
    ReferenceDistribution,
    feature_axes,
    principal_axes,
    reference_sets,
    under_metric_of,
)
from energystats.cluster_tests.results import ClusterTestResult, Comparison, Contrast
from energystats.cluster_tests.scores import jitter_columns
from energystats.dissimilarity import Dissimilarity

__all__ = ["GAUSSIAN", "INDEPENDENT_UNIMODAL", "compare_with_references", "refit_test", "unimodal_axes"]


INNER = 3  # references of every reference, whose mean S/T the pivot takes away
SMALLEST_SAMPLE = 8  # points
SHARE_TOLERANCE = 1e-12  # two shares closer than this are tied
GAUSSIAN = "the population is one Gaussian, with any covariance matrix"
INDEPENDENT_UNIMODAL = "the population has independent unimodal principal components, or independent unimodal features"
UNLIKE_NUMBERS = (
    "S/T grows with the number of clusters, and without points that are labelled noise; where these differ between "
    'data and references p says little. Take a clusterer with a fixed number, or method="split".'
)
NOT_GAUSSIAN = (
    "Data without clusters that are not Gaussian are rejected too: at level .05 about .6 of uniform squares and .2 of "
    "samples with exponential columns (n = 100)."
)


@dataclass(frozen=True, slots=True)
class _Refit:
    """References of a test, and the way in which they are clustered and compared."""

    d: Dissimilarity
    clustering: Clustering
    n_resamples: int
    progress: bool
    rng: np.random.Generator

    def shares(self, reference: ReferenceDistribution, inner: int = 0) -> tuple[FloatArray, FloatArray]:
        """Compute S/T of every reference sample, and its excess over the mean of `inner` references of its own."""
        sets = reference_sets(self.d, reference, self.n_resamples, self.rng)
        bar = with_bar(sets, self.progress, total=self.n_resamples, unit="reference sample", size=lambda _: 1)
        with closing(bar):
            pairs = np.array([self.share_and_excess(drawn, child, inner) for drawn, child in bar])
        return pairs[:, 0], pairs[:, 1]

    def share_and_excess(self, drawn: Dissimilarity, rng: np.random.Generator, inner: int) -> tuple[float, float]:
        """Compute S/T of one reference sample, and how far it is above the references fitted to it."""
        share = self.clustering.share(drawn, rng)
        if not inner:
            return share, 0.0
        # references of the reference, from the Gaussian fitted to it
        refitted = GaussianReference.of(drawn.points)
        own = [self.clustering.share(under_metric_of(self.d, refitted.draw(rng)), rng) for _ in range(inner)]
        return share, share - float(np.mean(own))


def refit_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Compare S/T of the clusters of all points with that of reference samples, clustered by the same method."""
    k, null, clustering = options.k, options.null, options.clustering
    smallest = max(k + 3, SMALLEST_SAMPLE)
    if d.n < smallest:
        raise ValueError(f"`X` must have at least {smallest} rows for k={k}, got {d.n}.")
    tie_rng, data_rng, null_rng = rng.spawn(3)
    ties: tuple[ColumnTies, ...] = ()
    if null == "unimodal":  # point masses count as modes, for a Gaussian distribution they do not
        d, ties = jitter_columns(d, tie_rng)
    _check_distinct_rows(d, k)
    observed = clustering.share(d, data_rng)
    refit = _Refit(d, clustering, options.n_resamples, options.progress, null_rng)
    found = _refit_gaussian(refit, observed) if null == "gaussian" else _refit_unimodal(refit, observed, tie_rng)
    decisive, against = max(found, key=lambda pair: pair[0].pvalue) if null == "unimodal" else found[0]
    return ClusterTestResult(
        statistic=decisive.statistic,
        pvalue=decisive.pvalue,
        method="refit",
        null_hypothesis=GAUSSIAN if null == "gaussian" else INDEPENDENT_UNIMODAL,
        k=k,
        n_resamples=options.n_resamples,
        n_splits=0,
        n_clustered=0,
        conservative=False,
        jittered=bool(ties),
        pvalues=np.array([[c.pvalue for c, _ in found]]),
        null_distribution=against,
        rows=(Contrast("all clusters", decisive.statistic, decisive.pvalue, decisive.pvalue),),
        notes=(*_note_refit(refit, null), *describe_data(d, ties)),
        comparisons=tuple(comparison for comparison, _ in found),
    )


def _check_distinct_rows(d: Dissimilarity, k: int) -> None:
    """Refuse more clusters than points that differ."""
    distinct = len(np.unique(d.points, axis=0))
    if distinct < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {distinct}, got {k}.")


def _note_refit(refit: _Refit, null: str) -> tuple[str, ...]:
    """Note what was done, and what else is rejected."""
    samples = "Gaussian samples" if null == "gaussian" else "samples with independent unimodal scores"
    done = (
        f"Done: the points and {refit.n_resamples} {samples}, fitted to them, were clustered by "
        f"{refit.clustering.describe(refit.d)}, and S/T compared."
    )
    numbers = (UNLIKE_NUMBERS,) if len(set(getattr(refit.clustering, "counts", ()))) > 1 else ()
    gaussian = (NOT_GAUSSIAN,) if null == "gaussian" else ()
    return done, *refit.clustering.notes(1, "S/T = 0"), *numbers, *gaussian


def _refit_gaussian(refit: _Refit, observed: float) -> list[tuple[Comparison, FloatArray]]:
    """Make the pivoted comparison, which counts, and the plain one."""
    # [Beran 1988]: e = t - mean t_b against e_b = t_b - mean over references fitted to reference b
    shares, excesses = refit.shares(GaussianReference.of(refit.d.points), INNER)
    return [
        compare_with_references("pivoted", observed - float(shares.mean()), excesses),
        compare_with_references("plain", observed, shares),
    ]


def _refit_unimodal(refit: _Refit, observed: float, rng: np.random.Generator) -> list[tuple[Comparison, FloatArray]]:
    """Compare along principal components, and along features."""
    return [
        compare_with_references(name, observed, refit.shares(MarginalReference.of(axes, "unimodal", rng))[0])
        for name, axes in unimodal_axes(refit.d.points)
    ]


def unimodal_axes(points: FloatArray) -> Iterator[tuple[str, Axes]]:
    """Yield the axes along which references are independent; for a single column there is one set of them."""
    yield "principal components", principal_axes(points)
    if points.shape[1] > 1:
        yield "features", feature_axes(points)


def compare_with_references(name: str, observed: float, null: FloatArray) -> tuple[Comparison, FloatArray]:
    """Count how often the references reach the observed value, ties included."""
    pvalue = upper_pvalue(count_extreme(observed, null, SHARE_TOLERANCE), null.size)
    return Comparison(name, observed, float(null.mean()), pvalue), null
