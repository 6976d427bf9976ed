"""The energy test: reproducible, exact where small, the same numbers by every route."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import energystats as es
from energystats._core import labelings as permutation
from energystats._core import pvalues as tails
from energystats.pairs import tiles as pairs
from tests import definitions


@pytest.fixture
def samples(rng):
    return rng.standard_normal((25, 2)), rng.standard_normal((30, 2)) + 0.4, rng.standard_normal((11, 2))


@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
def test_same_seed_same_bits(samples, statistic):
    a, b = (es.energy_test(*samples, statistic=statistic, rng=11) for _ in range(2))
    assert_array_equal(a.null_distribution, b.null_distribution)
    assert (a.statistic, a.pvalue) == (b.statistic, b.pvalue)
    other = es.energy_test(*samples, statistic=statistic, rng=12)
    assert not np.array_equal(a.null_distribution, other.null_distribution)


@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
def test_routes_agree(samples, statistic, monkeypatch):
    dense = es.energy_test(*samples, statistic=statistic, rng=3)
    monkeypatch.setattr(pairs, "STORED_UP_TO", 0)
    monkeypatch.setattr(pairs, "TILE_ROWS", 13)
    monkeypatch.setattr(pairs, "TILE_COLUMNS", 5)
    tiles = es.energy_test(*samples, statistic=statistic, rng=3)
    given = es.energy_test(
        es.pairwise(np.concatenate(samples)), groups=np.repeat([0, 1, 2], [25, 30, 11]),
        metric="precomputed", statistic=statistic, rng=3,
    )  # fmt: skip
    for other in (tiles, given):
        assert other.pvalue == dense.pvalue
        assert_allclose(other.null_distribution, dense.null_distribution, atol=1e-12 * dense.total)


def test_one_column_agrees_with_the_matrix(rng):
    x, y = rng.exponential(size=20), rng.exponential(size=30)
    sorted_sums = es.energy_test(x, y, rng=5)
    R = es.pairwise(np.concatenate((x, y)))
    dense = es.energy_test(R, groups=np.repeat([0, 1], [20, 30]), metric="precomputed", rng=5)
    assert sorted_sums.pvalue == dense.pvalue
    assert_allclose(sorted_sums.null_distribution, dense.null_distribution, atol=1e-12 * dense.total)


def test_a_shorter_run_is_the_start_of_a_longer_one(samples):
    short = es.energy_test(*samples, n_resamples=70, rng=8).null_distribution
    assert_allclose(short, es.energy_test(*samples, n_resamples=500, rng=8).null_distribution[:70], rtol=1e-12)


def test_exact_is_chosen_when_it_is_cheaper():
    x, y = np.arange(4.0), np.arange(3.0) + 0.5
    assert es.energy_test(x, y, n_resamples=35).method == "exact"
    assert es.energy_test(x, y, n_resamples=34).method == "permutation"
    assert es.energy_test(x, y, method="exact").n_resamples == 35
    with pytest.raises(ValueError, match=r"visits every distinct labeling and does not go with `n_resamples=34`"):
        es.energy_test(x, y, n_resamples=34, method="exact")


def test_statistics_hang_together(samples):
    """Pairwise is 2S for two groups; F has the p-value of S for any scale of the data."""
    two = samples[:2]
    S = es.energy_test(*two, rng=1)
    assert_allclose(es.energy_test(*two, statistic="pairwise", rng=1).statistic, 2 * S.statistic, rtol=1e-10)
    assert_allclose(S.effect_size, S.between / S.total)
    E = es.energy_distance(*two)
    assert_allclose(S.statistic, 25 * 30 / (2 * 55) * E, rtol=1e-10)
    assert_allclose(S.inhomogeneity, E / (2 * es.pairwise(*two).mean()), rtol=1e-10)
    for scale in (1e-10, 1.0, 1e10):
        scaled = [scale * x for x in samples]
        assert es.energy_test(*scaled, statistic="f", rng=2).pvalue == es.energy_test(*samples, rng=2).pvalue
    assert es.energy_test(*samples, rng=2).inhomogeneity is None


def test_ties_from_mirror_splits_count():
    """Equal sizes: every split has its mirror image, which has the same statistic to the last bit or not."""
    x, y = np.array([1000.1, 1000.3, 1000.7]), np.array([1001.9, 1002.2, 1002.6])
    assert es.energy_test(x, y).pvalue == pytest.approx(2 / 20, abs=1e-15)


def test_interval_holds_the_exact_pvalue(rng):
    x, y = rng.standard_normal(5), rng.standard_normal(5) + 1
    exact = es.energy_test(x, y, method="exact")
    misses = 0
    for seed in range(40):
        low, high = es.energy_test(x, y, method="permutation", n_resamples=200, rng=seed).pvalue_interval
        misses += not low <= exact.pvalue <= high
    assert misses <= 9  # of 40 at 95 %: exceeded once in ten thousand runs
    assert exact.pvalue_interval == (exact.pvalue, exact.pvalue)


def test_groups_keep_their_names(samples):
    X = pd.DataFrame(np.concatenate(samples), columns=["u", "v"])
    names = np.repeat(["zebra", "ant", "mole"], [25, 30, 11])
    assert es.energy_test(X, groups=names, n_resamples=9, rng=0).labels == ("ant", "mole", "zebra")
    ordered = pd.Categorical(names, categories=["zebra", "mole", "none", "ant"])
    result = es.energy_test(X, groups=ordered, n_resamples=9, rng=0)
    assert result.labels == ("zebra", "mole", "ant")
    assert result.sizes == (25, 11, 30)
    assert es.energy_test(X, groups=pd.Series(ordered), n_resamples=9, rng=0).labels == ("zebra", "mole", "ant")


def test_squared_distances_say_what_they_see(samples):
    assert (
        "squared distances compare means alone"
        in es.energy_test(*samples, alpha=2, n_resamples=9, rng=0).null_hypothesis
    )
    assert "means" not in es.energy_test(*samples, n_resamples=9, rng=0).null_hypothesis


def test_standardize_is_recorded(samples):
    result = es.energy_test(*samples, standardize=True, n_resamples=9, rng=0)
    pooled = np.concatenate(samples)
    assert_allclose(result.standardization.center, pooled.mean(axis=0))
    assert_allclose(result.standardization.scale, pooled.std(axis=0))
    z = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    assert_allclose(result.statistic, es.dispersion(z, np.repeat([0, 1, 2], [25, 30, 11])).between, rtol=1e-10)


def test_an_offset_costs_no_digits(rng):
    x, y = rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 1
    x, y = np.round(x * 2**20) / 2**20, np.round(y * 2**20) / 2**20  # so that the shift itself is exact
    near, far = (
        es.energy_test(x, y, n_resamples=99, rng=0),
        es.energy_test(x + 2.0**20, y + 2.0**20, n_resamples=99, rng=0),
    )
    assert_allclose(far.total, near.total, rtol=1e-12)
    assert far.pvalue == near.pvalue


def test_resamples_are_permutations():
    codes = np.repeat([0, 1, 2], [3, 5, 2]).astype(np.intp)
    scheme = permutation.Exchangeable.freely(codes)
    blocks = list(scheme.random(150, permutation.draw_key(np.random.default_rng(0))))
    assert [len(b) for b in blocks] == [64, 64, 22]
    every = np.concatenate(blocks)
    assert (np.sort(every, axis=1) == codes).all()
    assert len(np.unique(every, axis=0)) > 140


def test_progress_bar_goes_to_stderr(samples, capsys):
    es.energy_test(*samples, n_resamples=99, rng=0, progress=True)
    captured = capsys.readouterr()
    assert "100/100" in captured.err
    assert captured.out == ""


def test_strata_against_enumeration():
    """Exact p among the labelings that keep every block's composition, on a lattice with ties."""
    x, labels, blocks = [0, 1, 2, 9, 10, 11, 12], [0, 1, 1, 0, 0, 1, 1], ["u", "u", "u", "v", "v", "v", "v"]
    R = [[definitions.Fraction(abs(a - b)) for b in x] for a in x]

    def composition(z):
        return sorted(zip(blocks, z, strict=True))

    kept = [list(z) for z in definitions.distinct_labelings(labels) if composition(z) == composition(labels)]
    observed = definitions.between(R, labels)
    expected = sum(definitions.between(R, z) >= observed for z in kept) / len(kept)
    found = es.energy_test(np.array(x), groups=labels, design=es.Design(strata=blocks), method="exact")
    assert found.pvalue == pytest.approx(expected, abs=1e-15)
    assert (found.n_resamples, found.n_strata) == (len(kept), 2)
    assert "within every stratum" in found.null_hypothesis
    assert "within 2 strata" in found.summary()


