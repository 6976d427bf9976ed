"""Tables that are not held in memory: the same numbers as from an array, in bounded memory, or an error in words."""

import io
import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats import dissimilarity
from energystats._core import labelings as permutation
from energystats._core.labelings import Exchangeable
from energystats.clustering import features
from energystats.metrics import kernel
from energystats.pairs import disk as rows
from energystats.pairs import open_blocks, parquet, slices
from energystats.pairs.block_values import Measures
from energystats.pairs.disk import RowsOnDisk, spool
from tests.comparisons import assert_same_partition, assert_same_test
from tests.conftest import sweep

pytest.importorskip("pyarrow")


@pytest.fixture
def small_blocks(monkeypatch):
    """Everything is read in blocks, of the fewest rows there can be."""
    monkeypatch.setattr(open_blocks, "IN_MEMORY", 0)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1)
    monkeypatch.setattr(rows, "TILE_ROWS", 64)
    monkeypatch.setattr(rows, "TILE_COLUMNS", 64)
    monkeypatch.setattr(rows, "LARGE_TILES", (32, 64))


@pytest.fixture
def table(rng):
    """Points in three columns and three groups, one of them shifted."""
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["u", "v", "w"])
    frame["group"] = np.repeat(["b", "a", "c"], [90, 100, 110])
    frame.loc[frame.group == "a", "u"] += rng.uniform(0, 1)
    return frame.sample(frac=1, random_state=int(rng.integers(2**31)), ignore_index=True)


def memory_map(frame, tmp_path, dtype=np.float64):
    np.save(tmp_path / "points.npy", frame[["u", "v", "w"]].to_numpy(dtype))
    return np.load(tmp_path / "points.npy", mmap_mode="r")


def parquet_file(frame, tmp_path, **how):
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=70, **how)
    return tmp_path / "table.parquet"


# ---------------------------------------------------------------- on disk

OPTIONS = {
    "plain": {},
    "f": {"statistic": "f"},
    "pairwise": {"statistic": "pairwise"},
    "standardized": {"standardize": True},
    "power": {"alpha": 0.5},
    "several": {"alpha": [0.5, 1.0]},
    "several standardized": {"metric": ["euclidean", "cityblock"], "standardize": True},
    "median width": {"metric": "gaussian"},
    "cityblock": {"metric": "cityblock"},
    "callable": {"metric": lambda X, Y: np.sqrt(np.abs(X[:, None] - Y[None]).sum(axis=2))},
    "stopped": {"method": es.Permutation(70, stop_at=3)},
    "binned": {"method": es.Binned(40)},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.usefixtures("small_blocks")
def test_maps_and_files_give_the_numbers_of_arrays(name, table, tmp_path):
    X, g = table[["u", "v", "w"]], table["group"]
    how = {"n_resamples": 70, "rng": 3, **OPTIONS[name]}
    expected = es.energy_test(X, groups=g, **how)
    assert_same_test(es.energy_test(memory_map(table, tmp_path), groups=g, **how), expected)
    assert_same_test(es.energy_test(parquet_file(table, tmp_path), groups="group", **how), expected)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("n_bins", [None, 20])
@pytest.mark.parametrize("kept", [True, False])
def test_slices(standardize, n_bins, kept, table, tmp_path, monkeypatch):
    if not kept:
        monkeypatch.setattr(slices, "LINES_BYTES", 3 * 16 * 300)
    X, g = table[["u", "v", "w"]] + 1e5, table["group"]
    how = {"method": es.Sliced(7, n_bins), "n_resamples": 99, "standardize": standardize, "rng": 3}
    expected = es.energy_test(X, groups=g, **how)
    found = es.energy_test(memory_map(table[["u", "v", "w"]] + 1e5, tmp_path), groups=g, **how)
    assert found.pvalue == expected.pvalue
    assert_allclose(found.null_distribution, expected.null_distribution, atol=1e-10 * expected.total)
    assert found.statistic_error == pytest.approx(expected.statistic_error)


@pytest.mark.usefixtures("small_blocks")
def test_designs_weights_and_intervals(table, tmp_path, rng):
    X, g = table[["u", "v", "w"]], table["group"]
    m = memory_map(table, tmp_path)
    strata, weights = rng.integers(0, 4, 300), rng.uniform(0.5, 2, 300)
    for how in ({"design": es.Design(strata=strata)}, {"sample_weight": weights}):
        assert_same_test(
            es.energy_test(m, groups=g, n_resamples=40, rng=1, **how),
            es.energy_test(X, groups=g, n_resamples=40, rng=1, **how),
        )
    halves = m[:120], m[120:]
    assert_same_test(
        es.energy_test(*halves, n_resamples=40, rng=1), es.energy_test(*map(np.array, halves), n_resamples=40, rng=1)
    )
    found = es.energy_interval(*halves, n_bootstrap=40, rng=1)
    expected = es.energy_interval(*map(np.array, halves), n_bootstrap=40, rng=1)
    assert_allclose((found.low, found.high), (expected.low, expected.high), atol=1e-12)


@pytest.mark.usefixtures("small_blocks")
def test_dispersion_and_disco(table, tmp_path, rng):
    X, g = table[["u", "v", "w"]], table["group"]
    m, path = memory_map(table, tmp_path), parquet_file(table, tmp_path)
    expected = es.dispersion(X, g)
    for found in (es.dispersion(m, g), es.dispersion(path, "group"), es.dispersion(str(path), "group")):
        assert_allclose(found.g, expected.g, rtol=1e-13)
        assert found.labels == ("a", "b", "c")
    expected = es.disco(X, groups=g, n_resamples=19, rng=1)
    for found in (es.disco(m, groups=g, n_resamples=19, rng=1), es.disco(path, groups="group", n_resamples=19, rng=1)):
        assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-11)
    design = pd.DataFrame({"group": g, "x": rng.normal(size=300)})
    found, expected = (es.disco(data, "~ group * x", data=design, n_resamples=19, rng=1) for data in (m, X))
    assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 2**26])
