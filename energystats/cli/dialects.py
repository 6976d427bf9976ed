"""Dialects of CSV: separator and decimal sign, as given or as the first lines show."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError

__all__ = ["COMMA_NUMBER", "EXPONENT", "GROUPED", "MARK", "MISSING", "MIXED", "PARTED", "POINT_NUMBER", "SEPARATORS",
           "SPLIT", "WORDS_FOR", "Dialect", "check_words", "detected", "doubt_of"]  # fmt: skip


SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
WORDS_FOR = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
LINES_LOOKED_AT = 200
MISSING = ("NA", "NaN")
MARK = "\ufdd0"  # before the text of a quoted cell; it stands in no text
SPLIT = "\0"  # between the cells of a column, of which none holds it
EXPONENT = r"(e[-+]?\d+)?"
COMMA_NUMBER = re.compile(rf"[-+]?\d*,\d+{EXPONENT}", re.IGNORECASE)
POINT_NUMBER = re.compile(rf"[-+]?\d*\.\d+{EXPONENT}", re.IGNORECASE)
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+)")  # 1,000 is one thousand, or 1 in three decimals
POINT_OR_WHOLE = re.compile(rf"[-+]?\d*[.,]?\d+{EXPONENT}", re.IGNORECASE)
EXCEL = re.compile(r'"?sep=([^"\r\n])"?[ \t]*(?=[\r\n])', re.IGNORECASE)  # a first line that is no data
PADDED = re.compile(r"[ \t]*([,;|])[ \t]*")  # blanks around another separator are none
MIXED = re.compile(r"[-+]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:,\d{3})+\.\d+)")  # both signs, as in 1.234,5
PARTED = re.compile(r"[-+]?[1-9]\d{0,2}(['\u2019\u00a0\u202f\u2009 ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")  # 1'076, 1 076
NUMBERS = re.compile(r"\s*[-+]?\d+(\s+[-+]?\d+)+\s*")  # which no one writes into one cell


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Hold the dialect of a CSV file, such as separator and decimal sign; None for what is found from the file."""

    # sep, decimal, thousands, encoding, comment: as the options of these names say
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool = True  # whether the first line has the names of the columns
    comment: str | None = None
    # words for a missing value, quoted or not; None for NA and NaN without quotes
    missing: tuple[str, ...] | None = None
    na_lists: tuple[str, ...] = ()  # the lists of words of --na as they were given, commas and quotes included
    quoted_na: str | None = None  # what NA in quotes is in a column of text
    # whether the first cells of the rows, below no name of the header, are names of the rows
    row_names: str | None = None
    limit: float = 2.0  # GB that a gzip may unpack to

    @property
    def options(self) -> list[str]:
        """Return the command-line options given that describe a text file, which do not apply to Parquet files."""
        names = {"header": "--no-header", "missing": "--na", "quoted_na": "--quoted-na", "row_names": "--row-names"}
        kept = [f for f in fields(self) if f.name not in ("limit", "na_lists") and getattr(self, f.name) != f.default]
        return [names.get(f.name, f"--{f.name}") for f in kept]

    @property
    def delimiter(self) -> str:
        """Return the character that separates the cells of a CSV file; a comma unless another is known."""
        return self.sep or ","

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that stand for missing values in a CSV file."""
        return MISSING if self.missing is None else self.missing

    @cached_property
    def number(self) -> re.Pattern[str]:
        """Return a regular expression for a number with the decimal and thousands signs of a CSV file."""
        point, sign = re.escape(self.decimal or "."), self.thousands
        # a sign after 0, as in 0.500, parts no thousands, and no one parts them before an exponent
        parted = "" if sign is None else rf"[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})+(?:{point}\d*)?|"
        plain = rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:e[-+]?\d+)?"
        return re.compile(rf"[-+]?(?:{parted}{plain}|inf(?:inity)?)", re.IGNORECASE | re.ASCII)

    @cached_property
    def numbers(self) -> re.Pattern[str]:
        """Return a regular expression for a whole column, its cells joined, of numbers and missing values."""
        words = "|".join(map(re.escape, self.words))
        cell = rf"{MARK}?[ \t]*+(?:(?i:{self.number.pattern})|{words}|)[ \t]*+"
        return re.compile(rf"(?:{cell}{SPLIT})*+{cell}", re.ASCII)

    def is_missing(self, text: str) -> bool:
        """Return whether a cell of a CSV file is empty or a word for a missing value, blanks around it ignored."""
        return text in self.words or text.strip(" \t") in ("", *self.words)

    @property
    def points_may_part(self) -> bool:
        """Return whether 1.000 may mean one thousand in a CSV file, because semicolons separate its cells."""
        return self.delimiter == ";" and self.decimal == "." and self.thousands is None

    @property
    def points_are_doubtful(self) -> bool:
        """Return whether 1.250 in a CSV file may mean 1250: if no comma separates its columns."""
        return self.delimiter != "," and self.decimal == "." and self.thousands is None

    def plain(self, text: str) -> str:
        """Convert a number in the decimal and thousands signs of a file to Python's way; other text is unchanged."""
        if self.number.fullmatch(text) is None:
            return text
        text = text if self.thousands is None else text.replace(self.thousands, "")
        return text.replace(self.decimal or ".", ".")

    def value_of(self, text: str) -> int | float | None:
        """Convert text with the file's decimal and thousands signs to a number; None if it is no number."""
        if self.number.fullmatch(text) is None:
            return None
        plain = self.plain(text)
        try:
            return int(plain)
        except ValueError:
            return float(plain)

    @cached_property
    def missing_numbers(self) -> dict[str, int | float]:
        """Return the words for missing values that are numbers, such as 99, each with its value."""
        values = {word: self.value_of(word) for word in self.words}
        return {word: value for word, value in values.items() if value is not None}

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """Return the words for missing values that are not numbers."""
        return tuple(word for word in self.words if word not in self.missing_numbers)

    @property
    def marked(self) -> tuple[str, ...]:
        """Return the quoted texts of a CSV file that may be plain words or missing values."""
        if self.missing is None or self.quoted_na == "word":
            return ("", *self.words)
        return ("",)


