"""Input validation: a sample, a distance matrix or pooled groups in, one checked object out.

Below `Dissimilarity` nothing looks at raw input again, and above it nothing knows how M = Z'RZ was computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from energystats._core.gram import centred, largest_eigenpairs
from energystats._core.scaling import deviations, exponents
from energystats._core.sums import random_directions
from energystats._runtime import check_memory
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.exceptions import ColumnScaleWarning, MatrixAsPointsWarning, warn
from energystats.inputs.arrays import read_only
from energystats.inputs.labels import as_labels, check_same_index, were_found
from energystats.inputs.matrices import as_square
from energystats.inputs.names import as_pandas, check_same_columns, column_names, label_name, matrix_index, row_index
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.closed_form import SUBSAMPLE, Euclidean, Exponential
from energystats.metrics.domains import Domain, Fault, Place, looks_like_distances, row_places
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.block_values import Measures
from energystats.pairs.disk import Rows
from energystats.pairs.line import Line, sort_line
from energystats.pairs.routes import choose_route
from energystats.pairs.slices import SlicedPairs, projection_of
from energystats.pairs.tiles import MadeAnew, Pairs, warn_if_negative
from energystats.pairs.workloads import Size, pairs_work

__all__ = [
    "Dissimilarity",
    "Groups",
    "Standardization",
    "check_blocks",
    "check_resolution",
    "check_z_scores",
    "of_z_scores",
]


TINY_WIDTH = 1e-70  # of the widest column, below which rho is looked at
HUGE_WIDTH = 1e70  # above which it is, too
SMALLEST_RHO = 1e-305  # of the widest column; below it rho loses digits
LARGEST_SUM = 1e305  # of rho over all pairs
HEAVY = 1e4  # square of the sum of weights, above which they are looked at together with rho
ORDINARY = 1e-50  # and its inverse: data between them are not scaled
SAMPLES = "the samples"  # several of them, below each other
SCALE_RATIO = 100.0  # of the columns' standard deviations, above which one of them decides every distance


@dataclass(frozen=True, slots=True, eq=False)
class Standardization:
    """Column means and standard deviations (divisor n; 1 for a constant column) of z-scores."""

    center: FloatArray
    scale: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", read_only(self.center))
        object.__setattr__(self, "scale", read_only(self.scale))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.center, self.scale)  # so that a copy is as read-only

    @classmethod
    def of(cls, points: FloatArray) -> Self:
        """Measure the columns."""
        deviation = deviations(points)
        return cls(center=points.mean(axis=0), scale=np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def from_measures(cls, measures: Measures) -> Self:
        """The same of columns measured in blocks."""
        return cls(center=measures.mean, scale=np.where(measures.width > 0, measures.deviation, 1.0))

    def apply(self, points: FloatArray) -> FloatArray:
        """Column z-scores."""
        return (points - self.center) / self.scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Dissimilarity:
    """n points and a semimetric rho between them.

    Attributes
    ----------
    metric : Metric
        With every data-dependent parameter resolved.
    points : ndarray of shape (n, d) or None
        Coordinates, standardized if asked for, or codes of a mixed table; None when the matrix of rho was given.
    R : ndarray of shape (n, n) or None
        The matrix of rho, where it was given or has been stored.
    rows : Rows or None
        The points of a table that is read in blocks; then the other two are None.
    standardization : Standardization or None
        What was done to the columns.
    columns : tuple of str or None
        Names of the columns, where the data had any.
    index : pandas.Index or None
        Names of the points, where the data had any.
    warns : bool
        Whether a negative rho is worth a warning; not for parts of points that were warned of in whole.
    directions : ndarray of shape (d, n_slices) or None
        Unit vectors, where sums over pairs are estimated from distances along them.
    exponent : int
        The points (or R) are those of the user divided by two to this power, see `near_one`.
    place : callable or None
        Where a row of the points stands in the user's tables.
    """

    metric: Metric
    points: FloatArray | None = None
    R: FloatArray | None = None
    rows: Rows | None = None
    standardization: Standardization | None = None
    columns: tuple[str, ...] | None = None
    index: Any = None
    warns: bool = True
    directions: FloatArray | None = None
    exponent: int = 0
    place: Place | None = None

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool | None = None,
        name: str = "X",
        of_negative: bool = True,
        place: Place | None = None,
    ) -> Self:
        """One table of points, or one matrix of rho when `metric` is "precomputed".

        `standardize` is None where the user has no such option; `of_negative` says whether a negative rho is worth a
        warning; `place` says where the rows of X come from, if not from X.
        """
        X = as_pandas(X)
        resolved = resolve(metric, alpha)
        if isinstance(resolved, Precomputed):
            if isinstance(X, Rows):
                raise ValueError(
                    '`client` and blocks of rows go with points; metric="precomputed" needs its matrix in memory, for '
                    "example np.asarray(X)."
                )
            if standardize:
                raise ValueError('`standardize` needs coordinates; it must be False when metric="precomputed".')
            R = as_square(X, name)
            warn_if_negative(of_negative * int(np.count_nonzero(R < 0)) // 2, float(R.min()))
            return cls(metric=resolved, R=R).named_after(X)
        if isinstance(X, Rows):
            return replace(cls.from_rows(X, resolved, standardize=standardize, name=name), warns=of_negative)
        (points,), coded = resolved.read((X,), (name,))
        _warn_of_matrix(points, coded, name)
        place = place or row_places([name], [len(points)], [row_index(X)])
        d = cls.from_points(points, coded, standardize=standardize, columns=column_names(X), place=place)
        return replace(d, warns=of_negative).named_after(X)

    @classmethod
    def from_points(
        cls,
        points: FloatArray,
        metric: Metric,
        *,
        standardize: bool | None = None,
        columns: Sequence[str] | None = None,
        warns: bool = True,
        place: Place | None = None,
    ) -> Self:
        """Clean coordinates and a metric not yet fitted to them; `place` says where their rows come from."""
        check_z_scores(metric, standardize)
        place = place or row_places(["X"], [len(points)], [None])
        standardization = Standardization.of(points) if standardize else None
        if standardization is not None:
            points, place = standardization.apply(points), of_z_scores(place)
        metric.check(points, place, columns)
        if standardization is None and warns and metric.mixes_units:
            _warn_of_scales(deviations(points), np.ptp(points, axis=0), columns, offered=standardize is not None)
        fitted = metric.fitted(points)
        if not metric.by_range:
            check_resolution(points, fitted, offered=standardize is not None)
        return cls(
            metric=fitted,
            points=points,
            standardization=standardization,
            columns=None if columns is None else tuple(columns),
            warns=warns,
            place=place,
        )

    @classmethod
    def from_rows(cls, rows: Rows, metric: Metric, *, standardize: bool | None = None, name: str = "X") -> Self:
        """A table that is read in blocks; the metric is fitted to a few rows, so it must not need all of them."""
        if metric.needs_all_rows:
            raise ValueError(
                f"{metric!r} is fitted to all rows at once, and `X` is read in blocks; name its parameters (an "
                "`es.metrics` object), or give the table as an array."
            )
        check_z_scores(metric, standardize)
        measures, place = rows.measured(), row_places([name], [len(rows)], [None])
        standardization = None
        if standardize:
            standardization = Standardization.from_measures(measures)
            rows, place = rows.standardized(standardization.center, standardization.scale), of_z_scores(place)
        check_blocks(rows, metric, place)
        sample = rows.sample(SUBSAMPLE)
        if standardization is None:
            if len(rows) <= SUBSAMPLE:
                _warn_of_matrix(sample, metric, name)
            if metric.mixes_units:
                _warn_of_scales(measures.deviation, measures.width, rows.columns, offered=standardize is not None)
        fitted = metric.fitted(sample)
        if standardization is None:
            corners = np.stack((measures.low, measures.high))
            check_resolution(corners, fitted, len(rows), offered=standardize is not None)
        return cls(
            metric=fitted,
            rows=rows,
            standardization=standardization,
            columns=rows.columns,
            index=rows.row_index,
            place=place,
        )

    @classmethod
    def from_samples(
        cls,
        samples: Sequence[ArrayLike],
        groups: Any,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool | None = None,
    ) -> tuple[Self, Groups]:
        """Samples one by one, or a pooled table and `groups`."""
        if groups is not None:
            if len(samples) != 1:
                raise ValueError(f"`groups` goes with one pooled table, got {len(samples)} samples.")
            check_same_index(samples[0], groups, "groups")
            d = cls.from_data(samples[0], metric=metric, alpha=alpha, standardize=standardize)
            return d, Groups.from_labels(groups, d.n, name="groups").at_least_two("groups")
        if len(samples) < 2:
            raise ValueError(
                f"At least two samples are needed, or one pooled table with `groups=`; got {len(samples)}."
            )
        samples = [as_pandas(sample) for sample in samples]
        resolved = resolve(metric, alpha)
        if isinstance(resolved, Precomputed):
            raise ValueError('metric="precomputed" needs one pooled matrix with `groups=`, got several samples.')
        pooled, sizes, coded, place = pool(samples, resolved)
        d = cls.from_points(pooled, coded, standardize=standardize, columns=column_names(samples[0]), place=place)
        pooled_groups = Groups.from_labels(np.repeat(np.arange(len(sizes)), sizes), d.n, name="samples")
        return d, replace(pooled_groups, names=_series_names(samples) or pooled_groups.names)

    def named_after(self, X: Any) -> Self:
        """The same points with the names of a table's rows and columns, or of a matrix' items."""
        X = as_pandas(X)
        if self.points is None:
            return replace(self, index=matrix_index(X))
        columns = column_names(X)
        return replace(self, index=row_index(X), columns=None if columns is None else tuple(columns))

    @property
    def n(self) -> int:
        """Number of points."""
        held = next(held for held in (self.points, self.rows, self.R) if held is not None)
        return len(held)

    @property
    def n_columns(self) -> int:
        """Number of columns of the points, 0 for a matrix."""
        held = self.points if self.rows is None else self.rows
        return 0 if held is None else int(held.shape[1])

    @property
    def coordinates(self) -> FloatArray | None:
        """The points where they are numbers, of which means and projections have a meaning, else None; (n, d)."""
        return self.points if self.metric.reads_numbers else None

    @cached_property
    def line(self) -> Line | None:
        """The sorted points where rho = |x - y| in one column."""
        return sort_line(self.points, self.metric)

    @cached_property
    def pairs(self) -> Pairs:
        """R as a linear map, by the cheapest route."""
        if self.directions is not None:
            if self.rows is not None:
                return SlicedPairs.of(self.n, self.rows.project, self.directions)
            assert self.points is not None
            return SlicedPairs.of(self.n, projection_of(self.points), self.directions)
        if self.rows is not None:
            return self.rows.pairs(self.metric)
        blocks = None if self.points is None else MadeAnew(self.points, self.metric, self.warns)
        return choose_route(blocks, self.R, self.line)

    @property
    def matrix(self) -> FloatArray:
        """R in whole, (n, n); computed at every call unless it is stored."""
        if self.R is not None:
            return self.R
        check_memory(pairs_work(Size(self.n)))
        self.check_at_hand()
        assert self.points is not None
        return MadeAnew(self.points, self.metric, self.warns).matrix()

    def stored(self) -> Self:
        """Hold R in memory, for methods that read it again and again."""
        return self if self.R is not None else replace(self, R=self.matrix)

    def sliced(self, n_slices: int, rng: np.random.Generator) -> Self:
        """The same points, sums over their pairs being estimated along random directions."""
        if not self.n_columns or not isinstance(self.metric, Euclidean) or self.metric.alpha != 1:
            raise ValueError(
                '`method="sliced"` estimates sums of ||x - y|| along lines and needs points with metric="euclidean" '
                f"and alpha=1, got {self.metric!r}."
            )
        return replace(self, directions=random_directions(self.n_columns, n_slices, rng))

    def check_at_hand(self) -> None:
        """Raise where points are read in blocks and a method needs all of them."""
        if self.rows is not None:
            raise ValueError(
                f"`X` is read in blocks of rows, and this needs all {self.n} of them in memory: give it as an array, "
                "for example np.asarray(X)."
            )

    def subset(self, rows: IntArray) -> Self:
        """Part of the points, under the metric fitted to all of them."""
        self.check_at_hand()
        return replace(
            self,
            points=None if self.points is None else self.points[rows],
            R=None if self.R is None else self.R[np.ix_(rows, rows)],
            index=None if self.index is None else self.index[rows],
            warns=False,
        )

    def near_one(self) -> Self:
        """The same in a unit in which squares and their inverses stay numbers, where that changes nothing but the unit.

        For results without a unit. Points of ordinary size, and metrics with a unit of their own, stay as they are.
        """
        held = self.points if self.points is not None else self.R
        assert held is not None
        size = float(np.ptp(held, axis=0).max())
        if size == 0 or ORDINARY < size < 1 / ORDINARY:
            return self
        e = int(exponents(size))
        metric = self.metric if self.points is None else self.metric.in_unit(-e)
        if metric is None:
            return self
        scaled = np.ldexp(held, -e)
        points, R = (scaled, None) if self.points is not None else (None, scaled)
        return replace(self, metric=metric, points=points, R=R, exponent=self.exponent + e)

    def rho(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Rho between two sets of points, given by their indices; (r, c)."""
        if self.R is not None:
            return self.R[np.ix_(rows, columns)]
        self.check_at_hand()
        assert self.points is not None
        return self.metric.finite_between(self.points[rows], self.points[columns])

    def group_sums(self, groups: Groups, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """M = Z'RZ of one labeling, and the group sizes (or sums of weights); (k, k), (k,)."""
        Z = groups.indicators(weights)
        return self.pairs.block_sums(Z)[0], Z.sum(axis=(0, 2))

    @cached_property
    def row_totals(self) -> FloatArray:
        """sum_j rho(x_i, x_j); (n,)."""
        return self.pairs.multiply(np.ones((self.n, 1)))[:, 0]

    @cached_property
    def scale(self) -> float:
        """sum_ij |rho(x_i, x_j)| / (2n): T, unless rho is negative somewhere; what rounding is measured against."""
        total = float(self.row_totals.sum()) if self.metric.negative_type else self.pairs.absolute_total()
        return total / (2 * self.n)

    def check_weights(self, weights: FloatArray, name: str) -> None:
        """Refuse weights with which sums over pairs are not numbers any more."""
        heavy = float(weights.sum()) ** 2
        if heavy < HEAVY:
            return
        if self.R is not None:
            largest = float(np.abs(self.R).max())
        elif self.metric.by_range or self.standardization is not None:
            largest = 0.0
        else:
            points = self.points if self.rows is None else self.rows.corners()
            assert points is not None
            largest = points.shape[1] * _rho_of_width(points, self.metric)
        if not heavy * largest < LARGEST_SUM:
            raise ValueError(
                f"`{name}` must not be that large, its sum is {weights.sum():.3g}: sums of products of weights and rho "
                "are too large for numbers; divide the weights by a constant first, or the data."
            )

    def weighted_totals(self, weights: FloatArray | None) -> FloatArray:
        """sum_j w_j rho(x_i, x_j); (n,)."""
        return self.row_totals if weights is None else self.pairs.multiply(weights[:, None])[:, 0]

    def scale_of(self, weights: FloatArray | None) -> float:
        """`scale` with weights: sum_ij w_i w_j |rho| / (2 sum w), or a bound of it where rho may be negative."""
        if weights is None:
            return self.scale
        if self.metric.negative_type:
            return float(weights @ self.weighted_totals(weights)) / (2 * float(weights.sum()))
        return self.scale * self.n * float(weights.max()) ** 2 / float(weights.sum())

    def centred_gram(self) -> FloatArray:
        """G_c = -1/2 J R J in whole, (n, n)."""
        return centred(-0.5 * self.matrix)

    def under(self, metric: Metric) -> Self:
        """The same points with another metric, not yet fitted to them."""
        if self.rows is not None:
            return type(self).from_rows(self.rows, metric)
        assert self.points is not None
        columns = self.columns or tuple(map(str, range(self.points.shape[1])))
        check_z_scores(metric, self.standardization is not None)
        metric.check(self.points, self.place or row_places(["X"], [self.n], [self.index]), columns)
        fitted = metric.under(self.metric, columns).fitted(self.points)
        if not fitted.by_range:
            check_resolution(self.points, fitted)
        return replace(self, metric=fitted, R=None)

    @property
    def all_coincide(self) -> bool:
        """Whether rho is 0 for every pair."""
        if self.R is not None:
            return not self.R.any()
        assert self.points is not None
        return not np.ptp(self.points, axis=0).any()

    def largest_eigenpairs(self, count: int, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Largest eigenvalues, falling, and unit eigenvectors of the (weighted) centred Gram matrix G_c."""
        return largest_eigenpairs(self.pairs.multiply, np.ones(self.n) if weights is None else weights, count)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Which of k groups each of n points belongs to.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Integers 0..k-1.
    names : tuple of length k
        The user's labels, sorted (or in the order of a categorical's categories).
    name : str
        Of the Series that the labels came from; empty without one.
    found : bool
        Whether a clustering is known to have found them.
    """

    codes: IntArray
    names: tuple[Any, ...]
    name: str = ""
    found: bool = False

    @classmethod
    def from_labels(cls, labels: Any, n: int, *, name: str) -> Self:
        """From labels of any sortable kind, one for each of n rows."""
        codes, names = as_labels(labels, n, name)
        return cls(codes, names, label_name(as_pandas(labels)), were_found(labels))

    def at_least_two(self, name: str) -> Self:
        """Self, if there is more than one group."""
        if self.k < 2:
            raise ValueError(f"`{name}` must name at least two groups, got only {self.names[0]!r}.")
        return self

    @property
    def k(self) -> int:
        """Number of groups."""
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """Points per group; (k,)."""
        return np.bincount(self.codes, minlength=self.k).astype(np.intp)

    def mass(self, weights: FloatArray | None) -> FloatArray:
        """Sum of the weights of every group, its size without weights; (k,)."""
        return np.bincount(self.codes, weights, minlength=self.k).astype(np.float64)

    def members(self) -> tuple[IntArray, ...]:
        """Row indices of every group."""
        return tuple(np.flatnonzero(self.codes == j) for j in range(self.k))

    def indicators(self, weights: FloatArray | None = None) -> FloatArray:
        """Z of a single labeling, times the weights; (n, k, 1)."""
        Z = (self.codes[:, None] == np.arange(self.k)).astype(np.float64)
        if weights is not None:
            Z *= weights[:, None]
        return np.asarray(Z[:, :, None])


def _series_names(samples: Sequence[Any]) -> tuple[str, ...] | None:
    """Names of samples that are Series with a name each, no two alike; else None."""
    names = tuple(label_name(sample) if getattr(sample, "ndim", 0) == 1 else "" for sample in samples)
    return names if all(names) and len(set(names)) == len(names) else None


def pool(samples: Sequence[ArrayLike], metric: Metric) -> tuple[FloatArray, list[int], Metric, Place]:
    """All samples below each other, their sizes, the metric that knows their columns, and where each row stands."""
    names = [f"sample {i}" for i in range(1, len(samples) + 1)]
    arrays, coded = metric.read(samples, names)
    check_same_columns(samples, [a.shape[1] for a in arrays], names)
    sizes, pooled = [len(a) for a in arrays], np.concatenate(arrays)
    for array, name in zip(arrays, names, strict=True):
        _warn_of_matrix(array, coded, name)
    if len(pooled) == pooled.shape[1]:
        _warn_of_matrix(_in_order_of_zeros(pooled), coded, SAMPLES)
    return pooled, sizes, coded, row_places(names, sizes, [row_index(sample) for sample in samples])


def check_z_scores(metric: Metric, standardize: bool | None) -> None:
    """Refuse z-scores for a metric whose data they are not."""
    if standardize and metric.by_range:
        raise ValueError(f"standardize=True does not go with {metric!r}, which divides every column by its range.")
    if standardize and not metric.domain.z_scores:
        raise ValueError(
            f"standardize=True does not go with {metric.spoken}, which {metric.domain.needs}: z-scores move the zero "
            "of every column and are negative below its mean. Leave it out, or choose another metric."
        )


def of_z_scores(place: Place) -> Place:
    """Where rows stand whose columns have been standardized."""

    def standardized(row: int) -> tuple[str, Any]:
        text, label = place(row)
        return f"{text}, once the columns are standardized,", label

    return standardized


def check_blocks(rows: Rows, metric: Metric, place: Place) -> None:
    """Refuse rows that a metric cannot compare in a table that is read in blocks."""
    if not metric.domain.restricts:
        return
    values = rows.values()
    for span, fault in zip(values.spans, values.map(_fault_in, metric.domain, rows.columns), strict=True):
        if fault is not None:
            found = replace(fault, row=span.start + fault.row)
            raise metric.refused(found, place)


def _fault_in(points: FloatArray, domain: Domain, columns: Sequence[str] | None) -> Fault | None:
    """The first row of one block that does not belong to a domain."""
    return domain.fault(points, columns)


def _warn_of_matrix(points: FloatArray, metric: Metric, name: str) -> None:
    """Warn of coordinates that look like the matrix of dissimilarities of the rows."""
    if metric.domain.binary or not looks_like_distances(points):
        return
    n = len(points)
    coded, how = f"`{name}` is", 'metric="precomputed"'
    if name == SAMPLES:
        coded, how = f"The rows of {name} are", 'the whole matrix, metric="precomputed" and `groups=`'
    warn(
        f"{coded} symmetric with a zero diagonal ({n} x {n}), as a matrix of dissimilarities is, but taken as "
        f"the coordinates of {n} points. Use {how} if it is such a matrix.",
        MatrixAsPointsWarning,
    )


def _in_order_of_zeros(points: FloatArray) -> FloatArray:
    """Rows of a square table in the order in which a matrix of dissimilarities would have its zeros on the diagonal.

    A matrix that is split by groups has its rows in another order than its columns.
    """
    own = points.argmin(axis=1)
    order = np.argsort(own, kind="stable")
    return points[order] if np.unique(own).size == len(points) else points


def check_resolution(points: FloatArray, metric: Metric, n: int | None = None, *, offered: bool = False) -> None:
    """Refuse points so close together that rho vanishes, or so far apart that sums of it are not numbers any more.

    The metric is fitted to them. `n` is the number of points where only some are given; `offered` says whether the
    user may standardize.
    """
    otherwise = ", or use standardize=True" if offered and metric.domain.z_scores else ""
    n = len(points) if n is None else n
    width = np.ptp(points, axis=0)
    small = width.max() < TINY_WIDTH or isinstance(metric, Exponential)  # whose sigma may be far from the data
    if width.max() == 0 or (width.max() < HUGE_WIDTH and not small):
        return
    rho = _rho_of_width(points, metric)
    if small and not rho > SMALLEST_RHO:
        raise ValueError(
            f"The points must lie further apart: their largest difference is {width.max():.3g}, and rho under "
            f"{metric!r} is too small a number for it; multiply the data by a constant first{otherwise}."
        )
    if not rho * (points.shape[1] * float(n) ** 2) < LARGEST_SUM and width.max() > HUGE_WIDTH:
        raise ValueError(
            f"The points must lie closer: their largest difference is {width.max():.3g}, and sums of rho under "
            f"{metric!r} over {n} points are too large for numbers; divide the data by a constant first{otherwise}."
        )


def _rho_of_width(points: FloatArray, metric: Metric) -> float:
    """Size of rho between the ends of the widest column."""
    column = points[:, int(np.ptp(points, axis=0).argmax())]
    ends = points[[int(column.argmin()), int(column.argmax())]]
    with np.errstate(all="ignore"):
        return abs(float(metric.between(ends[:1], ends[1:])[0, 0]))


def _warn_of_scales(
    spread: FloatArray, width: FloatArray, columns: Sequence[str] | None, *, offered: bool = True
) -> None:
    """One column with a far larger spread decides every distance; standard deviations and ranges of the columns.

    `offered` says whether the user may standardize by an option.
    """
    moving = np.flatnonzero(width > 0)
    if moving.size < 2:
        return
    low, high = moving[spread[moving].argmin()], moving[spread[moving].argmax()]
    if spread[high] > SCALE_RATIO * spread[low]:
        names = columns or [str(j) for j in range(spread.size)]
        advice = "use standardize=True" if offered else "divide the columns by their standard deviations first"
        with np.errstate(over="ignore"):
            ratio = float(min(spread[high] / spread[low], np.finfo(np.float64).max))
        warn(
            f"Column {names[high]} has a standard deviation {ratio:{'.0f' if ratio < 1e6 else '.1g'}} times that of "
            f"column {names[low]} and decides the distances almost alone; {advice} unless the unit is shared.",
            ColumnScaleWarning,
        )
