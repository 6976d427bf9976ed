"""`energystats demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from energystats.cli.cluster import print_results
from energystats.cli.console import Console
from energystats.cli.files import check_outputs, save_picture, write_labels
from energystats.cli.options import NOTES, Command
from energystats.report.study import Reading, Study

__all__ = ["DEMO"]


def run_demo(options: argparse.Namespace, console: Console) -> None:
    """Cluster the irises, test, compare with the species, draw, write."""
    import pandas as pd
    from sklearn.metrics import adjusted_rand_score

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
    rand = adjusted_rand_score(iris["species"], found.labels)
    console.say(f"\nAgainst the species: accuracy {accuracy:.3f}, adjusted Rand index {rand:.3f}.")
    console.say(pd.crosstab(iris["species"], pd.Series(found.labels, name="cluster")).to_string())
    save_picture(picture, [found, study.test], console, classes=iris["species"])
    rows = range(1, found.labels.size + 1)
    write_labels(table, {"row": rows, "cluster": found.labels, "species": iris["species"]}, console)


DEMO = Command(
    run=run_demo,
    name="demo",
    summary="the main job on bundled real data",
    description="Cluster 150 irises, test, compare with the species. Writes energystats-demo.png and\n"
    "energystats-demo-labels.csv into the current folder.",
    options=NOTES,
)
