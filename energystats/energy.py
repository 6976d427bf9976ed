"""Compute distances, the energy distance of two samples, and dispersions W + S = T of labelled points [theory 1, 3]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._core import statistics
from energystats._core.statistics import is_negative, share
from energystats._runtime import check_work
from energystats._typing import ArrayLike, FloatArray, RandomLike
from energystats.display.numbers import numbers
from energystats.display.result import Result
from energystats.display.sentences import metric_note, metric_text
from energystats.display.tables import TextTable, cut_all, decomposition_table, text_table
from energystats.dissimilarity import Dissimilarity, Groups, warn_of_other_space
from energystats.inputs.arrays import as_weights
from energystats.inputs.labels import read_inputs
from energystats.inputs.methods import Sliced, read_method
from energystats.inputs.options import as_generator, check_flag, check_option
from energystats.inputs.table import InputTable, as_table, match_rows
from energystats.metrics.base import MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.open_blocks import opened
from energystats.pairs.workloads import SAMPLE_LESS, Size, one_sum, pairs_work, slices

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["Dispersion", "check_two_groups", "dispersion", "energy_distance", "pairwise"]


WEIGHTED = "Rows are weighted: sums of weights take the place of the sizes."


def pairwise(X: ArrayLike, Y: ArrayLike | None = None, *, metric: MetricLike = "euclidean", alpha: float = 1.0) -> Any:
    r"""Compute the matrix of dissimilarities between the rows of two tables.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed, which comes back checked.
    Y : array_like of shape (m,) or (m, d), optional
        Other points; X itself when None.
    metric : str, Metric or callable, default "euclidean"
        "euclidean", "exponential", "gaussian", any name of `scipy.spatial.distance.cdist`, "gower" (data frames with
        numeric and categorical columns), "precomputed", an object of `energystats.metrics`, or a callable
        rho(X, Y) -> (n, m). Names of R and scikit-learn that mean the same are taken, too, see `metrics.resolve`.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.

    Returns
    -------
    ndarray or DataFrame of shape (n, m)
        Values rho(x_i, y_j), in the unit of the distance to the power alpha; where X or Y is an object of pandas, a
        frame with the names of their rows. Parameters that depend on the data (``sigma=None``, variances, ranges) are
        fitted to X.

    Raises
    ------
    ValueError
        If a value is not finite, the column counts differ, the metric is unknown, `alpha` is below 0.001 or above 2, or
        the metric cannot compare a row, see Notes; the message names it.
    TypeError
        If the input does not hold real numbers; truth values go with metrics of presence and absence alone.

    Warns
    -----
    ColumnScaleWarning
        If the columns' standard deviations differ more than 100 times, and the metric adds their differences.
    MatrixAsPointsWarning
        If X is square and symmetric with a zero diagonal, as a matrix of dissimilarities is.

    See Also
    --------
    energy_distance : The distance between two samples.

    Notes
    -----
    Euclidean distances come from coordinate differences, so an offset of the data costs no digits.
    O(n m d) time, O(n m) memory.

    "braycurtis" and "jensenshannon" need numbers that are not negative; "dice", "jaccard", "rogerstanimoto",
    "russellrao", "sokalsneath" and "yule" 0 and 1, or truth values. A row of zeros has no "braycurtis", "cosine",
    "dice", "jensenshannon" or "sokalsneath" distance to others, a constant row no "correlation" distance. None of the
    count metrics goes with ``standardize=True``, and neither does "canberra".

    "canberra" is the sum over columns of \|x - y\|/(\|x\| + \|y\|), 0 where both are 0. With d columns of which k are
    not 0 in both rows, R's `dist` gives d/k times this, vegan's `vegdist` 1/k times, which is
    `metrics.Canberra(scaled=True)`. The Jaccard index of vegan for amounts is "ruzicka"; for 0 and 1 it is "jaccard".

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 2 and 21 for the semimetrics.

    Examples
    --------
    >>> import energystats as es
    >>> es.pairwise([[0.0, 0.0], [3.0, 4.0]]).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    resolved = resolve(metric, alpha)
    if Y is None:
        d = Dissimilarity.from_data(X, metric=metric, alpha=alpha)
        check_work(False, d, pairs_work(Size.of(d), 2.0, SAMPLE_LESS))
        return _with_names(np.array(d.matrix), X, X)
    if isinstance(resolved, Precomputed):
        raise ValueError('`Y` must be None when metric="precomputed": X already is the matrix.')
    return _with_names(resolved(X, Y), X, Y)


