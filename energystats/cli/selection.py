"""Rows and columns of a table that are used, and cells of them that are wrong."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats.cli.console import Console
from energystats.cli.csv_reader import MEANINGS, twice_spelled
from energystats.cli.dialects import (
    COMMA_NUMBER,
    EXPONENT,
    GROUPED,
    MISSING,
    MIXED,
    PARTED,
    POINT_NUMBER,
    Dialect,
    doubt_of,
)
from energystats.cli.errors import BadInputError
from energystats.cli.file_table import EXACT, FileTable, is_large
from energystats.inputs.columns import find_nested, holds_numbers, holds_truths
from energystats.inputs.names import COUNT_NAME, SUBJECT_NAME, list_names, near_names

if TYPE_CHECKING:
    import pandas as pd

    from energystats.inputs.formulas import Parsed

__all__ = ["advise_on_missing", "check_formula_columns", "check_not_index", "check_spelling", "choose_columns",
           "columns_of_conditions", "find_column", "keep_rows"]  # fmt: skip


NEARLY_ALL = 0.95  # of the rows that differ in a column of names
COUNTS_ROWS = "it numbers the rows"
NAMES_SUBJECTS = "by its name it holds labels, of subjects or cases, and no measurements"
FOUND_COLUMN = "cluster"  # in the tables that `--labels` of `cluster` writes
LIKE_MISSING = {
    "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown", "-", "--", ".", "?", "#n/a", "#na", "<na>",
}  # fmt: skip
WHY_NOT_TRUTHS = "it holds truth values (TRUE and FALSE), which have no distance under this metric"
TRUTHS_ADVICE = (
    "write 1 and 0 in the file to use them as numbers, or take --metric gower, which compares any columns, or jaccard "
    "or dice, if all are such"
)
AMOUNT = re.compile(r"[^\w\s#]*\s?[-+\u2212]?\d*[.,]?\d+(?:e[-+]?\d+)?(?:\s?[^\w\s]+|\s[^\W\d]{1,5})?", re.IGNORECASE)
OPERATORS = {"<=": "le", ">=": "ge", "!=": "ne", "==": "eq", "=": "eq", "<": "lt", ">": "gt"}  # longer ones first


# ---------------------------------------------------------------- columns


def find_column(table: FileTable, name: str, *, nested: bool = False) -> pd.Series[Any]:
    """Return the named column of a table; BadInputError with similar names if missing, or if cells hold lists."""
    known = list(table.frame.columns)
    if name not in known:
        check_not_index(table, [name])
        hint = table.sep_hint or list_names(name, known)
        raise BadInputError(f"{table.file}: no column {name!r}.{hint}")
    column = table.frame.iloc[:, known.index(name)]
    if not nested and (cell := find_nested(column)) is not None:
        held = "records" if isinstance(cell, dict) else "lists"
        raise BadInputError(f"{table.file}: column {name!r} must have one value a cell, and holds {held}.")
    return column


def check_not_index(table: FileTable, names: Sequence[str]) -> None:
    """Raise BadInputError if an option names the index of a Parquet file, which is no column."""
    for name in names:
        if name in table.index_names:
            raise BadInputError(
                f"{table.file}: {name!r} is the index of the table, which --id, --category and the options for groups, "
                "strata, pairs and whole plots take; write the file after `reset_index()` to use it as a column."
            )


def choose_columns(
    table: FileTable,
    columns: Sequence[str] | None,
    console: Console,
    *,
    drop: Sequence[str],
    leave_out: Sequence[str],
    mixed: bool,
    matrix: bool,
) -> FileTable:
    """Select the columns asked for, or all usable ones, and print which were left out and why.

    Distances may be 0, 1, 2, ..., so that in a matrix a column numbers the rows only if it has the name of an id.
    """
    for name in drop:
        find_column(table, name, nested=True)
    others = [c for c in table.frame.columns if c not in (*leave_out, *drop)]
    if columns is not None:
        _check_named(table, columns, mixed)
        used = [name for name in columns if name not in drop]
        if not used:
            raise BadInputError("--drop must leave a column of --columns, and leaves none.")
        reasons = [(tuple(c for c in others if c not in used), "--columns does not name it")]
    elif not others:
        beside = ", ".join(map(repr, (*leave_out, *drop)))
        raise BadInputError(
            f"{table.file}: no column to use beside {beside}, which other options name.{table.sep_hint}"
        )
    else:
        used, reasons = _usable_columns(table, others, console, mixed=mixed, matrix=matrix)
        if not matrix:
            _note_coordinates(table, used, console)
    if unordered := [name for name in used if name in table.without_order and name not in table.categories]:
        raise BadInputError(
            f"{table.file}: column {unordered[0]!r} was written as ordered categories that are numbers, and Parquet "
            "keeps no order of such; --category takes them without order, --drop leaves the column out."
        )
    reasons = [(tuple(drop), "--drop names it"), *reasons]
    chosen = table.having(table.frame.loc[:, used], f"X = table[{used!r}]")
    return replace(chosen, left_out=tuple(reason for reason in reasons if reason[0]))


def _usable_columns(
    table: FileTable, names: list[str], console: Console, *, mixed: bool, matrix: bool
) -> tuple[list[str], list[tuple[tuple[str, ...], str]]]:
    """Split columns into those used by default and those left out, the latter with the reasons."""
    frame, kinds = table.frame, dict(table.frame.dtypes)
    nested = tuple(c for c in names if kinds[c] == "object" and find_nested(frame[c]) is not None)
    if mixed and nested:
        find_column(table, nested[0])
    names = [c for c in names if c not in nested]
    texts = [c for c in names if not holds_numbers(kinds[c])]
    check_spelling(table, texts)
    for c in texts:
        if _is_slip(table, c):
            how = "mend it, choose --columns, or name the column in --category if its cells are codes"
            raise BadInputError(f"{table.file}: {_first_text(table, c)}; {how}.")
    namesakes = [c for c in texts if mixed and c not in table.categories and _ever(table, c, _names_the_rows)]
    own_text = f"{'every' if all(frame[c].is_unique for c in namesakes) else 'nearly every'} row has a text of its own"
    name_it = "; name it in --columns to use it"
    empty = set() if mixed or len(names) == 1 else {*frame.columns[frame.isna().all().to_numpy()]}
    # in this order: a column is left out for the first reason that it meets, and the note names that one
    rules: list[tuple[Callable[[str], bool], str, str]] = [
        (lambda c: c in empty, "it is empty", ""),
        (lambda c: _ever(table, c, _numbers_the_rows) and (not matrix or _has_name_of_id(c)), COUNTS_ROWS, name_it),
        (lambda c: _labels_subjects(table, c, mixed), NAMES_SUBJECTS, name_it),
        (lambda c: not mixed and holds_truths(kinds[c]), WHY_NOT_TRUTHS, f"; {TRUTHS_ADVICE}"),
        (lambda c: c in namesakes, own_text, name_it),
        (lambda c: not mixed and not holds_numbers(kinds[c]), "not numeric", ""),
    ]
    used = list(names)
    reasons = [(nested, "it holds lists or records", "")] * bool(nested)
    for rule, why, hint in rules:
        left = tuple(c for c in used if rule(c))
        used = [c for c in used if c not in left]
        reasons += [(left, why, hint)] * bool(left)
    if not used:
        out = {why: left for left, why, _ in reasons}
        ids = [c for why in (COUNTS_ROWS, NAMES_SUBJECTS) for c in out.get(why, ())]
        rest = [c for c in names if c not in (*ids, *out.get("it is empty", ()))]
        if ids and not rest:
            which = "only labels rows or subjects" if NAMES_SUBJECTS in out else "only numbers the rows"
            listed = ", ".join(c for c in names if c in ids)
            raise BadInputError(
                f"{table.file}: no column to use but {listed}, which {which}; name it in --columns to use it all the "
                "same."
            )
        what = "column to use" if mixed else "numeric column"
        text = "" if mixed or not rest else f"; {_first_text(table, rest[0])}"
        left_out = f"; {', '.join(ids)}: left out, name it in --columns to use it all the same" if ids else ""
        among = ", ".join(rest) or (f"columns of lists or records, {', '.join(nested)}" if nested else "none")
        raise BadInputError(f"{table.file}: no {what} among {among}{text}{left_out}.{table.sep_hint}")
    for left, why, hint in reasons:
        console.note(f"not used, because {why}: {', '.join(left)}{hint}.")
    return used, [(left, why) for left, why, _ in reasons]


def _note_coordinates(table: FileTable, used: Sequence[str], console: Console) -> None:
    """Print notes on columns used as measurements although their names suggest row numbers or cluster labels."""
    first = table.frame.iloc[:, 0]
    if first.name == "X" and "X" in used and _holds_whole_numbers(first) and first.is_unique:  # sorted rows or drawn
        console.note(
            "the column 'X' is used as a measurement, and has the name that R's read.csv gives to names of rows; "
            "--drop X leaves it out."
        )
    for name in used:
        found = name.lower() == FOUND_COLUMN
        if (found or COUNT_NAME.fullmatch(name)) and _holds_whole_numbers(table.frame[name]):
            whose = "the name that --labels gives to clusters" if found else "the name of a number of rows or cases"
            console.note(
                f"the column {name!r} is used as a measurement, and has {whose}; --drop {shlex.quote(name)} leaves it "
                "out."
            )


def _check_named(table: FileTable, names: Sequence[str], mixed: bool) -> None:
    """Raise BadInputError if a column given by --columns is missing, named twice, or must be numeric and is not."""
    if len(set(names)) < len(names):
        raise BadInputError(f"--columns must not name a column twice, got {','.join(names)}.")
    for name in names:
        column = find_column(table, name)
        check_spelling(table, [name])
        if not mixed and not holds_numbers(column):
            raise BadInputError(f"{table.file}: {_first_text(table, name)}.")


def check_spelling(table: FileTable, names: Sequence[str]) -> None:
    """Raise BadInputError for columns that spell truth values in several ways, unless --category names them."""
    for name in names:
        if name in table.categories or holds_numbers(column := table.frame[name]):
            continue
        words = sorted({value for value in column.dropna().unique() if isinstance(value, str)})
        if words and len(words) <= len(MEANINGS) ** 2 and twice_spelled(words):
            raise BadInputError(
                f"{table.file}: column {name!r} spells truth values in several ways ({', '.join(words)}), which may be "
                "2 values or more; spell them alike in the file, or name the column in --category, which keeps apart "
                "what is spelled apart."
            )


def _ever(table: FileTable, name: str, rule: Callable[[pd.Series[Any]], bool]) -> bool:
    """Return whether a condition on a column holds in the selected rows or in all rows of the file.

    The numbers 1 to n of some rows are not consecutive, and number the rows all the same.
    """
    column = table.frame[name]
    if rule(column):
        return True
    every = table.every.get(name, column)
    some = len(every) > len(column)
    return some and holds_numbers(column) == holds_numbers(every) and rule(every)


def _names_the_rows(column: pd.Series[Any]) -> bool:
    """Return whether nearly all texts in a column differ, as names of rows do."""
    return not holds_numbers(column) and len(column) > 2 and bool(column.notna().all()) and _nearly_distinct(column)


def _nearly_distinct(column: pd.Series[Any]) -> bool:
    """Return whether the number of distinct values in a column is at least 95 % of the number of its rows."""
    return column.nunique() >= NEARLY_ALL * len(column)


def _is_slip(table: FileTable, name: str) -> bool:
    """Return whether a column is text probably by mistake, as most of its cells look like numbers."""
    import pandas as pd

    column = table.frame[name]
    declared = name in table.categories or isinstance(column.dtype, pd.CategoricalDtype)
    if declared or holds_numbers(column):
        return False
    if _inexact_number(column, table.dialect) is not None:
        return not _has_name_of_id(name)
    return _mostly_commas(column, table.dialect) or (name not in table.quoted and _mostly_numbers(column))


def _inexact_number(column: pd.Series[Any], dialect: Dialect) -> str | None:
    """Return the longest whole number beyond 2**53 in a text column of numbers alone; None if there is none."""
    numbers = {text: dialect.value_of(text.strip(" \t")) for text in map(str, column.dropna().unique())}
    large = [text for text, number in numbers.items() if number is not None and abs(number) >= EXACT]
    whole = [text for text in large if isinstance(numbers[text], int) or re.fullmatch(r"[-+]?\d+[.,]0*", text)]
    if not whole or None in numbers.values():
        return None
    return max(whole, key=lambda text: len(text.lstrip("+-0")))


def _as_text(column: pd.Series) -> pd.Series:
    """Return the values of a column as text; of bytes in no encoding, which Parquet can hold, what Python prints."""
    try:
        return column.astype(str)
    except UnicodeDecodeError:
        return column.map(str)


def _mostly_commas(column: pd.Series[Any], dialect: Dialect) -> bool:
    """Return whether most cells are numbers, some with other decimal or thousands signs than the file has."""
    texts = column.dropna().map(str).str.strip()
    own = texts.map(lambda text: dialect.value_of(text) is not None).to_numpy(dtype=bool)
    signs = [COMMA_NUMBER, GROUPED, MIXED, PARTED]
    if dialect.thousands is not None:
        parted = rf"[-+]?\d+(?:{re.escape(dialect.thousands)}\d+)+(?:[.,]\d+)?{EXPONENT}"
        signs.append(re.compile(parted, re.IGNORECASE))
    other = texts.map(lambda text: any(sign.fullmatch(text) for sign in signs)).to_numpy(dtype=bool) & ~own
    return bool(other.any() and (own | other).mean() > 0.5)


def _holds_amounts(column: pd.Series[Any], *, quoted: bool) -> bool:
    """Return whether most cells of a text column are numbers with signs or units, such as 5%, <0.1 or 5 kg."""
    import pandas as pd

    filled = _as_text(column.dropna()).str.strip()
    amounts = filled.str.fullmatch(AMOUNT)
    written = amounts & pd.to_numeric(filled, errors="coerce").isna()
    return bool(amounts.mean() > 0.5 and written.any() and (not quoted or written.mean() > 0.5))


def _mostly_numbers(column: pd.Series[Any]) -> bool:
    """Return whether most texts in a column are numbers, or all but those that mean a missing value."""
    import pandas as pd

    if holds_truths(column):
        return False
    filled = _as_text(column.dropna())
    numbers = pd.to_numeric(filled, errors="coerce").notna()
    words = set(filled[~numbers].str.strip().str.lower())
    return bool(numbers.mean() > 0.5) or (bool(numbers.any()) and words <= LIKE_MISSING)


def _holds_whole_numbers(column: pd.Series[Any]) -> bool:
    """Return whether all known values of a column are whole numbers, and at least one is known."""
    if not holds_numbers(column):
        return False
    plain = isinstance(column.dtype, np.dtype)
    values = (column if plain else column.dropna()).to_numpy(dtype=float)
    values = values[~np.isnan(values)]
    return values.size > 0 and bool((np.isfinite(values) & (values == np.round(values))).all())


def _has_fractions(column: pd.Series[Any]) -> bool:
    """Return whether a column of numbers holds one that is not whole."""
    return holds_numbers(column) and bool((column.dropna() % 1 != 0).any())


def _numbers_the_rows(column: pd.Series[Any]) -> bool:
    """Return whether a column numbers the rows: consecutive whole numbers, or nearly distinct ones named as ids."""
    if not _holds_whole_numbers(column):
        return False
    known = column.dropna()
    if len(known) < 3:
        return False
    if _has_name_of_id(str(column.name)) and _nearly_distinct(known):
        return True
    return known.is_unique and int(known.max()) - int(known.min()) == len(known) - 1


def _has_name_of_id(name: str) -> bool:
    """Return whether a column has a name that is usual for ids or row numbers."""
    return SUBJECT_NAME.fullmatch(name) is not None or COUNT_NAME.fullmatch(name) is not None


def _labels_subjects(table: FileTable, name: str, mixed: bool) -> bool:
    """Return whether a column is an id of subjects, judged by its name and type, and not named by --category."""
    if SUBJECT_NAME.fullmatch(name) is None or name in table.categories or holds_truths(table.frame[name]):
        return False
    return _holds_whole_numbers(table.frame[name]) or (mixed and not holds_numbers(table.frame[name]))


def _first_text(table: FileTable, name: str) -> str:
    """Return a message on why a column is not numeric: its first entry that is no number, with the row."""
    from pandas.api.types import infer_dtype

    column = table.frame[name]
    if name in table.categories:
        return f"column {name!r} must hold numbers, and --category names it"
    if holds_truths(column):
        return f"column {name!r} must hold numbers, and holds truth values (TRUE and FALSE); {TRUTHS_ADVICE}"
    dialect = table.dialect
    is_text = column.map(lambda cell: isinstance(cell, str) and dialect.value_of(cell.strip(" \t")) is None)
    bad = is_text.to_numpy(dtype=bool)
    if not bad.any():
        if (inexact := _inexact_number(column, dialect)) is not None:
            return (
                f"column {name!r} holds whole numbers beyond 2**53, such as {inexact}, which are not "
                "exact as floating-point numbers; subtract a common whole number first (a mean is rounded)"
            )
        if name in table.odd:
            row, text = table.odd[name]
            return (
                f"{table.where(row)}, column {name!r}: {text!r} is not a number, and makes text of the whole column, "
                "although the row is not in use; take that row out of the file"
            )
        inferred = infer_dtype(column, skipna=True)
        if inferred == "string":
            return f"column {name!r} must hold numbers, and holds them as text; store them as numbers"
        kind = inferred if column.dtype == object else column.dtype
        how = "; store them as floating-point numbers" * (kind == "decimal")
        return f"column {name!r} must hold numbers, and holds {kind} values{how}"
    cell = str(column[bad].iloc[0])
    value, hint = cell.strip(" \t"), ""
    sign = dialect.thousands or ""
    if sign and dialect.value_of(value.replace(sign, "")) is not None:
        hint = f" (--thousands {shlex.quote(sign)} is for groups of three digits, behind 1 to 3 that begin with no 0)"
    elif dialect.decimal == "," and GROUPED.fullmatch(value) and "." in value:
        hint = f" where decimals have a comma (--thousands . reads it as {value.replace('.', '')})"
    elif dialect.decimal == "," and POINT_NUMBER.fullmatch(value):
        hint = " where decimals have a comma (--decimal . reads decimal points)"
    elif GROUPED.fullmatch(value):
        points = "," in value and any(_has_fractions(other) for _, other in table.frame.items())
        hint = f" ({doubt_of(value, points=points)})"
    elif MIXED.fullmatch(value) and dialect.thousands is None:
        sign, point = sorted(",.", key=value.index)
        hint = f" (--thousands {sign} reads it as {value.replace(sign, '').replace(point, '.')})"
    elif parted := PARTED.fullmatch(value):  # many blanks look alike
        sign = f"U+{ord(parted[1]):04X}" if parted[1].isspace() and parted[1] != " " else shlex.quote(parted[1])
        hint = f" (--thousands {sign} reads it as {value.replace(parted[1], '')})"
    elif COMMA_NUMBER.fullmatch(value) and dialect.thousands != ",":
        hint = "; --decimal , reads decimal commas"
    elif value.lower() in LIKE_MISSING:
        hint = f" ({advise_on_missing(value, table.dialect)})"
    return f"{table.where(int(column.index[bad][0]))}, column {name!r}: {cell!r} is not a number{hint}"


def advise_on_missing(word: str, dialect: Dialect) -> str:
    """Return advice on how to give --na so that a word is read as a missing value."""
    if not any(dialect.na_lists):
        return f"--na {shlex.quote(word)} reads it as a missing value"
    given = f"--na {' --na '.join(map(shlex.quote, dialect.na_lists))}"
    longer = f"--na {shlex.quote(','.join([word, *filter(None, dialect.na_lists)]))}"
    if word in MISSING:
        return f"{given} took the place of NA and NaN, so that {word} is no missing value any more; {longer} reads both"
    return f"{given} does not have it; {longer} reads it as a missing value, too"


def check_formula_columns(table: FileTable, parsed: Parsed, *, mixed: bool) -> None:
    """Raise BadInputError for columns of a formula that are text by mistake, or for responses that are not numeric."""
    import pandas as pd

    for name in parsed.variables:
        if is_large(table.frame[name]):
            raise BadInputError(
                f"{table.file}: column {name!r} holds whole numbers beyond 2**53, which are not exact as "
                "floating-point numbers; subtract a common whole number first (a mean is rounded), or name the column "
                "in --category, if they are labels."
            )
    for name in parsed.uncoded:
        column = table.frame[name]
        if holds_numbers(column) or holds_truths(column):
            continue
        if name in parsed.bare_responses and not mixed:
            advice = "responses are numbers, unless --metric gower compares them"
            raise BadInputError(f"{table.file}: {_first_text(table, name)}; {advice}.")
        if name in table.categories or isinstance(column.dtype, pd.CategoricalDtype):
            continue
        # neither text nor truth values, but such as decimals and dates
        objects = column.dtype == object and any(not isinstance(cell, str | bool) for cell in column.dropna())
        amounts = _holds_amounts(column, quoted=name in table.quoted)
        inexact = _inexact_number(column, table.dialect) is not None
        if (objects and name in parsed.bare) or amounts or inexact or _is_slip(table, name):
            raise BadInputError(
                f"{table.file}: {_first_text(table, name)}; mend it, or write C({name}) in the formula, or name the "
                "column in --category, if its cells are categories."
            )


# ---------------------------------------------------------------- rows


def columns_of_conditions(table: FileTable, conditions: Sequence[str]) -> list[str]:
    """Return the names of the columns that --where conditions compare."""
    return [_condition_of(table, condition)[0] for condition in conditions]


def keep_rows(table: FileTable, conditions: Sequence[str]) -> FileTable:
    """Return the rows of a table that meet every --where condition."""
    for condition in conditions:
        table = _rows_where(table, condition)
    return table


def _rows_where(table: FileTable, condition: str) -> FileTable:
    """Select the rows of a table that meet one --where condition; missing values never meet it."""
    name, compare, value = _condition_of(table, condition)
    column, code = find_column(table, name), f"table[{name!r}]"
    check_spelling(table, [name])
    numeric, values = holds_numbers(column), column
    if not numeric and compare not in ("==", "!="):
        values, code = _compared_as_numbers(table, condition, column)
    if numeric or values is not column:
        shown: Any = _number_in(table, condition, name, value)
    elif not holds_truths(column):
        shown, values, code = value, column.astype(str), f"{code}.astype(str)"
    elif value.lower() in MEANINGS:
        shown = MEANINGS[value.lower()]
    else:
        raise BadInputError(f"--where {condition}: column {name!r} holds truth values, and {value!r} is none.")
    known_values = [] if numeric else sorted(set(map(str, column.dropna())))
    if compare == "!=" and isinstance(shown, str) and shown not in known_values:
        raise BadInputError(
            f"--where {condition}: no row of {table.file} has {shown!r} in {name!r}, so that all rows would stay."
            f"{near_names(shown, known_values)}"
        )
    # a missing value is not equal to anything, and not unequal either
    met = getattr(values, OPERATORS[compare])(shown).reindex(column.index)
    kept = met.astype("boolean").fillna(False).astype(bool) & column.notna()
    if not kept.any():
        near = "" if numeric else near_names(value, known_values)
        raise BadInputError(f"--where {condition}: no row of {table.file} meets it.{near}")
    known = f" & table[{name!r}].notna()" if compare == "!=" or not numeric else ""
    return table.having(table.frame[kept.to_numpy(dtype=bool)], f"table = table[({code} {compare} {shown!r}){known}]")


def _compared_as_numbers(table: FileTable, condition: str, column: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    """Convert a text column to numbers for a comparison such as <; return also the pandas statement for it."""
    import pandas as pd

    dialect = table.dialect
    numbers = {text: dialect.value_of(str(text)) for text in column.dropna().unique()}
    word = next((text for text, number in numbers.items() if number is None), None)
    if word is not None or not numbers:
        why = f" ({word!r} is no number)" if any(number is not None for number in numbers.values()) else ""
        raise BadInputError(f"--where {condition}: column {column.name!r} holds text{why}, which = and != compare.")
    code = f"table[{column.name!r}]"
    for sign, other in ((dialect.thousands, ""), (dialect.decimal if dialect.decimal == "," else None, ".")):
        code += "" if sign is None else f".str.replace({sign!r}, {other!r}, regex=False)"
    known = column.dropna()  # as Python objects, which compare exactly however long they are
    values = pd.Series([numbers[text] for text in known], index=known.index, dtype=object)
    if any(isinstance(number, int) and abs(number) >= EXACT for number in numbers.values()):
        return values, f"{code.replace(']', '].dropna()', 1)}.map(int)"
    return values, f"pd.to_numeric({code})"


def _number_in(table: FileTable, condition: str, name: str, value: str) -> int | float:
    """Convert the value of a --where condition to a number; raise BadInputError if it is no number."""
    dialect = table.dialect
    number = dialect.value_of(value)
    if number is None and dialect.thousands is None and not GROUPED.fullmatch(value):
        number = Dialect().value_of(value)
    if number is None:
        hint = ""
        if Dialect(decimal=",").value_of(value) is not None or GROUPED.fullmatch(value):
            sign = "a comma" if dialect.decimal == "," else "a point"
            hint = f": the numbers of {table.file} have {sign} as decimal sign"
        raise BadInputError(f"--where {condition}: column {name!r} holds numbers, and {value!r} is none{hint}.")
    if not isinstance(number, float) or not number.is_integer():
        return number
    exact = Decimal(dialect.plain(value) if dialect.value_of(value) is not None else value)
    if exact != int(exact):
        raise BadInputError(f"--where {condition}: {value!r} has more digits than are compared; write a whole number.")
    return int(exact)


def _condition_of(table: FileTable, condition: str) -> tuple[str, str, str]:
    """Split a --where condition into column, comparison and value, by the longest column name that fits.

    Raise BadInputError where a sign may be part of a name or of the comparison, as in "w!=2" beside columns w and w!.
    """
    found = re.finditer(f"(?=({'|'.join(OPERATORS)}))", condition)
    fits = [(condition[: m.start()].strip(), m[1], condition[m.end(1) :].strip()) for m in found]
    known = set(table.frame.columns)
    named = [fit for fit in fits if fit[0] in known]
    if not named:
        find_column(table, fits[0][0])
    name, operator, value = max(named, key=lambda fit: len(fit[0]))
    if others := [other for other, _, same in named if other != name and same == value]:
        raise BadInputError(
            f"--where {condition}: may be about column {others[0]!r} or {name!r} of {table.file}; rename one."
        )
    return name, "==" if operator == "=" else operator, value
