"""Pictures of eigenvalues, of repaired distances and coordinates, and of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._core.gram import largest_eigenpairs
from energystats._core.threads import one_thread_up_to
from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.options import check_count
from energystats.plotting.axes import (
    CURVE,
    MARKERS,
    NAMES_DRAWN,
    OBSERVED,
    QUIET,
    axes_or_new,
    cluster_colors,
    draw_names,
    group_codes,
    legend_of_clusters,
    marker_area,
    write_plain_name,
)

if TYPE_CHECKING:
    from energystats.clustering.graph_result import GraphPartition
    from energystats.clustering.spectral import SpectralEmbedding
    from energystats.geometry.results import (
        Euclidization,
        EuclidizationComparison,
        NegativeTypeResult,
        PrincipalCoordinates,
    )

__all__ = [
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


def plot_negative_type(result: NegativeTypeResult, ax: Axes | None = None) -> Axes:
    """Eigenvalues of G_c, falling, the negative ones in red; the extreme two where only they are known."""
    ax = axes_or_new(ax)
    known = result.eigenvalues
    values = np.array([result.max_eigenvalue, result.min_eigenvalue]) if known is None else known
    negative = values < -result.threshold
    ranks = np.arange(1, values.size + 1)
    counts = ["", ""] if known is None else [f"{(~negative).sum()} ", f"{negative.sum()} "]
    looks: list[tuple[Any, dict[str, Any], str]] = [
        (~negative, {"color": QUIET}, "not negative"),
        (negative, {"color": OBSERVED, "hatch": "//"}, "negative"),
    ]
    for (chosen, look, what), count in zip(looks, counts, strict=True):
        if not chosen.any():
            continue
        if values.size <= BARS_DRAWN:
            width = 0.8 if values.size <= 60 else 1.0
            ax.bar(ranks[chosen], values[chosen], width, label=f"{count}{what}", edgecolor="white", lw=0, **look)
        else:
            edges = np.append(ranks[chosen] - 0.5, ranks[chosen][-1] + 0.5)
            ax.stairs(values[chosen], edges, fill=True, label=f"{count}{what}", lw=0, **look)
    ax.axhline(0, color="black", lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank" if known is not None else "largest and smallest")
    ax.set_ylabel("eigenvalue of $G_c$")
    ax.set_title(f"{'of' if result.holds else 'not of'} negative type, n = {result.n}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_euclidization(result: Euclidization, ax: Axes | None = None) -> Axes:
    """Repaired against original distances, a random part of the pairs when there are more than can be seen."""
    ax = axes_or_new(ax)
    upper = np.triu_indices(result.n, 1)
    before = np.sqrt(np.maximum(result.squared[upper], 0.0))
    after = result.distances[upper]
    label = f"{before.size} pairs"
    if before.size > PAIRS_DRAWN:
        label = f"{PAIRS_DRAWN} of {label}, at random"
        drawn = np.random.default_rng(0).choice(before.size, PAIRS_DRAWN, replace=False)
        before, after = before[drawn], after[drawn]
    top = max(before.max(initial=0.0), after.max(initial=0.0)) or 1.0
    ax.plot([0, top], [0, top], color="black", lw=1, ls="--", label="unchanged")
    style: dict[str, Any] = {"s": 14 if before.size <= 1000 else 6, "alpha": 0.6, "rasterized": before.size > 1000}
    ax.scatter(before, after, color=CURVE, lw=0, label=label, **style)
    ax.set_xlabel("original dissimilarity")
    ax.set_ylabel("Euclidean distance after the repair")
    constant = "" if result.constant is None else f", constant {result.constant:.5g}"
    ax.set_title(f"{result.method.capitalize()}{constant}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_coordinates(
    found: PrincipalCoordinates, ax: Axes | None = None, *, dimensions: int = 2, labels: ArrayLike | None = None
) -> Axes:
    """Points on their first axes, each with its share; names beside up to forty points, a colour for every group."""
    solid = dimensions == 3 or getattr(ax, "name", "") == "3d"
    if dimensions not in (2, 3):
        raise ValueError(f"`dimensions` must be 2 or 3, got {dimensions!r}.")
    if ax is None and solid:
        ax = plt.figure(layout="constrained").add_subplot(projection="3d")
    ax = axes_or_new(ax)
    if solid and getattr(ax, "name", "") != "3d":
        raise ValueError('`ax` must be three-dimensional for dimensions=3: add_subplot(projection="3d").')
    shown = 3 if solid else 2
    n, p = found.coordinates.shape
    place = np.zeros((n, shown))
    place[:, : min(p, shown)] = found.coordinates[:, :shown]
    codes, groups = group_codes(labels, n)
    colors = cluster_colors(max(len(groups), 1))
    for j, group in enumerate(groups or [None]):
        rows = codes == j
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
    for j, axis in enumerate("xyz"[:shown]):
        share = f" ({found.explained[j]:.1%})" if j < p else " (0%)"
        getattr(ax, f"set_{axis}label")(f"axis {j + 1}{share}")
    kind = "Principal coordinates" if found.source == "distances" else "Kernel PCA"
    corrected = f" after {found.correction.capitalize()}" if found.correction else ""
    missing = f", negative eigenvalues {found.negative_share:.1%}" if found.n_negative else ""
    ax.set_title(f"{kind}{corrected}{missing}, n = {n}", loc="left")
    named = found.names is not None and n <= NAMES_DRAWN
    if len(groups) > GROUPS_NAMED:
        ax.annotate(f"{len(groups)} groups", (0.98, 0.98), xycoords="axes fraction", ha="right", va="top")
    elif groups and (named or solid or len(groups) > 8):  # names stand in the axes, labels of the third axis beside
        place_beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.12 if solid else 1.0, 0.5)}
        ax.legend(frameon=False, markerscale=(26 / marker_area(n)) ** 0.5, **place_beside)
    elif groups:
        ax.legend(frameon=False, markerscale=(26 / marker_area(n)) ** 0.5)
    if not solid:
        ax.set_aspect("equal", adjustable="datalim")
        if named:
            ax.margins(0.08)
    if named:
        assert found.names is not None
        draw_names(place, [write_plain_name(name) for name in found.names], ax)
    return ax


def plot_shepard(result: Euclidization, ax: Axes | None = None, *, dimensions: int = 2) -> Axes:
    """Distances on the first principal axes against the dissimilarities they stand for, before and after the repair.

    Points on the diagonal are shown as they are. A random part of the pairs is drawn when there are many.
    """
    check_count(dimensions, "dimensions", low=1)
    ax = axes_or_new(ax)
    upper = np.triu_indices(result.n, 1)
    before = np.sqrt(np.maximum(result.squared[upper], 0.0))
    after = result.distances[upper]
    shown_before = _axis_distances(result.squared, dimensions)[upper]
    shown_after = _axis_distances(result.distances**2, dimensions)[upper]
    drawn = np.arange(before.size)
    if before.size > PAIRS_DRAWN:
        drawn = np.random.default_rng(0).choice(before.size, PAIRS_DRAWN, replace=False)
    top = max(float(values.max(initial=0.0)) for values in (before, after, shown_before, shown_after)) or 1.0
    ax.plot([0, top], [0, top], color="black", lw=1, ls="--", label="shown as it is")
    clouds = [("before", before, shown_before, "o", CURVE), ("after", after, shown_after, "x", "#e69f00")]
    for when, given, seen, marker, color in clouds:
        what = when if when == "before" else f"after {result.method.capitalize()}"
        style: dict[str, Any] = {
            "s": 16 if drawn.size <= 1000 else 6,
            "marker": marker,
            "alpha": 0.7,
            "rasterized": drawn.size > 1000,
        }
        look: dict[str, Any] = (
            {"facecolors": "none", "edgecolors": color, "lw": 0.8} if marker == "o" else {"color": color, "lw": 0.8}
        )
        ax.scatter(given[drawn], seen[drawn], label=f"{what}, stress {_stress(given, seen):.3f}", **style, **look)
    part = f"{drawn.size} of " if drawn.size < before.size else ""
    ax.set_xlabel("dissimilarity" + ("" if result.source == "distances" else " (root of rho of the kernel)"))
    ax.set_ylabel(f"distance on the first {dimensions} principal axes" if dimensions > 1 else "distance on axis 1")
    ax.set_title(f"Shepard diagram, {part}{before.size} pairs of {result.n} points", loc="left")
    ax.legend(frameon=False)
    return ax


def _axis_distances(R: FloatArray, dimensions: int) -> FloatArray:
    """Distances between points on the first principal axes of squared dissimilarities; (n, n)."""
    values, vectors = largest_eigenpairs(lambda columns: R @ columns, np.ones(len(R)), dimensions)
    squared = np.zeros_like(R)
    for axis in (vectors * np.sqrt(np.maximum(values, 0.0))).T:
        squared += np.subtract.outer(axis, axis) ** 2
    return np.asarray(np.sqrt(squared))


def _stress(given: FloatArray, shown: FloatArray) -> float:
    """Kruskal's stress 1 of shown distances against given ones, which are not transformed."""
    size = float((given**2).sum())
    return float(np.sqrt(((given - shown) ** 2).sum() / size)) if size > 0 else 0.0