def _with_names(rho: FloatArray, rows: Any, columns: Any) -> Any:
    """Return a matrix as a data frame with row and column names if either table is from pandas, else unchanged."""
    if not any(hasattr(table, "iloc") for table in (rows, columns)):
        return rho
    import pandas as pd

    indices = (getattr(table, "index", None) if hasattr(table, "iloc") else None for table in (rows, columns))
    # the index of a condensed matrix names pairs
    names = (None if index is None or len(index) != n else index for index, n in zip(indices, rho.shape, strict=True))
    return pd.DataFrame(rho, *names)


def energy_distance(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    estimator: str = "v",
    sample_weight: ArrayLike | Sequence[ArrayLike | None] | None = None,
    method: str | Sliced = "complete",
    standardize: bool = False,
    rng: RandomLike = None,
) -> float:
    r"""Compute the energy distance E between the distributions of two samples, not its root.

    Parameters
    ----------
    x, y : array_like of shape (n,) or (n, d), and (m,) or (m, d)
        One observation per row: two samples, or one pooled table `x` with `groups`.
    groups : array_like of shape (n + m,), optional
        Two groups of the rows of the pooled table.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho, as for `pairwise`; with "precomputed" the pooled table is its matrix.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 only means are compared.
    estimator : {"v", "u"}, default "v"
        "v": means over all pairs, never negative for negative type. "u": pairs of a point with itself are left
        out, unbiased; may be negative.
    sample_weight : pair of array_like, or array_like of shape (n + m,), optional
        Positive weights of the rows, for "v" only: a pair ``(of_x, of_y)``, of which one may be None, in each the
        largest at most 1e9 times the smallest; with `groups` one array. Whole numbers count as repeated rows, except in
        z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    method : {"complete", "sliced"} or Sliced, default "complete"
        "complete" sums over all pairs. "sliced" is an estimate for many rows, for Euclidean distances with alpha = 1:
        the mean over 50 random directions of the energy distances along them, times a constant that makes it unbiased;
        ``es.Sliced(n_slices=200)`` takes more.
        The standard error of such an estimate is in the result of `energy_test` with ``method="sliced"``.
    standardize : bool, default False
        Z-scores (divisor n) of the pooled columns before distances.
    rng : int, Generator or None, default None
        Seed of the directions.

    Returns
    -------
    float
        :math:`2E\rho(X, Y) - E\rho(X, X') - E\rho(Y, Y')`, in the unit of rho. SciPy's one-dimensional
        `energy_distance` is its root.

    Raises
    ------
    ValueError
        If the column counts differ, there are not two groups, a value is not finite, a weight is not positive, `alpha`
        is below 0.001 or above 2, "u" is asked for with weights or with a sample of one point, or "sliced" for another
        rho.
    TypeError
        If the input does not hold real numbers.

    See Also
    --------
    energy_test : Whether the distance is larger than chance would have it.
    energy_interval : How far apart the populations may be.
    dispersion : The same sums for k groups.

    Notes
    -----
    O((n + m)^2) time, O(n + m) memory beyond 4,096 points; O((n + m) log(n + m)) for one column with
    rho = \|x - y\|. "sliced": O(n_slices (n + m) (d + log(n + m))) time, O(n + m) memory.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 1; Szekely & Rizzo (2013); Huang & Huo (2017) for random directions.

    Examples
    --------
    >>> import energystats as es
    >>> es.energy_distance([0.0, 1.0], [2.0, 3.0])
    3.0
    """
    check_option(estimator, "estimator", ("v", "u"))
    check_flag(standardize, "standardize")
    how, generator = read_method(method, None, ("complete", "sliced")), as_generator(rng)
    if how.n_bins is not None or how.stop_at is not None or how.extrapolate:
        raise ValueError("A distance has no permutations; leave `n_bins`, `stop_at` and `extrapolate` of `method` out.")
    columns = {"groups": groups, "sample_weight": sample_weight if y is None else None}
    samples, (groups, pooled) = read_inputs((x,) if y is None else (x, y), columns)
    d, two = Dissimilarity.from_samples(samples, groups, metric=metric, alpha=alpha, standardize=standardize)
    check_two_groups(two)
    given = _read_weights(samples, sample_weight if pooled is None else pooled, two)
    n, m = two.sizes.tolist()
    if estimator == "u" and given is not None:
        raise ValueError('`estimator` must be "v" with weights: a weighted U-statistic is not defined.')
    if estimator == "u" and min(n, m) < 2:
        raise ValueError(f'`estimator="u"` needs at least two points in each sample, got {n} and {m}.')
    if given is not None:
        d.check_weights(given, "sample_weight")
    size = replace(Size.of(d), slices=how.n_slices)
    check_work(False, d, one_sum(size), slices(size))
    if how.n_slices:
        d = d.sliced(how.n_slices, generator)
    # [G 1] from the 2 x 2 matrix M; "u" leaves the pairs of a point with itself out of the own means
    E = statistics.energy_distances(*d.group_sums(two, given), unbiased=estimator == "u")
    return float(E[0, 1])


