"""Pauses of a device from the tail of a measurement: how often, and how long.

Latencies beyond what the device does without pauses are waits for their ends. Of a load with n I/Os
in flight that completes Y a second, each pause makes n wait, so that pauses longer than t come

    R(t) = Y (1 - q) / n   a second,   t = latency at the quantile q, less the mean

Percentiles, the maximum and the bins of a histogram are such points. Their mixture of exponentials
is found from the tail inwards (Feldmann and Whitt, Performance Evaluation 31, 1998): two points far
out give the slowest kind, a l^-1 line of ln R; what it makes further in is taken off, and so on.
docs/explanation/pauses.md has a worked example.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from raidlab.calibration.measurements.distribution import curve
from raidlab.calibration.measurements.measurement import Measurement, Point, Side

LEAST_US = 20.0
"""Waits that no pause explains better than spread of core times does."""
PAUSES_ALONE = 1e-4
"""Share of I/Os in whose latency nothing but pauses is left of a tail at low depth."""
_FROM = 1.0 - PAUSES_ALONE - 1e-9
"""Quantile from which on that is so."""
MOST_IN_FLIGHT = 4
"""With more I/Os in flight they wait for each other for as long."""


@dataclass(frozen=True)
class Excess:
    """Pauses longer than `wait_us` come `per_s` times a second."""

    wait_us: float
    per_s: float


@dataclass(frozen=True)
class Kind:
    """One kind of pauses: exponentially long, `per_s` a second."""

    per_s: float
    length_us: float

    def beyond(self, wait_us: float) -> float:
        """Of them longer than `wait_us`, a second."""
        return self.per_s * exp(-wait_us / self.length_us)

    @property
    def every_us(self) -> float:
        """Mean gap between two: a pause lasts, and then there is none."""
        return max(1.0, 1e6 / self.per_s - self.length_us)


def excesses(
    tail: Iterable[tuple[float, float]], *, mean_us: float, iops: float, in_flight: int
) -> list[Excess]:
    """Points of R(t), shortest wait first.

    Args:
        tail: Quantiles (0.999 for p99.9) with their latencies in microseconds, from where the
            device without pauses ends. The maximum of n I/Os is the quantile 1 - 1 / n.
        mean_us: Mean latency.
        iops: I/Os a second.
        in_flight: I/Os in flight.
    """
    points = [
        Excess(latency - mean_us, iops * (1.0 - quantile) / in_flight)
        for quantile, latency in tail
        if quantile < 1.0 and latency - mean_us > LEAST_US
    ]
    return sorted(points, key=lambda point: point.wait_us)


def fit_pauses(points: Sequence[Excess]) -> list[Kind]:
    """Kinds of pauses through the points, longest first: at most one for each two of them.

    A point that longer kinds explain already adds none.
    """
    kinds: list[Kind] = []
    left = sorted(points, key=lambda point: -point.wait_us)
    while len(left) > 1:
        far, near = left[0], left[1]
        rest = [
            point.per_s - sum(kind.beyond(point.wait_us) for kind in kinds) for point in (far, near)
        ]
        if 0 < rest[0] < rest[1] and near.wait_us < far.wait_us:
            length = (far.wait_us - near.wait_us) / log(rest[1] / rest[0])
            kinds.append(Kind(rest[1] * exp(near.wait_us / length), length))
        left = left[2 if kinds else 1 :]
    return kinds


def pauses_of(measurement: Measurement) -> list[Kind]:
    """The longest kind of pauses in each of a measurement's loads that have few I/Os in flight.

    Loads whose files have neither percentiles from p99.99 on nor bins say nothing.
    """
    found = []
    for point in measurement.points:
        if point.iodepth * point.numjobs > MOST_IN_FLIGHT:
            continue
        for side in (point.read, point.write):
            kinds = [] if side is None else fit_pauses(_tail(point, side))
            found += kinds[:1]
    return found


def _tail(point: Point, side: Side) -> list[Excess]:
    latency, mean = side.completion, side.latency_mean_us
    at, shares = curve(latency)
    last = 1.0 - 1.0 / max(side.ios, 2)
    tail = [(share, us) for us, share in zip(at, shares, strict=True) if _FROM <= share < last]
    within = [(float(share), float(us)) for share, us in tail]
    ends = [within[0], (last, latency.max_us)] if within and latency.max_us > within[0][1] else []
    in_flight = point.iodepth * point.numjobs
    return excesses(ends, mean_us=mean, iops=side.iops, in_flight=in_flight)


def typical(kinds: Sequence[Kind]) -> Kind | None:
    """The kind in the middle of several: medians of their logarithms."""
    if not kinds:
        return None
    per_s = statistics.median(log(kind.per_s) for kind in kinds)
    length = statistics.median(log(kind.length_us) for kind in kinds)
    return Kind(exp(per_s), exp(length))
