"""Test one sample against a distribution, fully specified or with parameters estimated."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from energystats._core import normal
from energystats._core.pvalues import tie_tolerance
from energystats._runtime import MATRIX, Sample, Work, check_work
from energystats._typing import ArrayLike, FloatArray, RandomLike
from energystats.distribution_tests.estimated_fit import Family, find_atoms
from energystats.distribution_tests.goodness_result import GoodnessOfFitResult, Impossible, ImpossibleFit
from energystats.distribution_tests.samplers import Sampler, as_sampler, find_possible
from energystats.distribution_tests.simulated_null import (
    NUMBERS_AT_ONCE,
    compare_with_null,
    note_equal_statistics,
    simulate_null,
)
from energystats.doubtful_tables import check_resolution, warn_of_rounding
from energystats.inputs.arrays import as_points
from energystats.inputs.options import as_generator, check_count
from energystats.inputs.places import row_places
from energystats.inputs.table import InputTable, as_table
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.domains import truths_as_numbers
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.line import sort_line
from energystats.pairs.tiles import Recomputed
from energystats.pairs.workloads import Size, reference_samples

__all__ = ["goodness_of_fit"]


MEANS_ONLY = " (squared distances compare means alone; a larger spread than expected makes p small, too)"
ROWS_PER_BLOCK = 256
LONG = 2.0  # seconds
REFERENCE = (1_000, 10_000)  # fewest and most points that stand for a distribution, unless said otherwise


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
        family = replace(Family.of(distribution, estimate), columns=table.columns)
        warn_of_rounding(points.min(axis=0), points.max(axis=0), table.columns, resolved, standardize=False)
        return _test_family(family, points, table, resolved, n_points, n_resamples, generator, progress)
    source = as_sampler(distribution, "distribution", table.columns)
    # first of all, because quantiles far in a heavy tail would take very long
    source, notes = source.compare_with_quantiles(n_points)
    drawn = float(n) * n_resamples + n_points * (source.ppf is None)
    seconds = source.estimate_seconds(n_resamples, drawn, n_points)
    if seconds:
        advice = "Use fewer `n_resamples`, or a sampler that is faster."
        check_work(False, MATRIX, Work(what=f"draws from {source.label}", advice=advice, seconds=seconds))
    target, fitted = _make_reference_points(source, d, n_points, resolved, generator)
    fitted.check(points, row_places(["X"], [n], [table.index]), table.columns)
    # fitted to the reference, not to X: null samples are compared with the same semimetric
    fitted.fitted(points)  # what it needs of its columns, it needs of these
    size = Size(n, d, line=isinstance(target, _OnLine))
    progress = check_work(progress, Sample(fitted, points), reference_samples(size, target.size, n_resamples))
    observed = float(target.compare(points[None])[0])

    def simulate(stream: np.random.Generator, count: int) -> FloatArray:
        return _drawn_samples(target, source, stream, count, points.shape)

    null = simulate_null(simulate, n_resamples, generator, progress)
    if null.size > 1 and np.ptp(null) <= tie_tolerance(n * target.scale, n):
        source.check_varies(n)
    p, interval = compare_with_null(observed, null, n * target.scale, n)
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
            *(note_equal_statistics(observed, null, n * target.scale, n) if np.ptp(points, axis=0).any() else ()),
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
    seconds = time.perf_counter() - started
    if seconds * n_resamples > LONG:  # once more, as the first fit may have compiled loops and tried several starts
        started = time.perf_counter()
        _compare_with_fit(family, points, "the sample", metric, n_points, copy.deepcopy(rng))
        seconds = min(seconds, time.perf_counter() - started)
    each = Work(
        what=f"fits of {family.label} to simulated samples",
        advice="Use fewer `n_resamples`, or a smaller `n_reference`.",
        seconds=seconds,
    )
    progress = check_work(progress, MATRIX, each.times(n_resamples))

    def simulate(stream: np.random.Generator, count: int) -> FloatArray:
        drawn = (fit.source.draw(n, stream) for _ in range(count))
        what = f"a sample drawn from {fit.source.label}"
        fits = [_compare_with_fit(family, sample, what, metric, n_points, stream) for sample in drawn]
        # a fit of a smaller scale has smaller distances: those of families of location and scale are compared in its
        # unit, so that p does not depend on the scale; counts have a unit of their own
        return np.array(
            [each.statistic * (1.0 if each.reference == "exact" else fit.unit / each.unit) for each in fits]
        )

    null = simulate_null(simulate, n_resamples, rng, progress)
    p, interval = compare_with_null(fit.statistic, null, n * fit.target.scale, n)
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
            *note_equal_statistics(fit.statistic, null, n * fit.target.scale, n),
        ),
    )


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
        return (ImpossibleFit(f"The fitted distribution cannot give this sample: {found}.", advice),)
    return (Impossible(f"The distribution cannot give this sample, whatever p is: {found}."),)


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
    """Hold reference points in one column with rho = |x - y|: sorting and running sums replace the pairs."""

    center: float  # median, which is subtracted from everything so that an offset costs no digits
    ascending: FloatArray  # (m,) sorted centred points
    sums: FloatArray  # (m + 1,) their running sums, from 0 on
    scale: float  # g(Y, Y)

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
    """Hold reference points and a semimetric; pairs with a sample are computed in blocks of rows."""

    points: FloatArray  # (m, d) the reference points
    metric: Metric  # fitted to them
    # own, scale: means of rho and of |rho| between them
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
