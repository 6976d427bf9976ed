"""Results about the number of clusters, and how steady they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from energystats._typing import FloatArray
from energystats.cluster_tests.tree_result import ClusterTreeResult
from energystats.clustering.partition import Partition
from energystats.display.numbers import numbers, probability, proportion
from energystats.display.result import VerdictFirst
from energystats.display.sentences import Caution, metric_note, write_counts
from energystats.display.tables import TextTable, text_table
from energystats.inputs.options import check_option

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["NOT_SIGNIFICANCE", "RECOVERED", "ClusterStabilityResult", "SelectKResult", "SelectKRow"]


CRITERIA = ("gap", "eigengap", "significance", "within")  # that can be drawn
RECOVERED = 0.75  # Jaccard similarity at least
ROUNDING = 1e-9  # of T
NOT_SIGNIFICANCE = Caution(
    "Stability is not significance: one long cloud is cut at the same place again and again.",
    "`cluster_test` asks whether there is more than one cluster, `cluster_tree` how many.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectKRow:
    """Hold the criteria computed for one number of clusters k, such as W and the gap; NaN where not computed."""

    k: int  # number of clusters
    within: float  # W of the clusters of smallest W, those of `partitions`
    share: float  # their S/T
    log_within: float  # log W; minus infinity where all points coincide with others of their cluster
    # gap, gap_error: gap statistic and its standard error
    gap: float
    gap_error: float
    eigengap: float  # the k-th eigenvalue of the random walk less the next
    pvalue: float  # p of a further split: smallest adjusted p of the leaves of the tree while there were k of them
    stability: float  # mean adjusted Rand index over resamples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SelectKResult(VerdictFirst):
    """Hold the chosen number of clusters, what was computed for every k, and the partitions.

    Attributes
    ----------
    k : int
        The number chosen.
    criterion : {"gap", "eigengap", "significance"}
        By what.
    k_max : int
        The largest number looked at.
    rows : tuple of SelectKRow
        One for each k = 1, ..., k_max, behind `table`.
    partitions : tuple of Partition
        The partitions found for k = 1, ..., k_max.
    choices : mapping of str to int
        The number by every criterion that was computed; `k` is that of `criterion`.
    tree : ClusterTreeResult or None
        The tree of significant splits, where it was grown. By "significance" `partition` has its leaves, which need not
        be the clusters of smallest W; those are in `partitions`.
    null : str or None
        Null distribution of the reference sets of the gap statistic: "unimodal", "box", "independent" or the name of
        the function that drew them; None where there are no gaps.
    n_resamples : int or None
        Reference sets; None where there are no gaps.
    level : float or None
        Family-wise level of the tree; None where there is no tree.
    notes : tuple of str
        Why this k, in the first sentence, and what a reader has to know.
    """

    k: int
    criterion: Literal["gap", "eigengap", "significance"]
    k_max: int
    rows: tuple[SelectKRow, ...] = field(repr=False)
    partitions: tuple[Partition, ...] = field(repr=False)
    choices: Mapping[str, int] = field(repr=False)
    tree: ClusterTreeResult | None = field(default=None, repr=False)
    null: str | None = None
    n_resamples: int | None = None
    level: float | None = None

    @property
    def partition(self) -> Partition:
        """Return the partition into the chosen number of clusters; by "significance" the leaves of the tree."""
        if self.criterion == "significance" and self.tree is not None:
            return self.tree.partition
        return self.partitions[self.k - 1]

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame of criteria with one row for each number of clusters k.

        All rows are of `partitions`, as those of the summary; W and S/T of the leaves of a tree are in `partition`.
        """
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    def column(self, name: str) -> FloatArray:
        """Return one column of the table of criteria, given by its name, for k = 1, ..., k_max; (k_max,)."""
        return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)

    def _tables(self) -> list[TextTable]:
        wanted = {
            "within": ("W", numbers),
            "share": ("S/T", _each(proportion)),
            "gap": ("gap", _three_digits),
            "gap_error": ("error", _three_digits),
            "eigengap": ("eigengap", _three_digits),
            "pvalue": ("p of a further split", _each(probability)),
            "stability": ("stability", _each(proportion)),
        }
        shown = {name: how for name, how in wanted.items() if not np.isnan(self.column(name)).all()}
        values = {name: self.column(name) for name in shown}
        stubs = [f"k = {row.k}{' *' if row.k == self.k and not self._shows_leaves else ''}" for row in self.rows]
        if self._shows_leaves:
            own = {"within": self.partition.within, "share": self.partition.between / self.partition.total}
            values = {name: np.insert(each, self.k, own.get(name, np.nan)) for name, each in values.items()}
            stubs.insert(self.k, "its leaves *")
        cells = list(zip(*(how(values[name]) for name, (_, how) in shown.items()), strict=True))
        heads = [head for head, _ in shown.values()]
        table = text_table(cells, heads, stubs, f"Number of clusters: {self.k}, by {self.criterion}")
        if len(self.choices) < 2:
            return [table]
        meaning = {"eigengap": ", never 1", "significance": ", leaves of the tree"}
        by = [
            [f"{name}{meaning.get(name, '')}{' *' if name == self.criterion else ''}", str(k)]
            for name, k in self.choices.items()
        ]
        return [table, text_table(by, None, None, "Number by each criterion")]

    def _rests_on(self) -> list[str]:
        if self.tree is not None and self.criterion == "significance":
            return [*self.notes[:1], *(line for line in self.tree._rests_on() if not line.startswith("Nodes tested"))]
        sizes = write_counts(self.partition.sizes)
        points = "points" if sum(self.partition.sizes) > 1 else "point"
        return [*self.notes[:1], f"Clusters (`.partition`): {sizes} {points}.", *self._seed()]

    def _explanations(self) -> list[str]:
        return [*self._below(), metric_note(self.partition.metric, self.partition.standardization)]

    def _below(self) -> list[str]:
        """Return a sentence on the row of the chosen clusters if their W is not the smallest, in a list; else empty."""
        if not self._shows_leaves:
            return []
        return [
            "The chosen clusters (*, `.partition`) are the leaves of the tree. Rows with a k have the clusters of "
            "smallest W (`.partitions`), which are others."
        ]

    @property
    def _shows_leaves(self) -> bool:
        """Return whether the chosen clusters are leaves of the tree and not those of smallest W."""
        own, searched = self.partition, self.partitions[self.k - 1]
        return own.within - searched.within > ROUNDING * abs(own.total)

    def _seed(self) -> list[str]:
        """Return a sentence on which numbers depend on the random seed, in a list; else empty."""
        if self.k_max == 1:
            return []
        if self.criterion == "eigengap":
            return ["Eigenvalue gaps do not depend on a seed; W is of the best of several random starts."]
        if self.criterion == "gap" and self.n_resamples:
            part = (self.n_resamples + 1) ** -0.5  # the error is that of one reference set
            return [f"Another seed draws other reference sets and moves each gap by about {part:.2g} of its error."]
        return []

    def _conclusion(self) -> str:
        if self.tree is not None and self.criterion == "significance":
            return self.tree._conclusion()
        by = {"gap": "the gap statistic", "eigengap": "the eigenvalue gap"}.get(self.criterion, self.criterion)
        if self.k_max == 1:
            return "There was no other number to choose."
        return f"{by[0].upper()}{by[1:]} points to k = {self.k}; that is an estimate, not evidence of clusters."

    def _frame(self) -> pd.DataFrame:
        """Return the table of criteria as a data frame, one row for each number of clusters."""
        return self.table

    def _main_columns(self) -> tuple[str, ...]:
        own = {"gap": ("gap", "gap_error"), "eigengap": ("eigengap",)}
        asked = [name for criterion in self.choices for name in own.get(criterion, ())]
        found = [name for name in ("pvalue", "stability") if not np.isnan(self.column(name)).all()]
        return ("k", "within", "share", *asked, *found)

    def plot(self, ax: Axes | None = None, *, criterion: str | None = None) -> Axes:
        """Draw a criterion for the number of clusters against k, by default the one that chose k.

        `criterion` is "gap" (with bars of one standard error), "eigengap", "significance" or "within".
        """
        from energystats.plotting.selection import plot_select_k

        criterion = self.criterion if criterion is None else criterion
        check_option(criterion, "criterion", CRITERIA)
        values = self.column("pvalue" if criterion == "significance" else criterion)
        if (np.isnan(values).all() and self.k_max > 1) or (criterion == "significance" and self.tree is None):
            raise ValueError(
                f'`criterion` must be one that was computed, got {criterion!r}; compare="all" computes more.'
            )
        return plot_select_k(
            values,
            ax,
            criterion=criterion,
            chosen=self.k,
            chosen_by=self.criterion,
            n=sum(self.partition.sizes),
            error=self.column("gap_error"),
            level=self.level or 1.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterStabilityResult(VerdictFirst):
    """Hold how well clusters come back when the data are resampled: Jaccard and Rand indices, and shares of points.

    Attributes
    ----------
    k : int
        Number of clusters.
    jaccard : ndarray of shape (k,)
        Mean Jaccard similarity of each cluster to the most similar one of a resample.
    dissolved, recovered : ndarray of shape (k,)
        Shares of the resamples in which it is at most .5, or at least .75.
    adjusted_rand : float
        Mean adjusted Rand index of the whole partition; points in no cluster count as one more class.
    scheme : {"bootstrap", "subsample"}
        How the data were resampled.
    n_resamples : int
        How often.
    similarities : ndarray of shape (n_resamples, k)
        All Jaccard similarities; NaN where no point of the cluster was drawn.
    rand_indices : ndarray of shape (n_resamples,)
        All adjusted Rand indices.
    stays : ndarray of shape (n,)
        Share of the resamples with the point in which it lies in the most similar cluster of its own; NaN for points
        in no cluster, and those never drawn.
    partition : Partition
        The clusters of all points.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    k: int
    jaccard: FloatArray = field(repr=False)
    dissolved: FloatArray = field(repr=False)
    recovered: FloatArray = field(repr=False)
    adjusted_rand: float
    scheme: Literal["bootstrap", "subsample"]
    n_resamples: int
    similarities: FloatArray = field(repr=False)
    rand_indices: FloatArray = field(repr=False)
    stays: FloatArray = field(repr=False)
    partition: Partition = field(repr=False)

    def _tables(self) -> list[TextTable]:
        columns = (self.jaccard, self.dissolved, self.recovered)
        cells = [
            [str(size), *map(proportion, values)]
            for size, *values in zip(self.partition.sizes, *(c.tolist() for c in columns), strict=True)
        ]
        heads = ["size", "mean Jaccard", "dissolved", "recovered"]
        stubs = [f"cluster {j}" for j in range(self.k)]
        return [
            text_table(cells, heads, stubs, f"Stability of {self.k} cluster{'s' * (self.k > 1)} under {self.scheme}")
        ]

    def _rests_on(self) -> list[str]:
        drawn = "n points with replacement" if self.scheme == "bootstrap" else "half of the points"
        points = "points" if self.stays.size > 1 else "point"
        rest = ", with one class of points in no cluster" if sum(self.partition.sizes) < self.stays.size else ""
        return [
            f"{self.n_resamples} resamples ({self.scheme}: {drawn}); another seed draws others.",
            f"Mean adjusted Rand index of the whole partition{rest}: {proportion(self.adjusted_rand)}.",
            f"Clusters of all points (`.partition`): {write_counts(self.partition.sizes)} {points}.",
        ]

    def _explanations(self) -> list[str]:
        meaning = (
            "Jaccard similarity: |A and B| / |A or B| of a cluster and the most similar one of a resample. Dissolved: "
            "at most .5, recovered: at least .75, as shares of the resamples."
        )
        return [NOT_SIGNIFICANCE, meaning, metric_note(self.partition.metric, self.partition.standardization)]

    def _conclusion(self) -> str:
        sizes = np.array(self.partition.sizes)
        several = sizes > 1
        if self.k == 1 and sizes[0] == self.stays.size:
            return "There is one cluster, of all points: it comes back whatever the data, and nothing was to be seen."
        coincide = np.abs(self.partition.within_per_cluster) <= ROUNDING * abs(self.partition.total)
        if not several.any() or coincide.all():
            what = "points that coincide" if several.any() else "one point"
            return f"Every cluster is {what}: these come back whatever the data, and nothing was to be seen."
        back, count = int((self.jaccard[several] >= RECOVERED).sum()), int(several.sum())
        what, beside, single = "cluster" if count == 1 else "clusters", "", self.k - count
        if single:
            what += " of several points"
            alone = int((self.jaccard[~several] >= RECOVERED).sum())
            beside = f"; so did {alone} of {single} of one point, as any point does that lies apart"
        came = f"{back} of {count} {what} came back in most resamples (mean Jaccard .75 or more)"
        return f"{came}{beside}; that is no test."

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per cluster: size and stability under resampling."""
        import pandas as pd

        return pd.DataFrame(
            {
                "cluster": range(self.k),
                "size": self.partition.sizes,
                "jaccard": self.jaccard,
                "dissolved": self.dissolved,
                "recovered": self.recovered,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw box plots of each cluster's Jaccard similarities over the resamples."""
        from energystats.plotting.selection import plot_stability

        sizes, scheme = self.partition.sizes, self.scheme
        values = self.similarities, self.jaccard
        return plot_stability(*values, ax, sizes=sizes, scheme=scheme, adjusted_rand=self.adjusted_rand)


def _each(write: Callable[[float], str]) -> Callable[[FloatArray], list[str]]:
    """Return a function that formats each number of a column by a function of one number."""
    return lambda column: list(map(write, column.tolist()))


def _three_digits(column: FloatArray) -> list[str]:
    """Format the numbers of a column as text, the largest with three significant digits."""
    return numbers(column, 3)
