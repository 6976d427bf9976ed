"""Draw ordered rows and their segments: series, profiles of S, W against k, rho between rows, and strata."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from energystats._typing import AnyArray, FloatArray, IntArray
from energystats.plotting.axes import CURVE, OBSERVED, QUIET, WHITE, axes_or_new, raise_top, write_plain_name

__all__ = ["plot_ordered_distances", "plot_profile", "plot_series", "plot_strata", "plot_within_by_k"]


COLUMNS_DRAWN = 8  # of a series
STRATA_DRAWN = 12
NARROWEST = 0.25  # panel, as a share of the widest
BREAK: dict[str, Any] = {"color": OBSERVED, "lw": 1.2, "ls": (0, (4, 2))}
HEADING_PAD = 6.0  # points above columns, and below the title
BAND = "0.955"  # of every second segment
POINTS_MARKED = 200  # more are a line alone
POINTS_PER_LETTER = 4.4  # of notes, written x-small


def plot_series(
    axis: AnyArray,
    points: FloatArray,
    ax: Axes | None = None,
    *,
    breakpoints: IntArray,
    notes: Sequence[str],
    order: str,
    title: str,
    names: Sequence[str],
) -> Axes:
    """Draw ordered data, one column or several below each other, with breaks and segment medians; return the axes.

    `notes` stand beside the breaks, such as their p-values. The line of a segment is its median.
    """
    total = points.shape[1]
    if total > COLUMNS_DRAWN:
        kept = _changing_most(points, breakpoints)
        points, names = points[:, kept], [names[j] for j in kept]
    shown = points.shape[1]
    ax = axes_or_new(ax, height=None if shown == 1 else 2.4 + 0.6 * shown, more_width=1.6)
    _shade(axis, breakpoints, ax, along="x")
    edges = np.concatenate(([0], breakpoints, [len(axis)])).astype(np.intp)
    for j in range(shown):
        y = points[:, j]
        if shown > 1:  # each column in a band of its own, the first on top
            y = -j + 0.8 * (y - y.min()) / (np.ptp(y) or 1.0) - 0.4
        style: dict[str, Any] = {"marker": "o", "ms": 2.4} if len(axis) <= POINTS_MARKED else {}
        ax.plot(axis, y, color="0.35", lw=0.7, rasterized=len(axis) > 5000, **style)
        for low, high in itertools.pairwise(edges):
            level = float(np.median(y[low:high]))
            name = "median of the segment" if low + j == 0 else None
            ax.plot(_ends(axis, low, high), [level, level], color=CURVE, lw=2.0, label=name)
    if shown == 1:
        ax.set_ylabel(write_plain_name(names[0], 40))
    else:
        ax.set_yticks(-np.arange(shown), [write_plain_name(name) for name in names[:shown]])
        ax.set_ylim(-shown + 0.4, 0.6)
    _make_room(notes, ax)
    _draw_breaks(axis, breakpoints, notes, ax)
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    ax.set_xlabel(write_plain_name(order, 40))
    most = ", those that change most" if len(breakpoints) else ""
    more = f"\n{shown} of {total} columns{most}" if total > shown else ""  # the legend stands beside this line
    ax.set_title(f"{title}{more}", loc="left")
    ax.margins(x=0.01)
    return ax


def _make_room(notes: Sequence[str], ax: Axes) -> None:
    """Raise the upper limit of the axes so that upright notes stand above what is drawn."""
    longest = max(map(len, notes), default=0)
    if longest and ax.figure is not None:
        inches = (POINTS_PER_LETTER * longest + 6.0) / 72
        raise_top(ax, min(inches * ax.figure.dpi / ax.get_window_extent().height, 0.4))


def _changing_most(points: FloatArray, breakpoints: IntArray) -> IntArray:
    """Find the columns whose segment means explain most of their variance; without breaks the first columns; (m,)."""
    if not len(breakpoints):
        return np.arange(COLUMNS_DRAWN)
    centred = points - points.mean(axis=0)
    parts = np.split(centred, breakpoints)
    between = sum(len(part) * part.mean(axis=0) ** 2 for part in parts)
    total = (centred**2).sum(axis=0)
    share = np.divide(between, total, out=np.zeros(points.shape[1]), where=total > 0)
    return np.sort(np.argsort(-share, kind="stable")[:COLUMNS_DRAWN])


def plot_profile(
    axis: AnyArray,
    profile: FloatArray,
    ax: Axes | None = None,
    *,
    limit: float,
    level: float,
    best: int,
    run: tuple[int, int, float],
    breakpoints: IntArray,
    order: str,
    title: str,
) -> Axes:
    """Draw the statistic of every break into two segments against its place, with a null quantile; return the axes.

    `limit` is the 1 - `level` quantile of the largest Z over permutations, `best` the first row after the break with
    the largest Z; the other breaks are drawn thin. `run` are the first and the last row of the run with the largest Z,
    and that Z: a bar, where rows stand on both sides of it, so that no cut into two has that Z.
    """
    ax = axes_or_new(ax, more_width=1.6)
    if axis.dtype.kind == "M":
        ax.xaxis_date()  # places between dates are numbers of matplotlib
    ax.plot(_cuts(axis), profile, color=CURVE, lw=1.4)
    ax.axhline(limit, color=QUIET, lw=1.2)
    first, last, largest = run
    if first > 0 and last < len(axis) - 1:
        ends = _break_places(axis, np.array([first, last + 1]))
        ax.plot(ends, [largest, largest], color=CURVE, lw=4.0, solid_capstyle="butt", label="run with the largest Z")
        ax.plot([], [], color=CURVE, lw=1.4, label="cuts into two segments")
        ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    words = f"largest Z of {100 * level:g} % of orders"
    ax.annotate(words, (1, limit), (-4, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
                ha="right", va="bottom", fontsize="small", bbox=WHITE)  # fmt: skip
    for x in _break_places(axis, breakpoints[breakpoints != best]):
        ax.axvline(x, **BREAK | {"lw": 0.6, "alpha": 0.6})
    for x in _break_places(axis, breakpoints[breakpoints == best]):
        ax.axvline(x, **BREAK | {"lw": 1.6})
    ax.set_xlabel(f"{write_plain_name(order, 40)}, break between two rows")
    ax.set_ylabel("Z, standardized S")
    ax.set_title(title, loc="left")
    return ax


def plot_within_by_k(
    within: FloatArray, ax: Axes | None = None, *, total: float, n: int, min_size: int, exact: bool
) -> Axes:
    """Draw within dispersion W against the number of segments, over T unless T is 0, and return the axes.

    It is the smallest W if the cuts are `exact`.
    """
    ax = axes_or_new(ax)
    k = np.arange(1, within.size + 1)
    ax.plot(k, within / (total or 1.0), color=CURVE, marker="o", lw=1.2)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0] if within.min() < 0 else 0.0))
    ax.set_xlabel(f"number of segments, of at least {min_size} row{'s' * (min_size > 1)}")
    what = "smallest W" if exact else "W of the cuts found"
    ax.set_ylabel(what.replace("W", "W/T", 1) if total else what)
    ax.set_title(f"{what[0].upper()}{what[1:]} for every number of segments, n = {n}", loc="left")
    return ax


def plot_ordered_distances(
    axis: AnyArray,
    means: FloatArray,
    starts: IntArray,
    ax: Axes | None = None,
    *,
    breakpoints: IntArray,
    notes: Sequence[str],
    order: str,
    title: str,
) -> Axes:
    """Draw a heat map of mean dissimilarities between runs of ordered rows, with breaks; return the axes."""
    ax = axes_or_new(ax, height=5.2)
    places = starts - 0.5
    low, high = np.percentile(means[~np.eye(len(means), dtype=bool)], [1, 99]) if len(means) > 2 else (0.0, means.max())
    mesh = ax.pcolormesh(places, places, means, cmap="viridis", vmin=low, vmax=high, rasterized=True)
    for b in breakpoints:
        ax.axvline(b - 0.5, color="white", lw=1.0)
        ax.axhline(b - 0.5, color="white", lw=1.0)
    for b, note in zip(breakpoints, notes, strict=True):
        if note:
            ax.annotate(note, (b - 0.5, 1), (2, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                        fontsize="x-small", ha="left", va="bottom", rotation=30)  # fmt: skip
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ticks = np.unique(np.linspace(0, len(axis) - 1, 6).astype(int))
    words = [_write_tick(axis[i]) for i in ticks]
    ax.set_xticks(ticks, words, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(ticks, words)
    ax.set_xlabel(write_plain_name(order, 40))
    assert ax.figure is not None
    ax.figure.colorbar(mesh, cax=ax.inset_axes((1.03, 0.0, 0.05, 1.0)), label="rho", extend="both")
    ax.set_title(title, loc="left", pad=28 if any(notes) else None)
    return ax


def plot_strata(
    axis: AnyArray,
    points: FloatArray,
    tree: FloatArray,
    middles: FloatArray,
    ax: Axes | None = None,
    *,
    breakpoints: IntArray,
    notes: Sequence[str],
    order: str,
    title: str,
    names: Sequence[str],
    columns: IntArray | None = None,
    one_scale: bool = False,
) -> Axes:
    """Draw columns of ordered data downwards, side by side, with segments and a tree; return the axes.

    `tree` is a linkage matrix of runs of rows, whose middles in the order are `middles`. `columns` are the numbers of
    those to draw; without them, of many columns those are drawn that vary most between the segments, as a share of
    their variance. With `one_scale` a unit has one length in all panels.
    """
    chosen = _choose_strata(points, breakpoints) if columns is None else columns
    panels = chosen.size + 1
    ax = axes_or_new(ax, height=6.0, more_width=max(0.0, 0.9 * panels - 3.0))
    ax.set_axis_off()
    lows, highs = points[:, chosen].min(axis=0, initial=np.inf), points[:, chosen].max(axis=0, initial=-np.inf)
    lows = np.where(lows >= 0, 0.0, lows)  # amounts begin at 0
    bases = np.where(highs >= 0, np.maximum(lows, 0.0), highs)  # and values of both signs are drawn to both sides
    widths = np.r_[np.ones(chosen.size), 1.6 if chosen.size else 1.0]
    if one_scale and chosen.size:
        spans = highs - lows
        widths[:-1] = np.maximum(spans / (spans.max() or 1.0), NARROWEST)
        widths[:-1] *= chosen.size / widths[:-1].sum()
        per_unit = float((spans / widths[:-1]).max())  # narrow panels have room to spare
        highs = lows + widths[:-1] * per_unit
    lefts = np.r_[0.0, np.cumsum(widths)[:-1]] / widths.sum()
    insets = [ax.inset_axes((x, 0.0, 0.9 * w / widths.sum(), 1.0)) for x, w in zip(lefts, widths, strict=True)]
    for i, (inset, j) in enumerate(zip(insets[:-1], chosen, strict=True)):
        inset.fill_betweenx(axis, bases[i], points[:, j], color=QUIET, lw=0)
        inset.plot(points[:, j], axis, color="0.2", lw=0.7)
        if one_scale:
            margin = 0.05 * (highs[i] - lows[i]) or 0.5
            inset.set_xlim(lows[i] - margin, highs[i] + margin)
        inset.xaxis.set_major_locator(MaxNLocator(2, min_n_ticks=2))
        inset.set_title(
            write_plain_name(names[j], 30), fontsize="small", rotation=25, ha="left", x=0.0, pad=HEADING_PAD
        )
    _draw_tree(tree, _at_places(axis, middles), insets[-1])
    insets[-1].set_title("neighbours joined", fontsize="small", rotation=25, ha="left", x=0.0, pad=HEADING_PAD)
    # above the headings, which are oblique and as high as they are long
    highest = max(inset.title.get_window_extent().height for inset in insets) * 72 / ax.figure.dpi
    ax.set_title(title if points.shape[1] <= chosen.size else f"{title}, {chosen.size} of {points.shape[1]} columns",
                 loc="left", pad=highest + 2 * HEADING_PAD)  # fmt: skip
    for i, inset in enumerate(insets):
        _shade(axis, breakpoints, inset, along="y")
        for b in _break_places(axis, breakpoints):
            inset.axhline(b, **BREAK)
        inset.set_ylim(axis[-1], axis[0])
        inset.tick_params(labelsize="x-small", labelleft=i == 0)
        inset.spines[["top", "right"]].set_visible(False)
    insets[0].set_ylabel(write_plain_name(order, 40))
    for b, note in zip(_break_places(axis, breakpoints), notes, strict=True):
        if note:
            insets[-1].annotate(note, (1, b), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                                fontsize="x-small", va="center", annotation_clip=False)  # fmt: skip
    return ax


# ---------------------------------------------------------------- parts


def _choose_strata(points: FloatArray, breakpoints: IntArray) -> IntArray:
    """Choose the columns to draw: those of whose variance segments explain most, in the table's order."""
    if points.shape[1] <= STRATA_DRAWN:
        return np.arange(points.shape[1])
    parts = np.split(points, breakpoints)
    inside = np.sum([len(part) * part.var(axis=0) for part in parts], axis=0)
    whole = len(points) * points.var(axis=0)
    shares = np.where(whole > 0, 1 - inside / np.where(whole > 0, whole, 1.0), -1.0)
    found = np.argsort(-shares, kind="stable") if breakpoints.size else np.argsort(-whole, kind="stable")
    return np.sort(found[:STRATA_DRAWN])


