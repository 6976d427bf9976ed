"""How the null distribution of the test of normality depends on the number of points.

Samples of 2,000 points stand for larger ones in several columns. For each size the statistics of normal samples are
simulated; a table says how often they are above the quantiles of the largest size, which is what p would be off by.
About ten minutes on one core.

    python benchmarks/normality_null.py [--samples 20000]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from environment import describe_environment

from energystats._core import normal

RESULTS = Path(__file__).parent / "results" / "normality_null.json"
SIZES = (60, 125, 250, 500)
LEVELS = (0.5, 0.1, 0.05, 0.01)
COLUMNS = (2, 5, 20)


def statistics(n, d, count, rng):
    """Statistics of `count` normal samples of n points in d columns."""
    drawn = (rng.standard_normal((100, n, d)) for _ in range(count // 100))
    return np.concatenate([normal.normality_statistics(normal.orthonormal(samples)) for samples in drawn])


def main():
    """Simulate, print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    count = parser.parse_args().samples
    rows = []
    for d in COLUMNS:
        drawn = {n: statistics(n, d, count, np.random.default_rng([n, d])) for n in SIZES}
        last = drawn[SIZES[-1]]
        for n in SIZES[:-1]:
            rates = [float(np.mean(drawn[n] > np.quantile(last, 1 - level))) for level in LEVELS]
            rows.append({"d": d, "n": n, "rates": rates})
            print(
                f"d = {d:2d}, {n:4d} points beside {SIZES[-1]}:", " ".join(f"{rate:.4f}" for rate in rates), flush=True
            )
    kept = {"environment": describe_environment(), "samples": count, "levels": LEVELS, "sizes": SIZES, "rows": rows}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
