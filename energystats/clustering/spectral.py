"""Spectral methods: coordinates and clusters from the relaxed clustering problem [W 13-17; G s.3, s.5.2]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from energystats._core.laplacian import Relaxation, smallest_pairs
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.rounding import cluster_rows, on_sphere
from energystats.clustering.seeding import count_distinct
from energystats.cost import weigh
from energystats.dissimilarity import Dissimilarity
from energystats.metrics import Exponential, Metric, MetricLike
from energystats.pairs import MadeAnew, choose_route
from energystats.results import SpectralEmbedding
from energystats.validation import as_generator, check_count, children
from energystats.workloads import Size, eigenpairs

__all__ = ["spectral_embedding", "spectral_labels", "spectral_start", "spectral_starts"]

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
    r"""Coordinates and eigenvalues of the relaxed clustering problem, and the number of clusters its gaps suggest.

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

    With it, similarities must not be negative. The kernels of `Gaussian` and `Exponential` are not; for any other rho
    :math:`\exp(-\rho/s)` is taken, s being a third of the median of the rho that are not 0, as in `select_k`. For all s
    it is a positive definite kernel exactly when rho is of negative type [Schoenberg 1938]. The kernel that
    [G s.5.2] uses, 1/2 [rho(x, 0) + rho(y, 0) - rho(x, y)], depends on where the origin is, unlike every other quantity
    here, and is non-negative for metrics only; it is ``distance_kernel``, and ``graph_partition(...,
    cut="normalized")`` takes it. Coordinates are the eigenvectors u of :math:`I - D^{-1}A` after the constant one, with
    u'Du = the sum of all degrees; eigenvalues rise from 0, and a gap after the k-th suggests k. The entry of largest
    size in every coordinate is positive.

    `suggested_k` is the k >= 2 with the largest gap. It is a rule of thumb and no evidence that clusters exist; that is
    what `cluster_test` is for.

    O(n^2 d) time for each of some 50 to 200 products with the matrix, which is kept up to 4,096 points and made anew
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
    generator = as_generator(rng)
    n_components = check_count(n_components, "n_components", low=1)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    if d.n < 2:
        raise ValueError(f"`X` must have at least two points, got {d.n}.")
    check_count(n_components, "n_components", low=1, high=d.n - 1, why=f", one less than the points ({d.n})")
    count = min(d.n - 1, max(n_components, N_EIGENVALUES - 1) + (not laplacian))
    weigh(False, d, eigenpairs(Size.of(d), count).times(2.0 if laplacian else 1.0))
    if laplacian:
        affinity = Affinity.of(d, generator)
        values, vectors = walk_pairs(d, affinity, count)
        values, similarity = np.append(0.0, np.maximum(values, 0.0)), affinity.formula
        embedding = vectors[:, :n_components]
    else:
        values, vectors = d.largest_eigenpairs(count)
        embedding, similarity = vectors[:, :n_components] * np.sqrt(np.maximum(values[:n_components], 0.0)), None
    return SpectralEmbedding(
        embedding=turned(embedding),
        eigenvalues=values,
        laplacian=bool(laplacian),
        similarity=similarity,
        metric=d.metric,
        standardization=d.standardization,
        index=d.index,
    )


def turned(vectors: FloatArray) -> FloatArray:
    """Signs such that the largest entry of each column is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Affinity(Metric):
    """A similarity as a function of rho, 1 at rho = 0 and never negative.

    Attributes
    ----------
    rho : Metric
        Settled on the data.
    scale : float or None
        s in exp(-rho/s); None for 1 - rho/2, the kernel of a bounded semimetric.
    """

    trusted: ClassVar[bool] = True
    rho: Metric
    scale: float | None

    @classmethod
    def of(cls, d: Dissimilarity, rng: np.random.Generator) -> Affinity:
        """The kernel of the metric itself if it has one that is never negative, else one of the smaller rho."""
        if isinstance(d.metric, Exponential):
            return cls(d.metric, None)
        rows = np.arange(d.n) if d.n <= SUBSAMPLE else np.sort(rng.choice(d.n, SUBSAMPLE, replace=False))
        rho = d.rho(rows, rows)[np.triu_indices(rows.size, 1)]
        rho = np.abs(rho[rho != 0])
        return cls(d.metric, float(np.median(rho)) / DECAY if rho.size else 1.0)

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Known of nothing: this is no semimetric."""
        return None

    @property
    def formula(self) -> str:
        """How it is computed, for a reader."""
        return "1 - rho/2, the kernel of rho" if self.scale is None else f"exp(-rho/{self.scale:.6g})"

    def of_rho(self, rho: FloatArray) -> FloatArray:
        """The similarity of pairs with these rho."""
        return np.asarray(1 - 0.5 * rho if self.scale is None else np.exp(-rho / self.scale))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return self.of_rho(self.rho.between(X, Y))

    def finite_between(self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0) -> FloatArray:
        return self.of_rho(self.rho.finite_between(X, Y, row, column))


