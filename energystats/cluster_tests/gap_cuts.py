"""Cuts in a gap: two clusters of smallest W, parted again where their border leaves points on the wrong side of a gap.

W is smallest where a large cluster is halved, if a third one lies in a row with it, or others lie around it, or the
other one is small. Of many points the few that such a border leaves on the wrong side are a mode of their own.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from energystats._core.gaps import crowding_of, find_gap, find_nearest_gap, list_gaps
from energystats._typing import IntArray
from energystats.cluster_tests.clusterers import EnergyClusters
from energystats.cluster_tests.merges import Merge, fisher_line
from energystats.cluster_tests.scores import Scorer, make_scorer
from energystats.cluster_tests.spaces import GIVEN, Kind, Space
from energystats.cluster_tests.split import CLUSTERED_AT_MOST
from energystats.display.sentences import Caution, write_counts
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Dissimilarity

__all__ = ["cut_in_gap", "note_border", "note_borders_of_merges", "with_gap_of_test", "with_gaps"]


ROUNDS = 10  # the line changes with the clusters, and the gap with the line
CROWDED = 0.2  # share of the crowds beside it that a border has, from which on other lines are looked along
SHARE_LEFT = 0.5  # of that crowding, which a border along another line has at most
SETTLED_AT_MOST = 10  # such borders
CLUSTERS = 8  # between which other lines are drawn,
SMALLEST_CLUSTER = 10  # points of each on average, at least
FEWEST_MOVED = 5  # points: fewer are no mode where they are left
NAMED = 3
NAMED_FROM = 0.03  # share of points between a border and a gap
SMALLEST_PAIR = 20  # points of two clusters, of which fewer have no crowd
WHY = (
    "A small p says that there are two modes along the line between these clusters, not that they are parted between "
    "the modes. W is smallest where a large cluster is halved, if a third one lies in a row with it, or others lie "
    "around it, or the other one is small."
)


def cut_in_gap(
    original: Dissimilarity, labels: IntArray, found_in: Kind, power: float, rng: np.random.Generator
) -> tuple[IntArray, Kind]:
    """Move a dense border of two clusters into a sparse gap; return labels, (n,), and the space of the gap.

    The line lies in the space in which the clusters were found, or among the points as given if no line there has a
    gap. The same labels are returned where the border lies in a gap, or there is no gap, or it would move few points.
    """
    d, everything, kind = original.near_one(), np.arange(original.n), found_in
    tie_rng, *line_rngs = rng.spawn(3)
    given = Space(d, make_scorer(d, power, tie_rng))
    space = given.seen_by(everything, kind)
    moved, crowding = _part_in_gap(space, everything, labels, line_rngs[0], FEWEST_MOVED)
    if crowding >= CROWDED and kind != GIVEN:
        elsewhere = _part_along_other_lines(given, everything, crowding, line_rngs[1])
        if elsewhere is not None:
            moved, kind = _numbered_as(elsewhere, labels), GIVEN
    return (moved, kind) if np.count_nonzero(moved != labels) >= FEWEST_MOVED else (labels, found_in)


def note_border(of_test: IntArray, in_gap: IntArray) -> tuple[str, ...]:
    """Return a caution if a gap puts many points on another side than a test's clusters; else (); labels (n,), (n,)."""
    moved = np.count_nonzero(of_test != in_gap)
    if moved < NAMED_FROM * of_test.size:
        return ()
    sizes = write_counts(sorted(np.bincount(in_gap).tolist(), reverse=True))
    short = f"A gap parts the points otherwise than the clusters shown, into {sizes}: {moved} lie on another side."
    return (Caution(short, f"{WHY} `cluster_tree(X)` cuts in the gap."),)


def with_gaps(space: Space, labels: IntArray, merges: Sequence[Merge], rng: np.random.Generator) -> list[Merge]:
    """Return merges of clusters; with those of small p the gap that divides two of their clusters most differently."""
    found = []
    for merge in merges:
        worst = merge
        # whole clusters can lie between the border of a merge and a gap: so clusters are taken two at a time
        for a, b in itertools.product(merge.left, merge.right) if merge.pvalue_adjusted <= LEVEL else ():
            rows = np.flatnonzero((labels == a) | (labels == b))
            if rows.size < SMALLEST_PAIR:
                continue
            sides = (labels[rows] == b).astype(np.intp)
            parted, _ = _part_in_gap(space, rows, sides, copy.deepcopy(rng), FEWEST_MOVED)
            moved = np.count_nonzero(parted != sides) / rows.size
            if moved > worst.moved:
                gap = tuple(np.bincount(parted, minlength=2).tolist())
                worst = replace(merge, parted=(a, b), gap=gap, moved=moved)
        found.append(worst)
    return found


def with_gap_of_test(
    merge: Merge, d: Dissimilarity, labels: IntArray, kind: Kind, power: float, rng: np.random.Generator
) -> Merge:
    """Return the only merge of two clusters with the gap beside which `cluster_test` sees the same two clusters."""
    parted, _ = cut_in_gap(d, labels, kind, power, rng)
    moved = np.count_nonzero(parted != labels) / labels.size
    gap = tuple(np.bincount(parted, minlength=2).tolist())
    return replace(merge, parted=(0, 1), gap=gap, moved=moved) if moved else replace(merge, parted=(), gap=(), moved=0)


