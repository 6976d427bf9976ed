"""Whether the same clusters come back when the data are resampled (Hennig 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Literal, cast

import numpy as np

from energystats._core.locks import loading
from energystats._runtime import weigh, with_bar
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.energy_cluster import AUTO
from energystats.clustering.local_search import search_points
from energystats.clustering.partition import Partition
from energystats.clustering.search import Search
from energystats.clustering.seeding import count_distinct
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.options import as_generator, check_count, check_option, children
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size
from energystats.pairs.workloads import stability as resamples
from energystats.selection.results import ClusterStabilityResult

__all__ = ["cluster_stability", "stability_of"]


DISSOLVED = 0.5  # Jaccard similarity at most
RECOVERED = 0.75  # Jaccard similarity at least
SCHEMES = ("bootstrap", "subsample")


def cluster_stability(
    X: ArrayLike,
    k: int,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    n_resamples: int = 100,
    scheme: str = "bootstrap",
    n_init: int = 10,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> ClusterStabilityResult:
    r"""Measure how well energy clusters come back when the data are resampled; this is not their significance.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    k : int
        Number of clusters, 1 <= k <= number of distinct points.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho; its data-dependent parameters are fitted to all points.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    n_resamples : int, default 100
        How often the data are resampled and clustered again.
    scheme : {"bootstrap", "subsample"}, default "bootstrap"
        n points drawn with replacement, of which those drawn several times are used once (about .63 n), or half of
        the points.
    n_init : int, default 10
        Starts of every clustering.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool or None, default None
        Show a bar over the resamples; None: from an estimated two seconds on, where it can be seen.
    rng : int, Generator or None, default None
        Seed of the starts and resamples.

    Returns
    -------
    ClusterStabilityResult
        `.jaccard`, `.dissolved`, `.recovered` for each cluster, `.adjusted_rand` for the partition, `.partition`,
        `.summary()`, `.plot()`.

    Raises
    ------
    ValueError
        If k exceeds the number of distinct points, a value is not finite or an option is unknown.
    TypeError
        If `X` does not hold real numbers or a count is not a whole number.
    MemoryError
        If the n x n matrix would not fit.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    select_k : The number of clusters.
    cluster_test : Whether there is cluster structure at all.

    Notes
    -----
    Stability is not significance: a single long normal cloud is cut in two across its length in every resample, see
    the second example. Only low stability says something, that the clusters depend on which points were sampled.
    ``docs/clustering.md`` has the details. O(n^2 d) time for one matrix of rho, then that of `energy_cluster` without
    distances for each resample; O(n^2) memory.

    References
    ----------
    Hennig (2007), Computational Statistics & Data Analysis 52, whose R function is ``fpc::clusterboot``; Hubert &
    Arabie (1985) for the adjusted Rand index.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.2], [9.3]]
    >>> es.cluster_stability(X, 2, n_resamples=20, rng=0).adjusted_rand > 0.9
    True

    A stable partition of one normal cloud, in which there is one cluster:

    >>> import numpy as np
    >>> cloud = np.random.default_rng(0).normal(scale=[1, 5], size=(200, 2))
    >>> (es.cluster_stability(cloud, 2, n_resamples=20, rng=0).jaccard > 0.8).tolist()
    [True, True]
    >>> es.cluster_tree(cloud, rng=0).k
    1
    """
    check_option(scheme, "scheme", SCHEMES)
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    n_init = check_count(n_init, "n_init", low=1)
    start_rng, resample_rng = as_generator(rng).spawn(2)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    share = 0.632 if scheme == "bootstrap" else 0.5
    search = Search(k=k, n_init=n_init).on(d)
    again = resamples(Size.of(d), search.k, n_resamples, n_init, share)
    bar = weigh(progress, d, *AUTO.work(d, search), again)
    d = d.stored()
    found, _ = AUTO.fit(d, search, start_rng)
    return stability_of(d, found, n_resamples=n_resamples, scheme=scheme, n_init=n_init, progress=bar, rng=resample_rng)


def stability_of(
    d: Dissimilarity,
    found: Partition,
    *,
    n_resamples: int,
    scheme: str,
    n_init: int,
    progress: bool,
    rng: np.random.Generator,
) -> ClusterStabilityResult:
    """Cluster resamples of the points as these were clustered, and compare."""
    with loading():
        from sklearn.metrics import adjusted_rand_score

    similarities = np.full((n_resamples, found.k), np.nan)
    rand_indices = np.empty(n_resamples)
    resamples = with_bar(
        _resampled(d.n, n_resamples, scheme, rng), progress, total=n_resamples, unit="resample", size=len
    )
    with closing(resamples):
        for b, ((rows, child),) in enumerate(resamples):
            before, after = found.labels[rows], _clusters_of(d.subset(rows), found.k, n_init, child)
            similarities[b] = _best_jaccard(_overlaps(before, found.k, after))
            rand_indices[b] = adjusted_rand_score(before, after)
    known = ~np.isnan(similarities)
    drawn = np.maximum(known.sum(axis=0), 1)
    return ClusterStabilityResult(
        k=found.k,
        jaccard=_mean_of_known(similarities),
        dissolved=(known & (similarities <= DISSOLVED)).sum(axis=0) / drawn,
        recovered=(known & (similarities >= RECOVERED)).sum(axis=0) / drawn,
        adjusted_rand=float(rand_indices.mean()),
        scheme=cast(Literal["bootstrap", "subsample"], scheme),
        n_resamples=n_resamples,
        similarities=similarities,
        rand_indices=rand_indices,
        partition=found,
    )


def _resampled(
    n: int, n_resamples: int, scheme: str, rng: np.random.Generator
) -> Iterator[list[tuple[IntArray, np.random.Generator]]]:
    """Draw the distinct rows of every resample, and the seed of its clustering."""
    for child in children(rng, n_resamples):
        if scheme == "bootstrap":
            rows = np.unique(child.integers(n, size=n))
        else:
            rows = np.sort(child.choice(n, size=max(n // 2, 1), replace=False))
        yield [(rows.astype(np.intp), child)]


def _clusters_of(d: Dissimilarity, k: int, n_init: int, rng: np.random.Generator) -> IntArray:
    """Find k clusters, fewer where there are fewer distinct points."""
    k = min(k, count_distinct(d.matrix, k))
    return search_points(d, k, rng, n_init)[0]


def _overlaps(labels: IntArray, k: int, found: IntArray) -> FloatArray:
    """Count points in each of the k clusters and each one found; (k, k')."""
    counts = np.zeros((k, int(found.max()) + 1))
    np.add.at(counts, (labels, found), 1)
    return counts


def _best_jaccard(counts: FloatArray) -> FloatArray:
    """Compute |A and B| / |A or B| of every row with its most similar column; NaN for rows without points."""
    own = counts.sum(axis=1)
    union = own[:, None] + counts.sum(axis=0) - counts
    best = (counts / np.maximum(union, 1)).max(axis=1)
    return np.where(own > 0, best, np.nan)


def _mean_of_known(values: FloatArray) -> FloatArray:
    """Average columns without NaN; NaN for columns that have nothing else."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
