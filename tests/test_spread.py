"""Spread of groups around their centres: spatial medians, distances from them, and permuted residuals."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import binom, f_oneway

import energystats as es
from energystats._core.labelings import draw_key
from energystats._core.spatial_median import _median_on_line, weights_of_medians
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.center_distances import FEWEST, measure_spread
from energystats.distribution_tests.designs import FREE, ExchangeableUnits
from energystats.distribution_tests.spread_test import _shares_between

VEGAN = json.loads((Path(__file__).parent / "oracles_vegan" / "betadisper.json").read_text())
IRIS = es.datasets.load("iris")
FEW = {"n_resamples": 19, "rng": 0}


def coordinates(R):
    """Points whose squared distances are R, from a decomposition of the whole matrix."""
    J = np.eye(len(R)) - 1 / len(R)
    values, vectors = np.linalg.eigh(-0.5 * J @ R @ J)
    return vectors * np.sqrt(np.where(values > 1e-12 * values[-1], values, 0))  # copies stay at one place


def median_of(points, w):
    """The point with the smallest sum of distances, by a general minimiser from several starts."""

    def cost(m):
        return float(w @ np.linalg.norm(points - m, axis=1))

    starts = [np.average(points, axis=0, weights=w), *points]
    return min((minimize(cost, m, method="BFGS", options={"gtol": 1e-9}).x for m in starts[:4]), key=cost), cost


@pytest.fixture
def three(rng):
    X = np.concatenate((rng.normal(0, 1, (9, 3)), rng.normal(0, 2, (12, 3)), rng.normal(4, 1, (7, 3))))
    return X, np.repeat(["base", "wide", "moved"], [9, 12, 7])


# ---------------------------------------------------------------- against R


def vegan_data(name):
    record = VEGAN[name]
    if name == "iris":
        return IRIS.iloc[:, :4], record["groups"], {"metric": "euclidean", "alpha": 2.0}
    return np.square(record["distances"]), record["groups"], {"metric": "precomputed"}


@pytest.mark.parametrize("center", ["median", "centroid"])
@pytest.mark.parametrize("name", ["iris", "dune", "varespec", "mite"])
def test_betadisper(name, center):
    """R seeks medians by `nlm`, which ends earlier; centroids agree to rounding."""
    X, groups, how = vegan_data(name)
    expected = VEGAN[name]["values"][center]
    found = es.spread_test(X, groups, center=center, **how, **FEW)
    tolerance = 2e-4 if center == "median" else 1e-9
    assert_allclose(found.statistic, expected["F"], rtol=tolerance)
    assert_allclose(found.mean_distances, [expected["group_distances"][g] for g in found.labels], rtol=tolerance)
    assert_allclose(found.distances, expected["distances"], atol=tolerance)
    # without the factor of small groups
    plain = found.distances * np.sqrt(1 - 1 / np.array(found.sizes)[found.codes])
    assert_allclose(plain, VEGAN[name]["values"][f"{center} (plain)"]["distances"], atol=tolerance)


# ---------------------------------------------------------------- definitions


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_medians_have_the_smallest_sum_of_distances(three, alpha, weighted, rng):
    X, groups = three
    w = rng.uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    d, checked = Dissimilarity.from_data(X, metric="euclidean", alpha=alpha), Groups.from_labels(groups, 28, name="g")
    points = coordinates(d.matrix)
    spread = measure_spread(d, checked, FREE, w)
    for j in range(3):
        inside = checked.codes == j
        m, cost = median_of(points[inside], w[inside])
        found = spread.centers[:, j] @ points
        assert cost(found) <= cost(m) * (1 + 1e-12)
        shares = w[inside] / w[inside].sum()
        z = np.linalg.norm(points[inside] - found, axis=1) / np.sqrt(1 - 2 * shares + (shares**2).sum())
        assert_allclose(spread.distances[inside], z, rtol=1e-6, atol=1e-9)
        assert_allclose(spread.means[j], shares @ z, rtol=1e-6)


def test_centroids_are_means(three):
    X, groups = three
    found = es.spread_test(X, groups, alpha=2.0, center="centroid", **FEW)
    for j, name in enumerate(found.labels):
        own = X[groups == name]
        z = np.linalg.norm(own - own.mean(axis=0), axis=1) * np.sqrt(len(own) / (len(own) - 1))
        assert_allclose(found.distances[groups == name], z)
        assert_allclose(found.mean_distances[j], z.mean())


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=12), st.integers(0, 10**6))
def test_medians_on_a_line(values, seed):
    x = np.array(values, dtype=float)
    assert _median_on_line(x, np.ones(x.size)) @ x == np.median(x)
    # a weight of three is a point three times
    counts = np.random.default_rng(seed).integers(1, 4, x.size)
    assert _median_on_line(x, counts.astype(float)) @ x == np.median(np.repeat(x, counts))


@pytest.mark.parametrize(
    "form",
    [
        lambda x: (pd.DataFrame({"x": x, "constant": 1.0}), {"alpha": 2.0}),
        lambda x: (np.c_[x, 2 * x + 3, -x], {"alpha": 2.0, "metric": "euclidean"}),
        lambda x: (np.subtract.outer(x, x) ** 2, {"metric": "precomputed"}),
        lambda x: (x, {"alpha": 2.0, "metric": "seuclidean"}),
        lambda x: (x, {"metric": es.metrics.Kernel("linear")}),
    ],
    ids=["constant column", "collinear columns", "matrix", "seuclidean", "kernel"],
)
def test_points_on_a_line_have_one_median_however_they_are_given(form, rng):
    """Between two middle points every point is a median: the middle of them, as in R and in one column."""
    x, g = rng.normal(size=22) * 100, np.repeat([0, 1, 2], [6, 8, 8])
    line = es.spread_test(x, g, alpha=2.0, **FEW)
    for j in range(3):
        own = x[g == j]
        z = np.abs(own - np.median(own)) * np.sqrt(own.size / (own.size - 1))
        assert_allclose(line.distances[g == j], z, rtol=1e-9)
    X, how = form(x)
    found = es.spread_test(X, g, **how, **FEW)
    assert found.statistic == pytest.approx(line.statistic, rel=1e-6)
    assert found.pvalue == line.pvalue


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.0, 0.0], [1.0, 0.2], [-1.0, 0.2], [0.0, 0.05]]),
        np.arange(5.0)[:, None] * [1.0, 2.0],
        np.concatenate([np.zeros((6, 2)), [[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]]),
        np.zeros((4, 2)),
    ],
    ids=["near a point", "on a line", "duplicates", "one place"],
)
def test_the_search_for_medians_ends(X, alpha):
    R = es.pairwise(X, alpha=alpha)
    codes, w = np.zeros(len(X), dtype=np.intp), np.ones(len(X))
    centers, ended = weights_of_medians(w, codes, 1, lambda Z: R @ Z)
    assert ended
    points = coordinates(R)
    m, cost = median_of(points, w)
    assert cost(centers[:, 0] @ points) <= cost(m) + 1e-9 * (1 + cost(m))


@pytest.mark.parametrize("excess", [0.1, 1e-2, 1e-3, -1e-3, -0.1])
def test_a_median_beside_a_point_is_found_soon(rng, excess):
    """The pull of the others is by `excess` stronger than the weight of a point: steps hardly shrink when that is 0."""
    angles = rng.uniform(0, 2 * np.pi, 4)
    around = np.c_[np.cos(angles), np.sin(angles)]
    w = np.r_[np.linalg.norm(around.sum(axis=0)) / (1 + excess), np.ones(4)]
    points = np.r_[np.zeros((1, 2)), around * rng.uniform(1, 2, (4, 1))]
    R = es.pairwise(points, alpha=2.0)
    products = []
    centers, ended = weights_of_medians(w, np.zeros(5, np.intp), 1, lambda Z: products.append(R @ Z) or products[-1])
    assert ended
    assert len(products) < 1000
    m, cost = median_of(points, w)
    assert cost(centers[:, 0] @ points) <= cost(m) * (1 + 1e-12)
    if excess < 0:
        assert centers[:, 0].tolist() == [1, 0, 0, 0, 0]


STRATA = np.repeat([0, 1, 2], [12, 20, 9])
SHARES_DIFFER = np.repeat([0, 1, 0, 1, 0, 1], [2, 10, 14, 6, 1, 8])


def test_centres_that_lie_near_some_strata_are_refused(rng):
    """Half of such nulls would be rejected at .05: one group is mostly in one stratum, and so is its centre."""
    X, design = rng.normal(size=(41, 2)) + 8 * STRATA[:, None], es.Design(strata=STRATA)
    with pytest.raises(ValueError, match="`design`: groups must have 3 rows or more in each stratum they are in"):
        es.spread_test(X, SHARES_DIFFER, design=design, **FEW)
    pairs = es.pairwise_tests(X, SHARES_DIFFER, design=design, **FEW)
    assert np.isnan(pairs.table["pvalue_spread"]).all()
    assert any("1 pair has no p of spread: their groups have different shares of the strata" in n for n in pairs.notes)


def test_pairs_of_too_few_points_or_plots_say_why_they_have_no_p_of_spread(rng):
    found = es.pairwise_tests(rng.normal(size=(12, 2)), np.repeat([0, 1, 2], [5, 5, 2]), **FEW)
    assert np.isnan(found.table["pvalue_spread"]).tolist() == [False, True, True]
    said = [note for note in found.notes if "no p of spread" in note]
    assert [note[:66] for note in said] == ["2 pairs have no p of spread: a group has fewer than 3 points. Two "]
    plots = es.Design(whole_plots=np.repeat(np.arange(7), 3))
    found = es.pairwise_tests(rng.normal(size=(21, 2)), np.repeat([0, 1, 2], [9, 6, 6]), design=plots, **FEW)
    assert np.isnan(found.table["pvalue_spread"]).tolist() == [False, False, True]
    assert sum("1 pair has no p of spread" in n and "or both have two whole plots" in n for n in found.notes) == 1


def test_centres_of_whole_groups_serve_blocks_of_one_row_each(rng):
    """Each group has the same share of every block; a block more, without a group, changes that."""
    blocks, groups = np.repeat(np.arange(10), 3), np.tile([0, 1, 2], 10)
    X = rng.normal(size=(30, 2)) + 8 * rng.normal(size=(10, 2))[blocks]
    assert 0 < es.spread_test(X, groups, design=es.Design(strata=blocks), **FEW).pvalue <= 1
    with pytest.raises(ValueError, match="the same share of its units in each stratum"):
        es.spread_test(X[:-1], groups[:-1], design=es.Design(strata=blocks[:-1]), **FEW)
    spread = es.pairwise_tests(X[:-1], groups[:-1], design=es.Design(strata=blocks[:-1]), **FEW).table["pvalue_spread"]
    assert spread.notna().tolist() == [True, False, False]


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_between_groups_match_their_definition(rng, weighted):
    sizes = [4, 7, 5]
    codes, k, n = np.repeat([0, 1, 2], sizes), 3, 16
    w = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    labelings = np.array([rng.permutation(codes) for _ in range(6)])
    values = rng.normal(size=(6, n))
    found = _shares_between(w, values, labelings, k)
    for labels, y, share in zip(labelings, values, found, strict=True):
        grand = np.average(y, weights=w)
        means = np.array([np.average(y[labels == j], weights=w[labels == j]) for j in range(k)])
        between = w @ (means[labels] - grand) ** 2
        assert share == pytest.approx(between / (w @ (y - grand) ** 2), rel=1e-12)


def test_f_is_that_of_the_analysis_of_variance(three):
    X, groups = three
    found = es.spread_test(X, groups, **FEW)
    parts = [found.distances[groups == name] for name in found.labels]
    assert found.statistic == pytest.approx(f_oneway(*parts).statistic)
    assert found.df == (2, 25)


def test_residuals_are_given_the_variance_of_their_new_group(three):
    """The null distribution by a loop over the same labelings."""
    X, groups = three
    found = es.spread_test(X, groups, n_resamples=29, rng=4)
    codes, n = found.codes, np.array(found.sizes)
    size = np.sqrt(n / (n - 1))
    e = (found.distances - found.mean_distances[codes]) / size[codes]
    labelings = np.concatenate([*FREE.scheme(codes).random(29, draw_key(np.random.default_rng(4)))])
    expected = [f_oneway(*(e[labels == j] * size[j] for j in range(3))).statistic for labels in labelings]
    assert_allclose(found.null_distribution, expected, rtol=1e-9)
    assert found.pvalue == (1 + sum(f >= found.statistic for f in expected)) / 30


# ---------------------------------------------------------------- properties


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_units_names_and_places_change_nothing(seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(15, 2)), np.repeat([0, 1, 2], [4, 5, 6])
    plain = es.spread_test(X, codes, **FEW)
    moved = es.spread_test(X * 2.0 + np.array([3.0, -1.0]) * codes[:, None], codes, **FEW)
    assert_allclose(moved.distances, plain.distances * np.sqrt(2), rtol=1e-7)
    assert moved.pvalue == plain.pvalue
    order = rng.permutation(15)
    assert es.spread_test(X[order], codes[order], **FEW).statistic == pytest.approx(plain.statistic, rel=1e-7)


@pytest.mark.parametrize("route", ["matrix", "condensed", "Series"])
def test_every_route_gives_the_same(three, route):
    X, groups = three
    plain = es.spread_test(X, groups, **FEW)
    R = es.pairwise(X)
    other = {
        "matrix": lambda: es.spread_test(R, groups, metric="precomputed", **FEW),
        "condensed": lambda: es.spread_test(R[np.triu_indices(28, 1)], groups, metric="precomputed", **FEW),
        "Series": lambda: es.spread_test(pd.DataFrame(X), pd.Series(groups, name="g"), **FEW),
    }[route]()
    assert_allclose(other.distances, plain.distances, rtol=1e-8)
    assert other.pvalue == plain.pvalue


def test_pairs_have_the_same_test(three):
    X, groups = three
    rows = groups != "moved"
    pairs = es.pairwise_tests(X, groups, n_resamples=199, rng=5)
    i = [(row.group1, row.group2) for row in pairs.rows].index(("base", "wide"))
    stream = np.random.default_rng(5).spawn(3)[i].spawn(2)[1]
    assert es.spread_test(X[rows], groups[rows], n_resamples=199, rng=stream).pvalue == pairs.rows[i].pvalue_spread


@pytest.mark.parametrize(
    "design",
    [
        es.Design(strata=np.arange(40) // 10),
        es.Design(whole_plots=np.arange(40) // 2),
        es.Design(strata=np.arange(40) // 20, whole_plots=np.arange(40) // 2),
    ],
    ids=["strata", "plots", "plots within strata"],
)
def test_residuals_stay_where_the_design_keeps_them(rng, design):
    X, g = rng.normal(size=(40, 2)), np.arange(40) // 2 % 2
    found = es.spread_test(X, g, design=design, n_resamples=99, rng=1)
    assert (found.n_strata > 0, found.n_plots > 0) == (design.strata is not None, design.whole_plots is not None)
    text = " ".join(found.summary().split())
    assert ("within every stratum" in text) == (design.strata is not None)
    assert ("20 whole plots" in text) == (design.whole_plots is not None)
    with pytest.raises(ValueError, match="must leave something to permute"):
        es.spread_test(X, g, design=es.Design(strata=g))


def labelings_of(scheme, key, count):
    return np.concatenate([*scheme.random(count, key)])


def test_labels_of_distances_are_permuted_within_a_design(rng):
    """By a loop: z keeps its stratum's mean, and what is moved is brought to the variance of its new cell."""
    strata, g = np.repeat([0, 1], [16, 14]), np.r_[[0] * 10, [1] * 6, [0] * 5, [1] * 9]
    X = rng.normal(size=(30, 2)) * np.repeat([1.0, 4.0], [16, 14])[:, None] + 9.0 * strata[:, None]
    found = es.spread_test(X, g, design=es.Design(strata=strata), n_resamples=29, rng=4)
    z, f = np.empty(30), {}
    for s in (0, 1):
        for j in (0, 1):
            cell = (strata == s) & (g == j)
            f[s, j] = np.sqrt(cell.sum() / (cell.sum() - 1))
            alone = es.spread_test(X[strata == s], g[strata == s], **FEW)
            z[cell] = alone.distances[alone.codes == j]
    assert_allclose(found.distances, z, rtol=1e-8)
    means = np.array([z[strata == s].mean() for s in (0, 1)])[strata]
    within = ExchangeableUnits.of(Groups(g, (0, 1)), es.Design(strata=strata)).scheme(g)
    expected = []
    for labels in labelings_of(within, draw_key(np.random.default_rng(4)), 29):
        moved = [
            m + (v - m) * f[s, new] / f[s, old] for v, m, s, old, new in zip(z, means, strata, g, labels, strict=True)
        ]
        parts = [np.array(moved)[labels == j] for j in (0, 1)]
        expected.append(f_oneway(*parts).statistic)
    assert_allclose(found.null_distribution, expected, rtol=1e-7)
    assert found.statistic == pytest.approx(f_oneway(z[g == 0], z[g == 1]).statistic)


