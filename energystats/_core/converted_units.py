"""Find numbers that were rounded twice, as before and after a conversion to another unit or a logarithm [theory 5].

A place of the second grid then stands for one number of the first or for two, as whole degrees Celsius do for whole
degrees Fahrenheit; or some places are empty, as the other way round. Such frequencies have many modes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from energystats._core.kept_results import keeping_results
from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = ["ConvertedUnits", "find_converted_units"]


OFF_GRID = 1e-3  # of a grid step
FEWEST_VALUES, LONGEST_GRID = 9, 300  # on a finer grid the waves are too narrow to change a test
POINTS_PER_PLACE = 3.0
DEGREE, FITS = 4, 25  # of the logarithm of a density, from which local averages depart; steps of its fit
WIDTH = 2.0  # places, or steps of the first grid if wider, in the standard deviation of the weights of neighbours
BEATS, FEWEST_FREE = 3.0, 12  # of the two grids at least in all places, and values, for a ratio that is not known
PADDED = 8  # times as many frequencies as places
# peaks of the spectrum that are tried, and what the highest has, beyond the logarithm of how many there may be, in
# squares of deviations
PEAKS, CLEAR_PEAK = 6, 2.5
SOME_POWER = 3.0  # near a frequency, for a known ratio to be tried
MOST_PER_PLACE, FEWEST_PER_PLACE = 6.0, 0.3  # numbers of the first grid
FREQUENCIES, PHASES = 9, 16  # tried beside each peak; of the first grid against the second
KEPT, REFINED = 12, 3  # of the best models, beside which others are tried with half the steps, so many times
# parts of units, of which some lie between two decimals and are rounded to the even one
PARTS = (0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0)
# first units in a second one, or the other way round, up to powers of ten: degrees Fahrenheit and pounds; inches, feet,
# miles, knots; ounces; gallons; millimetres of mercury; calories; km/h; months, weeks, hours and minutes, days of a
# year; glucose, cholesterol, triglycerides, creatinine, bilirubin, urate and urea in mg/dl, and nitrogen of urea;
# glycated haemoglobin in per cent, square feet
UNITS = (
    1.8, 2.2046226, 2.54, 3.2808399, 1.609344, 1.852, 2.8349523, 3.7854118, 4.54609, 7.5006158, 4.184, 3.6,
    1.2, 7.0, 2.4, 6.0, 3.6525, 1.8016, 3.867, 8.857, 8.842, 1.7104, 5.948, 6.006, 2.801,
    1.0929, 1.0763910,
)  # fmt: skip
HALFWAY = 1e-9
HEAPS = (1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)  # times as frequent as others
STRAY = 0.01  # share of points at most on places that have no number
NONE = 0.01  # numbers of a place that has none, while models are compared
CLEARLY = 3.0  # gain in log-likelihood against heaps
AT_ENDS, LOST = 0.12, 0.5  # of the gain, at most: on the two places at both ends, and by places that lose
LEFT = 1.5  # deviance that may be left per place
CHUNK = 2_000_000  # numbers of models at once


@dataclass(frozen=True, slots=True, eq=False)
class ConvertedUnits:
    """Hold the numbers of a first grid behind values that were rounded again after a conversion."""

    # step of the first grid, in the unit of the values, or what the numbers were: "logarithms of whole numbers"
    first: float | str
    starts: IntArray  # (m + 1,) where the numbers that belong to each of m values begin, and where the last ones end
    numbers: FloatArray  # of the first grid, in the unit of the values, ascending
    shares: FloatArray  # of the points of a value, that belong to each of its numbers, cumulative within the value

    def draw(self, which: IntArray, rng: np.random.Generator) -> FloatArray:
        """Draw for each point one of the numbers of the first grid behind its recorded value; (n,) -> (n,).

        `which` has the index of the value of each point.
        """
        upto = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts)) + self.shares
        drawn = np.searchsorted(upto, which + rng.random(which.size))
        return self.numbers[np.clip(drawn, self.starts[which], self.starts[which + 1] - 1)]


@dataclass(frozen=True, slots=True, eq=False)
class _Models:
    """Hold ratios and phases of two grids: numbers (k + phase) / ratio, of whole k, are rounded to whole places."""

    # ratio, phase: (models,) numbers of the first grid per place, and where they begin
    ratio: FloatArray
    phase: FloatArray
    # (models,) numbers halfway between places: 0 or 1 if they go to the even place, where places are counted from 0 or
    # 1; -1 if they go to the larger one
    odd: IntArray

    def __getitem__(self, which: IntArray) -> _Models:
        return _Models(self.ratio[which], self.phase[which], self.odd[which])

    def join(self, other: _Models) -> _Models:
        """Append other models of two grids to these, and return all of them as one list."""
        return _Models(
            np.append(self.ratio, other.ratio), np.append(self.phase, other.phase), np.append(self.odd, other.odd)
        )

    def first_numbers(self, m: int) -> FloatArray:
        """Compute the index of the first number rounded to each of m grid values, and to the next; (models, m + 1)."""
        at = np.multiply.outer(self.ratio, np.arange(m + 1) - 0.5) - self.phase[:, None]
        halfway = (np.abs(at - np.rint(at)) < HALFWAY) & (self.odd >= 0)[:, None]
        goes_before = halfway & ((np.arange(m + 1) + self.odd[:, None]) % 2 == 1)
        return np.asarray(np.where(halfway, np.rint(at) + goes_before, np.ceil(at)))


class _Bounds(NamedTuple):
    """Hold what a fit must reach to be believed."""

    gain: float  # in log-likelihood, against one number per place
    # in_each_half, of_one_place: shares of the gain, at least and at most
    in_each_half: float
    of_one_place: float
    left: float  # deviance that may be left for each unit of gain, or something else makes the modes


FREE, KNOWN, FUNCTION = _Bounds(18.0, 0.15, 0.52, 0.5), _Bounds(10.0, 0.0, 0.8, 0.75), _Bounds(8.0, -0.1, 0.8, 0.75)


@dataclass(frozen=True, slots=True)
class _Function:
    """Hold a rising or falling function of whole numbers, whose values were rounded."""

    name: str  # of the values, in words
    # do, undo: the function of positive numbers, and its inverse
    do: Callable[[FloatArray], FloatArray]
    undo: Callable[[FloatArray], FloatArray]
    is_reciprocal: bool = False  # of which other numerators are functions of decimals


@dataclass(frozen=True, slots=True, eq=False)
class _FittedGrid:
    """Hold numbers of a first grid that were fitted to frequencies."""

    first: float | str  # their step in places, or what they were
    numbers: FloatArray  # the numbers, in places, ascending
    per_place: FloatArray  # (m,) how many of them are rounded to each place
    log_likelihood: float  # up to a constant of the frequencies
    bounds: _Bounds  # what it must reach

    def with_places(self, stray: IntArray) -> _FittedGrid:
        """Return the fit with some of the recorded values added to the numbers of its first grid, one number each."""
        per_place = self.per_place.copy()
        per_place[stray] = 1
        return replace(self, numbers=np.sort(np.append(self.numbers, stray)), per_place=per_place)

    @property
    def width(self) -> float:
        """Return the width, in grid steps, of the weights of neighbours in local averages under this fit."""
        return float(_widths_of(self.per_place.mean()))


FUNCTIONS = (
    _Function("logarithms of whole numbers", np.log, np.exp),
    _Function("logarithms of whole numbers to base 2", np.log2, np.exp2),
    _Function("logarithms of whole numbers to base 10", np.log10, lambda x: 10.0**x),
    _Function("roots of whole numbers", np.sqrt, np.square),
    *(
        _Function(f"{c:,} divided by whole numbers", partial(np.divide, c), partial(np.divide, c), is_reciprocal=True)
        for c in (1, 10, 60, 100, 600, 1000, 3600, 10_000, 60_000)
    ),
)
DECIMALS = (1, 10, 100)  # parts of a unit to which numbers were rounded before a logarithm or root
MOST_NUMBERS, FARTHEST = 20_000, 1e15  # numbers of a function, and the largest of them


@dataclass(frozen=True, slots=True, eq=False)
class _Frequencies:
    """Hold frequencies on a grid, with a smooth density from which local averages depart."""

    points: FloatArray  # (m,) how many are on each place
    density: FloatArray  # (m,) A fitted one whose logarithm is a polynomial, up to a factor

    @classmethod
    def of(cls, points: FloatArray) -> _Frequencies:
        """Fit a density with a polynomial logarithm to counts on a grid by Newton's method, and return both.

        Counts are taken as Poisson.
        """
        m = points.size
        basis = np.polynomial.legendre.legvander(np.linspace(-1, 1, m), DEGREE)
        weights = np.linalg.lstsq(basis, np.log(points + 0.5), rcond=None)[0]
        best, reached = np.ones(m), -np.inf
        for _ in range(FITS):
            density = np.exp(np.clip(basis @ weights, -30, 30))
            fit = float(points @ np.log(density) - density.sum())
            if not fit > reached + OFF_GRID:
                break
            best, reached = density, fit
            slope = basis.T @ (points - density)
            weights = weights + np.linalg.lstsq(basis.T @ (density[:, None] * basis), slope, rcond=1e-10)[0]
        return cls(points, np.maximum(best, OFF_GRID * best.max()))

    def expect(self, numbers: FloatArray, width: float) -> tuple[FloatArray, BoolArray]:
        """Compute expected counts under each model from neighbouring counts, and where neighbours have any points.

        The place itself is left out. Shapes: (models, m) -> (models, m), (m,).
        """
        beside = _weigh_neighbours(self.points, width)
        expected = numbers * self.density * beside / _weigh_neighbours(numbers * self.density, width)
        return expected, beside >= 1.0  # a point far from all others says nothing about its place

    def log_terms(self, numbers: FloatArray, width: float) -> FloatArray:
        """Compute each grid value's term of a Poisson log-likelihood, up to a constant; (models, m) -> (models, m)."""
        expected, seen = self.expect(numbers, width)
        taken = seen & (self.points > 0)
        out = np.zeros(expected.shape)
        out[:, seen] = -expected[:, seen]
        out[:, taken] += np.log(expected[:, taken]) * self.points[taken]
        return out


