"""Exact clustering of one column for rho = |x - y| [D alg 1; N s.5] and for its square, which is k-means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

import numpy as np

from energystats._core.eigenvalue_bound import eigenvalue_bound_on_line
from energystats._core.exact_1d import best_breaks, running_sums
from energystats._runtime import Work, check_work
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.clustering.partition import Partition, midpoints
from energystats.clustering.search import Algorithm, Search, check_distinct, check_unwatched
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.labels import read_inputs
from energystats.inputs.options import check_alpha, check_count
from energystats.pairs.workloads import exact_line

__all__ = ["Exact1D", "best_intervals", "cluster_1d", "has_exact", "note_on_exactness"]


LIGHTEST = 1e-290  # of the heaviest weight, so that the mass of a cluster is never 0


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """Hold the m distinct values of one column, scaled so that their range and their largest weight are near 1."""

    distinct: FloatArray  # (m,) rising, in the unit of the data
    # x, gaps: (m,) the same in the new unit, and their differences
    x: FloatArray
    gaps: FloatArray
    weights: FloatArray  # (m,) sums of the weights of equal points
    rank: IntArray  # (n,) which value each point has
    exponent: int  # A W of these values is multiplied by two to this power to be one of the points

    @classmethod
    def of(cls, points: FloatArray, weights: FloatArray, power: int) -> Self:
        """Return the sorted distinct values of a column, over a power of two, with summed weights of equal values."""
        order = np.argsort(points)
        ordered = points[order]
        new = np.concatenate(([True], ordered[1:] > ordered[:-1]))
        rank = np.empty(points.size, dtype=np.intp)
        rank[order] = np.cumsum(new) - 1
        distinct = ordered[new]
        width, heaviest = int(np.frexp(distinct[-1] - distinct[0])[1]), int(np.frexp(weights.max())[1])
        summed = np.maximum(np.bincount(rank, np.ldexp(weights, -heaviest)), LIGHTEST)
        x = np.ldexp(distinct, -width)
        return cls(distinct, x, np.diff(x), summed, rank, power * width + heaviest)


def has_exact(d: Dissimilarity) -> bool:
    """Return whether exact clustering is possible: one numeric column under |x - y| or its square."""
    return d.power in (1.0, 2.0)


def note_on_exactness(d: Dissimilarity) -> tuple[str, ...]:
    """Return a note that says why one column cannot be clustered exactly; an empty tuple for other data."""
    if d.coordinates is None or d.coordinates.shape[1] != 1 or has_exact(d):
        return ()
    power = d.power
    if power is None:
        return ("Not exact: for one column there is an exact method if rho is |x - y| or its square.",)
    if power < 1:
        return ("Not exact: for powers of |x - y| below 1 the best clusters of one column need not be intervals.",)
    return ("Not exact: of powers of |x - y| above 1 intervals are known to be the best clusters for the square only.",)


class _Intervals(NamedTuple):
    """Hold the best clusters of one column: distinct values, first rank of each but the first, labels, W, S and T."""

    values: _Values
    power: int
    starts: IntArray
    labels: IntArray
    within: FloatArray
    between: float
    total: float


def best_intervals(d: Dissimilarity, k: int, weights: FloatArray | None = None) -> _Intervals:
    """Find the partition of one column into k intervals with the least within dispersion, by dynamic programming."""
    points = d.points[:, 0]
    power = 2 if d.power == 2 else 1
    # equal points share a cluster, so that only distinct values count
    values = _Values.of(points, np.ones(d.n) if weights is None else weights, power)
    check_distinct(values.x.size, k)
    # the best clusters are intervals of the sorted values: dynamic programming over running sums [theory 4]
    starts = best_breaks(running_sums(values.gaps, values.weights, power == 2), power == 2, k)
    labels = np.searchsorted(starts, np.arange(values.x.size), side="right")[values.rank]
    edges = np.concatenate(([0], starts, [values.x.size]))
    return _Intervals(
        values,
        power,
        starts,
        labels,
        *(_squared_dispersions if power == 2 else _compute_line_dispersions)(values, edges),
    )


@dataclass(frozen=True, slots=True)
class Exact1D(Algorithm):
    r"""Cluster one column into the k intervals with the smallest W, exactly, for rho = \|x - y\| or its square.

    See Also
    --------
    cluster_1d : The function for one column.

    Examples
    --------
    >>> import energystats as es
    >>> es.energy_cluster([1.0, 2.0, 10.0, 12.0], 2, algorithm=es.Exact1D()).labels.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[str] = "exact-1d"

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        return (exact_line(d.n, search.k),)

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, None]:
        if not has_exact(d):
            columns = d.n_columns
            raise ValueError(
                '`algorithm="exact-1d"` needs one column and rho = |x - y| or its square, got '
                f"{f'{columns} column' if columns else 'a matrix'}{'s' * (columns > 1)} and {d.metric!r}; "
                'use "hartigan".'
            )
        check_unwatched(search, self.name)
        found = _partition_line(d, search.k, search.weights)
        return replace(found, notes=search.note_unused("by the exact method, which has no starts")), None


