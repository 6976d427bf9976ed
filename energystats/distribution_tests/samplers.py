"""Distributions to draw from: frozen scipy.stats ones, a user's function, or the rows of a pilot sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from energystats._typing import AnyArray, BoolArray, FloatArray
from energystats.inputs.arrays import as_numbers, check_finite
from energystats.inputs.table import as_table

__all__ = [
    "Sampler",
    "as_sampler",
    "find_possible",
    "find_spacing",
    "has_whole_numbers",
    "is_distribution",
    "lies_on_whole_numbers",
    "resampler",
    "round_to_whole",
]


Draw: TypeAlias = Callable[[int, np.random.Generator], Any]
LABEL = 60  # characters of a distribution in words
LABEL_VALUES = 6  # numbers of an array parameter in it
FEW_ROWS, MORE_ROWS = 2, 10  # that are drawn to see how long it takes
NOTICED = 1.0  # seconds
COMPARED = 200  # draws that are compared with the range of the quantiles
EDGE = 1e-12  # probability beyond that range, on either side
RANGE_SLACK = 1e-6  # of that range: what quantiles may be off
FLOAT32_DIGITS = 9  # significant decimals that tell any two numbers of single precision apart
FARTHEST = 1e6  # whole numbers from the median to a quantile, up to which SciPy may sum probabilities
ULPS = 4  # of a number: what rounding may have moved it
CUT_FROM_CIRCLES = ("vonmises_line",)  # distributions on a line
STREAMS_TRIED = 20  # that a function of the user has to tell apart
LIGHTER = "such draws cannot be compared, so take a distribution with a lighter tail"
KINDS = "a frozen scipy.stats distribution, or a callable sampler(size, rng) -> (size,) or (size, d)"


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Hold a source of independent draws from one distribution."""

    argument: str  # name of the argument that it came from, for messages
    label: str  # the distribution in words
    raw: Draw  # draws `size` values or rows
    ppf: Callable[[FloatArray], AnyArray] | None = None  # quantile function, of a distribution of numbers that has one
    rows: FloatArray | None = None  # (m, d) the checked rows of a pilot sample, from which it draws
    # names of the columns that a data frame which is drawn must have, in their order
    columns: tuple[str, ...] | None = None
    survival: Callable[[float], Any] | None = None  # probability of larger values, of a discrete distribution of SciPy
    timed: bool = False  # whether it may be called to see how long it takes, which a user's function may count

    def find_columns(self) -> tuple[str, ...] | None:
        """Find the column names of a sampler's samples, by drawing two rows; None without names."""
        return as_table(self.raw(2, np.random.default_rng(0))).columns if self.rows is None else self.columns

    def estimate_seconds(self, calls: float, rows: float, quantiles: int = 0) -> float:
        """Estimate the seconds that a sampler takes for `calls` draws of `rows` rows in all.

        Quantiles are counted apart.
        """
        if not self.timed:
            return 0.0
        found = _extrapolate_time(lambda size: self.raw(size, np.random.default_rng(0)), calls, rows)
        if self.ppf is not None and quantiles:
            found += _extrapolate_time(self.quantiles, 1, quantiles)
        return found

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw a random sample, and check its shape and values; (size, d)."""
        drawn = self.raw(size, rng)
        return drawn if self.rows is not None else self.checked(drawn, size)

    def check_varies(self, size: int) -> None:
        """Raise ValueError if a user's function draws one and the same varied sample from many different streams.

        A few streams give the same small sample of few values by chance.
        """
        if self.timed or self.rows is not None:
            return
        first, *others = (self.draw(size, np.random.default_rng(seed)) for seed in range(STREAMS_TRIED))
        if np.ptp(first, axis=0).any() and all(np.array_equal(first, other) for other in others):
            raise ValueError(
                f"`{self.argument}` drew the same {size} values {STREAMS_TRIED} times: it must draw them from the "
                "generator that it is given, as in sampler(size, rng) -> rng.normal(size=size)."
            )

    def quantiles(self, size: int) -> FloatArray:
        """Compute the quantiles of a distribution at the midpoints of `size` equal parts of [0, 1]; (size, 1)."""
        assert self.ppf is not None
        places = (np.arange(size) + 0.5) / size
        try:
            return self.checked(self.ppf(places), size)
        except RuntimeError:  # SciPy's search for a quantile of a discrete distribution may fail for a few places
            if self.survival is None:
                raise
        return self.checked(_find_whole_quantiles(self.ppf, self.survival, places), size)

    def compare_with_quantiles(self, size: int) -> tuple[Sampler, tuple[str, ...]]:
        """Drop a sampler's quantiles where these misrepresent its distribution, to use draws; return it, and a note.

        Draws lie outside of their range, or SciPy would sum very many probabilities up to them.
        """
        if self.ppf is None:
            return self, ()
        if self.survival is not None:
            # no look at the range of draws: quantiles so far in heavy tails are what takes memory and minutes
            with np.errstate(all="ignore"):
                end = float(_find_whole_quantiles(self.ppf, self.survival, np.array([0.5]))[0]) + FARTHEST
                beyond = float(self.survival(end))
            if not beyond > 0.5 / size:
                return self, ()
            note = (
                f"The tail of {self.label} is so heavy ({beyond:.2g} beyond {end:.4g}) that its quantiles would take "
                "very long: draws stand for it."
            )
            return replace(self, ppf=None), (note,)
        # a stream of its own: the user's draws are the same with and without this check
        drawn = self.draw(COMPARED, np.random.default_rng(0))
        if drawn.shape[1] > 1:
            return self, ()
        try:
            with np.errstate(all="ignore"):
                low, high = np.asarray(self.ppf(np.array([EDGE, 1 - EDGE])), dtype=np.float64).tolist()
        except (ValueError, RuntimeError):  # SciPy's search for a quantile may fail so far in the tails
            low, high = -np.inf, np.inf
        failed = self._name_failure(size)
        if failed:
            return replace(self, ppf=None), (
                f"SciPy cannot compute quantiles of {self.label} ({failed}): draws stand for it.",
            )
        slack = RANGE_SLACK * (high - low)
        # False where an end is NaN
        if not ((drawn < low - slack) | (drawn > high + slack)).any():
            return self, ()
        note = (
            f"SciPy draws values of {self.label} outside of the range of its quantiles ({low:.4g} to {high:.4g}), so "
            f"that draws stand for it; give `X` in their range, about {drawn.min():.4g} to {drawn.max():.4g}."
        )
        return replace(self, ppf=None), (note,)

    def _name_failure(self, size: int) -> str:
        """Return why the outer ones of `size` quantiles, or the median, cannot be computed; else ""."""
        assert self.ppf is not None
        for place in (0.5 / size, 0.5, 1 - 0.5 / size):
            try:
                with np.errstate(all="ignore"):
                    value = float(np.ravel(self.ppf(np.array([place])))[0])
            except (ValueError, RuntimeError) as error:
                return f"at {place:.6g}: {str(error).rstrip('.')}"
            if np.isnan(value):
                return f"at {place:.6g} it is NaN"
        return ""

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
        numbers = as_numbers(values, f"sample of {self.label}", cure=LIGHTER).reshape(size, -1)
        if bad := int(np.count_nonzero(~np.isfinite(numbers))):
            raise ValueError(f"`{self.argument}` must give finite numbers; {bad} of {self.label} are not.")
        check_finite(numbers, f"sample of {self.label}", None)
        return numbers


def _find_whole_quantiles(
    quantile: Callable[[FloatArray], AnyArray], survival: Callable[[float], Any], places: FloatArray
) -> FloatArray:
    """Compute ascending quantiles of a discrete distribution one by one where SciPy's search fails; (m,)."""
    found = np.zeros(len(places))
    for i, place in enumerate(places.tolist()):
        try:
            found[i] = float(np.asarray(quantile(place)))
        except RuntimeError:
            # the search of SciPy bisects between a whole number and one that is not, and may not end
            low = found[i - 1] if i else float(np.asarray(quantile(place / 2)))
            if survival(low) <= 1 - place:
                found[i] = low
                continue
            step = 1.0
            while survival(low + step) > 1 - place:
                low, step = low + step, 2 * step
            high = low + step
            while high - low > 1:
                middle = low + np.floor((high - low) / 2)
                low, high = (middle, high) if survival(middle) > 1 - place else (low, middle)
            found[i] = high
    return found


