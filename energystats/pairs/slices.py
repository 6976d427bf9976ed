"""Sum over pairs along random directions, each of them a line [theory 9]."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from energystats._core.group_sums import Indicators
from energystats._typing import FloatArray, IntArray
from energystats.pairs.line import Line
from energystats.pairs.tiles import Pairs

__all__ = ["LINES_BYTES", "PLACE_BYTES", "SlicedPairs", "projection_of", "random_directions", "slice_factor"]


LINES_BYTES = 2**28  # of sorted projections that are kept
PLACE_BYTES = 24  # a point and direction: a number, an index and a gap
PROJECTED_AT_ONCE = 65_536  # rows


@dataclass(frozen=True, slots=True, eq=False)
class SlicedPairs(Pairs):
    """Estimate ||x - y|| by the mean over directions u of c |u'x - u'y|, which is unbiased [theory 9]."""

    n: int  # number of points
    project: Callable[[FloatArray], FloatArray]  # their coordinates along some directions; (d, s) -> (n, s)
    directions: FloatArray  # (d, n_slices) unit vectors
    kept: tuple[Line, ...] = ()  # the projections, where they are few enough; else they are recomputed for every sum

    adds_many = True

    @classmethod
    def of(cls, n: int, project: Callable[[FloatArray], FloatArray], directions: FloatArray) -> Self:
        """Build the object for sums over pairs along random directions, with projections stored if they fit."""
        recomputed = cls(n, project, directions)
        if PLACE_BYTES * n * recomputed.n_slices > LINES_BYTES:
            return recomputed
        return replace(recomputed, kept=tuple(recomputed.lines()))

    @property
    def n_slices(self) -> int:
        """Return the number of random directions."""
        return int(self.directions.shape[1])

    @property
    def factor(self) -> float:
        """Return the factor that makes a sum over random directions an unbiased estimate."""
        return slice_factor(len(self.directions)) / self.n_slices

    def lines(self) -> Iterator[Line]:
        """Yield the points projected on each random direction, sorted on a line."""
        if self.kept:
            yield from self.kept
            return
        at_once = max(1, LINES_BYTES // (PLACE_BYTES * self.n))
        for start in range(0, self.n_slices, at_once):
            for projected in self.project(self.directions[:, start : start + at_once]).T:
                yield Line(projected)

    def multiply(self, columns: FloatArray) -> FloatArray:
        return self.factor * _sum_arrays(line.multiply(columns) for line in self.lines())

    def block_sums(self, Z: FloatArray | Indicators) -> FloatArray:
        return self.factor * _sum_arrays(line.block_sums(Z) for line in self.lines())

    def block_sums_and_totals(self, Z: FloatArray | Indicators, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        column = weights[:, None]
        pairs = ((line.block_sums(Z), line.multiply(column)[:, 0]) for line in self.lines())
        M, totals = next(pairs)
        for more_M, more_totals in pairs:
            M, totals = M + more_M, totals + more_totals
        return self.factor * M, self.factor * totals

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return self.factor * _sum_arrays(line.bin_sums(codes, weights, n_bins) for line in self.lines())

    def absolute_total(self) -> float:
        return self.factor * sum(line.absolute_total() for line in self.lines())


def projection_of(points: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a function that projects points, centred at their mean, on directions; (d, s) -> (n, s)."""
    center = points.mean(axis=0)

    def project(directions: FloatArray) -> FloatArray:
        found = np.empty((len(points), directions.shape[1]), order="F")
        for start in range(0, len(points), PROJECTED_AT_ONCE):
            rows = slice(start, start + PROJECTED_AT_ONCE)
            found[rows] = (points[rows] - center) @ directions
        return found

    return project


def _sum_arrays(parts: Iterator[FloatArray]) -> FloatArray:
    """Return the sum of the arrays of an iterator."""
    whole = next(parts).copy()
    for part in parts:
        whole += part
    return whole


def slice_factor(d: int, alpha: float = 1.0) -> float:
    """Compute the constant c with c E|u'z|^alpha = ||z||^alpha for a uniform direction u in d dimensions.

    c = sqrt(pi) Gamma((d + alpha)/2) / (Gamma(d/2) Gamma((alpha + 1)/2)); 1 for d = 1, pi/2 and 2 for d = 2 and 3 at
    alpha = 1.
    """
    if d == 1:
        return 1.0
    log = math.lgamma((d + alpha) / 2) - math.lgamma(d / 2) - math.lgamma((alpha + 1) / 2)
    return math.sqrt(math.pi) * math.exp(log)


def random_directions(d: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw independent uniform unit vectors in d dimensions; for d = 1 return the single vector 1; (d, count)."""
    if d == 1:
        return np.ones((1, 1))
    # the normal distribution is the same in all directions
    drawn = rng.standard_normal((count, d))
    return np.ascontiguousarray((drawn / np.linalg.norm(drawn, axis=1)[:, None]).T)
