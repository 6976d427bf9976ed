# ruff: noqa: E402
"""Level and power of the split test where values are rounded, counted, cut off at a limit or heaped on round numbers.

    python benchmarks/rounded.py            every row that is not there yet, about an hour of one core
    python benchmarks/rounded.py --fresh    all of them again
    python benchmarks/rounded.py --quick    a few samples each, which are not kept
    python benchmarks/rounded.py --page     nothing is run: rewrite the tables of docs/significance.md from the results

Results go to benchmarks/results/rounded.json after every row. Sample r of a row has a generator of its own, named by
table, row, number of points and r; the seed of its test is r.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import energystats as es
from benchmarks.environment import describe_environment
from benchmarks.page import make_table, with_tables

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "rounded.json"
PAGE = HERE.parent / "docs" / "significance.md"
LEVEL = 0.05
Generator = np.random.Generator
Draw = Callable[[Generator, int], np.ndarray]


class Row(NamedTuple):
    """A population: its name, how n points are drawn, the numbers of points, and samples for each."""

    name: str
    draw: Draw
    sizes: tuple[int, ...]
    samples: tuple[int, ...]


def to_step(x: np.ndarray, step: float) -> np.ndarray:
    """Round to multiples of a step, halves up."""
    return step * np.floor(x / step + 0.5)


def heap(g: Generator, x: np.ndarray, *steps: tuple[float, float]) -> np.ndarray:
    """Round a random share of the values to multiples of each step in turn."""
    for share, step in steps:
        x = np.where(g.random(x.size) < share, to_step(x, step), x)
    return x


def censored_logs(g: Generator, n: int) -> np.ndarray:
    """Draw logarithms of a lognormal of which values below the 20 % quantile are given as half of it."""
    limit = float(np.exp(-0.8416))
    x = g.lognormal(size=n)
    return np.log(np.where(x < limit, limit / 2, x))


def logits(g: Generator, n: int) -> np.ndarray:
    """Draw logits of a binomial of ten with a half added to both counts."""
    x = g.binomial(10, 0.85, n)
    return np.log((x + 0.5) / (10.5 - x))


def odds(g: Generator, n: int) -> np.ndarray:
    """Draw odds of a binomial of 24 with a half added to both counts."""
    x = g.binomial(24, 0.5, n)
    return (x + 0.5) / (24.5 - x)


def rates(g: Generator, n: int) -> np.ndarray:
    """Rates in per cent, of some fifty trials each."""
    trials = g.integers(40, 60, n)
    return 100 * g.binomial(trials, 0.08) / trials


def two_digits(x: np.ndarray) -> np.ndarray:
    """Round to two significant digits."""
    return np.array([float(f"{value:.2g}") for value in x])


def correlated(g: Generator, n: int, columns: int) -> np.ndarray:
    """Standard normal columns with correlations of a half."""
    return (g.normal(size=(n, columns)) + g.normal(size=(n, 1))) / np.sqrt(2)


def two(g: Generator, n: int, apart: float) -> np.ndarray:
    """Draw two normals, each point from one of them with probability 1/2."""
    return g.normal(size=n) + apart * g.integers(0, 2, n)


SIZES = ((20, 100, 1000, 2000), (400, 400, 200, 200))
ONE_MODE = tuple(
    Row(name, draw, *SIZES)
    for name, draw in (
        ("log1p(Poisson 1)", lambda g, n: np.log1p(g.poisson(1, n))),
        (
            "log1p(negative binomial, mean 5, size 2)",
            lambda g, n: np.log1p(g.negative_binomial(2, 2 / 7, n)),
        ),
        ("sqrt(Poisson 3)", lambda g, n: np.sqrt(g.poisson(3, n))),
        ("sqrt(Poisson 1)", lambda g, n: np.sqrt(g.poisson(1, n))),
        ("log10(Poisson 5), 0 taken as 1", lambda g, n: np.log10(np.maximum(g.poisson(5, n), 1))),
        ("logit of Bin(10, .85), a half added to both counts", logits),
        ("odds of Bin(24, .5), a half added to both counts", odds),
        ("a/b of whole numbers from 1 to 9", lambda g, n: g.integers(1, 10, n) / g.integers(1, 10, n)),
        (
            "their logarithms to base 2",
            lambda g, n: np.log2(g.integers(1, 10, n) / g.integers(1, 10, n)),
        ),
        (
            "log2 fold (a + 1)/(b + 1), both Poisson 3",
            lambda g, n: np.log2((g.poisson(3, n) + 1) / (g.poisson(3, n) + 1)),
        ),
        ("rates Bin(N, .08)/N in per cent, N from 40 to 59", rates),
        ("1/(1 + Poisson 1)", lambda g, n: 1 / (1 + g.poisson(1, n))),
        ("1/geometric(.3)", lambda g, n: 1 / g.geometric(0.3, n)),
        ("normal, 15 % at the limit", lambda g, n: np.maximum(g.normal(size=n), -1.0364)),
        ("log of a lognormal, 20 % at half the limit", censored_logs),
        ("scores of mean 82 and sd 14, capped at 100", lambda g, n: np.minimum(np.round(g.normal(82, 14, n)), 100)),
        ("0 to 100, mean 50, sd 30 before both limits", lambda g, n: np.clip(np.round(g.normal(50, 30, n)), 0, 100)),
        ("normal to .05, 4 % at the limit", lambda g, n: np.maximum(to_step(g.normal(size=n), 0.05), -1.75)),
        ("two significant digits of N(1, .2)", lambda g, n: two_digits(g.normal(1, 0.2, n))),
        ("their logarithms, lognormal(0, .3)", lambda g, n: np.log(two_digits(g.lognormal(0, 0.3, n)))),
    )
)
HEAPED = (
    Row(
        ".1, half to .5; sd 1",
        lambda g, n: heap(g, to_step(g.normal(5, 1, n), 0.1), (0.5, 0.5)),
        (100, 1000), (200, 200),
    ),
    Row(
        ".1, a third to 1; sd 1",
        lambda g, n: heap(g, to_step(g.normal(5, 1, n), 0.1), (1 / 3, 1)),
        (100, 1000), (200, 200),
    ),
    Row(
        "1, .15 to 10; sd 20",
        lambda g, n: heap(g, to_step(g.normal(45, 20, n), 1), (0.15, 10)),
        (300, 1000), (200, 200),
    ),
    Row(
        "1, .3 to 10; sd 20",
        lambda g, n: heap(g, to_step(g.normal(45, 20, n), 1), (0.3, 10)),
        (300, 1000), (200, 200),
    ),
    Row(
        "1, .4 to 5; sd 12",
        lambda g, n: heap(g, to_step(g.normal(45, 12, n), 1), (0.4, 5)),
        (300, 1000), (200, 200),
    ),
    Row(
        "1, half to 10; sd 30",
        lambda g, n: heap(g, to_step(g.normal(160, 30, n), 1), (0.5, 10)),
        (200, 1000), (200, 200),
    ),
    Row(
        "1/60, a quarter to 1; sd .9",
        lambda g, n: heap(g, to_step(np.abs(g.normal(3.6, 0.9, n)), 1 / 60), (0.25, 1)),
        (300, 1000), (400, 200),
    ),
    Row(
        "minutes, .3 to quarter hours; gamma",
        lambda g, n: heap(g, to_step(g.gamma(6, 5, n), 1), (0.3, 15)),
        (300, 1000), (200, 200),
    ),
    Row(
        "months, .4 to years; gamma",
        lambda g, n: heap(g, to_step(12 * g.gamma(4, 8, n), 1), (0.4, 12)),
        (400, 1000), (200, 200),
    ),
    Row(
        ".01, .3 to .5; sd 1",
        lambda g, n: heap(g, to_step(g.normal(5, 1, n), 0.01), (0.3, 0.5)),
        (200, 1000), (200, 200),
    ),
    Row(
        ".01, .3 to 1; sd 1.5",
        lambda g, n: heap(g, to_step(g.normal(8, 1.5, n), 0.01), (0.3, 1)),
        (300, 1000), (200, 200),
    ),
    Row(
        "prices, .01, .4 to 5; lognormal",
        lambda g, n: heap(g, to_step(g.lognormal(3, 0.4, n), 0.01), (0.4, 5)),
        (200, 1000), (200, 200),
    ),
    Row(
        "1, .3 to 5 and .3 to 10; sd 20",
        lambda g, n: heap(g, to_step(g.normal(200, 20, n), 1), (0.3, 5), (0.3, 10)),
        (500, 2000), (100, 100),
    ),
    Row(
        "1, .3 each to 10, 50 and 100; sd 300",
        lambda g, n: heap(g, to_step(g.normal(2000, 300, n), 1), (0.3, 10), (0.3, 50), (0.3, 100)),
        (1000,), (100,),
    ),
    Row(
        "1, half to 20; sd 20 (too wide)",
        lambda g, n: heap(g, to_step(g.normal(200, 20, n), 1), (0.5, 20)),
        (300, 1000), (100, 100),
    ),
    Row(
        "whole degrees Fahrenheit in Celsius, .1; sd 5.6",
        lambda g, n: np.round((to_step(g.normal(70, 10, n), 1) - 32) / 1.8, 1),
        (300, 1000), (100, 100),
    ),
    Row(
        "the same in whole degrees Celsius",
        lambda g, n: np.round((to_step(g.normal(70, 10, n), 1) - 32) / 1.8),
        (300, 1000), (100, 100),
    ),
    Row(
        "whole pounds in whole kg; sd 11",
        lambda g, n: np.round(to_step(g.normal(150, 25, n), 1) * 0.45359237),
        (300, 3000), (100, 100),
    ),
    Row(
        "whole degrees Celsius in whole degrees Fahrenheit; sd 9",
        lambda g, n: np.round(to_step(g.normal(21, 5, n), 1) * 1.8 + 32),
        (300, 1000), (100, 100),
    ),
    Row(
        "whole inches in whole cm; sd 10",
        lambda g, n: np.round(to_step(g.normal(68, 4, n), 1) * 2.54),
        (300, 1000), (100, 100),
    ),
    Row(
        "months in years, .1; sd .83",
        lambda g, n: np.round(to_step(g.normal(68, 10, n), 1) / 12, 1),
        (300, 1000), (100, 100),
    ),
    Row(
        "whole mg/dl in mmol/l, .1; sd .55",
        lambda g, n: np.round(to_step(g.normal(95, 10, n), 1) / 18.02, 1),
        (300, 1000), (100, 100),
    ),
    Row(
        "whole degrees Fahrenheit in whole degrees Celsius; sd 2.8",
        lambda g, n: np.round((to_step(g.normal(60, 5, n), 1) - 32) / 1.8),
        (300, 1000), (100, 100),
    ),
    Row(
        "glycated haemoglobin, .1 per cent, in whole mmol/mol; sd 7.7",
        lambda g, n: np.round(10.929 * (to_step(g.normal(6.6, 0.7, n), 0.1) - 2.15)),
        (300, 1000), (100, 100),
    ),
    Row(
        "tens of square feet in whole square metres; sd 14",
        lambda g, n: np.round(to_step(g.normal(1000, 150, n), 10) * 0.092903),
        (300, 1000), (100, 100),
    ),
    Row(
        "log10(1 + Poisson 60), .01", lambda g, n: np.round(np.log10(1 + g.poisson(60, n)), 2),
        (300, 1000), (100, 100),
    ),
    Row("log2(1 + Poisson 25), .1", lambda g, n: np.round(np.log2(1 + g.poisson(25, n)), 1), (300, 1000), (100, 100)),
    Row("roots of Poisson 50, .1", lambda g, n: np.round(np.sqrt(g.poisson(50, n)), 1), (300, 1000), (100, 100)),
    Row(
        "600 divided by whole numbers, 1; sd 2.8",
        lambda g, n: np.round(600 / to_step(g.normal(30, 4, n).clip(12), 1)),
        (300, 1000), (100, 100),
    ),
    Row("squares of whole numbers; sd 4", lambda g, n: to_step(g.normal(20, 4, n), 1) ** 2, (300, 1000), (100, 100)),
    Row("squares of shares of 10", lambda g, n: (g.binomial(10, 0.5, n) / 10) ** 2, (300, 1000), (100, 100)),
    Row(
        "two columns, correlation .5: whole inches in whole cm, whole pounds in whole kg",
        lambda g, n: np.round(to_step(correlated(g, n, 2) * [3, 20] + [67, 160], 1) * [2.54, 0.45359237]),
        (300, 1000), (100, 100),
    ),
    Row(
        "five columns, correlations .5: whole degrees Fahrenheit in whole degrees Celsius",
        lambda g, n: np.round((to_step(correlated(g, n, 5) * [4, 5, 6, 7, 8] + 60, 1) - 32) / 1.8),
        (300, 1000), (100, 100),
    ),
    Row(
        "two columns of log10(1 + Poisson 60), .01",
        lambda g, n: np.round(np.log10(1 + g.poisson(60, (n, 2))), 2),
        (300, 1000), (100, 100),
    ),
)  # fmt: skip
POWER = (
    Row(
        "Poisson 3 and 15", lambda g, n: g.poisson(np.where(g.random(n) < 0.5, 3, 15)).astype(float),
        (100,), (400,),
    ),
    Row("two normals 4 apart, as drawn", lambda g, n: two(g, n, 4), (100,), (400,)),
    Row("two normals 4 apart, rounded to .5", lambda g, n: to_step(two(g, n, 4), 0.5), (100,), (400,)),
    Row("two normals 5 apart, as drawn", lambda g, n: two(g, n, 5), (100,), (400,)),
    Row("two normals 5 apart, rounded to .25", lambda g, n: to_step(two(g, n, 5), 0.25), (100,), (400,)),
    Row("two normals 4 apart in units of 12, 1", lambda g, n: to_step(12 * two(g, n, 4), 1), (300,), (200,)),
    Row("the same, .3 to 5", lambda g, n: heap(g, to_step(12 * two(g, n, 4), 1), (0.3, 5)), (300,), (200,)),
    Row("two normals 4 apart, 1/60", lambda g, n: to_step(two(g, n, 4), 1 / 60), (300,), (200,)),
    Row("the same, .3 to 1", lambda g, n: heap(g, to_step(two(g, n, 4), 1 / 60), (0.3, 1)), (300,), (200,)),
    Row(
        "two normals 4 apart, in units of 8 degrees Fahrenheit, then whole Celsius",
        lambda g, n: np.round((to_step(8 * two(g, n, 4) + 60, 1) - 32) / 1.8),
        (300,), (200,),
    ),
    Row(
        "Poisson 2 and 7 in three columns",
        lambda g, n: g.poisson(np.where(g.random(n) < 0.5, 2, 7)[:, None], (n, 3)).astype(float),
        (100,), (200,),
    ),
)  # fmt: skip
TABLES = {"level": ONE_MODE, "heaps": HEAPED, "power": POWER}


def measure_sample(table: str, row: int, n: int, columns: int, r: int) -> tuple[bool, bool]:
    """Test one sample; return whether the test rejects, and whether it has a caution on heaps or on two units."""
    found = TABLES[table][row]
    g = np.random.default_rng([zlib.crc32(f"{table} {found.name}".encode()), n, columns, r])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = es.cluster_test(np.column_stack([found.draw(g, n) for _ in range(columns)]), rng=r)
    return test.pvalue <= LEVEL, any("heap" in note or "rounded twice" in note for note in test.notes)


def list_cells() -> list[tuple[str, int, int, int, int]]:
    """List all cells: table, row, number of points, columns, number of samples."""
    cells = []
    for table, rows in TABLES.items():
        for i, row in enumerate(rows):
            cells += [(table, i, n, 1, count) for n, count in zip(row.sizes, row.samples, strict=True)]
            cells += [(table, i, 100, 2, 400)] * (table == "level")
    return cells


def run(*, fresh: bool, quick: bool, jobs: int) -> None:
    """Measure the cells that the results do not have yet, and keep the results after each."""
    kept: dict[str, Any] = {"cells": {}}
    if RESULTS.exists() and not (fresh or quick):
        kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    with ProcessPoolExecutor(jobs) as pool:
        for table, i, n, columns, count in list_cells():
            key = f"{table} | {TABLES[table][i].name} | {n} | {columns}"
            if key in kept["cells"]:
                continue
            begun, samples = time.perf_counter(), range(3 if quick else count)
            tests = [pool.submit(measure_sample, table, i, n, columns, r) for r in samples]
            found = np.array([test.result() for test in tests])
            rejected, noted = (int(count) for count in found.sum(axis=0))
            kept["cells"][key] = {"rejected": rejected, "noted": noted, "of": len(found)}
            print(f"{key}: {rejected} of {len(found)}, {noted} noted ({time.perf_counter() - begun:.0f} s)", flush=True)
            if not quick:
                kept["environment"] = describe_environment()
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def rate(cells: dict[str, Any], key: str, what: str = "rejected") -> str:
    """Write a rate without its leading 0, or a dash."""
    found = cells.get(key)
    return "-" if found is None else f"{found[what] / found['of']:.2f}".removeprefix("0")


def make_tables(kept: dict[str, Any]) -> dict[str, str]:
    """Write the three tables of the page, by their marks."""
    cells = kept["cells"]
    columns = [(20, 1), (100, 1), (1000, 1), (2000, 1), (100, 2)]
    heads = ["population", *(f"n = {n:,}" for n, _ in columns[:-1]), "two columns, n = 100"]
    level = [[row.name, *(rate(cells, f"level | {row.name} | {n} | {d}") for n, d in columns)] for row in ONE_MODE]
    heaps = [
        [row.name, f"{n:,}", *(rate(cells, f"heaps | {row.name} | {n} | 1", what) for what in ("rejected", "noted"))]
        for row in HEAPED
        for n in row.sizes
    ]
    power = [[row.name, f"{n:,}", rate(cells, f"power | {row.name} | {n} | 1")] for row in POWER for n in row.sizes]
    return {
        "rounded: level": make_table(heads, level),
        "rounded: heaps": make_table(["grid, share on a coarser one; population", "n", "rejected", "caution"], heaps),
        "rounded: power": make_table(["clusters", "n", "rejected"], power),
    }


def rewrite_page() -> None:
    """Put the tables between their marks on the page."""
    tables = make_tables(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")


def main() -> None:
    """Measure, or write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--fresh", "--quick", "--page"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes; no number depends on it")
    options = parser.parse_args()
    if options.page:
        rewrite_page()
    else:
        run(fresh=options.fresh, quick=options.quick, jobs=options.jobs)


if __name__ == "__main__":
    main()
