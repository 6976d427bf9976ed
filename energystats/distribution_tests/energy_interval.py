"""How far the energy distance of two populations may lie from that of their samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from energystats._core import statistics
from energystats._core.labelings import draw_key, stream_of
from energystats._typing import AnyArray, FloatArray
from energystats.dissimilarity import Dissimilarity, Groups

__all__ = ["energy_interval"]


DRAWS_PER_BLOCK = 64  # bootstrap samples drawn from one stream; part of what a seed means


def energy_interval(
    d: Dissimilarity, groups: Groups, n_bootstrap: int, rng: np.random.Generator, confidence_level: float
) -> tuple[float, float]:
    """Percentile interval of the energy distance of two populations, freed of the bias of resampling [theory 2].

    The unbiased form of E of a resample has the V form of the data as its mean, as the unbiased form of the data has
    the E of the populations; so the percentiles of the first are moved by the difference of the two.
    """
    M, s = d.group_sums(groups)
    if groups.sizes.min() < 2:
        sizes = ", ".join(map(str, groups.sizes.tolist()))
        raise ValueError(f"`n_bootstrap` needs two points in each sample, got {sizes}.")
    unbiased = float(statistics.energy_distances(M, s, unbiased=True)[0, 1])
    centre = float(statistics.energy_distances(M, s)[0, 1])
    key = draw_key(rng)
    drawn = [
        statistics.energy_distances(d.pairs.block_sums(Z), s, unbiased=True)[:, 0, 1]
        for Z in _resampled_counts(groups, n_bootstrap, key)
    ]
    deviations = np.concatenate(drawn) - centre
    tail = (1 - confidence_level) / 2
    low, high = unbiased + np.quantile(deviations, [tail, 1 - tail])
    if d.metric.negative_type:
        low, high = max(low, 0.0), max(high, 0.0)
    return float(low), float(high)


def _resampled_counts(groups: Groups, n_bootstrap: int, key: AnyArray) -> Iterator[FloatArray]:
    """How often each row is drawn when every sample is drawn from itself; (n, k, b) at a time."""
    for block, start in enumerate(range(0, n_bootstrap, DRAWS_PER_BLOCK)):
        stream = stream_of(key, block)
        Z = np.zeros((groups.codes.size, groups.k, DRAWS_PER_BLOCK))
        for j, rows in enumerate(groups.members()):
            counts = stream.multinomial(rows.size, np.full(rows.size, 1 / rows.size), size=DRAWS_PER_BLOCK)
            Z[rows, j] = counts.T
        yield Z[:, :, : n_bootstrap - start]
