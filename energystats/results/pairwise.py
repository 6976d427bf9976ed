"""Pairs of groups, tested and adjusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import metric_note, number, probability, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["PairwiseRow", "PairwiseTestsResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseRow:
    """Two groups compared.

    Attributes
    ----------
    group1, group2 : object
        Names of the groups.
    n1, n2 : int
        Their sizes.
    energy_distance : float
        E between them.
    effect_size : float
        S/T of the two groups together.
    pvalue : float
        Of equal distributions.
    pvalue_spread : float
        Of equal spread around the groups' centres.
    """

    group1: Any
    group2: Any
    n1: int
    n2: int
    energy_distance: float
    effect_size: float
    pvalue: float
    pvalue_spread: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairwiseTestsResult(Result):
    """Pairs of groups, tested and adjusted.

    Attributes
    ----------
    rows : tuple of PairwiseRow
        One for each pair, with raw p-values.
    pvalues_adjusted, spread_adjusted : ndarray of shape (n_pairs,)
        P-values of equal distributions and of equal spread, adjusted over the pairs.
    correction : str
        How they were adjusted.
    method : str
        How labelings were chosen: "auto" is exact where there are few.
    n_resamples : int
        Random relabelings of each pair.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    """

    rows: tuple[PairwiseRow, ...] = field(repr=False)
    pvalues_adjusted: FloatArray = field(repr=False)
    spread_adjusted: FloatArray = field(repr=False)
    correction: str
    method: str
    n_resamples: int
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row a pair."""
        import pandas as pd

        table = pd.DataFrame([asdict(row) for row in self.rows])
        table["pvalue_adjusted"] = self.pvalues_adjusted
        table["pvalue_spread_adjusted"] = self.spread_adjusted
        names = [name for name in table.columns if "pvalue" not in name]
        return table[[*names, "pvalue", "pvalue_adjusted", "pvalue_spread", "pvalue_spread_adjusted"]]

    def _tables(self) -> list[Any]:
        heads = ["n", "E", "S/T", "p", "p adjusted", "p spread", "adjusted"]
        cells = [
            [
                f"{row.n1} + {row.n2}",
                number(row.energy_distance),
                number(row.effect_size),
                probability(row.pvalue),
                probability(adjusted),
                probability(row.pvalue_spread),
                probability(spread),
            ]
            for row, adjusted, spread in zip(self.rows, self.pvalues_adjusted, self.spread_adjusted, strict=True)
        ]
        stubs = [f"{row.group1} vs {row.group2}" for row in self.rows]
        return [text_table(cells, heads, stubs, f"Energy tests of pairs of groups ({self.correction})")]

    def _notes(self) -> list[str]:
        return [
            "Null hypothesis of p: the two groups come from one distribution. Of p spread: their points are spread "
            "equally around their own centres (approximate); where only p is small, the groups differ in place or "
            "shape.",
            metric_note(self.metric, self.standardization),
        ]

    def to_frame(self) -> pd.DataFrame:
        """The same as `table`."""
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """S/T of every pair, labelled with its adjusted p-value."""
        from energystats import plotting

        return plotting.plot_pairs(self, ax)
