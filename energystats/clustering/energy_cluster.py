"""Energy clustering: the search over starts, and the partition it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from energystats._runtime import Work, weigh
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering import nystrom
from energystats.clustering.exact_1d import best_intervals, has_exact, note_on_exactness, partition_line
from energystats.clustering.local_search import LARGE, LocalOptimum, MultiStartSearch, Problem, make_starts, tries_for
from energystats.clustering.partition import Partition, make_partition
from energystats.clustering.seeding import count_distinct
from energystats.clustering.spectral import distinct_of, spectral_labels, spectral_starts
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import ConvergenceWarning, warn
from energystats.inputs.arrays import as_weights
from energystats.inputs.labels import as_labels, read_inputs
from energystats.inputs.options import as_generator, check_count, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.open_blocks import opened
from energystats.pairs.workloads import (
    FEWER_STARTS,
    FEWER_STARTS_OF_MATRIX,
    Size,
    eigenpairs,
    exact_line,
    landmarks,
    pairs_work,
    rounding,
    search_work,
)

__all__ = [
    "ALGORITHMS",
    "MOVE_TOLERANCE",
    "STARTS",
    "Search",
    "energy_cluster",
    "partition_features",
    "partition_points",
    "problem_of",
    "search_points",
    "search_problem",
]


ALGORITHMS = ("auto", "hartigan", "lloyd", "exact-1d", "spectral", "nystrom")
STARTS = 10  # of every search in which nothing else is asked for
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
    n_perturb: int | str = "auto",
    n_landmarks: int | None = None,
    batch_size: int | None = None,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    log_moves: bool = False,
    callback: Callable[[int, int, float], object] | None = None,
    progress: bool | None = None,
    client: Any = None,
    rng: RandomLike = None,
) -> Partition:
    r"""Cluster points by maximising the between-sample energy S, which is minimising W.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed. For "nystrom" also the path of a
        Parquet file, a memory map or a Dask array or frame, which are read in blocks of rows.
    k : int
        Number of clusters, 1 <= k <= number of distinct points.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; 2 is k-means.
    algorithm : {"auto", "hartigan", "lloyd", "exact-1d", "spectral", "nystrom"}, default "auto"
        "hartigan" moves single points, "lloyd" is kernel k-means. "exact-1d" finds the global optimum for one
        column if rho is \|x - y\| or its square. "auto" takes it there, and "hartigan" elsewhere.
        "spectral" is k-means of the eigenvectors of the relaxed problem, without a search for lower W; it needs no
        matrix in memory. "nystrom" is an approximation for large n, see Notes; it is used only when asked for.
    init : {"k-means++", "random", "spectral"} or array_like of shape (n,), default "k-means++"
        Seeds drawn proportionally to rho, random labels, what "spectral" finds, or labels: then there is one start.
    n_init : int, default 10
        Starts; the lowest W wins.
    max_iter : int, default 300
        Passes over the data for each search.
    n_perturb : int or "auto", default "auto"
        For each start of "hartigan", how often the best partition so far is shaken out of its local optimum: a random
        cluster is dissolved and another one founded elsewhere, and the search goes on from there. It ends early when
        the best partition was found twenty times. "auto": 20 up to 894 points, so at most 200 for ten starts, fewer
        for more points, none above 4,000. Never for given labels, nor for "nystrom".
    n_landmarks : int, optional
        For "nystrom": points whose span takes the place of the feature space; 256 when None, or k if that is more.
    batch_size : int, optional
        For "nystrom": rows on which the starts are searched, 16,384 when None. The best start goes on with twice as
        many rows, and so on to all of them.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the points, the largest at most 1e9 times the smallest; whole numbers count as repeated
        rows, except in z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    log_moves : bool, default False
        Keep every move of the search that found the answer, in `Partition.moves`.
    callback : callable, optional
        Called as ``callback(start, passes, W)`` after every pass, for instance ``print``; perturbations are numbered
        after the starts.
    progress : bool or None, default None
        Show a bar over the starts and their perturbations. None: if the estimated time is above two seconds and a
        terminal or notebook can show it.
    client : distributed.Client, optional
        For "nystrom": Dask cluster that holds the rows and makes the passes over them; None takes the client in force
        where `X` is a Dask collection, and this process otherwise.
    rng : int, Generator or None, default None
        Seed of the starts.

    Returns
    -------
    Partition
        `.labels`, `.sizes`, `.within` (W), `.between` (S), `.total` (T), `.bound` (no partition has a larger S),
        `.summary()`, `.plot()`; `.to_series()` has the labels under the index of a data frame. Clusters are numbered
        from the largest to the smallest, whatever the order of the rows (ties: see `Partition`). Of "nystrom" also
        `.approximation`, and W, S and T are estimates.

    Raises
    ------
    ValueError
        If k exceeds the number of distinct points, a value is not finite, `init` has not k clusters, an option is
        unknown or has no use in the algorithm, "exact-1d" is asked for elsewhere, or "nystrom" for a matrix or a rho
        that is not of negative type.
    TypeError
        If `X` does not hold real numbers or k is not a whole number.
    MemoryError
        If the n x n matrix would not fit.
    ConnectionError
        If the client or its cluster is closed during the call, or has no workers for two minutes.

    Warns
    -----
    ConvergenceWarning
        If the best start was cut off at `max_iter`.
    NotNegativeTypeWarning
        If rho is negative somewhere, or a pass of Lloyd's rule, in any start, would not have lowered W and was taken
        back.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    cluster_test : Whether there is cluster structure at all.
    EnergyClustering : The same as a scikit-learn estimator, with `predict`.

    Notes
    -----
    A pass costs O(nk) and a move O(n), over a table of the sums of rho from every point to every cluster. All
    starts share R: O(n^2 d) time for it and O(n^2) memory; "exact-1d" takes O(k n log n) and O(n). After Hartigan's
    method no single move lowers W by more than 1e-13 T.

    A rho that is not of negative type needs no repair before "hartigan": a constant 2c added off the diagonal, as
    Lingoes' correction adds it, raises W of every partition into k clusters by c(n - k), so from the same labels the
    method makes the same moves and finds the same clusters. Seeds of k-means++ are drawn in proportion to rho and do
    change; compare from the same labels or with ``init="random"``. S rises by c(k - 1), so comparisons between
    different k depend on the constant.

    "lloyd" on such a rho takes another path after the shift, and without a guard may raise W and never end. Here it
    stops before a pass that would not lower W, with a warning and ``converged`` False. S can be negative, and the
    bound on it, though valid, loose or negative.

    "nystrom" looks at rho from all points to m landmarks only, drawn one by one in proportion to rho to the nearest
    one before. In their span every point has coordinates whose squared distances are at most rho; Lloyd's rule and
    then single moves make the W of these coordinates small, and that is a local optimum of theirs, not of W. W, S and
    T of the result are unbiased estimates with standard errors, from what is known of all points and some 130,000
    random pairs in each cluster; `.approximation.within_limits` holds W for certain. O(n m (d + m)) time once and O(n
    m k) for a pass; memory O(n m) up to 1 GiB, and O(m) a row at a time beyond, at the cost of new coordinates in
    every pass. What is read in blocks is never in memory as a whole, but for labels, weights and two coordinates for
    the picture, unless it has at most `batch_size` rows; the random rows among which landmarks are drawn (20,000) and
    starts are searched (`batch_size`, then up to 131,072 or 512 MiB) are. Blocks, and the workers of a `client`, which
    keep up to 1 GiB of coordinates each, change sums by rounding only. In tables of 10,000 rows W was at most 1e-5
    above that of "hartigan" with the default m (`docs/benchmarks.md`).

    References
    ----------
    Franca, Rizzo & Vogelstein, algorithm 1 and eqs 16-20 for "hartigan"; Welling, eqs 13-17, for "spectral"; Klopotek,
    Klopotek & Wierzchon, theorems 6 and 7, for the constant; Williams & Seeger (2001) for "nystrom".

    Examples
    --------
    >>> import energystats as es
    >>> found = es.energy_cluster([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]], 2, rng=0)
    >>> found.labels.tolist(), found.within
    ([0, 0, 1, 1], 1.0)
    """
    how = Search.of(
        algorithm, init, n_init, max_iter, n_perturb, n_landmarks, batch_size, log_moves=log_moves, callback=callback
    )
    generator = as_generator(rng)
    columns = {"sample_weight": sample_weight, "init": init}
    if how.algorithm == "nystrom":
        (X,), (sample_weight, start) = opened((X,), columns, client)
    elif client is None:
        (X,), (sample_weight, start) = read_inputs((X,), columns)
    else:
        raise ValueError(f'`client` goes with algorithm="nystrom", got "{how.algorithm}", which needs all pairs here.')
    how = how._replace(init=start)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    weights = as_weights(sample_weight, d.n, "sample_weight")
    if weights is not None:
        d.check_weights(weights, "sample_weight")
    return partition_points(d, k, how, generator, weights=weights, progress=weigh(progress, d, *how.work(d, k)))


class Search(NamedTuple):
    """The options of a search, checked."""

    algorithm: str
    init: str | ArrayLike
    n_init: int
    max_iter: int
    n_perturb: int | None  # None: by the number of points
    log_moves: bool
    callback: Callable[[int, int, float], object] | None
    n_landmarks: int | None = None  # both of "nystrom"; None: by the number of clusters
    batch_size: int | None = None

    @classmethod
    def of(
        cls,
        algorithm: str,
        init: str | ArrayLike,
        n_init: int,
        max_iter: int,
        n_perturb: int | str,
        n_landmarks: int | None = None,
        batch_size: int | None = None,
        *,
        log_moves: bool = False,
        callback: Callable[[int, int, float], object] | None = None,
    ) -> Search:
        """Check what does not depend on the data."""
        check_option(algorithm, "algorithm", ALGORITHMS)
        n_init = check_count(n_init, "n_init", low=1)
        max_iter = check_count(max_iter, "max_iter", low=1)
        if isinstance(n_perturb, str):
            check_option(n_perturb, "n_perturb", ("auto",))
        tries = None if isinstance(n_perturb, str) else check_count(n_perturb, "n_perturb", low=0)
        if callback is not None and not callable(callback):
            raise TypeError(f"`callback` must be callable, got {type(callback).__name__}.")
        landmarks = None if n_landmarks is None else check_count(n_landmarks, "n_landmarks", low=2)
        batch = None if batch_size is None else check_count(batch_size, "batch_size", low=2)
        how = cls(algorithm, init, n_init, max_iter, tries, log_moves, callback, landmarks, batch)
        how.check_algorithm()
        return how

    def check_algorithm(self) -> None:
        """Refuse options that the algorithm has no use for."""
        for value, name in ((self.n_landmarks, "n_landmarks"), (self.batch_size, "batch_size")):
            if value is not None and self.algorithm != "nystrom":
                raise ValueError(f'`{name}` goes with algorithm="nystrom", got {value} and "{self.algorithm}".')
        if self.algorithm != "nystrom":
            return
        if isinstance(self.init, str) and self.init == "spectral":
            raise ValueError('`init="spectral"` has no use in algorithm="nystrom"; use "k-means++" or "random".')
        if self.n_perturb:
            raise ValueError(f'`n_perturb` must be 0 or "auto" for algorithm="nystrom", got {self.n_perturb}.')
        if self.log_moves:
            raise ValueError(
                '`log_moves` must be False for algorithm="nystrom", which keeps no record of single moves.'
            )

    @classmethod
    def default(cls, n_init: int = STARTS) -> Search:
        """What `energy_cluster` does when nothing else is asked for; every search inside the package does the same."""
        return cls("auto", "k-means++", n_init, 300, None, log_moves=False, callback=None)

    @property
    def method(self) -> str:
        """What moves points, where it is neither exact nor spectral."""
        return "lloyd" if self.algorithm == "lloyd" else "hartigan"

    def work(self, d: Dissimilarity, k: int) -> tuple[Work, ...]:
        """What a search for k clusters will take, to be weighed before it."""
        size, k = Size.of(d), min(int(k), d.n) if isinstance(k, int | np.integer) else 2
        by_labels = not isinstance(self.init, str)
        starts = 1 if by_labels else self.n_init
        if self.algorithm == "nystrom":
            m = self.n_landmarks or max(nystrom.LANDMARKS, k)
            return (landmarks(size, k, m, starts, self.batch_size or nystrom.BATCH),)
        if self.algorithm == "exact-1d" or (self.algorithm == "auto" and size.exact and not by_labels):
            return (exact_line(d.n, k),)
        if self.algorithm == "spectral":
            return eigenpairs(size, k - 1), rounding(size, k, starts)
        held = replace(size.held, exact=False)
        advice = FEWER_STARTS if d.has_points else FEWER_STARTS_OF_MATRIX
        found = search_work(held, k, starts, 0 if by_labels else self.tries(d.n), advice)
        return pairs_work(size), found, eigenpairs(held, k - 1)

    def tries(self, n: int) -> int:
        """Perturbations for every start, for n points."""
        if self.algorithm == "lloyd":
            return 0
        return tries_for(n) if self.n_perturb is None else self.n_perturb


def partition_points(
    d: Dissimilarity,
    k: int,
    how: Search,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    progress: bool = False,
) -> Partition:
    """Choose the algorithm, run the starts, report the best."""
    k = check_count(k, "k", low=1, high=d.n, why=", the number of points")
    given = _check_init(how.init, d.n, k)
    exact = has_exact(d)
    if how.algorithm == "exact-1d" and not exact:
        columns = d.n_columns
        raise ValueError(
            '`algorithm="exact-1d"` needs one column and rho = |x - y| or its square, got '
            f"{f'{columns} column' if columns else 'a matrix'}{'s' * (columns > 1)} and {d.metric!r}; "
            'use "hartigan".'
        )
    if how.algorithm == "exact-1d" or (how.algorithm == "auto" and exact and given is None):
        return partition_line(d, k, weights)
    if how.algorithm == "spectral":
        return _partition_spectrum(d, k, how, rng, weights)
    if how.algorithm == "nystrom":
        return partition_features(d, k, how, rng, weights=weights, progress=progress)[0]
    d = d.stored()
    _check_distinct(count_distinct(d.matrix, k), k)
    problem = problem_of(d, k, how.max_iter, weights)
    n_starts = 1 if given is not None else how.n_init
    n_perturb = 0 if given is not None else how.tries(d.n)
    starts: Iterable[IntArray]
    if given is not None:
        starts = [given]
    elif how.init == "spectral":
        starts = spectral_starts(d, k, n_starts, rng, weights)
    else:
        starts = make_starts(problem, str(how.init), n_starts, rng)
    hunt = MultiStartSearch(problem, starts, n_starts, n_starts * n_perturb, rng, progress)
    if how.method == "lloyd" or how.callback is not None or d.n > LARGE:
        best = hunt.best_in_steps(how.method, log_moves=how.log_moves, callback=how.callback)
    else:
        best = hunt.best_recorded(log_moves=how.log_moves)
    if not best.converged and not best.increased:
        warn(
            f"The best start was cut off after `max_iter`={how.max_iter} passes; W can still fall.", ConvergenceWarning
        )
    fields: dict[str, Any] = {"algorithm": how.method, "n_init": n_starts, "n_perturb": n_perturb}
    notes = note_on_exactness(d) if how.algorithm == "auto" else ()
    return _found_partition(d, best, k, weights=weights, notes=notes, **fields)


def _partition_spectrum(
    d: Dissimilarity, k: int, how: Search, rng: np.random.Generator, weights: FloatArray | None
) -> Partition:
    """The partition of spectral clustering, as it is."""
    if not isinstance(how.init, str) or how.init != "k-means++":
        raise ValueError('`init` has no use in algorithm="spectral"; init="spectral" goes with "hartigan".')
    _check_distinct(distinct_of(d, k), k)
    labels = spectral_labels(d, k, rng, n_init=how.n_init, max_iter=how.max_iter, weights=weights)
    fields: dict[str, Any] = {"algorithm": "spectral", "n_init": how.n_init, "n_perturb": 0}
    return make_partition(d, labels, k, weights=weights, n_iter=1, converged=True, **fields)


def partition_features(
    d: Dissimilarity,
    k: int,
    how: Search,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    progress: bool = False,
) -> tuple[Partition, nystrom.NearestCentre]:
    """The partition found from landmarks, and the rule that sends new points to its clusters."""
    k = check_count(k, "k", low=1, high=d.n, why=", the number of points")
    given = _check_init(how.init, d.n, k)
    n_landmarks = max(nystrom.LANDMARKS, k) if how.n_landmarks is None else how.n_landmarks
    if n_landmarks < k:
        raise ValueError(f"`n_landmarks` must be at least `k`, {k}, got {n_landmarks}.")
    options = nystrom.Options(
        n_landmarks=n_landmarks,
        batch_size=how.batch_size or nystrom.BATCH,
        n_init=how.n_init,
        max_iter=how.max_iter,
        init=str(how.init) if given is None else given,
        callback=how.callback,
    )
    return nystrom.nystrom_partition(d, k, options, rng, weights=weights, progress=progress)


def _check_distinct(distinct: int, k: int) -> None:
    """Refuse more clusters than points that differ."""
    if distinct < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {distinct}, got {k}.")


def search_points(d: Dissimilarity, k: int, rng: np.random.Generator, n_init: int = STARTS) -> tuple[IntArray, float]:
    """Labels and W of the partition that `energy_cluster` finds with its defaults, without upper bound and coordinates.

    For trees, tests and references, which are searched as well as the data are.
    """
    if has_exact(d):
        line = best_intervals(d, k)
        return line.labels, float(np.ldexp(line.within.sum(), line.values.exponent))
    how = Search.default(n_init)
    problem = problem_of(d.stored(), k, how.max_iter)
    return search_problem(problem, n_init, n_init * how.tries(d.n), rng)


def search_problem(problem: Problem, n_init: int, tries: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Labels and W of the best of several k-means++ starts of Hartigan's method, perturbed."""
    best = MultiStartSearch(problem, make_starts(problem, "k-means++", n_init, rng), n_init, tries, rng).lowest()
    return best.labels, best.within


def problem_of(d: Dissimilarity, k: int, max_iter: int, weights: FloatArray | None = None) -> Problem:
    """Of points whose rho is stored."""
    tolerance = MOVE_TOLERANCE * d.scale_of(weights)
    return Problem(d.matrix, np.ones(d.n) if weights is None else weights, k, tolerance, max_iter)


def _found_partition(
    d: Dissimilarity, best: LocalOptimum, k: int, *, weights: FloatArray | None, **fields: Any
) -> Partition:
    """The partition of a search."""
    fields |= {"n_iter": best.n_iter, "converged": best.converged, "path": best.path}
    return make_partition(d, best.labels, k, weights=weights, moves=best.moves, **fields)


def _check_init(init: str | ArrayLike, n: int, k: int) -> IntArray | None:
    """Codes of given labels, or None where `init` names a way to start."""
    if isinstance(init, str):
        check_option(init, "init", ("k-means++", "random", "spectral"))
        return None
    if init is None:
        raise TypeError('`init` must be "k-means++", "random", "spectral" or labels, got None.')
    codes, names = as_labels(init, n, "init")
    if len(names) != k:
        raise ValueError(f"`init` must have {k} clusters, as many as `k`, got {len(names)}.")
    return codes
