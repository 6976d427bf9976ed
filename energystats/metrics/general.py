"""Define metrics by names of SciPy, functions of users, and precomputed matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from energystats._core.distances import angular, jensen_shannon
from energystats._core.powers_of_two import deviations, exponents, two_to
from energystats._typing import FloatArray
from energystats.inputs.arrays import as_numbers, read_only
from energystats.inputs.options import check_alpha
from energystats.metrics.base import (
    COUNTS,
    OF_SHARES,
    SCIPY_NAMES,
    SMALL,
    Metric,
    check_pairs_alone,
    checked_output,
    find_metric_name,
)
from energystats.metrics.domains import ANY_NUMBERS, Domain

__all__ = ["CallableMetric", "Precomputed", "SciPyMetric", "has_mahalanobis", "is_mahalanobis"]


_ADDED_OVER_COLUMNS = (
    "This metric adds up over columns: it sees how the distributions of single columns differ, not how columns depend "
    "on each other; alpha < 1 sees both.",
)
_OF_LENGTH_ONE = "half the squared distance of rows of length 1"
SEEN_ALONE: dict[str, tuple[str, ...]] = {  # at alpha = 1
    "canberra": _ADDED_OVER_COLUMNS,
    "cityblock": _ADDED_OVER_COLUMNS,
    "hamming": _ADDED_OVER_COLUMNS,
    "cosine": (f"This metric is {_OF_LENGTH_ONE}: it compares the means of these alone; alpha < 1 sees more.",),
    "correlation": (
        f"This metric is {_OF_LENGTH_ONE} about their own mean: it compares the means of these alone; alpha < 1 sees "
        "more.",
    ),
}


@dataclass(frozen=True, slots=True)
class SciPyMetric(Metric):
    """Define a distance that `scipy.spatial.distance.cdist` knows by name, to the power alpha.

    Parameters
    ----------
    name : str
        The name of the distance; for other names of it see `resolve`.
    alpha : float, default 1.0
        0.001 <= alpha <= 2.
    params : dict, optional
        Arguments of `cdist`: "p" > 0 of "minkowski", variances "V" > 0 of "seuclidean", the inverse covariance "VI" of
        "mahalanobis", column weights "w" >= 0 of all but the last two and "jensenshannon"; arrays go by columns.

    Raises
    ------
    ValueError
        If there is no such distance, alpha or a parameter is not as above, or does not fit the columns of the points.
    TypeError
        If a parameter is no number or array, or has names, which cannot be compared with those of the columns.

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

    name: str
    alpha: float = 1.0
    params: dict[str, Any] = field(default_factory=dict)  # "exponents": units of columns

    def __post_init__(self) -> None:
        if self.name not in SCIPY_NAMES:
            object.__setattr__(self, "name", find_metric_name(self.name, SCIPY_NAMES, "name"))
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if not isinstance(self.params, Mapping):
            raise TypeError(f"`params` must be a dict of arguments of `cdist`, got {type(self.params).__name__}.")
        if "exponents" not in self.params:  # of the user, not fitted
            object.__setattr__(self, "params", _read_parameters(self.name, self.params))
        else:
            object.__setattr__(self, "params", {key: read_only(np.asarray(part)) for key, part in self.params.items()})

    def __eq__(self, other: object) -> bool:
        """Return whether two metrics have the same name, power and parameters; arrays are compared by entries."""
        if not isinstance(other, SciPyMetric):
            return NotImplemented
        if (self.name, self.alpha, self.params.keys()) != (other.name, other.alpha, other.params.keys()):
            return False
        return all(np.array_equal(part, other.params[key]) for key, part in self.params.items())

    def __hash__(self) -> int:
        return hash((self.name, self.alpha))

    def __repr__(self) -> str:
        """Return the metric with the user's parameters as text, large arrays by their shape."""
        given = {} if "exponents" in self.params else self.params
        parts = ", ".join(f"{key!r}: {_shown(part)}" for key, part in given.items())
        return f"SciPyMetric(name={self.name!r}, alpha={self.alpha!r}" + (f", params={{{parts}}})" if parts else ")")

    @property
    def mixes_units(self) -> bool:  # type: ignore[override]
        return self.name in ("chebyshev", "cityblock", "euclidean", "minkowski", "sqeuclidean")

    @property
    def unit_free(self) -> bool:  # type: ignore[override]
        return DEGREES.get(self.name) == 0

    @property
    def by_differences(self) -> bool:  # type: ignore[override]
        return self.mixes_units or self.measures_columns

    @property
    def measures_columns(self) -> bool:  # type: ignore[override]
        """Return whether a SciPy metric divides by column variances or a covariance, from the data unless given."""
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
        squared = {"sqeuclidean": 1, "euclidean": 2, "seuclidean": 2, "mahalanobis": 2}
        if self.name == "minkowski" and self.params.get("p", 2) == 2:
            return self.alpha == 2
        return self.alpha == squared.get(self.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note if energy distance under the metric does not see all differences of distributions; else ()."""
        return SEEN_ALONE.get(self.name, ()) if self.alpha == 1 else ()

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether the metric is of negative type: True up to a known power [Schoenberg 1938], else None."""
        return True if self.alpha <= NEGATIVE_TYPE_UP_TO.get(self.name, 0.0) else None

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0: True below a known power [Lyons 2013]."""
        if not self.negative_type:
            return None
        if self.name in ("cosine", "correlation", "jensenshannon") or self._is_blind():
            return False  # proportional points have distance 0, or those that differ where the distance does not look
        if self.name in QUOTIENTS and self.alpha == 1:
            return None
        # at that power E compares means alone, or the distribution of each column alone
        return self.alpha < NEGATIVE_TYPE_UP_TO[self.name]

    def _is_blind(self) -> bool:
        """Return whether a metric's weights or matrix make it ignore differences of rows in some direction."""
        if (weights := self.params.get("w")) is not None:
            return bool((weights == 0).any())
        inverse = self.params.get("VI")
        if inverse is None or "exponents" in self.params:
            return False
        sizes = np.linalg.eigvalsh(inverse)
        return bool(sizes[0] <= NOTHING * sizes[-1])

    @property
    def compares(self) -> str:
        return {"cosine": "rows of length 1", "correlation": "centred rows of length 1"}.get(self.name, "")

    def transform(self, X: FloatArray) -> FloatArray:
        if not self.compares:
            return X
        directions = self._directions(_scale_rows(X), **self.params)
        return np.asarray(directions / (math.sqrt(2) * np.linalg.norm(directions, axis=1, keepdims=True)))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        for key, part in self.params.items():
            if np.ndim(part) and part.shape != (X.shape[1],) * part.ndim:
                wanted = f"({', '.join([str(X.shape[1])] * part.ndim)}{',' * (part.ndim == 1)})"
                raise ValueError(
                    f"`params[{key!r}]` must have shape {wanted} for points with {X.shape[1]} "
                    f"column{'s' * (X.shape[1] != 1)}, got {part.shape}."
                )
        size = max(float(np.abs(X).max()), float(np.abs(Y).max()))
        if self.name in DEGREES and 0 < size < SMALL:
            # rho is homogeneous of a known degree, so a power of two can be taken out without losing a digit
            e = int(exponents(size))
            near_one = self.between(np.ldexp(X, -e), np.ldexp(Y, -e))
            return np.asarray(near_one * two_to(e * DEGREES[self.name], self.alpha))
        parameters = dict(self.params)
        if "exponents" in parameters:
            units = parameters.pop("exponents")
            X, Y = np.ldexp(X, -units), np.ldexp(Y, -units)
        if self.name in ("cosine", "correlation"):  # of a row of tiny numbers, squares would underflow
            X, Y = _scale_rows(X), _scale_rows(Y)
            noise = tuple(ROUNDED * np.abs(rows).max(axis=1) * np.sqrt(rows.shape[1]) for rows in (X, Y))
            distances = angular(self._directions(X, **parameters), self._directions(Y, **parameters), noise)
        elif self.name == "jensenshannon":
            distances = jensen_shannon(X, Y)
        else:
            distances = cdist(X, Y, self.name, **parameters)
        return np.asarray(distances if self.alpha == 1 else distances**self.alpha)

    def _directions(self, X: FloatArray, w: FloatArray | None = None) -> FloatArray:
        """Center (for correlation) and weight rows so that their cosine gives the distance; (n, d) -> (n, d)."""
        if self.name == "correlation":
            X = X - (X.mean(axis=1) if w is None else X @ (w / w.sum()))[:, None]
        return X if w is None else np.asarray(X * np.sqrt(w))

    def column_factors(self, d: int) -> FloatArray:
        weights = self.params.get("w")
        if weights is None or weights.shape != (d,):  # which `between` refuses
            return np.ones(d)
        if self.name == "chebyshev":  # takes all columns of a weight above 0 alike
            return np.asarray(np.sign(weights))
        power = {"cityblock": 1.0, "minkowski": self.params.get("p", 2.0)}.get(self.name, 2.0)
        return np.asarray((weights / weights.max()) ** (1 / power))

    def in_unit(self, exponent: int) -> SciPyMetric | None:
        if "exponents" in self.params:
            units = self.params["exponents"] + exponent
            return replace(self, params={**self.params, "exponents": units})
        return self if self.name in DEGREES else None

    def fitted(self, X: FloatArray) -> SciPyMetric:
        """Return the metric with variances (seuclidean) or covariance (mahalanobis) estimated from X."""
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
        # the correlation matrix is inverted, whose condition does not depend on the units of the columns
        correlation = np.atleast_2d(np.cov((X - X.mean(axis=0)) / spread, rowvar=False))
        values = np.linalg.eigvalsh(correlation)
        rank = int(np.count_nonzero(values > SMALLEST_EIGENVALUE * values[-1]))
        if rank < len(correlation):
            raise ValueError(
                'metric="mahalanobis" needs an invertible covariance matrix, but the columns are linearly dependent '
                f"(rank {rank} of {len(correlation)}); drop columns, or use more rows than columns."
            )
        if len(X) == rank + 1:
            raise ValueError(
                f'metric="mahalanobis" needs at least {rank + 2} rows for {rank} columns, got {len(X)}: of so few, all '
                "distances are equal whatever the data; drop columns, or use more rows."
            )
        inverse = np.linalg.inv(correlation) / np.multiply.outer(near_one, near_one)
        return replace(self, params={"VI": inverse, "exponents": units})


def is_mahalanobis(metric: Metric) -> bool:
    """Return whether a metric is the Mahalanobis distance, which decorrelates the columns."""
    return isinstance(metric, SciPyMetric) and metric.name == "mahalanobis"


def has_mahalanobis(points: FloatArray) -> bool:
    """Return whether Mahalanobis distances of points are defined: their covariance matrix can be inverted.

    There have to be at least two rows more than columns.
    """
    try:
        SciPyMetric("mahalanobis").fitted(points)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class CallableMetric(Metric):
    """Define a metric by a user's function rho(X, Y) -> (n, m).

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, d) and (m, d), returns rho between their rows. It is called with blocks of rows, so
        that rho must depend on two rows alone: a variance or a median distance is computed beforehand.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rho = es.metrics.CallableMetric(lambda X, Y: np.abs(X - Y.T) ** 0.5)
    >>> rho([0.0], [4.0]).tolist()
    [[2.0]]
    """

    trusted: ClassVar[bool] = False
    mixes_units: ClassVar[bool] = False  # for all that is known of it
    in_threads: ClassVar[bool] = False
    function: Callable[[FloatArray, FloatArray], FloatArray]
    negative_type: bool | None = field(default=None, init=False, repr=False)

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        try:
            found = self.function(X.copy(), Y.copy())  # which may work in place
        except Exception as error:
            error.add_note("`metric` is called with rows X of shape (n, d) and Y of shape (m, d), and returns (n, m).")
            raise
        return checked_output(found, X, Y, "metric")

    def fitted(self, X: FloatArray) -> CallableMetric:
        check_pairs_alone(self.between, X, "metric")
        return self


@dataclass(frozen=True, slots=True)
class Precomputed(Metric):
    """Mark that rho is given as a matrix that the user computed.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Precomputed()
    Precomputed()
    """

    negative_type: bool | None = field(default=None, init=False, repr=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        raise TypeError('metric="precomputed" has no rho for new points; pass their rho to the old ones instead.')


SMALLEST_EIGENVALUE = 1e-10  # of the largest one of a correlation matrix: distances would lose half of their digits
# 1 less a quotient of what two rows share by what they have: a kernel of minima, or of columns that agree, times a
# series in kernels of their totals [Gower & Legendre 1986]
QUOTIENTS = ("braycurtis", "canberra", "dice", "jaccard", "rogerstanimoto", "sokalsneath")
NEGATIVE_TYPE_UP_TO = {  # largest power that is known to be of negative type for every data set
    "euclidean": 2.0,
    "seuclidean": 2.0,
    "mahalanobis": 2.0,
    "sqeuclidean": 1.0,
    "cityblock": 1.0,
    "hamming": 1.0,
    "cosine": 1.0,
    "correlation": 1.0,
    "jensenshannon": 2.0,
    **dict.fromkeys(QUOTIENTS, 1.0),
}
DEGREES = {  # rho of points times c is rho times c to this power, for alpha = 1
    "braycurtis": 0,
    "canberra": 0,
    "chebyshev": 1,
    "cityblock": 1,
    "correlation": 0,
    "cosine": 0,
    "euclidean": 1,
    "jensenshannon": 0,
    "minkowski": 1,
    "sqeuclidean": 2,
}
ROUNDED = 4 * np.finfo(float).eps  # of the largest number of a row: what its mean and its length may be wrong by
NOTHING, SKEW = 1e-12, 1e-8  # of the largest eigenvalue of VI; of its entries beside their mirrors
SHOWN = 4  # numbers of a parameter
PARAMETERS = {"jensenshannon": (), "mahalanobis": ("VI",), "minkowski": ("p", "w"), "seuclidean": ("V",)}
KINDS = {  # dimensions of a parameter, and what it must be
    "p": (0, "a number above 0"),
    "w": (1, "a weight of at least 0 for every column, and not all 0"),
    "V": (1, "a variance above 0 for every column"),
    "VI": (2, "a symmetric positive semi-definite matrix"),
}
PRESENCES = Domain(needs="compares presence and absence", binary=True, truths=True, z_scores=False)
DOMAINS = {  # of names that do not take all rows of finite numbers
    "braycurtis": replace(COUNTS, zero_rows=False),
    "canberra": OF_SHARES,
    "correlation": Domain(constant_rows=False),
    "cosine": Domain(zero_rows=False),
    "dice": replace(PRESENCES, zero_rows=False),
    "hamming": Domain(truths=True),
    "jaccard": replace(
        PRESENCES, zero_pairs=False, hint=', or metric="ruzicka" for amounts, which is vegan\'s "jaccard"'
    ),
    "jensenshannon": replace(COUNTS, zero_rows=False),
    "rogerstanimoto": PRESENCES,
    "russellrao": PRESENCES,
    "sokalsneath": replace(PRESENCES, zero_rows=False),
    "yule": replace(PRESENCES, zero_pairs=False),
}


def _read_parameters(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a SciPy distance, and return them as numbers and arrays; raise if they are not valid."""
    taken = PARAMETERS.get(name, ("w",))
    read: dict[str, Any] = {}
    for key, part in params.items():
        if key not in taken:
            known = " and ".join(f'"{one}"' for one in taken) or "none"
            raise ValueError(f'`params` of "{name}" must be {known}, got {key!r}.')
        if hasattr(part, "to_numpy"):
            raise TypeError(
                f"`params[{key!r}]` must be numbers in the order of the columns, without names, got "
                f"{type(part).__name__}; pass `.to_numpy()`."
            )
        numbers = as_numbers(part, f"params[{key!r}]")
        dimensions, rule = KINDS[key]
        if numbers.ndim != dimensions or not _is_valid(key, numbers):
            got = repr(part) if numbers.ndim == 0 else f"an array of shape {numbers.shape}"
            if numbers.ndim == dimensions == 1:
                wrong = numbers[~np.isfinite(numbers) | (numbers < 0)]
                got = f"{wrong[0] if wrong.size else numbers.min():.6g} among them"
            raise ValueError(f"`params[{key!r}]` must be {rule}, got {got}.")
        read[key] = float(numbers) if numbers.ndim == 0 else read_only(numbers)
    return read


def _is_valid(key: str, numbers: FloatArray) -> bool:
    """Return whether a parameter of a SciPy distance that has the right number of dimensions has valid values."""
    if key == "p":
        return bool(numbers > 0)
    if not np.isfinite(numbers).all() or numbers.size == 0:
        return False
    if key == "V":
        return bool((numbers > 0).all())
    if key == "w":
        return bool((numbers >= 0).all() and numbers.any())
    if len(numbers) != numbers.shape[1] or not np.allclose(numbers, numbers.T, rtol=SKEW, atol=0):
        return False
    sizes = np.linalg.eigvalsh(numbers)
    return bool(sizes[-1] > 0 and sizes[0] >= -NOTHING * sizes[-1])


def _shown(part: Any) -> str:
    """Format a parameter as text: a number or small array in full, a large array by its shape."""
    return f"array of shape {part.shape}" if np.size(part) > SHOWN else repr(np.asarray(part).tolist())


def _scale_rows(X: FloatArray) -> FloatArray:
    """Scale each row by a power of two, so that its largest entry is near 1 and no digit is lost; (n, d) -> (n, d)."""
    return np.asarray(np.ldexp(X, -exponents(np.abs(X).max(axis=1))[:, None]))
