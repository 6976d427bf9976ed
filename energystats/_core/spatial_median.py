"""Compute spatial medians of groups in the feature space of rho, and squared distances from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = ["Multiply", "squared_distances_to", "weights_of_means", "weights_of_medians"]


STEP = 1e-11  # of the mean distance from the median: a shorter step of the search is its end
PASSES = 5000  # at most; hundreds are rare, as steps that shrink slowly are lengthened
LENGTHEN_EVERY = 4  # passes: steps settle down between two that are lengthened
SLOW = 0.9  # of its length or more that a step has in the next one: below, rounding would be made longer, too
LONGEST = 1e6  # times its length that a step is made
AT_PLACE = 1e-14  # of the sum of squared distances from a point: what rounding leaves at its place
NEAR = 1e-3  # of the mean distance from a centre: a point so near to it may be the median
OFF_LINE = 1e-9  # of the squared distance between its ends: what a point on a line may be off
EVEN = 1e-12  # of half of the weight: two sums that differ by less are halves
AT_POINT = 1e-12  # of the mean distance: a point so near to the median is taken to be so far from it

Multiply = Callable[[FloatArray], FloatArray]  # columns times R, (n, c) -> (n, c)


def squared_distances_to(centers: FloatArray, codes: IntArray, multiply: Multiply) -> FloatArray:
    """Compute squared distances of points from the weighted means of their groups; (n, k), (n,) -> (n,).

    A centre is a mean of points with weights that sum to 1, a column of `centers`: |x - m|^2 is the weighted mean of
    rho(x, .) less half of the weighted mean of rho, as rho = |x - y|^2 in the feature space [theory 2].
    """
    return _distances_and_products(centers, codes, multiply(centers))


def _distances_and_products(centers: FloatArray, codes: IntArray, products: FloatArray) -> FloatArray:
    """Compute squared distances of points from group centres, given weights and dissimilarities times these; (n,).

    Each centre is a weighted mean, whose weights are a column; dissimilarities are a matrix that multiplies it.
    """
    half = np.einsum("ij,ij->j", centers, products) / 2
    return np.asarray(products[np.arange(codes.size), codes] - half[codes])


def weights_of_means(w: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Compute the weight of each point in the centroid of its group; weights sum to 1 per group; (n,) -> (n, k)."""
    shares = np.zeros((codes.size, k))
    shares[np.arange(codes.size), codes] = w
    return np.asarray(shares / shares.sum(axis=0))


def weights_of_medians(w: FloatArray, codes: IntArray, k: int, multiply: Multiply) -> tuple[FloatArray, bool]:
    """Find weights of points whose mean is the spatial median of their group, and whether the search converged; (n, k).

    Weiszfeld's rule, from the centroids: every point weighs w over its distance from the last centre. It needs no
    coordinates, only products with R. The sum of w times distance falls in every step. A median close to a point is
    approached in steps of which each is almost as long as the one before: their sum is tried in place of them, and
    kept where the distances are shorter. A point that weighs more than the others pull is the median itself. Where the
    points of a group lie on one line, the middle of all medians is taken, of two points their midpoint.
    """
    here = np.arange(codes.size)
    along, found = _positions_on_lines(codes, k, multiply)
    centers, tried = weights_of_means(w, codes, k), np.full(k, -1)
    for j in np.flatnonzero(found):
        inside = codes == j
        centers[inside, j] = _median_on_line(along[inside], w[inside])
    mass = np.bincount(codes, w, minlength=k)
    products, last_length = multiply(centers), np.zeros(k)
    for i in range(PASSES):
        distances = _root_distances(centers, codes, products)
        mean = np.bincount(codes, w * distances, minlength=k) / mass
        may_lengthen = i % LENGTHEN_EVERY == LENGTHEN_EVERY - 1
        nearest = _first_of_groups(distances, codes)
        near = ~found & (distances[nearest] <= NEAR * mean) & (nearest != tried)
        if may_lengthen and near.any():
            here_is_one = near & _is_median(nearest, w, codes, multiply)
            centers[:, here_is_one] = here[:, None] == nearest[here_is_one]
            products, tried, found = multiply(centers), np.where(near, nearest, tried), found | here_is_one
        step = _weiszfeld_step(centers, codes, w, distances / np.where(mean > 0, mean, 1.0)[codes])
        step[:, found] = 0.0
        change = multiply(step)
        # |m' - m|^2 = -1/2 (a' - a)'R(a' - a), as the weights of a centre sum to 1
        length = np.sqrt(np.maximum(-np.einsum("ij,ij->j", step, change) / 2, 0.0))
        times = np.ones(k)
        if may_lengthen:
            times = _sum_of_series(length, last_length)
            longer = _sums_of_distances(centers + times * step, codes, products + times * change, w)
            times[longer >= _sums_of_distances(centers + step, codes, products + change, w)] = 1.0
        centers, products, last_length = centers + times * step, products + times * change, length
        if (length <= STEP * mean).all():
            return centers, True
    return centers, False