def detected(head: str, given: Dialect, console: Console, *, cut: bool = False) -> Dialect:
    """Return the dialect of a CSV file, with separator and decimal sign found from its first lines if not given.

    `cut` says that `head` is only the beginning of the file.
    """
    sep = given.sep
    if found := EXCEL.match(head):
        raise ValueError(
            f"the first line is {found[0].strip()!r}, which only Excel reads; take it out, and say --sep {found[1]!r}."
        )
    lines = _first_lines(head, given.comment, cut=cut)
    decimal = given.decimal
    if decimal is None and given.thousands is not None:
        decimal = "," if given.thousands == "." else "."
    # cut at the comma it would be two columns of whole numbers, which nobody would notice
    if sep is None and _one_column_of_decimal_commas(lines):
        if decimal is None and _may_have_row_names(lines):
            raise ValueError(
                f"the rows, such as {lines[1].strip()!r}, may be numbers with decimal commas, or names of rows and a "
                "column of numbers; --decimal , takes the first reading, --sep , the second."
            )
        sep = ";"  # which does not occur
    sep = sep or _separator_of(lines, header=given.header, comma_in_numbers="," in (decimal, given.thousands))
    if given.sep in (None, " ") and _are_aligned(lines, sep, asked=given.sep is not None):
        single = "" if _are_aligned(lines, sep, asked=True) else ", or say --sep space if every blank begins a cell"
        raise ValueError(
            "several blanks together part the columns, as where these are aligned, or stand at the end of a line, and "
            "every single blank would begin a cell; write one separator between cells (as R's write.csv does, or in a "
            f"shell awk '{{$1 = $1; print}}', where no cell is in quotes){single}."
        )
    if decimal is None:
        decimal = "," if sep != "," and _decimal_commas(lines, sep, given) else "."
    if given.thousands == decimal:
        raise BadInputError(f"--decimal and --thousands must differ, got {decimal!r} for both.")
    # what separates columns can be the decimal sign of numbers in quotes only
    cells = (cell.strip() for row in _cells_of(lines, sep) for cell in row)
    if sep == decimal and not any(map(COMMA_NUMBER.fullmatch, cells)):
        raise BadInputError(
            f"--decimal and --sep must differ, got {sep!r} for both. What separates columns can be the decimal sign of "
            "numbers in quotes only, and there are none."
        )
    guessed = []
    if given.sep is None and sep != "," and any(sep in line for line in lines):
        guessed.append(f"columns are separated by {SEPARATORS[sep]}")
    if given.decimal is None and decimal == ",":
        guessed.append("decimals have a comma")
    if guessed:
        console.note(f"{' and '.join(guessed)}; --sep and --decimal say otherwise.")
    return replace(given, sep=sep, decimal=decimal)


