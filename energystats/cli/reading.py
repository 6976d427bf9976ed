"""Tables from files or standard input, whatever dialect of CSV they are written in.

Columns of text become what R would make of them.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray, IntArray
from energystats.cli.console import Console
from energystats.cli.csv_scan import LOGICAL, Cells, Scan, line_of
from energystats.cli.dialects import MARK, SEPARATORS, Dialect, check_words, detected
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.sources import Source, readable
from energystats.inputs.columns import holds_numbers, holds_truths
from energystats.inputs.names import list_names

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["EXACT", "MEANINGS", "FileTable", "RowRanges", "code_of_dialect", "is_large", "read_table", "twice_spelled"]


EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers, which pandas makes of columns with gaps
WHOLE = re.compile(r"[-+]?\d+")
MEANINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}  # in capitals or not


@dataclass(frozen=True, kw_only=True, eq=False)
class FileTable:
    """A table, where it came from, and the Python lines that read it again.

    Attributes
    ----------
    frame : DataFrame
        Its rows; the index is 0, 1, ... in the order of the file, and stays when rows are left out.
    code : tuple of str
        Statements that make `table`, for the report.
    source : Source or None
        The file, to find the line of a row; None for Parquet.
    n_read : int
        Rows of the file.
    row_names : Series or None
        Names of the rows of the file, with the index of `frame`; None where there are none or they only count.
    ids : Series or None
        The column that --id names, as its cells are written.
    quoted : frozenset of str
        Columns whose cells are in quotes, and so hold text.
    emptied : frozenset of str
        Columns with empty cells that are not in quotes.
    odd : mapping of str to (int, str)
        The first cell of a column that is no number, by the index of its row, whether that row is in use or not.
    categories : frozenset of str
        Columns of codes that --category names; they are text here.
    left_out : tuple
        Why other columns are not used, as (names, reason).
    every : mapping of str to Series
        Columns with all rows of the file, whatever rows `frame` has; with --rows only whole numbers of CSV.
    without_order : frozenset of str
        Columns declared as ordered categories, of which Parquet has not kept the order.
    index_names : tuple of str
        Names of the index of Parquet that are no columns here.
    """

    file: str
    frame: pd.DataFrame
    code: tuple[str, ...]
    dialect: Dialect = field(default_factory=Dialect)
    source: Source | None = None
    n_read: int = 0
    row_names: pd.Series[Any] | None = None
    ids: pd.Series[Any] | None = None
    quoted: frozenset[str] = frozenset()
    emptied: frozenset[str] = frozenset()
    odd: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()
    every: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    without_order: frozenset[str] = frozenset()
    index_names: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """Name a row as 'row 17 (line 18)': counted from 1 below the header, and the line of the file it begins in."""
        line = None if self.source is None else line_of(self.source, self.dialect, row)
        return f"row {row + 1}" + ("" if line is None else f" (line {line})")

    @property
    def numbered_names(self) -> bool:
        """Tell whether a line of numbers, but for columns of text, was taken for the names of the columns."""
        if self.source is None or not self.dialect.header:
            return False
        names = [c for c in map(str, self.frame) if holds_numbers(self.frame[c]) or holds_truths(self.frame[c])]
        return bool(names) and all(self.dialect.value_of(name) is not None for name in names)

    @property
    def sep_hint(self) -> str:
        """Question about --sep where the only column has the name of several."""
        names = list(map(str, self.frame.columns))
        others = [word for sep, word in SEPARATORS.items() if len(names) == 1 and sep in names[0] and sep != " "]
        if self.source is None or not others:
            return ""
        return f" With --sep {self.dialect.delimiter!r} there is one column only; are they separated by {others[0]}?"

    def having(self, frame: pd.DataFrame, *code: str) -> FileTable:
        """Make the same table with other rows or columns."""
        return replace(self, frame=frame, code=(*self.code, *code))


def read_table(
    file: str,
    given: Dialect,
    console: Console,
    *,
    as_text: Sequence[str] = (),
    categories: Sequence[str] = (),
    rows: RowRanges | None = None,
    id_name: str | None = None,
) -> FileTable:
    """Read the rows of a CSV or Parquet file, all of them when `rows` is None.

    The columns `as_text` and those of `categories` stay text, so that 01 and 1 are two.
    """
    source = Source.of(file, given.limit)
    texts = (*categories, *as_text)
    if source.is_parquet(given.options):
        table = _from_parquet(source, texts, rows, id_name)
    else:
        table = _from_csv(source, given, console, texts, rows, id_name)
    return _with_categories(table, categories)


def _from_parquet(source: Source, texts: Sequence[str], rows: RowRanges | None, id_name: str | None) -> FileTable:
    """Read the table of a Parquet file; a level of its index may have the name that --id or another option gives."""
    import pandas as pd

    shown, row_names = source.code.replace("sys.stdin", "sys.stdin.buffer"), None
    code = [f"table = pd.read_parquet({shown})"]
    with readable(source.name), source.open() as content:
        from pyarrow.parquet import read_schema

        stored = io.BytesIO(content.read())
        schema = read_schema(stored)
        stored.seek(0)
        _check_names(schema.names, source.name)
        frame = pd.read_parquet(stored)
        # of whole numbers with gaps pandas has made floating-point numbers, and rounded some
        whole = [f.name for f in schema if str(f.type) in ("int64", "uint64") and f.name in frame.columns]
        for name in [name for name in whole if frame[name].dtype.kind == "f" and (frame[name].abs() >= EXACT).any()]:
            frame[name] = pd.read_parquet(stored, columns=[name], dtype_backend="numpy_nullable")[name].array
            code.append(f"table[{name!r}] = pd.read_parquet({shown}, dtype_backend='numpy_nullable')[{name!r}].array")
        frame, lost, statements = _restore_types(frame, stored, schema, (*texts, id_name))
        code += statements
    if frame.empty:
        raise BadInputError(f"{source.name}: the table has no rows.")
    index_names = tuple(str(name) for name in frame.index.names if name is not None and name not in frame.columns)
    levels = [name for name in index_names if name in (*texts, id_name)]
    if not levels and not isinstance(frame.index, pd.RangeIndex):
        row_names = _unless_counted(pd.Series([str(name) for name in frame.index], dtype=object))
    if levels:
        frame = frame.reset_index(levels)
        code.append(f"table = table.reset_index({levels!r})")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=True)
        code.append("table = table.reset_index(drop=True)")
    if not all(isinstance(c, str) for c in frame.columns):
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        code.append("table.columns = table.columns.map(str)")
    _check_names(list(frame.columns), source.name)
    n_read = len(frame)
    ids = frame[id_name].map(str, na_action="ignore").fillna("") if id_name in frame.columns else None
    every = {str(name): column for name, column in frame.items()}
    if rows is not None:
        kept = np.flatnonzero(rows.within(n_read))
        frame = frame.iloc[kept]
        code += _taking(rows, kept)
    return FileTable(
        file=source.name,
        frame=frame,
        code=tuple(code),
        n_read=n_read,
        row_names=row_names,
        ids=ids,
        every=every,
        without_order=frozenset(name for name, ordered in lost.items() if ordered),
        index_names=tuple(name for name in index_names if name not in levels),
    )


def _restore_types(
    frame: pd.DataFrame, stored: io.BytesIO, schema: Any, labels: Sequence[str | None]
) -> tuple[pd.DataFrame, dict[str, bool], list[str]]:
    """Make categories, whole numbers and text of columns for which pandas gives something else.

    These are categories that are numbers, labels of whole numbers with gaps (1.0 for 1), and text stored as bytes.
    """
    import pyarrow.parquet as pq

    from energystats.pairs.parquet import find_lost_categories

    lost = {name: ordered for name, ordered in find_lost_categories(pq.ParquetFile(stored)).items() if name in frame}
    stored.seek(0)
    kinds = {each.name: str(each.type) for each in schema}
    code = []
    for name in lost:
        frame[name] = frame[name].astype("category")
        code.append(f"table[{name!r}] = table[{name!r}].astype('category')")
    for name in map(str, frame.columns):
        if name in labels and "int" in kinds.get(name, "") and frame[name].dtype.kind == "f":
            frame[name] = frame[name].astype("Int64")
            code.append(f"table[{name!r}] = table[{name!r}].astype('Int64')")
        if kinds.get(name) in ("binary", "large_binary"):
            with suppress(UnicodeDecodeError):
                frame[name] = frame[name].map(bytes.decode, na_action="ignore")
                code.append(f"table[{name!r}] = table[{name!r}].map(bytes.decode, na_action='ignore')")
    return frame, lost, code


def _check_names(names: Sequence[str], file: str) -> None:
    """Refuse columns of one name."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInputError(f"{file}: every column needs a name of its own, but {twice[0]!r} is the name of several.")


