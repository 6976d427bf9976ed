"""Describe samples of points by means, tails and the share of their most frequent row."""

from __future__ import annotations

import numpy as np

from energystats._typing import BoolArray, FloatArray

__all__ = ["difference_of_means", "has_heavy_tails", "mean_of_rows", "share_of_mode"]


HEAVY_TAILS = 1.9  # mean square of lengths over the square of their mean, of normal points 1.57 at most


def difference_of_means(points: FloatArray, inside: BoolArray) -> FloatArray:
    """Compute the mean of the points in a cluster minus the mean of the others; (n, d), (n,) -> (d,)."""
    return np.asarray(points[inside].mean(axis=0) - points[~inside].mean(axis=0))


def share_of_mode(points: FloatArray) -> float:
    """Return the share of the most frequent row among points; (n, d)."""
    return float(np.unique(points, axis=0, return_counts=True)[1].max()) / len(points)


def has_heavy_tails(points: FloatArray) -> bool:
    """Return whether points are skew or have heavy tails, by the lengths of their differences from the mean; (n, d)."""
    lengths = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return bool(np.square(lengths).mean() > HEAVY_TAILS * lengths.mean() ** 2)


def mean_of_rows(values: FloatArray) -> FloatArray:
    """Compute the mean of every row without its NaN; NaN for rows of NaN alone; (m, n) -> (m,)."""
    known = ~np.isnan(values)
    sums, counts = np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0))
