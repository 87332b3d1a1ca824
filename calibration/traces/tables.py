"""Traces that are tables with commas: MSR Cambridge, SPC, SYSTOR '17, Alibaba, any CSV.

A layout says which column means what, in which unit; one reader serves all of them. Every format is
described, with a line of each, in docs/reference/formats/traces.md.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.calibration.traces.fields import (
    NS,
    SECTOR,
    Lines,
    Rows,
    WrongError,
    each,
    ns_of,
    op_of,
    whole,
)
from raidlab.calibration.traces.trace import FLUSH, Request
from raidlab.devices.faults import Fault, SpecError

COLUMNS = ("op", "offset", "size", "time", "response", "unit")
_UNITS: Mapping[str, tuple[str, ...]] = {
    "offset": ("B", "sector"),
    "size": ("B", "sector"),
    "time": tuple(NS),
    "response": tuple(NS),
}


@dataclass(frozen=True)
class Layout:
    """What the columns of a table mean."""

    names: tuple[str, ...]
    """Columns in their order."""
    columns: Mapping[str, tuple[str, str]]
    """For each meaning, the column's name and its unit."""
    unit: tuple[str, tuple[str, ...]] = ("", ())
    """What the disk is called: a word, and the columns that distinguish it."""
    optional: int = 0
    """Columns at the end that a line may leave out."""
    blank_op: bool = False
    """True if a line without a kind of I/O records none."""

    def request(self, line: str, number: int) -> Request | None:
        """The request of a line; none if it records no I/O.

        Raises:
            WrongError: The line is none of this table.
        """
        try:
            parts = [part.strip() for part in next(csv.reader([line]), [])]
        except csv.Error as error:
            raise WrongError(f"a line of a table: {error}") from None
        least = len(self.names) - self.optional
        if len(parts) < least:
            names = ",".join(self.names[:least])
            more = "".join(f" (and {name})" for name in self.names[least:])
            raise WrongError(f"{least} columns, {names}{more}; here are {len(parts)}")
        row = dict(zip(self.names, parts, strict=False))

        def text(meaning: str) -> str:
            return row.get(self.columns[meaning][0], "") if meaning in self.columns else ""

        def what(meaning: str) -> str:
            name, unit = self.columns[meaning]
            return f"{meaning} in {unit} (column {name})"

        def count(meaning: str) -> int:
            scale = SECTOR if self.columns[meaning][1] == "sector" else 1
            return whole(text(meaning), what(meaning)) * scale

        def time(meaning: str) -> int:
            return ns_of(text(meaning), self.columns[meaning][1], what(meaning))

        if self.blank_op and not text("op"):
            return None
        op = op_of(text("op"))
        word, identity = self.unit
        return Request(
            op,
            count("offset") if op != FLUSH else 0,
            count("size") if op != FLUSH else 0,
            time("time"),
            time("response") / 1000 if text("response") else None,
            number,
            word + ".".join(row[name] for name in identity),
        )


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
    for needed in ("op", "offset", "size", "time"):
        if needed not in found:
            allowed = f"a column for {needed}: {needed}=NAME"
            raise SpecError([Fault("--columns", given or None, allowed)])
    return found


def _layout(
    names: str, columns: str, unit: tuple[str, tuple[str, ...]], optional: int = 0
) -> Layout:
    return Layout(tuple(names.split(",")), columns_of(columns), unit, optional)


LAYOUTS: Mapping[str, Layout] = {
    "msr": _layout(
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        "time=Timestamp:100ns op=Type offset=Offset size=Size response=ResponseTime:100ns",
        ("", ("Hostname", "DiskNumber")),
        optional=1,
    ),
    "spc": _layout(
        "ASU,LBA,Size,Opcode,Timestamp",
        "time=Timestamp:s op=Opcode offset=LBA:sector size=Size",
        ("ASU ", ("ASU",)),
    ),
    "systor17": replace(
        _layout(
            "Timestamp,Response,IOType,LUN,Offset,Size",
            "time=Timestamp:s op=IOType offset=Offset size=Size response=Response:s",
            ("LUN ", ("LUN",)),
        ),
        blank_op=True,
    ),
    "alibaba": _layout(
        "device_id,opcode,offset,length,timestamp",
        "time=timestamp:us op=opcode offset=offset size=length",
        ("device ", ("device_id",)),
    ),
}
"""Tables whose columns are known; their first line may name them."""


def read_table(lines: Lines, path: Path, layout: Layout) -> Rows:
    """A table of a known layout."""

    def of(line: str, number: int) -> Request | None:
        first = line.split(",")[0].strip().replace("_", "").replace(" ", "")
        return None if number == 1 and first.isalpha() else layout.request(line, number)

    yield from each(lines, path, of)


def read_csv(lines: Lines, path: Path, columns: Mapping[str, tuple[str, str]]) -> Rows:
    """A table with names in its first line; `columns` says which means what."""
    rows = iter(lines)
    header = next(rows, (1, ""))[1]
    names = tuple(name.strip() for name in next(csv.reader([header]), []))
    if not names:
        yield Fault("", None, "empty: no first line with the names of columns", (), str(path))
        return
    absent = [name for name, _ in columns.values() if name not in names]
    for name in absent:
        allowed = f"a column of the first line: {', '.join(names)}"
        yield Fault("--columns", name, allowed, names, str(path))
    twice = [name for name, _ in columns.values() if names.count(name) > 1]
    for name in dict.fromkeys(twice):
        allowed = f"a name of one column; the first line has it {names.count(name)} times"
        yield Fault("--columns", name, allowed, (), str(path))
    if not absent and not twice:
        identity = (columns["unit"][0],) if "unit" in columns else ()
        layout = Layout(names, columns, ("", identity))
        yield from each(rows, path, layout.request)
