"""Bring a table to the workers of a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.inputs.arrays import as_points
from energystats.pairs.block_values import fetched, itself
from energystats.pairs.dask import RowsOnCluster
from energystats.pairs.dask_workers import Workers
from energystats.pairs.parquet import read_rows

__all__ = ["distributed_array", "distributed_file", "distributed_frame", "distributed_points", "together"]


LARGEST_BLOCK = 2**25  # bytes
MOST_ROWS, FEWEST_ROWS, STEP = 2**14, 2**9, 2**8  # of a block
PAIRS_PER_THREAD = 16  # so that no worker waits long for the last one


def _choose_block_ends(n: int, d: int, client: Workers) -> IntArray:
    """Choose the ends of blocks of rows so that all cluster threads have work and blocks fit memory."""
    threads = max(1, sum(client.nthreads().values()))
    # b blocks make b(b + 1)/2 pairs of blocks, each a task
    wanted = math.ceil(math.sqrt(2 * PAIRS_PER_THREAD * threads))
    height = STEP * math.ceil(n / wanted / STEP)
    height = max(FEWEST_ROWS, min(height, MOST_ROWS, LARGEST_BLOCK // (8 * d) // STEP * STEP))
    return np.append(np.arange(height, n, height), n).astype(np.intp)


def distributed_points(part: Any, columns: tuple[str, ...] | None, client: Workers) -> RowsOnCluster:
    """Send rows in memory to the Dask workers in blocks; return the table on the cluster."""
    ends = _choose_block_ends(part.n, part.d, client)
    starts = [0, *ends[:-1].tolist()]
    with _allow_large_blocks():
        blocks = [
            client.submit(itself, part.take(start, int(end)), pure=False)
            for start, end in zip(starts, ends, strict=True)
        ]
    return RowsOnCluster(columns, client=client, blocks=tuple(blocks), ends=ends, d=part.d)


def distributed_file(path: Path, n: int, columns: tuple[str, ...], name: str, client: Workers) -> RowsOnCluster:
    """Start reading a Parquet file on Dask workers, each a part, and return the distributed table."""
    ends = _choose_block_ends(n, len(columns), client)
    starts = [0, *ends[:-1].tolist()]
    blocks = [
        client.submit(read_rows, str(path), start, int(end), list(columns), name, pure=False)
        for start, end in zip(starts, ends, strict=True)
    ]
    return RowsOnCluster(columns, client=client, blocks=tuple(blocks), ends=ends, d=len(columns))


def distributed_array(array: Any, name: str, client: Workers) -> RowsOnCluster:
    """Divide a Dask array into blocks of rows of suitable size, and return the distributed table."""
    n, d = array.shape
    ends = _choose_block_ends(n, d, client)
    heights = tuple(np.diff(ends, prepend=0).tolist())
    delayed = array.rechunk((heights, (d,))).to_delayed().ravel().tolist()
    blocks = [client.submit(as_points, block, name, pure=False) for block in client.compute(delayed)]
    return RowsOnCluster(None, client=client, blocks=tuple(blocks), ends=ends, d=d)


def distributed_frame(
    frame: Any, columns: Sequence[str], column: str | None, name: str, client: Workers
) -> tuple[RowsOnCluster, list[Any], list[Any]]:
    """Compute a Dask frame on its workers in new blocks of rows; return the table there, its labels and row names.

    How many partitions there are is seen when they are computed: Dask may read several files as one.
    """
    parts = client.compute(frame.to_delayed())
    indices = fetched(client, [client.submit(_copy_index, part, pure=False) for part in parts])
    heights = list(map(len, indices))
    n, starts = sum(heights), np.cumsum([0, *heights]).tolist()
    if not n:
        raise ValueError(f"`{name}` must have at least one row and one column, got none.")
    ends = _choose_block_ends(n, len(columns), client)
    # every new block is cut from the partitions that it overlaps
    blocks, first = [], 0
    for end in ends.tolist():
        touched = [i for i, rows in enumerate(heights) if rows and starts[i] < end and first < starts[i] + rows]
        cuts = [slice(max(first - starts[i], 0), end - starts[i]) for i in touched]
        blocks.append(client.submit(_stack_rows, [parts[i] for i in touched], cuts, list(columns), name, pure=False))
        first = end
    labels = (
        fetched(client, [client.submit(_name_columns, part, column, pure=False) for part in parts]) if column else []
    )
    rows = RowsOnCluster(tuple(columns), client=client, blocks=tuple(blocks), ends=ends, d=len(columns))
    return rows, [part for part in labels if len(part)], [part for part in indices if len(part)]


def _copy_index(frame: Any) -> Any:
    """Return a copy of the index of one partition of a Dask frame."""
    return frame.index.copy()


def _stack_rows(frames: Sequence[Any], cuts: Sequence[slice], columns: list[str], name: str) -> FloatArray:
    """Stack selected rows of several data frames in one float array; (b, d)."""
    return np.concatenate(
        [as_points(_name_columns(frame.iloc[cut], columns), name) for frame, cut in zip(frames, cuts, strict=True)]
    )


def _name_columns(frame: Any, columns: Any) -> Any:
    """Select columns of a data frame by their names as text."""
    return frame.set_axis(frame.columns.map(str), axis=1)[columns]


def together(tables: Sequence[RowsOnCluster]) -> RowsOnCluster:
    """Join several distributed tables to one, the rows of each after those of the one before."""
    if len(tables) == 1:
        return tables[0]
    starts = np.cumsum([0, *(len(table) for table in tables[:-1])])
    first = tables[0]
    return RowsOnCluster(
        first.columns,
        client=first.client,
        blocks=tuple(block for table in tables for block in table.blocks),
        ends=np.concatenate([table.ends + start for table, start in zip(tables, starts, strict=True)]),
        d=first.d,
    )


def _allow_large_blocks() -> Any:
    """Return a context in which Dask does not warn of large blocks."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
