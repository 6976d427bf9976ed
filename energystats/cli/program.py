"""The program: its commands, exit statuses and what it says when it cannot go on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from energystats import __version__
from energystats.cli.cluster import CLUSTER
from energystats.cli.console import Console
from energystats.cli.demo import DEMO
from energystats.cli.disco import DISCO
from energystats.cli.errors import BadInputError, printable
from energystats.cli.euclidize import EUCLIDIZE
from energystats.cli.options import Parser
from energystats.cli.segment import SEGMENT
from energystats.cli.streams import say_error
from energystats.cli.test import TEST

__all__ = ["make_parser", "run"]


BAD_INPUT = 2
STATUSES = """\
exit status:
  0    done (also where the reader of a pipe, such as head, left early)
  1    a defect of the program, which prints a traceback
  2    bad input or usage, or an output that cannot be written: one line on standard error says what and where
  130  interrupted with Ctrl-C; output files are complete or absent
  143  ended by SIGTERM, likewise

`energystats COMMAND --help` has the options and examples of a command."""


def run(arguments: Sequence[str] | None, arrived: Sequence[object] = ()) -> int:
    """Parse the arguments of the command line, run the command, and return its exit status: 0, or 2 for bad input."""
    os.environ["MPLBACKEND"] = "Agg"  # pictures go into files
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        options, rest = make_parser().parse_known_args(words, argparse.Namespace(words=tuple(words)))
        if rest:
            known = f"see `energystats {options.command} --help`"
            raise BadInputError(f"unrecognized arguments: {' '.join(rest)} ({known})")
        console = Console(json=options.json, quiet=options.quiet)
        with console.noting_warnings():
            options.start(options, console)
        console.check_written()
    except BadInputError as error:
        if arrived:
            raise
        say_error(f"energystats: {printable(' '.join(str(error).split()))}")
        return BAD_INPUT
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the argument parser with all commands."""
    parser = Parser(
        prog="energystats",
        description="Energy-distance tests and clustering.",
        epilog=STATUSES,
    )
    parser.add_argument("--version", action="version", version=f"energystats {__version__}")
    parser.set_defaults(json=False, quiet=False)  # of commands without these options
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in (DEMO, CLUSTER, TEST, DISCO, SEGMENT, EUCLIDIZE):
        command.add_to(commands)
    return parser
