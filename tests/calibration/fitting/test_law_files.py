"""Tables of latencies: which measured points give a row its shape."""

from __future__ import annotations

import pytest

from raidlab.calibration.fitting.estimation.law_files import table_device
from raidlab.calibration.fitting.parameters.parameter import number_of
from raidlab.calibration.measurements.measurement import Latency, Point, Side
from raidlab.calibration.surrogates.laws import HostTimes
from raidlab.calibration.surrogates.loads import measured
from raidlab.calibration.surrogates.selection import select


def point(rw: str, depth: int, tail: float, *, noisy: bool = False) -> Point:
    """1000 reads a second a depth, each 1 ms; p99 is `tail` times that."""
    shape = {"50": 900.0, "90": 950.0, "99": 1000.0 * tail, "99.9": 1100.0 * tail}
    latency = Latency(
        mean_us=1000.0, stddev_us=100.0, min_us=500.0, max_us=2e6, percentiles_us=shape
    )
    rate = 1000.0 * depth
    side = Side(
        iops=rate, ios=100_000, bytes_per_s=rate * 4096, latency_mean_us=1000.0, completion=latency
    )
    return Point(
        name=f"{rw} {depth}", rw=rw, read_share=1.0, bs=4096, iodepth=depth, runtime_s=60.0,
        read=side, noisy=("others used the CPU",) if noisy else (),
    )  # fmt: skip


def p99_over_mean(points: list[Point]) -> list[float]:
    average = select(measured(points)).average
    rows = table_device({"kind": "table"}, average, points, HostTimes())["read"]
    return [number_of(row["latencies"][3]) / number_of(row["mean"]) for row in rows]


def test_sequential_shapes_are_not_those_of_random_reads() -> None:
    random = [point("randread", depth, 2.0) for depth in (1, 4, 16)]
    sequential = [point("read", depth, 20.0) for depth in (1, 4, 16)]
    assert p99_over_mean(random + sequential) == pytest.approx([2.0] * 5, rel=0.01)


def test_a_noisy_point_counts_for_little() -> None:
    """Twice the tail at one point with three times the tolerance: a ninth of its weight at most."""
    points = [point("randread", depth, 2.0, noisy=depth == 4) for depth in (1, 4, 16)]
    points[1] = point("randread", 4, 20.0, noisy=True)
    for found in p99_over_mean(points):
        assert found < 5.5
