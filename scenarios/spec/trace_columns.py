"""What the columns of a recorded trace with names mean: `--columns`, `trace_columns`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from raidlab.devices.faults import Fault, SpecError

COLUMNS = ("op", "offset", "size", "time", "response", "unit")
_TIMES = ("s", "ms", "us", "ns", "100ns")
_SIZES = ("B", "sector", "kB", "KiB", "4KiB", "MB", "MiB")
_EXAMPLES = {
    "time": "time=NAME:s",
    "op": "op=NAME",
    "offset": "offset=NAME:B",
    "size": "size=NAME:B",
}
"""Columns that every table has."""
_UNITS: Mapping[str, tuple[str, ...]] = {
    "op": ("", "digit", "is-read", "scsi"),
    "offset": _SIZES,
    "size": _SIZES,
    "time": (*_TIMES, "date"),
    "response": _TIMES,
}
_WITHOUT: Mapping[str, str] = {"op": "", "offset": "B", "size": "B"}
"""The unit where none is given."""


def columns_of(given: str) -> dict[str, tuple[str, str]]:
    """What `--columns "time=ts:s op=type offset=lba:sector size=len:B response=rt:us"` says.

    A name with spaces, commas or a colon is in quotes: `time="Start Time":ms`.

    Returns:
        For each meaning, the column's name and its unit.

    Raises:
        SpecError: A meaning, a name or a unit that does not exist.
    """
    found: dict[str, tuple[str, str]] = {}
    for word in _words(given):
        meaning, equals, rest = word.partition("=")
        if meaning not in COLUMNS or not equals or not rest:
            allowed = (
                f"words such as time=ts:s; before = is one of {', '.join(COLUMNS)}; a name with"
                ' spaces is in quotes: time="Start Time":s'
            )
            raise SpecError([Fault("--columns", word, allowed, COLUMNS)])
        units = _UNITS.get(meaning, ())
        name, colon, unit = rest.rpartition(":")
        if not colon or not units or not name:
            name, unit = rest, _WITHOUT.get(meaning, "")
        if units and unit not in units:
            named = ", ".join(each for each in units if each)
            allowed = f"{meaning}={name}:UNIT with one of {named}"
            if not colon and " " in given:
                allowed += f'; a name with spaces is in quotes: {meaning}="{name} ..."'
            raise SpecError([Fault("--columns", word, allowed, units)])
        if meaning in found:
            raise SpecError([Fault("--columns", word, f"one column for {meaning}; here are two")])
        found[meaning] = (name, unit)
    missing = [needed for needed in _EXAMPLES if needed not in found]
    if missing:
        examples = " ".join(_EXAMPLES[needed] for needed in missing)
        allowed = (
            f'columns for {", ".join(missing)}: "{examples}", with the names of the first line'
        )
        raise SpecError([Fault("--columns", given or None, allowed)])
    return found


def _words(given: str) -> list[str]:
    lexer = shlex.shlex(given, posix=True)
    lexer.whitespace, lexer.whitespace_split = " \t\r\n,", True
    lexer.commenters = lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:
        allowed = "quotes around a name that end: another quote is missing"
        raise SpecError([Fault("--columns", given, allowed)]) from None
