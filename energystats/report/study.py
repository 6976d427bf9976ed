"""What a report is about: data, partition, test, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.results import ClusterTestResult
from energystats.clustering.partition import Partition
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.energy import Dispersion, dispersion
from energystats.metrics.base import is_named
from energystats.selection.results import SelectKResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Reading", "Study"]


DEFAULTS = {"metric": "euclidean", "alpha": 1.0, "standardize": False, "conservative": False, "n_resamples": 199,
            "k_max": 10, "criterion": "gap"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Where the data came from.

    Attributes
    ----------
    file : str
        What the data are called.
    code : tuple of str
        Statements that make `X`; empty where it was given in Python.
    command : tuple of str
        Words of the command line, or empty.
    n_read : int
        Rows before any were left out.
    left_out : tuple
        Columns that are not used, as (names, reason).
    ids : tuple
        Names of the rows, or empty.
    rows : tuple of int
        Number of every row in its source, from 1.
    """

    file: str
    n_read: int
    code: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()
    ids: tuple[Any, ...] = ()
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Everything that the report prints, computed.

    Attributes
    ----------
    data : DataFrame
        The columns that were clustered, or the matrix of rho.
    found : Partition
        The clusters.
    test : ClusterTestResult or str
        Their test, or why there is none.
    selection : SelectKResult or None
        The choice of k, where it was asked for.
    k_from : {"given", "default", "chosen"}
        Where k came from.
    rng : int
        Seed of every call.
    search, testing, selecting : dict
        Arguments of `energy_cluster`, `cluster_test` and `select_k`.
    reading : Reading
        Where the data came from.
    notes : tuple of str
        Warnings.
    """

    data: pd.DataFrame
    found: Partition
    test: ClusterTestResult | str
    selection: SelectKResult | None = None
    k_from: str = "given"
    rng: int = 0
    search: dict[str, Any] = field(default_factory=dict)
    testing: dict[str, Any] = field(default_factory=dict)
    selecting: dict[str, Any] = field(default_factory=dict)
    reading: Reading
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Rows that were clustered."""
        return int(self.found.labels.size)

    @property
    def k(self) -> int:
        """Clusters."""
        return self.found.k

    @property
    def is_matrix(self) -> bool:
        """Whether a matrix was given in place of columns."""
        return is_named(self.search.get("metric"), "precomputed")

    @property
    def where(self) -> dict[str, Any]:
        """Arguments that say what rho is."""
        return {key: self.search[key] for key in ("metric", "alpha", "standardize") if key in self.search}

    @cached_property
    def groups(self) -> Dispersion:
        """The clusters as groups, for the distances between them."""
        return dispersion(self.data, self.found.labels, **self.where)

    @cached_property
    def representatives(self) -> IntArray:
        """Row of every cluster with the smallest mean rho to the cluster, the first of several; (k,)."""
        d = Dissimilarity.from_data(
            self.data,
            metric=self.where.get("metric", "euclidean"),
            alpha=self.where.get("alpha", 1.0),
            standardize=self.where.get("standardize", False),
        )
        Z = Groups(self.found.labels, tuple(range(self.k))).indicators()[:, :, 0]
        sums = d.pairs.multiply(np.ascontiguousarray(Z))[np.arange(self.n), self.found.labels]
        members = [np.flatnonzero(self.found.labels == j) for j in range(self.k)]
        return np.array([rows[_near_smallest(sums[rows])] for rows in members], dtype=np.intp)

    def name(self, row: int) -> str:
        """What a row is called: its name, or its number in the source."""
        if self.reading.ids:
            return str(self.reading.ids[row])
        return f"row {self.reading.rows[row] if self.reading.rows else row + 1}"

    def call(self, function: str, first: str, options: dict[str, Any], **more: Any) -> str:
        """A call as it would be typed, without arguments at their defaults."""
        given = {key: value for key, value in options.items() if DEFAULTS.get(key) != value}
        given.pop("progress", None)
        words = "".join(f", {key}={value!r}" for key, value in {**given, **more}.items())
        return f"es.{function}({first}{words}, rng={self.rng})"


def _near_smallest(values: FloatArray) -> int:
    """Index of the first value that is the smallest, rounding aside."""
    return int(np.flatnonzero(values <= values.min() + 1e-12 * np.abs(values).max())[0])
