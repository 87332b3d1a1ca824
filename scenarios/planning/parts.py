"""Parts of a scenario while it is built: devices found, drives named, what they went through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from raidlab.devices.catalogue import Device, find
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.hdd_geometry import SECTOR
from raidlab.devices.host import HostSpec
from raidlab.devices.instances import instances
from raidlab.devices.plan_types import ArrayPlan, DeviceParams
from raidlab.devices.schema import DeviceSpec, DriveOptions, DriveSpec
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.job_writes import compressed_to, job_writes
from raidlab.scenarios.planning.md import kernel_era
from raidlab.scenarios.planning.preconditioning import (
    Writes,
    beyond_array,
    drive_histories,
    unknown_writes,
    writes_of,
)
from raidlab.scenarios.planning.topology import Attached
from raidlab.scenarios.planning.trims import takes_trim
from raidlab.scenarios.spec.caching import ControllerTable
from raidlab.scenarios.spec.component_name import DriveName
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import ArrayTable, DrivesTable, ScenarioTable

if TYPE_CHECKING:
    from raidlab.scenarios.fio.jobfile import Section

SpecT = TypeVar("SpecT", bound=DeviceSpec)


@dataclass
class Parts:
    """Devices, drives and arrays, as far as they are found."""

    scenario: ScenarioTable
    faults: Faults
    folder: Path | None
    own: Mapping[str, Device] = field(default_factory=dict)
    """Devices that stand in for those of the same name."""
    sections: Sequence[Section] | None = None
    """What the job file of the workloads holds, if it was read."""
    compressing: set[str] = field(default_factory=set)
    """Arrays with drives that compress."""
    clock: float | None = None
    """Of the host's CPU in hertz."""
    host: HostSpec | None = None
    """The host, if it was found."""
    outside: bool = False
    """Whether a program drives the system beside its loads or instead, and may flush its arrays."""
    devices: dict[str, Device] = field(default_factory=dict)
    models: list[DeviceParams] = field(default_factory=list)
    """The plan's `devices`."""
    drives: list[Attached] = field(default_factory=list)
    model_of_drive: list[int] = field(default_factory=list)
    options_of_drive: list[DriveOptions] = field(default_factory=list)
    bytes_of_drive: list[int] = field(default_factory=list)
    arrays: list[ArrayPlan] = field(default_factory=list)
    """The plan's `arrays`."""
    offered: dict[str, tuple[list[int], int | None]] = field(default_factory=dict)
    """For each array of the scenario: the plan's arrays, bytes that each offers if known."""
    tiers: dict[str, int] = field(default_factory=dict)
    """The plan's arrays that are tiers of others, by name."""
    refused: set[int] = field(default_factory=set)
    """The plan's arrays that stand in for tiers which cannot be: no fault follows from them."""
    warnings: list[str] = field(default_factory=list)
    unrebuilt: dict[str, list[str]] = field(default_factory=dict)
    """Warnings of drives that fail with nobody to take their place, by array."""
    trace_lengths_ns: list[int] = field(default_factory=list)
    """From the first to the last request of the longest trace."""
    volatile: list[str] = field(default_factory=list)
    """Arrays with drives whose own caches forget what they hold when the power fails."""

    def take_host(self, host: HostSpec | None) -> None:
        """The host was found, or was not."""
        self.host = host
        self.clock = self.scenario.host.clock or (None if host is None else host.clock)
        kernel_era(self.scenario, self.warnings)

    def find(self, key: str, name: str, kind: type[SpecT]) -> SpecT | None:
        """The device called `name`; None, and a fault, if there is none of that kind."""
        try:
            device = self.own.get(name) or find(name, self.folder, kind)
        except SpecError as error:
            for fault in error.faults:
                if fault.file and fault.key:
                    self.faults.found.append(fault)
                elif fault.file:
                    allowed = f"a file that can be read; {fault.file}: {fault.allowed}"
                    self.faults.add(key, name, allowed)
                else:
                    self.faults.add(key, name, fault.allowed, fault.choices)
            return None
        if not isinstance(device.spec, kind):
            self.faults.add(key, name, f"a {kind.role}; this is a {device.spec.kind}")
            return None
        self.devices[name] = device
        return device.spec

    def mapping_units(self, arrays: Iterable[int]) -> set[int]:
        """Bytes of the mapping units of the SSDs in `arrays` of the plan that map whole ones."""
        return {
            model["unit_bytes"]
            for model in self._models_of(arrays)
            if model["kind"] == "ssd" and not model["sector_mapping"]
        }

    def aligns_blocks(self, arrays: Iterable[int]) -> bool:
        """True if one of the drives in `arrays` of the plan is an SSD or a cloud volume.

        Or if the host keeps a cache of blocks over them.
        """
        arrays = tuple(arrays)
        if any("host" in (self.arrays[array].get("tier") or {}) for array in arrays):
            return True
        return any(model["kind"] in ("ssd", "volume") for model in self._models_of(arrays))

    def sector(self, arrays: Iterable[int]) -> int:
        """Bytes of the largest sector on the medium of the drives in `arrays`."""
        sectors = (
            model.get("physical_sectors", 1)
            for model in self._models_of(arrays)
            if model["kind"] == "hdd"
        )
        return max(sectors, default=1) * SECTOR

    def _models_of(self, arrays: Iterable[int]) -> list[DeviceParams]:
        drives = {drive for array in arrays for drive in self.arrays[array]["drives"]}
        return [self.models[self.model_of_drive[drive]] for drive in drives]

    def attach(
        self, chosen: list[tuple[Attached, DriveOptions]], controller: int | None
    ) -> list[int]:
        """Adds drives to the system, behind a controller of the plan; gives their indices."""
        for drive, options in chosen:
            self.drives.append(replace(drive, controller=controller))
            self.model_of_drive.append(self._model(drive.spec, options))
            self.options_of_drive.append(options)
            self.bytes_of_drive.append(drive.spec.capacity_bytes(options))
        return list(range(len(self.drives) - len(chosen), len(self.drives)))

    def takes_trim(self, array: int) -> bool:
        """True if all drives of an array of the plan take trims."""
        return takes_trim(
            self.models, (self.model_of_drive[drive] for drive in self.arrays[array]["drives"])
        )

    @staticmethod
    def _offers(table: ArrayTable, capacities: list[int]) -> int:
        """Usable bytes of an array whose drives have these capacities."""
        return usable_bytes(table.shape, table.stripe_unit, capacities)

    def choose_drives(
        self, key: str, name: str, table: ArrayTable, controller: ControllerTable | None
    ) -> list[tuple[Attached, DriveOptions]]:
        """The drives of an array that were found, with what is asked of them."""
        chosen: list[tuple[Attached, DriveOptions]] = []
        for at, entry in enumerate(table.drives):
            entry_key = f"{key}.drives.{at}"
            spec = self.find(f"{entry_key}.model", entry.model, DriveSpec)
            if spec is None:
                continue
            options = self._options(entry_key, name, spec, entry, controller)
            if options is None:
                continue
            link = self._link(entry_key, key, entry, table)
            ncq = self._has_ncq(entry_key, spec, entry)
            for _ in range(entry.count):
                label = str(DriveName(name, spec.name, len(chosen)))
                chosen.append((Attached(spec, label, entry_key, link, ncq), options))
        return chosen

    def _has_ncq(self, key: str, spec: DriveSpec, entry: DrivesTable) -> bool:
        """Whether a drive queues commands; a fault where a drive without NCQ is given the key."""
        own = spec.link()
        if entry.ncq is not None and (own is None or own.family != "sata"):
            allowed = f"left out: {spec.name} is no SATA drive, whose ports have an IDE mode"
            self.faults.add(f"{key}.ncq", entry.ncq, allowed)
        return entry.ncq is not False

    def _link(self, entry_key: str, key: str, entry: DrivesTable, table: ArrayTable) -> str:
        """The link that drives hang on; empty, and a fault, if there is none of that name."""
        name, at = (entry.link, entry_key) if entry.link else (table.link or "", key)
        names = [link.name for link in self.scenario.link]
        if name and name not in names and not self.faults.has(f"{at}.link"):
            allowed = f"the name of a [[link]]: {', '.join(names)}" if names else "left out"
            self.faults.add(f"{at}.link", name, allowed, names)
        return name if name in names else ""

    def _options(
        self,
        key: str,
        array: str,
        spec: DriveSpec,
        entry: DrivesTable,
        controller: ControllerTable | None,
    ) -> DriveOptions | None:
        write_cache = entry.write_cache
        if write_cache is None and controller is not None and "write_cache" in spec.options:
            write_cache = controller.disk_cache
        options = DriveOptions(
            write_cache=write_cache, format=entry.format, cooling=entry.cooling, bought=entry.bought
        )
        if entry.bought is not None and "bought" not in spec.options:
            allowed = f"left out: {spec.name} is no cloud volume, the file of a drive has its own"
            found = [
                Fault(name, getattr(entry, name), allowed)
                for name in ("size", "iops", "throughput")
                if getattr(entry, name) is not None
            ]
        else:
            found = list(spec.option_faults(options))
        self.faults.extend(found, key)
        switched = replace(options, write_cache=True)
        if entry.write_cache is not None and not found and not spec.volatile(switched):
            said = f" on {spec.name}, whose buffer forgets nothing when the power fails"
            self.warnings.append(no_effect(f"{key}.write_cache", said))
        compressible = self._compressible(array, spec)
        return None if found else replace(options, compressible=compressible)

    def _compressible(self, array: str, spec: DriveSpec) -> float | None:
        """How far the data of the loads on an array can be compressed."""
        share = None
        if spec.compresses:
            self.compressing.add(array)
        for at, load in enumerate(self.scenario.workload):
            if self.scenario.target_name(at) != array:
                continue
            stated = load.compressible
            if stated is None and load.job_file is not None and spec.compresses:
                stated = compressed_to(load, self.folder, self.sections)
            if stated is None:
                continue
            key = f"workload.{at}.compressible"
            if not spec.compresses:
                self.faults.add(key, stated, f"has no effect on {spec.name}")
            elif share not in (None, stated):
                allowed = f"{share}, as in another workload on {array}"
                self.faults.add(key, stated, allowed)
            share = stated
        return share if spec.compresses else None

    def with_history(
        self,
        key: str,
        table: ArrayTable,
        capacities: list[int],
        chosen: list[tuple[Attached, DriveOptions]],
        name: str = "",
    ) -> list[tuple[Attached, DriveOptions]]:
        """These drives with what they have been through.

        `capacities` is what the array uses of each; `name` is the array's for the scenario's own:
        loads of the scenario then count.
        """
        remember = [drive for drive, _ in chosen if "history" in drive.spec.options]
        if not remember:
            if table.history:
                allowed = "left out: none of its drives remembers what was written"
                self.faults.add(f"{key}.history", None, allowed)
            elif self.scenario.run.precondition != "fresh" and table.cache_tier is None:
                # The page cache of a buffered load holds the end of what was written.
                if not self._buffered(name):
                    self.warnings.append(no_effect("run.precondition", f" on {name or table.name}"))
            elif self.scenario.run.snapshot is not None and table.cache_tier is None:
                self.warnings.append(no_effect("run.snapshot", f" on {name or table.name}"))
            return chosen
        if self.scenario.run.snapshot is not None:
            return self._with_snapshot(key, table, chosen, self.scenario.run.snapshot)
        usable = self._offers(table, capacities)
        beyond = [
            Fault(f"{key}.history.{at}.{fault.key}", fault.value, fault.allowed)
            for at, load in enumerate(table.history)
            for fault in beyond_array(load, usable)
        ]
        if beyond:
            self.faults.extend(beyond)
            return chosen
        filled = self.scenario.run.filled
        if filled is not None and filled > usable:
            text = (
                f"run.filled: {format_size(filled)} is more than {name or table.name} holds,"
                f" {format_size(usable)}: it is filled"
            )
            self.warnings.append(Coded(text, Code.NO_EFFECT, "run.filled"))
        loads = list(self._writes(name, usable)) if name else []
        histories = drive_histories(self.scenario, table, loads, usable, capacities)
        return [
            (drive, replace(options, history=load) if drive in remember and load else options)
            for (drive, options), load in zip(chosen, histories, strict=True)
        ]

    def _writes(self, array: str, usable: int) -> Iterator[Writes]:
        """What the loads on an array write, where that decides the state of its drives."""
        if self.scenario.run.begins != "steady-state":
            return
        table = self.scenario
        on_it = [w for at, w in enumerate(table.workload) if table.target_name(at) == array]
        if not on_it:
            # Loads of fio or of SimPy's processes: they come when the run has begun.
            yield unknown_writes(usable)
        for load in on_it:
            if load.trace is not None:
                yield unknown_writes(usable)
            elif load.job_file is not None:
                yield from job_writes(load, self.folder, array, usable, self.sections)
            elif not any(True for _ in load.faults()):
                yield writes_of(load, usable)

    def _buffered(self, array: str) -> bool:
        """True if a load on an array goes through the host's page cache."""
        return any(
            load.buffered and self.scenario.target_name(at) == array
            for at, load in enumerate(self.scenario.workload)
        )

    def _with_snapshot(
        self,
        key: str,
        table: ArrayTable,
        chosen: list[tuple[Attached, DriveOptions]],
        snapshot: str,
    ) -> list[tuple[Attached, DriveOptions]]:
        """These drives in the state that a file holds."""
        if table.history:
            allowed = "left out: run.snapshot says what the drives have been through"
            self.faults.add(f"{key}.history", None, allowed)
        file = str((self.folder or Path()) / snapshot)
        if Path(file).exists() and not Path(file).is_file():
            self.faults.add("run.snapshot", snapshot, "a file that --save-state has written")
        return [
            (drive, replace(options, snapshot=file))
            if "snapshot" in drive.spec.options
            else (drive, options)
            for drive, options in chosen
        ]

    def _model(self, spec: DriveSpec, options: DriveOptions) -> int:
        plan = spec.to_plan(spec.beside(self.clock, options))
        instance = self.scenario.host.instance
        ceiling = None if instance is None else instances().get(instance)
        if ceiling is not None and plan["kind"] == "volume":
            plan["limits"] = [*plan["limits"], *ceiling.limits(self._volumes())]
        if plan not in self.models:
            self.models.append(plan)
        return self.models.index(plan)

    @property
    def has_volumes(self) -> bool:
        """Whether any drive is a cloud volume."""
        return any(model["kind"] == "volume" for model in self.models)

    def _volumes(self) -> int:
        """Cloud volumes of all arrays, which share what an instance passes."""
        entries = [entry for array in self.scenario.array for entry in array.drives]
        return max(1, sum(entry.count for entry in entries if self._is_volume(entry.model)))

    def _is_volume(self, name: str) -> bool:
        try:
            return (self.own.get(name) or find(name, self.folder)).spec.kind == "volume"
        except SpecError:
            return False
