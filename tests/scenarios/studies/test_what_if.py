"""What holds a system back, and what twice of something would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.runs.report import html_report
from raidlab.scenarios.results.bottleneck import busiest, latency_bound
from raidlab.scenarios.results.result import Row
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.run_result import Component
from raidlab.scenarios.spec.trees import ScenarioTree, WorkloadTree
from raidlab.scenarios.studies.what_if import what_if
from tests.figures import result_of


def _component(kind: str, name: str, utilization: float) -> Component:
    return {"kind": kind, "name": name, "utilization": utilization}


def test_equal_drives_are_one_bottleneck_and_the_next_is_something_else() -> None:
    components = [
        _component("drive", "data/ssd.0", 0.97),
        _component("drive", "data/ssd.1", 0.98),
        _component("firmware", "data/ssd.0 firmware", 0.9),
        _component("firmware", "data/ssd.1 firmware", 0.9),
        _component("link", "lsi PCIe 2.0 x8", 0.71),
        _component("drive", "data-tier/ssd.0", 0.2),
        _component("controller", "lsi", 0.6),
    ]
    assert busiest(components, 4) == [
        "data/ssd.1 at 98 %", "data/ssd.0 firmware at 90 %", "lsi PCIe 2.0 x8 at 71 %",
        "lsi cores at 60 %",
    ]  # fmt: skip


def test_a_load_that_nothing_holds_up_is_reported_to_be_bound_by_latency() -> None:
    result = simulate(
        {
            "host": {"model": "nvme"},
            "array": [
                {"name": "data", "level": "jbod", "drives": [{"model": "p3700-800", "count": 1}]}
            ],
            "workload": [
                {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB",
                 "outstanding": [1, 2, 256]}
            ],
            "run": {"warm_up": "5 ms", "duration": "30 ms", "precondition": "filled"},
        }
    )  # fmt: skip
    (line,) = latency_bound(result.summary())
    assert ", 1 to 2 outstanding: no component is busy for 80 % of the time" in line
    assert "the longest part of it NAND read, 3" in line
    saturated = [row for row in result.summary() if row["outstanding"] == 256]
    assert latency_bound(saturated) == []


def test_the_cores_of_an_ssd_can_be_what_holds_it_back() -> None:
    tree = {
        "host": {"model": "nvme", "threads": 8},
        "array": [{"name": "data", "drives": [{"model": "p3700-800"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 256}],
        "run": {"warm_up": "10 ms", "duration": "50 ms", "precondition": "filled"},
    }
    (row,) = simulate(build_scenario(tree)).results
    assert row["bottleneck"] == "data/p3700-800.0 firmware at 100 %"
    shares = {part["name"]: part["utilization"] for part in row["components"]}
    assert shares["data/p3700-800.0"] < 0.9


def test_the_compressor_and_the_channels_of_an_ssd_can_be_what_holds_it_back() -> None:
    """All stored bytes pass the engine; a channel moves 8 KiB of a page set, 2 us before them."""
    tree = {
        "host": {"model": "ahci"},
        "array": [{"name": "data", "drives": [{"model": "sandforce-1222-64gb"}]}],
        "workload": [
            {"rw": "read", "block_size": "128 KiB", "align": "128 KiB", "outstanding": 32}
        ],
        "run": {"warm_up": "20 ms", "duration": "200 ms", "precondition": "filled"},
    }
    (row,) = simulate(build_scenario(tree)).results
    assert row["bottleneck"] == "data/sandforce-1222-64gb.0 compressor at 100 %"
    assert "SATA" in row["runner_up"]
    shares = {part["kind"]: part["utilization"] for part in row["components"]}
    rate = 1e6 * row["mb_per_s"]
    assert shares["compressor"] == pytest.approx(rate / 193.1e6, rel=0.01)
    moved = rate / 8192 * (8192 / 133e6 + 2e-6) / 8
    assert shares["channels"] == pytest.approx(moved, rel=0.01)
    components = [
        _component("link", "data/ssd.0 SATA 3G", 0.76),
        _component("channels", "data/ssd.0 channels", 0.96),
        _component("channels", "data/ssd.1 channels", 0.97),
    ]
    assert busiest(components) == ["data/ssd.1 channels at 97 %", "data/ssd.0 SATA 3G at 76 %"]


def test_cores_that_many_threads_share_hold_them_back_together() -> None:
    """Each of 64 threads has a 32nd of one of two cores; twice the cores do twice as much."""
    tree = {
        "host": {"model": "ahci", "threads": 64},
        "array": [{"name": "data", "level": "jbod", "drives": [{"model": "s4610-480"}] * 4}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 256}],
        "run": {"warm_up": "10 ms", "duration": "200 ms"},
    }
    scenario = build_scenario(tree)
    result = simulate(scenario)
    (row,) = result.results
    assert row["bottleneck"] == "host CPU, 2 cores at 100 %"
    assert "SATA 6G" in row["runner_up"]
    reported = {case["change"]: case for case in what_if(scenario, result).what_if}
    assert _gain(reported["twice the host cores"]) > 50
    tree["host"]["threads"] = 2
    scenario = build_scenario(tree)
    result = simulate(scenario)
    assert "cpu" not in {part["kind"] for part in result.results[0]["components"]}
    reported = {case["change"]: case for case in what_if(scenario, result).what_if}
    assert "twice the host cores" not in reported


def test_a_load_is_not_held_back_by_drives_of_another_array() -> None:
    tree = {
        "controller": {"model": "lsi2008"},
        "array": [
            {"name": "fast", "level": "raid0", "drives": [{"model": "sas-6g-ssd", "count": 2}]},
            {"name": "slow", "level": "raid0", "drives": [{"model": "sas-6g-hdd", "count": 2}]},
        ],
        "workload": [
            {"target": "fast", "rw": "randwrite", "block_size": "4 KiB", "outstanding": 64},
            {"target": "slow", "rw": "randread", "block_size": "4 KiB", "rate": "200 IO/s"},
        ],
        "run": {"warm_up": "0 s", "duration": "500 ms"},
    }
    fast, slow = simulate(build_scenario(tree)).results
    assert fast["bottleneck"].startswith("fast/sas-6g-ssd")
    assert slow["bottleneck"].startswith("slow/sas-6g-hdd")
    assert fast["write_amplification"] >= 1.0 and slow["write_amplification"] is None


def test_a_load_waits_for_places_that_another_array_holds() -> None:
    """Of 32 places a slow array's I/Os hold nearly all; what of it is busy is its drives."""
    disks = [{"model": "sas-6g-hdd", "count": 2}]
    slow = {"target": "slow", "rw": "randread", "block_size": "4 KiB", "outstanding": 64}
    tree = {
        "controller": {"model": "lsi2008"},
        "array": [
            {"name": "slow", "level": "raid0", "drives": disks},
            {"name": "other", "level": "raid1", "drives": disks},
        ],
        "workload": [slow, slow | {"target": "other", "outstanding": 2, "name": "few"}],
        "run": {"warm_up": "1 s", "duration": "4 s"},
    }
    full, few = simulate(build_scenario(tree)).results
    assert full["bottleneck"].startswith("slow/sas-6g-hdd")
    assert few["bottleneck"] == "lsi2008 queue at 100 %"
    assert few["runner_up"].startswith("other/sas-6g-hdd")
    tree["workload"] = tree["workload"][1:]
    (alone,) = simulate(build_scenario(tree)).results
    shares = {part["name"]: part["utilization"] for part in alone["components"]}
    assert shares["lsi2008 queue"] == 0.0
    assert "queue" not in alone["bottleneck"] + alone["runner_up"]


