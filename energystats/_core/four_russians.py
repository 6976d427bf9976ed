"""Sum a tile of rho between the groups of many labelings at once, from tables of the sums of eight rows.

A product of the tile with indicators multiplies by 0 and 1. The method of the four Russians (Arlazarov, Dinic, Kronrod
and Faradzhev 1970, Soviet Mathematics Doklady 11, 1209-1210) adds instead: of eight rows of the tile there are only 256
subsets, whose sums are a table, and a labeling says which of them it needs by eight bits. One addition so does the work
of eight multiplications. The NumPy twin is the product itself, in `group_sums`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats._core import jit
from energystats._core.jit import njit
from energystats._typing import AnyArray, FloatArray

__all__ = ["LANES", "add_tile", "pack_labels"]


LANES = 8  # rows of a table, and columns that are summed together: as many doubles as the widest processors add at once
SUBSETS = 2**LANES
TABLES = 4  # that are added in one step; they stay in a fast cache


def pack_labels(codes: AnyArray, k: int) -> AnyArray:
    """Pack indicators of the first k groups into bits, eight rows to a byte; codes (n, b) -> (k, ceil(n/8) + 3, b)."""
    rows = -(-len(codes) // LANES)
    # tables are added several at a time, so that those below the last row need bits, too
    bits = np.zeros((k, rows + TABLES - 1, codes.shape[1]), dtype=np.uint8)
    for group in range(k):
        bits[group, :rows] = np.packbits(group == codes.T, axis=1, bitorder="little").T
    return bits


def add_row(out: FloatArray, o: int, first: FloatArray, f: int, others: FloatArray, rows: tuple[Any, ...]) -> None:
    """Set a row of one array to the sum of a row of another and some rows of a third, each of eight numbers."""
    for c in range(LANES):
        total = first[f, c]
        for row in rows:
            total += others[row, c]
        out[o, c] = total


def add_row_product(out: FloatArray, o: int, left: FloatArray, i: int, right: FloatArray, j: Any) -> None:
    """Add the elementwise product of two rows of eight numbers, one from each of two arrays, to a row of a third."""
    for c in range(LANES):
        out[o, c] += left[i, c] * right[j, c]


def _compile_as_vectors(numba: Any) -> None:
    """Compile the sum and the product of rows of eight numbers to vector instructions of the processor."""
    # numba's own loops of eight steps stay loops over single numbers
    from llvmlite import ir

    intrinsic, overload = numba.extending.intrinsic, numba.extending.overload

    def place(context: Any, builder: Any, kind: Any, array: Any, row_kind: Any, row: Any) -> Any:
        """Return a pointer to a row of eight numbers in an array, for generated machine code."""
        at = context.cast(builder, row, row_kind, numba.types.intp)
        data = context.make_array(kind)(context, builder, array).data
        start = builder.gep(data, [builder.mul(at, ir.Constant(at.type, LANES))])
        return builder.bitcast(start, ir.VectorType(ir.DoubleType(), LANES).as_pointer())

    def type_add(_: Any, out: Any, o: Any, first: Any, f: Any, others: Any, rows: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            total = builder.load(place(context, builder, first, args[2], f, args[3]), align=8)
            for i, kind in enumerate(rows):
                row = builder.extract_value(args[5], i)
                total = builder.fadd(total, builder.load(place(context, builder, others, args[4], kind, row), align=8))
            builder.store(total, place(context, builder, out, args[0], o, args[1]), align=8)
            return context.get_dummy_value()

        return numba.types.void(out, o, first, f, others, rows), codegen

    def type_add_product(_: Any, out: Any, o: Any, left: Any, i: Any, right: Any, j: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            a = builder.load(place(context, builder, left, args[2], i, args[3]), align=8)
            b = builder.load(place(context, builder, right, args[4], j, args[5]), align=8)
            target = place(context, builder, out, args[0], o, args[1])
            builder.store(builder.fadd(builder.load(target, align=8), builder.fmul(a, b)), target, align=8)
            return context.get_dummy_value()

        return numba.types.void(out, o, left, i, right, j), codegen

    # numba reads the names of these parameters, and wants no annotations
    vector_add: Any = intrinsic(type_add)
    overload(add_row)(
        lambda out, o, first, f, others, rows: (
            lambda out, o, first, f, others, rows: vector_add(out, o, first, f, others, rows)
        )
    )
    vector_add_product: Any = intrinsic(type_add_product)
    overload(add_row_product)(
        lambda out, o, left, i, right, j: (
            lambda out, o, left, i, right, j: vector_add_product(out, o, left, i, right, j)
        )
    )


if jit.numba is not None:
    _compile_as_vectors(jit.numba)


@njit
def add_tile(
    tile: FloatArray,
    row: int,
    column: int,
    start: int,
    stop: int,
    bits: AnyArray,
    weights: FloatArray,
    sums: FloatArray,
) -> None:
    """Add weighted sums of dissimilarities of a tile, between groups of b labelings, to an array of sums; (b, k, k).

    Of a tile on the diagonal (`row` = `column`) only pairs above the diagonal are summed.

    Parameters
    ----------
    tile : ndarray of shape (h, w)
        R[row : row + h, column : column + w].
    row, column : int
        Where it stands; both are multiples of eight.
    start, stop : int
        Which of its columns are summed; `start` is a multiple of eight.
    bits : ndarray of shape (k, n/8, b)
        Labelings of all n points, as `pack_labels` makes them.
    weights : ndarray of shape (n,)
        Of all points.
    sums : ndarray of shape (b, k, k)
        What is added to: rows of the tile in the first group, columns in the second.
    """
    height = tile.shape[0]
    k, _, b = bits.shape
    table = np.zeros((TABLES * SUBSETS, LANES))
    for g in range(k):
        between = np.zeros((b * k, LANES))
        for j in range(start, stop, LANES):
            # sums over the rows of group g, for eight columns and every labeling
            within = np.zeros((b, LANES))
            last = min(height, j + LANES) if row == column else height
            for i in range(0, last, TABLES * LANES):
                for part in range(TABLES):
                    _fill_table(tile, row, column, i + part * LANES, j, stop, weights, table, part)
                byte = (row + i) // LANES
                for x in range(b):
                    subsets = (
                        np.intp(bits[g, byte, x]),
                        np.intp(bits[g, byte + 1, x]) + SUBSETS,
                        np.intp(bits[g, byte + 2, x]) + 2 * SUBSETS,
                        np.intp(bits[g, byte + 3, x]) + 3 * SUBSETS,
                    )
                    add_row(within, x, within, x, table, subsets)
            # of these columns, those of each group
            _fill_members(weights, column + j, stop - j, table)
            for l in range(k):
                for x in range(b):
                    add_row_product(between, x * k + l, within, x, table, np.intp(bits[l, (column + j) // LANES, x]))
        for x in range(b):
            for l in range(k):
                for c in range(LANES):
                    sums[x, g, l] += between[x * k + l, c]


@njit
def _fill_table(
    tile: FloatArray,
    row: int,
    column: int,
    first: int,
    j: int,
    stop: int,
    weights: FloatArray,
    table: FloatArray,
    part: int,
) -> None:
    """Fill a lookup table with the weighted sums of all subsets of eight rows of a tile, for eight of its columns."""
    base, size = part * SUBSETS, 1
    for c in range(LANES):
        table[base, c] = 0.0
    for i in range(first, first + LANES):
        for c in range(LANES):
            # rows below the tile, and pairs below the diagonal, count as 0
            there = i < tile.shape[0] and j + c < stop and (row != column or i < j + c)
            table[base + size, c] = tile[i, j + c] * weights[row + i] if there else 0.0
        for subset in range(1, size):
            add_row(table, base + size + subset, table, base + subset, table, (base + size,))
        size *= 2


@njit
def _fill_members(weights: FloatArray, first: int, count: int, table: FloatArray) -> None:
    """Fill a lookup table that has for every subset of eight points the weights of its points, and 0 for the others."""
    for subset in range(SUBSETS):
        for c in range(LANES):
            table[subset, c] = weights[first + c] if (subset >> c) & 1 and c < count else 0.0
