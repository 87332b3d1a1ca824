"""`host_cache` of an array: the plan of an SSD cache that the host's own software keeps.

The engine's cache is the one of controllers (`cache_tier`), under the host's decisions.
docs/explanation/host-caches.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from raidlab.devices.levels import facts
from raidlab.devices.plan_types import TierPlan
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.file_systems import file_systems
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.ssd_cache import (
    COST_DATA,
    add_ssds,
    choose_ssds,
    has_disks,
    line_bytes,
    ssds_as_array,
    tier_name,
)
from raidlab.scenarios.spec.host_cache import HostCacheTable
from raidlab.scenarios.spec.schema import ArrayTable, DrivesTable

_HALF_LIFE_NS: Final = 3600 * 10**9
"""How often counts of accesses are halved. Assumed, as of controllers."""
_EVERY_READ: Final = 1
"""A cutoff that each I/O is beyond: reads bring nothing to the SSDs."""


def own_unit(table: ArrayTable) -> ArrayTable:
    """The array with the blocks of its cache for stripe units, which one drive has no use for."""
    cache = table.host_cache
    if cache is None or table.level != "jbod" or table.drive_count != 1:
        return table
    block = cache.block or cache.facts.block
    return ArrayTable.model_construct(**{**vars(table), "stripe_unit": block})


def add_host_cache(
    parts: Parts, key: str, name: str, table: ArrayTable, places: Sequence[int]
) -> None:
    """Adds the SSDs of an array's cache, and the cache's entry to the array's plan.

    Args:
        parts: Takes the SSDs, and faults.
        key: Of the array, for faults.
        name: Of the array.
        table: The array, with the cache's blocks for its units if it is one drive.
        places: Its place in the plan.
    """
    cache = table.host_cache
    if cache is None or not _may_have_one(parts, key, name, table, cache):
        return
    behind = parts.arrays[places[0]].get("controller")
    array = _add_ssds(parts, key, name, table, cache, behind)
    if array is not None:
        parts.arrays[places[0]]["tier"] = _plan(cache, array)
        parts.tiers[tier_name(name)] = array


def _add_ssds(
    parts: Parts,
    key: str,
    name: str,
    table: ArrayTable,
    cache: HostCacheTable,
    behind: int | None,
) -> int | None:
    """The SSDs of a cache as an array of the plan: its place there; None, and faults, if not."""
    key = f"{key}.host_cache"
    drives = tuple(DrivesTable(model=each.model, count=each.count) for each in cache.drives)
    array = ssds_as_array(name, cache.level, drives, line_bytes(table))
    chosen = choose_ssds(parts, key, array, None)
    if chosen is None or has_disks(parts, key, chosen):
        return None
    capacities = [drive.spec.capacity_bytes(options) for drive, options in chosen]
    if not usable_bytes(array.shape, array.stripe_unit, capacities):
        allowed = f"drives that hold a block of {format_size(array.stripe_unit)}"
        parts.faults.add(f"{key}.drives", format_size(min(capacities)), allowed)
        return None
    members = parts.attach(parts.with_history(key, array, capacities, chosen), behind)
    return add_ssds(parts, array, members, controller=None)


def _plan(cache: HostCacheTable, array: int) -> TierPlan:
    """`TierPlan` of the native engine."""
    kind = cache.facts
    mode = cache.mode or kind.modes[0]
    cutoff = kind.sequential_cutoff if cache.sequential_cutoff is None else cache.sequential_cutoff
    promotes = cache.promote_after or kind.promote_after
    return {
        "array": array,
        "write_back": mode == "writeback",
        "promote_after": promotes or 1,
        "half_life_ns": _HALF_LIFE_NS,
        "dirty_share": kind.dirty if cache.dirty is None else cache.dirty,
        "copies_at_once": kind.copies,
        "warm": cache.state == "warm",
        "host": {
            "through": mode == "writethrough",
            "allocates": kind.allocates and mode == "writeback",
            "reads_alone_promote": kind.reads_alone_promote,
            "sequential_cutoff_bytes": cutoff if promotes else _EVERY_READ,
        },
    }


def _may_have_one(
    parts: Parts, key: str, name: str, table: ArrayTable, cache: HostCacheTable
) -> bool:
    before = len(parts.faults.found)
    where = f"{key}.host_cache"
    single = table.level == "jbod" and table.drive_count == 1
    if not single and not (table.in_host and facts(table.level).striped):
        allowed = 'left out: it lies over one drive, or over an array with software_raid = "os"'
        parts.faults.add(where, table.level, allowed)
    if table.cache_tier is not None:
        parts.faults.add(where, None, "left out beside cache_tier: an array has one cache of SSDs")
    if not single and cache.block is not None:
        line = format_size(line_bytes(table))
        allowed = f"left out: of an array a block is the data of a stripe, {line} here"
        parts.faults.add(f"{where}.block", format_size(cache.block), allowed)
    said = file_systems(parts.scenario).get(name)
    if said is not None:
        allowed = "left out beside host_cache: where flushes go then is not modelled"
        parts.faults.add(said.key, said.table.type, allowed)
    for at, event in enumerate(parts.scenario.event):
        if event.action in COST_DATA:
            allowed = "left out beside host_cache: what failures cost its data is not modelled"
            parts.faults.add(f"event.{at}.action", event.action, allowed)
    return len(parts.faults.found) == before
