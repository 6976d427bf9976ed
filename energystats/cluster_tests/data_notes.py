"""Return notes on the data under test: ties, limits, duplicated rows, columns of two values, dependent rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from energystats._core.ellipsoids import lie_on_ellipsoid
from energystats._core.jitter import Jittered
from energystats._core.row_counts import find_row_counts
from energystats._core.threads import one_thread
from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import number
from energystats.display.sentences import Caution, metric_text
from energystats.dissimilarity import Dissimilarity, Points
from energystats.exceptions import TiesWarning, warn
from energystats.metrics.base import COUNTS

__all__ = [
    "WIDE_STEPS",
    "ColumnTies",
    "are_directions",
    "describe_data",
    "name_population",
    "note_directions",
    "note_even_steps",
    "note_lines",
    "note_rates",
    "note_uneven_frequencies",
    "unit_of_column",
    "values_of_column",
]


SHOWN = 10  # columns with ties
SAME_VALUE = 1e-13  # of the largest one: closer values differ by rounding
OFF_GRID = 1e-3  # of a grid step
FRACTIONS = (1, 2, 3, 4, 5)  # of the smallest gap that are steps of a grid
STEPS_APART = (1, 2, 3, 4, 5)
MORE_THAN_ROUNDED = 5  # times as many pairs of equal rows as rounding makes are duplicated rows
UNDONE: tuple[Callable[[FloatArray], FloatArray], ...] = (  # functions whose inverses are common transformations
    np.positive, np.exp, np.exp2, lambda x: 10.0**x, np.square, lambda x: x**3, lambda x: x**4,
    np.reciprocal, lambda x: np.sqrt(np.abs(x)), np.cbrt, np.log, lambda x: np.sin(x) ** 2,
    lambda x: 1 / (1 + np.exp(-x)),
)  # fmt: skip
FAR = (5, 6, 7, 8, 9)  # rows: how far the farther neighbours in row order are
SERIAL_ERRORS = 3.5  # standard errors by which next rows have to be more alike than independent ones
FEW_PLACES = 5  # in which all points lie
MOST_OF_DIRECTIONS = 20  # columns that may hold the three coordinates of directions
CODES = "If few values are codes of categories, they are no numbers: leave such a column out."
PERIODS = np.arange(1.5, 60.0, 0.05)  # in the range of the central nine tenths of scores
FEWEST_PERIODS = 4.5
FINE_STEPS = 32  # of frequencies, between coarse ones
FEWEST_SCORES = 30
SCORES_READ = 2000
BY_CHANCE = 14.0  # times the mean power of noise: a thousand frequencies reach it in one of a thousand samples
CLEARLY = 2.0  # times the power of fewer periods, as of a few narrow clusters
MULTIPLES = np.arange(1.5, 30.0, 0.02)  # of one amount up to the 95 % quantile
CENTRAL_UP_TO = 0.95  # quantile
NEAR_MULTIPLES, BEYOND_CHANCE = 0.25, 5.0  # mean cosine of phases, and in its standard deviations by chance
EACH_MULTIPLE, BELOW_FIRST = 0.03, 0.02  # shares of the first three, at least, and of smaller amounts, at most
OF_AMOUNTS: tuple[Callable[[FloatArray], FloatArray], ...] = (  # functions that keep 0
    np.positive, np.expm1, lambda x: np.exp2(x) - 1, lambda x: 10.0**x - 1, np.square,
)  # fmt: skip
PLACES_TOGETHER = (1, 2, 3, 4)  # whose frequencies are added, for waves of all lengths
FEWEST_PLACES, MOST_PLACES = 12, 5000
# (1, -4, 6, -4, 1)/6 of five frequencies is 0 for a cubic and has 35/18 times the variance of one; squares of such
# differences in a row have 5.25 times the variance of one over their number, and 3 deviations are rare
OF_DIFFERENCE, OF_SQUARES, UNEVEN = 35 / 18, 5.25, 3.0
OVER_JITTERS = "They were jittered several times, and p combines the tests of all."
ONE_JITTER = "Another seed jitters them otherwise, and more `n_splits` do not: try some."
WIDE_STEPS = "Steps between tied values are wide, and jittering them can change p."
THEY = ". They "  # between where a pile is and what it may be
SERIAL_SHARE = 0.6  # of comparisons that the next row wins
# parts of a whole that are written as decimals, how many of them a column must have, and what they may be
PARTS_OF_A_WHOLE = ((12, 8, "years and months"), (60, 15, "hours and minutes"))
FEWEST_WHOLES, NO_HUNDREDTHS = 3, 1e-6


@dataclass(frozen=True, slots=True)
class ColumnTies:
    """Hold a description of the tied values of one column, in the unit of the data."""

    name: str  # what they are ties of
    step: str  # median step beside tied values; empty where only piles were tied
    coarse: bool  # whether the jitter matters
    heaped: bool  # whether some values are far more frequent than their neighbours
    limits: tuple[Caution, ...]  # sentences about piles at the ends, and about one between them
    ratios: bool = False  # whether values are ratios of small whole numbers with different denominators
    cut_off: bool = False  # whether a pile at an end was spread over the tail that a limit may have cut off
    # steps of the grid to which values were rounded before a conversion to another unit, or the function of whole
    # numbers that was rounded; empty without one
    rounded_before: str = ""

    @classmethod
    def of(
        cls, found: Jittered, name: str, n: int, *, unit: float = 1.0, center: float = 0.0, ratios: bool = False
    ) -> Self:
        """Describe the ties of a column, in the user's units, for notes on the data."""
        step = f"{unit * found.width:.3g}" if found.width > 0 else ""
        limits = []
        for limit in found.limits:
            which = "smallest" if limit.is_smallest else "largest"
            value = number(unit * limit.value + center)
            what = (
                ("They are no tail of the others, and count as a mode.", "")
                if limit.apart
                else (
                    "They may be values that a limit cut off.",
                    "Of detection, or of the scale: spread over the tail that it would hide they are no mode. Among "
                    "several columns such a tail can itself part the points, and p is the larger one of two, with the "
                    "tail and without it. Whether these rows are a group of their own was not tested.",
                )
            )
            limits.append(
                Caution(f"{limit.count} of {n} values of {name} are its {which}, {value}. {what[0]}", what[1])
            )
        if found.filled is not None:
            value, count = number(unit * found.filled[0] + center), found.filled[1]
            limits.append(
                Caution(
                    f"{count} of {n} values of {name} are {value}, and no other is nearly as frequent.",
                    "They count as a mode of their own. If they were filled in for missing values, leave these rows "
                    "out.",
                )
            )
        cut_off = any(not limit.apart for limit in found.limits)
        first = found.converted or ""
        if not isinstance(first, str):
            first = f"steps of {unit * first:.3g}"
        return cls(name, step, found.coarse, found.heaped and not ratios, tuple(limits), ratios, cut_off, first)


