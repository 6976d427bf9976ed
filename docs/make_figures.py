"""Draw the figures of the documentation: `python docs/make_figures.py [NAME ...]` writes docs/figures/plot-NAME.png.

Every figure comes from a method of a result, on data of `es.datasets` or a simulated core, with fixed seeds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import energystats as es

FOLDER = Path(__file__).parent / "figures"
IRIS = es.datasets.load("iris")
MEASURES = IRIS.iloc[:, :4]
SPECIES = IRIS["species"]
ROADS = es.datasets.load("eurodist")
MEADOWS = es.datasets.load("dune_bray")


def iris_partition() -> es.Partition:
    return es.energy_cluster(MEASURES, 3, rng=0)


def simulated_core() -> pd.DataFrame:
    """Draw counts of five kinds of pollen: two exchange their places at 60 cm, all vary more from 90 cm on."""
    rng, depth = np.random.default_rng(7), np.arange(2.0, 121.0, 2.0)
    means = np.where(depth[:, None] < 60, [6, 3, 2, 2, 1], [3, 6, 2, 2, 1])
    sizes = np.where(depth[:, None] < 90, 20.0, 1.0)
    counts = rng.negative_binomial(sizes, sizes / (sizes + 5 * means))
    return pd.DataFrame(counts, columns=["Pinus", "Betula", "Quercus", "Poaceae", "Artemisia"]).assign(depth=depth)


FIGURES: dict[str, Callable[[], Axes]] = {
    "null": lambda: es.energy_test(MEASURES["sepal_width"], groups=SPECIES, rng=0).plot(),
    "null-asymptotic": lambda: es.energy_test(MEASURES["sepal_width"], groups=SPECIES, method="asymptotic").plot(),
    "null-disco": lambda: es.disco("sepal_width ~ species", data=IRIS, rng=0).plot_null(),
    "goodness": lambda: es.normality_test(MEASURES[SPECIES == "setosa"], rng=0).plot(),
    "disco": lambda: es.disco(
        "sepal_length + sepal_width ~ species * petal_length", data=IRIS, n_resamples=999, rng=0
    ).plot(),
    "pairs": lambda: es.pairwise_tests(MEASURES["sepal_width"], SPECIES, rng=0).plot(),
    "segments": lambda: es.segment_test(es.datasets.load("nile"), order="year", rng=0).plot(),
    "profile": lambda: es.segment_test(es.datasets.load("nile"), order="year", rng=0).plot_profile(),
    "strata": lambda: es.segment_test(
        simulated_core(), order="depth", metric="hellinger", min_size=5, rng=0
    ).plot_strata(),
    "power": lambda: es.energy_power(
        MEASURES["sepal_width"][SPECIES == "virginica"],
        MEASURES["sepal_width"][SPECIES == "versicolor"],
        [10, 20, 30, 45, 60],
        n_replicates=200,
        n_resamples=99,
        rng=0,
    ).plot(),
    "group-means": lambda: es.dispersion(MEASURES, SPECIES).plot(),
    "group-distances": lambda: es.dispersion(
        MEADOWS**2, es.datasets.groups("dune_bray"), metric="precomputed"
    ).plot_distances(),
    "group-tree": lambda: es.dispersion(
        MEADOWS**2, es.datasets.groups("dune_bray"), metric="precomputed"
    ).plot_dendrogram(),
    "decomposition": lambda: iris_partition().plot_decomposition(),
    "partition": lambda: iris_partition().plot_classes(SPECIES),
    "partition-columns": lambda: iris_partition().plot(space=("petal_length", "sepal_width")),
    "partition-kernel": lambda: es.energy_cluster(MEASURES, 3, metric="gaussian", standardize=True, rng=0).plot(
        space="kernel"
    ),
    "partition-line": lambda: es.cluster_1d(IRIS["petal_length"], 3).plot(),
    "means": lambda: es.energy_cluster(MEASURES, 3, standardize=True, rng=0).plot_means(),
    "path": lambda: es.energy_cluster(
        MEASURES, 3, algorithm=es.Hartigan(n_perturb=0), init="random", n_init=1, rng=4
    ).plot_path(),
    "validation": lambda: es.validate_clusters(MEASURES, 3, rng=0).plot(),
    "cluster-test": lambda: es.cluster_test(MEASURES, rng=0).plot(),
    "cluster-refit": lambda: es.cluster_test(MEASURES, method="refit", null="gaussian", rng=0).plot(),
    "gap": lambda: es.select_k(MEASURES, 6, rng=0).plot(),
    "eigengap": lambda: es.select_k(MEASURES, 6, criterion="eigengap", rng=0).plot(),
    "spectrum": lambda: es.spectral_embedding(MEASURES, laplacian=True).plot(),
    "stability": lambda: es.cluster_stability(MEASURES, 3, rng=0).plot(),
    "cluster-tree": lambda: es.cluster_tree(MEASURES, rng=0).plot(),
    "dendrogram": lambda: es.plot_dendrogram(es.energy_hclust(MEASURES), k=3),
    "negative-type": lambda: es.negative_type(ROADS**2).plot(),
    "euclidization": lambda: es.lingoes(ROADS).plot(),
    "shepard": lambda: es.lingoes(ROADS).plot_shepard(),
    "coordinates": lambda: es.principal_coordinates(ROADS).plot(labels=es.datasets.groups("eurodist")),
    "comparison": lambda: es.compare_euclidizations(ROADS, 3).plot(),
    "graph": lambda: es.graph_partition(nearest_roads(4), 3, rng=0).plot(),
}


def nearest_roads(neighbours: int) -> pd.DataFrame:
    """Graph of the cities: each linked to its nearest ones."""
    d = ROADS.to_numpy()
    near = np.argsort(d + np.diag([np.inf] * len(d)), axis=1)[:, :neighbours]
    A = np.zeros(d.shape)
    np.put_along_axis(A, near, 1.0, axis=1)
    return pd.DataFrame(np.maximum(A, A.T), ROADS.index, ROADS.columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(FIGURES)}; all when none is named")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    parser.add_argument("--dpi", type=int, default=100)
    wanted = parser.parse_args()
    unknown = set(wanted.names) - set(FIGURES)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    wanted.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", es.TiesWarning)  # iris is rounded to millimetres
    for name in wanted.names or FIGURES:
        figure = FIGURES[name]().figure
        figure.savefig(wanted.folder / f"plot-{name}.png", dpi=wanted.dpi, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
