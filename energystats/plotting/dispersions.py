"""Pictures of dispersions: their parts, and means between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray
from energystats.plotting.base import OBSERVED, QUIET, axes_or_new

if TYPE_CHECKING:
    from energystats.results import DiscoResult

__all__ = ["plot_decomposition", "plot_group_means"]


def plot_group_means(g: FloatArray, labels: Sequence[Any], ax: Axes | None = None) -> Axes:
    """Heat map of the mean of rho between groups."""
    ax = axes_or_new(ax)
    image = ax.imshow(g, cmap="viridis")
    names = [str(name) if len(str(name)) <= 16 else f"{str(name)[:15]}…" for name in labels]
    if len(names) <= 25:
        ax.set_xticks(range(len(names)), names, rotation=45 if max(map(len, names)) > 5 else 0)
        ax.set_yticks(range(len(names)), names)
    ax.set_title("mean distance between and within groups", loc="left")
    bright = 0.5 * (float(g.min()) + float(g.max()))
    if len(names) <= 12:
        for (i, j), value in np.ndenumerate(g):
            ax.text(j, i, f"{value:.3g}", ha="center", va="center", color="black" if value > bright else "white")
    assert ax.figure is not None
    ax.figure.colorbar(image, ax=ax, label="mean of rho, g")
    return ax


def plot_decomposition(result: DiscoResult, ax: Axes | None = None) -> Axes:
    """Share of T of every row as a bar; terms have their p-value and are filled where it is at most .05."""
    ax = axes_or_new(ax)
    rows = result.rows[:-1]
    colors = [OBSERVED if row.pvalue <= 0.05 else QUIET for row in rows]
    ax.barh(range(len(rows)), [row.share for row in rows], color=colors)
    for i, row in enumerate(rows):
        p = "" if np.isnan(row.pvalue) else f", p = {row.pvalue:.2g}"
        ax.text(max(row.share, 0.0), i, f" {row.share:.1%}{p}", va="center", fontsize="small")
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    ax.invert_yaxis()
    low, high = min(0.0, *(row.share for row in rows)), max(1e-12, *(row.share for row in rows))
    ax.set_xlim(1.05 * low, high + 0.5 * (high - low))  # room for what is written beside the bars
    ax.axvline(0, color="0.25", lw=0.8)
    ax.set_xlabel("share of the total dispersion T")
    kind = f"{result.decomposition} terms, " if len(result.terms) > 1 else ""
    ax.set_title(f"{kind}p of the model = {result.pvalue:.2g}", loc="left")
    return ax
