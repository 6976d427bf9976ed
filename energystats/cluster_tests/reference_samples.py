"""Samples without clusters: independent scores along principal components or features [theory 5]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np

from energystats._core.jitter import jitter_ties
from energystats._core.threads import one_thread_up_to
from energystats._core.unimodal import nearest_unimodal
from energystats._typing import FloatArray
from energystats.dissimilarity import Dissimilarity, Points
from energystats.inputs.options import children
from energystats.metrics.base import Metric
from energystats.metrics.general import SciPyMetric
from energystats.metrics.z_scores import Standardization

__all__ = [
    "Axes",
    "GaussianReference",
    "MarginalReference",
    "ReferenceDistribution",
    "compares_numbers",
    "feature_axes",
    "principal_axes",
    "reference_sets",
    "under_metric_of",
]


RANK_TOLERANCE = 1e-9  # of the largest singular value: directions below it are rounding
CATEGORICAL = frozenset(  # SciPy's metrics of categories or bits, which coordinates in between do not have
    ("hamming", "matching", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")
)


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Scores of n points along m axes.

    Attributes
    ----------
    scores : ndarray of shape (n, m)
        The points, up to a shift by `center`.
    directions : ndarray of shape (m, d) or None
        Back to the columns; None where the axes are the columns.
    center : ndarray of shape (d,)
        What is added in the end.
    """

    scores: FloatArray
    directions: FloatArray | None
    center: FloatArray

    def to_columns(self, scores: FloatArray) -> FloatArray:
        """Make points with these scores; (n, m) -> (n, d)."""
        return (scores if self.directions is None else scores @ self.directions) + self.center


def principal_axes(points: FloatArray) -> Axes:
    """Compute principal components; the largest score of each is positive, so that signs do not depend on luck."""
    center = points.mean(axis=0)
    with one_thread_up_to(min(points.shape)):
        left, lengths, directions = np.linalg.svd(points - center, full_matrices=False)
    m = int(np.count_nonzero(lengths > RANK_TOLERANCE * lengths[0]))
    scores, directions = left[:, :m] * lengths[:m], directions[:m]
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(m)])
    return Axes(scores * signs, directions * signs[:, None], center)


def feature_axes(points: FloatArray) -> Axes:
    """Take the columns themselves as axes."""
    center = points.mean(axis=0)
    return Axes(points - center, None, center)


class ReferenceDistribution(Protocol):
    """A distribution without clusters, fitted to a sample."""

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw as many points as there were in the sample; (n, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class GaussianReference:
    """The Gaussian distribution with the mean and the covariance matrix (divisor n) of the sample."""

    axes: Axes

    @classmethod
    def of(cls, points: FloatArray) -> Self:
        """Fit to a sample."""
        return cls(principal_axes(points))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        scores = self.axes.scores
        deviations = np.sqrt(np.mean(scores**2, axis=0))  # the scores have mean 0
        return self.axes.to_columns(rng.standard_normal(scores.shape) * deviations)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalReference:
    """Independent scores along axes, each from a piecewise uniform distribution.

    Attributes
    ----------
    axes : Axes
        The scores that the distributions were fitted to.
    knots : tuple of (levels, values)
        Knots of the distribution function of every axis.
    """

    axes: Axes
    knots: tuple[tuple[FloatArray, FloatArray], ...]

    @classmethod
    def of(cls, axes: Axes, null: Literal["unimodal", "box"], rng: np.random.Generator) -> Self:
        """Fit the nearest unimodal distribution, or the uniform one on the range, to every axis; `rng` jitters ties."""
        fit = _unimodal_quantiles if null == "unimodal" else _uniform_quantiles
        return cls(axes, tuple(fit(column, rng) for column in axes.scores.T))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        n, m = self.axes.scores.shape
        columns = np.empty((n, m))
        for j, (levels, values) in enumerate(self.knots):
            columns[:, j] = np.interp(rng.random(n), levels, values)
        return self.axes.to_columns(columns)


def _unimodal_quantiles(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Fit the unimodal distribution function nearest to that of `x`, by its knots; point masses count as modes."""
    spread = jitter_ties(x, rng)
    ascending = np.sort(x if spread is None else spread.values)
    knots = nearest_unimodal(ascending)
    return knots / (x.size - 1), ascending[knots]


def _uniform_quantiles(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Fit the uniform distribution from the smallest to the largest value."""
    return np.array([0.0, 1.0]), np.array([x.min(), x.max()])


def under_metric_of(d: Dissimilarity, points: FloatArray) -> Dissimilarity:
    """Treat other points as those of `d`: standardized if those were, with the metric fitted to those."""
    if d.standardization is not None:
        points = Standardization.of(points).apply(points)
    return Points(metric=d.metric, points=points, warns=False)


def reference_sets(
    d: Dissimilarity, reference: ReferenceDistribution, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
    """Draw samples of the reference, each from its own child of `rng`, which then serves for what is done with it."""
    for child in children(rng, n_resamples):
        yield under_metric_of(d, reference.draw(child)), child


def compares_numbers(metric: Metric) -> bool:
    """Tell whether rho has a meaning for coordinates between those of the data."""
    amounts = metric.domain.positive or not metric.domain.negative  # coordinates in between may lie below 0
    return not (amounts or metric.domain.binary or (isinstance(metric, SciPyMetric) and metric.name in CATEGORICAL))
