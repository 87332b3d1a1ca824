"""atop's parseable output (`atop -P DSK`), and what its screen shows.

Fields of a disk: name, ms busy, reads, sectors read, writes, sectors written; newer versions have
more behind them. They are counts over the interval. The first sample covers the time since boot.
On the screen a disk has names and values apart by bars: counts of requests, KiB of each. `avio` is
busy time by requests, no latency.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Boot,
    Capture,
    Layer,
    Quantity,
    Recorder,
    RefusedError,
)
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_ROW = re.compile(
    r"^(?P<label>DSK|LVM|MDD) (?P<host>\S+) (?P<epoch>\d+) \S+ \S+ (?P<length>\d+) (?P<name>\S+)"
    r" (?P<busy>\d+) (?P<reads>\d+) (?P<rsec>\d+) (?P<writes>\d+) (?P<wsec>\d+)"
)


_SCREEN = re.compile(
    r"^ATOP - (?P<host>\S+)\s+(?P<at>\d{4}/\d\d/\d\d\s+\d\d:\d\d:\d\d)\s.*?"
    r"(?P<length>(?:\d+[dhms])+) elapsed"
)
_SHOWN = re.compile(r"^(?P<label>DSK|LVM|MDD) \|\s+(?P<name>\S+)\s+\|(?P<cells>.*)$")
_CELL = re.compile(r"(\S+)\s+([\d.]+(?:e[+-]?\d+)?)")
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}


def _recognises(head: str) -> float:
    shown = re.search(r"^ATOP - ", head, re.MULTILINE) and re.search(r"^DSK \|", head, re.MULTILINE)
    return 0.95 if shown or re.search(_ROW.pattern, head, re.MULTILINE) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("atop", zone="Z", boot=Boot.DROPPED)
    recorder = Recorder()
    since_boot = True
    for source in sources:
        if _SCREEN.search(source.head) or "\nATOP - " in source.head:
            _screens(source, recorder, capture)
            continue
        for line in source.lines():
            if line.startswith("RESET"):
                since_boot = True
            elif line.startswith("SEP"):
                since_boot = False
            else:
                row = _ROW.match(line)
                if row is not None:
                    _add(row, recorder, capture, dropped=since_boot)
    capture.series = recorder.series()
    if not capture.series:
        raise RefusedError("no sample of a disk but that since boot", source="atop")
    return capture


@dataclass
class _Screen:
    """What one screen shows of its disks."""

    at: float
    length: float
    rows: list[re.Match[str]] = field(default_factory=list)
    since_boot: bool = False


def _screens(source: Source, recorder: Recorder, capture: Capture) -> None:
    """Samples of screens one after the other; below its disks one says that it is since boot."""
    screens: list[_Screen] = []
    for line in source.lines():
        head = _SCREEN.match(line)
        if head is not None:
            stamp = clock.parse(head["at"].replace("/", "-", 2))
            parts = re.findall(r"(\d+)([dhms])", head["length"])
            length = float(sum(int(number) * _SECONDS[unit] for number, unit in parts))
            screens.append(_Screen(0.0 if stamp is None else stamp.seconds, length))
            capture.host = head["host"]
        elif screens and "since boot" in line.lower():
            screens[-1].since_boot = True
        elif screens and (row := _SHOWN.match(line)) is not None:
            screens[-1].rows.append(row)
    capture.zone = None
    capture.boot = Boot.DROPPED if any(each.since_boot for each in screens) else Boot.NEVER
    for screen in screens:
        capture.saw([screen.at])
        if not screen.since_boot and screen.length > 0:
            for row in screen.rows:
                _show(row, screen, recorder)


def _show(row: re.Match[str], screen: _Screen, recorder: Recorder) -> None:
    """A disk of a screen: counts over its time, and the mean KiB of each."""
    if row["label"] != "DSK":
        recorder.layers[row["name"]] = Layer.ABOVE
    cells = {name: float(value) for name, value in _CELL.findall(row["cells"])}
    values = {
        Q.READS: cells.get("read", 0.0) / screen.length,
        Q.WRITES: cells.get("write", 0.0) / screen.length,
        Q.UTIL: cells.get("busy", 0.0),
    }
    for quantity, each, rate in (
        (Q.READ_BYTES, "KiB/r", Q.READS), (Q.WRITE_BYTES, "KiB/w", Q.WRITES),
    ):  # fmt: skip
        if each in cells:
            values[quantity] = 1024 * cells[each] * values[rate]
    recorder.add(row["name"], screen.at, screen.length, values)


def _add(row: re.Match[str], recorder: Recorder, capture: Capture, *, dropped: bool) -> None:
    if capture.host not in (None, row["host"]):
        raise RefusedError(f"several hosts are in it ({capture.host} and {row['host']})")
    capture.host = row["host"]
    at, length = float(row["epoch"]), float(row["length"])
    capture.saw([at])
    if dropped or length <= 0:
        return
    if row["label"] != "DSK":
        recorder.layers[row["name"]] = Layer.ABOVE
    values = {
        Q.READS: float(row["reads"]) / length,
        Q.WRITES: float(row["writes"]) / length,
        Q.READ_BYTES: 512 * float(row["rsec"]) / length,
        Q.WRITE_BYTES: 512 * float(row["wsec"]) / length,
        Q.UTIL: float(row["busy"]) / (10 * length),
    }
    recorder.add(row["name"], at, length, values)


READER = Reader("atop", "atop as text or with -P DSK", _recognises, _read)
