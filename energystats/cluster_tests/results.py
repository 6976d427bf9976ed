"""Results of the tests of cluster structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from energystats._core.pvalues import fewest_draws, is_at_most, smallest_pvalue
from energystats._typing import FloatArray
from energystats.display.numbers import number, numbers, p_text, probability
from energystats.display.result import VerdictFirst
from energystats.display.sentences import Caution, seed_note, state_evidence, write_counts
from energystats.display.tables import LEVEL, TextTable, cut_all, text_table
from energystats.distribution_tests.multiplicity import adjust

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.clustering.partition import Partition

__all__ = [
    "ALL_COINCIDE",
    "NO_CLUSTERS",
    "PLACES",
    "ClusterTestResult",
    "Comparison",
    "Contrast",
    "OfOtherClusters",
    "Scored",
    "ShownElsewhere",
    "contrast_rows",
]


ALL_COINCIDE = "all points coincide"  # in place of a contrast
NO_CLUSTERS = "no clusters were found"  # likewise
SHOWN_IN = {"as given": "points as given", "decorrelated": "decorrelated columns", "columns": "some columns"}
PLACES = {"decorrelated": "in decorrelated columns", "columns": "in some columns, standardized"}  # by space


class ShownElsewhere(Caution):
    """Hold a caution that p belongs to other clusters than those of the points as given."""

    __slots__ = ()


class OfOtherClusters(Caution):
    """Hold a caution that p belongs to clusters of parts of the points that are others than those shown."""

    __slots__ = ()


class Scored(NamedTuple):
    """Hold the numbers of the split and the contrast whose scores a result shows, and the p-value of these scores."""

    split: int
    contrast: int
    pvalue: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """Hold the test of one cluster against the rest."""

    name: str  # which clusters are set against each other
    statistic: float  # mean excess-split index E over the splits
    # pvalue, pvalue_adjusted: raw, and adjusted over the contrasts by Holm's method
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold the comparison of a statistic of the data with that of reference samples."""

    name: str  # along which axes the references are independent; or "pivoted" and "plain"
    statistic: float  # of the data
    mean: float  # of the references
    pvalue: float  # how often references reach the statistic


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterTestResult(VerdictFirst):
    """Hold the result of a test for cluster structure.

    Attributes
    ----------
    statistic : float
        Excess-split index E (mean over splits and contrasts); S/T for "refit", under the Gaussian null hypothesis less
        its mean over the references.
    pvalue : float
        P-value of `null_hypothesis`.
    method : {"split", "unimodal-1d", "refit", "crossfit"}
        What was done.
    null_hypothesis : str
        The question that was answered, and the only one.
    k : int
        Number of clusters that were looked for; with a user's clusterer, that it found in all points ("crossfit": in
        the first half).
    n_resamples : int
        Draws behind each p-value that is not clearly large.
    n_splits : int
        Random splits; 0 where nothing was split.
    n_clustered : int
        Points that were clustered at a time; those left out were scored. 0 where nothing was split.
    conservative : bool
        Whether every p-value was multiplied by a factor 1.6/1.2 as large: as asked, or for directions: rows on
        a sphere, or an ellipsoid, in three dimensions.
    jittered : bool
        Whether ties were jittered.
    pvalues : ndarray of shape (n_splits, n_contrasts)
        P-values that were combined; those of ten jitters, (10, 1), for "unimodal-1d" where one jitter can decide, else
        (1, 1); those of `comparisons`, (1, n_comparisons), for "refit" and "crossfit".
    scores : ndarray or None
        Sorted values whose unimodality was tested, of the split and contrast that is clearest in `space`, or of the
        clearest jitter; None for "refit" and "crossfit".
    scored : Scored or None
        The number of that split, that of the contrast, and their own p-value, before spaces are combined in `pvalues`.
    null_distribution : ndarray or None
        What `statistic` was compared with: the statistics of reference samples of "refit" and "crossfit"; None for the
        other methods.
    rows : tuple of Contrast
        What was tested: the one-versus-rest contrasts behind `contrasts`, or the only one.
    notes : tuple of str
        What a reader has to assume or know.
    comparisons : tuple of Comparison
        With principal components and with features as independent axes; the larger p counts. Under the Gaussian null
        hypothesis pivoted, which counts, and plain. With permuted tables, or those of a model, the only one. Empty
        where there are no reference samples.
    indices : ndarray of shape (n_contrasts, 3) or None
        For "split" and "unimodal-1d" the three indices behind the p-values, means over the splits: log likelihood
        ratio of two or three normals to one mode, E, and the distance from the nearest unimodal distribution.
    factor : float or None
        By which p-values of "split" and "unimodal-1d" were multiplied, because flat densities need it.
    space : {"as given", "decorrelated", "columns"}
        Where the clusters show: among the points as given, after decorrelation (``metric="mahalanobis"``), or in some
        columns, standardized. Another space than the first one is named only where `pvalue` is at most 0.05.
    partition : Partition or None
        The k clusters of all points in that space, by `energy_cluster` or the user's clusterer (-1 for points in none);
        the contrasts are named after them. None where there are more than 4,000 points and rho is not known to be of
        negative type; with a user's clusterer only "split" has one.
    exact : bool or None
        Whether S/T was compared with that of all tables that permuting the columns makes, `n_resamples` of them, or
        of random ones or those of a model; None for samples of a fitted distribution, and other methods.
    """

    _one_row = True

    statistic: float
    pvalue: float
    method: Literal["split", "unimodal-1d", "refit", "crossfit"]
    null_hypothesis: str
    k: int
    n_resamples: int
    n_splits: int
    n_clustered: int
    conservative: bool
    jittered: bool
    pvalues: FloatArray = field(repr=False)
    rows: tuple[Contrast, ...] = field(repr=False)
    scores: FloatArray | None = field(default=None, repr=False)
    scored: Scored | None = field(default=None, repr=False)
    null_distribution: FloatArray | None = field(default=None, repr=False)
    comparisons: tuple[Comparison, ...] = field(default=(), repr=False)
    indices: FloatArray | None = field(default=None, repr=False)
    factor: float | None = field(default=None, repr=False)
    space: Literal["as given", "decorrelated", "columns"] = "as given"
    partition: Partition | None = field(default=None, repr=False)
    exact: bool | None = field(default=None, repr=False)

    @property
    def of_tables(self) -> bool:
        """Return whether a test compared clusters with those of whole tables, permuted or drawn from a model."""
        return self.exact is not None

    @property
    def contrasts(self) -> pd.DataFrame | None:
        """Return a data frame of tests of each cluster against the rest, with Holm-adjusted p; None for one test."""
        if len(self.rows) < 2:
            return None
        import pandas as pd

        columns = ["contrast", "statistic", "pvalue", "pvalue_adjusted"]
        return pd.DataFrame([(r.name, r.statistic, r.pvalue, r.pvalue_adjusted) for r in self.rows], columns=columns)

    @property
    def _symbol(self) -> str:
        """Return the symbol of the test statistic, for summaries."""
        if self.method != "refit":
            return "E"
        return "S/T less mean of references" if self._pivoted else "S/T"

    @property
    def _pivoted(self) -> bool:
        return bool(self.comparisons) and self.comparisons[0].name == "pivoted"

    def _tables(self) -> list[TextTable]:
        tables = []
        if self.indices is not None:
            ratio, E, distance = self.indices.mean(axis=0)
            rows = [
                ["log likelihood ratio", number(ratio)],
                ["excess-split index E", number(E)],
                ["distance from unimodality", number(distance)],
                ["p-value", probability(self.pvalue)],
            ]
            along = " along linear projections" if self.method == "split" else ""
            tables.append(text_table(rows, None, None, f"Test of unimodality{along}"))
        if len(self.rows) > 1:
            columns = [
                numbers([r.statistic for r in self.rows]),
                [probability(r.pvalue) for r in self.rows],
                [probability(r.pvalue_adjusted) for r in self.rows],
            ]
            cells = list(zip(*columns, strict=True))
            heads = ["statistic", "p", "p (Holm)"]
            title = f"One versus rest, {SHOWN_IN[self.space]} alone" if self.method == "split" else "One versus rest"
            tables.append(text_table(cells, heads, cut_all(r.name for r in self.rows), title))
        if self.comparisons:
            values = numbers([value for c in self.comparisons for value in (c.statistic, c.mean)])
            cells = [(values[2 * i], values[2 * i + 1], probability(c.pvalue)) for i, c in enumerate(self.comparisons)]
            heads = ["observed", "mean of references", "p"]
            counts = "the first counts" if self._pivoted else "the larger p counts"
            title = f"References: {counts}" if len(cells) > 1 else "References"
            tables.append(text_table(cells, heads, [c.name for c in self.comparisons], title))
        return tables

    def _rests_on(self) -> list[str]:
        lines = [f"Null hypothesis: {self.null_hypothesis}."]
        if few := self.few_draws:
            lines.append(few)
        lines.append(
            f"Statistic: {self._symbol} = {number(self.statistic)}. Method: {self.method}. {self._draws()}".rstrip()
        )
        if self.partition is not None:
            sizes = write_counts(self.partition.sizes)
            where = PLACES.get(self.space, "as given")
            points = "points" if self.partition.k > 1 or self.partition.sizes[0] > 1 else "point"
            in_none = int(np.count_nonzero(self.partition.labels < 0))
            beside = f"; {in_none} in no cluster" if in_none else ""
            lines.append(f"Clusters of this test (`.partition`): {sizes} {points}, {where}{beside}.")
        return lines

    def _below(self) -> list[str]:
        if len(self.rows) < 2 or self.pvalue > LEVEL:
            return []
        return ["A small p of a contrast does not show that this cluster is separate from its neighbour."]

    def _explanations(self) -> list[str]:
        if self.of_tables:
            meaning = []  # the notes say what it means, of these hypotheses in particular
        elif self.pvalue > LEVEL:
            meaning = ["A large p is no evidence that there is only one cluster."]
        else:
            meaning = [
                "A small p means structure beyond the null hypothesis; not that a certain cluster, or their number, is "
                "real."
            ]
        return [*meaning, *self._rule()]

    @property
    def _smallest(self) -> float:
        """Return the smallest p-value that the number of draws or tables allows."""
        return smallest_pvalue(self.n_resamples - bool(self.exact), self.factor or 1.0)

    @property
    def few_draws(self) -> str:
        """Return a sentence that p cannot reach the level .05 with so few draws; else an empty string."""
        if self.n_resamples < 1 or is_at_most(self._smallest, LEVEL):
            return ""
        if self.exact:
            return f"So few tables, {self.n_resamples}, cannot give a p below {self._smallest:.2g}."
        fewest = fewest_draws(LEVEL, self.factor or 1.0)
        return (
            f"With {self.n_resamples} draws the smallest possible p is {probability(self._smallest)}, so that "
            f"nothing can be rejected at level {LEVEL:g}: take n_resamples of {fewest} or more, better 199."
        )

    def _range_of_splits(self) -> str:
        """Return the smallest and largest p-values of single random splits as text; empty if they are equal."""
        each = self.pvalues.min(axis=1)
        if each.size < 2 or each.min() == each.max():
            return ""
        smallest = " (the smallest of their contrasts)" if self.pvalues.shape[1] > 1 else ""
        return f" (of single splits{smallest}: {probability(float(each.min()))} to {probability(float(each.max()))})"

    def _draws(self) -> str:
        """Return a sentence on how a p-value depends on draws and seed, and whether it is the smallest possible."""
        nothing = self.rows and self.rows[0].name in (ALL_COINCIDE, NO_CLUSTERS)
        if nothing or (self.method == "split" and not self.n_splits):
            return ""
        smallest = is_at_most(self.pvalue, self._smallest)
        if self.exact:
            return f"p-value over all {self.n_resamples} tables." + " It is the smallest that they can give." * smallest
        if self.method == "split":
            return (
                f"p-value by {self.n_splits} random splits of the points, {self.n_clustered} of them clustered at a "
                f"time, with {self.n_resamples} draws each; another seed gives another p{self._range_of_splits()}."
                + " It is the smallest that so many draws can give."
                * smallest
            )
        if self.method == "unimodal-1d" and len(self.pvalues) > 1:
            return (
                f"p-value by {len(self.pvalues)} jitters of the ties, with up to {self.n_resamples} draws each; "
                "another seed gives another p."
            )
        what = "draws" if self.method == "unimodal-1d" else "tables" if self.of_tables else "reference samples"
        return seed_note(self.pvalue, self.n_resamples, what, factor=self.factor or 1.0)

    def _conclusion(self) -> str:
        if self.rows and self.rows[0].name == ALL_COINCIDE:
            return f"Nothing was tested: {ALL_COINCIDE} ({p_text(self.pvalue)})."
        if self.rows and self.rows[0].name == NO_CLUSTERS:
            return f"Nothing was tested: {NO_CLUSTERS} ({p_text(self.pvalue)})."
        if self.pvalue > LEVEL and self.few_draws:
            what = "tables" if self.exact else "draws"
            return (
                f"At level {LEVEL:g}: nothing could be decided with {self.n_resamples} {what} ({p_text(self.pvalue)})."
            )
        if self.of_tables:
            return state_evidence(self.pvalue, f'against "{self.null_hypothesis}"')
        of_lines = {"split": "of a projection with two modes", "unimodal-1d": "of more than one mode"}
        claim = of_lines.get(self.method, "of more structure than the null hypothesis allows")
        return state_evidence(self.pvalue, claim)

    def _rule(self) -> list[str]:
        """Return a sentence on how the p-value of a test of unimodality is computed; else an empty list."""
        if self.factor is None:
            return []
        indices = (
            "Likelihood ratio, E and distance share one p-value, against samples from the nearest unimodal distribution"
        )
        if self.method == "unimodal-1d":
            jitters = "; those of the jitters are combined by Cauchy's rule" * (len(self.pvalues) > 1)
            return [f"{indices}, times {self.factor:g}{jitters}."]
        several = "splits, and then of contrasts," if len(self.rows) > 1 else "splits"
        rule = f"{indices}, times {self.factor:g}; those of {several} are combined by Cauchy's rule."
        # of one contrast it is seen: its own p is not that of the test
        elsewhere = len(self.rows) == 1 and self.rows[0].pvalue != self.pvalue
        spaces = " p is over all spaces, that of the contrast over the space shown." * elsewhere
        return [rule + spaces]

    def _frame(self) -> pd.DataFrame:
        """Return a data frame of one row, whose columns are fields of the result."""
        import pandas as pd

        names = ("k", "statistic", "pvalue", "method", "n_resamples", "n_splits", "conservative", "null_hypothesis")
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def _main_columns(self) -> tuple[str, ...]:
        return ("k", "statistic", "pvalue", "method", "n_resamples")

    def _headings(self) -> dict[str, str]:
        return {"k": "clusters", "n_resamples": "simulated samples"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the scores of the clearest split with a unimodal density, or the null distribution of a test."""
        from energystats._core.unimodal import unimodal_density
        from energystats.plotting.null_distributions import plot_references, plot_scores

        if self.null_distribution is not None:
            gaussian = bool(self.comparisons) and self.comparisons[0].name == "pivoted"
            held_out = self.method == "crossfit"
            values = (self.null_distribution, self.statistic, self.pvalue)
            own = self.null_hypothesis if self.of_tables else ""
            return plot_references(*values, ax, gaussian=gaussian, held_out=held_out, hypothesis=own)
        assert self.scores is not None
        density = unimodal_density(self.scores)
        if self.method == "unimodal-1d":
            columns = None if self.partition is None else self.partition.columns
            return plot_scores(self.scores, density, self.pvalue, ax, column=columns[0] if columns else "x")
        scored = self.scored or Scored(0, 0, self.pvalue)  # nothing was scored where all points coincide
        contrast = self.rows[scored.contrast].name if len(self.rows) > 1 else ""
        # that of all splits is smaller for lines that are not shown
        where = SHOWN_IN[self.space] if self.space != "as given" or scored.pvalue > self.pvalue else ""
        return plot_scores(
            self.scores,
            density,
            self.pvalue,
            ax,
            n_splits=self.n_splits,
            own_pvalue=scored.pvalue,
            contrast=", ".join(filter(None, [contrast, where])),
        )


def contrast_rows(names: Sequence[str], statistics: Sequence[float], pvalues: Sequence[float]) -> tuple[Contrast, ...]:
    """Build one `Contrast` for each name, with p-values adjusted by Holm's method."""
    table = zip(names, statistics, pvalues, adjust(pvalues, "holm"), strict=True)
    return tuple(Contrast(name, float(s), float(p), float(q)) for name, s, p, q in table)
