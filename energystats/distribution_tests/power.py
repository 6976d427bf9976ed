"""Power of the energy test by simulation, for planning how many points to collect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from energystats._core.labelings import draw_key, stream_of
from energystats._core.pvalues import CONFIDENCE_LEVEL, fewest_draws, pvalue_interval, upper_pvalue
from energystats._core.statistics import energy_distances
from energystats._runtime import Sample, Work, check_work, with_bar
from energystats._typing import AnyArray, ArrayLike, FloatArray, RandomLike
from energystats.display.numbers import number, proportion
from energystats.display.result import Result
from energystats.display.sentences import metric_note, metric_text
from energystats.display.tables import TextTable, text_table
from energystats.dissimilarity import Dissimilarity, Groups, pool
from energystats.distribution_tests.permutation_test import STATISTICS, GroupComparison, Statistic, draw_null
from energystats.distribution_tests.samplers import Sampler, as_sampler, is_distribution, resampler
from energystats.doubtful_tables import warn_of_labels
from energystats.inputs.arrays import check_level
from energystats.inputs.labels import is_single
from energystats.inputs.methods import Sampling
from energystats.inputs.options import as_generator, check_count, check_flag, check_option, check_positive
from energystats.inputs.places import row_places
from energystats.inputs.table import as_table
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve
from energystats.pairs.line import power_on_line
from energystats.pairs.workloads import Size, kept, permutations

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PowerResult", "PowerRow", "energy_power"]


N_BOOTSTRAP = 999  # of pilot samples
STAND_IN = 1000  # draws from a distribution that is compared with a pilot sample, and rows of that at most


def energy_power(
    x: Any,
    y: Any,
    n: int | ArrayLike,
    *,
    ratio: float = 1.0,
    level: float = 0.05,
    n_replicates: int = 200,
    n_resamples: int = 199,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    statistic: str = "between",
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> PowerResult:
    r"""Estimate the power of `energy_test` at several sample sizes, by simulation from two distributions.

    Parameters
    ----------
    x, y : scipy.stats distribution, callable or array_like of shape (m,) or (m, d)
        What the samples are drawn from: a frozen distribution, a function sampler(size, rng) -> (size,) or (size, d),
        or a pilot sample of at least two rows, which are drawn with replacement (see Notes).
    n : int or sequence of int
        Size of the first sample, or several; each is simulated once, in rising order.
    ratio : float, default 1.0
        The second sample has round(ratio n) points (halves to the even number), at least one.
    level : float, default 0.05
        A pair of samples is rejected when p <= level. (n_resamples + 1) level should be a whole number: otherwise the
        test has a smaller level.
    n_replicates : int, default 200
        Pairs of samples for each size.
    n_resamples : int, default 199
        Random permutations of each pair; all labelings where there are no more than that.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho, but not "precomputed".
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2.
    statistic : {"between", "pairwise", "f"}, default "between"
        As for `energy_test`; with two samples all three have one power.
    standardize : bool, default False
        Z-scores of the pooled columns of each pair before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int, Generator or None, default None
        Seed of the simulation.

    Returns
    -------
    PowerResult
        `.table`, one row a size: power, its standard error and interval; `.sample_size(power=0.8)`; `.plot()`.

    Raises
    ------
    ValueError
        If x and y have different columns, a value is not finite, `level` cannot be reached with so few
        permutations, or an option is out of range.
    TypeError
        If x or y is none of the above, or a size is not a whole number.
    MemoryError
        If the work would not fit into the available memory.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_test : The test itself.

    Notes
    -----
    Every replicate has a random stream that depends on the seed, n and its own number alone. The standard error of a
    power P is :math:`\sqrt{P(1 - P)/n\_replicates}`.

    Pilot samples differ by chance, too. `power` is that of populations as far apart as the unbiased estimate of E says:
    rows of each pilot (of at most 1,000 of them), some from the other one. `pilot_low` and `pilot_high` are those at
    the ends of the 95 % bootstrap interval of E. Measured: `docs/distribution-tests.md`.
    O(n_replicates (n_x + n_y)^2 (d + n_resamples)) time for each size, three times that with a pilot, and the memory of
    one test.

    References
    ----------
    Szekely & Rizzo (2004) for the test; Clopper & Pearson (1934) for the intervals.

    Examples
    --------
    >>> import energystats as es
    >>> from scipy import stats
    >>> result = es.energy_power(stats.norm(0, 1), stats.norm(1, 1), [5, 20, 40], n_replicates=40, rng=0)
    >>> list(result.table.columns)
    ['n_x', 'n_y', 'power', 'standard_error', 'low', 'high', 'pilot_low', 'pilot_high']
    >>> bool(result.table["power"].is_monotonic_increasing), 5 < result.sample_size(0.8) <= 40
    (True, True)
    """
    check_option(statistic, "statistic", ("between", "pairwise", "f"))
    check_flag(standardize, "standardize")
    check_positive(ratio, "ratio")
    n_replicates = check_count(n_replicates, "n_replicates", low=1)
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    level = _check_reachable_level(level, n_resamples)
    sizes = [(n_x, max(1, round(ratio * n_x))) for n_x in _check_rising_sizes(n)]
    resolved = resolve(metric, alpha)
    if isinstance(resolved, Precomputed):
        raise ValueError('`metric` must not be "precomputed": samples are drawn, and rho is needed between new points.')
    sources, resolved = _sources_of(x, y, resolved)
    key = draw_key(as_generator(rng))
    rounds = 1 if all(source.rows is None for source in sources) else 3  # at E of the pilots, and at both ends
    calls = float(rounds * n_replicates * len(sizes))
    rows = [rounds * n_replicates * float(sum(column)) for column in zip(*sizes, strict=True)]
    seconds = sum(source.estimate_seconds(calls, count) for source, count in zip(sources, rows, strict=True))
    draws = Work(what="draws of samples", advice="Use fewer `n_replicates`, or a faster sampler.", seconds=seconds)
    progress = check_work(progress, *_plan_power(x, y, resolved, sizes, n_replicates, n_resamples, rounds), draws)
    pilot = _Pilot.of(sources, resolved, standardize, key) if rounds > 1 else None
    populations = [(sources, 1.0)] if pilot is None else pilot.populations()
    sampling = Sampling(n_resamples=n_resamples)
    simulation = _Simulation(sources, resolved, STATISTICS[statistic], standardize, sampling, level, key)
    decisions = (
        flag
        for i, (drawn, share) in enumerate(populations)
        for flag in replace(simulation, sources=drawn, share=share, warns=not i).decisions(sizes, n_replicates)
    )
    total = n_replicates * len(sizes) * rounds
    rejected = np.array(list(with_bar(decisions, progress, total=total, unit="replicate", size=lambda _: 1)))
    counts = rejected.reshape(rounds, len(sizes), n_replicates).sum(axis=2).T.tolist()
    if n_replicates > 1 and all(count in (0, n_replicates) for each in counts for count in each):
        for source, size in zip(sources, sizes[0], strict=True):
            source.check_varies(size)
    return PowerResult(
        rows=tuple(_row_of(pair, each, n_replicates) for pair, each in zip(sizes, counts, strict=True)),
        level=level,
        n_replicates=n_replicates,
        n_resamples=n_resamples,
        x=sources[0].label,
        y=sources[1].label,
        statistic_name=statistic,
        standardize=bool(standardize),
        metric=resolved,
        pilot_energy=None if pilot is None else pilot.unbiased,
        pilot_interval=None if pilot is None else pilot.interval,
        notes=(*_note_few_rows(sizes, level), *(() if pilot is None else pilot.notes)),
    )


def _note_few_rows(sizes: Sequence[tuple[int, int]], level: float) -> tuple[str, ...]:
    """Return a note on sample sizes too small for any p-value to reach the level."""
    few = [(n, m, (1 + (n == m)) / math.comb(n + m, n)) for n, m in sizes]
    hopeless = [f"{n} + {m} points (p at least {p:.3g})" for n, m, p in few if p > level]
    if not hopeless:
        return ()
    return (f"No p can reach the level {level:g} with {' and '.join(hopeless)}, whatever the populations.",)


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """Hold estimates of E between two populations from pilot samples, with a bootstrap interval."""

    statistic: float  # E of the samples as they are
    unbiased: float  # its unbiased form; may be negative
    interval: tuple[float, float]  # ends of the bootstrap interval of the E of the populations
    largest: float  # E of the bootstrap samples at the upper end, as they are
    sources: tuple[Sampler, Sampler]  # the pilots, or the part of each that all of this is about
    upper: tuple[Sampler, Sampler]  # those bootstrap samples
    thinned: tuple[str, ...] = ()  # notes on pilots of which only a part was taken

    @classmethod
    def of(cls, sources: tuple[Sampler, Sampler], metric: Metric, standardize: bool, key: AnyArray) -> _Pilot:
        """Estimate the energy distance of pilot samples, with a bootstrap interval."""
        stream = stream_of(key, 0, series=0)  # sizes, which number the other series, are at least 2
        parts = [source.draw(STAND_IN, stream) if source.rows is None else source.rows for source in sources]
        _check_same_width(parts)
        if all(source.rows is not None for source in sources):
            warn_of_labels(np.concatenate(parts), [len(part) for part in parts])
        parts, thinned = [_some_of(part, stream) for part in parts], _note_thinned_pilots(sources)
        # E must be that of what is mixed
        mixed = tuple(
            source if source.rows is None else resampler(part, source.argument)
            for source, part in zip(sources, parts, strict=True)
        )
        d = Dissimilarity.from_points(np.concatenate(parts), metric, standardize=standardize, warns=False)
        sizes = [len(part) for part in parts]
        Z = np.zeros((d.n, 2, 1 + N_BOOTSTRAP))
        # how often each row is drawn when every sample is drawn from itself, after the samples as they are
        for j, (start, size) in enumerate(zip((0, sizes[0]), sizes, strict=True)):
            drawn = stream.multinomial(size, np.full(size, 1 / size), size=N_BOOTSTRAP).T
            Z[start : start + size, j] = np.column_stack([np.ones(size), drawn])
        M, s = d.pairs.block_sums(Z), np.array(sizes, dtype=np.float64)
        plain, unbiased = (energy_distances(M, s, unbiased=flag)[:, 0, 1] for flag in (False, True))
        # the bootstrap is centred at the "v" form, the data at the unbiased one: that is the bias of resampling
        shift, order = unbiased[0] - plain[0], 1 + np.argsort(unbiased[1:], kind="stable")
        tail = (1 - CONFIDENCE_LEVEL) / 2
        first, last = (int(order[round(share * (N_BOOTSTRAP - 1))]) for share in (tail, 1 - tail))
        low, high = (max(float(unbiased[i] + shift), 0.0) for i in (first, last))
        pooled = np.concatenate(parts)
        x, y = (
            source if source.rows is None else resampler(np.repeat(pooled, counts, axis=0), source.argument)
            for source, counts in zip(sources, Z[:, :, last].T.astype(np.intp), strict=True)
        )
        energies = float(plain[0]), float(unbiased[0]), (low, high), float(plain[last])
        return cls(*energies, cast(tuple[Sampler, Sampler], mixed), (x, y), thinned)

    def populations(self) -> list[tuple[tuple[Sampler, Sampler], float]]:
        """Return two samplers and the share of their difference to keep, for unbiased E and its interval ends."""
        low, high = self.interval
        return [
            (self.sources, _share_of(self.unbiased, self.statistic)),
            (self.sources, _share_of(low, self.statistic)),
            (self.upper, _share_of(high, self.largest)),
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the energy distance of pilot samples, and whether it could be 0."""
        low, high = self.interval
        lines = (
            *self.thinned,
            f"E of the pilots is {number(self.statistic)}; without what chance adds to it on average, "
            f"{number(self.unbiased)}{', taken as 0, as E is never below it' * (self.unbiased < 0)}; 95 % interval "
            f"{number(low)} to {number(high)}. power is that at the second, pilot_low and pilot_high are those at the "
            "ends.",
        )
        if low > 0:
            return lines
        return *lines, "The pilots do not rule out equal populations: power may be as small as the level at any size."


