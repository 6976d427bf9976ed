"""The command line: `energystats demo`, `cluster`, `test`, `disco` and `euclidize`.

Bad input is one line on standard error and exit status 2. Output files are complete or absent.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from energystats import __version__
from energystats.exceptions import EnergyStatsWarning, TiesWarning
from energystats.validation import near_names

if TYPE_CHECKING:
    import pandas as pd

    from energystats.matrix_files import MatrixFile
    from energystats.results import ClusterTestResult, Partition

__all__ = ["main"]

BAD_INPUT = 2  # exit status
K_NOT_CHOSEN = "k = 2 is the default; it was not chosen from the data."


class BadInputError(Exception):
    """Anything the user can mend; its text is the line that is shown."""


class Parser(argparse.ArgumentParser):
    """Argparse whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message} (see `{self.prog} --help`)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the command's name; those of the process when None.

    Returns
    -------
    int
        Exit status: 0, or 2 for bad input.
    """
    try:
        options = make_parser().parse_args(arguments)
        with notes_on_stderr():
            options.run(options)
    except BadInputError as error:
        print(f"energystats: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Parser of the commands."""
    parser = Parser(prog="energystats", description="Energy-distance tests and clustering.")
    parser.add_argument("--version", action="version", version=f"energystats {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    demo = commands.add_parser("demo", help="the main job on bundled real data")
    demo.set_defaults(run=run_demo)

    cluster = commands.add_parser("cluster", help="cluster the rows of a table and ask whether the clusters are real")
    cluster.add_argument("file", metavar="FILE", help="CSV or Parquet")
    cluster.add_argument("-k", type=int, default=None, help="number of clusters (default 2)")
    cluster.add_argument("--plot", metavar="PNG", type=Path, help="write a picture of the clusters")
    cluster.add_argument("--labels", metavar="CSV", type=Path, help="write the cluster of every row")
    add_common(cluster)
    cluster.set_defaults(run=run_cluster)

    test = commands.add_parser("test", help="test whether groups known in advance have equal distributions")
    test.add_argument("file", metavar="FILE", help="CSV or Parquet")
    test.add_argument("--group", metavar="COL", required=True, help="column that names the groups")
    test.add_argument("--alpha", type=float, default=1.0, help="power of the distance, 0 < alpha <= 2 (default 1)")
    test.add_argument("--resamples", type=int, default=999, help="random relabelings (default 999)")
    test.add_argument("--plot", metavar="PNG", type=Path, help="write a picture of the null distribution")
    add_common(test)
    test.set_defaults(run=run_test)
    add_disco(commands.add_parser("disco", help="decompose the dispersion by factors and covariates, and test each"))
    add_euclidize(commands.add_parser("euclidize", help="make a matrix of dissimilarities Euclidean"))
    return parser


def add_disco(disco: argparse.ArgumentParser) -> None:
    """Options of `energystats disco`."""
    disco.add_argument("formula", metavar="FORMULA", help='responses ~ terms, such as "y1 + y2 ~ a * b"')
    disco.add_argument("file", metavar="FILE", help="CSV or Parquet")
    disco.add_argument("--metric", metavar="NAME", default="euclidean", help="the distance (default euclidean)")
    disco.add_argument("--alpha", type=float, default=1.0, help="power of the distance, 0 < alpha <= 2 (default 1)")
    disco.add_argument("--decomposition", metavar="KIND", default="sequential", help="sequential (default) or marginal")
    disco.add_argument("--strata", metavar="COL", help="column of blocks; rows are permuted within them only")
    disco.add_argument("--missing", metavar="WHAT", default="raise", help="rows with gaps: raise (default) or drop")
    disco.add_argument("--resamples", type=int, default=999, help="random permutations (default 999)")
    disco.add_argument("--plot", metavar="PNG", type=Path, help="write a picture of the decomposition")
    add_general(disco)
    disco.set_defaults(run=run_disco)


def add_euclidize(euclidize: argparse.ArgumentParser) -> None:
    """Options of `energystats euclidize`."""
    euclidize.description = (
        "Make a square matrix of dissimilarities d (not squared) Euclidean by the least constant that does it. Lingoes "
        "adds it to d squared and keeps the best clusters; Cailliez adds it to d. Euclidean ones come back unchanged."
    )
    euclidize.add_argument(
        "file",
        metavar="FILE",
        help="CSV or Parquet: n x n numbers, with names in the first row and column, in the first row, or without",
    )
    euclidize.add_argument("--method", metavar="NAME", default="lingoes", help="lingoes (default) or cailliez")
    euclidize.add_argument(
        "-o", "--output", metavar="CSV", type=Path, required=True, help="the repaired matrix, laid out as FILE is"
    )
    euclidize.add_argument("--plot", metavar="PNG", type=Path, help="write a picture of repaired against original")
    euclidize.add_argument("--tol", type=float, help="rounding to allow for, as a share of the largest eigenvalue")
    euclidize.set_defaults(run=run_euclidize)


def add_common(command: argparse.ArgumentParser) -> None:
    """Options of the commands that choose numeric columns."""
    command.add_argument(
        "--columns", metavar="A,B", help="columns to use (default: every numeric one; gower: every one)"
    )
    command.add_argument("--metric", metavar="NAME", default="euclidean", help="the distance (default euclidean)")
    add_general(command)


def add_general(command: argparse.ArgumentParser) -> None:
    """Options that every command on a file has."""
    command.add_argument("--standardize", action="store_true", help="use column z-scores")
    command.add_argument("--seed", type=seed, default=0, help="seed of everything random (default 0)")


def seed(word: str) -> int:
    """Whole number that a generator takes."""
    number = int(word)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 0, got {word}")
    return number


# ---------------------------------------------------------------- the commands


def run_demo(options: argparse.Namespace) -> None:
    """Cluster the irises, test, compare with the species, draw, write."""
    from sklearn.metrics import adjusted_rand_score

    from energystats import datasets
    from energystats.clustering.accuracy import clustering_accuracy

    picture, table = Path("energystats-demo.png"), Path("energystats-demo-labels.csv")
    check_outputs(None, picture=picture, table=table)
    iris = datasets.load("iris")
    print("150 irises, four lengths in cm (Anderson 1935, Fisher 1936).")
    print("k = 3, because three species were measured; k was not chosen from the data.\n")
    columns = [name for name in iris.columns if name != "species"]
    with announced_compilation():
        found, test = cluster_and_test(iris[columns], k=3, standardize=False, seed=0)
    print_results(found, test)
    accuracy = clustering_accuracy(iris["species"], found.labels)
    rand = adjusted_rand_score(iris["species"], found.labels)
    print(f"\nAgainst the species: accuracy {accuracy:.3f}, adjusted Rand index {rand:.3f}.")
    print(cross_table(iris["species"], found))
    write_picture(picture, found, test, classes=iris["species"])
    write_labels(table, found, species=iris["species"])


def run_cluster(options: argparse.Namespace) -> None:
    """Cluster the rows of a file."""
    check_outputs(options.file, picture=options.plot, table=options.labels)
    table = read_table(options.file)
    frame = choose_columns(table, options.columns, options.file, leave_out=None, mixed=options.metric == "gower")
    print(describe(frame, options.file))
    print(f"{K_NOT_CHOSEN if options.k is None else f'k = {options.k}, as given.'}\n")
    with announced_compilation(), bad_input(options.file):
        k = 2 if options.k is None else options.k
        how = {"metric": options.metric, "standardize": options.standardize}
        found, test = cluster_and_test(frame, k=k, seed=options.seed, **how)
    print_results(found, test)
    if options.plot is not None:
        write_picture(options.plot, found, test)
    if options.labels is not None:
        write_labels(options.labels, found)


def run_test(options: argparse.Namespace) -> None:
    """Test equality of the distributions of the groups in a file."""
    from energystats.homogeneity import energy_test

    check_outputs(options.file, picture=options.plot)
    table = read_table(options.file, as_text=options.group)
    groups = column_of(table, options.group, options.file)
    mixed = options.metric == "gower"
    frame = choose_columns(table, options.columns, options.file, leave_out=options.group, mixed=mixed)
    if options.group in map(str, frame.columns):
        raise BadInputError(f"--columns must not name the column of the groups, {options.group!r}.")
    print(describe(frame, options.file))
    print(f"Groups of {options.group}: {', '.join(map(str, sorted(groups.dropna().unique())))}.\n")
    with bad_input(options.file):
        result = energy_test(
            frame,
            groups=groups,
            metric=options.metric,
            alpha=options.alpha,
            n_resamples=options.resamples,
            standardize=options.standardize,
            rng=options.seed,
        )
    print(result.summary())
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]))


