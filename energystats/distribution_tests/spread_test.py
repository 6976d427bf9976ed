"""Permutation test of equal spread of groups around their centres, by the distances of points from these."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from energystats._core.gram import decomposed
from energystats._core.labelings import draw_key
from energystats._core.pvalues import (
    count_extreme,
    pvalue_interval,
    share_of_largest,
    smallest_exact_pvalue,
    tie_tolerance,
    upper_pvalue,
)
from energystats._core.spatial_median import (
    Multiply,
    squared_distances_to,
    weights_of_means,
    weights_of_medians,
)
from energystats._core.statistics import f_ratio, share_of_mode
from energystats._runtime import weigh, with_bar
from energystats._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomLike
from energystats.display.numbers import interval_text, number, numbers, p_text, probability
from energystats.display.result import Result
from energystats.display.sentences import (
    Caution,
    floor_note,
    metric_note,
    metric_text,
    seed_note,
    state_evidence,
    undecided,
    write_within_strata,
)
from energystats.display.tables import LEVEL, ROWS_SHOWN, TextTable, cut_all, text_table, write_groups
from energystats.dissimilarity import Dissimilarity, Groups, Points
from energystats.distribution_tests.designs import (
    GROUPS_NAMED,
    Design,
    ExchangeableUnits,
    check_design,
    exchangeable_units,
)
from energystats.distribution_tests.found_groups import notes_on_groups, warn_if_found
from energystats.exceptions import ConvergenceWarning, warn
from energystats.inputs.labels import read_inputs
from energystats.inputs.options import as_generator, check_count, check_flag, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, eigenpairs, permuted_spread, spectrum, spread_medians

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = [
    "FEWEST",
    "CenterDistances",
    "SpreadTestResult",
    "compare_spread",
    "groups_of_two_plots",
    "measure_spread",
    "note_few_points",
    "reveals_strata",
    "spread_test",
]


CENTERS = ("median", "centroid")
FEWEST = 3  # points of a group: two are equally far from their centre, whatever they are
FEW = 8  # points of a group, below which p can be too often small
FEW_BESIDE_MANY, TIMES_AS_MANY = 15, 3  # points of the smallest group, and how many times those the largest has
MANY_TIMES = 6  # however many points the smallest has
FEWEST_OF_RARE, MOSTLY_ONE = 6, 0.7  # points of a group, and the share of rows that are equal
HEAVY_SHARE = 1 / 3  # of a group's weight on one point, above which its distance stands for the group
ALONE = 1e-9  # of a group's weight: a point that leaves no more to others is its own centre
NO_AXIS = 1e-10  # of the largest eigenvalue, below which one is no axis
EQUAL = 1e-12  # of the sum of squares of the distances: what varies less does not vary


def spread_test(
    X: ArrayLike,
    groups: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    center: str = "median",
    n_resamples: int = 999,
    design: Design | None = None,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> SpreadTestResult:
    r"""Test whether groups have equal spread: distances of points from their group centres.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho, square or condensed.
    groups : array_like of shape (n,)
        Group of each row, known before the data were seen; three points or more in each.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. With 2 distances are those of vegan's ``betadisper``.
    center : {"median", "centroid"}, default "median"
        Spatial median of each group in the feature space of rho, or its mean, with which the test is too liberal: most
        for skew distributions and for many small groups.
    n_resamples : int, default 999
        Random permutations.
    design : Design, optional
        Strata, pairs or whole plots, as for `energy_test`.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int, Generator or None, default None
        Seed of the permutations.

    Returns
    -------
    SpreadTestResult
        `.statistic` (F), `.pvalue`, `.table` (size and mean distance of every group), `.distances` of the points,
        `.plot()`: points, centres and hulls on principal coordinates.

    Raises
    ------
    ValueError
        If there is a single group, a group has fewer than three points, groups differ and none has points at different
        distances from its centre, a value is not finite, labels are missing or of another length, the design leaves
        nothing to permute, several groups have two whole plots, or strata are in groups in different shares and one has
        fewer than three points of a group.
    TypeError
        If `X` does not hold real numbers, or labels cannot be sorted.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    DoubleDippingWarning
        If the groups are clusters that this package found, whose p means nothing.

    See Also
    --------
    energy_test : Any difference between the distributions, spread included.
    pairwise_tests : The same test for every pair of groups, beside that of equal distributions.

    Notes
    -----
    F is that of an analysis of variance of the distances :math:`z_i = \sqrt{n_j/(n_j - 1)}\,\|\phi(x_i) - m_j\|`,
    where :math:`\|\phi(x) - \phi(y)\|^2 = \rho(x, y)`. Residuals from the mean distance of their group are permuted and
    given the variance that residuals have in their new group, in proportion to n/(n - 1). For groups of one size that
    is vegan's ``permutest`` of ``betadisper(bias.adjust = TRUE)``. With a design the labels of z are permuted as it
    allows, and centres are those of a group in each stratum, where all have three points or more in each they are in.
    Approximate; levels: `docs/distribution-tests.md`. In groups of unequal size F also answers to distances that vary
    more in the smaller one.
    Where rho is not of negative type, centres are sought among real and imaginary axes apart, and squared distances
    below 0 count as 0. O(n^2) time a step of the search for the medians, O(n) a permutation; O(n^3) time and O(n^2)
    memory where rho is not known to be of negative type.

    References
    ----------
    Anderson (2006), Biometrics 62; O'Neill & Mathews (2000) for the bias of small groups.

    Examples
    --------
    >>> import energystats as es
    >>> iris = es.datasets.load("iris")
    >>> result = es.spread_test(iris.iloc[:, :4], iris["species"], rng=0)
    >>> round(result.statistic, 2), result.pvalue
    (12.37, 0.001)
    """
    check_option(center, "center", CENTERS)
    check_flag(standardize, "standardize")
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    generator = as_generator(rng)
    design = check_design(design)
    columns = {"groups": groups, "strata": design.strata, "whole_plots": design.whole_plots}
    tables, (labels, *blocks) = read_inputs((X,), columns)
    d, checked = Dissimilarity.from_samples(tables, labels, metric=metric, alpha=alpha, standardize=standardize)
    warn_if_found(checked)
    _refuse_small_groups(checked)
    units = exchangeable_units(design, tables, (labels, *blocks), checked)
    _refuse_pairs_of_plots(checked, units)
    size = Size.of(d)
    works = [permuted_spread(size, checked.k, n_resamples), spread_medians(size, checked.k), eigenpairs(size, 2)]
    works += [] if d.metric.negative_type else [spectrum(d.n, 4.0)]
    progress = weigh(progress, d, *works)
    spread = measure_spread(d, checked, units, center=center)
    _refuse_shares_of_strata(spread, checked, units)
    compared = compare_spread(spread, checked, units, n_resamples, generator, progress=progress)
    if compared is None:
        raise ValueError(
            "`groups`: the points of every group lie equally far from its centre, so that there is nothing to permute; "
            "`dispersion` has W of every group."
        )
    values, vectors = d.largest_eigenpairs(2)
    coordinates = vectors * np.sqrt(np.maximum(values, 0.0))
    return SpreadTestResult(
        statistic=compared.statistic,
        pvalue=compared.pvalue,
        pvalue_interval=compared.interval,
        n_resamples=compared.null.size + compared.exact,
        exact=compared.exact,
        by_stratum=bool(spread.strata.any()),
        null_hypothesis=(
            f"distances from the centre of the own group have one distribution in all {checked.k} groups{units.spoken}"
        ),
        center=center,
        df=(checked.k - 1, d.n - checked.k),
        sizes=tuple(checked.sizes.tolist()),
        labels=checked.names,
        group_name=checked.name,
        mean_distances=spread.means,
        distances=spread.distances,
        codes=checked.codes,
        coordinates=coordinates,
        centers=spread.centers.T @ coordinates,
        null_distribution=compared.null,
        n_strata=units.n_strata,
        n_plots=units.n_plots,
        metric=d.metric,
        standardization=d.standardization,
        notes=(
            *notes_on_groups(d, checked, *d.group_sums(checked)),
            *spread.notes,
            *units.notes,
            *units.notes_on(checked),
            *(note_few_points(d, checked) if units.is_free else ()),
            *compared.notes,
        ),
    )


def note_few_points(d: Dissimilarity, groups: Groups) -> tuple[str, ...]:
    """Return cautions on groups of few points, whose p is too often small for some data."""
    cautions: tuple[str, ...] = ()
    sizes = groups.sizes[groups.sizes >= FEWEST]  # smaller ones have no p of spread
    if sizes.size < 2:
        return ()
    smallest, largest = int(sizes.min()), int(sizes.max())
    if largest > TIMES_AS_MANY * smallest and (smallest < FEW_BESIDE_MANY or largest > MANY_TIMES * smallest):
        cautions = (
            Caution(
                f"Of a group of {smallest} points beside one of {largest} p of spread is too often small where values "
                "are of few kinds or have no tails.",
                "Of equal groups of grades, 0/1 columns or points on a circle .06 to .17 were rejected at level .05 "
                "with 5 + 40, 8 + 40 and 10 + 60 points, up to .31 with 15 + 300 and .38 with 50 + 1500; of normal and "
                "skew ones .02 to .06.",
            ),
        )
    if groups.k > 2 and smallest < FEWEST_OF_RARE and isinstance(d, Points) and share_of_mode(d.points) > MOSTLY_ONE:
        cautions += (
            Caution(
                "Most rows are equal, and groups have few points: p of spread is too often small.",
                "Of six equal groups of 4, of zeros and ones with one in ten or counts of mean .2, .10 to .13 were "
                "rejected at level .05 and nearly as many at .01; of five groups of 8 at most .05.",
            ),
        )
    few = (sizes < FEW) & (sizes % 2 == 0)
    if d.n_columns != 1 or not d.metric.only_means or not few.any():
        return cautions
    return (
        *cautions,
        Caution(
            "In one column with alpha = 2 p of spread is too often small for few points, an even number of them.",
            "The two middle points of such a group are equally far from its median. Of equal groups of 4 + 4 .05 to "
            ".13 were rejected at level .05, of 6 + 6 .03 to .10; with alpha = 1 at most .05.",
        ),
    )


def _refuse_small_groups(groups: Groups) -> None:
    """Raise ValueError if a group has fewer than three points, too few for a test of spread."""
    small = np.flatnonzero(groups.sizes < FEWEST)
    if small.size:
        named = ", ".join(f"{groups.names[j]!r} has {groups.sizes[j]}" for j in small[:GROUPS_NAMED])
        more = f", and {small.size - GROUPS_NAMED} more have so few" * (small.size > GROUPS_NAMED)
        raise ValueError(
            f"`groups` must have {FEWEST} points or more in each group: {named}{more}"
            f"{'; two are equally far from their centre' * bool((groups.sizes[small] == 2).any())}. Leave them out, or "
            "join groups."
        )


def _refuse_shares_of_strata(spread: CenterDistances, groups: Groups, units: ExchangeableUnits) -> None:
    """Raise ValueError if groups have unequal shares of strata that are too small for group centres of their own."""
    if reveals_strata(spread, groups, units):
        unit = "rows" if units.plots is None else "whole plots"
        raise ValueError(
            f"`design`: groups must have {FEWEST} {unit} or more in each stratum they are in, for centres of their "
            "own, or every group the same share of its units in each stratum. Join small strata, or leave them out."
        )


def groups_of_two_plots(groups: Groups, units: ExchangeableUnits) -> IntArray:
    """Return the groups with exactly two whole plots, which are equally far from their centre."""
    if units.plots is None:
        return np.zeros(0, np.intp)
    return np.flatnonzero(np.bincount(groups.codes[units.first_rows], minlength=groups.k) == FEWEST - 1)


def _refuse_pairs_of_plots(groups: Groups, units: ExchangeableUnits) -> None:
    """Raise ValueError if several groups have exactly two whole plots, which a test of spread cannot use."""
    pairs = groups_of_two_plots(groups, units)
    if pairs.size > 1:
        raise ValueError(
            f"`groups` must not have two whole plots in several groups, as in {groups.names[pairs[0]]!r} and "
            f"{groups.names[pairs[1]]!r}: two plots are equally far from a centre between them, so that their labels "
            "cannot be exchanged. Leave such groups out, or join groups."
        )


# ---------------------------------------------------------------- distances from centres


@dataclass(frozen=True, slots=True, eq=False)
class CenterDistances:
    """Hold distances of points from centres of their groups (or groups within strata), adjusted for estimated centres.

    A cell is a group, or a group in one stratum.

    Attributes
    ----------
    distances : ndarray of shape (n,)
        z; 0 for a point that is its own centre.
    means : ndarray of shape (k,)
        Their weighted means in the groups.
    strata : ndarray of shape (n,)
        Stratum of each point whose cells are its own; 0 where cells are groups.
    inflation : ndarray of shape (s, k)
        For every stratum and group the standard deviation of the mean of z, over that of the mean of independent
        distances: of n points the root of n/(n - 1), of weighted ones with n their effective number.
    weights : ndarray of shape (n,)
        Weights of the points, with the sizes of the groups as sums.
    heavy : ndarray of shape (k,)
        Whether a single point has so much of a group's weight that nothing can be said of it.
    centers : ndarray of shape (n, k)
        Weights of the points in the centres of the groups, for pictures.
    notes : tuple of str
        What was done where rho is not of negative type.
    """

    distances: FloatArray
    means: FloatArray
    strata: IntArray
    inflation: FloatArray
    weights: FloatArray
    heavy: BoolArray
    centers: FloatArray
    notes: tuple[str, ...] = ()

    def among(self, rows: IntArray, chosen: tuple[int, ...]) -> CenterDistances:
        """Select the distances of some points and groups from centres, by row and group numbers; the centres stay."""
        groups = np.array(chosen)
        return CenterDistances(
            self.distances[rows],
            self.means[groups],
            self.strata[rows],
            self.inflation[:, groups],
            self.weights[rows],
            self.heavy[groups],
            self.centers[np.ix_(rows, groups)],
        )


def measure_spread(
    d: Dissimilarity,
    groups: Groups,
    units: ExchangeableUnits,
    weights: FloatArray | None = None,
    *,
    center: str = "median",
) -> CenterDistances:
    """Compute centres of groups, or of groups within strata, and distances of points from them."""
    codes, k = groups.codes, groups.k
    given = np.ones(d.n) if weights is None else weights
    # weights are shares of a point in its group, and do not change how much its group counts
    w = given * (groups.sizes / groups.mass(given))[codes]
    strata = _strata_of_cells(groups, units)
    cells = strata * k + codes
    present, cell = np.unique(cells, return_inverse=True)
    squared, centers = _from_centers(d, cell, present.size, w, center)
    # what rounding alone puts below 0, between points at one place, is no sign of rho
    below = int((squared < -tie_tolerance(float(np.abs(squared).max(initial=0.0)), d.n)).sum())
    shares = w / np.bincount(cell, w)[cell]
    of_cells = np.bincount(cell, shares**2)
    # without weights and plots 1 - 1/n for the pull of a point on its own centre
    alike = 0.0
    if units.plots is not None:
        alike = _measure_plots(d, cell, units.plots)
        of_plots = np.bincount(cell, shares * np.bincount(units.plots.codes, shares)[units.plots.codes])
        of_cells = (1 - alike) * of_cells + alike * of_plots
    pull = 1 - 2 * (1 - alike) * (shares - np.bincount(cell, shares**2)[cell]) - of_cells[cell]
    z = np.sqrt(np.maximum(squared, 0.0) / np.where(pull > ALONE, pull, 1.0))
    inflation = np.ones((int(strata.max()) + 1, k))
    inflation.reshape(-1)[present] = 1 / np.sqrt(np.maximum(1 - of_cells, ALONE))
    heavy = (
        np.array([bool((shares[codes == j] > HEAVY_SHARE).any()) for j in range(k)]) if weights is not None else None
    )
    notes: tuple[str, ...] = ()
    if below:
        notes = (
            f"rho is not of negative type: {below} squared distance{'s' * (below > 1)} from a centre "
            f"{'are' if below > 1 else 'is'} negative and count{'s' * (below == 1)} as 0. `lingoes` and `cailliez` "
            "repair distances, of which none is negative.",
        )
    if present.size > k:  # centres of groups are means of those of their cells
        mass = np.bincount(cell, w) / groups.sizes[present % k]
        centers = centers @ (mass[:, None] * (present[:, None] % k == np.arange(k)))
    means = np.bincount(codes, w * z, minlength=k) / groups.sizes
    return CenterDistances(
        z, means, strata, inflation, w, np.zeros(k, bool) if heavy is None else heavy, centers, notes
    )


def _measure_plots(d: Dissimilarity, cell: IntArray, plots: Groups) -> float:
    """Estimate the between-plot share of the variance within groups, from 0 to 1.

    The mean of rho within plots is twice the variance in them, that between plots of one cell twice the whole.
    """
    M, m = d.group_sums(plots)
    of_plot = cell[np.unique(plots.codes, return_index=True)[1]]
    same_cell = (of_plot[:, None] == of_plot) & ~np.eye(m.size, dtype=bool)
    n_within, n_between = float((m * (m - 1)).sum()), float((same_cell * np.multiply.outer(m, m)).sum())
    between = float((M * same_cell).sum())
    if not (n_within > 0 and n_between > 0 and between > 0):
        return 1.0  # single rows, or nothing to compare plots with
    within = float(np.trace(M)) / n_within
    return float(np.clip(1 - within / (between / n_between), 0.0, 1.0))


def _strata_of_cells(groups: Groups, units: ExchangeableUnits) -> IntArray:
    """Return the stratum of each row if groups have a centre in each stratum, else 0; (n,).

    Of whole plots there must be as many: a centre between two plots is as far from one as from the other, whatever
    they are, so that their labels would not be exchangeable.
    """
    none = np.zeros(groups.codes.size, np.intp)
    if units.strata is None:
        return none
    counts = _count_units(groups, units)
    return units.strata.codes if counts[counts > 0].min() >= FEWEST else none


def _count_units(groups: Groups, units: ExchangeableUnits) -> IntArray:
    """Count the rows or whole plots of every group in every stratum; (s, k)."""
    if units.strata is None:
        return groups.sizes[None, :].astype(np.intp)
    first = units.first_rows
    counts = np.zeros((units.strata.k, groups.k), np.intp)
    np.add.at(counts, (units.strata.codes[first], groups.codes[first]), 1)
    return counts


def reveals_strata(spread: CenterDistances, groups: Groups, units: ExchangeableUnits) -> bool:
    """Return whether distances from group centres reveal strata, of which the groups have unequal shares.

    A centre lies near the strata that its group is mostly in, and labels permuted within strata do not keep it there.
    With equal shares of the strata in every group the centres differ by chance alone.
    """
    if spread.strata.any():
        return False
    counts = _count_units(groups, units)
    return bool(np.ptp(counts / counts.sum(axis=0), axis=1).max() > EQUAL)


def _from_centers(
    d: Dissimilarity, codes: IntArray, k: int, w: FloatArray, center: str
) -> tuple[FloatArray, FloatArray]:
    """Compute squared distances of points from their centres, and weights of points in centres; (n,), (n, k)."""
    means = weights_of_means(w, codes, k)
    if center == "centroid":
        return squared_distances_to(means, codes, d.pairs.multiply), means
    if d.metric.negative_type:
        return _distances_to_medians(w, codes, k, d.pairs.multiply)
    values, vectors = decomposed(d.centred_gram())
    if values[-1] >= -NO_AXIS * values[0]:
        return _distances_to_medians(w, codes, k, d.pairs.multiply)
    # with imaginary axes a sum of distances has no minimum: medians are sought on either kind of axes alone
    real, imaginary = (
        vectors[:, found] * np.sqrt(np.abs(values[found]))
        for found in (values > NO_AXIS * values[0], values < -NO_AXIS * values[0])
    )
    squared, centers = _distances_to_medians(w, codes, k, partial(_multiply_squares, real))
    return squared - _distances_to_medians(w, codes, k, partial(_multiply_squares, imaginary))[0], centers


def _multiply_squares(points: FloatArray, columns: FloatArray) -> FloatArray:
    """Multiply the matrix of squared Euclidean distances by columns without storing it; (n, p), (n, c) -> (n, c)."""
    sizes = np.square(points).sum(axis=1)
    return np.asarray(sizes[:, None] * columns.sum(axis=0) + sizes @ columns - 2 * points @ (points.T @ columns))


def _distances_to_medians(w: FloatArray, codes: IntArray, k: int, multiply: Multiply) -> tuple[FloatArray, FloatArray]:
    """Compute squared distances of points from the spatial medians of their groups, and weights of points in these.

    Warn if the search for a median was cut off.
    """
    centers, ended = weights_of_medians(w, codes, k, multiply)
    if not ended:
        warn(
            "The search for a spatial median was cut off; distances from it may be wrong in the last digits. "
            'center="centroid" needs no search.',
            ConvergenceWarning,
        )
    return squared_distances_to(centers, codes, multiply), centers


# ---------------------------------------------------------------- permutations


class SpreadComparison(NamedTuple):
    """Hold the F statistic of distances from centres, its null values, and the p-value."""

    statistic: float
    pvalue: float
    extreme: int
    null: FloatArray
    exact: bool = False
    floor: float = 0.0  # below which p is not

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note if permuting residuals gave a smaller p than permuting labels could give."""
        if upper_pvalue(self.extreme, self.null.size) >= self.floor:
            return ()
        return (
            f"p is {self.floor:.3g}, the smallest that all labelings of groups of these sizes could give: permuted "
            "residuals gave a smaller one.",
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Compute the 95 % interval of a p-value over seeds; (p, p) if it is exact."""
        if self.exact:
            return self.pvalue, self.pvalue
        low, high = pvalue_interval(self.extreme, self.null.size, 0.95)
        return max(low, self.floor), max(high, self.floor)


def compare_spread(
    spread: CenterDistances,
    groups: Groups,
    units: ExchangeableUnits,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    progress: bool = False,
) -> SpreadComparison | None:
    """Test by permutation whether mean distances from group centres are equal; None if there is nothing to permute.

    Residuals from the means of the groups are permuted where all rows are exchangeable. With a design, under which few
    labelings may be possible, the labels of z are, so that the observed ones are among them. What is moved is brought
    to the variance of its new cell, in proportion to n/(n - 1), as its bias is. Between cells of one size this changes
    nothing. All labelings are visited where a design leaves no more of them than were to be drawn.
    """
    codes, k, n = groups.codes, groups.k, groups.codes.size
    w, z = spread.weights, spread.distances
    own = spread.inflation[spread.strata, codes]
    squares = float(w @ z**2)
    if float(w @ (z - spread.means[codes]) ** 2) <= EQUAL * squares:
        between = float(groups.mass(w) @ (spread.means - float(w @ z) / float(w.sum())) ** 2)
        if between > EQUAL * squares:
            return None
        null = np.zeros(n_resamples)
        return SpreadComparison(0.0, upper_pvalue(n_resamples, n_resamples), n_resamples, null)
    if units.is_free:
        fixed, moved = np.zeros(n), (z - spread.means[codes]) / own
    else:
        fixed = _means_of(z, w, np.zeros(n, np.intp) if units.strata is None else units.strata.codes)
        moved = (z - fixed) / own
    scheme, key = units.scheme(codes), draw_key(rng)
    exact = not units.is_free and 1 < scheme.count() <= n_resamples + 1
    labelings = scheme.distinct() if exact else scheme.random(n_resamples, key)
    total = int(scheme.count()) - 1 if exact else n_resamples
    drawn = with_bar(labelings, progress, total=total, unit="labeling", size=len)
    observed = _shares_between(w, z[None, :], codes[None, :], k)
    shares = np.concatenate([
        _shares_between(w, fixed + moved * spread.inflation[spread.strata, block], block, k) for block in drawn
    ])  # fmt: skip
    tolerance = tie_tolerance(1.0, n)
    extreme = count_extreme(float(observed[0]), shares, tolerance)
    F = f_ratio(np.append(observed, shares), 1.0, n, k, tolerance)
    # the observed arrangement is not among permuted residuals, so that nothing else bounds p of few points
    floor = smallest_exact_pvalue(scheme.count(), scheme.count_mirrors()) if units.is_free else 0.0
    return SpreadComparison(float(F[0]), max(upper_pvalue(extreme, shares.size), floor), extreme, F[1:], exact, floor)


def _means_of(z: FloatArray, w: FloatArray, strata: IntArray) -> FloatArray:
    """Compute for every point the weighted mean of the values in its stratum; (n,)."""
    return np.asarray((np.bincount(strata, w * z) / np.bincount(strata, w))[strata])


def _shares_between(w: FloatArray, z: FloatArray, labelings: IntArray, k: int) -> FloatArray:
    """Compute the between-group share of the sum of squares of values for b labelings; (b, n), (b, n) -> (b,)."""
    members = [(labelings == j) * w for j in range(k)]
    mass = np.stack([Z.sum(axis=1) for Z in members], axis=1)
    sums = np.stack([(Z * z).sum(axis=1) for Z in members], axis=1)
    whole = w.sum()
    grand = sums.sum(axis=1) / whole
    between = (mass * (sums / np.where(mass > 0, mass, 1.0) - grand[:, None]) ** 2).sum(axis=1)
    total = ((z - grand[:, None]) ** 2) @ w
    return np.asarray(np.where(total > 0, between / np.where(total > 0, total, 1.0), 0.0))


# ---------------------------------------------------------------- the result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpreadTestResult(Result):
    """Hold the result of the test of equal spread around the centres of groups.

    Attributes
    ----------
    statistic : float
        F of an analysis of variance of `distances`.
    pvalue : float
        Share of permutations whose F reaches it, the observed one included.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many permutations.
    n_resamples : int
        Random permutations, or all distinct labelings that a design allows, the observed one included.
    exact : bool
        Whether they are all.
    by_stratum : bool
        Whether centres are those of a group in its stratum.
    null_hypothesis : str
        The question that the p-value answers.
    center : {"median", "centroid"}
        What distances were taken from.
    df : tuple of int
        Degrees of freedom of F: k - 1, n - k.
    sizes : tuple of int
        Points per group.
    labels : tuple
        Names of the groups.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    mean_distances : ndarray of shape (k,)
        Mean of `distances` in every group.
    distances : ndarray of shape (n,)
        Distance of each point from its centre in the feature space of rho, times the root of n/(n - 1) of its group.
    codes : ndarray of shape (n,)
        Group of each point, by its place in `labels`.
    coordinates, centers : ndarray of shape (n, 2), (k, 2)
        First two principal coordinates of the points and of the centres, for the picture.
    null_distribution : ndarray of shape (n_resamples,), one less where `exact`
        F of the permutations.
    n_strata, n_plots : int
        Blocks within which, and whole plots whose labels were permuted; 0 for free permutations of residuals.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    notes : tuple of str
        Whether the groups were found from data; squared distances that were negative.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    n_resamples: int
    exact: bool
    by_stratum: bool
    null_hypothesis: str
    center: Literal["median", "centroid"] | str
    df: tuple[int, int]
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    group_name: str = field(default="", repr=False)
    mean_distances: FloatArray = field(repr=False)
    distances: FloatArray = field(repr=False)
    codes: IntArray = field(repr=False)
    coordinates: FloatArray = field(repr=False)
    centers: FloatArray = field(repr=False)
    null_distribution: FloatArray = field(repr=False)
    n_strata: int = field(default=0, repr=False)
    n_plots: int = field(default=0, repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with the name, size and mean distance of each group."""
        import pandas as pd

        return pd.DataFrame({"group": self.labels, "n": self.sizes, "mean_distance": self.mean_distances})

    def _tables(self) -> list[TextTable]:
        rows = [
            [f"F ({self.df[0]}, {self.df[1]} degrees of freedom)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
        ]
        if self.pvalue_interval[0] < self.pvalue_interval[1]:
            rows.append(["95 % interval of p", interval_text(self.pvalue_interval)])
        units = f" of {self.n_plots} whole plots" * bool(self.n_plots) + write_within_strata(self.n_strata)
        rows.append([f"{'distinct labelings' if self.exact else 'random permutations'}{units}", str(self.n_resamples)])
        title = f"Test of equal spread around the {'spatial medians' if self.center == 'median' else 'centroids'}"
        shown = slice(None, ROWS_SHOWN)
        cells = list(zip(map(str, self.sizes[shown]), numbers(self.mean_distances.tolist())[shown], strict=True))
        stubs = cut_all(self.labels[shown], 24)
        more = f", the first {ROWS_SHOWN} of {len(self.sizes)}" if len(self.sizes) > ROWS_SHOWN else ""
        by_group = text_table(cells, ["n", "mean distance"], stubs, f"Groups{more}", self.group_name)
        return [text_table(rows, None, None, title), by_group]

    def _sentences(self) -> list[str]:
        center = "spatial median" if self.center == "median" else "centroid"
        cell = "the group in its stratum" if self.by_stratum else "the group"
        size = "of n points there" if self.by_stratum else "of n points"
        pull = f"times the root of n/(n - 1) {size}, as few points pull their centre"
        if self.n_plots:
            pull = "enlarged as few points pull their centre, rows of a whole plot being one as far as they are alike"
        lines = [
            f"Null hypothesis: {self.null_hypothesis}.",
            f"Distances are those from the {center} of {cell} in the feature space of rho, {pull}.",
            "p is approximate: "
            + ("labels" if self.n_strata or self.n_plots else "residuals")
            + " of distances were permuted.",
        ]
        if self.center == "centroid":
            lines.append(
                "With centroids p is too often small, most for skew distributions and for many small groups; "
                'center="median" is safer.'
            )
        how = [seed_note(self.pvalue, self.n_resamples, "random permutations")]
        if self.exact:
            how = [f"p-value over all {self.n_resamples} distinct labelings: it does not depend on a seed."]
            how += floor_note(self.n_resamples, share_of_largest(self.statistic, self.null_distribution))
        lines += [*how, *self.notes]
        return [*lines, metric_note(self.metric, self.standardization), *undecided(self.pvalue, self.pvalue_interval)]

    def _conclusion(self) -> str:
        which = "the two groups" if len(self.sizes) == 2 else f"{'some' if self.pvalue <= LEVEL else 'any'} groups"
        return state_evidence(self.pvalue, f"that {which} are spread unequally")

    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame of one row, some fields as texts."""
        import pandas as pd

        row = {
            "groups": write_groups(self.labels),
            "sizes": " + ".join(map(str, self.sizes)),
            "mean_distances": ", ".join(numbers(self.mean_distances.tolist())),
            "statistic": self.statistic,
            "df": ", ".join(map(str, self.df)),
            "pvalue": self.pvalue,
            "n_resamples": self.n_resamples,
            "center": self.center,
            "n_strata": self.n_strata,
            "n_plots": self.n_plots,
            "metric": metric_text(self.metric),
            "standardized": self.standardization is not None,
            "null_hypothesis": self.null_hypothesis,
        }
        return pd.DataFrame([row])

    def _main_columns(self) -> tuple[str, ...]:
        return ("groups", "sizes", "mean_distances", "statistic", "df", "pvalue", "n_resamples")

    def _headings(self) -> dict[str, str]:
        return {"sizes": "n", "mean_distances": "mean distances", "statistic": "F", "n_resamples": "permutations"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw this result's points on two principal coordinates, with hulls and centres of groups; return the axes.

        Two coordinates seldom show all distances: a group can be wider than it looks. Large tables have no lines. Of
        one column, or of many groups, `plot_boxes` shows more.
        """
        from energystats.plotting.points import plot_groups

        return plot_groups(
            self.coordinates,
            self.codes,
            ax,
            names=self.labels,
            sizes=self.sizes,
            centers=self.centers,
            title=f"Spread around the {self.center}s: F = {number(self.statistic)}, {p_text(self.pvalue)}",
        )

    def plot_boxes(self, ax: Axes | None = None) -> Axes:
        """Draw the distances from group centres as boxes and points, and return the axes.

        The diamond is the mean of the group; points stand for groups of up to fifty.
        """
        from energystats.plotting.distances import plot_distances_from_centers

        return plot_distances_from_centers(
            [self.distances[self.codes == j] for j in range(len(self.sizes))],
            self.mean_distances,
            ax,
            names=self.labels,
            center="spatial median" if self.center == "median" else "centroid",
            title=f"Spread around the {self.center}s: F = {number(self.statistic)}, {p_text(self.pvalue)}",
        )
