"""What the settings of a controller mean for its arrays: cache policies, the short path.

What is not set follows the mode "Data Protection" of such controllers: adaptive read-ahead,
write-back where the cache outlives an outage and write-through where not, direct I/O. An array on
the short path has no read-ahead, write-through and direct I/O instead. Of an array in the host the
controller sees single drives, whose commands it passes on bypassing its cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from raidlab.devices.controller import Cache, ControllerSpec
from raidlab.devices.faults import Fault
from raidlab.devices.levels import ArrayLevel, facts
from raidlab.devices.plan_types import ControllerPlan, PolicyPlan, WritePolicy
from raidlab.scenarios.spec.caching import (
    OWN_KEYS,
    CacheSettings,
    ControllerTable,
    Memory,
    WriteMode,
)
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import ArrayTable

_HOLD_NS = {"none": 0, "bbu": 72 * 3600 * 10**9, "fbu": 2**59}
"""How long the cache outlives an outage: a charged battery for three days, flash for good."""

_WRITE: Final[Mapping[WriteMode, WritePolicy]] = {
    "write-through": "write_through",
    "write-back": "write_back",
    "always-write-back": "always_write_back",
}

_BYPASS = {"write": "write-through", "read_ahead": "none", "io_cache": "direct"}
"""The settings of an array bypassing the cache."""

_READ_AHEAD_ALONE: Final[PolicyPlan] = {
    "write": "write_through",
    "read_ahead": "behind_each",
    "keep_reads": False,
}
"""What a chipset's driver does with its memory."""

FAST_LEVELS = tuple(level for level in get_args(ArrayLevel) if not facts(level).parities)
"""Levels that the short path of a controller serves, on flash."""


def backup_of(spec: ControllerSpec, settings: ControllerTable) -> str:
    """What keeps the cache through an outage: as set, or the best that the controller has."""
    if spec.cache is None:
        return "none"
    if settings.backup is not None:
        return settings.backup
    return next((kind for kind in ("fbu", "bbu") if kind in spec.cache.backup), "none")


def memory_of(spec: ControllerSpec | None, settings: ControllerTable) -> Memory:
    """The controller's cache, as far as a mode depends on it."""
    if spec is None or spec.cache is None:
        return Memory.NONE
    return Memory.BARE if backup_of(spec, settings) == "none" else Memory.BACKED


def reads_ahead(spec: ControllerSpec | None, settings: CacheSettings | None) -> bool:
    """True if a chipset's driver reads ahead for an array with these settings."""
    has_it = spec is not None and spec.read_ahead is not None
    return has_it and settings is not None and settings.read_ahead == "always"


def policy(
    spec: ControllerSpec, settings: ControllerTable, *, short: bool = False
) -> PolicyPlan | None:
    """The cache policy of an array in the plan's form; None without a cache.

    A chipset's driver has read-ahead alone.

    `short` is true if the short path is asked for and serves such arrays.
    """
    if spec.cache is None:
        return _READ_AHEAD_ALONE if reads_ahead(spec, settings) else None
    safe = memory_of(spec, settings) is Memory.BACKED
    write_default: WriteMode = "write-back" if safe and not short else "write-through"
    write: WriteMode = settings.write or write_default
    if write == "write-back" and not safe:
        write = "write-through"
    return {
        "write": _WRITE[write],
        "read_ahead": settings.read_ahead or ("none" if short else "adaptive"),
        "keep_reads": settings.io_cache == "cached",
    }


def _bypasses_the_cache(plan: PolicyPlan | None) -> bool:
    return plan is None or (
        plan["write"] == "write_through" and plan["read_ahead"] == "none" and not plan["keep_reads"]
    )


def cache_plan(
    spec: ControllerSpec | None, settings: ControllerTable | None, *, short: bool, in_host: bool
) -> tuple[PolicyPlan | None, bool] | None:
    """How the controller's cache serves an array, and whether it takes the short path.

    None without a controller.

    `short` is true if the short path is asked for and serves such arrays, `in_host` if the host
    does the array's RAID work.
    """
    if spec is None or settings is None:
        return None
    plan = None if in_host else policy(spec, settings, short=short)
    bypass = _bypasses_the_cache(plan)
    return None if bypass else plan, short and bypass


