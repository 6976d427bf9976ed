"""What the public functions return: frozen objects with plain attributes, a summary, a table and a plot."""

from __future__ import annotations

import abc
import html
import textwrap
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.tables import decomposition_table, metric_note, number, probability, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = [
    "ClusterTestResult",
    "Contrast",
    "Dispersion",
    "EnergyTestResult",
    "PairwiseRow",
    "PairwiseTestsResult",
    "Partition",
    "Result",
]


WIDTH = 96  # columns of a summary's notes


class Result(abc.ABC):
    """Contract of every result: immutable, one-line repr, text and HTML tables, a frame and a plot."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                frozen = value.copy()  # the array given may be the user's own, or a view of a larger one
                frozen.flags.writeable = False
                object.__setattr__(self, entry.name, frozen)

    def __repr__(self) -> str:
        plain = (int, float, str, bool)
        shown = (
            f"{entry.name}={getattr(self, entry.name)!r}"
            for entry in fields(self)  # type: ignore[arg-type]
            if entry.repr and (entry.name == "metric" or isinstance(getattr(self, entry.name), plain))
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that a copy is as read-only as the original
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        return _rebuilt, (type(self), values)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        tables = self._tables()
        for table in tables:
            table.title = html.escape(table.title)
            for row in table:
                for cell in row:
                    cell.data = html.escape(str(cell.data))
        notes = (f"<p>{html.escape(note)}</p>" for note in self._notes())
        return "".join([*(table.as_html() for table in tables), *notes])

    def summary(self) -> str:
        """Text table, as a paper would print it, and what has to be known to read it."""
        notes = (textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in self._notes())
        return "\n".join([*(table.as_text() for table in self._tables()), *notes])

    @abc.abstractmethod
    def _tables(self) -> list[Any]:
        """Tables of the summary, as statsmodels' SimpleTable."""

    def _notes(self) -> list[str]:
        """Sentences below the tables."""
        return []

    @abc.abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Table of the numbers, as a pandas DataFrame."""

    @abc.abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result on `ax` (a new figure when None) and return the axes."""


