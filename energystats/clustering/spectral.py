"""Spectral methods: coordinates and clusters from the relaxed clustering problem [W 13-17; G s.3, s.5.2]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from energystats._core.laplacian import Relaxation, smallest_pairs
from energystats._core.locks import loading
from energystats._core.threads import one_thread
from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.partition import Partition, make_partition
from energystats.clustering.search import Algorithm, Search, check_distinct, check_unwatched
from energystats.clustering.seeding import count_distinct_points
from energystats.display.numbers import numbers
from energystats.display.result import Named
from energystats.display.sentences import metric_note
from energystats.display.tables import TextTable, text_table
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import ConvergenceWarning, ignoring, warn
from energystats.inputs.options import as_generator, check_count, check_flag, children
from energystats.metrics.base import Metric, MetricLike, SamePairs
from energystats.metrics.kernel import Exponential
from energystats.pairs.routes import choose_route
from energystats.pairs.tiles import Pairs, Recomputed, Stored
from energystats.pairs.workloads import Size, eigenpairs, rounding

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.z_scores import Standardization

__all__ = [
    "Spectral",
    "SpectralEmbedding",
    "cluster_rows",
    "fill_empty",
    "on_sphere",
    "spectral_embedding",
    "spectral_starts",
]


SMALLEST_GAP = 1e-12  # of the largest eigenvalue: smaller ones are rounding
N_EIGENVALUES = 11  # at least, as far as there are points, so that gaps up to k = 10 can be seen
SUBSAMPLE = 2000  # rows used for the scale
DECAY = 3.0  # the median of rho is so many scales, as in `select_k`


def spectral_embedding(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    laplacian: bool = False,
    standardize: bool = False,
    rng: RandomLike = None,
) -> SpectralEmbedding:
    r"""Compute spectral coordinates and eigenvalues of points, and the number of clusters these suggest.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed. Adjacency matrices of graphs go
        to `graph_partition`.
    n_components : int, default 2
        Number of coordinates, at most n - 1.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    laplacian : bool, default False
        False: eigenvectors of the centred Gram matrix G_c, that is kernel PCA. True: of the random-walk Laplacian of a
        similarity.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    rng : int, Generator or None, default None
        Seed of the 2,000 rows whose rho give the scale of the similarity, where there are more.

    Returns
    -------
    SpectralEmbedding
        `.embedding` (n, n_components), `.eigenvalues` (up to 11, or n_components + 1 if that is more), `.eigengaps`,
        `.suggested_k`, `.plot()`.

    Raises
    ------
    ValueError
        If there are fewer than two points or n_components is not within 1 and n - 1, a value is not finite, or an
        option does not fit the metric.
    TypeError
        If `X` does not hold real numbers, or n_components is not a whole number.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    select_k : The choice of k by these gaps, and by other criteria.
    energy_cluster : ``algorithm="spectral"`` for clusters from these eigenvectors, ``init="spectral"`` to refine them.
    principal_coordinates : All coordinates, for dissimilarities with rho = d squared.

    Notes
    -----
    Without `laplacian`, a coordinate is a unit eigenvector of :math:`G_c = -\tfrac12 JRJ` times the root of its
    eigenvalue (0 for a negative one), so that squared distances between rows come as near to rho as the number of
    columns allows. For k clusters the relaxed problem takes k - 1 eigenvectors beside the constant one, so a gap after
    eigenvalue k - 1 suggests k.

    With it, the similarity is the kernel of `Gaussian` or `Exponential`, or :math:`\exp(-\rho/s)` for any other rho, s
    being a third of the median of the rho that are not 0. Coordinates are the eigenvectors u of :math:`I - D^{-1}A`
    after the constant one, with u'Du = the sum of all degrees; eigenvalues rise from 0, and a gap after the k-th
    suggests k. The entry of largest size in every coordinate is positive. ``docs/clustering.md`` says why.

    `suggested_k` is the k >= 2 with the largest gap. It is a rule of thumb and no evidence that clusters exist; that is
    what `cluster_test` is for.

    O(n^2 d) time for each of some 50 to 200 products with the matrix, which is kept up to 4,096 points and recomputed
    above, with O(n) memory.

    References
    ----------
    Welling, eqs 13-17; Franca, Rizzo & Vogelstein, s. 3 and fig. 5; Shi & Malik (2000); von Luxburg (2007) for the gap.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0], [0.0, 9.0], [1.0, 9.0]]
    >>> found = es.spectral_embedding(X, laplacian=True)
    >>> found.embedding.shape, found.suggested_k
    ((6, 2), 3)
    """
    check_flag(laplacian, "laplacian")
    check_flag(standardize, "standardize")
    generator = as_generator(rng)
    n_components = check_count(n_components, "n_components", low=1)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    if d.n < 2:
        raise ValueError(f"`X` must have at least two points, got {d.n}.")
    check_count(n_components, "n_components", low=1, high=d.n - 1, why=f", one less than the points ({d.n})")
    count = min(d.n - 1, max(n_components, N_EIGENVALUES - 1) + (not laplacian))
    check_work(False, d, eigenpairs(Size.of(d), count).times(2.0 if laplacian else 1.0))
    if laplacian:
        affinity = _Affinity.of(d, generator)
        values, vectors = _walk_pairs(d, affinity, count)
        values, similarity = np.append(0.0, np.maximum(values, 0.0)), affinity.formula
        embedding = vectors[:, :n_components]
    else:
        values, vectors = d.largest_eigenpairs(count)
        embedding, similarity = vectors[:, :n_components] * np.sqrt(np.maximum(values[:n_components], 0.0)), None
    return SpectralEmbedding(
        embedding=_turned(embedding),
        eigenvalues=values,
        laplacian=bool(laplacian),
        similarity=similarity,
        metric=d.metric,
        standardization=d.standardization,
        index=d.index,
    )


def _turned(vectors: FloatArray) -> FloatArray:
    """Fix the sign of each column so that its largest entry in size is positive; (n, m) -> (n, m)."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class _Affinity(Metric):
    """Compute the similarity of points from rho: exp(-rho/s), or the kernel 1 - rho/2 of a bounded semimetric."""

    trusted: ClassVar[bool] = True
    rho: Metric  # fitted to the data
    scale: float | None  # s in exp(-rho/s); None for 1 - rho/2, the kernel of a bounded semimetric

    @classmethod
    def of(cls, d: Dissimilarity, rng: np.random.Generator) -> _Affinity:
        """Build a similarity for spectral clustering: the metric's own kernel if non-negative, else exponential."""
        if isinstance(d.metric, Exponential):
            return cls(d.metric, None)
        rows = np.arange(d.n) if d.n <= SUBSAMPLE else np.sort(rng.choice(d.n, SUBSAMPLE, replace=False))
        rho = d.rho(rows, rows)[np.triu_indices(rows.size, 1)]
        rho = np.abs(rho[rho != 0])
        return cls(d.metric, float(np.median(rho)) / DECAY if rho.size else 1.0)

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return None: whether a similarity is of negative type is unknown."""
        return None

    @property
    def formula(self) -> str:
        """Return the formula of the similarity as text."""
        return "1 - rho/2, the kernel of rho" if self.scale is None else f"exp(-rho/{self.scale:.6g})"

    def of_rho(self, rho: FloatArray) -> FloatArray:
        """Compute similarities from values of rho, elementwise."""
        with np.errstate(over="ignore"):  # rho far below 0, which is refused
            return np.asarray(1 - 0.5 * rho if self.scale is None else np.exp(-rho / self.scale))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return self.of_rho(self.rho.between(X, Y))

    def finite_between(
        self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0, *, same: SamePairs | None = None
    ) -> FloatArray:
        return self.of_rho(self.rho.finite_between(X, Y, row, column, same=same))


def _walk_pairs(d: Dissimilarity, affinity: _Affinity, count: int) -> tuple[FloatArray, FloatArray]:
    """Compute the smallest eigenpairs of a random-walk graph Laplacian, without the constant eigenvector.

    Vectors u have u'Du = the sum of all degrees.
    """
    route: Pairs
    if d.is_stored:
        stored = affinity.of_rho(d.matrix)
        np.fill_diagonal(stored, 0.0)
        route = Stored(stored)
    else:
        route = choose_route(Recomputed(d.points, affinity, warns=False))
    degrees = 1.0 + route.multiply(np.ones((d.n, 1)))[:, 0]  # every point is similar to itself, but the diagonal is 0
    if not degrees.sum() < np.inf:
        raise ValueError(
            f"`laplacian` must be False for a rho that is so far below 0: {affinity.formula} is too large for a number."
        )
    root = np.sqrt(degrees)

    # the symmetric matrix I - D^(-1/2) A D^(-1/2) has the eigenvalues of the walk, and vectors D^(1/2) u
    def times(columns: FloatArray) -> FloatArray:
        shared = columns / root[:, None]
        return np.asarray(columns - (shared + route.multiply(shared)) / root[:, None])

    total = float(degrees.sum())
    everything = np.zeros(d.n, np.intp)
    problem = Relaxation(times=times, ceiling=2.0, direction=root / np.sqrt(total), pieces=everything, dense=True)
    values, vectors = smallest_pairs(problem, count)
    return values, vectors * np.sqrt(total) / root[:, None]


# ---------------------------------------------------------------- clusters

RANK_TOLERANCE = 1e-8  # of the largest eigenvalue, below which one counts as 0


def _spectral_rows(d: Dissimilarity, k: int, weights: FloatArray | None = None) -> FloatArray:
    """Compute spectral coordinates from the top eigenvectors of the centred Gram matrix, rows of length 1; (n, k).

    The exact problem has Y'Y = I and e in the span of Y [G 14], so that one column is known. For a Y that is a
    partition, rows of one cluster coincide and those of two are orthogonal.

    Where G_c has fewer than k - 1 eigenvalues above 0, further eigenvectors are arbitrary. Then all of the feature
    space is at hand, and the rows are the principal coordinates themselves, in which k-means minimises W.
    """
    mass = np.ones(d.n) if weights is None else weights
    # [W 13-16] relax Y to any orthonormal columns: e is known, the others are the top eigenvectors of G_c
    values, vectors = d.largest_eigenpairs(k - 1, weights) if k > 1 else (np.empty(0), np.empty((d.n, 0)))
    # with fewer than k - 1 of them above 0 the principal coordinates themselves are clustered
    above = values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 0.0)
    if not above.all():
        coordinates = vectors[:, above] * np.sqrt(values[above]) / np.sqrt(mass)[:, None]
        return np.asarray(coordinates) if above.any() else np.zeros((d.n, 1))
    # [W 17] the rows of a partition are orthogonal or equal once they have length 1
    return on_sphere(np.column_stack([np.sqrt(mass / mass.sum()), vectors]))


def spectral_starts(
    d: Dissimilarity, k: int, n_init: int, rng: np.random.Generator, weights: FloatArray | None = None
) -> Iterator[IntArray]:
    """Yield starting labels from spectral clustering with random k-means starts, `n_init` times; (n,)."""
    rows = _spectral_rows(d, k, weights)
    for child in children(rng, n_init):
        yield cluster_rows(rows, k, child, weights=weights)


@dataclass(frozen=True, slots=True)
class Spectral(Algorithm):
    """Cluster points by k-means of the eigenvectors of the relaxed problem [W 17], with O(n) memory.

    See Also
    --------
    spectral_embedding : These eigenvectors, and what their eigenvalues say about the number of clusters.

    Notes
    -----
    W is not searched: ``init="spectral"`` with "hartigan" goes on from here to a lower one.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> es.energy_cluster(X, 2, algorithm=es.Spectral(), rng=0).labels.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[Literal["spectral"]] = "spectral"

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        return eigenpairs(Size.of(d), search.k - 1), rounding(Size.of(d), search.k, search.n_init)

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, None]:
        if search.by_labels or search.init != "k-means++":
            raise ValueError('`init` has no use in algorithm="spectral"; init="spectral" goes with "hartigan".')
        check_unwatched(search, self.name)
        k, weights = search.k, search.weights
        check_distinct(count_distinct_points(d, k), k)
        rows = _spectral_rows(d, k, weights)
        labels, ended = fit_rows(rows, k, rng, weights=weights, n_init=search.n_init, max_iter=search.max_iter)
        if not ended:
            warn(f"k-means was cut off after `max_iter`={search.max_iter} passes.", ConvergenceWarning)
        return make_partition(
            d, labels, k, weights=weights, algorithm=self.name, n_init=search.n_init, n_iter=1, converged=ended
        ), None


