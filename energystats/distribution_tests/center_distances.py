"""Measure distances of points from the centres of their groups, by rho alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from energystats._core.gram import decomposed
from energystats._core.pvalues import (
    tie_tolerance,
)
from energystats._core.spatial_median import (
    Multiply,
    squared_distances_to,
    weights_of_means,
    weights_of_medians,
)
from energystats._typing import BoolArray, FloatArray, IntArray
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import (
    ExchangeableUnits,
)
from energystats.exceptions import ConvergenceWarning, warn

__all__ = ["EQUAL", "FEWEST", "CenterDistances", "measure_spread", "reveals_strata"]


FEWEST = 3  # points of a group: two are equally far from their centre, whatever they are
HEAVY_SHARE = 1 / 3  # of a group's weight on one point, above which its distance stands for the group
ALONE = 1e-9  # of a group's weight: a point that leaves no more to others is its own centre
NO_AXIS = 1e-10  # of the largest eigenvalue, below which one is no axis
EQUAL = 1e-12  # of the sum of squares of the distances: what varies less does not vary


@dataclass(frozen=True, slots=True, eq=False)
class CenterDistances:
    """Hold distances of points from centres of their groups (or groups within strata), adjusted for estimated centres.

    A cell is a group, or a group in one stratum.
    """

    distances: FloatArray  # (n,) z; 0 for a point that is its own centre
    means: FloatArray  # (k,) their weighted means in the groups
    strata: IntArray  # (n,) stratum of each point whose cells are its own; 0 where cells are groups
    # (s, k) for every stratum and group the standard deviation of the mean of z, over that of the mean of independent
    # distances: of n points the root of n/(n - 1), of weighted ones with n their effective number
    inflation: FloatArray
    weights: FloatArray  # (n,) weights of the points, with the sizes of the groups as sums
    heavy: BoolArray  # (k,) whether a single point has so much of a group's weight that nothing can be said of it
    centers: FloatArray  # (n, k) weights of the points in the centres of the groups, for pictures
    notes: tuple[str, ...] = ()  # what was done where rho is not of negative type

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
    heavy = np.array([weights is not None and bool((shares[codes == j] > HEAVY_SHARE).any()) for j in range(k)])
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
    return CenterDistances(z, means, strata, inflation, w, heavy, centers, notes)


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
