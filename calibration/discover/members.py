"""Members of an array that captures say little of: what each of them holds, and what it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from raidlab.calibration.discover.facts import Array, Drive, Facts
from raidlab.devices.levels import LEVELS, facts

_SAME_SIZE = 0.05
"""Controllers round a drive's size down by at most this share."""


def name_members(facts: Facts) -> None:
    """Names the drives of arrays by their group, where the tool says it of arrays and of drives."""
    for array in facts.arrays:
        if array.drives is not None or array.group is None or array.controller is None:
            continue
        own = [
            each.slot for each in facts.drives
            if each.slot and (each.controller, each.group) == (array.controller, array.group)
            and each.state not in ("spare", "unassigned", "foreign")
        ]  # fmt: skip
        if own and array.members in (None, len(own)):
            array.drives, array.members = own, len(own)


def bytes_of_member(array: Array) -> int | None:
    """Bytes that an array has on each member: its size over the members that hold data.

    RAID 5 and 6 keep one and two members' worth of parity, RAID 50 and 60 so in each span (two
    spans if no capture says how many); mirrors hold everything as often as they have copies.
    """
    if array.member_bytes is not None:
        return array.member_bytes
    if not array.bytes or not array.members:
        return None
    members, level = array.members, array.level or ""
    if level == "raid1":
        return array.bytes
    if level in ("raid10", "raid1e"):
        return round(array.bytes * (array.copies or 2) / members)
    if level not in LEVELS:
        return round(array.bytes / members)
    shape = facts(level, spans=array.spans)
    return round(array.bytes / max(members - shape.parities * shape.spans, 1))


def used_of_drives(array: Array, drives: Sequence[Drive]) -> int | None:
    """Bytes that an array uses of each drive; None if all of it, or if a size is unknown."""
    each = bytes_of_member(array)
    sizes = [drive.bytes for drive in drives if drive.bytes]
    if each is None or not sizes or len(sizes) < len(drives):
        return None
    return each if each < (1 - _SAME_SIZE) * min(sizes) else None


def guess(array: Array | None, drives: Sequence[Drive]) -> Drive:
    """A drive for an array whose drives no capture names.

    Args:
        array: The array.
        drives: All drives that captures show: one of its controller that has the size stands in.
    """
    if array is None:
        return Drive(kind="hdd", interface="sata")
    each = bytes_of_member(array)
    if array.controller is not None and each is not None:
        kinds = {
            (drive.model, drive.bytes): drive
            for drive in drives
            if drive.controller == array.controller and drive.slot is not None and drive.bytes
            and abs(drive.bytes / each - 1) < _SAME_SIZE
        }  # fmt: skip
        if len(kinds) == 1:
            return replace(next(iter(kinds.values())), read_from=None)
    flash = any("nvme" in name for name in array.drives or [])
    kind, interface = ("ssd", "nvme") if flash else ("hdd", "sata")
    return Drive(kind=kind, interface=interface, bytes=each)


_SOUND = ("optimal", "ok", "okay", "clean", "active", "normal")
_AWAY = ("missing", "failed", "offline", "rebuilding", "rebuild", "unconfigured bad", "degraded",
         "out of sync")  # fmt: skip


def places_lacking(
    array: Array, drives: Sequence[Drive], lacking: int
) -> tuple[list[int], list[int]]:
    """Places without a working drive, from 0 on; the first ones where no capture numbers them.

    Args:
        array: The array.
        drives: All drives that captures show, with their states.
        lacking: How many it lacks at least.

    Returns:
        The places, and those of them that captures say.
    """
    listed, members = array.drives or [], array.members or 0
    known = array.lacking or []
    if not known and len(listed) == members and array.state not in _SOUND:
        states = {each.slot: each.state for each in drives if each.controller == array.controller}
        away = [at for at, slot in enumerate(listed) if states.get(slot) in _AWAY]
        known = away if array.controller is not None else []
    known = known or [listed.index(each) for each in array.failed or [] if each in listed]
    places = [each for each in known if each < members]
    others = [each for each in range(members) if each not in places]
    return [*places, *others[: max(0, lacking - len(places))]], places
