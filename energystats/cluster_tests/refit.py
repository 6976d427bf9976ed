"""The refit test: S/T of the clusters against that of samples of a distribution without clusters, fitted to the data.

The reference samples are clustered as hard as the data were. Under a Gaussian null hypothesis the excess over the
references is compared with that of every reference over references fitted to it in turn (prepivoting, Beran 1988):
a sample's largest variances are too large on average, and references that inherit them hide what is there [theory 5].
Against tables with permuted columns, or of the user's model, the level is exact: there the data are one of the draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from energystats._core.pvalues import count_extreme, tie_tolerance, upper_pvalue
from energystats._runtime import with_bar
from energystats._typing import FloatArray
from energystats.cluster_tests.clusterers import Clustering, EnergyClusters
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
from energystats.cluster_tests.reference_tables import Null, TableNull, held
from energystats.cluster_tests.results import ClusterTestResult, Comparison, Contrast
from energystats.cluster_tests.scores import jitter_columns
from energystats.clustering.exact_1d import has_exact
from energystats.clustering.search import check_distinct
from energystats.display.sentences import Caution, exact_note
from energystats.dissimilarity import Dissimilarity

__all__ = ["GAUSSIAN", "INDEPENDENT_UNIMODAL", "INNER", "compare_with_references", "refit_test", "unimodal_axes"]


INNER = 3  # references of every reference, whose mean S/T the pivot takes away
SMALLEST_SAMPLE = 8  # points
SHARE_TOLERANCE = 1e-12  # two shares closer than this are tied
GAUSSIAN = "the population is one Gaussian, with any covariance matrix"
INDEPENDENT_UNIMODAL = "the population has independent unimodal principal components, or independent unimodal features"
UNLIKE_NUMBERS = Caution(
    "p says little where the data and the references have different numbers of clusters or of noise points.",
    "S/T grows with the number of clusters, and without points that are labelled noise. Take a clusterer with a fixed "
    'number, or method="split".',
)
SAME_AS_DATA = Caution(
    "All tables drawn have the S/T of the data, so that p is 1 whatever the data are.",
    "The model may return the data themselves, or their rows in another order, which are the same points.",
)
NOT_GAUSSIAN = Caution(
    "Data without clusters that are not Gaussian are rejected too.",
    "At level .05 about .6 of uniform squares and .2 of samples with exponential columns (n = 100).",
)
NOT_INDEPENDENT = Caution(
    "Unimodal components that depend on each other are outside this null hypothesis.",
    "One elliptical cloud of which 5 % of the rows have twenty times the spread was rejected in .2 of samples (n = "
    "100, ten columns, level .05).",
)


@dataclass(frozen=True, slots=True)
class _Refit:
    """Draw the reference samples of the refit test, and compute S/T of the clusters found in them."""

    d: Dissimilarity
    clustering: Clustering
    n_resamples: int
    progress: bool
    rng: np.random.Generator

    def shares(self, reference: ReferenceDistribution, inner: int = 0) -> tuple[FloatArray, FloatArray]:
        """Compute S/T of the clusters of each reference sample, and its excess over samples fitted to that in turn."""
        sets = reference_sets(self.d, reference, self.n_resamples, self.rng)
        bar = with_bar(sets, self.progress, total=self.n_resamples, unit="reference sample", size=lambda _: 1)
        with closing(bar):
            pairs = np.array([self.share_and_excess(drawn, child, inner) for drawn, child in bar])
        return pairs[:, 0], pairs[:, 1]

    def share_and_excess(self, drawn: Dissimilarity, rng: np.random.Generator, inner: int) -> tuple[float, float]:
        """Compute S/T of the clusters of one reference sample, and its excess over samples fitted to that in turn."""
        share = self.clustering.share(drawn, rng)
        if not inner:
            return share, 0.0
        # references of the reference, from the Gaussian fitted to it
        refitted = GaussianReference.of(drawn.points)
        own = [self.clustering.share(under_metric_of(self.d, refitted.draw(rng)), rng) for _ in range(inner)]
        return share, share - float(np.mean(own))


def refit_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Test for clusters by comparing their between share S/T with that of clusters in reference samples."""
    if options.tables is not None:
        return _test_against_tables(d, options, options.tables, rng)
    k, null, clustering = options.k, options.null, options.clustering
    smallest = max(k + 3, SMALLEST_SAMPLE)
    if d.n < smallest:
        raise ValueError(f"`X` must have at least {smallest} rows for k={k}, got {d.n}.")
    tie_rng, data_rng, null_rng = rng.spawn(3)
    ties: tuple[ColumnTies, ...] = ()
    on_rows: tuple[str, ...] = ()
    given = d
    if null == "unimodal":  # point masses count as modes, for a Gaussian distribution they do not
        d, ties, on_rows = jitter_columns(d, tie_rng)
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
        notes=(*_note_refit(refit, null), *describe_data(given, ties), *on_rows),
        comparisons=tuple(comparison for comparison, _ in found),
    )


def _check_distinct_rows(d: Dissimilarity, k: int) -> None:
    """Raise ValueError if there are fewer distinct points than k clusters."""
    check_distinct(len(np.unique(d.points, axis=0)), k)


def _note_refit(refit: _Refit, null: Null) -> tuple[str, ...]:
    """Return notes on how a test against reference samples was done, and on what else can make it reject."""
    samples = "Gaussian samples" if null == "gaussian" else "samples with independent unimodal scores"
    done = (
        f"Done: the points and {refit.n_resamples} {samples}, fitted to them, were clustered by "
        f"{refit.clustering.describe(refit.d)}, and S/T compared."
    )
    numbers = (UNLIKE_NUMBERS,) if len(set(getattr(refit.clustering, "counts", ()))) > 1 else ()
    outside = NOT_GAUSSIAN if null == "gaussian" else NOT_INDEPENDENT
    return done, *refit.clustering.notes(1, "S/T = 0"), *numbers, outside


