"""Clusterers of parts and reference samples: by energy, or by any clusterer that the user brings [theory 5]."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np

from energystats._core.locks import loading
from energystats._core.restarts import tries_for
from energystats._core.threads import one_openmp_thread_up_to
from energystats._typing import FloatArray, IntArray
from energystats.clustering.exact_1d import best_intervals, has_exact
from energystats.clustering.local_search import Problem, search_problem
from energystats.clustering.partition import Partition, make_partition
from energystats.clustering.search import MOVE_TOLERANCE, STARTS
from energystats.clustering.seeding import count_distinct
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import EnergyStatsWarning, collected, warn
from energystats.inputs.arrays import as_array
from energystats.inputs.labels import NOISE, as_labels
from energystats.inputs.table import masked_in

__all__ = [
    "Clustering",
    "EnergyClusters",
    "UserClusterer",
    "all_partitions",
    "as_user_clusterer",
    "explained_share",
    "label_partition",
    "user_partition",
]


FEW_STARTS = 4  # for two clusters whose W need not be the smallest
VISITED_UP_TO = 8  # points, of which all partitions are compared: at most 1,701


class Clustering(Protocol):
    """Define a clustering method, which is applied alike to data, parts of data and reference samples."""

    def labels(self, d: Dissimilarity, rng: np.random.Generator) -> IntArray | None:
        """Return cluster labels 0, 1, ... of some points, -1 for none; None for fewer than two clusters."""

    def share(self, d: Dissimilarity, rng: np.random.Generator) -> float:
        """Compute S/T, the between share of dispersion, of the clusters found in some points; 0 for fewer than two."""

    def describe(self, d: Dissimilarity) -> str:
        """Return words on how the data are clustered, to follow "clustered by" in a note."""

    def notes(self, own: int, counts_as: str) -> tuple[str, ...]:
        """Return notes on how many clusters a clusterer found in the data and in reference samples.

        The first `own` calls clustered the data or its parts; `counts_as` says what fewer than two clusters count as.
        """


@dataclass(frozen=True, slots=True)
class EnergyClusters:
    """Find k energy clusters by Hartigan's method, or exactly in one column of numbers."""

    k: int  # number of clusters
    # Whether there are as many starts and perturbations as in `energy_cluster`. For the line between two clusters a few
    # starts do.
    thorough: bool = True

    def labels(self, d: Dissimilarity, rng: np.random.Generator) -> IntArray | None:
        if not has_exact(d):
            R = d.matrix
            return None if count_distinct(R, self.k) < self.k else self.search(R, rng)
        return None if np.unique(d.points).size < self.k else best_intervals(d, self.k).labels

    def search(self, R: FloatArray, rng: np.random.Generator) -> IntArray:
        """Search for the partition into k clusters with the smallest W; return the best found; rho (n, n) -> (n,)."""
        scale = float(np.abs(R).sum()) / (2 * len(R))
        problem = Problem(R, np.ones(len(R)), self.k, MOVE_TOLERANCE * scale)
        if self.thorough:
            return search_problem(problem, STARTS, STARTS * tries_for(len(R)), rng)[0]
        return search_problem(problem, FEW_STARTS, 0, rng)[0]

    def share(self, d: Dissimilarity, rng: np.random.Generator) -> float:
        if has_exact(d):
            found = best_intervals(d, self.k)
            return found.between / found.total
        R = d.matrix
        if self.visits_all(d):
            every = all_partitions(d.n, self.k)
            # [G 4] W = sum of w_j/(2 n_j) of every partition, of which S/T wants the best
            within = sum(((Z @ R) * Z).sum(axis=1) / (2 * Z.sum(axis=1)) for Z in every)
            return explained_share(R, np.argmax(every[:, int(np.argmin(within))], axis=0))
        return explained_share(R, self.search(R, rng))

    def visits_all(self, d: Dissimilarity) -> bool:
        """Return whether the search surely finds the best partition whatever the seed: of one column or few points."""
        return has_exact(d) or d.n <= VISITED_UP_TO

    def describe(self, d: Dissimilarity) -> str:
        if has_exact(d):
            return f"the exact method for one column into {self.k}"
        if self.visits_all(d):
            return f"the best of all partitions into {self.k}"
        return f"Hartigan's method into {self.k} (best of {STARTS} starts, perturbed)"

    def notes(self, own: int, counts_as: str) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class UserClusterer:
    """Find clusters by a clusterer of the user: an object with `fit_predict`, or a function from points to labels."""

    clusterer: Any  # what the user gave; copied before every use
    counts: list[int] = field(default_factory=list)  # how many clusters it found, call by call

    @cached_property
    def unseeded(self) -> tuple[str, ...]:
        """List the `random_state` parameters of a clusterer that are None, those of pipeline steps included."""
        if not hasattr(self.clusterer, "get_params"):
            return ()
        given = self.clusterer.get_params(deep=True)
        return tuple(
            name
            for name in sorted(given)
            if (name == "random_state" or name.endswith("__random_state")) and given[name] is None
        )

    @property
    def takes_matrices(self) -> bool:
        """Return whether a clusterer takes a dissimilarity matrix, judged by its parameters.

        One without `get_params`, such as a function, counts as one that does.
        """
        if not hasattr(self.clusterer, "get_params"):
            return True
        given = self.clusterer.get_params(deep=True).values()
        return any(isinstance(value, str) and value == "precomputed" for value in given)

    def seeded(self, rng: np.random.Generator) -> Callable[[FloatArray], Any]:
        """Return the `fit_predict` of a fresh copy of a clusterer, seeded by `rng`; return a function unchanged."""
        if not hasattr(self.clusterer, "fit_predict"):
            return self.clusterer  # type: ignore[no-any-return]
        if hasattr(self.clusterer, "get_params"):
            with loading():
                from sklearn.base import clone

            # a fresh clone for every part: a fitted clusterer may remember the part before
            fresh = clone(self.clusterer, safe=False)
            if self.unseeded:
                fresh.set_params(**{name: int(rng.integers(2**31)) for name in self.unseeded})
        else:
            fresh = copy.deepcopy(self.clusterer)
        return fresh.fit_predict  # type: ignore[no-any-return]

    def all_labels(self, d: Dissimilarity, rng: np.random.Generator) -> IntArray:
        """Label all points by a user's clusterer as 0, 1, ..., -1 for none, and record the number of clusters."""
        given = d.matrix if d.coordinates is None else d.coordinates.copy()
        if not self.counts and d.coordinates is None and not self.takes_matrices:
            warn(
                f"`clusterer` {self.name} was given the matrix of rho, and nothing says that it takes one: it then "
                'clusters the rows of the matrix as points. Set its `metric="precomputed"`, if it has that, or give '
                "a function from the matrix to labels.",
                EnergyStatsWarning,
            )
        try:
            # what it warns of is said once
            with one_openmp_thread_up_to(d.n), collected() if self.counts else nullcontext():
                labels = self.seeded(rng)(given)
        except Exception as error:
            error.add_note(
                f"`clusterer` failed on {d.n} points that it was given to cluster, as an array without names of "
                "columns: a step that chooses columns has to name them by position."
            )
            raise
        codes = _clean_labels(labels, d.n)
        self.counts.append(int(codes.max()) + 1)
        return codes

    def labels(self, d: Dissimilarity, rng: np.random.Generator) -> IntArray | None:
        codes = self.all_labels(d, rng)
        return None if codes.max() < 1 else codes

    def share(self, d: Dissimilarity, rng: np.random.Generator) -> float:
        found = self.labels(d, rng)
        if found is None:
            return 0.0
        kept = found != NOISE
        return explained_share(d.matrix[np.ix_(kept, kept)], found[kept])

    def notes(self, own: int, counts_as: str) -> tuple[str, ...]:
        where = "the data" if own == 1 else "each part of the data"
        found = f"Clusters found by {self.name}: {_span(self.counts[:own])} in {where}"
        if self.counts[own:]:
            found += f", {_span(self.counts[own:])} in the reference samples"
        if min(self.counts) > 1:
            return (f"{found}.",)
        lost = sum(count < 2 for count in self.counts)
        return (
            Caution(
                f"{lost} of {len(self.counts)} parts had fewer than two clusters: these count as {counts_as}.",
                f"{found}.",
            ),
        )

    def note_on_resamples(self) -> str:
        """Return a note on how many clusters a user's clusterer found in the data and in resamples."""
        return (
            f"Clusters found by {self.name}: {self.counts[0]} in the data, {_span(self.counts[1:])} in the resamples."
        )

    def describe(self, d: Dissimilarity) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Return the class name of the user's clusterer, or the name of the user's function."""
        made = type(self.clusterer).__name__
        return made if hasattr(self.clusterer, "fit_predict") else getattr(self.clusterer, "__name__", made)


def _span(counts: Sequence[int]) -> str:
    """Format the range of several counts as text, such as '2 to 5'."""
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


@cache
def all_partitions(n: int, k: int) -> FloatArray:
    """Return 0/1 indicators of all partitions of n points into k non-empty clusters; (k, count, n)."""
    # every point joins a cluster that there is, or opens the next one
    found = np.zeros((1, 1), dtype=np.intp)
    for _ in range(1, n):
        opened = found.max(axis=1)
        found = np.vstack([np.column_stack((found[opened + 1 >= j], np.full(np.sum(opened + 1 >= j), j)))
                           for j in range(min(k, found.shape[1] + 1))])  # fmt: skip
    found = found[found.max(axis=1) == k - 1]
    return np.array([found == j for j in range(k)], dtype=np.float64)


def as_user_clusterer(clusterer: Any) -> UserClusterer:
    """Wrap a user's clusterer as a `UserClusterer`; raise TypeError unless it has `fit_predict` or is a function."""
    if isinstance(clusterer, type):
        raise TypeError(f"`clusterer` must be an object, got the class; write `{clusterer.__name__}(...)`.")
    if not callable(getattr(clusterer, "fit_predict", None)) and not callable(clusterer):
        raise TypeError(
            "`clusterer` must have a method `fit_predict`, as scikit-learn's clusterers do, or be a function from "
            f"points to labels; got {clusterer!r:.60} of type {type(clusterer).__name__}."
        )
    return UserClusterer(clusterer)


