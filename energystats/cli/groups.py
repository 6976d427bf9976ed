"""Names of groups that may be one group written in two ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.dialects import Dialect
from energystats.inputs.labels import find_printed_alike, write_codes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["note_alike"]


def note_alike(groups: pd.Series[Any], dialect: Dialect, console: Console, where: str) -> None:
    """Say which groups are two as text and one as numbers, on paper, or but for capitals."""
    texts = sorted(set(map(str, groups.dropna())))
    numbers = [dialect.value_of(text) for text in texts]
    pairs = {"mean the same": _first_pair(texts, numbers)}
    if None in numbers:
        pairs["differ only in capitals"] = _first_pair(texts, [text.casefold() for text in texts])
    for why, pair in pairs.items():
        if pair is not None:
            console.note(
                f"{pair[0]!r} and {pair[1]!r} in {where} {why} and are two groups here, because groups are text; write "
                "them alike if they are one."
            )
    alike = find_printed_alike(texts)
    if alike is not None:
        first, second = alike
        console.note(
            f"{first!r} and {second!r} in {where} print alike and are two groups here, because they differ in "
            f"characters that are not seen, {write_codes(first)} and {write_codes(second)}; write them alike if they "
            "are one."
        )


def _first_pair(texts: list[str], meanings: list[Any]) -> tuple[str, str] | None:
    """Find the first two texts with the same meaning; None is no meaning."""
    first: dict[Any, str] = {}
    for text, meaning in zip(texts, meanings, strict=True):
        if meaning is not None and first.setdefault(meaning, text) != text:
            return first[meaning], text
    return None
