"""Define dissimilarities of communities (rows of counts or amounts) that ecologists use [theory 1]."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.options import check_alpha, check_flag, check_not_negative
from energystats.metrics.base import COUNTS, OF_SHARES, Metric
from energystats.metrics.closed_form import compute_power
from energystats.metrics.domains import Domain

__all__ = ["Aitchison", "Canberra", "ChiSquare", "Chord", "Hellinger", "Jaccard", "Kulczynski"]


AMOUNTS = replace(COUNTS, zero_rows=False)
SMALLEST_NORMAL = np.finfo(np.float64).tiny  # below it a ratio has fewer digits than its logarithm


@dataclass(frozen=True, slots=True)
class _OfTransformedRows(Metric, abc.ABC):
    """Define a power of the Euclidean distance between rows transformed one by one; of negative type up to 2."""

    mixes_units: ClassVar[bool] = False
    unit_free: ClassVar[bool] = True
    alpha: float = 1.0
    negative_type: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def domain(self) -> Domain:
        return AMOUNTS

    @property
    def only_means(self) -> bool:
        return self.alpha == 2

    @property
    def strong_negative_type(self) -> bool:
        """Return False: distributions of proportional rows can differ and yet have energy distance 0."""
        return False

    @abc.abstractmethod
    def transform(self, X: FloatArray) -> FloatArray: ...

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return compute_power(self.transform(X), self.transform(Y), self.alpha)

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Compute a kernel that generates the dissimilarity, with origin 0 in transformed coordinates [G 8]; (n, m)."""
        (points, others), metric = self.checked_pair(X, Y)
        fitted = metric.fitted(points)
        assert isinstance(fitted, _OfTransformedRows)
        first, second = fitted.transform(points), fitted.transform(others)
        origin = np.zeros((1, first.shape[1]))
        ends = compute_power(first, origin, self.alpha) + compute_power(origin, second, self.alpha)
        return np.asarray(0.5 * (ends - compute_power(first, second, self.alpha)))


@dataclass(frozen=True, slots=True)
class Hellinger(_OfTransformedRows):
    """Define the Euclidean distance of the roots of shares, sqrt(x / sum of x), to the power alpha [Rao 1995].

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Hellinger(2)([[1, 3]], [[9, 0]]).round(6).tolist()
    [[1.0]]
    """

    @property
    def compares(self) -> str:
        return "square roots of shares"

    def transform(self, X: FloatArray) -> FloatArray:
        return np.sqrt(_shares(X))


