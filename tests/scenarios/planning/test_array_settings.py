"""Cache settings of one array beside others; modes as one key; two controllers in a server."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import ArrayTree, ControllerTree, ScenarioTree


def array(name: str, count: int = 4, level: str = "raid10", **keys: Any) -> ArrayTree:
    drives = [{"model": "sas-6g-hdd", "count": count}]
    return {"name": name, "level": level, "drives": drives, **keys}


def scenario(controller: ControllerTree | None, *arrays: ArrayTree) -> ScenarioTree:
    load = {"rw": "randrw", "block_size": "4 KiB", "outstanding": 8}
    tree = {"array": list(arrays), "workload": [load | {"target": a["name"]} for a in arrays]}
    return tree if controller is None else tree | {"controller": controller}


def caches(tree: ScenarioTree) -> dict[str, tuple[str, str, bool] | None]:
    """Write mode, read-ahead and whether reads stay, by array; None without the cache."""
    plans = build_scenario(tree).base["arrays"]
    return {
        plan["name"]: plan["cache"] and tuple(plan["cache"].values())  # type: ignore[misc]
        for plan in plans
    }


def test_each_array_has_settings_of_its_own() -> None:
    """What an array says counts instead of its mode, and that instead of the controller's."""
    found = caches(
        scenario(
            {"model": "lsi2208-1g", "mode": "performance", "io_cache": "cached"},
            array("plain"),
            array("safe", mode="data-protection"),
            array("through", write="write-through"),
            array("own", mode="fast-path-optimum", read_ahead="always"),
            array("flat", mode="fast-path-optimum"),
        )
    )
    assert found == {
        "plain": ("write_back", "adaptive", True),
        "safe": ("write_back", "adaptive", False),
        "through": ("write_through", "adaptive", True),
        "own": ("write_through", "always", False),
        "flat": None,
    }


@pytest.mark.parametrize("mode", ["data-protection", "performance"])
@pytest.mark.parametrize(("backup", "unkept"), [("bbu", False), (None, False), ("none", True)])
def test_a_mode_asks_the_battery_where_there_is_one(
    mode: str, backup: str | None, unkept: bool
) -> None:
    """The report: with a battery both modes are write-back, which waits for it; without one "Data
    Protection" writes through and "Performance" does not ask. Left out, the LSI2108 has its own."""
    own: Any = {} if backup is None else {"backup": backup}
    tree = scenario({"model": "lsi2108", "mode": mode, **own}, array("a"))
    tree["event"] = [{"at": "1 s", "action": "battery-learn", "lasts": "1 s"}]
    of_array = scenario({"model": "lsi2108", **own}, array("a", mode=mode))
    bare = {"data-protection": "write_through", "performance": "always_write_back"}[mode]
    expected = {"a": (bare if unkept else "write_back", "adaptive", False)}
    assert caches(tree) == caches(of_array) == expected
    said = [text for text in build_scenario(tree).warnings if "battery-learn has no" in text]
    assert bool(said) == unkept


def test_performance_waits_for_the_disks_while_the_battery_learns() -> None:
    """A disk of 15,000 rpm takes half a turn, 2 ms, and a seek a write: below 500 in a second."""
    keys: Any = {"rw": "randwrite", "outstanding": 1}
    tree = scenario({"model": "lsi2108", "mode": "performance"}, array("a", 2, "raid1"))
    tree["workload"][0] |= keys | {"area": "1 GB"}
    tree["array"][0]["disk_cache"] = False
    tree["run"] = {"warm_up": "1 ms", "duration": "2 s", "seed": 1}
    ready = simulate(build_scenario(tree)).rows[0].iops
    tree["event"] = [{"at": "0 s", "action": "battery-learn", "lasts": "10 s"}]
    learning = simulate(build_scenario(tree)).rows[0].iops
    assert learning < 500
    assert ready > 2 * learning