def walk_pairs(d: Dissimilarity, affinity: Affinity, count: int) -> tuple[FloatArray, FloatArray]:
    """Smallest eigenvalues of I - D^(-1) A after the first, which is 0, and eigenvectors u with u'Du = sum of D."""
    if d.R is not None:
        stored = affinity.of_rho(d.R)
        np.fill_diagonal(stored, 0.0)
        route = choose_route(None, stored, None)
    else:
        assert d.points is not None
        route = choose_route(MadeAnew(d.points, affinity, warns=False), None, None)
    degrees = 1.0 + route.multiply(np.ones((d.n, 1)))[:, 0]  # every point is similar to itself, the diagonal says not
    root = np.sqrt(degrees)

    def times(columns: FloatArray) -> FloatArray:
        shared = columns / root[:, None]
        return np.asarray(columns - (shared + route.multiply(shared)) / root[:, None])

    total = float(degrees.sum())
    everything = np.zeros(d.n, np.intp)
    problem = Relaxation(times=times, ceiling=2.0, direction=root / np.sqrt(total), pieces=everything)
    values, vectors = smallest_pairs(problem, count)
    return values, vectors * np.sqrt(total) / root[:, None]


# ---------------------------------------------------------------- clusters

RANK_TOLERANCE = 1e-8  # of the largest eigenvalue, below which one counts as 0


def spectral_rows(d: Dissimilarity, k: int, weights: FloatArray | None = None) -> FloatArray:
    """Rows of the relaxed solution [e/sqrt(n), U] with U the top k - 1 eigenvectors of G_c, each of length 1; (n, k).

    The exact problem has Y'Y = I and e in the span of Y [G 14], so that one column is known. For a Y that is a
    partition, rows of one cluster coincide and those of two are orthogonal.

    Where G_c has fewer than k - 1 eigenvalues above 0, further eigenvectors are arbitrary. Then all of the feature
    space is at hand, and the rows are the principal coordinates themselves, in which k-means minimises W.
    """
    mass = np.ones(d.n) if weights is None else weights
    values, vectors = d.largest_eigenpairs(k - 1, weights) if k > 1 else (np.empty(0), np.empty((d.n, 0)))
    above = values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 0.0)
    if not above.all():
        coordinates = vectors[:, above] * np.sqrt(values[above]) / np.sqrt(mass)[:, None]
        return np.asarray(coordinates) if above.any() else np.zeros((d.n, 1))
    return on_sphere(np.column_stack([np.sqrt(mass / mass.sum()), vectors]))


def distinct_of(d: Dissimilarity, at_most: int) -> int:
    """`count_distinct` without the matrix: O(n) memory and as many rows of rho as are counted."""
    if d.R is not None:
        return count_distinct(d.R, at_most)
    everything = np.arange(d.n)
    nearest = np.abs(d.rho(everything[:1], everything)[0])
    count = 1
    while count < at_most and nearest.max() > 0:
        nearest = np.minimum(nearest, np.abs(d.rho(everything[[nearest.argmax()]], everything)[0]))
        count += 1
    return count


def spectral_starts(
    d: Dissimilarity, k: int, n_init: int, rng: np.random.Generator, weights: FloatArray | None = None
) -> Iterator[IntArray]:
    """Starting labels by k-means of the relaxed rows, each from its own child of `rng`."""
    rows = spectral_rows(d, k, weights)
    for child in children(rng, n_init):
        yield cluster_rows(rows, k, child, weights=weights)


def spectral_start(d: Dissimilarity, k: int, rng: np.random.Generator, weights: FloatArray | None = None) -> IntArray:
    """One of them."""
    return cluster_rows(spectral_rows(d, k, weights), k, rng, weights=weights)


def spectral_labels(
    d: Dissimilarity,
    k: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    weights: FloatArray | None = None,
) -> IntArray:
    """Labels of spectral clustering: the best of `n_init` runs of k-means on the relaxed rows [W 17]."""
    return cluster_rows(spectral_rows(d, k, weights), k, rng, weights=weights, n_init=n_init, max_iter=max_iter)
