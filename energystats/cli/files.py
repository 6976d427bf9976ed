"""Output files, complete or absent."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energystats.cli.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from energystats.cli.console import Console
    from energystats.results import ClusterTestResult, Partition

__all__ = ["check_outputs", "draw", "save", "write_labels", "write_picture"]

NARROWEST = 12  # characters of a line of a title
SUFFIXES = {"picture": (".png", ".pdf", ".svg"), "table": (".csv",), "report": (".html", ".htm")}


def check_outputs(read: str | None, **outputs: Path | None) -> None:
    """Complain about output files before anything is computed; keywords are "picture", "table" and "report"."""
    taken = {Path(read).resolve()} if read is not None else set()
    for what, path in outputs.items():
        if path is None:
            continue
        allowed = SUFFIXES[what]
        if path.suffix.lower() not in allowed:
            raise BadInputError(f"{path}: the name of a {what} must end in {' or '.join(allowed)}.")
        if path.resolve() in taken:
            raise BadInputError(f"{path}: would overwrite the input.")
        if not path.parent.is_dir():
            raise BadInputError(f"{path}: there is no folder {str(path.parent)!r}.")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise BadInputError(f"{path}: cannot be written.")


def save(path: Path, write: Callable[[Path], None], console: Console) -> None:
    """Write to a neighbouring file first, so that the output is complete or absent."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error}") from error
    os.close(descriptor)
    partial = Path(name)
    try:
        write(partial)
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
    console.wrote(path)


def write_labels(path: Path, columns: dict[str, Any], console: Console) -> None:
    """Cluster of every row."""
    import pandas as pd

    table = pd.DataFrame(columns)
    save(path, lambda partial: table.to_csv(partial, index=False), console)


def write_picture(
    path: Path,
    found: Partition,
    test: ClusterTestResult | str,
    console: Console,
    classes: pd.Series[Any] | None = None,
) -> None:
    """The clusters, the known classes if there are any, and the test, side by side."""
    results = [found] if isinstance(test, str) else [found, test]
    save(path, lambda partial: draw(partial, results, classes), console)


def draw(path: Path, results: Sequence[Any], classes: pd.Series[Any] | None = None) -> None:
    """One panel per result."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(5.6 * len(results), 4.6), layout="constrained", squeeze=False)
    try:
        for result, ax in zip(results, axes[0], strict=True):
            result.plot(ax=ax)
        if classes is not None:
            from energystats.plotting import mark_classes

            mark_classes(results[0], classes, axes[0, 0])
        fit_titles(figure, axes[0])
        figure.savefig(path, dpi=150)
    finally:
        plt.close(figure)


def fit_titles(figure: Figure, axes: Sequence[Axes]) -> None:
    """Break titles into lines that end before the next panel and the edge of the picture."""
    figure.draw_without_rendering()
    for j, ax in enumerate(axes, 1):
        text = ax.get_title(loc="left")
        title = ax.set_title(text, loc="left")
        width = len(text)
        while title.get_window_extent().x1 > figure.bbox.width * j / len(axes) and width > NARROWEST:
            width -= 1
            title.set_text(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))
