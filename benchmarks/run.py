"""Speed and memory beside named peers, each pair on the same data in the same run.

    python benchmarks/run.py            the sizes of benchmarks/README.md; prints its table
    python benchmarks/run.py --quick    small sizes, to see that everything runs

A peer that is not installed is left out, and the table says so. Absolute times depend on the machine; the ratios
are what is compared. Every time is the median of several runs, after one that is not counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

import energystats as es

HERE = Path(__file__).parent
NONE = "no peer has it"


def median_time(call, runs=5):
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def peak_megabytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def r_energy(*words, data):
    """Output of peers.R as numbers, or None where R or its package is missing."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        np.savetxt(file, data, delimiter=",", fmt="%.17g")
        command = ["Rscript", str(HERE / "peers.R"), words[0], str(file), *map(str, words[1:])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [float(v) for v in done.stdout.split()] if done.returncode == 0 else None


def dcor_seconds(x, y, resamples):
    try:
        import dcor
    except Exception:
        return None
    return median_time(lambda: dcor.homogeneity.energy_test(x, y, num_resamples=resamples, random_state=0), runs=1)[0]


def row(what, ours, peer, theirs, note=""):
    ratio = f"{theirs / ours:.3g} x" if theirs is not None else "-"
    shown = f"{theirs:.3g} s" if theirs is not None else "-" if peer == NONE else "not installed"
    print(f"| {what} | {ours:.3g} s | {peer} | {shown} | {ratio} | {note} |", flush=True)


def two_sample_test(n, d, resamples, dcor_resamples):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n, d))
    ours, result = median_time(lambda: es.energy_test(x, y, n_resamples=resamples, statistic="pairwise", rng=0))
    what = f"two-sample test, n = m = {n}, d = {d}, {resamples} permutations, distances included"
    theirs = r_energy("test", n, n, resamples, data=np.concatenate((x, y)))
    note = ""
    if theirs is not None:
        note = f"statistic {result.statistic:.6f} / {theirs[1]:.6f}, p {result.pvalue:.3f} / {theirs[2]:.3f}"
    row(what, ours, "R energy::eqdist.etest", theirs and theirs[0], note)
    few = dcor_seconds(x, y, dcor_resamples)
    scaled = None
    if few is not None:
        # a call with one resample pays for the distances; only the rest grows with the number of resamples
        one = dcor_seconds(x, y, 1)
        scaled = one + (few - one) * (resamples - 1) / (dcor_resamples - 1)
    row(what, ours, "dcor energy_test", scaled, f"scaled up from {dcor_resamples} permutations" if few else "")
    print(f"| the same, peak memory | {peak_megabytes(lambda: es.energy_test(x, y, rng=0)):.0f} MB | - | - | - | - |")


def clustering(n, d, k, starts):
    X = np.random.default_rng(0).standard_normal((n, d))
    ours, found = median_time(lambda: es.energy_cluster(X, k, n_init=starts, rng=0), runs=3)
    theirs = r_energy("cluster", k, starts, data=X)
    what = f"clustering, n = {n}, d = {d}, k = {k}, {starts} starts"
    note = f"W {found.within:.4f} / {theirs[1]:.4f}" if theirs is not None else f"W {found.within:.4f}"
    row(what, ours, "R energy::kgroups", theirs and theirs[0], note)


def cluster_test(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    ours, result = median_time(lambda: es.cluster_test(X, rng=0), runs=3)
    row(f"cluster_test, n = {n}, d = 2, 199 draws, 10 folds", ours, NONE, None, f"p {result.pvalue:.3f}")


def one_column(n):
    x = np.random.default_rng(0).lognormal(size=n)
    ours, _ = median_time(lambda: es.cluster_1d(x), runs=3)
    row(f"exact 1-D split into two, n = {n}, with certificate", ours, NONE, None)


def import_time():
    def seconds(module):
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        done = [
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(6)
        ]
        return statistics.median(float(d.stdout) for d in done[1:])

    ours, theirs = seconds("energystats"), seconds("scipy.stats")
    row("import energystats", ours, "import scipy.stats", theirs)
    ours = seconds("energystats; energystats.energy_test; energystats.energy_cluster; energystats.cluster_test")
    row("the same, and first touch of the test, clustering and cluster test", ours, "import scipy.stats", theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}\n")
    print("| job | energystats | peer | peer's time | ratio | both results |")
    print("|---|---|---|---|---|---|")
    two_sample_test(*((100, 5, 99, 9) if quick else (1000, 5, 999, 20)))
    clustering(*((300, 5, 2, 2) if quick else (4000, 5, 2, 5)))
    cluster_test(100 if quick else 1000)
    one_column(10_000 if quick else 1_000_000)
    import_time()


if __name__ == "__main__":
    main()
