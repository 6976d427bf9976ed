# ruff: noqa: E402
"""Level and power of the tests of clusters, and what no test can do: the tables of docs/significance.md.

    python benchmarks/significance.py                      every table; see benchmarks/README.md for the time
    python benchmarks/significance.py --table A B          some tables; --list shows what there is
    python benchmarks/significance.py --methods split      some columns, for instance with --fresh after a change
    python benchmarks/significance.py --quick              three replicates each, to see that everything runs; not kept
    python benchmarks/significance.py --replicates N       N replicates of every row
    python benchmarks/significance.py --jobs N             processes; no number depends on it
    python benchmarks/significance.py --figures --page     nothing is run: draw docs/figures/significance-*.png from the
                                                           results, and rewrite the tables of docs/significance.md

Results go to benchmarks/results/significance.json after every cell, so that a run that was stopped goes on where it
was; `--fresh` computes the chosen cells again. Replicate r of a row has a SeedSequence child of its own, named by
table, row and r: all methods see the same samples, and neither the number of processes nor the choice of tables, rows
or methods changes a number. A method that the package does not have, or a peer that is not installed, is reported
missing.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # the cells are spread over processes

import argparse
import json
import platform
import statistics
import sys
import time
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import energystats as es
from benchmarks import significance_report as report
from benchmarks.environment import describe_environment
from benchmarks.significance_tables import RESAMPLES, TABLES, NotApplicableError, Row

SEED = 2026
LEVELS = (0.01, 0.05, 0.1, 0.5)
QUICK_REPLICATES = 3
RESULTS = Path(__file__).parent / "results" / "significance.json"


# ---------------------------------------------------------------- one cell


def stream(*key: str | int) -> np.random.Generator:
    """The generator that belongs to a table, row, replicate (and method)."""
    numbers = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key]
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=tuple(numbers)))


def run_cell(table_id: str, row_name: str, method_name: str, replicates: int) -> dict[str, Any]:
    """Rates with their standard errors, or why there are none."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    table = TABLES[table_id]
    row = table.row(row_name)
    if method_name == "limit":
        found = row.limit(stream(table_id, row_name, "limit")) if row.limit else None
        if found is None:
            return {"missing": "not known for this row"}
        return {"rates": {"0.05": found.power}, "errors": {"0.05": found.error}, "divergence": found.divergence,
                "replicates": "exact draws", "seconds": time.perf_counter() - start}  # fmt: skip
    try:
        values = np.array([one_value(table_id, row, method_name, r) for r in range(replicates)])
    except NotApplicableError as why:
        return {"missing": str(why)}
    except Exception as error:  # a method that does not exist, a peer that is not installed
        return {"missing": f"{type(error).__name__}: {error}"}
    counted = {"right": values == row.k} if table.hit == "truth" else {str(a): values <= a + 1e-12 for a in LEVELS}
    rates = {key: float(hits.mean()) for key, hits in counted.items()}
    errors = {key: float(np.sqrt(rate * (1 - rate) / replicates)) for key, rate in rates.items()}
    return {"rates": rates, "errors": errors, "replicates": replicates, "seconds": time.perf_counter() - start}


def one_value(table_id: str, row: Row, method_name: str, replicate: int) -> float:
    """The p-value of one sample, or the number of clusters chosen."""
    X = row.draw(stream(table_id, row.name, replicate))
    method = TABLES[table_id].methods[method_name]
    if len(X) > method.most:
        raise NotApplicableError(f"more than {method.most:g} points: too slow for a table")
    return float(method.call(X, stream(table_id, row.name, replicate, method_name), row))


# ---------------------------------------------------------------- cost


def cost_cases():
    """Name -> sample and call; the seconds of one call on one core, after one that is not counted."""
    rng = np.random.default_rng(SEED)
    for n in (100, 500, 1000, 2000, 10_000):
        yield (
            f"split, 199 draws, n={n} d=2",
            partial(es.cluster_test, rng.standard_normal((n, 2)), method="split", rng=0),
        )
    for n in (1000, 10_000):
        yield f"1-D, 199 draws, n={n}", partial(es.cluster_test, rng.standard_normal(n), rng=0)
    for n in (100, 500):
        for how in (
            {"method": "refit", "null": "gaussian"},
            {"method": "refit", "null": "unimodal"},
            {"method": "crossfit"},
        ):
            X = rng.standard_normal((n, 2))
            what = " ".join(how.values())
            yield f"{what}, 99 draws, n={n} d=2", partial(es.cluster_test, X, n_resamples=99, rng=0, **how)


