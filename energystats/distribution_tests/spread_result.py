"""Hold the result of a test of equal spread of groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from energystats._core.pvalues import (
    share_of_largest,
)
from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import interval_text, number, numbers, p_text, probability
from energystats.display.result import Result
from energystats.display.sentences import (
    floor_note,
    metric_note,
    metric_text,
    seed_note,
    state_evidence,
    undecided,
    write_within_strata,
)
from energystats.display.tables import LEVEL, ROWS_SHOWN, TextTable, cut_all, text_table, write_groups

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["SpreadTestResult"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpreadTestResult(Result):
    """Hold the result of the test of equal spread around the centres of groups.

    Attributes
    ----------
    statistic : float
        F of an analysis of variance of `distances`.
    pvalue : float
        Share of permutations whose F reaches it, the observed one included.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many permutations.
    n_resamples : int
        Random permutations, or all distinct labelings that a design allows, the observed one included.
    exact : bool
        Whether they are all.
    by_stratum : bool
        Whether centres are those of a group in its stratum.
    null_hypothesis : str
        The question that the p-value answers.
    center : {"median", "centroid"}
        What distances were taken from.
    df : tuple of int
        Degrees of freedom of F: k - 1, n - k.
    sizes : tuple of int
        Points per group.
    labels : tuple
        Names of the groups.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    mean_distances : ndarray of shape (k,)
        Mean of `distances` in every group.
    distances : ndarray of shape (n,)
        Distance of each point from its centre in the feature space of rho, times the root of n/(n - 1) of its group.
    codes : ndarray of shape (n,)
        Group of each point, by its place in `labels`.
    coordinates, centers : ndarray of shape (n, 2), (k, 2)
        First two principal coordinates of the points and of the centres, for the picture.
    null_distribution : ndarray of shape (n_resamples,), one less where `exact`
        F of the permutations.
    n_strata, n_plots : int
        Blocks within which, and whole plots whose labels were permuted; 0 for free permutations of residuals.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        Whether the groups were found from data; squared distances that were negative.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    n_resamples: int
    exact: bool
    by_stratum: bool
    null_hypothesis: str
    center: Literal["median", "centroid"] | str
    df: tuple[int, int]
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    group_name: str = field(default="", repr=False)
    mean_distances: FloatArray = field(repr=False)
    distances: FloatArray = field(repr=False)
    codes: IntArray = field(repr=False)
    coordinates: FloatArray = field(repr=False)
    centers: FloatArray = field(repr=False)
    null_distribution: FloatArray = field(repr=False)
    n_strata: int = field(default=0, repr=False)
    n_plots: int = field(default=0, repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with the name, size and mean distance of each group."""
        import pandas as pd

        return pd.DataFrame({"group": self.labels, "n": self.sizes, "mean_distance": self.mean_distances})

    def _tables(self) -> list[TextTable]:
        rows = [
            [f"F ({self.df[0]}, {self.df[1]} degrees of freedom)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
        ]
        if self.pvalue_interval[0] < self.pvalue_interval[1]:
            rows.append(["95 % interval of p", interval_text(self.pvalue_interval)])
        units = f" of {self.n_plots} whole plots" * bool(self.n_plots) + write_within_strata(self.n_strata)
        rows.append([f"{'distinct labelings' if self.exact else 'random permutations'}{units}", str(self.n_resamples)])
        title = f"Test of equal spread around the {'spatial medians' if self.center == 'median' else 'centroids'}"
        shown = slice(None, ROWS_SHOWN)
        cells = list(zip(map(str, self.sizes[shown]), numbers(self.mean_distances.tolist())[shown], strict=True))
        stubs = cut_all(self.labels[shown], 24)
        more = f", the first {ROWS_SHOWN} of {len(self.sizes)}" if len(self.sizes) > ROWS_SHOWN else ""
        by_group = text_table(cells, ["n", "mean distance"], stubs, f"Groups{more}", self.group_name)
        return [text_table(rows, None, None, title), by_group]

    def _sentences(self) -> list[str]:
        center = "spatial median" if self.center == "median" else "centroid"
        cell = "the group in its stratum" if self.by_stratum else "the group"
        size = "of n points there" if self.by_stratum else "of n points"
        pull = f"times the root of n/(n - 1) {size}, as few points pull their centre"
        if self.n_plots:
            pull = "enlarged as few points pull their centre, rows of a whole plot being one as far as they are alike"
        lines = [
            f"Null hypothesis: {self.null_hypothesis}.",
            f"Distances are those from the {center} of {cell} in the feature space of rho, {pull}.",
            "p is approximate: "
            + ("labels" if self.n_strata or self.n_plots else "residuals")
            + " of distances were permuted.",
        ]
        if self.center == "centroid":
            lines.append(
                "With centroids p is too often small, most for skew distributions and for many small groups; "
                'center="median" is safer.'
            )
        how = [seed_note(self.pvalue, self.n_resamples, "random permutations")]
        if self.exact:
            how = [f"p-value over all {self.n_resamples} distinct labelings: it does not depend on a seed."]
            how += floor_note(self.n_resamples, share_of_largest(self.statistic, self.null_distribution))
        lines += [*how, *self.notes]
        return [*lines, metric_note(self.metric, self.standardization), *undecided(self.pvalue, self.pvalue_interval)]

    def _conclusion(self) -> str:
        which = "the two groups" if len(self.sizes) == 2 else f"{'some' if self.pvalue <= LEVEL else 'any'} groups"
        return state_evidence(self.pvalue, f"that {which} are spread unequally")

    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame of one row, some fields as texts."""
        import pandas as pd

        row = {
            "groups": write_groups(self.labels),
            "sizes": " + ".join(map(str, self.sizes)),
            "mean_distances": ", ".join(numbers(self.mean_distances.tolist())),
            "statistic": self.statistic,
            "df": ", ".join(map(str, self.df)),
            "pvalue": self.pvalue,
            "n_resamples": self.n_resamples,
            "center": self.center,
            "n_strata": self.n_strata,
            "n_plots": self.n_plots,
            "metric": metric_text(self.metric),
            "standardized": self.standardization is not None,
            "null_hypothesis": self.null_hypothesis,
        }
        return pd.DataFrame([row])

    def _main_columns(self) -> tuple[str, ...]:
        return ("groups", "sizes", "mean_distances", "statistic", "df", "pvalue", "n_resamples")

    def _headings(self) -> dict[str, str]:
        return {"sizes": "n", "mean_distances": "mean distances", "statistic": "F", "n_resamples": "permutations"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw this result's points on two principal coordinates, with hulls and centres of groups; return the axes.

        Two coordinates seldom show all distances: a group can be wider than it looks. Large tables have no lines. Of
        one column, or of many groups, `plot_boxes` shows more.
        """
        from energystats.plotting.points import plot_groups

        return plot_groups(
            self.coordinates,
            self.codes,
            ax,
            names=self.labels,
            sizes=self.sizes,
            centers=self.centers,
            title=f"Spread around the {self.center}s: F = {number(self.statistic)}, {p_text(self.pvalue)}",
        )

    def plot_boxes(self, ax: Axes | None = None) -> Axes:
        """Draw the distances from group centres as boxes and points, and return the axes.

        The diamond is the mean of the group; points stand for groups of up to fifty.
        """
        from energystats.plotting.distances import plot_distances_from_centers

        return plot_distances_from_centers(
            [self.distances[self.codes == j] for j in range(len(self.sizes))],
            self.mean_distances,
            ax,
            names=self.labels,
            center="spatial median" if self.center == "median" else "centroid",
            title=f"Spread around the {self.center}s: F = {number(self.statistic)}, {p_text(self.pvalue)}",
        )
