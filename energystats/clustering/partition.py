"""The partition that a search reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats._core import statistics
from energystats._core.partitions import numbering_by_sums
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.results import Partition

__all__ = ["make_partition"]


def make_partition(
    d: Dissimilarity,
    labels: IntArray,
    k: int,
    *,
    weights: FloatArray | None = None,
    moves: IntArray | None = None,
    **fields: Any,
) -> Partition:
    """Partition with its dispersions, certificate and plotting coordinates; its clusters are numbered here."""
    M, s = d.group_sums(Groups(labels, tuple(range(k))), weights)
    numbers = numbering_by_sums(labels, M, s)
    order, labels = np.argsort(numbers), numbers[labels]
    M, s = M[np.ix_(order, order)], s[order]
    if moves is not None:
        moves = np.column_stack([moves[:, :1], numbers[moves[:, 1:]]])
    within = statistics.within_per_group(M, s)
    n_pairs = max(k - 1, 2 if d.coordinates is None else 0)
    values, vectors = d.largest_eigenpairs(n_pairs, weights) if n_pairs else (np.empty(0), np.empty((d.n, 0)))
    coordinates = None
    if d.coordinates is None:
        if weights is not None:  # eigenvectors of the weighted matrix carry the roots of the weights
            vectors = vectors / np.sqrt(weights)[:, None]
        coordinates = np.zeros((d.n, 2))
        coordinates[:, : vectors.shape[1]] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, :2]
    return Partition(
        labels=labels,
        k=k,
        sizes=tuple(np.bincount(labels, minlength=k).tolist()),
        within=float(within.sum()),
        between=float(statistics.between(M, s)),
        total=float(statistics.total(M, s)),
        within_per_cluster=within,
        moves=moves,
        masses=None if weights is None else s,
        bound=float(values[: k - 1].sum()),
        metric=d.metric,
        standardization=d.standardization,
        points=d.coordinates,
        columns=d.columns,
        index=d.index,
        coordinates=coordinates,
        **fields,
    )