@keeping_results
def find_converted_units(values: FloatArray, counts: IntArray) -> ConvertedUnits | None:
    """Find the numbers behind values that were rounded on two grids, such as two units; None if it is not clear.

    `values` are distinct and ascending, as they were recorded, `counts` are their points; (m,), (m,). Each place of the
    second grid holds as many numbers of the first as follow from the ratio of the steps and the phase, or from the
    function that was taken before rounding. A log-likelihood of Poisson counts, whose means are so many times a local
    average, is to gain against one number per place, to leave little, and to be larger than that of heaps on every
    second, third, ... place.
    """
    found = _find_places(values, counts) if values.size >= FEWEST_VALUES else None
    if found is None:
        return None
    unit, places = found
    frequencies = _Frequencies.of(np.bincount(places, weights=counts).astype(np.float64))
    power = _find_spectrum(frequencies)
    peaks = _find_peaks(power, places[-1] + 1)
    fits = [*_fit_known(frequencies, power), *_fit_functions(frequencies, values[0], unit)]
    if peaks.size and values.size >= FEWEST_FREE:
        fits.append(_fit_free(frequencies, peaks))
    if not fits:
        return None
    best = max(fits, key=lambda fit: fit.log_likelihood - fit.bounds.gain)
    stray = np.flatnonzero((best.per_place == 0) & (frequencies.points > 0))
    strays = float(frequencies.points[stray].sum())
    if strays > STRAY * frequencies.points.sum() or not _is_convincing(frequencies, best, peaks):
        return None
    numbers, starts, shares = _share_points(frequencies.points, places, best.with_places(stray))
    first = best.first if isinstance(best.first, str) else unit * best.first
    return ConvertedUnits(first, starts, values[0] + unit * numbers, shares)


