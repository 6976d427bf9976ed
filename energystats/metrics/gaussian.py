"""Semimetrics that Gaussian and exponential kernels generate, with sigma given or the median distance [theory 1, 2]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.arrays import as_points
from energystats.inputs.options import check_positive
from energystats.metrics.base import Metric
from energystats.metrics.closed_form import compute_power

__all__ = ["SUBSAMPLE", "Exponential", "Gaussian"]


SUBSAMPLE = 2000  # rows used for the median that replaces sigma=None
TINY = 1e-290  # parameters below this, and above its inverse, lose digits


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
        """Return whether only equal distributions have energy distance 0: True [Sriperumbudur et al. 2010]."""
        return True

    def exponent(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Compute the exponent -||x - y|| / (2 sigma) of this semimetric's kernel for all pairs of rows; (n, m)."""
        return -0.5 * self.relative(X, Y)

    def relative(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Compute ||x - y|| / sigma for all pairs of rows, infinite if it overflows; (n, m)."""
        assert self.sigma is not None  # `fitted` comes first
        with np.errstate(over="ignore"):
            return np.asarray(compute_power(X, Y, 1.0) / self.sigma)

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
        """Compute the exponent -||x - y||**2 / (2 sigma**2) of the Gaussian kernel for all pairs of rows; (n, m)."""
        with np.errstate(over="ignore"):  # exp(-inf) is 0
            return np.asarray(-0.5 * np.square(self.relative(X, Y)))


def _median_distance(X: FloatArray) -> float:
    """Compute the median of the non-zero distances between rows, of at most 2,000 rows at fixed places."""
    # always the same places: sigma does not depend on the seed of the test, nor on the unit, as a hash of rows would
    if len(X) > SUBSAMPLE:
        X = X[np.random.default_rng(0).choice(len(X), SUBSAMPLE, replace=False)]
    distances = compute_power(X, X, 1.0)[np.triu_indices(len(X), 1)]
    # duplicated rows would pull the median to 0, and sigma = 0 is no kernel
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0


def _check_sigma(sigma: object) -> float | None:
    """Return sigma as a positive float, or None (use the median distance); raise if it is anything else."""
    return None if sigma is None else check_positive(sigma, "sigma")
