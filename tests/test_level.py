"""Level and power of every test of equal distributions, over many simulated samples (marker `calibration`).

Each rate is judged at .05 and .01 against its binomial error, so that no test needs a lucky seed: at a true rate equal
to the limit, a case fails once in ten thousand runs.
"""

import warnings

import numpy as np
import pytest
from scipy import stats

import energystats as es

pytestmark = [pytest.mark.calibration, pytest.mark.filterwarnings("ignore::energystats.EnergyStatsWarning")]
REPLICATES = 300
NULLS = {
    "normal": lambda rng, n: rng.standard_normal((n, 2)),
    "Cauchy": lambda rng, n: rng.standard_cauchy((n, 2)),
    "binary": lambda rng, n: rng.integers(2, size=(n, 1)).astype(float),
    "constant": lambda rng, n: np.ones((n, 2)),
}
SIZES = [(3, 3), (10, 12), (5, 200)]


def whole_plots(n):
    """Plots of two and three rows in turn, half of them in each group."""
    plots = np.repeat(np.arange(n), np.arange(n) % 2 + 2)[:n]
    return plots, (plots % 4 >= 2).astype(int)


def drawn_weights(x, y, rng):
    """Weights that are exchangeable with their rows, as they must be."""
    return rng.uniform(1, 4, len(x) + len(y))


EXACT = {
    "between": lambda x, y, rng: es.energy_test(x, y, n_resamples=99, rng=rng),
    "pairwise": lambda x, y, rng: es.energy_test(x, y, statistic="pairwise", n_resamples=99, rng=rng),
    "f": lambda x, y, rng: es.energy_test(x, y, statistic="f", n_resamples=99, rng=rng),
    "early stop": lambda x, y, rng: es.energy_test(x, y, method=es.Permutation(99, stop_at=5), rng=rng),
    "min p": lambda x, y, rng: es.energy_test(x, y, alpha=[0.5, 1.0, 2.0], n_resamples=99, rng=rng),
    "weights": lambda x, y, rng: es.energy_test(x, y, sample_weight=drawn_weights(x, y, rng), n_resamples=99, rng=rng),
    "mmd": lambda x, y, rng: es.mmd_test(x, y, n_resamples=99, rng=rng),
    "mmd, unbiased": lambda x, y, rng: es.mmd_test(x, y, kernel="laplacian", estimator="u", n_resamples=99, rng=rng),
}


def assert_level(pvalues, limits=(0.05, 0.01)):
    pvalues = np.array(pvalues)
    for level, limit in zip((0.05, 0.01), limits, strict=True):
        count = int(np.sum(pvalues <= level + 1e-12))
        assert count <= stats.binom.ppf(0.9999, pvalues.size, limit), f"{count} of {pvalues.size} at {level}"


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("distribution", NULLS)
@pytest.mark.parametrize("test", EXACT)
def test_exact_tests_keep_their_level(test, distribution, sizes, rng):
    n, m = sizes
    assert_level(
        [EXACT[test](NULLS[distribution](rng, n), NULLS[distribution](rng, m), rng).pvalue for _ in range(REPLICATES)]
    )


@pytest.mark.parametrize("distribution", NULLS)
def test_pairs_keep_their_level(distribution, rng):
    """Subjects differ far more than the two measurements of one subject."""
    pvalues = []
    for _ in range(REPLICATES):
        subject = 10 * NULLS[distribution](rng, 12)
        x, y = subject + NULLS[distribution](rng, 12), subject + NULLS[distribution](rng, 12)
        pvalues.append(es.energy_test(x, y, design=es.Design(paired=True), n_resamples=99, rng=rng).pvalue)
    assert_level(pvalues)


