"""Tests in nearly linear time: distances along random directions, and permutations of whole bins [theory 9]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from energystats._runtime import Work
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Groups, Matrix, Points
from energystats.distribution_tests.designs import ExchangeableUnits
from energystats.distribution_tests.permutation_test import (
    GroupComparison,
    Null,
    describe_groups,
    describe_null,
    draw_null,
    permutation_work,
)
from energystats.distribution_tests.results import BinnedTestResult, SlicedTestResult
from energystats.inputs.methods import MOST_BINS
from energystats.pairs.slices import SlicedPairs
from energystats.pairs.workloads import Size, binned, slices

__all__ = ["binned_test", "binned_work", "default_bins", "sliced_test", "sliced_work"]


BINS = 256
BINS_OF_SMALLEST = 8  # where the number of bins is left to us


@dataclass(frozen=True, slots=True, eq=False)
class _Bins:
    """Hold random bins of rows, each within one group; rows of a bin share one group label under every permutation."""

    codes: IntArray  # (n,) bin of each row
    groups: Groups  # group of each bin
    strata: Groups  # bins of equal size, which may be exchanged; every group's rest is a bin and a stratum of its own
    size: int  # rows of a full bin

    @classmethod
    def of(cls, groups: Groups, n_bins: int, rng: np.random.Generator) -> _Bins:
        """Draw random bins of rows of equal size within groups, and a smaller bin for the rest of a group."""
        n = groups.codes.size
        # bins of one size are exchangeable; a smaller rest is not, and keeps its label
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
            # at random within the group, so that bins do not depend on the order of the rows
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
        """Return the number of bins of rows, smaller ones for the rest of a group included."""
        return self.groups.codes.size

    @property
    def n_permuted(self) -> int:
        """Return the number of full bins of rows, whose group labels are permuted."""
        return int(np.count_nonzero(self.strata.codes == 0))

    @property
    def n_fixed(self) -> int:
        """Return the number of rows outside full bins, whose group labels are not permuted."""
        return int(np.count_nonzero(self.strata.codes[self.codes]))


def default_bins(groups: Groups) -> int:
    """Choose the number of bins of rows for a test that permutes them: 256, or more for small groups, at most 4096."""
    size = max(1, int(groups.sizes.min()) // BINS_OF_SMALLEST)
    wanted = -(-groups.codes.size // size)
    return min(MOST_BINS, max(BINS, wanted))


def binned_test(c: GroupComparison) -> BinnedTestResult:
    """Test groups by permuting bins of rows, fast for large n: O(n_bins^2) for each permutation."""
    d, bins = c.d, _Bins.of(c.groups, c.sampling.n_bins or default_bins(c.groups), c.rng)
    w = np.ones(d.n) if c.weights is None else c.weights
    if isinstance(d, Points) and not d.is_stored:  # so that tiles have the rows of a bin side by side
        order = np.argsort(bins.codes, kind="stable")
        ordered = replace(d, points=d.points[order])
        sums = ordered.pairs.bin_sums(bins.codes[order], w[order], bins.n)
    else:
        sums = d.pairs.bin_sums(bins.codes, w, bins.n)
    permuted, null = _permute_bins(c, bins, sums)
    return BinnedTestResult(
        method="binned",
        n_bins=bins.n_permuted,
        n_fixed=bins.n_fixed,
        **describe_null(c, null, permuted=permuted),
        **describe_groups(c, null.M, null.s, null),
    )


def binned_work(c: GroupComparison, size: Size) -> list[Work]:
    """Estimate time and memory of a test that permutes bins of rows."""
    n_bins, interim = c.sampling.n_bins or default_bins(c.groups), c.sampling.stop_at is not None
    return [*binned(size, n_bins, c.groups.k, c.sampling.n_resamples, interim=interim)]


def _permute_bins(c: GroupComparison, bins: _Bins, sums: FloatArray) -> tuple[GroupComparison, Null]:
    """Compute the null distribution of a statistic over permutations of bins of rows; sums between bins (b, b).

    A bin stands for its rows as one point whose weight is theirs, and the rho of two bins is the mean over their pairs
    of rows, in a bin that of its own. M and the sizes of the groups are then those of the rows, whatever the labels.
    """
    # M of bins with these masses is M of the rows: sums over pairs of bins, divided and multiplied by the masses
    mass = np.bincount(bins.codes, c.weights, minlength=bins.n).astype(np.float64)
    d = Matrix(metric=c.d.metric, R=sums / np.outer(mass, mass), warns=False)
    # each rest is a stratum of its own, in which nothing can be exchanged
    units = ExchangeableUnits(strata=bins.strata)
    # few bins have few labelings, which are then all visited
    sampling = replace(c.sampling, method="auto")
    permuted = replace(c, d=d, groups=bins.groups, units=units, weights=mass, sampling=sampling)
    return permuted, draw_null(permuted)


def sliced_test(c: GroupComparison) -> SlicedTestResult:
    """Test groups by permutation, with distances estimated along random directions."""
    c = replace(c, d=c.d.sliced(c.sampling.n_slices, c.rng))
    pairs, n_bins = c.d.pairs, c.sampling.n_bins
    assert isinstance(pairs, SlicedPairs)
    # directions are drawn first, then bins, then permutations: part of what a seed means
    bins = None if n_bins is None else _Bins.of(c.groups, n_bins, c.rng)
    permuted = None
    if bins is None:
        null = draw_null(replace(c, sampling=replace(c.sampling, method="auto")))
        # the observed M along each direction, for the standard error
        Z = c.groups.indicators(c.weights)
        each = [line.block_sums(Z)[0] for line in pairs.lines()]
    else:
        w = np.ones(c.d.n) if c.weights is None else c.weights
        member = (bins.groups.codes[:, None] == np.arange(c.groups.k)).astype(np.float64)
        sums, each = np.zeros((bins.n, bins.n)), []
        for line in pairs.lines():
            part = line.bin_sums(bins.codes, w, bins.n)
            sums += part
            each.append(member.T @ part @ member)
        permuted, null = _permute_bins(c, bins, pairs.factor * sums)
    return SlicedTestResult(
        method="sliced",
        n_slices=pairs.n_slices,
        statistic_error=_error_of_slices(c, pairs.factor * np.stack(each), null.s),
        n_bins=0 if bins is None else bins.n_permuted,
        n_fixed=0 if bins is None else bins.n_fixed,
        **describe_null(c, null, permuted=permuted),
        **describe_groups(c, null.M, null.s, null),
    )


def sliced_work(c: GroupComparison, size: Size) -> list[Work]:
    """Estimate operations and memory of a test with distances along random directions."""
    size = replace(size, slices=c.sampling.n_slices)
    permuted = permutation_work if c.sampling.n_bins is None else binned_work
    return [slices(size), *permuted(c, size)]


def _error_of_slices(c: GroupComparison, each: FloatArray, s: FloatArray) -> float:
    """Compute the jackknife standard error of a statistic over random directions, from group sums; (L, k, k).

    One column has one direction, and no error; an infinite F has none either, which is NaN.
    """
    L = len(each)
    if L == 1:
        return 0.0
    # jackknife: the statistic without each direction, as if the others were all
    without = (each.sum(axis=0) - each) * (L / (L - 1))
    values = c.statistic.value(without, s, c.d.n)
    if not np.isfinite(values).all():
        return math.nan
    return float(math.sqrt((L - 1) / L * np.square(values - values.mean()).sum()))
