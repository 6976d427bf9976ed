"""Segments of ordered rows: the contiguous partition with the smallest W, and what results with segments share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from energystats._core import statistics
from energystats._core.pvalues import tie_tolerance
from energystats._core.segments import cut_at_penalty, cut_into_runs, join_neighbours
from energystats._runtime import check_work, with_bar
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.clustering.cells import CELLS, LANDMARKS, CellCut, RowCells, cut_cells, most_segments
from energystats.display.numbers import number, numbers
from energystats.display.result import Labelled
from energystats.display.sentences import Caution, metric_note, metric_text, note_negative
from energystats.display.tables import TextTable, decomposition_table, text_table
from energystats.dissimilarity import Dissimilarity, note_one_rho
from energystats.inputs.labels import is_single
from energystats.inputs.names import check_one_column, list_names, write_label
from energystats.inputs.options import check_count, check_flag, check_not_negative
from energystats.inputs.order import RowOrder, are_numbers, read_order
from energystats.metrics.base import MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.ordered import lines_before
from energystats.pairs.workloads import Size, best_cells, best_runs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["OrderedPoints", "Segmentation", "Segments", "describe_segments", "order_points", "segment"]


BLOCKS = 240  # of consecutive rows, about the most whose sums of rho a result keeps for its pictures
SCALE_STEPS = 8  # in one direction: rows in random order have them with probability 2/9! at most
EXACT_UP_TO = 20_000  # rows, unless the user says otherwise


def segment(
    X: ArrayLike,
    k: int | None = None,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    min_size: int = 2,
    order: ArrayLike | str | None = None,
    penalty: float | None = None,
    standardize: bool = False,
    exact: bool | None = None,
    progress: bool | None = None,
) -> Segmentation:
    r"""Cut ordered rows into k segments of consecutive rows with the least within dispersion.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points in their order, of time, depth or a place on a line; with ``metric="precomputed"`` the matrix of rho,
        square or condensed.
    k : int, optional
        Number of segments, 1 <= k <= n / min_size.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. If it is 2, segments differ in their means only.
    min_size : int, default 2
        Rows of a segment, at least.
    order : array_like of shape (n,) or str, optional
        Numbers, dates or ordered categories by which the rows are sorted first, no two alike; or the name of a column
        of the data frame `X`, which is then no part of the data. None: the rows as they stand.
    penalty : float, optional
        In place of k: what a break must lower W by, in the unit of rho. The number of segments is that with the
        smallest W + penalty (k - 1).
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    exact : bool or None, default None
        True: all pairs. False: the best cut between at most 4,000 cells of rows, its breaks then moved row by row, with
        W from landmarks. None: exact up to 20,000 rows, and where cells do not serve: a matrix, rows not in memory, a
        metric not known to be of negative type, more segments than fit between cells. A note says which cut it is.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.

    Returns
    -------
    Segmentation
        `.labels` of the rows of `X` (0..k-1 in order), `.breakpoints` (the places at which new segments start),
        `.breaks` (their dates or other values of `order`), `.within_by_k`, `.plot()`.

    Raises
    ------
    ValueError
        If neither k nor `penalty` is given or both are, k segments of `min_size` rows need more than n rows, cells do
        not serve for `exact=False`, a value is not finite, or `order` is missing somewhere, has ties or another length.
    TypeError
        If `X` does not hold real numbers, or `order` holds text.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    segment_test : Whether there is a break at all, with a p-value.
    energy_cluster : Clusters that need not be consecutive rows.

    Notes
    -----
    Any series can be cut. W falls with nearly every break and cannot say how many there are; `segment_test` can. A
    penalty is a rule, not a test: where the order means nothing, a break at a place chosen beforehand lowers W by
    T/(n - 1) on average, and the best of all places by more.

    W of a run of rows comes from running sums of the columns of rho, and the best j runs of the first e rows from the
    best j - 1 of fewer (Fisher 1958): O(n^2 d + k n^2) time, O(k n) memory; never above W of breaks found one by one.
    Of cuts that tie, the first is taken. Of many rows, O(n m (d + m)) time for m = 256 landmarks, and W is an upper
    limit: see ``docs/segments.md``.

    References
    ----------
    Fisher (1958), On grouping for maximum homogeneity, JASA 53, for the dynamic programme; Matteson & James (2014), A
    nonparametric approach for multiple change point analysis of multivariate data, JASA 109, there one break at a time.
    The penalty: Jackson et al. (2005), IEEE Signal Processing Letters 12. Landmarks: see `Landmarks`.

    Examples
    --------
    >>> import energystats as es
    >>> found = es.segment([1.0, 2.0, 1.5, 7.0, 8.0, 7.5, 7.2], 2)
    >>> found.breakpoints.tolist(), found.labels.tolist()
    ([3], [0, 0, 0, 1, 1, 1, 1])
    """
    _check_how_many(k, penalty)
    check_flag(standardize, "standardize")
    ordered = order_points(X, order, metric=metric, alpha=alpha, standardize=standardize)
    d = ordered.d
    min_size = check_count(min_size, "min_size", low=1, high=d.n)
    most = d.n // min_size
    if k is not None:
        k = check_count(k, "k", low=1)
        if k > most:
            raise ValueError(
                f"`k` must be at most {most}, as {d.n} rows have no more segments of {min_size} rows (`min_size`); got "
                f"{k}."
            )
    if penalty is not None:
        penalty = check_not_negative(penalty, "penalty")
    if _takes_cells(d, exact, k, min_size):
        cut = _cut_many(ordered, k, penalty, min_size, progress)
    else:
        cut = _cut_exactly(ordered, k, penalty, min_size, progress)
    return Segmentation(**cut, min_size=min_size, penalty=penalty)


def _takes_cells(d: Dissimilarity, exact: bool | None, k: int | None, min_size: int) -> bool:
    """Return whether breaks are only searched between cells of rows; raise ValueError if asked but impossible."""
    if not isinstance(exact, bool | np.bool_ | None):
        raise TypeError(f"`exact` must be True, False or None, got {exact!r} of type {type(exact).__name__}.")
    exact = None if exact is None else bool(exact)
    fits = most_segments(d.n, min_size)
    obstacle = ""
    if not d.has_points:
        obstacle = "points in memory, got " + ("rows that are not" if d.n_columns else "a matrix of rho")
    elif d.metric.negative_type is not True:
        obstacle = f"a rho that is known to be of negative type, got {d.metric!r}"
    elif fits < (k or 1):
        obstacle = f"at most {fits} segments of {min_size} rows (`min_size`), which fit between cells, got {k}"
    if exact is False and obstacle:
        raise ValueError(f"`exact=False` needs {obstacle}; leave it out.")
    return not obstacle and (d.n > EXACT_UP_TO if exact is None else not exact)


def _cut_exactly(
    ordered: OrderedPoints, k: int | None, penalty: float | None, min_size: int, progress: bool | None
) -> dict[str, Any]:
    """Find the segmentation with the least within dispersion of all, and return the fields of its result."""
    d = ordered.d
    progress = check_work(progress, d, *best_runs(Size.of(d), 10.0 if k is None else k))
    tolerance, sizes = tie_tolerance(d.scale, d.n), np.ones(d.n)

    def lines() -> Any:
        return with_bar(lines_before(d), progress, total=d.n, unit="row", size=lambda block: len(block[1]))

    if k is None:
        assert penalty is not None
        k = cut_at_penalty(lines(), sizes, penalty, min_size, tolerance)
    runs = cut_into_runs(lines(), sizes, k, min_size, tolerance)
    fields, between = describe_segments(ordered, runs.breaks(k))
    within = float(fields["within_per_segment"].sum())
    return {
        **fields,
        "within": within,
        "between": between,
        "total": within + between,
        "within_limits": (within, within),
        "exact": True,
        "within_by_k": runs.within[1:, -1].copy(),
        "breakpoints_by_k": tuple(tuple(runs.breaks(j).tolist()) for j in range(1, k + 1)),
        "notes": (
            *ordered.notes,
            *note_one_rho(ordered.d, between, within + between, k),
            *note_negative(within, between, within + between, tested=False),
        ),
    }


def _cut_many(
    ordered: OrderedPoints, k: int | None, penalty: float | None, min_size: int, progress: bool | None
) -> dict[str, Any]:
    """Find an approximate segmentation of many rows by cells of rows, and return the fields of its result."""
    d = ordered.d
    progress = check_work(progress, d, best_cells(Size.of(d), 10.0 if k is None else k, CELLS, LANDMARKS))
    cut = cut_cells(d, k, penalty, min_size, progress=progress)
    fields, between = describe_segments(ordered, cut.breaks, cut.cells)
    within = float(fields["within_per_segment"].sum())
    return {
        **fields,
        "within": within,
        "between": between,
        "total": within + between,
        "within_limits": cut.within_limits,
        "within_by_k": cut.within_by_k,
        "breakpoints_by_k": cut.breakpoints_by_k,
        "exact": False,
        "notes": (
            *ordered.notes,
            _note_cells(cut, d.n),
            *note_negative(within, between, within + between, tested=False),
        ),
    }


def _note_cells(cut: CellCut, n: int) -> Caution:
    """Return a caution that a segmentation is approximate, with limits of its within dispersion."""
    low, _ = cut.within_limits
    rows = f"{cut.cell_size} consecutive rows" if cut.cell_size > 1 else "one row"
    return Caution(
        f"Not exact: of {n} rows the best cut between cells of {rows} was found, and its breaks were then moved row by "
        "row; a smaller W may exist, above all by segments shorter than a cell.",
        f"W is an upper limit and S a lower one, from rho to {cut.n_landmarks} landmarks, and T their sum, near that "
        f"of the points; W is {number(low)} at least. "
        "`exact=True` reads all pairs, and `dispersion` of the labels has W and S of these segments.",
    )


def _check_how_many(k: int | None, penalty: float | None) -> None:
    """Raise ValueError unless exactly one of the options `k` and `penalty` is given."""
    if k is None and penalty is None:
        raise ValueError(
            "`segment` needs `k`, the number of segments, or a `penalty` for each break: W falls with nearly every "
            "break and cannot say how many there are. `segment_test` finds breaks one by one, with a p-value for each."
        )
    if k is not None and penalty is not None:
        raise ValueError("`k` and `penalty` both say how many segments there are; give one of them.")


# ---------------------------------------------------------------- points in their order


class OrderedPoints(NamedTuple):
    """Hold points in their order, and the index of the rows as they were given."""

    d: Dissimilarity
    order: RowOrder
    index: Any

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the order of rows, and on columns that increase or decrease throughout."""
        return (*self.order.notes, *_note_scales(self.d))


