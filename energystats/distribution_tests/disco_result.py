"""Dispersion decomposed by the terms of a model."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from energystats._core.pvalues import reached_by_ties_alone, share_of_largest
from energystats._core.statistics import is_negative, share
from energystats._typing import FloatArray
from energystats.display.numbers import number, numbers, p_text, probability, proportion
from energystats.display.result import Result
from energystats.display.sentences import (
    exact_note,
    floor_note,
    metric_note,
    metric_text,
    random_interval,
    seed_note,
    state_evidence,
    undecided,
    write_within_strata,
)
from energystats.display.tables import LEVEL, TextTable, cut_all, shorten_name, text_table
from energystats.distribution_tests.multiplicity import adjust

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["ROWS_OF_TABLE", "DiscoResult", "DiscoRow", "is_interaction"]


ROWS_OF_TABLE = ("Overlap", "Residual", "Total")  # beside those of the terms
NAMES_AND_CALLS = re.compile(r"`[^`]*`|\([^)]*\)|\[[^\]]*\]")  # within which a colon joins no factors
FEW_LEFT = 0.05  # of the rows, as residual degrees of freedom


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoRow:
    """Hold one row of the decomposition of the total dispersion: a term, the overlap, the residual or the total."""

    name: str  # the term, as the formula has it
    df: int  # degrees of freedom
    dispersion: float  # its part of T
    f: float = math.nan  # (dispersion/df) / (residual dispersion/residual df); NaN for rows that are not tested
    share: float  # dispersion/T, called R2 in tables
    # permutation p: `pvalue_location` where it is not NaN, of an interaction the larger of the two (beside errors with
    # heavy tails at least that of means), else `pvalue_features`; NaN for rows that are not tested
    pvalue: float = math.nan
    # p of F: the terms are additive in the feature space of rho, where points that move change direction, too
    pvalue_features: float = math.nan
    # p of the residuals of the coordinates: the terms are additive in location. NaN for a term that is not adjusted,
    # where it would be the same (squared distances), and for a matrix and metrics of other than differences.
    pvalue_location: float = math.nan
    # Whether `pvalue` permutes residuals of a model without the term. Else rows are permuted as they are: exact if all
    # other terms are constant within strata, approximate for the first of several, whose F has their residual.
    is_adjusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DiscoResult(Result):
    """Hold the decomposition of the total dispersion by factors and covariates, with permutation tests.

    Attributes
    ----------
    statistic : float
        F of the whole model against the constant; for a single term, its F.
    pvalue : float
        Share of permutations with an F at least as large, ties and the observed order included.
    method : {"permutation", "exact"}
        What was done, not what was asked for.
    n_resamples : int
        Random permutations; all distinct labelings when exact.
    n_strata : int
        Blocks within which rows were permuted; 0 for free permutations.
    null_hypothesis : str
        The question that `pvalue` answers.
    decomposition : {"sequential", "marginal"}
        Whether a term is adjusted for the terms before it, or for all that do not contain it.
    terms : tuple of DiscoRow
        One for each term: name, df, dispersion, f, share and pvalue.
    residual : float
        W, the dispersion that the model leaves.
    df_residual : int
        Its degrees of freedom.
    total : float
        The total dispersion T.
    n : int
        Rows used.
    null_distribution : ndarray of shape (n_resamples,) or (n_resamples - 1,)
        F of the whole model under the other permutations.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        Of a single factor, whether its groups were found from data, or are a local optimum of W, as clusters are; and
        what the names of levels hide, such as two that print alike. Of adjusted terms, that they are tested in the
        feature space of rho alone.
    """

    statistic: float
    pvalue: float
    method: Literal["permutation", "exact"]
    n_resamples: int
    n_strata: int
    null_hypothesis: str
    decomposition: Literal["sequential", "marginal"]
    terms: tuple[DiscoRow, ...] = field(repr=False)
    residual: float
    df_residual: int
    total: float
    n: int
    null_distribution: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    @property
    def rows(self) -> tuple[DiscoRow, ...]:
        """Return the rows of a dispersion decomposition: model terms, overlap, residual and total."""
        W = DiscoRow(
            name="Residual", df=self.df_residual, dispersion=self.residual, share=share(self.residual, self.total)
        )
        T = DiscoRow(name="Total", df=self.n - 1, dispersion=self.total, share=share(self.total, self.total))
        return (*self.terms, *self._overlap(), W, T)

    def _overlap(self) -> tuple[DiscoRow, ...]:
        """Return a row with the dispersion that marginal terms share or count twice; empty for sequential terms."""
        if self.decomposition == "sequential" or len(self.terms) == 1:
            return ()
        left = self.total - self.residual - sum(row.dispersion for row in self.terms)
        left = 0.0 if abs(left) <= 1e-10 * abs(self.total) else left
        df = self.n - 1 - self.df_residual - sum(row.df for row in self.terms)
        return (DiscoRow(name="Overlap", df=df, dispersion=left, share=share(left, self.total)),)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with df, dispersion, F, R2 and pvalue of each term, Overlap, Residual and Total."""
        import pandas as pd

        rows = self.rows
        cells = [(row.df, row.dispersion, row.f, row.share, row.pvalue) for row in rows]
        index = pd.Index([row.name for row in rows], name="term")
        return pd.DataFrame(cells, index=index, columns=["df", "dispersion", "F", "R2", "pvalue"])

    def _tables(self) -> list[TextTable]:
        how = "all distinct labelings" if self.method == "exact" else "random permutations"
        how += write_within_strata(self.n_strata)
        model = [
            ["F of the model", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["method", self.method],
            [how, str(self.n_resamples)],
            ["rows", str(self.n)],
        ]
        rows = self.rows
        columns = [
            [str(row.df) for row in rows],
            numbers([row.dispersion for row in rows]),
            ["" if text == "-" else text for text in numbers([row.f for row in rows])],
            [proportion(row.share) for row in rows],
            ["" if math.isnan(row.pvalue) else probability(row.pvalue) for row in rows],
        ]
        heads = ["df", "dispersion", "F", "R2", "p"]
        title = "Energy dispersion" + (f", {self.decomposition} terms" if len(self.terms) > 1 else "")
        return [
            text_table(model, None, None, "Distance components"),
            text_table(list(zip(*columns, strict=True)), heads, cut_all(row.name for row in rows), title),
        ]

    def _sentences(self) -> list[str]:
        lines = [f"Null hypothesis of the model: {self.null_hypothesis}."]
        if is_negative(self.residual, self.total, *(row.dispersion for row in self.terms)):
            lines.append(
                "A dispersion is negative, so rho is not of negative type (see `negative_type`): p stands, but R2 is "
                "no share and a dispersion of 0 does not mean equality."
            )
        if self.method == "exact":
            lowest = share_of_largest(self.statistic, self.null_distribution)
            lines += [exact_note(self.n_resamples), *floor_note(self.n_resamples, lowest)]
        else:
            lines.append(seed_note(self.pvalue, self.n_resamples, "random permutations"))
        if len(self.terms) > 1:
            adjusted = "the terms before it" if self.decomposition == "sequential" else "all that do not contain it"
            sentence = f"Each term is adjusted for {adjusted}"
            if any(row.is_adjusted for row in self.terms):
                sentence += "; p permutes residuals where a term is adjusted, and is approximate"
            elif self.n_strata:
                sentence += (
                    "; what tested terms are adjusted for is constant within every stratum, where rows are permuted, "
                    "so that p is exact"
                )
            lines.append(f"{sentence}.")
            lines += self._null_of_terms()
            with_p = sum(not math.isnan(row.pvalue) for row in self.terms)
            if with_p > 1:
                lines.append(f"The p of {with_p} terms in the table are not adjusted for their number.")
        few = undecided(
            self.pvalue,
            self._interval(),
            ties_alone=reached_by_ties_alone(self.statistic, self.null_distribution),
        )
        metric = metric_note(self.metric, self.standardization)
        return [*lines, *self.notes, *self._saturation(), metric, *self._terms_note(), *few]

    def _null_of_terms(self) -> list[str]:
        """Return a note if some p-value of a model term is from permuted residuals."""
        if any(not math.isnan(row.pvalue_location) for row in self.terms):
            return [
                "p of an adjusted term permutes least-squares residuals of the columns: the other terms add up in "
                "location. F and R2 are those of the points in the feature space of rho, where two shifts along one "
                "line count as an interaction; p of an interaction is the larger of those of both spaces."
            ]
        return []

    def _saturation(self) -> list[str]:
        """Return a note if few residual degrees of freedom or no residual dispersion are left."""
        exact = self.total > 0 and self.residual <= 1e-12 * self.total
        if self.df_residual < FEW_LEFT * self.n:
            rows = "every row" if exact else "nearly every row"
            return [
                f"The model fits {rows} on its own: {self.n} rows leave {self.df_residual} residual degree"
                f"{'s' * (self.df_residual > 1)} of freedom, so that F and R2 say little."
            ]
        return (
            ["The residual dispersion is 0, but for the rounding of T: the model fits every row exactly, or nearly so."]
            if exact
            else []
        )

    def _conclusion(self) -> str:
        if len(self.terms) == 1:
            return state_evidence(self.pvalue, f"that the distribution depends on {shorten_name(self.terms[0].name)}")
        clear = self._clear_terms()
        if not clear or self.pvalue <= LEVEL:
            return state_evidence(self.pvalue, "that the model as a whole matters")
        which = (
            f"{shorten_name(clear[0][0], 16)} ({p_text(clear[0][1])} by Holm)"
            if len(clear) == 1
            else f"{len(clear)} terms"
        )
        return f"At level {LEVEL:g}: evidence for {which}, none for the model as a whole ({p_text(self.pvalue)})."

    def _clear_terms(self) -> list[tuple[str, float]]:
        """Return names and adjusted p-values of the model terms significant after Holm's adjustment."""
        adjusted = adjust([row.pvalue for row in self.terms], "holm")
        return [(row.name, float(p)) for row, p in zip(self.terms, adjusted, strict=True) if p <= LEVEL]

    def _terms_note(self) -> list[str]:
        """Return a sentence that lists significant model terms with adjusted p-values; empty without any."""
        if len(self.terms) == 1 or not (clear := self._clear_terms()):
            return []
        texts = ", ".join(f"{shorten_name(name)} ({p_text(p)})" for name, p in clear)
        return [f"Terms with p at most {LEVEL:g} after Holm's adjustment for their number: {texts}."]

    def _interval(self) -> tuple[float, float]:
        """Compute the 95 % interval over seeds of the p-value of a model; (p, p) when exact."""
        return random_interval(self.pvalue, 0 if self.method == "exact" else self.n_resamples)

    def _frame(self) -> pd.DataFrame:
        """Return the table of terms as a data frame, with the options of the test repeated in every row."""
        return self.table.assign(
            decomposition=self.decomposition,
            method=self.method,
            n_resamples=self.n_resamples,
            metric=metric_text(self.metric),
            standardized=self.standardization is not None,
            null_hypothesis=self.null_hypothesis,
        )

    def _main_columns(self) -> tuple[str, ...]:
        return ("df", "dispersion", "R2", "F", "pvalue")

    def _headings(self) -> dict[str, str]:
        squares = self.metric.only_means or getattr(self.metric, "alpha", 1.0) == 2
        return {"df": "Df", "term": ""} | ({"dispersion": "SS"} if squares else {})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw shares of total dispersion of model terms and residual as bars, with p-values."""
        from energystats.plotting.distances import plot_decomposition

        rows = self.rows[:-1]
        return plot_decomposition(
            [row.name for row in rows],
            [row.share for row in rows],
            [row.pvalue for row in rows],
            ax,
            model_pvalue=self.pvalue,
            n=self.n,
            kind=self.decomposition if len(self.terms) > 1 else "",
        )

    def plot_null(self, ax: Axes | None = None) -> Axes:
        """Draw the null distribution of a model's F ratio with the observed value, and return the axes."""
        from energystats.plotting.null_distributions import plot_model_null

        exact = self.method == "exact"
        return plot_model_null(self.null_distribution, self.statistic, self.pvalue, ax, n=self.n, exact=exact)


def is_interaction(name: str) -> bool:
    """Return whether a model term is an interaction; colons within quoted names, calls or indices do not count."""
    return ":" in NAMES_AND_CALLS.sub("", name)
