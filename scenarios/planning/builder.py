"""Arrays of a scenario, laid out of the parts that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.levels import facts
from raidlab.devices.plan_types import ArrayPlan
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.arrays import wrong_count
from raidlab.scenarios.planning.caching import FAST_LEVELS, cache_plan, reads_ahead, without_cache
from raidlab.scenarios.planning.controllers import Behind
from raidlab.scenarios.planning.host_cache import add_host_cache, own_unit
from raidlab.scenarios.planning.ide import ide_faults
from raidlab.scenarios.planning.of_md import OfMd
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.sharing import SHARED_DEPTH, is_shared
from raidlab.scenarios.planning.ssd_cache import tier_name, tier_or_stand_in
from raidlab.scenarios.planning.topology import Attached, family_of
from raidlab.scenarios.spec.findings import no_effect
from raidlab.scenarios.spec.schema import ArrayTable


@dataclass
class Builder(Parts):
    """Lays out arrays."""

    def add_array(self, at: int, behind: Behind | None) -> None:
        """Lays out an array of the scenario: one of the plan, or one for each drive."""
        controller = None if behind is None else behind.at
        spec, settings = (None, None) if behind is None else (behind.spec, behind.settings)
        key, table = f"array.{at}", own_unit(self.scenario.array[at])
        name = self.scenario.array_name(at)
        if name in self.offered:
            self.faults.add(f"{key}.name", name, "a name that no other array has")
            return
        self._check_name(key, name)
        if any(self.faults.has(f"{key}.{part}") for part in ("level", "drives")):
            # What stands in for a level or a count that cannot be read is no fault.
            self.choose_drives(key, name, table, settings)
            self.offered[name] = ([], None)
            return
        self._check_level(key, table, spec, behind=behind is not None)
        chosen = self.choose_drives(key, name, table, settings)
        self._check_ide_mode(key, table, spec)
        self._check_mixture(key, table, chosen)
        usable, capacities = self._sized(key, table, chosen)
        if usable is not None:
            chosen = self.with_history(key, table, capacities, chosen, name)
        if any(drive.spec.volatile(options) for drive, options in chosen):
            self.volatile.append(name)
        members = self.attach(chosen, controller)
        spares = self._add_spares(key, name, table, chosen, controller)
        groups = [[member] for member in members] if table.level == "independent" else [members]
        # A chipset's driver that reads ahead does it before its RAID, so both are in one place.
        of_chipset = spec is not None and spec.raid_in_host and not reads_ahead(spec, settings)
        in_host = self._striped(table) and (table.in_host or of_chipset)
        short = self._takes_short_path(name, table, chosen, behind, in_host=in_host)
        depth = (table.shared_depth or SHARED_DEPTH) if is_shared(self.scenario, name) else 0
        of_md = OfMd.of(self, key, name, table, capacities)
        served = cache_plan(spec, settings, short=short, in_host=in_host)
        indices = []
        for part, group in enumerate(groups):
            indices.append(len(self.arrays))
            plan: ArrayPlan = {
                "name": f"{name}.{part}" if table.level == "independent" else name,
                "level": "jbod" if table.level == "independent" else table.level,
                "stripe_unit_bytes": table.stripe_unit,
                "drives": group,
                "controller": controller,
                "software": in_host,
                "used_bytes": table.used_bytes,
                "spares": spares,
                "background_share": table.rebuild_rate,
            }
            if table.spans:
                plan["spans"] = table.spans
            if table.declustered is not None:
                plan["declustered"] = table.declustered.layout.plan
            if served is not None:
                plan["cache"], plan["fast_path"] = served
            of_md.put(plan)
            if self._reads_one_copy(spec, table, chosen, in_host=in_host):
                plan["one_copy_streams"] = True
            if depth:
                plan["shared_depth"] = depth
            self.arrays.append(plan)
        self.offered[name] = (indices, usable)
        if in_host and behind is not None and spec is not None:
            self.warnings += without_cache(spec, behind.settings, (behind.key, key), table, name)
        add_host_cache(self, key, name, table, indices)
        if table.host_cache is None and table.cache_tier is not None:
            self.arrays[indices[0]]["tier"] = tier_or_stand_in(self, key, name, table, behind)

    def _check_name(self, key: str, name: str) -> None:
        """A name that the tier of another array has."""
        for other, above in enumerate(self.scenario.array):
            if above.has_ssd_cache and name == tier_name(self.scenario.array_name(other)):
                allowed = f"a name that no other array has: the tier of array.{other} is called so"
                self.faults.add(f"{key}.name", name, allowed)

    def _sized(
        self, key: str, table: ArrayTable, chosen: list[tuple[Attached, DriveOptions]]
    ) -> tuple[int | None, list[int]]:
        """Bytes that an array offers, and what it uses of each drive; None where it cannot be."""
        wanted = wrong_count(table.shape, table.drive_count)
        if wanted is not None:
            of = table.level if table.layout is None else f"{table.level} in {table.layout}"
            of += f" of {table.spans} spans" if table.spans else ""
            self.faults.add(f"{key}.drives", f"{table.drive_count} drives", f"{of} of {wanted}")
            return None, []
        if len(chosen) != table.drive_count or table.stripe_unit <= 0:
            return None, []
        capacities = self._used(key, table, chosen)
        usable = self._offers(table, capacities) or None
        if usable is None and capacities and table.declustered is not None:
            allowed = (
                f"less: {format_size(min(capacities))} of each drive hold no whole slice of chunks"
            )
            value = format_size(table.declustered.chunk)
            self.faults.add(f"{key}.declustered.chunk", value, allowed)
        elif usable is None and capacities and table.used is None:
            allowed = (
                f"less: of the smallest drive, {format_size(min(capacities))}, nothing is used"
            )
            self.faults.add(f"{key}.stripe_unit", format_size(table.stripe_unit), allowed)
        return usable, capacities

    def _takes_short_path(
        self,
        name: str,
        table: ArrayTable,
        chosen: list[tuple[Attached, DriveOptions]],
        behind: Behind | None,
        *,
        in_host: bool,
    ) -> bool:
        """Whether the short path is asked for and serves an array.

        It is for flash: hard disks, not the firmware, limit theirs.
        """
        if behind is None or not behind.settings.fast_path or not chosen:
            return False
        key = f"{behind.key}.fast_path"
        if table.level not in FAST_LEVELS and not in_host:
            served = ", ".join(FAST_LEVELS)
            self.warnings.append(no_effect(key, f" on {name}: the short path serves {served}"))
        elif all(drive.spec.kind == "hdd" for drive, _ in chosen):
            self.warnings.append(no_effect(key, f" on {name}, an array of hard disks"))
        else:
            return True
        return False

    def _add_spares(
        self,
        key: str,
        name: str,
        table: ArrayTable,
        chosen: list[tuple[Attached, DriveOptions]],
        controller: int | None,
    ) -> list[int]:
        """Adds the hot spares, drives like the array's first or of their own model."""
        if not table.hot_spares:
            if table.hot_spare_model is not None:
                allowed = "left out: there are no hot_spares"
                self.faults.add(f"{key}.hot_spare_model", table.hot_spare_model, allowed)
            return []
        if not facts(table.level).is_redundant:
            allowed = f"0: {table.level} has nothing to rebuild from"
            self.faults.add(f"{key}.hot_spares", table.hot_spares, allowed)
            return []
        spare = self._spare(f"{key}.hot_spare_model", table, chosen)
        if spare is None:
            return []
        drive, options = spare
        drive = replace(drive, link=table.link or "")
        names = (f"{name}/spare.{at}" for at in range(table.hot_spares))
        return self.attach([(replace(drive, name=each), options) for each in names], controller)

    def _spare(
        self, key: str, table: ArrayTable, chosen: list[tuple[Attached, DriveOptions]]
    ) -> tuple[Attached, DriveOptions] | None:
        """A hot spare; None, and a fault, if it cannot stand in for the array's drives."""
        if not chosen:
            return None
        if table.hot_spare_model is None:
            return chosen[0]
        spec = self.find(key, table.hot_spare_model, DriveSpec)
        if spec is None:
            return None
        known = {name: getattr(chosen[0][1], name) for name in ("write_cache", "cooling")}
        options = DriveOptions(**{n: v for n, v in known.items() if n in spec.options})
        wanted = family_of(chosen[0][0].spec)
        if family_of(spec) != wanted and not table.in_host:
            allowed = f"a drive of the array's interface, {wanted}; this one has {family_of(spec)}"
            self.faults.add(key, spec.name, allowed)
            return None
        least = min(self._used(key, table, chosen))
        if spec.capacity_bytes(options) < least:
            allowed = (
                f"a drive of at least {format_size(least)}, as much as is used of the others; this"
                f" one has {format_size(spec.capacity_bytes(options))}"
            )
            self.faults.add(key, spec.name, allowed)
            return None
        return Attached(spec, "", key), options

    def _used(
        self, key: str, table: ArrayTable, chosen: list[tuple[Attached, DriveOptions]]
    ) -> list[int]:
        """Bytes of each drive that the array uses: of a part of it, whole stripe units."""
        whole = [drive.spec.capacity_bytes(options) for drive, options in chosen]
        if table.used is None:
            return whole
        if not table.stripe_unit <= table.used <= min(whole):
            allowed = f"a stripe unit to {format_size(min(whole))}, what the smallest drive holds"
            self.faults.add(f"{key}.used", format_size(table.used), allowed)
        return [min(table.used_bytes, capacity) for capacity in whole]

    def _check_mixture(
        self, key: str, table: ArrayTable, chosen: list[tuple[Attached, DriveOptions]]
    ) -> None:
        """The drives of an array behind a controller are of one interface: SAS, SATA or PCIe."""
        if table.in_host:
            return
        families: dict[str, str] = {}
        for drive, _ in chosen:
            families.setdefault(family_of(drive.spec), drive.spec.name)
        if len(families) > 1:
            mixed = ", ".join(f"{name} ({family})" for family, name in families.items())
            self.faults.add(f"{key}.drives", mixed, "drives of one interface in an array")

    def _check_ide_mode(self, key: str, table: ArrayTable, spec: ControllerSpec | None) -> None:
        """Ports without NCQ where there are none; what is reported of a drive comes first."""
        for fault in ide_faults(key, table, spec, self.scenario.link):
            if not self.faults.has(fault.key):
                self.faults.extend([fault])

    @staticmethod
    def _reads_one_copy(
        spec: ControllerSpec | None,
        table: ArrayTable,
        chosen: Sequence[tuple[Attached, DriveOptions]],
        *,
        in_host: bool,
    ) -> bool:
        """Whether the firmware reads a stream on a mirror from one copy alone."""
        if spec is None or in_host or not chosen or facts(table.level).copies == 1:
            return False
        own = chosen[0][0].spec.link()
        return own is not None and not spec.stream_copies.serves(table.level, own.family)

    @staticmethod
    def _striped(table: ArrayTable) -> bool:
        return facts(table.level).striped

    def _check_declustered(self, key: str, table: ArrayTable) -> None:
        """What is not modelled beside spread stripes."""
        where = f"{key}.declustered"
        if table.in_host:
            allowed = "left out beside software_raid: md has no declustered RAID; a [controller]"
            self.faults.add(where, None, allowed)
        if table.has_ssd_cache:
            allowed = "left out beside a cache of SSDs: where its lines go then is not modelled"
            self.faults.add(where, None, allowed)
        if table.hot_spares:
            allowed = "0 beside declustered, whose spare space is on all drives (spares)"
            self.faults.add(f"{key}.hot_spares", table.hot_spares, allowed)

    def _check_level(
        self, key: str, table: ArrayTable, controller: ControllerSpec | None, *, behind: bool
    ) -> None:
        if table.declustered is not None:
            self._check_declustered(key, table)
        if table.level == "independent" and "stripe_unit" in table.model_fields_set:
            self.warnings.append(no_effect(f"{key}.stripe_unit", f" on {table.level}"))
        if not self._striped(table):
            if table.in_host:
                self.warnings.append(no_effect(f"{key}.software_raid", f" on {table.level}"))
        elif table.in_host or self.faults.has(f"{key}.controller"):
            return
        elif not behind:
            allowed = 'a [controller], or software_raid = "os" for an array in the host'
            self.faults.add(f"{key}.level", table.level, allowed)
        elif controller is not None and table.level not in controller.levels:
            allowed = f"a level that {controller.name} has: {', '.join(controller.levels)}"
            self.faults.add(f"{key}.level", table.level, allowed, controller.levels)
        elif controller is not None and table.level == "raid10":
            most = controller.raid10_drives_max
            if most is not None and table.drive_count > most:
                allowed = f"at most {most} in a RAID 10, as {controller.name} has it"
                self.faults.add(f"{key}.drives", f"{table.drive_count} drives", allowed)
