"""Where the iterative methods start."""

from __future__ import annotations

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["count_distinct", "plus_plus_start", "random_start"]


def count_distinct(R: FloatArray, at_most: int) -> int:
    """Number of points that differ from each other (rho not 0), counted up to `at_most`, by farthest-first steps.

    Where rho is not of negative type a point may coincide with others that differ; then a point of the largest rho is
    tried as the first one too.
    """
    count = count_from(R, 0, at_most)
    if count == at_most:
        return count
    return max(count, count_from(R, int(np.maximum(R.max(axis=1), -R.min(axis=1)).argmax()), at_most))


def count_from(R: FloatArray, first: int, at_most: int) -> int:
    """Farthest-first steps from one point, until no point is left that differs from all before."""
    nearest = np.abs(R[first])
    count = 1
    while count < at_most and nearest.max() > 0:
        nearest = np.minimum(nearest, np.abs(R[nearest.argmax()]))
        count += 1
    return count


def plus_plus_start(R: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """k-means++ in the feature space; every point joins its nearest seed.

    rho is the squared distance in the feature space already, so a point becomes the next seed with probability
    proportional to its rho to the nearest seed [theory 4, initialisation]. A negative rho counts as 0, and where
    nothing is left above 0 every point that is no seed yet is as likely as the others.
    """
    n = len(R)
    seeds = [int(rng.integers(n))]
    nearest = np.maximum(R[seeds[0]], 0.0)
    while len(seeds) < k:
        nearest[seeds] = 0.0
        chances = nearest if nearest.any() else 1.0 - np.isin(np.arange(n), seeds)
        upto = np.cumsum(chances)
        drawn = np.searchsorted(upto, rng.random() * upto[-1], side="right")
        seeds.append(int(min(drawn, np.flatnonzero(chances)[-1])))
        nearest = np.minimum(nearest, np.maximum(R[seeds[-1]], 0.0))
    labels = np.argmin(R[seeds], axis=0)
    labels[seeds] = np.arange(k)
    return np.asarray(labels, dtype=np.intp)


def random_start(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Uniform random labels with no cluster empty."""
    labels = rng.integers(k, size=n)
    labels[rng.choice(n, size=k, replace=False)] = np.arange(k)
    return labels.astype(np.intp)
