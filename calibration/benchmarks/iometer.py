"""Iometer's results, a CSV file, as points of a measurement.

A file has the access specifications, then a block for each test: a line of column names, a row for
all managers together (`ALL`), rows of managers, processors, workers and disks, and a time stamp.
Columns are found by name: versions 2003 to 1.1 differ in them. Iometer's words:

- A queue depth is that of each target of each worker. So `# Disks`, which counts targets of all
  workers, times the depth is what is outstanding.
- Response times are milliseconds from the issue to the completion of an I/O, sectors 512 bytes.
- `MBps` is 2^20 bytes in versions before 1.1; rates in I/Os say it without doubt and are used.

Each run of Iometer goes on at the end of the file: a header, specifications, tests. Every line has
an end. So a whole file ends with the time stamp of a test, since version 1.1 with `'End Test`
after the last one, and with `Aborted test` where a user stopped it.

Source: Iometer User's Guide, version 2003.12.16, "Test Results"; the program's own column names;
what its sources write (`GalileoView.cpp`, `ManagerList.cpp`, `PageSetup.cpp`, 2006 to 1.1.0).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from raidlab.calibration.measurements.measurement import Latency, Point, Rw, Side
from raidlab.calibration.measurements.results import CUT, Refused, UnreadableError, not_of, tool_of

_SECTOR: Final = 512
_COLUMNS: Final = "'Target Type"
_STAMP: Final = "'Time Stamp"
_STAMP_FORM: Final = "0000-00-00 00:00:00:000"
"""Of a time stamp, with 0 for each digit."""
_VERSION: Final = "'Version"
_END: Final = "'End Test"
_WRITES_END: Final = re.compile(r"\d{1,3}\.")
"""How versions begin that write `'End Test`: older ones are dates."""
_ABORTED: Final = "Aborted test"
_SHOWN: Final = 40
"""Characters of a line that a message shows."""
_SPECIFICATION: Final = "'Access specification name"
_LINE_OF_SPECIFICATION: Final = "'size"
_NEEDED: Final = (
    "Target Name", "Access Specification Name", "# Disks", "Read IOps", "Write IOps",
    "Average Read Response Time", "Average Write Response Time", "Errors", "Read I/Os",
    "Write I/Os", "Starting Sector", "Maximum Size", "Queue Depth",
)  # fmt: skip


@dataclass(frozen=True)
class AccessLine:
    """One line of an access specification."""

    size: int
    """Bytes of a transfer."""
    share: float
    """Percent of the transfers that are such."""
    reads: float
    """Percent."""
    random: float
    """Percent."""
    delay: float
    """Milliseconds between bursts."""
    burst: int
    """Transfers of a burst."""


@dataclass
class _Block:
    """A test: its rows by column, and whether its time stamp came whole."""

    columns: Sequence[str]
    line: int
    rows: list[Mapping[str, str]] = field(default_factory=list)
    complete: bool = False

    def of(self, kind: str) -> list[Mapping[str, str]]:
        return [row for row in self.rows if row[_COLUMNS[1:]] == kind]


def points_of(text: str, file: str) -> tuple[list[Point], list[Refused]]:
    """The points of a result, and the tests of it that give none.

    Args:
        text: The file's.
        file: Its name, for the points.

    Raises:
        UnreadableError: It is no result of Iometer, or was cut off.
    """
    if tool_of(text) != "iometer":
        raise not_of("iometer", text)
    _raise_if_cut_within_a_line(text)
    specifications, blocks = _read(text)
    points, refused = [], []
    for block in blocks:
        for row in block.of("ALL"):
            name = row["Access Specification Name"]
            try:
                points.append(_point(block, row, specifications.get(name), file))
            except UnreadableError as error:
                refused.append(Refused(name or f"line {block.line}", str(error)))
    return points, refused


def _raise_if_cut_within_a_line(text: str) -> None:
    """Refuses a text whose last line has no end.

    Raises:
        UnreadableError: Names the line.
    """
    end = "\n" if "\n" in text else "\r"
    if not text.endswith(end):
        lines = text.splitlines()
        last = lines[-1].strip()
        shown = last if len(last) <= _SHOWN else f"...{last[-_SHOWN:]}"
        raise UnreadableError(f"line {len(lines)}, {shown!r}, has no line end; {CUT}")


def _read(text: str) -> tuple[dict[str, list[AccessLine]], list[_Block]]:
    specifications: dict[str, list[AccessLine]] = {}
    blocks: list[_Block] = []
    section, name, end = "", "", _End()
    for number, line in enumerate(text.splitlines(), 1):
        cells = next(csv.reader([line]), [])
        if not line.strip():
            continue
        if line.startswith("'"):
            section = cells[0].strip()
            if section == _COLUMNS:
                blocks.append(_Block([section[1:], *cells[1:]], number))
        elif section == _SPECIFICATION:
            # A name has no comma of its own: what follows the last one is its assignment.
            name = line.strip().rpartition(",")[0] or line.strip()
            specifications[name] = []
        elif section == _LINE_OF_SPECIFICATION and name:
            specifications[name].append(_access_line(cells, number))
        elif section == _COLUMNS:
            blocks[-1].rows.append(_row(blocks[-1].columns, cells, number))
        elif section == _STAMP and blocks:
            blocks[-1].complete = blocks[-1].complete or _is_whole(line.strip())
        end.follow(section, cells[0].strip(), number, len(blocks))
    for block in blocks:
        if not block.complete or not block.of("ALL"):
            raise UnreadableError(
                f"ends at line {end.line} before the whole time stamp of the test of line"
                f" {block.line}; {CUT}"
            )
    end.raise_if_owed()
    if not blocks:
        raise UnreadableError("no results of a whole test ('Results): a log, or all was stopped")
    return specifications, blocks


def _is_whole(stamp: str) -> bool:
    """False for the beginning of a time stamp. Programs that saved the file may write others."""
    form = re.sub(r"\d", "0", stamp)
    return form == _STAMP_FORM or not _STAMP_FORM.startswith(form)


@dataclass
class _End:
    """What Iometer would still write after the lines so far."""

    line: int = 0
    version: str = ""
    tests: int = 0
    owed: str = ""

    def follow(self, section: str, line: str, number: int, tests: int) -> None:
        """Takes a line of a section that is not empty, after `tests` lines of column names."""
        self.line = number
        if section == _END or line == _ABORTED:
            self.owed = ""
        elif line.startswith("'"):
            self.owed = "the results of a test ('Results) and its time stamp"
        elif section == _VERSION:
            self.version = line
        elif section == _STAMP and tests > self.tests:
            self.tests = tests
            self.owed = _END if _WRITES_END.match(self.version) else ""

    def raise_if_owed(self) -> None:
        """Refuses a text that ends before the end of a test or of a run.

        Raises:
            UnreadableError: Says what is missing.
        """
        if self.owed:
            of = f", which version {self.version} writes last" if self.owed == _END else ""
            raise UnreadableError(f"ends at line {self.line} before {self.owed}{of}; {CUT}")


def _access_line(cells: Sequence[str], number: int) -> AccessLine:
    try:
        size, share, reads, random, delay, burst = (float(cell) for cell in cells[:6])
    except ValueError:
        allowed = "size, % of size, % reads, % random, delay, burst"
        raise UnreadableError(f"line {number}: {', '.join(cells)[:60]}: {allowed}") from None
    return AccessLine(int(size), share, reads, random, delay, int(burst))


def _row(columns: Sequence[str], cells: Sequence[str], number: int) -> Mapping[str, str]:
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise UnreadableError(f"no column {', '.join(missing)} in its tests")
    last = max(columns.index(name) for name in _NEEDED)
    if len(cells) <= last:
        raise UnreadableError(
            f"line {number} ends after {len(cells)} of {len(columns)} columns; {CUT}"
        )
    return dict(zip(columns, (cell.strip() for cell in cells), strict=False))


def _number(row: Mapping[str, str], column: str) -> float:
    try:
        return float(row[column] or 0)
    except ValueError:
        raise UnreadableError(f"{column} = {row[column][:40]}: a number") from None


def _point(
    block: _Block, row: Mapping[str, str], lines: Sequence[AccessLine] | None, file: str
) -> Point:
    name = row["Access Specification Name"]
    load = _only(lines, name)
    errors = int(_number(row, "Errors"))
    if errors:
        raise UnreadableError(f"{errors} I/Os failed")
    depth, targets = int(_number(row, "Queue Depth")), _targets(block, row)
    if depth < 1:
        raise UnreadableError("Queue Depth = -1: its workers have different ones")
    sector, size = int(_number(row, "Starting Sector")), int(_number(row, "Maximum Size"))
    if sector < 0 or size < 0:
        raise UnreadableError("Starting Sector or Maximum Size = -1: its workers have several")
    sides = {side: _side(row, side, load.size) for side in ("Read", "Write")}
    if not any(sides.values()):
        raise UnreadableError("no I/O was completed")
    ios = sum(side.ios for side in sides.values() if side)
    iops = sum(side.iops for side in sides.values() if side)
    return Point(
        name=name,
        rw=_rw(load),
        read_share=load.reads / 100,
        bs=load.size,
        iodepth=depth,
        numjobs=targets,
        area_bytes=size * _SECTOR or None,
        area_start_bytes=sector * _SECTOR,
        runtime_s=ios / iops,
        read=sides["Read"],
        write=sides["Write"],
        file=file,
    )


def _only(lines: Sequence[AccessLine] | None, name: str) -> AccessLine:
    """The one load of a specification.

    Raises:
        UnreadableError: It is not in the file, or no plain load.
    """
    if not lines:
        raise UnreadableError(f"access specification {name!r}: not in the file")
    reasons = []
    if len(lines) > 1:
        reasons.append(f"{len(lines)} kinds of transfers together: no single load")
    line = lines[0]
    if line.random not in (0, 100):
        reasons.append(f"{line.random:g} % random: neither a stream nor random")
    if line.delay or line.burst > 1:
        reasons.append(f"bursts of {line.burst} with {line.delay:g} ms between: no full queue")
    if line.size < 1:
        reasons.append(f"transfers of {line.size} B")
    if reasons:
        raise UnreadableError("; ".join(reasons))
    return line


def _rw(line: AccessLine) -> Rw:
    if line.reads == 100:
        return "randread" if line.random else "read"
    if line.reads == 0:
        return "randwrite" if line.random else "write"
    return "randrw" if line.random else "rw"


def _targets(block: _Block, row: Mapping[str, str]) -> int:
    """How many workers load the one target.

    Raises:
        UnreadableError: There are several, or it is not known.
    """
    count = int(_number(row, "# Disks"))
    names = {disk["Target Name"] for disk in block.of("DISK")}
    if len(names) > 1:
        raise UnreadableError(f"several targets together: {', '.join(sorted(names)[:4])}")
    if count > 1 and not names:
        raise UnreadableError(f"{count} targets, whose rows are not in the file: one drive or more")
    return max(1, count)


def _side(row: Mapping[str, str], side: str, size: int) -> Side | None:
    iops = _number(row, f"{side} IOps")
    if iops <= 0:
        return None
    mean_us = 1e3 * _number(row, f"Average {side} Response Time")
    most = f"Maximum {side} Response Time"
    most_us = 1e3 * _number(row, most) if most in row else 0.0
    if mean_us <= 0:
        raise UnreadableError(f"Average {side} Response Time = 0 at {iops:g} I/Os a second")
    return Side(
        iops=iops,
        ios=int(_number(row, f"{side} I/Os")),
        bytes_per_s=iops * size,
        latency_mean_us=mean_us,
        completion=Latency(mean_us=mean_us, max_us=most_us),
    )
