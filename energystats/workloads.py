"""How much work the methods do, as functions of the sizes and options: the models behind `cost`.

The factors were fitted to measured times (`benchmarks/cost.py`) and hold within a factor of three; where the work
depends on the data, as in searches and trees, they are for data without clear clusters.
"""

from __future__ import annotations

import math
from typing import Any

from energystats.cost import Work

__all__ = [
    "agglomeration",
    "all_pairs",
    "bootstrap",
    "draws_of_lines",
    "eigenpairs",
    "enumerated",
    "kept_numbers",
    "landmarks",
    "one_sum",
    "products",
    "relabelings",
    "search",
    "spectrum",
    "streams",
]

KEPT_UP_TO = 4096  # points, whose tiles are kept
INDICATOR_BYTES = 3 * 2**26  # of one product
BLOCK = 64  # relabelings
LINES_BYTES = 2**28  # of sorted projections that are kept
STREAM_BYTES = 1100.0  # of a random generator

SAMPLE_LESS = "Use a random subset of the rows."
FEWER_DRAWS = "Use fewer `n_resamples`."
NO_PAIRS = (
    "Use a random subset of the rows, or for clusters of all of them "
    '`energy_cluster(..., algorithm="nystrom")`, an approximation; one column can go to `cluster_1d`, and '
    "`dispersion`, `energy_distance` and `energy_test` do not store the pairs."
)


def all_pairs(n: float, copies: float = 1.0, made: bool = True, advice: str = NO_PAIRS) -> Work:
    """The n x n matrix, made and kept, with working copies of it."""
    return Work(what=f"all pairs of {n} points", advice=advice, pairs=n * n / 2 * made, bytes=8 * copies * n * n)


def kept_numbers(count: float, what: str, advice: str, copies: float = 2.0) -> Work:
    """Numbers of which every one is kept, such as null distributions."""
    return Work(what=f"{count} {what}", advice=advice, bytes=8 * copies * count)


def streams(count: float, what: str, advice: str) -> Work:
    """Random generators that are made in advance."""
    return Work(
        what=f"the random streams of {count} {what}", advice=advice, steps=10 * count, bytes=STREAM_BYTES * count
    )


# ---------------------------------------------------------------- sums over pairs


def one_sum(d: Any, advice: str = SAMPLE_LESS) -> Work:
    """One sum over all pairs."""
    return products(d, 1, what=f"sums over the pairs of {d.n} points", advice=advice)


def products(d: Any, columns: float, *, what: str, advice: str, at_once: float = math.inf) -> Work:
    """R times some columns, `at_once` in one pass over the pairs."""
    n = float(d.n)
    made = 8 * n * min(columns, at_once)
    if d.directions is not None:
        L, width = d.directions.shape[1], d.n_columns
        passes = 1.0 if 16 * n * L <= LINES_BYTES else math.ceil(columns / at_once)
        return Work(
            what=what,
            advice=advice,
            flops=2 * n * width * L * passes,
            ordered=3 * n * L * math.log2(n + 1) * passes,
            touched=ON_LINE * n * L * columns,
            bytes=made + min(16 * n * L, LINES_BYTES) + 16 * width * L,
        )
    if d.line is not None:
        return Work(
            what=what, advice=advice, ordered=3 * n * math.log2(n + 1), touched=ON_LINE * n * columns, bytes=made
        )
    kept = d.R is not None or n <= KEPT_UP_TO
    passes = 1.0 if kept else math.ceil(columns / at_once)
    pairs = 0.0 if d.R is not None else passes * n * n / 2
    rest = 0.0 if d.R is None else 2.0 * passes
    return Work(
        what=what, advice=advice, pairs=pairs, touched=rest * n * n, flops=n * n * columns,
        bytes=made + (4 * n * n if kept and d.R is None else 0.0),
    )  # fmt: skip


ON_LINE = 8.0  # numbers touched for each entry of Z in a sorted column
DEALT = 25.0  # for each row of a relabeling
STEPS_OF_BLOCK = 120.0  # small calls for 64 relabelings


