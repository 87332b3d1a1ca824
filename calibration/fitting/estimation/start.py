"""What a fit begins with: the device's tree and its sources, the host, the system around it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from raidlab.calibration.fitting.bench.system import System
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.parameters.facts import FACT_KEYS, bound
from raidlab.calibration.fitting.parameters.kinds import KINDS, kind_of
from raidlab.calibration.fitting.parameters.parameter import Kind, number_of
from raidlab.calibration.fitting.parameters.system_kinds import CONTROLLER_TABLE, UNKNOWN
from raidlab.calibration.fitting.search.prior import Prior
from raidlab.devices.catalogue import KINDS as DEVICE_KINDS
from raidlab.devices.catalogue import find_for, load_device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DeviceSpec, DriveOptions, DriveSpec, check, read_toml
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.trees import Tree, Value, copied, get, put
from raidlab.devices.units import is_quantity
from raidlab.scenarios.planning.scenario import build_scenario

_OWN = {
    "kind": "left out: --kind says it",
    "name": "left out: --name says it",
    "title": "left out: the title says what the device was fitted to",
}
"""Keys of a device file that `--set` does not set."""


def system_of(kind: Kind, settings: Settings) -> System | None:
    """The system around the component; None for a drive behind a host."""
    if settings.system:
        if settings.host:
            allowed = "left out: the scenario of --system has its own"
            raise SpecError([Fault("--host", settings.host, allowed)])
        return System.of(settings.system, kind, settings.like)
    if kind.needs:
        allowed = f"a scenario file of the system around it: --kind {settings.kind} needs one"
        raise SpecError([Fault("--system", None, allowed)])
    return None


def hosts_of(kind: Kind, settings: Settings, system: System | None) -> list[Tree]:
    """The trees of the hosts to try: the named one, or the usual one and others of its kind."""
    if system is not None or settings.host:
        return [host_of(kind, settings, system)]
    return [host_of(kind, replace(settings, host=name), None) for name in (kind.host, *kind.hosts)]


def host_of(kind: Kind, settings: Settings, system: System | None) -> Tree:
    """The host's tree."""
    name = settings.host or kind.host
    behind = system.host if system else find_for("--host", name, HostSpec)
    if not isinstance(behind.spec, HostSpec):
        allowed = f"a host; this is a {behind.spec.kind}"
        raise SpecError([Fault("--host", settings.host, allowed)])
    return copied(behind.written)


def base_of(
    kind: Kind, settings: Settings, measured: str, system: System | None
) -> tuple[Tree, Tree]:
    """The tree to start from, and the sources of what is not fitted."""
    if system is not None:
        device = system.device
    else:
        device = find_for("--like", settings.like) if settings.like else load_device(kind.template)
    if device.spec.kind != kind.name:
        allowed = f"a device of kind {kind.name}; this is a {device.spec.kind}"
        raise SpecError([Fault("--like", settings.like, allowed)])
    tree = copied(device.written)
    for own in ("aliases", "fitted_behind"):
        tree.pop(own, None)
    sources: Tree = {}
    for key, source in device.sources.items():
        stated: Tree = {"source": source.source}
        if source.source == "fitted":
            stated |= {"stderr": source.stderr, "measurement": source.measurement}
        if source.note:
            stated["note"] = source.note
        if source.range is not None:
            stated["range"] = list(source.range)
        sources[key] = stated
    for key, default in (system.left_out() if system else {}).items():
        put(tree, key, default)
        sources[key] = {"source": "assumed", "note": "what the model takes if nothing is said"}
    if system is not None and system.controller is not None:
        tree[CONTROLLER_TABLE] = copied(system.controller.written)
    if isinstance(device.spec, SsdSpec) and settings.facts:
        _with_room(tree, device.spec, settings)
    for key, value in settings.overrides.items():
        _override(tree, key, value)
        if not isinstance(value, str) or is_quantity(value):
            sources[key] = {"source": "data-sheet", "note": "as given for the calibration"}
    tree["name"] = settings.name or name_of(measured)
    tree["title"] = f"{tree.get('title', device.spec.name)}, fitted to {measured}"
    _check(kind, tree, settings)
    return tree, sources


