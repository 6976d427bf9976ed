"""Single moves of Hartigan's method in a feature space, where the sums of the clusters' points say all [theory 8]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["hartigan_among_means"]


@njit
def hartigan_among_means(
    features: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    counts: IntArray,
    mass: FloatArray,
    sums: FloatArray,
    threshold: float,
) -> int:
    """Move every point in turn to the cluster that lowers W most; labels, counts, mass and sums change in place.

    A point of weight w at the squared distance d from the mean of its cluster of mass s takes w s/(s - w) d away from
    W, and adds w s/(s + w) d to that of another one. No cluster is emptied. Returns the number of moves; O(n k p).
    """
    n = labels.size
    k = mass.size
    norms = np.empty(k)
    for l in range(k):
        norms[l] = np.dot(sums[l], sums[l])
    moved = 0
    for i in range(n):
        j = labels[i]
        if counts[j] == 1:
            continue
        w = weights[i]
        row = features[i]
        own = np.dot(row, row)
        best = j
        distance = own - 2 * np.dot(row, sums[j]) / mass[j] + norms[j] / mass[j] ** 2
        lowest = w * mass[j] / (mass[j] - w) * distance - threshold
        for l in range(k):
            if l != j:
                distance = own - 2 * np.dot(row, sums[l]) / mass[l] + norms[l] / mass[l] ** 2
                rises = w * mass[l] / (mass[l] + w) * distance
                if rises < lowest:
                    lowest = rises
                    best = l
        if best != j:
            moved += 1
            labels[i] = best
            counts[j] -= 1
            counts[best] += 1
            mass[j] -= w
            mass[best] += w
            sums[j] -= w * row
            sums[best] += w * row
            norms[j] = np.dot(sums[j], sums[j])
            norms[best] = np.dot(sums[best], sums[best])
    return moved
