"""How far a simulation is from a measurement: residuals in units of what is tolerated.

Rates and latencies are compared as logarithms of ratios, so that a point at 100 IO/s weighs as
much as one at 100,000, and twice too slow as much as twice too fast. Each residual is divided by
the deviation that would still count as agreement; the fit then takes a robust loss of it, so that
single odd points do not pull the rest.

A measured percentile is compared with the simulated curve, not with the simulated percentile alone:
what counts is how far the point lies from the curve, in latency and in share together. Where few
I/Os lie between two kinds of them (pages of two speeds, hits and misses) a percentile jumps from
one to the other for a thousandth of the share, which is scatter; its distance from the curve does
not. Source: total least squares (Golub and Van Loan 1980), here point by point.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.measurements.distribution import Once, curve, percentile, percentiles
from raidlab.calibration.measurements.measurement import Latency, Point, Side, rates_of

Array = npt.NDArray[np.float64]

RATE_TOLERANCE: Final = 0.03
PLATEAU_TOLERANCE: Final = 0.005
"""Of the rate of a load at its deepest point, where it hardly grows any more. Such a rate hangs on
one time, that of the bottleneck, and not on all parts of a latency; and whatever is deeper than the
training points continues it, its error included."""
NOWHERE: Mapping[int, float] = MappingProxyType({})
_HARDLY_GROWS: Final = 0.2
"""Growth of a rate by that of depth, both in logarithms: 1 where nothing waits, 0 at a plateau."""
_ALIKE_S: Final = 5.0
"""Samples of a rate that are less apart count as one: what makes a drive slower for a moment (its
collection, a sweep of the scheduler) lasts for seconds."""
PERCENTILES: tuple[tuple[float, float], ...] = (
    *((percent, 0.25) for percent in (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)),
    (95.0, 0.20),
    (99.0, 0.15),
)
"""Percentiles that are compared, and the relative deviation that counts as agreement."""
SHARE_TOLERANCE: Final = 0.04
"""Deviation of the share p up to a latency that counts as agreement, times sqrt(p (1 - p)): that of
625 I/Os."""
CPU_TOLERANCE: Final = 0.1
OVER_TIME_TOLERANCE: Final = 0.1
"""Of the rate in a part of a measurement's time."""
_LEAST_CPU_SHARE: Final = 0.05
"""Of one hardware thread; what fio rounds says nothing of less."""
_FARTHEST_RESIDUAL: Final = 3.0


@dataclass(frozen=True)
class Residual:
    """One comparison."""

    point: int
    quantity: str
    """`rate`, or direction and percentile: `read p99`."""
    measured: float
    simulated: float
    tolerance: float
    apart: float = float("inf")
    """Of a percentile: its distance from the simulated curve, in tolerances."""

    @property
    def value(self) -> float:
        """Logarithm of simulated over measured, in tolerances, or the distance if it is less."""
        ratio = max(-_FARTHEST_RESIDUAL, min(self.log_ratio, _FARTHEST_RESIDUAL)) / self.tolerance
        return math.copysign(min(abs(ratio), self.apart), ratio)

    @property
    def log_ratio(self) -> float:
        """Logarithm of simulated over measured."""
        if self.simulated <= 0.0:
            return -_FARTHEST_RESIDUAL
        return float(np.log(self.simulated / self.measured))


def rate_tolerance(point: Point, least: float = RATE_TOLERANCE) -> float:
    """The deviation of a rate that counts as agreement, as a share of it.

    A measured rate is the mean of a run, and known to the standard error of that: the spread from
    sample to sample over the square root of how many independent samples there were. A point whose
    rate varied weighs less.
    """
    spread = max((side.spread for _, side in point.sides()), default=0.0)
    independent = max(1.0, point.runtime_s / _ALIKE_S)
    return math.hypot(least, spread / math.sqrt(independent))


