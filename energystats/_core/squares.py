"""The loop of squared Euclidean distances."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["squared_differences"]

AT_ONCE = 1024  # points of Y whose sums stay in the fastest cache


@njit
def squared_differences(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Sum of squared differences, one column after another; (n, d), (d, m) -> (n, m).

    The points of Y come as columns, so that the innermost loop runs along contiguous numbers.
    """
    n, d = X.shape
    m = Y.shape[1]
    squares = np.zeros((n, m))
    for low in range(0, m, AT_ONCE):
        high = min(low + AT_ONCE, m)
        for i in range(n):
            sums = squares[i, low:high]
            for c in range(d):
                x, y = X[i, c], Y[c, low:high]
                for j in range(high - low):
                    difference = x - y[j]
                    sums[j] += difference * difference
    return squares
