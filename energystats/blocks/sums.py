"""Sums over pairs that routes outside of memory have in common."""

from __future__ import annotations

from energystats._typing import FloatArray

__all__ = ["completed_sums"]


def completed_sums(sums: FloatArray, sizes: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """M and sizes of k groups from those of k - 1 groups and of all rows together, or of all; (b, k, k), (b, k)."""
    if sums.shape[1] > k:
        return sums[:, :k, :k], sizes[:, :k]
    M, s = sums.copy(), sizes.copy()
    M[:, :-1, -1] = M[:, -1, :-1] = sums[:, :-1, -1] - sums[:, :-1, :-1].sum(axis=2)
    M[:, -1, -1] = sums[:, -1, -1] - sums[:, :-1, -1].sum(axis=1) - M[:, :-1, -1].sum(axis=1)
    s[:, -1] = sizes[:, -1] - sizes[:, :-1].sum(axis=1)
    return M, s
