"""Pictures of tests: null distributions, pairs of groups and power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from energystats._core.unimodal import nearest_unimodal
from energystats._typing import FloatArray
from energystats.display.numbers import p_text
from energystats.plotting.axes import (
    OBSERVED,
    QUIET,
    axes_or_new,
    draw_heat,
    font_along,
    plain_all,
    room_for,
    write_plain_name,
    write_sizes_for_title,
)
from energystats.plotting.distances import pair_matrix

if TYPE_CHECKING:
    from energystats.cluster_tests.results import ClusterTestResult
    from energystats.distribution_tests.disco_result import DiscoResult
    from energystats.distribution_tests.goodness_of_fit import GoodnessOfFitResult
    from energystats.distribution_tests.pairwise_tests import PairwiseTestsResult
    from energystats.distribution_tests.power import PowerResult
    from energystats.distribution_tests.results import EnergyTestResult

__all__ = ["plot_cluster_test", "plot_goodness", "plot_model_null", "plot_null", "plot_pairs", "plot_power"]


def plot_null(result: EnergyTestResult, ax: Axes | None = None) -> Axes:
    """Null distribution, as a histogram or as the density that stands for it, with the observed statistic as a line."""
    ax = axes_or_new(ax)
    if result.null_moments is not None:
        _draw_density(result.null_moments, result.statistic, ax)
    what = "other labelings" if result.method == "exact" else "random permutations"
    _histogram_with_line(result.null_distribution, result.statistic, result.pvalue, what, ax)
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
    ax.set_title(f"H0: equal distributions, {write_sizes_for_title(result.sizes)}", loc="left")
    return ax


def plot_model_null(result: DiscoResult, ax: Axes | None = None) -> Axes:
    """F of the model under the other permutations, as a histogram, with the observed one as a line."""
    ax = axes_or_new(ax)
    what = "other labelings" if result.method == "exact" else "random permutations"
    _histogram_with_line(result.null_distribution, result.statistic, result.pvalue, what, ax)
    ax.set_xlabel("F of the model")
    ax.set_title(f"H0: the response depends on no term, n = {result.n}", loc="left")
    return ax


def _draw_density(moments: tuple[float, float, float], observed: float, ax: Axes) -> None:
    """Pearson type III density with this mean, standard deviation and skewness; nothing for a point mass."""
    from scipy.stats import pearson3

    mean, sd, skewness = moments
    if not sd > 0:
        return
    law = pearson3(skewness, loc=mean, scale=sd)
    low, high = law.ppf([1e-3, 1 - 1e-3])
    x = np.linspace(low, max(high, observed), 400)
    density = law.pdf(x)
    height = np.quantile(density[np.isfinite(density)], 0.99)  # a very skew distribution has a pole
    ax.fill_between(x, np.minimum(density, height), color=QUIET, lw=0, label="distribution under equality")
    ax.set_ylim(bottom=0)


def _histogram_with_line(null: FloatArray, observed: float, pvalue: float, what: str, ax: Axes) -> Axes:
    """A null distribution and where the observed value lies in it, at the right edge if that is infinite.

    Infinite values of the null distribution are left out.
    """
    finite = null[np.isfinite(null)]
    if finite.size:
        ax.hist(finite, bins=min(40, max(5, finite.size // 10)), color=QUIET, label=f"{finite.size} {what}")
    if np.isfinite(observed):
        ax.axvline(observed, color=OBSERVED, lw=2, label=f"observed, {p_text(pvalue, short=True)}")
    elif observed == np.inf:
        ax.axvline(ax.get_xlim()[1], color=OBSERVED, lw=4, label=f"observed, infinite, {p_text(pvalue, short=True)}")
    ax.set_xlabel("between-sample energy S")
    ax.set_ylabel("count")
    ax.legend(frameon=False)
    return ax


def plot_goodness(result: GoodnessOfFitResult, ax: Axes | None = None) -> Axes:
    """Statistics of the simulated samples as a histogram, with the observed one as a line."""
    ax = axes_or_new(ax)
    _histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "simulated samples", ax)
    ax.set_xlabel(f"n times the energy distance to the distribution, n = {result.n}")
    ax.set_title(f"H0: {write_plain_name(result.distribution, 60)}", loc="left")
    return ax


def plot_cluster_test(result: ClusterTestResult, ax: Axes | None = None) -> Axes:
    """Scores that were tested, with the nearest unimodal density; the null distribution where there is one."""
    ax = axes_or_new(ax)
    scores = result.scores
    if result.comparisons:
        _histogram_with_line(result.null_distribution, result.statistic, result.pvalue, "reference samples", ax)
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
    ax.stairs(height, edges[wide], color=OBSERVED, lw=2, label="nearest unimodal distribution")
    ax.set_ylim(0, 1.25 * max(float(patch.get_height()) for patch in ax.patches if hasattr(patch, "get_height")))
    ax.set_xlabel("x - mean" if result.method == "unimodal-1d" else _clearest_split(result))
    ax.set_ylabel("density")
    what = "H0: unimodal" if result.method == "unimodal-1d" else "H0: unimodal along linear projections"
    of_all = " of all splits" if result.n_splits else ""
    ax.set_title(f"{what}, {p_text(result.pvalue, short=True)}{of_all}", loc="left")
    ax.legend(frameon=False)
    return ax


def _clearest_split(result: ClusterTestResult) -> str:
    """Which scores are drawn, and the p-value of their own."""
    split, contrast = np.unravel_index(result.pvalues.argmin(), result.pvalues.shape)
    which = f", {result.rows[contrast].name}" if len(result.rows) > 1 else ""
    own = f"own {p_text(result.pvalues[split, contrast], short=True)}"
    return f"scores of held-out points{which}\nclearest of {result.n_splits} splits ({own})"


def plot_pairs(result: PairwiseTestsResult, ax: Axes | None = None) -> Axes:
    """Effect size of every pair as a bar, with its adjusted p-value; hatched where that is at most .05.

    More than forty pairs make a heat map.
    """
    if len(result.rows) > PAIRS_LISTED:
        return _draw_pair_table(result, ax)
    groups = list(dict.fromkeys(name for row in result.rows for name in (row.group1, row.group2)))
    written = dict(zip(groups, plain_all(groups), strict=True))
    names = [f"{written[row.group1]} vs {written[row.group2]}" for row in result.rows]
    ax = axes_or_new(ax, height=1.6 + 0.3 * len(names), more_width=room_for(names))
    effects = [row.effect_size for row in result.rows]
    bars = ax.barh(range(len(names)), effects, color=QUIET, edgecolor="white", lw=0)
    for i, (effect, p, bar) in enumerate(zip(effects, result.pvalue_adjusted, bars, strict=True)):
        if p <= 0.05:
            bar.set(facecolor=OBSERVED, hatch="//")
        n = f"n = {result.rows[i].n1} + {result.rows[i].n2}"
        ax.text(max(effect, 0.0), i, f" {p_text(p, short=True)}, {n}", va="center", fontsize="small")
    ax.set_yticks(range(len(names)), names, fontsize=font_along(ax, len(names), "y"))
    ax.set_ylim(len(names) - 0.4, -0.6)
    low, high = min(0.0, *effects), max(0.0, *effects)
    ax.set_xlim(1.05 * low, high + 0.6 * (high - low or 1.0))  # room for what is written beside the bars
    ax.set_xlabel("S/T of the pair (hatched: adjusted p at most .05)")
    ax.set_title(f"pairs of groups, adjusted: {result.correction}", loc="left")
    return ax


PAIRS_LISTED = 40


def _draw_pair_table(result: PairwiseTestsResult, ax: Axes | None) -> Axes:
    """S/T of every pair as a cell, a star where its adjusted p is at most .05."""
    groups = list(dict.fromkeys(name for row in result.rows for name in (row.group1, row.group2)))
    table = pair_matrix(groups, result.rows, [row.effect_size for row in result.rows])
    stars = pair_matrix(groups, result.rows, (result.pvalue_adjusted <= 0.05).astype(float).tolist())
    names = plain_all(groups)
    room = room_for(names)
    ax = axes_or_new(ax, height=4.0 + 0.12 * min(len(names), 60) + room, more_width=room)
    draw_heat(table, names, names, ax, label="S/T of the pair", cells=0)
    middle = 0.5 * (float(np.nanmin(table)) + float(np.nanmax(table)))
    for shade, chosen in (("white", table <= middle), ("black", table > middle)):
        j, i = np.nonzero((stars == 1) & chosen)
        ax.scatter(i, j, s=float(np.clip(9000 / len(names) ** 2, 1, 60)), marker="*", color=shade, lw=0)
    ax.set_title(f"pairs of groups; star: adjusted p at most .05 ({result.correction})", loc="left")
    return ax


def plot_power(result: PowerResult, ax: Axes | None = None) -> Axes:
    """Power against the size of the first sample with its 95 % intervals, beside the level and a power of .8."""
    ax = axes_or_new(ax)
    sizes = [row.n_x for row in result.rows]
    powers = [row.power for row in result.rows]
    below = [row.power - row.low for row in result.rows]
    above = [row.high - row.power for row in result.rows]
    ax.errorbar(sizes, powers, yerr=[below, above], color=OBSERVED, marker="o", capsize=3, label="power, 95 % interval")
    ax.axhline(0.8, color="0.4", lw=1, ls="--", label=_target_label(result.sample_size(0.8)))
    ax.axhline(result.level, color="0.4", lw=1, ls=":", label=f"level {result.level:g}")
    ax.set_ylim(-0.02, 1.05)
    ax.set_xlabel("size of the first sample")
    ax.set_ylabel("power")
    ax.set_title(f"{write_plain_name(result.x, 36)} vs {write_plain_name(result.y, 36)}", loc="left")
    ax.legend(frameon=False)
    return ax


def _target_label(size: float) -> str:
    """Where the power reaches .8, if it does."""
    return "power .8" + (f", at n = {size:g}" if np.isfinite(size) else ", not reached")