def run_disco(options: argparse.Namespace) -> None:
    """Decompose the dispersion of the responses in a file."""
    from energystats.decomposition import disco

    check_outputs(options.file, picture=options.plot)
    table = read_table(options.file)
    if options.strata is not None:
        column_of(table, options.strata, options.file)
    with bad_input(options.file):
        result = disco(
            options.formula,
            data=table,
            metric=options.metric,
            alpha=options.alpha,
            decomposition=options.decomposition,
            strata=options.strata,
            missing=options.missing,
            n_resamples=options.resamples,
            standardize=options.standardize,
            rng=options.seed,
        )
    print(f"{result.n} of {len(table)} rows of {options.file}, {options.formula}.\n")
    print(result.summary())
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]))


def run_euclidize(options: argparse.Namespace) -> None:
    """Repair the dissimilarities in a file."""
    from energystats.geometry.corrections import cailliez, lingoes

    repairs = {"lingoes": lingoes, "cailliez": cailliez}
    if options.method not in repairs:
        near = near_names(options.method, repairs)
        raise BadInputError(f"--method must be lingoes or cailliez, got {options.method!r}.{near}")
    check_outputs(options.file, picture=options.plot, table=options.output)
    given = read_matrix(options.file)
    with bad_input(options.file):
        result = repairs[options.method](given.labelled, options.tol)
    save(options.output, lambda path: given.write(path, result.distances))  # first: the reader of a pipe may leave
    if options.plot is not None:
        save(options.plot, lambda path: draw(path, [result]))
    print(f"\n{options.file}: {given.describe()}.\n")
    print(result.summary())


