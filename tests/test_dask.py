"""Tests on the workers of a Dask cluster: p-values do not depend on the workers, or on one that dies."""

import gc
import os
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats.clustering import features
from energystats.dissimilarity import Groups
from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison
from energystats.inputs.methods import Sampling
from energystats.pairs import block_values as values
from energystats.pairs import dask as on_cluster
from energystats.pairs import dask_tables as distribution
from energystats.pairs import dask_workers as workers
from tests.comparisons import assert_same_partition, assert_same_test
from tests.conftest import sweep

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
N = 1300  # three blocks of the fewest rows


def kill_a_worker(cluster):
    """The process of one worker, without a word to anybody."""
    nanny = next(iter(cluster.workers.values()))
    os.kill(nanny.process.pid, 9)


PROCESSES = pytest.param("processes", marks=pytest.mark.slow)
OF_PROCESSES = pytest.mark.parametrize("cluster", [PROCESSES], indirect=True)


@pytest.fixture(scope="module", params=["threads", PROCESSES])
def cluster(request):
    """Two workers that are spoken to over the network: threads of this process, or processes as users have them."""
    how = {} if request.param == "processes" else {"protocol": "tcp://"}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=not how, dashboard_address=":0", silence_logs=50, **how
    ) as found:
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def table(rng):
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["u", "v", "w"])
    frame["group"] = rng.choice(["a", "b", "c"], N)
    frame.loc[frame.group == "a", "u"] += rng.uniform(0, 0.3)
    return frame


def forms(frame, tmp_path):
    """Every kind of table that a cluster can be given, with what names its groups."""
    X, g = frame[["u", "v", "w"]], frame["group"]
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=170)
    np.save(tmp_path / "points.npy", X.to_numpy())
    array = da.from_array(X.to_numpy(), chunks=(211, 2))
    return {
        "array": (X.to_numpy(), g),
        "frame": (X, g),
        "frame with its groups": (frame, "group"),
        "memory map": (np.load(tmp_path / "points.npy", mmap_mode="r"), g),
        "path": (tmp_path / "table.parquet", "group"),
        "Dask array": (array, g),
        "Dask array of unknown length": (array[array[:, 0] > -np.inf].compute_chunk_sizes(), g),
        "Dask frame": (dd.from_pandas(frame, npartitions=5), "group"),
    }


KINDS = ["array", "frame", "frame with its groups", "memory map", "path", "Dask array", "Dask frame"]


@pytest.mark.parametrize("kind", sweep([*KINDS, "Dask array of unknown length"], ["path", "Dask frame"]))
def test_every_kind_of_table(kind, table, tmp_path, client):
    expected = es.energy_test(table[["u", "v", "w"]], groups=table["group"], n_resamples=100, rng=2)
    X, groups = forms(table, tmp_path)[kind]
    assert_same_test(es.energy_test(X, groups=groups, n_resamples=100, client=client, rng=2), expected)


@pytest.mark.slow
def test_samples_one_by_one(table, client):
    X = table[["u", "v", "w"]].to_numpy()
    expected = es.energy_test(X[:400], X[400:], n_resamples=30, rng=2)
    assert_same_test(es.energy_test(da.from_array(X[:400]), X[400:], n_resamples=30, client=client, rng=2), expected)
    assert_same_test(es.energy_test(X[:400], X[400:], n_resamples=30, client=client, rng=2), expected)


OPTIONS = {
    "weights": lambda rng: {"sample_weight": rng.uniform(0.5, 2, N)},
    "strata": lambda rng: {"design": es.Design(strata=rng.integers(0, 5, N))},
    "standardized": lambda rng: {"standardize": True},
    "median width": lambda rng: {"metric": "gaussian"},
    "callable": lambda rng: {"metric": lambda X, Y: np.abs(X[:, None] - Y[None]).sum(axis=2) ** 0.5},
    "several": lambda rng: {"alpha": [0.5, 1.5]},
    "f": lambda rng: {"statistic": "f"},
    "stopped": lambda rng: {"method": es.Permutation(70, stop_at=4)},
    "pairwise": lambda rng: {"statistic": "pairwise"},
    "binned": lambda rng: {"method": es.Binned(30)},
    "binned, with weights": lambda rng: {"method": es.Binned(30), "sample_weight": rng.uniform(0.5, 2, N)},
    "many bins": lambda rng: {"method": es.Binned(300)},
    "sliced": lambda rng: {"method": es.Sliced(5)},
    "sliced and binned": lambda rng: {"method": es.Sliced(5, 30)},
}


