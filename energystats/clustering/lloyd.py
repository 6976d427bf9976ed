"""Lloyd's method, kernel k-means: every point goes to its nearest cluster at once [D alg 2].

The rule rests on a fact about means: among all centres, the mean has the smallest sum of squared distances. For a rho
that is not of negative type there are no such means, a pass can raise W, and the rule alone can go round in circles for
ever. Adding a constant to rho off the diagonal, which changes W of all partitions alike, changes what the rule does.
"""

from __future__ import annotations

import numpy as np

from energystats._core.lloyd import lloyd_pass
from energystats._typing import FloatArray, IntArray
from energystats.clustering.state import LocalOptimum, tabulate

__all__ = ["lloyd"]


def lloyd(R: FloatArray, start: IntArray, k: int, *, max_iter: int, tolerance: float) -> LocalOptimum:
    """A partition that Lloyd's rule leaves alone, or the last one before a pass that would not lower W.

    The search goes on only while W falls by more than `tolerance`, so it ends for every rho. Before a pass that does
    not lower W is believed, it is made again over a fresh table, so that rounding gathered on the way decides nothing.

    With negative type W falls by at least the sum by which points come nearer. A pass that breaks this beyond rounding
    is taken back, also where W only stays as it is: the points want to move on there, so it is no local optimum.
    """
    labels = start.copy()
    sizes, table, within = tabulate(R, labels, k)
    W = float(np.sum(within / (2 * sizes)))
    n_iter, fresh = 1, True
    while True:
        before = labels.copy()
        moved, nearer = lloyd_pass(R, labels, sizes, table, within)
        now = float(np.sum(within / (2 * sizes)))
        if now < W - tolerance:
            if n_iter == max_iter:
                return LocalOptimum(labels, recomputed(R, labels, k), max_iter, False)
            W, n_iter, fresh = now, n_iter + 1, False
        elif fresh:
            now = recomputed(R, labels, k) if moved else W
            rose = now > W + tolerance or (now > W - tolerance and nearer > 2 * tolerance)
            kept, lowest = (before, W) if rose or now > W else (labels, now)
            return LocalOptimum(kept, lowest, n_iter, not rose, rose)
        else:
            labels, fresh = before, True
            sizes, table, within = tabulate(R, labels, k)
            W = float(np.sum(within / (2 * sizes)))


def recomputed(R: FloatArray, labels: IntArray, k: int) -> float:
    """W without the rounding gathered by updates."""
    sizes, _, within = tabulate(R, labels, k)
    return float(np.sum(within / (2 * sizes)))