def _share_of(wanted: float, E: float) -> float:
    """Compute what share of the difference of two distributions leaves `wanted` of their energy distance E."""
    # E is a square of the difference of two distributions: a share c of that leaves c^2 of it
    return math.sqrt(min(1.0, max(0.0, wanted / E))) if E > 0 else 0.0


def _note_thinned_pilots(sources: Sequence[Sampler]) -> tuple[str, ...]:
    """Return a note for each pilot with more than 1000 rows, of which only some are taken."""
    return tuple(
        f"Of the {len(source.rows)} rows of `{source.argument}`, {STAND_IN} drawn at random were taken as the pilot: "
        "E, its interval and the power are theirs."
        for source in sources
        if source.rows is not None and len(source.rows) > STAND_IN
    )


def _some_of(rows: FloatArray, stream: np.random.Generator) -> FloatArray:
    """Select at most 1000 random rows of a sample."""
    return rows if len(rows) <= STAND_IN else rows[stream.permutation(len(rows))[:STAND_IN]]


def _check_same_width(samples: Sequence[FloatArray]) -> None:
    """Raise ValueError if two samples have different numbers of columns."""
    widths = [sample.shape[1] for sample in samples]
    if widths[0] != widths[1]:
        raise ValueError(f"`x` and `y` must have the same number of columns, got {widths[0]} and {widths[1]}.")