def cluster_and_test(
    frame: pd.DataFrame, *, k: int, standardize: bool, seed: int, metric: str = "euclidean"
) -> tuple[Partition, ClusterTestResult | str]:
    """The partition, and its test or why there is none."""
    from energystats.clustering.search import energy_cluster
    from energystats.significance.cluster_test import cluster_test

    found = energy_cluster(frame, k, metric=metric, standardize=standardize, rng=seed)
    if k == 1:
        return found, "Not tested: one cluster makes no contrast."
    try:
        return found, cluster_test(frame, k, metric=metric, standardize=standardize, rng=seed)
    except ValueError as error:  # the partition stands, whatever the test lacks
        return found, f"Not tested: {in_options(str(error))}"


# ---------------------------------------------------------------- reading


def read_table(file: str, *, as_text: str | None = None) -> pd.DataFrame:
    """Table of a CSV or Parquet file; one column can be kept as text, so that 01 and 1 stay two groups."""
    import pandas as pd

    path, parquet = existing(file)
    with readable(file):
        if parquet:
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, dtype=None if as_text is None else {as_text: str})
    if table.empty:
        raise BadInputError(f"{file}: the table has no rows.")
    check_header([str(c) for c in table.columns], file)
    return table


def read_matrix(file: str) -> MatrixFile:
    """Square matrix of a CSV or Parquet file, with its names."""
    from energystats.matrix_files import parse_cells, read_cells, read_parquet_cells

    path, parquet = existing(file)
    with readable(file):
        cells = read_parquet_cells(path) if parquet else read_cells(path)
    with bad_input(file):
        return parse_cells(cells)


