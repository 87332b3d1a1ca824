"""The mean rate and latency of a measurement, by fio, a collector or monitoring."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from raidlab.calibration.measurements.measurement import Side, load_measurement
from raidlab.calibration.monitoring.figures import figures
from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, reason, unreadable
from raidlab.devices.trees import table_of, tables_of
from raidlab.scenarios.spec.monitored import MonitoredLoad, read_monitored
from raidlab.scenarios.studies.why_measured import MeasuredMeans

_LARGEST_FILE = 256 * MIB


def measured_means(path: Path) -> MeasuredMeans:
    """What a file measured, all loads together: requests a second and their mean latency.

    Args:
        path: fio's JSON, a measurement of `raidlab import` with one point, a load of
            `import monitoring` or `record`, or what a monitoring tool printed.

    Raises:
        SpecError: It cannot be read, has no rate, or has several points.
    """
    tree = _json(path)
    if isinstance(tree, dict) and isinstance(tree.get("jobs"), list):
        return _of_fio(path, tree)
    if isinstance(tree, dict) and str(tree.get("format", "")).startswith("raidlab-measurement"):
        return _of_measurement(path)
    if isinstance(tree, dict) and "read_iops" in tree and "step_s" in tree:
        return _of_load(path, read_monitored(path))
    return _of_monitoring(path)


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return None
        return json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise unreadable(path, reason(error)) from None
    except (ValueError, RecursionError):
        return None


def _means(path: Path, source: str, parts: list[tuple[float, float | None]]) -> MeasuredMeans:
    """Of rates and their latencies in us; a latency counts with its requests."""
    parts = [(rate, wait) for rate, wait in parts if rate > 0 and math.isfinite(rate)]
    total = sum(rate for rate, _ in parts)
    if not total:
        raise SpecError([Fault("", None, "a rate above zero", (), str(path))])
    known = [(rate, wait) for rate, wait in parts if wait is not None and wait > 0]
    waited = sum(rate * wait for rate, wait in known)
    latency = waited / sum(rate for rate, _ in known) if len(known) == len(parts) else None
    return MeasuredMeans(source, total, latency)


def _of_fio(path: Path, tree: dict[str, object]) -> MeasuredMeans:
    parts: list[tuple[float, float | None]] = []
    for job in tables_of(tree["jobs"]):
        for side in ("read", "write"):
            found = job.get(side)
            if isinstance(found, dict):
                mean = table_of(found.get("lat_ns") or found.get("clat_ns")).get("mean")
                wait = float(mean) / 1000 if isinstance(mean, int | float) else None
                parts.append((float(found.get("iops") or 0.0), wait))
    return _means(path, "fio", parts)


def _of_measurement(path: Path) -> MeasuredMeans:
    points = load_measurement(path).points
    if len(points) != 1:
        names = ", ".join(point.name for point in points[:5])
        allowed = f"one point: it has {len(points)} ({names}); give the file of one"
        raise SpecError([Fault("points", len(points), allowed, (), str(path))])

    def part(side: Side | None) -> tuple[float, float | None]:
        return (0.0, None) if side is None else (side.iops, side.latency_mean_us)

    return _means(path, "measurement", [part(points[0].read), part(points[0].write)])


def _of_load(path: Path, load: MonitoredLoad) -> MeasuredMeans:
    def part(rates: tuple[float | None, ...], waits: tuple[float | None, ...]) -> Any:
        known = [rate for rate in rates if rate is not None]
        mean = sum(known) / len(known) if known else 0.0
        pairs = [(r, w) for r, w in zip(rates, waits, strict=False) if r and w is not None]
        requests = sum(r for r, _ in pairs)
        return mean, 1000 * sum(r * w for r, w in pairs) / requests if requests else None

    parts = [part(load.read_iops, load.read_await_ms), part(load.write_iops, load.write_await_ms)]
    return _means(path, load.source, parts)


def _of_monitoring(path: Path) -> MeasuredMeans:
    found = import_monitoring([path])
    if found.refused is not None:
        raise SpecError([Fault("", None, found.refused.reason, (), str(path))])
    parts: list[tuple[float, float | None]] = []
    for name in found.default_devices:
        series = found.capture.series.get(name)
        if series is not None:
            means = figures(series)
            wait = None if means.await_ms is None else 1000 * means.await_ms
            parts.append((means.iops_mean or 0.0, wait))
    return _means(path, found.capture.source, parts)
