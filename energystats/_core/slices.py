"""Random directions, and the factor from distances along them to distances in space [theory 9]."""

from __future__ import annotations

import math

import numpy as np

from energystats._typing import FloatArray

__all__ = ["random_directions", "slice_factor"]


def slice_factor(d: int, alpha: float = 1.0) -> float:
    """C with c E|u'z|^alpha = ||z||^alpha for a uniform direction u in d dimensions.

    c = sqrt(pi) Gamma((d + alpha)/2) / (Gamma(d/2) Gamma((alpha + 1)/2)); 1 for d = 1, pi/2 and 2 for d = 2 and 3 at
    alpha = 1.
    """
    if d == 1:
        return 1.0
    log = math.lgamma((d + alpha) / 2) - math.lgamma(d / 2) - math.lgamma((alpha + 1) / 2)
    return math.sqrt(math.pi) * math.exp(log)


def random_directions(d: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Independent uniform unit vectors, the single one there is for d = 1; (d, count)."""
    if d == 1:
        return np.ones((1, 1))
    drawn = rng.standard_normal((count, d))
    return np.ascontiguousarray((drawn / np.linalg.norm(drawn, axis=1)[:, None]).T)
