"""A CSV file as a data frame: pandas reads it in pieces, and columns of text become what R would make of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from energystats._typing import BoolArray
from energystats.cli.csv_scan import MARK, Feed, Shape
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source, readable
from energystats.inputs.columns import holds_numbers, holds_truths

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXACT", "MEANINGS", "Content", "CsvReader", "code_of_dialect", "is_large", "twice_spelled"]


CELLS = 2**20  # of a piece
EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers, which pandas makes of columns with gaps
WHOLE = r"[-+]?\d+"
LOGICAL = {"TRUE": True, "FALSE": False, "True": True, "False": False, "true": True, "false": False}
MEANINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}  # in capitals or not


class Content(NamedTuple):
    """The columns, whose index counts the rows from 0; names of the rows kept; statements that read them again."""

    frame: pd.DataFrame
    row_names: pd.Series[Any] | None  # in the first column, where it has no name of its own
    ids: pd.Series[Any] | None  # in the column that --id names, as they are written
    code: list[str]
    notes: list[str]


@dataclass(kw_only=True)
class _Text:
    """Properties that all cells of a column of text have, over all pieces of the file."""

    numeric: bool = True
    logical: bool = True
    filled: bool = False
    marked: set[str] = field(default_factory=set)
    truths: bool = True
    spelled: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)

    def look(self, column: pd.Series[Any], number: re.Pattern[str], *, marked: bool) -> None:
        """Look at one more piece; nothing more can be learned of plain text without marks."""
        if not (self.numeric or self.truths or marked):
            return
        for value in column.dropna().unique():
            if value.startswith(MARK):
                self.marked.add(value[1:])
                continue
            self.filled = True
            self.numeric = self.numeric and number.fullmatch(value.strip(" \t")) is not None
            self.logical = self.logical and value in LOGICAL
            self.truths = self.truths and value.lower() in MEANINGS
            if self.truths:
                self.spelled.add(value)


@dataclass(kw_only=True)
class _Sizes:
    """Sizes and kinds of the numbers of a column, over all pieces of the file."""

    large: bool = False
    fractions: bool = False
    kinds: set[str] = field(default_factory=set)

    def look(self, values: Any) -> None:
        """Look at one more piece."""
        self.kinds.add(values.dtype.kind)
        known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if known.size:
            self.large = self.large or int(known.max()) >= EXACT or int(known.min()) <= -EXACT
            self.fractions = self.fractions or (values.dtype.kind == "f" and bool((known != np.floor(known)).any()))

    @property
    def rounded(self) -> bool:
        """Tell whether whole numbers may have lost digits; as text they are read exactly."""
        return self.large and not self.fractions and self.kinds not in ({"i"}, {"u"})


@dataclass(frozen=True, kw_only=True, eq=False)
class CsvReader:
    """A scanned file and how it is read: the columns `as_text` stay text, and cells of `id_name` are never missing."""

    source: Source
    dialect: Dialect
    shape: Shape
    marked: bool
    as_text: Collection[str] = ()
    id_name: str | None = None

    @property
    def shift(self) -> int:
        """Place of the first column of data in a row."""
        return int(self.shape.row_names)

    def read(self, kept: BoolArray | None) -> Content:
        """Read the rows that are kept, all when None; the others are looked at, and not held."""
        import pandas as pd

        names = self.shape.names
        found = {j + self.shift: _Text() for j, name in enumerate(names) if name in (*self.as_text, self.id_name)}
        found |= {j: _Text() for j in range(self.shift)}
        # a column that held numbers turns out to hold text: it is read again, as text from the beginning
        while not (pieces := self._read_pieces(found, kept)):
            found = {place: _Text() for place in found}
        whole = pd.concat(pieces) if len(pieces) > 1 else pieces[0]
        pieces.clear()
        as_written = [whole[place].fillna("").astype(object).map(_without_mark) for place in self._names()]
        row_names = as_written[0] if self.shift else None
        ids = as_written[-1] if len(as_written) > self.shift else None
        whole = whole.iloc[:, self.shift : self.shift + len(names)]  # no cell behind a separator at the end of lines
        whole.columns = pd.Index(names)
        code: list[str] = []
        notes: list[str] = []
        empty: list[str] = []
        columns = {name: found[j + self.shift] for j, name in enumerate(names) if j + self.shift in found}
        for name, text in columns.items():
            column, statements = self._settle(whole[name], text)
            whole.isetitem(names.index(name), column)
            code += statements
            if not (holds_numbers(column) or holds_truths(column)):
                notes += self._note_same_numbers(column)
                empty += [name] * ("" in text.marked and self.dialect.quoted_na is None)
                shown = f"table[{name!r}]"
                code += [f"{shown} = {shown}.mask({shown} == {word!r})" for word in sorted(text.emptied)]
        if empty:
            said = f'"" in quotes was taken for an empty text in {", ".join(empty)}'
            notes.insert(0, f"{said}; with --quoted-na missing it is a missing value.")
        code = [self._code(found, whole), *code, *self._empty_numbers(whole)]
        return Content(whole, row_names, ids, code, notes)

    def _names(self) -> list[int]:
        """List the places of the columns that name the rows, whose cells are never missing."""
        named = [j + self.shift for j, name in enumerate(self.shape.names) if name == self.id_name]
        return [*range(self.shift), *named]

    def _read_pieces(self, found: dict[int, _Text], kept: BoolArray | None) -> list[pd.DataFrame]:
        """Read frames of the rows that are kept, and learn from all rows of the columns of text.

        Nothing comes back where there are more columns of text, which `found` has afterwards.
        """
        import pandas as pd

        width, named = self.shape.width, self._names()
        # by column, because a word such as NA is a name where it names a row
        missing: Any = {j: ["", *self.dialect.missing_texts] for j in range(width) if j not in named}
        number, frames, begun = self.dialect.number, [], 0
        sizes = {j: _Sizes() for j in range(width) if j not in found}
        with (
            readable(self.source.name),
            pd.read_csv(
                Feed(self.source, self.dialect),
                sep=self.dialect.delimiter,
                decimal=self.dialect.decimal or ".",
                header=0 if self.dialect.header else None,
                names=range(width),
                index_col=False,
                dtype=dict.fromkeys(found, "str"),
                keep_default_na=False,
                na_values=missing,
                chunksize=max(1, CELLS // width),
                low_memory=False,
            ) as reader,
        ):
            for piece in reader:
                more = [j for j in range(width) if j not in found and not holds_numbers(piece[j])]
                if more:
                    found |= {j: _Text() for j in more}
                    return []
                for j, size in sizes.items():
                    size.look(piece[j].to_numpy())
                for j, text in found.items():
                    # in text a number of --na is compared letter by letter, which pandas would not do
                    for word in self.dialect.missing_numbers if j not in named else ():
                        if (hit := piece[j] == word).any():
                            piece[j] = piece[j].mask(hit)
                            text.emptied.add(word)
                    if j >= self.shift:
                        text.look(piece[j], number, marked=self.marked)
                end = begun + len(piece)
                piece.index = pd.RangeIndex(begun, end)
                if kept is None or kept[begun:end].any():
                    frames.append(piece if kept is None else piece[kept[begun:end]])
                begun = end
        if rounded := [j for j, size in sizes.items() if size.rounded]:
            found |= {j: _Text() for j in rounded}
            return []
        if begun != self.shape.n_rows:
            raise BadInputError(
                f"{self.source.name}: has {self.shape.n_rows} rows by its lines, and {begun} by its quotes; mend the "
                "quotes."
            )
        return frames

    def _empty_numbers(self, frame: pd.DataFrame) -> list[str]:
        """Make missing, in columns of numbers, what equals a number of --na, and give statements that do the same."""
        statements = []
        for value in self.dialect.missing_numbers.values():
            for j, name in enumerate(frame.columns):
                column = frame.iloc[:, j]
                if name == self.id_name or not holds_numbers(column):
                    continue
                if (hit := (column == value).fillna(False).astype(bool)).any():
                    frame.isetitem(j, (_nullable(column) if is_large(column) else column).mask(hit).array)
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

    def _settle(self, column: pd.Series[Any], text: _Text) -> tuple[Any, list[str]]:
        """Make of a column of text numbers, truth values, or text, and give the statements that do the same."""
        import pandas as pd

        name, asked = column.name, self.dialect.quoted_na
        free, quoted = name not in self.as_text, sorted(text.marked - {""})
        if free and text.filled and text.numeric:
            return self._read_numbers(column), []
        # T and F stay text: pandas leaves them, too, and a level "T" is as likely as a truth value
        if free and text.filled and text.logical and not twice_spelled(text.spelled):
            truths = column.map(LOGICAL.get, na_action="ignore").astype("boolean")
            return (truths.astype(bool) if not truths.isna().any() else truths), []
        if free and not text.filled and not quoted:  # nothing but empty cells
            return pd.Series(np.nan, index=column.index, name=name), []
        if not text.marked:
            return column, []
        if asked is None and (quoted or self.shape.all_quoted):
            what = (
                f'"{quoted[0]}" in quotes, which may be a word or a missing value'
                if quoted
                else '"", and every cell is in quotes, so that it may be an empty text or a missing value'
            )
            raise BadInputError(
                f"{self.source.name}: column {name!r} holds {what}; --quoted-na word or --quoted-na missing says which."
            )
        values: Any = column.astype(object)
        statements = []
        for value in sorted(text.marked):
            hit = (values == MARK + value).to_numpy(dtype=bool)
            values = values.mask(hit, None if asked == "missing" else value)
            if asked != "missing" and hit.any():
                statements.append(f"table.loc[{column.index[hit].tolist()!r}, {name!r}] = {value!r}")
        return values.astype(column.dtype), statements

    def _read_numbers(self, column: pd.Series[Any]) -> Any:
        """Read cells of text as numbers; quoted ones without are missing, whole numbers beyond 64 bits stay text."""
        import pandas as pd

        values = given = column.mask(column.str.startswith(MARK, na=False))
        if self.dialect.thousands is not None:
            values = values.str.replace(self.dialect.thousands, "", regex=False)
        if self.dialect.decimal == ",":
            values = values.str.replace(",", ".", regex=False)
        values = values.str.strip(" \t")
        known = values.dropna()
        if len(known) and known.str.fullmatch(WHOLE).all():
            whole = known.map(int).astype(object)
            low, high = whole.min(), whole.max()
            if max(-low, high) >= EXACT:
                kind = "Int64" if -(2**63) <= low <= high < 2**63 else "UInt64" if 0 <= low <= high < 2**64 else None
                if kind is None:
                    return given
                found = pd.Series(whole, dtype=kind, name=column.name).reindex(values.index)
                return found if found.isna().any() else found.astype(np.dtype(kind.lower()))
        numbers = pd.to_numeric(values.astype(object))
        return numbers.astype(float) if numbers.dtype == object else numbers

    def _code(self, found: Mapping[int, _Text], whole: pd.DataFrame) -> str:
        """Write the call of pandas that reads the same table, `whole`."""
        import pandas as pd

        options = code_of_dialect(self.dialect, self.source)
        if not self.dialect.header:
            options |= {"header": None, "names": list(self.shape.names)}
        elif self.shape.row_names:
            options["index_col"] = 0
        elif self.shape.width > len(self.shape.names):
            options["index_col"] = False
        options |= {"keep_default_na": False, "na_values": ["", *self.dialect.missing_texts]}
        texts = {name: "str" for name in self.shape.names if name in self.as_text}
        for j, name in enumerate(self.shape.names):
            seen, column = found.get(j + self.shift), whole.iloc[:, j]
            if isinstance(column.dtype, pd.Int64Dtype | pd.UInt64Dtype):
                texts[name] = str(column.dtype)
            elif seen is not None and seen.filled and seen.numeric and not holds_numbers(column):  # beyond 64 bits
                texts[name] = "str"
        if texts:
            options["dtype"] = texts
        words = "".join(f", {key}={value!r}" for key, value in options.items())
        return f"table = pd.read_csv({self.source.code}{words})"


def is_large(column: pd.Series[Any]) -> bool:
    """Tell whether a column of whole numbers has some that floating-point numbers would round."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or not column.notna().any():
        return False
    return int(column.max()) >= EXACT or int(column.min()) <= -EXACT


def _nullable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Make a column of whole numbers one that can have gaps."""
    return column.astype("UInt64" if str(column.dtype).lower() == "uint64" else "Int64")


def _without_mark(cell: object) -> str:
    """Write a cell as the file does."""
    return str(cell).removeprefix(MARK)


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
