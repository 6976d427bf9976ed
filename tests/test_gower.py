"""Gower's coefficient: the formula, R's daisy, what is known of it, and every function that takes mixed tables."""

import html
import json
import pickle
import re
import tracemalloc
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.spatial.distance import squareform
from sklearn.utils.estimator_checks import parametrize_with_checks

import energystats as es
from energystats import cli
from energystats._core import distance_loops as gower
from energystats._core import gower as mixed
from energystats.clustering.seeding import count_distinct
from energystats.pairs import tiles as pairs
from energystats.report import pictures
from tests import definitions
from tests.conftest import examples, sweep

mpl.use("Agg")
Gower = es.metrics.Gower


def rho_of(*tables, **how):
    """The matrix without the names of its rows."""
    return np.asarray(es.pairwise(*tables, **how))


RECORD = json.loads((Path(__file__).parent / "oracles_gower" / "daisy.json").read_text())
SIZES = ["small", "middle", "large"]
G = np.repeat(["a", "b"], 30)
ODD_AND_EVEN = es.Design(strata=np.arange(60) % 2)


def make_table(rng, n=60, missing=0.0):
    """Two numeric columns, an ordered one, text and truth values."""
    table = pd.DataFrame(
        {
            "length": rng.normal(100, 20, n),
            "count": rng.poisson(4, n),
            "size": pd.Categorical(rng.choice(SIZES, n), categories=SIZES, ordered=True),
            "colour": rng.choice(["red", "green", "blue"], n),
            "wears": rng.random(n) < 0.4,
        }
    )
    table.loc[n // 2 :, "length"] += 25
    table.loc[n // 2 :, "colour"] = rng.choice(["red", "green"], n - n // 2)
    for name in ("length", "size", "colour"):
        table[name] = table[name].mask(rng.random(n) < missing)
    return table


def as_rows(table, asymmetric=(), weights=None):
    """Rows of plain values and (kind, range, weight) of the columns, for the definition."""
    columns, kinds = [], []
    for name, column in table.items():
        kind = "categorical"
        values = [None if pd.isna(v) else v for v in column]
        if name in asymmetric:
            kind = "asymmetric"
        elif isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            kind = "ordered"
            values = [None if v is None else list(column.cat.categories).index(v) for v in values]
        elif column.dtype.kind in "if":
            kind = "numeric"
        width = 0
        if kind in ("numeric", "ordered"):
            known = [v for v in values if v is not None]
            width = max(known) - min(known)
        columns.append(values)
        kinds.append((kind, width, 1 if weights is None else weights.get(name, 1)))
    return list(zip(*columns, strict=True)), kinds


def by_definition(table, alpha=1, **how):
    rows, kinds = as_rows(table, **how)
    n = len(rows)
    d = [[0 if i == j else definitions.gower_distance(rows[i], rows[j], kinds) for j in range(n)] for i in range(n)]
    return np.array(d, dtype=float) ** alpha


def smallest_eigenvalue(R):
    """Compute the smallest eigenvalue of the centred Gram matrix, as a share of the largest."""
    J = np.eye(len(R)) - 1 / len(R)
    values = np.linalg.eigvalsh(-0.5 * J @ R @ J)
    return values[0] / max(values[-1], 1e-300)


# ---------------------------------------------------------------- the coefficient


def oracle_column(column):
    if column["kind"] == "numeric":
        return pd.Series(column["values"], dtype=float)
    if column["kind"] == "boolean":
        return pd.Series(column["values"], dtype="boolean")
    return pd.Categorical(column["values"], categories=column["levels"], ordered=column["kind"] == "ordered")


def oracle_case(name):
    case = RECORD["cases"][name]
    table = pd.DataFrame({label: oracle_column(column) for label, column in case["columns"].items()})
    return case, table, Gower(asymmetric=case["asymmetric"], weights=case["weights"] or None)


@pytest.mark.parametrize("name", [name for name in RECORD["cases"] if name != "apart"])
def test_daisy(name):
    """The values of R's cluster::daisy."""
    case, table, metric = oracle_case(name)
    assert_allclose(rho_of(table, metric=metric), squareform(case["d"]), rtol=1e-12, atol=1e-14)
    assert len(set(case["d"])) > 20, "a table without differences proves nothing"


def test_where_daisy_has_no_value_we_have_an_error():
    case, table, metric = oracle_case("apart")
    d = squareform(np.array(case["d"], dtype=float), checks=False)
    assert np.argwhere(np.isnan(d)).tolist() == [[0, 2], [2, 0]]
    with pytest.raises(ValueError, match="row 0 of `X` has none in common with row 2 of `X`; drop one of them"):
        rho_of(table, metric=metric)
    (points,), coded = metric.read((table,), ("X",))
    assert_allclose(coded.fitted(points).between(points, points), d, rtol=1e-12, atol=1e-14)


def test_daisy_kept_its_calls_and_versions():
    assert RECORD["cluster"]
    assert RECORD["R"].startswith("R version")
    assert all(case["call"].startswith("daisy(") for case in RECORD["cases"].values())


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [1.0, 0.5, 2.0])
def test_the_formula(alpha, missing, rng):
    table = make_table(rng, 25, missing)
    weights = {"colour": 2.5, "size": 0.25}
    metric = Gower(alpha, asymmetric=["wears"], weights=weights)
    expected = by_definition(table, alpha, asymmetric=["wears"], weights=weights)
    assert_allclose(rho_of(table, metric=metric), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(rho_of(table, metric="gower", alpha=alpha), by_definition(table, alpha), rtol=1e-12, atol=1e-14)
    in_order = [1, 1, 0.25, 2.5, 1]
    assert_allclose(metric(table), Gower(alpha, asymmetric=["wears"], weights=in_order)(table), rtol=1e-14)


def test_the_compiled_loop_is_the_plain_one(rng):
    """To the last digit, so that results do not depend on which one ran."""
    n, m = 40, 2600
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 2, n)])
    Y = np.column_stack([rng.normal(size=m), rng.integers(0, 3, m), rng.integers(0, 3, m), rng.integers(0, 2, m)])
    X[rng.random(X.shape) < 0.3] = np.nan
    Y[rng.random(Y.shape) < 0.3] = np.nan
    X[0], Y[0] = (1.0, np.nan, np.nan, np.nan), (np.nan, 1.0, 1.0, 1.0)
    how = np.array([mixed.GRADED, mixed.GRADED, mixed.MATCHED, mixed.PRESENCE])
    weights, ranges = rng.random(4), rng.random(4)
    assert n * m >= mixed.COMPILED_FROM
    compiled = mixed.gower_between(X, Y, ranges, weights, how)
    plain = np.vstack([mixed.gower_between(X[i : i + 1], Y, ranges, weights, how) for i in range(n)])
    assert m < mixed.COMPILED_FROM
    assert_array_equal(compiled, plain)
    assert np.isnan(compiled[0, 0])
    uncompiled = np.empty((3, 50))
    gower.fill_gower.py_func(X[:3], Y[:50].T, ranges, weights, how, uncompiled, np.empty(50))
    assert_array_equal(uncompiled, plain[:3, :50])