def test_a_queue_that_is_full_is_reported_where_drives_have_room() -> None:
    """With 64 outstanding and 32 places half of an I/O's time is waiting for one."""
    tree = {
        "controller": {"model": "lsi2008"},
        "array": [{"level": "raid0", "drives": [{"model": "sas-6g-ssd", "count": 8}]}],
        "workload": [{"profile": "database", "outstanding": [32, 64], "area": "32 GB"}],
        "run": {"warm_up": "300 ms", "duration": "500 ms", "precondition": "filled"},
    }
    few, many = simulate(build_scenario(tree)).results
    assert "queue" not in few["bottleneck"]
    assert many["bottleneck"] == "lsi2008 queue at 100 %"
    assert many["iops"] == pytest.approx(few["iops"], rel=0.02)


def _behind_a_cache(read_ahead: str = "always", **load: Any) -> Row:
    controller = {"model": "lsi2208-1g-3.0", "write": "write-back", "read_ahead": read_ahead}
    tree = {
        "controller": controller,
        "array": [{"level": "raid5", "drives": [{"model": "sas-6g-hdd", "count": 8}]}],
        "workload": [{"block_size": "4 KiB", "area": "32 GB", **load}],
        "run": {"warm_up": "5 s", "duration": "2 s"},
    }
    (row,) = simulate(build_scenario(tree)).results
    assert sum(row["breakdown_us"].values()) == pytest.approx(row["latency_us"]["mean"])
    return row


