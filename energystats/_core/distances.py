"""Compute Euclidean distances and their squares, angles and Jensen-Shannon distances."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import xlog1py

from energystats._core.interrupts import ThreadPool
from energystats._typing import FloatArray

__all__ = ["COMPILED_FROM", "angular", "euclidean", "jensen_shannon"]


COMPILED_FROM = 100_000  # pairs; for fewer, loading the compiler costs more than it saves
THREADED_FROM = 1_000_000  # pairs
PARTS = 4  # for each thread
ALIKE = 0.1  # Jensen-Shannon distance below which it is computed so that no digit is lost
PAIRS_AT_ONCE = 4096
SAME_SHARE = 8 * np.finfo(float).eps  # difference of two shares over their sum, which rounding makes
THREADS = min(8, os.cpu_count() or 1)


def euclidean(X: FloatArray, Y: FloatArray, *, squared: bool) -> FloatArray:
    """Compute Euclidean distances, or their squares, for all pairs of rows of X and Y; (n, d), (m, d) -> (n, m)."""
    if len(X) * len(Y) >= COMPILED_FROM:
        from energystats._core import jit
        from energystats._core.distance_loops import fill_distances

        if jit.numba is not None:
            return _fill_in_threads(fill_distances, X, np.ascontiguousarray(Y.T), not squared)
    return np.asarray(cdist(X, Y, "sqeuclidean" if squared else "euclidean"))


def _fill_in_threads(fill: Any, X: FloatArray, Y: FloatArray, root: bool) -> FloatArray:
    """Compute a distance matrix, in several threads if it is large; results do not depend on how many threads."""
    out = np.empty((len(X), Y.shape[1]))
    if out.size < THREADED_FROM or THREADS == 1:
        fill(X, Y, root, out)
        return out
    # a thread whose core is busy makes fewer of the parts
    parts = np.array_split(np.arange(len(X)), min(len(X), PARTS * THREADS))
    with ThreadPool(THREADS) as pool:
        list(pool.map(lambda rows: fill(X[rows[0] : rows[-1] + 1], Y, root, out[rows[0] : rows[-1] + 1]), parts))
    return out


def angular(X: FloatArray, Y: FloatArray, noise: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Compute 1 - cos(angle) for all pairs of nonzero rows of X and Y; (n, d), (m, d) -> (n, m).

    It is half the squared distance of rows of length 1, so no digit is lost for small angles. `noise` is the size
    of the rounding of the rows of X and Y, (n,), (m,): angles that are no larger are 0.
    """
    lengths = [np.linalg.norm(rows, axis=1) for rows in (X, Y)]
    with np.errstate(invalid="ignore", divide="ignore"):  # of rows without a direction, which others refuse
        found = euclidean(X / lengths[0][:, None], Y / lengths[1][:, None], squared=True)
        found /= 2
        found[found <= 0.5 * np.add.outer(noise[0] / lengths[0], noise[1] / lengths[1]) ** 2] = 0.0
    return found


def jensen_shannon(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Compute Jensen-Shannon distances between all rows of X and Y, each divided by its sum; (n, d), (m, d) -> (n, m).

    SciPy's value is a root of a difference: for shares alike it loses half of the digits. There it is computed again
    from t = (p - q)/(p + q), a root of a sum of (p + q)/4 ((1 + t) log(1 + t) + (1 - t) log(1 - t)), none negative.
    """
    distances = np.asarray(cdist(X, Y, "jensenshannon"))
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q = (rows / rows.sum(axis=1, keepdims=True) for rows in (X, Y))
    known = np.multiply.outer(X.any(axis=1), Y.any(axis=1))
    near = np.argwhere(known & ~(distances > ALIKE))
    for start in range(0, len(near), PAIRS_AT_ONCE):
        i, j = near[start : start + PAIRS_AT_ONCE].T
        sums = p[i] + q[j]
        t = np.divide(p[i] - q[j], sums, out=np.zeros_like(sums), where=sums > 0)
        t[np.abs(t) <= SAME_SHARE] = 0.0
        inner = np.clip(t, -0.5, 0.5)  # beyond it nothing cancels
        terms = np.where(
            np.abs(t) <= 0.5,
            2 * inner * np.arctanh(inner) + np.log1p(-(inner**2)),
            xlog1py(1 + t, t) + xlog1py(1 - t, -t),
        )
        distances[i, j] = np.sqrt((sums * terms).sum(axis=1) / 4)
    return distances
