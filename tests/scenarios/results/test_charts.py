"""Pictures: what their axes and markers say."""

import math

import pytest

from raidlab.scenarios.results import charts
from raidlab.scenarios.results.report import chart


def test_a_logarithmic_axis_writes_every_number_out():
    axis = charts.latency([]).layout.yaxis
    reported = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    assert (reported[0.5], reported[5], reported[2000]) == ("0.5", "5", "2,000")


def _row(outstanding, **more):
    row = {
        "workload": "w",
        "point": 0,
        "outstanding": outstanding,
        "iops": 200.0,
        "mib_per_s": 100.0,
        "iops_ci95": [150.0, 400.0],
    }
    return row | more


def test_error_bars_reach_to_the_ends_of_the_interval():
    """150 to 400 around 200 IO/s are 50 down and 200 up; each is half a MiB."""
    rate = charts.rate([_row(8)], "iops").data[0].error_y
    throughput = charts.rate([_row(8)], "mib_per_s").data[0].error_y
    assert (rate.arrayminus, rate.array) == ((50.0,), (200.0,))
    assert (throughput.arrayminus, throughput.array) == ((25.0,), (100.0,))
    unknown = charts.rate([_row(8), _row(16, iops_ci95=[None, None])], "iops").data[0].error_y
    assert (unknown.arrayminus, unknown.array) == ((50.0, None), (200.0, None))


def test_an_open_load_has_no_number_of_outstanding_ios():
    axis = charts.rate([_row(0)], "iops").layout.xaxis
    assert (axis.ticktext, axis.title.text) == (("open load",), None)
    busy = {"components": [{"name": "c", "utilization": 0.5}]}
    assert charts.utilization([_row(0, **busy)]).data[0].x == ("open load",)
    beside = charts.rate([_row(0), _row(4, workload="closed")], "iops").layout.xaxis
    assert (beside.ticktext, beside.title.text) == (
        ("4",), "outstanding I/Os of closed (logarithmic)",
    )  # fmt: skip


def _latencies(*values):
    return dict(zip(("mean", "p50", "p95", "p99", "p99_9"), values, strict=True))


def test_one_point_s_percentiles_are_reported_apart_by_their_markers():
    traces = charts.latency([_row(8, latency_us=_latencies(*[329.4] * 5))]).data
    assert len({trace.marker.symbol for trace in traces}) == 5


@pytest.mark.parametrize(
    ("values", "ends"),
    [([329.4] * 5, (0.2, 0.5)), ([200, 300, 400, 500, 1000], (0.1, 2)), ([1e4] * 5, (5, 20))],
)
def test_a_latency_lies_between_two_numbers_of_its_axis(values, ends):
    axis = charts.latency([_row(8, latency_us=_latencies(*values))]).layout.yaxis
    assert axis.range == pytest.approx([math.log10(end) for end in ends])


def test_no_latency_is_below_zero():
    """Where there is one of 0 the axis begins there: a logarithm has no place for it."""
    none = _row(8, latency_us=_latencies(*[0.0] * 5), breakdown_us={"service": 0.0})
    beside = _row(8, latency_us=_latencies(*[50.0] * 5), workload="other")
    for figure in (
        charts.latency([none]),
        charts.latency([none, beside]),
        charts.breakdown([none], "w"),
    ):
        axis = figure.layout.yaxis
        assert (axis.type, axis.rangemode, axis.minallowed) == (None, "tozero", 0)
    assert charts.curves([none], "").layout.yaxis2.minallowed == 0


def test_a_page_keeps_the_toolbar_off_a_picture_and_its_title():
    figure = charts.rate([_row(8)], "iops")
    layout = figure.layout
    assert (layout.height, layout.margin.t) == (380, 20)
    page = chart(figure)
    assert '"height":404' in page and '"t":44' in page
