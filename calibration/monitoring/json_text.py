"""JSON as tools write it: cut off, with repeated keys, decimal commas or missing commas.

What had to be repaired is said, so that nobody takes a damaged file for a whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_DECIMAL_COMMA = re.compile(r"(:\s*-?\d+),(\d+)(?=\s*[,}\]\n])")
_NO_NUMBER = re.compile(r"(:\s*)[-+]?(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_NO_COMMA = re.compile(r"([}\]])(\s*)(?=[{\"])")
_EXTRA_COMMA = re.compile(r",(\s*)(?=[}\]])")


@dataclass
class Repairs:
    """What was wrong with a text."""

    texts: list[str] = field(default_factory=list)
    cut: bool = False

    def add(self, text: str) -> None:
        """Notes a repair, once."""
        if text not in self.texts:
            self.texts.append(text)


def joined(pairs: Sequence[tuple[str, Any]], repairs: Repairs) -> dict[str, object]:
    """An object; lists of a repeated key are joined, of other values the first counts."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key not in found:
            found[key] = value
        elif isinstance(value, list) and isinstance(known := found[key], list):
            found[key] = known + value
            repairs.add(f'the key "{key}" is repeated: its lists were joined')
        elif value != found[key]:
            repairs.add(f'the key "{key}" is repeated with another value: the first one counts')
    return found


def _decoder(repairs: Repairs) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=lambda pairs: joined(pairs, repairs), strict=False)


def corrected(text: str, repairs: Repairs) -> str:
    """The text with what JSON does not allow put right, as far as its sense is clear."""
    for pattern, instead, what in (
        (_DECIMAL_COMMA, r"\1.\2", "decimal commas were read as points"),
        (_NO_NUMBER, r"\1null", "nan and inf were read as nothing"),
        (_NO_COMMA, r"\1,\2", "missing commas were added"),
        (_EXTRA_COMMA, r"\1", "commas too many were left out"),
    ):
        text, count = pattern.subn(instead, text)
        if count:
            repairs.add(f"invalid JSON: {what}")
    return text


def documents(text: str, repairs: Repairs) -> list[Any]:
    """Every JSON document of a text; what is cut off is closed where it ends.

    Raises:
        ValueError: There is none.
    """
    decoder = _decoder(repairs)
    found: list[Any] = []
    at = 0
    while True:
        start = re.compile(r"[\[{]").search(text, at)
        if start is None:
            break
        try:
            tree, at = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            rest = text[start.start() :]
            tree = _repaired(rest, repairs)
            found.append(tree)
            break
        found.append(tree)
    if not found:
        raise ValueError("no JSON document")
    return found


def _repaired(text: str, repairs: Repairs) -> Any:
    fixed = corrected(text, repairs)
    try:
        return _decoder(repairs).raw_decode(fixed)[0]
    except (ValueError, RecursionError):
        pass
    closed = closed_where_cut(fixed)
    if closed is None:
        raise ValueError("not JSON, and not JSON that was cut off")
    repairs.cut = True
    repairs.add("the file is cut off: what is not whole is left out")
    try:
        return _decoder(repairs).raw_decode(closed)[0]
    except (ValueError, RecursionError):
        raise ValueError("not JSON, and not JSON that was cut off") from None


def closed_where_cut(text: str) -> str | None:
    """A cut text up to its last whole element of a list or object, with its brackets closed."""
    stack: list[str] = []
    best: tuple[int, list[str]] | None = None
    in_string = escaped = False
    for at, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
            continue
        if char == '"':
            in_string = True
        elif char in "[{":
            stack.append("]" if char == "[" else "}")
        elif char in "]}":
            if not stack or stack.pop() != char:
                return None
            best = (at + 1, stack.copy())
            if not stack:
                return text[: at + 1]
    if best is None:
        return None
    end, still_open = best
    return text[:end] + "".join(reversed(still_open))


def elements(text: str, key: str, repairs: Repairs) -> Iterator[Any]:
    """The elements of every list named `key`, one after the other.

    An element that is not whole ends the list; `repairs.cut` says so.
    """
    decoder = _decoder(repairs)
    opening = re.compile(rf'"{key}"\s*:\s*\[')
    blank = re.compile(r"[\s,]*")
    position = 0
    fixed = False
    while True:
        begin = opening.search(text, position)
        if begin is None:
            return
        position = begin.end()
        while True:
            space = blank.match(text, position)
            position = space.end() if space else position
            if text[position : position + 1] == "]":
                break
            try:
                element, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError):
                if not fixed:
                    fixed = True
                    text, position = corrected(text[position:], repairs), 0
                    continue
                repairs.cut = True
                return
            yield element
