"""The program: its commands, exit statuses and what it says when it cannot go on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from energystats import __version__
from energystats.cli import cluster, demo, disco, euclidize, test
from energystats.cli.errors import BadInputError
from energystats.cli.options import Parser, console_of

__all__ = ["main", "make_parser"]

BAD_INPUT = 2
INTERRUPTED = 130  # as shells count a program that Ctrl-C ended
STATUSES = """\
exit status:
  0    done (also where the reader of a pipe, such as head, left early)
  1    a defect of the program, which prints a traceback
  2    bad input or usage: one line on standard error says what and where
  130  interrupted with Ctrl-C; output files are complete or absent

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
        Exit status: 0, 2 for bad input, or 130 after Ctrl-C.
    """
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        options, rest = make_parser().parse_known_args(words, argparse.Namespace(words=tuple(words)))
        if rest:
            known = f"see `energystats {options.command} --help`"
            raise BadInputError(f"unrecognized arguments: {' '.join(rest)} ({known})")
        console = console_of(options)
        with console.hearing():
            options.run(options, console)
    except BadInputError as error:
        print(f"energystats: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("energystats: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Parser of the commands."""
    parser = Parser(
        prog="energystats",
        description="Energy-distance tests and clustering.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"energystats {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for module in (demo, cluster, test, disco, euclidize):
        module.add(commands)
    return parser
