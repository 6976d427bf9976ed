"""Clusters of all points, in the space that a test names: what a result shows beside its p-value."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.clusterers import NOISE
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.spaces import GIVEN, Kind, whole_space
from energystats.clustering.energy_cluster import AUTO
from energystats.clustering.landmarks import Landmarks
from energystats.clustering.partition import Partition, make_partition
from energystats.clustering.search import Search
from energystats.clustering.seeding import count_distinct
from energystats.dissimilarity import Dissimilarity, Points

__all__ = ["WholeClusters"]


ALL_PAIRS_AT_MOST = 4000  # points; of more, landmarks give the partition


@dataclass(slots=True, eq=False)
class WholeClusters:
    """Cluster all points where they are asked for, once in every space.

    Attributes
    ----------
    d : Dissimilarity
        The points, in the unit of the user.
    options : ClusterTestOptions
        The number of clusters, or what finds them.
    rng : Generator
        Seed, the same in every space.
    coordinates : ndarray of shape (n, p) or None
        Principal coordinates of a matrix, where the test has any.
    """

    d: Dissimilarity
    options: ClusterTestOptions
    rng: np.random.Generator
    coordinates: FloatArray | None = None
    found: dict[Kind, Partition] = field(default_factory=dict)
    by_user: IntArray | None = None

    @property
    def k(self) -> int:
        """Number of clusters among all points."""
        if self.options.user_clusterer is None:
            return self.options.k
        return int(self._labels_by_user().max()) + 1

    def labels(self, kind: Kind) -> IntArray | None:
        """Label all points, -1 for those in no cluster; None where there are fewer distinct points than clusters."""
        if self.options.user_clusterer is not None:
            return self._labels_by_user()
        partition = self.partition(kind)
        return partition.labels if partition is not None and partition.k == self.k else None

    def partition(self, kind: Kind = GIVEN) -> Partition | None:
        """Cluster all points in a space; None where a user's clusterer leaves some in no cluster."""
        if self.options.user_clusterer is not None:
            return self._partition_by_user()
        if kind not in self.found:
            self.found[kind] = self._search(whole_space(self.d, kind, self.coordinates))
        return self.found[kind]

    def _search(self, d: Dissimilarity) -> Partition:
        """Find the partition by all pairs, or by landmarks where there are too many."""
        k, rng = self.options.k, copy.deepcopy(self.rng)
        if isinstance(d, Points):
            # as many clusters as there are distinct points, if these are fewer
            k = min(k, len(np.unique(d.points[: max(d.n, 1)], axis=0))) if d.n <= ALL_PAIRS_AT_MOST else k
            if d.n > ALL_PAIRS_AT_MOST and d.metric.negative_type and d.points.shape[1] > 1:
                return Landmarks().fit(d, Search(k=k), rng)[0]
        else:
            k = count_distinct(d.matrix, k)
        return AUTO.fit(d, Search(k=k), rng)[0]

    def _labels_by_user(self) -> IntArray:
        """Label all points by the user's clusterer."""
        if self.by_user is None:
            assert self.options.user_clusterer is not None
            self.by_user = self.options.user_clusterer.all_labels(self.d, copy.deepcopy(self.rng))
        return self.by_user

    def _partition_by_user(self) -> Partition | None:
        """Make a partition of the user's clusters."""
        assert self.options.user_clusterer is not None
        labels = self._labels_by_user()
        if (labels == NOISE).any():
            return None
        name = self.options.user_clusterer.name
        return make_partition(self.d, labels, self.k, algorithm=name, n_init=0, n_iter=0, converged=True)
