"""A partition of points into clusters, how it is made from what a search found, and the rule for new points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from energystats._core import statistics
from energystats._core.eigenvalue_bound import eigenvalue_bound
from energystats._core.linkage import numbering_by_sums
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.clustering.clearer_lines import DECORRELATED, SMALLEST_SAMPLE, find_clearer_line
from energystats.clustering.partition_views import (
    Plane,
    choose_plane,
    compute_cluster_means,
    read_features,
    rows_shown,
)
from energystats.display.numbers import numbers, proportion
from energystats.display.result import Approximation, Labelled
from energystats.display.sentences import metric_note, note_negative
from energystats.display.tables import TextTable, decomposition_table, shorten_name, text_table
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.inputs.labels import as_labels
from energystats.inputs.names import write_names
from energystats.inputs.table import match_index
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.general import has_mahalanobis

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["NearestCluster", "Partition", "find_intervals", "find_numbers", "make_partition", "midpoints"]


RESOLVED = 1e-6  # of W, which the rounding of the bound must not reach where it proves the optimum
BOUND_ROUNDING = 1e-12  # of the dispersions; a bound below it may be 0
ROWS_PER_BLOCK = 256  # of new points


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Partition(Labelled):
    """Hold a partition of points into clusters, with W, S, T, an upper bound on S, and how it was found.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each row, 0..k-1. Clusters are numbered from the largest (in points, or in the sum of weights where
        there are weights) to the smallest, those of one size by rising W, then by the rising sum of rho to all points;
        only what is tied in all three goes by first rows. So another order of the rows changes no cluster's number.
        Intervals of one column are numbered from left to right. Where a user's clusterer left points out, -1 for these;
        W, S and T are then those of the others.
    k : int
        Number of clusters.
    sizes : tuple of int
        Points per cluster.
    within, between, total : float
        W, S and T, in the unit of rho; estimates for "landmarks", see `approximation`.
    within_per_cluster : ndarray of shape (k,)
        The summands of W.
    bound : float
        Eigenvalue bound: no partition into k clusters has a larger S [theory 3]. It holds for every rho, but is
        loose, 0 or negative for some that are not of negative type, and loose for "landmarks".
    algorithm : str
        What was run: "exact-1d", "hartigan", "lloyd", "spectral" or "landmarks"; a clusterer of the user or
        "cluster_tree"; "given" where the labels came from elsewhere.
    n_init : int
        Starts made.
    n_perturb : int
        How often, for every start, the best partition was perturbed, if it was not found twenty times before.
    n_iter : int
        Passes over the data of the search that found it.
    converged : bool
        Whether the best start ended at a local optimum; not so when it was cut off, or a pass of Lloyd's rule was taken
        back.
    breaks : ndarray of shape (k - 1,) or None
        Midpoints between neighbouring clusters of one column, where they are intervals; in the unit of the column, or
        of its z-scores if it was standardized.
    path : ndarray of shape (n_iter + 1,) or None
        W at the start and after every pass of the search that found the partition.
    moves : ndarray of shape (m, 3) or None
        Point, old and new cluster of its moves in their order, where they were asked for; clusters as `labels` numbers
        them, also those of a start that was given.
    masses : ndarray of shape (k,) or None
        Sums of the weights of the clusters, where there are weights.
    metric : Metric
        With every parameter that was fitted to the data.
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
    notes : tuple of str
        What else there is to know: why one column did not go to the exact method, a negative dispersion, points in no
        cluster, one rho of all pairs, a row that is called "Total"; empty where there is nothing to say.
    approximation : Approximation or None
        What "landmarks" left out, and the standard errors of its estimates; None for the other algorithms.
    """

    labels: IntArray = field(repr=False)
    k: int
    sizes: tuple[int, ...]
    within: float
    between: float
    total: float
    within_per_cluster: FloatArray = field(repr=False)
    bound: float
    algorithm: str
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
    approximation: Approximation | None = field(default=None, repr=False)

    @property
    def tightness(self) -> float:
        """Return S over its upper bound: 1 proves the global optimum; NaN where the bound is not above 0."""
        rounding = BOUND_ROUNDING * max(abs(self.within), abs(self.between), abs(self.total))
        return float(self.between / self.bound) if self.bound > rounding else float("nan")

    def _tables(self) -> list[TextTable]:
        rows = [[str(n), w] for n, w in zip(self.sizes, numbers(self.within_per_cluster), strict=True)]
        heads = ["size", "W"]
        if self.masses is not None:
            rows = [[*row[:1], s, *row[1:]] for row, s in zip(rows, numbers(self.masses), strict=True)]
            heads.insert(1, "weight")
        title = f"{'Partition' if self.algorithm == 'given' else 'Energy clustering'} into {self.k} "
        title += f"cluster{'s' * (self.k > 1)}"
        shown = numbers([self.within, self.between, self.total, self.bound])[-1]
        bound = [["bound on S", shown], ["S/bound", proportion(self.tightness)]]
        if self.approximation is not None:
            title += ", approximate"
            bound += self.approximation.rows()
        return [
            text_table(rows, heads, [f"cluster {j}" for j in range(self.k)], title),
            decomposition_table(self.within, self.between, self.total, bound),
        ]

    def _sentences(self) -> list[str]:
        if self.k == 1:
            how = "One cluster: there is no other partition."
        elif self.algorithm == "exact-1d":
            how = "Algorithm: exact in one dimension, the least W of all intervals; it does not depend on a seed."
        elif self.algorithm == "given":
            how = "The clusters were found elsewhere; W was not searched."
        elif not self.n_init:
            how = f"Clusters of {self.algorithm}; W was not searched."
        elif self.algorithm == "spectral":
            how = f"Algorithm: spectral, best of {self.n_init} k-means of the relaxed solution; W was not searched."
        else:
            starts = "1 start" if self.n_init == 1 else f"best of {self.n_init} starts"
            if self.n_perturb:
                tries = self.n_init * self.n_perturb
                starts += f", the best perturbed up to {tries} time{'s' * (tries > 1)}"
            how = f"Algorithm: {self.algorithm}, {starts}, {self.n_iter} pass{'es' * (self.n_iter > 1)}"
            where = " of the features" if self.algorithm == "landmarks" else ""
            how += f", a local optimum{where}" if self.converged else ", stopped before it converged"
            many = self.n_init > 1 or self.n_perturb
            how += "; another seed can find another." if many and not self._at_bound else "."
        proof = "S/bound is at most 1; 1 would prove that no partition into as many clusters has a larger S."
        if self._at_bound:
            proof = "S reaches its bound: no partition into as many clusters has a larger S."
        estimated = () if self.approximation is None else self.approximation.notes
        if math.isnan(self.tightness) and self.k > 1:
            proof = "No S is above the bound, but the bound is not positive, so S/bound says nothing."
        about = metric_note(self.metric, self.standardization)
        return [*self._members(), how, *self.notes, *estimated, proof, about, *self._hint()]

    def _hint(self) -> list[str]:
        """Return a hint if two groups are clearer along another line than these clusters, in a list; else empty."""
        points = self.points
        searched = self.n_init > 0 and self.k > 1 and isinstance(self.metric, Euclidean)
        if not searched or points is None or points.shape[1] < 2 or len(points) < SMALLEST_SAMPLE:
            return []
        found = find_clearer_line(points, self.labels, self.k)
        if found is None:
            return []
        where = "among decorrelated columns"
        if found != DECORRELATED:
            where = f"in {shorten_name(self.columns[found]) if self.columns else f'column {found}'} alone"
        how = "" if self.standardization is None else ", standardize=True"
        shows = ""
        if found == DECORRELATED and has_mahalanobis(points):
            shows = f'; `energy_cluster(X, 2, metric="mahalanobis"{how})` looks for them'
        return [
            f"A hint, not a test: {where} two groups stand apart much more clearly than these clusters{shows}. "
            f"`cluster_test(X, 2{how})` gives one p for them and for clusters as given, and shows the latter unless "
            "the former are far clearer to the test."
        ]

    @property
    def _at_bound(self) -> bool:
        """Return whether the between dispersion equals its exact upper bound, which proves the optimum."""
        proves = self.within == 0 or BOUND_ROUNDING * self.total <= RESOLVED * self.within
        return self.k > 1 and self.approximation is None and proves and self.tightness >= 1 - BOUND_ROUNDING

    def _conclusion(self) -> str:
        if self.k == 1:
            return "One cluster: nothing was divided."
        return f"Any data can be cut into {self.k}; `cluster_test` asks whether there is more than a cut, and where."

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per cluster: cluster, size, weight (if points have weights) and W."""
        import pandas as pd

        weight = {} if self.masses is None else {"weight": self.masses.tolist()}
        within = self.within_per_cluster.tolist()
        return pd.DataFrame({"cluster": range(self.k), "size": self.sizes, **weight, "within_per_cluster": within})

    def plot(
        self, ax: Axes | None = None, *, space: Any = None, axes: Any = None, labels: ArrayLike | None = None
    ) -> Axes:
        """Draw the points in a plane, marked by cluster; one column as a histogram with breaks and density.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        space : object, optional
            Two columns as they are, else the first two principal components (of a matrix: principal coordinates; of
            the Mahalanobis distance: discriminant axes; of metrics that transform rows: of what these compare; of
            Bray-Curtis and others that are no functions of differences: as "kernel"), when None; "components";
            "discriminant" for the lines between the means of the clusters among decorrelated columns; "kernel" for
            kernel PCA, the principal coordinates of rho; the names or numbers of two columns; an array of shape (n, 2);
            or a result with coordinates, as of `principal_coordinates`, `kernel_pca` and `spectral_embedding`.
        axes : pair of str or int, optional
            Two principal components, as ("PC1", "PC3"), or two columns, in place of `space`.
        labels : array_like of shape (n,), optional
            Names of the points, of which those are drawn that fit; when None the names of the data frame's rows.

        Returns
        -------
        Axes
            Up to forty points of a data frame whose index has names carry them. Of more than 5,000 points (2,000 for
            "kernel") a random part is drawn, always the same one, with at least fifty of every cluster; the title
            says so.

        Raises
        ------
        ValueError
            If `space` or `axes` is none of these, both are given, they need columns that were not clustered, or there
            is not one label for each point.
        """
        from energystats.plotting.points import plot_line, plot_partition

        if axes is not None:
            if space is not None:
                raise ValueError("`axes` and `space` both say what is drawn; give one of them.")
            space = tuple(axes)
        names = self.names if self.has_string_names else None
        match_index(self.index, space, "space")
        if labels is not None:
            match_index(self.index, labels, "labels")
            names = write_names(np.asarray(labels).tolist())
            if len(names) != self.labels.size:
                raise ValueError(
                    f"`labels` must have one name for each of the {self.labels.size} points, got {len(names)}."
                )
        shared: dict[str, Any] = {"sizes": self.sizes, "share": self.between / self.total if self.total else None}
        if space is None and self.points is not None and self.points.shape[1] == 1:
            name, standardized = self.columns[0] if self.columns else "x", self.standardization is not None
            own: dict[str, Any] = {"name": name, "standardized": standardized, "breaks": self.breaks}
            return plot_line(self.points[:, 0], self.labels, ax, **own, **shared)
        rows, points, titles, units, same_unit = self._plane(space)
        shared |= {"axes": titles, "units": units, "same_unit": same_unit, "all_names": labels is None}
        if names is not None:
            names = tuple(names[i] for i in rows)
        return plot_partition(points, self.labels[rows], ax, names=names, **shared)

    def plot_classes(self, classes: ArrayLike, ax: Axes | None = None, *, space: Any = None) -> Axes:
        """Draw open markers, one shape per known class, around the points of `plot`.

        Parameters
        ----------
        classes : array_like of shape (n,)
            Known class of each point.
        ax : Axes, optional
            What `plot` returned; when None, `plot` draws first.
        space : object, optional
            As it was given to `plot`.

        Returns
        -------
        Axes
            The same; of one column the markers stand at its values, below the bars.

        Raises
        ------
        ValueError
            If there is not one class for each point, or for `space` as in `plot`.
        TypeError
            If the classes cannot be sorted, such as numbers beside text.
        """
        from energystats.plotting.points import mark_classes

        match_index(self.index, classes, "classes")
        codes, names = as_labels(classes, self.labels.size, "classes")
        if space is None and self.points is not None and self.points.shape[1] == 1:  # below the bars of the histogram
            rows = rows_shown(self.labels)
            points = np.column_stack([self.points[rows, 0], np.zeros(rows.size)])
        else:
            rows, points, *_ = self._plane(space)
        ax = self.plot(space=space) if ax is None else ax
        return mark_classes(points, codes[rows], names, ax)

    def _plane(self, space: Any) -> Plane:
        """Return coordinates, rows and axis titles for drawing the points of a partition in a plane."""
        return choose_plane(
            space,
            self.labels,
            points=self.points,
            coordinates=self.coordinates,
            columns=self.columns,
            standardized=self.standardization is not None,
            metric=self.metric,
        )

    def plot_decomposition(self, ax: Axes | None = None) -> Axes:
        """Draw bars of total, between and within dispersion, by cluster, with the upper bound."""
        from energystats.plotting.distances import plot_parts

        return plot_parts(
            self.between,
            self.within_per_cluster.tolist(),
            ax,
            total=self.total,
            names=[f"cluster {j}" for j in range(self.k)],
            sizes=self.sizes,
            metric=self.metric,
            bound=self.bound,
        )

    def plot_means(self, ax: Axes | None = None, *, data: Any = None) -> Axes:
        """Draw a heat map of the means of data columns in each cluster, one row for each column.

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
        from energystats.plotting.points import plot_cluster_means

        match_index(self.index, data, "data")
        table, features = read_features(data, self.labels.size, points=self.points, columns=self.columns)
        means = compute_cluster_means(table, self.labels, self.k)
        return plot_cluster_means(means, ax, features=features, sizes=self.sizes)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw the within dispersion after every pass of the search."""
        from energystats.plotting.points import plot_path

        path = np.array([self.within]) if self.path is None else self.path
        n, k = self.labels.size, self.k
        return plot_path(path, ax, within=self.within, algorithm=self.algorithm, k=k, n=n, n_init=self.n_init)


