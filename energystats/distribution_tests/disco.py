"""Distance components: the total dispersion decomposed by factors and covariates."""

from __future__ import annotations

import itertools
import numbers
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from energystats._typing import ArrayLike, BoolArray, RandomLike
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.designs import Design, check_design
from energystats.distribution_tests.disco_result import ROWS_OF_TABLE, DiscoResult
from energystats.distribution_tests.found_groups import notes_on_variable
from energystats.distribution_tests.term_tests import (
    Decomposition,
    ModelQuestion,
    TermOptions,
    linear_model_test,
    one_way_test,
)
from energystats.inputs.arrays import as_numbers, check_whole_numbers
from energystats.inputs.formulas import Term, check_table, find_complete_rows, missing_in, parse
from energystats.inputs.labels import WORDS_AS_GAPS, is_single, notes_on_names, read_labels
from energystats.inputs.methods import MethodLike, read_method, refuse_stop
from energystats.inputs.names import check_one_column, list_names
from energystats.inputs.options import as_generator, check_flag, check_option
from energystats.inputs.places import Fault, Place, RowError, row_places
from energystats.inputs.table import InputTable, as_table, match_rows
from energystats.metrics.base import Metric, MetricLike
from energystats.metrics.domains import truths_as_numbers
from energystats.metrics.general import Precomputed
from energystats.metrics.gower import Gower
from energystats.metrics.lookup import resolve
from energystats.pairs.disk import Rows
from energystats.pairs.open_blocks import opened

__all__ = ["disco"]


MOST_CODES = 12  # of numbered groups
MOST_OF_CODES = 2 / 3  # of these numbers are there, or they are doses
DATES = ("date", "datetime", "datetime64", "time", "timedelta", "timedelta64", "period")