def _from_csv(
    source: Source, given: Dialect, console: Console, texts: Sequence[str], rows: RowRanges | None, id_name: str | None
) -> FileTable:
    """Read the table of a CSV file: its dialect, its shape, and then its cells."""
    with readable(source.name):
        blocks = source.blocks(given.encoding)
        head, cut = next(blocks, ""), next(blocks, "") != ""
    if not head.strip():
        raise BadInputError(f"{source.name}: the file is empty.")
    with bad_input(source.name):
        dialect = detected(head, given, console, cut=cut)
        check_words(dialect)
    with readable(source.name):
        scan = Scan(source, dialect, taken=None if rows is None else rows.taken, sure=given.decimal is not None)
    kept = np.arange(scan.n_rows) if rows is None else np.flatnonzero(rows.within(scan.n_rows))
    table = _CsvReader(scan=scan, rows=kept, as_text=texts, id_name=id_name).read(console)
    table = table.having(table.frame, *_taking(rows, kept))
    return table if rows is None else replace(table, every=_whole_columns(scan))


def _whole_columns(scan: Scan) -> dict[str, pd.Series[Any]]:
    """Make the columns of whole numbers of all rows of a file of which some are taken."""
    import pandas as pd

    scanned = zip(scan.names, scan.columns[int(scan.row_names) :], strict=False)
    return {name: pd.Series(column.whole, name=name) for name, column in scanned if column.whole}


