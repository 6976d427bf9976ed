"""Lower the cut of a graph's partition by single moves, over its sparse adjacency [theory 4]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["cut_passes"]


@njit
def cut_passes(
    starts: IntArray,
    neighbours: IntArray,
    links: FloatArray,
    offsets: FloatArray,
    loops: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    sizes: IntArray,
    weighty: IntArray,
    costs: FloatArray,
    masses: FloatArray,
    threshold: float,
    max_passes: int,
) -> tuple[int, bool]:
    """Move single vertices between clusters of a graph while that lowers the sum of cluster costs over cluster masses.

    Each cluster has a cost and a mass. The adjacency is in compressed rows: `links[starts[i]:starts[i + 1]]` belong to
    `neighbours` of vertex i, and `loops` is its diagonal. `costs[l]` is the sum over C_l of `offsets` less all links
    inside C_l (both ways), and `masses[l]` the sum of `weights`; `weighty` counts the vertices of positive weight, and
    a cluster without any has the quotient 0. The five arrays from `labels` on change in place. A vertex costs its
    degree plus k. Returns the passes made and whether the last moved nothing.
    """
    n = labels.size
    k = sizes.size
    to = np.empty(k)  # links of one vertex to every cluster, itself included
    for passes in range(1, max_passes + 1):
        converged = True
        for i in range(n):
            j = labels[i]
            if sizes[j] == 1:  # a cluster is never emptied
                continue
            to[:] = 0.0
            for e in range(starts[i], starts[i + 1]):
                to[labels[neighbours[e]]] += links[e]
            # leaving C_j takes b from its cost, and adds the links to C_j, which are inside no longer, both ways
            b = offsets[i] - loops[i]
            w = weights[i]
            counts = 1 if w > 0 else 0
            left = costs[j] - b + 2 * (to[j] - loops[i])
            now = costs[j] / masses[j] if weighty[j] > 0 else 0.0
            fall = now - (left / (masses[j] - w) if weighty[j] > counts else 0.0)
            best_gain = threshold
            best = -1
            for l in range(k):
                if l != j:
                    now = costs[l] / masses[l] if weighty[l] > 0 else 0.0
                    then = (costs[l] + b - 2 * to[l]) / (masses[l] + w) if weighty[l] + counts > 0 else 0.0
                    if fall - (then - now) > best_gain:
                        best_gain = fall - (then - now)
                        best = l
            if best >= 0:
                labels[i] = best
                sizes[j] -= 1
                sizes[best] += 1
                weighty[j] -= counts
                weighty[best] += counts
                costs[j] = left
                costs[best] += b - 2 * to[best]
                masses[j] -= w
                masses[best] += w
                converged = False
        if converged:
            return passes, True
    return max_passes, False
