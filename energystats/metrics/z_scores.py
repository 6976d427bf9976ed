"""Compute column z-scores, in which the spreads of columns of unlike units count alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from energystats._core.powers_of_two import deviations
from energystats._typing import FloatArray
from energystats.inputs.arrays import read_only

__all__ = ["Standardization"]


@dataclass(frozen=True, slots=True, eq=False)
class Standardization:
    """Hold column means and standard deviations (divisor n; 1 for a constant column) for z-scores."""

    center: FloatArray
    scale: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", read_only(self.center))
        object.__setattr__(self, "scale", read_only(self.scale))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.center, self.scale)  # so that a copy is as read-only

    @classmethod
    def of(cls, points: FloatArray) -> Self:
        """Compute the means and standard deviations of the columns of points, for z-scores; (n, d)."""
        deviation = deviations(points)
        return cls(center=points.mean(axis=0), scale=np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def of_measures(cls, mean: FloatArray, deviation: FloatArray, width: FloatArray) -> Self:
        """Build a standardization from column means, deviations and ranges measured in blocks of rows; (d,) each.

        A column of range 0 has the scale 1.
        """
        return cls(center=mean, scale=np.where(width > 0, deviation, 1.0))

    def apply(self, points: FloatArray) -> FloatArray:
        """Compute the z-scores of the columns; (n, d) -> (n, d)."""
        return (points - self.center) / self.scale

    def undo(self, points: FloatArray) -> FloatArray:
        """Compute columns in the original unit from their z-scores; (n, d) -> (n, d)."""
        return points * self.scale + self.center
