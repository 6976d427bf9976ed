"""Level and power of the tests, over many simulated samples (marker `calibration`).

Every rate is judged against its binomial error at the number of replicates, so that no test needs a lucky seed:
a true rate at the limit itself fails less than once in a thousand runs.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, random_table

import energystats as es
from tests import simulations

pytestmark = [pytest.mark.calibration, pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")]
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


@pytest.mark.parametrize("n", [100, 1000])
def test_two_long_bars_are_two_clusters(n, rotating_seed):
    """Test, tree and partition agree, and find the bars."""
    rng = np.random.default_rng([rotating_seed, n])
    truth, right = np.repeat([0, 1], n // 2), 0
    for _ in range(20):
        X = np.column_stack((rng.normal(0, 8, n), 6 * truth + rng.normal(size=n)))
        seed = int(rng.integers(2**31))
        found, tree = es.cluster_test(X, rng=seed), es.cluster_tree(X, rng=seed)
        right += tree.k == 2 and es.clustering_accuracy(truth, found.partition.labels) > 0.95
        assert (found.pvalue <= 0.05) == (tree.k > 1)
    assert_rate_at_least(right, 20, 0.95)


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


@pytest.mark.parametrize("name", simulations.INDEPENDENT_COLUMNS)
def test_level_of_permuted_columns(name, rotating_seed):
    draw, how = simulations.INDEPENDENT_COLUMNS[name]
    count = rejections(draw, rotating_seed, REPLICATES, method="refit", null="independent", **how)
    assert_rate_at_most(count, REPLICATES, 0.05)  # exact


def test_level_of_a_model_with_fixed_totals(rotating_seed):
    totals = random_table([12] * 20, [24] * 10)

    def model(rng):
        return totals.rvs(random_state=rng)

    how = {"method": "refit", "null": model, "metric": "braycurtis"}
    assert_rate_at_most(rejections(model, rotating_seed, REPLICATES, **how), REPLICATES, 0.05)


@pytest.mark.parametrize("name", simulations.DEPENDENT_COLUMNS)
def test_power_of_permuted_columns(name, rotating_seed):
    draw, how, power = simulations.DEPENDENT_COLUMNS[name]
    n = REPLICATES // 2
    count = rejections(draw, rotating_seed, n, method="refit", null="independent", **how)
    assert_rate_at_least(count, n, power)


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


@pytest.mark.parametrize("n", [20, 100, 500])
@pytest.mark.parametrize("name", simulations.DISCRETE_NULLS)
def test_level_of_one_column_of_counts_and_limits(name, n, rotating_seed):
    draw = simulations.DISCRETE_NULLS[name]
    assert_rate_at_most(rejections(lambda rng: draw(rng, n), rotating_seed, REPLICATES), REPLICATES, 0.07)


@pytest.mark.parametrize("name", simulations.DISCRETE_NULLS)
def test_level_of_split_on_counts_and_limits(name, rotating_seed):
    draw = simulations.DISCRETE_NULLS[name]
    assert_rate_at_most(rejections(lambda rng: draw(rng, (100, 2)), rotating_seed, REPLICATES), REPLICATES, 0.07)


def test_power_on_rounded_data_and_counts(rotating_seed):
    """Two normals five apart, rounded to a quarter (.99 of 250 samples), and counts of mean 3 and 15 (.59)."""

    def rounded_normals(rng):
        return np.round(4 * (rng.standard_normal(100) + 5 * (rng.random(100) < 0.5))) / 4

    def counts(rng):
        return rng.poisson(np.where(rng.random(100) < 0.5, 3, 15)).astype(float)

    assert_rate_at_least(rejections(rounded_normals, rotating_seed, REPLICATES), REPLICATES, 0.95)
    assert_rate_at_least(rejections(counts, rotating_seed, REPLICATES), REPLICATES, 0.55)


def test_dependence_is_noted_and_independence_is_not(rotating_seed):
    rng = np.random.default_rng([rotating_seed, 11])

    def noted(draw):
        found = (es.cluster_test(draw(), n_resamples=9, n_splits=1, rng=rng) for _ in range(REPLICATES))
        return sum(any(note.startswith("Neighbouring rows are alike") for note in each.notes) for each in found)

    assert_rate_at_most(noted(lambda: rng.standard_normal((100, 2))), REPLICATES, 0.01)
    assert_rate_at_least(noted(lambda: np.cumsum(rng.standard_normal((100, 2)), axis=0)), REPLICATES, 0.95)
    assert_rate_at_least(noted(lambda: simulations.serial(0.97, 100, 2)(rng)), REPLICATES, 0.95)


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


# ---------------------------------------------------------------- groups known in advance


def two_factors(sizes, shift=2.0, columns=1, errors=np.random.Generator.standard_normal, spread=0.0):
    """Points in cells of two factors, both of which shift them along the first column; b may change the spread."""
    sizes = np.array(sizes)
    a, b = np.indices(sizes.shape).reshape(2, -1).repeat(sizes.ravel(), axis=1)
    data = pd.DataFrame({"a": a.astype(str), "b": b.astype(str)})

    def draw(rng):
        Y = errors(rng, size=(a.size, columns)) * (1 + spread * b[:, None])
        Y[:, 0] += shift * (a + b)
        return Y, data

    return draw


def covariate_and_group(n, *, both):
    """A covariate of slope 2 and a group that depends on it, which works, too, or does not."""

    def draw(rng):
        x = rng.standard_normal(n)
        g = (x + rng.standard_normal(n) > 0).astype(int)
        return 2 * x + both * g + rng.standard_normal(n), pd.DataFrame({"x": x, "g": g.astype(str)})

    return draw


UNBALANCED = [[6, 2, 4], [2, 6, 4]]
ADJUSTED_TERMS = {  # name: (draw, model, term without effect, limit)
    "2 x 2 cells of 3": (two_factors([[3, 3]] * 2), "~ a * b", "a:b", 0.05),
    "2 x 2 cells of 10": (two_factors([[10, 10]] * 2), "~ a * b", "a:b", 0.05),
    "2 x 2 cells of 30, two columns": (two_factors([[30, 30]] * 2, columns=2), "~ a * b", "a:b", 0.07),
    "lognormal errors": (
        two_factors([[10, 10]] * 2, errors=np.random.Generator.lognormal), "~ a * b", "a:b", 0.10),
    "unbalanced": (two_factors(UNBALANCED, columns=2), "~ a * b", "a:b", 0.06),
    "unbalanced, spread": (two_factors(UNBALANCED, 0.0, 2, spread=2.0), "~ a * b", "a:b", 0.07),
    "group beside covariate": (covariate_and_group(300, both=False), "~ x + g", "g", 0.06),
    "covariate times group": (covariate_and_group(100, both=True), "~ x * g", "x:g", 0.07),
}  # fmt: skip


@pytest.mark.parametrize("name", ADJUSTED_TERMS)
def test_level_of_adjusted_terms(name, rotating_seed):
    draw, model, term, limit = ADJUSTED_TERMS[name]
    rng, count, replicates = np.random.default_rng([rotating_seed, 13]), 0, 300
    for _ in range(replicates):
        Y, data = draw(rng)
        count += es.disco(Y, model, data=data, n_resamples=99, rng=rng).table.loc[term, "pvalue"] <= 0.05
    assert_rate_at_most(count, replicates, limit)


def test_power_for_interactions_and_adjusted_terms(rotating_seed):
    """Of an interaction of 1.5 standard deviations as with alpha = 2, and more with heavy tails."""
    rng, counts, replicates = np.random.default_rng([rotating_seed, 14]), np.zeros(3), 150
    normal, heavy = (
        two_factors([[10, 10]] * 2, errors=errors)
        for errors in (np.random.Generator.standard_normal, lambda rng, size: rng.standard_t(2, size))
    )
    for _ in range(replicates):
        for i, draw in enumerate((normal, heavy)):
            Y, data = draw(rng)
            Y[(data == "1").all(axis=1)] += 1.5
            counts[i] += es.disco(Y, "~ a * b", data=data, n_resamples=99, rng=rng).terms[2].pvalue <= 0.05
        Y, data = normal(rng)
        Y += 3 * (data[["b"]] == "1").to_numpy() - 1.2 * (data[["a"]] == "1").to_numpy()
        counts[2] += es.disco(Y, "~ b + a", data=data, n_resamples=99, rng=rng).terms[1].pvalue <= 0.05
    for count, asked in zip(counts, (0.47, 0.3, 0.6), strict=True):
        assert_rate_at_least(count, replicates, asked)


def test_extrapolated_level_on_rare_events(rotating_seed):
    """0/1 data with p = .1, where a fitted tail gave p <= .0001 to .0067 of equal pairs."""
    rng = np.random.default_rng([rotating_seed, 15])
    pvalues = []
    for _ in range(1500):
        x, y = (rng.random((2, 20)) < 0.1).astype(float)
        pvalues.append(es.energy_test(x, y, method=es.Permutation(199, extrapolate=True), rng=rng).pvalue)
    for level in (0.05, 0.01, 0.001, 0.0001):
        assert_rate_at_most(int(np.sum(np.array(pvalues) <= level)), 1500, level)


@pytest.mark.parametrize("estimator", ["u", "v"])
def test_level_of_mmd_with_the_median_sigma(estimator, rotating_seed):
    """Unequal sizes; sigma is that of the pooled points, which no permutation changes."""
    rng = np.random.default_rng([rotating_seed, 16])
    samples = (rng.standard_normal((40, 1)) for _ in range(800))
    pvalues = [es.mmd_test(X[:10], X[10:], estimator=estimator, n_resamples=99, rng=rng).pvalue for X in samples]
    count = int(np.sum(np.array(pvalues) <= 0.05))
    assert_rate_at_most(count, 800, 0.05)
    assert_rate_at_least(count, 800, 0.05)


@pytest.mark.parametrize(("n", "step"), [(30, 0.5), (60, 0.25), (60, 0.5), (200, 0.5)])
def test_level_of_normality_of_rounded_data(n, step, rotating_seed):
    rng, count = np.random.default_rng([rotating_seed, 17]), 0
    for _ in range(300):
        x = np.round(rng.normal(rng.random(), 1, n) / step) * step
        count += es.normality_test(x, rounding="auto", n_resamples=99, rng=rng).pvalue <= 0.05
    assert_rate_at_most(count, 300, 0.06)


def test_pilots_of_equal_populations_promise_little(rotating_seed):
    """Their difference is chance: resampled as if they were the populations, they promised a mean power of .70."""
    rng, found = np.random.default_rng([rotating_seed, 18]), []
    for _ in range(40):
        x, y = rng.standard_normal((2, 15))
        found.append(es.energy_power(x, y, 60, n_replicates=20, n_resamples=99, rng=rng).rows[0])
    assert_rate_at_least(sum(row.pilot_low <= 0.2 for row in found), 40, 0.95)  # 20 replicates at level .05
    assert np.mean([row.power for row in found]) <= 0.45


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
