"""Find gaps along a line: places with few points between two crowds, by counts in windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = ["crowding_of", "find_gap", "find_nearest_gap", "list_gaps"]


WIDE, NARROW = 2.0, (1.0, 0.5)  # half a window, times a spread, times n**-.2; of several clusters spreads are too large
CLEARLY_FEWER = 3.5  # standard deviations of a count, which is its root, below the smaller crowd beside a gap
FEWER_THAN_CUT = 3.0  # likewise, below the count at the cut,
SHARE_OF_CUT = 0.5  # of which a gap has half at most
AS_EMPTY = 2.0, 0.02  # times the share of its crowds that the emptiest gap has, and how much more
EMPTY = 0.25  # share of the crowds beside it that a gap has at most, where it is not compared with a cut
NARROWER = 0.5, 0.25  # of a window, in which the emptiest place of a gap is found


def find_gap(t: FloatArray, labels: IntArray, slack: int = 0) -> float | None:
    """Find a gap on a line that separates two clusters better than their border does; None without one; (n,), (n,).

    The clusters have the labels 0 and 1. A gap has clearly fewer points in a window around it than both the crowds
    beside it and the place of the cut. Of gaps that are about as empty as the emptiest, that with the fewest points
    between it and the cut is taken. None if there is no gap, or the cut lies in one, that narrower windows may show:
    with next to no points at the cut, or less than `slack` points from the emptiest place near it. O(n log n) time,
    O(n) memory.
    """
    line = _SortedPoints.of(t, labels)
    if line.is_equal or line.crowding(NARROW) <= AS_EMPTY[1] or line.find_gap_at_cut(slack) is not None:
        return None
    seen = line.count(WIDE)
    at_cut = seen.counts[line.cut]
    fewer = (seen.counts <= SHARE_OF_CUT * at_cut) & (at_cut - seen.counts > FEWER_THAN_CUT * np.sqrt(at_cut))
    return _choose_gap(line, seen, seen.is_clear & fewer)


def find_nearest_gap(t: FloatArray, labels: IntArray, slack: int = 0) -> float | None:
    """Find the gap on a line with the fewest points between it and the border of two clusters; None if none is clear.

    If the cut lies in a gap, less than `slack` points from its emptiest place, that place is returned.
    """
    line = _SortedPoints.of(t, labels)
    if line.is_equal:
        return None
    if (place := line.find_gap_at_cut(slack)) is not None:
        return place
    seen = line.count(WIDE)
    return _choose_gap(line, seen, seen.is_clear & (seen.share <= EMPTY), among_all=True)


def crowding_of(t: FloatArray, labels: IntArray) -> float:
    """Compute the number of points near the border of two clusters on a line, relative to both sides; (n,), (n,).

    It is the smallest share in any window in which the cut has clearly fewer points, or else that in the widest.
    """
    line = _SortedPoints.of(t, labels)
    return 0.0 if line.is_equal else line.crowding((WIDE, *NARROW))


def list_gaps(t: FloatArray, crowding: float) -> list[float]:
    """List the positions of gaps on a line that are sparse beside both their sides; (n,).

    They have at most a quarter of the points of their sides, and at most half the share `crowding` of a border. They
    are those in the widest windows that show any.
    """
    x = np.sort(t)
    line = _SortedPoints(x, _spread_of(x), 0)
    for window in () if line.is_equal else (WIDE, *NARROW):
        seen = line.count(window)
        clear = seen.is_clear & (seen.share <= min(EMPTY, SHARE_OF_CUT * crowding)) & line.parts
        if clear.any():
            return [line.refine(seen, int(i)) for i in _emptiest_of_runs(clear, seen.counts)]
    return []


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Hold the numbers of points in windows around the places between neighbouring points."""

    # window, half: the window, and half its width
    window: float
    half: float
    counts: IntArray  # (n - 1,) points in the window around each place
    crowds: IntArray  # (n - 1,) the smaller of the largest counts to the left and to the right

    @property
    def is_clear(self) -> BoolArray:
        """Return whether clearly fewer points lie near each position on a line than on both its sides; (n - 1,)."""
        return np.asarray(self.crowds - self.counts > CLEARLY_FEWER * np.sqrt(self.crowds))

    @property
    def share(self) -> FloatArray:
        """Compute the number of points near each position on a line, over that on the emptier of its sides; (n - 1,).

        The number on a side is that at its densest place.
        """
        return np.asarray(self.counts / np.maximum(self.crowds, 1))


