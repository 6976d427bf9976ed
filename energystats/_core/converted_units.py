"""Find numbers that were rounded twice, as before and after they were converted to another unit [theory 5].

A place of the second grid then stands for one number of the first or for two, as whole degrees Celsius do for whole
degrees Fahrenheit; or some places are empty, as the other way round. Such frequencies have many modes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from energystats._core.kept_results import keeping_results
from energystats._typing import FloatArray, IntArray

__all__ = ["ConvertedUnits", "find_converted_units"]


OFF_GRID = 1e-3  # of a grid step
FEWEST_VALUES, LONGEST_GRID = 12, 300  # on a finer grid the waves are too narrow to change a test
POINTS_PER_PLACE = 3.0
BEATS = 3.0  # of the two grids at least in all places
WIDTH = 2.0  # places, or steps of the first grid if wider, in the standard deviation of the weights of neighbours
PADDED = 8  # times as many frequencies as places
PEAKS, CLEAR_PEAK = 6, 5.0  # of the spectrum that are tried, and what the highest has in squares of deviations
MOST_PER_PLACE, FEWEST_PER_PLACE = 6, 0.2  # numbers of the first grid
FREQUENCIES, PHASES = 9, 16  # tried beside each peak; of the first grid against the second
KEPT, REFINED = 12, 3  # of the best models, beside which others are tried with half the steps, so many times
# parts of units, of which some lie between two decimals and are rounded to the even one
PARTS = (0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0)
HALFWAY = 1e-9
HEAPS = (1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)  # times as frequent as others
NONE = 0.01  # numbers of a place that has none, while models are compared
GAIN, CLEARLY = 18.0, 3.0  # in log-likelihood: against one number per place, and against heaps
IN_EACH_HALF, OF_ONE_PLACE = 0.15, 0.52  # of the gain, at least and at most
LEFT, LEFT_BY_GAIN = 1.5, 0.5  # deviance that may be left per place and per gain, or something else makes the modes
CHUNK = 2_000_000  # numbers of models at once


@dataclass(frozen=True, slots=True, eq=False)
class ConvertedUnits:
    """Hold the numbers of a first grid behind values that were rounded again after a conversion.

    Attributes
    ----------
    step : float
        Of the first grid, in the unit of the values.
    starts : ndarray of shape (m + 1,)
        Where the numbers that belong to each of m values begin, and where the last ones end.
    numbers : ndarray
        Of the first grid, in the unit of the values, ascending.
    shares : ndarray
        Of the points of a value, that belong to each of its numbers, cumulative within the value.
    """

    step: float
    starts: IntArray
    numbers: FloatArray
    shares: FloatArray

    def draw(self, which: IntArray, rng: np.random.Generator) -> FloatArray:
        """Draw a number of the first grid for each point from those behind its value, the `which`-th; (n,) -> (n,)."""
        upto = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts)) + self.shares
        drawn = np.searchsorted(upto, which + rng.random(which.size))
        return self.numbers[np.clip(drawn, self.starts[which], self.starts[which + 1] - 1)]


@dataclass(frozen=True, slots=True, eq=False)
class _Models:
    """Hold ratios and phases of two grids: numbers (k + phase) / ratio, of whole k, are rounded to whole places.

    Attributes
    ----------
    ratio, phase : ndarray of shape (models,)
        Numbers of the first grid per place, and where they begin.
    odd : ndarray of shape (models,)
        Numbers halfway between places: 0 or 1 if they go to the even place, where places are counted from 0 or 1;
        -1 if they go to the larger one.
    """

    ratio: FloatArray
    phase: FloatArray
    odd: IntArray

    def __getitem__(self, which: IntArray) -> _Models:
        return _Models(self.ratio[which], self.phase[which], self.odd[which])

    def join(self, other: _Models) -> _Models:
        """Return models of two grids, followed by other ones, as one list."""
        return _Models(
            np.append(self.ratio, other.ratio), np.append(self.phase, other.phase), np.append(self.odd, other.odd)
        )

    def first_numbers(self, m: int) -> FloatArray:
        """Compute the k of the first number of each of m places, and of the place after them; (models, m + 1)."""
        at = np.multiply.outer(self.ratio, np.arange(m + 1) - 0.5) - self.phase[:, None]
        halfway = (np.abs(at - np.rint(at)) < HALFWAY) & (self.odd >= 0)[:, None]
        goes_before = halfway & ((np.arange(m + 1) + self.odd[:, None]) % 2 == 1)
        return np.asarray(np.where(halfway, np.rint(at) + goes_before, np.ceil(at)))


@keeping_results
def find_converted_units(values: FloatArray, counts: IntArray) -> ConvertedUnits | None:
    """Find the first of two grids to which values were rounded, from their frequencies; None if it is not clear.

    `values` are distinct and ascending, `counts` are their points; (m,), (m,). Each place of the second grid holds as
    many numbers of the first as follow from the ratio of the steps and the phase. These are fitted: a log-likelihood of
    Poisson counts, whose means are so many times a local average, is to gain against one number per place, to leave
    little, and to be larger than that of heaps on every second, third, ... place. Candidates come from the highest
    peaks in the spectrum.
    """
    found = _find_places(values, counts)
    if found is None or values.size < FEWEST_VALUES:
        return None
    unit, places = found
    on_grid = np.bincount(places, weights=counts).astype(np.float64)
    peaks = _find_peaks(on_grid)
    if not peaks.size:
        return None
    best = _fit(on_grid, peaks)
    first = best.first_numbers(on_grid.size)[0]
    if not _is_convincing(on_grid, np.diff(first), WIDTH * max(1.0, 1 / float(best.ratio[0])), peaks):
        return None
    if (np.diff(first)[places] == 0).any():
        return None
    numbers, starts, shares = _share_points(on_grid, places, first, best)
    return ConvertedUnits(unit / float(best.ratio[0]), starts, values[0] + unit * numbers, shares)


def _find_places(values: FloatArray, counts: IntArray) -> tuple[float, IntArray] | None:
    """Return the step of a grid on which ascending values lie, and their places on it; None if on none or a long one.

    The step is the smallest gap, or the smallest difference of two gaps, as of places that are two and three apart.
    """
    gaps = np.unique(np.diff(values))
    more = np.diff(gaps)
    more = more[more > OFF_GRID * gaps[0]]
    longest = min(LONGEST_GRID, float(counts.sum()) / POINTS_PER_PLACE)
    for unit in (gaps[0], *(more.min() for _ in range(more.size > 0))):
        places = (values - values[0]) / unit
        whole = np.rint(places)
        if 0 < whole[-1] < longest and np.abs(places - whole).max() <= OFF_GRID:
            return float((values[-1] - values[0]) / whole[-1]), whole.astype(np.intp)
    return None


def _weigh_neighbours(rows: FloatArray, width: float) -> FloatArray:
    """Compute normal-weighted sums of the neighbours of each place, itself aside, along rows; (..., m) -> (..., m)."""
    out = np.zeros_like(rows)
    for lag in range(1, min(math.ceil(3 * width), rows.shape[-1] - 1) + 1):
        weight = math.exp(-0.5 * (lag / width) ** 2)
        out[..., lag:] += weight * rows[..., :-lag]
        out[..., :-lag] += weight * rows[..., lag:]
    return out


def _find_peaks(on_grid: FloatArray) -> FloatArray:
    """Find the frequencies of the highest peaks in the spectrum of deviations from local averages; none if all are low.

    In periods per place, up to 1/2; (m,) -> (peaks,).
    """
    m = on_grid.size
    expected = _weigh_neighbours(on_grid, WIDTH) / _weigh_neighbours(np.ones(m), WIDTH)
    deviations = (on_grid - expected) / np.sqrt(np.maximum(expected, 1.0))
    power = np.abs(np.fft.rfft(deviations, PADDED * m)) ** 2 / m
    inner = np.arange(math.ceil(BEATS * PADDED), power.size)
    if not inner.size or power[inner].max() < CLEAR_PEAK:
        return np.zeros(0)
    after = np.append(power, power[-2])  # beyond 1/2 it falls as it rose
    peaks = inner[(power[inner] >= power[inner - 1]) & (power[inner] >= after[inner + 1])]
    return np.asarray(peaks[np.argsort(power[peaks])[-PEAKS:]] / (PADDED * m))


def _fit(on_grid: FloatArray, peaks: FloatArray) -> _Models:
    """Return the model of two grids whose log-likelihood is largest of those near peaks of the spectrum."""
    m = on_grid.size
    near = np.linspace(-0.5, 0.5, FREQUENCIES) / m
    ratios = np.add.outer(np.arange(MOST_PER_PLACE), np.add.outer(np.concatenate((peaks, 1 - peaks)), near)).ravel()
    ratios = ratios[ratios >= FEWEST_PER_PLACE]
    phases = np.arange(PHASES) / PHASES
    some = _Models(
        np.repeat(ratios, PHASES), np.tile(phases, ratios.size), np.full(ratios.size * PHASES, -1, dtype=np.intp)
    )
    models = some.join(_list_parts())
    logs = _compare(on_grid, models)
    steps = np.meshgrid(np.arange(-2, 3) / (m * (FREQUENCIES - 1)), np.arange(-2, 3) / PHASES)
    for times in range(1, REFINED + 1):
        best = np.argsort(logs, kind="stable")[-KEPT:]
        by_ratio, by_phase = (step.ravel() / 2**times for step in steps)
        kept = models[np.repeat(best, by_ratio.size)]
        by_ratio, by_phase = np.tile(by_ratio, KEPT), np.tile(by_phase, KEPT)
        # where the ratio changes, numbers turn about the middle place
        more = _Models(kept.ratio + by_ratio, kept.phase + by_phase + by_ratio * (m - 1) / 2, kept.odd)
        models, logs = models[best].join(more), np.concatenate((logs[best], _compare(on_grid, more)))
    return models[np.array([logs.argmax()])]


def _list_parts() -> _Models:
    """List models of parts of units, as quarters and months are, that are rounded to even decimals."""
    found = [
        (ratio, phase, odd)
        for ratio in PARTS
        for phase in np.arange(5) / 5  # tenths of five places and less
        for odd in (0, 1)
    ]
    ratio, phase, odd = (np.array(each) for each in zip(*found, strict=True))
    return _Models(ratio, phase, odd)


def _compare(on_grid: FloatArray, models: _Models) -> FloatArray:
    """Compute the log-likelihood of each model of two grids; (models,)."""
    m, out = on_grid.size, np.empty(models.ratio.size)
    widths = WIDTH * np.maximum(1.0, np.ceil(1 / models.ratio))
    for width in np.unique(widths):
        these = np.flatnonzero(widths == width)
        for part in np.array_split(these, max(1, these.size * m // CHUNK)):
            numbers = np.diff(models[part].first_numbers(m), axis=1)
            out[part] = _log_terms(on_grid, np.maximum(numbers, NONE), float(width)).sum(axis=1)
    return out


def _log_terms(on_grid: FloatArray, numbers: FloatArray, width: float) -> FloatArray:
    """Compute log-likelihoods of Poisson counts whose means are local averages times numbers per place, by place.

    Up to a constant of the counts; (m,), (models, m) -> (models, m).
    """
    beside = _weigh_neighbours(on_grid, width)
    seen = beside >= 1.0  # a point far from all others says nothing about its place
    expected = numbers * beside / _weigh_neighbours(numbers, width)
    taken = seen & (on_grid > 0)
    out = np.zeros(expected.shape)
    out[:, seen] = -expected[:, seen]
    out[:, taken] += np.log(expected[:, taken]) * on_grid[taken]
    return out


def _is_convincing(on_grid: FloatArray, numbers: FloatArray, width: float, peaks: FloatArray) -> bool:
    """Return whether numbers per place explain the points on places far better than one number each does; (m,), (m,).

    In both halves of the points, with little left that they do not explain, and better than heaps do.
    """
    own, one = _log_terms(on_grid, np.array([np.maximum(numbers, NONE), np.ones(on_grid.size)]), width)
    gains = own - one
    in_first_half = np.cumsum(on_grid) <= on_grid.sum() / 2
    gain, halves = gains.sum(), (gains[in_first_half].sum(), gains[~in_first_half].sum())
    taken = on_grid[on_grid > 0]
    left = 2 * (float((taken * np.log(taken) - taken).sum()) - own.sum())
    return bool(
        gain >= GAIN
        and min(halves) >= IN_EACH_HALF * gain
        and gains.max() <= OF_ONE_PLACE * gain
        and left <= LEFT * on_grid.size + LEFT_BY_GAIN * gain
        and own.sum() >= _fit_heaps(on_grid, peaks) + CLEARLY
    )


def _fit_heaps(on_grid: FloatArray, peaks: FloatArray) -> float:
    """Return the largest log-likelihood of heaps that are as many places apart as a period of the peaks is long."""
    periods = np.unique(np.rint(1 / peaks).astype(np.intp))
    which = np.concatenate([np.arange(on_grid.size) % s == np.arange(s)[:, None] for s in periods])
    return max(float(_log_terms(on_grid, np.where(which, times, 1.0), WIDTH).sum(axis=1).max()) for times in HEAPS)


def _share_points(
    on_grid: FloatArray, places: IntArray, first: FloatArray, model: _Models
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return numbers of the first grid on taken places, where those of each begin, and cumulative shares of its points.

    Those follow a density that is linear from place to place, of local averages of points per number.
    """
    m, width = on_grid.size, WIDTH * max(1.0, 1 / float(model.ratio[0]))
    per_place = np.diff(first)
    density = (on_grid + _weigh_neighbours(on_grid, width)) / (per_place + _weigh_neighbours(per_place, width))
    kept = np.isin(np.repeat(np.arange(m), per_place.astype(np.intp)), places)
    numbers = ((np.arange(first[0], first[-1]) + model.phase[0]) / model.ratio[0])[kept]
    own = np.interp(numbers, np.arange(m), density)
    starts = np.append(0, np.cumsum(per_place[places])).astype(np.intp)
    totals = np.add.reduceat(own, starts[:-1])
    before = np.repeat(np.cumsum(totals) - totals, np.diff(starts))
    return numbers, starts, (np.cumsum(own) - before) / np.repeat(totals, np.diff(starts))
