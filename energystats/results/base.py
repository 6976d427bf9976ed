"""What every result has in common."""

from __future__ import annotations

import abc
import html
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Result"]

WIDTH = 96  # columns of a summary's notes


class Result(abc.ABC):
    """Contract of every result: immutable, one-line repr, text and HTML tables, a frame and a plot."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                frozen = value.copy()  # the array given may be the user's own, or a view of a larger one
                frozen.flags.writeable = False
                object.__setattr__(self, entry.name, frozen)

    def __repr__(self) -> str:
        plain = (int, float, str, bool)
        shown = (
            f"{entry.name}={getattr(self, entry.name)!r}"
            for entry in fields(self)  # type: ignore[arg-type]
            if entry.repr and (entry.name == "metric" or isinstance(getattr(self, entry.name), plain))
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that a copy is as read-only as the original
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        return _rebuilt, (type(self), values)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        tables = self._tables()
        for table in tables:
            table.title = html.escape(table.title)
            for row in table:
                for cell in row:
                    cell.data = html.escape(str(cell.data))
        notes = (f"<p>{html.escape(note)}</p>" for note in self._notes())
        return "".join([*(table.as_html() for table in tables), *notes])

    def summary(self) -> str:
        """Text table, as a paper would print it, and what has to be known to read it."""
        notes = (textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in self._notes())
        return "\n".join([*(table.as_text() for table in self._tables()), *notes])

    @abc.abstractmethod
    def _tables(self) -> list[Any]:
        """Tables of the summary, as statsmodels' SimpleTable."""

    def _notes(self) -> list[str]:
        """Sentences below the tables."""
        return []

    @abc.abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Table of the numbers, as a pandas DataFrame."""

    @abc.abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result on `ax` (a new figure when None) and return the axes."""


def _rebuilt(kind: type[Result], values: dict[str, Any]) -> Result:
    return kind(**values)
