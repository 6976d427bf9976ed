"""Assign labels to units at random, in a compiled loop."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = ["assign_labels"]


@njit
def assign_labels(
    uniform: FloatArray,
    order: AnyArray,
    starts: IntArray,
    drawn: AnyArray,
    drawn_starts: IntArray,
    rest: AnyArray,
) -> AnyArray:
    """Assign permuted labels to units by the Fisher-Yates shuffle, in a compiled loop; (b, n_draws) -> (b, n)."""
    labelings = np.empty((uniform.shape[0], order.size), dtype=drawn.dtype)
    free = np.empty_like(order)
    for row in range(uniform.shape[0]):
        for i in range(order.size):
            free[i] = order[i]
        for block in range(rest.size):
            start, stop = starts[block], starts[block + 1]
            # Fisher and Yates: the units from `at` on are free, and one of them takes the next label
            at = start
            for draw in range(drawn_starts[block], drawn_starts[block + 1]):
                chosen = at + int(uniform[row, draw] * (stop - at))
                unit = free[chosen]
                free[chosen] = free[at]
                labelings[row, unit] = drawn[draw]
                at += 1
            for i in range(at, stop):
                labelings[row, free[i]] = rest[block]
    return labelings
