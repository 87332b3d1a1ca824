"""Latencies at percentiles: what is known of a distribution, and what is not."""

import numpy as np
import pytest

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.search.loss import groups_of, residuals
from raidlab.calibration.measurements.distribution import (
    curve,
    kolmogorov,
    percentile,
    percentiles,
)
from raidlab.calibration.measurements.measurement import Latency, Point, Side

BINS = Latency(mean_us=100.0, bins_ns=((90_000, 50), (110_000, 45), (400_000, 5)))


def test_one_percentile_says_nothing_of_the_others() -> None:
    tail = Latency(mean_us=100.0, percentiles_us={"99": 400.0})
    assert percentile(tail, 99) == 400.0
    assert [percentile(tail, percent) for percent in (50, 95, 99.9)] == [None] * 3
    assert kolmogorov(tail, BINS) is None


def test_between_two_percentiles_a_line_and_beyond_them_nothing() -> None:
    both = Latency(mean_us=100.0, percentiles_us={"50": 100.0, "99": 400.0})
    # 24.5 of 49 percent of the way, in logarithms.
    assert percentile(both, 74.5) == pytest.approx(200.0)
    assert percentile(both, 10) is None and percentile(both, 99.9) is None
    assert kolmogorov(both, BINS) is not None


def test_a_curve_is_made_once_and_ends_with_its_distribution() -> None:
    at, shares = curve(BINS)
    assert curve(BINS)[0] is at and curve(BINS)[1] is shares
    assert not at.flags.writeable and not shares.flags.writeable
    # Equal but for one count: none is taken for the other, also at an address that is used again.
    for count in range(1, 200):
        other = Latency(mean_us=100.0, bins_ns=((90_000, count), (110_000, 1)))
        assert curve(other)[1][0] == count / (count + 1)


def test_several_percentiles_are_each_of_them() -> None:
    """Of bins, of percentiles alone, and of bins beside a percentile that says otherwise."""
    percents = np.array([10.0, 50.0, 60.0, 99.0, 99.9])
    stated = {"50": 100.0, "99": 300.0}
    alone = Latency(mean_us=100.0, percentiles_us=stated)
    for latency in (BINS, alone, BINS.model_copy(update={"percentiles_us": stated})):
        each = [percentile(latency, percent) for percent in percents.tolist()]
        assert percentiles(latency, percents) == each
    assert each == [90, 100, 110, 300, 400]


def test_bins_are_known_everywhere() -> None:
    assert [percentile(BINS, percent) for percent in (10, 50, 60, 99.9)] == [90, 90, 110, 400]


def test_a_point_that_states_a_tail_alone_is_compared_by_it_alone() -> None:
    tail = Latency(mean_us=100.0, percentiles_us={"99": 400.0})
    side = Side(iops=1e4, ios=1000, latency_mean_us=100.0, completion=tail)
    point = Point(name="p", rw="randread", read_share=1.0, bs=4096, iodepth=1, read=side)
    simulated = Simulated(1e4, 100.0, BINS, None, (None, None), {}, 1.0, "drive")
    row = Compared(point, simulated, "train")
    assert row.percentiles(50.0) == [] and len(row.percentiles(99.0)) == 1
    names = [each.quantity for each in residuals([point], [simulated])]
    assert [name for name in names if " p" in name] == ["read p99"]
    assert len(groups_of([point])) == len(names)
