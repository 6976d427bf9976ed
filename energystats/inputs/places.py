"""Say where rows stand in a table of the user, and raise errors that name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from energystats.inputs.names import find_index_names, name_text

__all__ = ["Fault", "Place", "RowError", "row_places"]


Place = Callable[[int], tuple[str, Any]]  # where row i of the points stands, and its label if it has one


@dataclass(frozen=True, slots=True)
class Fault:
    """Describe why a metric cannot compare one row of a table."""

    row: int  # its number, from 0
    cause: str  # what is wrong with it, such as "is all zeros"
    rule: str  # what the metric needs, such as "has no value for rows of zeros"
    advice: str  # what to do
    # the number of a second row, with which the first cannot be compared; `cause` ends before it
    other: int | None = None


class RowError(ValueError):
    """Report a row that a metric cannot compare; the message can also name the row's line in a file.

    Parameters
    ----------
    metric : str
        The metric, as the user may write it.
    fault : Fault
        What is wrong.
    place : callable
        Where a row is in the user's table, and the entry of the table's index, or None without one.
    """

    def __init__(self, metric: str, fault: Fault, place: Place) -> None:
        self.metric: str = metric
        self.fault: Fault = fault
        self.places: list[tuple[str, Any]] = [place(row) for row in (fault.row, fault.other) if row is not None]
        super().__init__(self.message())

    def message(self, where: Callable[[int], str] | None = None) -> str:
        """Return the error message; `where` can say anew where rows are, from whole numbers in the table's index."""
        known = where is not None and all(label is not None for _, label in self.places)
        first, *others = [where(int(label)) if where and known else place for place, label in self.places]
        cause = " ".join([self.fault.cause, *others])
        return f"{self.metric} {self.fault.rule}, but {first} {cause}; {self.fault.advice}."

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueError, (str(self),)


def row_places(names: Sequence[str], sizes: Sequence[int], indexes: Sequence[Any]) -> Place:
    """Return a function that describes row i of stacked tables in messages, by index label or number."""
    # an index that merely counts rows names nothing, so such rows are called by their number
    ends = np.cumsum(sizes)

    def place(row: int) -> tuple[str, Any]:
        t = int(np.searchsorted(ends, row, side="right"))
        own = row - int(ends[t]) + sizes[t]
        name = names[t] if " " in names[t] else f"`{names[t]}`"
        label = None if indexes[t] is None else indexes[t][own]
        if find_index_names(indexes[t]) is None:
            return f"row {own} of {name}", label
        return f"row {name_text(label)!r} (number {own}) of {name}", label

    return place