def rate_tolerances(
    points: Sequence[Point], simulated: Sequence[int], at_limit: Mapping[int, float] = NOWHERE
) -> tuple[float, ...]:
    """The tolerances of points that are fitted together: less at the plateau of each load.

    A rate of n I/Os is known to about 1/sqrt(n), as if their times were exponential: that of the
    measured run and that of the simulated one widen a plateau's tolerance.

    Args:
        points: All that the fit sees. A load with one depth alone shows no plateau.
        simulated: I/Os that are simulated for each.
        at_limit: Points that are at their load's limit, however far apart depths are: by index,
            the standard error of the simulated rate as a share of it.
    """
    loads: dict[tuple[object, ...], dict[int, list[float]]] = {}
    for point in points:
        loads.setdefault(point.load, {}).setdefault(point.outstanding, []).append(point.iops)
    plateaus = {load: _plateau(rates) for load, rates in loads.items()}
    return tuple(
        rate_tolerance(point, _of_plateau(point, at_limit.get(index, _error_of(ios))))
        if index in at_limit or point.outstanding == plateaus[point.load]
        else rate_tolerance(point)
        for index, (point, ios) in enumerate(zip(points, simulated, strict=True))
    )


def _of_plateau(point: Point, simulated: float) -> float:
    measured = _error_of(sum(side.ios for _, side in point.sides()))
    return min(RATE_TOLERANCE, math.hypot(PLATEAU_TOLERANCE, measured, simulated))


def _error_of(ios: int) -> float:
    """Of a rate, as a share of it, if times scatter as those of Poisson arrivals do."""
    return 1.0 / math.sqrt(ios) if ios else 0.0


def reads_alone_and_beside(points: Sequence[Point]) -> bool:
    """True if reads of one load were measured with one outstanding and with more."""
    reads = [point for point in points if point.write is None]
    alone = {point.load for point in reads if point.outstanding == 1}
    return any(point.load in alone for point in reads if point.outstanding > 1)


def _plateau(rates: Mapping[int, Sequence[float]]) -> int | None:
    """The greatest depth, if rates hardly grow towards it; rates by what is outstanding."""
    if len(rates) < 2:
        return None
    before, deepest = sorted(rates)[-2:]
    grown = math.log(statistics.fmean(rates[deepest]) / statistics.fmean(rates[before]))
    return deepest if grown < _HARDLY_GROWS * math.log(deepest / before) else None


def total_percentile(point: Point, side: Side, percent: float) -> float | None:
    """A percentile of the whole round of an I/O, in microseconds, as the simulation counts it.

    fio gives percentiles from the end of the submission to the completion; the mean submission
    and what fio counts to no latency are added, which is exact where they are short or even.
    """
    completion = percentile(side.completion, percent)
    if completion is None:
        return None
    return completion + side.submission_mean_us + point.unseen_us


def residuals(
    points: Sequence[Point], results: Sequence[Simulated], rates: Sequence[float] = ()
) -> list[Residual]:
    """Every comparison of measured points with their simulations, in the order of the points.

    Args:
        points: What was measured.
        results: Their simulations.
        rates: Tolerances of the points' rates; each by itself if empty.
    """
    found: list[Residual] = []
    rates = rates or [rate_tolerance(point) for point in points]
    for index, (point, result, rate) in enumerate(zip(points, results, rates, strict=True)):
        found.append(Residual(index, "rate", point.iops, result.iops, rate))
        # The mean latency is what is outstanding over the rate (Little's law) and is compared with
        # it: percentiles give the shape alone, or a shape that no drive of the kind has would
        # be traded for the rate.
        scale = result.iops / point.iops
        for name, shape in _SHAPES(point):
            found += _of_shape(index, name, shape, result.side(name), scale)
        for part, during in enumerate(rates_of(point)):
            if during > 0.0:
                simulated_rate = result.rates[part] if part < len(result.rates) else 0.0
                found.append(
                    Residual(index, f"part {part}", during, simulated_rate, OVER_TIME_TOLERANCE)
                )
        cpu = measured_cpu_us(point)
        if cpu is not None:
            found.append(Residual(index, "cpu", cpu, result.cpu_us, CPU_TOLERANCE))
    return found


_Shape = Sequence[tuple[float, float, float]]
"""Of a direction that was measured: percent, tolerance, latency in microseconds."""


