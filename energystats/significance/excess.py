"""E of one set of scores against the nearest unimodal law, and the combination of several [SIGNIFICANCE s.2]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from energystats._core.permutation import upper_pvalue
from energystats._core.unimodal import excess_split, excess_split_of_draws
from energystats._typing import FloatArray

__all__ = ["FLAT_FACTOR", "Excess", "cauchy_combination", "excess_test"]

FLAT_FACTOR = 1.6  # by which p-values on flat densities were measured to be too small, at most
CAUCHY_CAP = 0.99  # so that a single p of 1 cannot veto the others
INDEX_TOLERANCE = 1e-12  # two indices E closer than this are tied; E is a difference of shares


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """E of one set of scores: the sorted scores, the index and its p-value."""

    scores: FloatArray
    index: float
    pvalue: float


def excess_test(scores: FloatArray, n_resamples: int, factor: float, rng: np.random.Generator) -> Excess:
    """Compare E with samples from the nearest unimodal law [SIGNIFICANCE s.2.1]; p = 1 for constant scores."""
    x = np.sort(scores)
    if x[-1] <= x[0]:
        return Excess(x, 0.0, 1.0)
    index = float(excess_split(x))
    null = excess_split_of_draws(x, np.sort(rng.random((n_resamples, x.size)), axis=1))
    return Excess(x, index, min(1.0, factor * upper_pvalue(index, null, tolerance=INDEX_TOLERANCE)))


def cauchy_combination(pvalues: FloatArray) -> float:
    """One p-value from dependent ones [SIGNIFICANCE s.2.2]."""
    scores = np.tan((0.5 - np.minimum(pvalues, CAUCHY_CAP)) * np.pi)
    return float(0.5 - np.arctan(scores.mean()) / np.pi)
