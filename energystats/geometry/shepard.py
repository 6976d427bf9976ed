"""Compare dissimilarities with distances on their first principal axes, by Kruskal's stress."""

from __future__ import annotations

import numpy as np

from energystats._core.gram import largest_eigenpairs
from energystats._typing import FloatArray

__all__ = ["axis_distances", "kruskal_stress"]


def axis_distances(R: FloatArray, dimensions: int) -> FloatArray:
    """Compute distances between points on the first principal axes of squared dissimilarities; (n, n) -> (n, n)."""
    # squared distances add up over axes, each of which is an eigenvector times the root of its eigenvalue
    values, vectors = largest_eigenpairs(lambda columns: R @ columns, np.ones(len(R)), dimensions)
    squared = np.zeros_like(R)
    for axis in (vectors * np.sqrt(np.maximum(values, 0.0))).T:
        squared += np.subtract.outer(axis, axis) ** 2
    return np.asarray(np.sqrt(squared))


def kruskal_stress(given: FloatArray, shown: FloatArray) -> float:
    """Compute Kruskal's stress 1 between given and shown distances, without transforming the given ones."""
    size = float((given**2).sum())
    return float(np.sqrt(((given - shown) ** 2).sum() / size)) if size > 0 else 0.0
