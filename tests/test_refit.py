"""The refit and crossfit tests against their definitions, clusterers of all kinds, and bad input."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import energystats as es
from energystats._core.kmeans_plus_plus import seeded_labels
from energystats._core.unimodal import nearest_unimodal
from energystats.cluster_tests.clusterers import EnergyClusters, _clean_labels, as_user_clusterer, explained_share
from energystats.cluster_tests.crossfit import _HeldOut
from energystats.cluster_tests.spaces import GIVEN, Space
from energystats.cluster_tests.split import _Splitter
from energystats.dissimilarity import Dissimilarity
from tests import definitions
from tests.comparisons import words
from tests.conftest import examples

METHODS = [{"method": "refit"}, {"method": "refit", "null": "gaussian"}, {"method": "crossfit"}]
NAMES = ["unimodal", "gaussian", "crossfit"]


@pytest.fixture(params=METHODS, ids=NAMES)
def how(request):
    return {**request.param, "n_resamples": 19}


@pytest.fixture
def two(rng):
    return np.concatenate((rng.normal(0, 1, (40, 2)), rng.normal(8, 1, (40, 2))))


def in_the_middle(X):
    """Two clusters, cut at the largest gap of the column that varies most: it needs no random numbers."""
    x = X[:, X.std(axis=0).argmax()]
    ascending = np.sort(x)
    gap = np.diff(ascending)[1:-1].argmax() + 1
    return (x > (ascending[gap] + ascending[gap + 1]) / 2).astype(int)


def thirds(X):
    """Three clusters by the ranks of the column that varies most."""
    return np.argsort(np.argsort(X[:, X.std(axis=0).argmax()])) * 3 // len(X)


def points_of(X):
    return Dissimilarity.from_points(np.asarray(X, dtype=float), es.metrics.Euclidean())


# ---------------------------------------------------------------- definitions


def share_by_definition(X, labels):
    R = definitions.rho_matrix(X.tolist())
    return definitions.between(R, labels.tolist()) / definitions.total(R)


def gaussian_law(X, child):
    """A sample with the mean and the covariance matrix (divisor n) of X."""
    _, directions, variances = principal(X)
    return X.mean(axis=0) + (child.standard_normal(X.shape) * np.sqrt(variances)) @ directions


def unimodal_quantiles(x, u):
    """Quantiles of the nearest unimodal distribution, whose knots are tested against their definition in test_sums."""
    x = np.sort(x)
    knots = nearest_unimodal(x)
    return np.interp(u, knots / (len(x) - 1), x[knots])


def principal(X):
    """Scores, axes, variances from the covariance matrix; the largest score of each axis is positive."""
    values, vectors = np.linalg.eigh(np.cov(X.T, ddof=0))
    scores = (X - X.mean(axis=0)) @ vectors[:, ::-1]
    signs = np.sign([column[np.abs(column).argmax()] for column in scores.T])
    return scores * signs, (vectors[:, ::-1] * signs).T, values[::-1]


def test_gaussian_refit_is_its_definition(rng):
    X = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 2)) + 5
    B, seed = 9, int(rng.integers(10**6))
    found = es.cluster_test(
        X, clusterer=in_the_middle, method="refit", null="gaussian", n_resamples=B, rng=np.random.default_rng(seed)
    )
    children = np.random.default_rng(seed).spawn(3)[2].spawn(B)
    t, e = [], []
    share = lambda Y: share_by_definition(Y, in_the_middle(Y))  # noqa: E731
    for child in children:
        Y = gaussian_law(X, child)
        t.append(share(Y))
        e.append(t[-1] - np.mean([share(gaussian_law(Y, child)) for _ in range(3)]))
    observed = share(X)
    assert_allclose(found.null_distribution, e, atol=1e-10)
    assert found.statistic == pytest.approx(observed - np.mean(t), abs=1e-10)
    pivoted, plain = found.comparisons
    assert pivoted.pvalue == found.pvalue == (1 + sum(v >= observed - np.mean(t) - 1e-12 for v in e)) / (B + 1)
    assert plain.pvalue == (1 + sum(v >= observed - 1e-12 for v in t)) / (B + 1)
    assert (plain.statistic, plain.mean) == (pytest.approx(observed), pytest.approx(np.mean(t)))


def test_unimodal_refit_is_its_definition(rng):
    X = rng.standard_normal((9, 2)) * [1, 3]
    B, seed = 9, int(rng.integers(10**6))
    found = es.cluster_test(X, clusterer=in_the_middle, method="refit", n_resamples=B, rng=np.random.default_rng(seed))
    _, _, parent = np.random.default_rng(seed).spawn(3)
    observed = share_by_definition(X, in_the_middle(X))
    scores, directions, _ = principal(X)
    pvalues = []
    for S, axes in ((scores, directions), (X - X.mean(axis=0), np.eye(2))):
        t = []
        for child in parent.spawn(B):
            Y = np.column_stack([unimodal_quantiles(column, child.random(9)) for column in S.T])
            Y = Y @ axes + X.mean(axis=0)
            t.append(share_by_definition(Y, in_the_middle(Y)))
        pvalues.append((1 + sum(v >= observed - 1e-12 for v in t)) / (B + 1))
    assert [c.pvalue for c in found.comparisons] == pvalues
    assert found.pvalue == max(pvalues)
    assert found.statistic == pytest.approx(observed)


@pytest.mark.parametrize("clusterer", [in_the_middle, thirds])
def test_crossfit_is_its_definition(clusterer, rng):
    """Mean of E over both uses of every half split, one line for two clusters and one a cluster for more."""
    X = rng.standard_normal((16, 2)) * [1, 4]
    seed = int(rng.integers(10**6))
    k = 2 if clusterer is in_the_middle else 3
    found = es.cluster_test(
        X, clusterer=clusterer, method="crossfit", n_splits=2, n_resamples=2, rng=np.random.default_rng(seed)
    )
    stream = np.random.default_rng(seed).spawn(3)[1]
    values = []
    for _ in range(2):
        order = stream.permutation(16)
        for a, b in ((order[:8], order[8:]), (order[8:], order[:8])):
            labels = clusterer(X[a])
            for j in range(k) if k > 2 else (1,):
                line = X[a][labels == j].mean(axis=0) - X[a][labels != j].mean(axis=0)
                values.append(excess_by_definition(np.sort(X[b] @ line)))
    assert found.statistic == pytest.approx(np.mean(values), abs=1e-10)


def excess_by_definition(x):
    fitted = unimodal_quantiles(x, np.arange(len(x)) / (len(x) - 1))
    return max(a - b for a, b in zip(definitions.split_profile(x), definitions.split_profile(fitted), strict=True))


@pytest.mark.parametrize("k", [2, 3])
def test_share_is_its_definition(k, rng):
    X = rng.standard_normal((10, 2))
    labels = np.append(np.arange(k), rng.integers(k, size=10 - k))
    assert explained_share(es.pairwise(X), labels) == pytest.approx(share_by_definition(X, labels))


def test_searches_of_references_end_where_no_single_move_helps(rng):
    for _ in range(20):
        k = int(rng.integers(2, 5))
        R = np.asarray(definitions.random_dissimilarity(rng, 11), dtype=float)
        labels = EnergyClusters(k).search(R, rng)
        assert sorted(set(labels.tolist())) == list(range(k))
        W = definitions.within(R, labels.tolist())
        assert all(definitions.within(R, moved) > W - 1e-9 for moved in definitions.single_moves(labels.tolist()))


def test_searches_of_references_find_the_best_partition(rng):
    R = es.pairwise(rng.standard_normal((9, 2)))
    for k in (2, 3):
        labels = EnergyClusters(k).search(R, rng)
        assert definitions.within(R, labels.tolist()) == pytest.approx(definitions.best_within(R, k))


def test_seeds_are_drawn_in_proportion_to_rho():
    """Over a fine grid of uniform numbers: the second seed, and that every point joins its nearest seed."""
    R = es.pairwise([0.0, 1.0, 3.0, 7.0])
    grid = (np.arange(1100) + 0.5) / 1100
    second = []
    for u in grid:
        labels = seeded_labels(R, np.ones(4), np.array([0.0, u]))
        second.append(next(s for s in (1, 2, 3) if (labels == (R[s] < R[0])).all()))
    assert_allclose(np.bincount(second)[1:], [100, 300, 700], atol=1)
    same = np.zeros((5, 5))
    for u in itertools.product((0.0, 0.5, np.nextafter(1, 0)), repeat=3):
        assert sorted(set(seeded_labels(same, np.ones(5), np.array(u)).tolist())) == [0, 1, 2]


def test_one_column_is_clustered_exactly(rng):
    x = rng.standard_normal((30, 1)) ** 3
    best = es.cluster_1d(x[:, 0], 3)
    energy = EnergyClusters(3)
    assert energy.share(points_of(x), rng) == pytest.approx(best.between / best.total)
    assert_array_equal(energy.labels(points_of(x), rng), best.labels)
    found = es.cluster_test(x, 3, method="refit", n_resamples=9, rng=rng)
    assert found.statistic == pytest.approx(best.between / best.total)
    assert len(found.comparisons) == 1
    assert "exact method for one column into 3" in words(found)


# ---------------------------------------------------------------- properties


@pytest.mark.slow  # the seed alone: test_any_clusterer_repeats_with_the_seed
def test_same_seed_same_bits(two, how):
    a, b = (es.cluster_test(two, 3, rng=9, **how) for _ in range(2))
    assert (a.pvalue, a.statistic, a.comparisons) == (b.pvalue, b.statistic, b.comparisons)
    assert_array_equal(a.null_distribution, b.null_distribution)
    more = es.cluster_test(two, 3, rng=9, **{**how, "n_resamples": 25})
    assert more.statistic == a.statistic or how.get("null") == "gaussian"  # which takes the mean of the references away


@pytest.mark.slow
@settings(max_examples=examples(5), deadline=None)
@given(st.integers(0, 10**6), st.integers(-8, 8))
def test_place_and_unit_do_not_matter(seed, power):
    X = np.random.default_rng(seed).standard_normal((20, 2))
    for method in METHODS:
        how = {**method, "n_resamples": 9, "rng": 1}
        a = es.cluster_test(X, **how)
        for moved in (X * 2.0**power, X + 64):
            b = es.cluster_test(moved, **how)
            assert_allclose(b.null_distribution, a.null_distribution, atol=1e-9)
            assert b.pvalue == a.pvalue


@settings(max_examples=examples(8), deadline=None)
@given(st.integers(0, 10**6))
def test_rotation_does_not_matter_to_a_gaussian_null(seed):
    """Nor does the order of the features; principal components are the same up to sign."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) * [1, 2, 4]
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    how = {"method": "refit", "null": "gaussian", "n_resamples": 9, "rng": 1}
    a = es.cluster_test(X, **how)
    for same in (X @ Q, X[:, [2, 0, 1]]):
        b = es.cluster_test(same, **how)
        assert b.pvalue == a.pvalue
        assert_allclose(b.null_distribution, a.null_distribution, atol=1e-9)
        unimodal, expected = (es.cluster_test(Y, method="refit", n_resamples=9, rng=1) for Y in (same, X))
        assert unimodal.comparisons[0].pvalue == expected.comparisons[0].pvalue  # along principal components


