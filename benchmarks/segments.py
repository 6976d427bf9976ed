# ruff: noqa: E402
"""Level and power of the test of breaks, and how well it places them: the tables of docs/segments.md.

    python benchmarks/segments.py            every table that is not there yet, about half an hour of one core
    python benchmarks/segments.py --fresh    all of them again
    python benchmarks/segments.py --quick    a few samples each, which are not kept
    python benchmarks/segments.py --page     nothing is run: rewrite the tables of docs/segments.md from the results

Results go to benchmarks/results/segments.json after every row. Sample r of a row has a generator of its own, named by
table, row and r.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import itertools
import json
import math
import sys
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
from tests.simulations import ROWS_OF_ONE_LAW

RESULTS = Path(__file__).parent / "results" / "segments.json"
PAGE = Path(__file__).parent.parent / "docs" / "segments.md"
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


def plain_e_divisive(X: np.ndarray, min_size: int, orders: int, rng: np.random.Generator) -> tuple[float, int]:
    """Test the first break as Matteson & James (2014) define it, with the end of the second sample free: (p, break).

    q(tau, kappa) = m n/(m + n) E of rows 0..tau-1 and tau..kappa-1, with means over pairs of different rows.
    """
    R = np.linalg.norm(X[:, None] - X, axis=2)
    observed, found = largest_q(R, min_size)
    shuffled = (rng.permutation(len(R)) for _ in range(orders))
    reached = sum(largest_q(R[np.ix_(rows, rows)], min_size)[0] >= observed * (1 - 1e-12) for rows in shuffled)
    return (reached + 1) / (orders + 1), found


def largest_q(R: np.ndarray, min_size: int) -> tuple[float, int]:
    """Find the largest q(tau, kappa) of some rows, and tau."""
    n = len(R)
    C = np.zeros((n + 1, n + 1))
    C[1:, 1:] = R.cumsum(axis=0).cumsum(axis=1)
    tau, kappa = np.triu_indices(n + 1, 1)
    far = (tau >= min_size) & (kappa - tau >= min_size)
    if not far.any():
        return -math.inf, 0
    tau, kappa = tau[far], kappa[far]
    a, b = tau.astype(float), (kappa - tau).astype(float)
    first, both = C[tau, tau], C[tau, kappa]
    second = C[kappa, kappa] - 2 * both + first
    q = (2 * (both - first) / (a * b) - first / (a * (a - 1)) - second / (b * (b - 1))) * a * b / (a + b)
    best = int(q.argmax())
    return float(q[best]), int(tau[best])


def plain_divisive(X: np.ndarray, min_size: int, orders: int, rng: np.random.Generator, most: int = 5) -> list[int]:
    """Find the ends of all segments as Matteson & James (2014) do, testing break after break within the segments."""
    R = np.linalg.norm(X[:, None] - X, axis=2)
    edges, nulls = [0, len(R)], dict[tuple[int, int], np.ndarray]()
    while len(edges) < most + 2:
        parts = list(itertools.pairwise(edges))
        found = [largest_q(R[low:high, low:high], min_size) for low, high in parts]
        chosen = int(np.argmax([q for q, _ in found]))
        for low, high in parts:
            if (low, high) not in nulls:
                shuffled = [low + rng.permutation(high - low) for _ in range(orders)]
                nulls[low, high] = np.array([largest_q(R[np.ix_(rows, rows)], min_size)[0] for rows in shuffled])
        reached = np.max([nulls[part] for part in parts], axis=0) >= found[chosen][0] * (1 - 1e-12)
        if (reached.sum() + 1) / (orders + 1) > LEVEL:
            break
        edges = sorted([*edges, parts[chosen][0] + found[chosen][1]])
    return edges


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
    "e.divisive, 10 rows": lambda X, rng: plain_e_divisive(X, 10, ORDERS, rng),
}


def measure_power(row: str, n: int, at: float, method: str, count: int) -> dict[str, Any]:
    """Count rejections where there is one break, and average how far the break that is found lies from it."""
    before, after = CHANGES[row]
    rejected, errors = 0, []
    for r in range(count):
        rng = generator("power", row, n, int(100 * at), r)
        b = int(at * n)
        X = np.concatenate((before(b, rng=rng), after(n - b, rng=rng)))
        if method == "normal likelihood" and X.shape[1] > 1:
            return {}
        p, found = METHODS[method](X, rng)
        rejected += int(p <= LEVEL)
        errors.append(abs(found - b))
    return {"rejected": rejected, "of": count, "error": float(np.mean(errors))}


def measure_three(kind: str, size: float, n: int, count: int, *, min_size: int, plain: bool = False) -> dict[str, Any]:
    """Find three segments of which the middle one differs, as in section 4 of Matteson & James (2014)."""
    right = 0
    rand = []
    for r in range(count):
        rng = generator("three", kind, int(100 * size), n, r)
        X = rng.normal(size=n)
        middle = slice(n // 3, 2 * n // 3)
        if kind == "mean":
            X[middle] += size
        elif kind == "variance":
            X[middle] *= math.sqrt(size)
        else:
            X[middle] = rng.standard_t(size, middle.stop - middle.start)
        if plain:
            sizes = np.diff(plain_divisive(X[:, None], min_size, 99, rng))
            labels = np.repeat(np.arange(sizes.size), sizes)
        else:
            labels = es.segment_test(X, n_resamples=ORDERS, min_size=min_size, rng=rng).labels
        right += int(labels.max() == 2)
        rand.append(rand_index(np.repeat([0, 1, 2], n // 3), labels))
    return {"rejected": right, "of": count, "rand": float(np.mean(rand))}


def rand_index(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the share of pairs of rows that two partitions treat alike."""
    same = (a[:, None] == a) == (b[:, None] == b)
    return float((same.sum() - a.size) / (a.size * (a.size - 1)))


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
    "three": {
        f"{kind}|{size:g}|{n}|{m}": partial(
            lambda c, kind, size, n, m: measure_three(kind, size, n, c, min_size=m), kind=kind, size=size, n=n, m=m)
        for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items()
        for size in sizes for n in (150, 300) for m in (2, 30)},
    "plain": {
        f"{kind}|{size:g}": partial(
            lambda c, kind, size: measure_three(kind, size, 150, c, min_size=30, plain=True), kind=kind, size=size)
        for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items() for size in sizes},
}  # fmt: skip
COUNTS = {"level": 400, "dependence": 400, "block power": 200, "second": 300, "power": 200, "three": 100, "plain": 40}


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
                known["environment"] = describe_environment()
                RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


