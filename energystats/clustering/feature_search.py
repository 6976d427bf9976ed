"""Search clusters of rows by their features: starts, passes and moves of single rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from energystats._core.hartigan import hartigan_among_means
from energystats._core.interrupts import checkpoint
from energystats._typing import FloatArray, IntArray
from energystats.clustering.features import Assignment, Centres, Features, Found
from energystats.clustering.seeding import draw_index

__all__ = ["refilled", "search_features", "seeded_centres"]


EQUAL = 1e-9  # share by which sums of squared distances can differ by rounding alone
OnPass = Callable[[int, float], object]  # passes made, W


def seeded_centres(rows: Features, k: int, rng: np.random.Generator) -> FloatArray:
    """Draw k initial centres by greedy k-means++ [Arthur & Vassilvitskii 2007]; (k, p).

    A few rows are drawn in proportion to weight times squared distance to the nearest seed before; the next seed is the
    one that leaves the least sum of these.
    """
    seeds = [draw_index(rows.weights, rng)]
    nearest = rows.distances(rows.at(np.array(seeds)).rows)
    while len(seeds) < k:
        nearest[seeds] = 0.0
        free = nearest if nearest.any() else 1.0 - np.isin(np.arange(rows.n), seeds)
        drawn = np.array([draw_index(rows.weights * free, rng) for _ in range(2 + int(math.log(k)))])
        left = np.minimum(nearest[:, None], rows.distances_to_each(rows.at(drawn).rows))
        sums = rows.weights @ left
        best = int(np.flatnonzero(sums <= (1 + EQUAL) * sums.min())[0])
        seeds.append(int(drawn[best]))
        nearest = left[:, best].copy()
    return rows.at(np.array(seeds)).rows


def search_features(
    rows: Features, start: Found | FloatArray, max_iter: int, *, single_moves: bool, on_pass: OnPass | None = None
) -> Found:
    """Minimise the within dispersion of landmark features by Lloyd's method, then by Hartigan's if `single_moves`.

    It starts with a partition, or with centres (k, p), whose nearest rows are one.
    """
    lloyd, watch = True, rows.watch()
    found = start if isinstance(start, Found) else Found(*refilled(rows, start, watch), 0, converged=False)
    W, tolerance = found.centres.W, found.centres.tolerance
    while found.n_iter < max_iter:
        checkpoint()
        # Lloyd's rule first, O(n k p) and no sums in between; it brings W down in few passes
        if lloyd:
            labels, centres = refilled(rows, found.centres.means, watch)
            ended = np.array_equal(labels, found.labels) or not W - tolerance > centres.W
            if centres.W > W:  # rounding
                labels, centres = found.labels, found.centres
        # then single moves, which leave Lloyd's local optima where W is lower elsewhere [G thm 5]
        else:
            labels, centres, moved = _single_moves_of(rows, found, tolerance, watch)
            ended = moved == 0
        W = centres.W
        found = Found(labels, centres, found.n_iter + 1, ended and not (lloyd and single_moves))
        if on_pass is not None:
            on_pass(found.n_iter, W)
        if found.converged:
            break
        lloyd = lloyd and not ended
    return found


def refilled(rows: Features, means: FloatArray, watch: Assignment | None = None) -> tuple[IntArray, Centres]:
    """Assign every row to its nearest centre; fill empty clusters with the farthest rows of clusters with others."""
    labels, centres = (watch or rows).assigned(means)
    empty = np.flatnonzero(centres.counts == 0)
    if not empty.size:
        return labels, centres
    distances, k = rows.distances(means), len(means)
    for j in empty:
        counts = np.bincount(labels, minlength=k)
        worst = int(np.where(counts[labels] > 1, distances, -1.0).argmax())
        labels[worst], distances[worst] = j, 0.0
    return labels, rows.centres(labels, k)


def _single_moves_of(
    rows: Features, found: Found, tolerance: float, watch: Assignment
) -> tuple[IntArray, Centres, int]:
    """Run Hartigan's method on the rows that would move, and recompute cluster sums from scratch.

    When no row would move, none does: no single move lowers W any more.
    """
    candidates = watch.movable(found, tolerance)
    if not candidates.size:
        return found.labels, found.centres, 0
    labels, centres = found.labels.copy(), found.centres
    own, counts = labels[candidates], centres.counts.copy()
    mass, sums = centres.mass.copy(), centres.sums.copy()
    phi = np.ascontiguousarray(rows.at(candidates).rows)
    moved = hartigan_among_means(phi, rows.weights[candidates], own, counts, mass, sums, tolerance)
    labels[candidates] = own
    return labels, rows.centres(labels, counts.size) if moved else centres, moved
