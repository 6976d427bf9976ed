"""Gaps between the eigenvalues of a random walk on the points [G s.5.2; theory 4]."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import DENSE_LIMIT, run_lanczos
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["eigengaps", "walk_eigenvalues"]


DECAY = 3.0  # affinity exp(-DECAY rho/median): a third of the median distance counts as near


def walk_eigenvalues(R: FloatArray, count: int) -> FloatArray:
    """Largest eigenvalues of D^(-1) A, falling from 1, for affinities A = exp(-3 rho/median rho); (count,).

    D^(-1) A are the transition probabilities of a walk on the points, and I - D^(-1) A is the random-walk Laplacian.
    A is positive definite for rho of negative type (Schoenberg), and the same in any unit.
    """
    n = len(R)
    sizes = np.abs(R[R != 0])
    A = np.exp(-DECAY / np.median(sizes) * R) if sizes.size else np.ones((n, n))
    root = np.sqrt(A.sum(axis=1))
    A /= root[:, None]
    A /= root
    if n <= DENSE_LIMIT or 4 * count > n:
        with one_thread_up_to(n):
            values = eigh(A, eigvals_only=True, subset_by_index=(n - count, n - 1))
    else:
        values, _ = run_lanczos(lambda v: A @ v, n, count)
    return np.asarray(values[::-1])


def eigengaps(R: FloatArray, k_max: int) -> FloatArray:
    """Difference of the k-th and the next eigenvalue for k = 1, ..., k_max < n."""
    return -np.diff(walk_eigenvalues(R, k_max + 1))
