"""Clustering: reproducible, locally optimal, exact in one dimension, and a well-behaved scikit-learn estimator."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import energystats as es
from energystats import datasets
from energystats._core.linkage import cut_linkage
from energystats.clustering.clearer_lines import DECORRELATED, find_clearer_line
from energystats.clustering.local_search import lloyd
from energystats.clustering.partition import make_partition
from energystats.clustering.seeding import plus_plus_start, random_start
from energystats.dissimilarity import Dissimilarity
from tests.problems import problem, state_of

mpl.use("Agg")
UNSEARCHED = {"algorithm": "hartigan", "n_init": 1, "n_iter": 1, "converged": True}


@pytest.fixture
def blobs(rng):
    return np.concatenate([rng.normal(c, 1, (25, 2)) for c in ([0, 0], [7, 0], [0, 7])])


@pytest.mark.parametrize("algorithm", ["hartigan", "lloyd"])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_same_seed_same_labels(blobs, algorithm, init):
    a, b = (es.energy_cluster(blobs, 4, algorithm=algorithm, init=init, rng=5) for _ in range(2))
    assert_array_equal(a.labels, b.labels)
    assert a.within == b.within


@pytest.mark.parametrize("algorithm", ["hartigan", "lloyd"])
def test_separated_clusters_are_found(blobs, algorithm, rng):
    found = es.energy_cluster(blobs, 3, algorithm=algorithm, rng=rng)
    assert es.clustering_accuracy(np.repeat([0, 1, 2], 25), found.labels) > 0.97
    assert list(found.sizes) == sorted(found.sizes, reverse=True)


def test_numbers_are_those_of_dispersion(blobs, rng):
    found = es.energy_cluster(blobs, 3, rng=rng)
    expected = es.dispersion(blobs, found.labels)
    for name in ("within", "between", "total", "sizes"):
        assert getattr(found, name) == getattr(expected, name)
    assert_allclose(found.within_per_cluster, expected.within_per_cluster)
    assert 0 < found.tightness <= 1


def test_progress_goes_to_stderr(blobs, capsys):
    es.energy_cluster(blobs, 3, progress=True, rng=0)
    captured = capsys.readouterr()
    assert "210/210" in captured.err
    assert captured.out == ""


def test_given_labels_are_one_start(blobs):
    start = np.repeat(["x", "y", "z"], 25)
    found = es.energy_cluster(blobs, 3, init=start, n_init=7)
    assert found.n_init == 1
    again = es.energy_cluster(blobs, 3, init=found.labels)
    assert_array_equal(again.labels, found.labels)
    assert again.n_iter == 2, "one pass, and one that confirms"


def test_a_later_start_wins_only_when_it_is_lower(blobs):
    how = {"algorithm": es.Hartigan(n_perturb=0), "rng": 2}  # perturbing the best start can end anywhere
    few, many = (es.energy_cluster(blobs, 5, n_init=n, **how) for n in (1, 20))
    assert many.within <= few.within * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 75])
def test_extreme_numbers_of_clusters(blobs, k, rng):
    found = es.energy_cluster(blobs, k, rng=rng)
    assert found.sizes == ((75,) if k == 1 else (1,) * 75)
    assert found.between == pytest.approx(0 if k == 1 else found.total, abs=1e-10)
    assert np.isnan(found.tightness) if k == 1 else found.tightness == pytest.approx(1)


def test_duplicates_do_not_trap_the_search(rng):
    X = np.repeat(rng.standard_normal((6, 2)), 5, axis=0)
    found = es.energy_cluster(X, 6, rng=rng)
    assert found.within == pytest.approx(0, abs=1e-12)
    assert found.sizes == (5,) * 6


@pytest.mark.slow
def test_hartigan_improves_on_lloyd(rng):
    """A local optimum of Hartigan's method is one of Lloyd's, but not the other way round [G thm 5]."""
    better = 0
    for _ in range(30):
        X = rng.standard_normal((30, 4))
        start = random_start(30, 3, rng)
        by_lloyd = es.energy_cluster(X, 3, algorithm="lloyd", init=start)
        refined = es.energy_cluster(X, 3, algorithm="hartigan", init=by_lloyd.labels)
        back = es.energy_cluster(X, 3, algorithm="lloyd", init=refined.labels)
        assert_array_equal(back.labels, refined.labels)
        better += refined.within < by_lloyd.within - 1e-9
    assert better > 0


def test_lloyd_on_an_indefinite_rho_stays_monotone(rng):
    """Without the guard some of these cycle; with it W never ends above its start, and a warning says so."""
    guarded = 0
    for _ in range(200):
        A = rng.random((12, 12)) ** 3
        R = A + A.T
        np.fill_diagonal(R, 0)
        start = random_start(12, 3, rng)
        found = lloyd(problem(R, 3, max_iter=200), start)
        assert found.within <= state_of(R, start, 3).W + 1e-12
        assert max(np.diff(found.path)) <= 1e-12
        assert found.n_iter < 200
        guarded += found.increased
    assert guarded > 0


def indefinite_case_that_rises():
    """A matrix and a start from which an unguarded pass of Lloyd's rule raises W, found by trying seeds."""
    for seed in range(500):
        rng = np.random.default_rng(seed)
        A = rng.random((12, 12)) ** 3
        R = A + A.T
        np.fill_diagonal(R, 0)
        start = random_start(12, 3, rng)
        if lloyd(problem(R, 3, max_iter=200), start).increased:
            return R, start
    raise AssertionError("no case found")


