"""Distributions to draw from: frozen scipy.stats ones, a user's function, or the rows of a pilot sample."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from energystats._typing import AnyArray, FloatArray
from energystats.inputs.arrays import as_numbers, check_finite
from energystats.inputs.table import as_table

__all__ = ["Sampler", "as_sampler", "has_whole_numbers", "is_distribution", "resampler"]


Draw: TypeAlias = Callable[[int, np.random.Generator], Any]
LABEL = 60  # characters of a distribution in words
LABEL_VALUES = 6  # numbers of an array parameter in it
FEW_ROWS, MORE_ROWS = 2, 10  # that are drawn to see how long it takes
NOTICED = 1.0  # seconds
COMPARED = 200  # draws that are compared with the range of the quantiles
EDGE = 1e-12  # probability beyond that range, on either side
RANGE_SLACK = 1e-6  # of that range: what quantiles may be off
KINDS = "a frozen scipy.stats distribution, or a callable sampler(size, rng) -> (size,) or (size, d)"


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """A source of independent draws from one distribution.

    Attributes
    ----------
    argument : str
        Name of the argument that it came from, for messages.
    label : str
        The distribution in words.
    raw : callable
        Draws `size` values or rows.
    ppf : callable or None
        Quantile function, of a distribution of numbers that has one.
    rows : ndarray of shape (m, d) or None
        The checked rows of a pilot sample, from which it draws.
    columns : tuple of str or None
        Names of the columns that a data frame which is drawn must have, in their order.
    timed : bool
        Whether it may be called to see how long it takes, which a user's function may count.
    """

    argument: str
    label: str
    raw: Draw
    ppf: Callable[[FloatArray], AnyArray] | None = None
    rows: FloatArray | None = None
    columns: tuple[str, ...] | None = None
    timed: bool = False

    def find_columns(self) -> tuple[str, ...] | None:
        """Return the column names of the samples that a sampler draws, by drawing two rows; None without names."""
        return as_table(self.raw(2, np.random.default_rng(0))).columns if self.rows is None else self.columns

    def estimate_seconds(self, calls: float, rows: float, quantiles: int = 0) -> float:
        """Estimate the seconds that `calls` calls drawing `rows` rows in all will take, by timing two small calls.

        Quantiles are counted apart.
        """
        if not self.timed:
            return 0.0
        found = _extrapolate_time(lambda size: self.raw(size, np.random.default_rng(0)), calls, rows)
        if self.ppf is not None and quantiles:
            found += _extrapolate_time(self.quantiles, 1, quantiles)
        return found

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw a sample, with checks of shape and values; (size, d)."""
        drawn = self.raw(size, rng)
        return drawn if self.rows is not None else self.checked(drawn, size)

    def quantiles(self, size: int) -> FloatArray:
        """Compute the quantiles of the midpoints of `size` equal parts of [0, 1]; (size, 1)."""
        assert self.ppf is not None
        return self.checked(self.ppf((np.arange(size) + 0.5) / size), size)

    def compare_with_quantiles(self) -> tuple[Sampler, tuple[str, ...]]:
        """Return the sampler, without its quantiles where draws lie outside of their range, and a note on that."""
        if self.ppf is None:
            return self, ()
        # a stream of its own: the user's draws are the same with and without this check
        drawn = self.draw(COMPARED, np.random.default_rng(0))
        if drawn.shape[1] > 1:
            return self, ()
        try:
            with np.errstate(all="ignore"):
                low, high = np.asarray(self.ppf(np.array([EDGE, 1 - EDGE])), dtype=np.float64).tolist()
        except (ValueError, RuntimeError):  # SciPy's search for a quantile may fail so far in the tails
            return self, ()
        slack = RANGE_SLACK * (high - low)
        # False where an end is NaN
        if not ((drawn < low - slack) | (drawn > high + slack)).any():
            return self, ()
        note = (
            f"SciPy draws values of {self.label} outside of the range of its quantiles ({low:.4g} to {high:.4g}), so "
            f"that draws stand for it; give `X` in their range, about {drawn.min():.4g} to {drawn.max():.4g}."
        )
        return replace(self, ppf=None), (note,)

    def checked(self, values: Any, size: int) -> FloatArray:
        """Return a drawn sample as an array of numbers; raise ValueError if its shape is wrong or it is not finite."""
        shape = np.shape(values)
        if len(shape) not in (1, 2) or shape[0] != size or 0 in shape:
            raise ValueError(
                f"`{self.argument}` must give samples of shape ({size},) or ({size}, d) when asked for {size}; "
                f"{self.label} gave {shape}."
            )
        columns = as_table(values).columns
        if None not in (columns, self.columns) and columns != self.columns:
            raise ValueError(
                f"`{self.argument}` must give the columns {', '.join(self.columns or ())}, in this order; {self.label} "
                f"gave {', '.join(columns or ())}."
            )
        numbers = as_numbers(values, f"sample of {self.label}").reshape(size, -1)
        if bad := int(np.count_nonzero(~np.isfinite(numbers))):
            raise ValueError(f"`{self.argument}` must give finite numbers; {bad} of {self.label} are not.")
        check_finite(numbers, f"sample of {self.label}", None)
        return numbers


def _extrapolate_time(draw: Callable[[int], Any], calls: float, rows: float) -> float:
    """Estimate the seconds that `calls` calls with `rows` rows in all will take, by timing two small calls."""
    started = time.perf_counter()
    draw(FEW_ROWS)
    few = time.perf_counter() - started
    if few * max(calls, rows / FEW_ROWS) < NOTICED:  # at the very most
        return 0.0
    draw(MORE_ROWS)
    more = time.perf_counter() - started - few
    each = max(more - few, 0.0) / (MORE_ROWS - FEW_ROWS)
    return calls * max(min(few, more) - FEW_ROWS * each, 0.0) + rows * each


