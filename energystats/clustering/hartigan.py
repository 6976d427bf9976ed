"""Hartigan's method: single points move while W falls [G alg 1].

It compares W of partitions and nothing else. A constant added to rho off the diagonal changes W of all partitions into
k clusters alike [K thm 6], so the moves stay the same, and a rho that is not of negative type needs no repair first.
Every move lowers W by more than a fixed amount, so the search ends for every rho.
"""

from __future__ import annotations

import numpy as np

from energystats._core.hartigan import hartigan_pass
from energystats._typing import IntArray
from energystats.clustering.state import LocalOptimum, OnPass, Problem

__all__ = ["hartigan"]


def hartigan(
    problem: Problem,
    start: IntArray,
    *,
    worth: float = np.inf,
    log_moves: bool = False,
    on_pass: OnPass | None = None,
) -> LocalOptimum:
    """A partition from which no single move lowers W by more than the tolerance.

    The table T = RZ is kept up to date move by move. Before the answer is believed, the table is computed afresh
    and one more pass over it must move nothing, so that rounding gathered on the way cannot end the search early. An
    answer that is not below `worth` is left unconfirmed.
    """
    labels = start.copy()
    state, fresh = problem.tabulate_quickly(labels), False
    room = np.empty((problem.n if log_moves else 0, 3), np.intp)
    path, moves, n_iter = [state.W], [room[:0]], 0
    while True:
        made = hartigan_pass(problem.R, problem.weights, labels, *state, problem.tolerance, room)
        n_iter += 1
        path.append(state.W)
        moves.append(room[:made].copy())
        if on_pass is not None:
            on_pass(n_iter, path[-1])
        if made == 0 and (fresh or worth <= state.W):
            break
        if made == 0:  # the confirming pass is made in any case
            state, fresh = problem.tabulate(labels), True
            continue
        fresh = False
        if n_iter >= problem.max_iter:
            break
    within = state.W if made == 0 else problem.tabulate(labels).W
    return LocalOptimum(labels, within, n_iter, made == 0, path=np.array(path), moves=np.concatenate(moves))
