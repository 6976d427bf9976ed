"""Eigenpairs from products with blocks of columns, beside the full decomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import energystats as es
from energystats._core import block_krylov, gram
from energystats._core.block_krylov import largest_by_blocks, refine_pairs
from energystats._core.gram import largest_pairs


def centred(R):
    J = np.eye(len(R)) - 1 / len(R)
    return -0.5 * J @ R @ J


def check_pairs(matrix, count):
    expected = eigh(matrix, eigvals_only=True)[::-1][:count]
    size = np.abs(expected).max()
    rough = largest_by_blocks(lambda columns: matrix @ columns, len(matrix), count, 1e-6)[1]
    for values, vectors in (
        largest_by_blocks(lambda columns: matrix @ columns, len(matrix), count),
        refine_pairs(lambda columns: matrix @ columns, rough),
    ):
        assert values == pytest.approx(expected, rel=1e-10, abs=1e-12 * size)
        assert vectors.T @ vectors == pytest.approx(np.eye(count), abs=1e-11)
    values, vectors = largest_by_blocks(lambda columns: matrix @ columns, len(matrix), count)
    assert np.abs(matrix @ vectors - vectors * values).max() <= 1e-9 * size
    if size:
        assert refine_pairs(lambda columns: matrix @ columns, np.eye(len(matrix))[:, :count]) is None


@pytest.mark.parametrize("count", [1, 3, 11])
@pytest.mark.parametrize("kind", ["cloud", "clusters", "line", "many columns"])
def test_largest_pairs_of_gram_matrices(rng, kind, count):
    n = 400
    X = {
        "cloud": rng.standard_normal((n, 5)),
        "clusters": rng.standard_normal((n, 3)) + 9 * rng.integers(0, 3, size=(n, 1)),
        "line": rng.random((n, 1)),
        "many columns": rng.standard_normal((n, 300)),
    }[kind]
    check_pairs(centred(es.pairwise(X)), count)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e250])
def test_repeated_eigenvalues_of_any_size(rng, scale):
    n = 300
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([[5.0], np.full(9, 4.0), np.full(20, 1.0), np.zeros(n - 60), np.full(30, -8.0)])
    check_pairs(scale * (Q * values) @ Q.T, 10)


@pytest.mark.parametrize("kind", ["cloud", "equal", "thirty points"])
def test_many_pairs_are_found_by_narrow_blocks(rng, kind):
    """Also where an eigenvalue repeats more often than a block is wide, and where there are fewer than are wanted."""
    n, count = 420, 60
    X = rng.standard_normal((n, 4))
    R = {
        "cloud": es.pairwise(X),
        "equal": 1 - np.eye(n),
        "thirty points": es.pairwise(X[rng.integers(30, size=n)]),
    }[kind]
    widths, G = [], centred(R)
    values, vectors = largest_by_blocks(lambda columns: widths.append(columns.shape[1]) or G @ columns, n, count)
    assert set(widths) == {54}
    assert values == pytest.approx(eigh(G, eigvals_only=True)[::-1][:count], abs=1e-12 * values[0])
    assert vectors.T @ vectors == pytest.approx(np.eye(count), abs=1e-11)


def test_matrices_of_low_rank_and_of_zeros(rng):
    n = 200
    X = rng.standard_normal((n, 3))
    check_pairs(X @ X.T, 5)
    check_pairs(np.zeros((n, n)), 2)


def test_few_products(rng):
    X, products = rng.standard_normal((800, 5)), []
    G = centred(es.pairwise(X))
    largest_by_blocks(lambda columns: products.append(columns.shape[1]) or G @ columns, 800, 3)
    assert len(products) <= 14  # Lanczos' method takes 30 to 60
    assert set(products) == {14}


def test_spectra_that_end_too_slowly_are_left_to_lanczos(monkeypatch):
    n = 500
    values = np.linspace(0, 1, n)
    times = lambda columns: values[:, None] * columns  # noqa: E731
    monkeypatch.setattr(block_krylov, "MOST_PRODUCTS", 2)
    assert block_krylov.largest_by_blocks(times, n, 3) is None
    assert largest_pairs(times, n, 3)[0] == pytest.approx(values[:-4:-1], rel=1e-9)
    assert not block_krylov.fits_blocks(100, 20)
    assert largest_pairs(lambda columns: times(np.pad(columns, ((0, 400), (0, 0))))[:100], 100, 20)[0].size == 20


# ---------------------------------------------------------------- equal eigenvalues, at which LAPACK may end early


@pytest.mark.parametrize("n", [12, 72, 100, 128, 135, 200, 256, 257, 300])
def test_points_at_equal_distances_have_their_bound(n):
    """All eigenvalues of G_c but one are 1/2: a search of LAPACK for some of them may find none (n = 135, 200, 256)."""
    R = 1 - np.eye(n)
    for count in (1, 2, 5):
        values, vectors = gram.largest_eigenpairs(lambda columns: R @ columns, np.ones(n), count)
        assert_allclose(values, np.full(count, 0.5), rtol=1e-12)
        assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-9)
        assert_allclose(centred(R) @ vectors, vectors / 2, atol=1e-9)
    found = es.energy_cluster(R, 3, metric="precomputed", n_init=1, rng=0)
    assert_allclose([found.between, found.bound, found.tightness], [1, 1, 1], rtol=1e-12)
    embedded = es.spectral_embedding(R, 2, metric="precomputed", laplacian=True)
    assert_allclose(embedded.eigenvalues[1:], embedded.eigenvalues[1], rtol=1e-12)
    chosen = es.select_k(R, 5, criterion="eigengap", metric="precomputed", rng=0)
    assert chosen.k == 2
    assert "are rounding, as of points that are equally far apart" in chosen.notes[0]


@pytest.mark.parametrize("failure", ["short", "raises"])
def test_eigenpairs_that_lapack_leaves_out_come_from_the_whole_decomposition(failure, monkeypatch, rng):
    A = rng.normal(size=(40, 40))
    G = centred(A + A.T)
    values, vectors = np.linalg.eigh(G)
    real = gram.eigh

    def ends_early(A, **how):
        if "subset_by_index" not in how:
            return real(A, **how)
        if failure == "raises" or how.get("eigvals_only"):
            raise np.linalg.LinAlgError("Internal Error.")
        return np.empty(0), np.empty((len(A), 0))

    monkeypatch.setattr(gram, "eigh", ends_early)
    some, their = gram.some_eigenpairs(G, 36, 39)
    assert_allclose(some, values[36:], atol=1e-12 * abs(values).max())
    assert_allclose(np.abs(np.sum(their * vectors[:, 36:], axis=0)), 1, atol=1e-8)
    assert_allclose(gram.some_eigenvalues(G, 0, 2), values[:3], atol=1e-12 * abs(values).max())
    assert_allclose(gram.largest_eigenvalue(G), values[-1], rtol=1e-10)
    assert_allclose(gram.smallest_pair(G)[0], values[0], rtol=1e-10)


@pytest.mark.parametrize(("n", "k"), [(40, 3), (300, 4), (300, 60)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_of_many_clusters_needs_no_eigenvectors(rng, monkeypatch, n, k, weighted):
    """They took most of the time of many clusters: 40 seconds of 41 for 600 clusters of 3,000 points."""
    X = rng.normal(size=(n, 3))
    w = rng.uniform(0.5, 2, n) if weighted else None
    R, mass = np.linalg.norm(X[:, None] - X, axis=-1), np.ones(n) if w is None else w
    share = mass / mass.sum()
    J = np.eye(n) - np.outer(np.ones(n), share)
    G = -0.5 * np.sqrt(np.outer(mass, mass)) * (J @ R @ J.T)
    expected = np.linalg.eigvalsh((G + G.T) / 2)[:-k:-1].sum()
    if gram.are_values_found_in_full(n, k - 1):
        monkeypatch.setattr(gram, "some_eigenpairs", None)
    assert es.energy_cluster(X, k, sample_weight=w, n_init=1, rng=0).bound == pytest.approx(expected, rel=1e-11)
    monkeypatch.undo()
    of_matrix = es.energy_cluster(R, k, metric="precomputed", sample_weight=w, n_init=1, rng=0)
    assert of_matrix.bound == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_fewer_positive_eigenvalues_than_asked_for_are_no_crash(rng, weighted):
    """Of rho = d**3 in the plane few eigenvalues are positive; the next ones crowd at 0, where Lanczos never ends."""
    n, k = 320, 6
    X = rng.normal(size=(n, 2))
    R = np.linalg.norm(X[:, None] - X, axis=-1) ** 3
    w = 10 ** rng.uniform(-1, 1, n) if weighted else np.ones(n)
    values, vectors = gram.largest_eigenpairs(lambda columns: R @ columns, w, k - 1)
    share = w / w.sum()
    J = np.eye(n) - np.outer(np.ones(n), share)
    G = -0.5 * np.sqrt(np.outer(w, w)) * (J @ R @ J.T)
    expected = np.linalg.eigvalsh((G + G.T) / 2)[:-k:-1]
    assert values == pytest.approx(expected, abs=1e-9 * expected[0])
    assert np.abs(G @ vectors - vectors * values).max() <= 1e-7 * expected[0]
    found = es.energy_cluster(R, k, metric="precomputed", sample_weight=w, n_init=1, rng=0)
    assert found.bound >= found.between