@pytest.mark.parametrize("model", ["lsi2008", "cougar-point", "lsi2208-lite-2.0"])
@pytest.mark.parametrize("mode", ["data-protection", "performance", "fast-path-optimum"])
def test_a_mode_of_a_controller_without_a_cache_is_no_write_back(model: str, mode: str) -> None:
    """It sets the drives' own caches alone: nothing that could fall to write-through."""
    drives = [{"model": "sata-6g-hdd", "count": 2}]
    for keys in ({}, {"mode": mode}):
        tree = scenario({"model": model, "mode": mode}, array("a", 2, "raid1", **keys))
        tree["array"][0]["drives"] = drives
        assert not [text for text in build_scenario(tree).warnings if "write-back" in text]


@pytest.mark.parametrize(
    ("mode", "on"), [("data-protection", False), ("performance", True), ("fast-path-optimum", True)]
)
def test_a_mode_switches_the_caches_of_the_drives(mode: str, on: bool) -> None:
    """A controller without a cache has that setting alone."""
    with_mode, with_key = (
        build_scenario(scenario({"model": "lsi2008"} | keys, array("a"))).base
        for keys in ({"mode": mode}, {"disk_cache": on})
    )
    assert with_mode["devices"] == with_key["devices"]


def test_write_through_of_one_array_alone_makes_its_writes_slow() -> None:
    """At depth 1 write-back acknowledges what memory holds; write-through waits for the disk."""
    tree = scenario(
        {"model": "lsi2208-1g", "disk_cache": False},
        array("back", 2, "raid1"),
        array("through", 2, "raid1", write="write-through"),
    )
    for load in tree["workload"]:
        load |= {"rw": "randwrite", "outstanding": 1, "rate": "50 IO/s"}
        del load["outstanding"]
    tree["run"] = {"warm_up": "1 s", "duration": "5 s", "seed": 1}
    back, through = simulate(build_scenario(tree)).rows
    assert back.latency_us is not None and through.latency_us is not None
    assert back.latency_us.mean < 0.1 * through.latency_us.mean


@pytest.mark.parametrize(
    ("controller", "keys", "fault"),
    [
        ({"model": "lsi2108"}, {"count": 18}, r"array.0.drives = .*at most 16 in a RAID 10"),
        ({"model": "lsi2008"}, {"write": "write-back"}, r"array.0.write.*lsi2008 has no cache"),
        ({"model": "lsi2008"}, {"read_ahead": "always"}, r"array.0.read_ahead.*has no cache"),
        ({"model": "lsi2108"}, {"mode": "perform"}, r'array.0.mode.*did you mean "performance"'),
        (None, {"level": "jbod", "mode": "performance"}, r"array.0.mode.*no \[controller\]"),
        (None, {"level": "jbod", "disk_cache": True}, r"array.0.disk_cache.*no \[controller\]"),
    ],
)
def test_settings_that_are_not_there_are_refused(
    controller: ControllerTree | None, keys: dict[str, object], fault: str
) -> None:
    with pytest.raises(SpecError, match=fault):
        build_scenario(scenario(controller, array("a", **keys)))


def two_adapters(arrays: int) -> ScenarioTree:
    """Mirrors of SATA SSDs, half behind each of two adapters on a chipset's link."""
    names = [f"m{at}" for at in range(arrays)]
    return {
        "host": {"model": "nvme"},
        "link": [
            {"name": "dmi", "interface": "dmi-3.0"},
            {"name": "hba0", "interface": "pcie-3.0-x8", "ports": "sas-12g", "parent": "dmi"},
            {"name": "hba1", "interface": "pcie-3.0-x8", "ports": "sas-12g", "parent": "dmi"},
        ],
        "array": [
            {
                "name": name,
                "level": "raid0" if at % 2 else "raid1",
                "software_raid": "md",
                "link": f"hba{at * 2 // arrays}",
                "drives": [{"model": "s4600-1920", "count": 2}],
            }
            for at, name in enumerate(names)
        ],
        "workload": [
            {"target": name, "rw": "read", "block_size": "128 KiB", "outstanding": 16}
            for name in names
        ],
        "run": {"warm_up": "50 ms", "duration": "0.1 s", "precondition": "filled", "seed": 1},
    }