def test_drives_that_a_cache_keeps_busy_do_not_hold_writes_up() -> None:
    """The cache has room for each write and sends what it has to the disks in the background."""
    row = _behind_a_cache(rw="randwrite", rate="2000 IO/s")
    disks = [part["utilization"] for part in row["components"] if part["kind"] == "drive"]
    others = [part["utilization"] for part in row["components"] if part["kind"] != "drive"]
    assert min(disks) > 10 * max(others)
    assert row["breakdown_us"].get("cache_wait", 0.0) == 0.0
    assert row["bottleneck"].startswith("lsi2208-1g-3.0 cores")
    assert row["runner_up"].startswith("host thread 0")


@pytest.mark.parametrize(
    ("read_ahead", "load", "through_memory"),
    [
        ("always", {"rw": "randwrite"}, True),
        ("always", {"rw": "read", "block_size": "64 KiB"}, True),
        ("always", {"rw": "randread"}, True),
        ("adaptive", {"rw": "randread"}, False),
    ],
)
def test_drives_that_a_cache_waits_for_hold_up_what_waits_for_it(
    read_ahead: str, load: WorkloadTree, through_memory: bool
) -> None:
    """Writes wait for room in a full cache, reads for units or streams that are read into it."""
    row = _behind_a_cache(read_ahead, outstanding=16, **load)
    assert "sas-6g-hdd" in row["bottleneck"]
    waits = row["breakdown_us"].get("cache_wait", 0.0) > 0.5 * row["latency_us"]["mean"]
    assert waits == through_memory


def _gains(
    level: str, drives: int, load: WorkloadTree, warm_up: str = "50 ms", **controller: str
) -> dict[str, Row]:
    tree = {
        "controller": {"model": "lsi2108", **controller},
        "array": [{"level": level, "drives": [{"model": "sas-6g-ssd", "count": drives}]}],
        "workload": [{"outstanding": 64, "area": "32 GB", **load}],
        "run": {"warm_up": warm_up, "duration": "100 ms"},
    }
    scenario = build_scenario(tree)
    result = what_if(scenario, simulate(scenario))
    assert result.what_if is not None
    assert "What if" in html_report(result)
    assert result.to_dict()["what_if"] == list(result.what_if)
    return {case["change"]: case for case in result.what_if}


def _gain(case: Row) -> float:
    return float(case["results"][0]["gain_pct"])


def test_firmware_bound_requests_gain_by_cores_alone() -> None:
    bypass = {"write": "write-through", "read_ahead": "none"}
    gains = _gains("raid0", 24, {"rw": "randread", "block_size": "4 KiB"}, **bypass)
    assert _gain(gains["twice the cores of lsi2108"]) > 50
    assert abs(_gain(gains["twice the lanes of lsi2108"])) < 2
    # 48 drives are more than the controller takes: reported, not left out.
    assert "32 drives" in gains["twice the drives"]["why_not"]


def test_parity_bound_writes_gain_by_the_parity_engine() -> None:
    # Once the cache is full, what comes in must go out.
    gains = _gains("raid5", 16, {"profile": "restore"}, warm_up="1500 ms")
    assert _gain(gains["twice the parity engines of lsi2108"]) > 20
    assert abs(_gain(gains["twice the cores of lsi2108"])) < 10


