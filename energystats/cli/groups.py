"""Columns of groups: words without blanks, groups in order, and names that may be one group written in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from energystats.cli.console import Console
from energystats.cli.dialects import MISSING, Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.file_table import EXACT, FileTable
from energystats.cli.selection import advise_on_missing, check_spelling
from energystats.inputs.columns import holds_numbers, holds_truths
from energystats.inputs.labels import find_alike, find_alike_but_for_rounding, normalize_name, write_codes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PLACE_IN_ORDER",
    "Missing",
    "in_order",
    "keep_labelled",
    "keep_whole_units",
    "note_doubts",
    "note_quoted_numbers",
    "without_blanks",
]


PLACE_IN_ORDER = "place in the order"
R_TRUTHS = {"T", "F", "TRUE", "FALSE", "True", "False", "true", "false"}


def without_blanks(table: FileTable, names: Sequence[str], console: Console) -> FileTable:
    """Strip blanks from text in the named columns of a table, and print how many rows changed."""
    import pandas as pd

    frame, code = table.frame.copy(deep=False), []
    for name in dict.fromkeys(names):
        column = frame[name]
        if holds_numbers(column) or holds_truths(column):
            continue
        values = pd.Series(map(_strip, column), index=column.index, name=name)
        if changed := sum(isinstance(cell, str) and cell != cell.strip() for cell in column):
            in_rows = "1 row" if changed == 1 else f"{changed} rows"
            console.note(f"blanks around the words of {name!r} were taken away in {in_rows}.")
            shown = f"table[{name!r}]"
            code.append(
                f"{shown} = {shown}.map(lambda v: v.strip() or None if isinstance(v, str) and v.strip() != v else v)"
            )
            if isinstance(column.dtype, pd.CategoricalDtype):
                levels = [level for level in dict.fromkeys(map(_strip, column.cat.categories)) if level is not None]
                values = values.astype(pd.CategoricalDtype(levels, ordered=column.cat.ordered))
                code.append(
                    f"{shown} = {shown}.astype(pd.CategoricalDtype({levels!r}, ordered={bool(column.cat.ordered)}))"
                )
            frame[name] = values
    return table.having(frame, *code)


def _strip(cell: Any) -> Any:
    """Strip blanks from a text; blanks alone become None, an empty text and other values stay."""
    return cell.strip() or None if isinstance(cell, str) and cell != cell.strip() else cell


@dataclass(frozen=True, slots=True)
class Missing:
    """Hold what is done about rows with gaps: whether they are dropped, and whether the table is a matrix of rho."""

    drop: bool
    matrix: bool

    def leave_out(self, rows: str) -> str:
        """Return advice on leaving named rows out; of a matrix rows go with their columns, which no option knows."""
        how = "and their columns out of the file" if self.matrix else "out with --missing drop"
        return f"leave {rows} {how}"


def keep_labelled(table: FileTable, name: str, what: str, missing: Missing, console: Console) -> FileTable:
    """Return the rows with a label in a column; drop others on request, or raise BadInputError if there are any."""
    if what != PLACE_IN_ORDER:  # whose texts are numbers or dates
        note_doubts(table, [name], console, "the column of groups" if what == "group" else "")
    unknown = table.frame[name].isna().to_numpy()
    if not unknown.any():
        return table
    if not missing.drop:
        first = table.where(int(table.frame.index[unknown][0]))
        raise BadInputError(
            f"{table.file}: {int(unknown.sum())} of {unknown.size} rows {'has' if unknown.sum() == 1 else 'have'} no "
            f"{what}, the first is {first}; fill {name!r}, or {missing.leave_out('those rows')}."
        )
    if unknown.all():
        raise BadInputError(f"{table.file}: no row has a {what} in {name!r}.")
    left = int(unknown.sum())
    why = f"was left out because it has no {what}" if left == 1 else f"were left out because they have no {what}"
    console.note(f"{left} of {unknown.size} rows {why}.")
    return table.having(table.frame[~unknown])


def keep_whole_units(table: FileTable, labels: pd.DataFrame, missing: Missing, console: Console) -> FileTable:
    """Return the rows of units with one row in every group; drop incomplete units on request, or raise BadInputError.

    The two columns of `labels` are the unit and the group of every row in use.
    """
    column, group = labels.columns
    counts = labels.groupby([column, group], sort=False, observed=True).size().unstack(fill_value=0)
    repeated = labels.index[labels.duplicated()]
    if len(repeated):
        unit, of = labels.loc[repeated[0]]
        raise BadInputError(
            f"{table.file}: unit {str(unit)!r} of {column!r} has a second row in group {str(of)!r}, "
            f"{table.where(int(repeated[0]))}; --paired needs one row of each unit in every group."
        )
    lacking = counts.index[(counts == 0).any(axis=1)]
    if not len(lacking):
        return table
    if len(lacking) == len(counts):
        raise BadInputError(f"{table.file}: no unit of {column!r} has a row in every group of {group!r}.")
    if not missing.drop:
        without = counts.columns[(counts.loc[lacking[0]] == 0).argmax()]
        lack = "lacks" if len(lacking) == 1 else "lack"
        raise BadInputError(
            f"{table.file}: {len(lacking)} of {len(counts)} units of {column!r} {lack} a row of some group, the first "
            f"is {str(lacking[0])!r}, without {str(without)!r}; {missing.leave_out('such units')}."
        )
    why = "was left out because it lacks" if len(lacking) == 1 else "were left out because they lack"
    console.note(f"{len(lacking)} of {len(counts)} units {why} a row of some group.")
    kept = ~labels[column].isin(lacking)
    return table.having(table.frame[kept.to_numpy()])


def note_quoted_numbers(table: FileTable, names: Sequence[str], console: Console) -> None:
    """Print a note on the named columns whose numbers stand in quotes in the file."""
    quoted = [name for name in names if name in table.quoted and holds_numbers(table.frame[name])]
    if numbers := [name for name in quoted if table.frame[name].notna().any()]:
        listed = ", ".join(numbers)
        console.note(f"numbers in quotes were read as numbers: {listed}; --category makes categories of them.")


def _is_text_to_r(column: pd.Series[Any], dialect: Dialect) -> bool:
    """Return whether R reads the words of a column as text, because not all of them are numbers or truth values."""
    words = set(map(str, column.dropna()))
    return not (words <= R_TRUTHS or all(dialect.value_of(word) is not None for word in words))


def note_doubts(table: FileTable, names: Sequence[str], console: Console, where: str = "") -> None:
    """Print notes on text in the named columns that may be a missing value, or one group in two spellings."""
    check_spelling(table, names)
    texts = [name for name in names if not (holds_numbers(table.frame[name]) or holds_truths(table.frame[name]))]
    emptied = [name for name in texts if name in table.emptied and table.frame[name].isna().any()]
    if gaps := [name for name in emptied if _is_text_to_r(table.frame[name], table.dialect)]:
        console.note(
            f"empty cells are missing values, in {', '.join(gaps)}; R's read.csv makes empty texts of those in columns "
            "of text, which are a group or category of their own."
        )
    for name in texts:
        column = table.frame[name]
        if table.source is None and (column == "").any():  # of CSV the reader says so
            console.note(f"an empty text is a value of {name!r}, and no missing one.")
        values = sorted(set(map(str, column.dropna())))
        _refuse_alike_numbers(table, name, values)
        _note_alike(values, table.dialect, console, where or f"column {name!r}")
        for word in MISSING if any(table.dialect.na_lists) else ():
            if (column == word).any():
                advice = advise_on_missing(word, table.dialect)
                console.note(f"{word!r} in column {name!r} is a word: {advice}.")


def _refuse_alike_numbers(table: FileTable, name: str, texts: list[str]) -> None:
    """Raise BadInputError if two numbers in a column of text differ by rounding alone."""
    numbers = ((table.dialect.value_of(text), text) for text in texts)
    # whole numbers that are not exact as doubles are told apart by their digits
    written = {float(n): text for n, text in numbers if isinstance(n, float) or (n is not None and abs(n) < EXACT)}
    found = find_alike_but_for_rounding(list(written)) if len(written) > 1 else None
    if found is not None:
        raise BadInputError(
            f"{table.file}: {written[found[0]]!r} and {written[found[1]]!r} in column {name!r} differ by rounding "
            "alone; write them alike."
        )


def _note_alike(texts: list[str], dialect: Dialect, console: Console, where: str) -> None:
    """Print notes on pairs of group names that are equal as numbers, but for capitals, or when printed."""
    because, mend = "because groups are text", "write them alike if they are one"
    pairs = [("mean the same", find_alike(texts, dialect.value_of), because)]
    if None in map(dialect.value_of, texts):
        pairs.append(("differ only in capitals", find_alike(texts, str.casefold), because))
    if alike := find_alike(texts, normalize_name):
        codes = " and ".join(map(write_codes, alike))
        unseen = f"because they differ in characters that are not seen, or look the same: {codes}"
        pairs.append(("print alike", alike, unseen))
    for why, pair, cause in pairs:
        if pair is not None:
            console.note(f"{pair[0]!r} and {pair[1]!r} in {where} {why} and are two groups here, {cause}; {mend}.")


def in_order(groups: pd.Series[Any], dialect: Dialect) -> pd.Series[Any]:
    """Convert labels to categories in numeric order if all are numbers, with 01 and 1 distinct; else unchanged."""
    import pandas as pd

    if holds_numbers(groups) or isinstance(groups.dtype, pd.CategoricalDtype):
        return groups
    values = groups.dropna().unique()
    numbers = [dialect.value_of(value) if isinstance(value, str) else None for value in values]
    if None in numbers:
        return groups
    order = sorted(zip(numbers, values, strict=True))
    return groups.astype(pd.CategoricalDtype([value for _, value in order]))
