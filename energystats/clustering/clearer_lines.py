"""Find a line along which two groups are clearer than the clusters shown: a hint that costs little, not a test.

Distances cut long parallel clusters across, and miss what shows in one of many columns. `cluster_test` searches these
spaces, which takes longer; here one half of the points gives a line, and the other half is projected on it.
"""

from __future__ import annotations

import numpy as np

from energystats._core.distances import euclidean
from energystats._core.gram import POINTS_PER_COLUMN, decorrelating
from energystats._core.jitter import jitter_ties
from energystats._core.kmeans_plus_plus import seeded_labels
from energystats._core.normal_mixture import mixture_ratio, split_by_sum_of_squares
from energystats._core.restarts import lowest
from energystats._core.samples import difference_of_means
from energystats._typing import FloatArray, IntArray

__all__ = ["DECORRELATED", "SMALLEST_SAMPLE", "find_clearer_line"]


SMALLEST_SAMPLE = 20  # points
LOOKED_AT = 1000  # points at most, at equal steps
CLUSTERED_AT_MOST = 400  # points of a half
GOLDEN = (5**0.5 - 1) / 2  # its multiples assign rows to halves that follow no period of the table
CLEAR = 8.0  # log likelihood ratio of two normals to one mode, by which a line has to exceed
TIMES_CLEARER = 1.5  # times that of the clusters shown
DECORRELATED = -1  # in place of a column
STEADY = 0.7  # correlation of two lines that have the same direction
SAME_GROUPS = 0.9  # of the points, whose clusters lie on one side
STARTS, PERTURBATIONS, PASSES, ENOUGH = 3, 40, 100, 20
ROUNDING = 1e-12  # of W


def find_clearer_line(points: FloatArray, labels: IntArray, k: int) -> int | None:
    """Find a column or direction in which two groups are much clearer than the given clusters; None without one.

    Both halves of the points have to agree on a column. The same points give the same answer, without any seed.
    """
    rows = slice(None, None, -(-len(points) // LOOKED_AT))
    X, labels = _jittered(points[rows]), labels[rows]
    first = np.arange(len(X)) * GOLDEN % 1 < 0.5
    halves = (np.flatnonzero(first), np.flatnonzero(~first))
    wanted = CLEAR + TIMES_CLEARER * _clearest_of_clusters(X, labels, k)
    positions = _positions_decorrelated(X, halves)
    if positions is not None and _ratio(positions) > wanted and not _joins_clusters(positions, labels, k):
        return DECORRELATED
    j, ratio = _clearest_column(X, halves)
    return j if ratio > wanted and not _joins_clusters(X[:, j], labels, k) else None


def _jittered(points: FloatArray) -> FloatArray:
    """Return columns centred, scaled by one number, and with ties jittered; (n, d) -> (n, d)."""
    rng = np.random.default_rng(0)
    X = points / max(float(np.abs(points).max()), np.finfo(float).tiny)  # sums of the largest numbers overflow
    X = X - X.mean(axis=0)
    spread = [jitter_ties(column, rng) for column in X.T]
    return np.column_stack([x if s is None else s.values for x, s in zip(X.T, spread, strict=True)])


def _ratio(positions: FloatArray) -> float:
    """Compute the log likelihood ratio of 2 or 3 normals to a unimodal density for positions on a line; (n,)."""
    return float(mixture_ratio(np.sort(positions)))


def _clearest_column(X: FloatArray, halves: tuple[IntArray, IntArray]) -> tuple[int, float]:
    """Find the column with the two clearest groups, and its log likelihood ratio; 0 if two halves of the rows disagree.

    It is the sum of both halves.

    The ratio is the log likelihood ratio of two or three normals to one mode; the halves are of the rows.
    """
    first, second = (int(np.argmax([_ratio(x) for x in X[half].T])) for half in halves)
    return first, sum(_ratio(X[half, first]) for half in halves) if first == second else 0.0


def _joins_clusters(positions: FloatArray, labels: IntArray, k: int) -> bool:
    """Return whether the two groups along a line are given clusters, or unions of given clusters."""
    x = np.sort(positions - positions.mean())
    beyond = positions - positions.mean() >= x[split_by_sum_of_squares(x, np.ones(x.size), 2)[0]]
    sizes = np.bincount(labels, minlength=k)
    on_right = np.bincount(labels[beyond], minlength=k)
    return bool(np.maximum(on_right, sizes - on_right).sum() >= SAME_GROUPS * x.size)


def _positions_decorrelated(X: FloatArray, halves: tuple[IntArray, IntArray]) -> FloatArray | None:
    """Project each half of the points on a decorrelated line between clusters of the other half; (n, d) -> (n,).

    None where a half has too few points, or the lines of both halves have different directions.
    """
    if X.shape[1] < 2 or X.shape[1] * POINTS_PER_COLUMN > min(map(len, halves)):
        return None
    lines = []
    for own in halves:
        part = X[own[:CLUSTERED_AT_MOST]]
        if not np.ptp(part, axis=0).max() > 0:
            return None
        W = decorrelating(part)
        labels = _two_clusters(part @ W)
        t = X @ (W @ difference_of_means(part @ W, labels == 1))
        if not t.std() > 0:
            return None
        lines.append((t - t.mean()) / t.std())
    alike = float(lines[0] @ lines[1]) / len(X)
    if abs(alike) < STEADY:  # both halves have two groups, but not the same ones
        return None
    positions = np.asarray(lines[1] * np.sign(alike))
    positions[halves[1]] = lines[0][halves[1]]
    return positions


def _two_clusters(points: FloatArray) -> IntArray:
    """Return labels 0 and 1 of two energy clusters found by Hartigan's method with a fixed seed; (n, d) -> (n,)."""
    R, rng = euclidean(points, points, squared=False), np.random.default_rng(0)
    weights, standing = np.ones(len(R)), np.array([np.inf, 0.0])
    starts = np.array([seeded_labels(R, weights, uniforms) for uniforms in rng.random((STARTS, 2))])
    labels, uniforms = starts[0].copy(), rng.random((PERTURBATIONS, 5))
    threshold = ROUNDING * float(R.sum()) / (2 * len(R))
    how = (threshold, PASSES, starts, uniforms, 0, ENOUGH)
    lowest(R, weights, R.sum(axis=0), 2, *how, labels, labels.copy(), standing)
    return np.asarray(labels)


def _clearest_of_clusters(X: FloatArray, labels: IntArray, k: int) -> float:
    """Compute the largest log likelihood ratio of several modes to one, over lines from each cluster to the rest.

    For each cluster there are two lines: the one through the means, and Fisher's discriminant.
    """
    found = [0.0]
    for j in range(k if k > 2 else 1):
        inside = labels == j
        if not 0 < inside.sum() < len(X):
            continue
        difference = difference_of_means(X, inside)
        residuals = X - np.where(inside[:, None], X[inside].mean(axis=0), X[~inside].mean(axis=0))
        W = decorrelating(residuals)
        found += [_ratio(X @ difference), _ratio(X @ (W @ (W.T @ difference)))]
    return max(found)