def unit_of_column(d: Dissimilarity, j: int) -> dict[str, float]:
    """Return, as a dict, the unit and, after z-scores, the centre that convert a column's values back to the user's."""
    if d.standardization is None:
        return {"unit": 2.0**d.exponent}
    scale, center = float(d.standardization.scale[j]), float(d.standardization.center[j])
    return {"unit": scale * 2.0**d.exponent, "center": center}


def values_of_column(d: Dissimilarity, j: int) -> FloatArray:
    """Return the values of a column in the user's unit, as before z-scores; (n,)."""
    assert isinstance(d, Points)
    to_user = unit_of_column(d, j)
    return np.asarray(d.points[:, j] * to_user["unit"] + to_user.get("center", 0.0))


def describe_data(d: Dissimilarity, ties: Sequence[ColumnTies], *, several: bool = False) -> tuple[str, ...]:
    """Return notes on ties, piles at bounds, duplicated rows and serial order in the data; warn of what affects p.

    What matters most comes first.
    """
    parts = _note_parts_of_wholes(d)
    d = d.transformed()
    points = d.coordinates
    limits = tuple(sentence for column in ties for sentence in column.limits)
    if limits:
        others = len(limits) - 1
        warn(limits[0] + f" So it is with {others} more: `.notes` names all." * (others > 0), TiesWarning)
    return (
        *(() if points is None else (*_note_few_places(points), *_note_few_values(points))),
        # a pile at an end has duplicates of its own
        *(() if points is None or limits else _note_duplicated_rows(*_as_recorded(points, d))),
        *_note_serial_order(d),
        *parts,
        *_join_limits(limits),
        *_note_ties(ties, several=several),
    )


