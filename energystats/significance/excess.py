"""Is one set of scores unimodal? Three indices, one p-value; and the combination of several p-values [theory 5]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from energystats._core.ties import spread_ties
from energystats._core.unimodal import EXCESS, indices, indices_of_draws
from energystats._typing import FloatArray
from energystats.exceptions import TiesWarning, warn
from energystats.results.clustering import CONSERVATIVE_FACTOR, FLAT_FACTOR

__all__ = [
    "CONSERVATIVE_FACTOR",
    "FLAT_FACTOR",
    "INDEX_NAMES",
    "Excess",
    "cauchy_combination",
    "excess_test",
    "no_evidence",
    "remark_on_ties",
    "smallest_weighted",
]

INDEX_NAMES = ("likelihood ratio", "excess split E", "distance")  # in the order of the indices
WEIGHTS = np.array([0.65, 0.1, 0.25])  # of the indices, as shares of the level
CAUCHY_CAP = 0.99  # so that a single p of 1 cannot veto the others
DRAWS_AT_ONCE = 2**23  # numbers; the stream of draws does not depend on it
INDEX_TOLERANCE = 1e-12  # of the number of summands: closer indices are tied


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """Indices of one set of scores.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Sorted, ties spread.
    indices : ndarray of shape (3,)
        Likelihood ratio, E and distance.
    pvalue : float
        Of all three together.
    spread : bool
        Whether there were ties.
    """

    scores: FloatArray
    indices: FloatArray
    pvalue: float
    spread: bool

    @property
    def index(self) -> float:
        """E."""
        return float(self.indices[EXCESS])


def no_evidence(scores: FloatArray) -> Excess:
    """What constant scores say, and parts in which there were no clusters."""
    return Excess(scores, np.zeros(3), 1.0, False)


def excess_test(scores: FloatArray, n_resamples: int, factor: float, rng: np.random.Generator) -> Excess:
    """Compare the indices with those of samples from the nearest unimodal law; p = 1 for constant scores."""
    spread = spread_ties(scores, rng)
    x = np.sort(scores if spread is None else spread[0])
    if x[-1] <= x[0]:
        return no_evidence(x)
    observed = indices(x)
    at_once = max(1, DRAWS_AT_ONCE // x.size)
    sizes = [min(at_once, n_resamples - done) for done in range(0, n_resamples, at_once)]
    draws = (np.sort(rng.random((size, x.size)), axis=1) for size in sizes)
    null = np.concatenate([indices_of_draws(x, uniforms) for uniforms in draws])
    tolerance = INDEX_TOLERANCE * np.array([x.size, 1.0, 1.0])
    pvalue = min(1.0, factor * smallest_weighted(np.vstack((observed, null)), tolerance))
    return Excess(x, observed, pvalue, spread is not None)


def smallest_weighted(table: FloatArray, tolerance: FloatArray) -> float:
    """P-value of the first row among all rows, by the smallest of its weighted p-values; (1 + b, 3) -> float.

    The p-value of every row in every column is the share of rows that are at least as large, ties within the
    tolerance among them; divided by the weights and minimised they are compared between the rows once more, so that
    three questions cost what they have in common only once.
    """
    n = len(table)
    pvalues = np.empty_like(table)
    for j, column in enumerate(table.T):
        pvalues[:, j] = (n - np.searchsorted(np.sort(column), column - tolerance[j], side="left")) / n
    smallest = (pvalues / WEIGHTS).min(axis=1)
    return float(np.count_nonzero(smallest <= smallest[0] * (1 + INDEX_TOLERANCE)) / n)


def cauchy_combination(pvalues: FloatArray) -> float:
    """One p-value from dependent ones [theory 5]; 1 where all of them are."""
    if pvalues.min() >= 1:
        return 1.0
    scores = np.tan((0.5 - np.minimum(pvalues, CAUCHY_CAP)) * np.pi)
    return float(0.5 - np.arctan(scores.mean()) / np.pi)


def remark_on_ties(ties: Sequence[str]) -> tuple[str, ...]:
    """Warn of spread ties, if there were any, and return the remark for the summary."""
    if not ties:
        return ()
    shown = ", ".join(ties[:10]) + (", ..." if len(ties) > 10 else "")
    remark = (
        f"Tied values were spread uniformly over one grid step ({shown}), because point masses count as modes; "
        "values rounded to several grids at once still do."
    )
    warn(remark, TiesWarning)
    return (remark,)
