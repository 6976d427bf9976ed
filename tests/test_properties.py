"""Properties that hold for every input, searched by hypothesis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats.dissimilarity import Dissimilarity
from tests import definitions
from tests.conftest import examples

pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")

coordinate = st.integers(-8, 8).map(float) | st.floats(-5, 5, allow_subnormal=False).map(lambda v: round(v, 3))
alphas = st.sampled_from([0.5, 1.0, 1.5, 2.0])
seeds = st.integers(0, 2**32 - 1)


@st.composite
def labelled(draw, max_n=12, max_d=3, k=None):
    n = draw(st.integers(3, max_n))
    X = draw(arrays(float, (n, draw(st.integers(1, max_d))), elements=coordinate))
    k = k or draw(st.integers(1, min(3, n)))
    labels = draw(st.permutations([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))]))
    return X, np.array(labels)


def numbers(found):
    return np.array([found.within, found.between, found.total])


@given(labelled(), alphas)
def test_dispersion_matches_its_definition(case, alpha):
    X, labels = case
    R = definitions.rho_matrix(X.tolist(), lambda x, y: definitions.euclidean(x, y, alpha))
    found = es.dispersion(X, labels, alpha=alpha)
    expected = [definitions.within(R, labels.tolist()), definitions.between(R, labels.tolist()), definitions.total(R)]
    assert_allclose(numbers(found), expected, atol=1e-12 * (1 + expected[2]))
    assert_allclose(found.within + found.between, found.total, atol=1e-12 * (1 + expected[2]))


@given(labelled(), alphas, seeds)
def test_dispersion_is_invariant(case, alpha, seed):
    """Rows in any order, any translation, any rotation; scaling by c multiplies by c**alpha."""
    X, labels = case
    rng = np.random.default_rng(seed)
    before = numbers(es.dispersion(X, labels, alpha=alpha))
    order = rng.permutation(len(X))
    rotation, _ = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))
    shift, scale = rng.uniform(-100, 100, X.shape[1]), rng.uniform(0.1, 10)
    slack = 1e-9 * (1 + before[2])
    assert_allclose(numbers(es.dispersion(X[order], labels[order], alpha=alpha)), before, atol=slack)
    assert_allclose(numbers(es.dispersion(X + shift, labels, alpha=alpha)), before, atol=slack)
    assert_allclose(numbers(es.dispersion(X @ rotation, labels, alpha=alpha)), before, atol=10 * slack)
    scaled = numbers(es.dispersion(X * scale, labels, alpha=alpha))
    assert_allclose(scaled, before * scale**alpha, atol=slack * scale**alpha)


@given(labelled(k=2), alphas, st.lists(st.integers(1, 4), min_size=12, max_size=12))
def test_integer_weights_are_repeated_rows(case, alpha, repeats):
    X, labels = case
    repeats = np.array(repeats[: len(X)])
    weighted = es.dispersion(X, labels, alpha=alpha, sample_weight=repeats)
    repeated = es.dispersion(np.repeat(X, repeats, axis=0), np.repeat(labels, repeats), alpha=alpha)
    assert_allclose(numbers(weighted), numbers(repeated), atol=1e-11 * (1 + repeated.total))
    assert_allclose(weighted.g, repeated.g, atol=1e-11 * (1 + repeated.total))
    x, y = X[labels == 0], X[labels == 1]
    a, b = repeats[labels == 0], repeats[labels == 1]
    E = es.energy_distance(x, y, alpha=alpha, sample_weight=(a, b))
    expected = es.energy_distance(np.repeat(x, a, axis=0), np.repeat(y, b, axis=0), alpha=alpha)
    assert_allclose(E, expected, atol=1e-11 * (1 + repeated.total))


@given(labelled(max_n=7))
@settings(max_examples=examples(40), deadline=None)
def test_exact_pvalue_is_exact(case):
    """Integer lattices in one dimension, where every statistic is a fraction and ties abound."""
    X, labels = case
    x = np.round(X[:, :1])
    if len(set(labels.tolist())) < 2:
        return
    R = [[definitions.Fraction(int(abs(a - b))) for b in x[:, 0]] for a in x[:, 0]]
    for name, statistic in (("between", definitions.between), ("pairwise", definitions.pairwise_statistic)):
        for shift in (0, 1000):
            found = es.energy_test(x + shift, groups=labels, statistic=name, method="exact")
            assert found.pvalue == pytest.approx(
                float(definitions.exact_pvalue(R, labels.tolist(), statistic)), abs=1e-15
            )
        assert (
            found.n_resamples
            == len(definitions.distinct_labelings(labels.tolist()))
            == found.null_distribution.size + 1
        )


@given(arrays(float, st.integers(3, 10), elements=coordinate), st.booleans(), seeds)
@settings(max_examples=examples(60), deadline=None)
def test_exact_split_is_the_best_of_all_partitions(x, weighted, seed):
    if len(np.unique(x)) < 2:
        return
    w = np.random.default_rng(seed).uniform(0.2, 3, x.size) if weighted else np.ones(x.size)
    R = [[abs(a - b) for b in x] for a in x]
    found = es.cluster_1d(x, sample_weight=w)
    best = definitions.best_within(R, 2, w.tolist())
    assert_allclose(found.within, best, atol=1e-12 * (1 + found.total))
    assert_array_equal(found.labels, (x > found.breaks[0]).astype(int))
    assert found.between <= found.bound * (1 + 1e-9) + 1e-12


@given(labelled(max_n=9), alphas, st.sampled_from(["hartigan", "lloyd"]), seeds)
@settings(max_examples=examples(60))
def test_clusters_are_local_optima(case, alpha, algorithm, seed):
    """W is that of the labels, no single move lowers it (Hartigan), and the upper bound holds."""
    X, labels = case
    k = len(set(labels.tolist()))
    if len(np.unique(X, axis=0)) < k:
        return
    found = es.energy_cluster(X, k, alpha=alpha, algorithm=algorithm, n_init=3, rng=seed)
    R = es.pairwise(X, alpha=alpha).tolist()
    assert found.converged
    assert set(found.labels) == set(range(k))
    W = definitions.within(R, found.labels.tolist())
    assert_allclose(found.within, W, atol=1e-11 * (1 + found.total))
    if algorithm == "hartigan":
        moves = [definitions.within(R, z) for z in definitions.single_moves(found.labels.tolist())]
        assert min(moves, default=np.inf) >= W - 1e-11 * (1 + found.total)
    assert found.between <= found.bound * (1 + 1e-9) + 1e-10


@given(labelled(k=2), alphas)
def test_energy_distance_is_twice_mmd_squared(case, alpha):
    """With the kernel of the semimetric itself, E = 2 MMD**2 [G 10]."""
    X, labels = case
    x, y = X[labels == 0], X[labels == 1]
    for metric in (es.metrics.Euclidean(alpha), es.metrics.Gaussian(1.3), es.metrics.Exponential(0.7)):
        K = metric.kernel
        squared = K(x, x).mean() + K(y, y).mean() - 2 * K(x, y).mean()
        assert_allclose(
            es.energy_distance(x, y, metric=metric), 2 * squared, atol=1e-10 * (1 + np.abs(X).max() ** alpha)
        )


@given(arrays(float, (12, 2), elements=coordinate), seeds)
@settings(max_examples=examples(25))
def test_shifting_rho_keeps_hartigans_path(X, seed):
    """2c more off the diagonal adds c(n - k) to W of every partition [K thm 6]."""
    R = es.pairwise(X + np.random.default_rng(seed).standard_normal(X.shape))
    shifted = R + 3.0 * (1 - np.eye(12))
    start = np.arange(12) % 3
    a = es.energy_cluster(R, 3, metric="precomputed", init=start)
    b = es.energy_cluster(shifted, 3, metric="precomputed", init=start)
    assert_array_equal(a.labels, b.labels)
    assert_allclose(b.within - a.within, 1.5 * (12 - 3), rtol=1e-9)


@given(arrays(float, (10, 2), elements=coordinate))
def test_the_matrix_is_exactly_symmetric(X):
    for metric in ("euclidean", "cityblock", "gaussian", es.metrics.Kernel("rbf", gamma=0.3)):
        d = Dissimilarity.from_data(X, metric=metric, alpha=1.0)
        assert_array_equal(d.matrix, d.matrix.T)
        assert not np.diagonal(d.matrix).any()
