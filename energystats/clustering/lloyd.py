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
    """
    labels = start.copy()
    sizes, table, within = tabulate(R, labels, k)
    W = np.sum(within / (2 * sizes))
    n_iter, fresh = 1, True
    while True:
        before = labels.copy()
        _, nearer = lloyd_pass(R, labels, sizes, table, within)
        now = np.sum(within / (2 * sizes))
        if now < W - tolerance:
            if n_iter == max_iter:
                return LocalOptimum(labels, recomputed(R, labels, k), max_iter, False)
            W, n_iter, fresh = now, n_iter + 1, False
        elif fresh:
            return last_pass(R, before, labels, k, n_iter, nearer, tolerance)
        else:
            labels, fresh = before, True
            sizes, table, within = tabulate(R, labels, k)
            W = np.sum(within / (2 * sizes))


def last_pass(
    R: FloatArray, before: IntArray, after: IntArray, k: int, n_iter: int, nearer: float, tolerance: float
) -> LocalOptimum:
    """Where a pass ends that lowers W by no more than `tolerance`.

    With negative type W falls by at least `nearer`. A pass that breaks this promise beyond rounding is taken back,
    also where W only stays as it is: there the points want to move on, often to and fro, so it is no local optimum.
    """
    W, now = recomputed(R, before, k), recomputed(R, after, k)
    rose = now > W + tolerance or nearer > 2 * tolerance
    kept, within = (before, W) if rose or now > W else (after, now)
    return LocalOptimum(kept, within, n_iter, not rose, rose)


def recomputed(R: FloatArray, labels: IntArray, k: int) -> float:
    """W without the rounding gathered by updates."""
    sizes, _, within = tabulate(R, labels, k)
    return float(np.sum(within / (2 * sizes)))
