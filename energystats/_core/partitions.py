"""Numbers of clusters that do not depend on the order of the points, and labels from a hierarchy."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["cut", "numbering", "numbering_by_sums"]

ROUNDING = 1e-10  # of the sum of all values: what differs by less is tied


def numbering(labels: IntArray, masses: FloatArray, within: FloatArray, sums: FloatArray, scale: float) -> IntArray:
    """The number of each cluster 0, ..., k - 1 of the labels; (k,).

    Heavy clusters come first; of equally heavy ones those of small W_j, differences below 1e-10 of `scale` being
    rounding; then those of a small sum of rho to all points; and what is still tied goes by first points.
    """
    first = np.full(masses.size, labels.size, np.intp)
    np.minimum.at(first, labels, np.arange(labels.size))
    heaviness = levels(-masses, ROUNDING * float(masses.sum()))
    spread = levels(within, ROUNDING * scale)
    remoteness = levels(sums, ROUNDING * float(np.abs(sums).sum()))
    order = np.lexsort((first, remoteness, spread, heaviness))
    numbers = np.empty(masses.size, np.intp)
    numbers[order] = np.arange(masses.size)
    return numbers


def numbering_by_sums(labels: IntArray, M: FloatArray, s: FloatArray) -> IntArray:
    """The same from M = Z'RZ and the sums of weights."""
    scale = float(np.abs(M).sum()) / (2 * float(s.sum()))
    return numbering(labels, s, np.diagonal(M) / (2 * s), M.sum(axis=1), scale)


def levels(values: FloatArray, tolerance: float) -> IntArray:
    """Ranks from 0 upwards, one for values that no gap above the tolerance separates."""
    order = np.argsort(values, kind="stable")
    ranks = np.zeros(values.size, np.intp)
    ranks[order[1:]] = np.cumsum(np.diff(values[order]) > tolerance)
    return ranks


def cut(Z: FloatArray, k: int) -> IntArray:
    """Labels of k clusters, numbered like all others: all but the last k - 1 merges of a linkage matrix."""
    n = len(Z) + 1
    node = np.arange(2 * n - 1)
    W = np.zeros(2 * n - 1)
    for row, (a, b) in enumerate(Z[:, :2].astype(np.intp)):
        W[n + row] = W[a] + W[b] + Z[row, 2] / 2  # a height is twice the growth of W
    for row in range(n - k - 1, -1, -1):  # from the top down, children take the name of the union
        node[Z[row, :2].astype(np.intp)] = node[n + row]
    tops, labels = np.unique(node[:n], return_inverse=True)
    scale = float(np.abs(Z[:, 2]).sum()) / 2
    numbers = numbering(labels, np.bincount(labels).astype(np.float64), W[tops], np.zeros(tops.size), scale)
    return numbers[labels]
