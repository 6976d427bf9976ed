"""The cluster tests: what they answer, that they repeat, and their pieces. Level and power are slow tests."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

import energystats as es
from energystats import datasets
from energystats._core.pvalues import cauchy_combination, over_contrasts, smallest_weighted
from energystats._core.unimodal import EXCESS
from energystats.cluster_tests import split
from energystats.cluster_tests.bent_clouds import note_bent_cloud
from energystats.cluster_tests.data_notes import are_directions
from energystats.cluster_tests.reference_samples import GaussianReference
from energystats.cluster_tests.scores import CoordinateScorer, _DistanceScorer, make_scorer
from energystats.cluster_tests.spaces import DECORRELATED, GIVEN, Space, clearest_columns, decorrelated, spaces_of
from energystats.cluster_tests.split import (
    STEADY,
    STEADY_IF_NAMED,
    _clearest_space,
    _oriented,
    _Outcome,
    _partners,
    _Splitter,
    enough_draws,
)
from energystats.cluster_tests.unimodality import Unimodality, unimodality_along_lines, unimodality_test
from energystats.display.numbers import p_text
from energystats.dissimilarity import Dissimilarity
from tests.comparisons import words
from tests.conftest import sweep


@pytest.fixture
def two(rng):
    return np.concatenate((rng.normal(0, 1, (60, 2)), rng.normal(7, 1, (60, 2))))


@pytest.mark.parametrize("k", [2, 3])
def test_same_seed_same_result(two, k):
    a, b = (es.cluster_test(two, k, n_resamples=49, n_splits=2, rng=9) for _ in range(2))
    assert (a.pvalue, a.statistic) == (b.pvalue, b.statistic)
    assert_array_equal(a.pvalues, b.pvalues)
    assert (a.contrasts is None and b.contrasts is None) if k == 2 else a.contrasts.equals(b.contrasts)


def test_separated_clusters_are_significant(two, rng):
    result = es.cluster_test(two, rng=rng)
    assert result.method == "split"
    assert result.pvalue <= 0.02
    assert result.null_hypothesis == "every linear projection of the population is unimodal"
    one = es.cluster_test(two[:, 0], rng=rng)
    assert one.method == "unimodal-1d"
    assert one.pvalue == pytest.approx(1.2 / 200)
    assert one.null_hypothesis == "the population is unimodal"


def test_euclidean_distances_give_the_pvalue_of_the_coordinates(two):
    how = {"n_resamples": 19, "n_splits": 2, "rng": 4}
    for k, alpha in ((2, 1.0), (3, 0.5), (2, 2.0)):
        R = es.pairwise(two, alpha=alpha)
        found = es.cluster_test(R, k, metric="precomputed", alpha=alpha, **how)
        expected = es.cluster_test(two, k, alpha=alpha, **how)
        assert found.pvalue == expected.pvalue
        if alpha == 1:
            assert_array_equal(found.pvalues, expected.pvalues)
    assert "Assumed" in words(found)


@pytest.mark.parametrize("columns", [2, 40])
def test_scores_from_distances_are_those_from_coordinates(columns, rng):
    """With few columns the coordinates are found again; with many the scores come from the distances alone."""
    X = rng.standard_normal((60, columns))
    matrix = Dissimilarity.from_data(es.pairwise(X), metric="precomputed", alpha=1.0)
    points = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    order = rng.permutation(60)
    from_points, from_matrix = make_scorer(points, 1.0, rng), make_scorer(matrix, 1.0, rng)
    assert (from_matrix.points is None) == (columns == 40)
    a, b = (s.along(order[:20], order[20:45]) for s in (from_points, from_matrix))
    assert_allclose((b - b.mean()) / b.std(), (a - a.mean()) / a.std(), atol=1e-7)


def test_curved_distances_warn(rng):
    X = rng.random((40, 2))
    with pytest.warns(es.NotCalibratedWarning, match=r"^R, the matrix given, is not a Euclidean distance"):
        es.cluster_test(es.pairwise(X, metric="cityblock"), metric="precomputed", rng=rng)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("form", ["square", "condensed", "frame"])
def test_matrices_of_few_digits_are_judged_by_these(dtype, form, rng):
    """Rounding to 7 or 3 digits leaves Euclidean distances Euclidean; city block distances are not, whatever it is."""
    X = rng.random((60, 2))

    def given(metric):
        R = squareform(es.pairwise(X, metric=metric), checks=False).astype(dtype)
        return {"condensed": R, "square": squareform(R), "frame": pd.DataFrame(squareform(R))}[form]

    how = {"metric": "precomputed", "n_splits": 1, "n_resamples": 19, "rng": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", es.NotCalibratedWarning)
        es.cluster_test(given("euclidean"), **how)
        es.cluster_test(np.square(given("euclidean").astype(float)).astype(dtype), alpha=2, **how)
    with pytest.warns(es.NotCalibratedWarning, match="is not a Euclidean distance"):
        es.cluster_test(given("cityblock"), **how)
    wide = Dissimilarity.from_data(given("euclidean"), metric="precomputed", alpha=1.0)
    assert wide.subset(np.arange(9)).rounding == wide.rounding > 1e-5
    assert Dissimilarity.from_data(es.pairwise(X), metric="precomputed", alpha=1.0).rounding is None


def test_contrasts_name_the_clusters_of_all_points(rng):
    """Three far clusters: each stands out under its own name, whatever numbers the splits gave it."""
    X = np.concatenate(
        (rng.normal([0, 0], 1, (60, 2)), rng.normal([30, 0], 1, (60, 2)), rng.normal([0, 30], 1, (60, 2)))
    )
    result = es.cluster_test(X, 3, n_splits=2, rng=rng)
    table = result.contrasts
    assert list(table["contrast"]) == ["cluster 0 vs rest", "cluster 1 vs rest", "cluster 2 vs rest"]
    assert (table["pvalue_adjusted"] <= 0.05).all()
    assert (table["pvalue_adjusted"] >= table["pvalue"]).all()
    assert "does not show that this cluster is separate" in words(result)


def test_contrasts_are_adjusted_by_holm(rng):
    table = es.cluster_test(rng.standard_normal((80, 2)), 4, n_resamples=19, rng=rng).contrasts.sort_values("pvalue")
    step_down = np.maximum.accumulate(table["pvalue"].to_numpy() * [4, 3, 2, 1])
    assert_allclose(table["pvalue_adjusted"], np.minimum(step_down, 1))


def test_partners_of_names():
    names = np.array([0, 0, 1, 1, 2, 2, 2])
    assert _partners(np.array([2, 2, 0, 0, 1, 1, 0]), names, 3).tolist() == [2, 0, 1]
    # two clusters for three names: the largest one stands for two of them; points in no cluster do not count
    assert _partners(np.array([1, 1, 0, 0, 0, 0, -1]), names, 3).tolist() == [1, 0, 0]
    assert _partners(np.array([1, 1, 0, 0, 2, 2, 2]), np.array([0, 0, 1, 1, -1, -1, -1]), 2).tolist() == [1, 0]


def test_lines_of_other_directions_are_oriented_by_their_shape(rng):
    first = np.sort(rng.exponential(size=200))
    first = (first - first.mean()) / first.std()
    assert_array_equal(_oriented(-first, first), first)
    elsewhere = rng.permutation(first)
    assert_array_equal(_oriented(-elsewhere, first), elsewhere)
    assert_array_equal(_oriented(elsewhere, first), elsewhere)


def test_lines_that_differ_are_not_turned_round_because_their_tails_are_long():
    """Along two arms of an L positions fall together less than .7, however they are standardized."""
    arm, zeros = (np.arange(100) + 0.5) / 100, np.zeros(100)
    first, other = np.concatenate((arm, zeros)), np.concatenate((zeros, arm))
    inner = np.sort(first)[10:190]  # as lines of folds are: without the outermost points
    first, other = ((t - inner.mean()) / inner.std() for t in (first, other))
    assert abs(first @ other) / 200 >= STEADY_IF_NAMED > abs(np.corrcoef(first, other)[0, 1])
    assert_array_equal(_oriented(other, first), other)


def test_lines_of_nearly_one_direction_have_the_sign_that_fits_their_shape():
    """Of two arms at 60 degrees lines of some folds correlate by .9, and their shapes are mirror images."""
    places = two_arms((np.arange(200) // 2 + 0.5) / 100, np.arange(200) % 2 == 0, 60)
    angles = np.deg2rad([105, 135])
    first, other = ((t - t.mean()) / t.std() for t in (places @ [np.cos(angles), np.sin(angles)]).T)
    assert_allclose(np.sort(other), np.sort(-first), atol=1e-12)
    assert 0.85 < np.corrcoef(first, other)[0, 1] < STEADY
    assert_array_equal(_oriented(other, first), -other)
    assert_array_equal(_oriented(other, first, named=True), other)


def two_arms(places, upper, degrees):
    """Points at given places along two half lines from the origin, with an angle between them."""
    angle = np.where(upper, np.deg2rad(degrees), 0.0)
    return places[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))


@pytest.mark.slow
def test_arms_of_a_v_are_no_modes(rng):
    """Every projection is unimodal; .35 of 60 such samples were rejected when lines that correlate by .7 kept signs."""
    found = 0
    for _ in range(25):
        X = two_arms(rng.random(200), rng.random(200) < 0.5, 60) @ [[0.9, 0.4], [-0.4, 0.9]]
        found += es.cluster_test(X, rng=rng).pvalue <= 0.05
    assert found <= binom.ppf(0.9999, 25, 0.07)


@pytest.mark.slow
def test_arms_of_an_l_are_no_modes(rng):
    """Along every line the points have one mode; .43 of 200 such samples were rejected when lines were turned round."""
    found = 0
    for _ in range(12):
        X, upright = rng.normal(0, 0.05, (200, 2)), rng.random(200) < 0.5
        X[upright, 0] += rng.random(upright.sum())
        X[~upright, 1] += rng.random(np.count_nonzero(~upright))
        found += es.cluster_test(X, rng=rng).pvalue <= 0.05
    assert found <= binom.ppf(0.9999, 12, 0.11)


def test_decorrelated_points(rng):
    # columns of correlations up to .9, and no more: a direction of rounding depends on how rows are summed
    X = rng.standard_normal((80, 3)) @ np.array([[1, 0.9, 0], [0, 0.44, 0.5], [0, 0, 1]])
    part = np.arange(50)
    Z = decorrelated(np.column_stack((X, X[:, 0] - X[:, 1])), part)
    assert Z.shape == (80, 3)  # the fourth column is a sum of the others
    assert_allclose(Z[part].T @ Z[part], np.eye(3), atol=1e-10)
    # Mahalanobis distances do not depend on the units, however unlike these are
    for units in ([10, 1.0, 0.1], [1e5, 1, 1e-3], [1e-120, 1, 1e120]):
        assert_allclose(es.pairwise(Z), es.pairwise(decorrelated(X * units, part)), rtol=1e-7)
    total = np.full(80, 100.0) + rng.choice([0, 1e-14], 80)  # constant but for rounding
    for constant in (np.full(80, 3.0), total):
        alike = decorrelated(np.column_stack((X, constant)), part)
        assert_allclose(es.pairwise(Z), es.pairwise(alike), rtol=1e-7)
    assert_array_equal(decorrelated(np.column_stack((total, total)), part), np.zeros((80, 1)))


def test_units_of_columns_hide_no_cluster(rng):
    """Metres of a narrow column beside a wide one in another unit: their direction was once taken for rounding."""
    X = np.column_stack((rng.normal(0, 10, 120), np.repeat([0, 9], 60) + rng.normal(size=120)))
    plain = es.cluster_test(X, rng=0)
    with pytest.warns(es.ColumnScaleWarning):
        unlike = es.cluster_test(X * [1e5, 1e-2], rng=0)
    assert unlike.space == plain.space == "decorrelated"
    assert max(unlike.pvalue, plain.pvalue) <= 0.05
    assert_array_equal(unlike.partition.labels, plain.partition.labels)


def test_every_point_is_scored_along_lines_that_it_had_no_part_in(two, rng):
    """The scores of a fold are those of a clusterer that never saw it."""
    d = Dissimilarity.from_data(two, metric="euclidean", alpha=1.0)
    seen = []

    def cluster(part, *_):
        seen.append({tuple(x) for x in part.points})
        return (part.points[:, 0] > 3.5).astype(np.intp)

    scored = []

    class Recorder:
        points = without_tails = None
        ties = notes = ()

        def along(self, inside, outside):
            assert not set(inside) & set(outside)
            scored.append({tuple(x) for x in two[np.concatenate((inside, outside))]})
            return two[:, 0] * 1.0

        def squared_among(self, rows):
            return np.ones((rows.size, rows.size)) - np.eye(rows.size)  # no row is far out

    splitter = _Splitter(Space(d, Recorder()), cluster, {GIVEN: None}, 2, 9, 1.0)
    found = splitter.split(rng).outcomes[0]
    assert seen == scored
    assert len(seen) == 5
    left_out = [{tuple(x) for x in two} - part for part in seen]
    assert sum(map(len, left_out)) == 120 == len(set().union(*left_out))
    inner = np.sort(two[:, 0])[6:-6]  # of 120, without a twentieth on either side
    expected = np.sort((two[:, 0] - inner.mean()) / inner.std())
    assert_allclose(found.each[GIVEN].scores, expected)


@pytest.mark.slow
def test_long_parallel_clusters_are_found_by_decorrelated_columns(rng):
    X = rng.standard_normal((150, 2)) * [1.0, 5.0]
    X[:75, 0] += 7
    assert es.cluster_test(X, rng=rng).pvalue <= 0.05


def test_only_the_part_decides_how_all_points_are_transformed(rng):
    """Each space is a linear image of the points that other points than those of the part have no say in."""
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 3))
    part, changed = np.arange(5, 65), X.copy()
    changed[65:] *= 100
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    for kind in spaces_of(Space.of_points(X), 60):
        seen = Space(d, CoordinateScorer(X)).seen_by(part, kind).scorer.points
        other = Space.of_points(changed).seen_by(part, kind).scorer.points
        assert_allclose(seen[:65], other[:65], rtol=1e-12)
        # linear: distances between images depend on differences alone
        assert_allclose(
            seen[0] - seen[1], Space.of_points(X + 7).seen_by(part, kind).scorer.points[[0, 1]].T @ [1, -1], atol=1e-9
        )


def test_spaces_by_the_data(rng):
    X = rng.standard_normal((40, 3))
    given = Space(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0), CoordinateScorer(X))
    assert spaces_of(given, 40) == ("as given", "decorrelated", "columns")
    assert spaces_of(given, 12) == ("as given", "columns")  # four points a column are too few
    one = Space(Dissimilarity.from_data(X[:, 0], metric="euclidean", alpha=1.0), CoordinateScorer(X[:, :1]))
    assert spaces_of(one, 40) == ("as given",)
    matrix = Space(Dissimilarity.from_data(es.pairwise(X), metric="precomputed", alpha=1.0), CoordinateScorer(X))
    assert spaces_of(matrix, 40) == ("as given", "decorrelated")  # principal coordinates are no columns


def test_clearest_columns_are_those_with_two_modes(rng):
    X = rng.standard_normal((200, 30))
    X[:100, [4, 11]] += 6
    assert clearest_columns(X).tolist() == [4, 11]
    assert clearest_columns(X[:, :1] * 0).tolist() == [0]
    assert clearest_columns(rng.standard_normal((50, 4))).size >= 1
    every = rng.standard_normal((200, 30)) + 6 * (np.arange(200) < 100)[:, None]
    assert clearest_columns(every).size == 10


def test_lines_share_one_pvalue_by_definition(rng):
    """p-values of every row by counting, weighted, the smallest, counted again: for all lines in one table."""
    table, shares = np.round(rng.random((50, 6)), 1), np.array([0.7, 0.3])
    weights = [s * w for s in shares for w in (0.65, 0.1, 0.25)]
    smallest = [min(sum(table[:, j] >= row[j]) / 50 / w for j, w in enumerate(weights)) for row in table]
    expected = sum(v <= smallest[0] + 1e-9 for v in smallest) / 50
    assert smallest_weighted(table, np.full(6, 1e-12), 1.0, shares) == pytest.approx(expected)


def test_equal_lines_cost_nothing(rng):
    """Draws share their ranks: along two equal lines they are the same up to the place inside a cell."""
    x = np.concatenate((rng.normal(0, 1, 60), rng.normal(7, 1, 60)))
    p, each = unimodality_along_lines(np.array([x, x, x]), np.ones(3) / 3, 199, 1.0, rng)
    assert p <= 0.02
    assert len(each) == 3
    assert all(e.pvalue <= 0.02 for e in each)


def test_one_line_is_tested_as_one_column(rng):
    x = rng.standard_normal(50)
    one = unimodality_along_lines(x[None], np.ones(1), 99, 1.2, np.random.default_rng(3))
    assert one[0] == unimodality_test(x, 99, 1.2, np.random.default_rng(3)).pvalue


BARS = [100, 200]


@pytest.mark.parametrize("n", sweep(BARS, [100]))
def test_long_bars_are_cut_where_the_test_rejects(n, rng):
    """Two bars six standard deviations apart, eight long: one space and one answer from the test and the tree."""
    truth = np.repeat([0, 1], n // 2)
    X = np.column_stack((rng.normal(0, 8, n), 6 * truth + rng.normal(size=n)))
    found = es.cluster_test(X, rng=0)
    assert found.pvalue <= 0.05
    assert found.space == DECORRELATED
    assert es.clustering_accuracy(truth, found.partition.labels) > 0.95
    assert 'metric="mahalanobis"' in words(found)
    again = es.energy_cluster(X, 2, metric="mahalanobis", rng=1)
    assert es.clustering_accuracy(again.labels, found.partition.labels) == 1
    whose = "p is over all spaces, that of the contrast over the space shown."
    assert (whose in words(found)) == (found.rows[0].pvalue != found.pvalue)
    assert whose not in words(es.cluster_test(X, clusterer=KMeans(2, n_init=3, random_state=0), rng=0))
    tree = es.cluster_tree(X, k_max=2, rng=0)
    assert tree.k == 2
    assert tree.nodes[0].space == DECORRELATED
    assert es.clustering_accuracy(tree.labels, found.partition.labels) == 1  # halves of one size are numbered by W
    assert_array_equal(tree.partition.labels, tree.labels)
    chosen = es.select_k(X, criterion="significance", k_max=2, rng=0)
    assert_array_equal(chosen.partition.labels, tree.labels)


def bars(rng, n=200):
    """Two bars six standard deviations apart, eight long."""
    return np.column_stack((rng.normal(0, 8, n), np.repeat([0, 6], n // 2) + rng.normal(size=n)))


@pytest.mark.slow
def test_a_matrix_is_cut_where_its_points_are(rng):
    """The clusters of a matrix of distances are those of its principal coordinates, decorrelated."""
    X, truth = bars(rng), np.repeat([0, 1], 100)
    R = es.pairwise(X)
    found = es.cluster_test(R, metric="precomputed", rng=0)
    assert found.space == DECORRELATED
    assert es.clustering_accuracy(truth, found.partition.labels) > 0.95
    assert "with X the principal coordinates" in words(found)
    # of a hundred bars a few are cut once more, at the level
    tree = es.cluster_tree(R, metric="precomputed", k_max=2, rng=0)
    assert tree.k == 2
    assert es.clustering_accuracy(truth, tree.labels) > 0.95


@pytest.mark.slow
def test_cuts_elsewhere_are_told(rng):
    tree = es.cluster_tree(bars(rng), rng=0)
    assert tree.to_frame(full=True)["space"].tolist()[0] == DECORRELATED
    assert "node 0 (decorrelated)" in tree.notes[0]
    chosen = es.select_k(bars(rng), 3, criterion="significance", rng=0)
    told = [note for note in chosen.notes if "are the leaves of the tree" in note]
    assert len(told) == 1
    assert chosen.partition.within > chosen.partitions[1].within


@pytest.mark.slow
def test_no_other_clusters_are_told_where_they_are_the_same(rng):
    found = es.cluster_test(bars(rng), metric="mahalanobis", rng=0)
    assert found.pvalue <= 0.05
    assert "The clusters show" not in found.summary()


@pytest.mark.slow
def test_more_clusters_than_there_are_say_that_fewer_can_show_more(rng):
    found = es.cluster_test(rng.standard_normal((60, 2)), 4, rng=0)
    assert ("k = 2 may reject" in words(found)) == (found.pvalue > 0.05)
    of_user = es.cluster_test(bars(rng), clusterer=KMeans(2, n_init=1), n_resamples=49, rng=0)
    assert any("as given alone" in note for note in of_user.notes)


@pytest.mark.slow
def test_two_of_many_columns_are_found(rng):
    X = 3 * rng.standard_normal((200, 60))
    truth = np.repeat([0, 1], 100)
    X[:, 7] = rng.standard_normal(200) + 7 * truth
    found = es.cluster_test(X, rng=0)
    assert found.space == "columns"
    assert "X[:, [7]]" in found.summary()
    assert es.clustering_accuracy(truth, found.partition.labels) > 0.98


def test_partition_of_round_clusters_is_that_of_energy_cluster(two):
    found = es.cluster_test(two, rng=0)
    assert found.space == "as given"
    assert_array_equal(found.partition.labels, es.energy_cluster(two, 2, rng=0).labels)
    assert found.partition.metric == es.energy_cluster(two, 2, rng=0).metric


@pytest.mark.parametrize("how", [{"method": "refit"}, {"method": "crossfit"}])
def test_every_method_holds_the_partition_of_all_points(two, how):
    found = es.cluster_test(two, n_resamples=19, rng=0, **how)
    assert_array_equal(found.partition.labels, es.energy_cluster(two, 2, rng=0).labels)


def test_partition_of_a_users_clusterer(two):
    found = es.cluster_test(two, clusterer=KMeans(2, n_init=1, random_state=0), n_resamples=49, rng=0)
    assert found.partition.algorithm == "KMeans"
    assert es.clustering_accuracy(KMeans(2, n_init=1, random_state=0).fit_predict(two), found.partition.labels) == 1
    noisy = es.cluster_test(
        two, clusterer=lambda X: np.where(np.arange(len(X)) < 3, -1, X[:, 0] > 3), n_resamples=49, rng=0
    )
    assert noisy.partition.labels[:3].tolist() == [-1] * 3
    assert sorted(noisy.partition.sizes) == sorted(np.bincount(two[3:, 0] > 3))


def test_contrasts_are_named_after_the_partition(rng):
    """Whatever codes a clusterer gives; the partition numbers its clusters by size."""
    X = np.concatenate([rng.normal(c, 1, (n, 2)) for c, n in (([0, 40], 30), ([0, 0], 60), ([5, 0], 70))])
    centres = np.array([[0.0, 40.0], [0.0, 0.0], [5.0, 0.0]])

    def coded(codes):
        def cluster(Z):
            return np.array(codes)[((Z[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)]

        return es.cluster_test(X, clusterer=cluster, n_splits=2, n_resamples=19, rng=0)

    first, second = coded([0, 1, 2]), coded([2, 0, 1])
    assert_array_equal(first.partition.labels, second.partition.labels)
    assert (first.partition.labels[:30] == 2).all()  # the smallest
    assert first.contrasts["contrast"].tolist() == second.contrasts["contrast"].tolist()
    assert_allclose(first.contrasts["statistic"], second.contrasts["statistic"])


def test_the_work_is_estimated_anew_when_a_clusterer_has_said_how_many_clusters_there_are(two, monkeypatch):
    """Draws and contrasts grow with their number, which nobody knows before."""

    weighed = []

    def check_work(progress, d, *works):
        weighed.append(works)
        return False

    monkeypatch.setattr(split, "check_work", check_work)
    for k in (2, 8):
        es.cluster_test(two, clusterer=KMeans(k, n_init=1, random_state=0), n_resamples=9, n_splits=1, rng=0)
    few, many = (sum(work.touched for work in works) for works in weighed)
    assert many > 8 * few
    es.cluster_test(two, 3, n_resamples=9, n_splits=1, rng=0)
    assert len(weighed) == 2  # the number was an argument, and known at the entry


def test_a_clusterer_with_one_cluster_splits_nothing(two):
    found = es.cluster_test(two, clusterer=lambda Z: np.zeros(len(Z)), n_resamples=19, rng=0)
    assert (found.pvalue, found.n_splits, found.n_clustered) == (1.0, 0, 0)
    assert "random splits" not in found.summary()


@pytest.mark.slow
def test_clusters_of_another_method_are_labels_for_validation(two):
    """Nobody knows how to find them again; energy clusters in their place would answer for others."""
    labels = (np.arange(120) % 2).astype(int)
    found = es.cluster_test(two, clusterer=lambda Z: (Z[:, 0] > 3).astype(int), n_resamples=49, rng=0).partition
    assert np.isnan(es.validate_clusters(two, partition=found, n_resamples=19, rng=0).to_frame()["pvalue"].iloc[1])
    assert np.isnan(es.validate_clusters(two, partition=labels, n_resamples=19, rng=0).to_frame()["pvalue"].iloc[1])
    energy = es.validate_clusters(two, partition=es.energy_cluster(two, 2, rng=0), rng=0)
    assert energy.to_frame()["pvalue"].iloc[1] <= 0.05


@pytest.mark.parametrize(("metric", "algorithm"), [("euclidean", "landmarks"), ("chebyshev", None)])
def test_many_points_take_no_matrix_of_all_pairs(metric, algorithm, two, monkeypatch):
    monkeypatch.setattr("energystats.cluster_tests.whole_clusters.ALL_PAIRS_AT_MOST", 100)
    found = es.cluster_test(two, 3, metric=metric, n_splits=1, n_resamples=19, rng=0)
    if algorithm is None:
        assert found.partition is None
        assert any("`.partition` is None" in note for note in found.notes)
    else:
        assert found.partition.algorithm == algorithm
    assert len(found.contrasts) == 3


def test_the_three_indices_share_one_pvalue(rng):
    """Against the definition: p-values of every row by counting, weighted, the smallest, and counted again."""
    table = np.round(rng.random((60, 3)), 1)
    weights = (0.65, 0.1, 0.25)
    smallest = [min(sum(table[:, j] >= row[j]) / 60 / w for j, w in enumerate(weights)) for row in table]
    expected = sum(v <= smallest[0] + 1e-9 for v in smallest) / 60
    assert smallest_weighted(table, np.full(3, 1e-12)) == pytest.approx(expected)
    extreme = np.vstack((np.full(3, 2.0), table))
    assert smallest_weighted(extreme, np.zeros(3)) == pytest.approx(1 / 61)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (5, 3), (3, 5)])
def test_pairs_of_clusters_are_those_of_an_assignment(rng, shape):
    """Where each name overlaps one cluster most, and others do not share it, nothing is searched."""
    quick = 0
    for overlap in [rng.integers(0, 9, shape).astype(float) for _ in range(200)]:
        rows, columns = linear_sum_assignment(overlap, maximize=True)
        clusters, named = split._matched(overlap)
        assert overlap[clusters, named].sum() == overlap[rows, columns].sum()
        assert len(set(clusters)) == len(set(named)) == min(shape)
        if (overlap == overlap.max(axis=0)).sum() == shape[1] == np.unique(overlap.argmax(axis=0)).size:
            quick += 1
            assert dict(zip(named, clusters, strict=True)) == dict(zip(columns, rows, strict=True))
    assert (quick > 0) == (shape[0] >= shape[1])


def test_the_same_clusters_under_other_numbers(rng):
    labels = np.r_[np.arange(4), rng.integers(4, size=30)]
    assert split._are_same(labels, np.array([2, 0, 3, 1])[labels])
    assert not split._are_same(labels, np.minimum(labels, 2))
    assert not split._are_same(np.minimum(labels, 2), labels)
    assert not split._are_same(labels, np.r_[labels[1:], labels[:1]])


def test_contrasts_that_show_nothing_hide_none_that_does():
    """Definition: Cauchy's rule over splits, then over contrasts with everything above .5 as .5."""
    pvalues = np.full((5, 10), 0.99)
    pvalues[:, 3] = 0.0012
    overall, each = over_contrasts(pvalues)
    assert each[3] == pytest.approx(0.0012)
    assert overall == pytest.approx(0.5 - np.arctan(np.tan((0.5 - 0.0012) * np.pi) / 10) / np.pi)
    assert overall == pytest.approx(0.012, rel=1e-3)
    alone = over_contrasts(np.array([[0.2], [0.04]]))[0]
    assert alone == pytest.approx(cauchy_combination(np.array([0.2, 0.04])), rel=1e-12)
    assert over_contrasts(np.ones((5, 4)))[0] == 1


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.full(30, 7.0)])
def test_points_that_all_coincide_are_not_tested(X):
    found = es.cluster_test(X, rng=0)
    assert (found.pvalue, found.partition.k) == (1, 1)
    assert str(found).startswith("Nothing was tested: all points coincide (p = 1.0000).")


