"""Estimate time and memory of a call, refuse or warn before it starts, and show a bar while it runs.

Every entry function that can take long says here what it is about to do, as one or more `Work`. Beyond the memory that
is available the call is refused, beyond a minute it warns, and from two seconds on it shows a bar in a terminal or
notebook. Nothing here touches random numbers, so that no result depends on it. The models are in `workloads`.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from energystats.exceptions import PerformanceWarning, warn

__all__ = [
    "MATRIX",
    "Rates",
    "Sample",
    "Work",
    "available_memory",
    "between_tables",
    "check_memory",
    "check_work",
    "count_text",
    "is_interactive",
    "part_of_a_longer_call",
    "seconds_for",
    "with_bar",
]


SHORT = 0.5  # seconds; a call that takes less at the slowest rates is not estimated further
WORTH_A_BAR = 2.0  # seconds
WORTH_A_WARNING = 60.0  # seconds
WRITTEN_OUT = 1e15  # numbers of things below it
SMALL = 2**26  # bytes that are not asked about
PROBE_SECONDS = 0.001  # of one run, after which the measurement of rho ends
RUNS = 5
SLOWEST_MACHINE = 5e-10, 5e-9, 2e-8, 2e-6  # seconds for a flop, a number read, one sorted, a small call
CLOCK_SECONDS = 1e-6  # resolution of a clock that can time them
PROBE_FROM, PROBE_ROWS = 64, 256  # rows; fewer tell more of the call than of the pairs
_within: ContextVar[bool] = ContextVar("within", default=False)
_warned_of_time: ContextVar[bool] = ContextVar("warned_of_time", default=False)  # a warning was given


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Describe one part of a call: the amounts of work by kind, and advice on how to need less."""

    what: str  # what it is, in the plural
    advice: str = ""  # what takes less of it, as a sentence
    pairs: float = 0.0  # values of rho
    flops: float = 0.0  # operations in products of matrices
    touched: float = 0.0  # numbers that loops go through
    ordered: float = 0.0  # numbers that are sorted, times the logarithm of how many there are to base 2
    steps: float = 0.0  # calls of small array functions
    bytes: float = 0.0  # memory
    seconds: float = 0.0  # time that was measured, of what is not known here, such as a user's function

    @property
    def amounts(self) -> tuple[float, ...]:
        """Return the estimated amounts of work of each kind, such as flops and sorted numbers, as a tuple."""
        return self.pairs, self.flops, self.touched, self.ordered, self.steps

    def times(self, count: float, *, what: str = "", advice: str = "") -> Work:
        """Return an estimate of work repeated `count` times, with the memory of one of these times."""
        pairs, flops, touched, ordered, steps = (count * amount for amount in self.amounts)
        found = replace(self, pairs=pairs, flops=flops, touched=touched, ordered=ordered, steps=steps)
        return replace(found, what=what or self.what, advice=advice or self.advice, seconds=count * self.seconds)

    def and_then(self, *others: Work) -> Work:
        """Return the sum of several estimates of work done one after the other; memory is that of the largest."""
        parts = (self, *others)
        pairs, flops, touched, ordered, steps = (
            math.fsum(column) for column in zip(*(part.amounts for part in parts), strict=True)
        )
        found = replace(self, pairs=pairs, flops=flops, touched=touched, ordered=ordered, steps=steps)
        seconds = math.fsum(part.seconds for part in parts)
        return replace(found, bytes=max(part.bytes for part in parts), seconds=seconds)


@dataclass(frozen=True, slots=True)
class Rates:
    """Hold the seconds needed for one unit of each kind of work."""

    pair: float
    flop: float
    touch: float
    order: float
    step: float

    @classmethod
    def slowest(cls, d: Any) -> Self:
        """Return seconds per unit of work that no current machine should exceed, as upper limits."""
        return cls(_limit_pair_rate(d) if getattr(d.metric, "trusted", False) else 2e-5, *SLOWEST_MACHINE)

    @classmethod
    def on_the_spot(cls, d: Any) -> Self:
        """Measure the seconds per unit of each kind of work on this machine, in a few milliseconds."""
        return cls(_find_pair_rate(d), *_measure_machine())


