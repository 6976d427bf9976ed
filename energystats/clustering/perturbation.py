"""Leaving a local optimum: clusters give way to others, and the search goes on from there.

Two ways take turns: a random swap (Franti 2018) dissolves one cluster and founds another one elsewhere; merge and split
joins two clusters and parts one in two. Ten restarts alone missed the best known W in 9 of 66 reference cases, each in
1 to 8 of 15 searches; ending every start with exchanges of two points changed none of these; with both ways none of
3,960 searches missed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._typing import IntArray
from energystats.clustering.seeding import drawn
from energystats.clustering.state import LocalOptimum, Problem

__all__ = ["AT_MOST", "improved", "merge_and_split", "random_swap", "tries_for"]

AT_MOST = 20
PAIRS = 16_000_000  # n squared times the tries, so that all tries together cost about as much as the distances do


def tries_for(n: int) -> int:
    """Perturbations of every start: twenty up to 894 points, one at 4,000, none above."""
    return min(AT_MOST, PAIRS // (n * n))


def random_swap(problem: Problem, labels: IntArray, rng: np.random.Generator) -> IntArray | None:
    """Labels after one cluster gave way to a new one; None where another cluster would be left without points.

    The points of a random cluster go to the nearest of the others. The seed of the new cluster is drawn as in
    k-means++, in proportion to its squared distance from its centre, and takes all points that are nearer to it than
    to their centres.
    """
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
    return complete(swapped, problem.k)


def merge_and_split(problem: Problem, labels: IntArray, rng: np.random.Generator) -> IntArray | None:
    """Labels after two random clusters were joined, and a random one was parted between two seeds of k-means++."""
    kept, freed = rng.choice(problem.k, 2, replace=False)
    merged = np.where(labels == freed, kept, labels)
    parted = int(rng.choice(np.delete(np.arange(problem.k), freed)))
    inside = np.flatnonzero(merged == parted)
    first = inside[drawn(problem.weights[inside], rng)]
    chances = problem.weights[inside] * np.maximum(problem.R[first, inside], 0.0)
    if not chances.any():
        return None
    second = inside[drawn(chances, rng)]
    merged[inside[problem.R[second, inside] < problem.R[first, inside]]] = freed
    merged[second] = freed
    return complete(merged, problem.k)


def complete(labels: IntArray, k: int) -> IntArray | None:
    """The labels, if no cluster lacks points."""
    return labels if np.bincount(labels, minlength=k).all() else None


def improved(
    problem: Problem,
    found: LocalOptimum,
    tries: int,
    rng: np.random.Generator,
    search: Callable[[IntArray], LocalOptimum],
) -> LocalOptimum:
    """The best local optimum of `tries` perturbations, each of the best one so far."""
    if problem.k < 2:
        return found
    for t in range(tries):
        start = (random_swap, merge_and_split)[t % 2](problem, found.labels, rng)
        if start is not None:
            other = search(start)
            if other.within < found.within - problem.tolerance:
                found = other
    return found
