"""Run Hartigan's method from several k-means++ starts, and from perturbations of the best partition among them.

Leaving a local optimum, clusters give way to others, and the search goes on from there. Two ways take turns: a random
swap (Franti 2018) dissolves one cluster and founds another one elsewhere; merge and split joins two clusters and parts
one in two.
"""

from __future__ import annotations

import numpy as np

from energystats._core.hartigan import (
    added_within,
    cluster_tables,
    hartigan_passes,
    summed,
    tabulated_afresh,
    tabulated_from,
)
from energystats._core.jit import njit
from energystats._core.kmeans_plus_plus import draw_index_or_none
from energystats._typing import FloatArray, IntArray

__all__ = ["AS_GOOD", "UNIFORMS", "lowest", "merge_and_split", "perturbed", "random_swap", "tries_for"]


AT_MOST = 20
PAIRS = 16_000_000  # n squared times the tries of a start, so that they cost about as much as the distances do
UNIFORMS = 5  # random numbers of one perturbation
AS_GOOD = 10  # times what W has to fall by: partitions no farther apart count as the same one found again


def tries_for(n: int) -> int:
    """Return how often a search perturbs a partition for each start: 20 times up to 894 points, less for more points.

    Not at all beyond 4,000.
    """
    return min(AT_MOST, PAIRS // (n * n))


@njit
def random_swap(
    R: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    mass: FloatArray,
    table: FloatArray,
    within: FloatArray,
    uniforms: FloatArray,
) -> IntArray:
    """Perturb a partition: dissolve one random cluster, form a new one around a random point, and return the labels.

    The points of a random cluster go to the nearest of the others. The seed of the new cluster is drawn as in
    k-means++, in proportion to its squared distance from its centre, and takes all points that are nearer to it than
    to their centres.
    """
    n = labels.size
    k = mass.size
    gone = int(uniforms[0] * k)
    swapped = labels.copy()
    own = np.empty(n)
    chances = np.zeros(n)
    # squared distance to the centre of C_l: T_li/s_l - w_l/(2 s_l^2), half of Lloyd's score [D alg 2]
    shift = np.empty(k)
    for l in range(k):
        shift[l] = within[l] / (2 * mass[l] ** 2)
    for i in range(n):
        if labels[i] == gone:
            nearest = np.inf
            for l in range(k):
                squared = table[l, i] / mass[l] - shift[l]
                if l != gone and squared < nearest:
                    nearest = squared
                    swapped[i] = l
            own[i] = nearest
        else:
            own[i] = table[labels[i], i] / mass[labels[i]] - shift[labels[i]]
        chances[i] = weights[i] * max(own[i], 0.0)
    seed = draw_index_or_none(chances, uniforms[1])
    if seed >= 0:
        for i in range(n):
            if R[seed, i] < own[i]:
                swapped[i] = gone
        swapped[seed] = gone
    return swapped


@njit
def merge_and_split(R: FloatArray, weights: FloatArray, labels: IntArray, k: int, uniforms: FloatArray) -> IntArray:
    """Perturb a partition: merge two clusters, and split one, maybe that one, by k-means++ seeds; return labels."""
    n = labels.size
    kept = int(uniforms[0] * k)
    freed = int(uniforms[1] * (k - 1))
    freed += freed >= kept
    parted = int(uniforms[2] * (k - 1))
    parted += parted >= freed
    merged = labels.copy()
    chances = np.zeros(n)
    for i in range(n):
        if merged[i] == freed:
            merged[i] = kept
        if merged[i] == parted:
            chances[i] = weights[i]
    first = draw_index_or_none(chances, uniforms[3])
    for i in range(n):
        chances[i] *= max(R[first, i], 0.0)
    chances[first] = 0.0
    second = draw_index_or_none(chances, uniforms[4])
    if second >= 0:
        for i in range(n):
            if merged[i] == parted and R[second, i] < R[first, i]:
                merged[i] = freed
        merged[second] = freed
    return merged


@njit
def perturbed(
    R: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    mass: FloatArray,
    table: FloatArray,
    within: FloatArray,
    uniforms: FloatArray,
    turn: int,
) -> tuple[IntArray, bool]:
    """Perturb a partition by a random swap or a merge and split; return labels, and whether no cluster is empty."""
    if turn % 2 == 0:
        other = random_swap(R, weights, labels, mass, table, within, uniforms)
    else:
        other = merge_and_split(R, weights, labels, mass.size, uniforms)
    counts = np.zeros(mass.size, np.intp)
    filled = 0
    for i in range(other.size):
        filled += counts[other[i]] == 0
        counts[other[i]] += 1
    return other, filled == mass.size


@njit
def lowest(
    R: FloatArray,
    weights: FloatArray,
    totals: FloatArray,
    k: int,
    threshold: float,
    max_iter: int,
    starts: IntArray,
    uniforms: FloatArray,
    turn: int,
    enough: int,
    labels: IntArray,
    origin: IntArray,
    standing: FloatArray,
) -> None:
    """Run Hartigan's method from each start and from perturbed best partitions; the best partition is updated in place.

    Labels, the labels that led to them, and `standing` (W, how often it was found) change in place, because Ctrl-C
    would break a result while Python makes objects of it. Perturbations end when the partition was found `enough`
    times. Another one takes its place only when W is lower by more than `threshold`. `starts` has a row of labels for
    each start, `uniforms` five numbers for each perturbation, of which `turn` is the number of the first.
    """
    W, found = standing[0], standing[1]
    mass, table, within = np.zeros(k), np.zeros((k, labels.size)), np.zeros(k)
    if np.inf > W:  # there is a partition already
        _, mass, table, within = tabulated_afresh(R, weights, labels, k)
    tables = cluster_tables(R, weights, totals, starts, k)
    for s in range(len(starts) + len(uniforms)):
        whole = True
        if s < len(starts):
            other = starts[s].copy()
        elif found >= enough:
            break
        else:
            t = s - len(starts)
            other, whole = perturbed(R, weights, labels, mass, table, within, uniforms[t], turn + t)
        if not whole:
            continue
        begun = other.copy()
        if s < len(starts):
            t_other = tables[s]
            n_other, m_other, w_other = summed(weights, other, t_other)
        else:
            n_other, m_other, t_other, w_other = tabulated_from(R, weights, totals, labels, table, other, k)
        hartigan_passes(R, weights, other, n_other, m_other, t_other, w_other, threshold, max_iter, W - threshold)
        # lower by more than rounding: a new best partition; equal to rounding: the best one was found once more
        now = added_within(w_other, m_other)
        if now < W - threshold:
            for i in range(labels.size):  # as in `hartigan_passes`, not as slices
                labels[i], origin[i] = other[i], begun[i]
            W, found = now, 1.0
            mass, table, within = m_other, t_other, w_other
        elif now < W + AS_GOOD * threshold:
            found += 1
        standing[0], standing[1] = W, found