def seconds_for(work: Work, rates: Rates) -> float:
    """Estimate the seconds that an amount of work takes, given the seconds that a unit of each kind of work takes."""
    amounts = (amount * rate for amount, rate in zip(work.amounts, astuple(rates), strict=True))
    return work.seconds + math.fsum(amounts)


def _count_columns(d: Any) -> int:
    """Return the number of columns of the points, 1 for a dissimilarity matrix."""
    return max(1, int(d.n_columns))


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold points and a metric, for time estimates of calls that have no `Dissimilarity`."""

    metric: Any  # fitted to the points
    points: Any  # (n, d) some of them; without columns for a matrix
    has_points: ClassVar[bool] = True
    n_workers: ClassVar[int] = 1

    @property
    def n_columns(self) -> int:
        """Return the number of columns of the points."""
        return int(self.points.shape[1])


MATRIX = Sample(None, np.empty((0, 0)))  # no rho has to be made


def between_tables(n: int, m: int) -> Work:
    """Estimate the time and memory for the dissimilarities between all rows of two tables."""
    return Work(
        what=f"all pairs of {n} and {m} points", advice="Use fewer rows at a time.", pairs=n * m, bytes=12 * n * m
    )


# ---------------------------------------------------------------- rates


@cache
def _measure_machine() -> tuple[float, float, float, float]:
    """Measure the seconds to compute a flop, read a number, sort one (over log n) and make a small call; cached.

    Where something held up every run of a loop, the rate of the slowest machines is returned.
    """
    matrix, columns = np.ones((64, 64)), np.ones((64, 60))
    line, other = np.zeros(2**16), np.ones(2**16)
    mixed = np.sin(np.arange(2.0**13))
    small = np.ones(8)

    def products() -> None:  # too small for threads, which wait for each other where others use the machine
        for _ in range(20):
            matrix @ columns

    def many_small() -> None:
        for _ in range(100):
            np.add(small, small, out=small)

    least = partial(_measure_least_time, clock=_choose_clock())
    measured = (
        least(products) / (20 * 2 * 64 * 64 * 60) / _count_linear_algebra_threads() ** 0.75,
        least(lambda: np.subtract(line, other, out=line)) / 2**16,
        least(lambda: np.sort(mixed)) / (2**13 * 13),
        least(many_small) / 100,
    )
    flop, touch, order, step = map(min, measured, SLOWEST_MACHINE)
    return flop, touch, order, step


def _count_linear_algebra_threads() -> int:
    """Return the number of threads that linear algebra uses for a large matrix product."""
    from threadpoolctl import threadpool_info

    return max((int(each["num_threads"]) for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def _choose_clock() -> Callable[[], float]:
    """Choose a clock for timing short loops: processor time of the thread if fine enough, else wall time.

    After every product a thread waits for its turn in the interpreter, up to 5 ms each while others are busy, such as
    those of a Dask cluster that starts.
    """
    return time.thread_time if time.get_clock_info("thread_time").resolution < CLOCK_SECONDS else time.perf_counter


def _measure_least_time(task: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest time of five runs of a task, in seconds."""
    found = []
    for _ in range(RUNS):
        start = clock()
        task()
        found.append(clock() - start)
    return min(found)


_known: dict[tuple[str, int], float] = {}


def _find_pair_rate(d: Any) -> float:
    """Return the measured seconds for one dissimilarity; cached for the package's own metrics."""
    if not d.n_columns:
        return 0.0
    key = repr(d.metric), _count_columns(d)
    if key not in _known or not d.metric.trusted:
        if len(_known) > 100:
            _known.clear()
        _known[key] = _measure_pairs(d)
    return _known[key]


