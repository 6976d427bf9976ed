"""Place the vertices of a graph in the plane: spectral coordinates, evened out by springs."""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["place_vertices"]


def place_vertices(matrix: Any) -> FloatArray:
    """Compute plane coordinates for drawing a graph, each connected component on its own, side by side; (n, 2)."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(matrix, directed=False)
    place = np.zeros((matrix.shape[0], 2))
    sizes = np.bincount(component, minlength=count)
    left = 0.0
    for c in np.argsort(-sizes, kind="stable"):
        inside = np.flatnonzero(component == c)
        width = np.sqrt(sizes[c] / sizes.max())
        place[inside] = width * _place_component(matrix[inside][:, inside]) + [left + width, 0.0]
        left += 2 * width + 0.3
    return place


def _place_component(matrix: Any) -> FloatArray:
    """Compute coordinates to draw a connected graph in a square of side 2: spectral, improved by springs; (n, 2)."""
    n = matrix.shape[0]
    dense = np.abs(matrix.toarray())
    np.fill_diagonal(dense, 0.0)
    if n <= 2:
        return np.column_stack([np.linspace(-1, 1, n) * (n > 1), np.zeros(n)])
    root = np.sqrt(np.maximum(dense.sum(axis=1), np.finfo(float).tiny))
    with one_thread_up_to(n):
        _, vectors = np.linalg.eigh(dense / np.outer(root, root))
    place = vectors[:, -2:-4:-1] / root[:, None]
    # ranks spread the vertices evenly, where eigenvectors of a graph crowd most of them at one place
    place = np.argsort(np.argsort(place, axis=0), axis=0) / (n - 1)
    return _relax_springs(place, (dense > 0).astype(float))


def _relax_springs(place: FloatArray, linked: FloatArray, steps: int = 60) -> FloatArray:
    """Return vertex coordinates improved by a spring layout [Fruchterman & Reingold 1991], in a square of side 2."""
    n = len(place)
    best = 1 / np.sqrt(n)
    for step in range(steps):
        apart = place[:, None, :] - place[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 0.01 * best)
        push = best**2 / distance**2 - linked * distance / best
        move = np.einsum("ij,ijc->ic", push, apart)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        place = place + move / length * np.minimum(length, 0.1 * (1 - step / steps))
    place = place - 0.5 * (place.max(axis=0) + place.min(axis=0))
    return np.asarray(place / max(float(np.abs(place).max()), 1e-12))
