"""Gaps along a line: places with few points between two crowds, found by counts in windows."""

from __future__ import annotations

import numpy as np

from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = ["find_gap"]


WINDOW = 2.0  # standard deviations of the smoothest spread, times n**-.2: half the width of a window
CLEARLY_FEWER = 3.5  # standard deviations of a count, which is its root, below the smaller crowd beside a gap
FEWER_THAN_CUT = 3.0  # likewise, below the count at the cut,
SHARE_OF_CUT = 0.5  # of which a gap has half at most
AS_EMPTY = 2.0, 0.02  # times the share of its crowds that the emptiest gap has, and how much more


def find_gap(t: FloatArray, labels: IntArray) -> float | None:
    """Find the gap in which two clusters are better parted than where they are cut; positions (n,), labels 0, 1 (n,).

    A gap has clearly fewer points in a window around it than both the crowds beside it and the place of the cut. Of
    gaps that are about as empty as the emptiest, that with the fewest points between it and the cut is taken. None if
    there is no gap, or the cut lies in one. O(n log n) time, O(n) memory.
    """
    order = np.argsort(t, kind="stable")
    x, on_left = t[order], labels[order] == _left_cluster(t, labels)
    places = 0.5 * (x[:-1] + x[1:])
    cut = _place_of_cut(on_left)
    half = _half_window(x, on_left)
    if not half > 0:
        return None
    counts = np.searchsorted(x, places + half, "right") - np.searchsorted(x, places - half, "left")
    # the smaller of the largest counts to the left and to the right
    crowds = np.minimum(np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1])
    clear = (
        (crowds - counts > CLEARLY_FEWER * np.sqrt(crowds))
        & (counts <= SHARE_OF_CUT * counts[cut])
        & (counts[cut] - counts > FEWER_THAN_CUT * np.sqrt(counts[cut]))
        & (x[1:] > x[:-1])
    )
    if not clear.any():
        return None
    found = _emptiest_of_runs(clear, counts)
    share = counts[found] / crowds[found]
    found = found[share <= max(AS_EMPTY[0] * share.min(), share.min() + AS_EMPTY[1])]
    return float(places[found[np.abs(found - cut).argmin()]])


def _left_cluster(t: FloatArray, labels: IntArray) -> int:
    """Return the label of the cluster whose mean is smaller."""
    return int(t[labels == 0].mean() > t[labels == 1].mean())


def _place_of_cut(on_left: BoolArray) -> int:
    """Return the place i, between points i and i + 1 of a line, that parts two clusters with the fewest errors."""
    wrong = np.cumsum(~on_left) + np.count_nonzero(on_left) - np.cumsum(on_left)
    return int(wrong[:-1].argmin())


def _half_window(x: FloatArray, on_left: BoolArray) -> float:
    """Return half the width of the windows, from the smallest measure of spread of sorted points that is not 0."""
    quartiles = np.quantile(x, [0.25, 0.75])
    spreads = (x.std(), np.ptp(quartiles) / 1.349, max(x[on_left].std(), x[~on_left].std()))
    smallest = min((float(spread) for spread in spreads if spread > 0), default=0.0)
    return float(WINDOW * smallest * x.size**-0.2)


def _emptiest_of_runs(clear: BoolArray, counts: IntArray) -> IntArray:
    """Return of each run of neighbouring places that are clear the one with the smallest count; (n - 1,) -> (m,)."""
    starts = np.flatnonzero(clear & ~np.append(False, clear[:-1]))
    ends = np.flatnonzero(clear & ~np.append(clear[1:], False))
    return np.array([s + int(counts[s : e + 1].argmin()) for s, e in zip(starts, ends, strict=True)], dtype=np.intp)
