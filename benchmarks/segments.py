# ruff: noqa: E402
"""Level and power of the test of breaks, and how well it places them: the tables of docs/segments.md.

    python benchmarks/segments.py            every table that is not there yet, about an hour of one core
    python benchmarks/segments.py --fresh    all of them again
    python benchmarks/segments.py --quick    a few samples each, which are not kept
    python benchmarks/segments.py --page     nothing is run: rewrite the tables of docs/segments.md from the results

The tables "ecp ..." need R with its package ecp (`R_LIBS` says where packages are), whose permutations have seeds of
their own. Results go to benchmarks/results/segments.json after every row. Sample r of a row has a generator of its own,
named by table, row and r.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import energystats as es
from benchmarks.environment import describe_environment
from benchmarks.page import make_table, with_tables
from tests.simulations import ROWS_OF_ONE_LAW

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "segments.json"
PAGE = HERE.parent / "docs" / "segments.md"
ORDERS = 199
LEVEL = 0.05
Draw = Callable[[np.random.Generator], np.ndarray]

# ---------------------------------------------------------------- populations


def autoregressive(n: int, coefficient: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw d independent series with that correlation between neighbours and variance 1."""
    x = rng.normal(size=(n, d))
    for i in range(1, n):
        x[i] = coefficient * x[i - 1] + math.sqrt(1 - coefficient**2) * x[i]
    return x


