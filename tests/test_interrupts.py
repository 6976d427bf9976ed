"""Ctrl-C during long calls: heard soon, leaves nothing behind, and the next call gives what a fresh session gives."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import energystats as es
from energystats._core import interrupts
from energystats._core.linkage import _merge_by_chains
from energystats._runtime import with_bar
from tests.conftest import sweep

SOON = 15.0  # seconds, where calls would last minutes; beside other work 8 were seen
PROGRAM = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np, energystats as es

X = np.random.default_rng(1).normal(size=(60, 3))
g = np.arange(60) % 3

def points(n, d=4):
    return np.random.default_rng(2).normal(size=(n, d))

LONG = {
    "energy_test": lambda: es.energy_test(points(4500), groups=np.arange(4500) % 3, n_resamples=10**6, rng=0),
    "energy_test asymptotic": lambda: es.energy_test(points(8000), groups=np.arange(8000) % 3, method="asymptotic"),
    "energy_cluster": lambda: es.energy_cluster(points(4000), 8, n_init=10**5, rng=0),
    "cluster_1d": lambda: es.cluster_1d(points(10**6, 1), 200),
    "cluster_test": lambda: es.cluster_test(points(400), 3, n_splits=10**4, n_resamples=9999, n_jobs=2, rng=0),
    "cluster_test refit": lambda: es.cluster_test(points(400), 3, method="refit", n_resamples=10**6, rng=0),
    "select_k": lambda: es.select_k(points(1000), 10, n_resamples=10**5, rng=0),
    "disco": lambda: es.disco(points(1000), groups=np.arange(1000) % 3, n_resamples=10**7, rng=0),
    "cluster_tree": lambda: es.cluster_tree(points(400), n_splits=10**5, rng=0),
    "energy_power": lambda: es.energy_power(X, X + 1, [30, 50], n_replicates=10**6, rng=0),
}
SHORT = {
    "energy_test": lambda: es.energy_test(X, groups=g, n_resamples=99, rng=0).pvalue,
    "energy_test asymptotic": lambda: es.energy_test(X, groups=g, method="asymptotic").pvalue,
    "energy_cluster": lambda: es.energy_cluster(X, 3, rng=0).labels.tolist(),
    "cluster_1d": lambda: es.cluster_1d(X[:, 0], 4).breaks.tolist(),
    "cluster_test": lambda: es.cluster_test(X, 3, n_resamples=19, n_jobs=2, rng=0).pvalues.tolist(),
    "cluster_test refit": lambda: es.cluster_test(X, 2, method="refit", n_resamples=19, rng=0).statistic,
    "select_k": lambda: es.select_k(X, 4, n_resamples=5, rng=0).column("gap").tolist(),
    "disco": lambda: es.disco(X, groups=g, n_resamples=99, rng=0).pvalue,
    "cluster_tree": lambda: [node.pvalue for node in es.cluster_tree(X, n_resamples=49, rng=0).nodes],
    "energy_power": lambda: es.energy_power(X, X + 1, [9], n_replicates=20, n_resamples=19, rng=0).rows[0].power,
}
mode, *names = sys.argv[1:]
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
for name in names:
    if mode == "interrupted":
        SHORT[name]()  # compiled
        timer = threading.Timer(0.6, interrupt)
        timer.start()
        try:
            LONG[name]()
            print("not interrupted")
        except KeyboardInterrupt:
            latency = time.perf_counter() - sent[-1]
            timer.join()  # which may not have ended when its signal arrives
            print(latency, threading.active_count())
    print(SHORT[name]())
"""
CALLS = ["energy_test", "energy_test asymptotic", "energy_cluster", "cluster_1d", "cluster_test", "cluster_test refit",
         "select_k", "disco", "cluster_tree", "energy_power"]  # fmt: skip


FAST = ["energy_test", "cluster_test"]  # threads for sums, and threads for searches


