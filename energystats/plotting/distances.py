"""Draw dispersions: W, S and T and their parts, and distances between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import p_text
from energystats.display.sentences import metric_text
from energystats.metrics.base import Metric
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

__all__ = [
    "plot_decomposition",
    "plot_distances",
    "plot_distances_from_centers",
    "plot_group_means",
    "plot_group_tree",
    "plot_parts",
]


PARTS_DRAWN = 30
LABEL = 0.36  # width of a bar's label, in widths of T
POINTS_BESIDE_BOX = 50  # of a group
SIGNIFICANT = "hatched: p at most .05"


def plot_decomposition(
    names: Sequence[str],
    shares: Sequence[float],
    pvalues: Sequence[float],
    ax: Axes | None = None,
    *,
    model_pvalue: float,
    n: int,
    kind: str = "",
) -> Axes:
    """Draw bars of the share of total dispersion of every model term, with p-values, and return the axes.

    Bars with a p-value of at most .05 are hatched. `kind` says how several terms are adjusted for each other.
    """
    written = plain_all(names)
    ax = axes_or_new(ax, height=1.6 + 0.4 * len(names), more_width=room_for(written))
    bars = ax.barh(range(len(names)), shares, color=QUIET, edgecolor="white", lw=0)
    for i, (share, pvalue, bar) in enumerate(zip(shares, pvalues, bars, strict=True)):
        if pvalue <= 0.05:
            bar.set(facecolor=OBSERVED, hatch="//")
        p = "" if np.isnan(pvalue) else f", {p_text(pvalue, short=True)}"
        ax.text(max(share, 0.0), i, f" {share:.1%}{p}", va="center", fontsize="small")
    ax.set_yticks(range(len(names)), written)
    ax.invert_yaxis()
    low, high = min(0.0, *shares), max(0.0, *shares)
    wide = high - low or 1.0
    ax.set_xlim(1.05 * low, high + 0.5 * wide)  # room for what is written beside the bars
    ax.axvline(0, color="0.25", lw=0.8)
    ax.set_xlabel(f"share of the total dispersion T\n({SIGNIFICANT})")
    adjusted = f"{kind} terms, " if kind else ""
    ax.set_title(f"{adjusted}model: {p_text(model_pvalue, short=True)}, n = {n}", loc="left")
    return ax


# ---------------------------------------------------------------- W + S = T


def plot_parts(
    between: float,
    within: Sequence[float],
    ax: Axes | None = None,
    *,
    total: float,
    names: Sequence[Any],
    sizes: Sequence[int],
    metric: Metric,
    bound: float | None = None,
) -> Axes:
    """Draw bars of total, between and within dispersion, and of the part of W in each group; return the axes.

    `within` has the parts, and `bound`, the largest S that is possible, is a line. Of more than thirty groups the
    largest parts are drawn.
    """
    groups, numbers, parts = _choose_largest_parts(plain_all(names), sizes, np.asarray(within, dtype=np.float64))
    names = [
        "total T",
        "between S",
        "within W",
        *(f"{name} (n = {n})" for name, n in zip(groups, numbers, strict=True)),
    ]
    # S begins at 0, W where S ends, and the parts of W follow each other: the bars show S + W = T
    widths = np.array([total, between, float(np.sum(within)), *parts])
    starts = np.r_[0.0, 0.0, between, between + np.r_[0.0, np.cumsum(parts)[:-1]]]
    ax = axes_or_new(ax, height=1.6 + 0.28 * len(names), more_width=room_for(names))
    styles = [("0.3", ""), (OBSERVED, "//"), (QUIET, ""), *((("#56b4e9", "..")) for _ in groups)]
    for i, (color, hatch) in enumerate(styles):
        ax.barh(i, widths[i], 0.78, left=starts[i], color=color, hatch=hatch, edgecolor="white", lw=0)
    scale = float(np.ptp(np.r_[0.0, starts, starts + widths])) or 1.0
    if bound is not None and not (len(sizes) > 1 and 0 < bound <= 1.3 * scale):  # it says nothing
        bound = None
    for i, (start, width) in enumerate(zip(starts, widths, strict=True)):
        share = f", {width / total:.1%} of T" if total > 0 and i else ""
        end = _place_beside_line(max(start, start + width), bound, scale)
        ax.text(
            end + 0.01 * scale, i, f"{width:.4g}{share}", va="center", fontsize="small", bbox=WHITE | {"alpha": 1.0}
        )
    ax.set_xlim(min(0.0, float((starts + widths).min())), float((starts + widths).max(initial=0.0)) + 0.38 * scale)
    ax.set_yticks(range(len(names)), names, fontsize=font_along(ax, len(names), "y"))
    ax.set_ylim(len(names) - 0.4, -0.6)
    _draw_bound(bound, ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"dispersion, in the unit of rho: {_write_unit(metric)}")
    ax.set_title(f"T = S + W, n = {sum(sizes)}", loc="left")
    return ax


def _choose_largest_parts(
    names: Sequence[str], sizes: Sequence[int], parts: FloatArray
) -> tuple[list[str], list[int], list[float]]:
    """Choose the groups with the largest within dispersions to draw; beyond thirty add up the smallest as one."""
    k = len(parts)
    if k <= PARTS_DRAWN:
        return list(names), list(sizes), parts.tolist()
    kept = np.sort(np.argsort(-parts, kind="stable")[: PARTS_DRAWN - 1])
    rest = np.setdiff1d(np.arange(k), kept)
    shown = [names[j] for j in kept] + [f"{rest.size} others"]
    return shown, [*(sizes[j] for j in kept), sum(sizes[j] for j in rest)], [*parts[kept], float(parts[rest].sum())]


def _place_beside_line(end: float, line: float | None, scale: float) -> float:
    """Choose the position of a bar's label: at its end, or beyond a vertical line that would cross the label."""
    return line + 0.01 * scale if line is not None and end <= line <= end + LABEL * scale else end