def correlated(n: int, r: float, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw normal columns of variance 1, any two of which have the correlation r."""
    return math.sqrt(r) * rng.normal(size=(n, 1)) + math.sqrt(1 - r) * rng.normal(size=(n, d))


CHANGES = {  # first and second half
    "mean, by 0.75": (lambda n, rng: rng.normal(size=(n, 1)), lambda n, rng: rng.normal(size=(n, 1)) + 0.75),
    "mean, by 0.75, of t with 2 df": (
        lambda n, rng: rng.standard_t(2, (n, 1)), lambda n, rng: rng.standard_t(2, (n, 1)) + 0.75,
    ),
    "spread, times 2": (lambda n, rng: rng.normal(size=(n, 1)), lambda n, rng: 2 * rng.normal(size=(n, 1))),
    "tail, normal to t with 1 df": (
        lambda n, rng: rng.normal(size=(n, 1)), lambda n, rng: rng.standard_t(1, (n, 1)),
    ),
    "mean of 5 columns, by 0.35 each": (
        lambda n, rng: rng.normal(size=(n, 5)), lambda n, rng: rng.normal(size=(n, 5)) + 0.35,
    ),
    "correlation of 5 columns, 0 to 0.8": (partial(correlated, r=0.0, d=5), partial(correlated, r=0.8, d=5)),
}  # fmt: skip


# ---------------------------------------------------------------- peers, as their papers define them


def r_divisive(samples: list[np.ndarray], min_size: int) -> tuple[list[tuple[float, int, list[int]]], float]:
    """Run ecp's e.divisive on samples of one size: p of the first break, its place, where segments start; seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        np.savetxt(file, np.concatenate(samples), delimiter=",", fmt="%.17g")
        words = ["Rscript", HERE / "ecp.R", file, len(samples[0]), min_size, ORDERS]
        lines = subprocess.run(map(str, words), capture_output=True, text=True, check=True).stdout.splitlines()
    found = [[float(word) for word in line.split()] for line in lines[:-1]]
    assert len(found) == len(samples)
    return [(p, int(first), list(map(int, starts))) for p, first, *starts in found], float(lines[-1])


def likelihood_ratio(X: np.ndarray, min_size: int, orders: int, rng: np.random.Generator) -> tuple[float, int]:
    """Test a change of normal mean and variance of one column by the largest likelihood ratio, p by permutation."""
    x = X[:, 0]
    n = x.size
    b = np.arange(min_size, n - min_size + 1)

    def largest(y: np.ndarray) -> tuple[float, int]:
        s, q = np.cumsum(y), np.cumsum(y * y)
        left = q[b - 1] / b - (s[b - 1] / b) ** 2
        right = (q[-1] - q[b - 1]) / (n - b) - ((s[-1] - s[b - 1]) / (n - b)) ** 2
        value = -b * np.log(left) - (n - b) * np.log(right)
        best = int(value.argmax())
        return float(value[best]), int(b[best])

    observed, found = largest(x)
    reached = sum(largest(rng.permutation(x))[0] >= observed for _ in range(orders))
    return (reached + 1) / (orders + 1), found


def largest_scan(
    scan: Callable[[np.ndarray], np.ndarray], X: np.ndarray, first: int, orders: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Test a statistic of all breaks by its largest value, p by permutation; `first` is the first break: (p, break)."""
    observed = scan(X)
    reached = sum(scan(rng.permutation(X)).max() >= observed.max() * (1 - 1e-12) for _ in range(orders))
    return (reached + 1) / (orders + 1), int(observed.argmax()) + first


def plain_between(X: np.ndarray) -> np.ndarray:
    """Compute S of all breaks with two rows or more on both sides, from its definition."""
    C = np.linalg.norm(X[:, None] - X, axis=2).cumsum(axis=0).cumsum(axis=1)
    n = len(X)
    b = np.arange(2, n - 1)
    first, both = C[b - 1, b - 1], C[b - 1, n - 1]
    return C[-1, -1] / (2 * n) - first / (2 * b) - (C[-1, -1] - 2 * both + first) / (2 * (n - b))


def mean_likelihood(X: np.ndarray) -> np.ndarray:
    """Compute, for all breaks, what the likelihood ratio of the mean of normal columns of one variance rises with."""
    n, sums = len(X), np.cumsum(X - X.mean(axis=0), axis=0)
    b = np.arange(2, n - 1)
    return (sums[b - 1] ** 2).sum(axis=1) * n / (b * (n - b))


def ours(X: np.ndarray, rng: np.random.Generator, **how: Any) -> tuple[float, int]:
    """Test the first break: (p, break)."""
    found = es.segment_test(X, n_resamples=ORDERS, max_breaks=1, rng=rng, **how)
    return found.pvalue, found.tests[0].breakpoint


# ---------------------------------------------------------------- rows


def generator(*key: str | int) -> np.random.Generator:
    """Make the generator of one sample."""
    return np.random.default_rng([zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key])


def measure_level(row: str, n: int, count: int) -> dict[str, Any]:
    """Count rejections where all rows have one distribution."""
    found = sum(
        ours(ROWS_OF_ONE_LAW[row](rng, n), rng)[0] <= LEVEL
        for rng in (generator("level", row, n, r) for r in range(count))
    )
    return {"rejected": found, "of": count}


def measure_dependence(coefficient: float, d: int, n: int, length: int, count: int) -> dict[str, Any]:
    """Count rejections where neighbours depend on each other and nothing changes."""
    found = 0
    for r in range(count):
        rng = generator("dependence", int(100 * coefficient), d, n, r)
        X = autoregressive(n, coefficient, d, rng)
        found += ours(X, rng, block_length=length)[0] <= LEVEL
    return {"rejected": found, "of": count}


def measure_block_power(coefficient: float, n: int, length: int, shift: float, count: int) -> dict[str, Any]:
    """Count rejections where neighbours depend on each other and the mean changes in the middle."""
    found = 0
    for r in range(count):
        rng = generator("block power", int(100 * coefficient), n, r)
        X = autoregressive(n, coefficient, 1, rng)
        X[n // 2 :] += shift
        found += ours(X, rng, block_length=length)[0] <= LEVEL
    return {"rejected": found, "of": count}


def measure_second(shift: float, n: int, at: float, count: int) -> dict[str, Any]:
    """Count how often a second break is declared where there is one true change of mean."""
    first = second = 0
    for r in range(count):
        rng = generator("second", int(100 * shift), n, int(100 * at), r)
        X = rng.normal(size=n)
        X[int(at * n) :] += shift
        k = es.segment_test(X, n_resamples=ORDERS, max_breaks=2, rng=rng).k
        first, second = first + (k > 1), second + (k > 2)
    return {"first": first, "rejected": second, "of": count}


METHODS: dict[str, Callable[[np.ndarray, np.random.Generator], tuple[float, int]]] = {
    "energy": ours,
    "energy, 10 rows": partial(ours, min_size=10),
    "largest S": lambda X, rng: largest_scan(plain_between, X, 2, ORDERS, rng),
    "mean likelihood": lambda X, rng: largest_scan(mean_likelihood, X, 2, ORDERS, rng),
    "normal likelihood": lambda X, rng: likelihood_ratio(X, 2, ORDERS, rng),
}


def measure_power(row: str, n: int, at: float, method: str, count: int) -> dict[str, Any]:
    """Count rejections where there is one break, and average how far the break that is found lies from it."""
    rejected, errors, b = 0, [], int(at * n)
    for r in range(count):
        X, rng = draw_change(row, n, at, r)
        if method == "normal likelihood" and X.shape[1] > 1:
            return {}
        p, found = METHODS[method](X, rng)
        rejected += int(p <= LEVEL)
        errors.append(abs(found - b))
    return {"rejected": rejected, "of": count, "error": float(np.mean(errors))}


def draw_change(row: str, n: int, at: float, r: int) -> tuple[np.ndarray, np.random.Generator]:
    """Draw rows with one break, and the generator for the orders."""
    before, after = CHANGES[row]
    rng, b = generator("power", row, n, int(100 * at), r), int(at * n)
    return np.concatenate((before(b, rng=rng), after(n - b, rng=rng))), rng


def measure_ecp(row: str, n: int, at: float, count: int) -> dict[str, Any]:
    """Count rejections by ecp's e.divisive of the same samples."""
    found = r_divisive([draw_change(row, n, at, r)[0] for r in range(count)], 10)[0]
    errors = [abs(first - int(at * n)) for _, first, _ in found]
    return {"rejected": sum(p <= LEVEL for p, *_ in found), "of": count, "error": float(np.mean(errors))}


def measure_ecp_time(n: int, d: int, count: int) -> dict[str, Any]:
    """Compare the processor time of the test of a first break, of rows that have none, with that of ecp's."""
    samples = [generator("ecp time", n, d, r).normal(size=(n, d)) for r in range(count)]
    es.segment_test(samples[0], n_resamples=ORDERS, max_breaks=1, rng=0)  # compiles
    begun = time.process_time()
    for X in samples:
        es.segment_test(X, n_resamples=ORDERS, max_breaks=1, min_size=10, rng=0)
    seconds = time.process_time() - begun
    found, theirs = r_divisive(samples, 10)
    assert all(len(starts) == 1 for *_, starts in found)  # else more than one test was made
    return {"seconds": seconds / count, "peer_seconds": theirs / count, "of": count}


def draw_three(kind: str, size: float, n: int, r: int) -> tuple[np.ndarray, np.random.Generator]:
    """Draw rows whose middle third differs, and the generator for the orders."""
    rng = generator("three", kind, int(100 * size), n, r)
    X = rng.normal(size=n)
    middle = slice(n // 3, 2 * n // 3)
    if kind == "mean":
        X[middle] += size
    elif kind == "variance":
        X[middle] *= math.sqrt(size)
    else:
        X[middle] = rng.standard_t(size, middle.stop - middle.start)
    return X, rng


def measure_ecp_three(kind: str, size: float, n: int, count: int) -> dict[str, Any]:
    """Find three segments by ecp's e.divisive in the same samples."""
    found = r_divisive([draw_three(kind, size, n, r)[0][:, None] for r in range(count)], 30)[0]
    rand = [
        rand_index(np.repeat([0, 1, 2], n // 3), np.repeat(np.arange(len(starts)), np.diff([*starts, n])))
        for *_, starts in found
    ]
    return {"rejected": sum(len(starts) == 3 for *_, starts in found), "of": count, "rand": float(np.mean(rand))}


def measure_three(kind: str, size: float, n: int, count: int, *, min_size: int) -> dict[str, Any]:
    """Find three segments of which the middle one differs, as in section 4 of Matteson & James (2014)."""
    right = 0
    rand = []
    for r in range(count):
        X, rng = draw_three(kind, size, n, r)
        labels = es.segment_test(X, n_resamples=ORDERS, min_size=min_size, rng=rng).labels
        right += int(labels.max() == 2)
        rand.append(rand_index(np.repeat([0, 1, 2], n // 3), labels))
    return {"rejected": right, "of": count, "rand": float(np.mean(rand))}


FOUR = {  # laws of four segments in turn
    "mean, by 1": (lambda n, rng: rng.normal(size=(n, 2)), lambda n, rng: rng.normal(size=(n, 2)) + 1 / math.sqrt(2)),
    "mean, by 0.2": (lambda n, rng: rng.normal(size=(n, 2)), lambda n, rng: rng.normal(size=(n, 2)) + 0.1414),
    "mean, by 0.75, of t with 2 df": CHANGES["mean, by 0.75, of t with 2 df"],
    "spread, times 2": CHANGES["spread, times 2"],
    "tail, normal to t with 1 df": CHANGES["tail, normal to t with 1 df"],
    "correlation of 5 columns, 0 to 0.8": CHANGES["correlation of 5 columns, 0 to 0.8"],
    "mean of 20 columns, by 0.1 each": (
        lambda n, rng: rng.normal(size=(n, 20)), lambda n, rng: rng.normal(size=(n, 20)) + 0.1,
    ),
    "nothing": (lambda n, rng: rng.normal(size=(n, 2)), lambda n, rng: rng.normal(size=(n, 2))),
}  # fmt: skip
FIRST_ROWS = (0.0, 0.13, 0.4, 0.7, 1.0)


def measure_cells(row: str, n: int, count: int) -> dict[str, Any]:
    """Compare a cut between cells of rows with the smallest W of all cuts."""
    edges = np.round(np.array(FIRST_ROWS) * n).astype(int)
    above, limit, apart, errors = [], [], [], []
    for r in range(count):
        rng = generator("cells", row, n, r)
        X = np.concatenate([FOUR[row][j % 2](int(m), rng=rng) for j, m in enumerate(np.diff(edges))])
        exact, found = es.segment(X, 4, exact=True), es.segment(X, 4, exact=False)
        own = es.dispersion(X, found.labels).within
        above.append(own / exact.within - 1)
        limit.append(found.within / own - 1)
        apart.append(np.abs(found.breakpoints - exact.breakpoints).mean())
        errors.append([np.abs(cut.breakpoints - edges[1:-1]).mean() for cut in (exact, found)])
    of_exact, of_cells = np.mean(errors, axis=0).tolist()
    largest = {"above": float(max(above)), "limit": float(max(limit))}
    return largest | {"apart": float(np.mean(apart)), "exact": of_exact, "cells": of_cells, "of": count}


def measure_time(n: int, d: int, exact: bool | None, count: int) -> dict[str, Any]:
    """Measure the median time of a cut into five."""
    X = generator("time", n, d).normal(size=(n, d))
    es.segment(X[:500], 5, exact=False)
    seconds = []
    for _ in range(count):
        begun = time.perf_counter()
        es.segment(X, 5, exact=exact)
        seconds.append(time.perf_counter() - begun)
    return {"seconds": float(np.median(seconds)), "of": count}


def rand_index(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the share of pairs of rows that two partitions treat alike."""
    same = (a[:, None] == a) == (b[:, None] == b)
    return float((same.sum() - a.size) / (a.size * (a.size - 1)))


PLACES = dict.fromkeys(("ecp", "ecp time", "ecp three", "cells", "cell times"), "later environment")  # of their runs
TABLES: dict[str, dict[str, Callable[[int], dict[str, Any]]]] = {
    "level": {f"{row}|{n}": partial(lambda c, row, n: measure_level(row, n, c), row=row, n=n)
              for row in ROWS_OF_ONE_LAW for n in (20, 50, 200)},
    "dependence": {
        f"{coefficient:g}|{d}|{n}|{length}": partial(
            lambda c, **k: measure_dependence(count=c, **k), coefficient=coefficient, d=d, n=n, length=length)
        for coefficient in (0.3, 0.7) for d in (1, 3) for n in (200, 500) for length in (1, 5, 10, 20, 40)},
    "block power": {
        f"{coefficient:g}|{length}": partial(
            lambda c, **k: measure_block_power(count=c, n=200, shift=1.0, **k), coefficient=coefficient, length=length)
        for coefficient in (0.0, 0.3, 0.7) for length in (1, 5, 10, 20, 40)},
    "second": {
        f"{shift:g}|{n}|{at:g}": partial(lambda c, **k: measure_second(count=c, **k), shift=shift, n=n, at=at)
        for shift in (0.5, 1.0, 2.0, 4.0) for n in (60, 200) for at in (0.5, 0.2)},
    "power": {
        f"{row}|{at:g}|{method}": partial(
            lambda c, **k: measure_power(count=c, n=100, **k), row=row, at=at, method=method)
        for row in CHANGES for at in (0.5, 0.2) for method in METHODS},
    "ecp": {
        f"{row}|{at:g}": partial(lambda c, **k: measure_ecp(count=c, n=100, **k), row=row, at=at)
        for row in CHANGES for at in (0.5, 0.2)},
    "ecp time": {
        "1000|5": partial(lambda c, **k: measure_ecp_time(count=c, **k), n=1000, d=5)},
    "ecp three": {
        f"{kind}|{size:g}|{n}": partial(lambda c, **k: measure_ecp_three(count=c, **k), kind=kind, size=size, n=n)
        for n in (150, 300)
        for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items() for size in sizes},
    "cells": {
        f"{row}|{n}": partial(lambda c, **k: measure_cells(count=c, **k), row=row, n=n)
        for row in FOUR for n in (5000, 10_000, 20_000)},
    "cell times": {
        f"{n}|{d}|{exact}": partial(lambda c, **k: measure_time(count=c, **k), n=n, d=d, exact=exact)
        for n, d, exact in ((20_000, 2, True), (20_001, 2, None), (100_000, 2, None), (1_000_000, 2, None),
                            (1_000_000, 10, None))},
    "three": {
        f"{kind}|{size:g}|{n}|{m}": partial(
            lambda c, kind, size, n, m: measure_three(kind, size, n, c, min_size=m), kind=kind, size=size, n=n, m=m)
        for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items()
        for size in sizes for n in (150, 300) for m in (2, 30)},
}  # fmt: skip
COUNTS = {
    "level": 400,
    "dependence": 400,
    "block power": 200,
    "second": 300,
    "power": 200,
    "three": 100,
    "ecp": 200,
    "ecp time": 3,
    "ecp three": 40,
    "cells": 3,
    "cell times": 3,
}


def run(*, fresh: bool, quick: bool, tables: list[str]) -> None:
    """Compute the rows that are not there yet."""
    known: dict[str, dict[str, Any]] = {} if fresh or not RESULTS.exists() else json.loads(RESULTS.read_text())
    for table in tables:
        rows = known.setdefault(table, {})
        for row, compute in TABLES[table].items():
            if row in rows:
                continue
            begun = time.perf_counter()
            rows[row] = compute(3 if quick else COUNTS[table])
            print(f"{table}: {row}: {rows[row]}, {time.perf_counter() - begun:.0f} s", flush=True)
            if not quick:
                known[PLACES.get(table, "environment")] = describe_environment()
                RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


# ---------------------------------------------------------------- the page


def rate(found: dict[str, Any] | None, key: str = "rejected") -> str:
    """Write a share of samples with three decimals."""
    return f"{found[key] / found['of']:.3f}" if found else "-"


def make_tables(known: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Write all tables of the page from the results."""
    lengths = (1, 5, 10, 20, 40)
    level = [[row, *(rate(known["level"].get(f"{row}|{n}")) for n in (20, 50, 200))] for row in ROWS_OF_ONE_LAW]
    dependence = [
        [f"{c:g}", str(d), str(n), *(rate(known["dependence"].get(f"{c:g}|{d}|{n}|{length}")) for length in lengths)]
        for c in (0.3, 0.7) for d in (1, 3) for n in (200, 500)
    ]  # fmt: skip
    power_of_blocks = [
        [f"{c:g}", *(rate(known["block power"].get(f"{c:g}|{length}")) for length in lengths)] for c in (0.0, 0.3, 0.7)
    ]
    second = []
    for shift in (0.5, 1.0, 2.0, 4.0):
        for n in (60, 200):
            cells = [known["second"].get(f"{shift:g}|{n}|{at:g}") for at in (0.5, 0.2)]
            second.append([f"{shift:g}", str(n), *(f"{rate(c, 'first')}; {rate(c)}" for c in cells)])
    power = []
    for row in CHANGES:
        for at in (0.5, 0.2):
            cells = [known["power"].get(f"{row}|{at:g}|{method}") for method in METHODS]
            cells.append(known["ecp"].get(f"{row}|{at:g}"))
            texts = [f"{rate(c)}; {c['error']:.1f}" if c else "-" for c in cells]
            power.append([row, f"{100 * at:g}", *texts])
    three = []
    for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items():
        for size in sizes:
            cells = [known["three"].get(f"{kind}|{size:g}|{n}|{m}") for n in (150, 300) for m in (2, 30)]
            cells += [known["ecp three"].get(f"{kind}|{size:g}|{n}") for n in (150, 300)]
            texts = [f"{rate(c)}; {c['rand']:.3f}" if c else "-" for c in cells]
            what = {"mean": f"mean {size:g}", "variance": f"variance {size:g}", "t": f"t with {size:g} df"}[kind]
            three.append([what, *texts])
    blocks = [f"{length}" for length in lengths]
    return {
        "environment": describe(known.get("environment")),
        "later environment": describe(known.get("later environment")),
        "cells": make_table_of_cells(known["cells"]),
        "cell times": make_table_of_times(known["cell times"]),
        "ecp time": make_table_beside_ecp(known["ecp time"]),
        "level": make_table(["rows", "n = 20", "50", "200"], level),
        "dependence": make_table(["correlation of neighbours", "columns", "n", *blocks], dependence),
        "block power": make_table(["correlation of neighbours", *blocks], power_of_blocks),
        "second": make_table(["shift, in sd", "n", "in the middle", "after a fifth"], second),
        "power": make_table(["change", "break at row", *METHODS, "ecp, 10 rows"], power),
        "three": make_table(
            ["middle third", "n = 150", "150, 30 rows", "300", "300, 30 rows", "ecp, 150", "ecp, 300"], three
        ),
    }


def make_table_of_cells(found: dict[str, Any]) -> str:
    """Write how far cuts between cells are from the smallest W, one row a change and size."""
    lines = []
    for key in TABLES["cells"]:
        row, n = key.split("|")
        cell = found.get(key)
        if cell is not None:
            places = [f"{cell[name]:.1f}" if row != "nothing" else "-" for name in ("exact", "cells")]
            above = f"{cell['above']:.1e}" if cell["above"] > 1e-12 else "0"
            lines.append([row, f"{int(n):,}", above, f"{cell['limit']:.1e}", *places])
    heads = ["change", "n", "W above the smallest", "W reported above W", "exact: rows off", "cells: rows off"]
    return make_table(heads, lines)


def make_table_of_times(found: dict[str, Any]) -> str:
    """Write the times of a cut into five."""
    lines = []
    for key in TABLES["cell times"]:
        n, d, exact = key.split("|")
        lines.append([f"{int(n):,}", d, "all pairs" if exact == "True" else "cells", f"{found[key]['seconds']:.1f} s"])
    return make_table(["rows", "columns", "method", "time"], lines)


def make_table_beside_ecp(found: dict[str, Any]) -> str:
    """Write processor times of both tests of a first break."""
    lines = []
    for key, cell in found.items():
        ours, theirs = cell["seconds"], cell["peer_seconds"]
        lines.append([*key.split("|"), f"{ours:.3f} s", f"{theirs:.2f} s", f"{theirs / ours:.1f}"])
    return make_table(["rows", "columns", "`segment_test`", "`ecp::e.divisive`", "times as fast"], lines)


def describe(place: dict[str, Any] | None) -> str:
    """Write the day and the versions of a run; older results have none."""
    if place is None:
        return "The day and the versions of these tables were not recorded."
    return (
        f"Measured on {place['date']}. {', '.join(f'{name} {number}' for name, number in place['versions'].items())}."
    )


def rewrite_page() -> None:
    """Put the tables into docs/segments.md."""
    tables = {name: f"\n{table}\n" for name, table in make_tables(json.loads(RESULTS.read_text())).items()}
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")


def main() -> None:
    """Run what the options say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--fresh", "--quick", "--page"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--table", nargs="+", default=list(TABLES), choices=list(TABLES))
    options = parser.parse_args()
    if options.page:
        rewrite_page()
    else:
        run(fresh=options.fresh, quick=options.quick, tables=options.table)


if __name__ == "__main__":
    main()
