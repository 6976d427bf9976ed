"""Tables and matrices from files or standard input, whatever dialect of CSV they are written in."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.validation import near_names

if TYPE_CHECKING:
    import pandas as pd

    from energystats.matrix_files import MatrixFile

__all__ = ["Dialect", "Source", "Table", "read_matrix", "read_table"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
WORDS_FOR = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a]")  # which text does not hold
LINES_LOOKED_AT = 200
NUMBER = r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(\.[0-9]+)?([ \t;][-+0-9. \t;e]*)?"
COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+(e[-+]?\d+)?", re.IGNORECASE)
POINT_NUMBER = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a table is written; None where the file itself shall tell."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    comment: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def looks(self) -> str:
        """The character that separates columns, a comma unless it is known to be another."""
        return self.sep or ","


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """The bytes of an input and what it is called."""

    name: str
    content: bytes

    @property
    def parquet(self) -> bool:
        """Whether it is Parquet, by its first bytes or its name."""
        suffixes = {s.lower() for s in Path(self.name).suffixes}
        return self.content[:4] == b"PAR1" or bool({".parquet", ".pq"} & suffixes)

    @classmethod
    def of(cls, file: str) -> Source:
        """Read a file, or standard input for "-"; gzip is undone."""
        if file == "-":
            content = getattr(sys.stdin, "buffer", sys.stdin).read()
            content = content.encode() if isinstance(content, str) else content
        else:
            path = Path(file)
            if not path.exists():
                raise BadInputError(f"{file}: no such file.")
            if path.is_dir():
                raise BadInputError(f"{file}: is a folder, not a file.")
            try:
                content = path.read_bytes()
            except OSError as error:
                raise BadInputError(f"{file}: cannot be read: {error.strerror or error}.") from error
        name = "standard input" if file == "-" else file
        if content[:2] == b"\x1f\x8b":
            with readable(name):
                content = gzip.decompress(content)
        return cls(name=name, content=content)

    @property
    def encoding(self) -> str:
        """What the first bytes say about the encoding."""
        return "utf-16" if self.content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"

    def text(self, encoding: str | None) -> str:
        """The content as text, without a byte order mark."""
        if self.content[:4] == b"PK\x03\x04":
            raise BadInputError(f"{self.name}: is a workbook or an archive; save the table as CSV.")
        try:
            text = self.content.decode(encoding or self.encoding)
        except LookupError as error:
            raise BadInputError(f"--encoding must be an encoding that Python knows, got {encoding!r}.") from error
        except UnicodeError as error:
            if encoding is None and CONTROL.search(self.content[:4096]):
                raise BadInputError(f"{self.name}: is not text; CSV or Parquet is needed.") from error
            hint = "name its encoding, such as --encoding latin-1" if encoding is None else "another --encoding?"
            raise BadInputError(f"{self.name}: is not {encoding or 'UTF-8'} text; {hint}.") from error
        if "\0" in text:
            raise BadInputError(f"{self.name}: is not text; CSV or Parquet is needed.")
        return text.removeprefix("\ufeff")


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table, where it came from, and the Python lines that read it again.

    Attributes
    ----------
    frame : DataFrame
        Its rows; the index is 0, 1, ... in the order of the file, and stays when rows are left out.
    code : tuple of str
        Statements that make `table`, for the report.
    text : str or None
        Its source, to find the line of a row; None for Parquet.
    """

    file: str
    frame: pd.DataFrame
    code: tuple[str, ...]
    dialect: Dialect = field(default_factory=Dialect)
    text: str | None = None

    def where(self, row: int) -> str:
        """'row 17 (line 18)': counted from 1 below the header, and the line of the file it begins in."""
        line = None if self.text is None else line_of(self.text, row, self.dialect)
        return f"row {row + 1}" + ("" if line is None else f" (line {line})")

    @property
    def sep_hint(self) -> str:
        """A question about --sep where the only column has the name of several."""
        names = list(map(str, self.frame.columns))
        others = [word for sep, word in SEPARATORS.items() if len(names) == 1 and sep in names[0]]
        if self.text is None or not others:
            return ""
        return f" With --sep {self.dialect.looks!r} there is one column only; are they separated by {others[0]}?"

    def having(self, frame: pd.DataFrame, *code: str) -> Table:
        """The same table with other rows or columns."""
        return replace(self, frame=frame, code=(*self.code, *code))


def read_table(file: str, given: Dialect, console: Console, *, as_text: str | None = None) -> Table:
    """Table of a CSV or Parquet file; one column can be kept as text, so that 01 and 1 stay two groups."""
    import pandas as pd

    source = Source.of(file)
    shown = "sys.stdin" if file == "-" else repr(file)
    if source.parquet:
        with readable(source.name):
            frame = pd.read_parquet(io.BytesIO(source.content))
        shown = "sys.stdin.buffer" if file == "-" else shown
        table = Table(file=source.name, frame=frame, code=(f"table = pd.read_parquet({shown})",))
    else:
        text = source.text(given.encoding)
        if not text.strip():
            raise BadInputError(f"{source.name}: the file is empty.")
        dialect = detected(text, given, console)
        options = pandas_options(text, dialect, as_text)
        encoding = given.encoding or source.encoding
        with readable(source.name):
            frame = pd.read_csv(io.BytesIO(source.content), encoding=encoding, low_memory=False, **options)
        if encoding != "utf-8-sig":  # which pandas finds by itself
            options["encoding"] = encoding
        written = "".join(f", {key}={value!r}" for key, value in options.items())
        code = (f"table = pd.read_csv({shown}{written})",)
        table = Table(file=source.name, frame=frame, code=code, dialect=dialect, text=text)
    return checked(table, console)


