"""Write the names of rows, columns and options in messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = [
    "COUNT_NAME",
    "SUBJECT_NAME",
    "Places",
    "check_one_column",
    "counts_only",
    "find_index_names",
    "list_names",
    "name_text",
    "near_names",
    "write_label",
    "write_names",
]


SUBJECT_NAME = re.compile(  # names of columns whose numbers are labels, also where they repeat
    r"(.*[\W_])?(p?id|subj|subject|participant|patient|respondent)\.?|index|.*(?-i:[a-z0-9]ID|[^\W_]Id)",
    re.IGNORECASE,
)
COUNT_NAME = re.compile(  # which may be measured where they repeat
    r"(.*[\W_])?(nr|no)\.?|case|row|row[\W_]?names?|unnamed: \d+", re.IGNORECASE
)


class Places:
    """Format names and positions of the entries of a square matrix for messages.

    Parameters
    ----------
    names : sequence of str or None
        Names of the rows and columns, where there are any.
    """

    def __init__(self, names: Sequence[str] | None) -> None:
        self.names = names

    def item(self, i: int) -> str:
        """Return the name of row or column i of a matrix, or its number as text."""
        return str(i) if self.names is None else self.names[i]

    def entry(self, i: int, j: int) -> str:
        """Return the position of entry (i, j) of a matrix as text, with row and column names if there are any."""
        return f"({i}, {j})" + ("" if self.names is None else f" from {self.names[i]} to {self.names[j]}")


def name_text(name: object) -> str:
    """Return the name of a row or column as text; the levels of a MultiIndex are joined by commas."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def write_names(labels: Iterable[object]) -> tuple[str, ...]:
    """Return the names of all rows or columns as texts; the levels of a MultiIndex are joined by commas."""
    return tuple([", ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in labels])


def write_label(label: object) -> str:
    """Format a label, such as a group's or a place in an order, as text with the fewest digits that are exact.

    A whole number has no point, and a date no time of day where that is midnight.
    """
    if hasattr(label, "normalize") and hasattr(label, "isoformat"):
        if not hasattr(label, "year") or label != label.normalize():
            return str(label)
        day: Any = label  # years before 1 and after 9999 have no date()
        return f"{day.year:04}-{day.month:02}-{day.day:02}"
    if isinstance(label, float | np.floating):
        return str(label + 0.0).removesuffix(".0")  # -0 is 0
    return str(label)


def counts_only(index: Any) -> bool:
    """Return whether an index only counts the rows 0, 1, ..., so that rows have no names."""
    return getattr(index, "start", None) == 0 and index.step == 1


def find_index_names(index: Any) -> tuple[str, ...] | None:
    """Return the entries of an index as texts; None if it only counts the rows."""
    if index is None or counts_only(index):
        return None
    names = write_names(index)
    return None if names == tuple(map(str, range(len(names)))) else names


def near_names(name: str, known: Iterable[Hashable]) -> str:
    """Return a hint ' Did you mean ...?' with known names similar to an unknown one; "" if none is similar."""
    by_lower = {str(k).lower().strip(): k for k in known}  # a name with blanks around it is shown with them
    near = difflib.get_close_matches(name.lower().strip(), by_lower, n=3)
    return f" Did you mean {' or '.join(repr(by_lower[k]) for k in near)}?" if near else ""


def list_names(name: str, known: Sequence[str]) -> str:
    """Return a sentence that lists the columns with names similar to an unknown one, or else all columns."""
    return near_names(name, known) or (f" Columns: {', '.join(map(repr, known))}." if known else "")


def check_one_column(name: object, columns: Sequence[object], argument: str) -> None:
    """Raise ValueError if a name that an argument gives is that of several columns."""
    if (count := list(columns).count(name)) > 1:
        raise ValueError(f"`{argument}` names {name!r}, but {count} columns have that name; rename them.")