def test_the_guard_warns():
    R, start = indefinite_case_that_rises()
    with pytest.warns(es.NotNegativeTypeWarning, match=r"would not have lowered W and was taken back"):
        guarded = es.energy_cluster(R, 3, metric="precomputed", algorithm="lloyd", init=start)
    assert not guarded.converged
    assert es.energy_cluster(R, 3, metric="precomputed", algorithm="hartigan", init=start).converged


def test_seeds_are_drawn_proportionally_to_rho(rng):
    """For points 0, 1, 10 and two seeds, {0} stands alone when the seeds are 0 and 1.

    Drawn in proportion to rho that happens with probability (1/11 + 1/10)/3 = .0636; in proportion to squared
    coordinate distances it would be .0073.
    """
    x = np.array([0.0, 1.0, 10.0])
    R = np.abs(np.subtract.outer(x, x))
    draws = [plus_plus_start(R, 2, rng) for _ in range(4000)]
    alone = sum(bool(labels[0] != labels[1]) for labels in draws)
    expected = (1 / 11 + 1 / 10) / 3
    assert abs(alone / 4000 - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 4000)


def test_random_starts_leave_no_cluster_empty(rng):
    assert all(set(random_start(5, 4, rng)) == {0, 1, 2, 3} for _ in range(50))


def test_exact_is_chosen_and_said(rng):
    x = rng.standard_normal(30)
    assert es.energy_cluster(x, 2).algorithm == "exact-1d"
    assert_array_equal(es.energy_cluster(x, 2).labels, es.cluster_1d(x).labels)
    for how in ({"alpha": 0.5}, {"metric": "gaussian"}, {"algorithm": "hartigan"}, {"init": np.arange(30) % 2}):
        assert es.energy_cluster(x, 2, rng=rng, **how).algorithm == "hartigan"


def test_exact_is_never_above_hartigan(rng):
    for _ in range(20):
        x = rng.standard_t(2, 40)
        W = es.energy_cluster(x, 2, algorithm="hartigan", rng=rng).within
        assert es.cluster_1d(x).within <= W * (1 + 1e-12)


def test_a_row_that_is_called_a_total_is_noted(rng):
    X = pd.DataFrame(rng.normal(size=(9, 2)), index=[*"abcdefgh", "Total"])
    assert (
        "A row is called 'Total'; if it is a sum of other rows, leave it out." in es.energy_cluster(X, 2, rng=0).notes
    )
    assert es.energy_cluster(X.iloc[:-1], 2, rng=0).notes == ()
    assert es.energy_cluster(X.to_numpy(), 2, rng=0).notes == ()


def test_exact_with_weights_and_ties():
    x, w = np.array([5.0, 1, 1, 5, 2]), [1, 2, 3, 4, 5]
    found = es.cluster_1d(x, sample_weight=w)
    repeated = es.cluster_1d(np.repeat(x, w))
    assert found.breaks == repeated.breaks == [3.5]
    assert found.within == pytest.approx(repeated.within)
    assert found.bound == pytest.approx(repeated.bound)
    assert found.labels.tolist() == [1, 0, 0, 1, 0]
    assert es.cluster_1d(x, 1).breaks.size == 0


@pytest.mark.slow
def test_exact_takes_a_million_points():
    x = np.random.default_rng(0).lognormal(size=10**6)
    found = es.cluster_1d(x)
    assert found.sizes == (int((x < found.breaks[0]).sum()), int((x > found.breaks[0]).sum()))
    assert found.between <= found.bound * (1 + 1e-9)


