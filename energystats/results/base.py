"""What every result has in common."""

from __future__ import annotations

import abc
import html
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats.tables import Table, latex_text, markdown_text, sentences, written

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Result"]


class Result(abc.ABC):
    """Contract of every result: immutable, one-line repr, text, HTML, LaTeX and Markdown tables, a frame and a plot."""

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
            f"{entry.name}={short_repr(getattr(self, entry.name))}"
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
        tables = "".join(table.as_html() for table in self._tables())
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        return f'<div class="energystats">{tables}{notes}<p><b>{html.escape(self._conclusion())}</b></p></div>'

    def summary(self) -> str:
        """Text tables, as a paper would print them, what has to be known to read them, and a last line in words."""
        tables = "\n\n".join(table.as_text() for table in self._tables())
        return "\n".join([tables, *sentences(self._notes()), self._conclusion()])

    @abc.abstractmethod
    def _tables(self) -> list[Table]:
        """Tables of the summary."""

    def _notes(self) -> list[str]:
        """Sentences below the tables."""
        return []

    @abc.abstractmethod
    def _conclusion(self) -> str:
        """The last line of the summary: what was found, in words that claim no more than that."""

    @abc.abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Table of the numbers, as a pandas DataFrame."""

    def to_latex(self, buf: Any = None, *, escape: bool = True, **options: Any) -> str | None:
        """Table of `to_frame` for LaTeX, by pandas.

        Parameters
        ----------
        buf : path or file, optional
            Where to write; the text is returned when None.
        escape : bool, default True
            Whether characters such as ``_`` and ``%`` in names stand for themselves.
        **options
            For `pandas.DataFrame.to_latex`, such as `caption`, `label` and `float_format`; without `float_format`
            numbers and p-values are written as in the summary. The index is left out where it only counts.

        Returns
        -------
        str or None
            The text; it needs the LaTeX package booktabs.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        """
        frame = self.to_frame()
        right = ["r" if np.issubdtype(kind, np.number) else "l" for kind in map(numpy_kind, frame.dtypes)]
        frame = frame if {"float_format", "formatters"} & options.keys() else written(frame)
        frame = renamed(frame, latex_text) if escape else frame
        index = options.setdefault("index", not counts(frame.index))
        if {"columns", "column_format"}.isdisjoint(options):
            options["column_format"] = "l" * (frame.index.nlevels if index else 0) + "".join(right)
        try:
            text: str | None = frame.to_latex(buf, escape=False, **options)
        except ImportError as error:
            raise ImportError("`to_latex` needs jinja2; `pip install jinja2`.") from error
        return text

    def to_markdown(self, buf: Any = None, **options: Any) -> str | None:
        """Table of `to_frame` for Markdown, by pandas.

        Parameters
        ----------
        buf : path or file, optional
            Where to write; the text is returned when None.
        **options
            For `pandas.DataFrame.to_markdown` and tabulate, such as `tablefmt` and `floatfmt`; without `floatfmt`
            numbers and p-values are written as in the summary. The index is left out where it only counts.

        Returns
        -------
        str or None
            The text.

        Raises
        ------
        ImportError
            If tabulate is not installed.
        """
        frame = self.to_frame()
        right = ["right" if np.issubdtype(kind, np.number) else "left" for kind in map(numpy_kind, frame.dtypes)]
        index = options.setdefault("index", not counts(frame.index))
        if "floatfmt" not in options:
            frame = written(frame)
            options.setdefault("disable_numparse", True)
            options.setdefault("colalign", ["left"] * (frame.index.nlevels if index else 0) + right)
        try:
            text: str | None = renamed(frame, markdown_text).to_markdown(buf, **options)
        except ImportError as error:
            raise ImportError("`to_markdown` needs tabulate; `pip install tabulate`.") from error
        return text

    @abc.abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result on `ax` (a new figure when None) and return the axes."""


def _rebuilt(kind: type[Result], values: dict[str, Any]) -> Result:
    return kind(**values)


def short_repr(value: object) -> str:
    """Python code of a value, a float with six digits unless they would make 1 of what is less."""
    if not isinstance(value, float):
        return repr(value)
    text = f"{value:.6g}"
    return repr(float(value if float(text) == 1 else text))


def numpy_kind(dtype: Any) -> Any:
    """NumPy's type of a pandas column; that of objects where there is none."""
    kind = getattr(dtype, "numpy_dtype", dtype)
    return kind if isinstance(kind, np.dtype) else np.dtype(object)


def counts(index: pd.Index[Any]) -> bool:
    """Whether an index is 0, 1, 2, ... without a name."""
    return index.name is None and index.nlevels == 1 and list(index) == list(range(len(index)))


def renamed(frame: pd.DataFrame, write: Any) -> pd.DataFrame:
    """A frame whose texts, names of rows and columns included, are written in another way."""

    def written_text(value: Any) -> Any:
        return value if isinstance(value, int | float | np.number | np.bool_) else write(value)

    frame = frame.copy()
    for j, kind in enumerate(frame.dtypes):
        if numpy_kind(kind) == np.dtype(object):
            frame.isetitem(j, [value if value is None else written_text(value) for value in frame.iloc[:, j]])
    frame.columns = frame.columns.map(written_text)
    names = [None if name is None else written_text(name) for name in frame.index.names]
    frame.index = frame.index.map(
        (lambda row: tuple(map(written_text, row))) if frame.index.nlevels > 1 else written_text
    )
    frame.index.names = names
    return frame
