"""Energy-distance tests and clustering, with honest significance of the clusters found.

Names are imported on first use, so that ``import energystats`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from energystats._core.locks import loading as _loading

__version__ = "0.1.0.dev0"

if _TYPE_CHECKING:
    from energystats import datasets as datasets
    from energystats import metrics as metrics
    from energystats import report as report
    from energystats.cluster_tests.cluster_test import cluster_test as cluster_test
    from energystats.cluster_tests.cluster_tree import cluster_tree as cluster_tree
    from energystats.cluster_tests.results import ClusterTestResult as ClusterTestResult
    from energystats.cluster_tests.tree_result import ClusterTreeResult as ClusterTreeResult
    from energystats.clustering.accuracy import clustering_accuracy as clustering_accuracy
    from energystats.clustering.compare_euclidizations import compare_euclidizations as compare_euclidizations
    from energystats.clustering.energy_cluster import energy_cluster as energy_cluster
    from energystats.clustering.estimator import EnergyClustering as EnergyClustering
    from energystats.clustering.exact_1d import cluster_1d as cluster_1d
    from energystats.clustering.graph_partition import graph_partition as graph_partition
    from energystats.clustering.graph_result import GraphPartition as GraphPartition
    from energystats.clustering.hierarchy import energy_hclust as energy_hclust
    from energystats.clustering.partition import Partition as Partition
    from energystats.clustering.spectral import SpectralEmbedding as SpectralEmbedding
    from energystats.clustering.spectral import spectral_embedding as spectral_embedding
    from energystats.distribution_tests.designs import Design as Design
    from energystats.distribution_tests.disco import disco as disco
    from energystats.distribution_tests.disco_result import DiscoResult as DiscoResult
    from energystats.distribution_tests.energy_interval import EnergyIntervalResult as EnergyIntervalResult
    from energystats.distribution_tests.energy_interval import energy_interval as energy_interval
    from energystats.distribution_tests.energy_test import energy_test as energy_test
    from energystats.distribution_tests.goodness_of_fit import GoodnessOfFitResult as GoodnessOfFitResult
    from energystats.distribution_tests.goodness_of_fit import goodness_of_fit as goodness_of_fit
    from energystats.distribution_tests.goodness_of_fit import normality_test as normality_test
    from energystats.distribution_tests.mmd import mmd2 as mmd2
    from energystats.distribution_tests.mmd import mmd_test as mmd_test
    from energystats.distribution_tests.pairwise_tests import PairwiseTestsResult as PairwiseTestsResult
    from energystats.distribution_tests.pairwise_tests import pairwise_tests as pairwise_tests
    from energystats.distribution_tests.power import PowerResult as PowerResult
    from energystats.distribution_tests.power import energy_power as energy_power
    from energystats.distribution_tests.results import EnergyTestResult as EnergyTestResult
    from energystats.energy import Dispersion as Dispersion
    from energystats.energy import dispersion as dispersion
    from energystats.energy import energy_distance as energy_distance
    from energystats.energy import pairwise as pairwise
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
    from energystats.geometry.coordinates import kernel_pca as kernel_pca
    from energystats.geometry.coordinates import principal_coordinates as principal_coordinates
    from energystats.geometry.euclidize import cailliez as cailliez
    from energystats.geometry.euclidize import clip_spectrum as clip_spectrum
    from energystats.geometry.euclidize import flip_spectrum as flip_spectrum
    from energystats.geometry.euclidize import lingoes as lingoes
    from energystats.geometry.euclidize import lingoes_kernel as lingoes_kernel
    from energystats.geometry.euclidize import nearest_psd as nearest_psd
    from energystats.geometry.kernels import center_kernel as center_kernel
    from energystats.geometry.kernels import distance_kernel as distance_kernel
    from energystats.geometry.kernels import equivalent_kernels as equivalent_kernels
    from energystats.geometry.kernels import kernel_distance as kernel_distance
    from energystats.geometry.negative_type import is_euclidean as is_euclidean
    from energystats.geometry.negative_type import negative_type as negative_type
    from energystats.geometry.results import Euclidization as Euclidization
    from energystats.geometry.results import EuclidizationComparison as EuclidizationComparison
    from energystats.geometry.results import NegativeTypeResult as NegativeTypeResult
    from energystats.geometry.results import PrincipalCoordinates as PrincipalCoordinates
    from energystats.inputs.methods import Binned as Binned
    from energystats.inputs.methods import Permutation as Permutation
    from energystats.inputs.methods import Sliced as Sliced
    from energystats.plotting.trees import plot_dendrogram as plot_dendrogram
    from energystats.selection.results import ClusterStabilityResult as ClusterStabilityResult
    from energystats.selection.results import SelectKResult as SelectKResult
    from energystats.selection.select_k import select_k as select_k
    from energystats.selection.stability import cluster_stability as cluster_stability

_HOME = {
    "Binned": "inputs.methods",
    "Permutation": "inputs.methods",
    "Sliced": "inputs.methods",
    "ClusterTestResult": "cluster_tests.results",
    "ColumnScaleWarning": "exceptions",
    "ConvergenceWarning": "exceptions",
    "Design": "distribution_tests.designs",
    "DiscoResult": "distribution_tests.disco_result",
    "Dispersion": "energy",
    "DoubleDippingWarning": "exceptions",
    "EnergyClustering": "clustering.estimator",
    "EnergyStatsWarning": "exceptions",
    "EnergyTestResult": "distribution_tests.results",
    "MatrixAsPointsWarning": "exceptions",
    "MissingValuesWarning": "exceptions",
    "NotCalibratedWarning": "exceptions",
    "NotNegativeTypeWarning": "exceptions",
    "PerformanceWarning": "exceptions",
    "Partition": "clustering.partition",
    "TiesWarning": "exceptions",
    "cluster_1d": "clustering.exact_1d",
    "cluster_test": "cluster_tests.cluster_test",
    "clustering_accuracy": "clustering.accuracy",
    "datasets": "",
    "disco": "distribution_tests.disco",
    "dispersion": "energy",
    "energy_cluster": "clustering.energy_cluster",
    "energy_distance": "energy",
    "energy_interval": "distribution_tests.energy_interval",
    "EnergyIntervalResult": "distribution_tests.energy_interval",
    "energy_test": "distribution_tests.energy_test",
    "metrics": "",
    "report": "",
    "mmd_test": "distribution_tests.mmd",
    "mmd2": "distribution_tests.mmd",
    "Euclidization": "geometry.results",
    "EuclidizationComparison": "geometry.results",
    "NegativeTypeResult": "geometry.results",
    "PrincipalCoordinates": "geometry.results",
    "cailliez": "geometry.euclidize",
    "center_kernel": "geometry.kernels",
    "clip_spectrum": "geometry.euclidize",
    "compare_euclidizations": "clustering.compare_euclidizations",
    "distance_kernel": "geometry.kernels",
    "equivalent_kernels": "geometry.kernels",
    "flip_spectrum": "geometry.euclidize",
    "is_euclidean": "geometry.negative_type",
    "kernel_distance": "geometry.kernels",
    "kernel_pca": "geometry.coordinates",
    "lingoes": "geometry.euclidize",
    "lingoes_kernel": "geometry.euclidize",
    "nearest_psd": "geometry.euclidize",
    "negative_type": "geometry.negative_type",
    "principal_coordinates": "geometry.coordinates",
    "DisconnectedGraphWarning": "exceptions",
    "GraphPartition": "clustering.graph_result",
    "SpectralEmbedding": "clustering.spectral",
    "graph_partition": "clustering.graph_partition",
    "spectral_embedding": "clustering.spectral",
    "pairwise": "energy",
    "pairwise_tests": "distribution_tests.pairwise_tests",
    "PairwiseTestsResult": "distribution_tests.pairwise_tests",
    "normality_test": "distribution_tests.goodness_of_fit",
    "goodness_of_fit": "distribution_tests.goodness_of_fit",
    "GoodnessOfFitResult": "distribution_tests.goodness_of_fit",
    "energy_power": "distribution_tests.power",
    "PowerResult": "distribution_tests.power",
    "energy_hclust": "clustering.hierarchy",
    "plot_dendrogram": "plotting.trees",
    "select_k": "selection.select_k",
    "SelectKResult": "selection.results",
    "cluster_stability": "selection.stability",
    "ClusterStabilityResult": "selection.results",
    "cluster_tree": "cluster_tests.cluster_tree",
    "ClusterTreeResult": "cluster_tests.tree_result",
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
