"""Promises of pyproject.toml, and the files that check them."""

import re
import runpy
import tomllib
import unicodedata
from datetime import date
from importlib import metadata
from pathlib import Path

import jinja2
import pytest
import yaml
from numpydoc.docscrape import ClassDoc, FunctionDoc

import energystats as es

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


# ---------------------------------------------------------------- version, citation, recipe of conda


CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
not_in_an_sdist = pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="not in an sdist")


def test_the_version_is_that_of_the_installed_distribution():
    assert es.__version__ == metadata.version("energystats-toolkit")
    assert "__version__" not in (ROOT / "energystats" / "__init__.py").read_text().replace('"__version__"', "")


def test_the_version_comes_from_tags_and_files_without_git_have_that_of_the_changelog():
    vcs = PROJECT["tool"]["hatch"]["version"]
    assert vcs["source"] == "vcs"
    newest = re.search(r"^## (\S+),", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert vcs["fallback-version"] in (newest, f"{newest}.dev0")
    assert any(name.startswith("hatch-vcs") for name in PROJECT["build-system"]["requires"])


@not_in_an_sdist
def test_changelog_and_citation_have_one_version_and_date():
    release = runpy.run_path(str(ROOT / ".ci" / "release.py"))
    changelog, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    written, cited = release["versions"](changelog, citation)
    assert written == cited
    assert written[1] is None or date.fromisoformat(written[1])


@not_in_an_sdist
def test_a_tag_that_does_not_fit_is_not_published():
    complaints = runpy.run_path(str(ROOT / ".ci" / "release.py"))["complaints"]
    changelog, citation = "# Changelog\n\n## 1.2.0, 2027-01-31\n", "version: 1.2.0\ndate-released: 2027-01-31\n"
    assert complaints("v1.2.0", changelog, citation) == []
    assert complaints("v1.3.0", changelog, citation) == ["the tag is v1.3.0, the newest version in CHANGELOG.md 1.2.0"]
    assert "not yet released" in complaints("v1.2.0", "## 1.2.0, not yet released", "version: 1.2.0")[0]
    assert complaints("v1.2.0", changelog, "version: 1.2.0")[0].startswith("CITATION.cff has 1.2.0 of None")
    with pytest.raises(ValueError, match="wants a heading"):
        complaints("v1.2.0", "## 1.2.0", citation)


def folded(name):
    """A family name without accents, as docstrings have it."""
    name = name.replace("ø", "o").replace("ł", "l").replace("Ł", "L").replace("\u2019", "'")
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower().replace("ue", "u").replace(
        "oe", "o"
    )  # fmt: skip


NAMED = re.compile(
    r"(?P<first>[A-ZÀ-Ž]['A-Za-zÀ-ž-]+)(?:(?:,| &| and) (?:ter )?[A-Z][\w'-]+(?: [A-Z][\w-]+)?)*(?: et al\.)?"
    r"(?:'s)? \(?(?P<years>(?:19|20)\d\d(?:, (?:19|20)\d\d)*)\b"
)


def sources(text):
    """First author and year of every work that a text cites."""
    for found in NAMED.finditer(text):
        first = found["first"].removesuffix("'s")
        yield from ((folded(first), int(year)) for year in found["years"].split(", "))


def cited_by_docstrings():
    for home in (es, es.metrics, es.datasets):
        for name in home.__all__:
            thing = getattr(home, name)
            if callable(thing):
                doc = (
                    ClassDoc(thing, config={"show_class_members": False})
                    if isinstance(thing, type)
                    else FunctionDoc(thing)
                )
                yield from sources(" ".join(line.strip() for line in doc["References"]))


def test_every_source_of_a_method_is_in_the_citation_file():
    listed = {
        (folded(author["family-names"].split()[-1]), work.get("year"))
        for work in CITATION["references"] for author in work["authors"]
    }  # fmt: skip
    pages = ("theory", "distribution-tests", "clustering", "segments", "significance")
    cited = set(cited_by_docstrings())
    for page in pages:
        cited |= set(sources((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")))
    assert len(cited) > 60
    assert sorted(cited - listed) == []


def test_a_source_is_read_from_a_sentence():
    text = "as in Székely & Rizzo (2004, 2013) and Anderson & ter Braak (2003); Shekhar et al. (2022), Higham's (1988)"
    assert list(sources(text)) == [
        ("szekely", 2004), ("szekely", 2013), ("anderson", 2003), ("shekhar", 2022), ("higham", 1988)
    ]  # fmt: skip


def test_works_in_the_citation_file_are_complete():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["license"] == PROJECT["project"]["license"]
    for work in CITATION["references"]:
        assert work["title"]
        assert all(author["given-names"] and author["family-names"] for author in work["authors"])
        assert {"article": "journal", "book": "publisher", "unpublished": "notes"}[work["type"]] in work
        assert "year" in work or work["type"] == "unpublished"
        assert re.fullmatch(r"10\.\d{4,}/\S+", work.get("doi", "10.1000/none"))
    titles = [work["title"] for work in CITATION["references"]]
    assert len(set(titles)) == len(titles)


CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without a toolkit of windows


def recipe():
    text = (ROOT / "conda" / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(jinja2.Template(text).render(environ={}, PYTHON="python"))


def test_the_recipe_of_conda_has_the_dependencies_of_the_project():
    made, project = recipe(), PROJECT["project"]
    low = dict(line.split(" >=") for line in made["requirements"]["run"])
    wanted = {CONDA_NAMES.get(name, name): version for name, version in floors(project["dependencies"]).items()}
    assert low == {"python": project["requires-python"].removeprefix(">="), **wanted}
    host = dict(line.split(" >=") for line in made["requirements"]["host"] if ">=" in line)
    assert host == {"python": low["python"], **floors(PROJECT["build-system"]["requires"])}
    extras = project["optional-dependencies"]
    optional = floors(extras["parquet"] + extras["tables"] + extras["dask"])
    assert dict(line.split(" >=") for line in made["requirements"]["run_constrained"]) == optional


def test_the_recipe_of_conda_is_of_this_project():
    made, project = recipe(), PROJECT["project"]
    assert made["package"] == {
        "name": project["name"],
        "version": PROJECT["tool"]["hatch"]["version"]["fallback-version"],
    }
    assert made["about"]["summary"] == project["description"]
    assert made["about"]["license"] == project["license"]
    [program] = project["scripts"].items()
    assert made["build"]["entry_points"] == [" = ".join(program)]
    assert (ROOT / "conda" / "recipe" / made["source"]["path"]).resolve() == ROOT


# ---------------------------------------------------------------- workflows, templates, how to contribute


@not_in_an_sdist
def test_a_tag_is_published_by_trust_and_after_the_checks():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text())["jobs"]
    commands = [step.get("run", "") for step in jobs["build"]["steps"]]
    order = [
        next(i for i, run in enumerate(commands) if part in run) for part in (".ci/release.py", ".ci/package dist")
    ]
    assert order == sorted(order)
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not any("password" in str(step) for step in jobs["publish"]["steps"])
    fetched = [step["with"]["fetch-depth"] for step in jobs["build"]["steps"] if "checkout" in step.get("uses", "")]
    assert fetched == [0], "without the tags there is no version"
    assert 'bin/twine" check --strict' in (ROOT / ".ci" / "package").read_text()


@not_in_an_sdist
def test_templates_of_issues_ask_for_what_is_needed():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = {path.stem: yaml.safe_load(path.read_text()) for path in folder.glob("*.yml") if path.stem != "config"}
    assert set(forms) == {"wrong-number", "crash", "question"}
    for name, form in forms.items():
        assert form["name"]
        assert form["description"]
        asked = [part for part in form["body"] if part["type"] == "textarea"]
        assert len({part["id"] for part in asked}) == len(asked) > 1
        assert any(part.get("validations", {}).get("required") for part in asked)
        assert name == "question" or any("es.show_versions()" in part["attributes"]["label"] for part in asked)
    pages = re.findall(r"`(docs/[\w-]+\.md)`", str(forms["question"]))
    assert len(pages) == 3
    assert all((ROOT / page).exists() for page in pages)


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@not_in_an_sdist
def test_files_that_contributors_are_sent_to_exist():
    named = set(re.findall(r"`((?:\.ci|energystats|tests|docs)/[\w./-]*)`", CONTRIBUTING))
    named |= set(re.findall(r"`([A-Z]+\.(?:md|cff))`", CONTRIBUTING))
    assert len(named) > 35
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
    for folder, beside in (
        ("metrics", ("closed_form.py", "community.py", "general.py")),
        ("distribution_tests", ("spread_test.py",)),
    ):
        assert all(f"`{name}`" in CONTRIBUTING and (ROOT / "energystats" / folder / name).exists() for name in beside)
    short = set(re.findall(r"`([\w]+\.py)`", CONTRIBUTING))
    assert short == {"closed_form.py", "community.py", "general.py", "spread_test.py"}, "say in which folder"


def test_contributing_is_one_page_with_three_recipes_and_names_that_exist():
    from energystats.clustering.energy_cluster import ALGORITHMS
    from energystats.clustering.search import Algorithm

    assert len(CONTRIBUTING.splitlines()) <= 60
    assert re.findall(r"^## Recipe \d: (.*)$", CONTRIBUTING, re.MULTILINE) == [
        "a metric",
        "a test",
        "a clustering method",
    ]
    assert {"name", "work", "fit"} <= set(vars(Algorithm)) | set(Algorithm.__annotations__)
    assert all(isinstance(algorithm, Algorithm) for algorithm in ALGORITHMS.values())
    assert hasattr(es.metrics.Metric, "domain")
    assert "negative_type" in es.metrics.Metric.__annotations__