def _plan_power(
    x: Any, y: Any, metric: Metric, sizes: list[tuple[int, int]], n_replicates: int, n_resamples: int, rounds: int
) -> tuple[Any, ...]:
    """Return points like the samples, the estimated work of all simulated tests, and the memory for their decisions."""
    pilot = next((value for value in (x, y) if not is_distribution(value)), None)
    points = np.sin(np.arange(64.0)).reshape(32, 2) if pilot is None else metric.read((pilot,), ("x",))[0][0]
    # without a pilot the work is that of two columns
    line = power_on_line(points, metric) == 1
    tests = [
        permutations(Size(n + m, points.shape[1], line=line), 2, n_resamples, bare=True).times(rounds * n_replicates)
        for n, m in sizes
    ]
    what = f"{n_replicates} tests of each of {len(sizes)} sizes, the largest {sum(sizes[-1])} rows"
    whole = tests[0].and_then(*tests[1:]).times(1, what=what, advice="Use fewer `n_replicates` or `n_resamples`.")
    flags = kept(n_replicates * len(sizes), "replicates", "Use fewer `n_replicates`.", copies=2.0 * rounds)
    with suppress(ValueError):  # the samples that are drawn will say so
        metric = metric.fitted(points)
    return Sample(metric, points), whole, flags


