"""Pictures of clusters: points, one column with its breaks, the way of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from energystats._typing import ArrayLike, FloatArray
from energystats.plotting.base import axes_or_new, cluster_colors, legend_of_clusters

if TYPE_CHECKING:
    from energystats.results import Partition

__all__ = ["mark_classes", "plot_partition", "plot_path"]


def plot_partition(found: Partition, ax: Axes | None = None) -> Axes:
    """Points coloured by cluster, in one or two coordinates or the first two principal ones."""
    ax = axes_or_new(ax)
    colors = cluster_colors(found.k)
    if found.points is not None and found.points.shape[1] == 1:
        return plot_line(found, colors, ax)
    plane, x_label, y_label = plane_of(found)
    for j in range(found.k):
        inside = found.labels == j
        label = f"cluster {j} (n = {found.sizes[j]})"
        ax.scatter(plane[inside, 0], plane[inside, 1], s=22, color=colors[j], alpha=0.8, lw=0, label=label)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.set_title(f"S/T = {found.between / found.total:.3f}" if found.total else "all points coincide", loc="left")
    legend_of_clusters(found.k, ax)
    return ax


def mark_classes(found: Partition, classes: ArrayLike, ax: Axes) -> None:
    """Open markers, one shape per known class, over the points of `plot_partition`."""
    plane, _, _ = plane_of(found)
    names = np.asarray(classes)
    for name, marker in zip(np.unique(names), "os^Dvp*hX", strict=False):
        inside = plane[names == name]
        ax.scatter(
            inside[:, 0], inside[:, 1], s=60, marker=marker, facecolors="none", edgecolors="0.25", lw=0.6, label=name
        )
    ax.legend(frameon=False, fontsize="small")


def plot_line(found: Partition, colors: list[Any], ax: Axes) -> Axes:
    """One column: histogram coloured by cluster, with the breaks where there are any.

    A bar that a break cuts shows the colours of both sides, one on the other. Where a few far points would press the
    others together, the axis ends near the outermost breaks and 1 % quantiles, and its label counts what lies beyond.
    """
    assert found.points is not None
    x = found.points[:, 0]
    low, high = visible_range(x, found.breaks)
    labels = [f"cluster {j} (n = {n})" for j, n in enumerate(found.sizes)]
    bins = np.linspace(low, high, 1 + min(120, max(30, int(np.sqrt(x.size))))).tolist() if high > low else 30
    ax.hist([x[found.labels == j] for j in range(found.k)], bins=bins, stacked=True, color=colors, label=labels)
    mark_breaks([] if found.breaks is None else found.breaks.tolist(), high - low, ax)
    hidden = int(np.count_nonzero((x < low) | (x > high)))
    name = found.columns[0] if found.columns else "x"
    ax.set_xlabel(f"{name} ({hidden} of {x.size} values beyond the axis)" if hidden else name)
    ax.set_ylabel("count")
    if found.k <= 8:
        ax.set_ylim(top=(1.05 + 0.06 * found.k) * ax.get_ylim()[1])  # room for the legend above the bars
    legend_of_clusters(found.k, ax)
    return ax


def mark_breaks(breaks: list[float], width: float, ax: Axes) -> None:
    """Dashed lines, with the value above each one that is far enough from the label before it."""
    labelled: list[float] = []
    for b in breaks:
        ax.axvline(b, color="0.15", lw=1, ls="--")
        if not labelled or b - labelled[-1] >= 0.04 * width:
            labelled.append(b)
    if labelled:
        top = ax.secondary_xaxis("top")
        top.set_xticks(labelled, [f"{b:.4g}" for b in labelled], rotation=45, ha="left", fontsize="small")


def visible_range(x: FloatArray, breaks: FloatArray | None) -> tuple[float, float]:
    """The range of the data; for many points with far ends, that of the breaks and the middle 98 % and a tenth more."""
    low, high = float(x.min()), float(x.max())
    first, last = (float(q) for q in np.quantile(x, [0.01, 0.99]))
    if breaks is not None and breaks.size:
        first, last = min(first, float(breaks[0])), max(last, float(breaks[-1]))
    reach = 0.1 * (last - first)
    if x.size < 1000 or not last > first or high - low < 3 * (last - first):
        return low, high
    return max(low, first - reach), min(high, last + reach)


def plane_of(found: Partition) -> tuple[FloatArray, str, str]:
    """Two coordinates per point and the names of the axes."""
    if found.points is None:
        assert found.coordinates is not None
        return found.coordinates, "principal coordinate 1", "principal coordinate 2"
    if found.points.shape[1] == 2:
        first, second = found.columns or ("column 0", "column 1")
        return found.points, first, second
    centred = found.points - found.points.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(centred), 2))
    plane[:, : lengths.size] = left[:, :2] * lengths[:2]
    explained = np.append(lengths**2, 0.0) / max(float((lengths**2).sum()), np.finfo(float).tiny)
    names = [f"principal component {j + 1} ({explained[j]:.0%} of variance)" for j in range(2)]
    return plane, names[0], names[1]


def plot_path(found: Partition, ax: Axes | None = None) -> Axes:
    """W after every pass, the start being pass 0."""
    ax = axes_or_new(ax)
    path = np.array([found.within]) if found.path is None else found.path
    ax.plot(np.arange(path.size), path, marker="o", color="#0072b2")
    ax.set_xlabel("pass")
    ax.set_ylabel("W")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title(found.algorithm, loc="left")
    return ax