def rate(tree: ScenarioTree) -> float:
    """MB a second of all loads together."""
    return sum(row.mb_per_s for row in simulate(tree).rows)


def test_rates_of_arrays_behind_two_controllers_add_up_until_they_share_a_link() -> None:
    """Two arrays, one behind each: both as fast as alone. Eight: DMI 3.0 passes 3,545 MB/s.

    PCIe 3.0 x4: 4 lanes · 8 GT/s · 128/130 / 8 · 0.9.
    """
    alone = []
    for keep in (0, 1):
        tree = two_adapters(2)
        tree["array"], tree["workload"] = [tree["array"][keep]], [tree["workload"][keep]]
        tree["link"] = [link for link in tree["link"] if link["name"] in ("dmi", f"hba{keep}")]
        alone.append(rate(tree))
    assert rate(two_adapters(2)) == pytest.approx(sum(alone), rel=0.03)
    assert 4 * sum(alone) > 1.1 * 3545
    assert rate(two_adapters(8)) == pytest.approx(3545, rel=0.01)


def test_a_port_in_ide_mode_gives_one_command_at_a_time() -> None:
    """Eight outstanding reads are then served in their order, at the rate of one outstanding."""

    def random_reads(depth: int, **keys: Any) -> float:
        drives = [{"model": "sata-6g-hdd", "write_cache": False, **keys}]
        load = {"rw": "randread", "block_size": "4 KiB", "outstanding": depth}
        run = {"warm_up": "1 s", "duration": "60 s", "seed": 1}
        return (
            simulate({"array": [{"drives": drives}], "workload": [load], "run": run}).rows[0].iops
        )

    one = random_reads(1)
    assert random_reads(8, ncq=False) == pytest.approx(one, rel=0.03)
    assert random_reads(8) > 1.3 * one


def test_an_aged_battery_holds_the_cache_for_less_time() -> None:
    """Half of 72 hours are 36 h, 129.6e12 ns; without its backup there is nothing to age."""
    aged = build_scenario(scenario({"model": "lsi2108", "battery_health": "50 %"}, array("a")))
    assert aged.base["controllers"][0]["cache"]["hold_ns"] == 36 * 3600 * 10**9
    none: ControllerTree = {"model": "lsi2108", "backup": "none", "battery_health": "50 %"}
    (warning,) = build_scenario(scenario(none, array("a"))).warnings
    assert warning.startswith('controller.battery_health: has no effect beside backup = "none"')


@pytest.mark.parametrize(
    ("model", "lacks"),
    [("lsi2008", "cache"), ("cougar-point", "cache"), ("lsi2208-1g", r"battery \(bbu\)")],
)
def test_the_health_of_a_battery_that_a_controller_has_not_is_refused(
    model: str, lacks: str
) -> None:
    """As `backup = "bbu"` is; 100 % is what any controller has if it is left out."""
    of: ControllerTree = {"model": model, "battery_health": "80 %"}
    drives = [{"model": "sata-6g-hdd", "count": 4}]
    tree = scenario(of, array("a") | {"drives": drives})
    said = rf'controller.battery_health = "80 %": left out: \S+ has no {lacks}'
    with pytest.raises(SpecError, match=said):
        build_scenario(tree)
    build_scenario(scenario(of | {"battery_health": "100 %"}, tree["array"][0]))


def test_drives_without_ncq_are_refused_the_key() -> None:
    tree = scenario({"model": "lsi2108"}, array("a"))
    tree["array"][0]["drives"][0]["ncq"] = False
    with pytest.raises(SpecError, match=r"array.0.drives.0.ncq.*sas-6g-hdd is no SATA drive"):
        build_scenario(tree)
