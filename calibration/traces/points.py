"""From a trace with response times to a measurement: a point for each load that it holds.

A trace is no closed loop, but each of its requests met a device with some others in flight. Those
that met as many (1, 2, 3 and 4, 5 to 8 ...), of one direction, size and order, are taken for a load
of that depth; its rate is that of a closed loop, which by Little's law is depth over mean latency.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from raidlab.calibration.measurements.measurement import (
    File,
    Latency,
    Measurement,
    Point,
    Side,
    Skipped,
)
from raidlab.calibration.traces.trace import READ, WRITE, Trace
from raidlab.devices.faults import Fault, SpecError

LEAST_REQUESTS = 50
"""Requests that a point is made of at least."""
_PERCENTS = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.9)
_RARE = 10
"""Requests beyond a percentile, at least, or it is left out."""

Mask = npt.NDArray[np.bool_]


def measurement_of(trace: Trace, name: str = "") -> Measurement:
    """The points of a trace.

    Raises:
        SpecError: It has no response times, or too few requests of any one load.
    """
    path = str(trace.path)
    if not trace.is_measured:
        allowed = "a response time for every request: raidlab replay simulates traces without"
        raise SpecError([Fault("", None, allowed, (), path)])
    points, skipped = [], [Skipped(path=path, reason=note) for note in trace.notes]
    for label, point, requests in _points(trace):
        if point is None:
            few = f"{label}: {requests} requests, at least {LEAST_REQUESTS} make a point"
            skipped.append(Skipped(path=path, reason=few))
        else:
            points.append(point)
    if not points:
        allowed = f"at least {LEAST_REQUESTS} requests of one direction, size, order and depth"
        raise SpecError([Fault("", f"{len(trace)} requests", allowed, (), path)])
    digest = hashlib.sha256(trace.path.read_bytes()).hexdigest()
    files = (File(path=path, sha256=digest, tool="trace"),)
    return Measurement(
        name=name or trace.path.stem, points=tuple(points), files=files, skipped=tuple(skipped)
    )


def _points(trace: Trace) -> Iterator[tuple[str, Point | None, int]]:
    """What a load is called, its point if it has enough requests, and how many it has."""
    in_flight = _in_flight(trace)
    # 1, 2, 4, 8 ...: the most in flight of each class.
    classes = 2 ** np.ceil(np.log2(in_flight)).astype(np.int64)
    follows = np.concatenate([[False], trace.offsets[1:] == (trace.offsets + trace.sizes)[:-1]])
    for op, word in ((READ, "read"), (WRITE, "write")):
        for size in np.unique(trace.sizes[trace.ops == op]):
            for sequential in (False, True):
                of = (trace.ops == op) & (trace.sizes == size) & (follows == sequential)
                for most in np.unique(classes[of]):
                    chosen = of & (classes == most)
                    rw = word if sequential else f"rand{word}"
                    label = f"{rw} of {size} B, up to {most} in flight"
                    count = int(chosen.sum())
                    depth = max(1, round(float(np.mean(in_flight[chosen]))))
                    enough = count >= LEAST_REQUESTS
                    yield label, _point(trace, chosen, rw, depth) if enough else None, count


def _in_flight(trace: Trace) -> npt.NDArray[np.int64]:
    """For each request, how many were in flight when it was issued, itself included."""
    if trace.closed:
        return np.ones(len(trace), dtype=np.int64)
    issued = trace.times_ns.astype(np.float64)
    done = np.sort(issued + trace.measured_us * 1e3)
    begun = np.arange(1, len(trace) + 1)
    return np.asarray(np.maximum(1, begun - np.searchsorted(done, issued, side="right")))


def _point(trace: Trace, chosen: Mask, rw: str, depth: int) -> Point:
    took = trace.measured_us[chosen]
    size = int(trace.sizes[chosen][0])
    mean = max(float(took.mean()), 1e-3)
    percents = [p for p in _PERCENTS if min(p, 100 - p) / 100 * took.size >= _RARE or p == 50]
    latency = Latency(
        mean_us=mean,
        stddev_us=float(took.std()),
        min_us=float(took.min()),
        max_us=float(took.max()),
        percentiles_us={f"{p:g}": float(np.percentile(took, p)) for p in percents},
    )
    iops = depth * 1e6 / mean
    side = Side(
        iops=iops,
        ios=int(took.size),
        bytes_per_s=iops * size,
        latency_mean_us=mean,
        completion=latency,
    )
    reads = rw.endswith("read")
    return Point(
        name=f"{rw}-{size}-{depth}",
        rw=rw,  # type: ignore[arg-type]
        read_share=1.0 if reads else 0.0,
        bs=size,
        iodepth=depth,
        area_bytes=int((trace.offsets + trace.sizes).max()),
        read=side if reads else None,
        write=None if reads else side,
        file=str(trace.path),
    )
