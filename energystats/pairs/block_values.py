"""Values and measures of blocks of rows, in this process or on the workers of a Dask cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np

from energystats._core.interrupts import checkpoint
from energystats._core.threads import map_side_by_side
from energystats._typing import AnyArray, FloatArray

__all__ = ["BlockValues", "Measures", "ValuesHere", "ValuesThere", "fetched", "itself", "slices_of", "sum_by_tree"]


ADDED_AT_ONCE = 16  # results of one task of the tree
Task = Callable[..., Any]  # of a value, what all blocks share, and the block's part of some columns


class BlockValues(Protocol):
    """One value for each of some blocks of consecutive rows, such as their coordinates or features."""

    @property
    def spans(self) -> Sequence[slice]:
        """The rows of every block."""

    @property
    def n_machines(self) -> int:
        """Processes that have memory for values."""

    def share(self, value: Any) -> Any:
        """Put a value that many tasks need where they find it."""

    def place(self, column: AnyArray) -> Any:
        """Put the parts of a column that many tasks need, one number a row, beside their blocks."""

    def map(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Iterator[Any]:
        """Compute ``task(value, *shared, *columns of the block)`` for block after block."""

    def sum(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Any:
        """Sum ``task(value, *shared, *columns of the block)`` over the blocks."""

    def kept(self, task: Task, *shared: Any) -> BlockValues:
        """Compute ``task(value, *shared)`` for every block and hold the results where the blocks are."""


def slices_of(ends: Sequence[int]) -> list[slice]:
    """Make slices of rows from the ends of blocks."""
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ValuesHere:
    """Values of blocks that are read or computed in this process.

    Attributes
    ----------
    spans : list of slice
        The rows of every block.
    read : callable
        The value of a block from its rows.
    threaded : bool
        Whether tasks run side by side, which they must not mind; values are read one at a time.
    """

    spans: Sequence[slice]
    read: Callable[[slice], Any]
    threaded: bool = False

    @property
    def n_machines(self) -> int:
        return 1

    def share(self, value: Any) -> Any:
        return value

    def place(self, column: AnyArray) -> AnyArray:
        return column

    def map(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Iterator[Any]:
        reading = Lock()

        def answer(span: slice) -> Any:
            with reading:
                value = self.read(span)
            return task(value, *shared, *(column[span] for column in columns))

        if not self.threaded:
            for span in self.spans:
                checkpoint()
                yield answer(span)
            return
        with map_side_by_side(len(self.spans)) as map_over:
            for found in map_over(answer, self.spans):
                checkpoint()
                yield found

    def sum(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Any:
        return reduce(add, self.map(task, *shared, columns=columns))

    def kept(self, task: Task, *shared: Any) -> Self:
        values = dict(zip((span.start for span in self.spans), self.map(task, *shared), strict=True))
        return type(self)(self.spans, lambda span: values[span.start])

    def first(self, count: int) -> Self:
        """Keep the first few blocks only."""
        return replace(self, spans=self.spans[:count])

    def in_threads(self, threaded: bool) -> Self:
        """Run tasks side by side, or one after the other."""
        return replace(self, threaded=threaded)


@dataclass(frozen=True, slots=True, eq=False)
class ValuesThere:
    """Values on the workers of a cluster.

    Attributes
    ----------
    client : Workers
        Where they are.
    futures : tuple of Future
        One for each block.
    spans : list of slice
        The rows of every block.
    """

    client: Any
    futures: Sequence[Any]
    spans: Sequence[slice]

    @property
    def n_machines(self) -> int:
        return max(1, len(self.client.nthreads()))

    def share(self, value: Any) -> Any:
        return self.client.submit(itself, value, pure=False)

    def place(self, column: AnyArray) -> tuple[Any, ...]:
        return tuple(self.client.submit(itself, column[span], pure=False) for span in self.spans)

    def begun(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> list[Any]:
        """Start a task on every block; columns are arrays, or have been placed. Returns the futures."""
        # a column that was placed is there already in parts; an array is sent with each task
        parts = [column if isinstance(column, tuple) else [column[span] for span in self.spans] for column in columns]
        return [
            self.client.submit(task, future, *shared, *(part[i] for part in parts), pure=False)
            for i, future in enumerate(self.futures)
        ]

    def map(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Iterator[Any]:
        yield from fetched(self.client, self.begun(task, *shared, columns=columns))

    def sum(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Any:
        return fetched(self.client, sum_by_tree(self.client, self.begun(task, *shared, columns=columns)))

    def kept(self, task: Task, *shared: Any) -> Self:
        return type(self)(self.client, tuple(self.begun(task, *shared)), self.spans)


def fetched(client: Any, futures: Any) -> Any:
    """Fetch the results of some futures, or of one.

    A client keeps the error of a task as long as its future. The error that is raised here is another one: the
    traceback of its own would hold the futures of all callers, and with them their data on the cluster, for ever.
    """
    try:
        return client.gather(futures)
    except Exception as error:
        placed = copy.copy(error)
        error.__traceback__ = None
    raise placed


def sum_by_tree(client: Any, parts: Sequence[Any], priority: int = 1) -> Any:
    """Sum some futures, a few at a time, so that no worker gathers all; returns a future."""
    # a tree of sums: no task takes more than a few results, and the depth is logarithmic
    while len(parts) > 1:
        groups = [parts[first : first + ADDED_AT_ONCE] for first in range(0, len(parts), ADDED_AT_ONCE)]
        parts = [client.submit(_add_up, *group, pure=False, priority=priority) for group in groups]
    return parts[0]


def _add_up(*values: Any) -> Any:
    """Sum several values."""
    return reduce(add, values)


def itself(value: Any) -> Any:
    """Return a value, which makes of it a task on the cluster that runs again where a worker is lost."""
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Count, ranges, means and deviations of the columns of some rows.

    Attributes
    ----------
    n : int
        Number of rows.
    low, high : ndarray of shape (d,)
        Smallest and largest values.
    mean : ndarray of shape (d,)
        Means.
    squares : ndarray of shape (d,)
        Sums of squared deviations from the mean, in units of `unit`.
    unit : ndarray of shape (d,)
        Ranges, so that squares neither vanish nor overflow; 1 for constant columns.
    """

    n: int
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    squares: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, block: FloatArray) -> Self:
        """Measure one block; (b, d)."""
        low, high = block.min(axis=0), block.max(axis=0)
        unit = np.where(high > low, high - low, 1.0)
        mean = block.mean(axis=0)
        return cls(len(block), low, high, mean, (((block - mean) / unit) ** 2).sum(axis=0), unit)

    def and_of(self, other: Measures) -> Measures:
        """Combine the measures of two sets of rows (Chan, Golub & LeVeque 1983)."""
        n = self.n + other.n
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        unit = np.where(high > low, high - low, 1.0)
        # sums of squares around the common mean: both parts, and the distance of their means [Chan et al. 1983]
        apart = (other.mean - self.mean) / unit
        squares = self.squares * (self.unit / unit) ** 2 + other.squares * (other.unit / unit) ** 2
        return Measures(
            n=n,
            low=low,
            high=high,
            mean=self.mean + (other.mean - self.mean) * (other.n / n),
            squares=squares + apart**2 * (self.n * other.n / n),
            unit=unit,
        )

    @classmethod
    def over(cls, parts: Iterable[Measures]) -> Measures:
        """Combine the measures of all parts."""
        return reduce(Measures.and_of, parts)

    @property
    def width(self) -> FloatArray:
        """Range of every column; (d,)."""
        return np.asarray(self.high - self.low)

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations, divisor n; (d,)."""
        return np.asarray(np.sqrt(self.squares / self.n) * self.unit)
