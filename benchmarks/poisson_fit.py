"""Tests of the Poisson family with estimated mean: the energy test beside the M-tests of R's `poisson.mtest`.

The M-statistics (Székely and Rizzo 2004, Statistics & Probability Letters 67, 241-247) estimate the distribution
function from mean absolute deviations of the sample and compare it with the fitted one, weighted as Cramér and von
Mises or Anderson and Darling do.
Bootstrap and p-value are those of `goodness_of_fit`. A table of how often each rejects at level .05 is printed and
kept; about half an hour on one core.

    python benchmarks/poisson_fit.py [--samples 400]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy import stats

import energystats as es

RESULTS = Path(__file__).parent / "results" / "poisson_fit.json"
N_RESAMPLES = 199
TESTS = ("E", "M-CvM", "M-AD")


def mixture(shares, means):
    """Draw from Poisson distributions mixed in shares."""
    return lambda rng, n: rng.poisson(rng.choice(means, size=n, p=shares))


POPULATIONS = {  # every mean is 2 but in the first and third row
    "Poisson(0.5)": lambda rng, n: rng.poisson(0.5, n),
    "Poisson(2)": lambda rng, n: rng.poisson(2, n),
    "Poisson(10)": lambda rng, n: rng.poisson(10, n),
    "negative binomial, variance 4": lambda rng, n: rng.negative_binomial(2, 0.5, n),
    "negative binomial, variance 3": lambda rng, n: rng.negative_binomial(4, 2 / 3, n),
    "Poisson(2.5), a fifth of them 0": mixture((0.8, 0.2), (2.5, 0.0)),
    "half Poisson(1), half Poisson(3)": mixture((0.5, 0.5), (1.0, 3.0)),
    "binomial(4, 1/2)": lambda rng, n: rng.binomial(4, 0.5, n),
    "0 to 4, equally likely": lambda rng, n: rng.integers(0, 5, n),
}


def m_statistics(samples):
    """M-CvM and M-AD of every row, by the recursion for F from E|X - k|, up to where the fitted tail is below 1e-10."""
    samples = np.asarray(samples, float)
    n = samples.shape[1]
    mean = samples.mean(axis=1)
    last = stats.poisson.ppf(1 - 1e-10, mean) + 1
    estimated = (np.abs(samples - 1).mean(axis=1) + 1 - mean) / 2  # of F(0): E|X - 1| = mean - 1 + 2 F(0)
    known = np.exp(-mean)
    sums = np.zeros((2, len(samples)))
    before = 0.0
    for i in range(int(last.max())):
        if i:
            k = i + 1
            deviation = np.abs(samples - k).mean(axis=1)
            mass = np.maximum(0, (deviation - (k - mean) * (2 * estimated - 1)) / (2 * k))
            before, known = known, stats.poisson.cdf(i, mean)
            estimated = np.minimum(1, estimated + mass)
        squares = np.where(i < last, (estimated - known) ** 2 * (known - before), 0.0)
        spread = known * (1 - known)
        sums += squares, np.divide(squares, spread, out=np.zeros_like(squares), where=spread > 0)
    return n * sums


def pvalues(x, rng):
    """p of the three tests of one sample."""
    energy = es.goodness_of_fit(x, stats.poisson, estimate=True, n_resamples=N_RESAMPLES, rng=rng).pvalue
    tables = np.vstack([x, rng.poisson(x.mean(), (N_RESAMPLES, len(x)))])
    statistics = m_statistics(tables)
    reached = statistics[:, 1:] >= statistics[:, :1] * (1 - 1e-12)
    return energy, *((reached.sum(axis=1) + 1) / (N_RESAMPLES + 1))


def main():
    """Print and keep the shares of samples that are rejected."""
    from environment import describe_environment  # the tests import this file from elsewhere

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=400)
    n_samples = parser.parse_args().samples
    rows = []
    for name, draw in POPULATIONS.items():
        for n in (20, 50):
            seeds = np.random.SeedSequence(2004).spawn(n_samples)
            found = []
            for rng in map(np.random.default_rng, seeds):
                x = draw(rng, n)
                found.append(pvalues(x, rng) if x.any() else (1.0,) * len(TESTS))
            rates = np.mean(np.array(found) <= 0.05, axis=0)
            rows.append({"population": name, "n": n, **dict(zip(TESTS, rates.tolist(), strict=True))})
            print(name, n, *(f"{rate:.3f}" for rate in rates), flush=True)
    what = {
        "environment": describe_environment(),
        "n_samples": n_samples,
        "n_resamples": N_RESAMPLES,
        "level": 0.05,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(what, indent=1) + "\n")


if __name__ == "__main__":
    main()
