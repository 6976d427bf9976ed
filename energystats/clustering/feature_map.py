"""Map points to features in which sums over pairs are sums of squares, by landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import centred
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.clustering.seeding import draw_index
from energystats.metrics.base import Metric, pair_with_itself
from energystats.pairs.block_values import BlockValues, ValuesHere, slices_of

__all__ = ["FeatureMap", "PointsHere", "RowTable", "choose_landmarks"]


CANDIDATES = 20_000  # rows among which landmarks are drawn
EIGENVALUE_CUT = 1e-12  # of the largest: directions below it are rounding
NEGATIVE = 1e-6  # of the squared lengths: a squared distance below minus that is not rounding
DISPROOF = 1e-8  # of the largest eigenvalue: a negative one below it is not rounding
BLOCK_ROWS = 8192


def choose_landmarks(
    table: RowTable, metric: Metric, count: int, rng: np.random.Generator, weights: FloatArray
) -> IntArray:
    """Draw landmark rows as k-means++ does, in proportion to weight times rho to the nearest landmark.

    They come from a random part of the rows, of at most 20,000 unless it has too few distinct points. There are fewer
    than `count` only if there are no more distinct points. O(count) values of rho for each candidate.
    """
    n = len(table)
    rows = np.arange(n) if n <= CANDIDATES else np.sort(rng.choice(n, CANDIDATES, replace=False))
    part: RowTable = PointsHere(table.pick(rows), block_rows=CANDIDATES)
    chosen = [draw_index(weights[rows], rng)]
    nearest = _to_landmarks(part, part.pick(np.array(chosen)), metric)
    while len(chosen) < count:
        # all candidates are landmarks: the other rows may have more distinct points
        if not nearest.any() and rows.size < n:
            chosen = rows[chosen].tolist()
            rows, part = np.arange(n), table
            nearest = _to_landmarks(part, part.pick(np.array(chosen)), metric)
        if not nearest.any():
            break
        chosen.append(draw_index(weights[rows] * nearest, rng))
        nearest = np.minimum(nearest, _to_landmarks(part, part.pick(np.array(chosen[-1:])), metric))
    return rows[chosen]


def _to_landmarks(table: RowTable, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """Compute the dissimilarity of every row to its nearest landmark, at least 0; (n,)."""
    return np.concatenate(list(table.values().map(_to_nearest, landmarks, metric)))


def _to_nearest(points: FloatArray, landmarks: FloatArray, metric: Metric) -> FloatArray:
    """Compute the dissimilarity of every row of one block to its nearest landmark, at least 0; (b,)."""
    # (1, n), not (n, 1): one short loop for each of many rows takes eight times as long
    return np.asarray(np.maximum(metric.finite_between(landmarks, points).min(axis=0), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """Hold a map phi with ||phi(x) - phi(y)||^2 <= rho(x, y), equal where x and y lie in the span of the landmarks.

    The kernel is that of Gower's general form with the mean of the landmarks as origin: K(x, z) = -1/2 [rho(x, z) -
    mean rho(x, .) - mean rho(., z) + mean rho(., .)], means over landmarks, and phi(x) = V' k(x) with V = U
    diag(lambda)^(-1/2) from the eigenvectors of K among landmarks.
    """

    landmarks: FloatArray  # (m, d) their coordinates or codes
    metric: Metric  # fitted to the data
    column_means: FloatArray  # (m,) mean rho of each landmark to all landmarks
    V: FloatArray  # (m, p) one column for each eigenvalue that is kept

    @classmethod
    def of(cls, landmarks: FloatArray, metric: Metric) -> Self:
        """Compute the map from dissimilarities to landmark features, given the coordinates of m landmarks; O(m^3)."""
        R = metric.finite_between(landmarks, landmarks, same=pair_with_itself(len(landmarks)))
        R = 0.5 * (R + R.T)
        with one_thread_up_to(len(R)):
            values, vectors = eigh(centred(-0.5 * R), check_finite=False)
        largest = float(values[-1])
        if values[0] < -DISPROOF * max(largest, float(np.abs(R).max())):
            raise ValueError(
                f'`algorithm="landmarks"` needs a rho of negative type, but the kernel of {metric!r} has an eigenvalue '
                f"of {values[0]:.3g} on {len(R)} points (the largest is {largest:.3g}); "
                'use algorithm="hartigan" on a random part of the rows.'
            )
        # V = U diag(lambda)^(-1/2) without the directions that are rounding
        kept = values > EIGENVALUE_CUT * largest
        return cls(landmarks, metric, R.mean(axis=0), vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def rank(self) -> int:
        """Return the number of features of a Nystrom map."""
        return int(self.V.shape[1])

    def kernel(self, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute centred kernel values of points with landmarks and themselves, from dissimilarities; (b, m), (b,)."""
        means, mean = rho.mean(axis=1), float(self.column_means.mean())
        kernel = rho - means[:, None]
        kernel -= self.column_means - mean
        kernel *= -0.5
        return kernel, means - mean / 2

    def check(self, lengths: FloatArray, residuals: FloatArray) -> None:
        """Raise ValueError if squared distances from the landmarks' span are negative, so that no features exist."""
        far = residuals < -NEGATIVE * (np.abs(lengths + residuals) + self.column_means.mean())
        if far.any():
            raise ValueError(
                f'`algorithm="landmarks"` needs a rho of negative type, which {self.metric!r} is not on these points: '
                f"one has the squared distance {residuals[far].min():.3g} from the span of the landmarks; "
                'use algorithm="hartigan" on a random part of the rows.'
            )


class RowTable(Protocol):
    """Define how rows are read that lie in memory, on disk or on the workers of a cluster."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def pick(self, rows: IntArray) -> FloatArray:
        """Read the rows of a table with given numbers; (r,) -> (r, d)."""

    def values(self) -> BlockValues:
        """Return the values of a table, to be read block by block."""


@dataclass(frozen=True, slots=True, eq=False)
class PointsHere:
    """Hold the rows of an array, in blocks that also end after given numbers of rows."""

    points: FloatArray  # (n, d) the rows
    stops: Sequence[int] = ()  # numbers of rows after which a block ends
    block_rows: int = BLOCK_ROWS  # most rows of a block

    def __len__(self) -> int:
        return len(self.points)

    def pick(self, rows: IntArray) -> FloatArray:
        return self.points[rows]

    def values(self) -> ValuesHere:
        n = len(self)
        ends = {*range(self.block_rows, n, self.block_rows), *(stop for stop in self.stops if stop < n), n}
        return ValuesHere(slices_of(sorted(ends)), self.points.__getitem__)
