"""Jitter tied values between their neighbours, and values that a limit cut off over their tail [theory 5].

Point masses count as modes. A tied value is spread over a triangle from its left neighbour to its right one, so that
the density is a line from value to value: it has the modes of the frequencies per step, and no flat parts, which are
the worst case of tests of unimodality. Many equal values at an end of a fine scale stand for what lies beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from energystats._core.converted_units import find_converted_units
from energystats._core.kept_results import keeping_results
from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "SAME",
    "Jittered",
    "PileAtEnd",
    "Reach",
    "Rounding",
    "find_reach",
    "has_ties",
    "jitter_places",
    "jitter_ties",
]


Reach = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

SAME = 4 * np.finfo(float).eps  # of the value: closer ones differ by the rounding of one number
OTHER_SIDE = 1.5  # times the gap to the other side
LARGEST_STEP = 3.0  # times the next gap outwards: 1/(k + 1) of counts has .5 and .167, a wider gap is a hole
COARSE = 0.25  # of the standard deviation: steps that are narrower on average change next to nothing

SAME_PLACE = 1e-14  # of the largest squared distance: smaller ones are rounding
SHARED_PLACES = 0.05  # share of points, beyond which all are jittered
WIDEST_JITTER = 0.6  # standard deviations of the points, in the mean of their dimensions

# values are heaped, as by rounding to two grids at once, where several, on a grid of their own, are
HEAP = 2  # times as frequent as their neighbours, and two points more
SMALLEST_HEAP = 5  # points
SEVERAL = 3  # values
TALL, TALL_HEAP = 4, 10  # times as frequent, and points, of which two values are enough
OFF_GRID = 1e-3  # of a grid step
HEAPED_SHARE = 0.1  # of all points, more than their neighbours have
# or where every second, fifth, tenth, ... value of a grid is more frequent than the values beside it lead to expect
STEPS = (4, 5, 10, 12, 15, 20, 25, 30, 50, 60, 100, 500, 1000)  # of minutes, months, cents as well
PREFERRED = {2: {1: 9 / 16, 3: -1 / 16}} | {s: {1: 4 / 6, 2: -1 / 6} for s in STEPS}  # cubic interpolation
# places from a heap to some that are none, and not beside one
BETWEEN_HEAPS = {2: {3}} | {s: {m for m in (s // 4, 3 * s // 8, s // 2) if m > 1} for s in STEPS}
PREFERRED_SHARE = 0.03  # of all points, more than expected
LONGEST_GRID = 200_000  # steps
CENTRAL, OCCUPIED = (0.05, 0.95), 0.35  # quantiles; share of the places between heaps that as many points would take
BEYOND_CHANCE, FAR_BEYOND, BY_CHANCE = 4.0, 6.0, 2.0  # standard deviations; two heaps are enough far beyond
WIDEST_OF_TWO = 1.5  # standard deviations of all values, which two such heaps are apart
SMALLEST_EXCESS = 1e-9  # points
COARSER = (2, 5, 10)  # times the step of a grid, of a coarser one
SMALLEST_FIRST = 5  # times the step of the finest grid, of the first coarser one that may have others
NESTED, BETWEEN_BLOCKS = 3, 0.8  # coarse grids; share of points in blocks that are heaps among blocks, at most

# a pile of equal values at an end is a limit, and not a value of a grid, where it is:
PILE = 3.0  # times as large as any value between the ends
PILE_SHARE = 0.05  # of all points at least
SMALLEST_PILE = 3  # points
# or where the scale has many values, and far more of them than of those next to it, which are no mode
MANY_VALUES, SMALL_PILE_SHARE = 20, 0.015
BESIDE, FEWEST_BESIDE, LOW = 0.05, 10, 0.7  # share and number of points next to it; of the largest density
FILLED = 10  # times as frequent as any other value between the ends
OTHER_VALUES = 7  # more than the scales of questionnaires have
REACH = 2.0  # widths of the tail, beyond which a pile stands apart
FENCE = 1.5  # interquartile ranges of the others, the same


@dataclass(frozen=True, slots=True)
class PileAtEnd:
    """Describe a pile of equal values at one end of a scale, as a limit of measurement makes."""

    value: float  # the smallest or the largest value
    count: int  # points that have it
    is_smallest: bool  # at which end it is
    apart: bool  # whether it is too far from the others to be their tail, so that it was left a mode of its own


@dataclass(frozen=True, slots=True)
class Rounding:
    """Describe how the values of a column were rounded before they were moved or scaled."""

    # to be added to values for the numbers that were rounded, up to a factor: z-scores near 0 have the rounding of
    # numbers that may lie far from it
    offset: float = 0.0
    digits: float = SAME  # of such a number: values that differ by less are one
    unit: float = 1.0  # that factor


@dataclass(frozen=True, slots=True, eq=False)
class JitteredPlaces:
    """Hold points with random noise added to all of them, and the number of those that coincided with others."""

    points: FloatArray  # (n, m) all of them, moved
    count: int  # points that shared a place with another one


@dataclass(frozen=True, slots=True, eq=False)
class Jittered:
    """Hold values with ties broken by random noise, and a description of the ties."""

    values: FloatArray  # (n,) in the order of the data; those that were not tied are as they were
    # step beside tied values (the mean of both sides), its median over the points; 0 where only piles were tied
    width: float
    coarse: bool  # whether steps are so wide that the jitter matters
    # whether some values between the ends are far more frequent than their neighbours, as of two grids at once
    heaped: bool
    limits: tuple[PileAtEnd, ...]  # piles at the ends
    # A value between the ends that is ten times as frequent as any other there, as one that was filled in for missing
    # values, and how many points have it
    filled: tuple[float, int] | None = None
    # step of the grid to which values were rounded before they were converted to another unit and rounded again, or the
    # function of whole numbers that was rounded; None where nothing looks like that
    converted: float | str | None = None

    @property
    def can_decide(self) -> bool:
        """Return whether breaking ties once more, with other random numbers, can lead to another answer of a test."""
        return self.coarse or self.converted is not None or any(not limit.apart for limit in self.limits)


def find_reach(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute how far each distinct value may move to the left and right to break ties; ascending (m,) -> (m,), (m,).

    To the neighbour, but at most three times as far as that one is from the next value outwards, or half as far again
    as to the other side, so that holes stay holes, and steps may change, as those of two significant digits at powers
    of ten; beyond the ends as far as inwards.
    """
    gaps = np.diff(values)
    after, before = np.append(gaps[1:], np.inf), np.append(np.inf, gaps[:-1])
    # of the left value of a gap the other side is the gap before, of the right value the gap after
    rightwards = np.minimum(gaps, np.maximum(LARGEST_STEP * after, OTHER_SIDE * np.append(0.0, gaps[:-1])))
    leftwards = np.minimum(gaps, np.maximum(LARGEST_STEP * before, OTHER_SIDE * np.append(gaps[1:], 0.0)))
    return np.append(rightwards[0], leftwards), np.append(rightwards, leftwards[-1])