def test_all_contrasts_together_say_no_more_than_the_clearest_one():
    """Everything above .5 counts as .5 when contrasts are combined, and would come out smaller than it went in."""
    assert over_contrasts(np.array([[0.8, 0.9]]))[0] == pytest.approx(0.8)
    assert over_contrasts(np.full((3, 4), 0.7))[0] == pytest.approx(0.7)


@pytest.mark.parametrize("k", range(2, 12))
def test_draws_are_enough_for_the_smallest_p_of_all_contrasts(k):
    """K times the smallest possible p is at most twice that of a single contrast, and no draw is wasted."""
    draws = enough_draws(199, k)
    single = 1 if k == 2 else k / 2
    assert single / (draws + 1) <= 1 / 200
    assert draws + 1 <= 200 * -(-k // 2)


def test_indices_that_tie_at_rounding_count(rng):
    table = rng.integers(0, 8, size=(40, 3)) / 8.0
    expected = smallest_weighted(table, np.full(3, 1e-12))
    for _ in range(10):
        assert smallest_weighted(table + rng.uniform(-4e-13, 4e-13, table.shape), np.full(3, 1e-12)) == expected


def test_pvalues_that_are_multiplied_stay_below_one(rng):
    assert unimodality_test(norm.ppf((np.arange(50) + 0.5) / 50), 39, 1.6, rng).pvalue == 1


def test_gaussian_references_have_the_covariance_of_the_sample(rng):
    """With divisor n; a reference of unit scores along each axis in turn shows the reference's own covariance."""

    class UnitScores:
        def standard_normal(self, shape):
            return np.eye(*shape)

    X = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 3))
    steps = GaussianReference.of(X).draw(UnitScores())[:3] - X.mean(axis=0)
    assert_allclose(steps.T @ steps, np.cov(X, rowvar=False, ddof=0), rtol=1e-10)


