"""The program: its commands, exit statuses and what it says when it cannot go on."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from energystats import __version__
from energystats.cli.cluster import CLUSTER
from energystats.cli.console import Console
from energystats.cli.demo import DEMO
from energystats.cli.disco import DISCO
from energystats.cli.errors import BadInputError, printable
from energystats.cli.euclidize import EUCLIDIZE
from energystats.cli.options import Parser
from energystats.cli.test import TEST

__all__ = ["main", "make_parser"]


BAD_INPUT = 2
TERMINATED = 143  # as shells count a program that SIGTERM ended
INTERRUPTED = 130  # as shells count a program that Ctrl-C ended
STATUSES = """\
exit status:
  0    done (also where the reader of a pipe, such as head, left early)
  1    a defect of the program, which prints a traceback
  2    bad input or usage: one line on standard error says what and where
  130  interrupted with Ctrl-C; output files are complete or absent
  143  ended by SIGTERM, likewise

`energystats COMMAND --help` has the options and examples of a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the command's name; those of the process when None.

    Returns
    -------
    int
        Exit status: 0, 2 for bad input, 130 after Ctrl-C, or 143 after SIGTERM.
    """
    os.environ["MPLBACKEND"] = "Agg"  # pictures go into files
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        options, rest = make_parser().parse_known_args(words, argparse.Namespace(words=tuple(words)))
        if rest:
            known = f"see `energystats {options.command} --help`"
            raise BadInputError(f"unrecognized arguments: {' '.join(rest)} ({known})")
        console = Console(json=getattr(options, "json", False), quiet=getattr(options, "quiet", False))
        with console.hearing(), _ending_on_sigterm():
            options.start(options, console)
    except BadInputError as error:
        print(f"energystats: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        return BAD_INPUT
    except _TerminatedError:
        print("energystats: terminated.", file=sys.stderr)
        return TERMINATED
    except KeyboardInterrupt:
        print("energystats: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _TerminatedError(KeyboardInterrupt):
    """Raised by SIGTERM; what stops for Ctrl-C stops for it."""


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the program as Ctrl-C does, so that half-written files are taken away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would interrupt the cleaning up
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of the commands."""
    parser = Parser(
        prog="energystats",
        description="Energy-distance tests and clustering.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"energystats {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in (DEMO, CLUSTER, TEST, DISCO, EUCLIDIZE):
        command.add_to(commands)
    return parser
