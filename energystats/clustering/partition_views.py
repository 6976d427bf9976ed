"""Contents of a picture of a partition: its points in a plane, and the means of its clusters by feature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from energystats._core.gram import decorrelating
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Points
from energystats.inputs.names import check_one_column, name_text
from energystats.inputs.table import as_table
from energystats.metrics.base import Metric
from energystats.metrics.general import is_mahalanobis

__all__ = ["Plane", "choose_plane", "compute_cluster_means", "read_features", "rows_shown"]


POINTS_SHOWN = 5000  # of a scatter plot; more would cover each other
KERNEL_POINTS = 2000  # eigenvectors of more would take long
LEAST_SHOWN = 50  # of every cluster, where only a part is shown
SMALLEST_SPREAD = 1e-6  # of cluster means along a discriminant axis, as a share of the first
COMPONENT = re.compile(r"PC[1-9]\d*")  # the name of a principal component
SPACES = (
    '"components", "discriminant", "kernel", the names or numbers of two columns, an (n, 2) array or a result with '
    "coordinates"
)


class Plane(NamedTuple):
    """Hold what a scatter plot shows: rows, coordinates, axis titles and units, and whether both axes have one unit."""

    rows: IntArray
    points: FloatArray
    axes: tuple[str, str]
    units: tuple[str, str] = ("", "")
    same_unit: bool = True


def rows_shown(labels: IntArray, most: int = POINTS_SHOWN) -> IntArray:
    """Choose the rows to draw: all, or a fixed random part with at least fifty points of every cluster."""
    n = labels.size
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    shuffled = labels[order]
    kept = []
    for j in np.unique(labels):
        inside = order[shuffled == j]
        kept.append(inside[: max(LEAST_SHOWN, most * inside.size // n)])
    return np.sort(np.concatenate(kept))


def choose_plane(
    space: Any,
    labels: IntArray,
    *,
    points: FloatArray | None,
    coordinates: FloatArray | None,
    columns: Sequence[str] | None,
    standardized: bool,
    metric: Metric,
) -> Plane:
    """Return coordinates for a scatter plot: the only two columns, principal components, or what the user asks for.

    Clusters under the Mahalanobis distance show along discriminant axes, and often nowhere else; those under a metric
    that compares transformed rows in these, and under others that are no functions of differences among coordinates of
    rho.

    Raises
    ------
    ValueError
        If `space` is none of `SPACES`, or needs columns where only a matrix and its `coordinates` are known.
    """
    if _names_components(space, columns):
        first, second = (int(axis[2:]) - 1 for axis in space)
        return _components_plane(_needed(points, "principal components"), rows_shown(labels), (first, second))
    decorrelates = is_mahalanobis(metric)
    if space is None and decorrelates and points is not None and points.shape[1] > 2:
        space = "discriminant"
    if isinstance(space, str) and space == "discriminant":
        return _discriminant_plane(_needed(points, '"discriminant"'), labels, rows_shown(labels))
    pair = _columns_asked_for(space, points, columns)
    if space is None and pair is None and points is not None:
        if metric.compares:
            return _components_plane(metric.transform(points), rows_shown(labels), of=metric.compares)
        space = None if metric.by_differences else "kernel"
    kernel = isinstance(space, str) and space == "kernel"
    rows = rows_shown(labels, KERNEL_POINTS if kernel else POINTS_SHOWN)
    if pair is not None:
        return _plane_of_columns(_needed(points, "two columns"), columns, pair, standardized, rows)
    if points is None and (space is None or kernel):
        assert coordinates is not None
        word = "kernel principal component" if kernel else "principal coordinate"
        return Plane(rows, coordinates[rows], (f"{word} 1", f"{word} 2"))
    if kernel:
        return _kernel_plane(_needed(points, space), metric, rows)
    if space is None or (isinstance(space, str) and space == "components"):
        return _components_plane(_needed(points, '"components"'), rows)
    if isinstance(space, str):
        raise ValueError(f"`space` must be {SPACES}; got {space!r}.")
    return _given_plane(space, labels.size, rows)


def _names_components(space: Any, columns: Sequence[str] | None) -> bool:
    """Return whether a user's axes are two principal components, such as PC1, and not columns with such names."""
    if not isinstance(space, Sequence) or isinstance(space, str) or len(space) != 2:
        return False
    named = all(isinstance(axis, str) and COMPONENT.fullmatch(axis) for axis in space)
    return named and not (columns is not None and set(space) <= set(columns))


