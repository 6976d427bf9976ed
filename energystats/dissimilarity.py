"""The door: a sample, a distance matrix or pooled groups in, one checked object out.

Below `Dissimilarity` nothing looks at raw input again, and above it nothing knows how M = Z'RZ was computed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from energystats._core.spectrum import largest_eigenpairs
from energystats._core.sums import (
    block_sums_from_upper,
    block_sums_sorted,
    multiply_sorted,
    multiply_upper,
)
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.exceptions import ColumnScaleWarning, NotNegativeTypeWarning, warn
from energystats.metrics import Euclidean, Metric, MetricLike, Precomputed, SciPyMetric, resolve
from energystats.validation import as_labels, as_points, as_square, column_names

__all__ = ["Dissimilarity", "Groups", "Standardization"]

ROWS_PER_BLOCK = 256
STORED_UP_TO = 4096  # points; above it sums are taken over row blocks and R is never stored for them
ROUNDING = 1e-8  # of the largest rho: what symmetry and a zero diagonal may be off by
SCALE_RATIO = 100.0  # of the columns' standard deviations, above which one of them decides every distance


@dataclass(frozen=True, slots=True, eq=False)
class Standardization:
    """Column means and standard deviations (divisor n; 1 for a constant column) of z-scores."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Self:
        """Measure the columns."""
        scale = points.std(axis=0)
        return cls(center=points.mean(axis=0), scale=np.where(scale > 0, scale, 1.0))

    def apply(self, points: FloatArray) -> FloatArray:
        """Column z-scores."""
        return (points - self.center) / self.scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Dissimilarity:
    """n points and a semimetric rho between them.

    Attributes
    ----------
    metric : Metric
        With every data-dependent parameter settled.
    points : ndarray of shape (n, d) or None
        Coordinates, standardized if asked for; None when the matrix of rho was given.
    given : ndarray of shape (n, n) or None
        The matrix of rho when it was given.
    standardization : Standardization or None
        What was done to the columns.
    """

    metric: Metric
    points: FloatArray | None = None
    given: FloatArray | None = None
    standardization: Standardization | None = None

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool = False,
        name: str = "X",
    ) -> Self:
        """One table of points, or one matrix of rho when `metric` is "precomputed"."""
        resolved = resolve(metric, alpha)
        if isinstance(resolved, Precomputed):
            if standardize:
                raise ValueError('`standardize` needs coordinates; it must be False when metric="precomputed".')
            given = as_square(X, name)
            warn_if_negative(int(np.count_nonzero(given < 0)) // 2, float(given.min()))
            return cls(metric=resolved, given=given)
        return cls.from_points(as_points(X, name), resolved, standardize=standardize, columns=column_names(X))

    @classmethod
    def from_points(
        cls, points: FloatArray, metric: Metric, *, standardize: bool = False, columns: Sequence[str] | None = None
    ) -> Self:
        """Clean coordinates and a metric not yet settled on them."""
        if standardize:
            standardization = Standardization.of(points)
            points = standardization.apply(points)
            return cls(metric=metric.fitted(points), points=points, standardization=standardization)
        if not (isinstance(metric, SciPyMetric) and metric.name in ("seuclidean", "mahalanobis")):
            warn_of_scales(points, columns)
        return cls(metric=metric.fitted(points), points=points)

    @classmethod
    def from_samples(
        cls,
        samples: Sequence[ArrayLike],
        groups: Any,
        *,
        metric: MetricLike,
        alpha: float,
        standardize: bool = False,
    ) -> tuple[Self, Groups]:
        """Samples one by one, or a pooled table and `groups`."""
        if groups is not None:
            if len(samples) != 1:
                raise ValueError(f"`groups` goes with one pooled table, got {len(samples)} samples.")
            d = cls.from_data(samples[0], metric=metric, alpha=alpha, standardize=standardize)
            return d, Groups.from_labels(groups, d.n, name="groups").at_least_two("groups")
        if len(samples) < 2:
            raise ValueError(
                f"At least two samples are needed, or one pooled table with `groups=`; got {len(samples)}."
            )
        if isinstance(resolve(metric, alpha), Precomputed):
            raise ValueError('metric="precomputed" needs one pooled matrix with `groups=`, got several samples.')
        pooled, sizes = pool(samples)
        d = cls.from_points(pooled, resolve(metric, alpha), standardize=standardize, columns=column_names(samples[0]))
        return d, Groups.from_labels(np.repeat(np.arange(len(sizes)), sizes), d.n, name="samples")

    @property
    def n(self) -> int:
        """Number of points."""
        held = self.points if self.given is None else self.given
        assert held is not None
        return len(held)

    @cached_property
    def line(self) -> tuple[IntArray, FloatArray] | None:
        """Order and gaps of the points where rho = |x - y|, the case that needs no pairs at all."""
        if self.points is None or self.points.shape[1] != 1 or self.metric != Euclidean(1.0):
            return None
        order = np.argsort(self.points[:, 0], kind="stable")
        return order, np.diff(self.points[order, 0])

    @cached_property
    def matrix(self) -> FloatArray:
        """R, the (n, n) matrix of rho."""
        if self.given is not None:
            return self.given
        check_memory(self.n)
        R = np.empty((self.n, self.n))
        for start, rows in self._computed_rows():
            stop = start + len(rows)
            R[start:stop, start:] = rows
            R[stop:, start:stop] = rows[:, stop - start :].T
        return R

    def _computed_rows(self) -> Iterator[tuple[int, FloatArray]]:
        assert self.points is not None
        negative, smallest = 0, 0.0
        for start in range(0, self.n, ROWS_PER_BLOCK):
            rows = self.metric.between(self.points[start : start + ROWS_PER_BLOCK], self.points[start:])
            if not np.isfinite(rows).all():
                i, j = np.argwhere(~np.isfinite(rows))[0]
                raise ValueError(
                    f"`metric` gave a value that is not finite ({rows[i, j]}) for rows {start + i} and {start + j}."
                )
            square = rows[:, : len(rows)]
            self._check_semimetric(square, start)
            square += square.T.copy()  # the two triangles may differ in the last bit
            square *= 0.5
            np.fill_diagonal(square, 0.0)
            if not self.metric.negative_type and rows.min() < 0:
                negative += int(np.count_nonzero(rows[:, len(rows) :] < 0) + np.count_nonzero(square < 0) // 2)
                smallest = min(smallest, float(rows.min()))
            yield start, rows
        warn_if_negative(negative, smallest)

    def _check_semimetric(self, square: FloatArray, start: int) -> None:
        """Symmetric and zero at x = y, to rounding; SciPy's own names are trusted, as its `pdist` trusts them."""
        if isinstance(self.metric, SciPyMetric):
            return
        slack = ROUNDING * float(np.abs(square).max())
        own = np.diagonal(square)
        if np.abs(own).max() > slack:
            row = int(np.abs(own).argmax())
            raise ValueError(f"`metric` must be 0 from a point to itself, got {own[row]:.6g} for row {start + row}.")
        if np.abs(square - square.T).max() > slack:
            i, j = np.unravel_index(int(np.abs(square - square.T).argmax()), square.shape)
            raise ValueError(
                f"`metric` must be symmetric, got {square[i, j]:.6g} for rows {start + i} and {start + j} "
                f"and {square[j, i]:.6g} the other way round."
            )

    def _upper_rows(self) -> Iterator[tuple[int, FloatArray]]:
        """Row blocks (start, R[start:stop, start:]) of the upper triangle, each pair once."""
        if self.given is None and self.n > STORED_UP_TO and "matrix" not in self.__dict__:
            yield from self._computed_rows()
            return
        for start in range(0, self.n, ROWS_PER_BLOCK):
            yield start, self.matrix[start : start + ROWS_PER_BLOCK, start:]

    def block_sums(self, Z: FloatArray) -> FloatArray:
        """M = Z'RZ for every labeling; (n, k, b) -> (b, k, k)."""
        if self.line is not None:
            order, gaps = self.line
            return block_sums_sorted(gaps, Z[order])
        return block_sums_from_upper(self._upper_rows(), Z)

    def multiply(self, columns: FloatArray) -> FloatArray:
        """R @ columns; (n, c) -> (n, c)."""
        if self.line is not None:
            order, gaps = self.line
            product = np.empty_like(columns)
            product[order] = multiply_sorted(gaps, columns[order])
            return product
        if self.given is not None or self.n <= STORED_UP_TO or "matrix" in self.__dict__:
            return np.asarray(self.matrix @ columns)
        return multiply_upper(self._upper_rows(), columns)

    @cached_property
    def row_totals(self) -> FloatArray:
        """sum_j rho(x_i, x_j); (n,)."""
        return self.multiply(np.ones((self.n, 1)))[:, 0]

    @cached_property
    def scale(self) -> float:
        """sum_ij |rho(x_i, x_j)| / (2n): T, unless rho is negative somewhere; what rounding is measured against."""
        if self.metric.negative_type:
            return float(self.row_totals.sum() / (2 * self.n))
        pairs = sum(2 * np.abs(rows).sum() - np.abs(rows[:, : len(rows)]).sum() for _, rows in self._upper_rows())
        return float(pairs / (2 * self.n))

    def largest_eigenpairs(self, count: int, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Largest eigenvalues, falling, and unit eigenvectors of the (weighted) centred Gram matrix G_c."""
        return largest_eigenpairs(self.multiply, np.ones(self.n) if weights is None else weights, count)

    def subset(self, rows: IntArray) -> Dissimilarity:
        """Part of the points, under the metric settled on all of them."""
        if self.points is not None:
            return replace(self, points=self.points[rows])
        assert self.given is not None
        return replace(self, given=self.given[np.ix_(rows, rows)])


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Which of k groups each of n points belongs to.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Integers 0..k-1.
    names : tuple of length k
        The user's labels, sorted (or in the order of a categorical's categories).
    """

    codes: IntArray
    names: tuple[Any, ...]

    @classmethod
    def from_labels(cls, labels: Any, n: int, *, name: str) -> Self:
        """From labels of any sortable kind, one for each of n rows."""
        codes, names = as_labels(labels, n, name)
        return cls(codes, names)

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

    def indicators(self, weights: FloatArray | None = None) -> FloatArray:
        """Z of a single labeling, times the weights; (n, k, 1)."""
        Z = (self.codes[:, None] == np.arange(self.k)).astype(np.float64)
        if weights is not None:
            Z *= weights[:, None]
        return np.asarray(Z[:, :, None])


def pool(samples: Sequence[ArrayLike]) -> tuple[FloatArray, list[int]]:
    """All samples below each other, and their sizes."""
    arrays = [as_points(sample, f"sample {i}") for i, sample in enumerate(samples, 1)]
    widths = [a.shape[1] for a in arrays]
    if len(set(widths)) > 1:
        raise ValueError(f"The samples must have the same number of columns, got {', '.join(map(str, widths))}.")
    first, *others = (column_names(s) if getattr(s, "ndim", 0) == 2 else None for s in samples)
    for i, names in enumerate(others, 2):
        if first is not None and names is not None and names != first:
            raise ValueError(f"The samples must have the same columns: sample 1 has {first}, sample {i} has {names}.")
    return np.concatenate(arrays), [len(a) for a in arrays]


def warn_if_negative(count: int, smallest: float) -> None:
    """A negative rho(x, y) already contradicts negative type: take c = (1, -1)."""
    if count:
        warn(
            f"{count} pairs have a negative rho (smallest {smallest:.6g}), so rho is not of negative type: "
            "between-sample energies may be negative, and tests of S lose their meaning.",
            NotNegativeTypeWarning,
        )


def warn_of_scales(points: FloatArray, columns: Sequence[str] | None) -> None:
    """One column with a far larger spread decides every distance."""
    spread = points.std(axis=0)
    moving = np.flatnonzero(spread > 1e-12 * np.abs(points).max(axis=0))
    if moving.size < 2:
        return
    low, high = moving[spread[moving].argmin()], moving[spread[moving].argmax()]
    if spread[high] > SCALE_RATIO * spread[low]:
        names = columns or [str(j) for j in range(spread.size)]
        warn(
            f"Column {names[high]} has a standard deviation {spread[high] / spread[low]:.0f} times that of column "
            f"{names[low]} and decides the distances almost alone; use standardize=True unless the unit is shared.",
            ColumnScaleWarning,
        )


def check_memory(n: int) -> None:
    """Refuse a matrix that would not fit, in words, before the operating system does without."""
    needed = 8 * n * n
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return
    if needed > 0.6 * available:
        raise MemoryError(
            f"This method stores all pairs: {n} points need {needed / 2**30:.0f} GiB, and this machine has "
            f"{available / 2**30:.0f} GiB. Use a random subset of the rows; one column can go to `cluster_1d`, and "
            "`dispersion`, `energy_distance` and `energy_test` do not store the pairs."
        )