def test_standardize_and_frames(blobs, rng):
    frame = pd.DataFrame(blobs * [1, 50], columns=["a", "b"])
    found = es.energy_cluster(frame, 3, standardize=True, rng=1)
    z = (blobs - blobs.mean(axis=0)) / blobs.std(axis=0)
    assert_array_equal(found.labels, es.energy_cluster(z, 3, rng=1).labels)
    assert_allclose(found.points, z, atol=1e-12)
    ax = found.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a (z-score)", "b (z-score)")


def test_accuracy_is_the_best_matching():
    assert es.clustering_accuracy([0, 0, 1, 1, 2, 2], ["c", "c", "a", "a", "b", "b"]) == 1
    assert es.clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert es.clustering_accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25
    iris = datasets.load("iris")
    found = es.energy_cluster(iris.iloc[:, :4], 3, rng=0)
    assert es.clustering_accuracy(iris["species"], found.labels) == pytest.approx(134 / 150)


@parametrize_with_checks([es.EnergyClustering(), es.EnergyClustering(random_state=0)])
def test_scikit_learn_protocol(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.arange(7.0), r"got shape \(7,\). Reshape your data: `np.reshape\(X, \(-1, 1\)\)`"),
        (pd.Series(np.arange(7.0)), r"got shape \(7,\). Reshape your data"),
        (5.5, r"got the single value 5.5. Reshape"),
        (np.ones((2, 3, 4)), r"got shape \(2, 3, 4\). Reshape your data, so that each point is one row"),
        (np.full((4, 3), 2 + 1j), r"Complex data not supported: `X` .* got complex128 in shape \(4, 3\)"),
        (pd.DataFrame(index=range(7)), r"0 feature\(s\) \(shape=\(7, 0\)\)"),
    ],
)
def test_the_estimator_tells_the_truth_about_a_table(X, message, blobs):
    """Scikit-learn checks a stand-in for the table; its zeros are not the user's."""
    fitted = es.EnergyClustering(2, random_state=0).fit(blobs)
    for call in (es.EnergyClustering(2).fit, fitted.predict, fitted.transform, fitted.score):
        with pytest.raises(ValueError, match=message) as raised:
            call(X)
        assert "[0." not in str(raised.value)
    with pytest.raises(ValueError, match=r"squareform\(X\)` makes a matrix of a condensed vector"):
        es.EnergyClustering(2, metric="precomputed").fit(np.arange(6.0))


def test_predict_gives_back_the_fitted_labels(blobs, rng):
    for how in ({}, {"alpha": 0.5}, {"metric": "gaussian"}, {"standardize": True}, {"metric": "cityblock"}):
        model = es.EnergyClustering(3, random_state=3, **how).fit(blobs)
        assert_array_equal(model.predict(blobs), model.labels_)
    R = es.pairwise(blobs)
    model = es.EnergyClustering(3, metric="precomputed", random_state=3).fit(R)
    assert_array_equal(model.predict(R[:9]), model.labels_[:9])
    line = es.EnergyClustering(2, random_state=3).fit(blobs[:, :1])
    assert_array_equal(line.predict(blobs[:, :1]), line.labels_)


def test_a_matrix_named_by_an_object_is_cut_by_rows_and_columns(blobs):
    """So that cross-validation works, and rows of weight 0 leave the columns too."""
    R = es.pairwise(blobs)
    weights = np.ones(len(R))
    weights[:4] = 0
    by_name, by_object = (
        es.EnergyClustering(3, metric=metric, random_state=0) for metric in ("precomputed", es.metrics.Precomputed())
    )
    found = [cross_val_score(model, R, cv=3, error_score="raise") for model in (by_name, by_object)]
    assert_array_equal(*found)
    for model in (by_name, by_object):
        assert model.fit(R, sample_weight=weights).within_ == pytest.approx(
            es.energy_cluster(R[4:, 4:], 3, metric="precomputed", rng=0).within
        )


