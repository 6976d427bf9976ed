"""How numbers, p-values, names and tables are written."""

from __future__ import annotations

import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from energystats._core.permutation import pvalue_interval
from energystats._core.statistics import share

if TYPE_CHECKING:
    import pandas as pd

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = [
    "LEVEL",
    "Table",
    "cut",
    "cut_all",
    "decomposition_table",
    "exact_note",
    "interval_text",
    "latex_text",
    "markdown_text",
    "metric_note",
    "metric_text",
    "number",
    "numbers",
    "p_text",
    "probability",
    "proportion",
    "random_interval",
    "seed_note",
    "sizes_text",
    "text_table",
    "undecided",
    "verdict",
    "written",
]

WIDTH = 96  # columns of a summary
GAP = "  "
ROWS_SHOWN = 60  # of a table in a summary
NAME_LENGTH = 24
LEVEL = 0.05  # of the plain words below a test
SMALLEST_P = 2.2e-16  # smaller ones are rounding of the law that they come from
ROUNDING = 1e-12  # of the largest number of a column
PLACES_SHOWN = 8  # decimals beyond which a column has exponents
LARGEST_SHOWN = 1e10  # from which on it has them too
NUMERAL = re.compile(r"[<>]?[-+]?\d+(\.\d+)?(e[-+]?\d+)?%?")


# ---------------------------------------------------------------- numbers


def number(value: float) -> str:
    """Six significant digits; an exponent for the very small and the very large alone."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if 1e6 <= abs(value) < LARGEST_SHOWN:
        return f"{value:.0f}"
    text = f"{value:.6g}"
    return "0" if float(text) == 0 else text


def numbers(values: Iterable[float], digits: int = 6) -> list[str]:
    """Numbers of one column with as many decimals as the largest needs for `digits` significant ones.

    More, if the smallest would have fewer than two; what lies below the largest by twelve digits is 0 to rounding.
    """
    column = [float(value) for value in values]
    sizes = [abs(value) for value in column if math.isfinite(value)]
    largest = max(sizes, default=0.0)
    column = [0.0 if abs(value) <= ROUNDING * largest else value for value in column]
    if all(value.is_integer() for value in column if math.isfinite(value)) and largest < LARGEST_SHOWN:
        return ["-" if math.isnan(value) else f"{value:.0f}" for value in column]
    smallest = min(abs(value) for value in column if value and math.isfinite(value))
    places = max(0, digits - 1 - math.floor(math.log10(largest)))
    places = max(places, min(places + 4, 1 - math.floor(math.log10(smallest))))
    if places > PLACES_SHOWN or largest >= LARGEST_SHOWN:
        return ["-" if math.isnan(value) else f"{value:.{digits - 1}e}" if value else "0" for value in column]
    return ["-" if math.isnan(value) else f"{value + 0.0:.{places}f}" for value in column]


def probability(value: float) -> str:
    """A p-value: four decimals, or two digits of a small one; never 0, and 1 for 1 alone."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if value < SMALLEST_P:
        return f"<{SMALLEST_P:g}"
    if value < 1e-4:
        return f"{value:.1e}"
    if value < 1e-3:
        return f"{value:.5f}"
    return ">0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


def p_text(value: float, *, short: bool = False) -> str:
    """'p = 0.0123', 'p > 0.9999' or 'p < 2.2e-16'; in pictures with two digits."""
    text = probability(value)
    if short and text[0] not in "<>-":
        text = f"{value:.2g}"
        text = ">0.99" if text == "1" and value < 1 else text
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def proportion(value: float) -> str:
    """A share such as S/T: four decimals; only what is 0 or 1 to rounding is written so, as "0" and "1"."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if abs(value) <= ROUNDING:
        return "0"
    if abs(value - 1) <= ROUNDING:
        return "1"
    if abs(value) < 5e-5:
        return "<0.0001" if value > 0 else f"{value:.1e}"
    return ">0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


def interval_text(interval: tuple[float, float]) -> str:
    """'0.0400 to 0.0688', the interval of a p-value; from 0 on, which no p-value is, 'below 0.0037'."""
    low, high = interval
    return f"below {proportion(high)}" if low <= ROUNDING else f"{proportion(low)} to {proportion(high)}"


def written(frame: pd.DataFrame, names: Collection[object] | None = None) -> pd.DataFrame:
    """A frame whose numbers are texts as in a summary, and what is missing "-"; whole numbers and texts stay.

    With `names`, in these columns only.
    """
    import pandas as pd

    columns = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if names is not None and column.name not in names:
            pass
        elif pd.api.types.is_float_dtype(column.dtype):
            values = column.to_numpy(dtype=float, na_value=math.nan)
            chances = "pvalue" in str(column.name) or column.name == "level"
            texts = list(map(probability, values)) if chances else numbers(values)
            column = pd.Series(texts, index=frame.index, name=column.name, dtype=object)
        elif column.isna().any():
            column = column.astype(object).where(column.notna(), "-")
        columns.append(column)
    return pd.concat(columns, axis=1) if columns else frame


# ---------------------------------------------------------------- names


def cut(name: object, length: int = NAME_LENGTH) -> str:
    """A name on one line, cut in the middle where it is long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    if len(text) > length:
        tail = (length - 1) // 3
        text = f"{text[: length - 1 - tail]}…{text[-tail:]}"
    return text or "''"


