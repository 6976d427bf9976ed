"""Linear algebra on one thread where several would wait for each other, and loops that do without its library."""

import multiprocessing
import os
import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

import energystats as es
from energystats._core import hartigan as means
from energystats._core import jit, threads
from energystats._core.threads import one_thread, one_thread_up_to


def numbers():
    """Threads that each library of linear algebra would take."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def three():
    """Three threads, whatever the machine has."""
    threads._find_libraries()
    with threadpool_limits(3, "blas"):
        if set(numbers()) != {3}:
            pytest.skip("the library of linear algebra cannot set its number of threads")
        yield


@pytest.mark.usefixtures("three")
def test_one_thread_until_the_outermost_block_ends():
    with one_thread():
        assert set(numbers()) == {1}
        with one_thread():
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert set(numbers()) == {3}


@pytest.mark.usefixtures("three")
def test_an_error_restores_the_threads():
    with pytest.raises(ValueError, match="of the block"), one_thread():
        raise ValueError("of the block")
    assert set(numbers()) == {3}


@pytest.mark.usefixtures("three")
def test_an_interrupt_while_the_threads_are_set_restores_them(monkeypatch):
    library = threads._find_libraries()

    class Interrupted:
        def limit(self, **how):
            signal.raise_signal(signal.SIGINT)  # held back until the number is set
            return library.limit(**how)

    monkeypatch.setattr(threads, "_find_libraries", Interrupted)
    with pytest.raises(KeyboardInterrupt), one_thread():
        pytest.fail("the block began")
    assert (threads.LIMIT.owner, threads.LIMIT.depth) == (None, 0)
    assert set(numbers()) == {3}


@pytest.mark.usefixtures("three")
def test_large_decompositions_keep_their_threads():
    with one_thread_up_to(threads.LARGEST_ORDER + 1):
        assert set(numbers()) == {3}
    with one_thread_up_to(threads.LARGEST_ORDER):
        assert set(numbers()) == {1}


def in_a_block(inside, leave):
    with one_thread():
        inside.set()
        assert leave.wait(60)


@contextmanager
def another_thread_inside():
    """Another thread of Python is in such a block until it is asked to leave."""
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_thread():
            inside.set()
            assert leave.wait(60)

    other = threading.Thread(target=stay)
    other.start()
    assert inside.wait(60)
    try:
        yield leave
    finally:
        leave.set()
        other.join()


@pytest.fixture
def several():
    """Numbers of threads that the libraries begin with; threadpoolctl's limit would belong to the test's thread."""
    if set(numbers()) == {1}:
        pytest.skip("linear algebra has one thread")


@pytest.mark.usefixtures("several")
def test_who_sets_the_number_restores_it():
    before = numbers()
    with another_thread_inside() as leave:
        assert set(numbers()) == {1}
        with one_thread():  # finds one thread, and does nothing
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
        leave.set()
        with one_thread(wait=True):
            assert set(numbers()) == {1}
        assert numbers() == before
    assert numbers() == before


@pytest.mark.usefixtures("several")
def test_a_block_that_begins_second_may_end_last():
    before = numbers()
    with another_thread_inside() as leave, one_thread():
        leave.set()
    with one_thread(wait=True):
        assert set(numbers()) == {1}
    assert numbers() == before


def tell(queue):
    queue.put(numbers())
    with one_thread():
        queue.put(numbers())
    queue.put(numbers())


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.usefixtures("several")
def test_a_forked_child_forgets_the_threads_of_its_parent():
    before = numbers()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with another_thread_inside():
        child = context.Process(target=tell, args=(queue,))
        child.start()
        found = [queue.get() for _ in range(3)]
        child.join()
    assert found == [before, [1] * len(before), before]
    assert child.exitcode == 0
    assert numbers() == before


# ---------------------------------------------------------------- loops


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("p", [0, 1, 7, 8, 9, 16, 31, 256])
def test_inner_products_are_those_of_numpy(rng, compiled, p):
    loop = means.inner_product if compiled else means.inner_product.py_func
    x, y = rng.standard_normal((2, p))
    assert loop(x, y) == pytest.approx(float(x @ y), abs=1e-13 * (1 + float(np.abs(x) @ np.abs(y))))


@pytest.mark.parametrize("how", ["compiled", "in Python", "without a compiler"])
@pytest.mark.parametrize(("n", "p", "k"), [(1, 1, 1), (50, 7, 4), (300, 40, 3), (20, 0, 2)])
def test_sums_over_clusters_are_those_of_numpy(rng, monkeypatch, how, n, p, k):
    rows, w, labels = rng.standard_normal((n, p)), rng.random(n), rng.integers(k, size=n)
    loop = means._add_rows.py_func if how == "in Python" else means.sum_clusters
    if how == "without a compiler":
        monkeypatch.setattr(jit, "numba", None)
    expected = np.array([(w[labels == j, None] * rows[labels == j]).sum(axis=0) for j in range(k)])
    found = loop(rows, w, labels, k)
    assert found.shape == (k, p)
    assert found == pytest.approx(expected, abs=1e-12 * n)


@pytest.mark.slow
def test_clusters_from_landmarks_do_not_depend_on_the_threads(rng):
    """Below `MANY_ROWS` no product has several threads, so every bit is the same."""
    X = rng.standard_normal((900, 6))
    found = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, "blas"):
            found.append(es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=256), n_init=2, rng=3))
    one = found[0]
    for other in found[1:]:
        assert (other.labels == one.labels).all()
        assert (other.within, other.total, other.bound) == (one.within, one.total, one.bound)


# ---------------------------------------------------------------- clusterers of the user


@pytest.mark.parametrize(("longest", "inside"), [(60, {1}), (59, {3})])
def test_clusterers_of_few_points_have_one_openmp_thread(longest, inside, rng, monkeypatch):
    """Beside a busy process 300 fits of k-means waited for their threads most of the time."""
    monkeypatch.setattr(threads, "LONG_LOOP", longest)
    X, seen = np.repeat([[0.0], [9.0]], 30, axis=0) + rng.normal(size=(60, 2)), []

    def openmp():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "openmp"}

    def halves(points):
        if len(points) == 60:
            seen.append(openmp())
        return (points[:, 0] > 4.5).astype(int)

    KMeans(2, n_init=1).fit(X)  # loads the library
    with threadpool_limits(3, "openmp"):
        if openmp() != {3}:
            pytest.skip("the library of OpenMP cannot set its number of threads")
        es.validate_clusters(X, clusterer=halves, n_resamples=19, rng=0)
        assert openmp() == {3}
    assert seen
    assert all(each == inside for each in seen)
