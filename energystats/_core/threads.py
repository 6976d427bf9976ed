"""Keep linear algebra on one thread where several would wait for each other longer than they work.

The threads of a matrix product meet after every few hundred terms of its inner dimension, and those of a
decomposition after every column or two, and wait in a busy loop. When another process holds one of the
cores, each meeting may take as long as that process is given. Only a product that is large in its outer dimensions
gains more than it can lose; a sum over many rows, a product of few rows, and a decomposition up to `LARGEST_ORDER` do
not. One thread also gives the same bits whatever the number of cores.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from threading import Condition, get_ident
from typing import Any, TypeAlias

from energystats._core.interrupts import ThreadPool, uninterrupted
from energystats._core.locks import loading

__all__ = [
    "Apply",
    "map_side_by_side",
    "one_openmp_thread_up_to",
    "one_thread",
    "one_thread_up_to",
    "side_by_side",
    "threads_given",
]


LARGEST_ORDER = 4096  # of a matrix that is decomposed on one thread: two gain 1.7 times, and lose 4 to 10 beside others
LONG_LOOP = 20_000  # points: what scikit-learn finds of fewer takes milliseconds on one thread


@cache
def _find_openmp(loaded: bool) -> Any:
    """Return a controller for the numbers of OpenMP threads, cached for before and after scikit-learn is loaded."""
    with loading():
        from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


@cache
def _find_libraries() -> Any:
    """Return a cached controller for the thread numbers of NumPy's and SciPy's linear algebra libraries."""
    with loading():
        import scipy.linalg  # noqa: F401  # so that its library is among them
        from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Limit:
    """Limit linear algebra to one thread in the whole process, set by one thread of Python at a time.

    The number belongs to the process, and two threads of Python that set and restore it in turn would leave a wrong
    one. So whoever sets it restores it; meanwhile others compute with what there is, or wait.
    """

    def __init__(self) -> None:
        self.changed = Condition()
        self.owner: int | None = None
        self.depth = 0  # blocks of the owner
        self.limiter: Any = None

    def enter(self, wait: bool) -> bool:
        """Limit linear algebra to one thread, and return True; while another thread limits it, wait or return False."""
        with self.changed:
            while self.owner not in (None, get_ident()):
                if not wait:
                    return False
                self.changed.wait(0.1)  # in short steps: not every system lets Ctrl-C end a long one
            if self.owner is not None:
                self.depth += 1
                return True
            try:
                with uninterrupted():
                    self.limiter = _find_libraries().limit(limits=1, user_api="blas").__enter__()
                    self.owner, self.depth = get_ident(), 1
            except KeyboardInterrupt:  # it was held back until the limit was set, or came before
                if self.owner == get_ident():
                    self.leave()
                raise
            return True

    def leave(self) -> None:
        """Restore the number of linear algebra threads when the outermost block that limited them ends."""
        with self.changed:
            if self.depth > 1:
                self.depth -= 1
                return
            with uninterrupted():
                self.limiter.__exit__(None, None, None)
                self.owner, self.depth, self.limiter = None, 0, None
                self.changed.notify_all()

    def after_fork(self) -> None:
        """Release, in a forked child process, a limit on linear algebra that another thread of the parent holds."""
        self.changed = Condition()
        if self.owner not in (None, get_ident()):
            with self.limiter:
                self.owner, self.depth = None, 0
            self.limiter = None


LIMIT = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LIMIT.after_fork)


@contextmanager
def one_thread(*, wait: bool = False) -> Iterator[None]:
    """Limit linear algebra to one thread in a `with` block; if another thread does, wait on request, or do nothing."""
    entered = LIMIT.enter(wait)
    try:
        yield
    finally:
        if entered:
            LIMIT.leave()


def one_thread_up_to(order: int) -> AbstractContextManager[None]:
    """Return a context manager that limits linear algebra to one thread, unless matrices are of a large order."""
    return one_thread() if order <= LARGEST_ORDER else nullcontext()


def one_openmp_thread_up_to(n_points: int) -> AbstractContextManager[None]:
    """Return a context manager that limits this thread's OpenMP loops to one thread, unless there are many points.

    The loops of scikit-learn meet after every pass, waiting in a busy loop: with 4,000 points and a core that is taken
    k-means needs 1.3 seconds on two threads, and 5 milliseconds on one.
    """
    if n_points > LONG_LOOP:
        return nullcontext()
    return _find_openmp("sklearn" in sys.modules).limit(limits=1)  # type: ignore[no-any-return]


Apply: TypeAlias = Callable[[Callable[[Any], None], Sequence[Any]], None]


@contextmanager
def map_side_by_side(most: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a function like `map` that runs in a limited number of threads, with single-threaded linear algebra.

    There are as many threads as linear algebra has been given, so that who limits those limits these.
    """
    n_threads = min(most, threads_given()) if most > 1 else 1
    if n_threads == 1:
        yield map
        return
    with one_thread(), ThreadPool(n_threads) as pool:
        yield pool.map


@contextmanager
def side_by_side(most: int) -> Iterator[Apply]:
    """Yield a function that calls another one on every item, in a limited number of threads, and drops the results."""
    with map_side_by_side(most) as map_over:
        yield partial(_apply_all, map_over)


def _apply_all(map_over: Callable[..., Iterator[None]], function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Apply a function to every item through a given variant of `map`, so that the errors it raises are raised here."""
    for _ in map_over(function, items):
        pass


def threads_given() -> int:
    """Return the number of threads that linear algebra may use now."""
    given = (library.num_threads for library in _find_libraries().lib_controllers if library.user_api == "blas")
    return max(given, default=1)
