"""Pieces of HTML; every text that is given is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

from energystats.report.pictures import Picture

__all__ = ["escaped", "figure", "listing", "paragraph", "section", "table"]


def escaped(text: object) -> str:
    """Text as HTML shows it; characters that no document may hold are left out."""
    kept = "".join(c for c in str(text) if c.isprintable() or c in "\n\t")
    return html.escape(kept, quote=True)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, with a class if there is one."""
    return f"<p{f' class={kind!r}' if kind else ''}>{escaped(text)}</p>"


def listing(items: Sequence[str]) -> str:
    """A list of sentences, nothing for none."""
    return "<ul>" + "".join(f"<li>{escaped(item)}</li>" for item in items) + "</ul>" if items else ""


def section(name: str, title: str, *parts: str) -> str:
    """A titled section."""
    return f'<section id="{name}">\n<h2>{escaped(title)}</h2>\n' + "\n".join(p for p in parts if p) + "\n</section>"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", *, names: int = 1) -> str:
    """A table whose first columns are names, and whose head is repeated on every printed page."""
    title = f"<caption>{escaped(caption)}</caption>" if caption else ""
    head = "".join(f'<th scope="col"{"" if j < names else " class=n"}>{escaped(h)}</th>' for j, h in enumerate(heads))
    top = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    body = "".join(f"<tr>{''.join(cell(value, j < names, j == 0) for j, value in enumerate(row))}</tr>" for row in rows)
    return f'<div class="wide"><table>{title}{top}<tbody>{body}</tbody></table></div>'


def cell(value: object, name: bool, first: bool) -> str:
    """A cell; the first of a row names it."""
    if first:
        return f'<th scope="row">{escaped(value)}</th>'
    return f"<td{'' if name else ' class=n'}>{escaped(value)}</td>"


def figure(image: Picture, description: str, caption: str) -> str:
    """A picture with what it shows, in words too."""
    shown = f'<img src="{image.uri}" width="{image.width}" alt="{escaped(description)}">'
    return f"<figure>{shown}<figcaption>{escaped(caption)}</figcaption></figure>"