@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_rows_of_a_plot_pull_the_centre_together(rng, alike):
    """The factor of small groups counts plots where their rows are alike, and rows where they are not."""
    plots = np.repeat(np.arange(40), 5)
    X = alike * rng.normal(size=(40, 2))[plots] + (1 - alike) * rng.normal(size=(200, 2))
    g = (plots >= 8).astype(int)
    d, groups = Dissimilarity.from_data(X, metric="euclidean", alpha=2.0), Groups(g, (0, 1))
    units = ExchangeableUnits.of(groups, es.Design(whole_plots=plots))
    spread = measure_spread(d, groups, units, center="centroid")
    for j, (n, m) in enumerate(((40, 8), (160, 32))):
        z = np.linalg.norm(X[g == j] - X[g == j].mean(axis=0), axis=1)
        factor = (spread.distances[g == j] / z) ** 2
        assert_allclose(factor, m / (m - 1) if alike else n / (n - 1), rtol=1e-9 if alike else 0.02)


def test_few_labelings_have_no_small_p(rng):
    """One cage a diet gave p = .001 whatever the data, three pairs p = .005."""
    x, g = rng.normal(size=10), np.repeat(["a", "b"], 5)
    for _ in range(5):
        assert es.spread_test(rng.normal(size=10), g, design=es.Design(whole_plots=g), **FEW).pvalue == 1
    table = es.pairwise_tests(x, g, design=es.Design(whole_plots=g), **FEW).table
    assert table["pvalue_spread"].tolist() == [1.0]
    pairs = es.Design(strata=np.tile(np.arange(3), 2))
    p = [
        es.spread_test(rng.normal(size=6), [0] * 3 + [1] * 3, design=pairs, n_resamples=999, rng=0).pvalue
        for _ in range(5)
    ]
    assert min(p) > 0.15  # of eight labelings two are as good as any


