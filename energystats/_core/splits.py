"""W of every split of sorted points into two runs, in O(n) [D alg 1, with prefix sums]."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray

__all__ = ["prefix_dispersion", "split_within"]


def prefix_dispersion(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """sum_{i < j <= m} w_i w_j |x_i - x_j| for every m, from the gaps of the sorted x; (n - 1,), (n,) -> (n,).

    Only non-negative terms are added, so nothing cancels.
    """
    to_prefix = np.cumsum(np.cumsum(weights)[:-1] * gaps)  # sum_{i < m} w_i (x_m - x_i)
    return np.concatenate(([0.0], np.cumsum(weights[1:] * to_prefix)))


def split_within(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """W of the split after each rank, [0..i] and [i+1..n-1] for i = 0..n-2; (n - 1,)."""
    mass = np.cumsum(weights)
    left = prefix_dispersion(gaps, weights)[:-1] / mass[:-1]
    right = prefix_dispersion(gaps[::-1], weights[::-1])[:-1] / np.cumsum(weights[::-1])[:-1]
    return np.asarray(left + right[::-1])
