"""Draw dendrograms, and trees of tests."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

from energystats._core.linkage import cut_linkage
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.display.numbers import p_text
from energystats.exceptions import ignoring
from energystats.inputs.matrices import as_linkage
from energystats.inputs.options import check_count
from energystats.plotting.axes import (
    CLUSTERS_LISTED,
    OBSERVED,
    WHITE,
    axes_or_new,
    cluster_colors,
    legend_columns,
    legend_width,
    write_plain_name,
)

__all__ = ["DrawnNode", "plot_cluster_tree", "plot_dendrogram", "plot_validation"]


LEAVES_DRAWN = 40  # of a tree with more points than can be distinguished
POINTS_DRAWN = 150
POINTS_NAMED = 60
LINE, AXES_WIDTH = 0.0205, 4.6  # inches of a line of text for each point of its size, and of a figure's axes
CLUSTERS_NUMBERED = 20
INCHES_OF_NAME = 0.6  # of "cluster 0" below a leaf


def plot_dendrogram(
    Z: ArrayLike, ax: Axes | None = None, *, k: int | None = None, labels: ArrayLike | None = None
) -> Axes:
    r"""Draw a dendrogram with the clusters below a cut in colours, and return the axes.

    Parameters
    ----------
    Z : array_like of shape (n - 1, 4)
        Linkage matrix, of `energy_hclust` or SciPy.
    ax : Axes, optional
        Where to draw; a new figure when None.
    k : int, optional
        Clusters to colour: those that are left without the last k - 1 merges, numbered from the largest down.
    labels : array_like of shape (n,), optional
        Names of the points; their numbers when None. Shown for up to 60 points, the axis says so of more.

    Returns
    -------
    Axes
        With the dendrogram, heights on a square-root scale. Of more than 150 points the last merges are drawn, and
        what lies below them is written as a number of points.

    Raises
    ------
    ValueError
        If Z is not a linkage matrix, k is out of range or the number of labels is not n.
    TypeError
        If Z does not hold real numbers or k is not a whole number.

    See Also
    --------
    energy_hclust : The tree.

    Notes
    -----
    Negative heights (rho negative somewhere) are moved up until the first is 0, which is the same tree. O(n) time
    and memory.

    References
    ----------
    Szekely & Rizzo (2005), Journal of Classification 22.

    Examples
    --------
    >>> import energystats as es
    >>> ax = es.plot_dendrogram(es.energy_hclust([0.0, 1.0, 9.0, 11.0]), k=2)
    >>> ax.get_ylabel()
    'height: energy distance x n1 n2/(n1 + n2)\n(square-root scale)'
    """
    from scipy.cluster.hierarchy import dendrogram

    tree = as_linkage(Z, "Z")
    n = len(tree) + 1
    k = 1 if k is None else check_count(k, "k", low=1, high=n, why=", the number of points")
    names = None if labels is None else [write_plain_name(label) for label in np.asarray(labels, dtype=object).ravel()]
    if names is not None and len(names) != n:
        raise ValueError(f"`labels` must have one name for each of the {n} points, got {len(names)}.")
    # a square-root scale needs heights from 0 on; adding a constant to all keeps the tree [theory 4, hierarchies]
    shift = min(float(tree[:, 2].min()), 0.0)
    tree[:, 2] -= shift
    longest = max(map(len, names)) if names is not None and n <= POINTS_NAMED else 0
    size = float(np.clip(320 / min(n, max(LEAVES_DRAWN, 2 * k)), 3, 9))
    wider = max(0.0, LINE * size * n - AXES_WIDTH) if n <= POINTS_NAMED else 0.0
    ax = axes_or_new(ax, height=4.8 + 0.07 * longest, more_width=wider + (0.0 if k <= 8 else legend_width(k)))
    whole = n <= POINTS_DRAWN
    codes, colors = cut_linkage(tree, k), cluster_colors(k) if k > 1 else ["0.25"]
    with ignoring(UserWarning, "Attempting to set identical low and high ylims"):  # no height above 0
        drawn = dendrogram(
            tree,
            p=max(LEAVES_DRAWN, 2 * k),
            truncate_mode=None if whole else "lastp",
            ax=ax,
            labels=names if whole else None,
            link_color_func=_choose_link_colors(tree, k, codes, colors).__getitem__,
            no_labels=POINTS_NAMED < n <= POINTS_DRAWN,
            leaf_font_size=size,
            leaf_rotation=90,
        )
    _draw_cut(ax, tree, k, np.bincount(codes), colors)
    if 1 < k <= CLUSTERS_NUMBERED:
        _number_clusters(ax, codes[_find_points_below(tree)[drawn["leaves"]]], _cut_height(tree, k))
    unnamed = f" (more than {POINTS_NAMED} are not named)" if labels is not None and n > POINTS_NAMED else ""
    ax.set_xlabel(f"{'point' if whole else 'point, or (number of points)'}, n = {n}{unnamed}")
    ax.set_ylabel(_label_heights(shift), fontsize=9)
    return ax


def _label_heights(shift: float = 0.0) -> str:
    """Return the label of a dendrogram's height axis, naming a constant that was added to the heights, if any."""
    moved = f", plus {-shift:.3g}" if shift else ""
    return f"height: energy distance x n1 n2/(n1 + n2){moved}\n(square-root scale)"


