"""Find columns of tied values behind points that are known up to a rotation, as those of a distance matrix are.

Points with one value of a column lie on a hyperplane. Points of continuous columns do so only m at a time in m
dimensions, so hyperplanes through m of the points that hold more places than that are searched at random.
"""

from __future__ import annotations

import numpy as np

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["find_tied_direction", "orthogonal_to", "snapped"]


TRIALS = 4000  # hyperplanes: enough for values that a sixteenth of the points share, in three dimensions
SAME_VALUE = 1e-7  # of the largest coordinate: closer values differ by the rounding of distances
MORE = 3  # points than every hyperplane holds
NEARLY_MOST = 0.6  # of the points of the fullest hyperplane: others that may be those of a column
DIMENSIONS_AT_MOST = 12  # beyond which m points of one value are hardly ever drawn


def find_tied_direction(points: FloatArray, rng: np.random.Generator) -> FloatArray | None:
    """Find the unit vector along which most pairs of points have equal positions; None if too few have; (m,).

    Points are (n, m) and centred; O(TRIALS n m) time. A grid has full hyperplanes across its diagonals, too, but more
    values along these.
    """
    n, m = points.shape
    scale = float(np.abs(points).max(initial=0.0))
    if m == 1:  # the line itself, where any two points are equal
        return np.ones(1) if _count_ties(snapped(points[:, 0], scale)) > n else None
    if m > DIMENSIONS_AT_MOST or n < m + MORE + 1 or scale == 0.0:
        return None
    places = points[np.unique(np.round(points / scale, 6), axis=0, return_index=True)[1]]  # duplicates count once
    through = points[rng.integers(n, size=(TRIALS, m))]
    # the normal is the last right singular vector of the differences, if these have rank m - 1
    with one_thread_up_to(m):
        _, sizes, right = np.linalg.svd(through[:, 1:] - through[:, :1], full_matrices=True)
    proper = (sizes > SAME_VALUE * scale).all(axis=1)
    normals, origins = right[proper, -1], through[proper, 0]
    counts = np.array(
        [
            np.count_nonzero(np.abs((places - origin) @ normal) <= SAME_VALUE * scale)
            for normal, origin in zip(normals, origins, strict=True)
        ]
    )
    if counts.max(initial=0) < m + MORE:
        return None
    normals = normals[counts >= max(m + MORE, NEARLY_MOST * counts.max())]
    # one hyperplane is drawn many times, with either sign
    first = np.abs(normals).argmax(axis=1)
    normals *= np.sign(normals[np.arange(len(normals)), first])[:, None]
    distinct = np.unique(np.round(normals, 6), axis=0, return_index=True)[1]
    best: FloatArray = max(normals[distinct], key=lambda normal: _count_ties(snapped(points @ normal, scale)))
    return best


def orthogonal_to(direction: FloatArray) -> FloatArray:
    """Compute an orthonormal basis of the space orthogonal to a direction, in columns; (m,) -> (m, m - 1)."""
    with one_thread_up_to(direction.size):
        return np.asarray(np.linalg.svd(direction[None])[2][1:].T)


def _count_ties(values: FloatArray) -> int:
    """Count the ordered pairs of equal values, each value paired with itself included."""
    return int(np.square(np.unique(values, return_counts=True)[1]).sum())


def snapped(values: FloatArray, scale: float) -> FloatArray:
    """Return values in which those that differ only by rounding are made equal; (n,) -> (n,).

    A run of values, each close to the next, takes its smallest one.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.append(True, np.diff(ascending) > SAME_VALUE * scale)
    out = np.empty_like(values)
    out[order] = ascending[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return out
