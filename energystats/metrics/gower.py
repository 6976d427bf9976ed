"""Define Gower's distance between rows of tables with numbers, categories and missing values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import numpy as np

from energystats._core.gower import GRADED, MATCHED, PRESENCE, gower_between
from energystats._typing import ArrayLike, FloatArray
from energystats.inputs.arrays import check_likeness, read_only
from energystats.inputs.columns import Columns, encode
from energystats.inputs.names import check_one_column, list_names
from energystats.inputs.options import check_alpha
from energystats.inputs.places import Fault, Place
from energystats.metrics.base import Metric, SamePairs, pair_with_itself

__all__ = ["Gower"]

COMMON = "needs a column of some weight in which both rows have a value"
KINDS_AT_ONCE, MOST_KINDS = 2_000, 20_000  # patterns of gaps, compared with all others


@dataclass(frozen=True, slots=True, repr=False)
class Gower(Metric):
    r"""Define rho = (1 - s)**alpha by Gower's general coefficient s, for tables of numbers and categories.

    Parameters
    ----------
    alpha : float, default 1.0
        0.001 <= alpha <= 2. At 1 the root of rho is Gower's Euclidean distance sqrt(1 - s).
    asymmetric : sequence of str, default ()
        Columns of presence and absence (truth values, or 0 and 1) in which two absences say nothing: weight 0.
    weights : mapping of str to float, or sequence of float, optional
        Weights of columns by name, 1 for the others; or of all columns in their order. Not negative, and the largest
        at most 1e9 times the smallest positive one.

    Raises
    ------
    ValueError
        If `alpha` is below 0.001 or above 2, or a weight is negative or not finite. When it meets a table: if
        `asymmetric` or `weights` name no column of it, a value is infinite, a row has no value, two rows have no column
        in common, or a category is unknown to a metric that was fitted before.
    TypeError
        If `asymmetric` is a string or `weights` are no numbers. When it meets a column of another type, such as dates.

    Warns
    -----
    MissingValuesWarning
        If a column has no value at all; it is left out.

    Notes
    -----
    With weights w_k, s_ij is the mean of s_ijk over the columns k in which both rows have a value. Numbers:
    s = 1 - \|x - y\|/range, the range taken over the table (over the pooled samples); a constant column has s = 1.
    Ordered categoricals: the same with the ranks of their levels. Other categoricals, text and truth values: 1 where
    they match, else 0. **Numbers that name categories have to be declared**: ``.astype("category")``. Missing values
    (NaN, None, NA) are allowed. These are the rules of `daisy` of R's package cluster, except that it takes truth
    values as asymmetric, and a column with presences only as one of absences.

    Where nothing is missing, rho is of negative type for alpha <= 1: 1 - \|x - y\|/range, matching and joint presence
    are positive semi-definite, so is their sum, and so is it divided by what joint absences leave of the weights
    [theory 1]. With missing values it need not be. For alpha = 1, nothing missing and no asymmetric column, rho is a
    sum over columns, and so is the energy distance: it sees how the distributions of single columns differ, and not
    how columns depend on each other. Any alpha < 1 sees both, since powers below 1 of a metric of negative type are of
    strong negative type [Lyons 2013].

    Rows that come later, as in `predict`, may lie beyond the range; \|x - y\|/range is then larger than 1.
    O(n m d) time for the rho of n and m rows, O(n m) memory.

    References
    ----------
    Gower (1971) for the coefficient and its definiteness; Kaufman & Rousseeuw (1990) for ranks of ordered categories;
    Lyons (2013) for strong negative type.

    Examples
    --------
    >>> import pandas as pd, energystats as es
    >>> table = pd.DataFrame({"age": [20.0, 30.0, 60.0], "sex": ["f", "m", "f"], "smokes": [True, None, False]})
    >>> es.pairwise(table, metric="gower").round(3).values.tolist()
    [[0.0, 0.625, 0.667], [0.625, 0.0, 0.875], [0.667, 0.875, 0.0]]
    """

    mixes_units: ClassVar[bool] = False
    by_range: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True
    alpha: float = 1.0
    asymmetric: Sequence[str] = ()
    weights: Mapping[str, float] | Sequence[float] | None = field(default=None, hash=False)
    coding: Columns | None = field(default=None, kw_only=True, compare=False)
    ranges: FloatArray | None = field(default=None, kw_only=True, compare=False)
    beyond: bool = field(default=False, kw_only=True, compare=False)  # whether rows lie beyond ranges fitted before

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if isinstance(self.asymmetric, str):
            raise TypeError(f"`asymmetric` must be a sequence of column names, got the string {self.asymmetric!r}.")
        object.__setattr__(self, "asymmetric", tuple(map(str, self.asymmetric)))
        if self.weights is not None:
            object.__setattr__(self, "weights", _check_column_weights(self.weights))
        if self.ranges is not None:
            object.__setattr__(self, "ranges", read_only(self.ranges))

    def __repr__(self) -> str:
        words = [f"alpha={self.alpha}"]
        if self.coding is not None:
            words.append(str(self.coding))
        elif self.asymmetric:
            words.append(f"asymmetric={list(self.asymmetric)}")
        if self.weights is not None:
            words.append("weighted" if self.coding is not None else f"weights={self.weights!r}")
        return f"Gower({', '.join(words)})"

    @property
    def negative_type(self) -> bool | None:  # type: ignore[override]
        """Return whether rho is of negative type: True for alpha <= 1 and complete data [Gower 1971], else None."""
        if self.coding is None or not self.coding.complete or (self.beyond and self.asymmetric):
            return None
        return True if self.alpha <= 1 else None

    @property
    def strong_negative_type(self) -> bool | None:
        """Return whether only equal distributions have energy distance 0: True for alpha < 1; None if not known."""
        if not self.negative_type or self.coding is None or self.coding.where("asymmetric").size or self.weights:
            return None
        # at alpha = 1 rho is a sum over columns, which sees marginal distributions alone [theory 1]
        return True if self.alpha < 1 else False if len(self.coding.names) > 1 else None

    @property
    def notes(self) -> tuple[str, ...]:
        if self.coding is not None and not self.coding.complete:
            return (
                "Values are missing: equality of distributions includes where they are missing, and rho need not be "
                "of negative type, so that S may be negative.",
            )
        if self.alpha != 1 or self.coding is None or len(self.coding.names) < 2 or self.coding.where("asymmetric").size:
            return ()
        return (
            "At alpha = 1 Gower's coefficient is a sum over columns: it sees how the distributions of single columns "
            "differ, not how columns depend on each other; alpha < 1 sees both.",
        )

    def read(self, tables: Sequence[Any], names: Sequence[str]) -> tuple[list[FloatArray], Metric]:
        known = self.coding if self.ranges is not None else None
        arrays, coding = encode(tables, names, asymmetric=self.asymmetric, known=known)
        return arrays, self.with_coding(coding)

    def check(self, X: FloatArray, place: Place, columns: Sequence[str] | None = None, *, within: bool = True) -> None:
        """Raise `RowError` if a row has no value, or shares no column of some weight with another; O(n^2) at most."""
        if (bare := np.isnan(X).all(axis=1)).any():
            raise self.refused(Fault(int(bare.argmax()), "has none", "needs a value in every row", "drop it"), place)
        if not within or self.coding is None:  # numbers that were read for another metric have no gaps
            return
        known = ~np.isnan(X[:, self.column_weights() > 0])
        if 2 * known.sum(axis=1).min() > known.shape[1]:  # more than half of the columns each: any two share one
            return
        kinds, first = np.unique(known, axis=0, return_index=True)  # few, where gaps are rare
        if len(kinds) > MOST_KINDS:  # the pairs that are compared are looked at then, in `finite_between`
            return
        here = kinds.astype(np.float32)
        for block in np.array_split(np.arange(len(kinds)), -(-len(kinds) // KINDS_AT_ONCE)):
            apart = np.argwhere(here[block] @ here.T == 0)
            if len(apart):
                pairs = np.sort(np.column_stack((first[block[apart[:, 0]]], first[apart[:, 1]])), axis=1)
                i, j = map(int, pairs[np.lexsort(pairs.T[::-1])[0]])
                raise self.refused(Fault(i, "has none in common with", COMMON, "drop one of them", j), place)

    def with_coding(self, coding: Columns) -> Gower:
        """Return Gower's metric with a given coding of columns; raise if options do not fit these columns."""
        _check_known_columns(self.asymmetric, coding.names, "asymmetric")
        if isinstance(self.weights, Mapping):
            _check_known_columns(self.weights, coding.names, "weights")
        elif self.weights is not None and len(self.weights) != len(coding.names):
            raise ValueError(f"`weights` must have one weight a column, {len(coding.names)}, got {len(self.weights)}.")
        resolved = replace(self, coding=coding)
        if self.weights is not None:
            _check_column_likeness(resolved.column_weights())
        return resolved

    def under(self, other: Metric, columns: Sequence[str]) -> Metric:
        coding = Columns.numeric(columns, complete=True) if other.coding is None else other.coding
        coded = {coding.names[j] for j in coding.where("asymmetric")}
        if coded != set(self.asymmetric):
            raise ValueError(
                f"`metric` {self!r} and {other!r} must name the same `asymmetric` columns to be used on one table."
            )
        return replace(self.with_coding(coding), ranges=None)

    def fitted(self, X: FloatArray) -> Gower:
        """Return Gower's metric with column ranges computed from the rows of X.

        If it has ranges already it keeps them, and notes whether the rows reach beyond.
        """
        if self.ranges is not None:
            # rows beyond the fitted range may have 1 - |x - y|/range below 0, outside of the proof of negative type
            graded = self.coding.where("numeric", "ordered") if self.coding is not None else slice(None)
            return replace(self, beyond=bool((_compute_ranges(X)[graded] > self.ranges[graded]).any()))
        resolved = self
        if self.coding is None:
            names = map(str, range(X.shape[1]))
            resolved = self.with_coding(Columns.numeric(names, complete=not bool(np.isnan(X).any())))
            if self.asymmetric:
                (X,), metric = self.read((X,), ("X",))
                resolved = cast(Gower, metric)
        return replace(resolved, ranges=_compute_ranges(X))

    def column_weights(self) -> FloatArray:
        """Return the weight of every column in Gower's coefficient; (d,)."""
        assert self.coding is not None
        if isinstance(self.weights, Mapping):
            return np.array([self.weights.get(name, 1.0) for name in self.coding.names])
        return np.ones(len(self.coding.names)) if self.weights is None else np.asarray(self.weights)

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        assert self.coding is not None
        assert self.ranges is not None  # `fitted` comes first
        weights = self.column_weights()
        # s_ijk of [Gower 1971]: graded for numbers and ranks, matched for categories, presence for asymmetric columns
        how = np.full(weights.size, MATCHED)
        graded = self.coding.where("numeric", "ordered")
        graded = graded[self.ranges[graded] > 0]  # a constant column matches or does not
        how[graded] = GRADED
        how[self.coding.where("asymmetric")] = PRESENCE
        d = gower_between(X, Y, self.ranges, weights, how)
        return d if self.alpha == 1 else np.asarray(np.power(d, self.alpha, out=d))

    def finite_between(
        self, X: FloatArray, Y: FloatArray, row: int = 0, column: int = 0, *, same: SamePairs | None = None
    ) -> FloatArray:
        rho = self.between(X, Y)
        if same is not None:
            rho[same] = 0.0  # two absences in all columns say nothing, but of one row they say enough
        if np.isnan(rho).any():
            i, j = np.argwhere(np.isnan(rho))[0]
            raise ValueError(
                f"{self.spoken} {COMMON}, but rows {row + i} and {column + j} have none in common; drop one of them."
            )
        return rho

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Compute a kernel that generates Gower's dissimilarity, (1 - dissimilarity)/2; (n, m)."""
        (points, others), metric = self.read_pair(X, Y)
        same = pair_with_itself(len(points)) if Y is None else None
        return np.asarray(0.5 * (1.0 - metric.fitted(points).finite_between(points, others, same=same)))