def test_a_text_beside_a_formula_is_a_path(limit, table, tmp_path, rng, monkeypatch):
    monkeypatch.setattr(open_blocks, "IN_MEMORY", limit)
    X, design = table[["u", "v", "w"]], pd.DataFrame({"group": table["group"], "x": rng.normal(size=300)})
    for name in ("points.parquet", "points~1"):
        X.to_parquet(tmp_path / name)
        how = {"formula": "~ group * x", "data": design, "n_resamples": 19, "rng": 1}
        found, expected = es.disco(str(tmp_path / name), **how), es.disco(X, **how)
        assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-9)
    with pytest.raises(ValueError, match=r"there is no file 'nothing\.parquet'"):
        es.disco("nothing.parquet", "~ group", data=design)
    with pytest.raises(ValueError, match="got two formulas"):
        es.disco("x ~ group", "~ group", data=design)


@pytest.mark.usefixtures("small_blocks")
def test_cross_halves_of_a_map(table, tmp_path):
    g = (table["group"] == "a").to_numpy()
    m = memory_map(table, tmp_path)
    found, expected = (es.energy_test(X, groups=g, method="cross", rng=1) for X in (m, np.array(m)))
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_small_tables_are_read_whole(table, tmp_path):
    m = memory_map(table, tmp_path, np.float32)
    assert isinstance(open_blocks.opened((m,), {})[0][0].values, np.ndarray)
    (read,), (labels,) = open_blocks.opened((parquet_file(table, tmp_path),), {"groups": "group"})
    assert list(read.columns) == list(read.values.columns) == ["u", "v", "w"]
    assert labels.values.tolist() == table["group"].tolist()
    assert es.energy_test(m, groups=table["group"], n_resamples=19, rng=1).pvalue > 0


