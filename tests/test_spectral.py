"""Spectral coordinates and clusters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats.clustering.spectral import _spectral_rows, cluster_rows, fill_empty, spectral_starts
from energystats.dissimilarity import Dissimilarity
from tests import definitions as slow


@pytest.fixture
def blobs(rng):
    return np.concatenate([rng.normal(c, 1, (25, 2)) for c in ([0, 0], [9, 0], [0, 9])])


@pytest.mark.parametrize("alpha", [0.5, 1, 2])
def test_embedding_without_laplacian_is_principal_coordinates(blobs, alpha):
    found = es.spectral_embedding(blobs, 4, alpha=alpha)
    coordinates = es.principal_coordinates(np.sqrt(es.pairwise(blobs, alpha=alpha)), n_components=4).coordinates
    used = coordinates.shape[1]  # two at alpha = 2
    assert_allclose(np.abs(found.embedding[:, :used]), np.abs(coordinates), atol=1e-7)
    assert_allclose(found.embedding[:, used:], 0, atol=1e-6)
    assert found.eigenvalues.size == 11
    assert (np.diff(found.eigenvalues) <= 1e-12).all()
    largest = np.abs(found.embedding).argmax(axis=0)
    assert (found.embedding[largest, range(4)] > 0).all()


def random_walk(A):
    """Eigenvalues of I - D^(-1) A, rising, and its vectors, from the unsymmetric matrix itself."""
    values, vectors = np.linalg.eig(np.eye(len(A)) - A / A.sum(axis=1)[:, None])
    order = np.argsort(values.real)
    return values.real[order], vectors.real[:, order]


@pytest.mark.parametrize("metric", ["euclidean", "exponential", "gaussian", "precomputed"])
def test_laplacian_is_the_random_walk(metric, rng):
    X = rng.standard_normal((30, 3))
    R = es.pairwise(X, metric="euclidean" if metric == "precomputed" else metric)
    found = es.spectral_embedding(R if metric == "precomputed" else X, 3, metric=metric, laplacian=True)
    bounded = metric in ("exponential", "gaussian")
    A = 1 - R / 2 if bounded else np.exp(-3 * R / np.median(R[np.triu_indices(30, 1)]))
    values, vectors = random_walk(A)
    assert_allclose(found.eigenvalues, values[:11], atol=1e-10)
    assert found.similarity.startswith("1 - rho/2" if bounded else "exp(-rho/")
    D = A.sum(axis=1)
    for j in range(3):
        u = vectors[:, j + 1] * np.sqrt(D.sum() / (vectors[:, j + 1] ** 2 @ D))
        assert_allclose(found.embedding[:, j], u * np.sign(u[np.abs(u).argmax()]), atol=1e-8)
    assert_allclose(found.embedding.T @ (D[:, None] * found.embedding), D.sum() * np.eye(3), atol=1e-7)


@pytest.mark.parametrize("laplacian", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_routes_agree(laplacian, rng, monkeypatch):
    """Tiles recomputed, tiles that are kept and a matrix at hand; none larger than a tile above the limit."""
    X = rng.standard_normal((600, 2))
    kept = es.spectral_embedding(X, laplacian=laplacian, rng=0)
    monkeypatch.setattr("energystats.pairs.tiles.STORED_UP_TO", 100)
    again = es.spectral_embedding(X, laplacian=laplacian, rng=0)
    given = es.spectral_embedding(es.pairwise(X), metric="precomputed", laplacian=laplacian, rng=0)
    for other in (again, given):
        assert_allclose(other.eigenvalues, kept.eigenvalues, rtol=1e-7, atol=1e-9)
        assert_allclose(other.embedding, kept.embedding, atol=1e-4 * np.abs(kept.embedding).max())


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_similarities_that_are_no_numbers_are_refused(rng):
    """The embedding had NaN."""
    R = es.pairwise(rng.normal(size=(30, 2)))
    R[0, 1] = R[1, 0] = -1e3 * np.median(R)
    with pytest.raises(ValueError, match=r"`laplacian` must be False .* so far below 0: exp\(-rho/.* is too large for"):
        es.spectral_embedding(R, metric="precomputed", laplacian=True)


@pytest.mark.parametrize("laplacian", [False, True])
def test_gap_of_separated_clusters(laplacian, rng):
    """At the corners of an equilateral triangle, where no direction is the first."""
    corners = 15 * np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
    found = es.spectral_embedding(np.repeat(corners, 25, axis=0) + rng.normal(size=(75, 2)), laplacian=laplacian)
    assert found.suggested_k == 3
    assert_allclose(found.eigengaps, np.abs(np.diff(found.eigenvalues)))
    assert found.gap_k[0] == (1 if laplacian else 2)


def test_edges():
    two = es.spectral_embedding([0.0, 3.0], 1, laplacian=True)
    assert (two.embedding.shape, two.suggested_k, two.eigenvalues.size) == ((2, 1), 1, 2)
    assert es.spectral_embedding(np.ones((6, 2)), laplacian=True).embedding.shape == (6, 2)
    assert es.spectral_embedding(np.ones((6, 2))).suggested_k == 1
    with pytest.raises(ValueError, match=r"`n_components` must be at most 1, one less than the points \(2\), got 2"):
        es.spectral_embedding([0.0, 3.0])
    with pytest.raises(ValueError, match="`X` must have at least two points, got 1"):
        es.spectral_embedding([[1.0, 2.0]], 1)


# ---------------------------------------------------------------- clusters


def test_rows_of_an_exact_partition_are_orthonormal():
    """Points that coincide within clusters: rows of one cluster coincide, of two are orthogonal."""
    labels = np.array([0, 1, 1, 2, 2, 2, 0])
    R = 1.0 - np.equal.outer(labels, labels)
    d = Dissimilarity.from_data(R, metric="precomputed", alpha=1.0)
    rows = _spectral_rows(d, 3)
    assert_allclose(rows @ rows.T, np.equal.outer(labels, labels), atol=1e-10)
    weights = np.array([1.0, 2, 3, 1, 5, 1, 2])
    rows = _spectral_rows(d, 3, weights)
    assert_allclose(rows @ rows.T, np.equal.outer(labels, labels), atol=1e-10)
    assert es.clustering_accuracy(labels, next(spectral_starts(d, 3, 1, np.random.default_rng(0), weights))) == 1


def test_spectral_clusters_are_reported_with_their_own_dispersions(blobs, rng):
    found = es.energy_cluster(blobs, 3, algorithm="spectral", rng=rng)
    assert es.clustering_accuracy(np.repeat([0, 1, 2], 25), found.labels) > 0.97
    expected = es.dispersion(blobs, found.labels)
    assert (found.within, found.between, found.total) == (expected.within, expected.between, expected.total)
    assert found.between <= found.bound * (1 + 1e-12)
    assert "spectral, best of 10 k-means" in found.summary()
    model = es.EnergyClustering(3, algorithm="spectral", random_state=0).fit(blobs)
    assert es.clustering_accuracy(model.labels_, found.labels) > 0.97


def test_spectral_start_is_refined(rng):
    """Single moves from spectral labels never end above them, and reach the optimum of small samples."""
    for _ in range(3):
        X = rng.standard_normal((8, 2))
        R = es.pairwise(X)
        plain = es.energy_cluster(X, 3, algorithm="spectral", rng=rng)
        start = es.energy_cluster(X, 3, init=plain.labels)
        refined = es.energy_cluster(X, 3, init="spectral", n_init=5, rng=rng)
        assert start.within <= plain.within + 1e-12
        assert slow.best_within(R.tolist(), 3) - 1e-9 <= refined.within <= 1.2 * slow.best_within(R.tolist(), 3)
        for labels in slow.single_moves(refined.labels.tolist()):
            assert slow.within(R.tolist(), labels) >= refined.within - 1e-9


def test_spectral_needs_no_stored_matrix(rng, monkeypatch):
    X = np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal(8, 1, (150, 2))])
    monkeypatch.setattr(Dissimilarity, "matrix", property(lambda self: pytest.fail("R was stored")))
    found = es.energy_cluster(X, 2, algorithm="spectral", rng=rng)
    assert sorted(found.sizes) == [150, 150]


def test_spectral_errors_and_duplicates(rng):
    X = np.repeat(rng.standard_normal((3, 2)), 4, axis=0)
    with pytest.raises(ValueError, match="`k` must be at most the number of distinct points, 3, got 4"):
        es.energy_cluster(X, 4, algorithm="spectral")
    assert es.energy_cluster(X, 3, algorithm="spectral", rng=rng).within == pytest.approx(0, abs=1e-12)
    assert es.energy_cluster(X, 1, algorithm="spectral", rng=rng).sizes == (12,)
    for init in ("random", "spectral", np.arange(12) % 3):
        with pytest.raises(ValueError, match='`init` has no use in algorithm="spectral"'):
            es.energy_cluster(X, 3, algorithm="spectral", init=init)


def test_no_cluster_is_left_empty(rng):
    rows = np.array([[0.0, 0], [0, 0], [0, 0], [1, 1]])
    assert set(cluster_rows(rows, 4, rng).tolist()) == {0, 1, 2, 3}
    assert_array_equal(fill_empty(np.array([0, 0, 0, 2]), 3, np.array([0.0, 9, 1, 5])), [0, 1, 0, 2])


def test_same_seed_same_labels(blobs):
    for how in ({"algorithm": "spectral"}, {"init": "spectral"}):
        a, b = (es.energy_cluster(blobs, 4, rng=2, **how) for _ in range(2))
        assert_array_equal(a.labels, b.labels)


def test_a_clustering_that_is_cut_off_says_so(rng):
    X = rng.normal(size=(300, 4))
    with pytest.warns(es.ConvergenceWarning, match="cut off after `max_iter`=1 passes"):
        found = es.energy_cluster(X, 4, algorithm="spectral", max_iter=1, rng=0)
    assert not found.converged
    assert es.energy_cluster(X, 4, algorithm="spectral", rng=0).converged


def test_rounding_is_no_gap():
    assert es.spectral_embedding(np.eye(8), 2, laplacian=True).suggested_k == 1
    assert es.spectral_embedding(np.eye(8), 2).suggested_k == 1
