"""Compare two or three normal distributions of one variance with the nearest unimodal density [theory 5].

The density f of the mixture is fitted by EM; g is the unimodal density with the smallest Kullback-Leibler divergence
from f, here both as masses of the cells around the points. In each half beside its mode, g pools neighbouring cells in
which f runs the wrong way (isotonic regression).
"""

from __future__ import annotations

import math

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["fit_normals", "mixture_ratio", "nearest_unimodal_heights", "split_by_sum_of_squares"]


GROUPS = 63  # of neighbours, beyond so many points; odd, so that the mirrored points have the mirrored groups
STEPS = 10  # of the EM algorithm, from the best split
THIRD = 2.0  # that a third normal has to gain in log likelihood: one for each of its two parameters (AIC)
LARGEST_LOG = 40.0  # of odds: e^-40 is rounding beside 1
SMALLEST_VARIANCE = 1e-6  # of a component, as a share of the sample variance
SMALLEST_MASS = 1e-6  # points of a component
SMALLEST_WIDTH = 1e-9  # of a cell, in standard deviations
SMALLEST_DENSITY = 1e-12  # of a cell: below it the difference of two probabilities is rounding
SMALLEST_RATIO = 1e-9  # below it f has one mode, but for rounding


@njit
def _average_neighbours(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute means and sizes of at most 63 groups of neighbouring sorted values; (n,) -> (m,), (m,)."""
    n = x.size
    m = min(n, GROUPS)
    centres = np.empty(m)
    sizes = np.empty(m)
    for j in range(m):
        first = j * n // m if 2 * j < m else n - (m - j) * n // m
        last = (j + 1) * n // m if 2 * (j + 1) < m else n - (m - j - 1) * n // m
        total = 0.0
        for i in range(first, last):
            total += x[i]
        sizes[j] = last - first
        centres[j] = total / sizes[j]
    return centres, sizes


@njit
def split_by_sum_of_squares(x: FloatArray, w: FloatArray, k: int) -> tuple[int, int]:
    """Split sorted, centred x into k = 2 or 3 intervals of least sum of squares; return where intervals 2 and 3 start.

    k is 2, where the third begins at the end, or 3; O(n) and O(n^2). Where the second begins later, so does the third.
    """
    n = x.size
    mass = np.zeros(n + 1)  # of so many points
    moment = np.zeros(n + 1)
    for i in range(n):
        mass[i + 1] = mass[i] + w[i]
        moment[i + 1] = moment[i] + w[i] * x[i]
    rest = np.zeros(n + 1)  # square of the moment over the mass, from every place to the end
    for i in range(n):
        rest[i] = (moment[n] - moment[i]) ** 2 / (mass[n] - mass[i])
    best = -1.0
    second = 1
    third = n
    earliest = 2
    for i in range(1, n):
        best_here = -1.0
        for j in range(max(i + 1, earliest) if k == 3 else n, n if k == 3 else n + 1):
            between = (moment[j] - moment[i]) ** 2 / (mass[j] - mass[i]) + rest[j]
            if between > best_here:
                best_here = between
                earliest = j
        between = best_here + moment[i] ** 2 / mass[i]
        if best_here >= 0.0 and between > best:
            best = between
            second = i
            third = earliest
    return second, third


@njit
def _fill_odds(x: FloatArray, level: float, slope: float, odds: FloatArray) -> None:
    """Write exp(level + slope x) for all x into an array, to 1e-12, without calls of exp, so that loops vectorise.

    The series of a 256th part, to its 9th power, and its 256th power: right to 1e-12.
    """
    for i in range(x.size):
        z = min(max(level + slope * x[i], -LARGEST_LOG), LARGEST_LOG) * (1.0 / 256.0)
        y = 1.0 + z * (1.0 / 9.0)
        y = 1.0 + z * (1.0 / 8.0) * y
        y = 1.0 + z * (1.0 / 7.0) * y
        y = 1.0 + z * (1.0 / 6.0) * y
        y = 1.0 + z * (1.0 / 5.0) * y
        y = 1.0 + z * (1.0 / 4.0) * y
        y = 1.0 + z * (1.0 / 3.0) * y
        y = 1.0 + z * (1.0 / 2.0) * y
        y = 1.0 + z * y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        odds[i] = y * y


@njit
def _sum_moments(x: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Return the sums of weights and of weighted values."""
    mass = 0.0
    moment = 0.0
    for i in range(x.size):
        mass += w[i]
        moment += w[i] * x[i]
    return mass, moment


@njit
def fit_normals(x: FloatArray, w: FloatArray, k: int) -> tuple[FloatArray, FloatArray, float]:
    """Fit 2 or 3 normals of one variance to sorted, standardized x by EM; return shares, means, common sd.

    Shares and means are (3,), with zeros where there is no third. Loops are written out, here and below, since numba
    takes seconds for the array operations of a function.
    """
    second, third = split_by_sum_of_squares(x, w, k)
    n = 0.0
    mass = np.zeros(3)
    moment = np.zeros(3)
    for i in range(x.size):
        j = int(i >= second) + int(i >= third)
        n += w[i]
        mass[j] += w[i]
        moment[j] += w[i] * x[i]
    mean = np.zeros(3)
    # odds of each point for the first and the third normal against the second, then the weights that it gives to them;
    # those of a third that is not fitted stay 0
    first = np.zeros(x.size)
    last = np.zeros(x.size)
    for step in range(STEPS + 1):
        # M step
        between = 0.0
        for j in range(k):
            mass[j] = max(mass[j], SMALLEST_MASS)
            mean[j] = moment[j] / mass[j]
            between += mass[j] * mean[j] ** 2 / n
        variance = max(1.0 - between, SMALLEST_VARIANCE)
        if step == STEPS:
            break
        # E step: log odds are linear in x, as the variances are equal. Those of the first fall and those of the third
        # rise, so that both are large together only where the second has hardly a point
        for j in range(0, k, 2):
            slope = (mean[j] - mean[1]) / variance
            level = math.log(mass[j] / mass[1]) - 0.5 * (mean[j] ** 2 - mean[1] ** 2) / variance
            _fill_odds(x, level, slope, first if j == 0 else last)
        for i in range(x.size):
            inside = w[i] / (first[i] + 1.0 + last[i])
            first[i] *= inside
            last[i] *= inside
        mass[0], moment[0] = _sum_moments(x, first)
        if k == 3:
            mass[2], moment[2] = _sum_moments(x, last)
        mass[1] = n - mass[0] - mass[2]
        moment[1] = -moment[0] - moment[2]
    for j in range(3):
        mass[j] /= n
    return mass, mean, math.sqrt(variance)


@njit
def _pool_rising(mass: FloatArray, width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit a non-decreasing density to cell masses by isotonic regression; return heights and running divergences.

    `divergence[i]` is the Kullback-Leibler divergence of the fit to the first i cells.
    """
    m = mass.size
    pooled_mass = np.empty(m)
    pooled_width = np.empty(m)
    first = np.empty(m + 1, np.intp)  # cell of every block
    own = np.zeros(m + 1)
    divergence = np.zeros(m + 1)
    blocks = 0
    for i in range(m):
        own[i + 1] = own[i] + mass[i] * math.log(mass[i] / width[i])
        a = i
        block_mass = mass[i]
        block_width = width[i]
        while blocks and pooled_mass[blocks - 1] * block_width >= block_mass * pooled_width[blocks - 1]:
            blocks -= 1
            a = first[blocks]
            block_mass += pooled_mass[blocks]
            block_width += pooled_width[blocks]
        divergence[i + 1] = divergence[a]
        if a < i:
            divergence[i + 1] += own[i + 1] - own[a] - block_mass * math.log(block_mass / block_width)
        first[blocks] = a
        pooled_mass[blocks] = block_mass
        pooled_width[blocks] = block_width
        blocks += 1
    heights = np.empty(m)
    first[blocks] = m
    for b in range(blocks):
        for i in range(first[b], first[b + 1]):
            heights[i] = pooled_mass[b] / pooled_width[b]
    return heights, divergence


@njit
def _mirror(x: FloatArray, first: int, last: int) -> FloatArray:
    """Return elements first to last - 1 of an array in reverse order."""
    mirrored = np.empty(last - first)
    for i in range(first, last):
        mirrored[last - 1 - i] = x[i]
    return mirrored


@njit
def nearest_unimodal_heights(mass: FloatArray, width: FloatArray) -> FloatArray:
    """Compute the unimodal density nearest to given cell masses in Kullback-Leibler divergence; (m,), (m,) -> (m,)."""
    m = mass.size
    rising = _pool_rising(mass, width)[1]
    falling = _pool_rising(_mirror(mass, 0, m), _mirror(width, 0, m))[1]
    mode = 0
    for i in range(1, m + 1):
        if rising[i] + falling[m - i] < rising[mode] + falling[m - mode]:
            mode = i
    left = _pool_rising(mass[:mode], width[:mode])[0]
    right = _pool_rising(_mirror(mass, mode, m), _mirror(width, mode, m))[0]
    heights = np.empty(m)
    for i in range(m):
        heights[i] = left[i] if i < mode else right[m - 1 - i]
    return heights


@njit
def _has_one_mode(mass: FloatArray, width: FloatArray) -> bool:
    """Return whether the density of cells never rises behind a place where it fell."""
    falls = False
    for i in range(1, mass.size):
        here = mass[i] * width[i - 1]
        before = mass[i - 1] * width[i]
        if here > before and falls:
            return False
        falls = falls or here < before
    return True


@njit
def _ratio_of_normals(x: FloatArray, w: FloatArray, edges: FloatArray, k: int) -> float:
    """Compute the log likelihood ratio of a mixture of k normals to the nearest unimodal density, for sorted x."""
    share, mean, sd = fit_normals(x, w, k)
    below = np.zeros(edges.size)
    for i in range(edges.size):
        for j in range(k):
            below[i] += 0.5 * share[j] * math.erf((edges[i] - mean[j]) * math.sqrt(0.5) / sd)
    width = np.empty(x.size)
    mass = np.empty(x.size)
    for i in range(x.size):
        width[i] = edges[i + 1] - edges[i]
        mass[i] = max(below[i + 1] - below[i], SMALLEST_DENSITY * width[i])
    if _has_one_mode(mass, width):  # it is its own nearest unimodal density
        return 0.0
    heights = nearest_unimodal_heights(mass, width)
    ratio = 0.0
    for i in range(x.size):
        ratio += w[i] * math.log(mass[i] / (heights[i] * width[i]))
    return ratio if abs(ratio) > SMALLEST_RATIO else 0.0


@njit
def _standardize(x: FloatArray, w: FloatArray) -> FloatArray:
    """Return weighted values standardized to mean 0 and variance 1; an empty array if all are equal."""
    mass = 0.0
    mean = 0.0
    for i in range(x.size):
        mass += w[i]
        mean += w[i] * x[i]
    mean /= mass
    variance = 0.0
    for i in range(x.size):
        variance += w[i] * (x[i] - mean) ** 2
    sd = math.sqrt(variance / mass)
    z = np.empty(x.size if x[-1] > x[0] and sd > 0.0 else 0)
    for i in range(z.size):
        z[i] = (x[i] - mean) / sd
    return z


@njit
def mixture_ratio(x: FloatArray) -> float:
    """Compute the log likelihood ratio of 2 or 3 normals to the nearest unimodal density, for sorted x; O(n).

    Three are taken where the ratio is larger by more than 2, one for each of their two more parameters.
    """
    z = _standardize(x, np.ones(x.size))
    if z.size == 0:
        return 0.0
    centres, sizes = _average_neighbours(z)
    centres = _standardize(centres, sizes)
    # cells reach half the way to both neighbours
    m = centres.size
    edges = np.empty(m + 1)
    for j in range(1, m):
        edges[j] = 0.5 * (centres[j] + centres[j - 1])
    edges[0] = 2.0 * centres[0] - edges[1]
    edges[m] = 2.0 * centres[m - 1] - edges[m - 1]
    for j in range(m):
        edges[j + 1] = max(edges[j + 1], edges[j] + SMALLEST_WIDTH)
    ratio = _ratio_of_normals(centres, sizes, edges, 2)
    if m < 3:
        return ratio
    return max(ratio, _ratio_of_normals(centres, sizes, edges, 3) - THIRD)
