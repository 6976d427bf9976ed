"""A formula and a table in, the response and the columns of every term out, checked.

formulaic reads the formula and codes its factors, whose levels it gets as numbers: it takes their names for those of
columns, and so loses some and merges others. What is asked of the result stands here.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import numbers
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from energystats._core.locks import loading
from energystats._typing import BoolArray, FloatArray, IntArray
from energystats.exceptions import MissingValuesWarning, warn
from energystats.inputs.columns import holds_truths
from energystats.inputs.labels import as_labels, position_of
from energystats.inputs.names import list_names
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
OTHER_ORDER = ("sorted", "reversed", "sort", "flip", "flipud", "roll")  # what they return has no index
OVERFLOWS = 1e70  # size of numbers whose fourth power is nearly infinite
QUOTED = "__quoted_"  # stands, with a number, for a name in backticks where a factor is parsed as Python
FUNCTIONS: dict[str, Any] = {  # of R, besides those of formulaic, which are exp, log, log2 and log10
    **{name: getattr(np, name) for name in ("abs", "sqrt", "log1p", "expm1", "sin", "cos", "tan", "floor", "sign")},
    "ceiling": np.ceil,
}
ELSEWHERE = {  # functions of R, by what stands for them
    "factor": "C(), as in C(g)",
    "ordered": "C(), as in C(g)",
    "cbind": "the responses joined by +, as in y1 + y2 ~ g",
    "ifelse": "np.where(), or a column of `data` made beforehand",
    "interaction": "a:b",
    "as": "C() for as.factor()",
    "cut": "pd.cut beforehand, as a column of `data`",
}


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Hold the model-matrix columns of a term and those of the terms it is adjusted for.

    Attributes
    ----------
    name : str
        As the formula has it.
    columns : ndarray of shape (n, p)
        Model-matrix columns of the term.
    others : ndarray of shape (n, q)
        Those of the terms it is adjusted for, without the intercept.
    """

    name: str
    columns: FloatArray
    others: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Hold a formula that has been parsed, before any value of the data frame is used.

    Attributes
    ----------
    text : str
        The formula.
    response : tuple
        Terms of the left side, in formulaic's form.
    intercept : object
        The constant, likewise.
    terms : tuple
        Terms of the right side, lower orders first, without the constant.
    variables : tuple of str
        Columns of the table that the formula uses.
    place : callable or None
        Where a row that is used stands in the user's table.
    """

    text: str
    response: tuple[Any, ...]
    intercept: Any
    terms: tuple[Any, ...]
    variables: tuple[str, ...]
    place: Place | None = None

    @property
    def bare_responses(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula uses as responses without transforming them."""
        return tuple(name for term in self.response if (name := str(term).strip("`")) in self.variables)

    @property
    def bare(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula names outside of function calls."""
        names = (str(factor).strip("`") for factor in _factors_of((*self.response, *self.terms)))
        return tuple(name for name in names if name in self.variables)

    @property
    def uncoded(self) -> tuple[str, ...]:
        """Return the data-frame columns that a formula names outside of C(), where numbers count as covariates."""
        factors = (factor for term in (*self.response, *self.terms) for factor in term.factors)
        names = {n for f in factors if not f.expr.startswith("C(") for n in _names_in(f.expr, self.variables)}
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
        factors = _factors_of(self.terms)
        data = _Coded.of(table, factors, {factor: self.truths(factor, table) for factor in factors})
        for factor in factors:
            _check_sizes(factor, table)
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
            said = _write_plain_message(error.__cause__ or error)  # formulaic's own names the factor as it is run
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
    """Hold a data frame in which factors of a formula have numeric codes for their levels.

    Attributes
    ----------
    table : DataFrame
        The columns as they were, for what is computed of them, and those with codes beside them.
    columns : dict
        Column with the codes of each factor.
    levels : dict
        Codes and names of the levels of each factor.
    """

    table: pd.DataFrame
    columns: Mapping[str, str]
    levels: Mapping[str, Levels]

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
    tree, pieces = _parse_factor(expression)
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


def _write_plain_message(error: BaseException) -> str:
    """Return the first line of a formulaic error message, without colour codes."""
    if isinstance(error, AttributeError) and getattr(error.obj, "__name__", "") == "ContrastsRegistry":
        codings = ", ".join(f"contr.{name}" for name in ("treatment", "sum", "helmert", "poly", "SAS"))
        return f"there is no coding contr.{error.name}; there are {codings} and others of formulaic."
    lines = str(error).strip().splitlines() or [type(error).__name__]
    said = re.sub(r"\x1b?⧛?\[[0-9;]*m⧚?", "", lines[0])
    if (lone := re.match(r"Operator `(.+?)` has insuf", said)) is not None:
        return f"a term is missing beside {lone[1]}."
    if re.match(r"Unknown operator '[<>=!]", said):
        return "columns are compared in I() alone, as in I(x > 0)."
    return said


def _of_keywords(formula: str, data: pd.DataFrame) -> str:
    """Return a hint if a formula uses a column named like a Python keyword in a call; else ""."""
    words = [name for name in re.findall(r"\w+", formula) if keyword.iskeyword(name) and name in data.columns]
    return f" A word of Python, {words[0]!r}, cannot stand in a call or expression: rename the column." if words else ""


def parse(formula: str, data: pd.DataFrame, *, with_response: bool) -> Parsed:
    """Parse a formula and check it, and find the data-frame columns that it uses."""
    with loading():
        from formulaic import Formula
        from formulaic.errors import FormulaicError

    if "~" not in formula:
        raise ValueError(f'`formula` must have a ~ before its terms, as in "y ~ g" or "~ g", got {formula!r}.')
    _check_names_in_formula(formula, list(map(str, data.columns)))
    try:
        _check_signs(formula)
        # formulaic writes out a dot, which stands for all columns, by their names
        read = Formula.from_spec(formula, context={"__formulaic_variables_available__": list(map(str, data.columns))})
    except (FormulaicError, SyntaxError) as error:
        raise ValueError(
            f"`formula` {formula!r} cannot be read: {_write_plain_message(error)}{_of_r(formula)}"
            f"{_of_keywords(formula, data)}"
        ) from error
    left, right = (read.lhs, read.rhs) if hasattr(read, "lhs") else ((), read)
    parts = isinstance(right, tuple) or not all(hasattr(term, "factors") for term in right)
    if parts or (isinstance(left, tuple) and left):
        raise ValueError(f"`formula` must have one part on each side of ~, got {formula!r}.")
    _check_literals(formula, right)
    _check_sides(formula, list(left), with_response)
    _check_doubles(formula, len(list(left)))
    _check_roles(formula, _variables_of(left, data), _variables_of(right, data))
    needed = _variables_of([*left, *right], data)
    _check_kinds([*left, *right], data)
    _check_operators([*left, *right], data)
    _check_functions([*left, *right], needed)
    constants = [term for term in right if str(term) == "1"]
    terms = tuple(term for term in right if str(term) != "1")
    if not constants:
        raise ValueError(f"`formula` must keep its intercept: take `0 +` or `- 1` out of {formula!r}.")
    if not terms:
        raise ValueError(f"`formula` must have a term after ~, got {formula!r}.")
    return Parsed(formula, tuple(left), constants[0], terms, tuple(needed))


def _of_r(formula: str) -> str:
    """Return a hint for an R function with a dot in its name, such as as.factor, in a formula; else ""."""
    called = re.search(r"(?<![\w.`])((?:as|is)\.[\w.]+)\((?:([^()]*)\))?", formula)
    if called is None:
        return ""
    name, inside = called[1], (called[2] or "g").strip()
    if name in ("as.factor", "as.character", "as.ordered"):
        instead = f"C({inside}) for {name}({inside})"
    elif name in ("as.numeric", "as.integer", "as.double"):
        codes = "for the codes of a factor make a column of `data` beforehand, such as "
        codes += "`data[name].astype('category').cat.codes + 1`"
        instead = f"{inside} for {name}({inside}) if it holds numbers, which are a covariate; {codes}"
    else:
        instead = f"a column of `data`, computed beforehand, for {name}()"
    return f". Formulas are run as Python, where {name} is no function: write {instead}."


def _check_roles(formula: str, responses: Sequence[str], factors: Sequence[str]) -> None:
    """Raise ValueError if a column is on both sides of a formula."""
    twice = [name for name in responses if name in factors]
    if twice:
        raise ValueError(f"`formula` must not have {twice[0]!r} on both sides of ~, got {formula!r}.")


def _check_sides(formula: str, left: Sequence[Any], with_response: bool) -> None:
    """Raise ValueError if a formula lacks a response, or has one although `X` is given."""
    if with_response and (not left or "1" in map(str, left)):
        raise ValueError(
            f'`formula` must name its responses before ~, as in "y1 + y2 ~ g", got {formula!r}; a table or matrix of '
            "its own goes first, as in `disco(X, formula, data=data)`."
        )
    if left and not with_response:
        raise ValueError(f"`formula` must have nothing before ~ when `X` is given, got {formula!r}.")


def _check_literals(formula: str, terms: Any) -> None:
    """Raise ValueError for a number combined with variables in a formula, such as 1/x."""
    for term in terms:
        numbers = [str(factor) for factor in term.factors if factor.eval_method.value == "literal"]
        if numbers and len(term.factors) > 1:
            raise ValueError(
                f"`formula`: the signs / * : nest and cross terms and compute nothing, so that {numbers[0]} has no "
                f"effect in the term {term}; write what is to be computed in I(), as in I(1/x), got {formula!r}."
            )


def _check_signs(formula: str) -> None:
    """Raise ValueError for signs that have no meaning in this formula language, such as - before ~."""
    from formulaic.parser import DefaultFormulaParser

    tokens = list(DefaultFormulaParser().get_tokens(formula))
    signs = [(token.token, token) for token in tokens if token.kind is not None and token.kind.value == "operator"]
    left = any(sign == "~" for sign, _ in signs)
    for sign, token in signs:
        if sign == "." and formula[token.source_start] == "`":
            raise ValueError(f"`formula` takes a column named '.' for all columns; rename it, got {formula!r}.")
        if sign == "in":
            raise ValueError(
                f"`formula` must not have %in%, which adds terms here that R leaves out: write a:b for a %in% b, got "
                f"{formula!r}."
            )
        left = left and sign != "~"
        if left and sign.startswith(("-", "+-")):
            raise ValueError(
                f"`formula` must not subtract before ~, where - leaves a term out; use I(), got {formula!r}."
            )
        if left and sign not in ("+", "|"):
            raise ValueError(
                f"`formula` must have numeric responses joined by + on its left side, but {sign} computes nothing "
                f"there; write it in I(), as in I(y**2), got {formula!r}."
            )
    _check_powers(formula, tokens)
    for token in tokens:
        if token.kind is not None and token.kind.value == "python":
            # as it was written: formulaic's own text of a factor has lost the parentheses
            text = formula[token.source_start : token.source_end + 1]
            for node in _nodes_in(text, ())[0]:
                _check_comparison(node, text)


def _check_doubles(formula: str, found: int) -> None:
    """Raise ValueError if a formula names a response twice."""
    from formulaic.parser import DefaultFormulaParser

    tokens = list(itertools.takewhile(lambda t: t.token != "~", DefaultFormulaParser().get_tokens(formula)))
    named = [t.token for t in tokens if t.kind is not None and t.kind.value in ("name", "python")]
    if named and "." not in (t.token for t in tokens) and len(named) > found:
        twice = next((name for i, name in enumerate(named) if name in named[:i]), named[-1])
        raise ValueError(
            f"`formula` must name every response once, but {twice} stands before ~ more than once, got {formula!r}; "
            f"write I(1 * {twice}) for the second one if it is to count twice."
        )


def _check_powers(formula: str, tokens: Sequence[Any]) -> None:
    """Raise ValueError for a power of a variable in a formula, such as x**2, which would mean x."""
    kinds = [None if token.kind is None else token.kind.value for token in tokens]
    for i, token in enumerate(tokens):
        if kinds[i] != "operator" or token.token not in ("**", "^"):
            continue
        base = i - 1
        while base > 0 and tokens[base].token == ")":
            base -= 1
        closing = i - 1 - base  # (x), ((x)), ...
        alone = all(opening.token == "(" for opening in tokens[max(base - closing, 0) : base])
        if alone and kinds[base] in ("name", "python"):
            name = formula[tokens[base].source_start : tokens[base + 1].source_start].strip()
            raise ValueError(
                f"`formula`: a power of {name} among the terms is no power but {name} itself, as in R; write it in "
                f"I(), as in I(x**2), got {formula!r}."
            )


def _parted_by_calls(formula: str) -> tuple[str, str]:
    """Split a formula into its text outside of function calls and its text inside of function calls."""
    outside: list[str] = []
    inside: list[str] = []
    calls = [False]
    for piece in re.findall(r"`[^`]*`|[\w.]*\(|.", formula, flags=re.DOTALL):
        if piece.endswith("(") and not piece.startswith("`"):
            calls.append(calls[-1] or len(piece) > 1)
        elif piece == ")" and len(calls) > 1:
            calls.pop()
        (inside if calls[-1] else outside).append(piece)
    return "".join(outside), "".join(inside)


def _check_names_in_formula(formula: str, known: Sequence[str]) -> None:
    """Raise ValueError if a formula would be misread because of a column's name.

    formulaic drops the quotes around a name, so that 1 is its constant and a name like a call is one; inside of calls
    Python takes what follows a dot for an attribute, and two letters that look alike for one (its form NFKC).
    """
    if (quoted := re.search(r"(?<![\w.`])Q\(\s*['\"]([^'\"]*)['\"]\s*\)", formula)) is not None:
        raise ValueError(f"`formula`: write `{quoted[1]}` in backticks for {quoted[0]}, got {formula!r}.")
    outside, inside = _parted_by_calls(formula)
    alone = re.search(r"(?<![\w`.])\.(?![\w`.])", re.sub(r"`[^`]*`", "``", outside)) is not None
    if "1" in known and ("`1`" in outside or alone):
        raise ValueError(
            f"`formula` takes a column named '1' for the constant; rename it, or write I(`1`), got {formula!r}."
        )
    unquoted, within = re.sub(r"`[^`]*`", "``", formula), re.sub(r"`[^`]*`", "``", inside)
    for name in known:
        whole = rf"(?<![\w.`]){re.escape(name)}(?![\w.`])"
        if "(" in name and name in unquoted:
            raise ValueError(f"`formula` has {name}, which is a column and a call; rename the column, got {formula!r}.")
        if "." in name and not name.startswith(".") and re.search(whole, within):
            raise ValueError(
                f"`formula`: in a call the column {name} stands in backticks, `{name}`, because Python takes what "
                f"follows a dot for a part of what is before it; got {formula!r}."
            )
        changed = unicodedata.normalize("NFKC", name) != name or name in ("None", "True", "False")
        if changed and (f"`{name}`" in inside or (name.isidentifier() and re.search(whole, within))):
            raise ValueError(
                f"`formula`: {name} cannot stand in a call, because Python reads that name in its own way; rename the "
                f"column, got {formula!r}."
            )


def _check_kinds(terms: Sequence[Any], data: pd.DataFrame) -> None:
    """Raise ValueError if a formula compares a text column with a number, or the reverse."""
    known = list(map(str, data.columns))
    for factor in _factors_of(terms):
        nodes, pieces = _nodes_in(factor.expr, known)
        for node in nodes:
            for side, other in _compared_in(node):
                name = _name_at(side, pieces)
                if name not in known:
                    continue
                of_text = _holds_text(data.iloc[:, known.index(name)])
                if of_text is not None and of_text != isinstance(other.value, str):
                    kind = "text" if of_text else "numbers"
                    right = repr(str(other.value)) if of_text else "a number"
                    raise ValueError(
                        f"`formula`: {factor.expr} compares {name}, a column of {kind}, with "
                        f"{other.value!r}, which it never equals; write {right}."
                    )


def _compared_in(node: ast.AST) -> Iterator[tuple[ast.expr, ast.Constant]]:
    """Yield each pair of an expression and a constant that a Python syntax node compares."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        pairs = [pair for one, two in itertools.pairwise(sides) for pair in ((one, two), (two, one))]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "isin":
        pairs = [(node.func.value, argument) for argument in node.args]
    for side, other in pairs:
        for each in other.elts if isinstance(other, ast.List | ast.Tuple | ast.Set) else [other]:
            if isinstance(each, ast.Constant) and isinstance(each.value, str | int | float):
                yield side, each


def _holds_text(column: pd.Series[Any]) -> bool | None:
    """Return True if a column holds only text, False if only numbers, else None."""
    values = column.cat.categories if hasattr(column, "cat") else column.dropna()
    if values.dtype.kind in "iufb":
        return False
    kinds = {isinstance(value, str) for value in values}
    return True if kinds == {True} else None


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


def _variables_of(terms: Sequence[Any], data: pd.DataFrame) -> list[str]:
    """Return the data-frame columns that model terms use, in order of first use; raise ValueError for unknown names."""
    from formulaic.transforms import TRANSFORMS

    known = list(map(str, data.columns))
    factors = [factor for factor in _factors_of(terms) if factor.eval_method.value != "literal"]  # the constant is no 1
    names = dict.fromkeys(name for factor in factors for name in _names_in(factor.expr, known))
    # a name may also be a function of Python or of formulaic, which formulas may call
    for name in names:
        if known.count(name) > 1:
            raise ValueError(f"`data` has {known.count(name)} columns named {name!r}; rename them.")
        if not (name in known or name in TRANSFORMS or name in FUNCTIONS or hasattr(builtins, name)):
            hint = list_names(name, known)
            if name in ELSEWHERE:
                hint = f" Formulas are run as Python: write {ELSEWHERE[name]}."
            raise ValueError(f"`formula` needs {name!r}, but `data` has no such column.{hint}")
    return [name for name in names if name in known]


def _check_sizes(factor: Any, data: pd.DataFrame) -> None:
    """Raise ValueError if a factor's arithmetic uses numbers whose products over- or underflow."""
    if factor.eval_method.value != "python":
        return
    for name in _names_in(factor.expr, list(map(str, data.columns))):
        if name not in data.columns or data[name].dtype.kind not in "iuf":
            continue
        largest = float(np.abs(data[name].to_numpy(dtype=np.float64, na_value=0.0)).max(initial=0.0))
        if largest > OVERFLOWS or (0 < largest < 1 / OVERFLOWS and "log" not in factor.expr):
            raise ValueError(
                f"`formula` {factor.expr!r} computes with column {name!r}, whose values reach {largest:.3g}: their "
                f"products would be lost. Rescale it, to between {1 / OVERFLOWS:g} and {OVERFLOWS:g}."
            )


def _factors_of(terms: Sequence[Any]) -> list[Any]:
    """Return the distinct factors of some model terms, in the order in which the terms have them."""
    return list(dict.fromkeys(factor for term in terms for factor in term.factors))


def _parse_factor(expression: str) -> tuple[ast.Expression, list[str]]:
    """Parse a formula factor as Python; return its syntax tree, and its text split at backticks.

    Every second piece stood in backticks; piece i is the name QUOTED + i in the tree.
    """
    pieces = expression.split("`")
    return ast.parse("".join(f"{QUOTED}{i}" if i % 2 else piece for i, piece in enumerate(pieces)), mode="eval"), pieces


def _nodes_in(expression: str, known: Sequence[str]) -> tuple[list[ast.AST], list[str]]:
    """Return the syntax nodes of a formula factor and its text split at backticks; none for a plain column name.

    It returns none for text that is no expression, too.
    """
    if expression not in known:
        with suppress(SyntaxError):
            tree, pieces = _parse_factor(expression)
            return list(ast.walk(tree)), pieces
    return [], []


def _name_at(node: ast.AST, pieces: Sequence[str]) -> str:
    """Return the column name at a syntax node, also one in backticks; "" if it is no name."""
    name = node.id if isinstance(node, ast.Name) else ""
    return pieces[int(name.removeprefix(QUOTED))] if name.startswith(QUOTED) else name


def _names_in(expression: str, known: Sequence[str]) -> list[str]:
    """Return the names of columns and functions that occur in a formula factor."""
    nodes, pieces = _nodes_in(expression, known)
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    return [*(name for name in names if not name.startswith(QUOTED)), *pieces[1::2]] if nodes else [expression]


def _check_operators(terms: Sequence[Any], data: pd.DataFrame) -> None:
    """Raise ValueError for ^, & or | in a factor where they mean other operations than in R."""
    known = list(map(str, data.columns))
    for factor in _factors_of(terms):
        nodes, pieces = _nodes_in(factor.expr, known)
        for node in nodes:
            if not isinstance(node, ast.BinOp):
                continue
            if isinstance(node.op, ast.BitXor):
                raise ValueError(f"`formula`: ^ is no power in {factor.expr}, which is run as Python; write **.")
            if isinstance(node.op, ast.BitAnd | ast.BitOr):
                names = [_name_at(side, pieces) for side in (node.left, node.right)]
                bits = [n for n in names if n in known and not holds_truths(data.iloc[:, known.index(n)])]
                if bits:
                    raise ValueError(
                        f"`formula`: & and | in {factor.expr} work on the bits of the numbers in {bits[0]!r}; compare "
                        f"first, as in I(({bits[0]} != 0) & ...)."
                    )


def _check_comparison(node: ast.AST, expression: str) -> None:
    """Raise ValueError for & or | next to a comparison without parentheses in a formula."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        for side in (node.left, node.right):
            if isinstance(side, ast.Constant) and not isinstance(side.value, bool):
                raise ValueError(
                    f"`formula`: & and | in {expression} work on the bits of the number {side.value!r}; compare first, "
                    f"as in I((x > {side.value!r}) & ...)."
                )
    if not isinstance(node, ast.Compare):
        return
    # a comparison begins, or ends, where its side does unless that side has parentheses
    first, last = node.left, node.comparators[-1]
    bare = [first] * (first.col_offset == node.col_offset) + [last] * (last.end_col_offset == node.end_col_offset)
    bare += node.comparators[:-1]
    if any(isinstance(side, ast.BinOp) and isinstance(side.op, ast.BitAnd | ast.BitOr) for side in bare):
        raise ValueError(
            f"`formula`: {expression} has & or | beside a comparison without parentheses, where Python takes & and | "
            "first, and R last; write (...) around each comparison, as in I((x > 3) & (z == 0))."
        )


def _check_functions(terms: Sequence[Any], columns: Sequence[str]) -> None:
    """Raise ValueError if a formula has a function's name in place of a column, or calls a column."""
    for factor in _factors_of(terms):
        name = re.sub(r"^I\((\w+)\)$", r"\1", factor.expr)
        if name.isidentifier() and name not in columns:  # that it is known somewhere was asked before
            raise ValueError(f"`formula` has the function {name!r} where a column is needed; write {name}(x) of one.")
        nodes, _ = _nodes_in(factor.expr, columns)
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            called, of_numpy = call.func, False
            verb = getattr(called, "attr", getattr(called, "id", ""))
            sorts = verb in OTHER_ORDER and verb not in columns
            # not of levels, as in C(g, levels=sorted(set(g)))
            if sorts and call.args and isinstance(call.args[0], ast.Name) and call.args[0].id in columns:
                raise ValueError(
                    f"`formula`: {verb}() in {factor.expr} puts the rows in another order than the other columns; sort "
                    "`data` itself, or make a column of `data` of it."
                )
            if isinstance(called, ast.Attribute):
                called, of_numpy = called.value, True
            if not isinstance(called, ast.Name) or called.id not in columns or (of_numpy and called.id != "np"):
                continue
            instead = f", or write np.{called.id}()" if not of_numpy and hasattr(np, called.id) else ""
            raise ValueError(
                f"`formula`: {called.id!r} is a column of `data`, which {factor.expr} would take for the function of "
                f"that name; rename the column{instead}."
            )


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
