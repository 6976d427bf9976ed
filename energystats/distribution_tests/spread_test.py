"""Permutation test of equal spread of groups around their centres, by the distances of points from these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from energystats._core.labelings import draw_key
from energystats._core.pvalues import (
    count_extreme,
    pvalue_interval,
    smallest_exact_pvalue,
    tie_tolerance,
    upper_pvalue,
)
from energystats._core.samples import share_of_mode
from energystats._core.statistics import f_ratio
from energystats._runtime import check_work, with_bar
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.display.sentences import (
    Caution,
)
from energystats.dissimilarity import Dissimilarity, Groups, Points
from energystats.distribution_tests.center_distances import (
    EQUAL,
    FEWEST,
    CenterDistances,
    measure_spread,
    reveals_strata,
)
from energystats.distribution_tests.designs import (
    GROUPS_NAMED,
    Design,
    ExchangeableUnits,
    check_design,
    exchangeable_units,
)
from energystats.distribution_tests.found_groups import notes_on_groups, warn_if_found
from energystats.distribution_tests.spread_result import SpreadTestResult
from energystats.inputs.labels import read_inputs
from energystats.inputs.options import as_generator, check_count, check_flag, check_option
from energystats.metrics.base import MetricLike
from energystats.pairs.workloads import Size, eigenpairs, permuted_spread, spectrum, spread_medians

__all__ = ["compare_spread", "groups_of_two_plots", "note_few_points", "spread_test"]


CENTERS = ("median", "centroid")
FEW = 8  # points of a group, below which p can be too often small
FEW_BESIDE_MANY, TIMES_AS_MANY = 15, 3  # points of the smallest group, and how many times those the largest has
MANY_TIMES = 6  # however many points the smallest has
FEWEST_OF_RARE, MOSTLY_ONE = 6, 0.7  # points of a group, and the share of rows that are equal


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
    progress = check_work(progress, d, *works)
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
        low, high = pvalue_interval(self.extreme, self.null.size)
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
    exact = not units.is_free and 1 < scheme.count() <= n_resamples
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
