"""Promises of docs/stability.md: public names, types as other programs see them, versions that are printed."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import energystats as es
from energystats import versions
from energystats._core import jit
from tests import public_api
from tests.public_api import FILE

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "tests" / "typing" / "downstream.py"


def test_public_names_parameters_and_attributes_are_those_of_the_list():
    """After a change that was meant: `python -m tests.public_api`, and a line in the changelog."""
    listed, found = FILE.read_text(encoding="utf-8").splitlines(), public_api.public_api()
    assert sorted(set(listed) - set(found)) == [], "these are gone or have changed"
    assert sorted(set(found) - set(listed)) == [], "these are new"


def test_the_list_sees_a_parameter_that_goes(monkeypatch):
    def energy_distance(x, y):
        """A function with fewer parameters than the real one."""

    monkeypatch.setattr(es, "energy_distance", energy_distance)
    assert "energy_distance(x, y)" in public_api.public_api()
    assert "energy_distance(x, y)" not in FILE.read_text(encoding="utf-8")


def test_the_page_has_the_versions_of_python_that_are_declared_and_tested():
    minors = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    assert PROJECT["requires-python"] == f">={minors[0]}"
    assert f"| Python | {minors[0]} | {', '.join(minors[:-1])} and {minors[-1]} |" in PAGE


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="not in an sdist")
def test_the_declared_versions_of_python_are_run():
    minors = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1]) == minors


# ---------------------------------------------------------------- types


def checked_by_mypy(path, folder):
    """Run mypy --strict as a program would that has the package installed; its own faults are not shown."""
    home = Path(es.__file__).parents[1]
    where = {} if "site-packages" in home.parts else {"MYPYPATH": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", path],
        cwd=folder, env={**os.environ, **where}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow  # mypy reads pandas and NumPy
def test_a_program_that_uses_the_package_passes_mypy(tmp_path):
    done = checked_by_mypy(SAMPLE, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SAMPLE.read_text().replace("assert_type(test.pvalue, float)", "assert_type(test.pvalue, int)"))
    assert 'Expression is of type "float", not "int"' in checked_by_mypy(wrong, tmp_path).stdout


@pytest.mark.slow  # main calls
def test_a_program_that_uses_the_package_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", SAMPLE], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(es.__file__).parents[1]), "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("energystats ")


def test_the_sample_states_types_of_every_group_of_the_reference():
    text = SAMPLE.read_text(encoding="utf-8")
    assert Path(es.__file__).with_name("py.typed").exists()
    assert text.count("assert_type(") > 30
    for name in ("energy_test", "energy_cluster", "EnergyClustering", "cluster_test", "segment_test", "lingoes"):
        assert f"es.{name}(" in text


# ---------------------------------------------------------------- versions


def required(names):
    return {re.match(r"[a-z0-9-]+", name)[0] for name in names}


def test_every_dependency_is_among_the_versions():
    extras = PROJECT["optional-dependencies"]
    assert set(versions.REQUIRED) == required(PROJECT["dependencies"])
    assert required(extras["parquet"] + extras["tables"] + extras["gpu"] + extras["dask"]) <= set(versions.OPTIONAL)
    assert PROJECT["name"] == versions.DISTRIBUTION


def test_versions_are_those_of_what_is_installed(capsys):
    es.show_versions()
    out = capsys.readouterr().out
    rows = dict(re.findall(r"^(\S+(?: \S+)*)  +(.*)$", out, re.MULTILINE))
    assert rows["energystats"] == es.__version__
    assert rows["Python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert rows["numpy"] == metadata.version("numpy")
    assert set(versions.REQUIRED) <= set(rows)
    assert re.search(r"\d threads?", out.partition("Linear algebra and threads")[2])
    assert rows["compiled by numba"] == "yes" or jit.OBSTACLE in rows["compiled by numba"]


def test_what_is_not_installed_is_missing_and_a_checkout_has_no_version(capsys, monkeypatch):
    real = metadata.version

    def version(name):
        if name in ("pyarrow", versions.DISTRIBUTION):
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(versions.metadata, "version", version)
    es.show_versions()
    out = capsys.readouterr().out
    assert re.search(r"^pyarrow +missing$", out, re.MULTILINE)
    assert out.startswith(f"energystats        {versions.UNKNOWN}\n")


def test_a_compiler_that_does_not_work_is_told(monkeypatch):
    class Broken:
        @staticmethod
        def njit(function):
            raise OSError("no such target")

    monkeypatch.setattr(jit, "numba", Broken)
    assert jit.try_compiler() == "no: OSError: no such target"
    monkeypatch.setattr(jit, "numba", None)
    monkeypatch.setattr(jit, "OBSTACLE", "NUMBA_DISABLE_JIT is set")
    assert jit.try_compiler() == "no: NUMBA_DISABLE_JIT is set"


def test_versions_are_read_without_importing_what_is_large():
    code = (
        "import sys, energystats as es; es.show_versions()\n"
        "print(sorted({'pandas', 'sklearn', 'matplotlib', 'statsmodels', 'dask', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr
