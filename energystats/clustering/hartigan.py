"""Hartigan's method: single points move while W falls [G alg 1].

It compares W of partitions and nothing else. A constant added to rho off the diagonal changes W of all partitions into
k clusters alike [K thm 6], so the moves stay the same, and a rho that is not of negative type needs no repair first.
Every move lowers W by more than a fixed amount, so the search ends for every rho.
"""

from __future__ import annotations

import numpy as np

from energystats._core.hartigan import hartigan_passes
from energystats._typing import FloatArray, IntArray
from energystats.clustering.state import LocalOptimum, tabulate

__all__ = ["hartigan"]


def hartigan(R: FloatArray, start: IntArray, k: int, *, max_iter: int, tolerance: float) -> LocalOptimum:
    """A partition from which no single move lowers W by more than `tolerance`.

    The table T = RZ is kept up to date move by move. Before the answer is believed, the table is computed afresh
    and one more pass over it must move nothing, so that rounding gathered on the way cannot end the search early.
    """
    labels = start.copy()
    n_iter, settled, confirmed = 0, True, False
    while settled and not confirmed:
        sizes, table, within = tabulate(R, labels, k)
        left = max(1, max_iter - n_iter)  # the confirming pass is made in any case
        passes, settled = hartigan_passes(R, labels, sizes, table, within, tolerance, left)
        n_iter += passes
        confirmed = settled and passes == 1
    sizes, _, within = tabulate(R, labels, k)
    return LocalOptimum(labels, float(np.sum(within / (2 * sizes))), n_iter, confirmed)
