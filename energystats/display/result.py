"""Base classes of all results."""

from __future__ import annotations

import abc
import html
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from energystats._typing import IntArray
from energystats.display.numbers import holds_chances, number, write_table_numbers
from energystats.display.sentences import Caution, sentences
from energystats.display.tables import TextTable, latex_text, markdown_text, shorten_name
from energystats.inputs.arrays import read_only
from energystats.inputs.columns import holds_numbers
from energystats.inputs.labels import mark_found
from energystats.inputs.names import find_index_names, list_names, write_label
from energystats.inputs.options import check_flag

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Approximation", "Labelled", "Named", "Result", "VerdictFirst", "notes_beside"]

HEADINGS = {  # of journals, in place of names of fields
    "pvalue": "p",
    "pvalue_adjusted": "p adjusted",
    "within": "W",
    "share": "S/T",
    "within_per_cluster": "W",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Result(abc.ABC):
    """Define what all results share: immutable, with summary, HTML, LaTeX and Markdown tables, data frame and plot."""

    _one_row: ClassVar[bool] = False  # set in two columns on paper, names and values, where all is written
    _label_columns: ClassVar[tuple[str, ...]] = ()  # beside the index: written so that they come back, never rounded

    # Sentences on these data and how they were handled, part of the summary; empty where there is nothing to say. Where
    # the verdict comes first, only the short beginnings of cautions are part of it.
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, entry.name, read_only(value))
            elif isinstance(value, dict):
                object.__setattr__(self, entry.name, MappingProxyType(dict(value)))

    def __repr__(self) -> str:
        plain = (int, float, str, bool)
        shown = (
            f"{entry.name}={_short_repr(getattr(self, entry.name))}"
            for entry in fields(self)
            if entry.repr and (entry.name == "metric" or isinstance(getattr(self, entry.name), plain))
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that a copy is as read-only as the original
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        values |= {name: dict(value) for name, value in values.items() if isinstance(value, MappingProxyType)}
        return partial(type(self), **values), ()

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        tables = "".join(table.as_html() for table in self._tables())
        below = _paragraphs(self._sentences())
        return f'<div class="energystats">{tables}{below}<p><b>{_sentence_html(self._conclusion())}</b></p></div>'

    def summary(self) -> str:
        """Return a result as text for reading: tables, sentences that explain them, and a conclusion in words."""
        tables = "\n\n".join(table.as_text() for table in self._tables())
        return "\n".join([tables, *sentences(self._sentences()), self._conclusion()])

    @abc.abstractmethod
    def _tables(self) -> list[TextTable]:
        """Return the text tables of a result's summary, as a list."""

    def _sentences(self) -> list[str]:
        """Return the sentences below the tables of a result's summary, which include its notes."""
        return [*self.notes]

    @abc.abstractmethod
    def _conclusion(self) -> str:
        """Return the last line of a result's summary, a sentence with the finding."""

    def to_frame(self, *, full: bool = False) -> pd.DataFrame:
        """Return a result as a pandas DataFrame: the columns that a journal prints, or all of them if `full`.

        Parameters
        ----------
        full : bool, default False
            Whether to add what is seldom printed: settings, null hypotheses, other sums.

        Returns
        -------
        DataFrame
            One row for each test, cluster, pair, term or number of clusters; columns have the names of fields.
        """
        check_flag(full, "full")
        frame = self._frame()
        main = self._main_columns()
        return frame if full or not main else frame[list(main)]

    @abc.abstractmethod
    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame with all columns."""

    def _main_columns(self) -> tuple[str, ...]:
        """Return the names of the columns that a journal prints; empty if it prints all."""
        return ()

    def _headings(self) -> dict[str, str]:
        """Return the headings that a journal prints instead of column names, by column name."""
        return {}

    def _headings_on_paper(self, options: dict[str, Any], *, full: bool) -> dict[Any, str]:
        """Return the headings of a printed table by column name; empty for full tables or chosen columns."""
        return {} if full or options.get("columns") is not None else HEADINGS | self._headings()

    def to_latex(self, buf: Any = None, *, full: bool = False, escape: bool = True, **options: Any) -> str | None:
        """Return a result as a LaTeX table, or write it to `buf`: the columns a journal prints, or all if `full`.

        Parameters
        ----------
        buf : path or file, optional
            Where to write; the text is returned when None.
        full : bool, default False
            Whether to write every column of `to_frame(full=True)`; `columns` may name any of them.
        escape : bool, default True
            Whether characters such as ``_`` and ``%`` in names stand for themselves.
        **options
            For `pandas.DataFrame.to_latex`, such as `float_format`, and `caption` and `label`, which are LaTeX already
            and never escaped; without `float_format` numbers and p-values are written as in the summary. A test in full
            stands in two columns, names and values; an index that only counts is left out.

        Returns
        -------
        str or None
            The text; it needs the LaTeX package booktabs.
        """
        own = options.get("formatters", {})
        if isinstance(own, dict):
            own = {self._headings_on_paper(options, full=full).get(name, name): form for name, form in own.items()}
        check_flag(escape, "escape")
        check_flag(full, "full")
        write = latex_text if escape else str
        plain = not {"float_format", "formatters"} & options.keys()
        frame, right = self._on_paper(options, write, full=full, plain=plain, own=own)
        if isinstance(own, dict) and own:
            options["formatters"] = {write(name): formatter for name, formatter in own.items()}
        sides = "l" * (frame.index.nlevels if options["index"] else 0) + "".join("lr"[number] for number in right)
        options.setdefault("column_format", sides)
        text: str | None = frame.to_latex(buf, escape=False, **options)
        return text

    def to_markdown(self, buf: Any = None, *, full: bool = False, **options: Any) -> str | None:
        """Return a result as a Markdown table, or write it to `buf`: the columns a journal prints, or all if `full`.

        Parameters
        ----------
        buf : path or file, optional
            Where to write; the text is returned when None.
        full : bool, default False
            Whether to write every column of `to_frame(full=True)`; `columns` may name any of them.
        **options
            For `pandas.DataFrame.to_markdown` and tabulate, such as `tablefmt` and `floatfmt`; without `floatfmt`
            numbers and p-values are written as in the summary. A test in full stands in two columns, names and values;
            an index that only counts is left out.

        Returns
        -------
        str or None
            The text.

        Raises
        ------
        ImportError
            If tabulate is not installed.
        """
        how = options.pop("floatfmt", None)
        check_flag(full, "full")
        frame, right = self._on_paper(options, markdown_text, full=full, plain=how is None, form=how)
        sides = ["left"] * (frame.index.nlevels if options["index"] else 0) + [("left", "right")[n] for n in right]
        options = {"colalign": sides, "disable_numparse": True, **options}
        try:
            text: str | None = frame.to_markdown(buf, **options)
        except ImportError as error:
            raise ImportError("`to_markdown` needs tabulate; `pip install tabulate`.") from error
        return text

    def _on_paper(
        self,
        options: dict[str, Any],
        write: Callable[[object], str],
        *,
        full: bool,
        plain: bool,
        own: Any = (),
        form: str | None = None,
    ) -> tuple[pd.DataFrame, list[bool]]:
        """Return a data frame formatted for LaTeX or Markdown, and which columns hold numbers; set `options["index"]`.

        A named index becomes a column, one that only counts is left out, and the single row of a test is set in
        columns. Unless `plain`, only p-values are written here, others in `form`; the columns `own` never are.
        """
        import pandas as pd

        headings = self._headings_on_paper(options, full=full)
        chosen = options.pop("columns", None)
        main = not full and chosen is None
        frame = self.to_frame(full=not main)
        if chosen is not None:
            unknown = [name for name in chosen if name not in frame]
            if unknown:
                names = list(map(str, frame))
                raise ValueError(
                    f"`columns` must name columns, got {unknown[0]!r}.{list_names(str(unknown[0]), names)}"
                )
            frame = frame[list(chosen)]
        frame = frame.rename(columns=headings)
        frame.index.names = [headings.get(name, name) for name in frame.index.names]
        labels: set[Any] = {headings.get(name, name) for name in self._label_columns}
        if options.get("index") is None:
            bare = frame.index.names == [None] and list(frame.index) == list(range(len(frame)))
            if not bare and None not in frame.index.names and not set(frame.index.names) & set(frame.columns):
                labels |= set(frame.index.names)
                frame, bare = frame.reset_index(), True
            options["index"] = not bare or frame.shape[1] == 0
        right = [holds_numbers(kind) for kind in frame.dtypes]
        left = set(own if isinstance(own, dict) else ())
        frame, labels = _format_labels(frame, labels - left), labels | left
        chances = {name for name in frame if holds_chances(name)}
        frame = write_table_numbers(frame, [n for n in frame if n not in labels and (plain or n in chances)])
        if form is not None:
            write_number = f"{{:{form}}}".format
            for name in frame.select_dtypes("float"):
                frame[name] = ["-" if np.isnan(value) else write_number(value) for value in frame[name]]
        if self._one_row and not (main and self._main_columns()) and not options["index"]:
            frame, right = frame.T.set_axis(["value"], axis=1), [True]
            options["index"] = True

        def text(value: Any) -> Any:
            if value is pd.NA:
                return "-"
            return value if value is None or isinstance(value, int | float | np.number | np.bool_) else write(value)

        def label(value: Any) -> Any:
            return None if value is None else write(write_label(value))

        frame = frame.map(text).rename(index=label, columns=label)
        return frame.rename_axis(index=[text(name) for name in frame.index.names]), right

    @abc.abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a result on `ax`, or on a new figure if None, and return the axes."""


def _format_labels(frame: pd.DataFrame, names: Collection[Any]) -> pd.DataFrame:
    """Format the labels in some columns of a data frame, given by name, as summaries do, "-" if missing."""

    def write(column: pd.Series[Any]) -> pd.Series[Any]:
        if column.name not in names:
            return column
        return column.astype(object).map(write_label, na_action="ignore").fillna("-")

    return frame.apply(write)


LINES = 8  # between a verdict and the tables
CAUTION_LINES = 4  # of these, where there are so many cautions


class VerdictFirst(Result):
    """Hold a result whose summary begins with the conclusion and the facts behind it; other notes are in `notes`."""

    __slots__ = ()

    @abc.abstractmethod
    def _rests_on(self) -> list[str]:
        """Return sentences with the facts behind a conclusion, the most important first."""

    @abc.abstractmethod
    def _explanations(self) -> list[str]:
        """Return sentences that explain the method of a test, for its notes."""

    def _below(self) -> list[str]:
        """Return the sentences at the end of a summary; none by default."""
        return []

    def explained(self) -> Self:
        """Return a copy of a result whose notes also hold facts and explanations left out of its summary."""
        explanations = self._explanations()
        # with all cautions, for which facts leave room
        shown = replace(self, notes=(*self.notes, *explanations))._head()[0]
        left_out = [text for text in self._rests_on() if text not in shown]
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *left_out, *explanations))))

    def _head(self) -> tuple[list[str], str]:
        """Return the paragraphs of a summary between conclusion and tables, and a line on notes that are not shown."""
        cautions = [f"Caution: {note.short}" for note in self.notes if isinstance(note, Caution)]
        shown = _fitting(cautions, CAUTION_LINES)
        facts = _fitting(self._rests_on(), LINES - sum(map(_count_lines, shown)))
        shown = _fitting(cautions, LINES - sum(map(_count_lines, facts)))
        left = len(cautions) - len(shown)
        also = f", {left} of them {'a caution' if left == 1 else 'cautions'} for which there was no room" * bool(left)
        return facts + shown, f"{self._count_notes()}{also}: see `.notes`." if self.notes else ""

    def _count_notes(self) -> str:
        """Return the number of notes of a result as text, such as '3 notes'."""
        return f"{len(self.notes)} note{'s' * (len(self.notes) > 1)}"

    def summary(self) -> str:
        """Return the result as text: the conclusion, at most eight lines of facts, and tables; more is in `notes`."""
        head, more = self._head()
        tables = "\n\n".join(table.as_text() for table in self._tables())
        end = [*sentences(self._below()), *filter(None, [more])]
        return "\n".join([*sentences([self._conclusion(), *head]), "", tables, *end])

    def _repr_html_(self) -> str:
        tables = "".join(table.as_html() for table in self._tables())
        notes = f"<details><summary>{self._count_notes()}</summary>{_paragraphs(self.notes)}</details>"
        verdict = f"<p><b>{_sentence_html(self._conclusion())}</b></p>"
        below = _paragraphs(self._below()) + notes * bool(self.notes)
        return f'<div class="energystats">{verdict}{_paragraphs(self._head()[0])}{tables}{below}</div>'


