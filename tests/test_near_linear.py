"""Sliced and binned tests: the constant, the sums, exact level, and what the results say."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import energystats as es
from energystats._core import jit
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.binned_sliced import _Bins, _permute_bins, default_bins
from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison, describe_null
from energystats.inputs.methods import MOST_BINS, Sampling
from energystats.pairs import slices, tiles
from energystats.pairs.slices import random_directions, slice_factor
from tests import definitions as slow
from tests.comparisons import words
from tests.conftest import sweep


def two_samples(rng, n=(12, 9), d=3, shift=1.0):
    x, y = (rng.standard_t(3, size=(size, d)) for size in n)
    return x, y + shift


def of(points):
    return Dissimilarity.from_data(points, metric="euclidean", alpha=1.0)


# ---------------------------------------------------------------- the constant


def test_the_constant_in_closed_form():
    assert slice_factor(1) == 1
    assert slice_factor(2) == pytest.approx(np.pi / 2, rel=1e-14)
    assert slice_factor(3) == pytest.approx(2, rel=1e-14)
    assert slice_factor(7, 2) == pytest.approx(7, rel=1e-14)  # E u_1^2 = 1/d
    assert slice_factor(10**6) == pytest.approx(np.sqrt(np.pi * 10**6 / 2), rel=1e-6)


@given(st.integers(2, 60), st.floats(0.1, 2))
def test_the_constant_against_its_integral(d, alpha):
    assert slice_factor(d, alpha) == pytest.approx(slow.slice_factor(d, alpha), rel=1e-9)


@pytest.mark.parametrize("d", [2, 5, 40])
def test_the_constant_against_draws(rng, d):
    U = random_directions(d, 20_000, rng)
    assert np.linalg.norm(U, axis=0) == pytest.approx(np.ones(20_000))
    z = rng.standard_normal(d)
    estimates = slice_factor(d) * np.abs(z @ U) / np.linalg.norm(z)
    assert abs(estimates.mean() - 1) < 6 * estimates.std() / np.sqrt(20_000)


# ---------------------------------------------------------------- the sums


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_sums_along_slices_against_the_definition(rng, monkeypatch, kept, d):
    if not kept:
        monkeypatch.setattr(slices, "LINES_BYTES", 0)
    X = rng.standard_normal((23, d)) + 1e6
    sliced = of(X).sliced(7, rng)
    route = sliced.pairs
    assert bool(route.kept) == kept
    R = slow.sliced_matrix(X - 1e6, route.directions.T)
    Z, w = rng.random((23, 2, 3)), rng.random(23)
    expected = np.einsum("ikb,ij,jlb->bkl", Z, R, Z)
    assert route.block_sums(Z) == pytest.approx(expected, rel=1e-8)
    both = route.block_sums_and_totals(Z, w)
    assert both[0] == pytest.approx(expected, rel=1e-8)
    assert both[1] == pytest.approx(R @ w, rel=1e-8)
    assert route.multiply(Z[:, :, 0]) == pytest.approx(R @ Z[:, :, 0], rel=1e-8)
    assert route.absolute_total() == pytest.approx(R.sum(), rel=1e-8)
    codes = rng.integers(5, size=23)
    indicators = (codes[:, None] == np.arange(5)) * w[:, None]
    assert route.bin_sums(codes, w, 5) == pytest.approx(indicators.T @ R @ indicators, rel=1e-8)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("route", ["stored", "kept", "recomputed", "line"])
def test_bin_sums_of_every_route(rng, monkeypatch, route, compiled, in_order):
    monkeypatch.setattr("energystats._core.group_sums.COMPILED_FROM", 0)
    monkeypatch.setattr("energystats._core.group_sums.COLUMNS_BYTES", 2000)
    if not compiled:
        monkeypatch.setattr(jit, "numba", None)
    monkeypatch.setattr(tiles, "TILE_ROWS", 16)
    monkeypatch.setattr(tiles, "TILE_COLUMNS", 40)
    monkeypatch.setattr(tiles, "STORED_UP_TO", 10 if route == "recomputed" else 4096)
    X = rng.standard_normal((130, 1 if route == "line" else 3)).round(1)
    d = of(X)
    if route == "stored":
        d = d.stored()
    codes, w = rng.integers(9, size=130), rng.random(130) + 0.1
    codes[codes == 4] = 5  # a bin without rows
    codes = np.sort(codes) if in_order else codes
    Z = (codes[:, None] == np.arange(9)) * w[:, None]
    assert d.pairs.bin_sums(codes, w, 9) == pytest.approx(Z.T @ es.pairwise(X) @ Z, rel=1e-11)


@pytest.mark.slow
def test_sliced_estimates_are_unbiased(rng):
    x, y = two_samples(rng, (40, 30), 5)
    found = es.energy_test(x, y, method=es.Sliced(4000), n_resamples=9, rng=rng)
    exact = es.energy_test(x, y, n_resamples=9)
    assert abs(found.statistic - exact.statistic) < 6 * found.statistic_error
    assert found.statistic_error < 0.1 * exact.statistic
    estimate = es.energy_distance(x, y, method=es.Sliced(4000), rng=rng)
    scale = exact.statistic / es.energy_distance(x, y)
    assert abs(estimate - es.energy_distance(x, y)) < 6 * found.statistic_error / scale


@pytest.mark.parametrize("estimator", ["u", "v"])
def test_sliced_energy_distance_against_the_definition(rng, estimator):
    x, y = two_samples(rng)
    seed = int(rng.integers(2**31))
    R = slow.sliced_matrix(np.concatenate([x, y]), random_directions(3, 6, np.random.default_rng(seed)).T)
    expected = slow.energy_distance(R, range(12), range(12, 21), unbiased=estimator == "u")
    found = es.energy_distance(x, y, method=es.Sliced(6), estimator=estimator, rng=seed)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
@pytest.mark.parametrize("n_bins", [None, 6])
def test_the_error_is_a_jackknife_over_slices(rng, statistic, n_bins):
    x, y = two_samples(rng)
    X, labels = np.concatenate([x, y]), [0] * 12 + [1] * 9
    seed = int(rng.integers(2**31))
    options = {"statistic": statistic, "method": es.Sliced(6, n_bins), "n_resamples": 9}
    found = es.energy_test(x, y, **options, rng=seed)
    directions = random_directions(3, 6, np.random.default_rng(seed)).T
    read = {"between": slow.between, "pairwise": slow.pairwise_statistic, "f": slow.f_ratio}[statistic]
    assert found.statistic == pytest.approx(read(slow.sliced_matrix(X, directions), labels), rel=1e-8)
    without = [read(slow.sliced_matrix(X, np.delete(directions, i, axis=0)), labels) for i in range(6)]
    assert found.statistic_error == pytest.approx(np.sqrt(5 * np.var(without)), rel=1e-6)


@pytest.mark.parametrize("offset", [2.0**20, 2.0**33])
def test_slices_far_from_zero_keep_their_digits(rng, offset):
    """Projections of points that are not centred lose as many digits as the offset has: 3e-7 of S at 2**33."""
    X, Y = np.round(rng.normal([[[0.0]], [[0.5]]], size=(2, 60, 3)) * 2**10) / 2**10
    near, far = (es.energy_test(X + c, Y + c, method=es.Sliced(20), n_resamples=19, rng=0) for c in (0.0, offset))
    assert far.statistic == pytest.approx(near.statistic, rel=1e-11)
    assert far.pvalue == near.pvalue


def test_one_column_has_a_single_slice(rng):
    x, y = rng.standard_normal(30), rng.standard_normal(20)
    plain, sliced = (es.energy_test(x, y, method=method, rng=3) for method in ("permutation", "sliced"))
    assert sliced.statistic == pytest.approx(plain.statistic, rel=1e-10)
    assert (sliced.n_slices, sliced.statistic_error) == (1, 0.0)
    text = sliced.summary()
    assert "One column has one direction" in text
    assert "APPROXIMATE" not in text
    assert "standard error over" not in text


# ---------------------------------------------------------------- permutations


def test_sliced_pvalue_against_all_labelings(rng):
    x, y = two_samples(rng, (4, 4), 3)
    found = es.energy_test(x, y, method=es.Sliced(5), rng=11)
    R = slow.sliced_matrix(np.concatenate([x, y]), random_directions(3, 5, np.random.default_rng(11)).T)
    assert found.n_resamples == 70
    values = np.array([slow.between(R, list(z)) for z in slow.distinct_labelings([0] * 4 + [1] * 4)])
    assert found.pvalue == pytest.approx(np.mean(values >= found.statistic * (1 - 1e-9)))


@pytest.mark.parametrize(("sizes", "n_bins"), [((12, 9), 7), ((8, 8), 4), ((7, 6, 9), 6)])
def test_binned_statistic_and_pvalue_against_all_labelings_of_bins(rng, sizes, n_bins):
    X = rng.standard_normal((sum(sizes), 2))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    seed = int(rng.integers(2**31))
    found = es.energy_test(X, groups=labels, method=es.Binned(n_bins), n_resamples=10**5, rng=seed)
    R = es.pairwise(X)
    assert found.statistic == pytest.approx(slow.between(R, labels.tolist()), rel=1e-9)
    bins = _Bins.of(Groups(labels, tuple(range(len(sizes)))), n_bins, np.random.default_rng(seed))
    assert bins.size == -(-sum(sizes) // n_bins)
    full = np.flatnonzero(bins.strata.codes == 0)
    assert (np.bincount(bins.codes)[full] == bins.size).all()
    of_bins = bins.groups.codes.copy()
    assert (of_bins[bins.codes] == labels).all()
    values = []
    for arrangement in slow.distinct_labelings(of_bins[full].tolist()):
        of_bins[full] = arrangement
        values.append(slow.between(R, of_bins[bins.codes].tolist()))
    assert found.n_resamples == len(values)
    assert found.n_fixed == sum(sizes) - bins.size * full.size
    assert found.pvalue == pytest.approx(np.mean(np.array(values) >= found.statistic * (1 - 1e-9)))
    everything = np.append(found.null_distribution, found.statistic)
    assert np.sort(everything) == pytest.approx(np.sort(values), rel=1e-8, abs=1e-10)


def pairings(rows):
    """All ways to part rows into pairs, one row being left over if their number is odd."""
    if len(rows) < 2:
        yield []
        return
    if len(rows) % 2:
        for left in rows:
            yield from pairings([row for row in rows if row != left])
        return
    for mate in rows[1:]:
        for rest in pairings([row for row in rows[1:] if row != mate]):
            yield [(rows[0], mate), *rest]


@pytest.mark.parametrize("sizes", sweep([(4, 4), (5, 2)], [(5, 2)]))
def test_the_level_of_bins_is_exact_by_enumeration(rng, sizes):
    """Over all labelings and all ways to make bins of two rows, p <= a happens in at most the share a."""
    n = sum(sizes)
    d = of(rng.standard_normal((n, 2)))
    pvalues = []
    for first in itertools.combinations(range(n), sizes[0]):
        codes = np.array([0 if i in first else 1 for i in range(n)])
        groups = Groups(codes, (0, 1))
        ways = itertools.product(*(pairings(rows.tolist()) for rows in groups.members()))
        for parts in ways:
            bins = bins_of(codes, parts)
            sums = d.pairs.bin_sums(bins.codes, np.ones(n), bins.n)
            c = GroupComparison(d, groups, STATISTICS["between"], Sampling(n_resamples=99), rng)
            pvalues.append(describe_null(c, _permute_bins(c, bins, sums)[1])["pvalue"])
    pvalues = np.array(pvalues)
    for a in np.unique(pvalues):
        assert np.mean(pvalues <= a + 1e-12) <= a + 1e-12


def bins_of(codes, parts):
    """Bins with the given pairs, and the rows left over in bins of their own."""
    of_row, names, strata = np.full(codes.size, -1), [], []
    for j, pairs_of_group in enumerate(parts):
        for pair in pairs_of_group:
            of_row[list(pair)] = len(names)
            names.append(j)
            strata.append(0)
        for left in np.flatnonzero((codes == j) & (of_row < 0)):
            of_row[left] = len(names)
            names.append(j)
            strata.append(max(strata) + 1)
    strata = np.array(strata)
    return _Bins(of_row, Groups(np.array(names), (0, 1)), Groups(strata, tuple(range(strata.max() + 1))), 2)


def test_weights_stay_with_their_rows(rng):
    X, labels = rng.standard_normal((20, 3)), [0] * 11 + [1] * 9
    w = rng.integers(1, 4, size=20).astype(float)
    R = es.pairwise(X)
    found = es.energy_test(X, groups=labels, method=es.Binned(6), sample_weight=w, n_resamples=19, rng=0)
    assert found.statistic == pytest.approx(slow.between(R, labels, w.tolist()), rel=1e-9)
    assert found.weighted
    found = es.energy_test(X, groups=labels, method=es.Sliced(4), sample_weight=w, n_resamples=19, rng=0)
    R = slow.sliced_matrix(X, random_directions(3, 4, np.random.default_rng(0)).T)
    assert found.statistic == pytest.approx(slow.between(R, labels, w.tolist()), rel=1e-9)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(2, 400))
def test_there_are_no_more_bins_than_asked_for(a, b, n_bins):
    groups = Groups(np.repeat([0, 1], [a, b]), (0, 1))
    if min(a, b) < -(-(a + b) // n_bins):
        with pytest.raises(ValueError, match="`n_bins` must be so large"):
            _Bins.of(groups, n_bins, np.random.default_rng(0))
        return
    sizes = np.bincount(_Bins.of(groups, n_bins, np.random.default_rng(0)).codes)
    assert np.count_nonzero(sizes == sizes.max()) <= n_bins
    assert sizes.sum() == a + b
    assert np.count_nonzero(sizes < sizes.max()) <= 2


@given(st.integers(5, 60), st.integers(5, 60), st.integers(5, 60), st.integers(7, 40))
def test_a_rest_changes_its_label_with_nothing(a, b, c, n_bins):
    """Only full bins are exchangeable; every smaller one is alone in its block."""
    groups = Groups(np.repeat([0, 1, 2], [a, b, c]), (0, 1, 2))
    size = -(-(a + b + c) // n_bins)
    if min(a, b, c) < size:
        return
    bins = _Bins.of(groups, n_bins, np.random.default_rng(0))
    sizes = np.bincount(bins.codes)
    assert ((sizes == size) == (bins.strata.codes == 0)).all()
    assert (np.bincount(bins.strata.codes)[1:] == 1).all()


def test_a_group_that_just_fills_a_bin_is_enough():
    bins = _Bins.of(Groups(np.repeat([0, 1], [4, 12]), (0, 1)), 4, np.random.default_rng(0))
    assert np.bincount(bins.codes).tolist() == [4, 4, 4, 4]
    assert default_bins(Groups(np.repeat([0, 1], [8, 10**6]), (0, 1))) == MOST_BINS


def test_exact_enumeration_of_two_full_bins_and_two_rests(rng):
    found = es.energy_test(rng.normal(size=9), rng.normal(size=8), method=es.Binned(4), rng=0)
    assert (found.n_resamples, found.n_bins, found.n_fixed) == (2, 2, 7)


@pytest.mark.parametrize("method", [es.Binned(10), es.Sliced(5, 10)])
def test_bins_that_keep_their_labels_do_not_count(rng, method):
    found = es.energy_test(rng.normal(size=(101, 2)), rng.normal(size=(53, 2)), method=method, n_resamples=99, rng=0)
    assert (found.n_bins, found.n_fixed, found.n_resamples) == (9, 10, 84)  # bins of 16 rows, 6 and 3 of them full
    assert "all distinct labelings of 9 bins" in found.summary()


@given(st.integers(1, 400), st.integers(1, 4000))
def test_the_smallest_group_has_eight_bins_by_itself(a, b):
    groups = Groups(np.repeat([0, 1], [a, b]), (0, 1))
    bins = _Bins.of(groups, default_bins(groups), np.random.default_rng(0))
    full = np.count_nonzero((bins.groups.codes == int(b < a)) & (bins.strata.codes == 0))
    assert full >= min(8, a, b) or a + b > MOST_BINS


@pytest.mark.parametrize("options", [{"method": "sliced"}, {"method": "binned"}, {"method": es.Sliced(n_bins=16)}])
def test_same_seed_same_bits(rng, options):
    x, y = two_samples(rng, (60, 50), 4, shift=0.2)
    first, second = (es.energy_test(x, y, **options, n_resamples=99, rng=5) for _ in range(2))
    assert first.statistic == second.statistic
    assert (first.null_distribution == second.null_distribution).all()


def test_slices_go_with_designs_and_early_stops(rng):
    X = rng.standard_normal((40, 3))
    g, blocks = np.arange(40) % 2, np.arange(40) // 10
    stops = es.Sliced(stop_at=5)
    found = es.energy_test(X, groups=g, design=es.Design(strata=blocks), method=stops, n_resamples=99, rng=0)
    assert (found.n_strata, found.method, found.stopped_early) == (4, "sliced", found.n_resamples < 99)
    found = es.energy_test(X[:20], X[20:], design=es.Design(paired=True), method="sliced", n_resamples=99, rng=0)
    assert found.n_strata == 20


def test_bins_follow_the_smallest_group(rng):
    found = es.energy_test(rng.random((3000, 2)), rng.random((20, 2)), method="binned", n_resamples=19, rng=0)
    assert found.n_bins >= 3020 * 8 / 20
    with pytest.raises(ValueError, match=r"`n_bins` must be so large that each group fills a bin, got 8: bins of 378"):
        es.energy_test(rng.random((3000, 2)), rng.random((20, 2)), method=es.Binned(8))


def test_what_the_summary_says(rng):
    x, y = two_samples(rng, (40, 30))
    text = es.energy_test(x, y, method=es.Sliced(20), n_resamples=19, rng=0).summary()
    assert "its standard error over 20 slices" in text
    assert "APPROXIMATE statistic: distances are estimated along 20 random directions" in text
    text = es.energy_test(x, y, method=es.Binned(9), n_resamples=19, rng=0).summary()
    assert "all distinct labelings of 8 bins" in text or "random permutations of 8 bins" in text  # of 8 rows, 5 + 3
    assert "keeps the level exact" in text
    assert "APPROXIMATE" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sliced", "alpha": 0.5}, r'needs points with metric="euclidean" and alpha=1, got Euclidean'),
        ({"method": "sliced", "metric": "gaussian"}, r'needs points with metric="euclidean" and alpha=1, got Gaussian'),
        ({"method": "sliced", "alpha": [1, 0.5]}, r"takes one semimetric, got 2"),
        ({"method": "binned", "design": es.Design(strata=[0, 1] * 10)}, r"Bins are permuted freely"),
    ],
)
def test_options_that_do_not_go_together(rng, options, message):
    x, y = rng.standard_normal((10, 3)), rng.standard_normal((10, 3))
    with pytest.raises(ValueError, match=message):
        es.energy_test(x, y, **options)


def test_sliced_distance_checks_its_options(rng):
    x = rng.standard_normal((5, 2))
    with pytest.raises(ValueError, match="A distance has no permutations; leave `n_bins`"):
        es.energy_distance(x, x, method=es.Sliced(n_bins=4))
    with pytest.raises(ValueError, match="`method` must be"):
        es.energy_distance(x, x, method="binned")
    with pytest.raises(ValueError, match="alpha=1, got Euclidean"):
        es.energy_distance(x, x, method="sliced", alpha=2)


# ---------------------------------------------------------------- level and power


OPTIONS = {
    "sliced": {"method": es.Sliced(20)},
    "binned": {"method": es.Binned(20)},
    "both": {"method": es.Sliced(20, 20)},
}


def rejections(rng, options, draw, replicates, level=0.05):
    samples = (draw(rng) for _ in range(replicates))
    return sum(es.energy_test(*pair, **options, n_resamples=99, rng=rng).pvalue <= level for pair in samples)


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("sizes", [(30, 30), (60, 21)])
def test_the_level_holds(rng, name, sizes):
    from scipy.stats import binomtest

    count = rejections(rng, OPTIONS[name], lambda r: [r.standard_cauchy((n, 3)) for n in sizes], 600)
    assert binomtest(count, 600, 0.05, alternative="greater").pvalue > 1e-5


@pytest.mark.calibration
@pytest.mark.parametrize("name", OPTIONS)
def test_the_power_is_near_that_of_the_whole_test(rng, name):
    def draw(r):
        return r.standard_normal((60, 5)), r.standard_normal((60, 5)) + 0.3

    whole = rejections(rng, {}, draw, 200)
    assert whole > 130
    assert rejections(rng, OPTIONS[name], draw, 200) > 0.75 * whole


@pytest.mark.parametrize("method", [es.Binned(n_bins=11), es.Sliced(n_bins=11)])
def test_the_smallest_p_is_that_of_the_labelings_of_bins(method):
    # of bins of 6 rows one holds the small group, so there are 11 labelings, all visited
    x, y = np.column_stack((np.arange(60.0), np.zeros(60))), np.column_stack((np.arange(500.0, 506), np.zeros(6)))
    test = es.energy_test(x, y, method=method, rng=0)
    assert test.n_resamples == 11
    assert test.pvalue == test.smallest_pvalue == 1 / 11
    assert "With 11 labelings no p below 0.0909 is possible." in words(test)


def test_an_infinite_ratio_has_no_standard_error():
    x = np.repeat([[0.0, 1.0], [5.0, 2.0]], 6, axis=0)
    found = es.energy_test(x, groups=np.repeat([0, 1], 6), method="sliced", statistic="f", n_resamples=49, rng=0)
    assert found.statistic == np.inf
    assert np.isnan(found.statistic_error)


@pytest.mark.slow
def test_many_labelings_of_many_bins_keep_the_distances_inside_bins():
    """Beyond 1e9 products tables take the place of one, and once forgot the diagonal, which bins have."""
    rng = np.random.default_rng(0)
    Y, h = rng.standard_t(1.5, size=(4000, 2)), np.repeat([1, 0], [600, 3400])
    expected = es.dispersion(Y, h).between
    for n in (900, 1100):
        found = es.energy_test(Y, groups=h, method=es.Binned(n_bins=1024), n_resamples=n, rng=1)
        assert found.between == pytest.approx(expected, rel=0.01)
