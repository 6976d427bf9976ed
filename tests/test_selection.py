"""The number of clusters and their stability; shares of correct choices are slow tests."""

import copy
import pickle
import re
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

import energystats as es
from energystats._core.jitter import Jittered
from energystats.cluster_tests import reference_samples
from energystats.cluster_tests.resampled_clusters import _best_jaccard, _compute_jaccard, _resampled
from energystats.clustering.local_search import search_points
from energystats.dissimilarity import Dissimilarity
from energystats.selection.gap import (
    GapCurve,
    GapReference,
    _state_problem,
    _withins_up_to,
    count_threads,
    first_within_one_error,
    fit_gap_reference,
    gap_curve,
    logarithm,
    walk_eigenvalues,
)
from energystats.selection.select_k import _by_gap
from tests import definitions, simulations
from tests.comparisons import words
from tests.conftest import examples, sweep

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")  # of two points, by chance


def clouds(rng, centres, n=30, spread=1.0):
    return np.concatenate([rng.normal(c, spread, (n, np.size(c))) for c in centres])


TRIANGLE = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]


@pytest.fixture
def three(rng):
    return clouds(rng, TRIANGLE)


@pytest.mark.parametrize("criterion", sweep(["gap", "eigengap", "significance"], ["gap", "eigengap"]))
def test_separated_clusters_are_counted(three, criterion, rng):
    found = es.select_k(4 * three, 6, criterion, rng=rng)
    assert (found.k, found.criterion) == (3, criterion)
    assert adjusted_rand_score(found.partition.labels, np.repeat([0, 1, 2], 30)) > 0.9
    assert found.notes[0] in words(found)


@pytest.mark.parametrize("criterion", sweep(["gap", "eigengap", "significance"], ["gap", "eigengap"]))
def test_same_seed_same_table_and_criteria_do_not_disturb_each_other(three, criterion):
    how, three = {"n_resamples": 3, "n_init": 3, "rng": 4}, three[::2]
    a, b = (es.select_k(three, 4, criterion, **how) for _ in range(2))
    pd.testing.assert_frame_equal(a.table, b.table)
    assert (a.k, a.notes) == (b.k, b.notes)
    everything = es.select_k(three, 4, criterion, compare="all", **how)
    assert (everything.k, everything.notes[0]) == (a.k, a.notes[0])
    known = a.table.notna().all()
    pd.testing.assert_frame_equal(everything.table.loc[:, known], a.table.loc[:, known])
    assert everything.table[["gap", "gap_error", "eigengap"]].notna().all(axis=None)


def test_the_table_is_that_of_the_partitions(three, rng):
    found = es.select_k(three, 6, rng=rng)
    table = found.table
    assert table["k"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found.partition is found.partitions[found.k - 1]
    for row, partition in zip(found.rows, found.partitions, strict=True):
        d = es.dispersion(three, partition.labels)
        assert row.within == partition.within == pytest.approx(d.within)
        assert row.share == pytest.approx(d.between / d.total, abs=1e-12)
        assert row.log_within == pytest.approx(np.log(d.within))
    searched = [es.energy_cluster(three, k, algorithm=es.Hartigan(n_perturb=0), rng=rng).within for k in table["k"]]
    assert_allclose(table["within"], searched, rtol=0.08)  # up to the noise of the search
    assert (np.diff(table["within"]) < 0).all()
    assert found.to_frame(full=True).equals(table)
    assert list(found.to_frame()) == ["k", "within", "share", "gap", "gap_error", "eigengap"]


def test_gap_against_its_definition(rng):
    """W by enumeration of all partitions, of the data and of the same reference draws."""
    X = rng.standard_normal((8, 2))
    reference = fit_gap_reference(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0), "box", 1.0)
    log_within = np.log([definitions.best_within(definitions.rho_matrix(X.tolist()), k) for k in (1, 2, 3)])
    how = {"n_resamples": 5, "n_init": 60, "progress": False}
    found = gap_curve(log_within, reference, **how, rng=np.random.default_rng(3))
    sets = [d.points for d, _ in reference.draws(5, np.random.default_rng(3))]
    logs = [np.log([definitions.best_within(definitions.rho_matrix(Y.tolist()), k) for k in (1, 2, 3)]) for Y in sets]
    gap, error, k = definitions.gap_statistic(log_within.tolist(), [row.tolist() for row in logs])
    assert_allclose(found.gap, gap, atol=1e-10)
    assert_allclose(found.error, error, atol=1e-10)
    assert (first_within_one_error(found.gap, found.error) or 3) == k


def test_the_rule_of_one_error():
    gap, error = np.array([0.1, 0.3, 0.5, 0.4]), np.array([0.0, 0.1, 0.1, 0.1])
    assert first_within_one_error(gap, error) == 3
    assert first_within_one_error(gap, error + 0.1) == 1
    assert first_within_one_error(gap[:3], error[:3]) is None
    assert first_within_one_error(gap[:1], error[:1]) is None
    assert first_within_one_error(np.array([0.2, np.inf]), error[:2]) is None


def test_a_gap_as_large_as_the_next_one_is_large_enough():
    assert first_within_one_error(np.array([0.25, 0.5, 0.25]), np.array([0.0, 0.25, 0.0])) == 1