@pytest.mark.usefixtures("small_blocks")
def test_categories_keep_their_order(table, tmp_path):
    table["group"] = pd.Categorical(table["group"], ["c", "a", "b"])
    found = es.dispersion(parquet_file(table, tmp_path), "group")
    assert found.labels == ("c", "a", "b")


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
@pytest.mark.usefixtures("small_blocks")
def test_maps_of_other_numbers(dtype, rng, tmp_path):
    values = rng.integers(0, 200, (150, 4)).astype(dtype)
    np.save(tmp_path / "points.npy", values)
    m = np.load(tmp_path / "points.npy", mmap_mode="r")
    g = rng.permutation(np.arange(150) % 2)
    assert_allclose(es.dispersion(m, g).g, es.dispersion(values, g).g, rtol=1e-13)


def test_measures_of_blocks_against_fractions(rng):
    values = rng.integers(-50, 50, (37, 2)).astype(float)
    parts = np.split(values, np.sort(rng.integers(1, 36, 3)))
    found = Measures.over(Measures.of(part) for part in parts if len(part))
    for j in range(2):
        exact = [Fraction(int(v)) for v in values[:, j]]
        mean = sum(exact) / 37
        assert found.mean[j] == pytest.approx(float(mean), abs=1e-13)
        assert found.deviation[j] ** 2 == pytest.approx(float(sum((v - mean) ** 2 for v in exact) / 37), rel=1e-13)
    assert_array_equal(found.width, np.ptp(values, axis=0))


def test_measures_far_from_the_origin_and_at_extreme_units(rng):
    values = rng.normal(size=(200, 2)) * [1e-200, 1e140] + [0, 1e143]
    found = Measures.over(Measures.of(part) for part in np.split(values, 4))
    unit = np.ptp(values, axis=0)
    assert_allclose(found.deviation / unit, ((values - values.mean(axis=0)) / unit).std(axis=0), rtol=1e-9)


def test_rows_are_picked_in_the_order_asked_for(rng, monkeypatch):
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1)
    monkeypatch.setattr(rows, "TILE_ROWS", 16)
    monkeypatch.setattr(rows, "TILE_COLUMNS", 16)
    values = rng.normal(size=(100, 2))
    both = RowsOnDisk(parts=(spool(iter([values[:33], values[33:60]]), "X"), spool(iter([values[60:]]), "X")))
    wanted = rng.choice(100, 40, replace=False)
    assert_array_equal(both.pick(wanted), values[wanted])
    assert_array_equal(both.take(20, 75), values[20:75])
    assert [stop - start for start, stop in both.spans()] == [16] * 6 + [4]


def test_projections_far_from_the_origin_keep_their_digits(rng):
    """Multiples of 2**-10 at a distance of 2**40: rows are exact, and products with uncentred ones would not be."""
    X = rng.integers(-1000, 1000, size=(50, 3)) / 1024
    directions = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    found = RowsOnDisk(parts=(spool(iter([X[:20] + 2.0**40, X[20:] + 2.0**40]), "X"),)).project(directions)
    expected = X @ directions
    assert_allclose(found - found[0], expected - expected[0], atol=1e-12)


def test_rows_that_settle_a_metric_are_the_same_from_anywhere(rng, monkeypatch):
    """A fixed random choice of rows: part of what a default width means."""
    monkeypatch.setattr(kernel, "SUBSAMPLE", 20)
    monkeypatch.setattr(dissimilarity, "SUBSAMPLE", 20)
    X = rng.standard_normal((90, 2))
    chosen = X[np.random.default_rng(0).choice(90, 20, replace=False)]
    distances = sorted(np.linalg.norm(a - b) for i, a in enumerate(chosen) for b in chosen[:i])
    rows_on_disk = RowsOnDisk(parts=(spool(iter([X[:40], X[40:]]), "X"),))
    for table in (X, rows_on_disk):
        d = dissimilarity.Dissimilarity.from_data(table, metric="gaussian", alpha=1.0)
        assert d.metric.sigma == pytest.approx(np.median(distances))


