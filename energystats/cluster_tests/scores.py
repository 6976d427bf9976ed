"""Positions of points along lines, from coordinates or from squared distances alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from energystats._core.gram import centred, factor_coordinates, some_eigenvalues
from energystats._core.hidden_columns import find_tied_direction, orthogonal_to, snapped
from energystats._core.jitter import SAME, Reach, Rounding, find_reach, has_ties, jitter_places, jitter_ties
from energystats._core.kept_results import keeping_results
from energystats._core.ratios import find_ratios
from energystats._core.row_counts import RowCounts, find_row_counts
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.data_notes import ColumnTies, unit_of_column, values_of_column
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity, Points
from energystats.exceptions import NotCalibratedWarning, TiesWarning, warn
from energystats.geometry.negative_type import examine_spectrum
from energystats.metrics.closed_form import Euclidean

__all__ = [
    "CoordinateScorer",
    "Scorer",
    "jitter_columns",
    "jittered_anew",
    "make_scorer",
    "rounding_of_column",
    "rules_of_column",
    "wants_jitters",
    "without_isolated",
]


EUCLIDEAN_TOLERANCE = 1e-8  # a share of the scale: roots and powers of given numbers cost digits
RANK_TOLERANCE = 1e-10  # of the largest squared distance: what is left of a point outside a space is rounding
CURVE_TOLERANCE = 0.02  # of the length of the line: given distances are rounded
STEEPEST = 20.0  # power of a distance that is tried
CLEARLY_BENT = 1.02  # the smallest such power that bends a space
POWER_TOLERANCE = 1e-9
POINTS_OF_SPACE = 50  # that are looked at
VANISHING = 1e-5  # of the largest eigenvalue
ROW_COUNTS = (
    "The rows are counts times a factor each, such as shares, counts per million or centred logarithms: the counts "
    "were jittered, as the steps between them count as modes."
)
INNER_SHARE = 0.9  # of the rows, whose distance from the middle is a width
FAR_OUT = 4.0  # widths from the middle
ISOLATED = 2.0  # widths from the third nearest row
UNITS_SOUGHT = 20  # columns at most, in which numbers rounded in two units are looked for: more hide their steps
SINGLE, FINE = 2.0**-22, 1e-3  # relative rounding of single precision; of the deviation, where it is no step
THIRD_NEAREST = 3  # 0 is the row itself
DIMENSIONS_AT_MOST = 0.2  # of the number of points; beyond it no direction could be whitened


class Scorer(Protocol):
    """Compute positions of all points along the line through the means of two sets of points.

    Attributes
    ----------
    points : ndarray of shape (n, d) or None
        Coordinates; None where only distances are known.
    ties : tuple of ColumnTies
        Columns whose ties were jittered.
    notes : tuple of str
        What the summary has to add.
    without_tails : Scorer or None
        The same with piles at the ends of columns left where they are, if they were spread over tails.
    """

    @property
    def points(self) -> FloatArray | None: ...

    @property
    def ties(self) -> tuple[ColumnTies, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def without_tails(self) -> Scorer | None: ...

    def along(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Compute positions of all points on the line from the mean of rows `outside` to that of `inside`; (n,)."""

    def squared_among(self, rows: IntArray) -> FloatArray:
        """Compute squared Euclidean distances among the points of some rows; (m,) -> (m, m)."""


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateScorer:
    """Compute positions of points along lines from coordinates, which are centred and have jittered ties."""

    points: FloatArray
    ties: tuple[ColumnTies, ...] = ()
    notes: tuple[str, ...] = ()
    without_tails: Scorer | None = None

    def along(self, inside: IntArray, outside: IntArray) -> FloatArray:
        direction = self.points[inside].mean(axis=0) - self.points[outside].mean(axis=0)
        return np.asarray(self.points @ direction)

    def squared_among(self, rows: IntArray) -> FloatArray:
        return np.asarray(squareform(pdist(self.points[rows], "sqeuclidean")))


@dataclass(frozen=True, slots=True, eq=False)
class _DistanceScorer:
    """Compute positions of points along lines from squared Euclidean distances alone.

    mean |b - a|**2 over `outside` minus that over `inside` is 2 b.(mean inside - mean outside) + constant, so that
    it is the linear score without coordinates [theory 5].
    """

    squared: FloatArray
    notes: tuple[str, ...]
    ties: tuple[ColumnTies, ...] = ()
    points: None = None
    without_tails: None = None

    def along(self, inside: IntArray, outside: IntArray) -> FloatArray:
        # mean |b - a|^2 over `outside` less that over `inside` is linear in b: |b|^2 cancels
        weights = np.zeros(len(self.squared))
        weights[outside] = 1 / outside.size
        weights[inside] = -1 / inside.size
        return np.asarray(self.squared @ weights)

    def squared_among(self, rows: IntArray) -> FloatArray:
        return np.asarray(self.squared[np.ix_(rows, rows)])


