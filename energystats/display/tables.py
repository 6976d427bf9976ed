"""Tables and names as text, Markdown and LaTeX."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from energystats._core.statistics import share
from energystats.display.numbers import numbers, proportion
from energystats.inputs.names import write_label

__all__ = [
    "LEVEL",
    "ROWS_SHOWN",
    "WIDTH",
    "TextTable",
    "cut_all",
    "decomposition_table",
    "latex_text",
    "markdown_text",
    "shorten_name",
    "text_table",
    "write_groups",
    "write_sizes",
]


GROUPS_WRITTEN = 6  # in a table for paper
WIDTH = 96  # columns of a summary
GAP = "  "
ROWS_SHOWN = 60  # of a table in a summary
NAME_LENGTH = 24
JOINERS = "\u200c\u200d"  # without a width, and part of words in Persian and others
LEVEL = 0.05  # of the plain words below a test
NUMERAL = re.compile(r"[<>]?[-+]?\d+((?:\.\d+)?(?:e[-+]?\d+)?%?)")  # and what stands after its whole part


# ---------------------------------------------------------------- names


def shorten_name(name: object, length: int = NAME_LENGTH) -> str:
    r"""Shorten a name to one line of limited length, with control characters escaped, as \x1b."""
    text = " ".join("".join(map(_printed, write_label(name))).split())
    if len(text) > length:
        tail = (length - 1) // 3
        text = f"{text[: length - 1 - tail]}…{text[-tail:]}"
    return text or "''"


def _printed(c: str) -> str:
    """Replace a character that cannot be printed: a blank by a space, another one by an escape sequence."""
    if c.isprintable() or c in JOINERS:
        return c
    blank = c in "\n\t" or unicodedata.category(c) == "Zs"
    return " " if blank else c.encode("unicode_escape").decode("ascii")


def cut_all(names: Iterable[object], length: int = NAME_LENGTH) -> list[str]:
    """Shorten names to fit into a table, keeping them distinct."""
    names = list(names)
    for most in (length, 36, 60):
        texts = [shorten_name(name, most) for name in names]
        if len(set(texts)) == len(texts):
            return texts
    return [f"{j}: {shorten_name(name, length)}" for j, name in enumerate(names)]


def write_sizes(labels: Sequence[object], sizes: Sequence[int]) -> str:
    """Format the sizes of groups as text such as 'a: 20, b: 30'; of many groups only the first ones."""
    texts, shown = [f"{name}: {n}" for name, n in zip(cut_all(labels), sizes, strict=True)], 0
    while shown < len(texts) and len(", ".join(texts[: shown + 1])) <= 56:
        shown += 1
    if shown == len(texts):
        return ", ".join(texts)
    return ", ".join([*texts[: max(shown, 1)], f"... ({len(texts)} groups)"])


def write_groups(labels: Sequence[object]) -> str:
    """Format the names of groups as text such as 'a, b, c'; of more than six only their number."""
    texts = cut_all(labels)
    return ", ".join(texts) if len(texts) <= GROUPS_WRITTEN else f"{len(texts)} groups"


def latex_text(text: object) -> str:
    """Escape the characters of a text that have a meaning in LaTeX."""
    special = {c: rf"\{c}" for c in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "…": r"\ldots{}"}
    return "".join(special.get(c, c) for c in str(text))


def markdown_text(text: object) -> str:
    """Escape a text for a cell of a Markdown table."""
    return " ".join(str(text).replace("\\", "\\\\").replace("|", r"\|").replace("<", "&lt;").split())


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class TextTable:
    """Hold a table of texts with a title, which can be printed as plain text or HTML."""

    title: str  # above the table
    heads: tuple[str, ...]  # of the columns; () for a list of names and values
    stubs: tuple[str, ...]  # names of the rows
    rows: tuple[tuple[str, ...], ...]  # cells
    corner: str = ""  # what the names of the rows are names of

    def as_text(self) -> str:
        """Return the table as plain text: row names on the left, numbers of a column aligned at the decimal point."""
        stubs, rows = self._shown()
        columns = [list(column) for column in zip(*rows, strict=True)]
        columns = [_on_the_point(column) if self.heads else column for column in columns]
        if self.heads:
            columns = [[head, *column] for head, column in zip(self.heads, columns, strict=True)]
            stubs = [self.corner, *stubs]
        columns = [[_padded(cell, max(map(_width, column)), right=True) for cell in column] for column in columns]
        # a title wider than the table widens its first column
        natural = max(map(_width, stubs)) + sum(len(GAP) + _width(column[0]) for column in columns)
        total = max(natural, min(_width(self.title), WIDTH))
        first = max(map(_width, stubs)) + total - natural
        lines = [GAP.join(line) for line in zip([_padded(stub, first) for stub in stubs], *columns, strict=True)]
        title = [_padded(line, total) for line in textwrap.wrap(self.title, total)]
        head = [lines.pop(0), "-" * total] if self.heads else []
        return "\n".join([*title, "=" * total, *head, *lines, "=" * total])

    def as_html(self) -> str:
        """Return the table as HTML with a caption; all texts are escaped."""
        stubs, rows = self._shown()
        name = '<th scope="row" style="text-align: left">{}</th>'.format
        value = '<td style="text-align: right">{}</td>'.format
        body = [
            f"<tr>{name(_escape_html(stub))}{''.join(value(_escape_html(cell)) for cell in row)}</tr>"
            for stub, row in zip(stubs, rows, strict=True)
        ]
        heads = "".join(f'<th scope="col" style="text-align: right">{_escape_html(head)}</th>' for head in self.heads)
        corner = name(_escape_html(self.corner)).replace('"row"', '"col"')
        top = f"<thead><tr>{corner}{heads}</tr></thead>" if self.heads else ""
        caption = f'<caption style="caption-side: top; text-align: left">{_escape_html(self.title)}</caption>'
        return f'<table class="dataframe energystats">{caption}{top}<tbody>{"".join(body)}</tbody></table>'

    def _shown(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return row names and cells to print; of a long table the first rows, and a row on how many are left out."""
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
) -> TextTable:
    """Build a text table from rows of cells; without row names (`stubs`) the first cell of each row is its name."""
    if stubs is None:
        stubs = [row[0] for row in rows]
        rows = [row[1:] for row in rows]
    cells = tuple(tuple(row) for row in rows)
    return TextTable(
        shorten_name(title, 3 * WIDTH), tuple(headers or ()), tuple(stubs), cells, corner and shorten_name(corner)
    )


