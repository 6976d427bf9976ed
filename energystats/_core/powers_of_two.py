"""Scale numbers to about 1 by powers of two, without losing a digit."""

from __future__ import annotations

from fractions import Fraction
from math import ldexp

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["deviations", "exponents", "two_to"]


ROWS_AT_ONCE = 4096


def exponents(sizes: FloatArray | float) -> IntArray:
    """Return the binary exponents e of positive numbers, 2**(e - 1) <= size < 2**e, elementwise; 0 for 0."""
    return np.frexp(sizes)[1]


def deviations(points: FloatArray, ddof: int = 0) -> FloatArray:
    """Compute standard deviations of columns without overflow or underflow; 0 for constant ones; (n, d) -> (d,)."""
    n = len(points)
    width = points.max(axis=0) - points.min(axis=0)
    e, mean = exponents(width), points.mean(axis=0)
    sums, squares = np.zeros((2, points.shape[1]))
    for start in range(0, n, ROWS_AT_ONCE):
        near_one = np.ldexp(points[start : start + ROWS_AT_ONCE] - mean, -e)
        sums += near_one.sum(axis=0)
        squares += (near_one**2).sum(axis=0)
    # the sums are the rounding of the mean
    variances = np.maximum(squares - sums**2 / n, 0.0) / (n - ddof)
    return np.ldexp(np.where(width > 0, np.sqrt(variances), 0.0), e)


def two_to(exponent: int, power: float) -> float:
    """Compute 2**(exponent * power) to the last digit; the product of exponent and power is exact."""
    whole, rest = divmod(Fraction(power) * exponent, 1)
    return ldexp(2.0 ** float(rest), int(whole))
