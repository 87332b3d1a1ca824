"""Goals that contradict each other are refused, those that others imply are named."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.results.goals import check_workloads, goals_of, without_effect
from raidlab.scenarios.results.within import with_goals
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.size import asked_rate


@pytest.mark.parametrize(
    ("goals", "left"),
    [
        (["p50 < 30 ms", "p99 < 20 ms"], "p50 < 30 ms"),
        (["p50 < 20 ms", "p99 < 20 ms"], "p50 < 20 ms"),
        (["mean < 30 ms", "max < 20 ms"], "mean < 30 ms"),
        (["p50 > 5 ms", "p99 > 2 ms"], "p99 > 2 ms"),
        (["p99 < 20 ms", "mail: p99 < 30 ms"], "mail: p99 < 30 ms"),
        (["rate >= 500 IO/s", "mail: rate >= 300 IO/s"], "mail: rate >= 300 IO/s"),
        (["rate >= 500 IO/s", "total: rate >= 300 IO/s"], "total: rate >= 300 IO/s"),
        (["rate < 500 IO/s", "total: rate < 900 IO/s"], None),
        (["p50 < 10 ms", "p99 < 20 ms"], None),
        (["mean < 30 ms", "p99 < 20 ms"], None),
        (["read p50 < 30 ms", "write p99 < 20 ms"], None),
        (["web: p50 < 30 ms", "mail: p99 < 20 ms"], None),
        (["p50 > 5 ms", "p99 < 20 ms"], None),
    ],
)
def test_a_goal_that_another_implies_has_no_effect(goals: list[str], left: str | None) -> None:
    notes = without_effect(goals_of(goals))
    assert [note.split('"')[1] for note in notes] == ([] if left is None else [left])


def test_percentiles_that_cannot_be_are_a_contradiction() -> None:
    with pytest.raises(SpecError, match='"p99 < 20 ms": p50 is never above p99'):
        goals_of(["p50 > 30 ms", "p99 < 20 ms"])
    assert goals_of(["web: p50 > 30 ms", "mail: p99 < 20 ms"])


NAMES = ("vm-0", "vm-1", "backup")


@pytest.mark.parametrize(
    ("text", "about", "summed"),
    [
        ("rate > 1 IO/s", NAMES, False),
        ("total: rate > 1 IO/s", NAMES, True),
        ("vm-*: throughput > 1 MB/s", NAMES[:2], True),
        ("vm-*: p99 < 1 ms", NAMES[:2], False),
        ("backup: rate > 1 IO/s", NAMES[2:], False),
    ],
)
def test_a_goal_is_about_one_load_a_group_or_all(text, about, summed) -> None:
    (goal,) = goals_of([text])
    assert (tuple(goal.loads(NAMES)), goal.is_sum) == (about, summed)


def test_a_latency_of_all_together_and_a_group_of_none_are_refused() -> None:
    with pytest.raises(SpecError, match="latencies have no sum"):
        goals_of(["total: p99 < 1 ms"])
    (goal,) = goals_of(["db-*: rate > 1 IO/s"])
    with pytest.raises(SpecError, match="one of vm-0, vm-1, backup; `total` or a group"):
        check_workloads([goal], NAMES)


def test_a_total_is_the_sum_of_the_loads_in_runs_and_sizes() -> None:
    """Two open loads of 300 and 500 a second: 800 together, whatever each does."""
    tree = {
        "array": [
            {
                "level": "raid0",
                "software_raid": "os",
                "drives": [{"model": "generic-15000rpm", "count": 8}],
            }
        ],
        "workload": [
            {"name": f"vm-{at}", "rw": "randread", "block_size": "4 KiB", "rate": f"{rate} IO/s"}
            for at, rate in enumerate((300, 500))
        ],
        "run": {"warm_up": "1 s", "duration": "5 s"},
    }
    goals = goals_of(["total: rate >= 700 IO/s", "vm-*: rate < 900 IO/s", "vm-1: rate > 450 IO/s"])
    found = with_goals(simulate(tree), goals).goals
    assert [each["holds"] for each in found] == [True, True, True]
    total = next(each for each in found if each["workload"] == "total")
    assert total["value"] == pytest.approx(800, rel=0.05)
    assert asked_rate(goals[0], scenario_of(tree)) == 800
