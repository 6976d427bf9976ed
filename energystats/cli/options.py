"""Options that commands share, as one table for each part of `--help`, and what they say of the file."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from energystats.cli.console import Console
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.reading import RowRanges
from energystats.cli.sources import UNPACKED
from energystats.metrics.base import KNOWN_NAMES
from energystats.metrics.names import canonical_name

__all__ = ["FILE", "GENERAL", "ID", "OUTPUT", "SAFETY", "Parser", "add_command", "categories_of", "console_of",
           "dialect_of", "picture_of", "split_names", "wants_bar"]  # fmt: skip


def _metric_name(word: str) -> str:
    """Find the name of a metric in this package; what has none is complained about where the table is known."""
    try:
        return canonical_name(word, KNOWN_NAMES)
    except ValueError:
        return word


def _seed(word: str) -> int:
    """Read a whole number that a generator takes."""
    number = int(word)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 0, got {word}")
    return number


Table = Mapping[str, Mapping[str, Any]]  # names of an option, with blanks between -> arguments of `add_argument`
FLAG = {"action": "store_true"}
FILE: Table = {"file": {"metavar": "FILE", "help": "CSV or Parquet, gzipped or not; - reads standard input"}}
ID: Table = {"--id": {"metavar": "COL", "help": "column that names the rows; it is left out"}}
OUTPUT: Table = {
    "--json": {**FLAG, "help": "one JSON object on standard output, in place of text"},
    "--quiet": {**FLAG, "help": "no text and no notes; errors are still shown"},
}
SAFETY: Table = {
    "--spreadsheet-safe": {
        **FLAG,
        "help": "in written tables, an apostrophe before names that begin with = + - or @, which spreadsheets run",
    },
}  # fmt: skip
GENERAL: Table = {
    "--metric": {
        "metavar": "NAME", "type": _metric_name, "default": "euclidean",
        "help": "the distance (default euclidean), also by its name in R or scikit-learn, such as manhattan",
    },
    "--alpha": {"type": float, "default": 1.0, "help": "power of the distance, from 0.001 to 2 (default 1)"},
    "--standardize": {**FLAG, "help": "use column z-scores"},
    "--missing": {"metavar": "WHAT", "default": "raise", "help": "rows with empty cells: raise (default) or drop"},
    "--resamples --n-resamples": {
        "metavar": "N", "type": int, "default": 999, "help": "random draws behind a p-value (default %(default)s)"
    },
    "--seed": {"type": _seed, "default": 0, "help": "seed of everything random (default 0)"},
    **OUTPUT,
    "--progress": {
        **FLAG, "help": "a bar on standard error, if that is a terminal; long work has one without being told"
    },
}  # fmt: skip
GROUPS: Mapping[str, Table] = {
    "columns": {
        "--columns": {"metavar": "A,B", "help": "columns to use (default: every numeric one; gower: every one)"},
        "--drop": {"metavar": "A,B", "help": "columns not to use"},
        "--coordinates": {
            **FLAG, "help": "the columns are coordinates, although they form a symmetric matrix with a zero diagonal"
        },
    },
    "rows and columns": {
        "--no-header": {**FLAG, "help": "the first line is data; columns are V1, V2, ..."},
        "--na": {
            "metavar": "WORDS", "action": "append",
            "help": 'words for a missing value, such as "?,-99", in place of NA and NaN; "" for none; empty cells '
            "always are; a number is compared as a number in columns of numbers, and as text in others and in groups",
        },
        "--quoted-na": {
            "metavar": "WHAT", "help": 'what "NA" in quotes is in a column of text: word or missing'
        },
        "--category": {"metavar": "A,B", "help": "columns of codes, which are categories and not numbers"},
        "--where": {
            "metavar": "COND", "action": "append", "default": [],
            "help": 'rows that meet "column=value" (or != < <= > >=); several must all be met',
        },
        "--rows": {
            "metavar": "A:B", "type": RowRanges.of,
            "help": "rows by number, such as 1:100,205; row 1 is below the header",
        },
    },
    "reading": {
        "--sep": {"metavar": "CHAR", "help": "between columns: one character, or tab, space (default: found)"},
        "--decimal": {"metavar": "CHAR", "help": ". or , in numbers (default: found)"},
        "--encoding": {"metavar": "NAME", "help": "such as latin-1 (default: UTF-8, or UTF-16 with its mark)"},
        "--thousands": {"metavar": "CHAR", "help": "parts the thousands of numbers, as in 1,000 (default: none)"},
        "--comment": {"metavar": "CHAR", "help": "what follows this character is left out"},
        "--unpack-limit": {
            "metavar": "GB", "type": float, "default": UNPACKED,
            "help": "refuse a gzip that unpacks to more (default %(default)g)",
        },
    },
}  # fmt: skip


def picture_of(what: str) -> Table:
    """Make the option for a picture."""
    return {"--plot": {"metavar": "PNG", "type": Path, "help": f"write a picture of {what} (.png, .pdf or .svg)"}}


class Parser(argparse.ArgumentParser):
    """Argparse whose errors are one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words, where the value of an option may begin with a hyphen, if it is not the name of an option."""
        words: list[str] = []
        for word in sys.argv[1:] if args is None else args:
            if word.startswith("--") and word.endswith("=--"):
                word = f'{word[:-2]}"--"'  # argparse takes bare hyphens for the end of the options
            option = self._option_string_actions.get(words[-1]) if words else None
            if option is not None and option.nargs is None and self._is_value(word):
                words[-1] += "=" + ('"--"' if word == "--" else word)
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)

    def _is_value(self, word: str) -> bool:
        """Tell whether a word that begins with a hyphen is no option, and so the value of the one before it."""
        return word.startswith("-") and word.split("=")[0] not in self._option_string_actions

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message} (see `{self.prog} --help`)")


def add_command(
    commands: argparse._SubParsersAction[Parser],
    run: Callable[[argparse.Namespace, Console], None],
    name: str,
    summary: str,
    description: str,
    options: Table,
    groups: tuple[str, ...] = (),
    examples: str = "",
) -> None:
    """Add a command with its own options, those of the shared groups, and a help that ends in examples."""
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    parts = [(command, options), *((command.add_argument_group(group), GROUPS[group]) for group in groups)]
    for part, table in parts:
        for names, how in table.items():
            part.add_argument(*names.split(), **how)


def wants_bar(options: argparse.Namespace) -> bool | None:
    """Decide on a bar: none where nobody sees it; None where it depends on how long the work takes."""
    if options.quiet or not sys.stderr.isatty():
        return False
    return True if options.progress else None


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Split names at commas; one that holds a comma stands alone or in double quotes."""
    if text in known:
        return [text]
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def categories_of(options: argparse.Namespace) -> list[str]:
    """List the columns that --category names."""
    return [] if options.category is None else split_names(options.category, ())


def dialect_of(options: argparse.Namespace) -> Dialect:
    """Collect what the user said about the file; --na may be given several times."""
    given = getattr(options, "na", None)
    return Dialect(
        sep=options.sep,
        decimal=options.decimal,
        encoding=options.encoding,
        comment=options.comment,
        header=not getattr(options, "no_header", False),
        missing=None if given is None else tuple(word for part in given for word in split_names(part, ()) if word),
        na_lists=tuple(given or ()),
        thousands=options.thousands,
        quoted_na=getattr(options, "quoted_na", None),
        limit=options.unpack_limit,
    )


def console_of(options: argparse.Namespace) -> Console:
    """Say where the output goes."""
    return Console(json=getattr(options, "json", False), quiet=getattr(options, "quiet", False))
