"""The specification of a search for clusters, and the base of the algorithms of `energy_cluster`: estimate, and fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from energystats._runtime import Work
from energystats._typing import ArrayLike, FloatArray, IntArray
from energystats.clustering.partition import Partition
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.labels import NOISE, as_labels, read_labels
from energystats.inputs.options import check_count, check_option, note_unused

__all__ = ["MOVE_TOLERANCE", "STARTS", "Algorithm", "Search", "check_distinct", "check_unwatched", "read_start"]


STARTS = 10  # of every search in which nothing else is asked for
MOVE_TOLERANCE = 1e-13  # of T: a move must lower W by more, so that rounding is not chased


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """Hold the options of a search for clusters; the defaults are those of `energy_cluster`."""

    k: int  # number of clusters
    # (n,) "k-means++", "random" or "spectral", or labels, then there is one start; after `on` codes 0..k-1
    init: str | ArrayLike = "k-means++"
    n_init: int = STARTS  # starts; 1 after `on` where labels were given
    max_iter: int = 300  # passes over the data from one start
    weights: FloatArray | None = None  # (n,) positive weights of the points
    log_moves: bool = False  # whether the moves of the best start are kept
    # called with the number of the start, the passes made and W
    callback: Callable[[int, int, float], object] | None = None
    progress: bool = False  # whether there is a bar

    def __post_init__(self) -> None:
        for name in ("n_init", "max_iter"):
            object.__setattr__(self, name, check_count(getattr(self, name), name, low=1))
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"`callback` must be callable, got {type(self.callback).__name__}.")

    def on(self, d: Dissimilarity, weights: FloatArray | None = None) -> Search:
        """Check clustering options against the points, and code given starting labels as 0..k-1."""
        k = check_count(self.k, "k", low=1, high=d.n, why=", the number of points")
        given = read_start(self.init, ("k-means++", "random", "spectral"), d.n, k)
        if given is None:
            return replace(self, k=k, weights=weights)
        return replace(self, k=k, init=given, n_init=1, weights=weights)

    def note_unused(self, where: str) -> tuple[str, ...]:
        """Return a note that names options of starts that the user set in vain, for a search without starts."""
        if self.by_labels:
            return note_unused(where, init=("labels", "k-means++"))
        each = ("init", "n_init", "max_iter")
        return note_unused(where, **{name: (getattr(self, name), getattr(DEFAULT_SEARCH, name)) for name in each})

    @property
    def by_labels(self) -> bool:
        """Return whether the search starts from labels that the user gave."""
        return not isinstance(self.init, str)


DEFAULT_SEARCH = Search(k=1)


class Algorithm(ABC):
    """Define what every clustering algorithm has: a name, options, an estimate of its work, and a fit."""

    __slots__ = ()
    name: ClassVar[str]  # the word for it in `algorithm=`, which means the object with its defaults
    reads_blocks: ClassVar[bool] = False  # whether tables may be read in blocks of rows

    def chosen(self, d: Dissimilarity, search: Search) -> tuple[Algorithm, Dissimilarity]:
        """Choose the algorithm to run for given points and options, and the form in which it needs the points."""
        return self, d

    @abstractmethod
    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        """Estimate the time and memory of a search, and return them as `Work` objects."""

    @abstractmethod
    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, Any]:
        """Find the partition of points; return it, and the rule for new points, None for the nearest cluster mean.

        Data that the algorithm cannot cluster, and what it cannot report, are refused first.
        """


def read_start(init: str | ArrayLike, names: Sequence[str], n: int, k: int) -> IntArray | None:
    """Return given starting labels coded as 0..k-1; None if `init` is the name of a starting method."""
    if isinstance(init, str):
        check_option(init, "init", names)
        return None
    if init is None:
        words = ", ".join(f'"{name}"' for name in names)
        raise TypeError(f"`init` must be {words} or labels, got None.")
    labels = read_labels(init, "init")
    codes, found = as_labels(labels, n, "init")
    if labels.found and NOISE in found:
        raise ValueError(
            "`init` is a clustering with points in no cluster (label -1), where every point has to start in one; give "
            "the labels as an array, in which -1 is a label like any other."
        )
    if len(found) != k:
        raise ValueError(f"`init` must have {k} clusters, as many as `k`, got {len(found)}.")
    return codes


def check_unwatched(search: Search, algorithm: str) -> None:
    """Raise ValueError if `callback` or `log_moves` is set for an algorithm that makes no single moves."""
    for name, given in (("log_moves", search.log_moves), ("callback", search.callback is not None)):
        if given:
            raise ValueError(
                f'`{name}` has no use in algorithm="{algorithm}", which moves no single points; use "hartigan".'
            )


def check_distinct(distinct: int, k: int) -> None:
    """Raise ValueError if there are fewer distinct points than k clusters."""
    if distinct < k:
        raise ValueError(f"`k` must be at most the number of distinct points, {distinct}, got {k}.")