def _draw_bound(bound: float | None, ax: Axes) -> None:
    """Draw the upper bound on the between dispersion as a vertical line; do nothing for None."""
    if bound is None:
        return
    ax.axvline(bound, color="black", lw=1.2, ls="--")
    ax.text(bound, -0.55, f"  bound on S, {bound:.4g}", ha="left", va="bottom", fontsize="small")
    ax.set_ylim(top=-1.4)


# ---------------------------------------------------------------- distances between groups


def plot_group_means(
    g: FloatArray, ax: Axes | None = None, *, names: Sequence[Any], sizes: Sequence[int], metric: Metric
) -> Axes:
    """Draw a heat map of mean dissimilarities between and within groups, and return the axes."""
    written = plain_all(names)
    room = room_for(written)
    ax = axes_or_new(ax, height=_compute_heat_height(len(written)) + room, more_width=room)
    draw_heat(g, written, written, ax, label=f"mean of rho, g ({_write_unit(metric)})")
    ax.set_title(f"Mean rho of groups, {write_sizes_for_title(sizes)}", loc="left")
    return ax


def plot_distances(
    E: FloatArray,
    ax: Axes | None = None,
    *,
    names: Sequence[Any],
    sizes: Sequence[int],
    metric: Metric,
    linkage: FloatArray | None = None,
) -> Axes:
    """Draw a heat map of the energy distances between groups, with their dendrogram above; return the axes."""
    k = len(E)
    tree = linkage is not None and len(linkage) > 0
    Z = linkage if tree else None
    order = np.arange(k) if Z is None else _order_leaves(Z)
    written = plain_all(names)
    names = [written[j] for j in order]
    room = room_for(names)
    given = ax is not None
    ax = axes_or_new(ax, height=_compute_heat_height(k) + room + (1.3 if tree else 0.0), more_width=room)
    if tree and not given:
        _leave_room_above(ax, 0.3)
    label = f"energy distance E ({_write_unit(metric)})"
    draw_heat(E[np.ix_(order, order)], names, names, ax, label=label)
    title = f"Energy distances, n = {sum(sizes)} in {k} group{'s' * (k > 1)}"
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
    """Set a figure's layout so that some inches at its top stay free."""
    figure = cast(Any, ax.figure)
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - inches / figure.get_figheight()))


