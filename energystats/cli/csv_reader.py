"""Read CSV: every cell as R would read it, in whatever dialect the file is written."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._runtime import Work, check_memory
from energystats._typing import IntArray
from energystats.cli.console import Console
from energystats.cli.csv_scan import LOGICAL, Cells, Scan
from energystats.cli.dialects import MARK, Dialect, check_words, detected
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.file_table import FileTable, RowRanges, is_large, taking, unless_counted
from energystats.cli.sources import Source, readable
from energystats.inputs.columns import holds_numbers, holds_truths

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["MEANINGS", "code_of_file", "read_csv", "twice_spelled"]


TEXT, NUMBER, CELL = 49, 8, 90  # bytes of a text besides its characters, of a number, and of a cell on its way to one
WHOLE = re.compile(r"[-+]?\d+")
LONG = re.compile(r"([-+]?\d+)(?:\.0*)?")  # whole numbers among decimals
LONGEST_NUMBER = 308  # digits
EXACT_DIGITS = 16  # of 2**53: shorter whole numbers are exact
MEANINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}  # in capitals or not


def read_csv(
    source: Source, given: Dialect, console: Console, texts: Sequence[str], rows: RowRanges | None, id_name: str | None
) -> FileTable:
    """Read a CSV file as a table: find separator and decimal sign, scan all rows, and convert the rows to keep."""
    with readable(source.name):
        blocks = source.blocks(given.encoding)
        head, cut = next(blocks, ""), next(blocks, "") != ""
    if not head.strip():
        raise BadInputError(f"{source.name}: the file is empty.")
    with bad_input(source.name):
        dialect = detected(head, given, console, cut=cut)
        check_words(dialect)
    with readable(source.name), bad_input(source.name):
        scan = Scan(source, dialect, taken=None if rows is None else rows.taken, sure=given.decimal is not None)
    kept = np.arange(scan.n_rows) if rows is None else np.flatnonzero(rows.within(scan.n_rows))
    reader = _CsvReader(scan=scan, rows=kept, as_text=texts, id_name=id_name)
    with bad_input(source.name):
        check_memory(reader.work())
    table = reader.read(console)
    table = table.having(table.frame, *taking(rows, kept))
    return table if rows is None else replace(table, every=_whole_columns(scan))


def _whole_columns(scan: Scan) -> dict[str, pd.Series[Any]]:
    """Return the columns of a CSV file that hold only whole numbers, by name, with the values of all its rows."""
    import pandas as pd

    scanned = zip(scan.names, scan.columns[int(scan.row_names) :], strict=False)
    return {name: pd.Series(column.whole, name=name) for name, column in scanned if column.whole}


@dataclass(frozen=True, kw_only=True, eq=False)
class _CsvReader:
    """Convert a scanned CSV file to a table; columns `as_text` stay text, `id_name` has no missing values."""

    scan: Scan
    rows: IntArray
    as_text: Collection[str] = ()
    id_name: str | None = None

    def read(self, console: Console) -> FileTable:
        """Convert the scanned cells of a CSV file to a table, and print notes on cells that can be read in two ways."""
        import pandas as pd

        shift, names = int(self.scan.row_names), self.scan.names
        # no cell behind a separator at the end of lines
        columns = dict(zip(names, self.scan.columns[shift:], strict=False))
        found, code, empty = {}, [], []
        for name, column in columns.items():
            found[name], statements = self._convert(name, column)
            code += statements
            if not (holds_numbers(found[name]) or holds_truths(found[name])):
                self._note_same_numbers(found[name], console)
                empty += [name] * (bool((found[name] == "").any()) and self.scan.dialect.quoted_na is None)
        if empty:
            said = f'"" in quotes was taken for an empty text in {", ".join(empty)}'
            console.note(f"{said}; with --quoted-na missing it is a missing value.")
        frame = pd.DataFrame(found).set_axis(self.rows, axis=0)
        unnamed = ["table = table.reset_index(drop=True)"] * shift
        code = [*self._code(frame, columns), *unnamed, *code, *self._empty_numbers(frame)]
        row_names = None
        if shift:
            row_names = unless_counted(self._list_texts(self.scan.columns[0]))
        if row_names is not None:
            console.note("the first column has no name of its own and was taken for the names of the rows.")
        some_bare = any(column.bare for column in self.scan.columns)
        table = FileTable(
            file=self.scan.source.name,
            frame=frame,
            code=tuple(code),
            dialect=self.scan.dialect,
            source=self.scan.source,
            n_read=self.scan.n_rows,
            row_names=row_names,
            ids=self._list_texts(columns[self.id_name]) if self.id_name in columns else None,
            every={str(name): column for name, column in frame.items()},
            quoted=frozenset(n for n, column in columns.items() if some_bare and column.quoted and not column.bare),
            odd={name: column.odd for name, column in columns.items() if column.odd is not None},
            emptied=frozenset(name for name, column in columns.items() if column.empty),
        )
        if table.numbered_names:
            shown = ", ".join(map(repr, names[:5]))
            console.note(f"the first line was taken for names of columns, {shown}; --no-header, if it is data.")
        return table

    def work(self) -> Work:
        """Estimate the memory of all columns as numbers, and of the largest column's cells as texts and as numbers."""
        n, largest = len(self.rows), max((column.n_characters for column in self.scan.columns), default=0)
        texts = 0 if largest < 2 * n else 2 * (TEXT * n + largest)  # Python keeps one text of each single character
        return Work(
            what=f"the cells of {n:,} rows",
            advice="--rows 1:100000 reads the first of them.",
            bytes=n * (2.0 * NUMBER * len(self.scan.columns) + CELL) + texts,
        )

    def _list_texts(self, column: Cells) -> pd.Series[Any]:
        """Return the cells of a column of row names as text, as the file has them."""
        import pandas as pd

        return pd.Series(column.texts, index=self.rows, dtype=object)

    def _convert(self, name: str, column: Cells) -> tuple[pd.Series[Any], list[str]]:
        """Convert the cells of one CSV column to numbers, truth values or text; return also the pandas code for it."""
        import pandas as pd

        cells, free, asked = column.cells, name not in self.as_text, self.scan.dialect.quoted_na
        in_quotes = {cell[1:] for cell in set(cells) if cell[:1] == MARK}
        marked = {*self.scan.dialect.marked}
        doubtful = [text for text in sorted(in_quotes) if {text, text.strip(" \t") or text} & marked]
        if free and column.numeric:
            numbers = self._read_numbers(column.texts, name)
            if not any(doubtful) or numbers.notna().any():
                return numbers, []
        # T and F stay text: pandas leaves them, too, and a level "T" is as likely as a truth value
        if free and column.logical and column.spelled and not twice_spelled(column.spelled):
            truths = pd.Series(map(LOGICAL.get, column.texts), dtype="boolean", name=name)
            return (truths.astype(bool) if not truths.isna().any() else truths), []
        if name == self.id_name:
            return pd.Series(column.texts, name=name, dtype=object), []
        if doubtful and asked is None and (any(doubtful) or not any(each.bare for each in self.scan.columns)):
            word = next(filter(None, doubtful), "")
            what = (
                f'"{word}" in quotes, which may be a word or a missing value'
                if word
                else '"", and every cell is in quotes, so that it may be an empty text or a missing value'
            )
            raise BadInputError(
                f"{self.scan.source.name}: column {name!r} holds {what}; --quoted-na word or --quoted-na missing says "
                "which."
            )
        return self._read_text(name, cells, doubtful if asked != "missing" else [])

    def _read_text(self, name: str, cells: list[str], words: list[str]) -> tuple[pd.Series[Any], list[str]]:
        """Convert cells to a column of text with missing values, given words kept; return also the pandas code for it.

        The given words would else be missing values.
        """
        import pandas as pd

        kept = {MARK + word: word for word in words}
        meaning: dict[str, Any] = {cell: cell.removeprefix(MARK) for cell in set(cells)}
        # blanks alone are a word of their own, until the column is used and they are taken away with a note
        is_missing = self.scan.dialect.is_missing
        gone = {text for text in meaning.values() if (not text or text.strip(" \t")) and is_missing(text)}
        meaning = {cell: None if text in gone else text for cell, text in meaning.items()} | kept
        values = pd.Series([meaning[cell] for cell in cells], name=name)
        # read_csv knows neither quotes nor that numbers of --na are compared letter by letter in text
        shown, statements = f"table[{name!r}]", []
        for cell, word in kept.items():
            rows = [int(row) for row, other in zip(self.rows, cells, strict=True) if other == cell]
            statements += [f"table.loc[{rows!r}, {name!r}] = {word!r}"] * bool(rows)
        emptied = sorted(text for text in gone if text.strip(" \t") in self.scan.dialect.missing_numbers)
        return values, [*(f"{shown} = {shown}.mask({shown} == {word!r})" for word in emptied), *statements]

    def _empty_numbers(self, frame: pd.DataFrame) -> list[str]:
        """Set numbers that --na names to missing in a data frame's number columns; return the pandas code for it."""
        statements = []
        for value in self.scan.dialect.missing_numbers.values():
            for name in [name for name in frame if name != self.id_name and holds_numbers(frame[name])]:
                if (hit := (frame[name] == value).fillna(False).astype(bool)).any():
                    frame[name] = (frame[name].convert_dtypes() if is_large(frame[name]) else frame[name]).mask(hit)
                    statements.append(f"table[{name!r}] = table[{name!r}].mask(table[{name!r}] == {value!r})")
        return statements

    def _note_same_numbers(self, column: pd.Series[Any], console: Console) -> None:
        """Print a note if text that was kept equals a number of --na in another format, as 99.0 for --na 99."""
        words: dict[Any, str] = {number: word for word, number in reversed(self.scan.dialect.missing_numbers.items())}
        for text in column.dropna().unique() if words else ():
            if (word := words.get(self.scan.dialect.value_of(text))) is not None:
                console.note(
                    f"--na {word}: {text!r} in column {column.name!r} is the same number and stays, because text is "
                    f"compared letter by letter; --na {text} makes it missing too."
                )
                return

    def _read_numbers(self, cells: list[str], name: str) -> Any:
        """Convert the cells of a column to numbers; if whole numbers exceed all integer types, they stay text.

        Such are whole numbers beyond 64 bits, and beside decimals those beyond 2**53 that are not exact as doubles.
        """
        import pandas as pd

        gaps = {"", *self.scan.dialect.missing_texts}
        texts = [None if cell.strip(" \t") in gaps else cell.strip(" \t") for cell in cells]
        for sign, plain in ((self.scan.dialect.thousands, ""), (self.scan.dialect.decimal, ".")):
            if sign not in (None, plain):
                texts = [text and text.replace(sign, plain) for text in texts]
        known = [text for text in texts if text is not None]
        kind = _kind_of(known)
        if kind is None:
            return pd.Series([text and cell for text, cell in zip(texts, cells, strict=True)], name=name, dtype=object)
        if kind == "float":
            return pd.Series([math.nan if text is None else float(text) for text in texts], name=name, dtype=float)
        found = pd.Series([None if text is None else int(text) for text in texts], name=name, dtype=kind)
        if found.notna().all():
            return found.astype(np.dtype(kind.lower()))
        return found if is_large(found) else found.astype(float)

    def _code(self, frame: pd.DataFrame, columns: dict[str, Cells]) -> list[str]:
        """Return statements, as text, that read the same table by `pandas.read_csv`."""
        import pandas as pd

        scan = self.scan
        before, opened, options = code_of_file(self.scan.dialect, scan.source)
        if not self.scan.dialect.header:
            options |= {"header": None, "names": list(scan.names)}
        elif scan.row_names:
            options["index_col"] = 0
        elif len(scan.columns) > len(scan.names):
            options["index_col"] = False
        padded = set().union(*(column.padded for column in columns.values()))
        options |= {"keep_default_na": False, "na_values": ["", *self.scan.dialect.missing_texts, *sorted(padded)]}
        kinds = {name: "str" for name in scan.names if name in self.as_text}
        for (name, column), held in zip(columns.items(), frame.dtypes, strict=True):
            if isinstance(held, pd.Int64Dtype | pd.UInt64Dtype):
                kinds[name] = str(held)
            elif column.numeric and not holds_numbers(held):  # beyond 64 bits
                kinds[name] = "str"
        if kinds:
            options["dtype"] = kinds
        words = "".join(f", {key}={value!r}" for key, value in options.items())
        return [*before, f"table = pd.read_csv({opened}{words})"]


