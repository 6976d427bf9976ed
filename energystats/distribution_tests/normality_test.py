"""Test whether one sample is normal, its mean and covariance being estimated; rounded values too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import qr

from energystats._core import normal
from energystats._core.threads import one_thread_up_to
from energystats._runtime import Sample, check_work
from energystats._typing import ArrayLike, BoolArray, FloatArray, RandomLike
from energystats.distribution_tests.goodness_result import GoodnessOfFitResult
from energystats.distribution_tests.samplers import find_spacing
from energystats.distribution_tests.simulated_null import (
    NUMBERS_AT_ONCE,
    compare_with_null,
    simulate_null,
)
from energystats.inputs.arrays import EPS, as_numbers, as_points
from energystats.inputs.options import as_generator, check_count, check_option
from energystats.inputs.table import as_table, match_columns
from energystats.metrics.closed_form import Euclidean
from energystats.pairs.workloads import SAMPLE_LESS, normal_samples_work

__all__ = ["normality_test"]


SINGULAR = 64 * np.finfo(float).eps  # of a column's length, times the digits lost to its offset
SIMULATED_SIZE = 2000  # points of a simulated normal sample in several columns, unless the sample has fewer
SIMULATED_PER_COLUMN = 100  # and at least so many for each of them
FEWER_POINTS = (
    "The simulated samples have {size} points instead of {n}; their statistics have nearly the same distribution "
    "(simulated_size={n} simulates all points)."
)
TOO_FEW_POINTS = (
    "The simulated samples have {size} points instead of {n}, which is few for {d} columns: their statistics are "
    "smaller, so that p is too small (simulated_size={n} simulates all points)."
)
TIED = 0.5  # share of values equal to others, from which rounding was measured to matter
NO_STEP = '`rounding="auto"` found no step that all values of a column are apart by multiples of: taken as not rounded.'
OFF_GRID = 1e-6  # of a step: what may be off of values on a grid
MOST_STEPS = 1e6  # between the ends of a column, above which values are not rounded but what numbers are
CLEAR_STEP = 10  # times the rounding of numbers, from which a step is taken for more than that
SMALLEST_VARIANCE = 1e-3  # of a squared step
COARSEST_STEP = 2.1  # standard deviations; messages say 2, as Sheppard's correction is off by up to .03 there
Draw = Callable[[np.random.Generator, int], FloatArray]


def normality_test(
    X: ArrayLike,
    *,
    rounding: float | ArrayLike | str | None = None,
    n_resamples: int = 999,
    simulated_size: int | None = None,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> GoodnessOfFitResult:
    r"""Test whether a sample is normal, in one column or several, mean and covariance unknown.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        The sample; more rows than columns, and no column a linear combination of others.
    rounding : float, array_like of shape (d,), "auto" or None, default None
        Step to which the values were rounded, in the unit of the data; one for each column, 0 for a column that was
        not. "auto" finds the largest step that all values of a column are apart by multiples of. The null hypothesis is
        then that a normal sample was rounded like this.
    n_resamples : int, default 999
        Simulated normal samples.
    simulated_size : int, optional
        Points of each, more than d, at most n. None: n; in several columns without `rounding`, 2,000 or 100 d at most.
    progress : bool or None, default None
        Show a bar over them. None: if the estimated time is above two seconds and a terminal or notebook
        can show it.
    rng : int, Generator or None, default None
        Seed of the simulation.

    Returns
    -------
    GoodnessOfFitResult
        `.statistic`, `.pvalue`, `.pvalue_interval`, `.null_distribution` and more.

    Raises
    ------
    ValueError
        If there are no more rows than columns, a column is constant or a linear combination of others, a value is not
        finite, `rounding` is not the step of a grid or above 2 standard deviations, or `simulated_size` is not allowed.
    TypeError
        If `X` does not hold real numbers.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    goodness_of_fit : For a distribution without unknown parameters.
    energy_test : Whether two samples have one distribution.

    Notes
    -----
    With y the sample standardized by its mean and covariance (divisor n - 1) and Z, Z' standard normal, the statistic
    is :math:`n(\tfrac2n\sum_i E|y_i - Z| - E|Z - Z'| - g(y, y))`, n times the energy distance to the normal
    distribution, with exact expectations. It is R's `mvnorm.e`. It does not change under :math:`x \mapsto Ax + b`, so
    its distribution under normality depends on n and d alone, and samples of N(0, I) that are standardized in the same
    way give a test whose level is exact: p = (1 + #{null >= observed})/(n_resamples + 1). With n = d + 1 all samples
    have one statistic, and p = 1. On n it depends little: for more points in several columns samples of 2,000 (100 d
    above 20 columns) stand for it, and a note says so. At p = .1 and below that moves p by .001 in up to 5 columns and
    by .005 in 20 (`docs/distribution-tests.md`).

    Rounded values are not normal, and many points show it: `.notes` says so where half of the values of a column are
    equal to others; rates are in `docs/distribution-tests.md`. With `rounding`
    samples are drawn from the normal distribution with the mean and covariance of `X`, less step^2/12 in each variance
    (Sheppard's correction), and rounded to the grid of `X`; that p is approximate.

    With m = `simulated_size`, O(m log m) time for each sample in one column, and O(m^2 d) in several, where the sample
    itself takes O(n^2 d); O(n d) memory, and no n x n matrix.

    References
    ----------
    Szekely & Rizzo (2005).

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(1)
    >>> es.normality_test(rng.exponential(size=(50, 2)), rng=0).pvalue
    0.001
    >>> iris = es.datasets.load("iris")
    >>> setosa = iris[iris["species"] == "setosa"].drop(columns="species")
    >>> round(es.normality_test(setosa, rng=0).statistic, 4)
    1.2034
    """
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    generator = as_generator(rng)
    table = as_table(X)
    points = as_points(table, "X")
    # the statistic is affine invariant: an orthonormal basis of the centred columns is all it sees
    Q = _find_orthonormal_basis(points, table.columns)
    n, d = Q.shape
    match_columns(table, rounding, "rounding")
    grid = _RoundedNormal.of(points, rounding)
    notes = _notes_on_ties(points, advise=rounding is None) if grid is None else grid.notes
    if grid is None and isinstance(rounding, str):
        notes = (*notes, NO_STEP)
    if n == d + 1 and grid is None:
        notes = (*notes, f"All samples of {n} points in {d} column{'s' * (d > 1)} have this statistic: p says nothing.")
    size = _choose_size(simulated_size, n, d, rounded=grid is not None)
    if size < n:
        enough = size >= max(SIMULATED_SIZE, SIMULATED_PER_COLUMN * d)
        notes = (*notes, (FEWER_POINTS if enough else TOO_FEW_POINTS).format(size=size, n=n, d=d))
    scale = n * normal.distance_between_normals(d)
    of_sample = replace(normal_samples_work(n, d, 1), what=f"the statistic of {n} rows", advice=SAMPLE_LESS)
    works = normal_samples_work(size, d, n_resamples), of_sample
    progress = check_work(progress, Sample(Euclidean(), Q), *works)
    observed = float(normal.normality_statistics(Q[None])[0])
    draw = grid.draw if grid is not None else lambda stream, count: stream.standard_normal((count, size, d))
    null = simulate_null(
        lambda stream, count: _simulate_normal_samples(draw, stream, count, size, d), n_resamples, generator, progress
    )
    p, interval = compare_with_null(observed, null, scale, n)
    family = "normal" if d == 1 else "multivariate normal"
    after = "" if grid is None else ", before its values were rounded"
    return GoodnessOfFitResult(
        statistic=observed,
        pvalue=p,
        pvalue_interval=interval,
        n_resamples=null.size,
        null_distribution=null,
        null_hypothesis=f"the population is {family}, whatever its mean and {'variance' if d == 1 else 'covariance'}"
        + after,
        distribution=f"{family}, parameters estimated" + ", rounded" * (grid is not None),
        estimated=True,
        n=n,
        d=d,
        n_reference=0,
        reference="exact",
        metric=Euclidean(),
        notes=notes,
    )


def _choose_size(wanted: int | None, n: int, d: int, *, rounded: bool) -> int:
    """Choose the size of simulated normal samples: the one asked for, else n, or fewer where simulation is costly."""
    if wanted is None:
        return n if d == 1 or rounded else min(n, max(SIMULATED_SIZE, SIMULATED_PER_COLUMN * d))
    size = check_count(wanted, "simulated_size", low=d + 1, high=n, why=", the points of the sample")
    if rounded and size < n:
        raise ValueError(
            f"`simulated_size` must be {n}, the points of the sample, with `rounding`, whose effect grows with them, "
            f"got {size}."
        )
    return size


def _notes_on_ties(points: FloatArray, *, advise: bool) -> tuple[str, ...]:
    """Return a note if at least half of the values of a column are tied, as after rounding.

    `advise` adds what to do, for who has not said anything about rounding.
    """
    n, d = points.shape
    tied = [n - np.unique(points[:, j]).size for j in range(d)]
    if max(tied) < n * TIED:
        return ()
    note = (
        f"{max(tied)} of {n} values{' of a column' * (d > 1)} repeat another one: rounding alone can make p small "
        "(60 normal values rounded to half a standard deviation are rejected .87 of the time at level .05)."
    )
    advice = ' With `rounding=` (the step, or "auto") the simulated samples are rounded, too.'
    return (note + advice * advise,)


@dataclass(frozen=True, slots=True, eq=False)
class _RoundedNormal:
    """Hold the normal distribution fitted to a sample and rounded to the grid of its values; in units of the step."""

    mean: FloatArray  # (d,) means of the sample
    root: FloatArray  # (d, d) the fitted covariance is root' root
    rounds: BoolArray  # (d,) which columns are rounded, to whole numbers
    n: int  # size of the sample
    notes: tuple[str, ...]  # the steps

    @classmethod
    def of(cls, points: FloatArray, rounding: Any) -> Self | None:
        """Fit a normal distribution rounded to the columns' grids; None if no column is rounded."""
        steps = np.zeros(points.shape[1]) if rounding is None else _read_steps(points, rounding)
        rounds = steps > 0
        if not rounds.any():
            return None
        units = np.where(rounds, steps, np.ptp(points, axis=0))
        values = (points - points[0]) / units
        values[:, rounds] = np.rint(values[:, rounds])
        # the variance of the rounding error is 1/12 of a squared step [Sheppard 1898]
        covariance = np.atleast_2d(np.cov(values, rowvar=False)) - np.diag(rounds / 12)
        _check_coarseness(steps, np.diagonal(covariance), len(points))
        with one_thread_up_to(len(covariance)):
            sizes, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(sizes, SMALLEST_VARIANCE))).T
        text = ", ".join(f"{step:.6g}" for step in steps)
        note = (
            f"Simulated from the fitted normal distribution and rounded to the grid of the sample, step {text}"
            f"{' (0: not rounded)' * bool((~rounds).any())}: p is approximate."
        )
        return cls(values.mean(axis=0), root, rounds, len(points), (note,))

    def draw(self, stream: np.random.Generator, count: int) -> FloatArray:
        """Draw samples of a fitted normal distribution, rounded to its grid; (count, n, d)."""
        samples = self.mean + stream.standard_normal((count, self.n, self.mean.size)) @ self.root
        samples[:, :, self.rounds] = np.rint(samples[:, :, self.rounds])
        return np.asarray(samples)


def _read_steps(points: FloatArray, rounding: Any) -> FloatArray:
    """Return the rounding step of each column, as the user gave it or found in the values, which are checked; (d,)."""
    d = points.shape[1]
    if isinstance(rounding, str):
        check_option(rounding, "rounding", ("auto",))
        return np.array([_find_step(points[:, j]) for j in range(d)])
    given = as_numbers(rounding, "rounding")
    if given.shape not in ((), (d,)) or not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(
            f'`rounding` must be "auto", or a step of at least 0 for all columns or for each of {d}, got {rounding!r}.'
        )
    steps = np.broadcast_to(given, d).astype(np.float64)
    for j in np.flatnonzero(steps):
        if not _is_grid(points[:, j], float(steps[j])):
            raise ValueError(
                f"`rounding` must be a step that all values are apart by multiples of, but those of column {j} are not "
                f"apart by multiples of {steps[j]:g}."
            )
    return steps


def _check_coarseness(steps: FloatArray, variances: FloatArray, n: int) -> None:
    """Raise ValueError if a step is surely longer than 2 standard deviations; `variances` in squared steps; (d,)."""
    for j in np.flatnonzero(steps > 0).tolist():
        # of the rounded values, whose variance is larger by 1/12, as for normal ones; a step of 2 passes mostly
        error = (variances[j] + 1 / 12) * np.sqrt(2 / (n - 1))
        if (variances[j] + error) * COARSEST_STEP**2 < 1:
            sd = steps[j] * np.sqrt(max(variances[j], 0.0))
            raise ValueError(
                "`rounding` must be a step of at most 2 standard deviations of the values before they were rounded: a "
                f"column with a longer one has too few different values for this test. Got {steps[j]:.6g} for column "
                f"{j}, whose standard deviation is about {sd:.3g} (its variance less step^2/12)."
            )


