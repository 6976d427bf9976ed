"""Level and power of the tests, over many simulated samples (slow).

Every rate is judged against its binomial error at the number of replicates, so that no test needs a lucky seed:
a true rate at the limit itself fails less than once in a thousand runs.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

import energystats as es
from tests import simulations

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")]
REPLICATES = 100
RESAMPLES = 99


def rejections(draw, seed, replicates, **how):
    rng = np.random.default_rng([seed, 2026])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        pvalues = [es.cluster_test(draw(rng), n_resamples=RESAMPLES, rng=rng, **how).pvalue for _ in range(replicates)]
    return int(np.sum(np.array(pvalues) <= 0.05))


def assert_rate_at_most(count, replicates, limit):
    assert count <= binom.ppf(0.999, replicates, limit), f"rejected {count} of {replicates}, limit {limit}"


def assert_rate_at_least(count, replicates, limit):
    assert count >= binom.ppf(0.001, replicates, limit), f"rejected {count} of {replicates}, asked for {limit}"


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("name", simulations.ONE_COLUMN_NULLS)
def test_level_of_one_column(name, n, rotating_seed):
    draw = simulations.ONE_COLUMN_NULLS[name]
    assert_rate_at_most(rejections(lambda rng: draw(rng, n), rotating_seed, REPLICATES), REPLICATES, 0.05)


@pytest.mark.parametrize("name", simulations.SPLIT_NULLS)
def test_level_of_split(name, rotating_seed):
    count = rejections(simulations.SPLIT_NULLS[name], rotating_seed, REPLICATES)
    assert_rate_at_most(count, REPLICATES, 0.05 if name == "uniform square" else 0.04)


@pytest.mark.parametrize("name", simulations.FLAT_NULLS)
def test_level_of_split_on_flat_densities(name, rotating_seed):
    count = rejections(simulations.FLAT_NULLS[name], rotating_seed, REPLICATES)
    assert_rate_at_most(count, REPLICATES, 0.07)
    careful = rejections(simulations.FLAT_NULLS[name], rotating_seed, REPLICATES, conservative=True)
    assert_rate_at_most(careful, REPLICATES, 0.05)


@pytest.mark.parametrize("name", simulations.ALTERNATIVES)
def test_power_of_split(name, rotating_seed):
    draw, limit = simulations.ALTERNATIVES[name]
    assert_rate_at_least(rejections(draw, rotating_seed, REPLICATES // 2), REPLICATES // 2, limit)


@pytest.mark.parametrize(
    ("name", "asked"), [("delta=3 d=2", 0.18), ("80/20 delta=4", 0.13), ("concentric circles", 0.45)]
)
def test_power_where_little_can_be_seen(name, asked, rotating_seed):
    """Power, as a share of the .28, .24 and .85 (along one line) that any valid test could reach."""
    draw = simulations.FURTHER_ALTERNATIVES[name]
    assert_rate_at_least(rejections(draw, rotating_seed, REPLICATES), REPLICATES, asked)


@pytest.mark.parametrize("name", simulations.GAUSSIAN_NULLS)
def test_level_of_gaussian_refit(name, rotating_seed):
    how = {"method": "refit", "null": "gaussian"}
    count = rejections(simulations.GAUSSIAN_NULLS[name], rotating_seed, REPLICATES // 2, **how)
    assert_rate_at_most(count, REPLICATES // 2, 0.07)


@pytest.mark.parametrize("method", ["refit", "crossfit"])
@pytest.mark.parametrize("name", [name for name in simulations.SPLIT_NULLS if name != "N d=2 n=200"])
def test_level_against_unimodal_references(name, method, rotating_seed):
    n = REPLICATES // 8 if method == "crossfit" else REPLICATES // 4
    assert_rate_at_most(rejections(simulations.SPLIT_NULLS[name], rotating_seed, n, method=method), n, 0.07)


@pytest.mark.parametrize("name", simulations.REFIT_ALTERNATIVES)
def test_power_of_refit(name, rotating_seed):
    draw, gaussian, unimodal = simulations.REFIT_ALTERNATIVES[name]
    n = REPLICATES // 2
    assert_rate_at_least(rejections(draw, rotating_seed, n, method="refit", null="gaussian"), n, gaussian)
    assert_rate_at_least(rejections(draw, rotating_seed, n, method="refit"), n, unimodal)


def test_power_of_crossfit(rotating_seed):
    draw, n = simulations.two_normals(100, 2, 4), REPLICATES // 4
    assert_rate_at_least(rejections(draw, rotating_seed, n, method="crossfit"), n, 0.70)


@pytest.mark.parametrize("name", ["N d=2 n=200", "uniform square", "ellipse 1:25"])
def test_level_of_every_contrast(name, rotating_seed, no_collection):
    """Contrasts are named after a clustering of all points; that must not cost them their family-wise level."""
    rng = np.random.default_rng([rotating_seed, 7])
    draw, found = simulations.SPLIT_NULLS[name], 0
    for _ in range(REPLICATES):
        result = es.cluster_test(draw(rng), 3, n_resamples=RESAMPLES, rng=rng)
        found += bool((result.contrasts["pvalue_adjusted"] <= 0.05).any())
    assert_rate_at_most(found, REPLICATES, 0.05)


@pytest.mark.parametrize("step", [0.25, 1.0])
def test_level_on_rounded_data(step, rotating_seed):
    one = rejections(lambda rng: np.round(rng.standard_normal(200) / step) * step, rotating_seed, REPLICATES)
    assert_rate_at_most(one, REPLICATES, 0.05)
    two = rejections(lambda rng: np.round(rng.standard_normal((100, 2)) / step) * step, rotating_seed, REPLICATES)
    assert_rate_at_most(two, REPLICATES, 0.05)


def test_level_within_strata(rotating_seed):
    """Block effects and block sizes that go with the groups: free permutations fail, those within blocks hold."""
    rng = np.random.default_rng([rotating_seed, 8])
    blocks = np.repeat([0, 1], 20)
    labels = np.r_[np.repeat([0, 1], [15, 5]), np.repeat([0, 1], [5, 15])]
    within, free = 0, 0
    for _ in range(400):
        x = rng.standard_normal(40) + 3 * blocks
        within += (
            es.energy_test(x, groups=labels, design=es.Design(strata=blocks), n_resamples=99, rng=rng).pvalue <= 0.05
        )
        free += es.energy_test(x, groups=labels, n_resamples=99, rng=rng).pvalue <= 0.05
    assert_rate_at_most(within, 400, 0.05)
    assert_rate_at_least(within, 400, 0.05)
    assert_rate_at_least(free, 400, 0.5)


def test_permuting_found_labels_rejects_every_null(rotating_seed):
    rng = np.random.default_rng([rotating_seed, 3])
    for draw in simulations.SPLIT_NULLS.values():
        X = draw(rng)
        with pytest.warns(es.DoubleDippingWarning):
            naive = es.energy_test(X, groups=es.energy_cluster(X, 2, rng=rng), n_resamples=RESAMPLES, rng=rng)
        assert naive.pvalue <= 0.05


def test_level_of_energy_test_on_ties(rotating_seed):
    """Binary data, where counting strictly greater rejects a true null at .12 to .17 for level .05."""
    rng = np.random.default_rng([rotating_seed, 5])
    count = 0
    for _ in range(1000):
        x, y = rng.integers(2, size=(2, 10)).astype(float)
        count += es.energy_test(x, y, n_resamples=199, rng=rng).pvalue <= 0.05
    assert_rate_at_most(count, 1000, 0.05)


@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
def test_level_of_energy_test(statistic, rotating_seed):
    rng = np.random.default_rng([rotating_seed, 6])
    pvalues = []
    for _ in range(600):
        samples = rng.standard_t(2, (3, 15, 2))
        pvalues.append(es.energy_test(*samples, statistic=statistic, n_resamples=99, rng=rng).pvalue)
    for level in (0.05, 0.1, 0.5):
        assert_rate_at_most(int(np.sum(np.array(pvalues) <= level)), 600, level)
        assert_rate_at_least(int(np.sum(np.array(pvalues) <= level)), 600, level)


def three_apart(draw):
    """Three populations ten apart, 60 points of each."""
    places = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 60, axis=0)
    return lambda rng: draw(rng, 180) + places


TREES = {  # name: (draw, true clusters, share of samples in which one of them may be split)
    "normal": (lambda rng: rng.standard_normal((100, 2)), 1, 0.05),
    "uniform square": (lambda rng: rng.random((100, 2)), 1, 0.10),
    "three normals": (three_apart(lambda rng, n: rng.standard_normal((n, 2))), 3, 0.05),
    "three uniform squares": (three_apart(lambda rng, n: rng.random((n, 2))), 3, 0.10),
    "three exponentials": (three_apart(lambda rng, n: rng.exponential(size=(n, 2))), 3, 0.05),
}


@pytest.mark.parametrize("name", TREES)
def test_family_wise_level_of_trees(name, rotating_seed):
    draw, k, limit = TREES[name]
    rng = np.random.default_rng([rotating_seed, 9])
    found = np.array([es.cluster_tree(draw(rng), rng=rng).k for _ in range(REPLICATES // (2 if k == 1 else 4))])
    assert_rate_at_most(int(np.sum(found > k)), found.size, limit)
    assert_rate_at_least(int(np.sum(found >= k)), found.size, 0.97)


# ---------------------------------------------------------------- validate_clusters

ONE_CLOUD = {
    "N d=2": lambda rng: rng.standard_normal((100, 2)),
    "N d=5": lambda rng: rng.standard_normal((100, 5)),
    "uniform square": lambda rng: rng.random((100, 2)),
    "ellipse 1:25": simulations.SPLIT_NULLS["ellipse 1:25"],
}


def validations(draw, seed, replicates, monkeypatch, *, k, by_energy):
    """Validate the clusters of sample after sample, without bootstrap samples, whose numbers test nothing."""
    from sklearn.cluster import KMeans

    monkeypatch.setattr("energystats.cluster_tests.validate_clusters.STABILITY_RESAMPLES", 1)
    rng = np.random.default_rng([seed, 2027])
    for _ in range(replicates):
        X = draw(rng)
        how = {"k": k} if by_energy else {"clusterer": KMeans(k, n_init=1)}
        yield es.validate_clusters(X, outside=rng.integers(3, size=len(X)), n_resamples=RESAMPLES, rng=rng, **how)


@pytest.mark.parametrize("by_energy", [True, False])
@pytest.mark.parametrize("name", ONE_CLOUD)
def test_level_of_every_answer_about_clusters(name, by_energy, rotating_seed, monkeypatch):
    """Each row of the table, family-wise over the merges and over the columns, on one cloud cut into three."""
    counts = {}
    for found in validations(ONE_CLOUD[name], rotating_seed, REPLICATES, monkeypatch, k=3, by_energy=by_energy):
        smallest = found.to_frame().groupby("question")["pvalue_adjusted"].min()
        for question, p in smallest.items():
            counts[question] = counts.get(question, 0) + int(p <= 0.05)
    assert len(counts) == 5
    for count in counts.values():
        assert_rate_at_most(count, REPLICATES, 0.07)


def test_true_clusters_that_were_cut_are_not_taken_for_two(rotating_seed, monkeypatch):
    """Three normals eight standard deviations apart, by k-means into four: three groups, hardly ever four."""

    def draw(rng):
        return rng.standard_normal((150, 2)) + np.repeat([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]], 50, axis=0)

    found = [
        len(f.groups) for f in validations(draw, rotating_seed, REPLICATES // 2, monkeypatch, k=4, by_energy=False)
    ]
    assert_rate_at_most(found.count(4), REPLICATES // 2, 0.05)
    assert_rate_at_least(found.count(3), REPLICATES // 2, 0.85)
