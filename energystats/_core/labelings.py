"""Permute labels: which units may be exchanged, all distinct labelings, and random ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import gammaln

from energystats._typing import AnyArray, FloatArray, IntArray

__all__ = [
    "COMPILED_FROM",
    "LABELINGS_PER_BLOCK",
    "Exchangeable",
    "Labelings",
    "RandomLabels",
    "arrangements",
    "assign_labels_by_column",
    "count_labelings",
    "draw_key",
    "narrowed",
    "stream_of",
]


LABELINGS_PER_BLOCK = 64  # permutations drawn from one stream; part of what a seed means
COUNTED_UP_TO = 30.0  # log of the number of labelings; beyond it no digit matters
LARGEST_LOG = 700.0  # of a number of labelings that a double can hold
UNIFORM_BYTES = 2**26  # of the random numbers held at a time


def draw_key(rng: np.random.Generator) -> AnyArray:
    """Draw a random key of two 64-bit integers, from which all random labelings are generated."""
    return rng.integers(2**64, size=2, dtype=np.uint64)


def narrowed(codes: IntArray) -> AnyArray:
    """Convert group codes to the smallest integer type that holds them."""
    return codes.astype(np.min_scalar_type(int(codes.max())))


def stream_of(key: AnyArray, block: int, series: int = 0) -> np.random.Generator:
    """Return the random generator of one block of resamples, determined by key, series and block number alone."""
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, series, block]))


@dataclass(frozen=True, eq=False)
class Exchangeable:
    """Describe which labels may be permuted among which units, and count, list or draw their permutations."""

    codes: IntArray  # (n_units,) the observed labels, 0..k-1
    blocks: tuple[IntArray, ...]  # indices of the units of every block; a single block for free permutations
    unit_of: IntArray | None = None  # (n,) unit of each row; None when every row is a unit of its own

    @classmethod
    def freely(cls, codes: IntArray) -> Self:
        """Return the permutation scheme in which all rows are exchangeable with each other."""
        return cls(codes, (np.arange(codes.size, dtype=np.intp),))

    def count(self) -> float:
        """Count the distinct group labelings, the observed one included; inf where they are too many for a float."""
        each = [count_labelings(np.bincount(self.codes[units])) for units in self.blocks]
        return math.prod(each) if math.fsum(map(math.log, each)) < LARGEST_LOG else math.inf

    def count_mirrors(self) -> float:
        """Count the labelings that only exchange names of groups of equal size, the observed labeling included.

        Sizes must be equal in every block of units. It is inf where they are too many for a float.
        """
        k = int(self.codes.max()) + 1
        sizes = np.array([np.bincount(self.codes[units], minlength=k) for units in self.blocks])
        alike = np.unique(sizes, axis=1, return_counts=True)[1]
        log = float(gammaln(alike + 1).sum())
        return float(math.prod(map(math.factorial, alike.tolist()))) if log < LARGEST_LOG else math.inf

    @cached_property
    def random_labels(self) -> RandomLabels:
        """Prepare the labels of all units for drawing random permutations of them, and return them."""
        return RandomLabels(self.codes, self.blocks)

    def of_rows(self, labelings: AnyArray) -> AnyArray:
        """Convert labelings of units, such as whole plots, to labelings of their rows; (b, n_units) -> (b, n)."""
        return labelings if self.unit_of is None else labelings[:, self.unit_of]

    def random(self, n_resamples: int, key: AnyArray) -> Iterator[AnyArray]:
        """Yield random labelings in blocks of at most 64, reproducible from a key; (<= 64, n)."""
        draws = self.random_labels.drawn.size
        compiled = n_resamples * draws >= COMPILED_FROM
        for block, start in enumerate(range(0, n_resamples, LABELINGS_PER_BLOCK)):
            yield self.block(block, min(LABELINGS_PER_BLOCK, n_resamples - start), key, compiled=compiled)

    def block(self, block: int, count: int, key: AnyArray, *, compiled: bool = True) -> AnyArray:
        """Draw the first `count` random labelings of one block from the block's own random generator; (count, n)."""
        draws = self.random_labels.drawn.size
        stream, room = stream_of(key, block), max(1, UNIFORM_BYTES // (8 * max(draws, 1)))
        drawn = [
            self.random_labels.labelings(stream.random((min(room, count - done), draws)), compiled=compiled)
            for done in range(0, count, room)
        ]
        return self.of_rows(drawn[0] if len(drawn) == 1 else np.concatenate(drawn))

    def distinct(self) -> Iterator[AnyArray]:
        """Yield all distinct labelings except the observed one, in blocks of at most 64; (<= 64, n)."""
        # blocks of one label have one arrangement
        mixed = [block for block in self.blocks if np.ptp(self.codes[block]) > 0]

        def fill(labeling: IntArray, block: int) -> Iterator[IntArray]:
            if block == len(mixed):
                yield labeling.copy()
                return
            units = mixed[block]
            for arrangement in arrangements(self.codes[units]):
                labeling[units] = arrangement
                yield from fill(labeling, block + 1)

        # the observed labeling is left out here because the p-value counts it once in any case
        everything = fill(self.codes.copy(), 0)
        others = (labeling for labeling in everything if not np.array_equal(labeling, self.codes))
        while chunk := list(itertools.islice(others, LABELINGS_PER_BLOCK)):
            yield self.of_rows(np.array(chunk))


@dataclass(frozen=True, slots=True, eq=False)
class Labelings:
    """Describe the labelings of a permutation test besides the observed one: all distinct ones or random ones."""

    scheme: Exchangeable  # what may be permuted
    count: int  # their number
    key: AnyArray | None = None  # key of random ones; None for all distinct ones

    @property
    def exact(self) -> bool:
        """Return whether all distinct labelings are enumerated, rather than random ones drawn."""
        return self.key is None

    def blocks(self) -> Iterator[AnyArray]:
        """Yield the labelings of a permutation test, random or all distinct ones, in blocks; (<= 64, n)."""
        return self.scheme.distinct() if self.key is None else self.scheme.random(self.count, self.key)


def count_labelings(sizes: IntArray) -> float:
    """Count the labelings with given group sizes, n! / (n_1! ... n_k!); rounded if huge, inf beyond a float."""
    log = float(gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum())
    if log > COUNTED_UP_TO:
        return math.exp(log) if log < LARGEST_LOG else math.inf
    count, left = 1, 0
    for size in sizes.tolist():
        left += size
        count *= math.comb(left, size)
    return count


def arrangements(codes: IntArray) -> Iterator[IntArray]:
    """Yield every distinct permutation of an array of labels."""
    names, codes = np.unique(codes, return_inverse=True)
    sizes = np.bincount(codes)

    def fill(labeling: IntArray, free: tuple[int, ...], group: int) -> Iterator[IntArray]:
        if group == sizes.size - 1:
            labeling[list(free)] = group
            yield names[labeling]
            return
        for chosen in itertools.combinations(free, int(sizes[group])):
            labeling[list(chosen)] = group
            taken = set(chosen)
            yield from fill(labeling, tuple(i for i in free if i not in taken), group + 1)

    yield from fill(np.empty_like(codes), tuple(range(codes.size)), 0)


COMPILED_FROM = 100_000  # labels to assign; for fewer, loading the compiler costs more than it saves


class RandomLabels:
    """Draw random labelings within blocks; the largest group of each block gets the units left over.

    Labels are assigned in order of first occurrence, so that other names for the groups change nothing.

    Attributes
    ----------
    order, starts : ndarray of shape (n,), (n_blocks + 1,)
        Units, block after block, and where each block starts.
    drawn, drawn_starts : ndarray of shape (n_draws,), (n_blocks + 1,)
        Labels that are assigned, block after block, and where those of each block start.
    rest : ndarray of shape (n_blocks,)
        The label of all other units of the block.
    """

    __slots__ = ("drawn", "drawn_starts", "order", "rest", "starts")

    def __init__(self, codes: IntArray, blocks: tuple[IntArray, ...]) -> None:
        codes = narrowed(codes)
        rests, drawn = [], []
        for rows in blocks:
            # in the order of first occurrence, so that names of groups cannot change a p-value
            labels, first, counts = np.unique(codes[rows], return_index=True, return_counts=True)
            seen = np.argsort(first)
            labels, counts = labels[seen], counts[seen]
            rests.append(labels[counts.argmax()])
            others = labels != rests[-1]
            drawn.append(np.repeat(labels[others], counts[others]))
        self.order = np.concatenate(blocks).astype(np.int32)  # half the memory to jump about in
        self.starts = np.cumsum([0, *(rows.size for rows in blocks)])
        self.drawn = np.concatenate(drawn)
        self.drawn_starts = np.cumsum([0, *(labels.size for labels in drawn)])
        self.rest = np.array(rests)

    def labelings(self, uniform: FloatArray, *, compiled: bool) -> AnyArray:
        """Assign permuted labels to units, a labeling for each row of uniform numbers; (b, n_draws) -> (b, n)."""
        how = (uniform, self.order, self.starts, self.drawn, self.drawn_starts, self.rest)
        if compiled:
            from energystats._core import jit
            from energystats._core.permutation_loops import assign_labels

            if jit.numba is not None:
                return assign_labels(*how)
        return assign_labels_by_column(*how)


def assign_labels_by_column(
    uniform: FloatArray,
    order: AnyArray,
    starts: IntArray,
    drawn: AnyArray,
    drawn_starts: IntArray,
    rest: AnyArray,
) -> AnyArray:
    """Assign permuted labels to units by the Fisher-Yates shuffle, all labelings at once; (b, n_draws) -> (b, n)."""
    rows = np.arange(uniform.shape[0])
    labelings = np.empty((rows.size, order.size), dtype=drawn.dtype)
    free = np.tile(order, (rows.size, 1))
    for block in range(rest.size):
        start, stop = starts[block], starts[block + 1]
        labelings[:, order[start:stop]] = rest[block]
        draws = range(drawn_starts[block], drawn_starts[block + 1])
        # step `at` of Fisher and Yates: one of the units that are still free, whose place the unit at `at` takes
        for at, draw in enumerate(draws, start):
            chosen = at + (uniform[:, draw] * (stop - at)).astype(np.intp)
            labelings[rows, free[rows, chosen]] = drawn[draw]
            free[rows, chosen] = free[:, at]
    return labelings
