"""Euclidean distances and their squares, from coordinate differences."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from energystats._typing import FloatArray

__all__ = ["euclidean"]

COMPILED_FROM = 100_000  # pairs; for fewer, loading the compiler costs more than it saves
THREADED_FROM = 1_000_000  # pairs
THREADS = min(8, os.cpu_count() or 1)


def euclidean(X: FloatArray, Y: FloatArray, *, squared: bool) -> FloatArray:
    """||x - y|| or its square; (n, d), (m, d) -> (n, m). The loop and SciPy agree to the last digits."""
    if len(X) * len(Y) >= COMPILED_FROM:
        from energystats._core import jit, squares

        if jit.numba is not None:
            return in_threads(squares.fill_distances, X, np.ascontiguousarray(Y.T), not squared)
    return np.asarray(cdist(X, Y, "sqeuclidean" if squared else "euclidean"))


def in_threads(fill: Any, X: FloatArray, Y: FloatArray, root: bool) -> FloatArray:
    """Rows shared out among threads when there are many pairs; the numbers do not depend on their count."""
    out = np.empty((len(X), Y.shape[1]))
    if out.size < THREADED_FROM or THREADS == 1:
        fill(X, Y, root, out)
        return out
    parts = np.array_split(np.arange(len(X)), THREADS)
    with ThreadPoolExecutor(THREADS) as pool:  # its threads end with the block, whatever happens
        list(pool.map(lambda rows: fill(X[rows[0] : rows[-1] + 1], Y, root, out[rows[0] : rows[-1] + 1]), parts))
    return out
