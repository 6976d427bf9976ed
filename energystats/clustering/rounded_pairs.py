"""Hartigan's method among many points: the pairs are stored in single precision, and the search ends in double.

Half the memory holds the matrix; the whole takes a little longer. What single precision leaves of rho, seven digits,
decides between starts; every move that lowers the true W is then made, with sums in double precision over pairs that
are computed again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from energystats._core.block_krylov import ROUGH, fits_blocks, largest_by_blocks, refine_pairs
from energystats._core.gram import multiply_gram
from energystats._core.group_sums import add_totals
from energystats._core.interrupts import checkpoint
from energystats._core.statistics import best_gains
from energystats._core.threads import one_thread
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, Points
from energystats.pairs.tiles import Recomputed

__all__ = ["RoundedPoints", "polish"]


SAMPLE = 64  # rows whose rho choose the unit


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundedPoints(Points):
    """Hold points and their matrix of rho in single precision, scaled by a power of two so that rho is near 1."""

    R: Any = field()  # (n, n) rho times 2**-unit, symmetric
    unit: int = field()  # its exponent
    row_totals: FloatArray = field()  # (n,) sums of rho over all points, in double precision

    @classmethod
    def of(cls, d: Dissimilarity) -> RoundedPoints | None:
        """Compute all dissimilarities in single precision by tiles; return None if a value is too large."""
        rows = np.linspace(0, d.n - 1, SAMPLE).astype(np.intp)
        unit = int(np.frexp(float(np.abs(d.rho(rows, rows)).mean()))[1])
        R, totals, ones = np.empty((d.n, d.n), np.float32), np.zeros(d.n), np.ones(d.n)
        for row, column, tile in add_totals(Recomputed(d.points, d.metric, d.warns).upper_tiles(), ones, totals):
            height, width = tile.shape
            with np.errstate(over="ignore"):
                part = np.ldexp(tile, -unit).astype(np.float32)
            if not np.isfinite(part).all():
                return None
            R[row : row + height, column : column + width] = part
            R[column : column + width, row : row + height] = part.T
        return d.as_kind(cls, R=R, unit=unit, row_totals=totals, warns=False)

    def largest_eigenpairs(self, count: int, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Compute the largest eigenpairs of the centred Gram matrix in single precision, then refine them."""
        if not fits_blocks(self.n, count):
            return super().largest_eigenpairs(count, weights)
        w = np.ones(self.n) if weights is None else weights

        def multiply(columns: FloatArray) -> FloatArray:
            return np.asarray(np.ldexp((self.R @ columns.astype(np.float32)).astype(np.float64), self.unit))

        rough = largest_by_blocks(lambda columns: multiply_gram(multiply, w, columns), self.n, count, ROUGH)
        if rough is None:
            return super().largest_eigenpairs(count, weights)
        return refine_pairs(lambda columns: multiply_gram(self.pairs.multiply, w, columns), rough[1]) or (
            super().largest_eigenpairs(count, weights)
        )


@dataclass(frozen=True, slots=True)
class Polished:
    """Hold the partition after single moves in double precision, with its W and number of passes."""

    labels: IntArray  # (n,) cluster of each point
    within: float  # W
    n_iter: int  # passes that moved points
    converged: bool  # whether no move was left


def polish(
    d: Dissimilarity, labels: IntArray, weights: FloatArray, k: int, tolerance: float, max_iter: int
) -> Polished:
    """Make single moves in double precision until W falls no more, or for `max_iter` passes; return the partition.

    One pass over the pairs where nothing moves, which is nearly always; a move takes one row of rho, and another pass.
    """
    labels, made = labels.copy(), 0
    while True:
        checkpoint()
        table, mass, within = _tabulate(d, labels, weights, k)
        counts = np.bincount(labels, minlength=k)
        candidates = np.flatnonzero(best_gains(table, mass, within, counts, labels, weights) > tolerance)
        moved = 0
        for i in candidates if made < max_iter else ():
            here = slice(i, i + 1)
            j, w = labels[i], weights[i]
            if not best_gains(table[:, here], mass, within, counts, labels[here], weights[here])[0] > tolerance:
                continue
            halves = within / (2 * mass)
            rises = (table[:, i] - halves) / (mass + w)
            rises[j] = np.inf
            best = int(rises.argmin())
            row = d.rho(np.array([i]), np.arange(d.n))[0]
            within[j] -= 2 * w * table[j, i]
            within[best] += 2 * w * table[best, i]
            table[j] -= w * row
            table[best] += w * row
            mass[j], mass[best] = mass[j] - w, mass[best] + w
            counts[j], counts[best] = counts[j] - 1, counts[best] + 1
            labels[i], moved = best, moved + 1
        if not moved:
            return Polished(labels, float(np.sum(within / (2 * mass))), made, candidates.size == 0 or made < max_iter)
        made += 1


def _tabulate(
    d: Dissimilarity, labels: IntArray, weights: FloatArray, k: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute sums of dissimilarities from points to clusters, (k, n), masses, (k,), and sums inside, (k,)."""
    Z = np.where(labels[:, None] == np.arange(k), weights[:, None], 0.0)
    table = np.ascontiguousarray(d.pairs.multiply(Z).T)
    with one_thread():
        within = np.einsum("il,li->l", Z, table)
    return table, Z.sum(axis=0), within
