"""A test without permutations: the exact moments of the permutation distribution, and a curve through them."""

from __future__ import annotations

import numpy as np

from energystats._core import moments, statistics
from energystats._core.pvalues import pearson_pvalue
from energystats._runtime import Work
from energystats._typing import FloatArray
from energystats.distribution_tests.permutation_test import (
    GroupComparison,
    Statistic,
    describe_groups,
    note_below_all_labelings,
)
from energystats.distribution_tests.results import ApproximateTestResult
from energystats.exceptions import NotCalibratedWarning, warn
from energystats.pairs.workloads import Size, permutation_moments_work

__all__ = ["asymptotic_test", "asymptotic_work"]


DOMINANT = 0.4  # of the dispersion, made by one row, from which on .04 to .21 of true nulls were rejected at level .05
A_FEW, NEARLY_ALL = 6, 0.95  # rows that make this share of the dispersion together: .00 to .13 were rejected
NUMBERS_AT_ONCE = 2_000_000  # of tables of sums between groups


def asymptotic_test(c: GroupComparison) -> ApproximateTestResult:
    """Test groups by a p-value from a Pearson type III curve with the exact moments of the permutation distribution."""
    M, s = c.d.group_sums(c.groups)
    observed = c.statistic.rank(M, s)
    fitted = _permutation_distribution(c, s)
    if fitted[1] > 0 and c.d.has_points:
        _warn_of_duplicated_rows(c.d.points)
    p = pearson_pvalue(float(observed), *fitted)
    fields = describe_groups(c, M, s)
    fields["notes"] += note_below_all_labelings(c, p)
    return ApproximateTestResult(
        statistic=float(c.show(observed, float(statistics.total(M, s)))),
        statistic_name=c.statistic.name,
        pvalue=p,
        pvalue_interval=(p, p),
        method="asymptotic",
        n_resamples=0,
        null_distribution=np.empty(0),
        null_moments=fitted if c.statistic.is_linear else None,
        **fields,
    )


def asymptotic_work(c: GroupComparison, size: Size) -> list[Work]:
    """Estimate time and memory of the exact moments of a permutation distribution."""
    return [permutation_moments_work(size, c.groups.k)]


def _permutation_distribution(c: GroupComparison, s: FloatArray) -> tuple[float, float, float]:
    """Compute mean, sd and skewness of a statistic linear in sums between groups, over all permutations [theory 3]."""
    # a statistic that is linear in M is sum_ij C_p(i)p(j) G_ij with coefficients C of the labels: the sum whose moments
    # over all permutations are known [theory 3]
    G = c.d.centred_gram()
    coefficients = _coefficients(c.statistic, s)
    # rho(x, x) = 0 leaves the diagonal of C free, and centring needs rows of sum 0
    C = moments.GraphSums.of_groups(-(coefficients + coefficients.T), c.groups.mass(None))
    found = moments.permutation_moments(G, C)
    if found is None:
        raise ValueError(
            '`method="asymptotic"` needs a statistic that varies over the permutations by more than the rounding of '
            "its moments; here it does not, as when one row lies very far from all others or all lie at one distance. "
            'Use method="permutation".'
        )
    _warn_of_dominant_rows(np.diagonal(G))
    return found


def _coefficients(statistic: Statistic, s: FloatArray) -> FloatArray:
    """Compute the coefficients of a statistic that is linear in the sums M between groups of given sizes; (k, k)."""
    k = s.size
    found, at_once = np.empty(k * k), max(1, NUMBERS_AT_ONCE // k**2)
    # a linear function of M is known by its values where one entry is 1 and the others are 0
    for first in range(0, k * k, at_once):
        cells = np.arange(first, min(first + at_once, k * k))
        units = np.zeros((cells.size, k * k))
        units[np.arange(cells.size), cells] = 1.0
        found[cells] = statistic.rank(units.reshape(-1, k, k), s)
    return found.reshape(k, k)


def _warn_of_duplicated_rows(points: FloatArray) -> None:
    """Warn if half of the rows are duplicates, so that a smooth curve fits the null distribution badly."""
    duplicated = len(points) - len(np.unique(points, axis=0))
    if duplicated >= len(points) / 2:
        warn(
            f"{duplicated} of {len(points)} rows are duplicates of others, so that the statistic takes few values, and "
            'the smooth distribution behind method="asymptotic" was measured to reject up to .12 of true nulls at '
            'level .05; use method="permutation".',
            NotCalibratedWarning,
        )


def _warn_of_dominant_rows(squares: FloatArray) -> None:
    """Warn if a few rows make the dispersion; `squares` are squared distances of rows from their centre."""
    total = float(squares.sum())
    if not total > 0:
        return
    shares = np.cumsum(np.sort(squares)[::-1]) / total
    few = 1 if shares[0] > DOMINANT else int(np.searchsorted(shares, NEARLY_ALL)) + 1
    if few <= min(A_FEW, squares.size / 3):
        rows = "One row makes" if few == 1 else f"{few} rows make"
        warn(
            f"{rows} {shares[few - 1]:.2f} of the dispersion of all {squares.size}, so that the statistic takes few "
            f"values, by the groups of {'this row' if few == 1 else 'these rows'}, and the smooth distribution behind "
            'method="asymptotic" was measured to reject up to .21 of true nulls at level .05; use '
            'method="permutation".',
            NotCalibratedWarning,
        )
