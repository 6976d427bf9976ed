"""`energystats cluster`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from energystats.cli.console import Console
from energystats.cli.errors import bad_input, in_options
from energystats.cli.file_table import FileTable
from energystats.cli.files import save, save_picture, write_labels
from energystats.cli.matrix import read_matrix
from energystats.cli.options import (
    FILE,
    FLAG,
    GENERAL,
    ID,
    NOTES,
    OF_MATRIX,
    SAFETY,
    Command,
    arguments_of,
    count,
    dialect_of,
    one_of,
    picture_of,
    resamples_of,
)  # fmt: skip
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal, read_points
from energystats.inputs.labels import note_on_sums
from energystats.report.page import render
from energystats.report.study import Reading, Study

__all__ = ["CLUSTER", "print_results"]


CRITERIA = ("gap", "eigengap", "significance")
EXAMPLES = """\
  energystats cluster data.csv -k 3 --labels labels.csv --plot clusters.png
  energystats cluster data.csv --columns height,weight --standardize --report out.html
  energystats cluster data.csv --select gap --k-max 8
  energystats cluster survey.csv --metric gower --id person --labels labels.csv
  energystats cluster distances.csv --metric precomputed -k 4
  zcat big.csv.gz | energystats cluster - --where "year>=2020" --json | jq .test.pvalue"""
OF_POINTS = (
    "--columns", "--drop", "--rows", "--where", "--id", "--category", "--na", "--quoted-na", "--missing", "--no-header",
    "--row-names",
)  # fmt: skip
NO_TEST = "with -k 1, which leaves nothing to test"
TREE_CHOOSES = "with --select significance and no -k: the draws of a tree follow from its level"


def run_cluster(options: argparse.Namespace, console: Console) -> None:
    """Run `energystats cluster`: cluster the rows of a file, test for clusters, and write the results."""
    take = _take_matrix if options.metric == "precomputed" else _take_points
    table, reading, heading = take(options, console)
    for sentence in note_on_sums(reading.ids):
        console.note(sentence[0].lower() + sentence[1:])
    with console.announcing_compilation(), bad_input(table.file, table.where):
        study = _run_study(options, table, reading)
    console.say({
        "given": f"k = {study.k}, as given.\n",
        "chosen": f"k = {study.k}, chosen from the same data by {options.select}.\n",
        "default": "k = 2 is the default; it was not chosen from the data.\n",
    }[study.k_from])  # fmt: skip
    note_if_equal(study.found.total, study.n, options.metric, console)
    if options.labels is not None:  # row 1 is the first below the header
        names = {} if heading is None else {heading: reading.ids}
        columns = {"row": reading.rows, **names, "cluster": study.found.labels}
        write_labels(options.labels, columns, console, safe=options.spreadsheet_safe)
    if options.report is not None:
        page = render(replace(study, notes=tuple(console.notes)))
        save(options.report, lambda path: path.write_text(page, encoding="utf-8"), console)
    tested = not isinstance(study.test, str)
    save_picture(options.plot, [study.found, *([study.test] if tested else [])], console)
    print_results(study, console, notes=options.notes)
    if study.selection is not None:
        console.show(study.selection, notes=options.notes)
    console.answer(
        "cluster",
        file=table.file,
        n=study.n,
        n_read=table.n_read,
        columns=None if study.is_matrix else list(table.frame.columns),
        seed=options.seed,
        partition=payload_of(study.found, console.table) | {"rows": reading.rows, "names": reading.ids or None},
        test=payload_of(study.test, console.table) if tested else None,
        not_tested=None if tested else study.test,
        selection=None if study.selection is None else payload_of(study.selection, console.table),
    )


def _take_points(options: argparse.Namespace, console: Console) -> tuple[FileTable, Reading, str | None]:
    """Read points from a file; return the table, its origin, and the heading for row names in output, or None."""
    table, _ = read_points(options, console)
    names = table.row_names if options.id is None else table.ids
    rows = tuple(int(i) + 1 for i in table.frame.index)
    ids = () if names is None else tuple(names.loc[table.frame.index])
    reserved = options.id in (None, "row", "cluster")  # the labels have columns of these names
    heading = None if names is None else "name" if reserved else options.id
    return table, Reading(file=table.file, code=table.code, left_out=table.left_out, ids=ids, rows=rows), heading


def _take_matrix(options: argparse.Namespace, console: Console) -> tuple[FileTable, Reading, str | None]:
    """Read a square dissimilarity matrix from a file; return it, its origin, and the heading for row names, or None."""
    matrix, code = read_matrix(options.file, dialect_of(options), console)
    console.say(f"{matrix.file}: {matrix.describe()}, taken for the semimetric rho.")
    n = len(matrix.frame)
    table = FileTable(file=matrix.file, frame=matrix.frame, code=code, n_read=n)
    reading = Reading(file=matrix.file, code=code, ids=matrix.names or (), rows=tuple(range(1, n + 1)))
    return table, reading, "name" if matrix.names else None


def _run_study(options: argparse.Namespace, table: FileTable, reading: Reading) -> Study:
    """Cluster the rows of a table and test for clusters, with k chosen from the data where --select asks for it."""
    study = Study.run(
        table.frame,
        options.k,
        replace(reading, command=options.words, n_read=table.n_read),
        **arguments_of(options),
        conservative=options.conservative,
        criterion=options.select,
        k_max=options.k_max,
    )
    return replace(study, test=in_options(study.test)) if isinstance(study.test, str) else study


def print_results(study: Study, console: Console, *, notes: bool) -> None:
    """Print the summaries of the partition and of its test, or a line that says why there is no test."""
    console.tell(study.found.summary())
    if isinstance(study.test, str):
        console.say(f"\n{study.test}")
    else:
        console.show(study.test, notes=notes)


CLUSTER = Command(
    run=run_cluster,
    name="cluster",
    summary="cluster the rows of a table and ask whether the clusters are real",
    description="Cluster the rows of a table by energy, and test whether there is cluster structure at all.",
    options={
        **FILE,
        "-k": {"type": count("k"), "help": "number of clusters (default 2)"},
        "--select": {
            "metavar": "HOW", "type": one_of("criterion", *CRITERIA),
            "help": "choose k by gap, eigengap or significance",
        },
        "--k-max": {
            "type": count("k_max"), "default": 10,
            "help": "largest k that --select looks at (default 10)",
        },
        "--conservative": {**FLAG, "help": "a larger margin for flat densities in the test"},
        "--id": {**ID["--id"], "help": "column that names the rows; it goes into --labels"},
        "--labels": {"metavar": "CSV", "type": Path, "help": "write the cluster of every row"},
        **SAFETY,
        "--report": {"metavar": "HTML", "type": Path, "help": "write a report, one file with its pictures"},
        **picture_of("the clusters"),
        **GENERAL,
        **NOTES,
        **resamples_of(199, "random draws behind a p-value; with k > 2 about k/2 times as many (default %(default)s)"),
    },
    groups=("columns", "rows and columns", "reading"),
    examples=EXAMPLES,
    useless=(
        *((option, lambda o: o.metric == "precomputed", OF_MATRIX) for option in OF_POINTS),
        ("--missing", lambda o: o.metric == "gower", "with --metric gower, which compares rows with empty cells"),
        ("--k-max", lambda o: o.select is None, "without --select"),
        ("--spreadsheet-safe", lambda o: o.labels is None, "without --labels"),
        ("--resamples", lambda o: o.k == 1, NO_TEST),
        ("--resamples", lambda o: o.k is None and o.select == "significance", TREE_CHOOSES),
        *((option, lambda o: o.k == 1 and o.select is None, NO_TEST) for option in ("--conservative", "--notes")),
    ),
)  # fmt: skip