def test_strata_take_care_of_block_effects(rng):
    """Blocks far apart hide a small difference from free permutations, not from those within blocks."""
    blocks = np.repeat(np.arange(6), 20)
    labels = np.tile([0, 1], 60)
    X = rng.standard_normal((120, 2)) + 50.0 * blocks[:, None] + 2.0 * labels[:, None]
    assert es.energy_test(X, groups=labels, design=es.Design(strata=blocks), rng=rng).pvalue <= 0.01
    assert es.energy_test(X, groups=labels, rng=rng).pvalue > 0.2
    as_samples = es.energy_test(
        X[labels == 0], X[labels == 1], design=es.Design(strata=np.r_[blocks[::2], blocks[1::2]]), rng=1
    )
    assert as_samples.pvalue <= 0.01
    one_block = es.energy_test(X, groups=labels, design=es.Design(strata=np.zeros(120)), rng=4)
    assert_array_equal(one_block.null_distribution, es.energy_test(X, groups=labels, rng=4).null_distribution)


def test_threads_of_blas_do_not_matter(rng):
    from threadpoolctl import threadpool_limits

    x, y = rng.normal(size=(300, 4)), rng.normal(0.1, 1, size=(200, 4))
    results = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            results.append(es.energy_test(x, y, rng=1))
    assert results[0].pvalue == results[1].pvalue
    difference = results[0].null_distribution - results[1].null_distribution
    assert np.abs(difference).max() <= 1e-12 * results[0].total


