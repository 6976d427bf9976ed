"""The specification of a test of cluster structure, the same for all methods."""

from __future__ import annotations

from dataclasses import dataclass

from energystats.cluster_tests.clusterers import Clustering, EnergyClusters, UserClusterer

__all__ = ["ClusterTestOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTestOptions:
    """Say how points are tested, checked; the defaults are those of `cluster_test`.

    Attributes
    ----------
    k : int
        Number of clusters that are looked for.
    method : str
        One of `cluster_test`, or "auto".
    null : str
        Distribution of the reference samples of "refit".
    n_splits, n_resamples : int
        Random splits, and draws behind each p-value.
    conservative : bool
        Whether p-values are multiplied by the larger factor.
    power : float
        R = distance**power, for a precomputed matrix.
    user_clusterer : UserClusterer or None
        What clusters the points instead of Hartigan's method.
    n_jobs : int
        Threads over the splits.
    progress : bool
        Whether there is a bar.
    """

    k: int = 2
    method: str = "auto"
    null: str = "unimodal"
    n_splits: int = 5
    n_resamples: int = 199
    conservative: bool = False
    power: float = 1.0
    user_clusterer: UserClusterer | None = None
    n_jobs: int = 1
    progress: bool = False

    @property
    def clustering(self) -> Clustering:
        """The clustering method for data, parts of data and reference samples."""
        return self.user_clusterer or EnergyClusters(self.k)