def test_metrics_are_fitted_to_the_data_and_columns_standardized_again(two, how, rng):
    for metric in ("gaussian", "mahalanobis", "gower"):  # fitted to points, to coordinates and to columns
        assert 0 < es.cluster_test(two[::3] + 3, metric=metric, rng=rng, **how).pvalue <= 1
    scaled = es.cluster_test(two * [1, 50], standardize=True, rng=3, **how)
    assert scaled.pvalue == es.cluster_test(two, standardize=True, rng=3, **how).pvalue


def test_wide_constant_and_tied_columns(rng, how):
    wide = rng.standard_normal((40, 50))
    assert 0 < es.cluster_test(wide, rng=rng, **how).pvalue <= 1
    flat = np.column_stack((rng.standard_normal(40), np.full(40, 3.0)))
    assert 0 < es.cluster_test(flat, rng=rng, **how).pvalue <= 1
    grid = np.repeat(np.arange(-2, 2.5, 0.5), [1, 3, 8, 11, 14, 11, 8, 3, 1])  # a gap would widen the mean step
    tied = np.column_stack([rng.permutation(grid), rng.permutation(grid)])
    if how.get("null") == "gaussian":  # for which point masses are no modes
        result = es.cluster_test(tied, rng=1, **how)
    else:
        with pytest.warns(es.TiesWarning, match=r"0.5 in column 0, 0.5 in column 1"):
            result = es.cluster_test(tied, rng=1, **how)
    assert result.jittered == (how.get("null") != "gaussian")
    assert es.cluster_test(np.ones((30, 2)), **how).pvalue == 1
    assert es.cluster_test(np.ones((30, 2)), **how).method == how["method"]


