"""How time and memory grow with n: three sizes of every public function that takes points, each in its own process.

    python benchmarks/growth.py [WORDS IN THE NAME]      writes benchmarks/results/growth.json (about eight minutes)
    python benchmarks/page.py                            the table and the picture in docs/benchmarks.md

Time is that of processors, with one thread, of a second call, so that loops are loaded; memory is what the largest
resident size grows by in the first call of that size. The exponent is the slope of the logarithms from the second size
to the third. What the docstring says stands beside it: a function that grows by more has a defect.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from environment import describe_environment

RESULTS = Path(__file__).resolve().parent / "results" / "growth.json"
RUNS, LONG = 3, 2.0  # calls that are timed, unless they take more seconds together
SMALL = {"n_resamples": 99, "rng": 0}


def jobs():
    """Name -> (call of n, sizes, exponents of time and memory in the docstring, logarithms left out)."""
    import energystats as es

    def X(n, d=5):
        return np.random.default_rng(n).normal(size=(n, d))

    def line(n):
        return X(n, 1)[:, 0]

    def two(n):
        return np.arange(n) % 2

    def R(n):
        return es.pairwise(X(n), metric="cityblock")

    def clouds(n):
        return X(n) + 6.0 * (np.arange(n) % 4)[:, None]

    dense, wide, cubic = (1000, 2000, 4000), (5000, 10_000, 20_000), (300, 600, 1200)
    long = (250_000, 500_000, 1_000_000)
    return {
        "pairwise": (lambda n: es.pairwise(X(n)), (2000, 4000, 8000), 2, 2),
        "energy_distance": (lambda n: es.energy_distance(X(n), X(n) + 1), wide, 2, 1),
        "energy_distance, one column": (lambda n: es.energy_distance(line(n), line(n) + 1), long, 1, 1),
        "energy_test": (lambda n: es.energy_test(X(n), groups=two(n), **SMALL), (5000, 10_000, 20_000), 2, 1),
        "energy_test, one column": (
            lambda n: es.energy_test(line(n), groups=two(n), **SMALL),
            (50_000, 100_000, 200_000), 1, 1,
        ),
        "energy_test, sliced": (
            lambda n: es.energy_test(X(n), groups=two(n), method=es.Sliced(n_bins=256), **SMALL),
            (100_000, 200_000, 400_000), 1, 1,
        ),
        "dispersion": (lambda n: es.dispersion(X(n), two(n)), wide, 2, 1),
        "disco": (lambda n: es.disco(X(n), groups=two(n), **SMALL), (5000, 10_000, 20_000), 2, 1),
        "pairwise_tests": (lambda n: es.pairwise_tests(X(n), np.arange(n) % 3, **SMALL), dense, 2, 2),
        "spread_test": (lambda n: es.spread_test(X(n), two(n), **SMALL), dense, 2, 2),
        "normality_test": (lambda n: es.normality_test(X(n), n_resamples=19, rng=0), dense, 2, 1),
        "energy_interval": (lambda n: es.energy_interval(X(n), groups=two(n), n_bootstrap=39, rng=0), dense, 2, 2),
        "segment": (lambda n: es.segment(X(n), 5), (2000, 4000, 8000), 2, 1),
        "segment_test": (lambda n: es.segment_test(X(n), max_breaks=1, **SMALL), wide, 2, 1),
        "energy_cluster": (lambda n: es.energy_cluster(clouds(n), 4, n_init=2, rng=0), dense, 2, 2),
        "energy_cluster, landmarks": (
            lambda n: es.energy_cluster(clouds(n), 4, algorithm="landmarks", n_init=2, rng=0),
            (50_000, 100_000, 200_000), 1, 1,
        ),
        "cluster_1d": (lambda n: es.cluster_1d(line(n), 5), long, 1, 1),
        "energy_hclust": (lambda n: es.energy_hclust(X(n)), (4000, 8000, 16_000), 2, 2),
        "cluster_test": (lambda n: es.cluster_test(X(n), rng=0), dense, 2, 2),
        "cluster_tree": (lambda n: es.cluster_tree(X(n), rng=0), dense, 2, 2),
        "cluster_stability": (lambda n: es.cluster_stability(clouds(n), 4, n_resamples=10, rng=0), dense, 2, 2),
        "silhouette": (lambda n: es.silhouette(X(n), two(n)), wide, 2, 1),
        "spectral_embedding": (lambda n: es.spectral_embedding(X(n)), dense, 3, 2),
        "principal_coordinates": (lambda n: es.principal_coordinates(R(n)), cubic, 3, 2),
        "negative_type": (lambda n: es.negative_type(R(n)), dense, 3, 2),
        "lingoes": (lambda n: es.lingoes(R(n)), dense, 3, 2),
        "cailliez": (lambda n: es.cailliez(R(n)), dense, 3, 2),
        "mmd_test": (lambda n: es.mmd_test(X(n), groups=two(n), **SMALL), dense, 2, 2),
    }  # fmt: skip


def measure(name, n):
    """Processor seconds of a call after the first, and megabytes that the first of this size adds."""
    call, sizes = jobs()[name][:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(sizes[0] // 4)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        call(n)
        megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        seconds = []
        while len(seconds) < RUNS and sum(seconds) < LONG:
            start = time.process_time()
            call(n)
            seconds.append(time.process_time() - start)
        return {"n": n, "seconds": statistics.median_low(seconds), "megabytes": megabytes}


def slope(rows, name):
    """The exponent between the last two sizes; None where the smaller is too little to say."""
    last, least = rows[-2:], {"seconds": 0.02, "megabytes": 16.0}[name]
    if last[0][name] < least:
        return None
    return math.log(last[1][name] / last[0][name]) / math.log(last[1]["n"] / last[0]["n"])


def main():
    """Measure all, and write them down."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    words, found = sys.argv[1:], []
    for name, (_, sizes, of_time, of_memory) in jobs().items():
        if words and not all(word in name for word in words):
            continue
        rows = []
        for n in sizes:
            command = [sys.executable, __file__, "--one", name, str(n)]
            alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
        row = {"function": name, "sizes": rows, "documented": [of_time, of_memory]}
        row["exponents"] = [slope(rows, "seconds"), slope(rows, "megabytes")]
        found.append(row)
        print(name, [f"{r['seconds']:.2f} s {r['megabytes']:.0f} MB" for r in rows], row["exponents"], flush=True)
    if not words:
        RESULTS.write_text(
            json.dumps({"environment": describe_environment(), "rows": found}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