def _partition_line(d: Dissimilarity, k: int, weights: FloatArray | None) -> Partition:
    """Find the best partition of one column into k clusters, intervals numbered from left to right."""
    values, power, starts, labels, within, between, total = best_intervals(d, k, weights)
    bound = total * (k > 1)  # G_c of squares has rank 1
    if power == 1:
        bound = eigenvalue_bound_on_line(values.gaps, values.weights, k)
    return Partition(
        labels=labels,
        k=k,
        sizes=tuple(np.bincount(labels, minlength=k).tolist()),
        within=float(np.ldexp(within.sum(), values.exponent)),
        between=float(np.ldexp(between, values.exponent)),
        total=float(np.ldexp(total, values.exponent)),
        within_per_cluster=np.ldexp(within, values.exponent),
        bound=float(np.ldexp(bound, values.exponent)),
        algorithm="exact-1d",
        n_init=1,
        n_iter=1,
        converged=True,
        breaks=midpoints(values.distinct[starts - 1], values.distinct[starts]),
        metric=d.metric,
        standardization=d.standardization,
        points=d.coordinates,
        columns=d.columns,
        index=d.index,
        masses=None if weights is None else np.bincount(labels, weights, minlength=k).astype(np.float64),
    )


def _compute_line_dispersions(values: _Values, edges: IntArray) -> tuple[FloatArray, float, float]:
    """Compute the within dispersion of each cluster on a line, and the between and total ones, under |x - y|.

    A gap between neighbours lies in the distance of every pair on its two sides, so that W of a set of mass s is the
    sum of gap L (s - L)/s, L being the mass below the gap; no term is negative.
    """
    whole = _gaps_of_run(values, 0, values.x.size)
    within = np.zeros(edges.size - 1)
    between = 0.0
    for j, (start, stop) in enumerate(pairwise(edges)):
        # S is what the gaps weigh more in all points than inside the clusters; no difference of large sums
        own = _gaps_of_run(values, start, stop)
        within[j] = own.sum()
        between += float((whole[start : stop - 1] - own).sum() + whole[stop - 1 : stop].sum())
    return within, between, float(whole.sum())


def _gaps_of_run(values: _Values, start: int, stop: int) -> FloatArray:
    """Compute how much each gap between neighbouring values adds to the within dispersion of a run of sorted values.

    Masses are summed from both ends, so that light points keep their digits.
    """
    w = values.weights[start:stop]
    below, above = np.cumsum(w)[:-1], np.cumsum(w[::-1])[-2::-1]
    return np.asarray(values.gaps[start : stop - 1] * (below * (above / w.sum())))


