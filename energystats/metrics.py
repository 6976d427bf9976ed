"""Semimetrics rho, the kernels that generate them, and which of them are of negative type [theory 1].

Most compare rows of numbers; `Gower` compares rows of tables that have categories and missing values, too.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from scipy.spatial.distance import cdist

from energystats._core.distances import euclidean
from energystats._core.mixed import GRADED, MATCHED, PRESENCE, gower_between
from energystats._core.scales import deviations, exponents, two_to
from energystats._loading import loading
from energystats._typing import ArrayLike, FloatArray
from energystats.coding import Columns, encode
from energystats.cost import Sample, between_tables, weigh
from energystats.domains import ANY_NUMBERS, Domain, Fault, Place, RowError, row_places, truths_as_numbers
from energystats.metric_names import canonical_name
from energystats.validation import (
    as_array,
    as_pandas,
    as_points,
    check_alpha,
    check_likeness,
    check_positive,
    check_same_columns,
    column_names,
    near_names,
    read_only,
    row_index,
)

__all__ = [
    "CallableMetric",
    "Euclidean",
    "Exponential",
    "Gaussian",
    "Gower",
    "Kernel",
    "Localised",
    "Metric",
    "Precomputed",
    "SciPyMetric",
    "Sine",
    "resolve",
]

SMALL = 1e-120  # coordinates below this are scaled up before they are squared
TINY = 1e-290  # parameters below this, and above its inverse, lose digits
SUBSAMPLE = 2000  # rows used for the median that replaces sigma=None


class Metric(abc.ABC):
    """A semimetric rho(x, y): symmetric, zero at x = y.

    Calling it gives the matrix of rho between the rows of two arrays. Its `negative_type` is True, False, or None
    where nothing general is known; every energy statistic is non-negative only for negative type [G s.2].
    """

    negative_type: bool | None
    trusted: ClassVar[bool] = True  # symmetric and zero at x = y by its formula
    mixes_units: ClassVar[bool] = True  # adds differences of columns, so that the widest column decides
    by_range: ClassVar[bool] = False  # divides every column by its range, so that z-scores have no place
    needs_all_rows: ClassVar[bool] = False  # to settle its parameters; a sample will not do

    @property
    def only_means(self) -> bool:
        """Whether the energy distance is zero as soon as the means agree."""
        return False

    @property
    def about_means(self) -> str:
        """What a test with such a metric sees, for its null hypothesis; nothing for other metrics."""
        if not self.only_means:
            return ""
        return " (squared distances compare means alone; unequal spread in groups of unequal size makes p small, too)"

    @property
    def strong_negative_type(self) -> bool | None:
        """Whether E = 0 for equal distributions only; None where nothing general is known [theory 1]."""
        return False if self.negative_type is False else None

    @property
    def remark(self) -> str:
        """What a reader of a summary has to know of it, as a sentence, or nothing."""
        return ""

    @property
    def coding(self) -> Columns | None:
        """What the columns stand for, where they need not be plain numbers."""
        return None

    @property
    def reads_numbers(self) -> bool:
        """Whether the arrays it works on hold finite numbers, rather than codes or missing values."""
        return self.coding is None or self.coding.plain

    @property
    def domain(self) -> Domain:
        """What the numbers must be, besides finite."""
        return ANY_NUMBERS

    @property
    def spoken(self) -> str:
        """What it is called in messages."""
        return f"`metric` {self!r}"

    def read(self, tables: Sequence[ArrayLike], names: Sequence[str]) -> tuple[list[FloatArray], Metric]:
        """Clean arrays of users' tables, and the metric that knows their columns."""
        if self.domain.truths:
            tables = [truths_as_numbers(table) for table in tables]
        return [as_points(table, name) for table, name in zip(tables, names, strict=True)], self

    def check(self, X: FloatArray, place: Place, columns: Sequence[str] | None = None) -> None:
        """Refuse rows that it cannot compare, in the words of the user's table."""
        fault = self.domain.fault(X, columns)
        if fault is not None:
            raise self.refused(fault, place)

    def refused(self, fault: Fault, place: Place) -> RowError:
        """The error for a row that it cannot compare."""
        return RowError(self.spoken, fault, *place(fault.row))

    def under(self, other: Metric, columns: Sequence[str]) -> Metric:
        """The metric for points that were read by another one."""
        if not other.reads_numbers:
            raise ValueError(
                f"`metric` {self!r} needs numbers, but the columns are coded for {other!r}; mixed tables and missing "
                "values go with Gower's coefficient alone."
            )
        return self

    def summand(self, X: FloatArray) -> float:
        """Size of the numbers whose difference rho is, where it is one; 0 where rho has all its digits."""
        return 0.0

    @abc.abstractmethod
    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Rho between the rows of clean float arrays; (n, d), (m, d) -> (n, m)."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Rho between the rows of X and those of Y (X itself when None), as an (n, m) array."""
        (points, others), metric = self.checked_pair(X, Y)
        fitted = metric.fitted(points)
        weigh(False, Sample(fitted, points), between_tables(len(points), len(others)))
        return fitted.finite_between(points, others)

    def checked_pair(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[tuple[FloatArray, FloatArray], Metric]:
        """`read_pair`, with an error for rows that it cannot compare."""
        (points, others), metric = self.read_pair(X, Y)
        for read, table, name in ((points, X, "X"), (others, Y, "Y")):
            if table is not None:
                named = as_pandas(table)
                metric.check(read, row_places([name], [len(read)], [row_index(named)]), column_names(named))
        return (points, others), metric

    def read_pair(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[tuple[FloatArray, FloatArray], Metric]:
        """Arrays of two tables with the same columns, the first one twice when there is no second."""
        tables, names = ((X,), ("X",)) if Y is None else ((as_pandas(X), as_pandas(Y)), ("X", "Y"))
        (points, *others), metric = self.read(tables, names)
        check_same_columns(tables, [points.shape[1], *(other.shape[1] for other in others)], names)
        return (points, others[0] if others else points), metric

    def finite_between(self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0) -> FloatArray:
        """`between`, with an error for a value that is not finite; `row`, `column` number the first of X and Y."""
        rho = self.between(X, Y)
        if not np.isfinite(rho).all():
            i, j = np.argwhere(~np.isfinite(rho))[0]
            raise ValueError(f"`metric` {self!r} gave {rho[i, j]} for rows {row + i} and {column + j}.")
        return rho

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Kernel that generates rho, as an (n, m) array; here 1/2 [rho(x, 0) + rho(y, 0) - rho(x, y)] [G 8]."""
        (X, Y), _ = self.checked_pair(X, Y)
        origin = np.zeros((1, X.shape[1]))
        rho = self.fitted(X).finite_between
        return 0.5 * (rho(X, origin) + rho(origin, Y) - rho(X, Y))

    def fitted(self, X: FloatArray) -> Metric:
        """The same metric with every parameter that depends on the data settled on `X`."""
        return self

    def in_unit(self, exponent: int) -> Metric | None:
        """The metric whose rho of points times 2**exponent is proportional to that of the points; None for none."""
        return None


@dataclass(frozen=True, slots=True)
class Euclidean(Metric):
    """Power of the Euclidean distance, rho = ||x - y||**alpha [G 2, 21a].

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2. Below 2 the energy distance is zero for equal distributions only; at 2 for equal means.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Euclidean(2)([[0.0, 0.0]], [[3.0, 4.0]]).tolist()
    [[25.0]]
    """

    alpha: float = 1.0
    negative_type: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def only_means(self) -> bool:
        return self.alpha == 2

    @property
    def strong_negative_type(self) -> bool:
        """True for alpha < 2 [Szekely & Rizzo 2005]."""
        return self.alpha < 2

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return euclidean_power(X, Y, self.alpha)

    def in_unit(self, exponent: int) -> Euclidean:
        return self


@dataclass(frozen=True, slots=True)
class Exponential(Metric):
    """Bounded semimetric rho = 2 - 2 exp(-||x - y|| / (2 sigma)) [G 21b]; its kernel is the Laplacian one.

    Parameters
    ----------
    sigma : float or None, default None
        Scale, in the unit of the data. None: the median of the non-zero distances between pairs (of a fixed
        random 2,000 rows when there are more), 1.0 if there is none.

    Examples
    --------
    >>> import energystats as es
    >>> float(es.metrics.Exponential(sigma=1.0)([0.0], [0.0])[0, 0])
    0.0
    """

    sigma: float | None = None
    negative_type: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_sigma(self.sigma))

    @property
    def strong_negative_type(self) -> bool:
        """True: the kernel is characteristic [Sriperumbudur et al. 2010]."""
        return True

    def exponent(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """-||x - y|| / (2 sigma)."""
        return -0.5 * self.relative(X, Y)

    def relative(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """||x - y|| / sigma, infinite where that is too large for a number."""
        assert self.sigma is not None  # `fitted` comes first
        with np.errstate(over="ignore"):
            return np.asarray(euclidean_power(X, Y, 1.0) / self.sigma)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return -2 * np.expm1(self.exponent(X, Y))

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        X = as_points(X, "X")
        return np.exp(self.fitted(X).exponent(X, X if Y is None else as_points(Y, "Y")))

    def fitted(self, X: FloatArray) -> Exponential:
        return self if self.sigma is not None else replace(self, sigma=median_distance(X))

    def in_unit(self, exponent: int) -> Exponential | None:
        assert self.sigma is not None
        with np.errstate(over="ignore", under="ignore"):
            sigma = float(np.ldexp(self.sigma, exponent))
        return replace(self, sigma=sigma) if TINY < sigma < 1 / TINY else None


@dataclass(frozen=True, slots=True)
class Gaussian(Exponential):
    """Bounded semimetric rho = 2 - 2 exp(-||x - y||**2 / (2 sigma**2)) [G 21c]; its kernel is the Gaussian one.

    Parameters
    ----------
    sigma : float or None, default None
        As for `Exponential`.

    Examples
    --------
    >>> import energystats as es
    >>> round(float(es.metrics.Gaussian(sigma=1.0)([0.0], [1.0])[0, 0]), 6)
    0.786939
    """

    def exponent(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """-||x - y||**2 / (2 sigma**2)."""
        with np.errstate(over="ignore"):  # exp(-inf) is 0
            return np.asarray(-0.5 * np.square(self.relative(X, Y)))


@dataclass(frozen=True, slots=True)
class Localised(Metric):
    """Localised semimetric rho = ||x - y||**2 exp(-||x - y|| / 2) [D rho_loc]; in general not of negative type.

    Examples
    --------
    >>> import energystats as es
    >>> round(float(es.metrics.Localised()([0.0], [2.0])[0, 0]), 6)
    1.471518
    """

    negative_type: bool = field(default=False, init=False, repr=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        r = euclidean_power(X, Y, 1.0)
        return np.asarray(r**2 * np.exp(-r / 2))


@dataclass(frozen=True, slots=True)
class Sine(Metric):
    """Sine semimetric rho = ||x - y||**2 theta sin(||x - y|| / theta) [D rho_sin]; not of negative type.

    It is negative in places.

    Parameters
    ----------
    theta : float, default 0.9
        Half the distance between sign changes is theta pi.

    Examples
    --------
    >>> import energystats as es
    >>> bool(es.metrics.Sine()([0.0], [4.0])[0, 0] < 0)
    True
    """

    theta: float = 0.9
    negative_type: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", check_positive(self.theta, "theta"))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        r = euclidean_power(X, Y, 1.0)
        return np.asarray(r**2 * self.theta * np.sin(r / self.theta))


@dataclass(frozen=True, slots=True, repr=False)
class Gower(Metric):
    r"""Gower's general coefficient for tables of numbers and categories, rho = (1 - s)**alpha.

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2. At 1 the root of rho is Gower's Euclidean distance sqrt(1 - s).
    asymmetric : sequence of str, default ()
        Columns of presence and absence (truth values, or 0 and 1) in which two absences say nothing: weight 0.
    weights : mapping of str to float, or sequence of float, optional
        Weights of columns by name, 1 for the others; or of all columns in their order. Not negative, and the largest
        at most 1e9 times the smallest positive one.

    Raises
    ------
    ValueError
        If `alpha` is below 0.001 or above 2, or a weight is negative or not finite. When it meets a table: if
        `asymmetric` or `weights` name no column of it, a value is infinite, a row has no value, two rows have no column
        in common, or a category is unknown to a metric that was settled before.
    TypeError
        When it meets a column of another type, such as dates.

    Warns
    -----
    MissingValuesWarning
        If a column has no value at all; it is left out.

    Notes
    -----
    With weights w_k, s_ij is the mean of s_ijk over the columns k in which both rows have a value. Numbers:
    s = 1 - \|x - y\|/range, the range taken over the table (over the pooled samples); a constant column has s = 1.
    Ordered categoricals: the same with the ranks of their levels. Other categoricals, text and truth values: 1 where
    they match, else 0. **Numbers that name categories have to be declared**: ``.astype("category")``. Missing values
    (NaN, None, NA) are allowed. These are the rules of `daisy` of R's package cluster, except that it takes truth
    values as asymmetric, and a column with presences only as one of absences.

    Where nothing is missing, rho is of negative type for alpha <= 1: 1 - \|x - y\|/range, matching and joint presence
    are positive semi-definite, so is their sum, and so is it divided by what joint absences leave of the weights
    [theory 1]. With missing values it need not be. For alpha = 1, nothing missing and no asymmetric column, rho is a
    sum over columns, and so is the energy distance: it sees how the distributions of single columns differ, and not
    how columns depend on each other. Any alpha < 1 sees both, since powers below 1 of a metric of negative type are of
    strong negative type [Lyons 2013].

    Rows that come later, as in `predict`, may lie beyond the range; \|x - y\|/range is then larger than 1.
    O(n m d) time for the rho of n and m rows, O(n m) memory.

    References
    ----------
    Gower (1971) for the coefficient and its definiteness; Kaufman & Rousseeuw (1990) for ranks of ordered categories;
    Lyons (2013) for strong negative type.

    Examples
    --------
    >>> import pandas as pd, energystats as es
    >>> table = pd.DataFrame({"age": [20.0, 30.0, 60.0], "sex": ["f", "m", "f"], "smokes": [True, None, False]})
    >>> es.pairwise(table, metric="gower").round(3).tolist()
    [[0.0, 0.625, 0.667], [0.625, 0.0, 0.875], [0.667, 0.875, 0.0]]
    """

    mixes_units: ClassVar[bool] = False
    by_range: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True
    alpha: float = 1.0
    asymmetric: Sequence[str] = ()
    weights: Mapping[str, float] | Sequence[float] | None = field(default=None, hash=False)
    coding: Columns | None = field(default=None, kw_only=True, compare=False)
    ranges: FloatArray | None = field(default=None, kw_only=True, compare=False)
    beyond: bool = field(default=False, kw_only=True, compare=False)  # whether rows lie beyond ranges settled before

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if isinstance(self.asymmetric, str):
            raise TypeError(f"`asymmetric` must be a sequence of column names, got the string {self.asymmetric!r}.")
        object.__setattr__(self, "asymmetric", tuple(map(str, self.asymmetric)))
        if self.weights is not None:
            object.__setattr__(self, "weights", check_column_weights(self.weights))
        if self.ranges is not None:
            object.__setattr__(self, "ranges", read_only(self.ranges))

    def __repr__(self) -> str:
        words = [f"alpha={self.alpha}"]
        if self.coding is not None:
            words.append(str(self.coding))
        elif self.asymmetric:
            words.append(f"asymmetric={list(self.asymmetric)}")
        if self.weights is not None:
            words.append("weighted" if self.coding is not None else f"weights={self.weights!r}")
        return f"Gower({', '.join(words)})"

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """True for alpha <= 1 without missing values [Gower 1971], else None."""
        if self.coding is None or not self.coding.complete or (self.beyond and self.asymmetric):
            return None
        return True if self.alpha <= 1 else None

    @property
    def strong_negative_type(self) -> bool | None:
        """True for alpha < 1 where it is a metric, False for a sum of several columns, else None [Lyons 2013]."""
        if not self.negative_type or self.coding is None or self.coding.where("asymmetric").size or self.weights:
            return None
        return True if self.alpha < 1 else False if len(self.coding.names) > 1 else None

    @property
    def remark(self) -> str:
        if self.coding is not None and not self.coding.complete:
            return (
                "Values are missing: equality of distributions includes where they are missing, and rho need not be "
                "of negative type, so that S may be negative."
            )
        if self.alpha != 1 or self.coding is None or len(self.coding.names) < 2 or self.coding.where("asymmetric").size:
            return ""
        return (
            "At alpha = 1 Gower's coefficient is a sum over columns: it sees how the distributions of single columns "
            "differ, not how columns depend on each other; alpha < 1 sees both."
        )

    def read(self, tables: Sequence[ArrayLike], names: Sequence[str]) -> tuple[list[FloatArray], Metric]:
        known = self.coding if self.ranges is not None else None
        arrays, coding = encode(tables, names, asymmetric=self.asymmetric, known=known)
        return arrays, self.told(coding)

    def told(self, coding: Columns) -> Gower:
        """The metric that knows its columns."""
        check_names(self.asymmetric, coding.names, "asymmetric")
        if isinstance(self.weights, Mapping):
            check_names(self.weights, coding.names, "weights")
        elif self.weights is not None and len(self.weights) != len(coding.names):
            raise ValueError(f"`weights` must have one weight a column, {len(coding.names)}, got {len(self.weights)}.")
        told = replace(self, coding=coding)
        if self.weights is not None:
            check_column_likeness(told.column_weights())
        return told

    def under(self, other: Metric, columns: Sequence[str]) -> Metric:
        coding = Columns.numeric(columns, complete=True) if other.coding is None else other.coding
        coded = {coding.names[j] for j in coding.where("asymmetric")}
        if coded != set(self.asymmetric):
            raise ValueError(
                f"`metric` {self!r} and {other!r} must name the same `asymmetric` columns to be used on one table."
            )
        return replace(self.told(coding), ranges=None)

    def fitted(self, X: FloatArray) -> Gower:
        """Settle the ranges of numbers and of the codes of ordered categories; columns unheard of are numbers."""
        if self.ranges is not None:
            graded = self.coding.where("numeric", "ordered") if self.coding is not None else slice(None)
            return replace(self, beyond=bool((widths_of(X)[graded] > self.ranges[graded]).any()))
        told = self
        if self.coding is None:
            names = map(str, range(X.shape[1]))
            told = self.told(Columns.numeric(names, complete=not bool(np.isnan(X).any())))
            if self.asymmetric:
                (X,), metric = self.read((X,), ("X",))
                told = cast(Gower, metric)
        return replace(told, ranges=widths_of(X))

    def column_weights(self) -> FloatArray:
        """w_k of every column."""
        assert self.coding is not None
        if isinstance(self.weights, Mapping):
            return np.array([self.weights.get(name, 1.0) for name in self.coding.names])
        return np.ones(len(self.coding.names)) if self.weights is None else np.asarray(self.weights)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        assert self.coding is not None
        assert self.ranges is not None  # `fitted` comes first
        weights = self.column_weights()
        how = np.full(weights.size, MATCHED)
        graded = self.coding.where("numeric", "ordered")
        graded = graded[self.ranges[graded] > 0]  # a constant column matches or does not
        how[graded] = GRADED
        how[self.coding.where("asymmetric")] = PRESENCE
        d = gower_between(X, Y, self.ranges, weights, how)
        return d if self.alpha == 1 else np.asarray(np.power(d, self.alpha, out=d))

    def finite_between(self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0) -> FloatArray:
        rho = self.between(X, Y)
        if X is Y and row == column:  # two absences in all columns say nothing, but of one row they say enough
            np.fill_diagonal(rho, 0.0)
        if np.isnan(rho).any():
            i, j = np.argwhere(np.isnan(rho))[0]
            raise ValueError(
                f"`metric` {self!r} needs a column of some weight in which both rows have a value, but rows {row + i} "
                f"and {column + j} have none in common; drop one of them."
            )
        return rho

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """(1 - rho)/2, for alpha = 1 half of Gower's similarity s."""
        (points, others), metric = self.read_pair(X, Y)
        return np.asarray(0.5 * (1.0 - metric.fitted(points).finite_between(points, others)))


class Kernel(Metric):
    """Semimetric generated by a kernel, rho = K(x, x) + K(y, y) - 2 K(x, y) [G 9].

    Parameters
    ----------
    k : callable or str
        A function k(X, Y, ...) -> (n, m), or the name of a kernel of `sklearn.metrics.pairwise_kernels`.
    **params : object
        Passed on to the kernel.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Kernel("linear")([[0.0, 0.0]], [[3.0, 4.0]]).tolist()
    [[25.0]]
    """

    __slots__ = ("k", "params")
    k: Callable[..., FloatArray] | str
    params: Mapping[str, Any]
    trusted = False

    def __init__(self, k: Callable[..., FloatArray] | str, **params: Any) -> None:
        if isinstance(k, str):
            with loading():
                from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

            if k not in PAIRWISE_KERNEL_FUNCTIONS:
                known = sorted(PAIRWISE_KERNEL_FUNCTIONS)
                raise ValueError(f"`k` must be one of {', '.join(known)}; got {k!r}.{near_names(k, known)}")
        elif not callable(k):
            raise TypeError(f"`k` must be a callable k(X, Y) or the name of a kernel, got {type(k).__name__}.")
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "params", MappingProxyType(dict(params)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Kernel cannot be changed; make another one, got {name} = {value!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: a mapping proxy cannot be pickled
        return partial(Kernel, self.k, **self.params), ()

    def __repr__(self) -> str:
        name = self.k if isinstance(self.k, str) else getattr(self.k, "__name__", repr(self.k))
        return f"Kernel({', '.join([repr(name), *(f'{a}={v!r}' for a, v in self.params.items())])})"

    @property
    def mixes_units(self) -> bool:  # type: ignore[override]
        """Whether it is a function of Euclidean or Manhattan distances; of a user's function nothing is known."""
        return self.k in TRANSLATION_INVARIANT

    @property
    def domain(self) -> Domain:
        return COUNTS if self.k in ("chi2", "additive_chi2") else ANY_NUMBERS

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """True for the named kernels that are positive semi-definite whatever the data, else None."""
        known = POSITIVE_KERNELS | ({"polynomial", "poly"} if self.params.get("coef0", 1) >= 0 else set())
        fine = self.params.get("gamma") is None or self.params["gamma"] > 0
        return True if isinstance(self.k, str) and self.k in known and fine else None

    @property
    def strong_negative_type(self) -> bool | None:
        """True for "rbf" and "laplacian", which are characteristic; False for kernels of finitely many features."""
        if not self.negative_type:
            return None
        return {"rbf": True, "laplacian": True, "chi2": None}.get(str(self.k), False)

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        X = as_points(X, "X")
        return self._evaluate(X, X if Y is None else as_points(Y, "Y"))

    def _evaluate(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if isinstance(self.k, str):
            with loading():
                from sklearn.metrics import pairwise_kernels

            K = pairwise_kernels(X, Y, metric=self.k, **self.params)
        else:
            K = self.k(X, Y, **self.params)
        return checked_output(K, X, Y, "k")

    def _diagonal(self, X: FloatArray) -> FloatArray:
        step = 128  # small squares: k(X, X) in whole would cost n x n for n numbers
        parts = [self._evaluate(X[i : i + step], X[i : i + step]).diagonal() for i in range(0, len(X), step)]
        return np.concatenate(parts)

    def summand(self, X: FloatArray) -> float:
        """The largest K(x, x)."""
        return float(np.abs(self._diagonal(X - X.mean(axis=0) if self.k in TRANSLATION_INVARIANT else X)).max())

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.k in TRANSLATION_INVARIANT:  # an offset costs these kernels digits that rho need not lose
            center = X.mean(axis=0)
            X, Y = X - center, Y - center
        own_x, own_y = self._diagonal(X), self._diagonal(Y)
        rho = own_x[:, None] + own_y[None, :] - 2 * self._evaluate(X, Y)
        rounding = 8 * np.finfo(float).eps * (np.abs(own_x)[:, None] + np.abs(own_y)[None, :])
        rho[np.abs(rho) <= rounding] = 0.0
        return rho


@dataclass(frozen=True, slots=True)
class SciPyMetric(Metric):
    """A distance that `scipy.spatial.distance.cdist` knows by name, to the power alpha.

    Parameters
    ----------
    name : str
        The name of the distance; for other names of it see `resolve`.
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Notes
    -----
    What the distances ask of their data is in the notes of `pairwise`. "russellrao" is not 0 from a row to itself
    unless the row has only ones; as in a matrix of R, the diagonal counts as 0.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.SciPyMetric("cityblock")([[0.0, 0.0]], [[3.0, 4.0]]).tolist()
    [[7.0]]
    """

    trusted: ClassVar[bool] = True
    name: str
    alpha: float = 1.0
    params: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # "exponents": units of columns

    def __post_init__(self) -> None:
        if self.name not in SCIPY_NAMES:
            object.__setattr__(self, "name", named(self.name, SCIPY_NAMES, "name"))
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        kept = {key: read_only(part) if isinstance(part, np.ndarray) else part for key, part in self.params.items()}
        object.__setattr__(self, "params", kept)

    @property
    def mixes_units(self) -> bool:  # type: ignore[override]
        return self.name in ("chebyshev", "cityblock", "euclidean", "minkowski", "sqeuclidean")

    @property
    def measures_columns(self) -> bool:
        """Whether variances or a covariance are taken from the data."""
        return self.name in ("seuclidean", "mahalanobis")

    @property
    def domain(self) -> Domain:
        return DOMAINS.get(self.name, ANY_NUMBERS)

    @property
    def spoken(self) -> str:
        return f'metric="{self.name}"'

    @property
    def needs_all_rows(self) -> bool:  # type: ignore[override]
        return self.measures_columns and not self.params

    @property
    def only_means(self) -> bool:
        squared = {"sqeuclidean": 1, "seuclidean": 2, "mahalanobis": 2}
        return self.alpha == squared.get(self.name)

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """True up to the power for which it is known [Schoenberg 1938; Gower & Legendre 1986], else None."""
        return True if self.alpha <= NEGATIVE_TYPE_UP_TO.get(self.name, 0.0) else None

    @property
    def strong_negative_type(self) -> bool | None:
        """True below that power, for distances that tell all points apart [Lyons 2013, remark 3.19]."""
        if not self.negative_type:
            return None
        if self.name in ("cosine", "correlation", "jensenshannon"):
            return False  # proportional points have distance 0
        return self.alpha < NEGATIVE_TYPE_UP_TO[self.name]  # there means alone, or the law of each column alone

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        size = max(float(np.abs(X).max()), float(np.abs(Y).max()))
        if self.name in DEGREES and 0 < size < SMALL:
            e = int(exponents(size))
            near_one = self.between(np.ldexp(X, -e), np.ldexp(Y, -e))
            return np.asarray(near_one * two_to(e * DEGREES[self.name], self.alpha))
        parameters = dict(self.params)
        if "exponents" in parameters:
            units = parameters.pop("exponents")
            X, Y = np.ldexp(X, -units), np.ldexp(Y, -units)
        if self.name in ("cosine", "correlation"):  # of a row of tiny numbers, squares would underflow
            X, Y = near_one_by_row(X), near_one_by_row(Y)
        distances = cdist(X, Y, self.name, **parameters)
        if self.name == "jensenshannon":  # of proportional rows SciPy may take the root of a rounding below 0
            known = np.multiply.outer(X.any(axis=1), Y.any(axis=1))
            distances[np.isnan(distances) & known] = 0.0
        return np.asarray(distances if self.alpha == 1 else distances**self.alpha)

    def in_unit(self, exponent: int) -> SciPyMetric | None:
        if self.params:
            units = self.params["exponents"] + exponent
            return replace(self, params={**self.params, "exponents": units})
        return self if self.name in DEGREES else None

    def fitted(self, X: FloatArray) -> SciPyMetric:
        """Settle the variances of "seuclidean" and the covariance of "mahalanobis" on the rows of X."""
        if self.params or not self.measures_columns:
            return self
        if len(X) < 2:
            raise ValueError(f'metric="{self.name}" needs at least two rows to estimate variances, got {len(X)}.')
        spread = deviations(X, ddof=1)
        spread = np.where(spread > 0, spread, 1.0)
        units = exponents(spread)
        near_one = np.ldexp(spread, -units)
        if self.name == "seuclidean":
            return replace(self, params={"V": near_one**2, "exponents": units})
        correlation = np.atleast_2d(np.cov((X - X.mean(axis=0)) / spread, rowvar=False))
        rank = int(np.linalg.matrix_rank(correlation))
        if rank < len(correlation):
            raise ValueError(
                'metric="mahalanobis" needs an invertible covariance matrix, but the columns are linearly dependent '
                f"(rank {rank} of {len(correlation)}); drop columns, or use more rows than columns."
            )
        inverse = np.linalg.inv(correlation) / np.multiply.outer(near_one, near_one)
        return replace(self, params={"VI": inverse, "exponents": units})


@dataclass(frozen=True, slots=True)
class CallableMetric(Metric):
    """A user's function rho(X, Y) -> (n, m).

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, d) and (m, d), returns rho between their rows.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rho = es.metrics.CallableMetric(lambda X, Y: np.abs(X - Y.T) ** 0.5)
    >>> rho([0.0], [4.0]).tolist()
    [[2.0]]
    """

    trusted: ClassVar[bool] = False
    mixes_units: ClassVar[bool] = False  # for all that is known of it
    function: Callable[[FloatArray, FloatArray], FloatArray]
    negative_type: bool | None = field(default=None, init=False, repr=False)

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return checked_output(self.function(X, Y), X, Y, "metric")


@dataclass(frozen=True, slots=True)
class Precomputed(Metric):
    """Stands for a matrix of rho that the user brought.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Precomputed()
    Precomputed()
    """

    negative_type: bool | None = field(default=None, init=False, repr=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        raise TypeError('metric="precomputed" has no rho for new points; pass their rho to the old ones instead.')


MetricLike: TypeAlias = str | Metric | Callable[[FloatArray, FloatArray], FloatArray]

# largest power that is known to be of negative type for every data set
NEGATIVE_TYPE_UP_TO = {
    "euclidean": 2.0,
    "seuclidean": 2.0,
    "mahalanobis": 2.0,
    "sqeuclidean": 1.0,
    "cityblock": 1.0,
    "hamming": 1.0,
    "cosine": 1.0,
    "correlation": 1.0,
    "jensenshannon": 2.0,
}
DEGREES = {  # rho of points times c is rho times c to this power, for alpha = 1
    "braycurtis": 0,
    "canberra": 0,
    "chebyshev": 1,
    "cityblock": 1,
    "correlation": 0,
    "cosine": 0,
    "euclidean": 1,
    "minkowski": 1,
    "sqeuclidean": 2,
}
COUNTS = Domain(needs="compares counts or amounts", negative=False, z_scores=False)
PRESENCES = Domain(needs="compares presence and absence", binary=True, truths=True, z_scores=False)
DOMAINS = {  # of names that do not take all rows of finite numbers
    "braycurtis": replace(COUNTS, zero_rows=False),
    "canberra": Domain(needs="divides differences by the sizes of the numbers", z_scores=False),
    "correlation": Domain(constant_rows=False),
    "cosine": Domain(zero_rows=False),
    "dice": replace(PRESENCES, zero_rows=False),
    "hamming": Domain(truths=True),
    "jaccard": replace(
        PRESENCES, hint=' (the Jaccard of vegan for counts is 2 B / (1 + B) with B from metric="braycurtis")'
    ),
    "jensenshannon": replace(COUNTS, zero_rows=False),
    "rogerstanimoto": PRESENCES,
    "russellrao": PRESENCES,
    "sokalsneath": replace(PRESENCES, zero_rows=False),
    "yule": PRESENCES,
}
POSITIVE_KERNELS = {"linear", "rbf", "laplacian", "cosine", "chi2"}
TRANSLATION_INVARIANT = ("linear", "rbf", "laplacian")  # names of kernels whose rho is
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
KNOWN_NAMES = tuple(sorted({*SCIPY_NAMES, "exponential", "gaussian", "gower", "precomputed"}))


def resolve(metric: MetricLike, alpha: float) -> Metric:
    """The metric object that a user's `metric=` and `alpha=` stand for.

    Parameters
    ----------
    metric : str, Metric or callable
        As every function of the package takes it. Names may be written as R and scikit-learn have them where these
        mean the same: "manhattan", "l1" and "taxicab" are "cityblock", "l2" is "euclidean", "bray" is "braycurtis",
        "maximum", "supremum" and "chebychev" are "chebyshev", "binary" is "jaccard", "matching" is "hamming",
        "sorensen" is "dice"; capitals, blanks and hyphens do not count.
    alpha : float
        Power of a named distance, from 0.001 to 2; must be 1 for anything else.

    Returns
    -------
    Metric
        Not yet fitted to data.

    Raises
    ------
    ValueError
        If the name is unknown (of "hellinger", "chord" and others that are Euclidean distances of transformed rows,
        the message has the transformation), `alpha` is below 0.001 or above 2, or not 1 where rho is complete.
    TypeError
        If `metric` is neither a name, a metric object nor a callable.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.resolve("euclidean", 0.5)
    Euclidean(alpha=0.5)
    """
    alpha = check_alpha(alpha)
    if isinstance(metric, str):
        name = named(metric, KNOWN_NAMES, "metric", ", or an object")
        if name == "euclidean":
            return Euclidean(alpha)
        if name in SCIPY_NAMES:
            return SciPyMetric(name, alpha)
        if name == "gower":
            return Gower(alpha)
        resolved: Metric = {"exponential": Exponential, "gaussian": Gaussian, "precomputed": Precomputed}[name]()
    elif isinstance(metric, Metric):
        resolved = metric
    elif isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"`metric` must be an object, got the class; write `es.metrics.{metric.__name__}(...)`.")
    elif callable(metric):
        resolved = CallableMetric(cast(Callable[[FloatArray, FloatArray], FloatArray], metric))
    else:
        raise TypeError(f"`metric` must be a name, an `es.metrics` object or a callable, got {type(metric).__name__}.")
    if alpha != 1:
        raise ValueError(
            f"`alpha` raises a named distance to a power and must be 1 for {resolved!r}, whose rho is complete; "
            f"got {alpha:g}."
        )
    return resolved


def named(name: str, known: Sequence[str], argument: str, ending: str = "") -> str:
    """The name of a metric from one of its spellings and synonyms."""
    try:
        return canonical_name(name, known, ending=ending)
    except ValueError as error:
        raise ValueError(f"`{argument}` {error}") from None


def is_named(metric: object, name: str) -> bool:
    """Whether `metric` is a name that stands for this one, in any spelling."""
    try:
        return isinstance(metric, str) and canonical_name(metric, KNOWN_NAMES) == name
    except ValueError:
        return False


def near_one_by_row(X: FloatArray) -> FloatArray:
    """Rows times powers of two, by which their largest entries come near 1 and no digit is lost."""
    return np.asarray(np.ldexp(X, -exponents(np.abs(X).max(axis=1))[:, None]))


def euclidean_power(X: FloatArray, Y: FloatArray, alpha: float) -> FloatArray:
    """||x - y||**alpha from coordinate differences, so that an offset of the data costs no digits."""
    size = max(float(np.abs(X).max()), float(np.abs(Y).max()))
    if 0 < size < SMALL:  # squares would underflow; a power of two changes no digit
        e = int(exponents(size))
        return np.asarray(euclidean_power(np.ldexp(X, -e), np.ldexp(Y, -e), alpha) * two_to(e, alpha))
    distances = euclidean(X, Y, squared=alpha == 2)
    if alpha == 2:
        return distances
    if alpha == 0.5:
        return np.asarray(np.sqrt(distances, out=distances))
    return distances if alpha == 1 else np.asarray(np.power(distances, alpha, out=distances))


def median_distance(X: FloatArray) -> float:
    """Median of the non-zero distances between rows, of a fixed random `SUBSAMPLE` of them when there are more."""
    if len(X) > SUBSAMPLE:
        X = X[np.random.default_rng(0).choice(len(X), SUBSAMPLE, replace=False)]
    distances = euclidean_power(X, X, 1.0)[np.triu_indices(len(X), 1)]
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0


def check_sigma(sigma: object) -> float | None:
    """A positive number, or None for the median distance."""
    return None if sigma is None else check_positive(sigma, "sigma")


def checked_output(values: object, X: FloatArray, Y: FloatArray, name: str) -> FloatArray:
    """What a user's function returned, if it has the right shape."""
    matrix = as_array(values, name)
    if matrix.shape != (len(X), len(Y)):
        raise ValueError(
            f"`{name}` must return an array of shape ({len(X)}, {len(Y)}) for inputs of {len(X)} and {len(Y)} rows, "
            f"got {matrix.shape}."
        )
    if matrix.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must return real numbers, got dtype {matrix.dtype}.")
    return np.asarray(np.ma.filled(matrix.astype(np.float64), np.nan))


def check_column_weights(weights: object) -> dict[str, float] | tuple[float, ...]:
    """Weights by name or in order: finite, none negative, not all zero, of like size where they are positive."""
    if isinstance(weights, str) or not isinstance(weights, Mapping | Sequence | np.ndarray):
        raise TypeError(f"`weights` must be a mapping or a sequence, got {type(weights).__name__}.")
    named = weights if isinstance(weights, Mapping) else dict(enumerate(weights))
    found: dict[str, float] = {}
    for name, value in named.items():
        if isinstance(value, bool | str) or not np.isreal(value) or np.ndim(value) != 0:
            raise TypeError(f"`weights` must be numbers, got {value!r} for column {name!r}.")
        if not 0 <= value < np.inf:
            raise ValueError(f"`weights` must be finite and not negative, got {value:g} for column {name!r}.")
        found[str(name)] = float(value)
    check_column_likeness(np.array(list(found.values())))
    if isinstance(weights, Mapping):
        return found
    if not any(found.values()):
        raise ValueError("`weights` must not all be zero.")
    return tuple(found.values())


def check_column_likeness(weights: FloatArray) -> None:
    """Refuse positive weights of columns so unlike that rho loses the lightest of them."""
    if (weights > 0).any():
        check_likeness(weights[weights > 0], "weights", "a column that hardly counts has weight 0")


def widths_of(X: FloatArray) -> FloatArray:
    """Ranges of columns, missing values aside; 0 where there is no value."""
    return np.asarray(np.nan_to_num(np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)))


def check_names(given: Iterable[str], columns: Sequence[str], argument: str) -> None:
    """Complain about a name that no column has."""
    for name in given:
        if name not in columns:
            hint = near_names(name, columns) or " Columns: " + ", ".join(columns) + "."
            raise ValueError(f"`{argument}` names {name!r}, but there is no such column.{hint}")