def _find_step(column: FloatArray) -> float:
    """Find the largest step of which all differences between values are multiples; 0 without one."""
    eps = find_spacing(column)
    ordered = np.unique(column)
    gaps = np.diff(ordered)
    noise = 2 * eps * float(np.abs(column).max())
    step = float(gaps.min())
    total, weight = step, 1.0
    # by Euclid's algorithm on real numbers: a remainder as small as rounding ends it
    for gap in np.unique(gaps).tolist():
        rest, before = gap, step
        while rest > max(OFF_GRID * float(gaps.max()), CLEAR_STEP * noise):
            step, rest = rest, abs(step - rest * round(step / rest))
        if eps > EPS:  # a step between two values has too few digits for long gaps: the mean of many has more
            total, weight = (total, weight) if step == before else (step, 1.0)
            count = round(gap / step)
            total, weight = total + gap * count, weight + count * count
            step = total / weight
    if step <= max(float(np.ptp(column)) / MOST_STEPS, CLEAR_STEP * noise):
        return 0.0
    step = _refine_step(ordered - ordered[0], step)
    return step if _is_grid(column, step) else 0.0


def _refine_step(offsets: FloatArray, step: float) -> float:
    """Refine a rounding step by least squares over differences of more and more steps."""
    for most in 10.0 ** np.arange(1, 7):
        near = offsets[offsets <= most * step]
        counts = np.rint(near / step)
        if counts.any():
            step = float(near @ counts / (counts @ counts))
    return step


