"""A CSV file as a data frame: pandas reads it in pieces, and columns of text become what R would make of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import BoolArray
from energystats.cli.csv_scan import MARK, Feed, Shape
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.sources import Source, readable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXACT", "LOGICAL", "MEANINGS", "Content", "read_content", "twice_spelled"]


CELLS = 2**20  # of a piece
EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers, which pandas makes of columns with gaps
WHOLE = r"[-+]?\d+"
LOGICAL = {"TRUE": True, "FALSE": False, "True": True, "False": False, "true": True, "false": False}
MEANINGS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}  # in capitals or not


@dataclass(kw_only=True)
class _Text:
    """What the cells of a column of text have in common, over all pieces of the file."""

    numeric: bool = True
    logical: bool = True
    filled: bool = False
    marked: set[str] = field(default_factory=set)
    truths: bool = True
    spelled: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)

    def without(self, column: pd.Series[Any], words: Iterable[str]) -> Any:
        """The cells of one more piece, but those that hold one of some words are missing."""
        for word in words:
            hit = column == word
            if hit.any():
                column = column.mask(hit)
                self.emptied.add(word)
        return column

    def look(self, column: pd.Series[Any], number: re.Pattern[str], *, marked: bool) -> None:
        """One more piece; nothing more can be learned of plain text without marks."""
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
    """What pandas made of the numbers of a column, over all pieces of the file."""

    large: bool = False
    fractions: bool = False
    kinds: set[str] = field(default_factory=set)

    def look(self, values: Any) -> None:
        """One more piece."""
        self.kinds.add(values.dtype.kind)
        known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if known.size:
            self.large = self.large or int(known.max()) >= EXACT or int(known.min()) <= -EXACT
            self.fractions = self.fractions or (values.dtype.kind == "f" and bool((known != np.floor(known)).any()))

    @property
    def rounded(self) -> bool:
        """Whether whole numbers may have lost digits; as text they are read exactly."""
        return self.large and not self.fractions and self.kinds not in ({"i"}, {"u"})


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """What was read.

    Attributes
    ----------
    frame : DataFrame
        The columns, the index counting the rows of the file from 0.
    row_names : list or None
        The names of the rows that were kept.
    ids : list or None
        Those in the column that --id names, as they are written.
    code : tuple of str
        Statements that make `table`, in Python.
    notes : tuple of str
        What the user should know.
    """

    frame: pd.DataFrame
    row_names: list[str] | None
    ids: list[str] | None
    code: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _MoreTextError(Exception):
    """Raised when a column that held numbers turns out to hold text: it is read again, as text from the beginning."""

    def __init__(self, columns: Collection[int]) -> None:
        super().__init__("columns of text")
        self.columns = set(columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Reader:
    """A scanned file and how it is read."""

    source: Source
    dialect: Dialect
    shape: Shape
    marked: bool
    as_text: Collection[str] = ()
    id_name: str | None = None

    @property
    def id_place(self) -> int | None:
        """Place in a row of the column that --id names."""
        return None if self.id_name not in self.shape.names else self.shape.names.index(self.id_name) + self.shift

    @property
    def shift(self) -> int:
        """Place of the first column of data in a row."""
        return int(self.shape.row_names)

    def read(self, kept: BoolArray | None) -> Content:
        """The rows that are kept, all when None."""
        names = self.shape.names
        text = {j + self.shift for j, name in enumerate(names) if name in self.as_text} | set(range(self.shift))
        text |= set() if self.id_place is None else {self.id_place}
        while True:
            try:
                pieces, found = self.pieces(text, kept)
                break
            except _MoreTextError as more:
                text |= more.columns
        import pandas as pd

        whole = pd.concat(pieces) if len(pieces) > 1 else pieces[0]
        pieces.clear()
        row_names = None
        if self.shift:
            row_names = [str(v).removeprefix(MARK) if isinstance(v, str) else "" for v in whole.iloc[:, 0]]
        ids = None
        if self.id_place is not None:
            ids = [str(v).removeprefix(MARK) for v in whole.iloc[:, self.id_place]]
        whole = whole.iloc[:, self.shift : self.shift + len(names)]  # no cell behind a separator at the end of lines
        whole.columns = pd.Index(names)
        code: list[str] = []
        notes, same = [], []
        for place in sorted(found):
            j = place - self.shift
            if 0 <= j < len(names):
                column, statements = self.settled(whole.iloc[:, j], found[place])
                whole.isetitem(j, column)
                code += statements
                same += self.same_numbers(column)
                if "" in found[place].marked and _is_text(column) and self.dialect.quoted_na is None:
                    notes.append(names[j])
        for place in sorted(found):
            if 0 <= place - self.shift < len(names) and _is_text(whole.iloc[:, place - self.shift]):
                shown = f"table[{names[place - self.shift]!r}]"
                code += [f"{shown} = {shown}.mask({shown} == {word!r})" for word in sorted(found[place].emptied)]
        code = [self.code(found, whole), *code, *self.without_numbers(whole)]
        return Content(frame=whole, row_names=row_names, ids=ids, code=tuple(code), notes=(*_empty_texts(notes), *same))

    def pieces(self, text: set[int], kept: BoolArray | None) -> tuple[list[pd.DataFrame], dict[int, _Text]]:
        """Frames of the rows that are kept, and what was seen in all rows of the columns of text."""
        import pandas as pd
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        feed = Feed(self.source, self.dialect)
        width = self.shape.width
        measured = [place for place in range(self.shift, width) if place != self.id_place]  # names are never missing
        missing: Any = {place: ["", *self.dialect.missing_texts] for place in measured}
        found = {place: _Text() for place in text}
        number = self.dialect.number
        sizes = {place: _Sizes() for place in range(width) if place not in text}
        frames, begun = [], 0
        with (
            readable(self.source.name),
            pd.read_csv(
                feed,
                sep=self.dialect.looks,
                decimal=self.dialect.decimal or ".",
                header=0 if self.dialect.header else None,
                names=range(width),
                index_col=False,
                dtype=dict.fromkeys(text, "str"),
                keep_default_na=False,
                na_values=missing,
                chunksize=max(1, CELLS // width),
                low_memory=False,
            ) as reader,
        ):
            for piece in reader:
                more = {
                    place
                    for place in range(width)
                    if place not in text and (is_bool_dtype(piece[place]) or not is_numeric_dtype(piece[place]))
                }
                if more:
                    raise _MoreTextError(more)
                for place, size in sizes.items():
                    size.look(piece[place].to_numpy())
                for place in text:
                    if place >= self.shift:
                        if place != self.id_place:
                            piece[place] = found[place].without(piece[place], self.dialect.missing_numbers)
                        found[place].look(piece[place], number, marked=self.marked)
                end = begun + len(piece)
                piece.index = pd.RangeIndex(begun, end)
                if kept is None:
                    frames.append(piece)
                elif kept[begun:end].any():
                    frames.append(piece[kept[begun:end]])
                begun = end
        if rounded := {place for place, size in sizes.items() if size.rounded}:
            raise _MoreTextError(rounded)
        if begun != self.shape.n_rows:
            raise BadInputError(
                f"{self.source.name}: has {self.shape.n_rows} rows by its lines, and {begun} by its quotes; mend the "
                "quotes."
            )
        return frames, found

    def without_numbers(self, frame: pd.DataFrame) -> list[str]:
        """Make missing, in columns of numbers, what equals a number of --na; the statements that do the same."""
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        statements = []
        for value in self.dialect.missing_numbers.values():
            for j, name in enumerate(frame.columns):
                column = frame.iloc[:, j]
                if name == self.id_name:
                    continue
                if not is_numeric_dtype(column) or is_bool_dtype(column):
                    continue
                if (hit := (column == value).fillna(False).astype(bool)).any():
                    frame.isetitem(j, (_nullable(column) if _is_large(column) else column).mask(hit).array)
                    statements.append(f"table[{name!r}] = table[{name!r}].mask(table[{name!r}] == {value!r})")
        return statements

    def same_numbers(self, column: pd.Series[Any]) -> list[str]:
        """Say which words of a column of text equal a number of --na and are values all the same."""
        if not _is_text(column) or not self.dialect.missing_numbers:
            return []
        for text in column.dropna().unique():
            value = self.dialect.value_of(text)
            word = next((w for w, number in self.dialect.missing_numbers.items() if number == value), None)
            if word is not None:
                return [
                    f"--na {word}: {text!r} in column {column.name!r} is the same number and stays, because text is "
                    f"compared letter by letter; --na {text} makes it missing too."
                ]
        return []

    def settled(self, column: pd.Series[Any], text: _Text) -> tuple[Any, list[str]]:
        """A column of text as numbers, truth values, or text, and the statements that do the same."""
        import pandas as pd

        name = str(column.name)
        kept_as_text = name in self.as_text
        quoted = sorted(text.marked - {""})
        if not kept_as_text and text.filled and text.numeric:
            return self.numbers(column), []
        if not kept_as_text and text.filled and text.logical and not twice_spelled(text.spelled):
            values = column.map(lambda v: LOGICAL.get(v), na_action="ignore").astype("boolean")
            return (values.astype(bool) if not values.isna().any() else values), []
        if not text.filled and not quoted and not kept_as_text:  # nothing but empty cells
            return pd.Series(np.nan, index=column.index, name=column.name), []
        if not text.marked:
            return column, []
        if quoted and self.dialect.quoted_na is None:
            raise BadInputError(
                f'{self.source.name}: column {name!r} holds "{quoted[0]}" in quotes, which may be a word or a missing '
                "value; --quoted-na word or --quoted-na missing says which."
            )
        if not quoted and self.shape.all_quoted and self.dialect.quoted_na is None:
            raise BadInputError(
                f'{self.source.name}: column {name!r} holds "", and every cell is in quotes, so that it may be an '
                "empty text or a missing value; --quoted-na word or --quoted-na missing says which."
            )
        values = column.astype(object)
        word = self.dialect.quoted_na != "missing"
        statements = []
        for value in sorted(text.marked):
            hit = (values == MARK + value).to_numpy(dtype=bool)
            stands_for: Any = value if word else None
            values.iloc[np.flatnonzero(hit)] = stands_for
            if word and hit.any():
                statements.append(f"table.loc[{column.index[hit].tolist()!r}, {name!r}] = {value!r}")
        return values.astype(object if column.dtype == object else column.dtype), statements

    def numbers(self, column: pd.Series[Any]) -> Any:
        """Cells of text as numbers; quoted cells without one are missing, whole numbers beyond 64 bits stay text."""
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

    def code(self, found: Mapping[int, _Text], whole: pd.DataFrame) -> str:
        """The call of pandas that reads the same table, `whole`."""
        import pandas as pd

        given = self.dialect
        options: dict[str, Any] = {}
        if given.looks != ",":
            options["sep"] = given.looks
        if given.decimal not in (None, "."):
            options["decimal"] = given.decimal
        if given.thousands is not None:
            options["thousands"] = given.thousands
        if given.comment is not None:
            options["comment"] = given.comment
        if not given.header:
            options |= {"header": None, "names": list(self.shape.names)}
        elif self.shape.row_names:
            options["index_col"] = 0
        elif self.shape.width > len(self.shape.names):
            options["index_col"] = False
        options |= {"keep_default_na": False, "na_values": ["", *given.missing_texts]}
        texts = {name: "str" for name in self.shape.names if name in self.as_text}
        for j, name in enumerate(self.shape.names):
            seen, dtype = found.get(j + self.shift), whole.dtypes.iloc[j]
            if isinstance(dtype, pd.Int64Dtype | pd.UInt64Dtype):
                texts[name] = str(dtype)
            elif seen is not None and seen.filled and seen.numeric and _is_text(whole.iloc[:, j]):  # beyond 64 bits
                texts[name] = "str"
        if texts:
            options["dtype"] = texts
        encoding = given.encoding or self.source.encoding
        if encoding != "utf-8-sig":  # which pandas finds by itself
            options["encoding"] = encoding
        shown = "sys.stdin" if self.source.name == "standard input" else repr(self.source.name)
        return f"table = pd.read_csv({shown}{''.join(f', {key}={value!r}' for key, value in options.items())})"


def twice_spelled(words: Collection[str]) -> bool:
    """Whether words are truth values, and one of these has several spellings, such as TRUE and True."""
    lower = [word.lower() for word in set(words)]
    if not all(word in MEANINGS for word in lower) or set(lower) <= {"0", "1"}:
        return False
    return len({MEANINGS[word] for word in lower}) < len(lower)


def _is_large(column: pd.Series[Any]) -> bool:
    """Whether a column of whole numbers has some that floating-point numbers would round."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or not column.notna().any():
        return False
    return int(column.max()) >= EXACT or int(column.min()) <= -EXACT


def _nullable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Make a column of whole numbers one that can have gaps."""
    return column.astype("UInt64" if str(column.dtype).lower() == "uint64" else "Int64")


def _is_text(column: pd.Series[Any]) -> bool:
    """Whether a column stayed text."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return not (is_bool_dtype(column.dtype) or is_numeric_dtype(column.dtype))


def _empty_texts(names: Sequence[str]) -> tuple[str, ...]:
    """What an empty cell in quotes was taken for, as R takes it."""
    if not names:
        return ()
    listed = ", ".join(names)
    return (f'"" in quotes was taken for an empty text in {listed}; with --quoted-na missing it is a missing value.',)


def read_content(
    source: Source,
    dialect: Dialect,
    shape: Shape,
    *,
    marked: bool,
    as_text: Sequence[str] = (),
    id_name: str | None = None,
    kept: BoolArray | None = None,
) -> Content:
    """Read what was scanned; columns of `as_text` stay text, and rows that are not kept are not held."""
    reader = _Reader(source=source, dialect=dialect, shape=shape, marked=marked, as_text=as_text, id_name=id_name)
    return reader.read(kept)
