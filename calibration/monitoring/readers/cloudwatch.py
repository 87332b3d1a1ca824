"""CloudWatch: get-metric-data, get-metric-statistics, and the console's CSV.

EBS counts operations, bytes and seconds per period: the statistic has to be the sum. Of
VolumeReadBytes the average is the mean size, of VolumeTotalReadTime the mean latency. RDS gives
rates and latencies as averages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.readers.delimited import rows_of
from raidlab.calibration.monitoring.readers.periods import Amount, Periods
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.devices.trees import tables_of

Q = Quantity
_SUMS: Mapping[str, tuple[Amount, float]] = {
    "ReadOps": (Amount.READS, 1.0),
    "WriteOps": (Amount.WRITES, 1.0),
    "ReadBytes": (Amount.READ_BYTES, 1.0),
    "WriteBytes": (Amount.WRITE_BYTES, 1.0),
    "TotalReadTime": (Amount.READ_MS, 1e3),
    "TotalWriteTime": (Amount.WRITE_MS, 1e3),
    "IdleTime": (Amount.IDLE_S, 1.0),
}
_OF_AVERAGE: Mapping[str, tuple[Quantity, float]] = {
    "ReadBytes": (Q.READ_SIZE, 1.0),
    "WriteBytes": (Q.WRITE_SIZE, 1.0),
    "TotalReadTime": (Q.R_AWAIT, 1e3),
    "TotalWriteTime": (Q.W_AWAIT, 1e3),
}
"""What the average over the operations of a period is."""
_GAUGES: Mapping[str, tuple[Quantity, float]] = {
    "VolumeQueueLength": (Q.QUEUE, 1.0),
    "VolumeAvgReadLatency": (Q.R_AWAIT, 1.0),
    "VolumeAvgWriteLatency": (Q.W_AWAIT, 1.0),
    "ReadIOPS": (Q.READS, 1.0),
    "WriteIOPS": (Q.WRITES, 1.0),
    "ReadThroughput": (Q.READ_BYTES, 1.0),
    "WriteThroughput": (Q.WRITE_BYTES, 1.0),
    "ReadLatency": (Q.R_AWAIT, 1e3),
    "WriteLatency": (Q.W_AWAIT, 1e3),
    "DiskQueueDepth": (Q.QUEUE, 1.0),
}
_COUNTED = re.compile(
    r"\b(?:Volume|EBS|Disk|diskio_)(ReadOps|WriteOps|ReadBytes|WriteBytes|TotalReadTime|"
    r"TotalWriteTime|IdleTime)\b"
)
_GAUGED = re.compile(rf"\b(?:{'|'.join(_GAUGES)})\b")
_VOLUME = re.compile(r"\b(vol-[0-9a-f]+|i-[0-9a-f]{8,17}|db-[A-Z0-9]+)\b")


@dataclass
class _State:
    capture: Capture
    options: Options
    periods: Periods = field(default_factory=Periods)
    period_s: float | None = None
    unknown: list[str] = field(default_factory=list)
    assumed: bool = False

    def series(
        self, label: str, statistic: str | None, points: Sequence[tuple[str, float]], device: str
    ) -> None:
        """Values of a metric."""
        if not points:
            return
        counted, gauged = _COUNTED.search(label), _GAUGED.search(label)
        if counted is None and gauged is None:
            self.unknown += [] if label in self.unknown else [label]
            return
        name = counted[1] if counted else ""
        statistic = statistic or self.options.statistic
        if statistic is None and counted:
            statistic, self.assumed = "Sum", True
        for time, value in points:
            stamp = clock.parse(time)
            seconds = stamp.seconds if stamp else clock.epoch(time)
            if seconds is None or math.isnan(value):
                continue
            if stamp is not None and self.capture.zone is None:
                self.capture.zone = "+00:00" if time.rstrip('"').endswith("+00:00") else stamp.zone
            if gauged:
                quantity, scale = _GAUGES[gauged[0]]
                self.periods.add(device, quantity, seconds, value * scale)
            elif (statistic or "").lower() == "sum":
                amount, scale = _SUMS[name]
                self.periods.add(device, amount, seconds, value * scale)
            elif (statistic or "").lower() == "average" and name in _OF_AVERAGE:
                quantity, scale = _OF_AVERAGE[name]
                self.periods.add(device, quantity, seconds, value * scale)
            else:
                text = f"its {statistic} says nothing of a rate: ask for the sum"
                self.capture.note("statistic", label, text)
                return


def _device(text: str) -> str:
    found = _VOLUME.search(text)
    return found[1] if found else "volume"


def _recognises(head: str) -> float:
    if '"MetricDataResults"' in head or ('"Datapoints"' in head and '"Label"' in head):
        return 0.95
    if '"Timestamps"' in head and '"Values"' in head and _COUNTED.search(head):
        return 0.8
    if _TEXT.search(head):
        return 0.9
    return 0.7 if _csv_like(head) else 0.0


_TEXT = re.compile(r"^(?:DATAPOINTS\t|METRICDATARESULTS\t)", re.MULTILINE)


def _text(source: Source, state: _State) -> None:
    """`--output text`: lines of cells between tabs, the first of which says what they are."""
    label, times, values = "", list[str](), list[float]()
    device = _device(source.path.name)

    def finish() -> None:
        pairs = list(zip(times, values, strict=False))
        named = _device(label)
        state.series(label, None, pairs, device if named == "volume" else named)
        times.clear()
        values.clear()

    for line in source.lines():
        words = line.lstrip("\ufeff").split("\t")
        match words[0]:
            case "DATAPOINTS":
                at = next((at for at, word in enumerate(words) if clock.parse(word)), 0)
                if at > 1:
                    times.append(words[at])
                    values.append(float(words[at - 1]))
            case "TIMESTAMPS" if len(words) > 1:
                times.append(words[1])
            case "VALUES" if len(words) > 1:
                values.append(float(words[1]))
            case _ if line.strip():
                finish()
                label = words[2] if words[0] == "METRICDATARESULTS" and len(words) > 2 else words[0]
    finish()


def _csv_like(head: str) -> bool:
    start = head.lstrip("\ufeff\r\n ")
    return not start.startswith(("{", "[")) and bool(
        _COUNTED.search(head[:4000]) or _GAUGED.search(head[:4000])
    )


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("cloudwatch")
    state = _State(capture, options)
    state.period_s = options.interval_s
    for source in sources:
        if _TEXT.search(source.head):
            _text(source, state)
            continue
        if _csv_like(source.head):
            _csv(source, state)
            continue
        trees = trees_of(source, capture)
        for tree in trees:
            for each in _objects(tree):
                _object(each, state, _device(source.path.name))
    if options.interval_s is None:
        capture.interval_from = "distance of the timestamps"
    period = state.periods.finish(capture, state.period_s)
    if state.assumed:
        capture.statistic_assumed = "Sum"
        capture.note(
            "statistic", "",
            "neither the period nor the statistic is in the file: sums per"
            f" {period or 0:g} s were taken (--statistic, --interval)",
        )  # fmt: skip
    if state.unknown:
        capture.note("unknown-column", ", ".join(state.unknown[:3]), "left out")
    if not capture.series:
        raise RefusedError("no metric of a volume is in it", source="cloudwatch")
    if period is not None and period >= 60:
        capture.note("coarse", "", f"figures over {period:g} s hide bursts that are shorter")
    return capture


def _objects(tree: Any) -> Iterator[Mapping[str, object]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _objects(each)
    elif isinstance(tree, dict):
        if "Datapoints" in tree or "Timestamps" in tree:
            yield tree
        else:
            for value in tree.values():
                yield from _objects(value)


def _object(tree: Mapping[str, object], state: _State, of_name: str) -> None:
    label = str(tree.get("Label") or tree.get("MetricName") or tree.get("Id") or "")
    device = _device(label)
    device = of_name if device == "volume" else device
    for dimension in tables_of(tree.get("Dimensions")):
        if dimension.get("Value"):
            device = str(dimension["Value"])
    if "Timestamps" in tree:
        times = [str(time) for time in _items(tree["Timestamps"])]
        values = [float(str(value)) for value in _items(tree.get("Values"))]
        statistic = tree.get("Stat")
        stated = None if statistic is None else str(statistic)
        state.series(label, stated, list(zip(times, values, strict=False)), device)
        return
    points: dict[str, list[tuple[str, float]]] = {}
    for point in tables_of(tree["Datapoints"]):
        for statistic in ("Sum", "Average", "Maximum", "Minimum"):
            if statistic in point:
                time = str(point.get("Timestamp", ""))
                points.setdefault(statistic, []).append((time, float(str(point[statistic]))))
    wanted = (state.options.statistic or "").capitalize()
    gauge = _GAUGED.search(label) is not None
    order = (wanted, "Average", "Sum") if gauge else (wanted, "Sum", "Average", "Maximum")
    for statistic in order:
        if statistic in points:
            state.series(label, statistic, points[statistic], device)
            return


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _csv(source: Source, state: _State) -> None:
    """The console's CSV: rows of labels above rows that begin with a time."""
    rows = rows_of(source.text())
    labels: list[str] = []
    statistics: list[str] = []
    columns: dict[int, list[tuple[str, float]]] = {}
    for row in rows:
        stamp = clock.parse(row[0]) if row else None
        if stamp is None or not stamp.dated:
            if any(_COUNTED.search(cell) or _GAUGED.search(cell) for cell in row) and not labels:
                labels = list(row)
            if any(cell in ("Sum", "Average") for cell in row):
                statistics = list(row)
            if row and row[0].lower().startswith("period") and len(row) > 1:
                digits = re.match(r"\d+", row[1])
                state.period_s = float(digits[0]) if digits else state.period_s
            continue
        for at, cell in enumerate(row[1:], 1):
            if cell.strip():
                columns.setdefault(at, []).append((row[0], float(cell)))
    for at, points in columns.items():
        if at < len(labels):
            statistic = statistics[at] if at < len(statistics) else None
            state.series(labels[at], statistic or None, points, _device(labels[at]))


READER = Reader("cloudwatch", "CloudWatch as JSON or CSV", _recognises, _read)
