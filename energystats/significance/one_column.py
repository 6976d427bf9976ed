"""One column: is there more than one mode? [theory 5]."""

from __future__ import annotations

import numpy as np

from energystats.dissimilarity import Dissimilarity
from energystats.results import ClusterTestResult, Contrast
from energystats.significance.unimodality import (
    flat_factor,
    remark_on_copies,
    remark_on_ties,
    unimodality_test,
)

__all__ = ["UNIMODALITY", "one_column_test"]

SMALLEST_SAMPLE = 8  # points
UNIMODALITY = "the population is unimodal"


def one_column_test(
    d: Dissimilarity, k: int, *, n_resamples: int, conservative: bool, rng: np.random.Generator
) -> ClusterTestResult:
    """The indices of the whole column."""
    if d.n < SMALLEST_SAMPLE:
        raise ValueError(f"`X` must have at least {SMALLEST_SAMPLE} rows, got {d.n}.")
    assert d.points is not None
    x = d.points[:, 0]
    factor = flat_factor(conservative)
    found = unimodality_test(x - x.mean(), n_resamples, factor, rng)
    return ClusterTestResult(
        statistic=found.index,
        pvalue=found.pvalue,
        method="unimodal-1d",
        null_hypothesis=UNIMODALITY,
        k=k,
        n_resamples=n_resamples,
        n_splits=0,
        n_clustered=0,
        factor=factor,
        conservative=conservative,
        jittered=found.spread,
        pvalues=np.array([[found.pvalue]]),
        scores=found.scores,
        null_distribution=np.empty(0),
        indices=found.indices[None],
        rows=(Contrast("more than one mode", found.index, found.pvalue, found.pvalue),),
        remarks=(
            *remark_on_ties([d.columns[0] if d.columns else "x"] if found.spread else []),
            *remark_on_copies(d.points),
        ),
    )
