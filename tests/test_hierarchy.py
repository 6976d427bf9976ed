"""Hierarchical clustering: R's energy.hclust, the definition, SciPy's conventions, and pictures of trees."""

import itertools
import warnings

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import energystats as es
from energystats._core.linkage import cut_linkage
from tests import definitions
from tests.conftest import oracles_with

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")  # of two points, by chance


def joined(Z):
    """Height of every merge and the two sets of points that it joins."""
    n = len(Z) + 1
    nodes = [frozenset([i]) for i in range(n)]
    steps = []
    for a, b, height, size in Z:
        A, B = nodes[int(a)], nodes[int(b)]
        nodes.append(A | B)
        assert size == len(A | B)
        steps.append((height, frozenset((A, B))))
    return steps


def joined_in_r(found):
    """Convert R's `merge` to a linkage: negative numbers are points, positive ones earlier merges."""
    nodes, steps = [], []
    for (a, b), height in zip(found["merge"], found["height"], strict=True):
        A, B = (frozenset([-i - 1]) if i < 0 else nodes[i - 1] for i in (a, b))
        nodes.append(A | B)
        steps.append((height, frozenset((A, B))))
    return steps


ALPHAS = [0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("alpha", ALPHAS)
@oracles_with("energy_hclust_alpha1")
def test_against_r(oracle, alpha):
    found = oracle.values.get(f"energy_hclust_alpha{alpha:g}")
    if found is None:
        assert alpha != 1
        return
    data, how = oracle.powered(alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ColumnScaleWarning)
        Z = es.energy_hclust(data, **how)
    if not oracle.record["distance_ties"]:
        expected = joined_in_r(found)
        scale = max(abs(height) for height, _ in expected)
        assert_allclose(Z[:, 2], [height for height, _ in expected], rtol=0, atol=1e-10 * scale)
        assert {pair for _, pair in joined(Z)} == {pair for _, pair in expected}
    else:  # another order of tied merges leads to other clusters: the first merges and the sum stay
        assert Z[0, 2] == pytest.approx(min(found["height"]), rel=1e-10, abs=0)
        assert Z[:, 2].sum() == pytest.approx(sum(found["height"]), rel=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [2, 3, 9, 14])
def test_against_the_definition(alpha, n, rng):
    X = rng.standard_normal((n, 2))
    expected = definitions.hierarchy(
        definitions.rho_matrix(X.tolist(), lambda x, y: definitions.euclidean(x, y, alpha))
    )
    found = joined(es.energy_hclust(X, alpha=alpha))
    assert_allclose([h for h, _ in found], [h for h, _ in expected], atol=1e-12)
    assert [pair for _, pair in found] == [pair for _, pair in expected]


def test_any_symmetric_matrix_follows_the_definition_without_inversions(rng):
    """Neither negative type nor the sign of rho matters to the recurrence."""
    for _ in range(20):
        R = definitions.random_dissimilarity(rng, 9)
        expected = definitions.hierarchy(R.tolist())
        found = joined(es.energy_hclust(R, metric="precomputed"))
        assert_allclose([h for h, _ in found], [h for h, _ in expected], atol=1e-12 * R.max())
        assert [pair for _, pair in found] == [pair for _, pair in expected]
        shifted = R - 0.5 * R.max() * (1 - np.eye(9))
        with pytest.warns(es.NotNegativeTypeWarning) as caught:
            Z = es.energy_hclust(shifted, metric="precomputed")
        assert any("SciPy refuses them" in str(w.message) for w in caught)
        assert (np.diff(Z[:, 2]) >= 0).all()
        moved = Z[:, 2] + 0.5 * R.max()  # a constant off the diagonal adds the same to every height
        assert_allclose(moved, [h for h, _ in expected], atol=1e-12 * R.max())
        assert not hierarchy.is_valid_linkage(Z)
        Z[:, 2] -= Z[0, 2]
        assert hierarchy.is_valid_linkage(Z)


@pytest.mark.parametrize("n", [40, 400])
def test_against_scipy_on_roots(n, rng):
    """For negative type it is Ward's method on sqrt(rho), whose heights are square roots of these."""
    X = rng.standard_normal((n, 3))
    for alpha in ALPHAS:
        Z = es.energy_hclust(X, alpha=alpha)
        ward = hierarchy.linkage(pdist(X) ** (alpha / 2), "ward")
        T = es.dispersion(X, np.zeros(n), alpha=alpha).total
        assert_array_equal(Z[:, [0, 1, 3]], ward[:, [0, 1, 3]])
        assert_allclose(Z[:, 2], ward[:, 2] ** 2, rtol=0, atol=1e-13 * T)


tables = st.integers(1, 25).flatmap(lambda n: st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=n, max_size=n))