def plot_comparison(result: EuclidizationComparison, ax: Axes | None = None) -> Axes:
    """Mean change of the distances under every repair against S/T of its best partition."""
    ax = axes_or_new(ax)
    table = result.table
    for (name, row), color, marker in zip(table.iterrows(), cluster_colors(len(table)), MARKERS, strict=False):
        label = f"{name}{', best partition changed' if row['changed'] else ''}"
        filled = color if not row["changed"] else "none"
        ax.scatter(100 * row["mean_change"], row["share"], s=70, marker=marker, c=filled, edgecolors=color, label=label)
    ax.set_xlabel("mean change of a distance, % of the largest")
    ax.set_ylabel("S/T of the best partition")
    ax.set_title(f"k = {result.k}, n = {result.n}", loc="left")
    ax.margins(0.15)
    ax.legend(frameon=False, fontsize=8)
    return ax


VERTICES_DRAWN = 300


def plot_eigengaps(found: SpectralEmbedding, ax: Axes | None = None) -> Axes:
    """Eigenvalues as points and their gaps as bars, each over the k that it would suggest."""
    ax = axes_or_new(ax)
    k = found.gap_k
    chosen = (k == found.suggested_k) & (k >= 2)
    ax.bar(k[~chosen], found.eigengaps[~chosen], color=QUIET, width=0.6, label="gap")
    if chosen.any():
        ax.bar(k[chosen], found.eigengaps[chosen], color=OBSERVED, hatch="//", width=0.6, label="largest, k >= 2")
    first = 1 if found.laplacian else 2
    places = first - 0.5 + np.arange(found.eigenvalues.size)
    ax.plot(places, found.eigenvalues, color="black", marker="o", ms=4, lw=1, label="eigenvalue")
    ax.set_xticks(np.arange(first, first + max(k.size, 1)))
    ax.set_xlabel("k, number of clusters")
    ax.set_ylabel("eigenvalue, and gap to the next")
    what = "random-walk Laplacian" if found.laplacian else "centred Gram matrix $G_c$"
    gap = f"largest gap at k = {found.suggested_k}" if chosen.any() else "no gap"
    ax.set_title(f"{what}: {gap}, n = {len(found.embedding)}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_graph(found: GraphPartition, ax: Axes | None = None, *, kind: str | None = None) -> Axes:
    """The graph in the plane, or its matrix with the vertices in the order of the clusters."""
    if kind is not None and kind not in ("graph", "matrix"):
        raise ValueError(f"`kind` must be one of graph, matrix, or None; got {kind!r}.")
    ax = axes_or_new(ax)
    drawn = kind == "graph" or (kind is None and found.n <= VERTICES_DRAWN)
    ax = _draw_graph(found, ax) if drawn else _draw_matrix(found, ax)
    names = {"ratio": "ratio cut", "normalized": "normalised cut", "association": "ratio association"}
    ax.set_title(f"{names[found.cut]} = {found.value:.4g}, bound {found.bound:.4g}, n = {found.n}", loc="left")
    return ax


def _draw_graph(found: GraphPartition, ax: Axes) -> Axes:
    """Vertices at spectral coordinates, links as lines, those between clusters dashed."""
    from matplotlib.collections import LineCollection

    place = _graph_layout(found.matrix)
    links = found.matrix.tocoo()
    once = (links.row < links.col) & (links.data > 0)
    row, column, weight = links.row[once], links.col[once], links.data[once]
    cross = found.labels[row] != found.labels[column]
    width = 0.4 + 1.2 * weight / max(float(weight.max(initial=0.0)), np.finfo(float).tiny)
    for which, style, shade in ((~cross, "-", "0.75"), (cross, "--", "0.45")):
        ends = list(np.stack([place[row[which]], place[column[which]]], axis=1))
        ax.add_collection(LineCollection(ends, colors=shade, linestyles=style, linewidths=width[which], zorder=1))
    for j, color in enumerate(cluster_colors(found.k)):
        inside = place[found.labels == j]
        label = f"cluster {j} (n = {found.sizes[j]})"
        marker = MARKERS[j % len(MARKERS)]
        ax.scatter(
            inside[:, 0],
            inside[:, 1],
            s=36,
            color=color,
            marker=marker,
            edgecolors="white",
            lw=0.5,
            zorder=2,
            label=label,
        )
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.set_xticks([])
    ax.set_yticks([])
    named = found.names is not None and found.n <= NAMES_DRAWN
    if named:  # the places near the edge are for names
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), ncols=-(-found.k // 20))
        draw_names(place, [write_plain_name(name) for name in found.names or ()], ax)
    else:
        legend_of_clusters(found.k, ax)
    return ax


def _draw_matrix(found: GraphPartition, ax: Axes) -> Axes:
    """Stored entries as dots, rows and columns in the order of the clusters, whose borders are lines."""
    order = np.argsort(found.labels, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(found.n)
    links = found.matrix.tocoo()
    colors = np.array([*cluster_colors(found.k), "0.55"], dtype=object)
    same = found.labels[links.row] == found.labels[links.col]
    kind = np.where(same, found.labels[links.row], found.k)
    size = float(np.clip(20000.0 / max(found.n, 1) ** 1.3, 0.02, 30.0))
    for j in range(found.k + 1):
        part = kind == j
        ax.scatter(
            rank[links.col[part]], rank[links.row[part]], s=size, marker="s", lw=0, color=colors[j], rasterized=True
        )
    for border in np.cumsum(found.sizes)[:-1] - 0.5:
        ax.axhline(border, color="black", lw=0.6)
        ax.axvline(border, color="black", lw=0.6)
    ax.set_xlim(-0.5, found.n - 0.5)
    ax.set_ylim(found.n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_xlabel("vertices in the order of the clusters")
    ax.set_ylabel("vertices in the order of the clusters")
    return ax


def _graph_layout(matrix: Any) -> FloatArray:
    """Each component at its second and third eigenvector of I - D^(-1) A, components side by side; (n, 2)."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(matrix, directed=False)
    place = np.zeros((matrix.shape[0], 2))
    sizes = np.bincount(component, minlength=count)
    left = 0.0
    for c in np.argsort(-sizes, kind="stable"):
        inside = np.flatnonzero(component == c)
        width = np.sqrt(sizes[c] / sizes.max())
        place[inside] = width * _component_layout(matrix[inside][:, inside]) + [left + width, 0.0]
        left += 2 * width + 0.3
    return place


def _component_layout(matrix: Any) -> FloatArray:
    """Spectral coordinates of a connected graph within a square of side 2, evened out by springs; (n, 2)."""
    n = matrix.shape[0]
    dense = np.abs(matrix.toarray())
    np.fill_diagonal(dense, 0.0)
    if n <= 2:
        return np.column_stack([np.linspace(-1, 1, n) * (n > 1), np.zeros(n)])
    root = np.sqrt(np.maximum(dense.sum(axis=1), np.finfo(float).tiny))
    with one_thread_up_to(n):
        _, vectors = np.linalg.eigh(dense / np.outer(root, root))
    place = vectors[:, -2:-4:-1] / root[:, None]
    place = np.argsort(np.argsort(place, axis=0), axis=0) / (n - 1)
    return _springs(place, (dense > 0).astype(float))


def _springs(place: FloatArray, linked: FloatArray, steps: int = 60) -> FloatArray:
    """Neighbours attract, all vertices repel [Fruchterman & Reingold 1991]; scaled to a square of side 2."""
    n = len(place)
    best = 1 / np.sqrt(n)
    for step in range(steps):
        apart = place[:, None, :] - place[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 0.01 * best)
        push = best**2 / distance**2 - linked * distance / best
        move = np.einsum("ij,ijc->ic", push, apart)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        place = place + move / length * np.minimum(length, 0.1 * (1 - step / steps))
    place = place - 0.5 * (place.max(axis=0) + place.min(axis=0))
    return np.asarray(place / max(float(np.abs(place).max()), 1e-12))