def _shapes(point: Point) -> Sequence[tuple[str, _Shape]]:
    """Of each direction, the percentiles that are known."""
    return [
        (
            name,
            [
                (percent, tolerance, measured)
                for percent, tolerance in PERCENTILES
                if (measured := total_percentile(point, side, percent) or 0.0) > 0.0
            ],
        )
        for name, side in point.sides()
    ]


_SHAPES: Final = Once(_shapes)


def _of_shape(
    index: int, name: str, known: _Shape, simulated: Latency | None, scale: float
) -> list[Residual]:
    """The percentiles of a direction, simulated latencies taken `scale` times."""
    if simulated is None:
        values, apart = [0.0] * len(known), np.full(len(known), np.inf)
    else:
        columns = np.array(known).reshape(-1, 3).T
        values = [scale * (found or 0.0) for found in percentiles(simulated, columns[0])]
        apart = _distances(simulated, scale, *columns)
    return [
        Residual(index, f"{name} p{percent:g}", measured, value, tolerance, float(distance))
        for (percent, tolerance, measured), value, distance in zip(
            known, values, apart, strict=True
        )
    ]


def _distances(
    simulated: Latency, scale: float, percents: Array, tolerances: Array, measured: Array
) -> Array:
    """How far measured percentiles lie from the simulated curve, in tolerances; shape (k,).

    Args:
        simulated: The distribution.
        scale: What its latencies are taken times.
        percents: Of the measured latencies, shape (k,).
        tolerances: Of logarithms of latencies, shape (k,).
        measured: Latencies in microseconds, shape (k,).
    """
    at, shares = curve(simulated)
    if not len(at) or scale <= 0.0:
        return np.full(len(measured), np.inf)
    share = percents / 100.0
    across = np.log(scale * at / measured[:, None]) / tolerances[:, None]
    deviation = (SHARE_TOLERANCE * np.sqrt(share * (1.0 - share)))[:, None]
    up = (np.append(0.0, shares) - share[:, None]) / deviation
    # The curve goes up at every bin and is level between two.
    rising = across**2 + _nearest(up) ** 2
    level = _nearest(across) ** 2 + up[:, 1:-1] ** 2
    nearest = np.minimum(rising.min(axis=1), level.min(axis=1, initial=np.inf))
    found: Array = np.sqrt(nearest)
    return found


def _nearest(ends: Array) -> Array:
    """Where each stretch from one end to the next is nearest to zero; shape (k, ends - 1)."""
    start, step = ends[:, :-1], ends[:, 1:] - ends[:, :-1]
    length = step**2
    along = -(start * step) / np.where(length > 0.0, length, 1.0)
    nearest: Array = start + np.minimum(np.maximum(along, 0.0), 1.0) * step
    return nearest


def measured_cpu_us(point: Point) -> float | None:
    """CPU time of an I/O, user and system, as fio saw it; None where it says too little."""
    if point.cpu_share is None:
        return None
    share = point.cpu_share * point.numjobs
    return 1e6 * share / point.iops if share >= _LEAST_CPU_SHARE else None


def groups_of(points: Sequence[Point]) -> list[int]:
    """For each residual of the points, the point that it belongs to."""
    found = []
    for index, point in enumerate(points):
        known = sum(len(shape) for _, shape in _SHAPES(point))
        parts = sum(rate > 0.0 for rate in rates_of(point))
        found += [index] * (1 + known + parts + (measured_cpu_us(point) is not None))
    return found


def of_host(points: Sequence[Point]) -> list[int]:
    """Which residuals of the points, by index, the host has most to do with: rates and CPU time.

    What percentiles tell is mostly how one I/O of a drive differs from another.
    """
    groups = groups_of(points)
    found = []
    for index, point in enumerate(points):
        of = [at for at, group in enumerate(groups) if group == index]
        found += [of[0]] if measured_cpu_us(point) is None else [of[0], of[-1]]
    return found


def values(found: Sequence[Residual]) -> Array:
    """The residuals as numbers."""
    return np.array([residual.value for residual in found])


def robust(numbers: Array) -> float:
    """Soft absolute value: quadratic up to a tolerance, linear beyond it; the sum."""
    return float(np.sum(2.0 * (np.sqrt(1.0 + numbers**2) - 1.0)))
