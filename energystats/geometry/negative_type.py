"""Test whether dissimilarities are Euclidean and semimetrics of negative type [theory 1, 7]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from energystats._core.gram import all_above, centred, largest_eigenvalue, smallest_pair
from energystats._core.threads import one_thread_up_to
from energystats._runtime import MATRIX, check_work
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.dissimilarity import Dissimilarity
from energystats.geometry.results import NegativeTypeResult
from energystats.inputs.arrays import EPS, digits_of
from energystats.inputs.matrices import as_distances
from energystats.inputs.options import as_generator, check_count, check_positive
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.general import Precomputed
from energystats.pairs.workloads import Size, pairs_work, spectrum

__all__ = [
    "DENSE_LIMIT",
    "SMALLEST_ALONE",
    "Examination",
    "examine_spectrum",
    "is_euclidean",
    "negative_type",
    "relative_tolerance",
    "root_unit_of",
    "tolerance_for",
    "unit_of",
]


N_SUBSETS = 20  # random subsets of a sample too large to be examined in whole


def negative_type(
    R: ArrayLike,
    tol: float | None = None,
    *,
    metric: MetricLike = "precomputed",
    alpha: float = 1.0,
    n_points: int = 1000,
    rng: RandomLike = None,
) -> NegativeTypeResult:
    r"""Test whether a semimetric is of negative type, as the meaning of energy statistics requires.

    Parameters
    ----------
    R : array_like of shape (n, n) or (n(n - 1)/2,)
        Matrix of rho, square or condensed; with another `metric`, points of shape (n,) or (n, d). For dissimilarities
        d that are to be Euclidean, R is d squared; see `is_euclidean`.
    tol : float, optional
        Rounding to allow for, as a share of the scale, which is the largest of the largest eigenvalue, max \|rho\|/2
        and, for a kernel metric, the largest K(x, x). None: 10 n times the machine precision; 8 sqrt(n) times that of
        the entries of a matrix in single or half precision.
    metric : str, Metric or callable, default "precomputed"
        What R is; any metric of this package for points.
    alpha : float, default 1.0
        Power of a named distance.
    n_points : int, default 1000
        Size of the random subsets that are examined when there are more than 2,000 points.
    rng : int, Generator or None, default None
        Seed of these subsets.

    Returns
    -------
    NegativeTypeResult
        `.holds`, `.min_eigenvalue` of :math:`G_c = -\tfrac12 JRJ`, `.tol`, `.threshold`; when it fails, `.witness`, a
        vector c of sum 0 with c'Rc > 0, for a check by hand. For a metric also what its formula says for all points:
        `.known`, `.strong`.

    Raises
    ------
    ValueError
        If R is not square and symmetric with zero diagonal, a value is not finite (disconnected graphs are named by
        their components), or `tol` is not between 0 and 1.
    TypeError
        If R does not hold real numbers.

    See Also
    --------
    is_euclidean : The same question for distances d, that is for rho = d squared.
    lingoes : The repair that leaves energy clusterings as they are.

    Notes
    -----
    Negative type on these points is: no negative eigenvalue of G_c. A matrix of up to 2,000 points gets all
    eigenvalues, O(n^3). Above that a Cholesky factor of G_c + threshold I proves that there is none, or Lanczos'
    method finds the smallest and its vector; both in O(n^2) memory. A failure is always proved by its witness.

    A metric whose formula is known to be of negative type holds for all points, whatever the eigenvalues. For other
    metrics and callables the points given decide; of more than 2,000, 20 random subsets of `n_points` rows, which
    may refute but cannot prove. *Strong* negative type means that E = 0 for equal distributions only: Euclidean
    distances to the power alpha < 2, and any power below 1 of a metric of negative type, 0 for equal points only.

    References
    ----------
    Schoenberg (1938); Franca, Rizzo & Vogelstein, s. 2; Szekely & Rizzo (2005) and Lyons (2013) for the strong form.

    Examples
    --------
    >>> import energystats as es
    >>> path = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    >>> es.negative_type(path).holds
    True
    >>> found = es.negative_type([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    >>> found.holds, round(found.min_eigenvalue, 6), round(found.violation, 6)
    (False, -0.833333, 1.666667)
    >>> es.negative_type([[0.0, 0.0], [3.0, 4.0]], metric="euclidean").strong
    True
    """
    n_points = check_count(n_points, "n_points", low=2)
    generator = as_generator(rng)
    d = Dissimilarity.from_data(R, metric=metric, alpha=alpha, name="R", of_negative=False)  # it is what was asked
    if isinstance(d.metric, Precomputed) or d.n <= max(DENSE_LIMIT, n_points):
        check_work(False, d, pairs_work(Size.of(d)), spectrum(d.n, 2.0, copies=3.0))
        rho = d.matrix
        if isinstance(d.metric, Precomputed):
            tol = tolerance_for(R, d.n, tol)
        return _judge_negative_type(examine_spectrum(rho, tol, summand=d.summand), d.metric, rho=rho, rows=None)
    check_work(False, d, spectrum(n_points, 2.0, copies=3.0).times(1 if d.metric.negative_type else N_SUBSETS))
    worst: tuple[Examination, IntArray] | None = None
    for _ in range(1 if d.metric.negative_type else N_SUBSETS):
        rows = np.sort(generator.choice(d.n, n_points, replace=False))
        found = examine_spectrum(d.rho(rows, rows), tol, summand=d.metric.summand(d.points[rows]))
        if worst is None or _depth(found) < _depth(worst[0]):
            worst = found, rows
    assert worst is not None
    found, rows = worst
    return _judge_negative_type(found, d.metric, rho=d.rho(rows, rows), rows=rows)


def _depth(found: Examination) -> float:
    """Return the smallest eigenvalue divided by its rounding error; 0 where all points coincide."""
    return found.lowest / found.threshold if found.threshold else 0.0


def _judge_negative_type(found: Examination, metric: Metric, *, rho: Any, rows: IntArray | None) -> NegativeTypeResult:
    """Build the result of a test of negative type, from eigenvalues and the metric's formula."""
    # a formula that is known to be of negative type proves more than eigenvalues of some points
    known = metric.negative_type
    method: Literal["eigenvalues", "factorisation", "iteration", "random subsets", "formula"] = found.method
    if known:
        method = "formula"
    elif rows is not None:
        method = "random subsets"
    holds = bool(known) or found.holds
    return NegativeTypeResult(
        holds=holds,
        min_eigenvalue=found.lowest,
        max_eigenvalue=found.highest,
        tol=found.tol,
        threshold=found.threshold,
        witness=None if holds else found.witness,
        violation=None if holds else found.violation(rho),
        n=len(rho),
        rows=rows,
        method=method,
        known=known,
        strong=metric.strong_negative_type,
        metric=metric,
        eigenvalues=found.eigenvalues,
    )


def is_euclidean(d: ArrayLike, tol: float | None = None) -> bool:
    r"""Test whether dissimilarities are distances between points of a Euclidean space.

    Parameters
    ----------
    d : array_like of shape (n, n) or (n(n - 1)/2,)
        Dissimilarities, square or condensed; not squared.
    tol : float, optional
        As for `negative_type`.

    Returns
    -------
    bool
        True if d squared is of negative type.

    Raises
    ------
    ValueError
        If d is not square and symmetric with zero diagonal, or a value is negative or not finite.
    TypeError
        If d does not hold real numbers.

    See Also
    --------
    negative_type : The eigenvalues and the witness behind the answer, for ``d**2``.
    principal_coordinates : The points themselves.

    Notes
    -----
    O(n^3) time, O(n^2) memory.

    References
    ----------
    Gower (1982); Klopotek, Klopotek & Wierzchon, eq. 11.

    Examples
    --------
    >>> import energystats as es
    >>> es.is_euclidean([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    True
    >>> es.is_euclidean([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])  # no triangle
    False
    """
    distances = as_distances(d, "d")
    check_work(False, MATRIX, spectrum(len(distances), 2.0, copies=3.0))
    return _examine_distances(distances, tolerance_for(d, len(distances), tol)).holds


def _examine_distances(d: Any, tol: float | None) -> Examination:
    """Compute the extreme eigenvalues of the centred Gram matrix of squared dissimilarities."""
    unit = unit_of(d, SMALLEST_ALONE)
    return examine_spectrum((d / unit) ** 2, tol)


DENSE_LIMIT = 2000  # up to here every eigenvalue is computed; above it a factorisation, or Lanczos' method
SMALLEST = 1e-140  # of the largest dissimilarity where squares are reported; those of smaller ones lose digits
SMALLEST_ALONE = 1e-300  # where they are not


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """Hold the extreme eigenvalues of G_c on some points, and what counts as rounding."""

    # lowest, highest: the smallest and the largest eigenvalue
    lowest: float
    highest: float
    # threshold, tol: what counts as rounding, in the unit of rho and as a share of the scale
    threshold: float
    tol: float
    witness: FloatArray | None  # (n,) unit vector of sum 0 with c'Rc > 0, when there is one
    method: Literal["eigenvalues", "factorisation", "iteration"]  # how `lowest` is known
    eigenvalues: FloatArray | None  # (n,) all of them, falling, where they were computed

    @property
    def holds(self) -> bool:
        """Return whether the check found no violation of negative type that is larger than rounding."""
        return self.lowest >= -self.threshold

    def violation(self, rho: FloatArray) -> float | None:
        """Compute the quadratic form c'Rc of a witness c against negative type; None without a witness."""
        return None if self.witness is None else float(self.witness @ (rho @ self.witness))


def unit_of(A: FloatArray, smallest: float = SMALLEST) -> float:
    """Return the power of two just above the largest absolute entry of a matrix; 1 for zeros."""
    largest = float(np.abs(A).max())
    if largest == 0:
        return 1.0
    if largest < smallest:
        raise ValueError(f"The largest entry must be at least {smallest:g} in size, got {largest:.3g}; rescale it.")
    return float(2.0 ** int(np.frexp(largest)[1]))


def root_unit_of(rho: FloatArray) -> float:
    """Return a power of two whose square is near the largest absolute entry of a matrix."""
    return float(2.0 ** ((int(np.frexp(unit_of(rho, SMALLEST_ALONE))[1])) // 2))


def relative_tolerance(tol: float | None, n: int) -> float:
    """Return the relative tolerance for rounding of eigenvalues: a given one, or else 10 n eps for a matrix n x n."""
    if tol is None:
        return 10 * n * float(np.finfo(float).eps)
    share = check_positive(tol, "tol")
    if share >= 1:
        raise ValueError(f"`tol` is a share of the scale and must be below 1, got {share:g}.")
    return share


def tolerance_for(values: Any, n: int, tol: float | None) -> float | None:
    """Return the tolerance for rounding of eigenvalues: the given one, or one for single or half precision, or None.

    Independent errors of n^2 entries move an eigenvalue by 2 sqrt(n) of their standard deviation.
    """
    eps = digits_of(values)[1]
    return tol if tol is not None or eps <= EPS else min(8 * float(np.sqrt(n)) * eps, 0.5)


def examine_spectrum(rho: FloatArray, tol: float | None = None, *, summand: float = 0.0) -> Examination:
    """Compute the extreme eigenvalues of the centred Gram matrix, and whether negative ones exceed rounding.

    The scale that rounding is measured on is the largest of lambda_max, max |rho|/2, and `summand`, the size of the
    numbers that rho is a difference of (the entries of a kernel, for instance). Above the limit a Cholesky factor of
    G_c + threshold shows that no eigenvalue lies below -threshold; where there is none, Lanczos finds the smallest
    eigenvalue, whose vector is a witness that can be checked by hand.
    """
    # divided by a power of two, so that no square or product leaves the range of floating-point numbers
    unit = unit_of(rho, SMALLEST_ALONE)
    share = relative_tolerance(tol, len(rho))
    half = max(float(np.abs(rho).max()) / 2, summand) / unit
    G = centred(rho / (-2 * unit))
    eigenvalues: FloatArray | None = None
    if len(G) <= DENSE_LIMIT:
        method: Literal["eigenvalues", "factorisation", "iteration"] = "eigenvalues"
        with one_thread_up_to(len(G)):
            eigenvalues = eigh(G, eigvals_only=True, check_finite=False)[::-1]
        lowest, highest = float(eigenvalues[-1]), float(eigenvalues[0])
        threshold = share * max(highest, half)
        proved = lowest >= -threshold
        eigenvalues = eigenvalues * unit
    else:
        # a factorisation is O(n^3)/3 and certain; Lanczos' method alone could miss a small negative eigenvalue
        highest = largest_eigenvalue(G)
        threshold = share * max(highest, half)
        proved = all_above(G, -threshold)
        lowest = 0.0  # of the vector 1; a factor was found, so none is below -threshold
        method = "factorisation"
    witness = None
    if not proved:
        lowest, witness = smallest_pair(G)
        method = "iteration" if eigenvalues is None else method
        witness = witness if lowest < -threshold else None
    return Examination(lowest * unit + 0.0, highest * unit + 0.0, threshold * unit, share, witness, method, eigenvalues)
