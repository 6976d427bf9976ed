"""Tables and matrices from files or standard input, whatever dialect of CSV they are written in."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray
from energystats.cli.console import Console
from energystats.cli.csv_scan import Points, line_of, scan
from energystats.cli.csv_table import EXACT, read_content
from energystats.cli.dialects import SEPARATORS, Dialect, check_words, detected, doubt_of
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.sources import Source, readable
from energystats.inputs.names import near_names

if TYPE_CHECKING:
    import pandas as pd

    from energystats.inputs.matrix_files import MatrixFile

__all__ = ["FileTable", "read_matrix", "read_table"]


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

    def where(self, row: int) -> str:
        """'row 17 (line 18)': counted from 1 below the header, and the line of the file it begins in."""
        line = None if self.source is None else line_of(self.source, self.dialect, row)
        return f"row {row + 1}" + ("" if line is None else f" (line {line})")

    @property
    def numbered_names(self) -> bool:
        """Whether a line of numbers, but for columns of text, was taken for the names of the columns."""
        from pandas.api.types import is_numeric_dtype

        if self.source is None or not self.dialect.header:
            return False
        names = [name for name in self.frame.columns if is_numeric_dtype(self.frame[name])]
        return bool(names) and all(self.dialect.value_of(name) is not None for name in names)

    @property
    def sep_hint(self) -> str:
        """A question about --sep where the only column has the name of several."""
        names = list(map(str, self.frame.columns))
        others = [word for sep, word in SEPARATORS.items() if len(names) == 1 and sep in names[0] and sep != " "]
        if self.source is None or not others:
            return ""
        return f" With --sep {self.dialect.looks!r} there is one column only; are they separated by {others[0]}?"

    def having(self, frame: pd.DataFrame, *code: str) -> FileTable:
        """The same table with other rows or columns."""
        return replace(self, frame=frame, code=(*self.code, *code))


def read_table(
    file: str,
    given: Dialect,
    console: Console,
    *,
    as_text: str | None = None,
    categories: Sequence[str] = (),
    rows: str | None = None,
    id_name: str | None = None,
) -> FileTable:
    """Rows of a CSV or Parquet file, all of them when `rows` is None.

    The column `as_text` and those of `categories` stay text, so that 01 and 1 are two.
    """
    source = Source.of(file, given.limit)
    texts = (*categories, *([] if as_text is None else [as_text]))
    table = (
        _from_parquet(source, rows, id_name)
        if source.parquet
        else _from_csv(source, given, console, texts, rows, id_name)
    )
    return _with_categories(table, categories)


def _from_parquet(source: Source, rows: str | None, id_name: str | None) -> FileTable:
    """Read the table of a Parquet file; its index may have the name that --id gives."""
    import pandas as pd

    shown = "sys.stdin.buffer" if source.content is not None else repr(source.name)
    code = [f"table = pd.read_parquet({shown})"]
    with readable(source.name), source.open() as content:
        stored = io.BytesIO(content.read())
        _check_names(_stored_types(stored), source.name)
        frame = pd.read_parquet(stored)
        for name in _rounded_columns(frame, stored):
            whole = pd.read_parquet(stored, columns=[name], dtype_backend="numpy_nullable")[name]
            frame[name] = whole.array
            code.append(f"table[{name!r}] = pd.read_parquet({shown}, dtype_backend='numpy_nullable')[{name!r}].array")
    if frame.empty:
        raise BadInputError(f"{source.name}: the table has no rows.")
    names = None
    if id_name is not None and id_name in frame.index.names and id_name not in frame.columns:
        frame = frame.reset_index()
        code.append("table = table.reset_index()")
    if not isinstance(frame.index, pd.RangeIndex):
        names = [str(name) for name in frame.index]
        frame = frame.reset_index(drop=True)
        code.append("table = table.reset_index(drop=True)")
    if not all(isinstance(c, str) for c in frame.columns):
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        code.append("table.columns = table.columns.map(str)")
    _check_names([(name, "") for name in frame.columns], source.name)
    n_read = len(frame)
    row_names = None if names is None else _named_rows(pd.Series(names, dtype=object), n_read)
    ids = frame[id_name].map(str, na_action="ignore").fillna("") if id_name in frame.columns else None
    if rows is not None:
        kept, statement = _rows_taken(rows, n_read)
        frame = frame[kept]
        code.append(statement)
    return FileTable(file=source.name, frame=frame, code=tuple(code), n_read=n_read, row_names=row_names, ids=ids)


def _stored_types(stored: io.BytesIO) -> list[tuple[str, str]]:
    """Name and type of every column of a Parquet file."""
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
    source: Source,
    given: Dialect,
    console: Console,
    texts: Sequence[str],
    rows: str | None,
    id_name: str | None = None,
) -> FileTable:
    """The table of a CSV file: its dialect, its shape, and then its cells."""
    import pandas as pd

    head, cut = _head_of(source, given)
    if not head.strip():
        raise BadInputError(f"{source.name}: the file is empty.")
    with bad_input(source.name):
        dialect = detected(head, given, console, cut=cut)
        check_words(dialect)
    with readable(source.name):
        shape, marked = scan(source, dialect, head, sure=given.decimal is not None)
    kept, statement = None, ""
    if rows is not None:
        kept, statement = _rows_taken(rows, shape.n_rows)
    content = read_content(source, dialect, shape, marked=marked, as_text=texts, id_name=id_name, kept=kept)
    for text in content.notes:
        console.note(text)
    code = list(content.code)
    row_names = None
    if content.row_names is not None:
        row_names = pd.Series(content.row_names, index=content.frame.index, dtype=object)
        row_names = _named_rows(row_names, shape.n_rows)
        if row_names is not None:
            console.note("the first column has no name of its own and was taken for the names of the rows.")
        code.insert(1, "table = table.reset_index(drop=True)")
    if statement:
        code.append(statement)
    table = FileTable(
        file=source.name,
        frame=content.frame,
        code=tuple(code),
        dialect=dialect,
        source=source,
        n_read=shape.n_rows,
        row_names=row_names,
        ids=None if content.ids is None else pd.Series(content.ids, index=content.frame.index, dtype=object),
        quoted=frozenset(shape.names[j] for j in shape.quoted),
    )
    _say_quoted_numbers(table, texts, console)
    if table.numbered_names:
        shown = ", ".join(map(repr, list(table.frame.columns)[:5]))
        console.note(f"the first line was taken for names of columns, {shown}; --no-header, if it is data.")
    return table


def _head_of(source: Source, given: Dialect) -> tuple[str, bool]:
    """The beginning of the text, and whether there is more."""
    with readable(source.name):
        blocks = list(islice(source.blocks(given.encoding), 2))
    return (blocks[0] if blocks else ""), len(blocks) > 1


def _named_rows(names: pd.Series[Any], n: int) -> pd.Series[Any] | None:
    """Names of rows, or None where they only count the rows from 0 or 1."""
    counts = [names.index.astype(str) == names, (names.index + 1).astype(str) == names]
    return None if any(bool(np.all(count)) for count in counts) and n else names


def _say_quoted_numbers(table: FileTable, texts: Sequence[str], console: Console) -> None:
    """Say that codes in quotes were taken for numbers, as R takes them."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    columns = [
        name
        for name in table.frame.columns
        if name in table.quoted
        and name not in texts
        and is_numeric_dtype(table.frame[name])
        and not is_bool_dtype(table.frame[name])
    ]
    if columns:
        console.note(
            f"numbers in quotes were read as numbers: {', '.join(columns)}; --category makes categories of them."
        )


