"""Energy clustering: the search over starts, and the partition it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import numpy as np

from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.exact_1d import split_line
from energystats.clustering.hartigan import hartigan
from energystats.clustering.lloyd import lloyd
from energystats.clustering.partition import make_partition, renumber
from energystats.clustering.seeding import count_distinct, plus_plus_start, random_start
from energystats.clustering.spectral import distinct_of, spectral_labels, spectral_starts
from energystats.clustering.state import LocalOptimum
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import ConvergenceWarning, NotNegativeTypeWarning, warn
from energystats.metrics import MetricLike
from energystats.progress import with_bar
from energystats.results import Partition
from energystats.validation import as_generator, as_labels, check_count, check_option

__all__ = ["ALGORITHMS", "best_start", "energy_cluster", "make_starts", "partition_points"]

METHODS: dict[str, Callable[..., LocalOptimum]] = {"hartigan": hartigan, "lloyd": lloyd}
ALGORITHMS = ("auto", "hartigan", "lloyd", "exact-1d", "spectral")
MOVE_TOLERANCE = 1e-13  # of T: a move must lower W by more, so that rounding is not chased


def energy_cluster(
    X: ArrayLike,
    k: int,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    algorithm: str = "auto",
    init: str | ArrayLike = "k-means++",
    n_init: int = 10,
    max_iter: int = 300,
    standardize: bool = False,
    progress: bool = False,
    rng: RandomLike = None,
) -> Partition:
    r"""Cluster points by maximising the between-sample energy S, which is minimising W.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    k : int
        Number of clusters, 1 <= k <= number of distinct points.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0 < alpha <= 2; 2 is k-means.
    algorithm : {"auto", "hartigan", "lloyd", "exact-1d", "spectral"}, default "auto"
        "hartigan" moves single points, "lloyd" is kernel k-means. "exact-1d" finds the global optimum for one
        column, rho = \|x - y\| and k <= 2. "auto" takes it there, and "hartigan" elsewhere. "spectral" is k-means of
        the eigenvectors of the relaxed problem, without a search for lower W; it needs no matrix in memory.
    init : {"k-means++", "random", "spectral"} or array_like of shape (n,), default "k-means++"
        Seeds drawn proportionally to rho, random labels, what "spectral" finds, or labels: then there is one start.
    n_init : int, default 10
        Starts; the lowest W wins.
    max_iter : int, default 300
        Passes over the data for each start.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool, default False
        Show a bar over the starts.
    rng : int, Generator or None, default None
        Seed of the starts.

    Returns
    -------
    Partition
        `.labels`, `.sizes`, `.within` (W), `.between` (S), `.total` (T), `.bound` (no partition has a larger S),
        `.summary()`, `.plot()`.

    Raises
    ------
    ValueError
        If k exceeds the number of distinct points, a value is not finite, `init` has not k clusters, an option is
        unknown, or "exact-1d" is asked for elsewhere.
    TypeError
        If `X` does not hold real numbers or k is not a whole number.
    MemoryError
        If the n x n matrix would not fit.

    Warns
    -----
    ConvergenceWarning
        If the best start was cut off at `max_iter`.
    NotNegativeTypeWarning
        If rho is negative somewhere, or a pass of Lloyd's rule would have raised W and was taken back.

    See Also
    --------
    cluster_test : Whether there is cluster structure at all.
    EnergyClustering : The same as a scikit-learn estimator, with `predict`.

    Notes
    -----
    A pass costs O(nk) and a move O(n), over a table of the sums of rho from every point to every cluster. All
    starts share R: O(n^2 d) time for it and O(n^2) memory; "exact-1d" takes O(n log n) and O(n). After Hartigan's
    method no single move lowers W by more than 1e-13 T.

    References
    ----------
    Franca, Rizzo & Vogelstein, algorithm 1 and eqs 16-20 for "hartigan"; Welling, eqs 13-17, for "spectral".

    Examples
    --------
    >>> import energystats as es
    >>> found = es.energy_cluster([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]], 2, rng=0)
    >>> found.labels.tolist(), found.within
    ([0, 0, 1, 1], 1.0)
    """
    check_option(algorithm, "algorithm", ALGORITHMS)
    n_init = check_count(n_init, "n_init", low=1)
    max_iter = check_count(max_iter, "max_iter", low=1)
    generator = as_generator(rng)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    return partition_points(
        d, k, algorithm=algorithm, init=init, n_init=n_init, max_iter=max_iter, progress=progress, rng=generator
    )


def partition_points(
    d: Dissimilarity,
    k: int,
    *,
    algorithm: str,
    init: str | ArrayLike,
    n_init: int,
    max_iter: int,
    rng: np.random.Generator,
    progress: bool = False,
) -> Partition:
    """Choose the algorithm, run the starts, report the best."""
    k = check_count(k, "k", low=1, high=d.n, why=f", the number of points ({d.n})")
    given = check_init(init, d.n, k)
    if algorithm == "exact-1d" and (d.line is None or k > 2):
        raise ValueError(
            '`algorithm="exact-1d"` needs one column, rho = |x - y| and k <= 2, got '
            f"{'a matrix' if d.points is None else f'{d.points.shape[1]} columns'}, {d.metric!r} and k = {k}; "
            'use "hartigan".'
        )
    if algorithm == "exact-1d" or (algorithm == "auto" and d.line is not None and k <= 2 and given is None):
        labels, breaks = split_line(d, np.ones(d.n), k)
        return make_partition(d, labels, k, algorithm="exact-1d", n_init=1, n_iter=1, converged=True, breaks=breaks)
    if algorithm == "spectral":
        if given is not None or init != "k-means++":
            raise ValueError('`init` has no use in algorithm="spectral"; init="spectral" goes with "hartigan".')
        check_distinct(distinct_of(d, k), k)
        labels = renumber(spectral_labels(d, k, rng, n_init=n_init, max_iter=max_iter))
        return make_partition(d, labels, k, algorithm="spectral", n_init=n_init, n_iter=1, converged=True)
    method = "lloyd" if algorithm == "lloyd" else "hartigan"
    n_starts = 1 if given is not None else n_init
    d = d.stored()
    check_distinct(count_distinct(d.matrix, k), k)
    starts: Iterable[IntArray]
    if given is not None:
        starts = [given]
    elif init == "spectral":
        starts = spectral_starts(d, k, n_init, rng)
    else:
        starts = make_starts(d.matrix, k, str(init), n_init, rng)
    starts = with_bar(starts, progress, total=n_starts, unit="start", size=lambda _: 1)
    best = best_start(d.matrix, k, method, starts, max_iter=max_iter, tolerance=MOVE_TOLERANCE * d.scale)
    if best.rose:
        warn(
            "A pass of Lloyd's rule would have raised W and was taken back, which shows that rho is not of negative "
            'type; algorithm="hartigan" does not need it.',
            NotNegativeTypeWarning,
        )
    elif not best.converged:
        warn(f"The best start was cut off after `max_iter`={max_iter} passes; W can still fall.", ConvergenceWarning)
    labels = renumber(best.labels)
    return make_partition(d, labels, k, algorithm=method, n_init=n_starts, n_iter=best.n_iter, converged=best.converged)


def check_distinct(distinct: int, k: int) -> None:
    """Refuse more clusters than points that differ."""
    if distinct < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {distinct}, got {k}.")


def check_init(init: str | ArrayLike, n: int, k: int) -> IntArray | None:
    """Codes of given labels, or None where `init` names a way to start."""
    if isinstance(init, str):
        check_option(init, "init", ("k-means++", "random", "spectral"))
        return None
    codes, names = as_labels(init, n, "init")
    if len(names) != k:
        raise ValueError(f"`init` must have {k} clusters, as many as `k`, got {len(names)}.")
    return codes


def make_starts(R: FloatArray, k: int, init: str, n_init: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Starting labels, each from its own child of `rng`."""
    for child in rng.spawn(n_init):
        yield plus_plus_start(R, k, child) if init == "k-means++" else random_start(len(R), k, child)


def best_start(
    R: FloatArray,
    k: int,
    algorithm: str,
    starts: Iterable[IntArray],
    *,
    max_iter: int,
    tolerance: float,
) -> LocalOptimum:
    """The local optimum of lowest W; a later start wins only when it is lower beyond rounding."""
    method = METHODS[algorithm]
    best: LocalOptimum | None = None
    for start in starts:
        found = method(R, start, k, max_iter=max_iter, tolerance=tolerance)
        if best is None or found.within < best.within - tolerance:
            best = found
    return cast(LocalOptimum, best)