def has_ties(x: FloatArray, rounding: Rounding) -> bool:
    """Return whether some but not all values are equal, rounding aside, so that there are ties to break."""
    return _find_blocks(x, rounding) is not None


def jitter_ties(
    x: FloatArray,
    rng: np.random.Generator,
    reach: Reach = find_reach,
    *,
    rounding: Rounding | None = None,
    spread_limits: bool = True,
    seek_units: bool = True,
) -> Jittered | None:
    """Spread ties at random between their neighbours; return values and a description, None if none or all are tied.

    `reach` finds how far ascending distinct values are jittered to the left and to the right; without `spread_limits`
    piles at the ends are jittered as other ties are. `rounding` says how the values were rounded, if not as doubles;
    with `seek_units` numbers that were rounded in two units are looked for.
    """
    rounding = rounding or Rounding()
    blocks = _find_blocks(x, rounding)
    if blocks is None:
        return None
    piles, first = _find_piles(blocks), None
    seek_units &= reach is find_reach  # ratios have no grid
    if seek_units and (drawn := _draw_first_numbers(x, blocks, piles, rounding, rng)):
        x, first = drawn
        blocks = _find_blocks(x, rounding)
        if blocks is None:
            return Jittered(x, 0.0, False, False, (), converted=first)
        piles = _find_piles(blocks)
    ends = piles if spread_limits else []
    order, ascending, block, counts, values = blocks
    uniforms = rng.random(x.size)
    # simple fractions are more frequent than others among ratios, whose reach allows for it
    preferred = _find_all_preferred(values, counts) if reach is find_reach else []
    heaped = bool(preferred) or _are_heaped(values, counts)
    # the others have the neighbours they would have if the pile were not there
    inner = np.setdiff1d(np.arange(counts.size), ends)
    widths, spread = _spread_over_triangles(ascending, block, counts, values, inner, uniforms, reach)
    for heaps, share, step in preferred:
        moved = heaps[block] & (rng.random(x.size) < share[block])
        spread[moved] = ascending[moved] + step * (rng.random(np.count_nonzero(moved)) - 0.5)
    limits = []
    for end in ends:
        own, others = block == end, np.sort(spread[np.isin(block, inner)])
        side = 1.0 if end == 0 else -1.0
        tail = _tail_width(side * values[end], counts[end], np.sort(side * others))
        limits.append(PileAtEnd(float(values[end]), int(counts[end]), end == 0, tail is None))
        if tail is not None:
            # a density that falls to 0 from that of the others at their edge
            edge = others[0] if end == 0 else others[-1]
            spread[own] = edge - side * tail * (1 - np.sqrt(1 - uniforms[own]))
    out = np.empty_like(x)
    out[order] = spread
    widths = widths[np.isin(block, inner)]
    tied = widths[widths > 0]
    coarse = bool(widths.mean() > COARSE * x.std())
    width = float(np.median(tied)) if tied.size else 0.0
    return Jittered(out, width, coarse, heaped, tuple(limits), _find_filled(values, counts), first)


