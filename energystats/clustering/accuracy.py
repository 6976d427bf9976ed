"""Agreement of found clusters with known classes."""

from __future__ import annotations

import numpy as np

from energystats._runtime import Work, check_memory
from energystats._typing import ArrayLike, IntArray
from energystats.inputs.labels import NOISE, as_labels, read_labels
from energystats.inputs.table import check_same_rows

__all__ = ["clustering_accuracy"]


def clustering_accuracy(true: ArrayLike, pred: ArrayLike) -> float:
    r"""Compute the share of points in the cluster of their known class, under the best one-to-one matching of names.

    Parameters
    ----------
    true, pred : array_like of shape (n,)
        Known classes and found clusters, labels of any kind; their numbers may differ, and then some class or
        cluster stays unmatched. Points of a result or a fitted clusterer that are in no cluster (label -1) are not
        right; in an array -1 is a label like any other.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If `true` is empty, the lengths differ, a label is missing, or both are Series with rows in different orders.
    MemoryError
        If that table of classes and clusters would not fit into the available memory.

    See Also
    --------
    sklearn.metrics.adjusted_rand_score : Agreement of pairs, corrected for chance.

    Notes
    -----
    O(n log n) time, and an assignment problem, O(m^3) time and O(m^2) memory, for each set of m classes and clusters
    that share points.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 22.

    Examples
    --------
    >>> import energystats as es
    >>> es.clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    read = read_labels(true, "true"), read_labels(pred, "pred")
    check_same_rows(read, "`true` and `pred`")
    n = np.size(np.asarray(read[0].values, dtype=object))
    classes, class_names = as_labels(read[0], n, "true")
    clusters, cluster_names = as_labels(read[1], n, "pred")
    if n == 0:
        raise ValueError("`true` must not be empty.")
    counted = np.ones(n, dtype=bool)  # points in no cluster are in no right one
    for labels, codes, names in ((read[0], classes, class_names), (read[1], clusters, cluster_names)):
        if labels.found and NOISE in names:
            counted &= codes != names.index(NOISE)
    return _count_matched(classes[counted], clusters[counted]) / n


def _count_matched(classes: IntArray, clusters: IntArray) -> float:
    """Count the points in the cluster of their class, under the matching of classes and clusters with most of them.

    Classes and clusters that share no points, directly or through others, are matched apart; O(m^3) time for m of them.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not classes.size:
        return 0.0
    first = int(classes.max()) + 1
    size = first + int(clusters.max()) + 1
    links = coo_array((np.ones(classes.size), (classes, first + clusters)), shape=(size, size)).tocsr()
    _, parts = connected_components(links, directed=False)
    order = np.argsort(parts[classes], kind="stable")
    ends = np.flatnonzero(np.diff(parts[classes][order], append=-1)) + 1
    matched = 0.0
    for rows in np.split(order, ends[:-1]):
        _, ours = np.unique(classes[rows], return_inverse=True)
        _, theirs = np.unique(clusters[rows], return_inverse=True)
        shape = (int(ours.max()) + 1, int(theirs.max()) + 1)
        cells = float(shape[0]) * shape[1]
        check_memory(Work(what=f"a table of {shape[0]} classes and {shape[1]} clusters", advice="", bytes=16 * cells))
        counts = np.zeros(shape)
        np.add.at(counts, (ours, theirs), 1)
        matched += float(counts[linear_sum_assignment(counts, maximize=True)].sum())
    return matched
