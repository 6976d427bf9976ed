"""One call or more of every public function, and their results as plain numbers; run as a script it writes them down.

``python -m tests.calls OUT`` runs all calls, ``... OUT few`` those that run the compiled loops, ``... OUT three`` a few
of these, and ``... OUT threads`` all of them at once, in a process in which nothing was loaded before.
"""

import dataclasses
import inspect
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

N = 40


def make_data():
    rng = np.random.default_rng(12)
    X = rng.standard_normal((N, 2))
    X[N // 2 :] += 2.5
    return X, np.repeat(["a", "b"], N // 2), np.arange(N) % 3


def make_calls(exponent=0):
    """Name -> call without arguments; a name begins with that of the function. Data are scaled by 2**exponent."""
    import pandas as pd

    import energystats as es

    X, g, three = make_data()
    w, right, links = 1 + X[:, 0] ** 2, X[:, 0] > 3, np.exp(-np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)))
    d = np.abs(X[:, :1] - X[:, :1].T) + 0.2 * np.abs(np.sin(9 * (X[:, 1:] - X[:, 1:].T)))
    X, few = np.ldexp(X, exponent), np.ldexp(d[:12, :12], exponent)
    one, large = np.ldexp(1.0, exponent), np.ldexp(np.random.default_rng(1).standard_normal((400, 3)), exponent)
    for array in (X, g, three, w, right, links, few, large):
        array.flags.writeable = False  # so that no call can change what it is given
    frame = pd.DataFrame({"g": g, "t": three, "x": X[:, 1]})

    @cache
    def linkage():
        made = es.energy_hclust(X)
        made.flags.writeable = False
        return made

    mixed = pd.DataFrame({"x": np.where(right, np.nan, X[:, 0]), "kind": three > 0, "g": g})
    return {
        "pairwise": lambda: es.pairwise(X, alpha=0.7),
        "pairwise large": lambda: es.pairwise(large)[:3],
        "energy_distance": lambda: es.energy_distance(X[:9], X[9:], estimator="u"),
        "energy_distance groups": lambda: es.energy_distance(X, groups=g, sample_weight=w),
        "dispersion": lambda: es.dispersion(X, g, sample_weight=w),
        "energy_test": lambda: es.energy_test(X, groups=g, n_resamples=99, rng=3),
        "energy_interval": lambda: es.energy_interval(X, groups=g, n_bootstrap=39, rng=3),
        "energy_test large": lambda: es.energy_test(large, groups=np.arange(400) % 4, n_resamples=200, rng=3),
        "energy_test line": lambda: es.energy_test(X[:, 0], groups=three, statistic="f", n_resamples=999, rng=3),
        "energy_test strata": lambda: es.energy_test(
            X, groups=g, design=es.Design(strata=three), n_resamples=99, rng=3
        ),
        "energy_test cross": lambda: es.energy_test(X, groups=g, method="cross", rng=3),
        "energy_test asymptotic": lambda: es.energy_test(X, groups=g, method="asymptotic"),
        "energy_test min p": lambda: es.energy_test(X, groups=g, alpha=[0.5, 1, 2], n_resamples=99, rng=3),
        "energy_test gower": lambda: es.energy_test(mixed[["kind", "g"]], groups=three, metric="gower", rng=3),
        "disco": lambda: es.disco(X, groups=three, n_resamples=99, rng=3),
        "disco formula": lambda: es.disco(X, "~ g * x", data=frame, n_resamples=99, rng=3),
        "pairwise_tests": lambda: es.pairwise_tests(X, three, n_resamples=99, rng=3),
        "spread_test": lambda: es.spread_test(X, three, n_resamples=99, rng=3),
        "segment": lambda: es.segment(X, 3),
        "segment_test": lambda: es.segment_test(X, n_resamples=99, rng=3),
        "segment_test large": lambda: es.segment_test(large, max_breaks=1, n_resamples=99, rng=3),
        "segment_test blocks": lambda: es.segment_test(X, block_length=5, n_resamples=99, rng=3),
        "mmd2": lambda: es.mmd2(X[:9], X[9:]),
        "mmd_test": lambda: es.mmd_test(X[:9], X[9:], n_resamples=99, rng=3),
        "normality_test": lambda: es.normality_test(X, n_resamples=99, rng=3),
        "goodness_of_fit": lambda: es.goodness_of_fit(
            X, lambda n, r: one * r.normal(size=(n, 2)), n_resamples=19, rng=3
        ),
        "energy_power": lambda: es.energy_power(X[:20], X[20:], [5, 9], n_replicates=9, n_resamples=19, rng=3),
        "energy_cluster": lambda: es.energy_cluster(X, 3, n_init=3, algorithm=es.Hartigan(n_perturb=2), rng=3),
        "energy_cluster large": lambda: es.energy_cluster(large, 3, n_init=2, rng=3),
        "energy_cluster lloyd": lambda: es.energy_cluster(X, 3, algorithm="lloyd", n_init=3, rng=3),
        "energy_cluster spectral": lambda: es.energy_cluster(X, 3, algorithm="spectral", n_init=3, rng=3),
        "energy_cluster gower": lambda: es.energy_cluster(mixed, 3, metric="gower", n_init=3, rng=3),
        "EnergyClustering": lambda: es.EnergyClustering(3, random_state=3, n_init=2).fit(X).predict(1.1 * X),
        "cluster_1d": lambda: es.cluster_1d(X[:, 0], 4),
        "cluster_1d squares": lambda: es.cluster_1d(X[:, 0], 4, alpha=2),
        "energy_hclust": lambda: es.energy_hclust(X),
        "plot_dendrogram": lambda: len(es.plot_dendrogram(linkage()).collections),
        "spectral_embedding": lambda: es.spectral_embedding(X).eigenvalues,
        "graph_partition": lambda: es.graph_partition(links, 3, rng=3),
        "select_k": lambda: es.select_k(X, 4, n_resamples=9, n_init=2, rng=3),
        "select_k eigengap": lambda: es.select_k(X, 4, "eigengap", n_init=2, rng=3),
        "select_k significance": lambda: es.select_k(X[:, 0], 3, "significance", n_init=2, rng=3),
        "cluster_stability": lambda: es.cluster_stability(X, 3, n_resamples=9, n_init=2, rng=3),
        "cluster_tree": lambda: es.cluster_tree(X, n_resamples=49, n_splits=2, rng=3),
        "cluster_test": lambda: es.cluster_test(X, n_resamples=29, n_splits=2, rng=3),
        "cluster_test k": lambda: es.cluster_test(X, 3, n_resamples=29, n_splits=2, rng=3),
        "cluster_test line": lambda: es.cluster_test(X[:, 0], n_resamples=49, rng=3),
        "cluster_test refit": lambda: es.cluster_test(X, method="refit", n_resamples=19, rng=3),
        "cluster_test gaussian": lambda: es.cluster_test(X, method="refit", null="gaussian", n_resamples=19, rng=3),
        "cluster_test independent": lambda: es.cluster_test(
            X, method="refit", null="independent", n_resamples=19, rng=3
        ),
        "cluster_test crossfit": lambda: es.cluster_test(X, method="crossfit", n_resamples=19, n_splits=2, rng=3),
        "validate_clusters": lambda: es.validate_clusters(X, 2, outside=three, n_resamples=29, rng=3),
        "silhouette": lambda: es.silhouette(X, three, kind="energy"),
        "clustering_accuracy": lambda: es.clustering_accuracy(g, three),
        "compare_euclidizations": lambda: es.compare_euclidizations(few, 2, rng=3).to_frame(),
        "negative_type": lambda: es.negative_type(few),
        "is_euclidean": lambda: es.is_euclidean(few),
        "lingoes": lambda: es.lingoes(few),
        "cailliez": lambda: es.cailliez(few),
        "clip_spectrum": lambda: es.clip_spectrum(few),
        "flip_spectrum": lambda: es.flip_spectrum(few),
        "lingoes_kernel": lambda: es.lingoes_kernel(one - few),
        "nearest_psd": lambda: es.nearest_psd(few.max() - few),
        "principal_coordinates": lambda: es.principal_coordinates(few),
        "kernel_pca": lambda: es.kernel_pca(X, kernel="gaussian"),
        "distance_kernel": lambda: es.distance_kernel(few),
        "kernel_distance": lambda: es.kernel_distance(one - few),
        "center_kernel": lambda: es.center_kernel(one - few),
        "equivalent_kernels": lambda: es.equivalent_kernels(one - few, one + few),
    }


