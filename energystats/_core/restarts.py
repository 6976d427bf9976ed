"""Hartigan's method from several k-means++ starts in one compiled call, for the many searches of simulated nulls."""

from __future__ import annotations

import numpy as np

from energystats._core.cluster_sums import cluster_table
from energystats._core.hartigan import hartigan_pass
from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["best_of_starts"]

PASSES = 300  # of one search


@njit
def seeded_labels(R: FloatArray, uniforms: FloatArray) -> IntArray:
    """Every point to its nearest seed; a seed is drawn in proportion to rho to the nearest of those before it.

    One uniform number a cluster. A negative rho counts as 0; where nothing is left above 0, the next seed is a point
    that is none yet.
    """
    n = len(R)
    labels = np.zeros(n, np.intp)
    nearest = np.full(n, np.inf)
    chances = np.ones(n)
    taken = np.zeros(n, np.bool_)
    for j in range(uniforms.size):
        upto = np.cumsum(chances)
        seed = 0
        while seed < n - 1 and (taken[seed] or upto[seed] <= uniforms[j] * upto[-1]):
            seed += 1
        while taken[seed]:  # rounding, or nothing above 0 behind the last seed
            seed -= 1
        taken[seed] = True
        for i in range(n):
            rho = max(R[seed, i], 0.0)
            if rho < nearest[i]:
                nearest[i] = rho
                labels[i] = j
        labels[seed] = j
        nearest[seed] = 0.0
        chances = nearest.copy() if nearest.any() else np.where(taken, 0.0, 1.0)
    return labels


@njit
def best_of_starts(R: FloatArray, uniforms: FloatArray, threshold: float) -> IntArray:
    """Labels of the lowest W that Hartigan's method [G alg 1] ends with; uniforms of shape (starts, k), k <= n.

    Moves lower W by more than `threshold`, and a later start wins only when it is lower by more.
    """
    n = len(R)
    k = uniforms.shape[1]
    weights = np.ones(n)
    no_moves = np.empty((0, 3), np.intp)
    best = np.zeros(n, np.intp)
    lowest = np.inf
    for start in range(len(uniforms)):
        labels = seeded_labels(R, uniforms[start])
        table = cluster_table(R, weights, labels, k)
        counts = np.zeros(k, np.intp)
        within = np.zeros(k)
        for i in range(n):
            counts[labels[i]] += 1
            within[labels[i]] += table[labels[i], i]
        mass = counts.astype(np.float64)
        for _ in range(PASSES):
            if hartigan_pass(R, weights, labels, counts, mass, table, within, threshold, no_moves) == 0:
                break
        W = np.sum(within / (2 * mass))
        if lowest - threshold > W:
            lowest = W
            best = labels
    return best