@pytest.mark.parametrize("name", sweep(OPTIONS, ["callable", "sliced", "stopped"]))
def test_options(name, table, client, rng, monkeypatch):
    monkeypatch.setattr(on_cluster, "BIN_SUMS_BYTES", 8 * 100**2)  # "many bins" are more
    X, g, how = table[["u", "v", "w"]], table["group"], OPTIONS[name](rng)
    expected = es.energy_test(X, groups=g, n_resamples=70, rng=2, **how)
    assert_same_test(es.energy_test(X, groups=g, n_resamples=70, client=client, rng=2, **how), expected)


def test_whole_plots(table, client, rng):
    plots = np.repeat(np.arange(N // 10), 10)
    g = rng.permutation(np.arange(N // 10) % 2)[plots]
    X = table[["u", "v", "w"]].to_numpy()
    how = {"groups": g, "design": es.Design(whole_plots=plots), "n_resamples": 70, "rng": 1}
    assert_same_test(es.energy_test(X, client=client, **how), es.energy_test(X, **how))


def test_interval_of_e(table, client):
    X, how = table[["u", "v", "w"]], {"groups": table["group"] == table["group"].iloc[0], "n_bootstrap": 70, "rng": 1}
    found, expected = es.energy_interval(X, client=client, **how), es.energy_interval(X, **how)
    assert_allclose(found.bootstrap_distribution, expected.bootstrap_distribution, atol=1e-12)
    assert_allclose((found.low, found.high), (expected.low, expected.high), atol=1e-12)


def test_exact_tests_stay_exact(rng, client):
    X, g = rng.normal(size=(10, 2)), np.repeat([0, 1], 5)
    found = es.energy_test(X, groups=g, client=client, rng=1)
    assert found.method == "exact"
    assert_same_test(found, es.energy_test(X, groups=g, rng=1))


def test_negative_values_warn(table, client):
    """A semimetric that is not of negative type: what rounding is measured against needs all |rho|."""

    def rho(X, Y):
        squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
        return squares * (1 - squares / 8)

    X, g = table[["u", "v", "w"]].to_numpy()[:700], table["group"][:700].to_numpy()
    with pytest.warns(es.NotNegativeTypeWarning) as warned:
        found = es.energy_test(X, groups=g, metric=rho, n_resamples=20, client=client, rng=1)
    with pytest.warns(es.NotNegativeTypeWarning) as expected_warnings:
        expected = es.energy_test(X, groups=g, metric=rho, n_resamples=20, rng=1)
    assert_same_test(found, expected)
    assert str(warned[0].message) == str(expected_warnings[0].message)


@pytest.mark.slow
def test_dispersion_and_disco(table, client, rng):
    X, g = table[["u", "v", "w"]], table["group"]
    w = rng.uniform(0.5, 2, N)
    found, expected = (es.dispersion(X, g, sample_weight=w, client=c) for c in (client, None))
    assert_allclose(found.g, expected.g, rtol=1e-12)
    found, expected = (es.disco(X, groups=g, n_resamples=19, rng=1, client=c) for c in (client, None))
    assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-10)
    data = pd.DataFrame({"g": g, "x": rng.normal(size=N)})
    found, expected = (es.disco(X, "~ g * x", data=data, n_resamples=19, rng=1, client=c) for c in (client, None))
    assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-9)
    with pytest.raises(ValueError, match=r"a formula with responses has none: write disco\(data\[\[\.\.\.\]\]"):
        es.disco("x ~ g", data=data, client=client)


@pytest.mark.slow
def test_any_chunking_and_the_client_in_force(table, client, monkeypatch):
    X, g = table[["u", "v", "w"]].to_numpy(), table["group"].to_numpy()
    expected = es.energy_test(X, groups=g, n_resamples=200, rng=5)
    with client.as_current():
        found = es.energy_test(da.from_array(X, chunks=100), groups=g, n_resamples=200, rng=5)
    assert_same_test(found, expected)
    for rows, kept, level in ((256, 1, 1), (768, 2**27, 16), (2048, 2**17, 3)):
        monkeypatch.setattr(distribution, "FEWEST_ROWS", rows)
        monkeypatch.setattr(on_cluster, "LABELING_BYTES", kept)
        monkeypatch.setattr(values, "ADDED_AT_ONCE", max(level, 2))
        assert_same_test(es.energy_test(X, groups=g, n_resamples=200, client=client, rng=5), expected)


def test_one_worker_and_threads_alone(table):
    X, g = table[["u", "v", "w"]].to_numpy(), table["group"].to_numpy()
    expected = es.energy_test(X, groups=g, n_resamples=130, rng=5)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0", silence_logs=50
        ) as threads,
        distributed.Client(threads, set_as_default=False) as own,
    ):
        assert_same_test(es.energy_test(X, groups=g, n_resamples=130, client=own, rng=5), expected)