def cut_all(names: Iterable[object], length: int = NAME_LENGTH) -> list[str]:
    """Names as `cut` writes them, longer or numbered where they would be the same."""
    names = list(names)
    for most in (length, 36, 60):
        texts = [cut(name, most) for name in names]
        if len(set(texts)) == len(texts):
            return texts
    return [f"{j}: {cut(name, length)}" for j, name in enumerate(names)]


def sizes_text(labels: Sequence[object], sizes: Sequence[int]) -> str:
    """'a: 20, b: 30' for a few groups, and how many there are for many."""
    texts, shown = [f"{name}: {n}" for name, n in zip(cut_all(labels), sizes, strict=True)], 0
    while shown < len(texts) and len(", ".join(texts[: shown + 1])) <= 56:
        shown += 1
    if shown == len(texts):
        return ", ".join(texts)
    return ", ".join([*texts[: max(shown, 1)], f"... ({len(texts)} groups)"])


def latex_text(text: object) -> str:
    """Text in which no character means anything to LaTeX."""
    special = {c: rf"\{c}" for c in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "…": r"\ldots{}"}
    return "".join(special.get(c, c) for c in str(text))


def markdown_text(text: object) -> str:
    """Text that stays in its cell of a Markdown table."""
    return " ".join(str(text).replace("\\", "\\\\").replace("|", r"\|").replace("<", "&lt;").split())


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table of texts, for a screen and for a notebook.

    Attributes
    ----------
    title : str
        Above the table.
    heads : tuple of str
        Of the columns; () for a list of names and values.
    stubs : tuple of str
        Names of the rows.
    rows : tuple of tuple of str
        Cells.
    corner : str
        What the names of the rows are names of.
    """

    title: str
    heads: tuple[str, ...]
    stubs: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    corner: str = ""

    def as_text(self) -> str:
        """Lines of one width: names on the left, numbers of a column with their points below each other."""
        stubs, rows = self._shown()
        columns = [list(column) for column in zip(*rows, strict=True)]
        columns = [on_the_point(column) if self.heads else column for column in columns]
        if self.heads:
            columns = [[head, *column] for head, column in zip(self.heads, columns, strict=True)]
            stubs = [self.corner, *stubs]
        columns = [[to_right(cell, max(map(width, column))) for cell in column] for column in columns]
        natural = max(map(width, stubs)) + sum(len(GAP) + width(column[0]) for column in columns)
        total = max(natural, min(width(self.title), WIDTH))
        first = max(map(width, stubs)) + total - natural
        lines = [GAP.join(line) for line in zip([to_left(stub, first) for stub in stubs], *columns, strict=True)]
        title = [to_left(line, total) for line in textwrap.wrap(self.title, total)]
        head = [lines.pop(0), "-" * total] if self.heads else []
        return "\n".join([*title, "=" * total, *head, *lines, "=" * total])

    def as_html(self) -> str:
        """Table with a caption; everything in it is text."""
        stubs, rows = self._shown()
        name = '<th scope="row" style="text-align: left">{}</th>'.format
        value = '<td style="text-align: right">{}</td>'.format
        body = [
            f"<tr>{name(escaped(stub))}{''.join(value(escaped(cell)) for cell in row)}</tr>"
            for stub, row in zip(stubs, rows, strict=True)
        ]
        heads = "".join(f'<th scope="col" style="text-align: right">{escaped(head)}</th>' for head in self.heads)
        corner = name(escaped(self.corner)).replace('"row"', '"col"')
        top = f"<thead><tr>{corner}{heads}</tr></thead>" if self.heads else ""
        caption = f'<caption style="caption-side: top; text-align: left">{escaped(self.title)}</caption>'
        return f'<table class="dataframe energystats">{caption}{top}<tbody>{"".join(body)}</tbody></table>'

    def _shown(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Names and cells; of a long table the first rows and how many are left."""
        if len(self.stubs) <= ROWS_SHOWN:
            return list(self.stubs), list(self.rows)
        kept = ROWS_SHOWN - 10
        more = f"... {len(self.stubs) - kept} more"
        return [*self.stubs[:kept], more], [*self.rows[:kept], ("...",) * len(self.rows[0])]


def text_table(
    rows: Sequence[Sequence[str]],
    headers: Sequence[str] | None,
    stubs: Sequence[str] | None,
    title: str,
    corner: str = "",
) -> Table:
    """Table of rows under heads, or without heads a list of names and values; names may be the first cells."""
    if stubs is None:
        stubs = [row[0] for row in rows]
        rows = [row[1:] for row in rows]
    cells = tuple(tuple(row) for row in rows)
    return Table(cut(title, 3 * WIDTH), tuple(headers or ()), tuple(stubs), cells, corner and cut(corner))


