"""Output files, complete or absent."""

from __future__ import annotations

import errno
import os
import stat
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats.cli.errors import BadInputError
from energystats.report.page import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from energystats.cli.console import Console

__all__ = ["check_outputs", "harmless", "save", "save_picture", "write_labels"]


NARROWEST = 12  # characters of a line of a title
TITLE_PAD = 8.0  # points
EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # where no line breaks
RUNS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # what a spreadsheet runs begins so
SUFFIXES = {
    "picture": (".png", ".pdf", ".svg"),
    "table": (".csv",),
    "matrix": (".csv", ".tsv", ".txt"),  # it keeps the separator of its input
    "report": (".html", ".htm"),
}


def _target_of(path: Path) -> Path:
    """Resolve an output path through links to its file; raise BadInputError if that cannot be written."""
    try:
        target = path.resolve()
        exists = os.path.lexists(target)
        mode = target.stat().st_mode if exists else None
    except (OSError, RuntimeError) as error:  # a RuntimeError until Python 3.13
        circle = isinstance(error, RuntimeError) or error.errno == errno.ELOOP
        why = "its links lead in a circle" if circle else getattr(error, "strerror", None) or str(error)
        raise BadInputError(f"{path}: cannot be written: {why}.") from error
    if mode is not None and not stat.S_ISREG(mode):
        raise BadInputError(f"{path}: cannot be written: it is there and no ordinary file.")
    return target


def check_outputs(read: str | None, *outputs: tuple[Path, str]) -> None:
    """Raise BadInputError if an output file cannot be written, or would overwrite the input or another output."""
    source = None if read in (None, "-") or not Path(read).exists() else Path(read)
    taken = {} if source is None else {source.resolve(): "the input"}
    for path, what in outputs:
        allowed = SUFFIXES[what]
        if path.suffix.lower() not in allowed:
            raise BadInputError(f"{path}: the name of a {what} must end in {' or '.join(allowed)}.")
        target = _target_of(path)
        if target in taken:
            raise BadInputError(f"{path}: would overwrite {taken[target]}.")
        if source is not None and target.exists() and target.samefile(source):
            raise BadInputError(f"{path}: would overwrite the input.")
        if not target.parent.is_dir():
            led = path.is_symlink()
            folder = f"{str(target.parent)!r}, into which this link leads" if led else repr(str(path.parent))
            raise BadInputError(f"{path}: there is no folder {folder}.")
        if not os.access(target.parent, os.W_OK):
            raise BadInputError(f"{path}: cannot be written.")
        taken[target] = str(path)


def save(path: Path, write: Callable[[Path], object], console: Console) -> None:
    """Write an output file by calling a function, so that it is complete or absent, and print the file's name."""
    try:
        write_whole(_target_of(path), write, path.suffix)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror or error}.") from error
    console.files.append(str(path))
    console.say(f"Wrote {path}.")


def write_labels(path: Path, columns: dict[str, Any], console: Console, *, safe: bool = False) -> None:
    """Write a CSV file with the label of each row; on request, put an apostrophe before cells like formulas."""
    import pandas as pd

    heads = harmless(list(columns), console, safe=safe, file=path)
    cells = [harmless(list(values), console, safe=safe, file=path) for values in columns.values()]
    table = pd.DataFrame(dict(enumerate(cells))).set_axis(heads, axis=1)
    save(path, lambda partial: table.to_csv(partial, index=False), console)


def harmless(values: Sequence[Any], console: Console, *, safe: bool, file: Path) -> list[Any]:
    """Return cells for a CSV file; spreadsheet formulas get an apostrophe on request, else a note is printed."""
    formulas = [isinstance(value, str) and _is_formula(value) for value in values]
    if any(formulas) and not safe:
        console.note(
            f"{file}: names that begin with = + - or @ are written as they are, and a spreadsheet may run them; "
            "--spreadsheet-safe puts an apostrophe before them."
        )
    return [f"'{value}" if safe and formula else value for value, formula in zip(values, formulas, strict=True)]


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet would treat a cell's text as a formula; numbers such as -1 do not count."""
    if not text.lstrip(" \n").startswith(RUNS):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def save_picture(path: Path | None, results: Sequence[Any], console: Console) -> None:
    """Draw one panel per result, and write the figure to a file; do nothing without a file name."""
    if path is not None:
        save(path, lambda partial: _draw(partial, results), console)


def _draw(path: Path, results: Sequence[Any]) -> None:
    """Draw one panel per result, and write the figure to a file."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(5.6 * len(results), 4.6), layout="constrained", squeeze=False)
    try:
        for result, ax in zip(results, axes[0], strict=True):
            result.plot(ax=ax)
        _fit_titles(figure, axes[0])
        figure.savefig(path, dpi=150)
    finally:
        plt.close(figure)


def _fit_titles(figure: Figure, axes: Sequence[Axes]) -> None:
    """Wrap the titles of panels so that they do not overlap the next panel or leave the figure, above legends there."""
    # the width of a title is known once it has been laid out
    figure.draw_without_rendering()
    for j, ax in enumerate(axes, 1):
        lines = ax.get_title(loc="left").replace(" = ", EQUALS).splitlines()
        title = ax.set_title("\n".join(lines), loc="left")
        width, end = max(map(len, lines), default=0), figure.bbox.width * j / len(axes)
        while title.get_window_extent().x1 > end and width > NARROWEST:
            width -= 1
            wrapped = [textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in lines]
            title.set_text("\n".join(wrapped))
        legend = ax.get_legend()
        beside = None if legend is None else legend.get_window_extent()
        own = title.get_window_extent()
        if beside is not None and own.y0 < beside.y1 <= own.y1 + beside.height and beside.x0 < own.x1:
            ax.set_title(title.get_text(), loc="left", pad=TITLE_PAD + beside.height * 72 / figure.dpi)
