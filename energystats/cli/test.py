"""`energystats test`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.files import check_outputs, draw, save
from energystats.cli.groups import note_alike
from energystats.cli.options import (
    FILE,
    Parser,
    add_command,
    add_general,
    add_id,
    add_numbers,
    add_picture,
    add_reading,
    add_selection,
    categories_of,
    dialect_of,
    wants_bar,
)
from energystats.cli.payloads import payload_of
from energystats.cli.reading import FileTable, read_table
from energystats.cli.selection import (
    Choice,
    check_comparable,
    check_spelling,
    choose_columns,
    code_truths,
    describe,
    drop_incomplete_rows,
    find_column,
    in_order,
    keep_rows,
    note_if_equal,
    note_words_of_missing,
    split_names,
    without_blanks,
)
from energystats.exceptions import MatrixAsPointsWarning
from energystats.inputs.labels import as_labels

if TYPE_CHECKING:
    import pandas as pd

    from energystats.distribution_tests.designs import Design

__all__ = ["add_test_command", "run_test"]


EXAMPLES = """\
  energystats test data.csv --group treatment
  energystats test data.csv --group treatment --columns height,weight --standardize --plot null.png
  energystats test data.csv --group site --where "year=2021" --missing drop
  energystats test data.csv --group treatment --strata block --pairs
  energystats test sleep.csv --group drug --paired patient      # the same subjects in every group
  energystats test mice.csv --group diet --whole-plots cage     # all rows of a cage have one diet
  energystats test survey.csv --group region --metric gower     # text columns are categories
  energystats test data.csv --group treatment --json | jq .test.pvalue"""
LABELS = {  # of rows: option, the argument, and what one of them is
    "--group": ("group", "group"),
    "--strata": ("strata", "stratum"),
    "--paired": ("paired", "unit"),
    "--whole-plots": ("whole_plots", "whole plot"),
}


def add_test_command(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command and its options."""
    test = add_command(
        commands,
        "test",
        "test whether groups known in advance have equal distributions",
        "Permutation test of equal distributions of groups that were known before the data were seen.",
        EXAMPLES,
    )
    test.add_argument("file", metavar="FILE", help=FILE)
    test.add_argument("--group", metavar="COL", required=True, help="column that names the groups")
    test.add_argument("--pairs", action="store_true", help="test every pair of groups, too, with adjusted p-values")
    design = test.add_argument_group("design of the study, when not every row could have had every label")
    design.add_argument("--strata", metavar="COL", help="column of blocks; labels are permuted within them only")
    design.add_argument(
        "--paired", metavar="COL", help="column of subjects or other units, each with one row in every group"
    )
    design.add_argument(
        "--whole-plots",
        metavar="COL",
        help="column of sets of rows treated together; whole sets are permuted",
    )
    add_id(test)
    add_picture(test, "the null distribution, and with --pairs of the pairs")
    add_general(test, resamples=999)
    add_numbers(test)
    add_selection(test)
    add_reading(test)
    test.set_defaults(run=run_test, resamples=None)


def run_test(options: argparse.Namespace, console: Console) -> None:
    """Test equality of the distributions of the groups in a file."""
    from energystats.distribution_tests.energy_test import energy_test
    from energystats.distribution_tests.pairwise_tests import pairwise_tests

    check_outputs(None if options.file == "-" else options.file, picture=options.plot)
    table, choice = _read_groups(options, console)
    frame = choice.frame
    groups = in_order(table.frame.loc[frame.index, options.group], table.dialect)
    console.say(describe(frame, table.file))
    labels = list(map(str, as_labels(groups, len(groups), options.group)[1]))
    shown = ("; " if any("," in label for label in labels) else ", ").join(labels)
    console.say(f"Groups of {options.group}: {shown}.\n")
    how: dict[str, Any] = {
        "metric": options.metric,
        "alpha": options.alpha,
        "n_resamples": options.resamples,
        "design": _design_of(options, table.frame.loc[frame.index]),
        "standardize": options.standardize,
        "progress": wants_bar(options),
        "rng": options.seed,
    }
    with bad_input(table.file, table.where), console.announcing_compilation():
        result = energy_test(frame, groups=groups, **how)
        pairs = [pairwise_tests(frame, groups, **how)] if options.pairs else []
    note_if_equal(result.total, options.metric, console)
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result, *pairs]), console)
    console.say("\n\n".join(found.summary() for found in (result, *pairs)))
    head = {"file": table.file, "n": len(frame), "n_read": table.n_read, "columns": list(frame.columns)}
    head |= {name: getattr(options, name) for name, _ in LABELS.values()}
    more = {"pairs": payload_of(pairs[0]) if pairs else None}
    console.answer("test", **head, seed=options.seed, test=payload_of(result), **more)