@dataclass(frozen=True, slots=True, eq=False)
class _SortedPoints:
    """Hold sorted positions of points, their spread, and where two clusters are cut."""

    x: FloatArray  # (n,) sorted
    spread: float  # the smallest measure that is not 0
    cut: int  # the place i between points i and i + 1 that parts the clusters with the fewest errors

    @classmethod
    def of(cls, t: FloatArray, labels: IntArray) -> _SortedPoints:
        """Sort the positions of two clusters on a line, and find the cut that best separates them; (n,), (n,)."""
        order = np.argsort(t, kind="stable")
        left = int(t[labels == 0].mean() > t[labels == 1].mean())
        x, on_left = t[order], labels[order] == left
        wrong = np.cumsum(~on_left) + np.count_nonzero(on_left) - np.cumsum(on_left)
        within = max(float(x[on_left].std()), float(x[~on_left].std()))
        return cls(x, _spread_of(x, within), int(wrong[:-1].argmin()))

    @property
    def places(self) -> FloatArray:
        """Return the midpoints between neighbouring sorted points; (n - 1,)."""
        return np.asarray(0.5 * (self.x[:-1] + self.x[1:]))

    @property
    def parts(self) -> BoolArray:
        """Return which neighbouring sorted points differ from each other; (n - 1,)."""
        return np.asarray(self.x[1:] > self.x[:-1])

    @property
    def is_equal(self) -> bool:
        """Return whether all points on a line are equal."""
        return not self.spread > 0

    def crowding(self, windows: Sequence[float]) -> float:
        """Compute the number of points near the border of two clusters, relative to that on both its sides.

        It is the smallest share in windows that show clearly fewer points there; if none does, that in the first
        window.
        """
        seen = [self.count(window) for window in windows]
        shares = [float(one.share[self.cut]) for one in seen if one.is_clear[self.cut]]
        return min(shares, default=float(seen[0].share[self.cut]))

    def find_gap_at_cut(self, slack: int) -> float | None:
        """Return the sparsest position near the border of two clusters if the border lies in a gap, else None.

        None, too, where `slack` points or more lie between the border and that position. The widest of the narrower
        windows in which the cut has clearly fewer points than the crowds decides.
        """
        for window in NARROW if slack > 0 else ():
            seen = self.count(window)
            if seen.is_clear[self.cut]:
                place = self.refine(seen, self.cut)
                between = abs(int(np.searchsorted(self.x, place)) - self.cut - 1)
                return place if between < slack else None
        return None

    def count(self, window: float) -> _Counts:
        """Count the points in a window around every midpoint between neighbouring sorted points.

        A window reaches `window` times the spread times n**-.2 to either side.
        """
        x, places, half = self.x, self.places, window * self.spread * self.x.size**-0.2
        counts = np.searchsorted(x, places + half, "right") - np.searchsorted(x, places - half, "left")
        crowds = np.minimum(np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1])
        return _Counts(window, half, counts, crowds)

    def refine(self, seen: _Counts, i: int) -> float:
        """Return the sparsest position near a given one on a line, by counting points in ever narrower windows.

        Of equally sparse positions it is that between the points farthest apart.
        """
        apart = np.diff(self.x)
        for narrower in NARROWER:
            near = np.flatnonzero((np.abs(self.places - self.places[i]) <= seen.half) & self.parts)
            counts = self.count(narrower * seen.window).counts[near]
            fewest = near[counts == counts.min()]
            i = int(fewest[apart[fewest].argmax()])
        return float(self.places[i])


def _choose_gap(line: _SortedPoints, seen: _Counts, clear: BoolArray, *, among_all: bool = False) -> float | None:
    """Choose the gap nearest to the border of two clusters, among the sparsest or all; return where it is, or None."""
    clear = clear & line.parts
    if not clear.any():
        return None
    found = _emptiest_of_runs(clear, seen.counts)
    if not among_all:
        share = seen.share[found]
        found = found[share <= max(AS_EMPTY[0] * share.min(), share.min() + AS_EMPTY[1])]
    return line.refine(seen, int(found[np.abs(found - line.cut).argmin()]))


def _spread_of(x: FloatArray, within: float = 0.0) -> float:
    """Compute the smallest positive one of three spreads of sorted x: sd, scaled interquartile range, a given one."""
    spreads = (float(x.std()), float(np.ptp(np.quantile(x, [0.25, 0.75]))) / 1.349, within)
    return min((spread for spread in spreads if spread > 0), default=0.0)


def _emptiest_of_runs(clear: BoolArray, counts: IntArray) -> IntArray:
    """Find the index with the smallest count in each run of consecutive True entries; (n - 1,), (n - 1,) -> (m,)."""
    starts = np.flatnonzero(clear & ~np.append(False, clear[:-1]))
    ends = np.flatnonzero(clear & ~np.append(clear[1:], False))
    return np.array([s + int(counts[s : e + 1].argmin()) for s, e in zip(starts, ends, strict=True)], dtype=np.intp)
