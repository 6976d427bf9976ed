"""Errors that the user can mend, in the words of the command line, as text that a terminal shows and does not obey."""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import energystats
from energystats.inputs.labels import WORDS_AS_GAPS
from energystats.inputs.places import RowError

__all__ = ["BadInputError", "bad_input", "in_options", "printable", "printable_json"]


WORDS = {
    WORDS_AS_GAPS: "",
    ", as by X[X.any(axis=1)]": " (--rows, --where)",
    "; if they stand in their order, leave `order` out.": ".",
    "`X`": "the table",
    "`data`": "the table",
    ", with X the": ", with FILE the",
    "`groups`": "--group",
    "`formula`": "the formula",
    "`k`": "-k",
    "`n_resamples`": "--resamples",
    '`compare="all"`': "--select gap",
    "standardize=True": "--standardize",
    "`cluster_test`": "the cluster test",
    "(`energy_test`)": "(energystats test)",
    "n_resamples of": "--resamples",
    "use n_resamples=": "use --resamples ",
    'as in "y ~ g" or "~ g"': 'as in "y ~ g"',
    "`segment_test` asks whether": "`energystats segment` without -k and --penalty asks whether",
    "`disco` takes them": "`energystats disco` takes them",
    "`cluster_tree(X)`": "--select significance",
    "`cluster_tree`": "--select significance",
    "leave it out: `.drop(columns=...)`, or `index_col=` on reading": "leave it out with --drop",
    "call cluster_test(X, k), or cluster_test(X, clusterer=...) for another clusterer, or segment_test(X) if": "use "
    "energystats cluster, or energystats segment if",
    "call cluster_test(X, k).": "use energystats cluster.",
    " (`.partition`):": ":",
    "Use a smaller `n_init`, a random subset of the rows, or algorithm": "Use a random subset of the rows, or in "
    "Python `energy_cluster` with algorithm",
    "Use a smaller `n_init`, or a part of the matrix.": "Use a part of the matrix.",
    "or in `energy_test` method=": "or in Python `energy_test` with method=",
    "or for clusters of all of them `energy_cluster": "or in Python, for clusters of all of them, `energy_cluster",
    "give `lingoes(R).distances`": "take what `energystats euclidize --method lingoes` writes",
}
NAMES = (
    "(alpha|block_length|conservative|criterion|decomposition|k_max|level|max_breaks|method|metric|min_size|missing|"
    "order|penalty|quoted_na|row_names|seed|strata|tol|whole_plots)"
)
QUOTES = "\"'"
# of columns by their names, not by their numbers
CALL = re.compile(
    r"(?<!of `)(?:energy_cluster|cluster_test)\(X(?:\[(\[['\"].*?\])\])?,\s+(\d+)((?:,\s+\w+=[^,()]+)*)\)",
    re.DOTALL,
)
FLAGS = "(conservative|exact|standardize)"
# words of the library outside of its calls: an argument with its value, an argument, and the rest
GIVEN = re.compile(rf"""(`?)(?<!, )(?<!\()\b(?:{NAMES}="([^"`]*)"|{FLAGS}=True)\1""")
ALIKE = re.compile(f"`{NAMES}=?`")
PYTHON = re.compile(
    rf"""(`?)(?<!, )(?<!\()\b[a-z_]+="\w+"\1|`(?:es\.)?(?:{"|".join(vars(energystats)["__all__"])})\b[^`]*`"""
)


class BadInputError(Exception):
    """Report an error that the user can correct; its text is printed as one line on standard error."""


@contextmanager
def bad_input(file: str, where: Callable[[int], str] | None = None) -> Iterator[None]:
    """Convert library errors inside a `with` block to BadInputError that names the file and, if known, the row."""
    try:
        yield
    except RowError as error:
        raise BadInputError(f"{file}: {in_options(error.message(where))}") from error
    except (ValueError, TypeError, MemoryError) as error:
        said = in_options(str(error)) or "there is not enough memory; --rows 1:100000 reads the first rows alone."
        raise BadInputError(f"{file}: {said}") from error


def in_options(text: str, table: str = "FILE") -> str:
    """Replace names of the library in a message by those of the command line, such as `k` by -k, `X` by the table.

    `table` are the words of the command that say which table is read.
    """
    text = CALL.sub(partial(_write_command, table), text)
    for ours, theirs in WORDS.items():
        pattern = re.escape(ours).replace(r"\ ", r"\s+")  # summaries break their lines anywhere
        text = re.sub(pattern, theirs, text)
    text = GIVEN.sub(_write_option, text)
    text = PYTHON.sub(_mark_python, text)
    return ALIKE.sub(lambda match: _option_of(match[1]), text)


def _write_option(match: re.Match[str]) -> str:
    """Return the option for an argument that is given a value, or the words as they stand if there is none."""
    _, name, value, flag = match.groups()
    if name == "method" and value not in ("lingoes", "cailliez"):
        return match[0]
    return _option_of(flag) if flag else f"{_option_of(name)} {value}"


def _mark_python(match: re.Match[str]) -> str:
    """Return words that the command line lacks, marked as Python where they are the first such of their sentence."""
    start, end = re.split(r"\.\s", match.string[: match.start()])[-1], re.split(r"\.\s", match.string[match.end() :])[0]
    marked = "Python" in start + end or PYTHON.search(start)
    return match[0] if marked else f"{match[0]} (in Python)"


def _write_command(table: str, call: re.Match[str]) -> str:
    """Return the command that clusters as a call of `energy_cluster` does, or tests as one of `cluster_test`."""
    columns, k, keywords = (part and " ".join(part.split()) for part in call.groups())
    if columns:  # instead of those that the user chose
        table = re.sub(r" --(columns|drop)[ =]('[^']*'|\S+)", "", table)
    words = [f"energystats cluster {table}"]
    if columns:
        names = io.StringIO()
        csv.writer(names, lineterminator="").writerow(ast.literal_eval(columns))
        words.append(f"--columns {shlex.quote(names.getvalue())}")
    words.append(f"-k {k}")
    for name, value in re.findall(r"(\w+)=([^,]+)", keywords):
        words.append(_option_of(name) + (value != "True") * f" {value.strip(QUOTES)}")
    return " ".join(words)


def _option_of(name: str) -> str:
    """Return the option of the command line for a keyword of the library that has nearly the same name."""
    return "--select" if name == "criterion" else f"--{name.replace('_', '-')}"


# control characters but the end of a line and the tab, those of C1, and marks that turn the direction of writing
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, as \x1b, so that a terminal does not obey them."""
    return HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def printable_json(text: str) -> str:
    r"""Return JSON text with control characters escaped, as \u001b, and the same meaning."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
