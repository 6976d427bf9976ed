"""Parts that all pictures share: axes, colours, names, legends and heat maps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray
from energystats.display.tables import shorten_name

__all__ = [
    "CLUSTERS_LISTED",
    "CURVE",
    "HATCHES",
    "HULLS_INSIDE",
    "LISTED_INSIDE",
    "MARKERS",
    "NAMES_DRAWN",
    "NAMES_FIT",
    "OBSERVED",
    "QUIET",
    "WHITE",
    "axes_or_new",
    "cluster_colors",
    "draw_heat",
    "draw_names",
    "font_along",
    "leave_room",
    "legend_columns",
    "legend_of_clusters",
    "legend_width",
    "marker_area",
    "move_off_points",
    "plain_all",
    "raise_top",
    "room_for",
    "write_plain_name",
    "write_sizes_for_title",
]


OBSERVED = "#b2182b"
QUIET = "#9aa5b1"
CURVE = "#0072b2"
WHITE = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85}  # behind a text
MARKERS = "osD^vP*X"
HATCHES = ("", "///", "...", "xx", "\\\\\\", "oo", "++", "--")
NAME_LENGTH = 24
LISTED_INSIDE = 4  # clusters whose legend stands inside the axes; a larger one would cover points
HULLS_INSIDE = 4  # groups with hulls, of which more leave it no room
CLUSTERS_LISTED = 40


def axes_or_new(ax: Axes | None, *, height: float | None = None, more_width: float = 0.0) -> Axes:
    """Return given axes, or those of a new figure `height` inches high and `more_width` inches wider than usual."""
    if ax is not None:
        return ax
    usual = [float(side) for side in plt.rcParams["figure.figsize"]]
    tall = usual[1] if height is None else float(np.clip(height, 3.6, 16))
    return plt.subplots(figsize=(usual[0] + min(more_width, 8.0), tall), layout="constrained")[1]


def cluster_colors(k: int) -> list[Any]:
    """Return one colour per cluster, distinct for colour-blind readers and, up to eight, in greyscale."""
    if k <= 8:
        okabe_ito = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f8600", "#000000"]
        return okabe_ito[:k]
    return [plt.get_cmap("turbo")(t) for t in np.linspace(0.05, 0.95, k)]


def legend_of_clusters(
    k: int, ax: Axes, *, beside: float = 1.0, area: float = 26.0, inside: int = LISTED_INSIDE
) -> None:
    """Draw the legend of k clusters, inside or beside the axes depending on k.

    More than forty have none: a cluster could not be found in it.
    """
    if k > CLUSTERS_LISTED:
        return
    scale = (26.0 / area) ** 0.5
    if k <= inside:
        ax.legend(framealpha=0.85, edgecolor="0.85", markerscale=scale)
        move_off_points(ax)
    else:
        style: dict[str, Any] = {"fontsize": "x-small", "ncols": legend_columns(k), "markerscale": scale}
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(beside, 0.5), **style)


def move_off_points(ax: Axes) -> None:
    """Move a legend that covers points beside the axes, if the layout of the figure makes room for it there."""
    legend, figure = ax.get_legend(), ax.figure
    draw = getattr(figure, "draw_without_rendering", None)  # parts of figures have none
    if legend is None or figure is None or draw is None or figure.get_layout_engine() is None:
        return
    draw()  # so that "best" has found its place
    box = legend.get_window_extent().padded(3.0)
    for drawn in ax.collections:
        spots = ax.transData.transform(np.asarray(drawn.get_offsets(), dtype=np.float64))
        if ((spots > box.min) & (spots < box.max)).all(axis=1).any():
            legend.set_loc("center left")
            legend.set_bbox_to_anchor((1.0, 0.5), transform=ax.transAxes)
            legend.set_frame_on(False)
            return


def leave_room(ax: Axes, entries: int) -> float:
    """Raise the upper limit of the axes for a legend above what is drawn; return the share of the height below it."""
    below = 1 / (1.08 + 0.07 * entries)
    raise_top(ax, 1 - below)
    return below


def raise_top(ax: Axes, share: float) -> None:
    """Raise the upper limit of the axes so that a share of their height is free above what is drawn."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share))


