"""Find Cailliez' constant, the smallest that makes distances Euclidean when it is added to them [theory 7]."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvals

from energystats._core.gram import Pair, all_above, smallest_pair
from energystats._core.threads import one_thread_up_to
from energystats._typing import FloatArray

__all__ = ["additive_constant", "cailliez_matrix", "real_eigenvalues"]


BLOCK_LIMIT = 128  # up to here Cailliez' matrix of twice the size is solved
MAX_STEPS = 200  # of the searches below, which end in fewer than ten on every example met


# ---------------------------------------------------------------- Cailliez' constant


def cailliez_matrix(F_L: FloatArray, F_C: FloatArray) -> FloatArray:
    """Build the 2n x 2n matrix whose largest real eigenvalue is Cailliez' additive constant [Cailliez 1983]."""
    n = len(F_L)
    return np.block([[np.zeros((n, n)), 2 * F_L], [-np.eye(n), -4 * F_C]])


def real_eigenvalues(A: FloatArray) -> FloatArray:
    """Compute the real eigenvalues of a square matrix: those whose imaginary part is zero up to rounding."""
    with one_thread_up_to(len(A)):
        values = eigvals(A, check_finite=False)
    return np.asarray(values.real[np.abs(values.imag) <= 1e-7 * np.abs(values).max(initial=0.0)])


def additive_constant(F_L: FloatArray, F_C: FloatArray, lowest: Pair) -> float:
    """Find Cailliez' constant: the least kappa such that d + kappa, and d plus any larger constant, are Euclidean.

    That is the largest real eigenvalue of `cailliez_matrix`. The Gram matrix of d + kappa is G(kappa) = F_L +
    2 kappa F_C + kappa^2/2 J, and its smallest eigenvalue f on the vectors of sum 0 vanishes there for the last time.
    `_climb_to_zero` ends at a zero of f, and `_find_next_failure` proves f > 0 beyond it or gives a point to climb from
    again. `lowest` is the smallest eigenvalue of F_L, which is negative, and its vector.
    """
    # every admissible kappa is at most the root that the smallest eigenvalues of F_L and F_C together would have
    low_L, vector = lowest
    margin = 1 + 1e-6  # the eigenvalues found are above the true ones by rounding
    ceiling = _larger_root(margin * _lowest_or_bound(F_C), margin * low_L)  # no v has a larger root
    kappa = _root_of(F_L, F_C, vector)
    # a start near the answer: the largest real eigenvalue of the block matrix [Cailliez 1983], in whose bottom-right
    # block stands -4 F_C (-2 F_C and others in later prints are misprints)
    if len(F_L) <= BLOCK_LIMIT:
        guess = (1 - 1e-7) * float(real_eigenvalues(cailliez_matrix(F_L, F_C)).max(initial=0.0))
        if guess > kappa and _smallest_pair_at(F_L, F_C, guess, vector)[0] <= 0:
            kappa = guess
    kappa = _climb_to_zero(F_L, F_C, kappa, vector)
    for _ in range(MAX_STEPS):
        failure = _find_next_failure(F_L, F_C, kappa, ceiling, vector)
        if failure is None:
            return kappa
        kappa = _climb_to_zero(F_L, F_C, failure, vector)
    raise ArithmeticError(f"the additive constant was not found in {MAX_STEPS} steps; it is at least {kappa!r}")


def _lowest_or_bound(F: FloatArray) -> float:
    """Compute a matrix's smallest eigenvalue on vectors of sum 0, or minus the rounding error if it is above that."""
    rounding = len(F) * float(np.finfo(float).eps) * float(np.abs(F).max())
    return -rounding if all_above(F, -rounding) else min(smallest_pair(F)[0], -rounding)


def _larger_root(c: float, l: float) -> float:
    """Return the larger root kappa of the quadratic l + 2 c kappa + kappa^2/2 = 0; -inf if no root is real."""
    discriminant = 4 * c * c - 2 * l
    return -2 * c + float(np.sqrt(discriminant)) if discriminant >= 0 else -np.inf


def _root_of(F_L: FloatArray, F_C: FloatArray, v: FloatArray) -> float:
    """Find the larger of the two kappa with v'Gv = 0, where G is the Gram matrix of distances d + kappa.

    v is a unit vector of sum 0. It is -inf if there is no such constant.
    """
    return _larger_root(float(v @ (F_C @ v)), float(v @ (F_L @ v)))


def _smallest_pair_at(F_L: FloatArray, F_C: FloatArray, kappa: float, start: FloatArray) -> Pair:
    """Compute the smallest eigenvalue of the Gram matrix of d + kappa on vectors of sum 0, and the eigenvector."""
    value, vector = smallest_pair(F_L + (2 * kappa) * F_C, start)
    return value + kappa * kappa / 2, vector  # J adds the same to all vectors of sum 0


def _climb_to_zero(F_L: FloatArray, F_C: FloatArray, kappa: float, start: FloatArray) -> float:
    """Find the upper end of the interval around kappa in which distances d + kappa are not Euclidean.

    f is the smallest eigenvalue of the Gram matrix on vectors of sum 0; it is at most 0 in the interval. At kappa with
    f <= 0 the eigenvector's own parabola is f there and not below f anywhere, so its larger root is not beyond that
    end; from step to step it converges quadratically (as in fractional programming, Dinkelbach 1967).
    """
    vector = start
    for _ in range(MAX_STEPS):
        _, vector = _smallest_pair_at(F_L, F_C, kappa, vector)
        higher = _root_of(F_L, F_C, vector)
        if not higher > kappa * (1 + 4 * np.finfo(float).eps):
            return max(kappa, higher)
        kappa = higher
    return kappa


def _find_next_failure(
    F_L: FloatArray, F_C: FloatArray, kappa: float, ceiling: float, start: FloatArray
) -> float | None:
    """Find a constant x > kappa such that distances d + x are not Euclidean; None if there is none.

    With f(x) the smallest eigenvalue of the Gram matrix on vectors of sum 0, that is f(x) < 0. f(x) - x^2/2 is concave
    as a least eigenvalue of a matrix linear in x, so between a and b f lies above its chord less (x - a)(b - x)/2.
    Intervals on which this bound is not positive are halved.
    """
    if ceiling <= kappa:
        return None
    needed = 0.5 * (ceiling - kappa) ** 2  # f(ceiling) that makes the bound positive on all of the interval
    if all_above(F_L + (2 * ceiling) * F_C, needed - ceiling**2 / 2):
        return None
    # halve the intervals on which the bound does not yet prove f > 0, until none is left
    waiting = [(kappa, 0.0, ceiling, _smallest_pair_at(F_L, F_C, ceiling, start)[0])]
    while waiting:
        a, f_a, b, f_b = waiting.pop()
        if _lower_bound(f_a, f_b, b - a) >= 0 or b - a <= 1e-9 * ceiling:
            continue
        middle = 0.5 * (a + b)
        f_m, _ = _smallest_pair_at(F_L, F_C, middle, start)
        if f_m < 0:
            return middle
        waiting += [(a, f_a, middle, f_m), (middle, f_m, b, f_b)]
    return None


def _lower_bound(f_a: float, f_b: float, width: float) -> float:
    """Compute a lower bound of the smallest eigenvalue of a Gram matrix on an interval from its values at both ends.

    It is f_a (1 - t) + f_b t - width^2 t (1 - t)/2, at its least over t in [0, 1].
    """
    t = min(max(0.5 + (f_a - f_b) / width**2, 0.0), 1.0)
    return f_a * (1 - t) + f_b * t - 0.5 * width**2 * t * (1 - t)