def _needed(points: FloatArray | None, space: str) -> FloatArray:
    """Return the coordinates of the points; raise ValueError if only a dissimilarity matrix was clustered."""
    if points is None:
        raise ValueError(f"`space` can be {space} only where columns of numbers were clustered.")
    return points


def _columns_asked_for(space: Any, points: FloatArray | None, columns: Sequence[str] | None) -> tuple[int, int] | None:
    """Find the two columns that a user names as axes, or the only two there are; None if other axes are wanted."""
    if space is None:
        return (0, 1) if points is not None and points.shape[1] == 2 else None
    if isinstance(space, str) or not isinstance(space, Sequence) or len(space) != 2:
        return None
    if not all(isinstance(column, str | int | np.integer) for column in space):
        return None
    names = _choose_column_names(_needed(points, "two columns"), columns)
    first, second = (_column_number(column, names) for column in space)
    return first, second


def _choose_column_names(points: FloatArray, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the columns of a table, or numbered names if it has none."""
    return list(columns) if columns else [f"column {j}" for j in range(points.shape[1])]


def _column_number(column: str | int, names: Sequence[str]) -> int:
    """Return the number of a column given by its name or number; raise ValueError if there is no such column."""
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"`space` must name columns of the table, and {column!r} is none of them.")
        check_one_column(column, names, "space")
        return names.index(column)
    if not 0 <= column < len(names):
        raise ValueError(f"`space` must give column numbers from 0 to {len(names) - 1}, got {column}.")
    return column


def _plane_of_columns(
    points: FloatArray, columns: Sequence[str] | None, pair: tuple[int, int], standardized: bool, rows: IntArray
) -> Plane:
    """Return two columns of a table, unchanged, as coordinates for a scatter plot, with their names as axis titles."""
    names = _choose_column_names(points, columns)
    unit = " (z-score)" if standardized else ""
    return Plane(rows, points[rows][:, np.array(pair)], (names[pair[0]], names[pair[1]]), (unit, unit), False)


def _components_plane(points: FloatArray, rows: IntArray, pair: tuple[int, int] = (0, 1), of: str = "") -> Plane:
    """Compute two principal components of the columns, and return them as coordinates for a scatter plot.

    `of` says what the rows are, if they are not as given.
    """
    most = points.shape[1]
    if pair != (0, 1) and not all(0 <= j < most for j in pair):
        raise ValueError(
            f"`axes`, or `space`, must name principal components from PC1 to PC{most}, got PC{max(pair) + 1}."
        )
    centred = points - points.mean(axis=0)
    with one_thread_up_to(min(centred.shape)):
        left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(centred), 2))
    for axis, j in enumerate(pair):
        if j < lengths.size:
            plane[:, axis] = left[:, j] * lengths[j]
    explained = np.append(lengths**2, np.zeros(2)) / max(float((lengths**2).sum()), np.finfo(float).tiny)
    first, second = (f" ({explained[min(j, lengths.size)]:.0%} of variance)" for j in pair)
    names = (f"principal component {pair[0] + 1}", f"principal component {pair[1] + 1}")
    return Plane(rows, plane[rows], names, (first + f"\nof {of}" * bool(of), second))


def _discriminant_plane(points: FloatArray, labels: IntArray, rows: IntArray) -> Plane:
    """Compute coordinates on the discriminant axes of clusters; principal components if all cluster means coincide.

    For two clusters there is one axis, drawn against the first principal component.
    """
    plane, positions = _components_plane(points, rows), _discriminant_positions(points, labels)[rows]
    if positions.shape[1] == 0:  # all means coincide
        return plane
    axis, unit = "discriminant axis {}".format, " (standard deviations)"
    if positions.shape[1] == 1:
        beside = np.column_stack((positions, plane.points[:, 0]))
        return Plane(rows, beside, (axis(1), plane.axes[0]), (unit, plane.units[0]), False)
    return Plane(rows, positions, (axis(1), axis(2)), (unit, unit), True)


def _discriminant_positions(points: FloatArray, labels: IntArray) -> FloatArray:
    """Compute positions of points on the linear discriminant axes of their clusters; (n, d) -> (n, m).

    These are the axes of linear discriminant analysis, of which there are at most k - 1; m is at most 2.
    """
    if not np.ptp(points, axis=0).max() > 0:
        return np.empty((labels.size, 0))
    moved = (points - points.mean(axis=0)) @ decorrelating(points) * np.sqrt(labels.size)
    sizes = np.bincount(labels[labels >= 0])
    means = np.array([moved[labels == j].mean(axis=0) for j in range(sizes.size)])
    means -= np.average(means, axis=0, weights=sizes)
    with one_thread_up_to(min(means.shape)):
        _, spread, axes = np.linalg.svd(np.sqrt(sizes)[:, None] * means, full_matrices=False)
    kept = spread[:2] > SMALLEST_SPREAD * spread[0]
    return np.asarray(moved @ axes[:2][kept].T)


def _kernel_plane(points: FloatArray, metric: Metric, rows: IntArray) -> Plane:
    """Compute the first two principal coordinates (kernel PCA) of dissimilarities, for a scatter plot."""
    d = Points(metric=metric, points=np.asarray(points)[rows], warns=False)
    plane, shares = np.zeros((rows.size, 2)), ["", ""]
    if rows.size > 2 and not d.all_coincide:
        values, vectors = d.largest_eigenpairs(2)
        plane = vectors * np.sqrt(np.maximum(values, 0.0))
        total = float(d.row_totals.sum()) / (2 * rows.size)
        shares = [f" ({value / total:.0%} of T)" if total > 0 else "" for value in values]
    axes = ("kernel principal component 1", "kernel principal component 2")
    return Plane(rows, plane, axes, (shares[0], shares[1]))


def _given_plane(space: Any, n: int, rows: IntArray) -> Plane:
    """Check coordinates given by a user or result, and return their first two columns for a scatter plot."""
    known = {"coordinates": "axis", "embedding": "embedding axis"}
    name = next((name for name in known if hasattr(space, name)), None)
    array = np.asarray(space if name is None else getattr(space, name), dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != n or not array.shape[1]:
        raise ValueError(f"`space` must be {SPACES}, with one row for each of the {n} points; got shape {array.shape}.")
    plane = np.zeros((n, 2))
    plane[:, : min(array.shape[1], 2)] = array[:, :2]
    word = known[name] if name else "coordinate"
    shares = [f" ({share:.0%})" for share in getattr(space, "explained", ())[:2]]
    first, second, *_ = [*shares, "", ""]
    return Plane(rows, plane[rows], (f"{word} 1", f"{word} 2"), (first, second), name is not None)


# ---------------------------------------------------------------- means of the features


def read_features(
    data: Any, n: int, *, points: FloatArray | None, columns: Sequence[str] | None
) -> tuple[FloatArray, Sequence[str]]:
    """Return the numeric columns of a table, NaN where missing, and their names; without a table the clustered points.

    Raises
    ------
    ValueError
        If there is no table, or it has another number of rows than n, no numbers, or a column without any.
    """
    if data is None:
        if points is None:
            raise ValueError("`data` must be a table with one row for each point: the partition does not hold any.")
        return np.asarray(points), _choose_column_names(points, columns)
    import pandas as pd

    data = as_table(data).values
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(np.asarray(data)).add_prefix("column ")
    numbers = frame.select_dtypes("number")
    if len(frame) != n:
        raise ValueError(f"`data` must have one row for each of the {n} points, got {len(frame)}.")
    if not numbers.shape[1]:
        raise ValueError("`data` must have at least one column of numbers, got none.")
    table = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    table = np.where(np.isfinite(table), table, np.nan)
    empty = np.flatnonzero(np.isnan(table).all(axis=0))
    if empty.size:
        raise ValueError(
            f"`data` must have a finite value in every column, but {numbers.columns[empty[0]]!r} has none."
        )
    return table, [name_text(name) for name in numbers.columns]


def compute_cluster_means(table: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Compute cluster means of each column, in standard deviations from the column mean; (n, p) -> (p, k).

    0 for a constant column, NaN where a cluster has no known value.
    """
    center = np.nanmean(table, axis=0)
    width = np.nanmax(table, axis=0) - np.nanmin(table, axis=0)
    scale = np.where(width > 0, width, 1.0)
    spread = np.nanstd((table - center) / scale, axis=0) * scale  # neither overflows nor vanishes
    z = np.full((table.shape[1], k), np.nan)
    for j in range(k):
        part = table[labels == j]
        known = ~np.isnan(part).all(axis=0)
        z[known, j] = (np.nanmean(part[:, known], axis=0) - center[known]) / np.where(width > 0, spread, 1.0)[known]
    z[np.abs(z) < 1e-9] = 0.0  # rounding of equal means
    return z