def make_partition(
    d: Dissimilarity,
    labels: IntArray,
    k: int,
    *,
    algorithm: str,
    n_init: int,
    n_iter: int,
    converged: bool,
    n_perturb: int = 0,
    weights: FloatArray | None = None,
    path: FloatArray | None = None,
    moves: IntArray | None = None,
) -> Partition:
    """Build the `Partition` result of given labels: renumbered clusters, dispersions, bound and coordinates.

    Points that are labelled -1 are in no cluster, and no part of the dispersions.
    """
    if labels.min() < 0:
        return _without_points(d, labels, k, algorithm)
    # M = Z'RZ has W, S and T, and the order of the clusters
    M, s = d.group_sums(Groups(labels, tuple(range(k))), weights)
    numbers, breaks = find_numbers(d.coordinates, labels, M, s)
    order, labels = np.argsort(numbers), numbers[labels]
    M, s = M[np.ix_(order, order)], s[order]
    if moves is not None:
        moves = np.column_stack([moves[:, :1], numbers[moves[:, 1:]]])
    within = statistics.within_per_cluster(M, s)
    between, total = float(statistics.between(M, s)), float(statistics.total(M, s))
    coordinates = None
    if d.coordinates is not None:
        values = d.largest_eigenvalues(k - 1, weights) if k > 1 else np.empty(0)
    else:
        values, vectors = d.largest_eigenpairs(max(k - 1, 2), weights)
        if weights is not None:  # eigenvectors of the weighted matrix carry the roots of the weights
            vectors = vectors / np.sqrt(weights)[:, None]
        coordinates = _two_coordinates(values, vectors)
    return Partition(
        labels=labels,
        k=k,
        sizes=tuple(np.bincount(labels, minlength=k).tolist()),
        within=float(within.sum()),
        between=between,
        total=total,
        within_per_cluster=within,
        bound=eigenvalue_bound(values, k),
        algorithm=algorithm,
        n_init=n_init,
        n_perturb=n_perturb,
        n_iter=n_iter,
        converged=converged,
        breaks=breaks,
        path=path,
        moves=moves,
        masses=None if weights is None else s,
        metric=d.metric,
        standardization=d.standardization,
        points=d.coordinates,
        columns=d.columns,
        index=d.index,
        coordinates=coordinates,
        notes=note_negative(float(within.sum()), between, total, tested=False),
    )


