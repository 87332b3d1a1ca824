"""What the engine finds wrong with a plan, in the user's words: file, key, value, unit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raidlab.devices.catalogue import Device
from raidlab.devices.faults import About, Fault, SpecError
from raidlab.devices.plan_types import Plan
from raidlab.devices.trees import get
from raidlab.devices.units import format_duration, format_rate, format_size
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.events import asked_by
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.trees import EventTree

_KEYS = {"snapshot": "run.snapshot"}
"""What a user calls a key of the plan."""
_DEVICE_KEYS = {
    "unit": "mapping_unit",
    "reserved_blocks_per_plane": "nand.reserved_blocks",
    "parity_stripe": "nand.parity_stripe",
    "buffer": "buffer.size",
    "map_cache": "map_cache.size",
}
"""What a device file calls a key of its plan, without the unit, where the names differ."""
_UNITS: Mapping[str, Callable[[int], str]] = {
    "_bytes_per_s": format_rate,
    "_bytes": format_size,
    "_ns": format_duration,
}
"""Units that keys of a plan end with, and how a user writes such a number."""
_RAW = re.compile(r" ?\(\d{5,}\)")
"""A limit in the plan's unit, behind the same in words."""


class RefusedError(Exception):
    """The engine refused a plan: its position, and what the engine said."""

    def __init__(self, at: int, error: _engine.PlanError) -> None:
        super().__init__(at, error)
        self.at = at
        self.error = error


def plan_faults(
    error: _engine.PlanError,
    scenario: Scenario | None = None,
    *,
    plan: Plan | None = None,
) -> list[Fault]:
    """What the engine found wrong with a plan, each fault once and with the user's own key.

    Args:
        error: What the engine raised.
        scenario: Of which the plan is, if it is one's: names files, devices and events.
        plan: The plan, where there is no scenario.
    """
    base = plan if scenario is None else scenario.base
    path = "" if scenario is None else scenario.path
    events = [] if scenario is None else scenario.written.get("event", [])
    devices = {} if scenario is None else {each.spec.name: each for each in scenario.devices}
    found = []
    for key, value, allowed, about in error.args[0]:
        part, number, rest = (*key.split(".", 2), "", "")[:3]
        known = _KEYS.get(key.rpartition(".")[2])
        if key == "plan":
            found.append(other_engine(allowed, path))
        elif known:
            found.append(Fault(known, value, allowed, (), path))
        elif part == "devices" and number.isdigit():
            found.append(_of_device(int(number), (rest, value, allowed), base, devices, path))
        elif part == "events" and number.isdigit():
            found.append(_of_event(int(number), (key, value, allowed), events, path))
        else:
            fault = _with_unit(key, value, allowed, path)
            found.append(replace(fault, about=About(about)))
    return list(dict.fromkeys(found))


def other_engine(why: str, path: str = "") -> Fault:
    """The engine was built from other sources: what it does not know, or does not give."""
    version = _engine.version()
    allowed = f"run make setup: the engine is of version {version} and older than this code ({why})"
    return Fault("engine", version, allowed, (), path)


def _of_device(
    number: int,
    said: tuple[str, Any, str],
    base: Plan | None,
    devices: Mapping[str, Device],
    path: str,
) -> Fault:
    """A fault of a device: by its own file, where it is known, else by its first drive's name."""
    key, value, allowed = said
    of = () if base is None else base["drives"]
    drives = (drive["name"] for drive in of if drive["device"] == number)
    name = next(drives, f"devices.{number}")
    drive = drive_name(name)
    fault = _with_unit(key, value, allowed, path)
    fault = replace(fault, key=_DEVICE_KEYS.get(fault.key, fault.key))
    if drive is None or drive.model not in devices:
        return Fault(f"{name}: {fault.key}", fault.value, fault.allowed, (), path)
    device = devices[drive.model]
    written = get(device.written, fault.key)
    stands = written if isinstance(written, str | int | float) else fault.value
    return Fault(fault.key, stands, fault.allowed, (), str(device.path))


def _of_event(
    number: int, said: tuple[str, Any, str], events: Sequence[EventTree], path: str
) -> Fault:
    """A fault of an event, of which several of the plan's may be one of the file's."""
    key, value, allowed = said
    asked = asked_by([event["action"] for event in events])
    if number >= len(asked):
        return Fault(key, value, allowed, (), path)
    at, own = asked[number], key.split(".", 2)[2].removesuffix("_bytes")
    return Fault(f"event.{at}.{own}", events[at].get(own, value), allowed, (), path)


def _with_unit(key: str, value: Any, allowed: str, path: str) -> Fault:
    """A fault whose key says the unit of its value, with both as a user has them."""
    for ending, text in _UNITS.items():
        if key.endswith(ending):
            whole = str(value).removeprefix("-")
            shown = text(int(value)) if whole.isdecimal() and len(whole) < 20 else value
            return Fault(key.removesuffix(ending), shown, _plain(allowed), (), path)
    return Fault(key, value, _plain(allowed), (), path)


def _plain(allowed: str) -> str:
    """A message without the plan's units in names, and without limits counted in them."""
    for ending in _UNITS:
        allowed = re.sub(rf"\b(\w+?){ending}\b", r"\1", allowed)
    return _RAW.sub("", allowed)


def capacities(plan: Plan, scenario: Scenario | None = None) -> list[int]:
    """Bytes of each drive of a plan.

    Raises:
        SpecError: What the engine finds wrong with it.
    """
    try:
        found: list[int] = json.loads(_engine.capacities(json.dumps(plan)))
    except _engine.PlanError as error:
        raise SpecError(plan_faults(error, scenario, plan=plan)) from None
    return found
