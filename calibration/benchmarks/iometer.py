"""Iometer's results, a CSV file, as points of a measurement.

A file has the access specifications, then a block for each test: a line of column names, a row for
all managers together (`ALL`), rows of managers, processors, workers and disks, and a time stamp.
Columns are found by name: versions 2003 to 1.1 differ in them. Iometer's words:

- A queue depth is that of each target of each worker. So `# Disks`, which counts targets of all
  workers, times the depth is what is outstanding.
- Response times are milliseconds from the issue to the completion of an I/O, sectors 512 bytes.
- `MBps` is 2^20 bytes in versions before 1.1; rates in I/Os say it without doubt and are used.

Source: Iometer User's Guide, version 2003.12.16, "Test Results"; the program's own column names.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from raidlab.calibration.measurements.measurement import Latency, Point, Rw, Side
from raidlab.calibration.measurements.results import Refused, UnreadableError, not_of

_SECTOR: Final = 512
_COLUMNS: Final = "'Target Type"
_STAMP: Final = "'Time Stamp"
_SPECIFICATION: Final = "'Access specification name"
_LINE_OF_SPECIFICATION: Final = "'size"
_NEEDED: Final = (
    "Target Name", "Access Specification Name", "# Disks", "Read IOps", "Write IOps",
    "Average Read Response Time", "Average Write Response Time", "Errors", "Read I/Os",
    "Write I/Os", "Starting Sector", "Maximum Size", "Queue Depth",
)  # fmt: skip
_CUT: Final = "was the file cut off?"


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
    """A test: its rows by column, and whether its time stamp came."""

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
    specifications, blocks = _read(text)
    if not blocks:
        raise not_of("iometer", text)
    points, refused = [], []
    for block in blocks:
        for row in block.of("ALL"):
            name = row["Access Specification Name"]
            try:
                points.append(_point(block, row, specifications.get(name), file))
            except UnreadableError as error:
                refused.append(Refused(name or f"line {block.line}", str(error)))
    return points, refused


def _read(text: str) -> tuple[dict[str, list[AccessLine]], list[_Block]]:
    specifications: dict[str, list[AccessLine]] = {}
    blocks: list[_Block] = []
    section, name, end = "", "", 0
    for number, line in enumerate(text.splitlines(), 1):
        cells = next(csv.reader([line]), [])
        if not line.strip():
            continue
        end = number
        if line.startswith("'"):
            section = cells[0]
            if section == _COLUMNS:
                blocks.append(_Block([cells[0][1:], *cells[1:]], number))
            continue
        if section == _SPECIFICATION:
            # A name has no comma of its own: what follows the last one is its assignment.
            name = line.strip().rpartition(",")[0] or line.strip()
            specifications[name] = []
        elif section == _LINE_OF_SPECIFICATION and name:
            specifications[name].append(_access_line(cells, number))
        elif section == _COLUMNS:
            blocks[-1].rows.append(_row(blocks[-1].columns, cells, number))
        elif section == _STAMP and blocks:
            blocks[-1].complete = True
    for block in blocks:
        if not block.complete or not block.of("ALL"):
            raise UnreadableError(
                f"ends at line {end} before the time stamp of the test of line {block.line}; {_CUT}"
            )
    return specifications, blocks


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
            f"line {number} ends after {len(cells)} of {len(columns)} columns; {_CUT}"
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
