"""Hold a table on the workers of a Dask cluster, and sum over its pairs by tasks, one for two blocks of rows.

Permutations are not sent: a worker draws them itself, from the key of the test and their number.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np

from energystats._core.group_sums import (
    bin_sums_by_product,
    bin_sums_from_upper,
    groups_multiplied,
    indicators,
    largest_last,
    reordered,
)
from energystats._core.labelings import LABELINGS_PER_BLOCK, Labelings, narrowed
from energystats._typing import AnyArray, FloatArray, IntArray
from energystats.metrics.base import Metric
from energystats.pairs.block_values import Measures, Task, ValuesThere, fetched, itself, sum_by_tree
from energystats.pairs.disk import Rows, tiles_between, tiles_within
from energystats.pairs.tiles import Pairs, completed_sums, warn_if_negative

__all__ = ["Drawing", "OnCluster", "RowsOnCluster"]


SMALL_TILES = 256, 2048  # of one thread: workers share out tasks, not tiles
LABELING_BYTES = 2**27  # of the labels that a worker keeps
INDICATOR_COLUMNS = 2048  # of a product with a tile
BIN_SUMS_BYTES = 2**23  # of the sums between bins that a task gives back
Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class RowsOnCluster(Rows):
    """Hold a table as blocks of rows on a Dask cluster, each block a future."""

    client: Any = None  # where the blocks are
    blocks: tuple[Any, ...] = ()  # each of an array (b, d) of finite numbers
    ends: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))  # (n_blocks,) where each block ends
    d: int = 0  # number of columns

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.ends[-1]), self.d

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self)

    @property
    def spans(self) -> list[Span]:
        """Return the first row of every block of rows, and the row after its last."""
        ends = self.ends.tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))

    @property
    def n_workers(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def measured(self) -> Measures:
        parts = [self.client.submit(Measures.of, block, pure=False) for block in self.blocks]
        return Measures.over(fetched(self.client, parts))

    def pick(self, rows: IntArray) -> FloatArray:
        found = np.empty((rows.size, self.d))
        wanted = {}
        for i, (start, stop) in enumerate(self.spans):
            here = np.flatnonzero((rows >= start) & (rows < stop))
            if here.size:
                wanted[i] = here, self.client.submit(np.take, self.blocks[i], rows[here] - start, axis=0, pure=False)
        for here, future in wanted.values():
            found[here] = fetched(self.client, future)
        return np.asarray((found - self.center) / self.scale)

    def mapped(self, task: Task, *shared: Any, column: FloatArray) -> RowsOnCluster:
        blocks = tuple(self.values().begun(task, *shared, columns=(column,)))
        return replace(self, blocks=blocks, center=np.zeros(1), scale=np.ones(1))

    def pairs(self, metric: Metric) -> OnCluster:
        return OnCluster(self, metric)

    def values(self) -> ValuesThere:
        raw = ValuesThere(self.client, self.blocks, [slice(*span) for span in self.spans])
        return raw.kept(_standardize_rows, self.center, self.scale) if self.standardizes else raw


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Hold where a block of rows lies in the table, and the centre and scale for its z-scores."""

    span: Span
    center: FloatArray
    scale: FloatArray

    def points(self, raw: FloatArray) -> FloatArray:
        """Standardize the rows of a block if rows are compared as z-scores; (b, d) -> (b, d)."""
        return _standardize_rows(raw, self.center, self.scale)


def _standardize_rows(raw: FloatArray, center: FloatArray, scale: FloatArray) -> FloatArray:
    """Subtract the centre from rows and divide by the scale, column by column; (b, d) -> (b, d)."""
    return np.asarray((raw - center) / scale)


@dataclass(frozen=True, slots=True, eq=False)
class _PartialSums:
    """Hold one task's part of sums over pairs, and the number and the smallest of negative values of rho."""

    arrays: tuple[FloatArray, ...]
    negative: int = 0
    smallest: float = 0.0

    def __add__(self, other: _PartialSums) -> _PartialSums:
        arrays = tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True))
        return _PartialSums(arrays, self.negative + other.negative, min(self.smallest, other.smallest))


