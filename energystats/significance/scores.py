"""Linear scores of held-out points, from coordinates or from squared distances alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from energystats._core.ties import spread_ties
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import NotCalibratedWarning, warn
from energystats.geometry.examination import examine

__all__ = ["Scorer", "make_scorer", "spread_columns"]

EUCLIDEAN_TOLERANCE = 1e-8  # a share of the scale: roots and powers of given numbers cost digits


class Scorer(Protocol):
    """Position of points on the line through the means of two other sets of points.

    Attributes
    ----------
    ties : tuple of str
        Columns whose ties were spread, each with its grid step.
    remarks : tuple of str
        What the summary has to add.
    """

    @property
    def ties(self) -> tuple[str, ...]: ...

    @property
    def remarks(self) -> tuple[str, ...]: ...

    def scores(self, inside: IntArray, outside: IntArray, scored: IntArray) -> FloatArray:
        """Scores of the points `scored`, up to scale and shift; the three are disjoint sets of indices."""


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateScorer:
    """From coordinates, centred and with ties spread column by column."""

    points: FloatArray
    ties: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def scores(self, inside: IntArray, outside: IntArray, scored: IntArray) -> FloatArray:
        direction = self.points[inside].mean(axis=0) - self.points[outside].mean(axis=0)
        return np.asarray(self.points[scored] @ direction)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceScorer:
    """From squared Euclidean distances alone.

    mean |b - a|**2 over `outside` minus that over `inside` is 2 b.(mean inside - mean outside) + constant, so that
    it is the linear score without coordinates [theory 5].
    """

    squared: FloatArray
    remarks: tuple[str, ...]
    ties: tuple[str, ...] = ()

    def scores(self, inside: IntArray, outside: IntArray, scored: IntArray) -> FloatArray:
        to_scored = self.squared[scored]
        return np.asarray(to_scored[:, outside].mean(axis=1) - to_scored[:, inside].mean(axis=1))


def make_scorer(d: Dissimilarity, power: float, rng: np.random.Generator) -> Scorer:
    """From coordinates where there are any, else from R = distance**power."""
    if d.coordinates is None:
        squared = np.maximum(d.matrix, 0.0) ** (2 / power)
        warn_if_not_euclidean(squared, power)
        form = "distances" if power == 1 else f"distances to the power {power:g}"
        assumed = f"Assumed: the matrix holds Euclidean {form}; linear means linear in that space."
        return DistanceScorer(squared, (assumed,))
    spread, ties = spread_columns(d, rng)
    assert spread.points is not None
    return CoordinateScorer(spread.points - spread.points.mean(axis=0), ties)


def spread_columns(d: Dissimilarity, rng: np.random.Generator) -> tuple[Dissimilarity, tuple[str, ...]]:
    """The same points with ties spread column by column, and which columns had any, each with its grid step."""
    assert d.coordinates is not None
    points, ties = d.coordinates.copy(), []
    for j, column in enumerate(points.T):
        if (spread := spread_ties(column, rng)) is not None:
            column[:] = spread[0]
            ties.append(f"{d.columns[j] if d.columns else f'column {j}'} {spread[1]:.3g}")
    return replace(d, points=points), tuple(ties)


def warn_if_not_euclidean(squared: FloatArray, power: float) -> None:
    """Warn when the distances do not embed in a Euclidean space, so that "linear" has no meaning there."""
    found = examine(squared, EUCLIDEAN_TOLERANCE)
    if not found.holds:
        root = "R" if power == 1 else f"R**(1/{power:g})"
        warn(
            f"{root} is not a Euclidean distance (eigenvalues from {found.lowest:.3g} to {found.highest:.3g}); on "
            "Manhattan distances of uniform data this test rejected .14 to .20 at level .05. Pass coordinates if there "
            "are any, or say with `alpha` which power of a Euclidean distance R is.",
            NotCalibratedWarning,
        )
