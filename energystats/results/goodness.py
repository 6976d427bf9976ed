"""Tests of a sample against a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import (
    LEVEL,
    Table,
    interval_text,
    metric_note,
    number,
    probability,
    seed_note,
    text_table,
    undecided,
    verdict,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics import Metric

__all__ = ["GoodnessOfFitResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GoodnessOfFitResult(Result):
    """Energy test of one sample against a distribution, by simulation.

    Attributes
    ----------
    statistic : float
        n times the energy distance between the sample and the distribution.
    pvalue : float
        Share of samples with a statistic at least as large, ties and the observed sample included.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many resamples.
    method : {"simulation"}
        Samples were drawn from the null hypothesis.
    n_resamples : int
        How many.
    null_hypothesis : str
        The question that the p-value answers.
    distribution : str
        The distribution in words.
    n, d : int
        Rows and columns of the sample.
    n_reference : int
        Points that stand for the distribution; 0 where its mean distances are exact.
    reference : {"exact", "quantiles", "draws"}
        What those points are.
    null_distribution : ndarray of shape (n_resamples,)
        The statistic of the simulated samples.
    metric : Metric
        With every parameter that was settled on the reference.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    method: Literal["simulation"] = "simulation"
    n_resamples: int
    null_hypothesis: str
    distribution: str
    n: int
    d: int
    n_reference: int
    reference: Literal["exact", "quantiles", "draws"]
    null_distribution: FloatArray = field(repr=False)
    metric: Metric

    def _tables(self) -> list[Table]:
        rows = [
            ["statistic (n times the energy distance)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["95 % interval of p", interval_text(self.pvalue_interval)],
            ["method", self.method],
            ["simulated samples", str(self.n_resamples)],
            ["rows, columns", f"{self.n}, {self.d}"],
        ]
        return [text_table(rows, None, None, f"Energy test of fit: {self.distribution}")]

    def _notes(self) -> list[str]:
        how = {
            "exact": "Mean distances of the distribution are exact.",
            "quantiles": f"The distribution is represented by {self.n_reference} of its quantiles.",
            "draws": f"The distribution is represented by {self.n_reference} draws.",
        }
        seed = seed_note(self.pvalue, self.n_resamples, "simulated samples")
        known = [f"Null hypothesis: {self.null_hypothesis}.", seed, how[self.reference], metric_note(self.metric, None)]
        return known + undecided(self.pvalue, self.pvalue_interval, "samples")

    def _conclusion(self) -> str:
        others = "" if self.pvalue <= LEVEL else "; others may fit as well"
        return verdict(self.pvalue, "against the null hypothesis", note=others)

    def to_frame(self) -> pd.DataFrame:
        """One row; the columns are the field names."""
        import pandas as pd

        names = (
            "statistic",
            "pvalue",
            "method",
            "n_resamples",
            "distribution",
            "n",
            "d",
            "n_reference",
            "null_hypothesis",
        )
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Histogram of the null distribution with the observed statistic."""
        from energystats import plotting

        return plotting.plot_goodness(self, ax)
