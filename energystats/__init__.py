"""Energy-distance tests and clustering, with honest significance of the clusters found.

Names are imported on first use, so that ``import energystats`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from energystats._loading import loading as _loading

__version__ = "0.1.0.dev0"

if _TYPE_CHECKING:
    from energystats import datasets as datasets
    from energystats import metrics as metrics
    from energystats import report as report
    from energystats.clustering.accuracy import clustering_accuracy as clustering_accuracy
    from energystats.clustering.estimator import EnergyClustering as EnergyClustering
    from energystats.clustering.exact_1d import cluster_1d as cluster_1d
    from energystats.clustering.graphs import graph_partition as graph_partition
    from energystats.clustering.hierarchy import energy_hclust as energy_hclust
    from energystats.clustering.search import energy_cluster as energy_cluster
    from energystats.clustering.spectral import spectral_embedding as spectral_embedding
    from energystats.comparison import compare_euclidizations as compare_euclidizations
    from energystats.decomposition import disco as disco
    from energystats.dispersions import dispersion as dispersion
    from energystats.distance import energy_distance as energy_distance
    from energystats.distance import pairwise as pairwise
    from energystats.exceptions import ColumnScaleWarning as ColumnScaleWarning
    from energystats.exceptions import ConvergenceWarning as ConvergenceWarning
    from energystats.exceptions import DisconnectedGraphWarning as DisconnectedGraphWarning
    from energystats.exceptions import DoubleDippingWarning as DoubleDippingWarning
    from energystats.exceptions import EnergyStatsWarning as EnergyStatsWarning
    from energystats.exceptions import MatrixAsPointsWarning as MatrixAsPointsWarning
    from energystats.exceptions import MissingValuesWarning as MissingValuesWarning
    from energystats.exceptions import NotCalibratedWarning as NotCalibratedWarning
    from energystats.exceptions import NotNegativeTypeWarning as NotNegativeTypeWarning
    from energystats.exceptions import PerformanceWarning as PerformanceWarning
    from energystats.exceptions import TiesWarning as TiesWarning
    from energystats.geometry.checks import is_euclidean as is_euclidean
    from energystats.geometry.checks import negative_type as negative_type
    from energystats.geometry.coordinates import kernel_pca as kernel_pca
    from energystats.geometry.coordinates import principal_coordinates as principal_coordinates
    from energystats.geometry.corrections import cailliez as cailliez
    from energystats.geometry.corrections import clip_spectrum as clip_spectrum
    from energystats.geometry.corrections import flip_spectrum as flip_spectrum
    from energystats.geometry.corrections import lingoes as lingoes
    from energystats.geometry.corrections import lingoes_kernel as lingoes_kernel
    from energystats.geometry.corrections import nearest_psd as nearest_psd
    from energystats.geometry.kernels import center_kernel as center_kernel
    from energystats.geometry.kernels import distance_kernel as distance_kernel
    from energystats.geometry.kernels import equivalent_kernels as equivalent_kernels
    from energystats.geometry.kernels import kernel_distance as kernel_distance
    from energystats.goodness import goodness_of_fit as goodness_of_fit
    from energystats.goodness import normality_test as normality_test
    from energystats.homogeneity import energy_test as energy_test
    from energystats.mmd import mmd2 as mmd2
    from energystats.mmd import mmd_test as mmd_test
    from energystats.plotting import plot_dendrogram as plot_dendrogram
    from energystats.posthoc import pairwise_tests as pairwise_tests
    from energystats.power import energy_power as energy_power
    from energystats.results import ClusterStabilityResult as ClusterStabilityResult
    from energystats.results import ClusterTestResult as ClusterTestResult
    from energystats.results import ClusterTreeResult as ClusterTreeResult
    from energystats.results import DiscoResult as DiscoResult
    from energystats.results import Dispersion as Dispersion
    from energystats.results import EnergyTestResult as EnergyTestResult
    from energystats.results import Euclidization as Euclidization
    from energystats.results import EuclidizationComparison as EuclidizationComparison
    from energystats.results import GoodnessOfFitResult as GoodnessOfFitResult
    from energystats.results import GraphPartition as GraphPartition
    from energystats.results import NegativeTypeResult as NegativeTypeResult
    from energystats.results import PairwiseTestsResult as PairwiseTestsResult
    from energystats.results import Partition as Partition
    from energystats.results import PowerResult as PowerResult
    from energystats.results import PrincipalCoordinates as PrincipalCoordinates
    from energystats.results import SelectKResult as SelectKResult
    from energystats.results import SpectralEmbedding as SpectralEmbedding
    from energystats.selection.select_k import select_k as select_k
    from energystats.selection.stability import cluster_stability as cluster_stability
    from energystats.significance.cluster_test import cluster_test as cluster_test
    from energystats.significance.tree import cluster_tree as cluster_tree

_HOME = {
    "ClusterTestResult": "results",
    "ColumnScaleWarning": "exceptions",
    "ConvergenceWarning": "exceptions",
    "DiscoResult": "results",
    "Dispersion": "results",
    "DoubleDippingWarning": "exceptions",
    "EnergyClustering": "clustering.estimator",
    "EnergyStatsWarning": "exceptions",
    "EnergyTestResult": "results",
    "MatrixAsPointsWarning": "exceptions",
    "MissingValuesWarning": "exceptions",
    "NotCalibratedWarning": "exceptions",
    "NotNegativeTypeWarning": "exceptions",
    "PerformanceWarning": "exceptions",
    "Partition": "results",
    "TiesWarning": "exceptions",
    "cluster_1d": "clustering.exact_1d",
    "cluster_test": "significance.cluster_test",
    "clustering_accuracy": "clustering.accuracy",
    "datasets": "",
    "disco": "decomposition",
    "dispersion": "dispersions",
    "energy_cluster": "clustering.search",
    "energy_distance": "distance",
    "energy_test": "homogeneity",
    "metrics": "",
    "report": "",
    "mmd_test": "mmd",
    "mmd2": "mmd",
    "Euclidization": "results",
    "EuclidizationComparison": "results",
    "NegativeTypeResult": "results",
    "PrincipalCoordinates": "results",
    "cailliez": "geometry.corrections",
    "center_kernel": "geometry.kernels",
    "clip_spectrum": "geometry.corrections",
    "compare_euclidizations": "comparison",
    "distance_kernel": "geometry.kernels",
    "equivalent_kernels": "geometry.kernels",
    "flip_spectrum": "geometry.corrections",
    "is_euclidean": "geometry.checks",
    "kernel_distance": "geometry.kernels",
    "kernel_pca": "geometry.coordinates",
    "lingoes": "geometry.corrections",
    "lingoes_kernel": "geometry.corrections",
    "nearest_psd": "geometry.corrections",
    "negative_type": "geometry.checks",
    "principal_coordinates": "geometry.coordinates",
    "DisconnectedGraphWarning": "exceptions",
    "GraphPartition": "results",
    "SpectralEmbedding": "results",
    "graph_partition": "clustering.graphs",
    "spectral_embedding": "clustering.spectral",
    "pairwise": "distance",
    "pairwise_tests": "posthoc",
    "PairwiseTestsResult": "results",
    "normality_test": "goodness",
    "goodness_of_fit": "goodness",
    "GoodnessOfFitResult": "results",
    "energy_power": "power",
    "PowerResult": "results",
    "energy_hclust": "clustering.hierarchy",
    "plot_dendrogram": "plotting",
    "select_k": "selection.select_k",
    "SelectKResult": "results",
    "cluster_stability": "selection.stability",
    "ClusterStabilityResult": "results",
    "cluster_tree": "significance.tree",
    "ClusterTreeResult": "results",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'energystats' has no attribute {name!r}")
    home = _HOME[name]
    with _loading():  # the estimator's module imports scikit-learn
        found = getattr(_import_module(f"energystats.{home}"), name) if home else _import_module(f"energystats.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
