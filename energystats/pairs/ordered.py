"""Compute rho in the order of the rows: each row against those before it, or all rows against a few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from energystats._typing import FloatArray

__all__ = ["lines_before", "panels_of"]


LINE_BYTES = 2**24  # of rows against those before them
PANEL_COLUMNS = 64  # so that a line is one or two kilobytes, and a panel stays in the cache


def lines_before(d: Any) -> Iterator[tuple[int, FloatArray]]:
    """Yield dissimilarities from blocks of consecutive rows to all rows up to the block's end.

    A row is 0 from itself, whatever rounding a metric leaves there.
    """
    n = d.n
    first = 0
    while first < n:
        stop = min(n, first + max(1, min(256, LINE_BYTES // (8 * (first + 256)))))
        block = d.rho(np.arange(first, stop), np.arange(stop))
        block[np.arange(stop - first), np.arange(first, stop)] = 0.0
        yield first, block
        first = stop


def panels_of(d: Any, rows: slice, exponent: int = 0) -> Iterator[tuple[int, FloatArray]]:
    """Yield dissimilarities among some rows of the data, 64 columns of their matrix at a time; (m, w).

    rho is divided by two to the power `exponent`, so that its squares stay numbers.
    """
    inside = np.arange(d.n)[rows]
    for first in range(0, inside.size, PANEL_COLUMNS):
        tile = d.rho(inside, inside[first : first + PANEL_COLUMNS])
        yield first, np.ascontiguousarray(np.ldexp(tile, -exponent) if exponent else tile)
