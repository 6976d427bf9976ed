"""Linear algebra on one thread where several would wait for each other longer than they work.

The threads of a matrix product meet after every few hundred terms of its inner dimension, and those of a
decomposition after every column or two, and they wait by turning in a circle. When another process holds one of the
cores, each meeting may take as long as that process is given. Only a product that is large in its outer dimensions
gains more than it can lose; a sum over many rows, a product of few rows, and a decomposition up to `LARGEST_ORDER` do
not. One thread also gives the same bits whatever the number of cores.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import get_ident
from typing import Any

from energystats._core.interrupts import uninterrupted
from energystats._loading import Alone, loading

__all__ = ["one_thread", "one_thread_up_to"]

LARGEST_ORDER = 2048  # of a matrix that is decomposed on one thread

_changing = Alone()
_inside: Counter[int] = Counter()  # how deep every thread of Python is inside
_limits: list[Any] = []  # of threadpoolctl, in force while anybody is inside


@cache
def libraries() -> Any:
    """The libraries of linear algebra of NumPy and SciPy, found once."""
    with loading():
        import scipy.linalg  # noqa: F401  # so that its library is among them
        from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra until the last block of this kind has ended, in any thread of Python.

    The number of threads belongs to the whole process, so blocks that overlap share one limit: the first sets it, and
    the last restores what was there before. In a forked child only the blocks of the thread that forked go on.
    """
    own = get_ident()
    enter(own)
    try:
        yield
    finally:
        leave(own)


def enter(own: int) -> None:
    """Set the limit, if nobody is inside."""
    with uninterrupted(), _changing:
        if not _limits:
            _limits.append(libraries().limit(limits=1, user_api="blas"))
        _inside[own] += 1


def leave(own: int) -> None:
    """Restore what was there before, if nobody else is inside."""
    with uninterrupted(), _changing:
        _inside[own] -= 1
        restore_if_empty()


def restore_if_empty() -> None:
    """Take the limit back when nobody is inside."""
    if _limits and not +_inside:
        _inside.clear()
        _limits.pop().restore_original_limits()


def one_thread_up_to(order: int) -> AbstractContextManager[None]:
    """The same for a decomposition of a matrix of that order, unless it is large."""
    return one_thread() if order <= LARGEST_ORDER else nullcontext()


def forget_others() -> None:
    """In a forked child: the other threads of the parent are not there."""
    own = _inside[get_ident()]
    _inside.clear()
    _inside[get_ident()] = own
    restore_if_empty()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_others)
