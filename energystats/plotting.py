"""The pictures of the results; imported inside `.plot()` only."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import FixedLocator, MaxNLocator

from energystats._core.unimodal import nearest_unimodal
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.validation import as_labels, as_linkage, check_count, check_option

if TYPE_CHECKING:
    from energystats.results import (
        ClusterStabilityResult,
        ClusterTestResult,
        ClusterTreeResult,
        DiscoResult,
        EnergyTestResult,
        Euclidization,
        EuclidizationComparison,
        GoodnessOfFitResult,
        GraphPartition,
        NegativeTypeResult,
        PairwiseTestsResult,
        Partition,
        PowerResult,
        PrincipalCoordinates,
        SelectKResult,
        SpectralEmbedding,
        TreeNode,
    )

__all__ = [
    "cluster_colors",
    "mark_classes",
    "plot_cluster_test",
    "plot_cluster_tree",
    "plot_comparison",
    "plot_coordinates",
    "plot_decomposition",
    "plot_dendrogram",
    "plot_eigengaps",
    "plot_euclidization",
    "plot_goodness",
    "plot_graph",
    "plot_group_means",
    "plot_negative_type",
    "plot_null",
    "plot_pairs",
    "plot_partition",
    "plot_path",
    "plot_power",
    "plot_select_k",
    "plot_stability",
]

OBSERVED = "#b2182b"
QUIET = "#9aa5b1"


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    return ax if ax is not None else plt.subplots(layout="constrained")[1]


def cluster_colors(k: int) -> list[Any]:
    """One colour per cluster, told apart in grey and by colour-blind readers as far as there are enough."""
    if k <= 8:
        okabe_ito = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"]
        return okabe_ito[:k]
    return [plt.get_cmap("turbo")(t) for t in np.linspace(0.05, 0.95, k)]


def plot_null(result: EnergyTestResult, ax: Axes | None = None) -> Axes:
    """Null distribution, as a histogram or as the density that stands for it, with the observed statistic as a line."""
    ax = axes_or_new(ax)
    if result.null_moments is not None:
        draw_density(result.null_moments, result.statistic, ax)
    what = "other labelings" if result.method == "exact" else "random relabelings"
    histogram_with_line(result.null_distribution, result.statistic, result.pvalue, what, ax)
    if result.null_moments is not None:
        ax.set_ylabel("density")
    names = {
        "between": "between-sample energy S",
        "pairwise": "pairwise statistic",
        "f": "F",
        "cross": "cross statistic",
        "min p": "smallest p-value over the semimetrics",
    }
    ax.set_xlabel(names.get(result.statistic_name, result.statistic_name))
    return ax


def draw_density(moments: tuple[float, float, float], observed: float, ax: Axes) -> None:
    """Pearson type III density with this mean, standard deviation and skewness; nothing for a point mass."""
    from scipy.stats import pearson3

    mean, sd, skewness = moments
    if not sd > 0:
        return
    law = pearson3(skewness, loc=mean, scale=sd)
    low, high = law.ppf([1e-3, 1 - 1e-3])
    x = np.linspace(low, max(high, observed), 400)
    density = law.pdf(x)
    height = np.quantile(density[np.isfinite(density)], 0.99)  # a very skew law has a pole
    ax.fill_between(x, np.minimum(density, height), color=QUIET, lw=0, label="law under equality")


def histogram_with_line(null: FloatArray, observed: float, pvalue: float, what: str, ax: Axes) -> Axes:
    """A null distribution and where the observed value lies in it; values that are not finite are left out."""
    finite = null[np.isfinite(null)]
    if finite.size:
        ax.hist(finite, bins=min(40, max(5, finite.size // 10)), color=QUIET, label=f"{finite.size} {what}")
    if np.isfinite(observed):
        ax.axvline(observed, color=OBSERVED, lw=2, label=f"observed, p = {pvalue:.2g}")
    ax.set_xlabel("between-sample energy S")
    ax.set_ylabel("count")
    ax.legend(frameon=False)
    return ax


def plot_goodness(result: GoodnessOfFitResult, ax: Axes | None = None) -> Axes:
    """Statistics of the simulated samples as a histogram, with the observed one as a line."""
    ax = axes_or_new(ax)
    histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "simulated samples", ax)
    ax.set_xlabel("n times the energy distance to the distribution")
    ax.set_title(f"H0: {result.distribution}", loc="left")
    return ax


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


def legend_of_clusters(k: int, ax: Axes) -> None:
    """Inside the axes for a few clusters, beside them in columns for many."""
    if k <= 8:
        ax.legend(frameon=False)
    else:
        ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), ncols=-(-k // 20))


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


def plot_cluster_test(result: ClusterTestResult, ax: Axes | None = None) -> Axes:
    """Scores that were tested, with the nearest unimodal density; the null distribution where there is one."""
    ax = axes_or_new(ax)
    scores = result.scores
    if result.method == "labels":
        return histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "relabelings", ax)
    if result.comparisons:
        histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "reference samples", ax)
        pivoted = result.comparisons[0].name == "pivoted"
        share = "S/T less the mean of its references" if pivoted else "S/T of the clusters found"
        ax.set_xlabel("mean held-out E" if result.method == "crossfit" else share)
        ax.set_title("H0: one Gaussian" if pivoted else "H0: independent unimodal scores", loc="left")
        return ax
    if scores.size < 2 or scores[0] == scores[-1]:
        ax.text(0.5, 0.5, "nothing to show: all scores are equal", ha="center", va="center", transform=ax.transAxes)
        return ax
    where = "points" if result.method == "unimodal-1d" else "held-out points"
    ax.hist(scores, bins=min(40, max(10, scores.size // 5)), density=True, color=QUIET, label=f"{scores.size} {where}")
    knots = nearest_unimodal(scores)
    edges = scores[knots]
    wide = np.append(True, np.diff(edges) > 0)
    height = np.diff(knots[wide]) / (scores.size - 1) / np.diff(edges[wide])
    ax.stairs(height, edges[wide], color=OBSERVED, lw=2, label="nearest unimodal law")
    ax.set_ylim(0, 1.25 * max(float(patch.get_height()) for patch in ax.patches if hasattr(patch, "get_height")))
    ax.set_xlabel("x - mean" if result.method == "unimodal-1d" else clearest_split(result))
    ax.set_ylabel("density")
    what = "H0: unimodal" if result.method == "unimodal-1d" else "H0: unimodal along linear projections"
    of_all = " of all splits" if result.n_splits else ""
    ax.set_title(f"{what}, p = {result.pvalue:.2g}{of_all}", loc="left")
    ax.legend(frameon=False)
    return ax


def clearest_split(result: ClusterTestResult) -> str:
    """Which scores are drawn, and the p-value of their own."""
    split, contrast = np.unravel_index(result.pvalues.argmin(), result.pvalues.shape)
    which = f", {result.rows[contrast].name}" if len(result.rows) > 1 else ""
    own = f"own p = {result.pvalues[split, contrast]:.2g}"
    return f"scores of held-out points{which}, clearest of {result.n_splits} splits ({own})"


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


def plot_pairs(result: PairwiseTestsResult, ax: Axes | None = None) -> Axes:
    """Effect size of every pair as a bar, with its adjusted p-value; filled where that is at most .05."""
    ax = axes_or_new(ax)
    names = [f"{row.group1} vs {row.group2}" for row in result.rows]
    effects = [row.effect_size for row in result.rows]
    colors = [OBSERVED if p <= 0.05 else QUIET for p in result.pvalues_adjusted]
    ax.barh(range(len(names)), effects, color=colors)
    for i, (effect, p) in enumerate(zip(effects, result.pvalues_adjusted, strict=True)):
        ax.text(max(effect, 0.0), i, f" p = {p:.2g}", va="center", fontsize="small")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(right=1.25 * max(*effects, 1e-12))
    ax.set_xlabel("S/T of the pair")
    ax.set_title(f"pairs of groups, adjusted: {result.correction}", loc="left")
    return ax


def plot_power(result: PowerResult, ax: Axes | None = None) -> Axes:
    """Power against the size of the first sample with its 95 % intervals, beside the level and a power of .8."""
    ax = axes_or_new(ax)
    sizes = [row.n_x for row in result.rows]
    powers = [row.power for row in result.rows]
    below = [row.power - row.low for row in result.rows]
    above = [row.high - row.power for row in result.rows]
    ax.errorbar(sizes, powers, yerr=[below, above], color=OBSERVED, marker="o", capsize=3, label="power, 95 % interval")
    ax.axhline(0.8, color="0.4", lw=1, ls="--", label=target_label(result.sample_size(0.8)))
    ax.axhline(result.level, color="0.4", lw=1, ls=":", label=f"level {result.level:g}")
    ax.set_ylim(-0.02, 1.05)
    ax.set_xlabel("size of the first sample")
    ax.set_ylabel("power")
    ax.set_title(f"{result.x} vs {result.y}", loc="left")
    ax.legend(frameon=False)
    return ax


def target_label(size: float) -> str:
    """Where the power reaches .8, if it does."""
    return "power .8" + (f", at n = {size:g}" if np.isfinite(size) else ", not reached")


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


# ---------------------------------------------------------------- geometry


def plot_negative_type(result: NegativeTypeResult, ax: Axes | None = None) -> Axes:
    """Eigenvalues of G_c, falling, the negative ones in red; the extreme two where only they are known."""
    ax = axes_or_new(ax)
    known = result.eigenvalues
    values = np.array([result.max_eigenvalue, result.min_eigenvalue]) if known is None else known
    negative = values < -result.threshold
    ranks = np.arange(1, values.size + 1)
    width = 0.8 if values.size <= 60 else 1.0
    counts = ["", ""] if known is None else [f"{(~negative).sum()} ", f"{negative.sum()} "]
    ax.bar(ranks[~negative], values[~negative], width, color=QUIET, label=f"{counts[0]}not negative")
    if negative.any():
        ax.bar(ranks[negative], values[negative], width, color=OBSERVED, hatch="//", label=f"{counts[1]}negative")
    ax.axhline(0, color="black", lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank" if known is not None else "largest and smallest")
    ax.set_ylabel("eigenvalue of $G_c$")
    ax.set_title("of negative type" if result.holds else "not of negative type", loc="left")
    ax.legend(frameon=False)
    return ax


PAIRS_DRAWN = 5000


def plot_euclidization(result: Euclidization, ax: Axes | None = None) -> Axes:
    """Repaired against original distances, a random part of the pairs when there are more than can be seen."""
    ax = axes_or_new(ax)
    upper = np.triu_indices(result.n, 1)
    before = np.sqrt(np.maximum(result.squared[upper], 0.0))
    after = result.distances[upper]
    label = f"{before.size} pairs"
    if before.size > PAIRS_DRAWN:
        label = f"{PAIRS_DRAWN} of {label}, at random"
        drawn = np.random.default_rng(0).choice(before.size, PAIRS_DRAWN, replace=False)
        before, after = before[drawn], after[drawn]
    top = max(before.max(initial=0.0), after.max(initial=0.0)) or 1.0
    ax.plot([0, top], [0, top], color="black", lw=1, ls="--", label="unchanged")
    ax.scatter(before, after, s=14, color="#0072b2", alpha=0.6, lw=0, label=label)
    ax.set_xlabel("original dissimilarity")
    ax.set_ylabel("Euclidean distance after the repair")
    constant = "" if result.constant is None else f", constant {result.constant:.5g}"
    ax.set_title(f"{result.method.capitalize()}{constant}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_coordinates(
    found: PrincipalCoordinates, ax: Axes | None = None, *, dimensions: int = 2, labels: ArrayLike | None = None
) -> Axes:
    """Points on their first axes, each with its share; names beside up to forty points, a colour for every group."""
    solid = dimensions == 3 or getattr(ax, "name", "") == "3d"
    if dimensions not in (2, 3):
        raise ValueError(f"`dimensions` must be 2 or 3, got {dimensions!r}.")
    if ax is None and solid:
        ax = plt.figure(layout="constrained").add_subplot(projection="3d")
    ax = axes_or_new(ax)
    if solid and getattr(ax, "name", "") != "3d":
        raise ValueError('`ax` must be three-dimensional for dimensions=3: add_subplot(projection="3d").')
    shown = 3 if solid else 2
    n, p = found.coordinates.shape
    place = np.zeros((n, shown))
    place[:, : min(p, shown)] = found.coordinates[:, :shown]
    codes, groups = group_codes(labels, n)
    colors = cluster_colors(max(len(groups), 1))
    for j, group in enumerate(groups or [None]):
        rows = codes == j
        marker = MARKERS[j % len(MARKERS)]
        style = {"s": 26, "color": colors[j], "marker": marker, "lw": 0, "label": group, "alpha": 0.85}
        ax.scatter(*place[rows].T, **style)
    for j, axis in enumerate("xyz"[:shown]):
        share = f" ({found.explained[j]:.1%})" if j < p else " (0%)"
        getattr(ax, f"set_{axis}label")(f"axis {j + 1}{share}")
    kind = "Principal coordinates" if found.source == "distances" else "Kernel PCA"
    corrected = f" after {found.correction.capitalize()}" if found.correction else ""
    missing = f", negative eigenvalues {found.negative_share:.1%}" if found.n_negative else ""
    ax.set_title(f"{kind}{corrected}{missing}", loc="left")
    named = found.names is not None and n <= NAMES_DRAWN
    if len(groups) > GROUPS_NAMED:
        ax.annotate(f"{len(groups)} groups", (0.98, 0.98), xycoords="axes fraction", ha="right", va="top")
    elif groups and (named or solid):  # names stand in the axes, labels of the third axis beside them
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.12 if solid else 1.0, 0.5))
    elif groups:
        ax.legend(frameon=False)
    if not solid:
        ax.set_aspect("equal", adjustable="datalim")
        if named:
            ax.margins(0.08)
    if named:
        assert found.names is not None
        draw_names(place, found.names, ax)
    return ax


NAMES_DRAWN = 40
GROUPS_NAMED = 12  # more would fill a legend
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


MARKERS = "osD^vP*X"


def group_codes(labels: ArrayLike | None, n: int) -> tuple[IntArray, list[str]]:
    """Code of each point and the groups' names; one nameless group without labels."""
    if labels is None:
        return np.zeros(n, np.intp), []
    codes, names = as_labels(labels, n, "labels")
    return codes, [str(name) or "''" for name in names]


