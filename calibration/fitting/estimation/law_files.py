"""Device and host files of a law: what its numbers are called there, and tables of latencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from raidlab.calibration.measurements.distribution import percentile
from raidlab.calibration.measurements.measurement import Latency, Point, Side
from raidlab.calibration.surrogates.forms import Blend
from raidlab.calibration.surrogates.kriging import correlations
from raidlab.calibration.surrogates.laws import FittedLaw, HostTimes, ServerLaw
from raidlab.calibration.surrogates.loads import Loads, loads_of, measured, tolerance_of
from raidlab.calibration.surrogates.mixes import shared_of
from raidlab.devices.host import HostSpec
from raidlab.devices.trees import Tree, Value, copied, put

_MIB: Final = 1 << 20
_PERCENTS: Final = (50.0, 90.0, 99.0, 99.9)
_FAST_PERCENT: Final = 10.0
"""Percent of the I/Os that are as fast as nothing but the floor: the very fastest are odd ones."""
_TAIL: Final = 2.0
"""Greatest latency of a shape over its 99.9th percentile: what a single I/O had decides nothing."""
_HOST_BOUND: Final = 0.97
"""Share of what the host's CPU allows from which on a rate says nothing of the device."""
_SHAPE_REACH: Final = 2.0
"""Reach of a point's shape of latencies over that of rates."""


def duration(seconds: float) -> str:
    """A time as device files have it, in microseconds; below a nanosecond it is none."""
    if seconds < 1e-9:
        return "0 us"
    return f"{float(f'{seconds * 1e6:.5g}'):g} us"


def host_times_of(spec: HostSpec) -> HostTimes:
    """The CPU times of an I/O that a host's file has, in seconds."""
    return HostTimes(
        (spec.submit + spec.complete) / 1e9,
        spec.page / 1e9,
        spec.fill / 1e9,
        spec.write_page / 1e9,
        spec.wake / 1e9,
        spec.threads,
    )


def with_measured_cpu(
    host: Mapping[str, Value], times: HostTimes | None, threads: int | None
) -> Tree:
    """A host's tree with the CPU times and the hardware threads of the machine that was measured.

    Issuing and completing an I/O are not separated by what fio counts: they share its time evenly.
    """
    found = copied(host)
    found.pop("aliases", None)
    if threads:
        found["threads"] = threads
    if times is not None:
        # Per-command costs that fio's CPU time contains already would count twice.
        for key in ("page", "fill", "write_page", "wake"):
            found.pop(key, None)
        half = times.command / 2
        said = {
            "submit": half, "complete": half, "page": times.page, "fill": times.write,
            "write_page": times.write_page, "wake": times.wake,
        }  # fmt: skip
        found |= {key: duration(value) for key, value in said.items()}
    return found


def volume_values(law: FittedLaw) -> Tree:
    """The keys of a virtual disk by a law's numbers, dotted."""
    form, numbers = law.law, law.named()
    if not isinstance(form, ServerLaw):
        raise AssertionError("only servers are devices")
    found: Tree = {
        "server.servers": form.servers,
        "server.spread": form.spread,
        "server.read": duration(numbers["read"]),
        "server.write": duration(numbers["write"]),
        "server.read_mib": duration(numbers["read_byte"] * _MIB),
        "server.write_mib": duration(numbers["write_byte"] * _MIB),
        "latency.read": duration(numbers["read_latency"]),
        "latency.write": duration(numbers["write_latency"]),
    }
    if form.apart:
        found["server.apart"] = True
    if form.continued:
        for side in ("read", "write"):
            found[f"server.continued_{side}"] = float(f"{numbers[f'continued_{side}']:.4g}")
    if form.cached:
        found["server.cache"] = f"{round(numbers['cache'])} B"
        found["server.uncached"] = float(f"{max(numbers['uncached'], 1.001):.4g}")
    if form.capped:
        found["limits.rate"] = f"{numbers['rate']:.6g} IO/s"
        found["limits.throughput"] = f"{numbers['throughput'] / 1e6:.6g} MB/s"
    return found


def virtual_disk(tree: Mapping[str, Value], law: FittedLaw, points: Sequence[Point]) -> Tree:
    """The tree of a virtual disk with a law's numbers."""
    found = copied(tree)
    for key, value in volume_values(law).items():
        put(found, key, value)
    put(found, "latency.floor", _floor(points))
    return found


def _floor(points: Sequence[Point]) -> float:
    """Share of the mean latency of the shallowest points that the fastest I/Os take."""
    shallow = min(point.outstanding for point in points)
    shares = [
        fast / side.completion.mean_us
        for point in points
        if point.outstanding == shallow
        for _, side in point.sides()
        if (fast := percentile(side.completion, _FAST_PERCENT))
    ]
    return float(f"{min(1.0, float(np.median(shares))):.3g}") if shares else 0.7