def test_drawings_are_those_of_one_machine(rng):
    codes = rng.integers(0, 3, 40).astype(np.intp)
    groups = Groups(codes, (0, 1, 2))
    sampling, own = Sampling(n_resamples=150), np.random.default_rng(1)
    others = GroupComparison(None, groups, STATISTICS["between"], sampling, own).other_labelings()
    drawing = on_cluster.Drawing("test", codes.astype(np.uint8), np.ones(40), others, 3)
    found = np.concatenate([drawing.labelings(chunk) for chunk in drawing.chunks(2)])
    assert_array_equal(found[0], codes)
    assert_array_equal(found[1:], np.concatenate(list(others.blocks())))
    assert len(found) == 151


@OF_PROCESSES
def test_a_worker_that_dies_changes_nothing(rng, cluster, client):
    X, g = rng.normal(size=(6000, 3)), rng.integers(0, 2, 6000)
    expected = es.energy_test(X, groups=g, n_resamples=499, rng=3)
    before = {worker: nanny.process.pid for worker, nanny in cluster.workers.items()}
    found = []
    running = threading.Thread(
        target=lambda: found.append(es.energy_test(X, groups=g, n_resamples=499, client=client, rng=3))
    )
    running.start()
    deadline = time.monotonic() + 60
    while not any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running.is_alive()
    kill_a_worker(cluster)
    running.join(120)
    assert found, "the test did not come to an end"
    assert_same_test(found[0], expected)
    after = {worker: nanny.process.pid for worker, nanny in cluster.workers.items()}
    assert before != after


@pytest.mark.parametrize(
    "kind", sweep(["frame", "path", "Dask array", "Dask frame"], ["Dask frame"])
)  # all are read as for the tests above
def test_clusters_of_every_kind_of_table(kind, table, tmp_path, client):
    how = {"algorithm": es.Landmarks(n_landmarks=8, batch_size=300), "n_init": 2, "rng": 4}
    expected = es.energy_cluster(table[["u", "v", "w"]], 3, **how)
    X = forms(table.drop(columns="group").assign(group=0.0), tmp_path)[kind][0]
    if kind == "path":
        table[["u", "v", "w"]].to_parquet(X, row_group_size=170)
    if kind == "Dask frame":
        X = X[["u", "v", "w"]]
    assert_same_partition(es.energy_cluster(X, 3, client=client, **how), expected)


CLUSTERED = {
    "weights": lambda rng: {"sample_weight": rng.uniform(0.5, 2, N)},
    "standardized": lambda rng: {"standardize": True},
    "given labels": lambda rng: {"init": rng.permutation(np.arange(N) % 3)},
    "median width": lambda rng: {"metric": "gaussian"},
    "callable": lambda rng: {"metric": lambda X, Y: np.abs(X[:, None] - Y[None]).sum(axis=2) ** 0.5},
    "features recomputed": lambda rng: {},
    "few rows": lambda rng: {"algorithm": es.Landmarks(n_landmarks=8, batch_size=N)},
}


