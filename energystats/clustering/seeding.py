"""Starts of the iterative methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._core.kmeans_plus_plus import seeded_labels
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity

__all__ = ["count_distinct", "count_distinct_points", "draw_index", "plus_plus_start", "random_start"]


SAME_ROW = 1e-12  # of the largest product with a row


def count_distinct(R: FloatArray, at_most: int) -> int:
    """Count distinct points, up to `at_most`, by farthest-first traversal of a dissimilarity matrix; (n, n).

    Where rho is not of negative type, points at 0 from each other may differ in what they are from others: if the
    traversal finds too few, those whose rows in the matrix are equal count as one.
    """
    count = _count_from(R.__getitem__, at_most)
    return count if count == at_most else max(count, _count_rows(lambda weights: R @ weights, len(R), at_most))


def count_distinct_points(d: Dissimilarity, at_most: int) -> int:
    """Count distinct points, up to `at_most`, without storing their dissimilarity matrix; O(n) memory."""
    if d.is_stored:
        return count_distinct(d.matrix, at_most)
    everything = np.arange(d.n)

    def row(i: int) -> FloatArray:
        return np.asarray(d.rho(everything[i : i + 1], everything)[0])

    def multiply(weights: FloatArray) -> FloatArray:
        return np.array([row(i) @ weights for i in range(d.n)])

    count = _count_from(row, at_most)
    if count == at_most or d.metric.negative_type:
        return count
    return max(count, _count_rows(multiply, d.n, at_most))


def _count_from(row: Callable[[int], FloatArray], at_most: int) -> int:
    """Count distinct points, up to `at_most`, by farthest-first traversal from the first one."""
    nearest = np.abs(row(0))
    count = 1
    while count < at_most and nearest.max() > 0:
        nearest = np.minimum(nearest, np.abs(row(int(nearest.argmax()))))
        count += 1
    return count


def _count_rows(multiply: Callable[[FloatArray], FloatArray], n: int, at_most: int) -> int:
    """Count unequal rows of a matrix, up to `at_most`, by their products with one vector of random weights."""
    # unequal rows have one product with probability 0; equal ones differ by rounding
    products = np.sort(multiply(np.random.default_rng(0).random(n)))
    steps = np.diff(products) > SAME_ROW * np.abs(products).max()
    return min(at_most, 1 + int(np.count_nonzero(steps)))


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