def test_labelings_do_not_depend_on_how_many_are_drawn_at_once(rng, monkeypatch):
    scheme = Exchangeable.freely(rng.permutation(np.arange(50) % 3))
    key = permutation.draw_key(rng)
    whole = scheme.block(2, 64, key)
    monkeypatch.setattr(permutation, "UNIFORM_BYTES", 1000)
    assert_array_equal(scheme.block(2, 64, key), whole)
    assert_array_equal(scheme.block(2, 10, key), whole[:10])


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", [None, "id"])
def test_an_index_that_pandas_kept_in_a_file_is_no_column(small, name, table, tmp_path, monkeypatch):
    monkeypatch.setattr(open_blocks, "IN_MEMORY", 2**26 if small else 0)
    frame = table.set_index(pd.Index(np.arange(300)[::-1] * 10, name=name))
    frame.to_parquet(tmp_path / "table.parquet")
    expected = es.energy_test(table[["u", "v", "w"]], groups=table["group"], n_resamples=19, rng=1)
    assert_same_test(es.energy_test(tmp_path / "table.parquet", groups="group", n_resamples=19, rng=1), expected)
    frame.drop(columns="group").assign(id=table["group"].to_numpy()).set_index("id").to_parquet(tmp_path / "by.parquet")
    assert_same_test(es.energy_test(tmp_path / "by.parquet", groups="id", n_resamples=19, rng=1), expected)


@pytest.mark.parametrize("block_bytes", sweep([8 * 3 * 11, 1], [8 * 3 * 11]))
@pytest.mark.parametrize("row_group_size", sweep([7, 70, 300], [70]))
def test_rows_of_a_file_against_the_whole(block_bytes, row_group_size, table, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(open_blocks, "IN_MEMORY", 0)
    X = table[["w", "v", "u"]]
    X.to_parquet(tmp_path / "table.parquet", row_group_size=row_group_size)
    for start, stop in ((0, 300), (0, 1), (299, 300), (65, 142), (70, 140)):
        found = parquet.read_rows(str(tmp_path / "table.parquet"), start, stop, ["w", "v", "u"], "X")
        assert_array_equal(found, X.to_numpy()[start:stop])
    found = open_blocks.opened((tmp_path / "table.parquet",), {})[0][0].values
    assert_array_equal(found.take(0, 300), X.to_numpy())
    assert_array_equal(found.take(65, 142), X.to_numpy()[65:142])
    assert len(found.parts[0].widths) == (3 if block_bytes == 1 or row_group_size > 7 else 1)


def test_few_rows_of_wide_tables_are_in_memory(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 8 * 40 * 25)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 8 * 40 * 25)
    monkeypatch.setattr(rows, "TILE_ROWS", 10)
    X = pd.DataFrame(rng.normal(size=(120, 40))).rename(columns=str)
    X.to_parquet(tmp_path / "wide.parquet")
    with parquet.opened_file(tmp_path / "wide.parquet", "X") as file:
        assert [len(panel) for panel in parquet.panels(file.metadata, list(X.columns))] == [8, 8, 8, 8, 8]
        assert [len(frame) for frame in parquet.batches(file, list(X.columns))] == [25, 25, 25, 25, 20]
    values = RowsOnDisk(parts=(spool(iter([X.to_numpy()]), "X"),)).values()
    assert max(span.stop - span.start for span in values.spans) == 25


# ---------------------------------------------------------------- clusters


CLUSTERED = {
    "plain": {},
    "features recomputed": {},
    "given labels": {"init": np.arange(300) % 3},
    "random starts": {"init": "random", "alpha": 1.5},
    "standardized": {"standardize": True},
    "median width": {"metric": "gaussian"},
    "weights": {"sample_weight": 1 + np.arange(300) % 4},
    "callable": {"metric": lambda X, Y: np.sqrt(np.abs(X[:, None] - Y[None]).sum(axis=2))},
}


