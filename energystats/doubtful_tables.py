"""Warn of tables that are probably not what they are taken for, and refuse units in which numbers have no digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from energystats._typing import BoolArray, FloatArray
from energystats.exceptions import (
    ColumnScaleWarning,
    EnergyStatsWarning,
    MatrixAsPointsWarning,
    NotNegativeTypeWarning,
    warn,
)
from energystats.inputs.names import COUNT_NAME, SUBJECT_NAME
from energystats.metrics.base import Metric
from energystats.metrics.domains import looks_like_distances, looks_like_triangle
from energystats.metrics.kernel import Exponential

__all__ = [
    "LARGEST_SUM",
    "SAMPLES",
    "check_resolution",
    "ends_of",
    "in_order_of_zeros",
    "rho_of_width",
    "vary_by_rounding",
    "warn_of_adjacency",
    "warn_of_labels",
    "warn_of_matrix",
    "warn_of_rounding",
    "warn_of_row_numbers",
    "warn_of_scales",
    "warn_of_zero_rows",
]


TINY_WIDTH = 1e-70  # of the widest column, below which rho is looked at
HUGE_WIDTH = 1e70  # above which it is, too
SMALLEST_RHO = 1e-305  # of the widest column; below it rho loses digits
LARGEST_SUM = 1e305  # of rho over all pairs
MANY_VALUES = 10  # more than labels of two groups have, or answers to a question
MOST_LABELS = 20  # of groups that are numbered
SAMPLES = "the samples"  # several of them, below each other
SCALE_RATIO = 100.0  # of the columns' standard deviations, above which the narrower one hardly counts in any distance
ALONE = 0.9  # of the variance of all columns: who has it decides the distances almost alone
UNLIKE = 1e-9  # of the largest rho: rows that differ by more are no rounded copies of each other
FEWEST_OF_GRAPH, ROWS_OF_GRAPH, PAIRS_OF_GRAPH = 10, 100, 200  # where zeros between unlike rows are looked for


def warn_of_matrix(points: FloatArray, metric: Metric, name: str) -> None:
    """Warn if coordinates look like a matrix of distances between the rows."""
    if metric.domain.binary:
        return
    n = len(points)
    if looks_like_triangle(points):
        warn(
            f"`{name}` is {n} x {n} with zeros on the diagonal and on one side of it, as one triangle of a matrix of "
            f"dissimilarities is, but taken as the coordinates of {n} points. If it is one, mirror it, "
            '`X + X.T`, and use metric="precomputed".',
            MatrixAsPointsWarning,
        )
    if not looks_like_distances(points):
        return
    coded, how = f"`{name}` is", 'metric="precomputed"'
    if name == SAMPLES:
        coded, how = f"The rows of {name} are", 'the whole matrix, metric="precomputed" and `groups=`'
    warn(
        f"{coded} symmetric with a zero diagonal ({n} x {n}), as a matrix of dissimilarities is, but taken as "
        f"the coordinates of {n} points. Use {how} if it is such a matrix.",
        MatrixAsPointsWarning,
    )


def warn_of_adjacency(R: FloatArray, name: str) -> None:
    """Warn if most entries of a matrix are 0 between points of unlike rows, as in a graph; (n, n)."""
    n = len(R)
    zeros = R.size - np.count_nonzero(R) - n
    if n < FEWEST_OF_GRAPH or 2 * zeros <= n * (n - 1) or not R.any():
        return
    i, j = np.nonzero(R[: min(n, ROWS_OF_GRAPH)] == 0)
    apart = np.flatnonzero(i != j)
    apart = apart[:: max(1, apart.size // PAIRS_OF_GRAPH)]
    unlike = np.abs(R[i[apart]] - R[j[apart]]).max(axis=1, initial=0.0) > UNLIKE * np.abs(R).max()
    if 2 * np.count_nonzero(unlike) > apart.size:
        warn(
            f"Most entries of `{name}` are 0, between points whose distances to others differ: so they are in the "
            "matrix of a graph or of similarities, where 0 means no link, while here 0 means the same place. Such "
            "matrices go to `graph_partition`; no such rho is of negative type.",
            NotNegativeTypeWarning,
        )


def in_order_of_zeros(points: FloatArray) -> FloatArray:
    """Reorder the rows of a square table so that zeros lie on the diagonal, as in a distance matrix.

    A matrix that is split by groups has its rows in another order than its columns.
    """
    # in a matrix of dissimilarities every row has its smallest entry, 0, in its own column
    own = points.argmin(axis=1)
    order = np.argsort(own, kind="stable")
    return points[order] if np.unique(own).size == len(points) else points


def check_resolution(points: FloatArray, metric: Metric, n: int | None = None, *, offered: bool = False) -> None:
    """Raise ValueError if points are so close that dissimilarities vanish, or so far that sums overflow.

    The metric is fitted to them. `n` is the number of points where only some are given; `offered` says whether the
    user may standardize. Metrics that no unit changes are 0 between proportional rows, whatever their size.
    """
    if metric.unit_free:
        return
    otherwise = ", or use standardize=True" if offered and metric.domain.z_scores else ""
    n = len(points) if n is None else n
    width = np.ptp(points, axis=0)
    small = width.max() < TINY_WIDTH or isinstance(metric, Exponential)  # whose sigma may be far from the data
    if width.max() == 0 or (width.max() < HUGE_WIDTH and not small):
        return
    rho = rho_of_width(points, metric)
    if small and not rho > SMALLEST_RHO:
        raise ValueError(
            f"The points must lie further apart: their largest difference is {width.max():.3g}, and rho under "
            f"{metric!r} is too small a number for it; multiply the data by a constant first{otherwise}."
        )
    if not rho * (points.shape[1] * float(n) ** 2) < LARGEST_SUM and width.max() > HUGE_WIDTH:
        raise ValueError(
            f"The points must lie closer: their largest difference is {width.max():.3g}, and sums of rho under "
            f"{metric!r} over {n} points are too large for numbers; divide the data by a constant first{otherwise}."
        )


def rho_of_width(points: FloatArray, metric: Metric) -> float:
    """Compute the absolute dissimilarity of the two points at the ends of the widest column."""
    column = points[:, int(np.ptp(points, axis=0).argmax())]
    ends = points[[int(column.argmin()), int(column.argmax())]]
    with np.errstate(all="ignore"):
        return abs(float(metric.between(ends[:1], ends[1:])[0, 0]))


def warn_of_row_numbers(points: FloatArray, columns: Sequence[str] | None) -> None:
    """Warn of a column that seems to number the rows, judged by its name and values."""
    if columns is None or len(columns) < 2:
        return
    for name, column in zip(columns, points.T, strict=True):
        named = SUBJECT_NAME.fullmatch(name) or COUNT_NAME.fullmatch(name)
        if named and (column == np.rint(column)).all() and np.unique(column).size == column.size > 1:
            warn(
                f"Column {name!r} has another whole number in every row and is compared as if it were measured. If it "
                "only numbers or names the rows, leave it out: `.drop(columns=...)`, or `index_col=` on reading.",
                EnergyStatsWarning,
            )


def warn_of_zero_rows(points: FloatArray, metric: Metric) -> None:
    """Warn of rows of zeros that a metric makes equal by convention alone, as 0 of 0 columns differ."""
    if metric.domain.zero_pairs:
        return
    zeros = int(np.count_nonzero(~points.any(axis=1)))
    if zeros > 1:
        warn(
            f"{zeros} of {len(points)} rows are all zeros. {metric.spoken} calls two such rows equal, by convention: "
            "it divides by what either has, and R's vegdist has no value here. Leave them out unless this is meant.",
            EnergyStatsWarning,
        )


def warn_of_labels(pooled: FloatArray, sizes: Sequence[int]) -> None:
    """Warn if one of two samples of a column seems to hold group labels of the other, or the second group sizes.

    Labels: it has two values only, or a few whole numbers from 0 or 1 on, and the other, as long, many values.
    """
    if len(sizes) != 2 or pooled.shape[1] != 1:
        return
    first, last = np.split(pooled[:, 0], [sizes[0]])
    counts = (last >= 1).all() and (last == np.rint(last)).all() and not (first == np.rint(first)).all()
    if 1 < last.size < MANY_VALUES and counts and last.sum() == first.size:
        warn(
            f"The second sample adds up to the {sizes[0]} rows of the first one: it was compared with it as "
            "measurements. If it holds the sizes of groups, as in R's `eqdist.etest`, name the group of every row: "
            "`groups=np.repeat(np.arange(len(sizes)), sizes)`.",
            EnergyStatsWarning,
        )
    if sizes[0] != sizes[1]:
        return
    for which, sample, other in (("first", first, last), ("second", last, first)):
        few, many = np.unique(sample).size, np.unique(other).size
        if many < MANY_VALUES or not _may_be_labels(sample, other):
            continue
        warn(
            f"The {which} of two samples has {'two' if few == 2 else few} distinct values, and the other {many} in as "
            "many rows: they were compared as measurements of one thing. If they are the groups of its rows, pass them "
            "as `groups=`.",
            EnergyStatsWarning,
        )


def _may_be_labels(sample: FloatArray, other: FloatArray) -> bool:
    """Return whether one of two samples has two values, or repeated whole numbers from 0 or 1 on, unlike the other."""
    values, counts = np.unique(sample, return_counts=True)
    if values.size == 2:
        return True
    numbered = 2 < values.size <= MOST_LABELS and values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    return numbered and counts.min() > 1 and bool((other != np.rint(other)).any())


def ends_of(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest known value of every column; (d,), (d,)."""
    return np.fmin.reduce(points, axis=0), np.fmax.reduce(points, axis=0)