def _draw_tree(tree: FloatArray, leaves: FloatArray, ax: Axes) -> None:
    """Draw the dendrogram of ordered rows sideways, its root on the right."""
    at, height, lines = list(leaves), [0.0] * len(leaves), []
    for left, right, top, _ in tree:
        a, b = int(left), int(right)
        lines.append([(height[a], at[a]), (top, at[a]), (top, at[b]), (height[b], at[b])])
        at.append(0.5 * (at[a] + at[b]))
        height.append(float(top))
    ax.add_collection(LineCollection(lines, colors="0.2", lw=0.6))
    ax.set_xlim(0, 1.03 * (height[-1] or 1.0))
    ax.xaxis.set_major_locator(MaxNLocator(3, min_n_ticks=1))
    ax.set_xlabel("W", fontsize="small")


def _at_places(axis: AnyArray, places: AnyArray) -> FloatArray:
    """Interpolate axis values at positions between rows, as matplotlib numbers."""
    from matplotlib.dates import date2num

    values = date2num(axis) if axis.dtype.kind == "M" else axis.astype(np.float64)  # type: ignore[no-untyped-call]
    return np.asarray(np.interp(places, np.arange(len(axis)), values))


def _break_places(axis: AnyArray, breakpoints: IntArray) -> FloatArray:
    """Compute the axis values at which to draw breaks, halfway between two segments."""
    return _at_places(axis, breakpoints - 0.5)


