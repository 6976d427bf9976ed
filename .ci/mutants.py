"""Mutants of the numerics that the fast tests do not notice; on demand, not part of `.ci/run`.

    pip install -e '.[test]' cosmic-ray
    python .ci/mutants.py                       a random sample of 100 mutants of all modules
    python .ci/mutants.py --sample 0 pvalues    every mutant of one module

Each mutant is one change of an operator, a number or a condition, made in a copy of the checkout. The tests named in
`TESTS` run until one fails; a mutant that passes all of them is printed as a difference, to be read: some mean the
same as the original (a constant that only decides which of two equal routes is taken), the others want a test.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path("energystats")
TESTS = {  # test files by module, those that fail soonest first; names without a folder are in `_core`
    "block_krylov": "block_krylov geometry graphs",
    "cailliez": "geometry euclidize",
    "density": "significance pictures",
    "distance_loops": "metrics gower",
    "distances": "metrics accuracy community gower",
    "eigenvalue_bound": "clustering exact_1d landmarks",
    "exact_1d": "exact_1d sums",
    "four_russians": "sums relabeling",
    "gaps": "gaps tree validation",
    "gower": "gower metrics",
    "gram": "geometry accuracy mmd bent_spaces significance",
    "graph_cuts": "graphs",
    "group_sums": "sums homogeneity near_linear relabeling",
    "hartigan": "threads sums search clustering landmarks",
    "hidden_columns": "jitter bent_spaces",
    "jitter": "jitter significance regressions selection",
    "kmeans_plus_plus": "refit search clustering",
    "labelings": "relabeling homogeneity",
    "laplacian": "graphs spectral",
    "line_spectrum": "exact_1d spectral",
    "linear_models": "decomposition",
    "linkage": "hierarchy clustering",
    "lloyd": "sums clustering",
    "normal_mixture": "normal_mixture refit",
    "moments": "relabeling homogeneity",
    "normal": "goodness",
    "order_loops": "segments",
    "permutation_loops": "relabeling",
    "powers_of_two": "accuracy",
    "pvalues": "sums relabeling significance ties homogeneity refit regressions",
    "ratios": "ratios jitter transformed_rows",
    "restarts": "search refit",
    "row_counts": "row_counts transformed_rows",
    "segments": "segments",
    "spatial_median": "spread",
    "statistics": "homogeneity mmd oracles",
    "sums_on_line": "sums near_linear",
    "unimodal": "sums refit significance",
    "cluster_tests/crossfit": "refit significance",
    "cluster_tests/merges": "validation tree",
    "cluster_tests/refit": "refit significance",
    "cluster_tests/split": "significance refit",
    "cluster_tests/unimodality": "significance jitter validation",
    "clustering/accuracy": "clustering accuracy",
    "clustering/exact_1d": "exact_1d clustering",
    "clustering/hierarchy": "hierarchy",
    "clustering/local_search": "search clustering algorithms rounded_pairs",
    "clustering/seeding": "search clustering spectral",
    "clustering/silhouette": "validation selection regressions",
    "distribution_tests/cross_test": "relabeling mmd",
    "distribution_tests/energy_interval": "homogeneity regressions",
    "distribution_tests/mmd": "mmd",
    "distribution_tests/multiplicity": "posthoc homogeneity",
    "distribution_tests/pairwise_tests": "posthoc",
    "distribution_tests/spread_test": "spread",
    "geometry/coordinates": "geometry euclidize",
    "geometry/euclidize": "euclidize geometry",
    "metrics/closed_form": "metrics domains",
    "metrics/community": "community metrics",
    "metrics/kernel": "mmd metrics geometry",
    "selection/gap": "selection",
    "selection/stability": "stability selection",
}
LEFT_OUT = ("RemoveDecorator", "ExceptionReplacer", "ReplaceBreakWithContinue")  # no change of a number
SECONDS = 300  # for the tests of one mutant; who takes longer is killed, in both senses


def mutable_lines(source: str) -> set[int]:
    """Lines of code but for annotations, `__all__`, assertions and messages of errors."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        within: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            within = [argument.annotation for argument in arguments] + [node.returns]
        elif isinstance(node, ast.AnnAssign):
            within = [node.annotation]
        elif isinstance(node, ast.Assert | ast.Raise) or (
            isinstance(node, ast.Assign) and "__all__" in ast.dump(node.targets[0])
        ):
            within = [node]
        for part in within:
            if part is not None:
                skipped |= set(range(part.lineno, part.end_lineno + 1))
    return set(range(1, source.count("\n") + 2)) - skipped


def path_of(module: str) -> Path:
    """The file of a module; without a folder it is in `_core`."""
    return PACKAGE / f"{module if '/' in module else '_core/' + module}.py"


def mutants_of(module: str) -> list:
    """Every mutant of one module."""
    import cosmic_ray.plugins
    from cosmic_ray.commands.init import _all_work_items

    path = path_of(module)
    names = [name for name in cosmic_ray.plugins.operator_names() if not any(word in name for word in LEFT_OUT)]
    lines = mutable_lines(path.read_text())
    items = _all_work_items([path], {})
    found = [mutation for item in items for mutation in item.mutations if mutation.operator_name in names]
    return [mutation for mutation in found if mutation.start_pos[0] in lines]


def forget_compiled(module: str) -> None:
    """Remove compiled loops that may hold those of the module: they do not notice that it has changed."""
    folder, name = path_of(module).parent.name, path_of(module).stem
    for other in PACKAGE.rglob("*.py"):
        text = other.read_text()
        if other.stem == name or f"{folder}.{name}" in text or f"import {name}" in text:
            for compiled in (other.parent / "__pycache__").glob(f"{other.stem}.*.nb?"):
                compiled.unlink()


def tried(python: str, module: str, mutation) -> tuple[bool, str, float]:
    """Whether the tests notice a mutant, its difference, and the seconds."""
    from cosmic_ray.mutating import mutate_and_test

    forget_compiled(module)
    files = " ".join(f"tests/test_{name}.py" for name in TESTS[module].split())
    begun = time.monotonic()
    result = mutate_and_test([mutation], f"{python} -m pytest -x -q -p no:cacheprovider {files}", SECONDS)
    forget_compiled(module)
    return "SURVIVED" not in str(result.test_outcome), result.diff or "", time.monotonic() - begun


def main() -> None:
    """Try mutants, and print those that live."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="names as in `TESTS`; all by default")
    parser.add_argument("--sample", type=int, default=100, help="mutants drawn at random; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no mutant is begun after these")
    parser.add_argument("--python", default=sys.executable, help="with the package's test requirements")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "checkout")
        shutil.copytree(".", copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis"))
        os.chdir(copy)
        os.environ |= {"PYTHONPATH": str(copy), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        every = [(name, mutation) for name in options.modules or TESTS for mutation in mutants_of(name)]
        random.Random(options.seed).shuffle(every)
        chosen = every[: options.sample or None]
        print(f"{len(chosen)} of {len(every)} mutants", flush=True)
        end, killed, made = time.monotonic() + 60 * options.minutes, 0, 0
        for name, mutation in chosen:
            if time.monotonic() > end:
                break
            noticed, difference, seconds = tried(options.python, name, mutation)
            made, killed = made + 1, killed + noticed
            print(f"{made:4d} {name:18s} {'killed' if noticed else 'LIVES':7s} {seconds:5.0f} s", flush=True)
            if not noticed:
                print(difference, flush=True)
        print(f"{killed} of {made} killed ({killed / max(made, 1):.0%})")


if __name__ == "__main__":
    main()
