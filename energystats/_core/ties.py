"""Spreading ties over the grid on which values were recorded."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray

__all__ = ["spread_ties"]

SAME = 4 * np.finfo(float).eps  # of the value: closer ones differ by the rounding of one number


def spread_ties(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float] | None:
    """Tied values spread uniformly over one grid step, and the largest step, or None if there are none; (n,) -> (n,).

    The step around a value is the smaller of the gap to its nearest other value and the median gap: the grid step
    on a regular grid, and next to nothing where a few values of a continuous scale happen to agree.
    """
    order = np.argsort(x, kind="stable")
    ascending = x[order]
    gaps = np.diff(ascending)
    apart = gaps > SAME * np.maximum(np.abs(ascending[1:]), np.abs(ascending[:-1]))
    if apart.all() or not apart.any():  # no ties, or nothing but one tie
        return None
    block = np.concatenate(([0], np.cumsum(apart)))
    between = gaps[apart]
    nearest = np.minimum(np.append(np.inf, between), np.append(between, np.inf))
    step = np.minimum(nearest, np.median(between))
    tied = np.bincount(block)[block] > 1
    width = np.where(tied, step[block], 0.0)
    spread = x.copy()
    spread[order] += width * (rng.random(x.size) - 0.5)
    return spread, float(width.max())
