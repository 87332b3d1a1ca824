"""What planners ask first: utilization, spans, parts of drives, a front that is one."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidlab.devices.faults import SpecError
from raidlab.scenarios.capacity.bills import Bill
from raidlab.scenarios.capacity.candidates import Candidate, expand
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.capacity.ranking import beats, front_of
from raidlab.scenarios.results.goals import Measured

DISKS = {
    "goals": ["usable >= 1 GB"],
    "load": [{"profile": "database", "rate": "50 IO/s", "area": "10 GB"}],
    "run": {"warm_up": "1 s", "duration": "2 s"},
}


@pytest.mark.parametrize(("most", "drives"), [("70 %", 5), ("60 %", 6), ("0.9", 4)])
def test_utilization_is_rate_times_service_time(queue, most, drives):
    """3300 a second of 1 ms are 3.3 busy servers: below 70 % on five, 60 % on six, 90 % on four.

    N exponential services vary in sum by sqrt(2 / N): 50,000 by 0.6 %.
    """
    load = {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "3300 IO/s"}
    tree = {
        "goals": [f"utilization < {most}"],
        "load": [load],
        "run": {"warm_up": "1 s", "duration": "15 s", "precondition": "fresh"},
        "candidates": [{"drives": [queue], "counts": "1:10", "levels": ["raid0"]}],
    }
    found = plan(question_of(tree))
    assert found.recommended is not None
    assert found.recommended.count == drives
    judged = next(iter(found.recommended.judged.values()))
    assert judged.measured.value == pytest.approx(100 * 3.3 / drives, rel=0.03)


def test_a_utilization_is_a_share_of_the_whole():
    tree = DISKS | {"goals": ["utilization < 150 %", "read utilization < 50 %"], "candidates": []}
    with pytest.raises(SpecError) as caught:
        question_of(tree)
    text = str(caught.value)
    assert "utilization < 70 %" in text
    assert "without read" in text


def test_spans_and_parts_of_drives_are_candidates():
    """60 disks of 8 TB in five spans of twelve: 60 - 5 x 2 of them hold data."""
    group = {
        "drives": ["generic-7200rpm"], "counts": [60], "levels": ["raid6", "raid60"],
        "spans": [2, 5], "used": ["4 TB"],
    }  # fmt: skip
    built = expand(question_of(DISKS | {"candidates": [group]}))
    by_name = {each.name: each for each in built}
    assert list(by_name) == [
        "60 x generic-7200rpm, raid6",
        "60 x generic-7200rpm, raid60 of 2 spans",
        "60 x generic-7200rpm, raid60 of 5 spans",
    ]
    five = by_name["60 x generic-7200rpm, raid60 of 5 spans"]
    unit = 64 * 1024
    assert five.usable_bytes == 50 * (4 * 10**12 // unit * unit)


def test_spans_that_mean_nothing_are_refused():
    group = {
        "drives": ["generic-7200rpm"], "counts": [8], "levels": ["raid6"],
        "spans": [2], "used": ["much"],
    }  # fmt: skip
    with pytest.raises(SpecError) as caught:
        question_of(DISKS | {"candidates": [group]})
    text = str(caught.value)
    assert "candidates.0.spans" in text
    assert "candidates.0.used.0" in text


def _candidate(at, cost, p99, watts, survives):
    level = "raid6" if survives else "raid5"
    bill = Bill(capital=float(cost), watts=float(watts))
    found = Candidate(f"c{at}", {}, "drive", 8, level, 0, bill, {}, {})
    found.p99_us, found.iops, found.loss = float(p99), 100.0, Measured(0.1)
    return found


few = st.integers(0, 3)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(few, few, few, st.booleans()), min_size=1, max_size=8))
def test_what_is_recommended_is_never_dominated(measures):
    """None of the front is beaten, and each of the rest is, by one of the front."""
    every = [_candidate(at, *each) for at, each in enumerate(measures)]
    front = front_of(every)
    assert front
    for each in every:
        beaten = [o for o in front if o is not each and beats(o, each, 0.0)]
        assert bool(beaten) == (each not in front) == bool(each.dominated_by)


def test_the_front_keeps_candidates_that_tie():
    twins = [_candidate(at, 1, 1, 1, True) for at in range(3)]
    assert front_of(copy.copy(twins)) == twins
