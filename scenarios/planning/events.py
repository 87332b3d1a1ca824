"""What happens at given times: `[[event]]` of a scenario becomes the plan's events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidlab.devices.levels import facts
from raidlab.devices.plan_types import ArrayPlan, EventPlan
from raidlab.devices.units import format_duration, format_size
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.spares import left_failed
from raidlab.scenarios.planning.ssd_cache import tier_name
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import EventTable, RunTable, ScenarioTable

_OF_A_DRIVE = ("fail-drive", "slow-drive", "unreadable-sectors", "replace-drive")
_OF_AN_ARRAY = ("patrol-read", "consistency-check")
_REBUILDS = frozenset(("fail-drive", "replace-drive"))
"""Events that a rebuild or a copyback may follow."""
ACTIONS = (*_OF_A_DRIVE, *_OF_AN_ARRAY, "power-fail", "battery-learn")
"""What can happen, by its name in a scenario."""

_KEYS = {
    "fail-drive": ("array", "drive"),
    "replace-drive": ("array", "drive"),
    "slow-drive": ("array", "drive", "extra"),
    "unreadable-sectors": ("array", "drive", "offset", "size"),
    "patrol-read": ("array",),
    "consistency-check": ("array",),
    "power-fail": ("lasts",),
    "battery-learn": ("lasts",),
    "move-hot-spot": ("workload", "start"),
}
"""What else an event may have than `at` and `action`, by its action."""


@dataclass(frozen=True)
class Event:
    """Something that happens, without its time; times in nanoseconds, sizes in bytes."""

    action: str
    array: int = 0
    """The plan's array."""
    drive: int = 0
    """Which of its drives; spares are behind the others."""
    extra: int = 10_000_000
    offset: int = 0
    size: int = 4096
    lasts: int = 60_000_000_000


def drives_of(array: ArrayPlan) -> list[int]:
    """The plan's drives of an array, spares behind the others."""
    return [*array["drives"], *array.get("spares", [])]


def plan_actions(planned: Event, arrays: Sequence[ArrayPlan]) -> list[EventPlan]:
    """The plan's actions of an event, each with its delay in nanoseconds as its time."""
    what = planned.action
    if what == "patrol-read":
        return [{"at_ns": 0, "action": "patrol_read", "array": planned.array}]
    if what == "consistency-check":
        return [{"at_ns": 0, "action": "consistency_check", "array": planned.array}]
    if what == "power-fail":
        return [{"at_ns": 0, "action": "power_fail", "off_ns": planned.lasts}]
    if what == "battery-learn":
        cached = {array["controller"] for array in arrays if array.get("cache") is not None}
        ready: list[tuple[int, bool]] = [(0, False), (planned.lasts, True)]
        return [
            {"at_ns": at, "action": "backup_ready", "controller": controller, "ready": then}
            for at, then in ready
            for controller in sorted(at for at in cached if at is not None)
        ]
    drive = drives_of(arrays[planned.array])[planned.drive]
    if what == "slow-drive":
        extra = planned.extra
        return [{"at_ns": 0, "action": "slow_drive", "drive": drive, "extra_ns": extra}]
    if what == "unreadable-sectors":
        return [
            {
                "at_ns": 0,
                "action": "unreadable_sectors",
                "drive": drive,
                "offset_bytes": planned.offset,
                "bytes": planned.size,
            }
        ]
    if what == "replace-drive":
        return [{"at_ns": 0, "action": "replace_drive", "drive": drive}]
    return [{"at_ns": 0, "action": "fail_drive", "drive": drive}]


def asked_by(actions: Sequence[str]) -> list[int]:
    """For each of the plan's events, in their order, the number of the one that a file asks for."""
    counts = [2 if action == "battery-learn" else 1 for action in actions]
    return [at for at, count in enumerate(counts) for _ in range(count)]


def plan_events(table: ScenarioTable, parts: Parts) -> list[EventPlan]:
    """The plan's events; faults for those that cannot happen in this system."""
    events: list[EventPlan] = []
    end = table.run.least_warm_up + table.run.duration
    happen = [event for event in table.event if event.at < end]
    for at, event in enumerate(table.event):
        _without_effect(f"event.{at}", event, parts)
        if event.at >= end:
            text = (
                f"event.{at}: {event.action} at {format_duration(event.at)} does not happen, the"
                f" run ends at {format_duration(end)} (run.warm_up and run.duration)"
            )
            parts.warnings.append(Coded(text, Code.EVENT_AFTER_END, f"event.{at}"))
        for action in _actions(f"event.{at}", event, table, parts):
            action["at_ns"] = _simulated(event.at + action["at_ns"], table.run)
            events.append(action)
    _within_another_outage(table, parts)
    parts.warnings += _without_copy(happen, table, parts)
    parts.unrebuilt = dict(_without_rebuild(happen, table, parts))
    parts.warnings += _without_background(happen, table)
    if any(event.action == "power-fail" for event in happen):
        parts.warnings += [_forgets(name) for name in parts.volatile]
    return events


