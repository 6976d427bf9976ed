"""What the user can mend, in the words of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from energystats.domains import RowError

__all__ = ["BadInputError", "bad_input", "in_options"]

WORDS = {
    ", as by X[X.any(axis=1)]": "",
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
def bad_input(file: str, where: Callable[[int], str] | None = None) -> Iterator[None]:
    """Show errors of the library as one line that names the file, and by `where` the row and its line."""
    try:
        yield
    except RowError as error:
        place = None if where is None or error.label is None else where(int(error.label))
        raise BadInputError(f"{file}: {in_options(error.told(place))}") from error
    except (ValueError, TypeError, MemoryError) as error:
        raise BadInputError(f"{file}: {in_options(str(error))}") from error


def in_options(text: str) -> str:
    """A message of the library in the words of the command line."""
    for ours, theirs in WORDS.items():
        text = text.replace(ours, theirs)
    return text
