"""`energystats test`."""

from __future__ import annotations

import argparse

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.files import save_picture
from energystats.cli.groups import in_order
from energystats.cli.options import (
    FILE,
    FLAG,
    GENERAL,
    ID,
    ROWS_OF_MATRIX,
    Command,
    arguments_of,
    picture_of,
    resamples_of,
)
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal, read_points
from energystats.inputs.labels import as_labels

__all__ = ["TEST"]


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


def run_test(options: argparse.Namespace, console: Console) -> None:
    """Run `energystats test`: test whether groups in a file have equal distributions, and write the results."""
    from energystats.distribution_tests.designs import Design
    from energystats.distribution_tests.energy_test import energy_test
    from energystats.distribution_tests.pairwise_tests import pairwise_tests

    table, labels = read_points(options, console, _label_columns(options))
    frame = table.frame
    groups = in_order(labels[options.group], table.dialect)
    with bad_input(table.file):
        names = list(map(str, as_labels(groups, len(frame), options.group)[1]))
    shown = ("; " if any("," in name for name in names) else ", ").join(names)
    console.say(f"Groups of {options.group}: {shown}.\n")
    ordered = labels.apply(in_order, dialect=table.dialect)
    # the units of pairs are strata; there is no column None
    design = Design(strata=ordered.get(options.paired or options.strata), whole_plots=ordered.get(options.whole_plots))
    how = {**arguments_of(options), "design": design}
    with bad_input(table.file, table.where), console.announcing_compilation():
        result = energy_test(frame, groups=groups, **how)
        pairs = [pairwise_tests(frame, groups, **how)] if options.pairs else []
    note_if_equal(result.total, len(frame), options.metric, console)
    save_picture(options.plot, [result, *pairs], console)
    console.tell("\n\n".join(found.summary() for found in (result, *pairs)))
    head = {"file": table.file, "n": len(frame), "n_read": table.n_read, "columns": list(frame.columns)}
    head |= {name: getattr(options, name) for name, _ in LABELS.values()}
    more = {"pairs": payload_of(pairs[0], console.table) if pairs else None}
    console.answer("test", **head, seed=options.seed, test=payload_of(result, console.table), **more)


def _label_columns(options: argparse.Namespace) -> dict[str, tuple[str, str]]:
    """Return the columns that options name as groups, strata, pairs or plots; raise BadInputError for conflicts."""
    given = {option: (getattr(options, name), what) for option, (name, what) in LABELS.items()}
    given = {option: named for option, named in given.items() if named[0] is not None}
    if "--paired" in given and len(given) > 2:
        raise BadInputError("--paired makes its own strata; leave --strata and --whole-plots out.")
    for option, (column, _) in given.items():
        first = next(other for other in given if given[other][0] == column)
        if first != option:
            raise BadInputError(f"{first} and {option} must not name one column, {column!r}.")
    return given


TEST = Command(
    run=run_test,
    name="test",
    summary="test whether groups known in advance have equal distributions",
    description="Permutation test of equal distributions of groups that were known before the data were seen.",
    options={
        **FILE,
        "--group": {"metavar": "COL", "required": True, "help": "column that names the groups"},
        "--pairs": {**FLAG, "help": "test every pair of groups, too, with adjusted p-values"},
        "--strata": {"metavar": "COL", "help": "column of blocks; labels are permuted within them only"},
        "--paired": {"metavar": "COL", "help": "column of subjects or other units, each with one row in every group"},
        "--whole-plots": {"metavar": "COL", "help": "column of sets of rows treated together; whole sets are permuted"},
        **ID,
        **picture_of("the null distribution, and with --pairs of the pairs"),
        **GENERAL,
        **resamples_of(None, "random draws behind a p-value (default 999, more for many pairs)"),
    },
    groups=("columns", "rows and columns", "reading"),
    examples=EXAMPLES,
    useless=(ROWS_OF_MATRIX,),
)  # fmt: skip
