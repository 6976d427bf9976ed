"""Fit linear models in the feature space of rho: dispersions of subspaces, also of permuted residuals [theory 3].

Dispersions are read from r x r matrices of the model's basis Q and of Q with its rows permuted; the points of the
feature space are never formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from energystats._core.labelings import LABELINGS_PER_BLOCK
from energystats._core.powers_of_two import exponents
from energystats._core.threads import one_thread, one_thread_up_to
from energystats._typing import AnyArray, FloatArray

__all__ = [
    "Forms",
    "Hypothesis",
    "added_basis",
    "fit_of",
    "null_forms",
    "observed_forms",
    "residuals_of",
    "resolution",
    "take_residuals",
]


RANK_TOLERANCE = 1e-7  # of a centred column's length; what is left of it after projection counts as rounding below
CONSTANT = 1e-13  # of a column's length; a column that centring makes shorter than this is constant
RESOLUTION = 45  # bits that residuals keep of the largest number of their column, so that equal ones are equal
OF_WIDTH, ALL = 30, 52  # and far from 0 as many of the width, if the numbers have them
BASIS_BYTES = 2**28  # of the permuted bases held at a time


def added_basis(columns: FloatArray, basis: FloatArray, tolerance: float = RANK_TOLERANCE) -> FloatArray:
    """Compute an orthonormal basis of what columns add to the span of a constant and a centred basis; -> (n, r).

    Shapes: (n, p), (n, q) -> (n, r).
    """
    columns = np.ldexp(columns, -exponents(np.abs(columns).max(axis=0)))  # squares must be numbers
    centred = columns - columns.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    moving = lengths > CONSTANT * np.linalg.norm(columns, axis=0)
    with one_thread_up_to(columns.shape[1] + basis.shape[1]):
        left, sizes, _ = np.linalg.svd(take_residuals(centred[:, moving] / lengths[moving], basis), full_matrices=False)
        return np.asarray(np.linalg.qr(take_residuals(left[:, sizes > tolerance], basis))[0])


def take_residuals(columns: FloatArray, basis: FloatArray) -> FloatArray:
    """Compute residuals of columns from a constant and an orthonormal basis, projecting twice against rounding."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
        columns = columns - columns.mean(axis=0)
    return columns


def fit_of(points: FloatArray, center: FloatArray, basis: FloatArray) -> FloatArray:
    """Compute least-squares coefficients of centred columns in an orthonormal basis; (n, d), (d,), (n, q) -> (q, d)."""
    return np.asarray(basis.T @ (points - center))


def resolution(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the unit to which each column's residuals are rounded, from its smallest and largest value; (d,), (d,)."""
    largest, width = exponents(np.maximum(np.abs(low), np.abs(high))), exponents(high - low)
    return np.ldexp(1.0, np.maximum(np.minimum(largest - RESOLUTION, width - OF_WIDTH), largest - ALL))


def residuals_of(
    points: FloatArray, center: FloatArray, coefficients: FloatArray, unit: FloatArray, basis: FloatArray
) -> FloatArray:
    """Compute residuals of points from a fitted linear model, rounded to multiples of one unit per column; (n, d)."""
    # rounding of the fit would part points that coincide, and rho of alpha < 1 sees the smallest distances
    return np.asarray(np.rint((points - center - basis @ coefficients) / unit) * unit)


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """Hold the quadratic forms of a model's basis Q, and of Q with permuted rows, in the Gram matrix G = -1/2 JRJ."""

    own: FloatArray  # (b, r, r) U'GU for each of b permutations
    cross: FloatArray  # (b, r, r) U'GQ
    overlap: FloatArray  # (b, r, r) Q'U

    def __len__(self) -> int:
        return len(self.own)


def observed_forms(Q: FloatArray, RQ: FloatArray) -> Forms:
    """Compute the quadratic forms -1/2 Q'RQ of a model basis Q and a dissimilarity matrix R, for the observed rows."""
    K = -0.5 * (Q.T @ RQ)
    K = 0.5 * (K + K.T)[None]
    return Forms(K, K, np.eye(Q.shape[1])[None])


def null_forms(
    block_sums: Callable[[FloatArray], FloatArray], Q: FloatArray, RQ: FloatArray, permutations: Iterator[AnyArray]
) -> Iterator[Forms]:
    """Yield the forms -1/2 U'RU, -1/2 U'RQ and Q'U of a model basis Q and its permuted rows U, in blocks."""
    at_once = max(1, BASIS_BYTES // (8 * max(Q.size, 1) * LABELINGS_PER_BLOCK))
    while chunk := list(itertools.islice(permutations, at_once)):
        U = Q[np.concatenate(chunk)]  # (b, n, r)
        own = -0.5 * block_sums(np.ascontiguousarray(U.transpose(1, 2, 0)))
        with one_thread():  # many products of a few columns each
            cross, overlap = U.transpose(0, 2, 1) @ RQ, Q.T @ U
        yield Forms(own, -0.5 * cross, overlap)


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """Hold a model term and the reduced model it is added to, as subspaces in coordinates of the full model's basis."""

    reduced: FloatArray  # (r, q) orthonormal basis of the reduced model
    added: FloatArray  # (r, df) orthonormal basis of what the term adds to it

    @property
    def df(self) -> int:
        """Return the degrees of freedom of a model term."""
        return int(self.added.shape[1])

    def dispersions(self, forms: Forms, gram: FloatArray, total: float) -> tuple[FloatArray, FloatArray]:
        """Compute the dispersion S of a model term and W of the residual, for b permutations of residuals; (b,), (b,).

        With H the projection on the reduced model, the permuted residuals have the Gram matrix P(I - H)G(I - H)P',
        and the columns of U, freed from the reduced model, give the forms in G.
        """
        # A = (U - QHQ'U)'G(U - QHQ'U) with QHQ' the projection on the reduced model [theory 3, permuted residuals]
        H = self.reduced @ self.reduced.T
        fitted = H @ forms.overlap
        mixed = forms.cross @ fitted
        A = forms.own - mixed - mixed.transpose(0, 2, 1) + fitted.transpose(0, 2, 1) @ gram @ fitted
        S = np.einsum("ij,bik,kj->b", self.added, A, self.added, optimize=True)
        W = total - float((H * gram).sum()) - np.trace(A, axis1=1, axis2=2)
        return np.asarray(S), np.asarray(W)
