"""Heat maps of small matrices, with the numbers in the cells where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray
from energystats.plotting.base import font_along

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
    """Cells in a scale that grows lighter with the value, named rows and columns, and the scale beside them.

    Cells without a value stay white with a dash.
    """
    known = values[np.isfinite(values)]
    low, high = limits or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    image = ax.imshow(
        values, cmap=cmap, vmin=low, vmax=high, aspect="equal" if square else "auto", interpolation="nearest"
    )
    name_ticks(rows, "y", ax)
    name_ticks(columns, "x", ax)
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
    """Inches that long names take from the cells."""
    return 0.07 * max(0, max((len(name) for name in names), default=0) - 12)


def name_ticks(names: Sequence[str], axis: str, ax: Axes) -> None:
    """Names along an axis, slanted where they are long; none where they would be too small to read."""
    which = ax.xaxis if axis == "x" else ax.yaxis
    if len(names) > NAMES_FIT:
        which.set_ticks([])
        return
    size = font_along(ax, len(names), axis)
    which.set_ticks(range(len(names)), list(names), fontsize=size)
    longest = max((len(name) for name in names), default=0)
    if axis == "x" and longest * len(names) > 40:
        turned = 90 if len(names) > 16 else 45
        anchor: dict[str, Any] = {"ha": "right", "va": "center" if turned == 90 else "top", "rotation_mode": "anchor"}
        ax.tick_params(axis="x", rotation=turned)
        for text in ax.get_xticklabels():
            text.set(**anchor)
