"""What every iterative method starts from and ends with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from energystats._typing import FloatArray, IntArray

__all__ = ["LocalOptimum", "tabulate"]


@dataclass(frozen=True, slots=True, eq=False)
class LocalOptimum:
    """Where one start ended.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each point.
    within : float
        W, recomputed from these labels.
    n_iter : int
        Passes over the data.
    converged : bool
        Whether the method stopped by itself.
    rose : bool
        Whether a pass was taken back because W would not have fallen as it must when rho is of negative type.
    """

    labels: IntArray
    within: float
    n_iter: int
    converged: bool
    rose: bool = False


def tabulate(R: FloatArray, labels: IntArray, k: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Sizes n_l, the table T_li = sum of rho(x_i, y) over y in C_l, and w_l = sum of rho inside C_l."""
    Z = (labels == np.arange(k)[:, None]).astype(np.float64)
    table = Z @ R
    return np.bincount(labels, minlength=k).astype(np.intp), table, np.einsum("li,li->l", Z, table)
