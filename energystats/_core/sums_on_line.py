"""Loop over sorted points of one column, for the sums of many labelings or bins at once."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["add_over_gaps", "bin_sums_over_gaps", "sum_across", "sums_over_gaps"]


ROWS_PER_SUM = 1024  # gaps whose terms are added before they join the total, so that little rounding adds up


@njit
def sums_over_gaps(gaps: FloatArray, order: IntArray, Z: FloatArray) -> FloatArray:
    """Compute sums of |x_i - x_j| between groups for b labelings from gaps of sorted x; (n, k, b) -> (k, k, b).

    A gap between neighbours is part of the distance of every pair on its two sides: groups j and l gain the gap times
    (below_j above_l + above_j below_l). All terms are non-negative for non-negative Z.
    """
    n, k, b = Z.shape
    mass, below = np.zeros((k, b)), np.zeros((k, b))
    for i in range(n):
        for j in range(k):
            for c in range(b):
                mass[j, c] += Z[i, j, c]
    M, part = np.zeros((k, k, b)), np.zeros((k, k, b))
    for i in range(n - 1):
        row, gap = order[i], gaps[i]
        for j in range(k):
            for c in range(b):
                below[j, c] += Z[row, j, c]
        # pairs with one point on each side of the gap, once for every group
        for j in range(k):
            for l in range(j + 1):
                for c in range(b):
                    crossing = below[j, c] * (mass[l, c] - below[l, c]) + below[l, c] * (mass[j, c] - below[j, c])
                    part[j, l, c] += gap * crossing
        if (i + 1) % ROWS_PER_SUM == 0 or i == n - 2:
            M += part
            part[:] = 0.0
    for j in range(k):
        for l in range(j):
            M[l, j] = M[j, l]
    return M


@njit
def add_over_gaps(gaps: FloatArray, order: IntArray, codes: IntArray, weights: FloatArray, above: FloatArray) -> None:
    """Add sums of |x_i - x_j| between many groups, for b labelings, from gaps of sorted x; (b, n) -> (b, k, k).

    The weighted distances from a point down to those of each group below it grow with every gap by their mass times the
    gap: non-negative terms, O(n k) a labeling. The sums and their transpose together count each ordered pair once.
    """
    n, k = order.size, above.shape[1]
    for b in range(codes.shape[0]):
        mass, distance = np.zeros(k), np.zeros(k)
        for i in range(n):
            row = order[i]
            group, weight = codes[b, row], weights[row]
            for l in range(k):
                if i > 0:
                    distance[l] += gaps[i - 1] * mass[l]
                above[b, group, l] += weight * distance[l]
            mass[group] += weight


@njit
def sum_across(x: FloatArray, y: FloatArray) -> float:
    """Sum |x_i - y_j| over all pairs of values of two sorted samples; (n,), (m,) -> float."""
    n, m = x.size, y.size
    i = j = 0
    last = min(x[0], y[0])
    total = part = 0.0
    for t in range(n + m):
        # i of x and j of y lie below the gap
        crossing = i * float(m - j) + j * float(n - i)
        if j == m or (i < n and x[i] <= y[j]):
            here = x[i]
            i += 1
        else:
            here = y[j]
            j += 1
        part += (here - last) * crossing
        last = here
        if t % ROWS_PER_SUM == 0:
            total += part
            part = 0.0
    return total + part


@njit
def bin_sums_over_gaps(
    gaps: FloatArray, order: IntArray, codes: IntArray, weights: FloatArray, n_bins: int
) -> FloatArray:
    """Sum w_x w_y |x - y| over the pairs of points of each two bins, from gaps of sorted x; (n_bins, n_bins).

    While the points pass in order, `behind` holds for each bin the weighted sum of the distances from the present point
    back to those that have passed; it grows by the gap times their weight, so that nothing cancels.
    """
    n = order.size
    half = np.zeros((n_bins, n_bins))
    mass, behind = np.zeros(n_bins), np.zeros(n_bins)
    for i in range(n):
        row = order[i]
        own, w = codes[row], weights[row]
        if i > 0:
            gap = gaps[i - 1]
            for c in range(n_bins):
                behind[c] += gap * mass[c]
        for c in range(n_bins):
            half[own, c] += w * behind[c]
        mass[own] += w
    sums = np.empty((n_bins, n_bins))
    for b in range(n_bins):
        for c in range(n_bins):
            sums[b, c] = half[b, c] + half[c, b]
    return sums
