"""Linear scores of held-out points, from coordinates or from squared distances alone."""

from __future__ import annotations

import numpy as np

from energystats._core.spectrum import smallest_eigenvalue
from energystats._core.ties import spread_ties
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import NotCalibratedWarning, TiesWarning, warn

__all__ = ["TIES_SPREAD", "Scorer"]

EUCLIDEAN_TOLERANCE = 1e-8  # of the largest eigenvalue: a smallest one below minus this is not rounding
TIES_SPREAD = "Tied values were spread uniformly over one grid step, because point masses count as modes."


class Scorer:
    """Linear scores of held-out points along the line through two means.

    Attributes
    ----------
    points : ndarray of shape (n, d) or None
        Centred coordinates with ties spread.
    squared : ndarray of shape (n, n) or None
        Squared Euclidean distances, where only a matrix is known.
    jittered : bool
        Whether ties were spread.
    """

    def __init__(self, points: FloatArray | None, squared: FloatArray | None, rng: np.random.Generator) -> None:
        self.points = points
        self.squared = squared
        self.jittered = False
        self.power = 1.0
        self.rng = rng

    @classmethod
    def of(cls, d: Dissimilarity, power: float, rng: np.random.Generator) -> Scorer:
        """From coordinates, or from R = distance**power."""
        if d.points is None:
            scorer = cls(None, np.maximum(d.matrix, 0.0) ** (2 / power), rng)
            scorer.power = power
            scorer.check_euclidean(d.n)
            return scorer
        spread = [spread_ties(column, rng) for column in d.points.T]
        columns = [old if new is None else new for old, new in zip(d.points.T, spread, strict=True)]
        points = np.column_stack(columns)
        scorer = cls(points - points.mean(axis=0), None, rng)
        scorer.jittered = any(new is not None for new in spread)
        return scorer

    def scores(self, inside: IntArray, outside: IntArray, scored: IntArray) -> FloatArray:
        """Position of the points `scored` on the line through the means of two sets of points, up to scale."""
        if self.points is not None:
            direction = self.points[inside].mean(axis=0) - self.points[outside].mean(axis=0)
            return np.asarray(self.points[scored] @ direction)
        assert self.squared is not None
        to_scored = self.squared[scored]
        f = to_scored[:, outside].mean(axis=1) - to_scored[:, inside].mean(axis=1)
        spread = spread_ties(f, self.rng)
        self.jittered = self.jittered or spread is not None
        return np.asarray(f if spread is None else spread)

    def check_euclidean(self, n: int) -> None:
        """Warn when the distances do not embed in a Euclidean space, so that "linear" has no meaning there."""
        assert self.squared is not None
        squared = self.squared
        smallest, largest = smallest_eigenvalue(lambda columns: squared @ columns, n)
        if smallest < -EUCLIDEAN_TOLERANCE * largest:
            warn(
                f"R**(1/{self.power:g}) is not a Euclidean distance (eigenvalues {smallest:.3g} to {largest:.3g}); on "
                " Manhattan distances of uniform data this test rejected .14 to .20 at level .05. Pass coordinates "
                "if there are any, or say with `alpha` which power of a Euclidean distance R is.",
                NotCalibratedWarning,
            )

    def warn_of_ties(self) -> None:
        """Warn once, after all scores."""
        if self.jittered:
            warn(TIES_SPREAD, TiesWarning)

    def remarks(self) -> tuple[str, ...]:
        """What the summary has to add."""
        notes = [TIES_SPREAD] if self.jittered else []
        if self.points is None:
            notes.append(
                f"Assumed: the matrix is d**{self.power:g} of Euclidean distances d; linear means linear there."
            )
        return tuple(notes)
