"""Define the base class of semimetrics: rho, its kernel, and whether it is of negative type [theory 1].

Most compare rows of numbers; `Gower` compares rows of tables that have categories and missing values, too.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from energystats._runtime import Sample, between_tables, check_work
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.inputs.arrays import as_array, as_points
from energystats.inputs.columns import Columns
from energystats.inputs.places import Fault, Place, RowError, row_places
from energystats.inputs.table import as_table, check_same_columns
from energystats.metrics.domains import ANY_NUMBERS, Domain, truths_as_numbers
from energystats.metrics.names import canonical_name

__all__ = [
    "COUNTS",
    "KNOWN_NAMES",
    "OF_SHARES",
    "SCIPY_NAMES",
    "SMALL",
    "Metric",
    "MetricLike",
    "SamePairs",
    "check_pairs_alone",
    "checked_output",
    "find_metric_name",
    "is_named",
    "pair_with_itself",
]


SamePairs: TypeAlias = tuple[IntArray, IntArray]  # indices in X and in Y
SMALL = 1e-120  # coordinates below this are scaled up before they are squared


class Metric(abc.ABC):
    """Define a semimetric rho(x, y): symmetric, zero at x = y; the base class of all metrics.

    Calling it gives the matrix of rho between the rows of two arrays. Its `negative_type` is True, False, or None
    where nothing general is known; every energy statistic is non-negative only for negative type [G s.2].
    """

    negative_type: bool | None
    trusted: ClassVar[bool] = True  # symmetric and zero at x = y by its formula
    mixes_units: ClassVar[bool] = True  # adds differences of columns, so that the widest column decides
    unit_free: ClassVar[bool] = False  # rho stays as it is when all numbers are multiplied by one
    by_range: ClassVar[bool] = False  # divides every column by its range, so that z-scores have no place
    measures_columns: ClassVar[bool] = False  # takes variances, or a covariance, from the data
    needs_all_rows: ClassVar[bool] = False  # to fit its parameters; a sample will not do
    in_threads: ClassVar[bool] = True  # may be computed in several threads at once
    by_differences: ClassVar[bool] = False  # depends on x - y alone, so that a shift of all points changes nothing

    @property
    def only_means(self) -> bool:
        """Return whether energy distance under a metric compares means alone, as it does for squared distance."""
        return False

    @property
    def about_means(self) -> str:
        """Return a sentence for null hypotheses if a metric compares means alone; "" otherwise."""
        if not self.only_means:
            return ""
        return " (squared distances compare means alone; unequal spread in groups of unequal size makes p small, too)"

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0; None if not known in general [theory 1]."""
        return False if self.negative_type is False else None

    @property
    def compares(self) -> str:
        """Return in words what a metric transforms rows to before taking Euclidean distances; "" if unknown."""
        return ""

    def transform(self, X: FloatArray) -> FloatArray:
        """Transform rows so that rho is a power of their Euclidean distances, if the metric has a transform; (n, d).

        The metric is fitted.
        """
        return X

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences on a metric for the summary of a result; an empty tuple if there are none."""
        return ()

    @property
    def coding(self) -> Columns | None:
        """Return the coding of mixed columns that a metric uses; None for metrics of numbers."""
        return None

    @property
    def reads_numbers(self) -> bool:
        """Return whether a metric takes arrays of finite numbers, rather than codes and missing values."""
        return self.coding is None or self.coding.plain

    @property
    def domain(self) -> Domain:
        """Return the conditions that a metric puts on rows, such as non-negative values."""
        return ANY_NUMBERS

    @property
    def spoken(self) -> str:
        """Return the name of a metric as error messages write it."""
        return f"`metric` {self!r}"

    def read(self, tables: Sequence[Any], names: Sequence[str]) -> tuple[list[FloatArray], Metric]:
        """Convert users' tables to float arrays; return these, and the metric with the coding of their columns."""
        if self.domain.truths:
            tables = [truths_as_numbers(table) for table in tables]
        return [as_points(table, name) for table, name in zip(tables, names, strict=True)], self

    def check(self, X: FloatArray, place: Place, columns: Sequence[str] | None = None, *, within: bool = True) -> None:
        """Raise `RowError` if an array has a row that the metric cannot compare, `within` it or with other rows."""
        fault = self.domain.fault(X, columns)
        if fault is not None:
            raise self.refused(fault, place)

    def refused(self, fault: Fault, place: Place) -> RowError:
        """Build the `RowError` for a row that a metric cannot compare."""
        return RowError(self.spoken, fault, place)

    def under(self, other: Metric, columns: Sequence[str]) -> Metric:
        """Return the metric for points that were read for another metric; raise if it cannot compare such points."""
        if not other.reads_numbers:
            raise ValueError(
                f"`metric` {self!r} needs numbers, but the columns are coded for {other!r}; mixed tables and missing "
                "values go with Gower's coefficient alone."
            )
        return self

    def summand(self, X: FloatArray) -> float:
        """Return the size of numbers of which the metric's values are differences, a scale for rounding; else 0."""
        return 0.0

    @abc.abstractmethod
    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Compute dissimilarities between the rows of two checked arrays; (n, d), (m, d) -> (n, m)."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Compute rho between the rows of X and those of Y (X itself when None), as an (n, m) array."""
        (points, others), metric = self.checked_pair(X, Y)
        fitted = metric.fitted(points)
        check_work(False, Sample(fitted, points), between_tables(len(points), len(others)))
        same = pair_with_itself(len(points)) if Y is None else None
        return fitted.finite_between(points, others, same=same)

    def checked_pair(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[tuple[FloatArray, FloatArray], Metric]:
        """Convert two tables with the same columns to arrays; return these and the metric; raise for invalid rows."""
        (points, others), metric = self.read_pair(X, Y)
        for read, table, name in ((points, X, "X"), (others, Y, "Y")):
            if table is not None:
                named = as_table(table)
                metric.check(read, row_places([name], [len(read)], [named.index]), named.columns, within=Y is None)
        return (points, others), metric

    def read_pair(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[tuple[FloatArray, FloatArray], Metric]:
        """Convert one or two tables with the same columns to a pair of arrays; return these and the metric for them."""
        tables, names = ([as_table(X)], ["X"]) if Y is None else ([as_table(X), as_table(Y)], ["X", "Y"])
        (points, *others), metric = self.read(tables, names)
        check_same_columns(tables, [points.shape[1], *(other.shape[1] for other in others)], names)
        return (points, others[0] if others else points), metric

    def finite_between(
        self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0, *, same: SamePairs | None = None
    ) -> FloatArray:
        """Compute dissimilarities between rows of X and Y; raise if a value is not finite; (n, m).

        The message counts rows from `row` and `column`. `same` are pairs of indices of one and the same row, which is 0
        from itself.
        """
        rho = self.between(X, Y)
        if same is not None:
            rho[same] = 0.0
        if not np.isfinite(rho).all():
            i, j = np.argwhere(~np.isfinite(rho))[0]
            raise ValueError(f"`metric` {self!r} gave {rho[i, j]} for rows {row + i} and {column + j}.")
        return rho

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Compute a kernel that generates the dissimilarity, with a base point as origin [G 8]; (n, m).

        It is (rho(x, z) + rho(y, z) - rho(x, y))/2. The base point z is 0; where 0 is no valid row, ones, or 0, 1, 2,
        ... if its columns have to differ.
        """
        # any base point generates the same rho [G 8]
        (points, others), _ = self.checked_pair(X, Y)
        same = pair_with_itself(len(points)) if Y is None else None
        origin = self.domain.base_point(points.shape[1])
        rho = self.fitted(points).finite_between
        return 0.5 * (rho(points, origin) + rho(origin, others) - rho(points, others, same=same))

    def fitted(self, X: FloatArray) -> Metric:
        """Fit the data-dependent parameters of a metric to the rows of `X`, and return the fitted metric."""
        return self

    def column_factors(self, d: int) -> FloatArray:
        """Return the factors on differences in each column that column weights stand for, the largest being 1; (d,)."""
        return np.ones(d)

    def in_unit(self, exponent: int) -> Metric | None:
        """Return a metric whose rho of points times 2**exponent is proportional to rho of these; None if not known."""
        return self if self.unit_free else None


def pair_with_itself(n: int) -> SamePairs:
    """Return the pairs of each of n rows with itself as two equal arrays of indices; (n,), (n,)."""
    return (np.arange(n),) * 2


MetricLike: TypeAlias = str | Metric | Callable[[FloatArray, FloatArray], FloatArray]
COUNTS = Domain(needs="compares counts or amounts", negative=False, z_scores=False)
OF_SHARES = Domain(needs="divides differences by the sizes of the numbers", z_scores=False, zero_pairs=False)
ROWS_TRIED, FEW_ALONE = 8, 2  # in which a user's function is looked at
SAME_ALONE = 1e-4  # of the largest value: what rounding may change
SCIPY_NAMES = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "dice",
    "euclidean",
    "hamming",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)
COMMUNITY_NAMES = ("aitchison", "chi2", "chord", "hellinger", "kulczynski", "ruzicka")
KNOWN_NAMES = tuple(sorted({*SCIPY_NAMES, *COMMUNITY_NAMES, "exponential", "gaussian", "gower", "precomputed"}))


def find_metric_name(name: str, known: Sequence[str], argument: str, ending: str = "") -> str:
    """Return this package's name of a metric from any of its spellings; raise if unknown."""
    try:
        return canonical_name(name, known, ending=ending)
    except ValueError as error:
        raise ValueError(f"`{argument}` {error}") from None


def is_named(metric: object, name: str) -> bool:
    """Return whether an object is a text that names a given metric, in any spelling."""
    try:
        return isinstance(metric, str) and canonical_name(metric, KNOWN_NAMES) == name
    except ValueError:
        return False


def check_pairs_alone(between: Callable[[FloatArray, FloatArray], FloatArray], X: FloatArray, name: str) -> None:
    """Raise ValueError if a user's function gives two rows another value beside other rows than alone; X (n, d).

    It is called with blocks of rows, so that a scale that it takes from these would differ from block to block.
    """
    if len(X) < 2 * FEW_ALONE:
        return
    rows = np.linspace(0, len(X) - 1, min(len(X), ROWS_TRIED)).astype(np.intp)
    beside, r = between(X[rows], X[rows]), rows.size
    size = float(np.abs(beside[np.isfinite(beside)]).max(initial=0.0))
    # several blocks: the median of one is that of all in a few tables of a thousand
    for start, middle, stop in ((0, FEW_ALONE, 2 * FEW_ALONE), (r - 2 * FEW_ALONE, r - FEW_ALONE, r), (0, r // 2, r)):
        first, others = rows[start:middle], rows[middle:stop]
        here, alone = beside[start:middle, middle:stop], between(X[first], X[others])
        unlike = np.isfinite(here) & ~(np.abs(here - alone) <= SAME_ALONE * size)
        if unlike.any():
            i, j = map(int, np.argwhere(unlike)[0])
            raise ValueError(
                f"`{name}` must depend on two rows alone, because it is called with blocks of rows: for rows "
                f"{first[i]} and {others[j]} it gave {here[i, j]:.6g} beside {r} rows and {alone[i, j]:.6g} beside "
                f"{stop - start}. Compute what it takes from the table, such as variances or a median distance, "
                "beforehand."
            )


def checked_output(values: object, X: FloatArray, Y: FloatArray, name: str) -> FloatArray:
    """Check that a user's function returned numbers of the right shape, and return them as floats."""
    matrix = as_array(values, name)
    if matrix.shape != (len(X), len(Y)):
        raise ValueError(
            f"`{name}` must return an array of shape ({len(X)}, {len(Y)}) for inputs of {len(X)} and {len(Y)} rows, "
            f"got {matrix.shape}."
        )
    if matrix.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must return real numbers, got dtype {matrix.dtype}.")
    return np.asarray(np.ma.filled(matrix.astype(np.float64), np.nan))
