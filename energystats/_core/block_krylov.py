"""Find the largest eigenpairs of a symmetric matrix from its products with a few columns at a time.

Lanczos' method takes a product for every vector of its basis, 20 to 60 of them. A product of all pairs with twenty
columns costs little more than with one, because the pairs are read, or computed, once: with a block of columns, five to
ten products are enough (Golub & Underwood 1977).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from energystats._core.interrupts import checkpoint
from energystats._core.threads import one_thread
from energystats._typing import FloatArray

__all__ = ["ROUGH", "fits_blocks", "largest_by_blocks", "refine_pairs"]


TOLERANCE = 1e-9  # of an eigenvalue, or of this share of the largest one: the length of the residual
LEAST_SCALE = 1e-3
ROUGH = 3e-6  # the same for products in single precision
SMALL_RESIDUAL = 1e-5  # with which an eigenvalue, whose own error is of second order in it, has ten digits
BASIS_BYTES = 2**28  # of the basis and its products
MOST_BLOCKS = 12  # in the basis, before it is cut to the two best
MOST_PRODUCTS = 60  # where it has not ended then, the eigenvalues are so close that blocks gain nothing
FEW = 16  # eigenvalues, which are found by the fewest products
Times = Callable[[FloatArray], FloatArray]  # (n, c) -> matrix @ it


def _block_size(count: int) -> int:
    """Return the number of columns of a block for a block Krylov search: 2 count + 8, of more than 16 fewer.

    Where products are cheap beside what is done to the basis, half of `count` takes a quarter of the time of twice.
    """
    return 2 * count + 8 if count <= FEW else count // 2 + 24


def fits_blocks(n: int, count: int) -> bool:
    """Return whether a matrix of order n is large enough for block Krylov search: six blocks have at most n columns."""
    return 6 * _block_size(count) <= n


def largest_by_blocks(
    times: Times, n: int, count: int, tolerance: float = TOLERANCE
) -> tuple[FloatArray, FloatArray] | None:
    """Compute the `count` largest eigenpairs of a symmetric matrix by block Krylov; None if not converged.

    Eigenvalues are in falling order, eigenvectors (n, count) of length 1.

    Rayleigh-Ritz on the span of X, AX, A^2 X, ..., with X random from a fixed seed; it ends when the residual
    |Au - theta u| is `tolerance` times theta, or times 1e-3 of the largest theta.
    """
    size = _block_size(count)
    most = size * int(np.clip(BASIS_BYTES // (16 * n * size), 4, MOST_BLOCKS))
    most, kept = min(most, n - size), 2 * size  # a block beyond that would have no room beside the basis
    basis, products, small = np.empty((n, 0)), np.empty((n, 0)), np.empty((0, 0))
    with one_thread():  # sums over many rows, here and below
        block = np.linalg.qr(np.random.default_rng(0).standard_normal((n, size)))[0]
    unit = None
    for _ in range(MOST_PRODUCTS):
        checkpoint()
        new = times(block)
        unit = int(np.frexp(np.abs(new).max())[1]) if unit is None else unit
        new = np.ldexp(new, -unit)  # squares of any rho stay numbers
        with one_thread():
            # B'AB of the basis B, to which the block adds rows and columns
            cross = basis.T @ new
            small = np.block([[small, cross], [cross.T, block.T @ new]])
            basis, products = np.hstack([basis, block]), np.hstack([products, new])
            values, vectors = eigh(0.5 * (small + small.T))
            values, vectors = values[::-1], vectors[:, ::-1]
            found = basis @ vectors[:, :count]
            residuals = np.linalg.norm(products @ vectors[:, :count] - found * values[:count], axis=0)
            scale = np.maximum(np.abs(values[:count]), LEAST_SCALE * np.abs(values).max())
            if values.size >= count and (residuals <= tolerance * scale).all():
                return np.ldexp(values[:count], unit), found
            # the next block is what the product adds to the basis, made orthogonal twice because of rounding
            block = new
            for _ in range(2):
                block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
            if basis.shape[1] + size > most:
                basis, products, small = basis @ vectors[:, :kept], products @ vectors[:, :kept], np.diag(values[:kept])
    return None


def refine_pairs(times: Times, rough: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Compute eigenpairs of a matrix from nearby vectors, by one product of the two; None if residuals are not small.

    Eigenvalues are in falling order; the matrix is symmetric, and the vectors are the columns of `rough`, (n, c).
    """
    product = times(rough)
    unit = int(np.frexp(np.abs(product).max())[1])
    product = np.ldexp(product, -unit)
    with one_thread():
        small = rough.T @ product
        values, vectors = eigh(0.5 * (small + small.T), rough.T @ rough)
        values, vectors = values[::-1], vectors[:, ::-1]
        found = rough @ vectors
        residuals = np.linalg.norm(product @ vectors - found * values, axis=0)
    near = residuals <= SMALL_RESIDUAL * np.maximum(np.abs(values), LEAST_SCALE * np.abs(values).max())
    return (np.ldexp(values, unit), found) if near.all() else None
