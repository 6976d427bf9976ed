"""Read a table from disk, a few rows at a time, and sum over its pairs."""

from __future__ import annotations

import abc
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, Any, Protocol, Self

import numpy as np

from energystats._core.linear_models import fit_of, residuals_of, resolution
from energystats._typing import FloatArray, IntArray
from energystats.inputs.arrays import as_points, names_of_dtypes
from energystats.inputs.table import join_indices
from energystats.metrics.base import Metric
from energystats.pairs.block_values import BlockValues, Measures, Task, ValuesHere, slices_of
from energystats.pairs.tiles import TILE_COLUMNS, TILE_ROWS, Pairs, Recomputed, Tile, UpperTileSums, count_negatives

__all__ = [
    "BLOCK_BYTES",
    "Mapped",
    "RowRange",
    "Rows",
    "RowsOnDisk",
    "Spooled",
    "spool",
    "spool_panels",
    "tiles_between",
    "tiles_within",
    "value_rows",
]


BLOCK_BYTES = 2**25  # of the rows that are read at a time
VALUE_ROWS = 2**13  # whose values are made at a time, fewer where they are wide
LARGE_TILES = 2 * TILE_ROWS, TILE_COLUMNS


class RowRange(Protocol):
    """Define the interface to consecutive rows of a table that are read on demand."""

    @property
    def n(self) -> int:
        """Return the number of rows."""

    @property
    def d(self) -> int:
        """Return the number of columns."""

    def take(self, start: int, stop: int) -> FloatArray:
        """Read rows `start` to `stop` - 1 of a table as finite numbers; (stop - start, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """Hold an array whose rows are read by slices on demand, such as a memory map."""

    array: Any
    name: str

    @property
    def n(self) -> int:
        return len(self.array)

    @property
    def d(self) -> int:
        return int(self.array.shape[1])

    @property
    def dtypes(self) -> set[str]:
        return {str(self.array.dtype)}

    def take(self, start: int, stop: int) -> FloatArray:
        return as_points(np.asarray(self.array[start:stop]), self.name)


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Spooled:
    """Hold rows in a temporary file of 8 n d bytes, which is deleted when nothing refers to it any more."""

    file: IO[bytes]  # all rows of the first few columns, then of the next ones
    n: int  # number of rows
    widths: tuple[int, ...]  # how many columns stand together
    dtypes: set[str]  # of the columns that were given

    @property
    def d(self) -> int:
        return sum(self.widths)

    def take(self, start: int, stop: int) -> FloatArray:
        if len(self.widths) == 1:
            return self.panel(0, self.d, start, stop)
        found, first = np.empty((stop - start, self.d)), 0
        for width in self.widths:
            found[:, first : first + width] = self.panel(first, width, start, stop)
            first += width
        return found

    def panel(self, first: int, width: int, start: int, stop: int) -> FloatArray:
        """Read some rows of adjacent columns that are stored together in one part of a file; (stop - start, width)."""
        self.file.seek(8 * (self.n * first + width * start))
        return np.fromfile(self.file, dtype=np.float64, count=width * (stop - start)).reshape(-1, width)


def spool(blocks: Iterable[Any], name: str) -> Spooled:
    """Check blocks of rows, write them to a temporary file, and return the table stored there."""
    return spool_panels([blocks], name)


def spool_panels(panels: Iterable[Iterable[Any]], name: str) -> Spooled:
    """Write a table to a temporary file, one group of columns after the other, and return the table stored there."""
    # a panel is all rows of a few columns, because a Parquet file decodes few columns at a time
    file = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed when its part is no longer used)
    n, widths, dtypes = 0, [], set[str]()
    try:
        for blocks in panels:
            n, width = 0, 0
            for block in blocks:
                points = as_points(block, name)
                dtypes |= names_of_dtypes(block)
                _write(points, file, name)
                n, width = n + len(points), points.shape[1]
            widths.append(width)
        if not n:
            raise ValueError(f"`{name}` must have at least one row and one column, got none.")
        file.flush()
    except BaseException:
        file.close()
        raise
    part = Spooled(file, n, tuple(widths), dtypes)
    weakref.finalize(part, file.close)
    return part


def _write(points: FloatArray, file: IO[bytes], name: str) -> None:
    """Append rows to a temporary file; raise OSError with the folder and advice if that fails."""
    try:
        points.tofile(file)
    except OSError as error:
        raise OSError(
            f"`{name}` is written to a temporary file of 8 bytes a number in {tempfile.gettempdir()!r}, which failed "
            f"({error}). If that disk is full, set the environment variable TMPDIR to a folder with more space."
        ) from error


@dataclass(frozen=True, eq=False)
class Rows(abc.ABC):
    """Define a table that is not in memory: its shape, its columns, and how its rows are read."""

    columns: tuple[str, ...] | None = None  # names, where there are any
    # center, scale: (d,) what is subtracted from the rows when they are used, and what they are divided by
    center: FloatArray = field(default_factory=lambda: np.zeros(1))
    scale: FloatArray = field(default_factory=lambda: np.ones(1))
    indices: tuple[Any, ...] = ()  # names of the rows of each sample that stands here, None where it has none

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Return the number of rows and of columns, (n, d)."""

    @abc.abstractmethod
    def measured(self) -> Measures:
        """Compute ranges, means and deviations of the columns before any standardization."""

    @abc.abstractmethod
    def pick(self, rows: IntArray) -> FloatArray:
        """Return the rows with given indices, in the order of the indices; (r,) -> (r, d)."""

    @abc.abstractmethod
    def pairs(self, metric: Metric) -> Pairs:
        """Return an object for sums of dissimilarities over pairs of rows under a metric."""

    @property
    def n_workers(self) -> int:
        """Return the number of threads that share the work on pairs of rows; 0 if unknown."""
        return 1

    @abc.abstractmethod
    def values(self) -> BlockValues:
        """Return the coordinates of the rows in blocks, as z-scores if standardized."""

    @property
    def standardizes(self) -> bool:
        """Return whether rows are compared as z-scores."""
        return bool(self.center.any()) or bool((self.scale != 1).any())

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def row_index(self) -> Any:
        """Return the names of the rows, None if there are none."""
        return join_indices(self.indices)

    def header(self) -> Any:
        """Return a table with the same column names and a single row of zeros."""
        zeros = np.zeros((1, self.shape[1]))
        if self.columns is None:
            return zeros
        import pandas as pd

        return pd.DataFrame(zeros, columns=list(self.columns))

    def sample(self, size: int) -> FloatArray:
        """Return the rows from which a metric's parameters are estimated: all rows, or `size` random ones."""
        n = len(self)
        return self.pick(np.arange(n) if n <= size else np.random.default_rng(0).choice(n, size, replace=False))

    def project(self, directions: FloatArray) -> FloatArray:
        """Project the rows, centred at their mean, on some directions; (d, s) -> (n, s)."""
        center = np.zeros(self.shape[1]) if self.standardizes else self.measured().mean
        parts = self.values().map(_project_block, center, directions)
        return np.concatenate([np.asarray(part) for part in parts])

    @abc.abstractmethod
    def mapped(self, task: Task, *shared: Any, column: FloatArray) -> Rows:
        """Return a table whose rows a task computes from blocks of these rows and of a column."""

    def residuals(self, basis: FloatArray) -> Rows:
        """Return the table of residuals of the rows from a linear model with orthonormal, centred basis (n, q)."""
        center = np.zeros(self.shape[1]) if self.standardizes else self.measured().mean
        fit = self.values().sum(fit_of, center, columns=(basis,))
        return self.mapped(residuals_of, center, fit, resolution(*self.corners()), column=basis)

    def corners(self) -> FloatArray:
        """Return the smallest and the largest value of every column, as z-scores if standardized; (2, d)."""
        measures = self.measured()
        return np.asarray((np.stack((measures.low, measures.high)) - self.center) / self.scale)

    def standardized(self, center: FloatArray, scale: FloatArray) -> Self:
        """Return a table with rows standardized by a given centre and scale of each column."""
        return replace(self, center=center, scale=scale)


