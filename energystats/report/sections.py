"""Tables of the report that no result has: of the data, and of the clusters in the units of the data."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats import __version__
from energystats._core.statistics import energy_distances
from energystats.display.numbers import number
from energystats.display.sentences import join_names
from energystats.report.study import Study

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "describe_columns",
    "find_oddities",
    "list_by_cluster",
    "list_clusters",
    "list_distances",
    "list_facts",
    "list_heads",
    "list_members",
    "list_versions",
]


COLUMNS_LISTED = 200
CLUSTERS_LISTED = 12  # across a table of means, or of distances
ROWS_LISTED = 300  # rows whose cluster is printed
PACKAGES = ("numpy", "scipy", "pandas", "numba", "scikit-learn", "matplotlib")
Rows = list[list[object]]


def list_facts(study: Study) -> Rows:
    """List facts on the data as table rows: rows read and used, columns, semimetric."""
    reading, frame = study.reading, study.data
    facts: Rows = [["rows read", reading.n_read or study.n], ["rows used", study.n]]
    if study.is_matrix:
        R = frame.to_numpy(dtype=np.float64)
        off = R[~np.eye(len(R), dtype=bool)]
        if off.size:
            range_ = f"{number(off.min())} to {number(off.max())}, median {number(float(np.median(off)))}"
            facts.append(["entries off the diagonal", range_])
    else:
        scaled = study.search.get("standardize", False)
        facts.append(["columns used", f"{frame.shape[1]}: {join_names(list(frame.columns))}"])
        facts += [[f"not used, because {why}", join_names(names)] for names, why in reading.left_out]
        facts.append(["columns", "z-scores (divisor n)" if scaled else "as they are, not standardized"])
    return [*facts, ["semimetric rho", repr(study.found.metric)]]


def describe_columns(study: Study) -> Rows:
    """Describe each data column in a table row: missing values, distinct values, range or commonest one."""
    rows: Rows = []
    for j, name in enumerate(study.data.columns[:COLUMNS_LISTED]):
        column = study.data.iloc[:, j]
        known = column.dropna()
        summary: list[object] = [*"----"]
        if name in study.categories:
            summary = ["categories", _find_commonest(known, "{} ({} times)"), "", ""]
        elif not known.empty:
            values = known.to_numpy(dtype=np.float64)
            size = float(np.abs(values).max()) or 1.0  # squares of the largest numbers overflow
            summary = [*map(number, (values.min(), np.median(values), values.max(), size * np.std(values / size)))]
        rows.append([name, len(column) - len(known), int(known.nunique()), *summary])
    return rows


def find_oddities(study: Study) -> list[str]:
    """Return sentences on constant columns and duplicated rows of the data; empty without any."""
    if study.is_matrix:
        return []
    frame, said = study.data, []
    constant = [str(c) for j, c in enumerate(frame.columns) if frame.iloc[:, j].nunique() <= 1]
    if constant:
        said.append(f"Constant, and so without any influence: {join_names(constant)}.")
    if repeated := int(frame.set_axis(range(frame.shape[1]), axis=1).duplicated().sum()):  # no two of one name
        said.append(f"{repeated} of {study.n} rows are equal to an earlier row in all columns used.")
    return said


def list_heads(study: Study) -> list[str]:
    """Return the headings of a table with one column per cluster, for the first twelve clusters."""
    return ["", *(f"cluster {j}" for j in range(min(study.k, CLUSTERS_LISTED)))]


def list_clusters(study: Study) -> Rows:
    """List the clusters as table rows: size, share of the points, representative row."""
    typical = enumerate(zip(study.found.sizes, study.representatives.tolist(), strict=True))
    return [[f"cluster {j}", size, f"{size / study.n:.1%}", study.name(row)] for j, (size, row) in typical]


def list_by_cluster(study: Study, *, measured: bool) -> Rows:
    """List data columns as table rows: mean in each cluster if `measured`, else the commonest category there."""
    frame = (study.measured if measured else study.categories).iloc[:, :COLUMNS_LISTED]
    parts = [frame[study.found.labels == j] for j in range(min(study.k, CLUSTERS_LISTED))]

    def describe(column: pd.Series[Any]) -> str:
        if not measured:
            return _find_commonest(column.dropna(), "{} ({share:.0%})")
        return number(float(column.mean())) if column.notna().any() else "-"

    return [[name, *(describe(part.iloc[:, i]) for part in parts)] for i, name in enumerate(frame.columns)]


def _find_commonest(known: Any, form: str) -> str:
    """Find the commonest of some categories, and return it with its count or share as text."""
    counts = known.astype(str).value_counts()
    if counts.empty:
        return "-"
    return form.format(str(counts.index[0])[:40], counts.iloc[0], share=counts.iloc[0] / counts.sum())


def list_members(study: Study) -> Rows:
    """List the data rows in each cluster as table rows, by name or number."""
    names = [study.name(i).removeprefix("row ") for i in range(study.n)]
    inside = [np.flatnonzero(study.found.labels == j) for j in range(study.k)]
    return [[f"cluster {j}", ", ".join(names[i] for i in rows)] for j, rows in enumerate(inside)]


def list_distances(study: Study) -> Rows:
    """List the energy distances between clusters as table rows; empty for more than twelve clusters."""
    E = energy_distances(study.groups.g, np.ones(study.k))  # g is M with every size 1
    return [[f"cluster {i}", *map(number, E[i])] for i in range(study.k)] if study.k <= CLUSTERS_LISTED else []


def list_versions() -> Rows:
    """List the versions of Python, of this package and of its dependencies as table rows."""
    packages: Rows = [[name, version(name)] for name in PACKAGES]
    return [["energystats", __version__], ["Python", platform.python_version()], *packages]
