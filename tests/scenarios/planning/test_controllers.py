"""Several controllers of a scenario: who is behind which, what they share, what cannot be."""

from __future__ import annotations

import re
from typing import Any

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import ScenarioTree

LSI2108: dict[str, Any] = {"model": "lsi2108", "write": "write-through", "read_ahead": "none"}
CORE_US = 0.25 + 8.812 + 16 * 1.944
"""Of the LSI2108's core for 64 KiB: request, command, 16 pages."""


def array(name: str, controller: str | None = None, **more: Any) -> dict[str, Any]:
    of = {} if controller is None else {"controller": controller}
    drives = [{"model": "sas-6g-ssd", "count": 8}]
    return {"name": name, "level": "raid0", "drives": drives} | of | more


def scenario(controllers: Any, *arrays: dict[str, Any], **more: Any) -> ScenarioTree:
    tree: Any = {
        "host": {"model": "rx300-s7", "threads": 4},
        "controller": controllers,
        "array": list(arrays),
        "workload": [
            {"target": each["name"], "rw": "read", "block_size": "64 KiB", "outstanding": 64}
            for each in arrays
        ],
        "run": {"warm_up": "0.1 s", "duration": "0.1 s", "seed": 1},
        **more,
    }
    return tree


def named(*names: str) -> list[dict[str, Any]]:
    return [LSI2108 | {"name": name} for name in names]


def faults(tree: ScenarioTree) -> str:
    with pytest.raises(SpecError) as caught:
        build_scenario(tree)
    return str(caught.value)


@pytest.mark.parametrize(("of_b", "expected"), [("right", 2e6 / CORE_US), ("left", 1e6 / CORE_US)])
def test_rates_of_two_controllers_add_up_and_one_is_shared(of_b: str, expected: float) -> None:
    tree = scenario(named("left", "right"), array("a", "left"), array("b", of_b))
    assert sum(row.iops for row in simulate(tree).rows) == pytest.approx(expected, rel=0.01)


def test_each_array_is_behind_its_controller_and_the_others_on_the_host() -> None:
    boot = {"name": "boot", "drives": [{"model": "pm9a3-960"}]}
    tree = scenario(named("left", "right"), array("a", "right"), array("b", "left"), boot)
    plan = build_scenario(tree).base
    assert [each["controller"] for each in plan["arrays"]] == [1, 0, None]
    assert [each["name"] for each in plan["controllers"]] == ["left", "right"]
    ends = [drive["path"][-1] for drive in plan["drives"]]
    left, right = (each["link"] for each in plan["controllers"])
    assert ends == [right] * 8 + [left] * 8 + [ends[-1]]
    assert ends[-1] not in (left, right)
    # A controller's drives are scheduled by its firmware, the others by the host.
    alone = build_scenario(scenario([], boot)).base["drives"][0]
    assert plan["drives"][-1]["block_layer"] == alone["block_layer"]


def test_arrays_of_one_controller_have_settings_of_their_own() -> None:
    own = array("a", "left", write="write-back", read_ahead="adaptive")
    tree = scenario(named("left", "right"), own, array("b", "left"), array("c", "right"))
    caches = [each.get("cache") for each in build_scenario(tree).base["arrays"]]
    assert [cache and cache["write"] for cache in caches] == ["write_back", None, None]


def test_a_list_of_one_controller_is_the_table() -> None:
    of_list, of_table = (
        build_scenario(scenario(each, array("a"))).base for each in ([LSI2108], LSI2108)
    )
    assert of_list == of_table
    assert of_table["controllers"][0]["name"] == "lsi2108"