@dataclass(frozen=True, eq=False)
class OnCluster(Pairs):
    """Compute products with R and sums of rho over pairs of rows that are on a Dask cluster."""

    rows: RowsOnCluster  # the points
    metric: Metric  # fitted to them

    @cached_property
    def places(self) -> list[_Block]:
        """Return for each block of rows its place in the table, and the centre and scale for its z-scores."""
        return [_Block(span, self.rows.center, self.rows.scale) for span in self.rows.spans]

    def of_pairs(
        self, task: Callable[..., _PartialSums], given: Callable[[int, int], tuple[Any, ...]], level: int = 0
    ) -> dict[tuple[int, int], Any]:
        """Submit a task for every pair of blocks of rows to the Dask cluster, and return the futures by pair."""
        submit, blocks, places = self.rows.client.submit, self.rows.blocks, self.places
        return {
            (i, j): submit(
                task, blocks[i], blocks[j], places[i], places[j], self.metric, *given(i, j), pure=False, priority=-level
            )
            for i in range(len(blocks))
            for j in range(i, len(blocks))
        }

    def over_pairs(
        self, task: Callable[..., _PartialSums], given: Callable[[int, int], tuple[Any, ...]], level: int = 0
    ) -> Any:
        """Submit a task for every pair of blocks of rows, and return a future of the sum of its results."""
        parts = self.of_pairs(task, given, level).values()
        return sum_by_tree(self.rows.client, list(parts), priority=1 - level)

    def summed(
        self, task: Callable[..., _PartialSums], given: Callable[[int, int], tuple[Any, ...]]
    ) -> tuple[FloatArray, ...]:
        """Run a task on every pair of blocks of rows, return the sum, and warn of negative dissimilarities."""
        found: _PartialSums = fetched(self.rows.client, self.over_pairs(task, given))
        warn_if_negative(found.negative, found.smallest)
        return found.arrays

    def multiply(self, columns: FloatArray) -> FloatArray:
        """Multiply the dissimilarity matrix by columns on a Dask cluster; (n, c) -> (n, c)."""
        spans = self.rows.spans
        # a pair of blocks gives rows to both of them; the rows of a block are summed over the pairs it is in
        parts = self.of_pairs(_product_task, lambda i, j: (columns[slice(*spans[i])], columns[slice(*spans[j])]))
        numbers = range(len(spans))
        rows = [
            self.rows.client.submit(
                _side_sum, [parts[i, j] for j in numbers if j >= i], [parts[j, i] for j in numbers if j < i], pure=False
            )
            for i in numbers
        ]
        found: list[_PartialSums] = fetched(self.rows.client, rows)
        warn_if_negative(sum(part.negative for part in found), min(part.smallest for part in found))
        return np.concatenate([part.arrays[0] for part in found])

    def block_sums(self, Z: FloatArray) -> FloatArray:
        """Compute sums of dissimilarities between groups for b labelings on a Dask cluster; (n, k, b) -> (b, k, k)."""
        spans = self.rows.spans
        return self.summed(_block_task, lambda i, j: (Z[slice(*spans[i])], Z[slice(*spans[j])]))[0]

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute sums of rho between groups for b labelings, and R @ weights, R the matrix of rho; (b, k, k), (n,)."""
        return self.block_sums(Z), self.multiply(weights[:, None])[:, 0]

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        # every task gives back all sums between bins: for many bins, products with R move less
        if 8 * n_bins**2 > BIN_SUMS_BYTES:
            return bin_sums_by_product(self.multiply, codes, weights, n_bins)
        bins = self.rows.client.submit(
            itself, _BinsOnCluster(codes.astype(np.min_scalar_type(n_bins)), weights, n_bins), pure=False
        )
        return self.summed(_bins_task, lambda i, j: (bins,))[0]

    def absolute_total(self) -> float:
        """Sum the absolute dissimilarities over all ordered pairs of points on a Dask cluster."""
        return float(self.summed(_absolute_task, lambda i, j: ())[0])

    def null_sums(
        self, weights: FloatArray, codes: IntArray, others: Labelings, k: int, *, at_once: int | None
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield sums of dissimilarities between groups, and group sizes, of labelings drawn by the Dask workers.

        All chunks of labelings are submitted at once, unless the caller evaluates them in between (`at_once`).
        """
        if others.key is None:
            yield from Pairs.null_sums(self, weights, codes, others, k, at_once=at_once)
            return
        # only the key of the random labelings is sent; every worker draws the same ones from it
        client = self.rows.client
        drawing = Drawing(uuid4().hex, codes.astype(np.min_scalar_type(k)), weights, others, k)
        shared = client.submit(itself, drawing, pure=False)
        chunks = drawing.chunks(at_once)

        def future_of(chunk: _Chunk) -> Any:
            return self.over_pairs(_labelings_task, lambda i, j: (shared, chunk), chunk.level)

        futures: Iterable[Any] = map(future_of, chunks) if at_once else [future_of(chunk) for chunk in chunks]
        negative, smallest = 0, 0.0
        for future in futures:
            part: _PartialSums = fetched(client, future)
            negative, smallest = part.negative, part.smallest
            sums, sizes = part.arrays
            yield reordered(*completed_sums(sums, sizes, k), drawing.order)
        warn_if_negative(negative, smallest)


