"""A first look at a whole CSV file: equally many cells in every row, quotes that pair, and names for the columns.

pandas reads what is left of it afterwards. It would move cells sideways where a row has one too many, take the first
of two columns of one name, and not tell a quoted NA from a missing value.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from energystats.cli.dialects import GROUPED, POINT_NUMBER, Dialect, cells_of, doubt_of, first_lines
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source

__all__ = ["MARK", "DecimalPoints", "Feed", "Shape", "find_line", "line_of", "scan"]


MARK = "\ufdd0"  # before the text of a quoted cell that could be taken for a missing value; it stands in no text
NUMBER = r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(\.[0-9]+)?([ \t;][-+0-9. \t;e]*)?"
BATCH = 2**12  # cells looked at together
FEW_DIGITS = re.compile(r"[-+]?\d{1,3}")
ESCAPED = re.compile(r'\\"')


class Feed(io.TextIOBase):
    """The text of a source as it is scanned and as pandas gets it: without comments, and with marks.

    Parameters
    ----------
    source : Source
        The file.
    dialect : Dialect
        How it is written, the separator included.
    """

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self.source, self.dialect = source, dialect
        self.marks = _any_quoted(dialect.marked, dialect.delimiter)
        self.marked = False
        self.rest = self.blocks()
        self.block, self.begun = "", 0

    def blocks(self) -> Iterator[str]:
        """Make blocks of whole lines."""
        quoted = False
        for block in self.source.blocks(self.dialect.encoding):
            if MARK in block:
                raise BadInputError(f"{self.source.name}: holds the character U+FDD0, which stands in no text.")
            # R's write.table puts a backslash before a quote inside quotes, where csv and pandas look for two quotes
            if self.dialect.delimiter == " ":
                block = ESCAPED.sub('""', block)
            if self.dialect.comment is not None:
                block, quoted = _without_comments(block, self.dialect.comment, quoted)
            if self.marks is not None and '"' in block:
                block, found = self.marks.subn(rf"\g<before>{MARK}", block)
                self.marked = self.marked or found > 0
            yield block

    def lines(self) -> Iterator[str]:
        """Make lines with their ends."""
        return chain.from_iterable(io.StringIO(block, newline="") for block in self.rest)

    def readable(self) -> bool:
        """Tell that it can be read: always."""
        return True

    def read(self, size: int | None = -1) -> str:
        """Give at most so many characters, which keeps pandas' buffers small; "" at the end."""
        if size is None or size < 0:
            return self.block[self.begun :] + "".join(self.rest)
        if self.begun >= len(self.block):
            self.block, self.begun = next(self.rest, ""), 0
        part = self.block[self.begun : self.begun + size]
        self.begun += size
        return part


def _any_quoted(words: Iterable[str], sep: str) -> re.Pattern[str] | None:
    """Make the pattern of a quoted cell that is one of some words; its quote belongs to `before`."""
    listed = "|".join(re.escape(word) for word in words)
    edge = re.escape(sep)
    return re.compile(rf'(?P<before>(?:^|(?<=[{edge}\r\n]))")(?=(?:{listed})"(?:[{edge}\r\n]|\Z))')


def _without_comments(block: str, comment: str, quoted: bool) -> tuple[str, bool]:
    """Cut off what follows a comment sign outside quotes, and tell whether the block ends inside a quoted cell."""
    kept = []
    for line in io.StringIO(block, newline=""):
        parts = line.split('"')
        for j, part in enumerate(parts):
            if (j % 2 == 0) != quoted and comment in part:
                end = line[len(line.rstrip("\r\n")) :]
                line = '"'.join([*parts[:j], part[: part.index(comment)]]) + end
                break
        kept.append(line)
        quoted ^= line.count('"') % 2 == 1
    return "".join(kept), quoted


