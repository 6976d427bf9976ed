"""Find the nearest unimodal distribution of a sample, and its distance from the sample [theory 5].

F_i = i/(n - 1) at the sorted points; a distribution function is unimodal when it is convex up to a mode and
concave after it. The knots of the nearest one are data points, so they are kept as indices.
"""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._core.normal_mixture import mixture_ratio
from energystats._typing import FloatArray, IntArray

__all__ = [
    "DISTANCE",
    "EXCESS",
    "RATIO",
    "compute_indices",
    "excess_split",
    "indices_of_draws",
    "narrow_gaps",
    "nearest_unimodal",
    "unimodal_density",
]


RATIO, EXCESS, DISTANCE = range(3)  # columns of the indices
OUTER = 0.05  # share of points on either side, which the width of the others does not count
WIDE_GAP = 3.0  # such widths
MOST_GAPS = 6  # that share it


def narrow_gaps(x: FloatArray) -> FloatArray:
    """Shrink gaps in sorted x that are wider than three times the range of its central 90 %; (n,) -> (n,).

    The indices are measured in the spread of all points, in which a few of them far away would hide the others. All
    that are wide have this width together afterwards, unless that is below half of the nine tenths for each, and no
    gap is wider than they are: density that falls towards the ends does not rise there.
    """
    outer = max(1, int(OUTER * x.size))
    if x.size <= 2 * outer:
        return x
    gaps, widest = np.diff(x), WIDE_GAP * (x[-1 - outer] - x[outer])
    wide = np.count_nonzero(gaps > widest)
    if not widest > 0.0 or wide == 0:
        return x
    gaps = np.minimum(gaps, widest / min(wide, MOST_GAPS))
    middle = x.size // 2  # a point far out would take the digits of the others
    left, right = np.cumsum(gaps[:middle][::-1])[::-1], np.cumsum(gaps[middle:])
    return np.concatenate((x[middle] - left, x[middle : middle + 1], x[middle] + right))


@njit
def _extend_hull(x: FloatArray, before: IntArray, end: int, last: int) -> int:
    """Extend the hulls, greatest convex minorants, of a distribution function from x[end] to x[last]; return the end.

    `before[i]` is the knot before i in the hull of the points up to x[i], so that it holds the hulls of them all.
    """
    for i in range(end + 1, last + 1):
        b = i - 1
        # the last knot goes while the slope does not rise there, as in a hull of points
        while b > 0:
            a = before[b]
            if (b - a) * (x[i] - x[b]) - (i - b) * (x[b] - x[a]) < 0.0:
                break
            b = a
        before[i] = b
    return max(end, last)


@njit
def _list_knots(before: IntArray, last: int) -> IntArray:
    """List the indices of the knots of the hull that ends at x[last]."""
    m = 1
    b = last
    while b > 0:
        b = before[b]
        m += 1
    knots = np.empty(m, np.intp)
    b = last
    for j in range(m - 1, -1, -1):
        knots[j] = b
        b = before[b]
    return knots


@njit
def _measure_hull(x: FloatArray, before: IntArray, distances: FloatArray, last: int) -> float:
    """Compute n - 1 times the largest distance of the points up to x[last] from their hull.

    That up to each knot is kept in `distances`, which are negative where they are not known.
    """
    knots = _list_knots(before, last if distances[last] < 0.0 else 0)
    distance: float = distances[last]
    for j in range(1, knots.size):
        a = knots[j - 1]
        b = knots[j]
        if distances[b] >= 0.0:
            continue
        distance = distances[a]
        if x[b] > x[a]:  # otherwise tied values, a vertical edge
            slope = (b - a) / (x[b] - x[a])
            for i in range(a + 1, b):
                distance = max(distance, abs(a + slope * (x[i] - x[a]) - i))
        distances[b] = distance
    return distance


@njit
def nearest_unimodal(x: FloatArray) -> IntArray:
    """Find the unimodal distribution function nearest in sup norm to that of sorted x; return the indices of its knots.

    The distance of the convex side grows with the mode and that of the concave side falls, so the best mode is found
    by bisection, in which hulls are extended and not recomputed; O(n log n). The concave side is the convex one of -x.
    """
    n = x.size
    mirrored = np.empty(n)
    for i in range(n):
        mirrored[i] = -x[n - 1 - i]
    # of the points up to the mode, and of those of -x down to it
    left = np.zeros(n, np.intp)
    right = np.zeros(n, np.intp)
    left_distances = np.full(n, -1.0)
    right_distances = np.full(n, -1.0)
    left_distances[0] = right_distances[0] = 0.0
    left_end = 0
    right_end = 0
    low = 0
    high = n - 1
    while high - low > 1:
        mode = (low + high) // 2
        left_end = _extend_hull(x, left, left_end, mode)
        right_end = _extend_hull(mirrored, right, right_end, n - 1 - mode)
        on_left = _measure_hull(x, left, left_distances, mode)
        if on_left < _measure_hull(mirrored, right, right_distances, n - 1 - mode):
            low = mode
        else:
            high = mode
    left_end = _extend_hull(x, left, left_end, high)
    right_end = _extend_hull(mirrored, right, right_end, n - 1 - low)
    at_low = _measure_hull(mirrored, right, right_distances, n - 1 - low)
    at_low = max(at_low, _measure_hull(x, left, left_distances, low))
    at_high = _measure_hull(mirrored, right, right_distances, n - 1 - high)
    at_high = max(at_high, _measure_hull(x, left, left_distances, high))
    mode = low if at_low <= at_high else high
    convex = _list_knots(left, mode)
    concave = _list_knots(right, n - 1 - mode)  # its last knot is that of the convex side
    knots = np.empty(convex.size + concave.size - 1, np.intp)
    for j in range(convex.size):
        knots[j] = convex[j]
    for j in range(1, concave.size):
        knots[knots.size - j] = n - 1 - concave[j - 1]
    return knots


