"""How numbers and tables of a summary are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from energystats._core.statistics import share

if TYPE_CHECKING:
    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["decomposition_table", "metric_note", "number", "probability", "text_table"]


def number(value: float) -> str:
    """Six significant digits."""
    return f"{value:.6g}"


def probability(value: float) -> str:
    """Three significant digits."""
    return f"{value:.3g}"


def text_table(rows: Sequence[Sequence[str]], headers: list[str] | None, stubs: list[str] | None, title: str) -> Any:
    """SimpleTable of statsmodels with left-aligned names and right-aligned numbers."""
    from statsmodels.iolib.table import SimpleTable

    form = {"data_aligns": "r", "stubs_align": "l", "header_align": "r", "title_align": "l"}
    if stubs is None:
        stubs = [row[0] for row in rows]
        rows = [row[1:] for row in rows]
    return SimpleTable(rows, headers=headers, stubs=stubs, title=title, txt_fmt=form)


def decomposition_table(within: float, between: float, total: float, more: Sequence[list[str]] = ()) -> Any:
    """W, S, T and S/T, one a line."""
    rows = [
        ["W, within", number(within)],
        ["S, between", number(between)],
        ["T = W + S", number(total)],
        ["S/T", number(share(between, total))],
        *more,
    ]
    return text_table(rows, None, None, "Dispersion")


def metric_note(metric: Metric, standardization: Standardization | None) -> str:
    """The semimetric, what was done to the columns, and what a reader has to know of it."""
    note = f"Semimetric: {metric!r}{', columns standardized' if standardization is not None else ''}."
    return f"{note} {metric.remark}".rstrip()
