"""What the settings of a controller mean for its arrays: cache policies, the short path.

What is not set follows the mode "Data Protection" of such controllers: adaptive read-ahead,
write-back where the cache outlives an outage and write-through where not, direct I/O. An array on
the short path has no read-ahead, write-through and direct I/O instead. Of an array in the host the
controller sees single drives, whose commands it passes on bypassing its cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault
from raidlab.devices.levels import ArrayLevel, facts
from raidlab.scenarios.spec.caching import OWN_KEYS, CacheSettings
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import ArrayTable, ControllerTable

_HOLD_NS = {"none": 0, "bbu": 72 * 3600 * 10**9, "fbu": 2**59}
"""How long the cache outlives an outage: a charged battery for three days, flash for good."""

_BYPASS = {"write": "write-through", "read_ahead": "none", "io_cache": "direct"}
"""The settings of an array bypassing the cache."""

FAST_LEVELS = tuple(level for level in get_args(ArrayLevel) if not facts(level).parities)
"""Levels that the short path of a controller serves, on flash."""


def backup_of(spec: ControllerSpec, settings: ControllerTable) -> str:
    """What keeps the cache through an outage: as set, or the best that the controller has."""
    if spec.cache is None:
        return "none"
    if settings.backup is not None:
        return settings.backup
    return next((kind for kind in ("fbu", "bbu") if kind in spec.cache.backup), "none")


def policy(
    spec: ControllerSpec, settings: ControllerTable, *, short: bool = False
) -> dict[str, Any] | None:
    """The cache policy of an array in the plan's form; None without a cache.

    `short` is true if the short path is asked for and serves such arrays.
    """
    if spec.cache is None:
        return None
    safe = backup_of(spec, settings) != "none"
    if short:
        defaults = tuple(_BYPASS.values())
    else:
        defaults = ("write-back" if safe else "write-through", "adaptive", "direct")
    write = settings.write or defaults[0]
    if write == "write-back" and not safe:
        write = "write-through"
    return {
        "write": write.replace("-", "_"),
        "read_ahead": settings.read_ahead or defaults[1],
        "keep_reads": (settings.io_cache or defaults[2]) == "cached",
    }


def _bypasses_the_cache(plan: dict[str, Any] | None) -> bool:
    return plan is None or (
        plan["write"] == "write_through" and plan["read_ahead"] == "none" and not plan["keep_reads"]
    )


def cache_plan(
    spec: ControllerSpec | None, settings: ControllerTable | None, *, short: bool, in_host: bool
) -> dict[str, Any]:
    """What an array's entry in the plan says of the controller's cache and short path.

    `short` is true if the short path is asked for and serves such arrays, `in_host` if the host
    does the array's RAID work.
    """
    if spec is None or settings is None:
        return {}
    plan = None if in_host else policy(spec, settings, short=short)
    bypass = _bypasses_the_cache(plan)
    return {"cache": None if bypass else plan, "fast_path": short and bypass}


def without_cache(
    spec: ControllerSpec, settings: ControllerTable, key: str, array: ArrayTable, name: str
) -> Iterator[str]:
    """Settings of the cache, which an array in the host has no use of.

    Args:
        spec: The controller.
        settings: Those for the array.
        key: The array's, such as `array.0`.
        array: Its table.
        name: Of the array.
    """
    for setting, bypass in _BYPASS.items():
        if spec.cache is not None and getattr(settings, setting) not in (None, bypass):
            said = (
                f" on {name}, RAID in the host: the controller passes commands to its drives on,"
                " bypassing the cache"
            )
            own = array.mode is not None or getattr(array, setting) is not None
            yield no_effect(f"{key if own else 'controller'}.{setting}", said)


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
            if value not in (None, bypass):
                yield Fault(f"{key}.{setting}", value, f"left out: {spec.name} has no cache")


def controller_plan(
    spec: ControllerSpec, settings: ControllerTable, to_host: int | None
) -> dict[str, Any]:
    """The controller's entry in the plan, with its backup and its link to the host."""
    plan = spec.to_plan() | {"link": to_host}
    if plan["cache"] is not None:
        backup = backup_of(spec, settings)
        health = settings.battery_health if backup == "bbu" else 1
        plan["cache"] |= {"hold_ns": round(_HOLD_NS[backup] * health)}
    return plan


def settings_warnings(spec: ControllerSpec, settings: ControllerTable) -> Iterator[str]:
    """Settings that have no effect together with others."""
    if settings.battery_health != 1 and backup_of(spec, settings) != "bbu":
        yield no_effect("controller.battery_health", f" on {spec.name}: its backup is no battery")
    if settings.write == "write-back" and backup_of(spec, settings) == "none":
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
        yield no_effect("controller.fast_path", said)
