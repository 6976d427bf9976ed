"""Clusters of all points, in the space that a test names: what a result shows beside its p-value."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import numpy as np

from energystats._core.statistics import within_per_cluster
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.clusterers import EnergyClusters, label_partition
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.spaces import GIVEN, Kind, clearest_columns, whole_space
from energystats.clustering.energy_cluster import AUTO
from energystats.clustering.exact_1d import has_exact
from energystats.clustering.landmarks import Landmarks
from energystats.clustering.partition import NearestCluster, Partition
from energystats.clustering.search import Search
from energystats.clustering.seeding import count_distinct_points
from energystats.dissimilarity import Dissimilarity, Groups

__all__ = ["WholeClusters"]


ALL_PAIRS_AT_MOST = 4000  # points; of more, landmarks give the partition
STARTS_OF_MANY = 3  # by landmarks, beyond that many


@dataclass(slots=True, eq=False)
class WholeClusters:
    """Find clusters of all points, as given or transformed, when they are needed, and keep them."""

    d: Dissimilarity  # the points, in the unit of the user
    options: ClusterTestOptions  # the number of clusters, or what finds them
    rng: np.random.Generator  # seed, the same in every space
    # (n, p) coordinates in which points are scored, of a matrix its principal ones, where the test has any
    coordinates: FloatArray | None = None
    found: dict[Kind, Partition | None] = field(default_factory=dict)
    by_user: IntArray | None = None

    @property
    def k(self) -> int:
        """Return the number of clusters among all points."""
        if self.options.user_clusterer is None:
            return self.options.k
        return int(self._labels_by_user().max()) + 1

    def labels(self, kind: Kind) -> IntArray | None:
        """Return labels of all points as given, decorrelated or in some columns; None for fewer than k clusters.

        Without a partition of very many points they go to the nearest cluster of a sample.
        """
        partition = self.partition(kind)
        if partition is None:
            return None if self.options.user_clusterer is not None else self._labels_by_sample(kind)
        return partition.labels if partition.k == self.k else None

    def partition(self, kind: Kind = GIVEN) -> Partition | None:
        """Return the partition of all points as given, decorrelated or in some columns; None if there is none."""
        if kind not in self.found:
            self.found[kind] = self._partition_by_user() if self.options.user_clusterer else self._search(kind)
        return self.found[kind]

    def clearest_columns(self) -> list[int]:
        """Return the numbers of the columns whose values are most clearly bimodal."""
        points = self.d.transformed().points if self.coordinates is None else self.coordinates
        return [int(j) for j in clearest_columns(points)]

    def _search(self, kind: Kind) -> Partition | None:
        """Find a partition of all points, by landmarks if many; None for many if rho may not be of negative type."""
        d, rng = whole_space(self.d, kind, self.coordinates), copy.deepcopy(self.rng)
        # as many clusters as there are distinct points, if these are fewer
        search = Search(k=count_distinct_points(d, self.options.k))
        if d.n <= ALL_PAIRS_AT_MOST or d.is_stored or has_exact(d):
            return AUTO.fit(d, search, rng)[0]
        return Landmarks().fit(d, replace(search, n_init=STARTS_OF_MANY), rng)[0] if d.metric.negative_type else None

    def _labels_by_sample(self, kind: Kind) -> IntArray | None:
        """Cluster a random sample, label each point by its nearest cluster; None for fewer than k clusters; (n,)."""
        d, rng = whole_space(self.d, kind, self.coordinates), copy.deepcopy(self.rng)
        drawn = rng.choice(d.n, ALL_PAIRS_AT_MOST, replace=False)
        sample = d.subset(drawn).stored()
        labels = EnergyClusters(self.k).labels(sample, rng)
        if labels is None:
            return None
        M, s = sample.group_sums(Groups(labels, tuple(range(self.k))))
        everything, nearest = np.arange(d.n), NearestCluster.of(labels, within_per_cluster(M, s))
        return nearest.assign(d.n, lambda rows: d.rho(everything[rows], drawn))

    def _partition_by_user(self) -> Partition | None:
        """Return the partition that a user's clusterer finds, or None if all points are in no cluster."""
        assert self.options.user_clusterer is not None
        labels = self._labels_by_user()
        return label_partition(self.d, labels, self.options.user_clusterer.name) if labels.max() >= 0 else None

    def _labels_by_user(self) -> IntArray:
        """Return labels of all points by a user's clusterer, cached so that it runs once; (n,)."""
        if self.by_user is None:
            assert self.options.user_clusterer is not None
            self.by_user = self.options.user_clusterer.all_labels(self.d, copy.deepcopy(self.rng))
        return self.by_user