@dataclass(frozen=True, slots=True, eq=False)
class _Simulation:
    """Hold the settings that all replicates of a power simulation share."""

    sources: tuple[Sampler, Sampler]  # what the samples are drawn from
    metric: Metric  # not yet fitted to data
    statistic: Statistic  # what is compared
    standardize: bool  # whether columns are standardized
    sampling: Sampling  # how many permutations
    level: float  # largest p-value that rejects
    key: AnyArray  # (2,) what all streams follow from
    # share of the difference between the two that is left: the others of the rows come from either of them
    share: float = 1.0
    warns: bool = True  # whether scales of the first pair of samples are worth a warning

    def decisions(self, sizes: list[tuple[int, int]], n_replicates: int) -> Iterator[bool]:
        """Yield for each simulated pair of samples whether the test rejects, size by size."""
        for pair in sizes:
            for replicate in range(n_replicates):
                yield self.rejects(pair, replicate, warns=self.warns and pair == sizes[0] and replicate == 0)

    def draw(self, sizes: tuple[int, int], stream: np.random.Generator) -> list[FloatArray]:
        """Draw two samples from mixtures that keep a given share of the distributions' difference."""
        samples = [source.draw(size, stream) for source, size in zip(self.sources, sizes, strict=True)]
        _check_same_width(samples)
        if self.share < 1:
            for sample, other in zip(samples, reversed(self.sources), strict=True):
                # half of the rows that are mixed would come from their own distribution
                mixed = stream.random(len(sample)) < (1 - self.share) / 2
                sample[mixed] = other.draw(len(sample), stream)[mixed]
        return samples

    def rejects(self, sizes: tuple[int, int], replicate: int, *, warns: bool) -> bool:
        """Draw two samples, test them, and return whether the null hypothesis is rejected."""
        # a function of the seed, the size and the number alone: more replicates leave the others as they were
        stream = stream_of(self.key, replicate, series=sizes[0])
        samples = self.draw(sizes, stream)
        place = row_places(["a sample drawn from `x`", "a sample drawn from `y`"], sizes, [None, None])
        d = Dissimilarity.from_points(
            np.concatenate(samples), self.metric, standardize=self.standardize, warns=warns, place=place
        )
        groups = Groups(np.repeat([0, 1], sizes).astype(np.intp), ("x", "y"))
        null = draw_null(GroupComparison(d, groups, self.statistic, self.sampling, stream))
        return upper_pvalue(null.extreme, null.values.size) <= self.level