def test_separated_clusters_are_significant(two, how, rng):
    result = es.cluster_test(two, rng=rng, **how)
    assert result.pvalue == 0.05
    assert result.method == how["method"]
    assert (result.statistic > result.null_distribution).all()
    text = words(result)
    assert "not that a certain cluster, or their number, is real" in text
    assert f"Null hypothesis: {result.null_hypothesis}." in text
    gaussian = how.get("null") == "gaussian"
    assert ("one Gaussian, with any covariance" in text) == gaussian
    assert ("independent unimodal principal components" in text) != gaussian


def test_concentric_clusters_are_seen_by_a_kernel(rng):
    """Equal means: a line through them shows nothing."""
    angle, radius = 2 * np.pi * rng.random(150), np.repeat([0.0, 6.0], 75)
    X = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle))) + 0.3 * rng.standard_normal((150, 2))
    found = es.cluster_test(X, metric=es.metrics.Gaussian(2.0), method="refit", n_resamples=39, rng=rng)
    assert found.pvalue <= 0.05


def test_progress_goes_to_stderr(two, how, capsys):
    es.cluster_test(two, progress=True, rng=0, **how)
    captured = capsys.readouterr()
    assert "/19" in captured.err or "/38" in captured.err
    assert captured.out == ""


# ---------------------------------------------------------------- clusterers

