"""Numerical promises on the environment: no compiler, no place to write, no network, no import before its time."""

import os
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests import calls
from tests.conftest import sweep

HERE = Path(__file__).parent.parent
DENIED = """
import os, sys

def refuse(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and path not in ALLOWED:
            raise PermissionError(13, "read-only", str(path))
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink"):
        raise PermissionError(13, "read-only", str(arguments[0]))
    elif event.startswith("socket.") and event != "socket.__new__" and event != "socket.gethostname":
        raise ConnectionError(f"{event} {arguments}")

sys.dont_write_bytecode = True
ALLOWED = (os.devnull, sys.argv[1])
sys.addaudithook(refuse)
"""
BLOCKED = "import sys; sys.modules['numba'] = None\n"
RUN = "import runpy; sys.argv[0] = 'calls'; runpy.run_module('tests.calls', run_name='__main__')\n"


def run_python(code, *arguments, **environment):
    """Output of a process with this code."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **environment}, cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def compiled():
    """Results of the compiled loops."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return calls.run(calls.LOOPS)


@pytest.mark.parametrize("how", sweep(["not importable", "switched off"], ["switched off"]))
def test_plain_loops_give_the_same_answers_with_one_warning(tmp_path, compiled, how):
    out = tmp_path / "numbers.pickle"
    off = {"NUMBA_DISABLE_JIT": "1"} if how == "switched off" else {}
    # from where it is known that there is no compiler, both ways are one: a few calls see that it was found out
    run_python(("import sys\n" if off else BLOCKED) + RUN, out, "three" if off else "few", **off)
    numbers, warned = pickle.loads(out.read_bytes())
    assert [category for category, _ in warned] == ["PerformanceWarning"]
    assert "plain Python" in warned[0][1]
    assert ("NUMBA_DISABLE_JIT" in warned[0][1]) == bool(off)
    assert calls.same_numbers(numbers, compiled) == []
    assert off or numbers.keys() == compiled.keys()


def test_numbers_in_the_text_of_a_loop_compile_no_other_loop_again(compiled):
    """Where a loop calls another one with 2 and with 3, both are integers: it is compiled once."""
    assert compiled
    modules = [module for name, module in sys.modules.items() if name.startswith("energystats._core.")]
    loops = {loop for module in modules for loop in vars(module).values() if hasattr(loop, "nopython_signatures")}
    signatures = [signature.args for loop in loops for signature in loop.nopython_signatures]
    assert len(signatures) > 15  # of a warm cache, those that Python calls
    assert not [types for types in signatures if any("Literal" in str(of_one) for of_one in types)]


@pytest.mark.slow  # everything is compiled again
def test_without_a_place_to_write_and_without_network(tmp_path, compiled):
    out = tmp_path / "numbers.pickle"
    code = "import os; os.environ.pop('NUMBA_CACHE_DIR', None)\n" + DENIED + RUN
    run_python(code, out, "few", MPLCONFIGDIR=str(tmp_path))
    numbers, warned = pickle.loads(out.read_bytes())
    assert warned == []
    assert calls.same_bits(compiled, numbers) == []


def test_a_loop_is_compiled_without_a_place_for_the_cache(tmp_path):
    code = DENIED + "from energystats._core.distance_loops import fill_distances as f; print(type(f._cache).__name__)"
    assert run_python(code, tmp_path) == "NullCache"


@pytest.mark.slow  # compiles
def test_a_changed_loop_is_not_run_from_the_cache_of_its_caller(tmp_path):
    """An upgrade may change one file of loops alone; what calls it was compiled with the old one inside."""
    shutil.copytree(HERE / "energystats", tmp_path / "energystats", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np; from energystats._core.unimodal import RATIO, compute_indices as f\n"
        "print(f(np.array([0.0, 1.0, 3.0, 7.0]))[RATIO])"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = float(run_python(code, tmp_path, **environment))
    called = tmp_path / "energystats/_core/normal_mixture.py"
    text = called.read_text()
    assert text.count("def mixture_ratio(") == 1
    called.write_text(text.replace("def mixture_ratio(", "def mixture_ratio(x):\n    return 42.0\n\n\ndef unused("))
    assert before < 42
    assert float(run_python(code, tmp_path, **environment)) == 42


def test_the_guard_refuses_files_and_sockets(tmp_path):
    code = DENIED + (
        "import socket, pathlib\n"
        "connect = lambda: socket.create_connection(('127.0.0.1', 9))\n"
        "for act in (lambda: open('x', 'w'), lambda: os.mkdir('y'), connect):\n"
        "    try: act()\n"
        "    except (PermissionError, ConnectionError) as error: print(type(error).__name__)\n"
    )
    assert run_python(code, tmp_path).split() == ["PermissionError", "PermissionError", "ConnectionError"]


LOADED = (
    "import sys; before = set(sys.modules)\n"
    "{action}\n"
    "new = {{name.split('.')[0] for name in set(sys.modules) - before}} - set(sys.stdlib_module_names)\n"
    "print(*sorted(name for name in new if not name.startswith('_')))"
)


def test_the_package_alone_is_imported():
    assert run_python(LOADED.format(action="import energystats")) == "energystats lazy_loader"


def test_a_test_of_clear_clusters_needs_no_other_package_for_comparing_them(tmp_path):
    """Their parts are the clusters shown, so that no Rand index is computed; scikit-learn took longer than the test."""
    code = (
        "import sys, numpy as np, energystats as es\n"
        "X = np.arange(40.0)[:, None] % 5 + np.repeat([0, 90], 20)[:, None] + np.zeros(2)\n"
        "found = es.cluster_test(X, 2, rng=0)\n"
        "print(found.pvalue < .05, *(name in sys.modules for name in ('sklearn', 'scipy.optimize')))"
    )
    assert run_python(code, tmp_path).splitlines()[-1] == "True False False"


def test_the_guard_of_imports_sees_what_is_not_its_own():
    assert "numpy" in run_python(LOADED.format(action="import energystats, numpy")).split()
