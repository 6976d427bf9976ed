"""The table T = RWZ of a labeling, one row of R after the other, and the sums beside it [theory 4]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["cluster_table", "tabulated", "tabulated_afresh"]


@njit
def cluster_table(R: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """T_li = sum of w_y rho(y, x_i) over y in C_l; (k, n), in O(n^2) whatever k is."""
    n = labels.size
    table = np.zeros((k, n))
    for y in range(n):
        l = labels[y]
        w = weights[y]
        for i in range(n):
            table[l, i] += w * R[y, i]
    return table


@njit
def tabulated_afresh(
    R: FloatArray, weights: FloatArray, labels: IntArray, k: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Counts and masses of the clusters, the table, and the sums of w_x w_y rho inside them, from scratch."""
    table = cluster_table(R, weights, labels, k)
    counts = np.zeros(k, np.intp)
    mass = np.zeros(k)
    within = np.zeros(k)
    for i in range(labels.size):
        counts[labels[i]] += 1
        mass[labels[i]] += weights[i]
        within[labels[i]] += weights[i] * table[labels[i], i]
    return counts, mass, table, within


@njit
def tabulated(
    R: FloatArray, weights: FloatArray, totals: FloatArray, labels: IntArray, k: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """The same where the sums over all points are known, `totals` of shape (n,).

    The row of the largest cluster is what the others leave, which saves most of the work for few clusters.
    """
    n = labels.size
    counts = np.zeros(k, np.intp)
    mass = np.zeros(k)
    within = np.zeros(k)
    table = np.zeros((k, n))
    for i in range(n):
        counts[labels[i]] += 1
        mass[labels[i]] += weights[i]
    largest = counts.argmax()
    for y in range(n):
        l = labels[y]
        if l != largest:
            w = weights[y]
            for i in range(n):
                table[l, i] += w * R[y, i]
    for i in range(n):
        table[largest, i] = totals[i]
    for l in range(k):
        if l != largest:
            for i in range(n):
                table[largest, i] -= table[l, i]
    for i in range(n):
        within[labels[i]] += weights[i] * table[labels[i], i]
    return counts, mass, table, within
