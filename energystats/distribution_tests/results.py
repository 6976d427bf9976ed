"""Tests of equal distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from energystats._core.moments import pearson_density
from energystats._typing import FloatArray
from energystats.display.numbers import interval_text, number, probability, proportion
from energystats.display.result import Result
from energystats.display.sentences import exact_note, metric_note, metric_text, seed_note, state_evidence, undecided
from energystats.display.tables import LEVEL, TextTable, shorten_name, text_table, write_sizes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics.base import Metric

__all__ = ["EnergyTestResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnergyTestResult(Result):
    """Test of equal distributions by permutation.

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
    null_hypothesis : str
        The question that the p-value answers.
    effect_size : float
        S/T, the share of the total dispersion between the groups; above 0 under equality too, about (k - 1)/n there.
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
        The statistic of the other labelings, without the observed one.
    null_moments : tuple of float or None
        Mean, standard deviation and skewness of the law that stands for the null distribution, if one does.
    components : tuple of EnergyTestResult
        The test under each semimetric, if there were several.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    n_slices : int
        Random directions along which distances were taken; 0 for the distances themselves.
    statistic_error : float or None
        Standard error over the directions of `statistic` as an estimate of the one of all distances; 0 for one column.
    n_bins, n_fixed : int
        Bins of rows whose labels were permuted, 0 for single rows; and rows that filled no bin and kept their labels.
    notes : tuple of str
        Whether the groups were found from data, or look like it: a local optimum of W; and what their names hide.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    statistic_name: Literal["between", "pairwise", "f", "mmd2", "mmd2 (unbiased)", "cross", "min p"]
    method: Literal["permutation", "exact", "asymptotic", "cross", "sliced", "binned"]
    n_resamples: int
    n_strata: int
    n_plots: int
    weighted: bool = False
    stopped_early: bool = False
    extrapolated: bool = False
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
    null_moments: tuple[float, float, float] | None = None
    components: tuple[EnergyTestResult, ...] = field(default=(), repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    n_slices: int = field(default=0, repr=False)
    statistic_error: float | None = field(default=None, repr=False)
    n_bins: int = field(default=0, repr=False)
    n_fixed: int = field(default=0, repr=False)

    def _tables(self) -> list[TextTable]:
        rows = [
            [f"statistic ({self.statistic_name})", (probability if self.components else number)(self.statistic)],
            ["p-value", probability(self.pvalue)],
        ]
        if self.statistic_error is not None and self.n_slices > 1:
            rows.insert(1, [f"its standard error over {self.n_slices} slices", number(self.statistic_error)])
        low, high = self.pvalue_interval
        if low < high:
            counted = " (counted)" if self.extrapolated else ""
            rows.append([f"95 % interval of p{counted}", interval_text(self.pvalue_interval)])
        rows.append(["method", self.method])
        rows += [[self._how(), str(self.n_resamples)]] if self.n_resamples else []
        rows.append(["S/T (effect size)", proportion(self.effect_size)])
        if self.inhomogeneity is not None:
            rows.append(["H (inhomogeneity)", proportion(self.inhomogeneity)])
        whose = f"sizes of {shorten_name(self.group_name)}" if self.group_name else "group sizes"
        rows.append([whose, write_sizes(self.labels, self.sizes)])
        tested = self.components[0] if self.components else self
        kind = "MMD" if tested.statistic_name.startswith("mmd2") else "Energy"
        tables = [text_table(rows, None, None, f"{kind} test of equal distributions")]
        if self.components:
            cells = [[number(part.statistic), probability(part.pvalue)] for part in self.components]
            stubs = [metric_text(part.metric) for part in self.components]
            tables.append(text_table(cells, ["statistic", "p"], stubs, "Under each semimetric"))
        return tables

    def _is_exhaustive(self) -> bool:
        """Whether all labelings were visited that there are."""
        low, high = self.pvalue_interval
        return self.method == "exact" or (self.method in ("sliced", "binned") and low == high)

    def _how(self) -> str:
        """What was counted."""
        how = "all distinct labelings" if self._is_exhaustive() else "random permutations"
        if self.n_bins:
            how += f" of {self.n_bins} bins"
        if self.n_plots:
            how += f" of {self.n_plots} whole plots"
        return how + (f" within {self.n_strata} strata" if self.n_strata else "")

    def _sentences(self) -> list[str]:
        lines = [f"Null hypothesis: {self.null_hypothesis}."]
        few = undecided(self.pvalue, self.pvalue_interval)
        if self.method == "exact":
            lines.append(exact_note(self.n_resamples))
        elif self.method in ("permutation", "sliced", "binned") and not (self.extrapolated or self._is_exhaustive()):
            lines.append(seed_note(self.pvalue, self.n_resamples, "random permutations"))
        if self.method == "asymptotic":
            lines.append(
                "p is an approximation: Pearson type III with the exact moments of the permutation distribution. It "
                "does not depend on a seed."
            )
        if self.method == "cross":
            lines.append(
                "p is an approximation: normal distribution of the cross statistic, for large samples. It belongs to "
                "one random halving of the samples; another seed gives another p."
            )
        if self.n_slices == 1:
            lines.append("One column has one direction: distances along it are the distances; nothing is estimated.")
        elif self.n_slices:
            lines.append(
                f"APPROXIMATE statistic: distances are estimated along {self.n_slices} random directions, and so are "
                "S, W and T. p compares estimates along the same directions, and its level is exact; another seed "
                "draws others."
            )
        if self.n_bins:
            fixed = f"; {self.n_fixed} rows that filled no bin kept their labels" if self.n_fixed else ""
            lines.append(f"Labels of whole bins of rows were permuted, which keeps the level exact{fixed}.")
        if self._is_exhaustive() and self.n_resamples < 20:
            lines.append(f"With {self.n_resamples} labelings no p below {1 / self.n_resamples:.3g} is possible.")
        if self.weighted:
            lines.append("Rows are weighted; equality includes their weights.")
        if self.extrapolated:
            lines.append(
                "p is extrapolated: a generalised Pareto distribution fitted to the largest null values, which another "
                "seed changes."
            )
        if self.stopped_early:
            lines.append("The permutations stopped early (Besag & Clifford); p is the share of those made.")
        if self.components:
            lines.append(
                "p is that of the smallest p-value among the semimetrics; S/T, W, S, T and H are those under "
                f"{metric_text(self.metric)}, the clearest of them."
                + " Columns were standardized."
                * (self.standardization is not None)
            )
            return [*lines, *self.notes, *few]
        if self.between < -1e-9 * abs(self.total):
            lines.append(
                "S is negative, so rho is not of negative type (see `negative_type`): p stands, but S/T is no share "
                "and S = 0 does not mean equality."
            )
        return [*lines, *self.notes, metric_note(self.metric, self.standardization), *few]

    def _conclusion(self) -> str:
        several = f"{'some' if self.pvalue <= LEVEL else 'any'} of the {len(self.sizes)} distributions differ"
        claim = "that the two distributions differ" if len(self.sizes) == 2 else f"that {several}"
        return state_evidence(self.pvalue, claim)

    def to_frame(self) -> pd.DataFrame:
        """One row; the columns are the field names, some as texts. H is NaN where there is none."""
        import pandas as pd

        names = ("statistic", "pvalue", "statistic_name", "method", "n_resamples", "n_strata", "n_plots")
        decomposed = ("effect_size", "inhomogeneity", "within", "between", "total")
        row = {name: getattr(self, name) for name in (*names, "stopped_early", "extrapolated", *decomposed)}
        low, high = self.pvalue_interval
        row["pvalue_interval"] = interval_text((low, high)) if low < high else "-"
        row["sizes"] = " + ".join(map(str, self.sizes))
        row["metric"], row["standardized"] = metric_text(self.metric), self.standardization is not None
        row["null_hypothesis"] = self.null_hypothesis
        return pd.DataFrame([row]).astype({"inhomogeneity": float})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Histogram of the null distribution with the observed statistic."""
        from energystats.plotting.null_distributions import plot_null

        return plot_null(
            self.null_distribution,
            self.statistic,
            self.pvalue,
            ax,
            statistic_name=self.statistic_name,
            sizes=self.sizes,
            exact=self.method == "exact",
            density=None if self.null_moments is None else pearson_density(self.null_moments, self.statistic),
        )