@pytest.mark.parametrize("name", sweep(CLUSTERED, ["callable", "weights"]))
@pytest.mark.usefixtures("small_blocks")
def test_clusters_of_maps_and_files_are_those_of_arrays(name, table, tmp_path, monkeypatch):
    if name == "features recomputed":
        monkeypatch.setattr(features, "STORED_BYTES", 0)
    X = table[["u", "v", "w"]]
    how = {"algorithm": es.Landmarks(n_landmarks=20, batch_size=60), "n_init": 3, "rng": 3, **CLUSTERED[name]}
    monkeypatch.setattr(rows, "VALUE_ROWS", 77)
    expected = es.energy_cluster(X, 3, **how)
    assert_same_partition(es.energy_cluster(memory_map(table, tmp_path), 3, **how), expected)
    X.to_parquet(tmp_path / "points.parquet", row_group_size=70)
    found = es.energy_cluster(tmp_path / "points.parquet", 3, **how)
    assert_same_partition(found, expected)
    assert found.columns == ("u", "v", "w")
    assert found.points is None
    assert found.coordinates.shape == (300, 2)


@pytest.mark.usefixtures("small_blocks")
def test_coordinates_for_the_picture_are_principal_ones(table, tmp_path):
    X = table[["u", "v", "w"]]
    found = es.energy_cluster(memory_map(table, tmp_path), 3, algorithm=es.Landmarks(n_landmarks=299, batch_size=299))
    exact = es.principal_coordinates(es.pairwise(X) ** 0.5).coordinates[:, :2]
    assert_allclose(np.abs(found.coordinates), np.abs(exact), atol=0.02)
    assert found.plot().get_xlabel() == "principal coordinate 1"
    with pytest.raises(ValueError, match='"components" only where columns of numbers were clustered'):
        found.plot(space="components")


@pytest.mark.parametrize("standardize", sweep([False, True], 1))
@pytest.mark.usefixtures("small_blocks")
def test_the_estimator_reads_blocks(standardize, table, tmp_path):
    X, points = table[["u", "v", "w"]], memory_map(table, tmp_path)
    X.to_parquet(tmp_path / "points.parquet")
    make = lambda: es.EnergyClustering(  # noqa: E731
        3, algorithm=es.Landmarks(n_landmarks=20, batch_size=60), standardize=standardize, random_state=4
    )
    expected, found = make().fit(X), make().fit(tmp_path / "points.parquet")
    assert_same_partition(found.partition_, expected.partition_)
    assert found.n_features_in_ == 3
    assert found.feature_names_in_.tolist() == ["u", "v", "w"]
    new = X.sample(200, random_state=1)
    new.to_parquet(tmp_path / "new.parquet")
    assert_array_equal(found.predict(tmp_path / "new.parquet"), expected.predict(new))
    assert_allclose(found.transform(tmp_path / "new.parquet"), expected.transform(new), atol=1e-12)
    assert found.score(tmp_path / "new.parquet") == pytest.approx(expected.score(new))
    mapped = make().fit(points, sample_weight=np.ones(300))
    assert_array_equal(mapped.labels_, expected.labels_)
    assert_array_equal(mapped.predict(points), expected.predict(X))
    with pytest.raises(ValueError, match="`sample_weight` must be positive where `X` is read in blocks"):
        make().fit(points, sample_weight=np.arange(300))
    X[["u", "w"]].to_parquet(tmp_path / "narrow.parquet")
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(tmp_path / "narrow.parquet")
    with pytest.raises(ValueError, match="2 features, but EnergyClustering is expecting 3"):
        mapped.predict(points[:, :2])


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_one_distinct_point_among_many(tmp_path):
    """Landmarks that a random part of the rows does not have are found in the rest."""
    X = np.zeros((30_000, 2))
    X[[7, 2000, 29_999]] = [[1, 0], [0, 1], [5, 5]]
    np.save(tmp_path / "points.npy", X)
    found = es.energy_cluster(np.load(tmp_path / "points.npy", mmap_mode="r"), 4, algorithm="landmarks", rng=0)
    assert found.sizes == (29_997, 1, 1, 1)
    assert found.within == pytest.approx(0, abs=1e-9)