# ---------------------------------------------------------------- permutations


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Hold a range of consecutive blocks of 64 random labelings that are processed together."""

    level: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Hold what every Dask worker needs to draw the same random labelings."""

    token: str  # name of this drawing among those that a worker has seen
    codes: AnyArray  # (n,) the observed labels
    weights: FloatArray  # (n,) of the rows
    others: Labelings  # the random ones
    k: int  # number of groups

    @property
    def order(self) -> AnyArray:
        """Return new codes for all groups, of which the largest group and the last one exchange theirs; (k,)."""
        return largest_last(self.codes, self.k)

    @property
    def multiplied(self) -> int:
        """Return how many groups need their own sums of dissimilarities: all, or all but one, found by subtraction."""
        return groups_multiplied(self.weights, self.k)

    def chunks(self, at_once: int | None) -> list[_Chunk]:
        """Divide the blocks of labelings into ranges that fit a worker's memory."""
        n_blocks = -(-self.others.count // LABELINGS_PER_BLOCK)
        kept = LABELING_BYTES // (LABELINGS_PER_BLOCK * self.codes.size)
        wide = INDICATOR_COLUMNS // (LABELINGS_PER_BLOCK * self.multiplied)
        step = at_once or max(1, min(kept, wide))
        return [
            _Chunk(level, first, min(first + step, n_blocks))
            for level, first in enumerate(range(0, max(n_blocks, 1), step))
        ]

    def labelings(self, chunk: _Chunk) -> AnyArray:
        """Draw the labels of all rows for a range of random labelings; the observed one begins the first; (b, n)."""
        assert self.others.key is not None
        count, drawn = self.others.count, [narrowed(self.codes)[None, :]] if chunk.first == 0 else []
        for block in range(chunk.first, chunk.stop):
            size = min(LABELINGS_PER_BLOCK, count - block * LABELINGS_PER_BLOCK)
            drawn.append(self.others.scheme.block(block, size, self.others.key))
        return np.concatenate(drawn)


KEPT: OrderedDict[tuple[str, int], AnyArray] = OrderedDict()  # the labelings that this worker drew last
KEPT_AT_MOST = 2
ONE_DRAWS = threading.Lock()


def _draw_labelings(drawing: Drawing, chunk: _Chunk) -> AnyArray:
    """Draw a range of random labelings on a Dask worker, cached there for further tasks; (b, n)."""
    name = drawing.token, chunk.first
    # tasks of one worker run in several threads; one draws, the others wait for it
    with ONE_DRAWS:
        if name not in KEPT:
            while len(KEPT) >= KEPT_AT_MOST:
                KEPT.popitem(last=False)
            KEPT[name] = drawing.labelings(chunk)
        KEPT.move_to_end(name)
        return KEPT[name]


# ---------------------------------------------------------------- tasks


def _compute_tiles(
    X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric
) -> Iterator[tuple[slice, slice, FloatArray, bool]]:
    """Compute dissimilarities between two blocks of rows by tiles, and yield each with its rows and columns.

    It also says whether a tile is on the diagonal.
    """
    points = a.points(X)
    if a.span == b.span:
        tiles = tiles_within(points, a.span[0], metric, SMALL_TILES)
    else:
        tiles = tiles_between(points, a.span[0], b.points(Y), b.span[0], metric, SMALL_TILES)
    for row, column, tile in tiles:
        height, width = tile.shape
        i, j = row - a.span[0], column - b.span[0]
        yield slice(i, i + height), slice(j, j + width), tile, row == column


class _Negatives:
    """Count the negative values of rho, for metrics that can have any."""

    def __init__(self, metric: Metric) -> None:
        self.possible = not metric.negative_type
        self.count, self.smallest = 0, 0.0

    def add(self, tile: FloatArray, *, diagonal: bool) -> None:
        """Add the negative dissimilarities in one tile to their count, and update the smallest value."""
        if self.possible and tile.min() < 0:
            self.count += int(np.count_nonzero(tile < 0)) // (1 + diagonal)
            self.smallest = min(self.smallest, float(tile.min()))

    def part(self, *arrays: FloatArray) -> _PartialSums:
        """Return arrays of sums together with the count of negative dissimilarities and the smallest of these."""
        return _PartialSums(arrays, self.count, self.smallest)


def _product_task(
    X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric, own: FloatArray, others: FloatArray
) -> _PartialSums:
    """Compute what pairs from two blocks of rows add to a product of the dissimilarity matrix with columns."""
    upper, lower, negatives = np.zeros_like(own), np.zeros_like(others), _Negatives(metric)
    for rows, columns, tile, diagonal in _compute_tiles(X, Y, a, b, metric):
        negatives.add(tile, diagonal=diagonal)
        upper[rows] += tile @ others[columns]
        if not diagonal:
            (upper if a.span == b.span else lower)[columns] += tile.T @ own[rows]
    return negatives.part(upper, lower)


def _side_sum(upper: list[_PartialSums], lower: list[_PartialSums]) -> _PartialSums:
    """Sum what several pairs of blocks add to the rows of a matrix product that belong to one block."""
    product = np.sum([part.arrays[0] for part in upper] + [part.arrays[1] for part in lower], axis=0)
    return _PartialSums((product,), sum(part.negative for part in upper), min(part.smallest for part in upper))


def _block_task(
    X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric, own: FloatArray, others: FloatArray
) -> _PartialSums:
    """Compute the sums of dissimilarities between groups over pairs from two blocks of rows; (b, k, k)."""
    _, k, n_labelings = own.shape
    half, negatives = np.zeros((n_labelings, k, k)), _Negatives(metric)
    for rows, columns, tile, diagonal in _compute_tiles(X, Y, a, b, metric):
        negatives.add(tile, diagonal=diagonal)
        product = (tile @ others[columns].reshape(-1, k * n_labelings)).reshape(-1, k, n_labelings)
        half += np.einsum("ijb,ilb->bjl", own[rows], product) * (0.5 if diagonal else 1.0)
    return negatives.part(half + half.transpose(0, 2, 1))


@dataclass(frozen=True, slots=True, eq=False)
class _BinsOnCluster:
    """Hold bin numbers and weights of all rows, which are sent to the Dask workers once."""

    codes: AnyArray  # (n,) bin of each row
    weights: FloatArray  # (n,) its weight
    count: int  # number of bins


def _bins_task(
    X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric, bins: _BinsOnCluster
) -> _PartialSums:
    """Compute the sums of w_x w_y rho between bins over pairs from two blocks of rows; (n_bins, n_bins)."""
    spans, negatives = [a.span] if a.span == b.span else [a.span, b.span], _Negatives(metric)
    codes, weights = (np.concatenate([column[slice(*s)] for s in spans]) for column in (bins.codes, bins.weights))
    shift = 0 if a.span == b.span else a.span[1] - a.span[0]

    def upper() -> Iterator[tuple[int, int, FloatArray]]:
        for rows, columns, tile, diagonal in _compute_tiles(X, Y, a, b, metric):
            negatives.add(tile, diagonal=diagonal)
            yield rows.start, shift + columns.start, tile

    sums = bin_sums_from_upper(upper(), codes.astype(np.intp), weights, bins.count)
    return negatives.part(sums)


def _absolute_task(X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric) -> _PartialSums:
    """Compute the sum of absolute dissimilarities over pairs from two blocks of rows."""
    total = sum((2 - diagonal) * np.abs(tile).sum() for _, _, tile, diagonal in _compute_tiles(X, Y, a, b, metric))
    return _PartialSums((np.asarray(total, dtype=np.float64),))


def _labelings_task(
    X: FloatArray, Y: FloatArray, a: _Block, b: _Block, metric: Metric, drawing: Drawing, chunk: _Chunk
) -> _PartialSums:
    """Compute sums of dissimilarities between groups, for some labelings, over pairs from two blocks of rows."""
    codes, k = drawing.order[_draw_labelings(drawing, chunk)], drawing.multiplied
    own, others = codes[:, slice(*a.span)].T, codes[:, slice(*b.span)].T
    w, v = drawing.weights[slice(*a.span)], drawing.weights[slice(*b.span)]
    n_labelings, negatives = len(codes), _Negatives(metric)
    # group k + 1 is all rows together, so that one group need not be multiplied (`completed_sums`)
    half = np.zeros((n_labelings, k + 1, k + 1))
    for rows, columns, tile, diagonal in _compute_tiles(X, Y, a, b, metric):
        negatives.add(tile, diagonal=diagonal)
        Z = indicators(others[columns], k, v[columns])
        product = tile @ np.column_stack((Z.reshape(len(Z), -1), v[columns]))
        grouped, everything = product[:, :-1].reshape(-1, k, n_labelings), product[:, -1]
        Z = indicators(own[rows], k, w[rows])
        share = np.empty((n_labelings, k + 1, k + 1))
        share[:, :-1, :-1] = np.einsum("ijb,ilb->bjl", Z, grouped)
        share[:, :-1, -1] = np.einsum("ijb,i->bj", Z, everything)
        share[:, -1, :-1] = np.einsum("i,ilb->bl", w[rows], grouped)
        share[:, -1, -1] = w[rows] @ everything
        half += share * (0.5 if diagonal else 1.0)
    sizes = np.zeros((n_labelings, k + 1))
    if a.span == b.span:
        sizes[:, :-1] = np.stack([np.where(own == g, w[:, None], 0.0).sum(axis=0) for g in range(k)], axis=1)
        sizes[:, -1] = w.sum()
    return negatives.part(half + half.transpose(0, 2, 1), sizes)
