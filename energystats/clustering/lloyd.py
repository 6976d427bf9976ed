"""Lloyd's method, kernel k-means: every point goes to its nearest cluster at once [D alg 2]."""

from __future__ import annotations

import numpy as np

from energystats._core.lloyd import lloyd_pass
from energystats._typing import FloatArray, IntArray
from energystats.clustering.state import LocalOptimum, tabulate

__all__ = ["lloyd"]


def lloyd(R: FloatArray, start: IntArray, k: int, *, max_iter: int, tolerance: float) -> LocalOptimum:
    """A partition that Lloyd's rule leaves alone, or the last one before a pass that would raise W.

    For negative type W never rises. For an indefinite rho it can, and the rule can cycle; a pass that raises W is
    taken back and ends the search.
    """
    labels = start.copy()
    sizes, table, within = tabulate(R, labels, k)
    W = np.sum(within / (2 * sizes))
    for n_iter in range(1, max_iter + 1):
        before = labels.copy()
        moved = lloyd_pass(R, labels, sizes, table, within)
        change = np.sum(within / (2 * sizes)) - W
        if moved == 0 or change > -tolerance:
            kept = before if change > 0 else labels
            return LocalOptimum(
                kept, recomputed(R, kept, k), n_iter, bool(change <= tolerance), bool(change > tolerance)
            )
        W += change
    return LocalOptimum(labels, recomputed(R, labels, k), max_iter, False)


def recomputed(R: FloatArray, labels: IntArray, k: int) -> float:
    """W without the rounding gathered by updates."""
    sizes, _, within = tabulate(R, labels, k)
    return float(np.sum(within / (2 * sizes)))