def test_the_order_of_several_semimetrics_changes_nothing(rng):
    """Equal p-values are common in clear cases; then the clearest semimetric gives the other numbers."""
    x, y = rng.normal(size=(20, 2)), rng.normal(6, 1, (20, 2))
    found = [es.energy_test(x, y, alpha=alphas, n_resamples=99, rng=3) for alphas in ([0.5, 1, 2], [2, 0.5, 1])]
    assert found[0].pvalue == found[1].pvalue == 0.01
    assert found[0].effect_size == found[1].effect_size
    assert found[0].metric == found[1].metric
    assert "the clearest of them" in " ".join(found[0].summary().split())
    scaled = es.energy_test(x, y, alpha=[0.5, 1], standardize=True, n_resamples=19, rng=3)
    assert "Columns were standardized." in " ".join(scaled.summary().split())


def test_extrapolation_is_not_the_smaller_of_two_estimates_nor_beyond_what_it_can_know(rng):
    """The fit is taken wherever it can be made, even where the count is smaller; a light tail does not end it at 0."""
    for shift in (0.5, 2, 30):
        x, y = rng.normal(size=(20, 3)), rng.normal(shift, 1, (20, 3))
        found = es.energy_test(x, y, method=es.Permutation(extrapolate=True), rng=1)
        fitted = tails.generalised_pareto_pvalue(found.statistic, found.null_distribution)
        counted = (1 + np.count_nonzero(found.null_distribution >= found.statistic)) / 1000
        low, high = found.pvalue_interval
        contradicted = fitted is not None and not low <= fitted <= high
        assert found.pvalue == (pytest.approx(fitted) if counted <= 0.01 and not contradicted else counted)
        assert any("contradicts their count" in note for note in found.notes) == (counted <= 0.01 and contradicted)
        assert found.pvalue >= 1e-6


