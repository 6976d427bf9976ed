"""`energystats cluster`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from energystats.cli.console import Console
from energystats.cli.errors import bad_input, in_options
from energystats.cli.files import save, write_labels, write_picture
from energystats.cli.options import (
    FILE,
    FLAG,
    GENERAL,
    ID,
    NOTES,
    SAFETY,
    Command,
    count,
    dialect_of,
    one_of,
    picture_of,
    wants_bar,
)  # fmt: skip
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal, read_points
from energystats.cli.reading import FileTable, read_matrix
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
)  # fmt: skip
OF_MATRIX = "with --metric precomputed, whose rows and columns are points"


def run_cluster(options: argparse.Namespace, console: Console) -> None:
    """Cluster the rows of a file."""
    given = _make_matrix(options, console) if options.metric == "precomputed" else _take_points(options, console)
    with console.announcing_compilation(), bad_input(given.table.file, given.table.where):
        study = _run_study(options, given)
    console.say({
        "given": f"k = {study.k}, as given.\n",
        "chosen": f"k = {study.k}, chosen from the same data by {options.select}.\n",
        "default": "k = 2 is the default; it was not chosen from the data.\n",
    }[study.k_from])  # fmt: skip
    note_if_equal(study.found.total, options.metric, console)
    labels = given.labels(study)
    if options.labels is not None:
        write_labels(options.labels, labels, console, safe=options.spreadsheet_safe)
    if options.report is not None:
        page = _render_report(study, console)
        save(options.report, lambda path: path.write_text(page, encoding="utf-8"), console)
    if options.plot is not None:
        write_picture(options.plot, study, console)
    print_results(study, console, notes=options.notes)
    if study.selection is not None:
        console.show(study.selection, notes=options.notes)
    tested = not isinstance(study.test, str)
    console.answer(
        "cluster",
        file=given.table.file,
        n=study.n,
        n_read=given.table.n_read,
        columns=None if study.is_matrix else list(given.table.frame.columns),
        seed=options.seed,
        partition=payload_of(study.found) | {"rows": labels["row"], "names": list(given.ids) or None},
        test=payload_of(study.test) if tested else None,
        not_tested=None if tested else study.test,
        selection=None if study.selection is None else payload_of(study.selection),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Given:
    """A table that is clustered, and the numbers and names of its rows."""

    table: FileTable
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()
    rows: tuple[int, ...]
    id_name: str | None = None
    ids: tuple[Any, ...] = ()

    def labels(self, study: Study) -> dict[str, Any]:
        """Make the columns of the file of labels; row 1 is the first below the header."""
        names = {} if self.id_name is None else {self.id_name: list(self.ids)}
        return {"row": list(self.rows), **names, "cluster": study.found.labels}


def _take_points(options: argparse.Namespace, console: Console) -> _Given:
    """Read points, and their names where the file has any."""
    points = read_points(options, console)
    table, names = points.table, points.table.row_names if options.id is None else points.table.ids
    reserved = options.id in (None, "row", "cluster")  # the labels have columns of these names
    return _Given(
        table=table,
        left_out=points.left_out,
        rows=tuple(int(i) + 1 for i in table.frame.index),
        id_name=None if names is None else "name" if reserved else options.id,
        ids=() if names is None else tuple(names.loc[table.frame.index]),
    )


def _make_matrix(options: argparse.Namespace, console: Console) -> _Given:
    """Read a square matrix of rho."""
    matrix, code = read_matrix(options.file, dialect_of(options), console)
    file = "standard input" if options.file == "-" else options.file
    console.say(f"{file}: {matrix.describe()}, taken for the semimetric rho.")
    n = len(matrix.frame)
    return _Given(
        table=FileTable(file=file, frame=matrix.frame, code=(code,), n_read=n),
        rows=tuple(range(1, n + 1)),
        id_name="name" if matrix.names else None,
        ids=matrix.names or (),
    )


def _run_study(options: argparse.Namespace, given: _Given) -> Study:
    """Choose k where that was asked for, cluster and test; what the test lacks is told in the command line's words."""
    study = Study.run(
        given.table.frame,
        options.k,
        Reading(
            file=given.table.file,
            code=given.table.code,
            command=options.words,
            n_read=given.table.n_read,
            left_out=given.left_out,
            ids=given.ids,
            rows=given.rows,
        ),
        metric=options.metric,
        alpha=options.alpha,
        standardize=options.standardize,
        conservative=options.conservative,
        n_resamples=options.resamples,
        select=options.select,
        k_max=options.k_max,
        progress=wants_bar(options),
        rng=options.seed,
    )
    return replace(study, test=in_options(study.test)) if isinstance(study.test, str) else study


def _render_report(study: Study, console: Console) -> str:
    """Write the report, with what was noted on the way."""
    import matplotlib as mpl

    from energystats.report.page import render

    mpl.use("Agg")
    return render(replace(study, notes=tuple(console.notes)))


def print_results(study: Study, console: Console, *, notes: bool) -> None:
    """Print both summaries."""
    console.say(study.found.summary())
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
        "--resamples --n-resamples": {**GENERAL["--resamples --n-resamples"], "default": 199},
    },
    groups=("columns", "rows and columns", "reading"),
    examples=EXAMPLES,
    useless=(
        *((option, lambda o: o.metric == "precomputed", OF_MATRIX) for option in OF_POINTS),
        ("--missing", lambda o: o.metric == "gower", "with --metric gower, which compares rows with empty cells"),
        ("--k-max", lambda o: o.select is None, "without --select"),
        ("--spreadsheet-safe", lambda o: o.labels is None, "without --labels"),
        ("--resamples", lambda o: o.k == 1, "with -k 1, which leaves nothing to test"),
        ("--conservative", lambda o: o.k == 1 and o.select is None, "with -k 1, which leaves nothing to test"),
    ),
)  # fmt: skip