def check_two_groups(groups: Groups) -> None:
    """Raise ValueError unless there are exactly two groups."""
    if groups.k != 2:
        raise ValueError(
            f"`groups` must name two groups, got {groups.k}; `dispersion` compares any number, and `pairwise_tests` "
            "has the E of all pairs."
        )


def _read_weights(samples: Sequence[InputTable], sample_weight: Any, two: Groups) -> FloatArray | None:
    """Return checked weights of two samples, given as a pair or as one pooled array; None without weights."""
    if sample_weight is None:
        return None
    if len(samples) == 1:
        pooled = as_weights(sample_weight, two.codes.size, "sample_weight")
        return np.ones(two.codes.size) if pooled is None else pooled
    if not isinstance(sample_weight, tuple | list) or len(sample_weight) != 2:
        raise ValueError(
            "`sample_weight` must be a pair of arrays, (of_x, of_y), one of which may be None; got "
            f"{type(sample_weight).__name__}{f' of {len(sample_weight)}' if hasattr(sample_weight, '__len__') else ''}."
        )
    if all(part is None for part in sample_weight):
        return None
    # one of the two may be None: its rows then have weight 1
    parts = []
    for j, (sample, part, size) in enumerate(zip(samples, sample_weight, two.sizes.tolist(), strict=True)):
        name = f"sample_weight[{j}]"
        match_rows([sample], {name: None if part is None else as_table(part)})
        read = as_weights(part, size, name)
        parts.append(np.ones(size) if read is None else read)
    return np.concatenate(parts)


