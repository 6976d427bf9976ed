"""A p-value beyond what the resamples can show: a generalised Pareto law fitted to the upper tail of the null."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray

__all__ = ["FEW", "generalised_pareto_pvalue"]

FEW = 10  # values at or above the observed one, below which their count says little
LARGEST_TAIL = 250  # values that are fitted, at most a quarter of all


def generalised_pareto_pvalue(observed: float, null: FloatArray) -> float | None:
    """P(null >= observed) from the fitted tail (Knijnenburg et al. 2009); None if there is no tail to fit.

    The threshold lies midway between the last value of the tail and the next one below. The law of S has an exponential
    tail; a fitted shape below 0 would end it at a finite point and give a p far too small, so it counts as 0. Never
    below 1/(m + 1)^2: so far beyond its m values no fit can be trusted.
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
    shape, _, scale = genpareto.fit(excess / unit, floc=0)
    if shape < 0:
        shape, scale = 0.0, 1.0
    tail = float(size / null.size * genpareto.sf(beyond / unit, shape, scale=scale))
    return max(tail, 1.0 / (null.size + 1) ** 2)
