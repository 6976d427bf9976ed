"""Find the nearest unimodal distribution of a sample, and its distance from the sample [theory 5].

F_i = i/(n - 1) at the sorted points; a distribution function is unimodal when it is convex up to a mode and
concave after it. The knots of the nearest one are data points, so they are kept as indices.
"""

from __future__ import annotations

import numpy as np

from energystats._core.exact_1d import prefix_dispersion, split_within
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
    "nearest_unimodal",
    "unimodal_density",
]


RATIO, EXCESS, DISTANCE = range(3)  # columns of the indices


@njit
def _find_hull(x: FloatArray, first: int, last: int, convex: bool, knots: IntArray) -> tuple[int, float]:
    """Find the greatest convex minorant (or least concave majorant) of F on x[first..last].

    Writes the indices of its knots, and returns their number and n - 1 times its largest distance to F.
    """
    sign = 1.0 if convex else -1.0
    m = 0
    for i in range(first, last + 1):
        # the last knot goes while the slope does not rise (convex) or fall (concave) there, as in a hull of points
        while m >= 2:
            a = knots[m - 2]
            b = knots[m - 1]
            if sign * ((b - a) * (x[i] - x[b]) - (i - b) * (x[b] - x[a])) < 0.0:
                break
            m -= 1
        knots[m] = i
        m += 1
    distance = 0.0
    for j in range(m - 1):
        a = knots[j]
        b = knots[j + 1]
        if x[b] > x[a]:  # otherwise tied values, a vertical edge
            slope = (b - a) / (x[b] - x[a])
            for i in range(a + 1, b):
                distance = max(distance, abs(a + slope * (x[i] - x[a]) - i))
    return m, distance


@njit
def nearest_unimodal(x: FloatArray) -> IntArray:
    """Find the unimodal distribution function closest to F in the sup norm; return the indices of its knots.

    The distance of the convex side grows with the mode and that of the concave side falls, so the best mode
    is found by bisection; O(n log n). `x` is sorted.
    """
    n = x.size
    left = np.empty(n, np.intp)
    right = np.empty(n, np.intp)
    low = 0
    high = n - 1
    while high - low > 1:
        mode = (low + high) // 2
        if _find_hull(x, 0, mode, True, left)[1] < _find_hull(x, mode, n - 1, False, right)[1]:
            low = mode
        else:
            high = mode
    at_low = max(_find_hull(x, 0, low, True, left)[1], _find_hull(x, low, n - 1, False, right)[1])
    at_high = max(_find_hull(x, 0, high, True, left)[1], _find_hull(x, high, n - 1, False, right)[1])
    mode = low if at_low <= at_high else high
    n_left = _find_hull(x, 0, mode, True, left)[0]
    n_right = _find_hull(x, mode, n - 1, False, right)[0]
    return np.concatenate((left[:n_left], right[1:n_right]))


def unimodal_density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute edges and heights of the nearest unimodal density of sorted points; empty where all are equal."""
    if x.size < 2 or x[0] == x[-1]:
        return np.empty(0), np.empty(0)
    knots = nearest_unimodal(x)
    edges = x[knots]
    wide = np.append(True, np.diff(edges) > 0)
    return edges[wide], np.diff(knots[wide]) / (x.size - 1) / np.diff(edges[wide])


@njit
def _compute_quantiles(x: FloatArray, knots: IntArray, ranks: FloatArray) -> FloatArray:
    """Compute quantiles of the unimodal distribution at ascending levels rank/(n - 1)."""
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
    """Compute S/T of the split after each rank of sorted x, for |x - y|; zeros when x is constant."""
    ones = np.ones(x.size)
    gaps = np.diff(x)
    T = prefix_dispersion(gaps, ones)[-1] / x.size
    if T > 0.0:
        return np.asarray(1.0 - split_within(gaps, ones) / T)
    return np.zeros(x.size - 1)


@njit
def excess_split(x: FloatArray) -> float:
    """Compute E, the largest excess of S/T over splits of sorted x over that of the nearest unimodal distribution."""
    if x[-1] <= x[0]:
        return 0.0
    return _compute_excess(x, _compute_quantiles_at_ranks(x))


@njit
def _compute_quantiles_at_ranks(x: FloatArray) -> FloatArray:
    """Compute quantiles of the nearest unimodal distribution at the ranks of sorted x."""
    return _compute_quantiles(x, nearest_unimodal(x), np.arange(x.size).astype(np.float64))


@njit
def _compute_excess(x: FloatArray, fitted: FloatArray) -> float:
    """Compute the excess E of sorted x over its nearest unimodal distribution."""
    return float(np.max(_split_profile(x) - _split_profile(fitted)))


@njit
def compute_indices(x: FloatArray) -> FloatArray:
    """Compute three indices of sorted x against unimodality, all 0 if it is constant; (n,) -> (3,).

    RATIO is the log likelihood ratio of two normals to a unimodal density; EXCESS is E; DISTANCE is the mean distance
    of the points from the quantiles of the nearest unimodal distribution, in mean deviations from the median.
    """
    out = np.zeros(3)
    if x[-1] <= x[0]:
        return out
    fitted = _compute_quantiles_at_ranks(x)
    out[RATIO] = mixture_ratio(x)
    out[EXCESS] = _compute_excess(x, fitted)
    out[DISTANCE] = np.abs(x - fitted).sum() / np.abs(x - x[x.size // 2]).sum()
    return out


@njit
def indices_of_draws(x: FloatArray, uniforms: FloatArray) -> FloatArray:
    """Compute the indices of samples drawn from the nearest unimodal distribution of `x`, each refitted.

    One sample per row of sorted uniforms; (n,), (b, n) -> (b, 3).
    """
    knots = nearest_unimodal(x)
    out = np.empty((uniforms.shape[0], 3))
    for b in range(uniforms.shape[0]):
        out[b] = compute_indices(_compute_quantiles(x, knots, uniforms[b] * (x.size - 1)))
    return out