def _cuts(axis: AnyArray) -> FloatArray:
    """Return the axis values of all possible breaks of ordered rows; (n - 1,)."""
    return _break_places(axis, np.arange(1, len(axis)))


def _ends(axis: AnyArray, low: int, high: int) -> NDArray[Any]:
    """Return the axis values of the first and the last row of a segment; (2,)."""
    return np.array([axis[low], axis[high - 1]])


def _shade(axis: AnyArray, breakpoints: IntArray, ax: Axes, *, along: str) -> None:
    """Draw every second segment of an ordered series with a shaded background."""
    places = _at_places(axis, np.r_[0.0, breakpoints - 0.5, len(axis) - 1.0])
    for low, high in zip(places[1:-1:2], places[2::2], strict=False):
        (ax.axvspan if along == "x" else ax.axhspan)(low, high, color=BAND, lw=0, zorder=0)


def _draw_breaks(axis: AnyArray, breakpoints: IntArray, notes: Sequence[str], ax: Axes) -> None:
    """Draw a vertical line at every break of an ordered series, with its note at the top."""
    for b, note in zip(_break_places(axis, breakpoints), notes, strict=True):
        ax.axvline(b, **BREAK)
        if note:
            ax.annotate(note, (b, 1), (3, -3), xycoords=("data", "axes fraction"), textcoords="offset points",
                        fontsize="x-small", va="top", rotation=90, bbox=WHITE)  # fmt: skip


def _write_tick(value: Any) -> str:
    """Return a value of the order (a number or a date) as text for a tick label."""
    return str(np.datetime_as_string(value, "D")) if isinstance(value, np.datetime64) else f"{value:g}"
