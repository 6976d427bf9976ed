"""Dissimilarities of communities: the numbers of vegan, their definitions, domains, and negative type."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

import energystats as es
from energystats.metrics import Aitchison, Canberra, ChiSquare, Chord, Hellinger, Jaccard, Kulczynski

VEGAN = json.loads((Path(__file__).parent / "oracles_vegan" / "vegdist.json").read_text())
TABLES = [name for name in VEGAN if name != "version"]
METRICS = {  # name of vegan -> metric here, of all of the table or of presences
    "bray": ("bray", False),
    "canberra": (Canberra(scaled=True), False),
    "jaccard": (Jaccard(quantitative=True), False),
    "kulczynski": ("kulczynski", False),
    "hellinger": ("hellinger", False),
    "chord": ("chord", False),
    "chisq": ("chi2", False),
    "manhattan": ("manhattan", False),
    "gower": ("gower", False),
    "aitchison": (Aitchison(pseudocount=1), False),
    "jaccard binary": ("jaccard", True),
    "bray binary": ("dice", True),
    "kulczynski binary": ("kulczynski", True),
}
ALL = [Hellinger(), Chord(), ChiSquare(), Aitchison(), Jaccard(quantitative=True), Kulczynski(), Canberra(),
       Canberra(scaled=True), Aitchison(pseudocount=0.5), Hellinger(2), Chord(0.5), Jaccard(True, 0.5)]  # fmt: skip
of_shares = pytest.mark.parametrize("metric", [Hellinger(), Chord(), ChiSquare(), Aitchison()], ids=repr)


@pytest.fixture
def amounts(rng):
    return rng.gamma(1.0, 2.0, (9, 4)) + 0.01


@pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("table", TABLES)
def test_vegan(table, name):
    metric, of_presences = METRICS[name]
    X = np.array(VEGAN[table]["X"], dtype=float)
    found = squareform(es.pairwise(X > 0 if of_presences else X, metric=metric))
    assert_allclose(found, VEGAN[table]["values"][name], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("table", TABLES)
def test_canberra_of_dist(table):
    """R's `dist` multiplies the mean over the columns that are not 0 in both rows by the number of all columns."""
    X = np.array(VEGAN[table]["X"], dtype=float)
    found = squareform(Canberra(scaled=True)(X)) * X.shape[1]
    assert_allclose(found, VEGAN[table]["values"]["canberra of dist"], rtol=1e-12)
    assert_array_equal(Canberra()(X), es.pairwise(X, metric="canberra"))  # SciPy's sum


# ---------------------------------------------------------------- definitions


def definition(metric, x, y, X):
    """One value, from the formula."""
    if isinstance(metric, Hellinger):
        d = np.linalg.norm(np.sqrt(x / x.sum()) - np.sqrt(y / y.sum()))
    elif isinstance(metric, Chord):
        d = np.linalg.norm(x / np.sqrt((x**2).sum()) - y / np.sqrt((y**2).sum()))
    elif isinstance(metric, ChiSquare):
        parts = X.sum(axis=0) / X.sum()
        d = np.sqrt(sum((a - b) ** 2 / p for a, b, p in zip(x / x.sum(), y / y.sum(), parts, strict=True) if p > 0))
    elif isinstance(metric, Aitchison):
        a, b = np.log(x + metric.pseudocount), np.log(y + metric.pseudocount)
        d = np.linalg.norm(a - a.mean() - b + b.mean())
    elif isinstance(metric, Jaccard):
        d = 1 - np.minimum(x, y).sum() / np.maximum(x, y).sum()
    elif isinstance(metric, Kulczynski):
        d = 1 - (np.minimum(x, y).sum() / x.sum() + np.minimum(x, y).sum() / y.sum()) / 2
    else:
        parts = [abs(a - b) / (abs(a) + abs(b)) for a, b in zip(x, y, strict=True) if a or b]
        d = sum(parts) / (len(parts) if metric.scaled else 1)
    return d**metric.alpha


@pytest.mark.parametrize("metric", ALL, ids=repr)
def test_definitions(metric, amounts):
    X = amounts if isinstance(metric, Aitchison) and not metric.pseudocount else amounts * (amounts > 0.5) + 0.0
    X = X[X.any(axis=1)]
    expected = [[definition(metric, x, y, X) for y in X] for x in X]
    assert_allclose(metric(X), expected, rtol=1e-10, atol=1e-7 if metric.alpha < 1 else 1e-14)
    assert_allclose(es.pairwise(X, metric=metric), expected, rtol=1e-10, atol=1e-7 if metric.alpha < 1 else 1e-14)
    assert_array_equal(np.diagonal(metric(X)), 0)


@of_shares
def test_rows_in_proportion_have_no_distance(metric, amounts):
    scaled = amounts * np.arange(1, 10)[:, None] * 1e140
    if not isinstance(metric, ChiSquare):  # whose weights are those of all rows
        assert_allclose(metric(scaled), metric(amounts), rtol=1e-9, atol=1e-12)
    rows = np.array([amounts[0], amounts[0] * 7, amounts[1]])
    assert metric(rows)[0, 1] == pytest.approx(0, abs=1e-14)
    assert metric.strong_negative_type is False


