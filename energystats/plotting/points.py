"""Draw points and their clusters: in a plane, on a line, means of columns, and W from pass to pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from energystats._core.density import smooth_density
from energystats._typing import FloatArray, IntArray
from energystats.plotting.axes import (
    CURVE,
    HATCHES,
    HULLS_INSIDE,
    LISTED_INSIDE,
    MARKERS,
    NAMES_DRAWN,
    NAMES_FIT,
    axes_or_new,
    cluster_colors,
    draw_heat,
    draw_names,
    legend_of_clusters,
    legend_width,
    marker_area,
    move_off_points,
    plain_all,
    room_for,
    write_plain_name,
)

__all__ = [
    "find_hull",
    "mark_classes",
    "mark_values",
    "plot_cluster_means",
    "plot_groups",
    "plot_line",
    "plot_partition",
    "plot_path",
]


SHAPES, OUTLINES = "s^Dovphd", ("0.25", "#b22222", "#1f6f3f", "#1f4e9c")  # of classes
SPOKES_DRAWN = 2000  # points, above which lines to their centres would cover everything


def plot_partition(
    points: FloatArray,
    labels: IntArray,
    ax: Axes | None = None,
    *,
    sizes: Sequence[int],
    share: float | None,
    axes: tuple[str, str],
    units: tuple[str, str] = ("", ""),
    same_unit: bool = True,
    names: Sequence[str] | None = None,
    hollow: NDArray[np.bool_] | None = None,
    all_names: bool = True,
) -> Axes:
    """Draw points in a plane with a colour and a marker for each cluster, names if few, and return the axes.

    `sizes` count all points of the clusters, of which a part may be drawn; `share` is S/T, None where T is 0. Points
    that are `hollow` have an empty marker; those labelled -1 are small crosses. Without `all_names` names are drawn
    where they fit, of more points, too.
    """
    k, area = len(sizes), marker_area(len(points))
    ax = axes_or_new(ax, more_width=legend_width(k))
    for j, color in enumerate(cluster_colors(k)):
        full = labels == j if hollow is None else (labels == j) & ~hollow
        inside, marker = points[full], MARKERS[j % len(MARKERS)]
        style: dict[str, Any] = {"marker": marker, "color": color, "edgecolors": "white", "lw": 0.3}
        label = f"cluster {j} (n = {sizes[j]})"
        ax.scatter(inside[:, 0], inside[:, 1], s=area, alpha=0.85, label=label, rasterized=len(points) > 1000, **style)
        if hollow is not None:
            open_ = points[(labels == j) & hollow]
            ax.scatter(open_[:, 0], open_[:, 1], s=area, marker=marker, facecolors="none", edgecolors=[color], lw=0.9)
    if (labels < 0).any():
        outside = points[labels < 0]
        ax.scatter(outside[:, 0], outside[:, 1], s=area, marker="x", color="0.6", lw=0.8, label="in no cluster")
    x, y = (f"{write_plain_name(name, 40)}{unit}" for name, unit in zip(axes, units, strict=True))
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if same_unit:
        ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(_partition_title(sizes, share, len(points)), loc="left")
    named = names is not None and (sum(sizes) <= NAMES_DRAWN or not all_names)
    if named:
        ax.margins(0.12)
    legend_of_clusters(k, ax, area=area)
    if names is not None and named:
        draw_names(points, [write_plain_name(name) for name in names], ax, all_of_them=all_names)
    return ax


def _partition_title(sizes: Sequence[int], share: float | None, shown: int) -> str:
    """Return the title of a plot of clusters: their number, n, S/T, and how many points are drawn."""
    k, n = len(sizes), sum(sizes)
    explained = "all points coincide" if share is None else f"S/T = {share:.3f}"
    part = f", {shown} of them drawn" if shown < n else ""
    return f"{k} cluster{'s' * (k > 1)}, n = {n}, {explained}{part}"


def mark_classes(points: FloatArray, codes: IntArray, names: Sequence[object], ax: Axes) -> Axes:
    """Draw open markers around the points of a plot, one for each class, with a legend; return the axes.

    Beyond eight classes the shapes come again in other colours.
    """
    for i, name in enumerate(plain_all(names)):
        inside = points[codes == i]
        style: dict[str, Any] = {
            "s": 60,
            "marker": SHAPES[i % len(SHAPES)],
            "facecolors": "none",
            "edgecolors": OUTLINES[i // len(SHAPES) % len(OUTLINES)],
            "lw": 0.6 if i < len(SHAPES) else 1.2,
        }
        ax.scatter(inside[:, 0], inside[:, 1], label=name, **style)
    entries = len(ax.get_legend_handles_labels()[1])
    if entries <= LISTED_INSIDE:
        ax.legend(framealpha=0.85, edgecolor="0.85", fontsize="small")
        move_off_points(ax)
    else:
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_groups(
    points: FloatArray,
    codes: IntArray,
    ax: Axes | None = None,
    *,
    names: Sequence[object],
    sizes: Sequence[int],
    centers: FloatArray,
    title: str,
    axes: tuple[str, str] = ("principal coordinate 1", "principal coordinate 2"),
) -> Axes:
    """Draw groups of points in a plane with centres, lines to these and convex hulls, and return the axes."""
    k, area = len(sizes), marker_area(len(points))
    ax = axes_or_new(ax, more_width=legend_width(k, HULLS_INSIDE))
    few = len(points) <= SPOKES_DRAWN
    for j, (color, name) in enumerate(zip(cluster_colors(k), plain_all(names), strict=True)):
        inside, marker = points[codes == j], MARKERS[j % len(MARKERS)]
        if few:
            spokes = np.stack([np.broadcast_to(centers[j], inside.shape), inside], axis=1)
            ax.add_collection(LineCollection(list(spokes), colors=[color], lw=0.5, alpha=0.5))
        outline = find_hull(inside)
        ax.plot(*np.vstack([outline, outline[:1]]).T, color=color, lw=1.0)
        style: dict[str, Any] = {"marker": marker, "color": color, "edgecolors": "white", "lw": 0.3}
        ax.scatter(
            inside[:, 0], inside[:, 1], s=area, label=f"{name} (n = {sizes[j]})", rasterized=len(points) > 1000, **style
        )
        x, y = centers[j]
        ax.scatter(x, y, s=90, marker=marker, facecolors="white", edgecolors=[color], lw=1.8, zorder=4)
    ax.set_xlabel(axes[0])
    ax.set_ylabel(axes[1])
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(title, loc="left")
    legend_of_clusters(k, ax, area=area, inside=HULLS_INSIDE)
    return ax


def find_hull(points: FloatArray) -> FloatArray:
    """Return the corners of the convex hull of points in a plane, in order; two ends if all lie on a line; (c, 2)."""
    from scipy.spatial import ConvexHull, QhullError

    distinct = np.unique(points, axis=0)
    if len(distinct) < 3:
        return distinct
    try:
        return np.asarray(distinct[ConvexHull(distinct).vertices])
    except QhullError:  # all on one line
        return distinct[[0, -1]]


# ---------------------------------------------------------------- one column


def plot_line(
    x: FloatArray,
    labels: IntArray,
    ax: Axes | None = None,
    *,
    sizes: Sequence[int],
    share: float | None,
    name: str = "x",
    standardized: bool = False,
    breaks: FloatArray | None = None,
) -> Axes:
    """Draw a stacked histogram of one variable by cluster, with a kernel density and breaks, and return the axes.

    A bar that a break cuts shows the colours of both sides, one on the other. Where a few far points would press the
    others together, the axis ends near the outermost breaks and 1 % quantiles, and its label counts what lies beyond.
    """
    k = len(sizes)
    ax = axes_or_new(ax, more_width=legend_width(k))
    low, high = _choose_visible_range(x, breaks)
    bins = np.linspace(low, high, 1 + min(120, max(30, int(np.sqrt(x.size))))).tolist() if high > low else 30
    parts = [x[labels == j] for j in range(k)]
    legend = [f"cluster {j} (n = {n})" for j, n in enumerate(sizes)]
    _, cuts, drawn = ax.hist(parts, bins=bins, stacked=True, color=cluster_colors(k), label=legend)
    edges, bars = np.asarray(cuts, dtype=np.float64), cast("list[Any]", [drawn] if k == 1 else drawn)
    for j, container in enumerate(bars):
        for bar in container:
            bar.set(hatch=HATCHES[j % len(HATCHES)], edgecolor="white", lw=0)
    _draw_smooth(x[(x >= low) & (x <= high)], parts, edges, ax)
    _mark_breaks([] if breaks is None else breaks.tolist(), high - low, ax)
    hidden = int(np.count_nonzero((x < low) | (x > high)))
    written = write_plain_name(name, 40) + (", standard deviations from the mean" if standardized else "")
    ax.set_xlabel(f"{written} ({hidden} of {x.size} values beyond the axis)" if hidden else written)
    ax.set_ylabel("count")
    ax.set_title(_partition_title(sizes, share, x.size), loc="left")
    if k <= 8:
        ax.set_ylim(top=(1.05 + 0.07 * (k + 1)) * ax.get_ylim()[1])  # room for the legend above the bars
    legend_of_clusters(k, ax, beside=1.16)  # beyond the scale of the density
    return ax


def mark_values(x: FloatArray, ax: Axes) -> Axes:
    """Draw open circles on the axis of a histogram at given values, and return the axes."""
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": "0.15", "lw": 0.9, "zorder": 4}
    ax.scatter(x, np.zeros(x.size), s=30, clip_on=False, **style)
    return ax


def _draw_smooth(x: FloatArray, parts: Sequence[FloatArray], edges: FloatArray, ax: Axes) -> None:
    """Draw a kernel density estimate over a histogram of counts, with a second axis for the density."""
    if x.size < 10 or np.ptp(x) == 0:
        return
    grid, density = smooth_density(x, parts, edges)
    per_count = 1 / (x.size * float(edges[1] - edges[0]))
    ax.plot(grid, density / per_count, color="black", lw=1.4, label="density (Gaussian kernel)")
    right = cast(Any, ax).secondary_yaxis("right", functions=(lambda c: c * per_count, lambda d: d / per_count))
    right.set_ylabel("density")


def _mark_breaks(breaks: list[float], width: float, ax: Axes) -> None:
    """Draw dashed vertical lines at the breaks between clusters, with their values above where there is room."""
    labelled: list[float] = []
    for b in breaks:
        ax.axvline(b, color="0.15", lw=1, ls="--")
        if not labelled or b - labelled[-1] >= 0.04 * width:
            labelled.append(b)
    if labelled:
        top = ax.secondary_xaxis("top")
        top.set_xticks(labelled, [f"{float(f'{b:.4g}'):g}" for b in labelled], rotation=45, ha="left", fontsize="small")


def _choose_visible_range(x: FloatArray, breaks: FloatArray | None) -> tuple[float, float]:
    """Return the range of values to draw: all, or without far tails if there are many points; low, high."""
    low, high = float(x.min()), float(x.max())
    first, last = (float(q) for q in np.quantile(x, [0.01, 0.99]))
    if breaks is not None and breaks.size:
        first, last = min(first, float(breaks[0])), max(last, float(breaks[-1]))
    reach = 0.1 * (last - first)
    if x.size < 1000 or not last > first or high - low < 3 * (last - first):
        return low, high
    return max(low, first - reach), min(high, last + reach)


# ---------------------------------------------------------------- means of the features


def plot_cluster_means(
    means: FloatArray, ax: Axes | None = None, *, features: Sequence[object], sizes: Sequence[int]
) -> Axes:
    """Draw a heat map of the standardized means of each column (row) by cluster, and return the axes; (p, k)."""
    shown, k = plain_all(features), len(sizes)
    ax = axes_or_new(ax, height=1.6 + 0.28 * min(len(shown), NAMES_FIT), more_width=room_for(shown))
    top = float(np.nanmax(np.abs(means), initial=0.0)) or 1.0
    heads = [f"{j}\n(n = {n})" if k <= 8 else f"{j} (n = {n})" for j, n in enumerate(sizes)]
    label = "mean, in standard deviations\nfrom the overall mean"
    look: dict[str, Any] = {"limits": (-top, top), "square": False, "cmap": "cividis", "form": "+.2f"}
    draw_heat(means, shown, heads, ax, label=label, **look)
    ax.set_xlabel("cluster" if k <= NAMES_FIT else f"{k} clusters, in their order")
    if len(shown) > NAMES_FIT:
        ax.set_ylabel(f"{len(shown)} features, in the order of the table")
    ax.set_title(f"Means of the clusters by feature, n = {sum(sizes)}", loc="left")
    return ax


# ---------------------------------------------------------------- the search


def plot_path(
    path: FloatArray, ax: Axes | None = None, *, within: float, algorithm: str, k: int, n: int, n_init: int
) -> Axes:
    """Draw the within dispersion W after every pass of a clustering algorithm, and return the axes."""
    ax = axes_or_new(ax)
    few: dict[str, Any] = {"marker": "o"} if path.size <= 60 else {}
    ax.plot(np.arange(path.size), path, color=CURVE, label="W after each pass of the best start", **few)
    ax.axhline(within, color="0.4", lw=1, ls=":", label=f"W reported, {within:.6g}")
    if path.size == 1:
        ax.set_xlim(-0.5, 0.5)
    ax.set_xlabel("pass over the points")
    ax.set_ylabel("within dispersion W")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    starts = f", best of {n_init} starts" if n_init > 1 else ""
    ax.set_title(f"{algorithm}, k = {k}, n = {n}{starts}", loc="left")
    ax.legend(frameon=False)
    return ax
