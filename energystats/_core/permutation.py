"""Relabelings of n points, the statistics' common matrix M over all of them, and the p-value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import betaincinv

from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "Exchangeable",
    "arrangements",
    "count_extreme",
    "count_labelings",
    "draw_key",
    "null_sums",
    "pvalue_interval",
    "stream_of",
    "tie_tolerance",
    "upper_pvalue",
]

LABELINGS_PER_BLOCK = 64  # relabelings drawn from one stream; part of what a seed means
INDICATOR_BYTES = 2**28  # of the indicators held at a time


def draw_key(rng: np.random.Generator) -> AnyArray:
    """Draw the key from which every block of random labelings follows."""
    return rng.integers(2**64, size=2, dtype=np.uint64)


def stream_of(key: AnyArray, block: int, series: int = 0) -> np.random.Generator:
    """Random numbers of one block of resamples: a function of key and numbers alone, whatever ran before."""
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, series, block]))


@dataclass(frozen=True, slots=True, eq=False)
class Exchangeable:
    """Labels that may be permuted among the rows of each block, and how to do it.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        The observed labels, 0..k-1.
    blocks : tuple of ndarray
        Row indices of every block; a single block for free permutations.
    """

    codes: IntArray
    blocks: tuple[IntArray, ...]

    @classmethod
    def freely(cls, codes: IntArray) -> Self:
        """All rows in one block."""
        return cls(codes, (np.arange(codes.size, dtype=np.intp),))

    def count(self) -> int:
        """Number of distinct labelings, the observed one included."""
        return math.prod(count_labelings(np.bincount(self.codes[rows])) for rows in self.blocks)

    def of_block(self, key: AnyArray, block: int) -> AnyArray:
        """Random labelings of one block of resamples, (64, n): a function of key and block number alone."""
        stream = stream_of(key, block)
        labelings = np.tile(self.codes, (LABELINGS_PER_BLOCK, 1))
        for rows in self.blocks:
            labelings[:, rows] = stream.permuted(labelings[:, rows], axis=1)
        return labelings

    def random(self, n_resamples: int, key: AnyArray) -> Iterator[AnyArray]:
        """Random labelings, in blocks of shape (<= 64, n)."""
        for block, start in enumerate(range(0, n_resamples, LABELINGS_PER_BLOCK)):
            yield self.of_block(key, block)[: n_resamples - start]

    def distinct(self) -> Iterator[AnyArray]:
        """All distinct labelings but the observed one, in blocks of shape (<= 64, n)."""

        def fill(labeling: IntArray, block: int) -> Iterator[IntArray]:
            if block == len(self.blocks):
                yield labeling.copy()
                return
            rows = self.blocks[block]
            for arrangement in arrangements(self.codes[rows]):
                labeling[rows] = arrangement
                yield from fill(labeling, block + 1)

        everything = fill(np.empty_like(self.codes), 0)
        others = (labeling for labeling in everything if not np.array_equal(labeling, self.codes))
        while chunk := list(itertools.islice(others, LABELINGS_PER_BLOCK)):
            yield np.array(chunk)


def count_labelings(sizes: IntArray) -> int:
    """n! / (n_1! ... n_k!), the number of distinct ways to hand out the labels."""  # noqa: D403
    count, left = 1, 0
    for size in sizes.tolist():
        left += size
        count *= math.comb(left, size)
    return count


def arrangements(codes: IntArray) -> Iterator[IntArray]:
    """Every distinct permutation of `codes` once."""
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

    yield from fill(np.empty_like(codes), tuple(range(codes.size)), 0)


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
    at_once = max(1, INDICATOR_BYTES // (8 * n * (k - 1) * LABELINGS_PER_BLOCK))
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
    """Two values of S closer than this are tied; `scale` is T, the size of the summands [theory 4, ties]."""
    return scale * max(1e-12, 2e-10 / n)


def count_extreme(observed: float, null: FloatArray, tolerance: float) -> int:
    """How many null values reach the observed one, ties included to rounding."""
    return int(np.count_nonzero(null >= observed - tolerance))


def upper_pvalue(extreme: int, n_others: int) -> float:
    """Share of labelings at or above the observed one; the only place where a p-value is formed.

    The observed labeling is not among the `n_others` and counts once: that is the +1 of a random null, and one of
    all labelings in an exact one, so that the two formulas agree.
    """
    return (extreme + 1) / (n_others + 1)


def pvalue_interval(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """Clopper-Pearson interval of the p-value that infinitely many resamples would give."""
    tail = (1 - confidence_level) / 2
    low = 0.0 if extreme == 0 else float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme + 1, n_resamples - extreme, 1 - tail))
    return low, high
