"""Scale numbers near 1 by powers of two, without losing a digit."""

from __future__ import annotations

from fractions import Fraction
from math import ldexp

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["deviations", "exponents", "two_to"]


def exponents(sizes: FloatArray | float) -> IntArray:
    """Find the integers e with 2**(e - 1) <= size < 2**e; 0 for a size of 0."""
    return np.frexp(sizes)[1]


def deviations(points: FloatArray, ddof: int = 0) -> FloatArray:
    """Compute standard deviations of columns of any size; 0 for constant ones; (n, d) -> (d,)."""
    width = np.ptp(points, axis=0)
    e = exponents(width)
    near_one = np.ldexp(points - points.mean(axis=0), -e)
    return np.ldexp(np.where(width > 0, near_one.std(axis=0, ddof=ddof), 0.0), e)


def two_to(exponent: int, power: float) -> float:
    """Compute 2**(exponent power) to the last digit: the product is exact, and its whole part costs none."""
    whole, rest = divmod(Fraction(power) * exponent, 1)
    return ldexp(2.0 ** float(rest), int(whole))