def _check_column_weights(weights: object) -> dict[str, float] | tuple[float, ...]:
    """Check weights of columns, and return them as floats; raise for invalid, negative or very unlike ones."""
    if (
        getattr(weights, "ndim", 1) == 0
        or isinstance(weights, str)
        or not isinstance(weights, Mapping | Sequence | np.ndarray)
    ):
        hint = "; `weights.to_dict()` goes by name" if hasattr(weights, "to_dict") else ""
        raise TypeError(f"`weights` must be a mapping or a sequence, got {type(weights).__name__}{hint}.")
    named = weights if isinstance(weights, Mapping) else dict(enumerate(weights))
    found: dict[str, float] = {}
    for name, value in named.items():
        if isinstance(value, bool | str) or not np.isreal(value) or np.ndim(value) != 0:
            raise TypeError(f"`weights` must be numbers, got {value!r} for column {name!r}.")
        if not 0 <= value < np.inf:
            raise ValueError(f"`weights` must be finite and not negative, got {value:g} for column {name!r}.")
        found[str(name)] = float(value)
    _check_column_likeness(np.array(list(found.values())))
    if isinstance(weights, Mapping):
        return found
    if not any(found.values()):
        raise ValueError("`weights` must not all be zero.")
    return tuple(found.values())


def _check_column_likeness(weights: FloatArray) -> None:
    """Raise ValueError if the positive weights of columns differ by more than a factor 1e9."""
    if (weights > 0).any():
        check_likeness(weights[weights > 0], "weights", "a column that hardly counts has weight 0")


def _compute_ranges(X: FloatArray) -> FloatArray:
    """Compute the range of each column, missing values left out; 0 if a column has no value; (n, d) -> (d,)."""
    return np.asarray(np.nan_to_num(np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)))


def _check_known_columns(given: Iterable[str], columns: Sequence[str], argument: str) -> None:
    """Raise ValueError if one of some names is not the name of a column of the table."""
    for name in given:
        if name not in columns:
            hint = list_names(name, columns)
            raise ValueError(f"`{argument}` names {name!r}, but there is no such column.{hint}")
        check_one_column(name, columns, argument)
