"""What the public functions return: frozen objects with plain attributes, a summary, a table and a plot."""

from energystats.results.approximation import Approximation
from energystats.results.base import Result
from energystats.results.clustering import ClusterTestResult, Comparison, Contrast, Partition
from energystats.results.disco import DiscoResult, DiscoRow
from energystats.results.dispersion import Dispersion
from energystats.results.energy_test import EnergyTestResult
from energystats.results.geometry import (
    Euclidization,
    EuclidizationComparison,
    NegativeTypeResult,
    PrincipalCoordinates,
)
from energystats.results.goodness import GoodnessOfFitResult
from energystats.results.graphs import GraphPartition
from energystats.results.pairwise import PairwiseRow, PairwiseTestsResult
from energystats.results.power import PowerResult, PowerRow
from energystats.results.selection import ClusterStabilityResult, SelectKResult, SelectKRow
from energystats.results.spectral import SpectralEmbedding
from energystats.results.tree import ClusterTreeResult, TreeNode

__all__ = [
    "Approximation",
    "ClusterStabilityResult",
    "ClusterTestResult",
    "ClusterTreeResult",
    "Comparison",
    "Contrast",
    "DiscoResult",
    "DiscoRow",
    "Dispersion",
    "EnergyTestResult",
    "Euclidization",
    "EuclidizationComparison",
    "GoodnessOfFitResult",
    "GraphPartition",
    "NegativeTypeResult",
    "PairwiseRow",
    "PairwiseTestsResult",
    "Partition",
    "PowerResult",
    "PowerRow",
    "PrincipalCoordinates",
    "Result",
    "SelectKResult",
    "SelectKRow",
    "SpectralEmbedding",
    "TreeNode",
]
