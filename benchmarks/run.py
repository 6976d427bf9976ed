"""Speed and memory beside named peers, each pair on the same data in the same run.

    python benchmarks/run.py            writes benchmarks/results/speed.json
    python benchmarks/run.py --quick    small sizes, to see that everything runs; writes nothing
    python benchmarks/run.py --busy     tests and clusterings only, alone and beside one busy process: results/busy.json
    python benchmarks/run.py --large    time and memory of energy_test against N: benchmarks/results/size.json
    python benchmarks/page.py           docs/benchmarks.md and its pictures from these files

A peer that is not installed is left out, and the table says so. Absolute times depend on the machine; the ratios
are what is compared. Every time is the median of several runs, after one that is not counted. Ours is measured a
second time beside one busy process, linear algebra with its default threads.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
from busy import Seconds, alone_and_beside, both_times, median_time
from environment import describe_environment

import energystats as es

HERE = Path(__file__).parent
NONE = "no peer has it"
RESULTS = HERE / "results"
rows: list[dict[str, object]] = []  # of the table, in their order


def write(name, found):
    """Results with their environment, as JSON."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"environment": describe_environment(), "rows": found}, indent=1)
    (RESULTS / name).write_text(text + "\n", encoding="utf-8")


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
    ratio = f"{theirs / ours.alone:.3g} x" if theirs is not None else "-"
    shown = f"{theirs:.3g} s" if theirs is not None else "-" if peer in (NONE, "-") else "not installed"
    job = {"job": what, "seconds": ours.alone, "busy_seconds": ours.busy}
    job |= {"work": ours.work_alone, "busy_work": ours.work_busy}
    rows.append(job | {"peer": peer, "peer_seconds": theirs, "note": note})
    print(f"| {what} | {ours.alone:.3g} s | {ours.ratio:.2f} x | {peer} | {shown} | {ratio} | {note} |", flush=True)


def two_sample_test(n, d, resamples, dcor_resamples):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n, d))
    ours, result = both_times(lambda: es.energy_test(x, y, n_resamples=resamples, statistic="pairwise", rng=0))
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
    peak = peak_megabytes(lambda: es.energy_test(x, y, rng=0))
    row(what, ours, "-", None, f"peak {peak:.0f} MB")