def test_other_algorithms_need_all_rows_here(rng):
    with pytest.raises(ValueError, match='`client` goes with algorithm="landmarks", got "hartigan"'):
        es.energy_cluster(rng.normal(size=(20, 2)), 2, algorithm="hartigan", client=object())


# ---------------------------------------------------------------- what is refused


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "asymptotic"}, r"`X` is read in blocks of rows, and this needs all 300 of them in memory"),
        ({"metric": "seuclidean"}, r"seuclidean.* is fitted to all rows at once"),
        ({"metric": "gower"}, r"Gower.* is fitted to all rows at once"),
        ({"metric": "dice"}, r"dice.* needs columns of 0 and 1 .*but row 0 of `X` has"),
    ],
)
def test_what_needs_all_rows_is_refused(how, message, table, tmp_path):
    g = (table["group"] == "a").astype(int)
    with pytest.raises(ValueError, match=message):
        es.energy_test(memory_map(table, tmp_path), groups=g, **how)


@pytest.mark.usefixtures("small_blocks")
def test_no_metric_of_several_takes_z_scores_that_it_does_not_allow(table, tmp_path):
    g = table["group"]
    with pytest.raises(ValueError, match=r"standardize=True does not go with .*canberra"):
        es.energy_test(memory_map(table, tmp_path), groups=g, metric=["euclidean", "canberra"], standardize=True)


@pytest.mark.usefixtures("small_blocks")
def test_residuals_of_z_scores_are_rounded_as_those_in_memory(rng):
    """The unit of rounding is of z-scores, however far the columns are from 0."""
    X = rng.normal(size=(90, 2)) + 1e9
    center, scale = X.mean(axis=0), X.std(axis=0, ddof=1)
    basis = np.linalg.qr(rng.normal(size=(90, 2)) - rng.normal(size=2))[0]
    basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
    given = RowsOnDisk(parts=(spool(iter([X[:40], X[40:]]), "X"),))
    table = given.standardized(center, scale)
    Z = (X - center) / scale
    found = np.concatenate(list(table.residuals(basis).values().map(np.array)))
    assert_allclose(found, Z - basis @ (basis.T @ Z), atol=1e-11)
    assert_array_equal(table.measured().low, X.min(axis=0))
    assert_allclose(table.corners(), [Z.min(axis=0), Z.max(axis=0)], rtol=1e-12)


@pytest.mark.usefixtures("small_blocks")
def test_residuals_far_from_0_keep_the_digits_of_the_numbers(rng):
    """They were rounded to 45 bits of the largest number, at 2**44 to 1/2."""
    X = np.round(64 * rng.normal(size=(90, 2))) / 64
    basis = rng.normal(size=(90, 2))
    basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
    near, far = (dissimilarity.Dissimilarity.from_data(x, metric="euclidean", alpha=1.0) for x in (X, X + 2.0**44))
    blocks = RowsOnDisk(parts=(spool(iter([far.points[:40], far.points[40:]]), "X"),))
    read = np.concatenate(list(blocks.residuals(basis).values().map(np.array)))
    for found in (far.residuals(basis).points, read):
        apart = found - near.residuals(basis).points
        assert np.ptp(apart, axis=0).max() <= 2.0**-7  # two units, of 2**-8


@pytest.mark.usefixtures("small_blocks")
def test_bad_files(table, tmp_path):
    path = parquet_file(table, tmp_path)
    with pytest.raises(ValueError, match=r"`groups` must be labels or a column of .* Did you mean 'group'"):
        es.energy_test(path, groups="grup")
    with pytest.raises(ValueError, match=r"there is no file '.*nothing.parquet'"):
        es.dispersion(tmp_path / "nothing.parquet", "group")
    with pytest.raises(TypeError, match=r"these columns do not: 'group'.*read_parquet\(path, columns=\[...\]\)"):
        es.energy_test(path, groups=table["group"].tolist())
    with pytest.raises(ValueError, match=r"is a folder; several files are read by `dask.dataframe.read_parquet`"):
        es.dispersion(tmp_path, "group")
    with pytest.raises(ValueError, match=r"got the pattern '.*\*.parquet'; several files"):
        es.dispersion(tmp_path / "*.parquet", "group")
    table.loc[250, "v"] = np.nan
    with pytest.raises(ValueError, match=r"`X` must be finite, but has 1 NaN values in column v"):
        es.dispersion(parquet_file(table, tmp_path), "group")
    m = memory_map(table.dropna(), tmp_path)
    with pytest.raises(ValueError, match=r"same number of columns, got 3, 2"):
        es.energy_test(m, m[:, :2])


