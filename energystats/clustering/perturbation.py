"""Leaving a local optimum: one cluster is dissolved and another one founded elsewhere [Franti 2018, random swap]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._typing import IntArray
from energystats.clustering.seeding import drawn
from energystats.clustering.state import LocalOptimum, Problem

__all__ = ["AT_MOST", "improved", "random_swap", "tries_for"]

AT_MOST = 10
PAIRS = 4_000_000  # n squared times the tries, so that all tries together cost about as much as one start


def tries_for(n: int) -> int:
    """Perturbations of every start: ten up to 632 points, one at 2,000, none above."""
    return min(AT_MOST, PAIRS // (n * n))


def random_swap(problem: Problem, labels: IntArray, rng: np.random.Generator) -> IntArray | None:
    """Labels after one cluster gave way to a new one; None where another cluster would be left without points.

    The points of a random cluster go to the nearest of the others. The seed of the new cluster is drawn as in
    k-means++, in proportion to its squared distance from its centre, and takes all points that are nearer to it than
    to their centres.
    """
    if problem.k < 2:
        return None
    state = problem.tabulate(labels)
    squared = state.table / state.mass[:, None] - (state.within / (2 * state.mass**2))[:, None]
    gone = int(rng.integers(problem.k))
    squared[gone] = np.inf
    swapped = np.where(labels == gone, squared.argmin(axis=0), labels)
    own = squared[swapped, np.arange(problem.n)]
    chances = problem.weights * np.maximum(own, 0.0)
    if not chances.any():
        return None
    seed = drawn(chances, rng)
    swapped[problem.R[seed] < own] = gone
    swapped[seed] = gone
    return swapped if np.bincount(swapped, minlength=problem.k).all() else None


def improved(
    problem: Problem,
    found: LocalOptimum,
    tries: int,
    rng: np.random.Generator,
    search: Callable[[IntArray], LocalOptimum],
) -> LocalOptimum:
    """The best local optimum of `tries` perturbations, each of the best one so far."""
    for _ in range(tries):
        start = random_swap(problem, found.labels, rng)
        if start is not None:
            other = search(start)
            if other.within < found.within - problem.tolerance:
                found = other
    return found