@settings(deadline=None)
@given(tables, st.sampled_from(ALPHAS))
def test_properties_on_lattices(points, alpha):
    """Ties and duplicates: heights never fall, sum to 2T, and every cut dissects T."""
    X = np.array(points, dtype=float)
    n = len(X)
    Z = es.energy_hclust(X, alpha=alpha)
    assert Z.shape == (n - 1, 4)
    T = es.dispersion(X, np.zeros(n), alpha=alpha).total
    assert (np.diff(Z[:, 2]) >= 0).all()
    assert Z[:, 2].sum() == pytest.approx(2 * T, rel=1e-12, abs=1e-12)
    if n > 1:
        assert hierarchy.is_valid_linkage(Z)
        assert np.count_nonzero(Z[:, 2] == 0) == n - len(set(points))
    for k in {1, 2, n // 2, n} - {0}:
        if k <= n:
            labels = cut_linkage(Z, k)
            assert len(set(labels.tolist())) == k
            within = es.dispersion(X, labels, alpha=alpha).within
            assert 2 * within == pytest.approx(Z[: n - k, 2].sum(), rel=1e-9, abs=1e-10)


def test_one_and_two_points():
    assert es.energy_hclust([3.0]).shape == (0, 4)
    assert es.energy_hclust([3.0, 5.0]).tolist() == [[0, 1, 2, 2]]
    assert es.energy_hclust([[3.0, 4.0], [0.0, 0.0]], alpha=2).tolist() == [[0, 1, 25, 2]]


def test_input_is_left_alone_and_all_forms_agree(rng):
    X = rng.standard_normal((30, 2))
    R = es.pairwise(X)
    before = R.copy()
    Z = es.energy_hclust(R, metric="precomputed")
    assert_array_equal(R, before)
    assert_allclose(Z, es.energy_hclust(X), atol=1e-12)
    assert_allclose(es.energy_hclust(pdist(X), metric="precomputed"), Z, atol=1e-12)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_allclose(es.energy_hclust(X * [1, 7], standardize=True), es.energy_hclust(z), atol=1e-12)


def test_functions_of_scipy_work_on_it(rng):
    X = np.concatenate([rng.normal(c, 1, (20, 2)) for c in ([0, 0], [9, 0], [0, 9])])
    Z = es.energy_hclust(X)
    known = np.repeat([0, 1, 2], 20)
    assert es.clustering_accuracy(known, hierarchy.fcluster(Z, 3, "maxclust")) > 0.9
    assert es.clustering_accuracy(cut_linkage(Z, 3), hierarchy.cut_tree(Z, 3).ravel()) == 1
    cophenetic = hierarchy.cophenet(Z)
    assert cophenetic.max() == Z[-1, 2]
    assert len(hierarchy.dendrogram(Z, no_plot=True)["leaves"]) == 60


def test_refining_a_cut_never_raises_w(rng):
    lowered = 0
    for k in (2, 3, 5, 9):
        X = rng.standard_normal((60, 3))
        labels = cut_linkage(es.energy_hclust(X), k)
        refined = es.energy_cluster(X, k, init=labels)
        before = es.dispersion(X, labels).within
        assert refined.within <= before * (1 + 1e-12)
        lowered += refined.within < before * (1 - 1e-9)
    assert lowered > 0  # a cut of a tree is no local optimum


@pytest.mark.parametrize("n", [2, 30, 120, 700])
@pytest.mark.parametrize("k", [None, 2, 10])
def test_dendrograms(n, k, rng):
    import matplotlib.pyplot as plt

    if (k or 1) > n:
        return
    Z = es.energy_hclust(rng.standard_normal((n, 2)))
    before = Z.copy()
    ax = es.plot_dendrogram(Z, k=k)
    assert_array_equal(Z, before)
    drawn = sum(len(lines.get_paths()) for lines in ax.collections)
    assert drawn == (n if n <= 150 else 40) - 1
    colors = {tuple(color) for lines in ax.collections for color in lines.get_edgecolor()}
    codes = cut_linkage(Z, k or 1)
    if n <= 150:
        branched = int(np.count_nonzero(np.bincount(codes) > 1)) if k else 0
        assert len(colors) == branched + ((k or 2) > 1)  # one a cluster of several points, grey above
    if k:
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels[0] == f"cut into {k}"
        assert labels[1:] == [f"cluster {j} (n = {size})" for j, size in enumerate(np.bincount(codes))]
    plt.close("all")


def test_dendrogram_names_and_negative_heights(rng):
    import matplotlib.pyplot as plt

    names = list("abcde")
    ax = es.plot_dendrogram(es.energy_hclust(rng.standard_normal(5)), labels=names, k=5)
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == names
    R = np.full((4, 4), -1.0) + np.eye(4)
    with pytest.warns(es.NotNegativeTypeWarning):
        Z = es.energy_hclust(R, metric="precomputed")
    assert es.plot_dendrogram(Z).get_ylabel().endswith("plus 1\n(square-root scale)")
    plt.close("all")


@pytest.mark.parametrize("n", [24, 30, 40, 60])
def test_names_below_a_dendrogram_do_not_touch(n, rng):
    import matplotlib.pyplot as plt

    ax = es.plot_dendrogram(es.energy_hclust(rng.normal(size=(n, 2))), k=3, labels=[f"species {i}" for i in range(n)])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert len(boxes) == n
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    plt.close("all")


def test_a_dendrogram_says_that_names_are_left_out(rng):
    import matplotlib.pyplot as plt

    Z = es.energy_hclust(rng.normal(size=(61, 2)))
    assert es.plot_dendrogram(Z, labels=range(61)).get_xlabel() == "point, n = 61 (more than 60 are not named)"
    assert es.plot_dendrogram(Z).get_xlabel() == "point, n = 61"
    plt.close("all")


BAD_TREES = [
    (np.zeros((0, 4)), {}, ValueError, r"`Z` must be a linkage matrix of shape \(n - 1, 4\) with n >= 2, got \(0, 4\)"),
    (np.zeros((3, 3)), {}, ValueError, r"got \(3, 3\)"),
    ([[0, 2, 1, 2]], {}, ValueError, r"clusters made in earlier rows"),
    ([[0, 1, 1, 2], [0, 2, 2, 3]], {}, ValueError, r"no cluster is joined twice"),
    ([[0, 1, 2, 2], [2, 3, 1, 3]], {}, ValueError, r"heights \(column 2\) that never fall"),
    ([[0, 1, np.nan, 2]], {}, ValueError, r"`Z` must be finite"),
    ([[0, 1, 2, 2]], {"k": 3}, ValueError, r"`k` must be at most 2, the number of points, got 3"),
    ([[0, 1, 2, 2]], {"k": 1.5}, TypeError, r"`k` must be a whole number"),
    ([[0, 1, 2, 2]], {"labels": ["a"]}, ValueError, r"`labels` must have one name for each of the 2 points, got 1"),
    ("tree", {}, TypeError, r"`Z` must hold real numbers"),
]


@pytest.mark.parametrize(("Z", "how", "error", "message"), BAD_TREES)
def test_bad_trees(Z, how, error, message):
    with pytest.raises(error, match=message):
        es.plot_dendrogram(Z, **how)


def test_heights_stay_exact_at_size(rng):
    """Each height again from sums of pairs, after thousands of updates."""
    X = rng.standard_normal((1500, 2))
    R = es.pairwise(X)
    Z = es.energy_hclust(X)
    T = R.sum() / 3000
    assert abs(Z[:, 2].sum() - 2 * T) < 1e-12 * T
    steps = joined(Z)
    for height, pair in itertools.chain(steps[-30:], steps[::100]):
        A, B = (list(side) for side in pair)
        sums = [R[np.ix_(a, b)].mean() for a, b in ((A, B), (A, A), (B, B))]
        expected = len(A) * len(B) / (len(A) + len(B)) * (2 * sums[0] - sums[1] - sums[2])
        assert abs(height - expected) < 1e-12 * T
