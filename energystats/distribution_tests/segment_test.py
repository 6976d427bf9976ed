"""Whether, and where, the distribution of ordered rows changes: breaks found again in permuted orders."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from energystats._core.labelings import draw_key
from energystats._core.pvalues import (
    count_extreme,
    fewest_draws,
    pvalue_interval,
    smallest_exact_pvalue,
    upper_pvalue,
)
from energystats._core.segments import OrderScan, count_orders, draw_orders, enumerate_orders, scan_orders
from energystats._runtime import check_work, with_bar
from energystats._typing import AnyArray, ArrayLike, FloatArray, RandomLike
from energystats.clustering.segments import Segments, describe_segments, order_points
from energystats.display.numbers import interval_text, number, numbers, p_text, probability
from energystats.display.sentences import Caution, exact_note, metric_note, note_negative, seed_note, state_evidence
from energystats.display.tables import TextTable, decomposition_table, text_table
from energystats.dissimilarity import Dissimilarity, note_one_rho
from energystats.inputs.arrays import check_level
from energystats.inputs.names import write_label
from energystats.inputs.options import as_generator, check_count, check_flag
from energystats.metrics.base import MetricLike
from energystats.pairs.ordered import panels_of
from energystats.pairs.workloads import Size, one_sum, scanned_orders

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["BreakTest", "SegmentTestResult", "segment_test"]


EXACT_UP_TO = 5040  # orders, of seven rows
ERRORS = 3.0  # standard errors, beyond which neighbours are said to be alike
ORDINARY = 200  # power of two, beyond which the unit is changed
PAIRS_AT_ONCE = 64  # of neighbours


def segment_test(
    X: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    min_size: int = 2,
    order: ArrayLike | str | None = None,
    block_length: int | None = None,
    max_breaks: int | None = None,
    level: float = 0.05,
    n_resamples: int = 199,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> SegmentTestResult:
    r"""Test whether the distribution of ordered rows changes somewhere, and find the breaks.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points in their order, of time, depth or a place on a line; with ``metric="precomputed"`` the matrix of rho,
        square or condensed.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. With 2 means are compared; a change of spread can reject too.
    min_size : int, default 2
        Rows of a segment, at least.
    order : array_like of shape (n,) or str, optional
        Numbers, dates or ordered categories by which the rows are sorted first, no two alike; or the name of a column
        of the data frame `X`, which is then no part of the data. None: the rows as they stand.
    block_length : int, optional
        Rows of the blocks that are permuted, where neighbours depend on each other. None is 1, single rows.
    max_breaks : int, optional
        Stop after so many breaks. None: go on until a test does not reject.
    level : float, default 0.05
        Level of each test, 1e-9 <= level < 1.
    n_resamples : int, default 199
        Random permutations; all orders are visited where they are no more than that, or than 5,040.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int, Generator or None, default None
        Seed of the permutations.

    Returns
    -------
    SegmentTestResult
        `.pvalue` (of no break at all), `.breakpoints` and `.breaks` (those declared), `.table` (every test), `.labels`,
        `.plot()`, `.plot_profile()`.

    Raises
    ------
    ValueError
        If `min_size`, `block_length` or `n_resamples` leave nothing to test, or `order` has ties or gaps.
    TypeError
        If `X` does not hold real numbers, or `order` holds text.
    MemoryError
        If the work would not fit into the available memory.

    See Also
    --------
    segment : The best cut into a number of segments that is given.
    energy_test : Groups of rows that were known beforehand.

    Notes
    -----
    The statistic is the largest Z of a run of b rows against the others: their S, less its mean and divided by its
    standard deviation over all orders, which have a formula, times :math:`(4b(n - b)/n^2)^{1/4}`, so that a few odd
    rows count less. Runs begin or end with the rows; those inside, which see changes that go back, have their ends
    between 48 cells of the order, and count .6. If the order means nothing, all orders of the rows (or of their blocks;
    rows that fill no block stay at the end) are equally likely: the test of "no break at all" is exact for every n,
    dimension and rho, ties included. Then the segments that are there are searched together, with rows permuted within
    them, until p is above `level`. So where there is no break, none is declared with probability 1 - `level` at least.
    Later breaks are tested inside segments that were estimated: their level is measured, up to twice the nominal one.

    All pairs are read at every n, once for all m orders: O(m n^2) time, O(m n) memory, n x n never held.

    References
    ----------
    Matteson & James (2014), A nonparametric approach for multiple change point analysis of multivariate data, JASA 109,
    with S as it is; Chen & Zhang (2015), Annals of Statistics 43, for a standardized scan; Csorgo & Horvath (1997),
    Limit Theorems in Change-Point Analysis, for weights.

    Examples
    --------
    >>> import numpy as np
    >>> import energystats as es
    >>> x = np.random.default_rng(2).normal(size=60)
    >>> x[40:] += 2
    >>> found = es.segment_test(x, rng=0)
    >>> found.pvalue, found.breakpoints.tolist()
    (0.005, [40])
    """
    check_flag(standardize, "standardize")
    level = check_level(level)
    n_resamples = check_count(n_resamples, "n_resamples", low=1)
    generator = as_generator(rng)
    ordered = order_points(X, order, metric=metric, alpha=alpha, standardize=standardize)
    d = ordered.d
    if d.n < 2:
        raise ValueError("`X` must have two rows at least, got 1: there is nothing to cut.")
    min_size = check_count(min_size, "min_size", low=1, high=d.n // 2, why=f", half of the {d.n} rows")
    length = 1 if block_length is None else check_count(block_length, "block_length", low=1)
    if d.n // length < 2:
        raise ValueError(f"`block_length` must leave two blocks at least: {d.n} rows have no two of {length}.")
    most = d.n if max_breaks is None else check_count(max_breaks, "max_breaks", low=1)
    if count_orders(d.n // length) > max(EXACT_UP_TO, n_resamples) and n_resamples < fewest_draws(level):
        raise ValueError(
            f"`n_resamples` must be at least {fewest_draws(level)} for a p-value of {level:g} (`level`), got "
            f"{n_resamples}."
        )
    size = Size.of(d)
    progress = check_work(progress, d, scanned_orders(size, n_resamples, 2.0), one_sum(size, 2.0))
    search = _BreakSearch(d, min_size, length, n_resamples, draw_key(generator), progress, {})
    tests = _find_breaks(search, level, most)
    declared = [test.breakpoint for test in tests if test.declared]
    fields, between = describe_segments(ordered, np.sort(np.array(declared, dtype=np.intp)))
    within = float(fields["within_per_segment"].sum())
    first, whole = tests[0], search.scan((0, d.n), exact=tests[0].method == "exact")
    return SegmentTestResult(
        **fields,
        statistic=first.statistic,
        pvalue=first.pvalue,
        pvalue_interval=first.pvalue_interval,
        method=first.method,
        n_resamples=first.n_resamples,
        null_hypothesis=_state_hypothesis(d.n, length),
        level=level,
        block_length=length,
        tests=tuple(tests),
        profile=whole.profile,
        null_distribution=whole.best[1:],
        within=within,
        between=between,
        total=within + between,
        min_size=min_size,
        notes=(
            *ordered.notes,
            *note_one_rho(d, between, within + between, len(fields["sizes"])),
            *note_negative(within, between, within + between),
            *_note_few_orders(first, d.n, length, level),
            *_note_neighbours(d, fields["sizes"], fields["within_per_segment"], length),
        ),
    )


def _state_hypothesis(n: int, length: int) -> str:
    """Return the null hypothesis of a test for breaks as text."""
    if length == 1:
        return f"the order of the {n} rows means nothing: all their orders are equally likely"
    rest = f", the last {n % length} rows aside" if n % length else ""
    return (
        f"the order of {n // length} blocks of {length} rows means nothing: all their orders are equally likely{rest}"
    )


# ---------------------------------------------------------------- the search


@dataclass(frozen=True, slots=True)
class BreakTest:
    """Hold the test of one break in ordered rows."""

    breakpoint: int  # place at which the second of the new segments starts
    # first, last: first and last place of the segment that it divides
    first: int
    last: int
    statistic: float  # Z, the largest of all runs: S in standard deviations over all orders, weighted
    run: tuple[int, int]  # first and last place of the rows that have this Z against the others of the segment
    between: float  # S of the two new segments: what the break lowers W by
    pvalue: float  # share of orders with a run of so large a Z
    pvalue_interval: tuple[float, float]  # 95 % Clopper-Pearson interval of the p-value of infinitely many permutations
    method: Literal["exact", "permutation"]  # whether all orders were visited
    n_resamples: int  # orders, the observed one among them where all were visited
    declared: bool  # whether p is at most the level


@dataclass(frozen=True, slots=True, eq=False)
class _BreakSearch:
    """Hold the points, options and segments that the tests of all breaks share."""

    d: Dissimilarity  # points in their order
    # min_size, length, n_resamples: rows of a segment, rows of a block, and random orders
    min_size: int
    length: int
    n_resamples: int
    key: AnyArray  # of the random orders
    progress: bool  # whether to show a bar
    # what is known of segments, which do not change when others are divided
    scans: dict[tuple[int, int, bool], OrderScan]

    def is_open(self, part: tuple[int, int]) -> bool:
        """Return whether a segment is long enough to be divided and its rows permuted."""
        rows = part[1] - part[0]
        return rows >= 2 * self.min_size and rows // self.length >= 2

    def count(self, part: tuple[int, int]) -> float:
        """Count the orders in which the rows of a segment, or its blocks of rows, can be permuted."""
        return count_orders((part[1] - part[0]) // self.length)

    def scan(self, part: tuple[int, int], *, exact: bool) -> OrderScan:
        """Compute the largest break statistic of a segment, in the given order and in permuted ones; cached."""
        known = (*part, exact)
        if known not in self.scans:
            low, high = part
            n = high - low
            if exact:
                orders = enumerate_orders(n, self.length)
            else:
                # a stream of its own for every segment, whichever were looked at before
                drawn = draw_orders(n, self.length, self.n_resamples, self.key, series=low * (self.d.n + 1) + high)
                orders = np.concatenate((np.arange(n, dtype=np.int32)[None], drawn))
            panels = with_bar(self.panels(low, high), self.progress, total=n, unit="row", size=lambda p: p[1].shape[1])
            self.scans[known] = scan_orders(panels, orders, self.min_size)
        return self.scans[known]

    @property
    def exponent(self) -> int:
        """Find the power of two near the mean dissimilarity, to divide by; 0 if squares cannot overflow."""
        found = int(np.frexp(self.d.scale / self.d.n)[1])
        return found if abs(found) > ORDINARY else 0

    def panels(self, low: int, high: int) -> Iterator[tuple[int, FloatArray]]:
        """Yield dissimilarities among rows of a segment, a few columns at a time."""
        return panels_of(self.d, slice(low, high), self.exponent)

    def cut_beside(self, part: tuple[int, int], run: tuple[int, int]) -> int:
        """Choose the break of a segment from the run of rows that differs most from the other rows.

        Of a run inside, the best cut of the run and the rows on one side of it is taken, of the side with the larger
        Z: the ends of such runs lie between cells, and so the cut need not be one of them.
        """
        (low, high), (first, end) = part, run
        if first == 0 or end == high - low:
            return first or end
        found = []
        for start, stop in ((0, end), (first, high - low)):
            order = np.arange(stop - start, dtype=np.int32)[None]
            own = scan_orders(self.panels(low + start, low + stop), order, self.min_size)
            largest, cut = own.best_cut()
            found.append((largest, start + cut))
        return max(found, key=lambda each: each[0])[1]


def _find_breaks(search: _BreakSearch, level: float, most: int) -> list[BreakTest]:
    """Test for breaks one by one, adding the best break of all segments until a test does not reject."""
    parts, tests = [(0, search.d.n)], list[BreakTest]()
    while len(tests) < most and any(map(search.is_open, parts)):
        test = _test_next_break(search, [part for part in parts if search.is_open(part)], level)
        tests.append(test)
        if not test.declared:
            break
        at = parts.index((test.first, test.last + 1))
        parts[at : at + 1] = [(test.first, test.breakpoint), (test.breakpoint, test.last + 1)]
    return tests


def _test_next_break(search: _BreakSearch, parts: list[tuple[int, int]], level: float) -> BreakTest:
    """Test for a further break: its statistic, the largest of all segments, against permutations within segments."""
    exact = math.prod(map(search.count, parts)) <= max(EXACT_UP_TO, search.n_resamples)
    scans = [search.scan(part, exact=exact) for part in parts]
    tolerance = max(scan.tolerance for scan in scans)
    observed = max(float(scan.best[0]) for scan in scans)
    # of ties the first segment, and in it the first cut
    chosen = next(i for i, scan in enumerate(scans) if scan.best[0] >= observed - tolerance)
    cut = search.cut_beside(parts[chosen], scans[chosen].run)
    if exact:  # all orders of one segment with all of the others
        values: FloatArray = reduce(lambda a, b: np.maximum.outer(a, b).reshape(-1), (scan.best for scan in scans))
    else:
        values = np.max([scan.best for scan in scans], axis=0)
    extreme = count_extreme(observed, values[1:], tolerance)
    others = values.size - 1
    pvalue = upper_pvalue(extreme, others)
    low, high = parts[chosen]
    return BreakTest(
        breakpoint=low + cut,
        first=low,
        last=high - 1,
        statistic=observed,
        run=(parts[chosen][0] + scans[chosen].run[0], parts[chosen][0] + scans[chosen].run[1] - 1),
        between=float(np.ldexp(scans[chosen].between[cut - 1], search.exponent)),
        pvalue=pvalue,
        pvalue_interval=(pvalue, pvalue) if exact else pvalue_interval(extreme, others),
        method="exact" if exact else "permutation",
        n_resamples=others + exact,
        declared=pvalue <= level,
    )


# ---------------------------------------------------------------- notes


def _note_few_orders(test: BreakTest, n: int, length: int, level: float) -> tuple[str, ...]:
    """Return a note if rows, or blocks of rows, have so few orders that no p-value can be small."""
    if test.method != "exact":
        return ()
    # orders that surely give the same run: of rows those within each of the two parts, and read backwards; of blocks,
    # whose rows keep their order, those of the blocks on either side of one that a break cuts
    n_blocks = n // length
    cut = 0 if length == 1 else 1
    alike = (2 - cut) * math.factorial((n_blocks - cut) // 2) * math.factorial(n_blocks - cut - (n_blocks - cut) // 2)
    smallest = smallest_exact_pvalue(test.n_resamples, alike)
    if smallest <= level:
        return ()
    what = "rows" if length == 1 else "blocks"
    return (
        f"{n_blocks} {what} have {test.n_resamples} orders, and no data could give a p-value below "
        f"{smallest:.2g}: this test cannot reject at level {level:g}.",
    )


def _note_neighbours(d: Dissimilarity, sizes: tuple[int, ...], within: FloatArray, length: int) -> tuple[str, ...]:
    """Return a caution if neighbouring rows are alike but single rows were permuted.

    If the rows of a segment are exchangeable, neighbours are as far apart on average as all its rows.
    """
    inside = np.setdiff1d(np.arange(1, d.n), np.cumsum(sizes))
    if length > 1 or inside.size < 3:
        return ()
    near = np.concatenate([
        np.diagonal(d.rho(part - 1, part)) for part in np.array_split(inside, -(-inside.size // PAIRS_AT_ONCE))
    ])  # fmt: skip
    segment = np.repeat(np.arange(len(sizes)), sizes)[inside]
    far = (2 * within / np.maximum(np.array(sizes) - 1, 1))[segment]  # over pairs of different rows
    gap = far - near
    if not gap.mean() > ERRORS * gap.std(ddof=1) / math.sqrt(gap.size):
        return ()
    return (
        Caution(
            f"Neighbouring rows are more alike than others of their segment (mean rho {float(near.mean()):.4g} against "
            f"{float(far.mean()):.4g}), and rows that depend on their neighbours are not exchangeable:",
            "p may be far too small. `block_length=` permutes whole blocks; see `docs/segments.md` for its level.",
        ),
    )


# ---------------------------------------------------------------- the result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SegmentTestResult(Segments):
    """Hold the tests of breaks in ordered rows, and the segments between the breaks that were declared.

    Attributes
    ----------
    statistic : float
        The largest Z of a run of rows against the others: S in standard deviations over all orders, weighted.
    pvalue : float
        Share of orders whose largest Z reaches it, the observed one included: of no break at all.
    pvalue_interval : tuple of float
        95 % Clopper-Pearson interval of the p-value of infinitely many permutations.
    method : {"exact", "permutation"}
        Whether all orders were visited.
    n_resamples : int
        Orders: random ones, or all, the observed one among them.
    null_hypothesis : str
        The question that the p-value answers.
    level : float
        Level of each test.
    block_length : int
        Rows that were permuted together.
    tests : tuple of BreakTest
        Every test in its order; the last does not reject, unless `max_breaks` or too short segments ended the search.
    profile : ndarray of shape (n - 1,)
        Z of all cuts into two segments, the second starting at place 1, 2, ...; NaN where one would be too short.
    null_distribution : ndarray of shape (m,)
        The largest Z of the other orders.
    labels : ndarray of shape (n,)
        Segment of each row of the data as they were given, 0..k-1 in their order.
    k : int
        Number of segments: breaks that were declared, and one.
    sizes : tuple of int
        Rows per segment.
    breakpoints : ndarray of shape (k - 1,)
        Places in the order, from 0, at which new segments start; `breaks` has the values of the order there.
    within, between, total : float
        W, S and T of the segments, in the unit of rho.
    within_per_segment : ndarray of shape (k,)
        The summands of W.
    min_size : int
        Rows that a segment must have.
    rows : ndarray of shape (n,)
        Row of the data at each place in the order.
    places : pandas.Index or None
        Values of the order, sorted, or names of the rows as they stand.
    order_name : str
        What the values are; empty where that is not known.
    block_sums, block_sizes : ndarray of shape (m, m), (m,)
        Sums of rho between rows, or between runs of a few rows each of a long series, and their rows, for pictures.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    points : ndarray of shape (n, d) or None
        The (standardized) data in their order; None for a precomputed matrix or mixed columns.
    columns : tuple of str or None
        Names of the columns of a data frame.
    index : pandas.Index or None
        Names of the rows as they were given, behind `names` and `to_series()`.
    notes : tuple of str
        Whether neighbours are alike, few orders, and what is to be known of the order.
    """

    _label_columns = ("break",)

    statistic: float
    pvalue: float
    pvalue_interval: tuple[float, float]
    method: Literal["exact", "permutation"]
    n_resamples: int
    null_hypothesis: str
    level: float
    block_length: int
    tests: tuple[BreakTest, ...] = field(repr=False)
    profile: FloatArray = field(repr=False)
    null_distribution: FloatArray = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with one row per test of a break: position, segment, statistic, p, decision."""
        import pandas as pd

        return pd.DataFrame({
            "break": [self._place(test.breakpoint) for test in self.tests],
            "breakpoint": [test.breakpoint for test in self.tests],
            "first": [test.first for test in self.tests],
            "last": [test.last for test in self.tests],
            "between": [test.between for test in self.tests],
            "statistic": [test.statistic for test in self.tests],
            "run_first": [test.run[0] for test in self.tests],
            "run_last": [test.run[1] for test in self.tests],
            "pvalue": [test.pvalue for test in self.tests],
            "declared": [test.declared for test in self.tests],
            "method": [test.method for test in self.tests],
            "n_resamples": [test.n_resamples for test in self.tests],
        })  # fmt: skip

    def _frame(self) -> pd.DataFrame:
        """Return the table of tests for breaks, with the settings of the call as further columns."""
        return self.table.assign(level=self.level, block_length=self.block_length, **self._shared())

    def _main_columns(self) -> tuple[str, ...]:
        return ("break", "between", "statistic", "pvalue", "declared")

    def _headings(self) -> dict[str, str]:
        return {"between": "S", "statistic": "Z"}

    def _tables(self) -> list[TextTable]:
        sums = numbers([test.between for test in self.tests])
        ratios = numbers([test.statistic for test in self.tests], 4)
        rows = [
            [write_label(self._place(test.breakpoint)), write_label(self._place(test.first)),
             write_label(self._place(test.last)), s, z, probability(test.pvalue), "yes" if test.declared else "no"]
            for test, s, z in zip(self.tests, sums, ratios, strict=True)
        ]  # fmt: skip
        heads = ["starts at", "in segment from", "to", "S", "Z", "p", "declared"]
        title = "Test of breaks in ordered rows"
        stubs = [f"break {j + 1}" for j in range(len(rows))]
        tables = [text_table(rows, heads, stubs, title, self.order_name)]
        if self.k > 1:
            tables += [
                self._table_of_segments("Segments"),
                decomposition_table(self.within, self.between, self.total),
            ]
        return tables

    def _sentences(self) -> list[str]:
        lines = [
            f"Null hypothesis of break 1: {self.null_hypothesis}.",
            "Z is S of a run of rows against the others of its segment, less its mean over all orders, in standard "
            "deviations; short runs, and those inside, count less.",
        ]
        lines += [
            f"Break {j}: its Z is that of the rows from {write_label(self._place(test.run[0]))} to "
            f"{write_label(self._place(test.run[1]))} against the others of the segment; the break is the best cut of "
            "these rows and those on one side of them."
            for j, test in enumerate(self.tests, 1)
            if test.first < test.run[0] and test.run[1] < test.last
        ]
        if len(self.tests) > 1:
            lines.append(
                "Later breaks are tested inside segments that were found: their level is measured, not proved, and up "
                "to twice the nominal one after a change of spread. The "
                f"first p above {self.level:g} ends the search."
            )
        if self.method == "exact":
            lines.append(exact_note(self.n_resamples, "orders"))
        else:
            lines.append(f"95 % interval of the first p: {interval_text(self.pvalue_interval)}.")
            lines.append(seed_note(self.pvalue, self.n_resamples, "random orders"))
        return [*lines, *self.notes, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        return state_evidence(self.pvalue, "of a change in this order", level=self.level)

    def plot_profile(self, ax: Axes | None = None) -> Axes:
        """Draw Z of every cut into two segments, of the run with the largest Z inside, and what few orders reach."""
        from energystats.plotting.segments import plot_profile

        limit = float(np.quantile(self.null_distribution, 1 - self.level, method="higher"))
        others = sum(test.declared for test in self.tests[1:])
        more = f" (thin: {others} later break{'s' * (others > 1)})" if others else ""
        title = f"First break: largest Z = {number(self.statistic)}, {p_text(self.pvalue)}{more}"
        first = self.tests[0]
        drawn = self._drawn() | {"title": title, "best": first.breakpoint, "run": (*first.run, first.statistic)}
        del drawn["notes"]
        return plot_profile(self._axis(), self.profile, ax, limit=limit, level=self.level, **drawn)

    def _drawn(self) -> dict[str, Any]:
        found = {test.breakpoint: p_text(test.pvalue, short=True) for test in self.tests}
        return {**Segments._drawn(self), "notes": [found[b] for b in self.breakpoints.tolist()]}

    def _title(self) -> str:
        found = f"{self.k - 1} break{'s' * (self.k != 2)}" if self.k > 1 else "no break"
        return f"{found} at level {self.level:g}, n = {self.labels.size}, first {p_text(self.pvalue)}"
