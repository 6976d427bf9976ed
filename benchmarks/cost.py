"""Estimated and measured time of the long functions: ``python benchmarks/cost.py [WORDS IN THE NAME]``.

Run it on a quiet machine: estimates are for one. With ``--cpu`` processor time is compared, which other programs change
less; set OPENBLAS_NUM_THREADS=1 then.
"""

import os
import sys
import time
import warnings

import numpy as np

import energystats as es
from energystats import _runtime as cost


def cases():
    """Name -> call; each takes 1 to 40 seconds on two cores of 2024."""
    rng = np.random.default_rng(0)

    def X(n, d=2):
        return rng.normal(size=(n, d))

    def g(n, k=2):
        return np.arange(n) % k

    def moved(n):
        points = X(n)
        return points + 8.0 * (g(n)[:, None])

    def dissimilarity(n):
        R = es.pairwise(X(n), metric="cityblock") + 0.3 * np.abs(np.sin(np.add.outer(np.arange(n), np.arange(n))))
        np.fill_diagonal(R, 0)
        return R

    def draw(n, generator):
        return generator.normal(size=(n, 2))

    def test(n, d=2, k=2, **how):
        return lambda: es.energy_test(X(n, d), groups=g(n, k), rng=0, **how)

    def clusters(n, k=5, **how):
        return lambda: es.energy_cluster(X(n), k, rng=0, **how)

    def frame(n):
        return {"a": g(n), "b": rng.normal(size=n)}

    import pandas as pd

    return {
        "energy_test 500, 99,999": test(500, n_resamples=99_999),
        "energy_test 4,000, 9,999": test(4000, n_resamples=9999),
        "energy_test 4,000, k=5": test(4000, k=5, n_resamples=1999),
        "energy_test 15,000": test(15_000),
        "energy_test 10,000, d=20": test(10_000, d=20, n_resamples=199),
        "energy_test 20, 199,999": test(20, n_resamples=199_999, method="permutation"),
        "energy_test line 50,000": test(50_000, d=1),
        "energy_test sliced 20,000": test(20_000, method="sliced", n_resamples=199),
        "energy_test sliced, bins 200,000": test(200_000, method=es.Sliced(n_bins=256)),
        "energy_test binned 30,000": test(30_000, method="binned"),
        "energy_test asymptotic 3,000": test(3000, method="asymptotic"),
        "energy_test cross 20,000": test(20_000, method="cross"),
        "mmd_test 4,000": lambda: es.mmd_test(X(4000), groups=g(4000), n_resamples=4999, rng=0),
        "disco 10,000": lambda: es.disco(X(10_000), groups=g(10_000), rng=0),
        "disco 3,000, two terms": lambda: es.disco(X(3000), "~ a + b", data=pd.DataFrame(frame(3000)), rng=0),
        "pairwise_tests 2,000, k=4": lambda: es.pairwise_tests(X(2000), g(2000, 4), rng=0),
        "normality_test 1,000, d=10": lambda: es.normality_test(X(1000, 10), n_resamples=199, rng=0),
        "normality_test 50,000, d=1": lambda: es.normality_test(X(50_000, 1), rng=0),
        "goodness_of_fit 1,000": lambda: es.goodness_of_fit(X(1000), draw, n_resamples=49, rng=0),
        "energy_power 100 + 200": lambda: es.energy_power(X(200), X(200) + 0.2, [100, 200], rng=0),
        "energy_cluster 800": clusters(800),
        "energy_cluster 4,000": clusters(4000, algorithm=es.Hartigan(n_perturb=0)),
        "energy_cluster 4,000, k=20": clusters(4000, k=20, algorithm=es.Hartigan(n_perturb=0)),
        "energy_cluster 100, n_init=500": clusters(100, n_init=500),
        "energy_cluster lloyd 4,000": clusters(4000, algorithm="lloyd"),
        "energy_cluster spectral 3,000": clusters(3000, algorithm="spectral"),
        "energy_cluster spectral 5,000": clusters(5000, algorithm="spectral"),
        "energy_cluster landmarks 10,000": clusters(10_000, algorithm="landmarks", n_init=2),
        "energy_cluster landmarks 100,000": clusters(100_000, algorithm="landmarks", n_init=2),
        "segment 10,000, k=10": lambda: es.segment(X(10_000), 10),
        "segment cells 200,000, k=10": lambda: es.segment(X(200_000), 10),
        "segment line 15,000, k=3": lambda: es.segment(X(15_000, 1)[:, 0], 3),
        "segment_test 3,000": lambda: es.segment_test(X(3000), n_resamples=999, rng=0),
        "segment_test 8,000, 199": lambda: es.segment_test(X(8000), n_resamples=199, max_breaks=1, rng=0),
        "segment_test 500, 9,999": lambda: es.segment_test(X(500), n_resamples=9999, rng=0),
        "cluster_1d 1,000,000": lambda: es.cluster_1d(X(10**6, 1)[:, 0], 5),
        "cluster_test split 1,000": lambda: es.cluster_test(X(1000), rng=0),
        "cluster_test split 4,000": lambda: es.cluster_test(X(4000), rng=0),
        "cluster_test split 1,000, k=4": lambda: es.cluster_test(X(1000), 4, rng=0),
        "cluster_test 1-d 20,000": lambda: es.cluster_test(X(20_000, 1), rng=0),
        "cluster_test refit 500": lambda: es.cluster_test(X(500), method="refit", rng=0),
        "cluster_test refit gaussian 500": lambda: es.cluster_test(
            X(500), method="refit", null="gaussian", n_resamples=99, rng=0
        ),
        "cluster_test crossfit 500": lambda: es.cluster_test(X(500), method="crossfit", n_resamples=49, rng=0),
        "cluster_tree 1,000": lambda: es.cluster_tree(X(1000), rng=0),
        "cluster_tree 1,000, two clusters": lambda: es.cluster_tree(moved(1000), rng=0),
        "select_k gap 500": lambda: es.select_k(X(500), rng=0),
        "select_k significance 500": lambda: es.select_k(X(500), criterion="significance", rng=0),
        "cluster_stability 1,000": lambda: es.cluster_stability(X(1000), 3, n_resamples=30, rng=0),
        "energy_hclust 6,000": lambda: es.energy_hclust(X(6000)),
        "spectral_embedding 4,000": lambda: es.spectral_embedding(X(4000)),
        "spectral_embedding laplacian 4,000": lambda: es.spectral_embedding(X(4000), laplacian=True, rng=0),
        "spectral_embedding 5,000": lambda: es.spectral_embedding(X(5000)),
        "graph_partition 2,000": lambda: es.graph_partition(es.pairwise(X(2000)) < 0.3, 4, cut="association", rng=0),
        "negative_type 2,000": lambda: es.negative_type(dissimilarity(2000)),
        "lingoes 2,000": lambda: es.lingoes(dissimilarity(2000)),
        "cailliez 1,000": lambda: es.cailliez(dissimilarity(1000)),
        "clip_spectrum 1,500": lambda: es.clip_spectrum(dissimilarity(1500)),
        "principal_coordinates 1,500": lambda: es.principal_coordinates(dissimilarity(1500)),
        "compare_euclidizations 500": lambda: es.compare_euclidizations(dissimilarity(500), 3, rng=0),
        "nearest_psd 1,500": lambda: es.nearest_psd(dissimilarity(1500)),
        "pairwise 12,000": lambda: es.pairwise(X(12_000)),
    }