def notes_beside(result: VerdictFirst) -> tuple[str, ...]:
    """Return the notes of a result that hold beside another result, with clusters and p-values of its own."""
    facts = result._rests_on()
    return tuple(note for note in result.notes if note not in facts)


def _count_lines(text: str) -> int:
    """Return the number of lines that a text takes when wrapped as a paragraph of a summary."""
    return next(sentences([text])).count("\n") + 1


def _fitting(texts: list[str], lines: int) -> list[str]:
    """Select the first paragraphs that together fit into a given number of lines."""
    kept = []
    for text in texts:
        lines -= _count_lines(text)
        if lines < 0:
            break
        kept.append(text)
    return kept


def _sentence_html(text: str) -> str:
    """Convert a sentence to HTML, with text in backquotes as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _paragraphs(texts: Iterable[str]) -> str:
    """Convert sentences to HTML paragraphs."""
    return "".join(f"<p>{_sentence_html(text)}</p>" for text in texts)


def _short_repr(value: object) -> str:
    """Return the repr of a value, floats with six digits; a float that would be rounded to 1 keeps all digits."""
    if not isinstance(value, float):
        return repr(value)
    text = f"{value:.6g}"
    return repr(float(value if float(text) == 1 else text))


MEMBERS_LISTED = 40  # points, beyond which clusters are not written out


class Named(Result):
    """Hold a result with an `index` that names its points."""

    __slots__ = ()

    index: Any

    @property
    def names(self) -> tuple[str, ...] | None:
        """Return the names of the points; None if they have none, or only row numbers."""
        return find_index_names(self.index)

    def _index(self) -> Any:
        """Return a copy of the points' index that can be renamed safely; None without an index."""
        return None if self.index is None else self.index.copy()

    @property
    def has_string_names(self) -> bool:
        """Return whether the points have names other than whole numbers."""
        return self.names is not None and not all(name.lstrip("-").isdigit() for name in self.names)


