"""Random labelings of units within blocks, from uniform numbers."""

from __future__ import annotations

import numpy as np

from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = ["Deal", "hand_out_by_column"]

COMPILED_FROM = 100_000  # labels to deal; for fewer, loading the compiler costs more than it saves


class Deal:
    """The labels of every block in the order in which they are dealt; those of its largest group need no draw.

    That order is the one in which labels occur in the data, so that other names for the groups change nothing.

    Attributes
    ----------
    order, starts : ndarray of shape (n,), (n_blocks + 1,)
        Units, block after block, and where each block starts.
    dealt, dealt_starts : ndarray of shape (n_draws,), (n_blocks + 1,)
        Labels that are dealt, block after block, and where those of each block start.
    rest : ndarray of shape (n_blocks,)
        The label of all other units of the block.
    """

    __slots__ = ("dealt", "dealt_starts", "order", "rest", "starts")

    def __init__(self, codes: IntArray, blocks: tuple[IntArray, ...]) -> None:
        dtype = np.min_scalar_type(int(codes.max()))
        rests, dealt = [], []
        for rows in blocks:
            labels, first, counts = np.unique(codes[rows], return_index=True, return_counts=True)
            seen = np.argsort(first)
            labels, counts = labels[seen], counts[seen]
            rests.append(labels[counts.argmax()])
            others = labels != rests[-1]
            dealt.append(np.repeat(labels[others], counts[others]))
        self.order = np.concatenate(blocks).astype(np.int32)  # half the memory to jump about in
        self.starts = np.cumsum([0, *(rows.size for rows in blocks)])
        self.dealt = np.concatenate(dealt).astype(dtype)
        self.dealt_starts = np.cumsum([0, *(labels.size for labels in dealt)])
        self.rest = np.array(rests, dtype=dtype)

    def labelings(self, uniform: FloatArray, *, compiled: bool) -> AnyArray:
        """One labeling for each row of uniform numbers in [0, 1); (b, n_draws) -> (b, n). The same either way."""
        how = (uniform, self.order, self.starts, self.dealt, self.dealt_starts, self.rest)
        if compiled:
            from energystats._core import dealing, jit

            if jit.numba is not None:
                return dealing.hand_out(*how)
        return hand_out_by_column(*how)


def hand_out_by_column(
    uniform: FloatArray,
    order: AnyArray,
    starts: IntArray,
    dealt: AnyArray,
    dealt_starts: IntArray,
    rest: AnyArray,
) -> AnyArray:
    """The same labelings without a compiler: all rows take one draw at a time."""
    rows = np.arange(uniform.shape[0])
    labelings = np.empty((rows.size, order.size), dtype=dealt.dtype)
    free = np.tile(order, (rows.size, 1))
    for block in range(rest.size):
        start, stop = starts[block], starts[block + 1]
        labelings[:, order[start:stop]] = rest[block]
        draws = range(dealt_starts[block], dealt_starts[block + 1])
        for at, draw in enumerate(draws, start):
            chosen = at + (uniform[:, draw] * (stop - at)).astype(np.intp)
            labelings[rows, free[rows, chosen]] = dealt[draw]
            free[rows, chosen] = free[:, at]
    return labelings
