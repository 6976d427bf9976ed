"""Several semimetrics in one permutation run: the smallest of their p-values, tested itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from energystats._core.powers_of_two import deviations
from energystats._core.pvalues import pvalue_interval, smallest_pvalues, tie_tolerance, upper_pvalue
from energystats._typing import FloatArray
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import ExchangeableUnits
from energystats.distribution_tests.permutation_test import (
    CONFIDENCE_LEVEL,
    RANKED_BY,
    Sampling,
    StatisticName,
    permutation_test,
)
from energystats.distribution_tests.results import EnergyTestResult

__all__ = ["aggregated_test"]


def aggregated_test(
    several: Sequence[Dissimilarity],
    groups: Groups,
    name: StatisticName,
    *,
    sampling: Sampling,
    rng: np.random.Generator,
    units: ExchangeableUnits,
    weights: FloatArray | None = None,
) -> EnergyTestResult:
    """Min-p over the semimetrics: every labeling gets its p-value in each, so that the level is exact.

    All semimetrics see the same permutations.
    """
    seed = int(rng.integers(2**63))
    name = "between" if name == "f" else name  # it ranks the labelings in the same way
    parts, values, tolerances = [], [], []
    for d in several:
        same = np.random.default_rng(seed)
        part = permutation_test(d, groups, name, sampling=sampling, rng=same, units=units, weights=weights)
        size = part.total if d.metric.negative_type else d.scale_of(weights)
        tolerances.append(RANKED_BY[name].ties(groups.mass(weights)) * tie_tolerance(size, d.n))
        parts.append(part)
        values.append(np.append(part.statistic, part.null_distribution))
    smallest = smallest_pvalues(values, tolerances)
    observed, null = float(smallest[0]), smallest[1:]
    extreme = int(np.count_nonzero(null <= observed))
    pvalue = upper_pvalue(extreme, null.size)
    best = min(parts, key=lambda part: (part.pvalue, -_standardize_statistic(part)))
    exact = best.method == "exact"
    return replace(
        best,
        statistic=observed,
        statistic_name="min p",
        null_hypothesis=min((part.null_hypothesis for part in parts), key=len),  # one that sees more says less
        pvalue=pvalue,
        pvalue_interval=(pvalue, pvalue) if exact else pvalue_interval(extreme, null.size, CONFIDENCE_LEVEL),
        null_distribution=null,
        components=tuple(parts),
    )


def _standardize_statistic(part: EnergyTestResult) -> float:
    """The statistic in standard deviations of its null values: of equal p-values, which is the clearest."""
    null = part.null_distribution
    spread = float(deviations(null[:, None])[0])
    return (part.statistic - float(null.mean())) / spread if spread > 0 else 0.0
