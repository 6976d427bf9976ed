"""Compute the adjusted Rand index of two partitions (Hubert & Arabie 1985)."""

from __future__ import annotations

import numpy as np

from energystats._typing import IntArray

__all__ = ["adjusted_rand_index"]


def adjusted_rand_index(labels: IntArray, others: IntArray) -> float:
    """Compute the adjusted Rand index of two labelings of the same points: 1 for equal clusters, 0 by chance; (n,).

    It is that of scikit-learn, whose import takes longer than most tests do. -1 is a label like any other.
    """
    rows, a = np.unique(labels, return_inverse=True)
    columns, b = np.unique(others, return_inverse=True)
    table = np.bincount(a * columns.size + b, minlength=rows.size * columns.size).reshape(rows.size, columns.size)
    n = int(table.sum())
    # ordered pairs of points that are together in both, in the first, in the second
    both, first, second = (
        int((counts.astype(object) ** 2).sum()) - n for counts in (table, table.sum(axis=1), table.sum(axis=0))
    )
    apart_twice = n * (n - 1) - first - second + both
    one_alone, other_alone = first - both, second - both
    if one_alone == other_alone == 0:
        return 1.0
    agreement = 2 * (both * apart_twice - one_alone * other_alone)
    return agreement / (first * (one_alone + apart_twice) + second * (other_alone + apart_twice))