def _without_effect(key: str, event: EventTable, parts: Parts) -> None:
    """Faults for keys that mean nothing to an event's action."""
    may = ("at", "action", *_KEYS[event.action])
    for name in sorted(event.model_fields_set.difference(may)):
        value = getattr(event, name)
        if name in ("extra", "lasts"):
            value = format_duration(value)
        elif name in ("offset", "size", "start"):
            value = format_size(value)
        allowed = f"left out: {event.action} has {', '.join(may)}"
        parts.faults.add(f"{key}.{name}", value, allowed)


def _within_another_outage(table: ScenarioTable, parts: Parts) -> None:
    """Faults for power failures while the power is off."""
    outages = [(e.at, n, e.lasts) for n, e in enumerate(table.event) if e.action == "power-fail"]
    back = 0
    for at, number, lasts in sorted(outages):
        if at < back:
            allowed = f"at least {format_duration(back)}: until then the power is off"
            parts.faults.add(f"event.{number}.at", format_duration(at), allowed)
        back = max(back, at + lasts)


def _simulated(at: int, run: RunTable) -> int:
    """The simulated instant, in ns, that stands for a time of the run."""
    return min(at, run.least_warm_up) + max(0, at - run.least_warm_up) // run.time_lapse


def _actions(
    key: str, event: EventTable, table: ScenarioTable, parts: Parts
) -> Iterator[EventPlan]:
    """The plan's actions of an event, each with its delay in nanoseconds as its time."""
    if event.action == "move-hot-spot":
        yield from _move(key, event, table, parts)
        return
    planned = _event(key, event, table, parts)
    if planned is not None:
        yield from plan_actions(planned, parts.arrays)


def _event(key: str, event: EventTable, table: ScenarioTable, parts: Parts) -> Event | None:
    array = drive = 0
    if event.action in _OF_A_DRIVE or event.action in _OF_AN_ARRAY:
        found = _arrays(key, event, parts)
        places = [(at, n) for at in found for n in range(len(drives_of(parts.arrays[at])))]
        if not places:
            return None
        array, drive = places[min(event.drive, len(places) - 1)]
        plan = parts.arrays[array]
        if event.action in _OF_A_DRIVE and event.drive >= len(places):
            name = _named(event, parts)
            allowed = f"a drive of {name}: 0 to {len(places) - 1}, spares behind the others"
            parts.faults.add(f"{key}.drive", event.drive, allowed)
            return None
        if event.action == "unreadable-sectors" and array not in parts.refused:
            size = parts.bytes_of_drive[drives_of(plan)[drive]]
            if event.offset >= size:
                allowed = f"on the drive: below {format_size(size)}"
                parts.faults.add(f"{key}.offset", format_size(event.offset), allowed)
                return None
        if event.action in _OF_AN_ARRAY and not facts(plan["level"]).is_redundant:
            text = (
                f"{key}: {event.action} has no effect on {_named(event, parts)}: without redundancy"
                " there is nothing to compare with or repair from"
            )
            parts.warnings.append(Coded(text, Code.NO_EFFECT, key))
    if event.action == "battery-learn":
        cache = any(plan.get("cache") is not None for plan in parts.arrays)
        if not table.controller or not cache:
            parts.faults.add(f"{key}.action", event.action, "a controller whose cache is used")
            return None
        policies = (plan.get("cache") for plan in parts.arrays)
        if all(policy is None or policy["write"] != "write_back" for policy in policies):
            text = (
                f"{key}: battery-learn has no effect: write-back alone waits for the battery, and"
                " no array is in that mode, which needs a controller.backup"
            )
            parts.warnings.append(Coded(text, Code.NO_EFFECT, key))
    return Event(event.action, array, drive, event.extra, event.offset, event.size, event.lasts)


def _that_fail(events: Sequence[EventTable], parts: Parts) -> list[str]:
    """Names of the arrays and tiers of which drives fail."""
    only = next(iter(parts.offered), "")
    return list(dict.fromkeys(e.array or only for e in events if e.action == "fail-drive"))


def _plan_of(name: str, parts: Parts) -> ArrayPlan | None:
    """The plan's array of that name, the first of several; None of a tier."""
    indices, _ = parts.offered.get(name, ([], None))
    return parts.arrays[indices[0]] if indices else None