def _escape_html(text: str) -> str:
    """Escape a text for HTML, and keep leading spaces, which indent trees."""
    inner = text.lstrip(" ")
    return "&nbsp;" * (len(text) - len(inner)) + html.escape(inner)


def _width(text: str) -> int:
    """Return the number of screen columns that a text takes; Chinese and Japanese characters take two."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _padded(text: str, columns: int, *, right: bool = False) -> str:
    """Pad a text with spaces to a width in screen columns, on the right or, if `right`, on the left."""
    blanks = " " * (columns - _width(text))
    return blanks + text if right else text + blanks


def _on_the_point(column: Sequence[str]) -> list[str]:
    """Pad the cells of a column of numbers so that their decimal points align."""
    tails = [found and len(found[1]) for found in map(NUMERAL.fullmatch, column)]
    most = max((n for n in tails if n is not None), default=0)
    return [cell if n is None else cell + " " * (most - n) for cell, n in zip(column, tails, strict=True)]


def decomposition_table(within: float, between: float, total: float, more: Sequence[list[str]] = ()) -> TextTable:
    """Build a text table of the dispersions W, S, T and of S/T, one in each row, with further rows below."""
    W, S, T = numbers([within, between, total])
    rows = [["W, within", W], ["S, between", S], ["T = W + S", T], ["S/T", proportion(share(between, total))], *more]
    return text_table(rows, None, None, "Dispersion")
