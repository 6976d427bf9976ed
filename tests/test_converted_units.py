"""Numbers that were rounded, converted to another unit and rounded again."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import energystats as es
from energystats._core.converted_units import _Models, find_converted_units
from energystats._core.jitter import jitter_ties
from energystats.cluster_tests.data_notes import _note_parts_of_wholes, note_uneven_frequencies
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import TiesWarning
from tests.conftest import sweep


def halves_up(x, step=1.0):
    return step * np.floor(x / step + 0.5)


CONVERSIONS = {
    "F to C": (5 / 9, lambda g, n: np.round((halves_up(g.normal(70, 10, n)) - 32) / 1.8)),
    "C to F": (1.8, lambda g, n: np.round(halves_up(g.normal(21, 5, n)) * 1.8 + 32)),
    "pounds to kg": (0.45359237, lambda g, n: np.round(halves_up(g.normal(150, 25, n)) * 0.45359237)),
    "inches to cm": (2.54, lambda g, n: np.round(halves_up(g.normal(68, 4, n)) * 2.54)),
    "mg/dl to mmol/l": (1 / 18.02, lambda g, n: np.round(halves_up(g.normal(95, 10, n)) / 18.02, 1)),
    "months to years": (1 / 12, lambda g, n: np.round(halves_up(g.normal(68, 10, n)) / 12, 1)),
    "few degrees": (5 / 9, lambda g, n: np.round((halves_up(g.normal(60, 5, n)) - 32) / 1.8)),
    "quarters to tenths": (0.25, lambda g, n: np.round(halves_up(g.normal(68, 3, n), 0.25), 1)),
}
FUNCTIONS = {
    "logarithms of whole numbers": lambda g, n: np.round(np.log(halves_up(g.normal(45, 10, n).clip(18))), 2),
    "logarithms of whole numbers to base 2": lambda g, n: np.round(np.log2(1 + g.poisson(25, n)), 1),
    "logarithms of whole numbers to base 10": lambda g, n: np.round(np.log10(1 + g.poisson(60, n)), 2),
    "roots of whole numbers": lambda g, n: np.round(np.sqrt(g.poisson(50, n)), 1),
    "600 divided by whole numbers": lambda g, n: np.round(600 / halves_up(g.normal(30, 4, n).clip(12))),
}
ROUNDED_ONCE = {
    "normal": lambda g, n: halves_up(g.normal(0, 8, n)),
    "Poisson": lambda g, n: g.poisson(10, n).astype(float),
    "geometric": lambda g, n: g.geometric(0.05, n).astype(float),
    "two clusters": lambda g, n: halves_up(g.normal(0, 3, n) + 12 * g.integers(0, 2, n)),
    "five clusters": lambda g, n: halves_up(g.normal(0, 1.5, n) + 10 * g.integers(0, 5, n)),
    "fives": lambda g, n: np.where(g.random(n) < 0.4, halves_up(x := g.normal(50, 12, n), 5), halves_up(x)),
    "falling counts": lambda g, n: g.negative_binomial(1, 0.3, n).astype(float),
    "nine values": lambda g, n: g.choice(9, n, p=np.array([9, 1, 9, 2, 9, 1, 9, 2, 9]) / 51).astype(float),
}


@given(
    ratio=st.floats(0.2, 6),
    phase=st.floats(0, 1),
    m=st.integers(1, 40),
)
def test_numbers_of_a_place_are_those_that_are_rounded_to_it(ratio, phase, m):
    models = _Models(np.array([ratio]), np.array([phase]), np.array([-1]))
    first = models.first_numbers(m)[0]
    for j in range(m):
        k = np.arange(first[j] - 2, first[j + 1] + 3)
        numbers = (k + phase) / ratio
        inside = (k >= first[j]) & (k < first[j + 1])
        assert np.all(np.abs(numbers[inside] - j) <= 0.5 + 1e-9)
        assert np.all(np.abs(numbers[~inside] - j) >= 0.5 - 1e-9)


@pytest.mark.parametrize("parts", [4, 8, 12, 16, 24])
@pytest.mark.parametrize("begin", [0, 7])
def test_numbers_halfway_go_to_the_even_place(parts, begin):
    k = np.arange(-40 * parts, 40 * parts)
    rounded = np.rint(k * 10 / parts)  # parts of a unit in tenths, halves to the even one
    m = 60
    expected = np.array([np.count_nonzero(rounded == begin + j) for j in range(m)])
    phase = (-begin * parts / 10) % 1
    models = _Models(np.array([parts / 10]), np.array([phase]), np.array([begin % 2]))
    np.testing.assert_array_equal(np.diff(models.first_numbers(m)[0]), expected)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_the_first_grid_is_found(name, rng):
    step, draw = CONVERSIONS[name]
    found = [find_converted_units(*np.unique(draw(rng, 3000), return_counts=True)) for _ in range(5)]
    near = [one is not None and abs(one.first / step - 1) < 0.03 for one in found]
    assert sum(near) >= 3, [one and one.first for one in found]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_is_found(name, rng):
    found = [find_converted_units(*np.unique(FUNCTIONS[name](rng, 1500), return_counts=True)) for _ in range(5)]
    assert sum(one is not None and one.first == name for one in found) >= 3, [one and one.first for one in found]


def test_values_that_no_number_gives_stay(rng):
    """Few of them may be slips of the pen."""
    x = FUNCTIONS["logarithms of whole numbers to base 10"](rng, 4000)
    whole = np.unique(np.round(np.log10(np.arange(1, 400)), 2))
    gap = next(v for v in np.arange(1.0, 1.5, 0.01).round(2) if v not in whole)
    assert gap not in x
    values, which = np.unique(np.append(x, gap), return_inverse=True)
    found = find_converted_units(values, np.bincount(which))
    at = int(np.searchsorted(values, gap))
    np.testing.assert_allclose(found.numbers[found.starts[at] : found.starts[at + 1]], [gap])


@pytest.mark.parametrize("n", sweep([100, 1000, 5000], 2))
@pytest.mark.parametrize("name", ROUNDED_ONCE)
def test_no_first_grid_is_found_where_there_is_none(name, n, rng):
    found = [find_converted_units(*np.unique(ROUNDED_ONCE[name](rng, n), return_counts=True)) for _ in range(10)]
    assert sum(one is not None for one in found) <= 2


@pytest.mark.parametrize("standardize", sweep([False, True], 1))
@pytest.mark.parametrize("name", sweep(FUNCTIONS, 1))
def test_functions_of_one_population_have_one_mode(name, standardize, rng):
    draws = [FUNCTIONS[name](rng, 1500)[:, None] for _ in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)
        tests = [es.cluster_test(x, standardize=standardize, n_resamples=99, rng=0) for x in draws]
    assert sum(test.pvalue <= 0.05 for test in tests) <= 2
    assert sum(f"before: {name} in x" in " ".join(test.notes) for test in tests) >= 3


@pytest.mark.parametrize("shift", [-1000.0, -1.0, 0.0, 1000.0, 1e6, 2.0**52])
@pytest.mark.parametrize("step", [0.01, 1.0])
def test_numbers_anywhere_are_searched(shift, step, rng):
    """Functions of numbers far from 0 overflow, of negative ones there are none."""
    x = halves_up(rng.normal(shift, 8 * step, 500), step)
    found = find_converted_units(*np.unique(x, return_counts=True))
    assert found is None or np.isfinite(found.numbers).all()


def test_clusters_of_real_flowers_are_no_second_rounding():
    for column in load_iris().data.T:
        assert find_converted_units(*np.unique(column, return_counts=True)) is None


def test_numbers_of_the_first_grid_give_the_values_back(rng):
    x = CONVERSIONS["F to C"][1](rng, 5000)
    values, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    found = find_converted_units(values, counts)
    drawn = found.draw(which, rng)
    np.testing.assert_array_equal(np.floor(drawn + 0.5), x)
    assert np.all(np.diff(found.numbers) > 0)
    steps = np.diff(found.numbers) / found.first
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    assert np.median(steps) == pytest.approx(1)
    ends = found.shares[found.starts[1:] - 1]
    np.testing.assert_allclose(ends, 1)
    # points of a value with two numbers are shared about evenly where the density is flat
    middle = np.flatnonzero((np.diff(found.starts) == 2) & (counts > 300))
    assert np.all(np.abs(found.shares[found.starts[middle]] - 0.5) < 0.1)


def test_frequencies_are_smooth_on_the_first_grid(rng):
    x = CONVERSIONS["F to C"][1](rng, 20_000)
    spread = jitter_ties(x, rng)
    assert spread.converted == pytest.approx(5 / 9, rel=0.01)
    central = np.abs(spread.values - np.median(x)) < 4
    frequencies = np.histogram(spread.values[central], bins=40)[0]
    smooth = np.convolve(frequencies, np.ones(5) / 5, mode="valid")
    assert np.abs(frequencies[2:-2] / smooth - 1).max() < 0.25
    assert np.abs(np.unique(x[central], return_counts=True)[1] / (central.sum() / 8) - 1).max() > 0.3


def test_a_pile_at_the_limit_stays_one(rng):
    x = np.minimum(CONVERSIONS["F to C"][1](rng, 4000), 23)
    spread = jitter_ties(x, rng)
    assert spread.converted is not None
    assert [(pile.value, pile.count) for pile in spread.limits] == [(23.0, np.count_nonzero(x == 23))]


@pytest.mark.parametrize("name", sweep(["F to C", "pounds to kg", "mg/dl to mmol/l"], 1))
def test_one_population_in_another_unit_has_one_mode(name, rng):
    draws = [CONVERSIONS[name][1](rng, 3000)[:, None] for _ in range(6)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TiesWarning)
        tests = [es.cluster_test(x, n_resamples=99, rng=0) for x in draws]
    assert sum(test.pvalue <= 0.05 for test in tests) <= 2
    noted = sum("rounded twice" in " ".join(test.notes) for test in tests)
    assert sum("rounded twice" in str(one.message) for one in caught) == noted >= 4


@pytest.mark.filterwarnings("ignore::energystats.exceptions.TiesWarning")
def test_two_populations_in_another_unit_have_two_modes(rng):
    x = halves_up(rng.normal(50, 8, 1000) + 40 * rng.integers(0, 2, 1000))
    assert es.cluster_test(np.round((x - 32) / 1.8)[:, None], rng=0).pvalue <= 0.05


# ---------------------------------------------------------------- parts of a whole, written as decimals


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_hours_and_minutes_written_as_decimals_are_named(rng):
    """All of such samples were rejected without a word: no hour has more than 59 minutes."""
    minutes, months = np.rint(rng.normal(480, 50, 500)), np.rint(rng.normal(110, 10, 500))
    hours = np.floor(minutes / 60) + minutes % 60 / 100
    ages = np.floor(months / 12) + months % 12 / 100
    table = pd.DataFrame({"sleep": hours, "age": ages, "height": rng.normal(170, 9, 500)})
    (of_age, of_sleep) = sorted(str(n) for n in es.cluster_test(table, 2, rng=0).notes if "decimals" in n)
    assert of_age.startswith("The decimals of age are below .12, as of years and months")
    assert of_sleep.startswith("The decimals of sleep are below .60, as of hours and minutes")
    (alone,) = (n for n in es.cluster_test(hours, 2, rng=0).notes if "decimals" in n)
    assert alone.startswith("The decimals of x are below .60")


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(8, 1, 500).round(2),
        lambda rng: rng.normal(8, 1, 500),
        lambda rng: np.rint(rng.normal(480, 50, 500)),
        lambda rng: rng.uniform(3, 3.59, 500).round(2),  # within one whole
        lambda rng: np.rint(2 * rng.normal(50, 20, 500)) / 2,
        lambda rng: rng.integers(3, 9, 29) + rng.integers(0, 60, 29) / 100,  # too few
    ],
    ids=["hundredths", "all digits", "whole", "one whole", "halves", "few"],
)
def test_other_decimals_are_not(make, rng):
    d = Dissimilarity.from_data(make(rng), metric="euclidean", alpha=1.0, standardize=False)
    assert _note_parts_of_wholes(d) == ()


# ---------------------------------------------------------------- uneven frequencies


@pytest.mark.parametrize(
    "make",
    [
        lambda g, n: np.round(100 * g.binomial(N := g.integers(40, 60, n), 0.08) / N, 1),
        lambda g, n: np.log((1 + g.poisson(6, n)) * (1.0 + g.poisson(6, n))),
        lambda g, n: np.round(10.929 * (np.round(g.normal(6.6, 0.7, n), 1) - 2.15)),
    ],
    ids=["rates to .1", "products", "glycated haemoglobin"],
)
def test_frequencies_that_vary_by_more_than_chance_are_noted(make, rng):
    noted = sum(bool(note_uneven_frequencies(make(rng, 2000))) for _ in range(20))
    assert noted >= 19


@pytest.mark.parametrize(
    "make",
    [
        lambda g, n: np.round(g.normal(0, 5, n)),
        lambda g, n: g.poisson(10, n).astype(float),
        lambda g, n: np.round(np.where(g.random(n) < 0.5, g.normal(0, 3, n), g.normal(15, 3, n))),
        lambda g, n: np.floor(g.exponential(15, n)),
        lambda g, n: np.log1p(g.poisson(30, n)),
        lambda g, n: g.normal(size=n),
        lambda g, n: g.integers(0, 5, n).astype(float),
    ],
    ids=["normal", "counts", "two clusters", "exponential", "logarithms", "all digits", "few"],
)
def test_frequencies_of_smooth_densities_are_not(make, rng):
    noted = sum(bool(note_uneven_frequencies(make(rng, n))) for n in (200, 1000, 3000) for _ in range(20))
    assert noted <= 8  # of 60; 1 to 4 in 100


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_the_test_of_one_column_says_so(rng):
    x = np.log((1 + rng.poisson(6, 1500)) * (1.0 + rng.poisson(6, 1500)))
    test = es.cluster_test(x, rng=0)
    assert test.pvalue <= 0.05
    # in the summary, if there is room beside other cautions
    told = [note for note in test.notes if note.startswith("The frequencies of neighbouring values differ by more")]
    assert [type(note) for note in told] == [Caution]
