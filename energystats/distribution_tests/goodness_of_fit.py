"""Tests of one sample against a distribution: fully specified, or with parameters estimated, as of the normal one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg import qr

from energystats._core import normal
from energystats._core.labelings import LABELINGS_PER_BLOCK, draw_key, stream_of
from energystats._core.pvalues import count_extreme, pvalue_interval, tie_tolerance, upper_pvalue
from energystats._core.threads import one_thread_up_to
from energystats._runtime import MATRIX, Sample, Work, weigh, with_bar
from energystats._typing import ArrayLike, BoolArray, FloatArray, RandomLike
from energystats.display.numbers import interval_text, number, probability
from energystats.display.result import Result
from energystats.display.sentences import Caution, metric_note, seed_note, state_evidence, undecided
from energystats.display.tables import LEVEL, TextTable, text_table
from energystats.distribution_tests.estimated_fit import Family, find_atoms
from energystats.distribution_tests.samplers import Sampler, as_sampler, find_possible, find_spacing
from energystats.doubtful_tables import check_resolution, warn_of_rounding
from energystats.inputs.arrays import EPS, as_numbers, as_points
from energystats.inputs.options import as_generator, check_count, check_option
from energystats.inputs.places import row_places
from energystats.inputs.table import InputTable, as_table, match_columns
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.domains import truths_as_numbers
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.line import sort_line
from energystats.pairs.tiles import Recomputed
from energystats.pairs.workloads import SAMPLE_LESS, Size, normal_samples_work, reference_samples

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["GoodnessOfFitResult", "goodness_of_fit", "normality_test"]


CONFIDENCE_LEVEL = 0.95
MEANS_ONLY = " (squared distances compare means alone; a larger spread than expected makes p small, too)"
NUMBERS_AT_ONCE = 2**21  # drawn for samples that are compared in one go
ROWS_PER_BLOCK = 256
SINGULAR = 64 * np.finfo(float).eps  # of a column's length, times the digits lost to its offset
REFERENCE = (1_000, 10_000)  # fewest and most points that stand for a distribution, unless said otherwise

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
OFF_GRID = 1e-6  # of a step: what may be off of values on a grid
MOST_STEPS = 1e6  # between the ends of a column, above which values are not rounded but what numbers are
CLEAR_STEP = 10  # times the rounding of numbers, from which a step is taken for more than that
SMALLEST_VARIANCE = 1e-3  # of a squared step
COARSEST_STEP = 2.1  # standard deviations; messages say 2, as Sheppard's correction is off by up to .03 there
Draw = Callable[[np.random.Generator, int], FloatArray]
Simulate = Callable[[np.random.Generator, int], FloatArray]


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
    if n == d + 1 and grid is None:
        notes = (*notes, f"All samples of {n} points in {d} column{'s' * (d > 1)} have this statistic: p says nothing.")
    size = _choose_size(simulated_size, n, d, rounded=grid is not None)
    if size < n:
        enough = size >= max(SIMULATED_SIZE, SIMULATED_PER_COLUMN * d)
        notes = (*notes, (FEWER_POINTS if enough else TOO_FEW_POINTS).format(size=size, n=n, d=d))
    scale = n * normal.distance_between_normals(d)
    of_sample = replace(normal_samples_work(n, d, 1), what=f"the statistic of {n} rows", advice=SAMPLE_LESS)
    works = normal_samples_work(size, d, n_resamples), of_sample
    progress = weigh(progress, Sample(Euclidean(), Q), *works)
    observed = float(normal.normality_statistics(Q[None])[0])
    draw = grid.draw if grid is not None else lambda stream, count: stream.standard_normal((count, size, d))
    null = _simulated(
        lambda stream, count: _simulate_normal_samples(draw, stream, count, size, d), n_resamples, generator, progress
    )
    p, interval = _compare_with_null(observed, null, scale, n)
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
    """Hold the normal distribution fitted to a sample and rounded to the grid of its values; in units of the step.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Means of the sample.
    root : ndarray of shape (d, d)
        The fitted covariance is root' root.
    rounds : ndarray of shape (d,)
        Which columns are rounded, to whole numbers.
    n : int
        Size of the sample.
    notes : tuple of str
        The steps.
    """

    mean: FloatArray
    root: FloatArray
    rounds: BoolArray
    n: int
    notes: tuple[str, ...]

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
    if eps > EPS:
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


def _compare_with_null(observed: float, null: FloatArray, scale: float, n: int) -> tuple[float, tuple[float, float]]:
    """Compute the p-value of a statistic among null values, ties counted, and its interval."""
    extreme = count_extreme(observed, null, tie_tolerance(scale, n))
    return upper_pvalue(extreme, null.size), pvalue_interval(extreme, null.size, CONFIDENCE_LEVEL)


def _simulated(simulate: Simulate, n_resamples: int, rng: np.random.Generator, progress: bool) -> FloatArray:
    """Simulate null values of a statistic in blocks, each with its own random stream."""
    key = draw_key(rng)
    step = LABELINGS_PER_BLOCK
    blocks = (
        simulate(stream_of(key, block), min(step, n_resamples - start))
        for block, start in enumerate(range(0, n_resamples, step))
    )
    return np.concatenate(list(with_bar(blocks, progress, total=n_resamples, unit="sample", size=len)))


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


def goodness_of_fit(
    X: ArrayLike,
    distribution: Any,
    *,
    estimate: bool | Callable[[Any], Any] = False,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    n_resamples: int = 999,
    n_reference: int | None = None,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> GoodnessOfFitResult:
    r"""Test whether a sample comes from a given distribution or family of distributions.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        The sample.
    distribution : scipy.stats distribution or callable
        Fully specified: a frozen distribution such as ``scipy.stats.norm(0, 1)`` or ``multivariate_normal(mean, cov)``,
        an object of SciPy's newer classes such as ``scipy.stats.Normal()``, or a function sampler(size, rng) that
        returns `size` independent values or rows drawn with the Generator `rng`. With `estimate` a family of SciPy.
    estimate : bool or callable, default False
        Whether parameters are estimated, from `X` and every simulated sample: True for `scipy.stats.poisson`, "geom",
        "bernoulli" (by the mean) and continuous families without shapes or with an end at infinity (SciPy's ``fit``,
        begun again where it ended); or a function of a sample that returns a distribution.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho, but not "precomputed". Parameters such as sigma are fitted to the reference points.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 only means are compared.
    n_resamples : int, default 999
        Samples drawn from the distribution.
    n_reference : int, optional
        Points that stand for the distribution; 10 n by default, but at least 1,000 and at most 10,000.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and somebody can see it.
    rng : int, Generator or None, default None
        Seed of all draws.

    Returns
    -------
    GoodnessOfFitResult
        `.statistic`, `.pvalue`, `.pvalue_interval`, `.n_reference`, `.null_distribution` and more.

    Raises
    ------
    ValueError
        If the distribution has another number of columns than `X`, gives samples of the wrong shape or not finite, is
        several at once, or a family that cannot be fitted; if `X` is not finite, or an option is out of range.
    TypeError
        If `distribution` is neither, or not frozen, or `X` does not hold real numbers.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning, ColumnScaleWarning
        If the call is estimated to take more than a minute; if parameters are estimated from what rounding left alone.

    See Also
    --------
    normality_test : Normality with unknown mean and covariance.

    Notes
    -----
    The statistic is :math:`n(2g(X, Y) - g(Y, Y) - g(X, X))`, n times the energy distance of the sample from reference
    points Y that stand for the distribution: for one column, where its quantiles are known, those of (i - 1/2)/m; else,
    or with draws of another range (``vonmises``) or a heavy discrete tail, m draws. Null samples are compared with the
    same Y: the level is exact whatever m; a small m costs power. Parameters that were estimated from `X` make p too
    large, unless `estimate` does it: then each sample, drawn from the fit, is compared with its own fit (parametric
    bootstrap) in the unit of its mean distance; exact for location and scale, nearly so for others.

    Where distances have no mean, as for Cauchy, take ``alpha`` below 1; for columns in different units "seuclidean".
    O(m log m + n_resamples n log m) time for one column with rho = \|x - y\|, else O(m^2 d + n_resamples n m d);
    O((n + m) d) memory and no n x m matrix.

    References
    ----------
    Szekely & Rizzo (2013); Rizzo (2009), for Pareto distributions.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> from scipy import stats
    >>> x = np.random.default_rng(1).exponential(size=50)
    >>> es.goodness_of_fit(x, stats.norm(), rng=0).pvalue
    0.001
    >>> es.goodness_of_fit([0, 2, 1, 3, 5, 2, 2, 4, 0, 1, 7, 3], stats.poisson, estimate=True, rng=0).pvalue > 0.05
    True
    >>> es.goodness_of_fit(np.c_[x, x], lambda size, rng: rng.exponential(size=(size, 2)), rng=0).pvalue
    0.006
    """
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    if n_reference is not None:
        n_reference = check_count(n_reference, "n_reference", low=2)
    generator = as_generator(rng)
    resolved = resolve(metric, alpha)
    if isinstance(resolved, Precomputed):
        raise ValueError('`metric` must not be "precomputed": samples are drawn, and rho is needed between new points.')
    table = as_table(X)
    points = as_points(truths_as_numbers(table) if resolved.domain.truths else table, "X")
    n, d = points.shape
    n_points = n_reference or _reference_size(n)
    if estimate is not False:
        family = Family.of(distribution, estimate)
        warn_of_rounding(points.min(axis=0), points.max(axis=0), table.columns, resolved, standardize=False)
        return _test_family(family, points, table, resolved, n_points, n_resamples, generator, progress)
    source = as_sampler(distribution, "distribution", table.columns)
    # first of all, because quantiles far in a heavy tail would take very long
    source, notes = source.compare_with_quantiles(n_points)
    drawn = float(n) * n_resamples + n_points * (source.ppf is None)
    seconds = source.estimate_seconds(n_resamples, drawn, n_points)
    if seconds:
        advice = "Use fewer `n_resamples`, or a sampler that is faster."
        weigh(False, MATRIX, Work(what=f"draws from {source.label}", advice=advice, seconds=seconds))
    target, fitted = _make_reference_points(source, d, n_points, resolved, generator)
    fitted.check(points, row_places(["X"], [n], [table.index]), table.columns)
    # fitted to the reference, not to X: null samples are compared with the same semimetric
    fitted.fitted(points)  # what it needs of its columns, it needs of these
    size = Size(n, d, line=isinstance(target, _OnLine))
    progress = weigh(progress, Sample(fitted, points), reference_samples(size, target.size, n_resamples))
    observed = float(target.compare(points[None])[0])

    def simulate(stream: np.random.Generator, count: int) -> FloatArray:
        return _drawn_samples(target, source, stream, count, points.shape)

    null = _simulated(simulate, n_resamples, generator, progress)
    if null.size > 1 and np.ptp(null) <= tie_tolerance(n * target.scale, n):
        source.check_varies(n)
    p, interval = _compare_with_null(observed, null, n * target.scale, n)
    return GoodnessOfFitResult(
        statistic=observed,
        pvalue=p,
        pvalue_interval=interval,
        n_resamples=null.size,
        null_distribution=null,
        null_hypothesis=f"the sample comes from {source.label}" + fitted.only_means * MEANS_ONLY,
        distribution=source.label,
        estimated=False,
        n=n,
        d=d,
        n_reference=target.size,
        reference="draws" if source.ppf is None else "quantiles",
        metric=fitted,
        notes=(
            *_note_impossible(distribution, points),
            *notes,
            # a sample of equal values may be all that the distribution can give
            *(_note_equal_statistics(observed, null, n * target.scale, n) if np.ptp(points, axis=0).any() else ()),
        ),
    )


def _test_family(
    family: Family,
    points: FloatArray,
    table: InputTable,
    metric: Metric,
    n_points: int,
    n_resamples: int,
    rng: np.random.Generator,
    progress: bool | None,
) -> GoodnessOfFitResult:
    """Test the fit of an estimated family by the parametric bootstrap, refitted to each simulated sample."""
    n, d = points.shape
    started = time.perf_counter()
    fit = _compare_with_fit(family, points, "the sample", metric, n_points, rng)
    family = family.beginning_at(fit.distribution, drawn=fit.reference == "draws")
    fit.metric.check(points, row_places(["X"], [n], [table.index]), table.columns)
    each = Work(
        what=f"fits of {family.label} to simulated samples",
        advice="Use fewer `n_resamples`, or a smaller `n_reference`.",
        seconds=time.perf_counter() - started,
    )
    progress = weigh(progress, MATRIX, each.times(n_resamples))

    def simulate(stream: np.random.Generator, count: int) -> FloatArray:
        drawn = (fit.source.draw(n, stream) for _ in range(count))
        what = f"a sample drawn from {fit.source.label}"
        fits = [_compare_with_fit(family, sample, what, metric, n_points, stream) for sample in drawn]
        # a fit of a smaller scale has smaller distances: those of families of location and scale are compared in its
        # unit, so that p does not depend on the scale; counts have a unit of their own
        return np.array(
            [each.statistic * (1.0 if each.reference == "exact" else fit.unit / each.unit) for each in fits]
        )

    null = _simulated(simulate, n_resamples, rng, progress)
    p, interval = _compare_with_null(fit.statistic, null, n * fit.target.scale, n)
    return GoodnessOfFitResult(
        statistic=fit.statistic,
        pvalue=p,
        pvalue_interval=interval,
        n_resamples=null.size,
        null_distribution=null,
        null_hypothesis=f"the sample comes from a distribution of the family {family.label}"
        + fit.metric.only_means * MEANS_ONLY,
        distribution=f"{fit.source.label}, parameters estimated",
        estimated=True,
        n=n,
        d=d,
        n_reference=fit.target.size,
        reference=fit.reference,
        metric=fit.metric,
        notes=(
            *_note_impossible(fit.distribution, points, family.advice),
            *fit.notes,
            *_note_equal_statistics(fit.statistic, null, n * fit.target.scale, n),
        ),
    )


class _Impossible(Caution):
    """Hold a caution that a distribution cannot give the sample."""

    __slots__ = ()


class _ImpossibleFit(Caution):
    """Hold a caution that the fitted distribution cannot give the sample, which others of the family may."""

    __slots__ = ()


def _note_impossible(distribution: Any, points: FloatArray, advice: str = "") -> tuple[str, ...]:
    """Return a caution if the sample has values that the distribution cannot produce; else empty.

    `advice` says of an estimated distribution how to find one that can give them.
    """
    if points.shape[1] > 1 or not hasattr(distribution, "support"):
        return ()
    x = points[:, 0]
    wrong = ~find_possible(distribution, x)
    if not wrong.any():
        return ()
    found = f"{int(wrong.sum())} of {x.size} values have probability 0, such as {x[wrong][0]:.6g}"
    if advice:
        return (_ImpossibleFit(f"The fitted distribution cannot give this sample: {found}.", advice),)
    return (_Impossible(f"The distribution cannot give this sample, whatever p is: {found}."),)


def _note_equal_statistics(observed: float, null: FloatArray, scale: float, n: int) -> tuple[str, ...]:
    """Return a note if sample and all simulated samples have the same statistic; else empty."""
    if np.abs(null - observed).max() > tie_tolerance(scale, n):
        return ()
    return (f"All {null.size} simulated samples have this statistic: p says nothing.",)


class _Fit(NamedTuple):
    """Hold a sample's comparison with the distribution fitted to it: the statistic, and what it was compared with."""

    statistic: float
    distribution: Any
    source: Sampler
    target: _ReferencePoints
    reference: Literal["exact", "quantiles", "draws"]
    metric: Metric
    notes: tuple[str, ...] = ()

    @property
    def unit(self) -> float:
        """Return the mean distance of two points of a fitted distribution, as a unit; 1 if it is one point."""
        return self.target.scale or 1.0


