"""Cluster resamples of the points and compare with the clusters of all points (Hennig 2007)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np

from energystats._core.rand_index import adjusted_rand_index
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.clustering.local_search import search_points
from energystats.clustering.seeding import count_distinct
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.options import children

__all__ = ["SCHEMES", "Clusterer", "Resampled", "cluster_resamples", "energy_clusterer"]


SCHEMES = ("bootstrap", "subsample")
Clusterer = Callable[[Dissimilarity, np.random.Generator], IntArray]  # labels 0, 1, ..., -1 for points in no cluster


class Resampled(NamedTuple):
    """Hold how far clusters of resamples agree with the clusters of all points."""

    # (n_resamples, k) Jaccard similarity of each cluster to the most similar one; NaN where no point of it was drawn
    similarities: FloatArray
    rand_indices: FloatArray  # (n_resamples,) adjusted Rand indices
    # (n,) share of the resamples with the point in which it lies in the most similar cluster of its own; NaN for points
    # in no cluster, and those never drawn
    stays: FloatArray


def energy_clusterer(k: int, n_init: int) -> Clusterer:
    """Return a function that finds k energy clusters in some of the points, fewer if too few are distinct."""

    def find_labels(d: Dissimilarity, rng: np.random.Generator) -> IntArray:
        return search_points(d, min(k, count_distinct(d.matrix, k)), rng, n_init)[0]

    return find_labels


def cluster_resamples(
    d: Dissimilarity,
    labels: IntArray,
    k: int,
    cluster: Clusterer,
    *,
    n_resamples: int,
    scheme: str,
    progress: bool,
    rng: np.random.Generator,
) -> Resampled:
    """Cluster resamples of the points, and measure how well the clusters agree with given labels."""
    similarities = np.full((n_resamples, k), np.nan)
    rand_indices = np.empty(n_resamples)
    drawn, stayed = np.zeros(d.n), np.zeros(d.n)
    resamples = with_bar(
        _resampled(d.n, n_resamples, scheme, rng), progress, total=n_resamples, unit="resample", size=len
    )
    with closing(resamples):
        for b, ((rows, child),) in enumerate(resamples):
            before, after = labels[rows], cluster(d.subset(rows), child)
            jaccard = _compute_jaccard(before, k, after)
            similarities[b] = _best_jaccard(jaccard)
            rand_indices[b] = adjusted_rand_index(before, after)
            drawn[rows] += before >= 0
            # label -1, of points in no cluster, takes the last entry, -2, which no cluster found has
            stayed[rows] += (before >= 0) & (np.append(jaccard.argmax(axis=1), -2)[before] == after)
    stays = np.divide(stayed, drawn, out=np.full(d.n, np.nan), where=drawn > 0)
    return Resampled(similarities, rand_indices, stays)


def _resampled(
    n: int, n_resamples: int, scheme: str, rng: np.random.Generator
) -> Iterator[list[tuple[IntArray, np.random.Generator]]]:
    """Yield the distinct rows of each bootstrap or subsample, with a random generator to cluster them."""
    for child in children(rng, n_resamples):
        if scheme == "bootstrap":
            rows = np.unique(child.integers(n, size=n))
        else:
            rows = np.sort(child.choice(n, size=max(n // 2, 1), replace=False))
        yield [(rows.astype(np.intp), child)]


def _compute_jaccard(labels: IntArray, k: int, found: IntArray) -> FloatArray:
    """Compute Jaccard similarities of k given clusters with k' found ones; (k, k'), NaN for given ones that are empty.

    The similarity is |A and B| / |A or B|.

    Points in no cluster, labelled -1, count for the size of the other cluster alone.
    """
    n_found = max(int(found.max()) + 1, 1)
    counts = np.zeros((k + 1, n_found + 1))
    np.add.at(counts, (labels, found), 1)  # -1 is the last row or column
    own, others = counts.sum(axis=1)[:k], counts.sum(axis=0)[:n_found]
    union = own[:, None] + others - counts[:k, :n_found]
    return np.where(own[:, None] > 0, counts[:k, :n_found] / np.maximum(union, 1), np.nan)


def _best_jaccard(jaccard: FloatArray) -> FloatArray:
    """Return the Jaccard similarity of each given cluster to the most similar found one; (k, k') -> (k,)."""
    return np.asarray(jaccard.max(axis=1))
