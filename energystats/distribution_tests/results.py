"""Results of tests of equal distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from energystats._core.moments import pearson_density
from energystats._core.pvalues import reached_by_ties_alone
from energystats._typing import FloatArray
from energystats.display.numbers import interval_text, number, probability, proportion
from energystats.display.result import Result
from energystats.display.sentences import (
    exact_note,
    floor_note,
    metric_note,
    metric_text,
    seed_note,
    state_evidence,
    undecided,
    write_within_strata,
)
from energystats.display.tables import LEVEL, TextTable, shorten_name, text_table, write_groups, write_sizes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = [
    "ApproximateTestResult",
    "BinnedTestResult",
    "CombinedTestResult",
    "EnergyTestResult",
    "PermutationTestResult",
    "SlicedTestResult",
    "StatisticName",
]


NAMES = {"between": "S", "f": "F", "mmd2": "MMD squared", "mmd2 (unbiased)": "MMD squared (U)", "min p": "smallest p"}
StatisticName = Literal["between", "pairwise", "f", "mmd2", "mmd2 (unbiased)", "cross", "min p"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnergyTestResult(Result):
    """Hold the result of a test of equal distributions: the fields that the results of all methods have.

    Attributes
    ----------
    statistic : float
        The observed value of the statistic named in `statistic_name`.
    pvalue : float
        Share of labelings with a statistic at least as large, ties and the observed labeling included; an
        approximation when `method` is "asymptotic" or "cross", or `extrapolated` is True.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many resamples; (p, p) when there were none, or all.
    statistic_name : {"between", "pairwise", "f", "mmd2", "mmd2 (unbiased)", "cross", "min p"}
        Which statistic.
    method : {"permutation", "exact", "asymptotic", "cross", "sliced", "binned"}
        What was done, not what was asked for. For "sliced" the statistic is an estimate and the level of p exact; for
        "binned" both are exact.
    n_resamples : int
        Random permutations made; all distinct labelings when exact; 0 for an approximation without any.
    null_hypothesis : str
        The question that the p-value answers.
    effect_size : float
        S/T, the share of the total dispersion between the groups; above 0 under equality too, on
        average (k - 1)/(n - 1) there.
    inhomogeneity : float or None
        Energy coefficient of inhomogeneity, H = E/(2 mean rho(X, Y)), for two groups.
    within, between, total : float
        W, S and T of the observed labels.
    sizes : tuple of int
        Points per group.
    labels : tuple
        Names of the groups.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    null_distribution : ndarray of shape (n_resamples,) or (n_resamples - 1,)
        The statistic of the other labelings, without the observed one; empty for an approximation.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        What else there is to know of groups, rows and p: groups found from data or like clusters, a negative
        dispersion, rows far out, too few labelings, names that hide something.

    Notes
    -----
    Methods have classes with more fields in `energystats.distribution_tests.results`: `PermutationTestResult`
    ("permutation", "exact"), `SlicedTestResult`, `BinnedTestResult`, `CombinedTestResult` (several semimetrics) and
    `ApproximateTestResult` ("asymptotic", "cross").
    """

    _one_row = True
    _in_frame: ClassVar[tuple[str, ...]] = ("statistic", "pvalue", "statistic_name", "method", "n_resamples")

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    statistic_name: StatisticName
    method: Literal["permutation", "exact", "asymptotic", "cross", "sliced", "binned"]
    n_resamples: int
    null_hypothesis: str
    effect_size: float
    inhomogeneity: float | None
    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    group_name: str = field(default="", repr=False)
    null_distribution: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    def _statistic_rows(self) -> list[list[str]]:
        return [[f"statistic ({self.statistic_name})", number(self.statistic)]]

    def _labelings_row(self) -> list[list[str]]:
        """Return a summary row with number and kind of permutations, in a list; empty if there are none."""
        return []

    def _tables(self) -> list[TextTable]:
        rows = [*self._statistic_rows(), ["p-value", probability(self.pvalue)]]
        low, high = self.pvalue_interval
        if low < high:
            rows.append(["95 % interval of p" + self._what_interval(), interval_text(self.pvalue_interval)])
        rows += [["method", self.method], *self._labelings_row(), ["S/T (effect size)", proportion(self.effect_size)]]
        if self.inhomogeneity is not None:
            rows.append(["H (inhomogeneity)", proportion(self.inhomogeneity)])
        whose = f"sizes of {shorten_name(self.group_name)}" if self.group_name else "group sizes"
        rows.append([whose, write_sizes(self.labels, self.sizes)])
        return [text_table(rows, None, None, f"{self._kind()} test of equal distributions")]

    def _what_interval(self) -> str:
        return ""

    def _kind(self) -> str:
        return "MMD" if self.statistic_name.startswith("mmd2") else "Energy"

    def _method_sentences(self) -> list[str]:
        """Return the sentences of a result's summary that explain the test method."""
        return []

    def _sentences(self) -> list[str]:
        lines = [f"Null hypothesis: {self.null_hypothesis}.", *self._method_sentences()]
        return [*lines, *self.notes, metric_note(self.metric, self.standardization), *self._undecided()]

    def _undecided(self) -> list[str]:
        return undecided(self.pvalue, self.pvalue_interval)

    def _conclusion(self) -> str:
        if len(self.sizes) == sum(self.sizes):
            return "Nothing was tested: every row is a group of its own."
        several = f"{'some' if self.pvalue <= LEVEL else 'any'} of the {len(self.sizes)} distributions differ"
        claim = "that the two distributions differ" if len(self.sizes) == 2 else f"that {several}"
        return state_evidence(self.pvalue, claim)

    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame of one row, some fields as texts; H is NaN where there is none."""
        import pandas as pd

        decomposed = ("effect_size", "inhomogeneity", "within", "between", "total")
        row = {name: getattr(self, name) for name in (*self._in_frame, *decomposed)}
        low, high = self.pvalue_interval
        row["pvalue_interval"] = interval_text((low, high)) if low < high else "-"
        row["groups"], row["sizes"] = write_groups(self.labels), " + ".join(map(str, self.sizes))
        row["df"] = f"{len(self.sizes) - 1}, {sum(self.sizes) - len(self.sizes)}" if self.statistic_name == "f" else "-"
        row["metric"], row["standardized"] = metric_text(self.metric), self.standardization is not None
        row["null_hypothesis"] = self.null_hypothesis
        return pd.DataFrame([row]).astype({"inhomogeneity": float})

    def _main_columns(self) -> tuple[str, ...]:
        df = ("df",) * (self.statistic_name == "f")
        how = "n_resamples" if self.n_resamples else "method"
        fitted = ("extrapolated",) * bool(getattr(self, "extrapolated", False))
        return ("groups", "sizes", "statistic", *df, "effect_size", "pvalue", *fitted, how)

    def _headings(self) -> dict[str, str]:
        statistic = NAMES.get(self.statistic_name, self.statistic_name)
        return {"sizes": "n", "statistic": statistic, "effect_size": "S/T", "n_resamples": "permutations"}

    def _density(self) -> tuple[FloatArray, FloatArray] | None:
        """Return x and density of a curve that approximates the null distribution; None if there is none."""
        return None

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a histogram of the null distribution with the observed statistic, and return the axes."""
        from energystats.plotting.null_distributions import plot_null

        return plot_null(
            self.null_distribution,
            self.statistic,
            self.pvalue,
            ax,
            statistic_name=self.statistic_name,
            sizes=self.sizes,
            exact=self.method == "exact",
            density=self._density(),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PermutationTestResult(EnergyTestResult):
    """Hold the result of a permutation test of equal distributions; extends `EnergyTestResult` by the fields below.

    Attributes
    ----------
    smallest_pvalue : float
        Smallest p that the test can give: of all labelings the share of those that only exchange the names of groups,
        of N random ones 1/(N + 1), where N counts those that were not drawn after an early stop.
    n_strata : int
        Blocks within which labels were permuted; 0 for free permutations.
    n_plots : int
        Whole plots whose labels were permuted; 0 for free permutations.
    weighted : bool
        Whether rows had weights.
    stopped_early : bool
        Whether `stop_at` ended the permutations.
    extrapolated : bool
        Whether p comes from a generalised Pareto distribution fitted to the tail of the null distribution.
    """

    _in_frame: ClassVar[tuple[str, ...]] = (
        *EnergyTestResult._in_frame,
        "n_strata",
        "n_plots",
        "stopped_early",
        "extrapolated",
    )

    smallest_pvalue: float
    n_strata: int
    n_plots: int
    weighted: bool
    stopped_early: bool
    extrapolated: bool

    def _is_exhaustive(self) -> bool:
        """Return whether all distinct labelings were visited, so that p is exact."""
        low, high = self.pvalue_interval
        return low == high

    def _what_interval(self) -> str:
        return " (counted)" if self.extrapolated else ""

    def _undecided(self) -> list[str]:
        return undecided(
            self.pvalue,
            self.pvalue_interval,
            ties_alone=reached_by_ties_alone(self.statistic, self.null_distribution),
        )

    def _units(self) -> str:
        return f" of {self.n_plots} whole plots" if self.n_plots else ""

    def _labelings_row(self) -> list[list[str]]:
        how = "all distinct labelings" if self._is_exhaustive() else "random permutations"
        return [[how + self._units() + write_within_strata(self.n_strata), str(self.n_resamples)]]

    def _own_sentences(self) -> list[str]:
        """Return summary sentences for one kind of permutation test; none by default."""
        return []

    def _method_sentences(self) -> list[str]:
        lines = []
        if self.method == "exact":
            lines.append(exact_note(self.n_resamples))
        elif not (self.extrapolated or self._is_exhaustive()):
            lines.append(seed_note(self.pvalue, self.n_resamples, "random permutations"))
        lines += self._own_sentences()
        if self._is_exhaustive():
            lines += floor_note(self.n_resamples, self.smallest_pvalue)
        if self.weighted:
            lines.append("Rows are weighted; equality includes their weights.")
        if self.extrapolated:
            lines.append(
                "p is extrapolated: a generalised Pareto distribution fitted to the largest null values, which another "
                f"seed changes; at least {1 / (self.n_resamples + 1) ** 2:.2g}, beyond which no fit can be trusted, "
                "and what all labelings can give."
            )
        if self.stopped_early:
            lines.append("The permutations stopped early (Besag & Clifford); p is the share of those made.")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BinnedTestResult(PermutationTestResult):
    """Hold the result of a test that permutes bins of rows; extends `PermutationTestResult` by the fields below.

    Attributes
    ----------
    n_bins : int
        Bins of rows whose labels were permuted; 0 for single rows.
    n_fixed : int
        Rows that filled no bin and kept their labels.
    """

    n_bins: int = field(repr=False)
    n_fixed: int = field(repr=False)

    def _units(self) -> str:
        of_plots = PermutationTestResult._units(self)
        return f" of {self.n_bins} bins" if self.n_bins else of_plots

    def _own_sentences(self) -> list[str]:
        if not self.n_bins:
            return []
        few = (
            "1 row that filled no bin kept its label"
            if self.n_fixed == 1
            else (f"{self.n_fixed} rows that filled no bin kept their labels")
        )
        fixed = f"; {few}" if self.n_fixed else ""
        return [f"Labels of whole bins of rows were permuted, which keeps the level exact{fixed}."]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SlicedTestResult(BinnedTestResult):
    """Hold the result of a test with distances along random directions; extends `BinnedTestResult` by the fields below.

    Attributes
    ----------
    n_slices : int
        Random directions along which distances were taken.
    statistic_error : float
        Standard error over the directions of `statistic` as an estimate of the one of all distances; 0 for one column.
    """

    n_slices: int = field(repr=False)
    statistic_error: float = field(repr=False)

    def _statistic_rows(self) -> list[list[str]]:
        rows = EnergyTestResult._statistic_rows(self)
        error = f"its standard error over {self.n_slices} slices", number(self.statistic_error)
        return [*rows, [*error]] if self.n_slices > 1 else rows

    def _own_sentences(self) -> list[str]:
        bins = BinnedTestResult._own_sentences(self)
        if self.n_slices == 1:
            one = "One column has one direction: distances along it are the distances; nothing is estimated."
            return [one, *bins]
        several = (
            f"APPROXIMATE statistic: distances are estimated along {self.n_slices} random directions, and so are "
            "S, W and T. p compares estimates along the same directions, and its level is exact; another seed "
            "draws others."
        )
        return [several, *bins]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CombinedTestResult(PermutationTestResult):
    """Hold the result of a test under several semimetrics; extends `PermutationTestResult` by the field below.

    Attributes
    ----------
    components : tuple of PermutationTestResult
        The test under each semimetric. The other numbers are those of the one with the smallest p.
    """

    components: tuple[PermutationTestResult, ...] = field(repr=False)

    def _statistic_rows(self) -> list[list[str]]:
        return [[f"statistic ({self.statistic_name})", probability(self.statistic)]]

    def _undecided(self) -> list[str]:
        return undecided(self.pvalue, self.pvalue_interval)  # of the smallest p, small ones are extreme

    def _kind(self) -> str:
        return self.components[0]._kind()

    def _tables(self) -> list[TextTable]:
        cells = [[number(part.statistic), probability(part.pvalue)] for part in self.components]
        stubs = [metric_text(part.metric) for part in self.components]
        parts = text_table(cells, ["statistic", "p"], stubs, "Under each semimetric")
        return [*PermutationTestResult._tables(self), parts]

    def _sentences(self) -> list[str]:
        joined = (
            "p is that of the smallest p-value among the semimetrics; S/T, W, S, T and H are those under "
            f"{metric_text(self.metric)}, the clearest of them."
        )
        joined += " Columns were standardized." * (self.standardization is not None)
        null = f"Null hypothesis: {self.null_hypothesis}."
        return [null, *self._method_sentences(), joined, *self.notes, *self._undecided()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ApproximateTestResult(EnergyTestResult):
    """Hold the result of a test of equal distributions without permutations; extends `EnergyTestResult` by one field.

    Attributes
    ----------
    null_moments : tuple of float or None
        Mean, standard deviation and skewness of the distribution that stands for the null distribution; None for "f".
    """

    null_moments: tuple[float, float, float] | None

    def _method_sentences(self) -> list[str]:
        return [
            "p is an approximation: Pearson type III with the exact moments of the permutation distribution. It "
            "does not depend on a seed."
            if self.method == "asymptotic"
            else "p is an approximation: normal distribution of the cross statistic, for large samples. It belongs to "
            "one random halving of the samples; another seed gives another p."
        ]

    def _density(self) -> tuple[FloatArray, FloatArray] | None:
        return None if self.null_moments is None else pearson_density(self.null_moments, self.statistic)
