"""Measure how well the same clusters come back when the data are resampled (Hennig 2007)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from energystats._core.samples import mean_of_rows
from energystats._runtime import check_work
from energystats._typing import ArrayLike, RandomLike
from energystats.cluster_tests.clusterers import as_user_clusterer, user_partition
from energystats.cluster_tests.resampled_clusters import SCHEMES, Clusterer, cluster_resamples, energy_clusterer
from energystats.clustering.energy_cluster import AUTO
from energystats.clustering.partition import Partition
from energystats.clustering.search import Search
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.options import as_generator, check_count, check_flag, check_option, note_unused
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size
from energystats.pairs.workloads import stability as resamples
from energystats.selection.results import RECOVERED, ClusterStabilityResult

__all__ = ["cluster_stability", "stability_of"]


N_INIT = 10  # starts of an energy clustering
DISSOLVED = 0.5  # Jaccard similarity at most


def cluster_stability(
    X: ArrayLike,
    k: int | None = None,
    *,
    clusterer: Any = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    n_resamples: int = 100,
    scheme: str = "bootstrap",
    n_init: int = N_INIT,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> ClusterStabilityResult:
    r"""Measure how stable clusters are when the data are resampled, which is not significance.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    k : int, optional
        Number of energy clusters, 1 <= k <= number of distinct points; None where there is a clusterer.
    clusterer : object or callable, optional
        What clusters the points, as for `cluster_test`: an object with ``fit_predict`` or a function from points (of a
        matrix: from it) to labels, -1 for points in no cluster.
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
        Starts of every energy clustering.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool or None, default None
        Show a bar over the resamples; None: from an estimated two seconds on, where it can be seen.
    rng : int, Generator or None, default None
        Seed of the starts and resamples.

    Returns
    -------
    ClusterStabilityResult
        `.jaccard`, `.dissolved`, `.recovered` for each cluster, `.adjusted_rand` for the partition, `.stays` for each
        point, `.partition`, `.summary()`, `.plot()`.

    Raises
    ------
    ValueError
        If k exceeds the number of distinct points, a clusterer finds no cluster, both or neither of them is given, a
        value is not finite or an option is unknown.
    TypeError
        If `X` does not hold real numbers or a count is not a whole number.
    MemoryError
        If the n x n matrix would not fit.

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
    check_flag(standardize, "standardize")
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    n_init = check_count(n_init, "n_init", low=1)
    start_rng, resample_rng = as_generator(rng).spawn(2)
    how = None if clusterer is None else as_user_clusterer(clusterer)
    if (k is None) == (how is None):
        raise ValueError("`k` or `clusterer` must be given, and not both: a clusterer has its own number of clusters.")
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    share = 0.632 if scheme == "bootstrap" else 0.5
    cluster: Clusterer
    if how is not None:
        bar = check_work(progress, d, resamples(replace(Size.of(d), exact=True), 2, n_resamples, 1, share))
        found, cluster = user_partition(d, how, start_rng), how.all_labels
    else:
        search = Search(k=cast(int, k), n_init=n_init).on(d)
        again = resamples(Size.of(d), search.k, n_resamples, n_init, share)
        bar = check_work(progress, d, *AUTO.work(d, search), again)
        d = d.stored()
        found, cluster = AUTO.fit(d, search, start_rng)[0], energy_clusterer(search.k, n_init)
    plan: dict[str, Any] = {"n_resamples": n_resamples, "scheme": scheme, "progress": bar, "rng": resample_rng}
    result = stability_of(d, found, cluster=cluster, **plan)
    if how is None:
        return result
    unused = note_unused("with a clusterer", n_init=(n_init, N_INIT))
    return replace(result, notes=(how.note_on_resamples(), *result.notes, *unused))


def stability_of(
    d: Dissimilarity,
    found: Partition,
    *,
    cluster: Clusterer,
    n_resamples: int,
    scheme: str,
    progress: bool,
    rng: np.random.Generator,
) -> ClusterStabilityResult:
    """Measure how stable given clusters are when resampled points are clustered the same way."""
    similarities, rand_indices, stays = cluster_resamples(
        d, found.labels, found.k, cluster, n_resamples=n_resamples, scheme=scheme, progress=progress, rng=rng
    )
    known = ~np.isnan(similarities)
    drawn = np.maximum(known.sum(axis=0), 1)
    return ClusterStabilityResult(
        k=found.k,
        jaccard=mean_of_rows(similarities.T),
        dissolved=(known & (similarities <= DISSOLVED)).sum(axis=0) / drawn,
        recovered=(known & (similarities >= RECOVERED)).sum(axis=0) / drawn,
        adjusted_rand=float(rand_indices.mean()),
        scheme=cast(Literal["bootstrap", "subsample"], scheme),
        n_resamples=n_resamples,
        similarities=similarities,
        rand_indices=rand_indices,
        stays=stays,
        partition=found,
    ).explained()
