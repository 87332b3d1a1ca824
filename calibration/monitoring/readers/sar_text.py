"""`sar -d` as text, alone or among other tables of `sar -A`.

Each row begins with a time of day. The heading's time is that of the sample before, so the first
interval is known. A row that begins otherwise is an average, in any language, and no sample.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.column_names import is_column
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, Recorder, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.calibration.monitoring.tables import steps_of, values_of

Q = Quantity
_BANNER = re.compile(r"^(Linux|SunOS|AIX)\s+(\S+)\s+\(?([^\s()]+)\)?\s+(.*)")
_TIME = re.compile(
    r"\s*((?:[^\W\d]{2,6}\.?\s*)?\d{1,2}(?::|時|时|시|\.)\s?\d\d(?::|分|분|\.)\s?\d\d(?:秒|초)?"
    r"(?:\s?(?:[AaPp]\.?\s?[Mm]\.?|午前|午後|上午|下午|오전|오후|[πμ]\.?μ\.?))?)(?=\s|$)"
)
_TOTALS = {"rtps": Q.READS, "wtps": Q.WRITES, "bread/s": Q.READ_BYTES, "bwrtn/s": Q.WRITE_BYTES}


@dataclass
class _State:
    capture: Capture
    recorder: Recorder = field(default_factory=Recorder)
    days: clock.Midnight = field(default_factory=clock.Midnight)
    columns: list[str] | None = None
    device_last: bool = False
    previous: float = math.nan
    at: float = math.nan
    old: bool = False
    restarts: int = 0

    def line(self, line: str) -> None:
        """One line."""
        banner = _BANNER.match(line)
        if (banner and "CPU" in line.upper()) or (banner and "\t" in line):
            self._banner(banner)
            return
        found = _TIME.match(line)
        if found is None:
            if not line.strip():
                self.columns = None
            return
        stamp = clock.parse(found[1])
        if stamp is None:
            return
        words = line[found.end() :].split()
        if not words:
            return
        if any("RESTART" in word for word in words) or words[0].startswith("LINUX"):
            self.columns = None
            self.restarts += 1
            return
        if not any(word[:1].isdigit() for word in words if word not in ("r/s",)) or (
            sum(map(is_column, words)) >= 2 or "DEV" in words
        ):
            self._heading(words, stamp.seconds)
            return
        if self.columns is not None:
            self._row(words, stamp.seconds)

    def _banner(self, banner: re.Match[str]) -> None:
        host = banner[3]
        if self.capture.host not in (None, host):
            raise RefusedError(f"several hosts are in it ({self.capture.host} and {host})")
        self.capture.host = host
        date = clock.parse(f"{banner[4].split()[0]} 00:00:00", self.order)
        if date is not None and date.dated:
            self.days = clock.Midnight(date.seconds)
        self.columns = None

    order: clock.Order = clock.Order.MONTH_FIRST

    def _heading(self, words: list[str], of_day: float) -> None:
        self.columns = None
        low = [word.lower() for word in words]
        if "DEV" in words:
            self.device_last = words[-1] == "DEV"
            self.columns = [word for word in words if word != "DEV"]
            self.old |= "rd_sec/s" in low or "avgrq-sz" in low
        if self.columns is not None:
            self.previous = self.days.at(of_day)
            self.at = math.nan

    def _row(self, words: list[str], of_day: float) -> None:
        columns = self.columns or []
        if len(words) <= len(columns):
            self.capture.note("cut", "", "a row is cut off and left out")
            self.capture.repaired = True
            return
        count = len(columns)
        name = " ".join(words[count:]) if self.device_last else " ".join(words[:-count])
        cells = words[:count] if self.device_last else words[-count:]
        at = self.days.at(of_day)
        if at != self.at:
            if not math.isnan(self.at):
                self.previous = self.at
            self.at = at
        length = at - self.previous
        values = values_of(columns, cells)
        self.recorder.add(name, at, length if length > 0 else math.nan, values)
        for quantity, step in steps_of(columns, cells).items():
            self.recorder.coarse(name, quantity, step)


def _recognises(head: str) -> float:
    for line in head.splitlines()[:3000]:
        if "DEV" in line.split() and _TIME.match(line):
            return 0.9
    return 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("sar")
    state = _State(capture)
    heads = (line for source in sources for line in source.head.splitlines()[:50])
    banners = [found[4] for line in heads if (found := _BANNER.match(line))]
    state.order, sure = clock.order_of(banners)
    if not sure and banners:
        capture.note(
            "date",
            banners[0].split()[0],
            "day and month look alike: month first is taken",
        )
    for source in sources:
        for line in source.lines():
            state.line(line.lstrip("\ufeff"))
    capture.series = state.recorder.series()
    if not capture.series:
        raise RefusedError("no row of a device is in it (sar -d)", source="sar")
    for series in capture.series.values():
        capture.saw(series.at)
    if state.restarts:
        capture.note("restart", "", "the system was restarted: no interval lies across it")
    capture.version = "10" if state.old else "12"
    return capture


READER = Reader("sar", "sar -d as text", _recognises, _read)
