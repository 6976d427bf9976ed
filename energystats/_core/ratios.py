"""Find columns of ratios k/N of small whole numbers whose denominators differ [theory 5].

Such values are on many grids at once: 0, 1/2 and 1/3 come from many denominators and 3/7 from few, so that one smooth
population has as many modes as there are small denominators.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import exp10, expit, logit

from energystats._typing import FloatArray, IntArray

__all__ = ["Ratios", "find_ratios"]


Function = Callable[[FloatArray], FloatArray]

LARGEST_DENOMINATOR, LARGEST_OF_ALL_DIGITS = 40, 120
ALL_DIGITS = 1e-3  # of the distance between ratios with these denominators
FIRST_ONES = 60  # values that are read before all others
FEWEST_DENOMINATORS = 8  # that have to be distinguished, or a few digits of any numbers would do
BY_CHANCE = 0.05  # share of all numbers that are as near to such a ratio, or more where many values are
UNLIKELY = 1e-6  # that all values are by chance
OFTEN = 4  # points for each value, where many have to be: few digits alone repeat less
GRID_STEPS = 60  # of a unit: minutes, and months, quarters and tenths among them
OF_SEVERAL = (6, *range(11, GRID_STEPS + 1))  # least common multiples of several denominators, decimals aside
AT_ONCE = 20_000  # numbers that are compared with grids
FILLED = 0.7  # of the steps of such a grid are there, or ratios leave gaps
SOME_RATIOS = 0.7  # of the first ones
RATIOS_AT_LEAST = 0.95  # of the values that are not whole
FEWEST_VALUES = 5  # different fractions
NOT_RECIPROCALS = 0.1  # of the fractions have numerators above 1, or they are 1/k of counts, on one grid before that
NOT_OF_FIVES = 0.1  # of whole per cent, which are thirds, sixths, sevenths and ninths
UNITS = (1000.0, 100.0, 1.0)  # per mille; per cent; shares and means
LOW_ODDS = 0.5  # ratios of two counts are below it, around 1, and above its reciprocal
APART = 0.6  # widths between neighbours, at most, or something else than denominators makes the steps
WIDTH = 1.5  # steps of the median denominator: .05 of samples with N = 1 to 39 are rejected with 1, .02 with 1.5
ARITHMETIC = 1e-12  # of the largest value
DECIMALS = 10


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Hold a scale on which ratios are recorded, with its inverse and the ratios that it takes."""

    do: Function
    undo: Function
    low: float
    high: float
    takes: tuple[float, float] = (-math.inf, math.inf)  # values


def _to_odds(u: FloatArray) -> FloatArray:
    """Convert shares u to odds u/(1 - u)."""
    return u / (1 - u)


def _to_share(x: FloatArray) -> FloatArray:
    """Convert odds x to shares x/(1 + x)."""
    return x / (1 + x)


SCALES = (
    _Recorded(lambda u: u, lambda x: x, -math.inf, math.inf),
    _Recorded(np.sqrt, np.square, 0.0, math.inf, (0.0, math.inf)),
    _Recorded(lambda u: np.arcsin(np.sqrt(u)), lambda x: np.square(np.sin(x)), 0.0, 1.0, (0.0, math.pi / 2)),
    _Recorded(np.log, np.exp, 0.0, math.inf, (-math.inf, 20.0)),
    _Recorded(np.log2, np.exp2, 0.0, math.inf, (-math.inf, 29.0)),
    _Recorded(np.log10, exp10, 0.0, math.inf, (-math.inf, 9.0)),
    _Recorded(logit, expit, 0.0, 1.0, (-20.0, 20.0)),
)


