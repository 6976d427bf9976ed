"""Define semimetrics that kernels generate: any kernel, or Gaussian and exponential ones with sigma [theory 1, 2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from energystats._core.locks import loading
from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.arrays import as_points
from energystats.inputs.names import near_names
from energystats.inputs.options import check_positive
from energystats.metrics.base import COUNTS, Metric, check_pairs_alone, checked_output
from energystats.metrics.closed_form import compute_power
from energystats.metrics.domains import ANY_NUMBERS, Domain

__all__ = ["SUBSAMPLE", "Exponential", "Gaussian", "Kernel"]


POSITIVE_KERNELS = {"linear", "rbf", "laplacian", "cosine", "chi2"}
TRANSLATION_INVARIANT = ("linear", "rbf", "laplacian")  # names of kernels whose rho is
SUBSAMPLE = 2000  # rows used for the median that replaces sigma=None
TINY = 1e-290  # parameters below this, and above its inverse, lose digits


class Kernel(Metric):
    """Define the semimetric that a kernel generates, rho = K(x, x) + K(y, y) - 2 K(x, y) [G 9].

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

    @property
    def in_threads(self) -> bool:  # type: ignore[override]
        return isinstance(self.k, str)  # a user's function may not expect it

    def __init__(self, k: Callable[..., FloatArray] | str, **params: Any) -> None:
        if isinstance(k, str):
            with loading():
                from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS

            if k not in PAIRWISE_KERNEL_FUNCTIONS:
                known = sorted(PAIRWISE_KERNEL_FUNCTIONS)
                raise ValueError(f"`k` must be one of {', '.join(known)}; got {k!r}.{near_names(k, known)}")
            for name in params:
                if name not in KERNEL_PARAMS[k]:
                    known = sorted(KERNEL_PARAMS[k])
                    takes = f"takes {', '.join(known)}" if known else "takes no parameter"
                    raise TypeError(f"The kernel {k!r} {takes}; got {name!r}.{near_names(name, known)}")
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
        """Return whether a named kernel depends on Euclidean or Manhattan distances; False for a user's function."""
        return self.k in TRANSLATION_INVARIANT

    @property
    def domain(self) -> Domain:
        return COUNTS if self.k in ("chi2", "additive_chi2") else ANY_NUMBERS

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether the kernel's semimetric is of negative type: True if always semi-definite, else None."""
        # powers of a kernel are kernels where they are whole and no reciprocals
        degree = float(self.params.get("degree", 3))
        powers = self.params.get("coef0", 1) >= 0 and degree.is_integer() and degree >= 0
        known = POSITIVE_KERNELS | ({"polynomial", "poly"} if powers else set())
        fine = self.params.get("gamma") is None or self.params["gamma"] > 0
        return True if isinstance(self.k, str) and self.k in known and fine else None

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0: True for "rbf" and "laplacian"."""
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
            K = self.k(X.copy(), Y.copy(), **self.params)  # which may work in place
        return checked_output(K, X, Y, "kernel")

    def _diagonal(self, X: FloatArray) -> FloatArray:
        step = 128  # small squares: k(X, X) in whole would cost n x n for n numbers
        parts = [self._evaluate(X[i : i + step], X[i : i + step]).diagonal() for i in range(0, len(X), step)]
        return np.concatenate(parts)

    def summand(self, X: FloatArray) -> float:
        """Return the largest absolute value of K(x, x) over the rows, a scale for rounding of the semimetric."""
        return float(np.abs(self._diagonal(X - X.mean(axis=0) if self.k in TRANSLATION_INVARIANT else X)).max())

    def fitted(self, X: FloatArray) -> Kernel:
        if not isinstance(self.k, str):
            check_pairs_alone(self._evaluate, X, "kernel")
        return self

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.k in TRANSLATION_INVARIANT:  # an offset costs these kernels digits that rho need not lose
            center = X.mean(axis=0)
            X, Y = X - center, Y - center
        # [G 9]: the kernel generates rho; a result within the rounding of its summands is 0
        own_x, own_y = self._diagonal(X), self._diagonal(Y)
        rho = own_x[:, None] + own_y[None, :] - 2 * self._evaluate(X, Y)
        rounding = 8 * np.finfo(float).eps * (np.abs(own_x)[:, None] + np.abs(own_y)[None, :])
        rho[np.abs(rho) <= rounding] = 0.0
        return rho


# ---------------------------------------------------------------- kernels with sigma


@dataclass(frozen=True, slots=True)
class Exponential(Metric):
    """Define the bounded semimetric rho = 2 - 2 exp(-||x - y|| / (2 sigma)) [G 21b]; its kernel is the Laplacian one.

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
        """Compute the exponent -||x - y|| / (2 sigma) of an exponential kernel for all pairs of rows; (n, m)."""
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
    """Define the bounded semimetric rho = 2 - 2 exp(-||x - y||**2 / (2 sigma**2)) [G 21c]; its kernel is Gaussian.

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
    """Check the kernel width sigma, and return it as a float; None stands for the median distance."""
    return None if sigma is None else check_positive(sigma, "sigma")
