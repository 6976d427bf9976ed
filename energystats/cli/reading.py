"""Tables and matrices from files or standard input, whatever dialect of CSV they are written in."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray, IntArray
from energystats.cli.console import Console
from energystats.cli.csv_scan import DecimalPoints, Scan, line_of
from energystats.cli.csv_table import EXACT, CsvReader, code_of_dialect
from energystats.cli.dialects import SEPARATORS, Dialect, check_words, detected, doubt_of
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.sources import Source, readable
from energystats.inputs.columns import holds_numbers, holds_truths
from energystats.inputs.names import list_names

if TYPE_CHECKING:
    import pandas as pd

    from energystats.inputs.matrix_files import MatrixFile

__all__ = ["FileTable", "RowRanges", "read_matrix", "read_table"]


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
    categories : frozenset of str
        Columns of codes that --category names; they are text here.
    every : mapping of str to Series
        Columns with all rows of the file, whatever rows `frame` has; with --rows only whole numbers of CSV.
    without_order : frozenset of str
        Columns declared as ordered categories, of which Parquet has not kept the order.
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
    categories: frozenset[str] = frozenset()
    every: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    without_order: frozenset[str] = frozenset()

    def where(self, row: int) -> str:
        """Name a row as 'row 17 (line 18)': counted from 1 below the header, and the line of the file it begins in."""
        line = None if self.source is None else line_of(self.source, self.dialect, row)
        return f"row {row + 1}" + ("" if line is None else f" (line {line})")

    @property
    def numbered_names(self) -> bool:
        """Tell whether a line of numbers, but for columns of text, was taken for the names of the columns."""
        if self.source is None or not self.dialect.header:
            return False
        names = [
            name for name in map(str, self.frame) if holds_numbers(self.frame[name]) or holds_truths(self.frame[name])
        ]
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
    if source.parquet:
        table = _from_parquet(source, texts, rows, id_name)
    else:
        table = _from_csv(source, given, console, texts, rows, id_name)
    return _with_categories(table, categories)


def _from_parquet(source: Source, texts: Sequence[str], rows: RowRanges | None, id_name: str | None) -> FileTable:
    """Read the table of a Parquet file; its index may have the name that --id gives."""
    import pandas as pd

    shown, row_names = source.code.replace("sys.stdin", "sys.stdin.buffer"), None
    code = [f"table = pd.read_parquet({shown})"]
    with readable(source.name), source.open() as content:
        stored = io.BytesIO(content.read())
        _check_names(_stored_types(stored), source.name)
        frame = pd.read_parquet(stored)
        for name in _rounded_columns(frame, stored):
            whole = pd.read_parquet(stored, columns=[name], dtype_backend="numpy_nullable")[name]
            frame[name] = whole.array
            code.append(f"table[{name!r}] = pd.read_parquet({shown}, dtype_backend='numpy_nullable')[{name!r}].array")
        frame, lost, statements = _restore_types(frame, stored, (*texts, id_name))
        code += statements
    if frame.empty:
        raise BadInputError(f"{source.name}: the table has no rows.")
    if not isinstance(frame.index, pd.RangeIndex):
        drop = id_name not in frame.index.names or id_name in frame.columns
        row_names = _unless_counted(pd.Series([str(name) for name in frame.index], dtype=object)) if drop else None
        frame = frame.reset_index(drop=drop)
        code.append(f"table = table.reset_index({'drop=True' if drop else ''})")
    if not all(isinstance(c, str) for c in frame.columns):
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        code.append("table.columns = table.columns.map(str)")
    _check_names([(name, "") for name in frame.columns], source.name)
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
    )


def _restore_types(
    frame: pd.DataFrame, stored: io.BytesIO, labels: Sequence[str | None]
) -> tuple[pd.DataFrame, dict[str, bool], list[str]]:
    """Make categories, whole numbers and text of columns for which pandas gives something else.

    These are categories that are numbers, labels of whole numbers with gaps (1.0 for 1), and text stored as bytes.
    """
    import pyarrow.parquet as pq

    from energystats.pairs.parquet import find_lost_categories

    lost = {name: ordered for name, ordered in find_lost_categories(pq.ParquetFile(stored)).items() if name in frame}
    stored.seek(0)
    kinds = dict(_stored_types(stored))
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


def _stored_types(stored: io.BytesIO) -> list[tuple[str, str]]:
    """List name and type of every column of a Parquet file."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(stored)
    stored.seek(0)
    return [(field.name, str(field.type)) for field in schema]


def _check_names(types: Sequence[tuple[str, str]], file: str) -> None:
    """Refuse columns of one name."""
    names = [name for name, _ in types]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInputError(f"{file}: every column needs a name of its own, but {twice[0]!r} is the name of several.")


