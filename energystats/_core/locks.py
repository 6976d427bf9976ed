"""Lock code for one thread at a time, in a process that may be forked meanwhile."""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["Alone", "loading"]


class Alone:
    """Lock a `with` block for one thread at a time; in a forked child process the lock is free again."""

    def __init__(self) -> None:
        self.forget()
        ALL.add(self)

    def forget(self) -> None:
        """Replace a lock by a new one that no thread holds."""
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


ALL: weakref.WeakSet[Alone] = weakref.WeakSet()
_imports = Alone()


def loading() -> Alone:
    """Return the lock under which packages with circular imports are imported, so that threads do not deadlock."""
    return _imports


def _forget_all() -> None:
    """Replace all locks in a forked child process, since threads of the parent may have held them."""
    for block in ALL:
        block.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
