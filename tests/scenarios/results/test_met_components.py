"""What is busy beside the path of a load does not hold it up."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab.scenarios.results.bottleneck import behind, limits
from raidlab.scenarios.running.simulate import simulate

Tree = dict[str, Any]


def _array(name: str, count: int, model: str, **more: object) -> Tree:
    return {"name": name, "drives": [{"model": model, "count": count}]} | more


def _rows(arrays: list[Tree], workloads: list[Tree], **more: object):
    """One row for each of two loads; both recorded for 0.2 s."""
    scenario = {
        "host": {"model": "rx300-s7"},
        "array": arrays,
        "workload": workloads,
        "run": {"duration": "0.2 s", "warm_up": "0.1 s", "precondition": "filled"},
    }
    return simulate(scenario | more).summary()


IDLE = {"name": "few", "target": "idle", "rw": "randread", "block_size": "4 KiB"}
BUSY = {"name": "many", "target": "busy", "rw": "randread", "block_size": "4 KiB"}


def test_cores_of_another_controller_are_not_met():
    arrays = [
        _array("idle", 2, "sas-6g-hdd", level="raid0", controller="fast"),
        _array("busy", 8, "sas-6g-ssd", level="raid0", controller="slow"),
    ]
    controllers = [
        {"name": "fast", "model": "lsi2208-1g-3.0"},
        {"name": "slow", "model": "lsi2108"},
    ]
    loads = [IDLE | {"rate": "5 IO/s"}, BUSY | {"outstanding": 256, "threads": 4}]
    few, many = _rows(arrays, loads, controller=controllers)
    assert limits(many) == "slow cores 100 %"
    assert limits(few).startswith("none")
    met = {each["name"] for each in behind(few["components"], "idle", "few")}
    assert {"fast", "fast memory", "fast PCIe 3.0 x8", "host thread 0"} <= met
    assert not {name for name in met if name.startswith(("slow", "busy"))}
    assert "host thread 1" not in met


def test_threads_of_another_load_are_not_met():
    """A load has a thread for each of its four drives: 4 is the first of the other load."""
    arrays = [_array(name, 4, "p3700-800", level="independent") for name in ("idle", "busy")]
    loads = [IDLE | {"rate": "5 IO/s"}, BUSY | {"outstanding": 512}]
    few, many = _rows(arrays, loads)
    assert limits(many) == "host thread 4 100 %"
    names = [each["name"] for each in behind(few["components"], "idle", "few")]
    assert [name for name in names if name.endswith(" firmware")] == [
        f"idle/p3700-800.{drive} firmware" for drive in range(4)
    ]
    assert limits(few).startswith("none")


@pytest.mark.parametrize("part", ["parity thread", "bitmap"])
def test_what_md_does_for_another_array_is_not_met(part):
    raid = {"level": "raid5", "software_raid": "os", "bitmap": "internal"}
    arrays = [_array(name, 4, "sas-6g-hdd", **raid) for name in ("idle", "busy")]
    loads = [IDLE | {"rate": "5 IO/s"}, BUSY | {"rw": "randwrite", "outstanding": 32}]
    few, many = _rows(arrays, loads)
    for row, own, other in ((few, "idle", "busy"), (many, "busy", "idle")):
        met = {each["name"] for each in behind(row["components"], own, row["workload"])}
        assert f"{own} {part}" in met
        assert f"{other} {part}" not in met


def test_one_load_on_one_array_meets_all():
    """Results say who meets a component only where some do not."""
    arrays = [_array("busy", 2, "sas-6g-hdd", level="raid0", software_raid="os")]
    (row,) = _rows(arrays, [BUSY | {"outstanding": 4}])
    assert all("arrays" not in each and "loads" not in each for each in row["components"])
