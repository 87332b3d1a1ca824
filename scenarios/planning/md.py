"""What Linux md, or device mapper above it, makes of an array in the host, for the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from raidlab.devices.faults import Faults
from raidlab.devices.host import HostSpec
from raidlab.devices.kernels import (
    Era,
    era_of,
    parse_version,
    shared_ns,
    tick_hz,
    unknown_version,
)
from raidlab.devices.levels import facts
from raidlab.devices.plan_types import ArrayPlan, MdPlan
from raidlab.devices.units import format_rate
from raidlab.scenarios.planning.file_systems import file_systems
from raidlab.scenarios.spec.schema import ArrayTable, ScenarioTable

SPEED_MAX: Final = 200_000 << 10
"""Bytes a second of each member unless said otherwise: md's `speed_limit_max` (drivers/md/md.c)."""
FLASH_BY_LOAD_FROM: Final = (5, 4)
"""The kernel from which RAID 10 reads of flash the copy with the fewest I/Os (e9eeba28a1e0)."""
_GROWS_FROM: Final = (4, 1)
"""The kernel from which the stripe cache grows by itself."""


def kernel_era(table: ScenarioTable, warnings: list[str]) -> Era | None:
    """The era of the host's kernel; None if the scenario does not say which it is."""
    version = parse_version(table.host.kernel or "")
    if version is None:
        return None
    nearest = unknown_version(version)
    if nearest:
        warnings.append(f"host.kernel: {table.host.kernel} is not known; it counts as {nearest}")
    return era_of(version)


def md_plan(
    key: str,
    table: ArrayTable,
    scenario: ScenarioTable,
    host: HostSpec | None,
    faults: Faults,
    warnings: list[str],
    *,
    flushed: bool,
) -> MdPlan:
    """`MdPlan` of the native engine, for an array in the host: only what differs from its defaults.

    Args:
        key: Of the array, for faults.
        table: The array.
        scenario: With the host's kernel, sockets and load threads.
        host: The host, if it was found.
        faults: Takes keys of arrays that are not md's, or have no parity.
        warnings: Takes keys without effect on this kernel.
        flushed: Whether anything may flush the array.
    """
    in_host, shape = table.in_host, facts(table.level)
    has_parity = in_host and shape.parities > 0
    for name in ("group_thread_cnt", "stripe_cache_size"):
        value = getattr(table, name)
        if value is not None and not has_parity:
            allowed = 'left out: only raid5 and raid6 with software_raid = "os" or "lvm" have one'
            faults.add(f"{key}.{name}", value, allowed)
    if table.sync_speed_min is not None and not (in_host and shape.is_redundant):
        allowed = 'left out: only redundant levels with software_raid = "os" or "lvm" have one;'
        faults.add(
            f"{key}.sync_speed_min",
            format_rate(round(table.sync_speed_min)),
            f"{allowed} see also rebuild_rate",
        )
    if not in_host or not shape.striped:
        return {}
    plan: MdPlan = {}
    if workers := (table.group_thread_cnt or 0) * scenario.host.sockets:
        # One thread for an array and, where md is asked for them, workers of each socket.
        plan["threads"] = 1 + workers
    era = kernel_era(scenario, [])
    cores = min(_load_threads(scenario), 1 if host is None else host.threads)
    if era is not None and cores > 1:
        dm = table.software_raid == "lvm"
        read, write = shared_ns(era, table.level, scenario.host.sockets, dm=dm)
        if read:
            plan["shared_read_ns"] = read
        if write:
            plan["shared_write_ns"] = write
    if era is not None and flushed:
        _pass_flushes(plan, era, scenario, host)
    if era is not None and shape.copies > 1 and _reads_flash_as_disks(scenario):
        plan["flash_as_disks"] = True
    if has_parity and (size := _stripe_cache(key, table, scenario, warnings)):
        plan["stripe_cache"] = size
    if table.sync_speed_min is not None:
        plan["least_bytes_per_s"] = round(table.sync_speed_min)
    return plan


