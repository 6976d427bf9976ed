"""P-values adjusted for their number, by statsmodels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from energystats._typing import FloatArray
from energystats.inputs.options import check_option

__all__ = ["CORRECTIONS", "adjust", "correction_named"]


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


OF_R = {"BH": "fdr_bh", "fdr": "fdr_bh", "BY": "fdr_by", "hochberg": "simes-hochberg"}  # names of `p.adjust`


def correction_named(correction: str) -> str:
    """Return statsmodels' name of a correction from that name or R's; raise if there is none."""
    correction = OF_R.get(correction, correction) if isinstance(correction, str) else correction
    check_option(correction, "correction", CORRECTIONS)
    return correction


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
