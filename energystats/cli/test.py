"""`energystats test`."""

from __future__ import annotations

import argparse

from energystats.cli.console import Console
from energystats.cli.errors import bad_input
from energystats.cli.files import check_outputs, draw, save
from energystats.cli.groups import in_order
from energystats.cli.options import FILE, GENERAL, ID, Parser, add_command, picture_of, wants_bar
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal, read_points
from energystats.inputs.labels import as_labels

__all__ = ["add_test_command", "run_test"]


EXAMPLES = """\
  energystats test data.csv --group treatment
  energystats test data.csv --group treatment --columns height,weight --standardize --plot null.png
  energystats test data.csv --group site --where "year=2021" --missing drop
  energystats test survey.csv --group region --metric gower     # text columns are categories
  energystats test data.csv --group treatment --json | jq .test.pvalue"""


def add_test_command(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command and its options."""
    add_command(
        commands,
        run_test,
        "test",
        "test whether groups known in advance have equal distributions",
        "Permutation test of equal distributions of groups that were known before the data were seen.",
        {
            **FILE,
            "--group": {"metavar": "COL", "required": True, "help": "column that names the groups"},
            **ID,
            **picture_of("the null distribution"),
            **GENERAL,
        },
        ("columns", "rows and columns", "reading"),
        EXAMPLES,
    )


def run_test(options: argparse.Namespace, console: Console) -> None:
    """Test equality of the distributions of the groups in a file."""
    from energystats.distribution_tests.energy_test import energy_test

    check_outputs(options.file, picture=options.plot)
    points = read_points(options, console, {"--group": (options.group, "group")})
    table, frame = points.table, points.frame
    groups = in_order(points.labels[options.group], table.dialect)
    labels = list(map(str, as_labels(groups, len(frame), options.group)[1]))
    shown = ("; " if any("," in label for label in labels) else ", ").join(labels)
    console.say(f"Groups of {options.group}: {shown}.\n")
    with bad_input(table.file, table.where), console.announcing_compilation():
        result = energy_test(
            frame,
            groups=groups,
            metric=options.metric,
            alpha=options.alpha,
            standardize=options.standardize,
            n_resamples=options.resamples,
            progress=wants_bar(options),
            rng=options.seed,
        )
    note_if_equal(result.total, options.metric, console)
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]), console)
    console.say(result.summary())
    head = {"file": table.file, "n": len(frame), "n_read": table.n_read, "columns": list(frame.columns)}
    console.answer("test", **head, group=options.group, seed=options.seed, test=payload_of(result))
