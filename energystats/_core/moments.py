"""Compute mean, variance and skewness of a sum A_ij C_p(i)p(j) over all permutations p, without permuting.

The r-th power of the sum runs over 2r indices. Sorted by which of them are equal (a set partition), each pattern of A
meets the same pattern of C equally often, so that the moment is the sum over patterns of

    (sum of A-products with that pattern) (the same of C) / (n (n - 1) ... (n - b + 1)),    b distinct indices.

Products summed over *unrestricted* indices are the graph sums below, and inclusion and exclusion over coarser patterns
(the Moebius function of the partition lattice) turns them into sums over distinct indices. Kazi-Aoual, Hitier,
Sabatier & Lebreton (1995) print the results in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from energystats._typing import FloatArray

__all__ = ["GraphSums", "pearson_density", "permutation_moments"]


ROWS_AT_ONCE = 512
ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of the summands of a moment
SMALLEST_DEVIATION = 1e-9  # of the entries of A from their mean under all permutations
LARGEST_ERROR = 0.05  # of the skewness
Pattern = tuple[int, ...]  # the block of each index; the r-th factor holds indices 2r and 2r + 1


@dataclass(frozen=True, slots=True)
class GraphSums:
    """Hold sums of products of entries of a symmetric matrix whose rows sum to 0, for moments over permutations."""

    # for every connected multigraph of up to three edges without a loose end: tr A, tr A^2, tr A^3, and the sums of
    # a_i^2, a_i^3, A_ij^3, a_i A_ij a_j and a_i (A^2)_ii
    sums: dict[str, float]

    @classmethod
    def of(cls, A: FloatArray) -> Self:
        """Compute the sums over products of entries of a symmetric matrix that the permutation moments need; O(n^3)."""
        a, own = np.diagonal(A), np.einsum("ij,ij->i", A, A)
        triangle = thrice = 0.0
        for start in range(0, len(A), ROWS_AT_ONCE):
            rows, beyond = A[start : start + ROWS_AT_ONCE], start + ROWS_AT_ONCE
            # A^2 is symmetric: blocks to the right of the diagonal count twice
            here = float(np.vdot(rows @ A[:, start:beyond], rows[:, start:beyond]))
            triangle += here + 2 * float(np.vdot(rows @ A[:, beyond:], rows[:, beyond:]))
            thrice += float(np.vdot(rows * rows, rows))
        return cls(
            {
                "loop": float(a.sum()),
                "loops": float(a @ a),
                "edge twice": float(own.sum()),
                "loops thrice": float((a**3).sum()),
                "edge thrice": thrice,
                "dumbbell": float(a @ A @ a),
                "loop on edge": float(a @ own),
                "triangle": triangle,
            }
        )

    @classmethod
    def of_groups(cls, T: FloatArray, sizes: FloatArray) -> Self:
        """Compute the sums of products that permutation moments need, for a matrix with one entry for each two groups.

        Its entries are T_gh between two members of groups g and h. T is symmetric, (k, k). The diagonal is what makes
        the rows sum to 0. O(k^3) time.
        """
        own = np.diagonal(T)
        loops = own - T @ sizes
        twice, thrice = (T**power @ sizes - own**power + loops**power for power in (2, 3))
        weighted, alone = T * sizes, loops - own  # the matrix is Z T Z' + a diagonal matrix of `alone`
        square = weighted @ weighted
        return cls(
            {
                "loop": float(sizes @ loops),
                "loops": float(sizes @ loops**2),
                "edge twice": float(sizes @ twice),
                "loops thrice": float(sizes @ loops**3),
                "edge thrice": float(sizes @ thrice),
                "dumbbell": float((sizes * loops) @ T @ (sizes * loops) + sizes @ (loops**2 * alone)),
                "loop on edge": float(sizes @ (loops * twice)),
                "triangle": float(
                    np.vdot(square, weighted.T)
                    + 3 * np.diagonal(square) @ alone
                    + 3 * sizes @ (alone**2 * own)
                    + sizes @ alone**3
                ),
            }
        )

    def unrestricted(self, pattern: Pattern) -> float:
        """Sum products of matrix entries over all values of indices that are equal within each block of a pattern."""
        return math.prod(0.0 if kind is None else self.sums[kind] for kind in _kinds_of_components(pattern))

    def distinct(self, pattern: Pattern) -> float:
        """Sum products of matrix entries over indices equal within blocks of a pattern and distinct between blocks."""
        return math.fsum(sign * self.unrestricted(coarser) for coarser, sign in _list_coarsenings(pattern))

    def summands(self, pattern: Pattern) -> float:
        """Sum the absolute terms of inclusion and exclusion for distinct indices, a scale for rounding errors."""
        return math.fsum(abs(self.unrestricted(coarser)) for coarser, _ in _list_coarsenings(pattern))


@cache
def _kinds_of_components(pattern: Pattern) -> tuple[str | None, ...]:
    """Name the connected components of the graph of an index pattern; None for one in which an index occurs once."""
    return tuple(_classify_graph(edges) for edges in _split_components(pattern))


def _split_components(pattern: Pattern) -> list[list[tuple[int, int]]]:
    """Split the graph of an index pattern into connected components, each a list of edges."""
    parts: list[list[tuple[int, int]]] = []
    for edge in zip(pattern[::2], pattern[1::2], strict=True):
        touching = [part for part in parts if any(set(edge) & set(other) for other in part)]
        parts = [part for part in parts if part not in touching]
        parts.append([edge, *(other for part in touching for other in part)])
    return parts


def _classify_graph(edges: list[tuple[int, int]]) -> str | None:
    """Name a connected multigraph of up to three edges, such as "triangle"; None if an index occurs only once.

    A loop holds its index twice. Rows sum to 0, so that the sum is 0 where an index occurs once.
    """
    ends = [vertex for edge in edges for vertex in edge]
    if min(map(ends.count, ends)) == 1:
        return None
    loops, vertices = sum(i == j for i, j in edges), len(set(ends))
    names = {
        (1, 1, 1): "loop",
        (2, 2, 1): "loops",
        (2, 0, 2): "edge twice",
        (3, 3, 1): "loops thrice",
        (3, 0, 2): "edge thrice",
        (3, 2, 2): "dumbbell",
        (3, 1, 2): "loop on edge",
        (3, 0, 3): "triangle",
    }
    return names[len(edges), loops, vertices]


def _list_set_partitions(size: int) -> Iterator[Pattern]:
    """Yield every partition of a set of n elements, blocks numbered by their first element."""

    def extend(pattern: Pattern) -> Iterator[Pattern]:
        if len(pattern) == size:
            yield pattern
            return
        for block in range(max(pattern, default=-1) + 2):
            yield from extend((*pattern, block))

    yield from extend(())


@cache
def _list_coarsenings(pattern: Pattern) -> list[tuple[Pattern, int]]:
    """List all coarser index patterns, each with its Moebius coefficient in the lattice of partitions."""
    found = []
    for merge in _list_set_partitions(max(pattern) + 1):
        sign = math.prod((-1) ** (m - 1) * math.factorial(m - 1) for m in np.bincount(merge).tolist())
        found.append((tuple(merge[block] for block in pattern), sign))
    return found


def _compute_raw_moment(a: GraphSums, c: GraphSums, order: int, n: int) -> tuple[float, float]:
    """Compute a raw moment of sum A_ij C_p(i)p(j) over all permutations p, and a bound on its rounding error."""
    terms, sizes = [], []
    # the formula at the top of the file; patterns of more blocks than points occur nowhere
    for pattern in _list_set_partitions(2 * order):
        b = max(pattern) + 1
        if b <= n:
            terms.append(a.distinct(pattern) / math.perm(n, b) * c.distinct(pattern))
            sizes.append(a.summands(pattern) / math.perm(n, b) * c.summands(pattern))
    return math.fsum(terms), ROUNDING * math.fsum(sizes)


def permutation_moments(A: FloatArray, c: GraphSums) -> tuple[float, float, float] | None:
    """Compute mean, sd and skewness of sum A_ij C_p(i)p(j) over all permutations p; None if rounding dominates.

    A and C, of which `c` are the sums, are symmetric with rows that sum to 0. O(n^3) time.
    """
    n, unit = len(A), float(np.abs(A).max())
    if unit == 0:
        return 0.0, 0.0, 0.0
    # E sum A_ij C_p(i)p(j) = tr A tr C/(n - 1), because the off-diagonal entries add up to minus the traces
    # [Kazi-Aoual et al. 1995]
    mean = float(np.trace(A)) * c.sums["loop"] / (n - 1)
    # without its trace A gives the deviations from the mean, so that nothing cancels
    deviations = A / unit
    deviations -= float(np.trace(deviations)) / (n - 1) * (np.eye(n) - 1 / n)
    if np.abs(deviations).max() < SMALLEST_DEVIATION:  # all points at one distance from each other
        return None
    # the central moments of the statistic, from the raw moments of the deviations
    a = GraphSums.of(deviations)
    (second, error), (third, error_of_third) = _compute_raw_moment(a, c, 2, n), _compute_raw_moment(a, c, 3, n)
    if not second > 1e4 * error or not error_of_third < LARGEST_ERROR * second**1.5:
        return None
    return mean, unit * math.sqrt(second), third / second**1.5


def pearson_density(moments: tuple[float, float, float], reach: float) -> tuple[FloatArray, FloatArray]:
    """Compute points x and density of the Pearson type III distribution with given moments; (400,), (400,).

    From its .001 to its .999 quantile, or to `reach` where that is larger. Both are empty for a point mass.
    """
    from scipy.stats import pearson3

    mean, sd, skewness = moments
    if not sd > 0:
        return np.empty(0), np.empty(0)
    fitted = pearson3(skewness, loc=mean, scale=sd)
    low, high = fitted.ppf([1e-3, 1 - 1e-3])
    x = np.linspace(low, max(high, reach), 400)
    return x, np.asarray(fitted.pdf(x))
