"""Estimate how much work the methods do, as functions of sizes and options: the models behind `check_work`.

The factors were fitted to measured times (`benchmarks/cost.py`). Where the work depends on the data, as in searches and
trees, they are for data without clear clusters; the time of a user's own sampler or clusterer is not in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from energystats._core.gram import are_values_found_in_full, is_found_in_full
from energystats._core.group_sums import adding_serves, room_for_labelings, tables_serve
from energystats._core.labelings import COMPILED_FROM
from energystats._runtime import Work, count_text
from energystats.pairs.slices import LINES_BYTES, PLACE_BYTES
from energystats.pairs.tiles import STORED_UP_TO

__all__ = [
    "FEWER_STARTS",
    "FEWER_STARTS_OF_MATRIX",
    "SAMPLE_LESS",
    "Size",
    "agglomeration",
    "best_cells",
    "best_runs",
    "binned",
    "bootstrap",
    "bound_on_between",
    "comparisons",
    "crossfit",
    "eigenpairs",
    "exact_line",
    "graph_search",
    "kept",
    "landmarks",
    "line_draws",
    "normal_samples_work",
    "one_sum",
    "pairs_work",
    "permutation_moments_work",
    "permutations",
    "permuted_rows",
    "permuted_spread",
    "reference_samples",
    "refit",
    "rounded_pairs_work",
    "rounding",
    "scanned_orders",
    "search_work",
    "slices",
    "spectrum",
    "split",
    "spread_medians",
    "stability",
    "streams",
    "tree",
]


BASIS_BYTES = 2**28  # of permuted bases, in `_core.linear_models`
FRESH = 30.0  # numbers touched for each pair where the system has to find memory
REUSED_UP_TO = 1500  # points whose pairs fit in memory that was used before
TILE_BYTES = 2**24  # of a tile that is recomputed, with what it is made of
BLOCK = 64  # permutations of one stream
STREAM_BYTES = 1100.0  # of a random generator
ON_LINE = 40.0  # numbers touched for each entry of Z in a sorted column
ASSIGNED = 25.0  # for each row of a permutation
ADDED = 5.0  # numbers touched for each ordered pair in a labeling of many groups
OF_GROUPS = 120.0  # for each ordered pair of these
GAP_OF_GROUPS = 6.0  # numbers touched for each gap of a sorted column and ordered pair of groups
BY_TABLES = 0.45  # of the time of a product that tables of sums take
STEPS_OF_BLOCK = 120.0  # small calls for 64 permutations
PLAIN_DRAW = 25.0  # for every label of such a block where nothing is compiled
STEPS_OF_TEST = 8000.0  # and for all that is done once
STEPS_OF_NULL = 3000.0  # of which for the null distribution
SEARCHED = 6.0  # numbers touched for each pair in one search
PERTURBED = 0.6  # of a search, for every perturbation
STEPS_OF_SEARCH = 900.0
STEPS_OF_START = 40.0  # where searches are made in compiled calls of many
PASSES_OF_BATCH, PASSES_OF_ALL = 180.0, 180.0  # over features of landmarks, of those rows that are in doubt
LINE_DRAW = 3.5  # sorts of a sample that a draw from the nearest unimodal distribution takes with its indices
STEPS_TO_MEDIAN = 30.0  # products with the pairs; with points near a median some hundreds
LANCZOS = 40.0  # products with the pairs for the first eigenvectors
WITH_VECTORS = 5.0  # times the eigenvalues alone, if eigenvectors of all of them are computed as well
NORMAL = 900.0  # numbers touched for the mean distance of a point to a normal distribution in several columns
CLUSTERED_AT_MOST, NAMED_AT_MOST, FOLDS, SPLIT_STARTS = 1000, 4000, 5, 10  # of the split test
DECORRELATED_AT_MOST, FEW_STARTS, SPACES = 300, 4, 3
LANDMARKS_OF_MANY = 256, 3, 16_384  # with how many starts, on how many rows, beyond NAMED_AT_MOST points
CUT, SUMMED = 6.0, 6.0  # numbers touched for each pair: by every number of segments, and by running sums
RUN_BYTES = 2**24  # of a block of rho
CELL_BYTES = 8.0 * 48**2  # of the sums between cells of one order
ADDED = 0.7  # numbers touched for each ordered pair in one order
ORDERED = 30.0  # for each row of one order
ENDED_AFTER = 25  # perturbations of a search at most, about: it ends when the best was found often enough

SAMPLE_LESS = "Use a random subset of the rows."
FEWER_DRAWS = "Use fewer `n_resamples`, or a random subset of the rows."
FEWER_STARTS = 'Use a smaller `n_init`, a random subset of the rows, or algorithm="landmarks".'
FEWER_RESAMPLES = "Use fewer `n_resamples` or a smaller `n_init`."
FEWER_STARTS_OF_MATRIX = "Use a smaller `n_init`, or a part of the matrix."
FASTER_TEST = (
    "Use fewer `n_resamples`, or in `energy_test` method=es.Sliced(n_bins=256) (nearly linear time, Euclidean "
    'distances) or method="binned" (one pass over the pairs).'
)
NO_PAIRS = (
    "Use a random subset of the rows, or for clusters of all of them "
    '`energy_cluster(..., algorithm="landmarks")`, an approximation; one column can go to `cluster_1d`, and '
    "`dispersion`, `energy_distance` and `energy_test` do not store the pairs."
)


@dataclass(frozen=True, slots=True)
class Size:
    """Describe how many points there are and by which route their pairs are summed, to estimate time and memory."""

    # n, columns: points and columns, 0 columns for a matrix
    n: int
    columns: int = 1
    line: bool = False  # whether one column is sorted in place of the pairs
    exact: bool = False  # whether its best clusters are known without a search
    stored: bool = False  # whether the matrix is there
    slices: int = 0  # random directions, 0 for all pairs

    @classmethod
    def of(cls, d: Any) -> Self:
        """Describe the size of a `Dissimilarity`, for estimates of time and memory."""
        power = d.power
        return cls(d.n, d.n_columns, not d.is_stored and power == 1, power in (1, 2), d.is_stored)

    @property
    def keeps(self) -> bool:
        """Return whether dissimilarities are computed once and kept in memory."""
        return self.stored or self.n <= STORED_UP_TO

    @property
    def recomputes(self) -> bool:
        """Return whether dissimilarities are recomputed for every product with their matrix."""
        return not (self.keeps or self.line or self.slices)

    def part(self, n: float) -> Size:
        """Describe the size of a subset of n points, for estimates of time and memory."""
        return replace(self, n=max(1, int(n)), stored=self.stored)

    @property
    def held(self) -> Size:
        """Describe the size of the same points with the dissimilarity matrix in memory, for estimates of time."""
        return replace(self, stored=True, line=False)


def kept(count: float, what: str, advice: str, copies: float = 2.0) -> Work:
    """Estimate the memory of numbers that are kept, such as null distributions."""
    return Work(what=f"{count_text(count)} {what}", advice=advice, bytes=8 * copies * count)


def streams(count: float, what: str, advice: str) -> Work:
    """Estimate time and memory of random generators that are created in advance."""
    return Work(what=f"{count_text(count)} {what}", advice=advice, steps=10 * count, bytes=STREAM_BYTES * count)


# ---------------------------------------------------------------- sums over pairs


def pairs_work(size: Size, copies: float = 1.0, advice: str = NO_PAIRS) -> Work:
    """Estimate time and memory of an n x n dissimilarity matrix and copies of it."""
    n = size.n
    made = 0.0 if size.stored else 1.0
    moved = (FRESH if n > REUSED_UP_TO else 5.0) * made * n * n
    return Work(what=f"all pairs of {n} points", advice=advice, pairs=made * n * n / 2, touched=moved,
                bytes=8 * (copies - 1 + made) * n * n)  # fmt: skip


def rounded_pairs_work(size: Size, advice: str = NO_PAIRS) -> Work:
    """Estimate time and memory of a single-precision dissimilarity matrix and searches that use it."""
    n = size.n
    return Work(what=f"all pairs of {n} points", advice=advice, pairs=5 * n * n / 2, touched=FRESH * n * n / 2,
                bytes=4 * n * n)  # fmt: skip


def _describe_products(size: Size, columns: float, *, what: str, advice: str, at_once: float = math.inf) -> Work:
    """Estimate time and memory of products of the dissimilarity matrix with columns."""
    n = float(size.n)
    made = (1 if size.recomputes else 8) * n * min(columns, at_once)
    if size.slices:
        L = size.slices
        passes = 1.0 if PLACE_BYTES * n * L <= LINES_BYTES else max(1, math.ceil(columns / at_once))
        return Work(
            what=what,
            advice=advice,
            flops=2 * n * size.columns * L * passes,
            ordered=6 * n * L * math.log2(n + 1) * passes,
            touched=ON_LINE * n * L * columns,
            bytes=made + min(PLACE_BYTES * n * L, LINES_BYTES),
        )
    if size.line:
        return Work(
            what=what, advice=advice, ordered=6 * n * math.log2(n + 1), touched=ON_LINE * n * columns, bytes=made
        )
    # tiles that are not kept are computed again in every pass
    passes = 1.0 if size.keeps else max(1, math.ceil(columns / at_once))
    pairs = 0.0 if size.stored else passes * n * n / 2
    reread = max(1, math.ceil(columns / at_once)) if size.keeps else 0.0
    return Work(what=what, advice=advice, pairs=pairs, flops=n * n * columns, touched=reread * n * n,
                bytes=made + (4 * n * n if size.keeps else TILE_BYTES) * (not size.stored))  # fmt: skip


def one_sum(size: Size, times: float = 1.0, advice: str = SAMPLE_LESS) -> Work:
    """Estimate time and memory of sums over all pairs of points."""
    return _describe_products(size, 1, what=f"sums over the pairs of {size.n} points", advice=advice).times(times)


def slices(size: Size) -> Work:
    """Estimate time and memory of drawing random directions."""
    return Work(what=f"{size.slices} slices", advice="Use fewer `n_slices`.",
                touched=60.0 * size.slices * size.columns, bytes=24.0 * size.slices * size.columns)  # fmt: skip


def _draws(size: Size, k: int, count: float) -> Work:
    """Estimate the time of drawing random labelings."""
    draws, n_blocks = size.n * (1 - 1 / k), math.ceil(count / BLOCK)
    plain = PLAIN_DRAW * draws * n_blocks if draws * count < COMPILED_FROM else 0.0
    return Work(what="", touched=ASSIGNED * size.n * count, steps=STEPS_OF_BLOCK * n_blocks + plain)


def permutations(
    size: Size, k: int, count: float, *, interim: bool = False, visited: bool = False, bare: bool = False
) -> Work:
    """Estimate time and memory of sums of dissimilarities under permutations, and of the null distribution."""
    room = room_for_labelings(size.n, max(k - 1, 1), size.recomputes)
    at_once = min(4.0 * BLOCK, room) if interim else max(room // BLOCK * BLOCK, min(room, BLOCK))
    what, advice = f"{count_text(count)} permutations of {size.n} rows", _advise_faster_test(size)
    sums = _describe_products(size, (k - 1) * (count + 1), at_once=(k - 1) * at_once, what=what, advice=advice)
    together = int(min(count, at_once))
    if size.line or size.slices:
        if not adding_serves(size.n, k, BLOCK):  # each gap counts for all pairs of groups
            between_groups = GAP_OF_GROUPS * max(size.slices, 1) * size.n * (k - 1.0) ** 2
            sums = replace(sums, touched=sums.touched + between_groups * (count + 1))
    elif adding_serves(size.n, k, BLOCK):
        sums = replace(sums, flops=0.0, touched=sums.touched + count * (ADDED * size.n**2 + OF_GROUPS * float(k) ** 2))
    elif tables_serve(size.n, k - 1, together):
        sums = replace(sums, flops=BY_TABLES * sums.flops)
    once = STEPS_OF_NULL if bare else STEPS_OF_TEST
    listed = Work(what="", touched=ASSIGNED * size.n * count, steps=(8 + STEPS_OF_BLOCK / BLOCK) * count)
    labels = listed if visited else _draws(size, k, count)
    read = Work(what=what, touched=3 * (k - 1) * size.n * count, bytes=24 * count + sums.bytes, steps=once)
    return sums.and_then(labels, read)


def _advise_faster_test(size: Size) -> str:
    """Return a sentence that advises on faster permutation tests for a number of rows."""
    if size.slices:
        return "Use fewer `n_resamples` or `n_slices`, or `es.Sliced(n_bins=256)`, which permutes whole bins."
    return FEWER_DRAWS if size.stored or size.line or size.n < 2 * BLOCK else FASTER_TEST


def permutation_moments_work(size: Size, k: int) -> Work:
    """Estimate time and memory for the exact moments of the permutation distribution of a statistic of k groups."""
    n = float(size.n)
    return Work(what=f"moments over the triples of {size.n} points", advice='Use method="permutation".',
                flops=1.1 * n**3, pairs=n * n / 2, touched=60 * n * n + 6.0 * k**4, bytes=32 * n * n)  # fmt: skip


def binned(size: Size, n_bins: int, k: int, count: float, *, interim: bool) -> tuple[Work, ...]:
    """Estimate time and memory of a permutation test of bins of rows."""
    n = float(size.n)
    if size.slices:
        one = _describe_products(size, 0, what=f"{size.slices} slices of {size.n} rows", advice="Use fewer `n_slices`.")
        first = one.and_then(Work(what="", touched=3 * n * n_bins * size.slices))
    else:
        first = one_sum(size).and_then(Work(what="", touched=2 * n * n))
    bins = Size(n_bins, stored=True)
    return first, permutations(bins, k, count, interim=interim), Work(what="sums between bins", bytes=24.0 * n_bins**2)


def permuted_rows(size: Size, df: int, terms: int, count: float) -> Work:
    """Estimate time and memory of permuting the rows of a linear model."""
    what = f"{count_text(count)} permutations of {size.n} rows and a model of {df} columns"
    room = max(1.0, BASIS_BYTES // (8.0 * size.n * max(df, 1) * BLOCK)) * BLOCK
    sums = _describe_products(size, df * count, at_once=df * room, what=what, advice=FEWER_DRAWS)
    forms = Work(what="", touched=(ASSIGNED + 80 * df) * size.n * count, flops=4.0 * size.n * df * df * count,
                 steps=40.0 * (terms + 3) * math.ceil(count / room) + 3000,
                 bytes=sums.bytes + (terms + 1) * 32 * count)  # fmt: skip
    return sums.and_then(forms)


def bootstrap(size: Size, count: float) -> Work:
    """Estimate time and memory of bootstrap resamples of two samples."""
    what, advice = f"{count_text(count)} bootstrap samples", "Use fewer bootstrap samples."
    drawn = _describe_products(size, 2 * count, at_once=2 * BLOCK, what=what, advice=advice)
    return drawn.and_then(Work(what=what, touched=60.0 * size.n * count, bytes=16 * count))


def spread_medians(size: Size, k: int) -> Work:
    """Estimate time and memory for the search for the spatial medians of groups."""
    what = f"distances of {size.n} points from the centres of their groups"
    one = _describe_products(size, k, what=what, advice=SAMPLE_LESS)
    # what was computed once is read again in every step
    return replace(one.times(STEPS_TO_MEDIAN), pairs=one.pairs * (1.0 if size.keeps else STEPS_TO_MEDIAN))


def permuted_spread(size: Size, k: int, count: float) -> Work:
    """Estimate time and memory for permuting, between groups, the distances of points from group centres."""
    what = f"{count_text(count)} permutations of {size.n} distances"
    drawn = Work(what=what, touched=5.0 * k * size.n * count, steps=STEPS_OF_NULL, bytes=24 * count)
    return drawn.and_then(_draws(size, k, count)).times(1, what=what, advice=FEWER_DRAWS)


def comparisons(size: Size, sizes: Sequence[tuple[int, int]], count: float) -> tuple[Work, ...]:
    """Estimate time and memory for two permutation tests of each pair of groups: energy test and spread."""
    each = []
    for n, m in sizes:
        part = size.part(n + m)
        what = f"{count_text(count)} permutations of {len(sizes)} pairs of groups"
        tested = permutations(part, 2, count, bare=True)
        each.append(tested.and_then(permuted_spread(part, 2, count)).times(1, what=what, advice=FEWER_DRAWS))
    return (each[0].and_then(*each[1:]),) if each else ()


# ---------------------------------------------------------------- one sample


def normal_samples_work(n: int, columns: int, count: float) -> Work:
    """Estimate time and memory for random normal samples and their energy statistics."""
    each = (
        Work(what="", ordered=2 * n * math.log2(n + 1), touched=90.0 * n)
        if columns == 1
        else Work(what="", pairs=n * n / 2, touched=(NORMAL + 40 * columns) * n, flops=6.0 * n * columns**2, steps=100)
    )
    what = f"{count_text(count)} normal samples of {n} rows"
    return each.times(count, what=what, advice=FEWER_DRAWS).and_then(Work(what="", bytes=24 * count))


def reference_samples(size: Size, reference: int, count: float) -> Work:
    """Estimate time and memory for random samples compared with reference points of their distribution."""
    n, m = float(size.n), float(reference)
    each = (
        Work(what="", ordered=4 * n * math.log2(n + 1) + n * math.log2(m + 1), touched=30 * n, steps=5)
        if size.line
        else Work(what="", pairs=n * m + n * n / 2, steps=200)
    )
    what = f"{count_text(count)} samples of {size.n} rows against {reference} points"
    advice = "Use fewer `n_resamples` or a smaller `n_reference`."
    first = Work(what="", pairs=0.0 if size.line else m * m / 2, bytes=8 * (m + n) * size.columns + 24 * count)
    return each.times(count, what=what, advice=advice).and_then(first)


# ---------------------------------------------------------------- matrices


def spectrum(n: float, factor: float = 1.0, *, copies: float = 5.0, advice: str = SAMPLE_LESS) -> Work:
    """Estimate time and memory for the eigenvalues of an n x n matrix, with a factor for eigenvectors or asymmetry."""
    return Work(what=f"eigenvalues of {n:.0f} points", advice=advice, flops=factor * 1.3 * n**3, steps=300,
                touched=factor * 0.35 * n**3 + 20 * n * n, bytes=8 * copies * n * n)  # fmt: skip


def eigenpairs(size: Size, count: float, advice: str = SAMPLE_LESS) -> Work:
    """Estimate time and memory of the largest eigenpairs of a centred Gram matrix."""
    n, steps = float(size.n), LANCZOS + 4 * count
    if count < 1:
        return Work(what="eigenvalues")
    if is_found_in_full(size.n, int(count)):
        return spectrum(n, 1.0 + WITH_VECTORS * min(count, n) / n, advice=advice)
    # Lanczos' method makes one product with R in each step; a wide basis is made orthogonal
    single = _describe_products(size, 1, what=f"eigenvalues of {size.n} points", advice=advice)
    basis = Work(what="", touched=30 * n * steps + 180 * n * count**2, steps=50 * steps)
    repeated = replace(single, pairs=0.0).times(steps).and_then(basis)
    return replace(repeated, pairs=single.pairs if size.keeps else steps * single.pairs)


def bound_on_between(size: Size, k: float, advice: str = SAMPLE_LESS) -> Work:
    """Estimate time and memory of the upper bound on S: k - 1 eigenvalues, of a matrix with their eigenvectors."""
    if size.columns and are_values_found_in_full(size.n, int(k) - 1) and k > 1:
        return spectrum(float(size.n), copies=2.0, advice=advice)
    return eigenpairs(size, k - 1, advice)


def agglomeration(size: Size) -> Work:
    """Estimate time and memory for hierarchical clustering by nearest-neighbour chains over all pairs."""
    advice = "Use a random subset of the rows."
    return pairs_work(size, 2.0 if size.stored else 1.0, advice).and_then(Work(what="", touched=130.0 * size.n**2))


# ---------------------------------------------------------------- searches


def exact_line(n: float, k: float) -> Work:
    """Estimate time and memory for the exact partition of n sorted values into k intervals."""
    from energystats._core.exact_1d import ROOM  # compiled loops

    twice = k * n > ROOM  # breaks too many to be kept are searched for in halves
    return Work(what=f"the exact clusters of {n:.0f} values", advice=SAMPLE_LESS, ordered=6 * n * math.log2(n + 1),
                touched=700.0 * k * n * (1 + twice), bytes=8 * 12 * n + 4 * min(k * n, ROOM))  # fmt: skip


def search_work(
    size: Size,
    k: float,
    starts: float,
    perturbations: float | None = None,
    advice: str = SAMPLE_LESS,
    *,
    compiled: bool = True,
) -> Work:
    """Estimate time and memory for Hartigan's method from several starts, or the exact method in one column.

    `perturbations` of every start are those of `energy_cluster` when None.
    """
    from energystats._core.restarts import tries_for  # compiled loops

    n = float(size.n)
    if size.exact:
        return exact_line(n, k)
    # most of a start is its table T of sums from points to clusters, O(n^2); its passes are O(n k)
    one = Work(
        what="",
        touched=SEARCHED * n * n + 60 * n * k,
        steps=STEPS_OF_START if compiled else STEPS_OF_SEARCH + 10 * k,
        bytes=16 * n * k,
    )
    what = f"{count_text(starts)} starts of a search over the pairs of {size.n} points"
    perturbed = starts * (tries_for(size.n) if perturbations is None else perturbations)
    perturbed *= ENDED_AFTER / (ENDED_AFTER + perturbed)
    return one.times(starts + PERTURBED * perturbed, what=what, advice=advice)


def rounding(size: Size, k: float, starts: float) -> Work:
    """Estimate time and memory for k-means of the rows of eigenvectors, from several starts."""
    one = Work(what="", touched=60.0 * size.n * k, flops=60.0 * size.n * k * k, steps=1500)
    return one.times(starts, what=f"{count_text(starts)} starts of k-means", advice="Use a smaller `n_init`.")


def landmarks(size: Size, k: float, m: float, starts: float, batch: float) -> Work:
    """Estimate time and memory for energy clustering with m landmarks, points that stand for the others."""
    n, m = float(size.n), min(m, float(size.n))
    part = min(n, batch)
    passes = PASSES_OF_BATCH * starts * part + PASSES_OF_ALL * n * (n > batch)
    return Work(
        what=f"{count_text(starts)} starts on {part:.0f} of {n:.0f} rows",
        advice="Clear clusters may take a tenth of that. Use a smaller `n_init`, `n_landmarks` or `batch_size`.",
        pairs=3 * n * m + m * min(n, 20_000),
        flops=3 * n * m * m + 2 * passes * m * k + 10 * m**3,
        touched=6 * n * m + passes * (3 * m + 4 * k),
        steps=500 * starts,
        bytes=8 * m * min(n, 2**27 / m) + 24 * m * m,
    )


def graph_search(n: float, links: float, k: float, starts: float, perturbations: float) -> Work:
    """Estimate time and memory for single moves of vertices over a sparse graph, from several starts."""
    one = Work(what="", touched=250 * links + 60 * n * k, steps=400)
    eigen = Work(what="", touched=LANCZOS * 3 * (2 * links + 40 * n), steps=5000)
    what = f"{count_text(starts)} starts of a search over {links:.0f} links"
    advice = "Use a smaller `n_init`, or fewer links."
    return one.times(starts * (1 + perturbations), what=what, advice=advice).and_then(eigen)


def stability(size: Size, k: float, count: float, starts: float, share: float, advice: str = FEWER_RESAMPLES) -> Work:
    """Estimate time and memory for clustering resamples of the points again, to see how stable clusters are."""
    n = share * size.n
    one = search_work(size.part(n), k, starts).and_then(Work(what="", touched=4 * n * n, steps=1500))
    what = f"{count_text(count)} resamples of {size.n} points"
    again = one.times(count, what=what, advice=advice)
    return replace(again, bytes=again.bytes + 16 * (k + 1) * count + 8 * n * n)


# ---------------------------------------------------------------- significance


def line_draws(n: float, count: float, times: float = 1.0, advice: str = FEWER_DRAWS) -> Work:
    """Estimate time and memory for samples from the nearest unimodal distribution and their unimodality indices."""
    one = Work(what="", ordered=LINE_DRAW * n * math.log2(n + 1), touched=240.0 * n)
    what = f"{count_text(count * times)} draws of {n:.0f} scores"
    return replace(one.times(count * times, what=what, advice=advice), bytes=48 * count + 24 * 2**20)


def split(size: Size, k: int, n_splits: float, count: float, of_draws: str = FEWER_DRAWS) -> tuple[Work, ...]:
    """Estimate time and memory of the split test for clusters."""
    n = float(size.n)
    part, contrasts = min(0.8 * n, CLUSTERED_AT_MOST), k if k > 2 else 1
    advice = "Use fewer `n_splits`, or a random subset of the rows."
    # two spaces in which few starts do for two clusters, and decorrelated columns
    starts = SPLIT_STARTS if k > 2 else FEW_STARTS
    clustered = search_work(size.part(part), k, starts).and_then(pairs_work(size.part(part))).times(SPACES - 1)
    fewer = size.part(min(part, DECORRELATED_AT_MOST))
    decorrelated = search_work(fewer, k, SPLIT_STARTS).and_then(Work(what="", steps=2000))
    along = Work(what="", touched=30.0 * n * contrasts, flops=2.0 * n * size.columns * contrasts, steps=500)
    what = f"{count_text(n_splits)} splits"
    parts = clustered.and_then(decorrelated, along.times(SPACES)).times(FOLDS * n_splits, what=what, advice=advice)
    named = size.part(min(n, NAMED_AT_MOST))
    whole = search_work(named, k, 10).and_then(pairs_work(named))
    if n > NAMED_AT_MOST and not size.exact:
        whole = landmarks(size, k, *LANDMARKS_OF_MANY)
    names = whole.times(SPACES if k > 2 else 1)
    matrix = () if not size.stored else (spectrum(n, 2.0),)
    draws = line_draws(n, count, n_splits * contrasts * SPACES, of_draws)
    return parts, names, draws, streams(n_splits, "splits", advice), *matrix


def refit(size: Size, k: int, count: float, each: float) -> tuple[Work, ...]:
    """Estimate time and memory for reference samples that are clustered in the same way as the data."""
    one = _describe_reference(size, k)
    what = f"{count_text(count)} reference samples of {size.n} rows"
    return one.times(count * each, what=what, advice=FEWER_DRAWS), kept(count, "reference samples", FEWER_DRAWS, 20.0)


def _describe_reference(size: Size, k: int) -> Work:
    """Estimate time and memory for one reference sample and its clusters."""
    found = search_work(size, k, SPLIT_STARTS).and_then(Work(what="", touched=60.0 * size.n * size.columns, steps=500))
    return found if size.exact else found.and_then(pairs_work(replace(size, stored=False)))


def crossfit(size: Size, k: int, n_splits: float, count: float, references: float) -> tuple[Work, ...]:
    """Estimate time and memory for reference samples under cross-fitting, each with held-out halves."""
    lines = Work(what="", ordered=10.0 * k * size.n * math.log2(size.n + 1))
    one = _describe_reference(size.part(size.n / 2), k).and_then(lines).times(2 * n_splits)
    what = f"{count_text(count)} reference samples of {size.n} rows"
    tested = one.times(count * references, what=what, advice=FEWER_DRAWS)
    return tested, kept(count, "reference samples", FEWER_DRAWS, 20.0)


def tree(
    size: Size, n_splits: float, count: float, *, one_column: bool, of_draws: str = FEWER_DRAWS
) -> tuple[Work, ...]:
    """Estimate time and memory for the first splits of a tree of clusters: at its root and two children."""
    made = () if size.exact else (pairs_work(size),)
    if one_column:
        parts: tuple[Work, ...] = (line_draws(size.n, count, 2.0, of_draws),)
    else:
        parts = tuple(part.times(2.0) for part in split(size.held, 2, n_splits, count, of_draws)[:4])
    return *made, *parts, search_work(size, 2, 10).times(2.0)


# ---------------------------------------------------------------- ordered rows


def best_runs(size: Size, k: float) -> tuple[Work, ...]:
    """Estimate time and memory of the best segments of ordered rows."""
    n = float(size.n)
    found = Work(
        what=f"the best segments of {size.n} rows",
        advice="Use the means of every few rows that follow each other.",
        pairs=0.0 if size.stored else n * n / 2,
        touched=(CUT * k + SUMMED) * n * n / 2,
        steps=8 * n,
        bytes=16 * (k + 1) * n + 2 * RUN_BYTES,
    )
    return found, one_sum(size, 2.0)


def best_cells(size: Size, k: float, cells: float, m: float) -> Work:
    """Estimate time and memory of an approximate segmentation by cells of rows."""
    n, cells = float(size.n), min(cells, float(size.n))
    return Work(
        what=f"a cut of {size.n} rows",
        advice="Use the means of every few rows that follow each other.",
        pairs=n * m,
        flops=2 * n * m * m + cells * cells * m,
        touched=30 * n * m + (CUT * k + SUMMED + 60) * cells * cells / 2,
        steps=20 * cells,
        bytes=8 * cells * (m + 4 * (k + 1)) + 2 * RUN_BYTES,
    )


def scanned_orders(size: Size, count: float, steps: float = 1.0) -> Work:
    """Estimate time and memory of the between dispersion of all breaks in several orders of rows."""
    n = float(size.n)
    return Work(
        what=f"{count_text(count)} orders of {size.n} rows",
        advice="Use fewer `n_resamples`, or the means of every few rows that follow each other.",
        pairs=0.0 if size.stored else steps * n * n,
        touched=steps * (ADDED * n * n + ORDERED * n) * count,
        steps=2000 * steps,
        bytes=(32.0 * n + CELL_BYTES) * count,
    )