def measure_costs(quick: bool) -> dict[str, Any]:
    """Medians of three calls."""
    found: dict[str, Any] = {}
    for case, call in cost_cases():
        if quick and "n=10000" in case:
            continue
        try:
            call()
            times = []
            for _ in range(1 if quick else 3):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            found[case] = {"seconds": statistics.median(times)}
        except Exception as error:
            found[case] = {"missing": f"{type(error).__name__}: {error}"}
        print(f"{case}: {found[case]}", file=sys.stderr, flush=True)
    return found


# ---------------------------------------------------------------- the run


def empty_results() -> dict[str, Any]:
    return {
        "seed": SEED,
        "resamples": RESAMPLES,
        "levels": LEVELS,
        "versions": {"energystats": es.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
                     "python": platform.python_version()},
        "tables": {},
        "costs": {},
    }  # fmt: skip


def load(path: Path | None) -> dict[str, Any]:
    """Earlier results, if they have this seed and number of draws."""
    if path is not None and path.exists():
        found = json.loads(path.read_text())
        if (found["seed"], found["resamples"]) == (SEED, RESAMPLES):
            return found
    return empty_results()


def store(results: dict[str, Any], path: Path | None) -> None:
    """Write it whole, or not at all."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        results["environment"] = describe_environment()
        partly = path.with_suffix(".partly")
        partly.write_text(json.dumps(results, indent=1) + "\n")
        partly.replace(path)


def cells_to_run(results, table_ids, methods, asked, fresh):
    """Cells that are wanted and not there yet, those of many points and slow methods first."""
    wanted = []
    for table_id in table_ids:
        table = TABLES[table_id]
        for row in table.rows:
            for method in table.methods:
                if methods and method not in methods:
                    continue
                replicates = table.count(row, method, asked)
                there = results["tables"].get(table_id, {}).get(row.name, {}).get(method, {})
                if fresh or there.get("replicates") not in (replicates, "exact draws"):
                    wanted.append((table_id, row.name, method, replicates))
    return sorted(wanted, key=lambda cell: TABLES[cell[0]].methods[cell[2]].share)


def run(results, cells, jobs, path):
    """Fill the cells; the results are written as they come."""
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(run_cell, *cell): cell for cell in cells}
        last = 0.0
        for done, future in enumerate(as_completed(futures), start=1):
            table_id, row, method, _ = futures[future]
            results["tables"].setdefault(table_id, {}).setdefault(row, {})[method] = future.result()
            if time.perf_counter() - last > 5 or done == len(futures):
                last = time.perf_counter()
                store(results, path)
                print(f"{done} of {len(futures)} cells", file=sys.stderr, flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="*", default=[*TABLES, "cost"], choices=[*TABLES, "cost"], metavar="ID")
    parser.add_argument("--methods", nargs="*", default=[], metavar="NAME", help="columns")
    parser.add_argument("--quick", action="store_true", help="three replicates each; nothing is kept without --out")
    parser.add_argument("--replicates", type=int, metavar="N")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--fresh", action="store_true", help="compute again what is there")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"results, by default {RESULTS.name}")
    parser.add_argument("--figures", action="store_true", help="draw the pictures from the results, run nothing")
    parser.add_argument("--page", action="store_true", help="rewrite the tables of docs/significance.md, run nothing")
    parser.add_argument("--list", action="store_true", help="list tables and methods")
    return parser.parse_args()


def main() -> None:
    options = parse()
    path = options.out or (None if options.quick else RESULTS)
    results = load(path)
    if options.list:
        for table_id, table in TABLES.items():
            print(f"{table_id}: {table.title}; {len(table.rows)} rows; {', '.join(table.methods)}")
        return
    if options.figures or options.page:
        if options.figures:
            report.draw_all(results, report.FIGURES)
        if options.page:
            report.rewrite_page(results, report.PAGE)
        return
    start = time.perf_counter()
    asked = options.replicates or (QUICK_REPLICATES if options.quick else None)
    table_ids = [table_id for table_id in options.table if table_id != "cost"]
    run(results, cells_to_run(results, table_ids, options.methods, asked, options.fresh), options.jobs, path)
    if "cost" in options.table:
        results["costs"] = measure_costs(options.quick)
        store(results, path)
    for table_id in options.table:
        print(report.markdown(results, table_id))
    print(f"\nSeed {SEED}, {RESAMPLES} draws behind each p-value; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