def _extrapolate_time(draw: Callable[[int], Any], calls: float, rows: float) -> float:
    """Estimate the seconds that many calls of a function take, by timing two small calls."""
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
    """Return whether a distribution of SciPy is discrete, so that it has a probability mass function."""
    if not _is_new_style(distribution):
        return hasattr(distribution, "pmf")
    # the newer continuous classes have a `pmf`, too, which is 0 or, in SciPy 1.17, recurses without end
    return any(base.__name__ == "DiscreteDistribution" for base in type(distribution).__mro__)


def lies_on_whole_numbers(distribution: Any) -> bool:
    """Return whether a distribution of SciPy is discrete, and its values are whole numbers."""
    family = getattr(distribution, "dist", None)
    if not has_whole_numbers(distribution) or family is None or not hasattr(family, "numargs"):
        return has_whole_numbers(distribution)
    values = np.ravel(getattr(family, "xk", 0.0))
    return not _without_shift(distribution)[2] % 1 and not (values % 1).any()


def find_spacing(x: FloatArray) -> float:
    """Find the relative spacing of the floats of a sample: that of single or of double precision.

    Of single precision are values that it holds exactly, of which some would have too many decimals otherwise.
    """
    with np.errstate(over="ignore"):
        single = x.astype(np.float32).astype(np.float64)
    if not np.array_equal(single, x):
        return float(np.finfo(np.float64).eps)
    size = 10.0 ** (FLOAT32_DIGITS - 1 - np.floor(np.log10(np.where(x == 0, 1.0, np.abs(x)))))
    written = np.rint(x * size) / size
    long = np.abs(written - x) > ULPS * np.finfo(np.float64).eps * np.abs(x)
    return float(np.finfo(np.float32 if long.any() else np.float64).eps)