# ---------------------------------------------------------------- the page


def make_table(heads: list[str], rows: list[list[str]]) -> str:
    """Write a table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
            texts = [f"{rate(c)}; {c['error']:.1f}" if c else "-" for c in cells]
            power.append([row, f"{100 * at:g}", *texts])
    three = []
    for kind, sizes in {"mean": (1, 2, 4), "variance": (2, 5, 10), "t": (16, 8, 2)}.items():
        for size in sizes:
            cells = [known["three"].get(f"{kind}|{size:g}|{n}|{m}") for n in (150, 300) for m in (2, 30)]
            cells.append(known["plain"].get(f"{kind}|{size:g}"))
            texts = [f"{rate(c)}; {c['rand']:.3f}" if c else "-" for c in cells]
            what = {"mean": f"mean {size:g}", "variance": f"variance {size:g}", "t": f"t with {size:g} df"}[kind]
            three.append([what, *texts])
    blocks = [f"{length}" for length in lengths]
    return {
        "environment": describe(known.get("environment")),
        "level": make_table(["rows", "n = 20", "50", "200"], level),
        "dependence": make_table(["correlation of neighbours", "columns", "n", *blocks], dependence),
        "block power": make_table(["correlation of neighbours", *blocks], power_of_blocks),
        "second": make_table(["shift, in sd", "n", "in the middle", "after a fifth"], second),
        "power": make_table(["change", "break at row", *METHODS], power),
        "three": make_table(
            ["middle third", "n = 150", "150, 30 rows", "300", "300, 30 rows", "e.divisive, 150, 30 rows"], three
        ),
    }


def describe(place: dict[str, Any] | None) -> str:
    """Write the day and the versions of a run; older results have none."""
    if place is None:
        return "The day and the versions of these tables were not recorded."
    return (
        f"Measured on {place['date']}. {', '.join(f'{name} {number}' for name, number in place['versions'].items())}."
    )


def rewrite_page() -> None:
    """Put the tables into docs/segments.md."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in make_tables(json.loads(RESULTS.read_text())).items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        head, rest = text.split(begin, 1)
        text = f"{head}{begin}\n\n{table}\n\n{end}{rest.split(end, 1)[1]}"
    PAGE.write_text(text, encoding="utf-8")


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
