"""Names beside points, clear of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from energystats._typing import FloatArray

NAMES_DRAWN = 40
NAME_SIZE = 8.0  # points
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


def draw_names(place: FloatArray, names: Sequence[str], ax: Any) -> None:
    """Names beside the points; in the plane each where it covers least of other names and points."""
    if place.shape[1] == 3:
        for row, name in zip(place, names, strict=True):
            ax.text(*row, f" {name}", fontsize=NAME_SIZE)
        return
    getattr(ax.figure, "draw_without_rendering", lambda: None)()  # so that the layout has settled
    ax.apply_aspect()
    to_points = 72 / ax.figure.dpi
    spots = ax.transData.transform(place) * to_points
    frame = np.array(ax.bbox.extents) * to_points
    taken = [np.array([x - 3, y - 3, x + 3, y + 3]) for x, y in spots]
    crowded = np.sort(np.linalg.norm(spots[:, None] - spots, axis=2), axis=1)[:, : min(4, len(spots))].sum(axis=1)
    for i in np.argsort(crowded, kind="stable"):  # those with the least room choose first
        boxes = [name_box(spots[i], names[i], stand) for stand in STANDS]
        others = np.array(taken[:i] + taken[i + 1 :])
        best = int(np.argmin([covered(box, others) + outside(box, frame) for box in boxes]))
        taken.append(boxes[best])
        ha, va, dx, dy = STANDS[best]
        ax.annotate(names[i], place[i], xytext=(dx, dy), textcoords="offset points", fontsize=NAME_SIZE, ha=ha, va=va)


def name_box(spot: FloatArray, name: str, stand: tuple[str, str, int, int]) -> FloatArray:
    """Left, bottom, right and top of a name, in points, from the mean width of letters."""
    ha, va, dx, dy = stand
    width, height = 0.6 * NAME_SIZE * len(name), 1.1 * NAME_SIZE
    left = spot[0] + dx - width * {"left": 0.0, "center": 0.5, "right": 1.0}[ha]
    bottom = spot[1] + dy - height * {"bottom": 0.0, "center": 0.5, "top": 1.0}[va]
    return np.array([left, bottom, left + width, bottom + height])


def covered(box: FloatArray, others: FloatArray) -> float:
    """Area that a box shares with others."""
    if not others.size:
        return 0.0
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    return float(np.prod(np.maximum(high - low, 0.0), axis=1).sum())


def outside(box: FloatArray, frame: FloatArray) -> float:
    """How much of a box lies beyond the axes, as an area."""
    inside = covered(box, frame[None])
    return float(np.prod(box[2:] - box[:2])) - inside
