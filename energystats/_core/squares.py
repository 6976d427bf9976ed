"""The loop of Euclidean distances."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["fill_distances"]

AT_ONCE = 1024  # points of Y whose sums stay in the fastest cache


@njit
def fill_distances(X: FloatArray, Y: FloatArray, root: bool, out: FloatArray) -> None:
    """Sum of squared differences, one column after another, or its root; (n, d), (d, m) -> (n, m).

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