def _join_limits(limits: Sequence[Caution]) -> list[Caution]:
    """Join cautions about piles in several columns that differ in columns and numbers alone."""
    alike: dict[tuple[str, str], list[Caution]] = {}
    for limit in limits:
        alike.setdefault((limit.short.partition(THEY)[2], limit.removeprefix(limit.short)), []).append(limit)
    joined = []
    for (meaning, more), (first, *others) in alike.items():
        if others and meaning:
            places = "; ".join(other.short.partition(THEY)[0] for other in others)
            short = f"{first.short} So it is with {len(others)} more."
            joined.append(Caution(short, f"{more} The others: {places}.".strip()))
        else:
            joined += [first, *others]
    return joined


def note_even_steps(scores: FloatArray) -> tuple[str, ...]:
    """Return a caution if scores gather near many evenly spaced values, which count as modes; else (); sorted (n,).

    Sums of a few standardized items, residuals of classes and rates of counts do so without being tied. A frequency of
    4.5 periods or more in their central nine tenths stands out from chance, and from the frequencies of few clusters.
    """
    if scores.size < FEWEST_SCORES:
        return ()
    low, high = np.quantile(scores, [0.05, 0.95])
    if not high > low:
        return ()
    some = scores[np.linspace(0, scores.size - 1, min(scores.size, SCORES_READ)).astype(np.intp)]
    power = np.abs(_sum_waves(some / (high - low), PERIODS)) ** 2 / some.size
    of_clusters, of_steps = power[PERIODS < FEWEST_PERIODS].max(), power[PERIODS >= FEWEST_PERIODS]
    if of_steps.max() <= max(BY_CHANCE, CLEARLY * of_clusters):
        return ()
    places = round(float(PERIODS[PERIODS >= FEWEST_PERIODS][of_steps.argmax()])) + 1
    return (
        Caution(
            f"Values gather near some {places} evenly spaced places, and each counts as a mode.",
            "So do sums of a few items in unlike units, residuals and rates of classes and counts, values rounded to "
            "several grids. p speaks of these steps, and clusters may be they. Test the items, classes or counts "
            "themselves, whose ties are spread.",
        ),
    )


def _sum_waves(x: FloatArray, frequencies: FloatArray) -> npt.NDArray[np.complex128]:
    """Compute sum_j exp(2 pi i f x_j) for evenly spaced frequencies, as products of coarse and fine waves; (m,)."""
    coarse, fine = frequencies[::FINE_STEPS], frequencies[:FINE_STEPS] - frequencies[0]
    waves = [np.exp(2j * math.pi * np.multiply.outer(each, x)) for each in (coarse, fine)]
    with one_thread():
        return np.ravel(waves[0] @ waves[1].T)[: frequencies.size]


def note_rates(values: FloatArray) -> tuple[str, ...]:
    """Return a caution if amounts, some of them 0, lie near multiples 1, 2, 3, ... of one amount; (n,).

    Such are rates of small counts whose denominators differ a little, as counts per million of one gene, as they are or
    before a root or a logarithm of one more. From a single column their denominators cannot be found.
    """
    amounts = values[np.abs(values) > SAME_VALUE * np.abs(values).max()]
    if not values.size - amounts.size >= 2 or amounts.size < FEWEST_SCORES or amounts.min() < 0:
        return ()
    if 2 * np.unique(amounts).size < amounts.size:  # ties are spread
        return ()
    for undo in OF_AMOUNTS:
        with np.errstate(over="ignore"):
            y = undo(amounts)
        if not np.isfinite(y).all():
            continue
        largest = float(np.quantile(y, CENTRAL_UP_TO))
        some = y[np.linspace(0, y.size - 1, min(y.size, SCORES_READ)).astype(np.intp)]
        near = _sum_waves(some / largest, MULTIPLES).real / some.size
        unit = largest / float(MULTIPLES[near.argmax()])
        shares = np.bincount(np.minimum(np.rint(y / unit), 4).astype(np.intp), minlength=5) / y.size
        enough = max(NEAR_MULTIPLES, BEYOND_CHANCE / math.sqrt(2 * some.size))
        if near.max() >= enough and shares[0] <= BELOW_FIRST and shares[1:4].min() >= EACH_MULTIPLE:
            return (
                Caution(
                    "Values gather near 0 and multiples of one amount, and each multiple counts as a mode.",
                    "So do rates of small counts whose totals differ a little, as counts per million. p speaks of "
                    "these steps, and clusters may be they. Test the counts, or a table of several such columns, in "
                    "which the totals of the rows are found and counts are spread.",
                ),
            )
    return ()