ALL = [{"method": "split"}, *METHODS]


@pytest.mark.parametrize("method", ALL, ids=["split", *NAMES])
@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(2, n_init=1),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (
                GaussianMixture(2),
                AgglomerativeClustering(2),
                make_pipeline(StandardScaler(), KMeans(2, n_init=1)),
                es.EnergyClustering(2, n_init=1),
            )
        ),
        in_the_middle,
    ],
    ids=["KMeans", "GaussianMixture", "Agglomerative", "Pipeline", "EnergyClustering", "function"],
)
def test_any_clusterer_repeats_with_the_seed_and_is_left_as_it_was(method, clusterer, two):
    split = method["method"] == "split"
    how = {"n_resamples": 19 if split else 4, "n_splits": 2 if split else 1, "clusterer": clusterer, **method}
    a, b = (es.cluster_test(two, rng=5, **how) for _ in range(2))
    assert (a.pvalue, a.statistic) == (b.pvalue, b.statistic)
    assert_array_equal(a.pvalues, b.pvalues)
    assert a.pvalue <= (0.07 if split else 0.2)
    assert not hasattr(clusterer, "labels_")
    if hasattr(clusterer, "get_params"):
        assert clusterer.get_params().get("random_state") is None
    name = getattr(clusterer, "__name__", type(clusterer).__name__)
    assert f"found by {name}: 2 in" in words(a)