@pytest.mark.parametrize(("heavy", "known"), [(5.0, True), (30.0, False)])
def test_a_point_with_most_of_the_weight_stands_for_no_spread(rng, heavy, known):
    g, w = np.tile([0, 1], 20), np.r_[heavy, np.ones(39)]
    table = es.pairwise_tests(rng.normal(size=40), g, sample_weight=w, **FEW).table
    assert table["pvalue_spread"].notna().tolist() == [known]


def test_weights_of_whole_groups_change_nothing(rng):
    X, g = rng.normal(size=(30, 2)), np.arange(30) % 2
    tables = [es.pairwise_tests(X, g, sample_weight=w, **FEW).table for w in (None, np.where(g, 5.0, 1.0))]
    assert tables[0]["pvalue_spread"][0] == tables[1]["pvalue_spread"][0]


def test_wide_groups_are_found(rng):
    X = rng.normal(size=(80, 3)) * np.repeat([1.0, 3.0], 40)[:, None] + np.repeat([0.0, 5.0], 40)[:, None]
    found = es.spread_test(X, np.repeat(["narrow", "wide"], 40), rng=0)
    assert found.pvalue == 0.001
    assert "evidence that the two groups are spread unequally" in found.summary()


# ---------------------------------------------------------------- what is not of negative type


