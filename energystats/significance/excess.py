"""E of one set of scores against the nearest unimodal law, and the combination of several [theory 5]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from energystats._core.permutation import count_extreme, upper_pvalue
from energystats._core.ties import spread_ties
from energystats._core.unimodal import excess_split, excess_split_of_draws
from energystats._typing import FloatArray
from energystats.exceptions import TiesWarning, warn

__all__ = ["FLAT_FACTOR", "Excess", "cauchy_combination", "excess_test", "remark_on_ties"]

FLAT_FACTOR = 1.6  # by which p-values on flat densities were measured to be too small, at most
CAUCHY_CAP = 0.99  # so that a single p of 1 cannot veto the others
DRAWS_AT_ONCE = 2**23  # numbers; the stream of draws does not depend on it
INDEX_TOLERANCE = 1e-12  # two indices E closer than this are tied; E is a difference of shares


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """E of one set of scores.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Sorted, ties spread.
    index, pvalue : float
        E and its p-value.
    spread : bool
        Whether there were ties.
    """

    scores: FloatArray
    index: float
    pvalue: float
    spread: bool


def excess_test(scores: FloatArray, n_resamples: int, factor: float, rng: np.random.Generator) -> Excess:
    """Compare E with samples from the nearest unimodal law [theory 5]; p = 1 for constant scores."""
    spread = spread_ties(scores, rng)
    x = np.sort(scores if spread is None else spread[0])
    if x[-1] <= x[0]:
        return Excess(x, 0.0, 1.0, False)
    index = float(excess_split(x))
    at_once = max(1, DRAWS_AT_ONCE // x.size)
    sizes = [min(at_once, n_resamples - done) for done in range(0, n_resamples, at_once)]
    draws = (np.sort(rng.random((size, x.size)), axis=1) for size in sizes)
    null = np.concatenate([excess_split_of_draws(x, uniforms) for uniforms in draws])
    extreme = count_extreme(index, null, INDEX_TOLERANCE)
    pvalue = min(1.0, factor * upper_pvalue(extreme, n_resamples))
    return Excess(x, index, pvalue, spread is not None)


def cauchy_combination(pvalues: FloatArray) -> float:
    """One p-value from dependent ones [theory 5]."""
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