def make_scorer(d: Dissimilarity, power: float, rng: np.random.Generator) -> Scorer:
    """Build a `Scorer`, which projects points, from coordinates or from a matrix of distances."""
    if d.coordinates is None:
        return _scorer_of_matrix(d, power, rng)
    spread, ties, notes = jitter_columns(d, rng)
    found = CoordinateScorer(_centred_columns(spread.points), ties, notes)
    if not any(column.cut_off for column in ties):
        return found
    # tails are drawn for each column on its own: where all rows are at an end of one column or another they part them
    left = jitter_columns(d, rng.spawn(1)[0], spread_limits=False)[0].points
    return replace(found, without_tails=CoordinateScorer(_centred_columns(left)))


def _centred_columns(points: FloatArray) -> FloatArray:
    """Subtract the median of every column of points; (n, d) -> (n, d).

    With means a row far away would take digits of the others.
    """
    return np.asarray(points - np.median(points, axis=0))


def wants_jitters(scorer: Scorer, d: Dissimilarity) -> bool:
    """Return whether every split jitters ties anew: for wide steps, and values moved into a tail or to a first grid.

    So that p does not hang on one jitter. Columns behind a matrix keep theirs.
    """
    return d.coordinates is not None and any(
        column.coarse or column.cut_off or column.rounded_before for column in scorer.ties
    )


def jittered_anew(scorer: Scorer, d: Dissimilarity, rng: np.random.Generator) -> Scorer:
    """Return a scorer with new jitter of ties where one jitter may decide the result, else the given one."""
    return make_scorer(d, 1.0, rng.spawn(1)[0]) if wants_jitters(scorer, d) else scorer


def without_isolated(scorer: Scorer, rows: IntArray) -> IntArray:
    """Return rows without isolated outliers, those far from all others; (n,) -> (m,).

    Such a row is more than four times as far from the middle as nine tenths of the rows, and more than twice as far
    from its third nearest row. A cluster far away, of four points or more, stays.
    """
    points = scorer.points
    if points is None:
        distances = np.sqrt(scorer.squared_among(rows))
        radius = np.median(distances, axis=1)
    else:
        radius = np.linalg.norm(points[rows] - np.median(points[rows], axis=0), axis=1)
    width = float(np.quantile(radius, INNER_SHARE))
    far = np.flatnonzero(radius > FAR_OUT * width)
    if not far.size:
        return rows
    near = distances[far] if points is None else cdist(points[rows[far]], points[rows])
    third = np.partition(near, THIRD_NEAREST, axis=1)[:, THIRD_NEAREST]
    return np.asarray(np.delete(rows, far[third > ISOLATED * width]))


def jitter_columns(
    d: Dissimilarity, rng: np.random.Generator, *, spread_limits: bool = True
) -> tuple[Dissimilarity, tuple[ColumnTies, ...], tuple[str, ...]]:
    """Jitter tied values of points column by column; return points, ties and notes on rows of counts.

    Counts that were divided by a factor of their row are tied but for that factor, and move as far as tied ones. Under
    a metric that compares transformed rows these are returned, with amounts jittered before.
    """
    assert isinstance(d, Points)
    if d.metric.compares:
        return _jitter_transformed(d, rng, spread_limits=spread_limits)
    points, ties = d.points.copy(), []
    rows, few = _row_counts(d), d.points.shape[1] <= UNITS_SOUGHT
    for j, column in enumerate(d.points.T if rows is None else rows.values.T):
        rounding, reach = rules_of_column(d, j) if rows is None else (None, rows.reach)
        spread = jitter_ties(column, rng, reach, spread_limits=spread_limits, rounding=rounding, seek_units=few)
        if spread is None:
            continue
        name = d.columns[j] if d.columns else f"column {j}"
        if rows is None:
            points[:, j] = spread.values
            ties.append(ColumnTies.of(spread, name, d.n, ratios=reach is not find_reach, **unit_of_column(d, j)))
        else:
            points[:, j] += (spread.values - column) / unit_of_column(d, j)["unit"]
            ties.append(ColumnTies.of(spread, name, d.n))
    return replace(d, points=points), tuple(ties), () if rows is None else (ROW_COUNTS,)


def _jitter_transformed(
    d: Points, rng: np.random.Generator, *, spread_limits: bool
) -> tuple[Dissimilarity, tuple[ColumnTies, ...], tuple[str, ...]]:
    """Jitter ties, apply the metric's transformation to rows, and return the transformed rows, with ties and notes.

    The steps of counts are modes of shares, too, but no ties there. Amounts stay such: what would fall below 0 is as
    far above.
    """
    amounts, ties, notes = jitter_columns(replace(d, metric=Euclidean()), rng, spread_limits=False)
    moved = np.abs(amounts.points) if (d.points >= 0).all() else amounts.points
    rows = replace(d, points=moved).transformed()
    # where an amount was moved, so was the total of its row
    return (rows, ties, notes) if ties else jitter_columns(rows, rng, spread_limits=spread_limits)