def escaped(text: str) -> str:
    """Text for HTML; spaces at its beginning are kept, as trees have them."""
    inner = text.lstrip(" ")
    return "&nbsp;" * (len(text) - len(inner)) + html.escape(inner)


def width(text: str) -> int:
    """Columns that a text takes on a screen; Chinese and Japanese letters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def to_left(text: str, columns: int) -> str:
    """Text with spaces after it."""
    return text + " " * (columns - width(text))


def to_right(text: str, columns: int) -> str:
    """Text with spaces before it."""
    return " " * (columns - width(text)) + text


def on_the_point(column: Sequence[str]) -> list[str]:
    """Cells with spaces after them so that, set to the right, the points of numbers are below each other."""
    after = [len(tail(cell)) for cell in column]
    most = max((n for cell, n in zip(column, after, strict=True) if NUMERAL.fullmatch(cell)), default=0)
    return [cell + " " * (most - n) if NUMERAL.fullmatch(cell) else cell for cell, n in zip(column, after, strict=True)]


def tail(cell: str) -> str:
    """What stands after the whole part of a number, its point included."""
    match = re.match(r"[<>]?[-+]?\d+", cell)
    return cell[match.end() :] if match else ""


def decomposition_table(within: float, between: float, total: float, more: Sequence[list[str]] = ()) -> Table:
    """W, S, T and S/T, one a line."""
    W, S, T = numbers([within, between, total])
    rows = [["W, within", W], ["S, between", S], ["T = W + S", T], ["S/T", proportion(share(between, total))], *more]
    return text_table(rows, None, None, "Dispersion")


# ---------------------------------------------------------------- sentences


def metric_text(metric: Metric) -> str:
    """A semimetric as code, its parameters with six digits; of a matrix, that it was given."""
    if repr(metric) == "Precomputed()":
        return "the matrix given"
    return re.sub(r"\d+\.\d{6,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", repr(metric))


def metric_note(metric: Metric, standardization: Standardization | None) -> str:
    """The semimetric, what was done to the columns, and what a reader has to know of it."""
    note = f"Semimetric: {metric_text(metric)}{', columns standardized' if standardization is not None else ''}."
    return f"{note} {metric.remark}".rstrip()


def seed_note(pvalue: float, n_resamples: int, what: str, *, factor: float = 1.0, name: str = "p-value") -> str:
    """What a random p-value rests on, and how far another seed moves it.

    `factor` is what the share of the resamples was multiplied by.
    """
    smallest = 1 / (n_resamples + 1)
    at = min(max(pvalue / factor, smallest), 1 - smallest)
    error = factor * math.sqrt(at * (1 - at) / n_resamples)
    note = f"{name} by {n_resamples} {what}: another seed moves it by about ±{rounded(error)} (Monte Carlo standard"
    if pvalue <= factor * smallest * (1 + 1e-9):
        return f"{note} error). It is the smallest that so many can give."
    return f"{note} error)."


def rounded(value: float) -> str:
    """One significant digit, without an exponent where that is short."""
    text = f"{value:.1g}"
    return f"{float(text):f}".rstrip("0").rstrip(".") if value >= 1e-6 else text


def exact_note(n_resamples: int, what: str = "distinct labelings") -> str:
    """That an exact p-value has no seed."""
    return f"p-value over all {n_resamples} {what}: it is exact and does not depend on a seed."


def verdict(pvalue: float, claim: str, *, note: str = "") -> str:
    """The last line of a test: evidence or none, at level .05, for a claim such as 'that the groups differ'."""
    what = "evidence" if pvalue <= LEVEL else "no evidence at this sample size"
    return f"At level {LEVEL:g}: {what} {claim} ({p_text(pvalue)}){note}."


def random_interval(pvalue: float, n_resamples: int) -> tuple[float, float]:
    """95 % interval of a random p-value over seeds; (p, p) where there are no resamples."""
    if n_resamples < 1 or math.isnan(pvalue):
        return pvalue, pvalue
    extreme = min(max(round(pvalue * (n_resamples + 1)) - 1, 0), n_resamples)
    return pvalue_interval(extreme, n_resamples, 0.95)


def undecided(pvalue: float, interval: tuple[float, float], what: str = "relabelings") -> list[str]:
    """A note where the p-value of all relabelings may be on the other side of the level."""
    low, high = interval
    if not low <= LEVEL < high or low == high or math.isnan(pvalue):
        return []
    return [
        f"The 95 % interval of p ({interval_text(interval)}) contains {LEVEL:g}, so that the number of {what} leaves "
        f"it undecided: another seed or more {what} may decide otherwise."
    ]


def sentences(notes: Iterable[str]) -> Iterator[str]:
    """Notes as paragraphs of a summary."""
    return (textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in notes)