@pytest.mark.parametrize("shift", [0, 1])
def test_tails_with_ties_are_counted(shift):
    """Whatever the fit would give: a curve says nothing of a distribution with few values, or of one it repeats."""
    x, y = np.repeat([0.0, 1.0], [18, 2]), np.repeat([0.0, 1.0], [18 - 10 * shift, 2 + 10 * shift])
    plain, found = (es.energy_test(x, y, method=es.Permutation(199, extrapolate=e), rng=1) for e in (False, True))
    assert (found.pvalue, found.extrapolated) == (plain.pvalue, False)
    few = plain.pvalue < 0.05  # fewer than ten
    assert any("not extrapolated" in note for note in found.notes) == few == (shift == 1)
    assert not any("extrapolated" in note for note in plain.notes)
    null = np.arange(400.0)
    assert tails.extrapolated_pvalue(1000.0, null, 0, 1e-9) == tails.generalised_pareto_pvalue(1000.0, null)
    assert tails.extrapolated_pvalue(1000.0, np.minimum(null, 398), 0, 1e-9) is None  # two of the largest are equal
    assert tails.extrapolated_pvalue(1000.0, np.maximum(null, 99), 0, 1e-9) is not None  # ties below the tail
    assert tails.extrapolated_pvalue(399.0, null, 1, 1e-9) is None  # one equals the observed value
    assert tails.extrapolated_pvalue(398.5, null, 1, 1e-9) is None  # the fit contradicts the count: the tail is short
    long = -np.log1p(-(null + 0.5) / 400)
    assert tails.extrapolated_pvalue(float(long[-2:].mean()), long, 1, 1e-9) is not None
    assert tails.extrapolated_pvalue(389.5, null, 10, 1e-9) is None


def test_no_fit_below_the_interval_of_the_count_is_taken():
    """Two rows far out in a small group make few null values large, in steps: p was .0004 where .006 is right."""
    x = np.random.default_rng(3).normal(size=66)
    x[:2] = 1e4, 1.5e4
    found = es.energy_test(x[:6], x[6:], method=es.Permutation(extrapolate=True), rng=3)
    assert tails.generalised_pareto_pvalue(found.statistic, found.null_distribution) < found.pvalue_interval[0]
    assert (found.pvalue, found.extrapolated) == (0.004, False)
    assert any("contradicts their count" in note for note in found.notes)


@pytest.mark.parametrize("alpha", [np.array(1.0), np.array("1"), None])
def test_alpha_is_a_number_or_a_sequence_of_numbers(alpha):
    with pytest.raises(TypeError, match="`alpha` must be a number, got"):
        es.energy_test([1, 2, 3], [2, 3, 4], alpha=alpha)


@pytest.mark.parametrize("method", ["cross", "asymptotic"])
@pytest.mark.filterwarnings("ignore::energystats.NotCalibratedWarning")
def test_an_approximate_p_below_that_of_any_labeling_is_told(method):
    """No permutation of 6 and 6 rows gives a p below 2/924; a fitted curve may, on its shape alone."""
    near, far = np.arange(6.0), 1000 + np.arange(6.0)
    found = [es.energy_test(x, y, method=method, rng=0) for x, y in ((near, far), (near, near + 0.5))]
    assert found[0].pvalue < 2 / 924 <= found[1].pvalue
    assert [any("p is below 0.0022, the smallest" in note for note in each.notes) for each in found] == [True, False]


@pytest.mark.parametrize(("rows", "told"), [((20, 4), True), ((4, 20), True), ((8, 4), False)])
def test_whole_plots_of_unlike_sizes_are_named(rng, rows, told):
    """Permuted as if sizes had nothing to do with groups: .07 of equal distributions were rejected at .05."""
    plots = np.repeat(np.arange(12), np.repeat(rows, 6))
    groups = np.where(plots < 6, "a", "b")
    x, design = rng.normal(size=plots.size), es.Design(whole_plots=plots)
    for found in (
        es.energy_test(x, groups=groups, design=design, n_resamples=19, rng=0),
        es.spread_test(x, groups, design=design, n_resamples=19, rng=0),
        es.pairwise_tests(x, groups, design=design, n_resamples=19, rng=0),
    ):
        notes = [note for note in found.notes if "their sizes have nothing to do with the groups" in note]
        assert len(notes) == told
        if told:
            large, small = ("a", "b") if rows[0] > rows[1] else ("b", "a")
            assert f"whole plots of '{large}' have 20 rows in the mean, those of '{small}' 4" in notes[0]


def test_intervals_of_skew_samples_under_squared_distances_say_so():
    even = norm.ppf((np.arange(30) + 0.5) / 30)
    said = "A sample is skew or has heavy tails, and its mean is uncertain"
    for alpha, other, told in ((2, np.exp(2 * even), True), (1, np.exp(2 * even), False), (2, even + 3, False)):
        found = es.energy_interval(even, other, alpha=alpha, n_bootstrap=39, rng=0)
        assert any(note.startswith(said) for note in found.notes) == told
