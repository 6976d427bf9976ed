"""Ties: what is equal on paper is equal in the p-value, whatever rounding says; and no more than that."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import energystats as es
from energystats._core.pvalues import count_reaching, smallest_pvalues
from energystats.cluster_tests.refit import compare_with_references
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests.power import energy_power
from tests import definitions

pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")


# ---------------------------------------------------------------- the tolerance: T max(1e-12, 2e-10/n), as documented


def nearly_tied(n, share):
    """All distances 1 but that of rows 0 and 1; labelings that keep the two together have a slightly smaller S.

    S differs by 2 extra/n between two groups of n/2; `extra` makes that a share of the documented tolerance.
    """
    T = (n - 1) / 2
    R = np.ones((n, n)) - np.eye(n)
    R[0, 1] = R[1, 0] = 1 + share * T * max(1e-12, 2e-10 / n) * n / 2
    return R, np.arange(n) % 2


@pytest.mark.parametrize("n", [6, 30, 400])
@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
def test_labelings_within_the_documented_tolerance_are_tied(n, statistic):
    R, groups = nearly_tied(n, 0.7)
    how = {"groups": groups, "metric": "precomputed", "statistic": statistic, "n_resamples": 99, "rng": 0}
    assert es.energy_test(R, **how).pvalue == 1
    R, groups = nearly_tied(n, 1.4)
    assert es.energy_test(R, **how).pvalue < 0.9  # about half of all labelings keep the two rows together


def test_an_early_stop_counts_ties_as_the_test_does():
    R, groups = nearly_tied(30, 0.7)
    how = {"groups": groups, "metric": "precomputed", "rng": 0}
    found = es.energy_test(R, method=es.Permutation(stop_at=7), **how)
    assert (found.stopped_early, found.n_resamples, found.pvalue) == (True, 7, 1.0)


def test_ties_of_mmd_are_those_of_s(rng):
    """MMD squared is n/(n_1 n_2) S, and its tolerance is twice as many times that of S."""
    K = -0.5 * nearly_tied(30, 1.4)[0]
    groups = nearly_tied(30, 1.4)[1]
    assert es.mmd_test(K, groups=groups, kernel="precomputed", n_resamples=99, rng=rng).pvalue == 1
    K = -0.5 * nearly_tied(30, 2.8)[0]
    assert es.mmd_test(K, groups=groups, kernel="precomputed", n_resamples=99, rng=rng).pvalue < 0.9


def test_values_reach_each_other_within_the_tolerance(rng):
    values = rng.integers(0, 6, 40) + rng.uniform(-0.4e-9, 0.4e-9, 40)
    counts = [sum(other >= value - 1e-9 for other in values) for value in values]
    for found in (smallest_pvalues([values], [1e-9]), smallest_pvalues([np.round(values)], [0.0])):
        assert_array_equal(found, np.array(counts) / 40)


def test_shares_of_references_that_tie_at_rounding_count():
    null = np.array([0.3 - 2e-13, 0.3, 0.2, 0.3 + 2e-13])
    assert compare_with_references("plain", 0.3, null)[0].pvalue == 4 / 5
    assert compare_with_references("plain", 0.3, null - 1e-10)[0].pvalue == 1 / 5


def signed_lattice(rng, n):
    """Rho of tenths of both signs whose sum is 0, and the same in whole numbers."""
    whole = np.triu(rng.integers(-3, 4, size=(n, n)), 1)
    whole[0, 1] -= whole.sum()
    return (whole + whole.T) / 10, [[Fraction(int(v)) for v in row] for row in whole + whole.T]


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_ties_are_judged_by_the_size_of_rho_where_t_vanishes(rng):
    """T is a sum of positive and negative numbers here, and says nothing of the rounding of its summands."""
    groups = [0, 0, 0, 1, 1, 1, 1]
    for _ in range(5):
        R, exact = signed_lattice(rng, 7)
        assert abs(R.sum()) < 1e-12
        found = es.energy_test(R, groups=groups, metric="precomputed", method="exact")
        assert found.pvalue == pytest.approx(float(definitions.exact_pvalue(exact, groups, definitions.between)))


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_ties_of_several_semimetrics_are_judged_by_the_size_of_each(rng):
    groups, rows = [0, 0, 0, 1, 1, 1, 1], np.arange(7.0)
    labelings = [groups, *(list(z) for z in definitions.distinct_labelings(groups) if list(z) != groups)]
    for _ in range(5):
        (R1, exact1), (R2, exact2) = signed_lattice(rng, 7), signed_lattice(rng, 7)
        tables = [
            lambda X, Y, R=R: R[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]  # rho of rows by their numbers
            for R in (R1, R2)
        ]
        found = es.energy_test(rows, groups=groups, metric=tables, method="exact")
        values = [(definitions.between(exact1, z), definitions.between(exact2, z)) for z in labelings]
        ranks = [min(sum(other[c] >= row[c] for other in values) for c in (0, 1)) for row in values]
        assert found.pvalue == pytest.approx(sum(r <= ranks[0] for r in ranks) / len(ranks))


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_the_weighted_size_of_rho_is_not_below_its_definition(rng):
    R, w = signed_lattice(rng, 7)[0], rng.uniform(0.1, 20, 7)
    d = Dissimilarity.from_data(R, metric="precomputed", alpha=1.0)
    assert d.scale_of(None) == pytest.approx(np.abs(R).sum() / 14)
    assert d.scale_of(w) >= (w @ np.abs(R) @ w) / (2 * w.sum()) * (1 - 1e-12)
    Q = np.abs(np.subtract.outer(w, w))
    d = Dissimilarity.from_data(w[:, None], metric="euclidean", alpha=1.0)
    assert d.scale_of(w) == pytest.approx((w @ Q @ w) / (2 * w.sum()))


def test_groups_of_duplicated_rows_have_an_infinite_f(rng):
    """W is what rounding leaves of T - S."""
    for _ in range(5):
        x = np.repeat(rng.uniform(1, 2, size=(3, 2)), 4, axis=0)
        found = es.energy_test(x, groups=np.repeat([0, 1, 2], 4), statistic="f", n_resamples=9, rng=0)
        assert found.statistic == np.inf


# ---------------------------------------------------------------- tenths tie where whole numbers do


def counted(size, generator):
    return generator.integers(0, 4, size)


def counted_tenths(size, generator):
    return counted(size, generator) / 10 + 100


def frame_of(X):
    """Few values and eight rows, so that many permutations give one ratio."""
    return pd.DataFrame({"y1": X[:8, 0], "a": np.arange(8) % 2, "b": np.arange(8) // 2 % 2})


HALVES = np.arange(12) % 2
CALLS = {
    "one column": lambda X: es.energy_test(X[:, 0], groups=HALVES, n_resamples=199, rng=1).pvalue,
    "two columns": lambda X: es.energy_test(X, groups=HALVES, metric="cityblock", n_resamples=199, rng=1).pvalue,
    "f": lambda X: es.energy_test(X[:, 0], groups=HALVES, statistic="f", n_resamples=199, rng=1).pvalue,
    "min p": lambda X: es.energy_test(X[:, 0], groups=HALVES, alpha=[1.0, 2.0], n_resamples=199, rng=1).pvalue,
    "min p with weights": lambda X: (
        es.energy_test(
            X[:, 0], groups=HALVES, alpha=[1.0, 2.0], sample_weight=1 + HALVES * 99.0, n_resamples=199, rng=1
        ).pvalue
    ),
    "weights": lambda X: (
        es.energy_test(X[:, 0], groups=HALVES, sample_weight=1.0 + np.arange(12) % 3, n_resamples=199, rng=1).pvalue
    ),
    "early stop": lambda X: es.energy_test(X[:, 0], groups=HALVES, method=es.Permutation(199, stop_at=9), rng=1).pvalue,
    "bins": lambda X: es.energy_test(X[:, 0], groups=HALVES, method=es.Binned(8), n_resamples=99, rng=1).pvalue,
    "slices": lambda X: es.energy_test(X[:, 0], groups=HALVES, method="sliced", n_resamples=199, rng=1).pvalue,
    "mmd": lambda X: es.mmd_test(X[:6, 0], X[6:, 0], kernel="distance", estimator="u", n_resamples=199, rng=1).pvalue,
    "spread": lambda X: es.pairwise_tests(X[:, 0], HALVES, n_resamples=99, rng=1).table["pvalue_spread"][0],
    "factors, small powers": lambda X: [
        t.pvalue for t in es.disco("y1 ~ a + b", data=frame_of(X), alpha=0.1, n_resamples=99, rng=1).terms
    ],
    "factors": lambda X: [t.pvalue for t in es.disco("y1 ~ a + b", data=frame_of(X), n_resamples=99, rng=1).terms],
}


@pytest.mark.parametrize("name", CALLS)
def test_tenths_tie_where_whole_numbers_do(name, rng):
    for _ in range(6):
        X = rng.integers(0, 4, size=(12, 2)).astype(float)
        X[:2] = [[0, 0], [3, 3]]
        assert CALLS[name](X / 10 + 100) == CALLS[name](X)


def test_samples_of_whole_numbers_tie_with_the_sample_they_are_compared_with(rng):
    for _ in range(4):
        x = rng.integers(0, 4, 8)
        fit = [
            es.goodness_of_fit(data, sampler, n_resamples=99, n_reference=40, rng=1).pvalue
            for data, sampler in ((x, counted), (x / 10 + 100, counted_tenths))
        ]
        assert fit[0] == fit[1]


def test_a_p_value_equal_to_the_level_rejects(rng):
    """The smallest p of 19 permutations is .05; of 2 x 30 points none of them is a labeling that ties with the own."""
    how = {"level": 0.05, "n_resamples": 19, "n_replicates": 5, "rng": rng}
    assert energy_power(lambda n, g: g.random(n), lambda n, g: 50 + g.random(n), 30, **how).rows[0].power == 1


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_row_so_far_away_that_all_others_tie_is_noted(metric, rng):
    x = np.concatenate([rng.standard_normal(20), rng.standard_normal(20) + 2])
    groups = np.repeat(["a", "b"], 20)

    def notes(far):
        x[3] = far
        return " ".join(es.energy_test(es.pairwise(x) if metric == "precomputed" else x, groups=groups, metric=metric,
                                       n_resamples=19, rng=rng).notes)  # fmt: skip

    assert "A row lies" in notes(1e15)
    assert "A row lies" not in notes(1e3)


@pytest.mark.parametrize("how", [{"alpha": 0.1}, {"metric": "canberra"}, {"metric": "gaussian"}], ids=str)
def test_a_far_row_is_no_matter_where_its_dissimilarities_are_not_large(how, rng):
    x = rng.random((40, 2))
    x[3, 1] = 1e15
    notes = " ".join(es.energy_test(x, groups=np.repeat(["a", "b"], 20), n_resamples=19, rng=rng, **how).notes)
    assert "A row lies" not in notes


def test_ties_of_ratios_are_judged_on_the_scale_of_their_parts():
    """S w - s W is -.0015 where the four parts add up to 2: within the tolerance of .001 times 2, not of .001."""
    null = (np.array([0.3 - 0.0015, 0.3 - 0.0025, 0.3]), np.array([0.7 + 0.0015, 0.7 + 0.0025, 0.7]))
    assert count_reaching((0.3, 0.7), null, 1e-3) == 2