def disco(
    X: ArrayLike | str,
    formula: str | None = None,
    *,
    groups: ArrayLike | None = None,
    data: Any = None,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    decomposition: str = "sequential",
    method: MethodLike = "auto",
    n_resamples: int | None = None,
    design: Design | None = None,
    missing: str = "raise",
    standardize: bool = False,
    progress: bool | None = None,
    client: Any = None,
    rng: RandomLike = None,
) -> DiscoResult:
    r"""Decompose the total dispersion by factors and covariates, and test each by permutation (distance components).

    ``disco(X, groups=g)``, ``disco("y1 + y2 ~ a * b", data=frame)`` or ``disco(X, "~ a * b", data=frame)``.
    **A formula is run as Python code**, as R runs its own: never take one from strangers.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d), or str
        Points, a matrix with ``metric="precomputed"``, or what `energy_test` reads in blocks. Or a formula with its
        responses on the left side, joined by +; with ``metric="gower"`` they may be categorical columns.
    formula : str, optional
        With points in `X`: a formula without a left side, such as "~ a * b".
    groups : array_like of shape (n,), or str, optional
        Group of each row, or the name of the column of a Parquet file or Dask frame; found clusters are warned of.
    data : DataFrame, optional
        The columns that the formula names, one row a point.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2; at 2 means alone are compared.
    decomposition : {"sequential", "marginal"}, default "sequential"
        "sequential" adjusts a term for the terms before it (type I), "marginal" for all that do not contain it, as
        a:b contains a (type II).
    method : {"auto", "exact", "permutation"} or Permutation, default "auto"
        As for `energy_test`, without `stop_at` and `extrapolate`; "exact" is for a single factor.
    n_resamples : int, optional
        Random permutations, the same ones for all terms: 999, or the number of `method`.
    design : Design, optional
        ``es.Design(strata=block)``, or ``es.Design(strata="block")`` for a column of `data`; no pairs, no whole plots.
    missing : {"raise", "drop"}, default "raise"
        Rows with gaps in columns that are used; dropped before expressions are computed (R: after). "gower" keeps gaps.
    standardize : bool, default False
        Z-scores (divisor n) of the columns of points or responses before distances.
    progress : bool or None, default None
        Show a bar. None: if the estimated time is above two seconds and a terminal or notebook can show it.
    client : distributed.Client, optional
        Dask cluster that does the work, as in `energy_test`.
    rng : int, Generator or None, default None
        Seed of the permutations.

    Returns
    -------
    DiscoResult
        `.table` (df, dispersion, F, R2 and p of every term), `.statistic` (F of the whole model), `.pvalue` and more.

    Raises
    ------
    ValueError
        If the formula cannot be read, has no intercept or names no column; if values are missing; if a factor has one
        level, a cell is empty, a term adds nothing, or nothing is left to permute or for the residual.
    TypeError
        If the points are not real numbers, `data` is not a data frame, or levels or labels cannot be sorted.
    ConnectionError, MemoryError
        If the cluster goes away, or the work would not fit into the available memory.

    See Also
    --------
    energy_test, pairwise_tests : One factor, with a choice of statistics; which groups differ.

    Notes
    -----
    With G the centred Gram matrix of rho and :math:`Q_t` an orthonormal basis of what term t adds, its dispersion is
    :math:`S_t = \mathrm{tr}(Q_t' G Q_t)`, and :math:`F_t = (S_t/\mathrm{df}_t) / (W/\mathrm{df}_{res})`. Tests of a
    single factor and of the whole model are exact; other terms permute residuals, which is approximate: of the columns
    by least squares (the other terms add up in location), or, of a matrix and of metrics that compare no differences,
    in the feature space of rho, where for alpha < 2 two shifts along one line are an interaction; p of an interaction
    is the larger of both. With strata, p of an adjusted term is of the model with these in it. Formulas,
    levels, and cost, O(n^2 (d + r n_resamples)) time a term, O(n r n_resamples) memory: `docs/distribution-tests.md`.

    References
    ----------
    Rizzo & Szekely (2010); McArdle & Anderson (2001); Freedman & Lane (1983) and Anderson & ter Braak (2003).

    Examples
    --------
    >>> import energystats as es
    >>> result = es.disco("sepal_length + sepal_width ~ species", data=es.datasets.load("iris"), rng=0)
    >>> result.table.round(3).values.tolist()[0]
    [2.0, 31.422, 42.368, 0.366, 0.001]
    """
    check_option(decomposition, "decomposition", ("sequential", "marginal"))
    check_option(missing, "missing", ("raise", "drop"))
    check_flag(standardize, "standardize")
    sampling = read_method(method, n_resamples, ("auto", "exact", "permutation"))
    refuse_stop(sampling, "disco")
    how = TermOptions(sampling, cast(Decomposition, decomposition), as_generator(rng), progress)
    entry = _EntryOptions(resolve(metric, alpha), standardize)
    asks_by_formula = isinstance(X, str) and not _names_file(X, formula, groups)
    if asks_by_formula and client is not None:
        raise ValueError(
            "`client` takes the points `X` to workers, and a formula with responses has none: write "
            'disco(data[[...]], "~ g", data=data, client=client) with the responses as points, or leave `client` out.'
        )
    columns = {"groups": groups, "strata": _strata_alone(design)}
    tables, (read_groups, strata) = opened(() if asks_by_formula else (X,), columns, client)
    points = X if asks_by_formula else tables[0]
    if asks_by_formula or formula is not None:
        _check_one_question(points, formula, groups)
        question = _by_formula(points, formula, data, strata, missing, entry, marginal=decomposition == "marginal")
    else:
        question = _by_groups(tables[0], read_groups, data, strata, missing, entry)
    _check_names_of_terms(question.terms)
    one_way = question.factor()
    return linear_model_test(question, how) if one_way is None else one_way_test(question, one_way, how)


# ---------------------------------------------------------------- the question