def _compare_with_fit(
    family: Family, points: FloatArray, what: str, metric: Metric, n_points: int, rng: np.random.Generator
) -> _Fit:
    """Fit a family of distributions to a sample, and compute the energy statistic between the two."""
    found, source = family.fitted(points, what)
    atoms = find_atoms(found) if points.shape[1] == 1 and sort_line(points, metric) is not None else None
    if atoms is not None:
        return _Fit(float(atoms.compare(points[None])[0]), found, source, atoms, "exact", metric)
    source, notes = (replace(source, ppf=None), ()) if family.drawn else source.compare_with_quantiles(n_points)
    target, fitted = _make_reference_points(source, points.shape[1], n_points, metric, rng)
    reference: Literal["quantiles", "draws"] = "draws" if source.ppf is None else "quantiles"
    return _Fit(float(target.compare(points[None])[0]), found, source, target, reference, fitted, notes)


def _reference_size(n: int) -> int:
    """Choose the number of reference points for n rows: ten times n, between 1000 and 10000."""
    low, high = REFERENCE
    return min(max(low, 10 * n), high)


class _ReferencePoints(Protocol):
    """Define the interface of points that stand for a distribution in a test of fit."""

    @property
    def size(self) -> int:
        """Return the number of points that stand for the reference distribution."""

    @property
    def scale(self) -> float:
        """Return the mean absolute dissimilarity between reference points, a scale for rounding."""

    def compare(self, samples: FloatArray) -> FloatArray:
        """Compute n times the energy distance between reference points and each of b samples; (b, n, d) -> (b,)."""


