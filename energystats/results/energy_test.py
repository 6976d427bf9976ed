"""Tests of equal distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import metric_note, number, probability, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["EnergyTestResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnergyTestResult(Result):
    """Test of equal distributions by relabeling.

    Attributes
    ----------
    statistic : float
        The observed value of the statistic named in `statistic_name`.
    pvalue : float
        Share of labelings with a statistic at least as large, ties and the observed labeling included.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many resamples; (p, p) when exact.
    statistic_name : {"between", "pairwise", "f", "mmd2", "mmd2 (unbiased)"}
        Which statistic.
    method : {"permutation", "exact"}
        What was done, not what was asked for.
    n_resamples : int
        Random relabelings; all distinct labelings when exact.
    n_strata : int
        Blocks within which labels were permuted; 0 for free permutations.
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
    null_distribution : ndarray of shape (n_resamples,) or (n_resamples - 1,)
        The statistic of the other labelings, without the observed one.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    """

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    statistic_name: Literal["between", "pairwise", "f", "mmd2", "mmd2 (unbiased)"]
    method: Literal["permutation", "exact"]
    n_resamples: int
    n_strata: int
    null_hypothesis: str
    effect_size: float
    inhomogeneity: float | None
    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    null_distribution: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    def _tables(self) -> list[Any]:
        how = "all distinct labelings" if self.method == "exact" else "random relabelings"
        rows = [
            [f"statistic ({self.statistic_name})", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
        ]
        if self.method == "permutation":
            rows.append(["95 % interval of p", f"{self.pvalue_interval[0]:.3g} to {self.pvalue_interval[1]:.3g}"])
        if self.n_strata:
            how += f" within {self.n_strata} strata"
        rows += [[how, str(self.n_resamples)], ["S/T (effect size)", number(self.effect_size)]]
        if self.inhomogeneity is not None:
            rows.append(["H (inhomogeneity)", number(self.inhomogeneity)])
        groups = [f"{name}: {size}" for name, size in zip(self.labels, self.sizes, strict=True)]
        rest = [f"... ({len(groups)} groups)"] if len(groups) > 8 else []
        rows.append(["group sizes", ", ".join(groups[:8] + rest)])
        kind = "MMD" if self.statistic_name.startswith("mmd2") else "Energy"
        return [text_table(rows, None, None, f"{kind} test of equal distributions")]

    def _notes(self) -> list[str]:
        return [f"Null hypothesis: {self.null_hypothesis}.", metric_note(self.metric, self.standardization)]

    def to_frame(self) -> pd.DataFrame:
        """One row; the columns are the field names."""
        import pandas as pd

        names = ("statistic", "pvalue", "statistic_name", "method", "n_resamples", "n_strata")
        row = {
            name: getattr(self, name) for name in (*names, "effect_size", "inhomogeneity", "within", "between", "total")
        }
        return pd.DataFrame([row])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Histogram of the null distribution with the observed statistic."""
        from energystats import plotting

        return plotting.plot_null(self, ax)
