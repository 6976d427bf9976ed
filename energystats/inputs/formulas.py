"""A formula and a table in, the response and the columns of every term out, checked.

formulaic reads the formula and codes its factors, whose levels it gets as numbers: it takes their names for those of
columns, and so loses some and merges others. What is asked of the result stands here.
"""

from __future__ import annotations

import ast
import itertools
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from energystats._core.locks import loading
from energystats._typing import BoolArray, FloatArray, IntArray
from energystats.exceptions import MissingValuesWarning, warn
from energystats.inputs.columns import holds_truths
from energystats.inputs.formula_checks import (
    FUNCTIONS,
    QUOTED,
    advise_on_keywords,
    advise_on_r,
    check_doubles,
    check_functions,
    check_kinds,
    check_literals,
    check_names_in_formula,
    check_operators,
    check_roles,
    check_sides,
    check_signs,
    check_sizes,
    find_names,
    list_factors,
    list_variables,
    parse_factor,
    write_plain_message,
)
from energystats.inputs.labels import as_labels, position_of
from energystats.inputs.places import Fault, Place, RowError, row_places
from energystats.inputs.table import as_table, masked_in

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Parsed", "Term", "check_table", "find_complete_rows", "missing_in", "parse"]


Levels: TypeAlias = tuple[IntArray, tuple[Any, ...]]  # which level each row has, and their names