@pytest.mark.slow
def test_many_clusters_can_be_significant(rng):
    """With ten contrasts 199 draws could not reach .05 after Holm's correction; more are made where it matters."""
    X = rng.standard_normal((100, 2))
    X[:30, 0] += 12
    result = es.cluster_test(X, 10, n_splits=1, rng=rng)
    assert result.n_resamples == 999
    assert result.contrasts["pvalue_adjusted"].min() <= 0.05
    assert result.pvalue <= 0.05


@pytest.mark.parametrize("name", ["conservative", "standardize"])
def test_flags_are_flags(two, name):
    for function in (es.cluster_test, es.cluster_tree, es.select_k):
        with pytest.raises(TypeError, match=rf"`{name}` must be True or False, got 'no'"):
            function(two, **{name: "no"})


def test_one_warning_of_scales(rng):
    with pytest.warns(es.ColumnScaleWarning) as caught:
        es.cluster_test(rng.standard_normal((60, 2)) * [1, 500], n_resamples=29, rng=rng)
    assert len(caught) == 1


def test_the_number_of_threads_is_checked(two):
    """That no number of them changes a bit is seen in test_determinism.py."""
    for bad in (0, -2, 1.5, True):
        with pytest.raises((ValueError, TypeError), match="`n_jobs` must be"):
            es.cluster_test(two, n_jobs=bad)


