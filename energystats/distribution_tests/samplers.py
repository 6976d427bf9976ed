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

__all__ = ["Sampler", "as_sampler", "is_distribution", "resampler"]


Draw: TypeAlias = Callable[[int, np.random.Generator], Any]
LABEL = 60  # characters of a distribution in words
FEW_ROWS, MORE_ROWS = 2, 10  # that are drawn to see how long it takes
NOTICED = 1.0  # seconds
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
    return callable(value) or hasattr(value, "rvs") or _is_new_style(value)


def _is_new_style(value: object) -> bool:
    """Return whether `value` is an object of SciPy's newer distribution classes, such as `scipy.stats.Normal`."""
    return hasattr(value, "sample") and hasattr(value, "icdf")


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
    given = [f"{float(a):g}" for a in frozen.args]
    given += [f"{key}={float(a):g}" for key, a in frozen.kwds.items()]
    return _shorten_line(f"{family}({', '.join(given)})")


def resampler(points: FloatArray, name: str) -> Sampler:
    """Return a sampler that draws rows of a pilot sample with replacement."""
    label = f"pilot sample of {len(points)}"
    return Sampler(name, label, lambda size, rng: points[rng.integers(len(points), size=size)], rows=points)
