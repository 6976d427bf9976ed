"""Energy clustering as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from energystats._runtime import check_work
from energystats._typing import AnyArray, ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.energy_cluster import as_algorithm
from energystats.clustering.landmarks import NearestCentre
from energystats.clustering.partition import NearestCluster, Partition
from energystats.clustering.search import STARTS, Algorithm, Search
from energystats.dissimilarity import Dissimilarity, check_blocks, of_z_scores
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.inputs.arrays import (
    DIVIDE,
    as_array,
    as_numbers,
    as_points,
    as_weights,
    check_dense,
    check_not_path,
    numbers_of_objects,
)
from energystats.inputs.options import as_generator, check_count, check_flag
from energystats.inputs.places import Place, row_places
from energystats.inputs.table import InputTable, as_table, other_columns
from energystats.metrics.base import Metric, MetricLike, is_named
from energystats.metrics.general import Precomputed
from energystats.metrics.gower import Gower
from energystats.pairs.disk import Rows
from energystats.pairs.open_blocks import opened

__all__ = ["EnergyClustering"]


class EnergyClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Cluster points by minimising W, as a scikit-learn estimator with fit, predict, transform and score.

    Parameters
    ----------
    n_clusters : int, default 2
        Number of clusters.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho. With "precomputed", `fit` takes its (n, n) matrix and `predict` rho from new points to
        the fitted ones, (m, n). With "gower", both take tables of numbers and categories, and `predict` the
        categories that `fit` has seen or a categorical column declared.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    algorithm : {"auto", "hartigan", "lloyd", "exact-1d", "spectral", "landmarks"} or object, default "auto"
        As for `energy_cluster`.
    init : {"k-means++", "random", "spectral"} or array_like of shape (n,), default "k-means++"
        As for `energy_cluster`.
    n_init : int, default 10
        Starts; the lowest W wins.
    max_iter : int, default 300
        Passes over the data for each search.
    standardize : bool, default False
        Column z-scores (divisor n) before distances; new points get the same centre and scale.
    random_state : int, Generator, RandomState or None, default None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row. Clusters are numbered from the largest to the smallest, whatever the order of the rows
        (ties: see `Partition`), those of "exact-1d" from left to right.
    within_, between_, total_ : float
        W, S and T.
    bound_ : float
        Eigenvalue bound on S.
    n_iter_ : int
        Passes of the best start.
    partition_ : Partition
        The full result, with its summary and plot; of the rows with a weight above 0.
    index_ : pandas.Index or None
        Names of the rows seen by `fit`, None without any: functions that take the estimator for its labels match them.
    n_features_in_ : int
        Columns seen by `fit`.

    Raises
    ------
    ValueError
        By `fit`: as `energy_cluster`. By `predict`: if the columns differ from those fitted.
    TypeError
        As `energy_cluster`: if the table does not hold real numbers. An array of Python objects, which functions
        refuse, may hold numbers here, as scikit-learn asks.
    MemoryError
        By `fit`: if the work would not fit into the available memory.

    Warns
    -----
    ConvergenceWarning, NotNegativeTypeWarning, PerformanceWarning
        By `fit`: as `energy_cluster`. The second also by the other methods, if rho to a fitted point is negative.

    See Also
    --------
    energy_cluster : The function behind it.

    Notes
    -----
    `fit` costs O(n^2 d) time and O(n^2) memory (less for "exact-1d" and "landmarks"), `predict` O(m n d) time. What
    `predict` does with fitted rows, and where rho is not of negative type, is in ``docs/clustering.md``.

    References
    ----------
    Franca, Rizzo & Vogelstein, algorithm 1.

    Examples
    --------
    >>> import energystats as es
    >>> model = es.EnergyClustering(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> model.labels_.tolist(), model.predict([[2.0], [7.0]]).tolist()
    ([0, 0, 1, 1], [0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        metric: MetricLike = "euclidean",
        alpha: float = 1.0,
        algorithm: str | Algorithm = "auto",
        init: str | ArrayLike = "k-means++",
        n_init: int = STARTS,
        max_iter: int = 300,
        standardize: bool = False,
        random_state: RandomLike | np.random.RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.alpha = alpha
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_named(self.metric, "precomputed") or isinstance(self.metric, Precomputed)
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = self._takes_tables()
        return tags

    def _takes_tables(self) -> bool:
        return isinstance(self.metric, Gower) or is_named(self.metric, "gower")

    def _table(self, X: ArrayLike, **how: Any) -> Any:
        """Check shape and column names of X as scikit-learn requires, and return its values."""
        if as_algorithm(self.algorithm).reads_blocks:
            (X,), _ = opened((X,), {})
        given = as_table(X)
        read = given.values
        if isinstance(read, Rows):
            validate_data(self, read.header(), **{**how, "ensure_min_samples": 1})
            self._match_names(given, fits="reset" not in how)
            return read
        check_not_path(read, "X")
        check_dense(read, "X")
        table = read if hasattr(read, "columns") else as_array(read, "X")
        _check_two_dimensional(table, square="reset" not in how and self.__sklearn_tags__().input_tags.pairwise)
        validate_data(self, _stand_in(table), dtype=None, **how)
        self._match_names(given, fits="reset" not in how)
        if self._takes_tables():
            return read if isinstance(read, list | tuple) else table  # numbers beside text in a list are numbers
        return table if hasattr(table, "columns") or table.dtype.kind != "O" else numbers_of_objects(table, "X")

    def _match_names(self, table: InputTable, *, fits: bool) -> None:
        """Keep the names of rows and columns, or raise ValueError if columns differ; scikit-learn compares only texts.

        Numbers of columns in their order, which tables made of arrays have, may stand for any names.
        """
        if fits:
            self.index_: Any = table.index
            self._names = table.columns
            return
        fitted, names = self._names, table.columns
        if names is None or fitted is None or names == fitted:
            return
        if tuple(map(str, range(len(names)))) not in (names, fitted) or sorted(names) == sorted(fitted):
            raise ValueError(other_columns(fitted, names, "the latter", "X", "`X` and the table that was fitted"))

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of X, store them in attributes, and return the estimator.

        Parameters
        ----------
        X : array_like of shape (n, d), or (n, n) when precomputed
            Points, or the matrix of rho. For "landmarks" also a Parquet file's path, a memory map or a Dask collection,
            here and in the other methods; Dask collections are handled by the client in force.
        y : object
            Ignored.
        sample_weight : array_like of shape (n,), optional
            Weights of the rows, 0 or positive, the largest at most 1e9 times the smallest positive one; whole numbers
            count as repeated rows, except in what is taken from the data: z-scores, a sigma, variances or a covariance
            of a metric, and the totals of "chi2". Rows of weight 0 are left out, and get the label of the nearest
            cluster; categories that these alone have must be declared, in a categorical column.

        Returns
        -------
        EnergyClustering
            The estimator itself.
        """
        check_flag(self.standardize, "standardize")
        algorithm = as_algorithm(self.algorithm)
        search = Search(k=self.n_clusters, init=self.init, n_init=self.n_init, max_iter=self.max_iter)
        table = self._table(X, ensure_min_samples=2)
        _, (sample_weight, init) = opened((table,), {"sample_weight": sample_weight, "init": self.init})
        self._rows, weights = _weighted_rows(sample_weight, len(table))
        if isinstance(init, InputTable) and self._rows is not None and np.shape(init.values) == (len(table),):
            init = init.take(self._rows)
        search = replace(search, init=init)
        d = Dissimilarity.from_data(
            self._weighted_part(table),
            metric=self.metric,
            alpha=self.alpha,
            standardize=self.standardize,
            place=_places_in(X, len(table), self._rows),
        )
        if weights is not None:
            d.check_weights(weights, "sample_weight")
        check_count(self.n_clusters, "n_clusters", low=1, high=d.n, why=", the number of points")
        with _naming_n_clusters():
            search = search.on(d, weights)
            algorithm, d = algorithm.chosen(d, search)
            check_work(False, d, *algorithm.work(d, search))
            found, rule = algorithm.fit(d, search, as_generator(self.random_state, "random_state"))
        self.partition_: Partition = found
        self._nearest: NearestCluster | NearestCentre = rule or NearestCluster.of(
            self.partition_.labels, self.partition_.within_per_cluster, weights
        )
        self._points: FloatArray | None = rule.map.landmarks if rule else d.points if d.has_points else None
        self.labels_: IntArray = np.array(self.partition_.labels) if self._rows is None else self.predict(X)
        if self._rows is not None:
            self.labels_[self._rows] = self.partition_.labels
        self.within_: float = self.partition_.within
        self.between_: float = self.partition_.between
        self.total_: float = self.partition_.total
        self.bound_: float = self.partition_.bound
        self.n_iter_: int = self.partition_.n_iter
        self._n_features_out = search.k
        return self

    def _weighted_part(self, table: Any) -> Any:
        """Return the rows of a table with positive weight; of a dissimilarity matrix these rows and columns."""
        if self._rows is None:
            return table
        if isinstance(table, Rows):
            raise ValueError("`sample_weight` must be positive where `X` is read in blocks; leave rows of 0 out.")
        if self.__sklearn_tags__().input_tags.pairwise:
            return _safe_indexing(_safe_indexing(table, self._rows), self._rows, axis=1)
        return _safe_indexing(table, self._rows)

    def predict(self, X: ArrayLike) -> IntArray:
        """Assign each new point to the nearest cluster mean in the feature space of rho; return cluster numbers; (m,).

        The nearest one has the least 2 g(x, C_l) - g(C_l, C_l), where g is the mean rho between two sets.

        Parameters
        ----------
        X : array_like of shape (m, d), or (m, n) when precomputed
            New points, or their rho to the fitted ones.

        Returns
        -------
        ndarray of shape (m,)
            Cluster of each row.
        """
        return self._from_distances(X, _nearest)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Compute squared distances of new points to the cluster means in the feature space of rho; (m, k).

        Parameters
        ----------
        X : array_like of shape (m, d), or (m, n) when precomputed
            New points, or their rho to the fitted ones.

        Returns
        -------
        ndarray of shape (m, k)
            g(x, C_l) - g(C_l, C_l)/2, in the unit of rho; for ``alpha=2`` the squared distance to the mean. From
            landmarks the squared distance to the mean of the coordinates in the landmarks' span, plus that of the
            point from this span.
        """
        return self._from_distances(X, np.asarray)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Compute minus the (weighted) sum of squared feature-space distances of rows to their nearest cluster mean.

        Parameters
        ----------
        X : array_like of shape (m, d), or (m, n) when precomputed
            Points, or their rho to the fitted ones.
        y : object
            Ignored.
        sample_weight : array_like of shape (m,), optional
            Weights of the rows, 0 or positive, the largest at most 1e9 times the smallest positive one.

        Returns
        -------
        float
            For the fitted rows minus W, if every row is in its nearest cluster; from landmarks minus the larger of
            `.approximation.within_limits`, to rounding, and not minus the estimate of W. Larger is better.
        """
        check_is_fitted(self, "partition_")
        table = self._table(X, reset=False)
        _, (sample_weight,) = opened((table,), {"sample_weight": sample_weight})
        lowest = self._read_distances(table, _smallest)
        rows, weights = _weighted_rows(sample_weight, lowest.size)
        lowest = lowest if rows is None else lowest[rows]
        return -float(lowest.sum() if weights is None else weights @ lowest)

    def _from_distances(self, X: ArrayLike, read: Callable[[FloatArray], AnyArray]) -> AnyArray:
        """Check X, and return what a function makes of the squared distances from its rows to the cluster means."""
        check_is_fitted(self, "partition_")
        return self._read_distances(self._table(X, reset=False), read)

    def _read_distances(self, points: Any, read: Callable[[FloatArray], AnyArray]) -> AnyArray:
        """Return what a function makes of the squared distances from checked points to the cluster means.

        A table that is read in blocks of rows is handled block by block.
        """
        if isinstance(points, Rows):
            scaling, place = self.partition_.standardization, row_places(["X"], [len(points)], [None])
            if scaling is not None:
                points, place = points.standardized(scaling.center, scaling.scale), of_z_scores(place)
            check_blocks(points, self.partition_.metric, place)
            rule = self._nearest, self.partition_.metric, self._points
            return np.concatenate(list(points.values().map(_read_in, *rule, read)))
        if self._points is not None:
            fitted, place = self.partition_, _places_in(points, len(points), None)
            (points,), _ = fitted.metric.read((points,), ("X",))
            compared = points
            if fitted.standardization is not None:
                compared, place = fitted.standardization.apply(points), of_z_scores(place)
            fitted.metric.check(compared, place, self._columns(), within=False)
        else:
            points = as_points(points, "X")
        signs = _Signs(self._rho_to_fitted)
        found = read(self._nearest.squared_distances(len(points), lambda rows: signs.of(points[rows])))
        signs.warn_of_negative()
        return found

    def _columns(self) -> list[str] | None:
        """Return the names of the columns on which the estimator was fitted, as strings; None if they had none."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(map(str, names))

    def _rho_to_fitted(self, rows: FloatArray) -> FloatArray:
        found = self.partition_
        if self._points is None:
            return rows if self._rows is None else rows[:, self._rows]
        if found.standardization is not None:
            rows = found.standardization.apply(rows)
        return found.metric.finite_between(rows, self._points)


class _Signs:
    """Compute rho from blocks of new points to the fitted points, and count the negative values.

    Parameters
    ----------
    rho : callable
        From a block of new points to the fitted ones.
    """

    def __init__(self, rho: Callable[[FloatArray], FloatArray]) -> None:
        self.rho = rho
        self.count, self.smallest = 0, 0.0

    def of(self, rows: FloatArray) -> FloatArray:
        """Compute dissimilarities from a block of new points to the fitted ones, and count those below 0."""
        rho = self.rho(rows)
        if (lowest := float(rho.min(initial=0.0))) < 0:
            self.count += int(np.count_nonzero(rho < 0))
            self.smallest = min(self.smallest, lowest)
        return rho

    def warn_of_negative(self) -> None:
        """Warn if some dissimilarity of a new to a fitted point was negative, so that cluster means make no sense."""
        if self.count:
            warn(
                f"{self.count} of the rho from `X` to the fitted points are negative (smallest {self.smallest:.6g}): "
                "such a rho is not of negative type, and the nearest cluster need not be the one with the lowest W. "
                "Distances are never negative.",
                NotNegativeTypeWarning,
            )


@contextmanager
def _naming_n_clusters() -> Iterator[None]:
    """Rewrite errors on the number of clusters inside a `with` block to name `n_clusters` instead of `k`."""
    try:
        yield
    except ValueError as error:
        if "`k`" not in str(error):
            raise
        raise ValueError(str(error).replace("`k`", "`n_clusters`")) from error


def _places_in(X: Any, n: int, rows: IntArray | None) -> Place:
    """Return a function that describes a row in messages by its place in X, also where only some rows of X are used."""
    place = row_places(["X"], [n], [as_table(X).index])
    return place if rows is None else lambda row: place(int(rows[row]))


def _check_two_dimensional(table: Any, *, square: bool) -> None:
    """Raise ValueError unless a table is two-dimensional and real, with the messages that scikit-learn asks for.

    "Reshape your data" and "Complex data not supported" are what scikit-learn asks its estimators to say; `square` says
    whether the table is to be a matrix of rho.
    """
    if table.ndim != 2:
        advice = "Reshape your data: `np.reshape(X, (-1, 1))` if it is one column, `np.reshape(X, (1, -1))` if one row."
        if table.ndim > 2:
            advice = "Reshape your data, so that each point is one row: `np.reshape(X, (len(X), -1))`."
        elif square:
            advice = "`scipy.spatial.distance.squareform(X)` makes a matrix of a condensed vector."
        got = f"shape {table.shape}" if table.ndim else f"the single value {table.item()!r:.60}"
        raise ValueError(f"`X` must be two-dimensional, got {got}. {advice}")
    if not hasattr(table, "columns") and table.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: `X` must hold real numbers, got {table.dtype} in shape {table.shape}; take "
            "`X.real`, or real and imaginary parts as columns of their own."
        )


def _stand_in(table: Any) -> Any:
    """Return zeros that take little memory, with the columns of a given table, for scikit-learn's checks.

    They have at most two rows for a data frame, else the shape of the table.
    """
    if hasattr(table, "columns") and table.shape[1]:
        import pandas as pd

        return pd.DataFrame(np.zeros((min(len(table), 2), table.shape[1])), columns=table.columns)
    return np.broadcast_to(np.zeros(()), table.shape)


def _nearest(squared: FloatArray) -> IntArray:
    """Find the nearest cluster of each point; squared distances (m, k) -> numbers (m,)."""
    return np.asarray(squared.argmin(axis=1), dtype=np.intp)


def _smallest(squared: FloatArray) -> FloatArray:
    """Find the squared distance of each point to its nearest cluster; (m, k) -> (m,)."""
    return np.asarray(squared.min(axis=1))


def _read_in(
    points: FloatArray,
    rule: NearestCluster | NearestCentre,
    metric: Metric,
    fitted: FloatArray,
    read: Callable[[FloatArray], AnyArray],
) -> AnyArray:
    """Return what a function makes of the squared distances from a block of points to the cluster means."""
    return read(rule.squared_distances(len(points), lambda rows: metric.finite_between(points[rows], fitted)))


def _weighted_rows(sample_weight: ArrayLike | None, n: int) -> tuple[IntArray | None, FloatArray | None]:
    """Return the rows with positive weight, None for all rows, and their weights, None if these are equal."""
    if sample_weight is None:
        return None, None
    weights = as_numbers(sample_weight, "sample_weight", cure=DIVIDE)
    if weights.shape == (n,) and (weights < 0).any():
        low = int(weights.argmin())
        raise ValueError(f"`sample_weight` must not be negative, got {weights[low]:.6g} at position {low}.")
    if weights.shape != (n,) or not weights.size or weights.min() != 0:
        return None, as_weights(sample_weight, n, "sample_weight")
    rows = np.flatnonzero(weights)
    if not rows.size:
        raise ValueError("`sample_weight` must not be zero everywhere: no row has a weight.")
    return rows, as_weights(weights[rows], rows.size, "sample_weight")
