"""Hostile inputs to every public function: a result that satisfies its invariants, or an error in words.

ENERGYSTATS_FUZZ=n gives every function n examples (5 otherwise); their number is printed at the end.
"""

import inspect
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import energystats as es
from tests.hostile import attempt, labelings, rows_in, tables

EXAMPLES = int(os.environ.get("ENERGYSTATS_FUZZ", "5"))
METRICS = ["euclidean", "cityblock", "gaussian", "exponential", "cosine", "gower", "mahalanobis", "correlation"]
METRICS += ["jaccard", "precomputed", "seuclidean", "nonsense", es.metrics.Localised(), es.metrics.Sine(0.3)]
ALPHAS = [1.0, 1.0, 0.5, 2.0, 1.5, 0, -1, 2.1, np.nan, "1", None, True]
COUNTS = [2, 3, 1, 0, -1, 5, 2.0, "2", None, 10**6, np.int64(3), True]
RESAMPLES = 5


@st.composite
def one_table(draw):
    return (draw(tables()),)


@st.composite
def one_matrix(draw):
    return (draw(tables(square=True)),)


@st.composite
def two_tables(draw):
    X = draw(tables())
    return X, X if draw(st.integers(0, 5)) == 0 else draw(tables())


@st.composite
def table_and_labels(draw):
    X = draw(tables())
    return X, draw(labelings(rows_in(X)))


@st.composite
def table_and_count(draw):
    return draw(tables()), draw(st.sampled_from(COUNTS))


@st.composite
def matrix_and_count(draw):
    return draw(tables(square=True)), draw(st.sampled_from(COUNTS))


@st.composite
def labels_twice(draw):
    n = draw(st.integers(0, 12))
    return draw(labelings(n)), draw(labelings(n))


def sampler(size, rng):
    return rng.standard_normal((size, 2))


def fitted_labels(X, k, **how):
    """With scikit-learn's own check of the table, which adds all numbers up first."""
    with np.errstate(over="ignore", invalid="ignore"):
        return es.EnergyClustering(k, n_init=2, random_state=0, **how).fit(X).labels_


