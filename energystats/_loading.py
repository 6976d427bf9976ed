"""Packages with circular imports of their own, which Python refuses to two threads that begin with them at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["loading"]

_lock = threading.RLock()


@contextmanager
def loading() -> Iterator[None]:
    """One thread at a time."""
    with _lock:
        yield


def _new_lock() -> None:
    """Forget the lock that another thread of the parent process may have held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)