def test_constant_columns_agree_and_widen_later(rng):
    """A column without range has s = 1, as in daisy; a later row that differs there does not match."""
    table = pd.DataFrame({"x": [0.0, 1.0, 4.0], "same": [7, 7, 7]})
    assert_allclose(rho_of(table, metric="gower")[0], [0, 1 / 8, 1 / 2])
    later = pd.DataFrame({"x": [8.0], "same": [9]})
    assert_allclose(rho_of(table, later, metric="gower")[:, 0], [(2 + 1) / 2, (7 / 4 + 1) / 2, (1 + 1) / 2])


def test_two_absences_of_one_row_are_no_hindrance():
    present = np.array([[True, True], [False, False], [True, False]])
    metric = Gower(asymmetric=["0", "1"])
    assert_allclose(metric(present), [[0, 1, 0.5], [1, 0, 1], [0.5, 1, 0]])
    always = pd.DataFrame({"p": [1, 1, 1], "x": [0.0, 1.0, 2.0]})  # daisy takes presence in all rows for absence
    assert_allclose(Gower(asymmetric=["p"])(always)[0], [0, 0.25, 0.5])
    with pytest.raises(ValueError, match=r"but rows 0 and 2 have none in common"):
        metric(present[[1, 0, 1]])


def test_rows_are_their_own_where_the_caller_says_so():
    """Not where two arguments happen to be one array."""
    present = np.array([[True, True], [False, False], [True, False]])
    metric = Gower(asymmetric=["0", "1"])
    (coded,), read = metric.read((present,), ("X",))
    fitted = read.fitted(coded)
    for others in (coded, coded.copy()):
        assert fitted.finite_between(coded, others, same=([1], [1]))[1, 1] == 0
        with pytest.raises(ValueError, match="rows 1 and 1 have none in common"):
            fitted.finite_between(coded, others)
    assert_allclose(metric.kernel(present), 0.5 * (1 - metric(present)))


@pytest.mark.parametrize(
    "same",
    [
        lambda t: t.to_numpy(dtype=object),
        lambda t: t.astype({"colour": object, "wears": object}),
        lambda t: t.astype({"colour": "category", "wears": "category"}),
        lambda t: t.astype({"colour": "string", "wears": "boolean", "length": "Float64", "count": "Int16"}),
        lambda t: t.assign(colour=pd.Categorical(t["colour"], categories=["x", "blue", "red", "green"])),
        lambda t: t.astype(object),
        lambda t: t.to_numpy(dtype=object).tolist(),
        lambda t: t.set_index(np.arange(len(t))[::-1]),
    ],
)
def test_types_that_mean_the_same(same, rng):
    table = make_table(rng, 15, 0.1).drop(columns="size")
    assert_allclose(rho_of(same(table), metric="gower"), rho_of(table, metric="gower"), rtol=1e-14)