def test_a_far_larger_gap_behind_the_first_stop_is_named():
    """A grid of clusters has small gaps before the number of its clusters."""
    error = np.full(4, 0.02)
    k, why = _by_gap(GapCurve(np.array([-0.20, -0.19, 0.60, 0.50]), error, rounded=False))
    assert k == 1
    assert (
        "compares neighbouring k alone: the gap is larger at k = 3, 0.6, by more than its standard error, 0.02" in why
    )
    k, why = _by_gap(GapCurve(np.array([-0.20, 0.19, 0.20, 0.10]), error, rounded=False))
    assert k == 2
    assert "neighbouring k alone" not in why, "within one error of the largest"
    k, why = _by_gap(GapCurve(np.array([0.5, np.inf, np.inf, np.inf]), error, rounded=False))
    assert k == 2
    assert "neighbouring k alone" not in why, "W is 0 from there on"


def test_only_what_rounding_leaves_of_w_counts_as_nothing():
    found = logarithm(np.array([8.0, 1e-9, 1e-12, 1e-14, 0.0]))
    assert_allclose(found[:3], np.log([8.0, 1e-9, 1e-12]))
    assert (found[3:] == -np.inf).all()


@pytest.mark.parametrize("kind", ["box", "unimodal"])
def test_references_keep_the_principal_axes(kind, rng):
    A = rng.standard_normal((3, 3))
    X = rng.standard_normal((400, 3)) @ A + 100
    reference = GapReference.of(X, es.metrics.Euclidean(), kind)
    own = reference.axes.scores
    assert_allclose(reference.axes.to_columns(own), X, atol=1e-10)
    many = np.concatenate([drawn.points for drawn, _ in reference.draws(60, rng)])
    scores = (many - X.mean(axis=0)) @ reference.axes.directions.T
    assert (scores.min(axis=0) >= own.min(axis=0) - 1e-9).all()
    assert (scores.max(axis=0) <= own.max(axis=0) + 1e-9).all()
    assert np.abs(np.corrcoef(scores.T) - np.eye(3)).max() < 0.05
    expected = np.ptp(own, axis=0) / np.sqrt(12) if kind == "box" else own.std(axis=0)
    assert_allclose(scores.std(axis=0), expected, rtol=0.1)


@pytest.mark.slow
def test_unimodal_references_have_one_mode(rng):
    x = np.concatenate([rng.normal(0, 1, 200), rng.normal(10, 1, 200)])[:, None]
    reference = GapReference.of(x, es.metrics.Euclidean(), "unimodal")
    samples = [drawn.points for drawn, _ in reference.draws(20, rng)]
    y = np.concatenate(samples)[:, 0]
    middle = np.mean((y > 4) & (y < 6))
    assert np.mean((x > 4) & (x < 6)) < 0.02 < middle
    p = [es.cluster_test(sample, rng=rng).pvalue for sample in samples]
    assert np.mean(np.array(p) <= 0.05) < 0.5


@pytest.mark.slow
def test_a_matrix_of_euclidean_distances_gives_the_choice_of_its_points(three):
    how, three = {"compare": "all", "n_resamples": 3, "n_init": 3, "rng": 7}, three[::2]
    points = es.select_k(three, 4, **how)
    matrix = es.select_k(es.pairwise(three), 4, metric="precomputed", **how)
    assert matrix.k == points.k
    # a matrix has no columns among which the tests could look for the clearest ones, so that its p-values differ
    same = [name for name in points.table if name != "pvalue"]
    assert_allclose(matrix.table[same].to_numpy(float), points.table[same].to_numpy(float), atol=1e-8)
    assert "Assumed" in words(matrix)


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(-8, 8), st.sampled_from(["gap", "eigengap"]))
def test_unit_and_place_do_not_matter(seed, d, power, criterion):
    rng = np.random.default_rng(seed)
    X = clouds(rng, [np.zeros(d), np.full(d, 9.0)], n=12)
    a = es.select_k(X, 4, criterion, n_resamples=5, n_init=3, rng=1)
    b = es.select_k(X * 2.0**power, 4, criterion, n_resamples=5, n_init=3, rng=1)
    assert a.k == b.k
    assert 1 <= a.k <= 4
    names = ["share", "gap", "gap_error", "eigengap"]
    assert_allclose(b.table[names], a.table[names], atol=1e-9)
    moved = es.select_k(X + 64, 4, criterion, n_resamples=5, n_init=3, rng=1)
    assert_allclose(moved.table[["share", "eigengap"]], a.table[["share", "eigengap"]], atol=1e-9)


