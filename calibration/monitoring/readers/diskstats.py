"""Snapshots of /proc/diskstats, /sys/block/*/stat or `vmstat -d`, with times in between.

Fields behind the name (kernel, Documentation/admin-guide/iostats.rst): reads, merged, sectors,
ms; writes, merged, sectors, ms; in flight, ms busy, weighted ms; from 4.18 on discards, merged,
sectors, ms; from 5.5 on flushes, ms. A sector is 512 bytes, whatever the drive's is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.counters import Counter, Snapshot, sampled
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Boot, Capture, RefusedError, series_of
from raidlab.calibration.monitoring.source import Source

C = Counter
FIELDS = (
    C.READS, None, C.READ_BYTES, C.READ_MS, C.WRITES, None, C.WRITE_BYTES, C.WRITE_MS, None,
    C.BUSY_MS, C.WEIGHTED_MS, C.DISCARDS, None, C.DISCARD_BYTES, C.DISCARD_MS, C.FLUSHES,
    C.FLUSH_MS,
)  # fmt: skip
UNITS = {C.READ_BYTES: 512.0, C.WRITE_BYTES: 512.0, C.DISCARD_BYTES: 512.0}
_ROW = re.compile(
    r"^(?P<before>.*?)(?<!\S)(?P<major>\d{1,4})\s+(?P<minor>\d{1,7})\s+(?P<name>[A-Za-z]\S*)"
    r"(?P<numbers>(?:\s+\d+){11,17})\s*$"
)
_OLD_ROW = re.compile(r"^(?P<before>.*?)(?<!\S)\d{1,4}\s+\d{1,7}\s+[A-Za-z]\S*(?:\s+\d+){4}\s*$")
_STAT = re.compile(r"^(?:(?P<path>\S*?)[:\s])?(?P<numbers>(?:\s*\d+){11,17})\s*$")
_VMSTAT = re.compile(r"^disk-+ -+reads-+ -+writes-+ -+IO-+", re.MULTILINE)
_VMSTAT_ROW = re.compile(r"^(?P<name>[A-Za-z]\S*)(?P<numbers>(?:\s+\d+){10})(?P<at>\s+\S.*)?$")
_VMSTAT_FIELDS = (*FIELDS[:8], None, C.BUSY_MS)
_PATH = re.compile(r"/(?:sys/)?block/(?P<name>[^/\s]+)/(?:(?P<part>[^/\s]+)/)?stat")


@dataclass
class _State:
    capture: Capture
    snapshots: dict[str, list[Snapshot]] = field(default_factory=dict)
    at: float = math.nan
    order: clock.Order = clock.Order.MONTH_FIRST
    path: str = ""
    zone_known: bool = False
    untimed: int = 0
    seen: set[str] = field(default_factory=set)
    step_s: float | None = None
    vmstat: bool = False
    """True if `vmstat -d` printed it, which counts busy time in seconds."""

    def line(self, line: str) -> None:
        """One line."""
        if self.vmstat:
            self._of_vmstat(line)
            return
        row = _ROW.match(line)
        if row:
            before = row["before"].strip()
            if before:
                self._time(before)
            self._add(row["name"], row["numbers"])
            return
        if _OLD_ROW.match(line):
            return
        stat = _STAT.match(line.strip())
        named = _PATH.search(line)
        if stat and (named or self.path):
            if named:
                self.path = named["part"] or named["name"]
            self._add(self.path, stat["numbers"])
            return
        if named:
            self.path = named["part"] or named["name"]
            return
        if line.strip():
            self._time(line.strip())

    def _of_vmstat(self, line: str) -> None:
        row = _VMSTAT_ROW.match(line)
        if row is not None:
            if row["at"]:
                self._time(row["at"].strip())
            self._add(row["name"], row["numbers"])

    def _time(self, text: str) -> None:
        found = time_in(text, self.order)
        if found is None:
            return
        self.at = found.seconds
        self.seen = set()
        if not self.zone_known:
            self.capture.zone, self.zone_known = found.zone, True

    def _add(self, name: str, numbers: str) -> None:
        if name in self.seen or math.isnan(self.at):
            self._untimed(name)
        self.seen.add(name)
        counts: dict[Counter, float] = {}
        fields = _VMSTAT_FIELDS if self.vmstat else FIELDS
        for counter, word in zip(fields, numbers.split(), strict=False):
            if counter is not None:
                scale = 1e3 if self.vmstat and counter is C.BUSY_MS else 1.0
                counts[counter] = float(word) * UNITS.get(counter, scale)
        self.snapshots.setdefault(name, []).append(Snapshot(self.at, counts, UNITS))
        self.capture.saw([self.at])

    def _untimed(self, name: str) -> None:
        """A snapshot without a time of its own."""
        if self.step_s is not None:
            self.at = 0.0 if math.isnan(self.at) else self.at + self.step_s
            self.seen = set()
        elif name in self.seen:
            self.untimed += 1


def time_in(text: str, order: clock.Order = clock.Order.MONTH_FIRST) -> clock.Stamp | None:
    """The time in a line such as `TS 1710410400`, `# 2024-03-14T10:00:00Z`, `zzz ***Thu ...`."""
    bare = re.sub(r"^(?:zzz|ts|time(?:stamp)?|date|at|scrape|snapshot)\b[:=\s]*", "",
                  text.strip("*#=-<> \t[]"), flags=re.IGNORECASE)  # fmt: skip
    bare = bare.strip("*#=-<> \t:[]")
    seconds = clock.epoch(bare)
    if seconds is not None:
        return clock.Stamp(seconds, "Z")
    found = clock.parse(bare, order)
    if found is not None:
        return found
    number = re.search(r"(?<![\d.])(1\d{9}(?:\.\d+)?|1\d{12}|1\d{18})(?![\d.])", text)
    seconds = clock.epoch(number[1]) if number else None
    return None if seconds is None else clock.Stamp(seconds, "Z")


def _recognises(head: str) -> float:
    rows = 0
    for line in head.splitlines()[:400]:
        if _ROW.match(line) or _PATH.search(line):
            rows += 1
    return 0.85 if rows or _VMSTAT.search(head) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("diskstats", boot=Boot.DROPPED)
    state = _State(capture, step_s=options.interval_s)
    state.order, _ = clock.order_of(
        line for source in sources for line in source.head.splitlines() if not _ROW.match(line)
    )
    for source in sources:
        state.seen = set()
        state.vmstat = _VMSTAT.search(source.head) is not None
        if len(sources) > 1 and options.interval_s is None:
            state.at = math.nan
        for line in source.lines():
            state.line(line.lstrip("\ufeff"))
    return finish(state.capture, state.snapshots)


def finish(capture: Capture, snapshots: dict[str, list[Snapshot]]) -> Capture:
    """Samples of snapshots.

    Raises:
        RefusedError: There are no two snapshots of a device, or they have no times.
    """
    if not snapshots:
        raise RefusedError("no counters of a device are in it", source=capture.source)
    most = max(map(len, snapshots.values()))
    if most < 2:
        raise RefusedError(
            "one snapshot of counters only: it covers the time since boot; two make a sample",
            source=capture.source,
        )
    if all(math.isnan(each.at) for every in snapshots.values() for each in every):
        raise RefusedError(
            "snapshots without times",
            remedy="--interval says how far apart they are",
            needs="interval",
            source=capture.source,
        )
    for every in snapshots.values():
        every[:] = [each for each in every if not math.isnan(each.at)]
    for device, (rows, gaps) in sampled(capture, snapshots).items():
        if not rows:
            capture.note("one-sample", device, "no interval between two snapshots")
            continue
        capture.series[device] = series_of(rows, {})
        capture.series[device].gaps = gaps
    if not capture.series:
        raise RefusedError("no interval of it can be used", source=capture.source)
    return capture


READER = Reader("diskstats", "snapshots of /proc/diskstats or vmstat -d", _recognises, _read)
