"""Files as text: any encoding, packed or not, read whole or line by line."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, cast

from raidlab.calibration.monitoring.samples import RefusedError
from raidlab.devices.reading import MIB, reason, unreadable

_HEAD = 256 << 10
_WHOLE_FILE_BYTES = 1024 * MIB
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a packed file or a spreadsheet: export the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet or document of an office program: export it as CSV"),
    (b"%PDF", "a PDF: export the figures as CSV"),
    (b"\x89PNG", "a picture: export the figures as CSV"),
    (b"\xff\xd8\xff", "a picture: export the figures as CSV"),
    (b"\x96\xd5", "a binary file of sar's: print it with sadf -j FILE -- -d"),
    (b"\xd5\x96", "a binary file of sar's: print it with sadf -j FILE -- -d"),
    (b"\x50\x05\x26", "a binary archive of pcp: print it with pmrep -o csv"),
)


@dataclass(frozen=True)
class Source:
    """One file."""

    path: Path

    @cached_property
    def _start(self) -> bytes:
        try:
            with self._opened() as file:
                return file.read(_HEAD)
        except (OSError, EOFError, lzma.LZMAError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise unreadable(self.path, why) from None

    def _opened(self) -> IO[bytes]:
        with self.path.open("rb") as raw:
            magic = raw.read(6)
        if magic.startswith(b"\x1f\x8b"):
            return cast("IO[bytes]", gzip.open(self.path, "rb"))
        if magic.startswith(b"\xfd7zXZ"):
            return cast("IO[bytes]", lzma.open(self.path, "rb"))
        return self.path.open("rb")

    @cached_property
    def encoding(self) -> str:
        """Of the text, by its mark or its bytes."""
        start = self._start
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        if start[1::2].count(0) > len(start) // 4:
            return "utf-16-le"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8"

    @cached_property
    def head(self) -> str:
        """The first 256 KiB.

        Raises:
            RefusedError: The file is empty, or no text.
        """
        start = self._start
        if not start.strip():
            raise RefusedError("the file is empty")
        for mark, what in _FOREIGN:
            if start.startswith(mark):
                raise RefusedError(what)
        if b"\0" in start and not self.encoding.startswith("utf-16"):
            raise RefusedError("the file is no text")
        return start.decode(self.encoding, "replace")

    @cached_property
    def whole(self) -> bool:
        """True if `head` is all of it."""
        return len(self._start) < _HEAD

    def text(self) -> str:
        """All of it, whatever ends its lines.

        Raises:
            RefusedError: It has more than 1 GiB.
        """
        try:
            with self._opened() as file:
                content = file.read(_WHOLE_FILE_BYTES + 1)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise unreadable(self.path, str(error)) from None
        if len(content) > _WHOLE_FILE_BYTES:
            raise RefusedError("larger than 1 GiB: split it")
        text = content.decode(self.encoding, "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def blocks(self, size: int) -> Iterator[bytes]:
        """Its bytes in blocks, without a byte-order mark."""
        try:
            with self._opened() as file:
                first = True
                while block := file.read(size):
                    yield block.removeprefix(codecs.BOM_UTF8) if first else block
                    first = False
        except (EOFError, lzma.LZMAError) as error:
            raise unreadable(self.path, str(error)) from None

    def lines(self) -> Iterator[str]:
        """Line by line, without their ends: little memory, however long the file is."""
        with self._opened() as file:
            wrapped = io.TextIOWrapper(
                cast("IO[bytes]", io.BufferedReader(cast("io.RawIOBase", file), MIB)),
                encoding=self.encoding,
                errors="replace",
            )
            for line in wrapped:
                yield line.rstrip("\r\n")
