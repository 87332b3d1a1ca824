"""No setting is silent: it changes the plan, or a fault or a warning says that it does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.spec.caching import ControllerTable
from raidlab.scenarios.spec.schema import (
    ArrayTable,
    DrivesTable,
    HostTable,
    RunTable,
    WorkloadTable,
)

CLOSED = {"rw": "randrw", "block_size": "4 KiB", "outstanding": 8}
OPEN = {"rw": "randread", "block_size": "4 KiB", "rate": "100 IO/s"}
DISKS = [{"model": "generic-7200rpm", "count": 4}]
SAS = [{"model": "sas-6g-hdd", "count": 4}]
FLASH = [{"model": "p3700-800", "count": 4}]
JOB = "[a]\nrw=randread\nbs=4k\nsize=1g\niodepth=4\nruntime=1\n"
BASES: dict[str, dict[str, Any]] = {
    "flash": {"host": {"model": "nvme"}, "array": [{"drives": FLASH}], "workload": [CLOSED]},
    "disks": {"array": [{"drives": DISKS}], "workload": [CLOSED]},
    "independent": {"array": [{"level": "independent", "drives": DISKS}], "workload": [CLOSED]},
    "raid5": {
        "controller": {"model": "lsi2208-1g"},
        "array": [{"level": "raid5", "drives": SAS}],
        "workload": [CLOSED],
    },
    "md": {
        "host": {"model": "nvme"},
        "array": [{"level": "raid5", "software_raid": "os", "drives": FLASH}],
        "workload": [CLOSED],
    },
    "open": {"array": [{"drives": DISKS}], "workload": [OPEN]},
    "open-independent": {
        "array": [{"level": "independent", "drives": DISKS}],
        "workload": [OPEN],
    },
    "profile": {
        "array": [{"drives": DISKS}],
        "workload": [{"profile": "database", "outstanding": 4}],
    },
    "application": {
        "array": [{"drives": DISKS}],
        "workload": [{"profile": "oltp", "rate": "50 IO/s"}],
    },
    "fio": {"array": [{"drives": DISKS}], "workload": [{"fio": "job.fio"}]},
    "buffered": {
        "host": {"model": "linux-2.6.32-8gb"},
        "array": [{"drives": DISKS}],
        "workload": [CLOSED | {"rw": "read", "buffered": True, "threads": 8, "area": "8 GB"}],
    },
}
WORKLOAD: dict[str, list[Any]] = {
    "name": ["other"],
    "target": ["other"],
    "profile": ["file-copy"],
    "rw": ["randwrite"],
    "read_share": ["60 %"],
    "block_size": ["16 KiB"],
    "align": ["1 KiB"],
    "area": ["7 GB"],
    "area_start": ["1 GiB"],
    "threads": [3],
    "outstanding": [5],
    "per": ["drive", "system"],
    "think_time": ["1 ms"],
    "think": ["exponential"],
    "rate": ["60 IO/s"],
    "arrivals": ["constant"],
    "limit": ["500 IO/s"],
    "client_link": ["1250 MB/s"],
    "burst": ["1 s"],
    "weight": [3],
    "priority": ["high"],
    "buffered": [True],
    "passes": [2],
    "distribution": ["zipf"],
    "compressible": ["50 %"],
    "hot_spot": ["1 GiB"],
    "hot_share": ["50 %"],
    "hot_start": ["1 GiB"],
    "hot_beyond": ["cut"],
    "area_beyond": ["cut"],
    "fio": ["other.fio"],
    "goal": ["p99 < 20 ms"],
    "trace": ["none.csv"],
    "trace_format": ["csv"],
    "trace_columns": ["time=a:s"],
    "trace_volume": ["a"],
    "trace_beyond": ["wrap"],
    "trace_slower": [2.0],
    "trace_timing": ["pauses"],
    "monitoring": ["none.json"],
    "monitoring_from": ["2026-11-27T10:00:00"],
    "monitoring_for": ["1 h"],
    "monitoring_scale": [2.0],
    "monitoring_bursts": ["none"],
    "monitoring_sequential": ["none"],
    "monitoring_member": [2],
    "fsync": [1],
    "fdatasync": [1],
    "sync": [True],
    "o_dsync": [True],
    "append": [True],
    "file_system": ["xfs"],
}
ARRAY: dict[str, list[Any]] = {
    "count": [2],
    "name": ["other"],
    "controller": ["other"],
    "level": ["raid0"],
    "drives": [[{"model": "null"}]],
    "stripe_unit": ["128 KiB"],
    "spans": [3],
    "declustered": [{"stripe_width": 4}],
    "used": ["10 GB"],
    "hot_spares": [1],
    "hot_spare_model": ["sas-6g-hdd"],
    "rebuild_rate": ["50 %"],
    "shared_depth": [8],
    "software_raid": ["os"],
    "bitmap": ["internal"],
    "bitmap_chunk": ["32 MiB"],
    "read_balance": ["shortest-queue"],
    "layout": ["far2"],
    "host_cache": [{"kind": "bcache", "drives": [{"model": "s4610-480"}]}],
    "cache_tier": [{"drives": [{"model": "sas2-ssd-400gb"}]}],
    "history": [[{"rw": "randwrite"}]],
    "file_system": ["ext4"],
    "sync_speed_max": ["10 MB/s"],
    "sync_speed_min": ["5 MB/s"],
    "group_thread_cnt": [2],
    "stripe_cache_size": [64],
    "link": ["slot"],
    "mode": ["performance"],
    "write": ["write-through"],
    "read_ahead": ["none"],
    "io_cache": ["cached"],
    "disk_cache": [False],
}
DRIVE: dict[str, list[Any]] = {
    "model": ["null"],
    "count": [6],
    "format": ["none"],
    "write_cache": [False],
    "cooling": ["none"],
    "size": ["1 TB"],
    "iops": [5000],
    "throughput": ["500 MB/s"],
    "ncq": [False],
    "link": ["slot"],
}
HOST: dict[str, list[Any]] = {
    "model": ["e5-2637-v3"],
    "threads": [4],
    "clock": ["1 GHz"],
    "c_states": ["haswell"],
    "deepest_c_state": ["C1E"],
    "kernel": ["3.10"],
    "sockets": [2],
    "instance": ["r5b.large"],
}
CONTROLLER: dict[str, list[Any]] = {
    "name": ["other"],
    "model": ["lsi2108"],
    "mode": ["performance", "fast-path-optimum"],
    "write": ["write-through", "always-write-back"],
    "read_ahead": ["none", "always"],
    "io_cache": ["cached"],
    "disk_cache": [False],
    "fast_path": [True],
    "backup": ["none", "bbu"],
    "battery_health": ["50 %"],
}
RUN: dict[str, list[Any]] = {
    "warm_up": ["3 s"],
    "state": ["sustained"],
    "duration": ["4 s"],
    "max_ios": [1000],
    "precision": ["5 %"],
    "after_rebuild": ["1 s"],
    "precondition": ["filled", "steady-state"],
    "filled": ["100 GB"],
    "snapshot": ["none.state"],
    "replications": [2],
    "seed": [7],
    "time_lapse": [2],
    "timeline_step": ["50 ms"],
}
TABLES: list[tuple[type, tuple[str | int, ...], Mapping[str, list[Any]]]] = [
    (WorkloadTable, ("workload", 0), WORKLOAD),
    (ArrayTable, ("array", 0), ARRAY),
    (DrivesTable, ("array", 0, "drives", 0), DRIVE),
    (HostTable, ("host",), HOST),
    (ControllerTable, ("controller",), CONTROLLER),
    (RunTable, ("run",), RUN),
]
SAME = (
    {("flash", "per", "system"), ("disks", "per", "system"), ("raid5", "per", "system")}
    | {(base, "per", "system") for base in ("md", "profile", "buffered")}
    | {("raid5", "mode", "performance")}
)
"""Defaults in words."""
HOLDS_ANYWAY = {("independent", "per", "drive"), ("buffered", "area_beyond", "cut")}


def said(tree: Mapping[str, Any], path: Path) -> tuple[str, tuple[str, ...]] | None:
    """The plans, and the warnings; None if the scenario is refused."""
    try:
        built: Scenario = build_scenario(tree, path)
    except SpecError:
        return None
    plans = [built.plan(point, 0) for point in range(built.points)]
    rest = [built.seed, built.replications, built.goals, built.snapshot]
    names = [(each.name, each.target) for each in built.workloads]
    return json.dumps([plans, rest, names], sort_keys=True, default=str), built.warnings


def changes() -> Iterator[tuple[str, tuple[str | int, ...], str, Any]]:
    for base, tree in BASES.items():
        for _, where, values in TABLES:
            if where[0] == "controller" and "controller" not in tree:
                continue
            for key, options in values.items():
                yield from ((base, where, key, value) for value in options)


@pytest.mark.parametrize(("table", "where", "values"), TABLES, ids=lambda each: str(each)[:40])
def test_every_key_is_tried(table: Any, where: Any, values: Mapping[str, Any]) -> None:
    assert set(values) == set(table.model_fields)


def test_a_setting_has_an_effect_or_is_reported(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOB)
    (tmp_path / "other.fio").write_text(JOB.replace("4k", "8k"))
    path = tmp_path / "scenario.toml"
    bases = {name: said(tree, path) for name, tree in BASES.items()}
    assert None not in bases.values()
    silent = []
    for base, where, key, value in changes():
        tree = copy.deepcopy(BASES[base])
        at: Any = tree
        for step in where:
            at = at.setdefault(step, {}) if isinstance(step, str) else at[step]
        if at.get(key) == value:
            continue
        at[key] = value
        if said(tree, path) == bases[base] and (base, key, value) not in SAME | HOLDS_ANYWAY:
            silent.append((base, ".".join(map(str, where)), key, value))
    assert silent == []


@pytest.mark.parametrize(
    ("base", "per", "fault"),
    [
        ("open", "drive", "`per` says what `outstanding` counts for"),
        ("open-independent", "drive", "`per` says what `outstanding` counts for"),
        ("independent", "system", "on independent drives `outstanding` counts per drive"),
    ],
)
def test_per_that_counts_nothing_is_refused(base: str, per: str, fault: str) -> None:
    tree = copy.deepcopy(BASES[base])
    tree["workload"][0]["per"] = per
    with pytest.raises(SpecError, match=f'workload.0.per = "{per}".*{fault}'):
        build_scenario(tree)


@pytest.mark.parametrize("level", ["jbod", "independent"])
def test_drives_of_one_array_have_one_interface(level: str) -> None:
    drives = [{"model": "sas-6g-hdd"}, {"model": "s4610-480"}]
    tree = {"array": [{"level": level, "drives": drives}], "workload": [CLOSED]}
    with pytest.raises(SpecError, match=r"array.0.drives = .*\(SAS\), s4610-480 \(SATA\)"):
        build_scenario(tree)


def test_a_stripe_unit_of_independent_drives_is_a_warning() -> None:
    tree = copy.deepcopy(BASES["independent"])
    tree["array"][0]["stripe_unit"] = "128 KiB"
    assert "array.0.stripe_unit: has no effect on independent" in build_scenario(tree).warnings