def note_uneven_frequencies(values: FloatArray) -> tuple[str, ...]:
    """Return a caution if the frequencies of values on a grid vary from each to the next by more than chance; else ().

    So do those of numbers that were computed from rounded ones and rounded again. (n,).
    """
    known, counts = np.unique(values, return_counts=True)
    steps = _count_steps(known) if known.size >= FEWEST_PLACES else None
    if steps is None or steps.max() > MOST_PLACES:
        return ()
    every = np.bincount(steps, counts)
    for together in PLACES_TOGETHER:
        some = np.add.reduceat(every, np.arange(0, every.size, together))
        if some.size < FEWEST_PLACES + 4:
            break
        # a smooth density is near to a cubic over five places
        difference = some[2:-2] - (4 * (some[1:-3] + some[3:-1]) - some[:-4] - some[4:]) / 6
        local = np.convolve(some, np.full(5, 1 / 5), "valid")
        squares = difference[local >= 1] ** 2 / (OF_DIFFERENCE * local[local >= 1])
        if squares.size < FEWEST_PLACES:
            break
        if squares.sum() > squares.size + UNEVEN * math.sqrt(OF_SQUARES * squares.size):
            return (
                Caution(
                    "The frequencies of neighbouring values differ by more than chance, and can count as modes.",
                    "So do those of numbers that were computed from rounded ones and rounded again, as a rate, an "
                    "index or another unit, of scores that some sums cannot reach, and of clusters narrower than two "
                    "steps. Test the numbers behind them.",
                ),
            )
    return ()


# ---------------------------------------------------------------- ties


def _note_ties(ties: Sequence[ColumnTies], *, several: bool) -> tuple[str, ...]:
    """Return notes on ties that were jittered and on values far more frequent than their neighbours; warn of these.

    Of wide steps there is one warning a process, because nothing can be done.
    """
    converted = _note_converted([f"{each.rounded_before} in {each.name}" for each in ties if each.rounded_before])
    steps = [f"{column.step} in {column.name}" for column in ties if column.step]
    if not steps:
        return converted
    shown = ", ".join(steps[:SHOWN]) + (", ..." if len(steps) > SHOWN else "")
    note = (
        f"Tied values were jittered between the values beside them, over triangles (steps of {shown}), "
        "because point masses count as modes."
    )
    if any(column.coarse for column in ties):
        drawn = OVER_JITTERS if several else ONE_JITTER
        note = Caution(WIDE_STEPS, f"{note} {drawn} {CODES}")
        warn(note, TiesWarning, once=True)
    notes = (*_note_ratios([column.name for column in ties if column.ratios]), *converted, note)
    heaped = [column.name for column in ties if column.heaped]
    if not heaped:
        return notes
    shown = ", ".join(heaped[:SHOWN]) + (", ..." if len(heaped) > SHOWN else "")
    heaps = Caution(
        f"Some values of {shown} are heaps, which can count as modes.",
        "They are more frequent than those beside them, as of values rounded to several grids at once. Where they "
        "are a regular step apart, as fives, tens or whole hours are, as many points as are too many were spread over "
        "that step. A step about as wide as the data still makes modes: round all values to the coarsest grid before "
        "you believe a small p.",
    )
    warn(heaps, TiesWarning)
    return (heaps, *notes)