def test_negative_squares_are_told():
    """Three points of one group at distance 2 of each other, a fourth at .5 of all of them, has no place in space."""
    d = np.full((7, 7), 2.0)
    d[3, :3] = d[:3, 3] = 0.5
    np.fill_diagonal(d, 0)
    found = es.spread_test(d**2, [0, 0, 0, 0, 1, 1, 1], metric="precomputed", center="centroid", **FEW)
    assert any("1 squared distance from a centre is negative" in note for note in found.notes)
    assert found.distances.min() == 0


def test_all_dissimilarities_below_zero_are_no_evidence_and_divide_by_nothing():
    """A square above a mean that is below 0 was divided by its root, 0: so with these points, and six of forty such."""
    points = np.random.default_rng(0).normal(size=(40, 2)) + 4 * (np.arange(40) >= 25)[:, None]
    R = -np.sqrt(np.square(points[:, None] - points).sum(axis=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        found = es.spread_test(R, np.repeat([0, 1], [25, 15]), metric="precomputed", **FEW)
    assert (found.statistic, found.pvalue, found.distances.max()) == (0.0, 1.0, 0.0)


def test_bray_curtis_needs_no_matrix_of_the_user():
    counts = np.random.default_rng(3).poisson(3, size=(18, 5)) + 1.0
    groups = np.repeat([0, 1], 9)
    by_name = es.spread_test(counts, groups, metric="braycurtis", alpha=2.0, **FEW)
    R = es.pairwise(counts, metric="braycurtis", alpha=2.0)
    assert_allclose(by_name.distances, es.spread_test(R, groups, metric="precomputed", **FEW).distances, rtol=1e-9)


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize(
    ("last", "match"),
    [("c", "'c' has 1"), ("cc", "'c' has 2; two are equally far"), ("cddce", "'c' has 2, 'd' has 2, 'e' has 1; two")],
)
def test_groups_of_one_and_two_are_refused(rng, last, match):
    """Residuals of two points are 0, so that groups of two beside a larger one were rejected .25 of the time."""
    groups = list("aaabbb" + last)
    with pytest.raises(ValueError, match=rf"`groups` must have 3 points or more in each group: {match}"):
        es.spread_test(rng.normal(size=(len(groups), 2)), groups)
    assert FEWEST == 3


def test_identical_points_are_no_evidence():
    found = es.spread_test(np.ones((9, 2)), np.arange(9) % 3, **FEW)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_nothing_to_permute_is_refused():
    """All points of a group equally far from its centre: no residual differs from 0."""
    R = np.where(np.eye(8, dtype=bool), 0.0, 1.0)
    R[4:, 4:] *= 3
    with pytest.raises(ValueError, match=r"the points of every group lie equally far from its centre"):
        es.spread_test(R, np.repeat([0, 1], 4), metric="precomputed")
    assert np.isnan(es.pairwise_tests(R, np.repeat([0, 1], 4), metric="precomputed", **FEW).table["pvalue_spread"][0])


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"center": "mean"}, ValueError, r"`center` must be one of median, centroid"),
        ({"n_resamples": 0}, ValueError, r"`n_resamples` must be at least 1"),
        ({"design": "strata"}, TypeError, r"`design` must be an `es.Design`"),
        ({"standardize": 1}, TypeError, r"`standardize` must be True or False"),
        ({"groups": [0] * 28}, ValueError, r"must name at least two groups"),
    ],
)
def test_bad_input(three, how, error, message):
    X, groups = three
    with pytest.raises(error, match=message):
        es.spread_test(X, how.pop("groups", groups), **how)


