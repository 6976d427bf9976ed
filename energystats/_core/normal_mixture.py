"""Compare two normal distributions of one variance with the nearest unimodal density [theory 5].

The density f of the mixture has at most two modes. The unimodal density g with the smallest Kullback-Leibler
divergence from f equals f outside one interval (a, b), and is level inside: f(a) = f(b) = v with as much of f above v
as below it.
"""

from __future__ import annotations

import math

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["fit_two_normals", "mixture_ratio", "plateau", "split_by_sum_of_squares"]


GROUPS = 128  # consecutive points are taken together beyond so many: the mixture is wider than that by far
ROUNDS = 10  # of three steps of the EM algorithm
STEP = 1e-3  # standard deviations by which the means move, with the share of one, when it stops
LONGEST_STEP = 8.0  # EM steps that are guessed at once; longer jumps can end in another maximum
SMALLEST_VARIANCE = 1e-6  # of a component, as a share of the sample variance
BISECTIONS = 40
SMALL_STEP = 1e-11  # standard deviations by which an end of the plateau moves when it is found
FAR = 8.0  # standard deviations beyond which a normal density is 0
EXPONENT = 500.0  # beyond which a probability is 0 or 1
ROOT_OF_TWO_PI = math.sqrt(2 * math.pi)


@njit
def _average_neighbours(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Average runs of neighbours of sorted x: means and sizes; the points themselves where there are few."""
    n = x.size
    m = min(n, GROUPS)
    centres = np.empty(m)
    sizes = np.empty(m)
    for j in range(m):
        first = j * n // m
        last = (j + 1) * n // m
        centres[j] = x[first:last].mean()
        sizes[j] = last - first
    return centres, sizes


@njit
def split_by_sum_of_squares(x: FloatArray, w: FloatArray) -> int:
    """Split sorted, centred x into two parts with the smallest sum of squares; return the size of the left part."""
    n = w.sum()
    mass = 0.0
    moment = 0.0
    best = -1.0
    size = 1
    for i in range(1, x.size):
        mass += w[i - 1]
        moment += w[i - 1] * x[i - 1]
        between = moment * moment / mass + moment * moment / (n - mass)
        if between > best:
            best = between
            size = i
    return size


@njit
def _em_step(x: FloatArray, w: FloatArray, share: float, step: float) -> tuple[float, float]:
    """Improve a mixture by one step of the EM algorithm: share of the left normal, distance of the means.

    The points have mean 0 and variance 1, and so has the mixture: the two numbers give the means and the variance.
    """
    n = w.sum()
    variance = max(1.0 - share * (1.0 - share) * step * step, SMALLEST_VARIANCE)
    # E step: log odds that a point belongs to the left normal are linear in it, as the variances are equal
    slope = -step / variance
    level = math.log(share / (1.0 - share)) + (share - 0.5) * step * step / variance
    mass = 0.0
    moment = 0.0
    for i in range(x.size):
        odds = min(max(level + slope * x[i], -EXPONENT), EXPONENT)
        inside = w[i] / (1.0 + math.exp(-odds))
        mass += inside
        moment += inside * x[i]
    # M step: the means of both parts, as the mean of all is 0
    new_share = min(max(mass / n, 1e-3 / n), 1.0 - 1e-3 / n)
    return new_share, -moment / (n * new_share * (1.0 - new_share))


@njit
def fit_two_normals(x: FloatArray, w: FloatArray) -> tuple[float, float, float, float]:
    """Fit two normals by EM to x of mean 0 and variance 1: share of the left one, both means, standard deviation.

    Every two steps are followed by a longer one in the direction in which they converge (SQUAREM, Varadhan and
    Roland 2008), where EM alone would take hundreds.
    """
    n = w.sum()
    size = split_by_sum_of_squares(x, w)
    share = w[:size].sum() / n
    step = -(w[:size] * x[:size]).sum() / (n * share * (1.0 - share))
    for _ in range(ROUNDS):
        logit = math.log(share / (1.0 - share))
        share_1, step_1 = _em_step(x, w, share, step)
        moved = abs(share_1 - share) + abs(step_1 - step)
        if moved < STEP:
            share, step = share_1, step_1
            break
        share_2, step_2 = _em_step(x, w, share_1, step_1)
        logit_1 = math.log(share_1 / (1.0 - share_1))
        u = logit_1 - logit
        v = step_1 - step
        change_u = math.log(share_2 / (1.0 - share_2)) - logit_1 - u
        change_v = step_2 - step_1 - v
        speed, change = math.hypot(u, v), math.hypot(change_u, change_v)
        share, step = share_2, step_2
        if change < speed:
            r = min(speed / max(change, 1e-300), LONGEST_STEP)
            far_logit = min(max(logit + 2.0 * r * u + r * r * change_u, -EXPONENT), EXPONENT)
            far_share = min(max(1.0 / (1.0 + math.exp(-far_logit)), 1e-3 / n), 1.0 - 1e-3 / n)
            far_step = step_1 - v + 2.0 * r * v + r * r * change_v
            if far_step > 0.0 and far_share * (1.0 - far_share) * far_step * far_step < 1.0 - 10.0 * SMALLEST_VARIANCE:
                share, step = _em_step(x, w, far_share, far_step)
    variance = max(1.0 - share * (1.0 - share) * step * step, SMALLEST_VARIANCE)
    return share, -(1.0 - share) * step, share * step, math.sqrt(variance)


@njit
def _mixture_density(t: float, share: float, left: float, right: float, sd: float) -> float:
    """Compute the density f(t) of a mixture of two normal distributions."""
    a = math.exp(-0.5 * ((t - left) / sd) ** 2)
    b = math.exp(-0.5 * ((t - right) / sd) ** 2)
    return (share * a + (1.0 - share) * b) / (sd * ROOT_OF_TWO_PI)


@njit
def _mixture_mass(a: float, b: float, share: float, left: float, right: float, sd: float) -> float:
    """Integrate the density f of the mixture from a to b."""
    r = math.sqrt(0.5) / sd
    one = math.erf((b - left) * r) - math.erf((a - left) * r)
    two = math.erf((b - right) * r) - math.erf((a - right) * r)
    return 0.5 * (share * one + (1.0 - share) * two)


@njit
def _compare_slopes(t: float, share: float, left: float, right: float, sd: float) -> float:
    """Return a number above 0 where f falls, between the means: the log ratio of the two summands of f'."""
    odds = math.log(share / (1.0 - share) * (t - left) / (right - t))
    return odds + ((t - right) ** 2 - (t - left) ** 2) / (2.0 * sd * sd)


@njit
def _find_turning_point(low: float, high: float, share: float, left: float, right: float, sd: float) -> float:
    """Bisect for the root of `_compare_slopes` between two points with different signs."""
    rising = _compare_slopes(high, share, left, right, sd) > 0.0
    for _ in range(BISECTIONS):
        t = 0.5 * (low + high)
        if (_compare_slopes(t, share, left, right, sd) > 0.0) == rising:
            high = t
        else:
            low = t
    return 0.5 * (low + high)


@njit
def _find_level(level: float, low: float, high: float, share: float, left: float, right: float, sd: float) -> float:
    """Find the point between two others on one slope at which f, higher at `low`, falls to a level.

    By Newton's steps on log f, or by the middle of the interval, which every step makes smaller.
    """
    t = 0.5 * (low + high)
    for _ in range(BISECTIONS):
        a = share * math.exp(-0.5 * ((t - left) / sd) ** 2)
        b = (1.0 - share) * math.exp(-0.5 * ((t - right) / sd) ** 2)
        f = (a + b) / (sd * ROOT_OF_TWO_PI)
        if f > level:
            low = t
        else:
            high = t
        last = t
        t = 0.5 * (low + high)
        falling = (a * (last - left) + b * (last - right)) / (sd * sd)
        if f > 0.0 and level > 0.0 and falling > 0.0:
            newton = last + math.log(f / level) * (a + b) / falling
            t = newton if low < newton < high else t
        if abs(t - last) <= SMALL_STEP * sd:
            break
    return t


@njit
def _weigh_plateau(
    a: float, second: float, share: float, left: float, right: float, sd: float
) -> tuple[float, float, float]:
    """Level f from a to where it falls to f(a) behind the second mode: that point, f(a), and f above it less below."""
    level = _mixture_density(a, share, left, right, sd)
    b = _find_level(level, second, right + FAR * sd, share, left, right, sd)
    return b, level, _mixture_mass(a, b, share, left, right, sd) - level * (b - a)


@njit
def plateau(share: float, left: float, right: float, sd: float) -> tuple[float, float, float]:
    """Find the interval on which g is level, and its height there; an empty interval where f has one mode.

    The mode of g is the higher mode of f, and the interval runs from its inner slope to the outer slope of the other.
    """
    half = 0.5 * (right - left)
    middle = 0.5 * (left + right)
    if half <= sd * (1.0 + 1e-9):  # one mode, whatever the shares
        return middle, middle, 0.0
    # f' is 0 where `_compare_slopes` is, whose own extremes are these two points: at most one root between each pair
    reach = math.sqrt(half * half - sd * sd)
    inner = middle - reach
    outer = middle + reach
    if _compare_slopes(inner, share, left, right, sd) <= 0.0 or _compare_slopes(outer, share, left, right, sd) >= 0.0:
        return middle, middle, 0.0
    small = 1e-12 * half
    first = _find_turning_point(left + small, inner, share, left, right, sd)
    valley = _find_turning_point(inner, outer, share, left, right, sd)
    second = _find_turning_point(outer, right - small, share, left, right, sd)
    if _mixture_density(first, share, left, right, sd) < _mixture_density(second, share, left, right, sd):
        a, b, level = plateau(1.0 - share, -right, -left, sd)  # the mirror image
        return -b, -a, level
    # as much of f above v as below it: regula falsi (Illinois) between the height of the second mode and the valley
    low = _find_level(_mixture_density(second, share, left, right, sd), first, valley, share, left, right, sd)
    high = valley
    less = min(_weigh_plateau(low, second, share, left, right, sd)[2], -SMALL_STEP)
    b, level, more = _weigh_plateau(high, second, share, left, right, sd)
    a, side = high, 0
    for _ in range(BISECTIONS):
        last = a
        a = low + (high - low) * less / (less - more) if more > 0.0 else high
        b, level, balance = _weigh_plateau(a, second, share, left, right, sd)
        if abs(a - last) <= SMALL_STEP * sd or balance == 0.0:
            break
        if balance > 0.0:
            less = 0.5 * less if side > 0 else less
            high, more, side = a, balance, 1
        else:
            more = 0.5 * more if side < 0 else more
            low, less, side = a, balance, -1
    return a, b, level


@njit
def mixture_ratio(x: FloatArray) -> float:
    """Compute the log likelihood ratio of f, fitted to sorted x, to g in O(n); 0 where f has one mode."""
    sd = x.std()
    if x[-1] <= x[0] or sd <= 0.0:
        return 0.0
    centres, sizes = _average_neighbours((x - x.mean()) / sd)
    centres -= (sizes * centres).sum() / x.size
    centres /= math.sqrt((sizes * centres**2).sum() / x.size)
    share, left, right, common = fit_two_normals(centres, sizes)
    a, b, level = plateau(share, left, right, common)
    ratio = 0.0
    for j in range(centres.size):
        if a < centres[j] < b:
            ratio += sizes[j] * math.log(_mixture_density(centres[j], share, left, right, common) / level)
    return ratio
