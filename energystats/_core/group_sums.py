"""Compute M = Z'RZ, the one small matrix behind every statistic [theory 3], for one labeling and for many at once.

`Z` holds indicators (or weights) of shape (n, k, b): k groups in each of b labelings. All routes give the same
numbers: tiles of the upper triangle of R, stored or not, by products or by tables, and sorted sums in one dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from energystats._core.labelings import LABELINGS_PER_BLOCK
from energystats._core.threads import one_thread, side_by_side
from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "Indicators",
    "UpperTiles",
    "absolute_total",
    "add_totals",
    "adding_serves",
    "bin_sums_by_product",
    "bin_sums_from_upper",
    "bin_sums_sorted",
    "block_sums_from_upper",
    "block_sums_sorted",
    "blocks_at_once",
    "groups_multiplied",
    "indicators",
    "largest_last",
    "multiply_sorted",
    "multiply_upper",
    "null_sums",
    "reordered",
    "room_for_labelings",
    "sums_of_sorted_groups",
    "tables_serve",
]


COMPILED_FROM = 300_000  # entries of Z; for fewer, loading the compiler costs more than it saves
COLUMNS_PER_PORTION = 256  # of indicators that go through a tile on one thread
THREADED_FROM = 10**9  # multiplications; fewer are over before threads are there
TABLES_FROM = 128  # labelings; fewer are not worth the tables
MANY_GROUPS = 24  # whose sums take less time by adding one entry after the other
ADDED_FROM = 10**8  # multiplications that this saves; fewer are over before the loop is loaded
LABELINGS_PER_PART = 8  # that go to one thread at a time
LABELINGS_AT_ONCE = 2048  # whose sums stay in a cache
COLUMNS_PER_PART = 256  # of a tile that go to one thread at a time
SUMS_SIDE_BY_SIDE = 16  # at most, and so the threads
SUMS_BYTES = 2**27  # of the sums of all of them
BATCH_BYTES = 2**24  # of tiles that portions go through before they meet
INDICATOR_BYTES = 3 * 2**26  # of the indicators held at a time, or of the labels they are made of
MULTIPLIED_AT_ONCE = 2 * 10**13  # pairs times labelings of one product, two or three minutes, after which a bar moves
ROWS_AT_ONCE = 4096  # of indicators that are made when they are needed
COLUMNS_BYTES = 2**26  # of the columns of bins that are multiplied at a time where R is known by its products alone

# (row, column, R[row:row + height, column:column + width]): every pair once, the diagonal tiles square and whole
UpperTiles = Iterable[tuple[int, int, FloatArray]]


def block_sums_from_upper(upper: UpperTiles, Z: FloatArray | Indicators) -> FloatArray:
    """Compute sums of dissimilarities between groups for b labelings, from tiles of the upper triangle; (b, k, k).

    It is M[b] = Z[:, :, b]' R Z[:, :, b] for a symmetric R. Of labelings given as labels, many groups are summed entry
    by entry, and for many labelings tables of sums replace the product. Else labelings are shared out in portions whose
    width does not depend on the number of threads, so that the numbers do not either. Every portion goes through some
    tiles on one thread of linear algebra: when another process holds a core, the threads of a single product would wait
    for each other, those of portions do not.
    """
    n, k, b = Z.shape
    if isinstance(Z, Indicators) and adding_serves(n, k, b):
        return _block_sums_by_adding(upper, Z)
    if isinstance(Z, Indicators) and tables_serve(n, k, b):
        return _block_sums_by_tables(upper, Z)
    width = max(1, COLUMNS_PER_PORTION // k)
    some = [slice(start, start + width) for start in range(0, b, width)]
    portions = [_LabelingSums(Z.of_labelings(s) if isinstance(Z, Indicators) else Z[:, :, s]) for s in some]
    with side_by_side(len(portions) if n * n * k * b >= THREADED_FROM else 1) as apply:
        for tiles in _some_at_a_time(upper):
            apply(partial(_LabelingSums.add, tiles=tiles), portions)
    return np.concatenate([portion.sums() for portion in portions])


def tables_serve(n: int, k: int, b: int) -> bool:
    """Return whether lookup tables are faster than products for sums of k groups in b labelings of n points."""
    if b < TABLES_FROM or n * n * k * b < THREADED_FROM:
        return False
    from energystats._core import jit

    return jit.numba is not None


def adding_serves(n: int, k: int, b: int) -> bool:
    """Return whether adding entry by entry is faster than products or tables for sums of k groups in b labelings."""
    if k < MANY_GROUPS or n * n * k * b < ADDED_FROM:
        return False
    from energystats._core import jit

    return jit.numba is not None


def _block_sums_by_adding(upper: UpperTiles, Z: Indicators) -> FloatArray:
    """Compute sums of dissimilarities between many groups for b labelings, entry by entry; (b, k, k)."""
    from energystats._core.added_entries import add_entries

    def add(labelings: _SomeLabelings, tiles: Sequence[tuple[int, int, FloatArray]]) -> None:
        for row, column, tile in tiles:
            add_entries(np.ascontiguousarray(tile), row, column, labelings.codes, Z.weights, labelings.above)

    parts = _SomeLabelings.of(Z)
    with side_by_side(len(parts)) as apply:
        for tiles in _some_at_a_time(upper):
            apply(partial(add, tiles=tiles), parts)
    return _SomeLabelings.together(parts, Z.k)


@dataclass(frozen=True, slots=True, eq=False)
class _SomeLabelings:
    """Hold some labelings of many groups, and the sums between these that are added up on one thread."""

    codes: IntArray  # (b, n)
    above: FloatArray  # (b, k + 1, k + 1) the groups that are left out have a place, too

    @classmethod
    def of(cls, Z: Indicators) -> list[_SomeLabelings]:
        """Divide all labelings, eight to a part, whose sums begin at 0."""
        codes = np.minimum(np.ascontiguousarray(Z.codes.T, dtype=np.intp), Z.k)
        some = [codes[start : start + LABELINGS_PER_PART] for start in range(0, len(codes), LABELINGS_PER_PART)]
        return [cls(each, np.zeros((len(each), Z.k + 1, Z.k + 1))) for each in some]

    @staticmethod
    def together(parts: Sequence[_SomeLabelings], k: int) -> FloatArray:
        """Return the sums over all ordered pairs between the first k groups of all labelings; (b, k, k)."""
        above = np.concatenate([part.above[:, :k, :k] for part in parts])
        return np.asarray(above + above.transpose(0, 2, 1))


def _block_sums_by_tables(upper: UpperTiles, Z: Indicators) -> FloatArray:
    """Compute sums of dissimilarities between groups for b labelings, by the method of the Four Russians; (b, k, k)."""
    from energystats._core.four_russians import add_tile, pack_labels

    n, k, b = Z.shape
    portions = [slice(start, start + LABELINGS_AT_ONCE) for start in range(0, b, LABELINGS_AT_ONCE)]
    bits = [pack_labels(Z.codes[:, some], k) for some in portions]
    # parts of tiles go to sums whose number does not depend on that of the threads, so that no digit does
    sums = [np.zeros((b, k, k)) for _ in range(max(1, min(SUMS_SIDE_BY_SIDE, SUMS_BYTES // (8 * b * k * k))))]

    def add(some: tuple[FloatArray, list[tuple[int, int, FloatArray, int]]]) -> None:
        own, parts = some
        for row, column, tile, start in parts:
            stop = min(start + COLUMNS_PER_PART, tile.shape[1])
            for labelings, packed in zip(portions, bits, strict=True):
                add_tile(tile, row, column, start, stop, packed, Z.weights, own[labelings])

    diagonal = np.zeros(n)  # of bins it is not 0
    with side_by_side(len(sums)) as apply:
        for tiles in _some_at_a_time(upper):
            whole = [(row, column, np.ascontiguousarray(tile)) for row, column, tile in tiles]
            for row, _, tile in (each for each in whole if each[0] == each[1]):
                diagonal[row : row + len(tile)] = np.diagonal(tile)
            parts = [(*tile, start) for tile in whole for start in range(0, tile[2].shape[1], COLUMNS_PER_PART)]
            apply(add, [(own, parts[i :: len(sums)]) for i, own in enumerate(sums)])
    above = np.sum(sums, axis=0)
    M = np.asarray(above + above.transpose(0, 2, 1))
    if diagonal.any():
        for j in range(k):
            M[:, j, j] += (diagonal * Z.weights**2) @ (Z.codes == j)
    return M


class _LabelingSums:
    """Add up the sums of some labelings over tiles, as the tiles come."""

    def __init__(self, Z: FloatArray | Indicators) -> None:
        n, self.k, self.b = Z.shape
        self.Z = Z
        self.columns = None if isinstance(Z, Indicators) else Z.reshape(n, self.k * self.b)  # no copy where k = 1
        self.half = np.zeros((self.k, self.k, self.b))
        self.rows, self.product = slice(0, 0), np.empty((0, 0))

    def add(self, tiles: Sequence[tuple[int, int, FloatArray]]) -> None:
        """Add the product of tiles of the upper triangle with group indicators to the running sums."""
        for row, column, tile in tiles:
            height, width = tile.shape
            part = tile @ self._columns_of(slice(column, column + width))
            if row == column:  # both triangles
                part *= 0.5
            if self.rows.stop and self.rows.start == row:
                self.product += part
                continue
            self._close_rows()
            self.rows, self.product = slice(row, row + height), part

    def _columns_of(self, rows: slice) -> FloatArray:
        """Return the indicators of all groups and labelings for some rows, from memory or built now; (r, k b)."""
        return self.Z[rows].reshape(-1, self.k * self.b) if self.columns is None else self.columns[rows]

    def _close_rows(self) -> None:
        """Sum the product of the current rows with indicators by the groups of these rows, and add it to the totals."""
        if self.rows.stop:
            product = self.product.reshape(-1, self.k, self.b)
            self.half += np.einsum("ijb,ilb->jlb", self.Z[self.rows], product)

    def sums(self) -> FloatArray:
        """Return the sums of dissimilarities between groups for each labeling, both triangles added; (b, k, k)."""
        self._close_rows()
        # R is symmetric, so the lower triangle contributes the transposed sums
        self.half += self.half.transpose(1, 0, 2).copy()
        return np.asarray(self.half.transpose(2, 0, 1))


def _some_at_a_time(upper: UpperTiles) -> Iterator[list[tuple[int, int, FloatArray]]]:
    """Collect tiles of a matrix in batches of limited memory, and yield each batch as a list."""
    batch: list[tuple[int, int, FloatArray]] = []
    size = 0
    for tile in upper:
        batch.append(tile)
        size += tile[2].nbytes
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def multiply_upper(upper: UpperTiles, columns: FloatArray) -> FloatArray:
    """Multiply a symmetric matrix by columns, given tiles of its upper triangle; (n, c) -> (n, c)."""
    product = np.zeros_like(columns)
    for row, column, tile in upper:
        height, width = tile.shape
        product[row : row + height] += tile @ columns[column : column + width]
        if row != column:
            product[column : column + width] += tile.T @ columns[row : row + height]
    return product


def add_totals(upper: UpperTiles, weights: FloatArray, totals: FloatArray) -> Iterator[tuple[int, int, FloatArray]]:
    """Yield tiles of a symmetric matrix unchanged, and add its product with weights to an array; (n,), (n,)."""
    for row, column, tile in upper:
        height, width = tile.shape
        totals[row : row + height] += tile @ weights[column : column + width]
        if row != column:
            totals[column : column + width] += weights[row : row + height] @ tile
        yield row, column, tile


def absolute_total(upper: UpperTiles) -> float:
    """Sum the absolute entries of a symmetric matrix, given tiles of its upper triangle."""
    return float(sum((1 + (row != column)) * np.abs(tile).sum() for row, column, tile in upper))


def multiply_sorted(gaps: FloatArray, columns: FloatArray) -> FloatArray:
    """Multiply the matrix of |x_i - x_j| by columns, from the gaps of sorted x, in O(n); (n - 1,), (n, c) -> (n, c).

    Every gap is counted once for each pair of points that it separates, so that non-negative columns
    give sums of non-negative terms: nothing cancels, whatever the offset of x.
    """
    below = np.cumsum(columns, axis=0)
    above = np.cumsum(columns[:0:-1], axis=0)[::-1]
    product = np.zeros_like(columns)
    product[1:] = np.cumsum(gaps[:, None] * below[:-1], axis=0)
    product[:-1] += np.cumsum((gaps[:, None] * above)[::-1], axis=0)[::-1]
    return np.asarray(product)


def block_sums_sorted(gaps: FloatArray, order: IntArray, Z: FloatArray | Indicators) -> FloatArray:
    """Compute sums of |x_i - x_j| between groups for b labelings, from gaps of sorted x; (n, k, b) -> (b, k, k).

    `order`, (n,), sorts the x; there are n - 1 gaps. Labelings of many groups come as labels.
    """
    if isinstance(Z, Indicators):
        from energystats._core.sums_on_line import add_over_gaps

        parts, weights = _SomeLabelings.of(Z), Z.weights
        with side_by_side(len(parts)) as apply:
            apply(lambda part: add_over_gaps(gaps, order, part.codes, weights, part.above), parts)
        return _SomeLabelings.together(parts, Z.k)
    n, k, b = Z.shape
    if Z.size >= COMPILED_FROM:
        from energystats._core import jit
        from energystats._core.sums_on_line import sums_over_gaps

        if jit.numba is not None:
            return sums_over_gaps(gaps, order, Z).transpose(2, 0, 1)
    Z = Z[order]
    product = multiply_sorted(gaps, Z.reshape(n, k * b)).reshape(n, k, b)
    sums = np.einsum("ijb,ilb->bjl", Z, product)
    return np.asarray(0.5 * (sums + sums.transpose(0, 2, 1)))


def sums_of_sorted_groups(x: FloatArray, codes: IntArray, k: int) -> FloatArray | None:
    """Compute sums of |x_i - x_j| between groups of one labeling by sorting each group; None if not faster; (k, k).

    None for few points, and where loops are not compiled: there `block_sums_sorted` is as fast.
    """
    if codes.size * k < COMPILED_FROM:
        return None
    from energystats._core import jit
    from energystats._core.sums_on_line import sum_across

    if jit.numba is None:
        return None
    groups = [np.sort(x[codes == j]) for j in range(k)]
    M = np.empty((k, k))
    for j, own in enumerate(groups):
        below = np.arange(1.0, own.size)
        M[j, j] = 2 * np.sum(np.diff(own) * (below * (own.size - below)))
        for l in range(j):
            M[j, l] = M[l, j] = sum_across(own, groups[l])
    return M


def _build_bin_matrix(codes: IntArray, weights: FloatArray, n_bins: int) -> csr_array:
    """Build a sparse matrix with the weight of each row in the column of its bin; (n, n_bins)."""
    n = codes.size
    return csr_array((weights, codes, np.arange(n + 1)), shape=(n, n_bins))


def bin_sums_from_upper(upper: UpperTiles, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
    """Sum weighted dissimilarities between bins of rows, from tiles of the upper triangle; O(n^2); (n_bins, n_bins).

    Where the rows of a bin follow each other, their entries are added up as they stand, about ten times as fast.
    """
    sums, every = np.zeros((n_bins, n_bins)), np.arange(n_bins)
    Z = None if (codes[1:] >= codes[:-1]).all() else _build_bin_matrix(codes, weights, n_bins)
    for row, column, tile in upper:
        rows, columns = slice(row, row + tile.shape[0]), slice(column, column + tile.shape[1])
        if Z is not None:
            own = others = every
            part = Z[rows].T @ (tile @ Z[columns])
        else:
            others, across = _sum_runs(tile * weights[columns], codes[columns])
            own, part = _sum_runs((across * weights[rows, None]).T, codes[rows])
            part = part.T
        sums[np.ix_(own, others)] += part
        if row != column:
            sums[np.ix_(others, own)] += part.T
    return sums


def _sum_runs(values: FloatArray, codes: IntArray) -> tuple[IntArray, FloatArray]:
    """Sum the neighbouring columns that share a bin code; return the code of each run of columns, and the sums."""
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    return codes[starts], np.add.reduceat(values, starts, axis=1)


def bin_sums_sorted(gaps: FloatArray, order: IntArray, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
    """Sum w_x w_y |x - y| over the pairs of points of each two bins, from sorted x; O(n n_bins); (n_bins, n_bins)."""
    n = order.size
    if n * n_bins >= COMPILED_FROM:
        from energystats._core import jit
        from energystats._core.sums_on_line import bin_sums_over_gaps

        if jit.numba is not None:
            return bin_sums_over_gaps(gaps, order, codes, weights, n_bins)
    return bin_sums_by_product(lambda columns: multiply_sorted(gaps, columns), codes[order], weights[order], n_bins)


def bin_sums_by_product(
    multiply: Callable[[FloatArray], FloatArray], codes: IntArray, weights: FloatArray, n_bins: int
) -> FloatArray:
    """Sum weighted dissimilarities between bins of points by products with their matrix alone; (n_bins, n_bins).

    R is symmetric. O(n^2 n_bins) time where a product with a column is O(n^2).
    """
    Z, sums = _build_bin_matrix(codes, weights, n_bins), np.empty((n_bins, n_bins))
    at_once = max(1, COLUMNS_BYTES // (8 * codes.size))
    for start in range(0, n_bins, at_once):
        columns = Z[:, start : start + at_once].toarray()
        sums[:, start : start + at_once] = Z.T @ multiply(columns)
    return 0.5 * (sums + sums.T)


class _LinearMap(Protocol):
    """Define R as a linear map: the products that `null_sums` needs."""

    @property
    def has_tiles(self) -> bool:
        """Return whether sums over pairs come from tiles of the matrix, so that labels may stand for indicators."""

    @property
    def adds_many(self) -> bool:
        """Return whether labels may stand for indicators of many groups, whose sums are added pair by pair."""

    @property
    def takes_labels(self) -> bool:
        """Return whether sums between groups take labels in place of indicators, which need memory for many rows."""

    def block_sums(self, Z: Any) -> FloatArray:
        """Compute sums of dissimilarities between groups for every labeling; indicators (n, k, b) -> (b, k, k)."""

    def block_sums_and_totals(self, Z: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute sums of dissimilarities between groups for every labeling, and weighted ones from points to all."""


