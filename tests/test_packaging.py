"""Promises of pyproject.toml, and the files that check them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_RUN_BY_TESTS = {"ruff", "mypy", "pandas-stubs"}
SKIPPED_THERE = {"scikit-bio"}  # tests of what they make are left out where they are not installed


def floors(requirements):
    """Name -> lowest version."""
    found = {}
    for requirement in requirements:
        name, low = re.fullmatch(r"([a-z0-9-]+)(?:\[.*\])?>=([\d.]+).*", requirement).groups()
        found[name] = low
    return found


def padded(version):
    numbers = [int(part) for part in version.split(".")]
    return numbers + [0] * (3 - len(numbers))


@pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="not in an sdist")
def test_every_floor_is_installed_by_the_leg_of_lowest_versions():
    project = PROJECT["project"]
    declared = {**floors(project["dependencies"]), **floors(project["optional-dependencies"]["test"])}
    lines = (ROOT / ".ci" / "lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(declared) - set(pinned) == NOT_RUN_BY_TESTS | SKIPPED_THERE
    for name in set(declared) & set(pinned):
        assert padded(declared[name]) == padded(pinned[name]), name


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="not in an sdist")
def test_the_leg_of_lowest_versions_is_run():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "bash .ci/lowest" in workflow
    assert ".ci/package" in (ROOT / ".ci" / "run").read_text()


def test_warnings_are_errors():
    few_draws = "ignore:With [0-9]+ draws the smallest possible p:UserWarning"  # of tests that need no small p
    assert PROJECT["tool"]["pytest"]["ini_options"]["filterwarnings"] == ["error", few_draws]


@pytest.mark.parametrize("package", ["numpy", "scipy", "pandas", "sklearn", "numba", "matplotlib", "statsmodels",
                                     "formulaic", "tqdm", "threadpoolctl", "jinja2", "lazy_loader"])  # fmt: skip
def test_every_import_is_declared_and_every_dependency_is_used(package):
    name = {"sklearn": "scikit-learn", "lazy_loader": "lazy-loader"}.get(package, package)
    assert name in floors(PROJECT["project"]["dependencies"])
    pattern = re.compile(rf"^\s*(?:import|from) {package}\b|import_module\(\"{package}\"\)", re.M)
    assert any(pattern.search(path.read_text()) for path in (ROOT / "energystats").rglob("*.py"))
