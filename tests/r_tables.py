"""Compare what the command line reads with what R reads, on the files of `write_tables.R`.

    Rscript tests/oracles_csv/write_tables.R FOLDER
    python -m tests.r_tables FOLDER

Prints how many files agree, which were refused and why, and every difference; exit status 1 if there is a difference.
Counted apart: R makes truth values of a column of "T" and "F", and `read.csv2` leaves numbers with a point as text.
Every table is then written by pandas in several ways and read once more.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from energystats.cli.console import Console
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.file_table import FileTable
from energystats.cli.reading import read_table
from energystats.inputs.columns import holds_numbers

SHORT = {"T": "TRUE", "F": "FALSE"}


def difference(table: FileTable, expected: dict[str, Any]) -> str | None:
    """The first difference to what R read, or None."""
    if expected["names"] is None:
        return "R itself cannot read it back"
    if list(table.frame.columns) != expected["names"]:
        return f"names {list(table.frame.columns)[:4]} for {expected['names'][:4]}"
    if table.row_names is not None and [plain(v) for v in table.row_names] != [plain(v) for v in expected["rows"]]:
        return f"names of rows {list(table.row_names)[:3]} for {expected['rows'][:3]}"
    for name, column in zip(expected["names"], expected["columns"], strict=True):
        if (what := column_difference(table.frame[name], column)) is not None:
            return f"column {name!r}: {what}"
    return None


def say(line: str) -> None:
    """One line on standard output."""
    sys.stdout.write(f"{line}\n")


def plain(name: str) -> str:
    """R's `row.names = 1` reads the name 001 as 1."""
    return (name.lstrip("0") or "0") if name.isdigit() else name


def column_difference(ours: pd.Series, theirs: dict[str, Any]) -> str | None:
    """Kind, missing values and values of a column."""
    values = pd.Series(theirs["values"], dtype=object)
    gaps = values.isna().to_numpy()
    if (ours.isna().to_numpy() != gaps).any():
        return f"{int(ours.isna().sum())} missing for {int(gaps.sum())}"
    if gaps.all():
        return None
    if theirs["kind"] == "number":
        if not holds_numbers(ours):
            return f"{ours.dtype} for numbers"
        expected = values.astype(float).to_numpy()
        got = ours.to_numpy(dtype=float, na_value=np.nan)
        close = np.isclose(got, expected, rtol=4e-16, atol=0, equal_nan=True)
        return None if close.all() else f"{got[~close][0]!r} for {expected[~close][0]!r}"
    if holds_numbers(ours):
        numbers = pd.to_numeric(values[~gaps], errors="coerce").to_numpy(dtype=float)
        same = np.allclose(ours.to_numpy(dtype=float)[~gaps], numbers, rtol=4e-16)
        return "points kept as text" if same and theirs["kind"] == "text" else f"numbers for {theirs['kind']}"
    got = ours[~gaps].map(str).tolist()
    if theirs["kind"] == "logical":
        if not pd.api.types.is_bool_dtype(ours.dtype):
            return "T and F" if [SHORT.get(v) for v in got] == values[~gaps].tolist() else "text for truth values"
        got = [value.upper() for value in got]
    wrong = [(a, b) for a, b in zip(got, values[~gaps], strict=True) if a != b]
    return f"{wrong[0][0]!r} for {wrong[0][1]!r}" if wrong else None


PANDAS: tuple[dict[str, Any], ...] = (
    {},
    {"index": False},
    {"sep": ";", "decimal": ","},
    {"sep": "\t", "index": False},
    {"quoting": csv.QUOTE_NONNUMERIC},  # a missing text as "", which needs --quoted-na missing
)


def from_pandas(table: FileTable, folder: str) -> Iterator[tuple[str, str | None]]:
    """The first difference after pandas has written the table, for several ways."""
    if any((table.frame[name] == "").any() for name in table.frame.columns):
        return  # pandas writes an empty text and a missing one alike
    frame = table.frame if table.row_names is None else table.frame.set_axis(table.row_names, axis=0)
    for how in PANDAS:
        file = Path(folder) / "pandas.tmp"
        frame.to_csv(file, **how)
        try:
            back = read_table(str(file), Dialect(quoted_na="missing" * ("quoting" in how) or None), Console(quiet=True))
            pd.testing.assert_frame_equal(back.frame, table.frame, check_dtype=False)
            what = None
            if how.get("index", True) and table.row_names is not None:
                what = None if list(back.row_names) == list(table.row_names) else "names of rows"
        except (BadInputError, AssertionError) as error:
            what = " ".join(str(error).split())
        yield str(how), what


def main(folder: str) -> int:
    """Compare every file of a folder."""
    counts: Counter[str] = Counter()
    tables = set()
    for answer in sorted(Path(folder).glob("*.json")):
        expected = json.loads(answer.read_text(encoding="utf-8"))
        try:
            table = read_table(str(answer.with_suffix("")), Dialect(), Console(quiet=True))
        except BadInputError as error:
            counts["refused"] += 1
            say(f"refused: {str(error).removeprefix(folder)}")
            continue
        tables.add((expected["package"], expected["table"]))
        found = difference(table, expected)
        apart = ("T and F", "R itself cannot read it back", "points kept as text")
        kind = "equal" if found is None else next((a for a in apart if found.endswith(a)), "different")
        counts[kind] += 1
        if kind != "equal":
            say(f"{kind}: {answer.stem}: {found}")
        if expected["way"] == "csv":
            for how, what in from_pandas(table, folder):
                counts["equal from pandas" if what is None else "different"] += 1
                if what is not None:
                    say(f"different: {answer.stem} by pandas with {how}: {what}")
    say(f"{len(tables)} tables: " + ", ".join(f"{number} files {what}" for what, number in counts.most_common()))
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