def null_sums(
    pairs: _LinearMap,
    weights: FloatArray,
    labelings: Iterator[AnyArray],
    k: int,
    *,
    n_blocks: int,
    at_once: int | None = None,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield sums of dissimilarities between groups and group sizes for all labelings, in batches; (b, k, k), (b, k).

    `groups_multiplied` go through the product with R. `at_once` of the `n_blocks` blocks of labelings share a product;
    None takes as many as memory allows, and as many in one product as in the other.
    """
    n, mass = weights.size, float(weights.sum())
    # many groups are summed as fast with the last one as without, and nothing is lost in a difference
    all_of_many = pairs.adds_many and adding_serves(n, k, LABELINGS_PER_BLOCK)
    multiplied = k if all_of_many else groups_multiplied(weights, k)
    room = room_for_labelings(n, multiplied, pairs.takes_labels)
    at_once = at_once or blocks_at_once(n_blocks, room)
    totals = order = None
    while chunk := list(itertools.islice(labelings, at_once)):
        codes = np.concatenate(chunk).T  # (n, b)
        order = largest_last(codes[:, 0], k) if order is None else order
        codes = order[codes] if multiplied < k else codes
        for start in range(0, codes.shape[1], room):
            some = codes[:, start : start + room]
            by_adding = pairs.adds_many and adding_serves(n, multiplied, some.shape[1])
            by_tables = pairs.has_tiles and tables_serve(n, multiplied, some.shape[1])
            as_labels = pairs.takes_labels or by_adding or by_tables
            make = Indicators if as_labels else indicators
            Z = make(some, multiplied, weights)
            # unequal weights need all groups; else the last group is what the others leave
            if multiplied == k:
                yield pairs.block_sums(Z), _sum_over_groups(np.ones((1, n)), Z)[0].T
                continue
            if totals is None:
                inner, totals = pairs.block_sums_and_totals(Z, weights)
            else:
                inner = pairs.block_sums(Z)
            M, s = _complete_last_group(inner, Z, totals, weights, mass)
            yield reordered(M, s, order)


def largest_last(codes: AnyArray, k: int) -> AnyArray:
    """Return new codes for k groups, of which the largest group and the last one exchange theirs; (n,) -> (k,).

    What the others leave is a difference of sums over all pairs: a small group would have no digits of its own.
    """
    order = np.arange(k, dtype=codes.dtype)
    largest = int(np.bincount(codes, minlength=k).argmax())
    order[[largest, k - 1]] = order[[k - 1, largest]]
    return order


def reordered(M: FloatArray, s: FloatArray, order: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Return sums of dissimilarities between groups, and group sizes, with groups put in the order of given indices.

    The codes of `largest_last` as indices undo their own exchange.
    """
    return M[:, order[:, None], order], s[:, order]


def room_for_labelings(n: int, multiplied: int, as_labels: bool) -> int:
    """Compute how many labelings fit into the memory of a matrix product, held as indicators of groups or as labels."""
    room = max(1, INDICATOR_BYTES // (8 * n * multiplied))
    if not as_labels:
        return room
    most = max(LABELINGS_PER_BLOCK, MULTIPLIED_AT_ONCE // (n * n * multiplied))
    held = max(1, INDICATOR_BYTES // (8 * multiplied**2))  # sums between all groups of as many labelings
    return max(room, min(INDICATOR_BYTES // n, most, held))


def blocks_at_once(n_blocks: int, room: int) -> int:
    """Choose how many blocks of labelings share one matrix product, so that all products are about equally large.

    The pairs are read for every product, and few labelings do not fill it.
    """
    at_most = max(1, room // LABELINGS_PER_BLOCK)
    n_products = -(-n_blocks // at_most)
    return -(-n_blocks // n_products)


def groups_multiplied(weights: FloatArray, k: int) -> int:
    """Return how many groups need their own sums: all k, or k - 1 if equal weights give the last one by subtraction.

    Of unequal weights all, because the difference would lose the digits by which the last group is lighter.
    """
    return k - int(weights.min() == weights.max())


def _complete_last_group(
    inner: FloatArray, Z: FloatArray | Indicators, totals: FloatArray, weights: FloatArray, mass: float
) -> tuple[FloatArray, FloatArray]:
    """Complete sums between k - 1 groups, and their sizes, to those of all k groups, by each point's sum to all points.

    These sums are R @ weights, `totals`. Shapes: (b, k - 1, k - 1), (n,) -> (b, k, k), (b, k).
    """
    n, others, b = Z.shape
    with_all, s = _sum_over_groups(np.stack((totals, np.ones(n))), Z).transpose(0, 2, 1)
    M = np.empty((b, others + 1, others + 1))
    M[:, :-1, :-1] = inner
    M[:, :-1, -1] = M[:, -1, :-1] = with_all - inner.sum(axis=2)
    M[:, -1, -1] = float(totals @ weights) - with_all.sum(axis=1) - M[:, :-1, -1].sum(axis=1)
    return M, np.column_stack((s, mass - s.sum(axis=1)))


def _sum_over_groups(values: FloatArray, Z: FloatArray | Indicators) -> FloatArray:
    """Sum weighted values of rows over the groups of b labelings; (m, n) -> (m, k, b)."""
    n, k, b = Z.shape
    if isinstance(Z, Indicators) and k >= MANY_GROUPS:
        weighted = values * Z.weights
        sums = [[np.bincount(labels, row, k + 1)[:k] for labels in Z.codes.T] for row in weighted]
        return np.array(sums).transpose(0, 2, 1)
    # indicators of labels are made for some rows at a time
    height = ROWS_AT_ONCE if isinstance(Z, Indicators) else n
    product = np.zeros((len(values), k * b))
    with one_thread():
        for rows in (slice(start, start + height) for start in range(0, n, height)):
            product += values[:, rows] @ Z[rows].reshape(-1, k * b)
    return product.reshape(-1, k, b)


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """Hold labels of many points and make their indicators Z, (n, k, b), for some rows whenever they are asked for.

    Labels take a byte where indicators take eight: more labelings go through the tiles at a time.
    """

    codes: AnyArray  # (n, b) group of every row in every labeling
    k: int  # groups whose indicators are made, the first ones
    weights: FloatArray  # (n,) weights of the rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the shape of an array of group indicators: numbers of rows, groups and labelings."""
        return len(self.codes), self.k, self.codes.shape[1]

    def __getitem__(self, rows: slice) -> FloatArray:
        return indicators(self.codes[rows], self.k, self.weights[rows])

    def of_labelings(self, some: slice) -> Indicators:
        """Return the group indicators of a slice of the labelings."""
        return Indicators(self.codes[:, some], self.k, self.weights)


def indicators(codes: AnyArray, k: int, weights: FloatArray) -> FloatArray:
    """Build weighted 0/1 indicators of the first k groups from labels; (n, b) -> (n, k, b)."""
    Z = (codes[:, None, :] == np.arange(k, dtype=codes.dtype)[None, :, None]).astype(np.float64)
    if (weights != 1).any():
        Z *= weights[:, None, None]
    return np.asarray(Z)