@dataclass(frozen=True, slots=True, eq=False)
class _EntryOptions:
    """Hold the options of `disco` for reading points: the semimetric, and whether columns are standardized."""

    metric: Metric
    standardize: bool

    @property
    def takes_matrix(self) -> bool:
        """Return whether the metric is "precomputed", so that a dissimilarity matrix is expected."""
        return isinstance(self.metric, Precomputed)

    @property
    def takes_tables(self) -> bool:
        """Return whether columns may hold categories and missing values, as under Gower's coefficient."""
        return isinstance(self.metric, Gower)

    @property
    def takes_truths(self) -> bool:
        """Return whether the metric reads truth values as the numbers 0 and 1."""
        return self.metric.domain.truths

    def read(self, X: Any, place: Place | None = None) -> Dissimilarity:
        """Read and check points or a dissimilarity matrix, and return a `Dissimilarity`."""
        return Dissimilarity.from_data(X, metric=self.metric, alpha=1.0, standardize=self.standardize, place=place)

    def source(self, X: InputTable) -> _GivenData:
        """Return points or a matrix as the user gave them, and which rows have missing values."""
        if self.takes_matrix:
            matrix = self.read(X)
            return _GivenData(self, X, matrix, np.zeros(matrix.n, dtype=bool))
        if isinstance(X.values, Rows):
            return _GivenData(self, X, None, np.zeros(len(X), dtype=bool))
        if self.takes_tables:
            return _GivenData(self, X, None, np.zeros(self.read(X).n, dtype=bool))
        values = as_numbers(truths_as_numbers(X) if self.takes_truths else X, "X")
        if values.ndim not in (1, 2) or not values.size:
            self.read(X)
        return _GivenData(self, X, None, np.asarray(np.isnan(values).reshape(len(values), -1).any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class _GivenData:
    """Hold points or a matrix of rho as given to `disco`, before rows with missing values are left out."""

    entry: _EntryOptions  # how to read them
    table: InputTable  # what was given
    matrix: Dissimilarity | None  # all of a matrix
    gaps: BoolArray  # (n,) which points have missing values

    @property
    def in_blocks(self) -> bool:
        """Return whether points are read in blocks, so that no rows can be left out."""
        return isinstance(self.table.values, Rows)

    def rows(self, kept: BoolArray) -> Dissimilarity:
        """Return the points of rows marked in a mask as a `Dissimilarity`; (n,)."""
        if self.matrix is None:
            place = row_places(["X"], [kept.size], [self.table.index])
            return self.entry.read(self.table.keep(kept), _place_among(place, kept))
        return self.matrix if kept.all() else self.matrix.subset(np.flatnonzero(kept))


def _check_names_of_terms(terms: Sequence[Term]) -> None:
    """Raise ValueError if a model term is named like another row of the result table, such as Total."""
    for name in (term.name for term in terms if term.name in ROWS_OF_TABLE):
        raise ValueError(
            f"No term may be called {name!r}, which is another row of the table of results; rename the factor."
        )


def _names_file(X: str, formula: object, groups: object) -> bool:
    """Return whether a text given to `disco` as `X` is the name of a file: beside a formula or groups, and no formula.

    A formula has a tilde and is not the path of a file.
    """
    if formula is None and groups is None:
        return False
    return "~" not in X or os.path.isfile(X)  # noqa: PTH113 (a long formula is no file, and no error)


def _check_one_question(X: Any, formula: object, groups: object) -> None:
    """Raise an error if a formula is given beside groups, given twice, or not given as a string."""
    if formula is not None and not isinstance(formula, str):
        if isinstance(X, str) and "~" in X:
            raise TypeError(f"The table of a formula goes to `data`, as in disco({X!r}, data=table).")
        raise TypeError(f"`formula` must be a string, got {type(formula).__name__}; labels of rows go to `groups=`.")
    if groups is not None:
        raise ValueError("`groups` and a formula ask two questions; give one of them.")
    if isinstance(X, str) and formula is not None:
        raise ValueError("`X` must be points or a matrix when `formula` is given, got two formulas.")


def _by_formula(
    X: Any, formula: str | None, data: Any, strata: Any, missing: str, entry: _EntryOptions, *, marginal: bool
) -> ModelQuestion:
    """Read points and model terms from a formula, on the rows without missing values."""
    table = check_table(data)
    parsed = parse(X if formula is None else formula, table, with_response=formula is None)
    strata = _strata_of(strata, table)
    match_rows([as_table(table)], {"strata": strata})
    may_lack = parsed.bare_responses if entry.takes_tables else ()
    checked = [name for name in parsed.variables if name not in may_lack]
    gaps = {name: missing_in(table.iloc[:, _position(table, name)]) for name in checked}
    source = None if formula is None else entry.source(X)
    if source is not None:
        gaps["`X`"], n = source.gaps, source.gaps.size
        if n != len(table):
            raise ValueError(f"`data` must have one row for each of the {n} points of `X`, got {len(table)}.")
        match_rows([source.table], {"data": as_table(table)})
    elif entry.takes_matrix:
        raise ValueError('metric="precomputed" needs a matrix as `X`, with `formula` beside it, as in "~ g".')
    if strata is not None:
        gaps["`strata`"] = _find_missing_labels(strata, len(table), "strata")
    in_blocks = source is not None and source.in_blocks
    hint = WORDS_AS_GAPS if any(gaps[name].any() and _is_text(table, name) for name in checked) else ""
    kept = find_complete_rows(gaps, len(table), missing, in_blocks=in_blocks, hint=hint)
    rows = table.iloc[:, [_position(table, name) for name in parsed.variables]][kept]
    rows = rows.set_axis(list(parsed.variables), axis=1)  # a name may be a number
    place = _place_among(row_places(["data"], [len(table)], [table.index]), kept)
    for name in parsed.bare:
        if name not in parsed.bare_responses:
            _check_no_objects(rows.iloc[:, _position(rows, name)], name, place)
    used, parsed = _tidy(rows, parsed.bare), replace(parsed, place=place)
    if source is None:
        d = entry.read(parsed.response_columns(used, _find_response_columns(rows, entry)), place)
    else:
        d = source.rows(kept)
    terms = parsed.design(used, marginal=marginal)
    factors = [name for name in parsed.variables if name not in parsed.bare_responses and used[name].dtype.kind == "O"]
    _check_no_names_of_rows(used, factors)
    notes = tuple(note for name in factors for note in notes_on_names(used[name].unique()))
    question = ModelQuestion(d, terms, None, None if strata is None else strata.keep(kept), notes)
    if question.factor() is not None:  # the test of its groups makes their notes
        return question
    explaining = [name for name in parsed.variables if name not in parsed.bare_responses]
    of_variables = (notes_on_variable(d, name, used[name].factorize()[0].astype(np.intp)) for name in explaining)
    coded = (_note_codes(name, used[name]) for name in explaining if name in parsed.bare)
    return replace(question, notes=(*notes, *itertools.chain.from_iterable((*of_variables, *coded))))


def _check_no_names_of_rows(used: Any, factors: Sequence[str]) -> None:
    """Raise ValueError if a factor has a level of its own in every row, as names of rows and dates have."""
    for name in factors:
        if used[name].nunique() == len(used):
            raise ValueError(
                f"`formula`: {name!r} holds another text in each of the {len(used)} rows, so that no residual is left: "
                "write dates and amounts as numbers, such as days, for a covariate, or leave it out."
            )


def _note_codes(name: str, column: Any) -> tuple[str, ...]:
    """Return a note on a covariate that looks like numbered groups, such as 1, 2, 3, each repeated."""
    if column.dtype.kind != "f":
        return ()
    values, counts = np.unique(column.to_numpy(), return_counts=True)
    places = values[-1] - values[0] + 1
    numbered = values[0] in (0, 1) and bool((values == np.rint(values)).all()) and values.size >= MOST_OF_CODES * places
    if not (numbered and values.size >= 3 and places <= MOST_CODES and counts.min() > 1):
        return ()
    some = f"{values[0]:g} to {values[-1]:g}" if values.size == places else ", ".join(f"{value:g}" for value in values)
    return (f"{name!r} holds the numbers {some} and is a covariate, with one slope; C({name}) makes groups of them.",)


def _find_response_columns(rows: Any, entry: _EntryOptions) -> Any:
    """Return the data columns that the metric reads without conversion: all, those of truth values, or none."""
    from pandas.api.types import is_bool_dtype

    if entry.takes_tables or not entry.takes_truths:
        return rows if entry.takes_tables else None
    return rows.loc[:, [is_bool_dtype(dtype) for dtype in rows.dtypes]]


def _place_among(place: Place, kept: BoolArray) -> Place:
    """Return a function that describes row i of the rows kept by its position among all rows."""
    rows = np.flatnonzero(kept)
    return lambda row: place(int(rows[row]))


def _by_groups(
    X: InputTable, groups: InputTable | None, data: Any, strata: Any, missing: str, entry: _EntryOptions
) -> ModelQuestion:
    """Read points and the groups of a single factor, on the rows without missing values."""
    if groups is None:
        raise ValueError("`groups` is missing: give the group of each row, or a formula with `data`.")
    if data is not None:
        raise ValueError("`data` goes with a formula; `groups` takes labels, such as `data[name]`.")
    groups, strata = read_labels(groups, "groups"), _strata_of(strata, None)
    source = entry.source(X)
    n = source.gaps.size
    gaps = {"`X`": source.gaps, "`groups`": _find_missing_labels(groups, n, "groups")}
    if strata is not None:
        gaps["`strata`"] = _find_missing_labels(strata, n, "strata")
    kept = find_complete_rows(gaps, n, missing, in_blocks=source.in_blocks)
    d = source.rows(kept)
    layout = Groups.from_labels(groups.keep(kept), d.n, name="groups").at_least_two("groups")
    name = getattr(groups.values, "name", None)
    nothing = np.empty((d.n, 0))
    term = Term(name if isinstance(name, str) else "groups", nothing, nothing)
    return ModelQuestion(d, (term,), layout, None if strata is None else strata.keep(kept))


def _is_text(table: Any, name: str) -> bool:
    """Return whether a column of a data frame holds no numbers, such as words or categories."""
    return table.iloc[:, _position(table, name)].dtype.kind not in "biufc"


def _position(table: Any, name: str) -> int:
    """Return the position of the column of a data frame that has this name."""
    return list(map(str, table.columns)).index(name)


def _check_no_objects(column: Any, name: str, place: Place) -> None:
    """Raise an error if a column holds numbers as Python objects, such as decimals.

    Where text stands among them, the row of the text is named: it is the slip.
    """
    if column.dtype != object:
        return
    values = column.tolist()
    numeric = [isinstance(v, numbers.Number) and not isinstance(v, bool | np.bool_) for v in values]
    if not any(numeric):
        return
    row = 0 if all(numeric) else numeric.index(False)
    rule = "takes columns of numbers, text or truth values, and categories"
    cause = f"has {values[row]!r:.60} in column {name!r}, which holds numbers as Python objects"
    advice = f"make floats of them, as by pd.to_numeric(data[{name!r}])"
    if not all(numeric):
        rule = "takes columns of numbers, of text or of truth values"
        cause = f"has {values[row]!r:.60} in column {name!r}, where other rows have numbers"
        advice = "mend it"
    advice += f", or write C({name}.astype(str)) for categories"
    raise RowError("`formula`", Fault(row, cause, rule, advice), place)


def _tidy(table: Any, bare: Collection[str]) -> Any:
    """Clean complete rows of a data frame: index from 0, numbers as floats, unused categories dropped.

    Dates may stand in functions, but not `bare`.
    """
    import pandas as pd
    from pandas.api.types import (
        infer_dtype,
        is_bool_dtype,
        is_complex_dtype,
        is_extension_array_dtype,
        is_integer_dtype,
        is_numeric_dtype,
        is_object_dtype,
        is_string_dtype,
    )

    table = table.reset_index(drop=True)
    for name, dtype in table.dtypes.items():
        if is_integer_dtype(dtype):
            hint = f", or make text of labels, as by data[{str(name)!r}].astype(str)"
            check_whole_numbers(table[name].to_numpy(), str(name), hint=hint)
        if isinstance(dtype, pd.CategoricalDtype):
            table[name] = table[name].cat.remove_unused_categories()
        elif str(name) in bare and (dtype.kind in "mM" or infer_dtype(table[name]) in DATES):
            kind = infer_dtype(table[name]) if is_object_dtype(dtype) else dtype
            raise ValueError(
                f"`formula` must not take dates as they are, but column {name!r} has {kind}; make numbers of it (days "
                'since one of them), or categories with `.astype("category")`.'
            )
        elif is_extension_array_dtype(dtype) and is_string_dtype(dtype):
            table[name] = table[name].astype(object)
        elif is_bool_dtype(dtype):
            if not table[name].isna().any():  # a response under "gower" may have gaps
                table[name] = table[name].astype(bool)
        elif is_numeric_dtype(dtype) and not is_complex_dtype(dtype):
            # as numbers are in R: products of whole numbers wrap around, and logarithms of bytes have three digits
            table[name] = table[name].astype(float)
    return table


def _strata_alone(design: Design | None) -> Any:
    """Return the strata of a design, or None; raise ValueError if it also has pairs or whole plots."""
    if design is None:
        return None
    checked = check_design(design)
    if checked.paired or checked.whole_plots is not None:
        raise ValueError(
            f"`design` of `disco` takes `strata` alone, got {checked!r}; pairs are strata, "
            "`es.Design(strata=subject)`, and `energy_test` has whole plots."
        )
    return checked.strata


def _strata_of(strata: Any, table: Any) -> InputTable | None:
    """Return the labels of strata, from a data-frame column if they are given by its name."""
    if not isinstance(strata, str):
        return cast(InputTable | None, strata)
    known = [] if table is None else list(map(str, table.columns))
    if strata not in known:
        hint = list_names(strata, known)
        raise ValueError(f"`strata` must be one label a row or a column of `data`, got {strata!r}.{hint}")
    check_one_column(strata, known, "strata")
    return as_table(table.iloc[:, known.index(strata)])


def _find_missing_labels(labels: InputTable, n: int, name: str) -> BoolArray:
    """Return which rows have a missing label; raise an error unless there are n labels; (n,)."""
    if is_single(labels.values) or len(labels) != n:
        Groups.from_labels(labels, n, name=name)
    return missing_in(labels.values)
