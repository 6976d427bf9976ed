"""Cuts in a gap: two clusters of smallest W, parted again where their border goes through a crowd of points.

W is smallest where a large cluster is halved, if a third one lies in a row with it, or the other one is small. Of many
points the few that such a border leaves on the wrong side are a mode of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from energystats._core.gaps import find_gap
from energystats._typing import IntArray
from energystats.cluster_tests.merges import Merge
from energystats.cluster_tests.scores import Scorer, make_scorer
from energystats.cluster_tests.spaces import Kind, Space
from energystats.display.sentences import Caution, write_counts
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity

__all__ = ["cut_in_gap", "note_border", "note_borders_of_merges", "with_gaps"]


ROUNDS = 10  # the line changes with the clusters, and the gap with the line
NAMED = 3
WHY = (
    "A small p says that there are two modes along the line between these clusters, not that they are parted between "
    "the modes. W is smallest where a large cluster is halved, if a third one lies in a row with it, or the other one "
    "is small. `cluster_tree(X)` cuts in the gap."
)


def cut_in_gap(
    original: Dissimilarity, labels: IntArray, kind: Kind, power: float, rng: np.random.Generator
) -> IntArray:
    """Part two clusters again in a gap along the line through their means, if their border goes through a crowd.

    The line lies in the space `kind` in which the clusters were found; labels 0 and 1 (n,) -> (n,). The same labels
    are returned where the border lies in a gap, or there is no gap.
    """
    d, everything = original.near_one(), np.arange(original.n)
    scorer = Space(d, make_scorer(d, power, rng.spawn(1)[0])).seen_by(everything, kind).scorer
    return _part_in_gap(scorer, everything, labels)


def note_border(of_test: IntArray, in_gap: IntArray) -> tuple[str, ...]:
    """Return a caution if the border of the two clusters of a test goes through a crowd; (n,), (n,) labels."""
    if np.array_equal(of_test, in_gap):
        return ()
    sizes = write_counts(sorted(np.bincount(in_gap).tolist(), reverse=True))
    return (Caution(f"The border of the clusters shown goes through a crowd of points: a gap leaves {sizes}.", WHY),)


def with_gaps(scorer: Scorer, labels: IntArray, merges: Sequence[Merge]) -> list[Merge]:
    """Return merges, those with a small p with the gap beside their border if it goes through a crowd; labels (n,)."""
    found = []
    for merge in merges:
        if not merge.pvalue_adjusted <= LEVEL:
            found.append(merge)
            continue
        on_right = np.isin(labels, merge.right)
        rows = np.flatnonzero(np.isin(labels, merge.left) | on_right)
        sides = on_right[rows].astype(np.intp)
        parted = _part_in_gap(scorer, rows, sides)
        moved = np.count_nonzero(parted != sides) / rows.size
        gap = tuple(np.bincount(parted, minlength=2).tolist()) if moved else ()
        found.append(replace(merge, gap=gap, moved=moved))
    return found


def note_borders_of_merges(merges: Sequence[Merge]) -> tuple[str, ...]:
    """Return a caution that names the merges with a small p whose border goes through a crowd; else an empty tuple."""
    crowded = [merge for merge in merges if merge.gap and merge.pvalue_adjusted <= LEVEL]
    if not crowded:
        return ()
    named = ", ".join(f"{merge.name} ({write_counts(merge.gap)})" for merge in crowded[:NAMED])
    more = f" and {len(crowded) - NAMED} more" if len(crowded) > NAMED else ""
    return (Caution(f"Merges whose border goes through a crowd of points, and what a gap leaves: {named}{more}.", WHY),)


def _part_in_gap(scorer: Scorer, rows: IntArray, labels: IntArray) -> IntArray:
    """Move the border of two clusters of some rows into a gap until it lies in one; (m,), (m,) labels -> (m,)."""
    for _ in range(ROUNDS):
        t = scorer.along(rows[labels == 1], rows[labels == 0])[rows]
        if (place := find_gap(t, labels)) is None:
            break
        moved = (t > place).astype(np.intp)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels
