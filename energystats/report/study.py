"""Study that a report is about: data, partition, test, and their origin."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._core.rand_index import adjusted_rand_index
from energystats._typing import IntArray
from energystats.cluster_tests.results import ClusterTestResult, ShownElsewhere
from energystats.cluster_tests.split import ALIKE
from energystats.cluster_tests.validation_result import ClusterValidationResult
from energystats.clustering.partition import Partition
from energystats.display.sentences import metric_text
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.energy import Dispersion, dispersion
from energystats.exceptions import collected
from energystats.inputs.table import as_table
from energystats.metrics.base import is_named
from energystats.selection.results import SelectKResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DEFAULTS", "Reading", "Study", "search_options"]


VALIDATED_AT_MOST = 1000  # rows, so that a report does not take long
USED = "gzip", "io", "pathlib", "re", "sys"  # modules, in statements that read data
ONE_CLUSTER = "Not tested: one cluster makes no contrast."
ONE_OF_TREE = "One cluster makes no contrast; all points were tested to choose the number of clusters."
DEFAULTS = {"metric": "euclidean", "alpha": 1.0, "standardize": False, "conservative": False, "n_resamples": 199,
            "k_max": 10, "criterion": "gap"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Hold the origin of the data of a report: file, statements or command that read it, and rows and columns used."""

    file: str  # what the data are called
    code: tuple[str, ...] = ()  # statements that make `X`; empty where it was given in Python
    command: tuple[str, ...] = ()  # words of the command line, or empty
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()  # columns that are not used, as (names, reason)
    ids: tuple[Any, ...] = ()  # names of the rows, or empty
    rows: tuple[int, ...] = ()  # number of every row in its source, from 1
    n_read: int = 0  # rows before any were left out; 0 where none were


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Hold the data, partition, tests and all other results that a report prints."""

    data: pd.DataFrame  # the columns that were clustered, or the matrix of rho
    found: Partition  # the clusters
    test: ClusterTestResult | str  # their test, or why there is none
    selection: SelectKResult | None = None  # the choice of k, where it was asked for
    k_from: str = "given"  # where k came from
    rng: int = 0  # seed of every call
    # search, testing, selecting: arguments of `energy_cluster`, `cluster_test` and `select_k`
    search: dict[str, Any] = field(default_factory=dict)
    testing: dict[str, Any] = field(default_factory=dict)
    selecting: dict[str, Any] = field(default_factory=dict)
    reading: Reading  # where the data came from
    notes: tuple[str, ...] = ()  # warnings

    @classmethod
    def run(
        cls,
        X: Any,
        k: int | None,
        reading: Reading,
        *,
        progress: bool | None = False,
        rng: int = 0,
        criterion: str | None = None,
        **options: Any,
    ) -> Study:
        """Cluster points into k clusters, given, chosen by `criterion` or 2, and test them; return all for a report."""
        from energystats.clustering.energy_cluster import energy_cluster

        options = DEFAULTS | options
        search = search_options(options)
        testing = search | {name: options[name] for name in ("alpha", "conservative", "n_resamples")}
        selecting = {"k_max": options["k_max"], "criterion": criterion, **search, "alpha": options["alpha"]}
        selecting["conservative"] = options["conservative"]
        how: dict[str, Any] = {"rng": rng, "progress": progress}
        selection = None if criterion is None else _choose_k(X, selecting | how)
        wanted = k if k is not None else 2 if selection is None else selection.k
        by_tree = k is None and selection is not None and criterion == "significance"
        found = selection.partition if selection and by_tree else energy_cluster(X, wanted, **search, **how)
        if by_tree and selection and selection.tree:  # whose draws are its own
            testing["n_resamples"] = selection.tree.n_resamples
        if wanted == 1 and selection and selection.tree:
            test: ClusterTestResult | str = ONE_OF_TREE
        else:
            test = _test_clusters(X, 2 if by_tree else wanted, testing | how)  # that of the first split of a tree
        if not isinstance(test, str):
            test = _name_its_clusters(_with_note_on_leaves(test, found), found)
        return cls(
            data=_as_frame(X),
            found=found,
            test=test,
            selection=selection,
            k_from="given" if k is not None else "default" if selection is None else "chosen",
            rng=rng,
            search=search,
            testing=testing,
            selecting=selecting,
            reading=reading,
        )

    @property
    def n(self) -> int:
        """Return the number of clustered points."""
        return int(self.found.labels.size)

    @property
    def k(self) -> int:
        """Return the number of clusters."""
        return self.found.k

    @property
    def is_matrix(self) -> bool:
        """Return whether the data are a dissimilarity matrix instead of columns."""
        return is_named(self.search.get("metric"), "precomputed")

    @property
    def has_several_spaces(self) -> bool:
        """Return whether the cluster test looked at several forms of the points, such as decorrelated columns."""
        from energystats.cluster_tests.unimodality import calibration_factor

        if isinstance(self.test, str) or self.test.factor is None:
            return False
        return self.test.factor > calibration_factor(self.test.conservative)

    @cached_property
    def groups(self) -> Dispersion:
        """Return the dispersions within and between clusters, with mean dissimilarities between them."""
        return dispersion(self.data, self.found.labels, **self.search)

    @cached_property
    def representatives(self) -> IntArray:
        """Find each cluster's most central row, with the least mean dissimilarity to its points; (k,)."""
        d = Dissimilarity.from_data(self.data, **self.search)
        Z = Groups(self.found.labels, tuple(range(self.k))).indicators()[:, :, 0]
        # row sums of rho over the own cluster: within a cluster their order is that of the means
        sums = d.pairs.multiply(np.ascontiguousarray(Z))[np.arange(self.n), self.found.labels]
        members = [np.flatnonzero(self.found.labels == j) for j in range(self.k)]
        # the first sum that is the smallest, rounding aside
        least = [sums[rows].min() + 1e-12 * np.abs(sums[rows]).max() for rows in members]
        return np.array([rows[sums[rows] <= s][0] for rows, s in zip(members, least, strict=True)], dtype=np.intp)

    @cached_property
    def validation(self) -> ClusterValidationResult | str:
        """Validate the clusters of a report; return the result, or a sentence on why they were not validated."""
        from energystats.cluster_tests.validate_clusters import validate_clusters

        if self.n > VALIDATED_AT_MOST:
            return f"Of more than {VALIDATED_AT_MOST} rows only `validate_clusters` in Python asks this."
        partition: Partition | SelectKResult = self.found
        if self.selection is not None and self.is_of_tree:
            partition = self.selection  # with the p-values of its tree
        elif self.selection is not None and len(self.selection.partitions) >= self.k:
            searched = self.selection.partitions[self.k - 1]
            partition = searched if np.array_equal(searched.labels, self.found.labels) else self.found
        with collected():  # what there is to say of the points was said by the test
            return validate_clusters(self.data, partition=partition, **self._validating, progress=False, rng=self.rng)

    @property
    def shows_others(self) -> str:
        """Return a note if the test found other clusters than a report shows; else an empty text."""
        if isinstance(self.test, str):
            return ""
        told = [note for note in self.test.notes if isinstance(note, ShownElsewhere)]
        # the tree cuts where it rejects, too
        return told[0] if told and not _are_alike(self.test.partition, self.found) else ""

    @property
    def verdict_on_shown(self) -> str:
        """Return the verdict on the clusters that a report shows; empty if they were not validated."""
        return "" if isinstance(self.validation, str) else self.validation._conclusion()

    @property
    def clusters_of_tree(self) -> int:
        """Return the number of clusters in a tree of tests; 0 without a tree or a split."""
        tree = None if self.selection is None else self.selection.tree
        return 0 if tree is None or tree.k == 1 else tree.k

    @property
    def is_of_tree(self) -> bool:
        """Return whether the clusters of a report are the leaves of a tree of tests."""
        return self.k_from == "chosen" and self.selecting.get("criterion") == "significance"

    @property
    def _validating(self) -> dict[str, Any]:
        """Return the options with which a report validates its clusters."""
        return {name: self.testing[name] for name in ("alpha", "conservative", "n_resamples")}

    @property
    def measured(self) -> pd.DataFrame:
        """Return the numeric data columns with known values; none for a matrix."""
        numbers = self.data.select_dtypes("number").iloc[:, : 0 if self.is_matrix else None]
        return numbers.loc[:, numbers.notna().any().to_numpy()]

    @property
    def categories(self) -> pd.DataFrame:
        """Return the data columns that are not numeric; none for a matrix."""
        return self.data.select_dtypes(exclude="number").iloc[:, : 0 if self.is_matrix else None]

    def plot_means(self) -> Axes:
        """Draw a heat map of cluster means of the numeric columns, and return the axes."""
        return self.found.plot_means(data=self.measured)

    def name(self, row: int) -> str:
        """Return the name of a data row, or 'row 17' with its number in the source."""
        if self.reading.ids:
            return str(self.reading.ids[row])
        return f"row {self.reading.rows[row] if self.reading.rows else row + 1}"

    @property
    def command(self) -> str:
        """Join "energystats" and the words of the command line that made the report to a quoted shell command."""
        return shlex.join(("energystats", *self.reading.command))

    @property
    def code(self) -> str:
        """Return Python code that reproduces a report's results."""
        lines = ["import energystats as es"]
        if self.reading.code:
            lines += [f"import {name}" for name in USED if re.search(rf"\b{name}\.", "\n".join(self.reading.code))]
            lines += ["import pandas as pd"]
        lines += ["", *(self.reading.code or ["# X: the table of this report"])]
        if not isinstance(self.search.get("metric", ""), str):
            lines.append(f"# metric: that of this report, {' '.join(metric_text(self.found.metric).split())}")
        k: object = self.k
        if self.selection is not None:
            lines.append(f"selection = {self._call('select_k', 'X', self.selecting)}")
            k = "selection.k" if self.k_from == "chosen" else self.k
        lines.append(
            "found = selection.partition"
            if self.is_of_tree
            else f"found = {self._call('energy_cluster', f'X, {k}', self.search)}"
        )
        if not isinstance(self.test, str):
            asked = 2 if self.is_of_tree else k
            lines.append(f"test = {self._call('cluster_test', f'X, {asked}', self.testing)}")
            if not isinstance(self.validation, str):
                found = "selection" if self.is_of_tree else "found"
                call = self._call("validate_clusters", f"X, partition={found}", self._validating)
                lines.append(f"validated = {call}")
        return "\n".join(lines)

    def _call(self, function: str, first: str, options: dict[str, Any]) -> str:
        """Return a Python call of a function of this package as text, without arguments at their defaults."""
        words = ""
        for key, value in options.items():
            if DEFAULTS.get(key) != value:
                plain = value.item() if isinstance(value, np.generic) else value
                # what an object prints need not be Python
                words += f", {key}={'metric' if key == 'metric' and not isinstance(value, str) else repr(plain)}"
        return f"es.{function}({first}{words}, rng={self.rng})"


