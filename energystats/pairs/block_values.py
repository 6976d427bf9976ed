"""Hold values and measures of blocks of rows, in this process or on the workers of a Dask cluster."""

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

__all__ = [
    "BlockValues",
    "Measures",
    "Task",
    "ValuesHere",
    "ValuesThere",
    "fetched",
    "itself",
    "slices_of",
    "sum_by_tree",
]


ADDED_AT_ONCE = 16  # results of one task of the tree
Task = Callable[..., Any]  # of a value, what all blocks share, and the block's part of some columns


class BlockValues(Protocol):
    """Define the interface to one value per block of consecutive rows, such as coordinates or features."""

    @property
    def spans(self) -> Sequence[slice]:
        """Return the slice of rows in every block of a table."""

    @property
    def n_machines(self) -> int:
        """Return the number of processes whose memory holds the blocks of a table."""

    def share(self, value: Any) -> Any:
        """Send a value to all workers that need it, and return it, or where these are remote a future of it."""

    def place(self, column: AnyArray) -> Any:
        """Send a column, one number per row, in parts to the workers that hold the blocks of rows; return the parts."""

    def map(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Iterator[Any]:
        """Run a task on each block of rows in turn, with shared values and columns, and yield the results."""

    def sum(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> Any:
        """Run a task on all blocks of rows, with shared values and columns, and return the sum of results."""

    def kept(self, task: Task, *shared: Any) -> BlockValues:
        """Return the results of a task on every block of rows, kept where the blocks are."""


def slices_of(ends: Sequence[int]) -> list[slice]:
    """Convert end positions of consecutive blocks to slices of rows."""
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ValuesHere:
    """Hold values of blocks of rows that are read or computed in this process."""

    spans: Sequence[slice]  # the rows of every block
    read: Callable[[slice], Any]  # the value of a block from its rows
    threaded: bool = False  # whether tasks run side by side, which they must not mind; values are read one at a time

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
        """Return the values of only the first `count` blocks of rows."""
        return replace(self, spans=self.spans[:count])

    def in_threads(self, threaded: bool) -> Self:
        """Return the same blocks of values, on which tasks run in several threads or one after the other."""
        return replace(self, threaded=threaded)


@dataclass(frozen=True, slots=True, eq=False)
class ValuesThere:
    """Hold one value per block of rows on the workers of a Dask cluster."""

    client: Any  # where they are
    futures: Sequence[Any]  # one for each block
    spans: Sequence[slice]  # the rows of every block

    @property
    def n_machines(self) -> int:
        return max(1, len(self.client.nthreads()))

    def share(self, value: Any) -> Any:
        return self.client.submit(itself, value, pure=False)

    def place(self, column: AnyArray) -> tuple[Any, ...]:
        return tuple(self.client.submit(itself, column[span], pure=False) for span in self.spans)

    def begun(self, task: Task, *shared: Any, columns: Sequence[Any] = ()) -> list[Any]:
        """Start a task on every block of rows on the Dask cluster, and return the futures."""
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
    """Fetch the result of one future, or of several, from a Dask cluster; raise the error of a failed task.

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
    """Start summing futures on a Dask cluster as a tree of partial sums, and return the future of the sum."""
    # a tree of sums: no task takes more than a few results, and the depth is logarithmic
    while len(parts) > 1:
        groups = [parts[first : first + ADDED_AT_ONCE] for first in range(0, len(parts), ADDED_AT_ONCE)]
        parts = [client.submit(_add_up, *group, pure=False, priority=priority) for group in groups]
    return parts[0]


def _add_up(*values: Any) -> Any:
    """Return the sum of several values."""
    return reduce(add, values)


def itself(value: Any) -> Any:
    """Return a value unchanged; as a Dask task it is repeated if its worker is lost."""
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Hold the number of rows, and ranges, means and deviations of the columns of some rows."""

    n: int  # number of rows
    # low, high: (d,) smallest and largest values
    low: FloatArray
    high: FloatArray
    # mean, rest: (d,) means, and what rounding took from them: far from 0 a mean has too few digits for differences of
    # means
    mean: FloatArray
    rest: FloatArray
    squares: FloatArray  # (d,) sums of squared deviations from the mean, in units of `unit`
    unit: FloatArray  # (d,) ranges, so that squares neither vanish nor overflow; 1 for constant columns

    @classmethod
    def of(cls, block: FloatArray) -> Self:
        """Compute extremes, means and sums of squared deviations of the columns of one block; (b, d)."""
        low, high = block.min(axis=0), block.max(axis=0)
        unit = np.where(high > low, high - low, 1.0)
        mean = block.mean(axis=0)
        off = block - mean
        rest = off.mean(axis=0)
        return cls(len(block), low, high, mean, rest, (((off - rest) / unit) ** 2).sum(axis=0), unit)

    def and_of(self, other: Measures) -> Measures:
        """Combine means, deviations and ranges of two sets of rows (Chan, Golub & LeVeque 1983)."""
        n = self.n + other.n
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        unit = np.where(high > low, high - low, 1.0)
        # sums of squares around the common mean: both parts, and the distance of their means [Chan et al. 1983]
        delta = (other.mean - self.mean) + (other.rest - self.rest)
        squares = sum(m.squares * np.where(m.high > m.low, m.unit / unit, 0.0) ** 2 for m in (self, other))
        moved = delta * (other.n / n)
        mean = self.mean + moved
        return Measures(
            n=n,
            low=low,
            high=high,
            mean=mean,
            rest=((self.mean - mean) + self.rest) + moved,
            squares=squares + (delta / unit) ** 2 * (self.n * other.n / n),
            unit=unit,
        )

    @classmethod
    def over(cls, parts: Iterable[Measures]) -> Measures:
        """Combine means, deviations and ranges over several sets of rows."""
        return reduce(Measures.and_of, parts)

    @property
    def width(self) -> FloatArray:
        """Return the range of every column; (d,)."""
        return np.asarray(self.high - self.low)

    @property
    def deviation(self) -> FloatArray:
        """Return the standard deviation of every column, with divisor n; (d,)."""
        return np.asarray(np.sqrt(self.squares / self.n) * self.unit)