MAPS: tuple[Function, ...] = (  # undo functions of counts that are ratios with other denominators for other counts
    lambda u: u,
    lambda u: 1 / u,
    _to_share,  # of odds k/(N - k)
    _to_odds,  # of shares k/(k + c) of counts
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Describe a column of ratios."""

    scale: _Recorded  # what was recorded of them
    # how far equal ratios are to be spread to either side, before the scale: 1.5 over the median denominator, as far as
    # denominators are seen (2/4 is 1/2), in the unit of the ratios
    width: float

    def reach(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute how far tied ratios of counts may be moved to the left and right to break ties; (m,) -> (m,), (m,).

        Where the scale ends, as far as to the other side.
        """
        ratios = self.scale.undo(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = values - self.scale.do(np.maximum(ratios - self.width, self.scale.low))
            right = self.scale.do(np.minimum(ratios + self.width, self.scale.high)) - values
        ends_left = ~np.isfinite(left) | (ratios - self.width < self.scale.low)
        ends_right = ~np.isfinite(right) | (ratios + self.width > self.scale.high)
        both = ends_left & ends_right
        mirrored = np.where(ends_left & ~both, right, left), np.where(ends_right & ~both, left, right)
        finite = [np.where(np.isfinite(side), side, 0.0) for side in mirrored]
        return finite[0], finite[1]


def find_ratios(x: FloatArray) -> Ratios | None:
    """Describe a column that holds ratios of small whole numbers with different denominators; else None; O(n log n)."""
    values, counts = np.unique(x, return_counts=True)
    rounding = ARITHMETIC * float(np.abs(values).max(initial=0.0))
    if values.size < FEWEST_VALUES:
        return None
    if np.abs(values - np.rint(values)).max() <= rounding:
        return _find_whole_per_cent(np.rint(values), counts)
    half = max(rounding, _half_of_last_digit(values, rounding))
    # numbers that were transformed, or in other units, are near to many ratios with large denominators: those come last
    for scale, largest in (*((scale, LARGEST_DENOMINATOR) for scale in SCALES), (SCALES[0], LARGEST_OF_ALL_DIGITS)):
        if not scale.takes[0] <= values[0] <= values[-1] <= scale.takes[1]:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            ratios = scale.undo(values)
            error = max(half, float(np.abs(scale.undo(values + half) - scale.undo(values - half)).max()) / 2)
        if not (np.isfinite(ratios).all() and math.isfinite(error)):
            continue
        # as they are, or with a constant added that a ratio of 0 shows, as before logarithms and after centring; or in
        # any unit that ratios of 0 and 1 show, as z-scores
        known = itertools.product((0.0, float(ratios[0])), UNITS, (True,))
        by_range = [(float(ratios[0]), float(ratios[-1] - ratios[0]), False)] if scale is SCALES[0] else []
        for offset, unit, is_known in (*known, *by_range):
            found = _read_denominators((ratios - offset) / unit, counts, error / unit, largest)
            if found is None or (not is_known and _divide_one_number(found, GRID_STEPS)):
                continue
            if found.size == 0 or _are_of_one_count(values, counts, half, unit):
                return None
            if offset == 0 and unit == 1 and (of_shares := _read_shares(ratios, counts, error)):
                return Ratios(_of_odds(scale), of_shares)
            width = float(WIDTH * unit / np.median(found))
            # farther apart they are multiples of something larger, which have few fractional parts by chance
            if np.median(np.diff(np.unique(ratios))) <= APART * width:
                return Ratios(scale, width)
    return None


def _divide_one_number(denominators: IntArray, most: int) -> bool:
    """Return whether nearly all denominators divide one number, as those of whole numbers over their range do."""
    known, counts = np.unique(denominators, return_counts=True)
    dividing = (np.arange(1, most + 1)[:, None] % known == 0) @ counts
    return bool(dividing.max() >= RATIOS_AT_LEAST * counts.sum())


def _read_shares(ratios: FloatArray, counts: IntArray, error: float) -> float:
    """Return how far to spread tied ratios a/b of two counts, as shares a/(a + b); 0 for other ratios.

    Ratios of two counts are far apart where they are large. They are on both sides of 1, or a half was added to both
    counts: shares (a + 1/2)/(a + b + 1) have even denominators.
    """
    low, high = LOW_ODDS, 1 / LOW_ODDS
    on_both_sides = ratios.min() < low <= np.median(np.repeat(ratios, counts)) <= high < ratios.max()
    if not ratios.min() > 0:
        return 0.0
    found = _read_denominators(_to_share(ratios), counts, error)
    if found is None or not found.size or not (on_both_sides or (found % 2 == 0).all()):
        return 0.0
    return float(WIDTH / np.median(found))


def _of_odds(scale: _Recorded) -> _Recorded:
    """Return a scale of shares for ratios that are odds, recorded on a given scale such as a logarithm."""
    return _Recorded(lambda u: scale.do(_to_odds(u)), lambda x: _to_share(scale.undo(x)), 0.0, 1.0)


def _are_of_one_count(values: FloatArray, counts: IntArray, half: float, unit: float) -> bool:
    """Return whether values are a function of shares k/N with one common N, such as their odds or logarithms.

    They are ratios with different denominators then, and yet on one grid before that. `half` is their error.
    """
    for scale, undo in itertools.product(SCALES, MAPS):
        if not scale.takes[0] <= values[0] <= values[-1] <= scale.takes[1]:
            continue
        with np.errstate(all="ignore"):
            u, low, high = (undo(scale.undo(x) / unit) for x in (values, values - half, values + half))
            error = max(half / unit, float(np.abs(high - low).max()) / 2)
        if not (np.isfinite(u).all() and math.isfinite(error)):
            continue
        for offset in (0.0, u[0]):
            N = _find_grid(u - offset, counts, error)
            # a map that brings all values near to one place is no sign
            if N and np.unique(np.rint((u - offset) * N)).size >= RATIOS_AT_LEAST * values.size:
                return True
    return False


def _find_whole_per_cent(values: FloatArray, counts: IntArray) -> Ratios | None:
    """Describe whole numbers from 0 to 100 as ratios if they are rounded percentages of small counts; None if not."""
    if values[0] < 0 or values[-1] > 100 or counts[values % 5 != 0].sum() < NOT_OF_FIVES * counts.sum():
        return None
    found = _read_denominators(values / 100, counts, 0.005 + ARITHMETIC)
    return None if found is None or found.size == 0 else Ratios(SCALES[0], float(100 * WIDTH / np.median(found)))


def _find_grid(ratios: FloatArray, counts: IntArray, error: float) -> int:
    """Find N up to 60 with nearly all points on multiples of 1/N and few of these empty; 0 if there is none."""
    grids = np.arange(1, GRID_STEPS + 1)
    grids = grids[4 * grids * error <= 1]  # half of all numbers are, or more
    at_once = max(1, AT_ONCE // ratios.size)
    for first in range(0, grids.size, at_once):
        some = grids[first : first + at_once, None]
        multiples = ratios * some
        near = np.abs(multiples - np.rint(multiples)) <= some * error
        fits = (near @ counts >= RATIOS_AT_LEAST * counts.sum()) & (near.mean(axis=1) >= RATIOS_AT_LEAST)
        if fits.any():
            j = int(fits.argmax())
            N = int(some[j, 0])
            parts = np.unique(np.rint(multiples[j, near[j]]) % N).size
            steps = min(N, N * float(np.ptp(ratios)) + 1)  # that parts of units can be
            drawn = steps * -math.expm1(-counts.sum() / steps)  # of as many points, were all equally frequent
            return N if N not in OF_SEVERAL or parts > FILLED * drawn else 0
    return 0


def _read_denominators(
    ratios: FloatArray, counts: IntArray, error: float, largest: int = LARGEST_DENOMINATOR
) -> IntArray | None:
    """Find the denominator of each point's ratio if above 1; empty for one common grid or 1/k, None if not ratios.

    Shapes: (m,) ratios and counts -> (points,). Denominators up to `largest`.
    """
    if _find_grid(ratios, counts, error):
        return np.zeros(0, dtype=np.intp)
    # of all numbers, 3 Q^2/pi^2 intervals of twice the error hold this share
    fractional = np.count_nonzero(np.abs(ratios - np.rint(ratios)) > error)
    if fractional < FEWEST_VALUES:
        return None
    by_chance = BY_CHANCE
    if counts.sum() >= OFTEN * counts.size:
        by_chance = max(by_chance, UNLIKELY ** (1 / fractional))
    if largest > LARGEST_DENOMINATOR and error * largest**2 >= ALL_DIGITS:
        return None
    most = int(min(largest, math.pi * math.sqrt(by_chance / max(6 * error, ARITHMETIC))))
    if most < FEWEST_DENOMINATORS:
        return None
    some = ratios[:: -(-ratios.size // FIRST_ONES)]
    multiples = np.multiply.outer(np.arange(1, most + 1), some)
    near_some = (np.abs(multiples - np.rint(multiples)) <= np.arange(1, most + 1)[:, None] * error).any(axis=0)
    if near_some.mean() < SOME_RATIOS:
        return None
    found = np.zeros(ratios.size, dtype=np.intp)
    for q in range(1, most + 1):
        near = np.abs(ratios * q - np.rint(ratios * q)) <= q * error
        found[near & (found == 0)] = q
    whole, fractions = found == 1, found > 1
    if counts[fractions].sum() < RATIOS_AT_LEAST * counts[~whole].sum() or np.count_nonzero(fractions) < FEWEST_VALUES:
        return None
    if found.max() > GRID_STEPS and _divide_one_number(found[fractions], LARGEST_OF_ALL_DIGITS):
        return np.zeros(0, dtype=np.intp)
    parts, numerators = np.unique(found[fractions]), np.abs(np.rint(ratios * found))[fractions]
    if parts.size < 2 or counts[fractions][numerators > 1].sum() < NOT_RECIPROCALS * counts[fractions].sum():
        return np.zeros(0, dtype=np.intp)
    return np.repeat(found[fractions], counts[fractions])


def _half_of_last_digit(values: FloatArray, rounding: float) -> float:
    """Return half of the last decimal to which all values were recorded; 0 for more than ten decimals."""
    for decimals in range(DECIMALS + 1):
        if np.abs(values - np.round(values, decimals)).max() <= rounding:
            return 0.5 * 10.0**-decimals
    return 0.0