def _squared_dispersions(values: _Values, edges: IntArray) -> tuple[FloatArray, float, float]:
    """Compute the within dispersion of each cluster on a line, and the between and total ones, under (x - y)**2."""
    x, w = values.x - values.x[values.x.size // 2], values.weights
    within, means, masses = np.zeros((3, edges.size - 1))
    for j, (start, stop) in enumerate(pairwise(edges)):
        masses[j] = w[start:stop].sum()
        own = values.x[start:stop] - values.x[start]
        center = float((w[start:stop] * own).sum()) / masses[j]
        within[j] = (w[start:stop] * (own - center) ** 2).sum()
        means[j] = x[start] + center
    mean = float((w * x).sum() / w.sum())
    between = float((masses * (means - mean) ** 2).sum()) if within.size > 1 else 0.0
    return within, between, float((w * (x - mean) ** 2).sum())


def cluster_1d(x: ArrayLike, k: int = 2, sample_weight: ArrayLike | None = None, *, alpha: float = 1.0) -> Partition:
    r"""Find the partition of one column with the least within dispersion, exactly, for rho = \|x - y\| or its square.

    Parameters
    ----------
    x : array_like of shape (n,) or (n, 1)
        One column.
    k : int, default 2
        Number of clusters, 1 <= k <= number of distinct values.
    sample_weight : array_like of shape (n,), optional
        Positive weights, the largest at most 1e9 times the smallest. Whole numbers count as repeated points.
    alpha : {1.0, 2.0}, default 1.0
        Power of \|x - y\|. 1 sees the whole distribution; 2 is k-means.

    Returns
    -------
    Partition
        Clusters numbered from left to right; `.breaks` holds the k - 1 midpoints between neighbouring clusters, in
        the unit of `x`. Equal values share a cluster.

    Raises
    ------
    ValueError
        If `x` has several columns or a value that is not finite, a weight is not positive, `alpha` is neither 1 nor
        2, or k is out of range or exceeds the number of distinct values.
    TypeError
        If `x` does not hold real numbers or k is not a whole number.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_cluster : Any number of columns and any rho.

    Notes
    -----
    The best clusters are intervals of the sorted values for alpha = 2, and for alpha = 1 by all that is known: there
    it is proved for clusters that interleave once, and no counterexample was found [theory 4]. For alpha < 1 they can
    be nested, and between 1 and 2 nothing is known, so other powers go to `energy_cluster`. W of an interval follows
    from running sums and satisfies the quadrangle inequality, so that dynamic programming needs O(k n log n) time
    and O(n) memory beyond a table of at most 256 MiB; a larger one is replaced by bisection of k, at twice the time.
    More than 65,536 values are shared among the threads that linear algebra has been given, with the same result.
    W is the minimum up to rounding, of about 1e-15 of W. `.bound` takes about 30 passes over the values and O(n)
    memory; for alpha = 2 it is T.

    References
    ----------
    Franca, Rizzo & Vogelstein (draft), algorithm 1, is k = 2, there with O(n^2) cost.

    Wu (1991), Optimal quantization by matrix searching, Journal of Algorithms 12; Wang & Song (2011),
    Ckmeans.1d.dp: optimal k-means clustering in one dimension by dynamic programming, The R Journal 3(2): alpha = 2.

    Examples
    --------
    >>> import energystats as es
    >>> found = es.cluster_1d([1.0, 2.0, 10.0, 12.0, 30.0], 3)
    >>> found.labels.tolist(), found.breaks.tolist(), found.within
    ([0, 0, 1, 1, 2], [6.0, 21.0], 1.5)
    """
    k = check_count(k, "k", low=1)
    alpha = check_alpha(alpha)
    if alpha not in (1.0, 2.0):
        why = "the best clusters need not be intervals" if alpha < 1 else "that intervals are best is not known"
        raise ValueError(f"`alpha` must be 1 or 2, got {alpha:g}, for which {why}; use `energy_cluster`.")
    (x,), (sample_weight,) = read_inputs((x,), {"sample_weight": sample_weight})
    d = Dissimilarity.from_data(x, metric="euclidean", alpha=alpha, name="x")
    check_work(False, d, exact_line(d.n, min(k, d.n)))
    if d.points.shape[1] != 1:
        raise ValueError(f"`x` must be one column, got {d.points.shape[1]}; use `energy_cluster`.")
    weights = d.read_weights(sample_weight)
    return _partition_line(d, k, weights)
