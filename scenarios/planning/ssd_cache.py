"""`cache_tier` of an array: SSDs of the same controller as a cache of its hard disks."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Faults
from raidlab.devices.levels import ArrayLevel, facts
from raidlab.devices.plan_types import TierPlan
from raidlab.devices.schema import DriveOptions
from raidlab.scenarios.planning.arrays import usable_bytes, wrong_count
from raidlab.scenarios.planning.controllers import Behind
from raidlab.scenarios.planning.ide import ide_faults
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.planning.topology import Attached
from raidlab.scenarios.spec.caching import ControllerTable
from raidlab.scenarios.spec.schema import (
    ArrayTable,
    DrivesTable,
    PreconditioningTable,
    ScenarioTable,
)

Chosen = list[tuple[Attached, DriveOptions]]


COST_DATA = ("fail-drive", "unreadable-sectors", "replace-drive", "power-fail")
"""Events after which content of drives or of the controller's memory can be gone."""


def follows_data(scenario: ScenarioTable) -> bool:
    """Whether a run follows the versions of its data.

    It does if something happens to them, and if every line of a tier was really brought there.
    """
    happens = any(event.action != "move-hot-spot" for event in scenario.event)
    return happens and scenario.run.time_lapse == 1


def tier_name(array: str) -> str:
    """What events call the tier of an array."""
    return f"{array}-tier"


def line_bytes(table: ArrayTable) -> int:
    """Bytes of a line of the tier: what leaves the controller's cache together.

    A stripe unit or, with parity, the data of a stripe, which is then written back as a whole.
    """
    return table.stripe_unit * table.shape.data_columns(table.drive_count)


def add_tier(
    parts: Parts,
    key: str,
    name: str,
    table: ArrayTable,
    behind: Behind | None,
) -> TierPlan | None:
    """Adds the SSDs of an array's tier; gives the tier's entry in the array's plan.

    None, and faults, if there can be no such tier.
    """
    tier = table.cache_tier
    spec, settings = (None, None) if behind is None else (behind.spec, behind.settings)
    if tier is None:
        return None
    key = f"{key}.cache_tier"
    if not _may_have_one(parts, key, table, spec, settings) or spec is None:
        return None
    array = ssds_as_array(name, tier.level, tier.drives, line_bytes(table))
    chosen = choose_ssds(parts, key, array, settings)
    parts.faults.extend(ide_faults(key, array, spec, ()))
    if chosen is None:
        return None
    capacities = [drive.spec.capacity_bytes(options) for drive, options in chosen]
    if array.stripe_unit == 0:
        return None
    usable = usable_bytes(array.shape, array.stripe_unit, capacities)
    if usable == 0:
        allowed = (
            f"less: a line of the SSD cache is a stripe, {array.stripe_unit} B, and its drives"
            f" hold {min(capacities)} B"
        )
        parts.faults.add(key.replace("cache_tier", "stripe_unit"), table.stripe_unit, allowed)
        return None
    if usable > spec.tier.size_max:
        allowed = f"at most {spec.tier.size_max / 1e9:g} GB of cache on {spec.name}"
        parts.faults.add(f"{key}.drives", f"{usable / 1e9:.1f} GB", allowed)
        return None
    forgets = sorted({drive.spec.name for drive, options in chosen if drive.spec.volatile(options)})
    if forgets and any(event.action == "power-fail" for event in parts.scenario.event):
        allowed = (
            "SSDs that forget nothing when the power fails (write_cache = false): which of its"
            " lines are whole nobody could know"
        )
        parts.faults.add(f"{key}.drives", ", ".join(forgets), allowed)
        return None
    if has_disks(parts, key, chosen):
        return None
    array = ArrayTable.model_construct(
        **{**vars(array), "history": _history(parts, name, array.stripe_unit, usable)}
    )
    at = None if behind is None else behind.at
    members = parts.attach(parts.with_history(key, array, capacities, chosen), at)
    return {
        "array": add_ssds(parts, array, members, controller=at),
        "write_back": tier.write == "write-back",
        "warm": tier.state == "warm",
        "promote_after": spec.tier.promote_after,
        "half_life_ns": spec.tier.half_life,
        "dirty_share": spec.tier.dirty,
        "copies_at_once": spec.tier.copies,
    }


def tier_or_stand_in(
    parts: Parts,
    key: str,
    name: str,
    table: ArrayTable,
    behind: Behind | None,
) -> TierPlan:
    """The tier of an array's plan; one that stands in where faults say why there can be none."""
    tier = add_tier(parts, key, name, table, behind)
    if tier is None:
        tier = _stand_in(parts, name, table, behind)
    parts.tiers[tier_name(name)] = tier["array"]
    return tier


def _stand_in(parts: Parts, name: str, table: ArrayTable, behind: Behind | None) -> TierPlan:
    """For a tier that was refused: its events are no fault beside that one."""
    tier = table.cache_tier
    if tier is None:
        raise AssertionError("an array without a tier has none that is refused")
    array = len(parts.arrays)
    parts.refused.add(array)
    parts.arrays.append(
        {
            "name": tier_name(name),
            "level": tier.level,
            "stripe_unit_bytes": 0,
            "drives": list(range(sum(entry.count for entry in tier.drives))),
            "controller": 0 if behind is None else behind.at,
            "software": False,
        }
    )
    return {
        "array": array,
        "write_back": False,
        "warm": False,
        "promote_after": 1,
        "half_life_ns": 1,
        "dirty_share": 0.0,
        "copies_at_once": 1,
    }


def _may_have_one(
    parts: Parts,
    key: str,
    table: ArrayTable,
    spec: ControllerSpec | None,
    settings: ControllerTable | None,
) -> bool:
    before = len(parts.faults.found)
    if settings is None:
        parts.faults.add(key, None, "left out: a tier needs a [controller] that has it")
    elif spec is not None and "cache_tier" not in spec.features:
        parts.faults.add(key, None, f"left out: {spec.name} has no cache tier of SSDs")
    elif settings.fast_path:
        allowed = "left out, or fast_path = false: a controller does either"
        parts.faults.add(key, None, allowed)
    if not facts(table.level).striped or table.in_host:
        parts.faults.add(key, None, f"left out: {table.level} is no array of the controller")
    flash = {entry.model for entry in table.drives if _is_flash(parts, entry.model)}
    if flash:
        allowed = f"left out: it serves hard disks, and {', '.join(sorted(flash))} is none"
        parts.faults.add(key, None, allowed)
    costs = [event.action for event in parts.scenario.event if event.action in COST_DATA]
    if costs and parts.scenario.run.time_lapse > 1:
        allowed = f"1 beside {costs[0]}: what a time lapse brings to a tier has no data to follow"
        parts.faults.add("run.time_lapse", parts.scenario.run.time_lapse, allowed)
    return len(parts.faults.found) == before


def _is_flash(parts: Parts, model: str) -> bool:
    return model in parts.devices and parts.devices[model].spec.kind == "ssd"


def ssds_as_array(
    name: str, level: ArrayLevel, drives: tuple[DrivesTable, ...], line: int
) -> ArrayTable:
    """The SSDs of the cache of an array as an array of their own.

    Args:
        name: Of the array that is cached.
        level: Of the SSDs.
        drives: The SSDs.
        line: Bytes of a line of the cache: the stripe unit.
    """
    return ArrayTable.model_construct(
        name=tier_name(name),
        level=level,
        drives=drives,
        stripe_unit=line,
        spans=None,
        declustered=None,
        layout=None,
        hot_spares=0,
        software_raid="none",
        cache_tier=None,
        host_cache=None,
        history=(),
    )


def choose_ssds(
    parts: Parts, key: str, array: ArrayTable, settings: ControllerTable | None
) -> Chosen | None:
    """The devices of the SSDs with their options; None, and faults, if there are none such."""
    chosen = parts.choose_drives(key, array.name, array, settings)
    wanted = wrong_count(array.shape, array.drive_count)
    if wanted is not None:
        parts.faults.add(
            f"{key}.drives", f"{array.drive_count} drives", f"{array.level} of {wanted}"
        )
        return None
    return None if len(chosen) < array.drive_count else chosen


def has_disks(parts: Parts, key: str, chosen: Chosen) -> bool:
    """Whether hard disks are among the SSDs of a cache, which is a fault."""
    wrong = sorted({drive.spec.name for drive, _ in chosen if drive.spec.kind == "hdd"})
    if wrong:
        parts.faults.add(f"{key}.drives", ", ".join(wrong), "SSDs: hard disks are no cache")
    return bool(wrong)


def add_ssds(
    parts: Parts, array: ArrayTable, members: Sequence[int], *, controller: int | None
) -> int:
    """Adds the SSDs of a cache to the plan's arrays; gives their place there."""
    parts.arrays.append(
        {
            "name": array.name,
            "level": "jbod" if array.level == "independent" else array.level,
            "stripe_unit_bytes": array.stripe_unit,
            "drives": list(members),
            "controller": controller,
            "software": controller is None,
        }
    )
    return len(parts.arrays) - 1


def _history(parts: Parts, name: str, line: int, usable: int) -> tuple[PreconditioningTable, ...]:
    """What the SSDs of a tier have seen when the run asks for drives in their steady state.

    The loads of the array reach as many lines as their hot spots, or areas, have; the tier
    fills its slots from the first one on.
    """
    if parts.scenario.run.begins != "steady-state":
        return ()
    reached = sum(
        load.hot_spot or load.area or usable
        for at, load in enumerate(parts.scenario.workload)
        if parts.scenario.target_name(at) == name
    )
    used = PreconditioningTable.model_construct(
        rw="randwrite",
        block_size=line,
        area_start=0,
        area=min(usable, max(reached // line, 1) * line),
        written=None,
    )
    return (used,)


def check_time_lapse(table: ScenarioTable, faults: Faults) -> None:
    """A time lapse of a scenario without an SSD cache is a fault."""
    if table.run.time_lapse > 1 and all(array.cache_tier is None for array in table.array):
        allowed = "1: without a cache_tier it has no effect"
        faults.add("run.time_lapse", table.run.time_lapse, allowed)
