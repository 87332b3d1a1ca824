"""`sar -d` as text, alone or among other tables of `sar -A`.

Each row begins with a time of day. The heading's time is that of the sample before, so the first
interval is known. A row that begins otherwise is an average, in any language, and no sample.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.blocks import Block, Numbers, Run, by_lines, read_block
from raidlab.calibration.monitoring.column_names import is_column
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.reports import rows_of
from raidlab.calibration.monitoring.rows import BATCH, Batch, Layout, steps_of_row
from raidlab.calibration.monitoring.samples import Array, Capture, Quantity, RefusedError, Series
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_BANNER = re.compile(r"^(Linux|SunOS|AIX)\s+(\S+)\s+\(?([^\s()]+)\)?\s+(.*)")
_TIME = re.compile(
    r"\s*((?:[^\W\d]{2,6}\.?\s*)?\d{1,2}(?::|時|时|시|\.)\s?\d\d(?::|分|분|\.)\s?\d\d(?:秒|초)?"
    r"(?:\s?(?:[AaPp]\.?\s?[Mm]\.?|午前|午後|上午|下午|오전|오후|[πμ]\.?μ\.?))?)(?=\s|$)"
)


@dataclass
class _State:
    capture: Capture
    names: dict[str, int] = field(default_factory=dict)
    devices: dict[str, _Device] = field(default_factory=dict)
    batches: dict[Layout, Batch] = field(default_factory=dict)
    layouts: dict[tuple[str, ...], Layout] = field(default_factory=dict)
    batch: Batch | None = None
    ends: list[float] = field(default_factory=list)
    """The time of each report."""
    lengths: list[float] = field(default_factory=list)
    usual: tuple[str, float] = ("", math.nan)
    """The time of the last row as it is printed, and as seconds of the day."""
    step_known: set[tuple[Layout, str]] = field(default_factory=set)
    days: clock.Midnight = field(default_factory=clock.Midnight)
    columns: list[str] | None = None
    device_last: bool = False
    previous: float = math.nan
    at: float = math.nan
    old: bool = False
    restarts: int = 0

    def table_of(self, block: Block, run: Run) -> tuple[Layout, float] | None:
        """Layout and time of day of a run of rows below the present heading; None if it is none."""
        if self.device_last or self.columns is None or run.columns != len(self.columns):
            return None
        prefix = block.prefix(run).rstrip()
        found = _TIME.match(prefix)
        if found is None or found.end() != len(prefix):
            return None
        stamp = clock.parse(found[1])
        return None if stamp is None else (self.layouts[tuple(self.columns)], stamp.seconds)

    def line(self, line: str) -> None:
        """One line."""
        if self._usual_row(line):
            return
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
            self.usual = (f"{line[: found.end()]} ", stamp.seconds)
            self._row(words, stamp.seconds)

    def _usual_row(self, line: str) -> bool:
        """A row of the report that the last row was in, of a known device."""
        text, of_day = self.usual
        if self.columns is None or self.device_last or not text or not line.startswith(text):
            return False
        parts = line[len(text) :].split(None, 1)
        if len(parts) < 2 or parts[0] not in self.names or not parts[1][0].isdigit():
            return False
        self._keep(parts[0], parts[1], self.report_of(of_day))
        return True

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
            key = tuple(self.columns)
            if key not in self.layouts:
                self.layouts[key] = Layout.of(self.columns, device_last=self.device_last)
            self.batch = self.batches.setdefault(self.layouts[key], Batch())
            self.previous = self.days.at(of_day)
            self.at = math.nan

    def _row(self, words: list[str], of_day: float) -> None:
        columns = self.columns or []
        if len(words) <= len(columns):
            self.capture.note("cut", "", "a row is cut off and left out")
            self.capture.repaired = True
            return
        count = len(columns)
        if self.device_last:
            name, cells = " ".join(words[count:]), words[:count]
        else:
            name, cells = " ".join(words[:-count]), words[-count:]
        self._keep(name, " ".join(cells), self.report_of(of_day))

    def report_of(self, of_day: float) -> int:
        """The number of the report that ends at a time of day."""
        at = self.days.at(of_day)
        if at != self.at:
            if not math.isnan(self.at):
                self.previous = self.at
            self.at = at
            self.ends.append(at)
            self.lengths.append(at - self.previous if at > self.previous else math.nan)
        return len(self.ends) - 1

    def _keep(self, name: str, cells: str, report: int) -> None:
        """Keeps a row until it becomes numbers with many others."""
        if self.batch is None:
            return
        self.batch.reports.append(report)
        self.batch.devices.append(self.names.setdefault(name, len(self.names)))
        self.batch.rows.append(cells)
        if len(self.batch.rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Makes numbers of the rows so far."""
        names = list(self.names)
        for layout, batch in self.batches.items():
            if not batch.rows:
                continue
            matrix = batch.numbers(layout, names, self.capture)
            for device in self.add(layout, batch.reports, batch.devices, matrix, names):
                found = self.devices[names[device]]
                self.step_known.add((layout, names[device]))
                row = batch.rows[batch.devices.index(device)].split()
                for quantity, step in steps_of_row(layout, row).items():
                    found.step[quantity] = max(step, found.step.get(quantity, 0.0))
            batch.clear()

    def add(
        self,
        layout: Layout,
        reports: Sequence[int] | Numbers,
        devices: Sequence[int] | Numbers,
        matrix: Array,
        names: Sequence[str],
    ) -> list[int]:
        """Rows that are numbers; gives the devices that they are of."""
        parts = rows_of(reports, devices, matrix)
        for device, at, rows in parts:
            found = self.devices.setdefault(names[device], _Device())
            found.blocks.append((at, layout.columns_of(rows)))
        return [device for device, _, _ in parts]

    def series(self) -> dict[str, Series]:
        """What was read, by device."""
        self.flush()
        ends, lengths = np.array(self.ends), np.array(self.lengths)
        return {name: each.series(ends, lengths) for name, each in self.devices.items()}


@dataclass
class _Device:
    blocks: list[tuple[NDArray[np.int32], dict[Quantity, Array]]] = field(default_factory=list)
    step: dict[Quantity, float] = field(default_factory=dict)

    def series(self, ends: Array, lengths: Array) -> Series:
        """Its samples, each of the report that it is in."""
        reports = np.concatenate([each for each, _ in self.blocks])
        columns: dict[Quantity, Array] = {}
        for quantity in dict.fromkeys(q for _, block in self.blocks for q in block):
            parts = [b.get(quantity, np.full(len(r), np.nan)) for r, b in self.blocks]
            columns[quantity] = np.concatenate(parts)
        order = np.argsort(reports, kind="stable")
        return Series(
            ends[reports[order]],
            lengths[reports[order]],
            {quantity: column[order] for quantity, column in columns.items()},
            self.step,
        )


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
        blocks = by_lines(source)
        if blocks is not None:
            for block in blocks:
                read_block(state, block)
        else:
            for line in source.lines():
                state.line(line.lstrip("\ufeff"))
    capture.series = state.series()
    if not capture.series:
        raise RefusedError("no row of a device is in it (sar -d)", source="sar")
    for series in capture.series.values():
        capture.saw(series.at)
    if state.restarts:
        capture.note("restart", "", "the system was restarted: no interval lies across it")
    capture.version = "10" if state.old else "12"
    return capture


READER = Reader("sar", "sar -d as text", _recognises, _read)
