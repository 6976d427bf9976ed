"""Options of energy_test: designs, weights, early stops, tails, approximations, several rho."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import energystats as es
from energystats._core import labelings, moments, permutation_loops, pvalues
from energystats._core import pvalues as tails
from energystats._core.moments import GraphSums
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests import asymptotic_test
from energystats.distribution_tests.asymptotic_test import _coefficients, _permutation_distribution
from energystats.distribution_tests.permutation_test import (
    STATISTICS,
    GroupComparison,
    Null,
    describe_null,
)
from energystats.inputs.methods import Sampling
from tests import definitions
from tests.conftest import sweep


@pytest.fixture
def two(rng):
    return rng.normal(size=(12, 2)), rng.normal(0.8, 1.0, size=(15, 2))


# ---------------------------------------------------------------- labelings


@pytest.mark.parametrize("blocks", [[[0, 1, 2, 3, 4, 5, 6]], [[0, 2, 4], [1, 3], [5], [6]]])
def test_compiled_and_plain_labelings_are_the_same(blocks, rng):
    codes = np.array([0, 1, 1, 2, 2, 2, 0])
    pool = labelings.RandomLabels(codes, tuple(np.array(b) for b in blocks))
    uniform = rng.random((50, pool.drawn.size))
    how = (uniform, pool.order, pool.starts, pool.drawn, pool.drawn_starts, pool.rest)
    assert_array_equal(permutation_loops.assign_labels(*how), labelings.assign_labels_by_column(*how))
    assert_array_equal(permutation_loops.assign_labels.py_func(*how), labelings.assign_labels_by_column(*how))


def test_many_labelings_are_those_of_few(rng, monkeypatch):
    """Whichever loop assigns the labels."""
    key, scheme = labelings.draw_key(rng), labelings.Exchangeable.freely(np.repeat([0, 1, 2], [9, 5, 7]))
    draws = []
    for limit in (1, 10**9):
        monkeypatch.setattr(labelings, "COMPILED_FROM", limit)
        draws.append(np.concatenate(list(scheme.random(130, key))))
    assert_array_equal(*draws)
    assert_array_equal(draws[0][:70], np.concatenate(list(scheme.random(70, key))))


def test_names_of_groups_do_not_matter(rng):
    X, groups = rng.normal(size=(21, 2)), rng.permutation(np.repeat([0, 1, 2], 7))
    plain = es.energy_test(X, groups=groups, rng=3)
    renamed = es.energy_test(X, groups=np.array(["c", "a", "b"])[groups], rng=3)
    assert renamed.pvalue == plain.pvalue
    assert_allclose(renamed.null_distribution, plain.null_distribution, atol=1e-12)


def test_labelings_are_uniform(rng):
    codes = np.array([0, 1, 1, 2, 0])
    scheme = labelings.Exchangeable.freely(codes)
    drawn = np.concatenate(list(scheme.random(30_000, labelings.draw_key(rng))))
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.size == scheme.count() == 30
    assert stats.chisquare(counts).pvalue > 1e-6


def test_the_largest_uniform_number_stays_inside():
    pool = labelings.RandomLabels(np.repeat([0, 1], [3, 4]), (np.arange(7),))
    for loop in (permutation_loops.assign_labels, labelings.assign_labels_by_column):
        uniform = np.full((1, 3), np.nextafter(1.0, 0.0))
        found = loop(uniform, pool.order, pool.starts, pool.drawn, pool.drawn_starts, pool.rest)
        assert_array_equal(np.bincount(found[0]), [3, 4])


# ---------------------------------------------------------------- designs

X, G = np.arange(24.0).reshape(12, 2) % 7, np.repeat([0, 1], 6)
ODD, PLOTS_OF_FOUR = np.arange(12) % 2, es.Design(whole_plots=np.repeat([0, 1, 2], 4))


def plots_allowed(labeling, plots):
    return all(len({l for l, p in zip(labeling, plots, strict=True) if p == name}) == 1 for name in set(plots))


def test_whole_plots_against_enumeration(rng):
    """Plots of unequal sizes, so that the group sizes change with the labeling."""
    plots = [0, 0, 1, 1, 1, 2, 3, 3, 4]
    of_plot = [0, 1, 0, 1, 1]
    x = rng.integers(0, 5, 9).tolist()
    R = [[Fraction(abs(a - b)) for b in x] for a in x]
    allowed = [[z[p] for p in plots] for z in definitions.distinct_labelings(of_plot)]
    observed = definitions.between(R, [of_plot[p] for p in plots])
    values = [definitions.between(R, z) for z in allowed]
    found = es.energy_test(x, groups=[of_plot[p] for p in plots], design=es.Design(whole_plots=plots), method="exact")
    assert found.pvalue == sum(v >= observed for v in values) / len(values)
    assert (found.n_plots, found.n_strata, found.n_resamples) == (5, 0, 10)
    assert "whole plots being exchangeable" in found.summary()
    assert "of 5 whole plots" in found.summary()
    others = [v for z, v in zip(allowed, values, strict=True) if z != [of_plot[p] for p in plots]]
    assert_allclose(np.sort(found.null_distribution), np.sort(np.array(others, float)), atol=1e-12)


def test_whole_plots_within_strata(rng):
    plots = np.repeat(np.arange(8), 2)
    strata = np.repeat([0, 1], 8)
    groups = np.array([0, 1, 0, 1, 0, 0, 1, 1])[plots]
    found = es.energy_test(rng.normal(size=16), groups=groups, design=es.Design(whole_plots=plots, strata=strata))
    assert (found.method, found.n_resamples) == ("exact", 36)
    assert found.n_strata == 2
    random = es.energy_test(
        rng.normal(size=16), groups=groups, design=es.Design(whole_plots=plots, strata=strata), method="permutation"
    )
    assert random.null_distribution.size == 999


@pytest.mark.parametrize("compiled", [False, True])
def test_strata_with_other_largest_groups_keep_their_labels(rng, compiled):
    """The largest group of each stratum gets what the others leave: 0 in the first one, 1, then 2."""
    codes = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1, 2, 2, 0, 2, 2], dtype=np.intp)
    strata = (np.arange(4), np.arange(4, 9), np.arange(9, 14))
    drawn = labelings.RandomLabels(codes, strata)
    assert drawn.rest.tolist() == [0, 1, 2]
    found = drawn.labelings(rng.random((200, drawn.drawn.size)), compiled=compiled)
    for rows in strata:
        assert (np.sort(found[:, rows], axis=1) == np.sort(codes[rows])).all()
        assert len(np.unique(found[:, rows], axis=0)) == {4: 4, 5: 5}[rows.size]


def test_paired_is_strata_of_subjects(rng):
    x, y, z = rng.normal(size=(3, 9, 2))
    paired = es.energy_test(x, y, z, design=es.Design(paired=True), rng=1)
    named = es.energy_test(x, y, z, design=es.Design(strata=np.tile(np.arange(9), 3)), rng=1)
    assert paired.pvalue == named.pvalue
    assert paired.n_strata == 9
    assert es.energy_test(x[:5], y[:5], design=es.Design(paired=True)).n_resamples == 2**5
    assert es.mmd_test(x[:5], y[:5], design=es.Design(paired=True)).n_resamples == 2**5


def test_pairing_sees_a_shift_below_the_spread_of_subjects(rng):
    subject = rng.normal(scale=10, size=30)
    x, y = subject, subject + 2 + 0.01 * rng.normal(size=30)
    paired = es.energy_test(x, y, design=es.Design(paired=True), rng=0).pvalue
    assert paired == 0.001
    assert es.energy_test(x, y, rng=0).pvalue > paired


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("statistic", ["between", "pairwise"])
def test_weights_against_the_definition(statistic, rng):
    x, groups = rng.integers(0, 6, 7), [0, 0, 1, 1, 1, 2, 2]
    w = rng.integers(1, 5, 7).tolist()
    R = [[Fraction(abs(int(a) - int(b))) for b in x] for a in x]

    def value(z):
        if statistic == "between":
            return definitions.between(R, z, w)
        return definitions.pairwise_statistic(R, z, w)

    everything = definitions.distinct_labelings(groups)
    expected = sum(value(z) >= value(groups) for z in everything) / len(everything)
    found = es.energy_test(x, groups=groups, sample_weight=w, statistic=statistic, method="exact")
    assert found.pvalue == expected
    assert_allclose(found.statistic, float(value(groups)), rtol=1e-12)


def test_whole_weights_are_repeated_rows(rng):
    x, y = rng.normal(size=(6, 2)), rng.normal(1, size=(7, 2))
    w = rng.integers(1, 4, 13)
    weighted = es.energy_test(x, y, sample_weight=w, rng=0)
    repeated = es.energy_test(np.repeat(x, w[:6], axis=0), np.repeat(y, w[6:], axis=0), rng=0)
    for name in ("statistic", "effect_size", "inhomogeneity", "within", "total"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)


@pytest.mark.parametrize("ratio", [1e4, 1e6, 1e9])
def test_weights_of_unlike_size_do_not_depend_on_the_names(ratio, rng):
    """A light group may be named first or last: nothing is a difference of sums in which it is lost."""
    x, names, w = rng.normal(size=(9, 2)), np.repeat(["a", "b"], [4, 5]), np.repeat([1.0, ratio], [4, 5])
    expected = definitions.between(definitions.rho_matrix(x.tolist()), names.tolist(), list(map(Fraction, w)))
    first, last = (es.energy_test(x, groups=g, sample_weight=w) for g in (names, np.where(names == "a", "z", names)))
    assert first.method == last.method == "exact"
    assert first.pvalue == last.pvalue
    assert_allclose([first.statistic, last.statistic], float(expected), rtol=1e-14 * ratio + 1e-9)


def test_equal_weights_change_nothing(two):
    plain = es.energy_test(*two, rng=0)
    assert es.energy_test(*two, sample_weight=np.full(27, 3.0), rng=0).pvalue == plain.pvalue


# ---------------------------------------------------------------- early stop and tail


def test_stop_at_is_the_start_of_the_full_run(rng):
    x, y = rng.normal(size=(2, 20, 2))
    full = es.energy_test(x, y, n_resamples=5000, rng=3)
    early = es.energy_test(x, y, method=es.Permutation(5000, stop_at=10), rng=3)
    reached = np.cumsum(full.null_distribution >= full.statistic - 1e-12 * full.total)
    if reached[-1] < 10:
        assert (early.pvalue, early.stopped_early) == (full.pvalue, False)
        return
    used = int(np.searchsorted(reached, 10)) + 1
    assert (early.n_resamples, early.stopped_early) == (used, True)
    assert early.pvalue == 10 / used
    assert early.pvalue_interval[0] <= early.pvalue <= early.pvalue_interval[1]
    assert "stopped early" in early.summary()
    assert_allclose(early.null_distribution, full.null_distribution[:used], rtol=1e-12)


def test_no_stop_where_few_are_extreme(rng):
    x, y = rng.normal(size=(20, 2)), rng.normal(5, size=(20, 2))
    found = es.energy_test(x, y, method=es.Permutation(stop_at=5), rng=0)
    assert (found.n_resamples, found.stopped_early, found.pvalue) == (999, False, 0.001)


def test_interval_after_a_stop_covers(rng):
    """Inverse sampling: resamples until 10 successes of probability .2."""
    draws = 10 + rng.negative_binomial(10, 0.2, size=4000)
    intervals = [pvalues.stopped_interval(10, int(n), 0.95) for n in draws]
    covered = sum(low <= 0.2 <= high for low, high in intervals)
    assert covered >= stats.binom.ppf(1e-6, 4000, 0.95)
    assert pvalues.stopped_interval(10, 10, 0.95)[1] == 1.0


@given(st.integers(1, 60), st.integers(0, 300), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_after_a_stop_inverts_the_distribution_of_the_stop(reached, more, level):
    """The h-th extreme value came at n: P(at most n are needed) at the lower end, P(at least n) at the upper one."""
    n, tail = reached + more, (1 - level) / 2
    low, high = pvalues.stopped_interval(reached, n, level)
    assert stats.binom.sf(reached - 1, n, low) == pytest.approx(tail)
    assert high == 1 if more == 0 else stats.binom.cdf(reached - 1, n - 1, high) == pytest.approx(tail)


def test_all_labelings_are_visited_whatever_the_stop(rng):
    """Of bins, which are enumerated where they are few."""
    x, y = rng.normal(size=(2, 6))
    found = es.energy_test(x, y, method=es.Binned(4, stop_at=1), rng=0)
    assert (found.n_resamples, found.stopped_early) == (6, False)
    assert found.pvalue == es.energy_test(x, y, method=es.Binned(4), rng=0).pvalue


def test_enumeration_is_chosen_up_to_as_many_labelings_as_resamples():
    x, y = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    assert [es.energy_test(x, y, n_resamples=n, rng=0).method for n in (19, 20)] == ["permutation", "exact"]


def test_extrapolated_tail_is_near_the_truth(rng):
    """An exponential tail, whose p-values are known."""
    null = rng.exponential(size=5000)
    for truth in (1e-4, 1e-5):
        found = tails.generalised_pareto_pvalue(-np.log(truth), null)
        assert 0.1 < found / truth < 200


@pytest.mark.parametrize(
    ("sizes", "design", "wanted"),
    [
        ((3, 3), None, 2 / 20),  # either group may be called the first
        ((2, 3), None, 1 / 10),
        ((2, 2, 2), None, 6 / 90),
        ((2, 2, 3), None, 2 / 210),
        ((4, 4), {"paired": True}, 2 / 16),
        ((3, 3), {"strata": [0, 0, 1, 0, 1, 1]}, 1 / 9),  # two and one in a stratum, one and two in the other
        ((4, 4), {"strata": [0, 0, 1, 1, 0, 0, 1, 1]}, 2 / 36),
        ((4, 4), {"whole_plots": [0, 0, 1, 1, 2, 2, 3, 3]}, 2 / 6),
    ],
)
def test_the_smallest_p_of_all_labelings_is_reached(sizes, design, wanted):
    """Groups far apart have the smallest p there is, and a summary that says so where it is above the level."""
    x = np.arange(sum(sizes)) ** 2 / 1000
    groups = np.repeat(np.arange(len(sizes)), sizes)
    how = {} if design is None else {"design": es.Design(**design)}
    found = es.energy_test(x + 10.0**groups, groups=groups, **how)
    assert found.method == "exact"
    assert found.pvalue == pytest.approx(wanted)
    assert found.smallest_pvalue == pytest.approx(wanted)
    assert (f"no p below {wanted:.3g} is possible" in found.summary()) == (wanted > 0.05)


def test_extrapolation_gives_no_p_that_no_labeling_has(rng):
    """8 + 8 points far apart: 199 draws know nothing of 12,870 labelings, of which two reach the observed value."""
    x, y = rng.normal(size=8), rng.normal(size=8) + 500
    least = 2 / 12870
    found = es.energy_test(x, y, method=es.Permutation(199, extrapolate=True), rng=0)
    assert found.pvalue >= least * (1 - 1e-12)
    assert found.smallest_pvalue == 1 / 200
    null = np.arange(400.0)
    assert tails.extrapolated_pvalue(1000.0, null, 0, 1e-9, least) == least
    assert tails.extrapolated_pvalue(1000.0, null, 0, 1e-9) == 1 / 401**2


def test_extrapolation_is_flagged(rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(2, size=(30, 2))
    found = es.energy_test(x, y, method=es.Permutation(extrapolate=True), rng=0)
    assert found.extrapolated
    assert 0 < found.pvalue < 1e-3
    assert "extrapolated" in found.summary()
    assert found.to_frame(full=True)["extrapolated"].item()
    plain = es.energy_test(x, x + 0.01, method=es.Permutation(extrapolate=True), rng=0)
    assert not plain.extrapolated
    assert not es.energy_test(np.ones(20), np.ones(20), method=es.Permutation(extrapolate=True)).extrapolated
    assert tails.generalised_pareto_pvalue(5.0, np.ones(1000)) is None
    assert tails.generalised_pareto_pvalue(5.0, np.arange(20.0)) is None


@pytest.mark.parametrize("size", sweep([40, 63, 400, 5000], [40, 5000]))
def test_the_fitted_tail_against_its_definition(size, rng):
    """At most a quarter of the null values and at most 250, above the midpoint to the next one."""
    null = rng.exponential(size=size) ** 2
    for observed in [*np.quantile(null, [0.9, 0.99]).tolist(), 2 * null.max(), 1e9]:
        expected = definitions.pareto_tail(observed, null.tolist())
        found = tails.generalised_pareto_pvalue(observed, null)
        assert (found is None) == (expected is None)
        assert expected is None or found == pytest.approx(expected, rel=1e-6)
    assert tails.generalised_pareto_pvalue(3.0, null[:39]) is None


def test_only_what_few_resamples_reach_is_extrapolated(rng):
    """Fewer than ten, and never where all labelings were visited."""
    x, groups = rng.normal(size=20), Groups(np.arange(20) % 2, (0, 1))
    d = Dissimilarity.from_data(x, metric="euclidean", alpha=1.0)
    M, s = d.group_sums(groups)
    values = -np.log1p(-(np.arange(999) + 0.5) / 999)  # quantiles: of draws the tail can be half as heavy again

    def described(extreme, exact=False):
        observed = float(np.sort(values)[-extreme - 1 :][:2].mean()) if extreme else 30.0  # below so many values
        null = Null(M, s, observed, values, extreme, exact, stopped=False)
        found = describe_null(GroupComparison(d, groups, STATISTICS["between"], Sampling(extrapolate=True), rng), null)
        return found["extrapolated"], found["pvalue"]

    extrapolated, p = described(9)
    assert extrapolated
    assert p == pytest.approx(0.01, rel=0.5)
    assert p != 0.01
    assert described(10) == (False, 0.011)
    assert described(0, exact=True) == (False, 0.001)


# ---------------------------------------------------------------- approximations


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_moments_of_all_permutations(n, rng):
    J = np.eye(n) - 1 / n

    def centred():
        A = rng.normal(size=(n, n))
        return J @ (A + A.T) @ J

    A, C = centred(), centred()
    values = np.array([(A * C[np.ix_(p, p)]).sum() for p in map(list, itertools.permutations(range(n)))])
    mean, sd, skewness = moments.permutation_moments(A, GraphSums.of(C))
    assert_allclose(mean, values.mean(), atol=1e-12 * np.abs(values).max())
    assert_allclose(sd, values.std(), rtol=1e-9)
    assert_allclose(skewness, stats.skew(values), atol=1e-7)


@pytest.mark.parametrize("sizes", [(2, 3), (1, 1, 4), (600, 5, 1)])
def test_sums_of_a_matrix_of_groups_are_those_of_the_matrix(sizes, rng):
    """(600, 5, 1): several blocks of rows."""
    k = len(sizes)
    T, codes = rng.normal(size=(k, k)), np.repeat(np.arange(k), sizes)
    T += T.T
    C = T[np.ix_(codes, codes)]
    np.fill_diagonal(C, 0.0)
    np.fill_diagonal(C, -C.sum(axis=1))
    found = GraphSums.of_groups(T, np.array(sizes, dtype=float)).sums
    a, square = np.diagonal(C), C @ C
    expected = {
        "loop": np.trace(C),
        "loops": a @ a,
        "edge twice": np.trace(square),
        "loops thrice": (a**3).sum(),
        "edge thrice": (C**3).sum(),
        "dumbbell": a @ C @ a,
        "loop on edge": a @ np.diagonal(square),
        "triangle": np.trace(square @ C),
    }
    for sums in (found, GraphSums.of(C).sums):
        assert sums.keys() == expected.keys()
        for name, value in expected.items():
            assert sums[name] == pytest.approx(value, rel=1e-10)


@pytest.mark.filterwarnings("ignore::energystats.NotCalibratedWarning")  # of a row that happens to lie far out
@pytest.mark.parametrize("name", ["between", "pairwise", "mmd2", "mmd2 (unbiased)"])
def test_moments_of_all_labelings(name, rng):
    sizes = [2, 4] if name.startswith("mmd2") else [2, 3, 2]
    X = 1e-30 * rng.normal(size=(sum(sizes), 2))
    groups = Groups(np.repeat(np.arange(len(sizes)), sizes), tuple(range(len(sizes))))
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    rank = STATISTICS[name].rank
    labelings = definitions.distinct_labelings(groups.codes.tolist())
    values = [float(rank(*d.group_sums(Groups(np.array(z), groups.names)))) for z in labelings]
    c = GroupComparison(d, groups, STATISTICS[name], Sampling(), np.random.default_rng(0))
    mean, sd, skewness = _permutation_distribution(c, groups.mass(None))
    assert_allclose([mean, sd], [np.mean(values), np.std(values)], atol=1e-8 * np.std(values))
    assert_allclose(skewness, stats.skew(values), atol=1e-6)


@pytest.mark.parametrize("name", ["between", "pairwise"])
def test_coefficients_of_many_groups_are_computed_a_few_at_a_time(name, rng, monkeypatch):
    """Those of 120 groups took 6.6 GB at once."""
    s = rng.integers(1, 6, 7).astype(float)
    rank, M = STATISTICS[name].rank, rng.normal(size=(7, 7))
    M += M.T
    found = _coefficients(STATISTICS[name], s)
    assert_allclose((found * M).sum(), rank(M, s))
    monkeypatch.setattr(asymptotic_test, "NUMBERS_AT_ONCE", 3 * 49)  # three of 49 units
    assert_allclose(_coefficients(STATISTICS[name], s), found, rtol=1e-14)


@pytest.mark.slow
def test_asymptotic_is_near_the_permutation_test(rng):
    x, y = rng.normal(size=(40, 3)), rng.normal(0.3, 1, size=(50, 3))
    tests = [(es.energy_test, {"statistic": name}) for name in ("between", "f", "pairwise")]
    for test, options in [*tests, (es.mmd_test, {"estimator": "u"})]:
        approximate = test(x, y, method="asymptotic", **options)
        sampled = test(x, y, n_resamples=9999, rng=0, **options)
        sizes = 1.0 if test is es.mmd_test else sampled.total  # of what the statistic is a difference of
        assert_allclose(approximate.statistic, sampled.statistic, rtol=0, atol=1e-13 * sizes)
        apart = np.log10(max(approximate.pvalue, 2e-3)) - np.log10(max(sampled.pvalue, 2e-3))
        assert abs(apart) < 0.5  # smaller ones are too few draws
        assert approximate.n_resamples == approximate.null_distribution.size == 0
        assert approximate.method == "asymptotic"
        assert "approximation" in approximate.summary()
    assert es.energy_test(np.ones(5), np.ones(5), method="asymptotic").pvalue == 1.0


def cross_by_definition(K, first, second):
    """Shekhar, Kim & Ramdas (2022) with kernel sums, halves in the order given."""
    (x1, x2), (y1, y2) = first, second
    f = {i: np.mean([K[i, a] for a in x1]) - np.mean([K[i, b] for b in y1]) for i in [*x2, *y2]}
    fx, fy = [f[i] for i in x2], [f[i] for i in y2]
    return (np.mean(fx) - np.mean(fy)) / np.sqrt(np.var(fx, ddof=1) / len(fx) + np.var(fy, ddof=1) / len(fy))


def test_cross_statistic_against_the_definition(two):
    x, y = two
    with pytest.warns(es.NotCalibratedWarning, match="fewer than 20 points, .* got 12 and 15"):
        found = es.energy_test(x, y, method="cross", rng=5)
    R = es.pairwise(np.concatenate((x, y)))
    generator = np.random.default_rng(5)
    halves = []
    for rows in (np.arange(12), np.arange(12, 27)):
        mixed = generator.permutation(rows)
        halves.append((mixed[: rows.size // 2], mixed[rows.size // 2 :]))
    for base in (0, "center"):
        expected = cross_by_definition(es.distance_kernel(R, base=base), *halves)
        assert_allclose(found.statistic, expected, rtol=1e-10)
    assert_allclose(found.pvalue, stats.norm.sf(expected), rtol=1e-9)
    assert (found.statistic_name, found.method) == ("cross", "cross")
    assert "approximation" in found.summary()


def test_cross_of_constant_data():
    assert es.energy_test(np.ones(29), np.ones(27), method="cross", rng=0).pvalue == 0.5
    assert 0 < es.energy_test(np.zeros(29), np.ones(27), method="cross", rng=0).pvalue < 1e-300


@pytest.mark.parametrize(
    ("sizes", "warned"), [((20, 20), False), ((19, 40), True), ((20, 49), False), ((20, 50), True)]
)
def test_cross_warns_where_it_was_measured_to_be_off(sizes, warned, rng):
    x, y = (rng.normal(size=n) for n in sizes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        es.energy_test(x, y, method="cross", rng=0)
    assert [w.category for w in caught] == [es.NotCalibratedWarning] * warned


@pytest.mark.parametrize("exponent", [-300, 300])
def test_cross_does_not_depend_on_the_unit(exponent, rng):
    x, y = rng.normal(size=(2, 25, 2))
    expected = es.energy_test(x, y, method="cross", rng=0).statistic
    scaled = es.energy_test(np.ldexp(x, exponent), np.ldexp(y, exponent), method="cross", alpha=2.0, rng=0).statistic
    assert scaled == pytest.approx(es.energy_test(x, y, method="cross", alpha=2.0, rng=0).statistic)
    assert es.energy_test(np.ldexp(x, exponent), np.ldexp(y, exponent), method="cross", rng=0).statistic == expected


@pytest.mark.parametrize(("duplicated", "warned"), [(9, False), (10, True)])
def test_the_smooth_distribution_warns_from_half_of_the_rows_on(duplicated, warned, rng):
    x = rng.normal(size=20)
    x[-duplicated:] = x[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        es.energy_test(x, groups=np.arange(20) % 2, method="asymptotic")
    assert [w.category for w in caught] == [es.NotCalibratedWarning] * warned


def test_interval_of_e_against_the_definition(rng):
    x, y = rng.integers(0, 5, (6, 1)).astype(float), rng.integers(2, 9, (5, 1)).astype(float)
    found = es.energy_interval(x, y, n_bootstrap=400, rng=2)
    R = es.pairwise(np.concatenate((x, y))).tolist()
    A, B = list(range(6)), list(range(6, 11))
    key = labelings.draw_key(np.random.default_rng(2))
    deviations = []
    for block in range(7):
        stream = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, block]))
        counts = [stream.multinomial(n, np.full(n, 1 / n), size=64) for n in (6, 5)]
        for first, second in zip(*counts, strict=True):
            drawn_A, drawn_B = np.repeat(A, first).tolist(), np.repeat(B, second).tolist()
            big = [[R[i][j] for j in drawn_A + drawn_B] for i in drawn_A + drawn_B]
            E = definitions.energy_distance(big, range(6), range(6, 11), unbiased=True)
            deviations.append(E - definitions.energy_distance(R, A, B))
    centre = definitions.energy_distance(R, A, B, unbiased=True)
    low, high = centre + np.quantile(deviations[:400], [0.025, 0.975])
    assert_allclose((found.low, found.high), (max(low, 0), max(high, 0)), atol=1e-12)
    assert_allclose(found.bootstrap_distribution, centre + np.array(deviations[:400]), atol=1e-12)
    assert_allclose((found.statistic, found.unbiased), (definitions.energy_distance(R, A, B), centre), atol=1e-12)
    assert "95 % interval of E" in found.summary()
    narrow = es.energy_interval(x, y, n_bootstrap=400, confidence_level=0.5, rng=2)
    assert_allclose(
        (narrow.low, narrow.high), np.maximum(np.quantile(found.bootstrap_distribution, [0.25, 0.75]), 0), atol=1e-12
    )
    assert "50 % interval of E" in narrow.summary()
    pooled = es.energy_interval(np.concatenate((x, y)), groups=[*"aaaaaabbbbb"], n_bootstrap=400, rng=2)
    assert (pooled.low, pooled.high, pooled.labels) == (found.low, found.high, ("a", "b"))


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_only_where_e_cannot_be_negative_its_interval_ends_at_zero(rng):
    x = np.concatenate((rng.normal(size=12), rng.normal(9, 1, 12)))
    R, groups = es.pairwise(x), np.repeat([0, 1], 12)
    found = es.energy_interval(-R, groups=groups, metric="precomputed", n_bootstrap=60, rng=0)
    assert found.low < found.high < 0
    same = es.energy_interval(x[:12], x[:12] + 1e-9, n_bootstrap=60, rng=0)
    assert same.low == 0
    assert same.unbiased < 0  # and is shown as it is


def test_the_summary_says_when_e_of_the_samples_lies_above_its_interval(rng):
    x, y = rng.normal(size=(2, 10, 200))  # the pairs of a point with itself are a tenth of all
    found = es.energy_interval(x, y, n_bootstrap=99, rng=0)
    assert found.statistic > found.high
    assert "E of the samples lies above the interval" in found.summary()
    assert "lies above" not in es.energy_interval(x[:, 0], y[:, 0] + 3, n_bootstrap=99, rng=0).summary()


def test_an_interval_between_found_groups_warns(rng):
    x = rng.normal(size=(20, 2))
    with pytest.warns(es.DoubleDippingWarning, match="the interval of their E means nothing"):
        found = es.energy_interval(x, groups=es.energy_cluster(x, 2, rng=0), n_bootstrap=39, rng=0)
    assert "found from data" in found.notes[0]
    labels = np.array(es.energy_cluster(x, 2, rng=0).labels)  # bare ones
    assert "local optimum" in str(es.energy_interval(x, groups=labels, n_bootstrap=39, rng=0).notes)


@pytest.mark.parametrize(("level", "fewest"), [(0.95, 39), (0.9, 19), (0.5, 3), (0.9999, 19999)])
def test_an_interval_has_samples_beyond_its_ends(level, fewest, rng):
    x, y = rng.normal(size=(2, 12))
    found = es.energy_interval(x, y, n_bootstrap=fewest, confidence_level=level, rng=0)
    assert (found.notes, found.bootstrap_distribution.size) == ((), fewest)
    with pytest.raises(ValueError, match=rf"`n_bootstrap` must be at least {fewest} for confidence_level={level}.*got"):
        es.energy_interval(x, y, n_bootstrap=fewest - 1, confidence_level=level, rng=0)


def test_intervals_of_few_or_equal_points_say_so(rng):
    few = es.energy_interval(rng.normal(size=10), rng.normal(size=30) + 5, rng=0)
    assert "at most 10 points: the interval contains E less often" in str(few.notes)
    flat = es.energy_interval(np.zeros(12), np.zeros(15), rng=0)
    assert flat.summary().endswith("an interval without width says nothing of the populations.")
    assert "confidence" not in flat.summary()


# ---------------------------------------------------------------- designs

X, G = np.arange(24.0).reshape(12, 2) % 7, np.repeat([0, 1], 6)
ODD, PLOTS_OF_FOUR = np.arange(12) % 2, es.Design(whole_plots=np.repeat([0, 1, 2], 4))


def test_a_design_prints_as_code_and_cannot_be_changed():
    assert repr(es.Design()) == "Design()"
    assert repr(es.Design(strata="block", whole_plots=[1, 2, 3])) == "Design(strata='block', whole_plots=<3 labels>)"
    assert repr(es.Design(paired=True)) == "Design(paired=True)"
    assert repr(es.Design(strata=7)) == "Design(strata=<int>)"
    with pytest.raises(AttributeError):
        es.Design().paired = True


@pytest.mark.parametrize("test", [es.energy_test, es.mmd_test, es.disco])
def test_what_is_no_design_is_refused(test):
    for wrong in ("block", G, True):
        with pytest.raises(TypeError, match=r"`design` must be an `es.Design`, got .*; for example `es.Design\(strata"):
            test(X, groups=G, design=wrong)
    with pytest.raises(TypeError, match=r"`paired` must be True or False, got 'yes'"):
        test(X, groups=G, design=es.Design(paired="yes"))
    for old in ("strata", "paired", "whole_plots"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{old}'"):
            test(X, groups=G, **{old: G})


def test_an_empty_design_changes_nothing(rng):
    x = rng.normal(size=(12, 2))
    for test in (es.energy_test, es.mmd_test, es.disco):
        plain, empty = (
            test(x, groups=G, n_resamples=99, rng=1),
            test(x, groups=G, design=es.Design(), n_resamples=99, rng=1),
        )
        assert plain.pvalue == empty.pvalue
        assert plain.n_strata == empty.n_strata == 0


def test_mmd_permutes_whole_plots(rng):
    x, plots = rng.normal(size=12), np.arange(12) // 2
    how = {"groups": G, "design": es.Design(whole_plots=plots)}
    assert es.mmd_test(x, **how, kernel="distance").pvalue == es.energy_test(x, **how).pvalue
    assert es.mmd_test(x, **how).n_plots == 6


@pytest.mark.parametrize("design", [es.Design(paired=True), es.Design(whole_plots=G)], ids=str)
def test_disco_takes_strata_alone(design):
    with pytest.raises(ValueError, match=r"`design` of `disco` takes `strata` alone, got Design\("):
        es.disco(X, groups=G, design=design)


# ---------------------------------------------------------------- several semimetrics


def min_p_by_definition(tables):
    """Rows: labelings, the observed one first; columns: statistics."""
    ranks = [[sum(other[c] >= row[c] for other in tables) for c in range(len(row))] for row in tables]
    smallest = [min(row) for row in ranks]
    return smallest[0] / len(tables), sum(s <= smallest[0] for s in smallest) / len(tables)


def test_min_p_against_the_definition(rng):
    x, groups = rng.integers(0, 5, 7).tolist(), [0, 0, 0, 1, 1, 1, 1]
    everything = definitions.distinct_labelings(groups)
    everything.sort(key=lambda z: list(z) != groups)
    R1 = [[Fraction(abs(a - b)) for b in x] for a in x]
    R2 = [[Fraction(abs(a - b)) ** 2 for b in x] for a in x]
    expected = min_p_by_definition([(definitions.between(R1, z), definitions.between(R2, z)) for z in everything])
    found = es.energy_test(x, groups=groups, alpha=[1.0, 2.0], method="exact")
    assert (found.statistic, found.pvalue) == expected
    assert found.statistic_name == "min p"
    assert [part.metric.alpha for part in found.components] == [1.0, 2.0]
    single = [es.energy_test(x, groups=groups, alpha=a, method="exact").pvalue for a in (1.0, 2.0)]
    assert [part.pvalue for part in found.components] == single


def test_min_p_runs_on_one_set_of_relabelings(two):
    kernels = [es.metrics.Gaussian(s) for s in (0.1, 1.0, 10.0)]
    found = es.mmd_test(*two, kernel=kernels, rng=4)
    again = es.mmd_test(*two, kernel=[kernels[0], kernels[0]], rng=4)
    assert again.pvalue == again.components[0].pvalue == again.components[1].pvalue == found.components[0].pvalue
    assert min(part.pvalue for part in found.components) <= found.pvalue
    assert found.metric in kernels
    assert "Under each semimetric" in found.summary()
    assert found.plot() is not None
    with_f = es.energy_test(*two, metric=["euclidean", "cityblock"], statistic="f", rng=1)
    assert with_f.pvalue == es.energy_test(*two, metric=["euclidean", "cityblock"], rng=1).pvalue


@given(st.integers(0, 10**6))
def test_min_p_never_beats_its_parts(seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 6, 1))
    found = es.energy_test(x, y, alpha=(0.5, 2.0), n_resamples=49, rng=seed)
    assert min(part.pvalue for part in found.components) <= found.pvalue <= 1


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": PLOTS_OF_FOUR}, r"`groups` must be the same on all rows of a whole plot, but"),
        ({"design": es.Design(whole_plots=G, strata=G)}, r"`strata` must leave something"),
        ({"design": es.Design(whole_plots=G, strata=ODD)}, r"`strata` must be the same on all rows of a whole plot"),
        ({"design": es.Design(whole_plots=G[:4])}, r"`whole_plots` must have one label for each of the 12 rows, got 4"),
        ({"design": es.Design(paired=True, strata=G)}, r"`paired` makes its own strata"),
        ({"sample_weight": -np.ones(12)}, r"`sample_weight` must be positive, got -1"),
        ({"sample_weight": np.zeros(12)}, r"`sample_weight` must be positive, got 0"),
        ({"sample_weight": np.ones(3)}, r"`sample_weight` must have shape \(12,\), got \(3,\)"),
        ({"sample_weight": np.ones(12), "statistic": "f"}, r"`statistic=\"f\"` counts rows"),
        ({"method": "asymptotic", "design": es.Design(strata=ODD)}, r"no permutations and does not go with `strata`"),
        ({"method": "cross", "sample_weight": np.ones(12)}, r"does not go with `sample_weight`"),
        ({"method": "asymptotic", "alpha": [1.0, 2.0]}, r"does not go with several semimetrics"),
        ({"alpha": [1, 2], "method": es.Permutation(extrapolate=True)}, r"Several semimetrics need all permutations"),
        ({"alpha": [1.0, 2.0], "metric": ["euclidean", "cityblock"]}, r"`metric` and `alpha` must not both"),
        ({"alpha": []}, r"`alpha` must not be empty"),
        ({"alpha": [1.0, 3.0]}, r"`alpha` must be from 0.001 to 2, got 3"),
        ({"metric": ["euclidean", "precomputed"]}, r"metric=\"precomputed\" is one matrix"),
        ({"n_resamples": 0}, r"`n_resamples` must be at least 1, got 0"),
        ({"rng": -1}, r"`rng` must be a seed \(whole number >= 0\)"),
    ],
)  # fmt: skip
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        es.energy_test(X, groups=G, **options)


def test_other_bad_options():
    with pytest.raises(TypeError, match=r"`rng` must be a seed"):
        es.energy_test(X, groups=G, rng=1.5)
    with pytest.raises(
        ValueError,
        match=r"`paired` needs samples of one size, .* row i of each being subject i; got groups of 4, 5 rows",
    ):
        es.energy_test(X[:4], X[4:9], design=es.Design(paired=True))
    with pytest.raises(ValueError, match=r"`whole_plots` must leave something to permute|must be the same"):
        es.energy_test(X, groups=G, design=es.Design(whole_plots=np.zeros(12)))
    with pytest.raises(ValueError, match=r"compares two groups, got 3"):
        es.energy_test(X, groups=np.arange(12) % 3, method="cross")
    with pytest.raises(ValueError, match=r"needs 4 points in each, got 3, 9"):
        es.energy_test(X, groups=np.arange(12) > 2, method="cross")
    with pytest.raises(ValueError, match=r"`kernel` must not be empty"):
        es.mmd_test(X[:5], X[5:], kernel=[])
    with pytest.raises(ValueError, match=r"`kernel=\"precomputed\"` is one matrix"):
        es.mmd_test(X[:5], X[5:], kernel=["gaussian", "precomputed"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstrap": 0}, r"`n_bootstrap` must be at least 1, got 0"),
        ({"confidence_level": 1}, r"`confidence_level` must lie below 1, got 1"),
        ({"confidence_level": 0}, r"`confidence_level` must be positive and finite, got 0"),
        (
            {"groups": np.arange(12) % 3},
            r"`groups` must name two groups, got 3; .* `pairwise_tests` has the E of all pairs",
        ),
        ({"groups": np.arange(12) > 0}, r"needs at least two points in each sample, got 1, 11"),
    ],
)
def test_bad_options_of_an_interval(options, message):
    with pytest.raises(ValueError, match=message):
        es.energy_interval(X, **{"groups": G, **options})


def test_groups_that_no_stratum_shares_are_named(rng):
    X = rng.normal(size=12)
    blocks = es.Design(strata=[1] * 6 + [2] * 2 + [3] * 4)
    for found in (
        es.energy_test(X, groups=[*"aaaabbbbcccc"], design=blocks),
        es.energy_test(X, groups=[*"aaaabbbbcccc"], design=blocks, method=es.Permutation(stop_at=5), rng=0),
    ):
        assert "No stratum has rows of 'c' and of another group: their labels stay" in found.summary()
    assert "No stratum" not in es.energy_test(X, groups=[*"aabcabbabcca"], design=blocks, rng=0).summary()


@pytest.mark.parametrize("far", [1e11, 1e12, 1e16])
def test_a_row_that_hides_the_others_is_told(far):
    found = es.energy_test([0.0, 1, 2, 3], [4.0, 5, 6, far])
    assert "count as ties, and p may be far too large" in " ".join(found.summary().split())
    near = es.energy_test([0.0, 1, 2, 3], [4.0, 5, 6, 1e7])
    assert "far too large" not in near.summary()
    assert near.pvalue == pytest.approx(2 / 70)


@pytest.mark.parametrize("k", [2, 3])
def test_more_labelings_than_a_double_counts(k, rng):
    """2^1100 and 6^1100 labelings within pairs and triples: the number was an int that no float could hold."""
    n = 1100
    samples = rng.standard_normal((k, n))
    for design in (es.Design(paired=True), es.Design(strata=np.tile(np.arange(n), k))):
        data = tuple(samples) if design.paired else (samples.ravel(),)
        groups = None if design.paired else np.repeat(np.arange(k), n)
        if design.paired and k > 2:
            continue
        found = es.energy_test(*data, groups=groups, design=design, n_resamples=99, rng=0)
        assert 0.01 <= found.pvalue <= 1
        with pytest.raises(ValueError, match="more than 1e\\+308"):
            es.energy_test(*data, groups=groups, design=design, method="exact")
    assert labelings.Exchangeable(np.tile([0, 1], 600), tuple(np.arange(1200).reshape(600, 2))).count() == 2.0**600


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_share_of_the_largest_counts_ties_of_any_size(size):
    others = size * np.array([3.0, 1.0, 3.0 * (1 + 1e-11), 2.9])
    assert tails.share_of_largest(3.0 * size, others) == 3 / 5
    assert tails.share_of_largest(1.0 * size, others) == 2 / 5
    assert tails.share_of_largest(4.0 * size, others) == 1 / 5
    assert tails.reached_by_ties_alone(3.0 * size, others)
    assert not tails.reached_by_ties_alone(2.9 * size, others)
    assert not tails.reached_by_ties_alone(0.0, np.empty(0))


def test_many_strata_of_one_label_are_no_recursion(rng):
    strata, g = np.r_[np.arange(1200), np.arange(6)], np.repeat([0, 1], [1200, 6])
    found = es.energy_test(rng.normal(size=1206), groups=g, design=es.Design(strata=strata), rng=0)
    assert (found.method, found.n_resamples) == ("exact", 64)