class Labelled(Named):
    """Hold a result with a cluster label for each of its points."""

    __slots__ = ()

    labels: IntArray
    k: int

    def to_series(self) -> pd.Series[Any]:
        """Return the cluster of every point as a Series named "cluster", with the index of the clustered data frame.

        Then ``frame["cluster"] = found.to_series()`` puts every label into its row. Tests of groups recognise the
        Series, and warn that its groups were found. The column is not recognised: pandas keeps no mark of it.
        """
        import pandas as pd

        labels = pd.Series(self.labels.copy(), index=self._index(), name="cluster")
        mark_found(labels)
        return labels

    def _members(self) -> list[str]:
        """Return sentences that list the points of every cluster, for up to forty named points."""
        names = self.names
        if names is None or not self.has_string_names or len(names) > MEMBERS_LISTED:
            return []
        inside = [[shorten_name(names[i]) for i in range(len(names)) if self.labels[i] == j] for j in range(self.k)]
        return [f"Cluster {j}: {', '.join(part)}." for j, part in enumerate(inside)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximation:
    """Hold estimates of W, S and T of a partition, and their errors, where not all pairs were computed."""

    # n_landmarks, n_features: points whose span takes the place of the feature space, and its dimension
    n_landmarks: int
    n_features: int
    batch_size: int  # rows on which the starts were searched
    n_pairs: int  # random pairs behind W, all of them in clusters of up to 1,024 points; T has pairs of its own
    # within_error, between_error, total_error: standard errors of W, S and T over the draws of these pairs
    within_error: float
    between_error: float
    total_error: float
    # between these W lies for certain: W of the features, and that plus what lies outside the landmarks' span, with
    # 1e-13 of T for rounding on either side, and not below 0
    within_limits: tuple[float, float]
    outside: float  # the sum of the squared distances of all points from the landmarks' span, as a share of T

    def rows(self) -> list[list[str]]:
        """Return summary-table rows with standard errors of approximate dispersions, and sure limits of W."""
        errors = {"W": self.within_error, "S": self.between_error, "T": self.total_error}
        rows = [[f"standard error of {name}", number(error)] for name, error in errors.items()]
        return [*rows, ["W for certain", " to ".join(map(number, self.within_limits))]]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on how approximate dispersions were computed, and on their bound."""
        sums = f"W, S and T are unbiased estimates from these features and {self.n_pairs} random pairs of points."
        if not (self.within_error or self.total_error):
            sums = "W, S and T of these clusters are exact."
        return (
            f"APPROXIMATE: the search saw {self.n_features} Nystrom features of {self.n_landmarks} landmarks, outside "
            f"whose span {100 * self.outside:.3g} % of T lie. {sums} Starts were searched on {self.batch_size} rows.",
            "The bound on S is that of the features plus all that lies outside their span: valid, but looser than the "
            "eigenvalues of all pairs.",
        )