def ready_matrix(n, resamples):
    """Test groups on one matrix with both programs; scikit-bio's fast loops need numba."""
    X = np.random.default_rng(0).standard_normal((n, 5))
    groups = np.repeat(["a", "b"], n // 2)
    D = es.pairwise(X)
    ours, result = both_times(
        lambda: es.energy_test(D**2, groups=groups, metric="precomputed", statistic="f", n_resamples=resamples, rng=0)
    )
    theirs, note = None, f"F {result.statistic:.6f}"
    try:
        from skbio import DistanceMatrix
        from skbio.stats.distance import permanova

        matrix = DistanceMatrix(D)
        theirs, found = median_time(lambda: permanova(matrix, groups, permutations=resamples), runs=3)
        note += f" / {found['test statistic']:.6f}"
    except ImportError:
        pass
    row(f"permutation F given a matrix, N = {n}, {resamples} permutations", ours, "scikit-bio permanova", theirs, note)


def clustering(n, d, k, starts):
    X = np.random.default_rng(0).standard_normal((n, d))
    ours, found = both_times(lambda: es.energy_cluster(X, k, n_init=starts, rng=0), runs=3)
    theirs = r_energy("cluster", k, starts, data=X)
    what = f"clustering, n = {n}, d = {d}, k = {k}, {starts} starts"
    note = f"W {found.within:.4f} / {theirs[1]:.4f}" if theirs is not None else f"W {found.within:.4f}"
    row(what, ours, "R energy::kgroups", theirs and theirs[0], note)


def landmarks(n, d, k):
    """Five normal clouds, or one normal distribution, where no cluster is clear and the search takes longest."""
    rng = np.random.default_rng(0)
    X = 1.5 * rng.standard_normal((k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))
    for name, data in (("clouds", X), ("one normal distribution", rng.standard_normal((n // 5, d)))):
        how = {"algorithm": "landmarks", "rng": 0}
        ours, found = both_times(lambda data=data, how=how: es.energy_cluster(data, k, **how), runs=3)
        what = f"clustering from landmarks, {name}, n = {len(data)}, d = {d}, k = {k}, 10 starts"
        row(what, ours, NONE, None, f"W {found.within:.4f}, estimated")


def kernel_k_means(n, k, starts):
    """Two kernel k-means of others on the kernel of their choice, a Gaussian one; W is the cost of all three."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n // 2, 5)), rng.normal(1.5, 1, size=(n - n // 2, 5))])
    gamma = 0.1
    rho = es.metrics.Kernel("rbf", gamma=gamma)
    ours, found = both_times(lambda: es.energy_cluster(X, k, metric=rho, n_init=starts, rng=0), runs=3)
    R = es.pairwise(X, metric=rho)

    def cost(labels):
        return es.dispersion(R, labels, metric="precomputed").within

    what = f"kernel k-means, n = {n}, k = {k}, {starts} starts"
    theirs, note = None, f"W {found.within:.4f}"
    try:
        from tslearn.clustering import KernelKMeans

        model = KernelKMeans(k, kernel="rbf", kernel_params={"gamma": gamma}, n_init=starts, random_state=0)
        theirs, fitted = median_time(lambda: model.fit(X[:, :, None]), runs=1)
        note += f" / {cost(fitted.labels_):.4f}"
    except ImportError:
        pass
    row(what, ours, "tslearn KernelKMeans", theirs, note)
    theirs, note = r_energy("kkmeans", k, starts, gamma, data=X), f"W {found.within:.4f}"
    if theirs is not None:
        note += f" / {min(cost(np.array(labels)) for labels in np.split(np.array(theirs[1:]), starts)):.4f}"
    row(what, ours, "R kernlab::kkmeans", theirs and theirs[0], note)


PASS = """
import sys, time
import numpy as np
import energystats as es
from energystats._core.hartigan import hartigan_pass
from energystats.clustering.seeding import plus_plus_start
from energystats.clustering.local_search import Problem
n, k = int(sys.argv[1]), int(sys.argv[2])
ones, room = np.ones(n), np.empty((0, 3), np.intp)
X = np.random.default_rng(0).standard_normal((n, 5))
two = np.zeros((2, 2)), np.ones(2), np.array([0, 1])
hartigan_pass(*two, *Problem(*two[:2], 2, 0.0).tabulate(two[2]), 1.0, room)
es.pairwise(X[:1500])
start = time.perf_counter()
R = es.pairwise(X)
distances = time.perf_counter() - start
labels = plus_plus_start(R, k, np.random.default_rng(0))
state = Problem(R, ones, k, 0.0).tabulate(labels)
start = time.perf_counter()
moved = hartigan_pass(R, ones, labels, *state, 1e-9, room)
one = time.perf_counter() - start
del R, state
start = time.perf_counter()
found = es.energy_cluster(X, k, n_init=1, algorithm=es.Hartigan(n_perturb=0), rng=0)
print(distances, one, moved, time.perf_counter() - start, found.n_iter)
"""


def printed(command):
    """Words that a process prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def one_pass(sizes, k):
    """The first pass of Hartigan's method, the one with the most moves, beside the distances that it needs."""
    for n in sizes:
        command = [sys.executable, "-c", PASS, str(n), str(k)]
        alone, beside = alone_and_beside(lambda command=command: list(map(float, printed(command))))
        distances, seconds, moved, whole, passes = alone
        note = f"{moved:.0f} points moved; a whole start with its upper bound {whole:.3g} s, {passes:.0f} passes"
        both = Seconds(seconds, beside[1])
        row(f"first pass of Hartigan's method, N = {n}, k = {k}", both, "its own distances", distances, note)


def gap_statistic(n, k_max, sets):
    """Three normal clusters in two columns; R's reference sets are clustered by k-means from ten starts."""
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])[rng.integers(3, size=n)] + rng.standard_normal((n, 2))
    how = {"criterion": "gap", "null": "box", "n_resamples": sets, "rng": 0}
    ours, found = both_times(lambda: es.select_k(X, k_max, **how), runs=1)
    theirs = r_energy("gap", k_max, sets, data=X)
    note = f"k = {found.k}" + (f" / {theirs[1]:.0f}" if theirs is not None else "")
    what = f"gap statistic to k = {k_max}, n = {n}, d = 2, {sets} reference sets"
    row(what, ours, "R cluster::clusGap, k-means", theirs and theirs[0], note)


def hierarchy(n):
    """SciPy's Ward on the roots of the distances has the squared heights' roots; R gets the points."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    X = np.random.default_rng(0).standard_normal((n, 3))
    ours, Z = both_times(lambda: es.energy_hclust(X), runs=3)
    what = f"hierarchical clustering, n = {n}, d = 3, distances included"
    scipys, ward = median_time(lambda: linkage(np.sqrt(pdist(X)), "ward"), runs=3)
    row(what, ours, "SciPy linkage", scipys, f"last height {Z[-1, 2]:.6f} / {ward[-1, 2] ** 2:.6f}")
    theirs = r_energy("hclust", data=X)
    row(what, ours, "R energy::energy.hclust", theirs and theirs[0], f"/ {theirs[1]:.6f}" if theirs else "")


def mixed_table(n):
    """Three numeric, two ordered and three unordered columns."""
    import pandas as pd

    rng = np.random.default_rng(0)
    grades = [pd.Categorical.from_codes(rng.integers(0, 5, n), list("abcde"), ordered=True) for _ in range(2)]
    kinds = [pd.Categorical(rng.choice(list("uvwx"), n)) for _ in range(3)]
    columns = [*rng.standard_normal((3, n)), *grades, *kinds]
    table = pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)})
    ours, d = both_times(lambda: es.pairwise(table, metric="gower"))
    codes = np.column_stack([table.iloc[:, :3], *(table.iloc[:, j].cat.codes for j in range(3, 8))])
    theirs = r_energy("gower", data=codes)
    note = f"sum {np.triu(d).sum():.6f}" + (f" / {theirs[1]:.6f}" if theirs is not None else "")
    what = f"Gower's coefficient of all pairs, n = {n}, 3 numeric, 2 ordered, 3 categorical columns"
    row(what, ours, "R cluster::daisy", theirs and theirs[0], note)


def cluster_test(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    ours, result = both_times(lambda: es.cluster_test(X, rng=0), runs=3)
    row(f"cluster_test, n = {n}, d = 2, 199 draws, 10 folds", ours, NONE, None, f"p {result.pvalue:.3f}")


def one_column(n, k):
    """Certificates included; kmeans1d has the square only."""
    x = np.random.default_rng(0).lognormal(size=n)
    for alpha, clusters in ((1, 2), (1, k), (2, k)):
        ours, found = both_times(lambda a=alpha, c=clusters: es.cluster_1d(x, c, alpha=a), runs=3)
        peer, theirs, note = NONE, None, f"W {found.within:.6f}"
        if alpha == 2:
            peer = "kmeans1d"
            try:
                import kmeans1d
            except ImportError:
                pass
            else:
                theirs, (labels, centers) = median_time(lambda: kmeans1d.cluster(x, k), runs=3)
                note += f" / {((x - np.array(centers)[labels]) ** 2).sum():.6f}"
        row(f"exact clusters of one column, n = {n}, k = {clusters}, alpha = {alpha}", ours, peer, theirs, note)


def ordered_rows(n, k):
    """The exact cut, beside ruptures on the kernel cost that is W of the Gaussian metric; and the test of breaks."""
    X = np.random.default_rng(0).standard_normal((n, 5))
    ours, found = both_times(lambda: es.segment(X, k, metric=es.metrics.Gaussian(1.0)), runs=3)
    what = f"segment, n = {n}, d = 5, k = {k}, exact"
    try:
        import ruptures
    except Exception:
        theirs, note = None, ""
    else:

        def cut():
            return ruptures.KernelCPD(kernel="rbf", params={"gamma": 0.5}, min_size=2, jump=1).fit(X).predict(k - 1)

        theirs, breaks = median_time(cut, runs=3)
        note = "the same breaks" if [*found.breakpoints.tolist(), n] == breaks else "other breaks"
    row(what, ours, "ruptures KernelCPD, rbf", theirs, note)
    ours, _ = both_times(lambda: es.segment_test(X, max_breaks=1, n_resamples=999, rng=0), runs=3)
    row(f"segment_test, n = {n}, d = 5, 999 orders, first break", ours, NONE, None)


def euclidization(n, large):
    """City block distances, which are not Euclidean; R gets their condensed vector."""
    from scipy.spatial.distance import pdist, squareform

    d = squareform(pdist(np.random.default_rng(0).standard_normal((n, 4)), "cityblock"))
    theirs = r_energy("euclidize", data=d) or [None] * 5
    jobs = {
        "Lingoes' constant and distances": (lambda: es.lingoes(d), "ade4::lingoes", 0),
        "Cailliez' constant and distances": (lambda: es.cailliez(d), "ade4::cailliez", 2),
        "principal coordinates": (lambda: es.principal_coordinates(d), "ape::pcoa", 4),
    }
    for what, (call, peer, at) in jobs.items():
        ours, found = both_times(call, runs=3)
        note = f"constant {found.constant:.10g}" if at < 4 else ""
        if theirs[0] is not None and at < 4:
            note += f" / {theirs[at + 1]:.10g}"
        row(f"{what}, n = {n}", ours, peer, theirs[at], note)
    d = squareform(pdist(np.random.default_rng(0).standard_normal((large, 4)), "cityblock"))
    for what, call in (
        ("Lingoes", es.lingoes),
        ("Cailliez", es.cailliez),
        ("verdict of is_euclidean", es.is_euclidean),
    ):
        ours, _ = both_times(lambda call=call: call(d), runs=1)
        peak = peak_megabytes(lambda call=call: call(d))
        row(f"{what}, n = {large}", ours, "-", None, f"peak {peak:.0f} MB, the matrix itself {8e-6 * large**2:.0f} MB")


def graph_cuts(n, peer_n):
    """Ten planted groups, ten links a vertex; a pass of single moves from random labels, and a whole call."""
    import scipy.sparse as sp
    from sklearn.cluster import SpectralClustering

    from energystats.clustering.graph_partition import _improved as improved
    from energystats.clustering.graph_partition import _Objective as Objective

    def planted(size):
        rng = np.random.default_rng(0)
        first = rng.integers(size, size=5 * size)
        inside = first - first % (size // 10) + rng.integers(size // 10, size=5 * size)
        second = np.where(rng.random(5 * size) < 0.8, inside, rng.integers(size, size=5 * size))
        A = sp.coo_array((np.ones(5 * size), (first, second)), shape=(size, size)).tocsr()
        ring = sp.diags_array([np.ones(size - 1)], offsets=[1], shape=(size, size))  # so that it is connected
        return sp.csr_array(A + A.T + ring + ring.T)

    graph = Objective(planted(n), "normalized", None, 10)
    start = np.random.default_rng(0).integers(10, size=n)
    ours, found = both_times(lambda: improved(graph, start, 300), runs=3)
    what = f"a pass of single moves, normalised cut, n = {n}, {graph.matrix.nnz} stored entries, k = 10"
    row(what, Seconds(ours.alone / found.n_iter, ours.busy / found.n_iter), NONE, None, f"{found.n_iter} passes")
    A = planted(peer_n)
    ours, found = both_times(lambda: es.graph_partition(A, 10, "normalized", rng=0), runs=1)
    model = SpectralClustering(10, affinity="precomputed", random_state=0)
    theirs, labels = median_time(lambda: model.fit_predict(sp.csr_matrix(A)), runs=1)
    value = Objective(A, "normalized", None, 10).score(labels.astype(np.intp))
    row(
        f"normalised cut with bound, n = {peer_n}, 10 starts",
        ours,
        "scikit-learn SpectralClustering",
        theirs,
        f"value {found.value:.5f} / {value:.5f}, bound {found.bound:.5f}",
    )


def import_time():
    def seconds(module):
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        return statistics.median(float(printed([sys.executable, "-c", code])[0]) for _ in range(6))

    def both(module):
        return Seconds(*alone_and_beside(lambda: seconds(module)))

    ours, theirs = both("energystats"), seconds("scipy.stats")
    row("import energystats", ours, "import scipy.stats", theirs)
    ours = both("energystats; energystats.energy_test; energystats.energy_cluster; energystats.cluster_test")
    row("the same, and first touch of the test, clustering and cluster test", ours, "import scipy.stats", theirs)


DENSE, TILED, SORTED = "tiles kept", "tiles recomputed", "sorted, one column"
LARGE = {
    DENSE: (5, [250, 500, 1000, 2000, 4000]),
    TILED: (5, [5000, 10_000, 20_000, 40_000, 100_000]),
    SORTED: (1, [1000, 10_000, 100_000, 1_000_000]),
}
ONE_RUN = """
import resource, sys, time
import numpy as np
import energystats as es
n, d = int(sys.argv[1]), int(sys.argv[2])
X, groups = np.random.default_rng(0).standard_normal((n, d)), np.arange(n) % 2
for small in (X[:1500], X[:1500, :1]):
    es.energy_test(small, groups=groups[:1500], n_resamples=999, rng=0)
if n < 10_000:
    es.energy_test(X, groups=groups, rng=0)
A = np.random.default_rng(0).standard_normal((1024, 1024))
A @ A
start = time.perf_counter()
for _ in range(20):
    A @ A
rate = 20 * 2 * 1024**3 / (time.perf_counter() - start)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = []
for _ in range(7 if n < 10_000 else 1):
    start = time.perf_counter()
    es.energy_test(X, groups=groups, n_resamples=999, method="permutation", rng=0)
    times.append(time.perf_counter() - start)
seconds = sorted(times)[len(times) // 2]
megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(seconds, megabytes, n * n * 999 / seconds / rate)
"""


def large(sizes):
    """Each size in a process of its own, so that its peak memory is its own."""
    heads = [
        "route",
        "N",
        "d",
        "time",
        "beside one busy process",
        "peak memory above the data",
        "share of dgemm's rate",
    ]
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    found = []
    for route, (d, all_sizes) in sizes.items():
        for n in all_sizes:
            command = [sys.executable, "-c", ONE_RUN, str(n), str(d)]
            alone, beside = alone_and_beside(lambda command=command: list(map(float, printed(command))))
            seconds, megabytes, share = alone
            both = {"seconds": seconds, "busy_seconds": beside[0]}
            found.append({"route": route, "n": n, "d": d} | both | {"megabytes": megabytes, "share": share})
            rate = "-" if route == SORTED else f"{share:.0%}"
            memory = f"{megabytes:.0f} MB" if n >= 10_000 else "-"  # below it the call was made once before
            slower = f"{beside[0] / seconds:.2f} x"
            print(f"| {route} | {n:,} | {d} | {seconds:.3g} s | {slower} | {memory} | {rate} |", flush=True)
    return found


def tests_and_clusterings(quick):
    """Time the functions that are used most."""
    two_sample_test(*((100, 5, 99, 9) if quick else (1000, 5, 999, 20)))
    if not quick:
        two_sample_test(2000, 5, 999, 20)
    ready_matrix(*((200, 99) if quick else (2000, 999)))
    for k in (2, 8):
        clustering(*((300, 5, k, 2) if quick else (4000, 5, k, 5)))
    landmarks(*((1000, 10, 5) if quick else (20_000, 10, 5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--busy", action="store_true", help="tests and clusterings beside one busy process only")
    parser.add_argument("--large", action="store_true", help="time and memory against N; about ten minutes")
    parser.add_argument("--only", nargs="+", metavar="JOBS", help="these groups anew, other rows as they were")
    options = parser.parse_args()
    quick = options.quick
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}\n")
    if options.large:
        write("size.json", large(LARGE))
        return
    jobs = {
        "tests": lambda: tests_and_clusterings(quick),
        "kernel": lambda: kernel_k_means(*((200, 3, 2) if quick else (2000, 4, 5))),
        "pass": lambda: one_pass([500] if quick else [1000, 3000, 10_000, 20_000, 30_000], 8),
        "gap": lambda: gap_statistic(*((90, 3, 3) if quick else (3000, 8, 20))),
        "hierarchy": lambda: hierarchy(200 if quick else 5000),
        "mixed": lambda: mixed_table(200 if quick else 2000),
        "significance": lambda: cluster_test(100 if quick else 1000),
        "column": lambda: one_column(*((10_000, 4) if quick else (1_000_000, 10))),
        "ordered": lambda: ordered_rows(*((200, 4) if quick else (1000, 8))),
        "graphs": lambda: graph_cuts(*((2000, 500) if quick else (100_000, 4000))),
        "geometry": lambda: euclidization(*((60, 300) if quick else (500, 5000))),
        "import": import_time,
    }
    chosen = ["tests"] if options.busy else options.only or list(jobs)
    if set(chosen) - set(jobs):
        parser.error(f"--only takes {', '.join(jobs)}; got {' '.join(chosen)}")
    print("| job | energystats | beside one busy process | peer | peer's time | ratio | both results |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen:
        jobs[name]()
    if quick:
        if len(chosen) == len(jobs):
            large({DENSE: (5, [500]), TILED: (5, [5000]), SORTED: (1, [10_000])})
        return
    if options.busy:
        write("busy.json", rows)
        return
    again = {row["job"] for row in rows}
    kept = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))["rows"] if options.only else []
    order = list(dict.fromkeys([row["job"] for row in kept] + [row["job"] for row in rows]))
    both = [row for row in kept if row["job"] not in again] + rows
    write("speed.json", sorted(both, key=lambda row: order.index(row["job"])))


if __name__ == "__main__":
    main()