def _without_copy(
    events: Sequence[EventTable], table: ScenarioTable, parts: Parts
) -> Iterator[str]:
    """Drives that fail and are all that has their data."""
    for name in _that_fail(events, parts):
        if name in parts.tiers:
            yield from _without_tier(name, parts)
        plan = _plan_of(name, parts)
        if plan is not None and not facts(plan["level"]).is_redundant:
            level = next(
                array.level for at, array in enumerate(table.array) if table.array_name(at) == name
            )
            text = f"array {name}: a failed drive takes its data with it, {level} keeps no copy"
            yield Coded(text, Code.DATA_AT_RISK, name)


def _without_rebuild(
    events: Sequence[EventTable], table: ScenarioTable, parts: Parts
) -> Iterator[tuple[str, list[str]]]:
    """Drives that fail with nobody to take their place, not even after the end of the run.

    A warning of them holds for an array that bears the failures: the run will show.
    """
    only = next(iter(parts.offered), "")
    counts = [e for e in table.event if e in events or e.action == "replace-drive"]
    for name in _that_fail(events, parts):
        plan = _plan_of(name, parts)
        if plan is None or not facts(plan["level"]).is_redundant:
            continue
        own = [event for event in counts if (event.array or only) == name]
        spread = plan.get("declustered")
        spares = len(plan.get("spares", [])) + (spread["spares"] if spread else 0)
        left = left_failed(own, len(plan["drives"]), spares)
        yield (
            name,
            [
                Coded(
                    f"array {name}: no rebuild after drive {drive} has failed: there is neither a"
                    " hot spare left (hot_spares) nor a new drive (an event replace-drive)",
                    Code.NO_REBUILD,
                    name,
                )
                for drive in left
            ],
        )


def _without_background(events: Sequence[EventTable], table: ScenarioTable) -> Iterator[str]:
    """Settings of rebuilds and checks in a run without any."""
    actions = {event.action for event in events}
    if not actions & _REBUILDS and table.run.after_rebuild:
        yield no_effect("run.after_rebuild", ": no event has data rebuilt")
    if not actions & {*_REBUILDS, *_OF_AN_ARRAY}:
        for at, array in enumerate(table.array):
            if "rebuild_rate" in array.model_fields_set:
                key = f"array.{at}.rebuild_rate"
                yield no_effect(key, ": no event has data rebuilt or checked")


def _without_tier(name: str, parts: Parts) -> Iterator[str]:
    """A tier that has no copy of what it holds."""
    above = next(
        tier
        for plan in parts.arrays
        if (tier := plan.get("tier")) is not None and tier["array"] == parts.tiers[name]
    )
    if not facts(parts.arrays[parts.tiers[name]]["level"]).is_redundant and above["write_back"]:
        text = (
            f"array {name}: a failed drive takes the tier with it, and the lines that are dirty"
            " there"
        )
        yield Coded(text, Code.DATA_AT_RISK, name)


def _forgets(array: str) -> str:
    text = (
        f"array {array}: when the power fails, its drives' own caches lose writes that they have"
        " acknowledged, whatever the controller's backup keeps (disk_cache, write_cache = false)"
    )
    return Coded(text, Code.DATA_AT_RISK, array)


def _move(key: str, event: EventTable, table: ScenarioTable, parts: Parts) -> Iterator[EventPlan]:
    names = [load.name or f"workload-{at}" for at, load in enumerate(table.workload)]
    hot = {name: at for at, name in enumerate(names) if table.workload[at].hot_spot is not None}
    name = event.workload or (next(iter(hot)) if len(hot) == 1 else "")
    if name not in hot:
        allowed = f"the name of a workload with a hot_spot: {', '.join(hot) or 'there is none'}"
        parts.faults.add(f"{key}.workload", event.workload or None, allowed, list(hot))
        return
    load = table.workload[hot[name]]
    yield {
        "at_ns": 0,
        "action": "move_hot_spot",
        "workload": hot[name],
        "start_bytes": load.area_start + event.start,
    }


def _named(event: EventTable, parts: Parts) -> str:
    """The array that an event is about: the only one, if it names none."""
    return event.array or (next(iter(parts.offered)) if len(parts.offered) == 1 else "")


def _arrays(key: str, event: EventTable, parts: Parts) -> list[int]:
    """The plan's arrays of an event's array: several, of drives that are loaded each on its own."""
    name = _named(event, parts)
    if name in parts.tiers:
        return [parts.tiers[name]]
    not_laid_out = [array for array, (indices, _) in parts.offered.items() if not indices]
    if name in map(tier_name, not_laid_out):
        return []
    if name not in parts.offered:
        known = [*parts.offered, *parts.tiers]
        allowed = f"the name of an array: {', '.join(known)}"
        parts.faults.add(f"{key}.array", event.array or None, allowed, known)
        return []
    return parts.offered[name][0]