def _measure_pairs(d: Any) -> float:
    """Measure the seconds for one dissimilarity, on growing numbers of rows of the data."""
    if d.has_points:
        points = d.points
    else:  # a table that is not in memory
        points = np.sin(np.arange(float(PROBE_ROWS * _count_columns(d)))).reshape(PROBE_ROWS, -1)
    # a user's function may wait for something, or have threads of its own
    clock = _choose_clock() if d.metric.trusted else time.perf_counter
    size, rates = 4, []
    while True:
        rows = points[:size]
        own = np.arange(len(rows))
        try:
            spent = _measure_least_time(partial(d.metric.finite_between, rows, rows, same=(own, own)), clock)
        except Exception:  # the call itself will say what is wrong with a user's function
            return 1e-9 * (5 + _count_columns(d))
        rates.append(spent / len(rows) ** 2)
        # a clock of microseconds cannot time a few pairs, which take what the call itself does, and a process with
        # other threads is held up now and then: more of them are timed, sixteen times as many each time
        few = size < PROBE_FROM and spent < 10 * PROBE_SECONDS
        if (spent > PROBE_SECONDS and not few) or size >= min(PROBE_ROWS, len(points)):
            return min(*rates, _limit_pair_rate(d) if d.metric.trusted else math.inf)
        size *= 4


def _limit_pair_rate(d: Any) -> float:
    """Return the seconds for one dissimilarity that no current machine should exceed, for the package's own metrics."""
    return 2e-8 * (5 + _count_columns(d))


# ---------------------------------------------------------------- memory


def available_memory() -> float:
    """Return the bytes of memory that this process may still use; infinite if unknown."""
    return min(
        (limit for limit in (_read_free_memory(), *_read_container_limits()) if limit is not None), default=math.inf
    )