@pytest.mark.parametrize("limit", [0, 2**26])
def test_other_columns_are_few_in_the_message(limit, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(open_blocks, "IN_MEMORY", limit)
    X = pd.DataFrame(rng.normal(size=(20, 300))).rename(columns=lambda j: f"v{j}")
    turned = X[X.columns[::-1]]
    turned.to_parquet(tmp_path / "turned.parquet")
    for other in (turned, tmp_path / "turned.parquet"):
        X.to_parquet(tmp_path / "first.parquet")
        first = X if isinstance(other, pd.DataFrame) else tmp_path / "first.parquet"
        with pytest.raises(ValueError, match=r"'v0' in .* and 'v299' in .*297 more differ.*another order") as refused:
            es.energy_test(first, other)
        assert len(str(refused.value)) < 300
    with pytest.raises(ValueError, match=r"same columns: column 0 is 'v0' in sample 1 and 'u' in sample 2\.$"):
        es.energy_test(X, X.rename(columns={"v0": "u"}))


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 this is not one")
    with pytest.raises(ValueError, match=r"broken.parquet.* is not a Parquet file"):
        es.dispersion(tmp_path / "broken.parquet", "group")


def test_a_full_disk_is_an_error_that_says_so(rng):
    def full(self, file):
        raise OSError("786432 requested and 694272 written")

    points = rng.normal(size=(20, 2)).view(type("Full", (np.ndarray,), {"tofile": full}))
    with pytest.raises(OSError, match=r"`X` is written to a temporary file .*786432 requested.*TMPDIR"):
        rows._write(points, io.BytesIO(), "X")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path):
    """Anonymous memory of a process that sums a table of 114 MB in blocks of 8, after a look at 2,000 rows, 38 MB."""
    code = """
        import sys, numpy as np, energystats as es
        X = np.load(sys.argv[1], mmap_mode="r")
        peak = lambda: int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1]) / 1024
        es.energy_test(np.array(X[:1500, :2]), groups=np.arange(1500) % 2, n_resamples=9, rng=0)
        from energystats.pairs import disk as rows, open_blocks, parquet
        rows.BLOCK_BYTES = 2**23
        before, seen = peak(), []
        take = rows.RowsOnDisk.take
        rows.RowsOnDisk.take = lambda self, *span: seen.append(peak()) or take(self, *span)
        es.dispersion(X, np.arange(len(X)) % 2)
        print(max(seen) - before, len(seen))
    """
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (6_000, 2_500))
    for start in range(0, len(X), 500):
        X[start : start + 500] = np.random.default_rng(start).normal(size=(500, X.shape[1]))
    del X
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path / "X.npy"], capture_output=True, text=True, check=True
    )
    grown, blocks = done.stdout.split()
    assert int(blocks) > 3
    assert float(grown) < 80


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "row_group_size"), [(4_000_000, 8, 4_000_000), (8000, 4000, 4000)])
def test_files_are_opened_in_bounded_memory(n, d, row_group_size, rng, tmp_path):
    """Anonymous memory of a process that opens a file of 256 MB, also where it is a single row group."""
    code = """
        import sys
        from energystats.pairs import disk as rows, open_blocks, parquet
        used = lambda: int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1]) / 1024
        parquet.BLOCK_BYTES = 2**22
        open_blocks.opened((sys.argv[2],), {})  # what is imported
        before, seen = used(), []
        as_points = rows.as_points
        rows.as_points = lambda *given: seen.append(used()) or as_points(*given)
        (opened,), _ = open_blocks.opened((sys.argv[1],), {})
        print(max(seen) - before, len(seen), len(opened))
    """
    X = rng.normal(size=(n, d))
    pd.DataFrame(X).rename(columns=str).to_parquet(tmp_path / "X.parquet", row_group_size=row_group_size)
    pd.DataFrame(X[:9]).rename(columns=str).to_parquet(tmp_path / "few.parquet")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path / "X.parquet", tmp_path / "few.parquet"],
        capture_output=True,
        text=True,
        check=True,
    )
    grown, batches, rows_found = map(float, done.stdout.split())
    assert rows_found == n
    assert batches > 10
    assert grown < 130


