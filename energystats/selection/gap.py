"""Gaps: the gap statistic on the energy W with its reference data, and gaps between eigenvalues [theory 4].

The first is that of Tibshirani, Walther & Hastie (2001), the second that of [G s.5.2].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, Protocol, Self

import numpy as np

from energystats._core.gram import is_found_in_full, largest_pairs, some_eigenvalues
from energystats._core.interrupts import map_in_threads
from energystats._core.restarts import tries_for
from energystats._core.threads import one_thread, side_by_side, threads_given
from energystats._runtime import with_bar
from energystats._typing import FloatArray
from energystats.cluster_tests.reference_samples import Axes, MarginalReference, compares_numbers, principal_axes
from energystats.clustering.exact_1d import has_exact
from energystats.clustering.local_search import Problem, search_points, search_problem, totals_of
from energystats.clustering.rounded_pairs import RoundedPoints
from energystats.clustering.search import MOVE_TOLERANCE
from energystats.dissimilarity import Dissimilarity, Points
from energystats.geometry.coordinates import principal_coordinates
from energystats.inputs.options import children
from energystats.metrics.base import Metric
from energystats.metrics.closed_form import Euclidean

__all__ = [
    "NEGATIVE",
    "DrawsTables",
    "GapCurve",
    "GapReference",
    "NullKind",
    "count_threads",
    "eigengaps",
    "first_within_one_error",
    "fit_gap_reference",
    "gap_curve",
    "logarithm",
    "reference_starts",
    "walk_eigenvalues",
]


NOTHING = 1e-13  # of the largest W: what rounding leaves of clusters of coinciding points
# log W is then higher than from ten starts by at most .06 of s(k) up to 300 points, .12 at 1,000, .25 at 2,000, .4 at
# 3,000: measured for 20 normal or uniform sets in 2, 5, 10 columns, k = 2 to 8; with one start by half of s(k)
REFERENCE_STARTS = 3
SINGLE_ABOVE = 1000  # points: of more in a reference set rho is held in single precision, in half the time
STORED_BYTES = 2**29  # of the matrices of reference sets that are searched side by side
NEGATIVE = "rho is negative for some points or reference points"
COINCIDING = "the points of a reference set coincide within {clusters}, so that its W is 0"


@dataclass(frozen=True, slots=True, eq=False)
class GapCurve:
    """Hold the gap statistic, mean log W(k) of reference sets minus log W(k) of the data, and its errors; k = 1..."""

    # gap, error: (k_max,) the error is sd sqrt(1 + 1/B) over B reference sets, sd with divisor B
    gap: FloatArray
    error: FloatArray
    rounded: bool  # whether clusters of reference sets were found with rho in single precision


def gap_curve(
    log_within: FloatArray,
    reference: DrawsTables,
    *,
    n_resamples: int,
    n_init: int,
    progress: bool,
    rng: np.random.Generator,
) -> GapCurve | str:
    """Compute the gap statistic for 1, 2, ... clusters from clustered reference sets; or return why it is undefined.

    Why not is a text, for a reference set with a W that is not positive.
    """
    k_max, starts = log_within.size, reference_starts(n_init)
    sets = reference.draws(n_resamples, rng)  # each with its matrix, so that few are made before they are searched
    first = next(sets)

    def search(drawn: tuple[Dissimilarity, np.random.Generator]) -> FloatArray:
        return logarithm(_withins_up_to(drawn[0], k_max, starts, drawn[1]))

    # every set has a generator of its own, so that neither order nor number of threads matter
    searched = map_in_threads(search, chain((first,), sets), count_threads(first[0]))
    shown = with_bar(searched, progress, total=n_resamples, unit="reference set", size=lambda _: 1)
    with one_thread(), closing(searched), closing(shown):
        logs = np.array(list(shown))
    if np.isnan(logs).any():
        return NEGATIVE
    if not np.isfinite(logs).all():
        k = int(np.flatnonzero(np.isinf(logs).any(axis=0))[0]) + 1
        return COINCIDING.format(clusters=f"{k} cluster{'s' * (k > 1)}")
    # [Tibshirani et al., eq. 3 and step 3]: s(k) = sd sqrt(1 + 1/B), sd with divisor B
    error = logs.std(axis=0) * np.sqrt(1 + 1 / n_resamples)
    return GapCurve(logs.mean(axis=0) - log_within, error, _holds_single(first[0]))


def count_threads(d: Dissimilarity) -> int:
    """Choose the number of threads for searches that each hold a dissimilarity matrix, limited by memory and metric."""
    return max(1, min(threads_given(), STORED_BYTES // (8 * d.n**2))) if d.metric.in_threads else 1


def reference_starts(n_init: int) -> int:
    """Return the number of starts for clustering each reference set, at most 3."""
    return min(n_init, REFERENCE_STARTS)


def _withins_up_to(d: Dissimilarity, k_max: int, n_init: int, rng: np.random.Generator) -> FloatArray:
    """Compute the within dispersions of the best partitions found into 1 to k_max clusters; (k_max,)."""
    if has_exact(d):
        distinct = np.unique(d.points).size  # as many clusters have W = 0
        best = (search_points(d, k, rng, n_init)[1] if k < distinct else 0.0 for k in range(2, k_max + 1))
        return np.array([float(d.row_totals.sum()) / (2 * d.n), *best])
    problem, unit = _state_problem(d)
    tries = n_init * tries_for(d.n)
    found = (search_problem(replace(problem, k=k), n_init, tries, rng)[1] for k in range(2, k_max + 1))
    return np.ldexp([float(problem.totals.sum()) / (2 * d.n), *found], unit)


def _holds_single(d: Dissimilarity) -> bool:
    """Return whether the dissimilarities of a reference set are stored in single precision."""
    return isinstance(d, Points) and d.n > SINGLE_ABOVE and not has_exact(d)


def _state_problem(d: Dissimilarity) -> tuple[Problem, int]:
    """Prepare the search for clusters in a reference set; return it, and e if rho was divided by 2**e."""
    # seven digits of rho are enough to find clusters, and log W has nine then
    rounded = RoundedPoints.of(d) if _holds_single(d) else None
    if rounded is None:
        held = d.stored()
        R, unit, totals = held.matrix, 0, totals_of(held)
    else:
        held, R, unit = rounded, rounded.R, rounded.unit
        totals = np.ldexp(rounded.row_totals, -unit)
    tolerance = math.ldexp(MOVE_TOLERANCE * held.scale, -unit)
    return Problem(R, np.ones(d.n), 1, tolerance, known_totals=totals), unit


def logarithm(within: FloatArray) -> FloatArray:
    """Compute logarithms of within dispersions elementwise, minus infinity for 0 up to rounding.

    NaN where W is negative.
    """
    negligible = np.abs(within) <= NOTHING * np.abs(within).max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.where(negligible, 0.0, within)))


def first_within_one_error(gap: FloatArray, error: FloatArray) -> int | None:
    """Find the smallest k with Gap(k) >= Gap(k + 1) - s(k + 1); None if there is none below the last k."""
    # [Tibshirani et al., step 3], the rule of one standard error
    met = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return int(met[0]) + 1 if met.size else None


NullKind = Literal["unimodal", "box"]


class DrawsTables(Protocol):
    """Define a distribution from which reference sets are drawn."""

    def draws(self, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Yield reference sets for the gap statistic, each with a random generator for clustering it."""