def test_a_clusterer_of_matrices_gets_the_square_matrix_of_the_part(two, rng):
    seen = []

    def average(R):
        seen.append(R)
        return AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(R)

    R = es.pairwise(two)
    found = es.cluster_test(R, metric="precomputed", clusterer=average, n_resamples=19, rng=2)
    assert {len(R) for R in seen} == {64, 80}
    assert all(part.shape[0] == part.shape[1] and not part.diagonal().any() for part in seen)
    assert len(seen) == 26
    linkage = AgglomerativeClustering(2, metric="precomputed", linkage="average")
    assert es.cluster_test(R, metric="precomputed", clusterer=linkage, n_resamples=19, rng=2).pvalue == found.pvalue
    points = es.cluster_test(two, clusterer=AgglomerativeClustering(2, linkage="average"), n_resamples=19, rng=2)
    assert points.pvalue == found.pvalue


@pytest.mark.parametrize("method", ALL, ids=["split", *NAMES])
@pytest.mark.parametrize(
    "nothing",
    [lambda X: np.zeros(len(X)), lambda X: np.full(len(X), -1), lambda X: -np.ones(len(X))],
    ids=["one cluster", "noise", "float noise"],
)
def test_a_clusterer_that_finds_nothing_is_no_evidence(method, nothing, two, rng):
    found = es.cluster_test(two, clusterer=nothing, n_resamples=9, rng=rng, **method)
    assert found.pvalue == 1 if method["method"] != "split" else found.pvalue > 0.98
    assert "had fewer than two" in words(found)


def test_noise_takes_no_part(two, rng):
    """One far point, labelled noise, would turn every direction and be most of T."""

    def without_far(X):
        return np.where(X[:, 1] > 500, -1, (X[:, 0] > 4).astype(int))

    X = np.concatenate((two, [[0.0, 1000.0]]))
    d = points_of(X)
    clustering = as_user_clusterer(without_far)
    expected = share_by_definition(two, without_far(two))
    assert clustering.share(d, rng) == pytest.approx(expected)
    part, rest = np.r_[0:20, 40:60, 80], np.r_[20:40, 60:80]
    E = _HeldOut(clustering, 1).fold(d, part, rest, rng)
    line = X[40:60].mean(axis=0) - X[:20].mean(axis=0)
    assert pytest.approx(excess_by_definition(np.sort(X[rest] @ line))) == E
    asked = []

    class Recorder:
        points, ties, notes = None, (), ()

        def along(self, inside, outside):
            asked.append((set(inside.tolist()), set(outside.tolist())))
            return X[:, 0].copy()

    names = clustering.all_labels(d, rng)
    splitter = _Splitter(Space(d, Recorder()), lambda *_: None, {GIVEN: names}, 2, 9, 1.0)
    splitter.lines(splitter.space, part, clustering.labels(d.subset(part), rng), names)
    assert asked == [(set(range(20)), set(range(40, 60)))]


def test_dbscan_finds_what_it_finds(rng):
    X = np.concatenate([rng.normal(c, 0.3, (50, 2)) for c in ([0, 0], [6, 0], [0, 6])])
    result = es.cluster_test(X, clusterer=DBSCAN(eps=1.5), n_resamples=99, rng=rng)
    assert result.pvalue <= 0.05
    assert list(result.contrasts["contrast"]) == [f"cluster {j} vs rest" for j in range(3)]
    assert result.pvalues.shape == (5, 3)
    assert "found by DBSCAN: 3 in each part" in words(result)


