"""Passes of Hartigan's method over the cached table T = RWZ [G alg 1; theory 4, 6]."""

from __future__ import annotations

import numpy as np

from energystats._core.cluster_sums import tabulated_afresh
from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["hartigan_pass", "hartigan_passes"]


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
    halves = within / (2 * mass)  # W of each cluster
    for i in range(n):
        j = labels[i]
        if counts[j] == 1:  # a cluster is never emptied [G thm 4]
            continue
        w = weights[i]
        # [G 19] in terms of rho: what W loses when x_i leaves C_j, per unit of weight ...
        fall = (table[j, i] - halves[j]) / (mass[j] - w)
        least = np.inf
        best = j
        for l in range(k):  # ... and gains when it enters C_l [G 20]; without branches, which cost more than divisions
            rise = (table[l, i] - halves[l]) / (mass[l] + w)
            lower = (l != j) & (rise < least)
            least = rise if lower else least
            best = l if lower else best
        if (fall - least) * w > threshold:
            labels[i] = best
            counts[j] -= 1
            counts[best] += 1
            mass[j] -= w
            mass[best] += w
            within[j] -= 2 * w * table[j, i]
            within[best] += 2 * w * table[best, i]
            halves[j] = within[j] / (2 * mass[j])
            halves[best] = within[best] / (2 * mass[best])
            for t in range(n):
                table[j, t] -= w * R[i, t]
                table[best, t] += w * R[i, t]
            if made < moves.shape[0]:
                moves[made, 0] = i
                moves[made, 1] = j
                moves[made, 2] = best
            made += 1
    return made


@njit
def hartigan_passes(
    R: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    counts: IntArray,
    mass: FloatArray,
    table: FloatArray,
    within: FloatArray,
    threshold: float,
    max_iter: int,
    worth: float,
) -> None:
    """Passes until nothing moves; where W is below `worth` then, over sums from scratch once more, which must agree.

    So rounding that was gathered on the way cannot end a search that counts too early.
    """
    no_moves = np.empty((0, 3), np.intp)
    fresh = False
    made = 0
    while True:
        moved = hartigan_pass(R, weights, labels, counts, mass, table, within, threshold, no_moves)
        made += 1
        if moved == 0 and (fresh or np.sum(within / (2 * mass)) >= worth):
            break
        if moved == 0:  # the confirming pass is made in any case
            fresh = True
            _, exact_mass, exact_table, exact_within = tabulated_afresh(R, weights, labels, counts.size)
            mass[:], table[:], within[:] = exact_mass, exact_table, exact_within
            continue
        fresh = False
        if made >= max_iter:
            break
