"""Selective inference for the means of two clusters found by hierarchical clustering (Gao, Bien & Witten 2022).

A competitor for `benchmarks/significance.py`, not a part of the package. The rows are independent N(mu_i, sigma^2 I);
H0 says that the averages of mu_i over the two clusters found are equal. Given the partition, and everything but the
distance between the two means, that distance is sigma sqrt(1/n1 + 1/n2) times a chi variable, truncated to the
distances at which the same clusters would be found. The test therefore asks about means of clusters, supposes normal
errors of known spherical covariance, and says nothing about other shapes.

Here there are two clusters, so that a change of the distance moves them as rigid bodies: merges within a cluster keep
their heights, and the partition is kept exactly when no pair of subclusters from different clusters comes closer than
what was merged while both were there. With squared Euclidean dissimilarities each such condition is quadratic in
the distance, and the set is exact.

Gao, L. L., Bien, J. & Witten, D. (2022). Selective inference for hierarchical clustering. Journal of the American
Statistical Association. arXiv:2012.02936.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.special import gammaincc, gammaln

LINKAGES = ("ward", "average")


@dataclass(frozen=True)
class Selective:
    """Distance of the two means, where it may lie (sorted intervals), labels and p."""

    statistic: float
    allowed: np.ndarray
    labels: np.ndarray
    pvalue: float


@dataclass(frozen=True)
class Tree:
    """Every cluster of a hierarchy: size, mean, mean squared distance to the mean, and when it was there.

    `born` is the first merge at which it is there, `dies` the merge that consumes it; `top` which of the last two
    clusters it is part of. `heights` are on the scale of squared distances.
    """

    sizes: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    born: np.ndarray
    dies: np.ndarray
    top: np.ndarray
    heights: np.ndarray


def selective_test(X, method="ward", sigma=None):
    """Test whether the means of the two clusters of `X` differ; `sigma` is estimated where it is not given."""
    X = np.asarray(X, dtype=float)
    n, d = X.shape
    if sigma is None:  # the estimate of the paper's section 4.3: conservative if there are clusters
        sigma = np.sqrt(((X - X.mean(axis=0)) ** 2).sum() / ((n - 1) * d))
    tree = make_tree(X, method)
    labels = tree.top[:n]
    difference = X[labels == 0].mean(axis=0) - X[labels == 1].mean(axis=0)
    statistic = float(np.linalg.norm(difference))
    allowed = kept_distances(tree, difference, method)
    scale = sigma * np.sqrt(1 / np.sum(labels == 0) + 1 / np.sum(labels == 1))
    return Selective(statistic, allowed, labels, truncated_chi_tail(statistic / scale, allowed / scale, d))


def make_tree(X, method):
    """The hierarchy by squared Euclidean distances."""
    n = len(X)
    if method == "ward":
        merges = linkage(X, "ward")
        heights = merges[:, 2] ** 2 / 2  # growth of the sum of squares
    else:
        squared = ((X[:, None, :] - X) ** 2).sum(axis=2)
        merges = linkage(squared[np.triu_indices(n, 1)], "average")
        heights = merges[:, 2]
    pairs = merges[:, :2].astype(int)
    sizes, means = np.ones(2 * n - 1), np.zeros((2 * n - 1, X.shape[1]))
    means[:n], spreads = X, np.zeros(2 * n - 1)
    born, dies = np.zeros(2 * n - 1, dtype=int), np.full(2 * n - 1, n - 1)
    for t, (a, b) in enumerate(pairs):
        new, total = n + t, sizes[a] + sizes[b]
        means[new] = (sizes[a] * means[a] + sizes[b] * means[b]) / total
        between = sizes[a] * sizes[b] / total**2 * ((means[a] - means[b]) ** 2).sum()
        spreads[new] = (sizes[a] * spreads[a] + sizes[b] * spreads[b]) / total + between
        sizes[new], born[new], dies[[a, b]] = total, t + 1, t
    top = np.zeros(2 * n - 1, dtype=int)
    top[pairs[-1, 1]] = 1
    for t in range(n - 3, -1, -1):
        top[pairs[t]] = top[n + t]
    return Tree(sizes[:-1], means[:-1], spreads[:-1], born[:-1], dies[:-1], top[:-1], heights)


def kept_distances(tree, difference, method):
    """Intervals of the distance of the two means at which the same two clusters are found."""
    statistic = np.linalg.norm(difference)
    one, other = np.flatnonzero(tree.top == 0), np.flatnonzero(tree.top == 1)
    first = np.maximum.outer(tree.born[one], tree.born[other])
    last = np.minimum(np.minimum.outer(tree.dies[one], tree.dies[other]), tree.heights.size - 2)
    i, j = np.nonzero(first <= last)
    height = tree.heights[last[i, j]]  # both linkages have growing heights, so the last merge is the strictest
    a, b = one[i], other[j]
    gaps = tree.means[a] - tree.means[b]
    # at distance statistic + s the two subclusters are |gap + s u| apart, u being the direction of the difference
    along = gaps @ difference / statistic
    if method == "ward":
        level = height * (tree.sizes[a] + tree.sizes[b]) / (tree.sizes[a] * tree.sizes[b])
    else:
        level = height - tree.spreads[a] - tree.spreads[b]
    root = along**2 - (gaps**2).sum(axis=1) + level
    broken = root > 0
    width = np.sqrt(root[broken])
    return complement(statistic - along[broken] - width, statistic - along[broken] + width)


def complement(starts, ends):
    """Subtract open intervals from [0, infinity); rows (from, to)."""
    order = np.argsort(starts)
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    kept = np.column_stack((np.r_[0.0, np.maximum(ends, 0.0)], np.r_[starts, np.inf]))
    return kept[kept[:, 1] > kept[:, 0]]


def truncated_chi_tail(x, allowed, d):
    """P(chi_d >= x | chi_d in the intervals)."""
    above = np.maximum(allowed, x)
    return float(np.exp(log_mass(above, d) - log_mass(allowed, d)))


def log_mass(intervals, d):
    """Log of the probability that chi_d lies in disjoint intervals."""
    upper, lower = log_chi_tail(intervals[:, 0], d), log_chi_tail(intervals[:, 1], d)
    held = upper > lower
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(upper[held] + np.log1p(-np.exp(lower[held] - upper[held])), initial=-np.inf)


def log_chi_tail(x, d):
    """Log P(chi_d >= x); by Legendre's continued fraction where the probability itself would underflow."""
    a, z = d / 2, np.asarray(x, dtype=float) ** 2 / 2
    out = np.full(z.shape, -np.inf)
    near, far = z < 300 + d, (z >= 300 + d) & np.isfinite(z)
    out[near] = np.log(gammaincc(a, z[near]))
    tail = np.zeros(far.sum())
    for m in range(60, 0, -1):
        tail = m * (m - a) / (z[far] + 2 * m + 1 - a - tail)
    out[far] = a * np.log(z[far]) - z[far] - gammaln(a) - np.log(z[far] + 1 - a - tail)
    return out