def _choose_link_colors(Z: FloatArray, k: int, codes: IntArray, colors: list[Any]) -> dict[int, Any]:
    """Choose the colour of every dendrogram node: below the cut that of its cluster, above it grey."""
    n = len(Z) + 1
    first = _find_points_below(Z)
    named = [to_hex(color) for color in colors]
    return {node: named[codes[first[node]]] if node < 2 * n - k else to_hex("0.25") for node in range(2 * n - 1)}


def _find_points_below(Z: FloatArray) -> IntArray:
    """Find for each node of a dendrogram one point below it; linkage (n - 1, 4) -> (2n - 1,)."""
    n = len(Z) + 1
    first = np.arange(2 * n - 1)
    for row in range(n - 1):
        first[n + row] = first[int(Z[row, 0])]
    return first


def _number_clusters(ax: Axes, codes: IntArray, height: float) -> None:
    """Draw the number of each cluster over its leaves in a dendrogram, at the height of the cut into clusters."""
    places = 5.0 + 10.0 * np.arange(codes.size)  # where SciPy puts leaves
    for j in np.unique(codes):
        middle = float(places[codes == j].mean())
        ax.text(middle, height, str(j), ha="center", va="center", fontsize="small", bbox=WHITE, zorder=4)


def _draw_cut(ax: Axes, Z: FloatArray, k: int, sizes: IntArray, colors: list[Any]) -> None:
    """Draw the height of the cut into k clusters in a dendrogram, with a legend."""
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    top = float(Z[-1, 2])
    # heights grow with sizes of clusters, so that on an even scale the lower merges could not be seen
    ax.set_yscale("function", functions=(lambda h: np.sqrt(np.maximum(h, 0.0)), np.square))
    ax.yaxis.set_major_locator(FixedLocator(_choose_root_ticks(top)))
    ax.set_ylim(0, 1.05 * top or 1.0)
    if k == 1:
        return
    ax.axhline(_cut_height(Z, k), color=OBSERVED, lw=1, ls="--", label=f"cut into {k}")
    for j in range(k if k <= CLUSTERS_LISTED else 0):
        ax.plot([], [], color=colors[j], lw=2, label=f"cluster {j} (n = {sizes[j]})")
    columns = legend_columns(min(k, CLUSTERS_LISTED))
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), ncols=columns)


def _cut_height(Z: FloatArray, k: int) -> float:
    """Compute the height at which a dendrogram is cut into k clusters, between two merges."""
    lower = float(Z[-k, 2]) if k <= len(Z) else 0.0
    return 0.5 * (lower + float(Z[1 - k, 2]))


def _choose_root_ticks(top: float) -> list[float]:
    """Choose round tick values from 0 to `top`, evenly spaced on a square-root scale."""
    unit = 10 ** np.floor(np.log10(top)) if top > 0 else 1.0
    many = top >= 4 * unit
    steps = (0, 0.1, 0.5, 1, 2, 4, 6, 8) if many else (0, 0.05, 0.2, 0.5, 1, 1.5, 2, 3)
    return [step * unit for step in steps if step * unit <= top]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNode:
    """Hold one node of a tree of tests, with all that is drawn of it."""

    children: tuple[int, ...]  # places of its two halves among the nodes; empty for a leaf
    size: int  # number of points
    height: float  # of its fork; NaN where there is none
    label: int | None  # cluster, for a leaf
    pvalue: float | None  # adjusted p-value; None where nothing was tested
    rejected: bool  # whether the test rejected


