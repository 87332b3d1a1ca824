"""Reports of several devices, one after the other, as series: iostat in text and in JSON.

A report is a row of each device. What was not printed is filled in when all is read: a device that
is missing from a report was idle, as with `-z`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.monitoring.clock import Parsed, order_of, parse, written
from raidlab.calibration.monitoring.rows import Layout
from raidlab.calibration.monitoring.samples import Array, Boot, Capture, Quantity, Series

Q = Quantity
RATES = (Q.READS, Q.WRITES, Q.IOS, Q.READ_BYTES, Q.WRITE_BYTES, Q.BYTES, Q.QUEUE, Q.UTIL,
         Q.DISCARDS, Q.DISCARD_BYTES, Q.FLUSHES)  # fmt: skip
"""What an idle device has zero of; sizes and latencies have no value then."""
_HOLE: Final = 10.0
"""Usual intervals after which a report is said to be late."""
_HALF_DIGIT: Final = 0.005
"""Half of the last digit of a rate."""
_WIDTH: Final = 0.1
"""Width of the range of a report's length, relative to it, from which on it is not sure."""
_LONGER: Final = 3.0
"""Times as long as any other, from which on a report is of another kind."""
_RARE = {Q.DISCARDS, Q.DISCARD_BYTES, Q.FLUSHES, Q.D_AWAIT, Q.F_AWAIT}


@dataclass
class _Device:
    reports: list[NDArray[np.int32]] = field(default_factory=list)
    columns: dict[Quantity, list[tuple[NDArray[np.int32], NDArray[np.float32]]]] = field(
        default_factory=dict
    )
    step: dict[Quantity, float] = field(default_factory=dict)


