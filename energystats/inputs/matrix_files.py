"""Square matrices of dissimilarities in files: with names in the first row and column, in the first row, or without.

Which of them it is follows from the shape, so that years and other numbers can be names.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Literal

import numpy as np

from energystats._typing import FloatArray
from energystats.inputs.matrices import as_distances
from energystats.inputs.names import Places

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MatrixFile", "cells_of_frame", "cells_of_text", "parse_cells"]


MISSING = {"", "na", "nan", "n/a", "null", "none"}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixFile:
    """Hold a square matrix of dissimilarities read from a file, and the layout of the file."""

    distances: FloatArray  # (n, n) symmetric, finite, not negative, zero on the diagonal
    names: tuple[str, ...] | None  # names of the items; those of the columns where rows are only numbered
    layout: Literal["both", "header", "none"]  # names in the first row and column, in the first row only, or nowhere
    # header, stubs: the first row and the first column as they stood, the corner in `header`; empty where there are
    # none
    header: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    # sep, decimal: what separates the columns, and the decimal sign
    sep: str = ","
    decimal: str = "."
    shows_decimals: bool = False  # whether an entry of the file has the decimal sign
    file: str = ""  # name of the file in messages; empty where it has none

    @property
    def frame(self) -> pd.DataFrame:
        """Return the dissimilarities of a file as a data frame with item names, or numbers from 0."""
        import pandas as pd

        return pd.DataFrame(self.distances, self.names, self.names)

    def describe(self) -> str:
        """Describe the size of a matrix and the layout of its file in words."""
        n = len(self.distances)
        where = {"both": "names in the first row and column", "header": "names in the first row", "none": "no names"}
        return f"{n} x {n} dissimilarities, {where[self.layout]}"

    def write(self, path: Path, matrix: FloatArray) -> None:
        """Write a matrix to a file in the layout of this matrix file, with 17 digits, so that floats are exact."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=self.sep, lineterminator="\n")
            if self.header:
                writer.writerow(self.header)
            for i, row in enumerate(matrix.tolist()):
                cells = (format(value, ".17g").replace(".", self.decimal) for value in row)
                writer.writerow([*self.stubs[i : i + 1], *cells])


class _FilePlaces(Places):
    """Describe entries of a matrix in messages by line and column of its file, counted from 1, and by name."""

    def __init__(self, names: Sequence[str] | None, lines: Sequence[int], left: int) -> None:
        super().__init__(names)
        self.lines, self.left = lines, left

    def item(self, i: int) -> str:
        """Return the name of row i of a matrix file, or "line ..." if it has none."""
        return f"line {self.lines[i]}" if self.names is None else self.names[i]

    def entry(self, i: int, j: int) -> str:
        """Return line and column of a matrix entry in its file, with names if there are any, as text."""
        where = f"at line {self.lines[i]}, column {j + 1 + self.left}"
        return where + ("" if self.names is None else f" ({self.names[i]} to {self.names[j]})")