def note_borders_of_merges(merges: Sequence[Merge]) -> tuple[str, ...]:
    """Return a caution that names pairs of clusters whose points a gap divides otherwise than the labels do; or ()."""
    others = [m for m in merges if m.moved >= NAMED_FROM and m.pvalue_adjusted <= LEVEL]
    if not others:
        return ()
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    which = "; ".join(f"{m.parted[0]} and {m.parted[1]} ({write_counts(m.gap)})" for m in others[:NAMED])
    return (Caution(f"A gap parts the points of two clusters otherwise than their border: {which}{more}.", WHY),)


def _part_in_gap(
    space: Space, rows: IntArray, labels: IntArray, rng: np.random.Generator, slack: int = 0
) -> tuple[IntArray, float]:
    """Move a dense border of two clusters of some rows into a sparse gap, and return new labels; (m,) -> (m,).

    Also returned is how densely points lie at the border. A border that lies in a gap, less than `slack` points from
    its emptiest place, is not moved into an emptier gap elsewhere.
    """
    scorer = space.scorer
    crowding = _crowding_of_border(scorer, rows, labels)
    moved = _settle(scorer, rows, labels, slack)
    if (now := _crowding_of_border(scorer, rows, moved)) < crowding:
        return moved, now
    if crowding < CROWDED:
        return labels, crowding
    # a cluster in the middle of others can be halved, and hide the gaps along this line
    elsewhere = _part_along_other_lines(space, rows, crowding, rng)
    if elsewhere is None:
        return labels, crowding
    return _numbered_as(elsewhere, labels), _crowding_of_border(scorer, rows, elsewhere)


def _numbered_as(labels: IntArray, others: IntArray) -> IntArray:
    """Swap labels 0 and 1 if they then agree with other labels of the same points more often; (m,), (m,) -> (m,)."""
    return 1 - labels if 2 * np.count_nonzero(labels != others) > labels.size else labels


def _crowding_of_border(scorer: Scorer, rows: IntArray, labels: IntArray) -> float:
    """Compute the density of points at the border of two clusters, relative to both its sides.

    It is the smaller of that along the line through the means and that along Fisher's discriminant.
    """
    own = crowding_of(scorer.along(rows[labels == 1], rows[labels == 0])[rows], labels)
    t = fisher_line(scorer, rows, labels)
    return own if t is None else min(own, crowding_of(t[rows], labels))


def _settle(scorer: Scorer, rows: IntArray, labels: IntArray, slack: int = 0) -> IntArray:
    """Move the border of two clusters into a sparse gap along the line through their means, then rotate it; (m,)."""
    return _sharpen(scorer, rows, _move_along(scorer, rows, labels, slack), slack)


def _move_along(scorer: Scorer, rows: IntArray, labels: IntArray, slack: int) -> IntArray:
    """Move the border of two clusters along the line through their means until it lies in a gap."""
    for _ in range(ROUNDS):
        t = scorer.along(rows[labels == 1], rows[labels == 0])[rows]
        if (place := find_gap(t, labels, slack)) is None:
            break
        moved = (t > place).astype(np.intp)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def _sharpen(scorer: Scorer, rows: IntArray, labels: IntArray, slack: int) -> IntArray:
    """Rotate the border of two clusters in a gap by Fisher's discriminant, while the gap gets sparser.

    The line through the means is askew where a side holds several clusters, and leaves points of one on the other side.
    """
    crowding = _crowding_of_border(scorer, rows, labels)
    for _ in range(ROUNDS):
        line = fisher_line(scorer, rows, labels)
        if line is None or (place := find_nearest_gap(t := line[rows], labels, slack)) is None:
            break
        turned = (t > place).astype(np.intp)
        if not (now := crowding_of(t, turned)) < crowding:
            break
        labels, crowding = turned, now
    return labels


def _part_along_other_lines(space: Space, rows: IntArray, crowding: float, rng: np.random.Generator) -> IntArray | None:
    """Divide rows at a gap with a large between dispersion, along lines between several clusters; None without a gap.

    That gap has to be at most half as crowded as the border; gaps are tried from the largest S down.
    """
    drawn = rows if rows.size <= CLUSTERED_AT_MOST else np.sort(rng.choice(rows, CLUSTERED_AT_MOST, replace=False))
    k = min(CLUSTERS, drawn.size // SMALLEST_CLUSTER)
    found = EnergyClusters(k, thorough=False).labels(space.d.subset(drawn), rng) if k > 2 else None
    if found is None:
        return None
    candidates: list[tuple[float, IntArray]] = []
    pairs = [(0, 1)] if space.d.n_columns == 1 else itertools.combinations(range(k), 2)  # one column is one line
    for a, b in pairs:
        line = space.scorer.along(drawn[found == a], drawn[found == b])
        length = line[drawn[found == a]].mean() - line[drawn[found == b]].mean()  # squared, in the unit of the line
        t = line[rows]
        for place in list_gaps(t, crowding) if length > 0 else ():
            above = t > place
            share = np.count_nonzero(above) / above.size
            S = share * (1 - share) * (t[above].mean() - t[~above].mean()) ** 2 / length
            candidates.append((float(S), above.astype(np.intp)))
    candidates.sort(key=lambda one: -one[0])
    for _, labels in candidates[:SETTLED_AT_MOST]:
        parted = _settle(space.scorer, rows, labels)
        if _crowding_of_border(space.scorer, rows, parted) <= SHARE_LEFT * crowding:
            return parted
    return None
