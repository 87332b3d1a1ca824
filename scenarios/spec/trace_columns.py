"""What the columns of a recorded trace with names mean: `--columns`, `trace_columns`."""

from __future__ import annotations

from collections.abc import Mapping

from raidlab.devices.faults import Fault, SpecError

COLUMNS = ("op", "offset", "size", "time", "response", "unit")
_TIMES = ("s", "ms", "us", "ns", "100ns")
_EXAMPLES = {
    "time": "time=NAME:s",
    "op": "op=NAME",
    "offset": "offset=NAME:B",
    "size": "size=NAME:B",
}
"""Columns that every table has."""
_UNITS: Mapping[str, tuple[str, ...]] = {
    "offset": ("B", "sector"),
    "size": ("B", "sector"),
    "time": _TIMES,
    "response": _TIMES,
}


def columns_of(given: str) -> dict[str, tuple[str, str]]:
    """What `--columns "time=ts:s op=type offset=lba:sector size=len:B response=rt:us"` says.

    Returns:
        For each meaning, the column's name and its unit.

    Raises:
        SpecError: A meaning, a name or a unit that does not exist.
    """
    found: dict[str, tuple[str, str]] = {}
    for word in given.replace(",", " ").split():
        meaning, equals, rest = word.partition("=")
        name, _, unit = rest.partition(":")
        if meaning not in COLUMNS or not equals or not name:
            allowed = f"words such as time=ts:s; before = is one of {', '.join(COLUMNS)}"
            raise SpecError([Fault("--columns", word, allowed, COLUMNS)])
        units = _UNITS.get(meaning, ("",))
        unit = unit or {"offset": "B", "size": "B"}.get(meaning, "")
        if unit not in units:
            allowed = f"{meaning}={name}:UNIT with one of {', '.join(units)}"
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
