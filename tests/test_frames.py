"""Data frames at the entry and in results: names survive, categories keep their order, dtypes are read or refused."""

import operator
import pickle
import re
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

import energystats as es
from energystats import cli
from tests.conftest import sweep

mpl.use("Agg")

N = 24
LABELS = np.repeat(["hi", "lo"], N // 2)


@pytest.fixture
def points(rng):
    X = rng.integers(-9, 9, (N, 2)).astype(float)
    X[N // 2 :] += 12
    X[0, 0], X[-1, 1] = 1.0, 0.0
    return X


@pytest.fixture
def frame(points):
    index = pd.Index([f"item {i}" for i in range(N)], name="id")
    return pd.DataFrame(points, columns=["length", "width"], index=index)


def series(values, frame, name="level"):
    return pd.Series(values, index=frame.index, name=name)


# ---------------------------------------------------------------- rows


def labelled(frame):
    R = pd.DataFrame(es.pairwise(frame), frame.index, frame.index)
    return {
        "points": es.energy_cluster(frame, 2, rng=0),
        "spectral": es.energy_cluster(frame, 2, algorithm="spectral", rng=0),
        "one column": es.cluster_1d(frame["length"], 2),
        "matrix": es.energy_cluster(R, 2, metric="precomputed", rng=0),
        "gower": es.energy_cluster(frame, 2, metric="gower", rng=0),
        "graph": es.graph_partition(np.exp(-R), 2, rng=0),
        "estimator": es.EnergyClustering(2, random_state=0).fit(frame).partition_,
        "selected": es.select_k(frame, 3, n_init=2, rng=0).partition,
    }


def test_labels_go_back_into_the_frame(frame):
    for how, found in labelled(frame).items():
        labels = found.to_series()
        pd.testing.assert_index_equal(labels.index, frame.index)
        assert labels.name == "cluster"
        assert labels.tolist() == found.labels.tolist()
        assert isinstance(found.labels, np.ndarray), how
        shuffled = frame.sample(frac=1, random_state=1)
        shuffled["cluster"] = labels  # pandas matches rows by name
        assert all(
            shuffled.loc[name, "cluster"] == label for name, label in zip(frame.index, found.labels, strict=True)
        )
        assert pickle.loads(pickle.dumps(found)).names == found.names == tuple(frame.index)


def test_labels_can_be_changed_without_changing_the_result(frame):
    found = es.energy_cluster(frame, 2, rng=0)
    labels = found.to_series()
    labels.iloc[0] = 7
    assert found.labels[0] != 7


def test_names_of_a_result_stay_when_the_frame_changes(frame):
    found, R = es.energy_cluster(frame, 2, rng=0), pd.DataFrame(es.pairwise(frame), frame.index, frame.index)
    repaired = es.lingoes(R)
    for index in (frame.index, R.index, found.to_series().index, repaired.to_matrix().columns):
        index.name = "another"
    assert found.index.name == "id"
    assert found.to_series().index.name == "id"
    assert repaired.to_matrix().columns.name == "id"


def test_arrays_have_no_names(points):
    found = es.energy_cluster(points, 2, rng=0)
    assert found.index is None
    assert found.names is None
    assert found.to_series().index.equals(pd.RangeIndex(N))
    assert es.energy_cluster(pd.DataFrame(points), 2, rng=0).names is None
    assert "Cluster 0:" not in es.energy_cluster(pd.DataFrame(points), 2, rng=0).summary()


def test_summaries_list_few_named_points_and_pictures_name_them(frame):
    import matplotlib.pyplot as plt

    found = es.energy_cluster(frame, 2, rng=0)
    text = " ".join(found.summary().split())
    inside = [", ".join(frame.index[found.labels == j]) for j in range(2)]
    assert all(f"Cluster {j}: {members}." in text for j, members in enumerate(inside))
    written = {text.get_text() for text in found.plot().texts}
    assert set(frame.index) <= written
    many = pd.concat([frame, frame + 0.5]).set_axis([f"row {i}" for i in range(2 * N)])
    more = es.energy_cluster(many, 2, rng=0)
    assert "Cluster 0:" not in more.summary()
    assert not {text.get_text() for text in more.plot().texts} & set(many.index)
    numbered = es.energy_cluster(frame.set_axis(range(5, 5 + N)), 2, rng=0)
    assert numbered.names == tuple(map(str, range(5, 5 + N)))
    assert "Cluster 0:" not in numbered.summary()
    plt.close("all")


def test_matrices_and_coordinates_keep_names(frame):
    R = pd.DataFrame(es.pairwise(frame), frame.index, frame.index)
    for found in (es.principal_coordinates(R), es.spectral_embedding(frame), es.kernel_pca(frame, kernel="distance")):
        pd.testing.assert_index_equal(found.to_frame().index, frame.index)
    for repair in (es.lingoes, es.cailliez, es.clip_spectrum, es.flip_spectrum):
        matrix = repair(R**3).to_matrix()
        pd.testing.assert_index_equal(matrix.index, frame.index)
        pd.testing.assert_index_equal(matrix.columns, frame.index)
    matrix = es.lingoes(R**3).to_matrix()
    assert es.energy_cluster(matrix, 2, metric="precomputed", rng=0).names == tuple(frame.index)
    by_columns = pd.DataFrame(R.to_numpy(), columns=frame.index)
    pd.testing.assert_index_equal(es.principal_coordinates(by_columns).to_frame().index, frame.index)


def test_a_multiindex_and_a_doubled_name_are_no_hindrance(points):
    rows = pd.MultiIndex.from_product([["x", "y"], range(N // 2)], names=["site", "plot"])
    columns = pd.MultiIndex.from_tuples([("leaf", "length"), ("leaf", "width")])
    found = es.energy_cluster(pd.DataFrame(points, rows, columns), 2, rng=0)
    pd.testing.assert_index_equal(found.to_series().index, rows)
    assert found.names[:2] == ("x, 0", "x, 1")
    assert found.columns == ("leaf, length", "leaf, width")
    assert found.plot().get_xlabel() == "leaf, length"
    doubled = es.energy_cluster(pd.DataFrame(points, columns=["a", "a"]), 2, rng=0)
    assert doubled.columns == ("a", "a")
    assert doubled.within == found.within
    assert es.spectral_embedding(pd.DataFrame(points, rows, columns)).to_latex().count("site") == 1


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_keep_their_order_everywhere(frame, ordered):
    import matplotlib.pyplot as plt

    kind = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=ordered)
    g = series(LABELS, frame).astype(kind)  # sorted, hi would come first; mid does not occur
    for given in (g, g.to_frame(), pd.CategoricalIndex(g, name="level")):
        labels = given if not isinstance(given, pd.Index) else pd.Series(given, frame.index)
        found = es.dispersion(frame, labels)
        assert found.labels == ("lo", "hi")
        assert found.to_frame().index.tolist() == ["lo", "hi"]
        assert found.to_frame().index.name == "level"
        assert found.to_matrix().columns.tolist() == ["lo", "hi"]
        assert es.energy_test(frame, groups=labels, n_resamples=9, rng=0).labels == ("lo", "hi")
    found = es.dispersion(frame, g)
    assert found.summary().index("\nlo ") < found.summary().index("\nhi ")
    assert [tick.get_text() for tick in found.plot().get_yticklabels()] == ["lo", "hi"]
    tested = es.energy_test(frame, groups=g, n_resamples=9, rng=0)
    assert "lo: 12, hi: 12" in tested.summary()
    pair = es.pairwise_tests(frame, g, n_resamples=9, rng=0)
    assert (pair.rows[0].group1, pair.rows[0].group2) == ("lo", "hi")
    assert "lo vs hi" in pair.summary()
    clusters = es.energy_cluster(frame, 2, rng=0)
    ax = clusters.plot_classes(g, clusters.plot())
    assert [text.get_text() for text in ax.get_legend().get_texts()][-2:] == ["lo", "hi"]
    coordinates = es.kernel_pca(frame, kernel="distance").plot(labels=g)
    assert [text.get_text()[:2] for text in coordinates.get_legend().get_texts()] == ["lo", "hi"]
    plt.close("all")


def test_the_name_of_the_grouping_series_heads_the_tables(frame):
    g = series(LABELS, frame, "species")
    assert es.dispersion(frame, g).to_frame().index.name == "species"
    assert re_line(es.dispersion(frame, g).summary(), "species").split() == ["species", "size", "W"]
    assert "sizes of species" in es.energy_test(frame, groups=g, n_resamples=9, rng=0).summary()
    assert re_line(es.pairwise_tests(frame, g, n_resamples=9, rng=0).summary(), "species").startswith("species")
    assert es.disco(frame, groups=g, n_resamples=9, rng=0).table.index[0] == "species"
    plain = es.dispersion(frame.to_numpy(), LABELS)
    assert plain.group_name == ""
    assert plain.to_frame().index.name == "group"
    assert "group sizes" in es.energy_test(frame.to_numpy(), groups=LABELS, n_resamples=9, rng=0).summary()


def re_line(text, word):
    return next(line for line in text.splitlines() if word in line)


WORDS = ["object", "str", "string", "string[pyarrow]", "category"]


@pytest.mark.parametrize("kind", WORDS)
def test_groups_of_words(frame, kind):
    pytest.importorskip("pyarrow")
    plain = es.energy_test(frame.to_numpy(), groups=LABELS, n_resamples=19, rng=3)
    g = series(LABELS, frame).astype(kind)
    check_groups(frame, g, plain, ("hi", "lo"))


CODES = ["int64", "Int64", "int64[pyarrow]", "Float64", "double[pyarrow]", "bool", "boolean", "bool[pyarrow]"]


@pytest.mark.parametrize("kind", CODES)
def test_groups_of_numbers_and_truth_values(frame, kind):
    pytest.importorskip("pyarrow")
    codes = (LABELS == "lo").astype(int)
    plain = es.energy_test(frame.to_numpy(), groups=codes, n_resamples=19, rng=3)
    g = series(codes, frame).astype(bool if "bool" in kind else int).astype(kind)
    check_groups(frame, g, plain, (0, 1))


def check_groups(frame, g, plain, names):
    found = es.energy_test(frame, groups=g, n_resamples=19, rng=3)
    assert found.labels == names
    assert (found.statistic, found.pvalue) == (plain.statistic, plain.pvalue)
    blocks = es.energy_test(frame, groups=np.tile([0, 1], N // 2), design=es.Design(strata=g), n_resamples=9, rng=0)
    assert blocks.n_strata == 2
    if g.dtype.kind in "ib" and not hasattr(g.dtype, "na_value"):
        return  # these cannot be missing
    gappy = g.astype(object) if g.dtype == bool else g.copy()
    gappy.iloc[3] = pd.NA if gappy.dtype != object else None
    with pytest.raises(ValueError, match="`groups` must not be missing, but 1 of 24 labels are"):
        es.energy_test(frame, groups=gappy)
    with pytest.warns(es.MissingValuesWarning):
        assert es.disco(frame, groups=gappy, missing="drop", n_resamples=9, rng=0).n == N - 1


def test_samples_that_are_named_series_keep_their_names(frame):
    found = es.energy_test(frame["length"], frame["width"], n_resamples=9, rng=0)
    assert found.labels == ("length", "width")
    assert "length: 24, width: 24" in found.summary()
    assert es.energy_test(frame["width"], frame["length"], n_resamples=9, rng=0).labels == ("width", "length")
    assert es.energy_test(frame["length"], frame["length"], n_resamples=9, rng=0).labels == (0, 1)
    assert es.energy_test(frame["length"], frame["width"].to_numpy(), n_resamples=9, rng=0).labels == (0, 1)


@pytest.mark.parametrize(
    "kind", ["object", "string", "string[pyarrow]", "arrow", "category", "bool[pyarrow]", "boolean"]
)
def test_factors_of_a_formula_of_every_kind(frame, kind):
    pa = pytest.importorskip("pyarrow")
    plain = es.disco("length + width ~ level", data=frame.assign(level=LABELS), n_resamples=9, rng=0)
    values = LABELS == "lo" if "bool" in kind else LABELS
    dtype = pd.ArrowDtype(pa.string()) if kind == "arrow" else kind
    found = es.disco(
        "length + width ~ level", data=frame.assign(level=series(values, frame).astype(dtype)), n_resamples=9, rng=0
    )
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert found.table.index[0] == "level"


def test_dates_in_a_formula_are_refused_in_words(frame):
    for kind in ("datetime64[ns]", "datetime64[ns, UTC]", "timestamp[ns][pyarrow]"):
        when = series(pd.date_range("2020-01-01", periods=N), frame)
        when = when.dt.tz_localize("UTC") if "UTC" in kind else when.astype(kind)
        with pytest.raises(ValueError, match=r"column 'when' has .*make numbers of it"):
            es.disco("length + width ~ when", data=frame.assign(when=when), n_resamples=9)
    months = frame.assign(when=pd.date_range("2020-01-01", periods=N, freq="MS"))
    plain = es.disco("length + width ~ m", data=frame.assign(m=np.arange(N) % 12 + 1), n_resamples=9, rng=0)
    found = es.disco("length + width ~ I(when.dt.month)", data=months, n_resamples=9, rng=0)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-9)


def test_groups_of_dates_have_dates_as_names(frame):
    days = series(pd.to_datetime(np.repeat(["2021-05-01", "2020-05-01"], N // 2)), frame, "day")
    found = es.energy_test(frame, groups=days, n_resamples=9, rng=0)
    assert found.labels == (pd.Timestamp("2020-05-01"), pd.Timestamp("2021-05-01"))
    assert "2020-05-01" in found.summary()


# ---------------------------------------------------------------- columns

NUMBERS = ["int64", "Int64", "float32", "Float64", "int64[pyarrow]", "double[pyarrow]"]


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_kind(frame, kind):
    pytest.importorskip("pyarrow")
    plain = es.energy_cluster(frame.to_numpy(), 2, rng=5)
    found = es.energy_cluster(frame.astype(kind), 2, rng=5)
    assert found.within == plain.within
    assert found.labels.tolist() == plain.labels.tolist()
    weights = np.arange(1.0, N + 1)
    weighed = es.energy_cluster(frame, 2, sample_weight=series(weights, frame).astype(kind), rng=5)
    assert weighed.within == es.energy_cluster(frame, 2, sample_weight=weights, rng=5).within
    one = es.cluster_1d(frame["length"].astype(kind), 2)
    assert one.within == es.cluster_1d(frame["length"], 2).within


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", "float64"])
def test_a_missing_number_is_named_or_dropped(frame, kind):
    pytest.importorskip("pyarrow")
    gappy = frame.astype(kind)
    gappy.iloc[2, 1] = np.nan if kind == "float64" else pd.NA
    for call in (
        lambda: es.energy_cluster(gappy, 2, rng=0),
        lambda: es.energy_test(gappy, groups=LABELS, rng=0),
        lambda: es.dispersion(gappy, LABELS),
        lambda: es.pairwise(gappy),
        lambda: es.normality_test(gappy, rng=0),
    ):
        with pytest.raises(ValueError, match="must be finite, but has 1 NaN values in column width"):
            call()
    with pytest.raises(ValueError, match='leave those rows out with `missing="drop"`'):
        es.disco(gappy, groups=LABELS)
    with pytest.warns(es.MissingValuesWarning):
        found = es.disco(gappy, groups=LABELS, missing="drop", n_resamples=9, rng=0)
    kept = np.arange(N) != 2
    plain = es.disco(frame.to_numpy()[kept], groups=LABELS[kept], n_resamples=9, rng=0)
    assert found.table.to_numpy() == pytest.approx(plain.table.to_numpy(), nan_ok=True)
    gaps = frame.copy()
    gaps.iloc[2, 1] = np.nan
    same = [es.energy_cluster(table, 2, metric="gower", rng=0).within for table in (gappy, gaps)]
    assert same[0] == pytest.approx(same[1], rel=1e-12)
    with pytest.raises(ValueError, match="`sample_weight` must be finite, but has 1 NaN"):
        es.energy_cluster(frame, 2, sample_weight=gappy["width"].abs() + 1)


@pytest.mark.parametrize(
    "column",
    [
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-01", tz="UTC"),
        pd.Timedelta("1D"),
        pd.Period("2020"),
        "a word",
        True,
        pd.array([True] * N, dtype="boolean"),
        pd.array(["a"] * N, dtype="string"),
        pd.Categorical(["a"] * N),
    ],
    ids=str,
)
def test_a_column_without_numbers_is_refused_by_name(frame, column):
    with pytest.raises(TypeError, match=r"real numbers, but these columns do not: 'when' \(.+\)\. Leave them out"):
        es.energy_cluster(frame.assign(when=column), 2)


def test_whole_numbers_that_would_be_rounded_are_refused(frame):
    for kind in ("int64", "Int64"):
        huge = pd.DataFrame({"id": pd.array([2**60 + 1, 2**60 + 2, 5], dtype=kind)})
        with pytest.raises(ValueError, match=r"whole numbers beyond 2\*\*53"):
            es.energy_cluster(huge, 2)


def test_weights_are_matched_by_index(frame):
    weights = pd.Series(np.ones(N))
    for call in (
        lambda: es.energy_cluster(frame, 2, sample_weight=weights),
        lambda: es.cluster_1d(frame["length"], 2, sample_weight=weights),
        lambda: es.dispersion(frame, LABELS, sample_weight=weights),
        lambda: es.energy_test(frame, groups=LABELS, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match="`sample_weight` must have the index of the table"):
            call()
    assert es.energy_cluster(frame, 2, sample_weight=weights.to_numpy(), rng=0).k == 2


# ---------------------------------------------------------------- other libraries


def test_polars_tables_are_read_by_name(frame):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    table = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    g = pl.Series("level", LABELS.tolist())
    array = frame.to_numpy()
    found = es.energy_cluster(table, 2, rng=1)
    assert found.columns == ("length", "width")
    assert found.within == es.energy_cluster(array, 2, rng=1).within
    tested = es.energy_test(table, groups=g, n_resamples=19, rng=1)
    assert tested.group_name == "level"
    assert tested.pvalue == es.energy_test(array, groups=LABELS, n_resamples=19, rng=1).pvalue
    ranked = es.dispersion(table, g.cast(pl.Enum(["lo", "mid", "hi"])))
    assert ranked.labels == ("lo", "hi")
    assert es.energy_distance(table[:12], table[12:]) == es.energy_distance(array[:12], array[12:])
    assert (es.pairwise(table) == es.pairwise(array)).all()
    assert es.mmd2(table[:12], table[12:]) == es.mmd2(array[:12], array[12:])
    terms = es.disco("length + width ~ level", data=table.with_columns(g), n_resamples=9, rng=0)
    assert terms.terms[0].name == "level"
    assert es.disco(table, groups=g, n_resamples=9, rng=0).statistic == pytest.approx(terms.statistic)
    mixed = es.energy_cluster(table.with_columns(g), 2, metric="gower", rng=0)
    assert mixed.metric.coding.kinds == ("numeric", "numeric", "categorical")
    assert es.EnergyClustering(2, random_state=0).fit(table).partition_.columns == ("length", "width")
    weights = pl.Series(np.arange(1.0, N + 1))
    assert es.energy_cluster(table, 2, sample_weight=weights, rng=1).masses.sum() == N * (N + 1) / 2
    with pytest.raises(ValueError, match="1 NaN values in column length"):
        es.energy_cluster(table.with_columns(pl.when(pl.arange(N) > 0).then(pl.col("length")).alias("length")), 2)
    for call in (lambda X: es.energy_cluster(X, 2), es.EnergyClustering(2).fit):
        with pytest.raises(TypeError, match=r"real numbers, got a LazyFrame; .*`X.collect\(\)`"):
            call(table.lazy())


def test_arrow_tables_are_read_by_name(frame):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    assert es.energy_cluster(table, 2, rng=1).columns == ("length", "width")
    assert es.energy_test(table, groups=pa.array(LABELS), n_resamples=9, rng=0).labels == ("hi", "lo")


# ---------------------------------------------------------------- rows are matched by their names


def dask_or_pandas(kind):
    """Name the way in which a frame or Series is given."""
    if kind == "pandas":
        return lambda values: values
    dd = pytest.importorskip("dask.dataframe")
    return lambda values: dd.from_pandas(values, npartitions=3, sort=False)


ROW_BY_ROW = {  # what goes with the rows of a table
    "groups": lambda X, g: es.energy_test(X, groups=g, n_resamples=9, rng=0),
    "strata": lambda X, g: es.energy_test(
        X, groups=np.tile([0, 1], N // 2), design=es.Design(strata=g), n_resamples=9, rng=0
    ),
    "whole_plots": lambda X, g: es.energy_test(
        X, groups=np.repeat([0, 1], N // 2), design=es.Design(whole_plots=g), n_resamples=9, rng=0
    ),
    "labels": lambda X, g: es.dispersion(X, g),
    "groups of disco": lambda X, g: es.disco(X, groups=g, n_resamples=9, rng=0),
    "sample_weight of a test": lambda X, g: es.energy_test(X, groups=LABELS, sample_weight=g + 1.0, n_resamples=9),
    "sample_weight of dispersion": lambda X, g: es.dispersion(X, LABELS, sample_weight=g + 1.0),
    "sample_weight of clusters": lambda X, g: es.energy_cluster(X, 2, sample_weight=g + 1.0, rng=0),
    "sample_weight of landmarks": lambda X, g: es.energy_cluster(
        X, 2, sample_weight=g + 1.0, algorithm="landmarks", rng=0
    ),
    "init": lambda X, g: es.energy_cluster(X, 2, init=g),
    "init of the estimator": lambda X, g: es.EnergyClustering(2, init=g).fit(X),
    "sample_weight of fit": lambda X, g: es.EnergyClustering(2).fit(X, sample_weight=g + 1.0),
    "sample_weight of score": lambda X, g: es.EnergyClustering(2).fit(X).score(X, sample_weight=g + 1.0),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("call", ROW_BY_ROW)
@pytest.mark.parametrize("table", sweep(["pandas", "Dask", "file"], ["pandas", "file"]))
@pytest.mark.parametrize("labels", sweep(["pandas", "Dask"], ["pandas"]))
def test_every_table_and_label_is_matched_by_index(call, table, labels, frame, rng, tmp_path):
    shuffled = frame.iloc[rng.permutation(N)]
    if shuffled.index.equals(frame.index):
        shuffled = shuffled[::-1]
    if table == "file":
        pytest.importorskip("pyarrow")
        if "landmarks" not in call and call.startswith(
            ("init", "sample_weight of clusters", "sample_weight of fit", "sample_weight of score")
        ):
            pytest.skip("files go to other functions")  # fmt: skip
        shuffled.to_parquet(tmp_path / "table.parquet")
        X = tmp_path / "table.parquet"
    else:
        X = dask_or_pandas(table)(shuffled)
    codes = np.tile([0, 1], N // 2) if call != "strata" else np.repeat([0, 1], N // 2)
    codes = np.arange(N) // 2 if call == "whole_plots" else codes
    good, bad = (pd.Series(codes, index=names, name="g") for names in (shuffled.index, shuffled.index[::-1]))
    give = dask_or_pandas(labels)
    ROW_BY_ROW[call](X, give(good))
    with pytest.raises(ValueError, match=r"must have the index of the table, row by row; align it .*to_numpy\(\)"):
        ROW_BY_ROW[call](X, give(bad))


def test_labels_and_weights_are_matched_with_each_other(points):
    """Where the table has no names, the first of them that has names is what the others must have."""
    names = pd.Index([f"r{i}" for i in range(N)])
    strata = pd.Series(np.arange(N) % 4, names)
    weights = pd.Series(np.ones(N), names[::-1])
    how = {"groups": LABELS, "design": es.Design(strata=strata), "n_resamples": 9}
    assert es.energy_test(points, sample_weight=weights[::-1], **how).n_strata == 4
    with pytest.raises(ValueError, match="`strata` must have the index of the table"):
        es.energy_test(points, sample_weight=weights, **how)


@pytest.mark.parametrize("kind", ["pandas", "Dask"])
def test_an_index_that_repeats_names_cannot_be_aligned(kind, points):
    X = pd.DataFrame(points, index=np.tile([0, 1], N // 2))
    with pytest.raises(ValueError, match=r"it cannot be aligned, because 0 stands in several rows: match them by posi"):
        es.dispersion(dask_or_pandas(kind)(X), pd.Series(LABELS))
    same = pd.Series(LABELS, index=X.index)
    assert es.dispersion(dask_or_pandas(kind)(X), same).sizes == (N // 2, N // 2)


def test_an_index_that_dask_numbers_again_in_every_part_of_a_file(frame, tmp_path):
    pytest.importorskip("pyarrow")
    dd = pytest.importorskip("dask.dataframe")
    frame.reset_index(drop=True).to_parquet(tmp_path / "table.parquet", row_group_size=N // 2)
    X = dd.read_parquet(tmp_path / "table.parquet", split_row_groups=True)
    g = pd.Series(LABELS)
    with pytest.raises(ValueError, match=r"because 0 stands in several rows: match them by position with `labels.to_n"):
        es.dispersion(X, g)
    assert es.dispersion(X, g.to_numpy()).within == pytest.approx(es.dispersion(frame.to_numpy(), LABELS).within)


@pytest.mark.parametrize("kind", ["pandas", "Dask"])
def test_samples_below_each_other_are_matched_by_index(kind, frame):
    give, half = dask_or_pandas(kind), N // 2
    first, second = frame[:half], frame[half:]
    strata = pd.Series(np.arange(N) % 3, index=frame.index)
    how = {"n_resamples": 9, "rng": 0}
    found = es.energy_test(give(first), give(second), design=es.Design(strata=strata), **how)
    expected = es.energy_test(first.to_numpy(), second.to_numpy(), design=es.Design(strata=strata.to_numpy()), **how)
    assert found.pvalue == expected.pvalue
    with pytest.raises(ValueError, match="`strata` must have the index of the table"):
        es.energy_test(give(first), give(second), design=es.Design(strata=strata[::-1]), **how)
    numbered = (give(table.reset_index(drop=True)) for table in (first, second))
    assert es.energy_test(*numbered, design=es.Design(strata=strata[::-1]), **how).n_strata == 3
    with pytest.raises(ValueError, match="Paired samples are matched row by row"):
        es.energy_test(give(first), give(second.set_axis(first.index[::-1])), design=es.Design(paired=True), **how)
    with pytest.raises(ValueError, match="`groups` goes with one pooled table, got 2 samples"):
        es.energy_test(give(first), give(second), groups=LABELS)


def test_paired_rows_without_a_common_name_are_noted():
    """Rows of a long table keep their own names: that the subjects stand in one order is said, not assumed."""
    long = pd.DataFrame({"y": np.arange(12.0) % 5, "time": np.repeat([0, 1], 6)})
    first, second = (long.loc[long.time == time, ["y"]] for time in (0, 1))
    paired = es.Design(paired=True)
    for other in (second, second.set_axis(list("abcdef"))):
        found = es.energy_test(first, other, design=paired, rng=0)
        assert any("paired by their position" in note and f"0 and {other.index[0]!r}" in note for note in found.notes)
    same = second.set_axis(first.index)
    for given in ((first, same), (first.to_numpy(), second.to_numpy()), (first.reset_index(drop=True), same)):
        assert not es.energy_test(*given, design=paired, rng=0).notes
    assert not es.energy_test(long[["y"]], groups=long.time, design=paired, rng=0).notes


def test_names_of_dask_rows_come_back(frame):
    give = dask_or_pandas("Dask")
    for how in ({}, {"algorithm": "landmarks"}):
        found = es.energy_cluster(give(frame[::-1]), 2, rng=0, **how)
        assert found.to_series().index.tolist() == frame.index[::-1].tolist()
    assert es.dispersion(frame.to_numpy(), give(pd.Series(LABELS, name="level"))).group_name == "level"


def test_labels_are_compared_with_each_other_where_the_table_has_no_names(frame):
    """Two Series whose rows are in different orders, beside an array."""
    X = frame.to_numpy()
    groups = pd.Series(LABELS, index=frame.index)
    strata = pd.Series(np.arange(len(X)) % 12, index=frame.index)
    weights = pd.Series(1.0 + np.arange(len(X)), index=frame.index)
    for call in (
        lambda other: es.energy_test(X, groups=groups, design=es.Design(strata=other(strata)), n_resamples=9),
        lambda other: es.energy_test(X, groups=groups, sample_weight=other(weights), n_resamples=9),
        lambda other: es.disco(X, groups=groups, design=es.Design(strata=other(strata)), n_resamples=9),
        lambda other: es.dispersion(X, groups, sample_weight=other(weights)),
    ):
        call(lambda series: series)
        with pytest.raises(ValueError, match="must have the index of the table, row by row"):
            call(lambda series: series[::-1])


def test_numbers_for_each_column_go_by_position_only_without_names(frame):
    """Steps, weights of points and parameters of a metric: names in another order are refused."""
    named = pd.Series({"length": 1.0, "width": 0.0})
    expected = es.normality_test(frame, rounding=[1.0, 0.0], n_resamples=9, rng=0).pvalue
    for steps in (named, named.to_numpy(), pd.Series([1.0, 0.0])):
        assert es.normality_test(frame, rounding=steps, n_resamples=9, rng=0).pvalue == expected
    with pytest.raises(ValueError, match=r"`rounding` must have the names of the columns .* got width, length; align"):
        es.normality_test(frame, rounding=named[::-1], n_resamples=9, rng=0)

    kernel = pd.DataFrame(frame @ frame.T, frame.index, frame.index)
    base = pd.Series(np.linspace(0, 2 / N, N), index=frame.index)
    for matrix, compute in ((kernel, es.center_kernel), (es.kernel_distance(kernel), es.distance_kernel)):
        matrix = pd.DataFrame(matrix, frame.index, frame.index)
        np.testing.assert_array_equal(compute(matrix, base=base), compute(matrix.to_numpy(), base=base.to_numpy()))
        with pytest.raises(ValueError, match="`base` must have the index of the table, row by row"):
            compute(matrix, base=base[::-1])

    for name, params in (("seuclidean", {"V": frame.var()}), ("mahalanobis", {"VI": frame.cov()})):
        key, numbers = next(iter(params.items()))
        with pytest.raises(TypeError, match=rf"`params\['{key}'\]` must be numbers in the order of the columns"):
            es.metrics.SciPyMetric(name, params=params)
        metric = es.metrics.SciPyMetric(name, params={key: numbers.to_numpy()})
        expected = cdist(frame, frame, name, **{key: numbers.to_numpy()})
        np.testing.assert_allclose(es.pairwise(frame, metric=metric), expected, rtol=1e-12)
    with pytest.raises(TypeError, match=r"got Series; `weights.to_dict\(\)` goes by name"):
        es.metrics.Gower(weights=named)


@pytest.mark.parametrize("name", ["Unnamed: 0", "id", "subject_id", "ID"])
def test_a_column_that_numbers_the_rows_is_told(name, rng):
    table = pd.DataFrame({name: rng.permutation(12) + 7, "x": rng.normal(size=12)})
    groups = np.repeat(["a", "b"], 6)
    with pytest.warns(es.EnergyStatsWarning, match=f"Column '{name}' has another whole number in every row"):
        es.energy_test(table, groups=groups, n_resamples=9, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.energy_test(table.drop(columns=name), groups=groups, n_resamples=9, rng=0)
        es.energy_test(table.assign(**{name: table[name] // 2}), groups=groups, n_resamples=9, rng=0)
        es.energy_test(table.rename(columns={name: "day"}), groups=groups, n_resamples=9, rng=0)
        es.energy_test(table[[name]], groups=groups, n_resamples=9, rng=0)


def test_pairwise_keeps_the_names_of_frames(rng):
    frame = pd.DataFrame(rng.normal(size=(5, 2)), index=list("abcde"), columns=["x", "y"])
    plain = es.pairwise(frame.to_numpy())
    assert isinstance(plain, np.ndarray)
    found = es.pairwise(frame)
    pd.testing.assert_frame_equal(found, pd.DataFrame(plain, frame.index, frame.index))
    both = es.pairwise(frame, frame.iloc[:2], metric="manhattan")
    assert both.index.equals(frame.index)
    assert list(both.columns) == ["a", "b"]
    assert es.pairwise(frame, frame.to_numpy()[:2]).columns.tolist() == [0, 1]
    assert es.pairwise(frame["x"]).index.tolist() == list("abcde")
    pd.testing.assert_frame_equal(es.pairwise(found, metric="precomputed"), found)
    condensed = pd.Series(plain[np.triu_indices(5, 1)])
    assert_array_equal(es.pairwise(condensed, metric="precomputed"), plain)
    assert isinstance(es.pairwise(frame.to_numpy().tolist()), np.ndarray)
    # and the names are those that other functions match
    with pytest.raises(ValueError, match="index"):
        es.energy_test(found, groups=pd.Series([0, 0, 1, 1, 1], index=list("edcba")), metric="precomputed")


# ---------------------------------------------------------------- other libraries


def test_matrices_of_scikit_bio_are_read_with_their_ids(rng):
    skbio = pytest.importorskip("skbio")
    frame = pd.DataFrame(rng.normal(size=(12, 2)), index=[f"s{i}" for i in range(12)])
    g = pd.Series(np.arange(12) % 2, index=frame.index, name="g")
    R = es.pairwise(frame)
    D, how = skbio.DistanceMatrix(R.to_numpy(), frame.index.tolist()), {"metric": "precomputed", "rng": 0}
    assert es.energy_test(D, groups=g, **how).pvalue == es.energy_test(R, groups=g, **how).pvalue
    assert es.energy_cluster(D, 2, **how).names == tuple(frame.index)
    assert es.principal_coordinates(D).names == tuple(frame.index)
    np.testing.assert_allclose(es.lingoes(D).distances, es.lingoes(R).distances)
    np.testing.assert_array_equal(es.energy_hclust(D, metric="precomputed"), es.energy_hclust(R, metric="precomputed"))
    with pytest.raises(ValueError, match="index"):
        es.energy_test(D, groups=g.iloc[::-1], **how)
    with pytest.warns(es.MatrixAsPointsWarning):
        es.dispersion(D, g)


def test_tables_of_anndata_are_read_with_their_names(rng):
    anndata = pytest.importorskip("anndata")  # which needs a pandas below 3, so that it is no dependency of the tests
    sparse = pytest.importorskip("scipy.sparse")
    frame = pd.DataFrame(rng.normal(size=(12, 3)), index=[f"cell {i}" for i in range(12)], columns=list("uvw"))
    obs = pd.DataFrame({"g": pd.Categorical(["a", "b"] * 6)}, index=frame.index)
    cells = anndata.AnnData(frame.to_numpy(), obs=obs, var=pd.DataFrame(index=frame.columns))
    cells.obsm["X_pca"] = frame.to_numpy()[:, :2]
    found = es.energy_test(cells, groups=cells.obs["g"], n_resamples=99, rng=0)
    assert found.pvalue == es.energy_test(frame, groups=obs["g"], n_resamples=99, rng=0).pvalue
    assert es.energy_cluster(cells, 2, rng=0).columns == ("u", "v", "w")
    assert es.energy_cluster(cells, 2, rng=0).names == tuple(frame.index)
    es.energy_test(cells.obsm["X_pca"], groups=cells.obs["g"], n_resamples=9, rng=0)
    with pytest.raises(ValueError, match="index"):
        es.energy_test(cells, groups=cells.obs["g"].iloc[::-1])
    counts = anndata.AnnData(sparse.csr_matrix(np.eye(3)))
    with pytest.raises(TypeError, match=r"is sparse; give coordinates, such as `adata.obsm\['X_pca'\]`"):
        es.energy_cluster(counts, 2)


def test_labels_that_are_given_as_a_sample_are_named(rng):
    x, g = rng.standard_normal(40), np.arange(40) % 2
    for samples, which in (((x, g), "second"), ((g, x), "first"), ((pd.Series(x), pd.Series(g)), "second")):
        with pytest.warns(es.EnergyStatsWarning, match=f"The {which} of two samples has two distinct values"):
            es.energy_test(*samples, n_resamples=9, rng=0)
    for groups, count in ((np.arange(40) % 3, 3), (1 + np.arange(40) % 8, 8)):
        with pytest.warns(es.EnergyStatsWarning, match=f"The second of two samples has {count} distinct values"):
            es.energy_distance(x, groups)
    with pytest.warns(es.EnergyStatsWarning, match="The second of two samples has 4 distinct values"):
        es.energy_power(x, np.arange(40) % 4, [10], n_replicates=2, n_resamples=19, rng=0)
    # answers to a question, other sizes, measurements, and numbers with gaps
    few = 2 * (np.arange(40) % 4)
    for samples in ((g, rng.integers(0, 5, 40)), (x, g[:30]), (x, x + 1), (x.round(), g + g), (x, few)):
        assert es.energy_test(*samples, n_resamples=99, rng=0).n_resamples == 99


@pytest.mark.parametrize("names", [["a", "f", "s", "s"], ["a", "f", "s", "t"], ["a", "f", 1, "1"]])
def test_a_name_that_two_columns_have_is_refused(names, rng):
    """The first one was taken, or both; of the columns 1 and "1" as well."""
    table = pd.DataFrame(rng.normal(size=(24, 4)), columns=names)
    twice, other = str(names[2]), names[3]
    table.iloc[:, 1] = np.arange(24) % 2
    refusals = [
        lambda: es.disco("a ~ f", data=table, design=es.Design(strata=twice), n_resamples=9),
        lambda: es.pairwise(table, metric=es.metrics.Gower(weights={twice: 5})),
        lambda: es.pairwise(table, metric=es.metrics.Gower(asymmetric=[twice])),
        lambda: es.segment(table, 2).plot_strata(columns=[twice]),
        lambda: es.energy_cluster(table, 2, rng=0).plot(space=("a", twice)),
    ]
    if other == "t":  # alone, it is found
        table["s"] = np.repeat([0.0, 1.0], 12)
        for call in refusals:
            assert call() is not None
        return
    for call in refusals:
        with pytest.raises(ValueError, match=rf"names '{twice}', but 2 columns have that name; rename them"):
            call()


@pytest.mark.parametrize("kind", [int, str])
def test_a_matrix_whose_numbers_stand_in_another_order_is_refused(kind, rng, tmp_path, capsys):
    """Numbers from 0 are taken for no names, but not beside the same ones in another order."""
    X = rng.normal(size=(12, 2))
    rho, numbers = es.pairwise(X), list(map(kind, range(12)))
    letters = list("abcdefghijkl")
    for index, columns in ((numbers, numbers[::-1]), (numbers[::-1], numbers)):
        frame = pd.DataFrame(rho, index=index, columns=columns)
        with pytest.raises(ValueError, match="the same names in the same order"):
            es.energy_cluster(frame, 2, metric="precomputed")
        frame.to_csv(tmp_path / "rho.csv")
        assert cli.main(["cluster", str(tmp_path / "rho.csv"), "--metric", "precomputed"]) == 2
        assert "the same names in the same order" in capsys.readouterr().err
    for index, columns in ((letters, numbers), (numbers, letters), (numbers[::-1], numbers[::-1])):
        frame = pd.DataFrame(rho, index=index, columns=columns)
        own = letters if letters in (index, columns) else index
        assert list(es.energy_cluster(frame, 2, metric="precomputed").to_series().index) == own


# ---------------------------------------------------------------- columns of new rows


@pytest.mark.parametrize("metric", ["euclidean", "gower", "precomputed"])
def test_names_of_columns_that_are_numbers_are_matched_by_the_estimator(metric):
    """scikit-learn compares names that are text: of others the columns were taken by their places."""
    X = pd.DataFrame(es.datasets.load("iris").iloc[:, :4].to_numpy())
    X = es.pairwise(X) if metric == "precomputed" else X
    found = es.EnergyClustering(3, metric=metric, random_state=0).fit(X)
    for method in (found.predict, found.transform, found.score):
        with pytest.raises(ValueError, match=r"`X` and the table that was fitted .* the same in another order"):
            method(X.iloc[:, ::-1])
    assert_array_equal(found.predict(X), found.labels_)
    assert_array_equal(found.predict(X.to_numpy()), found.labels_)
    years = X.set_axis(range(1990, 1990 + X.shape[1]), axis=1)
    if metric != "precomputed":  # whose columns are rows of the table fitted
        assert_array_equal(found.predict(years), found.labels_)
        again = es.EnergyClustering(3, metric=metric, random_state=0).fit(years)
        assert_array_equal(again.predict(X), found.labels_)
        with pytest.raises(ValueError, match="column 1 is '1991' in the latter and '5' in X"):
            again.predict(years.rename(columns={1991: 5}))


def _two_groups_of_named_rows(rng):
    points = rng.normal(size=(40, 2)) + np.repeat([[0.0], [9.0]], 20, axis=0)
    return pd.DataFrame(points, index=[f"r{i}" for i in range(40)])


def _two_groups_of_named_rows(rng):
    points = rng.normal(size=(40, 2)) + np.repeat([[0.0], [9.0]], 20, axis=0)
    return pd.DataFrame(points, index=[f"r{i}" for i in range(40)])


@pytest.mark.parametrize("weights", [None, np.r_[0.0, np.ones(39)]], ids=["rows alike", "one of weight 0"])
def test_an_estimator_given_for_its_labels_keeps_the_names_of_its_rows(rng, weights):
    """Its labels were matched by position: of shuffled rows silhouettes were -.02 for .64."""
    X = _two_groups_of_named_rows(rng)
    shuffled = X.sample(frac=1, random_state=0)
    found = es.EnergyClustering(2, random_state=0).fit(X, sample_weight=weights)
    names = pd.Series(found.labels_, index=X.index)
    calls = {
        "labels": lambda X, labels: es.silhouette(X, labels),
        "groups": lambda X, labels: es.energy_distance(X, groups=labels),
        "init": lambda X, labels: es.energy_cluster(X, 2, init=labels).within,
    }
    for name, call in calls.items():
        assert_array_equal(call(X, found), call(X, names))
        with pytest.raises(ValueError, match=rf"another order: give `X.loc\[{name}.index_\]`"):
            call(shuffled, found)
        assert_array_equal(call(shuffled.loc[found.index_], found), call(X, names))
    with pytest.raises(ValueError, match=r"A fitted estimator .* first, by `.partition_.to_series\(\)`"):
        es.clustering_accuracy(names.loc[shuffled.index], found)
    with pytest.raises(ValueError, match="`classes` must have the index of the table"):
        es.energy_cluster(shuffled, 2).plot_classes(found)
    assert es.EnergyClustering(2).fit(X.to_numpy()).index_ is None


def test_results_that_hold_a_partition_say_where_their_row_names_are(rng):
    X = _two_groups_of_named_rows(rng)
    shuffled = X.sample(frac=1, random_state=0)
    results = [
        es.energy_cluster(X, 2, rng=0),
        es.EnergyClustering(2, random_state=0).fit(X),
        es.cluster_tree(X, n_resamples=39, rng=0),
        es.cluster_test(X, 2, n_resamples=39, rng=0),
        es.select_k(X, 2, criterion="eigengap", rng=0),
    ]
    for result in results:
        with pytest.raises(ValueError, match="the same rows in another order: give") as raised:
            es.validate_clusters(shuffled, partition=result)
        where = re.search(r"X\.loc\[partition\.([\w.]+)\]", str(raised.value))[1]
        assert operator.attrgetter(where)(result).equals(X.index)
