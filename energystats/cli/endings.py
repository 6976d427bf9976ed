"""End of the program by Ctrl-C or SIGTERM, with one line and an exit status of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["INTERRUPTED", "TERMINATED", "TerminatedError", "answering_signals"]


INTERRUPTED = 130  # as shells count a program that Ctrl-C ended
TERMINATED = 143  # as shells count a program that SIGTERM ended


class TerminatedError(KeyboardInterrupt):
    """End the program on SIGTERM; a KeyboardInterrupt, so that all that stops on Ctrl-C stops on it."""


@contextmanager
def answering_signals() -> Iterator[list[type[KeyboardInterrupt]]]:
    """Handle SIGTERM like Ctrl-C inside a `with` block; yield the list of exceptions of signals received.

    Compiled code and imports may make another error of a KeyboardInterrupt, or pass over it; the list still has it.
    """
    arrived: list[type[KeyboardInterrupt]] = []
    if threading.current_thread() is not threading.main_thread():
        yield arrived
        return

    def terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would interrupt the cleaning up
        arrived.append(TerminatedError)
        raise TerminatedError

    def interrupt(number: int, frame: FrameType | None) -> None:
        arrived.append(KeyboardInterrupt)
        if callable(answer := before[signal.SIGINT]):
            answer(number, frame)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    signal.signal(signal.SIGTERM, terminate)
    if callable(before[signal.SIGINT]):  # it is not where Ctrl-C is ignored, as in the background
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield arrived
    finally:
        for number, handler in before.items():
            if handler is not None:  # None is one that Python has not set
                signal.signal(number, handler)
