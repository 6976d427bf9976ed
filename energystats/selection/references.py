"""Reference data without clusters, for the gap statistic [theory 4]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from energystats._core.ties import spread_ties
from energystats._core.unimodal import nearest_unimodal
from energystats._typing import FloatArray
from energystats.dissimilarity import Dissimilarity
from energystats.geometry.coordinates import principal_coordinates
from energystats.metrics import Euclidean, Metric, SciPyMetric

__all__ = ["Reference", "ReferenceKind", "reference_of"]

ReferenceKind = Literal["unimodal", "box"]
CATEGORICAL = frozenset(  # SciPy's metrics of categories or bits, which coordinates in between do not have
    ("hamming", "matching", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")
)
RANK_TOLERANCE = 1e-9  # of the largest singular value: directions below it are rounding


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Independent coordinates along the principal axes, each from its nearest unimodal law or uniform on its range.

    Attributes
    ----------
    scores : ndarray of shape (n, m)
        Principal component scores.
    axes : ndarray of shape (m, d)
        Back to the columns.
    center : ndarray of shape (d,)
        Means of the columns.
    metric : Metric
        Settled on the data, not on the reference sets.
    """

    scores: FloatArray
    axes: FloatArray
    center: FloatArray
    metric: Metric
    kind: ReferenceKind

    @classmethod
    def of(cls, points: FloatArray, metric: Metric, kind: ReferenceKind) -> Self:
        """Principal axes of the points; the largest score of each is positive, so that signs do not depend on luck."""
        center = points.mean(axis=0)
        left, lengths, axes = np.linalg.svd(points - center, full_matrices=False)
        m = int(np.count_nonzero(lengths > RANK_TOLERANCE * lengths[0]))
        scores, axes = left[:, :m] * lengths[:m], axes[:m]
        signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(m)])
        return cls(scores * signs, axes * signs[:, None], center, metric, kind)

    def draw(self, rng: np.random.Generator) -> Dissimilarity:
        """One reference set of n points."""
        n, m = self.scores.shape
        columns = np.empty((n, m))
        for j in range(m):
            columns[:, j] = self.draw_column(self.scores[:, j], rng)
        return Dissimilarity(metric=self.metric, points=columns @ self.axes + self.center, warns=False)

    def draw_column(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        """N numbers from the law of one axis."""
        u = rng.random(x.size)
        if self.kind == "box":
            return np.asarray(x.min() + (x.max() - x.min()) * u)
        spread = spread_ties(x, rng)  # point masses count as modes
        ascending = np.sort(x if spread is None else spread[0])
        knots = nearest_unimodal(ascending)
        return np.interp(u, knots / (x.size - 1), ascending[knots])

    def draws(self, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Reference sets, each from its own child of `rng`, which then serves for clustering it."""
        for child in rng.spawn(n_resamples):
            yield self.draw(child), child


def reference_of(d: Dissimilarity, kind: ReferenceKind) -> Reference | None:
    """From coordinates, or from a matrix if it holds Euclidean distances; None where there is nothing to draw in."""
    if isinstance(d.metric, SciPyMetric) and d.metric.name in CATEGORICAL:
        return None
    if d.coordinates is not None:
        return Reference.of(d.coordinates, d.metric, kind)
    if d.points is not None or d.R is None or (d.R < 0).any():
        return None
    found = principal_coordinates(d.R)
    if found.n_negative or not found.coordinates.shape[1]:
        return None
    return Reference.of(found.coordinates, Euclidean(1.0), kind)
