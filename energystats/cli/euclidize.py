"""`energystats euclidize`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from energystats._typing import FloatArray
from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.files import check_outputs, draw, harmless, save
from energystats.cli.options import FILE, ID, OUTPUT, SAFETY, Parser, add_command, dialect_of, picture_of
from energystats.cli.payloads import payload_of
from energystats.cli.reading import read_matrix
from energystats.inputs.names import near_names

__all__ = ["add_euclidize_command", "run_euclidize"]


DESCRIPTION = """\
Make a square matrix of dissimilarities d (not squared) Euclidean by the least constant that does it. Lingoes adds it
to d squared and keeps the best clusters; Cailliez adds it to d. Euclidean ones come back unchanged."""
LAYOUTS = "CSV or Parquet: n x n numbers, with names in the first row and column, in the first row, or without"
EXAMPLES = """\
  energystats euclidize distances.csv --method lingoes -o repaired.csv --plot repair.png
  energystats euclidize distances.csv --method cailliez -o repaired.csv --json | jq .result.constant
  energystats euclidize excel.csv --sep ";" --decimal , -o repaired.csv"""


def add_euclidize_command(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command and its options."""
    add_command(
        commands,
        run_euclidize,
        "euclidize",
        "make a matrix of dissimilarities Euclidean",
        DESCRIPTION,
        {
            "file": {**FILE["file"], "help": f"{LAYOUTS}; - reads standard input"},
            "--method": {"metavar": "NAME", "default": "lingoes", "help": "lingoes (default) or cailliez"},
            "-o --output": {
                "metavar": "CSV", "type": Path, "required": True, "help": "the repaired matrix, laid out as FILE is"
            },
            "--tol": {"type": float, "help": "rounding to allow for, as a share of the largest eigenvalue"},
            "--id": {
                **ID["--id"],
                "help": "column that names the rows; wherever it stands, as the first column does without",
            },
            **picture_of("repaired against original"),
            **SAFETY,
            **OUTPUT,
        },
        ("reading",),
        EXAMPLES,
    )  # fmt: skip


def _is_whole(matrix: FloatArray) -> bool:
    """Tell whether all entries are whole numbers, which do not show the decimal sign of their file."""
    return bool((matrix == np.round(matrix)).all())


def run_euclidize(options: argparse.Namespace, console: Console) -> None:
    """Repair the dissimilarities in a file."""
    from energystats.geometry.euclidize import cailliez, lingoes

    repairs = {"lingoes": lingoes, "cailliez": cailliez}
    if options.method not in repairs:
        near = near_names(options.method, repairs)
        raise BadInputError(f"--method must be lingoes or cailliez, got {options.method!r}.{near}")
    check_outputs(options.file, picture=options.plot, table=options.output)
    given, _ = read_matrix(options.file, dialect_of(options), console, names=options.id)
    file = "standard input" if options.file == "-" else options.file
    with bad_input(file):
        result = repairs[options.method](given.frame, options.tol)
    safe = {"console": console, "safe": options.spreadsheet_safe, "file": options.output}
    header, stubs = (tuple(harmless(names, **safe)) for names in (given.header, given.stubs))
    written = replace(given, header=header, stubs=stubs)
    if given.sep == ";" and options.decimal is None and _is_whole(given.distances) and not _is_whole(result.distances):
        console.note(f"{options.output}: decimals are written with a point; --decimal , writes a comma.")
    save(options.output, lambda path: written.write(path, result.distances), console)
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]), console)
    console.say(f"\n{file}: {given.describe()}.\n")
    console.say(result.summary())
    answer = {"file": file, "n": len(given.distances), "output": str(options.output)}
    console.answer("euclidize", **answer, result=payload_of(result))