def test_the_estimator_names_its_own_parameters():
    with pytest.raises(ValueError, match="`n_clusters` must be at most the number of distinct points, 2, got 3"):
        es.EnergyClustering(3).fit(np.repeat([[0.0, 0.0], [1.0, 1.0]], 9, axis=0))
    with pytest.raises(ValueError, match="`init` must have 2 clusters, as many as `n_clusters`, got 3"):
        es.EnergyClustering(2, init=[0, 1, 2, 0]).fit(np.eye(4))


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_a_negative_rho_to_the_fitted_points_is_not_silent(blobs, method):
    R = es.pairwise(blobs)
    model = es.EnergyClustering(3, metric="precomputed", random_state=3).fit(R)
    new = R[:9].copy()
    new[0, 1], new[7, :3] = -3.0, -0.5
    with pytest.warns(es.NotNegativeTypeWarning, match=r"4 of the rho from `X` .* \(smallest -3\)") as caught:
        getattr(model, method)(new)
    assert len(caught) == 1

    low = blobs / np.abs(blobs).max()
    with pytest.warns(es.NotNegativeTypeWarning, match="of the rho from `X`"):
        getattr(es.EnergyClustering(2, metric=no_semimetric, random_state=3).fit(low), method)(100 * low)


def no_semimetric(X, Y):
    """Negative between points that lie far from 0."""
    return np.where(np.abs(X).max(axis=1)[:, None] > 2, -1.0, es.metrics.Euclidean()(X, Y))


def test_predict_is_the_smallest_energy(blobs, rng):
    """2 g(x, C_l) - g(C_l, C_l) is the energy distance from the cluster to a point mass."""
    model = es.EnergyClustering(3, random_state=3).fit(blobs)
    new = rng.normal(3, 4, (20, 2))
    parts = [blobs[model.labels_ == l] for l in range(3)]
    expected = [np.argmin([es.energy_distance(x[None], part) for part in parts]) for x in new]
    assert_array_equal(model.predict(new), expected)


def test_estimator_reports_and_clones(blobs):
    model = es.EnergyClustering(3, random_state=np.random.RandomState(4)).fit(blobs)
    assert model.within_ + model.between_ == pytest.approx(model.total_)
    assert model.between_ <= model.bound_
    assert model.partition_.n_iter == model.n_iter_
    assert clone(model).get_params()["n_clusters"] == 3


# ---------------------------------------------------------------- numbers of clusters


@st.composite
def partitions_with_ties(draw):
    """Points of a small grid, clusters of any sizes, whole weights or none."""
    n = draw(st.integers(4, 12))
    X = draw(arrays(float, (n, 2), elements=st.integers(0, 3).map(float)))
    k = draw(st.integers(1, min(4, n)))
    labels = draw(st.permutations([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))]))
    weights = draw(st.none() | arrays(float, n, elements=st.integers(1, 3).map(float)))
    return X, np.array(labels), weights, np.array(draw(st.permutations(range(n))))


def keys_of(X, labels, weights):
    """Minus the mass, W and the sum of rho to all points, of each cluster."""
    R, w = es.pairwise(X), np.ones(len(X)) if weights is None else weights
    found = []
    for j in range(labels.max() + 1):
        own = w * (labels == j)
        found.append((-own.sum(), round(own @ R @ own / (2 * own.sum()), 9), round(own @ R @ w, 9)))
    return found


@given(partitions_with_ties())
@settings(deadline=None)
def test_numbers_of_clusters_do_not_depend_on_the_order_of_rows(case):
    X, labels, weights, order = case
    k = labels.max() + 1
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    found = make_partition(d, labels, k, weights=weights, **UNSEARCHED)
    keys = keys_of(X, found.labels, weights)
    assert keys == sorted(keys)
    assert [-mass for mass, *_ in keys] == list(found.sizes if weights is None else found.masses)
    moved = None if weights is None else weights[order]
    kinds = {
        "points": d.subset(order),
        "matrix": Dissimilarity.from_data(es.pairwise(X[order]), metric="precomputed", alpha=1.0),
    }
    for other in kinds.values():
        again = make_partition(other, labels[order], k, weights=moved, **UNSEARCHED)
        untied = np.array([keys.count(keys[j]) == 1 for j in found.labels[order]])
        assert_array_equal(again.labels[untied], found.labels[order][untied])
        assert es.clustering_accuracy(again.labels, found.labels[order]) == 1
    if weights is not None:
        rows = np.repeat(np.arange(len(X)), weights.astype(int))
        again = make_partition(d.subset(rows), labels[rows], k, **UNSEARCHED)
        untied = np.array([keys.count(keys[j]) == 1 for j in found.labels[rows]])
        assert_array_equal(again.labels[untied], found.labels[rows][untied])