def jitter_places(points: FloatArray, squared: FloatArray, rng: np.random.Generator) -> JitteredPlaces | None:
    """Add normal noise to points if many coincide, given squared distances; return them and a count, None if few do.

    Behind the distances may be columns on grids, in directions that distances do not show. A normal number in each
    direction, half as wide as the step, leaves no lines of the grid. For the step stands the distance to the m-th
    nearest place in m dimensions, because the nearest ones of a place can all be on its finer side; no number is wider
    than a share of the points' own spread, behind which clusters would disappear.
    """
    same = squared <= SAME_PLACE * squared.max()
    shares = np.count_nonzero(same, axis=1) > 1
    places = np.unique(same.argmax(axis=1))
    if shares.mean() <= SHARED_PLACES or len(places) < 2:
        return None
    nth = min(points.shape[1], len(places) - 1)
    steps = np.sqrt(np.partition(squared[:, places], nth, axis=1)[:, nth])
    widths = np.minimum(0.5 * steps, WIDEST_JITTER * np.sqrt(points.var(axis=0).mean()))
    moved = points + widths[:, None] * rng.standard_normal(points.shape)
    return JitteredPlaces(moved, int(np.count_nonzero(shares)))


class _EqualValues(NamedTuple):
    """Hold the order of points, their ascending values, the block of each, and counts and first values of blocks.

    Values that rounding alone separates are one block, and move together.
    """

    order: IntArray
    ascending: FloatArray
    block: IntArray
    counts: IntArray
    values: FloatArray


def _find_blocks(x: FloatArray, rounding: Rounding) -> _EqualValues | None:
    """Sort values and find blocks of those equal up to rounding; None without ties, or where all values are equal."""
    order = np.argsort(x, kind="stable")
    ascending = x[order]
    recorded = np.abs(ascending + rounding.offset)
    apart = np.diff(ascending) > rounding.digits * np.maximum(recorded[1:], recorded[:-1])
    if apart.all() or not apart.any():
        return None
    block = np.concatenate(([0], np.cumsum(apart)))
    return _EqualValues(order, ascending, block, np.bincount(block), ascending[np.append(0, np.flatnonzero(apart) + 1)])