def kind_for(settings: Settings) -> Kind:
    """The kind to fit, whose flash has blocks for the capacity that is known.

    Raises:
        SpecError: There is no such kind.
    """
    kind = kind_of(settings.kind)
    known = bound(settings.kind, settings.facts).get("capacity")
    template = None if known is None or kind.needs else load_device(kind.template).spec
    if not isinstance(template, SsdSpec):
        return kind
    ratio = number_of(known) / template.capacity_bytes(DriveOptions())
    key = "nand.blocks_per_plane"
    modes = tuple(
        replace(
            mode,
            options=tuple(
                replace(option, values={**option.values, key: _blocks(option.values[key], ratio)})
                if key in option.values
                else option
                for option in mode.options
            ),
        )
        for mode in kind.modes
    )
    return replace(kind, modes=modes)


def _blocks(blocks: Value, ratio: float) -> int:
    return max(8, math.ceil(number_of(blocks) * ratio))


def _with_room(tree: Tree, spec: SsdSpec, settings: Settings) -> None:
    """Blocks for the capacity that is known."""
    known = settings.overrides.get("capacity")
    if known is not None:
        ratio = number_of(known) / spec.capacity_bytes(DriveOptions())
        put(tree, "nand.blocks_per_plane", _blocks(spec.nand.blocks_per_plane, ratio))


def kind_of_device(spec: DeviceSpec) -> str:
    """The kind that a device is fitted as: flash behind PCIe is `nvme`."""
    link = spec.link() if isinstance(spec, SsdSpec) else None
    return "nvme" if link is not None and link.family == "pcie" else spec.kind


def kind_in(path: str) -> str:
    """The kind of the drives of a scenario whose drives are known by name.

    Raises:
        SpecError: It cannot be read, or its drives are unknown, of several kinds, or none.
    """
    tree = read_toml(Path(path))
    unknown = {UNKNOWN: load_device(kind_of("station").template)}
    scenario = build_scenario(tree, Path(path), unknown)
    drives = {
        kind_of_device(device.spec)
        for name, device in scenario.models.items()
        if name != UNKNOWN and isinstance(device.spec, DriveSpec)
    }
    if len(drives) != 1 or UNKNOWN in scenario.models:
        of = f"the drives of --system are {', '.join(sorted(drives)) or UNKNOWN}"
        raise SpecError([Fault("--kind", None, f"one of {', '.join(KINDS)}: {of}")])
    return drives.pop()


def known_of(system: System | None) -> frozenset[str]:
    """Keys of facts that the system's device states, as `raidlab discover` reads them."""
    if system is None:
        return frozenset()
    sources = system.device.sources
    return frozenset(
        key
        for key in FACT_KEYS
        if key in sources and sources[key].source in ("measured", "data-sheet", "published")
    )


def prior_of(settings: Settings) -> Prior | None:
    """What the device to start from knows of its numbers; None for a template."""
    if not settings.like:
        return None
    device = find_for("--like", settings.like)
    return Prior(device.written, device.sources)


def _override(tree: Tree, key: str, value: Any) -> None:
    """Sets what `--set` says, where the device file has a place for it."""
    allowed = _OWN.get(key)
    path = key.split(".")
    for depth in range(1, len(path)):
        above = ".".join(path[:depth])
        at = get(tree, above)
        if isinstance(at, list) and get(tree, f"{above}.{path[depth]}") is None:
            allowed = f"an entry from {above}.0 to {above}.{len(at) - 1}"
        elif not isinstance(at, dict | list | None):
            allowed = f"{above} is a value and no table"
        if allowed is not None:
            break
    if allowed is not None:
        raise SpecError([Fault(key, value, allowed, (), "--set")])
    put(tree, key, value)


def _check(kind: Kind, tree: Mapping[str, Value], settings: Settings) -> None:
    """The file to start from was in order: what is wrong now is what options say."""
    faults = Faults()
    alone = {key: value for key, value in tree.items() if key != CONTROLLER_TABLE}
    check(DEVICE_KINDS[kind.name], alone, faults)
    named = [replace(fault, key="--name") for fault in faults.found if fault.key == "name"]
    rest = [replace(fault, file="--set") for fault in faults.found if fault.key != "name"]
    if named or rest:
        raise SpecError([*named, *rest])


def name_of(text: str) -> str:
    """A device's name of a measurement's: small letters, figures, dots, pluses and hyphens."""
    allowed = "".join(c if c.isalnum() or c in ".+-" else "-" for c in text.lower()).strip("-.+")
    return f"{allowed or 'device'}-fitted"
