"""Draw tests: null distributions, pairs of groups and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from energystats._typing import FloatArray
from energystats.display.numbers import p_text
from energystats.plotting.axes import (
    CURVE,
    OBSERVED,
    QUIET,
    axes_or_new,
    draw_heat,
    font_along,
    leave_room,
    plain_all,
    room_for,
    write_plain_name,
    write_sizes_for_title,
)

__all__ = [
    "plot_goodness",
    "plot_interval",
    "plot_model_null",
    "plot_null",
    "plot_pairs",
    "plot_power",
    "plot_references",
    "plot_scores",
]


LINE_OF_LABEL = 48  # characters below an axis
TIED = 1e-12  # relative range of values that are equal but for rounding
HIGHEST_STEP = 2.0  # times the tallest bar: what is higher leaves the picture
Curve = tuple[FloatArray, FloatArray]  # abscissae and ordinates


def plot_null(
    null: FloatArray,
    observed: float,
    pvalue: float,
    ax: Axes | None = None,
    *,
    statistic_name: str,
    sizes: Sequence[int],
    exact: bool = False,
    density: Curve | None = None,
) -> Axes:
    """Draw a null distribution as a histogram or a density, with the observed statistic, and return the axes.

    `exact` says that the other labelings are all there are.
    """
    ax = axes_or_new(ax)
    if density is not None:
        _draw_density(density, ax)
    # labels of the axis for the names of statistics that the tests use
    names = {
        "between": "between-sample energy S",
        "pairwise": "pairwise statistic",
        "f": "F",
        "cross": "cross statistic",
        "min p": "smallest p-value over the semimetrics",
    }
    what = "other labelings" if exact else "random permutations"
    xlabel, title = (
        names.get(statistic_name, statistic_name),
        f"H0: equal distributions, {write_sizes_for_title(sizes)}",
    )
    _draw_histogram_with_line(null, observed, pvalue, ax, what=what, xlabel=xlabel, title=title)
    if density is not None:
        ax.set_ylabel("density")
    return ax


def plot_model_null(
    null: FloatArray, observed: float, pvalue: float, ax: Axes | None = None, *, n: int, exact: bool = False
) -> Axes:
    """Draw a histogram of F of a model under permutations, with the observed F as a line, and return the axes."""
    what = "other labelings" if exact else "random permutations"
    title = f"H0: no term of the model matters, n = {n}"
    return _draw_histogram_with_line(null, observed, pvalue, ax, what=what, xlabel="F of the model", title=title)


def _draw_density(density: Curve, ax: Axes) -> None:
    """Fill the area below a density curve, cut off at the .99 quantile of its heights, as beside a pole."""
    x, y = density
    if not x.size:
        return
    height = np.quantile(y[np.isfinite(y)], 0.99)  # a very skew distribution has a pole
    ax.fill_between(x, np.minimum(y, height), color=QUIET, lw=0, label="distribution under equality")
    ax.set_ylim(bottom=0)


def _draw_histogram_with_line(
    null: FloatArray, observed: float, pvalue: float, ax: Axes | None, *, what: str, xlabel: str, title: str
) -> Axes:
    """Draw a histogram of null values with a line at the observed one, and return the axes.

    Infinite values of the null distribution are left out.
    """
    ax = axes_or_new(ax)
    # F is infinite where a labeling leaves no residual
    finite = null[np.isfinite(null)]
    if finite.size and np.ptp(finite) <= TIED * np.abs(finite).max():
        finite = np.full_like(finite, finite[0])  # too narrow for bins
    if finite.size:
        ax.hist(finite, bins=min(40, max(5, finite.size // 10)), color=QUIET, label=f"{finite.size} {what}")
    ends = leave_room(ax, 3)
    if np.isfinite(observed):
        ax.axvline(observed, ymax=ends, color=OBSERVED, lw=2, label=f"observed, {p_text(pvalue, short=True)}")
    elif observed == np.inf:
        infinite = f"observed, infinite, {p_text(pvalue, short=True)}"
        ax.axvline(ax.get_xlim()[1], ymax=ends, color=OBSERVED, lw=4, label=infinite)
    ax.set(xlabel=xlabel, ylabel="count")
    ax.set_title(title, loc="left")
    ax.legend(frameon=False)
    return ax


def plot_interval(
    drawn: FloatArray,
    interval: tuple[float, float],
    unbiased: float,
    *,
    observed: float,
    name: str,
    sizes: Sequence[int],
    ax: Axes | None = None,
) -> Axes:
    """Draw the bootstrap distribution of the unbiased energy distance with its interval, and return the axes.

    The histogram is that of the unbiased form; E of the samples is `observed`, larger by its bias.
    """
    ax = axes_or_new(ax)
    ax.hist(drawn, bins=min(40, max(5, drawn.size // 10)), color=QUIET, label=f"{drawn.size} bootstrap samples")
    ends = leave_room(ax, 4)
    ax.axvspan(*interval, ymax=ends, color=CURVE, alpha=0.18, lw=0, label=name)
    ax.axvline(unbiased, ymax=ends, color=OBSERVED, lw=2, label="E, unbiased")
    ax.axvline(observed, ymax=ends, color=OBSERVED, lw=1, ls="--", label="E of the samples, biased")
    ax.set_xlabel("energy distance E, unbiased form")
    ax.set_ylabel("count")
    ax.set_title(f"Interval of E, {write_sizes_for_title(sizes)}", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_goodness(
    null: FloatArray, observed: float, pvalue: float, ax: Axes | None = None, *, distribution: str, n: int
) -> Axes:
    """Draw a histogram of the statistic in simulated samples, with the observed value, and return the axes."""
    xlabel = f"n times the energy distance to the distribution, n = {n}"
    title = f"H0: {write_plain_name(distribution, 60)}"
    return _draw_histogram_with_line(null, observed, pvalue, ax, what="simulated samples", xlabel=xlabel, title=title)


def plot_references(
    null: FloatArray,
    observed: float,
    pvalue: float,
    ax: Axes | None = None,
    *,
    gaussian: bool = False,
    held_out: bool = False,
    hypothesis: str = "",
) -> Axes:
    """Draw a histogram of a statistic of reference samples with the observed value, and return the axes.

    The references are `gaussian`, of another `hypothesis`, or have independent unimodal scores; `held_out` says that E
    of held-out points was compared, else S/T.
    """
    share = "S/T less the mean of its references" if gaussian else "S/T of the clusters found"
    xlabel = "mean held-out E" if held_out else share
    title = f"H0: {'one Gaussian' if gaussian else hypothesis or 'independent unimodal scores'}"
    return _draw_histogram_with_line(null, observed, pvalue, ax, what="reference samples", xlabel=xlabel, title=title)


def plot_scores(
    scores: FloatArray,
    density: Curve,
    pvalue: float,
    ax: Axes | None = None,
    *,
    n_splits: int = 0,
    own_pvalue: float | None = None,
    contrast: str = "",
    column: str = "x",
) -> Axes:
    """Draw a histogram of scores tested for unimodality, with the nearest unimodal density, and return the axes.

    `density` has the edges of its steps and their heights, which are empty where all scores are equal. The scores are
    the points of one `column`, or those of held-out points: of the split and `contrast` with the smallest `own_pvalue`.
    """
    ax = axes_or_new(ax)
    edges, height = density
    if not height.size:
        ax.text(0.5, 0.5, "nothing to show: all scores are equal", ha="center", va="center", transform=ax.transAxes)
        return ax
    one_column = own_pvalue is None
    where = "points" if one_column else "held-out points"
    ax.hist(scores, bins=min(40, max(10, scores.size // 5)), density=True, color=QUIET, label=f"{scores.size} {where}")
    ax.stairs(height, edges, color=OBSERVED, lw=2, label="nearest unimodal distribution")
    tallest = max(float(patch.get_height()) for patch in ax.patches if hasattr(patch, "get_height"))
    ax.set_ylim(0, 1.02 * max(tallest, min(float(height.max()), HIGHEST_STEP * tallest)))
    leave_room(ax, 2)
    if own_pvalue is None:
        ax.set_xlabel(f"{write_plain_name(column, 40)} - mean")
    else:
        which = f"scores of held-out points{contrast and ', '}{contrast}"
        if len(which) > LINE_OF_LABEL:
            which = which.replace(", ", ",\n", 1)
        ax.set_xlabel(f"{which}\nclearest of {n_splits} splits (own {p_text(own_pvalue, short=True)})")
    ax.set_ylabel("density")
    what = "H0: unimodal" if one_column else "H0: unimodal along linear projections"
    of_all = " of all splits" if n_splits else ""
    ax.set_title(f"{what}, {p_text(pvalue, short=True)}{of_all}", loc="left")
    ax.legend(framealpha=0.9, edgecolor="none")  # a step that is cut off goes on behind it
    return ax


def plot_pairs(
    pairs: Sequence[tuple[Any, Any]],
    effects: Sequence[float],
    pvalues: Sequence[float],
    ax: Axes | None = None,
    *,
    sizes: Sequence[tuple[int, int]],
    correction: str,
) -> Axes:
    """Draw a bar with the effect size of every pair of groups, with its adjusted p-value; return the axes.

    More than forty pairs make a heat map.
    """
    groups = list(dict.fromkeys(name for pair in pairs for name in pair))
    if len(pairs) > PAIRS_LISTED:
        return _draw_pair_table(groups, pairs, effects, pvalues, correction, ax)
    written = dict(zip(groups, plain_all(groups), strict=True))
    names = [f"{written[first]} vs {written[second]}" for first, second in pairs]
    ax = axes_or_new(ax, height=1.6 + 0.3 * len(names), more_width=room_for(names))
    bars = ax.barh(range(len(names)), effects, color=QUIET, edgecolor="white", lw=0)
    for i, (effect, p, bar) in enumerate(zip(effects, pvalues, bars, strict=True)):
        if p <= 0.05:
            bar.set(facecolor=OBSERVED, hatch="//")
        n = f"n = {sizes[i][0]} + {sizes[i][1]}"
        ax.text(max(effect, 0.0), i, f" {p_text(p, short=True)}, {n}", va="center", fontsize="small")
    ax.set_yticks(range(len(names)), names, fontsize=font_along(ax, len(names), "y"))
    ax.set_ylim(len(names) - 0.4, -0.6)
    low, high = min(0.0, *effects), max(0.0, *effects)
    ax.set_xlim(1.05 * low, high + 0.6 * (high - low or 1.0))  # room for what is written beside the bars
    ax.set_xlabel("S/T of the pair (hatched: adjusted p at most .05)")
    ax.set_title(f"Pairs of groups, adjusted: {correction}", loc="left")
    return ax


PAIRS_LISTED = 40


def _draw_pair_table(
    groups: Sequence[Any],
    pairs: Sequence[tuple[Any, Any]],
    effects: Sequence[float],
    pvalues: Sequence[float],
    correction: str,
    ax: Axes | None,
) -> Axes:
    """Draw a heat map of effect sizes S/T of all pairs of groups, with stars if adjusted p <= .05; return the axes."""
    table = _build_pair_matrix(groups, pairs, effects)
    stars = _build_pair_matrix(groups, pairs, [float(p <= 0.05) for p in pvalues])
    names = plain_all(groups)
    room = room_for(names)
    ax = axes_or_new(ax, height=4.0 + 0.12 * min(len(names), 60) + room, more_width=room)
    draw_heat(table, names, names, ax, label="S/T of the pair", cells=0)
    # stars are white on dark cells and black on light ones
    middle = 0.5 * (float(np.nanmin(table)) + float(np.nanmax(table)))
    for shade, chosen in (("white", table <= middle), ("black", table > middle)):
        j, i = np.nonzero((stars == 1) & chosen)
        ax.scatter(i, j, s=float(np.clip(9000 / len(names) ** 2, 1, 60)), marker="*", color=shade, lw=0)
    ax.set_title(f"Pairs of groups; star: adjusted p at most .05 ({correction})", loc="left")
    return ax


def _build_pair_matrix(names: Sequence[Any], pairs: Sequence[tuple[Any, Any]], values: Sequence[float]) -> FloatArray:
    """Return a symmetric matrix of values for pairs of names; NaN for pairs without a value; (k, k)."""
    place = {name: j for j, name in enumerate(names)}
    table = np.full((len(names), len(names)), np.nan)
    for (first, second), value in zip(pairs, values, strict=True):
        i, j = place[first], place[second]
        table[i, j] = table[j, i] = value
    return table


def plot_power(
    sizes: Sequence[int],
    powers: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    ax: Axes | None = None,
    *,
    level: float,
    needed: float,
    distributions: tuple[str, str],
    bars: str,
) -> Axes:
    """Draw power against the size of the first sample with intervals, the level and power .8, and return the axes.

    `needed` is the size with that power, NaN where no size has it; `bars` says what the intervals are.
    """
    ax = axes_or_new(ax)
    below = [power - low for power, (low, _) in zip(powers, intervals, strict=True)]
    above = [high - power for power, (_, high) in zip(powers, intervals, strict=True)]
    ax.errorbar(sizes, powers, yerr=[below, above], color=OBSERVED, marker="o", capsize=3, label=f"power, {bars}")
    ax.axhline(0.8, color="0.4", lw=1, ls="--", label=_write_target(needed, sizes[0]))
    ax.axhline(level, color="0.4", lw=1, ls=":", label=f"level {level:g}")
    ax.set_ylim(-0.02, 1.45)  # room for the legend above the intervals
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.set_xlabel("size of the first sample")
    ax.set_ylabel("power")
    x, y = (write_plain_name(text, 36) for text in distributions)
    ax.set_title(f"{x} vs {y}", loc="left")
    ax.legend(frameon=False, loc="upper left")
    return ax


def _write_target(size: float, smallest: int) -> str:
    """Return a label with the sample size at which power reaches .8, or that it does not."""
    fewer = " or fewer" * (size == smallest)  # none below was tried
    return "power .8" + (f", at n = {size:g}{fewer}" if np.isfinite(size) else ", not reached")
