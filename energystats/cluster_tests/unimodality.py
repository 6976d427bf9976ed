"""Are scores unimodal? Three indices and one p-value, of one or several lines, or of one column [theory 5]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from energystats._core.interrupts import checkpoint
from energystats._core.jitter import Jittered, Reach, Rounding, find_reach, jitter_ties
from energystats._core.pvalues import over_jitters, smallest_weighted
from energystats._core.unimodal import EXCESS, compute_indices, indices_of_draws, narrow_gaps
from energystats._typing import BoolArray, FloatArray, IntArray
from energystats.cluster_tests.data_notes import (
    ColumnTies,
    describe_data,
    note_even_steps,
    note_rates,
    note_uneven_frequencies,
    unit_of_column,
    values_of_column,
)
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.results import ClusterTestResult, Contrast
from energystats.cluster_tests.scores import rules_of_column
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity

__all__ = [
    "CALIBRATION_FACTOR",
    "CONSERVATIVE_FACTOR",
    "NARROWED",
    "UNIMODALITY",
    "ColumnTest",
    "Unimodality",
    "calibration_factor",
    "clearly_large",
    "column_test",
    "no_evidence",
    "one_column_test",
    "unimodality_along_lines",
    "unimodality_test",
]


CALIBRATION_FACTOR = 1.2  # by which p-values on flat densities were measured to be too small
CONSERVATIVE_FACTOR = 1.6  # with a margin
SEVERAL_LINES = 1.2  # times that where lines are found in several spaces, whose folds share three quarters of points

CLEARLY_LARGE = 0.2  # more draws are not worth their time
FAR = 1e6  # interquartile ranges, of a mean that far values have moved
FIRST_DRAWS, LARGE_AT_ONCE = 49, 0.4  # the same after the first draws
DRAWS_AT_ONCE = 2**20  # numbers, so that Ctrl-C stops the program soon; the random draws do not depend on it
INDEX_TOLERANCE = 1e-12  # of the number of summands: closer indices are tied


@dataclass(frozen=True, slots=True, eq=False)
class Unimodality:
    """Hold three indices of unimodality of one set of scores, and the p-value of all three."""

    scores: FloatArray  # (m,) sorted, ties spread, and gaps beside points far out narrowed
    indices: FloatArray  # (3,) likelihood ratio, E and distance
    pvalue: float  # of all three together
    tie_width: float  # step beside tied scores; 0 where none were tied
    narrowed: bool = False  # whether gaps were narrowed

    @property
    def index(self) -> float:
        """Return the excess-split index of a test of unimodality."""
        return float(self.indices[EXCESS])


def calibration_factor(conservative: bool, *, several: bool = False) -> float:
    """Return the factor that p-values are multiplied by, larger for conservative tests and for several lines."""
    return (CONSERVATIVE_FACTOR if conservative else CALIBRATION_FACTOR) * (SEVERAL_LINES if several else 1.0)


def no_evidence(scores: FloatArray) -> Unimodality:
    """Return a test of unimodality with p = 1, as for constant scores and parts of the points without clusters."""
    return Unimodality(scores, np.zeros(3), 1.0, 0.0)


def clearly_large(pvalue: float) -> bool:
    """Return whether a p-value is above .2, so large that more draws for it are not worth their time."""
    return pvalue > CLEARLY_LARGE


def unimodality_test(
    scores: FloatArray, n_resamples: int, factor: float, rng: np.random.Generator, first_batch: int | None = None
) -> Unimodality:
    """Test scores for unimodality by simulation from the nearest unimodal distribution; p = 1 if constant.

    With a `first_batch` of fewer draws the others are made only where these show no clearly large p.
    """
    spread = jitter_ties(scores, rng)
    given = np.sort(scores if spread is None else spread.values)
    x = narrow_gaps(given)
    if x[-1] <= x[0]:
        return no_evidence(x)
    observed = compute_indices(x)
    tolerance = INDEX_TOLERANCE * np.array([x.size, 1.0, 1.0])
    table = observed[None]
    pvalue = 1.0
    # samples from the nearest unimodal distribution, of which each is fitted again
    for upto in sorted({min(first_batch or n_resamples, n_resamples), n_resamples}):
        table = np.vstack((table, *_null_indices(x, upto + 1 - len(table), rng)))
        pvalue = smallest_weighted(table, tolerance, factor)
        if clearly_large(pvalue):
            break
    return Unimodality(x, observed, pvalue, 0.0 if spread is None else spread.width, x is not given)


def unimodality_along_lines(
    scores: FloatArray,
    shares: FloatArray,
    n_resamples: int,
    factor: float,
    rng: np.random.Generator,
    first_batch: int | None = None,
) -> tuple[float, list[Unimodality]]:
    """Test projections of points on m lines for unimodality; return one p for all, and the test of each.

    Shapes: (m, n) scores, (m,) shares.

    The indices of all lines are compared by their smallest weighted p-value, against draws that share their ranks as
    the points do: what the lines have in common costs once. `shares` of the level weigh the lines.
    """
    if len(scores) == 1:
        only = unimodality_test(scores[0], n_resamples, factor, rng, first_batch)
        return only.pvalue, [only]
    spread = [jitter_ties(line, rng) for line in scores]
    jittered = np.array([line if s is None else s.values for line, s in zip(scores, spread, strict=True)])
    given = np.sort(jittered, axis=1)
    x = np.array([narrow_gaps(line) for line in given])
    ranks = jittered.argsort(axis=1).argsort(axis=1)
    varies = x[:, -1] > x[:, 0]
    table = np.concatenate([compute_indices(line) for line in x])[None]
    tolerance = np.tile(INDEX_TOLERANCE * np.array([x.shape[1], 1.0, 1.0]), len(x))
    pvalue, upto = 1.0, 0
    for upto in _interim_sizes(first_batch, n_resamples):
        table = np.vstack((table, *_null_indices_along(x, ranks, varies, upto + 1 - len(table), rng)))
        pvalue = smallest_weighted(table, tolerance, factor, shares)
        if pvalue > (CLEARLY_LARGE if upto > FIRST_DRAWS else LARGE_AT_ONCE):
            break
    each = [
        Unimodality(
            line,
            table[0, 3 * j : 3 * j + 3],
            smallest_weighted(table[:, 3 * j : 3 * j + 3], tolerance[:3], factor) if varies[j] else 1.0,
            0.0 if (of_line := spread[j]) is None else of_line.width,
            not np.array_equal(line, given[j]),
        )
        for j, line in enumerate(x)
    ]
    return pvalue, each


def _interim_sizes(first: int | None, n_resamples: int) -> list[int]:
    """Return the numbers of draws after which p is checked, so that a test with a large p ends early."""
    return sorted({min(size, n_resamples) for size in (FIRST_DRAWS, first or n_resamples, n_resamples)})


def _null_indices_along(
    x: FloatArray, ranks: IntArray, varies: BoolArray, n_draws: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Simulate unimodality statistics for m lines, each from its nearest unimodal distribution; (b, 3 m) each.

    Points are drawn with replacement, and each is put somewhere in the cell of width 1/n that belongs to its rank:
    along every line these are independent uniform numbers, and together they depend on each other as the points do.
    """
    n, found = x.shape[1], []
    at_once = max(1, DRAWS_AT_ONCE // n)
    for done in range(0, n_draws, at_once):
        checkpoint()
        b = min(at_once, n_draws - done)
        rows = rng.integers(n, size=(b, n))
        block = np.zeros((b, 3 * len(x)))
        for j in np.flatnonzero(varies):
            uniforms = np.sort((ranks[j][rows] + rng.random((b, n))) / n, axis=1)
            block[:, 3 * j : 3 * j + 3] = indices_of_draws(x[j], uniforms)
        found.append(block)
    return found


def _null_indices(x: FloatArray, n_draws: int, rng: np.random.Generator) -> list[FloatArray]:
    """Simulate unimodality statistics from the unimodal distribution nearest to x; list of (b, 3)."""
    at_once = max(1, DRAWS_AT_ONCE // x.size)
    found = []
    for done in range(0, n_draws, at_once):
        checkpoint()
        uniforms = rng.random((min(at_once, n_draws - done), x.size))
        found.append(indices_of_draws(x, np.sort(uniforms, axis=1)))
    return found


# ---------------------------------------------------------------- one column


SMALLEST_SAMPLE = 8  # points
JITTERS = 10  # of a column in which one jitter can decide, as with wide steps between tied values
UNIMODALITY = "the population is unimodal"
NARROWED = (
    "Gaps beside scores far out were narrowed, together to about three widths of the central nine tenths, in the test "
    "and in its picture: one point far away would hide all others."
)
UNUSED_CLUSTERER = "One column is tested without clustering it, so `clusterer` was not used."


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTest:
    """Hold the test of the values of one column, over several jitters where one of them can decide."""

    pvalue: float  # over all jitters
    indices: FloatArray  # (3,) means over the jitters
    each: list[Unimodality]  # the test of each jitter
    spread: Jittered | None  # ties and the first jitter; None where no or all values are tied


def _less_center(values: FloatArray) -> FloatArray:
    """Subtract the mean from values, or the median if extreme values would cost digits; (n,) -> (n,)."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    mean = float(values.mean())
    return values - (mean if abs(mean - middle) <= FAR * (high - low) else float(middle))


def column_test(
    x: FloatArray,
    n_resamples: int,
    factor: float,
    rng: np.random.Generator,
    first_batch: int | None = None,
    *,
    reach: Reach = find_reach,
    rounding: Rounding | None = None,
) -> ColumnTest:
    """Test one column for unimodality after jittering ties, with several jitters if a single one could decide.

    `reach` says how far tied values are jittered, `rounding` which are tied.
    """
    spread = jitter_ties(x, rng, reach, rounding=rounding)
    again = spread is not None and spread.can_decide
    jitters = [x if spread is None else spread.values]
    streams = [rng, *(rng.spawn(JITTERS - 1) if again else ())]
    for stream in streams[1:]:
        other = jitter_ties(x, stream, reach, rounding=rounding)
        assert other is not None
        jitters.append(other.values)
    if again:  # several tests, of which each ends early where p is clearly large
        first_batch = min(first_batch or FIRST_DRAWS, FIRST_DRAWS)
    each = [
        unimodality_test(_less_center(values), n_resamples, factor, stream, first_batch)
        for values, stream in zip(jitters, streams, strict=True)
    ]
    pvalue = over_jitters(np.array([one.pvalue for one in each]))
    return ColumnTest(pvalue, np.mean([one.indices for one in each], axis=0), each, spread)


def one_column_test(d: Dissimilarity, options: ClusterTestOptions, rng: np.random.Generator) -> ClusterTestResult:
    """Test for clusters in a single column by unimodality of all its values, and return the result."""
    if d.n < SMALLEST_SAMPLE:
        raise ValueError(f"`X` must have at least {SMALLEST_SAMPLE} rows, got {d.n}.")
    factor = calibration_factor(options.conservative)
    rounding, reach = rules_of_column(d, 0)
    found = column_test(d.points[:, 0], options.n_resamples, factor, rng, reach=reach, rounding=rounding)
    ties: list[ColumnTies] = []
    if found.spread is not None:
        name = d.columns[0] if d.columns else "x"
        ties.append(ColumnTies.of(found.spread, name, d.n, ratios=reach is not find_reach, **unit_of_column(d, 0)))
    pvalues = np.array([[one.pvalue] for one in found.each])
    scores = found.each[int(pvalues.argmin())].scores
    index = float(found.indices[EXCESS])
    return ClusterTestResult(
        statistic=index,
        pvalue=found.pvalue,
        method="unimodal-1d",
        null_hypothesis=UNIMODALITY,
        k=options.k,
        n_resamples=options.n_resamples,
        n_splits=0,
        n_clustered=0,
        factor=factor,
        conservative=options.conservative,
        jittered=bool(ties),
        pvalues=pvalues,
        scores=scores,
        indices=found.indices[None],
        rows=(Contrast("more than one mode", index, found.pvalue, found.pvalue),),
        notes=(
            *(_note_steps(d, scores, ties) if found.pvalue <= LEVEL and not options.warnings_alone else ()),
            *describe_data(d, ties, several=True),
            *((NARROWED,) if any(one.narrowed for one in found.each) else ()),
            *(() if options.user_clusterer is None else (UNUSED_CLUSTERER,)),
        ),
    )


def _note_steps(d: Dissimilarity, scores: FloatArray, ties: Sequence[ColumnTies]) -> tuple[str, ...]:
    """Return cautions on steps in one column that can make p small, if its ties show no other reason; else ()."""
    values = values_of_column(d, 0)
    known = any(each.heaped or each.ratios or each.rounded_before or each.limits for each in ties)
    return (*note_even_steps(scores), *note_rates(values), *(() if known else note_uneven_frequencies(values)))
