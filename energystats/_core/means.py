"""Sums over clusters in a feature space, and single moves of Hartigan's method by them [theory 8].

The loops are written out: a call of the linear algebra library for every row takes longer than the row, and its
threads would wait for each other.
"""

from __future__ import annotations

import numpy as np

from energystats._core import jit
from energystats._core.jit import njit
from energystats._core.threads import one_thread
from energystats._typing import FloatArray, IntArray

__all__ = ["hartigan_among_means", "inner_product", "sum_clusters"]


@njit
def inner_product(x: FloatArray, y: FloatArray) -> float:
    """Sum of products of two short vectors, in eight sums that do not wait for each other; (p,), (p,) -> float."""
    p = x.size
    whole = p - p % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for c in range(0, whole, 8):
        s0 += x[c] * y[c]
        s1 += x[c + 1] * y[c + 1]
        s2 += x[c + 2] * y[c + 2]
        s3 += x[c + 3] * y[c + 3]
        s4 += x[c + 4] * y[c + 4]
        s5 += x[c + 5] * y[c + 5]
        s6 += x[c + 6] * y[c + 6]
        s7 += x[c + 7] * y[c + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for c in range(whole, p):
        total += x[c] * y[c]
    return total


def sum_clusters(rows: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Weighted sums of the rows of every cluster; (n, p), (n,), (n,) -> (k, p), in O(n p) where loops are compiled."""
    if jit.numba is not None:
        return add_rows(rows, weights, labels, k)
    with one_thread():
        return np.asarray(((labels[:, None] == np.arange(k)) * weights[:, None]).T @ rows)


@njit
def add_rows(rows: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """The same, row after row."""
    sums = np.zeros((k, rows.shape[1]))
    for i in range(labels.size):
        j = labels[i]
        w = weights[i]
        for c in range(rows.shape[1]):
            sums[j, c] += w * rows[i, c]
    return sums


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
    p = features.shape[1]
    norms = np.empty(k)
    for l in range(k):
        norms[l] = inner_product(sums[l], sums[l])
    moved = 0
    for i in range(n):
        j = labels[i]
        if counts[j] == 1:
            continue
        w = weights[i]
        row = features[i]
        own = inner_product(row, row)
        best = j
        distance = own - 2 * inner_product(row, sums[j]) / mass[j] + norms[j] / mass[j] ** 2
        lowest = w * mass[j] / (mass[j] - w) * distance - threshold
        for l in range(k):
            if l != j:
                distance = own - 2 * inner_product(row, sums[l]) / mass[l] + norms[l] / mass[l] ** 2
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
            for c in range(p):
                sums[j, c] -= w * row[c]
                sums[best, c] += w * row[c]
            norms[j] = inner_product(sums[j], sums[j])
            norms[best] = inner_product(sums[best], sums[best])
    return moved
