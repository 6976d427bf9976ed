"""What every picture shares: axes, colours, markers, and names as they can be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from energystats._typing import ArrayLike, IntArray
from energystats.tables import cut
from energystats.validation import as_labels

__all__ = ["cluster_colors"]

OBSERVED = "#b2182b"
QUIET = "#9aa5b1"
CURVE = "#0072b2"
WHITE = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85}  # behind a text
MARKERS = "osD^vP*X"
HATCHES = ("", "///", "...", "xx", "\\\\\\", "oo", "++", "--")
POINTS_SHOWN = 5000  # of a scatter plot; more would cover each other
LEAST_SHOWN = 50  # of every cluster, where only a part is shown
NAME_LENGTH = 24
CLUSTERS_LISTED = 40


def axes_or_new(ax: Axes | None, *, height: float | None = None, more_width: float = 0.0) -> Axes:
    """The axes given, or those of a new figure, of this height in inches and wider than usual by so many."""
    if ax is not None:
        return ax
    usual = [float(side) for side in plt.rcParams["figure.figsize"]]
    tall = usual[1] if height is None else float(np.clip(height, 3.6, 16))
    return plt.subplots(figsize=(usual[0] + min(more_width, 8.0), tall), layout="constrained")[1]


def cluster_colors(k: int) -> list[Any]:
    """One colour per cluster, told apart in grey and by colour-blind readers as far as there are enough."""
    if k <= 8:
        okabe_ito = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"]
        return okabe_ito[:k]
    return [plt.get_cmap("turbo")(t) for t in np.linspace(0.05, 0.95, k)]


def legend_of_clusters(k: int, ax: Axes, *, beside: float = 1.0, area: float = 26.0) -> None:
    """Inside the axes for a few clusters, beside them in columns for many, with markers of a size to be seen.

    More than forty have none: nobody would find a cluster in it.
    """
    if k > CLUSTERS_LISTED:
        return
    scale = (26.0 / area) ** 0.5
    if k <= 8:
        ax.legend(frameon=False, markerscale=scale)
    else:
        style: dict[str, Any] = {"fontsize": "x-small", "ncols": legend_columns(k), "markerscale": scale}
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(beside, 0.5), **style)


def legend_columns(k: int) -> int:
    """Columns of a legend beside the axes."""
    return -(-k // 20)


def legend_width(k: int) -> float:
    """Inches to leave for it."""
    return 1.2 * legend_columns(k) if 8 < k <= CLUSTERS_LISTED else 0.0


def plain(name: object, length: int = NAME_LENGTH) -> str:
    """A name on one line, cut in the middle where it is long, without what matplotlib would read as an order.

    A dollar sign would begin a formula, and a label that begins with an underscore is left out of legends.
    """
    text = cut(name, length)
    if text.startswith("_"):
        text = f"'{text}'"
    return text.replace("$", r"\$")


def plain_all(names: Iterable[object]) -> list[str]:
    """Names as `plain` writes them, longer or numbered where they would be the same."""
    names = list(names)
    for length in (NAME_LENGTH, 36, 60):
        written = [plain(name, length) for name in names]
        if len(set(written)) == len(written):
            return written
    return [f"{j}: {plain(name)}" for j, name in enumerate(names)]


def font_along(ax: Axes, count: int, axis: str) -> float:
    """Size in points of names beside each other along an axis, before the layout has settled."""
    assert ax.figure is not None
    box = ax.get_window_extent()
    inches = (box.height if axis == "y" else box.width) / ax.figure.dpi
    return float(np.clip(50 * inches / max(count, 1), 4, 10))


def group_codes(labels: ArrayLike | None, n: int) -> tuple[IntArray, list[str]]:
    """Code of each point and the groups' names; one nameless group without labels."""
    if labels is None:
        return np.zeros(n, np.intp), []
    codes, names = as_labels(labels, n, "labels")
    return codes, plain_all(names)


def sizes_text(sizes: Sequence[int]) -> str:
    """Sizes of the groups for a title: all of a few, the sum of many."""
    if len(sizes) <= 4:
        return f"n = {' + '.join(map(str, sizes))}"
    return f"n = {sum(sizes)} in {len(sizes)} groups"


def rows_shown(labels: IntArray, most: int = POINTS_SHOWN) -> IntArray:
    """Points to draw: all, or a random part that has at least fifty points of every cluster; always the same one."""
    n = labels.size
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    shuffled = labels[order]
    kept = []
    for j in np.unique(labels):
        inside = order[shuffled == j]
        kept.append(inside[: max(LEAST_SHOWN, most * inside.size // n)])
    return np.sort(np.concatenate(kept))


def marker_area(n: int) -> float:
    """Size of a point in a scatter plot of n, in square points."""
    return float(np.clip(26 * (300 / max(n, 1)) ** 0.5, 7, 26))
