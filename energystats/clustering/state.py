"""What every iterative method works on, and what it ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from energystats._core.cluster_sums import cluster_table, tabulated, tabulated_afresh
from energystats._core.interrupts import uninterrupted
from energystats._typing import FloatArray, IntArray

__all__ = ["NO_MOVES", "LocalOptimum", "OnPass", "Problem", "State", "tabulate"]

OnPass: TypeAlias = Callable[[int, float], object]  # passes made, W
NO_MOVES = np.empty((0, 3), np.intp)


class State(NamedTuple):
    """Sums over the clusters of a partition, which the loops keep up to date.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Points of each cluster.
    mass : ndarray of shape (k,)
        Their sums of weights, s_l.
    table : ndarray of shape (k, n)
        T_li = sum of w_y rho(x_i, y) over y in C_l.
    within : ndarray of shape (k,)
        w_l = sum of w_x w_y rho(x, y) inside C_l.
    """

    counts: IntArray
    mass: FloatArray
    table: FloatArray
    within: FloatArray

    @property
    def W(self) -> float:
        """Sum of w_l/(2 s_l)."""
        return float(np.sum(self.within / (2 * self.mass)))


def tabulate(R: FloatArray, weights: FloatArray, labels: IntArray, k: int) -> State:
    """The sums from scratch, O(n^2)."""
    with uninterrupted():
        return State(*tabulated_afresh(R, weights, labels, k))


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise W over partitions into k clusters.

    Attributes
    ----------
    R : ndarray of shape (n, n)
        The matrix of rho.
    weights : ndarray of shape (n,)
        Positive; ones without weights.
    k : int
        Number of clusters.
    tolerance : float
        A step must lower W by more, so that rounding is not chased.
    max_iter : int
        Passes of one search.
    """

    R: FloatArray
    weights: FloatArray
    k: int
    tolerance: float
    max_iter: int = 300

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.R)

    @cached_property
    def totals(self) -> FloatArray:
        """Weighted sums of rho over all points; (n,)."""
        return np.asarray(cluster_table(self.R, self.weights, np.zeros(self.n, np.intp), 1)[0])

    def tabulate(self, labels: IntArray) -> State:
        """The sums of a partition, from scratch."""
        return tabulate(self.R, self.weights, labels, self.k)

    def tabulate_quickly(self, labels: IntArray) -> State:
        """The same to rounding, with the largest cluster as what the others leave."""
        with uninterrupted():  # while Python makes objects of a long call's result, Ctrl-C would break it
            return State(*tabulated(self.R, self.weights, self.totals, labels, self.k))


@dataclass(frozen=True, slots=True, eq=False)
class LocalOptimum:
    """Where one search ended.

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
        Whether a step would have raised W, which only an rho that is not of negative type makes possible.
    path : ndarray of shape (n_iter + 1,)
        W at the start and after every pass.
    moves : ndarray of shape (m, 3)
        Point, old and new cluster of every move in its order, where they were asked for.
    """

    labels: IntArray
    within: float
    n_iter: int
    converged: bool
    rose: bool = False
    path: FloatArray = field(default_factory=lambda: np.empty(0))
    moves: IntArray = field(default_factory=lambda: NO_MOVES)
