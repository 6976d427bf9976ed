"""Sentences that several results say."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from energystats._core.pvalues import pvalue_interval
from energystats.display.numbers import interval_text, p_text, rounded
from energystats.display.tables import LEVEL, WIDTH

if TYPE_CHECKING:
    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = [
    "Caution",
    "exact_note",
    "metric_note",
    "metric_text",
    "random_interval",
    "seed_note",
    "sentences",
    "state_evidence",
    "undecided",
    "write_counts",
]


COUNTS_SHOWN = 10


class Caution(str):
    """A note that changes how a verdict must be read: where verdicts come first, `short` stands below them.

    Attributes
    ----------
    short : str
        The beginning of the note, in one sentence.
    """

    __slots__ = ("short",)
    short: str

    def __new__(cls, short: str, more: str = "") -> Self:
        """Make the note of its short beginning and what follows it."""
        note = super().__new__(cls, f"{short} {more}".rstrip())
        note.short = short
        return note


# ---------------------------------------------------------------- sentences


def metric_text(metric: Metric) -> str:
    """Write a semimetric as code, its parameters with six digits; of a matrix, that it was given."""
    if repr(metric) == "Precomputed()":
        return "the matrix given"
    return re.sub(r"\d+\.\d{6,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", repr(metric))


def metric_note(metric: Metric, standardization: Standardization | None) -> str:
    """Say which semimetric was used, what was done to the columns, and what a reader has to know of it."""
    note = f"Semimetric: {metric_text(metric)}{', columns standardized' if standardization is not None else ''}."
    return " ".join([note, *metric.notes])


def seed_note(pvalue: float, n_resamples: int, what: str, *, factor: float = 1.0, name: str = "p-value") -> str:
    """Say what a random p-value rests on, and how far another seed moves it.

    `factor` is what the share of the resamples was multiplied by.
    """
    smallest = 1 / (n_resamples + 1)
    at = min(max(pvalue / factor, smallest), 1 - smallest)
    # the Monte Carlo variance of a share of n_resamples draws is p (1 - p) / n_resamples
    error = factor * math.sqrt(at * (1 - at) / n_resamples)
    note = f"{name} by {n_resamples} {what}: another seed moves it by about ±{rounded(error)} (Monte Carlo standard"
    if pvalue <= factor * smallest * (1 + 1e-9):
        return f"{note} error). It is the smallest that so many can give."
    return f"{note} error)."


def exact_note(n_resamples: int, what: str = "distinct labelings") -> str:
    """Say that an exact p-value has no seed."""
    return f"p-value over all {n_resamples} {what}: it is exact and does not depend on a seed."


def state_evidence(pvalue: float, claim: str, *, note: str = "", level: float = LEVEL) -> str:
    """Write the verdict of a test: evidence or none, at a level, for a claim such as 'that the groups differ'."""
    what = "evidence" if pvalue <= level else "no evidence at this sample size"
    return f"At level {level:g}: {what} {claim} ({p_text(pvalue)}){note}."


def random_interval(pvalue: float, n_resamples: int) -> tuple[float, float]:
    """Compute the 95 % interval of a random p-value over seeds; (p, p) where there are no resamples."""
    if n_resamples < 1 or math.isnan(pvalue):
        return pvalue, pvalue
    extreme = min(max(round(pvalue * (n_resamples + 1)) - 1, 0), n_resamples)
    return pvalue_interval(extreme, n_resamples, 0.95)


def undecided(pvalue: float, interval: tuple[float, float], what: str = "permutations") -> list[str]:
    """Note that the p-value of all permutations may be on the other side of the level, where that is so."""
    low, high = interval
    if not low <= LEVEL < high or low == high or math.isnan(pvalue):
        return []
    return [
        f"The 95 % interval of p ({interval_text(interval)}) contains {LEVEL:g}, so that the number of {what} leaves "
        f"it undecided: another seed or more {what} may decide otherwise."
    ]


def write_counts(counts: Sequence[int]) -> str:
    """Write '60, 50 and 40', of many numbers the first ones."""
    if len(counts) > COUNTS_SHOWN:
        return f"{', '.join(map(str, counts[:COUNTS_SHOWN]))}, ... ({len(counts) - COUNTS_SHOWN} more)"
    *most, last = map(str, counts)
    return f"{', '.join(most)} and {last}" if most else last


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """Wrap sentences as paragraphs of a summary."""
    return (textwrap.fill(text, WIDTH, subsequent_indent="  ") for text in texts)
