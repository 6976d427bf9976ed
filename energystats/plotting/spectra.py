"""Draw eigenvalues, repaired distances and coordinates, and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._typing import FloatArray, IntArray
from energystats.plotting.axes import (
    CURVE,
    HULLS_INSIDE,
    LISTED_INSIDE,
    MARKERS,
    NAMES_DRAWN,
    OBSERVED,
    QUIET,
    axes_or_new,
    cluster_colors,
    draw_names,
    legend_of_clusters,
    marker_area,
    move_off_points,
    plain_all,
    write_plain_name,
)
from energystats.plotting.points import find_hull

__all__ = [
    "plot_adjacency",
    "plot_comparison",
    "plot_coordinates",
    "plot_eigengaps",
    "plot_euclidization",
    "plot_graph",
    "plot_negative_type",
    "plot_shepard",
]


PAIRS_DRAWN = 5000
BARS_DRAWN = 300  # more are one outline
GROUPS_NAMED = 12  # more would fill a legend


def plot_negative_type(
    eigenvalues: FloatArray, ax: Axes | None = None, *, threshold: float, holds: bool, n: int, all_known: bool = True
) -> Axes:
    """Draw the eigenvalues of the centred Gram matrix in decreasing order, negative in red; return the axes."""
    ax = axes_or_new(ax)
    negative = eigenvalues < -threshold
    ranks = np.arange(1, eigenvalues.size + 1)
    counts = [f"{(~negative).sum()} ", f"{negative.sum()} "] if all_known else ["", ""]
    looks: list[tuple[Any, dict[str, Any], str]] = [
        (~negative, {"color": QUIET}, "not negative"),
        (negative, {"color": OBSERVED, "hatch": "//"}, "negative"),
    ]
    for (chosen, look, what), count in zip(looks, counts, strict=True):
        if not chosen.any():
            continue
        if eigenvalues.size <= BARS_DRAWN:
            width = 0.8 if eigenvalues.size <= 60 else 1.0
            ax.bar(ranks[chosen], eigenvalues[chosen], width, label=f"{count}{what}", edgecolor="white", lw=0, **look)
        else:
            edges = np.append(ranks[chosen] - 0.5, ranks[chosen][-1] + 0.5)
            ax.stairs(eigenvalues[chosen], edges, fill=True, label=f"{count}{what}", lw=0, **look)
    ax.axhline(0, color="black", lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank" if all_known else "largest and smallest")
    ax.set_ylabel("eigenvalue of $G_c$")
    ax.set_title(f"{'of' if holds else 'not of'} negative type, n = {n}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_euclidization(
    before: FloatArray, after: FloatArray, ax: Axes | None = None, *, method: str, constant: float | None = None
) -> Axes:
    """Draw distances of pairs, after they were made Euclidean, against those before, and return the axes.

    All pairs are drawn, or random ones of many.
    """
    ax = axes_or_new(ax)
    label = f"{before.size} pairs"
    if before.size > PAIRS_DRAWN:
        label = f"{PAIRS_DRAWN} of {label}, at random"
        drawn = np.random.default_rng(0).choice(before.size, PAIRS_DRAWN, replace=False)
        before, after = before[drawn], after[drawn]
    # no repair makes a distance smaller: the points lie on the diagonal or above it
    top = max(before.max(initial=0.0), after.max(initial=0.0)) or 1.0
    ax.plot([0, top], [0, top], color="black", lw=1, ls="--", label="unchanged")
    style: dict[str, Any] = {"s": 14 if before.size <= 1000 else 6, "alpha": 0.6, "rasterized": before.size > 1000}
    ax.scatter(before, after, color=CURVE, lw=0, label=label, **style)
    ax.set_xlabel("original dissimilarity")
    ax.set_ylabel("Euclidean distance after the repair")
    added = "" if constant is None else f", constant {constant:.5g}"
    ax.set_title(f"{method.capitalize()}{added}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_coordinates(
    coordinates: FloatArray,
    ax: Axes | None = None,
    *,
    explained: FloatArray,
    kind: str,
    negative_share: float | None = None,
    names: Sequence[str] | None = None,
    dimensions: int = 2,
    codes: IntArray | None = None,
    groups: Sequence[object] = (),
    axes: Sequence[int] = (0, 1, 2),
    hulls: bool = False,
    arrows: tuple[FloatArray, Sequence[object]] | None = None,
) -> Axes:
    """Draw points on two or three principal axes with the share of each axis, coloured by group; return the axes.

    `codes` number the group of each point, whose names are `groups`; `hulls` surround them, with their centroids.
    `arrows` are tips on all axes and their names. `kind` begins the title; `negative_share` is what negative
    eigenvalues hold, None where there are none.
    """
    solid = dimensions == 3 or getattr(ax, "name", "") == "3d"
    if dimensions not in (2, 3):
        raise ValueError(f"`dimensions` must be 2 or 3, got {dimensions!r}.")
    own = ax is None
    if ax is None and solid:
        ax = plt.figure(layout="constrained").add_subplot(projection="3d")
    ax = axes_or_new(ax)
    if solid and getattr(ax, "name", "") != "3d":
        raise ValueError('`ax` must be three-dimensional for dimensions=3: add_subplot(projection="3d").')
    shown = 3 if solid else 2
    n, p = coordinates.shape
    # an axis that the coordinates lack is drawn at 0, with a share of 0
    place, axes = _take_axes(coordinates, axes[:shown]), list(axes[:shown])
    written = plain_all(groups)
    colors = cluster_colors(max(len(groups), 1))
    centers = []
    for j, group in enumerate(written or [None]):
        rows = slice(None) if codes is None else codes == j
        marker = MARKERS[j % len(MARKERS)]
        style: dict[str, Any] = {
            "s": marker_area(n),
            "color": colors[j],
            "marker": marker,
            "label": group,
            "alpha": 0.85,
        }
        style |= {"edgecolors": "white", "lw": 0.3, "rasterized": n > 1000}
        ax.scatter(*place[rows].T, **style)
        if hulls:
            centers.append(_draw_hull(place[rows], ax, color=colors[j], marker=marker))
    for j, axis in zip(axes, "xyz", strict=False):
        share = f" ({explained[j]:.1%})" if j < p else " (0%)"
        getattr(ax, f"set_{axis}label")(f"axis {j + 1}{share}")
    missing = "" if negative_share is None else f", negative eigenvalues {negative_share:.1%}"
    ax.set_title(f"{kind}{missing}, n = {n}", loc="left")
    named = [] if names is None or n > NAMES_DRAWN else [write_plain_name(name) for name in names]
    if len(groups) > GROUPS_NAMED:
        ax.annotate(f"{len(groups)} groups", (0.98, 0.98), xycoords="axes fraction", ha="right", va="top")
    elif groups and (named or solid or len(groups) > (HULLS_INSIDE if hulls else LISTED_INSIDE)):
        # names stand in the axes, labels of the third axis beside
        beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.12 if solid else 1.0, 0.5)}
        if own and solid:  # the layout leaves room for legends of the figure, not for those of solid axes
            beside = {"loc": "outside right center"}
        (ax.figure if own and solid else ax).legend(frameon=False, markerscale=(26 / marker_area(n)) ** 0.5, **beside)
    tips = None if arrows is None else _take_axes(arrows[0], axes)
    if tips is not None:
        _draw_arrows(tips, ax)
    if not solid:
        ax.set_aspect("equal", adjustable="datalim")
        if named:
            ax.margins(0.08)
        elif groups and len(groups) <= (HULLS_INSIDE if hulls else LISTED_INSIDE):
            ax.legend(framealpha=0.85, edgecolor="0.85", markerscale=(26 / marker_area(n)) ** 0.5)
            move_off_points(ax)
    large = np.array(centers)
    covered = draw_names(place, named, ax, large=large) if named else []
    if tips is not None and arrows is not None:
        species = [write_plain_name(name) for name in arrows[1]]
        draw_names(tips, species, ax, all_of_them=False, covered=covered, large=large)
    return ax


def _take_axes(coordinates: FloatArray, axes: Sequence[int]) -> FloatArray:
    """Select columns of coordinates, zeros for those that do not exist; (n, p) -> (n, a)."""
    p = coordinates.shape[1]
    return np.column_stack([coordinates[:, j] if j < p else np.zeros(len(coordinates)) for j in axes])


def _draw_hull(points: FloatArray, ax: Any, *, color: Any, marker: str) -> FloatArray:
    """Draw the convex hull of a group of points in a plane, and its centroid, which is returned; (2,)."""
    outline = find_hull(points)
    ax.plot(*np.vstack([outline, outline[:1]]).T, color=color, lw=1.0)
    center: dict[str, Any] = {"facecolors": "white", "edgecolors": [color], "lw": 1.8, "zorder": 4}
    middle: FloatArray = points.mean(axis=0)
    ax.scatter(*middle, s=90, marker=marker, **center)
    return middle


def _draw_arrows(tips: FloatArray, ax: Any) -> None:
    """Draw arrows from the origin to the given tips; (a, 2)."""
    for x, y in tips:
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": "0.35", "lw": 0.8})
    ax.scatter(*tips.T, s=4, color="0.35")  # so that they are inside the axes


Cloud = tuple[str, FloatArray, FloatArray, float]  # what it is called, dissimilarities, distances shown, and the stress


def plot_shepard(
    before: Cloud, after: Cloud, ax: Axes | None = None, *, dimensions: int, n: int, kernel: bool = False
) -> Axes:
    """Draw distances on principal axes against dissimilarities, as given and made Euclidean; return the axes.

    Points on the diagonal are shown as they are. A random part of the pairs is drawn when there are many. `kernel`
    says that the dissimilarities come from a kernel.
    """
    ax = axes_or_new(ax)
    pairs = before[1].size
    drawn = np.arange(pairs)
    if pairs > PAIRS_DRAWN:
        drawn = np.random.default_rng(0).choice(pairs, PAIRS_DRAWN, replace=False)
    top = max(float(values.max(initial=0.0)) for cloud in (before, after) for values in cloud[1:3]) or 1.0
    ax.plot([0, top], [0, top], color="black", lw=1, ls="--", label="shown as it is")
    for (what, given, seen, stress), marker, color in ((before, "o", CURVE), (after, "x", "#e69f00")):
        style: dict[str, Any] = {
            "s": 16 if drawn.size <= 1000 else 6,
            "marker": marker,
            "alpha": 0.7,
            "rasterized": drawn.size > 1000,
        }
        look: dict[str, Any] = (
            {"facecolors": "none", "edgecolors": color, "lw": 0.8} if marker == "o" else {"color": color, "lw": 0.8}
        )
        ax.scatter(given[drawn], seen[drawn], label=f"{what}, stress {stress:.3f}", **style, **look)
    part = f"{drawn.size} of " if drawn.size < pairs else ""
    ax.set_xlabel("dissimilarity" + " (root of rho of the kernel)" * kernel)
    ax.set_ylabel(f"distance on the first {dimensions} principal axes" if dimensions > 1 else "distance on axis 1")
    ax.set_title(f"Shepard diagram, {part}{pairs} pairs of {n} points", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_comparison(
    repairs: Sequence[str],
    changes: Sequence[float],
    shares: Sequence[float],
    ax: Axes | None = None,
    *,
    changed: Sequence[bool],
    k: int,
    n: int,
) -> Axes:
    """Draw the best partition's share S/T against the mean change of distances, for each way to make these Euclidean.

    `changed` says where the best partition is another one than before.
    """
    ax = axes_or_new(ax)
    colors = cluster_colors(len(repairs))
    for name, change, share, moved, color, marker in zip(
        repairs, changes, shares, changed, colors, MARKERS, strict=False
    ):
        label = f"{name}{', best partition changed' if moved else ''}"
        filled = "none" if moved else color
        ax.scatter(100 * change, share, s=70, marker=marker, c=filled, edgecolors=color, label=label)
    ax.set_xlabel("mean change of a distance, % of the largest")
    ax.set_ylabel("S/T of the best partition")
    ax.set_title(f"k = {k}, n = {n}", loc="left")
    ax.margins(0.15)
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_eigengaps(
    eigenvalues: FloatArray,
    gaps: FloatArray,
    ax: Axes | None = None,
    *,
    k: IntArray,
    suggested_k: int,
    laplacian: bool,
    n: int,
) -> Axes:
    """Draw eigenvalues as points and the gaps between them as bars, above the k each suggests; return the axes."""
    ax = axes_or_new(ax)
    chosen = (k == suggested_k) & (k >= 2)
    ax.bar(k[~chosen], gaps[~chosen], color=QUIET, width=0.6, label="gap")
    if chosen.any():
        ax.bar(k[chosen], gaps[chosen], color=OBSERVED, hatch="//", width=0.6, label="largest, k >= 2")
    first = 1 if laplacian else 2
    places = first - 0.5 + np.arange(eigenvalues.size)
    ax.plot(places, eigenvalues, color="black", marker="o", ms=4, lw=1, label="eigenvalue")
    ax.set_xticks(np.arange(first, first + max(k.size, 1)))
    ax.set_xlabel("k, number of clusters")
    ax.set_ylabel("eigenvalue, and gap to the next")
    what = "random-walk Laplacian" if laplacian else "centred Gram matrix $G_c$"
    gap = f"largest gap at k = {suggested_k}" if chosen.any() else "no gap"
    ax.set_title(f"{what}: {gap}, n = {n}", loc="left")
    ax.legend(frameon=False)
    return ax


# ---------------------------------------------------------------- graphs


def plot_graph(
    matrix: Any,
    labels: IntArray,
    ax: Axes | None = None,
    *,
    place: FloatArray,
    sizes: Sequence[int],
    cut: str,
    value: float,
    bound: float,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw a graph with the vertices at given positions, coloured by cluster, and return the axes.

    `matrix` is a sparse adjacency; `value` of the `cut` and its `bound` stand in the title.
    """
    from matplotlib.collections import LineCollection

    ax = axes_or_new(ax)
    n, k = labels.size, len(sizes)
    links = matrix.tocoo()
    once = (links.row < links.col) & (links.data > 0)
    row, column, weight = links.row[once], links.col[once], links.data[once]
    cross = labels[row] != labels[column]
    width = 0.4 + 1.2 * weight / max(float(weight.max(initial=0.0)), np.finfo(float).tiny)
    for which, style, shade in ((~cross, "-", "0.75"), (cross, "--", "0.45")):
        ends = list(np.stack([place[row[which]], place[column[which]]], axis=1))
        ax.add_collection(LineCollection(ends, colors=shade, linestyles=style, linewidths=width[which], zorder=1))
    for j, color in enumerate(cluster_colors(k)):
        x, y = place[labels == j].T
        look: dict[str, Any] = {"s": 36, "color": color, "marker": MARKERS[j % len(MARKERS)]}
        ax.scatter(x, y, edgecolors="white", lw=0.5, zorder=2, label=f"cluster {j} (n = {sizes[j]})", **look)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.set_xticks([])
    ax.set_yticks([])
    if names is not None and n <= NAMES_DRAWN:  # the places near the edge are for names
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), ncols=-(-k // 20))
        draw_names(place, [write_plain_name(name) for name in names], ax)
    else:
        legend_of_clusters(k, ax)
    ax.set_title(_cut_title(cut, value, bound, n), loc="left")
    return ax


def plot_adjacency(
    matrix: Any,
    labels: IntArray,
    ax: Axes | None = None,
    *,
    sizes: Sequence[int],
    cut: str,
    value: float,
    bound: float,
) -> Axes:
    """Draw the stored entries of an adjacency matrix as dots, vertices sorted by cluster, and return the axes."""
    ax = axes_or_new(ax)
    n, k = labels.size, len(sizes)
    rank = np.empty(n, np.intp)
    rank[np.argsort(labels, kind="stable")] = np.arange(n)
    links = matrix.tocoo()
    colors = np.array([*cluster_colors(k), "0.55"], dtype=object)
    same = labels[links.row] == labels[links.col]
    kind = np.where(same, labels[links.row], k)
    area = float(np.clip(20000.0 / max(n, 1) ** 1.3, 0.02, 30.0))
    for j in range(k + 1):
        x, y = rank[links.col[kind == j]], rank[links.row[kind == j]]
        ax.scatter(x, y, s=area, marker="s", lw=0, color=colors[j], rasterized=True)
    for border in np.cumsum(sizes)[:-1] - 0.5:
        ax.axhline(border, color="black", lw=0.6)
        ax.axvline(border, color="black", lw=0.6)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_xlabel("vertices in the order of the clusters")
    ax.set_ylabel("vertices in the order of the clusters")
    ax.set_title(_cut_title(cut, value, bound, n), loc="left")
    return ax


def _cut_title(cut: str, value: float, bound: float, n: int) -> str:
    """Return the title of a plot of a graph cut: the objective, its value, its bound and n."""
    names = {"ratio": "ratio cut", "normalized": "normalised cut", "association": "ratio association"}
    return f"{names[cut]} = {value:.4g}, bound {bound:.4g}, n = {n}"
