"""The specification of a test of cluster structure, the same for all methods."""

from __future__ import annotations

from dataclasses import dataclass

from energystats.cluster_tests.clusterers import Clustering, EnergyClusters, UserClusterer
from energystats.cluster_tests.reference_tables import Null, TableNull

__all__ = ["ClusterTestOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTestOptions:
    """Hold the checked options of a test of cluster structure; the defaults are those of `cluster_test`."""

    k: int = 2  # number of clusters that are looked for
    method: str = "auto"  # one of `cluster_test`, or "auto"
    null: Null = "unimodal"  # distribution of the reference samples of "refit"
    tables: TableNull | None = None  # what draws whole tables, where `null` is "independent" or a function
    # n_splits, n_resamples: random splits, and draws behind each p-value
    n_splits: int = 5
    n_resamples: int = 199
    conservative: bool = False  # whether p-values are multiplied by the larger factor
    power: float = 1.0  # R = distance**power, for a precomputed matrix
    user_clusterer: UserClusterer | None = None  # what clusters the points instead of Hartigan's method
    n_jobs: int = 1  # threads over the splits
    progress: bool = False  # whether there is a bar
    # whether notes that are no warnings are left out, as at the nodes of a tree, which shows none of them
    warnings_alone: bool = False

    @property
    def clustering(self) -> Clustering:
        """Return the clustering method for parts of the data: a user's clusterer, or energy clustering."""
        return self.user_clusterer or EnergyClusters(self.k)
