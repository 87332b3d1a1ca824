"""Changes of single numbers in a data sheet's text: comments and order stay as they are."""

from __future__ import annotations

import re
from typing import Any

from raidlab.devices.spec_writer import toml_value

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?=[ \",\]%]|$)")


def with_value(text: str, key: str, value: Any) -> str:
    """The sheet with another value of a key.

    Args:
        text: The TOML file.
        key: `table.name`; the file has it.
        value: As the file holds it: a number, a text with a unit, a list of them.

    Raises:
        ValueError: There is no such key.
    """
    match = _find(text, key)
    return text[: match.start(1)] + toml_value(value) + text[match.end(1) :]


def scaled(text: str, key: str, factor: float) -> str:
    """The sheet with every number of a value multiplied, to four digits; a count stays whole.

    Raises:
        ValueError: There is no such key.
    """
    match = _find(text, key)
    if match[1].isdigit():
        value = str(max(1, round(int(match[1]) * factor)))
    else:
        value = _NUMBER.sub(lambda number: f"{float(number[0]) * factor:.4g}", match[1])
    return text[: match.start(1)] + value + text[match.end(1) :]


def with_source(text: str, key: str, source: Any) -> str:
    """The sheet with another statement of where a key's value comes from."""
    if not re.search(r"^\[sources\]$", text, re.M):
        text = f"{text.rstrip()}\n\n[sources]\n"
    line = f'"{key}" = {toml_value(source)}' if "." in key else f"{key} = {toml_value(source)}"
    start = text.index("[sources]")
    end = _end_of_table(text, start)
    known = re.compile(rf'^"?{re.escape(key)}"? = .*$', re.M).search(text, start, end)
    if known is not None:
        return text[: known.start()] + line + text[known.end() :]
    before = text[:end].rstrip()
    return f"{before}\n{line}\n" + ("\n" + text[end:] if text[end:] else "")


def _find(text: str, key: str) -> re.Match[str]:
    table, _, name = key.rpartition(".")
    header = re.search(rf"^\[{re.escape(table)}\]$", text, re.M)
    if header is not None:
        pattern = re.compile(rf"^{re.escape(name)} = (.*)$", re.M)
        match = pattern.search(text, header.end(), _end_of_table(text, header.start()))
        if match is not None:
            return match
    raise ValueError(f"{key}: no parameter of this data sheet")


def _end_of_table(text: str, start: int) -> int:
    following = re.compile(r"^\[", re.M).search(text, start + 1)
    return len(text) if following is None else following.start()
