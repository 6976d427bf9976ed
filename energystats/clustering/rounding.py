"""From the relaxed solution back to clusters: k-means of its rows [W 17 and the text after it]."""

from __future__ import annotations

import numpy as np

from energystats._core.threads import one_thread
from energystats._loading import loading
from energystats._typing import FloatArray, IntArray
from energystats.exceptions import ignoring

__all__ = ["cluster_rows", "fill_empty", "on_sphere"]


def on_sphere(rows: FloatArray) -> FloatArray:
    """Rows of length 1; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def cluster_rows(
    rows: FloatArray,
    k: int,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    n_init: int = 1,
    max_iter: int = 300,
) -> IntArray:
    """Labels of scikit-learn's (weighted) k-means, no cluster empty.

    In one thread, so that no digit depends on their number, and because the threads of OpenMP are lost in a process
    that is forked after their first use, which then would wait for them for ever. And one call at a time: k-means sets
    the number of threads of all linear algebra in the process, and two calls that overlap would restore a wrong one;
    inside the block it finds and restores one thread.
    """
    with loading():
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

    model = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=int(rng.integers(2**31)))
    with (
        one_thread(wait=True),
        threadpool_limits(1, "openmp"),
        ignoring(ConvergenceWarning),
    ):  # fewer distinct rows than clusters: mended below
        model.fit(rows, sample_weight=weights)
    return fill_empty(model.labels_.astype(np.intp), k, ((rows - model.cluster_centers_[model.labels_]) ** 2).sum(1))


def fill_empty(labels: IntArray, k: int, misplaced: FloatArray) -> IntArray:
    """Every empty cluster takes the worst placed point of the largest cluster."""
    labels = labels.copy()
    sizes = np.bincount(labels, minlength=k)
    for l in np.flatnonzero(sizes == 0):
        inside = np.flatnonzero(labels == sizes.argmax())
        labels[inside[misplaced[inside].argmax()]] = l
        sizes = np.bincount(labels, minlength=k)
    return labels