def round_to_whole(x: FloatArray) -> FloatArray:
    """Round those values to whole numbers that differ from them only by rounding errors."""
    whole = np.rint(x)
    near = np.abs(x - whole) <= ULPS * find_spacing(x) * np.maximum(np.abs(x), 1.0)
    return np.where(near, whole, x)


def find_possible(distribution: Any, x: FloatArray) -> BoolArray:
    """Return which values a distribution with a support can give, up to rounding; (n,)."""
    low, high = (float(end) for end in distribution.support())
    discrete = has_whole_numbers(distribution)
    with np.errstate(all="ignore"):
        possible = (x >= low) & (x <= high)
        if discrete:
            possible &= np.asarray(distribution.pmf(x)) > 0
    if possible.all():
        return np.asarray(possible)
    quantile = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    middle = abs(float(quantile(0.5))) if quantile is not None else 0.0
    nearest = np.clip(x, low, high)  # as of -1e-17 where numbers are of the size of 1
    slack = ULPS * find_spacing(x) * np.maximum(np.maximum(np.abs(x), np.abs(nearest)), middle)
    if not discrete:
        return np.asarray(np.abs(x - nearest) <= slack)
    with np.errstate(all="ignore"):
        for moved, unit, probabilities in _find_atoms_near(distribution, x):
            possible |= (np.abs(moved) <= np.maximum(slack, ULPS * find_spacing(x) * unit)) & (probabilities > 0)
    return np.asarray(possible)


def _find_atoms_near(distribution: Any, x: FloatArray) -> Iterator[tuple[FloatArray, float, FloatArray]]:
    """Yield distances of values to values that a discrete distribution may have, a scale, and their probabilities.

    The scale is that of the values whose rounding moves the distances.
    """
    family = getattr(distribution, "dist", None)
    if not hasattr(family, "xk"):
        yield x - np.rint(x), 1.0, np.asarray(distribution.pmf(np.rint(x)))
    if family is None or not hasattr(family, "numargs"):
        return
    # a shift is subtracted by SciPy, which moves the last digit: 4.1 - .1 is no whole number
    args, named, shift = _without_shift(distribution)
    shifted = x - shift
    places, unit = np.rint(shifted), 1.0
    if hasattr(family, "xk"):
        known = np.sort(np.ravel(family.xk).astype(np.float64))
        after = np.minimum(np.searchsorted(known, shifted), known.size - 1)
        lower, upper = known[np.maximum(after - 1, 0)], known[after]
        places, unit = np.where(shifted - lower <= upper - shifted, lower, upper), float(np.abs(known).max())
    yield shifted - places, unit, np.asarray(family.pmf(places, *args, **named))


def _without_shift(distribution: Any) -> tuple[tuple[Any, ...], dict[str, Any], float]:
    """Return the arguments of a frozen distribution of SciPy without its shift, and that."""
    args, named, count = distribution.args, dict(distribution.kwds), distribution.dist.numargs
    shift = named.pop("loc", args[count] if len(args) > count else 0)
    return tuple(args[:count]), named, float(shift)