def checked(table: Table, console: Console) -> Table:
    """Rows, names of columns, and row names that stand in a column without a name."""
    import pandas as pd

    frame, code = table.frame, table.code
    if table.text is not None and table.dialect.header:
        check_header([str(c) for c in frame.columns], table.file)
    if frame.empty:
        raise BadInputError(f"{table.file}: the table has no rows.")
    if not isinstance(frame.index, pd.RangeIndex):
        if table.text is not None:
            console.note("the first column has no name of its own and was taken for the names of the rows.")
        frame, code = frame.reset_index(drop=True), (*code, "table = table.reset_index(drop=True)")
    if not all(isinstance(c, str) for c in frame.columns):
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        code = (*code, "table.columns = table.columns.map(str)")
    return replace(table, frame=frame, code=code)


def detected(text: str, given: Dialect, console: Console) -> Dialect:
    """The dialect with its separator and its decimal sign, as given or as the first lines tell."""
    sep = given.sep if given.sep is None else WORDS_FOR.get(given.sep.lower(), given.sep)
    if sep is not None and len(sep) != 1:
        raise BadInputError(f"--sep must be one character, or tab, space, comma or semicolon, got {given.sep!r}.")
    if given.comment is not None and len(given.comment) != 1:
        raise BadInputError(f"--comment must be one character, got {given.comment!r}.")
    if given.decimal not in (None, ".", ","):
        raise BadInputError(f"--decimal must be . or , got {given.decimal!r}.")
    lines = first_lines(text, given.comment)
    if sep is None and one_column_of_decimal_commas(lines):
        sep = ";"  # which does not occur
    sep = sep or separator_of(lines)
    decimal = given.decimal or ("," if sep != "," and decimal_commas(lines, sep) else ".")
    if sep == decimal:
        raise BadInputError(f"--decimal and --sep must differ, got {sep!r} for both.")
    guessed = []
    if given.sep is None and sep != "," and any(sep in line for line in lines):
        guessed.append(f"columns are separated by {SEPARATORS[sep]}")
    if given.decimal is None and decimal == ",":
        guessed.append("decimals have a comma")
    if guessed:
        console.note(f"{' and '.join(guessed)}; --sep and --decimal say otherwise.")
    return replace(given, sep=sep, decimal=decimal)


def first_lines(text: str, comment: str | None) -> list[str]:
    """Lines at the beginning that hold cells."""
    head = text[: 2**18].splitlines()[: LINES_LOOKED_AT + 50]
    if len(text) > 2**18:
        head = head[:-1] or head
    kept = [line for line in head if line.strip() and not (comment and line.startswith(comment))]
    return kept[:LINES_LOOKED_AT]


def separator_of(lines: Sequence[str]) -> str:
    """The first of , ; tab | that cuts all lines into equally many cells, at least two; else the header's commonest."""
    for sep in SEPARATORS:
        widths = {len(row) for row in cells_of(lines, sep)}
        if min(widths) > 1 and len(widths) == 1:
            return sep
    counts = {sep: lines[0].count(sep) for sep in SEPARATORS}
    return max(counts, key=lambda sep: counts[sep]) if any(counts.values()) else ","


def one_column_of_decimal_commas(lines: Sequence[str]) -> bool:
    """Whether below a single name there are numbers such as 1,5, and not two columns of whole numbers."""
    rest = lines[1:]
    return bool(rest) and not any(sep in lines[0] for sep in SEPARATORS) and all(map(COMMA_NUMBER.fullmatch, rest))


def cells_of(lines: Sequence[str], sep: str) -> list[list[str]]:
    """Cells of lines; a quoted cell may hold the separator."""
    try:
        return [row for row in csv.reader(lines, delimiter=sep) if row] or [[""]]
    except csv.Error:
        return [[""]]


def decimal_commas(lines: Sequence[str], sep: str) -> bool:
    """Whether numbers are written with a comma: some are, and none with a point."""
    cells = [cell.strip() for row in cells_of(lines, sep) for cell in row]
    return any(map(COMMA_NUMBER.fullmatch, cells)) and not any(map(POINT_NUMBER.fullmatch, cells))


