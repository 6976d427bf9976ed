"""The bytes of an input: a file or standard input, gzip undone up to a limit, and its text in blocks of whole lines."""

from __future__ import annotations

import csv
import gzip
import io
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from energystats.cli.errors import BadInputError

__all__ = ["UNPACKED", "Source", "readable"]


BLOCK = 2**20  # bytes or characters read at a time
GIGABYTE = 10**9
UNPACKED = 2.0  # GB that a gzip may unpack to, unless --unpack-limit says otherwise
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
PACKED = {b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7-Zip"}


@dataclass(frozen=True, eq=False)
class Source:
    """Hold an input of the command line, a file or standard input, which can be read several times."""

    name: str  # the name of the file, or "standard input"
    # its bytes, where it can be read only once; None for a file, which is opened when it is read
    content: bytes | None = None

    @classmethod
    def of(cls, file: str, limit: float = UNPACKED) -> Source:
        """Return the input file of a given name, or standard input for "-"; raise BadInputError if unreadable."""
        if not limit > 0:
            raise BadInputError(f"--unpack-limit must be a number of GB above 0, got {limit:g}.")
        path = Path(file)
        try:
            if file == "-" and sys.stdin is None:
                raise BadInputError("-: standard input is closed; name a file, or lead a table into it: < FILE.")
            if file == "-":
                content = getattr(sys.stdin, "buffer", sys.stdin).read()
                source = cls("standard input", content.encode() if isinstance(content, str) else content)
            elif path.is_dir():
                raise BadInputError(f"{file}: is a folder, not a file.")
            else:  # a pipe can be read only once
                source = cls(file, None if stat.S_ISREG(path.stat().st_mode) else path.read_bytes())
            zipped = source.zipped
        except FileNotFoundError as error:
            raise BadInputError(f"{file}: no such file.") from error
        except (OSError, ValueError) as error:
            raise BadInputError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}.") from error
        if zipped:
            source._check_size(limit)
        return source

    def _check_size(self, limit: float) -> None:
        """Raise BadInputError if a gzip file unpacks to more than `limit` GB."""
        with readable(self.name), self.open() as file:
            sizes = accumulate(len(block) for block in iter(partial(file.read, BLOCK), b""))
            if any(size > limit * GIGABYTE for size in sizes):
                raise BadInputError(
                    f"{self.name}: unpacks to more than {limit:g} GB; --unpack-limit GB raises the limit, if the file "
                    "is to be trusted."
                )

    def _open_packed(self) -> BinaryIO:
        """Open the input file as a binary stream, still compressed if it is a gzip file."""
        return Path(self.name).open("rb") if self.content is None else io.BytesIO(self.content)

    @cached_property
    def zipped(self) -> bool:
        """Return whether the input is a gzip file, judged by its first bytes."""
        with self._open_packed() as file:
            return file.read(2) == GZIP

    def open(self) -> BinaryIO | gzip.GzipFile:
        """Open the input file as a binary stream, decompressed if it is a gzip file."""
        if not self.zipped:
            return self._open_packed()
        return gzip.open(self.name if self.content is None else io.BytesIO(self.content))

    def head(self, size: int = 4096) -> bytes:
        """Return the first bytes of the decompressed input."""
        with readable(self.name), self.open() as file:
            return file.read(size)

    def is_parquet(self, options: Sequence[str]) -> bool:
        """Return whether the input is a Parquet file; raise BadInputError if options describe it as text."""
        if self.head(4) != PARQUET and Path(self.name).suffix.lower() not in (".parquet", ".pq"):
            return False
        if options:
            raise BadInputError(f"{self.name}: {', '.join(options)}: of no use with Parquet, which says it itself.")
        return True

    @property
    def code(self) -> str:
        """Return a Python expression for the input: a quoted file name or sys.stdin."""
        return "sys.stdin" if self.name == "standard input" else repr(self.name)

    def code_of_text(self, encoding: str) -> str:
        """Return a Python expression for the decoded text of the input."""
        if self.name == "standard input":
            return "sys.stdin.read()"
        content = f"pathlib.Path({self.code}).read_bytes()"
        return f"{f'gzip.decompress({content})' if self.zipped else content}.decode({encoding!r})"

    @property
    def encoding(self) -> str:
        """Return the text encoding that the first bytes show: UTF-16 with a byte order mark, else UTF-8."""
        return "utf-16" if self.head(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"

    def _describe_bytes(self, head: bytes, encoding: str | None) -> str:
        """Return an error message for an input that is not text, or is text in an unexpected encoding."""
        if encoding is not None and "16" not in encoding and self.encoding == "utf-16":
            return f"{self.name}: begins with the mark of UTF-16, which is not {encoding}; leave --encoding out."
        if self.encoding == "utf-16":
            return f"{self.name}: begins with the mark of UTF-16, and is no text in it; is the file whole?"
        zeros = (head[::2].count(0), head[1::2].count(0))
        if encoding is None and min(zeros) == 0 and max(zeros) > len(head) // 4:
            order = "le" if zeros[1] else "be"
            return f"{self.name}: seems to be UTF-16 without its mark; --encoding utf-16-{order} reads it."
        return f"{self.name}: is not text; CSV or Parquet is needed."

    def blocks(self, encoding: str | None) -> Iterator[str]:
        """Yield the decoded text of the input in blocks of whole lines, without a byte order mark."""
        head = self.head()
        if head.startswith(WORKBOOKS):
            raise BadInputError(f"{self.name}: is a workbook or an archive; save the table as CSV.")
        for begin, packer in PACKED.items():
            if head.startswith(begin):
                raise BadInputError(f"{self.name}: is packed by {packer}; unpack it, or pack it with gzip.")
        try:
            with self.open() as content, io.TextIOWrapper(content, encoding or self.encoding, newline="") as file:
                for i, block in enumerate(iter(lambda: file.read(BLOCK) + file.readline(), "")):
                    if "\0" in block:
                        raise BadInputError(self._describe_bytes(head, encoding))
                    yield block if i else block.removeprefix("\ufeff")
        except LookupError as error:
            raise BadInputError(f"--encoding must be an encoding that Python knows, got {encoding!r}.") from error
        except UnicodeError as error:
            marked = self.encoding == "utf-16"
            if marked or (encoding is None and any(byte < 9 or 13 < byte < 27 for byte in head)):  # which text lacks
                raise BadInputError(self._describe_bytes(head, encoding)) from error
            hint = "name its encoding, such as --encoding latin-1" if encoding is None else "another --encoding?"
            raise BadInputError(f"{self.name}: is not {encoding or 'UTF-8'} text; {hint}.") from error


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Convert errors of reading to BadInputError with the file name, within a `with` block."""
    try:
        yield
    except ImportError as error:
        raise BadInputError(f"{file}: reading Parquet needs pyarrow; `pip install pyarrow`.") from error
    except gzip.BadGzipFile as error:  # it began as a gzip
        raise BadInputError(
            f"{file}: the gzip is damaged, or other bytes follow it ({error}); pack the table again."
        ) from error
    except (OSError, ValueError, EOFError, csv.Error, zlib.error) as error:  # those of pyarrow are ValueErrors
        raise BadInputError(f"{file}: cannot be read: {error}") from error
