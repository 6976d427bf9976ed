"""A program that uses the package, for type checkers.

`tests/test_stability.py` has it checked by mypy --strict, and `.ci/run` by pyright. It is run as well, so that what
is promised of types is what is returned.
"""

from typing import Any, Literal, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

import energystats as es
from energystats.distribution_tests.results import PermutationTestResult

iris = es.datasets.load("iris")
assert_type(iris, pd.DataFrame)
X, species = iris.drop(columns="species"), iris["species"]
setosa, others = X[species == "setosa"], X[species != "setosa"]

# Distances
assert_type(es.energy_distance(setosa, others), float)
assert_type(es.mmd2(setosa, others), float)
assert_type(es.pairwise(setosa, others), Any)  # a frame for frames, an array for arrays
dispersion = es.dispersion(X, species)
assert_type(dispersion, es.Dispersion)
assert_type(dispersion.within, float)
assert_type(dispersion.sizes, tuple[int, ...])

# Tests of groups
test = es.energy_test(setosa, others, n_resamples=19, rng=0)
assert_type(test, es.EnergyTestResult)
assert_type(test.pvalue, float)
assert_type(test.pvalue_interval, tuple[float, float])
assert_type(test.null_distribution, npt.NDArray[np.float64])
assert_type(test.inhomogeneity, float | None)
assert_type(test.notes, tuple[str, ...])
assert_type(test.summary(), str)
assert_type(test.to_frame(), pd.DataFrame)
if isinstance(test, PermutationTestResult):
    assert_type(test.extrapolated, bool)
design = es.Design(strata=np.arange(len(X)) % 2)
assert_type(es.energy_test(X, groups=species, design=design, n_resamples=19, rng=0).method,
            Literal["permutation", "exact", "asymptotic", "cross", "sliced", "binned"])  # fmt: skip
assert_type(es.energy_interval(setosa, others, n_bootstrap=39, rng=0).low, float)
assert_type(es.pairwise_tests(X, species, n_resamples=19, rng=0).table, pd.DataFrame)
assert_type(es.spread_test(X, species, n_resamples=19, rng=0), es.SpreadTestResult)
assert_type(es.disco("sepal_width ~ species", data=iris, n_resamples=19, rng=0), es.DiscoResult)
assert_type(es.mmd_test(setosa, others, n_resamples=19, rng=0), es.EnergyTestResult)
assert_type(es.normality_test(setosa, n_resamples=19, rng=0), es.GoodnessOfFitResult)
assert_type(es.segment_test(es.datasets.load("nile"), order="year", n_resamples=19, rng=0), es.SegmentTestResult)

# Clusters
found = es.energy_cluster(X, 3, algorithm=es.Hartigan(n_perturb=0), n_init=2, rng=np.random.default_rng(0))
assert_type(found, es.Partition)
assert_type(found.labels, npt.NDArray[np.intp])
assert_type(found.between, float)
assert_type(found.bound, float)
assert_type(found.plot(), Axes)
assert_type(es.clustering_accuracy(species, found.labels), float)
estimator = es.EnergyClustering(3, n_init=1, random_state=0).fit(X)
assert_type(estimator, es.EnergyClustering)
assert_type(estimator.partition_, es.Partition)
assert_type(estimator.within_, float)
assert_type(estimator.predict(X), npt.NDArray[np.intp])
structure = es.cluster_test(X, n_resamples=99, rng=0)
assert_type(structure, es.ClusterTestResult)
assert_type(structure.pvalue, float)
assert_type(es.select_k(X, 3, n_resamples=9, n_init=1, rng=0).k, int)
assert_type(es.energy_hclust(X), npt.NDArray[np.float64])

# Geometry, metrics and options
roads = es.datasets.load("eurodist")
assert_type(es.is_euclidean(roads), bool)
assert_type(es.lingoes(roads), es.Euclidization)
gower: es.metrics.Metric = es.metrics.Gower(alpha=0.5)
options: dict[str, Any] = {"metric": gower, "n_resamples": 19, "rng": 0}
assert_type(es.energy_test(iris, groups=species, **options), es.EnergyTestResult)
assert_type(es.show_versions(), None)
assert_type(es.__version__, str)
