"""Define semimetrics by a formula: powers of the Euclidean distance, and functions of it [theory 1, 2]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from energystats._core.distances import euclidean
from energystats._core.powers_of_two import exponents, two_to
from energystats._typing import FloatArray
from energystats.inputs.options import check_alpha, check_positive
from energystats.metrics.base import SMALL, Metric

__all__ = ["Euclidean", "Localised", "Sine", "compute_power"]


@dataclass(frozen=True, slots=True)
class Euclidean(Metric):
    """Define a power of the Euclidean distance, rho = ||x - y||**alpha [G 2, 21a].

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
        """Return whether only equal distributions have energy distance 0: true for alpha < 2 [Szekely & Rizzo 2005]."""
        return self.alpha < 2

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return compute_power(X, Y, self.alpha)

    def in_unit(self, exponent: int) -> Euclidean:
        return self


@dataclass(frozen=True, slots=True)
class Localised(Metric):
    """Define a local semimetric rho = ||x - y||**2 exp(-||x - y|| / 2) [D rho_loc]; in general not of negative type.

    Examples
    --------
    >>> import energystats as es
    >>> round(float(es.metrics.Localised()([0.0], [2.0])[0, 0]), 6)
    1.471518
    """

    by_differences: ClassVar[bool] = True
    negative_type: bool = field(default=False, init=False, repr=False)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        r = compute_power(X, Y, 1.0)
        return np.asarray(r**2 * np.exp(-r / 2))


@dataclass(frozen=True, slots=True)
class Sine(Metric):
    """Define the sine semimetric rho = ||x - y||**2 theta sin(||x - y|| / theta) [D rho_sin]; not of negative type.

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
        r = compute_power(X, Y, 1.0)
        return np.asarray(r**2 * self.theta * np.sin(r / self.theta))


def compute_power(X: FloatArray, Y: FloatArray, alpha: float) -> FloatArray:
    """Compute ||x - y||**alpha for all pairs of rows, accurately for offset data; (n, d), (m, d) -> (n, m)."""
    few, many = sorted((X, Y), key=len)  # a table that is not small is enough; the shorter is read first
    size = float(np.abs(few).max())
    if size < SMALL:
        size = max(size, float(np.abs(many).max()))
    if 0 < size < SMALL:  # squares would underflow; a power of two changes no digit
        e = int(exponents(size))
        return np.asarray(compute_power(np.ldexp(X, -e), np.ldexp(Y, -e), alpha) * two_to(e, alpha))
    # rho = ||x - y||^alpha [G 2]; alpha = 2, 1 and 1/2 need no general power, which costs more than the distances
    distances = euclidean(X, Y, squared=alpha == 2)
    if alpha == 2:
        return distances
    if alpha == 0.5:
        return np.asarray(np.sqrt(distances, out=distances))
    return distances if alpha == 1 else np.asarray(np.power(distances, alpha, out=distances))
