"""Two controllers with eight arrays of different settings: rates add up, links are shared."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from raidlab import simulate
from raidlab.scenarios.results.bottleneck import limits

Tree = dict[str, Any]

CONTROLLERS = {"c0": "lsi2208-1g-3.0", "c1": "lsi2108"}
SETTINGS: dict[str, Tree] = {
    "ssds": {"level": "raid0", "mode": "fast-path-optimum"},
    "parity": {"level": "raid5", "mode": "data-protection"},
    "mirrors": {"level": "raid10", "io_cache": "cached"},
    "pair": {"level": "raid1", "write": "write-through", "disk_cache": False},
}
DRIVES = {"ssds": ("sas-6g-ssd", 8), "parity": ("sas-6g-hdd", 4)} | {
    "mirrors": ("sas-6g-hdd", 4),
    "pair": ("sas-6g-hdd", 2),
}


def _array(controller: str, name: str) -> Tree:
    model, count = DRIVES[name]
    drives = {"drives": [{"model": model, "count": count}], "controller": controller}
    return {"name": f"{controller}-{name}"} | drives | SETTINGS[name]


@cache
def _rates(*controllers: str) -> tuple[dict[str, float], dict[str, str]]:
    """IO/s of each array and what bounds it; four arrays behind each of these controllers."""
    arrays = [_array(controller, name) for controller in controllers for name in SETTINGS]
    load = {"profile": "database", "area": "8 GB", "threads": 8, "outstanding": 32}
    result = simulate(
        {
            "host": {"model": "rx300-s7"},
            "controller": [{"name": name, "model": CONTROLLERS[name]} for name in controllers],
            "array": arrays,
            "workload": [load | {"name": each["name"], "target": each["name"]} for each in arrays],
            "run": {"precondition": "filled", "warm_up": "2 s", "duration": "4 s"},
        }
    )
    rows = result.summary()
    rates = {row["workload"]: row["iops"] for row in rows}
    return rates, {row["workload"]: limits(row) for row in rows}


def test_each_half_has_the_rate_that_it_has_alone():
    both, _ = _rates("c0", "c1")
    assert len(both) == 8
    alone = _rates("c0")[0] | _rates("c1")[0]
    fast = {name for name in both if name.endswith("ssds")}
    for name, rate in both.items():
        # 4 s of disks are some thousand I/Os: their rates scatter by 2 to 3 %.
        assert rate == pytest.approx(alone[name], rel=0.02 if name in fast else 0.1), name
    assert sum(both.values()) == pytest.approx(sum(alone.values()), rel=0.02)


def test_settings_are_those_of_the_array_and_limits_those_of_its_controller():
    rates, bounds = _rates("c0", "c1")
    assert bounds["c1-ssds"].startswith("c1 cores")
    assert not any("c1" in bounds[name] for name in bounds if name.startswith("c0"))
    for controller in CONTROLLERS:
        assert rates[f"{controller}-parity"] < 0.1 * rates[f"{controller}-ssds"]


def test_two_arrays_share_the_ports_of_one_controller_and_not_those_of_two():
    def together(first: str, second: str) -> float:
        arrays = [_array(first, "ssds"), _array(second, "ssds") | {"name": "other"}]
        load = {"rw": "read", "block_size": "64 KiB", "outstanding": 64, "area": "8 GB"}
        result = simulate(
            {
                "host": {"model": "rx300-s7"},
                "controller": [{"name": name, "model": "lsi2208-1g-3.0"} for name in CONTROLLERS],
                "array": arrays,
                "workload": [load | {"target": each["name"]} for each in arrays],
                "run": {"precondition": "filled", "warm_up": "0.2 s", "duration": "0.5 s"},
            }
        )
        return sum(row["iops"] for row in result.summary())

    one, two = together("c0", "c0"), together("c0", "c1")
    assert two > 1.3 * one
