"""The controllers of a scenario: what each is, what is set, and which arrays are behind it.

One `[controller]` serves all arrays. Of several `[[controller]]` each serves the arrays that name
it; the others hang on the host itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault, Faults
from raidlab.devices.host import HostSpec
from raidlab.devices.plan_types import ArrayPlan, ControllerPlan
from raidlab.devices.schema import check
from raidlab.scenarios.planning.caching import (
    cache_faults,
    controller_plan,
    memory_of,
    settings_warnings,
)
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.spec.caching import ControllerTable, settled
from raidlab.scenarios.spec.schema import ArrayTable, ScenarioTable
from raidlab.scenarios.spec.trees import ControllerTree, ScenarioTree

_NAMED = 8
"""Controllers that a message names."""


@dataclass(frozen=True)
class Behind:
    """A controller, as an array behind it finds it."""

    at: int
    """Which of the plan's."""
    key: str
    """Of its table in the file."""
    spec: ControllerSpec | None
    """None, and a fault, if there is no such model."""
    settings: ControllerTable

    @property
    def name(self) -> str:
        """What reports call it."""
        of_model = self.key if self.spec is None else self.spec.name
        return self.settings.name or (
            of_model if self.key == "controller" else f"controller-{self.at}"
        )

    def serving(self, array: ArrayTable) -> Behind:
        """With the array's own settings in the place of the controller's."""
        memory = memory_of(self.spec, self.settings)
        return replace(self, settings=settled(self.settings, memory, array))


def controller_tables(tree: ScenarioTree) -> list[ControllerTree]:
    """The tables of a scenario's controllers, to read or to change."""
    written = tree.get("controller", [])
    return written if isinstance(written, list) else [written]


def check_scenario(tree: Mapping[str, object], faults: Faults) -> ScenarioTable | None:
    """A scenario's tables; a lone `[controller]` is a list of one, but for its faults' keys."""
    alone = tree.get("controller")
    if alone is None or isinstance(alone, list | tuple):
        return check(ScenarioTable, tree, faults)
    if not isinstance(alone, Mapping):
        rest = {key: value for key, value in tree.items() if key != "controller"}
        table, faults.written = check(ScenarioTable, rest, faults), tree
        allowed = "a table: [controller]; several are [[controller]]"
        faults.add("controller", str(alone), allowed)
        return table
    table = check(ScenarioTable, {**tree, "controller": [alone]}, faults)
    faults.written = tree
    faults.found = [
        replace(fault, key=fault.key.replace("controller.0", "controller", 1))
        if fault.key.startswith("controller.0")
        else fault
        for fault in faults.found
    ]
    return table


def find_controllers(table: ScenarioTable, parts: Parts) -> list[Behind]:
    """Every controller, with faults and warnings of its settings."""
    found: list[Behind] = []
    for at, (key, settings) in enumerate(table.controllers()):
        spec = parts.find(f"{key}.model", settings.model, ControllerSpec)
        each = Behind(at, key, spec, settings)
        if any(each.name == other.name for other in found):
            parts.faults.add(f"{key}.name", each.name, "a name that no other controller has")
        found.append(each)
        if spec is not None:
            of_all = settled(settings, memory_of(spec, settings))
            parts.warnings += settings_warnings(key, spec, of_all)
            parts.faults.extend(_settings_faults(key, settings, spec))
    if parts.host is not None:
        parts.faults.extend(_place_faults(parts.host, found))
    return found


def _place_faults(host: HostSpec, controllers: Sequence[Behind]) -> Iterator[Fault]:
    """More controllers than a host has slots for; onboard ones of a second chipset."""
    cards = [each for each in controllers if each.spec and not each.spec.raid_in_host]
    onboard = [each for each in controllers if each.spec and each.spec.raid_in_host]
    for each in onboard[1:]:
        allowed = (
            f"a card: the host {host.name} has one chipset, whose onboard controller is"
            f" {onboard[0].name}"
        )
        yield Fault(f"{each.key}.model", each.settings.model, allowed)
    # The controllers of a remote target are in no slot of the host.
    if host.slots is not None and host.network is None and len(cards) > host.slots:
        models = Counter(each.spec.name for each in cards if each.spec is not None)
        value = ", ".join(f"{count} {name}" for name, count in models.items())
        names = [each.name for each in cards]
        listed = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        allowed = (
            f"at most {host.slots}: the host {host.name} has {host.slots} PCIe"
            f" slot{'' if host.slots == 1 else 's'} for controllers (`slots` of its file), and"
            f" {listed} take one each"
        )
        yield Fault("controller", value, allowed)


def _settings_faults(key: str, settings: ControllerTable, spec: ControllerSpec) -> Iterator[Fault]:
    yield from cache_faults(key, settings, spec, behind=True)
    if settings.fast_path and "fast_path" not in spec.features:
        yield Fault(f"{key}.fast_path", True, f"false: {spec.name} has no FastPath")
    backups = ("none",) if spec.cache is None else spec.cache.backup
    if settings.backup is not None and settings.backup not in backups:
        allowed = f"what {spec.name} has: {', '.join(backups)}"
        yield Fault(f"{key}.backup", settings.backup, allowed, backups)
    if settings.battery_health != 1 and "bbu" not in backups:
        lacks = "cache" if spec.cache is None else "battery (bbu)"
        value = f"{100 * settings.battery_health:g} %"
        yield Fault(f"{key}.battery_health", value, f"left out: {spec.name} has no {lacks}")


def controller_of(
    at: int, table: ScenarioTable, controllers: list[Behind], faults: Faults
) -> Behind | None:
    """What an array is behind; None on the host itself.

    Args:
        at: Which array.
        table: The scenario.
        controllers: All of it.
        faults: Takes a name that no controller has, and arrays that name none of several.
    """
    array, names = table.array[at], [each.name for each in controllers]
    if all(other.controller is None for other in table.array):
        if len(controllers) > 1:
            allowed = f"the name of a [[controller]]: {', '.join(names)}"
            faults.add(f"array.{at}.controller", None, allowed, names)
        return next((each.serving(array) for each in controllers), None)
    for each in controllers:
        if each.name == array.controller:
            return each.serving(array)
    if array.controller is not None:
        allowed = f"the name of a [[controller]]: {', '.join(names)}" if names else "left out"
        faults.add(f"array.{at}.controller", array.controller, allowed, names)
    return None


def controller_plans(
    found: Sequence[tuple[str, ControllerSpec]],
    controllers: Sequence[Behind],
    to_host: Sequence[int],
    arrays: Sequence[ArrayPlan],
) -> list[ControllerPlan]:
    """The controllers of the plan.

    Args:
        found: Their names and specifications.
        controllers: Their settings.
        to_host: Their links to the host.
        arrays: Those of the plan: a chipset's driver has memory for those that it reads ahead.
    """
    cached = {array.get("controller") for array in arrays if array.get("cache") is not None}
    return [
        controller_plan(name, spec, each.settings, link, ahead=each.at in cached)
        for (name, spec), each, link in zip(found, controllers, to_host, strict=True)
    ]
