"""Draw seeds of k-means++ in the feature space of rho, and label points by the nearest seed [theory 4, starts]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["draw_index_or_none", "seeded_labels"]


@njit
def draw_index_or_none(chances: FloatArray, uniform: float) -> int:
    """Draw an index with probability proportional to given weights; return -1 if no weight is positive."""
    total = 0.0
    for i in range(chances.size):
        total += chances[i]
    upto = 0.0
    last = -1
    for i in range(chances.size):
        if chances[i] > 0:
            upto += chances[i]
            last = i
            if upto > uniform * total:
                break
    return last


@njit
def seeded_labels(R: FloatArray, weights: FloatArray, uniforms: FloatArray) -> IntArray:
    """Draw k seeds by k-means++ from a dissimilarity matrix, and label each point by its nearest seed; (n, n) -> (n,).

    rho is the squared distance in the feature space already, so a point becomes the next seed with probability
    proportional to its weight and its rho to the nearest seed [theory 4, starts]. A negative rho counts as 0, and where
    nothing is left above 0 every point that is no seed yet has a chance in proportion to its weight.
    """
    n = len(R)
    labels = np.zeros(n, np.intp)
    nearest = np.full(n, np.inf)
    chances = weights.copy()
    free = weights.copy()
    for j in range(uniforms.size):
        seed = draw_index_or_none(chances, uniforms[j])
        if seed < 0:
            seed = draw_index_or_none(free, uniforms[j])
        free[seed] = 0.0
        for i in range(n):
            # rho is the squared distance already: no square as in k-means++ of coordinates
            rho = max(R[seed, i], 0.0)
            if rho < nearest[i]:
                nearest[i] = rho
                labels[i] = j
            chances[i] = weights[i] * nearest[i] if free[i] > 0 else 0.0
        labels[seed] = j
        nearest[seed] = 0.0
    return labels
