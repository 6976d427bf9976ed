"""Run passes of Hartigan's method over the table T = RWZ, or over means in a feature space [G alg 1; theory 4, 6].

The loops over points are written out: a call of the linear algebra library for every row takes longer than the row,
and its threads would wait for each other.
"""

from __future__ import annotations

import numpy as np

from energystats._core import jit
from energystats._core.jit import njit
from energystats._core.threads import one_thread
from energystats._typing import FloatArray, IntArray

__all__ = [
    "added_within",
    "cluster_table",
    "cluster_tables",
    "hartigan_among_means",
    "hartigan_pass",
    "hartigan_passes",
    "inner_product",
    "sum_clusters",
    "summed",
    "tabulated",
    "tabulated_afresh",
    "tabulated_from",
]


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
    """Make one pass of Hartigan's method: move each point, in place, to where that lowers the within dispersion most.

    A move lowers it by more than `threshold`. `counts` and `mass` are the points and the sums of weights of the
    clusters, `table[l, i]` is the sum of w_y rho(x_i, y) over y in C_l, `within[l]` the sum of w_x w_y rho inside C_l,
    both over ordered pairs. A pass costs O(nk) and a move O(n). Returns the number of moves; the first of them fill the
    rows (point, from, to) of `moves`.
    """
    n = labels.size
    k = counts.size
    made = 0
    halves = np.empty(k)  # W of each cluster
    for l in range(k):
        halves[l] = within[l] / (2 * mass[l])
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
            # the table still holds x_i in C_j, and rho(x_i, x_i) = 0: both ordered pairs go, and come
            within[j] -= 2 * w * table[j, i]
            within[best] += 2 * w * table[best, i]
            halves[j] = within[j] / (2 * mass[j])
            halves[best] = within[best] / (2 * mass[best])
            # O(n) for each move, where the papers' pseudo-code recomputes the sums in O(n^2)
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
def added_within(within: FloatArray, mass: FloatArray) -> float:
    """Compute the within dispersion of a partition from the pair sums inside its clusters and their masses."""
    W = 0.0
    for j in range(mass.size):
        W += within[j] / (2 * mass[j])
    return W


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
    """Repeat passes of Hartigan's method until no point moves; check a promising end with sums computed anew.

    Promising is a W below `worth`. It ends after `max_iter` passes in any case, and one more over new sums. The sums
    that are updated from move to move gather rounding; a pass over new ones has to find no move either, so that
    rounding cannot end too early a search whose W is the lowest so far.
    """
    no_moves = np.empty((0, 3), np.intp)
    fresh = False
    made = 0
    while True:
        moved = hartigan_pass(R, weights, labels, counts, mass, table, within, threshold, no_moves)
        made += 1
        if moved == 0 and (fresh or added_within(within, mass) >= worth):
            break
        if moved == 0:  # the confirming pass is made in any case
            fresh = True
            _, exact_mass, exact_table, exact_within = tabulated_afresh(R, weights, labels, counts.size)
            # by hand: numba would compile the error of two arrays of different shapes as well, for seconds
            for j in range(counts.size):
                mass[j], within[j] = exact_mass[j], exact_within[j]
                for i in range(labels.size):
                    table[j, i] = exact_table[j, i]
            continue
        fresh = False
        if made >= max_iter:
            break