def _kind_of(numbers: Sequence[str]) -> str | None:
    """Return the pandas type that holds numbers, given as text, exactly; None if none does, so that they stay text."""
    if any(len(text) > LONGEST_NUMBER for text in numbers):  # beyond what a double holds, or Python turns to a number
        return None
    if not numbers or not all(map(WHOLE.fullmatch, numbers)):
        long = (LONG.fullmatch(text) for text in numbers if len(text) >= EXACT_DIGITS)
        return None if any(int(float(whole[1])) != int(whole[1]) for whole in long if whole) else "float"
    low, high = min(map(int, numbers)), max(map(int, numbers))
    return "Int64" if -(2**63) <= low <= high < 2**63 else "UInt64" if 0 <= low <= high < 2**64 else None


def code_of_file(dialect: Dialect, source: Source) -> tuple[list[str], str, dict[str, Any]]:
    """Return the arguments of `pandas.read_csv` for a file: statements before the call, the input, and the options.

    The input is text, options have their values, and those at defaults are left out.
    """
    encoding = dialect.encoding or source.encoding
    usual = {"sep": ",", "decimal": ".", "thousands": None, "encoding": "utf-8-sig"}  # found by pandas
    own = (dialect.delimiter, dialect.decimal or ".", dialect.thousands, encoding)
    options = {key: value for (key, plain), value in zip(usual.items(), own, strict=True) if value != plain}
    if not (dialect.thousands or "").isascii():  # a blank such as U+00A0, which the faster parser does not see
        options["engine"] = "python"
    text, before = f"text = {source.code_of_text(encoding)}", []
    # R's write.table puts a backslash before a quote inside quotes
    if dialect.delimiter == " " and any(r"\"" in block for block in source.blocks(dialect.encoding)):
        text += """.replace(r'\\"', '""')"""
        before = [text]
    if dialect.comment is not None:
        # read_csv would leave the blanks before a comment to its cell, and take one behind quotes for text
        quoted = rf'(?:^|(?<=[{re.escape(dialect.delimiter)}\r\n]))"[^"]*(?:""[^"]*)*"'
        pattern = rf"({quoted})|[ \t]*{re.escape(dialect.comment)}[^\r\n]*"
        shown = f"r'{pattern}'" if pattern.isprintable() and "'" not in pattern else repr(pattern)
        before = [text, f"text = re.sub({shown}, r'\\1', text)"]
    if before:
        options.pop("encoding", None)
        return before, "io.StringIO(text)", options
    if source.zipped and not source.name.lower().endswith(".gz"):  # by which pandas knows it
        options["compression"] = "gzip"
    return [], source.code, options


def twice_spelled(words: Collection[str]) -> bool:
    """Return whether truth values in a column have mixed spellings, such as TRUE and True."""
    lower = [word.lower() for word in set(words)]
    if not all(word in MEANINGS for word in lower) or set(lower) <= {"0", "1"}:
        return False
    return len({MEANINGS[word] for word in lower}) < len(lower)
