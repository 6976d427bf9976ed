"""Compute Gower's coefficient of rows of mixed columns."""

from __future__ import annotations

import numpy as np

from energystats._core.distances import COMPILED_FROM
from energystats._typing import FloatArray, IntArray

__all__ = ["GRADED", "MATCHED", "PRESENCE", "gower_between"]


GRADED, MATCHED, PRESENCE = 0, 1, 2  # how a column compares two values


def gower_between(X: FloatArray, Y: FloatArray, ranges: FloatArray, weights: FloatArray, how: IntArray) -> FloatArray:
    """Compute Gower's dissimilarity 1 - s for all pairs of rows, NaN if no column counts; (n, d), (m, d) -> (n, m).

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
    """Add one column's contribution to Gower's dissimilarity, and its weight, to two arrays for all pairs of rows."""
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
