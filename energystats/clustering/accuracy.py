"""Agreement of found clusters with known classes."""

from __future__ import annotations

import numpy as np

from energystats._typing import ArrayLike
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

    See Also
    --------
    sklearn.metrics.adjusted_rand_score : Agreement of pairs, corrected for chance.

    Notes
    -----
    O(n log n) time, and an assignment problem in the number of clusters.

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 22.

    Examples
    --------
    >>> import energystats as es
    >>> es.clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    from scipy.optimize import linear_sum_assignment

    read = read_labels(true, "true"), read_labels(pred, "pred")
    check_same_rows(read, "`true` and `pred`")
    n = np.size(np.asarray(read[0].values, dtype=object))
    classes, class_names = as_labels(read[0], n, "true")
    clusters, cluster_names = as_labels(read[1], n, "pred")
    if n == 0:
        raise ValueError("`true` must not be empty.")
    counts = np.zeros((len(class_names), len(cluster_names)))
    np.add.at(counts, (classes, clusters), 1)
    # points in no cluster are in no right one
    if read[0].found and NOISE in class_names:
        counts[class_names.index(NOISE)] = 0.0
    if read[1].found and NOISE in cluster_names:
        counts[:, cluster_names.index(NOISE)] = 0.0
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / n)
