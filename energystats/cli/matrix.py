"""Square matrices from files or standard input."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from energystats.cli.console import Console
from energystats.cli.csv_reader import code_of_file
from energystats.cli.csv_scan import DecimalPoints
from energystats.cli.dialects import Dialect, detected, doubt_of
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.sources import Source, readable
from energystats.inputs.names import list_names

if TYPE_CHECKING:
    from energystats.inputs.matrix_files import MatrixFile

__all__ = ["read_matrix"]


def read_matrix(
    file: str, given: Dialect, console: Console, *, names: str | None = None
) -> tuple[MatrixFile, tuple[str, ...]]:
    """Read a square matrix with names from a CSV or Parquet file; return it and pandas statements that read it.

    With `names`, the column of this name has the names of the rows, as the first one has otherwise.
    """
    import pandas as pd

    from energystats.inputs.arrays import COARSER, names_of_dtypes
    from energystats.inputs.matrix_files import cells_of_frame, cells_of_text, parse_cells

    source = Source.of(file, given.limit)
    parquet = source.is_parquet(given.options)
    dialect, cells, lines, text, kind = given, [], None, "", "float64"
    with readable(source.name):
        if parquet:
            with source.open() as content:
                frame = pd.read_parquet(io.BytesIO(content.read()))
            cells, dtypes = cells_of_frame(frame), names_of_dtypes(frame)
            kind = next(iter(dtypes)) if len(dtypes) == 1 and dtypes <= COARSER.keys() else kind
        else:
            text = "".join(source.blocks(given.encoding))
    if text.strip():
        with bad_input(source.name):
            dialect = detected(text, given, console)
        with readable(source.name):
            cells, lines = cells_of_text(text, dialect.delimiter, comment=dialect.comment)
    if names is not None:
        header = cells[0] if cells else []
        if names not in header:
            raise BadInputError(f"{source.name}: no column {names!r}.{list_names(names, header)}")
        if len(header) == len(cells) - 1:
            raise BadInputError(f"{source.name}: --id must name a column beside the matrix, not one of it, {names!r}.")
        j = header.index(names)
        cells = [row[j : j + 1] + row[:j] + row[j + 1 :] for row in cells]
    with bad_input(source.name):
        plain = parquet or (dialect.thousands is None and dialect.decimal in (None, "."))
        signs = {} if plain else {"read": partial(_read_in_signs, dialect)}
        matrix = parse_cells(cells, lines=lines, dtype=kind, **signs)
    sign, left = dialect.decimal or ".", int(matrix.layout == "both")
    entries = [row[left:] for row in cells[int(matrix.layout != "none") :]]
    if dialect.points_may_part and given.decimal is None:
        # all entries are in one unit, so that one of them shows for all what a point is
        points = DecimalPoints(dialect, alone=True)
        for row in entries:
            points.scan(0, row)
        if (doubt := points.doubt()) is not None:
            raise BadInputError(f"{source.name}: {doubt_of(doubt[1])}.")
    shown = any(sign in cell for row in entries for cell in row)
    matrix = replace(matrix, sep=dialect.delimiter, decimal=sign, shows_decimals=shown, file=source.name)
    return matrix, _matrix_code(matrix, source, dialect)


def _read_in_signs(dialect: Dialect, cell: str) -> float | None:
    """Convert a cell with a file's decimal and thousands signs to a float; None if it is no number."""
    return None if dialect.number.fullmatch(cell) is None else float(dialect.plain(cell))


def _matrix_code(matrix: MatrixFile, source: Source, dialect: Dialect) -> tuple[str, ...]:
    """Return statements, as text, that read the same square matrix by pandas."""
    if source.is_parquet(()):
        stream = source.code.replace("sys.stdin", "sys.stdin.buffer")
        return (f"X = pd.read_parquet({stream}).select_dtypes('number')",)
    before, opened, options = code_of_file(dialect, source)
    words = [f"{key}={value!r}" for key, value in options.items()]
    words += ["header=None"] if matrix.layout == "none" else []
    words += ["index_col=0"] if len(matrix.header) == len(matrix.distances) + 1 else []
    return (*before, f"X = pd.read_csv({', '.join([opened, *words])}).to_numpy(dtype=float)")
