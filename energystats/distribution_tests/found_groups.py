"""Groups that a clustering found, among tests that take groups as known beforehand.

A clustering separates the data by construction, so that permuting its labels rejects every null hypothesis. Labels
that this package made are recognised. Of others it can be seen whether they are a local optimum, of W or of k-means,
as clusters are and groups known beforehand are only where they lie apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from energystats._core.pvalues import tie_tolerance
from energystats._core.statistics import best_gains, between, total
from energystats._typing import FloatArray, IntArray
from energystats.display.tables import shorten_name
from energystats.dissimilarity import Blocks, Dissimilarity, Groups, Points, note_one_rho
from energystats.exceptions import DoubleDippingWarning, warn
from energystats.inputs.labels import notes_on_names
from energystats.pairs.line import Line

__all__ = [
    "FOUND_GROUPS",
    "LOCAL_OPTIMUM",
    "is_local_optimum",
    "note_columns_of_groups",
    "note_local_optimum",
    "notes_on_groups",
    "notes_on_variable",
    "warn_if_found",
]


FOUND_GROUPS = (
    "The groups were found from data: if from these, they separate them by construction and the p-value means nothing; "
    "call cluster_test(X, k), or cluster_test(X, clusterer=...) for another clusterer, or segment_test(X) if they are "
    "segments of ordered rows."
)
SINGLE_ROWS = (
    "Every row is a group of its own: all labelings are alike, S/T and p are 1 whatever the data, and nothing was "
    "tested."
)
LOCAL_OPTIMUM = (
    "{which} are a local optimum of {what}. So are clusters that were found from these data, groups known "
    "beforehand that lie well apart, and often any groups of few rows in many columns, as a row is near a mean that it "
    "is part of; if they were found, {result} means nothing: call cluster_test(X, k)."
)
OF_W = "W: no single point can change its group without raising it"
MANY_GROUPS = 20
FEW_ROWS = 2
OF_K_MEANS = "k-means: every point lies nearest to the mean of its own group"
COLUMNS_OF_GROUPS = (
    "{which} one value within {each} and not the same in all of them: {says} the groups. If that is how the rows were "
    "grouped, and not what was measured, leave {it} out of the data."
)
ROWS_OF_GROUP = 3  # on average, from which a column of one value in every group is no chance
ROWS_FIRST = 256  # rows spread over the table, which mostly decide the matter
ROUNDING = 1e-12  # of the largest squared distance from the centre
BLOCK_ENTRIES = 2**21  # of rho at a time


def warn_if_found(groups: Groups) -> None:
    """Warn with DoubleDippingWarning if a clustering of this package produced the groups."""
    if groups.found:
        warn(FOUND_GROUPS, DoubleDippingWarning)


def notes_on_groups(
    d: Dissimilarity, groups: Groups, M: FloatArray, s: FloatArray, weights: FloatArray | None = None
) -> tuple[str, ...]:
    """Return notes on groups that may come from clustering, have one row, or have confusable names."""
    notes: tuple[str, ...] = (SINGLE_ROWS,)
    if not groups.k == d.n > 2:
        found = (FOUND_GROUPS,) if groups.found else note_local_optimum(d, groups, M, s, weights, result="p")
        one = note_one_rho(d, float(between(M, s)), float(total(M, s)), groups.k, weighted=weights is not None)
        notes = (*_note_many_groups(groups), *one, *found)
    return (*notes, *note_columns_of_groups(d, groups.codes), *notes_on_names(groups.names))


def _note_many_groups(groups: Groups) -> tuple[str, ...]:
    """Return a note on many groups of one or two rows, as from a measurement used as labels."""
    few = int(np.count_nonzero(groups.sizes <= FEW_ROWS))
    if groups.k < MANY_GROUPS or 2 * few < groups.k:
        return ()
    return (
        f"{few} of {groups.k} groups have one row or two; if their labels are measurements, they are no groups: "
        "`disco` takes them as a covariate.",
    )


def note_columns_of_groups(d: Dissimilarity, codes: IntArray, each: str = "every group") -> tuple[str, ...]:
    """Return a note on data columns that are constant within groups but differ between them; O(nd)."""
    if not isinstance(d, Points):
        return ()
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    if not 1 < first.size <= d.n / ROWS_OF_GROUP:
        return ()
    here = d.points[first]
    same = np.flatnonzero((here != here[0]).any(axis=0) & (d.points == here[codes]).all(axis=0))
    if not same.size:
        return ()
    names = [repr(shorten_name(d.columns[j])) if d.columns else str(j) for j in same]
    which, says, it = ("Column {} has", "it says", "it") if same.size == 1 else ("Columns {} have", "they say", "them")
    return (COLUMNS_OF_GROUPS.format(which=which.format(", ".join(names)), each=each, says=says, it=it),)


def note_local_optimum(
    d: Dissimilarity,
    groups: Groups,
    M: FloatArray,
    s: FloatArray,
    weights: FloatArray | None = None,
    *,
    result: str,
    which: str = "The groups",
) -> tuple[str, ...]:
    """Return a note if groups look found by clustering: a local optimum of k-means or of dispersion."""
    if d.n_columns and d.coordinates is not None and _is_k_means(d.coordinates, groups, weights):
        return (LOCAL_OPTIMUM.format(which=which, what=OF_K_MEANS, result=result),)
    if is_local_optimum(d, groups, M, s, weights):
        return (LOCAL_OPTIMUM.format(which=which, what=OF_W, result=result),)
    return ()


def notes_on_variable(d: Dissimilarity, name: str, codes: IntArray) -> tuple[str, ...]:
    """Return notes if the groups of a model variable look found by clustering or repeat a data column."""
    copies = note_columns_of_groups(d, codes, f"every value of {name!r}")
    k = int(codes.max(initial=-1)) + 1
    # of fewer rows a group, what looks found is chance; tables in blocks are not examined
    if isinstance(d, Blocks) or not 1 < k <= d.n / ROWS_OF_GROUP:
        return copies
    groups = Groups(codes, tuple(range(k)))
    found = note_local_optimum(d, groups, *d.group_sums(groups), result="its p", which=f"The groups of {name!r}")
    return (*found, *copies)


def _is_k_means(points: FloatArray, groups: Groups, weights: FloatArray | None) -> bool:
    """Return whether every point lies nearest to the mean of its own group, and the means differ; O(nkd)."""
    Z = groups.indicators(weights)[:, :, 0]
    # around the mean, so that an offset costs no digits of the squares
    centred = points - points.mean(axis=0)
    means = (Z.T @ centred) / Z.sum(axis=0)[:, None]
    sizes = np.square(means).sum(axis=1)
    excess = sizes - 2 * (centred @ means.T)  # squared distances to the means, less that of the point to 0
    tolerance = ROUNDING * float(np.square(centred).sum(axis=1).max())
    own = excess[np.arange(groups.codes.size), groups.codes]
    return bool(sizes.max() > tolerance and (own <= excess.min(axis=1) + tolerance).all())


def is_local_optimum(
    d: Dissimilarity, groups: Groups, M: FloatArray, s: FloatArray, weights: FloatArray | None = None
) -> bool:
    """Return whether no move of a single point to another group lowers the within dispersion [theory 4].

    O(n) distances where a move of one of the first few points lowers W, O(n^2) where none does. False for tables that
    are read in blocks of rows, and for distances along random directions: those are not examined.
    """
    # a fall of W within rounding is none
    tolerance = tie_tolerance(float(abs(total(M, s))), d.n)
    examined = d.directions is None and not isinstance(d, Blocks)
    if not examined or not between(M, s) > tolerance or groups.sizes.max() == 1:
        return False
    w = np.ones(d.n) if weights is None else weights
    Z = groups.indicators(w)[:, :, 0]
    for rows, table in _sums_to_groups(d, Z):
        if (best_gains(table.T, s, np.diagonal(M), groups.sizes, groups.codes[rows], w[rows]) > tolerance).any():
            return False
    return True


def _sums_to_groups(d: Dissimilarity, Z: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield rows and their sums of dissimilarities to each group, a few rows first; (r,), (r, k)."""
    if isinstance(d.pairs, Line):
        yield np.arange(d.n), d.pairs.multiply(Z)
        return
    everything = np.arange(d.n)
    first = np.unique(np.linspace(0, d.n - 1, min(ROWS_FIRST, d.n)).astype(np.intp))
    others = np.delete(everything, first)
    height = max(1, BLOCK_ENTRIES // d.n)
    for rows in (first, *(others[start : start + height] for start in range(0, others.size, height))):
        yield rows, d.rho(rows, everything) @ Z
