"""Layouts of md's RAID 10 in scenarios: streams, drives, what is refused."""

from __future__ import annotations

import pytest

from raidlab import simulate
from raidlab.devices.copies import CopyLayout
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.risk.redundancy import of_level
from raidlab.scenarios.spec.trees import ArrayTree, ScenarioTree

DISK_MB_S = 208.4
"""The outermost track of `generic-7200rpm`."""


def scenario(layout: str | None, drives: int, model: str = "generic-7200rpm") -> ScenarioTree:
    array: ArrayTree = {
        "level": "raid10",
        "software_raid": "md",
        "bitmap": "none",
        "drives": [{"model": model, "count": drives}],
    }
    return {
        "array": [array | ({} if layout is None else {"layout": layout})],
        "workload": [{"rw": "read", "block_size": "1 MiB", "outstanding": 8}],
        "run": {"warm_up": "0.5 s", "duration": "2 s", "seed": 1},
    }


@pytest.mark.parametrize("drives", [2, 3, 5])
def test_a_stream_on_far_reads_from_all_drives_and_on_offset_from_half_of_each(
    drives: int,
) -> None:
    rate = {name: simulate(scenario(name, drives)).rows[0].mb_per_s for name in ("f2", "o2")}
    assert rate["f2"] == pytest.approx(drives * DISK_MB_S, rel=0.01)
    assert rate["o2"] == pytest.approx(drives * DISK_MB_S / 2, rel=0.02)


def test_pairs_are_the_default_and_give_the_plan_that_they_gave() -> None:
    assert scenario(None, 4) != scenario("n2", 4)
    plans = [build_scenario(scenario(name, 4)).plan(0, 0) for name in (None, "near=2")]
    assert plans[0] == plans[1]
    assert "copies" not in plans[0]["arrays"][0]
    three = build_scenario(scenario(None, 3)).plan(0, 0)["arrays"][0]
    assert three["copies"] == {"arrangement": "near", "copies": 2}


def test_a_lost_drive_of_far_copies_is_rebuilt_from_its_neighbours() -> None:
    tree = scenario("far2", 3)
    tree["array"][0]["used"] = "200 MB"
    tree["workload"] = [{"rw": "randread", "block_size": "4 KiB", "rate": "20 IO/s"}]
    tree["run"] = {"warm_up": "0 s", "duration": "60 s", "after_rebuild": "1 s", "seed": 1}
    tree["event"] = [
        {"at": "0 s", "action": "fail-drive", "drive": 1},
        {"at": "0.1 s", "action": "replace-drive", "drive": 1},
    ]
    kinds = [event["kind"] for event in simulate(tree).events]
    assert "rebuild-done" in kinds


@pytest.mark.parametrize(
    ("layout", "level", "drives", "said"),
    [
        ("far2", "raid5", 4, "left out: only raid10"),
        ("far2", "raid1", 2, "left out: only raid10"),
        ("f3", "raid10", 2, "3 drives or more"),
        ("faar", "raid10", 4, "near2, far2 or offset2"),
    ],
)
def test_layouts_that_cannot_be_are_refused(
    layout: str, level: str, drives: int, said: str
) -> None:
    tree = scenario(layout, drives)
    tree["array"][0]["level"] = level
    with pytest.raises(SpecError, match=said):
        build_scenario(tree)


def test_a_controller_has_no_choice_of_layouts() -> None:
    tree = scenario("far2", 4, "sas-6g-hdd")
    tree["controller"] = {"model": "lsi2208-1g"}
    del tree["array"][0]["software_raid"], tree["array"][0]["bitmap"]
    with pytest.raises(SpecError, match="only raid10 with software_raid"):
        build_scenario(tree)


def test_flash_before_5_4_is_read_as_disks_are() -> None:
    """A fast and a slow SSD, one row of two near copies: half of the reads go to each, so both
    have the rate of the slow one. Since 5.4 the fast one takes what the slow one cannot."""
    tree = scenario("n2", 2)
    tree["host"] = {"model": "nvme", "kernel": "4.19"}
    tree["array"][0]["drives"] = [{"model": "pm983-3840"}, {"model": "micron-5300-max-3840"}]
    tree["workload"] = [{"rw": "randread", "block_size": "4 KiB", "outstanding": 256, "threads": 8}]
    tree["run"] = {"warm_up": "20 ms", "duration": "60 ms", "precondition": "filled", "seed": 1}
    slow = {**tree, "array": [{"drives": [{"model": "micron-5300-max-3840"}]}]}
    one = simulate(slow).rows[0].iops
    before = simulate(tree).rows[0].iops
    assert before == pytest.approx(2 * one, rel=0.06)
    tree["host"]["kernel"] = "5.15"
    assert simulate(tree).rows[0].iops > 4 * one


def test_what_each_layout_bears() -> None:
    assert of_level("raid10", 4, CopyLayout()).groups == 2
    assert of_level("raid10", 5, CopyLayout("far", 2)).ring
    assert of_level("raid10", 3, CopyLayout("near", 3)).tolerance == 2
