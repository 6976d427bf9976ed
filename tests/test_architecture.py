"""The order of imports, read from the source: a module may import only what stands left of it."""

import ast
import re
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import energystats as es

ROOT = Path(__file__).parent.parent / "energystats"
ORDER = [  # each line may import the lines above it, and modules of its own line unless said otherwise
    ["exceptions", "_typing"],
    ["_runtime"],
    ["_core"],
    ["inputs", "versions"],
    ["metrics", "datasets"],
    ["pairs", "display", "doubtful_tables"],
    ["dissimilarity", "plotting"],
    ["energy", "geometry"],
    ["clustering", "distribution_tests"],
    ["cluster_tests"],
    ["selection"],
    ["report", "cli", "__main__", "__init__"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
MODULES = sorted(ROOT.rglob("*.py"))
HEAVY = {"pandas", "sklearn", "matplotlib", "statsmodels", "formulaic", "tqdm", "numba"}


@cache
def parsed(path):
    return ast.parse(path.read_text())


@cache
def nodes(tree):
    """All nodes below one, which many rules look at."""
    return tuple(ast.walk(tree))


def for_each(paths):
    """Hold a rule against every file: one test, which lists what every file breaks."""

    def decorate(rule):
        def test():
            broken = []
            for path in sorted(paths):
                try:
                    rule(path)
                except AssertionError as error:
                    broken.append(f"{path.name}: {error}")
            assert not broken, "\n".join(broken)

        test.__name__, test.__doc__ = rule.__name__, rule.__doc__
        return test

    return decorate


def part(path):
    """The unit of ORDER that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(tree, *, top_level=False, typing=False):
    """(module, line) of every import that runs, and with `typing` of those in TYPE_CHECKING blocks, which do not."""
    skipped = set()
    for node in nodes(tree):
        if not typing and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped.update(map(id, nodes(node)))
        if top_level and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            skipped.update(map(id, nodes(node)))
    for node in nodes(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module, node.lineno
            if node.module == "energystats":
                yield from ((f"energystats.{alias.name}", node.lineno) for alias in node.names)


def own_parts(tree):
    for module, line in imports(tree):
        pieces = module.split(".")
        if pieces[0] == "energystats" and len(pieces) > 1 and pieces[1] in LEVEL:
            yield pieces[1], line


@for_each(MODULES)
def test_imports_point_left(path):
    own = part(path)
    assert own in LEVEL, f"{own} has no place in ORDER"
    for other, line in own_parts(parsed(path)):
        assert LEVEL[other] <= LEVEL[own], f"{path.name}:{line} imports {other}, which stands to the right"


DRAWN_WITH = {"_core", "_typing", "display", "exceptions", "inputs", "metrics", "plotting"}


@for_each((ROOT / "plotting").glob("*.py"))
def test_pictures_take_values_and_know_no_results(path):
    for module, line in imports(parsed(path), typing=True):
        pieces = module.split(".")
        if pieces[0] == "energystats":
            assert set(pieces[1:2]) <= DRAWN_WITH, f"{path.name}:{line} imports {module}"


def own_modules(tree, names):
    """The modules of `names` that a file imports, for typing or not."""
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in names else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def import_graph(sources):
    """Find the other modules that each module imports; {name: source} -> {name: set of names}."""
    return {name: set(own_modules(ast.parse(text), sources)) & set(sources) - {name} for name, text in sources.items()}


def test_no_circle_of_files():
    """Imports for typing and inside functions are counted; `__init__`, which names everything for users, is not."""
    sources = {}
    for path in MODULES:
        pieces = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(pieces[:-1] if pieces[-1] == "__init__" else pieces)
        if name != "energystats":
            sources[name] = path.read_text()
    order = list(TopologicalSorter(import_graph(sources)).static_order())  # CycleError names the circle
    assert sorted(order) == sorted(sources)


def test_order_is_complete():
    assert {part(path) for path in MODULES} == set(LEVEL)


@for_each((ROOT / "_core").glob("*.py"))
def test_core_knows_arrays_only(path):
    """numpy, scipy and numba; from the package its own files, the type aliases, the locks and the warnings."""
    for module, line in imports(parsed(path)):
        top = module.split(".")[0]
        if top == "energystats":
            assert module.split(".")[1] in {"_core", "_typing", "_runtime", "exceptions"}, (
                f"{path.name}:{line} imports {module}"
            )
        else:
            assert top not in HEAVY - {"numba"}, f"{path.name}:{line} imports {module}"


@for_each(MODULES)
def test_results_import_plotting_inside_plot_only(path):
    tree = parsed(path)
    if part(path) in {"plotting", "__init__", "report", "cli"}:
        return
    inside = {
        id(node)
        for function in nodes(tree)
        if isinstance(function, ast.FunctionDef) and function.name.startswith("plot")
        for node in nodes(function)
    }
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("energystats.plotting"):
            assert id(node) in inside, f"{path.name}:{node.lineno} imports {node.module} outside of a plot method"


@for_each(MODULES)
def test_heavy_imports_are_lazy(path):
    """So that the distance of two samples needs neither pandas nor scikit-learn nor a compiler."""
    allowed = {"matplotlib"} if part(path) == "plotting" else {"estimator.py": {"sklearn"}}.get(path.name, set())
    found = {module.split(".")[0] for module, _ in imports(parsed(path), top_level=True)} & HEAVY
    assert found <= allowed, f"{path.name} imports {found - allowed} when it is imported"


@for_each(MODULES)
def test_bodies_fit_one_screen(path):
    for node in nodes(parsed(path)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno - first.lineno < 60, f"{path.name}:{node.lineno} {node.name} is too long"


LEANING = re.compile(r"(The same|Of|What|How|Where)\b")  # a line that begins so needs the name above it


def first_lines(tree):
    """Yield (name, first line) of every docstring; "module" for that of the file."""
    for node in nodes(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "module"), text.splitlines()[0]


@for_each(MODULES)
def test_first_lines_of_docstrings_stand_alone(path):
    """Ruff's D401 asks for a verb; these beginnings it does not know."""
    leaning = [f"{name}: {line}" for name, line in first_lines(parsed(path)) if LEANING.match(line)]
    assert not leaning, leaning


def test_no_name_is_defined_twice():
    """So that a name says where it lives; methods and constants aside."""
    homes = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                homes.setdefault(node.name.lstrip("_"), []).append(str(path.relative_to(ROOT)))
    twice = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert not twice, twice


def calls_into(room, call):
    """How often one call enters each function of a room of the package."""
    counts = Counter()

    def count(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT / room)):
            counts[frame.f_code.co_qualname] += 1

    call()  # what is imported and compiled
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts


@pytest.mark.parametrize("most", [49])
def test_what_a_user_gives_is_read_once(most):
    X = pd.DataFrame(np.arange(24.0).reshape(12, 2) % 7, index=[f"r{i}" for i in range(12)])
    g, w = pd.Series(np.tile(["u", "v"], 6), X.index), pd.Series(np.arange(1.0, 13.0), X.index)
    design = es.Design(strata=pd.Series(np.repeat([0, 1, 2], 4), X.index))
    read = calls_into("inputs", lambda: es.energy_test(X, groups=g, n_resamples=9, rng=1))
    assert sum(n for name, n in read.items() if not name.endswith(">")) <= most
    matched = calls_into("inputs", lambda: es.energy_test(X, groups=g, sample_weight=w, design=design, n_resamples=9))
    assert matched["match_rows"] == matched["join_indices"] == 1
    assert matched["_have_same_names"] == 3  # groups, weights and strata, each with the table
    assert matched["_frame_numbers"] == 2  # points and weights


@for_each(MODULES)
def test_nobody_asks_how_points_are_held(path):
    """Points, a matrix and blocks of rows answer the same questions; fields that may be empty would be asked for."""
    asked = re.findall(r"\bd\.(?:points|R|rows|line|matrix) is (?:not )?None", path.read_text())
    assert not asked, f"{path.name}: {asked}"


def test_private_names_stay_at_home():
    for path in MODULES:
        for node in nodes(parsed(path)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("energystats."):
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                assert not private, f"{path.name}:{node.lineno} imports {private}"


def test_what_other_modules_take_is_listed():
    """`__all__` says what a module is used for elsewhere."""
    missing = []
    for path in MODULES:
        for node in nodes(parsed(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("energystats."):
                continue
            taken = ROOT.parent.joinpath(*node.module.split(".")).with_suffix(".py")
            if taken.exists() and (listed := list_all(taken)) is not None:
                missing += [f"{node.module}: {a.name}" for a in node.names if a.name not in listed]
    assert not missing, sorted(set(missing))


def list_all(path):
    """Names in `__all__` of a module; None without one."""
    for node in parsed(path).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def test_numba_has_one_door():
    users = [path.name for path in MODULES if re.search(r"(import numba|import_module\(.numba)", path.read_text())]
    assert users == ["jit.py"]


# ---------------------------------------------------------------- p-values

TAILS = {"sf", "cdf", "logsf", "logcdf", "isf", "erfc", "ndtr", "chdtrc", "betaincinv", "percentileofscore"}


def is_more_by_one(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and 1 in (
        getattr(node.left, "value", None), getattr(node.right, "value", None)
    )  # fmt: skip


def pvalues_formed(tree):
    """What looks like the forming of a p-value: name or text of each."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and re.search("p_?val", node.name):
            yield node.name
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            if is_more_by_one(node.left) and is_more_by_one(node.right):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            averaged = [*node.args, getattr(node.func, "value", None)]
            if name in TAILS or (name == "mean" and any(isinstance(part, ast.Compare) for part in averaged)):
                yield name


@for_each(MODULES)
def test_p_values_are_formed_in_one_place(path):
    """(count + 1)/(number + 1), the mean of a comparison, tails of distributions, and functions called so.

    A share that is written in another way (a count divided by a number) is not seen.
    """
    if path.name != "pvalues.py":
        found = list(pvalues_formed(parsed(path)))
        assert not found, f"{path.name}: {found}"


# ---------------------------------------------------------------- threads of linear algebra

PRODUCTS = {"dot", "vdot", "inner", "matmul", "einsum", "tensordot", "linalg"}  # names that lead to the library
DECOMPOSITIONS = {"eig", "eigh", "eigvals", "eigvalsh", "eigsh", "svd", "qr", "cholesky", "inv", "matrix_rank"}
OF_COLUMNS = {("general.py", "eigvalsh"), ("general.py", "inv"), ("makers.py", "cholesky"),
              ("makers.py", "eigvalsh")}  # as many rows as the data have columns  # fmt: skip


def compiled_loops(tree):
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(d) for d in node.decorator_list):
            yield node


def calls_of_linear_algebra(function):
    for node in nodes(function):
        if isinstance(node, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.Attribute) and node.attr in PRODUCTS:
            yield node.attr


def free_decompositions(tree):
    """Names of decompositions that are called outside `with one_thread...`."""
    for node in nodes(tree):
        if isinstance(node, ast.With) and "one_thread" in ast.unparse(node.items[0].context_expr):
            for inner in nodes(node):
                inner.limited = True
    for node in nodes(tree):
        if isinstance(node, ast.Call) and not hasattr(node, "limited"):
            name = ast.unparse(node.func).split(".")[-1]
            if name in DECOMPOSITIONS:
                yield name


@for_each(MODULES)
def test_compiled_loops_write_their_products_out(path):
    """A library call for every short row costs more than the row, and its threads wait for each other."""
    for function in compiled_loops(parsed(path)):
        assert list(calls_of_linear_algebra(function)) == [], f"{path.name}:{function.lineno} {function.name}"


def arrays_written_to_slices(function):
    """Targets of assignments of more than a number to a slice."""
    for node in nodes(function):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and any(isinstance(part, ast.Slice) for part in nodes(target)):
                    yield ast.unparse(target)


@for_each(MODULES)
def test_compiled_loops_copy_arrays_number_by_number(path):
    """For the error of two arrays of different shapes, numba compiles texts for more than a second."""
    for function in compiled_loops(parsed(path)):
        assert list(arrays_written_to_slices(function)) == [], f"{path.name}:{function.lineno} {function.name}"


@for_each(MODULES)
def test_decompositions_say_how_many_threads_they_take(path):
    found = {(path.name, name) for name in free_decompositions(parsed(path))}
    assert found <= OF_COLUMNS, f"{path.name}: {found} belongs inside `with one_thread_up_to(order)`"


def test_the_tests_above_see_what_they_look_for():
    loop = ast.parse("@njit\ndef f(x):\n    return np.dot(x, x) + x @ x + x.dot(x) + np.linalg.norm(x)")
    assert [sorted(calls_of_linear_algebra(f)) for f in compiled_loops(loop)] == [["@", "dot", "dot", "linalg"]]
    copies = ast.parse("@njit\ndef f(x, y):\n    x[:2, 1] = y\n    x[:] = 0.0\n    x[1] = y[2:].size")
    assert [list(arrays_written_to_slices(f)) for f in compiled_loops(copies)] == [["x[:2, 1]"]]
    two = {"a.b": "if TYPE_CHECKING:\n    from a.c import C", "a.c": "def f():\n    from a import b"}
    assert import_graph(two) == {"a.b": {"a.c"}, "a.c": {"a.b"}}
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(two)).prepare()
    same = list(
        first_lines(ast.parse('"""Ofter."""\nclass C:\n    def f(self):\n        """The same.\n\n        More."""'))
    )
    assert same == [("module", "Ofter."), ("f", "The same.")]
    assert [bool(LEANING.match(line)) for _, line in same] == [False, True]
    code = "def f(x):\n    with one_thread():\n        eigh(x)\n    np.linalg.svd(x)"
    assert list(free_decompositions(ast.parse(code))) == ["svd"]
    code = (
        "def my_pvalue(s):\n    a = (null >= s).mean() + norm.sf(s) + np.mean(null > s)\n    return (k + 1) / (1 + n)"
    )
    assert sorted(pvalues_formed(ast.parse(code))) == ["(k + 1) / (1 + n)", "mean", "mean", "my_pvalue", "sf"]


def test_the_command_line_replaces_words_that_the_library_has():
    """A message that is written anew would otherwise reach the command line in words of Python."""
    from energystats.cli.errors import WORDS

    texts = [
        "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        if isinstance(node, ast.JoinedStr)
        else node.value
        for path in MODULES
        if path != ROOT / "cli" / "errors.py"
        for node in nodes(parsed(path))
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    unused = [words for words in WORDS if not any(words in text for text in texts)]
    assert not unused, unused
