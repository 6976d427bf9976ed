"""Cost of a call, estimated before it starts: refused beyond memory, warned of beyond a minute, a bar from 2 s."""

import dataclasses
import io
import itertools
import math
import re
import sys
import time

import numpy as np
import pandas as pd
import pytest

import energystats as es
from energystats import _runtime as cost
from energystats._core import segments
from energystats._runtime import Rates, Work
from energystats.cluster_tests import clusterers, spaces, split, whole_clusters
from energystats.clustering import landmarks
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.pairs import workloads
from energystats.pairs.dask import RowsOnCluster
from energystats.pairs.device import RowsOnDevice
from energystats.pairs.workloads import Size
from tests.conftest import sweep

GIB = 2**30
UNIT = Rates(1.0, 0.0, 0.0, 0.0, 0.0)
SLOW = Rates(1.0, 1e-3, 1e-3, 1e-3, 1e-3)


class Reached(Exception):  # noqa: N818 (it ends a call that would go on)
    """The work itself began."""


@pytest.fixture
def slow_machine(monkeypatch):
    """A machine on which everything takes hours."""
    monkeypatch.setattr(cost, "_measure_machine", lambda: (1.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(cost, "_measure_pairs", lambda d: 1.0)
    monkeypatch.setattr(cost, "_known", {})
    monkeypatch.setattr(cost, "SHORT", 0.0)


def interactive_terminal(monkeypatch):
    """Standard error that somebody reads; pytest puts its own there before every test's body."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def points(n=40, d=2):
    return np.random.default_rng(0).standard_normal((n, d))


def halves(n=40):
    return np.arange(n) % 2


def draw(size, rng):
    return rng.normal(size=(size, 2))


R = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))) ** 0.5
LONG = {
    "energy_test": lambda: es.energy_test(points(), groups=halves(), n_resamples=99, rng=0),
    "asymptotic": lambda: es.energy_test(points(), groups=halves(), method="asymptotic"),
    "cross": lambda: es.energy_test(points(), groups=halves(), method="cross", rng=0),
    "sliced": lambda: es.energy_test(points(), groups=halves(), method="sliced", n_resamples=99, rng=0),
    "sliced bins": lambda: es.energy_test(points(), groups=halves(), method=es.Sliced(n_bins=8), n_resamples=99, rng=0),
    "binned": lambda: es.energy_test(points(), groups=halves(), method=es.Binned(8), n_resamples=99, rng=0),
    "energy_interval": lambda: es.energy_interval(points(), groups=halves(), n_bootstrap=39, rng=0),
    "disco": lambda: es.disco(points(), groups=halves(), n_resamples=99, rng=0),
    "disco terms": lambda: es.disco(
        points(), "~ a + b", data=pd.DataFrame({"a": halves(), "b": np.arange(40.0)}), rng=0
    ),
    "pairwise_tests": lambda: es.pairwise_tests(points(), halves(), n_resamples=19, rng=0),
    "spread_test": lambda: es.spread_test(points(), halves(), n_resamples=19, rng=0),
    "segment": lambda: es.segment(points(), 3),
    "segment_test": lambda: es.segment_test(points(), n_resamples=19, rng=0),
    "mmd_test": lambda: es.mmd_test(points(), groups=halves(), n_resamples=99, rng=0),
    "mmd2": lambda: es.mmd2(points(), points() + 1),
    "energy_distance": lambda: es.energy_distance(points(), points() + 1),
    "dispersion": lambda: es.dispersion(points(), halves()),
    "energy_power": lambda: es.energy_power(points(), points(), [5], n_replicates=3, n_resamples=19, rng=0),
    "normality_test": lambda: es.normality_test(points(), n_resamples=19, rng=0),
    "goodness_of_fit": lambda: es.goodness_of_fit(points(), draw, n_resamples=9, rng=0),
    "energy_cluster": lambda: es.energy_cluster(points(), 3, n_init=2, rng=0),
    "spectral": lambda: es.energy_cluster(points(), 3, algorithm="spectral", rng=0),
    "landmarks": lambda: es.energy_cluster(points(), 3, algorithm=es.Landmarks(n_landmarks=9), n_init=2, rng=0),
    "EnergyClustering": lambda: es.EnergyClustering(2, n_init=2, random_state=0).fit(points()),
    "cluster_1d": lambda: es.cluster_1d(points()[:, 0], 3),
    "split": lambda: es.cluster_test(points(), rng=0),
    "unimodal-1d": lambda: es.cluster_test(points()[:, 0], rng=0),
    "refit": lambda: es.cluster_test(points(), method="refit", n_resamples=9, rng=0),
    "crossfit": lambda: es.cluster_test(points(), method="crossfit", n_splits=1, n_resamples=5, rng=0),
    "cluster_tree": lambda: es.cluster_tree(points(), rng=0),
    "select_k": lambda: es.select_k(points(), 3, n_resamples=3, n_init=2, rng=0),
    "cluster_stability": lambda: es.cluster_stability(points(), 2, n_resamples=3, rng=0),
    "silhouette": lambda: es.silhouette(points(), np.arange(40) % 2),
    "validate_clusters": lambda: es.validate_clusters(points(), 2, n_resamples=19, rng=0),
    "energy_hclust": lambda: es.energy_hclust(points()),
    "spectral_embedding": lambda: es.spectral_embedding(points()),
    "graph_partition": lambda: es.graph_partition(np.exp(-R), 2, n_init=1, rng=0),
    "negative_type": lambda: es.negative_type(R),
    "is_euclidean": lambda: es.is_euclidean(R),
    "lingoes": lambda: es.lingoes(R),
    "cailliez": lambda: es.cailliez(R),
    "clip_spectrum": lambda: es.clip_spectrum(R),
    "nearest_psd": lambda: es.nearest_psd(R.max() - R),
    "principal_coordinates": lambda: es.principal_coordinates(R, "lingoes"),
    "compare_euclidizations": lambda: es.compare_euclidizations(R, 2, n_init=1, rng=0),
    "pairwise": lambda: es.pairwise(points()),
    "pairwise two": lambda: es.pairwise(points(), points()),
    "cluster_report": lambda: report_without_pictures(points(), 2, n_resamples=19),
}


# ---------------------------------------------------------------- what is said, and when


@pytest.mark.parametrize(
    "name", sweep(LONG, [name for name in LONG if name not in ("cluster_report", "validate_clusters")])
)
def test_long_calls_warn_once_before_they_begin(slow_machine, name):
    with pytest.warns(
        es.PerformanceWarning, match=r"This call will take about \d\S* \w+s here, most of it for "
    ) as warned:
        LONG[name]()
    assert sum(issubclass(each.category, es.PerformanceWarning) for each in warned) == 1
    assert all(each.filename == __file__ for each in warned)


SLOWER = {  # than was estimated: name -> call, unit of its steps
    "cluster_test": (lambda how: es.cluster_test(points(), n_resamples=19, rng=0, **how), "5 splits"),
    "energy_cluster": (lambda how: es.energy_cluster(points(400), 9, n_init=400, rng=0, **how), r"\d+ searches"),
    "cluster_stability": (lambda how: es.cluster_stability(points(), 2, n_resamples=9, rng=0, **how), "9 resamples"),
    "energy_power": (lambda how: es.energy_power(points(), points(), [5], n_replicates=9, rng=0, **how), r"\d+ repl"),
}


@pytest.mark.parametrize("name", SLOWER)
def test_calls_that_take_longer_than_expected_say_so(monkeypatch, name):
    """An estimate is of processor time: where others use the machine, a minute can be over without a word."""
    clock = itertools.count(0.0, 25.0)
    monkeypatch.setattr(cost.time, "monotonic", lambda: next(clock))
    call, steps = SLOWER[name]
    with pytest.warns(es.PerformanceWarning, match=rf"took \d+ \w+ for \d+ of {steps}.* may take about") as warned:
        slow = call({})
    assert sum(issubclass(each.category, es.PerformanceWarning) for each in warned) == 1
    assert all(each.filename == __file__ for each in warned)
    monkeypatch.undo()
    assert repr(slow) == repr(call({}))


def test_a_bar_is_word_enough(monkeypatch, recwarn):
    clock = itertools.count(0.0, 25.0)
    monkeypatch.setattr(cost.time, "monotonic", lambda: next(clock))
    es.cluster_stability(points(), 2, n_resamples=9, rng=0, progress=True)
    assert not any(issubclass(each.category, es.PerformanceWarning) for each in recwarn)


@pytest.mark.parametrize("name", sorted(set(LONG) - {"graph_partition"}))  # which holds its links only
def test_what_does_not_fit_is_refused(monkeypatch, name):
    """Whatever the size: with no memory left, every call that holds more than its input says so."""
    monkeypatch.setattr(cost, "available_memory", lambda: 0.0)
    monkeypatch.setattr(cost, "SMALL", 0)
    with pytest.raises(MemoryError, match=r"need \S+ GiB.*, and 0\.0 GiB of memory are available"):
        LONG[name]()


def test_short_calls_are_not_measured(monkeypatch):
    def measured(*_):
        raise AssertionError("measured")

    monkeypatch.setattr(cost, "_measure_machine", measured)
    monkeypatch.setattr(cost, "_measure_pairs", measured)
    monkeypatch.setattr(cost, "available_memory", measured)
    X = points(100)
    assert es.energy_test(X, groups=halves(100), rng=0).n_resamples == 999
    assert es.energy_cluster(X, 3, rng=0).k == 3
    assert es.pairwise(X).shape == (100, 100)


def test_numbers_do_not_depend_on_the_measurement(slow_machine):
    def call():
        return [LONG[name]().pvalue for name in ("energy_test", "split", "refit", "normality_test")]

    with pytest.warns(es.PerformanceWarning):
        slow = call()
    cost_of_nothing = Rates(0.0, 0.0, 0.0, 0.0, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rates, "on_the_spot", classmethod(lambda cls, d: cost_of_nothing))
        assert call() == slow


@pytest.mark.parametrize(
    ("work", "advice"),
    [
        (lambda: es.energy_test(points(6000), groups=halves(6000)), "method=es.Sliced(n_bins=256)"),
        (lambda: es.energy_cluster(points(), 2), 'algorithm="landmarks"'),
        (lambda: es.normality_test(points()), "Use fewer `n_resamples`"),
        (lambda: es.normality_test(points(6000), n_resamples=1), "the statistic of 6000 rows. Use a random subset"),
        (lambda: es.energy_power(points(), points(), 9), "Use fewer `n_replicates` or `n_resamples`"),
        (lambda: es.goodness_of_fit(points(), draw), "a smaller `n_reference`"),
        (lambda: es.select_k(points()), "a smaller `n_init` or `k_max`"),
    ],
)
def test_the_warning_says_what_is_faster(slow_machine, monkeypatch, work, advice):
    def stop(message, category):
        raise Reached(message)

    monkeypatch.setattr(cost, "warn", stop)
    with pytest.raises(Reached, match=re.escape(advice)):
        work()


def test_the_warning_is_an_error_if_the_user_says_so(slow_machine):
    """Then nothing has been done yet."""
    start = time.perf_counter()
    with pytest.raises(es.PerformanceWarning, match="years here"):  # warnings are errors in this suite
        es.energy_cluster(points(), 2, n_init=10**9)
    assert time.perf_counter() - start < 5


# ---------------------------------------------------------------- hostile sizes

HOSTILE = {
    "n_slices": (lambda: es.energy_test(points(), groups=halves(), method=es.Sliced(10**9)), "10{9} slices"),
    "n_slices of a distance": (
        lambda: es.energy_distance(points(), points(), method=es.Sliced(10**9)), "1000000000 slices",
    ),
    "energy_test": (lambda: es.energy_test(points(), groups=halves(), n_resamples=10**12), r"\d{12,} permutations"),
    "permutation": (
        lambda: es.energy_test([1.0, 2], [3.0, 4], method="permutation", n_resamples=10**12), r"\d{12,} permutations",
    ),
    "n_bootstrap": (
        lambda: es.energy_interval(points(), points(), n_bootstrap=10**12), "1000000000000 bootstrap samples",
    ),
    "binned": (
        lambda: es.energy_test(points(), groups=halves(), method="binned", n_resamples=10**12), r"\d{12,} permutations",
    ),
    "disco": (lambda: es.disco(points(), groups=halves(), n_resamples=10**12), r"\d{12,} permutations"),
    "disco terms": (
        lambda: es.disco(points(), "~ a", data=pd.DataFrame({"a": np.arange(40.0)}), n_resamples=10**12),
        "10{12} permutations",
    ),
    "mmd_test": (lambda: es.mmd_test(points(), points(), n_resamples=10**12), r"\d{12,} permutations"),
    "pairwise_tests": (
        lambda: es.pairwise_tests(points(), halves(), n_resamples=10**12), r"\d{12,} permutations",
    ),
    "normality_test": (lambda: es.normality_test(points(), n_resamples=10**12), "1000000000000 normal samples"),
    "goodness_of_fit": (lambda: es.goodness_of_fit(points(), draw, n_resamples=10**12), "1000000000000 samples"),
    "energy_power": (lambda: es.energy_power(points(), points(), 9, n_replicates=10**12), "1000000000000 replicates"),
    "split": (lambda: es.cluster_test(points(), n_resamples=10**12), r"draws of 40 scores"),
    "n_splits": (lambda: es.cluster_test(points(), n_splits=10**9), "1000000000 splits"),
    "unimodal-1d": (lambda: es.cluster_test(points()[:, 0], n_resamples=10**12), "1000000000000 draws"),
    "refit": (lambda: es.cluster_test(points(), method="refit", n_resamples=10**12), "1000000000000 reference samples"),
    "crossfit": (
        lambda: es.cluster_test(points(), method="crossfit", n_resamples=10**12), "1000000000000 reference samples",
    ),
    "cluster_tree": (lambda: es.cluster_tree(points(), n_resamples=10**12), "draws of 40 scores"),
    "select_k": (lambda: es.select_k(points(), n_resamples=10**12), "1000000000000 reference sets"),
    "cluster_stability": (lambda: es.cluster_stability(points(), 2, n_resamples=10**12), "1000000000000 resamples"),
    "pairwise": (lambda: es.pairwise(np.zeros((10**6, 1))), "All pairs of 1000000 points"),
    "pairwise two": (
        lambda: es.pairwise(np.zeros((10**6, 1)), np.zeros((10**6, 1))), "All pairs of 1000000 and 1000000 points",
    ),
    "energy_hclust": (lambda: es.energy_hclust(np.zeros((10**6, 1))), "All pairs of 1000000 points"),
    "EnergyClustering": (lambda: es.EnergyClustering(2).fit(np.zeros((10**6, 2))), "All pairs of 1000000 points"),
    "asymptotic": (
        lambda: es.energy_test(np.ones((10**6, 1)), groups=halves(10**6), method="asymptotic"), "1000000 points",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sizes_end_at_once(name):
    call, what = HOSTILE[name]
    start = time.perf_counter()
    with pytest.raises(MemoryError, match=rf"(?s){what}.* need \d+ GiB.*, and \S+ GiB of memory are available\. Use "):
        call()
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    "call",
    [
        lambda: es.energy_cluster(points(), 2, n_init=10**9),
        lambda: es.energy_cluster(points(), 2, algorithm="landmarks", n_init=10**9),
        lambda: es.energy_cluster(points(), 2, algorithm="spectral", n_init=10**9),
        lambda: es.energy_cluster(points(), 2, init="spectral", n_init=10**9),
        lambda: es.EnergyClustering(2, n_init=10**9).fit(points()),
        lambda: es.select_k(points(), n_init=10**9),
        lambda: es.cluster_stability(points(), 2, n_init=10**9),
        lambda: es.graph_partition(np.exp(-R), 2, cut="association", n_init=10**9),
        lambda: es.compare_euclidizations(R, 2, n_init=10**9),
        lambda: es.normality_test(points(4000), n_resamples=10**6),
        lambda: es.energy_power(points(), points(), 20_000),
    ],
)  # fmt: skip
def test_what_takes_long_in_little_memory_warns(call):
    with pytest.raises(es.PerformanceWarning, match=r"(minutes|hours|days|years) here.*Use "):
        call()


def test_starts_are_made_one_by_one():
    """So that their number costs no memory: the first pass is reached whatever it is."""

    def stop(*_):
        raise Reached

    for how in ({}, {"algorithm": es.Landmarks(n_landmarks=9)}):
        with pytest.warns(es.PerformanceWarning), pytest.raises(Reached):
            es.energy_cluster(points(), 2, n_init=10**9, callback=stop, rng=0, **how)


def test_children_are_those_of_spawn():
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    from energystats.inputs.options import children

    assert [c.integers(2**60) for c in children(one, 5)] == [c.integers(2**60) for c in other.spawn(5)]


def test_all_labelings_of_few_points_are_no_hostile_number():
    found = es.energy_test([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], n_resamples=10**12)
    assert (found.method, found.n_resamples) == ("exact", 20)


# ---------------------------------------------------------------- bars


def report_without_pictures(*data, **how):
    from energystats.report import pictures

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "draw_picture", lambda draw: pictures.Picture("data:image/png;base64,", 640))
        patch.setattr("energystats.cluster_tests.validate_clusters.STABILITY_RESAMPLES", 3)
        return es.report.cluster_report(*data, **how)


WITH_BARS = {
    "energy_test": lambda **how: es.energy_test(points(), groups=halves(), n_resamples=99, rng=0, **how),
    "energy_interval": lambda **how: es.energy_interval(points(), groups=halves(), n_bootstrap=99, rng=0, **how),
    "disco": lambda **how: es.disco(points(), groups=halves(), n_resamples=99, rng=0, **how),
    "disco terms": lambda **how: es.disco(
        points(), "~ a", data=pd.DataFrame({"a": np.arange(40.0)}), n_resamples=99, rng=0, **how
    ),
    "pairwise_tests": lambda **how: es.pairwise_tests(points(), halves(), n_resamples=19, rng=0, **how),
    "mmd_test": lambda **how: es.mmd_test(points(), groups=halves(), n_resamples=99, rng=0, **how),
    "energy_power": lambda **how: es.energy_power(points(), points(), 5, n_replicates=3, n_resamples=19, rng=0, **how),
    "normality_test": lambda **how: es.normality_test(points(), n_resamples=19, rng=0, **how),
    "goodness_of_fit": lambda **how: es.goodness_of_fit(points(), draw, n_resamples=9, rng=0, **how),
    "energy_cluster": lambda **how: es.energy_cluster(points(), 3, n_init=2, rng=0, **how),
    "landmarks": lambda **how: es.energy_cluster(points(), 3, algorithm=es.Landmarks(n_landmarks=9), rng=0, **how),
    "split": lambda **how: es.cluster_test(points(), n_resamples=19, n_splits=2, rng=0, **how),
    "refit": lambda **how: es.cluster_test(points(), method="refit", n_resamples=9, rng=0, **how),
    "cluster_tree": lambda **how: es.cluster_tree(points(), n_splits=2, rng=0, **how),
    "select_k": lambda **how: es.select_k(points(), 3, n_resamples=3, n_init=2, rng=0, **how),
    "cluster_stability": lambda **how: es.cluster_stability(points(), 2, n_resamples=3, rng=0, **how),
    "cluster_report": lambda **how: report_without_pictures(points(), 2, n_resamples=9, **how),
}


@pytest.mark.parametrize(
    "name",
    sweep(
        WITH_BARS,
        ["energy_test", "pairwise_tests", "landmarks", "split", "cluster_tree", "select_k", "goodness_of_fit"],
    ),
)
def test_bars_appear_where_work_is_long_and_the_session_interactive(monkeypatch, name):
    call, terminal = WITH_BARS[name], interactive_terminal(monkeypatch)
    call()
    assert terminal.getvalue() == "", "short work"
    monkeypatch.setattr(cost, "SHORT", 0.0)
    monkeypatch.setattr(cost, "_estimate_seconds", lambda works, rates: 3.0)
    call(progress=False)
    assert terminal.getvalue() == "", "forbidden"
    call()
    assert "100%" in terminal.getvalue()
    shown = len(terminal.getvalue())
    monkeypatch.setattr(cost, "_estimate_seconds", lambda works, rates: 1.9)
    call()
    assert len(terminal.getvalue()) == shown, "short again"
    call(progress=True)
    assert len(terminal.getvalue()) > shown, "asked for"


@pytest.mark.slow
def test_no_bar_without_an_interactive_session(monkeypatch, capsys):
    monkeypatch.setattr(cost, "SHORT", 0.0)
    monkeypatch.setattr(cost, "_estimate_seconds", lambda works, rates: 3.0)
    for call in WITH_BARS.values():
        call()
    assert capsys.readouterr().err == ""


def test_notebooks_are_interactive(monkeypatch):
    class Shell:
        kernel = None

    class IPython:
        get_ipython = staticmethod(lambda: Shell())

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert cost.is_interactive()
    IPython.get_ipython = staticmethod(lambda: None)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    assert not cost.is_interactive()


# ---------------------------------------------------------------- models

SIZES = [Size(n, d) for n, d in ((100, 2), (100, 9), (5000, 2), (5000, 9), (10**5, 9))]
MODELS = {
    "permutations": lambda size: [workloads.permutations(size, 2, 999)],
    "sliced": lambda size: [workloads.permutations(Size(size.n, size.columns, slices=50), 2, 999)],
    "line": lambda size: [workloads.permutations(Size(size.n, line=True), 2, 999)],
    "binned": lambda size: workloads.binned(size, 256, 2, 999, interim=False),
    "moments": lambda size: [workloads.permutation_moments_work(size, 2)],
    "bootstrap": lambda size: [workloads.bootstrap(size, 99)],
    "rows": lambda size: [workloads.permuted_rows(size, 3, 2, 999)],
    "normal": lambda size: [workloads.normal_samples_work(size.n, size.columns, 99)],
    "reference": lambda size: [workloads.reference_samples(size, 1000, 99)],
    "spectrum": lambda size: [workloads.spectrum(size.n)],
    "eigenpairs": lambda size: [workloads.eigenpairs(size, 3)],
    "bound": lambda size: [workloads.bound_on_between(size, 20)],
    "agglomeration": lambda size: [workloads.agglomeration(size)],
    "search": lambda size: [workloads.search_work(size, 3, 10)],
    "landmarks": lambda size: [workloads.landmarks(size, 3, 256, 10, 16_384)],
    "exact": lambda size: [workloads.exact_line(size.n, 3)],
    "stability": lambda size: [workloads.stability(size, 3, 100, 10, 0.6)],
    "split": lambda size: workloads.split(size, 3, 5, 199),
    "refit": lambda size: workloads.refit(size, 3, 199, 2),
    "crossfit": lambda size: workloads.crossfit(size, 3, 5, 199, 2),
    "tree": lambda size: workloads.tree(size, 5, 199, one_column=False),
}


def bill(works):
    """Time at rates that are all the same, and memory."""
    same = Rates(1e-9, 1e-9, 1e-9, 1e-9, 1e-9)
    return cost._estimate_seconds(tuple(works), same), math.fsum(work.bytes for work in works)


def test_many_eigenvalues_are_long():
    """A thousand clusters of 5,000 points ran for minutes without a word."""
    few, many = (bill([workloads.eigenpairs(Size(20_000, 3), count)])[0] for count in (10, 1000))
    assert many > 100 * few
    in_full, all_pairs = (bill([workloads.eigenpairs(Size(n, 3), n // 4 + 1)])[0] for n in (4000, 40))
    assert in_full > 1000**2 / 2 * all_pairs
    assert (
        bill([workloads.bound_on_between(Size(5000, 3), 1000)])[0] < bill([workloads.eigenpairs(Size(5000, 3), 999)])[0]
    )


@pytest.mark.parametrize("name", MODELS)
def test_models_grow_with_points_and_columns(name):
    """The columns of all pairs are in the rate of a pair."""
    bills = [bill(MODELS[name](size)) for size in SIZES]
    for (small, first), (large, second) in itertools.pairwise(zip(SIZES, bills, strict=True)):
        if large.n > small.n:
            assert second[0] > first[0]
            assert second[1] >= first[1]
        else:
            assert second >= first


@pytest.mark.parametrize(
    "model",
    [
        lambda m: [workloads.permutations(Size(500, 2), 2, m)],
        lambda m: [workloads.permutations(Size(9000, 2), 2, m)],
        lambda m: [workloads.permutations(Size(500, 2, slices=9), 2, m)],
        lambda m: [workloads.permutations(Size(500, 2), 2 + m // 30, 99)],
        lambda m: [workloads.permutations(Size(500, 2), 30 + m, 99)],  # many groups, added entry by entry
        lambda m: [workloads.bootstrap(Size(500, 2), m)],
        lambda m: [workloads.permuted_rows(Size(500, 2), 2, 1, m)],
        lambda m: workloads.comparisons(Size(500, 2), [(9, 9)] * m, 99),
        lambda m: [workloads.normal_samples_work(99, 2, m)],
        lambda m: [workloads.reference_samples(Size(99, 2), m, 9)],
        lambda m: [workloads.search_work(Size(99, 2), 3, m)],
        lambda m: [workloads.search_work(Size(99, 2), m, 3)],
        lambda m: [workloads.search_work(Size(99, 2), 3, 3, m)],
        lambda m: [workloads.landmarks(Size(10**6, 2), 3, m, 3, 99)],
        lambda m: [workloads.landmarks(Size(10**6, 2), m, 99, 3, 99)],
        lambda m: [workloads.stability(Size(99, 2), 3, m, 3, 0.6)],
        lambda m: workloads.split(Size(99, 2), 3, m, 199),
        lambda m: workloads.split(Size(99, 2), 3, 5, m),
        lambda m: workloads.refit(Size(99, 2), 3, m, 2),
        lambda m: workloads.crossfit(Size(99, 2), 3, m, 99, 2),
        lambda m: workloads.graph_partition if m < 0 else [workloads.graph_search(99, m, 3, 9, 8)],
        lambda m: [workloads.slices(Size(99, 2, slices=m))],
    ],
)  # fmt: skip
def test_models_grow_with_every_count(model):
    bills = [bill(model(m)) for m in (5, 50, 500)]
    assert bills[0][0] < bills[1][0] < bills[2][0]
    assert bills[0][1] <= bills[1][1] <= bills[2][1]


@pytest.mark.slow
def test_a_pair_takes_longer_in_more_columns():
    def rate(d):
        many = Dissimilarity.from_data(points(256, d), metric="euclidean", alpha=1.0)
        return min(cost._measure_pairs(many) for _ in range(5))

    assert 0 < rate(2) < rate(400)


def test_a_slow_function_is_seen_to_be_slow():
    def lazy(X, Y):
        time.sleep(2e-5 * X.shape[0] * Y.shape[0])
        return np.abs(X[:, :1] - Y[:, 0])

    d = Dissimilarity.from_data(points(), metric=lazy, alpha=1.0)
    assert cost._find_pair_rate(d) >= 2e-5


def test_a_function_that_fails_fails_in_the_call():
    def broken(X, Y):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        es.energy_test(points(2000), groups=halves(2000), metric=broken)


def test_rates_are_positive_and_quick_to_measure():
    cost._measure_machine.cache_clear()
    rates = cost._measure_machine()
    assert all(0 < rate < 1e-3 for rate in rates)
    assert cost._measure_machine() is rates


def test_a_machine_that_is_held_up_is_not_called_slower_than_any(monkeypatch):
    tested = Dissimilarity.from_data(points(400, 3), metric="euclidean", alpha=1.0)
    monkeypatch.setattr(cost, "_known", {})
    monkeypatch.setattr(cost, "_measure_least_time", lambda task, clock=None: 1.0)
    measured = cost._measure_machine.__wrapped__()
    assert (cost._find_pair_rate(tested), *measured) == dataclasses.astuple(Rates.slowest(tested))
    users = Dissimilarity.from_data(points(9), metric=lambda X, Y: abs(X[:, :1] - Y[:, 0]), alpha=1.0)
    assert cost._find_pair_rate(users) > 1e-3


def test_work_is_added_and_repeated():
    one = Work(what="a", pairs=1, flops=2, touched=3, ordered=4, steps=5, bytes=6)
    assert one.times(3, what="b").amounts == (3, 6, 9, 12, 15)
    both = one.and_then(Work(what="c", pairs=1, bytes=2), Work(what="d", bytes=9))
    assert (both.what, both.pairs, both.bytes) == ("a", 2, 9)
    assert cost.seconds_for(one, UNIT) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(61, "61 seconds"), (100, "2 minutes"), (7200, "2 hours"), (3 * 86_400, "3 days"), (1e9, "32 years"),
     (3.2e13, "1e+06 years")],
)  # fmt: skip
def test_times_are_written_in_words(seconds, text):
    assert cost._write_time(seconds) == text


# ---------------------------------------------------------------- memory


@pytest.fixture
def container_files(monkeypatch, tmp_path):
    """What the files of control groups hold."""
    files = {}

    class Faked(type(tmp_path)):
        def read_text(self, **how):
            if str(self) in files:
                return files[str(self)]
            raise OSError

    monkeypatch.setattr(cost, "Path", Faked)
    return files


@pytest.mark.parametrize(("folder", "limit", "used", "cached"), [
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
])  # fmt: skip
@pytest.mark.parametrize(("in_cache", "free"), [("700000000", 2.7e9), ("1500000000", 3e9), ("?", 2e9)])
def test_files_that_a_container_keeps_in_memory_are_free(folder, limit, used, cached, in_cache, free, container_files):
    """After a large file was read there was no memory left for anything."""
    container_files |= {f"{folder}/{limit}": "3000000000\n", f"{folder}/{used}": "1000000000\n"}
    container_files[f"{folder}/memory.stat"] = f"anon 200\nfile 900\nactive_file 5\n{cached} {in_cache}\nslab 7\n"
    assert [found for found in cost._read_container_limits() if found is not None] == [free]


def test_memory_of_containers_counts(container_files):
    files = container_files
    files |= {"/sys/fs/cgroup/memory.max": "3000000000", "/sys/fs/cgroup/memory.current": "1000000000"}
    assert list(cost._read_container_limits()) == [2e9, None]
    assert cost.available_memory() <= 2e9
    files["/sys/fs/cgroup/memory.max"] = "max"
    assert list(cost._read_container_limits()) == [None, None]


def test_memory_is_unlimited_where_nobody_knows(monkeypatch):
    monkeypatch.setattr(cost, "_read_free_memory", lambda: None)
    monkeypatch.setattr(cost, "_read_container_limits", lambda: iter((None, None)))
    assert cost.available_memory() == math.inf


def test_the_refusal_names_the_largest_part(monkeypatch):
    monkeypatch.setattr(cost, "available_memory", lambda: 2.0 * GIB)
    parts = Work(what="a lot", bytes=1.5 * GIB, advice="Use less."), Work(what="some", bytes=1.0 * GIB)
    with pytest.raises(MemoryError, match=r"^A lot need 1\.5 GiB of the 2\.5 GiB for this call, and 2\.0 GiB of "):
        cost.check_memory(*parts)
    cost.check_memory(parts[0])


def test_other_machines_are_not_judged_by_this_one(slow_machine):
    class Client:
        @staticmethod
        def nthreads():
            return {"a": 4, "b": 4}

    class OnDevice(cost.Sample):
        n_workers = 0

    assert cost.MATRIX.n_workers == 1
    assert RowsOnCluster(client=Client()).n_workers == 8
    assert RowsOnDevice().n_workers == 0
    d = OnDevice(None, np.empty((0, 0)))
    assert cost.check_work(True, d, Work(what="x", steps=1e12)), "no warning"


def test_a_scan_of_one_column_in_the_report_counts_searches_and_no_tests(monkeypatch):
    from energystats.clustering.energy_cluster import AUTO
    from energystats.clustering.search import Search
    from energystats.report import page

    seen = []
    monkeypatch.setattr(page, "check_work", lambda progress, d, *works: seen.append((d, works)))
    page._announce(points()[:, :1], 2, {"metric": "euclidean", "alpha": 1.0, "standardize": False}, 10**6, 4)
    ((d, works),) = seen
    searched = AUTO.work(d, Search(k=2))[-1]
    assert works[-1] == searched.times(4 * 21)
    assert len(works) > 2


def test_labelings_are_counted_as_they_are_chosen():
    from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison
    from energystats.inputs.methods import Sampling

    groups, rng = Groups(np.array([0, 0, 1, 1]), ("a", "b")), np.random.default_rng(0)

    def counted(*sampling):
        return GroupComparison(None, groups, STATISTICS["between"], Sampling(*sampling), rng).count_labelings()

    assert counted("auto", 99) == (6, True)
    assert counted("auto", 5) == (5, False)
    assert counted("permutation", 99) == (99, False)
    assert counted("exact", 3) == (6, True)


def test_costs_have_the_numbers_of_what_they_estimate():
    """They stand in a room that may not import the others."""
    assert (workloads.CLUSTERED_AT_MOST, workloads.FOLDS) == (split.CLUSTERED_AT_MOST, split.FOLDS)
    assert (split.DECORRELATED_AT_MOST, len(spaces.SHARES)) == (workloads.DECORRELATED_AT_MOST, workloads.SPACES)
    assert (workloads.NAMED_AT_MOST, workloads.FEW_STARTS) == (whole_clusters.ALL_PAIRS_AT_MOST, clusterers.FEW_STARTS)
    assert workloads.LANDMARKS_OF_MANY[::2] == (landmarks.FEWEST_LANDMARKS, landmarks.BATCH)
    assert workloads.CELL_BYTES == 8 * segments.CELLS**2
