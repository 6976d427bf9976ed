"""The sections of the report."""

from __future__ import annotations

import math
import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats import __version__
from energystats._core.statistics import share
from energystats.display.numbers import number, probability
from energystats.report.pictures import escape_text, figure, listing, paragraph, picture, section, table
from energystats.report.study import Study
from energystats.report.words import method_text, state_bound

if TYPE_CHECKING:
    from energystats.cluster_tests.results import ClusterTestResult

__all__ = [
    "choice",
    "code_of",
    "data",
    "methods",
    "pairs",
    "partition",
    "reproduction",
    "significance",
    "write_dispersions",
]


ROWS_LISTED = 300  # rows whose cluster is printed
COLUMNS_LISTED = 200
CLUSTERS_LISTED = 12  # across a table of means
PAIRS_LISTED = 12  # clusters whose distances are printed
PACKAGES = ("numpy", "scipy", "pandas", "numba", "scikit-learn", "matplotlib")
NO_P_VALUES = (
    "These distances describe the clusters found. No p-values are given for them: the clusters were found on the same "
    "data, so that they differ by construction, and a test that took them for known in advance would call any two of "
    "them different, also where the data have no clusters."
)


def data(study: Study) -> str:
    """What was read, which of it was used, and what is odd about it."""
    reading, frame = study.reading, study.data
    facts: list[tuple[str, object]] = [("rows read", reading.n_read), ("rows used", study.n)]
    if not study.is_matrix:
        facts.append(("columns used", f"{frame.shape[1]}: {_shorten_list(list(frame.columns))}"))
        facts += [(f"not used, because {why}", _shorten_list(names)) for names, why in reading.left_out]
        scaled = study.where.get("standardize", False)
        facts.append(("columns", "z-scores (divisor n)" if scaled else "as they are, not standardized"))
    facts.append(("semimetric rho", repr(study.found.metric)))
    parts = [table(["", ""], facts, names=2)]
    if study.is_matrix:
        R = frame.to_numpy(dtype=np.float64)
        off = R[~np.eye(len(R), dtype=bool)]
        if off.size:
            range_ = f"from {number(off.min())} to {number(off.max())}, median {number(float(np.median(off)))}"
            parts.append(paragraph(f"The entries of the matrix off the diagonal range {range_}."))
    else:
        parts.append(_columns_table(study))
    warnings = list(dict.fromkeys([*_oddities(study), *study.notes]))
    return section("data", "Data", *parts, listing(warnings))


def _shorten_list(names: Sequence[object]) -> str:
    """Names in a row, of many the first twenty."""
    more = f" and {len(names) - 20} others" if len(names) > 20 else ""
    return ", ".join(map(str, names[:20])) + more


def _columns_table(study: Study) -> str:
    """Range and missing values of every column."""
    rows = [_column_row(str(name), study.data.iloc[:, j]) for j, name in enumerate(study.data.columns)]
    heads = ["column", "missing", "distinct", "minimum", "median", "maximum", "standard deviation"]
    left = len(rows) - COLUMNS_LISTED
    more = paragraph(f"{left} more columns are not listed.") if left > 0 else ""
    return table(heads, rows[:COLUMNS_LISTED], "Columns used") + more


