"""Which cluster a point is nearest to by energy, for points that were not clustered themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["NearestCluster"]


ROWS_PER_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class NearestCluster:
    """The rule argmin over l of 2 g(x, C_l) - g(C_l, C_l), the energy distance from C_l to a point mass at x.

    Attributes
    ----------
    averages : ndarray of shape (n, k)
        Indicators of the clusters, times the weights, divided by their sums.
    own_means : ndarray of shape (k,)
        g(C_l, C_l).
    """

    averages: FloatArray
    own_means: FloatArray

    @classmethod
    def of(cls, labels: IntArray, within_per_cluster: FloatArray, weights: FloatArray | None = None) -> Self:
        """From the labels 0..k-1 of the clustered points and W of each cluster."""
        Z = (labels[:, None] == np.arange(within_per_cluster.size)).astype(np.float64)
        if weights is not None:
            Z *= weights[:, None]
        return cls(Z / Z.sum(axis=0), 2 * within_per_cluster / Z.sum(axis=0))

    def assign(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> IntArray:
        """Clusters of new points; `rho_of_rows` gives rho from a slice of them to the clustered ones, (rows, n)."""
        return np.asarray(self.squared_distances(n_points, rho_of_rows).argmin(axis=1), dtype=np.intp)

    def squared_distances(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> FloatArray:
        """Squared distances in the feature space to the means of the clusters, g(x, C_l) - g(C_l, C_l)/2; (m, k)."""
        blocks = [
            rho_of_rows(slice(i, i + ROWS_PER_BLOCK)) @ self.averages - self.own_means / 2
            for i in range(0, n_points, ROWS_PER_BLOCK)
        ]
        return np.concatenate(blocks)
