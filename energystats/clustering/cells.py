"""The best segments of many ordered rows: cut between cells of rows, then moved row by row [theory 8].

The features are those that landmarks span, so that W of a run of cells follows from sums over its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from energystats._core.pvalues import tie_tolerance
from energystats._core.segments import Lines, cut_at_penalty, cut_into_runs
from energystats._core.threads import one_thread
from energystats._runtime import with_bar
from energystats._typing import FloatArray, IntArray
from energystats.clustering.feature_map import FeatureMap, PointsHere, choose_landmarks
from energystats.clustering.features import BlockFeatures
from energystats.dissimilarity import Dissimilarity

__all__ = ["CELLS", "LANDMARKS", "CellCut", "RowCells", "cut_cells", "most_segments"]


CELLS = 4000  # of consecutive rows, between which a first cut is sought
LANDMARKS = 256
CELLS_AT_ONCE = 256
ROWS_AT_ONCE = 2048


def most_segments(n: int, min_size: int) -> int:
    """Compute how many segments of `min_size` rows or more always fit into n rows, if breaks lie between cells."""
    m = min(CELLS, n)
    return m // -(-min_size // (n // m))


@dataclass(frozen=True, slots=True, eq=False)
class RowCells:
    """Hold sums of features over cells of consecutive rows."""

    starts: IntArray  # (m,) the first row of each
    sums: FloatArray  # (m, p) features
    # squares, residuals: (m,) squared lengths of the features, and squared distances from their span
    squares: FloatArray
    residuals: FloatArray
    n: int  # rows

    @classmethod
    def of(cls, d: Dissimilarity, feature_map: FeatureMap, starts: IntArray, *, progress: bool = False) -> Self:
        """Compute sums of landmark features over cells of consecutive rows, which begin at the rows `starts`."""
        m, edges = starts.size, np.append(starts, d.n)
        cells = cls(starts, np.empty((m, feature_map.rank)), np.empty(m), np.empty(m), d.n)
        at_once = max(1, ROWS_AT_ONCE * m // d.n)
        firsts = with_bar(range(0, m, at_once), progress, total=m, unit="cell", size=lambda _: at_once)
        for first in firsts:
            cells.fill(d, feature_map, edges[first : first + at_once + 1], slice(first, first + at_once))
        return cells

    def fill(self, d: Dissimilarity, feature_map: FeatureMap, edges: IntArray, cells: slice) -> None:
        """Compute and store the sums of landmark features of some cells of rows, given where these begin and end."""
        block = BlockFeatures.of(d.points[edges[0] : edges[-1]], feature_map)
        starts = edges[:-1] - edges[0]
        self.sums[cells] = np.add.reduceat(block.rows, starts, axis=0)
        self.squares[cells] = np.add.reduceat(block.lengths, starts)
        self.residuals[cells] = np.add.reduceat(block.residuals, starts)

    @property
    def sizes(self) -> FloatArray:
        """Return the number of rows of each cell; (m,)."""
        return np.diff(self.starts, append=self.n).astype(np.float64)

    @property
    def own(self) -> FloatArray:
        """Compute for each cell of rows the sum of squared lengths in feature space, in and outside the span; (m,).

        The span is that of the landmarks.
        """
        return np.asarray(self.squares + self.residuals)

    def between(self, rows: slice, columns: slice) -> FloatArray:
        """Compute approximate sums of dissimilarities between cells of rows from sums of landmark features; (r, c)."""
        sizes, own = self.sizes, self.own
        with one_thread():
            products = self.sums[rows] @ self.sums[columns].T
        lengths = own[rows, None] * sizes[columns] + sizes[rows, None] * own[columns]
        return np.asarray(np.maximum(lengths - 2 * products, 0.0))

    def lines(self) -> Lines:
        """Yield for a few cells of rows at a time the first one's number, and their sums of rho to all cells so far.

        They are approximate, and go up to the last of the few cells.

        Sums within a cell are halved.
        """
        for first in range(0, self.starts.size, CELLS_AT_ONCE):
            stop = min(first + CELLS_AT_ONCE, self.starts.size)
            block = self.between(slice(first, stop), slice(0, stop))
            block[np.arange(stop - first), np.arange(first, stop)] /= 2
            yield first, block

    def joined(self, starts: IntArray) -> RowCells:
        """Return sums of landmark features over longer runs of rows, which begin at the borders of cells `starts`."""
        at = np.searchsorted(self.starts, starts)
        sums, squares, residuals = (np.add.reduceat(part, at) for part in (self.sums, self.squares, self.residuals))
        return RowCells(starts, sums, squares, residuals, self.n)

    def split(self, d: Dissimilarity, feature_map: FeatureMap, places: IntArray) -> RowCells:
        """Divide some cells of rows at the rows `places`, and return the sums of landmark features of all cells."""
        starts = np.union1d(self.starts, places)
        edges = np.append(starts, self.n)
        at = np.searchsorted(self.starts, starts, side="right") - 1
        divided = np.bincount(at) > 1
        found = RowCells(starts, self.sums[at], self.squares[at], self.residuals[at], self.n)
        for j in np.flatnonzero(divided[at]):
            found.fill(d, feature_map, edges[j : j + 2], slice(j, j + 1))
        return found

    @property
    def within(self) -> float:
        """Compute an upper bound of the within dispersion if each cell of rows is a segment, from landmark features."""
        return float((self.own - np.einsum("ij,ij->i", self.sums, self.sums) / self.sizes).sum())


class CellCut(NamedTuple):
    """Hold segments of many rows, and what is known of their W."""

    cells: RowCells  # divided where segments begin
    breaks: IntArray  # (k - 1,) the first row of every segment but the first
    # (k,) W of 1, 2, ..., k segments that begin with cells, the last after its breaks were moved
    within_by_k: FloatArray
    breakpoints_by_k: tuple[tuple[int, ...], ...]  # their breaks
    n_landmarks: int  # points that span the features
    cell_size: int  # rows of a cell, at most

    @property
    def within_limits(self) -> tuple[float, float]:
        """Compute a lower and an upper limit of the within dispersion of a segmentation, from landmark features."""
        high = self.cells.joined(np.concatenate(([0], self.breaks))).within
        return high - float(self.cells.residuals.sum()), high


def cut_cells(d: Dissimilarity, k: int | None, penalty: float | None, min_size: int, *, progress: bool) -> CellCut:
    """Find the best segmentation at borders of cells, then move its breaks row by row to lower its dispersion.

    Landmarks are drawn with a seed of their own, that is always the same.
    """
    n = d.n
    chosen = choose_landmarks(PointsHere(d.points), d.metric, LANDMARKS, np.random.default_rng(0), np.ones(n))
    feature_map = FeatureMap.of(d.points[chosen], d.metric)
    starts = (np.arange(min(CELLS, n)) * n) // min(CELLS, n)
    cells = RowCells.of(d, feature_map, starts, progress=progress)
    tolerance = tie_tolerance(float(cells.joined(starts[:1]).within), n)
    if k is None:
        assert penalty is not None
        k = cut_at_penalty(cells.lines(), cells.sizes, penalty, min_size, tolerance)
    runs = cut_into_runs(cells.lines(), cells.sizes, k, min_size, tolerance)
    found = _move_breaks(d, feature_map, cells, starts[runs.breaks(k)], min_size, tolerance)
    cells = cells.split(d, feature_map, found)
    within, breaks = runs.within[1:, -1].copy(), [tuple(starts[runs.breaks(j)].tolist()) for j in range(1, k + 1)]
    within[-1] = cells.joined(np.concatenate(([0], found))).within
    breaks[-1] = tuple(found.tolist())
    return CellCut(cells, found, within, tuple(breaks), chosen.size, -(-n // starts.size))


def _move_breaks(
    d: Dissimilarity, feature_map: FeatureMap, cells: RowCells, breaks: IntArray, min_size: int, tolerance: float
) -> IntArray:
    """Move every break of a segmentation to the best row nearby, until the within dispersion falls no more.

    W of two neighbouring segments falls as the sum of |sum of features|^2 / rows over the two of them rises.
    """
    edges, reach = [0, *breaks.tolist(), d.n], int(cells.sizes.max())
    sums = cells.joined(np.array(edges[:-1])).sums
    open_breaks = set(range(1, len(edges) - 1))
    while open_breaks:
        i = min(open_breaks)
        open_breaks.remove(i)
        first, here, last = edges[i - 1 : i + 2]
        low, high = max(here - reach, first + min_size), min(here + reach, last - min_size)
        if low == high:
            continue
        features = BlockFeatures.of(d.points[low:high], feature_map).rows
        upto = np.concatenate((np.zeros((1, features.shape[1])), np.cumsum(features, axis=0)))
        upto -= upto[here - low].copy()
        places = np.arange(low, high + 1)
        left, right = sums[i - 1] + upto, sums[i] - upto
        fall = _square_rows(left) / (places - first) + _square_rows(right) / (last - places)
        best = int((fall >= fall.max() - tolerance).argmax())
        if fall[best] > fall[here - low] + tolerance:
            edges[i], sums[i - 1], sums[i] = int(places[best]), left[best], right[best]
            open_breaks |= {i - 1, i, i + 1} & set(range(1, len(edges) - 1))
    return np.array(edges[1:-1], dtype=np.intp)


def _square_rows(rows: FloatArray) -> FloatArray:
    """Compute the squared Euclidean length of every row of an array; (n, d) -> (n,)."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
