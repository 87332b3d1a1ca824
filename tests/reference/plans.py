"""Plans of plain stations, for tests that need a system without a specification file."""

from __future__ import annotations

import json

from raidlab.devices.plan_types import WorkloadPlan


def station_plan(
    drives: int = 1,
    level: str = "jbod",
    service_ns: int = 100_000,
    unit: int = 65536,
    workloads: list[WorkloadPlan] | None = None,
) -> str:
    """An array of fixed-time stations of 1 GiB."""
    capacity = 1 << 30
    station = {
        "kind": "station",
        "capacity_bytes": capacity,
        "service_ns": service_ns,
        "distribution": "fixed",
        "servers": 1,
    }
    return json.dumps(
        {
            "seed": 1,
            "warm_up_ns": 0,
            "duration_ns": 1_000_000_000,
            "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
            "links": [],
            "controllers": [],
            "devices": [station],
            "drives": [
                {"name": f"drive {n}", "device": 0, "queue_depth": 0, "path": []}
                for n in range(drives)
            ],
            "arrays": [
                {
                    "name": "data",
                    "level": level,
                    "stripe_unit_bytes": unit,
                    "drives": list(range(drives)),
                    "controller": None,
                    "software": False,
                }
            ],
            "workloads": workloads or [],
        }
    )


def closed_load(outstanding: int, read_share: float = 1.0) -> WorkloadPlan:
    """Random 4 KiB I/Os over 256 MiB of the only array."""
    return {
        "name": "load",
        "array": 0,
        "threads": 1,
        "access": "random",
        "read_share": read_share,
        "block_bytes": 4096,
        "align_bytes": 4096,
        "area_start_bytes": 0,
        "area_bytes": 1 << 28,
        "arrival": {"kind": "closed", "outstanding": outstanding, "think_ns": 0},
    }