@dataclass(frozen=True, kw_only=True, eq=False)
class _CsvReader:
    """A scanned file and how it is read: the columns `as_text` stay text, and cells of `id_name` are never missing."""

    scan: Scan
    rows: IntArray
    as_text: Collection[str] = ()
    id_name: str | None = None

    def read(self, console: Console) -> FileTable:
        """Make the table of the rows that were kept, with their numbers, and note what is not plain."""
        import pandas as pd

        shift, names = int(self.scan.row_names), self.scan.names
        # no cell behind a separator at the end of lines
        columns = dict(zip(names, self.scan.columns[shift:], strict=False))
        found, code, empty = {}, [], []
        for name, column in columns.items():
            found[name], statements = self._settle(name, column)
            code += statements
            if not (holds_numbers(found[name]) or holds_truths(found[name])):
                self._note_same_numbers(found[name], console)
                empty += [name] * (bool((found[name] == "").any()) and self.scan.dialect.quoted_na is None)
        if empty:
            said = f'"" in quotes was taken for an empty text in {", ".join(empty)}'
            console.note(f"{said}; with --quoted-na missing it is a missing value.")
        frame = pd.DataFrame(found).set_axis(self.rows, axis=0)
        code = [self._code(frame, columns), *code, *self._empty_numbers(frame)]
        row_names = None
        if shift:
            code.insert(1, "table = table.reset_index(drop=True)")
            row_names = _unless_counted(self._list_texts(self.scan.columns[0]))
        if row_names is not None:
            console.note("the first column has no name of its own and was taken for the names of the rows.")
        some_bare = any(column.bare for column in self.scan.columns)
        table = FileTable(
            file=self.scan.file,
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
        numbers = [n for n in names if n in table.quoted and n not in self.as_text and holds_numbers(frame[n])]
        if numbers:
            listed = ", ".join(numbers)
            console.note(f"numbers in quotes were read as numbers: {listed}; --category makes categories of them.")
        if table.numbered_names:
            shown = ", ".join(map(repr, names[:5]))
            console.note(f"the first line was taken for names of columns, {shown}; --no-header, if it is data.")
        return table

    def _list_texts(self, column: Cells) -> pd.Series[Any]:
        """List the cells of a column that names the rows, as the file has them."""
        import pandas as pd

        return pd.Series(column.texts, index=self.rows, dtype=object)

    def _settle(self, name: str, column: Cells) -> tuple[pd.Series[Any], list[str]]:
        """Make of cells numbers, truth values, or text, and give the statements that do the same to text."""
        import pandas as pd

        cells, free, asked = column.cells, name not in self.as_text, self.scan.dialect.quoted_na
        in_quotes = {cell[1:] for cell in set(cells) if cell[:1] == MARK}
        marked = {*self.scan.dialect.marked}
        doubtful = [text for text in sorted(in_quotes) if {text, text.strip(" \t") or text} & marked]
        if free and column.numeric:
            numbers = self._read_numbers(column.texts, name)
            if numbers.notna().any() or not any(doubtful):
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
                f"{self.scan.file}: column {name!r} holds {what}; --quoted-na word or --quoted-na missing says which."
            )
        return self._read_text(name, cells, doubtful if asked != "missing" else [])

    def _read_text(self, name: str, cells: list[str], words: list[str]) -> tuple[pd.Series[Any], list[str]]:
        """Make a column of text, in which some words in quotes are no missing values."""
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
        return values, [*statements, *(f"{shown} = {shown}.mask({shown} == {word!r})" for word in emptied)]

    def _empty_numbers(self, frame: pd.DataFrame) -> list[str]:
        """Make missing, in columns of numbers, what equals a number of --na, and give statements that do the same."""
        statements = []
        for value in self.scan.dialect.missing_numbers.values():
            for name in [name for name in frame if name != self.id_name and holds_numbers(frame[name])]:
                if (hit := (frame[name] == value).fillna(False).astype(bool)).any():
                    frame[name] = (frame[name].convert_dtypes() if is_large(frame[name]) else frame[name]).mask(hit)
                    statements.append(f"table[{name!r}] = table[{name!r}].mask(table[{name!r}] == {value!r})")
        return statements

    def _note_same_numbers(self, column: pd.Series[Any], console: Console) -> None:
        """Say which word of a column of text equals a number of --na and is a value all the same."""
        words: dict[Any, str] = {number: word for word, number in reversed(self.scan.dialect.missing_numbers.items())}
        for text in column.dropna().unique() if words else ():
            if (word := words.get(self.scan.dialect.value_of(text))) is not None:
                console.note(
                    f"--na {word}: {text!r} in column {column.name!r} is the same number and stays, because text is "
                    f"compared letter by letter; --na {text} makes it missing too."
                )
                return

    def _read_numbers(self, cells: list[str], name: str) -> Any:
        """Read cells as numbers; whole numbers beyond 64 bits stay text."""
        import pandas as pd

        gaps = {"", *self.scan.dialect.missing_texts}
        texts = [None if cell.strip(" \t") in gaps else cell.strip(" \t") for cell in cells]
        for sign, plain in ((self.scan.dialect.thousands, ""), (self.scan.dialect.decimal, ".")):
            if sign not in (None, plain):
                texts = [text and text.replace(sign, plain) for text in texts]
        known = [text for text in texts if text is not None]
        if not known or not all(map(WHOLE.fullmatch, known)):
            return pd.Series([math.nan if text is None else float(text) for text in texts], name=name, dtype=float)
        whole = [None if text is None else int(text) for text in texts]
        low, high = min(map(int, known)), max(map(int, known))
        kind = "Int64" if -(2**63) <= low <= high < 2**63 else "UInt64" if 0 <= low <= high < 2**64 else None
        if kind is None:
            written = [text and cell for text, cell in zip(texts, cells, strict=True)]
            return pd.Series(written, name=name, dtype=object)
        found = pd.Series(whole, name=name, dtype=kind)
        if found.notna().all():
            return found.astype(np.dtype(kind.lower()))
        return found if max(-low, high) >= EXACT else found.astype(float)

    def _code(self, frame: pd.DataFrame, columns: dict[str, Cells]) -> str:
        """Write the call of pandas that reads the same table."""
        import pandas as pd

        scan = self.scan
        options = code_of_dialect(self.scan.dialect, scan.source)
        if not self.scan.dialect.header:
            options |= {"header": None, "names": list(scan.names)}
        elif scan.row_names:
            options["index_col"] = 0
        elif len(scan.columns) > len(scan.names):
            options["index_col"] = False
        padded = set().union(*(column.padded for column in columns.values()))
        options |= {"keep_default_na": False, "na_values": ["", *self.scan.dialect.missing_texts, *sorted(padded)]}
        kinds = {name: "str" for name in scan.names if name in self.as_text}
        for name, column in columns.items():
            if isinstance(frame[name].dtype, pd.Int64Dtype | pd.UInt64Dtype):
                kinds[name] = str(frame[name].dtype)
            elif column.numeric and not holds_numbers(frame[name]):  # beyond 64 bits
                kinds[name] = "str"
        if kinds:
            options["dtype"] = kinds
        words = "".join(f", {key}={value!r}" for key, value in options.items())
        return f"table = pd.read_csv({scan.source.code}{words})"


