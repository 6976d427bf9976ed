"""Do points lie along one bent band, or on a ring? Then two modes of a projection are no sign of clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial.distance import pdist, squareform

from energystats._core.gram import centred
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.scores import Scorer
from energystats.cluster_tests.unimodality import CALIBRATION_FACTOR, unimodality_test
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity, Points
from energystats.metrics.closed_form import Euclidean

__all__ = ["note_bent_cloud"]


SHAPE_POINTS = 200  # that are examined, and the share of them that neighbours have to connect
CONNECTED = 0.95
NEIGHBOURS = 1.5, 2.1  # times log m; more where samples of a gradient leave a stretch out
FEWEST = 20  # distinct points in which a shape can be seen
# share of variance along one axis of ways along a band, and how far above the points; few species or noise leave less
ON_A_LINE = ((0.82, 0.03), (0.68, 0.1))
HOLLOW, INNERMOST = 0.5, 0.02  # of the median radius of a ring, within which at most such a share of points lies
ROUND = 2.0  # times that radii may differ, without the outer and inner tenth
LARGEST_TURN = 0.6  # radians between points of a ring that are next to each other
IN_ONE_PLANE = 0.8  # of the variance of a ring
DRAWS, GAP_LEVEL = 2999, 0.0025  # for the positions along a band: samples of a gradient are uneven


def note_bent_cloud(d: Dissimilarity, scorer: Scorer) -> tuple[str, ...]:
    """Return a caution if points lie on a bent band or a ring, whose projections have two modes; else an empty tuple.

    Ways along neighbours are compared with straight ones: those of a band lie on a line more nearly than its points
    do, while noise makes them lie on it less nearly in a straight cloud. O(m^3) time for the m = min(n, 200) points at
    fixed places in the table, those that coincide counted once.
    """
    rows = np.unique(np.linspace(0, d.n - 1, SHAPE_POINTS).astype(np.intp))
    found = next(filter(None, map(_note_shape, _squared_among(d, scorer, rows))), ())
    return () if found and _is_parted_by_shares(d, rows) else found


def _squared_among(d: Dissimilarity, scorer: Scorer, rows: IntArray) -> Iterator[FloatArray]:
    """Yield squared distances among points: as tested; then without jitter, of roots of amounts, by the metric; (m, m).

    Jitter is noise across a band: zeros of a species that are spread over a tail hide the gradient. Roots have no unit.
    """
    yield scorer.squared_among(rows)
    if not isinstance(d, Points):
        return
    if scorer.ties:
        yield _squared(d.transformed().points[rows])
        if not d.metric.compares and d.points.min() == 0:
            yield _squared(np.sqrt(d.points[rows]))
    if not d.metric.compares and not isinstance(d.metric, Euclidean):
        yield np.square(d.rho(rows, rows))


def _is_parted_by_shares(d: Dissimilarity, rows: IntArray) -> bool:
    """Return whether rows of amounts, some of them 0, lie in separate clusters where their totals do not count.

    Two communities that were sampled with unlike effort meet near 0, like the arms of an L.
    """
    if not isinstance(d, Points) or d.metric.compares or d.points.min() != 0:
        return False
    amounts = d.points[rows][d.points[rows].any(axis=1)]
    squared = _squared(np.sqrt(amounts / amounts.sum(axis=1, keepdims=True)))
    return len(squared) >= FEWEST and _ways_along_neighbours(np.sqrt(squared)) is None


def _squared(points: FloatArray) -> FloatArray:
    """Compute the squared Euclidean distances between points; (m, d) -> (m, m)."""
    return np.asarray(squareform(pdist(points, "sqeuclidean")))


def _note_shape(squared: FloatArray) -> tuple[str, ...]:
    """Return a caution if squared distances are those of points on a bent band or a ring; (m, m)."""
    distinct = ~np.tril(squared == 0, -1).any(axis=1)
    squared = squared[np.ix_(distinct, distinct)]
    if len(squared) < FEWEST:
        return ()
    sizes, axes = _decomposed_gram(squared)
    straight = sizes / sizes[sizes > 0].sum()
    # first, because a gap between neighbours that is no wider than elsewhere can cut a ring into a band
    if straight[:2].sum() >= IN_ONE_PLANE and _surrounds_a_hole(axes[:, :2] * np.sqrt(np.maximum(sizes[:2], 0.0))):
        return (
            Caution(
                "The points may lie on a ring, and not in separate clusters: rings have projections with two modes.",
                "They surround a hole without a wide gap between neighbours.",
            ),
        )
    ways = _ways_along_neighbours(np.sqrt(np.maximum(squared, 0.0)))
    if ways is None:
        return ()
    along, turned = _decomposed_gram(np.square(ways))
    on_line = along[0] / along[along > 0].sum()
    one_line = any(on_line >= share and on_line >= straight[0] + more for share, more in ON_A_LINE)
    if one_line and _has_no_gap(turned[:, 0]):
        return (
            Caution(
                "The points may lie along one bent band, as of a gradient, and not in separate clusters: most bent "
                "clouds have projections with two modes.",
                f"Ways from neighbour to neighbour have {on_line:.0%} of their variance along one axis, the points "
                f"{straight[0]:.0%}.",
            ),
        )
    return ()


def _decomposed_gram(squared: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute eigenvalues, falling, and unit eigenvectors of the centred Gram matrix of squared distances; (m, m)."""
    with one_thread_up_to(len(squared)):
        values, vectors = np.linalg.eigh(centred(-0.5 * squared))
    return values[::-1], vectors[:, ::-1]


def _surrounds_a_hole(plane: FloatArray) -> bool:
    """Return whether points in a plane surround a hole, at similar distances and without a gap in angle; (m, 2)."""
    radii, turns = np.hypot(*plane.T), np.sort(np.arctan2(*plane.T))
    gaps = np.diff(turns, append=turns[0] + 2 * np.pi)
    after = turns[(gaps.argmax() + 1) % turns.size]
    innermost, low, middle, high = np.quantile(radii, (INNERMOST, 0.1, 0.5, 0.9))
    hollow = innermost >= HOLLOW * middle and high <= ROUND * low
    return bool(hollow and gaps.max() <= LARGEST_TURN and _has_no_gap((turns - after) % (2 * np.pi)))


def _ways_along_neighbours(distances: FloatArray) -> FloatArray | None:
    """Compute shortest path lengths along a nearest-neighbour graph; None unless almost all points are connected.

    Lengths are those between the points of the largest component, .95 of the m or more.
    """
    m = len(distances)
    for times in NEIGHBOURS:
        n_neighbours = min(m - 1, max(5, math.ceil(times * math.log(m))))
        near = np.argpartition(distances, n_neighbours, axis=1)[:, : n_neighbours + 1]
        rows = np.repeat(np.arange(m), n_neighbours + 1)
        graph = csr_array((distances[rows, near.ravel()], (rows, near.ravel())), shape=distances.shape)
        _, parts = connected_components(graph, directed=False)
        kept = np.flatnonzero(parts == np.bincount(parts).argmax())
        if kept.size >= CONNECTED * m:
            return np.asarray(shortest_path(graph[kept][:, kept], directed=False))
    return None


def _has_no_gap(positions: FloatArray) -> bool:
    """Return whether positions along a band or ring are unimodal, so that no separate clusters lie along it; (m,)."""
    rng = np.random.default_rng(0)
    return unimodality_test(positions - positions.mean(), DRAWS, CALIBRATION_FACTOR, rng).pvalue > GAP_LEVEL
