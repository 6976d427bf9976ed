"""What every picture shares: axes, colours, markers and names of groups."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from energystats._typing import ArrayLike, IntArray
from energystats.validation import as_labels

__all__ = ["cluster_colors"]

OBSERVED = "#b2182b"
QUIET = "#9aa5b1"
MARKERS = "osD^vP*X"


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    return ax if ax is not None else plt.subplots(layout="constrained")[1]


def cluster_colors(k: int) -> list[Any]:
    """One colour per cluster, told apart in grey and by colour-blind readers as far as there are enough."""
    if k <= 8:
        okabe_ito = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"]
        return okabe_ito[:k]
    return [plt.get_cmap("turbo")(t) for t in np.linspace(0.05, 0.95, k)]


def legend_of_clusters(k: int, ax: Axes) -> None:
    """Inside the axes for a few clusters, beside them in columns for many."""
    if k <= 8:
        ax.legend(frameon=False)
    else:
        ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), ncols=-(-k // 20))


def group_codes(labels: ArrayLike | None, n: int) -> tuple[IntArray, list[str]]:
    """Code of each point and the groups' names; one nameless group without labels."""
    if labels is None:
        return np.zeros(n, np.intp), []
    codes, names = as_labels(labels, n, "labels")
    return codes, [str(name) or "''" for name in names]