def test_found_groups_warn(rng):
    X = rng.normal(size=(40, 2))
    with pytest.warns(es.DoubleDippingWarning):
        es.spread_test(X, es.energy_cluster(X, 2, rng=0), **FEW)


def test_the_picture_shows_points_centres_and_hulls(three):
    X, groups = three
    found = es.spread_test(X, groups, **FEW)
    ax = found.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "base (n = 9)",
        "moved (n = 7)",
        "wide (n = 12)",
    ]
    assert len(ax.lines) == 3
    corners = ax.lines[0].get_xydata()
    inside = found.coordinates[groups == "base"]
    assert {tuple(row) for row in corners} <= {tuple(row) for row in inside}
    assert_allclose(corners[:, 0].min(), inside[:, 0].min())
    drawn = [part.get_offsets() for part in ax.collections if isinstance(part, PathCollection)]
    assert_allclose(np.concatenate([part for part in drawn if len(part) == 1]), found.centers)
    # all points of a group on one line, or at one place
    flat = es.spread_test(np.r_[np.zeros((3, 1)), [[5.0], [6.0], [9.0]]], [0, 0, 0, 1, 1, 1], alpha=2.0, **FEW)
    assert len(flat.plot().lines) == 2


def test_boxes_show_the_distances_that_are_compared(three):
    X, groups = three
    found = es.spread_test(X, groups, **FEW)
    ax = found.plot_boxes()
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "base (n = 9)",
        "moved (n = 7)",
        "wide (n = 12)",
    ]
    *points, means = [part.get_offsets() for part in ax.collections]
    for j, name in enumerate(found.labels):
        assert_allclose(np.sort(points[j][:, 0]), np.sort(found.distances[groups == name]))
    assert_allclose(means[:, 0], found.mean_distances)
    # of many points the box alone, with those outside of it
    many = es.spread_test(np.random.default_rng(0).normal(size=120), np.repeat([0, 1], 60), **FEW).plot_boxes()
    assert len(many.collections) == 1


