"""Graph partitions against brute force, the definition, weighted kernel k-means and scikit-learn."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.metrics import adjusted_rand_score

import energystats as es
from energystats._core import laplacian
from energystats._core.laplacian import Relaxation, smallest_pairs
from energystats.clustering import graph_partition as graphs
from tests import definitions as slow
from tests.conftest import examples, sweep

mpl.use("Agg")
CUTS = ["ratio", "normalized", "association"]
quiet = pytest.mark.filterwarnings("ignore::energystats.DisconnectedGraphWarning")


def random_graph(rng, n, density=0.6, loops=False):
    A = np.triu(rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < density), 0 if loops else 1).astype(float)
    return A + np.triu(A, 1).T


def path(n):
    return np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)


@quiet
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("k", sweep([2, 3], [2]))
@pytest.mark.parametrize("init", sweep(["spectral", "k-means++", "random"], ["spectral"]))
def test_the_optimum_of_all_partitions_is_found(cut, k, init, rng):
    A = random_graph(rng, 8, 0.5, loops=True)
    best = slow.best_cut(A.tolist(), k, cut)
    found = [es.graph_partition(A, k, cut, init=init, n_init=20, rng=rng).value]
    while found[-1] != pytest.approx(best) and len(found) < 20:  # a search may miss it, again and again it must not
        found.append(es.graph_partition(A, k, cut, init=init, n_init=20, rng=rng).value)
    assert found[-1] == pytest.approx(best)
    assert len(found) < 20


@quiet
@pytest.mark.parametrize("cut", CUTS)
def test_value_is_the_definition(cut, rng):
    A = random_graph(rng, 25, 0.3, loops=True)
    weights = None if cut == "normalized" else rng.random(25) + 0.5
    found = es.graph_partition(A, 4, cut, sample_weight=weights, rng=rng)
    assert found.value == pytest.approx(slow.cut_value(A.tolist(), found.labels.tolist(), cut, weights), rel=1e-12)
    assert found.cluster_values.sum() == pytest.approx(found.value)
    assert_allclose(found.inside + found.leaving, np.bincount(found.labels, A.sum(axis=1)))
    assert sum(found.sizes) == 25
    assert min(found.sizes) > 0


@quiet
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("init", ["spectral", "k-means++", "random"])
def test_no_single_move_improves(cut, init, rng):
    A = random_graph(rng, 14, 0.4)
    found = es.graph_partition(A, 3, cut, init=init, n_init=1, rng=rng)
    sign = -1 if cut == "association" else 1
    for labels in slow.single_moves(found.labels.tolist()):
        assert sign * slow.cut_value(A.tolist(), labels, cut) >= sign * found.value - 1e-9


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(CUTS), st.floats(0, 100))
def test_every_cut_is_weighted_kernel_k_means_whatever_sigma(seed, cut, sigma):
    """W of all partitions differs from the value by one constant, so sigma moves no optimum."""
    rng = np.random.default_rng(seed)
    n, k = 8, int(rng.integers(2, 5))
    A = random_graph(rng, n, 0.7, loops=True) + np.triu(path(n)) + np.triu(path(n)).T  # no vertex without a link
    weights = None if cut == "normalized" else rng.random(n) + 0.2
    w, K = slow.graph_kernel(A, cut, sigma, weights)
    R = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
    sign = -1 if cut == "association" else 1
    constants = []
    for _ in range(6):
        labels = graphs.random_start(n, k, rng).tolist()
        constants.append(slow.within(R, labels, w.tolist()) - sign * slow.cut_value(A.tolist(), labels, cut, weights))
    assert np.ptp(constants) <= 1e-9 * (np.abs(constants).max() + sigma * n)


@quiet
@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(CUTS))
def test_no_partition_beats_the_bound(seed, cut):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    k = int(rng.integers(1, n + 1))
    A = random_graph(rng, n, rng.random(), loops=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.DisconnectedGraphWarning)
        found = es.graph_partition(A, k, cut, n_init=2, rng=rng)
    best, sign = slow.best_cut(A.tolist(), k, cut), -1 if cut == "association" else 1
    assert sign * found.bound <= sign * best + 1e-9 * (1 + abs(best))
    assert np.isnan(found.tightness) or found.tightness <= 1 + 1e-9


@quiet
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(
    "form", sweep(["csr_array", "csc_array", "coo_array", "csr_matrix", "lil_array"], ["csr_array"])
)
def test_sparse_equals_dense_to_the_last_bit(cut, form, rng):
    A = random_graph(rng, 40, 0.15, loops=True) * rng.random()
    dense, thin = (es.graph_partition(M, 4, cut, rng=3) for M in (A, getattr(sparse, form)(A)))
    assert_array_equal(dense.labels, thin.labels)
    for name in ("value", "bound", "n_iter", "sizes"):
        assert getattr(dense, name) == getattr(thin, name)
    assert_array_equal(dense.cluster_values, thin.cluster_values)


def test_repeated_and_stored_zero_entries_of_coo(rng):
    A = random_graph(rng, 12, 0.5) + path(12)
    i, j = np.nonzero(A)
    half = sparse.coo_array((np.r_[A[i, j], A[i, j], 0.0] / 2, (np.r_[i, i, 0], np.r_[j, j, 0])), shape=A.shape)
    a, b = es.graph_partition(A, 3, rng=0), es.graph_partition(half, 3, rng=0)
    assert_array_equal(a.labels, b.labels)
    assert a.value == b.value
    assert half.nnz == 2 * len(i) + 1  # the user's matrix is left alone


@pytest.mark.slow
def test_a_constant_diagonal_moves_no_partition(rng):
    """Ratio association shifts by k times it; the ratio cut does not see the diagonal at all."""
    A = random_graph(rng, 20, 0.4) + path(20)
    plain, shifted = (es.graph_partition(A + c * np.eye(20), 3, "association", rng=1) for c in (0, 64))
    assert adjusted_rand_score(plain.labels, shifted.labels) == 1
    assert shifted.value == pytest.approx(plain.value + 3 * 64)
    assert shifted.bound == pytest.approx(plain.bound + 3 * 64)
    loops = np.diag(rng.integers(0, 50, 20))
    plain, looped = (es.graph_partition(M, 3, "ratio", rng=1) for M in (A, A + loops))
    assert adjusted_rand_score(plain.labels, looped.labels) == 1  # numbers of clusters of one size depend on the loops
    assert plain.value == looped.value
    one_vertex = es.graph_partition(np.array([[2.0, 1.0], [1.0, 0.0]]), 2, "normalized", rng=0)
    assert one_vertex.value == pytest.approx(1 / 3 + 1)  # the loop counts once in the degree


def test_association_of_a_kernel_is_energy_clustering(rng):
    """On a sparse kernel matrix with negative entries: the same optimum, W + value = trace."""
    B = np.where(rng.random((9, 9)) < 0.4, rng.standard_normal((9, 9)), 0)
    K = B @ B.T
    thin = es.graph_partition(sparse.csr_array(K), 3, "association", n_init=30, rng=rng)
    R = es.kernel_distance(K)
    dense = es.energy_cluster(R, 3, metric="precomputed", n_init=50, rng=rng)
    assert np.trace(K) - thin.value == pytest.approx(slow.best_within(R.tolist(), 3))
    assert np.trace(K) - thin.value == pytest.approx(dense.within)
    assert thin.bound - thin.value == pytest.approx(dense.bound - dense.between)


def test_components(rng):
    A = np.zeros((13, 13))
    A[:6, :6], A[6:9, 6:9], A[9:12, 9:12] = path(6), path(3), path(3)
    with pytest.warns(es.DisconnectedGraphWarning, match=r"4 components \(1 of them single vertices\)"):
        found = es.graph_partition(A, 2, rng=0)
    assert found.value == found.bound == 0
    assert found.tightness == 1
    assert found.init == "components"
    assert "the value 0 is the global optimum" in found.summary()
    assert found.plot().has_data()
    assert sorted(found.sizes) == [6, 7]
    for cut in ("ratio", "normalized"):
        with pytest.warns(es.DisconnectedGraphWarning):
            deeper = es.graph_partition(A, 5, cut, n_init=20, rng=rng)
        assert deeper.value > 0
        assert deeper.bound > 0
        if cut == "normalized":  # the isolated vertex costs nothing alone
            assert deeper.value == pytest.approx(slow.cut_value(A, [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4], cut))
    with pytest.warns(es.DisconnectedGraphWarning):
        assert es.graph_partition(np.zeros((5, 5)), 3, "normalized", rng=0).value == 0
    assert es.graph_partition(np.zeros((5, 5)), 3, "association", rng=0).value == 0


@pytest.mark.parametrize("cut", CUTS)
def test_extreme_numbers_of_clusters(cut, rng):
    A = random_graph(rng, 12, 0.5) + path(12)
    one, all_alone = (es.graph_partition(A, k, cut, rng=rng) for k in (1, 12))
    assert one.value == pytest.approx(A.sum() / 12 if cut == "association" else 0)
    assert one.bound == pytest.approx(one.value, abs=1e-12)
    assert all_alone.sizes == (1,) * 12
    assert all_alone.bound == pytest.approx(all_alone.value, abs=1e-9)


def test_given_labels_are_one_start(rng):
    A = random_graph(rng, 20, 0.4) + path(20)
    found = es.graph_partition(A, 3, rng=rng)
    again = es.graph_partition(A, 3, init=found.labels, n_init=9)
    assert_array_equal(found.labels, again.labels)
    assert (again.n_init, again.init, again.n_iter) == (1, "labels", 1)
    with pytest.warns(es.ConvergenceWarning, match="`max_iter`=1"):
        es.graph_partition(path(60), 3, init=np.arange(60) % 3, max_iter=1)


@pytest.mark.slow
def test_same_seed_same_labels_and_names():
    A = random_graph(np.random.default_rng(5), 30, 0.2) + path(30)
    a, b = (es.graph_partition(A, 4, rng=7) for _ in range(2))
    assert_array_equal(a.labels, b.labels)
    names = [f"v{i}" for i in range(30)]
    assert es.graph_partition(pd.DataFrame(A, names, names), 4, rng=7).names == tuple(names)
    assert_array_equal(es.graph_partition(A > 0, 2, rng=0).labels, es.graph_partition((A > 0) * 1, 2, rng=0).labels)


BAD = path(4)
DIRECTED = np.triu(path(4))
NEGATIVE = path(4) - 3 * (np.eye(4)[::-1] * [1, 0, 0, 1])
MISSING = np.where(path(4) > 0, np.nan, 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize(
    ("A", "message"),
    [
        (DIRECTED, r"`A` must be symmetric, but entry \(0, 1\) is 1 and \(1, 0\) is 0, a difference of 1"),
        (NEGATIVE, r"`A` must not be negative, but entry \(0, 3\) is -3, and 1 other entry is negative"),
        (MISSING, r"`A` must be finite, but entry \(0, 1\) is nan, and 5 other entries are not finite"),
        (np.ones((2, 3)), r"`A` must be a square matrix, got shape \(2, 3\)"),
    ],
)
def test_bad_graphs(form, A, message):
    with pytest.raises(ValueError, match=message):
        es.graph_partition(form(A), 2)


def test_bad_options():
    for call, error, message in [
        (lambda: es.graph_partition(BAD, 5), ValueError, r"`k` must be at most 4, the number of vertices \(4\), got 5"),
        (lambda: es.graph_partition(BAD, 2, "ncut"), ValueError, "`cut` must be one of ratio, normalized, association"),
        (lambda: es.graph_partition(BAD, 2, init=[0, 0, 0, 0]), ValueError, "`init` must have 2 clusters"),
        (
            lambda: es.graph_partition(BAD, 2, "normalized", sample_weight=[1] * 4),
            ValueError,
            "whose weights are the degrees",
        ),
        (lambda: es.graph_partition(BAD, 2, sample_weight=[1, 1, 1, 0]), ValueError, "`sample_weight` must be po"),
        (lambda: es.graph_partition(BAD.astype(complex), 2), TypeError, "`A` must hold real numbers"),
        (lambda: es.graph_partition(sparse.csr_array(BAD * 1j), 2), TypeError, "`A` must hold real numbers"),
        (
            lambda: es.graph_partition(BAD, 2, rng=0).plot(kind="tree"),
            ValueError,
            "`kind` must be one of graph, matrix",
        ),
    ]:
        with pytest.raises(error, match=message):
            call()
    with pytest.raises(TypeError, match=r"what it does not store would have distance\s+0.*`graph_partition`"):
        es.energy_cluster(sparse.csr_array(BAD), 2, metric="precomputed")


def test_matrix_picture():
    import matplotlib.pyplot as plt

    ax = es.graph_partition(path(30), 3, rng=0).plot(kind="matrix")
    assert sum(len(c.get_offsets()) for c in ax.collections) == 58
    plt.close("all")


# ---------------------------------------------------------------- eigenpairs of large graphs


def relaxation_of(A, kind="ratio", k=2):
    return graphs._Objective(sparse.csr_array(A), kind, None, k).relaxation


def test_long_path_needs_the_factorisation():
    """Eigenvalues 2 - 2 cos(pi j/n), of which Lanczos' method alone would not find the smallest."""
    n = 5000
    A = sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")
    values, vectors = smallest_pairs(relaxation_of(A), 3)
    assert_allclose(values, 2 - 2 * np.cos(np.pi * np.arange(1, 4) / n), rtol=1e-6)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)