@njit
def cluster_table(R: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Compute the sum of w_y rho(y, x_i) over the points y of each cluster, for every point x_i; O(n^2); (k, n)."""
    n = labels.size
    table = np.zeros((k, n))
    for y in range(n):
        l = labels[y]
        w = weights[y]
        for i in range(n):
            table[l, i] += w * R[y, i]
    return table


@njit
def tabulated_afresh(
    R: FloatArray, weights: FloatArray, labels: IntArray, k: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Compute cluster sizes, masses, and sums of dissimilarities from points to clusters and within clusters; O(n^2).

    A mass is the sum of a cluster's weights.
    """
    table = cluster_table(R, weights, labels, k)
    counts, mass, within = summed(weights, labels, table)
    return counts, mass, table, within


@njit
def cluster_tables(R: FloatArray, weights: FloatArray, totals: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Compute sums of dissimilarities from points to clusters for s partitions, one a row; (s, n) -> (s, k, n).

    The row of the largest cluster is what the others leave of `totals`, R w, which saves most of the work for few
    clusters.
    """
    count, n = labels.shape
    tables = np.zeros((count, k, n))
    largest = np.zeros(count, np.intp)
    for s in range(count):
        sizes = np.zeros(k, np.intp)
        for y in range(n):
            sizes[labels[s, y]] += 1
        for l in range(k):
            if sizes[l] > sizes[largest[s]]:
                largest[s] = l
    for y in range(n):
        w = weights[y]
        for s in range(count):
            l = labels[s, y]
            if l != largest[s]:
                for i in range(n):
                    tables[s, l, i] += w * R[y, i]
    for s in range(count):
        for i in range(n):
            tables[s, largest[s], i] = totals[i]
        for l in range(k):
            if l != largest[s]:
                for i in range(n):
                    tables[s, largest[s], i] -= tables[s, l, i]
    return tables


@njit
def summed(weights: FloatArray, labels: IntArray, table: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Compute cluster sizes, masses (sums of weights) and within-cluster sums from point-to-cluster sums (k, n)."""
    k = table.shape[0]
    counts = np.zeros(k, np.intp)
    mass = np.zeros(k)
    within = np.zeros(k)
    for i in range(labels.size):
        counts[labels[i]] += 1
        mass[labels[i]] += weights[i]
        within[labels[i]] += weights[i] * table[labels[i], i]
    return counts, mass, within


@njit
def tabulated(
    R: FloatArray, weights: FloatArray, totals: FloatArray, labels: IntArray, k: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Compute cluster sizes, masses, point-to-cluster and within-cluster sums, given each point's sum to all points."""
    table = cluster_tables(R, weights, totals, labels.reshape(1, labels.size), k)[0]
    counts, mass, within = summed(weights, labels, table)
    return counts, mass, table, within


@njit
def tabulated_from(
    R: FloatArray,
    weights: FloatArray,
    totals: FloatArray,
    known: IntArray,
    known_table: FloatArray,
    labels: IntArray,
    k: int,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Update point-to-cluster sums where labels changed; return sizes, masses, these sums and within-cluster sums."""
    sizes = np.zeros(k, np.intp)
    changed = 0
    for i in range(labels.size):
        sizes[labels[i]] += 1
        changed += labels[i] != known[i]
    largest = 0
    for l in range(k):
        largest = max(largest, sizes[l])
    if 2 * changed >= labels.size - largest:  # two rows change with a point, one is filled from scratch
        return tabulated(R, weights, totals, labels, k)
    table = known_table.copy()
    for y in range(labels.size):
        old = known[y]
        new = labels[y]
        if new != old:
            w = weights[y]
            for i in range(labels.size):
                table[old, i] -= w * R[y, i]
                table[new, i] += w * R[y, i]
    counts, mass, within = summed(weights, labels, table)
    return counts, mass, table, within


@njit
def inner_product(x: FloatArray, y: FloatArray) -> float:
    """Compute the inner product of two short vectors, with eight partial sums in parallel; (p,), (p,) -> float."""
    p = x.size
    whole = p - p % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for c in range(0, whole, 8):
        s0 += x[c] * y[c]
        s1 += x[c + 1] * y[c + 1]
        s2 += x[c + 2] * y[c + 2]
        s3 += x[c + 3] * y[c + 3]
        s4 += x[c + 4] * y[c + 4]
        s5 += x[c + 5] * y[c + 5]
        s6 += x[c + 6] * y[c + 6]
        s7 += x[c + 7] * y[c + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for c in range(whole, p):
        total += x[c] * y[c]
    return total


def sum_clusters(rows: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Sum the weighted rows of each cluster; (n, p), (n,), (n,) -> (k, p), in O(n p) where loops are compiled."""
    if jit.numba is not None:
        return _add_rows(rows, weights, labels, k)
    with one_thread():
        return np.asarray(((labels[:, None] == np.arange(k)) * weights[:, None]).T @ rows)


@njit
def _add_rows(rows: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Sum the weighted rows of each cluster in a compiled loop over rows; (n, p), (n,), (n,) -> (k, p)."""
    sums = np.zeros((k, rows.shape[1]))
    for i in range(labels.size):
        j = labels[i]
        w = weights[i]
        for c in range(rows.shape[1]):
            sums[j, c] += w * rows[i, c]
    return sums


@njit
def hartigan_among_means(
    features: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    counts: IntArray,
    mass: FloatArray,
    sums: FloatArray,
    threshold: float,
) -> int:
    """Move every point in turn to the cluster that lowers the within sum of squares most, given cluster sums; in place.

    A point of weight w at the squared distance d from the mean of its cluster of mass s takes w s/(s - w) d away from
    W, and adds w s/(s + w) d to that of another one. No cluster is emptied. Returns the number of moves; O(n k p).
    """
    n = labels.size
    k = mass.size
    p = features.shape[1]
    # |x - mean|^2 = |x|^2 - 2 x'sum/mass + |sum|^2/mass^2, whose last term changes with a move only
    norms = np.empty(k)
    for l in range(k):
        norms[l] = inner_product(sums[l], sums[l])
    moved = 0
    for i in range(n):
        j = labels[i]
        if counts[j] == 1:
            continue
        w = weights[i]
        row = features[i]
        own = inner_product(row, row)
        best = j
        distance = own - 2 * inner_product(row, sums[j]) / mass[j] + norms[j] / mass[j] ** 2
        # [G 19, 20] with means: the factors s/(s - w) and s/(s + w) are what Lloyd's rule leaves out
        lowest = w * mass[j] / (mass[j] - w) * distance - threshold
        for l in range(k):
            if l != j:
                distance = own - 2 * inner_product(row, sums[l]) / mass[l] + norms[l] / mass[l] ** 2
                rises = w * mass[l] / (mass[l] + w) * distance
                if rises < lowest:
                    lowest = rises
                    best = l
        if best != j:
            moved += 1
            labels[i] = best
            counts[j] -= 1
            counts[best] += 1
            mass[j] -= w
            mass[best] += w
            for c in range(p):
                sums[j, c] -= w * row[c]
                sums[best, c] += w * row[c]
            norms[j] = inner_product(sums[j], sums[j])
            norms[best] = inner_product(sums[best], sums[best])
    return moved
