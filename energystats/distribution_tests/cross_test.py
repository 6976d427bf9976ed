"""A test without permutations: half of the data finds the direction, the other half is compared along it."""

from __future__ import annotations

import math

import numpy as np

from energystats._core.pvalues import normal_pvalue
from energystats._runtime import Work
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Groups
from energystats.distribution_tests.permutation_test import GroupComparison, describe_groups, note_below_all_labelings
from energystats.distribution_tests.results import ApproximateTestResult
from energystats.exceptions import NotCalibratedWarning, warn
from energystats.pairs.workloads import Size, one_sum

__all__ = ["cross_test", "cross_work"]


SMALL = 20  # points in a sample, below which the normal distribution was measured to be off
UNEQUAL = 2.5  # times as large: the other sample, above which it was, too


def cross_test(c: GroupComparison) -> ApproximateTestResult:
    """Test two groups by a studentised statistic of random halves, N(0, 1) in the limit (Shekhar et al. 2022)."""
    d, groups = c.d, c.groups
    if groups.k != 2:
        raise ValueError(f'`method="cross"` compares two groups, got {groups.k}.')
    if groups.sizes.min() < 4:
        sizes = ", ".join(map(str, groups.sizes.tolist()))
        raise ValueError(f'`method="cross"` halves each sample and needs 4 points in each, got {sizes}.')
    few, many = sorted(groups.sizes.tolist())
    if few < SMALL or many >= UNEQUAL * few:
        warn(
            '`method="cross"` was measured to reject up to .12 of true nulls at level .05 when a sample has fewer than '
            f"{SMALL} points, and up to .14 when the other is {UNEQUAL} times as large (rare events; other values up "
            f"to .09); got {few} and {many}. Use a permutation test.",
            NotCalibratedWarning,
        )
    finding, x, y = _halves(groups, c.rng)
    # h(z) = mean k(z, X_1) - mean k(z, Y_1), the witness of the first halves; means of rho alone, as constants cancel
    scores = 0.5 * d.pairs.multiply(finding) @ np.array([-1.0, 1.0])
    scores /= d.scale / d.n or 1.0  # variances must stay in the range of numbers
    # given the first halves the scores are independent, so that Student's statistic is N(0, 1) in the limit
    statistic = _studentised(scores[x], scores[y])
    p = normal_pvalue(statistic)
    fields = describe_groups(c, *d.group_sums(groups))
    fields["notes"] += note_below_all_labelings(c, p)
    return ApproximateTestResult(
        statistic=statistic,
        statistic_name="cross",
        pvalue=p,
        pvalue_interval=(p, p),
        method="cross",
        n_resamples=0,
        null_distribution=np.empty(0),
        null_moments=(0.0, 1.0, 0.0),
        **fields,
    )


def cross_work(c: GroupComparison, size: Size) -> list[Work]:
    """Estimate time and memory of a cross test of two groups."""
    return [one_sum(size, 3.0)]


def _halves(groups: Groups, rng: np.random.Generator) -> tuple[FloatArray, IntArray, IntArray]:
    """Split two samples into random halves; return weights for means of the first, (n, 2), and rows of the second."""
    weights, held = np.zeros((groups.codes.size, 2)), []
    for j, rows in enumerate(groups.members()):
        mixed = rng.permutation(rows)
        half = rows.size // 2
        weights[mixed[:half], j] = 1 / half
        held.append(mixed[half:])
    return weights, held[0], held[1]


def _studentised(x: FloatArray, y: FloatArray) -> float:
    """Compute Welch's t statistic of two samples; 0 where all differences are rounding."""
    difference = float(x.mean() - y.mean())
    error = math.sqrt(float(x.var(ddof=1)) / x.size + float(y.var(ddof=1)) / y.size)
    if max(abs(difference), error) <= 1e-12:
        return 0.0
    return difference / error if error > 0 else math.copysign(math.inf, difference)