def plot_cluster_tree(
    nodes: Sequence[DrawnNode],
    ax: Axes | None = None,
    *,
    level: float,
    untested: str = "",
    leaves_tested: bool = True,
) -> Axes:
    """Draw a tree of tests as a dendrogram with adjusted p-values, and return the axes.

    Nodes come before their children; `untested` is written where no node has a p-value, and says why. Where only forks
    are tested, leaves have no marks. Heights of parts above that of the whole, as in unlike spaces, are not drawn.
    """
    ax = axes_or_new(ax)
    heights = np.nan_to_num(np.maximum([node.height for node in nodes], 0.0))
    in_order = all(heights[child] <= heights[i] for i, node in enumerate(nodes) for child in node.children)
    heights = heights if in_order else _count_levels(nodes)
    leaves = [i for i, node in enumerate(nodes) if not node.children]  # from left to right
    k = len(leaves)
    place = dict(zip(leaves, map(float, range(k)), strict=True))
    colors = cluster_colors(k)
    # children come after their parents, so going backwards their places are known first
    for i, node in reversed(list(enumerate(nodes))):
        if node.children:
            ends = [place[child] for child in node.children]
            place[i] = 0.5 * (ends[0] + ends[1])
            below = [float(heights[child]) for child in node.children]
            _draw_fork(ax, ends, below, float(heights[i]), {"color": "0.15", "lw": 1.6})
        elif node.pvalue is not None:
            ends = [place[i] - 0.22, place[i] + 0.22]
            style = {"color": colors[node.label or 0], "lw": 1.3, "ls": "--"}
            _draw_fork(ax, ends, [0.0, 0.0], float(heights[i]), style)
    labels = _mark_nodes(nodes, place, heights, level, ax)
    small = [place[i] for i in leaves if nodes[i].pvalue is None]
    if small and leaves_tested:
        ax.plot(small, np.zeros(len(small)), ls="", marker="_", ms=14, mew=3, color="0.15", label="not tested")
    passed = [i for i, node in enumerate(nodes) if node.children and node.pvalue is None]
    if passed and any(node.pvalue is not None for node in nodes):
        where = [place[i] for i in passed]
        ax.plot(where, heights[passed], ls="", marker="|", ms=9, mew=1.6, color="0.15", label="not tested")
    if all(node.pvalue is None for node in nodes):
        ax.text(0.98, 0.98, untested, ha="right", va="top", transform=ax.transAxes)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small", loc="upper right")
    _name_leaves([nodes[i] for i in leaves], ax)
    top = float(heights.max())
    ax.set_yscale("function", functions=(lambda h: np.sqrt(np.maximum(h, 0.0)), np.square))
    ax.yaxis.set_major_locator(FixedLocator(_choose_root_ticks(top)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylim(0, 1.6 * top or 1.0)  # room for the legend
    ax.set_xlim(-0.6, k - 0.4)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.set_ylabel(_label_heights() if in_order else "order of the splits, which are of unlike spaces", fontsize=9)
    if not in_order:
        ax.set_yticks([])
    ax.set_title(f"{k} cluster{'s' * (k > 1)}, family-wise level {level:g}", loc="left")
    _lift_labels(labels, ax)
    return ax


def _count_levels(nodes: Sequence[DrawnNode]) -> FloatArray:
    """Compute the largest number of forks on a path down from each node of a tree, used as drawing height."""
    levels = np.array([float(bool(node.children) or node.pvalue is not None) for node in nodes])
    for i, node in reversed(list(enumerate(nodes))):
        levels[i] += max((float(levels[child]) for child in node.children), default=0.0)
    return levels


def plot_validation(
    nodes: Sequence[DrawnNode],
    draw_points: Callable[[Axes], object],
    ax: Axes | None = None,
    *,
    hollow: str,
    level: float,
    title: str,
    untested: str = "not tested: no p-value",
) -> Axes:
    """Draw the dendrogram of cluster merges with p-values beside a picture of the points; return the axes.

    Both stand inside `ax`, which has the title and no axes of its own. `draw_points` draws the points, and
    `hollow` says how many of them are hollow, and what that means, such as "3 uncertain". `untested` is written where
    no merge has a p-value.
    """
    ax = axes_or_new(ax, more_width=4.5)
    ax.set_axis_off()
    left, right = ax.inset_axes((0.0, 0.0, 0.42, 1.0)), ax.inset_axes((0.53, 0.0, 0.47, 1.0))
    plot_cluster_tree(nodes, left, level=level, untested=untested, leaves_tested=False)
    left.set_title("Merges of the clusters", loc="left", fontsize="medium")
    draw_points(right)
    which = hollow if hollow.startswith("none") else f"{hollow} (hollow)"
    right.set_title(f"Points, {which}", loc="left", fontsize="medium")
    above = 66 if right.child_axes else 26  # points, above the values of breaks, if there are any
    where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    lines = textwrap.wrap(title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), 100)
    ax.annotate("\n".join(lines), (0.0, 1.0), (0, above), weight="bold", **where)
    return ax


def _draw_fork(ax: Axes, ends: list[float], below: list[float], height: float, style: dict[str, Any]) -> None:
    """Draw a fork of a dendrogram: a horizontal bar at `height` on two vertical legs."""
    ax.plot([ends[0], ends[0], ends[1], ends[1]], [below[0], height, height, below[1]], **style)


def _lift_labels(labels: list[Annotation], ax: Axes) -> None:
    """Move labels of tree nodes up where they would cover others."""
    getattr(ax.figure, "draw_without_rendering", lambda: None)()  # so that the layout is final
    to_points = 72 / ax.figure.dpi
    placed: list[Bbox] = []
    for label in sorted(labels, key=lambda label: (label.xy[1], label.xy[0])):
        box = label.get_window_extent()
        for below in sorted(placed, key=lambda below: below.y0):
            if box.overlaps(below):
                box = box.translated(0, below.y1 - box.y0 + 1)
        across, up = label.get_position()
        label.set_position((across, up + (box.y0 - label.get_window_extent().y0) * to_points))
        placed.append(box)


def _mark_nodes(
    nodes: Sequence[DrawnNode], place: dict[int, float], heights: FloatArray, level: float, ax: Axes
) -> list[Annotation]:
    """Draw a diamond on each rejected node of a tree of tests and a circle on other tested nodes, with adjusted p.

    Return the labels with adjusted p.
    """
    labels: list[Annotation] = []
    k = sum(not node.children for node in nodes)
    size = float(np.clip(110 / max(k, 1), 5, 8.5))
    kinds = (
        (True, "D", "0.15", f"adjusted p at most {level:g}"),
        (False, "o", "white", f"adjusted p above {level:g}"),
    )
    for rejected, marker, face, label in kinds:
        drawn = {
            i: node.pvalue for i, node in enumerate(nodes) if node.rejected == rejected and node.pvalue is not None
        }
        if not drawn:
            continue
        x, y = [place[i] for i in drawn], [float(heights[i]) for i in drawn]
        ax.plot(x, y, ls="", marker=marker, ms=6, mfc=face, mec="0.15", label=label, zorder=3, clip_on=False)
        for pvalue, across, up in zip(drawn.values(), x, y, strict=True):
            text = "adj. " + p_text(pvalue, short=True)
            text = text if k <= 8 else text.removeprefix("adj. p ").removeprefix("= ")
            weight = "bold" if rejected else "normal"
            style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": size, "weight": weight}
            place_above: dict[str, Any] = {"xytext": (0, 5), "textcoords": "offset points"}
            labels.append(ax.annotate(text, (across, up), **place_above, **style, bbox=WHITE, zorder=4))
    return labels


def _name_leaves(leaves: Sequence[DrawnNode], ax: Axes) -> None:
    """Write cluster number and size below each leaf of a tree, as tick labels."""
    width = ax.get_window_extent().width / ax.figure.dpi
    few = len(leaves) <= min(8, width / INCHES_OF_NAME)
    names = [f"{'cluster ' if few else ''}{leaf.label}\n{'n = ' if few else ''}{leaf.size}" for leaf in leaves]
    ax.set_xticks(range(len(leaves)), names, fontsize=float(np.clip(150 / len(leaves), 5, 9)))
    ax.tick_params(axis="x", length=0)
    if not few:
        ax.set_xlabel("cluster, and its number of points")