def test_columns_of_zeros_count_nothing_in_chi_square(amounts):
    wider = np.column_stack([amounts, np.zeros(9)])
    assert_allclose(ChiSquare()(wider), ChiSquare()(amounts), rtol=1e-12)


def test_rows_of_zeros(amounts):
    both = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    for metric in (Jaccard(quantitative=True), Canberra(), Canberra(scaled=True)):
        assert metric(both)[0, 1] == 0
        assert metric(both)[0, 2] > 0
    for metric in (Hellinger(), Chord(), ChiSquare(), Kulczynski()):
        with pytest.raises(ValueError, match=r"no value for rows of zeros, but row 0 of `X` is all zeros"):
            es.pairwise(both, metric=metric)


# ---------------------------------------------------------------- negative type


counts = st.integers(2, 4).flatmap(
    lambda d: arrays(np.float64, (9, d), elements=st.integers(0, 6).map(float)).filter(lambda X: X.any(axis=1).all())
)
CLAIMED = ["braycurtis", Canberra(), Jaccard(quantitative=True), "hellinger", "chord", "chi2", Aitchison(1.0, 1.0)]
OF_PRESENCES = ["jaccard", "dice", "rogerstanimoto", "sokalsneath"]


@pytest.mark.parametrize("metric", CLAIMED, ids=repr)
@given(X=counts)
def test_negative_type_where_it_is_claimed(metric, X):
    assert es.metrics.resolve(metric, 1.0).negative_type is True
    assert es.negative_type(es.pairwise(X, metric=metric), tol=1e-12).holds


@pytest.mark.parametrize("metric", OF_PRESENCES)
@given(X=counts)
def test_negative_type_of_presences(metric, X):
    assert es.metrics.resolve(metric, 1.0).negative_type is True
    assert es.negative_type(es.pairwise(X > 0, metric=metric), tol=1e-12).holds


def test_canberra_is_of_negative_type_for_both_signs(rng):
    assert es.negative_type(Canberra()(rng.normal(size=(40, 2))), tol=1e-12).holds


def test_nothing_is_claimed_where_it_fails(rng):
    rows = np.array([[1.0, 0], [0, 1], [1, 1], [1, 9], [9, 1]])
    for alpha, known in ((1.0, False), (1.5, False), (0.5, None)):
        assert Kulczynski(alpha).negative_type is known
        assert known is None or not es.negative_type(Kulczynski(alpha)(rows)).holds
    assert Canberra(scaled=True).negative_type is None
    assert Jaccard(True, 1.5).negative_type is None
    assert es.metrics.SciPyMetric("braycurtis", 1.5).negative_type is None
    for metric in (Jaccard(True), Canberra(), es.metrics.SciPyMetric("braycurtis")):
        assert metric.strong_negative_type is None
    for metric in (Jaccard(True, 0.5), Canberra(False, 0.5), es.metrics.SciPyMetric("braycurtis", 0.5)):
        assert metric.strong_negative_type is True


@pytest.mark.parametrize("metric", ALL, ids=repr)
def test_kernels_generate_their_semimetric(metric, amounts):
    fitted = metric.fitted(amounts)
    K = fitted.kernel(amounts)
    assert_allclose(np.diag(K)[:, None] + np.diag(K) - 2 * K, fitted(amounts), atol=1e-7 if metric.alpha < 1 else 1e-11)


# ---------------------------------------------------------------- domains


@pytest.mark.parametrize("name", ["hellinger", "chord", "chi2", "aitchison", "kulczynski", "ruzicka"])
def test_negative_numbers_are_refused(name, amounts):
    amounts[4, 2] = -1
    with pytest.raises(
        ValueError, match=r"compares counts or amounts and needs numbers .*row 4 of `X` has -1 in column"
    ):
        es.pairwise(amounts, metric=name)
    with pytest.raises(ValueError, match="standardize"):
        es.energy_test(np.abs(amounts), groups=[0] * 4 + [1] * 5, metric=name, standardize=True)


def test_aitchison_needs_positive_numbers(amounts):
    amounts[3, 1] = 0
    with pytest.raises(ValueError, match=r"needs numbers above 0, but row 3 .*`es.metrics.Aitchison\(pseudocount=1\)`"):
        es.pairwise(amounts, metric="aitchison")
    assert np.isfinite(es.pairwise(amounts, metric=Aitchison(pseudocount=1))).all()
    for wrong, error in ((-1, ValueError), (np.inf, ValueError), ("1", TypeError), (True, TypeError)):
        with pytest.raises(error, match=r"`pseudocount` must be"):
            Aitchison(pseudocount=wrong)