def _note_converted(first: Sequence[str]) -> tuple[str, ...]:
    """Return a caution that names columns rounded both before and after a change of units, and warn; () for none.

    `first` says to what the first time, with the names of the columns.
    """
    if not first:
        return ()
    shown = ", ".join(first[:SHOWN]) + (", ..." if len(first) > SHOWN else "")
    caution = Caution(
        f"Values seem to be rounded twice, before and after a conversion to another unit or scale (before: {shown}).",
        "Some values then stand for more of the first numbers than others, or some are left out, which would count as "
        "modes. Tied values were put on the first numbers, as fitted to their frequencies, and jittered there. Test "
        "the numbers as they were first if you have them.",
    )
    warn(caution, TiesWarning)
    return (caution,)


def _note_ratios(names: Sequence[str]) -> tuple[str, ...]:
    """Return a caution that names columns of ratios of small whole numbers with unlike denominators; else ()."""
    if not names:
        return ()
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return (
        Caution(
            f"Values of {shown} are ratios of small whole numbers with different denominators.",
            "Those that many denominators share, such as 0 and 1/2, would count as modes, and equal values were spread "
            "as far as 1.5 over the median denominator: groups that lie nearer are not seen. Rows with few trials say "
            "little; a test of known groups needs no such care.",
        ),
    )


def _as_recorded(points: FloatArray, d: Dissimilarity) -> tuple[FloatArray, bool]:
    """Undo z-scores of points, and factors of rows that hide counts; return values, and whether there were factors.

    Z-scores hide that a column is a function of another, and factors hide that equal rows are rows of equal counts.
    """
    given = np.ldexp(points, d.exponent)
    given = given if d.standardization is None else d.standardization.undo(given)
    rows = find_row_counts(given)
    return (given, False) if rows is None else (rows.counts_of(rows.values), True)


def _note_duplicated_rows(points: FloatArray, counted: bool) -> tuple[str, ...]:
    """Warn of duplicated rows, unless rounding of all columns explains them, and return the note; else ().

    A column is fine if it is on no grid, and its ties are those of whole rows; in a single column, where all ties are,
    if half of the values are distinct. Rows that are equal in columns on grids are equal in functions of these, such as
    a square or a ratio: where the equal rows are those equal on grids, and are no more than rounding makes,
    duplicated rows cannot be distinguished from rounded values. Counts (`counted`) that were divided by factors of
    their rows are on grids, and were seldom meant to be equal.
    """
    n, n_columns = points.shape
    distinct = len(np.unique(points, axis=0))
    if distinct == n or (n_columns == 1 and distinct < n / 2):
        return ()
    values = [np.unique(column, return_inverse=True) for column in points.T]
    if not counted and not any(known.size == distinct and _count_steps(known) is None for known, _ in values):
        return ()
    steps = [(_count_steps(known, FRACTIONS), codes) for known, codes in values if known.size > 1]
    on_grids = [counted[codes] for counted, codes in steps if counted is not None]
    if on_grids and _ties_as_rounded(np.stack(on_grids), distinct):
        return ()
    where = "of counts divided by factors" if counted else "in columns that are recorded on no grid"
    note = Caution(
        f"{n - distinct} of {n} rows are duplicated, {where}. If they are copies, p is too small.",
        "Copies come from a table merged twice or a bootstrap sample: test every row once. Equal rows of counts, of "
        "rounded values or of sums, scores and residuals of a few of them are no copies, whether they were transformed "
        "or not.",
    )
    warn(note, TiesWarning)
    return (note,)


def _count_steps(known: FloatArray, fractions: Sequence[int] = (1,)) -> IntArray | None:
    """Convert distinct ascending values on a grid to numbers of grid steps above the smallest; None if on no grid.

    Values are also tried after undoing common transformations, such as logarithms and squares.

    All gaps are multiples of the smallest one, or of some fraction of it: of few values none may be one step apart.
    """
    if known.size == 1:
        return np.zeros(1, dtype=np.intp)
    with np.errstate(all="ignore"):
        for undo in UNDONE:
            values = undo(known)
            gaps = np.diff(np.sort(values))
            if not np.isfinite(values).all() or gaps.min() <= SAME_VALUE * np.abs(values).max():
                continue
            for fraction in fractions:
                steps = gaps / gaps.min() * fraction
                if np.all(np.abs(steps - np.round(steps)) <= OFF_GRID):
                    counted: IntArray = np.round((values - values.min()) / gaps.min() * fraction).astype(np.intp)
                    return counted
    return None


