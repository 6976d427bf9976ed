"""The plain permutation test, for labels that were known in advance."""

from __future__ import annotations

from typing import Any

import numpy as np

from energystats.dissimilarity import Dissimilarity, Groups
from energystats.exceptions import DoubleDippingWarning, warn
from energystats.relabeling import Sampling, one_versus_rest, relabeling_test
from energystats.results import ClusterTestResult, ClusterTreeResult, Partition
from energystats.significance.contrasts import contrast_rows

__all__ = ["labels_test"]

EXCHANGEABILITY = "the {k} labelled groups come from one distribution"


def labels_test(d: Dissimilarity, labels: Any, *, n_resamples: int, rng: np.random.Generator) -> ClusterTestResult:
    """Plain permutation test of S for labels known in advance, with one-versus-rest contrasts."""
    assumption = "Assumed: the labels were known before the data were seen."
    found = labels.labels if isinstance(labels, Partition | ClusterTreeResult) else getattr(labels, "labels_", None)
    if found is None and hasattr(labels, "fit_predict"):
        raise TypeError(
            f"`labels` must be one label a row, got {type(labels).__name__} that is not fitted; to cluster with "
            "it pass it as `clusterer`."
        )
    if found is not None:
        assumption = (
            "The labels were found from data: if from these, they separate them by construction and the p-value "
            "means nothing; call cluster_test(X, k) without `labels`."
        )
        warn(assumption, DoubleDippingWarning)
        labels = found
    groups = Groups.from_labels(labels, d.n, name="labels").at_least_two("labels")
    sampling = Sampling(n_resamples=n_resamples)
    result = relabeling_test(d, groups, sampling=sampling, rng=rng.spawn(1)[0])
    rows = contrast_rows(["all groups"], [result.statistic], [result.pvalue])
    if groups.k > 2:
        each = one_versus_rest(d, groups, sampling=sampling, rng=rng)
        names = [f"{name} vs rest" for name in groups.names]
        rows = contrast_rows(names, [r.statistic for r in each], [r.pvalue for r in each])
    return ClusterTestResult(
        statistic=result.statistic,
        pvalue=result.pvalue,
        method="labels",
        null_hypothesis=EXCHANGEABILITY.format(k=groups.k),
        k=groups.k,
        n_resamples=result.n_resamples,
        n_splits=0,
        n_clustered=0,
        conservative=False,
        jittered=False,
        pvalues=np.array([[result.pvalue]]),
        scores=np.empty(0),
        null_distribution=result.null_distribution,
        rows=rows,
        remarks=(assumption,),
    )