@dataclass(frozen=True, slots=True)
class Chord(_OfTransformedRows):
    """Define the Euclidean distance of rows of length 1, to the power alpha [Orloci 1967].

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Chord(2)([[3, 0]], [[0, 4]]).round(6).tolist()
    [[2.0]]
    """

    @property
    def compares(self) -> str:
        return "rows of length 1"

    def transform(self, X: FloatArray) -> FloatArray:
        near_one = X / X.max(axis=1, keepdims=True)
        return np.asarray(near_one / np.linalg.norm(near_one, axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class ChiSquare(_OfTransformedRows):
    """Define the chi-square distance to a power, of shares; columns weigh 1 over their part of the total [Lebart 1968].

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Notes
    -----
    The weights are those of all rows that it was fitted to, as are the variances of "seuclidean": with
    ``missing="drop"`` those of the rows that are kept. Columns of zeros count nothing there, and what is not 0 in them
    in other rows is refused.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.ChiSquare(2)([[1, 0], [0, 1]]).round(6).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """

    needs_all_rows: ClassVar[bool] = True
    columns: tuple[float, ...] = field(default=(), repr=False)  # roots of 1 over their part of the total

    def fitted(self, X: FloatArray) -> ChiSquare:
        if self.columns:
            return self
        near_one = X / X.max()
        parts = near_one.sum(axis=0) / near_one.sum()
        return replace(self, columns=tuple(np.where(parts > 0, 1 / np.sqrt(np.where(parts > 0, parts, 1.0)), 0.0)))

    @property
    def compares(self) -> str:
        return "shares divided by roots of column totals"

    def transform(self, X: FloatArray) -> FloatArray:
        weights = np.array(self.columns)
        new = np.flatnonzero((weights == 0) & (X != 0).any(axis=0))
        if new.size:
            raise ValueError(
                f"`metric`: chi2 divides by the totals of columns, and column {new[0]} (counted from 0) is 0 in all "
                "rows that those are of, and not in others. Compute the distances of all rows together, in one table."
            )
        return np.asarray(_shares(X) * weights)


@dataclass(frozen=True, slots=True)
class Aitchison(_OfTransformedRows):
    """Define the Euclidean distance of centred log-ratios, log x - mean of log x, to the power alpha [Aitchison 1986].

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2.
    pseudocount : float, default 0.0
        Added to every number before logarithms, where there are zeros. The choice matters: numbers must be positive
        without it.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Aitchison()([[1, 1]], [[10, 10]]).round(6).tolist()
    [[0.0]]
    """

    pseudocount: float = 0.0

    @property
    def unit_free(self) -> bool:  # type: ignore[override]
        return not self.pseudocount

    def __post_init__(self) -> None:
        _OfTransformedRows.__post_init__(self)
        object.__setattr__(self, "pseudocount", check_not_negative(self.pseudocount, "pseudocount"))

    @property
    def domain(self) -> Domain:
        if self.pseudocount:
            return COUNTS
        return replace(
            COUNTS, positive=True, hint=", or add a number, in Python by `es.metrics.Aitchison(pseudocount=1)`"
        )

    @property
    def compares(self) -> str:
        return "centred log-ratios"

    def transform(self, X: FloatArray) -> FloatArray:
        # ratios to the first part: those of a multiple of whole numbers are the same, to the last digit
        X = X + self.pseudocount
        with np.errstate(over="ignore", under="ignore"):
            ratios = X / X[:, :1]
        logs = np.log(X) - np.log(X[:, :1])
        np.log(ratios, out=logs, where=np.isfinite(ratios) & (ratios >= SMALLEST_NORMAL))
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))


# ---------------------------------------------------------------- sums of parts that two rows share


