"""Pairs of groups: the numbers of the two-sample test, the adjustment of statsmodels, and the test of spread."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f_oneway
from statsmodels.stats.multitest import multipletests

import energystats as es
from energystats import datasets
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.multiplicity import CORRECTIONS, adjust
from energystats.distribution_tests.pairwise_tests import _spread_shares, _squared_distances_to_centres


@pytest.fixture
def three(rng):
    X = np.concatenate((rng.normal(0, 1, (15, 2)), rng.normal(0, 3, (20, 2)), rng.normal(4, 1, (12, 2))))
    return X, np.repeat(["base", "wide", "moved"], [15, 20, 12])


def test_pairs_are_two_sample_tests(three):
    X, groups = three
    table = es.pairwise_tests(X, groups, rng=0).table
    assert list(zip(table["group1"], table["group2"], strict=True)) == [
        ("base", "moved"), ("base", "wide"), ("moved", "wide"),
    ]  # fmt: skip
    for row in table.itertuples():
        x, y = X[groups == row.group1], X[groups == row.group2]
        assert (row.n1, row.n2) == (len(x), len(y))
        assert row.energy_distance == pytest.approx(es.energy_distance(x, y))
        alone = es.energy_test(x, y, n_resamples=999, rng=1)
        assert row.effect_size == pytest.approx(alone.effect_size)
        error = np.sqrt(2 * alone.pvalue * (1 - alone.pvalue) / 999)
        assert abs(row.pvalue - alone.pvalue) <= 4.5 * error + 0.002


def test_place_and_spread_are_distinguished(rng):
    base = rng.standard_normal((80, 2))
    X = np.concatenate((base, 4 * rng.standard_normal((80, 2)), base[::-1] + 5))  # the third has the first's spread
    table = es.pairwise_tests(X, np.repeat(["base", "wide", "moved"], 80), rng=0).table.set_index(["group1", "group2"])
    assert table.loc[("base", "wide"), "pvalue_spread_adjusted"] <= 0.05
    assert table.loc[("base", "moved"), "pvalue_adjusted"] <= 0.05
    assert table.loc[("base", "moved"), "pvalue_spread"] == 1


@pytest.mark.parametrize("exponent", [-300, 300])
def test_the_test_of_spread_does_not_depend_on_the_unit(exponent, rng):
    """Squares of squared distances leave the range of numbers long before the data do."""
    X, groups = rng.normal(size=(20, 2)), np.arange(20) % 2
    how = {"alpha": 2.0, "n_resamples": 99, "rng": 0}
    plain, scaled = (es.pairwise_tests(points, groups, **how).table for points in (X, np.ldexp(X, exponent)))
    assert plain["pvalue_spread"].tolist() == scaled["pvalue_spread"].tolist()


def test_two_points_have_a_spread_and_one_has_none(rng):
    X = rng.normal(size=(13, 2))
    table = es.pairwise_tests(X, np.repeat(["a", "b", "c"], [2, 1, 10]), n_resamples=49, rng=0).table
    spread = table.set_index(["group1", "group2"])["pvalue_spread"].notna()
    assert spread.to_dict() == {("a", "b"): False, ("a", "c"): True, ("b", "c"): False}
    adjusted = adjust([0.01, np.nan, 0.02], "bonferroni")
    assert adjusted[[0, 2]].tolist() == [0.02, 0.04]


def test_many_pairs_get_resamples_enough_for_small_adjusted_pvalues(rng):
    X = rng.normal(size=(9, 1))
    assert es.pairwise_tests(X, np.arange(9), rng=0).n_resamples == 40 * 36 - 1
    assert es.pairwise_tests(X[:3], np.arange(3), rng=0).n_resamples == 999


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_adjustment_is_that_of_statsmodels(three, correction):
    result = es.pairwise_tests(*three, correction=correction, n_resamples=99, rng=0)
    raw = result.table["pvalue"].to_numpy()
    with np.errstate(divide="ignore"):
        expected = raw if correction == "none" else multipletests(raw, method=correction)[1]
    assert_allclose(result.table["pvalue_adjusted"], expected)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_pvalues_of_one_and_missing_ones_are_adjusted_quietly(correction):
    adjusted = adjust([0.01, 1.0, np.nan, 0.02], correction)
    with np.errstate(divide="ignore"):
        expected = [0.01, 1.0, 0.02] if correction == "none" else multipletests([0.01, 1.0, 0.02], method=correction)[1]
    assert np.isnan(adjusted[2])
    assert_allclose(adjusted[[0, 1, 3]], expected)
    assert adjust([0.5], correction).tolist() == [0.5]


def test_against_a_control(three):
    table = es.pairwise_tests(*three, control="moved", n_resamples=99, rng=0).table
    assert list(table["group1"]) == ["moved", "moved"]
    assert list(table["group2"]) == ["base", "wide"]


def test_same_seed_same_table_by_every_route(three):
    X, groups = three
    first = es.pairwise_tests(X, groups, n_resamples=99, rng=3).table
    assert first.equals(es.pairwise_tests(X, groups, n_resamples=99, rng=3).table)
    matrix = es.pairwise_tests(es.pairwise(X), groups, metric="precomputed", n_resamples=99, rng=3).table
    pd.testing.assert_frame_equal(first, matrix, rtol=1e-10)


def test_distances_to_centres_match_their_definition(three):
    """For squared distances the feature space is the data's own, and the centre is the mean."""
    X, groups = three
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=2.0)
    checked = Groups.from_labels(groups, len(X), name="groups")
    means = np.array([X[checked.codes == j].mean(axis=0) for j in range(3)])[checked.codes]
    expected = ((X - means) ** 2).sum(axis=1)
    assert_allclose(_squared_distances_to_centres(d, checked), expected, rtol=1e-9)
    # their mean is half of g, for any rho
    by_rho = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    z = _squared_distances_to_centres(by_rho, checked)
    for j in range(3):
        R = es.pairwise(X[checked.codes == j])
        assert z[checked.codes == j].mean() == pytest.approx(R.sum() / len(R) ** 2 / 2)


