"""Large n: clusters from Nystrom features and tests in nearly linear time, each beside what it approximates.

    python benchmarks/large.py            the tables of benchmarks/README.md; about twenty minutes on two cores
    python benchmarks/large.py --quick    small sizes, to see that everything runs

Every row with a peak of memory is a process of its own. Times are processor seconds of all threads of one call, after
a small one that compiles; with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 they are what one free core takes. Every call
is made a second time beside one busy process; what is told is the ratio of the two times on the clock.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from busy import alone_and_beside

import energystats as es

CLUSTERS = """
import sys, time
import numpy as np
import energystats as es
from large import clouds, peak_megabytes
n, peer = int(sys.argv[1]), sys.argv[2]
X, labels = clouds(n, np.random.default_rng(0))
es.energy_cluster(X[:500], 5, algorithm=es.Landmarks(n_landmarks=20), rng=0)
from sklearn.cluster import KMeans, MiniBatchKMeans
calls = {
    "energystats": lambda: es.energy_cluster(X, 5, algorithm="landmarks", rng=0).labels,
    "scikit-learn MiniBatchKMeans": lambda: MiniBatchKMeans(5, n_init=10, random_state=0).fit(X).labels_,
    "scikit-learn MiniBatchKMeans, 16,384 rows": lambda: MiniBatchKMeans(
        5, batch_size=16_384, n_init=10, random_state=0).fit(X).labels_,
}
before = peak_megabytes()
start, clock = time.process_time(), time.perf_counter()
found = calls[peer]()
seconds, wall = time.process_time() - start, time.perf_counter() - clock
peak = peak_megabytes()
print(seconds, wall, peak, peak - before, es.clustering_accuracy(labels, found))
"""

TESTS = """
import sys, time
import numpy as np
import energystats as es
from energystats import Sliced
from large import peak_megabytes
n, options = int(sys.argv[1]), eval(sys.argv[2])
rng = np.random.default_rng(0)
x, y = rng.standard_normal((n // 2, 10)), rng.standard_normal((n // 2, 10)) + 0.005
es.energy_test(x[:3000], y[:3000], n_resamples=99, rng=0, **options)
before = peak_megabytes()
start, clock = time.process_time(), time.perf_counter()
found = es.energy_test(x, y, rng=0, **options)
seconds, wall = time.process_time() - start, time.perf_counter() - clock
peak = peak_megabytes()
error = f"{found.statistic_error:.3g}" if hasattr(found, "statistic_error") else "-"
print(seconds, wall, peak, peak - before, found.pvalue, f"{found.statistic:.4g}", error)
"""


def separately(code, *words):
    """Return the output of a process of its own, and the ratio of its wall-clock time beside one busy process."""
    command = [sys.executable, "-c", code, *map(str, words)]
    here = Path(__file__).parent
    alone, beside = alone_and_beside(
        lambda: subprocess.run(command, capture_output=True, text=True, check=True, cwd=here).stdout.split()
    )
    seconds, wall, *others = alone
    return [f"{float(seconds):.3g} s", f"{float(beside[1]) / float(wall):.2f} x", *others]


def peak_megabytes():
    """Largest resident memory of this process since it started; the parent's does not count, unlike in ru_maxrss."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def clouds(n, rng):
    """Five normal clouds in ten columns."""
    labels = rng.integers(5, size=n)
    return 1.5 * rng.standard_normal((5, 10))[labels] + rng.standard_normal((n, 10)), labels


def timed(call):
    """Processor seconds with the ratio of wall-clock times beside one busy process and alone, and the result."""

    def once():
        start, clock = time.process_time(), time.perf_counter()
        result = call()
        return time.process_time() - start, time.perf_counter() - clock, result

    (seconds, alone, result), (_, busy, _) = alone_and_beside(once)
    return f"{seconds:.3g} s ({busy / alone:.2f} x)", result


# ---------------------------------------------------------------- clusters


def near_hartigan(n):
    """W of the labels from features, over all pairs, beside that of Hartigan's method on all pairs."""
    print(f"\n### W against all pairs, N = {n:,}\n")
    heads = ["data", "landmarks", "processor time", "W above Hartigan's", "outside the span", "(estimate - W)/error"]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    rng = np.random.default_rng(1)
    lognormal = es.datasets.make_lognormal_mixture(n, **es.datasets.paper_mixture("lognormal-dim", 20), rng=rng)[0]
    circles = es.datasets.make_circles((n // 2, n // 2), radii=(1, 3), rng=rng)[0]
    jobs = {
        "5 clouds, d = 10": (clouds(n, rng)[0], 5, "euclidean", 1.0),
        "lognormal-dim, d = 20": (lognormal, 2, "euclidean", 1.0),
        "the same, alpha = 1/2": (lognormal, 2, "euclidean", 0.5),
        "circles 2, Gaussian sigma = 1": (circles, 2, es.metrics.Gaussian(1.0), 1.0),
    }
    for name, (X, k, metric, alpha) in jobs.items():
        how = {"metric": metric, "alpha": alpha}
        seconds, full = timed(lambda X=X, k=k, how=how: es.energy_cluster(X, k, **how, rng=0))
        print(f"| {name} | all pairs | {seconds} | 0 | 0 | - |", flush=True)
        for m in (64, 256, 1024):
            options = {**how, "algorithm": es.Landmarks(n_landmarks=m)}
            seconds, found = timed(lambda X=X, k=k, o=options: es.energy_cluster(X, k, **o, rng=0))
            exact, about = es.dispersion(X, found.labels, **how), found.approximation
            share = exact.within / full.within - 1
            z = f"{(found.within - exact.within) / about.within_error:+.1f}" if about.within_error else "all pairs"
            print(f"| {name} | {m} | {seconds} | {share:.1e} | {about.outside:.3f} of T | {z} |", flush=True)


def beside_mini_batches(n):
    print(f"\n### Processor time and memory, five normal clouds, N = {n:,}, d = 10, k = 5, best of 10 starts\n")
    heads = ["method", "processor time", "beside one busy process", "peak memory", "of which the call", "accuracy"]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    others = ["scikit-learn MiniBatchKMeans", "scikit-learn MiniBatchKMeans, 16,384 rows"]
    for name in ["energystats", *others]:
        seconds, slower, *numbers = separately(CLUSTERS, n, name)
        peak, own, accuracy = map(float, numbers)
        print(f"| {name} | {seconds} | {slower} | {peak:.0f} MB | {own:.0f} MB | {accuracy:.4f} |", flush=True)


def lognormal_accuracy(n):
    """The papers' lognormal data; accuracy is the best label matching [G 22]."""
    from sklearn.cluster import MiniBatchKMeans

    print(f"\n### Accuracy for the papers' lognormal data, N = {n:,}\n")
    heads = ["data", "Bayes", "energy, alpha = 1", "alpha = 1/2", "MiniBatchKMeans", "processor times"]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for name, dim, log_of in (("fig3", None, "fig3-lognormal"), ("lognormal-dim", 20, ""), ("lognormal-dim", 50, "")):
        parameters = es.datasets.paper_mixture(name, dim)
        X, labels = es.datasets.make_lognormal_mixture(n, **parameters, rng=0)
        cells, times = [], []
        for alpha in (1.0, 0.5):
            options = {"alpha": alpha, "algorithm": "landmarks", "rng": 0}
            seconds, found = timed(lambda X=X, o=options: es.energy_cluster(X, 2, **o))
            cells.append(es.clustering_accuracy(labels, found.labels))
            times.append(seconds)
        model = MiniBatchKMeans(2, n_init=10, random_state=0)
        seconds, _ = timed(lambda X=X, model=model: model.fit(X))
        cells.append(es.clustering_accuracy(labels, model.labels_))
        bayes = es.datasets.bayes_accuracy(**parameters, rng=0)
        bayes = bayes[0] if isinstance(bayes, tuple) else bayes
        shown = " | ".join(f"{cell:.3f}" for cell in cells)
        all_times = ", ".join((*times, seconds))
        print(f"| {log_of or name}, d = {X.shape[1]} | {bayes:.3f} | {shown} | {all_times} |", flush=True)


# ---------------------------------------------------------------- tests


SLICED, BINNED, BOTH = {"method": "sliced"}, {"method": "binned"}, {"method": es.Sliced(n_bins=256)}


def tests_against_n(jobs):
    print("\n### Two-sample tests, d = 10, means 0.005 apart in every column, 999 permutations\n")
    heads = ["test", "N", "processor time", "beside one busy process", "peak memory", "of which the call", "p", "S"]
    heads.append("its standard error")
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for name, options, n in jobs:
        seconds, slower, peak, own, p, S, error = separately(TESTS, n, options)
        memory = f"{float(peak):.0f} MB | {float(own):.0f} MB"
        print(f"| {name} | {n:,} | {seconds} | {slower} | {memory} | {float(p):.3g} | {S} | {error} |", flush=True)


def power(replicates):
    """Share of samples with p <= .05, 199 permutations, 100 + 100 rows in ten columns; and of true nulls."""
    print(f"\n### Rejections at .05, 100 + 100 rows, d = 10, 199 permutations, {replicates} samples each\n")
    rng = np.random.default_rng(2)
    one = np.zeros(10)
    one[0] = 0.6
    distributions = {
        "equal (normal)": lambda: (normal(rng), normal(rng)),
        "equal (lognormal)": lambda: (np.exp(normal(rng)), np.exp(normal(rng))),
        "all means .16 apart": lambda: (normal(rng), normal(rng) + 0.16),
        "one mean .6 apart": lambda: (normal(rng), normal(rng) + one),
        "all scales 1.12": lambda: (normal(rng), 1.12 * normal(rng)),
        "correlated .35": lambda: (normal(rng), correlated(rng, 0.35)),
    }
    tests = {
        "all pairs, rows": {},
        "50 slices": {"method": "sliced"},
        "10 slices": {"method": es.Sliced(10)},
        "40 bins": {"method": es.Binned(40)},
        "20 bins": {"method": es.Binned(20)},
        "50 slices, 40 bins": {"method": es.Sliced(n_bins=40)},
    }
    print("| distribution | " + " | ".join(tests) + " |\n|---|" + "---|" * len(tests))
    for distribution, draw in distributions.items():
        counts = dict.fromkeys(tests, 0)
        for _ in range(replicates):
            x, y = draw()
            for name, options in tests.items():
                counts[name] += es.energy_test(x, y, n_resamples=199, rng=rng, **options).pvalue <= 0.05
        print(f"| {distribution} | " + " | ".join(f"{c / replicates:.3f}" for c in counts.values()) + " |", flush=True)


def normal(rng):
    return rng.standard_normal((100, 10))


def correlated(rng, r):
    return np.sqrt(1 - r) * normal(rng) + np.sqrt(r) * rng.standard_normal((100, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    near_hartigan(2000 if quick else 10_000)
    beside_mini_batches(5000 if quick else 200_000)
    lognormal_accuracy(2000 if quick else 200_000)
    jobs = [
        ("all pairs, rows permuted", {}, 20_000),
        ("all pairs, 256 bins", BINNED, 20_000),
        ("all pairs, 256 bins", BINNED, 100_000),
        ("50 slices, rows permuted", SLICED, 20_000),
        ("50 slices, rows permuted", SLICED, 100_000),
        ("50 slices, 256 bins", BOTH, 20_000),
        ("50 slices, 256 bins", BOTH, 100_000),
        ("50 slices, 256 bins", BOTH, 1_000_000),
    ]
    tests_against_n([(name, options, 4000) for name, options, _ in jobs] if quick else jobs)
    power(10 if quick else 400)


if __name__ == "__main__":
    main()
