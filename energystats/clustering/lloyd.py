"""Lloyd's method, kernel k-means: every point goes to its nearest cluster at once [D alg 2].

The rule rests on a fact about means: among all centres, the mean has the smallest sum of squared distances. For a rho
that is not of negative type there are no such means, a pass can raise W, and the rule alone can go round in circles for
ever. Adding a constant to rho off the diagonal, which changes W of all partitions alike, changes what the rule does.
"""

from __future__ import annotations

import numpy as np

from energystats._core.lloyd import lloyd_pass
from energystats._typing import IntArray
from energystats.clustering.state import NO_MOVES, LocalOptimum, OnPass, Problem

__all__ = ["lloyd"]


def lloyd(
    problem: Problem,
    start: IntArray,
    *,
    worth: float = np.inf,
    log_moves: bool = False,
    on_pass: OnPass | None = None,
) -> LocalOptimum:
    """A partition that Lloyd's rule leaves alone, or the last one before a pass that would not lower W.

    The search goes on only while W falls by more than the tolerance, so it ends for every rho. Before a pass that does
    not lower W is believed, it is made again over a fresh table, so that rounding gathered on the way decides nothing.

    With negative type W falls by at least the sum by which points come nearer. A pass that breaks this beyond rounding
    is taken back, also where W only stays as it is: the points want to move on there, so it is no local optimum. Every
    answer is confirmed, whatever it is `worth`.
    """
    labels = start.copy()
    state, fresh = problem.tabulate(labels), True
    path, moves, ended, rose = [state.W], [NO_MOVES], False, False
    while not ended and len(path) <= problem.max_iter:
        before, W = labels.copy(), path[-1]
        moved, nearer = lloyd_pass(problem.R, problem.weights, labels, *state)
        now = state.W
        if not now < W - problem.tolerance and not fresh:
            labels, fresh = before, True
            state = problem.tabulate(labels)
            path[-1] = state.W
            continue
        if not now < W - problem.tolerance:
            now = problem.tabulate(labels).W if moved else W
            rose = now > W + problem.tolerance or (now > W - problem.tolerance and nearer > 2 * problem.tolerance)
            if rose or now > W:
                labels, now = before, W
            ended = True
        fresh = False
        path.append(now)
        moves.append(changes(before, labels) if log_moves else NO_MOVES)
        if on_pass is not None:
            on_pass(len(path) - 1, now)
    return LocalOptimum(
        labels,
        problem.tabulate(labels).W,
        len(path) - 1,
        ended and not rose,
        rose,
        path=np.array(path),
        moves=np.concatenate(moves),
    )


def changes(before: IntArray, after: IntArray) -> IntArray:
    """Rows (point, from, to) of a pass."""
    rows = np.flatnonzero(before != after)
    return np.stack([rows, before[rows], after[rows]], axis=1)
