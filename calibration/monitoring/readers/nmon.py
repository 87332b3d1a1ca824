"""nmon's files: sections by name, many disks split over `DISKREAD`, `DISKREAD1` and so on.

`ZZZZ` ties each `T0001` to a time. Rates are KB/s of 1,024 bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.numbers import KIB, plain
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_SECTIONS: Mapping[str, tuple[Quantity, float]] = {
    "DISKBUSY": (Q.UTIL, 1.0),
    "DISKREAD": (Q.READ_BYTES, KIB),
    "DISKWRITE": (Q.WRITE_BYTES, KIB),
    "DISKXFER": (Q.IOS, 1.0),
    "DISKBSIZE": (Q.SIZE, KIB),
    "DISKRIO": (Q.READS, 1.0),
    "DISKWIO": (Q.WRITES, 1.0),
    "DISKREADS": (Q.READS, 1.0),
    "DISKWRITES": (Q.WRITES, 1.0),
    "DISKRXFER": (Q.READS, 1.0),
    "DISKREADSERV": (Q.R_AWAIT, 1.0),
    "DISKWRITESERV": (Q.W_AWAIT, 1.0),
    "DISKAVGRIO": (Q.READ_SIZE, KIB),
    "DISKAVGWIO": (Q.WRITE_SIZE, KIB),
}
_NAME = re.compile(r"(DISK[A-Z]+?)(\d*)$")


def _recognises(head: str) -> float:
    return (
        0.95
        if re.search(r"^AAA,(progname|command|version|date|host)", head, re.M)
        else (0.7 if re.search(r"^ZZZZ,T\d+,", head, re.M) else 0.0)
    )


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("nmon")
    points = Points()
    unknown: list[str] = []
    for source in sources:
        _file(source, points, capture, unknown)
    points.finish(capture, options.interval_s)
    if not capture.series:
        raise RefusedError("no section of disks is in it", source="nmon")
    if unknown:
        capture.note("unknown-column", ", ".join(unknown[:3]), "sections that are not used")
    return capture


def _file(source: Source, points: Points, capture: Capture, unknown: list[str]) -> None:
    headings: dict[str, list[str]] = {}
    times: dict[str, float] = {}
    interval = math.nan
    date = "1-JAN-1970"
    for line in source.lines():
        words = line.lstrip("\ufeff").split(",")
        name = words[0]
        if name == "AAA" and len(words) > 2:
            if words[1] == "host":
                if capture.host not in (None, words[2]):
                    raise RefusedError(f"several hosts: {capture.host} and {words[2]}")
                capture.host = words[2]
            elif words[1] == "date":
                date = words[2]
            elif words[1] == "interval":
                interval = float(words[2])
        elif name == "ZZZZ" and len(words) >= 3:
            stamp = clock.parse(f"{words[3] if len(words) > 3 else date} {words[2]}")
            if stamp is not None:
                times[words[1]] = stamp.seconds
                capture.saw([stamp.seconds])
        elif name.startswith("DISK") and len(words) > 2:
            _section(words, headings, times, points, unknown)
    if not times and headings:
        raise RefusedError("no snapshot has a time (ZZZZ)", source="nmon")
    if len(times) == 1 and not math.isnan(interval):
        capture.note("one-sample", "", "one snapshot only")


def _section(
    words: Sequence[str],
    headings: dict[str, list[str]],
    times: Mapping[str, float],
    points: Points,
    unknown: list[str],
) -> None:
    found = _NAME.match(words[0])
    if found is None:
        return
    sense = _SECTIONS.get(found[1])
    if sense is None:
        if found[1] not in unknown and not re.fullmatch(r"T\d+", words[1]):
            unknown.append(found[1])
        return
    if not re.fullmatch(r"T\d+", words[1]):
        headings[words[0]] = [word.strip() for word in words[2:]]
        return
    at = times.get(words[1])
    names = headings.get(words[0])
    if at is None or names is None:
        return
    for device, cell in zip(names, words[2:], strict=False):
        if not device:
            continue
        try:
            value = plain(cell, comma=False)
        except ValueError:
            continue
        points.add(device, sense[0], at, value * sense[1])


READER = Reader("nmon", "nmon's files", _recognises, _read)
