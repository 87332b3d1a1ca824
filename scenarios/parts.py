"""Parts of a scenario while it is built: devices found, drives named, arrays laid out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from raidlab.devices.catalogue import Device, find
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.schema import DeviceSpec, DriveOptions, DriveSpec
from raidlab.scenarios.arrays import usable_bytes, wrong_count
from raidlab.scenarios.schema import ArrayTable, ControllerTable, DrivesTable
from raidlab.scenarios.topology import Attached

SpecT = TypeVar("SpecT", bound=DeviceSpec)
_NO_OPTIONS = DriveOptions()


@dataclass
class Parts:
    """Devices, drives and arrays, as far as they are found."""

    faults: Faults
    folder: Path | None
    devices: dict[str, Device] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    """The plan's `devices`."""
    drives: list[Attached] = field(default_factory=list)
    model_of_drive: list[int] = field(default_factory=list)
    arrays: list[dict[str, Any]] = field(default_factory=list)
    """The plan's `arrays`."""
    offered: dict[str, tuple[list[int], int | None]] = field(default_factory=dict)
    """For each array of the scenario: the plan's arrays, bytes that each offers if known."""
    warnings: list[str] = field(default_factory=list)

    def find(self, key: str, name: str, kind: type[SpecT]) -> SpecT | None:
        """The device called `name`; None, and a fault, if there is none of that kind."""
        try:
            device = find(name, self.folder)
        except SpecError as error:
            for fault in error.faults:
                if fault.file:
                    self.faults.found.append(fault)
                else:
                    self.faults.add(key, name, fault.allowed, fault.choices)
            return None
        if not isinstance(device.spec, kind):
            self.faults.add(key, name, f"a {kind.role}; this is a {device.spec.kind}")
            return None
        self.devices[name] = device
        return device.spec

    def add_array(
        self,
        key: str,
        name: str,
        table: ArrayTable,
        controller: tuple[ControllerSpec | None, ControllerTable | None],
    ) -> None:
        """Lays out an array of the scenario: one of the plan, or one for each drive."""
        if name in self.offered:
            self.faults.add(f"{key}.name", name, "a name that no other array has")
            return
        self._check_level(key, table, controller[0], controller[1] is not None)
        first = len(self.drives)
        capacities = self._add_drives(key, name, table, controller[1])
        wanted = wrong_count(table.level, table.count)
        if wanted is not None:
            self.faults.add(f"{key}.drives", f"{table.count} drives", f"{table.level} of {wanted}")
        members = list(range(first, len(self.drives)))
        groups = [[member] for member in members] if table.level == "independent" else [members]
        in_host = controller[0] is not None and controller[0].raid_in_host
        indices = []
        for at, group in enumerate(groups):
            indices.append(len(self.arrays))
            self.arrays.append(
                {
                    "name": f"{name}.{at}" if table.level == "independent" else name,
                    "level": "jbod" if table.level == "independent" else table.level,
                    "stripe_unit_bytes": table.stripe_unit,
                    "drives": group,
                    "controller": 0 if controller[1] is not None else None,
                    "software": self._striped(table) and (table.software_raid == "os" or in_host),
                }
            )
        known = wanted is None and len(capacities) == table.count and table.stripe_unit > 0
        usable = usable_bytes(table.level, table.stripe_unit, capacities) if known else None
        self.offered[name] = (indices, usable)

    @staticmethod
    def _striped(table: ArrayTable) -> bool:
        return table.level not in ("jbod", "independent")

    def _check_level(
        self, key: str, table: ArrayTable, controller: ControllerSpec | None, behind: bool
    ) -> None:
        if not self._striped(table):
            if table.software_raid == "os":
                self.warnings.append(f"{key}.software_raid: has no effect on {table.level}")
        elif table.software_raid == "os":
            return
        elif not behind:
            allowed = 'a [controller], or software_raid = "os" for an array in the host'
            self.faults.add(f"{key}.level", table.level, allowed)
        elif controller is not None and table.level not in controller.levels:
            allowed = f"a level that {controller.name} has: {', '.join(controller.levels)}"
            self.faults.add(f"{key}.level", table.level, allowed, controller.levels)

    def _add_drives(
        self, key: str, name: str, table: ArrayTable, controller: ControllerTable | None
    ) -> list[int]:
        """Adds the drives of an array; gives the capacities of those that were found."""
        capacities: list[int] = []
        for at, entry in enumerate(table.drives):
            entry_key = f"{key}.drives.{at}"
            spec = self.find(f"{entry_key}.model", entry.model, DriveSpec)
            if spec is None:
                continue
            options = self._options(entry_key, spec, entry, controller)
            if options is None:
                continue
            model = self._model(spec, options)
            for _ in range(entry.count):
                label = f"{name}/{spec.name}.{len(capacities)}"
                self.drives.append(Attached(spec, label, entry_key))
                self.model_of_drive.append(model)
                capacities.append(spec.capacity_bytes(options))
        return capacities

    def _options(
        self, key: str, spec: DriveSpec, entry: DrivesTable, controller: ControllerTable | None
    ) -> DriveOptions | None:
        write_cache = entry.write_cache
        if write_cache is None and controller is not None and "write_cache" in spec.options:
            write_cache = controller.disk_cache
        options = DriveOptions(write_cache=write_cache, format=entry.format, cooling=entry.cooling)
        found = list(spec.option_faults(options))
        self.faults.extend(found, key)
        return None if found else options

    def _model(self, spec: DriveSpec, options: DriveOptions) -> int:
        plan = spec.to_plan(options)
        if plan not in self.models:
            self.models.append(plan)
        return self.models.index(plan)