def test_eigenvalues_are_those_of_the_walk(three, rng):
    for R in (es.pairwise(three), es.pairwise(rng.standard_normal((300, 2)))):
        A = np.exp(-3 * R / np.median(R[R > 0]))
        P = A / A.sum(axis=1, keepdims=True)
        values = np.sort(np.linalg.eigvals(P).real)[::-1]
        found = walk_eigenvalues(R, 6)
        assert found[0] == pytest.approx(1)
        assert_allclose(found, values[:6], atol=1e-9)
    assert_allclose(walk_eigenvalues(np.zeros((5, 5)), 3), [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("lowest", [-1.0, -1e3, -1e6])
def test_eigenvalues_of_a_rho_far_below_0_are_those_of_the_walk(lowest, rng):
    """Similarities of e**3000 were infinite, and the eigenvalues rounding."""
    R = es.pairwise(rng.standard_normal((30, 2)))
    R[0, 1] = R[1, 0] = lowest * np.median(R)
    R[0, 2] = R[2, 0] = -1.0
    logs = -3 * R / np.median(np.abs(R[R != 0]))
    sums = logsumexp(logs, axis=1)
    values = np.linalg.eigvalsh(np.exp(logs - (sums[:, None] + sums) / 2))[::-1]
    assert_allclose(walk_eigenvalues(R, 6), values[:6], atol=1e-9)


def test_eigengap_says_that_it_cannot_choose_one(rng):
    found = es.select_k(rng.standard_normal((60, 2)), 5, "eigengap", rng=rng)
    assert found.k >= 2
    assert "k = 1 cannot be chosen" in words(found)


@pytest.mark.slow  # as test_tree.py sees of other points
def test_significance_is_the_cluster_tree(three):
    three = 4 * three
    found = es.select_k(three, 6, "significance", rng=11)
    tree = es.cluster_tree(three, k_max=6, rng=11)
    pd.testing.assert_frame_equal(found.tree.to_frame(full=True), tree.to_frame(full=True))
    assert_array_equal(found.tree.labels, tree.labels)
    assert found.k == tree.k == found.choices["significance"]
    assert tree.k > 3 or es.clustering_accuracy(np.repeat([0, 1, 2], 30), tree.labels) > 0.97
    p = found.column("pvalue")
    splits = sorted(node.pvalue_adjusted for node in tree.nodes if node.children)
    assert p[: found.k - 1].tolist() == splits
    assert (np.diff(p[: found.k]) >= 0).all()
    assert p[found.k - 1] == min(leaf.pvalue_adjusted for leaf in tree.leaves if leaf.tested) > 0.05
    assert np.isnan(p[found.k :]).all()
    assert f"{found.k - 1} splits had an adjusted p <= 0.05, and no further split has" in found.notes[0]


def test_the_summary_has_w_of_the_chosen_clusters():
    """Long parallel bars: the tree cuts between them, the smallest W is that of two halves of both."""
    rng = np.random.default_rng(3)
    X = np.c_[rng.normal(0, 8, 80), 9 * np.repeat([0, 1], 40) + rng.normal(size=80)]
    found = es.select_k(X, 3, "significance", compare="chosen", rng=0)
    own, searched = found.partition, found.partitions[found.k - 1]
    assert own.within > 1.1 * searched.within
    end = " ".join(found.summary().split("\n\n")[-1].split())
    rows = {line[:14].strip(): line[14:].split() for line in found.summary().split("\n")}
    for row, of in (("its leaves *", own), (f"k = {found.k}", searched)):
        assert_allclose([float(cell) for cell in rows[row][:2]], [of.within, of.between / of.total], rtol=1e-3)
    assert not any(row.startswith("k =") and "*" in row for row in rows)
    assert sum(note.startswith("The chosen clusters (*, `.partition`)") for note in found.notes) == 1
    assert "a caution for which there was no room" not in end
    assert_allclose(found.to_frame()["within"], [part.within for part in found.partitions])  # as the printed table
    assert "p of a further split" in found.summary()
    assert "chosen clusters" not in es.select_k(X, 3, "eigengap", rng=0).summary()


@pytest.mark.parametrize("columns", [1, 2])
def test_draws_that_do_not_fit_are_refused_with_the_argument_that_asks_for_them(columns, three, monkeypatch):
    monkeypatch.setattr("energystats._runtime.available_memory", lambda: 2.0**33)
    with pytest.raises(
        MemoryError, match=r"^(2|5|15)0000000000 draws of .* Use a larger `level` \(the tests take 10/level draws"
    ):
        es.select_k(three[:, :columns], 2, "significance", level=1e-9, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no tests are made of so few points
        assert es.select_k(three[:10], 2, compare="all", level=1e-9, n_resamples=2, rng=0).tree is None


@pytest.mark.parametrize(("level", "draws"), [(0.05, 199), (0.1, 199), (0.01, 999), (0.004, 2499), (0.001, 9999)])
def test_small_levels_get_draws_enough(level, draws, three, monkeypatch):
    """The smallest p of all points is to be a tenth of the level, or 1/200."""
    heard = []

    def tree_of_points(d, rules, *_):
        heard.append(rules.n_resamples)

    monkeypatch.setattr("energystats.selection.select_k.tree_of_points", tree_of_points)
    with pytest.raises(KeyError):  # the tree is missing
        es.select_k(three, 2, "significance", compare="chosen", level=level, rng=0)
    assert heard == [draws]


def test_gaps_of_a_matrix_of_few_digits(three):
    """Coordinates are found in distances of 7 digits, too; the gaps are those of all digits as far as these go."""
    R, how = es.pairwise(three), {"metric": "precomputed", "n_resamples": 5, "n_init": 3, "rng": 1}
    single, double = (es.select_k(given, 4, **how) for given in (R.astype(np.float32), R))
    assert single.k == double.k == 3
    assert np.isfinite(single.table["gap"]).all()
    with pytest.raises(ValueError, match="the precomputed matrix holds no Euclidean distances"):
        es.select_k(CITY.astype(np.float32), 4, **how)


def test_fields_of_what_was_not_computed_are_none(three):
    found = es.select_k(three, 3, "eigengap", rng=0)
    assert (found.null, found.n_resamples, found.level, found.tree) == (None, None, None, None)
    found = es.select_k(three, 3, n_resamples=5, rng=0)
    assert (found.null, found.n_resamples, found.level) == ("unimodal", 5, None)
    with pytest.raises(ValueError, match="`criterion` must be one that was computed"):
        found.plot(criterion="significance")


@pytest.mark.slow
def test_gap_and_eigengap_stand_beside_significance(three):
    how, three = {"n_resamples": 3, "n_init": 3, "rng": 11}, three[::2]
    found = es.select_k(three, 5, "significance", **how)
    assert found.table[["gap", "gap_error", "eigengap"]].notna().all(axis=None)
    assert list(found.choices) == ["gap", "eigengap", "significance"]
    for criterion, k in found.choices.items():
        assert es.select_k(three, 5, criterion, **how).k == k
        assert criterion in found.summary()
    alone = es.select_k(three, 5, "significance", compare="chosen", **how)
    assert alone.table["gap"].isna().all()
    assert (alone.k, list(alone.choices)) == (found.k, ["eigengap", "significance"])
    assert es.select_k(three, 5, **how).tree is None


@pytest.mark.slow
def test_leaves_stop_at_k_max_and_at_the_level(three):
    two = es.select_k(4 * three, 2, "significance", compare="chosen", rng=11)
    assert two.k == 2
    assert "still significant" in two.notes[0]
    how = {"level": 0.01, "compare": "chosen", "rng": 11}
    strict = es.select_k(9 * three[:60:2], 6, "significance", **how)
    assert strict.tree.n_resamples == 999
    assert strict.column("pvalue")[0] <= 0.01
    one = es.select_k(np.random.default_rng(0).random((30, 2)), 6, "significance", **how)
    assert one.k == 1
    assert one.notes[0].startswith("No split had an adjusted p <= 0.01: the smallest is")


def test_small_leaves_are_not_tested(rng):
    X = clouds(rng, [[0.0, 0.0], [30.0, 0.0]], n=12)
    found = es.select_k(X, 5, "significance", level=0.5, rng=rng)
    assert found.k == 2
    assert found.column("pvalue")[1] == 1
    assert "No leaf of the tree has" in found.notes[0]


def test_one_column(rng):
    x = clouds(rng, [[0.0], [12.0], [24.0]], n=40)[:, 0]
    for criterion in ("gap", "significance"):
        found = es.select_k(x, 5, criterion, null="box", rng=rng)
        assert found.k >= 3  # that nothing more is split holds at the level of the test only
    assert found.partitions[1].algorithm == "exact-1d"
    d = Dissimilarity.from_data(x, metric="euclidean", alpha=1.0)
    for held in (d, d.stored()):
        found, exact = _withins_up_to(held, 2, 5, rng), es.cluster_1d(x)
        assert found.tolist() == pytest.approx([exact.total, exact.within])


def test_searches_side_by_side_do_not_add_up_to_more_memory_than_one_large_matrix(rng):
    d = Dissimilarity.from_data(rng.random((20_000, 2)), metric="euclidean", alpha=1.0)
    assert count_threads(d) == 1  # each holds its pairs in single precision: 1.6 GB
    own = Dissimilarity.from_data(rng.random((50, 2)), metric=lambda X, Y: abs(X[:, None, 0] - Y[:, 0]), alpha=1.0)
    assert count_threads(own) == 1  # a user's function is called from one thread


def test_reference_sets_of_many_points_have_the_w_of_double_precision(rng):
    """Beyond 1,000 points rho is rounded to seven digits; in any unit, and where one row lies too far out for that."""
    X = clouds(rng, [[0, 0], [40, 0], [0, 90], [150, 150]], n=260)
    far = np.vstack([X[:1], [[1e60, 0]], X[2:]])
    for points in (X, 1e-150 * X, 1e120 * X):
        d = Dissimilarity.from_data(points, metric="euclidean", alpha=1.0)
        assert _state_problem(d)[0].R.dtype == np.float32
        found = _withins_up_to(d, 4, 3, np.random.default_rng(1))
        expected = [d.scale, *(search_points(d.stored(), k, rng)[1] for k in (2, 3, 4))]
        assert_allclose(found, expected, rtol=1e-8)
    d = Dissimilarity.from_data(far, metric="euclidean", alpha=1.0)
    assert _state_problem(d)[0].R.dtype == np.float64
    assert_array_equal(logarithm(_withins_up_to(d, 3, 3, rng)), [np.log(d.scale), -np.inf, -np.inf])


@pytest.mark.parametrize(("n", "told"), [(250, False), (260, True)])
def test_single_precision_of_reference_sets_is_told(rng, n, told):
    X = clouds(rng, [[0, 0], [40, 0], [0, 90], [150, 150]], n=n)
    found = es.select_k(X, 2, criterion="gap", n_resamples=2, n_init=1, rng=0)
    assert any("in single precision" in note for note in found.notes) == told
    again = es.select_k(X, 2, criterion="gap", n_resamples=2, n_init=1, rng=0)
    assert_array_equal(found.column("gap"), again.column("gap"))


@pytest.mark.slow
def test_ties_warn_once(rng):
    X = np.round(clouds(rng, TRIANGLE, n=40) * 2) / 2
    with pytest.warns(es.TiesWarning) as caught:
        found = es.select_k(X, 5, "significance", rng=rng)
    # by chance values can seem to be rounded twice, too
    assert sum("Steps between tied values" in str(one.message) for one in caught) == 1
    assert len({str(one.message) for one in caught}) == len(caught) <= 2
    assert found.k >= 3
    assert "between the values beside them" in words(found)


# ---------------------------------------------------------------- small and degenerate data


@pytest.mark.parametrize(("n", "k_max", "why"), [(1, 1, "one point"), (2, 1, "2 points"), (5, 4, "5 points")])
def test_tiny_samples(n, k_max, why, rng):
    found = es.select_k(rng.standard_normal((n, 2)), rng=rng)
    assert found.k_max == k_max
    assert 1 <= found.k <= k_max
    assert f"lowered from 10 to {k_max}: there {'is' if n == 1 else 'are'} {why}" in words(found)


def test_constant_data():
    for criterion in ("gap", "eigengap", "significance"):
        found = es.select_k(np.ones((30, 2)), criterion=criterion, compare="all")
        assert (found.k, found.k_max) == (1, 1)
        assert "all points coincide" in words(found)
    assert es.select_k(np.zeros((30, 30)), metric="precomputed").k == 1


def test_few_distinct_points_are_that_many_clusters(rng):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 7.0]], 15, axis=0)
    found = es.select_k(X, rng=rng)
    assert (found.k, found.k_max) == (3, 3)
    assert found.notes[0] == "k = 3 leaves nothing but coinciding points in every cluster: W is 0."
    assert found.rows[2].log_within == -np.inf
    assert found.plot().has_data()
    mpl.pyplot.close("all")


