"""`energystats test`."""

from __future__ import annotations

import argparse
from typing import Any

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

__all__ = ["add_test_command", "run_test"]


EXAMPLES = """\
  energystats test data.csv --group treatment
  energystats test data.csv --group treatment --columns height,weight --standardize --plot null.png
  energystats test data.csv --group site --where "year=2021" --missing drop
  energystats test survey.csv --group region --metric gower     # text columns are categories
  energystats test data.csv --group treatment --json | jq .test.pvalue"""


def add_test_command(commands: argparse._SubParsersAction[Parser]) -> None:
    """The command and its options."""
    test = add_command(
        commands,
        "test",
        "test whether groups known in advance have equal distributions",
        "Permutation test of equal distributions of groups that were known before the data were seen.",
        EXAMPLES,
    )
    test.add_argument("file", metavar="FILE", help=FILE)
    test.add_argument("--group", metavar="COL", required=True, help="column that names the groups")
    add_id(test)
    add_picture(test, "the null distribution")
    add_general(test, resamples=999)
    add_numbers(test)
    add_selection(test)
    add_reading(test)
    test.set_defaults(run=run_test)


def run_test(options: argparse.Namespace, console: Console) -> None:
    """Test equality of the distributions of the groups in a file."""
    from energystats.distribution_tests.energy_test import energy_test

    check_outputs(None if options.file == "-" else options.file, picture=options.plot)
    table = read_table(
        options.file,
        dialect_of(options),
        console,
        as_text=options.group,
        categories=categories_of(options),
        rows=options.rows,
    )
    find_column(table, options.group)
    leave_out = (options.group,) if options.id is None else (options.group, options.id)
    if options.id is not None:
        find_column(table, options.id)
    whole = code_truths(without_blanks(table, [options.group], console), options, leave_out)
    table = _with_groups(keep_rows(whole, options.where), options, console)
    named = [] if options.columns is None else split_names(options.columns, list(table.frame.columns))
    if options.group in named:
        raise BadInputError(f"--columns must not name the column of the groups, {options.group!r}.")
    if options.id in named:
        raise BadInputError(f"--columns must not name the column of --id, {options.id!r}.")
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
    check_comparable(whole, choice, options, leave_out)
    if options.coordinates:
        console.unheard.add(MatrixAsPointsWarning)
    frame = choice.frame
    groups = in_order(table.frame.loc[frame.index, options.group], table.dialect)
    console.say(describe(frame, table.file))
    labels = list(map(str, as_labels(groups, len(groups), options.group)[1]))
    shown = ("; " if any("," in label for label in labels) else ", ").join(labels)
    console.say(f"Groups of {options.group}: {shown}.\n")
    how: dict[str, Any] = {"metric": options.metric, "alpha": options.alpha, "standardize": options.standardize}
    progress = wants_bar(options)
    with bad_input(table.file, table.where), console.announcing_compilation():
        result = energy_test(
            frame, groups=groups, n_resamples=options.resamples, rng=options.seed, progress=progress, **how
        )
    note_if_equal(result.total, options.metric, console)
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]), console)
    console.say(result.summary())
    head = {"file": table.file, "n": len(frame), "n_read": table.n_read, "columns": list(frame.columns)}
    console.answer("test", **head, group=options.group, seed=options.seed, test=payload_of(result))


def _with_groups(table: FileTable, options: argparse.Namespace, console: Console) -> FileTable:
    """Rows whose group is known; others are complained about, or left out."""
    missing = table.frame[options.group].isna().to_numpy()
    check_spelling(table, [options.group])
    note_alike(table.frame[options.group], table.dialect, console, "the column of groups")
    note_words_of_missing(table, options.group, console)
    if not missing.any():
        return table
    first = table.where(int(table.frame.index[missing][0]))
    if options.missing != "drop":
        raise BadInputError(
            f"{table.file}: {int(missing.sum())} of {missing.size} rows have no group, the first is {first}; fill "
            f"{options.group!r}, or leave those rows out with --missing drop."
        )
    if missing.all():
        raise BadInputError(f"{table.file}: no row has a group in {options.group!r}.")
    console.note(f"{int(missing.sum())} of {missing.size} rows were left out because they have no group.")
    return table.having(table.frame[~missing])