def _read_free_memory() -> float | None:
    """Return the available memory of the machine in bytes, or else its total memory; None if unknown."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return None


def _read_container_limits() -> Iterator[float | None]:
    """Yield the memory in bytes that a container still allows, for both versions of control groups."""
    for folder, limit, used, cached in (
        ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            allowed, taken = (float(Path(folder, name).read_text(encoding="ascii")) for name in (limit, used))
        except (OSError, ValueError):  # there is none, or its limit is "max"
            yield None
        else:
            yield allowed - max(taken - _read_file_cache(folder, cached), 0.0)


def _read_file_cache(folder: str, entry: str) -> float:
    """Return the bytes of files that a container keeps in memory until others need it; 0 if unknown."""
    try:
        for line in Path(folder, "memory.stat").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{entry} "):
                return float(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0.0


def check_memory(*works: Work) -> None:
    """Raise MemoryError with advice if the memory estimated for a call is not available."""
    # parts of a call may overlap in memory, so their sum is the safe estimate
    needed = math.fsum(work.bytes for work in works)
    if needed <= SMALL:
        return
    available = available_memory()
    if needed > available:
        largest = max(works, key=lambda work: work.bytes)
        share = "" if needed < 1.05 * largest.bytes else f" of the {_write_size(needed)} for this call"
        raise MemoryError(
            f"{largest.what[0].upper()}{largest.what[1:]} need {_write_size(largest.bytes)}{share}, and "
            f"{_write_size(available)} of memory are available. {largest.advice}".rstrip()
        )


# ---------------------------------------------------------------- the judgement


def check_work(progress: bool | None, d: Any, *works: Work) -> bool:
    """Check that a call fits into memory, warn if it will take long, and return whether to show a progress bar."""
    if not isinstance(progress, bool | np.bool_ | None):
        kind = type(progress).__name__
        raise TypeError(f"`progress` must be True, False or None, got {progress!r} of type {kind}.")
    # the slowest rates first: a call that is short even with them needs no measurement
    check_memory(*works)
    workers = d.n_workers
    seconds = _estimate_seconds(works, Rates.slowest(d))
    if seconds > SHORT:
        rates = Rates.on_the_spot(d)
        seconds = _estimate_seconds(works, rates) / (workers or 1)
    if not _within.get():
        _warned_of_time.set(bool(seconds > WORTH_A_WARNING and workers))
        if _warned_of_time.get():
            longest = max(works, key=lambda work: seconds_for(work, rates))
            warn(
                f"This call will take about {_write_time(seconds)} here, most of it for {longest.what}. "
                f"{longest.advice}".rstrip(),
                PerformanceWarning,
            )
    return seconds > WORTH_A_BAR and is_interactive() if progress is None else bool(progress)


def _estimate_seconds(works: tuple[Work, ...], rates: Rates) -> float:
    """Add up the estimated seconds of the parts of one function call."""
    return math.fsum(seconds_for(work, rates) for work in works)


@contextmanager
def part_of_a_longer_call() -> Iterator[None]:
    """Suppress warnings of long times inside the `with` block, because the outer call has given them."""
    token = _within.set(True)
    try:
        yield
    finally:
        _within.reset(token)


def is_interactive() -> bool:
    """Return whether the session is interactive, in a terminal or a notebook, so that a progress bar is seen."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _write_time(seconds: float) -> str:
    """Format a time in seconds as text: a whole number of seconds, minutes, hours, days or years."""
    units = (("year", 365.25 * 86_400), ("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0))
    unit, length = next((pair for pair in units if seconds >= 1.5 * pair[1]), ("second", 1.0))
    value = seconds / length
    return f"{value:.0f} {unit}s" if value < 10_000 else f"{value:.0e} {unit}s"


def _write_size(size: float) -> str:
    """Format an amount of memory in bytes as text in GiB."""
    value = size / 2**30
    return f"{value:.1f} GiB" if value < 9.5 else f"{count_text(value)} GiB"


def count_text(count: float) -> str:
    """Format a number of things as text, in full digits below 1e15, else in powers of ten."""
    return f"{count:.0f}" if count < WRITTEN_OUT else f"{count:.0e}"


Block = TypeVar("Block")


def with_bar(
    blocks: Iterable[Block],
    progress: bool,
    *,
    total: int,
    unit: str,
    size: Callable[[Block], int],
    more: str = " With progress=True it shows a bar.",
) -> Generator[Block, None, None]:
    """Yield blocks of work one by one, with a tqdm progress bar if asked for, else with a warning when it takes long.

    Without a bar, a call that was not expected to take a minute says so when it has, as on a machine that others use;
    `more` ends that warning.
    Where the caller does more than collect the blocks, `contextlib.closing` closes the bar when that fails.
    """
    if not progress:
        yield from blocks if _within.get() or _warned_of_time.get() else _warn_of_time(blocks, total, unit, size, more)
        return
    with warnings.catch_warnings():  # in a notebook without ipywidgets the bar is made of text, which needs no advice
        warnings.filterwarnings("ignore", message="IProgress not found")
        from tqdm.auto import tqdm

    with tqdm(total=total, unit=unit) as bar:
        for block in blocks:
            yield block
            bar.update(size(block))


def _warn_of_time(
    blocks: Iterable[Block], total: int, unit: str, size: Callable[[Block], int], more: str
) -> Generator[Block, None, None]:
    """Yield blocks of work one by one, and warn once if they are not done after a minute."""
    started, done = time.monotonic(), 0
    for block in blocks:
        yield block
        done += size(block)
        spent = time.monotonic() - started
        if spent > WORTH_A_WARNING and 0 < done < total and not _warned_of_time.get():
            _warned_of_time.set(True)
            units = unit + ("es" if unit.endswith("ch") else "s")
            warn(
                f"This call took {_write_time(spent)} for {done} of {total} {units}, so it may take about "
                f"{_write_time(spent * (total / done - 1))} more.{more}",
                PerformanceWarning,
            )
