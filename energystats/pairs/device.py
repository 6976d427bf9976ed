"""Sum over pairs of points in arrays of another library, such as torch, on the device where they are.

Only the type of the input chooses this route. Sums use functions of the array API standard alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energystats._core.group_sums import bin_sums_by_product, groups_multiplied, largest_last, reordered
from energystats._core.labelings import LABELINGS_PER_BLOCK, Labelings, narrowed
from energystats._typing import AnyArray, FloatArray, IntArray
from energystats.inputs.arrays import check_finite
from energystats.metrics.base import Metric
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.kernel import Exponential, Gaussian
from energystats.pairs.block_values import Measures, Task, ValuesHere
from energystats.pairs.disk import Rows, value_rows
from energystats.pairs.tiles import Pairs, completed_sums

__all__ = ["OnDevice", "RowsOnDevice", "is_from_array_library", "on_device"]


TILE = 4096  # rows and columns of a tile
INDICATOR_BYTES = 2**30  # of the indicators held at a time: every time, all of rho is computed again


def is_from_array_library(sample: Any) -> bool:
    """Return whether a sample is an array of another library, such as torch, with the array API standard."""
    if isinstance(sample, np.ndarray) or hasattr(sample, "__dask_graph__") or not hasattr(sample, "shape"):
        return False
    return hasattr(sample, "__array_namespace__") or type(sample).__module__.partition(".")[0] == "torch"


def _find_namespace(array: Any) -> Any:
    """Return the module of array API functions for an array; raise ImportError without array-api-compat."""
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            f"Arrays of type {type(array).__name__} are used where they are with array-api-compat: pip install "
            "'energystats-toolkit[gpu]'; or give np.asarray(X)."
        ) from error
    return array_namespace(array)


def _copy_to_numpy(array: Any) -> FloatArray:
    """Copy an array from its device to a NumPy array of float64."""
    from array_api_compat import is_cupy_array, is_torch_array

    if is_torch_array(array):
        array = array.detach().cpu()
    elif is_cupy_array(array):
        array = array.get()
    return np.array(np.from_dlpack(array), dtype=np.float64)


def _cut_into_spans(n: int, height: int) -> list[slice]:
    """Divide n rows into consecutive slices of at most `height` rows."""
    return [slice(start, min(start + height, n)) for start in range(0, n, height)]


def on_device(samples: tuple[Any, ...], names: list[str]) -> RowsOnDevice:
    """Stack all samples as rows of one array on the device of the first sample."""
    xp = _find_namespace(samples[0])
    parts = [_read_columns(xp, sample, name) for sample, name in zip(samples, names, strict=True)]
    widths = [int(part.shape[1]) for part in parts]
    if len(set(widths)) > 1:
        raise ValueError(f"The samples must have the same number of columns, got {', '.join(map(str, widths))}.")
    points = parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
    return RowsOnDevice(None, points=points, xp=xp)


def _read_columns(xp: Any, sample: Any, name: str) -> Any:
    """Return a sample as an array (n, d) of finite doubles on its device; raise if it has other values."""
    if not is_from_array_library(sample):
        raise TypeError(f"All samples must be arrays of one library; `{name}` is {type(sample).__name__}.")
    if not xp.isdtype(sample.dtype, ("real floating", "integral")):
        raise TypeError(f"`{name}` must hold real numbers, got dtype {sample.dtype}.")
    if sample.ndim not in (1, 2) or 0 in sample.shape:
        raise ValueError(f"`{name}` must have shape (n,) or (n, d) with rows and columns, got {tuple(sample.shape)}.")
    points = sample[:, None] if sample.ndim == 1 else sample
    points = xp.astype(points, xp.float64, copy=True)
    if not bool(xp.all(xp.isfinite(points))):
        check_finite(_copy_to_numpy(points), name, None)
    # the extremes of every column tell whether squares overflow
    check_finite(_copy_to_numpy(xp.stack((xp.min(points, axis=0), xp.max(points, axis=0)))), name, None)
    return points


@dataclass(frozen=True, eq=False)
class RowsOnDevice(Rows):
    """Hold the rows of a table as one array of another library, on its device."""

    points: Any = None  # (n, d) numbers in double precision
    xp: Any = None  # its functions

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.points.shape
        return int(n), int(d)

    @property
    def n_workers(self) -> int:
        return 0

    def measured(self) -> Measures:
        n = len(self)
        return Measures.over(
            Measures.of(_copy_to_numpy(self.points[span, :])) for span in _cut_into_spans(n, 16 * TILE)
        )

    def pick(self, rows: IntArray) -> FloatArray:
        where = self.like(rows)
        return np.asarray((_copy_to_numpy(self.xp.take(self.points, where, axis=0)) - self.center) / self.scale)

    def mapped(self, task: Task, *shared: Any, column: FloatArray) -> RowsOnDevice:
        points = self.like(np.concatenate(list(self.values().map(task, *shared, columns=(column,)))))
        return replace(self, points=points, center=np.zeros(1), scale=np.ones(1))

    def pairs(self, metric: Metric) -> OnDevice:
        points = (self.points - self.like(self.center)) / self.like(self.scale)
        return OnDevice(replace(self, points=points), metric)

    def values(self) -> ValuesHere:
        def read(span: slice) -> FloatArray:
            return np.asarray((_copy_to_numpy(self.points[span, :]) - self.center) / self.scale)

        return ValuesHere(_cut_into_spans(len(self), value_rows(self.shape[1])), read)

    def like(self, values: AnyArray) -> Any:
        """Copy a NumPy array to the device of the points."""
        from array_api_compat import device

        # a copy: PyTorch warns of arrays that cannot be written
        return self.xp.asarray(np.array(values), device=device(self.points))


@dataclass(frozen=True, eq=False)
class OnDevice(Pairs):
    """Compute products with R and sums of rho over pairs of points that are on a device, such as a GPU."""

    rows: RowsOnDevice  # the points
    metric: Metric  # Euclidean, or a function of the distance

    def __post_init__(self) -> None:
        if type(self.metric) not in RHO:
            known = ", ".join(f'"{kind.__name__.lower()}"' for kind in RHO)
            raise ValueError(
                f"Arrays of {self.rows.xp.__name__} go with metric {known}, got {self.metric!r}; or give np.asarray(X)."
            )

    def tiles(self) -> Iterator[tuple[slice, slice, Any, float]]:
        """Yield tiles of the upper triangle of dissimilarities on a device, each with its rows, columns and weight.

        The weight is 1/2 on the diagonal, whose tiles hold every pair twice.
        """
        points, n = self.rows.points, len(self.rows)
        for rows in _cut_into_spans(n, TILE):
            for columns in _cut_into_spans(n, TILE):
                if columns.start >= rows.start:
                    tile = RHO[type(self.metric)](self.rows.xp, self.metric, points[rows, :], points[columns, :])
                    yield rows, columns, tile, 0.5 if rows == columns else 1.0

    def multiply(self, columns: FloatArray) -> FloatArray:
        """Multiply the dissimilarity matrix by columns on a device such as a GPU; (n, c) -> (n, c)."""
        given, product = self.rows.like(columns), np.zeros(columns.shape)
        for rows, others, tile, weight in self.tiles():
            product[rows] += _copy_to_numpy(tile @ given[others, :])
            if weight == 1:
                product[others] += _copy_to_numpy(self.rows.xp.matrix_transpose(tile) @ given[rows, :])
        return product

    def block_sums(self, Z: FloatArray) -> FloatArray:
        """Compute sums of dissimilarities between groups for b labelings on a device; (n, k, b) -> (b, k, k)."""
        return self.sums_of(self.rows.like(np.ascontiguousarray(Z)))

    def sums_of(self, Z: Any) -> FloatArray:
        """Compute sums of dissimilarities between groups for b labelings, all on a device; (n, k, b) -> (b, k, k)."""
        _, k, b = Z.shape
        half = self.rows.like(np.zeros((k, k, b)))
        for rows, columns, tile, weight in self.tiles():
            half = half + weight * self.share_of(tile, Z[rows, :, :], Z[columns, :, :])[0]
        return _add_mirrored(_copy_to_numpy(half))

    def share_of(self, tile: Any, own: Any, others: Any) -> tuple[Any, Any]:
        """Compute one tile's share of sums of rho between groups, and tile times indicators; (k, k, b), (r, k b)."""
        xp, (_, k, b) = self.rows.xp, own.shape
        product = tile @ xp.reshape(others, (others.shape[0], k * b))
        by_group = xp.reshape(product, (product.shape[0], k, b))
        return xp.stack([xp.sum(own[:, j, None, :] * by_group, axis=0) for j in range(k)]), product

    def block_sums_and_totals(self, Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute sums of rho between groups for b labelings, and R @ weights, R the matrix of rho; (b, k, k), (n,)."""
        return self.block_sums(Z), self.multiply(weights[:, None])[:, 0]

    def bin_sums(self, codes: IntArray, weights: FloatArray, n_bins: int) -> FloatArray:
        return bin_sums_by_product(self.multiply, codes, weights, n_bins)

    def absolute_total(self) -> float:
        """Sum the dissimilarities over all ordered pairs of points on a device such as a GPU."""
        return float(self.multiply(np.ones((len(self.rows), 1))).sum())

    def null_sums(
        self, weights: FloatArray, codes: IntArray, others: Labelings, k: int, *, at_once: int | None
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield sums of dissimilarities between groups, and group sizes, of labelings, from a device such as a GPU."""
        room = max(1, INDICATOR_BYTES // (8 * weights.size * groups_multiplied(weights, k) * LABELINGS_PER_BLOCK))
        # labels are small integers, eight times smaller than indicators: those travel, these are made on the device
        waiting, most = [narrowed(codes)[None, :]], 1 + (at_once or room)  # the labels as observed go with the first
        for block in others.blocks():
            waiting.append(block)
            if len(waiting) == most:
                yield self.sums_of_labels(np.concatenate(waiting), weights, k)
                waiting, most = [], at_once or room
        if waiting:
            yield self.sums_of_labels(np.concatenate(waiting), weights, k)

    def sums_of_labels(self, labels: AnyArray, weights: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        """Compute sums of rho between groups, and group sizes, of some labelings; (b, n) -> (b, k, k), (b, k)."""
        xp, like = self.rows.xp, self.rows.like
        order = largest_last(labels[0], k)
        labels = order[labels]
        # not every library compares unsigned integers of more than a byte
        codes = xp.matrix_transpose(like(labels if labels.itemsize == 1 else labels.astype(np.int64)))
        w = like(weights[:, None])
        m = groups_multiplied(weights, k)
        Z = xp.stack([xp.astype(codes == g, xp.float64) * w for g in range(m)], axis=1)
        sizes = _copy_to_numpy(xp.sum(Z, axis=0)).T
        if m == k:
            return reordered(self.sums_of(Z), sizes, order)
        inner, with_all, everything = self.sums_and_totals(Z, w)
        # all rows stand in place of the last group
        sums = np.empty((labels.shape[0], k, k))
        sums[:, :-1, :-1] = inner
        sums[:, :-1, -1] = sums[:, -1, :-1] = with_all
        sums[:, -1, -1] = everything
        found = completed_sums(sums, np.column_stack((sizes, np.full(len(sizes), weights.sum()))), k)
        return reordered(*found, order)

    def sums_and_totals(self, Z: Any, w: Any) -> tuple[FloatArray, FloatArray, float]:
        """Compute Z'RZ, Z'Rw and w'Rw in one pass over R, the matrix of rho, on a device; (b, m, m), (b, m), float."""
        xp, like = self.rows.xp, self.rows.like
        _, m, b = Z.shape
        half, with_all, everything = like(np.zeros((m, m, b))), like(np.zeros((1, m * b))), like(np.zeros((1, 1)))
        for rows, columns, tile, weight in self.tiles():
            own = Z[rows, :, :]
            share, product = self.share_of(tile, own, Z[columns, :, :])
            totals = tile @ w[columns, :]
            down, across = xp.matrix_transpose(w[rows, :]), xp.matrix_transpose(totals)
            half = half + weight * share
            with_all = with_all + weight * (down @ product + across @ xp.reshape(own, (own.shape[0], m * b)))
            everything = everything + 2 * weight * (down @ totals)
        total = _copy_to_numpy(with_all).reshape(m, b)
        return _add_mirrored(_copy_to_numpy(half)), total.T, float(_copy_to_numpy(everything)[0, 0])


def _add_mirrored(half: FloatArray) -> FloatArray:
    """Complete sums over one triangle of a symmetric matrix to sums over both triangles; (k, k, b) -> (b, k, k)."""
    return np.asarray((half + half.transpose(1, 0, 2)).transpose(2, 0, 1))


# ---------------------------------------------------------------- rho


def _compute_squares(xp: Any, X: Any, Y: Any) -> Any:
    """Compute ||x - y||**2 for all pairs of rows from coordinate differences, without loss of digits; (n, m)."""
    # no |x|^2 + |y|^2 - 2 x'y, which loses the digits of an offset
    found = (X[:, 0, None] - Y[None, :, 0]) ** 2
    for j in range(1, X.shape[1]):
        found = found + (X[:, j, None] - Y[None, :, j]) ** 2
    return found


def _compute_device_power(xp: Any, metric: Euclidean, X: Any, Y: Any) -> Any:
    """Compute ||x - y||**alpha for all pairs of rows on their device; (n, d), (m, d) -> (n, m)."""
    if metric.alpha == 2:
        return _compute_squares(xp, X, Y)
    distance = xp.sqrt(_compute_squares(xp, X, Y))
    return distance if metric.alpha == 1 else distance**metric.alpha


def _make_bounded(exponent: Callable[[Any, Any, float], Any]) -> Callable[[Any, Any, Any, Any], Any]:
    """Return a function that computes a kernel's bounded dissimilarity on the device that holds the rows."""

    def rho(xp: Any, metric: Any, X: Any, Y: Any) -> Any:
        return -2 * xp.expm1(exponent(xp, _compute_squares(xp, X, Y), metric.sigma))

    return rho


RHO: dict[type, Callable[[Any, Any, Any, Any], Any]] = {
    Euclidean: _compute_device_power,
    Exponential: _make_bounded(lambda xp, squared, sigma: xp.sqrt(squared) / (-2 * sigma)),
    Gaussian: _make_bounded(lambda xp, squared, sigma: squared / (-2 * sigma**2)),
}
