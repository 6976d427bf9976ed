"""Linear scores of held-out points, from coordinates or from squared distances alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from energystats._core.spectrum import smallest_eigenvalue
from energystats._core.ties import spread_ties
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import NotCalibratedWarning, warn

__all__ = ["Scorer"]

EUCLIDEAN_TOLERANCE = 1e-8  # of the largest eigenvalue: a smallest one below minus this is not rounding


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Position of points on the line through the means of two other sets of points.

    Attributes
    ----------
    points : ndarray of shape (n, d) or None
        Centred coordinates with ties spread, column by column.
    squared : ndarray of shape (n, n) or None
        Squared Euclidean distances, where only a matrix is known.
    spread : bool
        Whether a column had ties.
    remarks : tuple of str
        What the summary has to add.
    """

    points: FloatArray | None = None
    squared: FloatArray | None = None
    spread: bool = False
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, d: Dissimilarity, power: float, rng: np.random.Generator) -> Self:
        """From coordinates, or from R = distance**power."""
        if d.points is None:
            squared = np.maximum(d.matrix, 0.0) ** (2 / power)
            warn_if_not_euclidean(squared, power)
            assumed = f"Assumed: the matrix is d**{power:g} of Euclidean distances d; linear means linear there."
            return cls(squared=squared, remarks=(assumed,))
        spread = [spread_ties(column, rng) for column in d.points.T]
        points = np.column_stack([old if new is None else new for old, new in zip(d.points.T, spread, strict=True)])
        return cls(points=points - points.mean(axis=0), spread=any(new is not None for new in spread))

    def scores(self, inside: IntArray, outside: IntArray, scored: IntArray) -> FloatArray:
        """Scores of the points `scored` for the means of `inside` and `outside`, up to scale and shift.

        mean |b - a|**2 over `outside` minus that over `inside` is 2 b.(mean inside - mean outside) + constant, so
        squared distances give the linear score without coordinates [SIGNIFICANCE s.2.2].
        """
        if self.points is not None:
            direction = self.points[inside].mean(axis=0) - self.points[outside].mean(axis=0)
            return np.asarray(self.points[scored] @ direction)
        assert self.squared is not None
        to_scored = self.squared[scored]
        return np.asarray(to_scored[:, outside].mean(axis=1) - to_scored[:, inside].mean(axis=1))


def warn_if_not_euclidean(squared: FloatArray, power: float) -> None:
    """Warn when the distances do not embed in a Euclidean space, so that "linear" has no meaning there."""
    smallest, largest = smallest_eigenvalue(lambda columns: squared @ columns, len(squared))
    if smallest < -EUCLIDEAN_TOLERANCE * largest:
        warn(
            f"R**(1/{power:g}) is not a Euclidean distance (eigenvalues from {smallest:.3g} to {largest:.3g}); on "
            "Manhattan distances of uniform data this test rejected .14 to .20 at level .05. Pass coordinates if "
            "there are any, or say with `alpha` which power of a Euclidean distance R is.",
            NotCalibratedWarning,
        )