def _find_piles(blocks: _EqualValues) -> list[int]:
    """Find which of the smallest and the largest value are far more frequent than others; return indices of blocks."""
    return [end for end in (0, blocks.counts.size - 1) if _is_pile(blocks.values, blocks.counts, end)]


def _draw_first_numbers(
    x: FloatArray, blocks: _EqualValues, piles: list[int], rounding: Rounding, rng: np.random.Generator
) -> tuple[FloatArray, float | str] | None:
    """Draw, for values rounded on two grids, numbers of the first; return them and its step or kind; None if not clear.

    Piles at the ends stay as they are. Shapes: (n,) -> (n,).
    """
    inner = np.setdiff1d(np.arange(blocks.counts.size), piles)
    recorded = (blocks.values[inner] + rounding.offset) * rounding.unit
    found = find_converted_units(recorded, blocks.counts[inner])
    if found is None:
        return None
    moved = np.isin(blocks.block, inner)
    out = x.copy()
    drawn = found.draw(np.searchsorted(inner, blocks.block[moved]), rng)
    out[blocks.order[moved]] = drawn / rounding.unit - rounding.offset
    return out, found.first if isinstance(found.first, str) else found.first / rounding.unit


def _spread_over_triangles(
    ascending: FloatArray,
    block: IntArray,
    counts: IntArray,
    values: FloatArray,
    inner: IntArray,
    uniforms: FloatArray,
    reach: Reach,
) -> tuple[FloatArray, FloatArray]:
    """Draw values in place of tied ones from triangles between neighbours; return widths and values, (n,) each."""
    left, right = reach(values)
    left[inner], right[inner] = reach(values[inner])
    left[counts == 1] = right[counts == 1] = 0.0
    left, right = left[block], right[block]
    base = left + right
    # quantiles of the triangle with its top at the value
    down, up = np.sqrt(uniforms * base * left), np.sqrt((1 - uniforms) * base * right)
    return base / 2, ascending + np.where(uniforms * base < left, down - left, right - up)


def _are_heaped(values: FloatArray, counts: IntArray) -> bool:
    """Return whether some values on a grid, such as multiples of 5, are far more frequent than their neighbours.

    Two are enough, on any grid, where they are four times as frequent.
    """
    beside = np.maximum(counts[:-2], counts[2:])
    tall = counts[1:-1] >= np.maximum(TALL_HEAP, TALL * beside + 2)
    of_tall = int((counts[1:-1] - beside)[tall].sum())
    if np.count_nonzero(tall) > 1 and counts.size > OTHER_VALUES + 2 and of_tall >= HEAPED_SHARE * counts.sum():
        return True
    excess = np.where(counts[1:-1] >= np.maximum(SMALLEST_HEAP, HEAP * beside + 2), counts[1:-1] - beside, 0)
    if np.count_nonzero(excess) < SEVERAL or excess.sum() < HEAPED_SHARE * counts.sum():
        return False
    # chance makes small heaps anywhere
    heaps = 3 * excess >= excess.max()
    if np.count_nonzero(heaps) < SEVERAL:
        return False
    steps = np.diff(values[1:-1][heaps])
    steps /= steps.min()
    return bool(np.all(np.abs(steps - np.round(steps)) <= OFF_GRID))


@keeping_results
def _find_all_preferred(values: FloatArray, counts: IntArray) -> list[tuple[BoolArray, FloatArray, float]]:
    """Find all values on a grid that people prefer when they round, such as fives and then tens.

    Each of the list is what `_find_preferred` returns, for all values: in a block that is a heap all of them are.
    """
    found: list[tuple[BoolArray, FloatArray, float]] = []
    blocks, of_block, centres = np.arange(values.size), counts, values
    while len(found) < NESTED and len(centres) >= SEVERAL:
        if (one := _find_preferred(centres, of_block)) is None:
            break
        heaps, share, step = one
        times = round(step / float(np.diff(centres).min()))
        # clusters, or by chance: a coarser grid is twice, five or ten times as coarse, and has points between
        if found and (times not in COARSER or of_block[heaps].sum() > BETWEEN_BLOCKS * counts.sum()):
            break
        found.append((heaps[blocks], share[blocks], step))
        if len(found) == 1 and times < SMALLEST_FIRST:  # halves and quarters come from clusters, too
            break
        first = centres[heaps][0]
        places = np.floor((centres - first) / step + 0.5 + OFF_GRID).astype(np.intp)
        taken, inner = np.unique(places, return_inverse=True)
        blocks, centres = inner[blocks], first + step * taken
        of_block = np.bincount(inner, weights=of_block).astype(np.intp)
    return found


