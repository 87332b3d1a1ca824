"""Scrapes of an exporter as text: node_exporter's and its kin's."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import legends
from raidlab.calibration.monitoring.counters import Counter
from raidlab.calibration.monitoring.points import Points
from raidlab.calibration.monitoring.readers.diskstats import time_in
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Boot, Capture, RefusedError
from raidlab.calibration.monitoring.source import Source

_LINE = re.compile(
    r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|NaN|[Ii]nf))"
    r"(?:\s+(\d+(?:\.\d+)?))?\s*$"
)
_BEGINS = re.compile(rf"^(?:{'|'.join(legends.PREFIXES)})\w+(?:\{{|\s)", re.MULTILINE)
_LABEL = re.compile(r"(\w+)=\"((?:[^\"\\]|\\.)*)\"")


@dataclass
class _State:
    capture: Capture
    step_s: float | None
    points: Points = field(default_factory=Points)
    at: float = math.nan
    scrapes: list[list[tuple[str, Counter, float]]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    timed: int = 0
    """Samples with times of their own."""

    def begin(self) -> None:
        """Another scrape."""
        self.scrapes.append([])
        self.times.append(self.at)
        self.seen = set()

    def line(self, line: str) -> None:
        """One line."""
        if line.startswith(("# HELP", "# TYPE", "# UNIT")) or not line.strip():
            return
        found = _LINE.match(line)
        if found is None:
            stamp = time_in(line.strip())
            if stamp is not None:
                self.at = stamp.seconds
                self.capture.zone = self.capture.zone or stamp.zone
                self.begin()
            return
        name, labels, value, millis = found.groups()
        if name in ("node_time_seconds", "node_time") and self.scrapes:
            self.times[-1] = float(value)
            self.capture.zone = self.capture.zone or "Z"
        named = legends.of_metric(name, dict(_LABEL.findall(labels or "")))
        if named is None or not isinstance(named.key, Counter) or not math.isfinite(float(value)):
            return
        if millis is not None:
            # A sample with its own time: scrapes need no borders.
            at = float(millis) * (1e-3 if float(millis) > 1e11 else 1.0)
            self.capture.zone = self.capture.zone or "Z"
            self.points.units[named.key] = named.scale
            self.points.add(named.device or "all", named.key, at, float(value) * named.scale)
            self.timed += 1
            return
        key = (name, labels or "")
        if not self.scrapes or key in self.seen:
            self.at = math.nan
            self.begin()
        self.seen.add(key)
        self.points.units[named.key] = named.scale
        device = named.device or "all"
        self.scrapes[-1].append((device, named.key, float(value) * named.scale))


def _recognises(head: str) -> float:
    return 0.85 if _BEGINS.search(head) else 0.0


_ONE = "one scrape only: its counters cover the time since boot; two make a sample"


def _by_scrape(state: _State, options: Options) -> None:
    """Points of scrapes, each at the time of its scrape."""
    scrapes = [(t, s) for t, s in zip(state.times, state.scrapes, strict=True) if s]
    if len(scrapes) < 2:
        raise RefusedError(_ONE, source=state.capture.source)
    if any(math.isnan(time) for time, _ in scrapes):
        if options.interval_s is None:
            raise RefusedError(
                "scrapes without times: --interval says how far apart they are",
                needs="interval",
                source=state.capture.source,
            )
        scrapes = [(at * options.interval_s, scrape) for at, (_, scrape) in enumerate(scrapes)]
    for time, scrape in scrapes:
        for device, counter, value in scrape:
            state.points.add(device, counter, time, value)


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("node-exporter", boot=Boot.DROPPED)
    state = _State(capture, options.interval_s)
    for source in sources:
        state.at = math.nan
        state.seen = {("", "")}
        state.scrapes.append([])
        state.times.append(math.nan)
        for line in source.lines():
            state.line(line.lstrip("\ufeff"))
    if not state.timed:
        _by_scrape(state, options)
    state.points.finish(capture)
    if not capture.series and state.timed:
        raise RefusedError(_ONE, source=capture.source)
    if not capture.series:
        raise RefusedError("no counters of a disk are in it", source=capture.source)
    return capture


READER = Reader("node-exporter", "scrapes of node_exporter", _recognises, _read)
