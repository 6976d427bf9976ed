"""One column: is there more than one mode? [SIGNIFICANCE s.2.1]."""

from __future__ import annotations

import numpy as np

from energystats._core.ties import spread_ties
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import TiesWarning, warn
from energystats.results import ClusterTestResult, Contrast
from energystats.significance.excess import FLAT_FACTOR, excess_test
from energystats.significance.scores import TIES_SPREAD

__all__ = ["UNIMODALITY", "one_column_test"]

SMALLEST_SAMPLE = 8  # points
UNIMODALITY = "the population is unimodal"


def one_column_test(d: Dissimilarity, k: int, n_resamples: int, rng: np.random.Generator) -> ClusterTestResult:
    """E of the whole column, always with the flat factor."""
    if d.n < SMALLEST_SAMPLE:
        raise ValueError(f"`X` must have at least {SMALLEST_SAMPLE} rows, got {d.n}.")
    assert d.points is not None
    tie_rng, draw_rng = rng.spawn(2)
    x = d.points[:, 0] - d.points[:, 0].mean()
    spread = spread_ties(x, tie_rng)
    if spread is not None:
        warn(TIES_SPREAD, TiesWarning)
    found = excess_test(x if spread is None else spread, n_resamples, FLAT_FACTOR, draw_rng)
    return ClusterTestResult(
        statistic=found.index,
        pvalue=found.pvalue,
        method="unimodal-1d",
        null_hypothesis=UNIMODALITY,
        k=k,
        n_resamples=n_resamples,
        n_splits=0,
        conservative=True,
        jittered=spread is not None,
        pvalues=np.array([[found.pvalue]]),
        scores=found.scores,
        rows=(Contrast("more than one mode", found.index, found.pvalue, found.pvalue),),
        remarks=() if spread is None else (TIES_SPREAD,),
    )
