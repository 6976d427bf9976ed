"""Pictures of the number of clusters: criteria against k, stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._typing import FloatArray, IntArray
from energystats.inputs.options import check_option
from energystats.plotting.axes import OBSERVED, QUIET, axes_or_new, cluster_colors, font_along

if TYPE_CHECKING:
    from energystats.selection.results import ClusterStabilityResult, SelectKResult

__all__ = ["plot_select_k", "plot_stability"]


CRITERIA = ("gap", "eigengap", "significance", "within")


def plot_select_k(found: SelectKResult, ax: Axes | None = None, *, criterion: str | None = None) -> Axes:
    """One criterion against k, the chosen k marked."""
    criterion = found.criterion if criterion is None else criterion
    check_option(criterion, "criterion", CRITERIA)
    column = {"significance": "pvalue"}.get(criterion, criterion)
    y = found.column(column)
    if np.isnan(y).all() and found.k_max > 1:
        raise ValueError(f'`criterion` must be one that was computed, got {criterion!r}; compare="all" computes more.')
    ax = axes_or_new(ax)
    draw = {"gap": _draw_gaps, "eigengap": _draw_eigengaps, "significance": _draw_splits, "within": _draw_within}
    draw[criterion](found, np.arange(1, found.k_max + 1), y, ax)
    chosen = f"chosen by {found.criterion}: k = {found.k}"
    ax.axvline(found.k, color="0.25", lw=1, ls=":", zorder=0, label=chosen)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlim(0.5, found.k_max + 0.5)
    ax.set_xlabel("number of clusters k")
    ax.set_title(f"k = {found.k}, by {found.criterion}, n = {sum(found.partition.sizes)}", loc="left")
    ax.legend(frameon=False)
    return ax


def _draw_gaps(found: SelectKResult, ks: IntArray, gap: FloatArray, ax: Axes) -> None:
    """Gaps with bars of one standard error, and the lower end of the bar after the chosen k as a line."""
    finite = np.isfinite(gap)
    error = found.column("gap_error")
    label = "gap, one standard error"
    ax.errorbar(ks[finite], gap[finite], error[finite], marker="o", color="#0072b2", capsize=3, label=label)
    if found.criterion == "gap" and found.k < found.k_max and finite[found.k]:
        ends = gap[found.k] - error[found.k]
        ax.plot([found.k, found.k + 1], [ends, ends], color=OBSERVED, lw=1.5, label="next gap less its error")
    ax.margins(y=0.25)  # room for the legend
    ax.set_ylabel("gap: mean log W of references - log W")


def _draw_eigengaps(found: SelectKResult, ks: IntArray, eigengap: FloatArray, ax: Axes) -> None:
    """Bars, the chosen one in red; the first is grey because k = 1 cannot be chosen."""
    best = found.k if found.criterion == "eigengap" else None
    colors = [OBSERVED if k == best else "#0072b2" for k in ks[1:].tolist()]
    bars = ax.bar(ks[1:], eigengap[1:], 0.6, color=colors)
    for k, bar in zip(ks[1:].tolist(), bars, strict=True):
        if k == best:
            bar.set(hatch="//", edgecolor="white", lw=0, label="largest, k >= 2")
    height = max(float(eigengap[1:].max(initial=0.0)), 1e-12) if ks.size > 1 else 1.0
    first = min(float(eigengap[0]), 1.15 * height)
    ax.bar(ks[:1], first, 0.6, color=QUIET, label="cannot be chosen")
    if eigengap[0] > first:
        ax.annotate(f"cut off: {eigengap[0]:.2g}", (0.7, 1.17 * height), ha="left", va="bottom", fontsize="small")
    ax.set_ylim(0, 1.85 * height)  # room for the legend above the bars
    ax.set_ylabel("eigenvalue k of the random walk less the next")


def _draw_splits(found: SelectKResult, ks: IntArray, pvalue: FloatArray, ax: Axes) -> None:
    """Smallest adjusted p of the tree's leaves, on a logarithmic scale, with the level."""
    known = np.isfinite(pvalue)
    ax.plot(ks[known], pvalue[known], marker="o", color="#0072b2", label="smallest adjusted p of a leaf")
    ax.axhline(found.level, color=OBSERVED, lw=1.5, ls="--", label=f"level {found.level:g}")
    ax.set_yscale("log")
    ax.set_ylabel("adjusted p-value")


def _draw_within(found: SelectKResult, ks: IntArray, within: FloatArray, ax: Axes) -> None:
    """W against k."""
    ax.plot(ks, within, marker="o", color="#0072b2", label="W")
    ax.set_ylim(bottom=min(0.0, float(within.min())))
    ax.set_ylabel("within dispersion W")


def plot_stability(found: ClusterStabilityResult, ax: Axes | None = None) -> Axes:
    """Jaccard similarities over resamples as a box for each cluster, the mean as a point."""
    ax = axes_or_new(ax)
    values = [column[~np.isnan(column)] for column in found.similarities.T]
    boxes = ax.boxplot(values, patch_artist=True, widths=0.6, medianprops={"color": "black"})
    for box, color in zip(boxes["boxes"], cluster_colors(found.k), strict=True):
        box.set(facecolor=color, alpha=0.5)
    ax.scatter(range(1, found.k + 1), found.jaccard, color="black", marker="D", s=22, zorder=3, label="mean")
    ax.axhline(0.75, color="0.4", lw=1, ls="--", label="recovered from here")
    ax.axhline(0.5, color="0.4", lw=1, ls=":", label="dissolved up to here")
    names = [f"{j}\n(n = {size})" for j, size in enumerate(found.partition.sizes)]
    size = font_along(ax, found.k if found.k <= 8 else 5 * found.k // 4, "x")
    ax.set_xticks(range(1, found.k + 1), names if found.k <= 8 else [str(j) for j in range(found.k)], fontsize=size)
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("cluster")
    ax.set_ylabel("Jaccard similarity")
    ax.set_title(
        f"{found.n_resamples} resamples ({found.scheme}), adjusted Rand index {found.adjusted_rand:.2f}", loc="left"
    )
    ax.legend(loc="lower left", framealpha=0.85, edgecolor="none")
    return ax