def test_vectors_of_a_zero_matrix_are_orthonormal_to_all():
    n = 600
    zero = Relaxation(lambda columns: 0 * columns, 0.0, np.ones(n) / np.sqrt(n), np.zeros(n, dtype=int))
    values, vectors = smallest_pairs(zero, 3)
    assert not values.any()
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    assert_allclose(vectors.sum(axis=0), 0, atol=1e-12)


def test_a_grid_has_repeated_small_eigenvalues():
    """A square grid of sides m has (2 - 2 cos(pi i/m)) + (2 - 2 cos(pi j/m))."""
    m = 70
    line, one = sparse.csr_array(path(m)), sparse.eye_array(m)
    A = sparse.csr_array(sparse.kron(line, one) + sparse.kron(one, line))
    side = 2 - 2 * np.cos(np.pi * np.arange(m) / m)
    expected = np.sort(np.add.outer(side, side).ravel())[1:9]
    assert_allclose(smallest_pairs(relaxation_of(A), 8)[0], expected, rtol=1e-6)


@pytest.mark.slow
def test_repeated_eigenvalues_are_all_found(rng):
    """The Laplacian of a d-dimensional cube has the eigenvalue 2j with multiplicity (d over j)."""
    A = sparse.csr_array((1, 1))
    for _ in range(10):
        A = sparse.csr_array(sparse.kron(A, sparse.eye_array(2)) + sparse.kron(sparse.eye_array(A.shape[0]), path(2)))
    values, _ = smallest_pairs(relaxation_of(A), 12)
    assert_allclose(values, [2] * 10 + [4] * 2, atol=1e-7)
    A = sparse.csr_array(sparse.block_diag([A, A]))
    problem = relaxation_of(A, "ratio")
    assert problem.pieces.max() == 1
    assert_allclose(smallest_pairs(problem, 21)[0], [2] * 20 + [4], atol=1e-7)


