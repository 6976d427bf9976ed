"""Pictures of spectra and graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray
from energystats.plotting.base import MARKERS, OBSERVED, QUIET, axes_or_new, cluster_colors, legend_of_clusters, plain
from energystats.plotting.names import NAMES_DRAWN, draw_names

if TYPE_CHECKING:
    from energystats.results import GraphPartition, SpectralEmbedding

__all__ = ["plot_eigengaps", "plot_graph"]

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
    ax = draw_graph(found, ax) if drawn else draw_matrix(found, ax)
    names = {"ratio": "ratio cut", "normalized": "normalised cut", "association": "ratio association"}
    ax.set_title(f"{names[found.cut]} = {found.value:.4g}, bound {found.bound:.4g}, n = {found.n}", loc="left")
    return ax


def draw_graph(found: GraphPartition, ax: Axes) -> Axes:
    """Vertices at spectral coordinates, links as lines, those between clusters dashed."""
    from matplotlib.collections import LineCollection

    place = graph_layout(found.matrix)
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
        draw_names(place, [plain(name) for name in found.names or ()], ax)
    else:
        legend_of_clusters(found.k, ax)
    return ax


def draw_matrix(found: GraphPartition, ax: Axes) -> Axes:
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


def graph_layout(matrix: Any) -> FloatArray:
    """Each component at its second and third eigenvector of I - D^(-1) A, components side by side; (n, 2)."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(matrix, directed=False)
    place = np.zeros((matrix.shape[0], 2))
    sizes = np.bincount(component, minlength=count)
    left = 0.0
    for c in np.argsort(-sizes, kind="stable"):
        inside = np.flatnonzero(component == c)
        width = np.sqrt(sizes[c] / sizes.max())
        place[inside] = width * component_layout(matrix[inside][:, inside]) + [left + width, 0.0]
        left += 2 * width + 0.3
    return place


def component_layout(matrix: Any) -> FloatArray:
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
    return springs(place, (dense > 0).astype(float))


def springs(place: FloatArray, linked: FloatArray, steps: int = 60) -> FloatArray:
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
