"""`energystats demo`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats._core.rand_index import adjusted_rand_index
from energystats.cli.cluster import print_results
from energystats.cli.console import Console
from energystats.cli.files import check_outputs, save, write_labels
from energystats.cli.options import NOTES, Command
from energystats.cluster_tests.results import ClusterTestResult
from energystats.clustering.partition import Partition
from energystats.display.numbers import p_text
from energystats.report.study import Reading, Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DEMO", "draw_slide"]

LEVEL = 0.05


def run_demo(options: argparse.Namespace, console: Console) -> None:
    """Run a demonstration: cluster the iris data, test the clusters, compare them with the species, draw, write."""
    import pandas as pd

    from energystats import datasets
    from energystats.clustering.accuracy import clustering_accuracy

    picture, table = Path("energystats-demo.png"), Path("energystats-demo-labels.csv")
    check_outputs(None, (picture, "picture"), (table, "table"))
    iris = datasets.load("iris")
    console.say("150 irises, four lengths in cm (Anderson 1935, Fisher 1936).")
    console.say("k = 3, because three species were measured; k was not chosen from the data.\n")
    columns = [name for name in iris.columns if name != "species"]
    with console.announcing_compilation():
        study = Study.run(iris[columns], 3, Reading(file="iris"))
    print_results(study, console, notes=options.notes)
    found = study.found
    accuracy = clustering_accuracy(iris["species"], found.labels)
    rand = adjusted_rand_index(pd.factorize(iris["species"])[0], found.labels)
    console.say(f"\nAgainst the species: accuracy {accuracy:.3f}, adjusted Rand index {rand:.3f}.")
    console.say(pd.crosstab(iris["species"], pd.Series(found.labels, name="cluster")).to_string())
    test = study.test
    assert not isinstance(test, str)  # a test is left out of data that cannot be tested, which these are not
    save(picture, lambda partial: draw_slide(partial, found, test, iris["species"]), console)
    rows = range(1, found.labels.size + 1)
    write_labels(table, {"row": rows, "cluster": found.labels, "species": iris["species"]}, console)


def draw_slide(path: Path, found: Partition, test: ClusterTestResult, species: pd.Series[Any]) -> None:
    """Draw the clusters and their test as a slide, with a title in words, the p-value and its null hypothesis."""
    import matplotlib.pyplot as plt

    # margins by hand: a layout that is computed draws everything once more
    figure, (clusters, scores) = plt.subplots(1, 2, figsize=(11, 5.6))
    figure.subplots_adjust(left=0.065, right=0.985, top=0.79, bottom=0.28, wspace=0.18)
    found.plot(clusters)
    found.plot_classes(species, clusters)
    test.plot(scores)
    more = test.pvalue <= LEVEL
    title = "Irises form more than one cluster" if more else "No evidence of more than one cluster of irises"
    figure.text(0.065, 0.93, title, size="xx-large", weight="bold")
    figure.text(0.065, 0.875, f"{p_text(test.pvalue)}. Null hypothesis: {test.null_hypothesis}.", size="large")
    clusters.set_title("Clusters found, and species (open shapes)", loc="left")
    scores.set_title("Held-out points along the clearest line", loc="left")
    for ax in (clusters, scores):
        _put_legend_below(ax)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _put_legend_below(ax: Axes) -> None:
    """Move the legend of a plot below the axes, so that it does not cover the points."""
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.21), ncols=2, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


DEMO = Command(
    run=run_demo,
    name="demo",
    summary="the main job on bundled real data",
    description="Cluster 150 irises, test, compare with the species. Writes energystats-demo.png and\n"
    "energystats-demo-labels.csv into the current folder.",
    options=NOTES,
)