def watched(call, clock):
    """The largest estimate inside the call, and its time; loops are loaded before."""
    estimates = []
    kept = cost.check_work

    def noted(progress, d, *works):
        estimates.append(cost._estimate_seconds(works, cost.Rates.on_the_spot(d)))
        return kept(progress, d, *works)

    places = [module for name, module in list(sys.modules.items()) if name.startswith("energystats") and module]
    places = [module for module in places if getattr(module, "check_work", None) is kept]
    for module in places:
        module.check_work = noted
    try:
        start = clock()
        call()
        spent = clock() - start
    finally:
        for module in places:
            module.check_work = kept
    return max(estimates, default=float("nan")), spent


def main():
    """The table."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    clock = time.process_time if "--cpu" in sys.argv else time.perf_counter
    warnings.simplefilter("ignore")
    from energystats import report  # noqa: F401 (so that every module is there to be watched)

    small = np.random.default_rng(1).normal(size=(60, 2))
    for name in dir(es):
        getattr(es, name)
    es.cluster_test(small, rng=0)
    es.energy_cluster(small, 3, rng=0)
    es.energy_test(np.repeat(small, 50, axis=0), groups=np.arange(3000) % 2, n_resamples=199, rng=0)
    es.energy_test(np.repeat(small[:, 0], 50), groups=np.arange(3000) % 2, n_resamples=199, rng=0)
    es.energy_hclust(small)
    es.graph_partition(es.pairwise(small), 2, rng=0)
    es.energy_cluster(small, 3, algorithm=es.Landmarks(n_landmarks=20), rng=0)
    print(f"| call | estimated s | measured s | ratio |   load {os.getloadavg()[0]:.1f}")
    for name, call in cases().items():
        if not words or any(word in name for word in words):
            estimate, spent = watched(call, clock)
            print(f"| {name:36s} | {estimate:7.2f} | {spent:7.2f} | {estimate / spent:5.2f} |", flush=True)


if __name__ == "__main__":
    main()
