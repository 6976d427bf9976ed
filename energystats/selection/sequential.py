"""Splitting clusters in two for as long as a test of unimodality rejects [theory 5]."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from energystats._core.partitions import renumber
from energystats._typing import FloatArray, IntArray
from energystats.clustering.search import plain_search
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import EnergyStatsWarning, warn
from energystats.significance.cluster_test import unlabelled_test

__all__ = ["SMALLEST_NODE", "SplitTree", "split_while_significant"]

SMALLEST_NODE = 20  # points: smaller clusters are not tested, and not split


@dataclass(frozen=True, slots=True, eq=False)
class SplitTree:
    """Leaves of the tree of significant splits.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Leaf of each point, numbered by first rows.
    pvalues : ndarray of shape (k_max,)
        Smallest p-value of the leaves when there were k, which decided on another split; NaN beyond the last k.
    remarks : tuple of str
        What a test warned of.
    """

    labels: IntArray
    pvalues: FloatArray
    remarks: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Leaf:
    """Rows, p-value of a split (1 if there are too few rows to test), and the seed of its own work."""

    rows: IntArray
    pvalue: float
    rng: np.random.Generator


def split_while_significant(
    d: Dissimilarity,
    k_max: int,
    *,
    level: float,
    conservative: bool,
    n_resamples: int,
    n_init: int,
    rng: np.random.Generator,
) -> SplitTree:
    """Split the leaf with the smallest p-value while that is at most `level` and there are fewer than k_max leaves."""

    def leaf(rows: IntArray, child: np.random.Generator) -> Leaf:
        p = 1.0
        part = d.subset(rows)
        if rows.size >= SMALLEST_NODE and not part.all_coincide:
            result = unlabelled_test(part, 2, n_resamples=n_resamples, conservative=conservative, rng=child)
            p = result.pvalue
        return Leaf(rows, p, child)

    pvalues = np.full(k_max, np.nan)
    with warned_once() as remarks:
        leaves = [leaf(np.arange(d.n), rng)]
        while True:
            best = min(range(len(leaves)), key=lambda j: leaves[j].pvalue)
            pvalues[len(leaves) - 1] = leaves[best].pvalue
            if leaves[best].pvalue > level or len(leaves) == k_max:
                break
            parent = leaves.pop(best)
            halves = halved(d.subset(parent.rows), n_init, parent.rng)
            children = parent.rng.spawn(2)
            leaves += [leaf(parent.rows[halves == j], children[j]) for j in range(2)]
    labels = np.empty(d.n, dtype=np.intp)
    for j, found in enumerate(leaves):
        labels[found.rows] = j
    return SplitTree(renumber(labels), pvalues, tuple(remarks))


def halved(d: Dissimilarity, n_init: int, rng: np.random.Generator) -> IntArray:
    """Labels of two clusters."""
    return plain_search(d, 2, n_init, rng)[0]


@contextmanager
def warned_once() -> Iterator[list[str]]:
    """Of the package's warnings inside the block, the first of each kind, afterwards; their texts are yielded."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
        seen: dict[type[Warning], warnings.WarningMessage] = {}
        for entry in caught:
            seen.setdefault(entry.category, entry)
        texts.extend(str(entry.message) for entry in seen.values())
    for entry in seen.values():
        if issubclass(entry.category, EnergyStatsWarning):
            warn(str(entry.message), entry.category)
        else:
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