def _ties_as_rounded(steps: IntArray, distinct: int) -> bool:
    """Return whether rounding explains the equal rows of a table, from each value's number of grid steps; (d, n).

    Rounded values are a few steps apart, up or down in one of the columns, twice as often as they are equal; values
    that were rounded twice are so at some of these distances. Duplicated rows are equal only, and may leave no row
    without another.
    """
    # rows as single numbers: sums with odd weights, which wrap around; two are equal by a very rare chance
    weights = np.random.default_rng(0).integers(2**62, size=len(steps)) * 2 + 1
    places, counts = np.unique((steps * weights[:, None]).sum(axis=0), return_counts=True)
    if places.size != distinct or counts.min() > 1:
        return False

    def pairs_apart(by: int) -> int:
        """Count the pairs of rows whose weighted sums of grid steps differ by the number `by`."""
        at = np.minimum(np.searchsorted(places, places + by), places.size - 1)
        return int((counts * counts[at])[places[at] == places + by].sum())

    equal = int((counts * (counts - 1)).sum()) // 2
    beside = max(map(pairs_apart, (weights[:, None] * STEPS_APART).ravel().tolist()))
    return equal < MORE_THAN_ROUNDED * (beside + 1) / 2


# ---------------------------------------------------------------- what the test supposes


def _note_parts_of_wholes(d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution on columns whose two decimals count minutes or months, as 7.59 before 8.00; else ().

    Of 30 decimals that count hundredths all are below .60 with a chance of 2e-7.
    """
    if d.coordinates is None or d.n < FEWEST_SCORES:
        return ()
    found: dict[str, list[str]] = {}
    for j in range(d.n_columns):
        hundredths = 100 * np.abs(values_of_column(d, j))
        if np.abs(hundredths - np.rint(hundredths)).max() > NO_HUNDREDTHS:
            continue
        wholes, parts = np.divmod(np.rint(hundredths), 100)
        for base, fewest, what in PARTS_OF_A_WHOLE:
            if parts.max() < base and np.unique(parts).size >= fewest and np.unique(wholes).size >= FEWEST_WHOLES:
                name = d.columns[j] if d.columns else "x" if d.n_columns == 1 else f"column {j}"
                found.setdefault(f"below .{base}, as of {what}", []).append(name)
                break
    return tuple(
        Caution(
            f"The decimals of {', '.join(names[:SHOWN])} are {what}: gaps up to the next whole count as modes.",
            "Test the smaller unit alone, such as 60 times the hours plus the minutes.",
        )
        for what, names in found.items()
    )


def _note_few_places(points: FloatArray) -> tuple[str, ...]:
    """Return a caution if the points lie in at most five places; else an empty tuple.

    Groups of equal points are jittered, and not seen.
    """
    places = len(np.unique(points, axis=0))
    if places > FEW_PLACES:
        return ()
    return (
        Caution(
            f"The points lie in {places} places only. Groups of equal points are not seen: a large p says nothing.",
            "Point masses count as modes, and so they are jittered over the steps between them. Count the points of "
            "each place instead.",
        ),
    )


def _note_few_values(points: FloatArray) -> tuple[str, ...]:
    """Return a caution if at least a third of several columns have two or three values, a note if some have two."""
    n_columns = points.shape[1]
    values = np.array([np.unique(column).size for column in points.T])
    few, two = int(np.isin(values, (2, 3)).sum()), int((values == 2).sum())
    if n_columns == 1 or max(few - 1, two) == 0:
        return ()
    if few > 1 and 3 * few >= n_columns:
        return (
            Caution(
                f"{few} of {n_columns} columns have {'two' if two == few else 'two or three'} values only. A small p "
                "need not mean groups of rows.",
                "Sums of such columns have several modes where the columns go together, as items of one strong factor "
                "do. Compare with a model without groups that has this dependence.",
            ),
        )
    if two == 0:
        return ()
    return (
        f"{two} of {n_columns} columns {'has' if two == 1 else 'have'} two values only. Beside a column that it was "
        "made from (age, and age above 18) such a column shows two modes in one cloud, and a small p need not mean "
        "groups of rows: leave it out to see.",
    )


def are_directions(d: Dissimilarity) -> bool:
    """Return whether all rows lie on an ellipsoid in three dimensions, as directions in space lie on a sphere.

    A sphere has no projection but flat ones [Archimedes], wherever its centre is, and neither has what is linear in it.
    """
    if d.coordinates is None or not 3 <= d.n_columns <= MOST_OF_DIRECTIONS:
        return False
    return lie_on_ellipsoid(d.transformed().points)


def note_directions(d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution if all rows lie on an ellipsoid, so that p was multiplied by a larger factor; else ()."""
    if not are_directions(d):
        return ()
    return (
        Caution(
            "All rows lie on a sphere or an ellipsoid, as directions do. Tests along lines took the factor of "
            "conservative=True.",
            "Spread evenly over a sphere they have flat projections along all lines: of samples of 60 to 300 .05 to "
            ".08 were rejected at level .05, and .08 to .105 with the factor of other data.",
        ),
    )


def name_population(hypothesis: str, d: Dissimilarity) -> str:
    """Add to a null hypothesis on a population which rows are projected, such as roots of shares; return the text."""
    rows = ""
    if d.metric.compares:
        rows = f" of {d.metric.compares}"
    elif not d.n_columns:
        rows = " behind the matrix"
    elif d.coordinates is not None and not d.metric.by_differences:
        rows = " of the columns as given"
    return hypothesis.replace("the population", f"the population{rows}")


def note_lines(d: Dissimilarity) -> tuple[str, ...]:
    """Return a note on which lines points were projected, if rho is no function of coordinate differences; else ().

    It is a caution if the metric has no lines of its own.
    """
    if d.coordinates is None or d.metric.by_differences:
        return ()
    if d.metric.compares:
        return (f"Modes were looked for along lines of {d.metric.compares}, which {metric_text(d.metric)} compares.",)
    why = (
        f'{metric_text(d.metric)} has no lines of its own. `method="refit"` with `null="independent"` or a model asks '
        "of the metric alone."
    )
    hidden = ""
    if d.metric.domain.needs == COUNTS.needs:
        hidden = (
            ': a few large numbers can hide communities there. Those of np.log1p(X), or under metric="hellinger", are '
            "often seen where those of raw abundances are not"
        )
    return (
        Caution(f"Modes were looked for along lines of the columns as given, clusters by the metric{hidden}.", why),
    )


def _note_serial_order(d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution if rows resemble the next row more than rows further on, as in a time series; else ().

    Blocks of independent rows, one cluster after another, are not: only their borders differ. The share of five
    comparisons of a row has the variance 1/12 + 1/30 where rows are independent, that of one uniform rank among six.
    """
    import pandas as pd  # which the data came through; scipy.stats takes a quarter of a second more

    rows = np.arange(d.n - FAR[-1], dtype=np.intp)
    if not rows.size:
        return ()
    ranks = None if d.coordinates is None else pd.DataFrame(d.coordinates).rank().to_numpy()

    def away(lag: int) -> FloatArray:
        """Compute the distance of each row to the one `lag` rows below: of columns the squared one of ranks; (m,)."""
        if ranks is None:
            return np.asarray(d.matrix[rows, rows + lag], dtype=np.float64)
        return np.asarray(np.square(ranks[rows + lag] - ranks[rows]).sum(axis=1))

    nearer = float(np.mean([_share_below(away(1), away(lag)) for lag in FAR]))
    error = np.sqrt((1 / 12 + 1 / (6 * len(FAR))) / rows.size)
    if nearer < max(SERIAL_SHARE, 0.5 + SERIAL_ERRORS * error):
        return ()
    return (
        Caution(
            "Neighbouring rows are alike: unless the table was sorted, p is too small.",
            f"{nearer:.0%} are nearer to the next row than to one {FAR[0]} to {FAR[-1]} rows on. Of a sorted table "
            "nothing follows; in a series, a transect or repeated measures rows depend on those before them, and the "
            "test supposes independent rows.",
        ),
    )


def _share_below(near: FloatArray, far: FloatArray) -> float:
    """Compute the share of entries with near < far, ties counted as one half; (m,), (m,) -> float."""
    return float(np.mean(np.where(near == far, 0.5, near < far)))
