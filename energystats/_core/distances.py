"""Squared Euclidean distances, from coordinate differences."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from energystats._typing import FloatArray

__all__ = ["squared_euclidean"]

COMPILED_FROM = 100_000  # pairs; for fewer, loading the compiler costs more than it saves


def squared_euclidean(X: FloatArray, Y: FloatArray) -> FloatArray:
    """||x - y||^2; (n, d), (m, d) -> (n, m). The loop and SciPy agree to the last digits."""
    if len(X) * len(Y) >= COMPILED_FROM:
        from energystats._core import jit, squares

        if jit.numba is not None:
            return squares.squared_differences(X, np.ascontiguousarray(Y.T))
    return np.asarray(cdist(X, Y, "sqeuclidean"))
