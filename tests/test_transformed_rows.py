"""Tests of clusters under metrics that compare transformed rows: the answer is of these, whatever the totals are."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

import energystats as es
from energystats.dissimilarity import Dissimilarity
from energystats.metrics import Aitchison, ChiSquare, Chord, Hellinger, SciPyMetric

pytestmark = pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
POWERS = {Hellinger(): 1, Chord(): 1, ChiSquare(): 1, Aitchison(): 1, Aitchison(pseudocount=1.0): 1,
          SciPyMetric("cosine"): 2, SciPyMetric("correlation"): 2,
          SciPyMetric("cosine", params={"w": [1.0, 2.0, 0.5, 1.0, 3.0]}): 2}  # fmt: skip
DEFINITIONS = {
    Hellinger(): lambda x: np.sqrt(x / x.sum(axis=1, keepdims=True)),
    Chord(): lambda x: x / np.sqrt((x**2).sum(axis=1, keepdims=True)),
    ChiSquare(): lambda x: x / x.sum(axis=1, keepdims=True) / np.sqrt(x.sum(axis=0) / x.sum()),
    Aitchison(): lambda x: np.log(x / np.exp(np.log(x).mean(axis=1, keepdims=True))),
    SciPyMetric("cosine"): lambda x: x / np.sqrt(2 * (x**2).sum(axis=1, keepdims=True)),
}
of_metrics = pytest.mark.parametrize("metric", POWERS, ids=repr)
SHARES = [Hellinger(), Aitchison()]  # no total of a row or a column counts in these
SHARES += [
    pytest.param(m, marks=pytest.mark.slow) for m in (Chord(), SciPyMetric("cosine"), SciPyMetric("correlation"))
]


def shares_of_communities(k):
    """Return the shares of eight species in one community or two; (k, 8)."""
    found = np.array([[5.0] * 3 + [1.0] * 5, [3.0] * 3 + [13.0] * 5])[:k]
    return found / found.sum(axis=1, keepdims=True)


def counts_under_unlike_effort(rng, k):
    """Draw counts of eight species in 60 samples from k communities, with efforts that differ a hundredfold."""
    return rng.poisson(shares_of_communities(k)[np.arange(60) % k] * rng.lognormal(5, 1, (60, 1)))


@of_metrics
def test_transformed_rows_give_rho(rng, metric):
    X = rng.gamma(1.0, 2.0, (12, 5)) + 0.01
    T = Dissimilarity.from_data(X, metric=metric, alpha=1.0).transformed().points
    assert_allclose(cdist(T, T) ** POWERS[metric], metric(X), atol=1e-12)
    if metric in DEFINITIONS:
        assert_allclose(T, DEFINITIONS[metric](X), atol=1e-12)


def test_rows_of_other_metrics_stay(rng):
    for metric in ("euclidean", "mahalanobis", "braycurtis"):
        d = Dissimilarity.from_data(rng.random((9, 3)), metric=metric, alpha=1.0)
        assert d.transformed() is d


@pytest.mark.parametrize("metric", [SHARES[0], pytest.param(SHARES[1], marks=pytest.mark.slow), *SHARES[2:]], ids=repr)
def test_totals_of_rows_change_nothing(rng, metric):
    X = rng.gamma(np.where(np.arange(50)[:, None] % 2, [9, 1, 4], [1, 9, 4]), 1.0)
    effort = 2.0 ** rng.integers(-6, 7, (50, 1))
    how = {"metric": metric, "n_resamples": 49, "rng": 1}
    for test in (es.cluster_test, lambda X, **how: es.validate_clusters(X, 2, **how).structure):
        assert test(X, **how).pvalue == test(X * effort, **how).pvalue
    assert es.cluster_tree(X, metric=metric, rng=1).k == es.cluster_tree(X * effort, metric=metric, rng=1).k


@pytest.mark.parametrize("metric", DEFINITIONS, ids=repr)
def test_a_transformed_table_gives_the_same_answer(rng, metric):
    """Of amounts that are not tied; steps of counts are known under the metric alone."""
    X = pd.DataFrame(
        rng.gamma(np.where(np.arange(60)[:, None] % 2, [9, 1, 4, 2], [3, 3, 4, 2]), 1.0), columns=[*"abcd"]
    )
    T = DEFINITIONS[metric](X.to_numpy())
    named = es.cluster_test(X, metric=metric, rng=2)
    table = es.cluster_test(pd.DataFrame(T, columns=X.columns), alpha=POWERS[metric], rng=2)
    assert named.statistic == pytest.approx(table.statistic, rel=1e-9)
    assert named.pvalue == pytest.approx(table.pvalue, rel=5e-3)  # rounding of the rows can decide of one draw


OTHERS = [
    pytest.param(m, marks=pytest.mark.calibration) for m in ("chord", "chi2", "cosine", Aitchison(pseudocount=1.0))
]


@pytest.mark.parametrize("metric", [pytest.param("hellinger", marks=pytest.mark.slow), *OTHERS], ids=str)
def test_unlike_effort_neither_hides_nor_makes_clusters(metric):
    """Along lines of the counts two communities had p .91, and one sampled with two efforts was cut into 4 or 5."""
    for seed in range(3):
        two = counts_under_unlike_effort(np.random.default_rng(seed), 2)
        found = es.cluster_test(two, metric=metric, rng=seed)
        assert found.pvalue <= 0.05
        valid = es.validate_clusters(two, 2, metric=metric, rng=seed)
        assert valid.structure.pvalue == found.pvalue
        assert valid.merges["pvalue_adjusted"].max() <= 0.05
        assert es.cluster_tree(two, metric=metric, rng=seed).k == 2
        assert es.select_k(two, 4, "significance", metric=metric, rng=seed).k == 2
        assert list(found.partition.sizes) == [30, 30]
    split = [es.cluster_tree(counts_under_unlike_effort(np.random.default_rng(seed), 1), metric=metric, rng=0).k > 1
             for seed in range(5)]  # fmt: skip
    assert sum(split) <= 2


@pytest.mark.slow
def test_steps_of_counts_are_no_modes_of_shares():
    """A rare species has 0, 1 or 2 of 60 individuals, so that its shares lie near three places."""
    rejected = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        totals = np.where(np.arange(60) % 2, 60, 600)
        X = rng.poisson(np.outer(totals, [0.3, 0.25, 0.2, 0.1, 0.08, 0.04, 0.02, 0.01]))
        rejected += es.cluster_test(X, metric="hellinger", rng=seed).pvalue <= 0.05
    assert rejected <= 3  # more in one of 6,000 runs at level .05


def test_jittered_amounts_stay_amounts(rng):
    X = rng.poisson(0.7, (60, 4)) + np.eye(4, dtype=int)[rng.integers(4, size=60)]
    for metric in ("hellinger", Aitchison(pseudocount=0.5)):
        found = es.cluster_test(X, metric=metric, rng=0)
        assert 0 < found.pvalue <= 1
        assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("metric", ["hellinger", "chord", "cosine", Aitchison()], ids=str)
def test_proportional_rows_coincide(metric):
    X = np.outer(np.arange(1, 41) / 7, [1.0, 2.0, 5.0])
    assert es.cluster_test(X, metric=metric, rng=0).pvalue == 1
    assert es.cluster_tree(X, metric=metric, rng=0).k == 1


def test_the_result_says_what_was_tested(rng):
    X = pd.DataFrame(counts_under_unlike_effort(rng, 2), columns=[*"abcdefgh"])
    of_roots = "the population of square roots of shares"
    found = es.cluster_test(X, metric="hellinger", n_resamples=49, rng=0)
    assert found.null_hypothesis == f"every linear projection of {of_roots} is unimodal"
    assert "Modes were looked for along lines of square roots of shares" in " ".join(found.notes)
    assert of_roots in es.cluster_tree(X, metric="hellinger", rng=0).null_hypothesis
    valid = es.validate_clusters(X, 2, metric="hellinger", n_resamples=49, rng=0)
    named = valid.to_frame(full=True).set_index("question")["null_hypothesis"]
    assert f"a in {of_roots} is unimodal" in named.tolist()
    assert named.str.contains(of_roots).all()
    assert "Columns, of square roots of shares," in valid.summary()
    assert isinstance(found.partition.metric, Hellinger)  # what was clustered, and new rows are counts
    assert found.partition.points.max() > 1


@pytest.mark.slow
def test_long_clusters_of_log_ratios_are_found_where_they_show(rng):
    side = np.arange(200) % 2
    logs = np.outer(rng.normal(0, 2, 200), [1, -1, 0]) + np.outer(side + rng.normal(0, 0.1, 200), [0.3, 0.3, -0.6])
    X = np.exp(logs) * rng.lognormal(0, 1, (200, 1))
    found = es.cluster_test(X, metric=Aitchison(), rng=0)
    assert found.pvalue <= 0.05
    assert found.space == "decorrelated"
    assert np.abs(np.corrcoef(found.partition.labels, side)[0, 1]) > 0.9
    assert es.cluster_tree(X, k_max=2, metric=Aitchison(), rng=0).k == 2


@pytest.mark.slow
def test_pictures_show_what_was_compared(rng):
    X = counts_under_unlike_effort(rng, 2)
    titles = {"hellinger": ("principal component 1 (", "of square roots of shares"),
              "euclidean": ("principal component 1 (", "of variance)"),
              "braycurtis": ("kernel principal component 1 (", "of T)")}  # fmt: skip
    for metric, (first, last) in titles.items():
        ax = es.energy_cluster(X, 2, metric=metric, rng=0).plot()
        shown = np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])
        assert len(shown) == 60
        _, right = es.validate_clusters(X, 2, metric=metric, n_resamples=99, rng=0).plot().child_axes
        for label in (ax.get_xlabel(), right.get_xlabel()):
            assert label.startswith(first)
            assert label.endswith(last)
    columns = es.energy_cluster(X, 2, metric="hellinger", rng=0).plot(space="components")
    assert columns.get_xlabel().endswith("of variance)")


@pytest.mark.calibration
@pytest.mark.parametrize("metric", ["hellinger", "chord", "chi2", Aitchison(pseudocount=0.5)], ids=str)
@pytest.mark.parametrize("efforts", ["two", "lognormal"])
def test_level_under_unlike_effort(metric, efforts):
    """Of 200 samples at most .07 and two standard errors are rejected."""
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        shares = rng.gamma(1.0, 1.0, 8)
        totals = np.where(np.arange(60) % 2, 60, 600) if efforts == "two" else rng.lognormal(5, 1, 60)
        X = rng.poisson(np.outer(totals, shares / shares.sum()))
        rejected += es.cluster_test(X[X.sum(axis=1) > 0], metric=metric, rng=seed).pvalue <= 0.05
    assert rejected <= 14 + 2 * np.sqrt(200 * 0.07 * 0.93)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["braycurtis", "kulczynski", "ruzicka"])
def test_communities_that_raw_abundances_hide_are_seen_on_the_advice_of_the_caution(metric):
    """Two communities without a common species; counts are overdispersed, so that columns have heavy tails."""
    found = {"raw": 0, "log": 0}
    for seed in range(6):
        rng = np.random.default_rng([26, seed])
        means = np.zeros((2, 12))
        means[0, :6], means[1, 6:] = rng.lognormal(1.5, 0.7, (2, 6))
        X = rng.negative_binomial(1.5, 1 / (1 + means[np.repeat([0, 1], 20)] / 1.5)).astype(float)
        X = X[X.any(axis=1)]
        raw = es.cluster_test(X, 2, metric=metric, rng=seed)
        found["raw"] += raw.pvalue <= 0.05
        found["log"] += es.cluster_test(np.log1p(X), 2, metric=metric, rng=seed).pvalue <= 0.05
        advice = 'Those of np.log1p(X), or under metric="hellinger", are often seen'
        assert sum(advice in note for note in raw.notes) == 1
        assert advice in " ".join(raw.summary().split())
    assert found["log"] >= 5
    assert found["raw"] < found["log"]