def find_numbers(
    points: FloatArray | None, labels: IntArray, M: FloatArray, s: FloatArray
) -> tuple[IntArray, FloatArray | None]:
    """Compute new cluster numbers, (k,), and breaks between clusters that are intervals of one column, else None.

    Intervals are numbered from left to right.

    Others are numbered from M = Z'RZ and the sums of weights, the heaviest first.
    """
    found = find_intervals(points, labels, s.size)
    return (numbering_by_sums(labels, M, s), None) if found is None else found


def find_intervals(points: FloatArray | None, labels: IntArray, k: int) -> tuple[IntArray, FloatArray] | None:
    """Compute left-to-right numbers, (k,), and breaks, (k - 1,), of clusters that are intervals; else None."""
    if points is None or points.shape[1] != 1:
        return None
    x, low, high = points[:, 0], np.full(k, np.inf), np.full(k, -np.inf)
    np.minimum.at(low, labels, x)
    np.maximum.at(high, labels, x)
    order = np.argsort(low)
    left, right = high[order][:-1], low[order][1:]
    if not (left < right).all():
        return None
    numbers = np.empty(k, np.intp)
    numbers[order] = np.arange(k)
    return numbers, midpoints(left, right)


def midpoints(left: FloatArray, right: FloatArray) -> FloatArray:
    """Compute break values between neighbouring clusters on a line, halfway between their nearest points."""
    middle = left + 0.5 * (right - left)
    return np.where(middle < right, middle, left)