def _weiszfeld_step(centers: FloatArray, codes: IntArray, w: FloatArray, distances: FloatArray) -> FloatArray:
    """Compute the change of the points' weights in one step of Weiszfeld's algorithm for spatial medians; (n, k)."""
    moved = np.zeros_like(centers)
    moved[np.arange(codes.size), codes] = w / np.maximum(distances, AT_POINT)
    return np.asarray(moved / moved.sum(axis=0) - centers)


def _sum_of_series(length: FloatArray, last_length: FloatArray) -> FloatArray:
    """Compute the factor by which to lengthen steps that shrink slowly, the sum of a geometric series; (k,)."""
    slow = (length < last_length) & (length >= SLOW * last_length)
    ratio = np.divide(length, last_length, out=np.zeros(length.size), where=slow)
    return np.minimum(1 / (1 - ratio), LONGEST)


def _root_distances(centers: FloatArray, codes: IntArray, products: FloatArray) -> FloatArray:
    """Compute distances of points from group centres, given weights and the dissimilarity matrix times these; (n,)."""
    return np.sqrt(np.maximum(_distances_and_products(centers, codes, products), 0.0))


def _sums_of_distances(centers: FloatArray, codes: IntArray, products: FloatArray, w: FloatArray) -> FloatArray:
    """Compute the weighted sum of distances from the centre of each group, which the spatial median minimises; (k,)."""
    return np.asarray(np.bincount(codes, w * _root_distances(centers, codes, products), minlength=centers.shape[1]))


def _first_of_groups(values: FloatArray, codes: IntArray) -> IntArray:
    """Find the index of the smallest value in each group; (n,) -> (k,)."""
    order = np.lexsort((values, codes))
    return order[np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))]


def _is_median(points: IntArray, w: FloatArray, codes: IntArray, multiply: Multiply) -> BoolArray:
    """Return whether a given point of each group is the group's spatial median; (k,).

    The pull is the sum of w (x - p)/|x - p|: half of -b'Rb is its squared length, where b has these weights and sum 0.
    """
    k, here = points.size, np.arange(codes.size)
    at_points = (here[:, None] == points).astype(np.float64)
    squared = np.maximum(multiply(at_points)[here, codes], 0.0)  # beyond negative type it may be below 0
    beside = squared > AT_PLACE * np.bincount(codes, squared, minlength=k)[codes]
    b = np.zeros_like(at_points)
    b[here, codes] = np.divide(w, np.sqrt(squared), out=np.zeros(codes.size), where=beside)
    b -= at_points * b.sum(axis=0)
    pull = np.sqrt(np.maximum(-np.einsum("ij,ij->j", b, multiply(b)) / 2, 0.0))
    return np.asarray(pull <= np.bincount(codes, np.where(beside, 0.0, w), minlength=k))


def _positions_on_lines(codes: IntArray, k: int, multiply: Multiply) -> tuple[FloatArray, BoolArray]:
    """Compute positions of points along a line through their group, (n,), and whether the group lies on it, (k,)."""
    here = np.arange(codes.size)
    first = np.array([np.flatnonzero(codes == j)[0] for j in range(k)])
    start = np.zeros((codes.size, k))
    start[first, np.arange(k)] = 1.0
    from_first = multiply(start)[here, codes]
    farthest = np.array([rows[from_first[rows].argmax()] for rows in (np.flatnonzero(codes == j) for j in range(k))])
    start[:] = 0.0
    start[farthest, np.arange(k)] = 1.0
    from_last = multiply(start)[here, codes]
    squared = from_first[farthest]
    length = np.sqrt(np.maximum(squared, 0.0))
    along = (from_first + squared[codes] - from_last) / (2 * np.where(length > 0, length, 1.0)[codes])
    beside = np.abs(from_first - along**2) <= OFF_LINE * squared[codes]
    return along, np.array([bool(beside[codes == j].all()) for j in range(k)])


def _median_on_line(x: FloatArray, w: FloatArray) -> FloatArray:
    """Compute weights of points whose mean is the weighted median of x, the midpoint if it is not unique; (n,)."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(w[order])
    half = below[-1] / 2
    low, high = np.searchsorted(below, half * (1 - EVEN)), np.searchsorted(below, half * (1 + EVEN), side="right")
    found = np.zeros(x.size)
    np.add.at(found, order[[low, min(high, x.size - 1)]], 0.5)
    return found