def test_amounts_are_refused_for_presences():
    with pytest.raises(ValueError, match=r"compares presence and absence"):
        es.pairwise([[2.0, 0.0], [1.0, 1.0]], metric=Jaccard())
    assert Jaccard()([[True, False], [True, True]])[0, 1] == 0.5


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("Chi-square", ChiSquare(0.5)), ("chisq", ChiSquare(0.5)), ("Hellinger", Hellinger(0.5)), ("chord", Chord(0.5)),
     ("Ruzicka", Jaccard(True, 0.5)), ("kulczynski", Kulczynski(0.5)), ("aitchison", Aitchison(0.5))],
)  # fmt: skip
def test_names(typed, expected):
    assert es.metrics.resolve(typed, 0.5) == expected


# ---------------------------------------------------------------- in use


def test_all_functions_take_them(amounts):
    frame, groups = pd.DataFrame(amounts, columns=list("abcd")), [0] * 4 + [1] * 5
    for metric in ("hellinger", "chi2", "kulczynski"):
        R = es.pairwise(amounts, metric=metric)
        tested = es.energy_test(frame, groups=groups, metric=metric, n_resamples=99, rng=0)
        by_matrix = es.energy_test(R, groups=groups, metric="precomputed", n_resamples=99, rng=0)
        assert tested.statistic == pytest.approx(by_matrix.statistic, rel=1e-10)
        assert tested.pvalue == by_matrix.pvalue
        found = es.energy_cluster(frame, 2, metric=metric, rng=0)
        by_matrix = es.energy_cluster(R, 2, metric="precomputed", rng=0)
        assert found.within == pytest.approx(by_matrix.within, rel=1e-10)
    model = es.EnergyClustering(2, metric="chi2", random_state=0).fit(amounts)
    assert_array_equal(model.predict(amounts), model.labels_)
    pairs = es.energy_distance(frame[:4], frame[4:], metric="chi2")
    assert pairs == pytest.approx(es.energy_distance(es.pairwise(amounts, metric="chi2"), groups=groups,
                                                     metric="precomputed"))  # fmt: skip


@pytest.mark.parametrize("metric", ["bray", "hellinger", "chord", "chi2", "kulczynski", "ruzicka", "jensenshannon"])
def test_references_do_not_leave_the_domain(metric, amounts):
    """Reference tables had numbers below 0, on which these were computed, or were not: bare NaN."""
    with pytest.raises(ValueError, match=r"in which .* has no meaning or need not have one; use method=.split"):
        es.cluster_test(amounts, 2, metric=metric, method="refit", n_resamples=9, rng=0)
    with pytest.raises(ValueError, match="draws reference data in coordinates, and there are none"):
        es.select_k(amounts, 3, metric=metric, rng=0)
    assert es.select_k(amounts, 3, "eigengap", metric=metric, rng=0).k >= 2
    es.cluster_test(amounts, 2, metric=metric, method="refit", null="independent", n_resamples=9, rng=0)


def test_only_lines_are_said_to_be_looked_along(amounts):
    lines = "Modes were looked for along lines"
    many = np.concatenate([amounts, amounts[::-1] * [1.1, 1.3, 0.9, 1.7], amounts + 0.7])
    assert any(note.startswith(lines) for note in es.cluster_test(many, 2, metric="bray", rng=0).notes)
    refit = es.cluster_test(amounts, 2, metric="bray", method="refit", null="independent", n_resamples=9, rng=0)
    assert not any(note.startswith(lines) for note in refit.notes)
    for metric, said in (("bray", "has no lines of its own"), ("hellinger", "square roots of shares, which")):
        notes = es.cluster_test(many, 2, metric=metric, n_resamples=19, rng=0).notes
        assert said in next(note for note in notes if note.startswith(lines))


@pytest.mark.parametrize("name", ["hellinger", "chord", "chi2", "aitchison", "cosine", "jensenshannon"])
def test_whole_multiples_of_a_row_are_at_0_from_it(name, rng):
    """Aitchison's was 1e-16, which a small power makes .03 and more, and so each counted as a point of its own."""
    base = rng.integers(1, 30, size=(12, 5)).astype(float)
    rows = np.concatenate([base, 7 * base])
    R = es.pairwise(rows, metric=name, alpha=0.1)
    assert_array_equal(R[np.arange(12), np.arange(12, 24)], np.zeros(12))
    with pytest.raises(ValueError, match=rf"number of distinct points, {len(np.unique(R[:12, :12], axis=0))}"):
        es.energy_cluster(rows, 13, metric=name, rng=0)


def test_aitchisons_distance_of_ratios_that_are_no_numbers():
    """A ratio of parts over- or underflows where the parts do not."""
    rows = np.array([[1e-300, 1e100, 3.0], [1e100, 1e-300, 2.0], [1e-3, 5e-324, 1.0]])
    logs = np.log(rows)
    logs -= logs.mean(axis=1, keepdims=True)
    expected = np.sqrt(((logs[:, None] - logs) ** 2).sum(axis=2))
    assert_allclose(es.pairwise(rows, metric="aitchison"), expected, rtol=1e-14)
