"""Clusters against those of permuted or modelled tables: exact levels, shown by visiting every table."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import energystats as es
from energystats.cluster_tests.clusterers import all_partitions
from tests.comparisons import words
from tests.conftest import sweep
from tests.definitions import best_within, partitions, total

HOW = {"method": "refit", "null": "independent"}
CONTINUOUS = np.array([[0.3, 2.1], [1.7, -0.4], [-0.9, 0.8], [2.6, 1.5]])
COUNTS = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
MIXED = pd.DataFrame(
    {"a": [0.5, 2.0, np.nan, 3.5], "b": pd.Categorical(["u", "v", "u", "w"]), "c": [True, False, True, True]}
)
TINY = {  # name: (table, options), small enough to be permuted in every way
    "euclidean": (CONTINUOUS, {}),
    "z-scores, manhattan": (CONTINUOUS * [1.0, 30.0], {"metric": "cityblock", "standardize": True}),
    "mahalanobis": (CONTINUOUS, {"metric": "mahalanobis"}),
    "median distance": (CONTINUOUS, {"metric": "exponential"}),
    "bray-curtis": (COUNTS, {"metric": "braycurtis"}),
    "presences": (np.array([[1.0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]]), {}),
    "mixed, k = 3": (MIXED, {"metric": "gower", "k": 3}),
    "own metric": (CONTINUOUS, {"metric": lambda X, Y: np.abs(X[:, None] - Y[None]).max(axis=2) ** 0.5}),
}  # fmt: skip


def relative_permutations(table):
    """Every table that permuting columns makes, but for the order of its rows; tied values repeat tables."""
    n, d = table.shape
    for orders in itertools.product(itertools.permutations(range(n)), repeat=d - 1):
        if isinstance(table, pd.DataFrame):
            rest = [table.iloc[list(order), j + 1].reset_index(drop=True) for j, order in enumerate(orders)]
            yield pd.concat([table.iloc[:, 0], *rest], axis=1)
        else:
            yield np.column_stack([table[:, 0], *(table[list(order), j + 1] for j, order in enumerate(orders))])


def largest_share(table, k=2, metric="euclidean", standardize=False):
    """S/T of the best of all partitions, by the definition; None for tables that are refused."""
    if standardize:
        table = (table - table.mean(axis=0)) / table.std(axis=0)
    try:
        R = es.pairwise(table, metric=metric)
    except ValueError:
        return None
    return 1 - best_within(np.asarray(R).tolist(), k) / total(np.asarray(R).tolist())


@pytest.mark.parametrize("name", sweep(TINY, [name for name in TINY if name != "mixed, k = 3"]))
def test_p_is_the_share_of_all_permutations(name):
    table, how = TINY[name]
    result = es.cluster_test(table, **HOW, **how, n_resamples=1000, rng=0)
    shares = [largest_share(permuted, **how) for permuted in relative_permutations(table)]
    every = np.array([share for share in shares if share is not None])
    assert result.statistic == pytest.approx(largest_share(table, **how), abs=1e-12)
    assert result.exact
    assert result.pvalue == pytest.approx(np.mean(every >= result.statistic - 1e-9), abs=1e-12)
    assert result.n_resamples == result.null_distribution.size + 1
    assert "exact and does not depend on a seed" in words(result)


@pytest.mark.parametrize("name", sweep(["euclidean", "bray-curtis", "mixed, k = 3"], ["euclidean"]))
def test_level_is_exact_over_all_tables(name):
    """Under independence each of these tables is as likely as the others: P(p <= a) <= a for every a."""
    table, how = TINY[name]
    tables = {pd.DataFrame(t).to_csv(): t for t in relative_permutations(table)}.values()
    if name == "bray-curtis":  # rows of zeros are refused, so not tested
        tables = [one for one in tables if one.any(axis=1).all()]
    pvalues = np.array([es.cluster_test(one, **HOW, **how, n_resamples=1000, rng=0).pvalue for one in tables])
    assert len(pvalues) > 10
    for a in np.unique(pvalues):
        assert np.mean(pvalues <= a) <= a + 1e-12


@pytest.mark.slow
def test_level_of_random_permutations_and_of_a_model(rng):
    """P(p <= a) = floor(a (m + 1))/(m + 1) without ties, whatever the search; 3 of 20 here."""
    model = lambda r: r.exponential(size=(12, 2))  # noqa: E731
    for null in ("independent", model):
        pvalues = [
            es.cluster_test(model(rng), 3, method="refit", null=null, n_resamples=19, rng=rng).pvalue
            for _ in range(100)
        ]
        assert 2 <= np.sum(np.array(pvalues) <= 0.15 + 1e-12) <= 34  # binomial(100, .15), 1e-5 on both sides
        assert np.allclose(np.array(pvalues) * 20, np.round(np.array(pvalues) * 20))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 2), (5, 3), (6, 6), (8, 2)])
def test_all_partitions(n, k):
    found = np.argmax(all_partitions(n, k), axis=0)
    assert sorted(found.tolist()) == sorted(partitions(n, k))


def test_seeds_and_threads(rng):
    X = rng.standard_normal((30, 3)) + np.repeat([0, 30, 60], 10)[:, None]  # three clusters that every seed finds
    one, two = (es.cluster_test(X, 3, **HOW, n_resamples=29, rng=5, n_jobs=j) for j in (1, 2))
    assert np.array_equal(one.null_distribution, two.null_distribution)
    other = es.cluster_test(X, 3, **HOW, n_resamples=29, rng=6)
    assert not np.array_equal(one.null_distribution, other.null_distribution)
    assert other.statistic == pytest.approx(one.statistic)


def test_a_model_gets_its_own_generator_for_every_draw(rng):
    X = rng.standard_normal((30, 2))
    seen = []

    def model(r):
        table = r.standard_normal((30, 2))
        seen.append(table)
        r.standard_normal(len(seen))  # how much is drawn does not matter
        return table

    nulls = [es.cluster_test(X, method="refit", null=model, n_resamples=9, rng=5).null_distribution for _ in range(2)]
    assert np.array_equal(*nulls)
    assert len({table.tobytes() for table in seen}) == 9


REFITTED = {  # tables in other units, which a metric that is fitted anew does not see
    "standardize": {"standardize": True},
    "mahalanobis": {"metric": "mahalanobis"},
    "seuclidean": {"metric": "seuclidean"},
    "gower": {"metric": "gower"},
    "gaussian": {"metric": "gaussian"},
}


@pytest.mark.parametrize("name", REFITTED)
def test_everything_is_fitted_anew_to_drawn_tables(name, rng):
    X = rng.standard_normal((25, 2))
    result = es.cluster_test(
        X, method="refit", null=lambda r: 8 * r.permutation(X), n_resamples=5, rng=0, **REFITTED[name]
    )
    assert result.null_distribution == pytest.approx(result.statistic, abs=1e-12)
    assert result.pvalue == 1.0


def test_what_the_user_fitted_stays(rng):
    X = rng.standard_normal((25, 2))
    result = es.cluster_test(
        X, metric=es.metrics.Gaussian(1.0), method="refit", null=lambda r: 8 * r.permutation(X), n_resamples=5, rng=0
    )
    assert not np.isclose(result.null_distribution, result.statistic).any()


def test_a_model_of_a_mixed_table_is_coded_with_the_data():
    data = pd.DataFrame({"a": np.arange(12.0), "b": list("uvwuvwuvwuvw")})

    def model(r):
        # other categories first, and a new one: codes of its own would compare as well, another kind would not
        return pd.DataFrame({"a": r.permutation(12.0 * np.arange(12)), "b": r.permutation(list("xwvuxwvuxwvu"))})

    result = es.cluster_test(data, metric="gower", method="refit", null=model, n_resamples=9, rng=0)
    assert result.null_hypothesis == "the table is a draw of the model model"
    assert 0 < result.pvalue <= 1


@pytest.mark.slow
def test_clusterers(rng):
    X = np.vstack([rng.normal(0, 1, (25, 2)), rng.normal(5, 1, (25, 2))])
    found = es.cluster_test(X, clusterer=KMeans(2, n_init=2), **HOW, n_resamples=39, rng=0)
    assert found.pvalue == 1 / 40
    assert "KMeans" in words(found)
    few = es.cluster_test(X, clusterer=lambda t: (t[:, 0] > 2).astype(int) * (t[:, 1] > 2), **HOW, n_resamples=9, rng=0)
    assert few.statistic > few.null_distribution.max()


def test_finds_blocks_of_species_and_not_one_column(rng):
    first = rng.random(40) < 0.5
    counts = rng.poisson(np.where(first[:, None], [5.0] * 4 + [0.5] * 4, [0.5] * 4 + [5.0] * 4))
    result = es.cluster_test(counts, metric="braycurtis", **HOW, n_resamples=39, rng=0)
    assert result.pvalue == 1 / 40
    text = words(result)
    for said in ("the columns are independent", "Correlation in a single cloud", "differ in one column alone",
                  "It is the smallest that so many can give"):  # fmt: skip
        assert said in text
    assert "reference samples" in result.plot().get_legend_handles_labels()[1][0]


@pytest.mark.slow
def test_refused_tables_are_left_out_or_named():
    sparse = np.eye(6)
    sparse[:, 0] = 1.0  # a species that each sample has: nothing is ever refused
    assert "left out" not in es.cluster_test(sparse, metric="braycurtis", **HOW, n_resamples=9, rng=0).summary()
    counts = np.vstack([COUNTS, COUNTS[::-1]])
    result = es.cluster_test(counts, metric="braycurtis", **HOW, n_resamples=9, rng=0)
    assert "permuted tables were left out because data like them would have been refused" in " ".join(result.notes)
    with pytest.raises(
        ValueError, match=r"permutes the columns, and under .*braycurtis.* 10000 such tables .* constant"
    ):
        es.cluster_test(np.eye(12), metric="braycurtis", **HOW, n_resamples=9, rng=0)


X = np.random.default_rng(3).standard_normal((12, 2))


@pytest.mark.parametrize(
    ("data", "how", "error", "message"),
    [
        (X, {"method": "auto"}, ValueError, r'`null="independent"` goes with `method="refit"`, got method=\'auto\''),
        (X, {"method": "split", "null": lambda r: X}, ValueError, r"`null=lambda` goes with `method=\"refit\"`"),
        (X[:, 0], {}, ValueError, r"needs at least two, got 1"),
        (X * [1.0, 0.0], {}, ValueError, r"needs at least two columns that vary: no permutation changes this table"),
        (es.pairwise(X), {"metric": "precomputed"}, ValueError, r"a matrix has no columns.*Give the table"),
        (X, {"null": "independant"}, ValueError, r"`null` must be one of .*Did you mean 'independent'"),
        (X, {"null": 3}, TypeError, r"`null` must be one of .* or a function of a random generator"),
        (X, {"conservative": True}, ValueError, r"`conservative`"),
        (X[:2], {}, ValueError, r"`X` must have at least 3 rows for k=2"),
        (np.repeat(X[:2], 3, axis=0), {"k": 3}, ValueError, r"`k` must be at most the number of distinct points, 2"),
        (X, {"null": lambda r: X[:5]}, ValueError, r"draw 1 .* its shape must be \(12, 2\), got \(5, 2\)"),
        (X, {"null": lambda r: X[:, :1]}, ValueError, r"got \(12, 1\)"),
        (X, {"null": lambda r: np.nan * X}, ValueError, r"draw 1 of lambda cannot: .*finite"),
        (X, {"null": lambda r: "table"}, TypeError, r"draw 1 of lambda cannot"),
        (X, {"null": lambda r: 0 * X}, ValueError, r"draw 1 of lambda cannot: .*distinct"),
        (abs(X), {"null": lambda r: -abs(X), "metric": "braycurtis"}, ValueError, r"draw 1 .*row 0 of the drawn table"),
        (pd.DataFrame(X, columns=["a", "b"]), {"null": lambda r: pd.DataFrame(X, columns=["b", "a"])}, ValueError,
         r"same columns: column 0 is 'a' in X and 'b' in the drawn table"),
    ],
)  # fmt: skip
def test_bad_input(data, how, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.EnergyStatsWarning)
        with pytest.raises(error, match=message):
            es.cluster_test(data, **{**HOW, "n_resamples": 9, "rng": 0, **how})


def test_errors_of_the_model_itself_name_the_draw():
    def broken(r):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        es.cluster_test(X, method="refit", null=broken, n_resamples=9, rng=0)
    assert caught.value.__notes__ == ["`null` broken failed in draw 1."]


def test_a_model_without_a_generator_is_refused_before_anything_is_done():
    for model in (lambda: X, lambda a, b: X):
        with pytest.raises(TypeError, match="`null` must be a function of one argument, a random generator"):
            es.cluster_test(X, method="refit", null=model, n_resamples=9, rng=0)
    es.cluster_test(X, method="refit", null=lambda rng, scale=1.0: scale * rng.random(X.shape), n_resamples=9, rng=0)


def test_a_model_that_returns_the_data_is_said_to_decide_nothing():
    same = es.cluster_test(X, method="refit", null=lambda rng: rng.permutation(X), n_resamples=9, rng=0)
    assert same.pvalue == 1
    assert "All tables drawn have the S/T of the data" in " ".join(same.summary().split())
    other = es.cluster_test(X, method="refit", null=lambda rng: rng.random(X.shape), n_resamples=9, rng=0)
    assert not any("All tables drawn" in note for note in other.notes)


def test_points_that_coincide_are_no_evidence():
    result = es.cluster_test(np.ones((9, 2)), **HOW, rng=0)
    assert (result.pvalue, result.null_hypothesis) == (1.0, "the columns are independent")


# ---------------------------------------------------------------- the gap statistic


def test_gap_against_permuted_columns_and_models(rng):
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
    three = np.repeat(centres, 15, axis=0) + 0.3 * rng.standard_normal((45, 2))
    how = {"n_resamples": 5, "n_init": 2, "rng": 1}
    permuted = es.select_k(three, 5, null="independent", **how)
    assert (permuted.k, permuted.null) == (3, "independent")
    assert "the null hypothesis that the columns are independent" in words(permuted)

    def shuffled(r):
        return r.permuted(three, axis=0)

    modelled = es.select_k(three, 5, null=shuffled, **how)
    assert (modelled.k, modelled.null) == (3, "shuffled")
    table = pd.DataFrame({"a": three[:, 0], "b": np.repeat(list("uvw"), 15)})
    # five references leave errors by chance, by which the rule may go on beyond three
    assert es.select_k(table, 5, null="independent", metric="gower", **how).k >= 3
    for many in (three, np.tile(three, (10, 1))):  # of many points "auto" computes less
        with pytest.raises(ValueError, match=r"draws the reference sets .* computes only with compare=\"all\"\.$"):
            es.select_k(many, 5, "eigengap", null="independent", **how)
    with pytest.raises(ValueError, match=r"a matrix has no columns"):
        es.select_k(es.pairwise(three), 5, null="independent", metric="precomputed", **how)
