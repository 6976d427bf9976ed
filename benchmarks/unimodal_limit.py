"""The largest power that a valid test of unimodality can have: the Neyman-Pearson limit.

The most powerful level-.05 test of a density f against one density g of the null hypothesis cannot be beaten by a
test that keeps its level on the whole hypothesis. The limit takes for g the unimodal density nearest to f in
Kullback-Leibler divergence. It holds in more dimensions too, where the clusters differ in one coordinate that is
independent of normal others: g times those normals has unimodal projections only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import norm, rice

LEVEL = 0.05
DRAWS = 20_000
CELLS = 2000
AT_ONCE = 2**22  # numbers drawn together


@dataclass(frozen=True)
class Mixture:
    """Normal mixture in one dimension."""

    weights: tuple[float, ...]
    means: tuple[float, ...]
    sds: tuple[float, ...]

    def masses(self, cells=CELLS):
        """Probabilities of equal cells that hold all but 1e-12, and the edges of the cells."""
        reach = 7 * max(self.sds)
        edges = np.linspace(min(self.means) - reach, max(self.means) + reach, cells + 1)
        parts = zip(self.weights, self.means, self.sds, strict=True)
        masses = sum(weight * normal_masses((edges - mean) / sd) for weight, mean, sd in parts)
        return masses / masses.sum(), edges


def normal_masses(edges):
    """Probabilities between the edges, precise in both tails."""
    return np.where(edges[1:] > 0, -np.diff(norm.sf(edges)), np.diff(norm.cdf(edges)))


def two_normals(delta, share=0.5, sd=1.0):
    """Unit normal at 0, and with probability `share` one at `delta` with standard deviation `sd`."""
    return Mixture((1 - share, share), (0.0, delta), (1.0, sd))


@dataclass(frozen=True)
class Limit:
    """Power of the most powerful test, its Monte Carlo standard error, and the divergence KL(f, g)."""

    power: float
    error: float
    divergence: float


def nearest_unimodal(f):
    """Masses of the unimodal distribution nearest to f in Kullback-Leibler divergence, on cells of equal width.

    On either side of a given mode it is the isotonic regression of f, which keeps the mass of that side; the best
    mode is found by trying all.
    """
    f = np.asarray(f, dtype=float)

    def joined(mode):
        left = isotonic_regression(f[:mode]).x if mode else f[:0]
        right = isotonic_regression(f[mode:], increasing=False).x if mode < f.size else f[:0]
        return np.concatenate((left, right))

    return min((joined(mode) for mode in range(f.size + 1)), key=lambda g: divergence(f, g))


def nearest_decreasing(f, sizes):
    """Masses of the law nearest to f whose density, mass over size of a cell, does not increase."""
    return isotonic_regression(f / sizes, weights=sizes, increasing=False).x * sizes


def divergence(f, g):
    """Kullback-Leibler divergence of f from g, in nats."""
    held = f > 0
    return float(np.sum(f[held] * np.log(f[held] / g[held])))


def most_powerful(f, g, n, rng, draws=DRAWS, level=LEVEL):
    """Power against f of the most powerful test of g from n observations, randomised where its statistic is tied."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(f > 0, np.log(f / g), 0.0)
    step[np.abs(step) < 1e-6] = 0.0  # f unimodal already: modes whose divergence is 0 to rounding differ by 1e-8
    null = np.sort(log_ratios(g, step, n, draws, rng))[::-1]
    alternative = log_ratios(f, step, n, draws, rng)
    critical = null[int(level * draws)]
    tie = 1e-9 * max(1.0, abs(critical))
    above, tied = np.mean(null > critical + tie), np.mean(np.abs(null - critical) <= tie)
    share = (level - above) / tied
    power = np.mean(alternative > critical + tie) + share * np.mean(np.abs(alternative - critical) <= tie)
    # the error of the critical value counts exp(critical)-fold, the ratio of the two densities there
    variance = power * (1 - power) + (np.exp(2 * critical) * level * (1 - level) if tied < 0.5 else 0.0)
    return Limit(float(power), float(np.sqrt(variance / draws)), divergence(f, g))


def log_ratios(masses, step, n, draws, rng):
    """Sums of `step` over samples of n cells."""
    cdf = np.cumsum(masses)
    at_once = max(1, AT_ONCE // n)
    sums = [
        step[np.minimum(np.searchsorted(cdf, rng.random((min(at_once, draws - done), n))), masses.size - 1)].sum(axis=1)
        for done in range(0, draws, at_once)
    ]
    return np.concatenate(sums)


def mixture_limits(mixture, sizes, rng, draws=DRAWS):
    """The limit for every sample size."""
    f, _ = mixture.masses()
    g = nearest_unimodal(f)
    return {n: most_powerful(f, g, n, rng, draws) for n in sizes}


def ring_masses(radii, sd, cells=CELLS):
    """Probabilities of cells of the radius, for circles of equal weight with normal noise, and the cells' edges."""
    edges = np.linspace(0.0, max(radii) + 8 * sd, cells + 1)
    masses = np.diff(np.mean([rice.cdf(edges / sd, r / sd) for r in radii], axis=0))
    return masses / masses.sum(), edges


def circle_limits(radii, sd, n, rng, draws=DRAWS):
    """For circles: the limit of a test that looks along one line, and of any test.

    The second g is the rotation-invariant law whose density in the plane does not increase with the radius, a
    mixture of uniform discs, so all its projections are unimodal.
    """
    reach = max(radii) + 8 * sd
    edges = np.linspace(-reach, reach, CELLS + 1)
    angles = np.pi * (np.arange(2000) + 0.5) / 2000
    line = np.diff(np.mean([norm.cdf(edges[:, None], r * np.cos(angles), sd).mean(axis=1) for r in radii], axis=0))
    line /= line.sum()
    rings, edges = ring_masses(radii, sd)
    plane = nearest_decreasing(rings, np.diff(edges**2))
    return most_powerful(line, nearest_unimodal(line), n, rng, draws), most_powerful(rings, plane, n, rng, draws)
