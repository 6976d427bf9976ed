"""Cut ordered rows into runs with the smallest W, and scan many orders of the rows for their best break [theory 3]."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from energystats._core.labelings import LABELINGS_PER_BLOCK, stream_of
from energystats._core.pvalues import tie_tolerance
from energystats._core.threads import side_by_side
from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "BestRuns",
    "Lines",
    "OrderScan",
    "count_orders",
    "cut_at_penalty",
    "cut_into_runs",
    "draw_orders",
    "enumerate_orders",
    "join_neighbours",
    "measure_breaks",
    "scan_orders",
    "standardize_breaks",
    "weigh_breaks",
]


# the first of some rows or cells of rows, and sums of rho from them to all up to the last, half of those within each
Lines = Iterable[tuple[int, FloatArray]]
Panels = Iterable[tuple[int, FloatArray]]  # the first row of a block, and rho from all rows to its rows
Loop = Callable[[FloatArray, int, AnyArray, int, FloatArray, FloatArray], None]
COMPILED_FROM = 10_000  # lines of a tile to add; for fewer, loading the compiler costs more than it saves
MOST_THREADS = 8
CELLS = 48  # at most, of an order, between which runs inside begin and end
INSIDE = 0.6  # weight of runs inside: for changes that go back most of the power of 1, for single ones nearly that of 0
CONSTANT = 1e-6  # of its mean: S that varies less is the same in all orders


# ---------------------------------------------------------------- the best runs


class BestRuns(NamedTuple):
    """Hold the best runs of the first rows, or cells of rows, for every number of runs and every end."""

    # (k + 1, n + 1) the smallest W of the first e rows in j runs; infinite where there are no such runs
    within: FloatArray
    starts: IntArray  # (k + 1, n + 1) the first row of the last of these runs

    def breaks(self, k: int) -> IntArray:
        """Return the first rows of segments 2 to k in the best cut of ordered rows into k segments; (k - 1,)."""
        end, found = self.within.shape[1] - 1, []
        for j in range(k, 1, -1):
            end = int(self.starts[j, end])
            found.append(end)
        return np.array(found[::-1], dtype=np.intp)


def _costs_of_runs(lines: Lines, sizes: FloatArray, min_size: int) -> Iterator[tuple[int, int, FloatArray]]:
    """Yield for each end of a run of ordered rows: the end, how many starts are allowed, and W from each start.

    The last is (e,), runs that are too short included. The sum of rho over the pairs of a run that grows by one row
    grows by rho between this row and those of the run: a running sum, from the back, of one column of rho. Nothing is
    subtracted, so that no digit is lost. The same holds for cells of several rows, `sizes`.
    """
    upto, pairs = np.concatenate(([0.0], np.cumsum(sizes))), np.zeros(sizes.size)
    for first, block in lines:
        for j, line in enumerate(block, first):
            pairs[: j + 1] += np.cumsum(line[j::-1])[::-1]
            rows = upto[j + 1] - upto[: j + 1]
            yield j + 1, int(np.count_nonzero(rows >= min_size)), pairs[: j + 1] / rows


def cut_into_runs(lines: Lines, sizes: FloatArray, k: int, min_size: int, tolerance: float) -> BestRuns:
    """Find the best cuts of ordered rows into 1 to k segments of at least `min_size` rows, by dynamic programming.

    The best ones have the smallest W. The best j runs of the first e rows are a last run i..e-1 and the best j - 1 runs
    of the i rows before it (Fisher 1958). Of cuts that tie, the first is taken. `sizes` are those of the cells that
    runs are made of, 1 for rows.
    """
    n = sizes.size
    within = np.full((k + 1, n + 1), np.inf)
    within[0, 0] = 0.0
    starts = np.zeros((k + 1, n + 1), dtype=np.intp)
    for end, allowed, costs in _costs_of_runs(lines, sizes, min_size):
        if allowed > 0:
            sums = within[:k, :allowed] + costs[:allowed]
            least = sums.min(axis=1)
            within[1:, end] = least
            starts[1:, end] = (sums <= (least + tolerance)[:, None]).argmax(axis=1)
    return BestRuns(within, starts)


def cut_at_penalty(lines: Lines, sizes: FloatArray, penalty: float, min_size: int, tolerance: float) -> int:
    """Find the number of segments with the least within dispersion plus a penalty for each break; ties: the first cut.

    A segment has at least `min_size` rows.
    """
    n = sizes.size
    value, count = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.intp)
    value[0] = -penalty  # the first run costs no break
    for end, allowed, costs in _costs_of_runs(lines, sizes, min_size):
        if allowed > 0:
            sums = value[:allowed] + costs[:allowed] + penalty
            value[end] = sums.min()
            count[end] = count[int((sums <= value[end] + tolerance).argmax())] + 1
    return int(count[n])


# ---------------------------------------------------------------- orders


def count_orders(units: int) -> float:
    """Count the permutations of a number of rows or blocks of rows; infinite where no float holds the count."""
    return float(math.factorial(units)) if units <= 170 else math.inf


def draw_orders(n: int, length: int, count: int, key: AnyArray, series: int = 0) -> AnyArray:
    """Draw random permutations of n rows that move whole blocks of `length` rows; (count, n).

    Rows that are left over stay at the end. Every 64 orders are a function of key, number and series alone.
    """
    units = n // length
    drawn = [
        stream_of(key, block, series).permuted(
            np.tile(np.arange(units, dtype=np.int32), (min(LABELINGS_PER_BLOCK, count - first), 1)), axis=1
        )
        for block, first in enumerate(range(0, count, LABELINGS_PER_BLOCK))
    ]
    return _expand_blocks(np.concatenate(drawn), n, length)


def enumerate_orders(n: int, length: int) -> AnyArray:
    """List all permutations of n rows that move whole blocks of `length` rows, the identity first; (m!, n)."""
    return _expand_blocks(np.array(list(itertools.permutations(range(n // length))), dtype=np.int32), n, length)


def _expand_blocks(orders: AnyArray, n: int, length: int) -> AnyArray:
    """Convert permutations of blocks to permutations of rows, leftover rows at the end; (b, m) -> (b, n)."""
    units = n // length
    if length == 1:
        return orders
    out = np.empty((len(orders), n), dtype=np.int32)
    inside = np.arange(length, dtype=np.int32)
    out[:, : units * length] = (orders[:, :, None] * length + inside).reshape(len(orders), -1)
    out[:, units * length :] = np.arange(units * length, n, dtype=np.int32)
    return out


# ---------------------------------------------------------------- the best break of many orders


class OrderScan(NamedTuple):
    """Hold the largest Z of many orders of the same rows, from one pass over the pairs."""

    best: FloatArray  # (b,) the largest Z of a run of rows against the others
    # first place of that run in the first order, and the place after its last; of several the first break
    run: tuple[int, int]
    # profile, between: (n - 1,) Z and S of the first order, cut before row 1, 2, ...; NaN where a run would be too
    # short
    profile: FloatArray
    between: FloatArray
    tolerance: float  # how close two values of Z must be to tie

    def best_cut(self) -> tuple[float, int]:
        """Return the largest standardized dispersion of a cut of rows into two runs, and the first cut that has it."""
        largest = float(np.nanmax(self.profile))
        return largest, int(np.flatnonzero(self.profile >= largest - self.tolerance)[0]) + 1


def scan_orders(panels: Panels, orders: AnyArray, min_size: int) -> OrderScan:
    """Compute for each order of the rows the largest standardized dispersion between one segment and the other rows.

    With a_t the sum of rho from the row at place t to those before it, two runs with b rows in the first have W =
    sum_{t < b} a_t/b + sum_{t >= b} c_t/(n - b), c_t being the sum to the rows after place t, which the sum to all rows
    gives. So one pass over the pairs serves all orders and breaks: O(b n^2) additions, O(b n) memory. Z is S = T - W,
    less its mean over all orders, in its standard deviations, times `weigh_breaks`; of runs inside, whose ends are
    places between up to `CELLS` cells, times `INSIDE` too.
    """
    count, n = orders.shape
    step = -(-n // CELLS)
    cells = -(-n // step)
    before, totals, squares, sizes = np.empty((count, n)), np.empty(n), np.empty(n), 0.0
    sums = np.zeros((count, cells, cells))
    fill = _choose_loop(orders.size * math.ceil(n / 64))
    parts = [slice(i, i + LABELINGS_PER_BLOCK) for i in range(0, count, LABELINGS_PER_BLOCK)]
    with side_by_side(min(MOST_THREADS, len(parts))) as apply:
        for first, tile in panels:
            columns = slice(first, first + tile.shape[1])
            totals[columns], squares[columns] = np.add.reduce(tile, axis=0), np.add.reduce(tile * tile, axis=0)
            sizes += float(np.abs(tile).sum())
            apply(partial(_fill_part, fill, tile, first, orders, step, before, sums), parts)
    total = float(totals.sum()) / (2 * n)
    mean, inverse = standardize_breaks(totals, float(squares.sum()), min_size)
    inside = _RunsInside.of(n, step, cells, min_size, inverse)
    best, profile, between = np.empty(count), np.full(n - 1, np.nan), np.full(n - 1, np.nan)
    run, tolerance = (0, min_size), tie_tolerance(sizes / (2 * n), n) * float(inverse.max())
    for part in parts:
        in_order = totals[orders[part]]
        S = measure_breaks(before[part], in_order, min_size, total)
        Z = (S - mean) * inverse
        of_runs = (inside.measure(sums[part], in_order, total) - mean) * inside.weights
        best[part] = np.maximum(Z.max(axis=1), of_runs.max(axis=1, initial=-np.inf))
        if part.start == 0:
            between[min_size - 1 : n - min_size], profile[min_size - 1 : n - min_size] = S[0], Z[0]
            run = (0, int(np.flatnonzero(Z[0] >= Z[0].max() - tolerance)[0]) + min_size)
            if Z[0].max() < best[0] - tolerance:
                chosen = int(np.flatnonzero(of_runs[0] >= best[0] - tolerance)[0])
                run = int(inside.first[chosen]), int(inside.end[chosen])
    return OrderScan(best, run, profile, between, tolerance)


class _RunsInside(NamedTuple):
    """Hold runs of whole cells that leave rows on both sides."""

    # low, high: (r,) first and last cell of each
    low: IntArray
    high: IntArray
    # first, end: (r,) its first place, and the place after its last
    first: IntArray
    end: IntArray
    weights: FloatArray  # (r,) what S less its mean is multiplied by

    @classmethod
    def of(cls, n: int, step: int, cells: int, min_size: int, inverse: FloatArray) -> Self:
        """List the runs of cells of rows that have at least `min_size` rows in them, before them and after them."""
        low, high = np.triu_indices(cells)
        first, end = low * step, np.minimum((high + 1) * step, n)
        fits = (first >= min_size) & (n - end >= min_size) & (end - first >= min_size)
        low, high, first, end = (part[fits] for part in (low, high, first, end))
        return cls(low, high, first, end, INSIDE * inverse[end - first - min_size])

    def measure(self, sums: FloatArray, totals: FloatArray, total: float) -> FloatArray:
        """Compute the between dispersion of each inner segment against the other rows, for b orders; (b, r)."""
        n, size = totals.shape[1], self.end - self.first
        pairs = np.cumsum(sums, axis=1)[:, self.high, self.low]
        reached = np.concatenate((np.zeros((len(totals), 1)), np.cumsum(totals, axis=1)), axis=1)
        # pairs outside: all but those with a row of the run
        outside = n * total - (reached[:, self.end] - reached[:, self.first]) + pairs
        return np.asarray(total - pairs / size - outside / (n - size))


def standardize_breaks(totals: FloatArray, squares: float, min_size: int) -> tuple[float, FloatArray]:
    """Compute the mean of the between dispersion over all orders of rows, and each break's weight over its deviation.

    The deviation is the standard deviation over the orders. `totals` are the sums of rho from each row, `squares` is
    the sum of rho^2 over all ordered pairs. S of the first b rows A is n/(b (n - b)) times the sum of G_c over pairs of
    A; the mean and the variance of that sum over random sets A follow from the diagonal of G_c and the sum of its
    squares, because its rows sum to 0. A break at which S is the same in all orders has weight 0.
    """
    n = totals.size
    b = np.arange(min_size, n - min_size + 1, dtype=np.float64)
    means = totals / n
    grand = float(means.mean())
    diagonal = means - grand / 2
    trace, own = float(diagonal.sum()), float(diagonal @ diagonal)
    others = max((squares - 2 * n * float(means @ means) + (n * grand) ** 2) / 4 - own, 0.0)
    # chances that one, two, three and four given rows are all in A
    p1 = b / n
    p2 = p1 * (b - 1) / (n - 1)
    p3 = p2 * (b - 2) / max(n - 2, 1)
    p4 = p3 * (b - 3) / max(n - 3, 1)
    second = (
        p1 * own
        + p2 * (trace**2 - 5 * own + 2 * others)
        + p3 * (8 * own - 4 * others - 2 * trace**2)
        + p4 * (trace**2 - 4 * own + 2 * others)
    )
    variance = (second - ((p1 - p2) * trace) ** 2) * (n / (b * (n - b))) ** 2
    mean = trace / (n - 1)
    moves = variance > (CONSTANT * mean) ** 2
    return mean, np.where(moves, weigh_breaks(n, b), 0.0) / np.sqrt(np.where(moves, variance, 1.0))


def weigh_breaks(n: int, b: FloatArray) -> FloatArray:
    """Compute the weight (4 b (n - b)/n^2)^(1/4) of a break after b of n rows, which is small near the ends."""
    return np.asarray((4 * b * (n - b) / n**2) ** 0.25)


def _fill_part(
    fill: Loop,
    tile: FloatArray,
    first: int,
    orders: AnyArray,
    step: int,
    before: FloatArray,
    runs: FloatArray,
    part: slice,
) -> None:
    """Compute from one tile of dissimilarities the sums to earlier rows, for some of the orders of the rows."""
    fill(tile, first, orders[part], step, before[part], runs[part])


def _choose_loop(lines: int) -> Loop:
    """Choose a compiled loop where the work repays loading the compiler, else the same loop in NumPy."""
    from energystats._core.order_loops import fill_sums_before

    plain: Any = fill_sums_before
    return fill_sums_before if lines >= COMPILED_FROM else plain.py_func


def measure_breaks(before: FloatArray, totals: FloatArray, min_size: int, total: float) -> FloatArray:
    """Compute the between dispersion of breaks that leave `min_size` rows on both sides; (b, n), (b, n) -> (b, m).

    There are b orders and m breaks; given are the sums of rho to the rows before and to all. The pairs of each run are
    summed from its own end, so that a short one loses no digit to a long one.
    """
    n = before.shape[1]
    sizes = np.arange(min_size, n - min_size + 1)
    left = np.cumsum(before, axis=1)[:, sizes - 1] / sizes
    right = np.cumsum((totals - before)[:, ::-1], axis=1)[:, n - sizes - 1] / (n - sizes)
    return np.asarray(total - left - right)


# ---------------------------------------------------------------- neighbours joined


def join_neighbours(M: FloatArray, sizes: FloatArray) -> FloatArray:
    """Join neighbouring segments step by step, always with the least rise of dispersion (Grimm 1987); (m - 1, 4).

    Shapes: (m, m), (m,) -> (m - 1, 4). Rows are those of a linkage matrix of SciPy, with W after the step, less W of
    the runs that were given, as height; it never falls, as W never does when runs are joined and rho is of negative
    type. `M` has the sums of rho between runs.
    """
    M, names = M.copy(), list(range(len(M)))
    mass = sizes.astype(np.float64).tolist()
    steps, height = np.empty((len(M) - 1, 4)), 0.0
    counts = sizes.astype(np.float64).tolist()
    for step in range(len(steps)):
        within = np.diagonal(M) / (2 * np.array(mass))
        both = (np.diagonal(M)[:-1] + np.diagonal(M)[1:] + 2 * np.diagonal(M, 1)) / (
            2 * (np.array(mass[:-1]) + np.array(mass[1:]))
        )
        raised = both - within[:-1] - within[1:]
        i = int(raised.argmin())
        height += max(float(raised[i]), 0.0)
        mass[i] += mass.pop(i + 1)
        counts[i] += counts.pop(i + 1)
        steps[step] = names[i], names.pop(i + 1), height, counts[i]
        names[i] = len(sizes) + step
        M[i] += M[i + 1]
        M[:, i] += M[:, i + 1]
        M = np.delete(np.delete(M, i + 1, axis=0), i + 1, axis=1)
    return steps
