"""Pairs of groups, tested and adjusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import (
    LEVEL,
    ROWS_SHOWN,
    Table,
    cut_all,
    metric_note,
    numbers,
    probability,
    proportion,
    rounded,
    text_table,
)

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
    group_name : str
        Name of the Series that the labels came from; empty without one.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        Whether the groups were found from data, or look like it: a local optimum of W.
    """

    rows: tuple[PairwiseRow, ...] = field(repr=False)
    pvalues_adjusted: FloatArray = field(repr=False)
    spread_adjusted: FloatArray = field(repr=False)
    correction: str
    method: str
    n_resamples: int
    group_name: str = field(default="", repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row a pair."""
        import pandas as pd

        table = pd.DataFrame([asdict(row) for row in self.rows])
        table["pvalue_adjusted"] = self.pvalues_adjusted
        table["pvalue_spread_adjusted"] = self.spread_adjusted
        names = [name for name in table.columns if "pvalue" not in name]
        return table[[*names, "pvalue", "pvalue_adjusted", "pvalue_spread", "pvalue_spread_adjusted"]]

    def _tables(self) -> list[Table]:
        heads = ["n", "E", "S/T", "p", "adjusted", "p spread", "adjusted"]
        shown = self._shown()
        rows = [self.rows[i] for i in shown]
        columns = [
            [f"{row.n1} + {row.n2}" for row in rows],
            numbers([row.energy_distance for row in rows]),
            [proportion(row.effect_size) for row in rows],
            [probability(row.pvalue) for row in rows],
            [probability(self.pvalues_adjusted[i]) for i in shown],
            [probability(row.pvalue_spread) for row in rows],
            [probability(self.spread_adjusted[i]) for i in shown],
        ]
        names = list(dict.fromkeys(name for row in self.rows for name in (row.group1, row.group2)))
        written = dict(zip(names, cut_all(names, 16), strict=True))
        stubs = [f"{written[row.group1]} vs {written[row.group2]}" for row in rows]
        part = "" if len(rows) == len(self.rows) else f", the {len(rows)} with the smallest p of {len(self.rows)}"
        title = f"Energy tests of pairs of groups{part}; correction: {self.correction}"
        return [text_table(list(zip(*columns, strict=True)), heads, stubs, title, self.group_name)]

    def _shown(self) -> list[int]:
        """The pairs of the summary, in their order: all, or of very many those with the smallest p."""
        if len(self.rows) <= ROWS_SHOWN:
            return list(range(len(self.rows)))
        order = sorted(range(len(self.rows)), key=lambda i: (self.rows[i].pvalue, -self.rows[i].effect_size))
        return sorted(order[: ROWS_SHOWN // 2])

    def _notes(self) -> list[str]:
        all_of_them = {"auto": ", or over all labelings of a pair where they are no more", "permutation": ""}
        error = rounded((0.05 * 0.95 / self.n_resamples) ** 0.5)
        how = (
            f"p-values by {self.n_resamples} random relabelings of each pair{all_of_them.get(self.method, '')}: "
            f"another seed moves a p of .05 by about ±{error} (Monte Carlo standard error)."
        )
        if self.method == "exact":
            how = (
                "p-values over all distinct labelings of each pair: they do not depend on a seed; those of spread are "
                f"by {self.n_resamples} random relabelings."
            )
        return [
            "Null hypothesis of p: the two groups come from one distribution. Of p spread: their points are spread "
            "equally around their own centres; where only p is small, the groups differ in place or shape.",
            "p spread is approximate: in small groups, and in larger ones of a skew law, it is too often small.",
            how,
            *self._out_of_reach(),
            *self.notes,
            metric_note(self.metric, self.standardization),
        ]

    def _out_of_reach(self) -> list[str]:
        """Whether no pair can be significant, because of few relabelings and many pairs."""
        lowest = (1 if self.correction == "none" else len(self.rows)) / (self.n_resamples + 1)
        if self.method == "exact" or self.correction.startswith("fdr") or lowest <= LEVEL:
            return []
        return [
            f"With {len(self.rows)} pairs and {self.n_resamples} random relabelings no adjusted p below "
            f"{min(lowest, 1.0):.2g} is possible: use n_resamples={40 * len(self.rows) - 1} or more."
        ]

    def _conclusion(self) -> str:
        differ = int((self.pvalues_adjusted <= LEVEL).sum())
        wide = int((self.spread_adjusted <= LEVEL).sum())
        adjusted = "unadjusted" if self.correction == "none" else "adjusted"
        pairs = f"{len(self.rows)} pair{'s' * (len(self.rows) > 1)}"
        evidence = f"evidence of a difference in {differ} of {pairs}, of unequal spread in {wide}"
        return f"At level {LEVEL:g}, {adjusted}: {evidence}."

    def to_frame(self) -> pd.DataFrame:
        """The same as `table`."""
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """S/T of every pair, labelled with its adjusted p-value."""
        from energystats import plotting

        return plotting.plot_pairs(self, ax)
