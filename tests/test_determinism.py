"""Numerical promises on repeats: the same bits for the same seed, whatever else goes on in the process or around it."""

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import energystats as es
from energystats.pairs import tiles as pairs
from tests import calls
from tests.conftest import sweep

mpl.use("Agg")

HERE = Path(__file__).parent.parent
CALLS = calls.make_calls()
IN_THREADS = [name for name in CALLS if name != "plot_dendrogram"]  # matplotlib's figures belong to one thread
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Functions that call into scikit-learn or pandas, which change the filters of all threads for moments themselves
ALIEN = (
    "EnergyClustering",
    "energy_cluster spectral",
    "disco formula",
    "select_k",
    "gower",
    "compare",
    "stability",
    "validate",
)


@pytest.fixture(scope="module")
def alone():
    """The numbers of all calls in this process, when nothing else is computed."""
    return {name: calls.alone(name) for name in CALLS}


def in_new_process(tmp_path, *arguments, **environment):
    """Numbers and warnings of all calls in a process of its own, which has texts hashed in another way."""
    out = tmp_path / "numbers.pickle"
    done = subprocess.run(
        [sys.executable, "-m", "tests.calls", str(out), *arguments],
        env={**os.environ, "PYTHONHASHSEED": str(random.randrange(1, 2**32)), **environment},
        cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return pickle.loads(out.read_bytes())


def test_every_public_function_is_called():
    assert {name.split()[0] for name in CALLS} == calls.functions()


def test_the_comparison_sees_a_single_bit():
    changed = {"x": {"": np.array([np.nextafter(1.0, 2)])}}
    assert calls.same_bits({"x": {"": np.array([1.0])}}, changed) == ["x"]
    assert calls.same_numbers({"x": {".pvalue": np.array(0.5)}}, {"x": {".pvalue": np.array(0.5 + 1e-15)}})
    assert calls.same_numbers({"x": {"": np.array(1.0)}}, {"x": {"": np.array(1 + 1e-11)}})


@pytest.mark.parametrize("n_jobs", sweep([2, 5, -1], 1))
def test_the_number_of_jobs_changes_no_bit(n_jobs):
    X = calls.make_data()[0]
    one, more = (es.cluster_test(X, 3, n_resamples=49, rng=1, n_jobs=jobs) for jobs in (None, n_jobs))
    assert calls.same_bits({"": calls.flat(one)}, {"": calls.flat(more)}) == []


def in_six_threads(names):
    """Names and numbers of these calls, each made twice."""
    names = names * 2
    random.shuffle(names)
    with ThreadPoolExecutor(6) as pool:
        return list(zip(names, pool.map(lambda name: calls.flat(CALLS[name]()), names), strict=True))


@pytest.mark.slow
def test_many_threads_at_once_change_no_bit():
    """k-means gives linear algebra one thread while it runs, in the whole process, so here it always has one."""
    with threadpool_limits(1, "blas"):
        first, found = calls.run(), in_six_threads(IN_THREADS)
    assert [bad for name, one in found for bad in calls.same_bits({name: first[name]}, {name: one})] == []


@pytest.mark.parametrize(
    "names", [IN_THREADS[::4], pytest.param(IN_THREADS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_many_threads_at_once_change_rounding_only_and_no_filter_of_warnings(alone, names):
    threads = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    before = list(warnings.filters)
    found = in_six_threads([name for name in names if not any(word in name for word in ALIEN)])
    assert warnings.filters == before
    found += in_six_threads([name for name in names if any(word in name for word in ALIEN)])
    assert [bad for name, one in found for bad in calls.same_numbers({name: alone[name]}, {name: one})] == []
    after = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    assert {path: after[path] for path in threads} == threads


@pytest.fixture(scope="module")
def one_thread(tmp_path_factory):
    """The numbers of a process whose libraries have one thread each."""
    return in_new_process(tmp_path_factory.mktemp("one"), **dict.fromkeys(THREADS, "1"))[0]


@pytest.mark.slow
def test_a_process_may_begin_with_many_threads(tmp_path, one_thread):
    found, _ = in_new_process(tmp_path, "threads", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # see above
    assert len(found) == len(IN_THREADS)
    assert calls.same_bits(found, one_thread) == []


def test_warnings_held_back_by_one_thread_reach_the_others():
    tied = np.round(calls.make_data()[0])
    negative = -es.pairwise(tied)
    with ThreadPoolExecutor(2) as pool, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = pool.submit(es.cluster_tree, tied, n_resamples=49, rng=0)
        for _ in range(20):
            es.dispersion(negative, tied[:, 0], metric="precomputed")
        tree.result()
    counts = [sum(issubclass(w.category, kind) for w in caught) for kind in (es.NotNegativeTypeWarning, es.TiesWarning)]
    assert counts == [20, 1]


@pytest.mark.parametrize("name", CALLS)
def test_a_repeat_changes_no_bit_and_no_state_of_the_process(name, capfd):
    """Nothing overflows inside: no RuntimeWarning, and no error where the user has asked numpy for errors."""

    def state():
        generator = np.random.get_state()  # noqa: NPY002, the global one is what must not be touched
        return (
            generator[1].tolist(), generator[2:], np.geterr(), np.get_printoptions(), list(warnings.filters),
            dict(os.environ), random.getstate(), mpl.rcParams.copy(), Path.cwd(),
        )  # fmt: skip

    with np.errstate(over="raise", divide="raise", invalid="raise"):
        before = state()
        found = CALLS[name]()
        assert state() == before
        assert capfd.readouterr() == ("", "")
        assert calls.same_bits({name: calls.alone(name)}, {name: calls.flat(found)}) == []


def test_tables_are_not_changed():
    X, g, three = calls.make_data()
    frame = pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "g": g, "three": three})
    given = frame.copy(deep=True)
    es.disco("u + v ~ g * three", data=frame, standardize=True, n_resamples=9, rng=0)
    es.energy_test(frame[["u", "v"]], groups=frame["g"], standardize=True, n_resamples=9, rng=0)
    es.energy_cluster(frame, 2, metric="gower", n_init=1, rng=0)
    es.EnergyClustering(2, metric="gower", random_state=0).fit(frame).predict(frame)
    pd.testing.assert_frame_equal(frame, given)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "stored"), [(7, 11, 4096), (64, 100, 8)])
def test_the_size_of_tiles_changes_rounding_only(monkeypatch, alone, rows, columns, stored):
    monkeypatch.setattr(pairs, "TILE_ROWS", rows)
    monkeypatch.setattr(pairs, "TILE_COLUMNS", columns)
    monkeypatch.setattr(pairs, "STORED_UP_TO", stored)
    found = calls.run()
    assert calls.same_bits(alone, found), "other tiles were used"
    assert calls.same_numbers(alone, found) == []


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "3"])  # there are two or more here
def test_the_number_of_threads_changes_rounding_only(tmp_path, request, alone, threads):
    if threads == "1":
        found = request.getfixturevalue("one_thread")
    else:
        names = THREADS if int(threads) <= (os.cpu_count() or 1) else THREADS[:3]  # numba refuses more than there are
        found, _ = in_new_process(tmp_path, **dict.fromkeys(names, threads))
    assert calls.same_numbers(alone, found) == []


