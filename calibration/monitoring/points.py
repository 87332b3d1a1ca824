"""Figures that come one at a time, each with its own clock, as samples of devices.

Items of a monitoring system are read one after the other: their times differ by some seconds.
Each is joined to the sample nearest to it, within half an interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from raidlab.calibration.monitoring.counters import Counter, Snapshot, deltas, rates
from raidlab.calibration.monitoring.samples import Array, Capture, Quantity, Series, series_of

Key = Quantity | Counter


@dataclass
class Points:
    """Collects values of quantities and of counters."""

    values: dict[str, dict[Key, list[tuple[float, float]]]] = field(default_factory=dict)
    units: dict[Counter, float] = field(default_factory=dict)
    step: dict[Key, float] = field(default_factory=dict)
    joins: bool = True
    """False where the times are those of a table: rows are then never joined."""

    def add(self, device: str, key: Key, at: float, value: float) -> None:
        """A value; NaN for a gap."""
        self.values.setdefault(device, {}).setdefault(key, []).append((at, value))

    def finish(self, capture: Capture, interval_s: float | None = None) -> None:
        """Makes the series."""
        for device, by_key in self.values.items():
            self._upright(capture, device, by_key)
            usual = interval_s or self._usual(by_key)
            times, columns = _joined(by_key, usual)
            capture.saw(times)
            gauges = {k: v for k, v in columns.items() if isinstance(k, Quantity)}
            counters = {k: v for k, v in columns.items() if isinstance(k, Counter)}
            series = self._of_counters(capture, device, times, counters) if counters else None
            if gauges and (series is None or not len(series)):
                length = np.full(len(times), usual)
                series = Series(times, length, gauges)
            elif gauges and series is not None:
                for quantity, column in gauges.items():
                    known = {float(at): float(v) for at, v in zip(times, column, strict=True)}
                    added = np.array([known.get(float(at), math.nan) for at in series.at])
                    series.columns.setdefault(quantity, added)
            if series is not None and len(series):
                capture.series[device] = series

    @staticmethod
    def _upright(
        capture: Capture, device: str, by_key: dict[Key, list[tuple[float, float]]]
    ) -> None:
        """Turns series that charts draw downwards: no rate and no size is negative."""
        for key, points in by_key.items():
            below = [value < 0 for _, value in points if value == value]
            if not any(below):
                continue
            if all(value <= 0 for _, value in points if value == value):
                by_key[key] = [(at, -value) for at, value in points]
                text = f"{key.value} are negative, as charts draw one direction below: turned"
            else:
                by_key[key] = [(at, value if value >= 0 else math.nan) for at, value in points]
                text = f"{sum(below)} negative values of {key.value} are left out"
            capture.note("negative", device, text)

    def _of_counters(
        self, capture: Capture, device: str, times: Array, columns: Mapping[Counter, Array]
    ) -> Series:
        rows: list[tuple[float, float, dict[Quantity, float]]] = []
        before: Snapshot | None = None
        gaps = 0
        for index, at in enumerate(times):
            counts = {c: float(v[index]) for c, v in columns.items() if not math.isnan(v[index])}
            if not counts:
                continue
            now = Snapshot(float(at), counts, self.units)
            if before is not None and now.at > before.at:
                rises = deltas(device, before, now, capture)
                if rises is None:
                    gaps += 1
                else:
                    elapsed = now.at - before.at
                    rows.append((now.at, elapsed, rates(rises, elapsed)))
            before = now
        found = series_of(rows, {})
        found.gaps = gaps
        return found

    @staticmethod
    def _usual(by_key: Mapping[Key, Sequence[tuple[float, float]]]) -> float:
        distances = [
            b - a
            for points in by_key.values()
            for (a, _), (b, _) in pairwise(sorted(points, key=lambda each: each[0]))
            if b > a
        ]
        return float(np.median(distances)) if distances else math.nan


def _joined(
    by_key: Mapping[Key, Sequence[tuple[float, float]]], usual: float
) -> tuple[Array, dict[Key, Array]]:
    """Times of samples, and each column on them."""
    longest = max(by_key.values(), key=len)
    grid = np.unique(np.array([at for at, _ in longest]))
    half = usual / 2 if not math.isnan(usual) else 0.5
    extra = []
    for points in by_key.values():
        for at, _ in points:
            near = grid[np.argmin(np.abs(grid - at))] if len(grid) < 64 else _nearest(grid, at)
            if abs(near - at) > half:
                extra.append(at)
    if extra:
        added: list[float] = []
        for at in sorted(extra):
            if not added or at - added[-1] > half:
                added.append(at)
        grid = np.unique(np.concatenate([grid, np.array(added)]))
    columns: dict[Key, Array] = {}
    for key, points in by_key.items():
        column = np.full(len(grid), np.nan)
        times = np.array([at for at, _ in points])
        values = np.array([value for _, value in points])
        places = np.searchsorted((grid[1:] + grid[:-1]) / 2, times)
        column[places] = values
        columns[key] = column
    return grid, columns


def _nearest(grid: Array, at: float) -> float:
    place = int(np.searchsorted(grid, at))
    around = grid[max(0, place - 1) : place + 1]
    return float(around[np.argmin(np.abs(around - at))])
