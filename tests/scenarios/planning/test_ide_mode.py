"""IDE mode, `ncq = false`: which ports have it, and which drives can be there."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario

SATA: dict[str, Any] = {"model": "sata-6g-hdd", "count": 2, "ncq": False}
ONBOARD = {"model": "cougar-point"}
LINKS = [
    {"name": "hba", "interface": "pcie-3.0-x8", "ports": "sas-12g"},
    {"name": "pch", "interface": "dmi-3.0"},
]


def built(controller: dict[str, Any] | None = None, **array: Any) -> Any:
    tree: dict[str, Any] = {"array": [{"name": "a", "drives": [SATA], **array}]}
    tree["workload"] = [{"rw": "randread", "block_size": "4 KiB", "outstanding": 8}]
    if "link" in array:
        tree["link"] = [link for link in LINKS if link["name"] == array["link"]]
    return build_scenario(tree if controller is None else tree | {"controller": controller})


@pytest.mark.parametrize("controller", [None, ONBOARD, {"model": "patsburg-a"}])
@pytest.mark.parametrize(
    "array",
    [
        {"level": "jbod"},
        {"level": "independent"},
        {"level": "raid0", "software_raid": "os"},
        {"level": "raid1", "software_raid": "lvm"},
    ],
)
def test_drives_one_by_one_at_onboard_ports_have_an_ide_mode(controller: Any, array: Any) -> None:
    plan = built(controller, **array).base
    assert [drive["queue_depth"] for drive in plan["drives"]] == [1, 1]


def test_ports_of_a_chipset_behind_its_link_have_an_ide_mode() -> None:
    assert built(link="pch").base["drives"][0]["queue_depth"] == 1


@pytest.mark.parametrize(
    ("controller", "array", "why"),
    [
        (ONBOARD, {"level": "raid0"}, "raid0 of cougar-point is its RAID mode, which has NCQ"),
        ({"model": "patsburg-a"}, {"level": "raid1"}, "raid1 of patsburg-a is its RAID mode"),
        ({"model": "patsburg-b"}, {"level": "jbod"}, "patsburg-b has no IDE mode"),
        ({"model": "lsi2008"}, {"level": "raid1"}, "lsi2008 has no IDE mode"),
        ({"model": "lsi2008"}, {"level": "jbod"}, "lsi2008 has no IDE mode"),
        ({"model": "lsi2208-1g-2.0"}, {"level": "independent"}, "lsi2208-1g-2.0 has no IDE"),
        ({"model": "lsi2108"}, {"level": "raid0", "software_raid": "os"}, "lsi2108 has no IDE"),
        (None, {"link": "hba"}, "link hba has an adapter's ports, SAS 12G"),
    ],
)
def test_ide_mode_elsewhere_is_one_fault_that_says_where_it_is(
    controller: Any, array: Any, why: str
) -> None:
    with pytest.raises(SpecError) as caught:
        built(controller, **array)
    (fault,) = caught.value.faults
    assert fault.key == "array.0.drives.0.ncq"
    assert why in fault.allowed
    assert 'level jbod or independent, or software_raid = "os"' in fault.allowed


@pytest.mark.parametrize("controller", [ONBOARD, {"model": "lsi2008"}])
def test_true_is_what_all_ports_have(controller: Any) -> None:
    built(controller, level="raid0", drives=[SATA | {"ncq": True}])


def test_ssds_of_a_cache_have_no_ide_mode() -> None:
    tree: dict[str, Any] = {
        "controller": {"model": "lsi2208-1g"},
        "array": [
            {
                "level": "raid5",
                "drives": [{"model": "sata-6g-hdd", "count": 3}],
                "cache_tier": {"drives": [{"model": "s4610-480", "count": 1, "ncq": False}]},
            }
        ],
    }
    with pytest.raises(SpecError, match=r"array.0.cache_tier.drives.0.ncq.*has no IDE mode"):
        build_scenario(tree)
