"""Sum a tile of rho between many groups by adding its entries one by one, for several labelings.

A product with indicators costs as many operations for each pair as there are groups, and mostly multiplies by 0; this
costs one. The NumPy twin is the product itself, in `group_sums`.
"""

from __future__ import annotations

from energystats._core.jit import njit
from energystats._typing import FloatArray, IntArray

__all__ = ["add_entries"]


@njit
def add_entries(
    tile: FloatArray, row: int, column: int, codes: IntArray, weights: FloatArray, above: FloatArray
) -> None:
    """Add the weighted entries of a tile to sums between groups, for b labelings; codes (b, n), sums (b, k, k).

    The tile begins at a row and a column of the upper triangle of R. Of a tile on the diagonal each pair counts once,
    and the diagonal by half, so that the sums and their transpose together count each ordered pair once.
    """
    for b in range(codes.shape[0]):
        for i in range(tile.shape[0]):
            group = codes[b, row + i]
            weight = weights[row + i]
            first = 0
            if row == column:
                above[b, group, group] += 0.5 * weight * weight * tile[i, i]
                first = i + 1
            for j in range(first, tile.shape[1]):
                above[b, group, codes[b, column + j]] += weight * weights[column + j] * tile[i, j]