FEW = {"n_resamples": RESAMPLES, "rng": 0}
CALLS = {
    "pairwise": (one_table(), es.pairwise, True),
    "pairwise of two": (two_tables(), es.pairwise, True),
    "energy_distance": (two_tables(), es.energy_distance, True),
    "energy_distance u": (two_tables(), lambda x, y, **m: es.energy_distance(x, y, estimator="u", **m), True),
    "energy_distance groups": (
        table_and_labels(),
        lambda X, g, **m: es.energy_distance(X, groups=g, **m),
        True,
    ),
    "dispersion": (table_and_labels(), es.dispersion, True),
    "energy_interval": (
        two_tables(),
        lambda x, y, **m: es.energy_interval(x, y, n_bootstrap=RESAMPLES, rng=0, **m),
        True,
    ),
    "energy_test": (two_tables(), lambda x, y, **m: es.energy_test(x, y, **FEW, **m), True),
    "energy_test groups": (table_and_labels(), lambda X, g, **m: es.energy_test(X, groups=g, **FEW, **m), True),
    "energy_test strata": (
        table_and_labels(),
        lambda X, g, **m: es.energy_test(X, groups=np.arange(rows_in(X)) % 2, design=es.Design(strata=g), **FEW, **m),
        True,
    ),
    "energy_test weights": (
        table_and_labels(),
        lambda X, w, **m: es.energy_test(X, groups=np.arange(rows_in(X)) % 2, sample_weight=w, **FEW, **m),
        True,
    ),
    "energy_test asymptotic": (
        table_and_labels(),
        lambda X, g, **m: es.energy_test(X, groups=g, method="asymptotic", **m),
        True,
    ),
    "energy_test sliced": (
        table_and_labels(),
        lambda X, g: es.energy_test(X, groups=g, method=es.Sliced(3), **FEW),
        False,
    ),
    "energy_test binned": (
        table_and_labels(),
        lambda X, g, **m: es.energy_test(X, groups=g, method=es.Binned(4), **FEW, **m),
        True,
    ),
    "disco": (table_and_labels(), lambda X, g, **m: es.disco(X, groups=g, **FEW, **m), True),
    "pairwise_tests": (table_and_labels(), lambda X, g, **m: es.pairwise_tests(X, g, **FEW, **m), True),
    "spread_test": (table_and_labels(), lambda X, g, **m: es.spread_test(X, g, **FEW, **m), True),
    "segment": (one_table(), lambda X, **m: es.segment(X, 2, min_size=1, **m), True),
    "segment_test": (one_table(), lambda X, **m: es.segment_test(X, min_size=1, **FEW, **m), True),
    "mmd2": (two_tables(), es.mmd2, False),
    "mmd_test": (two_tables(), lambda x, y: es.mmd_test(x, y, **FEW), False),
    "normality_test": (one_table(), lambda X: es.normality_test(X, **FEW), False),
    "goodness_of_fit": (one_table(), lambda X: es.goodness_of_fit(X, sampler, **FEW), False),
    "energy_power": (
        two_tables(),
        lambda x, y: es.energy_power(x, y, [3], n_replicates=2, n_resamples=19, rng=0),
        False,
    ),
    "energy_cluster": (table_and_count(), lambda X, k, **m: es.energy_cluster(X, k, n_init=2, rng=0, **m), True),
    "energy_cluster lloyd": (
        table_and_count(),
        lambda X, k, **m: es.energy_cluster(X, k, algorithm="lloyd", n_init=2, rng=0, **m),
        True,
    ),
    "energy_cluster landmarks": (
        table_and_count(),
        lambda X, k, **m: es.energy_cluster(X, k, algorithm=es.Landmarks(n_landmarks=5), n_init=2, rng=0, **m),
        True,
    ),
    "energy_cluster weights": (
        table_and_labels(),
        lambda X, w, **m: es.energy_cluster(X, 2, sample_weight=w, n_init=2, rng=0, **m),
        True,
    ),
    "energy_cluster landmarks weights": (
        table_and_labels(),
        lambda X, w: es.energy_cluster(X, 2, algorithm=es.Landmarks(n_landmarks=5), sample_weight=w, n_init=2, rng=0),
        False,
    ),
    "energy_cluster spectral": (
        table_and_count(),
        lambda X, k, **m: es.energy_cluster(X, k, algorithm="spectral", n_init=2, rng=0, **m),
        True,
    ),
    "energy_cluster matrix": (
        matrix_and_count(),
        lambda R, k: es.energy_cluster(R, k, metric="precomputed", n_init=2, rng=0),
        False,
    ),
    "cluster_1d": (table_and_count(), es.cluster_1d, False),
    "EnergyClustering": (table_and_count(), fitted_labels, True),
    "energy_hclust": (one_table(), es.energy_hclust, True),
    "cluster_test": (table_and_count(), lambda X, k: es.cluster_test(X, k, **FEW), False),
    "cluster_test refit": (table_and_count(), lambda X, k: es.cluster_test(X, k, method="refit", **FEW), False),
    "cluster_tree": (one_table(), lambda X: es.cluster_tree(X, n_resamples=39, n_splits=1, rng=0), False),
    "select_k": (table_and_count(), lambda X, k: es.select_k(X, k, n_resamples=2, n_init=1, rng=0), False),
    "cluster_stability": (table_and_count(), lambda X, k: es.cluster_stability(X, k, n_resamples=2, n_init=1), False),
    "validate_clusters": (table_and_count(), lambda X, k: es.validate_clusters(X, k, n_resamples=9, rng=0), False),
    "silhouette": (table_and_labels(), es.silhouette, True),
    "compare_euclidizations": (matrix_and_count(), lambda d, k: es.compare_euclidizations(d, k, rng=0), False),
    "clustering_accuracy": (labels_twice(), es.clustering_accuracy, False),
    "spectral_embedding": (table_and_count(), es.spectral_embedding, True),
    "graph_partition": (matrix_and_count(), lambda A, k: es.graph_partition(A, k, rng=0), False),
    "kernel_pca": (one_table(), es.kernel_pca, False),
    **{
        name: (one_matrix(), getattr(es, name), False)
        for name in (
            "is_euclidean",
            "negative_type",
            "lingoes",
            "cailliez",
            "clip_spectrum",
            "flip_spectrum",
            "lingoes_kernel",
            "nearest_psd",
            "principal_coordinates",
            "distance_kernel",
            "kernel_distance",
            "center_kernel",
        )
    },
    "equivalent_kernels": (two_tables(), es.equivalent_kernels, False),
}
NOT_FUZZED = {"plot_dendrogram", "show_versions"}  # the inputs of one are those of `energy_hclust`, the other has none


@pytest.fixture(scope="module", autouse=True)
def counted():
    yield
    print(f"\n{COUNT[0]} hostile examples, {COUNT[1]} of them with a result")  # noqa: T201


COUNT = [0, 0]


@pytest.mark.parametrize("name", CALLS)
def test_a_result_or_an_error_in_words(name, rotating_seed):
    given_by, call, takes_metric = CALLS[name]

    @seed(rotating_seed)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(given_by, st.sampled_from(METRICS), st.sampled_from(ALPHAS), st.integers(0, 4))
    def run(arguments, metric, alpha, way):
        how = (
            {"metric": metric, "alpha": alpha}
            if takes_metric and way > 3
            else {"metric": metric}
            if takes_metric and way == 3
            else {}
        )
        result = attempt(lambda *given_values: call(*given_values, **how), *arguments)
        COUNT[0] += 1
        COUNT[1] += result is not None

    before = COUNT[0]
    run()
    assert COUNT[0] > before, "no example was tried"


def test_every_public_function_is_there():
    public = {name for name in es.__all__ if inspect.isfunction(getattr(es, name)) or name == "EnergyClustering"}
    assert public - {name.partition(" ")[0] for name in CALLS} == NOT_FUZZED


def test_a_defect_is_noticed():
    """The net has no holes where it should not: each of these is caught."""
    from tests.hostile import DefectError

    X = np.ones((3, 2))

    def changes(X):
        X[0, 0] = 5

    def warns(X):
        return np.float64(1.0) / np.zeros(1)

    for call in (changes, warns, lambda X: np.array([np.nan]), lambda X: np.linalg.inv(X), lambda X: {}["a"]):
        with pytest.raises(DefectError):
            attempt(call, X.copy())
