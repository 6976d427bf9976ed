"""Energy clustering: partitions with the smallest W, by the algorithm that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, RandomLike
from energystats.clustering.exact_1d import Exact1D, has_exact, note_on_exactness
from energystats.clustering.landmarks import Landmarks
from energystats.clustering.local_search import Hartigan, Lloyd
from energystats.clustering.partition import Partition
from energystats.clustering.search import STARTS, Algorithm, Search
from energystats.clustering.spectral import Spectral
from energystats.dissimilarity import Dissimilarity, note_one_rho
from energystats.inputs.labels import note_on_sums, read_inputs
from energystats.inputs.options import as_generator, check_flag, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.open_blocks import opened

__all__ = ["ALGORITHMS", "AUTO", "as_algorithm", "energy_cluster"]


def energy_cluster(
    X: ArrayLike,
    k: int,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    algorithm: str | Algorithm = "auto",
    init: str | ArrayLike = "k-means++",
    n_init: int = STARTS,
    max_iter: int = 300,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    log_moves: bool = False,
    callback: Callable[[int, int, float], object] | None = None,
    progress: bool | None = None,
    client: Any = None,
    rng: RandomLike = None,
) -> Partition:
    r"""Cluster points by maximising the between dispersion S of k clusters, which minimises the within dispersion W.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed. For "landmarks" also the path of a
        Parquet file, a memory map or a Dask array or frame, which are read in blocks of rows.
    k : int
        Number of clusters, 1 <= k <= number of distinct points.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; 2 is k-means.
    algorithm : {"auto", "hartigan", "lloyd", "exact-1d", "spectral", "landmarks"} or object, default "auto"
        A name, or `Hartigan`, `Lloyd`, `Exact1D`, `Spectral` or `Landmarks` with options. "hartigan" moves single
        points, "lloyd" is kernel k-means, "exact-1d" finds the global optimum for one column if rho is \|x - y\| or
        its square; "auto" takes it there, and "hartigan" elsewhere. "spectral" is k-means of the eigenvectors of the
        relaxed problem. "landmarks" approximates for more than 3,000 rows, and is "hartigan" for fewer, with a note.
    init : {"k-means++", "random", "spectral"} or array_like of shape (n,), default "k-means++"
        Seeds drawn proportionally to rho, random labels, what "spectral" finds, or labels: then there is one start.
    n_init : int, default 10
        Starts; the lowest W wins.
    max_iter : int, default 300
        Passes over the data for each search.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the points, the largest at most 1e9 times the smallest; whole numbers count as repeated
        rows, except in z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    log_moves : bool, default False
        Keep every move of the search that found the answer, in `Partition.moves`.
    callback : callable, optional
        Called as ``callback(start, passes, W)`` after every pass; perturbations are numbered after the starts.
    progress : bool or None, default None
        Show a bar; None: from an estimated two seconds on, where it can be seen.
    client : distributed.Client, optional
        For "landmarks": Dask cluster that holds the rows; None: the client in force, if `X` is a Dask collection.
    rng : int, Generator or None, default None
        Seed of the starts.

    Returns
    -------
    Partition
        `.labels`, `.sizes`, `.within` (W), `.between` (S), `.total` (T), `.bound` (no partition has a larger S),
        `.summary()`, `.plot()`; from landmarks also `.approximation`, and W, S and T are estimates.

    Raises
    ------
    ValueError, TypeError
        If k exceeds the number of distinct points, a value is not finite, or an option has no use in the algorithm.
    MemoryError, ConnectionError
        If the n x n matrix would not fit; if the client is closed, or its workers are gone or do not come.

    Warns
    -----
    ConvergenceWarning, NotNegativeTypeWarning, PerformanceWarning
        If the best start was cut off at `max_iter`; if rho is negative somewhere, or a pass of "lloyd" was taken
        back; if the call is estimated to take more than a minute.

    See Also
    --------
    cluster_test : Whether there is cluster structure at all.

    Notes
    -----
    O(n^2 d) time and O(n^2) memory, O(nk) time a pass; "exact-1d" takes O(k n log n), "landmarks" O(n). No repair of
    a rho that is not of negative type is needed before "hartigan". ``docs/clustering.md`` has the details.

    References
    ----------
    Franca, Rizzo & Vogelstein, algorithm 1 and eqs 16-20; Welling, eqs 13-17; Klopotek, Klopotek & Wierzchon, theorems
    6 and 7, for the constant; Williams & Seeger (2001) for "landmarks".

    Examples
    --------
    >>> import energystats as es
    >>> found = es.energy_cluster([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]], 2, rng=0)
    >>> found.labels.tolist(), found.within
    ([0, 0, 1, 1], 1.0)
    """
    check_flag(standardize, "standardize")
    check_flag(log_moves, "log_moves")
    how, generator = as_algorithm(algorithm), as_generator(rng)
    search = Search(k=k, init=init, n_init=n_init, max_iter=max_iter, log_moves=log_moves, callback=callback)
    columns = {"sample_weight": sample_weight, "init": init}
    if how.reads_blocks:
        (X,), (sample_weight, start) = opened((X,), columns, client)
    elif client is None:
        (X,), (sample_weight, start) = read_inputs((X,), columns)
    else:
        raise ValueError(f'`client` goes with algorithm="landmarks", got "{how.name}", which needs all pairs here.')
    search = replace(search, init=start)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    weights = d.read_weights(sample_weight)
    search = search.on(d, weights)
    how, d = how.chosen(d, search)
    search = replace(search, progress=check_work(progress, d, *how.work(d, search)))
    found = how.fit(d, search, generator)[0]
    one = note_one_rho(d, found.between, found.total, found.k, weighted=weights is not None)
    return replace(found, notes=(*found.notes, *one, *note_on_sums(d.index)))


class _Auto(Algorithm):
    """Cluster by the exact method where it applies and no labels are given to start from, else by Hartigan's method."""

    __slots__ = ()
    name: ClassVar[str] = "auto"

    def taken(self, d: Dissimilarity, search: Search) -> Algorithm:
        """Return the exact method if it applies to the points and no start labels are given, else Hartigan's method."""
        return ALGORITHMS["exact-1d" if has_exact(d) and not search.by_labels else "hartigan"]

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        return self.taken(d, search).work(d, search)

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, Any]:
        found, rule = self.taken(d, search).fit(d, search, rng)
        notes = note_on_exactness(d)
        return replace(found, notes=(*found.notes, *notes)), rule


AUTO = _Auto()
ALGORITHMS: dict[str, Algorithm] = {
    how.name: how for how in (AUTO, Hartigan(), Lloyd(), Exact1D(), Spectral(), Landmarks())
}


def as_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Return the clustering algorithm of a given name with default options; an algorithm object is returned as is."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
        raise TypeError(f"`algorithm` must be an object, got the class; write `es.{algorithm.__name__}()`.")
    if not isinstance(algorithm, str):
        raise TypeError(
            f"`algorithm` must be one of {', '.join(ALGORITHMS)}, or an object such as `es.Hartigan()`, got "
            f"{type(algorithm).__name__}."
        )
    check_option(algorithm, "algorithm", tuple(ALGORITHMS))
    return ALGORITHMS[algorithm]