@dataclass
class Reports:
    """Collects rows by report."""

    devices: dict[str, _Device] = field(default_factory=dict)
    stamps: list[str | None] = field(default_factory=list)
    """The time of each report as it is printed."""
    elapsed: dict[int, float] = field(default_factory=dict)
    """Seconds that a report covers, where its own columns say so."""
    amounts: dict[int, float] = field(default_factory=dict)
    """Bytes from which `elapsed` was computed: the more, the surer."""
    most: dict[int, float] = field(default_factory=dict)
    """Seconds that a report covers at most, where its own columns say so."""
    runs: list[int] = field(default_factory=list)
    """The report that each run of the tool begins with."""
    date: str | None = None
    """The day on which the first run began, as it is printed: for reports with a time alone."""

    def device(self, name: str) -> _Device:
        """The rows of a device."""
        found = self.devices.get(name)
        if found is None:
            found = self.devices[name] = _Device()
        return found

    def begin(self, stamp: str | None = None) -> None:
        """Another report."""
        self.stamps.append(stamp)

    def begin_run(self) -> None:
        """The next report is the first of a run."""
        if not self.runs or self.runs[-1] != len(self.stamps):
            self.runs.append(len(self.stamps))

    @property
    def at(self) -> int:
        """The present report's number."""
        return len(self.stamps) - 1

    def add(self, name: str, reports: NDArray[np.int32], columns: Mapping[Quantity, Array]) -> None:
        """Rows of a device, of the reports given."""
        device = self.device(name)
        device.reports.append(reports)
        for quantity, values in columns.items():
            device.columns.setdefault(quantity, []).append((reports, values.astype(np.float32)))

    def coarse(self, name: str, steps: Mapping[Quantity, float]) -> None:
        """The last digit's unit of each column."""
        device = self.device(name)
        for quantity, step in steps.items():
            device.step[quantity] = max(step, device.step.get(quantity, 0.0))

    def lasted(
        self, reports: NDArray[np.int32], amounts: Array, rates: Array, units: tuple[float, float]
    ) -> bool:
        """Seconds of reports from an amount and its rate, of the device that moved most.

        Amounts are whole numbers and rates have two digits behind the point. Where that leaves
        more than one whole second open, as with a few MB, the report's length is unknown.

        Args:
            reports: Of each row.
            amounts: What passed in the whole report, in base units.
            rates: The same per second.
            units: Of the printed amount and rate, in base units.

        Returns:
            True if any row says how long its report was.
        """
        order = np.argsort(amounts, kind="stable")
        order = order[(rates[order] > 0) & (amounts[order] > 0)]
        found = False
        for report, amount, rate in zip(
            reports[order].tolist(), amounts[order].tolist(), rates[order].tolist(), strict=True
        ):
            if amount <= self.amounts.get(report, 0.0):
                continue
            least, most = _range(amount, rate, units)
            self.most[report] = min(most, self.most.get(report, math.inf))
            seconds = _seconds(amount / rate, least, most)
            if seconds is not None:
                self.amounts[report] = amount
                self.elapsed[report] = seconds
                found = True
        return found

    def first_is_longer(self) -> bool:
        """True if the first report lasted longer than any after it can have: since boot."""
        first = self.elapsed.get(0)
        others = [most for report, most in self.most.items() if report > 0]
        return first is not None and bool(others) and first > _LONGER * max(others)

    def lasted_by(
        self, layout: Layout, reports: Sequence[int] | NDArray[np.int32], matrix: Array
    ) -> Iterator[str]:
        """Seconds of reports from amounts beside rates in rows of a layout: kB_wrtn / kB_wrtn/s.

        Yields:
            The columns that say it.
        """
        rates = {sense.quantity: (at, sense.scale) for at, sense in layout.used}
        numbers = np.asarray(reports, dtype=np.int32)
        for at, quantity, scale in layout.totals:
            if quantity in rates:
                where, rate_scale = rates[quantity]
                amounts, per_s = matrix[:, at] * scale, matrix[:, where] * rate_scale
                if self.lasted(numbers, amounts, per_s, (scale, rate_scale)):
                    yield layout.columns[at]
        if Q.BYTES in rates and len(layout.totals) > 1 and Q.READ_BYTES not in rates:
            where, rate_scale = rates[Q.BYTES]
            unit = layout.totals[0][2]
            amounts = sum(
                (matrix[:, at] * scale for at, _, scale in layout.totals), np.zeros(len(matrix))
            )
            if self.lasted(numbers, amounts, matrix[:, where] * rate_scale, (unit, rate_scale)):
                yield layout.columns[layout.totals[0][0]]

    def times(self) -> tuple[Array, str | None]:
        """The time of each report, and the zone."""
        texts = [stamp for stamp in self.stamps if stamp is not None]
        order, _ = order_of(texts)
        parsed = Parsed(order)
        times = np.full(len(self.stamps), np.nan)
        zone, first_zone = None, True
        first = parse(f"{self.date} 00:00:00", order_of([self.date])[0]) if self.date else None
        day = first.seconds if first is not None and first.dated else 0.0
        last = -math.inf
        for at, text in enumerate(self.stamps):
            stamp = None if text is None else parsed.at(text)
            if stamp is None:
                continue
            seconds = stamp.seconds
            if not stamp.dated:
                if seconds + day < last - 43_200:
                    day += 86_400.0
                seconds += day
            times[at] = last = seconds
            if first_zone:
                zone, first_zone = stamp.zone, False
        return times, zone

    def finish(self, capture: Capture) -> None:
        """Makes the series, fills what was idle, and says what was seen."""
        count = len(self.stamps)
        times, capture.zone = self.times()
        capture.saw(times[~np.isnan(times)])
        times = self._onwards(times, capture)
        length = self._lengths(times)
        renamed = self._renamed(count, capture)
        idle: list[str] = []
        for name, device in self.devices.items():
            seen = np.zeros(count, dtype=bool)
            for reports in device.reports:
                seen[reports] = True
            device.reports.clear()
            columns: dict[Quantity, Array] = {}
            for quantity in list(device.columns):
                column = np.full(count, np.nan)
                for reports, values in device.columns.pop(quantity):
                    column[reports] = values
                if quantity in RATES and name not in renamed:
                    column[~seen] = 0.0
                if quantity not in _RARE or bool((np.nan_to_num(column) != 0).any()):
                    columns[quantity] = column
            whole = Series(times, length, columns, dict(device.step))
            if bool(seen.all()):
                capture.series[name] = whole
            elif name in renamed:
                capture.series[name] = whole.kept(seen)
            else:
                idle.append(name)
                capture.series[name] = whole
        if idle:
            names = ", ".join(idle[:5]) + (" ..." if len(idle) > 5 else "")
            capture.note("idle", names, "missing from some reports (-z): counted as idle there")
        capture.runs = [dict.fromkeys(capture.series, run) for run in self.runs or [0]]
        capture.boot = Boot.OPEN
        capture.first_is_longer = self.first_is_longer()

    def _onwards(self, times: Array, capture: Capture) -> Array:
        """Times without the steps that a clock was set back by inside of a run of the tool.

        The clock after a step is taken for right: what is before it moves, so that the two reports
        are one usual interval apart. That interval is the median of the others.
        """
        steps = np.diff(times)
        onwards = steps[steps > 0]
        if not len(onwards):
            return times
        usual = float(np.median(onwards))
        self._say_holes(times, steps, usual, capture)
        found = times.copy()
        for before in np.flatnonzero(steps < 0).tolist():
            if before + 1 in self.runs:
                continue
            back = float(times[before] - times[before + 1])
            found[: before + 1] -= back + usual
            capture.note(
                "clock",
                written(float(times[before + 1]), None) or "",
                f"the clock went back by {back:g} s: samples before it are counted as earlier,"
                f" and the one after it as of {usual:g} s",
            )
        return found

    def _say_holes(self, times: Array, steps: Array, usual: float, capture: Capture) -> None:
        """Notes where a report comes much later than usual: the file does not say why."""
        holes = [at for at in np.flatnonzero(steps > _HOLE * usual) if at + 1 not in self.runs]
        if not holes:
            return
        first = holes[0]
        longest = float(steps[holes].max())
        many = "a report" if len(holes) == 1 else f"each of {len(holes)} reports"
        capture.note(
            "late",
            written(float(times[first + 1]), None) or "",
            f"{many} came up to {longest:g} s after the one before, for {usual:g} s: it counts"
            " for all of that time, which is wrong if the clock was set forward",
        )

    def _lengths(self, times: Array) -> Array:
        length = np.full(len(times), np.nan)
        for report, seconds in self.elapsed.items():
            length[report] = seconds
        if bool((~np.isnan(times)).sum() > 1):
            length[1:] = np.where(np.isnan(np.diff(times)), length[1:], np.diff(times))
        for run in self.runs:
            # What came before another run of the tool is no interval of this one.
            if 0 < run < len(length):
                length[run] = self.elapsed.get(run, np.nan)
        return length

    def _renamed(self, count: int, capture: Capture) -> set[str]:
        """Devices of which one ends where another begins."""
        spans = {
            name: (min(int(r[0]) for r in device.reports), max(int(r[-1]) for r in device.reports))
            for name, device in self.devices.items()
            if device.reports
        }
        ends: dict[int, list[str]] = {}
        begins: dict[int, list[str]] = {}
        for name, (first, last) in spans.items():
            begins.setdefault(first, []).append(name)
            ends.setdefault(last, []).append(name)
        found: set[str] = set()
        for first, names in begins.items():
            before = ends.get(first - 1, [])
            if 1 < first < count - 1 and len(names) == len(before) == 1:
                found |= {names[0], before[0]}
                text = f"begins where {before[0]} ends: the same disk under another name?"
                capture.note("renamed", names[0], text)
        return found


