"""Pictures of points and their clusters: in a plane, on a line, means of columns, and the path of the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._core.threads import one_thread_up_to
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.names import as_pandas, name_text
from energystats.plotting.axes import (
    CURVE,
    HATCHES,
    MARKERS,
    NAMES_DRAWN,
    NAMES_FIT,
    POINTS_SHOWN,
    axes_or_new,
    cluster_colors,
    draw_heat,
    draw_names,
    group_codes,
    legend_of_clusters,
    legend_width,
    marker_area,
    plain_all,
    room_for,
    rows_shown,
    write_plain_name,
)

if TYPE_CHECKING:
    from energystats.clustering.partition import Partition

__all__ = ["mark_classes", "plot_cluster_means", "plot_partition", "plot_path"]


def plot_partition(found: Partition, ax: Axes | None = None, *, space: Any = None) -> Axes:
    """Points by cluster: a colour and a marker each, in one or two coordinates or the first two principal ones.

    Of more than 5,000 points a random part is drawn; up to forty points with names have them beside.
    """
    if space is None and found.points is not None and found.points.shape[1] == 1:
        return _plot_line(found, cluster_colors(found.k), axes_or_new(ax, more_width=legend_width(found.k)))
    rows = _rows_in_view(found, space)
    plane = _plane_of(found, space, rows)
    ax = axes_or_new(ax, more_width=legend_width(found.k))
    area = marker_area(rows.size)
    for j, color in enumerate(cluster_colors(found.k)):
        inside = plane.points[found.labels[rows] == j]
        style: dict[str, Any] = {"marker": MARKERS[j % len(MARKERS)], "color": color, "edgecolors": "white", "lw": 0.3}
        label = f"cluster {j} (n = {found.sizes[j]})"
        ax.scatter(inside[:, 0], inside[:, 1], s=area, alpha=0.85, label=label, rasterized=rows.size > 1000, **style)
    ax.set_xlabel(plane.x)
    ax.set_ylabel(plane.y)
    named = found.has_string_names and found.labels.size <= NAMES_DRAWN
    if plane.same_unit:
        ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(_partition_title(found, rows.size), loc="left")
    legend_of_clusters(found.k, ax, area=area)
    if named:
        ax.margins(0.12)
        draw_names(plane.points, [write_plain_name(name) for name in found.names or ()], ax)
    return ax


def _rows_in_view(found: Partition, space: Any = None) -> IntArray:
    """The points that `plot_partition` draws."""
    return rows_shown(found.labels, KERNEL_POINTS if isinstance(space, str) and space == "kernel" else POINTS_SHOWN)


def _partition_title(found: Partition, shown: int) -> str:
    """How much of T the clusters explain, and how many points are seen."""
    n = found.labels.size
    share = f"S/T = {found.between / found.total:.3f}" if found.total else "all points coincide"
    return f"{found.k} cluster{'s' * (found.k > 1)}, n = {n}, {share}" + (
        f", {shown} of them drawn" if shown < n else ""
    )


def mark_classes(found: Partition, classes: ArrayLike, ax: Axes, *, space: Any = None) -> None:
    """Open markers, one shape per known class, around the points of `plot_partition`."""
    rows = _rows_in_view(found, space)
    if space is None and found.points is not None and found.points.shape[1] == 1:  # below the bars of the histogram
        plane = np.column_stack([found.points[rows, 0], np.zeros(rows.size)])
    else:
        plane = _plane_of(found, space, rows).points
    codes, names = group_codes(classes, found.labels.size)
    for i, name in enumerate(names):
        inside = plane[codes[rows] == i]
        style: dict[str, Any] = {
            "s": 60,
            "marker": "s^Dovphd"[i % 8],
            "facecolors": "none",
            "edgecolors": "0.25",
            "lw": 0.6,
        }
        ax.scatter(inside[:, 0], inside[:, 1], label=name, **style)
    ax.legend(frameon=False, fontsize="small")


# ---------------------------------------------------------------- one column


def _plot_line(found: Partition, colors: list[Any], ax: Axes) -> Axes:
    """One column: histogram by cluster with a smooth density, and the breaks where there are any.

    A bar that a break cuts shows the colours of both sides, one on the other. Where a few far points would press the
    others together, the axis ends near the outermost breaks and 1 % quantiles, and its label counts what lies beyond.
    """
    assert found.points is not None
    x = found.points[:, 0]
    low, high = _visible_range(x, found.breaks)
    labels = [f"cluster {j} (n = {n})" for j, n in enumerate(found.sizes)]
    bins = np.linspace(low, high, 1 + min(120, max(30, int(np.sqrt(x.size))))).tolist() if high > low else 30
    parts = [x[found.labels == j] for j in range(found.k)]
    _, cuts, drawn = ax.hist(parts, bins=bins, stacked=True, color=colors, label=labels)
    edges, bars = np.asarray(cuts, dtype=np.float64), cast("list[Any]", [drawn] if found.k == 1 else drawn)
    for j, container in enumerate(bars):
        for bar in container:
            bar.set(hatch=HATCHES[j % len(HATCHES)], edgecolor="white", lw=0)
    _draw_smooth(found, x[(x >= low) & (x <= high)], edges, ax)
    _mark_breaks([] if found.breaks is None else found.breaks.tolist(), high - low, ax)
    hidden = int(np.count_nonzero((x < low) | (x > high)))
    name = write_plain_name(found.columns[0], 40) if found.columns else "x"
    unit = ", standard deviations from the mean" if found.standardization is not None else ""
    ax.set_xlabel(f"{name}{unit} ({hidden} of {x.size} values beyond the axis)" if hidden else f"{name}{unit}")
    ax.set_ylabel("count")
    ax.set_title(_partition_title(found, x.size), loc="left")
    if found.k <= 8:
        ax.set_ylim(top=(1.05 + 0.07 * (found.k + 1)) * ax.get_ylim()[1])  # room for the legend above the bars
    legend_of_clusters(found.k, ax, beside=1.16)  # beyond the scale of the density
    return ax


def _draw_smooth(found: Partition, x: FloatArray, edges: FloatArray, ax: Axes) -> None:
    """Kernel density of the values in view on the scale of the counts, and its own scale on the right.

    Silverman's bandwidth, with the median spread within the clusters where that is smaller, since that of all points
    would smooth the clusters together; at least half a bar.
    """
    if x.size < 10 or np.ptp(x) == 0:
        return
    quartiles = np.quantile(x, [0.25, 0.75])
    within = [float(np.std(part)) for part in _cluster_parts(found) if part.size > 1]
    spreads = [float(np.std(x)), float(np.ptp(quartiles)) / 1.349, float(np.median(within)) if within else 0.0]
    grid = np.linspace(edges[0], edges[-1], 801)
    step = grid[1] - grid[0]
    bandwidth = max(0.9 * min(s for s in spreads if s > 0) * x.size**-0.2, 0.5 * float(edges[1] - edges[0]))
    counts, _ = np.histogram(x, bins=np.append(grid - step / 2, grid[-1] + step / 2))
    reach = min(int(4 * bandwidth / step) + 1, 400)
    kernel = np.exp(-0.5 * (step * np.arange(-reach, reach + 1) / bandwidth) ** 2)
    density = np.convolve(counts, kernel / kernel.sum(), mode="full")[reach : reach + grid.size] / (x.size * step)
    per_count = 1 / (x.size * float(edges[1] - edges[0]))
    ax.plot(grid, density / per_count, color="black", lw=1.4, label="density (Gaussian kernel)")
    right = cast(Any, ax).secondary_yaxis("right", functions=(lambda c: c * per_count, lambda d: d / per_count))
    right.set_ylabel("density")


def _cluster_parts(found: Partition) -> list[FloatArray]:
    """Values of one column, cluster by cluster."""
    assert found.points is not None
    return [found.points[found.labels == j, 0] for j in range(found.k)]


def _mark_breaks(breaks: list[float], width: float, ax: Axes) -> None:
    """Dashed lines, with the value above each one that is far enough from the label before it."""
    labelled: list[float] = []
    for b in breaks:
        ax.axvline(b, color="0.15", lw=1, ls="--")
        if not labelled or b - labelled[-1] >= 0.04 * width:
            labelled.append(b)
    if labelled:
        top = ax.secondary_xaxis("top")
        top.set_xticks(labelled, [f"{b:.4g}" for b in labelled], rotation=45, ha="left", fontsize="small")


def _visible_range(x: FloatArray, breaks: FloatArray | None) -> tuple[float, float]:
    """The range of the data; for many points with far ends, that of the breaks and the middle 98 % and a tenth more."""
    low, high = float(x.min()), float(x.max())
    first, last = (float(q) for q in np.quantile(x, [0.01, 0.99]))
    if breaks is not None and breaks.size:
        first, last = min(first, float(breaks[0])), max(last, float(breaks[-1]))
    reach = 0.1 * (last - first)
    if x.size < 1000 or not last > first or high - low < 3 * (last - first):
        return low, high
    return max(low, first - reach), min(high, last + reach)


# ---------------------------------------------------------------- means of the features


def plot_cluster_means(found: Partition, ax: Axes | None = None, *, data: Any = None) -> Axes:
    """Heat map of the means of the clusters, a row for each feature, in its standard deviations from its mean."""
    table, names = _features(found, data)
    center = np.nanmean(table, axis=0)
    width = np.nanmax(table, axis=0) - np.nanmin(table, axis=0)
    scale = np.where(width > 0, width, 1.0)
    spread = np.nanstd((table - center) / scale, axis=0) * scale  # neither overflows nor vanishes
    z = np.full((len(names), found.k), np.nan)
    for j in range(found.k):
        part = table[found.labels == j]
        known = ~np.isnan(part).all(axis=0)
        z[known, j] = (np.nanmean(part[:, known], axis=0) - center[known]) / np.where(width > 0, spread, 1.0)[known]
    z[np.abs(z) < 1e-9] = 0.0  # rounding of equal means
    shown = plain_all(names)
    ax = axes_or_new(ax, height=1.6 + 0.28 * min(len(names), NAMES_FIT), more_width=room_for(shown))
    top = float(np.nanmax(np.abs(z), initial=0.0)) or 1.0
    heads = [f"{j}\n(n = {n})" if found.k <= 8 else f"{j} (n = {n})" for j, n in enumerate(found.sizes)]
    label = "mean, in standard deviations\nfrom the overall mean"
    look: dict[str, Any] = {"limits": (-top, top), "square": False, "cmap": "cividis", "form": "+.2f"}
    draw_heat(z, shown, heads, ax, label=label, **look)
    ax.set_xlabel("cluster" if found.k <= NAMES_FIT else f"{found.k} clusters, in their order")
    if len(names) > NAMES_FIT:
        ax.set_ylabel(f"{len(names)} features, in the order of the table")
    ax.set_title(f"Means of the clusters by feature, n = {found.labels.size}", loc="left")
    return ax


def _features(found: Partition, data: Any) -> tuple[FloatArray, Sequence[str]]:
    """The table to average, NaN where nothing is known, and the names of its columns."""
    if data is None:
        if found.points is None:
            raise ValueError("`data` must be a table with one row for each point: the partition does not hold any.")
        d = found.points.shape[1]
        return np.asarray(found.points), found.columns or [f"column {j}" for j in range(d)]
    import pandas as pd

    data = as_pandas(data)
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(np.asarray(data)).add_prefix("column ")
    numbers = frame.select_dtypes("number")
    if len(frame) != found.labels.size:
        raise ValueError(f"`data` must have one row for each of the {found.labels.size} points, got {len(frame)}.")
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


# ---------------------------------------------------------------- the search


def plot_path(found: Partition, ax: Axes | None = None) -> Axes:
    """W after every pass, the start being pass 0."""
    ax = axes_or_new(ax)
    path = np.array([found.within]) if found.path is None else found.path
    few: dict[str, Any] = {"marker": "o"} if path.size <= 60 else {}
    ax.plot(np.arange(path.size), path, color=CURVE, label="W after each pass of the best start", **few)
    ax.axhline(found.within, color="0.4", lw=1, ls=":", label=f"W reported, {found.within:.6g}")
    if path.size == 1:
        ax.set_xlim(-0.5, 0.5)
    ax.set_xlabel("pass over the points")
    ax.set_ylabel("within dispersion W")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    starts = f", best of {found.n_init} starts" if found.n_init > 1 else ""
    ax.set_title(f"{found.algorithm}, k = {found.k}, n = {found.labels.size}{starts}", loc="left")
    ax.legend(frameon=False)
    return ax


KERNEL_POINTS = 2000  # eigenvectors of more would take long
SPACES = '"components", "kernel", the names or numbers of two columns, an (n, 2) array or a result with coordinates'


class _Plane(NamedTuple):
    """Points in the plane, the names of the axes, and whether both have one unit."""

    points: FloatArray
    x: str
    y: str
    same_unit: bool


def _plane_of(found: Partition, space: Any, rows: IntArray) -> _Plane:
    """Coordinates of the given rows: the only two columns, principal components, or what was asked for."""
    if space is None and found.points is None:
        assert found.coordinates is not None
        return _Plane(found.coordinates[rows], "principal coordinate 1", "principal coordinate 2", True)
    if space is None and found.points is not None and found.points.shape[1] == 2:
        return _choose_two_columns(found, (0, 1), rows)
    if space is None or (isinstance(space, str) and space == "components"):
        return _components_of(found, rows)
    if isinstance(space, str):
        if space == "kernel":
            return _kernel_plane(found, rows)
        raise ValueError(f"`space` must be {SPACES}; got {space!r}.")
    if isinstance(space, Sequence) and len(space) == 2 and all(isinstance(c, str | int) for c in space):
        return _choose_two_columns(found, [_column_number(found, c) for c in space], rows)
    return _given_plane(found, space, rows)


def _needed_points(found: Partition, space: str) -> FloatArray:
    """The table, which a partition of a matrix does not have."""
    if found.points is None:
        raise ValueError(f"`space` can be {space} only where columns of numbers were clustered.")
    return found.points


def _column_number(found: Partition, column: str | int) -> int:
    """Place of a column that was named or numbered."""
    d = _needed_points(found, "two columns").shape[1]
    names = found.columns or tuple(f"column {j}" for j in range(d))
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"`space` must name columns of the table, and {column!r} is none of them.")
        return names.index(column)
    if not 0 <= column < d:
        raise ValueError(f"`space` must give column numbers from 0 to {d - 1}, got {column}.")
    return column


def _choose_two_columns(found: Partition, pair: Sequence[int], rows: IntArray) -> _Plane:
    """Two columns as they are."""
    points = _needed_points(found, "two columns")
    names = found.columns or tuple(f"column {j}" for j in range(points.shape[1]))
    unit = " (z-score)" if found.standardization is not None else ""
    first, second = (f"{write_plain_name(names[j], 40)}{unit}" for j in pair)
    return _Plane(points[rows][:, np.array(pair)], first, second, False)


def _components_of(found: Partition, rows: IntArray) -> _Plane:
    """First two principal components of the columns."""
    points = _needed_points(found, '"components"')
    centred = points - points.mean(axis=0)
    with one_thread_up_to(min(centred.shape)):
        left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(centred), 2))
    plane[:, : lengths.size] = left[:, :2] * lengths[:2]
    explained = np.append(lengths**2, 0.0) / max(float((lengths**2).sum()), np.finfo(float).tiny)
    first, second = (f"principal component {j + 1} ({explained[j]:.0%} of variance)" for j in range(2))
    return _Plane(plane[rows], first, second, True)


def _kernel_plane(found: Partition, rows: IntArray) -> _Plane:
    """Principal coordinates of rho, which is kernel PCA with the kernel that generates it."""
    if found.points is None:
        assert found.coordinates is not None
        return _Plane(found.coordinates[rows], "kernel principal component 1", "kernel principal component 2", True)
    d = Dissimilarity(metric=found.metric, points=np.asarray(found.points)[rows], warns=False)
    plane, shares = np.zeros((rows.size, 2)), ["", ""]
    if rows.size > 2 and not d.all_coincide:
        values, vectors = d.largest_eigenpairs(2)
        plane = vectors * np.sqrt(np.maximum(values, 0.0))
        total = float(d.row_totals.sum()) / (2 * rows.size)
        shares = [f" ({value / total:.0%} of T)" if total > 0 else "" for value in values]
    first, second = (f"kernel principal component {j + 1}{shares[j]}" for j in range(2))
    return _Plane(plane, first, second, True)


def _given_plane(found: Partition, space: Any, rows: IntArray) -> _Plane:
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
    return _Plane(plane[rows], first, second, name is not None)
