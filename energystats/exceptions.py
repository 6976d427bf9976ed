"""Define the warnings of the package, and issue, collect or ignore them.

Input that cannot be computed raises `ValueError` or `TypeError`; input that can be computed but
should be checked warns with one of these classes, so that each can be silenced on its own.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = [
    "ColumnScaleWarning",
    "ConvergenceWarning",
    "DisconnectedGraphWarning",
    "DoubleDippingWarning",
    "EnergyStatsWarning",
    "MatrixAsPointsWarning",
    "MissingValuesWarning",
    "NotCalibratedWarning",
    "NotNegativeTypeWarning",
    "PerformanceWarning",
    "TiesWarning",
    "collected",
    "ignoring",
    "warn",
]


# of one thread: warnings go here instead of to Python's filters, which belong to all threads
_collector: ContextVar[list[tuple[str, type[EnergyStatsWarning]]] | None] = ContextVar("collector", default=None)
_changing_filters = threading.RLock()
_given_once: set[type[EnergyStatsWarning]] = set()  # in this process


class EnergyStatsWarning(UserWarning):
    """Define the base class of every warning issued by energystats."""


class NotNegativeTypeWarning(EnergyStatsWarning):
    """Warn that the semimetric is not of negative type: S may be negative and Lloyd's rule may raise W."""


class NotCalibratedWarning(EnergyStatsWarning):
    """Warn that simulations found the level of this test to be inexact under these conditions."""


class DoubleDippingWarning(EnergyStatsWarning):
    """Warn that labels found from the data are tested as if they had been known in advance."""


class ColumnScaleWarning(EnergyStatsWarning):
    """Warn that one column decides the distances or another hardly counts, or that z-scores magnify rounding."""


class MatrixAsPointsWarning(EnergyStatsWarning):
    """Warn that coordinates, a kernel or a graph look like a matrix of dissimilarities, with a zero diagonal."""


class TiesWarning(EnergyStatsWarning):
    """Warn that ties were jittered in a way that can change p, values at a limit moved, or rows are duplicated."""


class MissingValuesWarning(EnergyStatsWarning):
    """Warn that rows with missing values or empty columns were left out, or that a label is a missing value's text."""


class ConvergenceWarning(EnergyStatsWarning):
    """Warn that an iterative method stopped at its limit before it had converged."""


class DisconnectedGraphWarning(EnergyStatsWarning):
    """Warn that the graph has several components, which cost nothing to cut apart."""


class PerformanceWarning(EnergyStatsWarning):
    """Warn that a call will take minutes or more, or that loops run in plain Python as they are not compiled.

    The time is estimated before the call starts. A call that would not fit into the available memory raises
    `MemoryError` in the same place.
    """


def warn(message: str, category: type[EnergyStatsWarning], *, once: bool = False) -> None:
    """Issue a warning that points to the user's own line of code; with `once`, only the first of its class."""
    collector = _collector.get()
    if collector is not None:
        collector.append((message, category))
        return
    if once and category in _given_once:
        return
    _given_once.update({category} if once else ())
    level, frame = 1, sys._getframe(0)
    passed_over = ("energystats.", "contextlib", "functools", "sklearn.", "joblib.")  # a pipeline calls the estimator
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(passed_over):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected() -> Iterator[list[tuple[str, type[EnergyStatsWarning]]]]:
    """Collect this package's warnings inside a `with` block as (text, class), instead of issuing them."""
    found: list[tuple[str, type[EnergyStatsWarning]]] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


@contextmanager
def ignoring(category: type[Warning], beginning: str = "") -> Iterator[None]:
    """Ignore a warning of another package inside a `with` block, in one thread at a time."""
    with _changing_filters, warnings.catch_warnings():
        warnings.filterwarnings("ignore", beginning, category)
        yield


def _replace_lock() -> None:
    """Replace a lock in a forked child process, since a thread of the parent may have held it."""
    global _changing_filters
    _changing_filters = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)
