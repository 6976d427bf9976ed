"""Tests in nearly linear time: distances along random directions, and permutations of whole bins [theory 9]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from energystats._core import statistics
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, Groups, Matrix, Points
from energystats.distribution_tests.designs import ExchangeableUnits
from energystats.distribution_tests.permutation_test import (
    RANKED_BY,
    Sampling,
    StatisticName,
    draw_null,
    permutation_test,
    report_null,
)
from energystats.distribution_tests.results import EnergyTestResult
from energystats.pairs.slices import Sliced

__all__ = ["MOST_BINS", "SLICES", "binned_test", "default_bins", "sliced_test"]


SLICES = 50
BINS = 256
BINS_OF_SMALLEST = 8  # where the number of bins is left to us
MOST_BINS = 4096  # whose matrix of sums is kept


@dataclass(frozen=True, slots=True, eq=False)
class _Bins:
    """Rows of one group put together at random, so that their labels move together.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Bin of each row.
    groups : Groups
        Group of each bin.
    strata : Groups
        Bins of equal size, which may be exchanged; every group's rest is a bin and a stratum of its own.
    size : int
        Rows of a full bin.
    """

    codes: IntArray
    groups: Groups
    strata: Groups
    size: int

    @classmethod
    def of(cls, groups: Groups, n_bins: int, rng: np.random.Generator) -> _Bins:
        """At most `n_bins` full ones, and a rest for each group."""
        n = groups.codes.size
        size = -(-n // n_bins)
        if groups.sizes.min() < size:
            raise ValueError(
                f"`n_bins` must be so large that each group fills a bin, got {n_bins}: bins of {size} rows, and the "
                f"smallest group has {groups.sizes.min()} of {n}. More than {MOST_BINS} bins are not kept; use "
                'method="permutation", or "sliced" without bins, for such groups.'
            )
        codes = np.empty(n, np.intp)
        names: list[int] = []
        strata: list[int] = []
        for j, rows in enumerate(groups.members()):
            full, rest = divmod(rows.size, size)
            codes[rng.permutation(rows)] = len(names) + np.arange(rows.size) // size
            names += [j] * (full + (rest > 0))
            strata += [0] * full + [max(strata, default=0) + 1] * (rest > 0)
        blocks = np.array(strata, dtype=np.intp)
        return cls(
            codes,
            Groups(np.array(names, dtype=np.intp), groups.names),
            Groups(blocks, tuple(range(int(blocks.max()) + 1))),
            size,
        )

    @property
    def n(self) -> int:
        """How many."""
        return self.groups.codes.size


def default_bins(groups: Groups) -> int:
    """256, or as many as give the smallest group eight."""
    size = max(1, int(groups.sizes.min()) // BINS_OF_SMALLEST)
    wanted = -(-groups.codes.size // size)
    return min(MOST_BINS, max(BINS, wanted))


def binned_test(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName,
    *,
    n_bins: int | None,
    sampling: Sampling,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> EnergyTestResult:
    """Bins are permuted in place of rows: after one pass over the pairs a labeling costs O(n_bins^2)."""
    bins = _Bins.of(groups, n_bins or default_bins(groups), rng)
    w = np.ones(d.n) if weights is None else weights
    if isinstance(d, Points) and not d.is_stored:  # so that tiles have the rows of a bin side by side
        order = np.argsort(bins.codes, kind="stable")
        ordered = replace(d, points=d.points[order])
        sums = ordered.pairs.bin_sums(bins.codes[order], w[order], bins.n)
    else:
        sums = d.pairs.bin_sums(bins.codes, w, bins.n)
    return _compare_bins(d, groups, name, bins, sums, sampling, rng, weights)


def _compare_bins(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName,
    bins: _Bins,
    sums: FloatArray,
    sampling: Sampling,
    rng: np.random.Generator,
    weights: FloatArray | None,
) -> EnergyTestResult:
    """The test of bins whose sums are known.

    A bin stands for its rows as one point whose weight is theirs, and the rho of two bins is the mean over their pairs
    of rows, in a bin that of its own. M and the sizes of the groups are then those of the rows, whatever the labels.
    """
    mass = np.bincount(bins.codes, weights, minlength=bins.n).astype(np.float64)
    binned = Matrix(metric=d.metric, R=sums / np.outer(mass, mass), warns=False)
    whole = replace(sampling, method="auto")
    null = draw_null(binned, bins.groups, RANKED_BY[name], whole, rng, ExchangeableUnits(strata=bins.strata), mass)
    n_fixed = int(np.count_nonzero(bins.strata.codes[bins.codes]))
    return report_null(
        d,
        groups,
        name,
        null,
        sampling,
        weights=weights,
        method="binned",
        n_bins=bins.n,
        n_fixed=n_fixed,
    )


def sliced_test(
    d: Dissimilarity,
    groups: Groups,
    name: StatisticName,
    *,
    n_slices: int,
    n_bins: int | None,
    sampling: Sampling,
    rng: np.random.Generator,
    units: ExchangeableUnits,
    weights: FloatArray | None = None,
) -> EnergyTestResult:
    """All permutations see the same directions, which know nothing of the labels, so that the level is exact."""
    d = d.sliced(n_slices, rng)
    assert isinstance(d.pairs, Sliced)
    w = np.ones(d.n) if weights is None else weights
    if n_bins is None:
        whole = replace(sampling, method="auto")
        result = permutation_test(d, groups, name, sampling=whole, rng=rng, units=units, weights=weights)
        Z = groups.indicators(weights)
        each = [line.block_sums(Z)[0] for line in d.pairs.lines()]
    else:
        bins = _Bins.of(groups, n_bins, rng)
        member = (bins.groups.codes[:, None] == np.arange(groups.k)).astype(np.float64)
        sums, each = np.zeros((bins.n, bins.n)), []
        for line in d.pairs.lines():
            part = line.bin_sums(bins.codes, w, bins.n)
            sums += part
            each.append(member.T @ part @ member)
        result = _compare_bins(d, groups, name, bins, d.pairs.factor * sums, sampling, rng, weights)
    error = _error_of_slices(d.pairs.factor * np.stack(each), groups, name, groups.mass(weights))
    return replace(result, method="sliced", n_slices=d.pairs.n_slices, statistic_error=error)


def _error_of_slices(each: FloatArray, groups: Groups, name: StatisticName, s: FloatArray) -> float:
    """Standard error over the directions, from the summands of M; the jackknife, that of a mean where S is linear.

    One column has one direction, and no error.
    """
    L = len(each)
    if L == 1:
        return 0.0
    without = (each.sum(axis=0) - each) * (L / (L - 1))
    values = _reading(name, groups)(without, s)
    return float(math.sqrt((L - 1) / L * np.square(values - values.mean()).sum()))


def _reading(name: StatisticName, groups: Groups) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The statistic of M and the sizes, "f" too."""
    if name != "f":
        return RANKED_BY[name].read
    n, k = groups.codes.size, groups.k

    def f(M: FloatArray, s: FloatArray) -> FloatArray:
        S, T = statistics.between(M, s), statistics.total(M, s)
        return np.asarray((S / (k - 1)) / np.where(T > S, (T - S) / (n - k), np.inf))

    return f
