"""Pictures inside the page: drawings as SVG while they are small, as PNG where they have too many marks."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Picture", "draw_picture"]


CRISP = 110_000  # bytes up to which a drawing stays a drawing, even where dots would be smaller
DOTS = 144  # per inch
STYLE: Any = {"svg.fonttype": "path", "svg.hashsalt": "energystats", "font.size": 10.0, "figure.figsize": (6.4, 4.4)}
NO_DATE = {"svg": {"Date": None, "Creator": None, "Format": None, "Type": None}, "png": {"Software": None}}


class Picture(NamedTuple):
    """Hold an image for HTML as a data URI, with its width in CSS pixels."""

    uri: str
    width: int


def draw_picture(draw: Callable[[], Any]) -> Picture:
    """Draw a figure, and return it as an HTML image: SVG, or PNG if the SVG is large and the PNG smaller."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    def render(form: str) -> bytes:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, bbox_inches="tight", dpi=DOTS, metadata=NO_DATE[form])
        return buffer.getvalue()

    with mpl.rc_context(STYLE), plt.ioff():
        figure = draw().figure
        try:
            kind, content = "image/svg+xml", render("svg")
            asked = re.search(rb'<svg [^>]*width="([0-9.]+)pt"', content)
            width = round(float(asked[1]) * 96 / 72) if asked else 640
            if len(content) > CRISP and len(dots := render("png")) < len(content):
                kind, content = "image/png", dots
            return Picture(f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}", width)
        finally:
            plt.close(figure)
