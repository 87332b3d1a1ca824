"""Pauses from tails: by hand, and back from a mixture that is known."""

from __future__ import annotations

from math import exp

import pytest

from raidlab.calibration.fitting.estimation.pauses import (
    Excess,
    Kind,
    excesses,
    fit_pauses,
    pauses_of,
    typical,
)
from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side


def test_two_points_of_a_tail_by_hand() -> None:
    """R(223 us) = 7816e-4 and R(5141 us) = 1/60: l = 4918 / ln 46.9, 0.93 a second."""
    tail = [(0.9999, 338.0), (1 - 1 / 468_960, 5256.0)]
    (kind,) = fit_pauses(excesses(tail, mean_us=115, iops=7816, in_flight=1))
    assert kind.length_us == pytest.approx(1278, rel=2e-3)
    assert kind.per_s == pytest.approx(0.93, rel=5e-3)
    assert kind.every_us == pytest.approx(1e6 / 0.93 - 1278, rel=5e-3)


def test_a_mixture_of_two_kinds_comes_back() -> None:
    """Far out the second is gone, e^-20 of it; the first is taken off where the second lies."""
    kinds = (Kind(0.5, 4000), Kind(200, 100))
    at = (12_000, 8_000, 400, 200)
    points = [Excess(us, sum(k.per_s * exp(-us / k.length_us) for k in kinds)) for us in at]
    for found, true in zip(fit_pauses(points), kinds, strict=True):
        assert found.length_us == pytest.approx(true.length_us, rel=1e-6)
        assert found.per_s == pytest.approx(true.per_s, rel=1e-6)


def test_each_pause_makes_all_in_flight_wait() -> None:
    one = excesses([(0.999, 500.0)], mean_us=100, iops=10_000, in_flight=1)
    four = excesses([(0.999, 500.0)], mean_us=100, iops=10_000, in_flight=4)
    assert one[0].per_s == pytest.approx(10)
    assert four[0].per_s == pytest.approx(2.5)


def test_latencies_near_the_mean_are_no_pauses() -> None:
    assert excesses([(0.999, 110.0)], mean_us=100, iops=10_000, in_flight=1) == []


def _measured(depth: int, latency: Latency) -> Measurement:
    side = Side(iops=10_000, ios=600_000, latency_mean_us=100, completion=latency)
    point = Point(name="load", rw="randread", read_share=1, bs=4096, iodepth=depth, read=side)
    return Measurement(name="known", points=(point,))


def test_percentiles_and_bins_say_the_same() -> None:
    """p99.99 is 1100 us, the longest of 600,000 5 ms: 60 pauses beyond 1 ms, one beyond 4.9 ms."""
    stated = Latency(mean_us=100, max_us=5000, percentiles_us={"50": 100, "99.99": 1100})
    bins = ((100_000, 599_000), (1_100_000, 940), (4_000_000, 59), (5_000_000, 1))
    for latency in (stated, Latency(mean_us=100, max_us=5000, bins_ns=bins)):
        (kind,) = pauses_of(_measured(1, latency))
        assert kind.length_us == pytest.approx(3900 / 4.094, rel=0.01)
    assert pauses_of(_measured(64, stated)) == []


def test_the_typical_kind_is_that_in_the_middle() -> None:
    middle = typical([Kind(1, 100), Kind(4, 900), Kind(2, 300)])
    assert middle is not None
    assert (middle.per_s, middle.length_us) == pytest.approx((2, 300))
    assert typical([]) is None
