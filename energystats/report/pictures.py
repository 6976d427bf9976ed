"""Pictures inside the page: drawings as SVG while they are small, as PNG where they have too many marks."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["Picture", "escape_text", "figure", "listing", "paragraph", "picture", "section", "table"]


CRISP = 110_000  # bytes up to which a drawing stays a drawing, even where dots would be smaller
DOTS = 144  # per inch
STYLE: Any = {"svg.fonttype": "path", "svg.hashsalt": "energystats", "font.size": 10.0, "figure.figsize": (6.4, 4.4)}


class Picture(NamedTuple):
    """A picture and its width on the page, in pixels of CSS."""

    uri: str
    width: int


def picture(draw: Callable[[], Any]) -> Picture:
    """What `draw` puts into a figure of its own."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE), plt.ioff():
        ax = draw()
        try:
            drawing = _render_figure(
                ax.figure, "svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
            )
            if len(drawing) <= CRISP:
                return Picture(_uri("image/svg+xml", drawing), _read_svg_width(drawing))
            dots = _render_figure(ax.figure, "png", dpi=DOTS, metadata={"Software": None})
            kind, content = ("image/png", dots) if len(dots) < len(drawing) else ("image/svg+xml", drawing)
            return Picture(_uri(kind, content), _read_svg_width(drawing))
        finally:
            plt.close(ax.figure)


def _render_figure(figure: Any, form: str, **options: Any) -> bytes:
    """The figure in a format of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, bbox_inches="tight", **options)
    return buffer.getvalue()


def _read_svg_width(drawing: bytes) -> int:
    """Width that an SVG drawing asks for, which is in points."""
    match = re.search(rb'<svg [^>]*width="([0-9.]+)pt"', drawing)
    return round(float(match[1]) * 96 / 72) if match else 640


def _uri(kind: str, content: bytes) -> str:
    """Content inside an address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def escape_text(text: object) -> str:
    """Text as HTML shows it; characters that no document may hold are left out."""
    kept = "".join(c for c in str(text) if c.isprintable() or c in "\n\t")
    return html.escape(kept, quote=True)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, with a class if there is one."""
    return f"<p{f' class={kind!r}' if kind else ''}>{escape_text(text)}</p>"


def listing(items: Sequence[str]) -> str:
    """A list of sentences, nothing for none."""
    return "<ul>" + "".join(f"<li>{escape_text(item)}</li>" for item in items) + "</ul>" if items else ""


def section(name: str, title: str, *parts: str) -> str:
    """A titled section."""
    return f'<section id="{name}">\n<h2>{escape_text(title)}</h2>\n' + "\n".join(p for p in parts if p) + "\n</section>"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", *, names: int = 1) -> str:
    """A table whose first columns are names, and whose head is repeated on every printed page."""
    title = f"<caption>{escape_text(caption)}</caption>" if caption else ""
    head = "".join(
        f'<th scope="col"{"" if j < names else " class=n"}>{escape_text(h)}</th>' for j, h in enumerate(heads)
    )
    top = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    body = "".join(
        f"<tr>{''.join(_cell(value, j < names, j == 0) for j, value in enumerate(row))}</tr>" for row in rows
    )
    return f'<div class="wide"><table>{title}{top}<tbody>{body}</tbody></table></div>'


def _cell(value: object, name: bool, first: bool) -> str:
    """A cell; the first of a row names it."""
    if first:
        return f'<th scope="row">{escape_text(value)}</th>'
    return f"<td{'' if name else ' class=n'}>{escape_text(value)}</td>"


def figure(image: Picture, description: str, caption: str) -> str:
    """A picture with what it shows, in words too."""
    shown = f'<img src="{image.uri}" width="{image.width}" alt="{escape_text(description)}">'
    return f"<figure>{shown}<figcaption>{escape_text(caption)}</figcaption></figure>"
