"""Lloyd's method, kernel k-means: every point goes to its nearest cluster at once [D alg 2].

The rule rests on a fact about means: among all centres, the mean has the smallest sum of squared distances. For a rho
that is not of negative type there are no such means, a pass can raise W, and the rule alone can go round in circles for
ever. Adding a constant to rho off the diagonal, which changes W of all partitions alike, changes what the rule does.
"""

from __future__ import annotations

import numpy as np

from energystats._core.lloyd import lloyd_pass
from energystats._typing import IntArray
from energystats.clustering.state import LocalOptimum, OnPass, Problem

__all__ = ["lloyd"]


def lloyd(
    problem: Problem, start: IntArray, *, log_moves: bool = False, on_pass: OnPass | None = None
) -> LocalOptimum:
    """A partition that Lloyd's rule leaves alone, or the last one before a pass that would not lower W.

    The search goes on only while W falls by more than the tolerance, so it ends for every rho. Before a pass that does
    not lower W is believed, it is made again over a fresh table, so that rounding gathered on the way decides nothing.
    """
    labels = start.copy()
    state, fresh = problem.tabulate(labels), True
    path, moves = [state.W], [np.empty((0, 3), np.intp)]
    while True:
        before = labels.copy()
        _, nearer = lloyd_pass(problem.R, problem.weights, labels, *state)
        if state.W < path[-1] - problem.tolerance:
            path.append(state.W)
            moves.append(changes(before, labels, log_moves))
            if on_pass is not None:
                on_pass(len(path) - 1, path[-1])
            if len(path) > problem.max_iter:
                found = LocalOptimum(labels, problem.tabulate(labels).W, problem.max_iter, False)
                break
            fresh = False
        elif fresh:
            found = last_pass(problem, before, labels, len(path), nearer)
            path.append(found.within)
            moves.append(changes(before, found.labels, log_moves))
            break
        else:
            labels, fresh = before, True
            state = problem.tabulate(labels)
            path[-1] = state.W
    return LocalOptimum(
        found.labels,
        found.within,
        found.n_iter,
        found.converged,
        found.rose,
        path=np.array(path),
        moves=np.concatenate(moves),
    )


def changes(before: IntArray, after: IntArray, wanted: bool) -> IntArray:
    """Rows (point, from, to) of a pass."""
    rows = np.flatnonzero(before != after) if wanted else np.empty(0, np.intp)
    return np.stack([rows, before[rows], after[rows]], axis=1)


def last_pass(problem: Problem, before: IntArray, after: IntArray, n_iter: int, nearer: float) -> LocalOptimum:
    """Where a pass ends that lowers W by no more than the tolerance.

    With negative type W falls by at least `nearer`. A pass that breaks this promise beyond rounding is taken back,
    also where W only stays as it is: there the points want to move on, often to and fro, so it is no local optimum.
    """
    W, now = problem.tabulate(before).W, problem.tabulate(after).W
    rose = now > W + problem.tolerance or nearer > 2 * problem.tolerance
    kept, within = (before, W) if rose or now > W else (after, now)
    return LocalOptimum(kept, within, n_iter, not rose, rose)