def value_rows(d: int) -> int:
    """Compute how many rows of d columns are processed at a time."""
    return min(VALUE_ROWS, max(TILE_ROWS, BLOCK_BYTES // (8 * d)))


def _project_block(points: FloatArray, center: FloatArray, directions: FloatArray) -> FloatArray:
    """Compute projections of one block of rows on some directions; (b, d), (d,), (d, s) -> (b, s)."""
    return np.asarray((points - center) @ directions)


@dataclass(frozen=True, eq=False)
class RowsOnDisk(Rows):
    """Hold a table on disk that is read a block of rows at a time, in one part or several."""

    parts: tuple[RowRange, ...] = ()  # in order, with the same columns

    @cached_property
    def ends(self) -> IntArray:
        """Return the number of rows up to the end of each part of a table on disk."""
        return np.cumsum([part.n for part in self.parts]).astype(np.intp)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.ends[-1]), self.parts[0].d

    @property
    def height(self) -> int:
        """Choose the number of rows read at a time from disk."""
        height = max(TILE_ROWS, BLOCK_BYTES // (8 * self.shape[1]))
        return height // TILE_COLUMNS * TILE_COLUMNS or height // TILE_ROWS * TILE_ROWS

    def take(self, start: int, stop: int) -> FloatArray:
        """Read rows `start` to `stop` - 1 from disk, centred and scaled; (stop - start, d)."""
        found, first = [], 0
        for part, end in zip(self.parts, self.ends.tolist(), strict=True):
            low, high = max(start, first), min(stop, end)
            if low < high:
                found.append(part.take(low - first, high - first))
            first = end
        points = found[0] if len(found) == 1 else np.concatenate(found)
        points -= self.center
        points /= self.scale
        return points

    def pick(self, rows: IntArray) -> FloatArray:
        # rows are read in the order of the file, each block once, and put where they were asked for
        found = np.empty((rows.size, self.shape[1]))
        order = np.argsort(rows, kind="stable")
        bounds = [start for start, _ in self.spans()]
        for (start, stop), here in zip(
            self.spans(), np.split(order, np.searchsorted(rows[order], bounds[1:])), strict=True
        ):
            if here.size:
                found[here] = self.take(start, stop)[rows[here] - start]
        return found

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of every block of rows on disk, and the row after its last."""
        n = len(self)
        return ((start, min(start + self.height, n)) for start in range(0, n, self.height))

    def measured(self) -> Measures:
        given = replace(self, center=np.zeros(1), scale=np.ones(1))
        return Measures.over(Measures.of(given.take(*span)) for span in given.spans())

    def mapped(self, task: Task, *shared: Any, column: FloatArray) -> RowsOnDisk:
        part = _Computed(self, lambda points, here: task(points, *shared, here), column)
        return RowsOnDisk(self.columns, indices=self.indices, parts=(part,))

    def pairs(self, metric: Metric) -> _RecomputedFromDisk:
        return _RecomputedFromDisk(self, metric)

    def values(self) -> ValuesHere:
        n, height = len(self), value_rows(self.shape[1])
        ends = [*range(height, n, height), n]
        return ValuesHere(slices_of(ends), lambda span: self.take(span.start, span.stop))


@dataclass(frozen=True, slots=True, eq=False)
class _Computed:
    """Hold rows that are computed on demand from those of a table and of an array."""

    rows: RowsOnDisk
    compute: Callable[[FloatArray, FloatArray], FloatArray]
    column: FloatArray

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    def take(self, start: int, stop: int) -> FloatArray:
        return self.compute(self.rows.take(start, stop), self.column[start:stop])


@dataclass(frozen=True, slots=True, eq=False)
class _RecomputedFromDisk(UpperTileSums):
    """Compute tiles of rho from rows on disk, with two blocks of rows in memory at a time."""

    rows: RowsOnDisk
    metric: Metric

    def upper_tiles(self) -> Iterator[Tile]:
        return count_negatives(self.computed_tiles(), self.metric, warns=True)

    def computed_tiles(self) -> Iterator[Tile]:
        # every block is read once for itself and once for each block above it in the file
        for first, end in self.rows.spans():
            own = self.rows.take(first, end)
            yield from tiles_within(own, first, self.metric, LARGE_TILES)
            for start, stop in self.rows.spans():
                if start > first:
                    yield from tiles_between(own, first, self.rows.take(start, stop), start, self.metric, LARGE_TILES)


def tiles_within(own: FloatArray, first: int, metric: Metric, shape: tuple[int, int]) -> Iterator[Tile]:
    """Yield tiles of the upper triangle of dissimilarities among the rows of one block."""
    made = Recomputed(own, metric, warns=False)
    height, width = shape
    for row in range(0, len(own), height):
        X = own[row : row + height]
        yield first + row, first + row, made.diagonal_tile(X, first + row)
        for column in range(row + height, len(own), width):
            Y = own[column : column + width]
            yield first + row, first + column, metric.finite_between(X, Y, first + row, first + column)


def tiles_between(
    own: FloatArray, first: int, others: FloatArray, start: int, metric: Metric, shape: tuple[int, int]
) -> Iterator[Tile]:
    """Yield tiles of the dissimilarities between two blocks of rows."""
    height, width = shape
    for row in range(0, len(own), height):
        for column in range(0, len(others), width):
            X, Y = own[row : row + height], others[column : column + width]
            yield first + row, start + column, metric.finite_between(X, Y, first + row, start + column)
