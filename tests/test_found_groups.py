"""Labels that a clustering found, in tests that take groups as known beforehand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import energystats as es
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.found_groups import FOUND_GROUPS, _is_k_means, is_local_optimum
from tests import definitions

TESTS = {
    "energy_test": lambda X, g, **how: es.energy_test(X, groups=g, n_resamples=19, rng=0, **how),
    "pairwise_tests": lambda X, g, **how: es.pairwise_tests(X, g, n_resamples=19, rng=0, **how),
    "spread_test": lambda X, g, **how: es.spread_test(X, g, n_resamples=19, rng=0, **how),
    "disco": lambda X, g, **how: es.disco(X, groups=g, n_resamples=19, rng=0, **how),
    "mmd_test": lambda X, g, **how: es.mmd_test(X, groups=g, kernel="distance", n_resamples=19, rng=0, **how),
}
FOUND = {
    "Partition": lambda X: es.energy_cluster(X, 2, rng=0),
    "Series": lambda X: es.energy_cluster(X, 2, rng=0).to_series(),
    "converted Series": lambda X: es.energy_cluster(X, 2, rng=0).to_series().astype(str).astype("category"),
    "KMeans": lambda X: KMeans(2, n_init=2, random_state=0).fit(np.asarray(X)),
    "EnergyClustering": lambda X: es.EnergyClustering(2, random_state=0).fit(X),
}


@pytest.fixture
def cloud(rng):
    return pd.DataFrame(rng.standard_normal((60, 2)), index=[f"row {i}" for i in range(60)])


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", FOUND)
def test_clusters_of_this_package_and_of_fitted_clusterers_are_recognised(cloud, test, kind):
    labels = FOUND[kind](cloud)
    with pytest.warns(es.DoubleDippingWarning, match=r"found from data.*call cluster_test\(X, k\)") as caught:
        result = TESTS[test](cloud, labels)
    assert len(caught) == 1
    assert result.notes == (FOUND_GROUPS,)
    assert "the p-value means nothing" in " ".join(result.summary().split())


@pytest.mark.slow
def test_trees_and_graphs_are_recognised(rng):
    X = np.concatenate((rng.normal(0, 1, (30, 2)), rng.normal(12, 1, (30, 2))))
    cut = es.graph_partition(np.kron(np.eye(2), np.ones((30, 30))) + 0.1 - 1.1 * np.eye(60), 2, rng=rng)
    for labels in (es.cluster_tree(X, rng=rng), cut):
        with pytest.warns(es.DoubleDippingWarning):
            es.energy_test(X, groups=labels, n_resamples=19, rng=rng)


@pytest.mark.parametrize("test", TESTS)
def test_the_rows_of_a_partition_must_be_those_of_the_table(cloud, test):
    found = es.energy_cluster(cloud, 2, rng=0)
    with pytest.raises(ValueError, match="`groups` must have the index of the table"):
        TESTS[test](cloud[::-1], found)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", ["energy", "k-means"])
def test_bare_labels_of_clusters_are_noted_without_a_warning(cloud, test, kind):
    labels = FOUND["Partition"](cloud).labels if kind == "energy" else FOUND["KMeans"](cloud).labels_
    result = TESTS[test](cloud, labels)
    assert len(result.notes) == 1
    assert "are a local optimum of" in result.notes[0]
    assert "if they were found, p means nothing: call cluster_test" in " ".join(result.summary().split())


@pytest.mark.parametrize("test", TESTS)
def test_a_column_keeps_no_mark_but_gets_the_note(cloud, test):
    """Columns of pandas keep no attributes, as README and the page of warnings say."""
    frame = cloud.assign(cluster=es.energy_cluster(cloud, 2, rng=0).to_series())
    assert not frame["cluster"].attrs
    result = TESTS[test](cloud, frame["cluster"])
    assert "are a local optimum of" in result.notes[0]


@pytest.mark.parametrize("test", TESTS)
def test_groups_that_overlap_get_no_note(cloud, test):
    known = np.repeat(["a", "b"], 30)
    assert TESTS[test](cloud + 0.5 * (known == "b")[:, None], known).notes == ()


def test_unfitted_clusterers_are_sent_to_the_test_of_clusters(cloud):
    with pytest.raises(TypeError, match=r"got KMeans that is not fitted; .* `cluster_test\(X, clusterer=...\)`"):
        es.energy_test(cloud, groups=KMeans(2))
    with pytest.raises(TypeError, match="got GaussianMixture that is not fitted"):
        es.energy_test(cloud, groups=GaussianMixture(2))


@pytest.mark.parametrize(
    ("clusterer", "how"),
    [
        (GaussianMixture(2, random_state=0), "predict"),
        (make_pipeline(StandardScaler(), KMeans(2, n_init=1, random_state=0)), "predict"),
        (make_pipeline(StandardScaler(), AgglomerativeClustering(2)), "fit_predict"),
    ],
)
def test_fitted_clusterers_without_labels_say_how_to_get_them(cloud, clusterer, how):
    said = (
        rf"got \w+ that keeps no labels: give those of `.{how}\(X\)`, which are groups found from data; .*`cluster_test"
    )
    with pytest.raises(TypeError, match=said):
        es.energy_test(cloud.to_numpy(), groups=clusterer.fit(cloud.to_numpy()))
    with pytest.raises(TypeError, match=f"`outside` must be one label a row, {said}"):
        es.validate_clusters(cloud.to_numpy(), 2, outside=clusterer)
    assert len(getattr(clusterer, how)(cloud.to_numpy())) == 60


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: es.cluster_test(X, labels=np.arange(60) % 2), TypeError, r"`cluster_test` takes no `labels`"),
        (lambda X: es.cluster_test(X, np.arange(60) % 2), TypeError, r"`k` must be a number of clusters, got labels"),
        (lambda X: es.cluster_test(X, es.energy_cluster(X, 2)), TypeError, r"`k` must be a number of clusters"),
        (lambda X: es.cluster_test(X, method="labels"), ValueError, r'`method` must not be "labels"'),
    ],
)
def test_the_test_of_clusters_permutes_no_labels(cloud, call, error, message):
    with pytest.raises(error, match=message) as raised:
        call(cloud)
    assert "go to `energy_test(X, groups=labels)`" in str(raised.value)
    assert "`cluster_test(X, clusterer=KMeans(3))`" in str(raised.value)


def test_everything_that_takes_labels_takes_a_partition(cloud):
    found = es.energy_cluster(cloud, 2, rng=0)
    assert es.dispersion(cloud, found).within == pytest.approx(found.within)
    assert es.clustering_accuracy(found, found.labels) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a decomposition is no test
        es.dispersion(cloud, found.to_series())


def w_after_best_move(R, labels, w):
    """The lowest W after moving one point to another group that is there, none being emptied."""
    lowest = np.inf
    for i, own in enumerate(labels):
        for other in set(labels) - {own}:
            moved = [*labels[:i], other, *labels[i + 1 :]]
            if own in moved:
                lowest = min(lowest, definitions.within(R, moved, w))
    return lowest


points = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=4, max_size=9)


@pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")
@given(points, st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(["points", "matrix", "line"]))
def test_local_optimum_is_what_no_single_move_improves(drawn, seed, weighted, route):
    rng = np.random.default_rng(seed)
    X = np.array(drawn, dtype=float) + 0.1 * rng.standard_normal((len(drawn), 2))
    X = X[:, :1] if route == "line" else X
    labels = rng.permutation(np.arange(len(X)) % 3).tolist()
    if rng.random() < 0.5:
        labels = es.energy_cluster(X, 3, rng=rng).labels.tolist()
    w = rng.integers(1, 4, len(X)).astype(float) if weighted else None
    R = es.pairwise(X)
    data, metric = (R, "precomputed") if route == "matrix" else (X, "euclidean")
    d = Dissimilarity.from_data(data, metric=metric, alpha=1.0)
    groups = Groups.from_labels(labels, d.n, name="groups")
    weights = [1.0] * len(X) if w is None else w.tolist()
    expected = w_after_best_move(R.tolist(), labels, weights) >= definitions.within(R.tolist(), labels, weights) - 1e-9
    assert is_local_optimum(d, groups, *d.group_sums(groups, w), w) == expected


def test_after_the_first_points_all_others_are_examined(rng):
    """One point of 600 that would move, between those that are examined first."""
    X = np.concatenate((rng.normal(0, 1, (300, 2)), rng.normal(30, 1, (300, 2))))
    labels = np.repeat([0, 1], 300)
    seen = np.linspace(0, 599, 256).astype(int)
    hidden = int(np.setdiff1d(np.arange(600), seen)[5])
    for wrong in (labels, np.where(np.arange(600) == hidden, 1 - labels, labels)):
        d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
        groups = Groups.from_labels(wrong, 600, name="groups")
        assert is_local_optimum(d, groups, *d.group_sums(groups)) == (wrong is labels)


@pytest.mark.parametrize("labels", [np.arange(6), np.zeros(6, int)])
def test_single_points_and_points_at_one_place_are_no_clusters(labels):
    d = Dissimilarity.from_data(np.full((6, 2), 2.0), metric="euclidean", alpha=1.0)
    groups = Groups(labels, tuple(range(labels.max() + 1)))
    assert not is_local_optimum(d, groups, *d.group_sums(groups))
    two = Groups(np.arange(6) % 2, (0, 1))
    assert not is_local_optimum(d, two, *d.group_sums(two))
    assert not _is_k_means(d.points, two, None)


def test_k_means_are_seen_with_an_offset_and_weights(rng):
    X = rng.standard_normal((80, 3)) + 1e6
    w = rng.uniform(0.5, 2, 80)
    found = KMeans(3, n_init=3, random_state=0, tol=0).fit(X - 1e6, sample_weight=w)
    groups = Groups.from_labels(found.labels_, 80, name="groups")
    assert _is_k_means(X, groups, w)
    moved = found.labels_.copy()
    inner = int(np.argmin(found.transform(X - 1e6).min(axis=1)))  # which no other cluster could keep
    moved[inner] = (moved[inner] + 1) % 3
    assert not _is_k_means(X, Groups.from_labels(moved, 80, name="groups"), w)


def test_groups_that_print_alike_are_distinguished_by_the_result(rng):
    """A composed and a decomposed accent, a blank that does not break, letters of other alphabets, another hyphen."""
    X = rng.standard_normal((12, 2))
    unseen = [("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b"), ("a", "a\u200b")]
    for first, second in (*unseen, ("a", "\u0430"), ("H2O", "\u041d2\u041e"), ("A-1", "\u0391\u20111")):
        groups = [first, second, "x"] * 4
        for result in (
            es.energy_test(X, groups=groups, n_resamples=9, rng=0),
            es.disco(X, groups=groups, n_resamples=9, rng=0),
            es.pairwise_tests(X, groups=groups, n_resamples=9, rng=0),
        ):
            assert any("print alike and are two" in note for note in result.notes)
            assert "print alike" in result.summary()
            assert any(ascii(second) in note for note in result.notes)
    assert es.energy_test(X, groups=["a", "b", "A"] * 4, n_resamples=9, rng=0).notes == ()
    assert es.energy_test(X, groups=["\u0430", "\u0431", "b"] * 4, n_resamples=9, rng=0).notes == ()


@pytest.mark.parametrize("word", [np.nan, None, "<NA>", "NaN"])
def test_a_missing_value_that_numpy_made_text_warns(rng, word):
    X = rng.standard_normal((12, 2))
    groups = np.array([word, "a", "b"] * 4, dtype=str)
    with pytest.warns(es.exceptions.MissingValuesWarning, match="in 4 of 12 rows, which is taken for a label"):
        result = es.energy_test(X, groups=groups, n_resamples=9, rng=0)
    assert str(word) in result.labels
    assert f"A group is called {str(word)!r}, which is how a missing value is printed" in " ".join(result.notes)
    with pytest.raises(ValueError, match="must not be missing"):
        es.energy_test(X, groups=[np.nan, "a", "b"] * 4)
    plain = es.energy_test(X, groups=np.array(["nano", "a", "b"] * 4), n_resamples=9, rng=0)
    assert plain.notes == ()


@pytest.mark.parametrize("word", ["Total", "sum", "Grand Total"])
def test_a_group_of_sums_is_noted(rng, word):
    X = rng.standard_normal((9, 2))
    groups = ["a"] * 4 + ["b"] * 4
    found = es.energy_test(X, groups=[*groups, word], n_resamples=19, rng=0)
    assert f"A group is called {word!r}; if its rows are sums of other rows, leave them out." in found.notes
    assert not any("sums" in note for note in es.energy_test(X, groups=[*groups, "t"], n_resamples=19, rng=0).notes)


@pytest.mark.parametrize("argument", ["strata", "whole_plots"])
def test_strata_and_plots_that_print_alike_are_noted(rng, argument):
    x, groups = rng.normal(size=24), ["a"] * 12 + ["b"] * 12
    labels = (
        ["s", "s ", "t", "t"] * 6 if argument == "strata" else [*("s", "s ", "t", "u") * 3, *("v", "w", "y", "z") * 3]
    )
    what = {"strata": "strata", "whole_plots": "whole plots"}[argument]
    how = {"design": es.Design(**{argument: labels}), "n_resamples": 9, "rng": 0}
    results = [
        es.energy_test(x, groups=groups, **how),
        es.mmd_test(x, groups=groups, **how),
        es.pairwise_tests(x, groups, **how),
    ]
    if argument == "strata":
        frame = pd.DataFrame({"x": x, "g": groups, "z": rng.normal(size=24), "s": pd.Series(labels, dtype="category")})
        results += [es.disco(x, groups=groups, **how), es.disco("x ~ g + z", data=frame, **how)]
        how["design"] = es.Design(strata="s")
        results += [es.disco("x ~ g", data=frame, **how), es.disco("x ~ g + z", data=frame, **how)]
    for result in results:
        assert sum(f"The {what} 's' and 's ' print alike and are two" in note for note in result.notes) == 1
        assert "print alike" in " ".join(result.summary().split())


# ---------------------------------------------------------------- columns that say the groups


@pytest.mark.parametrize(
    ("test", "how"), [*((test, {}) for test in TESTS), ("energy_test", {"standardize": True})], ids=str
)
def test_columns_that_say_the_groups_are_noted(cloud, rng, test, how):
    group = np.repeat(["a", "b"], 30)
    table = cloud.set_axis(["x", "y"], axis=1).assign(code=(group == "b") + 1, measured=rng.integers(2, size=60))
    says = "Column 'code' has one value within every group"
    noted = TESTS[test](table, group, **how)
    assert sum(note.startswith(says) for note in noted.notes) == 1
    assert not any(says in note for note in TESTS[test](table.drop(columns="code"), group).notes)
    # few rows a group share a value by chance
    few = es.energy_test(table.iloc[[0, 1, 30, 31]], groups=group[[0, 1, 30, 31]], n_resamples=19, rng=0)
    assert not any(says in note for note in few.notes)


def test_a_constant_column_says_nothing(cloud):
    found = es.energy_test(cloud.assign(one=1.0).rename(columns=str), groups=np.arange(60) % 2, n_resamples=19, rng=0)
    assert not any("one value within" in note for note in found.notes)


def test_columns_of_mixed_tables_and_of_formulas_are_noted(cloud):
    table = cloud.set_axis(["x", "y"], axis=1).assign(g=np.repeat(["a", "b", "c"], 20), h=["p", "q"] * 30)
    mixed = es.energy_test(table, groups=table["h"], metric="gower", n_resamples=19, rng=0)
    assert any(note.startswith("Column 'h' has one value within every group") for note in mixed.notes)
    table["code"] = table["g"].factorize()[0]
    for formula, each in (("x + code ~ g", "every group"), ("x + code ~ g + h", "every value of 'g'")):
        found = es.disco(formula, data=table, n_resamples=19, rng=0)
        assert sum(note.startswith(f"Column 'code' has one value within {each}") for note in found.notes) == 1
    numbers = es.disco(table[["x", "code"]].to_numpy(dtype=float), "~ g + h", data=table, n_resamples=19, rng=0)
    assert any(note.startswith("Column 1 has one value within every value of 'g'") for note in numbers.notes)


def test_outside_labels_that_a_column_repeats_are_noted(cloud):
    labels = np.repeat(["a", "b"], 30)
    table = cloud.set_axis(["x", "y"], axis=1).assign(code=(labels == "b") + 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)  # of the code
        found = es.validate_clusters(table, 2, outside=labels, n_resamples=19, rng=0)
    assert any(
        note.startswith("Column 'code' has one value within every group of the outside labels") for note in found.notes
    )


def test_measurements_as_groups_are_noted(rng):
    x, values = rng.normal(size=(100, 2)), np.repeat(rng.random(50), 2)
    words = "50 of 50 groups have one row or two; if their labels are measurements, they are no groups"
    assert words in " ".join(es.energy_test(x, groups=values, n_resamples=9, rng=0).notes)
    for labels in (np.repeat(np.arange(25), 4), np.repeat(np.arange(10), 10)):
        assert "measurements" not in " ".join(es.energy_test(x, groups=labels, n_resamples=9, rng=0).notes)
