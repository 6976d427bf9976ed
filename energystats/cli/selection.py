"""Which rows and columns of a table are used, and what is wrong with their cells."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats.cli.console import Console
from energystats.cli.csv_table import MEANINGS, twice_spelled
from energystats.cli.dialects import COMMA_NUMBER, GROUPED, MISSING, POINT_NUMBER, Dialect, doubt_of
from energystats.cli.errors import BadInputError, bad_input
from energystats.cli.reading import FileTable
from energystats.dissimilarity import check_z_scores
from energystats.inputs.names import near_names
from energystats.inputs.options import check_alpha
from energystats.metrics.domains import looks_like_distances, row_places
from energystats.metrics.general import Precomputed
from energystats.metrics.lookup import resolve

if TYPE_CHECKING:
    import argparse

    import pandas as pd

__all__ = [
    "Choice",
    "check_comparable",
    "check_spelling",
    "choose_columns",
    "code_truths",
    "describe",
    "drop_incomplete_rows",
    "find_column",
    "in_order",
    "keep_rows",
    "note_if_equal",
    "note_slips",
    "note_words_of_missing",
    "split_names",
    "without_blanks",
]


NEARLY_ALL = 0.95  # of the rows that differ in a column of names
SUBJECT = re.compile(  # names of columns whose numbers are labels, also where they repeat
    r"(.*[\W_])?(p?id|subj|subject|participant|patient|respondent)\.?|index|.*[^\W_](?-i:ID|Id)", re.IGNORECASE
)
COUNT = re.compile(r"(.*[\W_])?(nr|no)\.?|row|unnamed: \d+", re.IGNORECASE)  # which may be measured where they repeat
COUNTS_ROWS = "it numbers the rows"
NAMES_SUBJECTS = "by its name it holds labels, of subjects or cases, and no measurements"
FOUND_COLUMN = "cluster"  # in the tables that `--labels` of `cluster` writes
LIKE_MISSING = {
    "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown", "-", "--", ".", "?", "#n/a", "#na", "<na>",
}  # fmt: skip
WHY_NOT_TRUTHS = "it holds truth values (TRUE and FALSE), which have no distance under this metric"
TRUTHS_ADVICE = "write 1 and 0 in the file to use them as numbers, or take --metric gower, which compares any columns"
OPERATORS = ("<=", ">=", "!=", "==", "=", "<", ">")


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """Columns that are used, and why the others are not: (names, reason)."""

    table: FileTable
    left_out: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The columns."""
        return self.table.frame


# ---------------------------------------------------------------- columns


