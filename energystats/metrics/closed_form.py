"""Semimetrics with a formula: powers of the Euclidean distance, and those that kernels generate [theory 1, 2]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from energystats._core.distances import euclidean
from energystats._core.powers_of_two import exponents, two_to
from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.arrays import as_points
from energystats.inputs.options import check_alpha, check_positive
from energystats.metrics.base import SMALL, Metric

__all__ = ["Euclidean", "Exponential", "Gaussian", "Localised", "Sine"]

SUBSAMPLE = 2000  # rows used for the median that replaces sigma=None


TINY = 1e-290  # parameters below this, and above its inverse, lose digits


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

    by_differences: ClassVar[bool] = True
    alpha: float = 1.0
    negative_type: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @property
    def only_means(self) -> bool:
        return self.alpha == 2

    @property
    def strong_negative_type(self) -> bool:
        """Tell whether E = 0 for equal distributions only: for alpha < 2 [Szekely & Rizzo 2005]."""
        return self.alpha < 2

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return _compute_power(X, Y, self.alpha)

    def in_unit(self, exponent: int) -> Euclidean:
        return self


@dataclass(frozen=True, slots=True)
class Exponential(Metric):
    """Bounded semimetric rho = 2 - 2 exp(-||x - y|| / (2 sigma)) [G 21b]; its kernel is the Laplacian one.

    Parameters
    ----------
    sigma : float or None, default None
        Scale, in the unit of the data. None: the median of the non-zero distances between pairs (of 2,000 rows at fixed
        places of the table when there are more), 1.0 if there is none.

    Examples
    --------
    >>> import energystats as es
    >>> float(es.metrics.Exponential(sigma=1.0)([0.0], [0.0])[0, 0])
    0.0
    """

    by_differences: ClassVar[bool] = True
    sigma: float | None = None
    negative_type: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _check_sigma(self.sigma))

    @property
    def strong_negative_type(self) -> bool:
        """Tell whether E = 0 for equal distributions only: yes, for this kernel [Sriperumbudur et al. 2010]."""
        return True

    def exponent(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Compute the exponent -||x - y|| / (2 sigma) of the Laplacian kernel."""
        return -0.5 * self.relative(X, Y)

    def relative(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Compute ||x - y|| / sigma, infinite where that is too large for a number."""
        assert self.sigma is not None  # `fitted` comes first
        with np.errstate(over="ignore"):
            return np.asarray(_compute_power(X, Y, 1.0) / self.sigma)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        # [G 21b, 21c]; expm1 keeps the digits of points that are close to each other
        return -2 * np.expm1(self.exponent(X, Y))

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        X = as_points(X, "X")
        return np.exp(self.fitted(X).exponent(X, X if Y is None else as_points(Y, "Y")))

    def fitted(self, X: FloatArray) -> Exponential:
        return self if self.sigma is not None else replace(self, sigma=_median_distance(X))

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
        """Compute the exponent -||x - y||**2 / (2 sigma**2) of the Gaussian kernel."""
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

    by_differences: ClassVar[bool] = True
    negative_type: bool = field(default=False, init=False, repr=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        r = _compute_power(X, Y, 1.0)
        return np.asarray(r**2 * np.exp(-r / 2))


@dataclass(frozen=True, slots=True)
class Sine(Metric):
    """Sine semimetric rho = ||x - y||**2 theta sin(||x - y|| / theta) [D rho_sin]; not of negative type.

    It is negative in places.

    Parameters
    ----------
    theta : float, default 0.9
        The distance between sign changes is theta pi.

    Examples
    --------
    >>> import energystats as es
    >>> bool(es.metrics.Sine()([0.0], [4.0])[0, 0] < 0)
    True
    """

    by_differences: ClassVar[bool] = True
    theta: float = 0.9
    negative_type: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", check_positive(self.theta, "theta"))

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        r = _compute_power(X, Y, 1.0)
        return np.asarray(r**2 * self.theta * np.sin(r / self.theta))


def _compute_power(X: FloatArray, Y: FloatArray, alpha: float) -> FloatArray:
    """Compute ||x - y||**alpha from coordinate differences, so that an offset of the data costs no digits."""
    size = max(float(np.abs(X).max()), float(np.abs(Y).max()))
    if 0 < size < SMALL:  # squares would underflow; a power of two changes no digit
        e = int(exponents(size))
        return np.asarray(_compute_power(np.ldexp(X, -e), np.ldexp(Y, -e), alpha) * two_to(e, alpha))
    # rho = ||x - y||^alpha [G 2]; alpha = 2, 1 and 1/2 need no general power, which costs more than the distances
    distances = euclidean(X, Y, squared=alpha == 2)
    if alpha == 2:
        return distances
    if alpha == 0.5:
        return np.asarray(np.sqrt(distances, out=distances))
    return distances if alpha == 1 else np.asarray(np.power(distances, alpha, out=distances))


def _median_distance(X: FloatArray) -> float:
    """Compute the median of the non-zero distances between rows, of `SUBSAMPLE` at fixed places when there are more."""
    # always the same places: sigma does not depend on the seed of the test, nor on the unit, as a hash of rows would
    if len(X) > SUBSAMPLE:
        X = X[np.random.default_rng(0).choice(len(X), SUBSAMPLE, replace=False)]
    distances = _compute_power(X, X, 1.0)[np.triu_indices(len(X), 1)]
    # duplicated rows would pull the median to 0, and sigma = 0 is no kernel
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0


def _check_sigma(sigma: object) -> float | None:
    """Check that sigma is a positive number, or None for the median distance."""
    return None if sigma is None else check_positive(sigma, "sigma")
