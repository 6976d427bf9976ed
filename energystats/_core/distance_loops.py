"""Fill arrays of distances in compiled loops: Euclidean ones, and Gower's coefficient."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["fill_distances", "fill_gower"]


AT_ONCE = 1024  # points of Y whose sums stay in the fastest cache


@njit
def fill_distances(X: FloatArray, Y: FloatArray, root: bool, out: FloatArray) -> None:
    """Fill `out` with Euclidean distances of rows of X to columns of Y, or their squares; (n, d), (d, m) -> (n, m).

    The points of Y come as columns, so that the innermost loop runs along contiguous numbers.
    """
    n, d = X.shape
    m = Y.shape[1]
    for low in range(0, m, AT_ONCE):
        high = min(low + AT_ONCE, m)
        for i in range(n):
            sums = out[i, low:high]
            sums[:] = 0.0
            for c in range(d):
                x, y = X[i, c], Y[c, low:high]
                for j in range(high - low):
                    difference = x - y[j]
                    sums[j] += difference * difference
            if root:
                for j in range(high - low):
                    sums[j] = np.sqrt(sums[j])


@njit
def fill_gower(
    X: FloatArray,
    columns: FloatArray,
    ranges: FloatArray,
    weights: FloatArray,
    how: IntArray,
    out: FloatArray,
    total: FloatArray,
) -> None:
    """Fill `out` with Gower's dissimilarity 1 - s of all pairs of rows of two data sets; (n, d), (d, m) -> (n, m).

    The inner loops run over points, without branches, so that the compiler can do several at once. `how` is 0 for a
    graded column, 1 for a matched one, 2 for presence and absence; `total`, (m,), is overwritten.
    """
    d, m = columns.shape
    for i in range(X.shape[0]):
        row = out[i]
        for j in range(m):
            row[j] = 0.0
            total[j] = 0.0
        for k in range(d):
            x, width, weight, others = X[i, k], ranges[k], weights[k], columns[k]
            if x != x:  # missing
                continue
            if how[k] == 0:
                for j in range(m):
                    gap = abs(x - others[j]) / width
                    there = gap == gap
                    row[j] += gap * weight if there else 0.0
                    total[j] += weight if there else 0.0
            elif how[k] == 1 or x != 0:
                for j in range(m):
                    there = others[j] == others[j]
                    row[j] += weight if there and others[j] != x else 0.0
                    total[j] += weight if there else 0.0
            else:  # absent here: only presence there counts
                for j in range(m):
                    there = others[j] > 0
                    row[j] += weight if there else 0.0
                    total[j] += weight if there else 0.0
        for j in range(m):
            row[j] = row[j] / total[j] if total[j] > 0 else np.nan