# ---------------------------------------------------------------- level

LEVELS = {
    "5 + 6, 30 columns": ([5, 6], 30, np.random.Generator.standard_normal),
    "5 + 40, 30 columns": ([5, 40], 30, np.random.Generator.standard_normal),
    "5 + 40, exponential": ([5, 40], 1, np.random.Generator.standard_exponential),
    "three of 10, exponential": ([10, 10, 10], 5, np.random.Generator.standard_exponential),
}
PLOTS = np.repeat(np.arange(12), 6)
UNLIKE = np.repeat(np.arange(12), 6)
DESIGNS = {  # groups, design, and what is drawn
    "plots with effects of their own": (
        (PLOTS >= 6).astype(int),
        es.Design(whole_plots=PLOTS),
        lambda rng: rng.normal(size=72) + rng.normal(size=12)[PLOTS],
    ),
    "2 + 10 plots that hardly vary": (
        (UNLIKE < 2).astype(int),
        es.Design(whole_plots=UNLIKE),
        lambda rng: rng.normal(size=(12, 3))[UNLIKE] + 0.1 * rng.normal(size=(72, 3)),
    ),
    "pairs": (
        np.repeat([0, 1], 8),
        es.Design(strata=np.tile(np.arange(8), 2)),
        lambda rng: rng.normal(size=16) + 3 * np.tile(rng.normal(size=8), 2),
    ),
    "strata of unlike spread, unbalanced": (
        np.r_[[0] * 15, [1] * 5, [0] * 5, [1] * 15],
        es.Design(strata=np.repeat([0, 1], 20)),
        lambda rng: rng.normal(size=40) * np.repeat([1.0, 4.0], 20) + np.repeat([0.0, 5.0], 20),
    ),
}