def check_words(dialect: Dialect) -> None:
    """Raise BadInputError for words of --na that are ambiguous, or numbers not written as the file writes numbers."""
    if "," in (dialect.decimal, dialect.thousands):
        for given in dialect.na_lists:
            found = re.search(r"[-+]?\d+(,\d+)+", re.sub('"[^"]*"', "", given))
            if found is not None:
                words = " ".join(f"--na {word}" for word in found[0].split(","))
                raise BadInputError(
                    f"--na {given}: {found[0]} may be one number, as the file writes numbers with commas, or several; "
                    f"--na '\"{found[0]}\"' is the one number, {words} are several."
                )
    for word in dialect.missing_texts:
        try:
            taken = not math.isnan(float(word))  # by Python, and so by pandas
        except ValueError:
            taken = False
        if taken:
            sign = "comma" if dialect.decimal == "," else "point"
            raise BadInputError(
                f"--na {word}: must be a word, or a number as the file writes numbers, with a decimal {sign}."
            )


def _first_lines(head: str, comment: str | None, *, cut: bool = False) -> list[str]:
    """Return the first lines of a text that are neither blank nor comments, at most 200."""
    lines = re.split("\r\n|\r|\n", head)[: LINES_LOOKED_AT + 50]
    if cut and len(lines) <= LINES_LOOKED_AT + 49:
        lines = lines[:-1] or lines
    kept = [line for line in lines if line.strip() and not (comment and line.startswith(comment))]
    return kept[:LINES_LOOKED_AT]


def _separator_of(lines: Sequence[str], *, header: bool, comma_in_numbers: bool) -> str:
    """Find the separator that splits all lines of a CSV file into equally many cells, or else the likeliest one.

    The likeliest one leaves the header one cell shorter, as R does, or is the header's commonest. Where two may be
    meant, raise ValueError, unless the comma is one of them and stands in numbers, as the options say.
    """
    bare = re.sub('"[^"]*"', "", lines[0])
    # names of columns may hold blanks, but hardly ever another separator
    others = any(sep in bare for sep in SEPARATORS if sep != " ")  # then a blank separates nothing but words
    possible = [sep for sep in SEPARATORS if sep != " " or not others]
    widths = {sep: [len(row) for row in _cells_of(lines, sep, strict=True)] for sep in possible}
    even = [sep for sep, found in widths.items() if found and min(found) > 1 and len(set(found)) == 1]
    if not even:
        shorter = {s: w[0] for s, w in widths.items() if len(w) > 1 and set(w[1:]) == {w[0] + 1}}
        shorter = {s: width for s, width in shorter.items() if s in bare or not others}
        found = [sep for sep, width in shorter.items() if width == max(shorter.values())]
    if even or len(found) == 1:
        found = _rivals(lines, even or found, header=header)
    if len(found) > 1 and comma_in_numbers:
        found = [sep for sep in found if sep != ","]
    if len(found) > 1:
        raise ValueError(_describe_tie(found, lines, int(header and len(lines) > 1)))
    if found:
        return found[0]
    counts = {sep: lines[0].count(sep) for sep in SEPARATORS if sep != " "}
    return max(counts, key=lambda sep: counts[sep]) if any(counts.values()) else ","