def _with_categories(table: FileTable, categories: Sequence[str]) -> FileTable:
    """The table with some columns as text, whatever they hold; text is what categories are made of."""
    frame = table.frame.copy(deep=False)
    code = []
    for name in categories:
        if name not in frame.columns:
            hint = near_names(name, list(frame.columns)) or " Columns: " + ", ".join(frame.columns) + "."
            raise BadInputError(f"{table.file}: no column {name!r} for --category.{hint}")
        if table.source is None:
            frame[name] = frame[name].map(str, na_action="ignore")
            code.append(f"table[{name!r}] = table[{name!r}].map(str, na_action='ignore')")
    return replace(table.having(frame, *code), categories=frozenset(categories))


def _rows_taken(ranges: str, n: int) -> tuple[BoolArray, str]:
    """Rows by number, such as 1:100,205,300: (the last open at the end), both ends included, and the statement."""
    taken = np.zeros(n, dtype=bool)
    for part in ranges.split(","):
        match = re.fullmatch(r"\s*(\d*)\s*(:?)\s*(\d*)\s*", part)
        if match is None or not (match[1] or match[3]) or (match[3] and not match[2]):
            raise BadInputError(f"--rows must be numbers and ranges such as 1:100,205,300:, got {part.strip()!r}.")
        first = int(match[1] or 1)
        last = int(match[3] or n) if match[2] else first
        if not 1 <= first <= last or last > n:
            raise BadInputError(f"--rows must lie in 1:{n}, the first before the last, got {part.strip()!r}.")
        taken[first - 1 : last] = True
    numbers = np.flatnonzero(taken)
    whole = numbers[-1] - numbers[0] + 1 == numbers.size
    code = f"{numbers[0]}:{numbers[-1] + 1}" if whole else repr(numbers.tolist())
    return taken, f"table = table.iloc[{code}]"


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
            cells = cells_of_text(text, dialect.looks, comment=dialect.comment)
        if dialect.thousands is not None or dialect.decimal != ".":
            cells = [[dialect.plain(cell) for cell in row] for row in cells]
    if names is not None:
        cells = _with_names_first(cells, names, source.name)
    with bad_input(source.name):
        matrix = parse_cells(cells)
    if dialect.points_may_part and given.decimal is None:
        # all entries are in one unit, so that one of them tells of all what a point is
        points, left = Points(missing=dialect.words), int(matrix.layout == "both")
        for cell in chain.from_iterable(row[left:] for row in cells[int(matrix.layout != "none") :]):
            points.look([cell])
        if (doubt := points.doubt()) is not None:
            raise BadInputError(f"{source.name}: {doubt_of(doubt[1])}.")
    matrix = replace(matrix, sep=dialect.looks, decimal=dialect.decimal or ".")
    return matrix, _matrix_code(matrix, file, source, dialect)


