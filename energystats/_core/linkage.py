"""Join clusters by energy: the recurrence of Lance and Williams, numbers of clusters, and cuts [theory 4]."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = ["agglomerate", "cut_linkage", "group_heights", "numbering", "numbering_by_sums"]


AT_ONCE = 2**25  # pairs of a merge and a cluster, handled in one call


@njit
def _refresh_row(
    H: FloatArray, x: int, active: IntArray, count: int, formed: IntArray, fresh: IntArray, now: int
) -> None:
    """Update one row of a matrix of merge heights with the heights to clusters formed since the row's last update.

    A union writes its own row alone: a column of a large matrix costs a miss of the cache for every entry, and most
    columns are needed by few clusters before the next merge.
    """
    row = H[x]
    since = fresh[x]
    if since < now:
        for a in range(count):
            i = active[a]
            if formed[i] > since:
                row[i] = H[i, x]
        fresh[x] = now


@njit
def _find_nearest_neighbour(row: FloatArray, own: int, active: IntArray, count: int, nearest: int) -> int:
    """Find the active cluster with the smallest merge height to a given one; a tie goes to a preferred one, if any."""
    smallest = row[nearest] if nearest >= 0 else np.inf
    for a in range(count):
        i = active[a]
        if i != own and row[i] < smallest:
            smallest = row[i]
            nearest = i
    return nearest


@njit
def _merge_rows(H: FloatArray, x: int, y: int, active: IntArray, count: int, sizes: IntArray) -> None:
    """Update merge heights to the union of clusters x and y by the Lance-Williams recurrence, in row y.

    A union is never nearer to a third cluster than both of its parts were; taking the larger of the two numbers keeps
    rounding from saying otherwise, so that heights never fall.
    """
    height = H[x, y]
    to_x = H[x]
    to_y = H[y]
    n_x = sizes[x]
    n_y = sizes[y]
    for a in range(count):
        i = active[a]
        if i != y:
            n_i = sizes[i]
            # Lance and Williams' recurrence with Ward's coefficients, which hold for every rho [theory 4]
            joined = ((n_x + n_i) * to_x[i] + (n_y + n_i) * to_y[i] - n_i * height) / (n_x + n_y + n_i)
            to_y[i] = max(joined, min(to_x[i], to_y[i]))
    sizes[y] += n_x


@njit
def _make_merges(
    H: FloatArray,
    sizes: IntArray,
    active: IntArray,
    chain: IntArray,
    length: int,
    formed: IntArray,
    fresh: IntArray,
    pairs: IntArray,
    heights: FloatArray,
    first: int,
    last: int,
) -> int:
    """Make some merges of clusters by nearest-neighbour chains, in place; return the length of the chain that is left.

    They are the merges `first` to `last` - 1.
    """
    n = H.shape[0]
    for merge in range(first, last):
        count = n - merge
        if length == 0:
            chain[0] = active[0]
            length = 1
        # follow nearest neighbours until two clusters are nearest to each other
        while True:
            x = chain[length - 1]
            previous = chain[length - 2] if length > 1 else -1
            _refresh_row(H, x, active, count, formed, fresh, merge)
            y = _find_nearest_neighbour(H[x], x, active, count, previous)
            if y == previous:
                break
            chain[length] = y
            length += 1
        length -= 2
        pairs[merge, 0] = x
        pairs[merge, 1] = y
        heights[merge] = H[x, y]
        kept = 0
        for a in range(count):
            if active[a] != x:
                active[kept] = active[a]
                kept += 1
        _refresh_row(H, y, active, count - 1, formed, fresh, merge)
        _merge_rows(H, x, y, active, count - 1, sizes)
        formed[y] = fresh[y] = merge + 1
    return length


def _merge_by_chains(H: FloatArray, sizes: IntArray, at_once: int = AT_ONCE) -> tuple[IntArray, FloatArray]:
    """Find all merges of clusters by nearest-neighbour chains; return cluster pairs and heights, unsorted.

    A chain leads from a cluster to its nearest neighbour and on, until two are nearest to each other: they merge. A
    union is not nearer to others than its parts were, so the rest of the chain stays valid.
    """
    n = len(H)
    active = np.arange(n)
    chain, length = np.empty(n, np.intp), 0
    formed, fresh = np.zeros(n, np.intp), np.zeros(n, np.intp)  # after which merge a cluster and its row are complete
    pairs, heights = np.empty((n - 1, 2), np.intp), np.empty(n - 1)
    merges = max(1, at_once // n)
    for first in range(0, n - 1, merges):  # in pieces, between which Ctrl-C is answered
        last = min(first + merges, n - 1)
        length = int(_make_merges(H, sizes, active, chain, length, formed, fresh, pairs, heights, first, last))
    return pairs, heights


@njit
def _write_linkage(pairs: IntArray, heights: FloatArray, order: IntArray, own: IntArray) -> FloatArray:
    """Build a SciPy linkage matrix from merges of clusters, their heights and the order of these; (n - 1, 4)."""
    n = heights.size + 1
    parent = np.arange(2 * n - 1)
    sizes = np.empty(2 * n - 1)
    for i in range(n):
        sizes[i] = own[i]
    Z = np.empty((n - 1, 4))
    for row in range(n - 1):
        merge = order[row]
        new = n + row
        ends = np.empty(2, np.intp)
        for side in range(2):
            # the cluster that holds the point by now, found with path halving
            node = pairs[merge, side]
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            ends[side] = node
            parent[node] = new
        sizes[new] = sizes[ends[0]] + sizes[ends[1]]
        Z[row, 0] = min(ends[0], ends[1])
        Z[row, 1] = max(ends[0], ends[1])
        Z[row, 2] = heights[merge]
        Z[row, 3] = sizes[new]
    return Z


def agglomerate(H: FloatArray, sizes: AnyArray | None = None) -> FloatArray:
    """Compute a SciPy linkage matrix of energy clustering from merge heights of all pairs of points; (n - 1, 4).

    `H` is overwritten. With `sizes` it holds the heights of all pairs of groups, n1 n2/(n1 + n2) E, as `group_heights`
    makes them; the last column then counts points, or sums their weights. O(n^2) time. A height is never below those
    of its parts, whatever the sign of rho.
    """
    if len(H) < 2:
        return np.empty((0, 4))
    sizes = np.ones(len(H), np.intp) if sizes is None else sizes
    pairs, heights = _merge_by_chains(H, sizes.copy())
    return np.asarray(_write_linkage(pairs, heights, np.argsort(heights, kind="stable"), sizes))


def group_heights(E: FloatArray, sizes: AnyArray) -> FloatArray:
    """Compute merge heights n1 n2/(n1 + n2) E from energy distances E, for all pairs of groups; (k, k)."""
    first, second = sizes[:, None].astype(np.float64), sizes[None, :].astype(np.float64)
    return np.asarray(E * first * second / (first + second))


ROUNDING = 1e-10  # of the sum of all values: what differs by less is tied


def numbering(labels: IntArray, masses: FloatArray, within: FloatArray, sums: FloatArray, scale: float) -> IntArray:
    """Compute new cluster numbers 0, ..., k - 1, heavy clusters first, where the order of rows decides only ties; (k,).

    Heavy clusters come first; of equally heavy ones those of small W_j, differences below 1e-10 of `scale` being
    rounding; then those of a small sum of rho to all points; and what is still tied goes by first points.
    """
    first = np.full(masses.size, labels.size, np.intp)
    np.minimum.at(first, labels, np.arange(labels.size))
    heaviness = _rank_levels(-masses, ROUNDING * float(masses.sum()))
    spread = _rank_levels(within, ROUNDING * scale)
    remoteness = _rank_levels(sums, ROUNDING * float(np.abs(sums).sum()))
    order = np.lexsort((first, remoteness, spread, heaviness))
    numbers = np.empty(masses.size, np.intp)
    numbers[order] = np.arange(masses.size)
    return numbers


def numbering_by_sums(labels: IntArray, M: FloatArray, s: FloatArray) -> IntArray:
    """Compute new cluster numbers, heavy clusters first, from their sums of dissimilarities and of weights; (k,).

    The sums of dissimilarities are M = Z'RZ; the order of rows does not matter.
    """
    scale = float(np.abs(M).sum()) / (2 * float(s.sum()))
    return numbering(labels, s, np.diagonal(M) / (2 * s), M.sum(axis=1), scale)


def _rank_levels(values: FloatArray, tolerance: float) -> IntArray:
    """Rank values from 0 upwards; neighbours in sorted order that differ by at most a tolerance share a rank."""
    order = np.argsort(values, kind="stable")
    ranks = np.zeros(values.size, np.intp)
    ranks[order[1:]] = np.cumsum(np.diff(values[order]) > tolerance)
    return ranks


def cut_linkage(Z: FloatArray, k: int) -> IntArray:
    """Cut a SciPy linkage matrix into k clusters, and return the label of every point; (n - 1, 4) -> (n,).

    The last k - 1 merges are left out.
    """
    n = len(Z) + 1
    node = np.arange(2 * n - 1)
    W = np.zeros(2 * n - 1)
    for row, (a, b) in enumerate(Z[:, :2].astype(np.intp)):
        W[n + row] = W[a] + W[b] + Z[row, 2] / 2  # a height is twice the growth of W
    for row in range(n - k - 1, -1, -1):  # from the top down, children take the name of the union
        node[Z[row, :2].astype(np.intp)] = node[n + row]
    tops, labels = np.unique(node[:n], return_inverse=True)
    scale = float(np.abs(Z[:, 2]).sum()) / 2
    numbers = numbering(labels, np.bincount(labels).astype(np.float64), W[tops], np.zeros(tops.size), scale)
    return numbers[labels]