def without_cache(
    spec: ControllerSpec,
    settings: ControllerTable,
    keys: tuple[str, str],
    array: ArrayTable,
    name: str,
) -> Iterator[str]:
    """Settings of the cache, which an array in the host has no use of.

    Args:
        spec: The controller.
        settings: Those for the array.
        keys: The controller's and the array's, such as `array.0`.
        array: Its table.
        name: Of the array.
    """
    for setting, bypass in _BYPASS.items():
        # What a controller has not was refused before.
        if getattr(settings, setting) not in (None, bypass):
            said = (
                f" on {name}, RAID in the host: the controller passes commands to its drives on,"
                " bypassing the cache"
            )
            own = array.mode is not None or getattr(array, setting) is not None
            yield no_effect(f"{keys[own]}.{setting}", said)


def cache_faults(
    key: str, table: CacheSettings, spec: ControllerSpec | None, *, behind: bool
) -> Iterator[Fault]:
    """Settings that a controller has not.

    Args:
        key: Of the table, such as `controller` or `array.0`.
        table: It has the settings.
        spec: The controller; None if it was not found, or there is none.
        behind: True if the scenario has one.
    """
    if not behind:
        for setting in OWN_KEYS:
            value = getattr(table, setting)
            if value is not None:
                yield Fault(f"{key}.{setting}", value, "left out: there is no [controller]")
    elif spec is not None and spec.cache is None:
        for setting, bypass in _BYPASS.items():
            value = getattr(table, setting)
            if value in (None, bypass):
                continue
            if setting != "read_ahead" or spec.read_ahead is None:
                yield Fault(f"{key}.{setting}", value, f"left out: {spec.name} has no cache")
            elif value != "always":
                allowed = f"none or always: the driver of {spec.name} reads ahead always, or never"
                yield Fault(f"{key}.{setting}", value, allowed)


def controller_plan(
    name: str, spec: ControllerSpec, settings: ControllerTable, to_host: int, *, ahead: bool
) -> ControllerPlan:
    """The controller's entry in the plan, with its backup and its link to the host.

    `ahead` is true if a chipset's driver reads ahead for one of its arrays.
    """
    plan = spec.to_plan()
    if ahead and spec.read_ahead is not None:
        plan["cache"] = Cache.model_construct(size=spec.read_ahead).to_plan()
    plan["name"], plan["link"] = name, to_host
    if (cache := plan.get("cache")) is not None:
        backup = backup_of(spec, settings)
        health = settings.battery_health if backup == "bbu" else 1
        cache["hold_ns"] = round(_HOLD_NS[backup] * health)
    return plan


def settings_warnings(key: str, spec: ControllerSpec, settings: ControllerTable) -> Iterator[str]:
    """Settings that have no effect together with others, of the table at `key`."""
    has_battery = spec.cache is not None and "bbu" in spec.cache.backup
    if settings.battery_health != 1 and has_battery and backup_of(spec, settings) != "bbu":
        said = f' beside backup = "{settings.backup}": the battery is not used'
        yield no_effect(f"{key}.battery_health", said)
    if settings.write == "write-back" and memory_of(spec, settings) is Memory.BARE:
        text = (
            f"controller {spec.name}: write-back falls to write-through, since nothing keeps the"
            " cache through an outage (backup)"
        )
        yield Coded(text, Code.WRITE_THROUGH, spec.name)
    if (
        settings.fast_path
        and "fast_path" in spec.features
        and not _bypasses_the_cache(policy(spec, settings, short=True))
    ):
        said = (
            " beside write-back, read-ahead or cached I/O;"
            ' it needs write = "write-through", read_ahead = "none", io_cache = "direct"'
        )
        yield no_effect(f"{key}.fast_path", said)
