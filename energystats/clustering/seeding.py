"""Starts of the iterative methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._core.kmeans_plus_plus import seeded_labels
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity

__all__ = ["count_distinct", "count_distinct_points", "draw_index", "plus_plus_start", "random_start"]


def count_distinct(R: FloatArray, at_most: int) -> int:
    """Count distinct points, up to `at_most`, by farthest-first traversal of a dissimilarity matrix; (n, n).

    Where rho is not of negative type a point may coincide with others that differ; then a point of the largest rho is
    tried as the first one too.
    """
    count = _count_from(R.__getitem__, 0, at_most)
    if count == at_most:
        return count
    first = int(np.maximum(R.max(axis=1), -R.min(axis=1)).argmax())
    return max(count, _count_from(R.__getitem__, first, at_most))


def _count_from(row: Callable[[int], FloatArray], first: int, at_most: int) -> int:
    """Count distinct points, up to `at_most`, by farthest-first traversal from the point `first`."""
    nearest = np.abs(row(first))
    count = 1
    while count < at_most and nearest.max() > 0:
        nearest = np.minimum(nearest, np.abs(row(int(nearest.argmax()))))
        count += 1
    return count


def count_distinct_points(d: Dissimilarity, at_most: int) -> int:
    """Count distinct points, up to `at_most`, without storing their dissimilarity matrix; O(n) memory."""
    if d.is_stored:
        return count_distinct(d.matrix, at_most)
    everything = np.arange(d.n)

    def row(i: int) -> FloatArray:
        return np.asarray(d.rho(everything[i : i + 1], everything)[0])

    count = _count_from(row, 0, at_most)
    if count == at_most or d.metric.negative_type:
        return count
    return max(count, _count_from(row, int(np.argmax([np.abs(row(i)).max() for i in range(d.n)])), at_most))


def plus_plus_start(R: FloatArray, k: int, rng: np.random.Generator, weights: FloatArray | None = None) -> IntArray:
    """Draw k-means++ seeds in feature space, and label each point by its nearest seed; (n,)."""
    return seeded_labels(R, np.ones(len(R)) if weights is None else weights, rng.random(k))


def draw_index(chances: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index with probability proportional to `chances`, which are not all 0; (n,) -> int."""
    upto = np.cumsum(chances)
    index = np.searchsorted(upto, rng.random() * upto[-1], side="right")
    # rounding alone leads beyond the last of all
    return int(index if index < upto.size else np.flatnonzero(chances)[-1])


def random_start(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Draw uniform random labels of n points in k clusters, none of them empty; (n,)."""
    labels = rng.integers(k, size=n)
    labels[rng.choice(n, size=k, replace=False)] = np.arange(k)
    return labels.astype(np.intp)
