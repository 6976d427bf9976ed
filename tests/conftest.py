"""Fixtures shared by the tests."""

import gc
import json
import os
import signal
import sys
from functools import cache
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # before numpy is loaded: workers share the cores, as threads of each would
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

# how long an example takes depends on the machine; others are tried in every run, and more in CI
settings.register_profile("unhurried", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile("unhurried")
gc.disable()  # while tests are collected: all that is made then stays
SEED = int(os.environ.get("ENERGYSTATS_SEED", np.random.SeedSequence().entropy % 10**6))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a suite in the background finds it, and its children would
    signal.signal(signal.SIGINT, signal.default_int_handler)

ORACLES = Path(__file__).parent / "oracles"


def pytest_configure(config):
    """Let workers compile in turn: of those that begin together, each would compile every loop for itself."""
    if not hasattr(config, "workerinput") or os.name != "posix":
        return
    import fcntl

    from numba.core import compiler_lock, dispatcher

    compile_loop, file, begun = dispatcher.Dispatcher.compile, os.open(dispatcher.__file__, os.O_RDONLY), []

    def compile_in_turn(loop, signature):
        with compiler_lock.global_compiler_lock:  # between threads
            fcntl.flock(file, fcntl.LOCK_EX)  # between processes; the next one finds the loop on disk
            begun.append(loop)
            try:
                return compile_loop(loop, signature)
            finally:
                begun.pop()
                if not begun:  # a loop compiles those that it calls
                    fcntl.flock(file, fcntl.LOCK_UN)

    dispatcher.Dispatcher.compile = compile_in_turn


def pytest_collection_modifyitems(items):
    """Let slow tests take what time they take: beside busy processes a call of a minute warns of itself."""
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.filterwarnings("ignore:This call took:energystats.PerformanceWarning"))


def pytest_collection_finish():
    gc.enable()
    gc.set_threshold(20_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one worker, so that what its tests share is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.fixture(scope="module", autouse=True)
def tidy_start():
    """A file of tests begins without open figures, and the garbage collector no longer searches what is alive by then.

    Statsmodels collects it at every correction of p-values, and a process of many tests holds millions of objects.
    """
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def as_in_a_new_process():
    """What warns once a process warns in every test."""
    exceptions = sys.modules.get("energystats.exceptions")
    if exceptions is not None:
        exceptions._given_once.clear()


@pytest.fixture
def rotating_seed(request):
    """A new seed in every run; set ENERGYSTATS_SEED to repeat one. No test may need a particular value."""
    request.node.user_properties.append(("seed", SEED))
    print(f"ENERGYSTATS_SEED={SEED}")  # noqa: T201, shown by pytest when the test fails
    return SEED


@pytest.fixture
def rng(rotating_seed):
    return np.random.default_rng(rotating_seed)


@pytest.fixture
def no_collection(monkeypatch):
    """Statsmodels collects garbage in every correction of p-values, which takes long in a process of many tests."""
    monkeypatch.setattr("gc.collect", lambda *_: 0)


@cache
def read_oracle(name):
    return Oracle(name)


class Oracle:
    """One data set with the values that R computed for it."""

    def __init__(self, name):
        self.record = json.loads((ORACLES / f"{name}.json").read_text())
        self.name = name
        self.labels = np.array(self.record["group"])
        self.values = {key: entry["value"] for key, entry in self.record["values"].items()}
        rows = (ORACLES / self.record["file"]).read_text().splitlines()
        if self.record["kind"] == "coordinates":
            self.points = np.array([line.split(",")[:-1] for line in rows[1:]], dtype=float)
            self.data, self.how = self.points, {"metric": "euclidean"}
        else:
            self.points = None
            self.data = np.array([line.split(",") for line in rows], dtype=float)
            self.how = {"metric": "precomputed"}

    def powered(self, alpha):
        """Data and options that stand for distances to the power alpha."""
        if self.points is not None:
            return self.data, {"metric": "euclidean", "alpha": alpha}
        return self.data**alpha, {"metric": "precomputed"}


NAMES = sorted(path.stem for path in ORACLES.glob("*.json"))


@pytest.fixture(params=NAMES)
def oracle(request):
    return read_oracle(request.param)


def examples(n):
    """Number of examples of a property: n where ENERGYSTATS_FUZZ is set, as .ci/run does, and a fifth otherwise."""
    return n if "ENERGYSTATS_FUZZ" in os.environ else max(n // 5, 3)


def sweep(cases, fast):
    """Cases of a parametrization: the first so many, or those in a collection, are fast, and the others slow."""
    cases = list(cases)
    if isinstance(fast, int):
        return cases[:fast] + [pytest.param(case, marks=pytest.mark.slow) for case in cases[fast:]]
    assert all(case in cases for case in fast)
    return [case if case in fast else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def oracles_with(field):
    """The data sets for which R has a value of this field, as a parametrization of `oracle`."""
    names = [name for name in NAMES if read_oracle(name).values.get(field) is not None]
    assert names, f"no data set has {field}"
    return pytest.mark.parametrize("oracle", names, indirect=True)
