"""A known system around the component that is to be found: `--system scenario.toml`.

The scenario describes host, controller, arrays and drives as always. One device of it is the one
that a fit changes: the controller, the host, or the drives of a kind. Where the scenario calls it
`unknown` it begins as its kind's template, else as the device that is named there. Drives may be
fitted together with their controller, if that is called `unknown-controller`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raidlab.calibration.fitting.bench.bench import Bench
from raidlab.calibration.fitting.bench.scenario_bench import bench_of, check_load
from raidlab.calibration.fitting.parameters.parameter import Kind, number_of
from raidlab.calibration.fitting.parameters.system_kinds import (
    CONTROLLER_TEMPLATE,
    OF_CONTROLLER,
    UNKNOWN,
    UNKNOWN_CONTROLLER,
)
from raidlab.devices.catalogue import Device, find_for, load_device
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.levels import facts
from raidlab.devices.schema import DeviceSpec, read_toml
from raidlab.devices.trees import Value, get
from raidlab.scenarios.planning.scenario import Scenario, build_scenario

_HOW: Mapping[str, str] = {
    "controller": "a [controller] before the array",
    "write-back": 'a [controller] whose cache takes writes: write = "always-write-back"',
    "tier": "an array with a cache_tier",
    "os-raid": 'an array with software_raid = "os"',
}
"""How a scenario has what a kind needs."""


@dataclass(frozen=True)
class System:
    """A scenario around a component.

    Attributes:
        scenario: With the device that the fit begins with.
        component: The component's name in the scenario.
        kind: What is looked for.
        own: Devices of the scenario that no file holds.
    """

    scenario: Scenario
    component: str
    kind: Kind
    own: Mapping[str, Device]

    @staticmethod
    def of(
        path: str | Path,
        kind: Kind,
        like: str = "",
        tree: Mapping[str, Value] | None = None,
        own: Mapping[str, Device] | None = None,
    ) -> System:
        """The system of a scenario file.

        Args:
            path: The file.
            kind: What is looked for in it.
            like: Device to begin with instead of the one that the scenario names.
            tree: What the file holds, if it has been read.
            own: Devices by the name that the file has for them.

        Raises:
            SpecError: The file has faults, or nothing in it is of that kind.
        """
        read = read_toml(Path(path)) if tree is None else tree
        own = {
            UNKNOWN: load_device(kind.template),
            UNKNOWN_CONTROLLER: load_device(CONTROLLER_TEMPLATE),
        } | dict(own or {})
        scenario = build_scenario(read, Path(path), own)
        check_load(scenario)
        named = [name for name, device in scenario.models.items() if device.spec.kind == kind.name]
        if UNKNOWN in named:
            named = [UNKNOWN]
        if len(named) != 1:
            found = ", ".join(named) or "none"
            allowed = f'one {kind.name}, or one that is called model = "{UNKNOWN}"'
            raise SpecError([Fault("model", found, allowed, (), str(path))])
        if like:
            begin = find_for("--like", like)
            if begin.spec.kind != kind.name:
                allowed = f"a device of kind {kind.name}; this is a {begin.spec.kind}"
                raise SpecError([Fault("--like", like, allowed)])
            own |= {named[0]: begin}
            scenario = build_scenario(read, Path(path), own)
        if UNKNOWN_CONTROLLER in scenario.models and named[0] != UNKNOWN_CONTROLLER:
            if kind.needs:
                allowed = "a controller of the catalogue: drives alone are fitted with theirs"
                raise SpecError([Fault("model", UNKNOWN_CONTROLLER, allowed, (), str(path))])
            kind = replace(kind, declared=(*kind.declared, *OF_CONTROLLER))
        system = System(scenario, named[0], kind, own)
        if kind.needs and kind.needs not in system.has:
            raise SpecError([Fault("--system", str(path), _HOW[kind.needs])])
        return system

    @property
    def device(self) -> Device:
        """What the fit begins with."""
        return self.scenario.models[self.component]

    def left_out(self) -> Mapping[str, str | float | int]:
        """Parameters of the kind that the device's file leaves to the model, at its values."""
        found: dict[str, str | float | int] = {}
        for parameter in (*self.kind.declared, *self.kind.extra):
            if get(self.device.written, parameter.key) is not None:
                continue
            value: Any = self.device.spec
            for name in parameter.key.split("."):
                value = getattr(value, name, None)
            spec = self.device.spec
            if value is None and isinstance(spec, ControllerSpec) and "firmware" in parameter.key:
                value = spec.firmware.request
            if value is not None:
                unit = number_of(f"1 {parameter.unit}") if parameter.unit else 1.0
                found[parameter.key] = parameter.text(value / unit)
        return found

    @property
    def controller(self) -> Device | None:
        """The controller that is fitted together with the drives."""
        together = self.component != UNKNOWN_CONTROLLER
        return self.scenario.models.get(UNKNOWN_CONTROLLER) if together else None

    @property
    def host(self) -> Device:
        """The host."""
        return self.scenario.models[self._host]

    @property
    def _host(self) -> str:
        return next(n for n, d in self.scenario.models.items() if isinstance(d.spec, HostSpec))

    @property
    def has(self) -> frozenset[str]:
        """The modes in which the loaded array works: what can show a parameter."""
        plan = self.scenario.base
        array = plan["arrays"][plan["workloads"][0]["array"]]
        parity = facts(array["level"]).parities
        found = {"host"}
        if array["software"]:
            found |= {"os-raid", ("", "one-parity", "two-parities")[parity]}
            found |= {"os-parity"} if parity else set()
        if array["controller"] is None and plan["links"]:
            found.add("ports")
        if array["controller"] is not None:
            mode = "parity" if parity and not array["software"] else "straight"
            found |= {"controller", "fast-path" if array["fast_path"] else mode}
        cache = array.get("cache")
        if cache is not None:
            found |= {"cache"} | ({"write-back"} if cache["write"] != "write_through" else set())
        if array.get("tier") is not None:
            found.add("tier")
        if found & {"cache", "tier"} or "parity" in found:
            found.add("memory")
        return frozenset(found)

    def bench(
        self,
        device: DeviceSpec,
        host: HostSpec,
        mapped: float,
        controller: ControllerSpec | None = None,
    ) -> Bench:
        """The system with this component, behind this host and controller.

        Raises:
            SpecError: They do not fit together.
        """
        own = {**self.own, self._host: replace(self.host, spec=host)}
        own[self.component] = replace(self.device, spec=device)
        if controller is not None:
            own[UNKNOWN_CONTROLLER] = replace(self.own[UNKNOWN_CONTROLLER], spec=controller)
        path = Path(self.scenario.path)
        changed = build_scenario(self.scenario.written, path, own)
        return bench_of(changed, over_time=self.kind.over_time)