def _sources_of(x: Any, y: Any, metric: Metric) -> tuple[tuple[Sampler, Sampler], Metric]:
    """Build samplers from two distributions or pilot samples; return them, and the semimetric adapted to the pilots."""
    pilots = {name: value for value, name in ((x, "x"), (y, "y")) if not is_distribution(value)}
    if len(pilots) == 2:
        pool((x, y), metric)
    read, coded = metric.read(tuple(pilots.values()), tuple(pilots)) if pilots else ([], metric)
    if len(pilots) == 1 and not coded.reads_numbers:
        raise ValueError(
            f"`x` and `y` must both be pilot samples under {coded!r}: distributions give numbers only, without gaps."
        )
    points = dict(zip(pilots, read, strict=True))
    for name, array in points.items():
        coded.check(array, row_places([name], [len(array)], [as_table(pilots[name]).index]))
        if len(array) < 2:
            raise ValueError(f"`{name}` must have at least two rows where it is a pilot sample, got {len(array)}.")
    columns = next((as_table(value).columns for value in pilots.values()), None)
    first, second = (
        resampler(points[name], name) if name in points else as_sampler(value, name, columns)
        for value, name in ((x, "x"), (y, "y"))
    )
    # of two functions the first one says what the columns are
    return (first, second if pilots else replace(second, columns=first.find_columns())), coded


def _check_rising_sizes(n: Any) -> list[int]:
    """Check the sizes of the first sample, and return the distinct ones in ascending order."""
    values = [n] if is_single(n) else list(n)
    if not values:
        raise ValueError("`n` must hold at least one size, got none.")
    return sorted({check_count(value, "n", low=2) for value in values})


def _check_reachable_level(level: float, n_resamples: int) -> float:
    """Check that a level is not below the smallest possible p-value, and return it."""
    level = check_level(level)
    if n_resamples < fewest_draws(level):
        raise ValueError(
            f"`level` must be at least 1/(n_resamples + 1), the smallest p-value of {n_resamples} permutations, or "
            f"nothing is ever rejected; got {level:g}. Use n_resamples of {fewest_draws(level)} or more."
        )
    return level


