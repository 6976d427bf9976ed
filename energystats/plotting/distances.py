"""Pictures of dispersions: W, S and T and their parts, and distances between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import p_text
from energystats.metrics.base import Metric
from energystats.metrics.general import Precomputed
from energystats.plotting.axes import (
    OBSERVED,
    QUIET,
    WHITE,
    axes_or_new,
    draw_heat,
    font_along,
    plain_all,
    room_for,
    write_plain_name,
    write_sizes_for_title,
)

if TYPE_CHECKING:
    from energystats.clustering.partition import Partition
    from energystats.distribution_tests.disco_result import DiscoResult
    from energystats.energy import Dispersion

__all__ = ["plot_decomposition", "plot_distances", "plot_group_means", "plot_group_tree", "plot_parts"]


PARTS_DRAWN = 30
LABEL = 0.36  # width of a bar's label, in widths of T
SIGNIFICANT = "hatched: p at most .05"


def plot_decomposition(result: DiscoResult, ax: Axes | None = None) -> Axes:
    """Share of T of every row as a bar; terms have their p-value and are hatched where it is at most .05."""
    rows = result.rows[:-1]
    names = plain_all([row.name for row in rows])
    ax = axes_or_new(ax, height=1.6 + 0.4 * len(rows), more_width=room_for(names))
    bars = ax.barh(range(len(rows)), [row.share for row in rows], color=QUIET, edgecolor="white", lw=0)
    for i, (row, bar) in enumerate(zip(rows, bars, strict=True)):
        if row.pvalue <= 0.05:
            bar.set(facecolor=OBSERVED, hatch="//")
        p = "" if np.isnan(row.pvalue) else f", {p_text(row.pvalue, short=True)}"
        ax.text(max(row.share, 0.0), i, f" {row.share:.1%}{p}", va="center", fontsize="small")
    ax.set_yticks(range(len(rows)), names)
    ax.invert_yaxis()
    low, high = min(0.0, *(row.share for row in rows)), max(0.0, *(row.share for row in rows))
    wide = high - low or 1.0
    ax.set_xlim(1.05 * low, high + 0.5 * wide)  # room for what is written beside the bars
    ax.axvline(0, color="0.25", lw=0.8)
    ax.set_xlabel(f"share of the total dispersion T ({SIGNIFICANT})")
    kind = f"{result.decomposition} terms, " if len(result.terms) > 1 else ""
    ax.set_title(f"{kind}model: {p_text(result.pvalue, short=True)}, n = {result.n}", loc="left")
    return ax


# ---------------------------------------------------------------- W + S = T


def plot_parts(found: Dispersion | Partition, ax: Axes | None = None) -> Axes:
    """T as one bar; below it S and W, which fill it end to end; below these the groups' parts of W.

    A partition has its eigenvalue bound on S as a line. Of more than thirty groups the largest parts are drawn.
    """
    groups, sizes, parts = _named_parts(found)
    names = ["total T", "between S", "within W", *(f"{name} (n = {n})" for name, n in zip(groups, sizes, strict=True))]
    widths = np.array([found.total, found.between, found.within, *parts])
    starts = np.r_[0.0, 0.0, found.between, found.between + np.r_[0.0, np.cumsum(parts)[:-1]]]
    ax = axes_or_new(ax, height=1.6 + 0.28 * len(names), more_width=room_for(names))
    styles = [("0.3", ""), (OBSERVED, "//"), (QUIET, ""), *((("#56b4e9", "..")) for _ in groups)]
    for i, (color, hatch) in enumerate(styles):
        ax.barh(i, widths[i], 0.78, left=starts[i], color=color, hatch=hatch, edgecolor="white", lw=0)
    scale = float(np.ptp(np.r_[0.0, starts, starts + widths])) or 1.0
    bound = _bound_drawn(found, scale)
    for i, (start, width) in enumerate(zip(starts, widths, strict=True)):
        share = f", {width / found.total:.1%} of T" if found.total > 0 and i else ""
        end = _beside_line(max(start, start + width), bound, scale)
        ax.text(
            end + 0.01 * scale, i, f"{width:.4g}{share}", va="center", fontsize="small", bbox=WHITE | {"alpha": 1.0}
        )
    ax.set_xlim(min(0.0, float((starts + widths).min())), float((starts + widths).max(initial=0.0)) + 0.38 * scale)
    ax.set_yticks(range(len(names)), names, fontsize=font_along(ax, len(names), "y"))
    ax.set_ylim(len(names) - 0.4, -0.6)
    _draw_bound(bound, ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"dispersion, in the unit of rho: {_unit(found.metric)}")
    ax.set_title(f"T = S + W, n = {sum(found.sizes)}", loc="left")
    return ax


def _named_parts(found: Dispersion | Partition) -> tuple[list[str], list[int], list[float]]:
    """Names, sizes and W of the groups; of many, the smallest parts in one."""
    parts = found.within_per_cluster
    k = len(parts)
    # a Dispersion holds the names of its groups, a Partition a label for each point
    names = [f"cluster {j}" for j in range(k)] if hasattr(found, "k") else plain_all(found.labels)
    sizes = list(found.sizes)
    if k <= PARTS_DRAWN:
        return names, sizes, parts.tolist()
    kept = np.sort(np.argsort(-parts, kind="stable")[: PARTS_DRAWN - 1])
    rest = np.setdiff1d(np.arange(k), kept)
    names = [names[j] for j in kept] + [f"{rest.size} others"]
    return names, [*(sizes[j] for j in kept), sum(sizes[j] for j in rest)], [*parts[kept], float(parts[rest].sum())]


def _bound_drawn(found: Dispersion | Partition, scale: float) -> float | None:
    """The largest S that any partition into as many clusters could have, where it says anything."""
    bound = getattr(found, "bound", None)
    return bound if bound is not None and len(found.sizes) > 1 and 0 < bound <= 1.3 * scale else None


def _beside_line(end: float, line: float | None, scale: float) -> float:
    """Where the label of a bar begins: at its end, or at a line that would run through the label."""
    return line + 0.01 * scale if line is not None and end <= line <= end + LABEL * scale else end


def _draw_bound(bound: float | None, ax: Axes) -> None:
    """The bound on S as a line, with its value above the bars."""
    if bound is None:
        return
    ax.axvline(bound, color="black", lw=1.2, ls="--")
    ax.text(bound, -0.55, f"  bound on S, {bound:.4g}", ha="left", va="bottom", fontsize="small")
    ax.set_ylim(top=-1.4)


# ---------------------------------------------------------------- distances between groups


def plot_group_means(result: Dispersion, ax: Axes | None = None) -> Axes:
    """Heat map of the mean of rho between and within the groups."""
    names = plain_all(result.labels)
    room = room_for(names)
    ax = axes_or_new(ax, height=_heat_height(len(names)) + room, more_width=room)
    draw_heat(result.g, names, names, ax, label=f"mean of rho, g ({_unit(result.metric)})")
    ax.set_title(f"Mean rho of groups, {write_sizes_for_title(result.sizes)}", loc="left")
    return ax


def plot_distances(result: Dispersion, ax: Axes | None = None, *, tree: bool = True) -> Axes:
    """Heat map of the energy distances of the groups, in the order of their tree, which stands above it."""
    E = _compute_group_energies(result.g)
    k = len(result.labels)
    tree = tree and k > 1
    Z = _group_tree(E, result.sizes) if tree else None
    order = np.arange(k) if Z is None else _leaf_order(Z)
    written = plain_all(result.labels)
    names = [written[j] for j in order]
    room = room_for(names)
    given = ax is not None
    ax = axes_or_new(ax, height=_heat_height(k) + room + (1.3 if tree else 0.0), more_width=room)
    if tree and not given:
        _leave_room_above(ax, 0.3)
    label = f"energy distance E ({_unit(result.metric)})"
    draw_heat(E[np.ix_(order, order)], names, names, ax, label=label)
    title = f"Energy distances, n = {sum(result.sizes)} in {k} group{'s' * (k > 1)}"
    if Z is None:
        ax.set_title(title, loc="left")
        return ax
    above = ax.inset_axes((0.0, 1.02, 1.0, 0.22))
    _draw_links(Z, above)
    above.set_xlim(-0.5, k - 0.5)
    above.set_xticks([])
    above.set_ylabel("height", fontsize="small")
    above.set_title(title, loc="left")
    return ax


def _leave_room_above(ax: Axes, inches: float) -> None:
    """Keep the layout below a strip for the title of the tree, whose height it underrates."""
    figure = cast(Any, ax.figure)
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - inches / figure.get_figheight()))


def plot_group_tree(result: Dispersion, ax: Axes | None = None) -> Axes:
    """Dendrogram of the groups, joined by energy; an axes with a note where there is one group."""
    written = plain_all(result.labels)
    ax = axes_or_new(ax, height=4.8 + room_for(written))
    k = len(written)
    ax.set_ylabel("height: energy distance\nx n1 n2/(n1 + n2)")
    ax.set_title(f"Groups joined by energy distance, n = {sum(result.sizes)}", loc="left")
    if k < 2:
        ax.text(0.5, 0.5, "one group: nothing to join", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
    Z = _group_tree(_compute_group_energies(result.g), result.sizes)
    _draw_links(Z, ax)
    names = [f"{written[j]} ({result.sizes[j]})" for j in _leaf_order(Z)]
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    slant = {} if len("".join(names)) <= 50 else turned if k <= 16 else {"rotation": 90}
    ax.set_xticks(range(k), names, fontsize=font_along(ax, k, "x"), **slant)
    ax.set_xlim(-0.5, k - 0.5)
    ax.set_xlabel("group (number of points)")
    return ax


def _unit(metric: Metric) -> str:
    """What rho is, for a label."""
    return "the matrix given" if isinstance(metric, Precomputed) else write_plain_name(repr(metric), 40)


def _heat_height(k: int) -> float:
    """Inches for a square of k cells."""
    return 4.0 + 0.12 * min(k, 60)


def _compute_group_energies(g: FloatArray) -> FloatArray:
    """E between every two groups, 2 g_ij - g_ii - g_jj [G 1]; (k, k)."""
    own = np.diag(g)
    E = 2 * g - own[:, None] - own[None, :]
    np.fill_diagonal(E, 0.0)
    return np.asarray(E)


def _group_tree(E: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Linkage of groups by E n1 n2/(n1 + n2), Ward's recurrence as in `energy_hclust`; (k - 1, 4)."""
    k = len(sizes)
    weight = dict(enumerate(map(float, sizes)))
    height = {(i, j): E[i, j] * weight[i] * weight[j] / (weight[i] + weight[j]) for j in range(k) for i in range(j)}
    Z = np.zeros((k - 1, 4))
    for row in range(k - 1):
        a, b = min(height, key=lambda pair: height[pair])
        joined = height.pop((a, b))
        Z[row] = a, b, joined, weight[a] + weight[b]
        for c in weight.keys() - {a, b}:
            to_a, to_b = height.pop((min(a, c), max(a, c))), height.pop((min(b, c), max(b, c)))
            moved = (weight[a] + weight[c]) * to_a + (weight[b] + weight[c]) * to_b - weight[c] * joined
            height[c, k + row] = moved / (weight[a] + weight[b] + weight[c])
        weight[k + row] = weight.pop(a) + weight.pop(b)
    return Z


