"""How fast Linux' md lets a rebuild or a check of an array in the host go."""

from __future__ import annotations

from raidlab.devices.faults import Faults
from raidlab.devices.levels import facts
from raidlab.devices.units import format_rate
from raidlab.scenarios.spec.schema import ArrayTable

SPEED_MAX = 200_000 << 10
"""Bytes a second of each member unless said otherwise: md's `speed_limit_max` (drivers/md/md.c)."""


def sync_speed_plan(key: str, table: ArrayTable, faults: Faults) -> dict[str, int]:
    """The pace of work in the background, for an array's plan: nothing if md does not set one.

    Args:
        key: Of the array, for faults.
        table: The array.
        faults: Takes a speed of an array that is not md's, or that has nothing to rebuild.
    """
    if table.software_raid == "os" and facts(table.level).is_redundant:
        return {"background_bytes_per_s": round(table.sync_speed_max or SPEED_MAX)}
    if table.sync_speed_max is not None:
        allowed = 'left out: only redundant levels with software_raid = "os" have one; see also'
        allowed += " rebuild_rate"
        faults.add(f"{key}.sync_speed_max", format_rate(round(table.sync_speed_max)), allowed)
    return {}
