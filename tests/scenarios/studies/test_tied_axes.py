"""Axes that move together, and multiples of what stands in a scenario."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.results.goals import goals_of
from raidlab.scenarios.studies.size import size
from raidlab.scenarios.studies.sweep import Experiment, sweep
from raidlab.scenarios.studies.vary import axes_of, points, with_values


def test_fields_with_one_list_have_one_value():
    placed = points(axes_of(["a.0.x,a.1.x=1,2"]))
    assert placed == [{"a.0.x": 1, "a.1.x": 1}, {"a.0.x": 2, "a.1.x": 2}]


def test_lists_behind_semicolons_advance_together():
    placed = points(axes_of(["drives=4:12:4; rate=100,200,200 IO/s", "level=raid5,raid6"]))
    assert [tuple(each.values()) for each in placed] == [
        (4, "100 IO/s", "raid5"), (4, "100 IO/s", "raid6"),
        (8, "200 IO/s", "raid5"), (8, "200 IO/s", "raid6"),
        (12, "200 IO/s", "raid5"), (12, "200 IO/s", "raid6"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a=1,2;b=1,2,3", "as many values as a has different ones, 2"),
        ("a=1,2;b=1000:5000 IO/s", "values or a step"),
        ("a=1,2;", "PATH=VALUES"),
        ("a,=1,2", "PATH=VALUES"),
        ("a,b=1,2;b=3,4", "given once"),
    ],
)
def test_axes_that_cannot_move_together_say_why(text, said):
    with pytest.raises(SpecError, match=said):
        axes_of([text])


def test_a_multiple_is_of_what_stands_there():
    tree = {"load": [{"rate": "300 IO/s", "threads": 4, "name": "x"}]}
    found = with_values(tree, {"load.0.rate": "1.5 times", "load.0.threads": "2 times"})
    assert found["load"][0] == {"rate": "450 IO/s", "threads": 8, "name": "x"}
    with pytest.raises(SpecError, match="a number in the scenario"):
        with_values(tree, {"load.0.name": "2 times"})


@pytest.fixture
def two_loads(queue):
    load = {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB"}
    return {
        "array": [{"drives": [{"model": queue}]}],
        "workload": [load | {"rate": "200 IO/s"}, load | {"rate": "100 IO/s"}],
        "run": {"warm_up": "1 s", "duration": "10 s"},
    }


def test_a_size_over_several_loads(two_loads):
    """One M/M/1 of 1000 a second: mean 1 / (mu - lambda) < 2.5 ms up to 600, twice today's 300."""
    (axis,) = axes_of(["workload.0.rate,workload.1.rate=1:3:0.25 times"])
    found = size(two_loads, None, axis, goals_of(["mean < 2.6 ms"]))
    assert found.answer in ("1.75 times", "2 times")
    assert found.neighbour in ("2 times", "2.25 times")


def test_a_tied_sweep_has_a_column_for_each_field(two_loads):
    axes = axes_of(["workload.0.rate=100,200 IO/s; workload.1.rate=300,400 IO/s"])
    found = sweep(Experiment(two_loads, axes))
    assert found.points == 2
    pairs = {(row["workload.0.rate"], row["workload.1.rate"]) for row in found.rows}
    assert pairs == {("100 IO/s", "300 IO/s"), ("200 IO/s", "400 IO/s")}