def _two_coordinates(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the first two principal coordinates of eigenpairs, zeros where there are fewer; (n, 2)."""
    coordinates = np.zeros((len(vectors), 2))
    coordinates[:, : vectors.shape[1]] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, :2]
    return coordinates


def _without_points(d: Dissimilarity, labels: IntArray, k: int, algorithm: Any) -> Partition:
    """Build the partition of the points that are in clusters; the other points keep the label -1."""
    inside = np.flatnonzero(labels >= 0)
    found = make_partition(d.subset(inside), labels[inside], k, algorithm=algorithm, n_init=0, n_iter=0, converged=True)
    labels = np.full(d.n, -1, dtype=np.intp)
    labels[inside] = found.labels
    left_out = f"{d.n - inside.size} of {d.n} points are in no cluster (label -1); W, S and T are those of the others."
    coordinates = None if found.coordinates is None else _two_coordinates(*d.largest_eigenpairs(2))
    points = d.coordinates if found.points is not None else None
    return replace(
        found, labels=labels, points=points, coordinates=coordinates, index=d.index, notes=(*found.notes, left_out)
    )


@dataclass(frozen=True, slots=True, eq=False)
class NearestCluster:
    """Assign points to clusters: argmin over l of 2 g(x, C_l) - g(C_l, C_l), where g is the mean rho between two sets.

    This is the cluster whose energy distance from a point mass at x is smallest.
    """

    averages: FloatArray  # (n, k) indicators of the clusters, times the weights, divided by their sums
    own_means: FloatArray  # (k,) g(C_l, C_l)

    @classmethod
    def of(cls, labels: IntArray, within_per_cluster: FloatArray, weights: FloatArray | None = None) -> Self:
        """Build the rule that assigns new points to clusters, from labels and within dispersions of the clusters."""
        Z = (labels[:, None] == np.arange(within_per_cluster.size)).astype(np.float64)
        if weights is not None:
            Z *= weights[:, None]
        return cls(Z / Z.sum(axis=0), 2 * within_per_cluster / Z.sum(axis=0))

    def assign(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> IntArray:
        """Assign each new point to its nearest cluster, given a function that computes dissimilarities; (m,)."""
        return np.asarray(self.squared_distances(n_points, rho_of_rows).argmin(axis=1), dtype=np.intp)

    def squared_distances(self, n_points: int, rho_of_rows: Callable[[slice], FloatArray]) -> FloatArray:
        """Compute squared distances of points to cluster means in the feature space of rho; (m, k)."""
        blocks = [
            rho_of_rows(slice(i, i + ROWS_PER_BLOCK)) @ self.averages - self.own_means / 2
            for i in range(0, n_points, ROWS_PER_BLOCK)
        ]
        return np.concatenate(blocks)