def warn_of_rounding(
    low: FloatArray, high: FloatArray, columns: Sequence[str] | None, metric: Metric, *, standardize: bool
) -> None:
    """Warn of columns whose values differ by rounding alone, if these columns affect the distances.

    They do where columns are divided by their standard deviations or ranges, and where no column varies by more.
    """
    divided = standardize or metric.by_range or (metric.measures_columns and metric.needs_all_rows)
    found = np.flatnonzero(vary_by_rounding(low, high))
    if not found.size or not (divided or found.size == np.count_nonzero(high > low)):
        return
    names = ", ".join(columns[j] if columns else str(j) for j in found[:10]) + ", ..." * (found.size > 10)
    which = "standardize=True" if standardize else metric.spoken
    so = f"{which} makes differences of full size of it." if divided else "no column varies by more."
    warn(
        f"Column{'s' * (found.size > 1)} {names}: no more variation than the rounding of the values, such as .3 "
        f"and .1 + .2; {so} Round the values, or leave it out.",
        ColumnScaleWarning,
    )


def vary_by_rounding(low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which columns vary, but only by rounding of values that are not whole numbers; (d,), (d,) -> (d,)."""
    size = np.maximum(np.abs(low), np.abs(high))
    exact = (low == np.rint(low)) & (high == np.rint(high))
    return np.asarray((high > low) & (high / 4 - low / 4 <= np.finfo(np.float64).eps * size) & ~exact)


def warn_of_scales(
    metric: Metric,
    spread: FloatArray,
    width: FloatArray,
    rounding: BoolArray,
    columns: Sequence[str] | None,
    *,
    offered: bool = True,
) -> None:
    """Warn if columns have so unlike standard deviations that some dominate the distances.

    They are those of the columns as the metric weights them. `offered` says whether the user may standardize by an
    option; columns that are `rounding` are left aside.
    """
    factors = metric.column_factors(spread.size)
    spread = spread * factors
    # a constant column adds nothing to any distance, and one without weight neither
    moving = np.flatnonzero((width > 0) & (factors > 0) & ~rounding)
    if moving.size < 2:
        return
    low, high = moving[spread[moving].argmin()], moving[spread[moving].argmax()]
    if spread[high] > SCALE_RATIO * spread[low]:
        names = columns or [str(j) for j in range(spread.size)]
        advice = "use standardize=True" if offered else "divide the columns by their standard deviations first"
        with np.errstate(over="ignore"):
            ratio = float(min(spread[high] / spread[low], np.finfo(np.float64).max))
        times = f"{ratio:{'.0f' if ratio < 1e6 else '.1g'}} times"
        alone = np.sum((spread[moving] / spread[high]) ** 2) <= 1 / ALONE
        so = "and decides the distances almost alone" if alone else "which hardly counts in the distances"
        comma = "" if alone else ","
        weighted, unless = "", " unless the unit is shared"
        if (factors < 1).any():
            weighted, unless = "weighted ", ", or other weights, unless this is meant"
        warn(
            f"Column {names[high]} has a {weighted}standard deviation {times} that of column {names[low]}{comma} {so}; "
            f"{advice}{unless}.",
            ColumnScaleWarning,
        )
