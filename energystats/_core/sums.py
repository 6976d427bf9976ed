"""M = Z'RZ, the one small matrix behind every statistic [theory 3], and R times a block of columns.

`Z` holds indicators (or weights) of shape (n, k, b): k groups in each of b labelings. Three routes
give the same numbers: dense or tiled rows of the upper triangle of R, and sorted sums in one dimension.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from energystats._typing import FloatArray

__all__ = [
    "UpperRows",
    "absolute_total",
    "block_sums_from_upper",
    "block_sums_sorted",
    "multiply_sorted",
    "multiply_upper",
]

# (start, R[start:stop, start:]) for consecutive row blocks: every pair once, the diagonal block whole
UpperRows = Iterable[tuple[int, FloatArray]]


def block_sums_from_upper(upper: UpperRows, Z: FloatArray) -> FloatArray:
    """M[b] = Z[:, :, b]' R Z[:, :, b] for symmetric R, half the flops of the full product; (b, k, k)."""
    n, k, b = Z.shape
    columns = Z.reshape(n, k * b)
    half = np.zeros((k, k, b))
    for start, rows in upper:
        height = rows.shape[0]
        stop = start + height
        product = rows[:, :height] @ columns[start:stop]  # both triangles of the diagonal block
        product *= 0.5
        product += rows[:, height:] @ columns[stop:]
        half += np.einsum("ijb,ilb->jlb", Z[start:stop], product.reshape(height, k, b))
    half += half.transpose(1, 0, 2).copy()
    return np.asarray(half.transpose(2, 0, 1))


def multiply_upper(upper: UpperRows, columns: FloatArray) -> FloatArray:
    """R @ columns from the upper triangle of R; (n, c) -> (n, c)."""
    product = np.zeros_like(columns)
    for start, rows in upper:
        height = rows.shape[0]
        stop = start + height
        product[start:stop] += rows @ columns[start:]
        product[stop:] += rows[:, height:].T @ columns[start:stop]
    return product


def absolute_total(upper: UpperRows) -> float:
    """Sum of |R_ij| over all ordered pairs."""
    return float(sum(2 * np.abs(rows).sum() - np.abs(rows[:, : len(rows)]).sum() for _, rows in upper))


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


def block_sums_sorted(gaps: FloatArray, Z: FloatArray) -> FloatArray:
    """M for R_ij = |x_i - x_j|, rows of Z in the order of the sorted x; (b, k, k)."""
    n, k, b = Z.shape
    product = multiply_sorted(gaps, Z.reshape(n, k * b)).reshape(n, k, b)
    sums = np.einsum("ijb,ilb->bjl", Z, product)
    return np.asarray(0.5 * (sums + sums.transpose(0, 2, 1)))