def existing(file: str) -> tuple[Path, bool]:
    """Path of a file that is there, and whether it is Parquet by its name."""
    path = Path(file)
    if not path.exists():
        raise BadInputError(f"{file}: no such file.")
    suffixes = [s.lower() for s in path.suffixes]
    parquet = bool({".parquet", ".pq"} & set(suffixes))
    if not parquet and ".csv" not in suffixes:
        raise BadInputError(f"{file}: the name must end in .csv, .csv.gz, .parquet or .pq.")
    return path, parquet


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Errors of reading as one line that names the file."""
    import csv
    import zlib

    import pandas as pd

    try:
        yield
    except pd.errors.EmptyDataError as error:
        raise BadInputError(f"{file}: the file is empty.") from error
    except ImportError as error:
        raise BadInputError(f"{file}: reading Parquet needs pyarrow; `pip install pyarrow`.") from error
    except UnicodeError as error:
        raise BadInputError(f"{file}: is not UTF-8 text; save it as UTF-8.") from error
    except (OSError, ValueError, EOFError, csv.Error, zlib.error) as error:  # pandas' parser errors are ValueErrors
        raise BadInputError(f"{file}: cannot be read: {error}") from error


def check_header(names: list[str], file: str) -> None:
    """Complain about a first line that cannot be the names of columns."""
    if len(names) == 1 and names[0].count(";") + names[0].count("\t") > 0:
        raise BadInputError(f"{file}: looks separated by semicolons or tabs; separate the columns by commas.")
    if all(re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(\.[0-9]+)?", name, re.IGNORECASE) for name in names):
        raise BadInputError(f"{file}: the first line must name the columns, got {', '.join(names[:5])}.")


def column_of(table: pd.DataFrame, name: str, file: str) -> pd.Series[Any]:
    """One column, or an error with the names that look like it."""
    known = [str(column) for column in table.columns]
    if name not in known:
        hint = near_names(name, known) or " Columns: " + ", ".join(known) + "."
        raise BadInputError(f"{file}: no column {name!r}.{hint}")
    return table.iloc[:, known.index(name)]


def choose_columns(
    table: pd.DataFrame, columns: str | None, file: str, *, leave_out: str | None, mixed: bool = False
) -> pd.DataFrame:
    """The columns asked for, or every numeric one (every one when mixed), saying which were left out."""
    if columns is not None:
        return named_columns(table, columns, file, mixed)
    others = [c for c in table.columns if str(c) != leave_out]
    for c in others:
        if not is_number(table[c]) and mostly_numbers(table[c]):
            raise BadInputError(
                f"{file}: column {c!r} is not numeric{first_text(table[c])}; mend it, or choose --columns."
            )
    counters = [c for c in others if is_number(table[c]) and numbers_the_rows(table[c])]
    if counters and len(others) > len(counters):
        leave(counters, "it numbers the rows", "; name it in --columns to use it")
        others = [c for c in others if c not in counters]
    if not mixed:
        used = [c for c in others if is_number(table[c])]
        if not used:
            raise BadInputError(f"{file}: no numeric column among {', '.join(map(str, others)) or 'none'}.")
        leave([c for c in others if c not in used], "not numeric", "")
        return table[used]
    used = [c for c in others if not names_the_rows(table[c])]
    if not used:
        raise BadInputError(f"{file}: no column to use among {', '.join(map(str, others)) or 'none'}.")
    leave([c for c in others if c not in used], "every row has a text of its own", "; name it in --columns to use it")
    return table[used]


def named_columns(table: pd.DataFrame, columns: str, file: str, mixed: bool) -> pd.DataFrame:
    """The columns asked for, numeric ones unless mixed."""
    import pandas as pd

    names = [name.strip() for name in columns.split(",")]
    if len(set(names)) < len(names):
        raise BadInputError(f"--columns must not name a column twice, got {columns}.")
    chosen = [column_of(table, name, file) for name in names]
    for column in chosen:
        if not mixed and not is_number(column):
            raise BadInputError(f"{file}: column {column.name!r} is not numeric{first_text(column)}.")
    return pd.concat(chosen, axis=1)


def is_number(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, truth values aside."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def leave(names: Sequence[Any], why: str, hint: str) -> None:
    """Say which columns are not used."""
    if names:
        print(f"note: not used, because {why}: {', '.join(map(str, names))}{hint}.", file=sys.stderr)


def names_the_rows(column: pd.Series[Any]) -> bool:
    """Whether a column of text never repeats itself, as names do; such a column says nothing about likeness."""
    return not is_number(column) and len(column) > 2 and bool(column.notna().all()) and bool(column.is_unique)


def mostly_numbers(column: pd.Series[Any]) -> bool:
    """Whether text in a column is the exception, and so probably a slip."""
    import pandas as pd

    return bool(pd.to_numeric(column, errors="coerce").notna().mean() > 0.5) and column.dtype != bool


def numbers_the_rows(column: pd.Series[Any]) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..., as spreadsheets and data frames add on saving."""
    counted = np.arange(len(column))
    return len(column) > 2 and any(np.array_equal(column.to_numpy(), counted + first) for first in (0, 1))


def first_text(column: pd.Series[Any]) -> str:
    """' (row 3 holds 'abc')' for the first entry that is not a number."""
    import pandas as pd

    bad = pd.to_numeric(column, errors="coerce").isna() & column.notna()
    return f" (row {int(bad.to_numpy().argmax()) + 1} holds {str(column[bad].iloc[0])!r})" if bad.any() else ""


def describe(frame: pd.DataFrame, file: str) -> str:
    """How much of which columns is used."""
    rows = "1 row" if len(frame) == 1 else f"{len(frame)} rows"
    return f"{rows} of {file}, columns {', '.join(map(str, frame.columns))}."


# ---------------------------------------------------------------- writing