def _refit_gaussian(refit: _Refit, observed: float) -> list[tuple[Comparison, FloatArray]]:
    """Compare S/T of clusters with Gaussian samples twice: pivoted by refitted samples, which counts, and plain."""
    # [Beran 1988]: e = t - mean t_b against e_b = t_b - mean over references fitted to reference b
    shares, excesses = refit.shares(GaussianReference.of(refit.d.points), INNER)
    return [
        compare_with_references("pivoted", observed - float(shares.mean()), excesses),
        compare_with_references("plain", observed, shares),
    ]


def _refit_unimodal(refit: _Refit, observed: float, rng: np.random.Generator) -> list[tuple[Comparison, FloatArray]]:
    """Compare S/T of clusters with unimodal samples independent along principal components, and along columns."""
    return [
        compare_with_references(name, observed, refit.shares(MarginalReference.of(axes, "unimodal", rng))[0])
        for name, axes in unimodal_axes(refit.d.points)
    ]


def unimodal_axes(points: FloatArray) -> Iterator[tuple[str, Axes]]:
    """Yield names and axes along which reference samples are independent: principal components, and several columns."""
    yield "principal components", principal_axes(points)
    if points.shape[1] > 1:
        yield "features", feature_axes(points)


def compare_with_references(
    name: str, observed: float, null: FloatArray, tolerance: float = SHARE_TOLERANCE
) -> tuple[Comparison, FloatArray]:
    """Compare an observed value with that of reference samples; return the comparison with p, and the null."""
    pvalue = upper_pvalue(count_extreme(observed, null, tolerance), null.size)
    return Comparison(name, observed, float(null.mean()) if null.size else observed, pvalue), null


# ---------------------------------------------------------------- whole tables


def _test_against_tables(
    d: Dissimilarity, options: ClusterTestOptions, tables: TableNull, rng: np.random.Generator
) -> ClusterTestResult:
    """Test the between share S/T of clusters against that of tables with permuted columns or drawn from a model."""
    k, clustering = options.k, options.clustering
    if d.n <= k:
        raise ValueError(f"`X` must have at least {k + 1} rows for k={k}, got {d.n}.")
    data_rng, null_rng = rng.spawn(2)
    usable = partial(_usable, k=k)
    observed, tolerance = _share_and_tolerance(clustering, usable(d), data_rng)
    every, total, drawn = tables.visit(options.n_resamples, null_rng, usable)
    with closing(with_bar(drawn, options.progress, total=total, unit="reference table", size=lambda _: 1)) as bar:
        # a search of its own for every table, like that of the data
        pairs = np.array([_share_and_tolerance(clustering, table, child) for table, child in bar]).reshape(-1, 2)
    comparison, null = compare_with_references(
        tables.name, observed, pairs[:, 0], max(tolerance, pairs[:, 1].max(initial=0.0))
    )
    return ClusterTestResult(
        statistic=observed,
        pvalue=comparison.pvalue,
        method="refit",
        null_hypothesis=tables.hypothesis,
        k=k,
        n_resamples=null.size + every,
        n_splits=0,
        n_clustered=0,
        conservative=False,
        jittered=False,
        exact=every,
        pvalues=np.array([[comparison.pvalue]]),
        null_distribution=null,
        rows=(Contrast("all clusters", observed, comparison.pvalue, comparison.pvalue),),
        notes=(
            *(() if every or np.abs(null - observed).max(initial=0.0) > tolerance else (SAME_AS_DATA,)),
            *_note_tables(d, options, tables, null.size, exact=every),
        ),
        comparisons=(comparison,),
    )


def _usable(d: Dissimilarity, k: int) -> Dissimilarity:
    """Return a table with its dissimilarity matrix; raise ValueError for too few distinct rows or no dispersion."""
    _check_distinct_rows(d, k)
    d = held(d)
    if not has_exact(d) and not d.matrix.sum() > 0:
        raise ValueError(
            f"`metric` must have a positive total dispersion T, of which S is a share; under {d.metric!r} it is not."
        )
    return d


def _share_and_tolerance(clustering: Clustering, d: Dissimilarity, rng: np.random.Generator) -> tuple[float, float]:
    """Compute the between share S/T of a table's clusters, and the difference up to which two shares tie."""
    share = clustering.share(d, rng)
    # sums of a rho that is negative somewhere are smaller than their summands
    size = 1.0 if has_exact(d) or d.metric.negative_type else float(np.abs(d.matrix).sum() / d.matrix.sum())
    return share, tie_tolerance(size, d.n)


def _note_tables(
    d: Dissimilarity, options: ClusterTestOptions, tables: TableNull, others: int, *, exact: bool
) -> tuple[str, ...]:
    """Return notes on a test against whole tables: how it was done, and what a rejection means."""
    clustering = options.clustering
    what = f"all {others} other tables with permuted columns" if exact else f"{others} tables ({tables.name})"
    notes = [f"Done: the points and {what} were clustered by {clustering.describe(d)}, and S/T compared."]
    notes += [*tables.notes(), *clustering.notes(1, "S/T = 0")]
    if len(set(getattr(clustering, "counts", ()))) > 1:
        notes.append(UNLIKE_NUMBERS)
    if exact and isinstance(clustering, EnergyClusters) and clustering.visits_all(d):
        notes.append(exact_note(others + 1, "tables that permuting the columns makes"))
    elif exact:
        notes.append(f"p-value over all {others + 1} tables that permuting the columns makes; the searches have seeds.")
    return tuple(notes)
