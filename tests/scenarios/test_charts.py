"""Pictures: what their axes say."""

from raidlab.scenarios import charts


def test_a_logarithmic_axis_writes_every_number_out():
    axis = charts.latency([]).layout.yaxis
    told = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    assert (told[0.5], told[5], told[2000]) == ("0.5", "5", "2,000")
