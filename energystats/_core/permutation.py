"""Relabelings of n points, the statistics' common matrix M over all of them, and the p-value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import betaincinv

from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "count_labelings",
    "distinct_labelings",
    "null_sums",
    "pvalue_interval",
    "random_labelings",
    "tie_tolerance",
    "upper_pvalue",
]

LABELINGS_PER_STREAM = 64  # relabelings drawn from one stream; part of what a seed means
INDICATOR_BYTES = 2**28  # of the indicators held at a time


def random_labelings(codes: IntArray, n_resamples: int, rng: np.random.Generator) -> Iterator[AnyArray]:
    """Random permutations of `codes`, in blocks of shape (<= 64, n).

    Block b comes from its own counter-based stream, so that any block can be drawn again without the others.
    """
    key = rng.integers(2**64, size=2, dtype=np.uint64)
    for block, start in enumerate(range(0, n_resamples, LABELINGS_PER_STREAM)):
        stream = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, block]))
        labelings = np.broadcast_to(codes, (LABELINGS_PER_STREAM, codes.size))
        yield stream.permuted(labelings, axis=1)[: n_resamples - start]


def count_labelings(sizes: IntArray) -> int:
    """N! / (n_1! ... n_k!): distinct ways to hand out the labels."""
    count, left = 1, 0
    for size in sizes.tolist():
        left += size
        count *= math.comb(left, size)
    return count


def distinct_labelings(codes: IntArray) -> Iterator[AnyArray]:
    """All distinct permutations of `codes` but `codes` itself, in blocks of shape (<= 64, n)."""
    sizes = np.bincount(codes)

    def fill(labeling: IntArray, free: tuple[int, ...], group: int) -> Iterator[IntArray]:
        if group == sizes.size - 1:
            labeling[list(free)] = group
            yield labeling.copy()
            return
        for chosen in itertools.combinations(free, int(sizes[group])):
            labeling[list(chosen)] = group
            taken = set(chosen)
            yield from fill(labeling, tuple(i for i in free if i not in taken), group + 1)

    others = (z for z in fill(np.empty_like(codes), tuple(range(codes.size)), 0) if not np.array_equal(z, codes))
    while block := list(itertools.islice(others, LABELINGS_PER_STREAM)):
        yield np.array(block)


def null_sums(
    block_sums: Callable[[FloatArray], FloatArray],
    row_totals: FloatArray,
    labelings: Iterator[AnyArray],
    k: int,
) -> Iterator[FloatArray]:
    """M of every relabeling, (b, k, k) at a time.

    Only k - 1 groups go through the product with R: the last one is what the row totals leave over.
    """
    n = row_totals.size
    at_once = max(1, INDICATOR_BYTES // (8 * n * (k - 1) * LABELINGS_PER_STREAM))
    grand_total = float(row_totals.sum())
    while chunk := list(itertools.islice(labelings, at_once)):
        codes = np.concatenate(chunk).T  # (n, b)
        Z = (codes[:, None, :] == np.arange(k - 1)[None, :, None]).astype(np.float64)
        M = np.empty((codes.shape[1], k, k))
        M[:, :-1, :-1] = block_sums(Z)
        with_all = (row_totals @ Z.reshape(n, -1)).reshape(k - 1, -1).T
        M[:, :-1, -1] = M[:, -1, :-1] = with_all - M[:, :-1, :-1].sum(axis=2)
        M[:, -1, -1] = grand_total - with_all.sum(axis=1) - M[:, :-1, -1].sum(axis=1)
        yield M


def tie_tolerance(scale: float, n: int) -> float:
    """Two values of S closer than this are tied; `scale` is T, the size of the summands [MATH s.4, ties]."""
    return scale * max(1e-12, 2e-10 / n)


def upper_pvalue(observed: float, null: FloatArray, *, tolerance: float) -> float:
    """Share of labelings at or above the observed one; the only place where a p-value is counted.

    `null` leaves the observed labeling out; it is counted once, which is the +1 of a random null and
    simply one of all labelings in an exact one, so that the two formulas agree.
    """
    return (count_extreme(observed, null, tolerance) + 1) / (null.size + 1)


def count_extreme(observed: float, null: FloatArray, tolerance: float) -> int:
    """How many null values reach the observed one, ties included to rounding."""
    return int(np.count_nonzero(null >= observed - tolerance))


def pvalue_interval(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """Clopper-Pearson interval of the p-value that infinitely many resamples would give."""
    tail = (1 - confidence_level) / 2
    low = 0.0 if extreme == 0 else float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme + 1, n_resamples - extreme, 1 - tail))
    return low, high
