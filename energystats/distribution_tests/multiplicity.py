"""P-values adjusted for their number, by statsmodels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from energystats._typing import FloatArray

__all__ = ["CORRECTIONS", "adjust"]


CORRECTIONS = (
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "fdr_tsbh",
    "fdr_tsbky",
    "none",
)


def adjust(pvalues: Sequence[float] | FloatArray, correction: str) -> FloatArray:
    """Adjust p-values for multiple testing by the named correction; NaN stays NaN and does not count as a test."""
    adjusted = np.array(pvalues, dtype=np.float64)
    known = ~np.isnan(adjusted)
    if correction == "none" or known.sum() < 2:
        return adjusted
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore"):  # the Sidak forms take log(1 - p), also of p = 1, and end at 1
        adjusted[known] = multipletests(adjusted[known], method=correction)[1]
    return adjusted