def _rivals(lines: Sequence[str], even: Sequence[str], *, header: bool) -> list[str]:
    """List the separators that a CSV file may have: one that splits all lines evenly, and others in question.

    A decimal comma in every number cuts as evenly as what stands between the numbers. Words may hold blanks, and so
    may names of columns: these are in question only where every comma may be a decimal one.
    """
    text = re.sub('"[^"]*"', '""', "\n".join(lines))
    cut = {sep: [row.split(sep) for row in PADDED.sub(r"\1", text).split("\n")] for sep in SEPARATORS}
    cut[" "] = [re.split(" +", row.strip(" ")) for row in text.split("\n")] if "," in even else []
    first = next((sep for sep in even if min(map(len, cut[sep]), default=0) > 1), even[0])
    found = [first]
    for sep in cut if first != " " else ():
        widths = list(map(len, cut[sep]))
        if sep == first or min(widths, default=0) < 2:
            continue
        cells = [cell for row in cut[sep][int(header) :] for cell in row if "," in cell]
        decimals = first == "," and bool(cells) and all(COMMA_NUMBER.fullmatch(cell.strip()) for cell in cells)
        named = header and sep != "," and set(widths[1:]) == {widths[0] + 1}  # names of rows
        alike = named or len(set(widths)) == 1
        numbers = not header or any(NUMBERS.fullmatch(cell) for row in cut[first] for cell in row)
        if (alike and decimals and numbers) if sep == " " else (alike or decimals):
            found.append(sep)
    return found


def _describe_tie(found: Sequence[str], lines: Sequence[str], row: int) -> str:
    """Return an error message that lists possible separators of a CSV file, and how each splits a line."""
    readings = []
    for sep in found:
        cells = [cell for cell in _cells_of(lines[row:], sep)[0] if cell or sep != " "]
        shown = ", ".join(f"{cell:.30}" for cell in map(repr, cells[:4])) + ", ..." * (len(cells) > 4)
        readings.append(f"by {SEPARATORS[sep]} ({shown})")
    return f"the columns may be separated {' or '.join(readings)}; --sep says which."


def _one_column_of_decimal_commas(lines: Sequence[str]) -> bool:
    """Return whether lines are one column of numbers with decimal commas, such as 1,5, and not two columns."""
    rest = [line.strip() for line in lines[1:]]
    if any(sep in lines[0] for sep in SEPARATORS) or not any(map(COMMA_NUMBER.fullmatch, rest)):
        return False
    return all(COMMA_NUMBER.fullmatch(line) or line.isdigit() or line in MISSING for line in rest)


def _may_have_row_names(lines: Sequence[str]) -> bool:
    """Return whether what is before the comma in rows of two numbers may be names of the rows, as R writes them."""
    rest = [line.strip() for line in lines[1:]]
    if all(map(GROUPED.fullmatch, rest)):  # which may be thousands, too, and is refused for that
        return False
    rows = [line.split(",") for line in rest]
    return all(len(row) == 2 for row in rows) and len({row[0] for row in rows}) == len(rows)