def test_one_as_the_limit(three):
    found = es.select_k(three, 1, compare="all", rng=0)
    assert (found.k, len(found.rows)) == (1, 1)
    for criterion in ("gap", "eigengap", "significance", "within"):
        found.plot(criterion=criterion)
    mpl.pyplot.close("all")


MIXED = pd.DataFrame({"a": np.arange(30.0), "b": list("xyz") * 10})
CITY = es.pairwise(np.random.default_rng(0).standard_normal((30, 3)), metric="cityblock")
X30 = np.random.default_rng(0).standard_normal((30, 2))
BAD = [
    (lambda: es.select_k(X30, 0), ValueError, r"`k_max` must be at least 1, got 0"),
    (lambda: es.select_k(X30, 2.5), TypeError, r"`k_max` must be a whole number"),
    (lambda: es.select_k(X30, 3, "silhouette"), ValueError, r"`criterion` must be one of gap, eigengap, significance"),
    (lambda: es.select_k(X30, null="normal"), ValueError, r"`null` must be one of unimodal, box"),
    (lambda: es.select_k(X30, compare="some"), ValueError, r"`compare` must be one of auto, chosen, all"),
    (lambda: es.select_k(X30, level=0), ValueError, r"`level` must be positive"),
    (lambda: es.select_k(X30, level=1.5), ValueError, r"`level` must lie below 1, got 1.5"),
    (lambda: es.select_k(X30, level=1e-12), ValueError, r"`level` must be at least 1e-09, got 1e-12: .* 1e\+12 draws"),
    (lambda: es.select_k(X30, level=1e-320), ValueError, r"`level` must be at least 1e-09, got .* draws or more"),
    (lambda: es.select_k(X30, n_resamples=1), ValueError, r"`n_resamples` must be at least 2, got 1"),
    (lambda: es.select_k(X30, n_init=0), ValueError, r"`n_init` must be at least 1"),
    (lambda: es.select_k(X30[:15], criterion="significance"), ValueError, r"needs at least 20 points, got 15"),
    (lambda: es.select_k(MIXED, metric="gower"), ValueError, r"draws reference data in coordinates.*eigengap"),
    (
        lambda: es.select_k((X30 > 0) * 1.0, metric="hamming"),
        ValueError,
        r"coordinates, and there are none known to be valid under SciPy",
    ),
    (lambda: es.select_k(MIXED, criterion="significance", metric="gower"), ValueError, r"categories or missing values"),
    (lambda: es.select_k(CITY, metric="precomputed"), ValueError, r"the precomputed matrix holds no Euclidean dist"),
    (lambda: es.select_k(CITY, metric="precomputed", alpha=0.5), ValueError, r"`alpha`"),
    (lambda: es.select_k(np.where(X30 > 2, np.nan, X30 * np.nan)), ValueError, r"`X` must be finite"),
    (lambda: es.select_k(X30, rng="a"), TypeError, r"`rng` must be a seed"),
    (lambda: es.select_k(X30, 3, rng=0).plot(criterion="p"), ValueError, r"`criterion` must be one of gap, eigengap"),
    (lambda: es.select_k(X30, 3, rng=0).plot(criterion="significance"), ValueError, r"one that was computed"),
    (lambda: es.cluster_stability(X30), ValueError, r"`k` or `clusterer` must be given, and not both"),
    (
        lambda: es.cluster_stability(X30, 2, clusterer=len),
        ValueError,
        r"`k` or `clusterer` must be given, and not both",
    ),
    (
        lambda: es.cluster_stability(X30, clusterer=lambda X: np.full(len(X), -1)),
        ValueError,
        r"`clusterer` must find at least one cluster, but put all 30",
    ),
    (lambda: es.cluster_stability(X30, 0), ValueError, r"`k` must be at least 1"),
    (lambda: es.cluster_stability(X30, 31), ValueError, r"`k` must be at most 30"),
    (lambda: es.cluster_stability(np.ones((9, 2)), 2), ValueError, r"distinct points, 1, got 2"),
    (lambda: es.cluster_stability(X30, 2, scheme="jackknife"), ValueError, r"`scheme` must be one of bootstrap, subs"),
    (lambda: es.cluster_stability(X30, 2, n_resamples=0), ValueError, r"`n_resamples` must be at least 1"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_negative_rho_has_no_logarithm(rng):
    X = 5 * rng.standard_normal((40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        with pytest.raises(ValueError, match=r"takes logarithms of W under Sine.*, and rho is negative"):
            es.select_k(X, 3, metric=es.metrics.Sine(), rng=rng)
        found = es.select_k(X, 3, "eigengap", metric=es.metrics.Sine(), compare="all", rng=rng)
    assert found.table["gap"].isna().all()
    assert "No gaps" in words(found)


def test_what_cannot_be_computed_is_left_out_with_a_note():
    found = es.select_k(MIXED, 4, "eigengap", metric="gower", compare="all", rng=0)
    assert found.table[["gap", "pvalue"]].isna().all(axis=None)
    assert "No gaps" in words(found)
    with pytest.warns(es.NotCalibratedWarning) as caught:
        found = es.select_k(CITY, 4, "eigengap", metric="precomputed", compare="all", rng=0)
    assert len(caught) == 1
    assert found.table["gap"].isna().all()


def test_progress_goes_to_stderr(three, capsys):
    es.select_k(three, 3, progress=True, rng=0)
    es.cluster_stability(three, 3, n_resamples=7, progress=True, rng=0)
    captured = capsys.readouterr()
    assert "20/20" in captured.err
    assert "7/7" in captured.err
    assert captured.out == ""


@pytest.mark.slow
def test_plots_show_what_they_say(three):
    found = es.select_k(three[::2], 5, compare="all", n_resamples=3, n_init=3, rng=2)
    ax = found.plot()
    assert "gap" in ax.get_ylabel()
    line = ax.containers[0].lines[0]
    assert_allclose(line.get_ydata(), found.column("gap"))
    assert_allclose(found.plot(criterion="within").lines[0].get_ydata(), found.column("within"))
    splits = found.plot(criterion="significance")
    assert splits.get_yscale() == "log"
    bars = [bar.get_height() for bar in found.plot(criterion="eigengap").patches]
    assert_allclose(sorted(bars), np.sort(found.column("eigengap")))
    mpl.pyplot.close("all")


# ---------------------------------------------------------------- stability


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_indices_against_their_definitions(pairs):
    a, b = (np.unique(z, return_inverse=True)[1] for z in zip(*pairs, strict=True))
    k = int(a.max()) + 2  # one cluster without points
    jaccard = _best_jaccard(_compute_jaccard(a, k, b))
    sets = [[{i for i, v in enumerate(z) if v == j} for j in range(max(k, 3))] for z in (a.tolist(), b.tolist())]
    for j, found in enumerate(jaccard[:-1]):
        assert found == pytest.approx(max(len(sets[0][j] & B) / len(sets[0][j] | B) for B in sets[1]))
    assert np.isnan(jaccard[-1])


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_resamples_are_half_of_the_points_or_as_many_with_replacement(n, seed):
    for ((rows, _),) in _resampled(n, 3, "subsample", np.random.default_rng(seed)):
        assert rows.size == len(set(rows)) == max(n // 2, 1)
        assert set(rows) <= set(range(n))
    children = np.random.default_rng(seed).spawn(3)
    for ((rows, _),), child in zip(_resampled(n, 3, "bootstrap", np.random.default_rng(seed)), children, strict=True):
        assert rows.tolist() == sorted(set(child.integers(n, size=n).tolist()))


def test_half_of_a_cluster_dissolves_it_and_three_quarters_recover_it(rng, monkeypatch):
    """Both bounds belong to the verdict, and resamples without points of a cluster say nothing of it."""
    given = np.array([[0.5, 0.75, 0.4], [0.75, 0.5, np.nan], [1.0, 0.7499, 0.5001], [0.5001, 0.75, np.nan]])
    rows = iter(given)
    monkeypatch.setattr("energystats.cluster_tests.resampled_clusters._best_jaccard", lambda _: next(rows))
    found = es.cluster_stability(rng.standard_normal((9, 2)), 3, n_resamples=4, n_init=1, rng=rng)
    assert_array_equal(found.similarities, given)
    assert_allclose(found.dissolved, [1 / 4, 1 / 4, 1 / 2])
    assert_allclose(found.recovered, [1 / 2, 1 / 2, 0])
    assert_allclose(found.jaccard, [2.7501 / 4, 2.7499 / 4, 0.9001 / 2])


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample"])
def test_separated_clusters_come_back(three, scheme):
    a, b = (es.cluster_stability(three, 3, scheme=scheme, n_resamples=30, rng=6) for _ in range(2))
    assert_array_equal(a.similarities, b.similarities)
    assert (a.jaccard > 0.97).all()
    assert a.adjusted_rand > 0.95
    assert_array_equal(a.recovered, 1)
    assert_array_equal(a.dissolved, 0)
    assert "Stability is not significance" in a.summary()
    assert a.to_frame()["jaccard"].tolist() == a.jaccard.tolist()


@pytest.mark.slow
def test_too_many_clusters_do_not_come_back(three):
    four, right = (es.cluster_stability(three, k, n_resamples=50, rng=6) for k in (4, 3))
    assert four.jaccard.min() < right.jaccard.min()
    assert four.adjusted_rand < right.adjusted_rand


@pytest.mark.slow
def test_stability_is_not_significance(rng):
    """One normal cloud, five times as long as wide: cut in two at the same place again and again."""
    X = rng.standard_normal((500, 2)) * [1, 5]
    found = es.cluster_stability(X, 2, n_resamples=20, rng=rng)
    assert found.jaccard.min() > 0.7  # .87 or more in 24 samples
    assert found.adjusted_rand > 0.5
    assert es.select_k(X[:200], 4, rng=rng).k == 1
    how = {"n_splits": 1, "n_resamples": 1499, "rng": rng}
    tree = es.cluster_tree(X, level=0.001, **how)  # one cluster, but for one sample in a thousand
    assert tree.k == 1
    assert "Stability is not significance" in found.summary()


def test_stability_of_degenerate_resamples(rng):
    X = np.zeros((12, 2))
    X[0], X[1] = [1.0, 0.0], [0.0, 1.0]
    found = es.cluster_stability(X, 3, n_resamples=40, rng=rng)
    known = ~np.isnan(found.similarities)
    assert (~known).any()  # a cluster of one point is not always drawn
    assert known[:, np.argmax(found.partition.sizes)].all()
    assert ((found.jaccard >= 0) & (found.jaccard <= 1)).all()
    one = es.cluster_stability(X, 1, n_resamples=5, rng=rng)
    assert one.adjusted_rand == 1
    assert found.plot().has_data()
    mpl.pyplot.close("all")


def test_clusters_that_come_back_whatever_the_data_are_not_counted(rng):
    X = rng.normal(size=(24, 2))
    for k, Y, said in (
        (24, X, "Every cluster is one point: these come back whatever the data"),
        (3, np.repeat(X[:3], 4, axis=0), "Every cluster is points that coincide: these come back whatever"),
        (1, X, "There is one cluster, of all points: it comes back whatever the data"),
    ):
        found = es.cluster_stability(Y, k, n_resamples=5, rng=rng)
        assert not (found.jaccard < 1).any()  # unknown where no resample drew the point
        assert found.summary().startswith(said)
    # two clouds and a point far from both
    far = np.r_[clouds(rng, [[0.0, 0.0], [12.0, 0.0]], n=15), [[0.0, 400.0]]]
    head = " ".join(es.cluster_stability(far, 3, n_resamples=5, rng=rng).summary().split("\n\n")[0].split())
    assert "of 2 clusters of several points came back" in head
    assert re.search(r"; so did [01] of 1 of one point, as any point does that lies apart; that is no test\.", head)
    # a point among others does not come back
    alike = es.cluster_stability(1 - np.eye(30), 2, metric="precomputed", n_resamples=50, rng=rng)
    assert "; so did 0 of 1 of one point" in " ".join(alike.summary().split())


@pytest.mark.slow
def test_stability_column(three):
    found = es.select_k(three, 4, "eigengap", stability=True, n_init=3, rng=0)
    column = found.column("stability")
    assert np.isnan(column[0])
    assert np.nanargmax(column) == 2
    assert "Stability is not significance" in found.summary()


def test_one_column_and_matrices_are_resampled_alike(rng):
    x = np.concatenate([rng.normal(0, 1, 40), rng.normal(9, 1, 40)])
    line = es.cluster_stability(x, 2, n_resamples=20, rng=3)
    matrix = es.cluster_stability(es.pairwise(x), 2, metric="precomputed", n_resamples=20, rng=3)
    assert line.partition.algorithm == "exact-1d"
    assert_allclose(line.jaccard, matrix.jaccard, atol=0.02)


# ---------------------------------------------------------------- shares of correct choices

REPLICATES = 8
CASES = simulations.NUMBERS_OF_CLUSTERS


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")
@pytest.mark.parametrize("name", CASES)
def test_share_of_correct_choices(name, rotating_seed):
    k, draw, asked = CASES[name]
    rng = np.random.default_rng([rotating_seed, 31])
    hits = dict.fromkeys(asked, 0)
    for _ in range(REPLICATES):
        X = draw(rng)
        for how in asked:
            criterion, _, null = how.partition(" ")
            options = {"null": null} if null else {}
            hits[how] += es.select_k(X, 8, criterion, compare="chosen", n_init=6, rng=rng, **options).k == k
    for how, share in asked.items():
        assert hits[how] >= binom.ppf(0.001, REPLICATES, share), f"{how}: {hits[how]} of {REPLICATES}, asked {share}"


def test_no_gaps_where_reference_sets_coincide(monkeypatch):
    """Similarities of 39 zeros and a one: nothing there is negative. Jittered, as ties are, they have gaps."""
    x = np.r_[np.zeros(39), 1.0]
    assert es.select_k(x, 4, "gap", rng=0).k == 2

    def hardly(x, rng):
        return Jittered(x + 1e-17 * rng.random(x.size), 0.0, False, False, ())

    monkeypatch.setattr(reference_samples, "jitter_ties", hardly)
    with pytest.raises(
        ValueError, match=r"the points of a reference set coincide within 2 clusters.*use criterion=.eigen"
    ):
        es.select_k(x, 4, "gap", rng=0)
    with pytest.warns(es.TiesWarning):
        found = es.select_k(x, 4, "significance", rng=0)
    assert (found.k, found.k_max) == (1, 2)
    assert any(note.startswith("No gaps: the points of a reference set coincide") for note in found.notes)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("values", "within"), [(3, "3 clusters"), (1, "1 cluster")])
def test_no_gaps_where_tables_of_the_user_have_few_values(columns, values, within, rng):
    """One column was refused for a `k` that nobody gave."""
    X = rng.normal(size=(40, columns))

    def few(rng):
        return np.tile(rng.permutation(np.arange(40.0) % values)[:, None], columns)

    with pytest.raises(ValueError, match=f"the points of a reference set coincide within {within}, so that its W is 0"):
        es.select_k(X, 5, "gap", null=few, n_resamples=3, rng=0)
    found = es.select_k(X, 5, "eigengap", null=few, compare="all", n_resamples=3, rng=0)
    assert any(note.startswith("No gaps: the points of a reference set coincide") for note in found.notes)


def test_logarithms_tell_nothing_from_negative():
    found = logarithm(np.array([4.0, 1.0, 1e-16, -1e-16, -0.5]))
    assert_allclose(found[:2], np.log([4.0, 1.0]))
    assert (found[2:4] == -np.inf).all()
    assert np.isnan(found[4])


def test_choices_cannot_be_changed(rng):
    found = es.select_k(rng.standard_normal((20, 2)), 3, "eigengap", rng=0)
    with pytest.raises(TypeError, match="does not support item assignment"):
        found.choices["gap"] = 7
    assert pickle.loads(pickle.dumps(found)).choices == copy.deepcopy(found).choices == found.choices


def test_eigengap_says_that_values_of_ties_are_its_clusters():
    counts = np.repeat([[0.0, 0], [1, 0], [0, 1], [3, 3]], [20, 20, 20, 10], axis=0)
    found = es.select_k(counts, 8, "eigengap", rng=0)
    assert found.k == 4
    assert "There are 4 distinct points" in " ".join(found.notes)
    spread = counts + np.linspace(0, 1e-3, 70)[:, None]
    assert "distinct points: each value" not in " ".join(es.select_k(spread, 8, "eigengap", rng=0).notes)


@pytest.mark.parametrize(("criterion", "power"), [("gap", 0.5), ("significance", 0.5), ("gap", 2.0)])
def test_alpha_says_which_power_of_a_distance_a_matrix_holds(three, criterion, power):
    R = es.pairwise(three, alpha=power)
    found = es.select_k(R, 4, criterion, metric="precomputed", alpha=power, n_resamples=5, n_init=3, rng=0)
    of_table = es.select_k(three, 4, criterion, alpha=power, n_resamples=5, n_init=3, rng=0)
    assert found.k == of_table.k
    assert_allclose(found.column("within"), of_table.column("within"))
    assert_allclose(found.column("gap"), of_table.column("gap"), atol=1e-6)


def test_gaps_of_squared_distances_ask_for_their_power(three):
    with pytest.raises(ValueError, match=r"no Euclidean distances to the power `alpha` = 1. Say with `alpha`"):
        es.select_k(es.pairwise(three) ** 2, 3, metric="precomputed", rng=0)


@pytest.mark.parametrize("how", [{}, {"metric": "cityblock", "alpha": 0.5}, {"standardize": True}])
def test_partitions_are_those_of_energy_cluster_with_the_same_seed(how, rng):
    """Where a search ends in several optima, two functions must not show two answers."""
    X = np.round(rng.normal(size=(90, 4)) * [1, 2, 1, 1], 1)
    found = es.select_k(X, 6, rng=7, n_resamples=2, **how)
    for own in found.partitions:
        assert_array_equal(own.labels, es.energy_cluster(X, own.k, rng=7, **how).labels)


def test_the_gap_does_not_depend_on_units_that_the_metric_takes_out(rng):
    X = np.c_[rng.normal(size=60), np.repeat([[0, 0], [0.8, 0], [0, 0.8]], 20, axis=0) + rng.normal(0, 0.06, (60, 2))]
    wide, plain = (es.select_k(X * unit, 4, metric="seuclidean", rng=0) for unit in (np.array([1e12, 1, 1]), 1.0))
    assert_allclose(wide.column("gap"), plain.column("gap"), atol=1e-8)


def test_clusters_of_negative_w_do_not_coincide(rng):
    with pytest.warns(es.NotNegativeTypeWarning):
        found = es.cluster_stability(rng.normal(size=(40, 2)) * 3, 3, metric=es.metrics.Sine(0.9), n_resamples=3, rng=0)
    assert "points that coincide" not in found.summary()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"criterion": "eigengap", "compare": "chosen", "n_resamples": 50}, "without the criterion gap: `n_resamples`"),
        ({"compare": "chosen", "level": 0.2}, "without the criterion significance: `level`"),
        (
            {"compare": "chosen", "level": 0.2, "conservative": True},
            "without the criterion significance: `level`, `conservative`",
        ),
        ({"compare": "chosen"}, None),
        ({"compare": "all", "level": 0.2, "n_resamples": 5}, None),
    ],
)
def test_options_without_effect_are_noted(options, named, rng):
    notes = " ".join(es.select_k(rng.normal(size=(40, 2)), 3, rng=0, **options).notes)
    assert (f"Not used {named}." in notes) if named else ("Not used" not in notes)