def _find_places(values: FloatArray, counts: IntArray) -> tuple[float, IntArray] | None:
    """Find the step of a grid that ascending values lie on, and their indices on it; None if on no grid or a fine one.

    The step is the smallest gap, or the smallest difference of two gaps, as of places that are two and three apart.
    """
    gaps = np.unique(np.diff(values))
    more = np.diff(gaps)
    more = np.sort(more[more > OFF_GRID * gaps[0]])
    longest = min(LONGEST_GRID, float(counts.sum()) / POINTS_PER_PLACE)
    for unit in (gaps[0], *more[:1]):
        places = (values - values[0]) / unit
        whole = np.rint(places)
        if 0 < whole[-1] < longest and np.abs(places - whole).max() <= OFF_GRID:
            return float((values[-1] - values[0]) / whole[-1]), whole.astype(np.intp)
    return None


def _widths_of(ratios: FloatArray) -> FloatArray:
    """Return the widths of local averages of counts, in grid steps, for ratios of two grid steps; (r,) -> (r,)."""
    return np.asarray(WIDTH * np.maximum(1.0, np.ceil(1 / ratios)))


def _weigh_neighbours(rows: FloatArray, width: float) -> FloatArray:
    """Compute normal-weighted sums over the neighbours of each grid value, itself left out; (..., m) -> (..., m)."""
    out = np.zeros_like(rows)
    for lag in range(1, min(math.ceil(3 * width), rows.shape[-1] - 1) + 1):
        weight = math.exp(-0.5 * (lag / width) ** 2)
        out[..., lag:] += weight * rows[..., :-lag]
        out[..., :-lag] += weight * rows[..., lag:]
    return out


