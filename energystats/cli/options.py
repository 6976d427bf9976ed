"""Options that commands share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from energystats.cli.console import Console
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.selection import split_names
from energystats.cli.sources import UNPACKED
from energystats.metrics.base import KNOWN_NAMES
from energystats.metrics.names import canonical_name

__all__ = [
    "FILE",
    "Parser",
    "add_command",
    "add_general",
    "add_id",
    "add_numbers",
    "add_output",
    "add_picture",
    "add_reading",
    "add_safety",
    "add_selection",
    "categories_of",
    "console_of",
    "dialect_of",
]


FILE = "CSV or Parquet, gzipped or not; - reads standard input"
ALPHA = "power of the distance, from 0.001 to 2 (default 1)"
METRIC = "the distance (default euclidean), also by its name in R or scikit-learn, such as manhattan"


class Parser(argparse.ArgumentParser):
    """Argparse whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message} (see `{self.prog} --help`)")


def add_command(
    commands: argparse._SubParsersAction[Parser], name: str, summary: str, description: str, examples: str
) -> Parser:
    """A command with its help, which ends in examples."""
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_reading(command: argparse.ArgumentParser) -> None:
    """How the file is written."""
    group = command.add_argument_group("reading")
    group.add_argument("--sep", metavar="CHAR", help="between columns: one character, or tab, space (default: found)")
    group.add_argument("--decimal", metavar="CHAR", help=". or , in numbers (default: found)")
    group.add_argument("--encoding", metavar="NAME", help="such as latin-1 (default: UTF-8, or UTF-16 with its mark)")
    group.add_argument(
        "--thousands", metavar="CHAR", help="parts the thousands of numbers, as in 1,000 (default: none)"
    )
    group.add_argument("--comment", metavar="CHAR", help="what follows this character is left out")
    group.add_argument(
        "--unpack-limit",
        metavar="GB",
        type=float,
        default=UNPACKED,
        help=f"refuse a gzip that unpacks to more (default {UNPACKED:g})",
    )


def add_selection(command: argparse.ArgumentParser) -> None:
    """Which rows and columns are used."""
    group = command.add_argument_group("rows and columns")
    group.add_argument("--no-header", action="store_true", help="the first line is data; columns are V1, V2, ...")
    group.add_argument(
        "--na",
        metavar="WORDS",
        action="append",
        help='words for a missing value, such as "?,-99", in place of NA and NaN; "" for none; empty cells always are; '
        "a number is compared as a number in columns of numbers, and as text in others and in groups",
    )
    group.add_argument(
        "--quoted-na", metavar="WHAT", help='what "NA" in quotes is in a column of text: word or missing'
    )
    group.add_argument("--category", metavar="A,B", help="columns of codes, which are categories and not numbers")
    group.add_argument(
        "--where",
        metavar="COND",
        action="append",
        default=[],
        help='rows that meet "column=value" (or != < <= > >=); several must all be met',
    )
    group.add_argument("--rows", metavar="A:B", help="rows by number, such as 1:100,205; row 1 is below the header")


def add_id(command: argparse.ArgumentParser, use: str = "it is left out") -> None:
    """The column of row names."""
    command.add_argument("--id", metavar="COL", help=f"column that names the rows; {use}")


def add_numbers(command: argparse.ArgumentParser) -> None:
    """Columns of numbers, or of anything for gower."""
    group = command.add_argument_group("columns")
    group.add_argument("--columns", metavar="A,B", help="columns to use (default: every numeric one; gower: every one)")
    group.add_argument("--drop", metavar="A,B", help="columns not to use")
    group.add_argument(
        "--coordinates",
        action="store_true",
        help="the columns are coordinates, although they form a symmetric matrix with a zero diagonal",
    )


def add_general(command: argparse.ArgumentParser, *, resamples: int, metric: bool = True) -> None:
    """The distance, randomness and the form of the output."""
    if metric:
        command.add_argument("--metric", metavar="NAME", type=_metric_name, default="euclidean", help=METRIC)
    command.add_argument("--alpha", type=float, default=1.0, help=ALPHA)
    command.add_argument("--standardize", action="store_true", help="use column z-scores")
    command.add_argument(
        "--missing", metavar="WHAT", default="raise", help="rows with empty cells: raise (default) or drop"
    )
    command.add_argument(
        "--resamples",
        "--n-resamples",
        metavar="N",
        dest="resamples",
        type=int,
        default=resamples,
        help=f"random draws behind a p-value (default {resamples})",
    )
    command.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")
    add_output(command)
    command.add_argument(
        "--progress",
        action="store_true",
        help="a bar on standard error, if that is a terminal; long work has one without being told",
    )


def wants_bar(options: argparse.Namespace) -> bool | None:
    """A bar where it was asked for, none where nobody sees it, and None: where the work takes long."""
    if options.quiet or not sys.stderr.isatty():
        return False
    return True if options.progress else None


def add_output(command: argparse.ArgumentParser) -> None:
    """Form of the output."""
    command.add_argument("--json", action="store_true", help="one JSON object on standard output, in place of text")
    command.add_argument("--quiet", action="store_true", help="no text and no notes; errors are still shown")


def add_safety(command: argparse.ArgumentParser) -> None:
    """The option for tables that spreadsheets open."""
    command.add_argument(
        "--spreadsheet-safe",
        action="store_true",
        help="in written tables, an apostrophe before names that begin with = + - or @, which spreadsheets run",
    )


def add_picture(command: argparse.ArgumentParser, what: str) -> None:
    """The option for a picture."""
    command.add_argument("--plot", metavar="PNG", type=Path, help=f"write a picture of {what} (.png, .pdf or .svg)")


def _metric_name(word: str) -> str:
    """The name of a metric in this package; what has none is complained about where the table is known."""
    try:
        return canonical_name(word, KNOWN_NAMES)
    except ValueError:
        return word


def _seed(word: str) -> int:
    """Whole number that a generator takes."""
    number = int(word)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 0, got {word}")
    return number


def _words_of(given: list[str] | None) -> tuple[str, ...] | None:
    """Words of --na, which may be given several times; None where it is not given."""
    if given is None:
        return None
    return tuple(word for part in given for word in split_names(part, ()) if word)


def categories_of(options: argparse.Namespace) -> list[str]:
    """Columns that --category names."""
    return [] if options.category is None else split_names(options.category, ())


def dialect_of(options: argparse.Namespace) -> Dialect:
    """What the user said about the file."""
    return Dialect(
        sep=options.sep,
        decimal=options.decimal,
        encoding=options.encoding,
        comment=options.comment,
        header=not getattr(options, "no_header", False),
        missing=_words_of(getattr(options, "na", None)),
        na_lists=tuple(getattr(options, "na", None) or ()),
        thousands=options.thousands,
        quoted_na=getattr(options, "quoted_na", None),
        limit=options.unpack_limit,
    )


def console_of(options: argparse.Namespace) -> Console:
    """Where the output goes."""
    return Console(json=getattr(options, "json", False), quiet=getattr(options, "quiet", False))
