"""A CSV file as columns of cells: equally many cells in every row, quotes that pair, and names for the columns.

pandas would move cells sideways where a row has one too many, take the first of two columns of one name, and not tell
a quoted NA from a missing value.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any

import numpy as np

from energystats._typing import BoolArray
from energystats.cli.dialects import GROUPED, MARK, POINT_NUMBER, SPLIT, Dialect, doubt_of
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source

__all__ = ["LOGICAL", "Cells", "DecimalPoints", "Scan", "find_line", "line_of"]


NUMBER = r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(\.[0-9]+)?([ \t;][-+0-9. \t;e]*)?"
CELLS = 2**12  # scanned together
BEHIND_BLANKS = " has quotes behind blanks, which would be a part of the text; take the blanks before quotes out."
LOGICAL = {"TRUE": True, "FALSE": False, "True": True, "False": False, "true": True, "false": False}
FEW_DIGITS = re.compile(r"[-+]?\d{1,3}")
ESCAPED = re.compile(r'\\"')
LATE_QUOTE = re.compile(rf'(?:^|{SPLIT})[ \t]+"')  # behind blanks, where csv takes it for a part of the text


# ---------------------------------------------------------------- lines


def _marked_lines(source: Source, dialect: Dialect) -> Iterator[str]:
    """Yield the lines of a CSV file without comments, with a mark put before the text of every quoted cell."""
    text = r'[^"]*+(?:""[^"]*+)*+(?P<end>"|\Z)'
    # blanks before a comment belong to it, and to no name or word
    comment = "" if dialect.comment is None else rf"|[ \t]*{re.escape(dialect.comment)}[^\r\n]*"
    cell = re.compile(rf'(?:^|(?<=[{re.escape(dialect.delimiter)}\r\n]))"{text}{comment}')
    rest = re.compile(text)
    inside = False  # a quoted cell that holds line ends, where a block begins or ends

    def mark(found: re.Match[str]) -> str:
        nonlocal inside
        inside = found["end"] == ""
        return "" if found["end"] is None else f'"{MARK}{found[0][1:]}'

    for block in source.blocks(dialect.encoding):
        if MARK in block:
            raise BadInputError(f"{source.name}: holds the character U+FDD0, which stands in no text.")
        # R's write.table puts a backslash before a quote inside quotes, where csv looks for two quotes
        if dialect.delimiter == " ":
            block = ESCAPED.sub('""', block)
        begun = ""
        if inside and (found := rest.match(block)) is not None:
            begun, inside = found[0], found["end"] == ""
        if comment or '"' in block:
            block = begun + cell.sub(mark, block[len(begun) :])
        yield from io.StringIO(block, newline="")


def line_of(source: Source, dialect: Dialect, row: int) -> int | None:
    """Return the number of the line of a file in which a data row begins; None if it cannot be found."""
    return find_line(_marked_lines(source, dialect), row, dialect)


def find_line(lines: Iterable[str], row: int, dialect: Dialect) -> int | None:
    """Return the number of the line, from 1, in which a given data row begins; quoted cells may hold line ends."""
    wanted = row + int(dialect.header)
    before, found = 0, -1
    reader = csv.reader(lines, delimiter=dialect.delimiter)
    with suppress(csv.Error):
        for cells in reader:
            found += int(not _is_blank(cells))
            if found == wanted:
                return before + 1
            before = reader.line_num
    return None


def _is_blank(row: list[str]) -> bool:
    """Return whether a line of a CSV file is empty or has only spaces."""
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t"))


# ---------------------------------------------------------------- columns


@dataclass(kw_only=True)
class Cells:
    """Hold the cells of one column of a CSV file as text, with facts from all rows, such as whether all are numbers."""

    # the cells that are kept, joined, which takes a fraction of the memory of many texts
    parts: list[str] = field(default_factory=list)
    # numeric, logical: whether every cell is a number or missing, and a truth value or missing
    numeric: bool = True
    logical: bool = True
    spelled: set[str] = field(default_factory=set)  # spellings of truth values, if there is nothing else
    padded: set[str] = field(default_factory=set)  # missing values with blanks around them
    # quoted, bare, empty: whether there are cells in quotes, cells without that are not missing, and empty ones without
    # quotes
    quoted: bool = False
    bare: bool = False
    empty: bool = False
    # the first cell that is no number and not missing, by the number of its row from 0
    odd: tuple[int, str] | None = None
    late: int | None = None  # row of the first cell whose quotes begin behind blanks, likewise
    n: int = 0  # rows of the file so far
    # the numbers of all rows, where only some are kept and these are whole numbers below 2**63: they may number the
    # rows of the file
    whole: array[int] | None = field(default_factory=lambda: array("q"))

    def scan(self, cells: Sequence[str], dialect: Dialect, kept: BoolArray | None) -> None:
        """Update what is known of a CSV column with its next cells, and store the cells of rows to keep."""
        joined = SPLIT.join(cells)
        if " " in joined or "\t" in joined:
            texts = {cell.removeprefix(MARK) for cell in cells} - {"", *dialect.words}
            self.padded |= {t for t in texts if dialect.is_missing(t) and t.strip(" \t") not in dialect.missing_numbers}
            if self.late is None and '"' in joined and LATE_QUOTE.search(joined):
                self.late = self.n + next(i for i, cell in enumerate(cells) if LATE_QUOTE.match(cell))
        self.quoted = self.quoted or MARK in joined
        self.empty = self.empty or "" in cells
        self.bare = self.bare or any(c[:1] != MARK and not dialect.is_missing(c) for c in cells)
        if self.numeric and dialect.numbers.fullmatch(joined) is None:
            first = next(i for i, cell in enumerate(cells) if dialect.numbers.fullmatch(cell) is None)
            self.numeric, self.odd = False, (self.n + first, cells[first].removeprefix(MARK))
        self.n += len(cells)
        if self.logical:
            self.spelled |= {text for cell in set(cells) if not dialect.is_missing(text := cell.removeprefix(MARK))}
            self.logical = self.spelled <= LOGICAL.keys()
        if kept is not None and self.whole is not None and (not self.numeric or not self._count(cells, dialect)):
            self.whole = None
        if kept is None or kept.any():
            self.parts.append(joined if kept is None else SPLIT.join(compress(cells, kept)))

    def _count(self, cells: Sequence[str], dialect: Dialect) -> bool:
        """Record the whole numbers among some cells of a CSV column; return whether all numbers are whole."""
        gaps = {"", *dialect.missing_texts}
        texts = [text for cell in cells if (text := cell.removeprefix(MARK).strip(" \t")) not in gaps]
        values = [dialect.value_of(text) for text in texts]
        known = [v for v in values if v is not None and v not in dialect.missing_numbers.values()]
        if any(isinstance(v, float) and not v.is_integer() for v in known) or max(map(abs, known), default=0) >= 2**63:
            return False
        if self.whole is not None:
            self.whole.extend(map(int, known))
        return True

    @property
    def n_characters(self) -> int:
        """Return the length of the stored cells of a CSV column with their separators."""
        return sum(map(len, self.parts)) + len(self.parts)

    @property
    def cells(self) -> list[str]:
        """Return the stored cells of a CSV column, those in quotes with a mark before them."""
        return [cell for part in self.parts for cell in part.split(SPLIT)]

    @property
    def texts(self) -> list[str]:
        """Return the stored cells of a CSV column as text, without the marks of quoted cells."""
        return [cell.removeprefix(MARK) for cell in self.cells]


class DecimalPoints:
    """Record by column the numbers such as 1.000, which may be one thousand or 1 with three decimals.

    A number such as 2.25 in any column of numbers shows that the point is a decimal sign.
    """

    def __init__(self, dialect: Dialect, *, alone: bool) -> None:
        """Start to look for columns of a CSV file in which points may separate thousands, as in 1.000.

        With `alone` such a column counts also without a number like 900, if no other column shows decimal points.
        """
        self.dialect, self.missing, self.alone = dialect, {"", *dialect.words}, alone
        self.grouped: dict[int, str] = {}
        self.few: set[int] = set()
        self.other: set[int] = set()  # columns with other cells,
        self.decimals: set[int] = set()  # with numbers such as 2.25 among them,
        self.texts: set[int] = set()  # and with text

    def scan(self, j: int, cells: Iterable[str]) -> None:
        """Record numbers in a column that show whether a point is a decimal sign or separates thousands."""
        for cell in dict.fromkeys(cell.removeprefix(MARK).strip(" \t") for cell in cells):
            if cell in self.missing or j in self.texts:
                continue
            if j in self.other or not (GROUPED.fullmatch(cell) or FEW_DIGITS.fullmatch(cell)):
                self.other.add(j)
                if not self.dialect.number.fullmatch(cell):
                    self.texts.add(j)
                elif j not in self.decimals and POINT_NUMBER.fullmatch(cell) and not GROUPED.fullmatch(cell):
                    self.decimals.add(j)
            elif GROUPED.fullmatch(cell):
                self.grouped.setdefault(j, cell)
            else:
                self.few.add(j)

    @property
    def shows_decimals(self) -> bool:
        """Return whether a column of numbers has one such as 2.25."""
        return bool(self.decimals - self.texts)

    def doubt(self) -> tuple[int, str] | None:
        """Return the first column in which points may separate thousands, with one of its numbers; None without one."""
        every = self.alone and not self.shows_decimals
        doubtful = (self.grouped.keys() & (self.grouped.keys() if every else self.few)) - self.other
        return (min(doubtful), self.grouped[min(doubtful)]) if doubtful else None


# ---------------------------------------------------------------- rows


class Scan:
    """Hold the rows of a CSV file, read once and counted from 0, with their cells collected by column.

    Attributes
    ----------
    columns : list of Cells
        Their cells, the names of the rows and an empty cell at the end included.
    names : tuple of str
        Of the columns that hold data, without the names of the rows.
    row_names : bool
        Whether the first cell of a row is its name.
    """

    def __init__(
        self, source: Source, dialect: Dialect, *, taken: Callable[[int, int], BoolArray] | None, sure: bool
    ) -> None:
        """Read the whole file by rows and collect its columns; raise ValueError with the line for malformed rows.

        `taken` returns a mask of the rows to keep between two row numbers; all when None. `sure` says that the user has
        named the decimal sign, so that 1.000 is no thousand.
        """
        self.source, self.dialect, self.taken = source, dialect, taken
        doubtful = dialect.points_are_doubtful and not sure
        self.points = DecimalPoints(dialect, alone=dialect.points_may_part) if doubtful else None
        self.header: list[str] | None = None
        self.columns: list[Cells] = []
        self.counts: Counter[int] = Counter()  # of rows, by their number of cells
        self.first: dict[int, int] = {}  # row of that number of cells
        self.hashes: array[int] = array("q")  # of the first cells, which may be names of the rows
        self.ends_filled = self.blank = False
        self._run()
        self.row_names, self.names = self._find_names()

    @property
    def n_rows(self) -> int:
        """Return the number of data rows scanned so far."""
        return self.counts.total()

    def _read(self) -> Any:
        """Return a CSV reader over the lines of the file, in which the text of quoted cells begins with a mark."""
        return csv.reader(_marked_lines(self.source, self.dialect), delimiter=self.dialect.delimiter, strict=True)

    def _run(self) -> None:
        """Read the header and all rows of a CSV file, several rows at a time, and collect the columns."""
        reader = self._read()
        try:
            if self.dialect.header:
                found = next((row for row in reader if not _is_blank(row)), None)
                self.header = None if found is None else [cell.removeprefix(MARK) for cell in found]
                if LATE_QUOTE.search(SPLIT.join(found or ())):
                    raise ValueError(f"the line of names{BEHIND_BLANKS}")
            several = max(16, CELLS // max(1, len(self.header or [])))
            while rows := list(islice(reader, several)):
                self._add(rows)
        except csv.Error as error:
            raise ValueError(self._write_malformed(error)) from error

    def _add(self, rows: list[list[str]]) -> None:
        """Add some rows of a CSV file to the scanned columns, after checking their numbers of cells."""
        widths = set(map(len, rows))
        if min(widths) < 2:  # a line of blanks has one cell, an empty one none
            one = max(widths) < 2 if self.header is None else len(self.header) == 1
            if one and self.dialect.comment is None:
                self._refuse_gaps(rows)
            rows = [row for row in rows if not _is_blank(row)]
            widths = set(map(len, rows))
        before = self.n_rows
        for width in widths:
            self.first.setdefault(width, before + next(i for i, row in enumerate(rows) if len(row) == width))
        self.counts.update(map(len, rows))
        if len(self.counts) != 1 or not rows:
            return  # rows of several lengths are refused
        self.columns = self.columns or [Cells() for _ in rows[0]]
        kept = None if self.taken is None else self.taken(before, self.n_rows)
        columns = list(zip(*rows, strict=True))
        for j, (column, cells) in enumerate(zip(self.columns, columns, strict=True)):
            column.scan(cells, self.dialect, kept)
            if column.late is not None:
                line = line_of(self.source, self.dialect, column.late)
                raise ValueError(f"line {line}: cell {cells[column.late - before]!r}{BEHIND_BLANKS}")
            if self.points is not None:
                self.points.scan(j, cells)
        self.ends_filled = self.ends_filled or any(columns[-1])
        # with one name fewer than cells the first ones may be names; a hash takes eight bytes, however long they are
        if self.header is not None and len(self.header) + 1 == len(columns):
            self.hashes.extend(map(hash, columns[0]))

    def _refuse_gaps(self, rows: list[list[str]]) -> None:
        """Raise ValueError for an empty line before a data row in a file of one column."""
        before = self.n_rows
        for row in rows:
            self.blank = self.blank or not row
            if self.blank and not _is_blank(row):
                raise ValueError(
                    f"a line before line {line_of(self.source, self.dialect, before)} is empty, which may "
                    "be a missing value or nothing; write NA there, or take the line out."
                )
            before += not _is_blank(row)

    def _write_malformed(self, error: csv.Error) -> str:
        """Return an error message, with the line number, for quotes in a CSV file that do not match."""
        reader = self._read()
        before = 0
        with suppress(csv.Error):
            for _ in reader:
                before = reader.line_num
        hint = ""
        if "field limit" in str(error):
            most = csv.field_size_limit()
            return f"line {before + 1}: a cell has more than {most} characters, which are not read."
        if "expected after" in str(error):
            hint = '; a quote inside quotes is written twice (in R, write.table(..., qmethod = "double"))'
        return f"line {before + 1}: the quotes do not fit the cells ({error}){hint}."

    def _find_names(self) -> tuple[bool, tuple[str, ...]]:
        """Find from header and rows whether the first CSV column has row names; return that, and the other names."""
        header, n_rows = self.header, self.n_rows
        if header is None and not n_rows:
            raise ValueError("the file is empty.")
        if header is not None and _holds_numbers_alone(header, self.dialect):
            shown = ", ".join(header[:5])
            raise ValueError(f"the first line must name the columns, got {shown}; --no-header: it does not.")
        if not n_rows:
            raise ValueError("the table has no rows.")
        width = self._count_cells()
        if self.points is not None and (doubt := self.points.doubt()) is not None:
            points = "," in doubt[1] and self.points.shows_decimals
            raise ValueError(f"column {doubt[0] + 1}: {doubt_of(doubt[1], points=points)}.")
        if header is None:
            return False, tuple(f"V{j + 1}" for j in range(width))
        unnamed = width == len(header) + 1 and self._begins_with_names(header)
        # a separator at the end of every line, that of the header included
        if width == len(header) and width > 1 and not self.ends_filled and not header[-1].strip():
            header = header[:-1]
        if self.dialect.row_names == "first" and not unnamed and header[0].strip():
            raise ValueError(
                f"--row-names first: the first column has a name, {header[0]!r}; --id takes the column of "
                "this name for the names of the rows."
            )
        if unnamed and self.dialect.delimiter == self.dialect.decimal:
            raise ValueError(
                f"the rows have one cell more than the header, and {self.dialect.delimiter} separates "
                "cells and is the decimal sign: put all numbers with a decimal sign in quotes, and name every column."
            )
        row_names = unnamed or (len(header) > 1 and not header[0].strip() and self.dialect.row_names != "none")
        names = header if unnamed else header[int(row_names) :]
        if unnamed and not self._first_cells_differ():
            raise ValueError(
                f"{self._header_place} has one name fewer than the rows have cells, and the first cells "
                "are no names of the rows, because some are the same; every column needs a name."
            )
        self._check_header(names, 1 + len(header) - len(names))
        return row_names, tuple(names)

    def _begins_with_names(self, header: Sequence[str]) -> bool:
        """Return whether first cells are row names, where the header is one name short; raise ValueError in doubt.

        R writes no name above its names of rows. Where a separator ends every row, the last cells are empty; so are
        they where R has written an empty last column.
        """
        asked = self.dialect.row_names
        if self.ends_filled:
            if asked == "none":
                raise ValueError(
                    f"--row-names none: the rows have one cell more than {self._header_place} has names; "
                    "every column needs a name."
                )
            return True
        if asked is not None:
            return asked == "first"
        # before a column without a name, or one that is all there is and empty, no names of rows stand
        if not self._first_cells_differ() or not header[0].strip() or len(header) == 1:
            return False
        raise ValueError(
            f"the rows have one cell more than {self._header_place} has names, and their last cells are "
            "all empty: the first cells may be names of the rows, before an empty last column, or the first column, "
            "where a separator ends every row; --row-names first takes the first reading, --row-names none the second."
        )

    @property
    def _header_place(self) -> str:
        """Return words for messages that name the header of a CSV file with its line number."""
        return f"the header (line {line_of(self.source, self.dialect, -1)})"

    def _first_cells_differ(self) -> bool:
        """Return whether the first cells of all rows differ, as the row names that R writes do."""
        return len(np.unique(np.frombuffer(self.hashes, dtype=np.int64))) == self.n_rows

    def _count_cells(self) -> int:
        """Return the number of cells in a row; raise ValueError if rows differ or the header does not fit."""
        ((expected, _),) = self.counts.most_common(1)
        names = expected if self.header is None else len(self.header)
        if expected not in (names, names + 1):
            if len(self.counts) == 1:
                is_comment = self.header is not None and self.header[0].startswith("#") and not self.dialect.comment
                hint = "; if line 1 is a comment, --comment '#' leaves it out" if is_comment else ""
                raise ValueError(
                    f"{self._header_place} has {_counted(names, 'name')}, but the rows have "
                    f"{_counted(expected, 'cell')} each; every column needs a name{hint}."
                )
            expected = names
        if odd := [width for width in self.counts if width != expected]:
            width = min(odd, key=lambda w: self.first[w])
            line = line_of(self.source, self.dialect, self.first[width])
            raise ValueError(
                f"line {line} has {_counted(width, 'cell')}, where {expected} "
                f"{'is' if expected == 1 else 'are'} expected; a separator too many or too few moves numbers into "
                "other columns. Mend the line, or put quotes around cells that hold the separator."
            )
        return expected

    def _check_header(self, names: Sequence[str], first: int) -> None:
        """Raise ValueError if a column has no name or two columns have the same name."""
        for j, name in enumerate(names):
            if not name.strip():
                raise ValueError(f"{self._header_place} has no name for column {j + first}; every column needs one.")
        if len(set(names)) < len(names):
            twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
            listed = ", ".join(map(repr, twice))
            raise ValueError(
                f"the header must name every column differently, but {listed} "
                f"{'stands' if len(twice) == 1 else 'stand'} there more than once; rename one of them"
                f"{', or, if the first line is data, --no-header says so' * all(map(_looks_like_numbers, twice))}."
            )


def _counted(number: int, what: str) -> str:
    """Format a number with its noun in the singular or plural, such as '1 cell' or '2 cells'."""
    return f"{number} {what}{'s' * (number != 1)}"


def _holds_numbers_alone(names: Sequence[str], dialect: Dialect) -> bool:
    """Return whether the names of columns are numbers, some of them missing, so that they are a row of data."""
    known = [name for name in names if name.strip() == "" or not dialect.is_missing(name)]
    return bool(known) and all(map(_looks_like_numbers, known))


def _looks_like_numbers(name: str) -> bool:
    """Return whether a column name is a number or a list of numbers, as where the header is missing."""
    return re.fullmatch(NUMBER, name.strip(), re.IGNORECASE) is not None
