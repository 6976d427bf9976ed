"""Labels of clusters: in the order of their first points, and from a hierarchy."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["cut", "renumber"]


def renumber(labels: IntArray) -> IntArray:
    """Clusters numbered in the order of their first points."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.intp)


def cut(Z: FloatArray, k: int) -> IntArray:
    """Labels of k clusters, numbered by their first points: all but the last k - 1 merges of a linkage matrix."""
    n = len(Z) + 1
    node = np.arange(2 * n - 1)
    for row in range(n - k - 1, -1, -1):  # from the top down, children take the name of the union
        node[Z[row, :2].astype(np.intp)] = node[n + row]
    return renumber(node[:n])
