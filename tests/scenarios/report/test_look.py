"""Numbers, tables' columns and axes as tables and pages share them."""

import plotly.graph_objects as go
import pytest

from raidlab.scenarios.report.look import apart, dress
from raidlab.scenarios.report.tables import Column, Kind, Table, Unsure, cells
from raidlab.scenarios.results.number_text import between, digits, figure, joined, spread


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.08971, "0.0897"),
        (9.996, "10.0"),
        (497.4, "497"),
        (999.7, "1,000"),
        (4107.3, "4,107"),
        (0, "0"),
        (-12.34, "-12.3"),
        (0.00002, "2e-05"),
    ],
)
def test_three_digits_below_a_thousand_and_whole_above(value, text):
    assert digits(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0897, "ms", "89.7 us"),
        (12_345.0, "ms", "12.3 s"),
        (4107.3, "IO/s", "4,107 IO/s"),
        (1_240_000.0, "IO/s", "1.24 M IO/s"),
        (3200.0, "MB/s", "3.20 GB/s"),
        (200_000_000_000, "B", "200 GB"),
        (0.5, "h", "30.0 min"),
        (None, "ms", "–"),
    ],
)
def test_a_number_has_the_unit_that_people_use(value, unit, text):
    assert figure(value, unit) == text


def test_two_numbers_share_their_unit_where_they_can():
    assert between(49.6, 167.0, "ms") == "49.6 to 167 ms"
    assert between(0.87, 1.2, "ms") == "870 us to 1.20 ms"


def test_an_interval_has_as_many_places_as_its_value():
    assert spread(4097.2, 4086.0, 4108.4) == " ± 11"
    assert spread(19.13, 18.7, 19.5) == " ± 0.4"
    assert spread(54_881.6, 54_881.5, 54_881.7) == ""
    assert spread(1.0, None, None) == ""


def test_numbers_of_a_column_are_aligned_at_their_point():
    assert cells([7.81, 49.5, 167.0, None, "open"]) == ["7.81", "49.5 ", "167   ", "-", "open"]
    assert cells([1, 20]) == ["1", "20"]


def test_a_number_stays_with_its_unit():
    assert joined("24 drives at 20 ms, 98 %") == "24 drives at 20\u00a0ms, 98\u00a0%"
    assert joined("4 KiB on RAID 5") == "4\u00a0KiB on RAID\u00a05"


def test_a_legend_hangs_from_the_edge_of_its_picture():
    """One that stands on the plot slides into it when names need a further row."""
    legend = dress(go.Figure()).layout.legend
    assert (legend.yref, legend.y, legend.yanchor) == ("container", 1, "top")


def test_labels_do_not_cover_each_other():
    assert apart([1.0, 1.1, 5.0], 0.5) == [1.0, 1.5, 5.0]
    assert apart([1.0, 1.1], 0.5, top=1.2) == [0.7, 1.2]


def test_a_column_without_values_and_a_workload_that_all_share_are_left_out():
    columns = [Column("workload", kind=Kind.TEXT), Column("IO/s"), Column("WAF")]
    one = Table("", columns, [["w", 1.0, None], ["w", 2.0, None]])
    assert [column.name for column in one.shown().columns] == ["IO/s"]
    two = Table("", columns, [["w", 1.0, None], ["v", 2.0, None]])
    assert [column.name for column in two.shown().columns] == ["workload", "IO/s"]


def test_numbers_with_few_samples_are_marked_and_stay_aligned():
    assert cells([Unsure(255.0), 25.53, None]) == ["~255  ", "25.5", "-"]
