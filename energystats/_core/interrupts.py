"""Hold Ctrl-C back where it would break something, and pass it on to threads that would not receive it.

Python answers a signal between two steps of the main thread. Long compiled loops are therefore called in pieces, and
what must not stop half-way, such as a compilation, is done with the signal held back.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from itertools import islice
from typing import Any, TypeVar

__all__ = ["Stopped", "ThreadPool", "checkpoint", "map_in_threads", "uninterrupted"]


Item = TypeVar("Item")
Answer = TypeVar("Answer")
STEP = 0.1  # seconds
_of_thread = threading.local()


class Stopped(Exception):  # noqa: N818  # nothing is wrong
    """Stop a worker thread whose caller has been interrupted; an internal exception that no user sees."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the `with` block, and SIGTERM where the program handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal arrives here
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    answered = {number: handler for number, handler in handlers.items() if callable(handler)}
    arrived: list[tuple[Any, ...]] = []
    for number in answered:
        signal.signal(number, lambda *signal_and_frame: arrived.append(signal_and_frame))
    try:
        yield
    finally:
        for number, handler in answered.items():
            signal.signal(number, handler)
        with ExitStack() as answers:  # all of them, even if the first raises
            for number in reversed(dict.fromkeys(event[0] for event in arrived)):
                answers.callback(answered[number], *next(event for event in arrived if event[0] == number))


class ThreadPool(ThreadPoolExecutor):
    """Run functions in threads that end with the `with` block, whatever happens; what has not begun then never does."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call, with Ctrl-C held back: a pool does not wait for a thread that it was just starting."""
        with uninterrupted():
            return super().submit(function, *args, **kwargs)

    def __exit__(self, *error: object) -> None:
        with uninterrupted():  # what runs is over soon
            self.shutdown(cancel_futures=True)


def checkpoint() -> None:
    """Raise `Stopped` in a worker thread whose caller no longer waits; do nothing elsewhere."""
    stop = getattr(_of_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def map_in_threads(
    function: Callable[[Item], Answer], items: Iterable[Item], n_threads: int
) -> Generator[Answer, None, None]:
    """Map a function over items in threads and yield results in order; stop the threads when no more are taken."""
    if n_threads == 1:
        yield from map(function, items)
        return
    stop = threading.Event()

    def prepare() -> None:
        _of_thread.stop = stop

    rest, begun = iter(items), deque[Future[Answer]]()
    with ThreadPool(n_threads, initializer=prepare) as pool:
        try:
            while True:
                for item in islice(rest, 2 * n_threads - len(begun)):
                    begun.append(pool.submit(copy_context().run, function, item))
                if not begun:
                    return
                yield _wait_for(begun.popleft())
        finally:
            stop.set()


def _wait_for(future: Future[Answer]) -> Answer:
    """Wait for a future's result in short steps, since not every system lets Ctrl-C end a long wait."""
    while not future.done():
        wait((future,), timeout=STEP)
    return future.result()
