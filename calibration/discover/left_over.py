"""What a machine has and its scenario has not: a sentence for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set

from raidlab.calibration.discover.facts import Controller, Drive, Facts
from raidlab.devices.units import format_size


def usable(drive: Drive) -> bool:
    """True for a drive of which enough is known to stand in a scenario."""
    if drive.virtual or drive.volume_of_controller:
        return False
    return bool(drive.kind or drive.interface or drive.model)


def left_over(
    facts: Facts, controller: Controller | None, standing: Set[int], *, hardware: bool
) -> Iterator[str]:
    """Drives, controllers and volumes beside the scenario's arrays.

    Args:
        facts: What is known.
        controller: The one that stands in the scenario.
        standing: Identities of drives that stand in it, or in arrays that it leaves out.
        hardware: Whether a controller keeps arrays.
    """
    yield from _unused(facts, standing)
    yield from _idle_controllers(facts, controller)
    for drive in facts.drives:
        label = drive.name or drive.model
        if drive.virtual:
            yield f"{label}: a virtual disk or LUN: its drives are out of sight"
        elif drive.outside is not None:
            model = drive.model if drive.name else None
            size = None if drive.bytes is None else format_size(drive.bytes)
            member = "; as a member of an array it is simulated like others"
            what = ", ".join(each for each in (label, model, size) if each)
            yield f"{what}: {drive.outside}{member if id(drive) in standing else ''}"
        elif drive.volume_of_controller and not hardware:
            yield (f"{label}: a volume of a RAID controller ({drive.model or 'unknown'}):"
                   " only the controller's own tool shows its drives")  # fmt: skip
    for volume in facts.volumes:
        yield f"volume {volume.name}: {volume.kind or volume.level or 'logical volume'}"


def _unused(facts: Facts, used: Set[int]) -> Iterator[str]:
    """Drives that stand in no array of the scenario, with their state, once a kind."""
    kinds: Counter[tuple[str, str]] = Counter()
    said = {(array.controller, slot) for array in facts.arrays
            for slot in (*(array.spares or []), *(array.failed or []))}  # fmt: skip
    lacking = {array.controller for array in facts.arrays if array.lacking or array.missing}
    for drive in facts.drives:
        gone = drive.state in ("failed", "missing") and drive.controller in lacking
        if gone or (drive.controller, drive.slot) in said:
            continue
        if id(drive) in used or not usable(drive) or drive.outside:
            continue
        size = "" if drive.bytes is None else f", {format_size(drive.bytes)}"
        name = f"{drive.model or (drive.kind or 'drive').upper()}{size}"
        kinds[name, drive.state or "in no array that a capture shows"] += 1
    for (name, state), count in kinds.items():
        yield f"{count} x {name}: {state}"


def _idle_controllers(facts: Facts, controller: Controller | None) -> Iterator[str]:
    """Controllers beside the one that stands in the scenario."""
    for each in facts.controllers:
        if each is not controller and each.role in ("raid", "hba"):
            link = each.link
            lanes = f" (PCIe {link.gen}.0 x{link.width})" if link and link.gen else ""
            yield (f"controller {each.model or each.chip or 'unnamed'}{lanes}: no capture shows"
                   " drives or volumes on it that the scenario has")  # fmt: skip
