"""Hold the result of a test of one sample against a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from energystats._typing import FloatArray
from energystats.display.numbers import interval_text, number, probability
from energystats.display.result import Result
from energystats.display.sentences import Caution, metric_note, seed_note, state_evidence, undecided
from energystats.display.tables import LEVEL, TextTable, text_table
from energystats.metrics.base import Metric

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["GoodnessOfFitResult", "Impossible", "ImpossibleFit"]


class Impossible(Caution):
    """Hold a caution that a distribution cannot give the sample."""

    __slots__ = ()


class ImpossibleFit(Caution):
    """Hold a caution that the fitted distribution cannot give the sample, which others of the family may."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GoodnessOfFitResult(Result):
    """Hold the result of an energy test of one sample against a distribution, by simulation.

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
        The distribution in words; the fitted one where parameters were estimated.
    estimated : bool
        Whether its parameters were estimated, from the sample and from every simulated one.
    n, d : int
        Rows and columns of the sample.
    n_reference : int
        Points that stand for the distribution; 0 where its mean distances are exact.
    reference : {"exact", "quantiles", "draws"}
        What those points are.
    null_distribution : ndarray of shape (n_resamples,)
        The statistic of the simulated samples.
    metric : Metric
        With every parameter that was fitted to the reference.
    notes : tuple of str
        Of a test of normality, that many values are equal, or to which grid simulated samples were rounded; of another
        one, that some values are impossible, or why draws stand for a distribution that knows its quantiles;
        of both, that all samples have one statistic.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    method: Literal["simulation"] = "simulation"
    n_resamples: int
    null_hypothesis: str
    distribution: str
    estimated: bool
    n: int
    d: int
    n_reference: int
    reference: Literal["exact", "quantiles", "draws"]
    null_distribution: FloatArray = field(repr=False)
    metric: Metric

    def _tables(self) -> list[TextTable]:
        rows = [
            ["statistic (n times the energy distance)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["95 % interval of p", interval_text(self.pvalue_interval)],
            ["method", self.method],
            ["simulated samples", str(self.n_resamples)],
            ["rows, columns", f"{self.n}, {self.d}"],
        ]
        return [text_table(rows, None, None, f"Energy test of fit: {self.distribution}")]

    def _sentences(self) -> list[str]:
        how = {
            "exact": "Mean distances of the distribution are exact.",
            "quantiles": f"The distribution is represented by {self.n_reference} of its quantiles.",
            "draws": f"The distribution is represented by {self.n_reference} draws.",
        }
        seed = seed_note(self.pvalue, self.n_resamples, "simulated samples")
        known = [f"Null hypothesis: {self.null_hypothesis}.", *self.notes, seed, how[self.reference]]
        return [*known, metric_note(self.metric, None), *undecided(self.pvalue, self.pvalue_interval, "samples")]

    def _conclusion(self) -> str:
        if any(isinstance(note, Impossible) for note in self.notes):
            return "The null hypothesis is false: the distribution cannot give this sample."
        if any(isinstance(note, ImpossibleFit) for note in self.notes):
            return "No verdict: the fitted distribution cannot give this sample, but others of the family may."
        others = "" if self.pvalue <= LEVEL else "; others may fit as well"
        return state_evidence(self.pvalue, "of a misfit", note=others)

    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame of one row."""
        import pandas as pd

        names = (
            "statistic",
            "pvalue",
            "method",
            "n_resamples",
            "distribution",
            "estimated",
            "n",
            "d",
            "n_reference",
            "null_hypothesis",
        )
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def _main_columns(self) -> tuple[str, ...]:
        return ("distribution", "n", "d", "statistic", "pvalue", "n_resamples")

    def _headings(self) -> dict[str, str]:
        return {"d": "columns", "statistic": "n E", "n_resamples": "simulated samples"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a histogram of null values with the observed statistic, and return the axes."""
        from energystats.plotting.null_distributions import plot_goodness

        null, name = self.null_distribution, self.distribution
        return plot_goodness(null, self.statistic, self.pvalue, ax, distribution=name, n=self.n)
