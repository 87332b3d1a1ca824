"""What the settings of a controller mean for its arrays: cache policies, the short path.

What is not set follows the mode "Data Protection" of such controllers: adaptive read-ahead,
write-back where the cache outlives an outage and write-through where not, direct I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raidlab.devices.controller import ControllerSpec
from raidlab.scenarios.schema import ArrayTable, ControllerTable

_HOLD_NS = {"none": 0, "bbu": 72 * 3600 * 10**9, "fbu": 2**62}
"""How long the cache outlives an outage: a charged battery for three days, flash for good."""

FAST_LEVELS = ("jbod", "independent", "raid0", "raid1", "raid10", "raid1e")
"""Levels that the short path of a controller serves."""


def backup_of(spec: ControllerSpec, settings: ControllerTable) -> str:
    """What keeps the cache through an outage: as set, or the best that the controller has."""
    if spec.cache is None:
        return "none"
    if settings.backup is not None:
        return settings.backup
    return next((kind for kind in ("fbu", "bbu") if kind in spec.cache.backup), "none")


def policy(spec: ControllerSpec, settings: ControllerTable) -> dict[str, Any] | None:
    """The cache policy in the plan's form; None without a cache or past it."""
    if spec.cache is None:
        return None
    safe = backup_of(spec, settings) != "none"
    if settings.fast_path:
        defaults = ("write-through", "none", "direct")
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


def _past_the_cache(plan: dict[str, Any] | None) -> bool:
    return plan is None or (
        plan["write"] == "write_through" and plan["read_ahead"] == "none" and not plan["keep_reads"]
    )


def cache_plan(
    table: ArrayTable, spec: ControllerSpec | None, settings: ControllerTable | None
) -> dict[str, Any]:
    """What an array's entry in the plan says of the controller's cache and short path."""
    if spec is None or settings is None:
        return {}
    plan = policy(spec, settings)
    past = _past_the_cache(plan)
    fast = settings.fast_path and past and table.level in FAST_LEVELS
    return {"cache": None if past else plan, "fast_path": fast}


def controller_plan(
    spec: ControllerSpec, settings: ControllerTable, to_host: int | None
) -> dict[str, Any]:
    """The controller's entry in the plan, with its backup and its link to the host."""
    plan = spec.to_plan() | {"link": to_host}
    if plan["cache"] is not None:
        plan["cache"] |= {"hold_ns": _HOLD_NS[backup_of(spec, settings)]}
    return plan


def settings_warnings(spec: ControllerSpec, settings: ControllerTable) -> Iterator[str]:
    """Settings that have no effect together with others."""
    if settings.write == "write-back" and backup_of(spec, settings) == "none":
        yield (
            f"controller {spec.name}: write-back falls to write-through, since nothing keeps the"
            " cache through an outage (backup)"
        )
    if (
        settings.fast_path
        and "fast_path" in spec.features
        and not _past_the_cache(policy(spec, settings))
    ):
        yield (
            "controller.fast_path: has no effect beside write-back, read-ahead or cached I/O;"
            ' it needs write = "write-through", read_ahead = "none", io_cache = "direct"'
        )
