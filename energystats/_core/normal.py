"""Compute mean distances to a standard normal point, and the energy statistic of normality [theory 3]."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist, pdist
from scipy.special import erf, gammaln

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = [
    "distance_between_normals",
    "distance_to_normal",
    "mean_distance",
    "mean_distance_sorted",
    "normality_statistics",
    "orthonormal",
]


ROWS_PER_BLOCK = 256
# trapezoidal rule of `distance_to_normal`, in u with t = exp(sinh u)/mean; 3e-15 of the value or better
STEP = 0.1
NODES = np.arange(-51, 52) * STEP


def distance_to_normal(squared: FloatArray, d: int) -> FloatArray:
    """Compute E|a - Z| for standard normal Z in d dimensions, from the squared lengths |a|**2.

    In one column the closed form. Else sqrt(w) = int (1 - exp(-t w)) t**(-3/2) dt / (2 sqrt(pi)) turns the noncentral
    chi-squared w = |a - Z|**2 into its Laplace transform: all terms are positive, so nothing cancels for any |a| and d.
    """
    if d == 1:
        a = np.sqrt(squared)
        return np.asarray(np.sqrt(2 / np.pi) * np.exp(-squared / 2) + a * erf(a / np.sqrt(2)))
    # t is measured in 1/E w, so that the nodes fit every |a| and d
    mean = d + squared
    integral = np.zeros_like(mean)
    log_t = np.sinh(NODES)
    weights = STEP / (2 * np.sqrt(np.pi)) * np.cosh(NODES) * np.exp(-log_t / 2)
    for weight, scaled_t in zip(weights, np.exp(log_t), strict=True):
        t = scaled_t / mean
        integral -= weight * np.expm1(-d / 2 * np.log1p(2 * t) - squared * t / (1 + 2 * t))
    return np.asarray(np.sqrt(mean) * integral)


def distance_between_normals(d: int) -> float:
    """Compute E|Z - Z'| = 2 Gamma((d + 1)/2) / Gamma(d/2) for standard normal Z and Z'."""
    return float(2 * np.exp(gammaln((d + 1) / 2) - gammaln(d / 2)))


def mean_distance(Y: FloatArray, rows_per_block: int = ROWS_PER_BLOCK) -> float:
    """Compute the mean Euclidean distance over all ordered pairs of rows, in blocks of rows; (n, d) -> float."""
    total = 0.0
    for start in range(0, len(Y), rows_per_block):
        block, rest = Y[start : start + rows_per_block], Y[start + rows_per_block :]
        total += float(pdist(block).sum()) + (float(cdist(block, rest).sum()) if len(rest) else 0.0)
    return 2 * total / len(Y) ** 2


def mean_distance_sorted(x: FloatArray) -> FloatArray:
    """Compute the mean of |x - y| over all ordered pairs of values of each sorted sample; (b, n) -> (b,)."""
    n = x.shape[-1]
    # the l-th smallest value is added l - 1 times and subtracted n - l times [D alg 1]
    ranks = 2 * np.arange(1, n + 1) - n - 1.0
    return np.asarray(2 * (x @ ranks) / n**2)


def orthonormal(columns: FloatArray) -> FloatArray:
    """Compute an orthonormal basis of the centred columns of each of b samples; (b, n, d) -> (b, n, d).

    Times sqrt(n - 1) it is the sample standardized by its mean and covariance, up to a rotation that no distance sees.
    """
    with one_thread_up_to(columns.shape[2]):
        return np.asarray(np.linalg.qr(columns - columns.mean(axis=1, keepdims=True))[0])


def normality_statistics(Q: FloatArray) -> FloatArray:
    """Compute the energy statistic of normality of each sample with orthonormal columns; (b, n, d) -> (b,).

    n (2/n sum_i E|y_i - Z| - E|Z - Z'| - g(y, y)), y being the standardized sample.
    """
    _, n, d = Q.shape
    Y = Q * np.sqrt(n - 1)
    # n times the V form of the energy distance between the standardized sample and N(0, I)
    to_normal = distance_to_normal(np.einsum("bij,bij->bi", Y, Y), d).mean(axis=1)
    own = mean_distance_sorted(np.sort(Y[:, :, 0], axis=1)) if d == 1 else np.array([mean_distance(y) for y in Y])
    return np.asarray(n * (2 * to_normal - distance_between_normals(d) - own))