def has_flushes(scenario: ScenarioTable) -> bool:
    """Whether a load or a job of a scenario may flush its arrays."""
    return bool(file_systems(scenario)) or any(
        load.makes_durable or load.job_file is not None for load in scenario.workload
    )


def _pass_flushes(plan: MdPlan, era: Era, scenario: ScenarioTable, host: HostSpec | None) -> None:
    """Says how flushes of an array pass md: a worker wakes up as a load thread does."""
    if era.flushes != "together":
        plan["flush_order"] = era.flushes
    if era.hands_flushes and host is not None:
        clock = scenario.host.clock
        hand = round(host.wake * (host.clock / clock if clock else 1.0))
        if hand:
            plan["flush_hand_ns"] = hand


def md_host_warnings(
    scenario: ScenarioTable, arrays: Iterable[ArrayPlan], *, volumes: bool
) -> Iterator[str]:
    """A kernel, sockets and an instance that change nothing of the plan.

    Args:
        scenario: What was written.
        arrays: Of the plan.
        volumes: Whether any drive is a cloud volume.
    """
    plans = [array["md"] for array in arrays if "md" in array]
    counted = any("shared_read_ns" in md or "shared_write_ns" in md for md in plans)
    keys = ("stripe_cache", "flash_as_disks", "flush_order", "flush_hand_ns")
    limited = any(key in md for md in plans for key in keys)
    kernel = scenario.host.kernel
    ticks = kernel is not None and tick_hz(kernel) != tick_hz("")
    limited |= ticks and bool(file_systems(scenario))
    if kernel is not None and not counted and not limited:
        why = "no counter of md ends the rate of an array here"
        if not any(array.in_host for array in scenario.array):
            why = 'only arrays with software_raid = "os" or "lvm" have costs by kernel'
        yield f"host.kernel: has no effect: {why}"
    if scenario.host.instance is not None and not volumes:
        yield "host.instance: has no effect: no drive is a cloud volume"
    workers = any("threads" in md for md in plans)
    if "sockets" in scenario.host.model_fields_set and not counted and not workers:
        yield "host.sockets: has no effect without `kernel` or `group_thread_cnt` of an array"


def _reads_flash_as_disks(scenario: ScenarioTable) -> bool:
    version = parse_version(scenario.host.kernel or "")
    return version is not None and version < FLASH_BY_LOAD_FROM


def _stripe_cache(key: str, table: ArrayTable, scenario: ScenarioTable, warnings: list[str]) -> int:
    """Stripes of the cache; 0 for the engine's own size."""
    era = kernel_era(scenario, [])
    asked = table.stripe_cache_size
    if era is not None and era.first >= _GROWS_FROM:
        if asked is not None:
            warnings.append(
                f"{key}.stripe_cache_size: has no effect on kernel {scenario.host.kernel}: since"
                " 4.1 the stripe cache grows while writes wait for it"
            )
        return 0
    return asked if asked is not None else (0 if era is None else era.stripe_cache)


def _load_threads(scenario: ScenarioTable) -> int:
    """Load threads of all workloads; those of a job file count as several."""
    loads = scenario.workload
    if not loads or any(load.job_file is not None for load in loads):
        return 2
    return sum(load.threads or scenario.host.threads for load in loads)


def sync_speed(key: str, table: ArrayTable, faults: Faults) -> int | None:
    """The pace of work in the background, in bytes a second: none if md does not set one.

    Args:
        key: Of the array, for faults.
        table: The array.
        faults: Takes a speed of an array that is not md's, or that has nothing to rebuild, and a
            minimum above the maximum.
    """
    if table.in_host and facts(table.level).is_redundant:
        most = round(table.sync_speed_max or SPEED_MAX)
        least = table.sync_speed_min
        if least is not None and least > most:
            allowed = f"at most sync_speed_max, {format_rate(most)}"
            faults.add(f"{key}.sync_speed_min", format_rate(round(least)), allowed)
        return most
    if table.sync_speed_max is not None:
        allowed = 'left out: only redundant levels with software_raid = "os" have one; see also'
        allowed += " rebuild_rate"
        faults.add(f"{key}.sync_speed_max", format_rate(round(table.sync_speed_max)), allowed)
    return None
