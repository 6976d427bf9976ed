"""Find the largest eigenvalues of the centred Gram matrix of rho = |x - y| on sorted points, in O(n) for each pass.

They are those of D^(1/2) K D^(1/2), D holding the gaps and K the covariance of a Brownian bridge at the masses below
them. The inverse of K is tridiagonal, so 1/lambda = mu where the solution of p_l = p_{l-1} + w_l s_l,
s_{l+1} = s_l - mu gap_l p_l with p_0 = 0 ends in 0, and p changes its sign once for every smaller mu.
"""

from __future__ import annotations

import numpy as np

from energystats._core.jit import njit
from energystats._typing import FloatArray

__all__ = ["line_eigenvalues"]


PASSES = 200
TOLERANCE = 1e-13  # of an eigenvalue


@njit
def _run_shooting(gaps: FloatArray, weights: FloatArray, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Run the eigenvalue recursion on a line for trial values; return counts of sign changes and scaled ends; (c,)."""
    p, s, before, changes = np.zeros(mu.size), np.ones(mu.size), np.zeros(mu.size), np.zeros(mu.size)
    for l in range(weights.size):
        gap = gaps[l] if l < gaps.size else 0.0
        w = weights[l]
        for c in range(mu.size):
            # one step of the recursion at the top of the file: p_l from s_l, then s_{l+1} from p_l
            q = p[c] + w * s[c]
            changes[c] += 1.0 if (q < 0.0) != (p[c] < 0.0) else 0.0
            slope = s[c] - mu[c] * gap * q
            # both terms may be scaled alike: only signs and the last quotient are read
            unit = 1e-200 if abs(q) + abs(slope) > 1e200 else 1.0
            before[c] = p[c] * unit
            p[c] = q * unit
            s[c] = slope * unit
    for c in range(mu.size):
        p[c] /= abs(p[c]) + abs(before[c])
    return changes, p


def line_eigenvalues(gaps: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """Compute the `count` largest eigenvalues of the Gram matrix G_c of |x - y|, falling, from gaps of sorted x.

    The gaps are positive; (n - 1,), (n,) -> (count,). Each is enclosed by counts of sign changes, then by regula falsi
    with halved ends (Illinois) on p at the end; all take part in the same passes over the data.
    """
    # 1/trace is below 1/lambda_1; doubling from half of it reaches every eigenvalue that is asked for
    below = np.cumsum(weights)
    trace = float((gaps * (below[:-1] * ((below[-1] - below[:-1]) / below[-1]))).sum())
    ladder, rung = np.array([0.5 / trace]), np.zeros(1)
    ends = np.ones(1)
    while rung[-1] < count:
        more = ladder[-1] * 2.0 ** np.arange(1, 17)
        changes, values = _run_shooting(gaps, weights, more)
        ladder, rung, ends = np.append(ladder, more), np.append(rung, changes), np.append(ends, values)
    index = np.arange(1, count + 1)
    high_at = np.searchsorted(rung, index, side="left")  # first rung with at least that many changes
    low, high = ladder[high_at - 1], ladder[high_at]
    n_low, n_high, f_low, f_high = rung[high_at - 1], rung[high_at], ends[high_at - 1], ends[high_at]
    for turn in range(PASSES):
        active = high - low > TOLERANCE * high
        if not active.any():
            break
        # the secant is safe where an interval holds one root; every fourth step is a bisection all the same
        alone = (n_low == index - 1) & (n_high == index) & (f_low * f_high < 0) & (turn % 4 > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            secant = low + (high - low) * (f_low / (f_low - f_high))
        middle = np.sqrt(low) * np.sqrt(high)
        nudge = 0.1 * TOLERANCE * high
        at = np.where(alone, np.clip(secant, low + nudge, high - nudge), middle)[active]
        changes, values = _run_shooting(gaps, weights, at)
        up = np.zeros(count, dtype=bool)
        up[active] = changes >= index[active]
        down = active & ~up
        new = np.zeros((3, count))
        new[:, active] = at, changes, values
        # Illinois rule: the end that stays is halved, so that it cannot stay for ever
        f_low, f_high = np.where(up & alone, 0.5 * f_low, f_low), np.where(down & alone, 0.5 * f_high, f_high)
        low, n_low, f_low = np.where(down, new, [low, n_low, f_low])
        high, n_high, f_high = np.where(up, new, [high, n_high, f_high])
    return np.asarray(2.0 / (low + high))