def is_distribution(value: object) -> bool:
    """Return whether `value` is a distribution, frozen or not, or a function, rather than data."""
    return callable(value) or hasattr(value, "rvs") or _is_new_style(value) or _has_density(value)


def _is_new_style(value: object) -> bool:
    """Return whether `value` is an object of SciPy's newer distribution classes, such as `scipy.stats.Normal`."""
    return hasattr(value, "sample") and hasattr(value, "icdf")


def _has_density(value: object) -> bool:
    """Return whether `value` is a distribution of SciPy that knows probabilities or densities."""
    return callable(getattr(value, "logpmf", None)) or callable(getattr(value, "logpdf", None))


def has_whole_numbers(distribution: object) -> bool:
    """Return whether a distribution of SciPy is discrete, so that its `pmf` tells which values it can give."""
    if not _is_new_style(distribution):
        return hasattr(distribution, "pmf")
    # the newer continuous classes have a `pmf`, too, which is 0 or, in SciPy 1.17, recurses without end
    return any(base.__name__ == "DiscreteDistribution" for base in type(distribution).__mro__)


def as_sampler(value: Any, name: str, columns: tuple[str, ...] | None = None) -> Sampler:
    """Return a sampler for a frozen distribution or a user's function; raise TypeError for anything else.

    `columns` are the names that data frames of a function must have, if that is known.
    """
    if isinstance(value, type):
        raise TypeError(f"`{name}` must be an object, got the class {value.__name__}; write `{value.__name__}(...)`.")
    if _is_new_style(value):
        _check_one_distribution(value.icdf, name)
        draw = lambda size, rng: value.sample(size, rng=rng)  # noqa: E731
        return Sampler(name, _shorten_line(str(value)), draw, value.icdf, timed=True)
    if not hasattr(value, "rvs"):
        # a user's function may be an object with a density, too
        if _has_density(value) and (not callable(value) or type(value).__module__.startswith("scipy.")):
            kind = type(value).__name__
            raise TypeError(
                f"`{name}` must have a method `rvs` to draw with, which {kind} lacks; give a function "
                "sampler(size, rng) that returns (size,) or (size, d)."
            )
        return replace(_of_function(value, name), columns=columns)
    # families of SciPy are callable and have `rvs`, frozen distributions are not callable
    if callable(value):
        short = getattr(value, "name", None) or type(value).__name__.removesuffix("_gen")
        raise TypeError(
            f"`{name}` must be fully specified, got the family `{short}`; freeze it by a call with its parameters, as "
            "`scipy.stats.norm(0, 1)`; one without parameters by `()`."
        )
    if hasattr(value, "ppf"):
        _check_one_distribution(value.ppf, name)
        draw = lambda size, rng: value.rvs(size=size, random_state=rng)  # noqa: E731
        return Sampler(name, _label_of(value), draw, value.ppf, timed=True)
    return Sampler(name, _label_of(value), lambda size, rng: _draw_rows(value, size, rng), timed=True)


def _of_function(function: Any, name: str) -> Sampler:
    """Return a sampler that calls a user's function of size and generator."""
    if not callable(function):
        got = repr(function) if isinstance(function, str) else type(function).__name__
        raise TypeError(f"`{name}` must be {KINDS}; got {got}.")

    def draw(size: int, rng: np.random.Generator) -> Any:
        try:
            return function(size, rng)
        except (TypeError, AttributeError) as error:
            raise TypeError(f"`{name}` is called as sampler(size, rng), which failed: {error}") from error

    return Sampler(name, getattr(function, "__name__", type(function).__name__), draw)


def _check_one_distribution(quantile: Callable[[float], Any], name: str) -> None:
    """Raise ValueError if a distribution has array parameters, or no median because a parameter is out of range."""
    median = quantile(0.5)
    if np.shape(median) != ():
        raise ValueError(f"`{name}` must be one distribution, but its parameters have shape {np.shape(median)}.")
    if np.isnan(median):
        raise ValueError(f"`{name}` must have a median, but it is NaN: a parameter is out of range.")


def _draw_rows(distribution: Any, size: int, rng: np.random.Generator) -> Any:
    """Draw rows of a multivariate SciPy distribution; (size, d) also for size 1."""
    return distribution.rvs(size=max(size, 2), random_state=rng)[:size]


def _shorten_line(text: str) -> str:
    """Return a text on one line, cut to at most 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def _label_of(frozen: Any) -> str:
    """Return a short text for a frozen distribution: family and parameters as code, or its class name."""
    family = getattr(getattr(frozen, "dist", None), "name", None)
    if family is None:
        return type(frozen).__name__.removesuffix("_frozen")
    given = [_write_parameter(a) for a in frozen.args]
    given += [f"{key}={_write_parameter(a)}" for key, a in frozen.kwds.items()]
    return _shorten_line(f"{family}({', '.join(given)})")


def _write_parameter(value: Any) -> str:
    """Return a parameter as text: a number with six digits, an array as a list of its first numbers."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return str(value)
    if numbers.ndim == 0:
        return f"{float(numbers):g}"
    first = [f"{v:g}" for v in numbers.ravel()[:LABEL_VALUES].tolist()]
    return f"[{', '.join([*first, '…'] if numbers.size > LABEL_VALUES else first)}]"


def resampler(points: FloatArray, name: str) -> Sampler:
    """Return a sampler that draws rows of a pilot sample with replacement."""
    label = f"pilot sample of {len(points)}"
    return Sampler(name, label, lambda size, rng: points[rng.integers(len(points), size=size)], rows=points)