def _is_grid(column: FloatArray, step: float) -> bool:
    """Return whether all values of a column differ by multiples of `step`, up to rounding."""
    steps = (column - column[0]) / step
    slack = OFF_GRID + 4 * find_spacing(column) * float(np.abs(column).max()) / step
    return bool((np.abs(steps - np.rint(steps)) <= slack).all())


def _simulate_normal_samples(draw: Draw, stream: np.random.Generator, count: int, n: int, d: int) -> FloatArray:
    """Simulate the normality statistic of `count` normal samples; inf if a column is constant; (count,)."""
    at_once = max(1, NUMBERS_AT_ONCE // (n * d))
    parts = []
    for start in range(0, count, at_once):
        samples = draw(stream, min(at_once, count - start))
        found = normal.normality_statistics(normal.orthonormal(samples))
        parts.append(np.where((np.ptp(samples, axis=1) == 0).any(axis=1), np.inf, found))
    return np.concatenate(parts)


def _find_orthonormal_basis(points: FloatArray, columns: Sequence[str] | None) -> FloatArray:
    """Compute an orthonormal basis of the centred columns; ValueError if they are linearly dependent; (n, d).

    Columns are scaled before they are multiplied, so that neither 1e-150 nor 1e150 leaves the range of numbers, and
    the covariance is never formed, which would square its condition.
    """
    n, d = points.shape
    if n <= d:
        raise ValueError(
            f"`X` must have more rows than columns, got {n} rows and {d} columns: their covariance is singular. Use "
            "fewer columns, for example the first principal components."
        )
    names = columns or [str(j) for j in range(d)]
    size = np.abs(points).max(axis=0)
    scaled = np.ldexp(points, -np.frexp(size)[1])
    centred = scaled - scaled.mean(axis=0)
    centred -= centred.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    lost = np.sqrt(n) * SINGULAR / np.where(length > 0, length, 1.0)  # digits that the offset costs
    constant = (np.ptp(points, axis=0) == 0) | (lost >= 1)
    if constant.any():
        listed = _list_columns(constant, names)
        how = " nearly" * bool(np.ptp(points[:, constant], axis=0).any())
        offset = ", or subtract an offset" * bool(how)
        raise ValueError(f"`X` must vary in every column, but {listed}{how} constant; drop them{offset}.")
    with one_thread_up_to(d):
        Q, R, order = qr(centred / length, mode="economic", pivoting=True)
    dependent = np.zeros(d, dtype=bool)
    dependent[order] = np.abs(np.diagonal(R)) <= max(float(lost.max()), d * SINGULAR)
    if dependent.any():
        raise ValueError(
            f"`X` must have linearly independent columns, but {_list_columns(dependent, names)} a linear combination "
            "of the others; drop them."
        )
    return np.asarray(Q)


def _list_columns(chosen: Any, names: Sequence[str]) -> str:
    """Return words such as 'columns u, v are each' for the columns marked in a mask."""
    found = [names[int(j)] for j in np.flatnonzero(chosen)]
    text = ", ".join(found[:10]) + ", ..." * (len(found) > 10)
    return f"columns {text} are each" if len(found) > 1 else f"column {text} is"
