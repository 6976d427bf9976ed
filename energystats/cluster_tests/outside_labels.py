"""Answers of a validation about labels from elsewhere, whether the clusters agree with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from energystats._core.pvalues import count_extreme, upper_pvalue
from energystats._core.rand_index import adjusted_rand_index
from energystats._typing import IntArray
from energystats.cluster_tests.validation_result import EXACT, ONE_TEST, Answer
from energystats.display.sentences import Caution
from energystats.display.tables import shorten_name
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.found_groups import note_columns_of_groups, note_local_optimum
from energystats.distribution_tests.multiplicity import adjust
from energystats.inputs.labels import as_labels

__all__ = ["answer_outside", "notes_on_outside", "read_outside"]


INDEPENDENT_LABELS = "these labels and the clusters are independent"


def read_outside(labels: Any, name: str, n: int) -> IntArray:
    """Code labels from elsewhere as 0, 1, ...; raise ValueError if all are equal or all are different; (n,)."""
    codes, names = as_labels(labels, n, "outside")
    if not 1 < len(names) < n:
        got = "one label for all" if len(names) == 1 else "another label for each of the"
        raise ValueError(
            f"`outside` must name groups of points, with which clusters can agree; {name}: {got} {n} points."
        )
    return codes


def answer_outside(
    labels: IntArray, outside: dict[str, IntArray], n_resamples: int, rng: np.random.Generator
) -> list[Answer]:
    """Compare clusters with labels from elsewhere by the adjusted Rand index and permutation tests; return rows.

    Points in no cluster have nothing to agree with.
    """
    inside = labels >= 0
    found = [
        (name, *agreement_of(labels[inside], codes[inside], n_resamples, child))
        for (name, codes), child in zip(outside.items(), rng.spawn(len(outside)), strict=True)
    ]
    adjusted = adjust([p for *_, p in found], "holm").tolist()
    return [
        Answer(
            question="outside labels",
            what=name,
            statistic_name="adjusted Rand",
            statistic=statistic,
            pvalue=pvalue,
            pvalue_adjusted=q,
            null_hypothesis=INDEPENDENT_LABELS,
            family=f"{len(found)} sets of labels, Holm" if len(found) > 1 else ONE_TEST,
            level=EXACT,
        )
        for (name, statistic, pvalue), q in zip(found, adjusted, strict=True)
    ]


def agreement_of(labels: IntArray, codes: IntArray, n_resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Compute the adjusted Rand index of clusters and labels, and its permutation p-value.

    Under permutations the sizes stay, so that the index rises with the sum of squared counts, a whole number.
    """
    n_codes = int(codes.max()) + 1
    cells = labels * n_codes

    def squares(codes: IntArray) -> int:
        return int((np.bincount(cells + codes) ** 2).sum())

    null = np.array([squares(rng.permutation(codes)) for _ in range(n_resamples)], dtype=np.float64)
    extreme = count_extreme(float(squares(codes)), null, 0.5)
    return float(adjusted_rand_index(codes, labels)), upper_pvalue(extreme, n_resamples)


def notes_on_outside(d: Dissimilarity, labels: IntArray, outside: dict[str, IntArray]) -> Iterator[str]:
    """Yield notes on labels from elsewhere that look like clusters found from these points.

    It takes sums over all pairs.
    """
    if outside and (labels < 0).any():
        yield "Outside labels are compared at the points that are in a cluster."
    for name, codes in outside.items():
        groups = Groups(codes, tuple(range(int(codes.max()) + 1)))
        many = f" {shorten_name(name)!r}" if len(outside) > 1 else ""
        which = f"the outside labels{many}"
        yield from note_columns_of_groups(d, codes, f"every group of {which}")
        for note in note_local_optimum(d, groups, *d.group_sums(groups), result="their p"):
            yield Caution(f"If a clustering of these points found {which}, their p means nothing.", note)