def _find_spectrum(frequencies: _Frequencies) -> FloatArray:
    """Compute the spectrum of counts less local averages, from 0 to 1/2 cycle per grid step; (PADDED m/2 + 1,)."""
    m = frequencies.points.size
    expected = frequencies.expect(np.ones((1, m)), WIDTH)[0][0]
    deviations = (frequencies.points - expected) / np.sqrt(np.maximum(expected, 1.0))
    return np.asarray(np.abs(np.fft.rfft(deviations, PADDED * m)) ** 2 / m)


def _find_peaks(power: FloatArray, m: int) -> FloatArray:
    """Find the frequencies of the highest peaks of a spectrum, in cycles per grid step; none if all are low."""
    inner = np.arange(math.ceil(BEATS * PADDED), power.size)
    if not inner.size or power[inner].max() < CLEAR_PEAK + math.log(m / 2):
        return np.zeros(0)
    after = np.append(power, power[-2])  # beyond 1/2 it falls as it rose
    peaks = inner[(power[inner] >= power[inner - 1]) & (power[inner] >= after[inner + 1])]
    return np.asarray(peaks[np.argsort(power[peaks])[-PEAKS:]] / (PADDED * m))


def _fit_known(frequencies: _Frequencies, power: FloatArray) -> Iterator[_FittedGrid]:
    """Yield the likeliest of known ways to round on two grids, if any leaves a wave in the spectrum of the counts.

    Known are pairs of units, and parts of units that are rounded to even decimals. Those whose waves are not in the
    spectrum are left out.
    """
    m = frequencies.points.size
    ratios = np.array([10.0**e * each for unit in UNITS for each in (unit, 1 / unit) for e in (-2, -1, 0, 1, 2)])
    ratios = np.unique(ratios[(ratios >= FEWEST_PER_PLACE) & (ratios <= MOST_PER_PLACE)])
    ratios = ratios[_have_waves(ratios, power, m)]
    phases = np.arange(2 * PHASES) / (2 * PHASES)
    count = ratios.size * phases.size
    models = _Models(np.repeat(ratios, phases.size), np.tile(phases, ratios.size), np.full(count, -1, dtype=np.intp))
    parts = _list_parts()
    models = models.join(parts[np.flatnonzero(_have_waves(parts.ratio, power, m))])
    if models.ratio.size:
        yield _fit_likeliest(frequencies, models, KNOWN)


