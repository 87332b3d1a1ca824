"""How far a simulation is from a measurement: residuals in units of what is tolerated.

Rates and latencies are compared as logarithms of ratios, so that a point at 100 IO/s weighs as
much as one at 100,000, and twice too slow as much as twice too fast. Each residual is divided by
the deviation that would still count as agreement; the fit then takes a robust loss of it, so that
single odd points do not pull the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from raidlab.calibration.bench import Simulated
from raidlab.calibration.distribution import percentile
from raidlab.calibration.measurement import Point, Side, rates_of

Array = npt.NDArray[np.float64]

RATE_TOLERANCE = 0.03
PERCENTILES: tuple[tuple[float, float], ...] = (
    *((percent, 0.25) for percent in (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)),
    (95.0, 0.20),
    (99.0, 0.15),
)
"""Percentiles that are compared, and the relative deviation that counts as agreement."""
CPU_TOLERANCE = 0.1
OVER_TIME_TOLERANCE = 0.1
"""Of the rate in a part of a measurement's time."""
_LEAST_CPU_SHARE = 0.05
"""Of one hardware thread; what fio rounds says nothing of less."""
_FARTHEST = 3.0


@dataclass(frozen=True)
class Residual:
    """One comparison."""

    point: int
    quantity: str
    """`rate`, or direction and percentile: `read p99`."""
    measured: float
    simulated: float
    tolerance: float

    @property
    def value(self) -> float:
        """Logarithm of simulated over measured, in tolerances."""
        return float(np.clip(self.log_ratio, -_FARTHEST, _FARTHEST)) / self.tolerance

    @property
    def log_ratio(self) -> float:
        """Logarithm of simulated over measured."""
        if self.simulated <= 0.0:
            return -_FARTHEST
        return float(np.log(self.simulated / self.measured))


def total_percentile(point: Point, side: Side, percent: float) -> float | None:
    """A percentile of the whole turn of an I/O, in microseconds, as the simulation counts it.

    fio gives percentiles from the end of the submission to the completion; the mean submission
    and what fio counts to no latency are added, which is exact where they are short or even.
    """
    completion = percentile(side.completion, percent)
    if completion is None:
        return None
    return completion + side.submission_mean_us + point.unseen_us


def residuals(points: Sequence[Point], results: Sequence[Simulated]) -> list[Residual]:
    """Every comparison of measured points with their simulations, in the order of the points."""
    found: list[Residual] = []
    for index, (point, result) in enumerate(zip(points, results, strict=True)):
        found.append(Residual(index, "rate", point.iops, result.iops, RATE_TOLERANCE))
        # The mean latency is what is outstanding over the rate (Little's law) and is compared with
        # it: percentiles tell the shape alone, or a shape that no drive of the kind has would
        # be traded for the rate.
        scale = result.iops / point.iops
        for name, side in point.sides():
            simulated = result.side(name)
            for percent, tolerance in PERCENTILES:
                measured = total_percentile(point, side, percent)
                if measured is None or measured <= 0.0:
                    continue
                value = percentile(simulated, percent) if simulated is not None else None
                found.append(
                    Residual(
                        index, f"{name} p{percent:g}", measured, scale * (value or 0.0), tolerance
                    )
                )
        for part, rate in enumerate(rates_of(point)):
            if rate > 0.0:
                simulated_rate = result.rates[part] if part < len(result.rates) else 0.0
                found.append(
                    Residual(index, f"part {part}", rate, simulated_rate, OVER_TIME_TOLERANCE)
                )
        cpu = measured_cpu_us(point)
        if cpu is not None:
            found.append(Residual(index, "cpu", cpu, result.cpu_us, CPU_TOLERANCE))
    return found


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
        known = sum(
            (total_percentile(point, side, percent) or 0.0) > 0.0
            for _, side in point.sides()
            for percent, _ in PERCENTILES
        )
        parts = sum(rate > 0.0 for rate in rates_of(point))
        found += [index] * (1 + known + parts + (measured_cpu_us(point) is not None))
    return found


def values(found: Sequence[Residual]) -> Array:
    """The residuals as numbers."""
    return np.array([residual.value for residual in found])


def robust(numbers: Array) -> float:
    """Soft absolute value: quadratic up to a tolerance, linear beyond it; the sum."""
    return float(np.sum(2.0 * (np.sqrt(1.0 + numbers**2) - 1.0)))
