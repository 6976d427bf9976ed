"""Whole tables under a null hypothesis: columns permuted on their own, or draws of the user's model [theory 5].

A test that compares the clusters of the data with those of such tables has an exact level, whatever the clusters are
found by: under the null hypothesis the data are one of these tables. So every table is read like the data, and what
was fitted to the data (ranges, a covariance matrix, a median distance) is fitted to it again.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from energystats._core.labelings import arrangements, count_labelings
from energystats._typing import FloatArray, IntArray
from energystats.clustering.exact_1d import has_exact
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity
from energystats.inputs.names import near_names
from energystats.inputs.options import children
from energystats.inputs.places import row_places
from energystats.inputs.table import InputTable, as_table, check_same_columns
from energystats.metrics.base import Metric

__all__ = ["Null", "PermutedColumns", "TableNull", "UserModel", "check_null", "held", "null_name", "table_null"]


Null: TypeAlias = str | Callable[[np.random.Generator], Any]
Usable: TypeAlias = Callable[[Dissimilarity], Dissimilarity]  # prepares a table, or raises ValueError
ALIKE = 10  # tables of a model, which then draws no other; a few small ones are alike by chance
DRAWN_AGAIN = 10_000  # times, until tables that the metric refuses are an error
NOT_CLUSTERS = Caution(
    "Correlation in a single cloud is rejected too, and clusters in one column alone are not seen.",
    "Rejecting means that columns depend on each other in a way that makes S/T larger. Clusters do that, and so do two "
    "normal columns with correlation .5, which are one cluster: they were rejected in .98 of samples (n = 100, level "
    ".05). Clusters that differ in one column alone leave the columns independent.",
)
NOT_THE_MODEL = Caution(
    "A rejection means that the data have clusters, or differ from the model in something else.",
    "Tables of the model hardly ever have so large an S/T then. p is exact for data from the model itself; parameters "
    "that were estimated from the same data make it approximate.",
)


def held(d: Dissimilarity) -> Dissimilarity:
    """Return a table with its dissimilarity matrix stored, one column as it is; raise if some rho is undefined."""
    return d if has_exact(d) else d.stored()


class Visit(NamedTuple):
    """Hold the tables to compare with, their number, and whether they are all tables that permutations give."""

    exact: bool
    total: int
    tables: Iterator[tuple[Dissimilarity, np.random.Generator]]


class TableNull(Protocol):
    """Define a null hypothesis from which whole tables are drawn.

    Attributes
    ----------
    name : str
        For tables of results.
    hypothesis : str
        A sentence.
    """

    @property
    def name(self) -> str: ...

    @property
    def hypothesis(self) -> str: ...

    def visit(self, n_resamples: int, rng: np.random.Generator, usable: Usable) -> Visit:
        """Return all other distinct tables if these are fewer than `n_resamples`, else `n_resamples` random ones."""

    def draws(
        self, n_resamples: int, rng: np.random.Generator, usable: Usable = held
    ) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Yield random tables drawn under the null hypothesis, each with a generator for clustering it."""

    def notes(self) -> tuple[str, ...]:
        """Return notes on what rejecting a null hypothesis on tables means, and on tables left out."""


