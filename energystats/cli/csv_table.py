"""A CSV file as a data frame: columns of text become what R would make of them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from energystats._typing import IntArray
from energystats.cli.csv_scan import LOGICAL, Column, Scan
from energystats.cli.dialects import MARK, Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source
from energystats.inputs.columns import holds_numbers, holds_truths

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXACT", "MEANINGS", "Content", "CsvReader", "code_of_dialect", "is_large", "twice_spelled"]


EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers, which pandas makes of columns with gaps
WHOLE = re.compile(r"[-+]?\d+")
MEANINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}  # in capitals or not


class Content(NamedTuple):
    """The columns, whose index counts the rows from 0; names of the rows kept; statements that read them again."""

    frame: pd.DataFrame
    row_names: pd.Series[Any] | None  # in the first column, where it has no name of its own
    ids: pd.Series[Any] | None  # in the column that --id names, as they are written
    code: list[str]
    notes: list[str]
    quoted: frozenset[str]  # columns in quotes beside others that have none: text, whatever they look like


@dataclass(frozen=True, kw_only=True, eq=False)
class CsvReader:
    """A scanned file and how it is read: the columns `as_text` stay text, and cells of `id_name` are never missing."""

    scan: Scan
    dialect: Dialect
    rows: IntArray
    as_text: Collection[str] = ()
    id_name: str | None = None

    def read(self) -> Content:
        """Make the frame of the rows that were kept, with their numbers."""
        import pandas as pd

        shift, names = int(self.scan.row_names), self.scan.names
        # no cell behind a separator at the end of lines
        columns = dict(zip(names, self.scan.columns[shift:], strict=False))
        found, code, notes, empty = {}, [], [], []
        for name, column in columns.items():
            found[name], statements = self._settle(name, column)
            code += statements
            if not (holds_numbers(found[name]) or holds_truths(found[name])):
                notes += self._note_same_numbers(found[name])
                empty += [name] * (bool((found[name] == "").any()) and self.dialect.quoted_na is None)
        if empty:
            said = f'"" in quotes was taken for an empty text in {", ".join(empty)}'
            notes.insert(0, f"{said}; with --quoted-na missing it is a missing value.")
        frame = pd.DataFrame(found).set_axis(self.rows, axis=0)
        code = [self._code(frame, columns), *code, *self._empty_numbers(frame)]
        some_bare = any(column.bare for column in self.scan.columns)
        quoted = frozenset(name for name, column in columns.items() if some_bare and column.quoted and not column.bare)
        named = {"rows": self.scan.columns[0]} if shift else {}
        named |= {"ids": columns[self.id_name]} if self.id_name in columns else {}
        as_written = {what: pd.Series(_as_written(c), index=self.rows, dtype=object) for what, c in named.items()}
        return Content(frame, as_written.get("rows"), as_written.get("ids"), code, notes, quoted)

    def _settle(self, name: str, column: Column) -> tuple[pd.Series[Any], list[str]]:
        """Make of cells numbers, truth values, or text, and give the statements that do the same to text."""
        import pandas as pd

        cells, free, asked = column.cells, name not in self.as_text, self.dialect.quoted_na
        in_quotes = {cell[1:] for cell in set(cells) if cell[:1] == MARK}
        doubtful = [text for text in sorted(in_quotes) if {text, text.strip(" \t") or text} & {*self.dialect.marked}]
        if free and column.numeric:
            numbers = self._read_numbers(_as_written(column), name)
            if numbers.notna().any() or not any(doubtful):
                return numbers, []
        # T and F stay text: pandas leaves them, too, and a level "T" is as likely as a truth value
        if free and column.logical and column.spelled and not twice_spelled(column.spelled):
            truths = pd.Series(map(LOGICAL.get, _as_written(column)), dtype="boolean", name=name)
            return (truths.astype(bool) if not truths.isna().any() else truths), []
        if name == self.id_name:
            return pd.Series(_as_written(column), name=name, dtype=object), []
        if doubtful and asked is None and (any(doubtful) or not any(each.bare for each in self.scan.columns)):
            word = next(filter(None, doubtful), "")
            what = (
                f'"{word}" in quotes, which may be a word or a missing value'
                if word
                else '"", and every cell is in quotes, so that it may be an empty text or a missing value'
            )
            raise BadInputError(
                f"{self.scan.file}: column {name!r} holds {what}; --quoted-na word or --quoted-na missing says which."
            )
        return self._read_text(name, cells, doubtful if asked != "missing" else [])

    def _read_text(self, name: str, cells: list[str], words: list[str]) -> tuple[pd.Series[Any], list[str]]:
        """Make a column of text, in which some words in quotes are no missing values."""
        import pandas as pd

        kept = {MARK + word: word for word in words}
        meaning: dict[str, Any] = {cell: cell.removeprefix(MARK) for cell in set(cells)}
        # blanks alone are a word of their own, until the column is used and they are taken away with a note
        gone = {text for text in meaning.values() if (not text or text.strip(" \t")) and self.dialect.is_missing(text)}
        meaning = {cell: None if text in gone else text for cell, text in meaning.items()} | kept
        values = pd.Series([meaning[cell] for cell in cells], name=name)
        # read_csv knows neither quotes nor that numbers of --na are compared letter by letter in text
        shown, statements = f"table[{name!r}]", []
        for cell, word in kept.items():
            rows = [int(row) for row, other in zip(self.rows, cells, strict=True) if other == cell]
            statements += [f"table.loc[{rows!r}, {name!r}] = {word!r}"] * bool(rows)
        emptied = sorted(text for text in gone if text.strip(" \t") in self.dialect.missing_numbers)
        return values, [*statements, *(f"{shown} = {shown}.mask({shown} == {word!r})" for word in emptied)]

    def _empty_numbers(self, frame: pd.DataFrame) -> list[str]:
        """Make missing, in columns of numbers, what equals a number of --na, and give statements that do the same."""
        statements = []
        for value in self.dialect.missing_numbers.values():
            for name in [name for name in frame if name != self.id_name and holds_numbers(frame[name])]:
                if (hit := (frame[name] == value).fillna(False).astype(bool)).any():
                    frame[name] = (_nullable(frame[name]) if is_large(frame[name]) else frame[name]).mask(hit)
                    statements.append(f"table[{name!r}] = table[{name!r}].mask(table[{name!r}] == {value!r})")
        return statements

    def _note_same_numbers(self, column: pd.Series[Any]) -> list[str]:
        """Say which word of a column of text equals a number of --na and is a value all the same."""
        words: dict[Any, str] = {number: word for word, number in reversed(self.dialect.missing_numbers.items())}
        for text in column.dropna().unique() if words else ():
            if (word := words.get(self.dialect.value_of(text))) is not None:
                return [
                    f"--na {word}: {text!r} in column {column.name!r} is the same number and stays, because text is "
                    f"compared letter by letter; --na {text} makes it missing too."
                ]
        return []

    def _read_numbers(self, cells: list[str], name: str) -> Any:
        """Read cells as numbers; whole numbers beyond 64 bits stay text."""
        import pandas as pd

        gaps = {"", *self.dialect.missing_texts}
        texts = [None if cell.strip(" \t") in gaps else cell.strip(" \t") for cell in cells]
        for sign, plain in ((self.dialect.thousands, ""), (self.dialect.decimal, ".")):
            if sign not in (None, plain):
                texts = [text and text.replace(sign, plain) for text in texts]
        known = [text for text in texts if text is not None]
        if not known or not all(map(WHOLE.fullmatch, known)):
            return pd.Series([math.nan if text is None else float(text) for text in texts], name=name, dtype=float)
        whole = [None if text is None else int(text) for text in texts]
        low, high = min(map(int, known)), max(map(int, known))
        kind = "Int64" if -(2**63) <= low <= high < 2**63 else "UInt64" if 0 <= low <= high < 2**64 else None
        if kind is None:
            written = [text and cell for text, cell in zip(texts, cells, strict=True)]
            return pd.Series(written, name=name, dtype=object)
        found = pd.Series(whole, name=name, dtype=kind)
        if found.notna().all():
            return found.astype(np.dtype(kind.lower()))
        return found if max(-low, high) >= EXACT else found.astype(float)

    def _code(self, frame: pd.DataFrame, columns: dict[str, Column]) -> str:
        """Write the call of pandas that reads the same table."""
        import pandas as pd

        scan = self.scan
        options = code_of_dialect(self.dialect, scan.source)
        if not self.dialect.header:
            options |= {"header": None, "names": list(scan.names)}
        elif scan.row_names:
            options["index_col"] = 0
        elif len(scan.columns) > len(scan.names):
            options["index_col"] = False
        padded = set().union(*(column.padded for column in columns.values()))
        options |= {"keep_default_na": False, "na_values": ["", *self.dialect.missing_texts, *sorted(padded)]}
        kinds = {name: "str" for name in scan.names if name in self.as_text}
        for name, column in columns.items():
            if isinstance(frame[name].dtype, pd.Int64Dtype | pd.UInt64Dtype):
                kinds[name] = str(frame[name].dtype)
            elif column.numeric and not holds_numbers(frame[name]):  # beyond 64 bits
                kinds[name] = "str"
        if kinds:
            options["dtype"] = kinds
        words = "".join(f", {key}={value!r}" for key, value in options.items())
        return f"table = pd.read_csv({scan.source.code}{words})"


def is_large(column: pd.Series[Any]) -> bool:
    """Tell whether a column of whole numbers has some that floating-point numbers would round."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or not column.notna().any():
        return False
    return int(column.max()) >= EXACT or int(column.min()) <= -EXACT


def _nullable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Make a column of whole numbers one that can have gaps."""
    return column.astype("UInt64" if str(column.dtype).lower() == "uint64" else "Int64")


def _as_written(column: Column) -> list[str]:
    """List the cells as the file has them."""
    return [cell.removeprefix(MARK) for cell in column.cells]


def code_of_dialect(dialect: Dialect, source: Source) -> dict[str, Any]:
    """Collect the arguments of `pandas.read_csv` that say how a file is written."""
    encoding = dialect.encoding or source.encoding
    usual = {"sep": ",", "decimal": ".", "thousands": None, "comment": None, "encoding": "utf-8-sig"}  # found by pandas
    own = (dialect.delimiter, dialect.decimal or ".", dialect.thousands, dialect.comment, encoding)
    return {key: value for (key, plain), value in zip(usual.items(), own, strict=True) if value != plain}


def twice_spelled(words: Collection[str]) -> bool:
    """Tell whether words are truth values, and one of these has several spellings, such as TRUE and True."""
    lower = [word.lower() for word in set(words)]
    if not all(word in MEANINGS for word in lower) or set(lower) <= {"0", "1"}:
        return False
    return len({MEANINGS[word] for word in lower}) < len(lower)