def test_every_battery_learns() -> None:
    cached = [each | {"write": "write-back", "backup": "bbu"} for each in named("left", "right")]
    learn = {"at": "0.15 s", "action": "battery-learn", "lasts": "0.02 s"}
    arrays = array("a", "left"), array("b", "right")
    events = build_scenario(scenario(cached, *arrays, event=[learn])).base["events"]
    assert [(each["controller"], each["ready"]) for each in events] == [
        (0, False), (1, False), (0, True), (1, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("controllers", "arrays", "expected"),
    [
        (named("left", "left"), [array("a", "left")], 'controller.1.name = "left"'),
        (named("left", "right"), [array("a", "lefd")], 'array.0.controller = "lefd".*left, right'),
        (named("left", "right"), [array("a")], r"array.0.controller: .*\[\[controller\]\]: left"),
        ([], [array("a", "left")], 'array.0.controller = "left": left out'),
        ([LSI2108, LSI2108 | {"backup": "fbu"}], [array("a", "controller-1")],
         "controller.1.backup.*lsi2108 has: none, bbu"),
        (LSI2108 | {"backup": "fbu"}, [array("a")], r"controller.backup.*lsi2108 has: none, bbu"),
        (LSI2108 | {"battery_health": "150 %"}, [array("a")], 'controller.battery_health = "150'),
        ([LSI2108, LSI2108 | {"write": "wb"}], [array("a", "controller-0")],
         "controller.1.write.*write-back"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_fault(controllers: Any, arrays: list[Any], expected: str) -> None:
    found = faults(scenario(controllers, *arrays))
    assert re.search(expected, found)
    assert len(found.splitlines()) == 1, found


def cards(count: int, model: str = "lsi2008", host: str = "rx300-s7") -> ScenarioTree:
    """Controllers of a model in a host, with an array of a disk each."""
    of = [{"model": model, "name": f"c{at}"} for at in range(count)]
    disk = [{"model": "sata-6g-hdd"}]
    arrays = (array(f"a{at}", f"c{at}", level="jbod", drives=disk) for at in range(count))
    return scenario(of, *arrays, host={"model": host})


def test_a_host_has_a_slot_for_each_plug_in_controller() -> None:
    """The file of the RX300 S7 says 7 slots: 7 controllers run, 8 do not."""
    assert len(build_scenario(cards(7)).base["controllers"]) == 7
    (line,) = faults(cards(8)).splitlines()
    assert 'controller = "8 lsi2008": at most 7: the host rx300-s7 has 7 PCIe slots' in line
    assert "c0, c1, c2, c3, c4, c5, c6, c7 take one each" in line
    assert "c6, c7, ... take one each" in faults(cards(20))


@pytest.mark.parametrize("second", ["cougar-point", "patsburg-a"])
def test_an_onboard_controller_takes_no_slot_and_is_there_once(second: str) -> None:
    tree = cards(8)
    of: Any = tree["controller"]
    of[3]["model"] = "cougar-point"
    assert len(build_scenario(tree).base["controllers"]) == 8
    of[5]["model"] = second
    (line,) = faults(tree).splitlines()
    assert f'controller.5.model = "{second}": a card: the host rx300-s7 has one chipset' in line
    assert line.endswith("whose onboard controller is c3")


def test_slots_that_nobody_knows_and_those_of_a_remote_target_are_no_limit(tmp_path: Any) -> None:
    assert len(build_scenario(cards(9, host="nvme-tcp-25g")).base["controllers"]) == 9
    own = tmp_path / "own.toml"
    text = ('kind = "host"\nname = "own"\ntitle = "Own"\nclock = "3 GHz"\nsubmit = "2 us"\n'
            'complete = "2 us"\nraid_command = "1 us"\n[sources]\nall = "assumed"\n')  # fmt: skip
    own.write_text(text)
    assert len(build_scenario(cards(20, host=str(own))).base["controllers"]) == 20
    own.write_text("slots = 1\n" + text)
    assert "at most 1: the host own has 1 PCIe slot for" in faults(cards(2, host=str(own)))
    own.write_text(text.replace("3 GHz", "290 GHz"))
    assert 'clock = "290 GHz": 0.1 GHz to 10 GHz' in faults(cards(1, host=str(own)))
    own.write_text("slots = 0\n" + text)
    alone = scenario({"model": "lsi2008"}, array("a"), host={"model": str(own)})
    assert 'controller = "1 lsi2008": at most 0' in faults(alone)
