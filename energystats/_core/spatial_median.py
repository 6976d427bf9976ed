"""Spatial medians of groups in the feature space of rho, and squared distances from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from energystats._typing import BoolArray, FloatArray, IntArray

__all__ = ["squared_distances_to", "weights_of_means", "weights_of_medians"]


STEP = 1e-11  # of the mean distance from the median: a shorter step of the search is its end
PASSES = 5000  # at most; a median at a point where others lie almost opposite to each other needs hundreds
OFF_LINE = 1e-9  # of the squared distance between its ends: what a point on a line may be off
EVEN = 1e-12  # of half of the weight: two sums that differ by less are halves
AT_POINT = 1e-12  # of the mean distance: a point so near to the median is taken to be so far from it

Multiply = Callable[[FloatArray], FloatArray]  # columns times R, (n, c) -> (n, c)


def squared_distances_to(centers: FloatArray, codes: IntArray, multiply: Multiply) -> FloatArray:
    """Compute the squared distance of every point from the centre of its group; (n, k), (n,) -> (n,).

    A centre is a mean of points with weights that sum to 1, a column of `centers`: |x - m|^2 is the weighted mean of
    rho(x, .) less half of the weighted mean of rho, as rho = |x - y|^2 in the feature space [theory 2].
    """
    return _distances_and_products(centers, codes, multiply(centers))


def _distances_and_products(centers: FloatArray, codes: IntArray, products: FloatArray) -> FloatArray:
    """Compute the squared distances from centres, given `products` R A of their weights A."""
    half = np.einsum("ij,ij->j", centers, products) / 2
    return np.asarray(products[np.arange(codes.size), codes] - half[codes])


def weights_of_means(w: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Give every point its share of the weight of its group: the centroids; (n, k)."""
    shares = np.zeros((codes.size, k))
    shares[np.arange(codes.size), codes] = w
    return np.asarray(shares / shares.sum(axis=0))


def weights_of_medians(w: FloatArray, codes: IntArray, k: int, multiply: Multiply) -> tuple[FloatArray, bool]:
    """Find the weights of points whose mean is the spatial median of their group, and whether the search ended; (n, k).

    Weiszfeld's rule, from the centroids: every point weighs w over its distance from the last centre. It needs no
    coordinates, only products with R. The sum of w times distance falls in every step. Where the points of a group lie
    on one line, the middle of all medians is taken, of two points their midpoint.
    """
    here = np.arange(codes.size)
    along, on_line = _positions_on_lines(codes, k, multiply)
    centers = weights_of_means(w, codes, k)
    for j in np.flatnonzero(on_line):
        inside = codes == j
        centers[inside, j] = _median_on_line(along[inside], w[inside])
    mass = np.bincount(codes, w, minlength=k)
    products = multiply(centers)
    for _ in range(PASSES):
        distances = np.sqrt(np.maximum(_distances_and_products(centers, codes, products), 0.0))
        mean = np.bincount(codes, w * distances, minlength=k) / mass
        unit = np.where(mean > 0, mean, 1.0)[codes]  # all points of a group at one place are their centre
        moved = np.zeros_like(centers)
        moved[here, codes] = w / np.maximum(distances / unit, AT_POINT)
        moved /= moved.sum(axis=0)
        moved[:, on_line] = centers[:, on_line]
        products, last = multiply(moved), products
        # |m' - m|^2 = -1/2 (a' - a)'R(a' - a), as the weights of a centre sum to 1
        squared_step = -np.einsum("ij,ij->j", moved - centers, products - last) / 2
        centers = moved
        if (squared_step <= (STEP * mean) ** 2).all():
            return centers, True
    return centers, False


def _positions_on_lines(codes: IntArray, k: int, multiply: Multiply) -> tuple[FloatArray, BoolArray]:
    """Find positions on the line from a point of a group to the farthest from it, (n,), and which groups are lines."""
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
    """Give the weights of points whose mean is their weighted median, the middle where there are several; (n,)."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(w[order])
    half = below[-1] / 2
    low, high = np.searchsorted(below, half * (1 - EVEN)), np.searchsorted(below, half * (1 + EVEN), side="right")
    found = np.zeros(x.size)
    np.add.at(found, order[[low, min(high, x.size - 1)]], 0.5)
    return found