def test_shares_of_spread_match_their_definition(rng):
    """Residuals are assigned to new groups, which get means of their own; for squared distances in the data's space."""
    sizes = rng.integers(3, 9, 2)  # of 2 + 2 all shares are 1 or 0/0
    X, codes = rng.normal(size=(sizes.sum(), 3)), rng.permutation(np.repeat([0, 1], sizes))
    d, groups = Dissimilarity.from_data(X, metric="sqeuclidean", alpha=1.0), Groups(codes, ("a", "b"))
    residuals = np.array([x - X[codes == j].mean(axis=0) for x, j in zip(X, codes, strict=True)])
    labelings = np.array([codes, *(rng.permutation(codes) for _ in range(5))])
    expected = []
    for labels in labelings:
        z = np.empty(len(X))
        for j, size in enumerate(sizes):
            own = residuals[labels == j]
            z[labels == j] = ((own - own.mean(axis=0)) ** 2).sum(axis=1) * size / (size - 1)
        parts = [z[labels == j] for j in range(2)]
        total = ((z - z.mean()) ** 2).sum()
        expected.append(sum(len(part) * (part.mean() - z.mean()) ** 2 for part in parts) / total)
    found = _spread_shares(d, groups, _squared_distances_to_centres(d, groups), labelings)
    assert_allclose(found, expected, atol=1e-12)


def test_spread_ranks_like_the_f_test(rng):
    """The permuted share is monotone in F of the distances, so its p agrees with F where F holds."""
    X = rng.standard_normal((200, 2))
    groups = np.repeat([0, 1], 100)
    X[:100] *= 1.2
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    z = _squared_distances_to_centres(d, Groups.from_labels(groups, 200, name="groups"))
    p = es.pairwise_tests(X, groups, n_resamples=4999, rng=rng).table["pvalue_spread"][0]
    expected = f_oneway(z[:100], z[100:]).pvalue
    assert abs(p - expected) <= 5 * np.sqrt(expected * (1 - expected) / 4999) + 0.01


def test_a_group_of_one_has_no_spread(rng):
    X = rng.standard_normal((9, 2))
    table = es.pairwise_tests(X, [0] * 4 + [1] * 4 + [2], rng=0).table
    assert table["pvalue_spread"].isna().tolist() == [False, True, True]
    assert table["pvalue_spread_adjusted"].isna().tolist() == [False, True, True]
    assert table["pvalue_adjusted"].notna().all()


def test_identical_points_are_no_evidence():
    table = es.pairwise_tests(np.ones((9, 2)), np.arange(9) % 3, n_resamples=19, rng=0).table
    assert (table["pvalue"] == 1).all()
    assert (table["pvalue_spread"] == 1).all()


def test_real_data():
    iris = datasets.load("iris")
    result = es.pairwise_tests(iris.iloc[:, :4], iris["species"], rng=0)
    assert (result.table["pvalue_adjusted"] <= 0.003 + 1e-12).all()
    assert "setosa vs versicolor" in result.summary()
    assert "differ in place or shape" in " ".join(result.summary().split())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"control": "bse"}, r"`control` must be one of the groups base, moved, wide; got 'bse'. Did you mean 'base'"),
        ({"correction": "tukey"}, r"`correction` must be one of holm, bonferroni"),
        ({"n_resamples": 0}, r"`n_resamples` must be at least 1"),
        ({"method": "asymptotic"}, r"`method` must be one of auto, exact, permutation"),
    ],
)
def test_bad_input(three, how, message):
    with pytest.raises(ValueError, match=message):
        es.pairwise_tests(*three, **how)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(20, 20), (10, 40)])
@pytest.mark.parametrize("distribution", ["standard_normal", "standard_exponential"])
def test_level_of_spread(distribution, sizes, rng):
    from scipy.stats import binom

    count = 0
    for _ in range(500):
        X = getattr(rng, distribution)((sum(sizes), 1))
        table = es.pairwise_tests(X, np.repeat([0, 1], sizes), n_resamples=99, rng=rng).table
        count += table["pvalue_spread"][0] <= 0.05
    assert count <= binom.ppf(0.999, 500, 0.075), f"{count} of 500"