LOOPS = ("energy_test large", "energy_test line", "disco formula", "energy_cluster", "energy_cluster lloyd",
         "energy_cluster spectral", "cluster_1d squares", "cluster_test line", "pairwise large",
         "cluster_test crossfit", "cluster_test k", "goodness_of_fit", "cluster_1d", "energy_hclust")  # fmt: skip


def flat(value, path=""):
    """Name -> array of everything that a result holds."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {entry.name: getattr(value, entry.name) for entry in dataclasses.fields(value)}
    elif type(value).__name__ == "DataFrame":
        value = {str(name): column.tolist() for name, column in value.items()}
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, tuple | list) and any(not isinstance(entry, int | float | str) for entry in value):
        parts = enumerate(value)
    else:
        plain = value is None or isinstance(value, int | float | str | tuple | list | np.ndarray | np.generic)
        return {path: np.asarray(value) if plain and value is not None else np.asarray(repr(value))}
    return {name: array for key, part in parts for name, array in flat(part, f"{path}.{key}").items()}


def run(names=None, threads=1):
    """The numbers of all calls, or of some; from several threads at once, those that draw nothing."""
    calls = make_calls()
    if threads == 1:
        return {name: flat(calls[name]()) for name in names or calls}
    names = [name for name in calls if name != "plot_dendrogram"]  # matplotlib's figures belong to one thread
    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(names, pool.map(lambda name: flat(calls[name]()), names), strict=True))


@cache
def alone(name):
    """The numbers of one call, made once in this process, when nothing else is computed."""
    return flat(make_calls()[name]())


def same_bits(first, second):
    """List the numbers that differ in a single bit."""
    return [
        f"{call}{path}"
        for call, found in first.items()
        for path in found
        if pickle.dumps((found[path].dtype.str, found[path].tolist()))
        != pickle.dumps((second[call][path].dtype.str, second[call][path].tolist()))
    ]


FORMULA = ("energy_test cross", "energy_test asymptotic")  # p-values from a fitted distribution, not from counts
CHOSEN = ("pvalue", "labels", "sizes", "breaks", "method", "rank", ".k", "n_resamples")


def same_numbers(first, second, rel=1e-12):
    """List the numbers that differ by more than rounding; p-values and labels must be equal."""
    bad = []
    for call, found in first.items():
        scale = max((float(np.abs(a).max()) for a in found.values() if a.dtype.kind == "f" and a.size
                     and np.isfinite(a).all()), default=1.0)  # fmt: skip
        for path, array in found.items():
            other = second[call][path]
            if array.shape != other.shape:
                bad.append(f"{call}{path}: shapes {array.shape} and {other.shape}")
            elif call in FORMULA and "pvalue" in path:
                if not np.allclose(array, other, rtol=1e-9, atol=0):
                    bad.append(f"{call}{path}: {array} and {other}")
            elif array.dtype.kind == "f" and not any(word in path for word in CHOSEN):
                if not np.allclose(array, other, rtol=rel, atol=rel * scale, equal_nan=True):
                    bad.append(f"{call}{path}: off by {np.nanmax(np.abs(array - other)):.3g} of {scale:.3g}")
            elif not np.array_equal(array, other, equal_nan=array.dtype.kind == "f"):
                bad.append(f"{call}{path}: {array} and {other}")
    return bad


def functions():
    """Names of the public functions that compute something, and of the estimator."""
    import energystats as es

    named = {name for name in es.__all__ if inspect.isfunction(getattr(es, name))}
    return (named | {"EnergyClustering"}) - {"show_versions"}


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("Agg")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        numbers = run(
            LOOPS if "few" in sys.argv[2:] else LOOPS[-3:] if "three" in sys.argv[2:] else None,
            8 if "threads" in sys.argv[2:] else 1,
        )
    warned = [(entry.category.__name__, str(entry.message)) for entry in caught]
    Path(sys.argv[1]).write_bytes(pickle.dumps((numbers, warned)))