def test_starts_are_not_used_with_a_clusterer(rng):
    from sklearn.cluster import KMeans

    X = rng.normal(size=(40, 2))
    means = KMeans(2, n_init=2, random_state=0)
    assert (
        "Not used with a clusterer: `n_init`."
        in es.cluster_stability(X, clusterer=means, n_init=77, n_resamples=3, rng=0).notes
    )
    assert "n_init" not in " ".join(es.cluster_stability(X, clusterer=means, n_resamples=3, rng=0).notes)
    assert "n_init" not in " ".join(es.cluster_stability(X, 2, n_init=7, n_resamples=3, rng=0).notes)


def test_what_the_gap_alone_reads_is_named_where_it_is_not_asked_for(rng):
    X = rng.normal(size=(40, 2))
    notes = es.select_k(X, 3, "eigengap", null="box", n_resamples=30, rng=0).notes
    assert "Not used without the criterion gap: `n_resamples`, `null`." in notes
    assert not any("Not used" in note for note in es.select_k(X, 3, "gap", null="box", n_resamples=5, rng=0).notes)


def test_a_number_by_a_p_near_the_level_says_so():
    """`cluster_tree` said that another seed can give other clusters, and the choice of k by the same tree nothing."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[30:, 0] += 3.2
    said = []
    for seed in range(2):
        said.append("near the level" in es.cluster_tree(X, rng=seed).summary())
        notes = es.select_k(X, 4, "significance", rng=seed, compare="chosen").notes
        assert said[-1] == any("near the level" in note for note in notes)
    assert any(said)
