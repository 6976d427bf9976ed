"""Hold points and the semimetric between them: in memory, as a matrix, or in blocks of rows, behind one protocol.

Below `Dissimilarity` nothing looks at raw input again, and above it nothing knows how M = Z'RZ was computed.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from energystats._core.gram import are_values_found_in_full, centred, largest_eigenpairs, largest_eigenvalues
from energystats._core.linear_models import fit_of, residuals_of, resolution
from energystats._core.powers_of_two import deviations, exponents
from energystats._core.statistics import within_per_cluster
from energystats._runtime import check_memory
from energystats._typing import FloatArray, IntArray
from energystats.doubtful_tables import (
    LARGEST_SUM,
    SAMPLES,
    check_resolution,
    ends_of,
    in_order_of_zeros,
    rho_of_width,
    vary_by_rounding,
    warn_of_adjacency,
    warn_of_labels,
    warn_of_matrix,
    warn_of_rounding,
    warn_of_row_numbers,
    warn_of_scales,
    warn_of_zero_rows,
)
from energystats.exceptions import EnergyStatsWarning, warn
from energystats.inputs.arrays import EPS, as_weights, digits_of
from energystats.inputs.labels import NOISE, as_labels, read_labels
from energystats.inputs.matrices import as_square, matrix_index
from energystats.inputs.places import Fault, Place, row_places
from energystats.inputs.table import InputTable, as_table, check_same_columns
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.domains import Domain
from energystats.metrics.general import Precomputed
from energystats.metrics.kernel import SUBSAMPLE, Exponential
from energystats.metrics.lookup import resolve
from energystats.metrics.z_scores import Standardization
from energystats.pairs.disk import Rows
from energystats.pairs.line import power_on_line, sort_line
from energystats.pairs.routes import choose_route
from energystats.pairs.slices import SlicedPairs, projection_of, random_directions
from energystats.pairs.tiles import Pairs, Recomputed, Stored, warn_if_negative
from energystats.pairs.workloads import Size, pairs_work

__all__ = [
    "Blocks",
    "Dissimilarity",
    "Groups",
    "Matrix",
    "Points",
    "StoredPoints",
    "check_blocks",
    "check_z_scores",
    "note_one_rho",
    "of_z_scores",
    "pool",
    "warn_of_other_space",
]


HEAVY = 1e4  # square of the sum of weights, above which, as below 1, they are looked at together with rho
SMALLEST_SUM = 1e-305  # of weighted rho: below it summands lose digits that the sum has
ORDINARY = 1e-50  # and its inverse: data between them are not scaled
ROUNDING = 1e-9  # of the sum of |rho|: what rho of the wrong sign by rounding add up to, at most
TRANSFORMED = 32 * EPS  # of the largest number of transformed rows: they differ by no more where they are proportional
ENTRIES_AT_ONCE = 4_000_000  # of rho between the rows of one group
FEWEST_OF_ONE_RHO, ROWS_OF_ONE_RHO = 4, 40
NO_DIFFERENCE = "rho of all pairs of points is 0: it sees no difference between any two of them."


@dataclass(frozen=True, kw_only=True, eq=False)
class Dissimilarity(abc.ABC):
    """Hold n points and a semimetric rho: `Points`, a `Matrix` of rho, or `Blocks` of rows not in memory."""

    has_points: ClassVar[bool] = False  # all of them in memory
    is_stored: ClassVar[bool] = False  # the matrix of rho is in memory

    metric: Metric  # with every data-dependent parameter resolved
    standardization: Standardization | None = None  # what was done to the columns
    columns: tuple[str, ...] | None = None  # names of the columns, where the data had any
    index: Any = None  # names of the points, where the data had any
    # whether a negative rho is worth a warning; not for parts of points that were warned of in whole
    warns: bool = True
    exponent: int = 0  # the points (or R) are those of the user divided by two to this power, see `near_one`
    place: Place | None = None  # where a row of the points stands in the user's tables
    # (d, n_slices) unit vectors, where sums over pairs are estimated from distances along them
    directions: FloatArray | None = None
    # what an entry of R may be off by, as a share, where it was given in fewer digits than those of float64
    rounding: float | None = None

    @staticmethod
    def from_data(
        X: Any,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool | None = None,
        name: str = "X",
        of_negative: bool = True,
        place: Place | None = None,
    ) -> Dissimilarity:
        """Convert a table of points, or a matrix if `metric` is "precomputed", to a `Dissimilarity`.

        `standardize` is None where the user has no such option; `of_negative` says whether a negative rho is worth a
        warning; `place` says where the rows of X come from, if not from X.
        """
        table, resolved = as_table(X), resolve(metric, alpha)
        if isinstance(resolved, Precomputed):
            return Matrix.from_table(table, resolved, standardize=standardize, name=name, of_negative=of_negative)
        if isinstance(table.values, Rows):
            blocks = Blocks.from_rows(table.values, resolved, standardize=standardize, name=name)
            return replace(blocks, warns=of_negative)
        # a metric for mixed tables learns while it reads what the columns are
        (points,), coded = resolved.read((table,), (name,))
        warn_of_matrix(points, coded, name)
        place = place or row_places([name], [len(points)], [table.index])
        d = Points.from_points(points, coded, standardize=standardize, columns=table.columns, place=place)
        return replace(d, warns=of_negative, index=table.index)

    @staticmethod
    def from_points(
        points: FloatArray,
        metric: Metric,
        *,
        standardize: bool | None = None,
        columns: Sequence[str] | None = None,
        warns: bool = True,
        place: Place | None = None,
    ) -> Points:
        """Check coordinates, fit the metric to them, and return both as `Points`."""
        check_z_scores(metric, standardize)
        if warns:
            warn_of_row_numbers(points, columns)
        place = place or row_places(["X"], [len(points)], [None])
        # z-scores first: signs and rows of zeros are judged as the metric will see them
        standardization = Standardization.of(points) if standardize else None
        low, high = ends_of(points)
        if warns:
            warn_of_rounding(low, high, columns, metric, standardize=bool(standardize))
        if standardization is not None:
            points, place = standardization.apply(points), of_z_scores(place)
        metric.check(points, place, columns)
        if warns:
            warn_of_zero_rows(points, metric)
        if standardization is None and warns and metric.mixes_units and points.shape[1] > 1:
            rounding = vary_by_rounding(low, high)
            warn_of_scales(metric, deviations(points), high - low, rounding, columns, offered=standardize is not None)
        fitted = metric.fitted(points)
        if not metric.by_range:
            check_resolution(points, fitted, offered=standardize is not None)
        return Points(
            metric=fitted,
            points=points,
            standardization=standardization,
            columns=None if columns is None else tuple(columns),
            warns=warns,
            place=place,
        )

    @staticmethod
    def from_samples(
        samples: Sequence[Any],
        groups: Any,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool | None = None,
    ) -> tuple[Dissimilarity, Groups]:
        """Convert several samples, or one table with `groups`, to a `Dissimilarity` and its `Groups`."""
        if groups is not None:
            d = Dissimilarity.from_data(samples[0], metric=metric, alpha=alpha, standardize=standardize)
            return d, Groups.from_labels(groups, d.n, name="groups").at_least_two("groups")
        if len(samples) < 2:
            raise ValueError(
                f"At least two samples are needed, or one pooled table with `groups=`; got {len(samples)}."
            )
        tables, resolved = [as_table(sample) for sample in samples], resolve(metric, alpha)
        if isinstance(resolved, Precomputed):
            raise ValueError('metric="precomputed" needs one pooled matrix with `groups=`, got several samples.')
        # one coding for all samples, in which a category has one number
        pooled, sizes, coded, place = pool(tables, resolved)
        warn_of_labels(pooled, sizes)
        d = Points.from_points(pooled, coded, standardize=standardize, columns=tables[0].columns, place=place)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        return d, Groups(codes, _series_names(tables) or tuple(range(len(sizes))))

    # ------------------------------------------------------------ what each of the three knows

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """Return the number of points."""

    @property
    def n_columns(self) -> int:
        """Return the number of columns of the points, 0 for a dissimilarity matrix."""
        return 0

    @property
    def n_workers(self) -> int:
        """Return the number of threads that share the work on pairs of points; 0 if unknown."""
        return 1

    @functools.cached_property
    @abc.abstractmethod
    def points(self) -> FloatArray:
        """Return the coordinates of the points, standardized if asked for, or codes; raise if not in memory; (n, d)."""

    @property
    def coordinates(self) -> FloatArray | None:
        """Return the points as numbers whose means and projections make sense; None for other points; (n, d)."""
        return None

    @property
    def power(self) -> float | None:
        """Return alpha if the dissimilarity is |x - y|**alpha of one column, else None."""
        return None

    @property
    def summand(self) -> float:
        """Return the size of numbers whose differences are the metric's values, a scale for rounding; 0 for none."""
        return 0.0

    @abc.abstractmethod
    def route(self) -> Pairs:
        """Choose the fastest way to sum dissimilarities over pairs of these points; return the object that does it."""

    def project(self, directions: FloatArray) -> FloatArray:
        """Project the points, centred at their mean, on some directions; (d, s) -> (n, s)."""
        return projection_of(self.points)(directions)

    def residuals(self, basis: FloatArray) -> Dissimilarity:
        """Return the residuals of the points from a linear model with an orthonormal basis; (n, q)."""
        center = self.points.mean(axis=0)
        fit, unit = fit_of(self.points, center, basis), resolution(*ends_of(self.points))
        return self.as_kind(Points, points=residuals_of(self.points, center, fit, unit, basis), warns=False)

    def corners(self) -> FloatArray:
        """Return rows that hold the smallest and the largest value of every column; (r, d)."""
        return self.points

    def largest_rho(self) -> float:
        """Return roughly the largest dissimilarity, to check sums for overflow; 0 if none can overflow."""
        if self.metric.by_range or self.standardization is not None:
            return 0.0
        return self.n_columns * rho_of_width(self.corners(), self.metric)

    @property
    def matrix(self) -> FloatArray:
        """Compute the dissimilarity matrix of all points, unless it is stored; (n, n)."""
        check_memory(pairs_work(Size(self.n)))
        return Recomputed(self.points, self.metric, self.warns).matrix()

    @property
    def all_coincide(self) -> bool:
        """Return whether all points coincide, that is have dissimilarity 0 from each other."""
        return not np.ptp(self.transformed().points, axis=0).any()

    def transformed(self) -> Dissimilarity:
        """Return the transformed rows that the metric compares by Euclidean distance; the points if it transforms none.

        Columns that differ by rounding alone are constant.
        """
        if not self.metric.compares:
            return self
        points = self.metric.transform(self.points)
        low, high = ends_of(points)
        rounding = TRANSFORMED * max(1.0, float(np.abs(points).max()))
        points = np.where(high - low <= rounding, low, points)
        return self.as_kind(Points, metric=Euclidean(), points=points, standardization=None, exponent=0)

    def rho(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Compute dissimilarities between two sets of points, given by their indices; (r,), (c,) -> (r, c)."""
        # where a row meets itself: not every metric is exactly 0 there
        order = np.argsort(rows, kind="stable")
        place = order[np.minimum(np.searchsorted(rows, columns, sorter=order), rows.size - 1)]
        met = np.flatnonzero(rows[place] == columns)
        return self.metric.finite_between(self.points[rows], self.points[columns], same=(place[met], met))

    def subset(self, rows: IntArray) -> Self:
        """Return a subset of the points, given by indices, with the metric fitted to all of them."""
        index = None if self.index is None else self.index[rows]
        whole = self.place
        place = None if whole is None else lambda row: whole(int(rows[row]))
        return replace(self, **self.values_at(rows), index=index, place=place, warns=False)

    def values_at(self, rows: IntArray) -> dict[str, Any]:
        """Return the data of some points, coordinates or their part of the matrix, as keyword arguments."""
        return {"points": self.points[rows]}

    def stored(self) -> Dissimilarity:
        """Return the same points with their dissimilarity matrix stored in memory."""
        return self.as_kind(StoredPoints, R=self.matrix)

    def near_one(self) -> Dissimilarity:
        """Divide the points by a power of two to be near 1, against overflow of squares, where the metric allows it.

        For results without a unit. Points of ordinary size, and metrics with a unit of their own, stay as they are.
        """
        # a power of two changes no digit of any coordinate
        e = _exponent_of(self.points)
        metric = self.metric.in_unit(-e) if e else None
        if metric is None:
            return self
        return self.as_kind(Points, metric=metric, points=np.ldexp(self.points, -e), exponent=self.exponent + e)

    def under(self, metric: Metric) -> Dissimilarity:
        """Return the same points with another metric, fitted to them."""
        columns = self.columns or tuple(map(str, range(self.n_columns)))
        check_z_scores(metric, self.standardization is not None)
        metric.check(self.points, self.place or row_places(["X"], [self.n], [self.index]), columns)
        fitted = metric.under(self.metric, columns).fitted(self.points)
        if not fitted.by_range:
            check_resolution(self.points, fitted)
        return self.as_kind(Points, metric=fitted)

    # ------------------------------------------------------------ what follows for all of them

    @functools.cached_property
    def pairs(self) -> Pairs:
        """Return an object for sums of dissimilarities over pairs of points, exact or along random directions."""
        return self.route() if self.directions is None else SlicedPairs.of(self.n, self.project, self.directions)

    def sliced(self, n_slices: int, rng: np.random.Generator) -> Self:
        """Return the same points with sums over pairs estimated from projections on random directions."""
        if not self.n_columns or not isinstance(self.metric, Euclidean) or self.metric.alpha != 1:
            raise ValueError(
                '`method="sliced"` estimates sums of ||x - y|| along lines and needs points with metric="euclidean" '
                f"and alpha=1, got {self.metric!r}."
            )
        return replace(self, directions=random_directions(self.n_columns, n_slices, rng))

    def as_kind(self, kind: type[K], **fields: Any) -> K:
        """Return the points as another subclass of `Dissimilarity`, with some fields replaced."""
        names = [f.name for f in dataclasses.fields(kind) if f.name not in fields]
        return kind(**{name: getattr(self, name) for name in names}, **fields)

    def group_sums(self, groups: Groups, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Compute sums of dissimilarities between groups, and group sizes or sums of weights; (k, k), (k,)."""
        return self.pairs.group_sums(groups.codes, groups.k, weights), groups.mass(weights)

    def within(self, groups: Groups) -> float:
        """Compute the within dispersion of groups, reading only pairs inside a group.

        `group_sums` reads all pairs, once for each group.
        """
        W = 0.0
        for rows in groups.members():
            step = max(1, ENTRIES_AT_ONCE // rows.size)
            parts = (self.rho(rows[i : i + step], rows).sum() for i in range(0, rows.size, step))
            W += float(sum(parts)) / (2 * rows.size)
        return W

    @functools.cached_property
    def row_totals(self) -> FloatArray:
        """Compute the sum of dissimilarities from each point to all points; (n,)."""
        return self.pairs.multiply(np.ones((self.n, 1)))[:, 0]

    @functools.cached_property
    def scale(self) -> float:
        """Compute the total dispersion of absolute dissimilarities, a scale for rounding errors."""
        # rho of negative type is nowhere negative, so that its totals are those of |rho|
        total = float(self.row_totals.sum()) if self.metric.negative_type else self.absolute_total
        return total / (2 * self.n)

    @functools.cached_property
    def absolute_total(self) -> float:
        """Sum the absolute dissimilarities over all ordered pairs of points."""
        return self.pairs.absolute_total()

    def read_weights(self, given: Any, name: str = "sample_weight") -> FloatArray | None:
        """Check weights of the points, and return them as floats (n,); None if none are given or all are 1."""
        weights = as_weights(given, self.n, name)
        if weights is not None:
            self.check_weights(weights, name)
        return weights

    def check_weights(self, weights: FloatArray, name: str) -> None:
        """Raise ValueError if weights are so large, or small, that weighted sums of rho over- or underflow."""
        heavy = float(weights.sum()) ** 2
        if 1 <= heavy < HEAVY:  # sums of rho alone were checked with the points
            return
        rho = self.largest_rho()
        for fails, size, change in (
            (not heavy * rho < LARGEST_SUM, "large", "divide"),
            (heavy < 1 and rho > 0 and heavy * rho < SMALLEST_SUM, "small", "multiply"),
        ):
            if fails:
                raise ValueError(
                    f"`{name}` must not be that {size}, its sum is {weights.sum():.3g}: sums of products of weights "
                    f"and rho are too {size} for numbers; {change} the weights by a constant first, or the data."
                )

    def weighted_totals(self, weights: FloatArray | None) -> FloatArray:
        """Compute the weighted sum of dissimilarities from each point to all points; (n,) -> (n,)."""
        return self.row_totals if weights is None else self.pairs.multiply(weights[:, None])[:, 0]

    def scale_of(self, weights: FloatArray | None) -> float:
        """Compute the weighted total dispersion of absolute dissimilarities, or a bound: a scale for rounding."""
        if weights is None:
            return self.scale
        # where the sums of rho and of |rho| agree, no rho is negative but by rounding
        if self.metric.negative_type or float(self.row_totals.sum()) >= (1 - ROUNDING) * self.absolute_total:
            return float(weights @ self.weighted_totals(weights)) / (2 * float(weights.sum()))
        return self.scale * self.n * float(weights.max()) ** 2 / float(weights.sum())

    def centred_gram(self) -> FloatArray:
        """Compute the double-centred Gram matrix -1/2 J R J of a dissimilarity matrix R; (n, n)."""
        return centred(-0.5 * self.matrix)

    def largest_eigenpairs(self, count: int, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Compute the largest eigenvalues, descending, and eigenvectors of the (weighted) centred Gram matrix."""
        if weights is not None:
            return largest_eigenpairs(self.pairs.multiply, weights, count)
        # more of them, which were found before, begin with these
        if not self._found_eigenpairs or self._found_eigenpairs[-1][0].size < min(count, self.n):
            self._found_eigenpairs.append(largest_eigenpairs(self.pairs.multiply, np.ones(self.n), count))
        values, vectors = self._found_eigenpairs[-1]
        return values[:count], vectors[:, :count]

    def largest_eigenvalues(self, count: int, weights: FloatArray | None = None) -> FloatArray:
        """Compute the largest eigenvalues alone, descending, of the (weighted) centred Gram matrix."""
        known = weights is None and any(values.size >= min(count, self.n) for values, _ in self._found_eigenpairs)
        if known or not self.has_points or not are_values_found_in_full(self.n, count):
            return self.largest_eigenpairs(count, weights)[0]
        return largest_eigenvalues(self.matrix, np.ones(self.n) if weights is None else weights, count)

    @functools.cached_property
    def _found_eigenpairs(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return a list that caches eigenpairs of the centred Gram matrix, the longest set last."""
        return []


K = TypeVar("K", bound=Dissimilarity)


@dataclass(frozen=True, kw_only=True, eq=False)
class Points(Dissimilarity):
    """Hold points in memory, one per row: coordinates, standardized if asked for, or codes of a mixed table."""

    has_points: ClassVar[bool] = True

    points: FloatArray = field()

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def n_columns(self) -> int:
        return int(self.points.shape[1])

    @property
    def coordinates(self) -> FloatArray | None:
        return self.points if self.metric.reads_numbers else None

    @property
    def power(self) -> float | None:
        return power_on_line(self.points, self.metric)

    @property
    def summand(self) -> float:
        return self.metric.summand(self.points)

    def route(self) -> Pairs:
        return choose_route(Recomputed(self.points, self.metric, self.warns), sort_line(self.points, self.metric))


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix(Dissimilarity):
    """Hold a given matrix `R` of rho between n points; (n, n)."""

    is_stored: ClassVar[bool] = True

    R: FloatArray

    @classmethod
    def from_table(
        cls, table: InputTable, metric: Precomputed, *, standardize: bool | None, name: str, of_negative: bool
    ) -> Self:
        """Check a user's dissimilarity matrix, and return it as a `Matrix`."""
        if isinstance(table.values, Rows):
            raise ValueError(
                '`client` and blocks of rows go with points; metric="precomputed" needs its matrix in memory, for '
                "example np.asarray(X)."
            )
        if standardize:
            raise ValueError('`standardize` needs coordinates; it must be False when metric="precomputed".')
        R, ((rounding, _), eps) = as_square(table, name), digits_of(table)
        if of_negative and (smallest := float(R.min())) < 0:
            warn_if_negative(int(np.count_nonzero(R < 0)) // 2, smallest)
        if of_negative:
            warn_of_adjacency(R, name)
        return cls(metric=metric, R=R, rounding=rounding if eps > EPS else None, index=matrix_index(table))

    @property
    def n(self) -> int:
        return len(self.R)

    @functools.cached_property
    def points(self) -> FloatArray:
        raise ValueError(f"This needs points, got a matrix of rho between {self.n} of them.")

    @property
    def matrix(self) -> FloatArray:
        return self.R

    @property
    def all_coincide(self) -> bool:
        return not self.R.any()

    def route(self) -> Pairs:
        return Stored(self.R)

    def rho(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.R[np.ix_(rows, columns)]

    def largest_rho(self) -> float:
        return float(np.abs(self.R).max())

    def values_at(self, rows: IntArray) -> dict[str, Any]:
        return {"R": self.rho(rows, rows)}

    def stored(self) -> Self:
        return self

    def near_one(self) -> Dissimilarity:
        e = _exponent_of(self.R)
        return replace(self, R=np.ldexp(self.R, -e), exponent=self.exponent + e) if e else self


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredPoints(Matrix, Points):
    """Hold points in memory and the matrix of rho between them."""

    points: FloatArray = field()

    @property
    def all_coincide(self) -> bool:
        return not self.R.any() or not np.ptp(self.transformed().points, axis=0).any()

    def values_at(self, rows: IntArray) -> dict[str, Any]:
        return {"points": self.points[rows], "R": self.rho(rows, rows)}

    def near_one(self) -> Dissimilarity:
        return Points.near_one(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks(Dissimilarity):
    """Hold points of a table, `rows`, that is read in blocks of rows."""

    rows: Rows

    @classmethod
    def from_rows(cls, rows: Rows, metric: Metric, *, standardize: bool | None = None, name: str = "X") -> Self:
        """Check a table read in blocks of rows, fit a metric to a sample of it, and return `Blocks`."""
        _check_fits_blocks(metric, name)
        check_z_scores(metric, standardize)
        measures, place = rows.measured(), row_places([name], [len(rows)], [None])
        standardization = None
        warn_of_rounding(measures.low, measures.high, rows.columns, metric, standardize=bool(standardize))
        if standardize:
            standardization = Standardization.of_measures(measures.mean, measures.deviation, measures.width)
            rows, place = rows.standardized(standardization.center, standardization.scale), of_z_scores(place)
        check_blocks(rows, metric, place)
        # a parameter such as the median distance takes a few rows; all of them would be read once more for it
        sample = rows.sample(SUBSAMPLE)
        if standardization is None:
            if len(rows) <= SUBSAMPLE:
                warn_of_matrix(sample, metric, name)
            if metric.mixes_units:
                rounding = vary_by_rounding(measures.low, measures.high)
                spread, width, names = measures.deviation, measures.width, rows.columns
                warn_of_scales(metric, spread, width, rounding, names, offered=standardize is not None)
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

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        return int(self.rows.shape[1])

    @property
    def n_workers(self) -> int:
        return self.rows.n_workers

    @functools.cached_property
    def points(self) -> FloatArray:
        raise ValueError(
            f"`X` is read in blocks of rows, and this needs all {self.n} of them in memory: give it as an array, "
            "for example np.asarray(X)."
        )

    def route(self) -> Pairs:
        return self.rows.pairs(self.metric)

    def project(self, directions: FloatArray) -> FloatArray:
        return self.rows.project(directions)

    def within(self, groups: Groups) -> float:
        return float(within_per_cluster(*self.group_sums(groups)).sum())

    def residuals(self, basis: FloatArray) -> Dissimilarity:
        return replace(self, rows=self.rows.residuals(basis), warns=False)

    def corners(self) -> FloatArray:
        return self.rows.corners()

    def under(self, metric: Metric) -> Dissimilarity:
        columns = self.columns or tuple(map(str, range(self.n_columns)))
        _check_fits_blocks(metric, "X")
        check_z_scores(metric, self.standardization is not None)
        check_blocks(self.rows, metric, self.place or row_places(["X"], [self.n], [self.index]))
        fitted = metric.under(self.metric, columns).fitted(self.rows.sample(SUBSAMPLE))
        check_resolution(self.corners(), fitted, self.n)
        return replace(self, metric=fitted)


def _check_fits_blocks(metric: Metric, name: str) -> None:
    """Raise ValueError for a metric that must be fitted to all rows, if a table is read in blocks."""
    if not metric.needs_all_rows:
        return
    way = ", or name the variances or the covariance: `es.metrics.SciPyMetric(name, params=...)`"
    raise ValueError(
        f"{metric!r} is fitted to all rows at once, and `{name}` is read in blocks; give the table as an array"
        f"{way if metric.measures_columns else ''}."
    )


def _exponent_of(values: FloatArray) -> int:
    """Compute the power of two by which to scale points of extreme size; 0 for points of ordinary size."""
    size = float(np.ptp(values, axis=0).max())
    return 0 if size == 0 or ORDINARY < size < 1 / ORDINARY else int(exponents(size))


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Hold the groups of n points: codes 0..k-1 and the names of the k groups."""

    codes: IntArray  # (n,) integers 0..k-1
    names: tuple[Any, ...]  # the user's labels, sorted (or in the order of a categorical's categories)
    name: str = ""  # of the Series that the labels came from; empty without one
    found: bool = False  # whether a clustering is known to have found them

    @classmethod
    def from_labels(cls, labels: Any, n: int, *, name: str) -> Self:
        """Read the groups of n rows from labels of any sortable kind."""
        read = read_labels(labels, name)
        codes, names = as_labels(read, n, name)
        if read.found and NOISE in names:
            raise ValueError(
                f"`{name}` is a clustering with points in no cluster (label -1): "
                f"{int((codes == names.index(NOISE)).sum())} of {n}, which are no group. Leave their rows out, or give "
                "the labels as an array, in which -1 is a label like any other."
            )
        return cls(codes, names, read.title, read.found)

    def at_least_two(self, name: str) -> Self:
        """Check that there are at least two groups, and return them; raise ValueError otherwise."""
        if self.k < 2:
            raise ValueError(f"`{name}` must name at least two groups, got only {self.names[0]!r}.")
        return self

    @property
    def k(self) -> int:
        """Return the number of groups."""
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """Return the number of points in each group; (k,)."""
        return np.bincount(self.codes, minlength=self.k).astype(np.intp)

    def mass(self, weights: FloatArray | None) -> FloatArray:
        """Return the sum of weights of each group, or its number of points; (k,)."""
        return np.bincount(self.codes, weights, minlength=self.k).astype(np.float64)

    def members(self) -> tuple[IntArray, ...]:
        """Return the row indices of each group."""
        return tuple(np.flatnonzero(self.codes == j) for j in range(self.k))

    def indicators(self, weights: FloatArray | None = None) -> FloatArray:
        """Return 0/1 indicators of the groups, times the weights if given; (n, k, 1)."""
        Z = (self.codes[:, None] == np.arange(self.k)).astype(np.float64)
        if weights is not None:
            Z *= weights[:, None]
        return np.asarray(Z[:, :, None])


def _series_names(samples: Sequence[InputTable]) -> tuple[str, ...] | None:
    """Return the names of samples that are Series with distinct names, else None."""
    names = tuple(sample.title if sample.ndim == 1 else "" for sample in samples)
    return names if all(names) and len(set(names)) == len(names) else None


def pool(samples: Sequence[Any], metric: Metric) -> tuple[FloatArray, list[int], Metric, Place]:
    """Stack several samples to one array; return it, their sizes, the metric, and a function that describes rows."""
    names, tables = [f"sample {i}" for i in range(1, len(samples) + 1)], [as_table(sample) for sample in samples]
    arrays, coded = metric.read(tables, names)
    check_same_columns(tables, [a.shape[1] for a in arrays], names)
    sizes, pooled = [len(a) for a in arrays], np.concatenate(arrays)
    for array, name in zip(arrays, names, strict=True):
        warn_of_matrix(array, coded, name)
    if len(pooled) == pooled.shape[1]:
        warn_of_matrix(in_order_of_zeros(pooled), coded, SAMPLES)
    return pooled, sizes, coded, row_places(names, sizes, [table.index for table in tables])


def warn_of_other_space(d: Dissimilarity, labels: Any) -> None:
    """Warn if labels came from clustering under another metric or standardization than those of the points."""
    found = getattr(labels, "partition_", labels)
    metric = getattr(found, "metric", None)
    if not isinstance(metric, Metric) or not hasattr(found, "standardization"):
        return
    if isinstance(metric, Precomputed) or isinstance(d.metric, Precomputed):
        return
    spaces = [
        f"{m!r}{', columns standardized' * (scores is not None)}"
        for m, scores in ((metric, found.standardization), (d.metric, d.standardization))
    ]
    if spaces[0] != spaces[1]:
        warn(
            f"`labels` were found under {spaces[0]} and are judged here under {spaces[1]}; give the same `metric`, "
            "`alpha` and `standardize`, or the labels as an array (`.labels`) if another space is meant.",
            EnergyStatsWarning,
        )


def check_z_scores(metric: Metric, standardize: bool | None) -> None:
    """Raise ValueError if columns are to be standardized for a metric that does not allow z-scores."""
    if standardize and metric.by_range:
        raise ValueError(f"standardize=True does not go with {metric!r}, which divides every column by its range.")
    if standardize and not metric.domain.z_scores:
        raise ValueError(
            f"standardize=True does not go with {metric.spoken}, which {metric.domain.needs}: z-scores move the zero "
            "of every column and are negative below its mean. Leave it out, or choose another metric."
        )


def of_z_scores(place: Place) -> Place:
    """Return a function that describes rows in messages, adding that columns are standardized."""

    def standardized(row: int) -> tuple[str, Any]:
        text, label = place(row)
        return f"{text}, once the columns are standardized,", label

    return standardized


def check_blocks(rows: Rows, metric: Metric, place: Place) -> None:
    """Raise `RowError` if a row of a table that is read in blocks is invalid for the metric."""
    if not metric.domain.restricts:
        return
    values = rows.values()
    for span, fault in zip(values.spans, values.map(_fault_in, metric.domain, rows.columns), strict=True):
        if fault is not None:
            found = replace(fault, row=span.start + fault.row)
            raise metric.refused(found, place)


def _fault_in(points: FloatArray, domain: Domain, columns: Sequence[str] | None) -> Fault | None:
    """Find the first row of a block that is invalid for the metric; return its `Fault` or None."""
    return domain.fault(points, columns)


def note_one_rho(d: Dissimilarity, between: float, total: float, k: int, *, weighted: bool = False) -> tuple[str, ...]:
    """Return a note if all pairs have one rho, by S and T of k groups: then S/T is (k - 1)/(n - 1), or T is 0.

    That is so of points without weights; of weighted ones rho is looked at.
    """
    differs = not weighted and abs(between * (d.n - 1) - (k - 1) * total) > ROUNDING * total
    if d.n < FEWEST_OF_ONE_RHO or isinstance(d, Blocks) or differs:
        return ()
    rows = np.unique(np.linspace(0, d.n - 1, min(d.n, ROWS_OF_ONE_RHO)).astype(np.intp))
    rho = d.rho(rows, rows)[~np.eye(rows.size, dtype=bool)]
    if total == 0 and not rho.any():
        return (NO_DIFFERENCE,)
    if not rho[0] > 0 or np.ptp(rho) > ROUNDING * rho[0]:
        return ()
    narrow = " A kernel far narrower than the distances between points does so; its sigma has the unit of the data."
    return (
        "All pairs of points have the same rho, so that no groups and no clusters are better than others: p and labels "
        "say nothing of these data." + narrow * isinstance(d.metric, Exponential),
    )