def table_device(
    tree: Mapping[str, Value],
    predictor: Blend,
    points: Sequence[Point],
    host: HostTimes,
) -> Tree:
    """The tree of a table over the loads that were measured.

    A row holds what the device takes besides the host: of `n` I/Os in flight at a rate `X`, `X`
    times the CPU time of one is in the host, the rest in the device, each for `n_device / X`.

    Args:
        tree: To begin with.
        predictor: Gives rates.
        points: That were measured: their sizes, depths and shapes of latency.
        host: CPU times of an I/O.
    """
    found = copied(tree)
    for key in ("read", "write"):
        found.pop(key, None)
    deepest = max(point.outstanding for point in points)
    depths = [2**at for at in range(int(math.log2(deepest)) + 1)]
    depths = sorted({*depths, deepest})
    per_job = max(point.iodepth for point in points)
    for side in ("read", "write"):
        of = [point for point in points if getattr(point, side) is not None]
        if not of:
            continue
        sequential = all(not point.rw.startswith("rand") for point in of)
        rows: list[Tree] = []
        for block in _blocks([point.bs for point in of]):
            last = 0.0
            for depth in depths:
                load = _load(side, block, depth, per_job, sequential=sequential)
                row = _row(load, predictor, host, of, side)
                # Latencies do not fall with depth, nor may a row have no more in it than the last.
                if row is None or row.outstanding <= last:
                    continue
                last = row.outstanding
                rows.append(row.tree())
        found[side] = rows
    shared = shared_of(predictor, measured(points))
    if shared < 1.0:
        found["shared"] = shared
    return found


def _blocks(sizes: Sequence[int]) -> list[int]:
    """The measured sizes, and powers of four between them."""
    least, most = min(sizes), max(sizes)
    steps = int(math.log2(most / least) / 2)
    between = [least * 4**at for at in range(1, steps + 1) if least * 4**at < most]
    return sorted({*sizes, *between})


def _load(side: str, block: int, depth: int, per_job: int, *, sequential: bool) -> Loads:
    jobs = math.ceil(depth / per_job)
    values = (side == "read", block, depth / jobs, jobs, sequential)
    return Loads(*(np.array([float(value)]) for value in values))


@dataclass(frozen=True)
class _Row:
    """A row of a table, as a device file has it."""

    block: str
    outstanding: float
    mean: str
    latencies: list[str] | None

    def tree(self) -> Tree:
        """For the file; without latencies where there are none."""
        return {key: value for key, value in vars(self).items() if value is not None}


def _row(
    load: Loads,
    predictor: Blend,
    host: HostTimes,
    points: Sequence[Point],
    side: str,
) -> _Row | None:
    """A row of the table; None where the host is what limits."""
    rate = float(predictor.rates(load)[0])
    busy = float(host.busy(load)[0])
    workers = float(load.jobs[0])
    workers = min(workers, host.threads) if host.threads else workers
    depth = float(load.outstanding[0])
    if busy > 0.0 and rate >= _HOST_BOUND * workers / busy and depth > 1.0:
        return None
    at_host = busy + host.wake / float(load.depth[0])
    inside = max(depth - rate * at_host, 0.05 * depth)
    mean = inside / rate
    shape = _shape(load, points, side, mean)
    return _Row(f"{int(load.block[0])} B", float(f"{inside:.4g}"), duration(mean), shape)


def _shape(load: Loads, points: Sequence[Point], side: str, mean: float) -> list[str] | None:
    """Latencies at the table's shares, as those of the nearest points with percentiles, scaled.

    In a sequence most I/Os meet what was read ahead or gathered, and few wait for all of it: random
    I/Os have another shape. Points of the other order count only where there are none of the own.
    """
    known = [(point, shape) for point in points if (shape := _relative(getattr(point, side)))]
    if not known:
        return None
    random = not load.sequential[0]
    known = [each for each in known if each[0].rw.startswith("rand") == random] or known
    near = correlations(load, loads_of([point for point, _ in known]), _SHAPE_REACH)[0]
    weights = (near / np.array([tolerance_of(point) for point, _ in known])) ** 2
    weights /= weights.sum()
    logs = np.array([np.log(shape) for _, shape in known])
    values = np.maximum.accumulate(np.exp(weights @ logs))
    return [duration(mean * float(value)) for value in values]


def _relative(side: Side) -> list[float] | None:
    """Least, percentiles and greatest latency over the mean; None without percentiles."""
    latency: Latency = side.completion
    found = [percentile(latency, percent) for percent in _PERCENTS]
    if any(value is None or value <= 0.0 for value in found):
        return None
    values = [float(value or 0.0) for value in found]
    least = min(values[0], latency.min_us) if latency.min_us > 0.0 else 0.5 * values[0]
    mean = max(latency.mean_us, 1e-3)
    return [value / mean for value in (max(least, 1e-3), *values, _TAIL * values[-1])]
