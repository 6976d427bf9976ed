"""Bound S of all partitions into k clusters by the sum of the k - 1 largest eigenvalues of G_c [theory 4].

S = Tr(Y' G_c Y) with orthonormal Y = Z diag(n)^(-1/2), whose columns contain the direction on which G_c vanishes.
"""

from __future__ import annotations

import numpy as np

from energystats._core.line_spectrum import line_eigenvalues
from energystats._typing import FloatArray

__all__ = ["eigenvalue_bound", "eigenvalue_bound_on_line"]


NEGLIGIBLE = 1e-30  # of the width and of the heaviest weight


def eigenvalue_bound(eigenvalues: FloatArray, k: int) -> float:
    """Bound the between dispersion of k clusters from above, by falling eigenvalues of the centred Gram matrix."""
    return float(eigenvalues[: k - 1].sum())


def eigenvalue_bound_on_line(gaps: FloatArray, weights: FloatArray, k: int) -> float:
    """Compute an upper bound on the between dispersion of any k clusters of one column, for |x - y|; (m - 1,), (m,).

    From the gaps between its m sorted distinct values, and their weights. Gaps and weights below `NEGLIGIBLE` are
    raised to it, which hardly changes the sum.
    """
    if k == 1:
        return 0.0
    gaps, weights = np.maximum(gaps, NEGLIGIBLE), np.maximum(weights, NEGLIGIBLE)
    return eigenvalue_bound(line_eigenvalues(gaps, weights, k - 1), k)