@pytest.mark.parametrize("name", sweep(CLUSTERED, ["callable"]))
def test_options_of_clustering(name, table, client, rng, monkeypatch):
    if name == "features recomputed":
        monkeypatch.setattr(features, "STORED_BYTES", 0)
    how = {"algorithm": es.Landmarks(n_landmarks=8, batch_size=300), "n_init": 2, "rng": 4, **CLUSTERED[name](rng)}
    X = table[["u", "v", "w"]].to_numpy()
    monkeypatch.setattr(values, "ADDED_AT_ONCE", 2)
    assert_same_partition(es.energy_cluster(X, 3, client=client, **how), es.energy_cluster(X, 3, **how))


@pytest.mark.slow
def test_the_estimator_takes_dask_arrays(table, client):
    X = table[["u", "v", "w"]].to_numpy()
    how = {"algorithm": es.Landmarks(n_landmarks=8, batch_size=300), "n_init": 2, "random_state": 1}
    make = lambda: es.EnergyClustering(3, **how)  # noqa: E731
    expected = make().fit(X)
    with client.as_current():
        found = make().fit(da.from_array(X, chunks=(400, 3)))
        predicted = found.predict(da.from_array(X + 0.1, chunks=(500, 3)))
    assert_same_partition(found.partition_, expected.partition_)
    assert_array_equal(predicted, expected.predict(X + 0.1))


@OF_PROCESSES
def test_clusters_when_a_worker_dies(rng, cluster, client):
    X = rng.normal(size=(8000, 3))
    how = {"algorithm": es.Landmarks(n_landmarks=12, batch_size=1000), "n_init": 2, "rng": 4}
    expected, passes = es.energy_cluster(X, 5, **how), []

    def watch(start, n_passes, W):
        passes.append(W)
        if len(passes) == 8:
            kill_a_worker(cluster)

    found = es.energy_cluster(X, 5, client=client, callback=watch, **how)
    assert len(passes) > 8
    assert_same_partition(found, expected)


def test_a_rho_that_workers_find_not_of_negative_type(client):
    cubes = lambda A, B: np.abs(A[:, :1] - B[:, 0]) ** 3  # noqa: E731
    X = np.linspace(0, 1, N)[:, None] * np.ones(2)
    with pytest.raises(ValueError, match="needs a rho of negative type"):
        es.energy_cluster(X, 2, metric=cubes, algorithm=es.Landmarks(n_landmarks=2, batch_size=100), client=client)