def test_a_factor_of_a_neighbour_graph_has_few_entries_and_the_eigenvalues(rng):
    """Pivots would break the order that keeps factors small: of 3,000 points three to four times the entries."""
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(rng.random((3000, 3)), 8)
    problem = relaxation_of(near.maximum(near.T), "normalized")
    values = {}
    for widest in (1.0, 0.0):  # a factor always, and never
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(laplacian, "WIDEST_ENVELOPE", widest)
            made = []
            patch.setattr(laplacian, "splu", lambda *a, made=made, **k: made.append(splu(*a, **k)) or made[-1])
            values[widest] = smallest_pairs(problem, 4)[0]
        assert bool(made) == bool(widest)
        assert all(factors.nnz <= 600_000 for factors in made)
    assert_allclose(values[1.0], values[0.0], atol=1e-8)


def test_large_and_small_solvers_agree(rng):
    A = random_graph(rng, 200, 0.05) + path(200)
    for kind in CUTS:
        problem = relaxation_of(A, kind)
        expected = smallest_pairs(problem, 5)[0]
        assert_allclose(smallest_pairs(problem, 5, dense_limit=10)[0], expected, atol=1e-8)


def test_a_matrix_of_zeros_has_its_pairs():
    zero = Relaxation(lambda v: 0 * v, 0.0, np.full(600, 600**-0.5), np.zeros(600, np.intp))
    values, vectors = smallest_pairs(zero, 3)
    assert_array_equal(values, 0)
    assert_allclose(vectors.sum(axis=0), 0, atol=1e-9)


