"""Silhouettes on rho, and the W that moving a point to another cluster would cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from energystats._runtime import check_work
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, warn_of_other_space
from energystats.inputs.labels import as_clusters, as_labels, read_inputs, were_found
from energystats.inputs.options import check_flag, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, one_sum

__all__ = ["PointScores", "score_points", "silhouette"]


KINDS = ("rho", "energy")


def silhouette(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    kind: str = "rho",
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    standardize: bool = False,
) -> FloatArray:
    r"""Compute the silhouette of every point: how much nearer its own cluster is than the next one.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    labels : array_like of shape (n,) or Partition
        Cluster of each point; at least two clusters. All points count alike, whatever weights the clusters were found
        with. Points of a result or a fitted clusterer that are in no cluster
        (label -1) have no silhouette, NaN; in an array -1 is a label like any other.
    kind : {"rho", "energy"}, default "rho"
        "rho": a is the mean rho to the other points of the own cluster, b the smallest mean rho to another cluster
        (Rousseeuw). "energy": a is what W falls by if the point is taken out of its cluster, b what it grows by if it
        is put into the best other one, so that b - a is the change of W by a move.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.

    Returns
    -------
    ndarray of shape (n,)
        ``(b - a)/max(|a|, |b|)``, between -1 and 1 where rho is of negative type; 0 for "rho" in a cluster of one
        point, and where a and b are 0. A negative "energy" silhouette means that the move would lower W.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, a label is missing, or a value is not finite.
    TypeError
        If `X` does not hold real numbers.
    MemoryError
        If the pairs would not fit.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    cluster_stability : Whether clusters come back when the data are resampled.

    Notes
    -----
    "rho" is what scikit-learn's ``silhouette_samples`` computes with ``metric="precomputed"``.
    With S_x = sum of rho(x, y) over y in a cluster, n its size and g its mean rho over all pairs, each point with
    itself included, the squared distance to its mean in feature space is D^2 = S_x/n - g/2; taking x out lowers W by
    n/(n - 1) D^2, putting it in raises W by n/(n + 1) D^2. Silhouettes describe, they test nothing. O(n^2 d) time,
    O(n k) memory.

    References
    ----------
    Rousseeuw (1987), Journal of Computational and Applied Mathematics 20, ``silhouette`` in R's cluster; Franca, Rizzo
    & Vogelstein, algorithm 1, for the change of W by a move.

    Examples
    --------
    >>> import energystats as es
    >>> es.silhouette([0.0, 1.0, 9.0, 10.0], [0, 0, 1, 1]).round(3).tolist()
    [0.895, 0.882, 0.882, 0.895]
    >>> es.silhouette([0.0, 1.0, 9.0, 10.0], [0, 0, 1, 1], kind="energy").round(3).tolist()
    [0.919, 0.909, 0.909, 0.919]
    """
    check_option(kind, "kind", KINDS)
    check_flag(standardize, "standardize")
    (X,), (given,) = read_inputs((X,), {"labels": labels})
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    warn_of_other_space(d, labels)
    codes, names = (as_clusters if were_found(labels) else as_labels)(given, d.n, "labels")
    if len(names) < 2:
        raise ValueError(f"`labels` must have at least two clusters, got {len(names)}.")
    check_work(False, d, one_sum(Size.of(d)))
    scores = score_points(d, codes, len(names))
    return scores.silhouette if kind == "rho" else scores.energy_silhouette


class PointScores(NamedTuple):
    """Hold the silhouettes, margins and best other clusters of all points, NaN or -1 where undefined; (n,) each.

    `margin` is the growth of W if the point moved to `neighbour`, the best of the other clusters (-1 where unknown).
    """

    silhouette: FloatArray
    energy_silhouette: FloatArray
    margin: FloatArray
    neighbour: IntArray


def score_points(d: Dissimilarity, labels: IntArray, k: int) -> PointScores:
    """Compute silhouettes, margins and nearest other clusters of points in clusters 0..k-1; label -1 is no cluster."""
    unknown = np.full(d.n, np.nan)
    inside = np.flatnonzero(labels >= 0)
    if k < 2:
        return PointScores(unknown, unknown.copy(), unknown.copy(), np.full(d.n, -1))
    Z = (labels[:, None] == np.arange(k)).astype(np.float64)
    sizes = Z.sum(axis=0)
    sums = d.pairs.multiply(np.ascontiguousarray(Z))
    rows, own = np.arange(inside.size), labels[inside]
    others = np.ones((inside.size, k), dtype=bool)
    others[rows, own] = False
    # Rousseeuw's a leaves the point itself out, whose rho is 0
    alone = sizes[own] == 1
    a = sums[inside, own] / np.maximum(sizes[own] - 1, 1)
    b = np.where(others, sums[inside] / sizes, np.inf).min(axis=1)
    silhouettes = np.where(alone, 0.0, _contrast(a, b))
    # squared distances to the means in feature space, D^2 = g(x, C) - g(C, C)/2
    squared = sums[inside] / sizes - np.einsum("ij,ij->j", Z, sums) / (2 * sizes**2)
    lost = sizes[own] / np.maximum(sizes[own] - 1, 1) * np.where(alone, 0.0, squared[rows, own])
    gained = np.where(others, squared * (sizes / (sizes + 1)), np.inf)
    best = gained.min(axis=1)
    neighbour = np.full(d.n, -1)
    neighbour[inside] = gained.argmin(axis=1)

    def of_all(values: FloatArray) -> FloatArray:
        column = unknown.copy()
        column[inside] = values
        return column

    return PointScores(of_all(silhouettes), of_all(_contrast(lost, best)), of_all(best - lost), neighbour)


def _contrast(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compute (b - a)/max(|a|, |b|) elementwise, 0 where both are 0; (m,), (m,) -> (m,)."""
    largest = np.maximum(np.abs(a), np.abs(b))
    return np.asarray(np.divide(b - a, largest, out=np.zeros_like(a), where=largest > 0))
