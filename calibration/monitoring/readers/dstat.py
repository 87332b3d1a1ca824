"""dstat as CSV (`--output`) and as text, also pcp's and dool's: groups under two headings.

`dsk/` is bytes a second, `io/` requests a second. The first row covers the time since boot.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.numbers import with_prefix
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import (
    Boot,
    Capture,
    Quantity,
    Recorder,
    RefusedError,
)
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_TIMES = ("time", "epoch", "date/time", "system time")
_SENSES = {
    ("dsk", "read"): Q.READ_BYTES, ("dsk", "writ"): Q.WRITE_BYTES,
    ("io", "read"): Q.READS, ("io", "writ"): Q.WRITES,
}  # fmt: skip


def _recognises(head: str) -> float:
    low = head[:2000].lower()
    if "csv output" in low and ("dstat" in low or "dool" in low):
        return 0.95
    if _TITLES.search(low) and re.search(r"read\s+writ", low):
        return 0.85
    return 0.7 if '"dsk/' in low or '"io/' in low else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("dstat", boot=Boot.OPEN)
    recorder = Recorder()
    firsts: list[dict[str, int]] = []
    for source in sources:
        if _TITLES.search(source.head[:4000]):
            _shown(source, recorder, firsts)
            continue
        _file(source, recorder, capture, firsts, options)
    capture.series = recorder.series()
    if not capture.series:
        raise RefusedError("no column of a disk is in it (dstat -d -r)", source="dstat")
    for series in capture.series.values():
        capture.saw(series.at)
    capture.runs = firsts
    return capture


def _file(
    source: Source,
    recorder: Recorder,
    capture: Capture,
    firsts: list[dict[str, int]],
    options: Options,
) -> None:
    groups: list[str] = []
    names: list[str] = []
    columns: list[tuple[int, str, Quantity]] = []
    rows: list[tuple[float, list[str]]] = []
    time_at: int | None = None
    started, interval = 0.0, options.interval_s
    reader = csv.reader(line.lstrip("\ufeff") for line in source.lines())
    for row in reader:
        if not any(row):
            continue
        if row[0] == "Host:":
            capture.host = row[1]
        if row[0] == "Cmdline:":
            date = clock.parse(row[row.index("Date:") + 1]) if "Date:" in row[:-1] else None
            if date is not None and date.dated:
                started = date.seconds
            words = row[1].split()
            number = next((word for word in words[1:] if word.isdigit()), None)
            interval = interval or (float(number) if number else None)
        # Of several disks the second heading has both parts: dsk/sda:read.
        below = [cell.rpartition(":")[2] for cell in row]
        if groups and any(cell in ("read", "writ", "write") for cell in below):
            names = below
            columns = [
                (at, group.partition("/")[2], _SENSES[key])
                for at, (group, name) in enumerate(zip(groups, names, strict=False))
                if (key := (group.partition("/")[0], name[:4])) in _SENSES
            ]
            time_at = next((at for at, name in enumerate(names) if name in _TIMES), None)
            continue
        if any(cell.startswith(("dsk/", "io/")) for cell in row):
            groups = _filled(row)
            continue
        if columns and len(row) >= len(names) - 1:
            at = math.nan
            if time_at is not None and time_at < len(row):
                at = _time(row[time_at], started)
            rows.append((at, row))
    _rows(rows, columns, recorder, firsts, interval)


_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_TITLES = re.compile(r"-(?:dsk|io)/")


def _shown(source: Source, recorder: Recorder, firsts: list[dict[str, int]]) -> None:
    """What a terminal shows: groups under titles, apart by bars and colons."""
    titles: list[list[str]] = []
    columns: list[tuple[int, str, Quantity]] = []
    time_at: int | None = None
    rows: list[tuple[float, list[str]]] = []
    for line in source.lines():
        line = _COLOUR.sub("", line)
        if _TITLES.search(line):
            titles = [re.split(r"-{2,}", group.strip("-")) for group in line.split()]
            columns, time_at = [], None
            continue
        groups = line.split("|")
        if titles and not columns and len(groups) == len(titles):
            cells = 0
            for title, group in zip(titles, groups, strict=True):
                parts = group.split(":") if len(title) > 1 else [group]
                for name, part in zip(title, parts, strict=False):
                    for word in part.split():
                        key = (name.partition("/")[0], word[:4])
                        if key in _SENSES:
                            columns.append((cells, name.partition("/")[2], _SENSES[key]))
                        if word in _TIMES:
                            time_at = cells
                        cells += 1
            continue
        if columns and len(groups) == len(titles):
            row: list[str] = []
            for title, group in zip(titles, groups, strict=True):
                whole = title[0].startswith("system") and time_at is not None
                row += [group.strip()] if whole else re.split(r"[\s:]+", group.strip())
            at = _time(row[time_at]) if time_at is not None else math.nan
            rows.append((at, row))
    _rows(rows, columns, recorder, firsts, None)


def _filled(row: Sequence[str]) -> list[str]:
    found, last = [], ""
    for cell in row:
        last = cell or last
        found.append(last)
    return found


def _time(text: str, started: float = 0.0) -> float:
    """Seconds; dstat prints day and month and no year, which is that of its start or the next."""
    seconds = clock.epoch(text)
    if seconds is not None:
        return seconds
    day, _, of_day = text.strip().partition(" ")
    parts = day.split("-")
    if len(parts) == 2 and of_day:
        # dool prints the month first, by name.
        of_month, month = parts if parts[0].isdigit() else parts[::-1]
        number = int(month) if month.isdigit() else clock.month_of(month) or 1
        year = datetime.fromtimestamp(started, UTC).year
        stamps = [clock.parse(f"{each}-{number:02d}-{int(of_month):02d} {of_day}")
                  for each in (year, year + 1)]  # fmt: skip
        found = [each.seconds for each in stamps if each is not None]
        return next((each for each in found if each > started - clock.DAY), math.nan)
    stamp = clock.parse(text)
    return math.nan if stamp is None else stamp.seconds


def _rows(
    rows: Sequence[tuple[float, list[str]]],
    columns: Sequence[tuple[int, str, Quantity]],
    recorder: Recorder,
    firsts: list[dict[str, int]],
    interval: float | None,
) -> None:
    begin = {name: len(recorder.rows.get(name, ())) for _, name, _ in columns}
    firsts.append(begin)
    last = math.nan
    for index, (at, row) in enumerate(rows):
        length = at - last if not math.isnan(at - last) else (interval or math.nan)
        if index == 0:
            length = math.nan
        last = at
        values: dict[str, dict[Quantity, float]] = {}
        for where, name, quantity in columns:
            try:
                value = with_prefix(row[where]) if where < len(row) else math.nan
            except ValueError:
                value = math.nan
            if not math.isnan(value):
                values.setdefault(name, {})[quantity] = value
        for name in begin:
            recorder.add(name, at if not np.isnan(at) else math.nan, length, values.get(name, {}))


READER = Reader("dstat", "dstat as CSV or text", _recognises, _read)