def plot_comparison(result: EuclidizationComparison, ax: Axes | None = None) -> Axes:
    """Mean change of the distances under every repair against S/T of its best partition."""
    ax = axes_or_new(ax)
    table = result.table
    for (name, row), color, marker in zip(table.iterrows(), cluster_colors(len(table)), MARKERS, strict=False):
        label = f"{name}{', best partition changed' if row['changed'] else ''}"
        filled = color if not row["changed"] else "none"
        ax.scatter(100 * row["mean_change"], row["share"], s=70, marker=marker, c=filled, edgecolors=color, label=label)
    ax.set_xlabel("mean change of a distance, % of the largest")
    ax.set_ylabel("S/T of the best partition")
    ax.set_title(f"k = {result.k}", loc="left")
    ax.margins(0.15)
    ax.legend(frameon=False, fontsize=8)
    return ax


# ---------------------------------------------------------------- hierarchies and the number of clusters

LEAVES_DRAWN = 40  # of a tree with more points than can be told apart
POINTS_DRAWN = 150
POINTS_NAMED = 60


def plot_dendrogram(
    Z: ArrayLike, ax: Axes | None = None, *, k: int | None = None, labels: ArrayLike | None = None
) -> Axes:
    r"""Draw a hierarchy, the clusters of a cut in their colours.

    Parameters
    ----------
    Z : array_like of shape (n - 1, 4)
        Linkage matrix, of `energy_hclust` or SciPy.
    ax : Axes, optional
        Where to draw; a new figure when None.
    k : int, optional
        Clusters to colour: those that are left without the last k - 1 merges, numbered by their first points.
    labels : array_like of shape (n,), optional
        Names of the points; their numbers when None. Shown for up to 60 points.

    Returns
    -------
    Axes
        With the dendrogram, heights on a square-root scale. Of more than 150 points the last merges are drawn, and
        what lies below them is written as a number of points.

    Raises
    ------
    ValueError
        If Z is not a linkage matrix, k is out of range or the number of labels is not n.
    TypeError
        If Z does not hold real numbers or k is not a whole number.

    See Also
    --------
    energy_hclust : The tree.

    Notes
    -----
    Negative heights (rho negative somewhere) are moved up until the first is 0, which is the same tree. O(n) time
    and memory.

    References
    ----------
    Szekely & Rizzo (2005), Journal of Classification 22.

    Examples
    --------
    >>> import energystats as es
    >>> ax = es.plot_dendrogram(es.energy_hclust([0.0, 1.0, 9.0, 11.0]), k=2)
    >>> ax.get_ylabel()
    'height: energy distance x n1 n2/(n1 + n2)'
    """
    from scipy.cluster.hierarchy import dendrogram

    from energystats._core.partitions import cut

    tree = as_linkage(Z, "Z")
    n = len(tree) + 1
    k = 1 if k is None else check_count(k, "k", low=1, high=n, why=f", the number of points ({n})")
    names = None if labels is None else [str(label) for label in np.asarray(labels, dtype=object).ravel()]
    if names is not None and len(names) != n:
        raise ValueError(f"`labels` must have one name for each of the {n} points, got {len(names)}.")
    shift = min(float(tree[:, 2].min()), 0.0)
    tree[:, 2] -= shift
    ax = axes_or_new(ax)
    whole = n <= POINTS_DRAWN
    codes, colors = cut(tree, k), cluster_colors(k) if k > 1 else ["0.25"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Attempting to set identical low and high ylims")  # no height above 0
        dendrogram(
            tree,
            p=max(LEAVES_DRAWN, 2 * k),
            truncate_mode=None if whole else "lastp",
            ax=ax,
            labels=names if whole else None,
            link_color_func=link_colors(tree, k, codes, colors).__getitem__,
            no_labels=POINTS_NAMED < n <= POINTS_DRAWN,
            leaf_font_size=float(np.clip(320 / min(n, max(LEAVES_DRAWN, 2 * k)), 3, 9)),
            leaf_rotation=90,
        )
    finish_tree(ax, tree, k, np.bincount(codes), colors)
    ax.set_xlabel("point" if whole else "point, or (number of points)")
    ax.set_ylabel("height: energy distance x n1 n2/(n1 + n2)" + (f", plus {-shift:.3g}" if shift else ""))
    return ax


def link_colors(Z: FloatArray, k: int, codes: IntArray, colors: list[Any]) -> dict[int, Any]:
    """Colour of every node of a tree: of its cluster below the cut, grey above."""
    n = len(Z) + 1
    first = np.arange(2 * n - 1)  # a point below each node
    for row in range(n - 1):
        first[n + row] = first[int(Z[row, 0])]
    named = [to_hex(color) for color in colors]
    return {node: named[codes[first[node]]] if node < 2 * n - k else to_hex("0.25") for node in range(2 * n - 1)}


def finish_tree(ax: Axes, Z: FloatArray, k: int, sizes: IntArray, colors: list[Any]) -> None:
    """The height of the cut, and a legend of clusters, where there is a cut."""
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    top = float(Z[-1, 2])
    ax.set_yscale("function", functions=(lambda h: np.sqrt(np.maximum(h, 0.0)), np.square))
    ax.yaxis.set_major_locator(FixedLocator(root_ticks(top)))
    ax.set_ylim(0, 1.05 * top or 1.0)
    if k == 1:
        return
    below = float(Z[-k, 2]) if k <= len(Z) else 0.0
    ax.axhline(0.5 * (below + float(Z[1 - k, 2])), color=OBSERVED, lw=1, ls="--", label=f"cut into {k}")
    for j in range(k):
        ax.plot([], [], color=colors[j], lw=2, label=f"cluster {j} (n = {sizes[j]})")
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), ncols=-(-k // 20))


def root_ticks(top: float) -> list[float]:
    """Round numbers from 0 to `top` whose square roots are about evenly spaced."""
    unit = 10 ** np.floor(np.log10(top)) if top > 0 else 1.0
    many = top >= 4 * unit
    steps = (0, 0.1, 0.5, 1, 2, 4, 6, 8) if many else (0, 0.05, 0.2, 0.5, 1, 1.5, 2, 3)
    return [step * unit for step in steps if step * unit <= top]


def plot_cluster_tree(found: ClusterTreeResult, ax: Axes | None = None) -> Axes:
    """Dendrogram of the leaves with adjusted p-values; dashed forks are leaves that were tested and not split."""
    ax = axes_or_new(ax)
    heights = np.nan_to_num(np.maximum(found.heights(), 0.0))
    leaves = [node for node in found.nodes if not node.children]  # from left to right
    place = dict(zip((leaf.id for leaf in leaves), map(float, range(len(leaves))), strict=True))
    colors = cluster_colors(found.k)
    for node in reversed(found.nodes):
        if node.children:
            ends = [place[child] for child in node.children]
            place[node.id] = 0.5 * (ends[0] + ends[1])
            below = [float(heights[child]) for child in node.children]
            draw_fork(ax, ends, below, float(heights[node.id]), {"color": "0.15", "lw": 1.6})
        elif node.tested:
            ends = [place[node.id] - 0.22, place[node.id] + 0.22]
            style = {"color": colors[node.label or 0], "lw": 1.3, "ls": "--"}
            draw_fork(ax, ends, [0.0, 0.0], float(heights[node.id]), style)
    mark_nodes(found, place, heights, ax)
    name_leaves(leaves, ax)
    top = float(heights.max())
    ax.set_yscale("function", functions=(lambda h: np.sqrt(np.maximum(h, 0.0)), np.square))
    ax.yaxis.set_major_locator(FixedLocator(root_ticks(top)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylim(0, 1.6 * top or 1.0)  # room for the legend
    ax.set_xlim(-0.6, found.k - 0.4)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.set_ylabel("height: energy distance x n1 n2/(n1 + n2)")
    ax.set_title(f"{found.k} cluster{'s' * (found.k > 1)}, family-wise level {found.level:g}", loc="left")
    return ax


def draw_fork(ax: Axes, ends: list[float], below: list[float], height: float, style: dict[str, Any]) -> None:
    """A bar at `height` over two legs."""
    ax.plot([ends[0], ends[0], ends[1], ends[1]], [below[0], height, height, below[1]], **style)


def mark_nodes(found: ClusterTreeResult, place: dict[int, float], heights: FloatArray, ax: Axes) -> None:
    """Diamonds on rejected nodes, circles on others that were tested, each with its adjusted p."""
    size = float(np.clip(110 / max(found.k, 1), 5, 8.5))
    kinds = ((True, "D", "0.15", f"adjusted p at most {found.level:g}"), (False, "o", "white", "not significant"))
    for rejected, marker, face, label in kinds:
        drawn = [node for node in found.nodes if node.tested and node.rejected == rejected]
        if not drawn:
            continue
        x, y = [place[node.id] for node in drawn], [float(heights[node.id]) for node in drawn]
        ax.plot(x, y, ls="", marker=marker, ms=6, mfc=face, mec="0.15", label=label, zorder=3, clip_on=False)
        for node, across, up in zip(drawn, x, y, strict=True):
            text = f"{'p = ' if found.k <= 8 else ''}{node.pvalue_adjusted:.2g}"
            weight = "bold" if rejected else "normal"
            ax.annotate(
                text,
                (across, up),
                (0, 5),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=size,
                weight=weight,
                bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85},
                zorder=4,
            )
    untested = [place[node.id] for node in found.nodes if not node.tested]
    if untested:
        ax.plot(untested, np.zeros(len(untested)), ls="", marker="_", ms=14, mew=3, color="0.15", label="not tested")
    if not found.nodes[0].tested:
        ax.text(0.5, 0.5, f"not tested: {found.nodes[0].outcome}", ha="center", transform=ax.transAxes)
    ax.legend(frameon=False, fontsize="small", loc="upper right")


def name_leaves(leaves: Sequence[TreeNode], ax: Axes) -> None:
    """Cluster and number of points below each leaf."""
    few = len(leaves) <= 8
    names = [f"{'cluster ' if few else ''}{leaf.label}\n{'n = ' if few else ''}{leaf.size}" for leaf in leaves]
    ax.set_xticks(range(len(leaves)), names, fontsize=float(np.clip(150 / len(leaves), 5, 9)))
    ax.tick_params(axis="x", length=0)
    if not few:
        ax.set_xlabel("cluster, and its number of points")


CRITERIA = ("gap", "eigengap", "significance", "within")


def plot_select_k(found: SelectKResult, ax: Axes | None = None, *, criterion: str | None = None) -> Axes:
    """One criterion against k, the chosen k marked."""
    criterion = found.method if criterion is None else criterion
    check_option(criterion, "criterion", CRITERIA)
    column = {"significance": "pvalue"}.get(criterion, criterion)
    y = found.column(column)
    if np.isnan(y).all() and found.k_max > 1:
        raise ValueError(f'`criterion` must be one that was computed, got {criterion!r}; criteria="all" computes more.')
    ax = axes_or_new(ax)
    draw = {"gap": draw_gaps, "eigengap": draw_eigengaps, "significance": draw_splits, "within": draw_within}
    draw[criterion](found, np.arange(1, found.k_max + 1), y, ax)
    chosen = f"chosen by {found.method}: k = {found.k}"
    ax.axvline(found.k, color="0.25", lw=1, ls=":", zorder=0, label=chosen)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlim(0.5, found.k_max + 0.5)
    ax.set_xlabel("number of clusters k")
    ax.set_title(f"k = {found.k}, by {found.method}", loc="left")
    ax.legend(frameon=False)
    return ax


def draw_gaps(found: SelectKResult, ks: IntArray, gap: FloatArray, ax: Axes) -> None:
    """Gaps with bars of one standard error, and the lower end of the bar after the chosen k as a line."""
    finite = np.isfinite(gap)
    error = found.column("gap_error")
    label = "gap, one standard error"
    ax.errorbar(ks[finite], gap[finite], error[finite], marker="o", color="#0072b2", capsize=3, label=label)
    if found.method == "gap" and found.k < found.k_max and finite[found.k]:
        ends = gap[found.k] - error[found.k]
        ax.plot([found.k, found.k + 1], [ends, ends], color=OBSERVED, lw=1.5, label="next gap less its error")
    ax.margins(y=0.25)  # room for the legend
    ax.set_ylabel("gap: mean log W of references - log W")


def draw_eigengaps(found: SelectKResult, ks: IntArray, eigengap: FloatArray, ax: Axes) -> None:
    """Bars, the chosen one in red; the first is grey because k = 1 cannot be chosen."""
    best = found.k if found.method == "eigengap" else None
    colors = [OBSERVED if k == best else "#0072b2" for k in ks[1:].tolist()]
    ax.bar(ks[1:], eigengap[1:], 0.6, color=colors)
    ax.bar(ks[:1], eigengap[:1], 0.6, color=QUIET, label="cannot be chosen")
    height = max(float(eigengap[1:].max(initial=0.0)), 1e-12) if ks.size > 1 else 1.0
    if eigengap[0] > 1.25 * height:
        ax.set_ylim(0, 1.25 * height)
        ax.annotate(f"{eigengap[0]:.2g}", (1, 1.2 * height), ha="center", va="top", color="black")
    ax.set_ylabel("eigenvalue k of the random walk less the next")


def draw_splits(found: SelectKResult, ks: IntArray, pvalue: FloatArray, ax: Axes) -> None:
    """Smallest adjusted p of the tree's leaves, on a logarithmic scale, with the level."""
    known = np.isfinite(pvalue)
    ax.plot(ks[known], pvalue[known], marker="o", color="#0072b2", label="smallest adjusted p of a leaf")
    ax.axhline(found.level, color=OBSERVED, lw=1.5, ls="--", label=f"level {found.level:g}")
    ax.set_yscale("log")
    ax.set_ylabel("adjusted p-value")


def draw_within(found: SelectKResult, ks: IntArray, within: FloatArray, ax: Axes) -> None:
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
    ax.set_xticks(range(1, found.k + 1), names if found.k <= 8 else [str(j) for j in range(found.k)])
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("cluster")
    ax.set_ylabel("Jaccard similarity")
    ax.set_title(f"{found.scheme}, adjusted Rand index {found.adjusted_rand:.2f}", loc="left")
    ax.legend(frameon=False, loc="lower left")
    return ax


# ---------------------------------------------------------------- spectra and graphs


def plot_eigengaps(found: SpectralEmbedding, ax: Axes | None = None) -> Axes:
    """Eigenvalues as points and their gaps as bars, each over the k that it would suggest."""
    ax = axes_or_new(ax)
    k = found.gap_k
    chosen = (k == found.suggested_k) & (k >= 2)
    ax.bar(k[~chosen], found.eigengaps[~chosen], color=QUIET, width=0.6, label="gap")
    if chosen.any():
        ax.bar(k[chosen], found.eigengaps[chosen], color=OBSERVED, hatch="//", width=0.6, label="largest, k >= 2")
    first = 1 if found.laplacian else 2
    places = first - 0.5 + np.arange(found.eigenvalues.size)
    ax.plot(places, found.eigenvalues, color="black", marker="o", ms=4, lw=1, label="eigenvalue")
    ax.set_xticks(np.arange(first, first + max(k.size, 1)))
    ax.set_xlabel("k, number of clusters")
    ax.set_ylabel("eigenvalue, and gap to the next")
    what = "random-walk Laplacian" if found.laplacian else "$G_c$"
    ax.set_title(f"{what}: gap at k = {found.suggested_k}" if chosen.any() else f"{what}: no gap", loc="left")
    ax.legend(frameon=False)
    return ax


VERTICES_DRAWN = 300


def plot_graph(found: GraphPartition, ax: Axes | None = None, *, kind: str | None = None) -> Axes:
    """The graph in the plane, or its matrix with the vertices in the order of the clusters."""
    if kind is not None and kind not in ("graph", "matrix"):
        raise ValueError(f"`kind` must be one of graph, matrix, or None; got {kind!r}.")
    ax = axes_or_new(ax)
    drawn = kind == "graph" or (kind is None and found.n <= VERTICES_DRAWN)
    ax = draw_graph(found, ax) if drawn else draw_matrix(found, ax)
    names = {"ratio": "ratio cut", "normalized": "normalised cut", "association": "ratio association"}
    ax.set_title(f"{names[found.cut]} = {found.value:.4g}, bound {found.bound:.4g}", loc="left")
    return ax


def draw_graph(found: GraphPartition, ax: Axes) -> Axes:
    """Vertices at spectral coordinates, links as lines, those between clusters dashed."""
    from matplotlib.collections import LineCollection

    place = graph_layout(found.matrix)
    links = found.matrix.tocoo()
    once = (links.row < links.col) & (links.data > 0)
    row, column, weight = links.row[once], links.col[once], links.data[once]
    cross = found.labels[row] != found.labels[column]
    width = 0.4 + 1.2 * weight / max(float(weight.max(initial=0.0)), np.finfo(float).tiny)
    for which, style, shade in ((~cross, "-", "0.75"), (cross, "--", "0.45")):
        ends = list(np.stack([place[row[which]], place[column[which]]], axis=1))
        ax.add_collection(LineCollection(ends, colors=shade, linestyles=style, linewidths=width[which], zorder=1))
    for j, color in enumerate(cluster_colors(found.k)):
        inside = place[found.labels == j]
        label = f"cluster {j} (n = {found.sizes[j]})"
        marker = MARKERS[j % len(MARKERS)]
        ax.scatter(
            inside[:, 0],
            inside[:, 1],
            s=36,
            color=color,
            marker=marker,
            edgecolors="white",
            lw=0.5,
            zorder=2,
            label=label,
        )
    if found.names is not None and found.n <= 40:
        for point, name in zip(place, found.names, strict=True):
            ax.annotate(name, tuple(point), xytext=(4, 3), textcoords="offset points", fontsize=8)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.set_xticks([])
    ax.set_yticks([])
    legend_of_clusters(found.k, ax)
    return ax


def draw_matrix(found: GraphPartition, ax: Axes) -> Axes:
    """Stored entries as dots, rows and columns in the order of the clusters, whose borders are lines."""
    order = np.argsort(found.labels, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(found.n)
    links = found.matrix.tocoo()
    colors = np.array([*cluster_colors(found.k), "0.55"], dtype=object)
    same = found.labels[links.row] == found.labels[links.col]
    kind = np.where(same, found.labels[links.row], found.k)
    size = float(np.clip(20000.0 / max(found.n, 1) ** 1.3, 0.02, 30.0))
    for j in range(found.k + 1):
        part = kind == j
        ax.scatter(
            rank[links.col[part]], rank[links.row[part]], s=size, marker="s", lw=0, color=colors[j], rasterized=True
        )
    for border in np.cumsum(found.sizes)[:-1] - 0.5:
        ax.axhline(border, color="black", lw=0.6)
        ax.axvline(border, color="black", lw=0.6)
    ax.set_xlim(-0.5, found.n - 0.5)
    ax.set_ylim(found.n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_xlabel("vertices in the order of the clusters")
    ax.set_ylabel("vertices in the order of the clusters")
    return ax


def graph_layout(matrix: Any) -> FloatArray:
    """Each component at its second and third eigenvector of I - D^(-1) A, components side by side; (n, 2)."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(matrix, directed=False)
    place = np.zeros((matrix.shape[0], 2))
    sizes = np.bincount(component, minlength=count)
    left = 0.0
    for c in np.argsort(-sizes, kind="stable"):
        inside = np.flatnonzero(component == c)
        width = np.sqrt(sizes[c] / sizes.max())
        place[inside] = width * component_layout(matrix[inside][:, inside]) + [left + width, 0.0]
        left += 2 * width + 0.3
    return place


def component_layout(matrix: Any) -> FloatArray:
    """Spectral coordinates of a connected graph within a square of side 2, evened out by springs; (n, 2)."""
    n = matrix.shape[0]
    dense = np.abs(matrix.toarray())
    np.fill_diagonal(dense, 0.0)
    if n <= 2:
        return np.column_stack([np.linspace(-1, 1, n) * (n > 1), np.zeros(n)])
    root = np.sqrt(np.maximum(dense.sum(axis=1), np.finfo(float).tiny))
    _, vectors = np.linalg.eigh(dense / np.outer(root, root))
    place = vectors[:, -2:-4:-1] / root[:, None]
    place = np.argsort(np.argsort(place, axis=0), axis=0) / (n - 1)
    return springs(place, (dense > 0).astype(float))


def springs(place: FloatArray, linked: FloatArray, steps: int = 60) -> FloatArray:
    """Neighbours attract, all vertices repel [Fruchterman & Reingold 1991]; scaled to a square of side 2."""
    n = len(place)
    best = 1 / np.sqrt(n)
    for step in range(steps):
        apart = place[:, None, :] - place[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 0.01 * best)
        push = best**2 / distance**2 - linked * distance / best
        move = np.einsum("ij,ijc->ic", push, apart)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        place = place + move / length * np.minimum(length, 0.1 * (1 - step / steps))
    place = place - 0.5 * (place.max(axis=0) + place.min(axis=0))
    return np.asarray(place / max(float(np.abs(place).max()), 1e-12))
