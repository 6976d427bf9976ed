"""Open inputs that are read in blocks: files, memory maps, Dask collections and arrays of other libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from energystats.inputs.arrays import COARSER, as_points
from energystats.inputs.labels import read_inputs
from energystats.inputs.names import near_names
from energystats.inputs.table import InputTable, as_table, is_of_xarray, other_columns
from energystats.pairs.block_values import fetched
from energystats.pairs.dask_tables import (
    distributed_array,
    distributed_file,
    distributed_frame,
    distributed_points,
    together,
)
from energystats.pairs.dask_workers import Workers, active_workers
from energystats.pairs.device import is_from_array_library, on_device
from energystats.pairs.disk import Mapped, Rows, RowsOnDisk, spool, spool_panels
from energystats.pairs.parquet import (
    batches,
    check_numbers,
    column_of,
    index_of,
    name_parquet_columns,
    opened_file,
    panels,
)

__all__ = ["IN_MEMORY", "opened"]


IN_MEMORY = 2**26  # bytes of numbers; fewer are read at once


Opened: TypeAlias = tuple[InputTable, Any]  # a table whose values are its rows, and its column of labels or None


def opened(samples: Sequence[Any], columns: Mapping[str, Any], client: Any = None) -> tuple[tuple[Any, ...], list[Any]]:
    """Open tables that are not in memory as `Rows`; convert other tables and labels to `InputTable`.

    `columns` are labels and weights by the names of their arguments; paths of Parquet files and frames that are opened
    here may name the first of them. Several tables outside of memory become one, with labels. What is small, or has
    one column, is read. With a client all tables go to its workers.
    """
    samples = [as_table(s) if hasattr(s, "__dask_graph__") and is_of_xarray(s) else s for s in samples]
    others = any(hasattr(column, "__dask_graph__") for column in columns.values())
    if client is None and not others and not any(_is_outside(s) or is_from_array_library(s) for s in samples):
        return read_inputs(samples, columns)
    # labels are needed here even where the rows stay with the workers: they are what is permuted
    given = dict(zip(columns, _labels_here(tuple(columns.values()), client), strict=True))
    client, argument = active_workers(client, samples), next(iter(columns), "X")
    if len(samples) > 1 and given.get(argument) is not None:
        return read_inputs(samples, given)  # which refuses it
    if client is None and not any(_is_outside(sample) or is_from_array_library(sample) for sample in samples):
        return read_inputs(samples, given)
    names = [f"sample {i}" for i in range(1, len(samples) + 1)] if len(samples) > 1 else ["X"]
    if is_from_array_library(samples[0]):
        return _label_samples(on_device(tuple(samples), names), given, [int(sample.shape[0]) for sample in samples])
    label = given.get(argument)
    column = label if len(samples) == 1 and isinstance(label, str) else None
    found = [_open_table(sample, name, column, argument, client) for sample, name in zip(samples, names, strict=True)]
    if column is not None:
        given[argument] = found[0][1]
    tables = [table for table, _ in found]
    small = all(8 * table.values.n * table.values.d <= IN_MEMORY or table.values.d == 1 for table in tables)
    if client is None and small:
        return read_inputs([_read_whole(table) for table in tables], given)
    _check_widths(tables, names)
    parts = [table.values for table in tables]
    # samples become one table with labels, so that only one kind of input is summed in blocks
    rows: Rows = RowsOnDisk(tables[0].columns, parts=tuple(parts)) if client is None else together(parts)
    return _label_samples(
        replace(rows, indices=tuple(table.index for table in tables)), given, [part.n for part in parts]
    )


def _label_samples(rows: Rows, columns: dict[str, Any], sizes: list[int]) -> tuple[tuple[Any, ...], list[Any]]:
    """Join samples and label their rows by sample number; a single sample keeps its labels."""
    if len(sizes) > 1:
        columns = {**columns, next(iter(columns)): np.repeat(np.arange(len(sizes)), sizes)}
    return read_inputs([rows], columns)


def _labels_here(columns: tuple[Any, ...], client: Any) -> tuple[Any, ...]:
    """Load labels and weights that are Dask collections into memory; return all others unchanged."""
    workers = active_workers(client, columns)
    if workers is None:
        return columns
    return tuple(fetched(workers, workers.compute(c)) if hasattr(c, "__dask_graph__") else c for c in columns)


def _is_outside(sample: Any) -> bool:
    """Return whether a table is a file path, a memory map or a Dask collection."""
    return isinstance(sample, np.memmap | os.PathLike | str) or _is_collection(sample)


def _is_collection(sample: Any) -> bool:
    """Return whether an object is a Dask data frame, Series or array."""
    dimensions = getattr(sample, "ndim", None)  # a delayed table answers with another delayed object
    return hasattr(sample, "__dask_graph__") and isinstance(dimensions, int) and dimensions > 0


def _open_table(sample: Any, name: str, column: str | None, argument: str, client: Workers | None) -> Opened:
    """Open a table outside memory by its type; return its rows, and the labels in a named column, or None."""
    if isinstance(sample, str | os.PathLike):
        return _open_parquet(Path(sample), name, column, argument, client)
    if column is not None and not hasattr(sample, "columns"):
        raise TypeError(f"`{argument}` names a column, {column!r}, but `{name}` has no named columns.")
    if _is_collection(sample):
        if hasattr(sample, "chunks"):
            return InputTable(_open_array(sample, name, client)), None
        if sample.ndim == 1:
            sample = sample.to_frame("x" if sample.name is None else sample.name)
        return _open_frame(sample, column, argument, name, client)
    table, labels = as_table(sample), None
    if column is not None:
        _find_point_columns(list(table.columns or ()), column, "the frame", argument)
        labels = table.values[column]
        table = as_table(table.values.drop(columns=column))
    array = sample if isinstance(sample, np.memmap) else as_points(table, name)
    part: Any = Mapped(array[:, None] if array.ndim == 1 else array, name)
    return replace(table, values=part if client is None else distributed_points(part, table.columns, client)), labels


def _open_parquet(path: Path, name: str, column: str | None, argument: str, client: Workers | None) -> Opened:
    """Copy a Parquet file to a temporary file, or read it on Dask workers; return its rows and labels."""
    with opened_file(path, name) as file:
        columns = _find_point_columns(name_parquet_columns(file.schema_arrow, column), column, str(path), argument)
        check_numbers(file, columns, name)
        index = index_of(file)
        # in one piece: whole numbers become doubles where one is missing
        labels = _join_labels([column_of(file, column)], index) if column else None
        part: Any
        if client is not None:
            part = distributed_file(path.resolve(), file.metadata.num_rows, tuple(columns), name, client)
        else:
            part = spool_panels((batches(file, panel) for panel in panels(file.metadata, columns)), name)
    return InputTable(part, tuple(columns), index), labels


def _open_frame(frame: Any, column: str | None, argument: str, name: str, client: Workers | None) -> Opened:
    """Compute a Dask frame into a temporary file or on its workers; return rows and labels."""
    columns = _find_point_columns([str(c) for c in frame.columns], column, "the frame", argument)
    if client is not None:
        rows, found, indices = distributed_frame(frame, columns, column, name, client)
        index = _one_index(indices)
        return InputTable(rows, tuple(columns), index), _join_labels(found, index)
    found, indices = [], []

    def partitions() -> Iterator[Any]:
        for partition in frame.partitions:
            table = partition.compute()
            table.columns = table.columns.map(str)
            if not len(table):
                continue
            indices.append(table.index)
            if column:
                found.append(table[column])
            yield table[columns]

    part = spool(partitions(), name)
    index = _one_index(indices)
    return InputTable(part, tuple(columns), index), _join_labels(found, index)


def _one_index(parts: list[Any]) -> Any:
    """Join the indices of all partitions of a data frame; None without partitions."""
    return parts[0].append(parts[1:]) if parts else None


def _open_array(array: Any, name: str, client: Workers | None) -> Any:
    """Compute a Dask array into a temporary file or on its workers; return its rows."""
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError(f"`{name}` must have shape (n,) or (n, d), got {array.shape}.")
    heights = array.chunks[0]
    if any(np.isnan(height) for height in heights):
        raise ValueError(f"`{name}` must be a Dask array of known chunks: call `.compute_chunk_sizes()` on it first.")
    if client is not None:
        return distributed_array(array, name, client)
    ends = np.cumsum(heights).tolist()
    blocks = (array[end - height : end].compute() for height, end in zip(heights, ends, strict=True) if height)
    return spool(blocks, name)


def _find_point_columns(names: list[str], column: str | None, where: str, argument: str) -> list[str]:
    """Return the names of the columns that hold coordinates: all but the column of labels."""
    if column is not None and column not in names:
        raise ValueError(
            f"`{argument}` must be labels or a column of {where}, got {column!r}.{near_names(column, names)}"
        )
    found = [name for name in names if name != column]
    if not found:
        raise ValueError(f"There must be a column beside {column!r} in {where}.")
    return found


def _join_labels(parts: list[Any], index: Any) -> Any:
    """Join the labels of all partitions to one Series; None without labels."""
    if not parts:
        return None
    import pandas as pd
    from pandas.api.types import union_categoricals

    if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
        return pd.Series(union_categoricals(parts), index=index, name=parts[0].name)
    if len({part.dtype for part in parts}) > 1:  # one type for all would round whole numbers
        parts = [part.astype(object) for part in parts]
    return pd.concat(parts, ignore_index=True).set_axis(index)


def _read_whole(table: InputTable) -> Any:
    """Read all rows of a table into memory, as a data frame if columns have names."""
    points = table.values.take(0, table.values.n)
    if table.values.dtypes <= COARSER.keys() and len(table.values.dtypes) == 1:
        points = points.astype(*table.values.dtypes)  # so that its rounding is known, as of a matrix
    if table.columns is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=list(table.columns), index=table.index)


def _check_widths(tables: Sequence[InputTable], names: Sequence[str]) -> None:
    """Raise ValueError if samples have different columns."""
    widths = [table.values.d for table in tables]
    if len(set(widths)) > 1:
        raise ValueError(f"The samples must have the same number of columns, got {', '.join(map(str, widths))}.")
    first = tables[0].columns
    for table, name in zip(tables[1:], names[1:], strict=True):
        if first is not None and table.columns is not None and table.columns != first:
            raise ValueError(other_columns(first, table.columns, names[0], name))
