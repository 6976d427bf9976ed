"""Silhouettes, the stability of any clusterer, and `validate_clusters`, against slow definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats.clustering.silhouette import score_points
from energystats.dissimilarity import Dissimilarity


def within(R, labels):
    """W from its definition: sum over clusters of the sum of rho inside, divided by twice the size."""
    inside = [labels == j for j in np.unique(labels[labels >= 0])]
    return sum(R[np.ix_(i, i)].sum() / (2 * i.sum()) for i in inside)


# ---------------------------------------------------------------- silhouettes


@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_margin_is_the_change_of_w_by_the_best_move(seed, alpha):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(12, 2)), np.r_[0, 1, 2, rng.integers(-1, 3, size=9)]
    R = es.pairwise(X, alpha=alpha)
    found = score_points(Dissimilarity.from_data(X, metric="euclidean", alpha=alpha), labels, 3)
    for i in range(12):
        if labels[i] < 0:
            assert np.isnan([found.margin[i], found.silhouette[i], found.energy_silhouette[i]]).all()
            continue
        moved = {}
        for j in set(range(3)) - {labels[i]}:
            other = labels.copy()
            other[i] = j
            moved[j] = within(R, other) - within(R, labels)
        assert found.margin[i] == pytest.approx(min(moved.values()), abs=1e-9)
        assert moved[int(found.neighbour[i])] == pytest.approx(min(moved.values()), abs=1e-9)
        assert np.sign(found.energy_silhouette[i]) == np.sign(np.round(found.margin[i], 12))


@given(st.integers(0, 10**6))
def test_silhouettes_of_rho_are_those_of_scikit_learn(seed):
    from sklearn.metrics import silhouette_samples

    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(15, 3)), np.r_[0, 1, 1, rng.integers(3, size=12)]
    R = es.pairwise(X)
    assert_allclose(es.silhouette(X, labels), silhouette_samples(R, labels, metric="precomputed"), atol=1e-12)
    assert_allclose(es.silhouette(R, labels, metric="precomputed"), es.silhouette(X, labels), atol=1e-9)


def test_silhouettes_of_r():
    """R: library(cluster); silhouette(as.integer(iris$Species), dist(iris[, 1:4]))."""
    iris = es.datasets.load("iris")
    found = es.silhouette(iris.drop(columns="species"), iris["species"])
    assert found.mean() == pytest.approx(0.503477440693)
    rows = [0.8464691670129, 0.0637155632704, 0.4868420953397, 0.0539722693595]
    assert_allclose(found[[0, 50, 100, 149]], rows, rtol=1e-9)


def test_silhouettes_of_points_that_coincide_are_zero():
    assert_array_equal(es.silhouette(np.ones((4, 2)), [0, 0, 1, 1]), 0)
    assert_array_equal(es.silhouette(np.ones((4, 2)), [0, 0, 1, 1], kind="energy"), 0)
    with pytest.raises(ValueError, match="`labels` must have at least two clusters, got 1"):
        es.silhouette(np.ones((4, 2)), [0, 0, 0, 0])


# ---------------------------------------------------------------- stability of any clusterer


def halves(X):
    """Cluster by the sign of the first column; points near 0 are in no cluster."""
    return np.where(np.abs(X[:, 0]) < 0.5, -1, (X[:, 0] > 0).astype(int))


def test_a_clusterer_that_does_not_look_at_the_sample_is_perfectly_stable(rng):
    X = rng.normal(size=(60, 2))
    found = es.cluster_stability(X, clusterer=halves, n_resamples=10, rng=1)
    noise = np.abs(X[:, 0]) < 0.5
    assert_array_equal(found.partition.labels < 0, noise)
    assert_array_equal(found.jaccard, 1)
    assert found.adjusted_rand == 1
    assert_array_equal(np.isnan(found.stays), noise)
    assert_array_equal(found.stays[~noise], 1)
    kept = es.dispersion(X[~noise], halves(X)[~noise])
    assert found.partition.within == pytest.approx(kept.within)
    assert "points are in no cluster" in " ".join(found.partition.summary().split())
    assert "found by halves: 2 in the data, 2 in the resamples" in " ".join(found.summary().split())


def test_points_between_clusters_stay_less_often(rng):
    from sklearn.cluster import KMeans

    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2)), [[3.0, 3.0]]])
    found = es.cluster_stability(X, clusterer=KMeans(2, n_init=2), n_resamples=30, rng=1)
    again = es.cluster_stability(X, clusterer=KMeans(2, n_init=2), n_resamples=30, rng=1)
    assert_array_equal(found.stays, again.stays)
    assert ((found.stays >= 0) & (found.stays <= 1)).all()
    assert found.stays[:80].mean() > 0.97
    assert found.stays.argmin() == 80