def find_column(table: FileTable, name: str) -> pd.Series[Any]:
    """One column, or an error with the names that look like it."""
    known = list(table.frame.columns)
    if name not in known:
        hint = table.sep_hint or near_names(name, known) or " Columns: " + ", ".join(known) + "."
        raise BadInputError(f"{table.file}: no column {name!r}.{hint}")
    return table.frame.iloc[:, known.index(name)]


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Names separated by commas; one that holds a comma stands alone or in double quotes."""
    if text in known:
        return [text]
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def choose_columns(
    table: FileTable,
    columns: str | None,
    console: Console,
    *,
    drop: str | None = None,
    leave_out: Sequence[str] = (),
    mixed: bool = False,
    matrix: bool = False,
) -> Choice:
    """The columns asked for, or every numeric one (every one when mixed), saying which were left out.

    Distances may well count 0, 1, 2, ...; of a matrix only a column with the name of an id is one.
    """
    known = list(table.frame.columns)
    dropped = [] if drop is None else split_names(drop, known)
    for name in dropped:
        find_column(table, name)
    reasons: list[tuple[tuple[str, ...], str]] = [(tuple(dropped), "--drop names it")] * bool(dropped)
    if columns is not None:
        names = [name for name in _named_columns(table, columns, mixed) if name not in dropped]
        if not names:
            raise BadInputError("--drop must leave a column of --columns, and leaves none.")
        rest = tuple(c for c in known if c not in (*names, *dropped, *leave_out))
        reasons += [(rest, "--columns does not name it")] * bool(rest)
        return _chosen(table, names, reasons)
    others = [c for c in known if c not in (*leave_out, *dropped)]
    check_spelling(table, others)
    for c in others:
        if _is_slip(table, c):
            how = "mend it, choose --columns, or name the column in --category if its cells are codes"
            raise BadInputError(f"{table.file}: {_first_text(table, c)}; {how}.")
    empty = [c for c in others if not mixed and len(others) > 1 and table.frame[c].isna().all()]
    if empty:
        console.note(_note_of(empty, "it is empty", ""))
        reasons.append((tuple(empty), "it is empty"))
        others = [c for c in others if c not in empty]
    others, left_out = _without_ids(table, others, console, mixed=mixed, matrix=matrix)
    reasons += left_out
    used = [c for c in others if _usable(table.frame[c], mixed) or (mixed and c in table.categories)]
    if not used:
        what = "column to use" if mixed else "numeric column"
        raise BadInputError(f"{table.file}: no {what} among {', '.join(others) or 'none'}.{table.sep_hint}")
    unused = [c for c in others if c not in used]
    truths = [] if mixed else [c for c in unused if _holds_truths(table.frame[c])]
    if truths:
        console.note(_note_of(truths, WHY_NOT_TRUTHS, f"; {TRUTHS_ADVICE}"))
        reasons.append((tuple(truths), WHY_NOT_TRUTHS))
        unused = [c for c in unused if c not in truths]
    distinct = all(table.frame[c].is_unique for c in unused)
    why = f"{'every' if distinct else 'nearly every'} row has a text of its own" if mixed else "not numeric"
    if unused:
        console.note(_note_of(unused, why, "; name it in --columns to use it" * mixed))
        reasons.append((tuple(unused), why))
    if not matrix:
        _note_coordinates(table, used, console)
    return _chosen(table, used, reasons)


def _without_ids(
    table: FileTable, names: list[str], console: Console, *, mixed: bool, matrix: bool
) -> tuple[list[str], list[tuple[tuple[str, ...], str]]]:
    """Columns that do not number the rows or label subjects, and the others with the reason; each is noted."""
    counters = [c for c in names if _is_numeric_column(table.frame[c]) and _numbers_the_rows(table.frame[c])]
    counters = [c for c in counters if not matrix or _has_name_of_id(c)]
    subjects = [c for c in names if c not in counters and _labels_subjects(table, c, mixed)]
    left = [c for c in names if c not in (*counters, *subjects)]
    if names and not left:
        which = "only numbers the rows" if not subjects else "only labels rows or subjects"
        raise BadInputError(
            f"{table.file}: no column to use but {', '.join(names)}, which {which}; name it in --columns to use it all "
            "the same."
        )
    found = [(tuple(c), why) for c, why in ((counters, COUNTS_ROWS), (subjects, NAMES_SUBJECTS)) if c]
    for columns, why in found:
        console.note(_note_of(columns, why, "; name it in --columns to use it"))
    return left, found


def _note_coordinates(table: FileTable, used: Sequence[str], console: Console) -> None:
    """Say which columns are measured although their names are those of numbers of rows, or of clusters."""
    for name in used:
        if not _is_numeric_column(table.frame[name]) or not _holds_whole_numbers(table.frame[name]):
            continue
        if name.lower() == FOUND_COLUMN:
            console.note(
                f"the column {name!r} is used as a measurement, and has the name that --labels gives to clusters; "
                f"--drop {name} leaves it out."
            )
        elif COUNT.fullmatch(name):
            console.note(
                f"the column {name!r} is used as a measurement, and has the name of a number of rows or cases; "
                f"--drop {shlex.quote(name)} leaves it out."
            )


def _chosen(table: FileTable, names: list[str], reasons: Sequence[tuple[tuple[str, ...], str]]) -> Choice:
    """Those columns of the table."""
    frame = table.frame.loc[:, names]
    return Choice(table=table.having(frame, f"X = table[{names!r}]"), left_out=tuple(reasons))


def _named_columns(table: FileTable, columns: str, mixed: bool) -> list[str]:
    """The columns asked for, numeric ones unless mixed."""
    names = split_names(columns, list(table.frame.columns))
    if len(set(names)) < len(names):
        raise BadInputError(f"--columns must not name a column twice, got {columns}.")
    for name in names:
        column = find_column(table, name)
        check_spelling(table, [name])
        if not mixed and not _is_numeric_column(column):
            raise BadInputError(f"{table.file}: {_first_text(table, name)}.")
    return names


def check_spelling(table: FileTable, names: Sequence[str]) -> None:
    """Refuse columns in which TRUE, True and true may be one value or three, unless --category says: three."""
    for name in names:
        column = table.frame[name]
        if name in table.categories or _is_numeric_column(column):
            continue
        words = sorted({value for value in column.dropna().unique() if isinstance(value, str)})
        if words and len(words) <= len(MEANINGS) ** 2 and twice_spelled(words):
            raise BadInputError(
                f"{table.file}: column {name!r} spells truth values in several ways ({', '.join(words)}), which may be "
                "2 values or more; spell them alike in the file, or name the column in --category, which keeps apart "
                "what is spelled apart."
            )


def without_blanks(table: FileTable, names: Sequence[str], console: Console) -> FileTable:
    """The table without blanks around the words of these columns, which would make "B" and "B " two groups."""
    frame = table.frame.copy()
    for name in names:
        changed = np.array([isinstance(value, str) and value != value.strip() for value in frame[name]])
        if changed.any():
            console.note(f"blanks around the words of {name!r} were taken away in {int(changed.sum())} rows.")
            frame[name] = [_stripped(value) for value in frame[name]]
    return table.having(frame)


def _stripped(value: Any) -> Any:
    """A word without blanks around it, None where nothing else is there; other values stay."""
    return (value.strip() or None) if isinstance(value, str) else value


def in_order(groups: pd.Series[Any], dialect: Dialect) -> pd.Series[Any]:
    """Groups that are all numbers, as the file writes these, as categories in their order; 01 and 1 stay two."""
    import pandas as pd

    if _is_numeric_column(groups) or isinstance(groups.dtype, pd.CategoricalDtype):
        return groups
    values = groups.dropna().unique()
    numbers = [dialect.value_of(value) if isinstance(value, str) else None for value in values]
    if None in numbers:
        return groups
    order = sorted(zip(numbers, values, strict=True))
    return groups.astype(pd.CategoricalDtype([value for _, value in order]))


def _note_of(names: Sequence[str], why: str, hint: str) -> str:
    """Which columns are not used."""
    return f"not used, because {why}: {', '.join(names)}{hint}."


def _is_numeric_column(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, truth values aside."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _holds_truths(column: pd.Series[Any]) -> bool:
    """Whether a column holds truth values."""
    from pandas.api.types import is_bool_dtype

    return is_bool_dtype(column.dtype)


def _usable(column: pd.Series[Any], mixed: bool) -> bool:
    """Whether a column is used where none are named."""
    return not _names_the_rows(column) if mixed else _is_numeric_column(column)


def _names_the_rows(column: pd.Series[Any]) -> bool:
    """Whether a column of text hardly repeats itself, as names do; such a column says nothing about likeness."""
    return (
        not _is_numeric_column(column) and len(column) > 2 and bool(column.notna().all()) and _nearly_distinct(column)
    )


def _nearly_distinct(column: pd.Series[Any]) -> bool:
    """Whether all entries differ, but for a few rows that stand there twice."""
    return column.nunique() >= NEARLY_ALL * len(column)


def _is_slip(table: FileTable, name: str) -> bool:
    """Whether a column is text by accident; not where --category says that it is text, or quotes do."""
    column = table.frame[name]
    if name in table.categories or _is_numeric_column(column):
        return False
    return _mostly_commas(column) or (name not in table.quoted and _mostly_numbers(column))


def _mostly_commas(column: pd.Series[Any]) -> bool:
    """Whether most cells are numbers with a comma, in quotes or not."""
    filled = column.dropna().astype(str)
    return bool((filled.str.fullmatch(COMMA_NUMBER) | filled.str.fullmatch(GROUPED)).mean() > 0.5)


def _mostly_numbers(column: pd.Series[Any]) -> bool:
    """Whether text in a column is the exception, or a word for missing values, and so probably a slip."""
    import pandas as pd
    from pandas.api.types import is_bool_dtype

    if is_bool_dtype(column.dtype):
        return False
    filled = column.dropna().astype(str)
    numbers = pd.to_numeric(filled, errors="coerce").notna()
    words = set(filled[~numbers].str.strip().str.lower())
    return bool(numbers.mean() > 0.5) or (bool(numbers.any()) and words <= LIKE_MISSING)


def _numbers_the_rows(column: pd.Series[Any]) -> bool:
    """Whether a column counts the rows in some order from any number on, or has the name and the numbers of an id."""
    values = column.dropna().to_numpy(dtype=float)
    if values.size < 3 or not _holds_whole_numbers(column):
        return False
    if _has_name_of_id(str(column.name)) and _nearly_distinct(column.dropna()):
        return True
    return column.is_unique and bool(np.ptp(values) == values.size - 1)


def _has_name_of_id(name: str) -> bool:
    """Whether a column has the name of an id, or of a number of the rows."""
    return SUBJECT.fullmatch(name) is not None or COUNT.fullmatch(name) is not None


def _labels_subjects(table: FileTable, name: str, mixed: bool) -> bool:
    """Whether a column is an id by its name, repeated or not; --category says that it is none."""
    if SUBJECT.fullmatch(name) is None or name in table.categories or _holds_truths(table.frame[name]):
        return False
    return _holds_whole_numbers(table.frame[name]) if _is_numeric_column(table.frame[name]) else mixed


def _holds_whole_numbers(column: pd.Series[Any]) -> bool:
    """Whether a column of numbers holds whole ones only."""
    values = column.dropna().to_numpy(dtype=float)
    return values.size > 0 and bool((np.isfinite(values) & (values == np.round(values))).all())


def _first_text(table: FileTable, name: str) -> str:
    """'row 17 (line 18), column 'height': 'abc' is not a number' for the first entry that is none."""
    column = table.frame[name]
    if name in table.categories:
        return f"column {name!r} must hold numbers, and --category names it"
    if _holds_truths(column):
        return f"column {name!r} must hold numbers, and holds truth values (TRUE and FALSE); {TRUTHS_ADVICE}"
    dialect = table.dialect
    bad = column.map(lambda cell: isinstance(cell, str) and dialect.value_of(cell.strip()) is None).to_numpy(dtype=bool)
    if not bad.any():
        return f"column {name!r} must hold numbers, and holds {column.dtype} values"
    value = str(column[bad].iloc[0])
    hint = ""
    if dialect.decimal == "," and GROUPED.fullmatch(value) and "." in value:
        hint = f" where decimals have a comma (--thousands . reads it as {value.replace('.', '')})"
    elif dialect.decimal == "," and POINT_NUMBER.fullmatch(value):
        hint = " where decimals have a comma (--decimal . reads decimal points)"
    elif GROUPED.fullmatch(value):
        hint = f" ({doubt_of(value)})"
    elif COMMA_NUMBER.fullmatch(value):
        hint = "; --decimal , reads decimal commas"
    elif value.strip().lower() in LIKE_MISSING:
        hint = f" ({_advice_on_missing(value, table.dialect)})"
    return f"{table.where(int(column.index[bad][0]))}, column {name!r}: {value!r} is not a number{hint}"


def _advice_on_missing(word: str, dialect: Dialect) -> str:
    """Say how a word is read as a missing value; a list of --na that was given lacks it, NA and NaN included."""
    if not any(dialect.na_lists):
        return f"--na {shlex.quote(word)} reads it as a missing value"
    given = f"--na {' --na '.join(map(shlex.quote, dialect.na_lists))}"
    longer = f"--na {shlex.quote(','.join([word, *filter(None, dialect.na_lists)]))}"
    if word in MISSING:
        return f"{given} took the place of NA and NaN, so that {word} is no missing value any more; {longer} reads both"
    return f"{given} does not have it; {longer} reads it as a missing value, too"


def note_words_of_missing(table: FileTable, name: str, console: Console) -> None:
    """Say that NA or NaN is a word in a column of text, because --na took its place."""
    if not any(table.dialect.na_lists):
        return
    for word in MISSING:
        if (table.frame[name] == word).any():
            console.note(f"{word!r} in column {name!r} is a word: {_advice_on_missing(word, table.dialect)}.")


def note_slips(table: FileTable, names: Sequence[str], console: Console) -> None:
    """Say which columns of a formula are categories because of a few words among numbers."""
    for name in names:
        if _is_slip(table, name):
            console.note(
                f"column {name!r} is taken for categories, because of {_first_text(table, name)}; --category {name} "
                "says that it holds categories."
            )


# ---------------------------------------------------------------- rows


def keep_rows(table: FileTable, conditions: Sequence[str]) -> FileTable:
    """The rows that meet every condition."""
    for condition in conditions:
        table = _rows_where(table, condition)
    return table


def _rows_where(table: FileTable, condition: str) -> FileTable:
    """Rows with column=value, or another comparison; those with a missing value never meet it."""
    from pandas.api.types import is_bool_dtype

    name, operator, value = _condition_of(table, condition)
    column = find_column(table, name)
    compare = "==" if operator == "=" else operator
    check_spelling(table, [name])
    if _is_numeric_column(column):
        shown: Any = _number_in(table, condition, name, value)
        values, code = column, f"table[{name!r}]"
    elif is_bool_dtype(column.dtype) and compare in ("==", "!="):
        if value.lower() not in MEANINGS:
            raise BadInputError(f"--where {condition}: column {name!r} holds truth values, and {value!r} is none.")
        shown = MEANINGS[value.lower()]
        values, code = column, f"table[{name!r}]"
    elif compare in ("==", "!="):
        shown = value
        values, code = column.astype(str), f"table[{name!r}].astype(str)"
    else:
        values, code = _compared_as_numbers(table, condition, column)
        shown = _number_in(table, condition, name, value)
    meets = {"==": values.eq, "!=": values.ne, "<": values.lt, "<=": values.le, ">": values.gt, ">=": values.ge}
    known_values = set() if _is_numeric_column(column) else set(map(str, column.dropna()))
    if compare == "!=" and isinstance(shown, str) and shown not in known_values:
        raise BadInputError(
            f"--where {condition}: no row of {table.file} has {shown!r} in {name!r}, so that all rows would stay."
            f"{near_names(shown, sorted(known_values))}"
        )
    kept = meets[compare](shown).fillna(False).astype(bool) & column.notna()
    if not kept.any():
        near = "" if _is_numeric_column(column) else near_names(value, sorted(known_values))
        raise BadInputError(f"--where {condition}: no row of {table.file} meets it.{near}")
    known = f" & table[{name!r}].notna()" if compare == "!=" or not _is_numeric_column(column) else ""
    return table.having(table.frame[kept.to_numpy(dtype=bool)], f"table = table[({code} {compare} {shown!r}){known}]")


def _compared_as_numbers(table: FileTable, condition: str, column: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    """Read a column of text, such as groups are, as numbers, where all are; and the statement that does the same."""
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
    return pd.to_numeric(column.map(numbers.get, na_action="ignore")), f"pd.to_numeric({code})"


def _number_in(table: FileTable, condition: str, name: str, value: str) -> int | float:
    """Read the number of a condition as the file writes numbers; with decimal commas, 1.5 can be nothing but 1,5."""
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
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _condition_of(table: FileTable, condition: str) -> tuple[str, str, str]:
    """Column, comparison and value; the longest name of a column counts, since names may hold signs."""
    fits = []
    for i in range(len(condition)):
        operator = next((o for o in OPERATORS if condition.startswith(o, i)), None)
        if operator is not None:
            fits.append((condition[:i].strip(), operator, condition[i + len(operator) :].strip()))
    if not fits:
        raise BadInputError(f"--where must be COLUMN=VALUE, or with != < <= > >=, got {condition!r}.")
    known = set(table.frame.columns)
    named = [fit for fit in fits if fit[0] in known]
    if not named:
        find_column(table, fits[0][0])
    return max(named, key=lambda fit: len(fit[0]))


def drop_incomplete_rows(choice: Choice, missing: str, console: Console, *, mixed: bool = False) -> Choice:
    """Rows without gaps: others are complained about with their place, or left out where that was asked for."""
    if missing not in ("raise", "drop"):
        raise BadInputError(f"--missing must be raise or drop, got {missing!r}.")
    table, frame = choice.table, choice.frame
    if mixed:
        return choice
    gaps = frame.isna().to_numpy()
    bad_rows = np.flatnonzero(gaps.any(axis=1))
    if bad_rows.size and missing == "raise":
        row, column = int(bad_rows[0]), int(gaps[bad_rows[0]].argmax())
        where = f"{table.where(int(frame.index[row]))}, column {frame.columns[column]!r}"
        counts = ", ".join(f"{c} {int(m)}" for c, m in zip(frame.columns, gaps.sum(axis=0), strict=True) if m)
        rows = "rows has" if bad_rows.size == 1 else "rows have"
        raise BadInputError(
            f"{table.file}: {bad_rows.size} of {len(frame)} {rows} empty cells ({counts}), the first in {where}; fill "
            "them, or leave those rows out with --missing drop."
        )
    if bad_rows.size:
        if bad_rows.size == len(frame):
            raise BadInputError(f"{table.file}: every row has an empty cell; choose --columns.")
        console.note(f"{bad_rows.size} of {len(frame)} rows were left out for empty cells.")
        table = table.having(frame.dropna(), "X = X.dropna()")
    infinite = np.isinf(table.frame.to_numpy(dtype=np.float64, na_value=np.nan))
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        where = f"{table.where(int(table.frame.index[row]))}, column {table.frame.columns[column]!r}"
        value = float(table.frame.iloc[row, column])  # type: ignore[arg-type]
        raise BadInputError(f"{table.file}: {where}: {value} is not a finite number.")
    return Choice(table=table, left_out=choice.left_out)


# ---------------------------------------------------------------- the metric


def code_truths(table: FileTable, options: argparse.Namespace, leave_out: Sequence[str]) -> FileTable:
    """The table with 0 and 1 for truth values, where the metric compares these."""
    from pandas.api.types import is_bool_dtype

    with bad_input(table.file):
        if not resolve(options.metric, 1.0).domain.truths:
            return table
    names = [c for c in table.frame.columns if is_bool_dtype(table.frame[c]) and c not in leave_out]
    if not names:
        return table
    code = f"table[{names!r}] = table[{names!r}].astype(int)"
    return table.having(table.frame.astype(dict.fromkeys(names, int)), code)


def check_comparable(whole: FileTable, choice: Choice, options: argparse.Namespace, leave_out: Sequence[str]) -> None:
    """Refuse, before anything is said, rows that the metric cannot compare and a matrix in place of points."""
    table, frame = choice.table, choice.frame
    with bad_input(table.file, table.where):
        metric = resolve(options.metric, 1.0)
        check_alpha(options.alpha)
        if isinstance(metric, Precomputed):
            if whole.numbered_names and frame.shape[1] == len(frame) + 1:
                raise BadInputError(
                    f"{table.file}: the matrix must be square, got {len(frame)} rows below a first line of "
                    f"{frame.shape[1]} numbers, which was taken for names; --no-header: it is the first row."
                )
            return
        check_z_scores(metric, options.standardize)
        if not (options.coordinates or metric.domain.binary or metric.by_range):
            _check_not_matrix(whole, frame, leave_out)
        if not options.standardize and metric.domain.restricts:
            (points,), _ = metric.read((frame,), ("X",))
            metric.check(points, row_places(["X"], [len(points)], [frame.index]), list(map(str, frame.columns)))


def _check_not_matrix(whole: FileTable, frame: pd.DataFrame, leave_out: Sequence[str]) -> None:
    """Refuse columns that form a matrix of dissimilarities, with all rows that were read or those in use.

    A first column may hold the names of the rows, and a column of small whole numbers look like a count of them. Where
    some rows were read, they and their own columns are looked at.
    """
    numeric = [c for c in whole.frame.columns if _is_numeric_column(whole.frame[c]) and c not in leave_out]
    tables = [frame, whole.frame[list(frame.columns)], whole.frame[numeric], whole.frame[numeric[1:]]]
    parts = [table for table in tables[2:] if 0 < len(table) < table.shape[1] > table.index.max()]
    tables += [table.iloc[:, table.index] for table in parts]
    for table in tables:
        if table.shape[0] == table.shape[1] and looks_like_distances(table.to_numpy(dtype=np.float64, na_value=np.nan)):
            raise BadInputError(
                f"{whole.file}: {len(table)} columns and rows form a symmetric matrix with a zero diagonal, as "
                "dissimilarities do. Say what they are: --metric precomputed for a matrix of dissimilarities, or "
                "--coordinates for points all the same."
            )


def note_if_equal(total: float, metric: str, console: Console) -> None:
    """Say so when the metric sees no difference between any two rows, or is another one in R."""
    if metric == "canberra":
        console.note(
            "canberra is SciPy's: columns in which both rows are 0 count as 0. R's dist() scales the sum up for them, "
            "and vegan's vegdist() divides it by the number of the others; --metric precomputed takes such a matrix"
        )
    if total == 0:
        console.note(f"all distances under {metric} are 0: it sees no difference between any two rows")


def describe(frame: pd.DataFrame, file: str) -> str:
    """How much of which columns is used."""
    rows = "1 row" if len(frame) == 1 else f"{len(frame)} rows"
    return f"{rows} of {file}, columns {', '.join(frame.columns)}."
