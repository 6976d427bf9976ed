"""Sum rho between each row and those before it, for many orders of the rows, in a compiled loop."""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import AnyArray, FloatArray

__all__ = ["fill_sums_before"]


@njit
def fill_sums_before(tile: FloatArray, first: int, orders: AnyArray, out: FloatArray) -> None:
    """Fill in the sums of rho from the rows of a tile to those before them in every order; (n, w), (b, n), (b, n).

    The tile has rho from all n rows to the w rows from `first` on. Whole lines of it are added, which the processor
    does for several numbers at once, and always in the order of the rows: no sum depends on the width of the tile.
    """
    n, width = tile.shape
    sums = np.empty(width)
    for b in range(orders.shape[0]):
        sums[:] = 0.0
        for t in range(n):
            row = orders[b, t]
            if first <= row < first + width:
                out[b, t] = sums[row - first]
            sums += tile[row]