def _drawing_of(distribution: Any) -> Draw:
    """Return the function that draws from a frozen distribution of SciPy as its quantiles and probabilities say.

    SciPy's own cuts draws of counts that are shifted by a fraction to whole numbers, and puts those of a distribution
    that was cut from a circle on this circle.
    """
    family = getattr(distribution, "dist", None)
    if getattr(family, "name", "") in CUT_FROM_CIRCLES:
        return lambda size, rng: distribution.ppf(rng.random(size))
    if hasattr(family, "numargs") and not hasattr(family, "xk") and has_whole_numbers(distribution):
        args, named, shift = _without_shift(distribution)
        if shift % 1:
            counts = distribution.dist(*args, **named)
            return lambda size, rng: shift + counts.rvs(size=size, random_state=rng)
    return lambda size, rng: distribution.rvs(size=size, random_state=rng)


def as_sampler(value: Any, name: str, columns: tuple[str, ...] | None = None) -> Sampler:
    """Return a sampler for a frozen distribution or a user's function; raise TypeError for anything else.

    `columns` are the names that data frames of a function must have, if that is known.
    """
    if isinstance(value, type):
        raise TypeError(f"`{name}` must be an object, got the class {value.__name__}; write `{value.__name__}(...)`.")
    if _is_new_style(value):
        _check_one_distribution(value.icdf, name)
        draw = lambda size, rng: value.sample(size, rng=rng)  # noqa: E731
        return Sampler(name, _shorten_line(str(value)), draw, value.icdf, survival=_survival_of(value), timed=True)
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
    if callable(value) and _has_own_values(value):
        value = value()
    if callable(value):
        short = getattr(value, "name", None) or type(value).__name__.removesuffix("_gen")
        raise TypeError(
            f"`{name}` must be fully specified, got the family `{short}`; freeze it by a call with its parameters, as "
            "`scipy.stats.norm(0, 1)`; one without parameters by `()`."
        )
    if hasattr(value, "ppf"):
        _check_one_distribution(value.ppf, name)
        return Sampler(name, _label_of(value), _drawing_of(value), value.ppf, survival=_survival_of(value), timed=True)
    return Sampler(name, _label_of(value), lambda size, rng: _draw_rows(value, size, rng), timed=True)


def _has_own_values(family: Any) -> bool:
    """Return whether a SciPy distribution was made from a histogram or list, without parameters to fit."""
    return hasattr(family, "_histogram") or (hasattr(family, "xk") and hasattr(family, "pk"))


def _survival_of(distribution: Any) -> Callable[[float], Any] | None:
    """Return the survival function of a discrete distribution; None for other distributions."""
    found = getattr(distribution, "sf", None) or getattr(distribution, "ccdf", None)
    return found if has_whole_numbers(distribution) else None


def _of_function(function: Any, name: str) -> Sampler:
    """Build a sampler from a user's function of size and random generator."""
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
    """Raise ValueError if a frozen distribution has array parameters or invalid ones."""
    median = quantile(0.5)
    if np.shape(median) != ():
        raise ValueError(f"`{name}` must be one distribution, but its parameters have shape {np.shape(median)}.")
    if np.isnan(median):
        raise ValueError(
            f"`{name}` must have a median, but SciPy says it is NaN: a parameter is out of range, or so large that its "
            "quantiles fail; then give a function sampler(size, rng) that draws."
        )


def _draw_rows(distribution: Any, size: int, rng: np.random.Generator) -> Any:
    """Draw rows from a multivariate SciPy distribution; (size, d), also for size 1."""
    return distribution.rvs(size=max(size, 2), random_state=rng)[:size]


def _shorten_line(text: str) -> str:
    """Return a text on one line, cut to at most 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def _label_of(frozen: Any) -> str:
    """Return a short label for a frozen distribution: its family and parameters, or class name."""
    family = getattr(getattr(frozen, "dist", None), "name", None)
    if family == "Distribution":  # as SciPy calls a family made from a histogram or values without a name
        family = "rv_histogram" if hasattr(frozen.dist, "_histogram") else "rv_discrete"
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
    """Build a sampler that draws rows of a sample with replacement."""
    label = f"pilot sample of {len(points)}"
    return Sampler(name, label, lambda size, rng: points[rng.integers(len(points), size=size)], rows=points)