def user_partition(d: Dissimilarity, clusterer: UserClusterer, rng: np.random.Generator) -> Partition:
    """Cluster all points by a user's clusterer, and return the partition; points in no cluster have the label -1."""
    labels = clusterer.all_labels(d, rng)
    if labels.max() < 0:
        raise ValueError(
            f"`clusterer` must find at least one cluster, but put all {d.n} points in none (label -1). "
            "Let it take more points into clusters, as by a smaller `min_samples` or a larger `eps`."
        )
    return label_partition(d, labels, clusterer.name)


def label_partition(d: Dissimilarity, labels: IntArray, found_by: str) -> Partition:
    """Build a partition from given labels 0, 1, ..., -1 for points in no cluster, without searching a better one."""
    return make_partition(d, labels, int(labels.max()) + 1, algorithm=found_by, n_init=0, n_iter=0, converged=True)


def _clean_labels(labels: Any, n: int) -> IntArray:
    """Check and renumber a clusterer's labels as 0, 1, ..., leaving -1 for no cluster; (n,) -> (n,)."""
    import pandas as pd

    if hasattr(labels, "iloc") and not np.array_equal(np.asarray(labels.index), np.arange(len(labels))):
        raise ValueError(
            "`clusterer` must return labels in the order of the points that it is given, an array without names of "
            "rows; got a Series whose index is not 0, 1, ...: bring it into their order, `.sort_index()`, or return "
            "`.to_numpy()`."
        )
    array = as_array(labels, "clusterer")
    if array.ndim != 1 or array.size != n:
        raise ValueError(
            f"`clusterer` must return one label for each of the {n} points that it is given, got "
            + (f"{array.size} labels." if array.ndim == 1 else f"an array of shape {array.shape}.")
        )
    if missing := int(np.sum(np.asarray(pd.isna(array)) | masked_in(array))):
        raise ValueError(f"`clusterer` must label every point, got {missing} missing labels.")
    array = np.asarray(array)
    noise = array == NOISE if array.dtype.kind in "ifO" else np.zeros(n, dtype=bool)
    codes = np.full(n, NOISE, dtype=np.intp)
    if not noise.all():
        codes[~noise] = as_labels(array[~noise], int((~noise).sum()), "clusterer")[0]
    return codes


def explained_share(R: FloatArray, labels: IntArray) -> float:
    """Compute S/T, the between share of dispersion, of non-empty clusters 0, 1, ... from a matrix of rho [G 3-5]."""
    Z = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    # [G 4] W = sum of w_j/(2 n_j), w_j being the sum of rho inside C_j
    within = np.sum(((R @ Z) * Z).sum(axis=0) / (2 * Z.sum(axis=0)))
    total = float(R.sum()) / (2 * len(R))
    if not total > 0:
        raise ValueError(
            f"`metric` must have a positive total dispersion T, of which S is a share, in the data and in every "
            f'reference sample; got T = {total:.3g}. It is negative somewhere: use another one, or method="split".'
        )
    return 1.0 - float(within) / total
