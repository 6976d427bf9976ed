"""Standard output and standard error, which may be closed, full, or of an encoding that lacks some characters."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

__all__ = ["encodable", "fits", "say_error", "write_out"]


def say_error(line: str) -> None:
    """Print a line on standard error; do nothing if it is closed."""
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError, ValueError):
            print(line, file=sys.stderr, flush=True)


def write_out(text: str, end: str = "\n") -> str | None:
    """Print a text on standard output; return why that failed, None if it did not or a pipe's reader has left."""
    if sys.stdout is None:
        return "it is closed"
    try:
        print(encodable(text), end=end, flush=True)
    except BrokenPipeError:
        _write_nowhere()
    except (OSError, ValueError) as error:  # a ValueError where a program that runs this one has closed it
        _write_nowhere()
        return getattr(error, "strerror", None) or str(error)
    return None


def _write_nowhere() -> None:
    """Redirect standard output to the null device, so that text left in its buffer raises no error at exit."""
    with suppress(OSError, ValueError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fits(text: str) -> bool:
    """Return whether standard output can encode all characters of a text."""
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str) -> str:
    r"""Return a text with characters that standard output cannot encode escaped, as \xe9 or \u65e5."""
    return text if fits(text) else text.encode(_encoding(), "backslashreplace").decode(_encoding())


def _encoding() -> str:
    """Return the encoding of standard output; UTF-8 if it has none."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"