def _rounded_columns(frame: pd.DataFrame, stored: io.BytesIO) -> list[str]:
    """Find columns of whole numbers with gaps, of which pandas has made floating-point numbers and rounded some."""
    types = _stored_types(stored)
    whole = [name for name, kind in types if kind in ("int64", "uint64") and name in frame.columns]
    return [n for n in whole if frame[n].dtype.kind == "f" and bool((frame[n].abs() >= EXACT).any())]


def _from_csv(
    source: Source, given: Dialect, console: Console, texts: Sequence[str], rows: RowRanges | None, id_name: str | None
) -> FileTable:
    """Read the table of a CSV file: its dialect, its shape, and then its cells."""
    import pandas as pd

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
    frame, row_names, ids, code, notes, quoted = CsvReader(
        scan=scan, dialect=dialect, rows=kept, as_text=texts, id_name=id_name
    ).read()
    if row_names is not None:
        code.insert(1, "table = table.reset_index(drop=True)")
        row_names = _unless_counted(row_names)
        if row_names is not None:
            notes.append("the first column has no name of its own and was taken for the names of the rows.")
    every = {str(name): column for name, column in frame.items()}
    if rows is not None:
        scanned = zip(scan.names, scan.columns[int(scan.row_names) :], strict=False)
        every = {name: pd.Series(column.whole, name=name) for name, column in scanned if column.whole}
    table = FileTable(
        file=source.name,
        frame=frame,
        code=(*code, *_taking(rows, kept)),
        dialect=dialect,
        source=source,
        n_read=scan.n_rows,
        row_names=row_names,
        ids=ids,
        quoted=quoted,
        every=every,
    )
    columns = [name for name in frame if name in table.quoted and name not in texts and holds_numbers(frame[name])]
    if columns:
        notes.append(
            f"numbers in quotes were read as numbers: {', '.join(columns)}; --category makes categories of them."
        )
    if table.numbered_names:
        shown = ", ".join(map(repr, list(frame.columns)[:5]))
        notes.append(f"the first line was taken for names of columns, {shown}; --no-header, if it is data.")
    for text in notes:
        console.note(text)
    return table


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


def read_matrix(file: str, given: Dialect, console: Console, *, names: str | None = None) -> tuple[MatrixFile, str]:
    """Read the square matrix of a CSV or Parquet file, with its names, and give a statement that reads it again.

    With `names`, the column of this name has the names of the rows, as the first one has otherwise.
    """
    import pandas as pd

    from energystats.inputs.matrix_files import cells_of_frame, cells_of_text, parse_cells

    source = Source.of(file, given.limit)
    dialect, cells = given, []
    if source.parquet:
        with readable(source.name), source.open() as content:
            cells = cells_of_frame(pd.read_parquet(io.BytesIO(content.read())))
    elif (text := source.text(given.encoding)).strip():
        with bad_input(source.name):
            dialect = detected(text, given, console)
        with readable(source.name):
            cells = cells_of_text(text, dialect.delimiter, comment=dialect.comment)
        if dialect.thousands is not None or dialect.decimal != ".":
            cells = [[dialect.plain(cell) for cell in row] for row in cells]
    if names is not None:
        cells = _with_names_first(cells, names, source.name)
    with bad_input(source.name):
        matrix = parse_cells(cells)
    if dialect.points_may_part and given.decimal is None:
        # all entries are in one unit, so that one of them tells of all what a point is
        points, left = DecimalPoints(dialect.words), int(matrix.layout == "both")
        for row in cells[int(matrix.layout != "none") :]:
            points.look(0, row[left:])
        if (doubt := points.doubt()) is not None:
            raise BadInputError(f"{source.name}: {doubt_of(doubt[1])}.")
    matrix = replace(matrix, sep=dialect.delimiter, decimal=dialect.decimal or ".")
    return matrix, _matrix_code(matrix, source, dialect)


def _with_names_first(cells: list[list[str]], names: str, file: str) -> list[list[str]]:
    """Move one column of the cells of a matrix to the front."""
    header = cells[0] if cells else []
    if names not in header:
        hint = list_names(names, header)
        raise BadInputError(f"{file}: no column {names!r}.{hint}")
    j = header.index(names)
    return [row[j : j + 1] + row[:j] + row[j + 1 :] for row in cells]


def _matrix_code(matrix: MatrixFile, source: Source, dialect: Dialect) -> str:
    """Write the statement that makes a square frame of the same numbers."""
    if source.parquet:
        stream = source.code.replace("sys.stdin", "sys.stdin.buffer")
        return f"X = pd.read_parquet({stream}).select_dtypes('number')"
    words = [f"{key}={value!r}" for key, value in code_of_dialect(dialect, source).items()]
    words += ["header=None"] if matrix.layout == "none" else []
    words += ["index_col=0"] if len(matrix.header) == len(matrix.distances) + 1 else []
    return f"X = pd.read_csv({', '.join([source.code, *words])}).to_numpy(dtype=float)"