def _make_reference_points(
    source: Sampler, d: int, size: int, metric: Metric, rng: np.random.Generator
) -> tuple[_ReferencePoints, Metric]:
    """Return points that represent a distribution, its quantiles or draws, and the semimetric fitted to them."""
    # quantiles stand for a distribution better than as many draws
    points = source.quantiles(size) if source.ppf is not None else source.draw(size, rng)
    if points.shape[1] != d:
        raise ValueError(
            f"`X` and `distribution` must have the same number of columns, got {d} and {points.shape[1]} "
            f"({source.label})."
        )
    metric.check(points, row_places(["points that stand for `distribution`"], [len(points)], [None]))
    fitted = metric.fitted(points)
    if not fitted.by_range:
        check_resolution(points, fitted)
    if sort_line(points, fitted) is not None:
        return _OnLine.of(points[:, 0]), fitted
    return _Cloud.of(points, fitted), fitted


@dataclass(frozen=True, slots=True, eq=False)
class _OnLine:
    """Hold reference points in one column with rho = |x - y|: sorting and running sums replace the pairs.

    Attributes
    ----------
    center : float
        Median, which is subtracted from everything so that an offset costs no digits.
    ascending : ndarray of shape (m,)
        Sorted centred points.
    sums : ndarray of shape (m + 1,)
        Their running sums, from 0 on.
    scale : float
        g(Y, Y).
    """

    center: float
    ascending: FloatArray
    sums: FloatArray
    scale: float

    @classmethod
    def of(cls, points: FloatArray) -> _OnLine:
        """Sort the reference points of one column, and compute their running sums; (m,)."""
        ordered = np.sort(points)
        center = float(ordered[ordered.size // 2])
        ordered -= center
        sums = np.concatenate(([0.0], np.cumsum(ordered)))
        return cls(center, ordered, sums, float(normal.mean_distance_sorted(ordered)))

    @property
    def size(self) -> int:
        return self.ascending.size

    def compare(self, samples: FloatArray) -> FloatArray:
        x = np.sort(samples[:, :, 0], axis=1) - self.center
        below = np.searchsorted(self.ascending, x)
        to_all = x * (2 * below - self.size) - 2 * self.sums[below] + self.sums[-1]
        across = to_all.mean(axis=1) / self.size
        return np.asarray(x.shape[1] * (2 * across - self.scale - normal.mean_distance_sorted(x)))


@dataclass(frozen=True, slots=True, eq=False)
class _Cloud:
    """Hold reference points and a semimetric; pairs with a sample are computed in blocks of rows.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        The reference points.
    metric : Metric
        Fitted to them.
    own, scale : float
        Means of rho and of |rho| between them.
    """

    points: FloatArray
    metric: Metric
    own: float
    scale: float

    @classmethod
    def of(cls, points: FloatArray, metric: Metric) -> _Cloud:
        """Compute the mean dissimilarity within the reference points of several columns; (m, d)."""
        pairs = Recomputed(points, metric)
        own = float(pairs.multiply(np.ones((len(points), 1))).sum()) / len(points) ** 2
        scale = own if metric.negative_type else pairs.absolute_total() / len(points) ** 2
        return cls(points, metric, own, scale)

    @property
    def size(self) -> int:
        return len(self.points)

    def compare(self, samples: FloatArray) -> FloatArray:
        return np.array([self.compare_one(points) for points in samples])

    def compare_one(self, points: FloatArray) -> float:
        """Compute n times the energy distance between the reference points and one sample; (n, d)."""
        n = len(points)
        blocks = range(0, n, ROWS_PER_BLOCK)
        across = sum(
            float(self.metric.finite_between(points[i : i + ROWS_PER_BLOCK], self.points, i).sum()) for i in blocks
        )
        within = float(Recomputed(points, self.metric, warns=False).multiply(np.ones((n, 1))).sum())
        return n * (2 * across / (n * self.size) - self.own - within / n**2)


def _drawn_samples(
    target: _ReferencePoints, source: Sampler, stream: np.random.Generator, count: int, shape: tuple[int, ...]
) -> FloatArray:
    """Compute n times the energy distance of reference points to each of `count` simulated samples; (count,)."""
    n, d = shape
    at_once = max(1, NUMBERS_AT_ONCE // (n * d))
    parts = []
    for start in range(0, count, at_once):
        samples = [source.draw(n, stream) for _ in range(min(at_once, count - start))]
        for sample in samples:
            if sample.shape[1] != d:
                raise ValueError(
                    f"`distribution` must always give the same number of columns; {source.label} gave {d} and "
                    f"{sample.shape[1]}."
                )
        parts.append(target.compare(np.array(samples)))
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GoodnessOfFitResult(Result):
    """Hold the result of an energy test of one sample against a distribution, by simulation.

    Attributes
    ----------
    statistic : float
        n times the energy distance between the sample and the distribution.
    pvalue : float
        Share of samples with a statistic at least as large, ties and the observed sample included.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many resamples.
    method : {"simulation"}
        Samples were drawn from the null hypothesis.
    n_resamples : int
        How many.
    null_hypothesis : str
        The question that the p-value answers.
    distribution : str
        The distribution in words; the fitted one where parameters were estimated.
    estimated : bool
        Whether its parameters were estimated, from the sample and from every simulated one.
    n, d : int
        Rows and columns of the sample.
    n_reference : int
        Points that stand for the distribution; 0 where its mean distances are exact.
    reference : {"exact", "quantiles", "draws"}
        What those points are.
    null_distribution : ndarray of shape (n_resamples,)
        The statistic of the simulated samples.
    metric : Metric
        With every parameter that was fitted to the reference.
    notes : tuple of str
        Of a test of normality, that many values are equal, or to which grid simulated samples were rounded; of another
        one, that some values are impossible, or why draws stand for a distribution that knows its quantiles;
        of both, that all samples have one statistic.
    """

    _one_row = True

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    method: Literal["simulation"] = "simulation"
    n_resamples: int
    null_hypothesis: str
    distribution: str
    estimated: bool
    n: int
    d: int
    n_reference: int
    reference: Literal["exact", "quantiles", "draws"]
    null_distribution: FloatArray = field(repr=False)
    metric: Metric

    def _tables(self) -> list[TextTable]:
        rows = [
            ["statistic (n times the energy distance)", number(self.statistic)],
            ["p-value", probability(self.pvalue)],
            ["95 % interval of p", interval_text(self.pvalue_interval)],
            ["method", self.method],
            ["simulated samples", str(self.n_resamples)],
            ["rows, columns", f"{self.n}, {self.d}"],
        ]
        return [text_table(rows, None, None, f"Energy test of fit: {self.distribution}")]

    def _sentences(self) -> list[str]:
        how = {
            "exact": "Mean distances of the distribution are exact.",
            "quantiles": f"The distribution is represented by {self.n_reference} of its quantiles.",
            "draws": f"The distribution is represented by {self.n_reference} draws.",
        }
        seed = seed_note(self.pvalue, self.n_resamples, "simulated samples")
        known = [f"Null hypothesis: {self.null_hypothesis}.", *self.notes, seed, how[self.reference]]
        return [*known, metric_note(self.metric, None), *undecided(self.pvalue, self.pvalue_interval, "samples")]

    def _conclusion(self) -> str:
        if any(isinstance(note, _Impossible) for note in self.notes):
            return "The null hypothesis is false: the distribution cannot give this sample."
        if any(isinstance(note, _ImpossibleFit) for note in self.notes):
            return "No verdict: the fitted distribution cannot give this sample, but others of the family may."
        others = "" if self.pvalue <= LEVEL else "; others may fit as well"
        return state_evidence(self.pvalue, "of a misfit", note=others)

    def _frame(self) -> pd.DataFrame:
        """Return the result as a data frame of one row."""
        import pandas as pd

        names = (
            "statistic",
            "pvalue",
            "method",
            "n_resamples",
            "distribution",
            "estimated",
            "n",
            "d",
            "n_reference",
            "null_hypothesis",
        )
        return pd.DataFrame([{name: getattr(self, name) for name in names}])

    def _main_columns(self) -> tuple[str, ...]:
        return ("distribution", "n", "d", "statistic", "pvalue", "n_resamples")

    def _headings(self) -> dict[str, str]:
        return {"d": "columns", "statistic": "n E", "n_resamples": "simulated samples"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a histogram of null values with the observed statistic, and return the axes."""
        from energystats.plotting.null_distributions import plot_goodness

        null, name = self.null_distribution, self.distribution
        return plot_goodness(null, self.statistic, self.pvalue, ax, distribution=name, n=self.n)
