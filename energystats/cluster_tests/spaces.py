"""Spaces in which clusters are looked for: the points as given, decorrelated, or the columns that show most.

Distances alone cut long parallel clusters across, and miss what shows in two of fifty columns. All three spaces are
linear images of the points, so a line in any of them is a line among the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from energystats._core.gram import POINTS_PER_COLUMN, decorrelating
from energystats._core.normal_mixture import mixture_ratio
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.scores import CoordinateScorer, Scorer
from energystats.dissimilarity import Dissimilarity, Points
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.general import SciPyMetric

__all__ = ["DECORRELATED", "GIVEN", "SHARES", "Kind", "Space", "clearest_columns", "spaces_of", "whole_space"]


Kind: TypeAlias = Literal["as given", "decorrelated", "columns"]
GIVEN: Kind = "as given"
DECORRELATED: Kind = "decorrelated"
SHARES: dict[Kind, float] = {GIVEN: 0.5, DECORRELATED: 0.3, "columns": 0.2}  # of the level
CLEAR = 3.0  # log likelihood ratio of two normals to one mode, above which a column is worth keeping
COLUMNS_AT_MOST = 10  # that are kept
EUCLIDEAN = Euclidean()  # checked once


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Hold points as they are clustered, by a semimetric, and as they are scored, along lines."""

    d: Dissimilarity  # how they are clustered
    scorer: Scorer  # where they are along lines

    @classmethod
    def of_points(cls, points: FloatArray) -> Space:
        """Build a space in which points are clustered by Euclidean distances and scored along lines; (n, d)."""
        return cls(Points(metric=EUCLIDEAN, points=points, warns=False), CoordinateScorer(points))

    def seen_by(self, part: IntArray, kind: Kind) -> Space:
        """Transform all points as fitted to some rows: not at all, decorrelated, or to columns with clear groups."""
        points = self.scorer.points
        if kind == GIVEN or points is None:
            return self
        if kind == DECORRELATED:
            return Space.of_points(decorrelated(points, part))
        kept = clearest_columns(points[part])
        of_part = points[np.ix_(part, kept)]
        spread = of_part.std(axis=0)
        return Space.of_points((points[:, kept] - of_part.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def spaces_of(space: Space, n_part: int) -> tuple[Kind, ...]:
    """List in which forms (as given, decorrelated, in some columns) points can be clustered, fitted to some of them."""
    points = space.scorer.points
    if points is None or points.shape[1] < 2:
        return (GIVEN,)
    found: list[Kind] = [GIVEN]
    if points.shape[1] < n_part / POINTS_PER_COLUMN:
        found.append(DECORRELATED)
    if space.d.n_columns:
        found.append("columns")
    return tuple(found)


def decorrelated(points: FloatArray, part: IntArray) -> FloatArray:
    """Transform all points so that those in `part` have uncorrelated columns of equal variance; (n, d) -> (n, r)."""
    transform = decorrelating(points[part])
    if not transform.size:  # the part lies in one place, but for rounding
        return np.zeros((len(points), 1))
    return np.asarray((points - points[part].mean(axis=0)) @ transform)


def clearest_columns(points: FloatArray) -> IntArray:
    """Find the columns, at most ten, that a normal mixture fits clearly better than one mode, else the best."""
    varying = np.flatnonzero(np.ptp(points, axis=0) > 0)
    if not varying.size:
        return np.zeros(1, dtype=np.intp)
    ratios = np.array([mixture_ratio(np.sort(points[:, j])) for j in varying])
    order = np.argsort(-ratios, kind="stable")
    kept = order[: min(max(1, int(np.count_nonzero(ratios > CLEAR))), COLUMNS_AT_MOST)]
    return np.sort(varying[kept]).astype(np.intp)


def whole_space(d: Dissimilarity, kind: Kind, coordinates: FloatArray | None = None) -> Dissimilarity:
    """Return all points in one form, to be clustered for a result: as given, decorrelated, or in clearest columns.

    A matrix has principal coordinates.
    """
    if kind == GIVEN:
        return d
    d = d.transformed()
    if not isinstance(d, Points):
        assert coordinates is not None
        moved = decorrelated(coordinates, np.arange(d.n))
        return Points(metric=EUCLIDEAN, points=moved, index=d.index, warns=False)
    if kind == "columns":
        return _columns_of(d, clearest_columns(d.points if coordinates is None else coordinates).tolist())
    try:
        metric = SciPyMetric("mahalanobis").fitted(d.points)
    except ValueError:  # linearly dependent columns
        moved = decorrelated(d.points, np.arange(d.n))
        return Points(metric=EUCLIDEAN, points=moved, index=d.index, warns=False)
    return d.as_kind(Points, metric=metric, points=d.points)


def _columns_of(d: Points, kept: Sequence[int]) -> Dissimilarity:
    """Select some columns of points, and standardize them; (n, d) -> (n, m)."""
    columns = None if d.columns is None else [d.columns[j] for j in kept]
    found = Points.from_points(d.points[:, kept], EUCLIDEAN, standardize=True, columns=columns, warns=False)
    return replace(found, index=d.index)