def _find_preferred(values: FloatArray, counts: IntArray) -> tuple[BoolArray, FloatArray, float] | None:
    """Find whether every second, fifth, tenth, ... value of a grid is more frequent than those beside it suggest.

    So do numbers that some people round to halves, fives, tens, quarters of an hour or whole units. The frequencies of
    a smooth density beside a value give its own by cubic interpolation; heaps are several in a row and of one size, the
    mode of counts is one. They stand on a smooth density: between narrow clusters there are fewer points than beside
    each. Returns which values are heaps, the share of the points of each that is too many, and the step; or None.
    """
    unit = float(np.diff(values).min())
    places = (values - values[0]) / unit
    if not places[-1] <= LONGEST_GRID or np.abs(places - np.round(places)).max() > OFF_GRID:
        return None
    whole = np.round(places).astype(np.intp)
    on_grid = np.bincount(whole, weights=counts).astype(np.float64)
    spread = float(np.sqrt(np.cov(values, fweights=counts)))
    best, found = BEYOND_CHANCE, None
    for step, weights in PREFERRED.items():
        between = BETWEEN_HEAPS[step]
        far = max(*between, *weights)
        at = np.arange(far, on_grid.size - far)
        if at.size <= step:
            continue
        # where few places between have all the points on one side, steps of the grid are wider, as of numbers with two
        # significant digits beyond a power of ten
        half = max(1, (step - 1) // 2)
        inside = _are_places_filled(on_grid, at, half) & _are_places_filled(on_grid, at + half + 1, half)
        here = np.where(inside, on_grid[at], 0.0)
        beside = {j: np.where(inside, on_grid[at - j] + on_grid[at + j], 0.0) for j in (1, *between, *weights)}
        excess = here - sum(weight * beside[j] for j, weight in weights.items())
        variance = here + sum(weight**2 * beside[j] for j, weight in weights.items())
        # places that are so many steps apart stand in one column
        own = _in_columns(excess, step)
        points, surplus, chance, next_to, *others = (
            _in_columns(each, step).sum(axis=0)
            for each in (here, excess, variance, beside[1], *(beside[j] for j in between))
        )
        n_heaps = np.count_nonzero(3 * own >= np.maximum(own.max(axis=0), SMALLEST_EXCESS), axis=0)
        beyond = surplus / np.sqrt(np.maximum(chance, 1.0))
        two = (beyond > FAR_BEYOND) & (2 * points < counts.sum()) & (step * unit <= WIDEST_OF_TWO * spread)
        enough = (points >= surplus) & (surplus > PREFERRED_SHARE * counts.sum())
        enough &= n_heaps >= np.where(two, 2, SEVERAL)
        for other in others:
            enough &= next_to - 2 * other <= BY_CHANCE * np.sqrt(next_to + 4 * other)
        beyond[~enough] = 0.0
        first = int(beyond.argmax())
        heaps = (whole - at[first]) % step == 0
        seen = heaps & (whole >= far) & (whole < on_grid.size - far)
        heaps[seen] = inside[whole[seen] - far]
        seen &= heaps
        if beyond[first] > best and _is_filled(whole, counts, heaps, step):
            share = np.full(whole.size, min(surplus[first] / points[first], 1.0))
            share[seen] = np.maximum(excess[whole[seen] - far], 0.0) / on_grid[whole[seen]]
            best, found = float(beyond[first]), (heaps, np.minimum(share, 1.0), step * unit)
    return found


def _are_places_filled(on_grid: FloatArray, at: IntArray, width: int) -> BoolArray:
    """Return whether, before each given grid value, about as many values occur as by chance; (m,).

    `width` places before each place in `at` are looked at; a share of .35 of those that random points would take is
    enough.
    """
    taken, upto = (np.concatenate(([0.0], np.cumsum(each))) for each in (on_grid > 0, on_grid))
    places, points = taken[at] - taken[at - width], upto[at] - upto[at - width]
    return np.asarray((places > 0) & (places >= -OCCUPIED * width * np.expm1(-points / width)))


def _is_filled(whole: IntArray, counts: IntArray, heaps: BoolArray, step: int) -> bool:
    """Return whether values between those that people prefer fill their grid, as values do that were rounded once.

    Squares of counts, or whole degrees Fahrenheit in Celsius, leave most places of their grid empty, and have no heaps.
    `whole` are the places of the values, ascending; heaps are `step` places apart.
    """
    n = np.cumsum(counts)
    low, high = (int(whole[np.searchsorted(n, share * n[-1])]) for share in CENTRAL)
    others = ~heaps & (whole >= low) & (whole <= high)
    room = (high - low + 1) * (1 - 1 / step)
    expected = -room * np.expm1(-counts[others].sum() / room)
    return bool(np.count_nonzero(others) >= OCCUPIED * expected)


def _in_columns(values: FloatArray, step: int) -> FloatArray:
    """Reshape values into rows of length `step`, filled up with zeros; (m,) -> (ceil(m / step), step)."""
    return np.append(values, np.zeros(-values.size % step)).reshape(-1, step)


def _find_filled(values: FloatArray, counts: IntArray) -> tuple[float, int] | None:
    """Find a value between the ends that is far more frequent than all others there; return it and its count.

    None without one.
    """
    between = counts[1:-1]
    if between.size <= OTHER_VALUES:
        return None
    second, most = np.sort(between)[-2:]
    if most < max(SMALLEST_HEAP, PILE_SHARE * counts.sum(), FILLED * second):
        return None
    return float(values[1 + between.argmax()]), int(most)


def _is_pile(values: FloatArray, counts: IntArray, end: int) -> bool:
    """Return whether the value at one end of a scale is far more frequent than the values next to it.

    Than any value between the two, or, on a scale of many values whose mode is elsewhere, than the points next to it.
    """
    between, count = counts[1:-1], int(counts[end])
    if between.size < OTHER_VALUES:
        return False
    if count >= max(SMALLEST_PILE, PILE_SHARE * counts.sum(), PILE * between.max()):
        return True
    if between.size < MANY_VALUES or count < max(SMALLEST_HEAP, SMALL_PILE_SHARE * counts.sum()):
        return False
    side = 1 if end == 0 else -1
    others = np.repeat(values, counts)[::side][count:] * side
    m = max(FEWEST_BESIDE, int(np.ceil(BESIDE * others.size)))
    edge, step = side * float(values[end]), float(np.median(np.diff(values)))
    if m >= others.size or not others[m - 1] > edge:
        return False
    beside = m / (others[m - 1] - edge)
    densest = m / (float((others[m:] - others[:-m]).min()) + step)
    expected = beside * (others[0] - edge)
    return bool(count >= PILE * expected + FAR_BEYOND * np.sqrt(expected) and beside <= LOW * densest)


def _tail_width(pile: float, count: int, others: FloatArray) -> float | None:
    """Compute the width of a triangular tail to spread values tied at an end; None if the others are too far.

    `others` are above the pile, ascending; the tail begins with their density at the edge.
    """
    first = min(others.size - 1, max(5, int(np.ceil(np.sqrt(others.size)))))
    width = 2 * count * float(others[first] - others[0]) / first
    # few values at the edge make a wide tail, however far away: a limit leaves no gap beyond Tukey's fence
    fence = FENCE * float(np.subtract(*np.quantile(others, (0.75, 0.25))))
    return width if 0 < others[0] - pile <= min(REACH * width, fence) else None