def test_clusters_still_tied_go_by_first_rows():
    X = np.array([[0.0, 0], [9, 0], [0, 1], [9, 1]])
    assert es.energy_cluster(X, 2, rng=0).labels.tolist() == [0, 1, 0, 1]
    assert es.energy_cluster(X[[1, 0, 2, 3]], 2, rng=0).labels.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("algorithm", ["auto", "lloyd", "spectral", "landmarks"])
def test_found_clusters_are_numbered_by_size(algorithm, rng):
    X = np.concatenate([rng.normal(c, 0.3, (size, 2)) for c, size in zip((0, 6, 12), (15, 35, 25), strict=True)])
    order = rng.permutation(75)
    found, again = (es.energy_cluster(points, 3, algorithm=algorithm, rng=0) for points in (X, X[order]))
    assert found.sizes == (35, 25, 15)
    assert_array_equal(again.labels, found.labels[order])
    weights = np.where(np.arange(75) < 15, 10.0, 1.0)
    weighted = es.energy_cluster(X, 3, algorithm=algorithm, sample_weight=weights, rng=0)
    assert weighted.sizes == (15, 35, 25)
    assert_array_equal(es.EnergyClustering(3, algorithm=algorithm, random_state=0).fit(X[order]).labels_, again.labels)


@pytest.mark.slow
def test_every_kind_of_clusters_is_numbered_by_size(rng):
    X = np.concatenate([rng.normal(c, 0.5, (size, 2)) for c, size in zip((0, 9, 18), (22, 40, 30), strict=True)])
    order = rng.permutation(92)
    tree, again = (es.cluster_tree(points, rng=0) for points in (X, X[order]))
    assert np.bincount(tree.labels).tolist() == [40, 30, 22]
    assert_array_equal(again.labels, tree.labels[order])
    assert [node.size for node in tree.nodes if node.parent == 0] == sorted(
        (node.size for node in tree.nodes if node.parent == 0), reverse=True
    )
    assert es.select_k(X, 3, n_resamples=2, rng=0).partitions[2].sizes == (40, 30, 22)
    assert np.bincount(cut_linkage(es.energy_hclust(X[order]), 3)).tolist() == [40, 30, 22]
    A = np.exp(-es.pairwise(X[order]))
    graph = es.graph_partition(A, 3, rng=0)
    assert graph.sizes == (40, 30, 22)
    assert_array_equal(graph.labels, tree.labels[order])
    compared = es.compare_euclidizations(es.pairwise(X[order]), 3, n_init=2, rng=0)
    for labels in compared.labels:
        assert np.bincount(labels).tolist() == [40, 30, 22]
    assert es.energy_cluster(X[order, 0], 3).labels.tolist() == np.searchsorted([4.5, 13.5], X[order, 0]).tolist()


# ---------------------------------------------------------------- hints at other spaces


def hint(found):
    """What the summary hints at, the same in a notebook; empty where it does not."""
    text = " ".join(found.summary().split())
    assert ("A hint, not a test" in text) == ("A hint, not a test" in found._repr_html_())
    return text[text.index("A hint") :] if "A hint" in text else ""