def unimodal_density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute edges and heights of the unimodal density nearest to sorted points; empty if all are equal."""
    if x.size < 2 or x[0] == x[-1]:
        return np.empty(0), np.empty(0)
    knots = nearest_unimodal(x)
    edges = x[knots]
    kept = knots[np.append(True, np.diff(edges) > 0)]
    kept[-1] = x.size - 1  # points that tie at the end belong to the last interval
    return x[kept], np.diff(kept) / (x.size - 1) / np.diff(x[kept])


@njit
def _compute_quantiles(x: FloatArray, knots: IntArray, ranks: FloatArray) -> FloatArray:
    """Compute quantiles of a piecewise linear distribution function with given knots at ascending ranks."""
    out = np.empty(ranks.size)
    j = 0
    for i in range(ranks.size):
        while j < knots.size - 2 and ranks[i] > knots[j + 1]:
            j += 1
        a = knots[j]
        b = knots[j + 1]
        out[i] = x[a] + (x[b] - x[a]) * ((ranks[i] - a) / (b - a))
    return out


@njit
def _split_profile(x: FloatArray) -> FloatArray:
    """Compute the between share S/T of every split of sorted x in two, for rho = |x - y|; (n,) -> (n - 1,).

    Sums of distances between the first points, and between the last, grow by non-negative terms: nothing cancels.
    """
    n = x.size
    first = np.zeros(n + 1)  # of so many points
    last = np.zeros(n + 1)
    to_first = 0.0
    to_last = 0.0
    for i in range(1, n):
        to_first += i * (x[i] - x[i - 1])
        to_last += i * (x[n - i] - x[n - i - 1])
        first[i + 1] = first[i] + to_first
        last[i + 1] = last[i] + to_last
    T = first[n] / n
    profile = np.zeros(n - 1)
    if T > 0.0:
        for i in range(1, n):
            profile[i - 1] = 1.0 - (first[i] / i + last[n - i] / (n - i)) / T
    return profile


@njit
def excess_split(x: FloatArray) -> float:
    """Compute the excess-split index E: the most by which S/T of a split of sorted x exceeds that of a unimodal fit."""
    if x[-1] <= x[0]:
        return 0.0
    return _compute_excess(x, _compute_quantiles_at_ranks(x))


@njit
def _compute_quantiles_at_ranks(x: FloatArray) -> FloatArray:
    """Compute quantiles of the nearest unimodal distribution, one for each rank of sorted x; (n,) -> (n,)."""
    knots = nearest_unimodal(x)
    out = np.empty(x.size)
    out[0] = x[0]
    for j in range(1, knots.size):
        a = knots[j - 1]
        b = knots[j]
        width = x[b] - x[a]
        for i in range(a + 1, b + 1):
            out[i] = x[a] + width * ((i - a) / (b - a))
    return out


@njit
def _compute_excess(x: FloatArray, fitted: FloatArray) -> float:
    """Compute the excess-split index E of sorted x against quantiles of a unimodal distribution; (n,), (n,)."""
    profile = _split_profile(x)
    unimodal = _split_profile(fitted)
    excess = -np.inf
    for i in range(profile.size):
        excess = max(excess, profile[i] - unimodal[i])
    return excess


@njit
def compute_indices(x: FloatArray) -> FloatArray:
    """Compute three statistics of sorted x against unimodality, all 0 if x is constant; (n,) -> (3,).

    RATIO is the log likelihood ratio of 2 or 3 normals to a unimodal density; EXCESS is the excess-split index E;
    DISTANCE the mean distance of the points from the quantiles of the nearest unimodal distribution, in mean deviations
    from the median.
    """
    out = np.zeros(3)
    if x[-1] <= x[0]:
        return out
    fitted = _compute_quantiles_at_ranks(x)
    out[RATIO] = mixture_ratio(x)
    out[EXCESS] = _compute_excess(x, fitted)
    distance = 0.0
    deviation = 0.0
    for i in range(x.size):
        distance += abs(x[i] - fitted[i])
        deviation += abs(x[i] - x[x.size // 2])
    out[DISTANCE] = distance / deviation
    return out


@njit
def indices_of_draws(x: FloatArray, uniforms: FloatArray) -> FloatArray:
    """Compute three statistics of unimodality of samples drawn from the nearest unimodal distribution; (b, 3).

    There is one sample for each row of sorted uniforms, and each is refitted.
    """
    knots = nearest_unimodal(x)
    ranks = np.empty(x.size)
    out = np.empty((uniforms.shape[0], 3))
    for b in range(uniforms.shape[0]):
        for i in range(x.size):
            ranks[i] = uniforms[b, i] * (x.size - 1)
        indices = compute_indices(_compute_quantiles(x, knots, ranks))
        for j in range(3):
            out[b, j] = indices[j]
    return out
