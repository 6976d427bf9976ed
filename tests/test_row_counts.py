"""Counts behind rows that were divided by factors of their own: found, jittered, and no clusters."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats._core.row_counts import find_row_counts
from tests.conftest import sweep

pytestmark = [
    pytest.mark.filterwarnings("ignore:Steps between tied values are wide"),
    pytest.mark.filterwarnings("ignore:.* values of .* are its smallest:energystats.exceptions.TiesWarning"),
]
MEANS = np.array([1, 2, 3, 5, 8, 13, 20, 30])
MADE = {
    "shares": lambda x, t: x / t,
    "roots of shares": lambda x, t: np.sqrt(x / t),
    "counts per 10,000": lambda x, t: np.log1p(1e4 * x / t),
    "binary logarithms": lambda x, t: np.log2(1 + 1e6 * x / t),
    "decimal logarithms": lambda x, t: np.log10(1 + 100 * x / t),
    "centred logarithms": lambda x, t: np.log(x + 0.5) - np.log(x + 0.5).mean(axis=1, keepdims=True),
    "centred logarithms of one more": lambda x, t: np.log(x + 1) - np.log(x + 1).mean(axis=1, keepdims=True),
    "rounded logarithms": lambda x, t: np.round(np.log1p(1e4 * x / t), 6),
}


def counts_of(rng, n=60):
    x = rng.poisson(MEANS, (n, 8)).astype(float)
    x[:, :2] = 1, 2  # so that no row is empty, nor a multiple of smaller counts, or of counts with one more
    return x


@pytest.mark.parametrize("name", MADE)
def test_equal_counts_are_tied_and_others_apart_by_one_factor(rng, name):
    x = counts_of(rng)
    found = find_row_counts(MADE[name](x, x.sum(axis=1, keepdims=True)))
    for column, given in zip(found.values.T, x.T, strict=True):
        order = np.argsort(given, kind="stable")
        steps = np.diff(column[order])
        assert_allclose(steps[np.diff(given[order]) == 0], 0, atol=1e-9)
        assert (steps[np.diff(given[order]) > 0] > 1e-9).all()
    # one count more and less, on the same scale
    some = np.unique(found.values[:, 5])
    left, right = found.reach(some)
    assert (left > 0).all()
    assert (right > 0).all()
    beside = np.isclose(some[:-1] + right[:-1], some[1:])
    assert_allclose((some[1:] - left[1:])[beside], some[:-1][beside])


@pytest.mark.parametrize(("smallest", "added"), [(12, 0.0), (6, 0.5), (40, 0.0), (19, 0.5)])
def test_the_smallest_count_of_a_row_may_be_large(smallest, added, rng):
    """Of counts from 6 on with a half added, all of ten samples of 1,000 rows were rejected: none was found."""
    x = smallest + rng.poisson(5, (60, 5))
    x[:, :2] = smallest, smallest + 1  # without a common divisor
    X = np.log(x + added) - np.log(x + added).mean(axis=1, keepdims=True)
    found = find_row_counts(X)
    assert found.step == (2 if added else 1)
    assert_array_equal(found.counts_of(found.values), found.step * (x + added))


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: counts_of(rng),
        lambda rng: np.log1p(counts_of(rng)),
        lambda rng: rng.normal(size=(60, 8)),
        lambda rng: np.exp(rng.normal(size=(60, 8))),
        lambda rng: rng.random((60, 2)),
        lambda rng: np.round(rng.normal(size=(60, 3)), 1),
        lambda rng: rng.poisson(300, (60, 4)) / rng.random((60, 1)),
        lambda rng: counts_of(rng)[:, :1] / 7,
        lambda rng: np.zeros((60, 2)),
    ],
    ids=["counts", "log counts", "normal", "lognormal", "uniform", "rounded", "large counts", "one column", "zeros"],
)
def test_other_tables_are_left_alone(rng, make):
    assert find_row_counts(make(rng)) is None


@pytest.mark.filterwarnings("ignore:Some values of .* are heaps")  # in one of some thousand tables, by chance
@pytest.mark.slow
@pytest.mark.parametrize("name", ["shares", "counts per 10,000", "centred logarithms"])
def test_one_population_of_counts_is_one_cluster(rng, name):
    """Nearly all such samples were rejected: with level .05 more than 4 of 20 are by a chance of .003."""
    rejected = 0
    for seed in range(20):
        x = counts_of(rng)
        X = MADE[name](x, x.sum(axis=1, keepdims=True))
        found = es.cluster_test(X, 2, n_resamples=99, n_splits=3, rng=seed)
        rejected += found.pvalue <= 0.05
        assert any("counts times a factor each" in note for note in found.notes)
    assert rejected <= 4


def test_two_communities_are_seen(rng):
    x = rng.poisson(np.where(np.arange(60)[:, None] < 30, MEANS, MEANS[::-1])).astype(float)
    X = MADE["centred logarithms"](x, None)
    assert es.cluster_test(X, 2, n_resamples=99, rng=0).pvalue <= 0.05
    found = es.validate_clusters(X, 2, n_resamples=99, rng=0)
    assert es.clustering_accuracy(np.repeat([0, 1], 30), found.partition.labels) == 1
    assert "separate" in found.summary().splitlines()[0]


def test_units_and_z_scores_change_nothing(rng):
    x = counts_of(rng)
    shares = x / x.sum(axis=1, keepdims=True)
    how = {"n_resamples": 39, "n_splits": 2, "rng": 0}
    first = es.cluster_test(shares, 2, **how)
    assert_array_equal(es.cluster_test(shares * 2.0**300, 2, **how).pvalues, first.pvalues)
    z = es.cluster_test(shares, 2, standardize=True, **how)
    assert any("counts times a factor each" in note for note in z.notes)
    for method in ("refit", "crossfit"):
        found = es.cluster_test(shares, 2, method=method, n_resamples=19, n_splits=2, rng=0)
        assert any("counts times a factor each" in note for note in found.notes)


@pytest.mark.parametrize("name", ["shares", "roots of shares", "centred logarithms"])
@pytest.mark.parametrize("standardize", [False, True])
def test_two_equal_rows_of_counts_are_no_copies(rng, name, standardize):
    x = counts_of(rng)
    x[1] = x[0]  # as happens by chance, rarely
    X = MADE[name](x, x.sum(axis=1, keepdims=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_test(X, 2, n_resamples=49, n_splits=2, standardize=standardize, rng=0)
    assert any("counts times a factor each" in note for note in found.notes)
    assert not any("duplicated" in note for note in found.notes)


@pytest.mark.parametrize("name", ["counts", "shares", "centred logarithms"])
def test_a_table_of_counts_merged_twice_is_told(rng, name):
    x = np.tile(counts_of(rng), (2, 1))
    X = x if name == "counts" else MADE[name](x, x.sum(axis=1, keepdims=True))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        es.cluster_test(X, 2, n_resamples=49, n_splits=2, rng=0)
    assert any("60 of 120 rows are duplicated" in str(each.message) for each in found) == (name != "counts")


@pytest.mark.parametrize("unit", sweep([1.0, 1 / 3, np.array([1.0, 2.0, 8.0, 0.25]), 0.5, 0.1, 5.0], 3))
@pytest.mark.parametrize("shift", sweep([0, 3, 20, 100, 1000, 10**6], [0, 20, 10**6]))
def test_rounded_tables_are_no_counts_with_factors(rng, unit, shift):
    """Whole numbers are logarithms of powers of 2 and of 10, and squares of positive and of negative numbers."""
    for spread in (0.5, 2.0, 8.0):
        tables = [rng.normal(size=(80, 4)), rng.standard_t(5, size=(80, 4)), rng.exponential(size=(80, 4))]
        for X in tables:
            whole = np.round(X * spread)
            assert find_row_counts((whole + shift) * unit) is None
            mixed = np.column_stack([X[:, 0], whole[:, 1:]])
            assert find_row_counts((mixed + shift) * unit) is None


@pytest.mark.parametrize("means", [[1e4] * 3, [1e3, 2e3, 3e3], [1.0, 1e3, 1e6]])
@pytest.mark.parametrize("digits", [None, 1, 3, 5])
def test_numbers_far_from_zero_are_no_counts_with_factors(rng, means, digits):
    X = rng.normal(means, 0.5, size=(80, 3))
    assert find_row_counts(X if digits is None else np.round(X, digits)) is None


@pytest.mark.parametrize("form", ["%.6g", "%.5f", "single"])
@pytest.mark.parametrize("name", ["counts per 10,000", "binary logarithms", "centred logarithms"])
def test_counts_are_found_in_tables_of_few_digits(rng, name, form):
    x = rng.poisson([1, 2, 3, 5], (60, 4)).astype(float)
    x[:, :2] = 1, 2
    X = MADE[name](x, x.sum(axis=1, keepdims=True))
    if form == "single":
        X = X.astype(np.float32).astype(float)
    else:
        X = np.array([[float(form % value) for value in row] for row in X])
    assert find_row_counts(X) is not None


def test_a_constant_changes_no_p_of_whole_numbers(rng):
    """Two groups, 5 standard deviations apart, of the kind that whole numbers hid 100 units from 0."""
    X = np.round(rng.normal(size=(120, 3)) * 2 + np.outer(np.repeat([0, 1], 60), [10, 0, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = [es.cluster_test(X + shift, 2, n_resamples=99, rng=0) for shift in (0, 20, 100, 1000)]
    assert [each.pvalue for each in found] == [found[0].pvalue] * 4
    assert found[0].pvalue <= 0.05
    assert not any("counts times a factor" in note for each in found for note in each.notes)


@pytest.mark.slow
def test_one_cloud_of_whole_numbers_is_one_cluster(rng):
    """Nearly half of such samples were rejected: with level .05 more than 4 of 20 are by a chance of .003."""
    rejected = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        for seed in range(20):
            X = np.round(2 * rng.standard_t(5, size=(200, 3))) / 2
            rejected += es.cluster_test(X, 2, n_resamples=99, n_splits=3, rng=seed).pvalue <= 0.05
    assert rejected <= 4