def plot_distances_from_centers(
    distances: Sequence[FloatArray],
    means: FloatArray,
    ax: Axes | None = None,
    *,
    names: Sequence[Any],
    center: str,
    title: str,
) -> Axes:
    """Draw distances from the centre of each group as a box, its points and their mean, and return the axes."""
    written = plain_all(names)
    ax = axes_or_new(ax, height=1.6 + 0.45 * len(names), more_width=room_for(written))
    rows = np.arange(len(names))
    ax.boxplot(
        list(distances),
        positions=rows,
        orientation="horizontal",
        widths=0.5,
        manage_ticks=False,
        medianprops={"color": OBSERVED},
        flierprops={"marker": ".", "markersize": 4},
        showfliers=max(map(len, distances)) > POINTS_BESIDE_BOX,
    )
    for i, each in enumerate(distances):
        if len(each) <= POINTS_BESIDE_BOX:
            ax.scatter(each, np.full(len(each), i + 0.36), s=8, color=QUIET, lw=0)
    ax.scatter(means, rows, s=36, marker="D", facecolors="white", edgecolors="0.1", zorder=4)
    ax.set_yticks(rows, [f"{name} (n = {len(each)})" for name, each in zip(written, distances, strict=True)])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(f"distance from the {center} of the group (diamond: mean)")
    ax.set_title(title, loc="left")
    return ax


def plot_group_tree(linkage: FloatArray, ax: Axes | None = None, *, names: Sequence[Any], sizes: Sequence[int]) -> Axes:
    """Draw the dendrogram of groups by energy distance, a note for one group, and return the axes."""
    written = plain_all(names)
    ax = axes_or_new(ax, height=4.8 + room_for(written))
    k = len(written)
    ax.set_ylabel("height: energy distance\nx n1 n2/(n1 + n2)")
    ax.set_title(f"Groups joined by energy distance, n = {sum(sizes)}", loc="left")
    if k < 2:
        ax.text(0.5, 0.5, "one group: nothing to join", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
    _draw_links(linkage, ax)
    leaves = [f"{written[j]} ({sizes[j]})" for j in _order_leaves(linkage)]
    turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    slant = {} if len("".join(leaves)) <= 50 else turned if k <= 16 else {"rotation": 90}
    ax.set_xticks(range(k), leaves, fontsize=font_along(ax, k, "x"), **slant)
    ax.set_xlim(-0.5, k - 0.5)
    ax.set_xlabel("group (number of points)")
    return ax


def _write_unit(metric: Metric) -> str:
    """Return the semimetric as text, for an axis label."""
    return write_plain_name(metric_text(metric), 40)


def _compute_heat_height(k: int) -> float:
    """Compute the height in inches of a figure with a k by k heat map."""
    return 4.0 + 0.12 * min(k, 60)


def _order_leaves(Z: FloatArray) -> IntArray:
    """Return the leaves of a dendrogram from left to right; linkage matrix (k - 1, 4) -> (k,)."""
    k = len(Z) + 1
    # row r of a linkage matrix makes cluster k + r, whose leaves are those of its two parts
    below: list[list[int]] = [[j] for j in range(k)]
    for a, b, *_ in Z:
        below.append(below[int(a)] + below[int(b)])
    return np.array(below[-1])


def _draw_links(Z: FloatArray, ax: Axes) -> None:
    """Draw the links of a dendrogram, its leaves at 0, 1, ... on the horizontal axis."""
    k = len(Z) + 1
    place = dict(zip(_order_leaves(Z).tolist(), map(float, range(k)), strict=True))
    top = dict.fromkeys(range(k), 0.0)
    for row, (a, b, height, _) in enumerate(Z):
        left, right = place[int(a)], place[int(b)]
        low = [top[int(a)], height, height, top[int(b)]]
        ax.plot([left, left, right, right], low, color="0.2", lw=1.4)
        place[k + row], top[k + row] = 0.5 * (left + right), float(height)
    # heights are negative where S of two groups is, which a rho that is not of negative type allows
    ax.set_ylim(min(0.0, 1.05 * float(Z[:, 2].min())), 1.05 * float(Z[:, 2].max()) or 1.0)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