def _with_names_first(cells: list[list[str]], names: str, file: str) -> list[list[str]]:
    """The cells of a matrix with one column moved to the front."""
    header = cells[0] if cells else []
    if names not in header:
        hint = near_names(names, header) or " Columns: " + ", ".join(header) + "."
        raise BadInputError(f"{file}: no column {names!r}.{hint}")
    j = header.index(names)
    return [row[j : j + 1] + row[:j] + row[j + 1 :] for row in cells]


def _matrix_code(matrix: MatrixFile, file: str, source: Source, dialect: Dialect) -> str:
    """A statement that makes a square frame of the same numbers."""
    shown = "sys.stdin" if file == "-" else repr(file)
    if source.parquet:
        frame = f"pd.read_parquet({'sys.stdin.buffer' if file == '-' else shown})"
        return f"X = {frame}.select_dtypes('number')"
    words = [] if dialect.thousands is None else [f"thousands={dialect.thousands!r}"]
    words += [] if dialect.looks == "," else [f"sep={dialect.sep!r}"]
    words += [f"decimal={dialect.decimal!r}"] if dialect.decimal == "," else []
    words += [f"comment={dialect.comment!r}"] if dialect.comment else []
    encoding = dialect.encoding or source.encoding
    words += [f"encoding={encoding!r}"] if encoding != "utf-8-sig" else []
    words += ["header=None"] if matrix.layout == "none" else []
    words += ["index_col=0"] if len(matrix.header) == len(matrix.distances) + 1 else []
    return f"X = pd.read_csv({', '.join([shown, *words])}).to_numpy(dtype=float)"