# ---------------------------------------------------------------- the shape


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Shape of a file, as a first look finds it.

    Attributes
    ----------
    names : tuple of str
        Of the columns that hold data, the names of the rows left aside.
    n_rows : int
        Rows below the header.
    width : int
        Cells of a row, the names of the rows and an empty cell at the end included.
    row_names : bool
        Whether the first cell of a row is its name.
    quoted : frozenset of int
        Columns of `names` whose cells were seen in quotes beside others that have none: text, whatever it looks like.
    all_quoted : bool
        Whether every cell seen was in quotes, so that quotes say nothing.
    """

    names: tuple[str, ...]
    n_rows: int
    width: int
    row_names: bool = False
    quoted: frozenset[int] = frozenset()
    all_quoted: bool = False


@dataclass(kw_only=True)
class DecimalPoints:
    """Count points between digits, by column: 1.000 beside 999 may be one thousand, or 1 in three decimals.

    2.25 in any column tells what the point is.
    """

    missing: tuple[str, ...] = ()
    grouped: dict[int, str] = field(default_factory=dict)
    few: set[int] = field(default_factory=set)
    other: set[int] = field(default_factory=set)
    decimals: bool = False

    def look(self, cells: Iterable[str]) -> None:
        """Look at the cells of a row."""
        for j, cell in enumerate(cells):
            if not cell or cell in self.missing or (j in self.other and (self.decimals or "." not in cell)):
                continue
            if GROUPED.fullmatch(cell):
                self.grouped.setdefault(j, cell)
            elif FEW_DIGITS.fullmatch(cell):
                self.few.add(j)
            else:
                self.other.add(j)
                self.decimals = self.decimals or POINT_NUMBER.fullmatch(cell) is not None

    def doubt(self) -> tuple[int, str] | None:
        """Find the first column, and a number of it, whose points may part thousands."""
        doubtful = (self.grouped.keys() & (self.few if self.decimals else self.grouped.keys())) - self.other
        return (min(doubtful), self.grouped[min(doubtful)]) if doubtful else None


def _is_blank(row: list[str]) -> bool:
    """Tell whether a line has no cell; pandas passes over it, too."""
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t"))


def scan(source: Source, dialect: Dialect, head: str, *, sure: bool) -> tuple[Shape, bool]:
    """Find the shape of a file, and whether it has quoted cells that could be missing; complaints name the line.

    `sure` says that the user has named the decimal sign, so that 1.000 is no thousand.
    """
    looking = _Scan(
        source, dialect, DecimalPoints(missing=dialect.words) if dialect.points_may_part and not sure else None
    )
    looking.run()
    return looking.shape(head), looking.feed.marked


class _Scan:
    """A file whose rows are counted, from 0, while they go by."""

    def __init__(self, source: Source, dialect: Dialect, points: DecimalPoints | None) -> None:
        self.source, self.file, self.dialect, self.points = source, source.name, dialect, points
        self.feed = Feed(source, dialect)
        self.header: list[str] | None = None
        self.counts: Counter[int] = Counter()  # of rows, by their number of cells
        self.first: dict[int, int] = {}  # row of that number of cells
        self.names: array[int] = array("q")  # hashes of the first cells, which may be names of the rows
        self.ends_filled = self.blank = False

    @property
    def n_rows(self) -> int:
        """Rows of data so far."""
        return self.counts.total()

    def run(self) -> None:
        """Look at the header and at all rows, many of them at a time."""
        reader = csv.reader(self.feed.lines(), delimiter=self.dialect.delimiter, strict=True)
        try:
            if self.dialect.header:
                found = next((row for row in reader if not _is_blank(row)), None)
                self.header = None if found is None else [cell.removeprefix(MARK) for cell in found]
            several = max(1, BATCH // max(1, len(self.header or [])))
            while rows := list(islice(reader, several)):
                self.add(rows)
        except csv.Error as error:
            raise BadInputError(_malformed(self.source, self.dialect, error)) from error

    def add(self, rows: list[list[str]]) -> None:
        """Count rows of data, but not the blank lines between them."""
        widths = set(map(len, rows))
        if min(widths) < 2:  # a line of blanks has one cell, an empty one none
            if self.header is not None and len(self.header) == 1 and self.dialect.comment is None:
                self.refuse_gaps(rows)
            rows = [row for row in rows if not _is_blank(row)]
            widths = set(map(len, rows))
        before = self.n_rows
        # many rows at a time: a loop over them takes longer than csv needs to split them
        for width in widths:
            if width not in self.first:
                self.first[width] = before + next(i for i, row in enumerate(rows) if len(row) == width)
            self.counts[width] += len(rows) if len(widths) == 1 else sum(len(row) == width for row in rows)
        self.ends_filled = self.ends_filled or any(row[-1] for row in rows)
        # with one name fewer than cells the first ones may be names; a hash takes eight bytes, however long they are
        if self.header is not None and len(self.header) + 1 in widths:
            self.names.extend(hash(row[0]) for row in rows)
        if self.points is not None:
            for row in rows:
                self.points.look(row)

    def refuse_gaps(self, rows: list[list[str]]) -> None:
        """Refuse an empty line with a row of data after it, in a file of one column."""
        before = self.n_rows
        for row in rows:
            self.blank = self.blank or not row
            if self.blank and not _is_blank(row):
                raise BadInputError(
                    f"{self.file}: a line before line {line_of(self.source, self.dialect, before)} is empty, which may "
                    "be a missing value or nothing; write NA there, or take the line out."
                )
            before += not _is_blank(row)

    def shape(self, head: str) -> Shape:
        """Find the columns of what was looked at, or complain."""
        header, n_rows = self.header, self.n_rows
        if header is None and not n_rows:
            raise BadInputError(f"{self.file}: the file is empty.")
        if header is not None and all(map(_looks_like_numbers, header)):
            shown = ", ".join(header[:5])
            raise BadInputError(
                f"{self.file}: the first line must name the columns, got {shown}; --no-header: it does not."
            )
        if not n_rows:
            raise BadInputError(f"{self.file}: the table has no rows.")
        width = self.count_cells()
        if self.points is not None and (doubt := self.points.doubt()) is not None:
            raise BadInputError(f"{self.file}: column {doubt[0] + 1}: {doubt_of(doubt[1])}.")
        if header is None:
            return Shape(names=tuple(f"V{j + 1}" for j in range(width)), n_rows=n_rows, width=width)
        trailing = not self.ends_filled and width > 1
        # R writes no name above its names of rows; where a separator ends every row, the last cells are empty
        unnamed = width == len(header) + 1 and not trailing
        if width == len(header) and trailing and not header[-1].strip():
            header = header[:-1]
        if unnamed and self.dialect.delimiter == self.dialect.decimal:
            raise BadInputError(
                f"{self.file}: the rows have one cell more than the header, and {self.dialect.delimiter} separates "
                "cells and is the decimal sign: put all numbers with a decimal sign in quotes, and name every column."
            )
        shift = int(unnamed or (len(header) > 1 and not header[0].strip()))
        names = header if unnamed else header[shift:]
        if unnamed and len(np.unique(np.frombuffer(self.names, dtype=np.int64))) < n_rows:  # R's names of rows differ
            raise BadInputError(
                f"{self.file}: the header (line 1) has one name fewer than the rows have cells, and the first cells "
                "are no names of the rows, because some are the same; every column needs a name."
            )
        _check_header(names, self.file, 1 + len(header) - len(names))
        quoted, all_quoted = _find_quoted(head, self.dialect)
        return Shape(
            names=tuple(names),
            n_rows=n_rows,
            width=width,
            row_names=bool(shift),
            quoted=frozenset(j - shift for j in quoted if 0 <= j - shift < len(names)),
            all_quoted=all_quoted,
        )

    def count_cells(self) -> int:
        """Count the cells of a row; all rows have as many as the header, or all have one more."""
        ((expected, _),) = self.counts.most_common(1)
        names = expected if self.header is None else len(self.header)
        if expected not in (names, names + 1):
            if len(self.counts) == 1:
                raise BadInputError(
                    f"{self.file}: the header (line 1) has {_counted(names, 'name')}, but the rows have "
                    f"{_counted(expected, 'cell')} each; every column needs a name."
                )
            expected = names
        if odd := [width for width in self.counts if width != expected]:
            width = min(odd, key=lambda w: self.first[w])
            line = line_of(self.source, self.dialect, self.first[width])
            raise BadInputError(
                f"{self.file}: line {line} has {_counted(width, 'cell')}, where {expected} "
                f"{'is' if expected == 1 else 'are'} expected; a separator too many or too few moves numbers into "
                "other columns. Mend the line, or put quotes around cells that hold the separator."
            )
        return expected


def _malformed(source: Source, dialect: Dialect, error: csv.Error) -> str:
    """Say where the quotes do not fit."""
    reader = csv.reader(Feed(source, dialect).lines(), delimiter=dialect.delimiter, strict=True)
    before = 0
    try:
        for _ in reader:
            before = reader.line_num
    except csv.Error:
        pass
    hint = ""
    if "expected after" in str(error):
        hint = '; a quote inside quotes is written twice (in R, write.table(..., qmethod = "double"))'
    return f"{source.name}: line {before + 1}: the quotes do not fit the cells ({error}){hint}."


def _counted(number: int, what: str) -> str:
    """Write a number with its word: '1 cell', '2 cells'."""
    return f"{number} {what}{'s' * (number != 1)}"


def _looks_like_numbers(name: str) -> bool:
    """Tell whether the name of a column looks like a number, or several."""
    return re.fullmatch(NUMBER, name.strip(), re.IGNORECASE) is not None


def _check_header(names: Sequence[str], file: str, first: int) -> None:
    """Check that every column has a name of its own."""
    for j, name in enumerate(names):
        if not name.strip():
            raise BadInputError(
                f"{file}: the header (line 1) has no name for column {j + first}; every column needs one."
            )
    if len(set(names)) < len(names):
        twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
        listed = ", ".join(map(repr, twice))
        raise BadInputError(
            f"{file}: the header must name every column differently, but {listed} "
            f"{'stands' if len(twice) == 1 else 'stand'} there more than once; rename one of them"
            f"{', or, if the first line is data, --no-header says so' * all(map(_looks_like_numbers, twice))}."
        )


def _find_quoted(head: str, dialect: Dialect) -> tuple[set[int], bool]:
    """Find in the first lines the places in quotes beside some that are not, and whether all are in quotes."""
    edge = re.escape(dialect.delimiter)
    opening = re.compile(rf'(^|{edge})"(?=[^"])')
    lines = [opening.sub(rf'\1"{MARK}', line) for line in first_lines(head, dialect.comment)]
    bare: set[int] = set()
    quoted: set[int] = set()
    for row in cells_of(lines, dialect.delimiter)[dialect.header :]:
        for j, cell in enumerate(row):
            if cell.startswith(MARK):
                quoted.add(j)
            elif cell and cell not in dialect.words:
                bare.add(j)
    return (quoted - bare if bare else set()), bool(quoted) and not bare


def line_of(source: Source, dialect: Dialect, row: int) -> int | None:
    """Find the line of the file in which a row begins."""
    return find_line(Feed(source, dialect).lines(), row, dialect)


def find_line(lines: Iterable[str], row: int, dialect: Dialect) -> int | None:
    """Find the line in which a row begins, both counted as people do; quoted cells may hold line ends."""
    wanted = row + int(dialect.header)
    before, found = 0, -1
    reader = csv.reader(lines, delimiter=dialect.delimiter)
    try:
        for cells in reader:
            found += int(not _is_blank(cells))
            if found == wanted:
                return before + 1
            before = reader.line_num
    except csv.Error:
        return None
    return None
