"""What is at its limit by the model's own word, and one bottleneck in the place of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.points.saturation import at_limit, deepest
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.fitting.search.bottlenecks import only_bottlenecks
from raidlab.calibration.fitting.search.loss import RATE_TOLERANCE, rate_tolerances, robust
from raidlab.calibration.fitting.search.minimise import ENDLESS, Array, Budget, Search
from raidlab.calibration.measurements.measurement import Point

POINTS = [load(rw, depth) for rw in ("randread", "randwrite") for depth in (1, 4, 32)]


class Ends:
    """A drive that serves 50 us reads beside each other up to this many a second."""

    def __init__(self, most: float) -> None:
        self.most = most

    def run_all(self, points: Sequence[Point], effort: Effort, workers: int) -> list[Simulated]:
        rates = [min(self.most, point.outstanding * 20e3) for point in points]
        return [Simulated(x, 50.0, None, None, (0.99 * x, 1.01 * x), {}, 0.0, "") for x in rates]


def limit(most: float, points: Sequence[Point] = POINTS) -> set[int]:
    return set(at_limit(lambda: cast(Bench, Ends(most)), points, Effort()))


def test_a_point_is_at_its_limit_if_twice_the_depth_gains_nothing() -> None:
    """32 of 50 us make 640,000 a second: a limit of 500,000 ends them, one of 900,000 only 64."""
    assert deepest(POINTS) == [2, 5]
    assert limit(500e3) == {2, 5}
    assert limit(900e3) == set()
    # 640,000 to 646,000: less than 1 %.
    assert limit(646e3) == {2, 5}
    assert limit(500e3, POINTS[2:3]) == set()


def test_a_limit_binds_as_a_plateau_does() -> None:
    """From 4 to 32 rates grow by 8 at most, here by 2: too much for a plateau by itself."""
    points = []
    for point, iops in zip(POINTS[:3], (10e3, 30e3, 60e3), strict=True):
        side = cast(Any, point.read).model_copy(update={"iops": iops, "ios": 10**7})
        points.append(point.model_copy(update={"read": side}))
    assert rate_tolerances(points, [10**6] * 3)[2] == pytest.approx(RATE_TOLERANCE, rel=0.01)
    bound = rate_tolerances(points, [100] * 3, {2: 0.002})
    assert bound[:2] == pytest.approx([RATE_TOLERANCE] * 2, rel=0.01)
    # 0.5 % of what a plateau is known to, 0.2 % of the simulated run, and what was measured.
    assert bound[2] == pytest.approx(math.hypot(0.005, 0.002), rel=0.01)


def time_of(key: str) -> Parameter:
    return Parameter(key, "us", 1.0, 100.0, "log", "", side="write", limits=True)


def test_one_time_takes_the_place_of_two_that_stand_in_each_other_s_way() -> None:
    """A rate of 1 / max(a, b) is to be 1 / 10 us. With a = 9.8 and b = 9.9 us neither is right, and
    b in the way of longer times costs a hundredfold, as bursts of programs cost percentiles."""
    a, b = time_of("a"), time_of("b")

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        one, other = a.value(float(at[0])), b.value(float(at[1]))
        cliff = 100.0 * max(0.0, other - 9.9)
        return np.array([np.log(10.0 / max(one, other)) / 0.01, cliff])

    start = np.array([a.place(5.0), b.place(5.0)])
    begin = np.array([a.place(9.8), b.place(9.9)])
    search = Search(evaluate, start, (0,), Budget(ENDLESS), [a, b], (0, 0))
    stuck = robust(search.full(begin))
    found = only_bottlenecks(search, begin)
    assert b.value(float(found[1])) == pytest.approx(5.0, rel=0.3)
    assert a.value(float(found[0])) == pytest.approx(10.0, rel=0.01)
    assert robust(search.full(found)) < stuck


def test_what_is_no_better_alone_stays_where_it_is() -> None:
    """Two times that end rates of their own are both needed."""
    a, b = time_of("a"), time_of("b")

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        values = np.array([a.value(float(at[0])), b.value(float(at[1]))])
        return np.log(values / [10.0, 20.0]) / 0.01

    start = np.array([a.place(5.0), b.place(5.0)])
    begin = np.array([a.place(10.0), b.place(20.0)])
    search = Search(evaluate, start, (0,), Budget(ENDLESS), [a, b], (0, 0))
    assert only_bottlenecks(search, begin) == pytest.approx(begin, abs=0.01)
