"""Compute Euclidean distances and their squares, and Gower's coefficient of mixed columns."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from energystats._typing import FloatArray, IntArray

__all__ = ["GRADED", "MATCHED", "PRESENCE", "euclidean", "gower_between"]


COMPILED_FROM = 100_000  # pairs; for fewer, loading the compiler costs more than it saves
THREADED_FROM = 1_000_000  # pairs
PARTS = 4  # for each thread
THREADS = min(8, os.cpu_count() or 1)


def euclidean(X: FloatArray, Y: FloatArray, *, squared: bool) -> FloatArray:
    """Compute ||x - y|| or its square for all pairs of rows; (n, d), (m, d) -> (n, m)."""
    if len(X) * len(Y) >= COMPILED_FROM:
        from energystats._core import jit
        from energystats._core.distance_loops import fill_distances

        if jit.numba is not None:
            return _fill_in_threads(fill_distances, X, np.ascontiguousarray(Y.T), not squared)
    return np.asarray(cdist(X, Y, "sqeuclidean" if squared else "euclidean"))


def _fill_in_threads(fill: Any, X: FloatArray, Y: FloatArray, root: bool) -> FloatArray:
    """Fill a distance matrix in several threads where it is large; its numbers do not depend on their count."""
    out = np.empty((len(X), Y.shape[1]))
    if out.size < THREADED_FROM or THREADS == 1:
        fill(X, Y, root, out)
        return out
    parts = np.array_split(np.arange(len(X)), PARTS * THREADS)  # a thread whose core is busy makes fewer of them
    with ThreadPoolExecutor(THREADS) as pool:  # its threads end with the block, whatever happens
        list(pool.map(lambda rows: fill(X[rows[0] : rows[-1] + 1], Y, root, out[rows[0] : rows[-1] + 1]), parts))
    return out


GRADED, MATCHED, PRESENCE = 0, 1, 2  # how a column compares two values


def gower_between(X: FloatArray, Y: FloatArray, ranges: FloatArray, weights: FloatArray, how: IntArray) -> FloatArray:
    """Compute Gower's 1 - s for all pairs of rows, NaN where no column has weight; (n, d), (m, d) -> (n, m).

    `ranges`, `weights` and `how` hold a number for each column. A column that is GRADED differs by its weight times
    |x - y|/range, the others by their weight where values do not match. Missing values (NaN), and two zeros where it
    is PRESENCE, have no weight. The quotient is at most 1 to the last digit, and differences and weights are added in
    one order, so that the result is at most 1, too.
    """
    out = np.empty((len(X), len(Y)))
    if out.size >= COMPILED_FROM:
        from energystats._core import jit
        from energystats._core.distance_loops import fill_gower

        if jit.numba is not None:
            fill_gower(X, np.ascontiguousarray(Y.T), ranges, weights, how, out, np.empty(len(Y)))
            return out
    weight = np.zeros_like(out)
    out[...] = 0.0
    for j in range(how.size):
        _add_column(X[:, j, None], Y[:, j], ranges[j], weights[j], int(how[j]), out, weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(weight > 0, out / weight, np.nan))


def _add_column(
    x: FloatArray, y: FloatArray, width: float, own: float, how: int, out: FloatArray, weight: FloatArray
) -> None:
    """Add the differences in one column to `out`, and its weights to `weight`."""
    counted = ~np.isnan(x) & ~np.isnan(y)
    if how == PRESENCE:
        counted &= (x != 0) | (y != 0)
    weight += own * counted
    if how == GRADED:
        gap = np.abs(x - y)
        with np.errstate(over="ignore"):  # some versions of numpy say so of the smallest numbers
            gap /= width
        gap *= own
        out += np.fmax(gap, 0.0, out=gap)
    else:
        out += own * (counted & (x != y))
