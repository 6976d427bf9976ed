"""Sentences that several results print."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from energystats._core.pvalues import pvalue_interval
from energystats._core.statistics import is_negative
from energystats.display.numbers import interval_text, p_text, rounded
from energystats.display.tables import LEVEL, WIDTH

if TYPE_CHECKING:
    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = [
    "Caution",
    "exact_note",
    "floor_note",
    "join_names",
    "metric_note",
    "metric_text",
    "note_negative",
    "random_interval",
    "seed_note",
    "sentences",
    "state_evidence",
    "undecided",
    "write_counts",
    "write_within_strata",
]


COUNTS_SHOWN = 10
NAMES_SHOWN = 20


class Caution(str):
    """Hold a note that changes how a conclusion must be read; its first sentence, `short`, is shown in the summary."""

    __slots__ = ("short",)
    short: str  # the beginning of the note, in one sentence

    def __new__(cls, short: str, more: str = "") -> Self:
        """Create a caution from its first sentence and the rest of its text."""
        note = super().__new__(cls, f"{short} {more}".rstrip())
        note.short = short
        return note


# ---------------------------------------------------------------- sentences


def metric_text(metric: Metric) -> str:
    """Return a semimetric as Python code, its name and power if it is of SciPy, or "the matrix given"."""
    if repr(metric) == "Precomputed()":
        return "the matrix given"
    if named := re.fullmatch(r"SciPyMetric\(name='(\w+)', alpha=([\d.]+)\)", repr(metric)):
        return f'"{named[1]}"' + f", alpha = {float(named[2]):g}" * (float(named[2]) != 1)
    return re.sub(r"\d+\.\d{6,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", repr(metric))


def metric_note(metric: Metric, standardization: Standardization | None) -> str:
    """Return a note that names the semimetric and the standardization of columns, with remarks on both."""
    note = f"Semimetric: {metric_text(metric)}{', columns standardized' if standardization is not None else ''}."
    return " ".join([note, *metric.notes])


def note_negative(within: float, between: float, total: float, *, of: str = "", tested: bool = True) -> tuple[str, ...]:
    """Return a note if W, S or T is below 0, which a rho of negative type never gives [theory 1]; else ().

    `of` names whose dispersions they are, such as " of some pairs"; `tested` tells that a p-value stands beside them.
    """
    if not is_negative(within, between, total):
        return ()
    negative_s = is_negative(between, abs(total))
    lost = ["S/T is no share"]
    if negative_s and tested:
        lost.append("S = 0 does not mean equality")
    if not tested:
        lost.append("W no spread")
    which = ("S" if negative_s else "W or T") + of
    stands = "p stands, but " if tested else ""
    return (
        f"{which} is negative, so rho is not of negative type (see `negative_type`): {stands}{' and '.join(lost)}.",
    )


def seed_note(pvalue: float, n_resamples: int, what: str, *, factor: float = 1.0, name: str = "p-value") -> str:
    """Return a note with the number of resamples of a random p-value and its Monte Carlo standard error.

    `factor` is what the share of the resamples was multiplied by.
    """
    if pvalue >= 1 < factor:
        return f"{name} by {n_resamples} {what}: cut off at 1, where another seed hardly moves it."
    if pvalue >= 1:
        return f"{name} by {n_resamples} {what}: all reach the statistic, and another seed hardly moves it."
    smallest = 1 / (n_resamples + 1)
    at = min(max(pvalue / factor, smallest), 1 - smallest)
    # the Monte Carlo variance of a share of n_resamples draws is p (1 - p) / n_resamples
    error = factor * math.sqrt(at * (1 - at) / n_resamples)
    note = f"{name} by {n_resamples} {what}: another seed moves it by about ±{rounded(error)} (Monte Carlo standard"
    if pvalue <= factor * smallest * (1 + 1e-9):
        return f"{note} error). It is the smallest that so many can give."
    return f"{note} error)."


def exact_note(n_resamples: int, what: str = "distinct labelings") -> str:
    """Return a note that a p-value is exact, from so many labelings, and does not depend on a seed."""
    return f"p-value over all {n_resamples} {what}: it is exact and does not depend on a seed."


def floor_note(count: int, lowest: float) -> list[str]:
    """Return a sentence on the smallest possible p of few labelings if it exceeds .05, in a list; else empty."""
    return [f"With {count} labelings no p below {lowest:.3g} is possible."] if lowest > LEVEL else []


def state_evidence(pvalue: float, claim: str, *, note: str = "", level: float = LEVEL) -> str:
    """Return the conclusion of a test: evidence or none, at a level, for a claim such as 'that the groups differ'."""
    what = "evidence" if pvalue <= level else "no evidence at this sample size"
    return f"At level {level:g}: {what} {claim} ({p_text(pvalue)}){note}."


def random_interval(pvalue: float, n_resamples: int) -> tuple[float, float]:
    """Compute the 95 % interval of a random p-value over seeds; (p, p) if it is not random."""
    if n_resamples < 1 or math.isnan(pvalue):
        return pvalue, pvalue
    extreme = min(max(round(pvalue * (n_resamples + 1)) - 1, 0), n_resamples)
    return pvalue_interval(extreme, n_resamples)


def undecided(
    pvalue: float, interval: tuple[float, float], what: str = "permutations", *, ties_alone: bool = False
) -> list[str]:
    """Return a note, in a list, if the 95 % interval of a random p-value contains the level; else empty.

    Where `ties_alone` reach the statistic, p is about the share of the most extreme labelings, which are few in all.
    """
    low, high = interval
    if not low <= LEVEL < high or low == high or math.isnan(pvalue):
        return []
    if ties_alone:
        return [
            f"No statistic drawn is larger than that of the data, and p counts ties alone: no number of {what} gives a "
            "smaller one, but for chance."
        ]
    return [
        f"The 95 % interval of p ({interval_text(interval)}) contains {LEVEL:g}, so that the number of {what} leaves "
        f"it undecided: another seed or more {what} may decide otherwise."
    ]


def join_names(names: Sequence[object]) -> str:
    """Join names by commas; of more than twenty the first ones and the last two.

    Columns are often bound together kind by kind.
    """
    texts = [str(name) for name in names]
    if len(texts) <= NAMES_SHOWN:
        return ", ".join(texts)
    first = NAMES_SHOWN - 4
    return ", ".join([*texts[:first], f"... ({len(texts) - first - 2} others)", *texts[-2:]])


def write_counts(counts: Sequence[int]) -> str:
    """Format numbers as text such as '60, 50 and 40'; of more than ten only the first ones."""
    if len(counts) > COUNTS_SHOWN:
        return f"{', '.join(map(str, counts[:COUNTS_SHOWN]))}, ... ({len(counts) - COUNTS_SHOWN} more)"
    *most, last = map(str, counts)
    return f"{', '.join(most)} and {last}" if most else last


def write_within_strata(n_strata: int | None) -> str:
    """Return text on how many strata labels were permuted within, to follow "permutations"; empty without strata."""
    return f" within {n_strata} strat{'um' if n_strata == 1 else 'a'}" if n_strata else ""


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """Wrap each sentence to the width of a summary, and yield it."""
    return (textwrap.fill(text, WIDTH, subsequent_indent="  ") for text in texts)