@pytest.mark.calibration
@pytest.mark.parametrize("name", DESIGNS)
def test_level_in_designs(name, rng):
    groups, design, draw = DESIGNS[name]
    p = np.array([es.spread_test(draw(rng), groups, design=design, n_resamples=99, rng=rng).pvalue for _ in range(400)])
    assert (p <= 0.05).sum() <= binom.ppf(0.999, 400, 0.06), f"{(p <= 0.05).sum()} of 400"
    assert (p <= 0.01).sum() <= binom.ppf(0.999, 400, 0.015), f"{(p <= 0.01).sum()} of 400"


@pytest.mark.calibration
@pytest.mark.parametrize("name", LEVELS)
def test_level(name, rng):
    """At most .06, as measured with 4,000 samples; here with a binomial band."""
    sizes, columns, draw = LEVELS[name]
    groups, count, n_samples = np.repeat(np.arange(len(sizes)), sizes), 0, 500
    for _ in range(n_samples):
        count += es.spread_test(draw(rng, (groups.size, columns)), groups, n_resamples=99, rng=rng).pvalue <= 0.05
    assert count <= binom.ppf(0.999, n_samples, 0.06), f"{count} of {n_samples}"


def test_p_of_few_points_is_not_below_that_of_all_labelings():
    """Residuals were permuted, the observed arrangement not among them: 3 + 3 points had p = .001, of 20 labelings."""
    at_floor = 0
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(6, 10))
        found = es.spread_test(X, [0, 0, 0, 1, 1, 1], n_resamples=199, rng=seed)
        assert found.pvalue >= 0.1
        assert found.pvalue_interval[1] >= found.pvalue_interval[0] >= 0.1
        at_floor += found.pvalue == 0.1
        assert (found.pvalue == 0.1) == any(note.startswith("p is 0.1, the smallest") for note in found.notes)
    assert at_floor
    X = np.random.default_rng(13).normal(size=(18, 10))
    pairs = es.pairwise_tests(X, np.repeat(list("abcdef"), 3), rng=0)
    assert pairs.to_frame(full=True)["pvalue_spread"].min() >= 0.1


