"""Energy clustering as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.assign import NearestCluster
from energystats.clustering.search import ALGORITHMS, partition_points
from energystats.dissimilarity import Dissimilarity
from energystats.metrics import Gower, MetricLike
from energystats.validation import as_generator, check_count, check_option

__all__ = ["EnergyClustering"]


class EnergyClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Energy clustering with the scikit-learn protocol.

    Parameters
    ----------
    n_clusters : int, default 2
        Number of clusters.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho. With "precomputed", `fit` takes its (n, n) matrix and `predict` rho from new points to
        the fitted ones, (m, n). With "gower", both take tables of numbers and categories, and `predict` the
        categories that `fit` has seen or a categorical column declared.
    alpha : float, default 1.0
        Power of a named distance, 0 < alpha <= 2.
    algorithm : {"auto", "hartigan", "lloyd", "exact-1d", "spectral"}, default "auto"
        As for `energy_cluster`.
    init : {"k-means++", "random", "spectral"} or array_like of shape (n,), default "k-means++"
        As for `energy_cluster`.
    n_init : int, default 10
        Starts; the lowest W wins.
    max_iter : int, default 300
        Passes over the data for each start.
    standardize : bool, default False
        Column z-scores (divisor n) before distances; new points get the same centre and scale.
    random_state : int, Generator, RandomState or None, default None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row.
    within_, between_, total_ : float
        W, S and T.
    bound_ : float
        Eigenvalue certificate on S.
    n_iter_ : int
        Passes of the best start.
    partition_ : Partition
        The full result, with its summary and plot.
    n_features_in_ : int
        Columns seen by `fit`.

    Raises
    ------
    ValueError
        By `fit`: as `energy_cluster`. By `predict`: if the columns differ from those fitted.

    See Also
    --------
    energy_cluster : The function behind it.

    Notes
    -----
    `fit` costs O(n^2 d) time and O(n^2) memory, `predict` O(m n d) time. On the rows it was fitted to, `predict`
    gives back the labels of Hartigan's method when rho is of negative type [G thm 5].

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
        algorithm: str = "auto",
        init: str | ArrayLike = "k-means++",
        n_init: int = 10,
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
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = self._takes_tables()
        return tags

    def _takes_tables(self) -> bool:
        return isinstance(self.metric, Gower) or (isinstance(self.metric, str) and self.metric == "gower")

    def _table(self, X: ArrayLike, **how: Any) -> Any:
        """Names and number of the columns checked, and the values too unless they may be categories."""
        if not self._takes_tables():
            return validate_data(self, X, dtype=np.float64, **how)
        if hasattr(X, "columns") or np.asarray(X).dtype.kind not in "iufc":
            return validate_data(self, X, skip_check_array=True, **how)
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", **how)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, d), or (n, n) when precomputed
            Points, or the matrix of rho.
        y : object
            Ignored.

        Returns
        -------
        EnergyClustering
            The estimator itself.
        """
        check_option(self.algorithm, "algorithm", ALGORITHMS)
        n_init = check_count(self.n_init, "n_init", low=1)
        max_iter = check_count(self.max_iter, "max_iter", low=1)
        table = self._table(X, ensure_min_samples=2)
        d = Dissimilarity.from_data(table, metric=self.metric, alpha=self.alpha, standardize=self.standardize)
        self.partition_ = partition_points(
            d,
            check_count(self.n_clusters, "n_clusters", low=1),
            algorithm=self.algorithm,
            init=self.init,
            n_init=n_init,
            max_iter=max_iter,
            rng=as_generator(self.random_state, "random_state"),
        )
        self._points = d.points
        self._nearest = NearestCluster.of(self.partition_.labels, self.partition_.within_per_cluster)
        self.labels_: IntArray = np.array(self.partition_.labels)
        self.within_ = self.partition_.within
        self.between_ = self.partition_.between
        self.total_ = self.partition_.total
        self.bound_ = self.partition_.bound
        self.n_iter_ = self.partition_.n_iter
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Nearest cluster of new points by energy, argmin over l of 2 g(x, C_l) - g(C_l, C_l).

        Parameters
        ----------
        X : array_like of shape (m, d), or (m, n) when precomputed
            New points, or their rho to the fitted ones.

        Returns
        -------
        ndarray of shape (m,)
            Cluster of each row.
        """
        check_is_fitted(self, "partition_")
        points = self._table(X, reset=False)
        if self._points is not None:
            (points,), _ = self.partition_.metric.read((points,), ("X",))
        return self._nearest.assign(len(points), lambda rows: self._rho_to_fitted(points[rows]))

    def _rho_to_fitted(self, rows: FloatArray) -> FloatArray:
        found = self.partition_
        if self._points is None:
            return rows
        if found.standardization is not None:
            rows = found.standardization.apply(rows)
        return found.metric.finite_between(rows, self._points)
