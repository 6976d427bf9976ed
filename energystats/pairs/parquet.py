"""Read Parquet files, of which a few rows are decoded at a time."""

from __future__ import annotations

import base64
import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from energystats._typing import FloatArray
from energystats.inputs.arrays import as_numbers, as_points
from energystats.pairs.disk import BLOCK_BYTES

__all__ = [
    "batches",
    "check_numbers",
    "column_of",
    "find_lost_categories",
    "index_of",
    "name_parquet_columns",
    "opened_file",
    "panels",
    "read_rows",
]


BATCH = 2**16  # rows that are decoded at a time, fewer where they are wide
PAGE = 2**20  # bytes of a column that writers put together
BUFFER = 2**16  # bytes of a column that are read at a time, whatever the size of the row groups
CHOOSE = "`dask.dataframe.read_parquet(path, columns=[...])` reads some columns of a file."


def opened_file(path: Path, name: str) -> Any:
    """Open a Parquet file for reading in parts; raise ValueError if there is none or it is of another kind."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow: pip install 'energystats-toolkit[parquet]'.") from error
    if not path.is_file():
        raise ValueError(_describe_missing_file(path, name))
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except (ValueError, OSError) as error:
        hint = ""
        if path.suffix == ".npy":
            hint = ' A file of NumPy is opened by `np.load(path, mmap_mode="r")`.'
        raise ValueError(f"`{name}`: {str(path)!r} is not a Parquet file ({error}).{hint}") from error


def _describe_missing_file(path: Path, name: str) -> str:
    """Return the error message for a path that is no file, with advice."""
    hint = "several files are read by `dask.dataframe.read_parquet`, whose frame can be given instead."
    if path.is_dir():
        return f"`{name}` must be data or the path of one Parquet file, and {str(path)!r} is a folder; {hint}"
    if glob.has_magic(str(path)):
        return f"`{name}` must be data or the path of one Parquet file, got the pattern {str(path)!r}; {hint}"
    return f"`{name}` must be data or the path of a Parquet file, and there is no file {str(path)!r}."


def name_parquet_columns(schema: Any, column: str | None) -> list[str]:
    """Return the column names of a Parquet file, without those of a pandas index except one that is asked for."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [str(name) for name in schema.names if name not in index or name == column]


def index_of(file: Any) -> Any:
    """Return the pandas index stored in a Parquet file, or else one that counts the rows."""
    import pandas as pd

    n, kept = file.metadata.num_rows, (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    names = [name for name in kept if isinstance(name, str) and name in file.schema_arrow.names]
    if names:
        return file.read(columns=names).to_pandas().index
    ranges = [pd.RangeIndex(kind["start"], kind["stop"], kind["step"]) for kind in kept if isinstance(kind, dict)]
    return ranges[0] if ranges and len(ranges[0]) == n else pd.RangeIndex(n)


def check_numbers(file: Any, columns: Sequence[str], name: str) -> None:
    """Raise TypeError if columns of a Parquet file are not numeric, or were categories when it was written."""
    empty = file.schema_arrow.empty_table().to_pandas(ignore_metadata=True)[list(columns)]
    if lost := [column for column in find_lost_categories(file) if column in columns]:
        listed = ", ".join(map(repr, lost))
        raise TypeError(
            f"`{name}` must hold real numbers, but these columns were declared categories when the file was written: "
            f"{listed}. Parquet keeps their numbers only; read it with `pandas.read_parquet`, and declare them again "
            'with `.astype("category")`, with their order if they have one.'
        )
    try:
        as_numbers(empty, name)
    except TypeError as error:
        raise TypeError(f"{error} {CHOOSE}") from None


def find_lost_categories(file: Any) -> dict[str, bool]:
    """Find category columns of a Parquet file stored as plain numbers, and whether they are ordered.

    Parquet keeps a dictionary of text with its order; of numbers only what programs write beside the data tells.
    """
    import pyarrow as pa

    stored = {field.name: pa.types.is_dictionary(field.type) for field in file.schema_arrow}
    described = (file.schema_arrow.pandas_metadata or {}).get("columns", [])
    found = {
        column["name"]: bool((column.get("metadata") or {}).get("ordered"))
        for column in described
        if column.get("pandas_type") == "categorical"
    }
    if written := (file.metadata.metadata or {}).get(b"ARROW:schema"):
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
        found |= {field.name: field.type.ordered for field in schema if pa.types.is_dictionary(field.type)}
    return {name: ordered for name, ordered in found.items() if stored.get(name) is False}


def batches(file: Any, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[Any]:
    """Yield the rows of a Parquet file as data frames of at most 32 MiB."""
    height = max(1, min(BATCH, BLOCK_BYTES // (8 * len(columns))))
    for batch in file.iter_batches(height, row_groups=groups, columns=list(columns)):
        yield batch.to_pandas(ignore_metadata=True)


def column_of(file: Any, column: str) -> Any:
    """Read a column of a Parquet table as a pandas Series."""
    return file.read(columns=[column]).to_pandas(ignore_metadata=True)[column]


def panels(metadata: Any, columns: Sequence[str]) -> list[Sequence[str]]:
    """Divide the columns of a Parquet file into groups that can be decoded within limited memory."""
    tallest = max((metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)), default=1)
    width = max(1, BLOCK_BYTES // min(max(8 * tallest, 1), PAGE))
    return [columns[first : first + width] for first in range(0, len(columns), width)]


def read_rows(path: str, start: int, stop: int, columns: Sequence[str], name: str) -> FloatArray:
    """Read rows `start` to `stop` - 1 of a Parquet file as finite numbers; (stop - start, d)."""
    found, column = np.empty((stop - start, len(columns))), 0
    with opened_file(Path(path), name) as file:
        groups, first = _find_row_groups(file.metadata, start, stop)
        for panel in panels(file.metadata, columns):
            row = first
            for frame in batches(file, panel, groups):
                low, high = max(start, row), min(stop, row + len(frame))
                if low < high:
                    points = as_points(frame[low - row : high - row], name)
                    found[low - start : high - start, column : column + len(panel)] = points
                row += len(frame)
                if row >= stop:
                    break
            column += len(panel)
    return found


def _find_row_groups(metadata: Any, start: int, stop: int) -> tuple[list[int], int]:
    """Find the row groups of a Parquet file that hold given rows, and their first row."""
    heights = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    ends = np.cumsum(heights)
    wanted = np.flatnonzero((ends > start) & (ends - heights < stop)).tolist()
    return wanted, int(ends[wanted[0]] - heights[wanted[0]])
