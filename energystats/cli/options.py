"""Commands and the options that they share, as one table for each part of `--help`, checked before a file is read."""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from energystats.cli.console import Console
from energystats.cli.dialects import WORDS_FOR, Dialect
from energystats.cli.errors import BadInputError, in_options
from energystats.cli.file_table import RowRanges
from energystats.cli.files import check_outputs
from energystats.cli.sources import UNPACKED
from energystats.cli.streams import write_out
from energystats.dissimilarity import check_z_scores
from energystats.inputs.options import check_alpha, check_count, check_option
from energystats.metrics.base import KNOWN_NAMES, find_metric_name
from energystats.metrics.lookup import resolve

__all__ = ["FILE", "FLAG", "GENERAL", "ID", "NOTES", "OF_MATRIX", "OUTPUT", "ROWS_OF_MATRIX", "SAFETY", "Command",
           "Parser", "arguments_of", "checked_by", "count", "dialect_of", "one_of", "picture_of", "resamples_of",
           "split_names"]  # fmt: skip


def checked_by(read: Callable[[str], Any], check: Callable[..., object], **how: Any) -> Callable[[str], Any]:
    """Return an argparse type that converts a word by one function and checks it by another of the library."""

    def convert(word: str) -> Any:
        value = read(word)
        try:
            found = check(value, **how)
        except (TypeError, ValueError) as error:
            raise BadInputError(in_options(str(error))) from error
        return value if found is None else found

    convert.__name__ = read.__name__  # which argparse names where a word cannot be read
    return convert


def count(name: str, low: int = 1) -> Callable[[str], Any]:
    """Return an argparse type for a whole number that has a lower bound."""
    return checked_by(int, check_count, name=name, low=low)


