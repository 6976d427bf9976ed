"""Draw criteria for the number of clusters against k, and stability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._typing import FloatArray, IntArray
from energystats.plotting.axes import OBSERVED, QUIET, axes_or_new, cluster_colors, font_along

__all__ = ["plot_select_k", "plot_stability"]


def plot_select_k(
    values: FloatArray,
    ax: Axes | None = None,
    *,
    criterion: str,
    chosen: int,
    chosen_by: str,
    n: int,
    error: FloatArray,
    level: float,
) -> Axes:
    """Draw one criterion for the number of clusters against k, with the chosen k, and return the axes; (k_max,).

    `criterion` is "gap", which has a standard `error`, "eigengap", "significance", which has a `level`, or "within".
    """
    ax = axes_or_new(ax)
    k_max = values.size
    ks = np.arange(1, k_max + 1)
    best = chosen if chosen_by == criterion else None
    if criterion == "gap":
        _draw_gaps(ks, values, error, best, ax)
    elif criterion == "eigengap":
        _draw_eigengaps(ks, values, best, ax)
    elif criterion == "significance":
        _draw_splits(ks, values, level, ax)
    else:
        _draw_within(ks, values, ax)
    ax.axvline(chosen, color="0.25", lw=1, ls=":", zorder=0, label=f"chosen by {chosen_by}: k = {chosen}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlim(0.5, k_max + 0.5)
    ax.set_xlabel("number of clusters k")
    ax.set_title(f"k = {chosen}, by {chosen_by}, n = {n}", loc="left")
    ax.legend(frameon=False)
    return ax


def _draw_gaps(ks: IntArray, gap: FloatArray, error: FloatArray, best: int | None, ax: Axes) -> None:
    """Draw the gap statistic with standard errors against k, and a line at Gap(k + 1) less its error at the best k."""
    finite = np.isfinite(gap)
    label = "gap, one standard error"
    ax.errorbar(ks[finite], gap[finite], error[finite], marker="o", color="#0072b2", capsize=3, label=label)
    # the rule of Tibshirani et al.: the first k with Gap(k) >= Gap(k + 1) - s(k + 1)
    if best is not None and best < ks.size and finite[best]:
        ends = gap[best] - error[best]
        ax.plot([best, best + 1], [ends, ends], color=OBSERVED, lw=1.5, label="next gap less its error")
    ax.margins(y=0.25)  # room for the legend
    ax.set_ylabel("gap: mean log W of references - log W")


def _draw_eigengaps(ks: IntArray, eigengap: FloatArray, best: int | None, ax: Axes) -> None:
    """Draw eigengaps against k as bars, the chosen one in red, the first in grey."""
    colors = [OBSERVED if k == best else "#0072b2" for k in ks[1:].tolist()]
    bars = ax.bar(ks[1:], eigengap[1:], 0.6, color=colors)
    for k, bar in zip(ks[1:].tolist(), bars, strict=True):
        if k == best:
            bar.set(hatch="//", edgecolor="white", lw=0, label="largest, k >= 2")
    # the gap after the first eigenvalue, 1, is often far larger than all others and would flatten them
    height = max(float(eigengap[1:].max(initial=0.0)), 1e-12) if ks.size > 1 else 1.0
    first = min(float(eigengap[0]), 1.15 * height)
    ax.bar(ks[:1], first, 0.6, color=QUIET, label="cannot be chosen")
    if eigengap[0] > first:
        ax.annotate(f"cut off: {eigengap[0]:.2g}", (0.7, 1.17 * height), ha="left", va="bottom", fontsize="small")
    ax.set_ylim(0, 1.85 * height)  # room for the legend above the bars
    ax.set_ylabel("eigenvalue k of the random walk less the next")


def _draw_splits(ks: IntArray, pvalue: FloatArray, level: float, ax: Axes) -> None:
    """Draw the smallest adjusted p-value of splits against k on a log scale, with the level."""
    known = np.isfinite(pvalue)
    ax.plot(ks[known], pvalue[known], marker="o", color="#0072b2", label="smallest adjusted p of a leaf")
    ax.axhline(level, color=OBSERVED, lw=1.5, ls="--", label=f"level {level:g}")
    ax.set_yscale("log")
    ax.set_ylabel("adjusted p of a further split")


def _draw_within(ks: IntArray, within: FloatArray, ax: Axes) -> None:
    """Draw the within dispersion W against the number of clusters k."""
    ax.plot(ks, within, marker="o", color="#0072b2", label="W")
    ax.set_ylim(bottom=min(0.0, float(within.min())))
    ax.set_ylabel("within dispersion W")


def plot_stability(
    similarities: FloatArray,
    means: FloatArray,
    ax: Axes | None = None,
    *,
    sizes: Sequence[int],
    scheme: str,
    adjusted_rand: float,
) -> Axes:
    """Draw box plots of the Jaccard similarity of each cluster over resamples, (n_resamples, k); return the axes."""
    ax = axes_or_new(ax)
    k = len(sizes)
    values = [column[~np.isnan(column)] for column in similarities.T]
    boxes = ax.boxplot(values, patch_artist=True, widths=0.6, medianprops={"color": "black"})
    for box, color in zip(boxes["boxes"], cluster_colors(k), strict=True):
        box.set(facecolor=color, alpha=0.5)
    ax.scatter(range(1, k + 1), means, color="black", marker="D", s=22, zorder=3, label="mean")
    # limits of Hennig (2007) for clusters that are recovered, and dissolved
    ax.axhline(0.75, color="0.4", lw=1, ls="--", label="recovered from here")
    ax.axhline(0.5, color="0.4", lw=1, ls=":", label="dissolved up to here")
    names = [f"{j}\n(n = {size})" for j, size in enumerate(sizes)]
    size = font_along(ax, k if k <= 8 else 5 * k // 4, "x")
    ax.set_xticks(range(1, k + 1), names if k <= 8 else [str(j) for j in range(k)], fontsize=size)
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("cluster")
    ax.set_ylabel("Jaccard similarity")
    how = f"{len(similarities)} resamples ({scheme})"
    ax.set_title(f"{how}, adjusted Rand index {adjusted_rand:.2f}", loc="left")
    ax.legend(loc="lower left", framealpha=0.85, edgecolor="none")
    return ax
