"""Several semimetrics in one permutation run: the smallest of their p-values, tested itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from energystats._core.powers_of_two import deviations
from energystats._core.pvalues import pvalue_interval, smallest_pvalues, upper_pvalue
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests.permutation_test import (
    STATISTICS,
    GroupComparison,
    permutation_test,
)
from energystats.distribution_tests.results import CombinedTestResult, PermutationTestResult

__all__ = ["combined_test"]


def combined_test(c: GroupComparison, several: Sequence[Dissimilarity]) -> CombinedTestResult:
    """Test groups by the smallest p-value over several semimetrics, itself compared with its permutation distribution.

    All semimetrics see the same permutations.
    """
    # one seed for all, so that labeling b is the same under each semimetric
    seed = int(c.rng.integers(2**63))
    statistic = c.statistic if c.statistic.is_linear else STATISTICS["between"]  # it ranks labelings in the same way
    parts, values, tolerances = [], [], []
    for d in several:
        one = replace(c, d=d, statistic=statistic, rng=np.random.default_rng(seed))
        part = permutation_test(one)
        parts.append(part)
        values.append(np.append(part.statistic, part.null_distribution))
        tolerances.append(statistic.rounding(c.groups.mass(c.weights)) * one.tolerance(part.total))
    # min-p [theory 3]: small values are extreme, and the observed labeling is one of all
    smallest = smallest_pvalues(values, tolerances)
    observed, null = float(smallest[0]), smallest[1:]
    extreme = int(np.count_nonzero(null <= observed))
    p = upper_pvalue(extreme, null.size)
    best = min(parts, key=lambda part: (part.pvalue, -_standardize_statistic(part)))
    exact = best.method == "exact"
    return CombinedTestResult(
        statistic=observed,
        statistic_name="min p",
        null_hypothesis=min((part.null_hypothesis for part in parts), key=len),  # one that sees more says less
        pvalue=p,
        pvalue_interval=(p, p) if exact else pvalue_interval(extreme, null.size),
        method=best.method,
        n_resamples=best.n_resamples,
        smallest_pvalue=best.smallest_pvalue,
        n_strata=best.n_strata,
        n_plots=best.n_plots,
        weighted=best.weighted,
        stopped_early=False,
        extrapolated=False,
        effect_size=best.effect_size,
        inhomogeneity=best.inhomogeneity,
        within=best.within,
        between=best.between,
        total=best.total,
        sizes=best.sizes,
        labels=best.labels,
        group_name=best.group_name,
        null_distribution=null,
        metric=best.metric,
        standardization=best.standardization,
        notes=best.notes,
        components=tuple(parts),
    )


def _standardize_statistic(part: PermutationTestResult) -> float:
    """Standardize the observed statistic by the mean and standard deviation of its null values."""
    null = part.null_distribution
    spread = float(deviations(null[:, None])[0])
    return (part.statistic - float(null.mean())) / spread if spread > 0 else 0.0
