"""Nystrom features of a semimetric: coordinates in the space that a few landmarks span [theory 8]."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import centred
from energystats._core.threads import one_thread, one_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.clustering.seeding import drawn
from energystats.clustering.table import PointsHere, Table
from energystats.metrics import Metric

__all__ = ["FeatureMap", "choose_landmarks"]

CANDIDATES = 20_000  # rows among which landmarks are drawn
EIGENVALUE_CUT = 1e-12  # of the largest: directions below it are rounding
MANY_ROWS = 2048  # from which a product with V gains from several threads
NEGATIVE = 1e-6  # of the squared lengths: a squared distance below minus that is not rounding
DISPROOF = 1e-8  # of the largest eigenvalue: a negative one below it is not rounding


def choose_landmarks(
    table: Table, metric: Metric, count: int, rng: np.random.Generator, weights: FloatArray
) -> IntArray:
    """Rows drawn one by one in proportion to weight times rho to the nearest landmark, k-means++ seeds.

    They come from a random part of the rows, of at most 20,000 unless it has too few distinct points. There are fewer
    than `count` only if there are no more distinct points. O(count) values of rho for each candidate.
    """
    n = len(table)
    rows = np.arange(n) if n <= CANDIDATES else np.sort(rng.choice(n, CANDIDATES, replace=False))
    part: Table = table if rows.size == n else PointsHere(table.pick(rows))
    chosen = [drawn(weights[rows], rng)]
    nearest = to_landmarks(part, part.pick(np.array(chosen)), metric)
    while len(chosen) < count:
        if not nearest.any() and rows.size < n:
            chosen = rows[chosen].tolist()
            rows, part = np.arange(n), table
            nearest = to_landmarks(part, part.pick(np.array(chosen)), metric)
        if not nearest.any():
            break
        chosen.append(drawn(weights[rows] * nearest, rng))
        nearest = np.minimum(nearest, to_landmarks(part, part.pick(np.array(chosen[-1:])), metric))
    return rows[chosen]


def to_landmarks(table: Table, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """Rho from every row to the nearest landmark, not below 0; (n,)."""
    return np.concatenate(list(table.values().map(to_nearest, landmarks, metric)))


def to_nearest(points: FloatArray, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """The same for the rows of one block."""
    return np.asarray(np.maximum(metric.finite_between(points, landmarks).min(axis=1), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """phi with ||phi(x) - phi(y)||^2 <= rho(x, y), equal where x and y lie in the span of the landmarks.

    The kernel is that of Gower's general form with the mean of the landmarks as origin: K(x, z) = -1/2 [rho(x, z) -
    mean rho(x, .) - mean rho(., z) + mean rho(., .)], means over landmarks, and phi(x) = V' k(x) with V = U
    diag(lambda)^(-1/2) from the eigenvectors of K among landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (m, d)
        Their coordinates or codes.
    metric : Metric
        Settled on the data.
    column_means : ndarray of shape (m,)
        Mean rho of each landmark to all.
    V : ndarray of shape (m, p)
        One column for each eigenvalue that is kept.
    """

    landmarks: FloatArray
    metric: Metric
    column_means: FloatArray
    V: FloatArray

    @classmethod
    def of(cls, landmarks: FloatArray, metric: Metric) -> Self:
        """From the landmarks; O(m^3) once."""
        R = metric.finite_between(landmarks, landmarks)
        R = 0.5 * (R + R.T)
        np.fill_diagonal(R, 0.0)
        with one_thread_up_to(len(R)):
            values, vectors = eigh(centred(-0.5 * R), check_finite=False)
        largest = float(values[-1])
        if values[0] < -DISPROOF * max(largest, float(np.abs(R).max())):
            raise ValueError(
                f'`algorithm="nystrom"` needs a rho of negative type, but the kernel of {metric!r} has an eigenvalue '
                f"of {values[0]:.3g} on {len(R)} points (the largest is {largest:.3g}); "
                'use algorithm="hartigan" on a random part of the rows.'
            )
        kept = values > EIGENVALUE_CUT * largest
        return cls(landmarks, metric, R.mean(axis=0), vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def rank(self) -> int:
        """Number of features p."""
        return int(self.V.shape[1])

    def apply(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Features of new points, and the squared distance of each from the landmarks' span; (b, p), (b,)."""
        return self.of_rho(self.metric.finite_between(points, self.landmarks))

    def of_rho(self, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same from rho to the landmarks; (b, m) -> (b, p), (b,)."""
        means = rho.mean(axis=1)
        mean = float(self.column_means.mean())
        with nullcontext() if len(rho) >= MANY_ROWS else one_thread():
            features = (-0.5 * (rho - means[:, None] - self.column_means + mean)) @ self.V
        return features, means - mean / 2 - np.einsum("ij,ij->i", features, features)

    def check(self, lengths: FloatArray, residuals: FloatArray) -> None:
        """Raise where a point is nearer to the landmarks' span than 0, which shows that rho is not of negative type."""
        far = residuals < -NEGATIVE * (np.abs(lengths + residuals) + self.column_means.mean())
        if far.any():
            raise ValueError(
                f'`algorithm="nystrom"` needs a rho of negative type, which {self.metric!r} is not on these points: '
                f"one has the squared distance {residuals[far].min():.3g} from the span of the landmarks; "
                'use algorithm="hartigan" on a random part of the rows.'
            )
