"""Residuals of percentiles: what lies on the simulated curve is no error, however steep it is."""

from __future__ import annotations

import math

import pytest

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.fitting.search.loss import (
    PLATEAU_TOLERANCE,
    RATE_TOLERANCE,
    SHARE_TOLERANCE,
    Residual,
    rate_tolerances,
    reads_alone_and_beside,
    residuals,
)
from raidlab.calibration.measurements.measurement import Latency, Point, Side

IOS = 10_000
RATE = 20_000.0
"""One outstanding, 50 us each: all of the time is seen (Little's law)."""


def latency(fast: float, slow_us: float = 100.0) -> Latency:
    """Two kinds of I/O: a share of `fast` takes 50 us, the others longer."""
    bins = ((50_000, round(IOS * fast)), (round(1e3 * slow_us), round(IOS * (1.0 - fast))))
    return Latency(mean_us=50.0, bins_ns=tuple(each for each in bins if each[1]))


def compared(measured: Latency, simulated: Latency) -> dict[str, Residual]:
    side = Side(iops=RATE, ios=IOS, latency_mean_us=50.0, completion=measured)
    point = Point(
        name="read", rw="randread", read_share=1.0, bs=4096, iodepth=1, numjobs=1, read=side
    )
    run = Simulated(RATE, 50.0, simulated, None, (0.0, 0.0), {}, 0.0, "")
    return {one.quantity: one for one in residuals([point], [run])}


def test_a_percentile_at_a_jump_is_as_far_as_the_jump() -> None:
    """41 of 100 are fast, simulated 39: at 40 one has 50 us and the other 100, for a hundredth."""
    found = compared(latency(0.41), latency(0.39))
    assert found["read p40"].simulated == 2 * found["read p40"].measured
    by_hand = 0.01 / (SHARE_TOLERANCE * math.sqrt(0.4 * 0.6))
    assert by_hand == pytest.approx(0.51, abs=0.002)
    assert found["read p40"].value == pytest.approx(by_hand)
    assert found["read p50"].value == 0.0


def test_a_percentile_on_a_plateau_is_as_far_as_the_latencies() -> None:
    """All slow I/Os take 10 % longer: no share near by would make up for it at p70."""
    found = compared(latency(0.4), latency(0.4, 110.0))
    assert found["read p70"].value == pytest.approx(math.log(1.1) / 0.25, rel=1e-6)
    assert found["read p30"].value == 0.0


def test_one_latency_alone_is_a_curve_too() -> None:
    found = compared(latency(0.0), latency(0.0, 50.0))
    assert found["read p50"].value == pytest.approx(-math.log(2.0) / 0.25)


def rated(rw: str, depth: int, iops: float) -> Point:
    point = load(rw, depth)
    name = "read" if rw == "randread" else "write"
    side = getattr(point, name).model_copy(update={"iops": iops, "ios": 10_000_000})
    return point.model_copy(update={name: side})


def tolerances(points: list[Point], simulated: int = 10_000) -> tuple[float, ...]:
    return rate_tolerances(points, [simulated] * len(points))


def test_a_plateau_binds_most() -> None:
    """What is deeper than the training points continues the rate at the deepest of them.

    Eight times the depth: a rate that grows by less than 8^0.2 = 1.52 has come to its plateau.
    10,000 simulated I/Os are known to 1 %, ten million measured ones to less than 0.1 %.
    """
    points = [rated("randread", *each) for each in ((1, 8e3), (8, 42e3), (64, 53e3))]
    points += [rated("randwrite", *each) for each in ((64, 50e3), (8, 49e3))]
    usual, plateau = RATE_TOLERANCE, math.hypot(PLATEAU_TOLERANCE, 0.01)
    assert tolerances(points) == pytest.approx([usual, usual, plateau, plateau, usual], rel=1e-3)
    assert tolerances(points[2:3]) == pytest.approx([usual])
    grows = [rated("randread", 8, 631.0), rated("randread", 64, 1224.0)]
    assert tolerances(grows) == pytest.approx([usual, usual])
    # A depth that several numbers of jobs make up counts by their mean.
    beside = tolerances([*points[:3], rated("randread", 64, 51e3)])
    assert beside[2:] == pytest.approx([plateau, plateau], rel=1e-3)


def test_no_plateau_binds_more_than_runs_scatter() -> None:
    """100 I/Os are known to a tenth: less than any rate elsewhere."""
    points = [rated("randread", *each) for each in ((8, 42e3), (64, 53e3))]
    assert tolerances(points, 100)[1] == RATE_TOLERANCE


def test_a_fit_sees_those_tolerances() -> None:
    """One percent of a rate is a third of a tolerance, or two."""
    point = load("randread", 8)
    run = Simulated(1.01 * point.iops, 50.0, None, None, (0.0, 0.0), {}, 0.0, "")
    usual, plateau = (residuals([point], [run], [rate])[0].value for rate in (0.03, 0.005))
    assert usual == pytest.approx(math.log(1.01) / 0.03)
    assert plateau == pytest.approx(math.log(1.01) / 0.005)


@pytest.mark.parametrize(
    ("rw", "depths", "shown"),
    [
        ("randread", (1, 16, 64), True),
        ("randread", (2, 16, 64), False),
        ("randread", (1,), False),
        ("randwrite", (1, 16, 64), False),
    ],
)
def test_reads_alone_and_beside_others_show_whether_a_drive_sleeps(
    rw: str, depths: tuple[int, ...], *, shown: bool
) -> None:
    assert reads_alone_and_beside([load(rw, depth) for depth in depths]) is shown