def peak_megabytes():
    """Largest resident memory of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from the system's files")
def test_workers_keep_the_labels_of_few_relabelings(rng, monkeypatch):
    """All labels would take 80 MB; a worker keeps two chunks of 4 MB."""
    monkeypatch.setattr(on_cluster, "LABELING_BYTES", 2**22)
    X, g = rng.normal(size=(8000, 3)), rng.integers(0, 2, 8000)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as workers,
        distributed.Client(workers, set_as_default=False) as own,
    ):
        es.energy_test(X[:3000], groups=g[:3000], n_resamples=400, client=own, rng=1)
        before = own.run(peak_megabytes)
        es.energy_test(X, groups=g, n_resamples=9999, client=own, rng=1)
        after = own.run(peak_megabytes)
    assert len(before) == 2
    assert all(after[worker] - before[worker] < 60 for worker in before)


def test_bad_rows_are_named(table, client):
    table.loc[1111, "v"] = np.nan
    X, g = table[["u", "v", "w"]], table["group"]
    with pytest.raises(ValueError, match=r"`X` must be finite, but has 1 NaN"):
        es.energy_test(da.from_array(X.to_numpy(), chunks=300), groups=g, client=client)
    with pytest.raises(TypeError, match=r"`client` must be a distributed.Client, got str"):
        es.energy_test(X, groups=g, client="tcp://127.0.0.1")
    array = da.from_array(X.to_numpy(), chunks=300)
    with pytest.raises(ValueError, match=r"known chunks: call `.compute_chunk_sizes\(\)`"):
        es.energy_test(array[array[:, 0] > 0], groups=g, client=client)


@pytest.mark.slow
def test_columns_of_several_files(table, tmp_path, client):
    """Dask may read several files as one partition where few columns are asked for."""
    for i, part in enumerate(np.array_split(np.arange(N), 12)):
        wide = table.iloc[part].assign(**{f"x{j}": 0.0 for j in range(40)})
        wide.to_parquet(tmp_path / f"part{i:02}.parquet")
    frame = dd.read_parquet(tmp_path)[["u", "v", "group"]]
    expected = es.energy_test(table[["u", "v"]], groups=table["group"], n_resamples=30, rng=2)
    assert_same_test(es.energy_test(frame, groups="group", n_resamples=30, client=client, rng=2), expected)
    found = es.energy_test(frame[["u", "v"]], groups=table["group"], n_resamples=30, client=client, rng=2)
    assert_same_test(found, expected)


@pytest.mark.slow
def test_frames_with_numbered_columns_and_empty_partitions(table, client):
    X = table[["u", "v", "w"]].set_axis([0, 1, 2], axis=1).sort_values(0, ignore_index=True)
    g, low = table["group"], X[0].iloc[500]
    frame = dd.from_pandas(X, npartitions=5)
    kept = (X[0] > low).to_numpy()
    found = es.dispersion(frame[frame[0] > low], g[kept].to_numpy(), client=client)
    assert_allclose(found.g, es.dispersion(X.loc[kept], g[kept].to_numpy()).g, rtol=1e-12)
    outer = (X[0] < X[0].quantile(0.3)) | (X[0] > X[0].quantile(0.7))  # the third of five partitions is empty
    parts = frame[(frame[0] < X[0].quantile(0.3)) | (frame[0] > X[0].quantile(0.7))]
    found = es.dispersion(parts, g[outer.to_numpy()].to_numpy(), client=client)
    assert_allclose(found.g, es.dispersion(X.loc[outer], g[outer.to_numpy()].to_numpy()).g, rtol=1e-12)
    with pytest.raises(ValueError, match="`X` must have at least one row"):
        es.dispersion(frame[frame[0] > 1e9], g, client=client)


def held(client):
    """Count the objects that the cluster still holds after a while."""
    deadline = time.monotonic() + 20
    while any(client.who_has().values()) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return dict(client.who_has())


@pytest.mark.parametrize("kind", sweep(["path", "Dask frame", "frame"], ["path"]))
def test_calls_that_fail_leave_nothing_on_the_cluster(kind, table, tmp_path, client):
    assert not held(client)
    table.loc[1200, "v"] = np.nan
    points = table[["u", "v", "w"]]
    points.to_parquet(tmp_path / "bad.parquet", row_group_size=170)
    X = {"path": tmp_path / "bad.parquet", "Dask frame": dd.from_pandas(points, npartitions=5), "frame": points}[kind]
    calls = [
        lambda: es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=20, batch_size=100), client=client),
        lambda: es.energy_test(X, groups=table["group"], n_resamples=9, client=client),
        lambda: es.energy_test(X, groups=table["group"], method=es.Permutation(9, stop_at=2), client=client),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"must be finite, but has 1 NaN values in column v") as warned:
            call()
        del warned
        assert not held(client)


def test_a_rho_that_fails_leaves_nothing_on_the_cluster(table, client):
    def rho(X, Y):
        if len(X) == 20:
            raise RuntimeError("no such rho")
        return np.abs(X[:, None] - Y[None]).sum(axis=2)

    with pytest.raises(RuntimeError, match="no such rho"):
        es.energy_test(table[["u", "v"]][:1044], groups=table["group"][:1044], metric=rho, client=client)
    assert not held(client)


def test_a_closed_client_is_named(table, cluster):
    own = distributed.Client(cluster, set_as_default=False)
    own.close()
    with pytest.raises(ValueError, match="`client` must be connected to a Dask cluster, and this one is closed"):
        es.energy_test(table[["u", "v"]], groups=table["group"], client=own)


def threads_of(n_workers=1):
    """A cluster of threads."""
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )


def test_a_client_in_force_that_is_closed_is_named(table, cluster):
    own = distributed.Client(cluster, set_as_default=False)
    own.close()
    with own.as_current(), pytest.raises(ValueError, match=r"The Dask client in force must be connected .* is closed"):
        es.energy_test(da.from_array(table[["u", "v"]].to_numpy()), groups=table["group"].to_numpy())


BEGUN = threading.Event()  # which workers that are threads set


def slow_rho(A, B):
    if len(A) > 30:  # not where it is tried on a few rows, here
        BEGUN.set()
    time.sleep(0.05)
    return np.abs(A[:, None] - B[None]).sum(axis=2) ** 0.5


@pytest.mark.filterwarnings("ignore::energystats.PerformanceWarning")  # hours, if nobody closed anything
@pytest.mark.parametrize("what", sweep(["client", "cluster", "cluster by its address"], ["cluster"]))
@pytest.mark.parametrize("call", ["test", "clusters"])
def test_what_is_closed_during_a_call_ends_it_in_words(what, call, rng):
    X, g = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    ended: list[BaseException] = []
    BEGUN.clear()

    def run():
        try:
            if call == "test":
                es.energy_test(X, groups=g, metric=slow_rho, n_resamples=10**6, client=own, rng=1)
            else:
                how = {"algorithm": es.Landmarks(batch_size=200), "n_init": 10**4, "metric": slow_rho}
                es.energy_cluster(X, 5, client=own, rng=1, **how)
        except BaseException as error:
            ended.append(error)

    cluster = threads_of()
    own = distributed.Client(cluster.scheduler_address if "address" in what else cluster, set_as_default=False)
    running = threading.Thread(target=run, daemon=True)
    running.start()
    assert BEGUN.wait(60)
    (own if what == "client" else cluster).close()
    running.join(60)
    own.close()
    cluster.close()
    assert len(ended) == 1, "the call did not come to an end"
    with pytest.raises(ConnectionError, match="The Dask cluster went away while energystats computed on it"):
        raise ended[0]


def test_a_scheduler_that_is_gone_before_the_call(table):
    with threads_of() as cluster:
        own = distributed.Client(cluster.scheduler_address, set_as_default=False)
    # a client can learn of it as late as when it is asked for its workers
    known = r"`client` must be connected .*, and this one (lost|is closed)|The Dask cluster went away"
    with pytest.raises((ValueError, ConnectionError), match=known):
        es.energy_test(table[["u", "v"]], groups=table["group"], client=own)
    own.close()


def test_a_cluster_without_workers_is_given_up(table, monkeypatch):
    monkeypatch.setattr(workers, "WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr(workers, "ASK", 0.5)
    with threads_of(0) as cluster, distributed.Client(cluster, set_as_default=False) as own:
        with pytest.raises(
            ConnectionError, match=r"no workers for 1 seconds.*cluster.scale\(n\).*wait_for_workers\(1\)"
        ):
            es.energy_test(table[["u", "v"]], groups=table["group"], client=own)
        monkeypatch.setattr(workers, "WITHOUT_WORKERS", 60.0)
        threading.Timer(1.5, lambda: cluster.scale(1)).start()
        found = es.energy_test(table[["u", "v"]], groups=table["group"], client=own, n_resamples=9, rng=1)
    assert_same_test(found, es.energy_test(table[["u", "v"]], groups=table["group"], n_resamples=9, rng=1))


def dying_rho(A, B):
    import multiprocessing

    if multiprocessing.parent_process() is not None:  # on a worker, as the system ends one whose memory is full
        os.kill(os.getpid(), 9)
    return np.abs(A[:, None] - B[None]).sum(axis=2) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("call", ["test", "clusters"])
def test_workers_that_die_of_a_task_end_the_call_in_words(call, rng):
    X, began = rng.normal(size=(2500, 2)), time.monotonic()
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    calls = {
        "test": lambda own: es.energy_test(X, groups=np.arange(2500) % 2, metric=dying_rho, client=own, rng=1),
        "clusters": lambda own: es.energy_cluster(
            X, 2, algorithm=es.Landmarks(8, 100), metric=dying_rho, client=own, rng=1
        ),
    }
    words = r"One worker .* after the other .* memory was full.*memory_limit="
    with (
        distributed.LocalCluster(**how) as many,
        distributed.Client(many, set_as_default=False) as own,
        pytest.raises(ConnectionError, match=words),
    ):
        calls[call](own)
    assert time.monotonic() - began < 120  # seconds, with starting the cluster, on a busy machine


@pytest.mark.filterwarnings("ignore::energystats.PerformanceWarning")  # hours, if the workers stayed
def test_workers_that_do_not_come_back_are_given_up(monkeypatch, rng):
    monkeypatch.setattr(workers, "GONE_FOR", 3.0)  # a scheduler beside other work can be silent for one
    monkeypatch.setattr(workers, "ASK", 0.5)
    BEGUN.clear()
    with threads_of(1) as few, distributed.Client(few, set_as_default=False) as own:
        threading.Thread(target=lambda: BEGUN.wait(60) and not time.sleep(1.0) and few.scale(0), daemon=True).start()
        with pytest.raises(ConnectionError, match=r"All workers .* went away .* none came back within 3 seconds"):
            es.energy_test(
                rng.normal(size=(2000, 3)), groups=np.arange(2000) % 2, metric=slow_rho, n_resamples=10**5, client=own
            )


def test_tasks_that_are_cancelled_raise(client):
    future = client.submit(time.sleep, 2, pure=False)  # which no worker can be made to leave
    threading.Timer(0.5, future.cancel).start()
    with pytest.raises(ConnectionError, match="it cancelled the tasks of this call"):
        workers.Workers(client).gather([future])


# ---------------------------------------------------------------- names and masks


@pytest.mark.parametrize(
    "kind", sweep(["frame", "path", "Dask frame", "Dask frame of unknown divisions"], ["Dask frame"])
)
def test_rows_are_matched_by_index_with_a_client(kind, table, tmp_path, client, rng):
    shuffled = table.iloc[rng.permutation(N)]
    points, g = shuffled[["u", "v", "w"]], shuffled["group"]
    points.to_parquet(tmp_path / "points.parquet", row_group_size=170)
    frame = dd.from_pandas(points, npartitions=4, sort=False)
    X = {"frame": points, "path": tmp_path / "points.parquet", "Dask frame": frame}.get(kind, frame.clear_divisions())
    how = {"n_resamples": 20, "client": client, "rng": 2}
    expected = es.energy_test(points, groups=g, n_resamples=20, rng=2)
    for labels in (g, dd.from_pandas(g, npartitions=3, sort=False)):
        assert_same_test(es.energy_test(X, groups=labels, **how), expected)
    for labels in (table["group"], dd.from_pandas(table["group"], npartitions=3)):
        with pytest.raises(ValueError, match="`groups` must have the index of the table, row by row"):
            es.energy_test(X, groups=labels, **how)
    with pytest.raises(ValueError, match="`strata` must have the index of the table"):
        es.energy_test(X, groups=g, design=es.Design(strata=table["group"]), **how)
    with pytest.raises(ValueError, match="`sample_weight` must have the index of the table"):
        es.energy_cluster(X, 2, algorithm="landmarks", sample_weight=pd.Series(np.ones(N)), client=client)
    found = es.energy_cluster(X, 2, algorithm=es.Landmarks(n_landmarks=5), n_init=1, client=client, rng=1)
    assert found.to_series().index.equals(points.index)


def test_a_name_of_a_column_that_a_frame_lacks(table, client):
    with pytest.raises(ValueError, match=r"`groups` must be labels or a column of the frame, got 'grup'.*'group'"):
        es.energy_test(table, groups="grup", client=client)


def test_samples_with_a_client_are_matched_by_index(table, client):
    first, second = table[["u", "v"]][:600], table[["u", "v"]][600:1200]
    with pytest.raises(ValueError, match="Paired samples are matched row by row"):
        es.energy_test(first, second.set_axis(first.index[::-1]), design=es.Design(paired=True), client=client)
    with pytest.raises(ValueError, match="`strata` must have the index of the table"):
        es.energy_test(first, second, design=es.Design(strata=table["group"][:1200][::-1]), client=client)
    with pytest.raises(ValueError, match="`groups` goes with one pooled table, got 2 samples"):
        es.energy_test(first, second, groups=table["group"][:1200], client=client)


@pytest.mark.parametrize("with_client", [False, True])
def test_masked_chunks_are_missing(with_client, table, client, rng, monkeypatch):
    from energystats.pairs import open_blocks

    X = np.ma.masked_array(table[["u", "v", "w"]].to_numpy(), False)
    X[rng.integers(N), 1] = np.ma.masked
    array, g = da.from_array(X, chunks=(300, 3)), table["group"].to_numpy()
    how = {"client": client} if with_client else {}
    labels = da.from_array(np.ma.masked_array(rng.integers(0, 2, N), X.mask[:, 1]), chunks=300)
    for limit in (2**26, 0):
        monkeypatch.setattr(open_blocks, "IN_MEMORY", limit)
        with pytest.raises(ValueError, match="`X` must be finite, but has 1 NaN values in column 1"):
            es.energy_test(array, groups=g, n_resamples=9, **how)
        with pytest.raises(ValueError, match="`X` must be finite, but has 1 NaN values in column 1"):
            es.energy_cluster(array, 2, algorithm="landmarks", **how)
        with pytest.raises(ValueError, match=f"`groups` must not be missing, but 1 of {N} labels are masked"):
            es.energy_test(X.data, groups=labels, n_resamples=9, **how)
    with pytest.raises(ValueError, match="`X` must be finite, but has 1 NaN values in column 1"):
        es.EnergyClustering(2).fit(array)
    with pytest.raises(ValueError, match="`X` must be finite, but has 1 NaN values in column 1"):
        es.pairwise(array)


def test_data_of_a_formula_are_no_dask_frame(table):
    with pytest.raises(TypeError, match=r"got one of Dask; give `data.compute\(\)`"):
        es.disco("u ~ group", data=dd.from_pandas(table, npartitions=2))


def test_matrices_do_not_go_to_a_cluster(table, client):
    R = es.pairwise(table[["u", "v"]].to_numpy()[:50])
    with pytest.raises(ValueError, match=r"`client` and blocks of rows go with points"):
        es.dispersion(R, table["group"][:50], metric="precomputed", client=client)


# ---------------------------------------------------------------- without a client


@pytest.mark.parametrize("kind", ["Dask array", "Dask frame"])
def test_collections_without_a_cluster(kind, table, tmp_path, monkeypatch):
    from energystats.pairs import open_blocks

    X, groups = forms(table, tmp_path)[kind]
    expected = es.energy_test(table[["u", "v", "w"]], groups=table["group"], n_resamples=30, rng=2)
    for limit in (2**26, 0):
        monkeypatch.setattr(open_blocks, "IN_MEMORY", limit)
        assert_same_test(es.energy_test(X, groups=groups, n_resamples=30, rng=2), expected)


@pytest.mark.parametrize("with_client", [False, True])
@pytest.mark.parametrize("name", ["v", None])
def test_a_series_is_a_table_of_one_column(name, with_client, client, rng):
    """Its tracebacks were those of Dask: a Series has no columns."""
    x = pd.Series(rng.normal(size=30), name=name)
    g = np.repeat(["a", "b"], 15)
    how = {"client": client} if with_client else {}
    calls = {
        "dispersion": lambda x: es.dispersion(x, g, **how).between,
        "energy_test": lambda x: es.energy_test(x, groups=g, n_resamples=19, rng=1, **how).statistic,
        "two samples": lambda x: es.energy_test(x, x + 1, n_resamples=19, rng=1, **how).statistic,
        "disco": lambda x: es.disco(x, groups=g, n_resamples=19, rng=1, **how).statistic,
        "energy_interval": lambda x: es.energy_interval(x, groups=g, n_bootstrap=39, rng=1, **how).low,
    }
    collections = [dd.from_pandas(x, npartitions=3)]
    if not with_client:
        collections += [dask.delayed(x), dask.delayed(x.to_frame())]
        calls["energy_cluster"] = lambda x: es.energy_cluster(x, 2, rng=1).within
    for call in calls.values():
        for collection in collections:
            np.testing.assert_allclose(call(collection), call(x), rtol=1e-9)


def test_delayed_labels(rng):
    x, g = rng.normal(size=30), np.repeat(["a", "b"], 15)
    assert es.dispersion(x, dask.delayed(g)).between == es.dispersion(x, g).between
