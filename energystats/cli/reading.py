"""Tables from CSV or Parquet files or from standard input, with the categories that the user names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from energystats.cli.console import Console
from energystats.cli.csv_reader import read_csv
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.file_table import FileTable, RowRanges
from energystats.cli.parquet_reader import read_parquet
from energystats.cli.sources import Source
from energystats.inputs.names import list_names

__all__ = ["read_table"]


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
    """Read a CSV or Parquet file as a table, all rows or only those in given ranges.

    The columns `as_text` and those of `categories` stay text, so that 01 and 1 are two.
    """
    source = Source.of(file, given.limit)
    texts = (*categories, *as_text)
    if source.is_parquet(given.options):
        table = read_parquet(source, texts, rows, id_name)
    else:
        table = read_csv(source, given, console, texts, rows, id_name)
    return _with_categories(table, categories)


def _with_categories(table: FileTable, categories: Sequence[str]) -> FileTable:
    """Record in a table which columns --category names, and convert these to text if they are from Parquet.

    From CSV they were read as text.
    """
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