@pytest.mark.slow
def test_a_cold_cache_changes_no_bit(tmp_path, alone):
    cache = tmp_path / "cache"
    for _ in ("cold", "warm"):
        assert calls.same_bits(alone, in_new_process(tmp_path, NUMBA_CACHE_DIR=str(cache))[0]) == []
        assert any(cache.rglob("*.nbc"))


METHODS = [  # all but fork begin a new process, as `in_new_process` does
    how if how == "fork" else pytest.param(how, marks=pytest.mark.slow)
    for how in multiprocessing.get_all_start_methods()
]


def in_child(_):
    return hash("a"), calls.run()


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_child_processes_find_the_same_bits(how, alone, monkeypatch):
    """One that is spawned is a new process, and has texts hashed in another way."""
    monkeypatch.setenv("PYTHONHASHSEED", str(random.randrange(1, 2**32)))
    with multiprocessing.get_context(how).Pool(1) as pool:
        hashed, found = pool.map_async(in_child, [0]).get(timeout=300)[0]
    assert how != "spawn" or hashed != hash("a")
    # the last bits of LAPACK's eigenvalues depend on where arrays lie in memory, which other tests move
    assert [name for name in calls.same_bits(alone, found) if not name.endswith(".bound")] == []
    assert calls.same_numbers(alone, found) == []


def test_a_seed_sequence_is_as_good_as_its_seed_however_often_it_is_used(rng):
    """It counts the children that it gave, and must not be made to give others to a second call."""
    X = rng.standard_normal((40, 2))
    sequence = np.random.SeedSequence(11, spawn_key=(3,))
    for call in (
        lambda seed: es.cluster_test(X, n_resamples=19, rng=seed).pvalues.tolist(),
        lambda seed: es.energy_test(X[:20], X[20:], n_resamples=49, rng=seed).null_distribution.tolist(),
        lambda seed: es.select_k(X, 3, n_resamples=3, n_init=2, rng=seed).table.to_csv(),
    ):
        assert call(sequence) == call(sequence) == call(np.random.SeedSequence(11, spawn_key=(3,)))
    assert sequence.n_children_spawned == 0


@pytest.mark.parametrize("bits", sweep([np.random.PCG64, np.random.SFC64, np.random.MT19937, np.random.Philox], 2))
def test_the_state_of_a_generator_decides(rng, bits):
    """Children that it spawns do not depend on its state, and those of a stream that jumped were random."""
    X = rng.standard_normal((40, 2))

    def call(generator):
        return (
            es.cluster_test(X, n_resamples=19, rng=generator).pvalues.tolist(),
            es.energy_test(X[:20], X[20:], n_resamples=49, rng=generator).null_distribution.tolist(),
            es.pairwise_tests(X, np.arange(40) % 4, n_resamples=49, rng=generator).to_frame().to_csv(),
        )

    generator = np.random.Generator(bits(5))
    begun = generator.bit_generator.state
    first, second = call(generator), call(generator)
    assert first != second, "it is used up"
    generator.bit_generator.state = begun
    assert call(generator) == first
    assert call(generator) == second
    alone = es.cluster_test(X, n_resamples=19, rng=np.random.Generator(bits(5))).pvalues.tolist()
    assert alone == first[0] == es.cluster_test(X, n_resamples=19, rng=bits(5)).pvalues.tolist()
    if bits is np.random.PCG64:
        assert alone == es.cluster_test(X, n_resamples=19, rng=5).pvalues.tolist(), "a new one is its seed"
    if bits is not np.random.SFC64:
        jumped = [call(np.random.Generator(bits(5).jumped())) for _ in range(2)]
        assert jumped[0] == jumped[1] != first
