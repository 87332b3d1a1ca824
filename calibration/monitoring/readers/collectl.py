"""collectl: `-sD` (a row a disk), `-sd` (sums, brief or verbose), `-P` (a column for each figure).

Values are whole numbers: a wait of 0 is one below a millisecond.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.numbers import KIB, with_prefix
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, Recorder, RefusedError
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_READS = {"kbytes": (Q.READ_BYTES, KIB), "ios": (Q.READS, 1.0), "wait": (Q.R_AWAIT, 1.0)}
_WRITES = {"kbytes": (Q.WRITE_BYTES, KIB), "ios": (Q.WRITES, 1.0), "wait": (Q.W_AWAIT, 1.0)}
_AVERAGES = {"qlen": (Q.QUEUE, 1.0), "wait": (Q.AWAIT, 1.0), "util": (Q.UTIL, 1.0)}
_PLOT = {
    "reads": (Q.READS, 1.0), "rkbytes": (Q.READ_BYTES, KIB), "writes": (Q.WRITES, 1.0),
    "wkbytes": (Q.WRITE_BYTES, KIB), "rwaits": (Q.R_AWAIT, 1.0), "wwaits": (Q.W_AWAIT, 1.0),
    "rwait": (Q.R_AWAIT, 1.0), "wwait": (Q.W_AWAIT, 1.0), "quelen": (Q.QUEUE, 1.0),
    "wait": (Q.AWAIT, 1.0), "util": (Q.UTIL, 1.0), "readtot": (Q.READS, 1.0),
    "writetot": (Q.WRITES, 1.0), "readkbtot": (Q.READ_BYTES, KIB),
    "writekbtot": (Q.WRITE_BYTES, KIB), "opstot": (Q.IOS, 1.0), "kbtot": (Q.BYTES, KIB),
}  # fmt: skip
_SUMS = {
    "kbread": (Q.READ_BYTES, KIB), "reads": (Q.READS, 1.0), "kbwrit": (Q.WRITE_BYTES, KIB),
    "kbwrite": (Q.WRITE_BYTES, KIB), "writes": (Q.WRITES, 1.0),
}  # fmt: skip
"""Columns of `-sd`, the sums of all disks."""
Sense = tuple[Quantity, float] | None


@dataclass
class _State:
    capture: Capture
    options: Options
    recorder: Recorder = field(default_factory=Recorder)
    columns: list[Sense] = field(default_factory=list)
    plot: list[tuple[str, Sense]] = field(default_factory=list)
    sums: list[Sense] = field(default_factory=list)
    """Columns of a table of sums, if the present one is such a table."""
    span: tuple[int, int] | None = None
    """Where the columns of all disks stand in the heading that comes."""
    at: float = math.nan
    previous: float = math.nan
    interval: float = math.nan
    days: clock.Midnight = field(default_factory=clock.Midnight)
    timed: bool = False
    last_time: float = math.nan
    separator: str | None = None

    def line(self, line: str) -> None:
        """One line."""
        waiting = re.match(r"waiting for ([\d.]+) second sample", line)
        if waiting:
            self.interval = float(waiting[1])
        elif line.startswith("### RECORD"):
            self._record(line)
        elif line.startswith("#"):
            self._heading(line)
        elif line.strip() and self.plot:
            self._plot_row(line)
        elif line.strip() and self.sums:
            self._sum_row(line.split())
        elif line.strip() and self.columns:
            self._row(line.split())

    def _record(self, line: str) -> None:
        host = re.search(r">>>\s*(\S+)\s*<<<", line)
        time = re.search(r"\((\d{9,}(?:\.\d+)?)\)", line)
        if host:
            self.capture.host = host[1]
        if time:
            self.at = float(time[1])
            self.timed = True
            self.capture.zone = "Z"
            self.capture.saw([self.at])

    def _heading(self, line: str) -> None:
        found = re.search(r"interval:?\s*=?\s*\"?([\d.]+)", line, re.IGNORECASE)
        if found and math.isnan(self.interval):
            self.interval = float(found[1])
        host = re.match(r"#\s*Host:\s*(\S+)", line)
        if host:
            self.capture.host = host[1]
        if "[DSK" in line:
            self._plot_heading(line)
        elif (group := _DISKS.search(line)) is not None:
            self.span = group.span()
        elif line.startswith("# DISK SUMMARY"):
            self.span = (0, len(line) + 1000)
        elif self.span is not None and "KBRead" in line:
            self._sum_columns(line)
        elif "Name" in line.lstrip("#").split():
            self.sums = []
            self._columns(line.lstrip("#").split())

    def _sum_columns(self, line: str) -> None:
        """Columns of sums: those that stand below the group of disks."""
        begin, end = self.span or (0, 0)
        words = list(re.finditer(r"[^\s#]+", line))
        behind = sum(word.start() >= begin for word in words)
        self.sums = [
            _SUMS.get(word[0].lower()) if word.end() <= end + 1 else None
            for word in words[len(words) - behind :]
        ]
        self.span = None

    def _sum_row(self, words: Sequence[str]) -> None:
        count = len(self.sums)
        if len(words) < count:
            return
        clocks = [word for word in words[:2] if re.match(r"\d{8}$|\d+:\d\d:", word)]
        self._clock(clocks)
        values: dict[Quantity, float] = {}
        for sense, word in zip(self.sums, words[-count:], strict=True):
            if sense is not None and sense[0] not in values:
                try:
                    values[sense[0]] = with_prefix(word) * sense[1]
                except ValueError:
                    continue
        self.recorder.add("all", self.at if self.timed else math.nan, self.interval, values)

    def _clock(self, words: Sequence[str]) -> None:
        """Takes the time that stands before a row."""
        if not words:
            return
        stamp = clock.parse(_dated(words))
        seconds = clock.epoch(words[-1])
        if stamp is not None:
            self.at = stamp.seconds if stamp.dated else self.days.at(stamp.seconds)
        elif seconds is not None:
            self.at = seconds
        self.timed = True

    def _columns(self, words: Sequence[str]) -> None:
        """Columns by their group: of reads until `KBytes` comes again, then of writes."""
        names = [word.lower() for word in words]
        self.columns = []
        tables = [_READS, _WRITES, _AVERAGES]
        group = -1
        for name in names[names.index("name") + 1 :]:
            if name == "kbytes":
                group += 1
            elif name in ("rwsize", "qlen"):
                group = 2
            self.columns.append(tables[max(0, group)].get(name))

    def _row(self, words: Sequence[str]) -> None:
        count = len(self.columns)
        if len(words) <= count:
            return
        before = words[: len(words) - count - 1]
        name = words[len(words) - count - 1]
        self._clock(before)
        values: dict[Quantity, float] = {}
        for sense, word in zip(self.columns, words[-count:], strict=True):
            if sense is not None and sense[0] not in values:
                try:
                    values[sense[0]] = with_prefix(word) * sense[1]
                except ValueError:
                    continue
        if (values.get(Q.R_AWAIT) == 0 and values.get(Q.READS, 0) > 0) or (
            values.get(Q.W_AWAIT) == 0 and values.get(Q.WRITES, 0) > 0
        ):
            self.capture.note("below", name, "waits are whole milliseconds: 0 is below 1 ms")
        length = self.interval
        self.recorder.add(name, self.at if self.timed else math.nan, length, values)
        for quantity in values:
            self.recorder.coarse(name, quantity, 1.0 if quantity is not Q.READ_BYTES else KIB)

    def _plot_heading(self, line: str) -> None:
        text = line.lstrip("#").strip()
        self.separator = next((each for each in (",", ";", "\t") if each in text), None)
        self.plot = []
        for word in text.split(self.separator):
            found = re.match(r"\[DSK(?::([^\]]+))?\](\w+)", word.strip())
            if found:
                self.plot.append((found[1] or "all", _PLOT.get(found[2].lower())))
            else:
                self.plot.append((f"#{word.strip().lower()}", None))

    def _plot_row(self, line: str) -> None:
        words = line.strip().split(self.separator)
        date = " ".join(w for (n, _), w in zip(self.plot, words, strict=False)
                        if n in ("#date", "#time", "#utc"))  # fmt: skip
        seconds = clock.epoch(date)
        stamp = clock.parse(_dated(date.split())) if seconds is None else None
        at = seconds if seconds is not None else stamp.seconds if stamp else math.nan
        by_device: dict[str, dict[Quantity, float]] = {}
        for (name, sense), word in zip(self.plot, words, strict=False):
            if sense is not None and not name.startswith("#"):
                try:
                    by_device.setdefault(name, {})[sense[0]] = with_prefix(word) * sense[1]
                except ValueError:
                    continue
        length = at - self.last_time
        self.last_time = at
        for name, values in by_device.items():
            self.recorder.add(name, at, length if length > 0 else self.interval, values)


def _dated(words: Sequence[str]) -> str:
    """`20240314 10:00:01` with dashes."""
    text = " ".join(words)
    return re.sub(r"\b((?:19|20)\d\d)(\d\d)(\d\d)\b", r"\1-\2-\3", text)


_DISKS = re.compile(r"<-+Disks-+>")


def _recognises(head: str) -> float:
    if re.search(r"^#.*<-+Disks-+>", head, re.M) or re.search(r"^# DISK SUMMARY", head, re.M):
        return 0.95
    if re.search(r"^# DISK STATISTICS", head, re.M) or re.search(r"^#.*\[DSK[:\]]", head, re.M):
        return 0.95
    return 0.9 if re.search(r"^#.*Name\s+KBytes", head, re.M) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("collectl")
    state = _State(capture, options)
    for source in sources:
        for line in source.lines():
            state.line(line.lstrip("\ufeff"))
    capture.series = state.recorder.series()
    if not capture.series:
        raise RefusedError("no row of a disk is in it (collectl -sD)", source="collectl")
    for series in capture.series.values():
        capture.saw(series.at)
        if state.timed and bool((series.length != series.length).all()) and len(series) > 1:
            series.length[1:] = series.at[1:] - series.at[:-1]
    return capture


READER = Reader("collectl", "collectl -sD or -sd, also -P", _recognises, _read)