def legend_columns(k: int) -> int:
    """Return the number of columns of a legend beside the axes, for k clusters."""
    return -(-k // 20)


def legend_width(k: int, inside: int = LISTED_INSIDE) -> float:
    """Compute the width in inches to leave for a legend of k clusters; 0 if it needs none."""
    return 1.2 * legend_columns(k) if inside < k <= CLUSTERS_LISTED else 0.0


def write_plain_name(name: object, length: int = NAME_LENGTH) -> str:
    """Shorten a name to one line that matplotlib does not read as markup.

    A dollar sign would begin a formula, and a label that begins with an underscore is left out of legends.
    """
    text = shorten_name(name, length)
    if text.startswith("_"):
        text = f"'{text}'"
    return text.replace("$", r"\$")


def plain_all(names: Iterable[object]) -> list[str]:
    """Shorten names for matplotlib, keeping them distinct."""
    names = list(names)
    # two names that are cut to the same text would be one group for the reader
    for length in (NAME_LENGTH, 36, 60):
        written = [write_plain_name(name, length) for name in names]
        if len(set(written)) == len(written):
            return written
    return [f"{j}: {write_plain_name(name)}" for j, name in enumerate(names)]


def font_along(ax: Axes, count: int, axis: str) -> float:
    """Choose the font size in points of `count` names side by side along an axis."""
    assert ax.figure is not None
    box = ax.get_window_extent()
    inches = (box.height if axis == "y" else box.width) / ax.figure.dpi
    return float(np.clip(50 * inches / max(count, 1), 4, 10))


def write_sizes_for_title(sizes: Sequence[int]) -> str:
    """Return group sizes as text for a title: each of at most four groups, else their sum and number."""
    if len(sizes) <= 4:
        return f"n = {' + '.join(map(str, sizes))}"
    return f"n = {sum(sizes)} in {len(sizes)} groups"


def marker_area(n: int) -> float:
    """Choose the marker size for a scatter plot of n points, in square points."""
    return float(np.clip(26 * (300 / max(n, 1)) ** 0.5, 7, 26))


NAMES_DRAWN = 40
NAME_SIZE = 8.0  # points
COVERED_AT_MOST = 1e-6  # square points, of what is left free
# where a name can stand: horizontal and vertical alignment, and the offset in points
STANDS = [
    ("left", "center", 5, 0),
    ("right", "center", -5, 0),
    ("center", "bottom", 0, 4),
    ("center", "top", 0, -4),
    ("left", "bottom", 3, 3),
    ("right", "bottom", -3, 3),
    ("left", "top", 3, -3),
    ("right", "top", -3, -3),
]


def draw_names(
    place: FloatArray,
    names: Sequence[str],
    ax: Any,
    *,
    all_of_them: bool = True,
    covered: Sequence[FloatArray] = (),
    large: FloatArray | None = None,
) -> list[FloatArray]:
    """Draw names beside points, in two dimensions where they overlap other names and points least; return boxes.

    Unless `all_of_them`, a name that would cover something is left out. `covered` are boxes that hold other names or
    points, and `large` the places of large markers; the boxes that are covered afterwards are returned.
    """
    if place.shape[1] == 3:
        for row, name in zip(place, names, strict=True):
            ax.text(*row, f" {name}", fontsize=NAME_SIZE)
        return []
    getattr(ax.figure, "draw_without_rendering", lambda: None)()  # so that the layout is final
    ax.apply_aspect()
    to_points = 72 / ax.figure.dpi
    spots = ax.transData.transform(place) * to_points
    frame = np.array(ax.bbox.extents) * to_points
    taken = [np.array([x - 3, y - 3, x + 3, y + 3]) for x, y in spots] + list(covered)
    if large is not None and large.size:
        taken += [np.array([x - 6, y - 6, x + 6, y + 6]) for x, y in ax.transData.transform(large) * to_points]
    # greedy placement: each name takes the stand that covers least of points and of names placed before
    crowded = np.sort(np.linalg.norm(spots[:, None] - spots, axis=2), axis=1)[:, : min(4, len(spots))].sum(axis=1)
    for i in np.argsort(crowded, kind="stable"):  # those with the least room choose first
        boxes = [_name_box(spots[i], names[i], stand) for stand in STANDS]
        others = np.array(taken[:i] + taken[i + 1 :])
        cost = [_measure_overlap(box, others) + _measure_outside(box, frame) for box in boxes]
        best = int(np.argmin(cost))
        if cost[best] > COVERED_AT_MOST and not all_of_them:
            continue
        taken.append(boxes[best])
        ha, va, dx, dy = STANDS[best]
        ax.annotate(names[i], place[i], xytext=(dx, dy), textcoords="offset points", fontsize=NAME_SIZE, ha=ha, va=va)
    return taken


def _name_box(spot: FloatArray, name: str, stand: tuple[str, str, int, int]) -> FloatArray:
    """Estimate the box that a name covers in a plot: left, bottom, right and top, in points."""
    ha, va, dx, dy = stand
    width, height = 0.6 * NAME_SIZE * len(name), 1.1 * NAME_SIZE
    left = spot[0] + dx - width * {"left": 0.0, "center": 0.5, "right": 1.0}[ha]
    bottom = spot[1] + dy - height * {"bottom": 0.0, "center": 0.5, "top": 1.0}[va]
    return np.array([left, bottom, left + width, bottom + height])


def _measure_overlap(box: FloatArray, others: FloatArray) -> float:
    """Compute the sum of the areas that one box shares with each of some others."""
    if not others.size:
        return 0.0
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    return float(np.prod(np.maximum(high - low, 0.0), axis=1).sum())


def _measure_outside(box: FloatArray, frame: FloatArray) -> float:
    """Compute the area of a box that lies outside the frame of the axes."""
    inside = _measure_overlap(box, frame[None])
    return float(np.prod(box[2:] - box[:2])) - inside


NAMES_FIT = 60
CELLS_WRITTEN = 144
CELLS_ACROSS = 16  # more would not have room for a number


def draw_heat(
    values: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    ax: Axes,
    *,
    label: str,
    limits: tuple[float, float] | None = None,
    square: bool = True,
    cmap: str = "viridis",
    form: str = ".3g",
    cells: int = CELLS_WRITTEN,
) -> Axes:
    """Draw a heat map of a matrix with names of rows and columns and a colour bar, and return the axes.

    Cells without a value stay white with a dash.
    """
    known = values[np.isfinite(values)]
    low, high = limits or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    image = ax.imshow(
        values, cmap=cmap, vmin=low, vmax=high, aspect="equal" if square else "auto", interpolation="nearest"
    )
    _name_ticks(rows, "y", ax)
    _name_ticks(columns, "x", ax)
    if values.size <= cells and values.shape[1] <= CELLS_ACROSS:
        size = float(np.clip(80 / max(values.shape[1], 1), 6, 10))
        for (i, j), value in np.ndenumerate(values):
            dark = np.isfinite(value) and value <= 0.5 * (low + high)
            text = format(value + 0.0, form) if np.isfinite(value) else "-"
            ax.text(j, i, text, ha="center", va="center", color="white" if dark else "black", fontsize=size)
    assert ax.figure is not None
    beside = ax.inset_axes((1.03, 0.0, 0.05, 1.0))  # as high as the cells
    ax.figure.colorbar(image, cax=beside, label=label)
    return ax


def room_for(names: Sequence[str]) -> float:
    """Compute the width in inches to add to a heat map for long names."""
    return 0.07 * max(0, max((len(name) for name in names), default=0) - 12)


def _name_ticks(names: Sequence[str], axis: str, ax: Axes) -> None:
    """Draw names as tick labels of one axis, rotated if long; none if there are more than sixty."""
    which = ax.xaxis if axis == "x" else ax.yaxis
    if len(names) > NAMES_FIT:
        which.set_ticks([])
        return
    # the layout is not final yet, so widths are estimated from the length of the names
    size = font_along(ax, len(names), axis)
    which.set_ticks(range(len(names)), list(names), fontsize=size)
    longest = max((len(name) for name in names), default=0)
    if axis == "x" and longest * len(names) > 40:
        turned = 90 if len(names) > 16 else 45
        anchor: dict[str, Any] = {"ha": "right", "va": "center" if turned == 90 else "top", "rotation_mode": "anchor"}
        ax.tick_params(axis="x", rotation=turned)
        for text in ax.get_xticklabels():
            text.set(**anchor)
