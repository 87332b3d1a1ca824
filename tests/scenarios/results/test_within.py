"""Shares of I/Os and of time within a goal, against queueing theory and by hand."""

import math

import pytest

import raidlab
from raidlab.scenarios.results.goals import goals_of
from raidlab.scenarios.results.within import goals_of_run, with_goals


@pytest.fixture(scope="module")
def served():
    """M/M/1 at half load: 5 ms a command, 100 a second."""
    scenario = {
        "array": [{"drives": [{"model": "fivex"}]}],
        "workload": [{"name": "mail", "rw": "randread", "block_size": "4 KiB", "rate": "100 IO/s"}],
        "run": {"duration": "200 s", "warm_up": "5 s"},
    }
    return raidlab.simulate(scenario, slowest=20, latency_map=True)


def _shares(result, *texts):
    found = with_goals(result, goals_of(texts)).goals
    return [(each["holds"], each["ios_within"], each["time_within"]) for each in found]


def test_the_share_of_ios_is_that_of_the_exponential_stay(served):
    # The stay in M/M/1 is exponential with the rate mu - lambda = 100 a second.
    for bound in (5, 20, 50):
        ((_, ios, _),) = _shares(served, f"p99 < {bound} ms")
        assert ios == pytest.approx(1 - math.exp(-bound / 10), abs=0.015)


def test_time_counts_where_the_goal_is_met(served):
    always, never = _shares(served, "p50 < 1 s", "rate < 1000 IO/s")
    assert always == (True, 1.0, 1.0)
    assert never == (True, None, 1.0)
    ((holds, ios, time),) = _shares(served, "p99 < 46 ms")
    # The p99 is 46 ms: of the time about half is above it.
    assert 0.2 < time < 0.8
    assert ios == pytest.approx(0.99, abs=0.005)
    ((holds, ios, time),) = _shares(served, "mail: read p99 < 5 ms")
    assert (holds, time) == (False, 0.0)


def test_a_goal_that_a_run_cannot_say_is_refused():
    with pytest.raises(raidlab.SpecError) as refused:
        goals_of_run(["usable > 1 TB", "post: p99 < 20 ms"], "--goal", ["mail", "web"])
    assert [fault.value for fault in refused.value.faults] == ["usable > 1 TB", "post"]


def test_a_workload_has_goals_of_its_own():
    workload = {"rw": "randread", "block_size": "4 KiB", "rate": "50 IO/s"}
    scenario = {
        "array": [{"drives": [{"model": "five"}]}],
        "workload": [
            workload | {"name": "mail", "goal": "p99 < 40 ms"},
            workload | {"name": "web", "goal": ["read p50 < 1 ms", "rate > 10 IO/s"]},
        ],
        "run": {"duration": "10 s", "warm_up": "1 s"},
    }
    goals = raidlab.simulate(scenario).goals
    found = [(each["workload"], each["goal"], each["holds"]) for each in goals]
    assert found == [
        ("mail", "p99 < 40 ms", True),
        ("web", "read p50 < 1 ms", False),
        ("web", "rate > 10 IO/s", True),
    ]
    assert all(each["time_within"] is not None for each in goals)
    scenario["workload"][0]["goal"] = "web: p99 < 40 ms"
    scenario["workload"][1]["goal"] = "p98 < 1 ms"
    with pytest.raises(raidlab.SpecError) as refused:
        raidlab.simulate(scenario)
    assert [fault.key for fault in refused.value.faults] == ["workload.0.goal", "workload.1.goal"]


def test_what_is_slow_is_on_the_map_and_in_the_list(served):
    (row,) = served.results
    slowest = row["slowest"]
    assert len(slowest) == 20
    assert slowest[0]["latency_us"] == row["latency_us"]["max"]
    assert sorted(-each["latency_us"] for each in slowest) == [
        -each["latency_us"] for each in slowest
    ]
    for each in slowest:
        assert sum(each["breakdown_us"].values()) == pytest.approx(each["latency_us"])
    columns = row["read"]["latency_map"]["columns"]
    assert sum(count for column in columns for _, count in column) == row["ios"]
    assert 64 <= len(columns) <= 128
