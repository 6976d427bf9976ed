"""The pictures of the results; imported inside `.plot()` only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from energystats._core.unimodal import nearest_unimodal
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.validation import as_labels

if TYPE_CHECKING:
    from energystats.results import (
        ClusterTestResult,
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
        SpectralEmbedding,
    )

__all__ = [
    "cluster_colors",
    "mark_classes",
    "plot_cluster_test",
    "plot_comparison",
    "plot_coordinates",
    "plot_decomposition",
    "plot_eigengaps",
    "plot_euclidization",
    "plot_goodness",
    "plot_graph",
    "plot_group_means",
    "plot_negative_type",
    "plot_null",
    "plot_pairs",
    "plot_partition",
    "plot_power",
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
    """One column: stacked histogram, with the breaks where there are any."""
    assert found.points is not None
    x = found.points[:, 0]
    parts = [x[found.labels == j] for j in range(found.k)]
    labels = [f"cluster {j} (n = {n})" for j, n in enumerate(found.sizes)]
    ax.hist(parts, bins=30, stacked=True, color=colors, label=labels)
    for b in found.breaks if found.breaks is not None else ():
        ax.axvline(b, color=OBSERVED, lw=1.5, ls="--", label=f"break at {b:.4g}")
    ax.set_xlabel(found.columns[0] if found.columns else "x")
    ax.set_ylabel("count")
    legend_of_clusters(found.k, ax)
    return ax


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
    """Scores that were tested, with the nearest unimodal density; null distribution of S for known labels."""
    ax = axes_or_new(ax)
    scores = result.scores
    if result.method == "labels":
        return histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "relabelings", ax)
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
    ax.set_xlabel("x - mean" if result.method == "unimodal-1d" else "linear score of held-out points")
    ax.set_ylabel("density")
    what = "H0: unimodal" if result.method == "unimodal-1d" else "H0: unimodal along linear projections"
    ax.set_title(f"{what}, p = {result.pvalue:.2g}", loc="left")
    ax.legend(frameon=False)
    return ax


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


# ---------------------------------------------------------------- geometry


def plot_negative_type(result: NegativeTypeResult, ax: Axes | None = None) -> Axes:
    """Eigenvalues of G_c, falling, the negative ones in red; the extreme two where only they are known."""
    ax = axes_or_new(ax)
    known = result.eigenvalues
    values = np.array([result.max_eigenvalue, result.min_eigenvalue]) if known is None else known
    negative = values < -result.threshold
    ranks = np.arange(1, values.size + 1)
    width = 0.8 if values.size <= 60 else 1.0
    ax.bar(ranks[~negative], values[~negative], width, color=QUIET, label=f"{(~negative).sum()} not negative")
    if negative.any():
        ax.bar(ranks[negative], values[negative], width, color=OBSERVED, hatch="//", label=f"{negative.sum()} negative")
    ax.axhline(0, color="black", lw=0.8)
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
    ax.set_title(f"{result.method}{constant}", loc="left")
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
    if found.names is not None and n <= 40:
        for row, name in zip(place, found.names, strict=True):
            if solid:
                solid_axes: Any = ax
                solid_axes.text(*row, f" {name}", fontsize=8)
            else:
                ax.annotate(name, tuple(row), xytext=(4, 3), textcoords="offset points", fontsize=8)
    for j, axis in enumerate("xyz"[:shown]):
        share = f" ({found.explained[j]:.1%})" if j < p else " (0%)"
        getattr(ax, f"set_{axis}label")(f"axis {j + 1}{share}")
    missing = f", negative eigenvalues {found.negative_share:.1%}" if found.n_negative else ""
    ax.set_title(f"{'Principal coordinates' if found.source == 'distances' else 'Kernel PCA'}{missing}", loc="left")
    if not solid:
        ax.set_aspect("equal", adjustable="datalim")
    if groups:
        ax.legend(frameon=False)
    return ax


MARKERS = "osD^vP*X"


def group_codes(labels: ArrayLike | None, n: int) -> tuple[IntArray, list[str]]:
    """Code of each point and the groups' names; one nameless group without labels."""
    if labels is None:
        return np.zeros(n, np.intp), []
    codes, names = as_labels(labels, n, "labels")
    return codes, [str(name) for name in names]


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
