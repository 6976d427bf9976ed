"""Effects of each euclidization on the distances and on the clusters [theory 7; K s.5-8]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from energystats._core.linkage import numbering_by_sums
from energystats._core.rand_index import adjusted_rand_index
from energystats._core.restarts import tries_for
from energystats._runtime import MATRIX, check_work, part_of_a_longer_call
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.local_search import MultiStartSearch, Problem, make_starts
from energystats.clustering.search import MOVE_TOLERANCE, check_distinct
from energystats.clustering.seeding import count_distinct
from energystats.geometry.euclidize import cailliez, clip_spectrum, flip_spectrum, lingoes
from energystats.geometry.negative_type import tolerance_for, unit_of
from energystats.geometry.results import Euclidization, EuclidizationComparison
from energystats.inputs.matrices import as_distances
from energystats.inputs.options import as_generator, check_count
from energystats.pairs.workloads import FEWER_STARTS_OF_MATRIX, Size, search_work, spectrum

__all__ = ["compare_euclidizations"]


REPAIRS = {"lingoes": lingoes, "cailliez": cailliez, "clip": clip_spectrum, "flip": flip_spectrum}
TIE = 1e-10  # of T: partitions whose W differ by less are equally good


def compare_euclidizations(
    d: ArrayLike,
    k: int,
    *,
    n_init: int = 10,
    tol: float | None = None,
    rng: RandomLike = None,
) -> EuclidizationComparison:
    r"""Make dissimilarities Euclidean in four ways, and compare how distances and best partitions change.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, square or condensed; not squared.
    k : int
        Number of clusters, 2 <= k <= number of distinct points.
    n_init : int, default 10
        Starts of the search for the best partition, for each repair.
    tol : float, optional
        Rounding to allow for, as in `negative_type`.
    rng : int, Generator or None, default None
        Seed of the starts.

    Returns
    -------
    EuclidizationComparison
        `.table`, one row for each of "none", "lingoes", "cailliez", "clip", "flip": constant, smallest eigenvalue
        afterwards, how far the distances moved, W and S/T of the best partition of the squared distances, and whether
        the original's best partition is still the best. `.labels`, `.summary()`, `.plot()`.

    Raises
    ------
    ValueError
        If d is not square and symmetric with zero diagonal, a value is negative or not finite, or k exceeds the number
        of distinct points.
    TypeError
        If d does not hold real numbers, or k is not a whole number.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    lingoes, cailliez, clip_spectrum, flip_spectrum : The repairs.
    energy_cluster : The search.

    Notes
    -----
    Partitions are found by Hartigan's method on d squared. The best partition under one repair is also a start for the
    others, until none of them finds a better one, so that a difference is one of the repairs and not of the search.
    Partitions whose W differ by less than 1e-10 T count as equally good; of several that are the best found for the
    distances as given, a repair is compared with the one that loses least. O(n^3) time for the eigenvalues, O(n^2)
    memory for every repair.

    References
    ----------
    Klopotek, Klopotek & Wierzchon, sections 3 and 5-8.

    Examples
    --------
    >>> import energystats as es
    >>> table = es.compare_euclidizations([[0, 1, 5, 5], [1, 0, 1, 5], [5, 1, 0, 1], [5, 5, 1, 0]], 2, rng=0).table
    >>> table.index.tolist()
    ['none', 'lingoes', 'cailliez', 'clip', 'flip']
    >>> bool(table.loc["lingoes", "changed"])
    False
    """
    given = as_distances(d, "d")
    k = check_count(k, "k", low=2, high=len(given), why=", the number of points")
    n_init = check_count(n_init, "n_init", low=1)
    generator = as_generator(rng)
    check_distinct(count_distinct(given, k), k)
    n = len(given)
    searches = search_work(Size(n, stored=True), k, n_init, tries_for(n), FEWER_STARTS_OF_MATRIX).times(
        len(REPAIRS) + 1
    )
    check_work(False, MATRIX, spectrum(n, 60.0, copies=24.0), searches)
    tol = tolerance_for(d, n, tol)  # of the numbers as given, in single precision perhaps
    with part_of_a_longer_call():
        repaired = [repair(given, tol) for repair in REPAIRS.values()]
    distances = [given, *(np.asarray(r.distances) for r in repaired)]
    squares = [(m / unit_of(given)) ** 2 for m in distances]
    labels = _best_partitions(squares, k, n_init, generator)
    return _compare_repairs(squares, labels, k, repaired, unit=unit_of(given) ** 2)


def _best_partitions(squares: list[FloatArray], k: int, n_init: int, rng: np.random.Generator) -> list[IntArray]:
    """Return labels of the best partition found for each matrix of rho, which those of the others do not beat there."""
    problems = [Problem(rho, np.ones(len(rho)), k, MOVE_TOLERANCE * _total_of(rho)) for rho in squares]
    tries = n_init * tries_for(len(squares[0]))

    def search(problem: Problem, starts: Iterable[IntArray], n_starts: int, tries: int) -> tuple[IntArray, float]:
        best = MultiStartSearch(problem, starts, n_starts, tries, rng).lowest()
        return best.labels, best.within

    found = [search(problem, make_starts(problem, "k-means++", n_init, rng), n_init, tries) for problem in problems]
    # what one search finds from the partition of another may be better for a third
    fell = True
    while fell:
        starts = [labels for labels, _ in found]
        again = [
            search(problem, [own, *starts], 1 + len(found), 0) for problem, own in zip(problems, starts, strict=True)
        ]
        fell = any(new < old for (_, new), (_, old) in zip(again, found, strict=True))
        found = again
    return [_renumber_clusters(rho, labels) for rho, (labels, _) in zip(squares, found, strict=True)]


def _renumber_clusters(rho: FloatArray, labels: IntArray) -> IntArray:
    """Renumber clusters as `energy_cluster` does, the largest first; (n, n), (n,) -> (n,)."""
    Z = (labels[:, None] == np.unique(labels)).astype(np.float64)
    return numbering_by_sums(labels, Z.T @ rho @ Z, Z.sum(axis=0))[labels]


def _keep_partitions(
    squares: list[FloatArray], labels: list[IntArray], within: FloatArray, totals: FloatArray
) -> tuple[list[IntArray], FloatArray]:
    """Choose for each repair the best partition of the original that loses least there; return them and the losses.

    A loss is a share of T above the best partition of the repair. Of several best partitions of the original one is
    taken for all repairs where it is no worse than the others.
    """
    good = [own for own in labels if _within_of(squares[0], own) - within[0] <= TIE * totals[0]]
    best = [_renumber_clusters(squares[0], own) for own in good]
    after = np.array([[_within_of(rho, own) for own in best] for rho in squares])
    lost = (after - within[:, None]) / totals[:, None]
    lost[np.abs(lost) <= TIE] = 0.0
    most = int(lost.sum(axis=0).argmin())
    chosen = [most if row[most] == row.min() else int(row.argmin()) for row in lost]
    return [best[j] for j in chosen], lost[np.arange(len(squares)), chosen]


def _compare_repairs(
    squares: list[FloatArray], labels: list[IntArray], k: int, repaired: list[Euclidization], *, unit: float
) -> EuclidizationComparison:
    """Build the comparison of four ways to make distances Euclidean: constants, changes, dispersions, partitions."""
    within = np.array([_within_of(rho, own) for rho, own in zip(squares, labels, strict=True)])
    totals = np.array([_total_of(rho) for rho in squares])
    kept, losses = _keep_partitions(squares, labels, within, totals)
    labels = [old if loss == 0 else own for loss, old, own in zip(losses, kept, labels, strict=True)]
    moved = [np.zeros(1), *(np.abs(r.moved) for r in repaired)]
    constants = [0.0, *(np.nan if r.constant is None else r.constant for r in repaired)]
    return EuclidizationComparison(
        k=k,
        n=len(squares[0]),
        repairs=("none", *REPAIRS),
        constants=np.array(constants),
        min_eigenvalues=np.array([repaired[0].min_eigenvalue, *(r.min_eigenvalue_after for r in repaired)]),
        mean_changes=np.array([m.mean() for m in moved]),
        largest_changes=np.array([m.max() for m in moved]),
        within=within * unit,
        totals=totals * unit,
        losses=losses,
        rand=np.array([adjusted_rand_index(old, own) for old, own in zip(kept, labels, strict=True)]),
        changed=tuple(bool(loss > 0) for loss in losses),
        labels=np.array(labels),
    )


def _within_of(rho: FloatArray, labels: IntArray) -> float:
    """Compute the within dispersion W of a partition from dissimilarities and labels; (n, n), (n,) -> float."""
    Z = (labels[:, None] == np.unique(labels)).astype(np.float64)
    return float((np.einsum("ij,ij->j", Z, rho @ Z) / (2 * Z.sum(axis=0))).sum())


def _total_of(rho: FloatArray) -> float:
    """Compute the total dispersion T from a dissimilarity matrix; (n, n) -> float."""
    return float(rho.sum()) / (2 * len(rho))