def test_labels_of_any_kind_are_codes():
    assert _clean_labels(np.array(["b", "a", "b"]), 3).tolist() == [1, 0, 1]
    assert _clean_labels([5, -1, 2, 5], 4).tolist() == [1, -1, 0, 1]
    assert _clean_labels(np.array([True, False]), 2).tolist() == [1, 0]
    assert _clean_labels(["x", "-1"], 2).tolist() == [1, 0]
    assert _clean_labels(np.array([3, -1, 1], dtype=object), 3).tolist() == [1, -1, 0]
    for missing in ([np.nan, "a"], [None, "a"], [np.nan, 1.0]):
        with pytest.raises(ValueError, match=r"`clusterer` must label every point, got 1 missing"):
            _clean_labels(np.array(missing, dtype=object), 2)
    assert _clean_labels(pd.Series([3, 1, 3]), 3).tolist() == [1, 0, 1]
    # they were matched by position, whatever their names
    for named in (pd.Series([3, 1, 3])[[2, 0, 1]], pd.Series([3, 1, 3], index=[*"abc"])):
        with pytest.raises(ValueError, match=r"`clusterer` must return labels in the order of the points .*index is"):
            _clean_labels(named, 3)


class Plain:
    """Not of scikit-learn: nothing but fit_predict, and a state that a second call must not see."""

    calls = 0

    def fit_predict(self, X):
        self.calls += 1
        assert self.calls == 1
        return in_the_middle(X)


def test_an_object_with_nothing_but_fit_predict(two):
    plain = Plain()
    found = es.cluster_test(two, clusterer=plain, n_resamples=19, rng=1)
    assert plain.calls == 0
    assert found.pvalue == es.cluster_test(two, clusterer=in_the_middle, n_resamples=19, rng=1).pvalue


@pytest.mark.parametrize("method", ["split", "refit", pytest.param("crossfit", marks=pytest.mark.slow)])
def test_the_number_of_clusters_is_that_of_the_clusterer(two, method):
    how = {"clusterer": KMeans(3, n_init=1, random_state=0), "method": method, "n_resamples": 19, "rng": 0}
    alone, same, other = es.cluster_test(two, **how), es.cluster_test(two, 3, **how), es.cluster_test(two, 5, **how)
    said = "`k` = 5 was not used: KMeans brings its own number of clusters, here 3."
    assert (alone.k, same.k, other.k) == (3, 3, 3)
    assert alone.pvalue == same.pvalue == other.pvalue
    assert alone.notes == same.notes
    assert other.notes == (said, *alone.notes)
    assert said in words(other)


def test_one_column_leaves_the_clusterer_unused(two):
    result = es.cluster_test(two[:, 0], clusterer=KMeans(2), n_resamples=19, rng=0)
    assert result.method == "unimodal-1d"
    assert "`clusterer` was not used" in words(result)


# ---------------------------------------------------------------- bad input

X = np.random.default_rng(0).standard_normal((40, 3))