def _read_groups(options: argparse.Namespace, console: Console) -> tuple[FileTable, Choice]:
    """Read the file, and choose the rows with all their labels and the columns that are compared."""
    table = read_table(
        options.file,
        dialect_of(options),
        console,
        as_text=options.group,
        categories=categories_of(options),
        rows=options.rows,
    )
    labels = _label_columns(options)
    for column in labels.values():
        find_column(table, column)
    if options.id is not None:
        find_column(table, options.id)
        labels = {**labels, "--id": options.id}
    leave_out = tuple(labels.values())
    of_labels = list(dict.fromkeys(column for option, column in labels.items() if option != "--id"))
    whole = code_truths(without_blanks(table, of_labels, console), options, leave_out)
    table = keep_rows(whole, options.where)
    for option, (_, what) in LABELS.items():
        if option in labels:
            table = _with_label(table, labels[option], what, options, console)
    named = [] if options.columns is None else split_names(options.columns, list(table.frame.columns))
    for option, column in labels.items():
        if column in named:
            whose = "the groups" if option == "--group" else option
            raise BadInputError(f"--columns must not name the column of {whose}, {column!r}.")
    mixed = options.metric == "gower"
    choice = choose_columns(
        table,
        options.columns,
        console,
        drop=options.drop,
        leave_out=leave_out,
        mixed=mixed,
        matrix=options.metric == "precomputed",
    )
    choice = drop_incomplete_rows(choice, options.missing, console, mixed=mixed)
    if options.paired is not None:
        choice = _whole_units(table, choice, options, console)
    check_comparable(whole, choice, options, leave_out)
    if options.coordinates:
        console.unheard.add(MatrixAsPointsWarning)
    return table, choice


def _label_columns(options: argparse.Namespace) -> dict[str, str]:
    """List the columns that options name for labels of rows; no two of them may be one."""
    given = {option: getattr(options, name) for option, (name, _) in LABELS.items()}
    given = {option: column for option, column in given.items() if column is not None}
    if "--paired" in given and len(given) > 2:
        raise BadInputError("--paired makes its own strata; leave --strata and --whole-plots out.")
    for option, column in given.items():
        first = next(other for other in given if given[other] == column)
        if first != option:
            raise BadInputError(f"{first} and {option} must not name one column, {column!r}.")
    return given


def _with_label(table: FileTable, column: str, what: str, options: argparse.Namespace, console: Console) -> FileTable:
    """Keep the rows that have a label; others are complained about, or left out."""
    from pandas.api.types import is_numeric_dtype

    labels = table.frame[column]
    missing = labels.isna().to_numpy()
    check_spelling(table, [column])
    if not is_numeric_dtype(labels):
        where = "the column of groups" if what == "group" else f"column {column!r}"
        note_alike(labels, table.dialect, console, where)
        note_words_of_missing(table, column, console)
    if not missing.any():
        return table
    first = table.where(int(table.frame.index[missing][0]))
    if options.missing != "drop":
        raise BadInputError(
            f"{table.file}: {int(missing.sum())} of {missing.size} rows have no {what}, the first is {first}; fill "
            f"{column!r}, or leave those rows out with --missing drop."
        )
    if missing.all():
        raise BadInputError(f"{table.file}: no row has a {what} in {column!r}.")
    console.note(f"{int(missing.sum())} of {missing.size} rows were left out because they have no {what}.")
    return table.having(table.frame[~missing])


def _whole_units(table: FileTable, choice: Choice, options: argparse.Namespace, console: Console) -> Choice:
    """Keep the units with one row in every group; others are complained about, or left out where a row is lacking."""
    column, labels = options.paired, table.frame.loc[choice.frame.index, [options.paired, options.group]]
    counts = labels.groupby([column, options.group], sort=False, observed=True).size().unstack(fill_value=0)
    repeated = labels.index[labels.duplicated()]
    if len(repeated):
        unit, group = labels.loc[repeated[0]]
        raise BadInputError(
            f"{table.file}: unit {str(unit)!r} of {column!r} has a second row in group {str(group)!r}, "
            f"{table.where(int(repeated[0]))}; --paired needs one row of each unit in every group."
        )
    lacking = counts.index[(counts == 0).any(axis=1)]
    if not len(lacking):
        return choice
    if len(lacking) == len(counts):
        raise BadInputError(f"{table.file}: no unit of {column!r} has a row in every group of {options.group!r}.")
    if options.missing != "drop":
        without = counts.columns[(counts.loc[lacking[0]] == 0).argmax()]
        raise BadInputError(
            f"{table.file}: {len(lacking)} of {len(counts)} units of {column!r} lack a row of some group, the first is "
            f"{str(lacking[0])!r}, without {str(without)!r}; leave such units out with --missing drop."
        )
    console.note(f"{len(lacking)} of {len(counts)} units were left out because they lack a row of some group.")
    kept = ~labels[column].isin(lacking)
    return replace(choice, table=choice.table.having(choice.frame[kept.to_numpy()]))


def _design_of(options: argparse.Namespace, labels: pd.DataFrame) -> Design | None:
    """Make the design of the labels that options name; the units of pairs are strata."""
    from energystats.distribution_tests.designs import Design

    strata = options.strata if options.paired is None else options.paired
    if strata is None and options.whole_plots is None:
        return None
    plots = None if options.whole_plots is None else labels[options.whole_plots]
    return Design(strata=None if strata is None else labels[strata], whole_plots=plots)