def cells_of_text(text: str, sep: str = ",", *, comment: str | None = None) -> tuple[list[list[str]], list[int]]:
    """Split delimited text into rows of cells, and return them with the line, from 1, in which each row begins.

    What follows the sign of a comment, outside quotes, is left out, and so are empty lines at the end.
    """
    if comment is not None:
        text = re.sub(rf'("(?:[^"]|"")*")|{re.escape(comment)}[^\r\n]*', lambda found: found[1] or "", text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    cells, lines, before = [], [], 0
    for row in reader:
        if comment is None or any(cell.strip() for cell in row):  # else a line that was a comment
            cells.append([cell.strip() for cell in row])
            lines.append(before + 1)
        before = reader.line_num
    while cells and not any(cells[-1]):
        cells.pop()
    return cells, lines[: len(cells)]


def cells_of_frame(frame: pd.DataFrame) -> list[list[str]]:
    """Convert a data frame to rows of text cells; an index other than a plain count becomes the first column."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
        frame.columns = pd.Index(["", *map(str, frame.columns[1:])])
    rows = frame.astype(object).to_numpy().tolist()
    return [list(map(str, frame.columns)), *(["" if pd.isna(v) else str(v) for v in row] for row in rows)]


def _read_number(cell: str) -> float | None:
    """Convert a text cell to a float; None if it is not a number."""
    return float(cell) if NUMBER.fullmatch(cell) else None


def parse_cells(
    cells: list[list[str]],
    read: Callable[[str], float | None] = _read_number,
    *,
    lines: Sequence[int] | None = None,
    dtype: str = "float64",
) -> MatrixFile:
    """Convert text cells of a file to a checked dissimilarity matrix with item names and the layout of the file.

    `read` reads a cell as a number in the signs of the file, None where it is none; names stay as they are written.
    `lines` are those of the rows in the file, 1, 2, ... when None; `dtype` says how the file's numbers were rounded.
    """
    lines = range(1, len(cells) + 1) if lines is None else lines
    layout = _layout_of(cells, read, lines)
    # a header that is one cell short belongs to the columns behind the first
    if layout != "none" and len(cells[0]) == len(cells[-1]) - 1:  # R's write.table has no corner
        cells = [["", *cells[0]], *cells[1:]]
        header: tuple[str, ...] = tuple(cells[0][1:])
    else:
        header = tuple(cells[0]) if layout != "none" else ()
    top, left = int(layout != "none"), int(layout == "both")
    columns = tuple(cells[0][left:]) if top else None
    stubs = tuple(row[0] for row in cells[top:]) if left else ()
    names = _find_item_names(columns, stubs, layout, lines)
    places = _FilePlaces(names, lines[top:], left)
    body = [row[left:] for row in cells[top:]]
    matrix = np.array([[_as_number(c, read, places, i, j) for j, c in enumerate(row)] for i, row in enumerate(body)])
    return MatrixFile(
        distances=_checked(matrix.astype(dtype), places), names=names, layout=layout, header=header, stubs=stubs
    )


def _layout_of(
    cells: list[list[str]], read: Callable[[str], float | None], lines: Sequence[int]
) -> Literal["both", "header", "none"]:
    """Find where a matrix file has item names: in "both" rows and columns, the "header", or "none"."""
    if not cells:
        raise ValueError("the file is empty.")
    widths = [len(row) for row in cells]
    m, width = len(cells), mode(widths)
    corner_missing = set(widths[1:]) == {m} and widths[0] == m - 1
    odd = next((i for i, w in enumerate(widths) if w != width), None)
    if odd is not None and not corner_missing:
        raise ValueError(
            f"lines must have the same number of cells, but line {lines[odd]} has {widths[odd]} and others have "
            f"{width}."
        )
    if corner_missing:
        return "both"
    if m == width + 1:
        return "header"
    if m != width:
        if width == 1 and any(len(row[0].split()) > 1 for row in cells):
            raise ValueError("the matrix must be square, got one column of several numbers with blanks; --sep space?")
        raise ValueError(
            f"the matrix must be square, got {m} lines of {width} cells; n x n numbers, a line of n names above them, "
            "and a column of n names beside them are understood."
        )
    # as many lines as cells: names stand in both the first row and the first column, or nowhere
    first = [*cells[0], *(row[0] for row in cells)]
    if all(_may_be_number(cell, read) for cell in first) or m == 1:
        return "none"
    if read(cells[0][0]) is None or (m > 2 and not any(_may_be_number(cell, read) for cell in cells[0][1:])):
        return "both"
    return "none"  # a cell that is no number; `_as_number` says which


def _may_be_number(cell: str, read: Callable[[str], float | None]) -> bool:
    """Return whether a text cell is a number or a word for a missing value; an empty cell is neither."""
    return read(cell) is not None or (cell.lower() in MISSING and cell != "")


def _as_number(cell: str, read: Callable[[str], float | None], places: Places, i: int, j: int) -> float:
    """Convert a text cell of a matrix to a float, NaN if missing; raise ValueError if it is no number."""
    if (number := read(cell)) is not None:
        return number
    if cell.lower() in MISSING:
        return float("nan")
    hint = ""
    if read is not _read_number and NUMBER.fullmatch(cell):
        hint = ", whose decimals or thousands have another sign than those of the file"
    elif NUMBER.fullmatch(cell.replace(",", ".")):
        hint = "; write decimals with a point"
    raise ValueError(f"every cell must be a number, but the one {places.entry(i, j)} holds {cell!r}{hint}.")


def _find_item_names(
    columns: Sequence[str] | None, stubs: Sequence[str], layout: str, lines: Sequence[int]
) -> tuple[str, ...] | None:
    """Return the item names of a matrix file from its header and first column; None without a header."""
    if columns is None:
        return None
    counts = [[str(i + first) for i in range(len(columns))] for first in (0, 1)]
    same = set(stubs) == set(columns)  # perhaps in another order
    if layout == "both" and list(stubs) != list(columns) and (same or list(stubs) not in counts):
        if same or list(columns) not in counts:
            differ = next(i for i, (a, b) in enumerate(zip(stubs, columns, strict=True)) if a != b)
            raise ValueError(
                f"rows and columns must have the same names in the same order, but line {lines[differ + 1]} is "
                f"{stubs[differ]!r} and column {differ + 2} is {columns[differ]!r}."
            )
        columns = stubs
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"every item must have a name of its own, but {twice!r} stands there twice.")
    return tuple(columns)


def _checked(matrix: FloatArray, places: _FilePlaces) -> FloatArray:
    """Check the dissimilarities of a file, and return them; errors name line and column."""
    if np.isnan(np.diagonal(matrix)).all():
        raise ValueError(f"the diagonal must be 0, but entry {places.entry(0, 0)} and all others on it are empty.")
    for half, which in ((np.triu_indices(len(matrix), 1), "above"), (np.tril_indices(len(matrix), -1), "below")):
        if half[0].size and np.isnan(matrix[half]).all():
            raise ValueError(f"every cell {which} the diagonal is empty: a triangle; write the whole matrix.")
    try:
        return as_distances(matrix, "the matrix", places)
    except ValueError as error:
        text = str(error).replace("`the matrix`", "the matrix").replace("NaN values", "empty or NaN cells")
        text = text.replace("; (the matrix + the matrix.T)/2 would be, if its rows and columns are in one order", "")
        whole = "one half of it is 0, and the matrix + the matrix.T would be the whole"
        text = text.replace(whole, "one half of it is 0: a triangle; write the whole matrix")
        raise ValueError(text) from error
