"""Check a formula before it is computed: its text, its names, and what it asks of the columns of a table."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats.inputs.columns import holds_truths
from energystats.inputs.names import list_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FUNCTIONS",
    "QUOTED",
    "advise_on_keywords",
    "advise_on_r",
    "check_doubles",
    "check_functions",
    "check_kinds",
    "check_literals",
    "check_names_in_formula",
    "check_operators",
    "check_roles",
    "check_sides",
    "check_signs",
    "check_sizes",
    "find_names",
    "list_factors",
    "list_variables",
    "parse_factor",
    "write_plain_message",
]


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
    "ns": "cr(x, df=k + 1) for ns(x, k), the same curves",
    "offset": "the response less the offset, as in I(y - x) ~ g",
    "relevel": "g alone, as F and p do not depend on which level is first",
    "droplevels": "g alone, as levels without a row are left out",
    "Condition": 'what is held constant first, as in ~ z + g, with decomposition="sequential"',
    "Error": "the terms alone, and give the units as `strata` of the design",
    "TRUE": "True",
    "FALSE": "False",
    "T": "True",
    "F": "False",
}
RANDOM = "; blocks and random effects are no terms here: give them as `strata` of the design"


def write_plain_message(error: BaseException) -> str:
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
    if "`|`" in said:
        return f"{said.rstrip('.')}{RANDOM}."
    return said


def advise_on_keywords(formula: str, data: pd.DataFrame) -> str:
    """Return a hint if a formula uses a column named like a Python keyword in a call; else ""."""
    words = [name for name in re.findall(r"\w+", formula) if keyword.iskeyword(name) and name in data.columns]
    return f" A word of Python, {words[0]!r}, cannot stand in a call or expression: rename the column." if words else ""


def advise_on_r(formula: str) -> str:
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


def check_roles(formula: str, responses: Sequence[str], factors: Sequence[str]) -> None:
    """Raise ValueError if a column is on both sides of a formula."""
    twice = [name for name in responses if name in factors]
    if twice:
        raise ValueError(f"`formula` must not have {twice[0]!r} on both sides of ~, got {formula!r}.")


def check_sides(formula: str, left: Sequence[Any], with_response: bool) -> None:
    """Raise ValueError if a formula lacks a response, or has one although `X` is given."""
    if with_response and (not left or "1" in map(str, left)):
        raise ValueError(
            f'`formula` must name its responses before ~, as in "y1 + y2 ~ g", got {formula!r}; a table or matrix of '
            "its own goes first, as in `disco(X, formula, data=data)`."
        )
    if left and not with_response:
        raise ValueError(f"`formula` must have nothing before ~ when `X` is given, got {formula!r}.")


def check_literals(formula: str, terms: Any) -> None:
    """Raise ValueError for a number combined with variables in a formula, such as 1/x."""
    for term in terms:
        numbers = [str(factor) for factor in term.factors if factor.eval_method.value == "literal"]
        if numbers and len(term.factors) > 1:
            raise ValueError(
                f"`formula`: the signs / * : nest and cross terms and compute nothing, so that {numbers[0]} has no "
                f"effect in the term {term}; write what is to be computed in I(), as in I(1/x), got {formula!r}."
            )


def check_signs(formula: str) -> None:
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


def check_doubles(formula: str, found: int) -> None:
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


def check_names_in_formula(formula: str, known: Sequence[str]) -> None:
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


def check_kinds(terms: Sequence[Any], data: pd.DataFrame) -> None:
    """Raise ValueError if a formula compares a text column with a number, or the reverse."""
    known = list(map(str, data.columns))
    for factor in list_factors(terms):
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


def list_variables(terms: Sequence[Any], data: pd.DataFrame) -> list[str]:
    """Return the data-frame columns that model terms use, in order of first use; raise ValueError for unknown names."""
    from formulaic.transforms import TRANSFORMS

    known = list(map(str, data.columns))
    # the constant calls nothing
    factors = [factor for factor in list_factors(terms) if factor.eval_method.value != "literal"]
    names = dict.fromkeys(name for factor in factors for name in find_names(factor.expr, known))
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


def check_sizes(factor: Any, data: pd.DataFrame) -> None:
    """Raise ValueError if a factor's arithmetic uses numbers whose products over- or underflow."""
    if factor.eval_method.value != "python":
        return
    for name in find_names(factor.expr, list(map(str, data.columns))):
        if name not in data.columns or data[name].dtype.kind not in "iuf":
            continue
        largest = float(np.abs(data[name].to_numpy(dtype=np.float64, na_value=0.0)).max(initial=0.0))
        if largest > OVERFLOWS or (0 < largest < 1 / OVERFLOWS and "log" not in factor.expr):
            raise ValueError(
                f"`formula` {factor.expr!r} computes with column {name!r}, whose values reach {largest:.3g}: their "
                f"products would be lost. Rescale it, to between {1 / OVERFLOWS:g} and {OVERFLOWS:g}."
            )


def list_factors(terms: Sequence[Any]) -> list[Any]:
    """Return the distinct factors of some model terms, in the order in which the terms have them."""
    return list(dict.fromkeys(factor for term in terms for factor in term.factors))


def parse_factor(expression: str) -> tuple[ast.Expression, list[str]]:
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
            tree, pieces = parse_factor(expression)
            return list(ast.walk(tree)), pieces
    return [], []


def _name_at(node: ast.AST, pieces: Sequence[str]) -> str:
    """Return the column name at a syntax node, also one in backticks; "" if it is no name."""
    name = node.id if isinstance(node, ast.Name) else ""
    return pieces[int(name.removeprefix(QUOTED))] if name.startswith(QUOTED) else name


def find_names(expression: str, known: Sequence[str]) -> list[str]:
    """Return the names of columns and functions that occur in a formula factor."""
    nodes, pieces = _nodes_in(expression, known)
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    return [*(name for name in names if not name.startswith(QUOTED)), *pieces[1::2]] if nodes else [expression]


def check_operators(terms: Sequence[Any], data: pd.DataFrame) -> None:
    """Raise ValueError for ^, & or | in a factor where they mean other operations than in R."""
    known = list(map(str, data.columns))
    for factor in list_factors(terms):
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


def check_functions(terms: Sequence[Any], columns: Sequence[str]) -> None:
    """Raise ValueError if a formula has a function's name in place of a column, or calls a column."""
    for factor in list_factors(terms):
        if factor.expr in columns:  # a name in backticks may look like a call
            continue
        name = re.sub(r"^I\((\w+)\)$", r"\1", factor.expr)
        if name.isidentifier() and name not in columns:  # that it is known somewhere was asked before
            raise ValueError(f"`formula` has the function {name!r} where a column is needed; write {name}(x) of one.")
        nodes, _ = _nodes_in(factor.expr, columns)
        _check_coding(nodes, factor.expr)
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


def _check_coding(nodes: Sequence[ast.AST], expression: str) -> None:
    """Raise ValueError if a formula's factor computes something from the groups that C() makes."""
    outer = nodes[0].body if nodes and isinstance(nodes[0], ast.Expression) else None
    while isinstance(outer, ast.Call) and getattr(outer.func, "id", "") == "I" and len(outer.args) == 1:
        outer = outer.args[0]
    calls = (node for node in nodes if isinstance(node, ast.Call) and node is not outer)
    if any(getattr(call.func, "id", "") == "C" for call in calls):
        raise ValueError(
            f"`formula`: {expression} computes from what C() makes, which are groups and no numbers; compute from the "
            "column itself, and write C() around the whole."
        )
