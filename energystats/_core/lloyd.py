"""Run one pass of Lloyd's rule, (weighted) kernel k-means, over the cached table T = RWZ [D alg 2; theory 4, 6]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["lloyd_pass"]


@njit
def lloyd_pass(
    R: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    counts: IntArray,
    mass: FloatArray,
    table: FloatArray,
    within: FloatArray,
) -> tuple[int, float]:
    """Make one pass of Lloyd's method: move every point to its nearest cluster centre, all at once; in place.

    The state is that of `hartigan_pass`. A cluster left empty takes the point that is farthest from its
    own cluster, among clusters of two points or more. Returns the number of points that changed cluster and the sum
    of what they come nearer to the centres as they stood before the pass. W falls by at least that sum when rho is
    of negative type, because the new means are then the best centres of the new clusters.
    """
    n = labels.size
    k = counts.size
    before = labels.copy()
    cost = np.empty(n)  # of each point in its new cluster
    counts[:] = 0
    nearer = 0.0
    for i in range(n):
        best = before[i]
        own_cost = 2 * table[best, i] / mass[best] - within[best] / mass[best] ** 2  # twice the squared distance
        best_cost = own_cost
        for l in range(k):
            there = 2 * table[l, i] / mass[l] - within[l] / mass[l] ** 2
            if there < best_cost:
                best_cost = there
                best = l
        labels[i] = best
        cost[i] = best_cost
        nearer += weights[i] * (own_cost - best_cost) / 2
        counts[best] += 1
    # the rule may empty a cluster [theory 4]: it starts again from the point that is farthest from its own centre
    for l in range(k):
        if counts[l] == 0:
            farthest = -1
            for i in range(n):
                if counts[labels[i]] > 1 and (farthest < 0 or cost[i] > cost[farthest]):
                    farthest = i
            counts[labels[farthest]] -= 1
            labels[farthest] = l
            counts[l] = 1
            nearer += weights[farthest] * cost[farthest] / 2  # the point is the centre of its new cluster
    # all points have moved at once; now the table follows, O(n) for each point that moved
    moved = 0
    for i in range(n):
        j = before[i]
        l = labels[i]
        if l != j:
            moved += 1
            for t in range(n):
                table[j, t] -= weights[i] * R[i, t]
                table[l, t] += weights[i] * R[i, t]
    mass[:] = 0.0
    within[:] = 0.0
    for i in range(n):
        mass[labels[i]] += weights[i]
        within[labels[i]] += weights[i] * table[labels[i], i]
    return moved, nearer
