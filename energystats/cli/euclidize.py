"""`energystats euclidize`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from energystats._typing import FloatArray
from energystats.cli.console import Console
from energystats.cli.errors import bad_input
from energystats.cli.files import harmless, save, save_picture
from energystats.cli.matrix import read_matrix
from energystats.cli.options import FILE, ID, OUTPUT, SAFETY, Command, checked_by, dialect_of, one_of, picture_of
from energystats.cli.payloads import payload_of
from energystats.inputs.options import check_positive

__all__ = ["EUCLIDIZE"]


DESCRIPTION = """\
Make a square matrix of dissimilarities d (not squared) Euclidean by the least constant c that does it. Lingoes adds 2c
to d squared and keeps the best clusters; Cailliez adds c to d. Euclidean ones come back unchanged."""
LAYOUTS = "CSV or Parquet: n x n numbers, with names in the first row and column, in the first row, or without"
EXAMPLES = """\
  energystats euclidize distances.csv --method lingoes -o repaired.csv --plot repair.png
  energystats euclidize distances.csv --method cailliez -o repaired.csv --json | jq .result.constant
  energystats euclidize excel.csv --sep ";" --decimal , -o repaired.csv"""


def _is_whole(matrix: FloatArray) -> bool:
    """Return whether all entries of a matrix are whole numbers."""
    return bool((matrix == np.round(matrix)).all())


def run_euclidize(options: argparse.Namespace, console: Console) -> None:
    """Run `energystats euclidize`: make dissimilarities in a file Euclidean, and write the new matrix."""
    from energystats.geometry.euclidize import cailliez, lingoes

    given, _ = read_matrix(options.file, dialect_of(options), console, names=options.id)
    with bad_input(given.file):
        result = (lingoes if options.method == "lingoes" else cailliez)(given.frame, options.tol)
    safe = {"console": console, "safe": options.spreadsheet_safe, "file": options.output}
    header, stubs = (tuple(harmless(names, **safe)) for names in (given.header, given.stubs))
    written = replace(given, header=header, stubs=stubs)
    if given.sep == ";" and options.decimal is None and not (given.shows_decimals or _is_whole(result.distances)):
        console.note(f"{options.output}: decimals are written with a point; --decimal , writes a comma.")
    save(options.output, lambda path: written.write(path, result.distances), console)
    save_picture(options.plot, [result], console)
    console.say(f"\n{given.file}: {given.describe()}.\n")
    console.tell(result.summary())
    answer = {"file": given.file, "n": len(given.distances), "output": str(options.output)}
    console.answer("euclidize", **answer, result=payload_of(result, console.table))


EUCLIDIZE = Command(
    run=run_euclidize,
    name="euclidize",
    summary="make a matrix of dissimilarities Euclidean",
    description=DESCRIPTION,
    options={
        "file": {**FILE["file"], "help": f"{LAYOUTS}; - reads standard input"},
        "--method": {
            "metavar": "NAME", "type": one_of("method", "lingoes", "cailliez"),
            "default": "lingoes", "help": "lingoes (default) or cailliez",
        },
        "-o --output": {
            "metavar": "CSV", "type": Path, "required": True, "help": "the repaired matrix, laid out as FILE is"
        },
        "--tol": {
            "type": checked_by(float, check_positive, name="tol"),
            "help": "rounding to allow for, as a share of the largest eigenvalue",
        },
        "--id": {
            **ID["--id"], "help": "column that names the rows; wherever it stands, as the first column does without"
        },
        **picture_of("repaired against original"),
        **SAFETY,
        **OUTPUT,
    },
    groups=("reading",),
    examples=EXAMPLES,
)  # fmt: skip