def print_results(found: Partition, test: ClusterTestResult | str) -> None:
    """Both summaries."""
    print(found.summary())
    print()
    print(test if isinstance(test, str) else test.summary())


def cross_table(classes: pd.Series[Any], found: Partition) -> str:
    """Classes against clusters, as text."""
    import pandas as pd

    return pd.crosstab(classes, pd.Series(found.labels, name="cluster")).to_string()


def check_outputs(read: str | None, *, picture: Path | None = None, table: Path | None = None) -> None:
    """Complain about an output before anything is computed."""
    endings = {"picture": (picture, (".png", ".pdf", ".svg")), "table": (table, (".csv",))}
    taken = {Path(read).resolve()} if read is not None else set()
    for what, (path, allowed) in endings.items():
        if path is None:
            continue
        if path.suffix.lower() not in allowed:
            raise BadInputError(f"{path}: the name of a {what} must end in {' or '.join(allowed)}.")
        if path.resolve() in taken:
            raise BadInputError(f"{path}: would overwrite the input.")
        if not path.parent.is_dir():
            raise BadInputError(f"{path}: there is no folder {str(path.parent)!r}.")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise BadInputError(f"{path}: cannot be written.")


def save(path: Path, write: Callable[[Path], None]) -> None:
    """Write to a neighbouring file first, so that the output is complete or absent."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error}") from error
    os.close(descriptor)
    partial = Path(name)
    try:
        try:
            write(partial)
        except OSError as error:
            raise BadInputError(f"{path}: cannot be written: {error}") from error
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    print(f"Wrote {path}.")


def write_labels(path: Path, found: Partition, **classes: pd.Series[Any]) -> None:
    """Cluster of every row; row 1 is the first below the header."""
    import pandas as pd

    rows = range(1, found.labels.size + 1)
    table = pd.DataFrame({"row": rows, "cluster": found.labels, **classes})
    save(path, lambda partial: table.to_csv(partial, index=False))


def write_picture(
    path: Path, found: Partition, test: ClusterTestResult | str, classes: pd.Series[Any] | None = None
) -> None:
    """The clusters, the known classes if there are any, and the test, side by side."""
    results = [found] if isinstance(test, str) else [found, test]
    save(path, lambda partial: draw(partial, results, classes))


def draw(path: Path, results: Sequence[Any], classes: pd.Series[Any] | None = None) -> None:
    """One panel per result."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(5.6 * len(results), 4.6), layout="constrained", squeeze=False)
    for result, ax in zip(results, axes[0], strict=True):
        result.plot(ax=ax)
    if classes is not None:
        from energystats.plotting import mark_classes

        mark_classes(results[0], classes, axes[0, 0])
    figure.savefig(path, dpi=150)
    plt.close(figure)


# ---------------------------------------------------------------- warnings and errors


@contextmanager
def bad_input(file: str) -> Iterator[None]:
    """Errors of the library as one line that names the file."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        raise BadInputError(f"{file}: {in_options(str(error))}") from error


def in_options(text: str) -> str:
    """A message of the library in the words of the command line."""
    words = {"`X`": "the table", "`groups`": "--group", "standardize=True": "--standardize", "`k`": "-k"}
    words |= {"`alpha`": "--alpha", "`n_resamples`": "--resamples", "`metric`": "--metric", "`strata`": "--strata"}
    words |= {"`formula`": "the formula", "`data`": "the table", '`missing="drop"`': "--missing drop"}
    words |= {"`decomposition`": "--decomposition", "`missing`": "--missing", "`tol`": "--tol"}
    words |= {"`cluster_test`": "the cluster test", "(`labels=`)": "(energystats test)"}
    for ours, theirs in words.items():
        text = text.replace(ours, theirs)
    return text


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Show the package's warnings as single lines, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EnergyStatsWarning)
        yield
    ours = [w for w in caught if issubclass(w.category, EnergyStatsWarning) and w.category is not TiesWarning]
    for text in dict.fromkeys(in_options(str(w.message)) for w in ours):  # the summary speaks of ties itself
        print(f"note: {text}", file=sys.stderr)
    for other in caught:
        if not issubclass(other.category, EnergyStatsWarning):
            warnings.showwarning(other.message, other.category, other.filename, other.lineno)


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say so when the loops have to be compiled first."""
    from energystats._core.jit import on_compilation

    def announce() -> None:
        print("Compiling the numerical loops; only the first run has to.", file=sys.stderr, flush=True)

    with on_compilation(announce):
        yield