@dataclass(slots=True, eq=False)
class PermutedColumns:
    """Draw tables with every column of the data permuted on its own, categories and missing values included."""

    d: Dissimilarity  # the data, standardized if asked for
    metric: Metric  # as the user gave it, not fitted
    n_refused: int = 0  # tables that were left out
    reason: str = ""  # why the last of them was

    @property
    def name(self) -> str:
        return "permuted columns"

    @property
    def hypothesis(self) -> str:
        return "the columns are independent"

    def table(self, points: FloatArray) -> Dissimilarity:
        """Return a table with permuted columns as a `Dissimilarity`; fit the metric anew unless it codes categories.

        The ranges of coded columns are changed by no permutation.
        """
        metric = self.metric if self.d.metric.coding is None else self.d.metric
        place = row_places(["the permuted table"], [self.d.n], [None])
        return Dissimilarity.from_points(points, metric, columns=self.d.columns, warns=False, place=place)

    def codes(self) -> list[IntArray]:
        """Return each column of a table coded as 0, 1, ..., missing values as one code; d arrays of shape (n,)."""
        return [np.unique(column, return_inverse=True)[1].astype(np.intp) for column in self.d.points.T]

    def count(self) -> float:
        """Count the distinct tables with permuted columns, where the column with most permutations stays fixed."""
        counts = sorted(count_labelings(np.bincount(codes)) for codes in self.codes())[:-1]
        return math.prod(counts) if sum(map(math.log, counts)) < 700 else math.inf

    def visit(self, n_resamples: int, rng: np.random.Generator, usable: Usable) -> Visit:
        count = self.count()
        if count > n_resamples:
            return Visit(False, n_resamples, self.draws(n_resamples, rng, usable))
        return Visit(True, int(count) - 1, self.every(rng, usable))

    def every(self, rng: np.random.Generator, usable: Usable) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        """Yield all distinct tables with permuted columns except the data, each with a random generator."""
        codes, points = self.codes(), self.d.points
        fixed = int(np.argmax([count_labelings(np.bincount(each)) for each in codes]))
        values = [np.unique(column) for column in points.T]
        ways = [[each] if j == fixed else list(arrangements(each)) for j, each in enumerate(codes)]
        for chosen in itertools.product(*ways):
            if all(np.array_equal(a, b) for a, b in zip(chosen, codes, strict=True)):
                continue  # the data, which p counts in any case
            try:
                drawn = usable(self.table(np.column_stack([v[c] for v, c in zip(values, chosen, strict=True)])))
            except ValueError as error:
                self.leave_out(error)
                continue
            yield drawn, rng.spawn(1)[0]

    def draws(
        self, n_resamples: int, rng: np.random.Generator, usable: Usable = held
    ) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        for child in children(rng, n_resamples):
            yield self.one(usable, child), child

    def one(self, usable: Usable, rng: np.random.Generator) -> Dissimilarity:
        """Draw a table with randomly permuted columns, again until the metric accepts it.

        Data that the metric refuses are not tested, so the data are one of the tables that it takes, each as likely.
        """
        for _ in range(DRAWN_AGAIN):
            try:
                return usable(self.table(rng.permuted(self.d.points, axis=0)))
            except ValueError as error:
                self.leave_out(error)
        raise ValueError(
            f'`null="independent"` permutes the columns, and under {self.metric.spoken} {DRAWN_AGAIN} such tables in a '
            f"row could not be used, the last one because: {self.reason} Leave out columns with few values, or "
            "add a constant column, which no permutation changes (for Bray-Curtis a species that each sample has once)."
        )

    def leave_out(self, error: ValueError) -> None:
        """Count one more table that could not be used, as one that the metric refuses, and keep the error message."""
        self.n_refused += 1
        self.reason = str(error)

    def notes(self) -> tuple[str, ...]:
        if not self.n_refused:
            return (NOT_CLUSTERS,)
        return NOT_CLUSTERS, (
            f"{self.n_refused} permuted tables were left out because data like them would have been refused, the last "
            f"because: {self.reason}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class UserModel:
    """Draw tables by a function of the user, and read them like the data."""

    model: Callable[[np.random.Generator], Any]  # takes a generator, returns a table with the rows and columns of X
    X: InputTable  # the data as the user gave them
    d: Dissimilarity  # the data as they were read
    metric: Metric  # as the user gave it, not fitted

    @property
    def name(self) -> str:
        return null_name(self.model)

    @property
    def hypothesis(self) -> str:
        return f"the table is a draw of the model {self.name}"

    def visit(self, n_resamples: int, rng: np.random.Generator, usable: Usable) -> Visit:
        return Visit(False, n_resamples, self.draws(n_resamples, rng, usable))

    def draws(
        self, n_resamples: int, rng: np.random.Generator, usable: Usable = held
    ) -> Iterator[tuple[Dissimilarity, np.random.Generator]]:
        n_alike, first = 0, np.empty(0)
        for number, child in enumerate(children(rng, n_resamples), start=1):
            # how much the model draws must not decide where the search starts
            drawing, searching = child.spawn(2)
            try:
                values = self.model(drawing)
            except Exception as error:
                error.add_note(f"`null` {self.name} failed in draw {number}.")
                raise
            try:
                drawn = usable(self.read(as_table(values)))
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(
                    f"`null` must return tables that can be read as `X`; draw {number} of {self.name} cannot: {error} "
                    "A table has all rows of `X`: in the function, draw again until one can be read."
                ) from error
            first = drawn.points if number == 1 else first
            n_alike += np.array_equal(drawn.points, first)
            varied = np.ptp(first, axis=0).any() and not np.array_equal(first, self.d.points)
            if number == n_alike == ALIKE and varied:
                raise ValueError(
                    f"`null` {self.name} drew the same table {ALIKE} times: it must draw from the generator that it is "
                    "given, as in lambda rng: rng.normal(size=X.shape)."
                )
            yield drawn, searching

    def read(self, table: InputTable) -> Dissimilarity:
        """Read a table drawn from a user's model as the data were: categories coded alike, the metric fitted anew."""
        both = (self.X, table) if self.d.metric.coding is not None else (table,)
        arrays, coded = self.metric.read(both, ("X", "table")[-len(both) :])
        points = arrays[-1]
        if points.shape != self.d.points.shape:
            raise ValueError(f"its shape must be {self.d.points.shape}, got {points.shape}.")
        check_same_columns((self.X, table), [points.shape[1]] * 2, ("X", "the drawn table"))
        return Dissimilarity.from_points(
            points,
            coded,
            standardize=self.d.standardization is not None or None,
            columns=self.d.columns,
            warns=False,
            place=row_places(["the drawn table"], [len(points)], [table.index]),
        )

    def notes(self) -> tuple[str, ...]:
        return (NOT_THE_MODEL,)


def check_null(null: object, fitted: tuple[str, ...]) -> None:
    """Raise an error unless `null` is "independent", a function, or a known distribution fitted to data."""
    known = (*fitted, "independent")
    if isinstance(null, str) and null not in known:
        raise ValueError(
            f"`null` must be one of {', '.join(known)}; got {null!r}.{near_names(null, known)} A model of your own is "
            "a function of a random generator that returns a table."
        )
    if not isinstance(null, str) and (not callable(null) or isinstance(null, type)):
        raise TypeError(
            f"`null` must be one of {', '.join(known)}, or a function of a random generator that returns a table; got "
            f"{null!r:.60} of type {type(null).__name__}."
        )
    if callable(null):
        try:
            inspect.signature(null).bind(None)
        except TypeError as error:
            raise TypeError(
                f"`null` must be a function of one argument, a random generator, and return a table; {null_name(null)} "
                f"cannot be called so: {error}."
            ) from None
        except ValueError:  # a function of C without a signature
            return


def null_name(null: Null) -> str:
    """Return the name of a null distribution, or of the function that draws from it."""
    return null if isinstance(null, str) else getattr(null, "__name__", type(null).__name__).strip("<>")


def table_null(null: Null, X: InputTable, d: Dissimilarity, metric: Metric) -> PermutedColumns | UserModel | None:
    """Return what draws tables under "independent" or a user's model; None for a null that is fitted to the points."""
    if isinstance(null, str) and null != "independent":
        return None
    what = 'null="independent"' if isinstance(null, str) else f"null={null_name(null)}"
    if not d.has_points:
        raise ValueError(
            f"`{what}` compares the data with other tables, whose rho has to be computed from their columns; a matrix "
            "has no columns, and blocks of rows are not in memory. Give the table, and `metric=`: a name, or a "
            "function of two tables, rho(X, Y)."
        )
    if not isinstance(null, str):
        return UserModel(null, X, d, metric)
    if d.n_columns < 2:
        raise ValueError(
            f"`{what}` asks whether columns depend on each other and needs at least two, got {d.n_columns}. For one "
            'column take null="unimodal".'
        )
    permuted = PermutedColumns(d, metric)
    if not d.all_coincide and permuted.count() == 1:
        raise ValueError(f"`{what}` needs at least two columns that vary: no permutation changes this table.")
    return permuted