def _rebuilt(kind: type[Result], values: dict[str, Any]) -> Result:
    return kind(**values)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dispersion(Result):
    """Within, between and total energy dispersion of labelled points: W + S = T [G 4, 5, 29].

    Attributes
    ----------
    within, between, total : float
        W, S and T, in the unit of rho.
    sizes : tuple of int
        Points per group.
    labels : tuple
        Names of the groups, in the order of `sizes`, `g` and `within_per_group`.
    g : ndarray of shape (k, k)
        Mean of rho between (and within) the groups [G 3].
    within_per_group : ndarray of shape (k,)
        The summands of W.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    """

    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    g: FloatArray = field(repr=False)
    within_per_group: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    def _tables(self) -> list[Any]:
        rows = [[str(n), number(w)] for n, w in zip(self.sizes, self.within_per_group, strict=True)]
        return [
            text_table(rows, ["size", "W"], list(map(str, self.labels)), "Energy dispersion"),
            decomposition_table(self.within, self.between, self.total),
        ]

    def _notes(self) -> list[str]:
        return [metric_note(self.metric, self.standardization)]

    def to_frame(self) -> pd.DataFrame:
        """One row per group: label, size and W of the group."""
        import pandas as pd

        return pd.DataFrame({"label": list(self.labels), "size": self.sizes, "within": self.within_per_group.tolist()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Heat map of g, the mean of rho between the groups."""
        from energystats import plotting

        return plotting.plot_group_means(self.g, self.labels, ax)


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Partition(Result):
    """Clusters found by minimising W, which is maximising S.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each row, 0..k-1; clusters are numbered by their first row.
    k : int
        Number of clusters.
    sizes : tuple of int
        Points per cluster.
    within, between, total : float
        W, S and T, in the unit of rho.
    within_per_cluster : ndarray of shape (k,)
        The summands of W.
    bound : float
        Eigenvalue certificate: no partition into k clusters has a larger S [theory 3].
    algorithm : {"exact-1d", "hartigan", "lloyd"}
        What was run.
    n_init : int
        Starts made.
    n_iter : int
        Passes over the data of the best start.
    converged : bool
        Whether the best start ended at a local optimum.
    breaks : ndarray of shape (k - 1,) or None
        Midpoints between neighbouring clusters, for "exact-1d".
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    points : ndarray of shape (n, d) or None
        The (standardized) data that were clustered, for plots; None for a precomputed matrix.
    columns : tuple of str or None
        Names of the columns of a data frame.
    coordinates : ndarray of shape (n, 2) or None
        First two principal coordinates, for plots of a precomputed matrix.
    """

    labels: IntArray = field(repr=False)
    k: int
    sizes: tuple[int, ...]
    within: float
    between: float
    total: float
    within_per_cluster: FloatArray = field(repr=False)
    bound: float
    algorithm: Literal["exact-1d", "hartigan", "lloyd"]
    n_init: int
    n_iter: int
    converged: bool
    breaks: FloatArray | None = field(default=None, repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    points: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = field(default=None, repr=False)
    coordinates: FloatArray | None = field(default=None, repr=False)

    @property
    def tightness(self) -> float:
        """S/bound: 1 proves the global optimum; NaN where the bound is 0."""
        return float(self.between / self.bound) if self.bound != 0 else float("nan")

    def _tables(self) -> list[Any]:
        rows = [[str(n), number(w)] for n, w in zip(self.sizes, self.within_per_cluster, strict=True)]
        title = f"Energy clustering into {self.k} cluster{'s' * (self.k > 1)}"
        tightness = number(self.tightness) if self.bound != 0 else "-"
        bound = [["bound on S", number(self.bound)], ["S/bound", tightness]]
        return [
            text_table(rows, ["size", "W"], [f"cluster {j}" for j in range(self.k)], title),
            decomposition_table(self.within, self.between, self.total, bound),
        ]

    def _notes(self) -> list[str]:
        if self.algorithm == "exact-1d":
            how = "Algorithm: exact in one dimension, the global optimum."
        else:
            starts = "1 start" if self.n_init == 1 else f"best of {self.n_init} starts"
            how = f"Algorithm: {self.algorithm}, {starts}, {self.n_iter} pass{'es' * (self.n_iter > 1)}"
            how += ", a local optimum." if self.converged else ", stopped before it converged."
        proof = "S/bound is at most 1; 1 would prove that no partition into as many clusters has a larger S."
        return [how, proof, metric_note(self.metric, self.standardization)]

    def to_frame(self) -> pd.DataFrame:
        """One row per cluster: cluster, size and W of the cluster."""
        import pandas as pd

        return pd.DataFrame({"cluster": range(self.k), "size": self.sizes, "within": self.within_per_cluster.tolist()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Points in the plane of their first two (principal) coordinates, coloured by cluster."""
        from energystats import plotting

        return plotting.plot_partition(self, ax)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One cluster against the rest.

    Attributes
    ----------
    name : str
        Which clusters are set against each other.
    statistic : float
        Mean excess-split index E over the splits (S for labels known in advance).
    pvalue, pvalue_adjusted : float
        Raw, and adjusted over the contrasts by Holm's method.
    """

    name: str
    statistic: float
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterTestResult(Result):
    """Test for cluster structure.

    Attributes
    ----------
    statistic : float
        Excess-split index E (mean over splits and contrasts); S for labels known in advance.
    pvalue : float
        P-value of `null_hypothesis`.
    method : {"split", "unimodal-1d", "labels"}
        What was done.
    null_hypothesis : str
        The question that was answered, and the only one.
    k : int
        Number of clusters that were looked for.
    n_resamples : int
        Draws behind each p-value.
    n_splits : int
        Random splits, each used in two halves; 0 where nothing was split.
    n_clustered : int
        Points of each split that found the direction; the others were scored. 0 where nothing was split.
    conservative : bool
        Whether every p-value was multiplied by the flat factor 1.6.
    jittered : bool
        Whether ties were spread over one grid step.
    pvalues : ndarray of shape (2 * n_splits, n_contrasts)
        P-values that were combined; (1, 1) where nothing was split.
    scores : ndarray
        Sorted values whose unimodality was tested, of the fold with the median p-value; empty for known labels.
    null_distribution : ndarray
        S of the other labelings; empty unless the labels were known.
    rows : tuple of Contrast
        The one-versus-rest contrasts behind `contrasts`.
    remarks : tuple of str
        What a reader has to assume or know.
    """

    statistic: float
    pvalue: float
    method: Literal["split", "unimodal-1d", "labels"]
    null_hypothesis: str
    k: int
    n_resamples: int
    n_splits: int
    n_clustered: int
    conservative: bool
    jittered: bool
    pvalues: FloatArray = field(repr=False)
    scores: FloatArray = field(repr=False)
    null_distribution: FloatArray = field(repr=False)
    rows: tuple[Contrast, ...] = field(repr=False)
    remarks: tuple[str, ...] = field(repr=False)

    @property
    def contrasts(self) -> pd.DataFrame:
        """One-versus-rest contrasts: contrast, statistic, pvalue, pvalue_adjusted (Holm)."""
        import pandas as pd

        columns = ["contrast", "statistic", "pvalue", "pvalue_adjusted"]
        return pd.DataFrame([(r.name, r.statistic, r.pvalue, r.pvalue_adjusted) for r in self.rows], columns=columns)

    def _tables(self) -> list[Any]:
        rows = [
            ["statistic (S)" if self.method == "labels" else "statistic (E)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["method", self.method],
            ["resamples", str(self.n_resamples)],
        ]
        if self.n_splits:
            rows.append(["splits", f"{self.n_splits}, two folds each"])
            rows.append(["points clustered per fold", str(self.n_clustered)])
        titles = {
            "split": "Test of unimodality along linear projections",
            "unimodal-1d": "Test of unimodality",
            "labels": "Permutation test of labels known in advance",
        }
        tables = [text_table(rows, None, None, titles[self.method])]
        if len(self.rows) > 1:
            cells = [[number(r.statistic), probability(r.pvalue), probability(r.pvalue_adjusted)] for r in self.rows]
            heads = ["statistic", "p", "p (Holm)"]
            tables.append(text_table(cells, heads, [r.name for r in self.rows], "One versus rest"))
        return tables

    def _notes(self) -> list[str]:
        silence = ["A large p is no evidence that there is only one cluster."] if self.pvalue > 0.05 else []
        return [f"Null hypothesis: {self.null_hypothesis}.", *silence, *self.remarks]

    def to_frame(self) -> pd.DataFrame:
        """One row; the columns are the field names."""
        import pandas as pd

        names = ("statistic", "pvalue", "method", "null_hypothesis", "k", "n_resamples", "n_splits", "conservative")
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Histogram of the scores of one held-out part, with the nearest unimodal density."""
        from energystats import plotting

        return plotting.plot_cluster_test(self, ax)
