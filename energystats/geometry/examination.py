"""One look at the spectrum of G_c = -1/2 J R J, which all functions of this package share [theory 1, 7]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import all_above, centred, largest_eigenvalue, smallest_pair
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray
from energystats.validation import check_positive

__all__ = ["DENSE_LIMIT", "SMALLEST_ALONE", "Examination", "examine", "relative_tolerance", "root_unit_of", "unit_of"]

DENSE_LIMIT = 2000  # up to here every eigenvalue is computed; above it a factorisation, or Lanczos' method
SMALLEST = 1e-140  # of the largest dissimilarity where squares are reported; those of smaller ones lose digits
SMALLEST_ALONE = 1e-300  # where they are not


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """Extreme eigenvalues of G_c on some points, in the unit of rho.

    Attributes
    ----------
    lowest, highest : float
        The smallest and the largest eigenvalue.
    threshold, tol : float
        What counts as rounding, in the unit of rho and as a share of the scale.
    witness : ndarray of shape (n,) or None
        Unit vector of sum 0 with c'Rc > 0, when there is one.
    method : {"eigenvalues", "factorisation", "iteration"}
        How `lowest` is known.
    eigenvalues : ndarray of shape (n,) or None
        All of them, falling, where they were computed.
    """

    lowest: float
    highest: float
    threshold: float
    tol: float
    witness: FloatArray | None
    method: Literal["eigenvalues", "factorisation", "iteration"]
    eigenvalues: FloatArray | None

    @property
    def holds(self) -> bool:
        """Whether rho is of negative type on these points, to rounding."""
        return self.lowest >= -self.threshold

    def violation(self, rho: FloatArray) -> float | None:
        """C'Rc of the witness, from rho itself."""
        return None if self.witness is None else float(self.witness @ (rho @ self.witness))


def unit_of(A: FloatArray, smallest: float = SMALLEST) -> float:
    """The power of two next to the largest entry's size, by which A is divided without losing a digit; 1 for zeros."""
    largest = float(np.abs(A).max())
    if largest == 0:
        return 1.0
    if largest < smallest:
        raise ValueError(f"The largest entry must be at least {smallest:g} in size, got {largest:.3g}; rescale it.")
    return float(2.0 ** int(np.frexp(largest)[1]))


def root_unit_of(rho: FloatArray) -> float:
    """The same for squares: a power of two whose square is next to the largest entry's size."""
    return float(2.0 ** ((int(np.frexp(unit_of(rho, SMALLEST_ALONE))[1])) // 2))


def relative_tolerance(tol: float | None, n: int) -> float:
    """The user's tolerance, or what rounding of n points can amount to."""
    if tol is None:
        return 10 * n * float(np.finfo(float).eps)
    share = check_positive(tol, "tol")
    if share >= 1:
        raise ValueError(f"`tol` is a share of the scale and must be below 1, got {share:g}.")
    return share


def examine(rho: FloatArray, tol: float | None = None, *, summand: float = 0.0) -> Examination:
    """Extreme eigenvalues of G_c, all of them up to `DENSE_LIMIT` points.

    The scale that rounding is measured on is the largest of lambda_max, max |rho|/2, and `summand`, the size of the
    numbers that rho is a difference of (the entries of a kernel, for instance). Above the limit a Cholesky factor of
    G_c + threshold shows that no eigenvalue lies below -threshold; where there is none, Lanczos finds the smallest
    eigenvalue, whose vector is a witness that anybody can check.
    """
    unit = unit_of(rho, SMALLEST_ALONE)
    share = relative_tolerance(tol, len(rho))
    half = max(float(np.abs(rho).max()) / 2, summand) / unit
    G = centred(rho / (-2 * unit))
    eigenvalues: FloatArray | None = None
    if len(G) <= DENSE_LIMIT:
        method: Literal["eigenvalues", "factorisation", "iteration"] = "eigenvalues"
        with one_thread_up_to(len(G)):
            eigenvalues = eigh(G, eigvals_only=True, check_finite=False)[::-1]
        lowest, highest = float(eigenvalues[-1]), float(eigenvalues[0])
        threshold = share * max(highest, half)
        proved = lowest >= -threshold
        eigenvalues = eigenvalues * unit
    else:
        highest = largest_eigenvalue(G)
        threshold = share * max(highest, half)
        proved = all_above(G, -threshold)
        lowest = 0.0  # of the vector 1; a factor was found, so none is below -threshold
        method = "factorisation"
    witness = None
    if not proved:
        lowest, witness = smallest_pair(G)
        method = "iteration" if eigenvalues is None else method
        witness = witness if lowest < -threshold else None
    return Examination(lowest * unit + 0.0, highest * unit + 0.0, threshold * unit, share, witness, method, eigenvalues)
