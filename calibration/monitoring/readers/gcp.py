"""Google Cloud Monitoring: time series as JSON.

`read_ops_count` and its kin are deltas over the interval of their point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.readers.periods import Amount, Periods
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.devices.trees import table_of, tables_of

Q = Quantity
_NAMES: Mapping[str, tuple[Amount | Quantity, float]] = {
    "read_ops_count": (Amount.READS, 1.0),
    "write_ops_count": (Amount.WRITES, 1.0),
    "read_bytes_count": (Amount.READ_BYTES, 1.0),
    "write_bytes_count": (Amount.WRITE_BYTES, 1.0),
    "average_io_latency": (Q.AWAIT, 1e-3),
    "average_io_queue_depth": (Q.QUEUE, 1.0),
}


def _recognises(head: str) -> float:
    return 0.95 if '"metricKind"' in head and '"points"' in head else 0.0


def _series(tree: Any) -> Iterator[Mapping[str, object]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _series(each)
    elif isinstance(tree, dict):
        if "points" in tree and "metric" in tree:
            yield tree
        else:
            for value in tree.values():
                yield from _series(value)


def _value(point: Mapping[str, object]) -> float | None:
    value = table_of(point.get("value"))
    for key in ("int64Value", "doubleValue"):
        if key in value:
            return float(str(value[key]))
    return None


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("gcp")
    periods = Periods()
    period = options.interval_s
    for source in sources:
        trees = trees_of(source, capture)
        for each in _series(trees):
            metric = table_of(each["metric"])
            kind = str(metric.get("type", "")).rpartition("/")[2]
            if kind not in _NAMES:
                capture.note("unknown-column", kind, "not a figure of a disk: left out")
                continue
            what, scale = _NAMES[kind]
            resource = table_of(table_of(each.get("resource")).get("labels"))
            labels = {**resource, **table_of(metric.get("labels"))}
            device = str(labels.get("device_name") or labels.get("disk_id") or "disk")
            for point in tables_of(each["points"]):
                interval = table_of(point.get("interval"))
                end = clock.parse(str(interval.get("endTime", "")))
                begin = clock.parse(str(interval.get("startTime", "")))
                value = _value(point)
                if end is None or value is None:
                    continue
                if begin is not None and end.seconds > begin.seconds and period is None:
                    period = end.seconds - begin.seconds
                capture.zone = capture.zone or end.zone
                periods.add(device, what, end.seconds, value * scale)
    periods.finish(capture, period)
    if not capture.series:
        raise RefusedError("no metric of a disk is in it", source="gcp")
    return capture


READER = Reader("gcp", "Google Cloud Monitoring as JSON", _recognises, _read)