def _leaf_order(Z: FloatArray) -> IntArray:
    """Leaves from left to right."""
    k = len(Z) + 1
    below: list[list[int]] = [[j] for j in range(k)]
    for a, b, *_ in Z:
        below.append(below[int(a)] + below[int(b)])
    return np.array(below[-1])


def _draw_links(Z: FloatArray, ax: Axes) -> None:
    """Forks over the leaves, which stand at 0, 1, ..."""
    k = len(Z) + 1
    place = dict(zip(_leaf_order(Z).tolist(), map(float, range(k)), strict=True))
    top = dict.fromkeys(range(k), 0.0)
    for row, (a, b, height, _) in enumerate(Z):
        left, right = place[int(a)], place[int(b)]
        low = [top[int(a)], height, height, top[int(b)]]
        ax.plot([left, left, right, right], low, color="0.2", lw=1.4)
        place[k + row], top[k + row] = 0.5 * (left + right), float(height)
    ax.set_ylim(min(0.0, 1.05 * float(Z[:, 2].min())), 1.05 * float(Z[:, 2].max()) or 1.0)
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def pair_matrix(names: Sequence[Any], rows: Sequence[Any], values: Sequence[float]) -> FloatArray:
    """Symmetric table of a number for every pair; NaN for pairs that are not there."""
    place = {name: j for j, name in enumerate(names)}
    table = np.full((len(names), len(names)), np.nan)
    for row, value in zip(rows, values, strict=True):
        i, j = place[row.group1], place[row.group2]
        table[i, j] = table[j, i] = value
    return table