def dispersion(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    client: Any = None,
) -> Dispersion:
    r"""Compute the within (W), between (S) and total (T) energy dispersion of labelled points.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed. Or the path of a Parquet file, a
        memory map, a Dask array or frame, which are read in blocks as in `energy_test`.
    labels : array_like of shape (n,), or str
        Group of each row, of any sortable kind. One group is allowed; then S = 0. Or the name of the column of a
        Parquet file or Dask frame.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    sample_weight : array_like of shape (n,), optional
        Positive weights, the largest at most 1e9 times the smallest. Whole numbers count as repeated rows, except in
        z-scores and in what a metric takes from the data (sigma, variances, a covariance).
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    client : distributed.Client, optional
        Dask cluster that does the work, as in `energy_test`.

    Returns
    -------
    Dispersion
        `.within`, `.between`, `.total`, `.sizes`, `.g` (k x k means of rho), `.labels`, in the unit of rho.

    Raises
    ------
    ValueError
        If a value is not finite, the labels have another length, are missing, or are equal and of different types (True
        and 1), weights are not positive or differ by more than a factor 1e9, a precomputed matrix is not
        symmetric with zero diagonal, or `alpha` is below 0.001 or above 2.
    TypeError
        If `X` does not hold real numbers, or labels cannot be sorted, such as numbers beside text.

    Warns
    -----
    ColumnScaleWarning, MatrixAsPointsWarning
        As `pairwise`.
    NotNegativeTypeWarning
        If rho is negative somewhere.

    See Also
    --------
    energy_test : Whether S is larger than chance would have it.
    energy_cluster : Labels that make W as small as possible.

    Notes
    -----
    With :math:`g(A, B)` the mean of rho over all ordered pairs,

    .. math:: W = \sum_j \frac{n_j}{2} g(C_j, C_j), \qquad T = \frac{n}{2} g(X, X), \qquad S = T - W .

    O(n^2) time; O(n) memory beyond 4,096 points (the pairs are summed in row blocks), O(n log n) time for
    one column with rho = \|x - y\|. With weights, sums of weights replace the sizes [D, after theorem 3].

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 3-5 and 29.

    Examples
    --------
    >>> import energystats as es
    >>> result = es.dispersion([1.0, 2.0, 6.0, 7.0], ["a", "a", "b", "b"])
    >>> result.within, result.between, result.total
    (1.0, 4.5, 5.5)
    """
    check_flag(standardize, "standardize")
    given = labels
    (X,), (labels, sample_weight) = opened((X,), {"labels": labels, "sample_weight": sample_weight}, client)
    d = Dissimilarity.from_data(X, metric=metric, alpha=alpha, standardize=standardize)
    warn_of_other_space(d, given)
    groups = Groups.from_labels(labels, d.n, name="labels")
    weights = d.read_weights(sample_weight)
    check_work(False, d, one_sum(Size.of(d)))
    # W, S and T are linear functions of M = Z'RZ, one pass over the pairs
    M, s = d.group_sums(groups, weights)
    within = statistics.within_per_cluster(M, s)
    return Dispersion(
        within=float(within.sum()),
        between=float(statistics.between(M, s)),
        total=float(statistics.total(M, s)),
        sizes=tuple(groups.sizes.tolist()),
        masses=None if weights is None else s,
        labels=groups.names,
        group_name=groups.name,
        g=statistics.group_means(M, s),
        within_per_cluster=within,
        metric=d.metric,
        standardization=d.standardization,
        notes=() if weights is None else (WEIGHTED,),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dispersion(Result):
    """Hold within, between and total energy dispersion of labelled points: W + S = T [G 4, 5, 29].

    Attributes
    ----------
    within, between, total : float
        W, S and T, in the unit of rho.
    sizes : tuple of int
        Points per group.
    masses : ndarray of shape (k,) or None
        Sums of the weights of the groups; None without weights.
    labels : tuple
        Names of the groups, in the order of `sizes`, `g` and `within_per_cluster`.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    g : ndarray of shape (k, k)
        Mean of rho between (and within) the groups [G 3].
    within_per_cluster : ndarray of shape (k,)
        The summands of W.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    masses: FloatArray | None = field(default=None, repr=False)
    labels: tuple[Any, ...]
    group_name: str = field(default="", repr=False)
    g: FloatArray = field(repr=False)
    within_per_cluster: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    def _tables(self) -> list[TextTable]:
        rows = [[str(n), w] for n, w in zip(self.sizes, numbers(self.within_per_cluster), strict=True)]
        return [
            text_table(rows, ["size", "W"], cut_all(self.labels), "Energy dispersion", self.group_name),
            decomposition_table(self.within, self.between, self.total),
        ]

    def _sentences(self) -> list[str]:
        return [*self.notes, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if is_negative(self.within, self.between, self.total):
            which = "S" if self.between < 0 else "W or T"
            return f"{which} is negative, so rho is not of negative type, and S/T is no share."
        if not self.total:
            return "All points coincide: there is no dispersion."
        if len(self.sizes) == 1:
            return "There is one group, so that all of the dispersion lies within it."
        return (
            f"{share(self.between, self.total):.1%} of the dispersion lies between the groups; some would by chance "
            "too (`energy_test`)."
        )

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per group: its size and within dispersion."""
        import pandas as pd

        index = pd.Index(list(self.labels), name=self.group_name or "group", tupleize_cols=False)
        within = self.within_per_cluster.tolist()
        frame = pd.DataFrame({"size": self.sizes, "within_per_cluster": within}, index=index)
        return frame.assign(metric=metric_text(self.metric), standardized=self.standardization is not None)

    def _main_columns(self) -> tuple[str, ...]:
        return ("size", "within_per_cluster")

    def to_matrix(self) -> pd.DataFrame:
        """Return mean dissimilarities between the groups as a square data frame; (k, k)."""
        import pandas as pd

        name = self.group_name or "group"
        index = pd.Index(list(self.labels), name=name, tupleize_cols=False)
        return pd.DataFrame(np.array(self.g), index=index, columns=index)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a heat map of mean dissimilarities between the groups, and return the axes."""
        from energystats.plotting.distances import plot_group_means

        return plot_group_means(self.g, ax, names=self.labels, sizes=self.sizes, metric=self.metric)

    def plot_decomposition(self, ax: Axes | None = None) -> Axes:
        """Draw total, between and within dispersion as bars, by group, and return the axes."""
        from energystats.plotting.distances import plot_parts

        values: dict[str, Any] = {"names": self.labels, "sizes": self.sizes, "metric": self.metric}
        return plot_parts(self.between, self.within_per_cluster.tolist(), ax, total=self.total, **values)

    def plot_distances(self, ax: Axes | None = None, *, tree: bool = True) -> Axes:
        """Draw a heat map of energy distances between the groups with a dendrogram, and return the axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        tree : bool, default True
            Whether the groups stand in the order of their dendrogram, which is drawn above; else in their own order.

        Returns
        -------
        Axes
            Of the heat map; the dendrogram is in `child_axes`.
        """
        from energystats.plotting.distances import plot_distances

        check_flag(tree, "tree")
        linkage = self._group_linkage() if tree else None
        values: dict[str, Any] = {"names": self.labels, "sizes": self.sizes, "metric": self.metric}
        return plot_distances(self._group_energies(), ax, linkage=linkage, **values)

    def plot_dendrogram(self, ax: Axes | None = None) -> Axes:
        """Draw the dendrogram of the groups joined by energy distance, and return the axes."""
        from energystats.plotting.distances import plot_group_tree

        return plot_group_tree(self._group_linkage(), ax, names=self.labels, sizes=self.sizes)

    def _group_energies(self) -> FloatArray:
        """Compute the energy distances between all pairs of groups; (k, k)."""
        return statistics.energy_distances(self.g, np.ones(len(self.sizes)))  # g is M with every size 1

    def _group_linkage(self) -> FloatArray:
        """Compute the SciPy linkage matrix of groups joined by energy distance; (k - 1, 4)."""
        from energystats._core.linkage import agglomerate, group_heights  # compiled loops

        sizes = np.array(self.sizes) if self.masses is None else self.masses
        return agglomerate(group_heights(self._group_energies(), sizes), sizes)
