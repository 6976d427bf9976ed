"""One pass of Hartigan's method over the cached table T = RWZ [G alg 1; theory 4, 6]."""

from __future__ import annotations

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["hartigan_pass"]


@njit
def hartigan_pass(
    R: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    counts: IntArray,
    mass: FloatArray,
    table: FloatArray,
    within: FloatArray,
    threshold: float,
    moves: IntArray,
) -> int:
    """Visit every point once and move it where W falls the most, by more than `threshold`; the state changes in place.

    `counts` and `mass` are the points and the sums of weights of the clusters, `table[l, i]` is the sum of
    w_y rho(x_i, y) over y in C_l, `within[l]` the sum of w_x w_y rho inside C_l, both over ordered pairs. A pass costs
    O(nk) and a move O(n). Returns the number of moves; the first of them fill the rows (point, from, to) of `moves`.
    """
    n = labels.size
    k = counts.size
    made = 0
    for i in range(n):
        j = labels[i]
        if counts[j] == 1:  # a cluster is never emptied [G thm 4]
            continue
        w = weights[i]
        # [G 19] in terms of rho: what W loses when x_i leaves C_j ...
        fall = within[j] / (2 * mass[j]) - (within[j] - 2 * w * table[j, i]) / (2 * (mass[j] - w))
        best_gain = threshold
        best = -1
        for l in range(k):  # ... and gains when it enters C_l [G 20]
            if l != j:
                rise = (within[l] + 2 * w * table[l, i]) / (2 * (mass[l] + w)) - within[l] / (2 * mass[l])
                if fall - rise > best_gain:
                    best_gain = fall - rise
                    best = l
        if best >= 0:
            labels[i] = best
            counts[j] -= 1
            counts[best] += 1
            mass[j] -= w
            mass[best] += w
            within[j] -= 2 * w * table[j, i]
            within[best] += 2 * w * table[best, i]
            for t in range(n):
                table[j, t] -= w * R[i, t]
                table[best, t] += w * R[i, t]
            if made < moves.shape[0]:
                moves[made, 0] = i
                moves[made, 1] = j
                moves[made, 2] = best
            made += 1
    return made