@dataclass(frozen=True, slots=True)
class Jaccard(Metric):
    """Define Jaccard's distance to the power alpha, of presences or of amounts: 1 - sum min(x, y) / sum max(x, y).

    Parameters
    ----------
    quantitative : bool, default False
        Whether amounts count (Ruzicka, Marczewski & Steinhaus; vegan's "jaccard"), or presence alone, as in SciPy.
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Notes
    -----
    Of amounts it is 2 B / (1 + B) with Bray and Curtis' B. Both are of negative type up to alpha = 1: sum min(x, y) is
    a kernel, and so is its quotient by sum max(x, y), as a series in the quotient by the sum of both totals. Two rows
    of zeros have distance 0.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Jaccard(quantitative=True)([[6, 2]], [[3, 5]]).round(4).tolist()
    [[0.5455]]
    """

    mixes_units: ClassVar[bool] = False
    quantitative: bool = False
    alpha: float = 1.0

    @property
    def unit_free(self) -> bool:  # type: ignore[override]
        return self.quantitative

    def __post_init__(self) -> None:
        check_flag(self.quantitative, "quantitative")
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether the metric is of negative type: True for alpha <= 1 [Gower & Legendre 1986], else None."""
        return True if self.alpha <= 1 else None

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0: True for alpha < 1 [Lyons 2013] or None."""
        return True if self.alpha < 1 else None

    @property
    def domain(self) -> Domain:
        domain = replace(COUNTS, truths=True) if self.quantitative else PRESENCES
        return replace(domain, zero_pairs=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        differences = cdist(X, Y, "cityblock")
        totals = np.add.outer(X.sum(axis=1), Y.sum(axis=1))
        # sum max = (totals + |x - y|)/2, and sum max - sum min = |x - y|
        larger = 0.5 * (totals + differences)
        distances = np.divide(differences, larger, out=np.zeros_like(larger), where=larger > 0)
        return np.asarray(distances if self.alpha == 1 else distances**self.alpha)


@dataclass(frozen=True, slots=True)
class Kulczynski(Metric):
    """Define Kulczynski's distance to the power alpha: 1 - (S / sum x + S / sum y) / 2 with S = sum min(x, y).

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Notes
    -----
    Of amounts, and of presences where all numbers are 0 and 1. It is not of negative type: the rows (1, 0), (0, 1),
    (1, 1), (1, 9) and (9, 1) have no places with such squared distances.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Kulczynski()([[6, 2]], [[1, 3]]).tolist()
    [[0.4375]]
    """

    mixes_units: ClassVar[bool] = False
    unit_free: ClassVar[bool] = True
    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether the metric is of negative type: False for alpha >= 1, else None (not known)."""
        return False if self.alpha >= 1 else None

    @property
    def domain(self) -> Domain:
        return replace(AMOUNTS, truths=True)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        own, other = X.sum(axis=1), Y.sum(axis=1)
        # sum min = (totals - |x - y|)/2, and x shares no more than it has
        shared = 0.5 * (np.add.outer(own, other) - cdist(X, Y, "cityblock"))
        distances = np.maximum(1 - 0.5 * (shared / own[:, None] + shared / other), 0.0)
        return np.asarray(distances if self.alpha == 1 else distances**self.alpha)


@dataclass(frozen=True, slots=True)
class Canberra(Metric):
    r"""Define the Canberra distance to the power alpha: the sum, or mean, of \|x - y\| / (\|x\| + \|y\|) over columns.

    Parameters
    ----------
    scaled : bool, default False
        Whether the sum is divided by the number of columns in which either row is not 0, as in vegan. SciPy's sum is
        not divided; R's ``dist`` multiplies that mean by the number of all columns.
    alpha : float, default 1.0
        0.001 <= alpha <= 2.

    Notes
    -----
    The sum is of negative type up to alpha = 1: every column gives 1 less a kernel, which is
    2 min(\|x\|, \|y\|) / (\|x\| + \|y\|) for numbers of one sign. Two rows of zeros have distance 0.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.Canberra(scaled=True)([[3, 0, 1]], [[1, 0, 1]]).tolist()
    [[0.25]]
    """

    mixes_units: ClassVar[bool] = False
    unit_free: ClassVar[bool] = True
    scaled: bool = False
    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_flag(self.scaled, "scaled")
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether the metric is of negative type: True for the sum, alpha <= 1 [Gower & Legendre 1986]."""
        return True if self.alpha <= 1 and not self.scaled else None

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0: True for the sum, alpha < 1 [Lyons 2013]."""
        return True if self.alpha < 1 and not self.scaled else None

    @property
    def domain(self) -> Domain:
        return OF_SHARES

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        distances = cdist(X, Y, "canberra")
        if self.scaled:
            # columns that are 0 in both rows
            both = (X == 0).astype(np.float64) @ (Y == 0).astype(np.float64).T
            counted = X.shape[1] - both
            distances = np.divide(distances, counted, out=np.zeros_like(distances), where=counted > 0)
        return np.asarray(distances if self.alpha == 1 else distances**self.alpha)


PRESENCES = Domain(
    needs="compares presence and absence",
    binary=True,
    truths=True,
    z_scores=False,
    hint=', or metric="ruzicka" for amounts',
)


def _shares(X: FloatArray) -> FloatArray:
    """Divide every row by its sum, to get proportions; (n, d) -> (n, d)."""
    near_one = X / X.max(axis=1, keepdims=True)  # sums stay numbers
    return np.asarray(near_one / near_one.sum(axis=1, keepdims=True))
