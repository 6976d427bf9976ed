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
from energystats.metrics.general import CallableMetric, SciPyMetric
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
    """Hold the scores of n points along m axes, and what turns scores back into points."""

    scores: FloatArray  # (n, m) the points, up to a shift by `center`
    directions: FloatArray | None  # (m, d) back to the columns; None where the axes are the columns
    center: FloatArray  # (d,) what is added in the end

    def to_columns(self, scores: FloatArray) -> FloatArray:
        """Convert scores along axes to coordinates of points; (n, m) -> (n, d)."""
        return (scores if self.directions is None else scores @ self.directions) + self.center


def principal_axes(points: FloatArray) -> Axes:
    """Compute the principal components of points, signs fixed; return their axes and scores; (n, d) -> (n, m)."""
    center = points.mean(axis=0)
    with one_thread_up_to(min(points.shape)):
        left, lengths, directions = np.linalg.svd(points - center, full_matrices=False)
    m = int(np.count_nonzero(lengths > RANK_TOLERANCE * lengths[0]))
    scores, directions = left[:, :m] * lengths[:m], directions[:m]
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(m)])
    return Axes(scores * signs, directions * signs[:, None], center)


def feature_axes(points: FloatArray) -> Axes:
    """Return the centred columns of points as axes, for reference samples; (n, d)."""
    center = points.mean(axis=0)
    return Axes(points - center, None, center)


class ReferenceDistribution(Protocol):
    """Define a distribution without clusters that was fitted to a sample."""

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw a random sample from a fitted reference distribution, as large as the data; (n, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class GaussianReference:
    """Draw from the Gaussian distribution with the mean and the covariance matrix (divisor n) of a sample."""

    axes: Axes

    @classmethod
    def of(cls, points: FloatArray) -> Self:
        """Fit a Gaussian distribution to a sample; (n, d)."""
        return cls(principal_axes(points))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        scores = self.axes.scores
        deviations = np.sqrt(np.mean(scores**2, axis=0))  # the scores have mean 0
        return self.axes.to_columns(rng.standard_normal(scores.shape) * deviations)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalReference:
    """Draw points with independent scores along axes, each from a piecewise uniform distribution."""

    axes: Axes  # the scores that the distributions were fitted to
    knots: tuple[tuple[FloatArray, FloatArray], ...]  # knots of the distribution function of every axis

    @classmethod
    def of(cls, axes: Axes, null: Literal["unimodal", "box"], rng: np.random.Generator) -> Self:
        """Fit to the scores on each axis the nearest unimodal distribution, or, if null is "box", the uniform one.

        `rng` jitters ties.
        """
        fit = _unimodal_quantiles if null == "unimodal" else _uniform_quantiles
        return cls(axes, tuple(fit(column, rng) for column in axes.scores.T))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        n, m = self.axes.scores.shape
        columns = np.empty((n, m))
        for j, (levels, values) in enumerate(self.knots):
            columns[:, j] = np.interp(rng.random(n), levels, values)
        return self.axes.to_columns(columns)


def _unimodal_quantiles(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return probabilities and values at the knots of the unimodal distribution function nearest to a sample.

    Ties are jittered, because point masses count as modes.
    """
    spread = jitter_ties(x, rng)
    ascending = np.sort(x if spread is None else spread.values)
    knots = nearest_unimodal(ascending)
    return knots / (x.size - 1), ascending[knots]


def _uniform_quantiles(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities 0 and 1 and the ends of a sample's range, between which values are uniform."""
    return np.array([0.0, 1.0]), np.array([x.min(), x.max()])


def under_metric_of(d: Dissimilarity, points: FloatArray) -> Dissimilarity:
    """Return other points as a `Dissimilarity` with the metric fitted to `d`, standardized by themselves if `d` is."""
    if d.standardization is not None:
        points = Standardization.of(points).apply(points)
    return Points(metric=d.metric, points=points, warns=False)


def reference_sets(
    d: Dissimilarity, reference: ReferenceDistribution, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
    """Yield samples of a reference distribution, each with the random generator that drew it."""
    for child in children(rng, n_resamples):
        yield under_metric_of(d, reference.draw(child)), child


def compares_numbers(d: Dissimilarity) -> bool:
    """Return whether a metric is known to compare any real coordinates, not only categories or amounts.

    Of a user's function it is not known where all numbers are 0 or more: coordinates drawn in between may lie below.
    """
    metric = d.metric
    if isinstance(metric, CallableMetric) or callable(getattr(metric, "k", None)):
        return d.coordinates is None or bool(d.coordinates.min() < 0)
    amounts = metric.domain.positive or not metric.domain.negative  # coordinates in between may lie below 0
    return not (amounts or metric.domain.binary or (isinstance(metric, SciPyMetric) and metric.name in CATEGORICAL))