@dataclass(frozen=True, slots=True, eq=False)
class GapReference:
    """Draw independent coordinates along the principal axes, from nearest unimodal or from uniform distributions."""

    axes: Axes  # principal component scores, and back to the columns
    metric: Metric  # fitted to the data, not on the reference sets
    null: NullKind  # the distributions along the axes
    # (d,) by which columns are divided before their axes are found: 1, or their deviations if the metric divides by
    # them, so that no column is narrow enough to be taken for rounding
    scale: FloatArray

    @classmethod
    def of(cls, points: FloatArray, metric: Metric, null: NullKind) -> Self:
        """Build the reference distribution of the gap statistic, along the points' principal axes."""
        deviations = points.std(axis=0) if metric.measures_columns else np.ones(points.shape[1])
        scale = np.where(deviations > 0, deviations, 1.0)
        return cls(principal_axes(points / scale), metric, null, scale)

    def draws(self, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Draw reference sets for the gap statistic, and yield each with the generator that drew it."""
        reference = MarginalReference.of(self.axes, self.null, rng)
        for child in children(rng, n_resamples):
            yield Points(metric=self.metric, points=reference.draw(child) * self.scale, warns=False), child


def fit_gap_reference(d: Dissimilarity, null: NullKind, power: float) -> GapReference | None:
    """Fit the gap statistic's reference distribution to coordinates of the points; None if there are no coordinates.

    A matrix has them if it holds powers of Euclidean distances.
    """
    if not compares_numbers(d):
        return None
    if d.coordinates is not None:
        return GapReference.of(d.coordinates, d.metric, null)
    if d.n_columns or (d.matrix < 0).any():
        return None
    # a matrix has no columns: references are drawn in the coordinates behind its distances, if there are any
    found = principal_coordinates(d.matrix ** (1 / power), tol=d.rounding)
    if found.n_negative or not found.coordinates.shape[1]:
        return None
    return GapReference.of(found.coordinates, Euclidean(power), null)


# ---------------------------------------------------------------- gaps between eigenvalues

DECAY = 3.0  # affinity exp(-DECAY rho/median): a third of the median distance counts as near
ROWS_AT_ONCE = 64  # of the affinities, which stay in the cache


def walk_eigenvalues(R: FloatArray, count: int) -> FloatArray:
    """Compute the largest eigenvalues of a random walk between points, likelier between near ones; (count,).

    D^(-1) A are the transition probabilities of a walk on the points, and I - D^(-1) A is the random-walk Laplacian.
    A is positive definite for rho of negative type (Schoenberg), and the same in any unit.
    """
    n = len(R)
    rate, A = DECAY / (_median_size(R) or 1.0), np.empty((n, n))
    root, least = np.empty(n), R.min(axis=1, initial=0.0)  # rho far below 0 would be too much for exp

    def put(rows: slice, base: FloatArray) -> None:
        np.exp(np.multiply(np.subtract(R[rows], base, out=A[rows]), -rate, out=A[rows]), out=A[rows])

    def fill(rows: slice) -> None:
        put(rows, least[rows, None])
        root[rows] = np.sqrt(A[rows].sum(axis=1))

    def scale(rows: slice) -> None:
        # D^(-1/2) A D^(-1/2) is symmetric and has the eigenvalues of D^(-1) A
        if least.any():
            put(rows, (least[rows, None] + least) / 2)
        A[rows] /= root[rows, None]
        A[rows] /= root

    parts = [slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE)]
    with side_by_side(len(parts)) as apply:
        apply(fill, parts)
        apply(scale, parts)
    if is_found_in_full(n, count):
        return np.asarray(some_eigenvalues(A, n - count, n - 1)[::-1])
    return largest_pairs(lambda columns: A @ columns, n, count)[0]


def _median_size(R: FloatArray) -> float:
    """Compute the median of the nonzero absolute dissimilarities; 0 if all are 0."""
    above = np.concatenate([row[i + 1 :] for i, row in enumerate(R)])  # every pair once has the same median
    sizes = np.abs(above, out=above) if above.all() else np.abs(above[above != 0])
    return float(np.median(sizes, overwrite_input=True)) if sizes.size else 0.0


def eigengaps(R: FloatArray, k_max: int) -> FloatArray:
    """Compute the gaps between successive largest eigenvalues of a random walk on the points; (k_max,)."""
    return -np.diff(walk_eigenvalues(R, k_max + 1))
