"""Pictures inside the page: drawings as SVG while they are small, as PNG where they have too many marks."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Picture", "picture"]

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
            drawing = written(ax.figure, "svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
            if len(drawing) <= CRISP:
                return Picture(uri("image/svg+xml", drawing), width_of(drawing))
            dots = written(ax.figure, "png", dpi=DOTS, metadata={"Software": None})
            kind, content = ("image/png", dots) if len(dots) < len(drawing) else ("image/svg+xml", drawing)
            return Picture(uri(kind, content), width_of(drawing))
        finally:
            plt.close(ax.figure)


def written(figure: Any, form: str, **options: Any) -> bytes:
    """The figure in a format of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, bbox_inches="tight", **options)
    return buffer.getvalue()


def width_of(drawing: bytes) -> int:
    """Width that an SVG drawing asks for, which is in points."""
    match = re.search(rb'<svg [^>]*width="([0-9.]+)pt"', drawing)
    return round(float(match[1]) * 96 / 72) if match else 640


def uri(kind: str, content: bytes) -> str:
    """Content inside an address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