def _row_of(sizes: tuple[int, int], counts: list[int], n_replicates: int) -> PowerRow:
    """Compute the power at one pair of sample sizes, with intervals, from numbers of rejections."""
    count, *ends = counts
    power = count / n_replicates
    low, high = pvalue_interval(count, n_replicates)
    error = math.sqrt(power * (1 - power) / n_replicates)
    row = PowerRow(n_x=sizes[0], n_y=sizes[1], power=power, standard_error=error, low=low, high=high)
    if not ends:
        return row
    # simulated, so that the ends may cross the middle by chance
    pilot_low, pilot_high = min(*ends, count), max(*ends, count)
    return replace(row, pilot_low=pilot_low / n_replicates, pilot_high=pilot_high / n_replicates)


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRow:
    """Hold the power at one pair of sample sizes, with its standard error and intervals."""

    # n_x, n_y: sizes of the two samples
    n_x: int
    n_y: int
    power: float  # share of the replicates that were rejected
    standard_error: float  # its binomial standard error
    # low, high: 95 % Clopper-Pearson interval of the power
    low: float
    high: float
    # pilot_low, pilot_high: power at the ends of the 95 % interval of E that the pilot samples leave; NaN without any
    pilot_low: float = math.nan
    pilot_high: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PowerResult(Result):
    """Hold the power of the energy test against sample size, estimated by simulation.

    Attributes
    ----------
    rows : tuple of PowerRow
        One for each size, rising.
    level : float
        A replicate is rejected when its p-value is at most this.
    n_replicates : int
        Simulated pairs of samples for each size.
    n_resamples : int
        Random permutations of each.
    x, y : str
        The two distributions in words.
    statistic_name : {"between", "pairwise", "f"}
        Which statistic.
    standardize : bool
        Whether the columns were standardized.
    metric : Metric
        As it was given: what depends on the data is fitted again for each replicate.
    pilot_energy : float or None
        Unbiased estimate of E from the pilot samples, at which `power` is given; None without any.
    pilot_interval : tuple of float or None
        95 % bootstrap interval of the E of their populations.
    notes : tuple of str
        Sizes at which no p can reach the level, and what pilot samples leave open.
    """

    rows: tuple[PowerRow, ...] = field(repr=False)
    level: float
    n_replicates: int
    n_resamples: int
    x: str
    y: str
    statistic_name: str
    standardize: bool
    metric: Metric
    pilot_energy: float | None = None
    pilot_interval: tuple[float, float] | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with the power and its intervals at each pair of sample sizes."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    @property
    def fitted(self) -> FloatArray:
        """Fit the power as a non-decreasing function of sample size, by isotonic regression."""
        from scipy.optimize import isotonic_regression

        return np.asarray(isotonic_regression([row.power for row in self.rows]).x)

    def sample_size(self, power: float = 0.8) -> float:
        """Compute the smallest size of the first sample at which the fitted power curve reaches `power`, or NaN.

        Read off the isotonic fit, linear between the simulated sizes and rounded up to a whole number. NaN where none
        of them has that power: nothing is extrapolated, so simulate larger sizes. The smallest of them where it already
        has that power; then a smaller size may do.
        """
        if check_positive(power, "power") >= 1:
            raise ValueError(f"`power` must satisfy 0 < power < 1, got {power:g}.")
        fitted, sizes = self.fitted, [row.n_x for row in self.rows]
        enough = np.flatnonzero(fitted >= power)
        if enough.size == 0:
            return math.nan
        j = int(enough[0])
        if j == 0:
            return float(sizes[0])
        share = (power - fitted[j - 1]) / (fitted[j] - fitted[j - 1])
        return float(math.ceil(sizes[j - 1] + share * (sizes[j] - sizes[j - 1]) - 1e-9))

    def _tables(self) -> list[TextTable]:
        heads = ["power", "standard error", "low", "high"] + ["pilot low", "pilot high"] * (
            self.pilot_energy is not None
        )
        cells = [
            list(map(proportion, (row.power, row.standard_error, row.low, row.high, row.pilot_low, row.pilot_high)))[
                : len(heads)
            ]
            for row in self.rows
        ]
        stubs = [f"n = {row.n_x} + {row.n_y}" for row in self.rows]
        return [text_table(cells, heads, stubs, f"Power of the energy test at level {self.level:g}")]

    def _sentences(self) -> list[str]:
        return [
            "Null hypothesis of the test: x and y come from one distribution. Power: how often it is rejected.",
            f"x: {self.x}. y: {self.y}.",
            f"Method: permutation test (statistic: {self.statistic_name}) of {self.n_replicates} replicates a size, "
            f"{self.n_resamples} permutations each, or all labelings where they are no more; low and high: 95 % "
            "interval of the power. Another seed moves a power by about its standard error.",
            *self.notes,
            metric_note(self.metric, None)[:-1] + (", columns standardized." if self.standardize else "."),
        ]

    def _conclusion(self) -> str:
        needed = self.sample_size()
        asked = f"takes about {needed:g} points of x"
        if math.isnan(needed):
            asked = "is not reached by these sizes"
            if max(row.power for row in self.rows) >= 0.8:
                asked += ", though one has it by chance: powers that rise with n were fitted"
        elif needed == self.rows[0].n_x:
            asked = f"takes {needed:g} points of x or fewer"
        return f"Power .8 {asked}, if the populations are as x and y."

    def _frame(self) -> pd.DataFrame:
        """Return the table of powers as a data frame, with the options of the simulation repeated in every row."""
        return self.table.assign(
            level=self.level,
            n_replicates=self.n_replicates,
            n_resamples=self.n_resamples,
            metric=metric_text(self.metric),
            standardized=self.standardize,
        )

    def _main_columns(self) -> tuple[str, ...]:
        pilots = tuple(name for name in map(str, self.table) if name.startswith("pilot"))
        return ("n_x", "n_y", "power", "low", "high", *pilots)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw power against the size of the first sample with intervals, and return the axes."""
        from energystats.plotting.null_distributions import plot_power

        of_pilots = self.pilot_energy is not None
        return plot_power(
            [row.n_x for row in self.rows],
            [row.power for row in self.rows],
            [(row.pilot_low, row.pilot_high) if of_pilots else (row.low, row.high) for row in self.rows],
            ax,
            level=self.level,
            needed=self.sample_size(0.8),
            distributions=(self.x, self.y),
            bars="at the ends of the pilots' interval of E" if of_pilots else "95 % interval",
        )