@pytest.mark.parametrize(
    ("few", "many", "told"), [(5, 40, True), (14, 43, True), (15, 60, False), (5, 15, False), (20, 121, True)]
)
def test_few_points_beside_many_are_told(rng, few, many, told):
    groups = np.repeat(["few", "many"], [few, many])
    grades = rng.integers(1, 6, few + many).astype(float)
    said = f"Of a group of {few} points beside one of {many} p of spread is too often small where values are of few"
    for found in (es.spread_test(grades, groups, n_resamples=9, rng=0), es.pairwise_tests(grades, groups, rng=0)):
        assert any(note.startswith(said) for note in found.notes) == told


def test_groups_without_p_of_spread_get_no_cautions_on_it(rng):
    """Of 2, 14 and 14 points the one p of spread is that of two equal groups."""
    x = rng.normal(size=30)
    for sizes in ((2, 14, 14), (1, 1, 28)):
        found = es.pairwise_tests(x, np.repeat(list("abc"), sizes), alpha=2, n_resamples=9, rng=0)
        assert not any("p of spread is too often small" in note for note in found.notes)


def test_even_groups_of_few_points_in_one_column_are_told(rng):
    x = rng.normal(size=12)
    six, five = np.repeat([0, 1], 6), [0] * 5 + [1] * 7
    for result, said in (
        (es.spread_test(x, six, alpha=2, n_resamples=9, rng=0), True),
        (es.pairwise_tests(x, six, alpha=2, n_resamples=9, rng=0), True),
        (es.spread_test(x, five, alpha=2, n_resamples=9, rng=0), False),
        (es.spread_test(x, six, n_resamples=9, rng=0), False),
        (es.spread_test(np.c_[x, x[::-1]], six, alpha=2, n_resamples=9, rng=0), False),
    ):
        assert any("two middle points" in note for note in result.notes) == said


def test_few_labelings_are_said_to_allow_no_small_p(rng):
    """Names of groups of one size can be exchanged, so that two of 20 labelings have the largest F."""
    X = np.concatenate([rng.normal(0, 1, (3, 2)), rng.normal(50, 1, (3, 2))])
    g = [0, 0, 0, 1, 1, 1]
    for test in (es.energy_test, es.disco):
        assert "With 20 labelings no p below 0.1 is possible." in str(test(X, groups=g, rng=0))
    eight = np.concatenate([rng.normal(0, 1, (4, 2)), rng.normal(50, 1, (4, 2))])
    data = pd.DataFrame({"g": list("aaaabbbb"), "s": list("ppqqppqq")})
    by_formula = es.disco(eight, "~ s + g", data=data, design=es.Design(strata="s"), rng=0)
    text = " ".join(str(by_formula).split())
    assert "another seed or more permutations may decide" not in text
    assert by_formula.pvalue == pytest.approx(2 / 36, abs=0.02)


def test_every_missing_p_of_spread_has_its_reason(rng):
    x = rng.normal(size=18)
    weights = np.ones(18)
    weights[0] = 9.0  # of 14 in the first group
    found = es.pairwise_tests(x, np.repeat(["a", "b", "c"], 6), sample_weight=weights, n_resamples=99, rng=0)
    assert [np.isnan(row.pvalue_spread) for row in found.rows] == [True, True, False]
    assert any(note.startswith("2 pairs have no p of spread: a point has more than a third") for note in found.notes)
    same = np.tile([-1.0, 1.0], 6) * np.repeat([1.0, 2.0], 6)
    found = es.pairwise_tests(same, np.repeat(["a", "b"], 6), n_resamples=99, rng=0)
    assert np.isnan(found.rows[0].pvalue_spread)
    assert any("1 pair has no p of spread: within each group all points are equally far" in n for n in found.notes)


def test_many_small_groups_of_mostly_equal_rows_are_told():
    rare = np.zeros(24)
    rare[[0, 5, 9]] = 1.0
    said = "Most rows are equal, and groups have few points: p of spread is too often small."
    for groups, told in (
        (np.repeat(range(6), 4), True),
        (np.repeat(range(2), 12), False),
        (np.repeat(range(3), 8), False),
    ):
        found = es.spread_test(rare, groups, n_resamples=9, rng=0)
        assert any(note.startswith(said) for note in found.notes) == told
