"""W of every split of sorted points into two runs, in O(n) [D alg 1, with prefix sums]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["prefix_dispersion", "split_within"]


@njit
def prefix_dispersion(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """sum_{i < j <= m} w_i w_j |x_i - x_j| for every m, from the gaps of the sorted x; (n - 1,), (n,) -> (n,).

    Only non-negative terms are added, so nothing cancels.
    """
    sums = np.zeros(weights.size)
    to_prefix = 0.0  # sum_{i < m} w_i (x_m - x_i)
    mass = 0.0
    for m in range(1, weights.size):
        mass += weights[m - 1]
        to_prefix += mass * gaps[m - 1]
        sums[m] = sums[m - 1] + weights[m] * to_prefix
    return sums


@njit
def split_within(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """W of the split after each rank, [0..i] and [i+1..n-1] for i = 0..n-2; (n - 1,), (n,) -> (n - 1,)."""
    left = prefix_dispersion(gaps, weights)
    right = prefix_dispersion(gaps[::-1], weights[::-1])
    n = weights.size
    mass_left = 0.0
    mass = weights.sum()
    within = np.empty(n - 1)
    for i in range(n - 1):
        mass_left += weights[i]
        within[i] = left[i] / mass_left + right[n - 2 - i] / (mass - mass_left)
    return within
