"""Clusters that were found, and whether they are real."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.results.approximation import Approximation
from energystats.results.base import Result
from energystats.results.named import Labelled
from energystats.tables import (
    LEVEL,
    Table,
    cut_all,
    decomposition_table,
    metric_note,
    number,
    numbers,
    probability,
    proportion,
    seed_note,
    text_table,
    verdict,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["ClusterTestResult", "Comparison", "Contrast", "Partition"]

BOUND_ROUNDING = 1e-12  # of the dispersions; a bound below it may be 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Partition(Labelled):
    """Clusters found by minimising W, which is maximising S.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each row, 0..k-1. Clusters are numbered from the largest (in points, or in the sum of weights where
        there are weights) to the smallest, those of one size by rising W, then by the rising sum of rho to all points;
        only what is tied in all three goes by first rows. So another order of the rows changes no number. By "exact-1d"
        they are numbered from left to right.
    k : int
        Number of clusters.
    sizes : tuple of int
        Points per cluster.
    within, between, total : float
        W, S and T, in the unit of rho; estimates for "nystrom", see `approximation`.
    within_per_cluster : ndarray of shape (k,)
        The summands of W.
    bound : float
        Eigenvalue certificate: no partition into k clusters has a larger S [theory 3]. It holds for every rho, but is
        loose, 0 or negative for some that are not of negative type, and loose for "nystrom".
    algorithm : {"exact-1d", "hartigan", "lloyd", "spectral", "nystrom"}
        What was run.
    n_init : int
        Starts made.
    n_perturb : int
        How often, for every start, the best partition was shaken out of its local optimum, if it was not found twenty
        times before.
    n_iter : int
        Passes over the data of the search that found it.
    converged : bool
        Whether the best start ended at a local optimum; not so when it was cut off, or a pass of Lloyd's rule was taken
        back.
    breaks : ndarray of shape (k - 1,) or None
        Midpoints between neighbouring clusters, for "exact-1d".
    path : ndarray of shape (n_iter + 1,) or None
        W at the start and after every pass of the search that found the partition.
    moves : ndarray of shape (m, 3) or None
        Point, old and new cluster of its moves in their order, where they were asked for.
    masses : ndarray of shape (k,) or None
        Sums of the weights of the clusters, where there are weights.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    points : ndarray of shape (n, d) or None
        The (standardized) data that were clustered, for plots; None for a precomputed matrix or mixed columns.
    columns : tuple of str or None
        Names of the columns of a data frame.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names` and `to_series()`.
    coordinates : ndarray of shape (n, 2) or None
        First two principal coordinates, for plots where there are no `points`.
    remark : str
        Why one column did not go to the exact method; empty where there is nothing to say.
    approximation : Approximation or None
        What "nystrom" left out, and the standard errors of its estimates; None for the other algorithms.
    """

    labels: IntArray = field(repr=False)
    k: int
    sizes: tuple[int, ...]
    within: float
    between: float
    total: float
    within_per_cluster: FloatArray = field(repr=False)
    bound: float
    algorithm: Literal["exact-1d", "hartigan", "lloyd", "spectral", "nystrom"]
    n_init: int
    n_iter: int
    converged: bool
    n_perturb: int = 0
    breaks: FloatArray | None = field(default=None, repr=False)
    path: FloatArray | None = field(default=None, repr=False)
    moves: IntArray | None = field(default=None, repr=False)
    masses: FloatArray | None = field(default=None, repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    points: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)
    coordinates: FloatArray | None = field(default=None, repr=False)
    remark: str = field(default="", repr=False)
    approximation: Approximation | None = field(default=None, repr=False)

    @property
    def tightness(self) -> float:
        """S/bound: 1 proves the global optimum; NaN where the bound is not above 0 by more than rounding."""
        rounding = BOUND_ROUNDING * max(abs(self.within), abs(self.between), abs(self.total))
        return float(self.between / self.bound) if self.bound > rounding else float("nan")

    def _tables(self) -> list[Table]:
        rows = [[str(n), w] for n, w in zip(self.sizes, numbers(self.within_per_cluster), strict=True)]
        heads = ["size", "W"]
        if self.masses is not None:
            rows = [[*row[:1], s, *row[1:]] for row, s in zip(rows, numbers(self.masses), strict=True)]
            heads.insert(1, "weight")
        title = f"Energy clustering into {self.k} cluster{'s' * (self.k > 1)}"
        shown = numbers([self.within, self.between, self.total, self.bound])[-1]
        bound = [["bound on S", shown], ["S/bound", proportion(self.tightness)]]
        if self.approximation is not None:
            title += ", approximate"
            bound += self.approximation.rows()
        return [
            text_table(rows, heads, [f"cluster {j}" for j in range(self.k)], title),
            decomposition_table(self.within, self.between, self.total, bound),
        ]

    def _notes(self) -> list[str]:
        if self.algorithm == "exact-1d":
            how = "Algorithm: exact in one dimension, the global optimum; it does not depend on a seed."
        elif self.algorithm == "spectral":
            how = f"Algorithm: spectral, best of {self.n_init} k-means of the relaxed solution; W was not searched."
        else:
            starts = "1 start" if self.n_init == 1 else f"best of {self.n_init} starts"
            if self.n_perturb:
                tries = self.n_init * self.n_perturb
                starts += f", the best perturbed up to {tries} time{'s' * (tries > 1)}"
            how = f"Algorithm: {self.algorithm}, {starts}, {self.n_iter} pass{'es' * (self.n_iter > 1)}"
            where = " of the features" if self.algorithm == "nystrom" else ""
            how += f", a local optimum{where}" if self.converged else ", stopped before it converged"
            how += "; another seed can find another." if self.n_init > 1 or self.n_perturb else "."
        proof = "S/bound is at most 1; 1 would prove that no partition into as many clusters has a larger S."
        remark = [self.remark] if self.remark else []
        remark += [] if self.approximation is None else self.approximation.notes()
        if math.isnan(self.tightness) and self.k > 1:
            proof = "No S is above the bound, but the bound is not positive, so S/bound says nothing."
        return [*self._members(), how, *remark, proof, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if self.k == 1:
            return "One cluster: nothing was divided."
        return f"Any data can be cut into {self.k}; `cluster_test` asks whether these clusters are more than a cut."

    def to_frame(self) -> pd.DataFrame:
        """One row per cluster: cluster, size and W of the cluster."""
        import pandas as pd

        return pd.DataFrame({"cluster": range(self.k), "size": self.sizes, "within": self.within_per_cluster.tolist()})

    def plot(self, ax: Axes | None = None, *, space: Any = None) -> Axes:
        """Draw the points by cluster; one column as a histogram with its breaks and density.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        space : object, optional
            Two columns as they are, else the first two principal components (of a matrix: principal coordinates), when
            None; "components"; "kernel" for kernel PCA, the principal coordinates of rho; the names or numbers of two
            columns; an array of shape (n, 2); or a result with coordinates, as of `principal_coordinates`, `kernel_pca`
            and `spectral_embedding`.

        Returns
        -------
        Axes
            Up to forty points of a data frame whose index has names carry them. Of more than 5,000 points (2,000 for
            "kernel") a random part is drawn, always the same one, with at least fifty of every cluster; the title
            says so.

        Raises
        ------
        ValueError
            If `space` is none of these, or needs columns that were not clustered.
        """
        from energystats import plotting

        return plotting.plot_partition(self, ax, space=space)

    def plot_decomposition(self, ax: Axes | None = None) -> Axes:
        """Draw T, its parts S and W, and the clusters' parts of W, with the bound on S."""
        from energystats import plotting

        return plotting.plot_parts(self, ax)

    def plot_means(self, ax: Axes | None = None, *, data: Any = None) -> Axes:
        """Draw a heat map of the means of the clusters, a row for each feature.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        data : DataFrame or array_like of shape (n, p), optional
            Table to average, of which columns of numbers are used and missing values left out; the columns that were
            clustered when None.

        Returns
        -------
        Axes
            A mean is in standard deviations of its feature from the mean of all points, and 0 for a constant feature;
            weights do not count.

        Raises
        ------
        ValueError
            If the partition holds no columns and `data` is None, or `data` has another number of rows or no numbers.
        """
        from energystats import plotting

        return plotting.plot_cluster_means(self, ax, data=data)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw W from pass to pass of the search that found the partition."""
        from energystats import plotting

        return plotting.plot_path(self, ax)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One cluster against the rest.

    Attributes
    ----------
    name : str
        Which clusters are set against each other.
    statistic : float
        Mean excess-split index E over the splits.
    pvalue, pvalue_adjusted : float
        Raw, and adjusted over the contrasts by Holm's method.
    """

    name: str
    statistic: float
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """An observed value against those of reference samples.

    Attributes
    ----------
    name : str
        Along which axes the references are independent; or "pivoted" and "plain".
    statistic : float
        Of the data.
    mean : float
        Of the references.
    pvalue : float
        How often references reach the statistic.
    """

    name: str
    statistic: float
    mean: float
    pvalue: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterTestResult(Result):
    """Test for cluster structure.

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
        Number of clusters that were looked for; by "split" with a user's clusterer, that it found in all points.
    n_resamples : int
        Draws behind each p-value that is not clearly large.
    n_splits : int
        Random splits; 0 where nothing was split.
    n_clustered : int
        Points that were clustered at a time; those left out were scored. 0 where nothing was split.
    conservative : bool
        Whether every p-value was multiplied by the larger factor 1.6.
    jittered : bool
        Whether ties were spread over one grid step.
    pvalues : ndarray of shape (n_splits, n_contrasts)
        P-values that were combined; those of `comparisons`, (1, n_comparisons), for "refit" and "crossfit"; (1, 1) for
        the others.
    scores : ndarray
        Sorted values whose unimodality was tested, of the split and contrast with the smallest p-value; empty for the
        other methods.
    null_distribution : ndarray
        What `statistic` was compared with: the statistics of reference samples ("refit", "crossfit"); empty for the
        other methods.
    rows : tuple of Contrast
        The one-versus-rest contrasts behind `contrasts`.
    remarks : tuple of str
        What a reader has to assume or know.
    comparisons : tuple of Comparison
        With principal components and with features as independent axes; the larger p counts. Under the Gaussian null
        hypothesis pivoted, which counts, and plain. Empty where there are no reference samples.
    indices : ndarray of shape (n_contrasts, 3)
        For "split" and "unimodal-1d" the three indices behind the p-values, means over the splits: log likelihood
        ratio of two normals to one mode, E, and the distance from the nearest unimodal law.
    factor : float
        By which p-values of "split" and "unimodal-1d" were multiplied, because flat densities need it.
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
    scores: FloatArray = field(repr=False)
    null_distribution: FloatArray = field(repr=False)
    rows: tuple[Contrast, ...] = field(repr=False)
    remarks: tuple[str, ...] = field(repr=False)
    comparisons: tuple[Comparison, ...] = field(default=(), repr=False)
    indices: FloatArray = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    factor: float = field(default=1.0, repr=False)

    @property
    def contrasts(self) -> pd.DataFrame:
        """One-versus-rest contrasts: contrast, statistic, pvalue, pvalue_adjusted (Holm)."""
        import pandas as pd

        columns = ["contrast", "statistic", "pvalue", "pvalue_adjusted"]
        return pd.DataFrame([(r.name, r.statistic, r.pvalue, r.pvalue_adjusted) for r in self.rows], columns=columns)

    def _tables(self) -> list[Table]:
        pivoted = bool(self.comparisons) and self.comparisons[0].name == "pivoted"
        symbol = "E" if self.method != "refit" else "S/T less mean of references" if pivoted else "S/T"
        rows = [
            [f"statistic ({symbol})", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["method", self.method],
            ["resamples", str(self.n_resamples)],
        ]
        if len(self.indices):
            ratio, _, distance = self.indices.mean(axis=0)
            rows[1:1] = [["log likelihood ratio", number(ratio)], ["distance from unimodality", number(distance)]]
        if self.n_splits:
            rows.append(["splits", str(self.n_splits)])
            rows.append(["points clustered at a time", str(self.n_clustered)])
        titles = {
            "split": "Test of unimodality along linear projections",
            "unimodal-1d": "Test of unimodality",
            "refit": "Test of S/T against samples of a fitted law",
            "crossfit": "Test of held-out unimodality against samples of a fitted law",
        }
        tables = [text_table(rows, None, None, titles[self.method])]
        if len(self.rows) > 1:
            columns = [
                numbers([r.statistic for r in self.rows]),
                [probability(r.pvalue) for r in self.rows],
                [probability(r.pvalue_adjusted) for r in self.rows],
            ]
            cells = list(zip(*columns, strict=True))
            heads = ["statistic", "p", "p (Holm)"]
            tables.append(text_table(cells, heads, cut_all(r.name for r in self.rows), "One versus rest"))
        if self.comparisons:
            values = numbers([value for c in self.comparisons for value in (c.statistic, c.mean)])
            cells = [(values[2 * i], values[2 * i + 1], probability(c.pvalue)) for i, c in enumerate(self.comparisons)]
            heads = ["observed", "mean of references", "p"]
            counts = "the first counts" if pivoted else "the larger p counts"
            title = f"References: {counts}" if len(cells) > 1 else "References"
            tables.append(text_table(cells, heads, [c.name for c in self.comparisons], title))
        return tables

    def _notes(self) -> list[str]:
        if self.pvalue > LEVEL:
            meaning = ["A large p is no evidence that there is only one cluster."]
        else:
            meaning = [
                "A small p means structure beyond the null hypothesis; not that a certain cluster, or their number, is "
                "real."
            ]
        return [
            f"Null hypothesis: {self.null_hypothesis}.",
            *self._seed(),
            *meaning,
            *self._rule(),
            *self.remarks,
        ]

    def _seed(self) -> list[str]:
        """What p owes to the seed, and by how much it moves where that is known."""
        if self.n_resamples < 1 or (self.method == "split" and not self.n_splits):
            return []
        if self.method == "split":
            return [
                f"p-value by {self.n_splits} random splits of the points, and {self.n_resamples} draws behind the p of "
                "each: another seed makes other splits and gives another p."
            ]
        what = "draws" if self.method == "unimodal-1d" else "reference samples"
        factor = self.factor if self.method == "unimodal-1d" else 1.0
        return [seed_note(self.pvalue, self.n_resamples, what, factor=factor)]

    def _conclusion(self) -> str:
        if self.pvalue <= LEVEL:
            return verdict(self.pvalue, "of more structure than the null hypothesis allows")
        return verdict(self.pvalue, "of more than one cluster")

    def _rule(self) -> list[str]:
        """How the p-value of a test of unimodality was made."""
        if self.method not in ("split", "unimodal-1d"):
            return []
        indices = "Likelihood ratio, E and distance share one p-value, against samples from the nearest unimodal law"
        if self.method == "unimodal-1d":
            return [f"{indices}, times {self.factor:g}."]
        several = "splits, and then of contrasts," if len(self.rows) > 1 else "splits"
        return [f"{indices}, times {self.factor:g}; those of {several} are combined by Cauchy's rule."]

    def to_frame(self) -> pd.DataFrame:
        """One row; the columns are the field names."""
        import pandas as pd

        names = ("statistic", "pvalue", "method", "null_hypothesis", "k", "n_resamples", "n_splits", "conservative")
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Scores of the clearest split as a histogram, with the nearest unimodal density; or the null distribution."""
        from energystats import plotting

        return plotting.plot_cluster_test(self, ax)
