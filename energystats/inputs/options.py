"""Options: counts, exponents, confidence levels, names out of a list, and the random generator."""

from __future__ import annotations

import functools
import numbers
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from energystats._typing import RandomLike
from energystats.inputs.names import near_names

__all__ = [
    "as_generator",
    "check_alpha",
    "check_confidence_level",
    "check_count",
    "check_flag",
    "check_jobs",
    "check_not_negative",
    "check_option",
    "check_positive",
    "children",
    "note_unused",
    "refuse_keyword",
]


P = ParamSpec("P")
R = TypeVar("R")
SMALLEST_ALPHA = 1e-3  # a power of .001 brings distances that differ by a factor 1000 within .7 %


def refuse_keyword(keyword: str, message: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes a function raise TypeError, with a given message, if called with a keyword."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if keyword in kwargs:
                raise TypeError(message)
            return function(*args, **kwargs)

        return checked

    return decorate


def check_jobs(n_jobs: object) -> int:
    """Check a number of threads and return it; None means 1, -1 means all processors."""
    if n_jobs is None:
        return 1
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return os.cpu_count() or 1
    if isinstance(n_jobs, numbers.Integral) and n_jobs < 1:
        raise ValueError(f"`n_jobs` must be at least 1, or -1 for all processors, got {n_jobs}.")
    return check_count(n_jobs, "n_jobs", low=1)


def check_flag(value: object, name: str) -> None:
    """Raise TypeError if an option is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, got {value!r} of type {type(value).__name__}.")


def check_count(value: object, name: str, *, low: int, high: int | None = None, why: str = "") -> int:
    """Check that a number is whole and within given bounds, and return it as an int."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"`{name}` must be a whole number, got {value!r} of type {type(value).__name__}.")
    number = int(value)
    if number < low:
        raise ValueError(f"`{name}` must be at least {low}, got {number}.")
    if high is not None and number > high:
        raise ValueError(f"`{name}` must be at most {high}{why}, got {number}.")
    return number


def _write_given(value: int | float | np.integer[Any] | np.floating[Any]) -> str:
    """Return a number as text, with six digits where they are all it has: 2.0000001 is not shown as 2."""
    text = f"{value:g}"
    return text if float(text) == value or value != value else repr(float(value))


def check_alpha(alpha: object) -> float:
    """Check the exponent alpha of a distance, 0.001 <= alpha <= 2, and return it as a float."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.integer | np.floating):
        raise TypeError(f"`alpha` must be a number, got {alpha!r} of type {type(alpha).__name__}.")
    if not 0 < alpha <= 2:
        raise ValueError(f"`alpha` must be from 0.001 to 2, got {_write_given(alpha)}.")
    # refused rather than warned of: the answer would be that to another question
    if alpha < SMALLEST_ALPHA:
        raise ValueError(
            f"`alpha` must be at least {SMALLEST_ALPHA:g}, got {_write_given(alpha)}: so small a power makes nearly "
            "all distances between different points equal, and what remains is which points coincide."
        )
    return float(alpha)


def check_positive(value: object, name: str) -> float:
    """Check that a number is positive and finite, and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"`{name}` must be a number, got {value!r} of type {type(value).__name__}.")
    if not 0 < value < np.inf:
        raise ValueError(f"`{name}` must be positive and finite, got {_write_given(value)}.")
    return float(value)


def check_not_negative(value: object, name: str) -> float:
    """Check that a number is finite and not negative, and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return check_positive(value, name)
    if not 0 <= value < np.inf:
        raise ValueError(f"`{name}` must be 0 or positive, and finite, got {_write_given(value)}.")
    return abs(float(value))


def check_confidence_level(value: object) -> float:
    """Check that a confidence level lies between 0 and 1, and return it as a float."""
    found = check_positive(value, "confidence_level")
    if not found < 1:
        raise ValueError(f"`confidence_level` must lie below 1, got {_write_given(found)}.")
    return found


def check_option(value: object, name: str, options: Sequence[str]) -> None:
    """Raise TypeError or ValueError if an option is not one of the given words."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a string, one of {', '.join(options)}; got {type(value).__name__}.")
    if value not in options:
        raise ValueError(f"`{name}` must be one of {', '.join(options)}; got {value!r}.{near_names(value, options)}")


def note_unused(where: str, **options: tuple[object, object]) -> tuple[str, ...]:
    """Return a note that names the options without effect that differ from their defaults; () if there are none.

    `where` says why they have none. Each option is a pair of its value and its default.
    """
    given = [f"`{name}`" for name, (value, default) in options.items() if value != default]
    return (f"Not used {where}: {', '.join(given)}.",) if given else ()


def children(rng: np.random.Generator, count: int) -> Iterator[np.random.Generator]:
    """Yield `count` child random generators, spawned one at a time to save memory."""
    for _ in range(count):
        yield from rng.spawn(1)


def _continue_from(given: np.random.Generator) -> np.random.Generator:
    """Return a Generator that the state of a given one determines, and advance that one.

    Children that are spawned do not depend on the state, and those of a Generator that jumped are random. One that
    has drawn nothing gives what its seed gives.
    """
    bits: Any = given.bit_generator
    began = getattr(bits, "seed_seq", None)
    fresh: Any = None
    if isinstance(began, np.random.SeedSequence):
        state: dict[str, Any] = {**began.state, "n_children_spawned": 0}
        fresh = type(bits)(np.random.SeedSequence(**state))
    drew_nothing = fresh is not None and pickle.dumps(fresh.state) == pickle.dumps(bits.state)
    drawn = given.integers(2**63, size=4)
    return np.random.Generator(fresh) if drew_nothing else np.random.default_rng(drawn)


def as_generator(rng: RandomLike | np.random.RandomState, name: str = "rng") -> np.random.Generator:
    """Return a numpy Generator from a seed, a Generator, a legacy RandomState or None (SPEC 7).

    A SeedSequence is copied: it counts its children, so that a second call with it would get other ones. So is what a
    Generator began with, if it has drawn nothing yet; of another one the state alone decides.
    """
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**31, size=4))
    if isinstance(rng, np.random.SeedSequence):
        rng = np.random.SeedSequence(**rng.state)
    # NumPy takes True for the seed 1
    if isinstance(rng, bool):
        raise TypeError(f"`{name}` must be a seed, a numpy Generator, a RandomState or None, got {rng!r}.")
    try:
        generator = np.random.default_rng(rng)
        was_given = isinstance(rng, np.random.Generator | np.random.BitGenerator)
        return _continue_from(generator) if was_given else generator
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"`{name}` must be a seed (whole number >= 0), a numpy Generator, a RandomState or None, got {rng!r}."
        ) from error
