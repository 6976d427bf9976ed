"""Hartigan's passes over the cached table T = RZ [G alg 1; theory 4]."""

from __future__ import annotations

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["hartigan_passes"]


@njit
def hartigan_passes(
    R: FloatArray,
    labels: IntArray,
    sizes: IntArray,
    table: FloatArray,
    within: FloatArray,
    threshold: float,
    max_passes: int,
) -> tuple[int, bool]:
    """Move single points while W falls by more than `threshold`; all four state arrays change in place.

    `table[l, i]` is the sum of rho(x_i, y) over y in C_l and `within[l]` the sum of rho inside C_l, both over
    ordered pairs. A pass costs O(nk) and a move O(n). Returns the passes made and whether the last moved nothing.
    """
    n = labels.size
    k = sizes.size
    for passes in range(1, max_passes + 1):
        settled = True
        for i in range(n):
            j = labels[i]
            n_j = sizes[j]
            if n_j == 1:  # a cluster is never emptied [G thm 4]
                continue
            # [G 19] in terms of rho: what W loses when x_i leaves C_j ...
            fall = within[j] / (2 * n_j) - (within[j] - 2 * table[j, i]) / (2 * (n_j - 1))
            best_gain = threshold
            best = -1
            for l in range(k):  # ... and gains when it enters C_l [G 20]
                if l != j:
                    n_l = sizes[l]
                    rise = (within[l] + 2 * table[l, i]) / (2 * (n_l + 1)) - within[l] / (2 * n_l)
                    if fall - rise > best_gain:
                        best_gain = fall - rise
                        best = l
            if best >= 0:
                labels[i] = best
                sizes[j] -= 1
                sizes[best] += 1
                within[j] -= 2 * table[j, i]
                within[best] += 2 * table[best, i]
                for t in range(n):
                    table[j, t] -= R[i, t]
                    table[best, t] += R[i, t]
                settled = False
        if settled:
            return passes, True
    return max_passes, False