def _column_row(name: str, column: Any) -> list[object]:
    """Numbers of one column; of categories how many there are, and the commonest."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    head: list[object] = [name, int(column.isna().sum()), int(column.nunique())]
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        values = values[~np.isnan(values)]
        if not values.size:
            return [*head, *"----"]
        size = float(np.abs(values).max()) or 1.0  # squares of the largest numbers overflow
        summary = (values.min(), float(np.median(values)), values.max(), size * float(np.std(values / size)))
        return [*head, *(number(float(v)) for v in summary)]
    counts = column.astype(str)[column.notna()].value_counts()
    most = "-" if counts.empty else f"{str(counts.index[0])[:40]} ({counts.iloc[0]} times)"
    return [*head, "categories", most, "", ""]


def _oddities(study: Study) -> list[str]:
    """Constant columns, copies and ties, which a reader should know of."""
    if study.is_matrix:
        return []
    frame, said = study.data, []
    constant = [str(c) for j, c in enumerate(frame.columns) if frame.iloc[:, j].nunique() <= 1]
    if constant:
        said.append(f"Constant, and so without any influence: {_shorten_list(constant)}.")
    copies = int(frame.duplicated().sum())
    if copies:
        said.append(f"{copies} of {study.n} rows are equal to an earlier row in all columns used.")
    test = study.test
    if not isinstance(test, str) and test.jittered:
        said.append("Columns have tied values, which the test spread over one grid step.")
    return said


def partition(study: Study) -> str:
    """The clusters: picture, sizes, what is typical of each, and which rows they hold."""
    found = study.found
    typical = [study.name(int(row)) for row in study.representatives]
    rows = [
        [f"cluster {j}", size, f"{size / study.n:.1%}", name]
        for j, (size, name) in enumerate(zip(found.sizes, typical, strict=True))
    ]
    sizes = table(["", "rows", "share", "representative"], rows, "Clusters")
    drawn = figure(picture(found.plot), "Rows by cluster", "The rows by cluster. " + _plane_text(study))
    text = paragraph("The representative is the row with the smallest mean rho to the rows of its cluster.")
    return section("partition", "Partition", drawn, sizes, text, *_means(study), _categories(study), _members(study))


def _plane_text(study: Study) -> str:
    """What the axes of the picture are."""
    found = study.found
    if found.points is None:
        return "Axes are the first two principal coordinates of rho."
    if found.points.shape[1] == 1:
        return "Dashed lines are the breaks between clusters." if found.breaks is not None else ""
    if found.points.shape[1] > 2:
        return "Axes are the first two principal components; clusters that overlap here may be apart in other columns."
    return ""


def _means(study: Study) -> list[str]:
    """Means of the clusters by feature, as a table and as a heat map."""
    if study.is_matrix:
        return []
    numbers = study.data.select_dtypes("number")
    numbers = numbers.loc[:, numbers.notna().any().to_numpy()]
    if not numbers.shape[1]:
        return []
    shown = min(study.k, CLUSTERS_LISTED)
    by = [numbers[study.found.labels == j].mean(axis=0).to_numpy(dtype=np.float64) for j in range(shown)]
    rows = [
        [str(name), *(_number_or_dash(mean[i]) for mean in by)]
        for i, name in enumerate(numbers.columns[:COLUMNS_LISTED])
    ]
    more = f" The first {shown} of {study.k} clusters." if shown < study.k else ""
    caption = f"Means of the clusters, in the units of the columns.{more}"
    listed = table(["", *(f"cluster {j}" for j in range(shown))], rows, caption)
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(values[~np.isnan(values)]).all() or study.k < 2:
        return [listed]
    heat = picture(lambda: study.found.plot_means(data=numbers))
    words = "Means of the clusters by feature, in standard deviations of the feature from its mean over all rows."
    return [listed, figure(heat, "Heat map of cluster means", words)]


def _categories(study: Study) -> str:
    """The commonest category of every cluster, where there are columns of categories."""
    others = [] if study.is_matrix else [c for c in study.data.columns if c not in study.data.select_dtypes("number")]
    if not others:
        return ""
    shown = min(study.k, CLUSTERS_LISTED)
    rows = [[str(c), *(_commonest(study.data[c][study.found.labels == j]) for j in range(shown))] for c in others]
    heads = ["", *(f"cluster {j}" for j in range(shown))]
    return table(heads, rows[:COLUMNS_LISTED], "Commonest category, and its share of the known values")


def _commonest(column: Any) -> str:
    """A category with its share."""
    counts = column.dropna().astype(str).value_counts()
    return "-" if counts.empty else f"{str(counts.index[0])[:40]} ({counts.iloc[0] / counts.sum():.0%})"


def _number_or_dash(value: float) -> str:
    """A number, or a dash where there is none."""
    return "-" if math.isnan(value) else number(float(value))


def _members(study: Study) -> str:
    """Rows of every cluster, where there are not too many."""
    if study.n > ROWS_LISTED:
        return paragraph(
            f"The cluster of each of the {study.n} rows is not printed here; the option --labels writes it, and the "
            "calls at the end of this report give it."
        )
    names = [study.name(i).removeprefix("row ") for i in range(study.n)]
    rows = [
        [f"cluster {j}", ", ".join(names[i] for i in np.flatnonzero(study.found.labels == j))] for j in range(study.k)
    ]
    return table(["", "rows" if not study.reading.ids else "names"], rows, "Rows of the clusters", names=2)


def write_dispersions(study: Study) -> str:
    """W, S, T, their parts, and what is guaranteed."""
    found = study.found

    def part(value: float) -> str:
        return f"{share(value, found.total):.1%}" if found.total else "-"

    rows = [
        ["W, within clusters", number(found.within), part(found.within)],
        ["S, between clusters", number(found.between), part(found.between)],
        ["T = W + S", number(found.total), part(found.total)],
    ]
    if study.k > 1:
        rows.append(["bound on S", number(found.bound), "-"])
    each = [
        [f"cluster {j}", size, number(w), part(w)]
        for j, (size, w) in enumerate(zip(found.sizes, found.within_per_cluster.tolist(), strict=True))
    ]
    line = "; a dashed line is the bound on S" if study.k > 1 and found.bound > 0 else ""
    bars = figure(picture(found.plot_decomposition), "Bars of T, S and W", f"T and its parts{line}.")
    path = ""
    if study.k > 1 and found.path is not None and found.path.size > 1 and found.algorithm in ("hartigan", "lloyd"):
        path = figure(
            picture(found.plot_path), "W against passes", "W after every pass of the search that found the partition."
        )
    tables = table(["", "dispersion", "share of T"], rows, "Dispersion") + table(
        ["", "rows", "W", "share of T"], each, "W by cluster"
    )
    return section(
        "dispersion",
        "Dispersion and upper bound",
        tables,
        listing([*state_bound(study), *_notes_of(study)]),
        bars,
        path,
    )


def _notes_of(study: Study) -> list[str]:
    """What has to be known of the algorithm and the semimetric."""
    return [*study.found.notes, *study.found.metric.notes]


def significance(study: Study) -> str:
    """The test of cluster structure, or why there is none."""
    test = study.test
    title = "Is there cluster structure?"
    if isinstance(test, str):
        return section("significance", title, paragraph(test))
    rows: list[list[object]] = [
        ["null hypothesis", test.null_hypothesis],
        ["p-value", probability(test.pvalue)],
        *_write_indices(test),
        ["method", test.method],
        ["draws behind a p-value", test.n_resamples],
    ]
    if test.n_splits:
        rows += [["splits", test.n_splits], ["rows clustered at a time", test.n_clustered]]
    factor = f"{test.factor:g}{', the conservative one' if test.conservative else ''}"
    rows.append(["factor of p-values", factor])
    contrasts = ""
    if len(test.rows) > 1:
        cells = [
            [row.name, number(row.statistic), probability(row.pvalue), probability(row.pvalue_adjusted)]
            for row in test.rows
        ]
        contrasts = table(["", "statistic", "p", "p (Holm)"], cells, "One cluster against the rest")
    drawn = figure(
        picture(test.plot),
        "Scores that were tested, with the nearest unimodal density",
        "What was tested: the scores of the clearest split, with the nearest unimodal distribution."
        if test.method == "split"
        else "What was tested: the values of the column, with the nearest unimodal distribution.",
    )
    sentences = [note for note in test._sentences() if not note.startswith("Null hypothesis")]
    return section("significance", title, table(["", ""], rows, names=2), contrasts, listing(sentences), drawn)


def _write_indices(test: ClusterTestResult) -> list[list[object]]:
    """The three indices behind p, means over the contrasts."""
    if test.indices is None:
        return [["statistic", number(test.statistic)]]
    ratio, _, distance = test.indices.mean(axis=0).tolist()
    return [
        ["statistic (E)", number(test.statistic)],
        ["log likelihood ratio", number(ratio)],
        ["distance from unimodality", number(distance)],
    ]


def choice(study: Study) -> str:
    """How many clusters, where that was asked."""
    if study.selection is None:
        return ""
    chosen = study.selection
    frame = chosen.table.dropna(axis=1, how="all")
    columns = [c for c in frame.columns if c not in ("k", "log_within")]
    rows = [
        [f"k = {int(row['k'])}{' *' if int(row['k']) == chosen.k else ''}"]
        + [_number_or_dash(float(row[c])) for c in columns]
        for _, row in frame.iterrows()
    ]
    notes = [*chosen.notes]
    if study.k != chosen.k:
        notes.insert(
            0, f"{chosen.criterion} chose {chosen.k}; the report is on the {study.k} clusters that were asked for."
        )
    drawn = figure(
        picture(chosen.plot), f"Curve of {chosen.criterion} against k", f"The criterion ({chosen.criterion}) against k."
    )
    heads = ["", *(c.replace("_", " ") for c in columns)]
    return section(
        "choice",
        "How many clusters?",
        table(heads, rows, "Criteria for each k; * is the k chosen"),
        listing(notes),
        drawn,
    )


def pairs(study: Study) -> str:
    """Energy distances between the clusters, which are descriptive."""
    if study.k < 2:
        return ""
    g = study.groups.g
    E = 2 * g - np.diagonal(g)[:, None] - np.diagonal(g)[None, :]
    listed = ""
    if study.k <= PAIRS_LISTED:
        names = [f"cluster {j}" for j in range(study.k)]
        cells = [[name, *(number(E[i, j]) if i != j else "0" for j in range(study.k))] for i, name in enumerate(names)]
        listed = table(["", *names], cells, "Energy distances E between clusters, in the unit of rho")
    drawn = figure(
        picture(study.groups.plot_distances),
        "Heat map of energy distances with a dendrogram",
        "Energy distances of the clusters, in the order of their tree.",
    )
    return section("pairs", "Distances between the clusters", paragraph(NO_P_VALUES), listed, drawn)


def methods(study: Study) -> str:
    """Methods and references."""
    texts, works = method_text(study)
    listed = "<ol>" + "".join(f"<li>{escape_text(work)}</li>" for work in works) + "</ol>"
    return section("methods", "Methods", *map(paragraph, texts), "<h3>References</h3>", listed)


def code_of(study: Study) -> str:
    """Python statements that compute the same again."""
    lines = ["import energystats as es"]
    if study.reading.code:
        lines += ["import pandas as pd"] + ["import sys"] * any("sys.stdin" in line for line in study.reading.code)
        lines += ["", *study.reading.code]
    else:
        lines += ["", "# X: the table of this report"]
    k: object = study.k
    if study.selection is not None:
        lines.append(f"selection = {study.call('select_k', 'X', study.selecting)}")
        k = "selection.k" if study.k_from == "chosen" else study.k
    lines.append(f"found = {study.call('energy_cluster', f'X, {k}', study.search)}")
    if not isinstance(study.test, str):
        lines.append(f"test = {study.call('cluster_test', f'X, {k}', study.testing)}")
    return "\n".join(lines)


def reproduction(study: Study) -> str:
    """The calls that give the same numbers, and the versions that did."""
    parts = []
    if study.reading.command:
        parts += [
            "<h3>Command line</h3>",
            f"<pre>{escape_text(shlex.join(('energystats', *study.reading.command)))}</pre>",
        ]
    parts += ["<h3>Python</h3>", f"<pre>{escape_text(code_of(study))}</pre>"]
    text = f"Seed {study.rng}. The same seed and versions give the same labels and p-values."
    rows = [["energystats", __version__], ["Python", platform.python_version()]]
    rows += [[name, _version_of(name)] for name in PACKAGES]
    return section(
        "reproduction", "The same again", *parts, paragraph(text), table(["package", "version"], rows, names=2)
    )


def _version_of(name: str) -> str:
    """Version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
