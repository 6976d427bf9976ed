"""Output of a command, as text, as JSON or none, and its notes."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from energystats import __version__
from energystats.cli.errors import BadInputError, in_options, printable, printable_json
from energystats.cli.streams import fits, say_error, write_out
from energystats.display.result import VerdictFirst
from energystats.display.sentences import sentences
from energystats.exceptions import EnergyStatsWarning, TiesWarning

__all__ = ["Console", "jsonable"]


class Console:
    """Write the output of a command: text or JSON to standard output, notes to standard error; keep names of files.

    Parameters
    ----------
    json : bool
        Whether standard output has one JSON object in place of text.
    quiet : bool
        Whether neither text nor notes are wanted.
    """

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.json: bool = json
        self.quiet: bool = quiet
        self.notes: list[str] = []
        self.files: list[str] = []
        self.table: str = "FILE"  # words of the command that say which table is read
        self.lost: str | None = None  # why standard output could not be written
        self.ignored: set[type[Warning]] = {TiesWarning}

    def say(self, text: str = "") -> None:
        """Print a text on standard output, unless --json or --quiet is given."""
        if not self.json and not self.quiet:
            self.write(printable(text))

    def tell(self, text: str) -> None:
        """Print a text of the library on standard output, with argument names replaced by command-line options."""
        self.say(in_options(text, self.table))

    def show(self, result: VerdictFirst, *, notes: bool) -> None:
        """Print the summary of a result, followed by its notes if these are asked for."""
        text = result.summary().replace("see `.notes`", "below" if notes else "--notes prints them")
        self.tell("\n" + text)
        if notes and result.notes:
            self.say("\n".join(["\nNotes:", *sentences(in_options(note, self.table) for note in result.notes)]))

    def note(self, text: str) -> None:
        """Print a note on standard error, unless it was printed before, and keep it for the JSON output."""
        # a warning of the library breaks its lines where the source does
        text = " ".join(text.split())
        if text not in self.notes:
            self.notes.append(text)
            if not self.quiet:
                say_error(f"note: {printable(text)}")

    def answer(self, command: str, **parts: Any) -> None:
        """Print the results of a command as one JSON object, if --json is given."""
        if self.json:
            head = {"command": command, "version": __version__}
            whole = {**head, **parts, "files": self.files, "warnings": self.notes}
            dump = partial(json.dumps, jsonable(whole), indent=2, allow_nan=False)
            # in ASCII it means the same, where the encoding of standard output lacks a character
            self.write(printable_json(text if fits(text := dump(ensure_ascii=False)) else dump()))

    def write(self, text: str) -> None:
        """Print a text on standard output; an error is kept for later, so that output files are still written."""
        self.lost = write_out(text) or self.lost

    def check_written(self) -> None:
        """Raise BadInputError if standard output could not be written, with a list of the files that were."""
        if self.lost is not None:
            files = f"; these files were written: {', '.join(self.files)}" if self.files else ""
            raise BadInputError(f"standard output cannot be written: {self.lost}{files}.")

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Print this package's warnings as notes within a `with` block, except those of classes to be ignored."""
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
            if not issubclass(category, EnergyStatsWarning):
                shown(category(printable(str(message))), category, filename, lineno, file, line)
            elif category not in self.ignored:
                self.note(in_options(str(message), self.table))

        with warnings.catch_warnings():
            warnings.simplefilter("always", EnergyStatsWarning)
            warnings.showwarning = show
            yield

    @contextmanager
    def announcing_compilation(self) -> Iterator[None]:
        """Print a line on standard error if numerical loops are compiled within a `with` block."""
        from energystats._core.jit import on_compilation

        def announce() -> None:
            if not self.quiet:
                say_error("Compiling the numerical loops; only the first run has to.")

        with on_compilation(announce):
            yield


def jsonable(value: Any) -> Any:
    """Convert a value to types that JSON has: NaN and infinite numbers become None, other objects text."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
