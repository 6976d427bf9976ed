"""Two coordinates for the points of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity
from energystats.plotting.base import plain

if TYPE_CHECKING:
    from energystats.results import Partition

KERNEL_POINTS = 2000  # eigenvectors of more would take long
SPACES = '"components", "kernel", the names or numbers of two columns, an (n, 2) array or a result with coordinates'


class Plane(NamedTuple):
    """Points in the plane, the names of the axes, and whether both have one unit."""

    points: FloatArray
    x: str
    y: str
    same_unit: bool


def plane_of(found: Partition, space: Any, rows: IntArray) -> Plane:
    """Coordinates of the given rows: the only two columns, principal components, or what was asked for."""
    if space is None and found.points is None:
        assert found.coordinates is not None
        return Plane(found.coordinates[rows], "principal coordinate 1", "principal coordinate 2", True)
    if space is None and found.points is not None and found.points.shape[1] == 2:
        return columns_of(found, (0, 1), rows)
    if space is None or (isinstance(space, str) and space == "components"):
        return components_of(found, rows)
    if isinstance(space, str):
        if space == "kernel":
            return kernel_plane(found, rows)
        raise ValueError(f"`space` must be {SPACES}; got {space!r}.")
    if isinstance(space, Sequence) and len(space) == 2 and all(isinstance(c, str | int) for c in space):
        return columns_of(found, [column_number(found, c) for c in space], rows)
    return given_plane(found, space, rows)


def needed_points(found: Partition, space: str) -> FloatArray:
    """The table, which a partition of a matrix does not have."""
    if found.points is None:
        raise ValueError(f"`space` can be {space} only where columns of numbers were clustered.")
    return found.points


def column_number(found: Partition, column: str | int) -> int:
    """Place of a column that was named or numbered."""
    d = needed_points(found, "two columns").shape[1]
    names = found.columns or tuple(f"column {j}" for j in range(d))
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"`space` must name columns of the table, and {column!r} is none of them.")
        return names.index(column)
    if not 0 <= column < d:
        raise ValueError(f"`space` must give column numbers from 0 to {d - 1}, got {column}.")
    return column


def columns_of(found: Partition, pair: Sequence[int], rows: IntArray) -> Plane:
    """Two columns as they are."""
    points = needed_points(found, "two columns")
    names = found.columns or tuple(f"column {j}" for j in range(points.shape[1]))
    unit = " (z-score)" if found.standardization is not None else ""
    first, second = (f"{plain(names[j], 40)}{unit}" for j in pair)
    return Plane(points[rows][:, np.array(pair)], first, second, False)


def components_of(found: Partition, rows: IntArray) -> Plane:
    """First two principal components of the columns."""
    points = needed_points(found, '"components"')
    centred = points - points.mean(axis=0)
    with one_thread_up_to(min(centred.shape)):
        left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(centred), 2))
    plane[:, : lengths.size] = left[:, :2] * lengths[:2]
    explained = np.append(lengths**2, 0.0) / max(float((lengths**2).sum()), np.finfo(float).tiny)
    first, second = (f"principal component {j + 1} ({explained[j]:.0%} of variance)" for j in range(2))
    return Plane(plane[rows], first, second, True)


def kernel_plane(found: Partition, rows: IntArray) -> Plane:
    """Principal coordinates of rho, which is kernel PCA with the kernel that generates it."""
    if found.points is None:
        assert found.coordinates is not None
        return Plane(found.coordinates[rows], "kernel principal component 1", "kernel principal component 2", True)
    d = Dissimilarity(metric=found.metric, points=np.asarray(found.points)[rows], warns=False)
    plane, shares = np.zeros((rows.size, 2)), ["", ""]
    if rows.size > 2 and not d.all_coincide:
        values, vectors = d.largest_eigenpairs(2)
        plane = vectors * np.sqrt(np.maximum(values, 0.0))
        total = float(d.row_totals.sum()) / (2 * rows.size)
        shares = [f" ({value / total:.0%} of T)" if total > 0 else "" for value in values]
    first, second = (f"kernel principal component {j + 1}{shares[j]}" for j in range(2))
    return Plane(plane, first, second, True)


def given_plane(found: Partition, space: Any, rows: IntArray) -> Plane:
    """Coordinates that the caller has, or those of a result."""
    known = {"coordinates": "axis", "embedding": "embedding axis"}
    name = next((name for name in known if hasattr(space, name)), None)
    array = np.asarray(space if name is None else getattr(space, name), dtype=np.float64)
    n = found.labels.size
    if array.ndim != 2 or array.shape[0] != n or not array.shape[1]:
        raise ValueError(f"`space` must be {SPACES}, with one row for each of the {n} points; got shape {array.shape}.")
    plane = np.zeros((n, 2))
    plane[:, : min(array.shape[1], 2)] = array[:, :2]
    word = known[name] if name else "coordinate"
    shares = [f" ({share:.0%})" for share in getattr(space, "explained", ())[:2]]
    first, second = (f"{word} {j + 1}{shares[j] if j < len(shares) else ''}" for j in range(2))
    return Plane(plane[rows], first, second, name is not None)