def session(mode, *names):
    command = [sys.executable, "-c", PROGRAM, mode, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Exception ignored" not in done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def in_turn():
    """Name -> what a session says of the call that is interrupted and of the next, one name after the other."""
    lines = session("interrupted", *FAST)
    return dict(zip(FAST, zip(lines[::2], lines[1::2], strict=True), strict=True))


@pytest.fixture(scope="module")
def fresh():
    """Name -> text of calls that nothing interrupted; a new process gives the same, as test_determinism.py sees."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()) as said,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", ["", "fresh", *FAST])
        exec(PROGRAM, {})
    return dict(zip(FAST, said.getvalue().splitlines(), strict=True))


@pytest.mark.parametrize("name", sweep(CALLS, FAST))
def test_long_calls_end_soon_and_the_next_is_right(name, in_turn, fresh):
    heard, after = in_turn[name] if name in FAST else session("interrupted", name)
    latency, threads = heard.split()
    assert float(latency) < SOON
    assert int(threads) == 1
    assert after == (fresh[name] if name in FAST else session("fresh", name)[0])


@pytest.mark.slow
def test_compilation_is_not_cut_in_two(tmp_path):
    """Interrupted while the loops are compiled, and again, until they are there: no broken function is left."""
    program = (
        "import os, signal, threading, warnings\n"
        "import numpy as np, energystats as es\n"
        "X = np.random.default_rng(0).normal(size=(60, 2))\n"
        "import energystats.cluster_tests.cluster_test\n"
        "stop = threading.Event()\n"
        "def nag():\n"
        "    while not stop.wait(0.4):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "thread = threading.Thread(target=nag)\n"
        "thread.start()\n"
        "heard = 0\n"
        "import time\n"
        "start = time.perf_counter()\n"
        "while time.perf_counter() - start < 6:\n"
        "    try:\n"
        "        es.cluster_test(X, 3, rng=0)\n"
        "    except KeyboardInterrupt:\n"
        "        heard += 1\n"
        "try:\n"
        "    stop.set(); thread.join()\n"
        "except KeyboardInterrupt:\n"
        "    stop.set(); thread.join()\n"
        "print(heard > 0)\n"
        "print(es.cluster_test(X, 3, rng=0).pvalue)\n"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    heard, pvalue = done.stdout.split()
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert heard == "True"
    assert float(pvalue) == es.cluster_test(X, 3, rng=0).pvalue


def test_all_signals_held_back_arrive(monkeypatch):
    """SIGTERM after Ctrl-C was lost."""
    arrived = []
    before = signal.signal(signal.SIGTERM, lambda *event: arrived.append("term"))

    def work():
        with interrupts.uninterrupted():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            arrived.append("end")

    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert arrived == ["end", "term"]


def test_a_signal_held_back_arrives_at_the_end():
    steps = []

    def work():
        with interrupts.uninterrupted(), interrupts.uninterrupted():
            signal.raise_signal(signal.SIGINT)
            steps.append("inside")
        steps.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_held_back_elsewhere():
    """In other threads no signal arrives, and one that is ignored stays ignored."""
    raised = []

    def work():
        with interrupts.uninterrupted():
            raised.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert raised == [signal.default_int_handler]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.uninterrupted():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_end_when_their_caller_goes():
    """At the next checkpoint, and what has not begun never does; the answers come in order otherwise."""
    begun = []

    def work(i):
        begun.append(i)
        for _ in range(400):
            interrupts.checkpoint()
            time.sleep(0.005)
        return i

    answers = interrupts.map_in_threads(lambda i: i * i, list(range(20)), 3)
    assert list(answers) == [i * i for i in range(20)]
    start = time.perf_counter()
    answers = interrupts.map_in_threads(work, list(range(50)), 2)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(answers)
    assert time.perf_counter() - start < 1.5
    assert len(begun) <= 4
    interrupts.checkpoint()  # nothing in the thread of the caller


def test_an_error_in_a_thread_is_raised():
    def work(i):
        if i == 3:
            raise ValueError("three")
        return i

    with pytest.raises(ValueError, match="three"):
        list(interrupts.map_in_threads(work, list(range(9)), 2))


def test_merges_do_not_depend_on_the_pieces(rng):
    H = es.pairwise(rng.standard_normal((40, 3)))
    whole = _merge_by_chains(H.copy(), np.ones(len(H), np.intp))
    pieces = _merge_by_chains(H.copy(), np.ones(len(H), np.intp), at_once=1)
    for a, b in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------- progress

LONG = {
    "energy_test": lambda X, **how: es.energy_test(X, groups=np.arange(40) % 2, n_resamples=99, rng=0, **how).pvalue,
    "disco": lambda X, **how: es.disco(X, groups=np.arange(40) % 2, n_resamples=99, rng=0, **how).pvalue,
    "disco terms": lambda X, **how: es.disco(X, "~ a + b", data={"a": X[:, 0], "b": X[:, 1] ** 2}, n_resamples=99,
                                             rng=0, **how).pvalue,
    "energy_cluster": lambda X, **how: es.energy_cluster(X, 3, rng=0, **how).within,
    "cluster_test": lambda X, **how: es.cluster_test(X, 2, n_resamples=19, n_splits=2, rng=0, **how).pvalue,
    "refit": lambda X, **how: es.cluster_test(X, 2, method="refit", n_resamples=9, rng=0, **how).pvalue,
    "crossfit": lambda X, **how: es.cluster_test(X, 2, method="crossfit", n_resamples=9, rng=0, **how).pvalue,
    "cluster_tree": lambda X, **how: es.cluster_tree(X, n_splits=2, rng=0, **how).k,
    "select_k": lambda X, **how: es.select_k(X, 3, n_resamples=5, rng=0, **how).k,
    "cluster_stability": lambda X, **how: es.cluster_stability(X, 2, n_resamples=9, rng=0, **how).adjusted_rand,
    "normality_test": lambda X, **how: es.normality_test(X, n_resamples=99, rng=0, **how).pvalue,
    "goodness_of_fit": lambda X, **how: es.goodness_of_fit(X, lambda size, rng: rng.normal(size=(size, 2)),
                                                           n_resamples=19, rng=0, **how).pvalue,
    "pairwise_tests": lambda X, **how: es.pairwise_tests(X, np.arange(40) % 3, n_resamples=9, rng=0,
                                                         **how).table["pvalue"].tolist(),
    "spread_test": lambda X, **how: es.spread_test(X, np.arange(40) % 3, n_resamples=9, rng=0, **how).pvalue,
    "segment": lambda X, **how: es.segment(X, 3, **how).labels.tolist(),
    "segment_test": lambda X, **how: es.segment_test(X, n_resamples=19, rng=0, **how).pvalue,
    "energy_power": lambda X, **how: es.energy_power(X[:9], X[9:], [4], n_replicates=9, n_resamples=19, rng=0,
                                                     **how).table.to_string(),
    "mmd_test": lambda X, **how: es.mmd_test(X[:20], X[20:], n_resamples=99, rng=0, **how).pvalue,
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_progress_shows_a_bar_and_changes_nothing(rng, capsys, name):
    import pandas as pd

    X = rng.standard_normal((40, 2))
    call = LONG[name]
    if name == "disco terms":

        def call(X, **how):
            data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] ** 2})
            return es.disco(X, "~ a + b", data=data, n_resamples=99, rng=0, **how).pvalue

    quiet = call(X)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert call(X, progress=True) == quiet
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "100%" in captured.err


def test_the_bar_is_closed_on_errors(capsys):
    def blocks():
        yield 1
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(with_bar(blocks(), True, total=9, unit="block", size=lambda _: 1))
    assert capsys.readouterr().err.endswith("\n")  # the line of the bar is finished
    import tqdm

    assert not tqdm.tqdm._instances


def test_the_bar_is_closed_when_the_caller_goes(rng, capsys):
    """In the middle of a loop over the blocks, while the traceback is kept, as notebooks do; and after an early end."""
    import tqdm

    X = rng.standard_normal((40, 2))

    def interrupt(*_):
        raise KeyboardInterrupt

    calls = {
        "callback": lambda: es.energy_cluster(X, 3, callback=interrupt, progress=True, rng=0),
        "clusterer": lambda: es.cluster_test(X, 2, clusterer=interrupt, method="split", progress=True, rng=0),
        "sampler": lambda: es.goodness_of_fit(X, lambda size, rng: interrupt(), progress=True, rng=0),
        "metric": lambda: es.select_k(X, 3, metric=late(interrupt), n_resamples=9, progress=True, rng=0),
    }
    for name, call in calls.items():
        with pytest.raises(KeyboardInterrupt) as kept:
            call()
        assert not tqdm.tqdm._instances, name
        error = capsys.readouterr().err
        assert error == "" or error.endswith("\n"), name
        del kept
    es.energy_test(X, groups=np.arange(40) % 2, method=es.Permutation(10**4, stop_at=3), progress=True, rng=0)
    assert not tqdm.tqdm._instances
    assert capsys.readouterr().err.endswith("\n")


def late(interrupt):
    """A semimetric that is interrupted at its ninth use."""
    uses = []

    def rho(X, Y):
        uses.append(1)
        if len(uses) == 9:
            interrupt()
        return np.abs(X[:, None] - Y[None]).sum(axis=2)

    return rho


IN_A_NOTEBOOK = """
import sys, types
shell = types.SimpleNamespace(config={"IPKernelApp": {}}, kernel=True)
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipykernel.zmqshell"] = types.ModuleType("zmqshell")  # what newer versions of tqdm look for
sys.modules["ipywidgets"] = None
import energystats as es
es.energy_test([1.0, 2.0, 5.0], [2.0, 8.0, 9.0], progress=True)
"""


@pytest.mark.slow  # a process of its own
def test_a_bar_in_a_notebook_without_widgets_gives_no_advice_about_them():
    done = subprocess.run([sys.executable, "-W", "always", "-c", IN_A_NOTEBOOK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "100%" in done.stderr
    assert "Warning" not in done.stderr


def test_progress_on_the_command_line_needs_a_terminal(tmp_path, monkeypatch, capsys):
    from energystats import cli

    monkeypatch.chdir(tmp_path)
    es.datasets.load("iris").to_csv("iris.csv", index=False)
    words = ["test", "iris.csv", "--group", "species", "--resamples", "99"]
    assert cli.main([*words, "--progress"]) == 0
    assert "%" not in capsys.readouterr().err
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    assert cli.main([*words, "--progress"]) == 0
    shown = terminal.getvalue()
    assert "100%" in shown  # once, or twice where the last portion took long enough for tqdm to show it by itself
    assert cli.main(words) == 0
    assert "%" not in terminal.getvalue().removeprefix(shown)
