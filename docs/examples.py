"""Examples of public names whose docstrings have none: results, warnings and data.

The site shows them on the page of the name, and tests/test_docs.py runs them.
"""

SETUP = """
>>> import numpy as np, energystats as es
>>> iris = es.datasets.load("iris")
>>> X, species = iris.drop(columns="species"), iris["species"]
"""

WARNED = """
>>> import warnings
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     _ = {call}
>>> caught[0].category.__name__
'{name}'
"""

RESULTS = {
    "ClusterStabilityResult": """
>>> result = es.cluster_stability(X, 3, n_resamples=20, n_init=2, rng=0)
>>> result.jaccard.shape, bool(result.jaccard.min() > 0.5)
((3,), True)
""",
    "ClusterTestResult": """
>>> result = es.cluster_test(X["petal_length"] + np.linspace(0, 0.1, 150), rng=0)
>>> result.method, result.pvalue < 0.05
('unimodal-1d', True)
""",
    "ClusterTreeResult": """
>>> rng = np.random.default_rng(0)
>>> two = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8])
>>> result = es.cluster_tree(two, rng=0)
>>> result.k, sorted(np.bincount(result.labels).tolist())
(2, [60, 60])
""",
    "ClusterValidationResult": """
>>> flowers = X + np.random.default_rng(0).uniform(-0.05, 0.05, X.shape)
>>> result = es.validate_clusters(flowers, 2, outside=species, rng=0)
>>> result.supported, bool(result.to_frame()["pvalue"].iloc[-1] <= 0.01)
((True, True), True)
""",
    "DiscoResult": """
>>> result = es.disco("sepal_width ~ species", data=iris, n_resamples=99, rng=0)
>>> list(result.table.index), result.pvalue
(['species', 'Residual', 'Total'], 0.01)
""",
    "Dispersion": """
>>> result = es.dispersion(X, species)
>>> bool(np.isclose(result.within + result.between, result.total)), result.sizes
(True, (50, 50, 50))
""",
    "EnergyTestResult": """
>>> result = es.energy_test(X, groups=species, rng=0)
>>> result.pvalue, round(result.effect_size, 3)
(0.001, 0.629)
""",
    "Euclidization": """
>>> road = es.datasets.load("eurodist")
>>> result = es.lingoes(road)
>>> result.method, es.is_euclidean(result.distances)
('lingoes', True)
""",
    "EnergyIntervalResult": """
>>> result = es.energy_interval(X[species == "versicolor"], X[species == "virginica"], n_bootstrap=99, rng=0)
>>> result.low < result.unbiased < result.high
True
""",
    "EuclidizationComparison": """
>>> result = es.compare_euclidizations(es.datasets.load("eurodist"), 3, rng=0)
>>> list(result.table.index)
['none', 'lingoes', 'cailliez', 'clip', 'flip']
""",
    "GoodnessOfFitResult": """
>>> result = es.normality_test(X[species == "setosa"], n_resamples=99, rng=0)
>>> result.n_resamples, result.pvalue < 0.2
(99, True)
""",
    "GraphPartition": """
>>> A = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
>>> A[3, 4] = A[4, 3] = 1
>>> result = es.graph_partition(A, 2, rng=0)
>>> result.sizes, round(result.value, 3)
((4, 4), 0.5)
""",
    "NegativeTypeResult": """
>>> result = es.negative_type(es.datasets.load("eurodist") ** 2)
>>> result.holds, bool(abs(result.witness.sum()) < 1e-9)
(False, True)
""",
    "PairwiseTestsResult": """
>>> result = es.pairwise_tests(X, species, n_resamples=99, rng=0)
>>> result.table["pvalue_adjusted"].tolist()
[0.03, 0.03, 0.03]
""",
    "SpreadTestResult": """
>>> result = es.spread_test(X, species, n_resamples=99, rng=0)
>>> result.df, result.pvalue
((2, 147), 0.01)
""",
    "Segmentation": """
>>> result = es.segment(es.datasets.load("nile"), 2, order="year")
>>> result.sizes, result.breaks
((28, 72), (1899,))
""",
    "SegmentTestResult": """
>>> result = es.segment_test(es.datasets.load("coal"), order="year", rng=0)
>>> result.pvalue, result.breaks
(0.005, (1892,))
""",
    "Partition": """
>>> result = es.energy_cluster(X, 3, rng=0)
>>> result.sizes, round(result.within, 3), bool(result.between <= result.bound)
((62, 50, 38), 67.529, True)
""",
    "PowerResult": """
>>> result = es.energy_power([0.0, 1.0, 2.0, 3.0], [7.0, 8.0, 9.0, 9.5], [4, 6], n_replicates=20, rng=0)
>>> result.to_frame()["power"].tolist()[-1]
1.0
""",
    "PrincipalCoordinates": """
>>> result = es.principal_coordinates(es.datasets.load("eurodist"), "lingoes")
>>> result.coordinates.shape[0], result.correction
(21, 'lingoes')
""",
    "SelectKResult": """
>>> result = es.select_k(X, 4, "eigengap", rng=0)
>>> result.k, len(result.table)
(2, 4)
""",
    "SpectralEmbedding": """
>>> result = es.spectral_embedding(X, 2)
>>> result.embedding.shape, bool(result.eigenvalues[0] >= result.eigenvalues[1])
((150, 2), True)
""",
}