@pytest.mark.parametrize("distribution", NULLS)
def test_strata_keep_their_level(distribution, rng):
    """Strata that differ, and groups unevenly spread over them: permuting freely would reject."""
    strata = np.repeat([0, 1, 2], [8, 10, 6])
    groups = np.concatenate([np.arange(8) < 6, np.arange(10) < 5, np.arange(6) < 1])
    pvalues = []
    for _ in range(REPLICATES):
        X = NULLS[distribution](rng, 24) + 5 * strata[:, None]
        pvalues.append(
            es.energy_test(X, groups=groups, design=es.Design(strata=strata), n_resamples=99, rng=rng).pvalue
        )
    assert_level(pvalues)


@pytest.mark.parametrize("distribution", NULLS)
def test_whole_plots_keep_their_level(distribution, rng):
    """Rows of a plot share its effect: permuting rows would reject."""
    plots, groups = whole_plots(40)
    pvalues = []
    for _ in range(REPLICATES):
        X = NULLS[distribution](rng, 40) + 3 * NULLS[distribution](rng, plots.max() + 1)[plots]
        pvalues.append(
            es.energy_test(X, groups=groups, design=es.Design(whole_plots=plots), n_resamples=99, rng=rng).pvalue
        )
    assert_level(pvalues)


@pytest.mark.parametrize("sizes", [(10, 12), (5, 200), (30, 30)], ids=str)
@pytest.mark.parametrize("distribution", NULLS)
def test_asymptotic_level(distribution, sizes, rng):
    """An approximation: .062 at .05 and .016 at .01 were the largest rates measured."""
    samples = ([NULLS[distribution](rng, n) for n in sizes] for _ in range(200))
    assert_level([es.energy_test(*pair, method="asymptotic").pvalue for pair in samples], limits=(0.07, 0.025))


@pytest.mark.parametrize("distribution", NULLS)
def test_cross_level(distribution, rng):
    """An approximation, which needs larger samples."""
    samples = ([NULLS[distribution](rng, n) for n in (60, 80)] for _ in range(REPLICATES))
    assert_level([es.energy_test(*pair, method="cross", rng=rng).pvalue for pair in samples], limits=(0.07, 0.025))


def test_extrapolated_level(rng):
    samples = (rng.standard_normal((2, 15, 2)) for _ in range(REPLICATES))
    found = [es.energy_test(*pair, method=es.Permutation(99, extrapolate=True), rng=rng).pvalue for pair in samples]
    assert_level(found, limits=(0.06, 0.015))


@pytest.mark.parametrize("distribution", ["normal", "Cauchy", "binary"])
def test_pairwise_tests_keep_the_family_wise_level(distribution, rng, no_collection):
    groups, smallest = np.repeat([0, 1, 2], [8, 10, 12]), []
    for _ in range(300):
        found = es.pairwise_tests(NULLS[distribution](rng, 30), groups, n_resamples=99, rng=rng)
        smallest.append(found.pvalue_adjusted.min())
    assert_level(smallest)


ALTERNATIVES = {
    "shift": lambda rng: (rng.standard_normal(40), rng.normal(0.8, 1, 40)),
    "scale": lambda rng: (rng.standard_normal(60), rng.normal(0, 2.2, 60)),
    "shape": lambda rng: (rng.standard_normal(150), rng.choice([-1.0, 1.0], 150) + 0.2 * rng.standard_normal(150)),
}


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_power_beside_the_classical_tests(name, rng):
    """Not below Kolmogorov-Smirnov's and Cramer-von Mises' but for what simulation and the kind of difference allow."""
    rejected = np.zeros((300, 4))
    for row in rejected:
        x, y = ALTERNATIVES[name](rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            row[0] = stats.ks_2samp(x, y).pvalue <= 0.05
        row[1] = stats.cramervonmises_2samp(x, y).pvalue <= 0.05
        row[2] = es.energy_test(x, y, n_resamples=99, rng=rng).pvalue <= 0.05
        row[3] = es.energy_test(x, y, alpha=[0.5, 1.0, 2.0], n_resamples=99, rng=rng).pvalue <= 0.05
    ks, cvm, energy, min_p = rejected.mean(axis=0)
    assert energy >= 0.6
    assert energy >= min(ks, cvm) - 0.12
    assert min_p >= energy - 0.15