TRUTHS = "__truths"  # a function that only formulas of our own call
COUNT = "__count"  # a function around what is reckoned with, where truth values are 0 and 1 as in R
SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
SIGNED: tuple[str, ...] = ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "diff")  # of pandas
SIGNED += tuple(f"r{name}" for name in SIGNED)
TAKE_TRUTHS = ("C", "I", "Q", "where", "select", "invert", TRUTHS)  # functions that leave truth values what they are


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Hold the model-matrix columns of a term and those of the terms it is adjusted for."""

    name: str  # as the formula has it
    columns: FloatArray  # (n, p) model-matrix columns of the term
    others: FloatArray  # (n, q) those of the terms it is adjusted for, without the intercept


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Hold a formula that has been parsed, before any value of the data frame is used."""

    text: str  # the formula
    response: tuple[Any, ...]  # terms of the left side, in formulaic's form
    intercept: Any  # the constant, likewise
    terms: tuple[Any, ...]  # terms of the right side, lower orders first, without the constant
    variables: tuple[str, ...]  # columns of the table that the formula uses
    place: Place | None = None  # where a row that is used stands in the user's table

    @property
    def bare_responses(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula uses as responses without transforming them."""
        return tuple(name for term in self.response if (name := str(term).strip("`")) in self.variables)

    @property
    def bare(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula names outside of function calls."""
        names = (str(factor).strip("`") for factor in list_factors((*self.response, *self.terms)))
        return tuple(name for name in names if name in self.variables)

    @property
    def uncoded(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula names outside of C(), where numbers count as covariates."""
        factors = (factor for term in (*self.response, *self.terms) for factor in term.factors)
        names = {n for f in factors if not f.expr.startswith("C(") for n in find_names(f.expr, self.variables)}
        return tuple(name for name in self.variables if name in names)

    def response_columns(self, data: pd.DataFrame, mixed: pd.DataFrame | None = None) -> pd.DataFrame:
        """Compute the responses of a formula as a data frame; a column that `mixed` has by that name is copied."""
        import pandas as pd

        found: dict[str, Any] = {}
        for term in self.response:
            name = str(term).strip("`")
            if mixed is not None and name in mixed:
                found[name] = mixed[name].reset_index(drop=True)
                continue
            truths = [self.truths(factor, data) for factor in term.factors]
            matrix, spec = self.evaluate([term], data)
            if (name in data and holds_truths(data[name])) or any(found is not None for found in truths):
                inner = name[2:-1] if name.startswith("I(") else name if name.isidentifier() else f"`{name}`"
                raise ValueError(
                    "`formula` must have numeric responses joined by + on its left side, but "
                    f"{term} holds truth values; {f'I(1 * ({inner}))' if inner != name else f'{term}.astype(int)'} is "
                    "1 for True and 0 for False."
                )
            text = spec.factor_contrasts
            if text:
                held = f", with values such as {data[name].iloc[0]!r:.60}" if name in data else ""
                if name in data and all(isinstance(value, numbers.Number) for value in data[name]):
                    held = f": its numbers are Python objects, of which pd.to_numeric(data[{name!r}]) makes floats"
                raise ValueError(
                    f"`formula` must have numeric responses joined by + on its left side, but {term} is categorical"
                    f"{held}."
                )
            _check_columns(str(term), matrix, self.place)
            names = [str(each).replace(str(_counting_term(term)), str(term)) for each in spec.column_names]
            found |= dict(zip(names, matrix.T, strict=True))
        return pd.DataFrame(found)

    def design(self, table: pd.DataFrame, *, marginal: bool) -> tuple[Term, ...]:
        """Compute model-matrix columns of each formula term, and of the terms that each is adjusted for."""
        factors = list_factors(self.terms)
        data = _Coded.of(table, factors, {factor: self.truths(factor, table) for factor in factors})
        for factor in factors:
            check_sizes(factor, table)
            self.check_levels(factor, data)
        for term in self.terms:
            self.check_cells(term, data)
        if marginal:
            return tuple(self.adjusted(term, data) for term in self.terms)
        blocks = self.blocks(self.terms, data)
        nothing = np.empty((len(table), 0))
        return tuple(
            Term(str(term), columns, np.hstack([nothing, *blocks[:j]]))
            for j, (term, columns) in enumerate(zip(self.terms, blocks, strict=True))
        )

    def adjusted(self, term: Any, data: _Coded) -> Term:
        """Compute model-matrix columns of a term, and of all other terms that do not contain that term (type II)."""
        others = [other for other in self.terms if other is not term and not _contains(other, term)]
        *before, columns = self.blocks([*others, term], data)
        return Term(str(term), columns, np.hstack([np.empty((len(columns), 0)), *before]))

    def blocks(self, terms: Sequence[Any], data: _Coded) -> list[FloatArray]:
        """Compute the model-matrix columns that each of some formula terms adds to those of the terms before it."""
        coded = [data.term(term.factors) for term in terms]
        matrix, spec = self.evaluate([self.intercept, *coded], data.table)
        blocks = [matrix[:, spec.term_slices[_counting_term(term)]] for term in coded]
        for term, columns in zip(terms, blocks, strict=True):
            _check_columns(str(term), columns, self.place)
        return blocks

    def evaluate(
        self, terms: Sequence[Any], data: pd.DataFrame, *, full_rank: bool = True, seen: list[Levels] | None = None
    ) -> tuple[FloatArray, Any]:
        """Compute the model matrix of some terms; return it with formulaic's description of how the terms are coded.

        The matrix is an array, because a data frame keeps one of two columns that have the same name.
        """
        from formulaic import Formula, ModelSpec

        formula = Formula([_counting_term(term) for term in terms], _ordering="none")
        # missing values were left out or refused before; formulaic would drop rows without a word
        spec = ModelSpec(formula=formula, ensure_full_rank=full_rank, na_action="ignore", output="numpy")
        seen = [] if seen is None else seen
        context = FUNCTIONS | {"C": partial(_coded_factor, seen), TRUTHS: partial(_coded_truths, seen, len(data))}
        context[COUNT] = partial(_count_truths, len(data))
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported below
                matrix = spec.get_model_matrix(data, context=context)
                is_complex = np.iscomplexobj(matrix)
                values = np.asarray(matrix.real if is_complex else matrix, dtype=np.float64)
        except Exception as error:  # the user's own expression ran
            said = write_plain_message(error.__cause__ or error)  # formulaic's own names the factor as it is run
            raise ValueError(f"`formula` {self.text!r} cannot be evaluated: {said}") from error
        if is_complex:
            raise TypeError(
                f"`formula` must have real numbers, but some in {self.text!r} are complex; use np.real(), np.imag() or "
                "np.abs() of them."
            )
        if len(values) != len(data):
            listed = " + ".join(map(str, terms))
            raise ValueError(
                f"`formula` {self.text!r}: {listed} has {len(values)} rows, and `data` has {len(data)}; leave rows out "
                "of `data` instead."
            )
        return values, matrix.model_spec

    def truths(self, factor: Any, table: pd.DataFrame) -> Levels | None:
        """Return the levels of a formula's factor if that is a computed truth value, such as I(x > 3); else None.

        What is computed must have a value for every row, in the order of the rows.
        """
        from formulaic.parser import types

        if factor.eval_method.value != "python":
            return None
        seen: list[Levels] = []
        asked = types.Factor(f"{TRUTHS}({factor.expr})", eval_method="python")
        self.evaluate([types.Term([asked])], table, seen=seen)
        return seen[-1] if seen else None

    def levels(self, factor: Any, data: _Coded) -> tuple[FloatArray, list[str]] | None:
        """Return indicators and names of a factor's levels in the data; None if it is numeric."""
        if (found := data.levels_of(factor)) is None:
            seen: list[Levels] = []
            indicators, spec = self.evaluate([data.term([factor])], data.table, full_rank=False, seen=seen)
            (run,) = _counting_term(data.term([factor])).factors
            if run not in spec.factor_contrasts:
                return None
            if not seen:
                _refuse_objects(factor, spec.factor_contrasts[run].levels)
            found = seen[-1] if seen else _levels_from(indicators, spec.factor_contrasts[run].levels, str(factor))
        codes, names = found
        used = np.unique(codes)
        return (codes[:, None] == used).astype(np.float64), [repr(names[j]) for j in used]

    def check_levels(self, factor: Any, data: _Coded) -> None:
        """Raise ValueError if a factor of a formula has only one level in the data."""
        found = self.levels(factor, data)
        if found is not None and len(found[1]) < 2:
            raise ValueError(f"`formula`: {factor} has one level only, {', '.join(found[1])}; leave it out.")

    def check_cells(self, term: Any, data: _Coded) -> None:
        """Raise ValueError if a combination of levels of an interaction does not occur in the data."""
        found = [(factor, self.levels(factor, data)) for factor in term.factors]
        named = [(str(factor), *levels) for factor, levels in found if levels is not None]
        if len(named) < 2:
            return
        # a cell without rows leaves its coefficient undetermined, and the term another hypothesis than it says
        codes = np.array([indicators.argmax(axis=1) for _, indicators, _ in named])
        counts = np.zeros([len(names) for *_, names in named], dtype=int)
        np.add.at(counts, tuple(codes), 1)
        if counts.all():
            return
        empty = np.argwhere(counts == 0)
        cell = " and ".join(f"{name} = {names[j]}" for (name, _, names), j in zip(named, empty[0], strict=True))
        more = f", nor in {len(empty) - 1} other cells" if len(empty) > 1 else ""
        raise ValueError(
            f"`formula`: {term} needs rows in every cell, but there are none with {cell}{more}; leave {term} out "
            "(a factor nested in another one is added with +)."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """Hold a data frame in which factors of a formula have numeric codes for their levels."""

    table: pd.DataFrame  # the columns as they were, for what is computed of them, and those with codes beside them
    columns: Mapping[str, str]  # column with the codes of each factor
    levels: Mapping[str, Levels]  # codes and names of the levels of each factor

    @classmethod
    def of(cls, table: pd.DataFrame, factors: Sequence[Any], truths: Mapping[Any, Levels | None]) -> Self:
        """Build a data frame with added columns that hold the level codes of categorical and boolean factors.

        formulaic reads these well. In an interaction R has a column for False and one for True, where a number would
        have one.
        """
        import pandas as pd

        levels: dict[str, Levels] = {}
        for factor in factors:
            name = factor.expr
            if (computed := truths[factor]) is not None:
                levels[name] = computed
            if factor.eval_method.value != "lookup" or name not in table:
                continue
            column = table[name]
            if column.dtype == object or column.dtype.kind == "b" or isinstance(column.dtype, pd.CategoricalDtype):
                levels[name] = as_labels(table[name], len(table), name)
        columns = dict(zip(levels, _unused_names(len(levels), list(table.columns)), strict=True))
        coded = {columns[name]: _number_levels(*levels[name]) for name in levels}
        return cls(pd.concat([table, pd.DataFrame(coded, index=table.index)], axis=1), columns, levels)

    def levels_of(self, factor: Any) -> Levels | None:
        """Return codes and names of the levels of a factor that was coded; None for a factor that was not."""
        return self.levels.get(factor.expr)

    def term(self, factors: Sequence[Any]) -> Any:
        """Return a formulaic term in which factors that were coded are replaced by their columns of codes."""
        from formulaic.parser import types

        return types.Term(f if self.levels_of(f) is None else types.Factor(self.columns[f.expr]) for f in factors)


def _unused_names(count: int, columns: Sequence[str]) -> list[str]:
    """Return as many new column names as asked for, all different from the names that exist."""
    names = (f"codes {j}" for j in itertools.count())
    return list(itertools.islice((name for name in names if name not in columns), count))


def _number_levels(codes: IntArray, names: Sequence[Any]) -> Any:
    """Convert group codes to a pandas Categorical whose categories are the numbers 0, 1, ...."""
    import pandas as pd

    return pd.Categorical.from_codes(codes.tolist(), categories=pd.RangeIndex(len(names)))


def _refuse_objects(factor: Any, levels: Sequence[Any]) -> None:
    """Raise TypeError if factor levels are numbers stored as Python objects."""
    for level in levels:
        if isinstance(level, numbers.Number) and not isinstance(level, bool | np.bool_):
            raise TypeError(
                f"`formula`: {factor} has numbers as Python objects, such as {level!r:.60}; make floats of the columns "
                f"it is computed of, as by pd.to_numeric(), or write C({factor}) for categories."
            )


def _levels_from(indicators: FloatArray, names: Sequence[Any], factor: str) -> Levels:
    """Return codes and names of a factor's levels from formulaic's indicator columns; raise if a row has no level."""
    if indicators.shape[1] != len(names) or not (indicators.sum(axis=1) == 1).all():
        raise ValueError(
            f"`formula`: {factor} must give every row one of its levels, but some rows have none, as where a level "
            "begins with two underscores, or 1 and '1' are levels; write C() around it."
        )
    return indicators.argmax(axis=1), tuple(names)


def _coded_factor(
    seen: list[Levels], data: Any = None, contrasts: Any = None, *, levels: Any = None, spans_intercept: bool = True
) -> Any:
    """Code a factor as C() does in a formula, for levels with names of any type, and add the levels to a list."""
    import pandas as pd
    from formulaic.transforms import C
    from formulaic.transforms.contrasts import CustomContrasts, TreatmentContrasts

    if data is None:
        raise ValueError("C() needs a column, as in C(g).")
    values = pd.Series(getattr(data, "__wrapped__", data))
    codes, names = as_labels(values, len(values), "C()")
    # whole numbers have become doubles, and keep the names that they had
    names = tuple(int(name) if isinstance(name, float) and name.is_integer() else name for name in names)
    if levels is not None:
        given = list(levels)
        places = [position_of(name, given) for name in names]
        if None in places:
            absent = names[places.index(None)]
            raise ValueError(
                f"C() has rows with {absent!r}, which its `levels` do not name; leave those rows out first."
            )
        codes, names = np.array(places)[codes], tuple(given)
    if isinstance(contrasts, str | int | float):
        raise ValueError(
            f"the second argument of C() is a coding such as contr.sum, got {contrasts!r}; the reference level is "
            f"chosen by contr.treatment({contrasts!r})."
        )
    # contrasts by name are taken in the order in which they are given
    if isinstance(contrasts, Mapping):
        contrasts = np.column_stack(list(contrasts.values()))
    elif isinstance(contrasts, CustomContrasts):
        contrasts = contrasts.contrasts
    elif isinstance(contrasts, TreatmentContrasts) and contrasts.base is not TreatmentContrasts().base:
        base = position_of(contrasts.base, names)
        if base is None:
            raise ValueError(f"the base of C() must be one of its levels, got {contrasts.base!r}.")
        contrasts = type(contrasts)(base=base)
    seen.append((codes, names))
    return C(pd.Series(_number_levels(codes, names), index=values.index), contrasts, spans_intercept=spans_intercept)


def _coded_truths(seen: list[Levels], n: int, values: Any) -> FloatArray:
    """Record the levels of a computed factor in a list if it has truth values, and return zeros (n,)."""
    values = getattr(values, "__wrapped__", values)
    seen.clear()  # of a C() in the expression
    if not np.ndim(values) and not hasattr(values, "__len__"):
        raise ValueError(f"it gives the single value {values!s:.60}, where every row needs one; leave it out.")
    _check_order(values, n)
    dtype = getattr(values, "dtype", None)
    if dtype is not None and holds_truths(dtype) and values.shape == (n,):
        seen.append(as_labels(values, n, "formula"))
    return np.zeros(n)


def _check_order(values: Any, n: int) -> None:
    """Raise ValueError if a computed Series has its rows in another order than the data."""
    if hasattr(values, "iloc") and len(values) == n and values.index.tolist() != list(range(n)):
        raise ValueError(
            "it puts the rows in another order, and rows are matched by index; sort `data` itself, or write "
            "I(....to_numpy()) around it if the new order is meant."
        )


def _count_truths(n: int, values: Any) -> Any:
    """Convert truth values to 0 and 1, as R does in arithmetic; return other values unchanged."""
    from pandas.api.types import infer_dtype

    _check_order(values, n)
    if isinstance(values, np.bool_):
        return float(values)
    plain = getattr(values, "__wrapped__", values)
    kind = getattr(getattr(plain, "dtype", None), "kind", "")
    of_truths = (kind and holds_truths(plain.dtype)) or (kind == "O" and infer_dtype(plain) == "boolean")
    return plain.astype(float) if of_truths else values


class _Counting(ast.NodeTransformer):
    """Rewrite a Python expression so that truth values in arithmetic and functions of numbers become 0 and 1."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Wrap both operands of an arithmetic operator in calls that convert truth values to numbers."""
        self.generic_visit(node)
        if isinstance(node.op, SIGNS):
            node.left, node.right = _count_call(node.left), _count_call(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Wrap the operand of a unary sign in a call that converts truth values to numbers."""
        self.generic_visit(node)
        if isinstance(node.op, ast.USub | ast.UAdd):
            node.operand = _count_call(node.operand)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Wrap the arguments of a numeric function in calls that convert truth values to numbers."""
        self.generic_visit(node)
        called, of = node.func, ""
        if isinstance(called, ast.Attribute):
            of = ast.unparse(called.value).split(".")[0]
            if called.attr in SIGNED:
                called.value = _count_call(called.value)
            elif of != "np":
                return node
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name not in TAKE_TRUTHS and not name.startswith(("logical_", "bitwise_")):
            node.args = [_count_call(each) for each in node.args]
        return node


def _count_call(node: ast.expr) -> ast.expr:
    """Wrap a syntax node, or each element of a list, in a call that converts truth values to numbers."""
    if isinstance(node, ast.List | ast.Tuple):
        node.elts = [_count_call(each) for each in node.elts]
        return node
    if isinstance(node, ast.Constant | ast.Starred):
        return node
    return ast.Call(func=ast.Name(id=COUNT, ctx=ast.Load()), args=[node], keywords=[])


@cache
def _counting_text(expression: str) -> str:
    """Rewrite a Python expression so that arithmetic treats truth values as 0 and 1."""
    tree, pieces = parse_factor(expression)
    text = ast.unparse(ast.fix_missing_locations(_Counting().visit(tree)))
    if COUNT not in text:
        return expression
    return re.sub(rf"{QUOTED}(\d+)", lambda found: f"`{pieces[int(found[1])]}`", text)


def _counting_term(term: Any) -> Any:
    """Rewrite a formulaic term so that its arithmetic treats truth values as 0 and 1."""
    from formulaic.parser import types

    if all(f.eval_method.value != "python" for f in term.factors):
        return term
    run = (
        types.Factor(_counting_text(f.expr), eval_method="python") if f.eval_method.value == "python" else f
        for f in term.factors
    )
    return types.Term(run)


def _contains(larger: Any, term: Any) -> bool:
    """Return whether one model term is contained in another, as a is in a:b."""
    return set(term.factors) < set(larger.factors)


def _check_columns(name: str, columns: FloatArray, place: Place | None) -> None:
    """Raise RowError if computed columns of a formula have values that are not finite."""
    bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
    if bad.size:
        row = int(bad[0])
        value = columns[row, int(np.argmin(np.isfinite(columns[row])))]
        several = f" ({bad.size} of {len(columns)} rows are not finite)" * (bad.size > 1)
        fault = Fault(row, f"has {value} in {name}{several}", "must give finite numbers", "transform otherwise")
        raise RowError("`formula`", fault, place or row_places(["data"], [len(columns)], [None]))


def parse(formula: str, data: pd.DataFrame, *, with_response: bool) -> Parsed:
    """Parse a formula and check it, and find the data-frame columns that it uses."""
    with loading():
        from formulaic import Formula
        from formulaic.errors import FormulaicError

    if "~" not in formula:
        raise ValueError(f'`formula` must have a ~ before its terms, as in "y ~ g" or "~ g", got {formula!r}.')
    check_names_in_formula(formula, list(map(str, data.columns)))
    try:
        check_signs(formula)
        # formulaic writes out a dot, which stands for all columns, by their names
        read = Formula.from_spec(formula, context={"__formulaic_variables_available__": list(map(str, data.columns))})
    except (FormulaicError, SyntaxError) as error:
        raise ValueError(
            f"`formula` {formula!r} cannot be read: {write_plain_message(error)}{advise_on_r(formula)}"
            f"{advise_on_keywords(formula, data)}"
        ) from error
    left, right = (read.lhs, read.rhs) if hasattr(read, "lhs") else ((), read)
    parts = isinstance(right, tuple) or not all(hasattr(term, "factors") for term in right)
    if parts or (isinstance(left, tuple) and left):
        raise ValueError(f"`formula` must have one part on each side of ~, got {formula!r}.")
    check_literals(formula, right)
    check_sides(formula, list(left), with_response)
    check_doubles(formula, len(list(left)))
    check_roles(formula, list_variables(left, data), list_variables(right, data))
    needed = list_variables([*left, *right], data)
    check_kinds([*left, *right], data)
    check_operators([*left, *right], data)
    check_functions([*left, *right], needed)
    constants = [term for term in right if str(term) == "1"]
    terms = tuple(term for term in right if str(term) != "1")
    if not constants:
        raise ValueError(f"`formula` must keep its intercept: take `0 +` or `- 1` out of {formula!r}.")
    if not terms:
        raise ValueError(f"`formula` must have a term after ~, got {formula!r}.")
    return Parsed(formula, tuple(left), constants[0], terms, tuple(needed))


def check_table(data: Any) -> pd.DataFrame:
    """Check that data are a pandas DataFrame with rows, and return it; raise otherwise."""
    import pandas as pd

    if hasattr(data, "__dask_graph__"):
        raise TypeError(
            "`data` must be a data frame (pandas, Polars or Arrow), got one of Dask; give `data.compute()`."
        )
    data = as_table(data).values
    if data is None:
        raise ValueError("`data` is missing: a formula needs the data frame whose columns it names.")
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"`data` must be a data frame (pandas, Polars or Arrow), got {type(data).__name__}.")
    if data.empty:
        raise ValueError(f"`data` must have at least one row and one column, got shape {data.shape}.")
    return data


def missing_in(values: Any) -> BoolArray:
    """Return which rows of a column or data table have a missing value; (n,)."""
    import pandas as pd

    if not hasattr(values, "dtype") and not hasattr(values, "columns"):
        values = np.array(list(values), dtype=object)
    values = values.to_frame() if isinstance(values, pd.MultiIndex) else values
    missing = np.asarray(pd.isna(values)) | masked_in(values)
    return np.asarray(missing.reshape(len(values), -1).any(axis=1))


def find_complete_rows(
    missing: Mapping[str, BoolArray], n: int, what: str, *, in_blocks: bool = False, hint: str = ""
) -> BoolArray:
    """Return which rows have no missing values; if some have, warn, or raise ValueError as an option says; (n,).

    Of a table that is read `in_blocks` no rows can be left out. The `hint` ends the text of the error.
    """
    gone = np.zeros(n, dtype=bool)
    for rows in missing.values():
        gone |= rows
    if not gone.any():
        return ~gone
    counts = ", ".join(f"{name} {int(rows.sum())}" for name, rows in missing.items() if rows.any())
    if what == "raise" or in_blocks:
        how = "first: `X` is read in blocks" if in_blocks else 'with `missing="drop"`'
        raise ValueError(
            f"Values are missing in {int(gone.sum())} of {n} rows ({counts}); fill them in, or leave those rows out "
            f"{how}.{hint}"
        )
    if gone.all():
        raise ValueError(f'`missing="drop"` leaves no row: values are missing in all {n} ({counts}).')
    left = f"{int(gone.sum())} of {n} rows {'was' if gone.sum() == 1 else 'were'} left out"
    warn(f"{left} for missing values ({counts}).", MissingValuesWarning)
    return ~gone
