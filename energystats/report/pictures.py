"""Pictures as data URIs: drawings as SVG while they are small, as PNG where they have too many marks."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

__all__ = ["picture"]

CRISP = 110_000  # bytes up to which a drawing stays a drawing, even where dots would be smaller
DOTS = 144  # per inch
STYLE = {"svg.fonttype": "path", "svg.hashsalt": "energystats", "font.size": 10.0, "figure.figsize": (6.4, 4.4)}


def picture(draw: Callable[[], Any]) -> str:
    """What `draw` puts into a figure of its own, as a data URI."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE), plt.ioff():
        ax = draw()
        try:
            drawing = written(ax.figure, "svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
            if len(drawing) <= CRISP:
                return uri("image/svg+xml", drawing)
            dots = written(ax.figure, "png", dpi=DOTS, metadata={"Software": None})
            return uri("image/png", dots) if len(dots) < len(drawing) else uri("image/svg+xml", drawing)
        finally:
            plt.close(ax.figure)


def written(figure: Any, form: str, **options: Any) -> bytes:
    """The figure in a format of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, bbox_inches="tight", **options)
    return buffer.getvalue()


def uri(kind: str, content: bytes) -> str:
    """Content inside an address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