def one_of(name: str, *words: str) -> Callable[[str], Any]:
    """Return an argparse type that accepts one of the given words."""
    return checked_by(str, check_option, name=name, options=words)


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Split a list of column names at commas; a name with a comma must be in double quotes or stand alone."""
    if text in known and "," not in text:
        return [text]
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if text not in known:
        return names
    if len(names) > 1 and set(names) <= set(known):
        raise BadInputError(
            f"{text!r} is the name of one column, and its parts are those of others; rename it, or write the single "
            f"column as '\"{text}\"', the others as {', '.join(reversed(names))}."
        )
    return [text]


def _sign(option: str, rule: str, fits: Callable[[str], bool], words: Mapping[str, str] | None = None) -> Any:
    """Return an argparse type for an option of one character, given itself, as U+00A0, or by a name such as "tab"."""

    def convert(word: str) -> str:
        coded = re.fullmatch(r"U\+([0-9A-F]{4,6})", word, re.IGNORECASE)
        code = int(coded[1], 16) if coded else sys.maxunicode + 1
        sign = chr(code) if code <= sys.maxunicode else (words or {}).get(word.lower(), word)
        if len(sign) != 1 or not fits(sign):
            raise BadInputError(f"{option} must be {rule}, got {word!r}.")
        return sign

    return convert


def _condition(word: str) -> str:
    """Check that a --where condition holds a comparison, and return it; else raise BadInputError."""
    if not any(sign in word for sign in "=<>"):
        raise BadInputError(f"--where must be COLUMN=VALUE, or with != < <= > >=, got {word!r}.")
    return word


Table = Mapping[str, Mapping[str, Any]]  # names of an option, with blanks between -> arguments of `add_argument`


def resamples_of(default: int | None, text: str) -> Table:
    """Return the option --resamples of a command, with its default and help text, as argparse arguments."""
    return {
        "--resamples --n-resamples": {"metavar": "N", "type": count("n_resamples"), "default": default, "help": text}
    }


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
        "help": "in written tables, an apostrophe before names that begin with = + - or @, which spreadsheets run; not "
        "before numbers",
    },
}  # fmt: skip
GENERAL: Table = {
    "--metric": {
        "metavar": "NAME", "type": checked_by(str, find_metric_name, known=KNOWN_NAMES, argument="metric"),
        "default": "euclidean",
        "help": "the distance (default euclidean), also by its name in R or scikit-learn, such as manhattan",
    },
    "--alpha": {
        "type": checked_by(float, check_alpha), "default": 1.0,
        "help": "power of the distance, from 0.001 to 2 (default 1); beside a matrix that is clustered: "
        "the power that its entries have already",
    },
    "--standardize": {**FLAG, "help": "use column z-scores"},
    "--missing": {
        "metavar": "WHAT", "type": one_of("missing", "raise", "drop"),
        "default": "raise", "help": "rows with empty cells: raise (default) or drop",
    },
    **resamples_of(999, "random draws behind a p-value (default %(default)s)"),
    "--seed": {"type": count("seed", 0), "default": 0, "help": "seed of everything random (default 0)"},
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
            "metavar": "WHAT", "type": one_of("quoted_na", "word", "missing"),
            "help": 'what "NA" in quotes is in a column of text: word or missing'
        },
        "--row-names": {
            "metavar": "WHERE", "type": one_of("row_names", "first", "none"),
            "help": "where rows have one cell more than the header: first cells are names of rows, or none are",
        },
        "--category": {
            "metavar": "A,B", "type": partial(split_names, known=()), "default": [],
            "help": "columns of codes, which are categories and not numbers",
        },
        "--where": {
            "metavar": "COND", "type": _condition, "action": "append", "default": [],
            "help": 'rows that meet "column=value" (or != < <= > >=); several must all be met',
        },
        "--rows": {
            "metavar": "A:B", "type": RowRanges.of,
            "help": "rows by number, such as 1:100,205; row 1 is below the header",
        },
    },
    "reading": {
        "--sep": {
            "metavar": "CHAR", "help": "between columns: one character, or tab, space (default: found)",
            "type": _sign("--sep", "one character, or tab, space, comma or semicolon, and neither a quote nor the end "
                          "of a line", lambda sign: sign not in '"\r\n', WORDS_FOR),
        },
        "--decimal": {
            "metavar": "CHAR", "type": _sign("--decimal", "a point or a comma", lambda sign: sign in ".,"),
            "help": ". or , in numbers (default: found)",
        },
        "--encoding": {"metavar": "NAME", "help": "such as latin-1 (default: UTF-8, or UTF-16 with its mark)"},
        "--thousands": {
            "metavar": "CHAR", "help": "parts the thousands of numbers, as in 1,000 (default: none); U+00A0 is a blank",
            "type": _sign("--thousands", "one sign, such as a comma or a blank", lambda sign: not sign.isalnum()),
        },
        "--comment": {
            "metavar": "CHAR", "type": _sign("--comment", "one character", bool),
            "help": "what follows this character is left out",
        },
        "--unpack-limit": {
            "metavar": "GB", "type": float, "default": UNPACKED,
            "help": "refuse a gzip that unpacks to more (default %(default)g)",
        },
    },
}  # fmt: skip


NOTES: Table = {"--notes": {**FLAG, "help": "print all notes of the results, which the text only counts"}}
USELESS = (
    ("--row-names", lambda o: o.no_header, "with --no-header, which leaves no header that could be one name short"),
    ("--progress", lambda o: o.quiet, "with --quiet"),
    ("--standardize", lambda o: o.metric == "precomputed", "with --metric precomputed, which takes no coordinates"),
    (
        "--standardize",
        lambda o: (metric := resolve(o.metric, 1.0)).measures_columns and metric.needs_all_rows,
        "with this --metric, which divides differences by the spread of the columns itself",
    ),
    ("--notes", lambda o: o.quiet or o.json, "with --quiet and --json; --json has the notes"),
    (
        "--coordinates",
        lambda o: (metric := resolve(o.metric, 1.0)).by_range or metric.domain.binary or o.metric == "precomputed",
        "with this --metric, which takes no columns for a matrix",
    ),
)
OF_MATRIX = "with --metric precomputed, whose rows and columns are points"
ROWS_OF_MATRIX = ("--missing", lambda o: o.metric == "precomputed", OF_MATRIX)
WRITTEN = {"plot": "picture", "labels": "table", "output": "matrix", "report": "report"}


def picture_of(what: str) -> Table:
    """Return the option --plot of a command, which writes a picture of something named, as argparse arguments."""
    return {"--plot": {"metavar": "PNG", "type": Path, "help": f"write a picture of {what} (.png, .pdf or .svg)"}}


PLAIN: dict[str, Any] = {"color": False} if sys.version_info >= (3, 14) else {}  # for colours argparse asks the output


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Format help as plain text, whether or not standard output is open."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **(how | PLAIN))


class StoreOnce(argparse.Action):
    """Store the value of an option that may be given once; refuse a second, other value, which would replace it."""

    def __call__(self, parser: Any, options: argparse.Namespace, value: Any, option: str | None = None) -> None:
        earlier: list[str] = vars(options).setdefault("stored", [])
        if self.dest in earlier and getattr(options, self.dest) != value:
            several = isinstance(self.metavar, str) and {"A,B": "names", "A:B": "rows"}.get(self.metavar)
            parser.error(f"{option} must be given once" + f", with commas between {several}" * bool(several))
        earlier.append(self.dest)
        setattr(options, self.dest, value)


class Parser(argparse.ArgumentParser):
    """Parse command line words, with errors as BadInputError, printed as one line, and help as plain text."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **({"formatter_class": HelpText} | how | PLAIN))
        self.register("action", None, StoreOnce)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse command line words; an option's value may begin with a hyphen unless the value names an option."""
        words: list[str] = []
        for word in sys.argv[1:] if args is None else args:
            if word.startswith("--") and word.endswith("=--"):
                word = f'{word[:-2]}"--"'  # argparse takes bare hyphens for the end of the options
            option = self._option_string_actions.get(words[-1]) if words else None
            named = word.split("=")[0] in self._option_string_actions
            # a word that begins with a hyphen is no option, and so the value of the one before it
            if option is not None and option.nargs is None and word.startswith("-") and not named:
                words[-1] += "=" + ('"--"' if word == "--" else word)
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help or version text on standard output; raise BadInputError if that fails."""
        if (lost := write_out(message, end="")) is not None:
            raise BadInputError(f"standard output cannot be written: {lost}.")

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message} (see `{self.prog} --help`)")


@dataclass(frozen=True, kw_only=True)
class Command:
    """Hold a command of the command line: the function it runs, its help, and its options.

    `useless` lists options that others leave without any effect, as (option, condition, "with" or "without" what).
    """

    run: Callable[[argparse.Namespace, Console], None]
    name: str
    summary: str
    description: str
    options: Table
    groups: tuple[str, ...] = ()
    examples: str = ""
    useless: Sequence[tuple[str, Callable[[argparse.Namespace], bool], str]] = ()

    def add_to(self, commands: argparse._SubParsersAction[Parser]) -> None:
        """Add a command with its options to the subcommands of an argument parser."""
        parser = commands.add_parser(
            self.name,
            help=self.summary,
            description=self.description,
            epilog=f"examples:\n{self.examples}" if self.examples else None,
        )
        parser.set_defaults(start=partial(self.start, parser))
        parts = [(parser, self.options), *((parser.add_argument_group(group), GROUPS[group]) for group in self.groups)]
        for part, table in parts:
            for names, how in table.items():
                part.add_argument(*names.split(), **how)

    def start(self, parser: Parser, options: argparse.Namespace, console: Console) -> None:
        """Check the options of a command together, before any file is read, and run the command."""
        given = vars(options)
        check_outputs(given.get("file"), *((given[name], what) for name, what in WRITTEN.items() if given.get(name)))
        if "metric" in given:
            # of a matrix alpha says what it is, where its clusters are tested
            power = 1.0 if options.metric == "precomputed" and self.name == "cluster" else options.alpha
            checked_by(str, resolve, alpha=power)(options.metric)
            checked_by(str, lambda name: check_z_scores(resolve(name, 1.0), options.standardize))(options.metric)
        for option, meets, why in (*self.useless, *USELESS):
            name = option.lstrip("-").replace("-", "_")
            if given.get(name) not in (None, parser.get_default(name)) and meets(options):
                raise BadInputError(f"{option} has no use {why}.")
        if "file" in given:
            console.table = self._words_of_table(parser, options)
        self.run(options, console)

    def _words_of_table(self, parser: Parser, options: argparse.Namespace) -> str:
        """Return the words of a command line that say which rows and columns of which file are read."""
        tables = (FILE, ID, *(GROUPS[group] for group in self.groups))
        known = {name for table in tables for names in table for name in names.split()} | {"--missing"}
        kept, words = [str(options.file)], list(options.words)
        for word, following in zip(words, [*words[1:], ""], strict=True):
            name, equals, _ = word.partition("=")
            action = parser._option_string_actions.get(name)
            if action is not None and name in known:
                kept += [word, following] if action.nargs is None and not equals else [word]
        return shlex.join(kept)


def arguments_of(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options that all library functions take as a dictionary of keyword arguments."""
    unseen = options.quiet or sys.stderr is None or not sys.stderr.isatty()
    return {
        "metric": options.metric,
        "alpha": options.alpha,
        "standardize": options.standardize,
        "n_resamples": options.resamples,
        "progress": False if unseen else options.progress or None,  # None: where the work takes long
        "rng": options.seed,
    }


def dialect_of(options: argparse.Namespace) -> Dialect:
    """Return what command-line options say about the format of a CSV input file, as a `Dialect`."""
    given = vars(options)  # a matrix has fewer of them
    lists, same = given.get("na"), ("sep", "decimal", "thousands", "encoding", "comment", "quoted_na", "row_names")
    return Dialect(
        header=not given.get("no_header"),
        missing=None if lists is None else tuple(word for part in lists for word in split_names(part, ()) if word),
        na_lists=tuple(lists or ()),
        limit=options.unpack_limit,
        **{name: given.get(name) for name in same},
    )
