"""Sum over pairs of points on a line: from sorted points, without pairs."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from energystats._core.group_sums import (
    Indicators,
    bin_sums_sorted,
    block_sums_sorted,
    multiply_sorted,
    sums_of_sorted_groups,
)
from energystats._typing import FloatArray, IntArray
from energystats.metrics.base import Metric
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.general import SciPyMetric
from energystats.pairs.tiles import Pairs

__all__ = ["Line", "power_on_line", "sort_line"]


POWERS_ON_LINE = {"cityblock": 1, "chebyshev": 1, "euclidean": 1, "minkowski": 1, "sqeuclidean": 2}


@dataclass(frozen=True, eq=False)
class Line(Pairs):
    """Compute products with R, R_ij = |x_i - x_j| in one column, from sorted points and without pairs."""

    x: FloatArray  # (n,) the points

    adds_many = True

    @functools.cached_property
    def order(self) -> IntArray:
        """Return the indices that sort points on a line; (n,).

        In which order equal points come does not matter: the gap between them is 0.
        """
        return np.argsort(self.x)

    @functools.cached_property
    def gaps(self) -> FloatArray:
        """Return the gaps between neighbouring sorted points; (n - 1,)."""
        return np.diff(self.x[self.order])

    def multiply(self, columns: FloatArray) -> FloatArray:
        product = np.empty_like(columns)
        product[self.order] = multiply_sorted(self.gaps, columns[self.order])
        return product

    def block_sums(self, Z: FloatArray | Indicators) -> FloatArray:
        return block_sums_sorted(self.gaps, self.order, Z)

    def group_sums(self, codes: IntArray, k: int, weights: FloatArray | None) -> FloatArray:
        # without an order of all points: numbers alone are sorted several times as fast
        fast = None if weights is not None else sums_of_sorted_groups(self.x, codes, k)
        return super().group_sums(codes, k, weights) if fast is None else fast

    def block_sums_and_totals(self, Z: FloatArray | Indicators, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.block_sums(Z), self.multiply(weights[:, None])[:, 0]

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return bin_sums_sorted(self.gaps, self.order, codes, weights, n_bins)

    def absolute_total(self) -> float:
        return float(self.multiply(np.ones((self.order.size, 1))).sum())


def power_on_line(points: FloatArray, metric: Metric) -> float | None:
    """Return alpha if the metric is |x - y|**alpha of a single column, else None."""
    if points.shape[1] != 1:
        return None
    if isinstance(metric, Euclidean):
        return metric.alpha
    # in one column these distances are all |x - y| or its square; a weight of the column multiplies it
    if isinstance(metric, SciPyMetric) and metric.name in POWERS_ON_LINE and "w" not in metric.params:
        return POWERS_ON_LINE[metric.name] * metric.alpha
    return None


def sort_line(points: FloatArray, metric: Metric) -> Line | None:
    """Return points of one column under the metric |x - y| as a `Line`, which sorts them; None for other points."""
    return Line(points[:, 0]) if power_on_line(points, metric) == 1 else None
