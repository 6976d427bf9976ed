"""The compiled loop of Gower's coefficient."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["fill_gower"]


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
    """1 - s from the rows of X to points given column by column; (n, d), (d, m), three (d,), (n, m), room for (m,).

    The inner loops run over points, without branches, so that the compiler can do several at once. `how` is 0 for a
    graded column, 1 for a matched one, 2 for presence and absence, as in `mixed.py`.
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
