"""Sum rho between each row and those before it, for many orders of the rows, in a compiled loop."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import AnyArray, FloatArray

__all__ = ["fill_sums_before"]


@njit
def fill_sums_before(
    tile: FloatArray, first: int, orders: AnyArray, step: int, before: FloatArray, runs: FloatArray
) -> None:
    """Sum rho from each row of a tile to all rows before it, in each of b orders of the rows, into an array; (b, n).

    The tile has rho from all n rows to the w rows from `first` on. Whole lines of it are added, which the processor
    does for several numbers at once. `runs`, (b, m, m), gains in row j and column i, for every row of the tile whose
    place is in cell j of `step` places, the sum to those before it from place i * step on.
    """
    n, width = tile.shape
    sums = np.empty(width)
    known = np.empty((width, runs.shape[1]))  # the sums at the first place of every cell
    for b in range(orders.shape[0]):
        sums[:] = 0.0
        for t in range(n):
            cell = t // step
            if t == cell * step:
                for i in range(width):
                    known[i, cell] = sums[i]
            row = orders[b, t]
            if first <= row < first + width:
                to_all = sums[row - first]
                before[b, t] = to_all
                for i in range(cell + 1):
                    runs[b, cell, i] += to_all - known[row - first, i]
            sums += tile[row]
