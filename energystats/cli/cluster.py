"""`energystats cluster`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input, in_options
from energystats.cli.files import check_outputs, save, write_labels, write_picture
from energystats.cli.options import (
    Parser,
    add_command,
    add_general,
    add_id,
    add_numbers,
    add_picture,
    add_reading,
    add_safety,
    add_selection,
    categories_of,
    dialect_of,
    wants_bar,
)
from energystats.cli.payloads import payload_of
from energystats.cli.reading import FileTable, read_matrix, read_table
from energystats.cli.selection import (
    Choice,
    check_comparable,
    choose_columns,
    code_truths,
    describe,
    drop_incomplete_rows,
    find_column,
    keep_rows,
    note_if_equal,
    split_names,
)
from energystats.exceptions import MatrixAsPointsWarning
from energystats.inputs.names import near_names
from energystats.report.study import Reading, Study

if TYPE_CHECKING:
    from energystats.clustering.partition import Partition

__all__ = ["add_cluster_command", "print_results", "run_cluster"]


METHODS = ("gap", "eigengap", "significance")
NOT_CHOSEN = "k = 2 is the default; it was not chosen from the data."
EXAMPLES = """\
  energystats cluster data.csv -k 3 --labels labels.csv --plot clusters.png
  energystats cluster data.csv --columns height,weight --standardize --report out.html
  energystats cluster data.csv --select gap --k-max 8
  energystats cluster survey.csv --metric gower --id person --labels labels.csv
  energystats cluster distances.csv --metric precomputed -k 4
  zcat big.csv.gz | energystats cluster - --where "year>=2020" --json | jq .test.pvalue"""


def add_cluster_command(commands: argparse._SubParsersAction[Parser]) -> None:
    """The command and its options."""
    cluster = add_command(
        commands,
        "cluster",
        "cluster the rows of a table and ask whether the clusters are real",
        "Cluster the rows of a table by energy, and test whether there is cluster structure at all.",
        EXAMPLES,
    )
    cluster.add_argument("file", metavar="FILE", help="CSV or Parquet, gzipped or not; - reads standard input")
    cluster.add_argument("-k", type=int, default=None, help="number of clusters (default 2)")
    cluster.add_argument("--select", metavar="HOW", help="choose k by gap, eigengap or significance")
    cluster.add_argument("--k-max", type=int, default=10, help="largest k that --select looks at (default 10)")
    cluster.add_argument("--conservative", action="store_true", help="a larger margin for flat densities in the test")
    add_id(cluster, "it goes into --labels")
    cluster.add_argument("--labels", metavar="CSV", type=Path, help="write the cluster of every row")
    add_safety(cluster)
    cluster.add_argument("--report", metavar="HTML", type=Path, help="write a report, one file with its pictures")
    add_picture(cluster, "the clusters")
    add_general(cluster, resamples=199)
    add_numbers(cluster)
    add_selection(cluster)
    add_reading(cluster)
    cluster.set_defaults(run=run_cluster)


def run_cluster(options: argparse.Namespace, console: Console) -> None:
    """Cluster the rows of a file."""
    read = None if options.file == "-" else options.file
    check_outputs(read, picture=options.plot, table=options.labels, report=options.report)
    _check_select(options)
    given = _make_matrix(options, console) if options.metric == "precomputed" else _take_points(options, console)
    with console.announcing_compilation(), bad_input(given.choice.table.file, given.choice.table.where):
        study = _run_study(options, given)
    console.say({
        "given": f"k = {study.k}, as given.\n",
        "chosen": f"k = {study.k}, chosen from the same data by {options.select}.\n",
        "default": f"{NOT_CHOSEN}\n",
    }[study.k_from])  # fmt: skip
    note_if_equal(study.found.total, options.metric, console)
    if options.labels is not None:
        write_labels(options.labels, given.labels(study.found), console, safe=options.spreadsheet_safe)
    if options.report is not None:
        page = _render_report(study, console)
        save(options.report, lambda path: path.write_text(page, encoding="utf-8"), console)
    if options.plot is not None:
        write_picture(options.plot, study, console)
    print_results(study, console)
    if study.selection is not None:
        console.say(f"\n{study.selection.summary()}")
    console.answer("cluster", **_answer_of(given, options, study))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Given:
    """What is clustered: columns, their place in the file, and the names of the rows."""

    choice: Choice
    n_read: int
    rows: tuple[int, ...] = ()
    id_name: str | None = None
    ids: tuple[Any, ...] = ()

    def labels(self, found: Partition) -> dict[str, Any]:
        """Columns of the file of labels; row 1 is the first below the header."""
        rows = list(self.rows) or list(range(1, found.labels.size + 1))
        names = {} if self.id_name is None else {self.id_name: list(self.ids)}
        return {"row": rows, **names, "cluster": found.labels}


def _check_select(options: argparse.Namespace) -> None:
    """Refuse an unknown way to choose k."""
    if options.select not in (None, *METHODS):
        near = near_names(options.select, METHODS)
        raise BadInputError(f"--select must be one of {', '.join(METHODS)}, got {options.select!r}.{near}")


def _take_points(options: argparse.Namespace, console: Console) -> _Given:
    """Rows and columns of a table."""
    categories = categories_of(options)
    table = read_table(
        options.file, dialect_of(options), console, categories=categories, rows=options.rows, id_name=options.id
    )
    if options.id is not None:
        find_column(table, options.id)
    leave_out = () if options.id is None else (options.id,)
    whole = code_truths(table, options, leave_out)
    table = keep_rows(whole, options.where)
    if options.columns is not None and options.id in split_names(options.columns, list(table.frame.columns)):
        raise BadInputError(f"--columns must not name the column of --id, {options.id!r}.")
    mixed = options.metric == "gower"
    id_name, names = options.id, table.row_names
    if options.id is not None:
        names = table.frame[options.id] if table.ids is None else table.ids
        id_name = "name" if options.id in ("row", "cluster") else options.id  # the labels have columns of these names
    elif names is not None:
        id_name = "name"
    choice = choose_columns(table, options.columns, console, drop=options.drop, leave_out=leave_out, mixed=mixed)
    choice = drop_incomplete_rows(choice, options.missing, console, mixed=mixed)
    check_comparable(whole, choice, options, leave_out)
    if options.coordinates:
        console.unheard.add(MatrixAsPointsWarning)
    console.say(describe(choice.frame, choice.table.file))
    ids = () if names is None else tuple(names.loc[choice.frame.index])
    rows = tuple(int(i) + 1 for i in choice.frame.index)
    return _Given(choice=choice, n_read=table.n_read, rows=rows, id_name=id_name, ids=ids)


def _make_matrix(options: argparse.Namespace, console: Console) -> _Given:
    """A square matrix of rho."""
    for option, value in (("--columns", options.columns), ("--drop", options.drop), ("--rows", options.rows),
                          ("--where", options.where), ("--id", options.id),
                          ("--category", options.category), ("--na", options.na), ("--quoted-na", options.quoted_na),
                          ("--standardize", options.standardize)):  # fmt: skip
        if value:
            raise BadInputError(f"{option} has no use with --metric precomputed, whose rows and columns are points.")
    matrix, code = read_matrix(options.file, dialect_of(options), console)
    frame = matrix.frame
    file = "standard input" if options.file == "-" else options.file
    table = FileTable(file=file, frame=frame, code=(code,))
    console.say(f"{file}: {matrix.describe()}, taken for the semimetric rho.")
    names = () if matrix.names is None else matrix.names
    return _Given(choice=Choice(table=table), n_read=len(frame), id_name="name" if names else None, ids=names)


def _run_study(options: argparse.Namespace, given: _Given) -> Study:
    """Choose k where that was asked for, cluster and test; what the test lacks is told in the command line's words."""
    reading = Reading(
        file=given.choice.table.file,
        code=given.choice.table.code,
        command=options.words,
        n_read=given.n_read,
        left_out=given.choice.left_out,
        ids=given.ids,
        rows=given.rows,
    )
    study = Study.run(
        given.choice.frame,
        options.k,
        reading,
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


def print_results(study: Study, console: Console) -> None:
    """Print both summaries."""
    console.say(study.found.summary())
    console.say()
    console.say(study.test if isinstance(study.test, str) else study.test.summary())


def _answer_of(given: _Given, options: argparse.Namespace, study: Study) -> dict[str, Any]:
    """Collect what the JSON object holds."""
    labels, tested = given.labels(study.found), not isinstance(study.test, str)
    return {
        "file": given.choice.table.file,
        "n": study.n,
        "n_read": given.n_read,
        "columns": None if study.is_matrix else [str(c) for c in given.choice.frame.columns],
        "seed": options.seed,
        "partition": payload_of(study.found) | {"rows": list(labels["row"]), "names": list(given.ids) or None},
        "test": payload_of(study.test) if tested else None,
        "not_tested": None if tested else study.test,
        "selection": None if study.selection is None else payload_of(study.selection),
    }


def _render_report(study: Study, console: Console) -> str:
    """Write the report, with what was noted on the way."""
    import matplotlib as mpl

    from energystats.report.page import render

    mpl.use("Agg")
    return render(replace(study, notes=tuple(console.notes)))
