"""The specification of a test of cluster structure, the same for all methods."""

from __future__ import annotations

from dataclasses import dataclass

from energystats.cluster_tests.clusterers import Clustering, EnergyClusters, UserClusterer
from energystats.cluster_tests.reference_tables import Null, TableNull

__all__ = ["ClusterTestOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTestOptions:
    """Hold the checked options of a test of cluster structure; the defaults are those of `cluster_test`.

    Attributes
    ----------
    k : int
        Number of clusters that are looked for.
    method : str
        One of `cluster_test`, or "auto".
    null : str or callable
        Distribution of the reference samples of "refit".
    tables : TableNull or None
        What draws whole tables, where `null` is "independent" or a function.
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
    warnings_alone : bool
        Whether notes that are no warnings are left out, as at the nodes of a tree, which shows none of them.
    """

    k: int = 2
    method: str = "auto"
    null: Null = "unimodal"
    tables: TableNull | None = None
    n_splits: int = 5
    n_resamples: int = 199
    conservative: bool = False
    power: float = 1.0
    user_clusterer: UserClusterer | None = None
    n_jobs: int = 1
    progress: bool = False
    warnings_alone: bool = False

    @property
    def clustering(self) -> Clustering:
        """Return the clustering method for parts of the data: a user's clusterer, or energy clustering."""
        return self.user_clusterer or EnergyClusters(self.k)
