"""Pictures: what their axes and markers say."""

import math

import pytest

from raidlab.scenarios.report.look import LINES, log_axis
from raidlab.scenarios.report.runs import charts


def test_a_logarithmic_axis_writes_every_number_out():
    """No number such as 2.9e+03; of many ticks the powers of ten."""
    axis = log_axis([0.6, 900.0], "ms")
    assert axis["ticktext"] == ["1", "10", "100", "1,000"]
    narrow = log_axis([1500.0, 4000.0], "ms")
    assert narrow["ticktext"] == ["1,000", "2,000", "5,000"]


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
    """150 to 400 around 200 IO/s are 50 down and 200 up."""
    rate = charts.rate([_row(8)]).data[0].error_y
    assert (rate.arrayminus, rate.array) == ((50.0,), (200.0,))
    unknown = charts.rate([_row(8), _row(16, iops_ci95=[None, None])]).data[0].error_y
    assert (unknown.arrayminus, unknown.array) == ((50.0, None), (200.0, None))


def test_an_open_load_has_no_number_of_outstanding_ios():
    axis = charts.rate([_row(0)]).layout.xaxis
    assert (axis.ticktext, axis.title.text) == (("open load",), None)
    busy = {"components": [{"name": "c", "kind": "memory", "utilization": 0.5}]}
    assert charts.utilization([_row(0, **busy)]).columns == ["open load"]
    beside = charts.rate([_row(0), _row(4, workload="closed")]).layout.xaxis
    assert (beside.ticktext, beside.title.text) == (("4",), "outstanding I/Os of closed")


def _latencies(*values):
    return dict(zip(("mean", "p50", "p95", "p99", "p99_9"), values, strict=True))


def test_percentiles_of_one_point_have_markers_of_their_own():
    traces = charts.latency([_row(8, latency_us=_latencies(*[329.4] * 5))], "w").data
    assert [trace.name for trace in traces] == ["p50", "p99", "p99.9"]
    assert len({trace.marker.symbol for trace in traces}) == 3


@pytest.mark.parametrize(
    ("values", "ends"),
    [([329.4] * 5, (0.2, 0.5)), ([200, 300, 400, 500, 1000], (0.2, 2)), ([1e4] * 5, (5, 20))],
)
def test_a_latency_lies_between_two_numbers_of_its_axis(values, ends):
    axis = charts.latency([_row(8, latency_us=_latencies(*values))], "w").layout.yaxis
    assert axis.range == pytest.approx([math.log10(end) for end in ends])


def test_no_latency_is_below_zero():
    """Where there is one of 0 the axis begins there: a logarithm has no place for it."""
    none = _row(8, latency_us=_latencies(*[0.0] * 5), breakdown_us={"service": 0.0})
    axis = charts.latency([none], "w").layout.yaxis
    assert (axis.type, axis.rangemode, axis.minallowed) == (None, "tozero", 0)
    assert charts.breakdown([none, none | {"point": 1}], "w").layout.yaxis.minallowed == 0
    assert charts.curves([none], "").layout.yaxis2.minallowed == 0


def test_a_part_has_the_same_colour_in_every_picture_and_small_ones_are_put_together():
    first = _row(1, breakdown_us={"seek": 50.0, "rotation": 49.5, "host": 0.5})
    second = _row(8, point=1, breakdown_us={"queue": 80.0, "rotation": 19.9, "host": 0.1})
    drawn = {trace.name: trace for trace in charts.breakdown([first, second], "w").data}
    assert set(drawn) == {"waiting in the queue", "seek", "rotation", "other"}
    alone = {trace.name: trace for trace in charts.breakdown([first], "w").data}
    assert alone["rotation"].marker.color == drawn["rotation"].marker.color
    assert sum(trace.y[0] for trace in drawn.values()) == pytest.approx(100)


def test_what_all_drives_do_is_one_row():
    def component(name, share, kind="drive"):
        return {"name": name, "kind": kind, "utilization": share}

    drives = [component(f"data/hdd.{at}", share) for at, share in enumerate((0.4, 0.6))]
    row = _row(8, components=[*drives, component("lsi2008", 0.1, "controller")])
    heat_map = charts.utilization([row])
    assert heat_map.rows == [("drives of data (2)", [50.0]), ("lsi2008 cores", [10.0])]


def test_a_warm_up_that_fills_a_cache_does_not_hide_what_is_recorded():
    line = {"t_s": [1.0, 2.0, 3.0, 4.0], "iops": [90_000, 610, 600, 590]}
    drawn = charts.timeline(_row(8, timeline=line, warm_up_s=2.0))
    assert drawn.layout.yaxis.range[1] == pytest.approx(1.3 * 600)
    assert [(each.x0, each.x1) for each in drawn.layout.shapes] == [(0, 2)]
    even = charts.timeline(_row(8, timeline=line | {"iops": [700] * 4}, warm_up_s=2.0))
    assert even.layout.yaxis.range is None


def test_lines_have_colours_and_markers_of_their_own():
    rows = [_row(8, workload=name) for name in "abc"]
    lines = charts.rate(rows).data
    assert [trace.line.color for trace in lines] == list(LINES[:3])
    assert len({trace.marker.symbol for trace in lines}) == 3