def _note_scales(d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution on columns that only increase or decrease with the order, as a time scale does."""
    if d.coordinates is None:
        return ()
    steps = np.diff(d.coordinates, axis=0)
    one_way = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    found = np.flatnonzero(one_way & ((steps != 0).sum(axis=0) >= SCALE_STEPS)).tolist()
    if not found:
        return ()
    names = [repr(d.columns[j]) if d.columns else f"column {j}" for j in found[:3]]
    more = f" and {len(found) - 3} other columns" if len(found) > 3 else ""
    single = len(found) == 1
    rise, it, it_is = ("rises or falls", "it", "it is") if single else ("rise or fall", "them", "they are")
    return (
        Caution(
            f"{', '.join(names)}{more} only {rise} in this order, so that segments always differ in {it}.",
            f"Leave {it} out if {it_is} another scale of the order.",
        ),
    )


def order_points(
    X: ArrayLike, order: ArrayLike | str | None, *, metric: MetricLike, alpha: float, standardize: bool
) -> OrderedPoints:
    """Read points or a dissimilarity matrix, and sort its rows by the given order."""
    is_matrix = isinstance(resolve(metric, alpha), Precomputed)
    table, given = read_order(X, order, is_matrix=is_matrix)
    d = Dissimilarity.from_data(table, metric=metric, alpha=alpha, standardize=standardize)
    found = RowOrder.read(given, d.n, d.index)
    index = d.index
    if given is not None:
        d = replace(d.subset(found.rows), warns=d.warns)
    return OrderedPoints(d, found, index)


class _Fields(TypedDict):
    """Define the fields that all results with segments have."""

    labels: IntArray
    k: int
    sizes: tuple[int, ...]
    breakpoints: IntArray
    within_per_segment: FloatArray
    rows: IntArray
    places: Any
    order_name: str
    block_sums: FloatArray
    block_sizes: IntArray
    metric: Metric
    standardization: Standardization | None
    points: FloatArray | None
    columns: tuple[str, ...] | None
    index: Any


def _find_columns(columns: Sequence[Any], known: Sequence[Any]) -> IntArray:
    """Find the positions of columns given by name or number; (c,)."""
    if is_single(columns):
        raise TypeError(f"`columns` must be a sequence of columns, got {columns!r}; write [{columns!r}] for one.")
    chosen = list(columns)
    for column in chosen:
        if column not in known:
            hint = list_names(str(column), list(map(str, known))) or " There are no columns to draw."
            raise ValueError(f"`columns` must name columns of the table, got {column!r}.{hint}")
        check_one_column(column, known, "columns")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"`columns` must name every column once, got {chosen!r}.")
    return np.array([known.index(column) for column in chosen], dtype=np.intp)


def describe_segments(
    ordered: OrderedPoints, breakpoints: IntArray, cells: RowCells | None = None
) -> tuple[_Fields, float]:
    """Compute the fields shared by results with segments, and the between dispersion, from all pairs or from cells."""
    d, order, index = ordered
    edges = np.concatenate(([0], breakpoints, [d.n])).astype(np.intp)
    sizes = np.diff(edges)
    k = sizes.size
    # runs of a few rows, or cells, each inside the segments, from which W, S and the pictures follow
    units = np.arange(d.n) if cells is None else cells.starts
    most = max(1, -(-units.size // BLOCKS))
    ends = np.searchsorted(units, edges)
    starts = np.concatenate([units[low:high:most] for low, high in itertools.pairwise(ends)])
    counts = np.diff(starts, append=d.n)
    if cells is None:
        R = d.pairs.bin_sums(np.repeat(np.arange(starts.size), counts), np.ones(d.n), starts.size)
    else:
        R = cells.joined(starts).between(slice(None), slice(None))
    of_segments = np.searchsorted(starts, edges[:-1])
    M = np.add.reduceat(np.add.reduceat(R, of_segments, axis=0), of_segments, axis=1)
    labels = np.empty(d.n, dtype=np.intp)
    labels[order.rows] = np.repeat(np.arange(k), sizes)
    fields = _Fields(
        labels=labels,
        k=k,
        sizes=tuple(sizes.tolist()),
        breakpoints=np.asarray(breakpoints, dtype=np.intp),
        within_per_segment=statistics.within_per_cluster(M, sizes.astype(np.float64)),
        rows=order.rows,
        places=order.places,
        order_name=order.name,
        block_sums=R,
        block_sizes=counts,
        metric=d.metric,
        standardization=d.standardization,
        points=d.coordinates,
        columns=d.columns,
        index=index,
    )
    return fields, float(statistics.between(M, sizes.astype(np.float64))) if k > 1 else 0.0


# ---------------------------------------------------------------- results


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Segments(Labelled):
    """Hold segments of ordered rows with their W, S and T, and draw them.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Segment of each row of the data as they were given, 0..k-1 in their order.
    k : int
        Number of segments.
    sizes : tuple of int
        Rows per segment.
    breakpoints : ndarray of shape (k - 1,)
        Places in the order, from 0, at which new segments start.
    within, between, total : float
        W, S and T of the segments, in the unit of rho.
    within_per_segment : ndarray of shape (k,)
        The summands of W.
    min_size : int
        Rows that a segment must have.
    rows : ndarray of shape (n,)
        Row of the data at each place in the order.
    places : pandas.Index or None
        Values of the order, sorted, or names of the rows as they stand.
    order_name : str
        What the values are; empty where that is not known.
    block_sums : ndarray of shape (m, m)
        Sums of rho between rows, or between runs of a few rows each of a long series, for pictures.
    block_sizes : ndarray of shape (m,)
        Rows of these runs.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    points : ndarray of shape (n, d) or None
        The (standardized) data in their order; None for a precomputed matrix or mixed columns.
    columns : tuple of str or None
        Names of the columns of a data frame.
    index : pandas.Index or None
        Names of the rows as they were given, behind `names` and `to_series()`.
    notes : tuple of str
        What is to be known of the order and the data.
    """

    _label_columns: ClassVar[tuple[str, ...]] = ("from", "to")

    labels: IntArray = field(repr=False)
    k: int
    sizes: tuple[int, ...]
    breakpoints: IntArray = field(repr=False)
    within: float
    between: float
    total: float
    within_per_segment: FloatArray = field(repr=False)
    min_size: int
    rows: IntArray = field(repr=False)
    places: Any = field(default=None, repr=False)
    order_name: str = field(default="", repr=False)
    block_sums: FloatArray = field(repr=False)
    block_sizes: IntArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    points: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)

    @property
    def breaks(self) -> tuple[Any, ...]:
        """Return the order values, or else row names, or else positions, at which new segments start."""
        return tuple(self._place(i) for i in self.breakpoints.tolist())

    @property
    def segments(self) -> pd.DataFrame:
        """Return a data frame with one row per segment: its ends, order values, size and within dispersion."""
        import pandas as pd

        first, last = self._ends()
        ends = {"from": [self._place(i) for i in first], "to": [self._place(i) for i in last]}
        return pd.DataFrame({
            "segment": range(self.k), "first": first, "last": last, **ends, "size": self.sizes,
            "within_per_segment": self.within_per_segment.tolist(),
        })  # fmt: skip

    def _frame(self) -> pd.DataFrame:
        """Return the table of segments with the settings of the call as further columns."""
        return self.segments.assign(**self._shared())

    def _shared(self) -> dict[str, Any]:
        """Return the settings of a segmentation that all rows of its full table share, by column name."""
        scaled = self.standardization is not None
        return {"min_size": self.min_size, "metric": metric_text(self.metric), "standardized": scaled}

    def _main_columns(self) -> tuple[str, ...]:
        return ("segment", "from", "to", "size", "within_per_segment")

    def _headings(self) -> dict[str, str]:
        return {"size": "n", "within_per_segment": "W"}

    def to_series(self) -> pd.Series[Any]:
        """Return the segment of every row as a Series named "segment", with the index of the data frame.

        Tests of groups recognise it, and warn that its groups were found from data.
        """
        return Labelled.to_series(self).rename("segment")

    def _ends(self) -> tuple[list[int], list[int]]:
        """Return the first and last position of every segment."""
        last = np.cumsum(self.sizes) - 1
        return [0, *self.breakpoints.tolist()], last.tolist()

    def _place(self, i: int) -> Any:
        """Return the value of the order at a position, or the position itself if the order has no values."""
        if self.places is None:
            return i
        place = self.places[i]
        return place.item() if isinstance(place, np.generic) else place

    def _table_of_segments(self, title: str) -> TextTable:
        """Return the table of segments for the text summary."""
        first, last = self._ends()
        each = zip(first, last, self.sizes, numbers(self.within_per_segment.tolist()), strict=True)
        rows = [[write_label(self._place(i)), write_label(self._place(j)), str(size), w] for i, j, size, w in each]
        stubs = [f"segment {j}" for j in range(self.k)]
        return text_table(rows, ["from", "to", "rows", "W"], stubs, title, self.order_name)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ordered data with its breaks, up to eight columns that change most.

        Of a matrix, and of columns that are not numbers, the mean rho between rows is drawn, as by `plot_distances`.
        """
        from energystats.plotting.segments import plot_series

        if self.points is None:
            return self.plot_distances(ax)
        return plot_series(self._axis(), self.points, ax, **self._drawn(), names=self._names_of_columns())

    def plot_distances(self, ax: Axes | None = None) -> Axes:
        """Draw a heat map of dissimilarities between all ordered rows, or runs of rows, with the breaks."""
        from energystats.plotting.segments import plot_ordered_distances

        means = statistics.group_means(self.block_sums, self.block_sizes.astype(np.float64))
        starts = np.concatenate(([0], np.cumsum(self.block_sizes)))
        return plot_ordered_distances(self._axis(), means, starts, ax, **self._drawn())

    def plot_strata(
        self, ax: Axes | None = None, *, columns: Sequence[Any] | None = None, one_scale: bool = False
    ) -> Axes:
        """Draw columns from top to bottom along the order, with segments and a tree of neighbouring segments.

        As cores of sediment are drawn. The tree joins neighbouring rows, or runs of a few rows, that raise W least, one
        step after the other; it was not used to find the segments, and need not agree with them.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        columns : sequence of str or int, optional
            Names of the columns to draw, or numbers of columns without names, from left to right. None: all of up to
            twelve, else the twelve whose variance lies most between the segments.
        one_scale : bool, default False
            Whether a unit has one length in all panels, as for percentages; else each panel has its own scale.

        Returns
        -------
        Axes
            The panels are insets of it.

        Raises
        ------
        ValueError, TypeError
            If a column does not exist, or is named twice; if `columns` is a single name.
        """
        from energystats.plotting.segments import plot_strata

        tree = join_neighbours(self.block_sums, self.block_sizes.astype(np.float64))
        middles = np.cumsum(self.block_sizes) - 0.5 * (self.block_sizes + 1)
        points = np.empty((self.labels.size, 0)) if self.points is None else self.points
        check_flag(one_scale, "one_scale")
        names = self._names_of_columns()
        chosen = None if columns is None else _find_columns(columns, self.columns or tuple(range(len(names))))
        how = {**self._drawn(), "names": names, "columns": chosen, "one_scale": one_scale}
        return plot_strata(self._axis(), points, tree, middles, ax, **how)

    def _names_of_columns(self) -> tuple[str, ...]:
        """Return the names of the columns of the points; an empty result for a matrix."""
        if self.points is None:
            return ()
        return self.columns or tuple(f"column {j}" for j in range(self.points.shape[1]))

    @property
    def _has_axis(self) -> bool:
        """Return whether the values of the order are increasing numbers or dates."""
        places = self.places
        if places is None or not (places.dtype.kind == "M" or are_numbers(places)):
            return False
        return bool(places.is_monotonic_increasing)

    def _axis(self) -> Any:
        """Return positions of rows on an axis: the order's numbers or dates if they increase, else 0, 1, ...; (n,)."""
        places = self.places
        if not self._has_axis:
            return np.arange(self.labels.size, dtype=np.float64)
        if places.dtype.kind == "M":
            return places.tz_localize(None).to_numpy() if getattr(places, "tz", None) is not None else places.to_numpy()
        return places.to_numpy(dtype=np.float64)

    def _drawn(self) -> dict[str, Any]:
        """Return the arguments that all plots of segments share: breaks, notes, name of the order, title."""
        name = (self.order_name or "order") if self._has_axis else "place in the order"
        return {"breakpoints": self.breakpoints, "notes": [""] * (self.k - 1), "order": name, "title": self._title()}

    def _title(self) -> str:
        """Return the title of plots of segments: their number, n and share of dispersion S/T."""
        share = f", S/T = {self.between / self.total:.3f}" if self.total > 0 else ""
        return f"{self.k} segment{'s' * (self.k > 1)}, n = {self.labels.size}{share}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Segmentation(Segments):
    """Hold the segments of ordered rows with the smallest W, exactly or nearly.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Segment of each row of the data as they were given, 0..k-1 in their order.
    k : int
        Number of segments.
    sizes : tuple of int
        Rows per segment.
    breakpoints : ndarray of shape (k - 1,)
        Places in the order, from 0, at which new segments start; `breaks` has the values of the order there.
    within, between, total : float
        W, S and T of the segments, in the unit of rho. Where not `exact`, W is an upper limit, S a lower one, T their
        sum.
    within_per_segment : ndarray of shape (k,)
        The summands of W.
    within_by_k : ndarray of shape (k,)
        The smallest W of 1, 2, ..., k segments; where the cut is not exact, of those that begin with cells, but for k.
    breakpoints_by_k : tuple of tuple of int
        The places at which new segments start, for 1, 2, ..., k of them.
    exact : bool
        Whether no other k segments have a smaller W; else `within` is an upper limit, and `between` a lower one.
    within_limits : tuple of float
        W of these segments lies between them, or is both where the cut is exact.
    penalty : float or None
        What a break had to lower W by, where that chose k.
    min_size : int
        Rows that a segment must have.
    rows : ndarray of shape (n,)
        Row of the data at each place in the order.
    places : pandas.Index or None
        Values of the order, sorted, or names of the rows as they stand.
    order_name : str
        What the values are; empty where that is not known.
    block_sums : ndarray of shape (m, m)
        Sums of rho between rows, or between runs of a few rows each of a long series, for pictures.
    block_sizes : ndarray of shape (m,)
        Rows of these runs.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    points : ndarray of shape (n, d) or None
        The (standardized) data in their order; None for a precomputed matrix or mixed columns.
    columns : tuple of str or None
        Names of the columns of a data frame.
    index : pandas.Index or None
        Names of the rows as they were given, behind `names` and `to_series()`.
    notes : tuple of str
        What is to be known of the order and the data.
    """

    within_by_k: FloatArray = field(repr=False)
    breakpoints_by_k: tuple[tuple[int, ...], ...] = field(repr=False)
    within_limits: tuple[float, float] = field(repr=False)
    exact: bool
    penalty: float | None = None

    def _shared(self) -> dict[str, Any]:
        penalty = np.nan if self.penalty is None else self.penalty
        return {"penalty": penalty, "exact": self.exact, **Segments._shared(self)}

    def _tables(self) -> list[TextTable]:
        best = "the best " if self.exact else ""
        tables = [self._table_of_segments(f"Segments of ordered rows: {best}{self.k}")]
        if self.k > 1:
            falls = ["", *numbers((-np.diff(self.within_by_k)).tolist())]
            rows = [[w, fall] for w, fall in zip(numbers(self.within_by_k.tolist()), falls, strict=True)]
            stubs = [str(j + 1) for j in range(self.k)]
            tables.append(
                text_table(
                    rows,
                    ["smallest W" if self.exact else "W", "lower by"],
                    stubs,
                    "W by the number of segments",
                    "segments",
                )
            )
        return [*tables, decomposition_table(self.within, self.between, self.total)]

    def _sentences(self) -> list[str]:
        how = f"{self.k} segments of {self.min_size} rows or more; there is no seed."
        if self.exact:
            size = f"{self.min_size} row{'s' * (self.min_size > 1)}"
            how = f"No other {self.k} segments of {size} or more have a smaller W; there is no seed."
        if self.penalty is not None:
            how += f" k has the smallest W + {number(self.penalty)} (k - 1): a penalty, not a test."
        return [how, *self.notes, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if self.k == 1:
            return "One segment: nothing was cut."
        return f"Any series can be cut into {self.k}; `segment_test` asks whether there is a break at all, and where."

    def plot_within(self, ax: Axes | None = None) -> Axes:
        """Draw the within dispersion of the best segmentations found against the number of segments."""
        from energystats.plotting.segments import plot_within_by_k

        own: dict[str, Any] = {"min_size": self.min_size, "exact": self.exact}
        return plot_within_by_k(self.within_by_k, ax, total=self.total, n=self.labels.size, **own)