def test_a_larger_cache_that_is_still_filling_is_warned_of(tmp_path: Path) -> None:
    """An eighth of a card's memory, filled in an eighth of its five seconds."""
    small = tmp_path / "small.toml"
    small.write_text('like = "lsi2208-1g-3.0"\nname = "small"\n[cache]\nsize = "112 MiB"\n')
    tree = {
        "controller": {"model": str(small)},
        "array": [{"level": "raid5", "drives": [{"model": "sas-6g-ssd", "count": 8}]}],
        "workload": [{"profile": "database", "outstanding": 64, "align": "512 B"}],
        "run": {"warm_up": "625 ms", "duration": "125 ms", "precondition": "steady-state"},
    }
    scenario, result = build_scenario(tree), result_of(tree)
    assert not any("not full" in warning for warning in result.warnings)
    reported = "with twice the cache of small: the cache of small was not full yet"
    assert any(warning.startswith(reported) for warning in what_if(scenario, result).warnings)


def test_the_same_seed_gives_the_same_gains() -> None:
    once, again = (_gains("raid0", 2, {"profile": "database"}) for _ in range(2))
    assert once == again


@pytest.mark.parametrize("level", ["raid0", "raid5"])
def test_only_what_is_there_is_doubled(level: str) -> None:
    changes = _gains(level, 4, {"profile": "database"})
    assert ("twice the parity engines of lsi2108" in changes) == (level == "raid5")
    assert "twice the SSDs of the tier" not in changes


def test_a_faster_host_makes_page_cache_and_parity_faster(tmp_path: Path) -> None:
    """Twice, where nothing else takes part in what they end."""
    slow = tmp_path / "slow.toml"
    slow.write_text(
        'like = "linux-2.6.32-8gb"\nname = "slow"\nparity = "500 MB/s"\ntwo_parities = "0 MB/s"\n'
    )
    run = {"warm_up": "20 ms", "duration": "100 ms", "precondition": "filled"}
    cached = {"rw": "randread", "block_size": "4 KiB", "area": "64 MiB", "buffered": True}
    parity = {"rw": "write", "block_size": "448 KiB", "align": "448 KiB", "outstanding": 64}
    null = {"level": "raid5", "software_raid": "os", "drives": [{"model": "null", "count": 8}]}
    for array, load, holds in (
        ({"drives": [{"model": "generic-7200rpm"}]}, cached, "host thread"),
        (null | {"stripe_unit": "64 KiB"}, parity, "parity thread"),
    ):
        host = {"model": str(slow), "threads": 8}
        scenario = build_scenario({"host": host, "array": [array], "workload": [load], "run": run})
        result = simulate(scenario)
        assert holds in result.results[0]["bottleneck"]
        reported = {case["change"]: case for case in what_if(scenario, result).what_if}
        (gain,) = reported["a host CPU twice as fast"]["results"]
        assert gain["gain_pct"] == pytest.approx(100, abs=3)


def test_gains_of_a_cache_that_was_still_filling_are_marked() -> None:
    tree: ScenarioTree = {
        "controller": {"model": "lsi2208-1g", "write": "always-write-back"},
        "array": [
            {"name": "data", "level": "raid0", "drives": [{"model": "sas-6g-ssd", "count": 2}]}
        ],
        "workload": [{"rw": "randwrite", "block_size": "64 KiB", "outstanding": 32}],
        "run": {"warm_up": "10 ms", "duration": "50 ms"},
    }
    scenario = build_scenario(tree)
    result = what_if(scenario, simulate(scenario))
    assert result.what_if is not None
    gains = [each for case in result.what_if for each in case["results"]]
    assert gains and all(each["still_filling"] for each in gains)
    page = html_report(result)
    assert page.count("(cache still filling)") == len(gains)
    tree["workload"][0]["rw"] = "randread"
    scenario = build_scenario(tree)
    reads = what_if(scenario, simulate(scenario)).what_if or ()
    assert not any(each["still_filling"] for case in reads for each in case["results"])
