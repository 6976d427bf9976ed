"""Reference data without clusters, for the gap statistic [theory 4]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from energystats._typing import FloatArray
from energystats.dissimilarity import Dissimilarity
from energystats.geometry.coordinates import principal_coordinates
from energystats.metrics import Euclidean, Metric
from energystats.significance.references import Axes, MarginalReference, compares_numbers, principal_axes
from energystats.validation import children

__all__ = ["Reference", "ReferenceKind", "reference_of"]

ReferenceKind = Literal["unimodal", "box"]


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Independent coordinates along the principal axes, each from its nearest unimodal law or uniform on its range.

    Attributes
    ----------
    axes : Axes
        Principal component scores, and back to the columns.
    metric : Metric
        Settled on the data, not on the reference sets.
    """

    axes: Axes
    metric: Metric
    kind: ReferenceKind

    @classmethod
    def of(cls, points: FloatArray, metric: Metric, kind: ReferenceKind) -> Self:
        """Along the principal axes of the points."""
        return cls(principal_axes(points), metric, kind)

    def draws(self, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Reference sets, each from its own child of `rng`, which then serves for clustering it."""
        law = MarginalReference.of(self.axes, self.kind, rng)
        for child in children(rng, n_resamples):
            yield Dissimilarity(metric=self.metric, points=law.draw(child), warns=False), child


def reference_of(d: Dissimilarity, kind: ReferenceKind) -> Reference | None:
    """From coordinates, or from a matrix if it holds Euclidean distances; None where there is nothing to draw in."""
    if not compares_numbers(d.metric):
        return None
    if d.coordinates is not None:
        return Reference.of(d.coordinates, d.metric, kind)
    if d.points is not None or d.R is None or (d.R < 0).any():
        return None
    found = principal_coordinates(d.R)
    if found.n_negative or not found.coordinates.shape[1]:
        return None
    return Reference.of(found.coordinates, Euclidean(1.0), kind)
