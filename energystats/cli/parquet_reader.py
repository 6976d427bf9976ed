"""Tables from Parquet files for the command line, and the types that Parquet or pandas has lost."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats.cli.errors import BadInputError
from energystats.cli.file_table import EXACT, FileTable, RowRanges, taking, unless_counted
from energystats.cli.sources import Source, readable

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["read_parquet"]


def read_parquet(source: Source, texts: Sequence[str], rows: RowRanges | None, id_name: str | None) -> FileTable:
    """Read a Parquet file as a table; a level of the pandas index becomes a column if an option names the level."""
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
        row_names = unless_counted(pd.Series([str(name) for name in frame.index], dtype=object))
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
        code += taking(rows, kept)
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
    """Restore column types of a Parquet file that pandas changed; return frame, lost categories and pandas code.

    Restored are categories that are numbers, labels of whole numbers with gaps (1.0 for 1), and text stored as bytes.
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
    """Raise BadInputError if two columns of a file have the same name."""
    counts = Counter(names)
    if twice := [name for name in names if counts[name] > 1]:
        raise BadInputError(f"{file}: every column needs a name of its own, but {twice[0]!r} is the name of several.")
