"""Find whether points lie on an ellipsoid in three dimensions."""

from __future__ import annotations

import numpy as np

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["lie_on_ellipsoid"]


COEFFICIENTS = 10  # of a quadric in three dimensions, up to a factor
NO_WIDTH = 1e-7  # of the longest axis of the points: an axis of rounding
ON_QUADRIC = 5e-3  # relative distance of points from a quadric: rounding of directions to two decimals
OTHERS = 5  # times as far from any other quadric
ROUND_ENOUGH = 0.05  # smallest to largest curvature


def lie_on_ellipsoid(points: FloatArray) -> bool:
    """Return whether points in three or more dimensions lie on an ellipsoid in a three-dimensional subspace; (n, d).

    Ellipsoids are the quadrics y'Ay + b'y + c = 0 with definite A. Points on several quadrics, as on a circle, are on
    none for certain. O(n d^2) time.
    """
    n = len(points)
    centred = points - points.mean(axis=0)
    size = float(np.abs(centred).max())
    if n <= COEFFICIENTS or size == 0:
        return False
    with one_thread_up_to(COEFFICIENTS):
        left, lengths, _ = np.linalg.svd(centred / size, full_matrices=False)
        if lengths[2] <= NO_WIDTH * lengths[0] or (lengths[3:] > NO_WIDTH * lengths[0]).any():
            return False
        y = left[:, :3] * np.sqrt(n)  # decorrelated
        i, j = np.triu_indices(3)
        terms = np.column_stack((y[:, i] * y[:, j], y, np.ones(n)))
        _, misfits, quadrics = np.linalg.svd(terms, full_matrices=False)
        if misfits[-1] > ON_QUADRIC * misfits[0] or misfits[-2] <= OTHERS * misfits[-1]:
            return False
        A = np.zeros((3, 3))
        A[i, j] = quadrics[-1, : i.size]
        curvatures = np.linalg.eigvalsh(A + A.T)
    same_sign = bool(np.ptp(np.sign(curvatures)) == 0)
    return same_sign and bool(np.abs(curvatures).min() > ROUND_ENOUGH * np.abs(curvatures).max())
