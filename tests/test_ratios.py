"""Columns of ratios of small whole numbers: which are found, how far they are jittered, and the level of their test."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom

import energystats as es
from energystats._core.ratios import find_ratios


def shares(rng, n, p=0.3, mean=4):
    """Shares of successes in numbers of trials that differ from row to row, of one probability."""
    trials = 1 + rng.poisson(mean, n)
    return rng.binomial(trials, p) / trials


def means(rng, n, low, high):
    """Means of as many answers on seven levels as the row has, low to high."""
    return np.array([rng.integers(1, 8, k).mean() for k in rng.integers(low, high + 1, n)])


RECORDED = {
    "shares": lambda u: u,
    "per cent": lambda u: 100 * u,
    "two decimals": lambda u: np.round(u, 2),
    "per cent, one decimal": lambda u: np.round(100 * u, 1),
    "whole per cent": lambda u: np.round(100 * u),
    "roots": np.sqrt,
    "arcsine": lambda u: np.arcsin(np.sqrt(u)),
    "logarithms of share + .1": lambda u: np.log(u + 0.1),
    "base 2": lambda u: np.log2(u + 0.1),
    "base 10": lambda u: np.log10(u + 0.1),
    "centred": lambda u: u - u.mean(),
}
ONE_GRID = {
    "continuous": lambda rng: rng.normal(size=200),
    "two decimals": lambda rng: np.round(rng.normal(size=200), 2),
    "one decimal": lambda rng: np.round(rng.lognormal(size=200), 1),
    "counts": lambda rng: rng.poisson(3, 200),
    "ages": lambda rng: np.round(rng.normal(45, 12, 200).clip(18, 90)),
    "ages, some of tens": lambda rng: np.where(
        rng.random(200) < 0.3, rng.integers(2, 9, 200) * 10, rng.integers(18, 90, 200)
    ),
    "scores of tens and fives": lambda rng: rng.choice([10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 99], 200),
    "scores in fives": lambda rng: 5 * rng.binomial(20, 0.6, 200),
    "per cent": lambda rng: np.round(100 * rng.beta(2, 3, 200)),
    "shares of ten": lambda rng: rng.binomial(10, 0.3, 200) / 10,
    "minutes": lambda rng: rng.integers(0, 60, 200) / 60,
    "months, two decimals": lambda rng: np.round(rng.integers(96, 200, 200) / 12, 2),
    "logarithms of counts": lambda rng: np.log(rng.poisson(3, 200) + 0.5),
    "reciprocals of counts": lambda rng: 1 / (1 + rng.poisson(1, 200)),
    "shares of eleven from a half": lambda rng: (rng.binomial(10, 0.5, 200) + 0.5) / 11,
    "odds of shares of 24": lambda rng: (x := rng.binomial(24, 0.5, 200) + 0.5) / (25 - x),
    "odds of shares of 12": lambda rng: (x := rng.binomial(12, 0.6, 200) + 1) / (14 - x),
    "roots of odds": lambda rng: np.sqrt((x := rng.binomial(10, 0.6, 200) + 0.5) / (11 - x)),
    "logits with a half added": lambda rng: np.log((x := rng.binomial(10, 0.85, 200) + 0.5) / (11 - x)),
    "the same, three decimals": lambda rng: np.round(np.log((x := rng.binomial(10, 0.7, 200) + 0.5) / (11 - x)), 3),
    "counts that saturate": lambda rng: (x := rng.poisson(5, 200)) / (x + 4),
    "reciprocals from a half": lambda rng: 1 / (rng.poisson(3, 200) + 0.5),
}


@pytest.mark.parametrize("name", RECORDED)
def test_ratios_are_found(name, rng):
    x = RECORDED[name](shares(rng, 300))
    assert find_ratios(x) is not None
    assert find_ratios(rng.permutation(x)) == find_ratios(x)


@pytest.mark.parametrize("name", ONE_GRID)
def test_values_on_one_grid_are_none(name, rng):
    assert find_ratios(np.asarray(ONE_GRID[name](rng), dtype=float)) is None


def test_width_against_fractions(rng):
    """1.5 over the median of the denominators above 1, reduced."""
    x = shares(rng, 300)
    denominators = [Fraction(value).limit_denominator(40).denominator for value in x]
    width = 1.5 / np.median([q for q in denominators if q > 1])
    found = find_ratios(x)
    assert found.width == pytest.approx(width)
    assert find_ratios(100 * x).width == pytest.approx(100 * width)
    values = np.unique(x)
    for side in found.reach(values):
        assert_allclose(side, width)
    # on another scale, between the ends of what it can hold
    left, right = find_ratios(np.arcsin(np.sqrt(x))).reach(np.arcsin(np.sqrt(values)))
    u = values[(values > width) & (values < 1 - width)]
    inner = np.isin(values, u)
    assert_allclose(left[inner], np.arcsin(np.sqrt(u)) - np.arcsin(np.sqrt(u - width)))
    assert_allclose(right[inner], np.arcsin(np.sqrt(u + width)) - np.arcsin(np.sqrt(u)))
    assert (left > 0).all()
    assert (right > 0).all()
    assert left[0] == right[0]  # 0 goes as far to the left as to the right


@pytest.mark.parametrize("factor", [1.0, 1e6 / 21, 2.0**16, 1000.0, 100 * 12 / 25, 1e-3])
@pytest.mark.parametrize("do", [np.log, np.log2, np.log10, np.sqrt, np.positive])
def test_multiples_of_counts_are_no_ratios(do, factor, rng):
    """Of log2((c + .5)/21 * 1e6), c of 20 trials, 24 of 30 samples were rejected: they moved as hundredths do."""
    counts = rng.binomial(20, 0.15, 300) + 0.5
    counts[:7] = np.arange(7) + 0.5
    assert find_ratios(do(factor * counts)) is None


@pytest.mark.parametrize("factor", [1.0, 1e5, 2.0**10, 1 / 0.217])
def test_ratios_of_0_and_1_are_found_in_any_unit(factor, rng):
    """Per 100,000, 30 of 30 samples of shares of 1 to 10 were rejected, and 19 as z-scores."""
    missed = 0
    for _ in range(10):
        trials = 1 + rng.poisson(4, 200)
        x = rng.binomial(trials, 0.4) / trials
        x[:2] = 0, 1
        width = factor * find_ratios(x).width
        for moved in (factor * x, factor * x - 0.7 * factor):
            found = find_ratios(moved)
            missed += found is None or not 0.3 < found.width / width < 1.7
    assert missed <= 3  # of 20; about one in 300, whose multiples are on one grid by chance


@pytest.mark.parametrize(("low", "high", "share"), [(40, 60, 0.08), (90, 110, 0.05)])
def test_rates_with_nearly_constant_denominators_are_ratios(low, high, share, rng):
    """Steps of 1/N drift apart: 24 and 37 of 40 samples of 400 were rejected, 15 without a caution."""
    trials = rng.integers(low, high, 400)
    x = 100 * rng.binomial(trials, share) / trials
    assert find_ratios(x).width == pytest.approx(150 / np.mean([low, high]), rel=0.4)
    assert find_ratios(rng.integers(10, 400, 300) / 64) is None
    assert find_ratios(rng.integers(10, 400, 300) / 90) is None
    assert find_ratios(rng.normal(size=300)) is None


def test_whole_numbers_beside_some_decimals_are_no_ratios(rng):
    """Over a range of 36 they are ratios with the denominators 36, 18, 12, ..., which divide one number."""
    x = np.round(rng.normal(60, 3, 2000))
    x[:3], x[3:12] = [46, 82, 46], x[3:12] + np.arange(1, 10) / 10
    assert find_ratios(x) is None


@given(st.integers(0, 10**6))
def test_reach_is_finite_on_every_scale(seed):
    x = shares(np.random.default_rng(seed), 60)
    for do in RECORDED.values():
        found = find_ratios(do(x))
        if found is not None:
            for side in found.reach(np.unique(do(x))):
                assert np.isfinite(side).all()
                assert (side >= 0).all()


def rejected(draw, n_samples=60):
    found = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        for i in range(n_samples):
            rng = np.random.default_rng([i, 907])
            found += es.cluster_test(draw(rng), n_resamples=99, rng=rng).pvalue <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.log((x := rng.binomial(10, 0.85, 1000) + 0.5) / (11 - x)),
        lambda rng: (rng.binomial(10, 0.5, 1000) + 0.5) / 11,
    ],
)
def test_level_of_functions_of_one_count(draw):
    """All of 20 samples were rejected when such values were taken for ratios, and spread too narrowly."""
    assert rejected(draw, 20) <= 4


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: shares(rng, 150),
        pytest.param(lambda rng: 100 * shares(rng, 100, 0.5), marks=pytest.mark.slow),
        pytest.param(lambda rng: means(rng, 150, 3, 5), marks=pytest.mark.slow),
        pytest.param(
            lambda rng: np.log2((rng.poisson(3, 600) + 1) / (rng.poisson(3, 600) + 1)), marks=pytest.mark.slow
        ),
        pytest.param(lambda rng: np.column_stack([shares(rng, 80), shares(rng, 80)]), marks=pytest.mark.slow),
    ],
    ids=["shares", "per cent", "means", "folds", "two columns"],
)
def test_level_of_one_population(draw):
    """At most what .05 allows; nearly all of such samples were rejected with ties spread to their neighbours."""
    assert rejected(draw, 40) <= binom.ppf(0.9999, 40, 0.05)


@pytest.mark.parametrize("form", [lambda odds: odds, np.log], ids=["odds", "logits"])
def test_odds_with_a_half_added_move_as_their_shares_do(form, rng):
    """Of 20 samples of 300 odds with N = 1 to 10 11 were rejected, when they moved as ratios."""

    def draw(rng):
        trials = rng.integers(1, 11, 300)
        successes = rng.binomial(trials, 0.4)
        return form((successes + 0.5) / (trials - successes + 0.5))

    x = draw(rng)
    odds = np.exp(x) if form is np.log else x
    _, right = find_ratios(x).reach(x)
    share = odds / (1 + odds)
    high = np.exp(x + right) if form is np.log else x + right
    inside = share + 0.25 < 1
    steps = high / (1 + high) - share
    assert_allclose(steps[inside], np.median(steps[inside]))
    assert rejected(draw, 10) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("form", [lambda x: x, np.log, np.log2], ids=["ratios", "logarithms", "base 2"])
def test_level_of_ratios_of_two_counts(form):
    """12 and 7 of 30 samples of a/b of whole numbers from 1 to 9 were rejected, when they moved as far everywhere."""
    assert rejected(lambda rng: form(rng.integers(1, 10, 1000) / rng.integers(1, 10, 1000)), 15) <= 4


def test_two_groups_are_found():
    def draw(rng):
        trials = 1 + rng.poisson(15, 100)
        return rng.binomial(trials, np.where(rng.random(100) < 0.5, 0.15, 0.75)) / trials

    assert rejected(draw, 10) >= 8


def test_the_note_names_the_column(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        one = es.cluster_test(shares(rng, 100), n_resamples=19, rng=0)
        two = es.cluster_test(np.column_stack([shares(rng, 100), rng.normal(size=100)]), n_resamples=19, rng=0)
    assert "Values of x are ratios of small whole numbers with different denominators." in " ".join(one.notes)
    assert "Values of column 0 are ratios of small" in " ".join(two.notes)
    assert "ratios of small" not in " ".join(es.cluster_test(rng.normal(size=60), n_resamples=19, rng=0).notes)


def test_reach_at_the_ends_of_a_scale_is_that_to_the_other_side(rng):
    """Of shares whose arcsine root is recorded, which ends at 0 and 1."""
    x = np.arcsin(np.sqrt(np.append(shares(rng, 300, 0.5), [0.0, 1.0])))
    found, values = find_ratios(x), np.unique(x)
    left, right = found.reach(values)
    u = np.sin(values) ** 2
    for i in np.flatnonzero(u + found.width > 1):
        assert right[i] == left[i] or u[i] - found.width < 0
    for i in np.flatnonzero(u - found.width < 0):
        assert left[i] == right[i] or u[i] + found.width > 1
    inside = (u > found.width) & (u < 1 - found.width)
    assert_allclose(right[inside], np.arcsin(np.sqrt(u[inside] + found.width)) - values[inside])
