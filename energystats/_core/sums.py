"""M = Z'RZ, the one small matrix behind every statistic [theory 3], and R times a block of columns.

`Z` holds indicators (or weights) of shape (n, k, b): k groups in each of b labelings. Three routes
give the same numbers: tiles of the upper triangle of R, stored or not, and sorted sums in one dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = [
    "UpperTiles",
    "absolute_total",
    "block_sums_from_upper",
    "block_sums_sorted",
    "multiply_sorted",
    "multiply_upper",
    "tallied",
]

COMPILED_FROM = 300_000  # entries of Z; for fewer, loading the compiler costs more than it saves

# (row, column, R[row:row + height, column:column + width]): every pair once, the diagonal tiles square and whole
UpperTiles = Iterable[tuple[int, int, FloatArray]]


def block_sums_from_upper(upper: UpperTiles, Z: FloatArray) -> FloatArray:
    """M[b] = Z[:, :, b]' R Z[:, :, b] for symmetric R, half the flops of the full product; (b, k, k)."""
    n, k, b = Z.shape
    columns = Z.reshape(n, k * b)
    half = np.zeros((k, k, b))
    for rows, product in row_products(upper, columns):
        half += np.einsum("ijb,ilb->jlb", Z[rows], product.reshape(-1, k, b))
    half += half.transpose(1, 0, 2).copy()
    return np.asarray(half.transpose(2, 0, 1))


def row_products(upper: UpperTiles, columns: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Rows of (upper triangle + half of the diagonal) @ columns; neighbouring tiles of the same rows as one."""
    product, rows = np.empty((0, 0)), slice(0, 0)
    for row, column, tile in upper:
        height, width = tile.shape
        part = tile @ columns[column : column + width]
        if row == column:  # both triangles
            part *= 0.5
        if rows.stop and rows.start == row:
            product += part
            continue
        if rows.stop:
            yield rows, product
        rows, product = slice(row, row + height), part
    yield rows, product


def multiply_upper(upper: UpperTiles, columns: FloatArray) -> FloatArray:
    """R @ columns from the upper triangle of R; (n, c) -> (n, c)."""
    product = np.zeros_like(columns)
    for row, column, tile in upper:
        height, width = tile.shape
        product[row : row + height] += tile @ columns[column : column + width]
        if row != column:
            product[column : column + width] += tile.T @ columns[row : row + height]
    return product


def tallied(upper: UpperTiles, weights: FloatArray, totals: FloatArray) -> Iterator[tuple[int, int, FloatArray]]:
    """Pass tiles on, and add R @ weights to `totals` on the way; (n,), (n,)."""
    for row, column, tile in upper:
        height, width = tile.shape
        totals[row : row + height] += tile @ weights[column : column + width]
        if row != column:
            totals[column : column + width] += weights[row : row + height] @ tile
        yield row, column, tile


def absolute_total(upper: UpperTiles) -> float:
    """Sum of |R_ij| over all ordered pairs."""
    return float(sum((1 + (row != column)) * np.abs(tile).sum() for row, column, tile in upper))


def multiply_sorted(gaps: FloatArray, columns: FloatArray) -> FloatArray:
    """R @ columns for R_ij = |x_i - x_j| with x sorted and gaps = diff(x); (n - 1,), (n, c) -> (n, c).

    Every gap is counted once for each pair of points that it separates, so that non-negative columns
    give sums of non-negative terms: nothing cancels, whatever the offset of x.
    """
    below = np.cumsum(columns, axis=0)
    above = np.cumsum(columns[:0:-1], axis=0)[::-1]
    product = np.zeros_like(columns)
    product[1:] = np.cumsum(gaps[:, None] * below[:-1], axis=0)
    product[:-1] += np.cumsum((gaps[:, None] * above)[::-1], axis=0)[::-1]
    return np.asarray(product)


def block_sums_sorted(gaps: FloatArray, order: IntArray, Z: FloatArray) -> FloatArray:
    """M for R_ij = |x_i - x_j|, order sorting the x; (n - 1,), (n,), (n, k, b) -> (b, k, k)."""
    n, k, b = Z.shape
    if Z.size >= COMPILED_FROM:
        from energystats._core import gaps as loop
        from energystats._core import jit

        if jit.numba is not None:
            return loop.sums_over_gaps(gaps, order, Z).transpose(2, 0, 1)
    Z = Z[order]
    product = multiply_sorted(gaps, Z.reshape(n, k * b)).reshape(n, k, b)
    sums = np.einsum("ijb,ilb->bjl", Z, product)
    return np.asarray(0.5 * (sums + sums.transpose(0, 2, 1)))
