"""Text that a terminal shows and does not obey."""

from __future__ import annotations

import re

__all__ = ["printable", "printable_json"]

# control characters but the end of a line and the tab, those of C1, and marks that turn the direction of writing
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Text with such characters written out, as \x1b; names from a file may hold anything."""
    return HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def printable_json(text: str) -> str:
    r"""JSON that means the same, with such characters as \u001b."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
