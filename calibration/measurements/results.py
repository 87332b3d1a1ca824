"""Files of load generators: where they lie, what they hold, and which program wrote them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from raidlab.devices.faults import SpecError
from raidlab.devices.reading import MIB, read_bytes

LARGEST_FILE: Final = 256 * MIB
CUT: Final = "was the file cut off?"
"""How a message ends about a file that stops where its program goes on."""


class UnreadableError(ValueError):
    """Why a file, or a part of it, gives no point."""


@dataclass(frozen=True)
class Refused:
    """A test of a file that gives no point."""

    test: str
    reason: str


def written(path: Path) -> str:
    """A path as a file of text can contain it: bytes that are no UTF-8 written out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def files_below(path: Path) -> Iterator[Path]:
    """The file, or every file of a folder and the folders in it, but for hidden ones."""
    if not path.is_dir():
        yield path
        return
    for inner in sorted(path.rglob("*")):
        # Hidden below the folder, that is: the way to it may well begin with "..".
        hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
        if inner.is_file() and not hidden:
            yield inner


def read_result(path: Path, tool: str) -> tuple[str, str]:
    """The text of a result and its SHA-256 in hexadecimal digits.

    Raises:
        UnreadableError: It cannot be read, is too large, or no text in UTF-8.
    """
    try:
        raw = read_bytes(path, LARGEST_FILE, f"result of {tool}")
    except SpecError as error:
        raise UnreadableError(error.faults[0].allowed) from None
    try:
        return raw.decode("utf-8"), hashlib.sha256(raw).hexdigest()
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not UTF-8 text at byte {error.start}") from None


_MARKS: Final = {
    "iometer": ("'Target Type,Target Name", "'Test Type,Test Description"),
    "iozone": ("Iozone: Performance Test of File I/O", "Command line used: iozone", "  reclen  "),
    "fio": ('"fio version"', '"client_stats"'),
}
"""What a program writes into every result of its own."""

_PUBLISHED: Final = "source,id,controller,drive,"
"""How a file of published figures begins."""


def tool_of(text: str) -> str | None:
    """The program that wrote a result, as `raidlab import` names it; None if none is known."""
    return next((tool for tool, marks in _MARKS.items() if any(m in text for m in marks)), None)


def reader_of(text: str) -> str | None:
    """Whose a text is and what reads it, in words; None if it is of no known program."""
    tool = tool_of(text)
    if tool is not None:
        return f"a result of {tool}: `raidlab import {tool}` reads it"
    if text.startswith(_PUBLISHED):
        return "published figures: `raidlab import published` reads them"
    return None


def not_of(tool: str, text: str) -> UnreadableError:
    """That a text is no result of a program, and whose it is."""
    whose = None if tool_of(text) == tool else reader_of(text)
    return UnreadableError(whose or f"no result of {tool}")