def relabelings(d: Any, k: int, count: float, *, looks: bool = False, advice: str = "") -> Work:
    """M of relabelings, all of them dealt, and the null distribution."""
    room = max(1.0, INDICATOR_BYTES // (8 * d.n * max(k - 1, 1)))
    at_once = min(4.0 * BLOCK, room) if looks else max(room // BLOCK * BLOCK, min(room, BLOCK))
    what = f"{count:.0f} relabelings of {d.n} rows"
    advice = advice or faster_test(d)
    sums = products(d, (k - 1) * (count + 1), at_once=(k - 1) * at_once, what=what, advice=advice)
    dealt = Work(
        what=what, advice=advice, touched=(DEALT + 3 * (k - 1)) * d.n * count,
        steps=STEPS_OF_BLOCK * math.ceil(count / BLOCK) + 1000, bytes=24 * count,
    )  # fmt: skip
    return sums.and_then(dealt)


def faster_test(d: Any) -> str:
    """What the methods of `energy_test` have to offer."""
    if d.directions is not None:
        return "Use fewer `n_resamples` or `n_slices`, or give `n_bins`, so that whole bins are permuted."
    if d.R is not None or d.line is not None or d.n < BLOCK * 4:
        return FEWER_DRAWS
    return (
        'Use fewer `n_resamples`, or in `energy_test` method="sliced" with `n_bins` (nearly linear time, Euclidean '
        'distances) or method="binned" (one pass over the pairs).'
    )


def enumerated(k: int, count: float, n: int) -> Work:
    """Labelings that are visited one by one."""
    return Work(
        what=f"all {count:.0f} labelings", advice='Use method="permutation".', steps=8 * count, touched=3 * n * k * count,
        bytes=24 * count,
    )  # fmt: skip


def bootstrap(d: Any, count: float) -> Work:
    """Resamples of two samples and their sums."""
    what, advice = f"{count:.0f} bootstrap samples", "Use fewer bootstrap samples."
    drawn = products(d, 2 * count, at_once=2 * BLOCK, what=what, advice=advice)
    return drawn.and_then(Work(what=what, touched=60.0 * d.n * count, bytes=16 * count))


# ---------------------------------------------------------------- matrices


def spectrum(n: float, factor: float = 1.0, *, copies: float = 5.0, advice: str = SAMPLE_LESS) -> Work:
    """Eigenvalues of an n x n matrix; a factor of 1 is for the values alone of a symmetric one."""
    return Work(
        what=f"eigenvalues of {n} points", advice=advice, flops=factor * 1.3 * n**3,
        touched=factor * 0.35 * n**3 + 20 * n * n, steps=300, bytes=8 * copies * n * n,
    )  # fmt: skip


def eigenpairs(d: Any, count: float, advice: str = SAMPLE_LESS) -> Work:
    """The largest eigenpairs of the centred Gram matrix, by products with the pairs."""
    if count < 1:
        return Work(what="eigenvalues")
    n = float(d.n)
    steps = 60.0 + 4 * count
    if n <= 500 or 4 * count > n:
        return spectrum(n, 3.0, copies=3.0)
    single = products(d, 1, what=f"eigenvalues of {d.n} points", advice=advice)
    kept = d.R is not None or d.line is not None or n <= KEPT_UP_TO
    passes = replaced(
        single, pairs=single.pairs / steps if kept else single.pairs, touched=single.touched + n * n * kept
    )
    return passes.times(steps).and_then(Work(what="", touched=30 * n * steps, steps=50 * steps))


def replaced(work: Work, **amounts: float) -> Work:
    """Some of the amounts changed."""
    from dataclasses import replace

    return replace(work, **amounts)  # type: ignore[arg-type]


def agglomeration(n: float) -> Work:
    """Chains of nearest neighbours over all pairs."""
    return all_pairs(n).and_then(Work(what="", touched=12.0 * n * n))


# ---------------------------------------------------------------- searches

SEARCHED = 6.0  # numbers touched for each pair in one search
STEPS_OF_SEARCH = 150.0


def search(n: float, k: float, starts: float, perturbations: float = 0.0) -> Work:
    """Hartigan's method over stored pairs, from several starts."""
    what = f"{starts:.0f} starts of a search over the pairs of {n:.0f} points"
    advice = 'Use a smaller `n_init`, a random subset of the rows, or algorithm="nystrom".'
    one = Work(what=what, advice=advice, touched=SEARCHED * n * n + 20 * n * k, steps=STEPS_OF_SEARCH + 10 * k)
    return one.times(starts * (1 + 0.6 * perturbations))


def landmarks(n: float, d: Any, k: float, m: float, starts: float, batch: float) -> Work:
    """Clusters from landmarks."""
    m = min(m, n)
    part = min(n, batch)
    passes = 15 * starts * part + 30 * n
    return Work(
        what=f"{starts:.0f} starts on {part:.0f} of {n:.0f} rows",
        advice="Use a smaller `n_init`, `n_landmarks` or `batch_size`.",
        pairs=3 * n * m + m * min(n, 20_000),
        flops=6 * n * m * m + 2 * passes * m * k + 10 * m**3,
        touched=passes * (m + 4 * k),
        steps=500 * starts,
        bytes=8 * m * min(n, 2**27 / m) + 24 * m * m,
    )


# ---------------------------------------------------------------- significance

LINE_DRAW = 9.0  # sorts of a sample that a draw from the nearest unimodal law takes with its indices


def draws_of_lines(n: float, count: float) -> Work:
    """Samples from the nearest unimodal law, with their indices."""
    return Work(
        what=f"{count:.0f} draws of {n:.0f} scores",
        advice="Use fewer `n_resamples` or `n_splits`, or a random subset of the rows.",
        ordered=LINE_DRAW * n * math.log2(n + 1) * count,
        touched=60.0 * n * count,
        bytes=48 * count + 8 * 2**20 * 3,
    )
