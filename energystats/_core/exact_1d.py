"""Find the best partition of sorted points into k runs [theory 4].

The cost of a run is its W, for rho = |x - y| or its square. From running sums it comes in O(1), but as a small
difference of large numbers; so the sums are pairs of floats (the second holds what rounding took from the first), and
where a difference loses more than four digits it is taken again in twice the precision.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from energystats._core.jit import njit
from energystats._core.threads import Apply, side_by_side
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray

__all__ = ["ROOM", "best_breaks", "running_sums"]


ROOM = 2**26  # entries of the table of breaks, 256 MiB; for more, the middle break is found first, then each half
KEPT = 1e-4  # of the terms of a difference: what must be left of them
AT_ONCE = 256  # costs that are computed together, so that the processor can take several at a time
FEW = 32  # costs that are computed one by one, which saves the array that holds several
BLOCK = 2048  # rows whose sums stay in the cache
SHARED = 2**16  # points, of which more are shared among threads
PARTS = 16  # at least half as many parts of the rows of a layer are shared
SPLITTER = 134217729.0  # 2**27 + 1, halves the digits of a float

Ranks: TypeAlias = NDArray[np.int32]
Pair: TypeAlias = tuple[float, float]  # a sum of two floats, the second below the last digit of the first


@njit
def _add_exactly(a: Pair, b: Pair) -> Pair:
    """Add two numbers in double-double arithmetic, each a pair of floats [Dekker 1971]."""
    high = a[0] + b[0]
    part = high - a[0]
    low = ((a[0] - (high - part)) + (b[0] - part)) + (a[1] + b[1])
    total = high + low
    return total, low - (total - high)


@njit
def _multiply(a: Pair, b: Pair) -> Pair:
    """Multiply two numbers in double-double arithmetic, each a pair of floats [Dekker 1971]."""
    high = a[0] * b[0]
    carried = SPLITTER * a[0]
    a_high = carried - (carried - a[0])
    a_low = a[0] - a_high
    carried = SPLITTER * b[0]
    b_high = carried - (carried - b[0])
    b_low = b[0] - b_high
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    low += a[0] * b[1] + a[1] * b[0]
    total = high + low
    return total, low - (total - high)


@njit
def running_sums(gaps: FloatArray, weights: FloatArray, squared: bool) -> FloatArray:
    """Compute running sums of sorted points, each in double-double precision; (n - 1,), (n,) -> (6, n + 1).

    Rows 0-1 hold the mass, 2-3 the sum of w y with y measured from the point where half of the mass is reached,
    4-5 the sum of w y**2 if squared, else that of w_a w_b |y_a - y_b| over pairs.
    """
    n = weights.size
    sums = np.zeros((6, n + 1))
    y, half, mass = (0.0, 0.0), 0.5 * weights.sum(), weights[0]
    for i in range(n - 1):
        if mass < half:
            y = _add_exactly(y, (-gaps[i], 0.0))
        mass += weights[i + 1]
    before = (0.0, 0.0)  # sum of w_a (y_i - y_a) over the points before i
    for i in range(n):
        w = (weights[i], 0.0)
        if i > 0:
            y = _add_exactly(y, (gaps[i - 1], 0.0))
            before = _add_exactly(before, _multiply((sums[0, i], sums[1, i]), (gaps[i - 1], 0.0)))
        moment = _multiply(w, y)
        last = _multiply(moment, y) if squared else _multiply(w, before)
        sums[0, i + 1], sums[1, i + 1] = _add_exactly((sums[0, i], sums[1, i]), w)
        sums[2, i + 1], sums[3, i + 1] = _add_exactly((sums[2, i], sums[3, i]), moment)
        sums[4, i + 1], sums[5, i + 1] = _add_exactly((sums[4, i], sums[5, i]), last)
    return sums


@njit
def _subtract_sums(sums: FloatArray, i: int, j: int, row: int) -> Pair:
    """Compute the sum over sorted points i..j-1 as the difference of two running sums, in double-double precision."""
    return _add_exactly((sums[row, j], sums[row + 1, j]), (-sums[row, i], -sums[row + 1, i]))


@njit
def _compute_cost_exactly(sums: FloatArray, i: int, j: int, squared: bool) -> float:
    """Compute the within dispersion of sorted points i..j-1 from running sums, in double-double precision."""
    mass = _subtract_sums(sums, i, j, 0)
    moment = _subtract_sums(sums, i, j, 2)
    last = _subtract_sums(sums, i, j, 4)
    if squared:
        # squares: sum of w y^2 - (sum of w y)^2 / mass, the classical sum of squares around the mean
        crossed = _multiply(moment, moment)
        value = _add_exactly(_multiply(mass, last), (-crossed[0], -crossed[1]))
    else:
        first = _multiply((sums[0, i], sums[1, i]), moment)
        second = _multiply((sums[2, i], sums[3, i]), mass)
        value = _add_exactly(_add_exactly(last, (-first[0], -first[1])), second)
    return max(value[0] / mass[0], 0.0)


@njit
def _find_best_of_few(
    sums: FloatArray, squared: bool, start: int, old: FloatArray, r: int, low: int, high: int
) -> tuple[float, int]:
    """Find where the last cluster of the best partition starts, trying one start after another; return W and the start.

    It is the q from `low` to `high` with the smallest W = old[q] + W(points start+q..start+r).
    """
    j = start + r + 1
    mass_j, moment_j, last_j = sums[0, j], sums[2, j], sums[4, j]
    mass_low, moment_low, last_low = sums[1, j], sums[3, j], sums[5, j]
    best, at = np.inf, low
    for q in range(low, high + 1):
        i = start + q
        mass = (mass_j - sums[0, i]) + (mass_low - sums[1, i])
        moment = (moment_j - sums[2, i]) + (moment_low - sums[3, i])
        last = (last_j - sums[4, i]) + (last_low - sums[5, i])
        if squared:
            cost = last - moment * moment / mass
            if cost <= KEPT * last:
                cost = _compute_cost_exactly(sums, i, j, squared)
        else:
            first = sums[0, i] * moment
            second = sums[2, i] * mass
            value = last - first + second
            cost = value / mass
            if value <= KEPT * (last + abs(first) + abs(second)):
                cost = _compute_cost_exactly(sums, i, j, squared)
        if old[q] + cost < best:
            best, at = old[q] + cost, q
    return best, at


@njit
def _compute_costs_fast(sums: FloatArray, first: int, j: int, squared: bool, out: FloatArray) -> None:
    """Compute within dispersions of runs of sorted points that all end at point j - 1; -1 where digits cancel.

    They go to `out`. The runs begin at `first`, `first` + 1, ...
    """
    stop = first + out.size
    M, M_low = sums[0, first:stop], sums[1, first:stop]
    U, U_low = sums[2, first:stop], sums[3, first:stop]
    F, F_low = sums[4, first:stop], sums[5, first:stop]
    mass_j, mass_low, moment_j, moment_low, last_j, last_low = sums[:, j]
    for t in range(out.size):
        mass = (mass_j - M[t]) + (mass_low - M_low[t])
        moment = (moment_j - U[t]) + (moment_low - U_low[t])
        last = (last_j - F[t]) + (last_low - F_low[t])
        if squared:
            value = last - moment * moment / mass
            out[t] = value if value > KEPT * last else -1.0
        else:
            first_term = M[t] * moment
            second = U[t] * mass
            value = last - first_term + second
            out[t] = value / mass if value > KEPT * (last + abs(first_term) + abs(second)) else -1.0


@njit
def _find_best_run(
    sums: FloatArray, squared: bool, start: int, old: FloatArray, r: int, low: int, high: int, costs: FloatArray
) -> tuple[float, int]:
    """Find where the last cluster of the best partition starts, trying starts in batches; return W and the start.

    It is the q from `low` to `high` with the smallest W = old[q] + W(points start+q..start+r).
    """
    best, at = np.inf, low
    for begin in range(low, high + 1, costs.size):
        if old[begin] > best:  # and grows further
            break
        some = costs[: min(costs.size, high + 1 - begin)]
        _compute_costs_fast(sums, start + begin, start + r + 1, squared, some)
        for t in range(some.size):
            cost = some[t]
            if cost < 0.0:
                cost = _compute_cost_exactly(sums, start + begin + t, start + r + 1, squared)
            if old[begin + t] + cost < best:
                best, at = old[begin + t] + cost, begin + t
    return best, at


@njit
def _fill_rows(
    sums: FloatArray,
    squared: bool,
    start: int,
    old: FloatArray,
    least: Ranks,
    new: FloatArray,
    chosen: Ranks,
    begin: int,
    end: int,
    top: int,
    bottom: int,
) -> None:
    """Fill some rows of a table of least within dispersions of sorted points, rows far apart before those between.

    Rows begin..end-1 that have the strides top, top/2, ..., bottom are filled, each between its neighbours. Once the
    strides are short, one block of rows is filled after another, which stays in the cache.
    """
    costs = np.empty(AT_ONCE)
    stride = top
    while stride >= bottom:
        block = end - begin if stride > BLOCK else 2 * BLOCK
        for block_start in range(begin, end, block):
            step = stride
            while step >= bottom:
                for r in range(block_start + step - 1, min(block_start + block, end), 2 * step):
                    low, high = least[r], r
                    if r >= step:
                        low = max(low, chosen[r - step])
                    if r + step < old.size:
                        high = min(high, chosen[r + step])
                    if high - low < FEW:
                        new[r], chosen[r] = _find_best_of_few(sums, squared, start, old, r, low, high)
                    else:
                        new[r], chosen[r] = _find_best_run(sums, squared, start, old, r, low, high, costs)
                step = 0 if stride > BLOCK else step // 2
        stride = stride // 2 if stride > BLOCK else 0


def _fill_next_layer(
    sums: FloatArray,
    squared: bool,
    start: int,
    old: FloatArray,
    least: Ranks,
    new: FloatArray,
    chosen: Ranks,
    apply: Apply | None,
) -> None:
    """Compute the least within dispersion of the first r points in one cluster more than before, for every r.

    new[r] is the smallest old[q] + W(points start+q..start+r) over q <= r. The best q goes to `chosen`. It never falls
    as r grows, because W of runs satisfies the quadrangle inequality, nor as a cluster is added (`least`). So rows are
    taken at strides that halve, each between the choices of its neighbours. With `apply` every `part`-th row is filled
    first; the rows between two of these do not depend on the others, and are shared among its threads.
    """
    n = old.size
    top = 2 ** max(n - 1, 0).bit_length()
    fill = partial(_fill_rows, sums, squared, start, old, least, new, chosen)
    if apply is None:
        fill(0, n, top, 1)
        return
    part = max(top // PARTS, 1)
    fill(0, n, top, part)
    apply(lambda begin: fill(begin, min(begin + part, n), part // 2, 1), range(0, n, part))


@njit
def _fill_first_layer(sums: FloatArray, squared: bool, first: int, old: FloatArray) -> None:
    """Write the within dispersion of the first r sorted points as one cluster into an array, for every r."""
    for r in range(old.size):
        old[r] = _compute_cost_exactly(sums, first, first + r + 1, squared)


@njit
def _find_last_row(sums: FloatArray, squared: bool, start: int, old: FloatArray, least: int) -> tuple[float, int]:
    """Find the least within dispersion of a partition of all sorted points, and where its last cluster starts."""
    return _find_best_run(sums, squared, start, old, old.size - 1, least, old.size - 1, np.empty(AT_ONCE))


def _run_layers(
    sums: FloatArray,
    squared: bool,
    first: int,
    last: int,
    k: int,
    half: int,
    choices: Ranks,
    apply: Apply | None,
) -> int:
    """Find the best partition of sorted points into k >= 2 runs by dynamic programming; return the start of one run.

    That is the first point of run `half` + 1. Each layer has a row for every number of points that leaves enough for
    the other runs. The choices are written down where `choices` has room for them, k - 1 rows of n - k + 1. Layers are
    made one by one, so that Ctrl-C can end the search between two of them.
    """
    n = last - first - k + 1
    old, new = np.empty(n), np.empty(n)
    least, chosen, middle = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    _fill_first_layer(sums, squared, first, old)
    for j in with_bar(range(2, k + 1), False, total=k - 1, unit="cluster", size=lambda _: 1, more=""):
        start = first + j - 1
        if j < k:
            _fill_next_layer(sums, squared, start, old, least, new, chosen, apply)
        else:
            new[-1], chosen[-1] = _find_last_row(sums, squared, start, old, int(least[-1]))
        if choices.shape[0] > 0:
            choices[j - 2] = chosen
        middle = chosen.copy() if j == half + 1 else middle[chosen]
        least[:-1], least[-1] = chosen[1:], chosen[-1]
        np.maximum(least - 1, 0, out=least)
        old, new = new, old
    return first + half + int(middle[-1])


def best_breaks(sums: FloatArray, squared: bool, k: int, room: int = ROOM, shared: int = SHARED) -> IntArray:
    """Find where clusters 2 to k start in the best partition of sorted points into k runs; (6, n + 1) -> (k - 1,).

    Layers of more than `shared` points are filled by several threads, with the same result.
    """
    with side_by_side(PARTS) if sums.shape[1] > shared and k > 2 else nullcontext() as apply:
        return np.array(sorted(_solve_spans(sums, squared, k, room, apply)), dtype=np.intp)


def _solve_spans(sums: FloatArray, squared: bool, k: int, room: int, apply: Apply | None) -> list[int]:
    """Find where clusters 2 to k start in the best partition of sorted points, halving problems too large for memory.

    The order is any.
    """
    found: list[int] = []
    spans = [(0, sums.shape[1] - 1, k)]
    while spans:
        first, last, k = spans.pop()
        if k == 1:
            continue
        n = last - first - k + 1
        half = k // 2
        if k > 2 and (k - 1) * n > room:
            middle = _run_layers(sums, squared, first, last, k, half, np.empty((0, 0), np.int32), apply)
            found.append(middle)
            spans += [(first, middle, half), (middle, last, k - half)]
            continue
        choices = np.empty((k - 1, n), np.int32)
        _run_layers(sums, squared, first, last, k, half, choices, apply)
        row = n - 1
        for j in range(k, 1, -1):
            row = int(choices[j - 2, row])
            found.append(first + j - 1 + row)
    return found