WARNINGS = {
    "ColumnScaleWarning": "es.energy_test(X * [1, 1, 1, 1e4], groups=species, n_resamples=19, rng=0)",
    "ConvergenceWarning": (
        'es.energy_cluster(X, 4, algorithm=es.Hartigan(n_perturb=0), init="random", n_init=1, max_iter=1, rng=0)'
    ),
    "DisconnectedGraphWarning": "es.graph_partition(np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8), 2, rng=0)",
    "DoubleDippingWarning": "es.energy_test(X, groups=es.energy_cluster(X, 2, rng=0), n_resamples=19, rng=0)",
    "MatrixAsPointsWarning": "es.energy_cluster(es.pairwise(X), 3, rng=0)",
    "MissingValuesWarning": (
        'es.disco("sepal_width ~ species", data=iris.replace(2.3, np.nan), missing="drop", n_resamples=19, rng=0)'
    ),
    "NotCalibratedWarning": 'es.energy_test([1.0, 2, 3, 4], [2.0, 3, 4, 5], method="cross", rng=0)',
    "NotNegativeTypeWarning": "es.energy_test([0.0, 1, 9], [2.0, 3, 4], metric=es.metrics.Sine(1.0))",
    "TiesWarning": "es.cluster_test(np.round(X), n_resamples=99, rng=0)",
}

OTHERS = {
    "EnergyStatsWarning": """
>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore", es.EnergyStatsWarning)  # every warning of the package
...     p = es.cluster_test(X, n_resamples=19, rng=0).pvalue
""",
    "PerformanceWarning": """
>>> issubclass(es.PerformanceWarning, es.EnergyStatsWarning)  # a call of minutes, or a numba that fails
True
""",
    "metrics.Metric": """
>>> isinstance(es.metrics.Gaussian(1.0), es.metrics.Metric)
True
""",
    "datasets.SOURCES": """
>>> "eurodist" in es.datasets.SOURCES
True
""",
    "datasets.PAPER_MIXTURES": """
>>> "fig1" in es.datasets.PAPER_MIXTURES
True
""",
}

DATA = {  # what the data are; their types' own docstrings would be shown otherwise
    "datasets.SOURCES": "Where every data set comes from, by its name.",
    "datasets.PAPER_MIXTURES": "Parameters of the papers' mixtures, by the name that `datasets.paper_mixture` takes.",
}

EXAMPLES = {
    **{name: SETUP.strip("\n") + text for name, text in RESULTS.items()},
    **{name: SETUP.strip("\n") + WARNED.format(call=call, name=name) for name, call in WARNINGS.items()},
    **{name: SETUP.strip("\n") + text for name, text in OTHERS.items()},
}
