"""Compare a statistic of one sample with those of simulated samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._core.labelings import LABELINGS_PER_BLOCK, draw_key, stream_of
from energystats._core.pvalues import count_extreme, pvalue_interval, tie_tolerance, upper_pvalue
from energystats._runtime import with_bar
from energystats._typing import FloatArray

__all__ = ["NUMBERS_AT_ONCE", "compare_with_null", "note_equal_statistics", "simulate_null"]


NUMBERS_AT_ONCE = 2**21  # drawn for samples that are compared in one go
Simulate = Callable[[np.random.Generator, int], FloatArray]


def simulate_null(simulate: Simulate, n_resamples: int, rng: np.random.Generator, progress: bool) -> FloatArray:
    """Simulate null values of a statistic in blocks, each with its own random stream."""
    key = draw_key(rng)
    step = LABELINGS_PER_BLOCK
    blocks = (
        simulate(stream_of(key, block), min(step, n_resamples - start))
        for block, start in enumerate(range(0, n_resamples, step))
    )
    return np.concatenate(list(with_bar(blocks, progress, total=n_resamples, unit="sample", size=len)))


def compare_with_null(observed: float, null: FloatArray, scale: float, n: int) -> tuple[float, tuple[float, float]]:
    """Compute the p-value of a statistic among null values, ties counted, and its interval."""
    extreme = count_extreme(observed, null, tie_tolerance(scale, n))
    return upper_pvalue(extreme, null.size), pvalue_interval(extreme, null.size)


def note_equal_statistics(observed: float, null: FloatArray, scale: float, n: int) -> tuple[str, ...]:
    """Return a note if sample and all simulated samples have the same statistic; else empty."""
    if np.abs(null - observed).max() > tie_tolerance(scale, n):
        return ()
    return (f"All {null.size} simulated samples have this statistic: p says nothing.",)