def _have_waves(ratios: FloatArray, power: FloatArray, m: int) -> BoolArray:
    """Return which ratios of two grid steps show in a spectrum as a wave of their frequency or twice it; (ratios,)."""
    found = np.zeros(ratios.size, dtype=bool)
    for times in (1, 2):
        frequency = np.abs(times * ratios - np.rint(times * ratios))
        at = np.rint(PADDED * m * frequency).astype(np.intp)
        near = np.add.outer(at, np.arange(-PADDED, PADDED + 1))
        found |= power[np.clip(near, 0, power.size - 1)].max(axis=1) >= SOME_POWER
    return found


def _fit_free(frequencies: _Frequencies, peaks: FloatArray) -> _FittedGrid:
    """Fit two grids whose ratio of steps is any one near the peaks of a spectrum, and return the likeliest fit."""
    m = frequencies.points.size
    near = np.linspace(-0.5, 0.5, FREQUENCIES) / m
    whole = np.arange(MOST_PER_PLACE)
    ratios = np.add.outer(whole, np.add.outer(np.concatenate((peaks, 1 - peaks)), near)).ravel()
    ratios = ratios[ratios >= FEWEST_PER_PLACE]
    phases = np.arange(PHASES) / PHASES
    count = ratios.size * PHASES
    models = _Models(np.repeat(ratios, PHASES), np.tile(phases, ratios.size), np.full(count, -1, dtype=np.intp))
    logs = _compare(frequencies, models)
    steps = np.meshgrid(np.arange(-2, 3) / (m * (FREQUENCIES - 1)), np.arange(-2, 3) / PHASES)
    for times in range(1, REFINED + 1):
        best = np.argsort(logs, kind="stable")[-KEPT:]
        by_ratio, by_phase = (step.ravel() / 2**times for step in steps)
        kept = models[np.repeat(best, by_ratio.size)]
        by_ratio, by_phase = np.tile(by_ratio, KEPT), np.tile(by_phase, KEPT)
        # where the ratio changes, numbers turn about the middle place
        more = _Models(kept.ratio + by_ratio, kept.phase + by_phase + by_ratio * (m - 1) / 2, kept.odd)
        models, logs = models[best].join(more), np.concatenate((logs[best], _compare(frequencies, more)))
    return _fit_likeliest(frequencies, models, FREE)


def _fit_likeliest(frequencies: _Frequencies, models: _Models, bounds: _Bounds) -> _FittedGrid:
    """Return the fit of that one of several models of two grids under which the counts of values are likeliest."""
    logs = _compare(frequencies, models)
    best = models[np.array([logs.argmax()])]
    ratio, phase = float(best.ratio[0]), float(best.phase[0])
    first = best.first_numbers(frequencies.points.size)[0]
    numbers = (np.arange(first[0], first[-1]) + phase) / ratio
    return _FittedGrid(1 / ratio, numbers, np.diff(first), float(logs.max()), bounds)


def _fit_functions(frequencies: _Frequencies, smallest: float, unit: float) -> Iterator[_FittedGrid]:
    """Yield fits of values as rounded functions of whole numbers or decimals; none if no multiples of their step."""
    m, begin = frequencies.points.size, smallest / unit
    if abs(begin - round(begin)) > OFF_GRID:
        return
    ends = unit * (round(begin) + np.array([-0.5, m - 0.5]))
    for function in FUNCTIONS:
        with np.errstate(over="ignore", divide="ignore"):
            low, high = np.sort(function.undo(ends))
        if not abs(low) + abs(high) < FARTHEST:
            continue
        for parts, added in ((1, 0.5), *((parts, 0.0) for parts in DECIMALS)):
            count = parts * (high - low)
            if (parts > 1 and function.is_reciprocal) or not (high > 0 and m / MOST_PER_PLACE < count < MOST_NUMBERS):
                continue
            k = np.arange(max(math.floor(parts * low) - 1, 1), math.ceil(parts * high) + 2)
            numbers = np.sort(function.do((k + added) / parts)) / unit - round(begin)
            numbers = numbers[np.rint(numbers) == np.clip(np.rint(numbers), 0, m - 1)]
            per_place = np.bincount(np.rint(numbers).astype(np.intp), minlength=m).astype(np.float64)
            if not FEWEST_PER_PLACE <= numbers.size / m <= MOST_PER_PLACE:
                continue
            fit = _FittedGrid(function.name, numbers, per_place, -math.inf, FUNCTION)
            own = frequencies.log_terms(np.maximum(per_place[None], NONE), fit.width).sum()
            yield replace(fit, log_likelihood=float(own))