def _are_aligned(lines: Sequence[str], sep: str, *, asked: bool) -> bool:
    """Return whether columns are aligned by runs of blanks, so that a single separator does not split them.

    Where single blanks split them as well, into other cells of which some are empty, they do if that was asked for.
    """
    plain = [re.sub('"[^"]*"', '""', line) for line in lines]
    if not any("  " in line or line != line.strip(" ") for line in plain):
        return False
    cut = _cells_of(lines, sep)
    ends = all(row[-1] == "" for row in cut)  # with a separator, which is none between cells
    names = cut[0][1 : len(cut[0]) - ends] if cut else []
    if sep == " ":
        fits = "" not in names and set(map(len, cut[1:])) in ({len(cut[0])}, {len(cut[0]) + 1})
        fits = fits and (asked or not any("  " in line.strip(" ") for line in plain))
    else:
        fits = any(len(row) > 1 for row in cut)
    rows = [re.split(" +", line.strip(" ")) for line in plain]
    widths, width = set(map(len, rows[1:])), len(rows[0])
    even = (width > 1 and widths == {width}) or widths == {width + 1}
    return not fits and even and any(POINT_OR_WHOLE.fullmatch(cell) for row in rows[1:] for cell in row)


def _cells_of(lines: Sequence[str], sep: str, *, strict: bool = False) -> list[list[str]]:
    """Split lines of a CSV file into rows of cells at a separator; with `strict`, none if quotes do not match.

    Where the last quote is open, only the last row is missing.
    """
    # R's write.table puts a backslash before a quote inside quotes between blanks
    plain = [line.replace('\\"', '""') for line in lines] if sep == " " else lines
    try:
        return [row for row in csv.reader(plain, delimiter=sep, strict=strict) if row]
    except csv.Error as error:
        return _cells_of(lines, sep)[:-1] if "unexpected end" in str(error) else []


def _decimal_commas(lines: Sequence[str], sep: str, given: Dialect) -> bool:
    """Return whether a CSV file has decimal commas; raise ValueError if all commas are as in 1,000, in doubt.

    Where the header is one name short, the first cells are names of the rows unless these are "none", and no numbers.
    """
    rows, named = _cells_of(lines, sep) or [[""]], given.row_names != "none"
    if not rows[0][0].strip() or (named and all(len(row) == len(rows[0]) + 1 for row in rows[1:])):
        rows = [row[len(row) > 1 :] for row in rows[1:]]  # names of rows, such as 1962.25, are no numbers
    cells = _cells_of_numbers(rows, given)
    commas = [cell for cell in cells if COMMA_NUMBER.fullmatch(cell) or (GROUPED.fullmatch(cell) and "," in cell)]
    if not commas or any(map(POINT_NUMBER.fullmatch, cells)):
        return False
    if all(map(GROUPED.fullmatch, commas)):
        raise ValueError(f"{doubt_of(commas[0])}.")
    return True


def _cells_of_numbers(rows: Sequence[Sequence[str]], given: Dialect) -> list[str]:
    """Return the stripped cells of those columns of a CSV file that are mostly numbers.

    Missing values are no text.
    """
    found: list[str] = []
    for column in itertools.zip_longest(*rows, fillvalue=""):
        cells = [cell.strip() for cell in column if not given.is_missing(cell)]
        numbers = sum(any(kind.fullmatch(cell) for kind in (POINT_OR_WHOLE, GROUPED, MIXED)) for cell in cells)
        found += cells if 2 * numbers >= len(cells) else []
    return found


def doubt_of(number: str, *, points: bool = False) -> str:
    """Return a message with both readings of a number such as 1,000, and the options that choose one of them.

    `points` says that other columns have decimal points, so that commas in this one cannot be decimal commas.
    """
    sign = "," if "," in number else "."
    plain = number.replace(sign, "")
    if number.count(sign) > 1:
        return f"{number!r} may be {plain}; --thousands {sign} reads it so"
    if points:
        return (
            f"{number!r} may be {plain}, and --thousands {sign} reads it so; if it is {number.replace(sign, '.')}, "
            "write it with a point, as other columns have"
        )
    return (
        f"{number!r} may be {plain} or {number.replace(sign, '.')}; --thousands {sign} takes the first reading, "
        f"--decimal {sign} the second"
    )
