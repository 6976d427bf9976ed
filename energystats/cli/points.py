"""Points from a file: the rows and columns that the options ask for, fit for the metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray
from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.file_table import FileTable
from energystats.cli.groups import (
    Missing,
    keep_labelled,
    keep_whole_units,
    note_doubts,
    note_quoted_numbers,
    without_blanks,
)
from energystats.cli.options import dialect_of, split_names
from energystats.cli.reading import read_table
from energystats.cli.selection import choose_columns, columns_of_conditions, find_column, keep_rows
from energystats.display.sentences import join_names
from energystats.exceptions import MatrixAsPointsWarning
from energystats.inputs.columns import holds_numbers, holds_truths
from energystats.inputs.places import row_places
from energystats.metrics.domains import looks_like_distances, looks_like_triangle
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve

if TYPE_CHECKING:
    import argparse

    import pandas as pd

__all__ = ["note_if_equal", "read_points"]


def read_points(
    options: argparse.Namespace, console: Console, labels: Mapping[str, tuple[str, str]] | None = None
) -> tuple[FileTable, pd.DataFrame]:
    """Read points from a file, with the rows and columns that options select; return the table and row labels.

    `labels` has columns of labels of the rows, which must be known, as {option: (column, what one of them is)}; they
    are text.
    """
    labels = labels or {}
    mixed = options.metric == "gower"
    table = read_table(
        options.file,
        dialect_of(options),
        console,
        as_text=[column for column, _ in labels.values()],
        categories=options.category,
        rows=options.rows,
        id_name=options.id,
    )
    aside = {option: column for option, (column, _) in labels.items()} | ({"--id": options.id} if options.id else {})
    leave_out = list(aside.values())
    for column in leave_out:
        find_column(table, column)
    of_labels = list(dict.fromkeys(column for column, _ in labels.values()))
    known = list(table.frame.columns)
    named, dropped = (None if text is None else split_names(text, known) for text in (options.columns, options.drop))
    for option, names in (("--columns", named), ("--drop", dropped)):
        if names is not None and (not names or "" in names) and "" not in known:
            given = getattr(options, option[2:])
            raise BadInputError(f"{option} must name columns, with commas between them, got {given!r}.")
    as_read, compared = table, columns_of_conditions(table, options.where)
    if mixed:  # these are the categories
        compared += [c for c in known if (named is None or c in named) and c not in (*leave_out, *(dropped or ()))]
    table = without_blanks(table, [*of_labels, *compared], console)
    # conditions see truth values as the metric does, and words without blanks
    whole = _code_truths(table, options, leave_out)
    table = keep_rows(whole, options.where)
    matrix = options.metric == "precomputed"
    missing = Missing(options.missing == "drop", matrix)
    for column, what in labels.values():
        table = keep_labelled(table, column, what, missing, console)
    for option, column in aside.items():
        if column in (named or ()):
            whose = "the groups" if option == "--group" else option
            raise BadInputError(f"--columns must not name the column of {whose}, {column!r}.")
    how: dict[str, Any] = {"drop": dropped or [], "leave_out": leave_out, "mixed": mixed, "matrix": matrix}
    choice = choose_columns(table, named, console, **how)
    note_quoted_numbers(as_read, list(choice.frame.columns), console)
    if mixed:
        note_doubts(choice, list(choice.frame.columns), console)
    else:
        choice = _drop_incomplete_rows(choice, missing, console)
    if "--paired" in labels:
        of_rows = table.frame.loc[choice.frame.index, [labels["--paired"][0], labels["--group"][0]]]
        choice = keep_whole_units(choice, of_rows, missing, console)
    _check_comparable(whole, choice, options, leave_out)
    if options.coordinates:
        console.ignored.add(MatrixAsPointsWarning)
    rows = "1 row" if len(choice.frame) == 1 else f"{len(choice.frame)} rows"
    names = [name.replace("\n", "\\n").replace("\t", "\\t") for name in choice.frame.columns]
    console.say(f"{rows} of {table.file}, columns {join_names(names)}.")
    return choice, table.frame.loc[choice.frame.index, of_labels]


def _drop_incomplete_rows(table: FileTable, missing: Missing, console: Console) -> FileTable:
    """Drop rows with missing values from a table on request, or else raise BadInputError if there are any."""

    def place(cells: BoolArray) -> tuple[str, Any]:
        row, column = (int(i) for i in np.argwhere(cells)[0])
        where = f"{table.where(int(table.frame.index[row]))}, column {table.frame.columns[column]!r}"
        return where, table.frame.iloc[row, column]

    frame, gaps = table.frame, table.frame.isna().to_numpy()
    n_bad = int(gaps.any(axis=1).sum())
    if n_bad and not missing.drop:
        counts = ", ".join(f"{c} {int(m)}" for c, m in zip(frame.columns, gaps.sum(axis=0), strict=True) if m)
        raise BadInputError(
            f"{table.file}: {n_bad} of {len(frame)} {'rows has' if n_bad == 1 else 'rows have'} missing values "
            f"({counts}), the first in {place(gaps)[0]}; fill them, or {missing.leave_out('those rows')}."
        )
    if n_bad == len(frame):
        raise BadInputError(f"{table.file}: every row has a missing value; choose --columns.")
    if n_bad:
        console.note(f"{n_bad} of {len(frame)} rows {'was' if n_bad == 1 else 'were'} left out for missing values.")
        table = table.having(frame.dropna(), "X = X.dropna()")
    infinite = np.isinf(table.frame.to_numpy(dtype=np.float64, na_value=np.nan))
    if infinite.any():
        where, value = place(infinite)
        raise BadInputError(f"{table.file}: {where}: {float(value)} is not a finite number, or one beyond 1.8e308.")
    return table


def _code_truths(table: FileTable, options: argparse.Namespace, leave_out: Sequence[str]) -> FileTable:
    """Convert truth values in a table to 0 and 1, if the metric compares them as numbers."""
    names = [c for c in table.frame.columns if holds_truths(table.frame[c]) and c not in leave_out]
    if not names or not resolve(options.metric, 1.0).domain.truths:
        return table
    kind = "Int64" if table.frame[names].isna().any(axis=None) else "int64"  # the first one has gaps
    code = f"table[{names!r}] = table[{names!r}].astype({kind!r})"
    return table.having(table.frame.astype(dict.fromkeys(names, kind)), code)


def _check_comparable(
    whole: FileTable, choice: FileTable, options: argparse.Namespace, leave_out: Sequence[str]
) -> None:
    """Raise BadInputError if the metric cannot compare the rows, or the points look like a matrix of distances."""
    frame = choice.frame
    with bad_input(choice.file, choice.where):
        metric = resolve(options.metric, 1.0)
        if isinstance(metric, Precomputed):
            _check_names_of_columns(whole, frame, leave_out)
            if whole.numbered_names and frame.shape[1] == len(frame) + 1:
                raise BadInputError(
                    f"{choice.file}: the matrix must be square, got {len(frame)} rows below a first line of "
                    f"{frame.shape[1]} numbers, which was taken for names; --no-header: it is the first row."
                )
            return
        if not (options.coordinates or metric.domain.binary or metric.by_range):
            _check_not_matrix(whole, frame, leave_out)
        if not options.standardize and metric.domain.restricts:
            (points,), _ = metric.read((frame,), ("X",))
            metric.check(points, row_places(["X"], [len(points)], [frame.index]), list(map(str, frame.columns)))


def _check_names_of_columns(whole: FileTable, frame: pd.DataFrame, leave_out: Sequence[str]) -> None:
    """Raise BadInputError if row names of a matrix are its column names in another order."""
    columns = list(map(str, frame.columns))
    texts = [whole.frame[c] for c in whole.frame.columns if c not in (*leave_out, *columns)]
    named = [names for names in (whole.row_names, whole.ids, *texts) if names is not None]
    for names in named:
        rows = list(map(str, names.loc[frame.index]))
        if rows != columns and sorted(rows) == sorted(columns):
            i = next(i for i, (row, column) in enumerate(zip(rows, columns, strict=True)) if row != column)
            raise BadInputError(
                f"{whole.file}: rows and columns of the matrix must have the same names in the same order, but "
                f"{whole.where(int(frame.index[i]))} is {rows[i]!r} and column {i + 1} of the matrix is {columns[i]!r}."
            )


def _check_not_matrix(whole: FileTable, frame: pd.DataFrame, leave_out: Sequence[str]) -> None:
    """Raise BadInputError if the columns form a symmetric matrix with zero diagonal, or its triangle, as distances do.

    A first column may hold the names of the rows, and a column of small whole numbers look like a count of them. Where
    some rows were read, they and their own columns are checked.
    """
    # with --where or --rows a matrix is square no longer, so that the whole table is checked too
    numeric = [c for c in whole.frame.columns if holds_numbers(whole.frame[c]) and c not in leave_out]
    tables = [frame, whole.frame[list(frame.columns)], whole.frame[numeric], whole.frame[numeric[1:]]]
    parts = [table for table in tables[2:] if 0 < len(table) < table.shape[1] > table.index.max()]
    tables += [table.iloc[:, table.index] for table in parts]
    for table in tables:
        if table.shape[0] != table.shape[1]:
            continue
        values = table.to_numpy(dtype=np.float64, na_value=np.nan)
        if looks_like_triangle(values):
            raise BadInputError(
                f"{whole.file}: {len(table)} columns and rows are zeros on the diagonal and on one side of it, as one "
                "triangle of a matrix of dissimilarities is. For --metric precomputed write the whole matrix; "
                "--coordinates takes them for points all the same."
            )
        if looks_like_distances(values):
            raise BadInputError(
                f"{whole.file}: {len(table)} columns and rows form a symmetric matrix with a zero diagonal, as "
                "dissimilarities do. Say what they are: --metric precomputed for a matrix of dissimilarities, or "
                "--coordinates for points all the same."
            )


def note_if_equal(total: float, n: int, metric: str, console: Console) -> None:
    """Print a note if all distances are 0, or if the metric is canberra, which R computes differently."""
    if metric == "canberra":
        console.note(
            "canberra is SciPy's: columns in which both rows are 0 count as 0. R's dist() scales the sum up for them, "
            "and vegan's vegdist() divides it by the number of the others; --metric precomputed takes such a matrix."
        )
    if total == 0 and n > 1:
        console.note(f"all distances under {metric} are 0: it sees no difference between any two rows.")
