"""What the user can mend, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["BadInputError", "bad_input", "in_options"]

WORDS = {
    "`X`": "the table",
    "`groups`": "--group",
    "standardize=True": "--standardize",
    "`k`": "-k",
    "`k_max`": "--k-max",
    "`alpha`": "--alpha",
    "`n_resamples`": "--resamples",
    "`metric`": "--metric",
    "`strata`": "--strata",
    "`formula`": "the formula",
    "`data`": "the table",
    '`missing="drop"`': "--missing drop",
    "`decomposition`": "--decomposition",
    "`missing`": "--missing",
    "`tol`": "--tol",
    "`conservative`": "--conservative",
    "`conservative=True`": "--conservative",
    "`cluster_test`": "the cluster test",
    "(`labels=`)": "(energystats test)",
}


class BadInputError(Exception):
    """Anything the user can mend; its text is the line that is shown."""


@contextmanager
def bad_input(file: str) -> Iterator[None]:
    """Errors of the library as one line that names the file."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        raise BadInputError(f"{file}: {in_options(str(error))}") from error


def in_options(text: str) -> str:
    """A message of the library in the words of the command line."""
    for ours, theirs in WORDS.items():
        text = text.replace(ours, theirs)
    return text