def on_sphere(rows: FloatArray) -> FloatArray:
    """Scale the rows of a matrix to length 1; rows of zeros stay; (n, m) -> (n, m)."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def cluster_rows(
    rows: FloatArray,
    k: int,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    n_init: int = 1,
    max_iter: int = 300,
) -> IntArray:
    """Cluster rows by (weighted) k-means of scikit-learn, and fill empty clusters; return labels (n, m) -> (n,)."""
    return fit_rows(rows, k, rng, weights=weights, n_init=n_init, max_iter=max_iter)[0]


def fit_rows(
    rows: FloatArray, k: int, rng: np.random.Generator, *, weights: FloatArray | None, n_init: int, max_iter: int
) -> tuple[IntArray, bool]:
    """Cluster rows by k-means; return labels, and whether the best start ended before `max_iter` passes.

    In one thread, so that no digit depends on their number, and because the threads of OpenMP are lost in a process
    that is forked after their first use, which then would wait for them for ever. And one call at a time: k-means sets
    the number of threads of all linear algebra in the process, and two calls that overlap would restore a wrong one;
    inside the block it finds and restores one thread.
    """
    with loading():
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning as FewerRows
        from threadpoolctl import threadpool_limits

    model = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=int(rng.integers(2**31)))
    with (
        one_thread(wait=True),
        threadpool_limits(1, "openmp"),
        ignoring(FewerRows),
    ):  # fewer distinct rows than clusters: mended below
        model.fit(rows, sample_weight=weights)
    misplaced = ((rows - model.cluster_centers_[model.labels_]) ** 2).sum(1)
    return fill_empty(model.labels_.astype(np.intp), k, misplaced), bool(model.n_iter_ < max_iter)


def fill_empty(labels: IntArray, k: int, misplaced: FloatArray) -> IntArray:
    """Move the farthest point of the largest cluster into each empty cluster, and return the labels; (n,)."""
    labels = labels.copy()
    sizes = np.bincount(labels, minlength=k)
    for l in np.flatnonzero(sizes == 0):
        inside = np.flatnonzero(labels == sizes.argmax())
        labels[inside[misplaced[inside].argmax()]] = l
        sizes = np.bincount(labels, minlength=k)
    return labels


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpectralEmbedding(Named):
    """Hold spectral coordinates of points, the eigenvalues, and the number of clusters that these suggest.

    Attributes
    ----------
    embedding : ndarray of shape (n, n_components)
        Eigenvectors of G_c times the roots of their eigenvalues, or those of the random-walk Laplacian.
    eigenvalues : ndarray of shape (m,)
        The largest ones of G_c, falling, or the smallest ones of the Laplacian, rising from 0.
    laplacian : bool
        Which of both.
    similarity : str or None
        Formula of the similarity behind the Laplacian.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names`.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    embedding: FloatArray = field(repr=False)
    eigenvalues: FloatArray = field(repr=False)
    laplacian: bool
    similarity: str | None = None
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)

    @property
    def eigengaps(self) -> FloatArray:
        """Return the sizes of the steps between neighbouring eigenvalues; (m - 1,)."""
        return np.abs(np.diff(self.eigenvalues))

    @property
    def gap_k(self) -> IntArray:
        """Return the number of clusters that each gap between eigenvalues suggests; (m - 1,)."""
        return np.arange(self.eigengaps.size) + (1 if self.laplacian else 2)

    @property
    def suggested_k(self) -> int:
        """Return the k >= 2 with the largest gap between eigenvalues; 1 where there is no gap."""
        smallest = SMALLEST_GAP * float(np.abs(self.eigenvalues).max(initial=0.0))
        allowed = np.where((self.gap_k >= 2) & (self.eigengaps > smallest), self.eigengaps, 0.0)
        return int(self.gap_k[allowed.argmax()]) if allowed.any() else 1

    def _tables(self) -> list[TextTable]:
        stubs = [str(j + 1) for j in range(self.eigenvalues.size)]
        gaps = [*numbers(self.eigengaps), "-"]
        k = [str(j) for j in self.gap_k] + ["-"]
        cells = [list(row) for row in zip(numbers(self.eigenvalues), gaps, k, strict=True)]
        title = "Random-walk Laplacian" if self.laplacian else "Centred Gram matrix"
        return [text_table(cells, ["eigenvalue", "gap to the next", "would suggest k"], stubs, title)]

    def _sentences(self) -> list[str]:
        similarity = [f"Similarity: {self.similarity}."] if self.similarity else []
        return [*similarity, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if self.suggested_k < 2:
            return "No gap between the eigenvalues suggests more than one cluster."
        return f"The largest gap with k >= 2 is at k = {self.suggested_k}; that is no evidence that clusters exist."

    def _frame(self) -> pd.DataFrame:
        """Return a data frame of spectral coordinates, one row per point and one column per axis."""
        import pandas as pd

        columns = [f"axis{j + 1}" for j in range(self.embedding.shape[1])]
        return pd.DataFrame(np.array(self.embedding), columns=columns, index=self._index())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the eigenvalues, and their gaps as bars with the largest one marked."""
        from energystats.plotting.spectra import plot_eigengaps

        values: dict[str, Any] = {"k": self.gap_k, "suggested_k": self.suggested_k, "laplacian": self.laplacian}
        return plot_eigengaps(self.eigenvalues, self.eigengaps, ax, n=len(self.embedding), **values)
