"""iostat as text: sysstat 9 to 12, and its kin on other systems.

Columns are known by their names. Where a header stands first or last the device does. A report may
have several tables (`-h` of sysstat 12 prints four); a header that comes again begins the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.blocks import Block, Numbers, Run, by_lines, read_block
from raidlab.calibration.monitoring.column_names import is_column
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.stamped_lines import unstamped, without_stamps
from raidlab.calibration.monitoring.reports import Reports, rows_of
from raidlab.calibration.monitoring.rows import BATCH, Batch, Layout, steps_of_row
from raidlab.calibration.monitoring.samples import Array, Boot, Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source

Q = Quantity
_LEAST_COMMAS: Final = 4
_DIGITS = str.maketrans("123456789", "0" * 9)
_GSTAT = re.compile(r"dT:\s*([\d.]+)s\s+w:")
_BANNER = re.compile(r"^(Linux|SunOS|FreeBSD|AIX|HP-UX)\s+(\S+)\s+\(?([^\s()]+)\)?")


def header_of(line: str) -> tuple[list[str], bool] | None:
    """Columns of a table of devices and whether the device stands last; None if it is no header."""
    words = line.replace("% tm_act", "%tm_act").split()
    if len(words) < 3 or len(words) > 40:
        return None
    known = [is_column(word) for word in words]
    if known[-1] and not known[0] and all(known[1:]) and not _numeric(words[0]):
        return words[1:], False
    if known[0] and not known[-1] and all(known[:-1]) and not _numeric(words[-1]):
        return words[:-1], True
    # Columns of a version to come may stand among known ones.
    if sum(known) >= 3 and not any(map(_numeric, words)) and "%idle" not in words:
        return (words[:-1], True) if known[0] else (words[1:], False)
    return None


def _numeric(word: str) -> bool:
    return word[:1].isdigit()


@dataclass
class IostatText:
    """Reads lines one after the other."""

    capture: Capture
    pcp: bool = False
    reports: Reports = field(default_factory=Reports)
    names: dict[str, int] = field(default_factory=dict)
    batches: dict[Layout, Batch] = field(default_factory=dict)
    layouts: dict[tuple[tuple[str, ...], bool], Layout] = field(default_factory=dict)
    headings: dict[str, Layout] = field(default_factory=dict)
    """Layouts by the line that is their heading: it comes again in every report."""
    header: Layout | None = None
    batch: Batch | None = None
    seen: set[Layout] = field(default_factory=set)
    stamp_shapes: set[str] = field(default_factory=set)
    """Lines that are times, with 0 for each digit."""
    pending: str = ""
    count: int = 0
    cut: bool = False
    whole: bool = False
    """True if a blank line ended the last table."""
    gstat: bool = False
    """True if gstat printed it: that has no report since boot."""
    simulated: bool = False
    """True if `raidlab run --iostat` printed it: that has no report since boot."""
    step_known: set[tuple[Layout, str]] = field(default_factory=set)

    def table_of(self, block: Block, run: Run) -> tuple[Layout, float] | None:
        """The table that is open, if a run is rows of it: a name first, then its columns."""
        layout = self.header
        usual = (
            layout is not None
            and run.columns == len(layout.columns)
            and run.prefix_end == run.start
            and not layout.device_last
            and not self.pending
        )
        return (layout, math.nan) if layout is not None and usual else None

    def report_of(self, _stamp: float) -> int:
        """The report that is open: rows have no time."""
        return self.reports.at

    def line(self, line: str) -> None:
        """One line."""
        if line.startswith("dT:") and self._gstat(line):
            return
        if self.batch is not None and self.header is not None:
            if line and not line.isspace():
                if self._row(line):
                    return
            else:
                # A blank line ends the table.
                self.header = self.batch = None
                self.whole = True
                return
        text = line.strip()
        if not text:
            return
        self._other(text)

    def _gstat(self, text: str) -> bool:
        """True for the line that begins a report of gstat, with the seconds that it covers."""
        found = _GSTAT.match(text)
        if found is None:
            return False
        self.header = self.batch = None
        self._begin(None)
        self.reports.elapsed[self.reports.at] = float(found[1])
        self.seen = set()
        self.gstat = True
        return True

    def _row(self, line: str) -> bool:
        layout, batch = self.header, self.batch
        if layout is None or batch is None:
            return False
        if not self.pending and not layout.device_last:
            parts = line.split(None, 1)
            number = self.names.get(parts[0]) if len(parts) == 2 else None
            if number is not None and parts[1][0] in "0123456789":
                # The usual row: of a device that is known.
                batch.reports.append(len(self.reports.stamps) - 1)
                batch.devices.append(number)
                batch.rows.append(parts[1])
                self.count += 1
                return True
        if layout.device_last:
            # gstat has a bar before the name.
            rest, _, name = line.replace("| ", " ").rstrip().rpartition(" ")
        else:
            parts = line.split(None, 1)
            name, rest = parts[0], parts[1] if len(parts) > 1 else ""
        if not rest:
            if name.replace(".", "").replace(",", "").isdigit() or is_column(name):
                return False
            self.pending = name
            return True
        first = rest.lstrip()[:1]
        if self.pending and _numeric(name):
            name, rest, self.pending = self.pending, line, ""
        elif not (first.isdigit() or first in "-."):
            if header_of(line) or not any(map(_numeric, line.split()[1:])):
                return False
            name, rest = self._long_name(line, layout)
        number = self.names.setdefault(name, len(self.names))
        batch.reports.append(self.reports.at)
        batch.devices.append(number)
        batch.rows.append(rest)
        self.count += 1
        return True

    @staticmethod
    def _long_name(line: str, layout: Layout) -> tuple[str, str]:
        """A row whose name holds blanks."""
        words = line.split()
        many = len(words) - len(layout.columns)
        if layout.device_last:
            return " ".join(words[-many:]), " ".join(words[:-many])
        return " ".join(words[:many]), " ".join(words[many:])

    def _stamp(self, stamp: str) -> None:
        """The time of the report that comes, or of the one that began without."""
        self.header = self.batch = None
        if self.reports.stamps and not self.seen and self.reports.stamps[-1] is None:
            self.reports.stamps[-1] = stamp
        else:
            self._begin(stamp)

    def _other(self, text: str) -> None:
        """A line that is no row of a device."""
        shape = text.translate(_DIGITS)
        if shape in self.stamp_shapes:
            self._stamp(text)
            return
        banner = _BANNER.match(text)
        if banner and "(" in text:
            self._banner(banner, text)
            return
        layout = self.headings.get(text)
        if layout is None:
            found = header_of(text)
            if found is not None:
                columns, last = found
                key = (tuple(columns), last)
                layout = self.layouts.get(key)
                if layout is None:
                    layout = Layout.of(columns, device_last=last, pcp=self.pcp)
                    self.layouts[key] = layout
                self.headings[text] = layout
        if layout is not None:
            if not self.reports.stamps or layout in self.seen:
                self._begin(None)
            self.seen.add(layout)
            self.whole = False
            self.header, self.batch = layout, self.batches.setdefault(layout, Batch())
            return
        self.header = self.batch = None
        if text.startswith("avg-cpu") or "%idle" in text:
            if self.seen or not self.reports.stamps:
                self._begin(None)
            return
        stamp = _stamp_line(text)
        if stamp is not None:
            if stamp == text:
                self.stamp_shapes.add(shape)
            self._stamp(stamp)

    def _begin(self, stamp: str | None) -> None:
        if self.count >= BATCH:
            self.flush()
        self.reports.begin(stamp)
        self.seen = set()

    def _banner(self, banner: re.Match[str], text: str) -> None:
        self.header = self.batch = None
        host = banner[3]
        if self.capture.host not in (None, host):
            raise RefusedError(
                f"the file mixes hosts ({self.capture.host} and {host}): give one file a host"
            )
        self.capture.host = host
        words = text[banner.end() :].split()
        self.reports.date = self.reports.date or (words[0] if words else None)
        self.simulated |= banner[2].endswith("-raidlab")
        self.reports.begin_run()
        # The banner may follow a line with the time of the report it begins.
        if self.reports.stamps and not self.seen and self.reports.stamps[-1] is not None:
            self.reports.runs[-1] = self.reports.at

    def flush(self) -> None:
        """Makes numbers of the rows so far."""
        names = list(self.names)
        for layout, batch in self.batches.items():
            if batch.rows:
                self._flush(layout, batch, names)
                batch.clear()
        self.count = 0

    def _flush(self, layout: Layout, batch: Batch, names: Sequence[str]) -> None:
        read = len(batch.rows)
        matrix = batch.numbers(layout, names, self.capture)
        self.cut |= len(batch.rows) < read
        if not batch.rows:
            return
        for device in self.add(layout, batch.reports, batch.devices, matrix, names):
            key = (layout, names[device])
            if key not in self.step_known:
                self.step_known.add(key)
                row = batch.rows[batch.devices.index(device)].split()
                self.reports.coarse(names[device], steps_of_row(layout, row))

    def add(
        self,
        layout: Layout,
        reports: Sequence[int] | Numbers,
        devices: Sequence[int] | Numbers,
        matrix: Array,
        names: Sequence[str],
    ) -> list[int]:
        """Rows that are numbers; gives the devices that they are of."""
        for name in self.reports.lasted_by(layout, reports, matrix):
            self.capture.interval_from = f"{name} / {name}/s"
        found = rows_of(reports, devices, matrix)
        for device, at, rows in found:
            self.reports.add(names[device], at, layout.columns_of(rows))
        return [device for device, _, _ in found]

    def finish(self) -> Capture:
        """What was read.

        Raises:
            RefusedError: No row of a device was in it.
        """
        self.flush()
        if not self.names:
            raise RefusedError("no device has a row in it", source=self.capture.source)
        self._leave_out_cut()
        self.reports.finish(self.capture)
        if self.simulated or self.gstat:
            self.capture.boot = Boot.NEVER
        return self.capture

    def _leave_out_cut(self) -> None:
        """Drops the last report if devices lack in it that are in all others."""
        last = self.reports.at
        devices = self.reports.devices.values()
        if last < 1 or (self.whole and not self.cut):
            return
        counts = np.zeros(last + 1, dtype=int)
        for device in devices:
            for reports in device.reports:
                counts[reports] += 1
        most = counts[:-1].max(initial=0)
        short = counts[-1] < most and bool((counts[:-1] == most).all())
        if not (short and (self.cut or last >= 2)):
            return
        for device in devices:
            device.reports = [each[each < last] for each in device.reports]
            device.reports = [each for each in device.reports if len(each)]
            for quantity, blocks in device.columns.items():
                device.columns[quantity] = [
                    (reports[reports < last], values[reports < last]) for reports, values in blocks
                ]
        self.reports.stamps.pop()
        self.reports.elapsed.pop(last, None)
        self.capture.repaired = True
        self.capture.note(
            "cut", "", f"the file ends inside report {last + 1}: that report is left out"
        )


def _stamp_line(text: str) -> str | None:
    """The time that a line is, if it is one and nothing else."""
    if len(text) > 80 or not any(char.isdigit() for char in text):
        return None
    bare = text.strip("*#=- ").removeprefix("zzz").strip("*#=- ")
    epoch = clock.epoch(bare.removeprefix("TS").strip())
    if epoch is not None:
        return f"{clock.written(epoch, 'Z')}"
    return bare if clock.parse(bare) is not None else None


def _recognises(head: str) -> float:
    lines = head.splitlines()[:400]
    for line in without_stamps(lines) or lines:
        found = header_of(line.strip())
        if found is not None:
            first = line.split()[0]
            if first == "DEV" or clock.parse(first) is not None:
                return 0.0
            return 0.2 if first.startswith("#") else 0.8
    return 0.8 if _by_commas(head) else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    reader = IostatText(Capture("iostat"))
    for source in sources:
        blocks = by_lines(source)
        bare = without_stamps(source.head.splitlines())
        if bare is not None and any(header_of(line.strip()) for line in bare):
            timed = any(_stamp_line(line.strip()) is not None for line in bare)
            for line in unstamped(source.lines(), _is_heading, timed=timed):
                reader.line(line)
        elif _by_commas(source.head):
            for line in source.lines():
                reader.line(line.replace(",", " "))
        elif blocks is not None:
            for block in blocks:
                read_block(reader, block)
        else:
            for line in source.lines():
                reader.line(line.lstrip("\ufeff"))
    capture = reader.finish()
    columns = {name for layout in reader.layouts.values() for name in layout.columns}
    capture.version = version_of(columns)
    return capture


def _by_commas(head: str) -> bool:
    """True if commas part the columns, as with `iostat -r` of Solaris."""
    lines = [
        line.replace(",", " ").strip()
        for line in head.splitlines()
        if line.count(",") > _LEAST_COMMAS
    ]
    return any(header_of(line) for line in lines)


def _is_heading(line: str) -> bool:
    return header_of(line.strip()) is not None


def version_of(columns: set[str]) -> str | None:
    """The version of sysstat whose columns these are, as far as they show it."""
    names = {name.lower() for name in columns}
    if "d/s" in names or "f/s" in names or "kb_dscd/s" in names or "dkb/s" in names:
        return "12"
    if "rareq-sz" in names:
        return "11.7" if "svctm" in names else "12"
    if "avgrq-sz" in names:
        return "10" if "r_await" in names else "9"
    return None


READER = Reader("iostat", "iostat as text (sysstat 9 to 12)", _recognises, _read)