def search_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `energy_cluster` from those of a report; alpha is 1 for a matrix of rho."""
    alpha = 1.0 if is_named(options["metric"], "precomputed") else options["alpha"]
    return {"metric": options["metric"], "alpha": alpha, "standardize": options["standardize"]}


def _choose_k(X: Any, how: dict[str, Any]) -> SelectKResult:
    """Choose the number of clusters by `select_k`, and return the result with all criteria."""
    from energystats.selection.select_k import select_k

    return select_k(X, **how)


def _test_clusters(X: Any, k: int, how: dict[str, Any]) -> ClusterTestResult | str:
    """Test for clusters, and return the result or a sentence on why that failed."""
    from energystats.cluster_tests.cluster_test import cluster_test

    if k == 1:
        return ONE_CLUSTER
    try:
        return cluster_test(X, k, n_jobs=-1, **how)  # no number and hardly any memory depends on the threads
    except ValueError as error:
        return f"Not tested: {error}"


def _are_alike(tested: Partition | None, found: Partition) -> bool:
    """Return whether the clusters of a test nearly agree with those of a report; False if the test has none."""
    if tested is None:
        return False
    return bool(adjusted_rand_index(tested.labels, found.labels) >= ALIKE)


def _with_note_on_leaves(test: ClusterTestResult, found: Partition) -> ClusterTestResult:
    """Add a caution to a test of other clusters than a report's, where those of the report are leaves of a tree."""
    if found.algorithm != "cluster_tree" or _are_alike(test.partition, found):
        return test
    caution = ShownElsewhere(
        "The test is of other clusters than those found by the tree of splits, which has p-values of its own.",
        f"p belongs to `.partition` of `cluster_test(X, {test.k})`, another cut of the points.",
    )
    return replace(test, notes=(caution, *test.notes))


def _name_its_clusters(test: ClusterTestResult, found: Partition) -> ClusterTestResult:
    """Return a test whose contrasts are not named like the clusters of a report where its clusters are others."""
    if test.partition is None or np.array_equal(test.partition.labels, found.labels):
        return test
    rows = [replace(row, name=row.name.replace("cluster", "the test's cluster", 1)) for row in test.rows]
    return replace(test, rows=tuple(rows))


def _as_frame(X: Any) -> pd.DataFrame:
    """Convert points to a data frame, with the names and types of columns that they have."""
    import pandas as pd

    values = as_table(X).values
    if isinstance(values, pd.DataFrame | pd.Series):
        return pd.DataFrame(values)
    return pd.DataFrame(np.asarray(values)).add_prefix("column ")