def rounding_of_column(d: Dissimilarity, j: int) -> Rounding:
    """Return how values of a column were rounded when recorded: to double or single precision."""
    assert isinstance(d, Points)
    to_user = unit_of_column(d, j)
    unit, offset = to_user["unit"], to_user.get("center", 0.0) / to_user["unit"]
    values = (d.points[:, j] + offset) * unit
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    # whole numbers are exact in either
    is_single = bool((np.abs(values - single) <= SAME * np.abs(values)).all() and (values != np.rint(values)).any())
    fine = SINGLE * float(np.abs(values).max()) < FINE * float(values.std())
    return Rounding(offset, SINGLE if is_single and fine else SAME, unit)


def rules_of_column(d: Dissimilarity, j: int) -> tuple[Rounding, Reach]:
    """Return how values of a column were rounded, and how far its ties are jittered: to neighbours, or as ratios."""
    assert isinstance(d, Points)
    rounding = rounding_of_column(d, j)
    if not has_ties(d.points[:, j], rounding):
        return rounding, find_reach  # which nobody will ask
    to_user = unit_of_column(d, j)
    unit, center = to_user["unit"], to_user.get("center", 0.0)
    ratios = _find_ratios(values_of_column(d, j))
    if ratios is None:
        return rounding, find_reach

    def reach(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, right = ratios.reach(values * unit + center)
        return left / unit, right / unit

    return rounding, reach


_find_ratios = keeping_results(find_ratios)  # every split jitters the columns again


def _row_counts(d: Points) -> RowCounts | None:
    """Find the counts of rows that are counts times a factor of each row; None if the rows are no such multiples."""
    given = np.ldexp(d.points, d.exponent)
    return find_row_counts(given if d.standardization is None else d.standardization.undo(given))


def _scorer_of_matrix(d: Dissimilarity, power: float, rng: np.random.Generator) -> Scorer:
    """Build a `Scorer` of a matrix of distances, from coordinates that reproduce it if few suffice, else from it."""
    # R = |x - y|^power, so this is |x - y|^2
    squared = np.maximum(d.matrix, 0.0) ** (2 / power)
    form = "distances" if power == 1 else f"distances to the power {power:g}"
    assumed = f"Assumed: the matrix holds Euclidean {form}; linear means linear in that space."
    tolerance = EUCLIDEAN_TOLERANCE if d.rounding is None else d.rounding
    notes: tuple[str, ...] = (
        _warned_if_not_euclidean(squared, power, tolerance) or _warned_if_curved(squared, power, tolerance) or assumed,
    )
    # with coordinates columns can be decorrelated; without them there are scores, and nothing else
    points = None
    if not _loses_neighbours(squared):
        points = factor_coordinates(squared, int(DIMENSIONS_AT_MOST * d.n), RANK_TOLERANCE)
    if points is None:
        return _DistanceScorer(squared, notes)
    points, ties = _jitter_hidden_columns(points - points.mean(axis=0), d, rng)
    if len(ties) < points.shape[1] and (twins := jitter_places(points, squared, rng)):
        notes, points = (*notes, _warned_of_twins(twins.count, d.n)), twins.points
        ties = (*ties, ColumnTies("the points", "", False, False, ()))
    return CoordinateScorer(points - points.mean(axis=0), ties, notes)


def _loses_neighbours(squared: FloatArray) -> bool:
    """Return whether coordinates of a matrix would lose small distances to rounding, as beside an outlier; (n, n)."""
    apart = np.where(squared > 0, squared, np.inf).min(axis=1)
    return bool(np.median(apart) < RANK_TOLERANCE * squared.max())


def _jitter_hidden_columns(
    points: FloatArray, d: Dissimilarity, rng: np.random.Generator
) -> tuple[FloatArray, tuple[ColumnTies, ...]]:
    """Jitter ties of points behind a matrix along directions in which they share positions; return points and ties."""
    ties: list[ColumnTies] = []
    rest = np.eye(points.shape[1])  # directions that were not looked at, in columns
    while rest.shape[1] and (direction := find_tied_direction(points @ rest, rng)) is not None:
        along = rest @ direction
        values = snapped(points @ along, float(np.abs(points).max()))
        if (spread := jitter_ties(values, rng)) is not None:
            points = points + np.multiply.outer(spread.values - values, along)
            ties.append(ColumnTies.of(spread, f"hidden column {len(ties)}", d.n, unit=2.0**d.exponent))
        # the others are orthogonal to it
        rest = rest @ orthogonal_to(direction)
    return points, tuple(ties)


def _warned_of_twins(count: int, n: int) -> str:
    """Warn, once per process, that many points have distance 0 to others; return the text."""
    text = Caution(
        f"{count} of {n} points have distance 0 to another one, so all were jittered: p is approximate.",
        "Counts and rounded values lie on a grid whose lines count as modes. Each point was moved by normal numbers "
        "with half the distance to its near places as standard deviation. If a table is behind the matrix, test that; "
        "of copied rows test each once.",
    )
    warn(text, TiesWarning, once=True)
    return text


def _warned_if_curved(squared: FloatArray, power: float, tolerance: float) -> str:
    """Warn if distances are powers below 1 of low-dimensional distances; return the text, or an empty one."""
    exponent, of = _power_of_line(np.sqrt(squared)), "abs(x - y)**{} of a single column x, a bent line"
    if exponent is None:
        exponent, dimensions = _power_of_space(squared, tolerance)
        of = f"the power {{}} of Euclidean distances in {dimensions} dimensions, a bent space"
    if exponent is None:
        return ""
    own = f"{power * exponent:.3g}"
    text = Caution(
        f"The matrix R behaves as {of.format(own)}: give alpha={own}, or what is behind it.",
        "Curves have projections with two modes, whether there are clusters or not.",
    )
    warn(text, NotCalibratedWarning)
    return text


def _power_of_space(squared: FloatArray, tolerance: float) -> tuple[float | None, int]:
    """Find b < 1 such that all distances are |x_i - x_j|**b in few dimensions, and their number; None for b if not.

    `squared` are their squares, (n, n). |x - y|**(b g) is Euclidean up to g = 1/b, where as many eigenvalues vanish at
    once as there are more points than dimensions; of other distances one reaches 0 first [Schoenberg 1938].
    """
    radius = np.median(squared, axis=1)
    near = np.flatnonzero(radius <= FAR_OUT**2 * np.quantile(radius, INNER_SHARE))  # beside others no distance counts
    rows = near[np.linspace(0, near.size - 1, min(near.size, POINTS_OF_SPACE)).astype(np.intp)]
    some = squared[np.ix_(rows, rows)]
    some = some / (float(some.max()) or 1.0)

    def eigenvalues(g: float) -> FloatArray:
        return some_eigenvalues(-0.5 * centred(some**g), 0, rows.size - 1)

    def is_euclidean(g: float) -> bool:
        values = eigenvalues(g)
        return bool(values[0] >= -tolerance * values[-1])

    low, high = 1.0, STEEPEST
    if is_euclidean(high) or not is_euclidean(CLEARLY_BENT):
        return None, 0
    while high - low > POWER_TOLERANCE:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_euclidean(middle) else (low, middle)
    values = eigenvalues(low)
    dimensions = int(np.count_nonzero(values > max(VANISHING, 20 * tolerance) * values[-1]))
    return (1 / low if 2 * dimensions < rows.size else None), dimensions


def _power_of_line(distances: FloatArray) -> float | None:
    """Find b < 1 such that all distances are |x_i - x_j|**b for numbers x_i; None if not; (n, n)."""
    start = int(distances[0].argmax())
    end = int(distances[start].argmax())
    length = float(distances[start, end])
    if not length > 0:
        return None
    # halfway along the line u**(1/b) + v**(1/b) = 1
    from_start, from_end = distances[start] / length, distances[end] / length
    middle = int(np.minimum(from_start, from_end).argmax())
    u, v = float(from_start[middle]), float(from_end[middle])
    if u + v <= 1 + CURVE_TOLERANCE or u**STEEPEST + v**STEEPEST > 1:
        return None
    from scipy.optimize import brentq

    inverse = brentq(lambda g: u**g + v**g - 1, 1.0, STEEPEST)
    places = from_start**inverse
    worst = np.abs((distances / length) ** inverse - np.abs(np.subtract.outer(places, places))).max()
    return 1 / inverse if worst <= CURVE_TOLERANCE else None


def _warned_if_not_euclidean(squared: FloatArray, power: float, tolerance: float) -> str:
    """Warn if distances are not Euclidean, and return the text; else return an empty string."""
    found = examine_spectrum(squared, tolerance)
    if found.holds:
        return ""
    root = "R, the matrix given," if power == 1 else f"R**(1/{power:g}), of the matrix R given,"
    text = Caution(
        f"{root} is not a Euclidean distance (eigenvalues from {found.lowest:.3g} to {found.highest:.3g}): p is "
        "approximate.",
        "On Manhattan distances of uniform data this test rejected up to .26 at level .05. Pass coordinates if there "
        "are any, or say with `alpha` which power of a Euclidean distance R is.",
    )
    warn(text, NotCalibratedWarning)
    return text