def test_arrays_are_numeric_columns(rng):
    X = rng.normal(size=(12, 3))
    expected = np.abs((X[:, None] - X) / np.ptp(X, axis=0)).mean(axis=2)
    assert_allclose(rho_of(X, metric="gower"), expected, rtol=1e-12, atol=1e-15)
    X[3, 1] = np.nan
    assert_allclose(rho_of(X, metric="gower"), by_definition(pd.DataFrame(X)), rtol=1e-12, atol=1e-14)
    assert_allclose(rho_of(np.ma.masked_invalid(X), metric="gower"), rho_of(X, metric="gower"))
    assert_allclose(rho_of(["u", "v", "u"], metric="gower"), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_allclose(rho_of(pd.Categorical([1, 2, 1]), metric="gower"), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert_allclose(rho_of([1, 2, 5], metric="gower")[0], [0, 0.25, 1])


# ---------------------------------------------------------------- properties


@st.composite
def tables(draw):
    n = draw(st.integers(2, 9))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    numbers = st.none() | st.integers(-20, 20).map(float)
    return pd.DataFrame(
        {
            "x": np.array(column(numbers), dtype=float),
            "y": np.array(column(st.integers(-3, 3)), dtype=float),
            "o": pd.Categorical(column(st.none() | st.sampled_from("abcd")), categories=list("abcd"), ordered=True),
            "c": pd.Series(column(st.none() | st.sampled_from("uvw")), dtype=object),
        }
    )


@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_what_leaves_it_unchanged(table, seed):
    """Permuted rows and columns, another unit and origin, categories renamed, levels reversed."""
    rng = np.random.default_rng(seed)
    assume(table["c"].notna().any())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.MissingValuesWarning)
        d = rho_of(table, metric="gower")
        assert ((d >= 0) & (d <= 1)).all()
        assert not np.diagonal(d).any()
        assert_array_equal(d, d.T)
        rows = rng.permutation(len(table))
        assert_allclose(rho_of(table.iloc[rows], metric="gower"), d[np.ix_(rows, rows)], atol=1e-12)
        assert_allclose(rho_of(table[rng.permutation(list("xyoc"))], metric="gower"), d, atol=1e-12)
        other = table.assign(
            x=table["x"] * -8 + 3,
            o=pd.Categorical(table["o"], categories=list("dcba"), ordered=True),
            c=table["c"].map({"u": "third", "v": "first", "w": "second"}),
        )
        assert_allclose(rho_of(other, metric="gower"), d, atol=1e-12)
        assert_allclose(Gower(weights={"x": 3, "y": 3, "o": 3, "c": 3})(table), d, atol=1e-12)


@given(table=tables())
def test_it_is_the_mean_over_columns(table):
    table = table.assign(x=table["x"].fillna(0), o=table["o"].fillna("a"), c=table["c"].fillna("u"))
    parts = [rho_of(table[[name]], metric="gower") for name in table]
    assert_allclose(rho_of(table, metric="gower"), np.mean(parts, axis=0), atol=1e-12)


@pytest.mark.parametrize("alpha", sweep([1.0, 0.9, 0.4], [0.9]))
def test_negative_type_without_missing_values(alpha, rng):
    """Ordered codes, weights and joint absences included; so is the kernel positive semi-definite."""
    for _ in range(40):
        table = make_table(rng, int(rng.integers(3, 20)))
        table = table.assign(p=rng.random(len(table)) < 0.2, q=rng.integers(0, 2, len(table)))
        names = ["wears", "p", "q"][: rng.integers(0, 4)]
        metric = Gower(alpha, asymmetric=names, weights=5 * rng.random(len(table.columns)))
        fitted = es.dispersion(table, np.arange(len(table)), metric=metric).metric
        assert fitted.negative_type is True
        assert smallest_eigenvalue(rho_of(table, metric=metric)) > -1e-10
        assert np.linalg.eigvalsh(metric.kernel(table)).min() > -1e-10


def test_negative_type_of_presences_alone(rng):
    for _ in range(40):
        present = rng.random((int(rng.integers(5, 20)), 4)) < 0.3
        present[~present.any(axis=1), 0] = True
        R = rho_of(present, metric=Gower(asymmetric=list("0123")))
        assert smallest_eigenvalue(R) > -1e-10
        jaccard = rho_of(present.astype(float), metric="jaccard")
        assert_allclose(R, jaccard, atol=1e-14)


def test_missing_values_can_break_negative_type():
    """The third row agrees with both others, which differ: no Euclidean distance does that."""
    table = pd.DataFrame({"x": [0.0, 0.0, 0.0], "y": [0.0, 1.0, np.nan]})
    R = rho_of(table, metric="gower")
    assert_allclose(R, [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    assert smallest_eigenvalue(R) < -0.3
    found = es.dispersion(table, [0, 0, 1], metric="gower")
    assert found.metric.negative_type is None
    assert found.between < 0
    assert "S may be negative" in " ".join(found.summary().split())
    assert count_distinct(R[np.ix_([2, 0, 1], [2, 0, 1])], 2) == 2  # wherever the search starts
    assert es.energy_cluster(table.iloc[[2, 0, 1]], 2, metric="gower", rng=0).k == 2


def test_what_it_says_of_itself(rng):
    table = make_table(rng, 20)
    fitted = es.dispersion(table, G[20:40], metric="gower").metric
    assert repr(fitted) == "Gower(alpha=1.0, 5 columns: 2 numeric, 1 ordered, 2 categorical)"
    assert repr(Gower()) == "Gower(alpha=1.0)"
    given = Gower(0.5, asymmetric=["wears"], weights={"wears": 2})
    assert repr(given) == "Gower(alpha=0.5, asymmetric=['wears'], weights={'wears': 2.0})"
    weighted = es.dispersion(table, G[20:40], metric=given).metric
    assert repr(weighted) == "Gower(alpha=0.5, 5 columns: 2 numeric, 1 ordered, 1 categorical, 1 asymmetric, weighted)"
    assert given == Gower(0.5, asymmetric=("wears",), weights={"wears": 2.0})
    assert hash(Gower()) == hash(Gower())
    assert Gower().negative_type is None  # before it has seen whether values are missing
    assert es.dispersion(table, G[20:40], metric="gower", alpha=1.5).metric.negative_type is None
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy(table), fitted(table))
    assert es.metrics.resolve("gower", 0.3) == Gower(0.3)


def test_a_fitted_metric_keeps_its_ranges_and_categories(rng):
    table = make_table(rng, 30)
    fitted = es.dispersion(table, G[15:45], metric="gower").metric
    asymmetric = es.dispersion(table, G[15:45], metric=Gower(asymmetric=["wears"])).metric
    for metric in (fitted, asymmetric):
        assert es.dispersion(table.iloc[4:19], G[20:35], metric=metric).metric.negative_type is True
    wider = table.assign(length=3 * table["length"])  # beyond the ranges the proof for joint absences ends
    assert es.dispersion(wider, G[15:45], metric=fitted).metric.negative_type is True
    assert es.dispersion(wider, G[15:45], metric=asymmetric).metric.negative_type is None
    part = table.iloc[4:9].assign(colour=lambda t: pd.Categorical(t["colour"]))
    assert_allclose(fitted(part), rho_of(table, metric="gower")[4:9, 4:9], rtol=1e-14)
    with pytest.raises(ValueError, match=r"`X` must have the columns length, count, .*, got wears"):
        fitted(part[part.columns[::-1]])
    with pytest.raises(ValueError, match=r"`X` must have 5 columns, as the metric has, got 1"):
        fitted(part[["length"]])
    with pytest.raises(TypeError, match=r"`X` must have numeric values in column 'count', got categorical"):
        fitted(part.assign(count="many"))


# ---------------------------------------------------------------- what the energy distance sees


def test_the_energy_distance_is_a_sum_over_columns(rng):
    """At alpha = 1 without missing values: of |x - y|/range, and of squared differences of frequencies."""
    table = make_table(rng)
    x, y = table.iloc[:30], table.iloc[30:]
    weights = {"length": 1.0, "count": 2.0, "size": 0.5, "colour": 3.0, "wears": 1.5}
    own = {name: es.energy_distance(x[name], y[name]) / np.ptp(table[name]) for name in ("length", "count")}
    ranks = table["size"].cat.codes.astype(float)
    own["size"] = es.energy_distance(ranks[:30], ranks[30:]) / np.ptp(ranks)
    for name in ("colour", "wears"):
        p, q = (part[name].value_counts(normalize=True) for part in (x, y))
        own[name] = float((p.sub(q, fill_value=0) ** 2).sum())
    expected = sum(weights[name] * own[name] for name in own) / sum(weights.values())
    assert es.energy_distance(x, y, metric=Gower(weights=weights)) == pytest.approx(expected, rel=1e-10)


def test_dependence_is_seen_below_alpha_one_only():
    agree = pd.DataFrame({"a": ["u", "u", "v", "v"] * 10, "b": ["p", "p", "q", "q"] * 10})
    free = pd.DataFrame({"a": ["u", "u", "v", "v"] * 10, "b": ["p", "q", "p", "q"] * 10})
    assert es.energy_distance(agree, free, metric="gower") == pytest.approx(0, abs=1e-14)
    assert es.energy_distance(agree, free, metric="gower", alpha=0.5) > 0.01
    blind = es.energy_test(agree, free, metric="gower", n_resamples=99, rng=0)
    assert blind.pvalue == 1
    assert "not how columns depend on each other" in " ".join(blind.summary().split())
    seen = es.energy_test(agree, free, metric="gower", alpha=0.5, n_resamples=99, rng=0)
    assert seen.pvalue <= 0.05
    assert "depend on each other" not in seen.summary()
    assert "depend" not in es.energy_test(agree["a"], free["a"], metric="gower", n_resamples=9).summary()


# ---------------------------------------------------------------- every function


@pytest.mark.parametrize("missing", sweep([0.0, 0.15], [0.15]))
@pytest.mark.parametrize(
    "run",
    [
        lambda X, **how: es.energy_test(X, groups=G, n_resamples=99, rng=1, **how).null_distribution,
        lambda X, **how: es.energy_test(X, groups=G, method="asymptotic", **how).pvalue,
        lambda X, **how: es.energy_test(X, groups=G, method="cross", rng=1, **how).statistic,
        lambda X, **how: es.energy_interval(X, groups=G, n_bootstrap=40, rng=1, **how).high,
        lambda X, **how: es.energy_test(X, groups=G, design=ODD_AND_EVEN, n_resamples=99, rng=1, **how).pvalue,
        lambda X, **how: es.pairwise_tests(X, np.arange(60) % 3, n_resamples=19, rng=1, **how).table.iloc[:, 4:],
        lambda X, **how: es.dispersion(X, G, sample_weight=np.arange(1, 61), **how).g,
        lambda X, **how: es.disco(X, groups=G, n_resamples=19, rng=1, **how).table,
        lambda X, **how: es.disco(X, "~ g + z", data=DESIGN, n_resamples=19, rng=1, **how).table,
        lambda X, **how: es.energy_cluster(X, 3, rng=1, **how).labels,
        lambda X, **how: es.energy_cluster(X, 3, rng=1, **how).coordinates ** 2,
        lambda X, **how: es.energy_cluster(X, 3, rng=1, algorithm="lloyd", init="random", **how).within,
        lambda X, **how: es.EnergyClustering(3, random_state=1, **how).fit(X).labels_,
        lambda X, **how: es.mmd_test(X, groups=G, kernel="distance", n_resamples=19, rng=1, **how).null_distribution,
        lambda X, **how: es.mmd2(X, groups=G, kernel="distance", estimator="u", **how),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_tables_and_their_matrices_agree(run, missing, rng):
    table = make_table(rng, 60, missing)
    R = rho_of(table, metric="gower")
    assert_allclose(run(table, metric="gower"), run(R, metric="precomputed"), rtol=1e-7, atol=1e-9)


DESIGN = pd.DataFrame({"g": G, "z": np.arange(60) % 7 / 7})


def test_samples_one_by_one_are_the_pooled_table(rng):
    """With categories that occur in one of them only."""
    table = make_table(rng, 60, 0.1)
    x, y = table.iloc[:30], table.iloc[30:].astype({"colour": "category"})
    assert "blue" in set(x["colour"])
    assert "blue" not in set(y["colour"])
    one = es.energy_test(x, y, metric="gower", n_resamples=49, rng=3)
    pooled = es.energy_test(table, groups=G, metric="gower", n_resamples=49, rng=3)
    assert one.statistic == pytest.approx(pooled.statistic, rel=1e-12)
    assert_allclose(one.null_distribution, pooled.null_distribution, rtol=1e-10)
    E = es.energy_distance(x, y, metric="gower", estimator="u")
    assert es.mmd2(x, y, kernel=Gower(), estimator="u") == pytest.approx(E / 2)
    three = es.energy_test(x, y, table.iloc[5:20], metric="gower", n_resamples=9, rng=3)
    assert three.sizes == (30, 30, 15)
    blank = y.assign(colour=None)  # no value here: the kind of the other sample holds
    R = rho_of(pd.concat([x, blank]), metric="gower")
    S = es.dispersion(R, G, metric="precomputed").between
    assert es.energy_distance(x, blank, metric="gower") == pytest.approx(S / 7.5, rel=1e-9, abs=1e-12)


def test_several_semimetrics(rng):
    table = make_table(rng)
    result = es.energy_test(table, groups=G, metric="gower", alpha=[0.5, 1], n_resamples=99, rng=0)
    alone = es.energy_test(table, groups=G, metric="gower", alpha=0.5, n_resamples=99, rng=0)
    assert result.components[0].statistic == alone.statistic
    weighted = Gower(weights={"colour": 9})
    both = es.energy_test(table, groups=G, metric=["gower", weighted], n_resamples=19, rng=0).components[1]
    assert both.statistic == pytest.approx(es.energy_test(table, groups=G, metric=weighted, n_resamples=1).statistic)
    numbers = table[["length", "count"]]
    for names in (["gower", "euclidean"], ["euclidean", "gower"]):
        parts = es.energy_test(numbers, groups=G, metric=names, n_resamples=19, rng=0).components
        for name, part in zip(names, parts, strict=True):
            own = es.energy_test(numbers, groups=G, metric=name, n_resamples=1).statistic
            assert part.statistic == pytest.approx(own, rel=1e-12)
    with pytest.raises(ValueError, match=r"Euclidean\(alpha=1.0\) needs numbers, but the columns are coded"):
        es.energy_test(table, groups=G, metric=["gower", es.metrics.Euclidean()])
    with pytest.raises(ValueError, match=r"must name the same `asymmetric` columns"):
        es.energy_test(table, groups=G, metric=["gower", Gower(asymmetric=["wears"])])


def test_tiles(rng, monkeypatch):
    """Recomputed or stored, and never n x n."""
    table = make_table(rng, 700, 0.05)
    labels = np.arange(700) % 3
    kept = es.dispersion(table, labels, metric="gower").g
    monkeypatch.setattr(pairs, "STORED_UP_TO", 10)
    monkeypatch.setattr(pairs, "TILE_COLUMNS", 90)
    assert_allclose(es.dispersion(table, labels, metric="gower").g, kept, rtol=1e-13)
    monkeypatch.undo()
    many = make_table(rng, 6000)
    tracemalloc.start()
    es.dispersion(many, np.arange(6000) % 3, metric="gower")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 6000**2 / 4, "a quarter of the matrix"


def test_no_warning_of_scales(rng):
    table = make_table(rng).assign(length=lambda t: t["length"] * 1e6, tiny=rng.normal(size=60) * 1e-90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.energy_test(table, groups=G, metric="gower", n_resamples=9)
        tiny = rng.permutation(9) * 5e-324  # the smallest numbers there are
        assert_allclose(rho_of(tiny, metric="gower"), rho_of(np.ldexp(tiny, 1074), metric="gower"), rtol=1e-12)


def test_disco(rng):
    table = make_table(rng)
    data = table.assign(g=G)
    by_formula = es.disco("length + colour + size + wears ~ g", data=data, metric="gower", n_resamples=19, rng=0)
    names = ["length", "colour", "size", "wears"]
    by_table = es.disco(table[names], groups=G, metric="gower", n_resamples=19, rng=0)
    assert by_formula.statistic == pytest.approx(by_table.statistic, rel=1e-12)
    with pytest.raises(ValueError, match=r"numeric responses .* colour is categorical"):
        es.disco("colour ~ g", data=data)
    gaps = data.assign(colour=data["colour"].mask(np.arange(60) == 7))
    for missing in ("raise", "drop"):  # gaps in responses are no matter
        assert es.disco("length + colour ~ g", data=gaps, metric="gower", missing=missing, n_resamples=9).n == 60
    with pytest.raises(ValueError, match=r"missing in 1 of 60 rows \(colour 1\)"):
        es.disco("length ~ colour", data=gaps, metric="gower")
    assert es.disco(gaps[names], "~ g", data=data, metric="gower", n_resamples=9).n == 60


@pytest.mark.slow
def test_power_of_mixed_pilots(rng):
    table = make_table(rng, 60, 0.1)
    moved = table.iloc[30:].assign(colour="black", wears=True)
    result = es.energy_power(table.iloc[:30], moved, [6, 15], n_replicates=20, n_resamples=99, metric="gower", rng=0)
    assert result.table["power"].iloc[-1] >= 0.8
    assert "2 numeric, 1 ordered, 2 categorical" in result.summary()
    with pytest.raises(ValueError, match="`x` and `y` must both be pilot samples"):
        es.energy_power(table, stats.norm(), 10, metric="gower")
    numbers = es.energy_power(table[["count"]], stats.norm(), 10, n_replicates=5, n_resamples=19, metric="gower", rng=0)
    assert numbers.rows[0].power >= 0.2  # counts are far from a standard normal distribution; five replicates


def test_goodness_of_fit_takes_numbers(rng):
    moved = es.goodness_of_fit(rng.normal(3, 1, 40), stats.norm(), metric="gower", n_resamples=99, rng=0)
    assert moved.pvalue == 0.01
    with pytest.raises(TypeError, match="`X` must hold real numbers"):
        es.goodness_of_fit(make_table(rng), stats.norm(), metric="gower")


# ---------------------------------------------------------------- clustering


def test_predict(rng):
    table = make_table(rng, 60, 0.05)
    table["colour"] = pd.Categorical(table["colour"], categories=["red", "green", "blue", "black"])
    model = es.EnergyClustering(3, metric="gower", random_state=0).fit(table)
    assert model.n_features_in_ == 5
    assert list(model.feature_names_in_) == list(table.columns)
    full = es.EnergyClustering(3, metric="gower", random_state=0).fit(table.dropna())
    assert_array_equal(full.predict(table.dropna()), full.labels_)
    new = make_table(rng, 9).assign(colour="black", length=1e3)  # declared, but unseen; beyond the range
    found = model.predict(new)
    rho = rho_of(table, new, metric="gower")
    own = es.dispersion(table, model.labels_, metric="gower").g
    rule = [[2 * rho[model.labels_ == l, i].mean() - own[l, l] for l in range(3)] for i in range(9)]
    assert_array_equal(found, np.argmin(rule, axis=1))
    with pytest.raises(ValueError, match=r"`X` has 'mauve' in column 'colour', whose categories are 'red', 'green'"):
        model.predict(new.assign(colour=["mauve", *["red"] * 8]))
    with pytest.raises(ValueError, match=r"`X` has 'tiny' in column 'size', whose categories are 'small', 'middle'"):
        model.predict(new.assign(size="tiny"))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(new[new.columns[::-1]])
    assert_array_equal(model.predict(new.assign(size=new["size"].astype(str))), found)


@parametrize_with_checks(
    [es.EnergyClustering(metric="gower", random_state=0)],
    expected_failed_checks=lambda _: {
        "check_estimators_pickle": "puts so many NaN that rows have no column in common",
    },
)
def test_the_protocol_of_estimators(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_codes_are_no_coordinates(rng):
    import matplotlib.pyplot as plt

    table = make_table(rng)
    found = es.energy_cluster(table[["size", "colour"]], 2, metric="gower", rng=0)
    assert found.points is None
    assert found.coordinates.shape == (60, 2)
    ax = found.plot()
    assert ax.get_xlabel() == "principal coordinate 1"
    drawn = np.vstack([c.get_offsets() for c in ax.collections])
    order = np.argsort(found.labels, kind="stable")
    assert_allclose(drawn, found.coordinates[order])
    plt.close("all")
    one = es.energy_cluster(table["count"], 2, metric="gower", rng=0)  # no sorted route: rho is |x - y|/range
    assert one.algorithm == "hartigan"
    assert one.points.shape == (60, 1)
    assert es.energy_cluster(table["colour"], 2, metric="gower", rng=0).points is None
    with pytest.raises(ValueError, match='"exact-1d"` needs one column'):
        es.energy_cluster(table["count"], 2, metric="gower", algorithm="exact-1d")


def test_cluster_test_refuses_what_has_no_lines(rng):
    table = make_table(rng)
    with_gap = table[["length", "count"]].assign(length=table["length"].mask(np.arange(60) == 4))
    message = r"categories or missing values have none.*Test complete numeric columns alone, or labels known before"
    for mixed_table in (table, table["colour"], with_gap):
        with pytest.raises(ValueError, match=message):
            es.cluster_test(mixed_table, metric="gower")
    with pytest.raises(ValueError, match=message):
        es.cluster_test(table[["wears", "length"]].astype(float), metric=Gower(asymmetric=["wears"]))
    X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (60, 2))])
    assert es.cluster_test(X, metric="gower", rng=0).pvalue < 0.05
    assert es.cluster_test(X[:, 0], metric="gower", rng=0).pvalue == es.cluster_test(X[:, 0], rng=0).pvalue


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda t: t.assign(length=np.inf), ValueError, r"`X` must not be infinite, but has 60 .* in column length"),
        (lambda t: t.assign(length=1e200), ValueError, r"must not exceed 1e\+150 in size, got 1e\+200 in"),
        (lambda t: t.assign(day=pd.Timestamp("2020-01-01")), TypeError, r"column 'day' has datetime64 values"),
        (lambda t: t.assign(z=1j), TypeError, r"column 'z' has complex values"),
        (lambda t: t.assign(m=[1, "n/a"] * 30), TypeError, r"column 'm' has both numbers and text"),
        (lambda t: t.iloc[:0], ValueError, r"at least one row and one column, got shape \(0, 5\)"),
        (lambda t: t[[]], ValueError, r"at least one row and one column, got shape \(60, 0\)"),
        (lambda t: t.to_numpy(dtype=object).astype(str), TypeError, r"in which column 0 looks like numbers"),
        (lambda t: t.astype(object).mask(np.arange(300).reshape(60, 5) // 5 == 5), ValueError, "row 5 of `X` has none"),
        (lambda t: [["a"], ["b", "c"]], ValueError, r"`X` must be a rectangular table"),
        (lambda t: np.zeros((2, 2, 2)), ValueError, r"`X` must have shape \(n,\) or \(n, d\), got \(2, 2, 2\)"),
        (lambda t: pd.DataFrame({"x": [1, np.nan, 2], "y": [np.nan, 2, 3]}), ValueError, "row 0 of `X` has none in"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(change, error, message, rng):
    with pytest.raises(error, match=message):
        rho_of(change(make_table(rng)), metric="gower")


def test_rows_without_a_common_column_are_named_by_their_numbers(rng):
    table = pd.DataFrame({"x": rng.normal(size=400), "y": rng.normal(size=400)})
    table.loc[3, "x"] = np.nan
    table.loc[390, "y"] = np.nan
    with pytest.raises(ValueError, match="row 3 of `X` has none in common with row 390 of `X`; drop one of them"):
        es.energy_cluster(table, 2, metric="gower")


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"asymmetric": ["weers"]}, ValueError, r"`asymmetric` names 'weers', .*Did you mean 'wears'"),
        ({"asymmetric": ["count"]}, ValueError, r"must hold truth values or 0 .* column 'count' of `X` has \d+ in row"),
        ({"asymmetric": ["colour"]}, ValueError, r"column 'colour' of `X` has '\w+' in row 0"),
        ({"asymmetric": "wears"}, TypeError, r"must be a sequence of column names, got the string 'wears'"),
        ({"weights": {"color": 1}}, ValueError, r"`weights` names 'color', .*Did you mean 'colour'"),
        ({"weights": {"colour": -1}}, ValueError, r"must be finite and not negative, got -1 for column 'colour'"),
        ({"weights": {"colour": np.nan}}, ValueError, r"`weights` must be finite and not negative, got nan"),
        ({"weights": {"colour": "2"}}, TypeError, r"`weights` must be numbers, got '2'"),
        ({"weights": [1, 2]}, ValueError, r"`weights` must have one weight a column, 5, got 2"),
        ({"weights": [0] * 5}, ValueError, r"`weights` must not all be zero"),
        ({"weights": 3}, TypeError, r"`weights` must be a mapping or a sequence, got int"),
        ({"weights": np.array(3.0)}, TypeError, r"`weights` must be a mapping or a sequence, got ndarray"),
        ({"alpha": 3}, ValueError, r"`alpha` must be from 0.001 to 2, got 3"),
    ],
)  # fmt: skip
def test_options_that_are_refused(how, error, message, rng):
    with pytest.raises(error, match=message):
        rho_of(make_table(rng), metric=Gower(**how))


def test_samples_that_do_not_go_together(rng):
    x, y = make_table(rng), make_table(rng)
    for other, error, message in (
        (
            y.assign(colour=1),
            TypeError,
            r"of one kind .* is categorical in `sample 1` and numeric",
        ),
        (y.assign(size=y["size"].cat.reorder_categories(SIZES[::-1])), ValueError, r"Ordered column 'size' must have"),
        (y.rename(columns={"count": "n"}), ValueError, r"same columns: column . is 'count' in sample 1 and 'n'"),
        (y.drop(columns="count"), ValueError, r"same number of columns, got 5, 4"),
    ):
        with pytest.raises(error, match=message):
            es.energy_test(x, other, metric="gower")
    with pytest.raises(ValueError, match=r"`X` and `Y` must have the same number of columns, got 5 and 1"):
        rho_of(x, y[["count"]], metric="gower")
    with pytest.raises(ValueError, match=r"standardize=True does not go with Gower"):
        es.energy_cluster(x, 2, metric="gower", standardize=True)


def test_columns_without_any_value_are_left_out_with_a_warning(rng):
    table = make_table(rng)
    with pytest.warns(es.MissingValuesWarning, match=r"No row has a value in columns 'e', 'f'; left out") as caught:
        found = es.dispersion(table.assign(e=np.nan, f=None), G, metric="gower")
    assert caught[0].filename == __file__
    assert found.within == pytest.approx(es.dispersion(table, G, metric="gower").within, rel=1e-14)
    assert found.metric.negative_type is True
    assert "2 empty" in repr(found.metric)


# ---------------------------------------------------------------- the command line


@pytest.fixture
def file(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    table = make_table(rng, 60, 0.05).astype({"size": object})
    table.assign(g=G, name=[f"person {i}" for i in range(60)]).to_csv("people.csv", index=False)
    return table


def test_command_line_test(file, capsys):
    assert cli.main(["test", "people.csv", "--group", "g", "--metric", "gower", "--resamples", "99"]) == 0
    captured = capsys.readouterr()
    assert "columns length, count, size, colour, wears." in captured.out
    assert "5 columns: 2 numeric, 3 categorical" in captured.out
    assert "not used, because every row has a text of its own: name" in captured.err
    expected = es.energy_test(file, groups=G, metric="gower", n_resamples=99, rng=0)
    assert f"{expected.statistic:.6g}" in captured.out
    words = ["test", "people.csv", "--group", "g", "--columns", "count,colour", "--metric"]
    assert cli.main([*words, "gower"]) == 0
    assert "1 numeric, 1 categorical" in capsys.readouterr().out
    assert cli.main([*words, "gower", "--standardize"]) == 2
    assert "--standardize does not go with Gower" in capsys.readouterr().err
    assert cli.main([*words, "cityblock"]) == 2
    assert re.search(r"row \d+ \(line \d+\), column 'colour': '\w+' is not a number", capsys.readouterr().err)
    assert cli.main([*words[:4], "--columns", "count", "--metric", "cityblok"]) == 2
    assert "--metric must be one of" in capsys.readouterr().err


@pytest.mark.slow
def test_command_line_cluster(file, capsys):
    assert cli.main(["cluster", "people.csv", "-k", "3", "--metric", "gower", "--plot", "out.png"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Energy clustering into 3 clusters" in out
    assert (
        "Not tested: --metric must compare numbers alone: modes are looked for along lines, and categories or missing"
        in out
    )
    assert "labels known before the data were seen (energystats test)." in out
    assert Path("out.png").stat().st_size > 0
    assert cli.main(["cluster", "people.csv", "--columns", "count", "--metric", "cityblock"]) == 0
    assert 'Semimetric: "cityblock"' in capsys.readouterr().out


def test_blanks_around_words_make_no_categories(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()  # the seed
    clean = pd.DataFrame({"g": ["a", "b"] * 12, "k": [*"NNNS"] * 6, "x": rng.random(24)})
    blanks = np.arange(24) % 5 == 0
    clean.to_csv("clean.csv", index=False)
    clean.assign(k=clean["k"].where(~blanks, " " + clean["k"] + " ")).to_csv("blanks.csv", index=False)
    ordered = pd.CategoricalDtype(["S", "N", " N "], ordered=True)
    clean.assign(k=clean["k"].where(~blanks | (clean["k"] == "S"), " N ").astype(ordered)).to_parquet("blanks.parquet")
    clean.assign(k=clean["k"].astype(pd.CategoricalDtype(["S", "N"], ordered=True))).to_parquet("clean.parquet")
    for words in (["test", "--group", "g"], ["cluster", "--columns", "k,x"], ["disco", "x + k ~ g"]):
        for kind in ("csv", "parquet")[: 1 + (words[0] != "disco")]:
            found = []
            for name in ("clean", "blanks"):
                file = f"{name}.{kind}"
                given = [*words, file] if words[0] == "disco" else [words[0], file, *words[1:]]
                assert cli.main([*given, "--metric", "gower", "--resamples", "19", "--json"]) == 0
                out, err = capsys.readouterr()
                assert ("note: blanks around the words of 'k' were taken away" in err) == (name == "blanks")
                found.append({k: v for k, v in json.loads(out).items() if k not in ("file", "warnings")})
            assert found[0] == found[1]


def test_the_code_of_a_report_takes_blanks_away(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: pictures.Picture("data:image/png;base64,", 640))
    capsys.readouterr()  # the seed
    ordered = pd.CategoricalDtype(["S", "N", "N "], ordered=True)
    for name, column in {
        "a.csv": [*"SN", "N "] * 8,
        "a.parquet": pd.Categorical([*"SN", "N "] * 8, dtype=ordered),
    }.items():
        frame = pd.DataFrame({"k": column, "x": rng.random(24)})
        frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name)
        words = ["cluster", name, "--metric", "gower", "-k", "2", "--where", "k=N", "--resamples", "9", "--json"]
        assert cli.main([*words, "--report", f"{name}.html"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["n"] == 16
        page = html.unescape(Path(f"{name}.html").read_text(encoding="utf-8"))
        lines = [
            line for line in re.sub("<[^>]*>", "", page).splitlines() if line.startswith(("table =", "table[", "X ="))
        ]
        given = {"pd": pd}
        exec("\n".join(dict.fromkeys(lines)), given)
        assert len(given["X"]) == 16
        assert given["X"]["k"].unique().tolist() == ["N"]


@pytest.mark.parametrize("other", [["1", "2"], pd.Categorical(["1", "2"]), pd.array(["1", "2"], dtype="string")])
@pytest.mark.parametrize("numbers", [pd.Categorical([1, 2]), [False, True], pd.Categorical([1.0, 2.0])])
def test_categories_of_numbers_and_of_text_do_not_go_together(other, numbers):
    one, two = (pd.DataFrame({"c": column, "x": [1.0, 2.0]}) for column in (numbers, other))
    for first, second in ((one, two), (two, one)):
        with pytest.raises(TypeError, match="Column 'c' must be of one kind in all tables, but has text in `sample"):
            es.energy_distance(first, second, metric="gower")
    assert es.energy_distance(two, two.assign(c=pd.Categorical(["2", "3"])), metric="gower") > 0
    gaps = one.assign(c=pd.Categorical([None, None]))  # no value at all
    assert es.energy_distance(gaps, two, metric="gower") >= 0


@pytest.mark.parametrize("words", [("01", "1"), ("Male", "male"), ("a\u200b", "a")])
def test_categories_that_may_be_one_are_noted(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"k": list(words) * 8, "x": np.arange(16.0) ** 2, "g": [*"aabb"] * 4}).to_csv("t.csv", index=False)
    for command in (["test", "t.csv", "--group", "g"], ["cluster", "t.csv", "--drop", "g"]):
        assert cli.main([*command, "--metric", "gower", "--category", "k", "--resamples", "9"]) == 0
        noted = " ".join(capsys.readouterr().err.split())
        assert noted.count(f"{min(words)!r} and {max(words)!r} in column 'k'") == 1


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(2, 6), st.floats(0.2, 0.8))
@settings(deadline=None, max_examples=examples(60))
def test_the_first_pair_of_rows_without_a_common_column_is_named(seed, n, d, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < share] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 1.0
    X[0, np.isnan(X).all(axis=0)] = 1.0  # no column without a value, which would be left out with a warning
    known = ~np.isnan(X)
    apart = [(i, j) for i in range(n) for j in range(i + 1, n) if not (known[i] & known[j]).any()]
    if not apart:
        assert np.isfinite(es.pairwise(X, metric="gower")).all()
        return
    i, j = apart[0]
    with pytest.raises(ValueError, match=rf"but row {i} of `X` has none in common with row {j} of `X`; drop one"):
        es.pairwise(X, metric="gower")