def test_labels_of_parts_with_other_types_are_not_rounded():
    """Whole numbers in one partition and fractions in another: one type for both would merge the first two."""
    parts = [pd.Series([2**53, 2**53 + 1]), pd.Series([0.5, 0.5])]
    assert open_blocks._join_labels(parts, pd.RangeIndex(4)).tolist() == [2**53, 2**53 + 1, 0.5, 0.5]


def test_a_missing_label_of_a_large_file_is_called_missing(tmp_path, monkeypatch):
    """Whole numbers become doubles in parts of a column that have a gap, and stay whole in others."""
    monkeypatch.setattr(parquet, "BATCH", 30)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
    frame["t"] = pd.array(np.arange(200) % 2, dtype="Int64")
    frame.loc[3, "t"] = pd.NA
    monkeypatch.setattr(open_blocks, "IN_MEMORY", 0)
    file = parquet_file(frame, tmp_path)
    with pytest.raises(ValueError, match=r"`groups` must not be missing, but 1 of 200"):
        es.energy_test(file, groups="t", n_resamples=9, rng=0)
    for missing in ("raise", "drop"):
        with pytest.raises(ValueError, match=r"leave those rows out first: `X` is read in blocks\."):
            es.disco(file, groups="t", missing=missing, n_resamples=9, rng=0)


@pytest.mark.parametrize("first", [1e9 + 1e-3 * np.linspace(0, 1, 100), 1e12 + 1e-3 * np.arange(100), np.zeros(100)])
def test_deviations_of_blocks_keep_their_digits(first):
    """Far from 0, and where a block is constant beside tiny numbers."""
    x = np.concatenate([first, first[::-1] + (1e-156 if not first.any() else 0.0) * np.arange(100)])[:, None]
    found = Measures.over(Measures.of(x[i : i + 37]) for i in range(0, 200, 37))
    exact = [Fraction(float(v)) for v in x[:, 0]]
    mean = sum(exact) / 200
    unit = max(exact) - min(exact)
    expected = float(sum(((v - mean) / unit) ** 2 for v in exact) / 200) ** 0.5 * float(unit)
    assert_allclose(found.deviation[0], expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["map", "parquet", "list", "arrow"])
def test_single_precision_of_a_matrix_is_seen_on_every_route(kind, tmp_path, rng):
    D = es.pairwise(rng.normal(size=(12, 2)))
    D = (D * (1 + 2e-6 * rng.normal(size=D.shape))).astype("float32")
    np.fill_diagonal(D, 0)
    frame = pd.DataFrame(D, columns=[f"p{i}" for i in range(12)])
    frame.to_parquet(tmp_path / "d.parquet")
    np.save(tmp_path / "d.npy", D)
    given = {
        "map": lambda: np.load(tmp_path / "d.npy", mmap_mode="r"),
        "parquet": lambda: tmp_path / "d.parquet",
        "list": lambda: list(D),
        "arrow": lambda: pd.read_parquet(tmp_path / "d.parquet", dtype_backend="pyarrow"),
    }[kind]()
    g = np.repeat([0, 1], 6)
    found, expected = (es.energy_test(x, groups=g, metric="precomputed", rng=0) for x in (given, D))
    assert found.pvalue == expected.pvalue