def is_large(column: pd.Series[Any]) -> bool:
    """Tell whether a column of whole numbers has some that floating-point numbers would round."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or not column.notna().any():
        return False
    return int(column.max()) >= EXACT or int(column.min()) <= -EXACT


def code_of_dialect(dialect: Dialect, source: Source) -> dict[str, Any]:
    """Collect the arguments of `pandas.read_csv` that say how a file is written."""
    encoding = dialect.encoding or source.encoding
    usual = {"sep": ",", "decimal": ".", "thousands": None, "comment": None, "encoding": "utf-8-sig"}  # found by pandas
    own = (dialect.delimiter, dialect.decimal or ".", dialect.thousands, dialect.comment, encoding)
    return {key: value for (key, plain), value in zip(usual.items(), own, strict=True) if value != plain}


def twice_spelled(words: Collection[str]) -> bool:
    """Tell whether words are truth values, and one of these has several spellings, such as TRUE and True."""
    lower = [word.lower() for word in set(words)]
    if not all(word in MEANINGS for word in lower) or set(lower) <= {"0", "1"}:
        return False
    return len({MEANINGS[word] for word in lower}) < len(lower)


def _unless_counted(names: pd.Series[Any]) -> pd.Series[Any] | None:
    """Keep names of rows, but not those that only count the rows from 0 or 1."""
    return None if any((names == (names.index + first).astype(str)).all() for first in (0, 1)) else names


def _with_categories(table: FileTable, categories: Sequence[str]) -> FileTable:
    """Make some columns text, whatever they hold; text is what categories are made of."""
    frame = table.frame.copy(deep=False)
    code = []
    for name in categories:
        if name not in frame.columns:
            hint = list_names(name, list(frame.columns))
            raise BadInputError(f"{table.file}: no column {name!r} for --category.{hint}")
        if table.source is None:
            frame[name] = frame[name].map(str, na_action="ignore")
            code.append(f"table[{name!r}] = table[{name!r}].map(str, na_action='ignore')")
    return replace(table.having(frame, *code), categories=frozenset(categories))


@dataclass(frozen=True, eq=False)
class RowRanges:
    """Rows by number, such as 1:100,205,300: (the last open at the end)."""

    text: str
    ranges: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, text: str) -> RowRanges:
        """Read numbers and ranges, counted from 1."""
        ranges = []
        for part in text.split(","):
            match = re.fullmatch(r"\s*(\d*)\s*(:?)\s*(\d*)\s*", part)
            if match is None or not (match[1] or match[3]) or (match[3] and not match[2]):
                raise BadInputError(f"--rows must be numbers and ranges such as 1:100,205,300:, got {part.strip()!r}.")
            first = int(match[1] or 1)
            ranges.append((first, float(match[3] or math.inf) if match[2] else first))
        return cls(text, tuple(ranges))

    def taken(self, begin: int, end: int) -> BoolArray:
        """Tell which of the rows from `begin` up to `end`, counted from 0, are taken."""
        numbers = np.arange(begin, end)[:, None] + 1
        low, high = np.array(self.ranges).T
        taken: BoolArray = ((low <= numbers) & (numbers <= high)).any(axis=1)
        return taken

    def within(self, n: int) -> BoolArray:
        """Tell which of n rows are taken, where all of these are rows of the table."""
        for part, (first, last) in zip(self.text.split(","), self.ranges, strict=True):
            if not 1 <= first <= min(last, n) or n < last < math.inf:
                raise BadInputError(f"--rows must lie in 1:{n}, the first before the last, got {part.strip()!r}.")
        return self.taken(0, n)


def _taking(rows: RowRanges | None, kept: IntArray) -> list[str]:
    """Write the statement that takes rows, if there is one to be written."""
    if rows is None:
        return []
    whole = kept[-1] - kept[0] + 1 == kept.size
    return [f"table = table.iloc[{f'{kept[0]}:{kept[-1] + 1}' if whole else kept.tolist()}]"]