def _list_parts() -> _Models:
    """List models of values that are parts of a unit, as quarters and months are, rounded half to even."""
    found = [
        (ratio, phase, odd)
        for ratio in PARTS
        for phase in np.arange(5) / 5  # tenths of five places and less
        for odd in (0, 1)
    ]
    ratio, phase, odd = (np.array(each) for each in zip(*found, strict=True))
    return _Models(ratio, phase, odd)


def _compare(frequencies: _Frequencies, models: _Models) -> FloatArray:
    """Compute the log-likelihood of the counts of values under each of several models of two grids; (models,)."""
    m, out = frequencies.points.size, np.empty(models.ratio.size)
    widths = _widths_of(models.ratio)
    for width in np.unique(widths):
        these = np.flatnonzero(widths == width)
        for part in np.array_split(these, max(1, these.size * m // CHUNK)):
            numbers = np.diff(models[part].first_numbers(m), axis=1)
            out[part] = frequencies.log_terms(np.maximum(numbers, NONE), float(width)).sum(axis=1)
    return out


def _is_convincing(frequencies: _Frequencies, fit: _FittedGrid, peaks: FloatArray) -> bool:
    """Return whether two grids explain the counts of values far better than one grid, or heaps at some values, do.

    Not by few places, or those at the ends, where densities are steep; with little left to explain, and better than
    heaps do.
    """
    points = frequencies.points
    both = np.array([np.maximum(fit.per_place, NONE), np.ones(points.size)])
    own, one = frequencies.log_terms(both, fit.width)
    gains = own - one
    in_first_half = np.cumsum(points) <= points.sum() / 2
    gain, halves = gains.sum(), (gains[in_first_half].sum(), gains[~in_first_half].sum())
    taken = points[points > 0]
    left = 2 * (float((taken * np.log(taken) - taken).sum()) - own.sum())
    return bool(
        gain >= fit.bounds.gain
        and min(halves) >= fit.bounds.in_each_half * gain
        and gains.max() <= fit.bounds.of_one_place * gain
        and gains[:2].sum() + gains[-2:].sum() <= AT_ENDS * gain
        and -gains[gains < 0].sum() <= LOST * gain
        and left <= LEFT * points.size + fit.bounds.left * gain
        and own.sum() >= _fit_heaps(frequencies, peaks) + CLEARLY
    )


def _fit_heaps(frequencies: _Frequencies, peaks: FloatArray) -> float:
    """Compute the largest log-likelihood of counts with heaps at every s-th value, 1/s a peak; -inf without peaks."""
    if not peaks.size:
        return -math.inf
    periods = np.unique(np.rint(1 / peaks).astype(np.intp))
    which = np.concatenate([np.arange(frequencies.points.size) % s == np.arange(s)[:, None] for s in periods])
    return max(float(frequencies.log_terms(np.where(which, times, 1.0), WIDTH).sum(axis=1).max()) for times in HEAPS)


def _share_points(points: FloatArray, places: IntArray, fit: _FittedGrid) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return numbers of the first of two grids behind values, where those of each value begin, and cumulative shares.

    The shares are of the points of a value. Those follow a density that is linear from place to place, of local
    averages of points per number.
    """
    m, width, per_place = points.size, fit.width, fit.per_place
    density = (points + _weigh_neighbours(points, width)) / (per_place + _weigh_neighbours(per_place, width))
    kept = np.isin(np.repeat(np.arange(m), per_place.astype(np.intp)), places)
    numbers = fit.numbers[kept]
    own = np.interp(numbers, np.arange(m), density)
    starts = np.append(0, np.cumsum(per_place[places])).astype(np.intp)
    totals = np.add.reduceat(own, starts[:-1])
    before = np.repeat(np.cumsum(totals) - totals, np.diff(starts))
    return numbers, starts, (np.cumsum(own) - before) / np.repeat(totals, np.diff(starts))
