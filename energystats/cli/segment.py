"""`energystats segment`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.file_table import EXACT, FileTable
from energystats.cli.files import save_picture, write_labels
from energystats.cli.groups import PLACE_IN_ORDER
from energystats.cli.options import (
    FILE,
    FLAG,
    GENERAL,
    ID,
    ROWS_OF_MATRIX,
    SAFETY,
    Command,
    arguments_of,
    checked_by,
    count,
    picture_of,
    resamples_of,
)  # fmt: skip
from energystats.cli.payloads import payload_of
from energystats.cli.points import note_if_equal, read_points
from energystats.inputs.arrays import check_level
from energystats.inputs.columns import holds_numbers
from energystats.inputs.options import check_not_negative

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SEGMENT"]


DESCRIPTION = """\
Test whether the distribution of ordered rows changes, and where: breaks are found one by one, each with a permutation
p-value, until one is not rejected. With -k or --penalty the rows are cut into the segments with the smallest W, without
a test."""
EXAMPLES = """\
  energystats segment nile.csv --order year --plot breaks.png
  energystats segment core.csv --order depth --metric bray --labels zones.csv
  energystats segment flow.csv --order date --block-length 10     # where neighbours depend on each other
  energystats segment core.csv --order depth -k 4"""
FINER = re.compile(r"[.,]\d{9}\d*[1-9]")  # fractions of a second that pandas would cut
OF_TEST = ("--block-length", "--max-breaks", "--level", "--resamples", "--seed")


def run_segment(options: argparse.Namespace, console: Console) -> None:
    """Run `energystats segment`: find breaks in the ordered rows of a file, and write the results."""
    from energystats.clustering.segments import segment
    from energystats.distribution_tests.segment_test import segment_test

    table, labels = read_points(options, console, {"--order": (options.order, PLACE_IN_ORDER)})
    order = _convert_order(table, labels[options.order])
    how = {**arguments_of(options), "order": order, "min_size": options.min_size}
    with bad_input(table.file, table.where), console.announcing_compilation():
        result: Any
        if _is_cut(options):
            how = {name: value for name, value in how.items() if name not in ("n_resamples", "rng")}
            result = segment(table.frame, options.k, penalty=options.penalty, exact=options.exact or None, **how)
        else:
            asked = {"block_length": options.block_length, "max_breaks": options.max_breaks, "level": options.level}
            result = segment_test(table.frame, **asked, **how)
    note_if_equal(result.total, len(table.frame), options.metric, console)
    rows = [int(i) + 1 for i in table.frame.index]  # row 1 is the first below the header
    if options.labels is not None:
        # in their order, which is how zones are read
        places = labels[options.order].iloc[result.rows].tolist()
        heading = "order" if options.order in ("row", "segment") else options.order  # whose columns have these names
        columns = {"row": [rows[i] for i in result.rows], heading: places, "segment": result.labels[result.rows]}
        write_labels(options.labels, columns, console, safe=options.spreadsheet_safe)
    save_picture(options.plot, [result], console)
    console.tell(result.summary())
    head = {"file": table.file, "n": len(rows), "n_read": table.n_read, "columns": list(table.frame.columns)}
    breaks = [str(labels[options.order].iloc[result.rows[b]]) for b in result.breakpoints]
    found = payload_of(result, console.table) | {"rows": rows, "breaks": breaks}
    console.answer("segment", **head, order=options.order, seed=options.seed, segments=found)


def _is_cut(options: argparse.Namespace) -> bool:
    """Return whether options ask for a segmentation with given k or penalty, without a test."""
    return options.k is not None or options.penalty is not None


def _convert_order(table: FileTable, texts: pd.Series[Any]) -> pd.Series[Any]:
    """Convert the text of an order column to numbers or dates, exactly; raise BadInputError for other text."""
    import pandas as pd

    if holds_numbers(texts) or texts.dtype.kind == "M":
        return texts
    entries = [str(text).strip() for text in texts]
    numbers = [table.dialect.value_of(text) for text in entries]
    if None not in numbers:
        known = [number for number in numbers if number is not None]
        exact = all(isinstance(number, float) or abs(number) <= EXACT for number in known)
        values: list[Any] = list(map(float, known)) if exact else known
        return pd.Series(values, texts.index, dtype=float if exact else object, name=texts.name)
    try:
        times = pd.Series(pd.to_datetime(entries, format="ISO8601"), texts.index, name=texts.name)
    except ValueError as error:
        raise _not_an_order(table, texts, entries, numbers) from error
    cut = next((i for i, entry in enumerate(entries) if FINER.search(entry)), None)
    if cut is not None:
        raise BadInputError(
            f"{table.file}: --order must not be finer than a nanosecond, and {texts.name!r} has {entries[cut]!r} in "
            f"{table.where(int(texts.index[cut]))}; a column of numbers, such as seconds since a time, can be."
        )
    return times


def _not_an_order(
    table: FileTable, texts: pd.Series[Any], entries: list[str], numbers: list[int | float | None]
) -> BadInputError:
    """Return the error for an order column, naming its first value that is neither number nor date."""
    import pandas as pd

    times = [pd.to_datetime(entry, format="ISO8601", errors="coerce") for entry in entries]
    dates = [None if pd.isna(time) else time for time in times]
    values: list[Any] = [*numbers] if dates.count(None) >= numbers.count(None) else dates
    rule = f"{table.file}: --order must name a column of numbers or of dates such as 2001-05-31, and {texts.name!r} has"

    def place(i: int) -> str:
        return f"{entries[i]!r} in {table.where(int(texts.index[i]))}"

    if None in values:
        return BadInputError(f"{rule} {place(values.index(None))}.")
    # all are dates, but not together
    zones = [date.utcoffset() for date in values]
    other = next((i for i, zone in enumerate(zones) if zone != zones[0]), None)
    if other is None:
        return BadInputError(f"{rule} dates that cannot be read together, from {entries[0]!r} on.")
    return BadInputError(
        f"{table.file}: --order must have one offset from UTC, or none, in all of its dates, and {texts.name!r} has "
        f"{place(0)} and {place(other)}; write all of them in UTC."
    )


SEGMENT = Command(
    run=run_segment,
    name="segment",
    summary="test whether the distribution changes along time, depth or another order, and where",
    description=DESCRIPTION,
    options={
        **FILE,
        "--order": {"metavar": "COL", "required": True, "help": "column of numbers or ISO dates that orders the rows"},
        "-k": {"type": count("k"), "help": "cut into so many segments, without a test"},
        "--penalty": {
            "metavar": "W", "type": checked_by(float, check_not_negative, name="penalty"),
            "help": "cut where that lowers W by more than this, without a test",
        },
        "--exact": {**FLAG, "help": "read all pairs of more than 20,000 rows, too, with -k or --penalty"},
        "--min-size": {
            "metavar": "N", "type": count("min_size"), "default": 2,
            "help": "rows of a segment, at least (default %(default)s)",
        },
        "--block-length": {
            "metavar": "N", "type": count("block_length"),
            "help": "permute blocks of so many rows, where neighbours depend on each other (default 1)",
        },
        "--max-breaks": {"metavar": "N", "type": count("max_breaks"), "help": "stop after so many breaks"},
        "--level": {
            "type": checked_by(float, check_level), "default": 0.05, "help": "level of each test (default %(default)s)"
        },
        **ID,
        "--labels": {"metavar": "CSV", "type": Path, "help": "write the segment of every row, in their order"},
        **SAFETY,
        **picture_of("the series and its breaks"),
        **GENERAL,
        **resamples_of(199, "random orders; all of them where they are fewer (default %(default)s)"),
    },
    groups=("columns", "rows and columns", "reading"),
    examples=EXAMPLES,
    useless=(
        *((option, _is_cut, "with -k or --penalty, which test nothing") for option in OF_TEST),
        ("--penalty", lambda o: o.k is not None, "with -k"),
        ("--exact", lambda o: not _is_cut(o), "without -k or --penalty: the test reads all pairs"),
        ("--spreadsheet-safe", lambda o: o.labels is None, "without --labels"),
        ROWS_OF_MATRIX,
    ),
)  # fmt: skip
