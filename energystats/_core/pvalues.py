"""Form p-values from permutations: ties, intervals, early stops, and the tail beyond what was drawn [theory 3]."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from energystats._typing import FloatArray

__all__ = [
    "FEW",
    "count_extreme",
    "generalised_pareto_pvalue",
    "pvalue_interval",
    "stopped_interval",
    "tie_tolerance",
    "upper_pvalue",
]


def tie_tolerance(scale: float, n: int) -> float:
    """Return how close two values of S must be to count as tied, from T, the size of the summands [theory 4, ties]."""
    # S is a small difference of sums of the size of T: equality is judged on the scale of T, never of S itself
    return scale * max(1e-12, 2e-10 / n)


def count_extreme(observed: float, null: FloatArray, tolerance: float) -> int:
    """Count the null values that reach the observed one, ties included to rounding."""
    return int(np.count_nonzero(null >= observed - tolerance))


def upper_pvalue(extreme: int, n_others: int) -> float:
    """Form the p-value, the share of labelings at or above the observed one; the only place where one is formed.

    The observed labeling is not among the `n_others` and counts once: that is the +1 of a random null, and one of
    all labelings in an exact one, so that the two formulas agree.
    """
    return (extreme + 1) / (n_others + 1)


def pvalue_interval(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """Compute the Clopper-Pearson interval of the p-value that infinitely many resamples would give."""
    tail = (1 - confidence_level) / 2
    low = 0.0 if extreme == 0 else float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme + 1, n_resamples - extreme, 1 - tail))
    return low, high


def stopped_interval(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """Compute the interval of the p-value where sampling stopped at the last of a fixed number of extreme values."""
    # negative binomial: the last draw was extreme in any case, so the upper limit counts one extreme value less
    tail = (1 - confidence_level) / 2
    low = float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme, n_resamples - extreme, 1 - tail))
    return low, high


FEW = 10  # values at or above the observed one, below which their count says little
LARGEST_TAIL = 250  # values that are fitted, at most a quarter of all


def generalised_pareto_pvalue(observed: float, null: FloatArray) -> float | None:
    """Estimate P(null >= observed) from a fitted tail (Knijnenburg et al. 2009); None if there is no tail to fit.

    The threshold lies midway between the last value of the tail and the next one below. The distribution of S has an
    exponential tail; a fitted shape below 0 would end it at a finite point and give a p far too small, so it counts as
    0. Never below 1/(m + 1)^2: so far beyond its m values no fit can be trusted.
    """
    from scipy.stats import genpareto

    size = min(LARGEST_TAIL, null.size // 4)
    if size < FEW:
        return None
    top = np.sort(null)[-size - 1 :]
    threshold = 0.5 * float(top[0] + top[1])
    excess, beyond = top[1:] - threshold, observed - threshold
    unit = float(excess.mean())
    if not unit > 0 or beyond <= 0:
        return None
    # in units of the mean excess, so that the fit does not depend on the unit of the data
    shape, _, scale = genpareto.fit(excess / unit, floc=0)
    if shape < 0:
        shape, scale = 0.0, 1.0
    tail = float(size / null.size * genpareto.sf(beyond / unit, shape, scale=scale))
    return max(tail, 1.0 / (null.size + 1) ** 2)
