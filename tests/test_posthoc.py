"""Pairs of groups: the numbers of the two-sample test, the adjustment of statsmodels, and the test of spread."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f_oneway
from statsmodels.stats.multitest import multipletests

import energystats as es
from energystats import datasets
from energystats.distribution_tests.multiplicity import CORRECTIONS, adjust


@pytest.fixture
def three(rng):
    X = np.concatenate((rng.normal(0, 1, (15, 2)), rng.normal(0, 3, (20, 2)), rng.normal(4, 1, (12, 2))))
    return X, np.repeat(["base", "wide", "moved"], [15, 20, 12])


def test_pairs_whose_design_leaves_few_labelings_are_noted():
    """Six blocks of one row of each group have 64 labelings, p at least 2/64; over six pairs none can be small."""
    rng = np.random.default_rng(0)
    groups, block = np.tile([*"abcd"], 6), np.repeat(np.arange(6), 4)
    how = {"design": es.Design(strata=block)}
    first, second = (es.pairwise_tests(rng.normal(size=(24, 2)), groups, **how, rng=seed) for seed in (0, 1))
    said = "No adjusted p below 0.188 is possible: the labelings of a pair allow none below 0.0312"
    for found in (first, second):
        assert any(note.startswith(said) for note in found.notes)
        assert found.method == "exact"
        assert "they do not depend on a seed" in " ".join(found.summary().split())
    alone = es.pairwise_tests(rng.normal(size=(24, 2)), groups, **how, rng=0, correction="none")
    assert not any("is possible" in note for note in alone.notes)
    two = es.pairwise_tests(
        rng.normal(size=(8, 2)), np.tile([*"ab"], 4), design=es.Design(strata=np.repeat(range(4), 2))
    )
    assert "1 of 1 pairs have so few labelings that no p below 0.125 is possible, before it is adjusted." in two.notes


def test_pairs_of_few_rows_are_noted():
    x, groups = np.repeat([0.0, 50, 100], 3) + np.tile([0, 1, 2], 3), np.repeat([*"abc"], 3)
    words = "3 of 3 pairs have so few labelings that no p below 0.1 is possible, before it is adjusted."
    assert words in es.pairwise_tests(x, groups, n_resamples=99, rng=0).notes
    larger = es.pairwise_tests(np.r_[x, x + 0.5], np.r_[groups, groups], n_resamples=99, rng=0)
    assert "so few labelings" not in " ".join(larger.notes)


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


@pytest.mark.slow
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


def test_three_points_have_a_spread_and_two_have_none(rng):
    X = rng.normal(size=(15, 2))
    table = es.pairwise_tests(X, np.repeat(["a", "b", "c"], [3, 2, 10]), n_resamples=49, rng=0).table
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


def test_corrections_have_names_of_r(three):
    a, b = (es.pairwise_tests(*three, correction=name, n_resamples=99, rng=0) for name in ("BH", "fdr_bh"))
    assert a.table.equals(b.table)
    assert a.summary() == b.summary()
    with pytest.raises(TypeError, match="`correction` must be a string"):
        es.pairwise_tests(*three, correction=None, n_resamples=99, rng=0)


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


DESIGNS = {
    "none": lambda rng: {},
    "strata": lambda rng: {"design": ("strata", np.arange(60) // 15)},
    "plots": lambda rng: {"design": ("whole_plots", np.arange(60) % 3 + 3 * (np.arange(60) // 6))},
    "plots within strata": lambda rng: {
        "design": ("whole_plots", np.arange(60) % 3 + 3 * (np.arange(60) // 6)),
        "strata": np.repeat([0, 1], 30),
    },
    "weights": lambda rng: {"sample_weight": rng.uniform(0.5, 2, 60)},
    "weights of one group": lambda rng: {"sample_weight": 1.0 + (np.arange(60) % 3 == 0)},
    "strata and weights": lambda rng: {
        "design": ("strata", np.arange(60) // 15),
        "sample_weight": rng.uniform(0.5, 2, 60),
    },
}


def options_of_rows(how, rows):
    """The options of some of the rows, as `energy_test` takes them."""
    found = {}
    if "design" in how:
        name, labels = how["design"]
        strata = {"strata": how["strata"][rows]} if "strata" in how else {}
        found["design"] = es.Design(**{name: labels[rows]}, **strata)
    if "sample_weight" in how:
        found["sample_weight"] = how["sample_weight"][rows]
    return found


@pytest.mark.parametrize("method", ["auto", "permutation"])
@pytest.mark.parametrize("name", DESIGNS)
def test_a_loop_over_energy_test_gives_the_same(rng, name, method):
    """Pair i has the first child of the i-th child of the seed, as the documentation says."""
    X, g, how = rng.normal(size=(60, 2)), np.arange(60) % 3, DESIGNS[name](rng)
    found = es.pairwise_tests(X, g, method=method, n_resamples=99, rng=7, **options_of_rows(how, np.arange(60)))
    streams = np.random.default_rng(7).spawn(3)
    for row, stream in zip(found.table.itertuples(), streams, strict=True):
        rows = np.flatnonzero((g == row.group1) | (g == row.group2))
        options = {"method": method, "n_resamples": 99, "rng": stream.spawn(2)[0], **options_of_rows(how, rows)}
        alone = es.energy_test(X[rows], groups=g[rows], **options)
        assert row.pvalue == alone.pvalue
        assert row.effect_size == pytest.approx(alone.effect_size, rel=1e-10)
        weights = options.get("sample_weight", np.ones(len(rows)))
        x, y = g[rows] == row.group1, g[rows] == row.group2
        distance = es.energy_distance(X[rows][x], X[rows][y], sample_weight=(weights[x], weights[y]))
        assert row.energy_distance == pytest.approx(distance, rel=1e-10)
    assert found.n_strata == {"strata": 4, "strata and weights": 4, "plots within strata": 2}.get(name, 0)
    assert found.n_plots == (30 if name.startswith("plots") else 0)
    assert found.weighted == ("weights" in name)
    text = " ".join(found.summary().split())
    assert ("Rows are weighted" in text) == found.weighted
    assert ("one distribution within every stratum" in text) == bool(found.n_strata)
    assert ("whole plots being exchangeable" in text) == bool(found.n_plots)


def test_pairs_of_subjects(rng):
    X = rng.normal(size=(8, 2)) + np.array([[0.0], [0.4], [0.8]])[:, None]
    g = np.repeat([0, 1, 2], 8)
    found = es.pairwise_tests(X.reshape(24, 2), g, design=es.Design(paired=True), rng=3)
    streams = np.random.default_rng(3).spawn(3)
    for row, stream in zip(found.table.itertuples(), streams, strict=True):
        options = {"n_resamples": 999, "design": es.Design(paired=True), "rng": stream.spawn(2)[0]}
        assert row.pvalue == es.energy_test(X[row.group1], X[row.group2], **options).pvalue


def test_equal_weights_change_nothing(rng):
    X, g = rng.normal(size=(30, 2)), np.arange(30) % 3
    tables = [es.pairwise_tests(X, g, sample_weight=w, n_resamples=99, rng=1).table for w in (None, np.full(30, 7.0))]
    pd.testing.assert_frame_equal(*tables)
    assert not es.pairwise_tests(X, g, sample_weight=np.ones(30), n_resamples=9, rng=1).weighted


def test_a_plot_of_one_row_may_be_a_group(rng):
    """Some labelings then have a group of one point, which is its own centre."""
    X, plots = rng.normal(size=(9, 2)), np.array([0, 1, 1, 1, 1, 2, 2, 2, 2])
    table = es.pairwise_tests(X, (plots == 1).astype(int), design=es.Design(whole_plots=plots), rng=0).table
    assert 0 < table["pvalue_spread"][0] <= 1
    table = es.pairwise_tests(X, (plots > 0).astype(int), design=es.Design(whole_plots=plots), rng=0).table
    assert np.isnan(table["pvalue_spread"][0])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"design": es.Design(strata=["u", "u", "u", "u", "v", "v"])},
            r"`strata` must leave something to permute.*The groups are a and c of a pair",
        ),
        (
            {"design": es.Design(whole_plots=[1, 1, 1, 1, 2, 2])},
            r"`groups` must be the same on all rows of a whole plot",
        ),
        ({"design": es.Design(strata=[1, 2])}, r"`strata` must have one label for each of the 6 rows, got 2"),
        ({"design": es.Design(strata=["u", None, "u", "u", "v", "v"])}, r"`strata`"),
        ({"sample_weight": [1, 2]}, r"`sample_weight` must have shape \(6,\), got \(2,\)"),
        ({"sample_weight": [1, 1, 1, 1, 1, 0]}, r"`sample_weight` must be positive, got 0 at position 5"),
        ({"sample_weight": [1, 1, 1, 1, 1, 1e10]}, r"`sample_weight` must not differ by more than a factor 1e\+09"),
        ({"sample_weight": [1, 1, 1, 1, 1, np.nan]}, r"sample_weight"),
        ({"sample_weight": pd.Series(np.ones(6), index=list("fedcba"))}, r"`sample_weight` must have the index of the"),
        (
            {"design": es.Design(strata=pd.Series(list("uvuvuv"), index=list("fedcba")))},
            r"`strata` must have the index",
        ),
    ],
)
def test_bad_designs_and_weights(how, message):
    X = pd.DataFrame({"x": np.arange(6.0)}, index=list("abcdef"))
    with pytest.raises(ValueError, match=message):
        es.pairwise_tests(X, ["a", "b", "a", "b", "c", "c"], **how)


def test_a_design_must_be_a_design(three):
    with pytest.raises(TypeError, match=r"`design` must be an `es.Design`, got str"):
        es.pairwise_tests(*three, design="strata")


def test_spread_ranks_like_the_f_test(rng):
    """The permuted share is monotone in F of the distances, so its p agrees with F where F holds."""
    X = rng.standard_normal((200, 2))
    groups = np.repeat([0, 1], 100)
    X[:100] *= 1.2
    z = es.spread_test(X, groups, n_resamples=9, rng=0).distances
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


def test_exact_tests_are_not_told_to_draw_more():
    X = np.arange(15.0)
    g = np.repeat(["a", "b", "c"], 5)
    exact, few = (
        es.pairwise_tests(X, g, method=m, n_resamples=n, rng=0) for m, n in (("exact", None), ("permutation", 40))
    )
    assert not any("random permutations no adjusted p" in line for line in exact.summary().splitlines())
    assert "random permutations no adjusted p" in " ".join(few.summary().split())


@pytest.mark.parametrize(
    "correction", ["hochberg", "simes-hochberg", "hommel", "holm", "bonferroni", "sidak", "fdr_bh"]
)
def test_no_adjusted_p_is_below_what_is_called_possible(correction, rng):
    """Where all p are the smallest, so are all adjusted ones: what the note says is possible is what comes out."""
    X = np.concatenate([rng.normal(10 * j, 1, size=(10, 2)) for j in range(4)])
    found = es.pairwise_tests(
        X, np.repeat(list("abcd"), 10), correction=correction, n_resamples=15, method="permutation", rng=0
    )
    said = re.search(r"no adjusted p below\s+([\d.]+)", found.summary())
    assert said
    assert min(found.pvalue_adjusted) == pytest.approx(float(said[1]), rel=0.02)


def test_no_number_of_permutations_is_advised_where_labelings_are_too_few(rng):
    """3 + 3 rows have 20 labelings, of which n_resamples=1799 finds no more."""
    X, groups = rng.normal(size=(30, 2)), np.repeat(np.arange(10), 3)
    text = " ".join(es.pairwise_tests(X, groups, n_resamples=19, rng=0).summary().split())
    assert "45 of 45 pairs have so few labelings that no p below 0.1 is possible" in text
    assert "use n_resamples" not in text
    many = es.pairwise_tests(rng.normal(size=(60, 2)), np.repeat(np.arange(6), 10), n_resamples=19, rng=0).summary()
    assert "use n_resamples=599 or more" in " ".join(many.split())


def test_pairs_with_unlike_smallest_p_say_from_where_to_where(rng):
    """Six of ten pairs of whole plots could reach .333 at best, and all were said to reach .0667."""
    g = np.repeat(["a", "b", "c"], [6, 6, 12])
    design = es.Design(whole_plots=np.repeat(np.arange(8), 3))
    found = es.pairwise_tests(rng.normal(size=(24, 2)), g, design=design, n_resamples=99, rng=0)
    assert any("no p below 0.0667 to 0.333, by the pair, is possible" in note for note in found.notes)
