"""The table T = RWZ of a labeling, one row of R after the other [theory 4]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["cluster_table"]


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
