"""Azure Monitor: `az monitor metrics list` and the REST answer, as JSON.

Names end in `/sec` where values are rates. `Disk Read Bytes` of a virtual machine is a total per
period. Sources: the tables of supported metrics of Microsoft.Compute.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidlab.calibration.monitoring import clock
from raidlab.calibration.monitoring.readers.periods import Amount, Periods
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.readers.trees import trees_of
from raidlab.calibration.monitoring.samples import Capture, Quantity, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.devices.trees import tables_of

Q = Quantity
_NAMES = (
    (r"read bytes/sec", Q.READ_BYTES),
    (r"write bytes/sec", Q.WRITE_BYTES),
    (r"read operations/sec", Q.READS),
    (r"write operations/sec", Q.WRITES),
    (r"queue depth", Q.QUEUE),
    (r"read latency", Q.R_AWAIT),
    (r"write latency", Q.W_AWAIT),
    (r"\blatency\b", Q.AWAIT),
    (r"disk read bytes$", Amount.READ_BYTES),
    (r"disk write bytes$", Amount.WRITE_BYTES),
)


def _recognises(head: str) -> float:
    if '"timeseries"' in head and ('"timeStamp"' in head or '"metadatavalues"' in head):
        return 0.95
    return 0.9 if "Microsoft.Insights/metrics" in head else 0.0


def _metrics(tree: Any) -> Iterator[Mapping[str, object]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _metrics(each)
    elif isinstance(tree, dict):
        if "timeseries" in tree:
            yield tree
        else:
            for value in tree.values():
                yield from _metrics(value)


def _name(metric: Mapping[str, object]) -> str:
    name = metric.get("name")
    if isinstance(name, dict):
        return str(name.get("value") or name.get("localizedValue") or "")
    return str(name or "")


def _read(sources: Sequence[Source], options: Options) -> Capture:
    capture = Capture("azure")
    periods = Periods()
    period = options.interval_s
    unknown: list[str] = []
    for source in sources:
        trees = trees_of(source, capture)
        for tree in trees:
            if isinstance(tree, dict) and isinstance(tree.get("interval"), str) and period is None:
                period = clock.duration_iso(tree["interval"])
            for metric in _metrics(tree):
                _metric(metric, periods, capture, unknown)
    if unknown:
        capture.note("unknown-column", ", ".join(unknown[:3]), "not a figure of a disk: left out")
    if period is None:
        capture.interval_from = "distance of the timestamps"
    _without_empty(periods)
    periods.finish(capture, period)
    if not capture.series:
        raise RefusedError("no metric of a disk is in it", source="azure")
    return capture


def _metric(
    metric: Mapping[str, object], periods: Periods, capture: Capture, unknown: list[str]
) -> None:
    name = _name(metric)
    low = name.lower().replace("per second", "/sec").replace("operations per", "operations/")
    sense = next((what for pattern, what in _NAMES if re.search(pattern, low)), None)
    if sense is None or re.search(r"burst|target|cached|percentage|credits|provisioned", low):
        unknown += [] if name in unknown else [name]
        return
    if metric.get("unit") == "BytesPerSecond" and isinstance(sense, Amount):
        sense = Q.READ_BYTES if sense is Amount.READ_BYTES else Q.WRITE_BYTES
    for series in tables_of(metric.get("timeseries")):
        device = _device(metric, name, series)
        for point in tables_of(series.get("data")):
            stamp = clock.parse(str(point.get("timeStamp", "")))
            if stamp is None:
                continue
            capture.zone = capture.zone or stamp.zone
            keys = ("total", "average") if isinstance(sense, Amount) else ("average", "total")
            value = next((point[key] for key in keys if point.get(key) is not None), None)
            if value is None:
                value = point.get("maximum")
                if value is None:
                    capture.saw([stamp.seconds])
                    periods.add(device, Q.IOS, stamp.seconds, math.nan)
                    continue
                capture.note("statistic", name, "only maxima are in the file, no averages")
            scale = _scale(str(metric.get("unit", "")), sense)
            periods.add(device, sense, stamp.seconds, float(str(value)) * scale)


def _scale(unit: str, sense: Amount | Quantity) -> float:
    if sense in (Q.R_AWAIT, Q.W_AWAIT, Q.AWAIT) and unit.lower() == "seconds":
        return 1e3
    return 1.0


def _device(metric: Mapping[str, object], name: str, series: Mapping[str, object]) -> str:
    for each in tables_of(series.get("metadatavalues")):
        key = each.get("name")
        key = key.get("value") if isinstance(key, dict) else key
        if str(key).lower() in ("lun", "slotid", "deviceid", "device"):
            return f"lun{each.get('value')}" if str(key).lower() == "lun" else str(each["value"])
    low = name.lower()
    if low.startswith("os disk"):
        return "os-disk"
    if low.startswith("data disk"):
        return "data-disks"
    found = re.search(r"/(?:disks|virtualMachines)/([^/]+)/", str(metric.get("id", "")))
    return found[1] if found else "disk"


def _without_empty(periods: Periods) -> None:
    """Leaves out times without any value."""
    for by_time in periods.values.values():
        for at in [at for at, each in by_time.items() if not each]:
            del by_time[at]


READER = Reader("azure", "Azure Monitor as JSON", _recognises, _read)
