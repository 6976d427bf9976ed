"""Compute every statistic of groups from M = Z'RZ and group sizes s (or sums of weights) [theory 3].

Functions of M take it as (..., k, k), and s as (k,) or (..., k), and keep the leading axes.
"""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = [
    "best_gains",
    "between",
    "energy_distances",
    "f_ratio",
    "group_means",
    "is_negative",
    "pairwise_statistic",
    "share",
    "squared_mmd",
    "total",
    "within_per_cluster",
]


NEGATIVE = 1e-9  # of the largest of W, S and T: what rounding does not explain


def group_means(M: FloatArray, s: FloatArray) -> FloatArray:
    """Compute the mean dissimilarity over all ordered pairs of points of each two groups [G 3]; (k, k)."""
    return np.asarray(M / (s[..., :, None] * s[..., None, :]))


def within_per_cluster(M: FloatArray, s: FloatArray) -> FloatArray:
    """Compute the within dispersion of each cluster, half its size times its mean dissimilarity [G 4]; (k,)."""
    return np.asarray(np.diagonal(M, axis1=-2, axis2=-1) / (2 * s))


def total(M: FloatArray, s: FloatArray) -> FloatArray:
    """Compute the total dispersion T: n/2 times the mean dissimilarity over all ordered pairs."""
    return np.asarray(M.sum(axis=(-2, -1)) / (2 * s.sum(axis=-1)))


def between(M: FloatArray, s: FloatArray) -> FloatArray:
    """Compute the between dispersion S [G 5] as the total dispersion T minus the within dispersion W [G 29]."""
    return np.asarray(total(M, s) - within_per_cluster(M, s).sum(axis=-1))


def energy_distances(M: FloatArray, s: FloatArray, *, unbiased: bool = False) -> FloatArray:
    """Compute energy distances 2 g_ij - g_ii - g_jj of all pairs of groups from sums between them [G 1]; (k, k).

    V form; with `unbiased` the U form, whose g_ii leaves the diagonal out.
    """
    g = group_means(M, s)
    own = np.diagonal(g, axis1=-2, axis2=-1)
    # U form: the n zeros on the diagonal do not count, n^2 pairs become n (n - 1)
    if unbiased:
        own = own * (s / (s - 1))
    E = 2 * g - own[..., :, None] - own[..., None, :]
    k = s.shape[-1]
    E[..., np.arange(k), np.arange(k)] = 0.0
    return np.asarray(E)


def squared_mmd(M: FloatArray, s: FloatArray, *, unbiased: bool = False) -> FloatArray:
    """Compute the squared MMD of two samples, half their energy distance, from sums between groups [theory 2].

    The kernel generates rho, and its squared MMD is half the E of rho.
    """
    return np.asarray(energy_distances(M, s, unbiased=unbiased)[..., 0, 1] / 2)


def pairwise_statistic(M: FloatArray, s: FloatArray) -> FloatArray:
    """Sum n_i n_j / (n_i + n_j) E_ij over groups i < j, the e-statistic of R's package energy; 2S when k = 2."""
    i, j = np.triu_indices(s.shape[-1], 1)
    weights = s[..., i] * s[..., j] / (s[..., i] + s[..., j])
    return np.asarray((energy_distances(M, s)[..., i, j] * weights).sum(axis=-1))


def f_ratio(S: FloatArray, T: float | FloatArray, n: int, k: int, tolerance: float) -> FloatArray:
    """Compute the F ratio of between to within dispersion, (S/(k - 1)) / (W/(n - k)); 0 where both vanish.

    W is T - S, so a W within `tolerance` of 0 is rounding and counts as 0.
    """
    W = T - S
    W = np.where(np.abs(W) <= tolerance, 0.0, W)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = np.divide(S / (k - 1), W / (n - k))
    return np.asarray(np.where((np.abs(S) <= tolerance) & (W == 0), 0.0, F))


def share(part: float, whole: float) -> float:
    """Compute part / whole, or 0 when the whole is 0."""
    return float(part / whole) if whole != 0 else 0.0


def is_negative(*dispersions: float) -> bool:
    """Return whether one of W, S and T is below 0 by more than rounding: rho is not of negative type then."""
    return min(dispersions) < -NEGATIVE * max(map(abs, dispersions))


def best_gains(
    table: FloatArray, mass: FloatArray, within: FloatArray, counts: IntArray, labels: IntArray, weights: FloatArray
) -> FloatArray:
    """Compute how much the best move of each point to another group lowers W [G 19, 20]; -inf if it is alone; (m,).

    `table` has the sums of rho between each group and each point, (k, m); sums of weights, `within` the sums inside and
    counts of points are those of the groups, (k,), labels and weights those of the points, (m,).
    """
    points, halves = np.arange(labels.size), (within / (2 * mass))[:, None]
    rises = (table - halves) / (mass[:, None] + weights)
    rises[labels, points] = np.inf
    alone = counts[labels] == 1
    falls = (table - halves)[labels, points] / np.where(alone, 1.0, mass[labels] - weights)
    return np.asarray(np.where(alone, -np.inf, (falls - rises.min(axis=0)) * weights))