@pytest.mark.parametrize(
    ("data", "how", "error", "message"),
    [
        (X, {"null": "gaussian"}, ValueError, r'`null="gaussian"` goes with `method="refit"`, got method=\'auto\''),
        (X, {"null": "gaussian", "method": "split"}, ValueError, r"`null=\"gaussian\"` .* `method=\"refit\"`"),
        (X, {"null": "gaussian", "method": "crossfit"}, ValueError, r"`null=\"gaussian\"` .* `method=\"refit\"`"),
        (X, {"null": "normal"}, ValueError, r"`null` must be one of unimodal, gaussian, independent; got 'normal'"),
        (X, {"method": "refitt"}, ValueError, r"`method` must be one of .*Did you mean 'refit'"),
        (X, {"method": "refit", "conservative": True}, ValueError, r"`conservative` .* method='refit' has none"),
        (X[:7], {"method": "refit"}, ValueError, r"`X` must have at least 8 rows for k=2, got 7"),
        (X[:15], {"method": "crossfit"}, ValueError, r"`X` must have at least 16 rows for k=2, got 15"),
        (X[:25], {"method": "crossfit", "k": 10}, ValueError, r"`X` must have at least 26 rows for k=10, got 25"),
        (X, {"method": "refit", "k": 41}, ValueError, r"`k` must be at most 40, the number of points"),
        (np.repeat(np.eye(3), 8, axis=0), {"method": "refit", "null": "gaussian", "k": 4}, ValueError,
         r"`k` must be at most the number of distinct points, 3, got 4"),
        (es.pairwise(X), {"method": "refit", "metric": "precomputed"}, ValueError,
         r'`method="refit"` draws reference samples and needs coordinates, not a matrix; use method="split"'),
        (es.pairwise(X), {"method": "crossfit", "metric": "precomputed"}, ValueError, r"`method=\"crossfit\"` draws"),
        ((X > 0).astype(float), {"method": "refit", "metric": "hamming"}, ValueError, r"in which .* has no meaning"),
        (9 * X, {"method": "refit", "metric": es.metrics.Sine()}, ValueError, r"`metric` must have a positive total"),
        (X, {"clusterer": 3}, TypeError, r"`clusterer` must have a method `fit_predict`.* got 3 of type int"),
        (X, {"clusterer": PCA()}, TypeError, r"`clusterer` must have a method `fit_predict`.*of type PCA"),
        (X, {"clusterer": KMeans}, TypeError, r"`clusterer` must be an object, got the class; write `KMeans\(...\)`"),
        (X, {"clusterer": KMeans(2), "method": "unimodal-1d"}, ValueError, r"`clusterer` has no use in .*unimodal-1d"),
        (X, {"clusterer": lambda X: np.zeros(3)}, ValueError, r"`clusterer` must return one label .* the 40 .* got 3"),
        (X, {"clusterer": lambda X: np.zeros((len(X), 2))}, ValueError, r"`clusterer` must return .* shape \(40, 2\)"),
        (X, {"clusterer": lambda X: np.full(len(X), np.nan)}, ValueError, r"`clusterer` must label every .* got 40"),
        (X, {"clusterer": lambda X: [None, *range(1, len(X))]}, ValueError, r"`clusterer` must label every .* got 1"),
        (X, {"clusterer": lambda X: None}, ValueError, r"`clusterer` must return one label"),
        (X, {"clusterer": KMeans(35, n_init=1)}, ValueError, r"`clusterer` failed on 32 points"),
    ],
)  # fmt: skip
def test_bad_input(data, how, error, message):
    how = {"n_resamples": 9, "rng": 0, **how}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.EnergyStatsWarning)
        with pytest.raises(error, match=message):
            es.cluster_test(data, **how)


def test_mixed_columns_have_no_lines():
    import pandas as pd

    mixed = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.arange(40) % 3)})
    for method in ("refit", "crossfit"):
        with pytest.raises(ValueError, match=r"looked for along lines, and categories or missing values have none"):
            es.cluster_test(mixed, metric="gower", method=method)


def test_few_points_are_reported(rng, how):
    few = es.cluster_test(rng.standard_normal((16, 2)), rng=rng, **how)
    assert "With fewer than 20 points, here 16," in words(few)
    enough = es.cluster_test(rng.standard_normal((20, 2)), rng=rng, **how)
    assert "With fewer than 20" not in words(enough)


def test_the_plot_shows_the_null_distribution(two, how):
    import matplotlib.pyplot as plt

    result = es.cluster_test(two, rng=0, **how)
    ax = result.plot()
    assert "reference samples" in ax.get_legend_handles_labels()[1][0]
    assert ax.lines[0].get_xdata()[0] == pytest.approx(result.statistic)
    counted = sum(patch.get_height() for patch in ax.patches)
    assert counted == result.null_distribution.size
    plt.close("all")


def test_refit_says_when_numbers_of_clusters_differ(rng):
    X = np.concatenate([rng.normal(c, 0.3, (30, 2)) for c in ([0, 0], [6, 0], [0, 6])])

    def by_spread(points):
        return (points[:, 0] > 3).astype(int) + 2 * (points[:, 1] > 3)

    differ = es.cluster_test(X, clusterer=by_spread, method="refit", n_resamples=9, rng=rng)
    assert "S/T grows with the number of clusters" in words(differ)
    fixed = es.cluster_test(X, clusterer=KMeans(2, n_init=1), method="refit", n_resamples=9, rng=rng)
    assert "S/T grows" not in words(fixed)
