"""Pictures: what their axes say."""

from raidlab.scenarios import charts


def test_a_logarithmic_axis_writes_every_number_out():
    axis = charts.latency([]).layout.yaxis
    told = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    assert (told[0.5], told[5], told[2000]) == ("0.5", "5", "2,000")


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


def test_an_open_load_has_no_number_of_outstanding_ios():
    axis = charts.rate([_row(0)], "iops").layout.xaxis
    assert (axis.ticktext, axis.title.text) == (("open load",), None)
    busy = {"components": [{"name": "c", "utilization": 0.5}]}
    assert charts.utilization([_row(0, **busy)]).data[0].x == ("open load",)
    beside = charts.rate([_row(0), _row(4, workload="closed")], "iops").layout.xaxis
    assert (beside.ticktext, beside.title.text) == (
        ("4",), "outstanding I/Os of closed (logarithmic)",
    )  # fmt: skip
