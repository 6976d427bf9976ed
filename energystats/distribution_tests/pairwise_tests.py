"""Tests of pairs of groups for differences in distribution and in spread, adjusted for their number."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from energystats._core import statistics
from energystats._core.pvalues import smallest_pvalue, upper_pvalue
from energystats._runtime import check_work, with_bar
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.display.numbers import numbers, probability, proportion, rounded
from energystats.display.result import Result
from energystats.display.sentences import metric_note, metric_text, note_negative
from energystats.display.tables import LEVEL, ROWS_SHOWN, TextTable, cut_all, text_table
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.center_distances import FEWEST, CenterDistances, measure_spread, reveals_strata
from energystats.distribution_tests.designs import Design, ExchangeableUnits, check_design, exchangeable_units
from energystats.distribution_tests.found_groups import notes_on_groups, warn_if_found
from energystats.distribution_tests.multiplicity import adjust, correction_named
from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison, draw_null, smallest_of_all
from energystats.distribution_tests.spread_test import compare_spread, groups_of_two_plots, note_few_points
from energystats.inputs.arrays import as_weights
from energystats.inputs.labels import position_of, read_inputs
from energystats.inputs.methods import MethodLike, read_method, refuse_stop
from energystats.inputs.names import near_names
from energystats.inputs.options import as_generator, check_flag
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, comparisons, spectrum, spread_medians

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["PairwiseRow", "PairwiseTestsResult", "pairwise_tests"]


def pairwise_tests(
    X: ArrayLike,
    groups: ArrayLike,
    *,
    control: Any = None,
    correction: str = "holm",
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    method: MethodLike = "auto",
    n_resamples: int | None = None,
    design: Design | None = None,
    sample_weight: ArrayLike | None = None,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> PairwiseTestsResult:
    r"""Test all pairs of groups, or each group against a control, and adjust the p-values for their number.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    groups : array_like of shape (n,)
        Group of each row, known before the data were seen.
    control : object, optional
        Name of one group; then every other group is compared with it, and no others.
    correction : str, default "holm"
        "holm", "bonferroni", "sidak", "holm-sidak", "simes-hochberg", "hommel", "fdr_bh", "fdr_by", "fdr_tsbh",
        "fdr_tsbky" (of statsmodels' `multipletests`) or "none".
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho; parameters such as sigma are fitted to all groups together.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    method : {"auto", "exact", "permutation"} or Permutation, default "auto"
        As for `energy_test`, without `stop_at` and `extrapolate`.
    n_resamples : int, optional
        Random permutations of each pair: the number of `method`, or else 999, or 40 for each pair less one where that
        is more, so that an adjusted p-value of .025 can be reached.
    design : Design, optional
        Strata, pairs or whole plots, as for `energy_test`; each pair is permuted within its own rows.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the rows, as for `energy_test`.
    standardize : bool, default False
        Column z-scores (divisor n, of all groups together) before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int, Generator or None, default None
        Seed of the permutations.

    Returns
    -------
    PairwiseTestsResult
        `.table`, one row a pair: the groups and their sizes, the energy distance E, S/T of the pair, p and adjusted p,
        and the same two for equal spread.

    Raises
    ------
    ValueError
        If there is a single group, the control is not a group, a value is not finite, labels are missing or of another
        length, the design leaves a pair nothing to permute, or an option is unknown.
    TypeError, MemoryError
        If `X` is not of real numbers, or labels cannot be sorted; if the work would not fit into memory.

    Warns
    -----
    DoubleDippingWarning
        If the groups are clusters that this package found, whose p means nothing.

    See Also
    --------
    energy_test : All groups at once.
    spread_test : Spread of all groups at once.

    Notes
    -----
    An energy test sees any difference between distributions; its companion, the test of `spread_test`, compares the
    distances of the points from the spatial medians of their groups. It is approximate, and NaN for groups of fewer
    than three points, two of two whole plots, where a point has more than a third of the weight of its group, or of
    its group within a stratum, or where groups have other shares of strata of fewer than three of their units.
    Measured levels, and which `energy_test` with which seed gives the p of a pair: `docs/distribution-tests.md`. The
    cost of `energy_test` for each pair, and O(n^2) a step of the search for the medians of all groups; memory as
    there, and n numbers a group.

    References
    ----------
    Szekely & Rizzo (2004); Anderson (2006) for the idea of testing spread by distances to centres.

    Examples
    --------
    >>> import energystats as es
    >>> iris = es.datasets.load("iris")
    >>> result = es.pairwise_tests(iris.iloc[:, :4], iris["species"], rng=0)
    >>> result.table[["group1", "group2", "pvalue_adjusted"]].round(4).values.tolist()[0]
    ['setosa', 'versicolor', 0.003]
    """
    correction = correction_named(correction)
    check_flag(standardize, "standardize")
    generator = as_generator(rng)
    design = check_design(design)
    columns = {"groups": groups, "sample_weight": sample_weight}
    columns |= {"strata": design.strata, "whole_plots": design.whole_plots}
    tables, (labels, sample_weight, *blocks) = read_inputs((X,), columns)
    d, checked = Dissimilarity.from_samples(tables, labels, metric=metric, alpha=alpha, standardize=standardize)
    warn_if_found(checked)
    pairs = _pairs_of(checked, control)
    sampling = read_method(method, n_resamples, ("auto", "exact", "permutation"), max(999, 40 * len(pairs) - 1))
    refuse_stop(sampling, "pairwise_tests")
    units = exchangeable_units(design, tables, (labels, *blocks), checked)
    weights = d.read_weights(sample_weight)
    whole = GroupComparison(d, checked, STATISTICS["between"], sampling, generator, units, weights)
    for pair in pairs:
        _check_moves(whole, pair)
    sizes = [(int(checked.sizes[i]), int(checked.sizes[j])) for i, j in pairs]
    size = Size.of(d)
    works = [*comparisons(size, sizes, sampling.n_resamples), spread_medians(size, checked.k)]
    works += [] if d.metric.negative_type else [spectrum(d.n, 4.0)]
    progress = check_work(progress, d, *works)
    spread = measure_spread(d, checked, units, weights)
    seeds = generator.spawn(len(pairs))
    tested = (_compare_pair(whole, spread, pair, own) for pair, own in zip(pairs, seeds, strict=True))
    found = list(with_bar(tested, progress, total=len(pairs), unit="pair", size=lambda _: 1))
    rows, lowest, every = [pair.row for pair in found], [pair.lowest for pair in found], all(p.exact for p in found)
    return PairwiseTestsResult(
        rows=tuple(rows),
        pvalue_adjusted=adjust([row.pvalue for row in rows], correction),
        pvalue_spread_adjusted=adjust([row.pvalue_spread for row in rows], correction),
        correction=correction,
        method="exact" if every else sampling.method,
        n_resamples=sampling.n_resamples,
        n_strata=units.n_strata,
        n_plots=units.n_plots,
        weighted=weights is not None,
        group_name=checked.name,
        metric=d.metric,
        standardization=d.standardization,
        notes=(
            *dict.fromkeys(note for pair in found for note in pair.notes),
            *notes_on_groups(d, checked, *d.group_sums(checked, weights), weights),
            *spread.notes,
            *units.notes,
            *units.notes_on(checked),
            *_note_no_spread(rows, spread, checked, units, pairs),
            *(note_few_points(d, checked) if units.is_free else ()),
            *_note_small_pairs(lowest, correction, None if every else sampling.n_resamples),
        ),
    )


def _are_few(two: Groups, units: ExchangeableUnits) -> bool:
    """Return whether two groups are too small to compare spread: under three points, or two whole plots in both."""
    # two points are, as are those of two whole plots
    return int(two.sizes.min()) < FEWEST or groups_of_two_plots(two, units).size == 2


def _note_no_spread(
    rows: list[PairwiseRow],
    spread: CenterDistances,
    groups: Groups,
    units: ExchangeableUnits,
    pairs: list[tuple[int, int]],
) -> tuple[str, ...]:
    """Return notes on pairs of groups whose spread could not be compared, one note for each reason."""
    plots = ", or both have two whole plots" if units.n_plots else ""
    reasons = {
        "few": f"a group has fewer than {FEWEST} points{plots}. Two are equally far from their centre, however they "
        "are spread.",
        "strata": f"their groups have different shares of the strata, and fewer than {FEWEST} units of a group are in "
        "one. Join small strata.",
        "heavy": "a point has more than a third of the weight of its group, or of its group within a stratum, and is "
        "its own centre.",
        "constant": "within each group all points are equally far from the centre, and no permutation can show by how "
        "much groups differ.",
    }
    counts = dict.fromkeys(reasons, 0)
    for row, pair in zip(rows, pairs, strict=True):
        if not np.isnan(row.pvalue_spread):
            continue
        of_pair, two = _rows_of(groups, pair)
        own = units.among(of_pair)
        few, strata = _are_few(two, own), reveals_strata(spread, two, own)
        heavy = spread.heavy[list(pair)].any()
        counts["few" if few else "strata" if strata else "heavy" if heavy else "constant"] += 1
    return tuple(
        f"{n} pair{'s have' if n > 1 else ' has'} no p of spread: {reasons[why]}" for why, n in counts.items() if n
    )


def _note_small_pairs(lowest: list[float], correction: str, n_drawn: int | None) -> tuple[str, ...]:
    """Return notes on pairs of groups with too few labelings, or else permutations, for a small p-value.

    `lowest` are the smallest p-values that their labelings allow; `n_drawn` is None where all of these were visited.
    """
    hopeless = [p for p in lowest if p > LEVEL]
    notes = []
    if hopeless:
        least, most = (f"{p:.3g}" for p in (min(hopeless), max(hopeless)))
        which = least if least == most else f"{least} to {most}, by the pair,"
        notes.append(
            f"{len(hopeless)} of {len(lowest)} pairs have so few labelings that no p below {which} is possible, before "
            "it is adjusted."
        )
    # adjusted p-values rise with every p
    reached = float(adjust(lowest, correction).min())
    if reached > LEVEL and len(hopeless) < len(lowest):
        notes.append(
            f"No adjusted p below {reached:.3g} is possible: the labelings of a pair allow none below "
            f"{min(lowest):.3g} before it is adjusted over {len(lowest)} pairs."
        )
    # where labelings are enough, more permutations help
    if reached <= LEVEL and n_drawn is not None:
        by_draws = float(adjust([smallest_pvalue(n_drawn)] * len(lowest), correction).min())
        if by_draws > LEVEL:
            notes.append(
                f"With {len(lowest)} pairs and {n_drawn} random permutations no adjusted p below {by_draws:.2g} is "
                f"possible: use n_resamples={40 * len(lowest) - 1} or more."
            )
    return tuple(notes)


def _pairs_of(groups: Groups, control: Any) -> list[tuple[int, int]]:
    """List the pairs of group numbers to compare: all pairs, or the control with every other group."""
    if control is None:
        return list(itertools.combinations(range(groups.k), 2))
    j = position_of(control, groups.names)
    if j is None:
        names = [str(name) for name in groups.names]
        near = near_names(str(control), groups.names)
        if str(control) in names:
            there = groups.names[names.index(str(control))]
            near = f" The group is {there!r}, of type {type(there).__name__}."
        raise ValueError(f"`control` must be one of the groups {', '.join(names)}; got {control!r}.{near}")
    return [(j, other) for other in range(groups.k) if other != j]


def _rows_of(groups: Groups, pair: tuple[int, int]) -> tuple[IntArray, Groups]:
    """Select the rows of two groups, and code the groups as 0 and 1."""
    first, second = pair
    rows = np.flatnonzero((groups.codes == first) | (groups.codes == second))
    names = (groups.names[first], groups.names[second])
    return rows, Groups((groups.codes[rows] == second).astype(np.intp), names)


def _check_moves(c: GroupComparison, pair: tuple[int, int]) -> None:
    """Raise ValueError if a design leaves no labels of two groups to permute."""
    if c.units.is_free:
        return
    rows, two = _rows_of(c.groups, pair)
    try:
        c.units.among(rows).check_moves(two)
    except ValueError as error:
        raise ValueError(f"{error} The groups are {two.names[0]} and {two.names[1]} of a pair.") from error


def _compare_pair(
    c: GroupComparison, spread: CenterDistances, pair: tuple[int, int], rng: np.random.Generator
) -> _TestedPair:
    """Test two groups for equal distributions, and for equal spread."""
    rows, two = _rows_of(c.groups, pair)
    # streams of their own: the p of a pair depends neither on the other pairs nor on the test of spread
    test_rng, spread_rng = rng.spawn(2)
    # weights of a pair that are all 1 are none, as for `energy_test`
    weights = None if c.weights is None else as_weights(c.weights[rows], rows.size, "sample_weight")
    one = replace(c, d=c.d.subset(rows), groups=two, units=c.units.among(rows), weights=weights, rng=test_rng)
    null = draw_null(one)
    n1, n2 = two.sizes.tolist()
    S, T = float(statistics.between(null.M, null.s)), float(statistics.total(null.M, null.s))
    n_resamples = one.sampling.n_resamples
    compared = None
    # a point that has most of the weight is the centre, and one between strata is near to those of most of its group
    if not (_are_few(two, one.units) or spread.heavy[list(pair)].any() or reveals_strata(spread, two, one.units)):
        compared = compare_spread(spread.among(rows, pair), two, one.units, n_resamples, spread_rng)
    row = PairwiseRow(
        group1=two.names[0],
        group2=two.names[1],
        n1=n1,
        n2=n2,
        energy_distance=float(statistics.energy_distances(null.M, null.s)[0, 1]),
        effect_size=statistics.share(S, T),
        pvalue=upper_pvalue(null.extreme, null.values.size),
        pvalue_spread=float("nan") if compared is None else compared.pvalue,
    )
    return _TestedPair(row, smallest_of_all(one), null.exact, note_negative(T - S, S, T, of=" of some pairs"))


class _TestedPair(NamedTuple):
    """Hold one pair of groups: its result, the smallest p of its labelings, whether all were visited, and notes."""

    row: PairwiseRow
    lowest: float
    exact: bool
    notes: tuple[str, ...]


# ---------------------------------------------------------------- the result


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseRow:
    """Hold the result for one pair of groups: sizes, energy distance, effect size and p-values."""

    # group1, group2: names of the groups
    group1: Any
    group2: Any
    # n1, n2: their sizes
    n1: int
    n2: int
    energy_distance: float  # E between them
    effect_size: float  # S/T of the two groups together
    pvalue: float  # of equal distributions
    pvalue_spread: float  # of equal spread around the groups' centres


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairwiseTestsResult(Result):
    """Hold tests of pairs of groups, with p-values adjusted for their number.

    Attributes
    ----------
    rows : tuple of PairwiseRow
        One for each pair, with raw p-values.
    pvalue_adjusted, pvalue_spread_adjusted : ndarray of shape (n_pairs,)
        P-values of equal distributions and of equal spread, adjusted over the pairs.
    correction : str
        How they were adjusted.
    method : str
        How labelings were chosen: "auto" is exact where there are few.
    n_resamples : int
        Random permutations of each pair.
    n_strata : int
        Blocks within which labels were permuted; 0 for free permutations.
    n_plots : int
        Whole plots whose labels were permuted; 0 for free permutations.
    weighted : bool
        Whether rows had weights.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        What else there is to know of groups, rows, spread and p: groups found from data or like clusters, a negative
        dispersion, pairs without a p, too few labelings.
    """

    _label_columns = ("group1", "group2")

    rows: tuple[PairwiseRow, ...] = field(repr=False)
    pvalue_adjusted: FloatArray = field(repr=False)
    pvalue_spread_adjusted: FloatArray = field(repr=False)
    correction: str
    method: str
    n_resamples: int
    n_strata: int = field(repr=False)
    n_plots: int = field(repr=False)
    weighted: bool = field(repr=False)
    group_name: str = field(default="", repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with sizes, energy distance, effect size and p-values of each pair of groups."""
        import pandas as pd

        table = pd.DataFrame([asdict(row) for row in self.rows])
        table["pvalue_adjusted"] = self.pvalue_adjusted
        table["pvalue_spread_adjusted"] = self.pvalue_spread_adjusted
        names = [name for name in table.columns if "pvalue" not in name]
        return table[[*names, "pvalue", "pvalue_adjusted", "pvalue_spread", "pvalue_spread_adjusted"]]

    def _tables(self) -> list[TextTable]:
        heads = ["n", "E", "S/T", "p", "adjusted", "p spread", "adjusted"]
        shown = self._shown()
        rows = [self.rows[i] for i in shown]
        columns = [
            [f"{row.n1} + {row.n2}" for row in rows],
            numbers([row.energy_distance for row in rows]),
            [proportion(row.effect_size) for row in rows],
            [probability(row.pvalue) for row in rows],
            [probability(self.pvalue_adjusted[i]) for i in shown],
            [probability(row.pvalue_spread) for row in rows],
            [probability(self.pvalue_spread_adjusted[i]) for i in shown],
        ]
        names = list(dict.fromkeys(name for row in self.rows for name in (row.group1, row.group2)))
        written = dict(zip(names, cut_all(names, 16), strict=True))
        stubs = [f"{written[row.group1]} vs {written[row.group2]}" for row in rows]
        part = "" if len(rows) == len(self.rows) else f", the {len(rows)} with the smallest p of {len(self.rows)}"
        title = f"Energy tests of pairs of groups{part}; correction: {self.correction}"
        return [text_table(list(zip(*columns, strict=True)), heads, stubs, title, self.group_name)]

    def _shown(self) -> list[int]:
        """Choose the pairs of groups shown in a summary: all, or of many those with the smallest p."""
        if len(self.rows) <= ROWS_SHOWN:
            return list(range(len(self.rows)))
        order = sorted(range(len(self.rows)), key=lambda i: (self.rows[i].pvalue, -self.rows[i].effect_size))
        return sorted(order[: ROWS_SHOWN // 2])

    def _sentences(self) -> list[str]:
        designed = bool(self.n_strata or self.n_plots)
        spread = "likewise where a design leaves few" if designed else "always random"
        all_of_them = {
            "auto": f", or over all labelings of a pair where they are no more (those of spread are {spread})",
            "permutation": "",
        }
        error = rounded((0.05 * 0.95 / self.n_resamples) ** 0.5)
        whose = " of the whole plots" * bool(self.n_plots) + " of each pair" + ", within strata" * bool(self.n_strata)
        how = (
            f"p-values by {self.n_resamples} random permutations{whose}{all_of_them.get(self.method, '')}: "
            f"another seed moves a p of .05 by about ±{error} (Monte Carlo standard error)."
        )
        if self.method == "exact":
            how = (
                f"p-values over all distinct labelings{whose}: they do not depend on a seed; those of spread are by "
                f"{self.n_resamples} random permutations, or all labelings where a design leaves fewer."
            )
        within = " within every stratum" * bool(self.n_strata) + ", whole plots being exchangeable" * bool(self.n_plots)
        return [
            f"Null hypothesis of p: the two groups come from one distribution{within}. Of p spread: their points are "
            "spread equally around their own centres; where only p is small, the groups differ in place or shape.",
            f"p spread is approximate: {'labels' if designed else 'residuals'} of the distances from spatial medians "
            "were permuted.",
            how,
            *(["Rows are weighted; equality includes their weights."] if self.weighted else []),
            *self.notes,
            metric_note(self.metric, self.standardization),
        ]

    def _conclusion(self) -> str:
        differ = int((self.pvalue_adjusted <= LEVEL).sum())
        wide = int((self.pvalue_spread_adjusted <= LEVEL).sum())
        adjusted = "unadjusted" if self.correction == "none" else "adjusted"
        pairs = f"{len(self.rows)} pair{'s' * (len(self.rows) > 1)}"
        tested = int((~np.isnan(self.pvalue_spread_adjusted)).sum())
        spread = f"of unequal spread in {wide}"
        if not tested:
            spread = "the spread of no pair can be tested"
        elif tested < len(self.rows):
            spread += f" of the {tested} whose spread can be tested"
        return f"At level {LEVEL:g}, {adjusted}: evidence of a difference in {differ} of {pairs}, {spread}."

    def _frame(self) -> pd.DataFrame:
        """Return the table of pairs as a data frame, with the options of the test repeated in every row."""
        return self.table.assign(
            correction=self.correction,
            method=self.method,
            n_resamples=self.n_resamples,
            metric=metric_text(self.metric),
            standardized=self.standardization is not None,
        )

    def _main_columns(self) -> tuple[str, ...]:
        adjusted = self.correction != "none"
        return tuple(name for name in map(str, self.table) if adjusted or not name.endswith("_adjusted"))

    def _headings(self) -> dict[str, str]:
        columns = {"group1": "group 1", "group2": "group 2", "energy_distance": "E", "effect_size": "S/T"}
        spread = {"pvalue_spread": "p spread", "pvalue_spread_adjusted": "p spread, adjusted"}
        return {**columns, **spread}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the effect size S/T of every pair of groups with its adjusted p-value, and return the axes."""
        from energystats.plotting.null_distributions import plot_pairs

        pairs, sizes = [(row.group1, row.group2) for row in self.rows], [(row.n1, row.n2) for row in self.rows]
        effects, adjusted = [row.effect_size for row in self.rows], self.pvalue_adjusted.tolist()
        return plot_pairs(pairs, effects, adjusted, ax, sizes=sizes, correction=self.correction)