def pandas_options(text: str, dialect: Dialect, as_text: str | None) -> dict[str, Any]:
    """Arguments of `pandas.read_csv` that differ from its defaults."""
    options: dict[str, Any] = {}
    if dialect.sep != ",":
        options["sep"] = dialect.sep
    if dialect.decimal != ".":
        options["decimal"] = dialect.decimal
    if dialect.comment is not None:
        options["comment"] = dialect.comment
    if dialect.missing:
        options["na_values"] = list(dialect.missing)
    if as_text is not None:
        options["dtype"] = {as_text: "str"}
    rows = cells_of(first_lines(text, dialect.comment), dialect.looks)
    if not dialect.header:
        options["header"] = None
        options["names"] = [f"V{j + 1}" for j in range(max(map(len, rows)))]
    elif len(rows) > 1 and all(len(row) == len(rows[0]) + 1 and not row[-1].strip() for row in rows[1:]):
        options["index_col"] = False  # a separator at the end of every line, and no column behind it
    return options


def line_of(text: str, row: int, dialect: Dialect) -> int | None:
    """Line of the file in which a row begins, both counted as people do; quoted cells may hold line ends."""
    wanted = row + int(dialect.header)
    before, found = 0, -1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.looks)
    try:
        for cells in reader:
            comment = dialect.comment is not None and bool(cells) and cells[0].startswith(dialect.comment)
            found += int(any(cell.strip() for cell in cells) and not comment)
            if found == wanted:
                return before + 1
            before = reader.line_num
    except csv.Error:
        return None
    return None


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Errors of reading as one line that names the file."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells would be lost
            yield
    except pd.errors.ParserWarning as error:
        raise BadInputError(f"{file}: cannot be read: lines have more cells than the first one has names.") from error
    except pd.errors.EmptyDataError as error:
        raise BadInputError(f"{file}: the file is empty.") from error
    except ImportError as error:
        raise BadInputError(f"{file}: reading Parquet needs pyarrow; `pip install pyarrow`.") from error
    except UnicodeError as error:
        raise BadInputError(f"{file}: is not UTF-8 text; name its encoding, such as --encoding latin-1.") from error
    except (OSError, ValueError, EOFError, csv.Error, zlib.error) as error:  # pandas' parser errors are ValueErrors
        text = str(error).replace("Error tokenizing data. C error: ", "")
        raise BadInputError(f"{file}: cannot be read: {text}") from error


def check_header(names: list[str], file: str) -> None:
    """Complain about a first line that cannot be the names of columns."""
    if all(re.fullmatch(NUMBER, name, re.IGNORECASE) for name in names):
        shown = ", ".join(names[:5])
        raise BadInputError(f"{file}: the first line must name the columns, got {shown}; --no-header: it does not.")


def read_matrix(file: str, given: Dialect, console: Console, *, names: str | None = None) -> tuple[MatrixFile, str]:
    """Square matrix of a CSV or Parquet file, with its names, and a statement that reads its numbers again.

    With `names`, the column of this name has the names of the rows, as the first one has otherwise.
    """
    import pandas as pd

    from energystats.matrix_files import cells_of_frame, cells_of_text, parse_cells

    source = Source.of(file)
    dialect = given
    if source.parquet:
        with readable(source.name):
            cells = cells_of_frame(pd.read_parquet(io.BytesIO(source.content)))
    else:
        text = source.text(given.encoding)
        if text.strip():
            dialect = detected(text, given, console)
            with readable(source.name):
                cells = cells_of_text(text, dialect.looks, decimal=dialect.decimal or ".", comment=dialect.comment)
        else:
            cells = []
    if names is not None:
        cells = with_names_first(cells, names, source.name)
    with bad_input(source.name):
        matrix = parse_cells(cells)
    return matrix, matrix_code(matrix, file, source, dialect)


def with_names_first(cells: list[list[str]], names: str, file: str) -> list[list[str]]:
    """The cells of a matrix with one column moved to the front."""
    header = cells[0] if cells else []
    if names not in header:
        hint = near_names(names, header) or " Columns: " + ", ".join(header) + "."
        raise BadInputError(f"{file}: no column {names!r}.{hint}")
    j = header.index(names)
    return [row[j : j + 1] + row[:j] + row[j + 1 :] for row in cells]


def matrix_code(matrix: MatrixFile, file: str, source: Source, dialect: Dialect) -> str:
    """A statement that makes a square frame of the same numbers."""
    shown = "sys.stdin" if file == "-" else repr(file)
    if source.parquet:
        frame = f"pd.read_parquet({'sys.stdin.buffer' if file == '-' else shown})"
        return f"X = {frame}.select_dtypes('number')"
    words = [] if dialect.looks == "," else [f"sep={dialect.sep!r}"]
    words += [f"decimal={dialect.decimal!r}"] if dialect.decimal == "," else []
    words += [f"comment={dialect.comment!r}"] if dialect.comment else []
    encoding = dialect.encoding or source.encoding
    words += [f"encoding={encoding!r}"] if encoding != "utf-8-sig" else []
    words += ["header=None"] if matrix.layout == "none" else []
    words += ["index_col=0"] if len(matrix.header) == len(matrix.distances) + 1 else []
    return f"X = pd.read_csv({', '.join([shown, *words])}).to_numpy(dtype=float)"