def long_bars(rng, n=300):
    """Two bars eight standard deviations apart and as long, which distances cut across."""
    return np.column_stack((rng.normal(0, 10, n), np.repeat([0, 8], n // 2) + rng.normal(size=n)))


@pytest.mark.parametrize("turned", [False, True])
def test_the_summary_hints_at_decorrelated_groups(rng, turned):
    X, truth = long_bars(rng), np.repeat([0, 1], 150)
    X = X @ (np.array([[0.6, 0.8], [-0.8, 0.6]]) if turned else np.eye(2))
    found = es.energy_cluster(X, 2, rng=rng)
    assert es.clustering_accuracy(truth, found.labels) < 0.7
    assert 'clearly than these clusters; `energy_cluster(X, 2, metric="mahalanobis")` looks for them.' in hint(found)
    # where clusters as given are seen by the test, too, it does not show others: the hint must not promise it
    assert "`cluster_test(X, 2)` gives one p for them and for clusters as given, and shows the latter" in hint(found)
    shown = es.energy_cluster(X, 2, metric="mahalanobis", rng=rng)
    assert es.clustering_accuracy(truth, shown.labels) > 0.95
    assert not hint(shown)


def test_the_summary_hints_at_a_single_column(rng):
    X = 10 * rng.standard_normal((200, 60))
    X[:, 7] = rng.standard_normal(200) + 9 * np.repeat([0, 1], 100)
    assert "in column 7 alone" in hint(es.energy_cluster(X, 2, rng=rng))
    frame = pd.DataFrame(X).add_prefix("x")
    assert "in x7 alone" in hint(es.energy_cluster(frame, 2, rng=rng))


@pytest.mark.slow
def test_no_hint_where_nothing_is_clearer(rng):
    three = np.concatenate([rng.normal(c, 1, (50, 2)) for c in ([0, 0], [12, 0], [6, 10])])
    for X, k in (
        (rng.standard_normal((100, 2)), 2),
        (rng.random((100, 2)), 3),
        (three, 3),
        (rng.poisson(1, (99, 3)), 2),
    ):
        assert not hint(es.energy_cluster(X, k, rng=rng))
    # two groups that the clusters shown make up
    square = rng.standard_normal((120, 2)) + np.repeat([[0, 0], [8, 0], [0, 8], [8, 8]], 30, axis=0)
    assert not hint(es.energy_cluster(square, 4, rng=rng))
    pairs = rng.standard_normal((120, 2)) + np.repeat([[0, 0], [6, 0], [30, 0], [36, 0]], 30, axis=0)
    assert not hint(es.energy_cluster(pairs, 4, rng=rng))
    X = long_bars(rng)
    # asked of searches by Euclidean distances alone, in tables of twenty rows and two columns at least
    assert not hint(es.energy_cluster(X, 1, rng=rng))
    assert not hint(es.energy_cluster(X, 2, metric="cityblock", rng=rng))
    assert not hint(es.energy_cluster(es.pairwise(X), 2, metric="precomputed", rng=rng))
    assert not hint(es.energy_cluster(X[:, 1], 2, rng=rng))
    assert not hint(es.energy_cluster(X[::20], 2, rng=rng))
    assert not hint(es.cluster_tree(X, rng=0).partition)


def test_hints_cost_a_search_nothing_and_have_no_unit(rng, monkeypatch):
    X = long_bars(rng)
    found = es.energy_cluster(X, 2, rng=0)
    for exponent in (990, -990):
        assert find_clearer_line(np.ldexp(X, exponent), found.labels, 2) == DECORRELATED
    # columns that do not vary, and rows that coincide
    assert find_clearer_line(np.column_stack((X, np.ones(300))), found.labels, 2) == DECORRELATED
    for few in (np.ones((30, 2)), np.eye(30)[:, :2]):
        assert find_clearer_line(few, np.arange(30) % 2, 2) is None

    def unasked(*_):
        raise AssertionError

    monkeypatch.setattr("energystats.clustering.partition.find_clearer_line", unasked)
    repr(es.energy_cluster(X, 2, rng=0))


def test_weights_are_told_and_tabulated(rng):
    x, w = rng.normal(size=30), rng.uniform(1, 2, 30)
    found = es.energy_cluster(x, 3, sample_weight=w, rng=0)
    assert_allclose(found.to_frame()["weight"], np.bincount(found.labels, weights=w))
    assert "weight" not in es.energy_cluster(x, 3, rng=0).to_frame()
    assert "sums of weights take the place of the sizes" in es.dispersion(x, found.labels, sample_weight=w).summary()
    assert "weights" not in es.dispersion(x, found.labels).summary()


def test_one_cluster_was_not_searched(rng):
    summary = es.energy_cluster(rng.normal(size=(10, 2)), 1, rng=0).summary()
    assert "there is no other partition" in summary
    assert "local optimum" not in summary


def test_nothing_is_proved_beside_a_row_far_away():
    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    X = np.concatenate((square, np.add(square, [10, 0]), np.add(square, [500, 0]), [[1e15, 1e15]]))
    assert "reaches its bound" not in es.energy_cluster(X, 4, rng=0).summary()


def test_a_label_of_minus_one_is_a_class_of_its_own_unless_a_clustering_made_it():
    classes, clusters = [-1, -1, 0, 0], [5, 5, 7, 7]
    assert es.clustering_accuracy(classes, clusters) == 1
    assert es.clustering_accuracy(clusters, classes) == 1


def test_rows_of_weight_zero_leave_the_other_labels_as_they_are(rng):
    """They are predicted; the others have the clusters whose W is reported, optimal or not."""
    X, w = rng.normal(size=(60, 2)), np.ones(60)
    w[:3] = 0
    for seed in range(5):
        found = es.EnergyClustering(5, algorithm="spectral", random_state=seed, n_init=1).fit(X, sample_weight=w)
        assert_array_equal(found.labels_[3:], found.partition_.labels)