def _range(amount: float, rate: float, units: tuple[float, float]) -> tuple[float, float]:
    """Least and most seconds that a rate needs for an amount, by the digits of both."""
    half = _HALF_DIGIT * units[1]
    most = (amount + units[0]) / (rate - half) if rate > half else math.inf
    return (amount - units[0]) / (rate + half), most


def _seconds(usual: float, least: float, most: float) -> float | None:
    """How long a report was; None if the digits leave several seconds open."""
    if most - least < _WIDTH * usual:
        return usual
    whole = math.ceil(least)
    # The tool's interval is a whole number of seconds.
    return float(whole) if 0 < whole <= most < whole + 1 else None


def rows_of(
    reports: Sequence[int] | NDArray[np.int32],
    devices: Sequence[int] | NDArray[np.int32],
    matrix: Array,
) -> list[tuple[int, NDArray[np.int32], Array]]:
    """Rows of a matrix by device: its number, its reports, its rows."""
    order = np.argsort(np.asarray(devices), kind="stable")
    sorted_devices = np.asarray(devices)[order]
    at = np.flatnonzero(np.diff(sorted_devices)) + 1
    found = []
    for rows in np.split(order, at):
        found.append(
            (int(devices[int(rows[0])]), np.asarray(reports, dtype=np.int32)[rows], matrix[rows])
        )
    return found
