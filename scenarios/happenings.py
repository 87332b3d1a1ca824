"""What happens at given times: `[[event]]` of a scenario becomes the plan's events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raidlab.scenarios.parts import Parts
from raidlab.scenarios.schema import EventTable, RunTable, ScenarioTable

_OF_A_DRIVE = ("fail-drive", "slow-drive", "unreadable-sectors", "replace-drive")
_OF_AN_ARRAY = ("patrol-read", "consistency-check")


def happenings(table: ScenarioTable, parts: Parts) -> list[dict[str, Any]]:
    """The plan's events; faults for those that cannot happen in this system."""
    events: list[dict[str, Any]] = []
    for at, event in enumerate(table.event):
        for action in _actions(f"event.{at}", event, table, parts):
            happened = {"at_ns": event.at} | action
            events.append(happened | {"at_ns": _simulated(happened["at_ns"], table.run)})
    return events


def _simulated(at: int, run: RunTable) -> int:
    """The simulated instant, in ns, that stands for a time of the run."""
    return min(at, run.warm_up) + max(0, at - run.warm_up) // run.time_lapse


def _actions(
    key: str, event: EventTable, table: ScenarioTable, parts: Parts
) -> Iterator[dict[str, Any]]:
    action = event.action.replace("-", "_")
    if event.action in _OF_A_DRIVE or event.action in _OF_AN_ARRAY:
        array = _array(key, event, parts)
        if array is None:
            return
        plan = parts.arrays[array]
        if event.action in _OF_AN_ARRAY:
            yield {"action": action, "array": array}
            return
        drives = [*plan["drives"], *plan.get("spares", [])]
        if event.drive >= len(drives):
            allowed = f"a drive of {plan['name']}: 0 to {len(drives) - 1}, spares behind the others"
            parts.faults.add(f"{key}.drive", event.drive, allowed)
            return
        extra: dict[str, Any] = {"action": action, "drive": drives[event.drive]}
        if event.action == "slow-drive":
            extra["extra_ns"] = event.extra
        if event.action == "unreadable-sectors":
            extra |= {"offset_bytes": event.offset, "bytes": event.size}
        yield extra
    elif event.action == "power-fail":
        parts.warnings += [_forgets(name) for name in parts.volatile]
        yield {"action": action, "off_ns": event.lasts}
    elif event.action == "move-hot-spot":
        yield from _move(key, event, table, parts)
    elif event.action == "battery-learn":
        cache = any(plan.get("cache") is not None for plan in parts.arrays)
        if table.controller is None or not cache:
            parts.faults.add(f"{key}.action", event.action, "a controller whose cache is used")
            return
        yield {"action": "backup_ready", "controller": 0, "ready": False}
        yield {"at_ns": event.at + event.lasts, **_ready()}


def _forgets(array: str) -> str:
    return (
        f"array {array}: when the power fails, its drives' own caches lose what they have told to"
        " be written, whatever the controller's backup keeps (disk_cache, write_cache = false)"
    )


def _move(
    key: str, event: EventTable, table: ScenarioTable, parts: Parts
) -> Iterator[dict[str, Any]]:
    names = [load.name or f"workload-{at}" for at, load in enumerate(table.workload)]
    hot = {name: at for at, name in enumerate(names) if table.workload[at].hot_spot is not None}
    name = event.workload or (next(iter(hot)) if len(hot) == 1 else "")
    if name not in hot:
        allowed = f"the name of a workload with a hot_spot: {', '.join(hot) or 'there is none'}"
        parts.faults.add(f"{key}.workload", event.workload or None, allowed, list(hot))
        return
    load = table.workload[hot[name]]
    yield {
        "action": "move_hot_spot",
        "workload": hot[name],
        "start_bytes": load.area_start + event.start,
    }


def _ready() -> dict[str, Any]:
    return {"action": "backup_ready", "controller": 0, "ready": True}


def _array(key: str, event: EventTable, parts: Parts) -> int | None:
    known = list(parts.offered)
    name = event.array or (known[0] if len(known) == 1 else "")
    if name not in parts.offered or len(parts.offered[name][0]) != 1:
        allowed = f"the name of an array: {', '.join(known)}"
        parts.faults.add(f"{key}.array", event.array or None, allowed, known)
        return None
    return parts.offered[name][0][0]
