"""Which deepest points of a load are at its limit, by the word of the fitted model itself.

Where depth brings nothing more, a rate hangs on one time, that of the bottleneck, and all that is
deeper continues it. Rates that hardly grow from one training depth to the next show that
(`loss.rate_tolerances`). Training depths far apart do not: from 4 to 32 outstanding a rate may grow
by three quarters, all of it before 16. What the model found so far does there says so: it is
simulated at the deepest point and at twice that depth. If it gains less than 1 %, the measured rate
is the limit itself. How far the simulated one may be off by chance its own interval says: where a
port lets commands through one after the other, that is far less than of Poisson arrivals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.faults import SpecError

GAIN: Final = 0.01
"""Of a simulated rate by twice the depth, below which it is at its limit."""


def deepest(points: Sequence[Point]) -> list[int]:
    """Indices of the points with the most outstanding of each load that has several depths."""
    depths: dict[tuple[object, ...], set[int]] = {}
    for point in points:
        depths.setdefault(point.load, set()).add(point.outstanding)
    return [
        index
        for index, point in enumerate(points)
        if len(depths[point.load]) > 1 and point.outstanding == max(depths[point.load])
    ]


def at_limit(
    made: Callable[[], Bench], points: Sequence[Point], effort: Effort, workers: int = 1
) -> dict[int, float]:
    """The deepest points at which a bench gains nothing by twice their depth.

    Args:
        made: Makes the bench; where its numbers do not fit together nothing is at a limit.
        points: All that are fitted together.
        effort: How long each is simulated.
        workers: How many at once.

    Returns:
        By index, the standard error of the simulated rate as a share of it.
    """
    of = deepest(points)
    twice = [points[at].model_copy(update={"iodepth": 2 * points[at].iodepth}) for at in of]
    try:
        results = made().run_all([*(points[at] for at in of), *twice], effort, workers)
    except SpecError:
        return {}
    pairs = zip(of, results[: len(of)], results[len(of) :], strict=True)
    return {at: _error(one) for at, one, two in pairs if two.iops < (1.0 + GAIN) * one.iops}


def _error(simulated: Simulated) -> float:
    """From the interval of the batch means; all of the rate where it has none."""
    low, high = simulated.iops_ci95
    return 1.0 if low is None or high is None else (high - low) / (2 * 1.96 * simulated.iops)