def test_conservative_multiplies(two, rng):
    X = rng.standard_normal((60, 2))
    plain, careful = (es.cluster_test(X, conservative=c, n_resamples=49, n_splits=2, rng=2) for c in (False, True))
    assert_allclose(careful.pvalues, np.minimum(1.6 / 1.2 * plain.pvalues, 1))
    assert careful.conservative
    assert not plain.conservative


def test_directions_take_the_larger_factor(rng):
    """Every projection of a sphere is flat, whatever the line; points inside the ball are as all others."""
    X = rng.standard_normal((60, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options = {"n_resamples": 49, "rng": 2}
    plain, careful = (es.cluster_test(7 * X, conservative=c, **options) for c in (False, True))
    assert plain.conservative
    assert_array_equal(plain.pvalues, careful.pvalues)
    assert any("lie on a sphere" in note for note in plain.notes)
    assert es.cluster_tree(X, **options).conservative
    tree = es.select_k(X, criterion="significance", k_max=2, rng=2).tree
    assert tree.conservative
    assert tree.factor == pytest.approx(1.6 * 1.2)
    refitted = es.cluster_test(X, method="refit", n_resamples=19, rng=2)  # which has no factor
    assert not any("lie on a sphere" in note for note in refitted.notes)
    for other in (X * (1 + 0.3 * rng.random((60, 1))), X[:, :2], np.column_stack([X[:, :2], rng.normal(size=60)])):
        found = es.cluster_test(other, **options)
        assert not found.conservative
        assert not any("lie on a sphere" in note for note in found.notes)


def test_a_sphere_is_one_wherever_its_centre_is(rng):
    """So is an ellipsoid, and neither depends on the unit; a cloud far from 0, whose rows have one length, is none."""
    U = rng.standard_normal((80, 3))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    turned = U @ np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    stretched = U * np.array([1, 3, 0.4])
    spheres = (U + 10, U + 1e6, U * 2.0**-600, U.round(2), (U - U.mean(axis=0)) / U.std(axis=0), stretched,
               np.column_stack([U, np.ones(80)]), turned, np.c_[U[:, :2], np.abs(U[:, 2])])  # fmt: skip
    cloud, t = rng.normal(size=(80, 3)), rng.uniform(0, 2 * np.pi, 80)
    others = (cloud, cloud + 1e8, cloud * 2.0**-600, cloud + np.eye(3)[0] * 1.7e9,
              np.c_[np.cos(t), np.sin(t), cloud[:, 0]],
              np.c_[np.cos(t), np.sin(t), np.cos(t) + np.sin(t)], np.c_[cloud[:, :2], (cloud[:, :2] ** 2).sum(axis=1)],
              np.column_stack([cloud, cloud[:, 0]]), rng.dirichlet([1, 1, 1, 1], 80))  # fmt: skip
    for points, expected in [*((X, True) for X in spheres), *((X, False) for X in others)]:
        assert are_directions(Dissimilarity.from_data(points, metric="euclidean", alpha=1.0)) == expected


@pytest.mark.filterwarnings("ignore::energystats.exceptions.ColumnScaleWarning")
@pytest.mark.parametrize("n", [20, 60])
def test_clouds_lie_on_no_ellipsoid_by_chance(n, rng):
    for draw in (
        rng.standard_normal,
        rng.random,
        lambda size: rng.standard_t(2, size),
        lambda size: rng.poisson(3, size),
    ):
        d = [Dissimilarity.from_data(draw((n, 3)) * 1.0, metric="euclidean", alpha=1.0) for _ in range(100)]
        assert not any(map(are_directions, d))


@pytest.mark.parametrize(
    ("method", "columns", "unused"),
    [("refit", 2, True), ("auto", 1, True), ("split", 2, False), ("crossfit", 2, False)],
)
def test_splits_without_effect_are_noted(method, columns, unused, rng):
    X = rng.normal(size=(40, columns))
    for n_splits in (5, 3):
        found = es.cluster_test(X, method=method, n_splits=n_splits, n_resamples=19, rng=0)
        assert ("`n_splits`" in " ".join(found.notes)) == (unused and n_splits != 5)


@pytest.mark.parametrize("method", ["split", "refit", "crossfit"])
def test_coinciding_points_are_drawn_too(method):
    found = es.cluster_test(np.ones((30, 2)), method=method, n_resamples=19, rng=0)
    assert found.pvalue == 1
    ax = found.plot()
    assert ax.texts or ax.get_xlabel()


def test_a_tree_of_a_matrix_asks_for_the_draws_that_its_test_needs(rng):
    """Points of many dimensions are tested as given alone, so that p is multiplied by 1.2 and not by 1.44."""
    R = es.pairwise(rng.normal(size=(60, 40)))
    tree = es.cluster_tree(R, metric="precomputed", n_resamples=25, rng=0)
    assert tree.factor == es.cluster_test(R, metric="precomputed", n_resamples=25, rng=0).factor == 1.2
    with pytest.raises(ValueError, match=r"`n_resamples` must be at least 28 .* multiplied by 1.44; got 25"):
        es.cluster_tree(rng.normal(size=(60, 3)), n_resamples=25, rng=0)
    with pytest.raises(ValueError, match=r"`n_resamples` must be at least 23 .* multiplied by 1.2; got 20"):
        es.cluster_tree(R, metric="precomputed", n_resamples=20, rng=0)


def test_cauchy_combination_against_its_definition(rng):
    p = rng.random(10)
    scores = [np.tan((0.5 - min(v, 0.99)) * np.pi) for v in p]
    assert cauchy_combination(p) == pytest.approx(0.5 - np.arctan(np.mean(scores)) / np.pi)
    for equal in (0.1, 0.2):  # not something else in the last digit
        assert cauchy_combination(np.full(4, equal)) == equal
    assert cauchy_combination(np.array([1.0, 0.001])) < 0.05  # one p of 1 cannot veto


def test_one_column_ignores_place_scale_and_direction(rng):
    x = np.round(rng.standard_normal(80), 6)
    p = unimodality_test(x, 99, 1.0, np.random.default_rng(1))
    for moved in (x * 1024, x + 8):
        assert unimodality_test(moved, 99, 1.0, np.random.default_rng(1)).index == pytest.approx(p.index, abs=1e-9)
    # where two modes are equally near, the direction decides which is taken
    assert unimodality_test(-x, 99, 1.0, np.random.default_rng(1)).index == pytest.approx(p.index, rel=0.02)
    assert unimodality_test(np.ones(30), 99, 1.0, rng).pvalue == 1


def test_jitter_repeats_with_the_seed():
    X = datasets.load("iris").iloc[:, :4]
    a, b = (es.cluster_test(X, n_splits=2, rng=1) for _ in range(2))
    assert a.pvalue == b.pvalue <= 0.02


def test_too_few_distinct_points_in_a_part_are_no_evidence(rng):
    X = np.zeros((40, 2))
    X[:2] = [[1.0, 0.0], [0.0, 1.0]]
    with pytest.warns(es.TiesWarning):
        result = es.cluster_test(X, 3, n_resamples=19, rng=rng)
    assert 0 < result.pvalue <= 1
    assert np.isfinite(result.statistic)


@pytest.mark.slow
def test_large_samples_cluster_a_part_of_bounded_size(rng, monkeypatch):
    from energystats.cluster_tests import unimodality

    X = np.concatenate([rng.normal(centre, 1, (100, 2)) for centre in ([0, 0], [12, 0], [0, 12])])
    how = {"n_splits": 1, "rng": 1}
    plain = es.cluster_test(X, 3, **how)
    assert plain.n_clustered == 240
    monkeypatch.setattr(unimodality, "DRAWS_AT_ONCE", 1000)
    assert es.cluster_test(X, 3, **how).pvalue == plain.pvalue
    monkeypatch.setattr(split, "CLUSTERED_AT_MOST", 100)
    capped = es.cluster_test(X, 3, **how)
    assert capped.n_clustered == 100
    assert (capped.contrasts["pvalue_adjusted"] <= 0.05).all()
    from_matrix = es.cluster_test(es.pairwise(X), 3, metric="precomputed", **how)
    assert from_matrix.pvalue == capped.pvalue


def test_progress_goes_to_stderr(two, capsys):
    es.cluster_test(two, n_resamples=19, progress=True, rng=0)
    captured = capsys.readouterr()
    assert "5/5" in captured.err
    assert captured.out == ""


def test_fields_that_do_not_apply_are_none(rng):
    X = rng.standard_normal((40, 2))
    split, refit = (es.cluster_test(X, method=how, n_splits=1, n_resamples=19, rng=0) for how in ("split", "refit"))
    assert split.contrasts is None
    assert split.null_distribution is None
    assert split.factor == pytest.approx(1.2 * 1.2)  # lines in three spaces
    assert es.cluster_test(X[:, 0], rng=0).factor == 1.2
    assert split.indices.shape == (1, 3)
    assert (refit.contrasts, refit.scores, refit.indices, refit.factor) == (None, None, None, None)
    assert refit.null_distribution.shape == (19,)
    assert len(es.cluster_test(X, 3, n_splits=1, n_resamples=9, rng=0).contrasts) == 3


@pytest.mark.parametrize(
    ("k", "far"), [(3, [[999, 999]]), (4, [[999, 999]]), (2, [[900, 0], [0, 900]]), (3, [[900, 0], [0, 900]])]
)
@pytest.mark.filterwarnings("ignore::energystats.EnergyStatsWarning")
def test_points_far_out_make_no_second_mode(k, far, rng):
    """They decide the lines of all folds but their own, which must neither turn nor move the others."""
    rejected = 0
    for _ in range(4):
        X = np.concatenate((far, rng.normal(size=(60, 2))))
        rejected += es.cluster_test(X, k, n_splits=2, rng=rng).pvalue <= 0.05
    assert rejected <= binom.ppf(0.9999, 4, 0.05)


class CutsOffOne(BaseEstimator):
    """A clusterer that finds two clouds, but among so many points cuts off the last one, as single linkage may."""

    def __init__(self, n=0):
        self.n = n

    def fit_predict(self, X):
        return (np.arange(len(X)) == len(X) - 1 if len(X) == self.n else X[:, 0] > 3.5).astype(int)


def test_clusters_of_parts_that_are_others_than_those_shown_are_told(two):
    found, alike = (es.cluster_test(two, clusterer=CutsOffOne(n), rng=0) for n in (len(two), 0))
    assert (sorted(found.partition.sizes), found.pvalue, alike.pvalue) == ([1, 119], alike.pvalue, found.pvalue)
    assert found.pvalue <= 0.05
    assert "Caution: p belongs to other clusters than those shown" in " ".join(found.summary().split())
    assert "other clusters" not in alike.summary()
    checked = es.validate_clusters(two, clusterer=CutsOffOne(len(two)), rng=0)
    assert checked.merge_rows[0].reason == "fewer than 5 points on one side"
    assert checked.groups == ((0, 1),)
    assert "clusters are separate" not in checked.summary()


# ---------------------------------------------------------------- bent clouds


def arc(turn, n=150, noise=0.03, rng=None):
    angles = np.linspace(0, turn, n, endpoint=False)
    return np.column_stack((np.cos(angles), np.sin(angles))) + noise * rng.normal(size=(n, 2))


def bent(points):
    """What is said of points, the same from their coordinates and from the distances alone."""
    told = note_bent_cloud(Dissimilarity.from_data(points, metric="euclidean", alpha=1.0), CoordinateScorer(points))
    R = es.pairwise(points)
    d = Dissimilarity.from_data(R, metric="precomputed", alpha=1.0)
    assert note_bent_cloud(d, _DistanceScorer(np.square(R), ())) == told
    return told


def test_bent_bands_and_rings_are_told(rng):
    assert "bent band" in bent(arc(np.pi, rng=rng))[0]
    assert "bent band" in bent(np.column_stack((arc(4.5, rng=rng), 0.1 * rng.normal(size=(150, 3)))))[0]
    assert "on a ring" in bent(arc(2 * np.pi, rng=rng))[0]
    shuffled = rng.permutation(arc(2 * np.pi, 200, rng=rng))
    assert "on a ring" in bent(1e-6 * shuffled + 5)[0]


def test_straight_clouds_and_clusters_are_not_bent(rng, two):
    long = rng.normal(size=(200, 2)) * [10, 1]
    far = np.concatenate([rng.normal(c, 1, (50, 2)) for c in ([0, 0], [20, 0], [10, 17])])
    corner = np.concatenate([0.5 * rng.normal(size=(50, 2)) + c for c in ([0, 0], [6, 0], [6, 6])])
    bars = np.column_stack((rng.normal(0, 10, 120), np.repeat([0, 9], 60) + rng.normal(size=120)))
    clouds = rng.normal(size=(200, 2)), rng.normal(size=(100, 10)), rng.random((200, 3))
    told = [bent(points) for points in (*clouds, long, far, two, corner, bars)]
    assert sum(map(bool, told)) <= 2  # .003 of such clouds are told, as 4 of 1,400 were
    assert bent(long[:, :1]) == ()
    assert bent(rng.normal(size=(5, 2)).repeat(20, axis=0)) == ()


def species_along_a_gradient(n, rng):
    """Counts of 25 species, each most frequent at a place of its own."""
    places, optima, heights = rng.uniform(0, 10, n), rng.uniform(-1, 11, 25), rng.gamma(2, 8, 25)
    counts = rng.poisson(heights * np.exp(-((places[:, None] - optima) ** 2) / 2.88))
    return counts[counts.any(axis=1)].astype(float)


def test_gradients_are_told_from_matrices_of_many_dimensions(rng):
    told = 0
    for _ in range(6):
        R = es.pairwise(species_along_a_gradient(80, rng), metric="braycurtis", alpha=0.5)
        assert es.is_euclidean(R)
        test = es.cluster_test(R, metric="precomputed", n_splits=2, rng=rng)
        told += any("one bent band" in note for note in test.notes)
    assert told >= 2  # of 10 such samples 8 are told


@pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")  # of rare species
@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
@pytest.mark.parametrize("metric", sweep(["hellinger", "euclidean", "braycurtis"], 1))
@pytest.mark.parametrize("form", sweep([np.positive, np.log1p], 1))
def test_gradients_are_told_from_tables_with_many_zeros(form, metric, rng):
    """Zeros that are spread over tails, in each column on its own, hid the gradient: 0 of 10 were told."""
    told = clusters = 0
    for _ in range(8):
        table = form(species_along_a_gradient(80, rng))
        d = Dissimilarity.from_data(table, metric=metric, alpha=1.0)
        told += bool(note_bent_cloud(d, make_scorer(d, 1.0, rng)))
        apart = form(rng.poisson(np.where(np.arange(80)[:, None] < 40, [1, 2, 3, 8, 9], [9, 8, 3, 2, 1])) * 1.0)
        apart[:, 0] += apart.sum(axis=1) == 0
        d = Dissimilarity.from_data(apart, metric=metric, alpha=1.0)
        clusters += bool(note_bent_cloud(d, make_scorer(d, 1.0, rng)))
    assert told >= 5  # of 60 at least 58
    assert clusters <= 4  # of 60 at most 6


@pytest.mark.slow
def test_gradients_are_told_from_presence_and_absence(rng):
    """Few species leave .7 to .8 of the ways along the band on one axis, and half of the points."""
    told = clusters = 0
    for _ in range(8):
        gradient = species_along_a_gradient(80, rng) > 0
        of_two = rng.random((80, 25)) < np.where(np.arange(80)[:, None] < 40, 0.2, np.repeat([0.6, 0.2], [10, 15]))
        for table in (gradient, of_two[of_two.any(axis=1)]):
            d = Dissimilarity.from_data(table, metric="jaccard", alpha=1.0)
            found = bool(note_bent_cloud(d, make_scorer(d, 1.0, rng)))
            told, clusters = told + (found and table is gradient), clusters + (found and table is not gradient)
    assert told >= 3  # of 10 some 9
    assert clusters <= 2


def test_communities_of_unlike_effort_are_no_band(rng):
    """They meet near 0, where few individuals were counted; 15 of 17 were called a gradient."""
    means = np.where(np.arange(10) < 5, 8.0, 1.0)
    told = 0
    for _ in range(6):
        effort = rng.gamma(4, 0.25, (80, 1))
        table = rng.poisson(np.where(np.arange(80)[:, None] < 40, means, means[::-1]) * effort) * 1.0
        table = table[table.any(axis=1)]
        for metric in ("braycurtis", "euclidean"):
            d = Dissimilarity.from_data(table, metric=metric, alpha=1.0)
            told += bool(note_bent_cloud(d, make_scorer(d, 1.0, rng)))
    assert told <= 6  # of 12; 0 to 2 as a rule


def test_bent_clouds_are_told_where_the_test_rejects(rng):
    ring = arc(2 * np.pi, rng=rng)
    found = es.cluster_test(ring, n_splits=2, rng=0)
    assert any("on a ring" in note for note in found.notes) == (found.pvalue <= 0.05)
    assert ("Caution: The points may lie on a ring" in " ".join(found.summary().split())) == (found.pvalue <= 0.05)
    matrix = es.cluster_test(es.pairwise(ring), metric="precomputed", n_splits=2, rng=0)
    assert any("on a ring" in note for note in matrix.notes) == (matrix.pvalue <= 0.05)


def test_scores_belong_to_the_space_and_the_p_that_are_shown(rng):
    sizes = 10 * rng.normal(size=(60, 1))
    X = sizes + rng.normal(size=(60, 3)) * [1, 1, 0.1] + 4 * np.repeat([[0, 0, 0], [0.5, -0.5, 0]], 30, axis=0)
    for k in (2, 4):
        test = es.cluster_test(X, k, n_splits=1, rng=0)
        _, contrast, pvalue = test.scored
        alone = unimodality_test(test.scores, 19, test.factor, np.random.default_rng(0))
        # of one split, so that the indices of the contrast are those of these scores
        assert_allclose(alone.indices[EXCESS], test.rows[contrast].statistic)
        assert pvalue == min(row.pvalue for row in test.rows)
        assert f"own {p_text(pvalue, short=True)}" in test.plot().get_xlabel()
        if k == 4:
            assert test.rows[contrast].name in test.plot().get_xlabel()


def test_of_spaces_with_equal_p_the_clearer_one_is_shown():
    """Both p-values are as small as they can be, so that draws alone would choose."""

    def outcomes(p, ratio):
        each = {
            kind: Unimodality(np.zeros(1), np.array([ratio[kind], 0.1, 0.1]), p[kind], 0.0)
            for kind in ("as given", "decorrelated", "columns")
        }
        return [_Outcome(min(p.values()), each)]

    def chosen(p, ratio, pvalue=0.01):
        return _clearest_space(pvalue, [outcomes(p, ratio), outcomes(p, ratio)], over_contrasts)[0]

    ratio = {"as given": 0.2, "decorrelated": 7.0, "columns": 13.0}
    assert chosen({"as given": 0.4, "decorrelated": 0.006, "columns": 0.0065}, ratio) == "columns"
    assert chosen({"as given": 0.4, "decorrelated": 0.006, "columns": 0.02}, ratio) == "decorrelated"
    for columns in (3.0, 8.0):  # no clearly larger ratio, whichever p is the smaller one
        less = ratio | {"columns": columns}
        assert chosen({"as given": 0.4, "decorrelated": 0.0065, "columns": 0.006}, less) == "decorrelated"
    # the points as given, unless p of another space is far smaller, and where p is not small
    assert chosen({"as given": 0.01, "decorrelated": 0.006, "columns": 0.0065}, ratio) == "as given"
    assert chosen({"as given": 0.4, "decorrelated": 0.006, "columns": 0.0065}, ratio, pvalue=0.2) == "as given"


def test_more_clusters_than_two_say_that_fewer_can_show_more(rng):
    X = rng.normal(size=(60, 2))
    said = [any("fewer clusters can show more" in note for note in es.cluster_test(X, k, rng=1).notes) for k in (2, 3)]
    assert said == [False, True]


def test_the_largest_k_that_a_split_can_cluster(rng):
    """Three points more than clusters are clustered at a time, of four fifths of 20 rows."""
    X = rng.normal(size=(20, 2))
    assert es.cluster_test(X, 13, n_resamples=19, n_splits=1, rng=0).k == 13
    with pytest.raises(ValueError, match="`k` must be at most 13 for 20 rows, of which 16 are clustered at a time"):
        es.cluster_test(X, 14, n_resamples=19, n_splits=1, rng=0)


def test_a_column_of_few_values_beside_more_clusters_is_no_error():
    rng = np.random.default_rng(0)
    c = rng.choice([0, 1.0, 10, 11], 200)
    with pytest.warns(es.TiesWarning):
        found = es.cluster_test(np.c_[c, 200 * rng.standard_normal((200, 4))], 5, rng=0)
    assert 0 < found.pvalue <= 1


@pytest.mark.parametrize("far", [1e6, 1e17, 1e20, -1e18])
def test_a_far_value_takes_no_digits_of_one_column(far):
    rng = np.random.default_rng(1)
    two = np.r_[rng.normal(0, 1, 60), rng.normal(6, 1, 60), far]
    assert es.cluster_test(two, rng=0).pvalue <= 0.05


@pytest.mark.parametrize("method", ["refit", "crossfit"])
def test_copied_rows_are_noted_by_every_method(method, rng):
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        notes = es.cluster_test(X, method=method, n_resamples=19, rng=0).notes
    assert any("30 of 60 rows are duplicated" in note for note in notes)


def test_nothing_tested_depends_on_no_seed():
    found = es.cluster_test(np.ones((40, 2)), method="refit", n_resamples=19, rng=0)
    assert "another seed" not in found.summary()