# ---------------------------------------------------------------- beside scikit-learn


@pytest.mark.parametrize("name", sweep(["karate_club", "davis_southern_women", "les_miserables"], ["karate_club"]))
@pytest.mark.parametrize("k", sweep([2, 3, 5], [3]))
def test_never_above_spectral_clustering_on_real_graphs(name, k, rotating_seed):
    networkx = pytest.importorskip("networkx")
    from sklearn.cluster import SpectralClustering

    A = networkx.to_numpy_array(getattr(networkx, f"{name}_graph")())
    model = SpectralClustering(k, affinity="precomputed", random_state=rotating_seed % 2**31)
    theirs = model.fit_predict(A).tolist()
    for cut in CUTS:
        ours = es.graph_partition(A, k, cut, rng=rotating_seed).value
        peer = slow.cut_value(A.tolist(), theirs, cut)
        assert ours >= peer - 1e-9 if cut == "association" else ours <= peer + 1e-9
    with pytest.raises(TypeError, match="to_scipy_sparse_array"):
        es.graph_partition(networkx.karate_club_graph(), 2)


@pytest.mark.parametrize("cut", ["ratio", "normalized"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_of_nearly_separate_clouds_is_none(cut, k, rng):
    """Their smallest eigenvalues are as small as rounding."""
    for gap in (4, 6, 8, 10, 12):
        X = np.concatenate((rng.normal(size=(20, 2)), rng.normal([gap, 0], 1, (20, 2))))
        A = np.exp(-(es.pairwise(X) ** 2))
        np.fill_diagonal(A, 0)
        found = es.graph_partition(A, k, cut, rng=0)
        assert found.bound <= found.value * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::energystats.DisconnectedGraphWarning")
@pytest.mark.parametrize("cut", ["ratio", "association"])
def test_a_graph_without_links_has_the_best_value(cut):
    found = es.graph_partition(np.zeros((6, 6)), 2, cut, rng=1)
    assert (found.value, found.bound, found.tightness) == (0, 0, 1)
