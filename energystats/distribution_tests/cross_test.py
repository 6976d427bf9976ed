"""A test without permutations: half of the data finds the direction, the other half is compared along it."""

from __future__ import annotations

import math

import numpy as np

from energystats._core.pvalues import normal_pvalue
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.permutation_test import FREE, make_test_result
from energystats.distribution_tests.results import EnergyTestResult
from energystats.exceptions import NotCalibratedWarning, warn

__all__ = ["cross_test"]


SMALL = 20  # points in a sample, below which the normal distribution was measured to be off
UNEQUAL = 3  # times as large: the other sample, above which it was, too


def cross_test(d: Dissimilarity, groups: Groups, rng: np.random.Generator) -> EnergyTestResult:
    """Studentised inner product of the mean differences of two halves, N(0, 1) under equality (Shekhar et al. 2022)."""
    if groups.k != 2:
        raise ValueError(f'`method="cross"` compares two groups, got {groups.k}.')
    if groups.sizes.min() < 4:
        sizes = ", ".join(map(str, groups.sizes.tolist()))
        raise ValueError(f'`method="cross"` halves each sample and needs 4 points in each, got {sizes}.')
    few, many = sorted(groups.sizes.tolist())
    if few < SMALL or many >= UNEQUAL * few:
        warn(
            '`method="cross"` was measured to reject up to .12 of true nulls at level .05 when a sample has fewer than '
            f"{SMALL} points, and up to .08 when the other is {UNEQUAL} times as large; got {few} and {many}. Use a "
            "permutation test.",
            NotCalibratedWarning,
        )
    finding, x, y = _halves(groups, rng)
    scores = 0.5 * d.pairs.multiply(finding) @ np.array([-1.0, 1.0])
    scores /= d.scale / d.n or 1.0  # variances must stay in the range of numbers
    statistic = _studentised(scores[x], scores[y])
    pvalue = normal_pvalue(statistic)
    M, s = d.group_sums(groups)
    return make_test_result(
        d, groups, M, s, FREE, statistic, "cross", pvalue, method="cross", null_moments=(0.0, 1.0, 0.0)
    )


def _halves(groups: Groups, rng: np.random.Generator) -> tuple[FloatArray, IntArray, IntArray]:
    """Weights 1/n of the first half of each sample in two columns, and the rows of the second halves."""
    weights, held = np.zeros((groups.codes.size, 2)), []
    for j, rows in enumerate(groups.members()):
        mixed = rng.permutation(rows)
        half = rows.size // 2
        weights[mixed[:half], j] = 1 / half
        held.append(mixed[half:])
    return weights, held[0], held[1]


def _studentised(x: FloatArray, y: FloatArray) -> float:
    """Difference of means over its standard error, of values of order 1; 0 where both are rounding."""
    difference = float(x.mean() - y.mean())
    error = math.sqrt(float(x.var(ddof=1)) / x.size + float(y.var(ddof=1)) / y.size)
    if max(abs(difference), error) <= 1e-12:
        return 0.0
    return difference / error if error > 0 else math.copysign(math.inf, difference)
