"""Files of others: read to a limit, whatever they are, and checked for how deep they nest.

A path may name an endless device, and a file of a few kilobytes may nest a thousand levels deep,
which programs that call themselves for each level cannot follow.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.other_kind import of_another_form

MIB = 1 << 20
_PIPE = 64 * MIB
"""Bytes that are read of what is no file: it may never end."""
DEEPEST_LEVEL = 64
"""Levels of tables and lists in a file; raidlab's own have eight."""

_LONG_KEY = re.compile(r"(?:^|[\[{,])[ \t]*(?:[A-Za-z0-9_-]+[ \t]*\.[ \t]*){64}", re.MULTILINE)
"""A dotted key of TOML with too many parts: reading it takes time with the square of them."""


def reason(error: OSError) -> str:
    """Why the system refused something; what no file is to blame for is said as such."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many files are open at once: raise the limit (ulimit -n)"
    return error.strerror or "the system gives no reason"


def unreadable(path: Path, why: str) -> SpecError:
    """That a file cannot be read, and why."""
    return SpecError([Fault("", None, why, (), str(path))])


_MOST_DIGITS = 18


def read_bytes(path: Path, limit: int, what: str) -> bytes:
    """The content of a file.

    Args:
        path: The file; a device or a pipe is read to the limit at most.
        limit: Bytes that it may have.
        what: That it would be, for the message: `raidlab file`.

    Raises:
        SpecError: It cannot be read, or is larger.
    """
    try:
        if not path.is_file():
            limit = min(limit, _PIPE)
            what += " from a pipe or a device"
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise unreadable(path, reason(error)) from None
    except ValueError as error:
        raise unreadable(path, f"no path: {error}") from None
    if len(content) > limit:
        raise unreadable(path, f"larger than {limit // MIB} MiB: no {what}")
    return content


def read_text(path: Path, limit: int, what: str) -> str:
    """The content of a file in UTF-8.

    Raises:
        SpecError: It cannot be read, is larger than `limit` bytes, or no such text.
    """
    try:
        # Editors of Windows begin a file with a byte-order mark.
        return read_bytes(path, limit, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise unreadable(path, f"not UTF-8 text at byte {error.start}") from None


def read_json(path: Path, limit: int, what: str) -> Any:
    """What a JSON file holds.

    Raises:
        SpecError: It cannot be read, is larger than `limit` bytes, no JSON, or nests too deeply.
    """
    text = read_text(path, limit, what)
    try:
        tree = json.loads(text)
    except RecursionError:
        raise unreadable(path, _too_deep("")) from None
    except ValueError as error:
        other = of_another_form(path, {".json"})
        why = f"not JSON: {error}; cut off?" if other is None else f"not JSON: {other}"
        raise unreadable(path, why) from None
    check_depth(tree, str(path))
    return tree


def check_depth(tree: Any, file: str = "") -> None:
    """Refuses what nests deeper than `DEEPEST_LEVEL` levels, or contains itself.

    Raises:
        SpecError: Names where it begins.
    """
    level: list[tuple[str, Any]] = [("", tree)] if isinstance(tree, Mapping | list) else []
    for _ in range(DEEPEST_LEVEL + 1):
        level = [
            (f"{key}.{name}" if key else str(name), item)
            for key, value in level
            for name, item in _items(value)
            if isinstance(item, Mapping | list | tuple)
        ]
        if not level:
            return
    key = ".".join(level[0][0].split(".")[:4])
    raise SpecError([Fault(key, None, _too_deep(""), (), file)])


def check_keys(text: str, path: Path) -> None:
    """Refuses TOML whose dotted keys have more parts than tables may nest.

    Raises:
        SpecError: Names the line.
    """
    found = _LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.end()) + 1
        raise SpecError([Fault(f"line {line}", None, _too_deep("a key "), (), str(path))])


def _too_deep(what: str) -> str:
    return f"{what}nested deeper than {DEEPEST_LEVEL} levels"


def _items(value: Any) -> Any:
    return value.items() if isinstance(value, Mapping) else enumerate(value)


def whole_number(text: str) -> int | None:
    """The whole number from 0 that a text is; None if it is none, or has more than 18 digits."""
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
