"""Compile loops by numba, or run them in plain Python; no other module imports numba.

A loop decorated with `njit` is compiled on first use and cached on disk. Where numba cannot be
imported, or NUMBA_DISABLE_JIT is set, the undecorated Python function runs instead, after one warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from energystats._core.interrupts import uninterrupted
from energystats.exceptions import PerformanceWarning, warn

__all__ = ["njit", "on_compilation", "try_compiler"]


Function = TypeVar("Function", bound=Callable[..., Any])

SLOWLY = "the loops run in plain Python, with the same results, about a hundred times slower."

numba: Any = None
OBSTACLE = ""  # what keeps loops from being compiled
try:
    with uninterrupted():
        numba = import_module("numba")
except Exception as error:  # numba refuses some versions of numpy or Python with other errors than ImportError
    OBSTACLE = f"numba cannot be imported ({error})"
else:
    if numba.config.DISABLE_JIT:
        numba, OBSTACLE = None, "NUMBA_DISABLE_JIT is set"
if OBSTACLE:
    warn(f"{OBSTACLE}; {SLOWLY}", PerformanceWarning)


def njit(function: Function) -> Function:
    """Compile a function by numba, where available, with a disk cache; ``.py_func`` is the original function."""
    if numba is None:
        function.py_func = function  # type: ignore[attr-defined]
        return function
    try:
        loop = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        # what is cached contains the loops that are called, but numba compares the caller's file alone
        cached = loop._cache._cache_file
        cached._source_stamp = (cached._source_stamp, _hash_sources())
    except (RuntimeError, AttributeError):  # no folder where the cache could be written, or another kind of cache
        loop = numba.njit(nogil=True, error_model="numpy")(function)
    loop.compile = _compile_whole_and_once(loop.compile)
    return cast(Function, loop)


@cache
def _hash_sources() -> str:
    """Return a hash of the source files of all compiled loops, which makes the cache of older versions invalid."""
    return sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


def _compile_whole_and_once(compile_loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compile function that delays Ctrl-C, since numba cannot use a partly compiled loop.

    A whole number that a calling loop has in its text is an integer like others: numba would compile it for each.
    """

    @wraps(compile_loop)
    def compile_whole(signature: Any) -> Any:
        with uninterrupted():
            if isinstance(signature, tuple):
                signature = tuple(map(numba.types.unliteral, signature))
            return compile_loop(signature)

    return compile_whole


def try_compiler() -> str:
    """Compile a small loop; return "yes", or "no: " and the error."""
    if numba is None:
        return f"no: {OBSTACLE}"
    try:
        with uninterrupted():
            numba.njit(_sum_below)(3)
    except Exception as error:  # of many kinds, from a compiler that does not fit the machine
        return f"no: {type(error).__name__}: {error}"
    return "yes"


def _sum_below(n: int) -> int:
    total = 0
    for _ in range(n):
        total += 1
    return total


@contextmanager
def on_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call a given function once, when numba begins to compile a loop inside the `with` block."""
    if numba is None:
        yield
        return
    event = import_module("numba.core.event")

    class Announcer(event.Listener):  # type: ignore[misc, name-defined]
        announced = False

        def on_start(self, event: Any) -> None:
            if not self.announced:
                self.announced = True
                announce()

        def on_end(self, event: Any) -> None:
            """Do nothing when a compilation ends; numba requires this method."""

    with event.install_listener("numba:compile", Announcer()):
        yield
