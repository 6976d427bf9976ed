"""Vignettes and recipes have the form of notebooks; with `-m vignettes` each runs, without warnings, within a minute.

The site runs the same cells when it is built, and fails where one fails or warns, so the fast tests leave that out.
"""

import ast
import re
import time
import warnings
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parent.parent
VIGNETTES = sorted((ROOT / "vignettes").glob("*.md"))
RECIPES = sorted(path for path in (ROOT / "docs" / "howto").glob("*.md") if path.stem != "index")
PAGES = [*VIGNETTES, *RECIPES, ROOT / "docs" / "index.md"]
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
WARNS = "warns"  # tag of a cell that may warn
SECONDS = 60


def cells_of(text):
    """(source, tags) of the code cells, in order; MyST options are the lines that begin with a colon."""
    cells = []
    for body in CELL.findall(text):
        lines = body.splitlines()
        first = next((i for i, line in enumerate(lines) if not line.startswith(":")), len(lines))
        tags = [tag for line in lines[:first] if line.startswith(":tags:") for tag in re.findall(r"[\w-]+", line[6:])]
        cells.append(("\n".join(lines[first:]), set(tags)))
    return cells


def run_cell(source, name, namespace):
    """Run a cell as a notebook does: a last expression is shown, as text and as HTML."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        repr(value)
        if hasattr(value, "_repr_html_"):
            value._repr_html_()


def run_vignette(text, name):
    """All cells in one namespace; an error says which cell it was and shows its source."""
    namespace = {"__name__": "__main__"}
    for number, (source, tags) in enumerate(cells_of(text), 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if WARNS in tags else "error")
            try:
                run_cell(source, f"{name}, cell {number}", namespace)
            except Exception as error:
                raise AssertionError(f"{name}, cell {number}: {type(error).__name__}: {error}\n\n{source}") from error


@pytest.fixture
def headless(tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    yield
    plt.close("all")


def test_there_are_vignettes():
    assert len(VIGNETTES) >= 8
    assert len(RECIPES) >= 12


@pytest.mark.vignettes
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_vignette_runs(path, headless):
    clocks = (time.perf_counter, time.process_time)
    starts = [clock() for clock in clocks]
    run_vignette(path.read_text(encoding="utf-8"), path.name)
    assert min(clock() - start for clock, start in zip(clocks, starts, strict=True)) < SECONDS  # others may be at work


@pytest.mark.parametrize("path", [*VIGNETTES, *RECIPES], ids=lambda p: p.stem)
def test_vignette_is_a_myst_notebook(path):
    text = path.read_text(encoding="utf-8")
    front = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert front, "no front matter"
    assert re.search(r"^file_format: mystnb$", front[1], re.MULTILINE)
    assert re.search(r"^kernelspec:\n(  .*\n)*  name: python3$", front[1], re.MULTILINE)
    assert text[front.end() :].lstrip().startswith("# "), "prose first"
    cells = cells_of(text)
    assert len(cells) == text.count("```{code-cell}"), "a cell that does not end"
    tree = ast.parse(cells[-1][0])
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "the last cell asserts nothing"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_cells_are_python_and_only_those_that_say_so_may_warn(path):
    """The site fails on standard error unless a tag removes it; only what the tests allow may be removed."""
    for number, (source, tags) in enumerate(cells_of(path.read_text(encoding="utf-8")), 1):
        tree = ast.parse(source, f"{path.name}, cell {number}")
        assert WARNS not in tags or "remove-stderr" in tags, number
        workers = any(isinstance(node, ast.Name) and node.id in {"cluster", "client"} for node in ast.walk(tree))
        assert "remove-stderr" not in tags or WARNS in tags or workers, f"cell {number} hides what it warns of"


def test_a_cell_that_fails_or_warns_ends_the_build_of_the_site():
    """Settings of the site by which its build is a test of every page."""
    assigned = {
        node.targets[0].id: node.value
        for node in ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert ast.literal_eval(assigned["nb_execution_mode"]) == "force"
    assert ast.literal_eval(assigned["nb_execution_raise_on_error"]) is True
    assert ast.literal_eval(assigned["nb_output_stderr"]) == "error"
    assert 'os.environ.pop("MPLBACKEND"' in (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^python -m sphinx -W .*docs ", commands, re.MULTILINE)


def test_a_failing_cell_is_named_with_its_source():
    text = "# t\n\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell} ipython3\n:tags: [hide-input]\n\nx / 0\n```\n"
    with pytest.raises(AssertionError, match=r"v.md, cell 2: ZeroDivisionError: division by zero\n\n\nx / 0"):
        run_vignette(text, "v.md")


def test_warnings_are_errors_unless_the_cell_says_so():
    cell = "```{{code-cell}} ipython3\n{}import warnings\nwarnings.warn('look')\n```\n"
    with pytest.raises(AssertionError, match="cell 1: UserWarning: look"):
        run_vignette(cell.format(""), "v.md")
    run_vignette(cell.format(":tags: [hide-output, warns]\n"), "v.md")


def python_blocks(name):
    """Blocks of Python of a page, and the text that stands below each as its output, or none."""
    text = (ROOT / name).read_text(encoding="utf-8")
    pattern = r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?"
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/tour.md"])
def test_the_python_of_the_first_pages_runs_and_prints_what_stands_below(name, headless, capsys):
    blocks = python_blocks(name)
    assert len(blocks) >= 2
    namespace = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (block, output) in enumerate(blocks, 1):
            capsys.readouterr()
            run_cell(block, f"{name}, block {number}", namespace)
            if output:
                shown = output.rstrip().removesuffix("...")
                assert capsys.readouterr().out.startswith(shown), f"{name}, block {number} prints something else"
    text = "".join(block for block, _ in blocks)
    accuracy = re.search(r"^es\.clustering_accuracy\((.*)\)  # (\.?[\d.]+)$", text, re.MULTILINE)
    assert f"{eval(f'es.clustering_accuracy({accuracy[1]})', namespace):.3f}" == accuracy[2]
    breaks = re.search(r"^(es\.segment_test\(.*\)\.breaks)  # (\(.*?\))", text, re.MULTILINE)
    assert str(eval(breaks[1], namespace)) == breaks[2]


def test_the_readme_is_short_and_shows_the_output_of_its_main_example():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
    assert any("null hypothesis" in output for _, output in python_blocks("README.md"))
