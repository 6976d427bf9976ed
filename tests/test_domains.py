"""Conditions of metrics on data: refused with the row and the cause, by every route; names; small powers."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

import energystats as es
from energystats import cli
from energystats.dissimilarity import Dissimilarity
from energystats.metrics.base import KNOWN_NAMES, SCIPY_NAMES
from energystats.metrics.general import DOMAINS
from energystats.pairs import open_blocks

BOOLEAN = [name for name, domain in DOMAINS.items() if domain.binary]
NO_ZERO_ROW = ["braycurtis", "cosine", "jensenshannon", "dice", "sokalsneath"]
HOW = {"n_resamples": 9, "rng": 0}
NAMES = [f"plot {i}" for i in range(12)]
LABELS = np.repeat(["a", "b"], 6)


@pytest.fixture
def counts(rng):
    """No empty row, no constant one."""
    X = rng.poisson(3.0, (12, 4)).astype(float)
    X[:, 0] = X[:, 1:].max(axis=1) + 3
    return X


@pytest.fixture
def with_empty(counts):
    X = counts.copy()
    X[8] = 0
    return X


def data_for(name, X):
    return (X > 2).astype(float) if name in BOOLEAN else X


ROUTES = {
    "energy_test": lambda X, metric: es.energy_test(X, groups=LABELS, metric=metric, **HOW),
    "samples": lambda X, metric: es.energy_test(X[:6], X[6:], metric=metric, **HOW),
    "several metrics": lambda X, metric: es.energy_test(X, groups=LABELS, metric=["euclidean", metric], **HOW),
    "energy_distance": lambda X, metric: es.energy_distance(X[:6], X[6:], metric=metric),
    "pairwise": lambda X, metric: es.pairwise(X, metric=metric),
    "pairwise with Y": lambda X, metric: es.pairwise(X[:6], X[6:], metric=metric),
    "metric object": lambda X, metric: es.metrics.SciPyMetric(metric)(X),
    "kernel": lambda X, metric: es.metrics.SciPyMetric(metric).kernel(X),
    "cluster": lambda X, metric: es.energy_cluster(X, 2, metric=metric, rng=0),
    "landmarks": lambda X, metric: es.energy_cluster(X, 2, metric=metric, algorithm="landmarks", rng=0),
    "estimator": lambda X, metric: es.EnergyClustering(2, metric=metric, random_state=0).fit(X),
    "predict": lambda X, metric: es.EnergyClustering(2, metric=metric, random_state=0).fit(X[:6]).predict(X[6:]),
    "hclust": lambda X, metric: es.energy_hclust(X, metric=metric),
    "disco": lambda X, metric: es.disco(X, groups=LABELS, metric=metric, **HOW),
    "dispersion": lambda X, metric: es.dispersion(X, LABELS, metric=metric),
    "pairwise_tests": lambda X, metric: es.pairwise_tests(X, LABELS, metric=metric, **HOW),
    "spread_test": lambda X, metric: es.spread_test(X, LABELS, metric=metric, **HOW),
    "segment": lambda X, metric: es.segment(X, 2, metric=metric),
    "segment_test": lambda X, metric: es.segment_test(X, metric=metric, **HOW),
    "power": lambda X, metric: es.energy_power(X[:6], X[6:], [5], metric=metric, n_replicates=1, n_resamples=19, rng=0),
    "goodness": lambda X, metric: es.goodness_of_fit(X, lambda size, rng: rng.random((size, 4)), metric=metric, **HOW),
    "select_k": lambda X, metric: es.select_k(X, 3, "eigengap", metric=metric, rng=0),
}


@pytest.mark.parametrize("route", ROUTES)
def test_an_empty_row_is_named_by_every_route(route, with_empty):
    with pytest.raises(
        ValueError, match=r'metric="cosine" has no value for rows of zeros, but row [82] .*is all zeros'
    ):
        ROUTES[route](with_empty, "cosine")


@pytest.mark.parametrize("route", ROUTES)
def test_negative_numbers_are_no_counts_by_any_route(route, counts):
    counts[8, 2] = -0.5
    with pytest.raises(
        ValueError, match=r"compares counts or amounts and needs numbers that are not negative, but row [82]"
    ):
        ROUTES[route](counts, "jensenshannon")


@pytest.mark.parametrize("name", NO_ZERO_ROW)
def test_rows_of_zeros(name, with_empty, counts):
    X = data_for(name, with_empty)
    with pytest.raises(ValueError, match=rf'metric="{name}" has no value for rows of zeros, but row 8 of `X` is all'):
        es.pairwise(X, metric=name)
    assert np.isfinite(es.pairwise(data_for(name, counts), metric=name)).all()


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e9 + 0.1])
def test_constant_rows_have_no_correlation(value, rng):
    """SciPy gives 1.0 for (0.1, 0.1, 0.1): its mean is not 0.1."""
    X = rng.standard_normal((5, 3))
    X[3] = value
    with pytest.raises(ValueError, match=r"no value for constant rows, but row 3 of `X` has the same value in all col"):
        es.pairwise(X, metric="correlation")
    with pytest.raises(ValueError, match="with one column every row is"):
        es.pairwise(X[:, :1], metric="correlation")


def test_no_named_metric_gives_nan_or_infinity(rng):
    """Whatever the numbers: a finite matrix, or a refusal with a row."""
    said = []
    for name in KNOWN_NAMES:
        if name in ("precomputed", "mahalanobis", "seuclidean"):
            continue
        for X in (rng.integers(0, 2, (9, 2)), rng.integers(-2, 3, (9, 3)), np.zeros((4, 2)), rng.random((5, 1))):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", es.EnergyStatsWarning)  # of rows of zeros
                    R = es.pairwise(X, metric=name)
            except ValueError as error:
                said.append(str(error))
            else:
                assert np.isfinite(R).all()
    assert said
    assert all("but row " in text for text in said), said


@pytest.mark.parametrize("name", ["cosine", "correlation"])
def test_rows_of_tiny_numbers_keep_their_digits(name, rng):
    X = rng.random((6, 4))
    tiny = X.copy()
    tiny[::2] = np.ldexp(X[::2], -535)  # whose squares underflow
    assert_array_equal(es.pairwise(tiny, metric=name), es.pairwise(X, metric=name))


@pytest.mark.parametrize(
    "name", ["aitchison", "chi2", "chord", "correlation", "cosine", "hellinger", "jensenshannon", "kulczynski"]
)
def test_metrics_without_a_unit_take_tiny_ones(name, rng):
    """Two proportional rows at the ends of the widest column are no sign that rho vanishes."""
    X = rng.random((12, 4)) + 0.1
    X[0] = [0.005, 0.006, 0.007, 0.008]
    X[1] = 1000 * X[0]
    tiny = es.dispersion(np.ldexp(X, -600), LABELS, metric=name)
    assert tiny.within == pytest.approx(es.dispersion(X, LABELS, metric=name).within, rel=1e-9)


def test_what_is_added_to_tiny_numbers_hides_them(rng):
    with pytest.raises(ValueError, match="must lie further apart"):
        es.dispersion(np.ldexp(rng.random((12, 3)), -600), LABELS, metric=es.metrics.Aitchison(pseudocount=1))


def test_rows_have_their_names_and_their_sample(with_empty, counts):
    frame = pd.DataFrame(with_empty, index=NAMES, columns=list("wxyz"))
    match = r"row 'plot 8' \(number 8\) of `X` is all zeros"
    with pytest.raises(ValueError, match=match):
        es.energy_cluster(frame, 2, metric="bray", rng=0)
    with pytest.raises(ValueError, match=match):
        es.EnergyClustering(2, metric="bray", random_state=0).fit(frame)
    model = es.EnergyClustering(2, metric="bray", random_state=0).fit(frame.drop(index="plot 8"))
    with pytest.raises(ValueError, match=match):
        model.predict(frame)
    with pytest.raises(ValueError, match="row 8 of sample 2 is all zeros"):
        es.energy_test(counts, with_empty, metric="bray", **HOW)
    with pytest.raises(ValueError, match=r"row 'plot 8' \(number 8\) of `Y`"):
        es.pairwise(counts, frame, metric="cosine")
    with pytest.raises(ValueError, match=r"row 'plot 8' \(number 8\) of `data`"):
        es.disco("w + x + y + z ~ g", data=frame.assign(g=LABELS), metric="bray", **HOW)
    frame.loc["plot 8", "x"] = -2
    with pytest.raises(ValueError, match=r"row 'plot 8' .* has -2 in column x"):
        es.energy_cluster(frame, 2, metric="bray", rng=0)


def test_rows_left_out_do_not_shift_the_numbers(with_empty):
    with pytest.raises(ValueError, match="row 8 of `X` is all zeros"):
        es.EnergyClustering(2, metric="bray", random_state=0).fit(with_empty, sample_weight=[0, 0] + [1] * 10)
    gaps = with_empty.copy()
    gaps[1, 1] = np.nan
    with pytest.warns(es.MissingValuesWarning), pytest.raises(ValueError, match="row 8 of `X` is all zeros"):
        es.disco(gaps, groups=LABELS, metric="bray", missing="drop", **HOW)


def test_goodness_of_fit_takes_truth_values(counts):
    present = counts > 2

    def draw(size, rng):
        return rng.integers(0, 2, (size, 4)).astype(float)

    found = [es.goodness_of_fit(X, draw, metric="jaccard", **HOW).statistic for X in (present, present * 1.0)]
    assert found[0] == found[1]


def test_rows_in_blocks(with_empty, counts, tmp_path, monkeypatch):
    monkeypatch.setattr(open_blocks, "IN_MEMORY", 10)
    maps = {}
    for name, X in {"empty": with_empty, "fine": counts, "present": (counts > 2) * 1.0}.items():
        np.save(tmp_path / f"{name}.npy", X)
        maps[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    pd.DataFrame(with_empty, columns=list("wxyz")).to_parquet(tmp_path / "empty.parquet")
    for table in (maps["empty"], tmp_path / "empty.parquet"):
        with pytest.raises(ValueError, match="row 8 of `X` is all zeros"):
            es.energy_test(table, groups=LABELS, metric="bray", **HOW)
        with pytest.raises(ValueError, match=r"standardize=True does not go with metric=.braycurtis"):
            es.energy_test(table, groups=LABELS, metric="bray", standardize=True, **HOW)
    model = es.EnergyClustering(2, metric="jensenshannon", algorithm="landmarks", random_state=0).fit(maps["fine"])
    with pytest.raises(ValueError, match="row 8 of `X` is all zeros"):
        model.predict(maps["empty"])
    for name, key in (("jaccard", "present"), ("bray", "fine")):
        found = es.energy_test(maps[key], groups=LABELS, metric=name, **HOW)
        assert_allclose(
            found.statistic,
            es.energy_test(np.array(maps[key]), groups=LABELS, metric=name, **HOW).statistic,
            rtol=1e-12,
        )


@pytest.mark.parametrize("name", ["braycurtis", "canberra", "jensenshannon", *BOOLEAN])
def test_z_scores_are_refused_where_they_have_no_meaning(name, counts):
    X = data_for(name, counts)
    for call in (
        lambda: es.energy_test(X, groups=LABELS, metric=name, standardize=True, **HOW),
        lambda: es.EnergyClustering(2, metric=name, standardize=True, random_state=0).fit(X),
        lambda: es.energy_test(X, groups=LABELS, metric=["euclidean", name], standardize=True, **HOW),
    ):
        with pytest.raises(ValueError, match=f'standardize=True does not go with metric="{name}"'):
            call()


def test_z_scores_may_leave_a_row_of_zeros(rng):
    X = rng.random((6, 3))
    X[5] = X[:5].mean(axis=0)
    X = np.round(X * 1024) / 1024
    X[5] = X[:5].sum(axis=0) / 5
    model = es.EnergyClustering(2, metric="cosine", standardize=True, random_state=0)
    model.fit(X[:5])
    center = np.asarray(model.partition_.standardization.center)
    with pytest.raises(ValueError, match="row 0 of `X`, once the columns are standardized, is all zeros"):
        model.predict(center[None])


@pytest.mark.parametrize("name", [n for n in SCIPY_NAMES if n != "mahalanobis"])
def test_advice_of_scales_is_given_where_it_makes_sense(name, counts):
    X = data_for(name, counts)
    if name not in BOOLEAN:
        X = X * [1, 1, 1, 1e4]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        es.dispersion(X, LABELS, metric=name)
    warned = any(w.category is es.ColumnScaleWarning for w in caught)
    assert warned == (name in ("chebyshev", "cityblock", "euclidean", "minkowski", "sqeuclidean"))


@pytest.mark.parametrize(
    ("name", "weight", "others"),
    [("cityblock", 1e-4, {}), ("euclidean", 1e-8, {}), ("sqeuclidean", 1e-8, {}), ("minkowski", 1e-12, {"p": 3})],
)
@pytest.mark.parametrize("in_blocks", [False, True])
def test_advice_of_scales_is_about_weighted_columns(name, weight, others, in_blocks, counts, tmp_path, monkeypatch):
    monkeypatch.setattr("energystats.pairs.open_blocks.IN_MEMORY", 0 if in_blocks else 2**26)

    def told(X, w):
        pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "t.parquet", index=False)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            metric = es.metrics.SciPyMetric(name, params={"w": w, **others})
            es.dispersion(tmp_path / "t.parquet", LABELS, metric=metric)
        return [str(w.message) for w in caught if w.category is es.ColumnScaleWarning]

    wide = counts * [1, 1, 1, 1e4]
    assert told(wide, [1, 1, 1, weight]) == told(wide, [1, 1, 1, 0]) == []
    (alike,) = told(wide, [2, 2, 2, 2])
    assert "Column d has a standard deviation" in alike
    (weighted,) = told(counts, [1, 1, 1, 1 / weight])
    assert weighted.startswith("Column d has a weighted standard deviation")
    assert "use standardize=True, or other weights, unless this is meant." in weighted


def test_advice_names_what_the_function_has(counts):
    X = counts * [1, 1, 1, 1e4]
    with pytest.warns(es.ColumnScaleWarning, match="divide the columns by their standard deviations first"):
        es.pairwise(X)
    with pytest.warns(es.ColumnScaleWarning, match="use standardize=True"):
        es.dispersion(X, LABELS)
    with pytest.raises(ValueError, match=r"multiply the data by a constant first[.]$"):
        es.pairwise(counts * 1e-140, metric="sqeuclidean", alpha=2)
    es.dispersion(X, LABELS, metric=lambda X, Y: np.abs(X[:, None] - Y[None]).sum(axis=2) / 2)  # nothing is known of it


@pytest.mark.parametrize("name", [*BOOLEAN, "hamming", "matching"])
def test_truth_values_are_0_and_1(name, counts):
    present = counts > 2
    present[:, 0] = True
    expected = es.pairwise(present.astype(float), metric=name)
    frame = pd.DataFrame(present, columns=list("wxyz"))
    mixed = frame.assign(x=frame["x"].astype(int))
    for table in (present, present.tolist(), frame, frame.astype("boolean"), mixed, np.ma.masked_array(present)):
        assert_array_equal(es.pairwise(table, metric=name), expected)
    if name != "russellrao":  # which is not 0 from a row to itself
        assert_array_equal(es.pairwise(present[:4], frame, metric=name), expected[:4])
    S = es.disco(present.astype(float), groups=LABELS, metric=name, **HOW).to_frame(full=True)
    pd.testing.assert_frame_equal(es.disco(frame, groups=LABELS, metric=name, **HOW).to_frame(full=True), S)
    data = frame.assign(g=LABELS)
    formula = es.disco("w + x + y + z ~ g", data=data, metric=name, **HOW)
    assert_allclose(formula.total, es.disco(frame, groups=LABELS, metric=name, **HOW).total, rtol=1e-12)
    missing = frame.astype("boolean")
    missing.iloc[2, 1] = pd.NA
    with pytest.raises(ValueError, match="`X` must be finite, but has 1 NaN"):
        es.pairwise(missing, metric=name)
    with pytest.raises(TypeError, match="must hold real numbers"):
        es.pairwise(present)


@pytest.mark.parametrize("name", BOOLEAN)
@pytest.mark.parametrize("value", [0.5, 2.0, -1.0])
def test_other_numbers_are_no_presences(name, value, counts):
    X = (counts > 2).astype(float)
    X[7, 1] = value
    with pytest.raises(
        ValueError, match=rf"0 and 1 or of truth values, such as X > 0, but row 7 of `X` has {value:g} in"
    ):
        es.pairwise(X, metric=name)


@pytest.mark.parametrize(
    ("typed", "name"),
    {
        "manhattan": "cityblock",
        "Manhattan": "cityblock",
        "L1": "cityblock",
        "taxicab": "cityblock",
        "city-block": "cityblock",
        "l2": "euclidean",
        "Euclidean": "euclidean",
        "euclidean distance": "euclidean",
        "squared euclidean": "sqeuclidean",
        "maximum": "chebyshev",
        "supremum": "chebyshev",
        "chebychev": "chebyshev",
        "bray": "braycurtis",
        "Bray-Curtis": "braycurtis",
        "bray_curtis": "braycurtis",
        "binary": "jaccard",
        "matching": "hamming",
        "sorensen": "dice",
        "correlation distance": "correlation",
        "Gower's": "gower",
    }.items(),
)
def test_names_of_others(typed, name):
    assert es.metrics.resolve(typed, 1.0) == es.metrics.resolve(name, 1.0)
    if name in SCIPY_NAMES:
        assert es.metrics.SciPyMetric(typed) == es.metrics.SciPyMetric(name)


def test_names_count_for_options_that_depend_on_them(counts, rng):
    R = es.pairwise(counts)
    model = es.EnergyClustering(2, metric="Precomputed", random_state=0).fit(R)
    assert model.__sklearn_tags__().input_tags.pairwise
    table = pd.DataFrame({"x": counts[:, 0], "kind": LABELS})
    found = es.EnergyClustering(2, metric="Gower", random_state=0).fit(table)
    assert_array_equal(found.labels_, es.EnergyClustering(2, metric="gower", random_state=0).fit(table).labels_)
    squares = es.pairwise(rng.standard_normal((25, 2)), alpha=2)
    tests = [es.cluster_test(squares, 2, metric=name, alpha=2, **HOW) for name in ("precomputed", "Precomputed")]
    assert tests[0].pvalue == tests[1].pvalue


SAME = {  # vegan 2.6-4 in R 4.2.2: vegdist(matrix(c(5,1,3,2, 1,4,2,6, 7,2,9,1), 3, byrow = TRUE), name)
    "manhattan": (12.0, 10.0, 20.0),
    "bray": (0.5, 1 / 3, 0.625),
    "gower": (0.652380952380952, 0.430952380952381, 0.916666666666667),
    "maximum": (4.0, 6.0, 7.0),  # of dist
    "hellinger": (0.549986995566357, 0.267224364617947, 0.672125441727888),
    "chord": (0.924493064681180, 0.425233927023244, 1.053953870682299),
    "chisq": (1.085169674029825, 0.479137762680929, 1.282903367278010),
    "aitchison": (2.41417222075865, 1.32898519780494, 3.08331393944880),
}
TABLE = np.array([[5.0, 1, 3, 2], [1, 4, 2, 6], [7, 2, 9, 1]])


@pytest.mark.parametrize("name", SAME)
def test_names_of_r_give_the_numbers_of_r(name):
    assert_allclose(squareform(es.pairwise(TABLE, metric=name)), SAME[name], rtol=1e-12)


def test_jaccard_of_vegan_is_named(counts):
    with pytest.raises(ValueError, match=r"or metric=.ruzicka. for amounts, which is vegan's"):
        es.pairwise(counts, metric="jaccard")
    found = squareform(es.pairwise(TABLE, metric=es.metrics.Jaccard(quantitative=True)))
    assert_allclose(found, [2 / 3, 0.5, 0.769230769230769], rtol=1e-12)  # vegdist(X, "jaccard")


@pytest.mark.parametrize(
    ("typed", "match"),
    [
        ("horn", r'with metric="precomputed", in R vegdist\(X, "horn"\) of vegan'),
        ("robust.aitchison", r'vegdist\(X, "robust.aitchison"\)'),
        ("sokalmichener", "simple matching"),
        ("pearson", "1 - r"),
        ("rbf", 'metric="gaussian"'),
        ("Morisita-Horn", r'vegdist\(X, "horn"\) of vegan'),
        ("simpson", r'betadiver\(X, "sim"\) of vegan'),
        ("haversine", "way on a sphere"),
        ("dtw", "series of unlike lengths"),
        ("UniFrac", "needs a tree of the species"),
        ("levenshtein distance", "compares texts"),
        ("nan_euclidean", 'missing values go with metric="gower" alone'),
        ("manhatan", "Did you mean 'manhattan'"),
        ("", "must be one of aitchison, braycurtis"),
    ],
)
def test_other_names_say_what_to_do(typed, match):
    with pytest.raises(ValueError, match=match):
        es.metrics.resolve(typed, 1.0)


def test_tiny_powers_are_refused(counts):
    R = es.pairwise(counts)
    for call in (
        lambda: es.pairwise(counts, alpha=9e-4),
        lambda: es.energy_test(counts, groups=LABELS, alpha=[1, 1e-9], **HOW),
        lambda: es.metrics.Euclidean(1e-5),
        lambda: es.metrics.SciPyMetric("cityblock", 1e-5),
        lambda: es.metrics.Gower(1e-5),
        lambda: es.cluster_1d(counts[:, 0], 2, alpha=1e-5),
        lambda: es.cluster_test(R, 2, metric="precomputed", alpha=1e-6, **HOW),
        lambda: es.cluster_tree(counts, alpha=1e-6, **HOW),
        lambda: es.EnergyClustering(2, alpha=1e-4).fit(counts),
    ):
        with pytest.raises(ValueError, match=r"`alpha` must be at least 0.001, got"):
            call()
    assert np.isfinite(es.pairwise(counts, alpha=1e-3)).all()


def test_a_matrix_taken_as_points_is_named(counts):
    R = es.pairwise(counts)
    for call in (
        lambda: es.energy_test(R, groups=LABELS, **HOW),
        lambda: es.energy_cluster(pd.DataFrame(R), 2, rng=0),
        lambda: es.EnergyClustering(2, random_state=0).fit(R),
        lambda: es.dispersion(R, LABELS, metric="cityblock"),
    ):
        with pytest.warns(
            es.MatrixAsPointsWarning, match=r"`X` is symmetric with a zero diagonal \(12 x 12\).*precomp"
        ):
            call()
    with pytest.warns(es.MatrixAsPointsWarning, match="`sample 1` is symmetric"):
        es.energy_distance(R, counts[:, [0] * 12])
    for triangle in (np.tril(R), np.triu(R)):
        with pytest.warns(es.MatrixAsPointsWarning, match=r"`X` is 12 x 12 with zeros .* one triangle .*`X \+ X.T`"):
            es.energy_cluster(triangle, 2, rng=0)
    shifted = R + 1.0  # no zero diagonal; rows in another order are not symmetric; booleans may be links
    es.dispersion(shifted, LABELS)
    es.dispersion(R[::-1], LABELS)
    es.dispersion(np.round(R / R.max()), LABELS, metric="jaccard")
    es.dispersion(R, LABELS, metric="precomputed")


@pytest.mark.parametrize("mixed", [False, True])
def test_a_matrix_that_is_split_into_samples_is_named(counts, rng, mixed):
    order = rng.permutation(12) if mixed else np.arange(12)  # rows by groups, columns as they were
    x, y, z = np.split(es.pairwise(counts + np.arange(12.0)[:, None] / 13)[order], [5, 8])  # no two rows coincide
    yz = np.concatenate((y, z))
    for call in (
        lambda: es.energy_test(x, y, z, **HOW),
        lambda: es.energy_test(x, pd.DataFrame(yz), method="sliced", **HOW),
        lambda: es.energy_distance(x, yz),
        lambda: es.mmd2(x, yz),
        lambda: es.mmd_test(x, yz, **HOW),
        lambda: es.energy_power(x, yz, 5, n_replicates=2, n_resamples=19, rng=0),
    ):
        with pytest.warns(es.MatrixAsPointsWarning, match=r"rows of the samples .*\(12 x 12\).*`groups=`") as caught:
            call()
        assert len(caught) == 1
    es.energy_distance(x + 1.0, yz)  # no zero diagonal
    es.energy_distance(x[:, ::-1], rng.permuted(yz, axis=1))  # not symmetric


def test_proportional_rows_have_no_jensen_shannon_distance(rng):
    X = rng.random((40, 1)) * rng.random(3)
    assert es.pairwise(X, metric="jensenshannon").max() < 1e-7
    assert es.pairwise(X[:, :1], metric="jensenshannon").max() < 1e-7


# ---------------------------------------------------------------- command line


def run(capsys, *words):
    """Exit status, standard output and standard error."""
    status = cli.main([*words, "--resamples", "9"])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def files(counts, with_empty, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = list("wxyz")
    pd.DataFrame(counts, columns=names).assign(g=LABELS).to_csv("counts.csv", index=False)
    pd.DataFrame(with_empty, columns=names).assign(g=LABELS).to_csv("empty.csv", index=False)
    pd.DataFrame(counts > 2, columns=names).assign(g=LABELS).to_csv("present.csv", index=False)
    R = es.pairwise(counts)
    pd.DataFrame(R, columns=NAMES).assign(g=LABELS).to_csv("matrix.csv", index=False)
    pd.DataFrame(R, columns=NAMES, index=range(1, 13)).to_csv("numbered.csv")
    return counts


@pytest.mark.parametrize(
    "words",
    [
        ("test", "empty.csv", "--group", "g"),
        ("test", "empty.csv", "--group", "g", "--rows", "3:"),
        ("cluster", "empty.csv"),
        ("disco", "w + x + y + z ~ g", "empty.csv"),
        ("disco", "w + x + y + z ~ g", "empty.csv", "--rows", "3:"),
    ],
)
def test_command_line_names_the_row_and_its_line(files, capsys, words):
    status, out, err = run(capsys, *words, "--metric", "bray")
    assert (status, out) == (2, "")
    assert "--metric braycurtis has no value for rows of zeros, but row 9 (line 10) is all zeros;" in err


def test_command_line_refuses_before_it_prints(files, capsys):
    for words, piece in (
        (("--metric", "bray", "--standardize"), "--standardize does not go with --metric braycurtis"),
        (("--metric", "horn"), "got 'horn': it is not built in"),
        (("--alpha", "1e-5"), "--alpha must be at least 0.001, got 1e-05"),
    ):
        status, out, err = run(capsys, "test", "counts.csv", "--group", "g", *words)
        assert (status, out) == (2, "")
        assert piece in err


def test_command_line_takes_names_and_truth_values(files, capsys):
    for typed, name, file in (("manhattan", "cityblock", "counts.csv"), ("binary", "jaccard", "present.csv")):
        X = files > 2 if name == "jaccard" else files
        status, out, _ = run(capsys, "test", file, "--group", "g", "--metric", typed, "--json")
        assert status == 0
        assert json.loads(out)["test"]["statistic"] == pytest.approx(
            es.energy_test(X, groups=LABELS, metric=name, **HOW).statistic, rel=1e-12
        )
    assert run(capsys, "disco", "w + x ~ g", "present.csv", "--metric", "jaccard")[0] == 0


def test_command_line_asks_what_a_triangle_is(tmp_path, counts, capsys):
    R = pd.DataFrame(np.tril(es.pairwise(counts)), columns=[f"s{i}" for i in range(12)])
    R.to_csv(tmp_path / "triangle.csv", index=False)
    status, out, err = run(capsys, "cluster", str(tmp_path / "triangle.csv"))
    assert (status, out) == (2, "")
    assert "as one triangle of a matrix of dissimilarities is. For --metric precomputed write the whole matrix" in err
    assert run(capsys, "cluster", str(tmp_path / "triangle.csv"), "--coordinates", "-k", "2")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("test", "matrix.csv", "--group", "g"),
        ("test", "matrix.csv", "--group", "g", "--rows", "3:9"),
        ("cluster", "matrix.csv"),
        ("cluster", "numbered.csv"),
    ],
)
def test_command_line_asks_what_a_matrix_is(files, capsys, words):
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert "columns and rows form a symmetric matrix with a zero diagonal" in err
    assert "--metric precomputed" in err
    status, _, err = run(capsys, *words, "--coordinates")
    assert status == 0
    assert "symmetric" not in err


def test_a_row_is_zero_from_itself_on_every_route(rng):
    """russellrao is not, by its formula; neither is a row of absences alone under Gower."""
    X = (rng.random((60, 6)) < 0.5).astype(int)
    X[X.sum(axis=1) == 0, 0] = 1
    R = es.pairwise(X, metric="russellrao")
    found, expected = (es.segment_test(D, metric=m, rng=0) for D, m in ((X, "russellrao"), (R, "precomputed")))
    assert found.pvalue == expected.pvalue
    assert found.tests[0].between == pytest.approx(expected.tests[0].between)
    d = Dissimilarity.from_data(X, metric="russellrao", alpha=1.0)
    rows, columns = np.array([5, 2, 9]), np.array([9, 1, 5, 2])
    assert_allclose(d.rho(rows, columns), R[np.ix_(rows, columns)])
    absent = pd.DataFrame(rng.random((30, 4)) < 0.5, columns=list("abcd"))
    absent.loc[:, "a"] |= ~absent.any(axis=1)
    absent.loc[7] = False
    gower = es.metrics.Gower(asymmetric=list("abcd"))
    assert 0 < es.energy_test(absent, groups=np.repeat([0, 1], 15), metric=gower, n_resamples=19, rng=0).pvalue <= 1


@pytest.mark.parametrize(
    "metric",
    ["jaccard", "ruzicka", "canberra", "yule", es.metrics.Jaccard(), es.metrics.Canberra(scaled=True)],
    ids=str,
)
def test_rows_of_zeros_that_are_equal_by_convention_are_named(metric):
    """R's vegdist has NaN for two empty sites, and a warning; here they were equal without a word."""
    X = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0]])
    with pytest.warns(es.EnergyStatsWarning, match=r"^3 of 5 rows are all zeros\..* equal, by convention"):
        assert es.pairwise(X, metric=metric)[0, 3] == 0
    with pytest.warns(es.EnergyStatsWarning, match="^2 of 4 rows are all zeros"):
        es.energy_test(X[:2], X[2:4], metric=metric, n_resamples=9, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.pairwise(X[:3], metric=metric)  # one differs from all others
        es.pairwise(X, metric="cityblock")
