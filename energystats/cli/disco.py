"""`energystats disco`."""

from __future__ import annotations

import argparse
import re

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.files import save_picture
from energystats.cli.groups import in_order, note_doubts, note_quoted_numbers, without_blanks
from energystats.cli.options import FILE, GENERAL, ID, Command, arguments_of, dialect_of, one_of, picture_of
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal
from energystats.cli.reading import read_table
from energystats.cli.selection import (
    check_formula_columns,
    check_not_index,
    columns_of_conditions,
    find_column,
    keep_rows,
)

__all__ = ["DISCO"]


DESCRIPTION = """\
Distance components: decompose the dispersion of the responses by the terms of a formula, and test each. Names with
blanks or signs stand in backticks: "`body height` ~ site"; in shells, put single quotes around such a formula.

A formula is run as Python code, as R runs its own: I(...) and calls in it can read, write and delete files. Never
take a formula from strangers."""
FACTOR = re.compile(r"(?<![\w.`])C\(\s*(`[^`]+`|[^\W\d]\w*)\s*\)")
EXAMPLES = """\
  energystats disco "height + weight ~ treatment * site" data.csv --strata block
  energystats disco "log(y) ~ C(year) + x" data.csv --decomposition marginal --missing drop
  energystats disco "y1 + y2 ~ g" data.csv --where "site=north" --json"""


def run_disco(options: argparse.Namespace, console: Console) -> None:
    """Run `energystats disco`: decompose the dispersion of responses in a file by a formula, and write the results."""
    from energystats.distribution_tests.designs import Design
    from energystats.distribution_tests.disco import disco
    from energystats.inputs.formulas import parse

    if options.id is not None and re.search(_alone(options.id), options.formula):
        raise BadInputError(f"--id must not name a column of the formula, {options.id!r}.")
    texts = _find_labels(options.formula, options.strata)
    table = read_table(
        options.file, dialect_of(options), console, as_text=texts, categories=options.category, rows=options.rows
    )
    if table.sep_hint:
        console.note(table.sep_hint)
    for column in filter(None, (options.strata, options.id)):
        find_column(table, column)
    check_not_index(table, [name for name in table.index_names if re.search(_alone(name), options.formula)])
    aside = [] if options.id in (None, options.strata) else [options.id]
    with bad_input(table.file):
        parsed = parse(options.formula, table.frame.drop(columns=aside), with_response=True)
    named = list(dict.fromkeys([*parsed.variables, *filter(None, [options.strata])]))
    for name in named:
        find_column(table, name)
    note_quoted_numbers(table, named, console)
    table = without_blanks(table, [*named, *columns_of_conditions(table, options.where)], console)
    table = keep_rows(table, options.where)
    note_doubts(table, named, console)
    frame = table.frame.drop(columns=aside)
    for name in set(texts) & set(named):
        frame[name] = in_order(frame[name], table.dialect)
    table = table.having(frame)
    check_formula_columns(table, parsed, mixed=options.metric == "gower")
    with bad_input(table.file, table.where), console.announcing_compilation():
        result = disco(
            options.formula,
            data=table.frame,
            **arguments_of(options),
            decomposition=options.decomposition,
            design=Design(strata=options.strata),
            missing=options.missing,
        )
    note_if_equal(result.total, result.n, options.metric, console)
    save_picture(options.plot, [result], console)
    console.say(f"{result.n} of {table.n_read} rows of {table.file}, {options.formula}.\n")
    console.tell(result.summary())
    head = {"file": table.file, "n": result.n, "n_read": table.n_read, "formula": options.formula, "seed": options.seed}
    console.answer("disco", **head, model=payload_of(result, console.table))


def _find_labels(formula: str, strata: str | None) -> list[str]:
    """Find the columns to read as text, so that 01 and 1 differ: strata, and factors written as C(x) alone."""
    names = {name.strip("`") for name in FACTOR.findall(formula)} | ({strata} if strata is not None else set())
    rest = FACTOR.sub(" ", formula)
    if re.search(r"(^|[^\w.)])\.($|[^\w])", rest):  # all columns, these as numbers
        return []
    return sorted(name for name in names if not re.search(_alone(name), rest))


def _alone(name: str) -> str:
    """Return a regular expression that matches a column name in a formula, but not as part of a longer name."""
    return rf"(?<![\w.]){re.escape(name)}(?![\w.])"


DISCO = Command(
    run=run_disco,
    name="disco",
    summary="decompose the dispersion by factors and covariates, and test each",
    description=DESCRIPTION,
    options={
        "formula": {"metavar": "FORMULA", "help": 'responses ~ terms, such as "y1 + y2 ~ a * b"'},
        **FILE,
        "--decomposition": {
            "metavar": "KIND", "type": one_of("decomposition", "sequential", "marginal"),
            "default": "sequential", "help": "sequential (default) or marginal",
        },
        "--strata": {"metavar": "COL", "help": "column of blocks; rows are permuted within them only"},
        **ID,
        **picture_of("the decomposition"),
        **GENERAL,
    },
    groups=("rows and columns", "reading"),
    examples=EXAMPLES,
)  # fmt: skip
