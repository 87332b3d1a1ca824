"""`count` of arrays: what is written out by hand, and faults at the places of the file."""

import copy

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.risk.assess import Question, assess
from raidlab.scenarios.running.simulate import simulate

ARRAY = {
    "name": "data", "level": "raid5", "software_raid": "os",
    "drives": [{"model": "generic-15000rpm", "count": 3}],
}  # fmt: skip
LOAD = {"name": "vm", "target": "data", "rw": "randread", "block_size": "8 KiB", "rate": "60 IO/s"}
LOG = {"name": "log", "target": "log", "rw": "write", "block_size": "8 KiB", "rate": "20 IO/s"}
OTHER = {"name": "log", "drives": [{"model": "generic-15000rpm"}]}
RUN = {"warm_up": "0 s", "duration": "2 s"}


def tree(**changed):
    return copy.deepcopy({"array": [ARRAY | changed, OTHER], "workload": [LOAD, LOG], "run": RUN})


def test_equal_arrays_are_those_written_out():
    found = build_scenario(tree(count=3))
    by_hand = tree()
    for copied in (1, 2):
        by_hand["array"].append(ARRAY | {"name": f"data-{copied}"})
        by_hand["workload"].append(LOAD | {"name": f"vm-{copied}", "target": f"data-{copied}"})
    assert found.base == build_scenario(by_hand).base
    assert found.written["array"][0]["count"] == 3
    rows = simulate(found).results
    assert [row["workload"] for row in rows] == ["vm", "log", "vm-1", "vm-2"]


def test_a_load_without_target_is_that_of_each_of_the_only_array():
    """24 arrays of 3 disks are 72 drives; each has its 60 I/Os a second."""
    alone = {key: value for key, value in LOAD.items() if key != "target"}
    found = build_scenario({"array": [ARRAY | {"count": 24}], "workload": [alone], "run": RUN})
    assert len(found.base["drives"]) == 72
    assert {load.target for load in found.workloads} == {
        "data", *(f"data-{at}" for at in range(1, 24))
    }  # fmt: skip
    assert sum(load.arrives_per_s for load in found.workloads) == 24 * 60


@pytest.mark.parametrize("count", [0, 257, 1.5, "3", True])
def test_a_count_that_cannot_be_is_refused(count):
    with pytest.raises(SpecError, match=r"array\.0\.count = "):
        build_scenario(tree(count=count))


def test_faults_of_copies_stand_where_the_file_has_them():
    wrong = tree(count=4, stripe_unit="1000 B")
    wrong["array"][0]["drives"][0]["count"] = 2
    wrong["workload"][0]["block_size"] = "8 potatoes"
    with pytest.raises(SpecError) as caught:
        build_scenario(wrong)
    keys = [fault.key for fault in caught.value.faults]
    assert sorted(set(keys)) == sorted(keys), "each fault once"
    assert {key.split(".")[1] for key in keys} == {"0"}
    taken = tree(count=2)
    taken["array"][1]["name"] = "data-1"
    taken["workload"][1]["target"] = "data-1"
    with pytest.raises(SpecError, match=r"array\.0\.name = .*that no other array has"):
        build_scenario(taken)


def test_each_of_equal_arrays_may_lose_its_data():
    """One of two that are lost with probability p: 1 - (1 - p)^2."""
    question = Question(years=5.0, rebuild_h=100.0, replace_h=24.0)
    one = assess({"array": [ARRAY]}, None, question).loss
    two = assess({"array": [ARRAY | {"count": 2}]}, None, question).loss
    assert one is not None and two == pytest.approx(1 - (1 - one) ** 2, rel=0.02)
