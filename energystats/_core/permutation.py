"""Relabelings of n points, the statistics' common matrix M over all of them, and the p-value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from scipy.special import betaincinv, gammaln

from energystats._core.labelings import COMPILED_FROM, Deal
from energystats._core.threads import one_thread
from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "LABELINGS_PER_BLOCK",
    "Exchangeable",
    "Labelings",
    "arrangements",
    "count_extreme",
    "count_labelings",
    "draw_key",
    "groups_multiplied",
    "null_sums",
    "pvalue_interval",
    "stopped_interval",
    "stream_of",
    "tie_tolerance",
    "upper_pvalue",
]

LABELINGS_PER_BLOCK = 64  # relabelings drawn from one stream; part of what a seed means
COUNTED_UP_TO = 30.0  # log of the number of labelings; beyond it no digit matters
UNIFORM_BYTES = 2**26  # of the random numbers held at a time
INDICATOR_BYTES = 3 * 2**26  # of the indicators held at a time


def draw_key(rng: np.random.Generator) -> AnyArray:
    """Draw the key from which every block of random labelings follows."""
    return rng.integers(2**64, size=2, dtype=np.uint64)


def stream_of(key: AnyArray, block: int, series: int = 0) -> np.random.Generator:
    """Random numbers of one block of resamples: a function of key and numbers alone, whatever ran before."""
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, series, block]))


@dataclass(frozen=True, eq=False)
class Exchangeable:
    """Labels that may be permuted among the units of each block, and how to do it.

    Attributes
    ----------
    codes : ndarray of shape (n_units,)
        The observed labels, 0..k-1.
    blocks : tuple of ndarray
        Indices of the units of every block; a single block for free permutations.
    unit_of : ndarray of shape (n,) or None
        Unit of each row; None when every row is a unit of its own.
    """

    codes: IntArray
    blocks: tuple[IntArray, ...]
    unit_of: IntArray | None = None

    @classmethod
    def freely(cls, codes: IntArray) -> Self:
        """All rows in one block."""
        return cls(codes, (np.arange(codes.size, dtype=np.intp),))

    def count(self) -> float:
        """Number of distinct labelings, the observed one included."""
        return math.prod(count_labelings(np.bincount(self.codes[units])) for units in self.blocks)

    @cached_property
    def deal(self) -> Deal:
        """What every random labeling hands out."""
        return Deal(self.codes, self.blocks)

    def of_rows(self, labelings: AnyArray) -> AnyArray:
        """Labels of the rows from labels of the units; (b, n_units) -> (b, n)."""
        return labelings if self.unit_of is None else labelings[:, self.unit_of]

    def random(self, n_resamples: int, key: AnyArray) -> Iterator[AnyArray]:
        """Random labelings, in blocks of shape (<= 64, n), each a function of key and block number alone."""
        draws = self.deal.dealt.size
        compiled = n_resamples * draws >= COMPILED_FROM
        for block, start in enumerate(range(0, n_resamples, LABELINGS_PER_BLOCK)):
            yield self.block(block, min(LABELINGS_PER_BLOCK, n_resamples - start), key, compiled=compiled)

    def block(self, block: int, count: int, key: AnyArray, *, compiled: bool = True) -> AnyArray:
        """The first labelings of a block, drawn a few at a time from its stream; (count, n)."""
        draws = self.deal.dealt.size
        stream, room = stream_of(key, block), max(1, UNIFORM_BYTES // (8 * max(draws, 1)))
        dealt = [
            self.deal.labelings(stream.random((min(room, count - done), draws)), compiled=compiled)
            for done in range(0, count, room)
        ]
        return self.of_rows(dealt[0] if len(dealt) == 1 else np.concatenate(dealt))

    def distinct(self) -> Iterator[AnyArray]:
        """All distinct labelings but the observed one, in blocks of shape (<= 64, n)."""

        def fill(labeling: IntArray, block: int) -> Iterator[IntArray]:
            if block == len(self.blocks):
                yield labeling.copy()
                return
            units = self.blocks[block]
            for arrangement in arrangements(self.codes[units]):
                labeling[units] = arrangement
                yield from fill(labeling, block + 1)

        everything = fill(np.empty_like(self.codes), 0)
        others = (labeling for labeling in everything if not np.array_equal(labeling, self.codes))
        while chunk := list(itertools.islice(others, LABELINGS_PER_BLOCK)):
            yield self.of_rows(np.array(chunk))


@dataclass(frozen=True, slots=True, eq=False)
class Labelings:
    """The labelings to visit besides the observed one.

    Attributes
    ----------
    scheme : Exchangeable
        What may be permuted.
    count : int
        Their number.
    key : ndarray or None
        Key of random ones; None for all distinct ones.
    """

    scheme: Exchangeable
    count: int
    key: AnyArray | None = None

    @property
    def exact(self) -> bool:
        """Whether they are all there are."""
        return self.key is None

    def blocks(self) -> Iterator[AnyArray]:
        """Blocks of shape (<= 64, n)."""
        return self.scheme.distinct() if self.key is None else self.scheme.random(self.count, self.key)


def count_labelings(sizes: IntArray) -> float:
    """n! / (n_1! ... n_k!), the number of distinct ways to hand out the labels; rounded where it is huge."""  # noqa: D403
    log = float(gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum())
    if log > COUNTED_UP_TO:
        return math.exp(log) if log < 700 else math.inf
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


class Pairs(Protocol):
    """What is needed of R."""

    def block_sums(self, Z: FloatArray) -> FloatArray:
        """Z'RZ for every labeling; (n, k, b) -> (b, k, k)."""

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same and R @ weights."""


def null_sums(
    pairs: Pairs,
    weights: FloatArray,
    labelings: Iterator[AnyArray],
    k: int,
    *,
    at_once: int | None = None,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """M and the group sizes (sums of weights) of every labeling, (b, k, k) and (b, k) at a time.

    `groups_multiplied` go through the product with R. `at_once` blocks of labelings share a product; None takes as many
    as memory allows.
    """
    n, mass = weights.size, float(weights.sum())
    multiplied = groups_multiplied(weights, k)
    room = max(1, INDICATOR_BYTES // (8 * n * multiplied))  # labelings in one product
    at_once = at_once or max(1, room // LABELINGS_PER_BLOCK)
    totals = None
    while chunk := list(itertools.islice(labelings, at_once)):
        codes = np.concatenate(chunk).T  # (n, b)
        for start in range(0, codes.shape[1], room):
            Z = indicators(codes[:, start : start + room], multiplied, weights)
            if multiplied == k:
                yield pairs.block_sums(Z), Z.sum(axis=0).T
                continue
            if totals is None:
                inner, totals = pairs.block_sums_and_totals(Z, weights)
            else:
                inner = pairs.block_sums(Z)
            yield completed(inner, Z, totals, weights, mass)


def groups_multiplied(weights: FloatArray, k: int) -> int:
    """How many of k groups are summed: of rows that weigh the same all but the last, which the totals leave over.

    Of unequal weights all, because the difference would lose the digits by which the last group is lighter.
    """
    return k - int(weights.min() == weights.max())


def completed(
    inner: FloatArray, Z: FloatArray, totals: FloatArray, weights: FloatArray, mass: float
) -> tuple[FloatArray, FloatArray]:
    """M and sizes of all k groups from those of the first k - 1; R @ weights knows the rest."""
    n, others, b = Z.shape
    with one_thread():
        sums = np.stack((totals, np.ones(n))) @ Z.reshape(n, -1)
    with_all, s = sums.reshape(2, others, b).transpose(0, 2, 1)
    M = np.empty((b, others + 1, others + 1))
    M[:, :-1, :-1] = inner
    M[:, :-1, -1] = M[:, -1, :-1] = with_all - inner.sum(axis=2)
    M[:, -1, -1] = float(totals @ weights) - with_all.sum(axis=1) - M[:, :-1, -1].sum(axis=1)
    return M, np.column_stack((s, mass - s.sum(axis=1)))


def indicators(codes: AnyArray, k: int, weights: FloatArray) -> FloatArray:
    """Indicators of the first k groups times the weights; (n, b) -> (n, k, b)."""
    Z = (codes[:, None, :] == np.arange(k, dtype=codes.dtype)[None, :, None]).astype(np.float64)
    if (weights != 1).any():
        Z *= weights[:, None, None]
    return np.asarray(Z)


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


def stopped_interval(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """The same where sampling stopped at the last extreme value: their number was fixed, not that of resamples."""
    tail = (1 - confidence_level) / 2
    low = float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme, n_resamples - extreme, 1 - tail))
    return low, high
